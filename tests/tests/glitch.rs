//! Boots that must refuse, with an instruction skipped: some of those at which something is decided, on one
//! board of each processor family. `cargo xtask glitch` tries all.
//!
//! Without `VOUCH_FIRMWARE_DIR` there is nothing to test.
#![cfg(unix)]

use std::path::PathBuf;
use vouch_host::transport::qemu;
use vouch_tests::glitch::{BOARDS, Campaign, Kind};

/// For each board and kind.
const TRIALS: usize = 25;
/// For each board.
const COMPARED: usize = 8;

#[test]
fn no_skipped_instruction_makes_a_boot_go_on_that_must_refuse() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    for name in BOARDS {
        let board = qemu::board(name).unwrap();
        let kinds = [
            Kind::Forged,
            Kind::Tampered,
            Kind::Broken,
            Kind::Miscertified,
            Kind::Recoded,
            Kind::SecondKey,
            Kind::ForgedKey,
        ];
        for kind in kinds.into_iter().filter(|kind| kind.is_for(board)) {
            let campaign = Campaign::new(&folder, board, kind);
            let parts = ["vouch_device", "guarded", "bound", "session"];
            let chosen = campaign.around_decisions(&parts, TRIALS);
            assert!(chosen.len() > TRIALS / 2, "{name}: {}", chosen.len());
            let result = campaign.run(&chosen, jobs, |_| ());
            assert!(result.bypasses.is_empty(), "{name}, {kind:?}: {:#?}", result.bypasses);
        }
    }
}

/// What a number is made of counts as much as the comparison: a floor that was found too low, a counter that was
/// read too high, a byte that was not copied before it was hashed.
#[test]
fn no_skipped_instruction_forges_what_is_compared() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let board = qemu::board("lm3s6965evb").unwrap();
    let counted: &[_] =
        &["5block", "4keys5floor", "4keys11floor", "6Header4read", "5store", "counter_again"];
    for (kind, parts) in [(Kind::Old, counted), (Kind::Tampered, &["memcpy", "4hash"])] {
        let campaign = Campaign::new(&folder, board, kind);
        let chosen = campaign.within(parts);
        assert!(chosen.len() > 100, "{kind:?}: {}", chosen.len());
        let result = campaign.run(&chosen, jobs, |_| ());
        assert!(result.bypasses.is_empty(), "{kind:?}: {:#?}", result.bypasses);
    }
}

/// A signed model for another product once was taken if the comparison was left out, if the product was not copied out of
/// its header, or if what the device knows of its own was not written down.
#[test]
fn no_skipped_instruction_has_a_model_for_another_product_taken() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let campaign = Campaign::new(&folder, qemu::board("lm3s6965evb").unwrap(), Kind::Product);
    let chosen = campaign.within(&["6Header4read", "7product", "10with_stack", "guarded"]);
    assert!(chosen.len() > 100, "{}", chosen.len());
    let result = campaign.run(&chosen, jobs, |_| ());
    assert!(result.bypasses.is_empty(), "{:#?}", result.bypasses);
}

/// A key that is offered as the first one is written again if it is trusted already. If that comparison was left out, any
/// other key once was, too.
#[test]
fn no_skipped_instruction_sets_a_second_first_key() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let campaign = Campaign::new(&folder, qemu::board("riscv-virt").unwrap(), Kind::SecondKey);
    let chosen = campaign.within(&["provision_key", "keys_before"]);
    assert!(chosen.len() > 50, "{}", chosen.len());
    let result = campaign.run(&chosen, jobs, |_| ());
    assert!(result.bypasses.is_empty(), "{:#?}", result.bypasses);
}

/// The same where the Cortex-M0's compiler compares a place with the page's length: skipped, that once made every place blank.
#[test]
fn no_skipped_instruction_hides_the_first_key() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let campaign = Campaign::new(&folder, qemu::board("microbit").unwrap(), Kind::SecondKey);
    let chosen = campaign.within(&["4keys6record", "4keys6sealed", "keys_before"]);
    assert!(chosen.len() > 100, "{}", chosen.len());
    let result = campaign.run(&chosen, jobs, |_| ());
    assert!(result.bypasses.is_empty(), "{:#?}", result.bypasses);
}

/// A device whose model has to be of its own code once took one of no code if it was not told so, or did not look.
#[test]
fn no_skipped_instruction_has_a_model_of_no_code_taken() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let campaign = Campaign::new(&folder, qemu::board("lm3s6965evb").unwrap(), Kind::Unbound);
    let mut chosen = campaign.within(&["4code5check", "unwelcome"]);
    assert!(chosen.len() > 20, "{}", chosen.len());
    // There it is told what it has to be.
    chosen.extend(campaign.within(&["bound"]));
    let result = campaign.run(&chosen, jobs, |_| ());
    assert!(result.bypasses.is_empty(), "{:#?}", result.bypasses);
}

/// An update that had failed its trial once was confirmed if the branch that looks at the answer was left out.
#[test]
fn no_skipped_instruction_confirms_an_update_that_has_failed_its_trial() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let campaign = Campaign::new(&folder, qemu::board("microbit").unwrap(), Kind::Trial);
    let chosen = campaign.around_decisions(&["guarded", "vouch_device5store"], usize::MAX);
    assert!(chosen.len() > 50, "{}", chosen.len());
    let result = campaign.run(&chosen, jobs, |_| ());
    assert!(result.bypasses.is_empty(), "{:#?}", result.bypasses);
}

/// The solver's own steps are not hardened: that it says yes to everything is noticed by the control. A load
/// before the branch back in the loop over a gate once was not: without it, the gate was looked at again with
/// whatever was in the register.
#[test]
fn no_skipped_instruction_of_the_solver_makes_it_accept_what_is_not_proved() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let campaign = Campaign::new(&folder, qemu::board("microbit").unwrap(), Kind::Miscertified);
    let chosen = campaign.around_decisions(&["Solver$LT$W$GT$5solve"], usize::MAX);
    assert!(chosen.len() > 100, "{}", chosen.len());
    let result = campaign.run(&chosen, jobs, |_| ());
    assert!(result.bypasses.is_empty(), "{:#?}", result.bypasses);
}

/// The RISC-V board has its models in RAM. A load at the beginning of the solver once had it write over the
/// model, when it was left out, and prove what it had written.
#[test]
fn no_skipped_instruction_has_another_model_proved() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let jobs = std::thread::available_parallelism().map_or(1, |n| n.get());
    let campaign = Campaign::new(&folder, qemu::board("riscv-virt").unwrap(), Kind::Broken);
    let mut chosen = campaign.within(&["Solver$LT$W$GT$5solve"]);
    assert!(chosen.len() > 200, "{}", chosen.len());
    chosen.truncate(200);
    let result = campaign.run(&chosen, jobs, |_| ());
    assert!(result.bypasses.is_empty(), "{:#?}", result.bypasses);
}

#[test]
fn a_board_that_is_booted_over_and_over_does_what_a_new_one_does() {
    let Some(folder) = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from) else {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    for board in BOARDS.map(|name| qemu::board(name).unwrap()) {
        let (kind, name) = (Kind::Broken, &board.name);
        if !kind.is_for(board) {
            continue;
        }
        let campaign = Campaign::new(&folder, board, kind);
        let each = campaign.instructions.len() / COMPARED;
        let chosen: Vec<_> = campaign.instructions.iter().step_by(each).collect();
        assert_eq!(campaign.disagreements(&chosen), [""; 0], "{name}");
    }
}
