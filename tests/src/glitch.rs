//! Glitches: boots that must refuse, with one instruction replaced by a no-operation.
//!
//! A glitch of the supply or of the clock makes a processor skip an instruction. Here that is done to
//! each instruction that a refusing boot of the example application executes, one after the other, in
//! the flash that QEMU is started from. It lasts, which is more than one glitch does: an instruction in a
//! loop is skipped each time. What is executed in no refusing boot needs no trial, as it would not be
//! reached with it replaced either.

use crate::emulator::{Emulator, flash_with};
use crate::{maker, product};
use ed25519_dalek::{Signer, SigningKey};
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use vouch::transport::qemu::Board;
use vouch_device::package::Header;

/// The boards: one of each processor family.
pub const BOARDS: [&str; 3] = ["lm3s6965evb", "microbit", "riscv-virt"];

/// Why a boot must refuse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// The signature is by another key, under the name of the right one.
    Forged,
    /// The image is not the one that was signed.
    Tampered,
    /// The package is signed by another key and says so.
    Stranger,
    /// There is no signature.
    Unsigned,
    /// The counter says that it is too old.
    Old,
    /// All is right but the model: it breaks a property.
    Broken,
}

/// All of them.
pub const KINDS: [Kind; 6] =
    [Kind::Forged, Kind::Tampered, Kind::Stranger, Kind::Unsigned, Kind::Old, Kind::Broken];

impl Kind {
    /// As it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Forged => "forged",
            Kind::Tampered => "tampered",
            Kind::Stranger => "stranger",
            Kind::Unsigned => "unsigned",
            Kind::Old => "old",
            Kind::Broken => "broken",
        }
    }

    /// The flash for models of a board that must refuse.
    fn models(self, board: &Board) -> Vec<u8> {
        let stored = |image: &[u8]| product::models(board, image).expect("it fits");
        if self == Kind::Broken {
            return stored(&example("precharge-broken.vch"));
        }
        let image = example("precharge.vch");
        let public = maker::owner().verifying_key().to_bytes();
        let thief = SigningKey::from_bytes(&[8; 32]);
        let by_thief = |as_key: &[u8; 32]| {
            Header::signed(&image, 1, as_key, |bytes| thief.sign(bytes).to_bytes())
        };
        let with = |header: Header| {
            let package = [&header.to_bytes()[..], &image].concat();
            swap(stored(&image), &maker::package(&image, 1), &package)
        };
        match self {
            Kind::Forged => with(by_thief(&public)),
            Kind::Stranger => with(by_thief(&thief.verifying_key().to_bytes())),
            Kind::Unsigned => with(Header::unsigned(&image, 1)),
            Kind::Tampered => {
                let package = maker::package(&image, 1);
                let mut other = package.clone();
                *other.last_mut().expect("it is not empty") ^= 1;
                swap(stored(&image), &package, &other)
            }
            // The floor is 5 here.
            Kind::Old => {
                let newer = product::models_with(board, &maker::package(&image, 5));
                let (new, old) = (maker::package(&image, 5), maker::package(&image, 1));
                swap(newer.expect("it fits"), &new, &old)
            }
            Kind::Broken => unreachable!("returned above"),
        }
    }

    /// Whether a boot that must refuse has not. What is looked for is what no constant of the firmware has
    /// beside it: with an instruction skipped it may print them all.
    fn is_bypass(self, text: &str) -> bool {
        let accepted = self != Kind::Broken && says(text, "model: precharge, ");
        accepted || says(text, "application started: precharge")
    }
}

fn says(text: &str, start: &str) -> bool {
    text.lines().any(|line| line.starts_with(start))
}

fn example(name: &str) -> Vec<u8> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name);
    product::image(&file, true).to_vec()
}

/// `flash` with a package replaced by another of the same length.
fn swap(mut flash: Vec<u8>, package: &[u8], other: &[u8]) -> Vec<u8> {
    let at = flash.windows(package.len()).position(|bytes| bytes == package);
    let at = at.expect("the package is stored");
    flash[at..at + package.len()].copy_from_slice(other);
    flash
}

/// An instruction.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Its address.
    pub address: u32,
    /// The function it belongs to.
    pub function: String,
    /// Whether it is among the last two of a block: there it is decided where to go on.
    pub decides: bool,
    length: usize,
}

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
    flash: Vec<u8>,
    patience: Duration,
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
    /// Boots that came to no end.
    pub hangs: usize,
}

/// Longer than any boot takes on a busy machine, but not much longer: most hangs are for ever.
const LEAST_PATIENCE: Duration = Duration::from_secs(2);

impl Campaign {
    /// Boots it as it is: it must refuse, and a good model must start.
    pub fn new(firmware: &Path, board: &'static Board, kind: Kind) -> Campaign {
        let elf = firmware.join(format!("guarded-{}.elf", board.name));
        let good = product::models(board, &example("precharge.vch")).expect("it fits");
        let long = Duration::from_secs(60);
        let text = boot(board, &flash_with(board, &elf, Some(&good)), None, long).1;
        assert!(text.contains("application started"), "a good model starts: {text}");
        let flash = flash_with(board, &elf, Some(&kind.models(board)));
        let folder = tempfile::Builder::new().prefix("vouch-").tempdir().unwrap();
        let log = folder.path().join("log");
        let start = Instant::now();
        let (ended, text) = boot(board, &flash, Some(&log), long);
        assert!(ended && !kind.is_bypass(&text), "it refuses: {text}");
        let refuses = if kind == Kind::Broken { "decision: Refuse" } else { "no model: " };
        assert!(text.contains(refuses), "it refuses: {text}");
        let patience = LEAST_PATIENCE.max(start.elapsed() * 10);
        let log = std::fs::read_to_string(log).unwrap();
        let functions = functions(&std::fs::read(elf).unwrap());
        let instructions = executed(board, &flash, &log, &functions);
        Campaign { board, kind, flash, patience, instructions }
    }

