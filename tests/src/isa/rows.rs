//! The encoding tables of the manuals, row by row.
//!
//! They are written down from the manuals and not taken from the decoder, so that a row which the decoder does
//! not know, or takes for another, is noticed.

use crate::rng::Rng;

/// A row: an instruction's name, and its bits from the highest to the lowest; letters are any bits.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// As in the manual.
    pub name: &'static str,
    /// 16 or 32 of them.
    pub bits: &'static str,
}

impl Row {
    /// Bits that are fixed, their values, and how many there are in all.
    pub fn pattern(&self) -> (u32, u32, u32) {
        let (mut mask, mut value, mut count) = (0, 0, 0);
        for bit in self.bits.chars().filter(|bit| *bit != ' ') {
            mask = mask << 1 | u32::from(bit == '0' || bit == '1');
            value = value << 1 | u32::from(bit == '1');
            count += 1;
        }
        (mask, value, count)
    }

    /// An encoding of this row, as it lies in memory.
    pub fn random(&self, rng: &mut Rng) -> Vec<u8> {
        let (mask, value, count) = self.pattern();
        let word = value | rng.bits() as u32 & !mask;
        match count {
            16 => (word as u16).to_le_bytes().to_vec(),
            _ => [(word >> 16) as u16, word as u16]
                .iter()
                .flat_map(|half| half.to_le_bytes())
                .collect(),
        }
    }
}

const fn row(name: &'static str, bits: &'static str) -> Row {
    Row { name, bits }
}

/// Instructions of 16 bits that ARMv6-M and ARMv7-M have.
pub const THUMB16: &[Row] = &[
    row("LSL (immediate), MOV (register) T2", "000 00 iiiii mmm ddd"),
    row("LSR (immediate)", "000 01 iiiii mmm ddd"),
    row("ASR (immediate)", "000 10 iiiii mmm ddd"),
    row("ADD (register) T1", "0001100 mmm nnn ddd"),
    row("SUB (register)", "0001101 mmm nnn ddd"),
    row("ADD (immediate) T1", "0001110 iii nnn ddd"),
    row("SUB (immediate) T1", "0001111 iii nnn ddd"),
    row("MOV (immediate)", "00100 ddd iiiiiiii"),
    row("CMP (immediate)", "00101 nnn iiiiiiii"),
    row("ADD (immediate) T2", "00110 ddd iiiiiiii"),
    row("SUB (immediate) T2", "00111 ddd iiiiiiii"),
    row("AND (register)", "010000 0000 mmm ddd"),
    row("EOR (register)", "010000 0001 mmm ddd"),
    row("LSL (register)", "010000 0010 mmm ddd"),
    row("LSR (register)", "010000 0011 mmm ddd"),
    row("ASR (register)", "010000 0100 mmm ddd"),
    row("ADC (register)", "010000 0101 mmm ddd"),
    row("SBC (register)", "010000 0110 mmm ddd"),
    row("ROR (register)", "010000 0111 mmm ddd"),
    row("TST (register)", "010000 1000 mmm nnn"),
    row("RSB (immediate)", "010000 1001 nnn ddd"),
    row("CMP (register) T1", "010000 1010 mmm nnn"),
    row("CMN (register)", "010000 1011 mmm nnn"),
    row("ORR (register)", "010000 1100 mmm ddd"),
    row("MUL", "010000 1101 nnn ddd"),
    row("BIC (register)", "010000 1110 mmm ddd"),
    row("MVN (register)", "010000 1111 mmm ddd"),
    row("ADD (register) T2", "01000100 d mmmm ddd"),
    row("CMP (register) T2", "01000101 n mmmm nnn"),
    row("MOV (register) T1", "01000110 d mmmm ddd"),
    row("BX", "010001110 mmmm 000"),
    row("BLX (register)", "010001111 mmmm 000"),
    row("LDR (literal)", "01001 ttt iiiiiiii"),
    row("STR (register)", "0101 000 mmm nnn ttt"),
    row("STRH (register)", "0101 001 mmm nnn ttt"),
    row("STRB (register)", "0101 010 mmm nnn ttt"),
    row("LDRSB (register)", "0101 011 mmm nnn ttt"),
    row("LDR (register)", "0101 100 mmm nnn ttt"),
    row("LDRH (register)", "0101 101 mmm nnn ttt"),
    row("LDRB (register)", "0101 110 mmm nnn ttt"),
    row("LDRSH (register)", "0101 111 mmm nnn ttt"),
    row("STR (immediate) T1", "01100 iiiii nnn ttt"),
    row("LDR (immediate) T1", "01101 iiiii nnn ttt"),
    row("STRB (immediate)", "01110 iiiii nnn ttt"),
    row("LDRB (immediate)", "01111 iiiii nnn ttt"),
    row("STRH (immediate)", "10000 iiiii nnn ttt"),
    row("LDRH (immediate)", "10001 iiiii nnn ttt"),
    row("STR (immediate) T2", "10010 ttt iiiiiiii"),
    row("LDR (immediate) T2", "10011 ttt iiiiiiii"),
    row("ADR", "10100 ddd iiiiiiii"),
    row("ADD (SP plus immediate) T1", "10101 ddd iiiiiiii"),
    row("ADD (SP plus immediate) T2", "101100000 iiiiiii"),
    row("SUB (SP minus immediate)", "101100001 iiiiiii"),
    row("SXTH", "10110010 00 mmm ddd"),
    row("SXTB", "10110010 01 mmm ddd"),
    row("UXTH", "10110010 10 mmm ddd"),
    row("UXTB", "10110010 11 mmm ddd"),
    row("PUSH", "1011010 rrrrrrrrr"),
    row("CPS", "10110110011 i 0010"),
    row("REV", "1011101000 mmm ddd"),
    row("REV16", "1011101001 mmm ddd"),
    row("REVSH", "1011101011 mmm ddd"),
    row("POP", "1011110 rrrrrrrrr"),
    row("BKPT", "10111110 iiiiiiii"),
    row("NOP, YIELD", "10111111 000h 0000"),
    row("WFE", "10111111 0010 0000"),
    row("SEV", "10111111 0100 0000"),
    row("STM", "11000 nnn rrrrrrrr"),
    row("LDM", "11001 nnn rrrrrrrr"),
    row("B (conditional)", "1101 cccc iiiiiiii"),
    row("UDF", "11011110 iiiiiiii"),
    row("SVC", "11011111 iiiiiiii"),
    row("B", "11100 iiiiiiiiiii"),
];

/// Instructions of 32 bits that ARMv6-M has.
pub const V6M32: &[Row] = &[
    row("MSR", "11110 0 1110 0 0 nnnn 10 0 0 1000 ssssssss"),
    row("MSR APSR", "11110 0 1110 0 0 nnnn 10 0 0 1000 00000000"),
    row("MSR PRIMASK", "11110 0 1110 0 0 nnnn 10 0 0 1000 00010000"),
    row("MRS", "11110 0 1111 1 0 1111 10 0 0 dddd ssssssss"),
    row("MRS PRIMASK", "11110 0 1111 1 0 1111 10 0 0 dddd 00010000"),
    row("DSB", "11110 0 1110 11 1111 10 0 0 1111 0100 oooo"),
    row("DMB", "11110 0 1110 11 1111 10 0 0 1111 0101 oooo"),
    row("ISB", "11110 0 1110 11 1111 10 0 0 1111 0110 oooo"),
    row("UDF.W", "11110 1111111 iiii 1010 iiiiiiiiiiii"),
    row("BL", "11110 s iiiiiiiiii 11 j 1 k iiiiiiiiiii"),
];
