//! What several checks have found, and the reports on it that CI systems read.
//!
//! [`FORMATS`] lists those that are files. The flags of `vouch check`, their variables and what a project does with them
//! follow from it; a test compares `docs/ci.md` and `docs/cli.md` with it.

pub mod github;
mod junit;
pub mod markdown;
mod sarif;

use super::json::{Outcome, PropertyOutcome, Shown, StateOutcome, WhyOutcome};
use super::{count, text};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::path::Path;

/// Steps of a run that are listed; of a longer one the middle is left out.
const STEPS: usize = 100;

/// A file format for results.
#[derive(Debug)]
pub struct Format {
    /// The flag of `vouch check` that asks for it, without its dashes.
    pub name: &'static str,
    /// What the flag's help says.
    pub help: &'static str,
    write: fn(&[Item]) -> String,
}

/// All of them, in the order of the help.
pub static FORMATS: [Format; 3] = [
    Format {
        name: "junit",
        help: "Write the results as JUnit's XML: a suite for each model, a case for each property",
        write: junit::write,
    },
    Format {
        name: "sarif",
        help: "Write what is broken or not decided as SARIF, for code scanning",
        write: sarif::write,
    },
    Format {
        name: "markdown",
        help: "Write the results as a table in Markdown, with the runs that break something",
        write: markdown::write,
    },
];

impl Format {
    /// The results in this format.
    pub fn write(&self, items: &[Item]) -> String {
        (self.write)(items)
    }

    /// The variable of the environment that asks for it.
    pub fn variable(&self) -> String {
        format!("VOUCH_{}", self.name.to_uppercase().replace('-', "_"))
    }
}

/// What one check has found.
#[derive(Clone, PartialEq, Debug)]
pub struct Item {
    /// What it is called among the others.
    pub name: String,
    /// The file that was checked.
    pub path: String,
    /// What was found.
    pub checked: Checked,
}

/// What a check has found, or why there was none: what `--json` prints.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(untagged)]
pub enum Checked {
    /// There was none.
    Failed(Failed),
    /// The check has come to an end, with this outcome.
    Done(Box<Outcome>),
}

/// A command that has failed.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Failed {
    /// What is wrong.
    pub error: ErrorOutcome,
    /// The exit code.
    pub exit_code: u8,
}

/// What is wrong.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ErrorOutcome {
    /// The places in the source, if that is what is wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub diagnostics: Option<Vec<DiagnosticOutcome>>,
    /// Whose fault it is.
    pub kind: String,
    /// The error message for people; may have several lines.
    pub message: String,
}

/// Something that is wrong with a source text.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct DiagnosticOutcome {
    /// From 1.
    pub column: usize,
    /// How to mend it.
    pub help: Option<String>,
    /// What is there.
    pub label: String,
    /// From 1.
    pub line: usize,
    /// What is wrong.
    pub message: String,
    /// Path of the source file.
    pub path: String,
    /// `error` or `warning`.
    pub severity: String,
}

/// Something that CI systems point at.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding<'a> {
    /// What it is about: `MODEL.PROPERTY`, or the kind of the error.
    pub rule: String,
    /// Whether something is broken, rather than not known.
    pub is_error: bool,
    /// In a line or two.
    pub message: String,
    /// Path of the file that CI systems show it at.
    pub path: &'a str,
    /// Line and column, from 1.
    pub place: Option<(usize, usize)>,
    /// The property, if it is about one.
    pub property: Option<&'a PropertyOutcome>,
    /// The run that breaks it, if that is known.
    pub run: &'a [StateOutcome],
}

impl Item {
    /// The same for a reader in a folder above: paths begin with `folder`.
    pub fn below(mut self, folder: &Path) -> Item {
        let put = |path: &mut String| *path = folder.join(&*path).display().to_string();
        put(&mut self.path);
        match &mut self.checked {
            Checked::Failed(failed) => {
                failed.error.diagnostics.iter_mut().flatten().for_each(|d| put(&mut d.path));
            }
            Checked::Done(outcome) => {
                let places = outcome.properties.iter_mut().filter_map(|p| p.place.as_mut());
                places.for_each(|place| put(&mut place.path));
            }
        }
        self
    }

