//! The encoding tables of the manuals, row by row.
//!
//! They are written down from the manuals and not taken from the decoder, so that a row which the decoder does
//! not know, or takes for another, is noticed.

use crate::rng::Rng;
use vouch_host::frontend::elf::isa::Isa;

/// A row: an instruction's name, and its bits from the highest to the lowest; letters are any bits.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// As in the manual.
    pub name: &'static str,
    /// 16 or 32 of them; of several instructions with semicolons in between.
    pub bits: &'static str,
}

impl Row {
    /// Encodings of this row, as they lie in memory.
    pub fn random(&self, isa: Isa, rng: &mut Rng) -> Vec<u8> {
        let instructions = self.bits.split(';').map(pattern);
        instructions
            .flat_map(|(mask, value, count)| {
                let word = value | rng.bits() as u32 & !mask;
                match (count, isa) {
                    (32, Isa::Rv32) => word.to_le_bytes().to_vec(),
                    (16, _) => (word as u16).to_le_bytes().to_vec(),
                    _ => [(word >> 16) as u16, word as u16].map(u16::to_le_bytes).concat(),
                }
            })
            .collect()
    }
}

/// Which bits are fixed, their values, and how many there are in all.
pub fn pattern(bits: &str) -> (u32, u32, u32) {
    let (mut mask, mut value, mut count) = (0, 0, 0);
    for bit in bits.chars().filter(|bit| *bit != ' ') {
        mask = mask << 1 | u32::from(bit == '0' || bit == '1');
        value = value << 1 | u32::from(bit == '1');
        count += 1;
    }
    assert!(count == 16 || count == 32, "{bits}: {count} bits");
    (mask, value, count)
}

/// All rows of an instruction set.
pub fn all(isa: Isa) -> Vec<Row> {
    match isa {
        Isa::V6m => [THUMB16, COMPARED, THUMB32, V6M32].concat(),
        Isa::V7m => [THUMB16, COMPARED, V7M16, THUMB32, V7M32].concat(),
        Isa::Rv32 => RV32.to_vec(),
    }
}

/// What would wait for ever in the emulator.
pub fn waits(isa: Isa) -> Vec<Row> {
    match isa {
        Isa::V6m => vec![WFI],
        Isa::V7m => vec![WFI, row("WFI.W", "1111001110101111 10000000 00000011")],
        Isa::Rv32 => vec![row("WFI", "000100000101 00000 000 00000 1110011")],
    }
}

const WFI: Row = row("WFI", "10111111 0011 0000");

/// The patterns of single instructions.
pub struct Patterns(Vec<(u32, u32, u32)>);

impl Patterns {
    /// Those of these rows.
    pub fn new(rows: &[Row]) -> Patterns {
        let single = rows.iter().filter(|row| !row.bits.contains(';'));
        Patterns(single.map(|row| pattern(row.bits)).collect())
    }

    /// Whether one of them has this encoding, of 16 or 32 bits.
    pub fn has(&self, encoding: u32, bits: u32) -> bool {
        self.0.iter().any(|(mask, value, count)| *count == bits && encoding & mask == *value)
    }
}

const fn row(name: &'static str, bits: &'static str) -> Row {
    Row { name, bits }
}

