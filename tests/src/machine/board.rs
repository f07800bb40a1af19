//! A program in QEMU whose functions are called one by one.

use crate::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use vouch_host::frontend::elf::isa::{Isa, Reg};
use vouch_host::frontend::elf::reader::{Elf, Symbol};
use vouch_host::frontend::elf::{self, Source};
use vouch_host::replay::board::{self, Register};
use vouch_host::replay::machines::{MACHINES, Machine};

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It came back to the address that it was to return to.
    Returned,
    /// It called a function that says that something failed.
    Failed,
    /// Something else happened.
    Odd(String),
}

/// A running board.
pub struct Board {
    board: board::Board,
    convention: &'static Convention,
    global_pointer: Option<u32>,
    /// Functions that are inputs, with the bits of their results, negative if these have a sign, and the registers that they
    /// change besides.
    inputs: BTreeMap<u32, (i32, Vec<u32>)>,
    failures: BTreeSet<u32>,
    /// RAM at reset, after initialisation: section by section.
    ram: Vec<(u32, Vec<u8>)>,
}

/// Which registers mean what when functions are called.
struct Convention {
    /// The machine: a board with a Cortex-M3, flash where STM32 have it, and 128 KiB of RAM; or RISC-V with memory
    /// everywhere.
    machine: &'static str,
    /// The first argument, and the result.
    argument: u32,
    stack: u32,
    link: u32,
    pc: u32,
    /// The status register, and what it is.
    status: Option<(u32, u32)>,
    /// What a function may find anything in.
    any: &'static [u32],
    /// What calls do not preserve, apart from the result.
    lost: &'static [u32],
    /// Set in addresses to return to.
    thumb: u32,
}

const CORTEX_M: Convention = Convention {
    machine: "netduino2",
    argument: 0,
    stack: 13,
    link: 14,
    pc: 15,
    status: Some((25, 0x0100_0000)),
    any: &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12],
    lost: &[1, 2, 3, 12],
    thumb: 1,
};

const RISC_V: Convention = Convention {
    machine: "none, rv32",
    argument: 10,
    stack: 2,
    link: 1,
    pc: 32,
    status: None,
    any: &[
        5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28,
        29, 30, 31,
    ],
    lost: &[5, 6, 7, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31],
    thumb: 0,
};

/// Where the stack begins.
const STACK: u32 = 0x2001_f000;
/// Where functions return to.
const BACK: u32 = 0x2001_fff0;

impl Board {
    /// Starts a board with this program.
    pub fn start(elf: &Elf) -> Board {
        let convention = if elf.isa == Isa::Rv32 { &RISC_V } else { &CORTEX_M };
        let is_it = |machine: &&Machine| machine.name == convention.machine;
        let machine = MACHINES.iter().find(is_it).expect("there is such a machine");
        let mut board = board::Board::start(machine).unwrap_or_else(|e| panic!("{e}"));
        for section in elf.sections() {
            if let Some(bytes) = &section.bytes {
                board.write(section.start, bytes).unwrap();
            }
        }
        let functions = || elf.functions();
        let inputs = functions().filter(|f| f.name.starts_with("vouch_input_"));
        let bits = |name: &str| match name.rsplit('_').next() {
            Some("i8") => -8,
            Some("i16") => -16,
            _ => 32,
        };
        // What calls do not preserve, as far as the function's own code does not: compilers look at it.
        let lost = |f: &Symbol| {
            let all = convention.lost.iter().copied();
            all.filter(|reg| elf::writes(elf, f, Reg(*reg as u8))).collect()
        };
        let inputs: BTreeMap<u32, (i32, Vec<u32>)> =
            inputs.map(|f| (f.start, (bits(&f.name), lost(f)))).collect();
        let fails = |name: &str| {
            ["vouch_fail", "vouch_panic", "abort"].contains(&name) || name.contains("panicking")
        };
        let failures = functions().filter(|f| fails(&f.name) || fails(&f.shown()));
        let failures: BTreeSet<u32> = failures.map(|f| f.start).collect();
        for at in inputs.keys().chain(&failures).chain([&BACK]) {
            board.stop_at(*at).unwrap();
        }
        let global_pointer = elf.global_pointer;
        Board { board, convention, global_pointer, inputs, failures, ram: vec![] }
    }

