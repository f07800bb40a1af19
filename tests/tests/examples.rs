//! Every example, as `examples/expected.tsv` says: on the host, on the simulated device, and on the
//! emulated boards.
//!
//! The program itself is run, so that all that a user meets is in between. `cargo xtask test` says in
//! `VOUCH_BIN` where it is, and in `VOUCH_FIRMWARE_DIR` where the firmware is; without them there is
//! nothing to test. With `VOUCH_ALL_EXAMPLES` (`cargo xtask examples`) the boards get all models
//! that fit, however long they take.

use serde_json::Value;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use vouch_host::pipeline;

/// A row of the table.
struct Row {
    property: String,
    verdict: String,
    length: Option<u64>,
    /// Whether a device with 64 KiB of RAM decides it.
    small: bool,
}

/// What a board of 64 KiB leaves for model and proof.
const SMALL: &str = "55K";
/// Models whose proof takes fewer queries than this are quick on an emulated board.
const QUICK: u64 = 5_000;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples")
}

/// The table, by file.
fn expected() -> BTreeMap<String, Vec<Row>> {
    let text = std::fs::read_to_string(folder().join("expected.tsv")).unwrap();
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("file\tproperty\tverdict\tlength\tsmall"));
    let mut files: BTreeMap<String, Vec<Row>> = BTreeMap::new();
    for line in lines {
        let fields: Vec<&str> = line.split('\t').collect();
        let [file, property, verdict, length, small] = fields[..] else { panic!("{line}") };
        // Unknown is what holds only as long as a broken property does.
        let verdicts = ["safe", "unsafe", "unknown"];
        assert!(verdicts.contains(&verdict) && ["", "yes"].contains(&small), "{line}");
        assert_eq!(verdict == "unsafe", !length.is_empty(), "{line}");
        files.entry(file.into()).or_default().push(Row {
            property: property.into(),
            verdict: verdict.into(),
            length: length.parse().ok(),
            small: small == "yes",
        });
    }
    files
}

/// What the program says about a model; `None` if there is no program.
fn run(args: &[&str]) -> Option<Value> {
    let Some(program) = std::env::var_os("VOUCH_BIN") else {
        eprintln!("VOUCH_BIN is not set: not tested");
        return None;
    };
    let output = Command::new(program).args(args).arg("--json").output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    Some(serde_json::from_str(&text).unwrap_or_else(|e| panic!("{args:?}: {e}: {text}")))
}

fn path(file: &str) -> String {
    folder().join(file).display().to_string()
}

/// Holds an outcome against the table. `decided` says whether a row must have a verdict; without one
/// it may only be out of memory.
fn compare(file: &str, rows: &[Row], outcome: &Value, decided: impl Fn(&Row) -> bool) {
    let properties =
        outcome["properties"].as_array().unwrap_or_else(|| panic!("{file}: {outcome}"));
    let names: Vec<&str> = properties.iter().filter_map(|p| p["name"].as_str()).collect();
    let known: Vec<&str> = rows.iter().map(|r| r.property.as_str()).collect();
    assert_eq!(names, known, "the properties of {file} are not those of expected.tsv");
    for (row, found) in rows.iter().zip(properties) {
        let place = format!("{} of {file}", row.property);
        match found["verdict"].as_str() {
            Some("unknown") if row.verdict == "unknown" => {
                let reason = found["reason"].as_str().unwrap_or_default();
                assert!(reason.starts_with("safe as long as") || !decided(row), "{place}: {found}");
            }
            Some("unknown") => assert!(!decided(row), "{place}: {found}"),
            verdict => assert_eq!(verdict, Some(row.verdict.as_str()), "{place}"),
        }
    }
    match outcome["verdict"].as_str() {
        Some("unknown") => assert_eq!(outcome["reason"], "capacity", "{file}: {outcome}"),
        _ => assert_eq!(outcome["validated"], true, "{file}"),
    }
}

#[test]
fn every_file_is_in_the_table() {
    let mut files: Vec<String> = std::fs::read_dir(folder())
        .unwrap()
        .map(|f| f.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|f| f.ends_with(".vch"))
        .collect();
    files.sort();
    assert_eq!(expected().into_keys().collect::<Vec<_>>(), files);
}

