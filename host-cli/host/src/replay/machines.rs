//! Machines of QEMU: which has memory where a program wants it.

use crate::frontend::elf::isa::Isa;
use crate::frontend::elf::reader::Elf;
use std::ops::Range;

/// A machine, and how it is started.
#[derive(PartialEq, Eq, Debug)]
pub struct Machine {
    /// What people call it.
    pub name: &'static str,
    /// The QEMU program that emulates its processor, as found on the path.
    pub qemu: &'static str,
    /// What makes it this machine.
    pub arguments: &'static [&'static str],
    /// Whether it runs Thumb instructions; else those of RISC-V.
    pub is_thumb: bool,
    /// The status register (Thumb): privileged, in Thumb state, not in an exception.
    pub status: u32,
    /// Where it has memory; code can be executed there up to `code`.
    pub memory: &'static [Range<u64>],
    /// The first address where nothing can be executed.
    pub code: u64,
}

const ALL: u64 = 1 << 32;
const EVERYWHERE: &[Range<u64>] = &[Range { start: 0, end: ALL }];

/// All of them; of several that will do, the first is taken.
///
/// The empty machines have memory everywhere. No Cortex-M can be put into one, but a Cortex-R5: it runs the same
/// Thumb instructions, and those about which profiles differ, on special registers, are not left to it.
pub const MACHINES: [Machine; 4] = [
    Machine {
        name: "netduino2",
        qemu: "qemu-system-arm",
        arguments: &["-machine", "netduino2"],
        is_thumb: true,
        status: 0x0100_0000,
        memory: &[0x0800_0000..0x0810_0000, 0x2000_0000..0x2002_0000],
        code: ALL,
    },
    Machine {
        name: "mps2-an385",
        qemu: "qemu-system-arm",
        arguments: &["-machine", "mps2-an385"],
        is_thumb: true,
        status: 0x0100_0000,
        memory: &[0..0x40_0000, 0x2000_0000..0x2040_0000, 0x2100_0000..0x2200_0000],
        code: ALL,
    },
    Machine {
        name: "none, cortex-r5",
        qemu: "qemu-system-arm",
        arguments: &["-machine", "none", "-cpu", "cortex-r5", "-m", "4096M"],
        is_thumb: true,
        // The mode that it has after reset: another one has another stack pointer.
        status: 0x0000_01f3,
        memory: EVERYWHERE,
        code: 0x8000_0000,
    },
    Machine {
        name: "none, rv32",
        qemu: "qemu-system-riscv32",
        arguments: &["-machine", "none", "-cpu", "rv32", "-m", "4096M"],
        is_thumb: false,
        status: 0,
        memory: EVERYWHERE,
        code: ALL,
    },
];

/// A machine for a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place {
    /// One of [`MACHINES`] that has memory for all of the program.
    pub machine: &'static Machine,
    /// Memory for the stack, apart from everything else.
    pub stack: Range<u32>,
}

/// What is above the stack pointer: words of the caller.
pub const ABOVE: u32 = 0x1000;
/// Where every Cortex-M has RAM.
const RAM: u32 = 0x2000_0000;
/// Where sections that are near are sure to be no peripherals.
const NEAR: u64 = 1 << 24;

impl Place {
    /// The stack pointer at the beginning of a call.
    pub fn stack_pointer(&self) -> u32 {
        self.stack.end.saturating_sub(ABOVE)
    }

    /// Where functions return to: nothing is there.
    pub fn back(&self) -> u32 {
        self.stack.end.saturating_sub(16)
    }
}

/// The machines that have memory for all of a program and for so many bytes of stack.
pub fn places(elf: &Elf, depth: u32) -> impl Iterator<Item = Place> {
    let is_thumb = elf.isa != Isa::Rv32;
    let machines = MACHINES.iter().filter(move |machine| machine.is_thumb == is_thumb);
    machines.filter_map(move |machine| place(machine, elf, depth))
}

fn place(machine: &'static Machine, elf: &Elf, depth: u32) -> Option<Place> {
    let sections = || elf.sections().iter().filter(|s| s.size > 0);
    let range = |start: u32| machine.memory.iter().find(|range| range.contains(&start.into()));
    let fits = |start: u32, size: u32, is_code: bool| {
        let end = u64::from(start) + u64::from(size);
        range(start).is_some_and(|range| end <= range.end) && (!is_code || end <= machine.code)
    };
    if !sections().all(|s| fits(s.start, s.size, s.is_code)) {
        return None;
    }
    // Near a section: there are no peripherals. In RAM rather than elsewhere.
    let (ram, flash): (Vec<_>, Vec<_>) = sections().partition(|s| s.is_writable);
    let stack = |near: u32| {
        let range = range(near)?;
        // What functions return to must be executable, if only for a breakpoint.
        let top = (u64::from(near) / NEAR + 1) * NEAR;
        let end = u32::try_from(top.min(range.end).min(machine.code)).unwrap_or(!15);
        let start = end.checked_sub(depth.checked_add(2 * ABOVE)?)? & !7;
        let is_free = sections().all(|s| s.end() <= start || s.start >= end);
        (is_free && u64::from(start) >= range.start).then_some(start..end)
    };
    // A program without a variable has no section in RAM, and some machines do not write where their flash is.
    let usual = machine.is_thumb.then_some(RAM).into_iter();
    let near = ram.iter().map(|s| s.start).chain(usual).chain(flash.iter().map(|s| s.start));
    let stack = near.into_iter().find_map(stack)?;
    Some(Place { machine, stack })
}
