//! The boards that there is firmware for.

use crate::shell::Usage;
use anyhow::Result;

/// A board.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Board {
    /// Its name.
    pub name: &'static str,
    /// Its features in the firmware.
    pub features: &'static str,
    /// The Rust target of its processor.
    pub target: &'static str,
}

const fn board(name: &'static str, features: &'static str, target: &'static str) -> Board {
    Board { name, features, target }
}

/// Those that QEMU emulates, the default one first.
pub const BOARDS: [Board; 4] = [
    board("lm3s6965evb", "lm3s6965evb", "thumbv7m-none-eabi"),
    board("microbit", "microbit", "thumbv6m-none-eabi"),
    board("mps2-an386", "mps2-an386", "thumbv7em-none-eabihf"),
    board("riscv-virt", "riscv-virt", "riscv32imac-unknown-none-elf"),
];

/// Those of silicon, and those whose port is a probe. Of the latter QEMU can stand in for one.
pub const OTHERS: [Board; 4] = [
    board("nrf52840", "nrf52840", "thumbv7em-none-eabihf"),
    board("nrf52840-rtt", "nrf52840,rtt", "thumbv7em-none-eabihf"),
    board("stm32f411", "stm32f411", "thumbv7em-none-eabihf"),
    board("lm3s6965evb-rtt", "lm3s6965evb,rtt", "thumbv7m-none-eabi"),
];

/// The board of the demo.
pub const DEFAULT: Board = BOARDS[0];

/// All of them.
pub fn all() -> impl Iterator<Item = Board> {
    BOARDS.into_iter().chain(OTHERS)
}

/// The board with this name.
pub fn named(name: &str) -> Result<Board> {
    let names: Vec<&str> = all().map(|board| board.name).collect();
    let names = names.join(", ");
    let unknown = || Usage(format!("There is no board `{name}`. There are: {names}."));
    Ok(all().find(|board| board.name == name).ok_or_else(unknown)?)
}
