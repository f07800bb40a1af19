//! A shorter run in place of the one that an engine has found, and one with simpler values.
//!
//! Engines that prove find runs on the way, and the first one may take detours. People read runs, so what is
//! left of the time goes into a shorter one: engines that look at runs by their length are asked about the
//! model as it is written, where an edge of the image is a step of the run, or about a simplified program, if an edge
//! of it is a call of the function that runs again and again. What they find is judged like every answer.
//! That no shorter run exists is their word; it makes no verdict true or false.

mod values;

use crate::answer::Answer;
use crate::deadline::{self, Deadline};
use crate::engines::ic3cfa::Watch;
use crate::engines::portfolio::{self, Claim, Entrant};
use crate::engines::{Engine, Memory, Setup, Tuning};
use crate::ir::{PropertyId, Trace};
use crate::judge::{Broken, Finding, Judgement, Question, judge_simplified};
use crate::pipeline::Loaded;
use crate::words::Words;
use std::borrow::Cow;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// Bytes that a search may take.
const MEMORY: usize = 512 << 20;

/// Time that a process takes before and after the check, at least.
const START: Duration = Duration::from_millis(5);

/// What it may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Time; `None` without limit.
    pub time: Option<Duration>,
    /// Units of work for each search; 0: no limit.
    pub budget: u64,
}

impl Effort {
    /// So much that a check with it takes about twice as long at most.
    pub fn after(time: Duration) -> Effort {
        Effort { time: Some(time * 19 / 20 + START), budget: 0 }
    }

    /// The same, but no more than the time that there is.
    pub fn within(self, time: Option<Duration>) -> Effort {
        Effort { time: self.time.into_iter().chain(time).min(), ..self }
    }
}

/// Replaces each run of a judgement by a shortest one with simple values, as far as the effort allows, and notes
/// whether it is known to be a shortest one. `answer` is what the judgement was made of.
pub fn shorten(
    model: &Loaded,
    question: &Question,
    answer: &Answer,
    judgement: &mut Judgement,
    effort: Effort,
) {
    let mut deadline = deadline::current();
    if let Some(time) = effort.time {
        deadline = deadline.within(time);
    }
    let words = Words::new(&model.cfa, Some(&model.source), &model.moves);
    let search = Search { model, words, question, effort, deadline };
    let findings = judgement.findings.iter_mut().chain(&mut judgement.besides);
    let mut broken: Vec<(PropertyId, &mut Broken)> = findings
        .filter_map(|(p, finding)| match finding {
            // Whether another one is shorter than what was executed is known, or not worth the time.
            Finding::Unsafe(broken) if broken.run.is_some() && broken.trace.forced.steps == 0 => {
                Some((*p, &mut **broken))
            }
            _ => None,
        })
        .collect();
    let mut left = broken.len() as u32;
    for (property, broken) in &mut broken {
        let known = answer.steps.get(property.index()).map_or(0, |n| *n as usize);
        let share = search.deadline.share(left);
        left -= 1;
        // What is over is over: the run that is there stays.
        let found = share.enter(|| search.shortest(*property, broken, known, &share));
        let is_shortest = match found {
            Ok(Found { shorter, is_shortest }) => {
                if let Some(mut shorter) = shorter {
                    shorter.first = Some(Box::new(broken.clone()));
                    **broken = shorter;
                }
                is_shortest
            }
            Err(_) => false,
        };
        broken.shortest = Some(is_shortest);
        if let Some(simpler) = values::simplest(&model.cfa, question, broken, &share) {
            let first = broken.first.take().unwrap_or_else(|| Box::new(broken.clone()));
            **broken = Broken { first: Some(first), ..simpler };
        }
    }
}

/// What a search has found.
struct Found {
    /// A shorter run.
    shorter: Option<Broken>,
    /// Whether no run is shorter than this, or than the one that was there if there is none.
    is_shortest: bool,
}

struct Search<'a> {
    model: &'a Loaded,
    words: Words<'a>,
    question: &'a Question,
    effort: Effort,
    deadline: Deadline,
}

