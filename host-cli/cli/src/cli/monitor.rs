//! Watches over a command while it works: its time, its memory, and that somebody hears of it.
//!
//! The command works in a thread of its own and ends by itself when its [deadline](vouch_host::deadline) is
//! over. What does not, because it is stuck in the system or in code of others, is left behind here, and
//! with it the process.

use super::context::complain;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use vouch_core::ic3::Stats;
use vouch_host::deadline::{Deadline, Over};
use vouch_host::memory;
use vouch_host::report::json::Outcome;
use vouch_host::report::text::size;

/// Between two looks.
const LOOK: Duration = Duration::from_millis(20);
/// Between two words on how far it is.
const WORD: Duration = Duration::from_secs(10);
/// How long after its end a command may put in order what it has.
const GRACE: Duration = Duration::from_millis(400);
/// After that it is left behind.
const HARD: Duration = Duration::from_millis(750);
/// Values of `Monitor::answers`: who has taken it on to give the one answer.
const NOBODY: u8 = 0;
const COMMAND: u8 = 1;
const WATCHER: u8 = 2;
/// Stack of a command.
const STACK: usize = 64 << 20;

/// What the command and its watcher share.
#[derive(Default)]
pub struct Monitor {
    /// When the command must end.
    pub deadline: Deadline,
    /// How long after that something may be put in order, at least.
    pub grace: Duration,
    /// Whether lines on the progress are wanted.
    speaks: bool,
    /// Whether the engine's counters are.
    verbose: bool,
    /// How far the engine is.
    stats: Mutex<Option<Stats>>,
    /// What can be said if there is no time to say more.
    so_far: Mutex<Outcome>,
    /// Whether there is something, like an emulator, that a second Ctrl-C must not leave behind.
    busy: AtomicBool,
    /// Who has begun to answer: there is one answer only.
    answers: AtomicU8,
    /// The most bytes that the process may have.
    max_rss: AtomicU64,
}

impl Monitor {
    /// For a command with so much time and memory.
    pub fn new(
        timeout: Option<Duration>,
        max_rss: Option<u64>,
        speaks: bool,
        verbose: bool,
    ) -> Monitor {
        let half = || memory::installed().map(|all| all / 2);
        Monitor {
            deadline: Deadline::after(timeout),
            // At the end of a long time there may be more to put in order.
            grace: timeout.map_or(GRACE, |t| GRACE.max(t / 32)),
            speaks,
            verbose,
            max_rss: max_rss.or_else(half).unwrap_or(u64::MAX).into(),
            ..Monitor::default()
        }
    }

    /// How far the engine is.
    pub fn set_stats(&self, stats: Option<Stats>) {
        *self.stats.lock().unwrap_or_else(PoisonError::into_inner) = stats;
    }

    /// What can be said if there is no time to say more.
    pub fn set_so_far(&self, outcome: Outcome) {
        *self.so_far.lock().unwrap_or_else(PoisonError::into_inner) = outcome;
    }

    /// What can be said now that it is over.
    pub fn last_words(&self, over: Over) -> Outcome {
        let mut so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for property in &mut so_far.properties {
            property.reason.get_or_insert_with(|| over.into());
        }
        let phase = self.deadline.phase();
        let detail = match (so_far.detail, phase.as_str()) {
            (Some(detail), _) => detail,
            (None, "") => over.to_string(),
            (None, phase) => format!("{over} while {phase}"),
        };
        let detail = format!("{detail}{}", self.advice(over));
        let reason = so_far.reason.unwrap_or_else(|| over.into());
        Outcome { reason: Some(reason), detail: Some(detail), ..so_far }
    }

    /// What to do about it.
    pub fn advice(&self, over: Over) -> String {
        match over {
            Over::Timeout => "\nhelp: allow more time with `--timeout`".into(),
            Over::Cancelled => String::new(),
            Over::Memory => {
                let most = size(self.max_rss.load(Ordering::Relaxed));
                format!("\nhelp: the process may have {most}; allow more with `--max-rss`")
            }
        }
    }

    /// Whether something must not be left behind.
    pub fn set_busy(&self, busy: bool) {
        self.busy.store(busy, Ordering::Relaxed);
    }

    /// Whether something must not be left behind.
    pub fn is_busy(&self) -> bool {
        self.busy.load(Ordering::Relaxed)
    }

    /// The command begins to answer. If it was left behind, it waits here for the end of the process.
    pub fn answer(&self) {
        while self.answers.compare_exchange(NOBODY, COMMAND, Ordering::SeqCst, Ordering::SeqCst)
            == Err(WATCHER)
        {
            std::thread::park();
        }
    }

