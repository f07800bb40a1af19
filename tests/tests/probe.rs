//! A device on a probe, end to end: `vouch` starts `probe-rs`, which here is a script that starts QEMU
//! with its debugger's stub. The firmware is one whose port is a pair of buffers in memory.
//!
//! Without `VOUCH_BIN` and `VOUCH_FIRMWARE_DIR` there is nothing to test.
#![cfg(unix)]

use serde_json::Value;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const FIRMWARE: &str = "vouch-lm3s6965evb-rtt.elf";

fn variables() -> Option<(PathBuf, PathBuf)> {
    let variable = |name| std::env::var_os(name).map(PathBuf::from);
    let both = variable("VOUCH_BIN").zip(variable("VOUCH_FIRMWARE_DIR"));
    if both.is_none() {
        eprintln!("VOUCH_BIN or VOUCH_FIRMWARE_DIR is not set: not tested");
    }
    both
}

fn example(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(name)
}

/// A `probe-rs` in a folder of its own, which writes down how it was called.
fn fake(script: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("probe-rs");
    let log = folder.path().join("log").display().to_string();
    std::fs::write(&file, format!("#!/bin/sh\necho \"$@\" >> {log}\n{script}\n")).unwrap();
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// One that has QEMU play the debug server: its address is the last argument.
fn emulating(firmware: &Path) -> tempfile::TempDir {
    fake(&format!(
        "[ \"$1\" = gdb ] || exit 0\nfor address; do :; done\n\
         exec qemu-system-arm -M lm3s6965evb -display none -monitor none -serial null \
         -kernel {} -gdb tcp:$address",
        firmware.display()
    ))
}

fn vouch(program: &Path, folder: &Path, args: &[&str]) -> Output {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = [folder.to_path_buf()].into_iter().chain(std::env::split_paths(&path));
    let path = std::env::join_paths(folders).unwrap();
    Command::new(program).args(args).env("PATH", path).output().unwrap()
}

#[test]
fn a_device_on_a_probe_proves_and_refutes() {
    let Some((program, folder)) = variables() else { return };
    let firmware = folder.join(FIRMWARE);
    let probe = emulating(&firmware);
    let firmware = firmware.display().to_string();
    for (model, code) in [("precharge.vch", 0), ("precharge-broken.vch", 1)] {
        let model = example(model).display().to_string();
        let to = ["--target", "probe:1366:1015", "--chip", "LM3S6965", "--firmware", &firmware];
        let args = [&["run", &model, "--json", "--program"][..], &to].concat();
        let output = vouch(&program, probe.path(), &args);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        let found: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(found["validated"], true, "{found}");
        assert_eq!(found["device"]["board"], "lm3s6965evb");
    }
    let log = std::fs::read_to_string(probe.path().join("log")).unwrap();
    let options = "--non-interactive --chip LM3S6965 --probe 1366:1015";
    let calls: Vec<&str> = log.lines().collect();
    assert_eq!(calls[0], format!("download {options} {firmware}"));
    assert_eq!(calls[1], format!("reset {options}"));
    let serve = format!("gdb {options} --gdb-connection-string 127.0.0.1:");
    assert!(calls[2].starts_with(&serve), "{log}");
}

#[test]
fn what_goes_wrong_with_a_probe_is_told() {
    let Some((program, folder)) = variables() else { return };
    let firmware = folder.join(FIRMWARE).display().to_string();
    let model = example("precharge.vch").display().to_string();
    let run = |probe: &Path, more: &[&str]| {
        let args = [&["run", &model, "--target", "probe"][..], more].concat();
        let output = vouch(&program, probe, &args);
        assert_eq!(output.status.code(), Some(4));
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    let whole = ["--chip", "LM3S6965", "--firmware", &firmware];
    // The chip is not named; the firmware has no link for probes.
    let idle = fake("exit 0");
    assert!(run(idle.path(), &[]).contains("--chip nRF52840_xxAA"));
    let other = folder.join("vouch-lm3s6965evb.elf").display().to_string();
    let said = run(idle.path(), &["--chip", "LM3S6965", "--firmware", &other]);
    assert!(said.contains("no link for probes"), "{said}");
    // The program ends at once, and says why; it cannot write the firmware.
    let absent = fake("echo 'Error: No connected probes were found.' >&2; exit 1");
    let said = run(absent.path(), &whole);
    assert!(said.contains("No connected probes"), "{said}");
    let said = run(absent.path(), &[&whole[..], &["--program"]].concat());
    assert!(said.contains("`probe-rs download` failed") && said.contains("No connected"), "{said}");
}
