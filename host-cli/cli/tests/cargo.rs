//! `cargo vouch`, on firmware in a folder of its own.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const TARGET: &str = "thumbv7m-none-eabi";

/// A copy of the firmware with markers.
fn firmware(folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap();
    let (from, to) = (root.join("tests/marked"), folder.join("marked"));
    for file in [".cargo/config.toml", "Cargo.lock", "link.x", "src/main.rs", "src/port.rs"] {
        std::fs::create_dir_all(to.join(file).parent().unwrap()).unwrap();
        std::fs::copy(from.join(file), to.join(file)).unwrap();
    }
    let manifest = std::fs::read_to_string(from.join("Cargo.toml")).unwrap();
    let manifest = manifest.replace("../../marker", root.join("marker").to_str().unwrap());
    std::fs::write(to.join("Cargo.toml"), manifest).unwrap();
    to
}

fn vouch(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-vouch"));
    // As cargo calls it.
    command.current_dir(folder).arg("vouch").args(args).env("CARGO_TERM_COLOR", "never");
    command.env_remove("CARGO_TARGET_DIR").env_remove("RUSTFLAGS").output().unwrap()
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_crate_is_built_checked_and_packaged() {
    let folder = tempfile::tempdir().unwrap();
    let crate_ = firmware(folder.path());
    let common = ["--release", "--offline", "--target", TARGET];
    let with = |first: &[&str], last: &[&str]| vouch(&crate_, &[first, &common, last].concat());

    let both = with(&[], &[]);
    assert_eq!(both.status.code(), Some(0), "{}{}", out(&both), err(&both));
    assert!(out(&both).starts_with("marked: safe"), "{}", out(&both));
    let made = crate_.join("target/vouch").join(TARGET).join("release");
    assert!(made.join("marked.vimg").is_file());

    // The file to be flashed holds the property, and does not load it.
    let elf = std::fs::read(made.join("marked.elf")).unwrap();
    let name = b".vouch.always\0";
    assert!(elf.windows(name.len()).any(|part| part == name));
    let word = |at: usize| u32::from_le_bytes(elf[at..at + 4].try_into().unwrap());
    let (first, count) = (word(28) as usize, usize::from(elf[44]));
    let segments: Vec<(u32, u32)> =
        (0..count).map(|i| first + 32 * i).map(|at| (word(at), word(at + 8))).collect();
    assert!(segments.contains(&(0, 0x1e00_0000)), "{segments:x?}");
    assert!(!segments.contains(&(1, 0x1e00_0000)), "{segments:x?}");

    // Again: nothing is checked, and that is said.
    assert!(!err(&both).contains("cached"), "{}", err(&both));
    let again = with(&[], &[]);
    assert_eq!(again.status.code(), Some(0));
    assert!(err(&again).contains("cached"), "{}", err(&again));
    assert!(out(&again).contains("marked.vimg (cached)"), "{}", out(&again));
    let json = ["--", "--json", "--quiet"];
    let first = with(&["check"], &json);
    let second = with(&["check"], &json);
    let parsed =
        |output: &Output| -> serde_json::Value { serde_json::from_str(&out(output)).unwrap() };
    assert_eq!(parsed(&first).get("cached"), None);
    assert_eq!(parsed(&second)["cached"], true);
    let fresh = with(&["check", "--no-cache"], &json);
    assert_eq!(parsed(&fresh).get("cached"), None);

    // Other code is checked, and what it breaks has the user's names.
    let fault = with(&["check", "--features", "fault"], &[]);
    assert_eq!(fault.status.code(), Some(1), "{}", err(&fault));
    assert!(out(&fault).contains("is_below_limit"), "{}", out(&fault));
    assert!(out(&fault).contains("LIMIT = "), "{}", out(&fault));
    // A parameter out of its range is none.
    let bound = with(&["check"], &["--", "--bind", "LIMIT=11"]);
    assert_eq!(bound.status.code(), Some(2), "{}", out(&bound));
    let bound = with(&["check"], &["--", "--bind", "LIMIT=7"]);
    assert_eq!(bound.status.code(), Some(0), "{}", err(&bound));
}

#[test]
fn what_cannot_be_built_or_chosen_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let crate_ = firmware(folder.path());
    let other = vouch(&crate_, &["--offline", "--bin", "pump"]);
    assert_eq!(other.status.code(), Some(2));
    assert!(err(&other).contains("no program `pump`"), "{}", err(&other));
    // A program of this machine is not firmware.
    std::fs::create_dir_all(crate_.join("src/bin")).unwrap();
    std::fs::write(crate_.join("src/bin/host.rs"), "fn main() {}\n").unwrap();
    let several = vouch(&crate_, &["--offline"]);
    assert_eq!(several.status.code(), Some(2));
    assert!(
        err(&several).contains("`host`") && err(&several).contains("--bin"),
        "{}",
        err(&several)
    );
    std::fs::write(crate_.join("src/bin/host.rs"), "fn main( {}\n").unwrap();
    let wrong = vouch(&crate_, &["--offline", "--bin", "host"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", err(&wrong));
    assert!(
        err(&wrong).contains("--bin host") && err(&wrong).contains("failed"),
        "{}",
        err(&wrong)
    );
    assert!(err(&wrong).contains("help: see above"), "{}", err(&wrong));
    // Nor is a folder without a crate.
    let nothing = vouch(folder.path(), &["--offline"]);
    assert_eq!(nothing.status.code(), Some(2), "{}", err(&nothing));
    assert!(err(&nothing).contains("--manifest-path"), "{}", err(&nothing));
}

/// What is not cargo does not print what cargo prints.
#[test]
fn another_program_in_place_of_cargo_is_noticed() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let fake = |text: &str| {
        let path = folder.path().join("fake");
        std::fs::write(&path, format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-vouch"));
        let output = command.current_dir(folder.path()).env("CARGO", path).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
        err(&output)
    };
    let said = fake("echo hello");
    assert!(said.contains("does not print JSON") && said.contains("CARGO"), "{said}");
    let said = fake("echo '{}'");
    assert!(said.contains("no program"), "{said}");
    let package = r#"{"name": "p", "id": "1", "targets": [{"name": "p", "kind": ["bin"]}]}"#;
    let metadata = format!(
        r#"{{"packages": [{package}], "workspace_members": ["1"], "target_directory": "{}"}}"#,
        folder.path().display()
    );
    let said = fake(&format!("echo '{metadata}'"));
    assert!(said.contains("does not tell where the program `p` is"), "{said}");
    let said = fake(&format!("[ $1 = metadata ] && echo '{metadata}' || kill -9 $$"));
    assert!(said.contains("signal: 9") && said.contains("help: "), "{said}");
}
