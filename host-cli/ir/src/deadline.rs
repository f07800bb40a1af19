//! One end for everything: the time that the user allows, a stop from outside, the memory of the process.
//!
//! Whoever begins work [enters](Deadline::enter) a deadline; it then holds for the thread. Loops that may
//! take long [`tick`] in every round. Once the deadline is over, the next tick leaves them by unwinding,
//! up to where it was entered: what was under way there is gone, and everything around is as it was. No
//! function in between has to know of time, and none can forget to pass it on.
//!
//! A part of the work can be given [less](Deadline::share) of the time than there is: one that does not
//! come to an end is left out, and the rest continues.

use std::cell::{Cell, RefCell};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

/// Ticks between two looks at the clock.
const TICKS: u32 = 64;

/// Why work ends before it is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Over {
    /// The time is over.
    Timeout,
    /// The user has stopped it.
    Cancelled,
    /// The process has taken all the memory that it may.
    Memory,
}

impl fmt::Display for Over {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Over::Timeout => "the time was over",
            Over::Cancelled => "it was stopped",
            Over::Memory => "the memory was used up",
        })
    }
}

impl std::error::Error for Over {}

/// When work must end. Copies are one and the same: what stops one stops all.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    until: Option<Instant>,
    /// How long after its end work may continue.
    grace: Duration,
    shared: Arc<Shared>,
}

#[derive(Debug, Default)]
struct Shared {
    /// The first stop from outside.
    stopped: OnceLock<(Instant, Over)>,
    /// What is being done.
    phase: Mutex<String>,
}

impl Deadline {
    /// One that only a stop from outside ends.
    pub fn never() -> Deadline {
        Deadline::default()
    }

    /// One that ends after this time, if there is one.
    pub fn after(time: Option<Duration>) -> Deadline {
        // A time beyond all clocks is none.
        let until = time.and_then(|time| Instant::now().checked_add(time));
        Deadline { until, ..Deadline::default() }
    }

    /// The same, but after this time at the latest, with what it has of grace.
    pub fn within(&self, time: Duration) -> Deadline {
        let end = Instant::now().checked_add(time).and_then(|end| end.checked_sub(self.grace));
        let until = match (self.until, end) {
            (Some(until), Some(end)) => Some(until.min(end)),
            (until, end) => until.or(end),
        };
        Deadline { until, ..self.clone() }
    }

    /// The same, but with one of this many parts of what is left of the time. Without end it stays so.
    pub fn share(&self, parts: u32) -> Deadline {
        match self.left() {
            Some(left) => self.within(left / parts),
            None => self.clone(),
        }
    }

    /// The same, but so much later, whatever its end is.
    pub fn with_grace(&self, grace: Duration) -> Deadline {
        Deadline { grace, ..self.clone() }
    }

    /// The time that is left; `None` if there is no end to it.
    pub fn left(&self) -> Option<Duration> {
        let end = self.until?.checked_add(self.grace)?;
        Some(end.saturating_duration_since(Instant::now()))
    }

    /// Stops all work under it.
    pub fn stop(&self, why: Over) {
        // The first reason stays.
        let _ = self.shared.stopped.set((Instant::now(), why));
    }

    /// Whether something has stopped it from outside.
    pub fn is_stopped(&self) -> bool {
        self.shared.stopped.get().is_some()
    }

    /// Since when it is over, and why.
    pub fn ended(&self) -> Option<(Instant, Over)> {
        let stopped = self.shared.stopped.get().copied();
        let timed = self.until.map(|until| (until, Over::Timeout));
        let first = match (stopped, timed) {
            (Some(stopped), Some(timed)) if timed.0 < stopped.0 => timed,
            (stopped, timed) => stopped.or(timed)?,
        };
        let end = first.0.checked_add(self.grace)?;
        (Instant::now() >= end).then_some((end, first.1))
    }

    /// Whether it is over.
    pub fn over(&self) -> Option<Over> {
        self.ended().map(|ended| ended.1)
    }

    /// Fails once it is over.
    pub fn check(&self) -> Result<(), Over> {
        self.over().map_or(Ok(()), Err)
    }

    /// Says what is done from here on.
    pub fn set_phase(&self, phase: impl Into<String>) {
        *self.shared.phase.lock().unwrap_or_else(PoisonError::into_inner) = phase.into();
    }

