//! Several engines at once, each in a thread of its own: the first whose verdict stands wins.
//!
//! They differ in how they work, never in what is true: a verdict counts only once it was judged, so
//! which of them is first changes the run or the invariant that is shown, but no verdict. All of them
//! get the same limits, and each takes memory and CPU time of its own.

use super::{Answer, Engine, EngineError, Setup};
use crate::blast::AlignedImage;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;
use vouch_core::ic3::{Stats, Verdict};

/// How often the caller is asked whether to go on.
const LOOK: Duration = Duration::from_millis(20);

/// Who runs, in the order in which they are worth a thread: the second needs half the work for some of
/// what the first finds hard and the other way round, the third is for programs whose locations hide
/// what they have in common.
pub const ENTRANTS: [Engine; 3] = [Engine::Ic3Cfa, Engine::Eager, Engine::Ic3];

/// What came out of it.
#[derive(Debug)]
pub struct Won<T> {
    /// Whose answer it is.
    pub engine: Engine,
    /// What that engine claims: verdicts, traces and the invariant.
    pub answer: Answer,
    /// What `judge` made of it; `None` if there was no need to ask, because somebody else had won or
    /// the run was cancelled.
    pub judged: Option<T>,
}

/// Checks `image` with up to `threads` engines at once. `judge` says what it makes of an answer and
/// whether it settles the question; it is called in the engine's thread. `watch` gets the first
/// engine's counters from time to time; all are cancelled when it says `false`. If nobody settles the
/// question, the answer with the most verdicts is returned.
pub fn run<T: Send>(
    image: &AlignedImage,
    setup: &Setup,
    threads: usize,
    judge: &(dyn Fn(&Answer) -> (T, bool) + Sync),
    watch: &mut dyn FnMut(&Stats) -> bool,
) -> Result<Won<T>, EngineError> {
    let entrants = &ENTRANTS[..threads.clamp(1, ENTRANTS.len())];
    let stop = AtomicBool::new(false);
    let shown = Mutex::new(Stats::default());
    let (sender, receiver) = mpsc::channel();
    let enter = |number: usize, engine: Engine| {
        let answer = engine.run(image, setup, &mut |stats| {
            if number == 0
                && let Ok(mut shown) = shown.lock()
            {
                *shown = *stats;
            }
            !stop.load(Ordering::Relaxed)
        });
        answer.map(|answer| {
            let judged = (!stop.load(Ordering::Relaxed)).then(|| judge(&answer));
            let settled = judged.as_ref().is_some_and(|j| j.1);
            if settled {
                stop.store(true, Ordering::Relaxed);
            }
            (Won { engine, answer, judged: judged.map(|j| j.0) }, settled)
        })
    };
    let mut ended: Vec<_> = entrants.iter().map(|_| None).collect();
    let mut first = None;
    std::thread::scope(|scope| {
        for (number, engine) in entrants.iter().enumerate() {
            let (sender, enter) = (sender.clone(), &enter);
            scope.spawn(move || {
                // Fails only if nobody listens any more.
                drop(sender.send((number, enter(number, *engine))));
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
    best(ended.into_iter().flatten().map(|r| r.map(|r| r.0)))
}

/// The answer with the most verdicts, the first of these; an error only if there is nothing else.
fn best<T>(
    results: impl Iterator<Item = Result<Won<T>, EngineError>>,
) -> Result<Won<T>, EngineError> {
    let known = |won: &Won<T>| {
        let known = |v: &&Verdict| matches!(v, Verdict::Safe | Verdict::Unsafe);
        won.answer.verdicts.iter().filter(known).count()
    };
    results
        .reduce(|best, next| match (best, next) {
            (Ok(best), Ok(next)) if known(&next) > known(&best) => Ok(next),
            (Err(_), Ok(next)) => Ok(next),
            (best, _) => best,
        })
        // There is at least one entrant.
        .unwrap_or(Err(EngineError::Refused(0)))
}
