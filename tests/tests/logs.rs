//! Logs of emulated boards, compared with the program that the boards run: as they are, and with one value altered. Without
//! `VOUCH_FIRMWARE_DIR` and `VOUCH_BIN` there is nothing to test.
#![cfg(unix)]

use std::path::PathBuf;
use std::process::Command;
use vouch_host::bind::Wanted;
use vouch_tests::bound::{boards, example, own, place, run};
use vouch_tests::emulator::flash_with;
use vouch_tests::product;
use vouch_tests::rng::Rng;

/// What the example logs of each step.
const COLUMNS: [&str; 6] =
    ["event", "TANK.state", "TANK.level", "TANK.fill", "TANK.drain", "LIMIT"];

/// What boards are configured with here.
const LIMITS: [u8; 4] = [3, 9, 16, 20];

type Rows = Vec<Vec<i64>>;

/// What a board says of its steps.
fn rows(text: &str) -> Rows {
    let lines = text.lines().filter_map(|line| line.strip_prefix("tank,"));
    lines.map(|line| line.split(',').map(|n| n.parse().unwrap()).collect()).collect()
}

/// As CSV; what is negative is not known.
fn csv(rows: &Rows) -> String {
    let cell = |n: &i64| if *n < 0 { String::new() } else { n.to_string() };
    let line = |row: &Vec<i64>| row.iter().map(cell).collect::<Vec<_>>().join(",") + "\n";
    COLUMNS.join(",") + "\n" + &rows.iter().map(line).collect::<String>()
}

/// A log, and the line that cannot be, if there is one.
struct Comparison {
    tool: PathBuf,
    folder: tempfile::TempDir,
}

impl Comparison {
    fn wrong_line(&self, elf: &std::path::Path, rows: &Rows) -> Option<u64> {
        let log = self.folder.path().join("log.csv");
        std::fs::write(&log, csv(rows)).unwrap();
        let mut tool = Command::new(&self.tool);
        let output = tool.args(["conform", "--json"]).args([elf, &log]).output().unwrap();
        let said: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let conforms = said["conforms"].as_bool().unwrap_or_else(|| panic!("{said}"));
        assert_eq!(output.status.code(), Some(i32::from(!conforms)), "{said}");
        (!conforms).then(|| said["line"].as_u64().unwrap())
    }
}

#[test]
fn boards_do_what_their_program_can() {
    let (Some(folder), Some(tool)) =
        (std::env::var_os("VOUCH_FIRMWARE_DIR"), std::env::var_os("VOUCH_BIN"))
    else {
        eprintln!("VOUCH_BIN or VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let compare = Comparison { tool: tool.into(), folder: tempfile::tempdir().unwrap() };
    let (mut rng, mut logs) = (Rng::new(3), 0);
    for board in boards() {
        let elf = example(&PathBuf::from(&folder), board);
        let model = own(&elf, &Wanted::default());
        let models = product::models(board, &model.image).expect("it fits");
        let mut flash = flash_with(board, &elf, Some(&models));
        let config = (place(&elf, "bound::CONFIG").unwrap().start - board.base()) as usize;
        for limit in LIMITS {
            flash[config] = limit;
            let rows = rows(&run(board, &flash));
            assert_eq!(rows.len(), 41, "{}", board.name);
            assert!(rows.iter().any(|row| row[2] > 1), "the tank fills: {rows:?}");
            assert_eq!(compare.wrong_line(&elf, &rows), None, "{}, {limit}", board.name);
            // One value of the state, in any line. The line before and the event leave only one that is right.
            let (line, column) = (rng.below(rows.len()), 1 + rng.below(4));
            let mut altered = rows.clone();
            altered[line][column] ^= 1;
            let place = format!("{}, {limit}: {} in line {line}", board.name, COLUMNS[column]);
            // The first line has the names.
            assert_eq!(compare.wrong_line(&elf, &altered), Some(line as u64 + 2), "{place}");
            logs += 1;
        }
    }
    assert!(logs >= 10, "{logs} logs");
}
