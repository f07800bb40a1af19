//! The guard that reads a program's own variables: no alarm in states that occur, and an alarm for every corruption
//! that leaves the invariant, by an oracle that knows neither places nor guard.
#![cfg(unix)]

use std::path::Path;
use vouch_device::code::Bytes;
use vouch_device::live::Live;
use vouch_host::bind::{self, Wanted};
use vouch_host::frontend::elf::{Cell, Slot};
use vouch_host::ir::Word;
use vouch_host::pipeline::Origin;
use vouch_tests::bound::{is_allowed, load};
use vouch_tests::machine::programs;
use vouch_tests::machine::walk::{self, Arrived, Taken, Walk};
use vouch_tests::rng::Rng;

const RAM: u32 = 0x2000_0000;

/// How many corruptions were noticed, and how many were not.
fn corrupt(elf: &Path, init: Option<&str>) -> (u32, u32) {
    let model = load(elf, "step", init, &Wanted { places: true, ..Wanted::default() });
    let Origin::Program(binary) = &model.origin else { panic!("a program") };
    let program = &binary.program;
    let view = model.image.view::<u16>().unwrap();
    let live = Live::new(&view, view.certificate().unwrap()).expect("all variables have places");
    let mut scratch = vec![0xa5; live.scratch()];
    let mut check = |state: &[Word]| {
        // What is not a variable is anything.
        let mut ram = vec![0x5a; 0x1_0000];
        for (at, bytes) in walk::memory(program, state) {
            ram[(at - RAM) as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        live.check(&Bytes { start: RAM, bytes: &ram }, &mut scratch).is_ok()
    };
    let mut rng = Rng::new(7);
    let mut walk = Walk::new(program);
    let first = |walk: &mut Walk<'_>, rng: &mut Rng| loop {
        match walk.first(rng) {
            Ok(Taken { arrived: Arrived::Step(state), .. }) => return state,
            // There is no way from a parameter that is out of its range.
            other => assert!(other.is_ok() || program.cfa.params().count() > 0, "{other:?}"),
        }
    };
    let mut state = first(&mut walk, &mut rng);
    let in_ram: Vec<usize> = (0..program.slots.len())
        .filter(|i| matches!(program.slots[*i], Slot::Memory(Cell::Ram(_), _)))
        .collect();
    let (mut noticed, mut unnoticed) = (0, 0);
    for _ in 0..1500 {
        assert!(is_allowed(&model, &state) && check(&state), "{state:x?}");
        for _ in 0..4 {
            let mut bad = state.clone();
            for _ in 0..1 + rng.below(3) {
                let var = in_ram[rng.below(in_ram.len())];
                bad[var] ^= 1 << rng.below(program.cfa.vars[var].width as usize);
            }
            let allowed = is_allowed(&model, &bad);
            assert_eq!(check(&bad), allowed, "{state:x?} and {bad:x?}");
            if allowed { unnoticed += 1 } else { noticed += 1 }
        }
        state = match walk.step(state, &mut rng).unwrap().arrived {
            Arrived::Step(next) if !rng.one_in(200) => next,
            _ => first(&mut walk, &mut rng),
        };
    }
    // Memory that cannot be read is an alarm, too.
    assert!(live.check(&Bytes { start: RAM, bytes: &[] }, &mut scratch).is_err());
    // Without places there is no such guard.
    let plain = load(elf, "step", init, &Wanted::default());
    let spec = bind::program(&plain.image).unwrap().unwrap();
    assert!(spec.places.is_empty() && spec.steps.is_empty());
    let view = plain.image.view::<u16>().unwrap();
    assert!(Live::new(&view, view.certificate().unwrap()).is_none());
    (noticed, unnoticed)
}

#[test]
fn corruptions_that_leave_the_invariant_are_noticed() {
    let folder = tempfile::tempdir().unwrap();
    for (name, least) in [("pump", 1000), ("level", 500)] {
        for flags in [["-mcpu=cortex-m0", "-Os"], ["-mcpu=cortex-m3", "-O2"]] {
            let elf = programs::c(name, &flags, folder.path());
            let (noticed, unnoticed) = corrupt(&elf, None);
            eprintln!("{name} {flags:?}: {noticed} noticed, {unnoticed} not");
            assert!(noticed > least, "{name}: {noticed} noticed, {unnoticed} not");
        }
    }
}

#[test]
fn enums_of_rust_are_guarded_too() {
    let folder = tempfile::tempdir().unwrap();
    let elf = programs::rust("door", "thumbv7m-none-eabi", &["-Copt-level=s"], folder.path());
    let (noticed, unnoticed) = corrupt(&elf, None);
    eprintln!("door: {noticed} noticed, {unnoticed} not");
    assert!(noticed > 300, "{noticed} noticed, {unnoticed} not");
}

/// The example firmware on its boards: what is read is where its linker has put it.
#[test]
fn the_example_firmware_is_guarded() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(std::path::PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    for name in ["lm3s6965evb", "microbit"] {
        let (noticed, unnoticed) = corrupt(&folder.join(format!("bound-{name}.elf")), None);
        eprintln!("{name}: {noticed} noticed, {unnoticed} not");
        assert!(noticed > 500, "{name}: {noticed} noticed, {unnoticed} not");
    }
}
