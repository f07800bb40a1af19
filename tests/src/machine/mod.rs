//! Machine code against its automaton: whole steps from random states, lifted and in QEMU.
//!
//! - [`walk`]: steps of the automaton, by the reference interpreter of the IR.
//! - [`board`]: the same steps of the program itself, by a debugger's stub.
//! - [`programs`]: programs to try that with. [`random`]: random ones, whose verdicts are known.

pub mod board;
pub mod programs;
pub mod random;
pub mod walk;

use crate::rng::Rng;
use board::{Board, End};
use std::collections::BTreeSet;
use std::path::Path;
use vouch_host::frontend::elf::reader::Elf;
use vouch_host::frontend::elf::{self, ElfOptions};
use walk::{Arrived, Walk};

/// What came of comparing.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Compared {
    /// Steps that returned, with all of memory as predicted.
    pub returned: usize,
    /// Steps that failed, as predicted.
    pub failed: usize,
    /// Steps that left what is modelled, which says nothing.
    pub left: usize,
}

/// Compares so many steps of a program. Half of the states come from walks, the others are arbitrary.
pub fn compare(
    path: &Path,
    options: &ElfOptions,
    steps: usize,
    seed: u64,
) -> Result<Compared, String> {
    let bytes = std::fs::read(path).map_err(|e| e.to_string())?;
    let program = elf::lift(&bytes, "machine", options, true);
    let program = program.map_err(|e| format!("{path:?}: {}", e[0].message))?;
    program.cfa.check()?;
    let elf = Elf::read(&bytes).map_err(|e| e.0)?;
    let address = |name: &String| elf.function_named(name).unwrap().start;
    let entry = address(options.entry.as_ref().unwrap());
    let mut rng = Rng::new(seed);
    let mut board = Board::start(&elf);
    let mut compared = Compared::default();
    let mut walk = Walk::new(&program);
    let mut start = None;
    for number in 0..steps {
        let context = |what: String| format!("{path:?}, seed {seed}, step {number}: {what}");
        let Some(first) = start.clone().filter(|_| !rng.one_in(12)) else {
            // From reset.
            board.reset(&elf);
            let taken = walk.first(&mut rng).map_err(context)?;
            if let Some(init) = &options.init {
                let end = board.call(address(init), &taken.reads, &mut rng);
                agree(&taken.arrived, &end, &mut board, &program, true).map_err(context)?;
            }
            start = match taken.arrived {
                Arrived::Step(state) => Some(state),
                _ => None,
            };
            continue;
        };
        let is_walk = rng.one_in(2);
        let from = if is_walk { first } else { walk.disturb(&first, &mut rng) };
        let taken = walk.step(from.clone(), &mut rng).map_err(context)?;
        if let Arrived::Limit(_) = taken.arrived {
            compared.left += 1;
            continue;
        }
        for (at, bytes) in walk::memory(&program, &from) {
            board.write(at, &bytes);
        }
        let end = board.call(entry, &taken.reads, &mut rng);
        agree(&taken.arrived, &end, &mut board, &program, false).map_err(|what| {
            let vars =
                program.cfa.vars.iter().zip(&from).map(|(v, x)| format!("{}={x:#x}", v.name));
            let vars = vars.collect::<Vec<_>>().join(" ");
            context(format!("{what}\nfrom {vars}\nreading {:x?}", taken.reads))
        })?;
        match taken.arrived {
            Arrived::Step(state) => {
                compared.returned += 1;
                if is_walk {
                    start = Some(state);
                }
            }
            _ => {
                compared.failed += 1;
                start = None;
            }
        }
    }
    Ok(compared)
}

/// Whether the program came to where the automaton did.
fn agree(
    arrived: &Arrived,
    end: &End,
    board: &mut Board,
    program: &elf::Program,
    is_first: bool,
) -> Result<(), String> {
    match (arrived, end) {
        (Arrived::Limit(_), _) => Ok(()),
        (Arrived::Failed(_), End::Failed) => Ok(()),
        (Arrived::Step(state), End::Returned) => {
            let known = walk::memory(program, state);
            let mut seen = BTreeSet::new();
            for (at, bytes) in known {
                let there = board.read(at, bytes.len());
                if there != bytes {
                    return Err(format!("{at:#x}: {bytes:x?} predicted, {there:x?} there"));
                }
                seen.extend((at..).take(bytes.len()));
            }
            // What is not a variable is as it was at the beginning.
            let changed = board.changed(&seen);
            if is_first { Ok(()) } else { changed }
        }
        (_, _) => Err(format!("{arrived:x?} predicted, {end:x?} came")),
    }
}
