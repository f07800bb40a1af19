//! A board that is booted over and over in one QEMU.
//!
//! Nearly all of a boot's time goes into starting QEMU and into the translation of code. Here both are done
//! once: between two boots the board is reset, its RAM holds zeros again, and what differs in its flash is
//! put right, so that only the code around a difference is translated anew.

use super::Kind;
use super::case::Case;
use super::dialogue::{Dialogue, uart_end};
use crate::emulator::{Debugger, Emulator};
use std::io::{ErrorKind, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use vouch_host::transport::qemu::Board;
use vouch_host::transport::qemu::flash::Monitor;

/// Times the unhurt boot's that a boot may take.
const PATIENCE: u32 = 5;
/// Longer than QEMU takes to translate all code, should it have thrown that away.
const LEAST_PATIENCE: Duration = Duration::from_millis(50);
/// A processor that waits for an interrupt takes no time at all. On a busy machine the others take theirs.
const WALL: u32 = 40;
/// How often the time is looked at.
const LOOK: Duration = Duration::from_millis(20);
/// Bytes of flash that are compared and written together.
const CHUNK: usize = 512;
/// More than a boot says. A board that is out of its mind may print for ever.
const MAX_TEXT: usize = 1 << 16;

/// What came of a boot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boot {
    /// Whether it came to an end in time, a restart or the end of the emulator included.
    pub ended: bool,
    /// What it said.
    pub text: String,
    /// Whether what it left in flash shows that it did not refuse.
    left: bool,
}

impl Boot {
    pub fn new(board: &Board, kind: Kind, ended: bool, said: &Dialogue<'_>, flash: &[u8]) -> Boot {
        let models = flash.get((board.models.start - board.base()) as usize..);
        let left = kind.is_bypass_in(models.unwrap_or_default());
        Boot { ended, text: said.text(), left }
    }

    /// Whether it did not refuse.
    pub fn is_bypass(&self, kind: Kind) -> bool {
        self.left || kind.is_bypass(&self.text)
    }

    /// Whether both have ended and said the same until then. How much follows depends on when it was stopped.
    pub fn is_like(&self, other: &Boot) -> bool {
        let said = |boot: &Boot| match uart_end(&boot.text) {
            Some(end) => boot.text[..end].to_owned(),
            None => boot.text.clone(),
        };
        self.ended && other.ended && said(self) == said(other)
    }
}

/// An emulated board that is reset between boots; its flash is restored each time.
pub struct Machine {
    board: &'static Board,
    kind: Kind,
    flash: Vec<u8>,
    patience: Duration,
    /// QEMU's thread that is the processor.
    thread: u64,
    lost: bool,
    monitor: Monitor,
    debugger: Debugger,
    emulator: Emulator,
}

impl Machine {
    /// A board with this flash, whose RAM begins at `ram`. It must say the same as a boot in a new QEMU did.
    pub fn start(
        board: &'static Board,
        kind: Kind,
        case: &Case,
        ram: u32,
        unhurt: &Boot,
    ) -> Machine {
        let emulator = Emulator::reusable(board, ram);
        let (mut monitor, debugger) = (emulator.monitor(), emulator.debugger());
        let thread = monitor.thread().unwrap();
        let patience = Duration::from_secs(60);
        let (flash, lost) = (case.flash.clone(), false);
        let mut machine =
            Machine { board, kind, flash, patience, thread, lost, monitor, debugger, emulator };
        machine.put_right().unwrap();
        // At a reset a Cortex-M reads where to begin.
        machine.monitor.reset().unwrap();
        let mut longest = Duration::ZERO;
        // In the first boot code is translated.
        for is_first in [true, false, false] {
            let start = machine.time();
            let boot = machine.boot(case, None);
            assert!(boot.is_like(unhurt), "{boot:?} instead of {unhurt:?}");
            if !is_first {
                longest = longest.max(machine.time().saturating_sub(start));
            }
        }
        machine.patience = LEAST_PATIENCE.max(PATIENCE * longest);
        machine
    }

    /// Whether there is no other boot: QEMU ends when the processor is beyond help, and does not answer when
    /// a timer keeps it too busy.
    pub fn is_lost(&mut self) -> bool {
        self.lost || self.emulator.ended()
    }

