//! Counterexamples of programs: run on the program in QEMU before anything is called unsafe.
#![cfg(unix)]

use std::path::Path;
use std::sync::Arc;
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::elf::{Binary, ElfOptions};
use vouch_host::judge::{Finding, Judgement, Question};
use vouch_host::pipeline::{self, Loaded, Origin};
use vouch_host::replay::{self, Obstacle, Replayed};
use vouch_host::verdict::{Reason, Verdict};
use vouch_tests::machine::programs;

fn load(elf: &Path) -> Loaded {
    let elf_options = ElfOptions { entry: Some("step".into()), ..ElfOptions::default() };
    let options = pipeline::Options { elf: elf_options, ..pipeline::Options::default() };
    pipeline::load(elf, &options).unwrap_or_else(|e| panic!("{}: {e}", elf.display()))
}

fn judge(model: &Loaded) -> Judgement {
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    check::check(model, &request, by, &mut |_| {}).unwrap().judgement
}

/// The machines that the runs of a judgement were replayed on.
fn machines(judgement: &Judgement) -> Vec<&'static str> {
    let findings = judgement.findings.iter();
    let machine = |(_, finding): &(_, Finding)| match finding {
        Finding::Unsafe(broken) => Some(broken.replayed.expect("nothing is unsafe without replay")),
        _ => None,
    };
    findings.filter_map(machine).collect()
}

/// Whatever the memory map: real machines where they fit, empty ones elsewhere.
#[test]
fn wherever_the_memory_is() {
    let folder = tempfile::tempdir().unwrap();
    for (cpu, flash, ram, machine) in [
        ("-mcpu=cortex-m0", 0x0800_0000, 0x2000_0000, "netduino2"),
        ("-mcpu=cortex-m3", 0x0800_0000, 0x2000_0000, "netduino2"),
        ("-mcpu=cortex-m0", 0, 0x2000_0000, "mps2-an385"),
        ("-mcpu=cortex-m3", 0x0001_0000, 0x2000_0000, "mps2-an385"),
        ("-mcpu=cortex-m0", 0x1000_0000, 0x2000_0000, "none, cortex-r5"),
        ("-mcpu=cortex-m3", 0x6000_0000, 0x1000_0000, "none, cortex-r5"),
    ] {
        for level in ["-O0", "-Os"] {
            let flags = [cpu, level, "-DBROKEN"];
            let elf = programs::c_at("pump", &flags, flash, ram, folder.path());
            let judgement = judge(&load(&elf));
            assert_eq!(judgement.verdict(), Verdict::Unsafe, "{}", elf.display());
            assert_eq!(machines(&judgement), [machine], "{}", elf.display());
        }
    }
    // The stack is not in flash, which some machines do not write.
    let elf = programs::c("flat", &["-mcpu=cortex-m3", "-Os"], folder.path());
    assert_eq!(machines(&judge(&load(&elf))), ["netduino2"]);
    let target = "riscv32imac-unknown-none-elf";
    let flags = ["-Copt-level=s", "--cfg=broken"];
    let judgement = judge(&load(&programs::rust("door", target, &flags, folder.path())));
    assert_eq!(judgement.verdict(), Verdict::Unsafe);
    assert!(machines(&judgement).iter().all(|machine| *machine == "none, rv32"));
}

/// Peripherals, an argument, special registers, waiting: on a Cortex-M and on its substitute.
#[test]
fn what_is_not_the_programs_own() {
    let folder = tempfile::tempdir().unwrap();
    for (flash, machine) in [(0x0800_0000, "netduino2"), (0x1000_0000, "none, cortex-r5")] {
        for flags in [["-mcpu=cortex-m0", "-O0"], ["-mcpu=cortex-m3", "-Os"]] {
            let elf = programs::c_at("port", &flags, flash, 0x2000_0000, folder.path());
            let judgement = judge(&load(&elf));
            assert_eq!(judgement.verdict(), Verdict::Unsafe, "{}", elf.display());
            assert_eq!(machines(&judgement), [machine], "{}", elf.display());
        }
    }
}

