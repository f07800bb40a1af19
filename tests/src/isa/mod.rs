//! Instructions against an emulator that shares nothing with our decoder and their meaning.
//!
//! A case is some code with all that it can see: registers, flags, memory. What comes of it is predicted by
//! [`predict`], with expressions that are partly constants and partly variables, and found out by QEMU
//! ([`emulate`]). Cases are random, but steered until they can be run: accesses must hit a small window of
//! memory, and jumps a place from where the emulator can come back.

pub mod emulate;
pub mod make;
pub mod predict;
pub mod rows;
pub mod target;

use crate::rng::Rng;
use emulate::Emulated;
use make::Made;
use predict::{End, Prediction};
use rows::Row;
use std::fmt::Write;
pub use target::Target;
use vouch_host::frontend::elf::isa::{self, Isa, It};

/// Bytes of memory that cases may write.
pub const WINDOW: usize = 256;
/// Bytes of code of a case.
pub const CODE: usize = 16;

/// What instructions see besides memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct State {
    /// Registers by number.
    pub regs: [u32; 32],
    /// N, Z, C and V, from bit 3 down.
    pub flags: u32,
    /// The state of an IT block.
    pub it: It,
    /// PRIMASK, BASEPRI, `mstatus`.
    pub special: [u32; 3],
    /// Where the next instruction is.
    pub pc: u32,
}

/// Code and all that it sees.
#[derive(Clone, Debug)]
pub struct Case {
    /// At the start.
    pub state: State,
    /// Where `code` is.
    pub place: u32,
    /// The code, with what surrounds it.
    pub code: [u8; CODE],
    /// Where the part of `code` ends that is executed.
    pub end: u32,
    /// The contents of the window.
    pub window: [u8; WINDOW],
}

impl Case {
    /// The instructions as text.
    pub fn listing(&self, isa: Isa) -> String {
        let (mut at, mut it, mut text) = (self.state.pc, self.state.it, String::new());
        while at < self.end {
            let bytes = &self.code[(at - self.place) as usize..];
            match isa::decode(isa, bytes, at, it) {
                Ok(decoded) => {
                    let _ = writeln!(
                        text,
                        "  {at:#010x}: {:02x?} {decoded}",
                        &bytes[..decoded.length as usize]
                    );
                    (at, it) = (at + decoded.length, decoded.it);
                }
                Err(refused) => {
                    let _ = writeln!(text, "  {at:#010x}: {refused}");
                    break;
                }
            }
        }
        text
    }
}

/// What was done for a row of an encoding table.
#[derive(Clone, Copy, Default, Debug)]
pub struct Tally {
    /// Cases that were run.
    pub run: u64,
    /// Encodings that were refused.
    pub refused: u64,
    /// Cases that could not be steered to where they can be run.
    pub lost: u64,
}

impl Tally {
    /// Adds the counts of other cases.
    pub fn add(&mut self, other: Tally) {
        self.run += other.run;
        self.refused += other.refused;
        self.lost += other.lost;
    }
}

/// Makes up to `count` cases of a row.
fn gather(
    target: &Target,
    row: &Row,
    count: u64,
    rng: &mut Rng,
    tally: &mut Tally,
) -> Vec<(Case, Prediction)> {
    let mut cases = vec![];
    let mut tries = 200 * count;
    while (cases.len() as u64) < count && tries > 0 {
        tries -= 1;
        match make::case(target, &row.random(target.isa, rng), rng) {
            Made::Case(case, prediction) => cases.push((*case, *prediction)),
            Made::Refused => tally.refused += 1,
            Made::Lost => tally.lost += 1,
        }
    }
    tally.run += cases.len() as u64;
    cases
}

