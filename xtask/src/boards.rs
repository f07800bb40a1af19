//! The boards that there is firmware for.

use crate::shell::Usage;
use anyhow::Result;

/// A board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name, which is also its feature in the firmware.
    pub name: &'static str,
    /// The Rust target of its processor.
    pub target: &'static str,
}

/// All of them, the default one first.
pub const BOARDS: [Board; 4] = [
    Board { name: "lm3s6965evb", target: "thumbv7m-none-eabi" },
    Board { name: "microbit", target: "thumbv6m-none-eabi" },
    Board { name: "mps2-an386", target: "thumbv7em-none-eabihf" },
    Board { name: "riscv-virt", target: "riscv32imac-unknown-none-elf" },
];

/// The board of the demo.
pub const DEFAULT: Board = BOARDS[0];

/// The board with this name.
pub fn named(name: &str) -> Result<Board> {
    let names = BOARDS.map(|board| board.name).join(", ");
    let unknown = || Usage(format!("There is no board `{name}`. There are: {names}."));
    Ok(BOARDS.into_iter().find(|board| board.name == name).ok_or_else(unknown)?)
}
