//! The example application on emulated boards: it starts only after the self-check, remembers the
//! verdict over a reset, and the guard raises no false alarm.
//!
//! Without `VOUCH_FIRMWARE_DIR` there is nothing to test.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::time::Duration;
use vouch_host::transport::qemu::{BOARDS, Board};
use vouch_tests::emulator::{Emulator, flash_with};
use vouch_tests::product;

/// A busy machine may emulate slowly.
const PATIENCE: Duration = Duration::from_secs(300);

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
    }
    folder
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// What the example says on `board` with these models in flash.
fn run(folder: &Path, board: &Board, models: Option<&[u8]>) -> String {
    let elf = folder.join(format!("guarded-{}.elf", board.name));
    let mut emulator = Emulator::start(board, &flash_with(board, &elf, models), false);
    emulator.text_until("done", PATIENCE).expect("it comes to its end")
}

#[test]
fn the_application_starts_after_the_check_and_is_guarded() {
    let Some(folder) = folder() else { return };
    for board in BOARDS.iter() {
        let image = product::image(&example("precharge.vch"), true);
        let text = run(&folder, board, product::models(board, &image).as_deref());
        let lines = |part: &str| text.lines().filter(|line| line.contains(part)).count();
        assert_eq!(lines("self-check: Safe by Certificate"), 2, "{text}");
        // The first time there is nothing to remember; after the reset there is.
        assert_eq!(lines("remembered: None"), 1, "{text}");
        assert_eq!(lines("remembered: Some(Safe)"), 1, "{text}");
        assert_eq!(lines("application started"), 2, "{text}");
        guards(&text, "Certificate");
    }
}

/// What an application says that is guarded by an invariant of this origin.
fn guards(text: &str, origin: &str) {
    let lines = |part: &str| text.lines().filter(|line| line.contains(part)).count();
    assert_eq!(lines(&format!("words of {origin}")), 1, "{text}");
    assert_eq!(lines("200 steps, 0 alarms"), 1, "{text}");
    // A flip in a step is always noticed.
    let flips = text.lines().find_map(|line| line.strip_prefix("flips in a step: "));
    let (made, caught) = flips.and_then(|f| f.split_once(", caught ")).unwrap();
    assert!(made == caught && made.parse::<u32>().unwrap() > 50, "{text}");
    // The invariant itself notices something too.
    let jumps = text.lines().find_map(|line| line.strip_prefix("jumps: ")).unwrap();
    assert!(!jumps.ends_with("caught 0"), "{text}");
}

#[test]
fn without_a_certificate_it_proves_and_a_broken_model_does_not_start() {
    let Some(folder) = folder() else { return };
    for board in BOARDS.iter() {
        let image = product::image(&example("precharge.vch"), false);
        let text = run(&folder, board, product::models(board, &image).as_deref());
        assert!(text.contains("self-check: Safe by Proof"), "{text}");
        assert!(text.contains("application started"), "{text}");
        guards(&text, "Proof");
        let image = product::image(&example("precharge-broken.vch"), true);
        let text = run(&folder, board, product::models(board, &image).as_deref());
        assert!(text.contains("self-check: Unsafe") && text.contains("decision: Refuse"), "{text}");
        assert!(!text.contains("application started"), "{text}");
        // Nothing stored, and flash that was tampered with.
        let text = run(&folder, board, None);
        assert!(text.contains("no model: ") && !text.contains("application started"), "{text}");
        let mut models = product::models(board, &image).unwrap();
        models[1024 + 400] ^= 1;
        let text = run(&folder, board, Some(&models));
        assert!(
            text.contains("no model: the image is not the one that the header describes"),
            "{text}"
        );
    }
}

#[test]
fn a_model_without_a_step_needs_no_guard() {
    let Some(folder) = folder() else { return };
    // The simplification has left nothing of it.
    let image = product::image(&example("cell-monitor.vch"), true);
    let board = &BOARDS[0];
    let text = run(&folder, board, product::models(board, &image).as_deref());
    assert!(text.contains("self-check: Safe") && text.contains("guard: 0 steps"), "{text}");
}

/// On the micro:bit, whose flash QEMU lets be written: an update is tried at the next start.
#[test]
fn an_update_that_does_not_pass_gives_way_to_the_model_before() {
    let Some(folder) = folder() else { return };
    let board = BOARDS.iter().find(|board| board.name == "microbit").unwrap();
    let good = product::image(&example("precharge.vch"), true);
    let broken = product::image(&example("precharge-broken.vch"), true);
    // QEMU fills flash anew at a reset, so what is left of it after a start is looked at.
    let elf = folder.join(format!("guarded-{}.elf", board.name));
    let start = |flash: &[u8]| {
        let mut emulator = Emulator::start(board, flash, false);
        let text =
            emulator.text_until("application started: precharge", PATIENCE).expect("it starts");
        (text, emulator.flash())
    };
    for (old, new, verdict) in [(&good, &broken, "Unsafe"), (&broken, &good, "Safe")] {
        let models = product::updated(board, old, new).unwrap();
        let (text, flash) = start(&flash_with(board, &elf, Some(&models)));
        assert!(text.contains(&format!("trial of precharge: {verdict}")), "{text}");
        assert!(text.contains("self-check: Safe by Certificate"), "{text}");
        // It was tried once, and that was that.
        let (text, _) = start(&flash);
        assert!(!text.contains("trial"), "{text}");
        assert!(text.contains("self-check: Safe by Certificate"), "{text}");
    }
}
