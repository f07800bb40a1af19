//! Statics of a step that other code knows: whatever way it gets at them, and however it was compiled, that is found; and
//! code that does not is left alone.
#![cfg(unix)]

use std::path::Path;
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::pipeline;
use vouch_tests::machine::programs;

const WAYS: std::ops::RangeInclusive<u32> = 0..=9;

/// Why a program is refused, if it is.
fn refusal(elf: &Path) -> Option<String> {
    let elf_options = ElfOptions { entry: Some("step".into()), ..ElfOptions::default() };
    let options = pipeline::Options { elf: elf_options, ..pipeline::Options::default() };
    let error = pipeline::load(elf, &options).err()?;
    Some(error.to_string().split_whitespace().collect::<Vec<_>>().join(" "))
}

fn check(way: u32, elf: &Path) {
    match (way, refusal(elf)) {
        (0, None) => {}
        (1.., Some(why)) => assert!(why.contains("is used outside of the step, too"), "{why}"),
        (way, why) => panic!("way {way} of {}: {why:?}", elf.display()),
    }
}

#[test]
fn ways_of_c() {
    let folder = tempfile::tempdir().unwrap();
    for way in WAYS {
        for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
            // Optimised, a register that is not used any more may hold the address that others are counted from.
            let levels = ["-O0", "-O1", "-Os", "-O2", "-O3"];
            for level in levels.into_iter().filter(|level| way > 0 || *level == "-O0") {
                let flags = [cpu, level, &format!("-DWAY={way}")];
                check(way, &programs::c("known", &flags, folder.path()));
            }
        }
    }
}

#[test]
fn ways_of_rust() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"] {
        for level in ["s", "3"] {
            for way in WAYS {
                let (level, cfg) = (format!("-Copt-level={level}"), format!("--cfg=way=\"{way}\""));
                let flags =
                    [&level, "-Clink-arg=-uhandler", &cfg, "--check-cfg=cfg(way,values(any()))"];
                let file = format!("known{way}{level}");
                let elf = programs::rust_as("known", &file, target, &flags, folder.path());
                check(way, &elf);
            }
        }
    }
}