/// Up to `count` cases of each row, by so many threads; the first difference is an error. What is made for a row
/// depends on the seed and the row's number only.
pub fn soak(
    target: &Target,
    rows: &[Row],
    count: u64,
    seed: u64,
    jobs: usize,
) -> Result<Vec<Tally>, String> {
    let work = |job: usize| -> Result<Vec<(usize, Tally)>, String> {
        let harness = emulate::Harness::build(target);
        let (mut tallies, mut batch) = (vec![], vec![]);
        for at in (job..rows.len()).step_by(jobs) {
            let mut rng = Rng::new(seed.wrapping_add((at as u64) << 40));
            let mut tally = Tally::default();
            while tally.run < count {
                let before = tally.run;
                let most = (count - before).min(BATCH as u64);
                batch.append(&mut gather(target, &rows[at], most, &mut rng, &mut tally));
                if batch.len() >= BATCH {
                    compare(target, &harness, &std::mem::take(&mut batch))?;
                }
                if tally.run == before {
                    break;
                }
            }
            tallies.push((at, tally));
        }
        compare(target, &harness, &batch)?;
        Ok(tallies)
    };
    let results: Vec<_> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..jobs)
            .map(|job| {
                scope.spawn({
                    let work = &work;
                    move || work(job)
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join()).collect()
    });
    let mut tallies = vec![Tally::default(); rows.len()];
    for result in results {
        for (at, tally) in result.map_err(|_| "a thread panicked".to_owned())?? {
            tallies[at] = tally;
        }
    }
    Ok(tallies)
}

/// Cases for one run of the emulator.
const BATCH: usize = 20_000;

/// Every halfword that begins an instruction of 16 bits, `count` times.
pub fn halfwords(target: &Target, count: u64, seed: u64) -> Result<Tally, String> {
    let harness = emulate::Harness::build(target);
    let mut rng = Rng::new(seed);
    let mut tally = Tally::default();
    let mut batch = vec![];
    for half in (0..=0xffffu32).filter(|half| target.is_short(*half)) {
        let code = (half as u16).to_le_bytes();
        for _ in 0..count {
            match make::case(target, &code, &mut rng) {
                Made::Case(case, prediction) => batch.push((*case, *prediction)),
                Made::Refused => tally.refused += 1,
                Made::Lost => tally.lost += 1,
            }
        }
        if batch.len() >= BATCH {
            tally.run += batch.len() as u64;
            compare(target, &harness, &std::mem::take(&mut batch))?;
        }
    }
    tally.run += batch.len() as u64;
    compare(target, &harness, &batch)?;
    Ok(tally)
}

/// Runs cases and compares.
pub fn compare(
    target: &Target,
    harness: &emulate::Harness,
    cases: &[(Case, Prediction)],
) -> Result<(), String> {
    if cases.is_empty() {
        return Ok(());
    }
    let all: Vec<&Case> = cases.iter().map(|case| &case.0).collect();
    let results = emulate::run(target, harness, &all)?;
    for ((case, prediction), result) in cases.iter().zip(&results) {
        let differences = differences(target, case, prediction, result);
        if !differences.is_empty() {
            return Err(format!(
                "{:?}: a difference\n{}\nwith {:x?}\n{differences}",
                target.isa,
                case.listing(target.isa),
                case.state,
            ));
        }
    }
    match results.len() < cases.len() {
        true => {
            let case = &cases[results.len()].0;
            let listing = case.listing(target.isa);
            Err(format!("the emulator does not come back\n{listing}\nwith {:x?}", case.state))
        }
        false => Ok(()),
    }
}

/// What the emulator does not agree with.
fn differences(target: &Target, case: &Case, prediction: &Prediction, result: &Emulated) -> String {
    let mut text = String::new();
    let mut differ = |what: &str, ours: u32, theirs: u32| {
        if ours != theirs {
            let _ = writeln!(text, "  {what}: we say {ours:#x}, the emulator says {theirs:#x}");
        }
    };
    let (ours, theirs) = (&prediction.state, &result.state);
    match prediction.end {
        End::Regular => {}
        End::Misaligned => {
            differ("pc of a fault", ours.pc, theirs.pc);
            return text;
        }
        End::NotThumb => {
            differ("fault", 1, result.not_thumb.into());
            return text;
        }
    }
    for reg in target.registers() {
        differ(&format!("register {reg}"), ours.regs[reg], theirs.regs[reg]);
    }
    differ("pc", ours.pc, theirs.pc);
    differ("flags", ours.flags, theirs.flags);
    differ("IT", ours.it.0.into(), theirs.it.0.into());
    for (name, i) in [("PRIMASK", 0), ("BASEPRI", 1), ("mstatus", 2)] {
        differ(name, ours.special[i], theirs.special[i]);
    }
    for i in 0..WINDOW {
        let address = target.window + i as u32;
        let stored = prediction.stored.get(&address).copied();
        let framed = target.below_stack(&case.state, address) && stored.is_none();
        if framed || target.below_stack(ours, address) {
            continue;
        }
        let ours = stored.unwrap_or(case.window[i]);
        differ(&format!("byte {address:#x}"), ours.into(), result.window[i].into());
    }
    text
}
