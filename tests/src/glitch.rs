//! Glitches: boots that must refuse, with one instruction replaced by a no-operation.
//!
//! A glitch of the supply or of the clock makes a processor skip an instruction. Here that is done to
//! each instruction that a refusing boot executes, of the example applications or of the reference firmware, one after
//! the other, in the flash of a board in QEMU. It lasts, which is more than one glitch does: an instruction in a
//! loop is skipped each time. What is executed in no refusing boot needs no trial, as it would not be
//! reached with it replaced either.

mod case;
mod code;
mod dialogue;
mod kind;
mod machine;

pub use code::Instruction;
pub use kind::{KINDS, Kind};

use crate::emulator::Emulator;
use case::Case;
use dialogue::Dialogue;
use machine::{Boot, Machine};
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::time::{Duration, Instant};
use vouch_host::transport::qemu::Board;

/// The boards: one of each processor family, and one more whose flash can be written.
pub const BOARDS: [&str; 4] = ["lm3s6965evb", "microbit", "riscv-virt", "mps2-an386"];

/// How a trial ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Refused,
    /// It says that it would start, and does not.
    Misreported,
    Bypassed,
    Hung,
}

/// A boot that must refuse, on a board.
pub struct Campaign {
    board: &'static Board,
    kind: Kind,
    case: Case,
    /// Where its RAM begins.
    ram: u32,
    /// As it is.
    unhurt: Boot,
    /// What is executed in it, in the order of addresses.
    pub instructions: Vec<Instruction>,
}

/// What came of a campaign.
#[derive(Debug, Default)]
pub struct Result {
    /// Instructions that were replaced.
    pub tried: usize,
    /// Where the boot did not refuse.
    pub bypasses: Vec<String>,
    /// Boots that refused and said something else.
    pub misreports: usize,
    /// Boots that came to no end: a watchdog ends them.
    pub hangs: usize,
}

/// A boot in a new QEMU may take so long, on a busy machine too.
const LONG: Duration = Duration::from_secs(10);

/// Trials between two unhurt boots, which show that the machine is sound.
const BATCH: usize = 32;

impl Campaign {
    /// Boots it as it is: it must refuse, and must not without a reason.
    pub fn new(firmware: &Path, board: &'static Board, kind: Kind) -> Campaign {
        let good = boot(board, kind, &Case::good(kind, firmware, board), None);
        assert!(good.is_bypass(kind), "without a reason it does not refuse: {good:?}");
        let case = Case::bad(kind, firmware, board);
        let folder = tempfile::Builder::new().prefix("vouch-").tempdir().unwrap();
        let log = folder.path().join("log");
        let unhurt = boot(board, kind, &case, Some(&log));
        assert!(unhurt.ended && !unhurt.is_bypass(kind), "it refuses: {unhurt:?}");
        assert!(unhurt.text.contains(kind.refusal()), "it refuses: {unhurt:?}");
        let log = std::fs::read_to_string(log).unwrap();
        let elf = std::fs::read(kind.program().file(firmware, board)).unwrap();
        let symbols = crate::symbols(&elf);
        let ram = symbols["_stack_end"];
        assert_eq!(symbols["_ram_end"] - ram, board.ram, "the stack is the lowest part of RAM");
        let instructions = code::executed(board, &case.flash, &log, symbols);
        Campaign { board, kind, case, ram, unhurt, instructions }
    }

    /// All instructions in functions whose names have one of these parts.
    pub fn within(&self, parts: &[&str]) -> Vec<&Instruction> {
        let among = |name: &str| parts.iter().any(|part| name.contains(part));
        self.instructions.iter().filter(|i| among(&i.function)).collect()
    }

    /// Some instructions that decide where to continue, in functions whose names have one of these parts.
    pub fn around_decisions(&self, parts: &[&str], count: usize) -> Vec<&Instruction> {
        let all: Vec<_> = self.within(parts).into_iter().filter(|i| i.decides).collect();
        let each = all.len().div_ceil(count).max(1);
        all.into_iter().step_by(each).collect()
    }

