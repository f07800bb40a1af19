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
use crate::engines::{Engine, Memory, Setup};
use crate::ir::{PropertyId, Trace};
use crate::judge::{Broken, Finding, Judgement, Question, judge_simplified};
use crate::pipeline::Loaded;
use crate::words::Words;
use std::time::Duration;

/// Bytes that a search may take.
const MEMORY: usize = 512 << 20;
/// Time that every search has: less than a person notices.
const LEAST: Duration = Duration::from_millis(100);

/// What it may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Effort {
    /// Time; `None` without limit.
    pub time: Option<Duration>,
    /// Units of work for each search; 0: no limit.
    pub budget: u64,
}

impl Effort {
    /// As much time again as a check has taken.
    pub fn after(time: Duration) -> Effort {
        Effort { time: Some(time.max(LEAST)), budget: 0 }
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
    let mut search = Search { model, words, question, written: None, effort, deadline };
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
    /// The model without simplification, once it was needed; `None` in it if it cannot be made.
    written: Option<Option<Box<Loaded>>>,
    effort: Effort,
    deadline: Deadline,
}

impl Search<'_> {
    /// Looks for a run with fewer steps; none has `known` of them or fewer.
    fn shortest(
        &mut self,
        property: PropertyId,
        broken: &Broken,
        mut known: usize,
        share: &Deadline,
    ) -> Found {
        let length = self.edges(&broken.trace);
        // The second looks at single states: it is best where these are few, and soon gives up on many.
        for (engine, parts) in [(Engine::Bmc, 2), (Engine::Explicit, 1)] {
            if known + 1 >= length || self.words.has_calls() && engine == Engine::Explicit {
                continue;
            }
            let Some(answer) = self.ask(engine, property, length, &share.share(parts)) else {
                continue;
            };
            known = known.max(answer.steps.get(property.index()).map_or(0, |n| *n as usize));
            if answer.traces.is_empty() {
                continue;
            }
            let shorter = self.judged(property, &answer);
            // The engine's runs are shortest ones, but one that is not believed says nothing.
            let is_run = shorter.is_some();
            let shorter = shorter.filter(|b| self.edges(&b.trace) < length);
            return Found { shorter, is_shortest: is_run };
        }
        Found { shorter: None, is_shortest: known + 1 >= length }
    }

    /// Edges of the image that is asked about, for a run. Only the edges that initialise a program are merged with
    /// others there: they are one.
    fn edges(&self, trace: &Trace) -> usize {
        match self.words.has_calls() {
            true => self.words.length(trace) + 1,
            false => trace.steps.len(),
        }
    }

    fn ask(
        &mut self,
        engine: Engine,
        property: PropertyId,
        length: usize,
        share: &Deadline,
    ) -> Option<Answer> {
        let (effort, question) = (self.effort, self.question);
        let model = self.written()?;
        let setup = Setup {
            property: Some(property.0),
            bindings: model.numbered(&question.bindings),
            budget: effort.budget,
            timeout: share.left(),
            memory: Memory::Fixed(MEMORY),
            ..Setup::default()
        };
        // A run of so many steps is there already.
        let mut watch = |stats: &vouch_core::ic3::Stats| {
            (stats.frontier as usize) < length && !share.is_stopped()
        };
        engine.run(&model.image, &setup, &mut watch).ok()
    }

    /// The model as it is written, whose edges are the steps of its runs; a program as it is, if that is so there.
    fn written(&mut self) -> Option<&Loaded> {
        let model = self.model;
        if self.words.has_calls() {
            return Some(model).filter(|model| self.words.counts_steps(&model.simplified.cfa));
        }
        let make = || model.clone().as_written().ok().map(Box::new);
        self.written.get_or_insert_with(make).as_deref()
    }

    /// The run of an answer, if it is one.
    fn judged(&mut self, property: PropertyId, answer: &Answer) -> Option<Broken> {
        let bindings = self.question.bindings.clone();
        let Loaded { cfa, simplified, map, .. } = self.written()?;
        let question = Question::new(cfa, Some(property), bindings);
        let judgement = judge_simplified(cfa, simplified, map, &question, answer, true);
        judgement.findings.into_iter().find_map(|(p, finding)| match finding {
            Finding::Unsafe(broken) if p == property => Some(*broken),
            _ => None,
        })
    }
}
