//! The limits of a run: time, work, memory, and whoever watches it.
//!
//! The core's engine has its own; this is for the engines that are written for the host. A unit of work is
//! whatever is done most: a literal of a proof, a gate. It is not the same for all of them, but about as
//! much effort as for the core's.

use super::ic3cfa::Watch;
use super::{Answer, Ended, Memory, Setup};
use std::cell::{Cell, RefCell};
use std::time::{Duration, Instant};
use vouch_core::ic3::{Limit, Stats, Verdict};

/// Work between two looks at the clock: a millisecond at most, also where a unit is a byte of a proof.
const SLICE: u64 = 5_000;

/// Why a run ends before it is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// Ended from outside: timeout, cancellation or memory limit of the process.
    Ended(Ended),
    /// A limit of its own.
    Limit(Limit),
}

impl Stop {
    /// The verdict on what is still open.
    pub fn verdict(self) -> Verdict {
        Verdict::Unknown(match self {
            Stop::Ended(_) => Limit::Cancelled,
            Stop::Limit(limit) => limit,
        })
    }

    /// What has ended the run.
    pub fn ended(self) -> Ended {
        match self {
            Stop::Ended(ended) => ended,
            Stop::Limit(_) => Ended::Itself,
        }
    }
}

/// The limits, and what was used of them.
pub struct Clock<'w> {
    end: Option<Instant>,
    budget: u64,
    memory: usize,
    watch: RefCell<Watch<'w>>,
    stats: Cell<Stats>,
    /// Work at the next look at the time.
    look: Cell<u64>,
    stopped: Cell<Option<Stop>>,
}

impl<'w> Clock<'w> {
    /// For a run that begins now.
    pub fn new(setup: &Setup, watch: Watch<'w>) -> Clock<'w> {
        Clock {
            end: setup.timeout.and_then(|time| Instant::now().checked_add(time)),
            budget: setup.budget,
            memory: match setup.memory {
                Memory::Fixed(bytes) => bytes,
                Memory::Growing { most, .. } => most,
            },
            watch: RefCell::new(watch),
            stats: Cell::default(),
            look: Cell::new(0),
            stopped: Cell::new(None),
        }
    }

    /// The time that is left; `None` if there is no end to it.
    pub fn left(&self) -> Option<Duration> {
        self.end.map(|end| end.saturating_duration_since(Instant::now()))
    }

    /// The work that is left; 0 if there is no limit, as in [`Setup`].
    pub fn budget_left(&self) -> u64 {
        match self.budget {
            0 => 0,
            budget => budget.saturating_sub(self.stats.get().propagations).max(1),
        }
    }

    /// Does so much work, or says why it must not be done.
    pub fn work(&self, units: u64) -> Result<(), Stop> {
        if let Some(stop) = self.stopped.get() {
            return Err(stop);
        }
        let mut stats = self.stats.get();
        stats.propagations = stats.propagations.saturating_add(units);
        self.stats.set(stats);
        if self.budget > 0 && stats.propagations > self.budget {
            return self.stop(Stop::Limit(Limit::Budget));
        }
        if stats.propagations < self.look.get() {
            return Ok(());
        }
        self.look.set(stats.propagations.saturating_add(SLICE));
        // A watcher that is asked while it is being asked has nothing new to say.
        let go_on = self.watch.try_borrow_mut().map_or(true, |mut watch| watch(&stats));
        if !go_on {
            return self.stop(Stop::Ended(Ended::Cancelled));
        }
        if self.end.is_some_and(|end| Instant::now() >= end) {
            return self.stop(Stop::Ended(Ended::Timeout));
        }
        Ok(())
    }

    /// The same for work that may take a millisecond: the clock is looked at.
    pub fn long_work(&self, units: u64) -> Result<(), Stop> {
        self.look.set(0);
        self.work(units)
    }

    /// Says how many bytes are in use, about, or why it must not be so many.
    pub fn uses(&self, bytes: usize) -> Result<(), Stop> {
        self.count(|stats| {
            stats.peak_bytes = stats.peak_bytes.max(u32::try_from(bytes).unwrap_or(u32::MAX))
        });
        if bytes > self.memory {
            return self.stop(Stop::Limit(Limit::Capacity));
        }
        Ok(())
    }

    /// Ends the run.
    pub fn stop<T>(&self, stop: Stop) -> Result<T, Stop> {
        self.stopped.set(Some(self.stopped.get().unwrap_or(stop)));
        Err(stop)
    }

    /// Why the run has ended, if it has.
    pub fn stopped(&self) -> Option<Stop> {
        self.stopped.get()
    }

    /// Changes the counters.
    pub fn count(&self, change: impl FnOnce(&mut Stats)) {
        let mut stats = self.stats.get();
        change(&mut stats);
        self.stats.set(stats);
    }

    /// A copy of the counters as they are now.
    pub fn stats(&self) -> Stats {
        self.stats.get()
    }

    /// Runs another engine with what is left of the limits.
    pub fn lend<E>(
        &self,
        setup: &Setup,
        run: impl FnOnce(&Setup, Watch<'_>) -> Result<Answer, E>,
    ) -> Result<Answer, E> {
        let rest = Setup { timeout: self.left(), budget: self.budget_left(), ..setup.clone() };
        run(&rest, &mut |stats| self.watch.try_borrow_mut().map_or(true, |mut watch| watch(stats)))
    }
}