    /// All that is broken, not known or wrong.
    pub fn findings(&self) -> Vec<Finding<'_>> {
        match &self.checked {
            Checked::Failed(failed) => self.errors(failed),
            Checked::Done(outcome) => {
                let open = outcome.properties.iter().filter(|p| p.verdict != Verdict::Safe);
                let mut findings: Vec<Finding<'_>> =
                    open.map(|p| self.finding(outcome, p)).collect();
                // A check that was ended before it knew the properties.
                if outcome.properties.is_empty() && outcome.verdict != Verdict::Safe {
                    findings.push(self.whole(outcome));
                }
                findings
            }
        }
    }

    fn finding<'a>(&'a self, outcome: &'a Outcome, p: &'a PropertyOutcome) -> Finding<'a> {
        let is_error = p.verdict == Verdict::Unsafe;
        let because = text::because(p, outcome.validated);
        let ids = match &p.requirements[..] {
            [] => String::new(),
            ids => format!(" [{}]", ids.join(", ")),
        };
        let mut message = match is_error {
            true => format!("{}{ids} is broken: {because}", p.name),
            false => format!("{}{ids} is not decided: {because}", p.name),
        };
        let run = run_of(outcome, p);
        if let Some(why) = outcome.why.as_ref().filter(|_| !run.is_empty()) {
            message += &format!("\n{}", claim(why));
        }
        Finding {
            rule: format!("{}.{}", self.name, p.name),
            is_error,
            message,
            path: p.place.as_ref().map_or(&self.path, |place| &place.path),
            place: p.place.as_ref().map(|place| (place.line, place.column)),
            property: Some(p),
            run,
        }
    }

    fn whole<'a>(&'a self, outcome: &'a Outcome) -> Finding<'a> {
        let reason = outcome.reason.as_ref().map(|r| format!(" ({r})")).unwrap_or_default();
        Finding {
            rule: self.name.clone(),
            is_error: outcome.verdict == Verdict::Unsafe,
            message: format!("{}: {}{reason}", self.name, outcome.verdict),
            path: &self.path,
            place: None,
            property: None,
            run: &[],
        }
    }

    fn errors<'a>(&'a self, failed: &'a Failed) -> Vec<Finding<'a>> {
        let finding = |path, place, message: String| Finding {
            rule: failed.error.kind.clone(),
            is_error: true,
            message,
            path,
            place,
            property: None,
            run: &[],
        };
        match &failed.error.diagnostics {
            None => vec![finding(&self.path, None, failed.error.message.clone())],
            Some(all) => {
                let one = |d: &'a DiagnosticOutcome| {
                    let parts = [Some(&d.message), Some(&d.label), d.help.as_ref()];
                    let parts = parts.into_iter().flatten().filter(|part| !part.is_empty());
                    let message = parts.cloned().collect::<Vec<String>>().join("\n");
                    finding(&d.path, Some((d.line, d.column)), message)
                };
                all.iter().map(one).collect()
            }
        }
    }
}

impl Checked {
    /// What `--json` has printed, read back.
    pub fn from_json(text: &str) -> Result<Checked, serde_json::Error> {
        match serde_json::from_str(text) {
            Ok(failed) => Ok(Checked::Failed(failed)),
            Err(_) => serde_json::from_str(text).map(|outcome| Checked::Done(Box::new(outcome))),
        }
    }

    /// As the command would have ended.
    pub fn exit_code(&self) -> u8 {
        match self {
            Checked::Failed(failed) => failed.exit_code,
            Checked::Done(outcome) => outcome.verdict.exit_code(),
        }
    }

    /// In one word.
    pub fn word(&self) -> String {
        match self {
            Checked::Failed(_) => "error".into(),
            Checked::Done(outcome) => outcome.verdict.to_string(),
        }
    }
}

/// The exit code of several checks: one that is broken decides, then one that has failed, then one that is not known.
pub fn exit_code(items: &[Item]) -> u8 {
    let rank = |code: &u8| match code {
        0 => 0,
        1 => 3,
        3 => 1,
        _ => 2,
    };
    items.iter().map(|item| item.checked.exit_code()).max_by_key(rank).unwrap_or(0)
}

/// The run that breaks a property, if it is the one that is told.
pub fn run_of<'a>(outcome: &'a Outcome, p: &PropertyOutcome) -> &'a [StateOutcome] {
    let is_told = p.verdict == Verdict::Unsafe && outcome.property.as_ref() == Some(&p.name);
    outcome.trace.as_deref().filter(|_| is_told).unwrap_or_default()
}

/// Why a property is broken, in a line.
fn claim(why: &WhyOutcome) -> String {
    let values = why.values.iter().map(|(name, value)| format!("{name} = {value}"));
    let values = values.collect::<Vec<String>>().join(", ");
    match (&why.claim, values.is_empty()) {
        (Some(claim), false) => format!("`{claim}` does not hold with {values}"),
        (Some(claim), true) => format!("`{claim}` does not hold"),
        (None, _) => values,
    }
}

/// A run as lines, without the middle of a long one.
pub fn run_lines(run: &[StateOutcome]) -> Vec<String> {
    let mut lines = step_lines(run);
    if lines.len() > STEPS {
        let left_out = lines.len() - STEPS;
        let dots = format!("… {} …", count(left_out, "step"));
        lines.splice(STEPS / 2..STEPS / 2 + left_out, [dots]);
    }
    lines
}

