//! The instructions that a boot executes.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use vouch_host::transport::qemu::Board;

/// An instruction in flash that a boot executes, and that can be replaced by no-operations.
#[derive(Clone, Debug)]
pub struct Instruction {
    /// Where it is in flash.
    pub address: u32,
    /// The function it belongs to.
    pub function: String,
    /// Whether it is among the last two of a block: there it is decided where to continue.
    pub decides: bool,
    length: usize,
}

impl Instruction {
    /// No-operations of the same length.
    pub(super) fn nothing(&self, board: &Board) -> Vec<u8> {
        let half = match board.triple.as_str() {
            "riscv32imac-unknown-none-elf" => 0x0001u16,
            // What has no effect on the older processors is a move from a register to itself.
            "thumbv6m-none-eabi" => 0x46c0,
            _ => 0xbf00,
        };
        half.to_le_bytes().repeat(self.length / 2)
    }
}

/// Bytes of the instruction that begins with this half-word.
fn length(board: &Board, first: u16) -> usize {
    let long =
        if board.triple.starts_with("riscv") { first & 3 == 3 } else { first >> 11 >= 0b11101 };
    if long { 4 } else { 2 }
}

/// The instructions in flash that QEMU says it has translated, in the order of addresses.
pub(super) fn executed(
    board: &Board,
    flash: &[u8],
    log: &str,
    symbols: HashMap<String, u32>,
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
    // In Thumb the lowest bit says that it is code.
    let functions: BTreeMap<u32, String> =
        symbols.into_iter().map(|(name, at)| (at & !1, name)).collect();
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
