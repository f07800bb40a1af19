//! Answers to the questions that a model raises beyond its properties.
//!
//! They are properties of an automaton of their own ([`crate::frontend::lint`]). What the engine says
//! is judged like any verdict: only what was validated is told.

pub mod forall;

use crate::blast::{self, AlignedImage, BlastError};
use crate::engines::{Engine, EngineError, Setup};
use crate::frontend::Diagnostic;
use crate::frontend::lint::{Lint, Question};
use crate::ir::{Cfa, PropertyId};
use crate::judge::{self, Broken, Finding};
use crate::simplify::{self, Passes};
use vouch_core::ic3::Stats;

/// How much may be spent.
pub type Limits = Setup;

/// What was found.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Report {
    /// What the author should know, and a run that shows it, where a run does.
    pub findings: Vec<(Diagnostic, Option<Box<Broken>>)>,
    /// Questions that were answered.
    pub answered: usize,
    /// Questions that were not, for a limit was reached.
    pub open: usize,
}

/// Why nothing could be found out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LintError {
    /// The automaton cannot become an image.
    #[error("{0}")]
    Compile(#[from] BlastError),
    /// The engine could not run.
    #[error("{0}")]
    Engine(#[from] EngineError),
}

/// Some of the questions, none of which hangs on another.
pub fn only(mut lint: Lint, wanted: impl Fn(&Question) -> bool) -> Lint {
    let keep: Vec<bool> = lint.questions.iter().map(wanted).collect();
    let mut kept = keep.iter();
    lint.questions.retain(|_| kept.next() == Some(&true));
    lint.questions.iter_mut().for_each(|q| q.within = None);
    let mut kept = keep.iter();
    lint.cfa.properties.retain(|_| kept.next() == Some(&true));
    lint
}

/// Answers the questions, about the automaton simplified by these passes.
pub fn answer(
    lint: &Lint,
    passes: &Passes,
    limits: &Limits,
    watch: &mut dyn FnMut(&Stats) -> bool,
) -> Result<Report, LintError> {
    if lint.questions.is_empty() {
        return Ok(Report::default());
    }
    let (cfa, is_open) = decided(lint);
    let simplified = simplify::run(&cfa, passes);
    let model = blast::compile(&simplified.cfa, [0; 32], &blast::Options::default())?;
    let answer = Engine::default().run(&AlignedImage::new(&model.image), limits, watch)?;
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    let question = judge::Question { properties, ..Default::default() };
    let judgement =
        judge::judge_simplified(&cfa, &simplified, &model.map, &question, &answer, true);
    let found = |at: usize| judgement.findings.get(at).map(|f| &f.1);
    let mut report = Report::default();
    for (at, question) in lint.questions.iter().enumerate() {
        let (reached, run) = match found(at).filter(|_| !is_open[at]) {
            Some(Finding::Safe) => (false, None),
            Some(Finding::Unsafe(run)) => (true, Some(run.clone())),
            Some(Finding::Unknown(_)) | None => {
                report.open += 1;
                continue;
            }
        };
        report.answered += 1;
        // That nothing happens in a state that is never entered is one fact, not many.
        let nowhere = question.within.is_some_and(|s| found(s) == Some(&Finding::Safe));
        if reached == question.warns_if_reached() && !nowhere {
            report.findings.push((question.warning(), run));
        }
    }
    report.findings.sort_by_key(|(d, _)| (d.span.start, d.span.end));
    Ok(report)
}

/// The automaton with what must hold for all inputs as conditions on the state alone; and which questions
/// stay open because that took too long.
fn decided(lint: &Lint) -> (Cfa, Vec<bool>) {
    let mut cfa = lint.cfa.clone();
    let mut is_open = vec![false; lint.questions.len()];
    for at in 0..cfa.edges.len() {
        let to = cfa.edges[at].to;
        let number = cfa.properties.iter().position(|p| p.error == to);
        let Some(number) = number.filter(|n| lint.questions[*n].is_for_all_inputs()) else {
            continue;
        };
        let guard = cfa.edges[at].guard;
        let holds = forall::for_all_inputs(&mut cfa, guard);
        is_open[number] |= holds.is_none();
        cfa.edges[at].guard = holds.unwrap_or_else(|| cfa.pool.bool(false));
    }
    (cfa, is_open)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::{Language, Options, Source, questions};

    fn report(text: &str) -> Report {
        let source = Source { path: "x.vch".into(), text: text.into() };
        let lint = questions(&source, Language::Vch, &Options::default()).unwrap().unwrap();
        let report = answer(&lint, &Passes::default(), &Setup::default(), &mut |_| true).unwrap();
        assert_eq!(report.open, 0);
        report
    }

    /// Messages, and the text that they point at.
    fn warnings(text: &str) -> Vec<(String, String)> {
        let at = |d: &Diagnostic| text[d.span.start as usize..d.span.end as usize].to_string();
        report(text).findings.iter().map(|(d, _)| (d.message.clone(), at(d))).collect()
    }

    /// `n` counts 0, 1, 2, 0, …; all of what is asked about 2 happens, and nothing about 3.
    fn counter(k: u32) -> String {
        format!(
            "machine m {{
                var n: u2 = 0;
                initial state Even {{
                    on n == {k} -> Odd {{ n = 0; }}
                    on n < 2 {{ n += 1; }}
                    else {{ n = 0; }}
                }}
                state Odd {{ on n == {k} -> Even; else -> Even; }}
                property a: always n == {k} => n > 1;
                property b: when n == {k} then n == 0 within 2 steps;
                property c: no n == {k} before n == 1;
                property d: once n == {k} never n == 3;
                property e: always n <= 3;
            }}"
        )
    }

    #[test]
    fn what_never_happens_is_told() {
        let found = warnings(&counter(3));
        let count = |what: &str| found.iter().filter(|f| f.0.contains(what)).count();
        assert_eq!(count("holds vacuously"), 4, "{found:?}");
        assert!(
            found.contains(&("the state Odd is never entered".into(), "Odd".into())),
            "{found:?}"
        );
        // Of the transitions, that of the state which is never entered is not worth reporting.
        assert_eq!(count("transition is never taken"), 1, "{found:?}");
        assert_eq!(found.len(), 6);
    }

    #[test]
    fn what_happens_is_not() {
        // In Odd, n is 0: its guard is never true.
        let found = warnings(&counter(2));
        assert_eq!(found, [("this transition is never taken".into(), "on n == 2 -> Even".into())]);
    }

    #[test]
    fn deadlocks_come_with_a_run() {
        let text = "
            machine lock {
                input code: u2 where code < 3;
                var tries: u2 = 0;
                initial state Closed {
                    on code == tries -> Open;
                    on tries < 2 && code != 0 { tries += 1; }
                }
                state Open {
                    on code == 0 && tries == 0 -> Closed;
                    on tries == 1 -> Done;
                }
                state Done;
                property p: always tries < 3;
            }";
        let report = report(text);
        let [(warning, Some(run))] = &report.findings[..] else { panic!("{report:?}") };
        assert_eq!(warning.message, "the model can deadlock in Open");
        // Initialisation, two wrong codes, the right one, and the question.
        assert_eq!(run.trace.steps.len(), 5);
        let last = run.run.as_ref().unwrap().states.iter().rev().nth(1).unwrap();
        assert_eq!(last.values, [2]);
        // An input that is wanted is not a deadlock, nor is a constraint that forbids what is not.
        assert!(self::report(&text.replace("on tries == 1", "on tries > 0")).findings.is_empty());
        let narrow = text.replace("code < 3", "code != 2");
        let found = warnings(&narrow);
        assert_eq!(found[0].0, "the model can deadlock in Closed", "{found:?}");
        // However many bits an input has.
        let wide = |k: u32| {
            format!(
                "machine m {{
                    input a: u32;
                    input b: i16 where b > {k};
                    var n: u2 = 0;
                    initial state S {{
                        on n < 2 && a > 70000 {{ n += 1; }}
                        on b < 12 && a == 5 {{ n = 0; }}
                    }}
                }}"
            )
        };
        assert!(self::report(&wide(10)).findings.is_empty());
        let found = warnings(&wide(11));
        assert_eq!(found[0].0, "the model can deadlock in S", "{found:?}");
    }

    #[test]
    fn machines_stand_still_together_only() {
        let two = |start: &str| {
            format!(
                "var go: bool = {start};
                 machine a {{ initial state A {{ on go -> B {{ go = false; }} }} state B {{ on go -> A; }} }}
                 machine b {{ initial state C {{ on !go && in a.B -> D {{ go = true; }} }} state D {{ on !go -> C; }} }}
                 system s = interleave(a, b);
                 property p: always true;"
            )
        };
        let found = warnings(&two("true"));
        assert!(found.iter().all(|f| !f.0.contains("deadlock in A, C")), "{found:?}");
        let found = warnings(&two("false"));
        assert!(found.iter().any(|f| f.0.contains("deadlock in A, C")), "{found:?}");
    }

    #[test]
    fn a_state_that_a_property_forbids_is_no_news() {
        let text = "machine m {
            var n: u2 = 0;
            initial state A { on n == 3 -> Broken; else { n = (n + 1) % 3; } }
            state Broken;
            property p: never in Broken;
        }";
        let found = warnings(text);
        assert!(found.iter().all(|f| !f.0.contains("Broken")), "{found:?}");
    }
}
