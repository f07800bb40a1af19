//! Every instruction that the ELF front end accepts against QEMU.
#![cfg(unix)]

use vouch_host::frontend::elf::isa::{self, Isa, It};
use vouch_tests::isa::rows::Patterns;
use vouch_tests::isa::{Target, halfwords, rows, soak, target};
use vouch_tests::rng::Rng;

fn agrees(target: &Target) {
    let tally = halfwords(target, 1, 1).unwrap_or_else(|text| panic!("{text}"));
    assert!(tally.lost * 5 < tally.run, "{tally:?}");
    let rows = rows::all(target.isa);
    let tallies = soak(target, &rows, 60, 1, 1).unwrap_or_else(|text| panic!("{text}"));
    for (row, tally) in rows.iter().zip(&tallies) {
        assert_eq!(tally.run, 60, "{}: {tally:?}", row.name);
    }
}

#[test]
fn armv6m_agrees_with_the_emulator() {
    agrees(&target::V6M);
}

#[test]
fn armv7m_agrees_with_the_emulator() {
    agrees(&target::V7M);
}

#[test]
fn rv32_agrees_with_the_emulator() {
    agrees(&target::RV32);
}

/// What is accepted is in the manuals' tables: should-be-zero bits and reserved fields are looked at.
#[test]
fn nothing_is_accepted_but_what_the_tables_have() {
    let mut rng = Rng::new(1);
    for isa in [Isa::V6m, Isa::V7m, Isa::Rv32] {
        let patterns = Patterns::new(&[rows::all(isa), rows::waits(isa)].concat());
        let mut accepted = [0; 2];
        for i in 0..1_000_000u32 {
            let first = i as u16;
            let second = rng.bits() as u16;
            let [a, b] = first.to_le_bytes();
            let [c, d] = second.to_le_bytes();
            let it = It(if isa == Isa::V7m && i & 0x10000 != 0 { rng.bits() as u8 } else { 0 });
            let Ok(decoded) = isa::decode(isa, &[a, b, c, d], 0x1000, it) else { continue };
            let (first, second) = (u32::from(first), u32::from(second));
            let encoding = match (decoded.length, isa) {
                (2, _) => first,
                (_, Isa::Rv32) => second << 16 | first,
                _ => first << 16 | second,
            };
            accepted[decoded.length as usize / 2 - 1] += 1;
            assert!(patterns.has(encoding, 8 * decoded.length), "{encoding:#x} {decoded}");
        }
        assert!(accepted[0] > 100_000 && accepted[1] > 1000, "{isa:?} {accepted:?}");
    }
}