/// The sizes of images in `examples/README.md` are those that the compiler makes. `VOUCH_BLESS=1` writes
/// them anew.
#[test]
fn sizes_in_the_readme() {
    let place = folder().join("README.md");
    let text = std::fs::read_to_string(&place).unwrap();
    let mut rows = 0;
    let fresh = text.lines().map(|line| {
        let mut cells: Vec<String> = line.split('|').map(|c| c.trim().to_owned()).collect();
        let file = line.strip_prefix("| [").and_then(|l| l.split(['(', ')']).nth(1));
        let Some(file) = file.filter(|f| f.ends_with(".vch")) else { return line.to_owned() };
        let model = pipeline::load(&folder().join(file), &Default::default()).unwrap();
        let image = format!("{:.1}", model.image.len() as f64 / 1024.0);
        match cells.len() {
            // Proved: model, what, state bits, locations, properties, image, peak, small.
            10 => {
                cells[3] = model.map.bits.len().to_string();
                cells[4] = model.map.locations.len().to_string();
                cells[5] = model.cfa.properties.len().to_string();
                cells[6] = image;
            }
            // With a bug: model, bug, breaks, length, image, peak, small.
            9 => cells[5] = image,
            _ => panic!("{line}"),
        }
        rows += 1;
        cells.join(" | ").trim().to_owned()
    });
    let fresh: Vec<String> = fresh.collect();
    let fresh = fresh.join("\n") + "\n";
    if std::env::var_os("VOUCH_BLESS").is_some() {
        std::fs::write(&place, &fresh).unwrap();
    }
    assert_eq!(rows, expected().len());
    assert_eq!(std::fs::read_to_string(&place).unwrap(), fresh);
}

/// Puts the length of a run into the table, and into `examples/README.md`.
fn take_length(file: &str, row: &mut Row, length: u64) {
    let replace = |name: &str, change: &dyn Fn(&str) -> String| {
        let place = folder().join(name);
        let text = std::fs::read_to_string(&place).unwrap();
        let lines: Vec<String> = text.lines().map(change).collect();
        std::fs::write(&place, lines.join("\n") + "\n").unwrap();
    };
    replace("expected.tsv", &|line| {
        let mut cells: Vec<&str> = line.split('\t').collect();
        let length = length.to_string();
        if cells[..2] == [file, &row.property] {
            cells[3] = &length;
        }
        cells.join("\t")
    });
    replace("README.md", &|line| {
        let mut cells: Vec<&str> = line.split('|').collect();
        let length = format!(" {length} ");
        if cells.len() == 9 && line.contains(&format!("({file})")) {
            cells[4] = &length;
        }
        cells.join("|")
    });
    row.length = Some(length);
}

/// The length of a broken property's run in `examples/README.md`.
fn length_in_the_readme(file: &str) -> Option<u64> {
    let text = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let line = text.lines().find(|l| l.contains(&format!("({file})")))?;
    let cells: Vec<&str> = line.split('|').map(str::trim).collect();
    if cells.len() == 9 { cells[4].parse().ok() } else { None }
}

#[test]
fn on_the_host() {
    for (file, mut rows) in expected() {
        let Some(outcome) = run(&["check", &path(&file)]) else { return };
        if std::env::var_os("VOUCH_BLESS").is_some() {
            for (row, found) in rows.iter_mut().zip(outcome["properties"].as_array().unwrap()) {
                let is_shortest = found["shortest"] == true;
                if let Some(length) = found["trace_len"].as_u64().filter(|_| is_shortest) {
                    take_length(&file, row, length);
                }
            }
        }
        let broken = rows.iter().find_map(|r| r.length);
        assert_eq!(length_in_the_readme(&file), broken, "{file} in examples/README.md");
        compare(&file, &rows, &outcome, |_| true);
        for (row, found) in rows.iter().zip(outcome["properties"].as_array().unwrap()) {
            // The table has the shortest. What is found depends on the time, but what is said of it must be true.
            let length = found["trace_len"].as_u64();
            let place = format!("{} of {file}: `VOUCH_BLESS=1` takes it", row.property);
            match found["shortest"].as_bool() {
                Some(false) => assert!(length >= row.length, "{place}"),
                _ => assert_eq!(length, row.length, "{place}"),
            }
        }
        assert!(outcome["warnings"].is_null(), "{file}: {}", outcome["warnings"]);
    }
}

#[test]
fn on_the_simulated_device() {
    for (file, rows) in expected() {
        let args = ["run", &path(&file), "--target", "sim", "--sim-ram", SMALL];
        let Some(outcome) = run(&args) else { return };
        compare(&file, &rows, &outcome, |row| row.small);
    }
}