    /// Tries these instructions, several at a time, and tells of each bypass when it is found.
    pub fn run(&self, chosen: &[&Instruction], jobs: usize, tell: impl Fn(&str) + Sync) -> Result {
        let (batches, result) = (Mutex::new(chosen.chunks(BATCH)), Mutex::new(Result::default()));
        std::thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(|| {
                    let mut bench = Bench { campaign: self, machine: None };
                    loop {
                        let Some(batch) = batches.lock().unwrap().next() else { return };
                        for (instruction, boot) in batch.iter().zip(bench.batch(batch)) {
                            self.count(&result, instruction, &boot, &tell);
                        }
                    }
                });
            }
        });
        let mut result = result.into_inner().unwrap();
        result.bypasses.sort();
        result
    }

    fn count(
        &self,
        result: &Mutex<Result>,
        instruction: &Instruction,
        boot: &Boot,
        tell: impl Fn(&str),
    ) {
        let end = self.judge(boot);
        let bypass = (end == End::Bypassed).then(|| {
            let (at, within) = (instruction.address, &instruction.function);
            let alone = self.judge(&self.boot_without(instruction)) == End::Bypassed;
            let but = if alone { "" } else { ", but not in a new QEMU" };
            format!("{at:#x} in {within}{but}: {:?}", boot.text)
        });
        bypass.iter().for_each(|bypass| tell(bypass));
        let mut result = result.lock().unwrap();
        result.tried += 1;
        result.bypasses.extend(bypass);
        result.misreports += usize::from(end == End::Misreported);
        result.hangs += usize::from(end == End::Hung);
    }

    /// Which of these instructions end otherwise when each is tried in a QEMU of its own. Those that hang are
    /// left out: how long that is differs, and some run through all memory and restart at its end.
    pub fn disagreements(&self, chosen: &[&Instruction]) -> Vec<String> {
        let boots = Bench { campaign: self, machine: None }.batch(chosen);
        let ended = chosen.iter().zip(boots).filter(|(_, boot)| boot.ended);
        let differs = |(instruction, boot): (&&Instruction, Boot)| {
            let alone = self.boot_without(instruction);
            let differ = !boot.is_like(&alone);
            differ.then(|| format!("{instruction:?}: {boot:?}, alone {alone:?}"))
        };
        ended.filter_map(differs).collect()
    }

    fn judge(&self, boot: &Boot) -> End {
        let said = self.kind.is_misreport(&boot.text);
        match (boot.is_bypass(self.kind), boot.ended) {
            (true, _) => End::Bypassed,
            (false, _) if said => End::Misreported,
            (false, true) => End::Refused,
            (false, false) => End::Hung,
        }
    }

    /// Boots without an instruction in a new QEMU.
    fn boot_without(&self, instruction: &Instruction) -> Boot {
        let mut flash = self.case.flash.clone();
        let nothing = instruction.nothing(self.board);
        let at = (instruction.address - self.board.base()) as usize;
        flash[at..at + nothing.len()].copy_from_slice(&nothing);
        let case = Case { flash, request: self.case.request.clone() };
        boot(self.board, self.kind, &case, None)
    }
}

/// Where trials are made, one after the other.
struct Bench<'c> {
    campaign: &'c Campaign,
    /// None, or one that is sound when a batch begins: an unhurt boot has said what it has to.
    machine: Option<Machine>,
}

impl Bench<'_> {
    /// Tries these instructions. A boot that goes astray may change more than a reset puts right. So what came
    /// of them is believed only if an unhurt boot after them says what it has to. Else they are tried in
    /// smaller batches; of the first one in a batch nobody has changed anything before.
    fn batch(&mut self, instructions: &[&Instruction]) -> Vec<Boot> {
        if instructions.is_empty() {
            return vec![];
        }
        let mut boots = Vec::new();
        for instruction in instructions {
            boots.push(self.skip(instruction));
            if self.machine.is_none() {
                break;
            }
        }
        let all = boots.len() == instructions.len();
        if all && self.is_sound() {
            return boots;
        }
        let ended = self.machine.take().is_none();
        let first = match boots.len() {
            1 => return [boots, self.batch(&instructions[1..])].concat(),
            count if ended => count - 1,
            count => count / 2,
        };
        let (before, after) = instructions.split_at(first);
        [self.batch(before), self.batch(after)].concat()
    }

    /// Boots without an instruction.
    fn skip(&mut self, instruction: &Instruction) -> Boot {
        let Campaign { board, kind, case, ram, unhurt, .. } = self.campaign;
        let new = || Machine::start(board, *kind, case, *ram, unhurt);
        let machine = self.machine.get_or_insert_with(new);
        let nothing = instruction.nothing(board);
        let boot = machine.boot(case, Some((instruction.address, &nothing)));
        if machine.is_lost() {
            self.machine = None;
        }
        boot
    }

    fn is_sound(&mut self) -> bool {
        let Campaign { case, unhurt, .. } = self.campaign;
        self.machine.as_mut().is_some_and(|m| m.boot(case, None).is_like(unhurt) && !m.is_lost())
    }
}

/// Boots in a new QEMU.
fn boot(board: &Board, kind: Kind, case: &Case, log: Option<&Path>) -> Boot {
    let mut emulator = Emulator::quick(board, &case.flash, log);
    let (start, mut dialogue, mut block) = (Instant::now(), Dialogue::new(case), [0; 512]);
    emulator.uart.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    loop {
        let mut closed = false;
        if let Ok(count) = emulator.uart.read(&mut block) {
            dialogue.hear(&block[..count], &emulator.uart);
            closed = count == 0;
        }
        let ended = closed || dialogue.has_ended();
        if ended || start.elapsed() > LONG {
            // A board that is gone has left nothing to look at.
            let flash = if closed { vec![] } else { emulator.flash() };
            return Boot::new(board, kind, ended, &dialogue, &flash);
        }
    }
}
