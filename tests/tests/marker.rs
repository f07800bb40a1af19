//! Firmware that says with markers what it is: nothing of that is flashed, and vouch reads it.
#![cfg(unix)]

use object::read::elf::{ElfFile32, ProgramHeader};
use object::{Endianness, elf};
use std::path::Path;
use std::process::Command;
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::elf::{ElfOptions, marker};
use vouch_host::ir::VarKind;
use vouch_host::judge::Question;
use vouch_host::pipeline::{self, Loaded};
use vouch_host::verdict::Verdict;
use vouch_tests::machine::programs;

const TARGETS: [&str; 3] =
    ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"];

fn load(path: &Path, elf: ElfOptions) -> Result<Loaded, String> {
    let options = pipeline::Options { elf, ..pipeline::Options::default() };
    pipeline::load(path, &options).map_err(|e| e.to_string())
}

fn verdict(model: &Loaded) -> Verdict {
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    check::check(model, &request, by, &mut |_| {}).unwrap().judgement.verdict()
}

/// What is flashed: addresses and bytes.
fn flashed(path: &Path) -> Vec<(u32, Vec<u8>)> {
    let bytes = std::fs::read(path).unwrap();
    let file = ElfFile32::<Endianness>::parse(&*bytes).unwrap();
    let endian = file.endian();
    let loads = file.elf_program_headers().iter().filter(|p| p.p_type(endian) == elf::PT_LOAD);
    let data = loads.map(|p| (p.p_paddr(endian), p.data(endian, &*bytes).unwrap().to_vec()));
    data.filter(|(_, bytes)| !bytes.is_empty()).collect()
}

#[test]
fn markers_take_no_flash() {
    for target in TARGETS {
        let size = |features: &str| -> usize {
            let all = flashed(&programs::marked(target, features, false));
            all.iter().map(|(_, bytes)| bytes.len()).sum()
        };
        assert_eq!(size(""), size("plain"), "{target}");
        // Not even with the properties linked to it.
        let mut whole = flashed(&programs::marked(target, "", true));
        let before = whole.len();
        whole.retain(|(at, _)| *at != 0x1e00_0000);
        assert_eq!(whole.len(), before - 1, "{target}");
        assert_eq!(whole, flashed(&programs::marked(target, "", false)), "{target}");
    }
}

#[test]
fn a_program_is_checked_by_its_markers() {
    for target in TARGETS {
        let model = load(&programs::marked(target, "", true), ElfOptions::default()).unwrap();
        let params: Vec<_> = model.cfa.params().map(|(_, v)| (v.name.clone(), v.kind)).collect();
        assert_eq!(params, [("LIMIT".into(), VarKind::Param { min: 2, max: 10 })], "{target}");
        let names: Vec<&str> = model.cfa.properties.iter().map(|p| p.name.as_str()).collect();
        assert!(names.contains(&"always marked::is_below_limit"), "{target}: {names:?}");
        assert!(model.cfa.inputs.iter().any(|i| i.name == "flow" && i.width == 8), "{target}");
        assert_eq!(verdict(&model), Verdict::Safe, "{target}");
        let fault = load(&programs::marked(target, "fault", true), ElfOptions::default()).unwrap();
        assert_eq!(verdict(&fault), Verdict::Unsafe, "{target}");
    }
}

/// The same without markers, by options: one says what the other does.
#[test]
fn markers_and_options_say_the_same() {
    let target = TARGETS[0];
    let whole = programs::marked(target, "", true);
    let options = ElfOptions {
        entry: Some("fill".into()),
        init: Some("start".into()),
        inputs: vec!["marked::PRESSURE".into()],
        interrupts: vec![("drain".into(), 0x40)],
        always: vec!["is_below_limit".into()],
    };
    let marked = load(&whole, ElfOptions::default()).unwrap();
    let both = load(&whole, options).unwrap();
    assert_eq!(both.cfa, marked.cfa);
    assert!(both.warnings.is_empty(), "{:?}", both.warnings);
}

