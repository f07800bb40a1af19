//! What the self-check at boot and the guard cost on the emulated boards. Each model is stored in flash and read in place, once with a certificate
//! and once without.

use crate::emulator::{Emulator, flash_with};
use crate::maker;
use crate::product;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;
use vouch_host::transport::qemu::{BOARDS, Board};

/// For each boot. Under `-icount` a minute is more than a thousand million instructions, or some hundred
/// million on a busy machine; no example takes this long.
const PATIENCE: Duration = Duration::from_secs(1200);

/// Prints the table: the first argument is the folder of the firmware, all others are models.
pub fn print(mut args: impl Iterator<Item = String>) -> ExitCode {
    let Some(folder) = args.next().map(PathBuf::from) else {
        eprintln!("selfcheck FIRMWARE-FOLDER MODEL…");
        return ExitCode::from(2);
    };
    println!(
        "model\tboard\tmode\timage_bytes\tpackage_bytes\tverdict\tmethod\tsignature\tvalidation\tcheck\tcheck_bytes\t\
         guard_invariant\tguard_step\tflips\tat_once\tlater\tstep_flips\tstep_caught\tjumps\tcaught"
    );
    for model in args.map(PathBuf::from) {
        let bare = product::image(&model, false);
        let certified = product::image(&model, true);
        for board in BOARDS.iter() {
            for (mode, image) in [("certificate", &certified), ("proof", &bare)] {
                // Words of 32 bits are not for devices.
                if image[6] == 2 && (mode == "proof" || **image != *bare) {
                    println!("{}", row(&folder, board, &model, mode, image));
                }
            }
        }
    }
    ExitCode::SUCCESS
}

fn row(folder: &Path, board: &Board, model: &Path, mode: &str, image: &[u8]) -> String {
    let name = model.file_stem().unwrap_or_default().to_string_lossy();
    let package = maker::package(image, 1).len();
    let start = format!("{name}\t{}\t{mode}\t{}\t{package}", board.name, image.len());
    let Some(models) = product::models(board, image) else { return format!("{start}\ttoo large") };
    let elf = folder.join(format!("guarded-{}.elf", board.name));
    let mut emulator = Emulator::start(board, &flash_with(board, &elf, Some(&models)), false);
    // Once is enough to be measured.
    let text = emulator.text_until("restarting", PATIENCE);
    let text = match &text {
        Ok(text) => text,
        Err(_) => return format!("{start}\tnot in time"),
    };
    let line = |title: &str| text.lines().rev().find_map(|line| line.strip_prefix(title));
    let number = |title: &str, index: usize| {
        let digits = |c: char| !c.is_ascii_digit();
        let found = line(title).and_then(|l| l.split(digits).filter(|d| !d.is_empty()).nth(index));
        found.unwrap_or("").to_owned()
    };
    let (verdict, method) =
        line("self-check: ").and_then(|l| l.split_once(" by ")).unwrap_or(("none", ""));
    let columns = [
        short(verdict),
        method.to_owned(),
        number("signature: ", 0),
        number("validation: ", 0),
        number("cost: ", 0),
        number("cost: ", 1),
        number("guard cost: ", 0),
        number("guard cost: ", 1),
        number("flips: ", 0),
        number("flips: ", 1),
        number("flips: ", 3),
        number("flips in a step: ", 0),
        number("flips in a step: ", 1),
        number("jumps: ", 0),
        number("jumps: ", 1),
    ];
    format!("{start}\t{}", columns.join("\t"))
}

/// A verdict with its reason, but not the details of that.
fn short(verdict: &str) -> String {
    let mut words = verdict.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    match (words.next(), words.next()) {
        (Some("Unknown"), Some(why)) => format!("Unknown ({})", why.to_lowercase()),
        (word, _) => word.unwrap_or("none").to_owned(),
    }
}
