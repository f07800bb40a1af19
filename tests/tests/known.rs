//! Statics of a step that other code knows: whatever way it gets at them, and however it was compiled, that is found; and
//! code that does not is left alone.
#![cfg(unix)]

use std::path::Path;
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::judge::Question;
use vouch_host::pipeline;
use vouch_host::verdict::Verdict;
use vouch_tests::machine::programs;

const WAYS: std::ops::RangeInclusive<u32> = 0..=13;
/// Tables that Rust does not make.
const WAYS_OF_C: std::ops::RangeInclusive<u32> = 14..=16;

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
    for way in WAYS.chain(WAYS_OF_C) {
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

/// The address of a bit, which GCC makes when it compiles, and other compilers from that of the static.
#[test]
fn ways_to_a_bit() {
    let folder = tempfile::tempdir().unwrap();
    for level in ["-O0", "-O1", "-O2"] {
        check(1, &programs::c("bits", &["-mcpu=cortex-m3", level], folder.path()));
        check(1, &programs::clang("bits", "riscv32-none-elf", &[level], folder.path()));
    }
}

/// A function of Rust's library that was made for the program, in which the compiler has put the address that all of its callers give it.
#[test]
fn ways_through_the_library() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"] {
        for (level, names) in [("s", "legacy"), ("s", "v0"), ("2", "v0")] {
            for way in [0, 1] {
                let (level, cfg) = (format!("-Copt-level={level}"), format!("--cfg=way=\"{way}\""));
                let names = format!("-Csymbol-mangling-version={names}");
                let mut flags = vec!["-Clink-arg=-uhandler", "-Ccodegen-units=1", &level, &cfg];
                flags.push("--check-cfg=cfg(way,values(any()))");
                // The older names are what compilers use unless told otherwise.
                flags.extend(names.ends_with("v0").then_some(&*names));
                let file = format!("sorts{way}{level}{names}");
                check(way, &programs::rust_as("sorts", &file, target, &flags, folder.path()));
            }
        }
    }
}

/// What start-up code does besides filling sections is seen, and so is code that has no name.
#[test]
fn what_starts_a_program() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        (0, None),
        (1, Some("`Reset_Handler`")),
        (2, Some("code without")),
        (3, Some("`label`")),
        (5, Some("`in_ram`")),
        (6, Some("`Reset_Handler`")),
        (7, Some("`Reset`")),
    ];
    for (case, by) in cases {
        let case = format!("-DCASE={case}");
        let cause = |elf: &Path| match (by, refusal(elf)) {
            (None, None) => {}
            (Some(by), Some(why)) => {
                let why = why.replace("code without a name", "code without");
                assert!(
                    why.contains(&format!("outside of the step, too: by {by}")),
                    "{case}: {why}"
                );
            }
            (_, why) => panic!("{case} of {}: {why:?}", elf.display()),
        };
        for level in ["-O0", "-Os", "-O2"] {
            let flags = [level, &case, "-fno-tree-loop-distribute-patterns"];
            for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
                cause(&programs::c("start", &[&flags[..], &[cpu]].concat(), folder.path()));
            }
            let flags = [level, &case, "-fno-builtin"];
            cause(&programs::clang("start", "riscv32-none-elf", &flags, folder.path()));
        }
    }
}

/// What keeps its contents over a reset has any at the first step, though the file has zeros for it.
#[test]
fn what_is_not_initialised_is_anything() {
    let folder = tempfile::tempdir().unwrap();
    for (section, is_any) in [(".noinit", true), (".persistent", true), (".data.ours", false)] {
        let flags = ["-mcpu=cortex-m3", "-O2", "-DCASE=4", &format!("-DSECTION=\"{section}\"")];
        let elf = programs::c("start", &flags, folder.path());
        let elf_options = ElfOptions { entry: Some("step".into()), ..ElfOptions::default() };
        let options = pipeline::Options { elf: elf_options, ..pipeline::Options::default() };
        let model = pipeline::load(&elf, &options).unwrap();
        let request = Request::new(Question::new(&model.cfa, None, vec![]));
        let by = By::Host { engine: Engine::default(), memory: Memory::default() };
        let found = check::check(&model, &request, by, &mut |_| {}).unwrap().judgement.verdict();
        let expected = if is_any { Verdict::Unsafe } else { Verdict::Safe };
        assert_eq!(found, expected, "{section}");
    }
}
