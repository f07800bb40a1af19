//! What several searches have found together.

use super::clock::{Clock, Stop};
use super::ic3cfa::Search;
use super::{Answer, Ended, ImageTrace};
use crate::answer::TERM;
use vouch_core::ic3::{Limit, Stats, Verdict};
use vouch_core::word::Word;

/// What is known so far.
pub(super) struct Found {
    pub(super) answer: Answer,
    /// Properties on which a search of their own has come to its end.
    pub(super) is_tried: Vec<bool>,
}

impl Found {
    /// Nothing, of so many properties or only one of them.
    pub(super) fn new(count: usize, only: Option<u32>) -> Found {
        let verdict = |p: usize| match only.is_none_or(|only| only as usize == p) {
            true => Verdict::Unknown(Limit::Cancelled),
            false => Verdict::Skipped,
        };
        let verdicts = (0..count).map(verdict).collect();
        let answer = Answer { verdicts, steps: vec![0; count], ..Answer::default() };
        Found { answer, is_tried: vec![false; count] }
    }

    /// Properties on which nothing is known.
    pub(super) fn open(&self) -> Vec<usize> {
        let is_open = |p: &usize| matches!(self.answer.verdicts[*p], Verdict::Unknown(_));
        (0..self.is_tried.len()).filter(|p| is_open(p) && !self.is_tried[*p]).collect()
    }

    /// Keeps what a search that continues has found: runs, and how far there are none.
    pub(super) fn learn<W: Word>(&mut self, search: &Search<'_, W>) {
        self.add(search.traces.clone(), &search.steps());
        for trace in &search.traces {
            self.answer.verdicts[trace.property] = Verdict::Unsafe;
        }
    }

    /// A run that breaks a property.
    pub(super) fn broken(&mut self, trace: ImageTrace) {
        self.answer.verdicts[trace.property] = Verdict::Unsafe;
        self.add(vec![trace], &[]);
    }

    /// All that there is when a run within limits ends, by itself or because it must.
    pub(super) fn end(mut self, stop: Option<Stop>, clock: &Clock<'_>) -> Answer {
        for verdict in &mut self.answer.verdicts {
            if let (Verdict::Unknown(_), Some(stop)) = (&verdict, stop) {
                *verdict = stop.verdict();
            }
        }
        let stats = sum(&self.answer.stats, &clock.stats());
        let arena_bytes = self.answer.arena_bytes.max(stats.peak_bytes.into());
        let ended = stop.map_or(Ended::Itself, Stop::ended);
        Answer { ended, stats, arena_bytes, ..self.answer }
    }

    fn add(&mut self, traces: Vec<ImageTrace>, steps: &[u32]) {
        for trace in traces {
            self.answer.traces.retain(|t| t.property != trace.property);
            self.answer.traces.push(trace);
        }
        for (known, steps) in self.answer.steps.iter_mut().zip(steps) {
            *known = (*known).max(*steps);
        }
    }

    /// Keeps what a search has found that does not continue.
    pub(super) fn take(&mut self, answer: Answer) {
        self.add(answer.traces, &answer.steps);
        let all = &mut self.answer;
        for (known, verdict) in all.verdicts.iter_mut().zip(answer.verdicts) {
            if matches!(known, Verdict::Unknown(_)) && verdict != Verdict::Skipped {
                *known = verdict;
            }
        }
        let first = 2 * all.terms.len() as u32;
        let shift = |lit: u32| if lit & TERM != 0 { lit + first } else { lit };
        let shifted = |(l, clause): (usize, Vec<u32>)| (l, clause.into_iter().map(shift).collect());
        all.clauses.extend(answer.clauses.into_iter().map(shifted));
        all.terms.extend(answer.terms);
        // Only one engine executes.
        if !answer.executed.properties.is_empty() {
            all.executed = answer.executed;
        }
        all.arena_bytes = all.arena_bytes.max(answer.arena_bytes);
        all.stats = sum(&all.stats, &answer.stats);
    }

    pub(super) fn answer(self, ended: Ended) -> Answer {
        Answer { ended, ..self.answer }
    }
}

/// Counters of two searches: what was done adds up, what was reached or held does not.
fn sum(a: &Stats, b: &Stats) -> Stats {
    Stats {
        frontier: a.frontier.max(b.frontier),
        lemmas: a.lemmas.saturating_add(b.lemmas),
        obligations: a.obligations.saturating_add(b.obligations),
        queries: a.queries.saturating_add(b.queries),
        conflicts: a.conflicts.saturating_add(b.conflicts),
        propagations: a.propagations.saturating_add(b.propagations),
        peak_bytes: a.peak_bytes.max(b.peak_bytes),
        peak_clauses: a.peak_clauses.max(b.peak_clauses),
        peak_obligations: a.peak_obligations.max(b.peak_obligations),
    }
}