impl Search<'_> {
    /// Looks for a run with fewer steps; none has `known` of them or fewer.
    fn shortest(
        &self,
        property: PropertyId,
        broken: &Broken,
        known: usize,
        share: &Deadline,
    ) -> Found {
        let length = self.edges(&broken.trace);
        if known + 1 >= length {
            return Found { shorter: None, is_shortest: true };
        }
        let Some(part) = self.part(property) else {
            return Found { shorter: None, is_shortest: false };
        };
        let part = part.as_ref();
        let setup = &Setup {
            property: Some(property.0),
            bindings: part.numbered(&self.question.bindings),
            budget: self.effort.budget,
            timeout: share.left(),
            memory: Memory::Fixed(MEMORY),
            tuning: Tuning { least: known as u32 + 1, ..Tuning::default() },
            ..Setup::default()
        };
        let time = share.left();
        // The second looks at single states: it is best where these are few.
        let engines = match self.words.has_calls() {
            true => vec![Engine::Bmc],
            false => vec![Engine::Bmc, Engine::Explicit],
        };
        let entrants = engines.into_iter().map(|engine| -> Entrant<'_, ()> {
            Box::new(move |watch| {
                let watch: Watch<'_> = &mut |stats| {
                    let at = stats.frontier as usize;
                    // A run of so many steps is there already.
                    let is_done = at >= length;
                    // Steps get harder: what is not a quarter of the way at half of the time will not arrive.
                    let is_slow = || {
                        let done = at.saturating_sub(known + 1);
                        let is_late = |(left, all)| 2 * left < all;
                        4 * done < length - known && share.left().zip(time).is_some_and(is_late)
                    };
                    !is_done && !is_slow() && watch(stats)
                };
                let answer = engine.run(&part.image, setup, watch)?;
                Ok(Claim { engine, answer, about: () })
            })
        });
        let most = AtomicUsize::new(known);
        let judge = |Claim { answer, .. }: &Claim<()>| {
            let steps = answer.steps.get(property.index()).map_or(0, |n| *n as usize);
            let known = most.fetch_max(steps, Ordering::Relaxed).max(steps);
            // The engine's runs are shortest ones, but one that is not believed says nothing.
            let run = share.enter(|| self.judged(part, property, answer)).ok().flatten();
            let settled = run.is_some() || known + 1 >= length;
            (run, settled)
        };
        let entrants = entrants.collect();
        let watch: Watch<'_> = &mut |_| !share.is_stopped();
        // What is counted is the same everywhere; so is who finds it.
        let won = match self.effort.time {
            Some(_) => portfolio::run(entrants, &judge, watch),
            None => portfolio::in_turn(entrants, &judge, watch),
        };
        let run = won.ok().and_then(|won| won.judged.flatten());
        let is_shortest = run.is_some() || most.into_inner() + 1 >= length;
        Found { shorter: run.filter(|b| self.edges(&b.trace) < length), is_shortest }
    }

    /// Edges of the image that is asked about, for a run. Only the edges that initialise a program are merged with
    /// others there: they are one.
    fn edges(&self, trace: &Trace) -> usize {
        match self.words.has_calls() {
            true => self.words.length(trace) + 1,
            false => trace.steps.len(),
        }
    }

    /// What the property depends on in the model as it is written, whose edges are the steps of its runs; a program as
    /// it is, if that is so there.
    fn part(&self, property: PropertyId) -> Option<Cow<'_, Loaded>> {
        let model = self.model;
        if self.words.has_calls() {
            let counts = self.words.counts_steps(&model.simplified.cfa);
            return counts.then_some(Cow::Borrowed(model));
        }
        model.clone().for_runs_to(property).ok().map(Cow::Owned)
    }

    /// The run of an answer about a part of the model, if it is one.
    fn judged(&self, part: &Loaded, property: PropertyId, answer: &Answer) -> Option<Broken> {
        let bindings = self.question.bindings.clone();
        let Loaded { cfa, simplified, map, .. } = part;
        let question = Question::new(cfa, Some(property), bindings);
        let judgement = judge_simplified(cfa, simplified, map, &question, answer, true);
        judgement.findings.into_iter().find_map(|(p, finding)| match finding {
            Finding::Unsafe(broken) if p == property => Some(*broken),
            _ => None,
        })
    }
}
