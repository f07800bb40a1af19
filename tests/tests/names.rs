//! Programs in machine code as their source spells them: names, types, lines, states.
#![cfg(unix)]

use std::collections::BTreeMap;
use std::path::Path;
use vouch_host::frontend::elf::{self, ElfOptions, Program};
use vouch_host::ir::{Cfa, Type};
use vouch_host::simplify::states;
use vouch_tests::machine::programs;
use vouch_tests::rng::Rng;

fn options() -> ElfOptions {
    ElfOptions { entry: Some("step".into()), ..ElfOptions::default() }
}

fn lift(elf: &Path) -> Program {
    let bytes = std::fs::read(elf).unwrap();
    elf::lift(&bytes, "names", &options(), true).unwrap_or_else(|e| panic!("{}", e[0].message))
}

/// Variables and inputs, with their types.
fn names(cfa: &Cfa) -> BTreeMap<String, Type> {
    let vars = cfa.vars.iter().map(|v| (v.name.clone(), v.ty.clone()));
    vars.chain(cfa.inputs.iter().map(|i| (i.name.clone(), i.ty.clone()))).collect()
}

fn has(names: &BTreeMap<String, Type>, name: &str, ty: &Type) {
    assert_eq!(names.get(name), Some(ty), "{name} of {names:#?}");
}

#[test]
fn statics_of_c() {
    let folder = tempfile::tempdir().unwrap();
    let mode = ["OFF", "LOW", "HIGH"].map(String::from);
    let mode: Vec<_> = [0, 5, 9].into_iter().zip(mode).collect();
    for level in ["-O0", "-Os"] {
        let flags = ["-mcpu=cortex-m3", level, "-fno-short-enums"];
        let program = lift(&programs::c("names", &flags, folder.path()));
        let names = names(&program.cfa);
        let mut all = mode.clone();
        all.push((0xffff_ffff, "ERROR".into()));
        has(&names, "unit.mode", &Type::Enum(all));
        has(&names, "unit.sensors[1].value", &Type::Signed);
        has(&names, "unit.sensors[0].valid", &Type::Bool);
        has(&names, "unit.raw.word", &Type::Unsigned);
        has(&names, "offset", &Type::Signed);
        has(&names, "calls", &Type::Unsigned);
        has(&names, "event", &Type::Unsigned);
        has(&names, "delta", &Type::Signed);
        has(&names, "vouch_input_i8", &Type::Signed);
        assert!(names.keys().any(|n| n.starts_with("unit.ready")), "{names:?}");
    }
}

#[test]
fn statics_of_rust() {
    let folder = tempfile::tempdir().unwrap();
    for target in ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"] {
        let program = lift(&programs::rust("names", target, &["-Copt-level=s"], folder.path()));
        let names = names(&program.cfa);
        let enumeration = |values: &[&str]| Type::names(values.iter().map(|v| v.to_string()));
        has(&names, "PUMP.state", &enumeration(&["Idle", "Fast", "Slow"]));
        has(&names, "PUMP.now", &Type::Unsigned);
        has(&names, "PUMP.door", &enumeration(&["false", "true", "None"]));
        has(&names, "PUMP.alarm", &enumeration(&["None", "Some"]));
        has(&names, "PUMP.alarm.Some", &Type::Unsigned);
        has(&names, "PUMP.log[2]", &Type::Unsigned);
        has(&names, "COUNT", &Type::Unsigned);
        has(&names, "event", &Type::Unsigned);
        has(&names, "level", &Type::Signed);
        has(&names, "vouch_input_door_bool", &Type::Bool);
        assert!(names.keys().any(|n| n.contains("Fast.started")), "{names:?}");
        assert!(names.keys().any(|n| n.contains("Slow.retries")), "{names:?}");
        let step = program.step.unwrap();
        let step = &program.cfa.locations[step.index()].name;
        assert!(step.starts_with("step at names.rs:"), "{step}");
        assert_eq!(program.about.iter().filter(|(heading, _)| *heading == "overflow").count(), 0);
    }
}

/// A program without overflow checks says so, if it is in Rust.
#[test]
fn arithmetic_that_wraps() {
    let folder = tempfile::tempdir().unwrap();
    let flags = ["-Copt-level=s", "-Coverflow-checks=off"];
    let program = lift(&programs::rust("names", "thumbv7m-none-eabi", &flags, folder.path()));
    assert!(program.about.iter().any(|(heading, _)| *heading == "overflow"), "{:?}", program.about);
    assert_eq!(program.warnings[0].message, "arithmetic in the step wraps");
    let program = lift(&programs::c("names", &["-mcpu=cortex-m3", "-Os"], folder.path()));
    assert!(program.about.iter().all(|(heading, _)| *heading != "overflow"), "{:?}", program.about);
    assert!(program.warnings.is_empty(), "{:?}", program.warnings);
}

