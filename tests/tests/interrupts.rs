//! Handlers of interrupts that share statics with the step: what they do in between is found, and what they cannot
//! do is not.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::c::{COptions, Macro};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::judge::Question;
use vouch_host::pipeline;
use vouch_host::verdict::Verdict;
use vouch_tests::machine::programs;

const TARGETS: [&str; 3] =
    ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"];
/// The program with nothing in it but these functions.
fn mail(target: &str, level: &str, options: &ElfOptions, folder: &Path) -> PathBuf {
    let handlers = options.interrupts.iter().map(|handler| &handler.0);
    let all = options.entry.iter().chain(handlers).chain(&options.always);
    let keep: Vec<String> = all.map(|function| format!("-Clink-arg=-u{function}")).collect();
    let mut flags = vec![level];
    flags.extend(keep.iter().map(String::as_str));
    let file = options.entry.clone().unwrap_or_default();
    programs::rust_as("mail", &format!("{file}{level}"), target, &flags, folder)
}

fn options(entry: &str, handlers: &[(&str, u8)]) -> ElfOptions {
    let interrupts = handlers.iter().map(|(name, priority)| (name.to_string(), *priority));
    let interrupts = interrupts.collect();
    ElfOptions { entry: Some(entry.into()), interrupts, ..ElfOptions::default() }
}

fn verdict(elf: &Path, options: &ElfOptions) -> Verdict {
    checked(elf, &pipeline::Options { elf: options.clone(), ..pipeline::Options::default() })
}

fn checked(path: &Path, options: &pipeline::Options) -> Verdict {
    let model = pipeline::load(path, options).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::default(), threads: 1, memory: Memory::default() };
    check::check(&model, &request, by, &mut |_| {}).unwrap().judgement.verdict()
}

#[test]
fn what_a_handler_shares_changes_only_while_it_is_enabled() {
    let folder = tempfile::tempdir().unwrap();
    for target in TARGETS {
        for level in ["-Copt-level=z", "-Copt-level=3"] {
            let check = |entry: &str, handlers: &[(&str, u8)], expected: Verdict| {
                let always = match entry {
                    "mail_step" | "torn_step" => vec!["mail_holds".to_string()],
                    _ => vec![],
                };
                let options = ElfOptions { always, ..options(entry, handlers) };
                let elf = mail(target, level, &options, folder.path());
                let found = verdict(&elf, &options);
                assert_eq!(found, expected, "{target} {level} {entry} {handlers:?}");
            };
            check("mail_step", &[("mail_handler", 0)], Verdict::Safe);
            check("torn_step", &[("mail_handler", 0)], Verdict::Unsafe);
            check("count_step", &[("low_handler", 64), ("high_handler", 64)], Verdict::Safe);
            // On RISC-V a handler runs with interrupts disabled.
            let nested = if target.starts_with("thumb") { Verdict::Unsafe } else { Verdict::Safe };
            check("count_step", &[("low_handler", 64), ("high_handler", 32)], nested);
            check("moment_step", &[("wrong_handler", 0)], Verdict::Safe);
            check("early_step", &[("wrong_handler", 0)], Verdict::Unsafe);
            check("wait_step", &[("ready_handler", 0)], Verdict::Safe);
        }
    }
}

#[test]
fn a_handler_that_is_not_named_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let all = options("mail_step", &[("mail_handler", 0)]);
    let elf = mail(TARGETS[0], "-Copt-level=z", &all, folder.path());
    let options = pipeline::Options { elf: options("mail_step", &[]), ..Default::default() };
    let error = pipeline::load(&elf, &options).unwrap_err().to_string();
    assert!(error.contains("used outside of the step"), "{error}");
    assert!(error.contains("--interrupt FUNCTION"), "{error}");
}

/// The same program as C and as what the compiler makes of it: the verdicts are the same.
#[test]
fn c_and_its_machine_code_agree() {
    let folder = tempfile::tempdir().unwrap();
    let one: &[(&str, u8)] = &[("handler", 0)];
    let equal: &[(&str, u8)] = &[("handler", 64), ("urgent", 64)];
    let nested: &[(&str, u8)] = &[("handler", 64), ("urgent", 32)];
    let cases = [
        ("-DGUARD=1", one, Verdict::Safe),
        ("-DGUARD=2", one, Verdict::Safe),
        ("-DGUARD=0", one, Verdict::Unsafe),
        ("-DGUARD=1", equal, Verdict::Safe),
        ("-DGUARD=1", nested, Verdict::Unsafe),
    ];
    for (guard, handlers, expected) in cases {
        let options = options("step", handlers);
        let interrupts = options.interrupts.clone();
        let c = COptions {
            entry: "step".into(),
            repeat: true,
            macros: [guard.strip_prefix("-D").unwrap(), "vouch_fail=reach_error"]
                .map(|text| Macro::Define(text.into()))
                .to_vec(),
            interrupts,
            ..COptions::default()
        };
        let path = programs::source("shared.c");
        let c = pipeline::Options { c, ..pipeline::Options::default() };
        assert_eq!(checked(&path, &c), expected, "C {guard} {handlers:?}");
        for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
            for level in ["-O0", "-O2"] {
                let keep = "-Wl,-u,handler,-u,urgent";
                let mut flags = vec![cpu, level, guard, "-ffunction-sections"];
                flags.extend(["-Wl,--gc-sections", "-Wl,-u,handler"]);
                if handlers.len() > 1 {
                    flags.push(keep);
                }
                let elf = programs::c("shared", &flags, folder.path());
                assert_eq!(verdict(&elf, &options), expected, "{cpu} {level} {guard} {handlers:?}");
            }
        }
    }
}