    /// Whether the command has not begun to answer, and no longer can.
    pub fn answer_instead(&self) -> bool {
        let claim =
            self.answers.compare_exchange(NOBODY, WATCHER, Ordering::SeqCst, Ordering::SeqCst);
        claim.is_ok()
    }

    /// Looks at the memory. What grows so fast that it would not hear of its end is left behind at once.
    fn look_at_memory(&self) -> bool {
        let most = self.max_rss.load(Ordering::Relaxed);
        let Some(now) = memory::resident().filter(|now| *now > most) else { return false };
        self.deadline.stop(Over::Memory);
        now > most.saturating_add(most / 8)
    }

    /// Whether the command has been over for so long that it is left behind.
    fn is_lost(&self) -> Option<Over> {
        let (since, over) = self.deadline.ended()?;
        let most = HARD.max(self.grace + (HARD - GRACE));
        (since.elapsed() >= most).then_some(over)
    }

    /// One line on how far it is.
    fn speak(&self, since: Instant) {
        let stats = *self.stats.lock().unwrap_or_else(PoisonError::into_inner);
        let parts = [
            Some(format!("{} s", since.elapsed().as_secs())),
            stats.map(|stats| far(&stats, self.verbose)),
            self.decided(),
            memory::resident().map(size),
            self.deadline.left().map(|left| format!("{} s left", left.as_secs())),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        complain(&format!("{}: {}", self.deadline.phase(), parts.join(", ")));
    }

    /// How many properties the engine has decided, once it has said so.
    fn decided(&self) -> Option<String> {
        let so_far = self.so_far.lock().unwrap_or_else(PoisonError::into_inner);
        let all = so_far.properties.len();
        let decided = so_far.properties.iter().filter(|p| p.reason.is_some()).count();
        match (decided, all) {
            (_, 0) => None,
            (0, 1) => Some("1 property".into()),
            (0, all) => Some(format!("{all} properties")),
            (decided, all) => Some(format!("{decided} of {all} properties decided")),
        }
    }
}

/// How far an engine is.
pub fn far(stats: &Stats, verbose: bool) -> String {
    let Stats { frontier, lemmas, obligations, .. } = stats;
    match verbose {
        true => format!("bound {frontier}, {lemmas} lemmas, {obligations} obligations"),
        false => format!("bound {frontier}"),
    }
}

/// From here on the first Ctrl-C or SIGTERM ends the command in good order, and a second one the program at
/// once, unless it is busy.
pub fn catch_signals(monitor: &Arc<Monitor>) {
    let monitor = monitor.clone();
    // Without it they end the program as usual.
    let _ = ctrlc::set_handler(move || {
        let again = monitor.deadline.is_stopped();
        monitor.deadline.stop(Over::Cancelled);
        if again && !monitor.is_busy() {
            std::process::exit(3);
        }
    });
}

/// How a command has ended.
pub enum End {
    /// With this exit code.
    Done(u8),
    /// It was left behind.
    Lost(Over),
    /// By a bug, of which this is the message.
    Panicked(String),
}

/// Has a command work, and watches over it.
pub fn run(monitor: &Arc<Monitor>, work: impl FnOnce() -> u8 + Send + 'static) -> End {
    let message: Arc<Mutex<Option<String>>> = Arc::default();
    let told = message.clone();
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        // Who wants to know more gets it.
        if std::env::var_os("RUST_BACKTRACE").is_some() {
            default(panic);
        }
        *told.lock().unwrap_or_else(PoisonError::into_inner) = Some(panic.to_string());
    }));
    let (sender, receiver) = mpsc::channel();
    let worker = std::thread::Builder::new().name("command".into()).stack_size(STACK);
    let worker = worker.spawn(move || {
        // Fails only if nobody listens any more.
        let _ = sender.send(work());
    });
    if let Err(error) = worker {
        return End::Panicked(format!("no thread can be started: {error}"));
    }
    let start = Instant::now();
    let mut spoken = start;
    loop {
        match receiver.recv_timeout(LOOK) {
            Ok(code) => return End::Done(code),
            Err(RecvTimeoutError::Disconnected) => {
                let message = message.lock().unwrap_or_else(PoisonError::into_inner).take();
                return End::Panicked(message.unwrap_or_default());
            }
            Err(RecvTimeoutError::Timeout) => {}
        }
        if monitor.look_at_memory() {
            return End::Lost(Over::Memory);
        }
        if let Some(over) = monitor.is_lost() {
            return End::Lost(over);
        }
        if monitor.speaks && spoken.elapsed() >= WORD {
            spoken = Instant::now();
            monitor.speak(start);
        }
    }
}