/// Instructions of 16 bits that ARMv6-M and ARMv7-M have.
const THUMB16: &[Row] = &[
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

/// Instructions of 32 bits that ARMv6-M and ARMv7-M have.
const THUMB32: &[Row] = &[
    row("MSR APSR", "11110 0 1110 0 0 nnnn 10 0 0 1000 00000000"),
    row("MSR PRIMASK", "11110 0 1110 0 0 nnnn 10 0 0 1000 00010000"),
    row("MRS PRIMASK", "11110 0 1111 1 0 1111 10 0 0 dddd 00010000"),
    row("DSB", "11110 0 1110 11 1111 10 0 0 1111 0100 oooo"),
    row("DMB", "11110 0 1110 11 1111 10 0 0 1111 0101 oooo"),
    row("ISB", "11110 0 1110 11 1111 10 0 0 1111 0110 oooo"),
    row("UDF.W", "11110 1111111 iiii 1010 iiiiiiiiiiii"),
    row("BL", "11110 s iiiiiiiiii 11 j 1 k iiiiiiiiiii"),
];

/// Instructions of 32 bits that only ARMv6-M is accepted with.
const V6M32: &[Row] = &[row("MRS APSR", "11110 0 1111 1 0 1111 10 0 0 dddd 00000000")];

/// Conditions on flags that are expressions.
const COMPARED: &[Row] = &[
    row("CMP (register), B", "010000 1010 mmm nnn; 1101 cccc iiiiiiii"),
    row("CMP (immediate), B", "00101 nnn iiiiiiii; 1101 cccc iiiiiiii"),
    row("CMN (register), B", "010000 1011 mmm nnn; 1101 cccc iiiiiiii"),
    row("SUB (register), B", "0001101 mmm nnn ddd; 1101 cccc iiiiiiii"),
    row("ADD (immediate), B", "00110 ddd iiiiiiii; 1101 cccc iiiiiiii"),
    row("RSB, B", "010000 1001 nnn ddd; 1101 cccc iiiiiiii"),
    row("SUB, SBC, B", "0001101 mmm nnn ddd; 010000 0110 mmm ddd; 1101 cccc iiiiiiii"),
    row("ADD, ADC, B", "0001100 mmm nnn ddd; 010000 0101 mmm ddd; 1101 cccc iiiiiiii"),
    row("LSL (register), B", "010000 0010 mmm ddd; 1101 cccc iiiiiiii"),
];

/// Instructions of 16 bits that only ARMv7-M has.
const V7M16: &[Row] = &[
    row("CBZ, CBNZ", "1011 o0i1 iiiii nnn"),
    row("IT", "10111111 cccc mmmm"),
    row("IT, data processing", "10111111 cccc mmmm; 010000 oooo mmm ddd; 010000 oooo mmm ddd"),
    row(
        "IT, moves",
        "10111111 cccc mmmm; 001 oo ddd iiiiiiii; 001 oo ddd iiiiiiii; 00011 oo mmm nnn ddd; 001 oo ddd iiiiiiii",
    ),
    row(
        "IT, long",
        "10111111 cccc mmmm; 11110 i 0 oooo s nnnn 0 iii dddd iiiiiiii; 11101010000 s nnnn 0 iii dddd iitt mmmm; 000 oo iiiii mmm ddd",
    ),
    row(
        "IT, loads",
        "10111111 cccc mm10; 01101 iiiii nnn ttt; 01100 iiiii nnn ttt; 01000111 0 mmmm 000",
    ),
];

/// Instructions of 32 bits that ARMv7-M has.
const V7M32: &[Row] = &[
    row("STM", "1110100010 w 0 nnnn 0 m 0 rrrrrrrrrrrrr"),
    row("LDM", "1110100010 w 1 nnnn p m 0 rrrrrrrrrrrrr"),
    row("POP", "1110100010 1 1 1101 p m 0 rrrrrrrrrrrrr"),
    row("STMDB", "1110100100 w 0 nnnn 0 m 0 rrrrrrrrrrrrr"),
    row("PUSH", "1110100100 1 0 1101 0 m 0 rrrrrrrrrrrrr"),
    row("LDMDB", "1110100100 w 1 nnnn p m 0 rrrrrrrrrrrrr"),
    row("LDRD, STRD (immediate)", "1110100 p u 1 w l nnnn tttt tttt iiiiiiii"),
    row("LDRD (literal)", "1110100 1 u 1 0 1 1111 tttt tttt iiiiiiii"),
    row("LDREX", "111010000101 nnnn tttt 1111 iiiiiiii"),
    row("LDREXB, LDREXH", "111010001101 nnnn tttt 1111 010h 1111"),
    row("STREX", "111010000100 nnnn tttt dddd iiiiiiii"),
    row("STREXB, STREXH", "111010001100 nnnn tttt 1111 010h dddd"),
    row(
        "LDREX, STREX",
        "111010000101 0010 0001 1111 00000100; 111010000100 0010 tttt dddd 00000100",
    ),
    row(
        "LDREXB, STREXB",
        "111010001101 0010 0001 1111 0100 1111; 111010001100 0010 tttt 1111 0100 dddd",
    ),
    row(
        "LDREXH, STREXH",
        "111010001101 0010 0001 1111 0101 1111; 111010001100 0010 tttt 1111 0101 dddd",
    ),
    row(
        "LDREX, CLREX, STREX",
        "111010000101 0010 0001 1111 00000100; 1111001110111111 1000111100101111; 111010000100 0010 tttt dddd 00000100",
    ),
    row("CLREX", "1111001110111111 1000111100101111"),
    row("TBB", "111010001101 nnnn 1111 0000 0000 mmmm"),
    row("TBH", "111010001101 nnnn 1111 0000 0001 mmmm"),
    row("AND (register)", "11101010000 s nnnn 0 iii dddd iitt mmmm"),
    row("TST (register)", "11101010000 1 nnnn 0 iii 1111 iitt mmmm"),
    row("BIC (register)", "11101010001 s nnnn 0 iii dddd iitt mmmm"),
    row("ORR (register)", "11101010010 s nnnn 0 iii dddd iitt mmmm"),
    row("MOV (register)", "11101010010 s 1111 0 000 dddd 0000 mmmm"),
    row("LSL (immediate)", "11101010010 s 1111 0 iii dddd ii00 mmmm"),
    row("LSR (immediate)", "11101010010 s 1111 0 iii dddd ii01 mmmm"),
    row("ASR (immediate)", "11101010010 s 1111 0 iii dddd ii10 mmmm"),
    row("ROR (immediate)", "11101010010 s 1111 0 iii dddd ii11 mmmm"),
    row("RRX", "11101010010 s 1111 0 000 dddd 0011 mmmm"),
    row("ORN (register)", "11101010011 s nnnn 0 iii dddd iitt mmmm"),
    row("MVN (register)", "11101010011 s 1111 0 iii dddd iitt mmmm"),
    row("EOR (register)", "11101010100 s nnnn 0 iii dddd iitt mmmm"),
    row("TEQ (register)", "11101010100 1 nnnn 0 iii 1111 iitt mmmm"),
    row("ADD (register)", "11101011000 s nnnn 0 iii dddd iitt mmmm"),
    row("ADD (SP plus register)", "11101011000 s 1101 0 iii dddd iitt mmmm"),
    row("ADD (SP plus register) to SP", "11101011000 s 1101 0 000 1101 ii00 mmmm"),
    row("CMN (register)", "11101011000 1 nnnn 0 iii 1111 iitt mmmm"),
    row("ADC (register)", "11101011010 s nnnn 0 iii dddd iitt mmmm"),
    row("SBC (register)", "11101011011 s nnnn 0 iii dddd iitt mmmm"),
    row("SUB (register)", "11101011101 s nnnn 0 iii dddd iitt mmmm"),
    row("SUB (SP minus register)", "11101011101 s 1101 0 iii dddd iitt mmmm"),
    row("SUB (SP minus register) to SP", "11101011101 s 1101 0 000 1101 ii00 mmmm"),
    row("CMP (register)", "11101011101 1 nnnn 0 iii 1111 iitt mmmm"),
    row("RSB (register)", "11101011110 s nnnn 0 iii dddd iitt mmmm"),
    row("AND (immediate)", "11110 i 00000 s nnnn 0 iii dddd iiiiiiii"),
    row("TST (immediate)", "11110 i 00000 1 nnnn 0 iii 1111 iiiiiiii"),
    row("BIC (immediate)", "11110 i 00001 s nnnn 0 iii dddd iiiiiiii"),
    row("ORR (immediate)", "11110 i 00010 s nnnn 0 iii dddd iiiiiiii"),
    row("MOV (immediate) T2", "11110 i 00010 s 1111 0 iii dddd iiiiiiii"),
    row("ORN (immediate)", "11110 i 00011 s nnnn 0 iii dddd iiiiiiii"),
    row("MVN (immediate)", "11110 i 00011 s 1111 0 iii dddd iiiiiiii"),
    row("EOR (immediate)", "11110 i 00100 s nnnn 0 iii dddd iiiiiiii"),
    row("TEQ (immediate)", "11110 i 00100 1 nnnn 0 iii 1111 iiiiiiii"),
    row("ADD (immediate) T3", "11110 i 01000 s nnnn 0 iii dddd iiiiiiii"),
    row("ADD (SP plus immediate) T3", "11110 i 01000 s 1101 0 iii dddd iiiiiiii"),
    row("CMN (immediate)", "11110 i 01000 1 nnnn 0 iii 1111 iiiiiiii"),
    row("ADC (immediate)", "11110 i 01010 s nnnn 0 iii dddd iiiiiiii"),
    row("SBC (immediate)", "11110 i 01011 s nnnn 0 iii dddd iiiiiiii"),
    row("SUB (immediate) T3", "11110 i 01101 s nnnn 0 iii dddd iiiiiiii"),
    row("SUB (SP minus immediate) T2", "11110 i 01101 s 1101 0 iii dddd iiiiiiii"),
    row("CMP (immediate)", "11110 i 01101 1 nnnn 0 iii 1111 iiiiiiii"),
    row("RSB (immediate)", "11110 i 01110 s nnnn 0 iii dddd iiiiiiii"),
    row("ADD (immediate) T4", "11110 i 100000 nnnn 0 iii dddd iiiiiiii"),
    row("ADD (SP plus immediate) T4", "11110 i 100000 1101 0 iii dddd iiiiiiii"),
    row("ADR T3", "11110 i 100000 1111 0 iii dddd iiiiiiii"),
    row("MOV (immediate) T3", "11110 i 100100 iiii 0 iii dddd iiiiiiii"),
    row("SUB (immediate) T4", "11110 i 101010 nnnn 0 iii dddd iiiiiiii"),
    row("SUB (SP minus immediate) T3", "11110 i 101010 1101 0 iii dddd iiiiiiii"),
    row("ADR T2", "11110 i 101010 1111 0 iii dddd iiiiiiii"),
    row("MOVT", "11110 i 101100 iiii 0 iii dddd iiiiiiii"),
    row("SSAT", "11110 0 1100 s 0 nnnn 0 iii dddd ii 0 iiiii"),
    row("SBFX", "11110 0 110100 nnnn 0 iii dddd ii 0 iiiii"),
    row("BFI", "11110 0 110110 nnnn 0 iii dddd ii 0 iiiii"),
    row("BFC", "11110 0 110110 1111 0 iii dddd ii 0 iiiii"),
    row("USAT", "11110 0 1110 s 0 nnnn 0 iii dddd ii 0 iiiii"),
    row("UBFX", "11110 0 111100 nnnn 0 iii dddd ii 0 iiiii"),
    row("B (conditional) T3", "11110 s cccc iiiiii 10 j 0 k iiiiiiiiiii"),
    row("B T4", "11110 s iiiiiiiiii 10 j 1 k iiiiiiiiiii"),
    row("MSR BASEPRI", "11110 0 1110 0 0 nnnn 10 0 0 1000 00010001"),
    row("MRS BASEPRI", "11110 0 1111 1 0 1111 10 0 0 dddd 00010001"),
    row("MSR BASEPRI_MAX", "11110 0 1110 0 0 nnnn 10 0 0 1000 00010010"),
    row("MRS BASEPRI_MAX", "11110 0 1111 1 0 1111 10 0 0 dddd 00010010"),
    row("NOP.W, YIELD.W", "1111001110101111 10000000 0000000h"),
    row("WFE.W", "1111001110101111 10000000 00000010"),
    row("SEV.W", "1111001110101111 10000000 00000100"),
    row("STR (immediate) T3", "111110001100 nnnn tttt iiiiiiiiiiii"),
    row("STR (immediate) T4", "111110000100 nnnn tttt 1 puw iiiiiiii"),
    row("STR (register)", "111110000100 nnnn tttt 000000 ii mmmm"),
    row("STRB (immediate) T2", "111110001000 nnnn tttt iiiiiiiiiiii"),
    row("STRB (immediate) T3", "111110000000 nnnn tttt 1 puw iiiiiiii"),
    row("STRB (register)", "111110000000 nnnn tttt 000000 ii mmmm"),
    row("STRH (immediate) T2", "111110001010 nnnn tttt iiiiiiiiiiii"),
    row("STRH (immediate) T3", "111110000010 nnnn tttt 1 puw iiiiiiii"),
    row("STRH (register)", "111110000010 nnnn tttt 000000 ii mmmm"),
    row("LDR (immediate) T3", "111110001101 nnnn tttt iiiiiiiiiiii"),
    row("LDR (immediate) T4", "111110000101 nnnn tttt 1 puw iiiiiiii"),
    row("LDR (register)", "111110000101 nnnn tttt 000000 ii mmmm"),
    row("LDR (literal)", "11111000 u 1011111 tttt iiiiiiiiiiii"),
    row("LDR to PC (immediate) T3", "111110001101 nnnn 1111 iiiiiiiiiiii"),
    row("LDR to PC (immediate) T4", "111110000101 nnnn 1111 1 puw iiiiiiii"),
    row("LDR to PC (register)", "111110000101 nnnn 1111 000000 ii mmmm"),
    row("LDRB, LDRSB (immediate) 12", "1111100 s 1001 nnnn tttt iiiiiiiiiiii"),
    row("LDRB, LDRSB (immediate) 8", "1111100 s 0001 nnnn tttt 1 puw iiiiiiii"),
    row("LDRB, LDRSB (register)", "1111100 s 0001 nnnn tttt 000000 ii mmmm"),
    row("LDRB, LDRSB (literal)", "1111100 s u 0011111 tttt iiiiiiiiiiii"),
    row("LDRH, LDRSH (immediate) 12", "1111100 s 1011 nnnn tttt iiiiiiiiiiii"),
    row("LDRH, LDRSH (immediate) 8", "1111100 s 0011 nnnn tttt 1 puw iiiiiiii"),
    row("LDRH, LDRSH (register)", "1111100 s 0011 nnnn tttt 000000 ii mmmm"),
    row("LDRH, LDRSH (literal)", "1111100 s u 0111111 tttt iiiiiiiiiiii"),
    row("LSL (register)", "11111010000 s nnnn 1111 dddd 0000 mmmm"),
    row("LSR (register)", "11111010001 s nnnn 1111 dddd 0000 mmmm"),
    row("ASR (register)", "11111010010 s nnnn 1111 dddd 0000 mmmm"),
    row("ROR (register)", "11111010011 s nnnn 1111 dddd 0000 mmmm"),
    row("SXTH", "111110100000 1111 1111 dddd 10 rr mmmm"),
    row("UXTH", "111110100001 1111 1111 dddd 10 rr mmmm"),
    row("SXTB", "111110100100 1111 1111 dddd 10 rr mmmm"),
    row("UXTB", "111110100101 1111 1111 dddd 10 rr mmmm"),
    row("REV", "111110101001 nnnn 1111 dddd 1000 mmmm"),
    row("REV16", "111110101001 nnnn 1111 dddd 1001 mmmm"),
    row("RBIT", "111110101001 nnnn 1111 dddd 1010 mmmm"),
    row("REVSH", "111110101001 nnnn 1111 dddd 1011 mmmm"),
    row("CLZ", "111110101011 nnnn 1111 dddd 1000 mmmm"),
    row("MUL", "111110110000 nnnn 1111 dddd 0000 mmmm"),
    row("MLA", "111110110000 nnnn aaaa dddd 0000 mmmm"),
    row("MLS", "111110110000 nnnn aaaa dddd 0001 mmmm"),
    row("SMULL", "111110111000 nnnn llll hhhh 0000 mmmm"),
    row("SDIV", "111110111001 nnnn 1111 dddd 1111 mmmm"),
    row("UMULL", "111110111010 nnnn llll hhhh 0000 mmmm"),
    row("UDIV", "111110111011 nnnn 1111 dddd 1111 mmmm"),
    row("SMLAL", "111110111100 nnnn llll hhhh 0000 mmmm"),
    row("UMLAL", "111110111110 nnnn llll hhhh 0000 mmmm"),
];

/// RV32IMAC and Zicsr for `mstatus`.
const RV32: &[Row] = &[
    row("LUI", "iiiiiiiiiiiiiiiiiiii ddddd 0110111"),
    row("AUIPC", "iiiiiiiiiiiiiiiiiiii ddddd 0010111"),
    row("JAL", "iiiiiiiiiiiiiiiiiiii ddddd 1101111"),
    row("JALR", "iiiiiiiiiiii sssss 000 ddddd 1100111"),
    row("BEQ", "iiiiiii ttttt sssss 000 iiiii 1100011"),
    row("BNE", "iiiiiii ttttt sssss 001 iiiii 1100011"),
    row("BLT", "iiiiiii ttttt sssss 100 iiiii 1100011"),
    row("BGE", "iiiiiii ttttt sssss 101 iiiii 1100011"),
    row("BLTU", "iiiiiii ttttt sssss 110 iiiii 1100011"),
    row("BGEU", "iiiiiii ttttt sssss 111 iiiii 1100011"),
    row("LB", "iiiiiiiiiiii sssss 000 ddddd 0000011"),
    row("LH", "iiiiiiiiiiii sssss 001 ddddd 0000011"),
    row("LW", "iiiiiiiiiiii sssss 010 ddddd 0000011"),
    row("LBU", "iiiiiiiiiiii sssss 100 ddddd 0000011"),
    row("LHU", "iiiiiiiiiiii sssss 101 ddddd 0000011"),
    row("SB", "iiiiiii ttttt sssss 000 iiiii 0100011"),
    row("SH", "iiiiiii ttttt sssss 001 iiiii 0100011"),
    row("SW", "iiiiiii ttttt sssss 010 iiiii 0100011"),
    row("ADDI", "iiiiiiiiiiii sssss 000 ddddd 0010011"),
    row("SLTI", "iiiiiiiiiiii sssss 010 ddddd 0010011"),
    row("SLTIU", "iiiiiiiiiiii sssss 011 ddddd 0010011"),
    row("XORI", "iiiiiiiiiiii sssss 100 ddddd 0010011"),
    row("ORI", "iiiiiiiiiiii sssss 110 ddddd 0010011"),
    row("ANDI", "iiiiiiiiiiii sssss 111 ddddd 0010011"),
    row("SLLI", "0000000 iiiii sssss 001 ddddd 0010011"),
    row("SRLI", "0000000 iiiii sssss 101 ddddd 0010011"),
    row("SRAI", "0100000 iiiii sssss 101 ddddd 0010011"),
    row("ADD", "0000000 ttttt sssss 000 ddddd 0110011"),
    row("SUB", "0100000 ttttt sssss 000 ddddd 0110011"),
    row("SLL", "0000000 ttttt sssss 001 ddddd 0110011"),
    row("SLT", "0000000 ttttt sssss 010 ddddd 0110011"),
    row("SLTU", "0000000 ttttt sssss 011 ddddd 0110011"),
    row("XOR", "0000000 ttttt sssss 100 ddddd 0110011"),
    row("SRL", "0000000 ttttt sssss 101 ddddd 0110011"),
    row("SRA", "0100000 ttttt sssss 101 ddddd 0110011"),
    row("OR", "0000000 ttttt sssss 110 ddddd 0110011"),
    row("AND", "0000000 ttttt sssss 111 ddddd 0110011"),
    row("MUL", "0000001 ttttt sssss 000 ddddd 0110011"),
    row("MULH", "0000001 ttttt sssss 001 ddddd 0110011"),
    row("MULHSU", "0000001 ttttt sssss 010 ddddd 0110011"),
    row("MULHU", "0000001 ttttt sssss 011 ddddd 0110011"),
    row("DIV", "0000001 ttttt sssss 100 ddddd 0110011"),
    row("DIVU", "0000001 ttttt sssss 101 ddddd 0110011"),
    row("REM", "0000001 ttttt sssss 110 ddddd 0110011"),
    row("REMU", "0000001 ttttt sssss 111 ddddd 0110011"),
    row("FENCE", "m000 ppppssss 00000 000 00000 0001111"),
    row("ECALL, EBREAK", "00000000000 b 00000 000 00000 1110011"),
    row("CSRRW mstatus", "001100000000 sssss 001 ddddd 1110011"),
    row("CSRRS mstatus", "001100000000 sssss 010 ddddd 1110011"),
    row("CSRRC mstatus", "001100000000 sssss 011 ddddd 1110011"),
    row("CSRRSI mstatus", "001100000000 iiiii 110 ddddd 1110011"),
    row("CSRRCI mstatus", "001100000000 iiiii 111 ddddd 1110011"),
    row("LR.W", "00010 ar 00000 sssss 010 ddddd 0101111"),
    row("SC.W", "00011 ar ttttt sssss 010 ddddd 0101111"),
    row(
        "LR.W, SC.W",
        "00010 ar 00000 01010 010 01011 0101111; 00011 ar ttttt 01010 010 ddddd 0101111",
    ),
    row("AMOSWAP.W", "00001 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOADD.W", "00000 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOXOR.W", "00100 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOAND.W", "01100 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOOR.W", "01000 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOMIN.W", "10000 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOMAX.W", "10100 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOMINU.W", "11000 ar ttttt sssss 010 ddddd 0101111"),
    row("AMOMAXU.W", "11100 ar ttttt sssss 010 ddddd 0101111"),
    row("C.ADDI4SPN", "000 iiiiiiii ddd 00"),
    row("C.LW", "010 iii sss ii ddd 00"),
    row("C.SW", "110 iii sss ii ttt 00"),
    row("C.ADDI, C.NOP", "000 i ddddd iiiii 01"),
    row("C.JAL", "001 iiiiiiiiiii 01"),
    row("C.LI", "010 i ddddd iiiii 01"),
    row("C.ADDI16SP", "011 i 00010 iiiii 01"),
    row("C.LUI", "011 i ddddd iiiii 01"),
    row("C.SRLI", "100 0 00 ddd iiiii 01"),
    row("C.SRAI", "100 0 01 ddd iiiii 01"),
    row("C.ANDI", "100 i 10 ddd iiiii 01"),
    row("C.SUB, C.XOR, C.OR, C.AND", "100 0 11 ddd oo ttt 01"),
    row("C.J", "101 iiiiiiiiiii 01"),
    row("C.BEQZ", "110 iii sss iiiii 01"),
    row("C.BNEZ", "111 iii sss iiiii 01"),
    row("C.SLLI", "000 0 ddddd iiiii 10"),
    row("C.LWSP", "010 i ddddd iiiii 10"),
    row("C.JR", "100 0 sssss 00000 10"),
    row("C.MV", "100 0 ddddd ttttt 10"),
    row("C.JALR, C.EBREAK", "100 1 sssss 00000 10"),
    row("C.ADD", "100 1 ddddd ttttt 10"),
    row("C.SWSP", "110 iiiiii ttttt 10"),
];