/// A line for each step of a run: what was done, read and changed.
pub fn step_lines(run: &[StateOutcome]) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for (number, state) in run.iter().enumerate() {
        let mut parts = vec![format!("step {}: {}", state.step, state.location)];
        parts.extend(state.done.iter().filter_map(|done| {
            let line = done.line.map(|line| format!("line {line}: ")).unwrap_or_default();
            (!done.text.is_empty()).then(|| format!("{line}{}", done.text.trim()))
        }));
        let named = |(name, value): &(String, Shown)| format!("{name} = {value}");
        let read: Vec<String> = state.inputs.0.iter().map(named).collect();
        if !read.is_empty() {
            parts.push(format!("reads {}", read.join(", ")));
        }
        let before = number.checked_sub(1).and_then(|n| run.get(n));
        let is_new = |entry: &&(String, Shown)| {
            before.is_some_and(|before| before.values.0.iter().all(|old| old != *entry))
        };
        let changed: Vec<String> = state.values.0.iter().filter(is_new).map(named).collect();
        if !changed.is_empty() {
            parts.push(format!("then {}", changed.join(", ")));
        }
        lines.push(parts.join("; "));
    }
    lines
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::report::json::{DoneOutcome, Named, PlaceOutcome};
    use crate::verdict::Reason;

    fn state(step: usize, level: i64) -> StateOutcome {
        let done = DoneOutcome { who: None, line: Some(7), text: "level = level + 1".into() };
        StateOutcome {
            step,
            location: "Fill|x".into(),
            done: if step == 0 { vec![] } else { vec![done] },
            inputs: Named(vec![("open".into(), Shown::Bool(true))]),
            values: Named(vec![("level".into(), Shown::Number(level))]),
        }
    }

    fn property(name: &str, verdict: Verdict) -> PropertyOutcome {
        let place = PlaceOutcome { path: "models/pump a.vch".into(), line: 12, column: 5 };
        PropertyOutcome { name: name.into(), verdict, place: Some(place), ..Default::default() }
    }

    /// One of each: a model with a broken, an open and a proved property; one that is not a model; one out of time.
    pub fn items() -> Vec<Item> {
        let mut dry = property("never_dry", Verdict::Unsafe);
        dry.requirements = vec!["REQ-1".into(), "REQ-2".into()];
        dry.trace_len = Some(1);
        let mut open = property("in_time", Verdict::Unknown);
        open.reason = Some(Reason::Timeout);
        let outcome = Outcome {
            verdict: Verdict::Unsafe,
            engine: Some("ic3cfa".into()),
            property: Some("never_dry".into()),
            time_s: Some(0.25),
            validated: true,
            properties: vec![dry, open, property("fine", Verdict::Safe)],
            trace: Some(vec![state(0, 0), state(1, 1)]),
            why: Some(WhyOutcome {
                place: None,
                claim: Some("always level < 1".into()),
                values: [("level".to_string(), "1".to_string())].into(),
            }),
            ..Outcome::default()
        };
        let diagnostic = DiagnosticOutcome {
            column: 3,
            help: Some("write `var`".into()),
            label: "here".into(),
            line: 2,
            message: "100% wrong, really: <x>".into(),
            path: "bad.vch".into(),
            severity: "error".into(),
        };
        let error = ErrorOutcome {
            diagnostics: Some(vec![diagnostic]),
            kind: "input".into(),
            message: "bad.vch:2:3: error: wrong".into(),
        };
        let late = Outcome { reason: Some(Reason::Timeout), ..Outcome::default() };
        let item = |name: &str, path: &str, checked| Item {
            name: name.into(),
            path: path.into(),
            checked,
        };
        vec![
            item("pump", "models/pump a.vch", Checked::Done(Box::new(outcome))),
            item("bad", "bad.vch", Checked::Failed(Failed { error, exit_code: 2 })),
            item("late", "late.c", Checked::Done(Box::new(late))),
        ]
    }

    #[test]
    fn one_that_is_broken_decides() {
        let items = items();
        assert_eq!(exit_code(&items), 1);
        assert_eq!(exit_code(&items[1..]), 2);
        assert_eq!(exit_code(&items[2..]), 3);
        assert_eq!(exit_code(&[]), 0);
    }

    #[test]
    fn each_format_has_its_flag_and_its_variable() {
        let names = FORMATS.each_ref().map(|format| (format.name, format.variable()));
        assert_eq!(names[0], ("junit", "VOUCH_JUNIT".into()));
        for (at, (name, _)) in names.iter().enumerate() {
            assert!(names[..at].iter().all(|(other, _)| other != name), "{name}");
            assert!(name.chars().all(|c| c.is_ascii_lowercase() || c == '-'), "{name}");
        }
    }

    #[test]
    fn what_is_said_is_read_back() {
        for item in items() {
            let text = serde_json::to_string(&item.checked).unwrap();
            let read = Checked::from_json(&text).unwrap();
            assert_eq!(serde_json::to_string(&read).unwrap(), text);
            assert_eq!(read.exit_code(), item.checked.exit_code());
        }
    }

    #[test]
    fn the_middle_of_a_long_run_is_left_out() {
        let run: Vec<StateOutcome> = (0..300).map(|n| state(n, n as i64)).collect();
        let lines = run_lines(&run);
        assert_eq!(lines.len(), STEPS + 1);
        assert_eq!(lines[STEPS / 2], "… 200 steps …");
        assert!(lines[STEPS].starts_with("step 299: "), "{}", lines[STEPS]);
        assert_eq!(
            lines[1],
            "step 1: Fill|x; line 7: level = level + 1; reads open = true; then level = 1"
        );
    }
}
