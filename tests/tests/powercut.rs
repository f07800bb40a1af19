//! The power fails while the emulated micro:bit updates its model.
//!
//! The processor is stopped at each word that is written and each page that is erased, and flash is
//! dumped. A fresh QEMU starts from each dump, once as it is (the power failed before the operation) and
//! once with the operation half done. It must start with the old model or the new one, whole, and take
//! the next update.
//!
//! A few of the operations in the test; all of them with `cargo xtask powercut`, which sets
//! `VOUCH_POWERCUT=all`. Without `VOUCH_FIRMWARE_DIR` there is nothing to test.
#![cfg(unix)]

use std::path::PathBuf;
use std::time::{Duration, Instant};
use vouch_device::package::sha256;
use vouch_host::client::{Client, Patience};
use vouch_host::transport::qemu;
use vouch_tests::emulator::{Emulator, flash_with};
use vouch_tests::maker;
use vouch_tests::rng::Rng;
use vouch_tests::stored::{image, signed};

fn client(emulator: &Emulator) -> Client {
    Client::greet(emulator.line(), Patience::default()).unwrap()
}

/// The hash of the model that a board with this flash starts with; and whether the next update works.
fn start(board: &qemu::Board, flash: &[u8], next: &[u8]) -> [u8; 32] {
    let emulator = Emulator::start(board, flash, false);
    let mut client = client(&emulator);
    let found =
        client.store_status().unwrap().model.expect("neither the old model nor the new one");
    // Not only its hash: it is used where it lies.
    let name = if found.hash == sha256(&image("old")) { "old" } else { "new" };
    client.load_stored(&image(name)).unwrap();
    let after = client.store(next, |_, _| {}).unwrap().model.unwrap();
    assert_eq!((after.hash, after.sequence), (sha256(&image("next")), found.sequence + 1));
    found.hash
}

#[test]
fn the_micro_bit_survives_a_power_cut_at_any_flash_operation() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let all = std::env::var_os("VOUCH_POWERCUT").is_some_and(|v| v == "all");
    let begin = Instant::now();
    let board = qemu::board("microbit").unwrap();
    let elf = folder.join(board.elf());
    let symbols = vouch_tests::symbols(&std::fs::read(&elf).unwrap());
    let address = |name: &str| symbols[name] & !1;
    let (write, erase) = (address("vouch_flash_write"), address("vouch_flash_erase"));

    // A board with a key and the old model.
    let emulator = Emulator::start(board, &flash_with(board, &elf, None), false);
    let mut host = client(&emulator);
    host.provision(&maker::public()).unwrap();
    let stored = host.store(&signed("old", 1), |_, _| {}).unwrap();
    assert_eq!(stored.model.unwrap().hash, sha256(&image("old")));
    let before = emulator.flash();
    drop((host, emulator));

    // The update, stopped at each operation.
    let emulator = Emulator::start(board, &before, true);
    let mut debugger = emulator.debugger();
    debugger.stop_at(write);
    debugger.stop_at(erase);
    debugger.run();
    let line = emulator.line();
    let patience = Patience { silence: Duration::from_secs(600), ..Patience::default() };
    let update = std::thread::spawn(move || {
        let mut host = Client::greet(line, patience).unwrap();
        host.store(&signed("new", 2), |_, _| {}).unwrap()
    });
    let mut cuts = Vec::new();
    while debugger.stopped(Duration::from_secs(2)) {
        let registers = debugger.registers();
        cuts.push((emulator.flash(), registers));
        debugger.step_over(registers[15]);
        debugger.run();
    }
    assert_eq!(update.join().unwrap().model.unwrap().hash, sha256(&image("new")));
    let last = emulator.flash();
    drop(emulator);
    let operations = cuts.len();
    // Each word of the package, and some.
    assert!(operations > signed("new", 2).len() / 4, "{operations}");
    if !all {
        // Some of them all over, and more of the last ones: record, mark and counter.
        let mut index = 0..operations;
        cuts.retain(|_| {
            let i = index.next().unwrap_or(0);
            i % 17 == 0 || i + 24 >= operations && i % 5 == 0
        });
    }

    let mut rng = Rng::new(1);
    let (mut old, mut new) = (0, 0);
    let next = signed("next", 2);
    let mut try_it = |flash: &[u8]| match start(board, flash, &next) {
        hash if hash == sha256(&image("old")) => old += 1,
        hash => {
            assert_eq!(hash, sha256(&image("new")), "a mixture");
            new += 1;
        }
    };
    for (flash, registers) in &cuts {
        try_it(flash);
        let mut torn = flash.clone();
        let place = registers[0] as usize;
        if registers[15] == erase {
            torn[place..place + 1024].iter_mut().for_each(|b| *b |= rng.bits() as u8);
        } else {
            let wanted = registers[1].to_le_bytes();
            for (cell, byte) in torn[place..place + 4].iter_mut().zip(wanted) {
                *cell &= byte | rng.bits() as u8;
            }
        }
        try_it(&torn);
    }
    try_it(&last);
    eprintln!(
        "{operations} operations, {} cuts, {} starts: {old} with the old model, {new} with the new one; \
         {:.0} s",
        cuts.len(),
        old + new,
        begin.elapsed().as_secs_f64()
    );
    assert!(old > 10 && new >= 1);
}