/// As if lifting had gone wrong: the automaton fails, and the program does not.
#[test]
fn what_the_program_does_not_do_is_unknown() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-mcpu=cortex-m3", "-Os", "-DBROKEN"];
    let broken = programs::c("pump", &flags, folder.path());
    let sound = std::fs::read(programs::c("pump", &flags[..2], folder.path())).unwrap();
    let mut model = load(&broken);
    let Origin::Program(binary) = model.origin.clone() else { panic!("it is a program") };
    let other = Binary { file: sound, program: binary.program.clone() };
    model.origin = Origin::Program(Arc::new(other));
    let judgement = judge(&model);
    assert_eq!(judgement.verdict(), Verdict::Unknown);
    assert!(!judgement.validated);
    assert!(matches!(judgement.reason(), Some(Reason::NotReproduced(_))), "{judgement:?}");
    assert_eq!(judgement.unconfirmed.len(), 1, "the run is kept");

    // Other inputs than those that fail, too few calls, and a failure that is not the one.
    let run = judgement.unconfirmed[0].1.run.clone().unwrap();
    assert!(matches!(replay::run(&binary, &run), Replayed::Reached("netduino2")));
    let mut quiet = run.clone();
    quiet.steps.iter_mut().flat_map(|step| &mut step.inputs).for_each(|input| input.1 = 0);
    assert!(matches!(replay::run(&binary, &quiet), Replayed::Missed(_)));
    let mut short = run.clone();
    short.states.truncate(20);
    short.steps.truncate(20);
    assert!(!matches!(replay::run(&binary, &short), Replayed::Reached(_)));
    let mut elsewhere = Binary::clone(&binary);
    for failures in &mut elsewhere.program.failures {
        *failures = failures.iter().map(|at| at + 2).collect();
    }
    assert!(matches!(replay::run(&elsewhere, &run), Replayed::Missed(_)));
}

/// What words of the stack held before anybody wrote them is left out of a run that is one whatever it was, and of no other.
#[test]
fn what_the_stack_held_is_shown_where_it_matters() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for broken in [false, true] {
            let flags = [cpu, "-Os", "-DBROKEN"];
            let elf = programs::c("result", &flags[..2 + usize::from(broken)], folder.path());
            let model = load(&elf);
            let leftovers = model.cfa.inputs.iter().filter(|input| input.name.starts_with("stack"));
            assert!(leftovers.count() > 0, "{:?}", model.cfa.inputs);
            let judgement = judge(&model);
            let finding = judgement.findings.iter().find_map(|(_, finding)| match finding {
                Finding::Unsafe(broken) => Some(&**broken),
                _ => None,
            });
            let broken_run = finding.or(judgement.unconfirmed.first().map(|broken| &broken.1));
            let run = broken_run.and_then(|broken| broken.run.as_ref()).expect("there is a run");
            let given = run.steps.iter().flat_map(|step| &step.inputs);
            let names: Vec<&str> =
                given.map(|(id, _)| model.cfa.inputs[id.index()].name.as_str()).collect();
            assert!(names.contains(&"vouch_input_u8"), "{names:?}");
            let is_shown = names.iter().any(|name| name.starts_with("stack"));
            assert_eq!(is_shown, broken, "{}: {names:?}", elf.display());
            assert!(!names.iter().any(|name| name.starts_with("argument")), "{names:?}");
        }
    }
}

/// The image says that it was a program, which is not available.
#[test]
fn an_image_alone_is_not_enough() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-mcpu=cortex-m0", "-Os", "-DBROKEN"];
    let model = load(&programs::c("pump", &flags, folder.path()));
    let image = folder.path().join("pump.vimg");
    std::fs::write(&image, model.to_file()).unwrap();
    let judgement = judge(&load(&image));
    let reason = Some(&Reason::NotReplayed(Obstacle::NoProgram));
    assert_eq!((judgement.verdict(), judgement.reason()), (Verdict::Unknown, reason));
}
