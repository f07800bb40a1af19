//! Every instruction that the ELF front end accepts against QEMU.
#![cfg(unix)]

use vouch_tests::isa::rows::{self, Row};
use vouch_tests::isa::{Target, halfwords, soak, target};

fn rows_agree(target: &Target, rows: &[Row], count: u64) {
    let tallies = soak(target, rows, count, 1).unwrap_or_else(|text| panic!("{text}"));
    for (row, tally) in rows.iter().zip(&tallies) {
        println!("{:40} {tally:?}", row.name);
    }
}

#[test]
fn every_halfword_of_armv6m() {
    let tally = halfwords(&target::V6M, 1, 1).unwrap_or_else(|text| panic!("{text}"));
    println!("{tally:?}");
}

#[test]
fn every_row_of_armv6m() {
    rows_agree(&target::V6M, rows::THUMB16, 50);
    rows_agree(&target::V6M, rows::V6M32, 50);
}

#[test]
fn every_halfword_of_armv7m() {
    let tally = halfwords(&target::V7M, 1, 1).unwrap_or_else(|text| panic!("{text}"));
    println!("{tally:?}");
}

#[test]
fn every_row_of_armv7m() {
    rows_agree(&target::V7M, rows::THUMB16, 50);
    rows_agree(&target::V7M, rows::V7M16, 500);
    rows_agree(&target::V7M, rows::V6M32, 50);
    rows_agree(&target::V7M, rows::V7M32, 50);
}

#[test]
fn every_halfword_of_rv32() {
    let tally = halfwords(&target::RV32, 1, 1).unwrap_or_else(|text| panic!("{text}"));
    println!("{tally:?}");
}

#[test]
fn every_row_of_rv32() {
    rows_agree(&target::RV32, rows::RV32, 100);
}
