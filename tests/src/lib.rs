//! Helpers shared by the whole-system tests.

#[cfg(unix)]
pub mod bound;
pub mod c_soak;
pub mod check;
#[cfg(unix)]
pub mod emulator;
pub mod engine;
pub mod explicit;
#[cfg(unix)]
pub mod glitch;
pub mod history;
pub mod image_oracle;
pub mod image_sim;
#[cfg(unix)]
pub mod isa;
#[cfg(unix)]
pub mod machine;
pub mod maker;
pub mod nor;
#[cfg(unix)]
pub mod product;
pub mod random_c;
pub mod random_cfa;
pub mod random_image;
pub mod rng;
pub mod sat_driver;
#[cfg(unix)]
pub mod selfcheck;
pub mod stored;
pub mod suite;
#[cfg(unix)]
pub mod update;

use std::collections::HashMap;

/// Values of the symbols of a 32-bit little-endian ELF file.
pub fn symbols(elf: &[u8]) -> HashMap<String, u32> {
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap()) as usize;
    let (table, count) = (word(32), word(48) & 0xffff);
    let section = |i: usize| table + 40 * i;
    let mut found = HashMap::new();
    for at in (0..count).map(section).filter(|at| word(at + 4) == 2) {
        let names = word(section(word(at + 24)) + 16);
        for symbol in (word(at + 16)..word(at + 16) + word(at + 20)).step_by(16) {
            let name = &elf[names + word(symbol)..];
            let end = name.iter().position(|b| *b == 0).unwrap();
            let name = String::from_utf8_lossy(&name[..end]).into_owned();
            found.insert(name, word(symbol + 4) as u32);
        }
    }
    found
}
