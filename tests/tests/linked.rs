//! A model that was made of C, bound to the program that the same C was compiled into: every bit of the functions that it is of
//! matters, and the guard finds its variables in the program's memory.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use vouch_device::code::{Bytes, Memory};
use vouch_device::live::Live;
use vouch_host::bind::{self, Other, Wanted};
use vouch_host::frontend::c::{COptions, DataModel, Macro};
use vouch_host::frontend::elf::reader::Elf;
use vouch_host::frontend::elf::{ElfOptions, lift};
use vouch_host::pipeline::Loaded;
use vouch_tests::bound::{flash, load_source, prove};
use vouch_tests::machine::programs;
use vouch_tests::machine::walk::{self, Arrived, Taken, Walk};
use vouch_tests::rng::Rng;

const RAM: u32 = 0x2000_0000;
const CPUS: [&str; 2] = ["-mcpu=cortex-m0", "-mcpu=cortex-m3"];

fn options(macros: &[(&str, &str)]) -> COptions {
    let define = |(name, value): &(&str, &str)| Macro::Define(format!("{name}={value}"));
    COptions {
        model: DataModel::ARM32,
        entry: "step".into(),
        repeat: true,
        macros: macros.iter().map(define).collect(),
        ..COptions::default()
    }
}

/// Keeps a function apart, or has a copy made of it for each caller.
fn keep(is_apart: bool) -> &'static str {
    let attribute = ["-DKEEP=__attribute__((always_inline))", "-DKEEP=__attribute__((noinline))"];
    attribute[usize::from(is_apart)]
}

fn mixed(flags: &[&str], folder: &Path) -> PathBuf {
    programs::c("mixed", flags, folder)
}

fn load(name: &str, elf: &Path, wanted: &Wanted) -> Loaded {
    let file = programs::source(&format!("{name}.c"));
    load_source(&file, options(&[("KEEP", "")]), elf, wanted).unwrap_or_else(|e| panic!("{e}"))
}

/// Tables are in flash, variables are not.
struct Board<'b> {
    flash: Bytes<'b>,
    ram: Bytes<'b>,
}

impl Memory for Board<'_> {
    fn read(&self, address: u32, into: &mut [u8]) -> bool {
        self.ram.read(address, into) || self.flash.read(address, into)
    }
}

/// Why a model cannot be bound to a program.
fn refusal(name: &str, options: COptions, elf: &Path, wanted: &Wanted) -> String {
    let file = programs::source(&format!("{name}.c"));
    match load_source(&file, options, elf, wanted) {
        Ok(model) => panic!("bound to {:?}", model.code),
        Err(error) => error.to_string(),
    }
}

fn names(model: &Loaded) -> Vec<&str> {
    model.code.iter().map(|piece| piece.name.as_str()).collect()
}

/// Functions that are called, also through tables, and what they read; not what is declared only.
#[test]
fn the_functions_that_the_model_is_of_are_bound() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in CPUS {
        for level in ["-O0", "-Os", "-O2", "-O3"] {
            let elf = mixed(&[cpu, level, keep(true)], folder.path());
            let model = load("mixed", &elf, &Wanted::default());
            let names = names(&model);
            for name in ["step", "raise_alarm", "clear_alarm"] {
                assert!(names.contains(&name), "{cpu} {level}: {names:?}");
            }
            let others = ["vouch_input_u16", "vouch_fail"];
            assert!(!names.iter().any(|name| others.contains(name)), "{names:?}");
            if level == "-O0" {
                assert!(["weighted", "weights", "reactions"].iter().all(|n| names.contains(n)));
                // The M0 has no division: that is in a library, and bound, too.
            }
            let spec = bind::program(&model.image).unwrap();
            let good = std::fs::read(&elf).unwrap();
            assert_eq!(bind::compare(spec.as_ref(), &model.code, &good), Ok(()));
            let other = mixed(&[cpu, "-O1", keep(true)], folder.path());
            let other = std::fs::read(other).unwrap();
            let found = bind::compare(spec.as_ref(), &model.code, &other);
            assert!(matches!(found, Err(Other::Differs(_))), "{found:?}");
        }
    }
}