    /// What is being done, or was when it ended; empty if nobody said.
    pub fn phase(&self) -> String {
        self.shared.phase.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Works under it. Once it is over, the work is left at its next [`tick`].
    pub fn enter<T>(&self, work: impl FnOnce() -> T) -> Result<T, Over> {
        let before = CURRENT.replace(Some(self.clone()));
        let result = catch_unwind(AssertUnwindSafe(work));
        CURRENT.set(before);
        result.or_else(|panic| match panic.downcast::<Left>() {
            Ok(left) => Err(left.0),
            Err(panic) => resume_unwind(panic),
        })
    }
}

/// What unwinds when a deadline is over.
struct Left(Over);

thread_local! {
    static CURRENT: RefCell<Option<Deadline>> = const { RefCell::new(None) };
    static COUNT: Cell<u32> = const { Cell::new(0) };
}

/// The deadline that holds here.
pub fn current() -> Deadline {
    CURRENT.with_borrow(|current| current.clone().unwrap_or_default())
}

/// Says what is done from here on.
pub fn phase(phase: impl Into<String>) {
    CURRENT.with_borrow(|current| {
        if let Some(deadline) = current {
            deadline.set_phase(phase);
        }
    });
}

/// Leaves the work that is under way if its deadline is over. Costs next to nothing: the clock is looked at
/// in one of many.
#[inline]
pub fn tick() {
    let count = COUNT.get();
    COUNT.set(count.wrapping_add(1));
    if count.is_multiple_of(TICKS) {
        look();
    }
}

/// Fails if the deadline that holds here is over; for where work cannot be left by unwinding. Looks at the
/// clock in one of many, as a tick.
pub fn current_check() -> Result<(), Over> {
    let count = COUNT.get();
    COUNT.set(count.wrapping_add(1));
    match count.is_multiple_of(TICKS) {
        true => CURRENT.with_borrow(|current| current.as_ref().map_or(Ok(()), Deadline::check)),
        false => Ok(()),
    }
}

/// A tick that looks at the clock, for rounds that take milliseconds.
pub fn look() {
    let over = CURRENT.with_borrow(|current| current.as_ref().and_then(Deadline::over));
    // Who is unwinding already is on the way.
    if let Some(over) = over.filter(|_| !std::thread::panicking()) {
        leave(over);
    }
}

/// Leaves the work that is under way.
pub fn leave(over: Over) -> ! {
    resume_unwind(Box::new(Left(over)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn forever() {
        loop {
            tick();
        }
    }

    #[test]
    fn work_without_end_is_left() {
        let deadline = Deadline::after(Some(Duration::from_millis(20)));
        assert_eq!(deadline.enter(|| 1), Ok(1));
        assert_eq!(deadline.enter(forever), Err(Over::Timeout));
        assert_eq!(deadline.over(), Some(Over::Timeout));
        assert!(deadline.with_grace(Duration::from_secs(60)).over().is_none());
        tick();
        look();
    }

    #[test]
    fn a_stop_from_outside_reaches_all_copies() {
        let deadline = Deadline::never();
        let (copy, part) = (deadline.clone(), deadline.within(Duration::from_secs(60)));
        std::thread::spawn(move || copy.stop(Over::Cancelled));
        assert_eq!(part.enter(forever), Err(Over::Cancelled));
        deadline.stop(Over::Memory);
        assert_eq!(deadline.over(), Some(Over::Cancelled), "the first reason stays");
    }

    #[test]
    fn a_part_may_end_before_the_whole() {
        let whole = Deadline::after(Some(Duration::from_secs(60)));
        let left = whole.enter(|| {
            let part = whole.within(Duration::from_millis(10)).enter(forever);
            assert_eq!(part, Err(Over::Timeout));
            // What holds here is the whole again.
            look();
            current().left().unwrap()
        });
        assert!(left.unwrap() > Duration::from_secs(50));
        assert!(whole.share(4).left().unwrap() < Duration::from_secs(16));
        assert_eq!(Deadline::never().share(4).left(), None);
    }

    #[test]
    fn grace_makes_no_part_longer() {
        let whole =
            Deadline::after(Some(Duration::from_secs(8))).with_grace(Duration::from_secs(60));
        assert!(whole.left().unwrap() > Duration::from_secs(60));
        assert!(whole.within(Duration::from_secs(1)).left().unwrap() <= Duration::from_secs(1));
        assert!(whole.share(4).left().unwrap() <= Duration::from_secs(17));
        // A grace that is given to the part is one.
        let part = whole.within(Duration::from_secs(1)).with_grace(Duration::from_secs(60));
        assert!(part.left().unwrap() <= Duration::from_secs(1));
        let part = Deadline::never().within(Duration::from_secs(1));
        assert!(part.with_grace(Duration::from_secs(60)).left().unwrap() > Duration::from_secs(60));
    }

    #[test]
    fn other_panics_pass() {
        let panic = catch_unwind(|| Deadline::never().enter(|| resume_unwind(Box::new("own"))));
        let Err(panic) = panic.map(|_: Result<(), Over>| ()) else { panic!("it passed") };
        assert_eq!(panic.downcast_ref::<&str>(), Some(&"own"));
    }
}