/// The automaton without what debug information is for.
fn bare(program: &Program) -> Cfa {
    let mut cfa = program.cfa.clone();
    for var in &mut cfa.vars {
        (var.name, var.ty) = (String::new(), Type::Unsigned);
    }
    for input in &mut cfa.inputs {
        (input.name, input.ty) = (String::new(), Type::Unsigned);
    }
    cfa.locations.iter_mut().for_each(|location| location.name.clear());
    cfa.properties.iter_mut().for_each(|property| property.name.clear());
    cfa
}

/// With damaged debug information the automaton is the same but for names, and for the values that arguments can have. Lines are
/// left alone, since properties are told apart by them.
#[test]
fn damaged_debug_information_changes_names_alone() {
    let folder = tempfile::tempdir().unwrap();
    let elf = programs::rust("names", "thumbv7m-none-eabi", &["-Copt-level=s"], folder.path());
    let bytes = std::fs::read(&elf).unwrap();
    let whole = bare(&lift(&elf));
    let sections = sections(&bytes, &[".debug_info", ".debug_abbrev", ".debug_str"]);
    assert_eq!(sections.len(), 3);
    let widths = |cfa: &Cfa| cfa.inputs.iter().map(|input| input.width).collect::<Vec<_>>();
    let (mut rng, mut compared) = (Rng::new(7), 0);
    for round in 0..60 {
        let mut damaged = bytes.clone();
        let (start, length) = sections[round % sections.len()];
        for _ in 0..1 + rng.below(20) {
            damaged[start + rng.below(length)] = rng.bits() as u8;
        }
        let program = elf::lift(&damaged, "names", &options(), true);
        let program = program.unwrap_or_else(|e| panic!("round {round}: {}", e[0].message));
        // Which failures are one depends on whether their lines are known.
        let is_known = program.cfa.properties.len() == whole.properties.len();
        if is_known && widths(&program.cfa) == widths(&whole) {
            compared += 1;
            assert_eq!(bare(&program).edges, whole.edges, "round {round}");
            assert_eq!(bare(&program).pool, whole.pool, "round {round}");
        }
    }
    assert!(compared > 30, "{compared} were compared");
}

/// Where sections of these names are in a file, and how long they are.
fn sections(bytes: &[u8], names: &[&str]) -> Vec<(usize, usize)> {
    let word = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let half = |at: usize| usize::from(u16::from_le_bytes([bytes[at], bytes[at + 1]]));
    let (table, size, count, strings) = (word(32), half(46), half(48), half(50));
    let header = |number: usize| table + size * number;
    let text = word(header(strings) + 16);
    let is_wanted = |at: usize| {
        let name = &bytes[text + word(at)..];
        let name = &name[..name.iter().position(|b| *b == 0).unwrap()];
        names.iter().any(|wanted| wanted.as_bytes() == name)
    };
    let all = (0..count).map(header).filter(|at| is_wanted(*at));
    all.map(|at| (word(at + 16), word(at + 20))).collect()
}

/// The machine that a program is: the states of its source, and how one leads to another.
#[test]
fn states_of_a_program() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        let elf = programs::c("pump", &[cpu, "-Os"], folder.path());
        let mut cfa = lift(&elf).cfa;
        let machine = states::machine(&mut cfa).expect("the pump has states");
        let var = &cfa.vars[machine.var.index()];
        assert_eq!(var.name, "pump.state");
        let name = |state: usize| {
            let (at, value) = machine.states[state];
            let value = value.and_then(|value| var.ty.name(value));
            value.map_or_else(|| cfa.locations[at.index()].name.clone(), str::to_owned)
        };
        let leads = |from: &str, to: &str| {
            machine.transitions.iter().any(|(a, b, _)| name(*a) == from && name(*b) == to)
        };
        for (from, to) in [
            ("init", "IDLE"),
            ("IDLE", "PRIME"),
            ("PRIME", "RUN"),
            ("RUN", "DRAIN"),
            ("RUN", "FAULT"),
            ("DRAIN", "IDLE"),
            ("FAULT", "IDLE"),
            ("PRIME", "PRIME"),
        ] {
            assert!(leads(from, to), "{from} -> {to}, {cpu}");
        }
        for (from, to) in [("IDLE", "RUN"), ("FAULT", "RUN"), ("DRAIN", "PRIME"), ("PRIME", "IDLE")]
        {
            assert!(!leads(from, to), "{from} -> {to}, {cpu}");
        }
    }
}
