//! Several engines at once, each in a thread of its own: the first whose verdict is confirmed wins.
//!
//! They differ in how they work, never in what is true: a verdict counts only once it was judged, so
//! which of them is first changes the run or the invariant that is shown, but no verdict. All of them
//! get the same limits, and each takes memory and CPU time of its own.

use super::ic3cfa::Watch;
use super::{Answer, Engine, EngineError};
use crate::deadline;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use vouch_core::ic3::{Stats, Verdict};

/// How often the caller is asked whether to continue.
const LOOK: Duration = Duration::from_millis(20);

/// An answer, which nobody believes yet.
#[derive(Debug)]
pub struct Claim<M> {
    /// Whose it is.
    pub engine: Engine,
    /// Verdicts, traces and the invariant.
    pub answer: Answer,
    /// What else belongs to it: the model, if it is about another one.
    pub about: M,
}

/// One that takes part: it gets somebody to ask whether to continue.
pub type Entrant<'e, M> = Box<dyn FnOnce(Watch<'_>) -> Result<Claim<M>, EngineError> + Send + 'e>;

/// What came out of it.
#[derive(Debug)]
pub struct Won<M, T> {
    /// The answer that counts.
    pub claim: Claim<M>,
    /// What `judge` made of it; `None` if there was no need to ask, because somebody else had won or
    /// the run was cancelled.
    pub judged: Option<T>,
}

/// Lets all work at once. `judge` says what it makes of an answer and whether it settles the question; it is called
/// in the engine's thread. `watch` gets the first one's counters from time to time; all are cancelled when it says
/// `false`. If nobody settles the question, the answer with the most verdicts is returned.
pub fn run<M: Send, T: Send>(
    entrants: Vec<Entrant<'_, M>>,
    judge: &(dyn Fn(&Claim<M>) -> (T, bool) + Sync),
    watch: Watch<'_>,
) -> Result<Won<M, T>, EngineError> {
    let stop = AtomicBool::new(false);
    let shown = Mutex::new(Stats::default());
    let (sender, receiver) = mpsc::channel();
    let enter = |number: usize, entrant: Entrant<'_, M>| {
        let claim = entrant(&mut |stats| {
            if number == 0
                && let Ok(mut shown) = shown.lock()
            {
                *shown = *stats;
            }
            !stop.load(Ordering::Relaxed)
        });
        claim.map(|claim| {
            let judged = (!stop.load(Ordering::Relaxed)).then(|| judge(&claim));
            let settled = judged.as_ref().is_some_and(|j| j.1);
            if settled {
                stop.store(true, Ordering::Relaxed);
            }
            (Won { claim, judged: judged.map(|j| j.0) }, settled)
        })
    };
    let mut ended: Vec<_> = entrants.iter().map(|_| None).collect();
    let mut first = None;
    let deadline = deadline::current();
    std::thread::scope(|scope| {
        for (number, entrant) in entrants.into_iter().enumerate() {
            let (sender, enter, deadline) = (sender.clone(), &enter, &deadline);
            scope.spawn(move || {
                // What is over has no result. Sending fails only if nobody listens any more.
                if let Ok(result) = deadline.enter(|| enter(number, entrant)) {
                    drop(sender.send((number, result)));
                }
            });
        }
        drop(sender);
        loop {
            match receiver.recv_timeout(LOOK) {
                Ok((number, result)) => {
                    let settled = matches!(&result, Ok((_, true)));
                    first = first.or(settled.then_some(number));
                    ended[number] = Some(result);
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    let stats = shown.lock().map(|s| *s).unwrap_or_default();
                    if !watch(&stats) {
                        stop.store(true, Ordering::Relaxed);
                    }
                }
            }
        }
    });
    if let Some(Some(Ok((won, _)))) =
        first.and_then(|number| ended.get_mut(number)).map(Option::take)
    {
        return Ok(won);
    }
    if ended.iter().all(Option::is_none) {
        // It was over for all of them, so it is here.
        deadline::look();
    }
    best(ended.into_iter().flatten().map(|r| r.map(|r| r.0)))
}

/// The same, one after the other: which of them is first does not depend on the machine.
pub fn in_turn<M, T>(
    entrants: Vec<Entrant<'_, M>>,
    judge: &dyn Fn(&Claim<M>) -> (T, bool),
    watch: Watch<'_>,
) -> Result<Won<M, T>, EngineError> {
    let mut ended = vec![];
    for entrant in entrants {
        ended.push(entrant(watch).map(|claim| {
            let (judged, settled) = judge(&claim);
            (Won { claim, judged: Some(judged) }, settled)
        }));
        if let Some(Ok((won, _))) = ended.pop_if(|last| matches!(last, Ok((_, true)))) {
            return Ok(won);
        }
    }
    best(ended.into_iter().map(|r| r.map(|r| r.0)))
}

/// The answer with the most verdicts, the first of these; an error only if there is nothing else.
fn best<M, T>(
    results: impl Iterator<Item = Result<Won<M, T>, EngineError>>,
) -> Result<Won<M, T>, EngineError> {
    let known = |won: &Won<M, T>| {
        let known = |v: &&Verdict| matches!(v, Verdict::Safe | Verdict::Unsafe);
        won.claim.answer.verdicts.iter().filter(known).count()
    };
    results
        .reduce(|best, next| match (best, next) {
            (Ok(best), Ok(next)) if known(&next) > known(&best) => Ok(next),
            (Err(_), Ok(next)) => Ok(next),
            (best, _) => best,
        })
        // There is at least one entrant, and the time is not over for all of them.
        .unwrap_or(Err(EngineError::Refused(0)))
}