/// States that machine code gets to are in the invariant of the model that was made of its source, as the guard reads them
/// from memory; others are noticed.
#[test]
fn the_guard_finds_the_variables_of_the_source() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in CPUS {
        for (name, level) in [("pump", "-O0"), ("pump", "-O2"), ("level", "-Os")] {
            let elf = programs::c(name, &[cpu, level], folder.path());
            let mut model = load(name, &elf, &Wanted { places: true, ..Wanted::default() });
            prove(&mut model);
            let view = model.image.view::<u16>().unwrap();
            let live = Live::new(&view, view.certificate().unwrap()).expect("places");
            let mut scratch = vec![0x5a; live.scratch()];
            let (start, code) = flash(&elf);
            let mut check = |ram: &[u8]| {
                let flash = Bytes { start, bytes: &code };
                let board = Board { flash, ram: Bytes { start: RAM, bytes: ram } };
                live.check(&board, &mut scratch).is_ok()
            };
            let entry = ElfOptions { entry: Some("step".into()), ..ElfOptions::default() };
            let bytes = std::fs::read(&elf).unwrap();
            let program = lift(&bytes, name, &entry, true).unwrap_or_else(|e| panic!("{e:?}"));
            let mut rng = Rng::new(18);
            let mut walk = Walk::new(&program);
            let Ok(Taken { arrived: Arrived::Step(mut state), .. }) = walk.first(&mut rng) else {
                panic!("no first step")
            };
            // Variables that the step does not change are as they were; what is not a variable is anything.
            let reader = Elf::read(&bytes).unwrap_or_else(|e| panic!("{}", e.0));
            let first: Vec<u8> =
                (RAM..RAM + 0x400).map(|at| reader.byte(at).unwrap_or(0xa5)).collect();
            let mut noticed = 0;
            for _ in 0..2000 {
                let mut ram = first.clone();
                let variables = walk::memory(&program, &state);
                for (at, bytes) in &variables {
                    ram[(at - RAM) as usize..][..bytes.len()].copy_from_slice(bytes);
                }
                assert!(check(&ram), "{cpu} {name} {level}: {variables:x?}");
                let (at, bytes) = &variables[rng.below(variables.len())];
                ram[*at as usize - RAM as usize + rng.below(bytes.len())] ^= 1 << rng.below(8);
                noticed += u32::from(!check(&ram));
                state = match walk.step(state, &mut rng).unwrap().arrived {
                    Arrived::Step(next) => next,
                    other => panic!("{other:?}"),
                };
            }
            assert!(noticed > 100, "{cpu} {name} {level}: {noticed}");
        }
    }
}

#[test]
fn what_is_not_in_the_program_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let cpu = CPUS[1];
    let elf = mixed(&[cpu, "-O2", keep(true)], folder.path());
    let guarded = Wanted { places: true, ..Wanted::default() };
    let plain = Wanted::default();
    let good = || options(&[("KEEP", "")]);
    let once = COptions { repeat: false, ..good() };
    assert!(refusal("mixed", once, &elf, &guarded).contains("`--loop`"));
    let wide = COptions { model: DataModel::Lp64, ..good() };
    assert!(refusal("mixed", wide, &elf, &plain).contains("`--data-model arm32`"));
    // Enumerations have four bytes there.
    let pump = programs::c("pump", &[cpu, "-O2"], folder.path());
    let x86 = COptions { model: DataModel::Ilp32, ..options(&[]) };
    let message = refusal("pump", x86, &pump, &guarded);
    assert!(message.contains("bytes in the model and"), "{message}");
    let message = refusal("mixed", good(), &pump, &guarded);
    assert!(message.contains("is not in the program"), "{message}");
    let entry = COptions { entry: "weighted".into(), ..good() };
    let message = refusal("mixed", entry, &elf, &plain);
    assert!(message.contains("`weighted` is not in the program"), "{message}");
    assert!(message.contains("noinline"), "{message}");
}

/// A copy of the step that was inlined is run instead of the function.
#[test]
fn a_copy_of_the_step_in_its_caller_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-mcpu=cortex-m3", "-O2", "-DRUN", "-Wl,-u,run"];
    let built = |is_apart| mixed(&[&flags[..], &[keep(is_apart)]].concat(), folder.path());
    let apart = built(true);
    load("mixed", &apart, &Wanted::default());
    let inlined = built(false);
    let message = refusal("mixed", options(&[("KEEP", "")]), &inlined, &Wanted::default());
    assert!(message.contains("`run` has a copy of `step`"), "{message}");
    assert!(message.contains("`--cover run`"), "{message}");
    let covered = Wanted { cover: vec!["run".into()], ..Wanted::default() };
    let model = load("mixed", &inlined, &covered);
    assert!(names(&model).contains(&"run"));
}
