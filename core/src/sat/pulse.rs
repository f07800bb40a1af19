//! A callback during queries, however long they take: to feed a watchdog, or look at a clock.

use super::{Answer, Solver};
use crate::word::Word;

/// A callback in regular intervals of work.
pub(crate) struct Pulse<'a> {
    every: u32,
    next: u64,
    call: &'a mut (dyn FnMut() -> bool + 'a),
}

impl<'a> Pulse<'a> {
    /// Calls `call` after each `every` units of work from `now` on; once it returns false, queries end in
    /// [`Answer::Cancelled`].
    pub(crate) fn new(now: u64, every: u32, call: &'a mut (dyn FnMut() -> bool + 'a)) -> Pulse<'a> {
        Pulse { every, next: now.saturating_add(every.into()), call }
    }
}

impl<W: Word> Solver<'_, W> {
    /// Why the query must end here without an answer, if it must.
    #[inline(always)]
    pub(super) fn interrupted(&mut self) -> Option<Answer> {
        let now = self.state.propagations;
        if now >= self.state.limit {
            return Some(Answer::Budget);
        }
        match &mut self.pulse {
            Some(pulse) if now >= pulse.next => {
                pulse.next = now.saturating_add(pulse.every.into());
                (!(pulse.call)()).then_some(Answer::Cancelled)
            }
            _ => None,
        }
    }
}