#[test]
fn options_win_and_a_difference_is_told() {
    let whole = programs::marked(TARGETS[1], "", true);
    let interrupts = vec![("drain".into(), 0x20)];
    let entry = Some("fill".into());
    let twice = programs::marked(TARGETS[1], "twice", true);
    let other = load(&twice, ElfOptions { entry, ..ElfOptions::default() }).unwrap();
    let warnings: Vec<_> = other.warnings.iter().map(|w| w.message.clone()).collect();
    assert!(
        warnings.iter().any(|w| w.contains("--entry fill") && w.contains("marked::fill_again")),
        "{warnings:?}"
    );
    let other = load(&whole, ElfOptions { interrupts, ..ElfOptions::default() }).unwrap();
    let warnings: Vec<_> = other.warnings.iter().map(|w| w.message.clone()).collect();
    assert!(
        warnings.iter().any(|w| w.contains("drain:32") && w.contains("priority is 64")),
        "{warnings:?}"
    );
}

#[test]
fn what_markers_cannot_say_is_an_error_with_a_way_out() {
    let refused = |path: &Path, parts: &[&str]| {
        let error = load(path, ElfOptions::default()).unwrap_err();
        for part in parts {
            assert!(error.contains(part), "{part}: {error}");
        }
    };
    let target = TARGETS[0];
    refused(&programs::marked(target, "", false), &["marked::is_below_limit", "cargo vouch"]);
    let twice = programs::marked(target, "twice", true);
    refused(&twice, &["marked::fill`", "marked::fill_again", "--entry fill"]);
    let written = programs::marked(target, "written", true);
    refused(&written, &["`LIMIT` is marked as a parameter", "writes it"]);
    // Another version.
    let mut bytes = std::fs::read(programs::marked(target, "", true)).unwrap();
    let record = [b"vouch".as_slice(), &[1]].concat();
    let at = bytes.windows(record.len()).position(|w| w == record).unwrap();
    bytes[at + 5] = 9;
    let folder = tempfile::tempdir().unwrap();
    let other = folder.path().join("other.elf");
    std::fs::write(&other, bytes).unwrap();
    refused(&other, &["markers of version 9", "vouch-marker"]);
}

/// Every field of a record that names something is looked at: none that is damaged makes a program safe that is not.
#[test]
fn damaged_markers_are_read_or_refused() {
    let path = programs::marked(TARGETS[0], "fault", true);
    let bytes = std::fs::read(&path).unwrap();
    let file = ElfFile32::<Endianness>::parse(&*bytes).unwrap();
    use object::{Object, ObjectSection};
    let section = file.section_by_name(marker::SECTIONS[0]).unwrap().data().unwrap().to_vec();
    for at in 0..section.len() {
        let mut damaged = section.clone();
        damaged[at] ^= 0x11;
        // It does not panic, and what it says is bounded by what is there.
        if let Ok(markers) = marker::read(&damaged) {
            assert!(markers.len() <= 7);
        }
    }
}

/// On the host marked firmware is ordinary Rust: its own tests call its property.
#[test]
fn marked_firmware_has_tests_of_its_own() {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(tests.join("marked")).args(["test", "--quiet", "--offline", "--locked"]);
    let output =
        cargo.arg("--target-dir").arg(tests.join("../target/marked/host")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// The same markers in C.
#[test]
fn c_has_the_same_markers() {
    let folder = tempfile::tempdir().unwrap();
    for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
        for level in ["-O0", "-Os", "-O2"] {
            let build = |flag: &str, whole: bool| {
                programs::c_marked("tank", &[cpu, level, flag], whole, folder.path())
            };
            let model = load(&build("-DGOOD", true), ElfOptions::default()).unwrap();
            let context = format!("{cpu} {level}");
            let params: Vec<_> =
                model.cfa.params().map(|(_, v)| (v.name.clone(), v.kind)).collect();
            assert_eq!(params, [("limit".into(), VarKind::Param { min: 2, max: 10 })], "{context}");
            assert_eq!(verdict(&model), Verdict::Safe, "{context}");
            let broken = load(&build("-DBROKEN", true), ElfOptions::default()).unwrap();
            assert_eq!(verdict(&broken), Verdict::Unsafe, "{context}");
            // Nothing of it is flashed.
            let size = |flag: &str| -> usize {
                flashed(&build(flag, false)).iter().map(|(_, bytes)| bytes.len()).sum()
            };
            assert_eq!(size("-DGOOD"), size("-DPLAIN"), "{context}");
        }
    }
}