    /// Gives RAM its contents at reset.
    pub fn reset(&mut self, elf: &Elf) {
        self.ram.clear();
        for section in elf.sections().iter().filter(|s| s.is_writable) {
            let Some(bytes) = &section.bytes else { continue };
            self.board.write(section.start, bytes).unwrap();
            self.ram.push((section.start, bytes.clone()));
        }
    }

    /// Whether bytes have changed since the last look that are not among `known`; these are looked at then.
    pub fn changed(&mut self, known: &BTreeSet<u32>) -> Result<(), String> {
        let mut found = Ok(());
        for (start, before) in &mut self.ram {
            let mut now = vec![0; before.len()];
            self.board.read(*start, &mut now).unwrap();
            let bytes = (*start..).zip(before.iter().zip(&now));
            for (at, (a, b)) in bytes.filter(|(at, (a, b))| a != b && !known.contains(at)) {
                found = Err(format!("{at:#x} is not a variable and changed from {a:#x} to {b:#x}"));
            }
            *before = now;
        }
        found
    }

    /// Writes the board's memory; panics if QEMU refuses.
    pub fn write(&mut self, at: u32, bytes: &[u8]) {
        self.board.write(at, bytes).unwrap();
    }

    /// Reads `count` bytes of the board's memory; panics if QEMU refuses.
    pub fn read(&mut self, at: u32, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.board.read(at, &mut bytes).unwrap();
        bytes
    }

    fn set(&mut self, register: u32, value: u32) {
        self.board.set(Register(register), value).unwrap();
    }

    fn get(&mut self, register: u32) -> u32 {
        self.board.get(Register(register)).unwrap()
    }

    /// Calls a function that reads these inputs.
    pub fn call(&mut self, function: u32, reads: &[(Source, u32)], rng: &mut Rng) -> End {
        for (source, value) in reads {
            if let Source::Stack { at: offset, .. } = source {
                self.write(STACK.wrapping_add_signed(*offset), &value.to_le_bytes());
            }
        }
        let reads = reads.iter().filter(|(source, _)| !matches!(source, Source::Stack { .. }));
        let mut reads = reads.peekable();
        let &Convention { argument, stack, link, pc: counter, thumb, .. } = self.convention;
        for register in self.convention.any {
            self.set(*register, rng.bits() as u32);
        }
        while let Some((Source::Argument { number, .. }, value)) = reads.peek() {
            self.set(argument + *number, *value);
            reads.next();
        }
        self.set(stack, STACK);
        self.set(link, BACK | thumb);
        if let Some((status, value)) = self.convention.status {
            self.set(status, value);
        }
        if let Some(pointer) = self.global_pointer {
            self.set(3, pointer);
        }
        self.set(counter, function);
        loop {
            let pc = match self.board.resume() {
                Ok(pc) => pc,
                Err(e) => return End::Odd(format!("it does not stop: {e}")),
            };
            if pc == BACK {
                return match reads.next() {
                    None => End::Returned,
                    Some(read) => End::Odd(format!("it returned without reading {read:x?}")),
                };
            }
            if self.failures.contains(&pc) {
                return End::Failed;
            }
            if !self.inputs.contains_key(&pc) {
                return End::Odd(format!("it stopped at {pc:#x}"));
            }
            let (bits, lost) = self.inputs.get(&pc).cloned().unwrap_or((32, vec![]));
            match reads.next() {
                Some((Source::Function(function), value)) if *function == pc => {
                    // Callees extend what they return.
                    let shift = 32 - bits.unsigned_abs();
                    let signed = ((*value << shift) as i32 >> shift) as u32;
                    self.set(argument, if bits < 0 { signed } else { *value });
                }
                other => return End::Odd(format!("it reads from {pc:#x}, predicted {other:x?}")),
            }
            for register in lost {
                self.set(register, rng.bits() as u32);
            }
            let back = self.get(link) & !1;
            self.set(counter, back);
        }
    }
}
