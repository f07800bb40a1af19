//! Logs recorded from devices: firmware in C on an emulated board logs what it does; that is a run of the model, and with
//! one altered value it is none from that line on.
//!
//! Seven of them are the C examples themselves, as a compiler for the processor understands them; three are written after
//! a `.vch` model. Which altered values cannot be is found out by trying all inputs.
#![cfg(unix)]

use crate::oracle::first_impossible;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use vouch_host::conform::log::{self, Column, Log};
use vouch_host::conform::{Conformance, conform};
use vouch_host::engines::Setup;
use vouch_host::engines::clock::Clock;
use vouch_host::frontend::machines::Machines;
use vouch_host::frontend::{self, Language, Options, Source};
use vouch_host::walk::Random;

/// A device (its firmware in `recorded/`), its model, and for models in C what is called: before, and again and again.
type Device = (&'static str, &'static str, Option<&'static str>, &'static [&'static str]);

const DEVICES: [Device; 10] = [
    ("button-debounce", "c/button-debounce.c", None, &["tick"]),
    ("charger", "c/charger.c", None, &["step"]),
    ("i2c-master", "c/i2c-master.c", None, &["poll"]),
    ("message-queue", "c/message-queue.c", None, &["step"]),
    ("shared-bus", "c/shared-bus.c", Some("setup"), &["display", "memory", "watch"]),
    ("uart-ring", "c/uart-ring.c", None, &["step"]),
    ("watchdog-boot", "c/watchdog-boot.c", None, &["boot"]),
    ("motor-drive", "motor-drive.vch", None, &[]),
    ("precharge", "precharge.vch", None, &[]),
    ("uart-ring-vch", "uart-ring.vch", None, &[]),
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

fn model((_, model, init, called): &Device) -> Machines {
    let path = root().join("examples").join(model);
    let text = std::fs::read_to_string(&path).unwrap();
    let source = Source { path: path.display().to_string(), text };
    let mut options = Options::default();
    let Some((entry, tasks)) = called.split_first() else {
        return frontend::machines(&source, Language::Vch, &options).unwrap().unwrap();
    };
    options.c.entry = (*entry).into();
    options.c.repeat = true;
    options.c.tasks = tasks.iter().map(|t| (*t).into()).collect();
    options.c.init = init.map(Into::into);
    let compiled = frontend::compile(&source, Language::C, &options).unwrap();
    Machines::of_automaton(&compiled.cfa, Some(Language::C))
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// What a device says on an emulated LM3S6965.
fn record(name: &str, folder: &Path) -> String {
    let elf = folder.join(format!("{name}.elf"));
    let board = root().join("libvouch/example");
    let own = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/recorded");
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.args([
        "-mcpu=cortex-m3",
        "-mthumb",
        "-Os",
        "-Wall",
        "-Werror",
        "-ffreestanding",
        "-nostdlib",
    ]);
    gcc.arg("-I").arg(&board).arg("-I").arg(root().join("host-cli/frontends/src/c/include"));
    gcc.arg("-T").arg(board.join("link.ld"));
    gcc.arg(own.join(format!("{name}.c"))).arg(board.join("board.c"));
    run(gcc.args(["-lgcc", "-o"]).arg(&elf));
    let mut qemu = Command::new("timeout");
    qemu.args([
        "60",
        "qemu-system-arm",
        "-M",
        "lm3s6965evb",
        "-display",
        "none",
        "-monitor",
        "none",
    ]);
    qemu.args(["-semihosting", "-serial", "stdio", "-kernel"]).arg(elf).stdin(Stdio::null());
    run(&mut qemu)
}

/// The line of the file that cannot be, if there is one.
fn refused(moves: &Machines, log: &Log) -> Option<usize> {
    let mut watch = |_: &_| true;
    let clock = Clock::new(&Setup::default(), &mut watch);
    match conform(moves, log, 1, &clock, &mut |_| {}).unwrap() {
        Conformance::Yes(_) => None,
        Conformance::No { row, .. } => Some(log.rows[row].line),
    }
}

/// A log in which one value of a variable is another one, so that this line cannot be; and the line.
fn altered(moves: &Machines, log: &Log, random: &mut Random) -> (Log, usize) {
    for _ in 0..200 {
        let (row, column) = (1 + random.below(log.rows.len() - 1), random.below(log.columns.len()));
        let Column::Var(id, _) = &log.columns[column] else { continue };
        let width = moves.cfa.vars[id.index()].width as usize;
        let mut altered = log.clone();
        let value = altered.rows[row].values[column].as_mut().unwrap();
        *value ^= 1 << random.below(width);
        if first_impossible(moves, &altered, 1) == Some(row) {
            let line = altered.rows[row].line;
            return (altered, line);
        }
    }
    panic!("no value was found that cannot be");
}

#[test]
fn what_devices_log_conforms_and_with_an_altered_value_it_does_not() {
    let folder = tempfile::tempdir().unwrap();
    for (number, device) in DEVICES.iter().enumerate() {
        let (name, moves) = (device.0, model(device));
        let text = record(name, folder.path());
        let log = log::read(&moves, &text, &["line".to_string()])
            .unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(log.rows.len(), 60, "{name}");
        assert_eq!(first_impossible(&moves, &log, 1), None, "{name}\n{text}");
        assert_eq!(refused(&moves, &log), None, "{name}\n{text}");
        let (altered, line) = altered(&moves, &log, &mut Random::new(number as u64));
        assert_eq!(refused(&moves, &altered), Some(line), "{name}\n{altered:?}");
    }
}