    /// Boots with other bytes at an address.
    pub fn boot(&mut self, case: &Case, other: Option<(u32, &[u8])>) -> Boot {
        if let Some((address, bytes)) = other {
            self.debugger.write(address, bytes).unwrap();
        }
        self.debugger.run();
        let mut dialogue = Dialogue::new(case);
        let ended = self.listen(&mut dialogue);
        let text = &mut dialogue.heard;
        let left = self.halt(ended, text).and_then(|()| self.again(text));
        self.lost = left.is_err();
        Boot::new(self.board, self.kind, ended, &dialogue, &left.unwrap_or_default())
    }

    /// Listens until it has ended or it has been long enough.
    fn listen(&mut self, dialogue: &mut Dialogue<'_>) -> bool {
        self.emulator.uart.set_read_timeout(Some(LOOK)).unwrap();
        let (start, wall) = (self.time(), Instant::now());
        let mut block = [0; 512];
        loop {
            match self.emulator.uart.read(&mut block) {
                Ok(0) => return true,
                Ok(count) => dialogue.hear(&block[..count], &self.emulator.uart),
                // A board that ends with a request unread.
                Err(e) if e.kind() == ErrorKind::ConnectionReset => return true,
                // A campaign that is stopped and continued sees an interruption.
                Err(e) => assert!(matches!(
                    e.kind(),
                    ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted
                )),
            }
            if dialogue.has_ended() {
                return true;
            }
            let taken = self.time().saturating_sub(start);
            let long = taken > self.patience || wall.elapsed() > WALL * self.patience;
            if long || dialogue.heard.len() > MAX_TEXT {
                return false;
            }
        }
    }

    /// Stops it. One that talks on must be listened to: QEMU waits until that is heard.
    fn halt(&mut self, ended: bool, text: &mut Vec<u8>) -> std::io::Result<()> {
        if ended {
            return self.debugger.halt();
        }
        let (mut port, halted) = (&self.emulator.uart, AtomicBool::new(false));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut block = [0; 512];
                while !halted.load(Ordering::Relaxed) {
                    let count = port.read(&mut block).unwrap_or(0);
                    if text.len() < MAX_TEXT {
                        text.extend_from_slice(&block[..count]);
                    }
                }
            });
            let result = self.debugger.halt();
            halted.store(true, Ordering::Relaxed);
            result
        })
    }

    /// Hears what is left, and makes it ready for the next boot. The flash as it was left.
    fn again(&mut self, text: &mut Vec<u8>) -> std::io::Result<Vec<u8>> {
        self.monitor.reset()?;
        // Nothing is on its way any more.
        self.emulator.uart.set_nonblocking(true)?;
        let mut block = [0; 512];
        while let Ok(count @ 1..) = self.emulator.uart.read(&mut block) {
            text.extend_from_slice(&block[..count]);
        }
        self.emulator.uart.set_nonblocking(false)?;
        self.put_right()
    }

    /// Writes what differs from the flash that it should have; what was there.
    fn put_right(&mut self) -> std::io::Result<Vec<u8>> {
        let now = self.emulator.flash_by(&mut self.monitor)?;
        assert_eq!(now.len(), self.flash.len(), "all of the flash can be read");
        let addresses = (self.board.base()..).step_by(CHUNK);
        let chunks = self.flash.chunks(CHUNK).zip(now.chunks(CHUNK));
        for (address, (wanted, now)) in addresses.zip(chunks) {
            if wanted != now {
                self.debugger.write(address, wanted)?;
            }
        }
        Ok(now)
    }

    /// The time its processor has taken so far: on a busy machine it gets only a part of what goes by. Where
    /// the system does not tell, the time that goes by.
    fn time(&self) -> Duration {
        static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
        let file = format!("/proc/{}/schedstat", self.thread);
        let text = std::fs::read_to_string(file).unwrap_or_default();
        match text.split(' ').next().and_then(|first| first.parse().ok()) {
            Some(nanoseconds) => Duration::from_nanos(nanoseconds),
            None => START.get_or_init(Instant::now).elapsed(),
        }
    }
}