#[test]
fn on_the_boards() {
    if std::env::var_os("VOUCH_FIRMWARE_DIR").is_none() {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    }
    let all = std::env::var_os("VOUCH_ALL_EXAMPLES").is_some_and(|v| v == "1");
    let mut tested = 0;
    for (file, rows) in expected() {
        let args = ["run", &path(&file), "--target", "sim", "--sim-ram", SMALL];
        let Some(sim) = run(&args) else { return };
        let quick = sim["queries"].as_u64().is_some_and(|n| n < QUICK);
        let boards = match (all, quick && rows.iter().all(|r| r.small)) {
            (true, _) => &["lm3s6965evb", "microbit", "mps2-an386", "riscv-virt"][..],
            (false, true) => &["lm3s6965evb", "riscv-virt"],
            (false, false) => continue,
        };
        for board in boards {
            let Some(outcome) = run(&["run", &path(&file), "--target", &format!("qemu:{board}")])
            else {
                return;
            };
            compare(&file, &rows, &outcome, |row| row.small && *board != "microbit");
            tested += 1;
        }
    }
    assert!(tested >= 5, "{tested} models are quick");
}

/// Whether two lines differ only in how many instructions they count, and there by less than a
/// hundredth: the emulator does not interrupt at the same places each time.
fn is_about(known: &str, now: &str) -> bool {
    let split = |line: &str| {
        let (rest, count) = line.strip_suffix(" instructions")?.rsplit_once(", ")?;
        Some((rest.to_owned(), count.replace(' ', "").parse::<u64>().ok()?))
    };
    let (Some((a, known)), Some((b, now))) = (split(known), split(now)) else { return false };
    a == b && known.abs_diff(now) * 100 <= known
}

/// What the README shows of runs is what the program prints. `VOUCH_BLESS=1`
/// writes the numbers anew.
#[test]
fn runs_in_the_readme() {
    let (Some(program), Some(_)) =
        (std::env::var_os("VOUCH_BIN"), std::env::var_os("VOUCH_FIRMWARE_DIR"))
    else {
        eprintln!("VOUCH_BIN or VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let root = folder().join("..");
    let place = root.join("README.md");
    let text = std::fs::read_to_string(&place).unwrap();
    // Lines that say how much it took.
    let counts = ["property ", "  work ", "  memory ", "  device "];
    let (mut said, mut runs, mut fresh) = (String::new(), 0, vec![]);
    for line in text.lines() {
        if let Some(command) = line.strip_prefix("$ vouch ") {
            // On a busy machine there is less time to look for the simplest of the shortest runs.
            for _ in 0..5 {
                let run =
                    Command::new(&program).args(command.split(' ')).current_dir(&root).output();
                said = String::from_utf8(run.unwrap().stdout).unwrap();
                let rest = text.split(line).nth(1).unwrap_or_default();
                let own = rest.split("\n$ ").next().and_then(|own| own.split("```").next());
                let mut table = own.unwrap_or_default().lines().filter(|l| l.contains('│'));
                if table.all(|shown| said.contains(shown)) {
                    break;
                }
            }
            runs += 1;
        } else if line == "```" {
            said.clear();
        }
        let count = counts.iter().find(|c| line.starts_with(**c));
        let now = count.and_then(|c| said.lines().find(|l| l.starts_with(c)));
        let kept = now.filter(|now| !is_about(line, now));
        fresh.push(kept.unwrap_or(line).to_owned());
        let is_shown = !said.is_empty() && !line.starts_with('$') && line.trim() != "…";
        if is_shown && !line.is_empty() && now.is_none() {
            assert!(said.lines().any(|l| l == line), "README shows `{line}`, and not in:\n{said}");
        }
    }
    assert_eq!(runs, 4);
    let fresh = fresh.join("\n") + "\n";
    if std::env::var_os("VOUCH_BLESS").is_some() {
        std::fs::write(&place, &fresh).unwrap();
    }
    assert_eq!(std::fs::read_to_string(&place).unwrap(), fresh);
}

/// A board whose flash QEMU cannot write is not said to be worn out, or to have a key.
#[test]
fn what_cannot_be_stored_in_qemu_says_so() {
    let (Some(program), Some(_)) =
        (std::env::var_os("VOUCH_BIN"), std::env::var_os("VOUCH_FIRMWARE_DIR"))
    else {
        eprintln!("VOUCH_BIN or VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        let output = Command::new(&program).args(args).current_dir(place.path()).output().unwrap();
        String::from_utf8(output.stderr).unwrap()
    };
    run(&["keygen", "-o", "key"]);
    for more in [&[][..], &["--flash-file", "flash.bin"]] {
        let said = run(&[&["provision", "key.pub", "--target", "qemu:lm3s6965evb"], more].concat());
        assert!(said.contains("QEMU cannot write the flash of lm3s6965evb"), "{said}");
    }
}
