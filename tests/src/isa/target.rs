//! The emulated boards, and what is where in their memory.

use super::State;
use std::ops::Range;
use vouch_host::frontend::elf::isa::Isa;

/// An emulated board.
pub struct Target {
    /// What it executes.
    pub isa: Isa,
    /// QEMU for its processor.
    pub emulator: &'static str,
    /// QEMU's name for it.
    pub machine: &'static str,
    /// Which Rust target makes programs for it.
    pub triple: &'static str,
    /// Selects the processor in the sources of the harness.
    pub cfg: &'static str,
    /// Memory around the code, all of it undefined instructions.
    pub landing: Range<u32>,
    /// Memory that cases may use.
    pub window: u32,
    /// Where nothing is, so that a jump to there faults as well.
    pub nothing: &'static [Range<u32>],
}

/// A Cortex-M0.
pub const V6M: Target = Target {
    isa: Isa::V6m,
    emulator: "qemu-system-arm",
    machine: "microbit",
    triple: "thumbv6m-none-eabi",
    cfg: "v6m",
    landing: 0x2000_0000..0x2000_1000,
    window: 0x2000_1800,
    nothing: &[0x1800_0000..0x2000_0000, 0x2000_8000..0x3000_0000],
};

/// A Cortex-M3.
pub const V7M: Target = Target {
    isa: Isa::V7m,
    emulator: "qemu-system-arm",
    machine: "lm3s6965evb",
    triple: "thumbv7m-none-eabi",
    cfg: "v7m",
    landing: 0x2000_0000..0x2000_1000,
    window: 0x2000_1800,
    nothing: &[0x4_0000..0x2000_0000, 0x2001_0000..0xe000_0000],
};

/// RV32 in machine mode.
pub const RV32: Target = Target {
    isa: Isa::Rv32,
    emulator: "qemu-system-riscv32",
    machine: "virt",
    triple: "riscv32imac-unknown-none-elf",
    cfg: "rv32",
    landing: 0x8020_0000..0x8060_0000,
    window: 0x8070_0000,
    nothing: &[0x8800_0000..0xc000_0000, 0xc000_0000..0xf000_0000],
};

impl Target {
    /// Whether this is ARM.
    pub fn is_thumb(&self) -> bool {
        matches!(self.isa, Isa::V6m | Isa::V7m)
    }

    /// Whether this halfword is an instruction, and not the beginning of one.
    pub fn is_short(&self, half: u32) -> bool {
        if self.is_thumb() { half >> 11 < 0b11101 } else { half & 3 != 3 }
    }

    /// The registers that instructions see.
    pub fn registers(&self) -> Range<usize> {
        if self.is_thumb() { 0..15 } else { 1..32 }
    }

    /// What is where no code is.
    pub fn fill(&self, address: u32) -> u8 {
        match (self.is_thumb(), address % 2) {
            (true, 0) => ((address - self.landing.start) / 2) as u8,
            (true, _) => 0xde,
            (false, _) => 0,
        }
    }

    /// Where code is put.
    pub fn place(&self) -> u32 {
        self.landing.start + (self.landing.end - self.landing.start) / 2
    }

    /// Addresses of the window.
    pub fn window(&self) -> Range<u32> {
        self.window..self.window + super::WINDOW as u32
    }

    /// Whether a case may end here.
    pub fn catches(&self, address: u32) -> bool {
        self.landing.contains(&address) || self.nothing.iter().any(|range| range.contains(&address))
    }

    /// Whether SP is in the window, or in the unused memory before it: there is room for what an exception
    /// stacks.
    pub fn has_stack(&self, state: &State) -> bool {
        let sp = state.regs[13];
        !self.is_thumb() || (self.landing.end + 48..=self.window().end).contains(&sp)
    }

    /// Whether an exception may have been stacked here.
    pub fn below_stack(&self, state: &State, address: u32) -> bool {
        let sp = state.regs[13];
        self.is_thumb() && (sp.wrapping_sub(40)..sp).contains(&address)
    }
}