    /// Some instructions that decide where to go on, in what is to be hardened.
    pub fn around_decisions(&self, count: usize) -> Vec<&Instruction> {
        let ours = |name: &str| ["vouch_device", "guarded"].iter().any(|part| name.contains(part));
        let deciding = |i: &&Instruction| i.decides && ours(&i.function);
        let all: Vec<_> = self.instructions.iter().filter(deciding).collect();
        let each = all.len().div_ceil(count).max(1);
        all.into_iter().step_by(each).collect()
    }

    /// Tries these instructions, several at a time.
    pub fn run(&self, chosen: &[&Instruction], jobs: usize) -> Result {
        let (next, result) = (AtomicUsize::new(0), Mutex::new(Result::default()));
        std::thread::scope(|scope| {
            for _ in 0..jobs.max(1) {
                scope.spawn(|| {
                    while let Some(instruction) = chosen.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let (end, text) = self.skip(instruction);
                        let mut result = result.lock().unwrap();
                        result.tried += 1;
                        result.hangs += usize::from(end == End::Hung);
                        result.misreports += usize::from(end == End::Misreported);
                        if end == End::Bypassed {
                            let (at, within) = (instruction.address, &instruction.function);
                            result.bypasses.push(format!("{at:#x} in {within}: {text:?}"));
                        }
                    }
                });
            }
        });
        let mut result = result.into_inner().unwrap();
        result.bypasses.sort();
        result
    }

    /// Boots without an instruction.
    fn skip(&self, instruction: &Instruction) -> (End, String) {
        let mut flash = self.flash.clone();
        let at = (instruction.address - self.board.base()) as usize;
        let nothing = no_operation(self.board);
        for half in flash[at..at + instruction.length].chunks_exact_mut(2) {
            half.copy_from_slice(&nothing);
        }
        let (ended, text) = boot(self.board, &flash, None, self.patience);
        let said = ["decision: Start", "decision: Degraded"].iter().any(|line| says(&text, line));
        let end = match (self.kind.is_bypass(&text), ended) {
            (true, _) => End::Bypassed,
            (false, _) if said => End::Misreported,
            (false, true) => End::Refused,
            (false, false) => End::Hung,
        };
        (end, text)
    }
}

/// Whether it came to an end in time, a restart or the end of the emulator included; and what it said.
fn boot(board: &Board, flash: &[u8], log: Option<&Path>, patience: Duration) -> (bool, String) {
    let mut emulator = Emulator::quick(board, flash, log);
    let (start, mut text, mut block) = (Instant::now(), Vec::new(), [0; 512]);
    emulator.uart.set_read_timeout(Some(Duration::from_millis(100))).unwrap();
    loop {
        let ended = match emulator.uart.read(&mut block) {
            Ok(0) => true,
            Ok(count) => {
                text.extend_from_slice(&block[..count]);
                let said = String::from_utf8_lossy(&text);
                let has = |line: &str| said.contains(&format!("{line}\n"));
                // A panic or fault restarts the board.
                has("done") || has("restarting") || said.matches(" starts\n").count() > 1
            }
            Err(_) => false,
        };
        if ended || start.elapsed() > patience {
            return (ended, String::from_utf8_lossy(&text).into_owned());
        }
    }
}

/// Half an instruction of four bytes that does nothing, or a whole one of two.
fn no_operation(board: &Board) -> [u8; 2] {
    match board.triple {
        "riscv32imac-unknown-none-elf" => 0x0001u16,
        // What has no effect on the older processors is a move from a register to itself.
        "thumbv6m-none-eabi" => 0x46c0,
        _ => 0xbf00,
    }
    .to_le_bytes()
}

/// Bytes of the instruction that begins with this half-word.
fn length(board: &Board, first: u16) -> usize {
    let long =
        if board.triple.starts_with("riscv") { first & 3 == 3 } else { first >> 11 >= 0b11101 };
    if long { 4 } else { 2 }
}

/// The instructions in flash that QEMU says it has translated.
fn executed(
    board: &Board,
    flash: &[u8],
    log: &str,
    functions: &BTreeMap<u32, String>,
) -> Vec<Instruction> {
    let (mut all, mut deciding, mut last) = (BTreeSet::new(), BTreeSet::new(), [None; 2]);
    for line in log.lines().chain([""]) {
        let address = line.strip_prefix("0x").and_then(|line| line.split_once(':'));
        match address.and_then(|(hex, _)| u32::from_str_radix(hex, 16).ok()) {
            Some(address) if (board.base()..board.models.start).contains(&address) => {
                all.insert(address);
                last = [last[1], Some(address)];
            }
            _ => deciding.extend(std::mem::take(&mut last).into_iter().flatten()),
        }
    }
    let function = |address: u32| functions.range(..=address).next_back();
    let instruction = |address: u32| {
        let at = (address - board.base()) as usize;
        Instruction {
            address,
            function: function(address).map_or_else(String::new, |(_, name)| name.clone()),
            decides: deciding.contains(&address),
            length: length(board, u16::from_le_bytes([flash[at], flash[at + 1]])),
        }
    };
    all.into_iter().map(instruction).collect()
}

/// Names of functions by their addresses.
fn functions(elf: &[u8]) -> BTreeMap<u32, String> {
    // In Thumb the lowest bit says that it is code.
    crate::symbols(elf).into_iter().map(|(name, at)| (at & !1, name)).collect()
}
