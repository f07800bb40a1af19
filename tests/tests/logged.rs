//! A defmt stream of emulated boards as a log: what a device logs of its state machine is a run of the model.
//!
//! Without `VOUCH_FIRMWARE_DIR` there is nothing to test.
#![cfg(unix)]

use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vouch_core::link::frame::{Received, Receiver, receiver_len};
use vouch_core::link::{Kind, MAX_PAYLOAD};
use vouch_host::conform::log::{self, Line, Log};
use vouch_host::conform::{Conformance, conform, defmt};
use vouch_host::engines::Setup;
use vouch_host::engines::clock::Clock;
use vouch_host::frontend::machines::Machines;
use vouch_host::frontend::{self, Language, Options, Source};
use vouch_host::transport::qemu::{BOARDS, Board};
use vouch_tests::emulator::{Emulator, flash_with};

/// A busy machine may emulate slowly.
const PATIENCE: Duration = Duration::from_secs(300);
/// Messages of a run of the example: two of the start and the end, two on the way, and a line for each state.
const MESSAGES: usize = 105;
const LINES: usize = 101;
/// Its runs.
const RUNS: usize = 3;

fn folder() -> Option<PathBuf> {
    let folder = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
    }
    folder
}

/// The messages of a stream, encoded: zeros are between them.
fn messages(stream: &[u8]) -> impl Iterator<Item = &[u8]> {
    stream.split(|byte| *byte == 0).filter(|message| !message.is_empty())
}

/// The defmt stream of the example: what is in the log frames on the board's port.
fn record(board: &Board, elf: &Path) -> Vec<u8> {
    let mut emulator = Emulator::start(board, &flash_with(board, elf, None), false);
    emulator.uart.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
    let mut receiver = Receiver::<{ receiver_len(MAX_PAYLOAD) }>::new();
    let (start, mut stream, mut block) = (Instant::now(), vec![], [0; 256]);
    while !stream.ends_with(&[0]) || messages(&stream).count() < RUNS * MESSAGES {
        assert!(start.elapsed() < PATIENCE, "{} bytes came", stream.len());
        let Ok(count) = emulator.uart.read(&mut block) else { continue };
        for byte in &block[..count] {
            if receiver.push(*byte) == Received::Payload
                && let Some((kind, bytes)) = receiver.payload().split_first()
                && *kind == Kind::Log as u8
            {
                stream.extend_from_slice(bytes);
            }
        }
    }
    stream
}

fn model() -> Machines {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/precharge.vch");
    let text = std::fs::read_to_string(&path).unwrap();
    let source = Source { path: path.display().to_string(), text };
    frontend::machines(&source, Language::Vch, &Options::default()).unwrap().unwrap()
}

fn compare(moves: &Machines, log: &Log) -> Conformance {
    let mut watch = |_: &_| true;
    let clock = Clock::new(&Setup::default(), &mut watch);
    conform(moves, log, 1, &clock, &mut |_| {}).unwrap()
}

/// The log of a run is a run of the model; with another value in one line it is none, and that line is told.
fn compared(board: &Board, moves: &Machines, lines: &[Line]) {
    let read = |lines: &[Line]| log::of_lines(moves, lines, &[]).unwrap();
    let found = compare(moves, &read(lines));
    assert!(matches!(found, Conformance::Yes(_)), "{}: {found:?}", board.name);
    // A contactor that closes by itself is noticed where it does.
    let mut altered = lines.to_vec();
    let line = altered.iter_mut().skip(20).find(|line| {
        let has =
            |name: &str, value: &str| line.fields.iter().any(|(n, v)| n == name && v == value);
        (has("state", "Off") || has("state", "Fault")) && has("contactor", "false")
    });
    let line = line.unwrap();
    line.fields[2].1 = "true".into();
    let number = line.number;
    let log = read(&altered);
    let Conformance::No { row, .. } = compare(moves, &log) else { panic!("{}", board.name) };
    assert_eq!(log.rows[row].line, number, "{}", board.name);
}

#[test]
fn defmt_streams_are_logs() {
    let Some(folder) = folder() else { return };
    let moves = model();
    let mut logs = 0;
    for board in BOARDS.iter() {
        let elf = folder.join(format!("logged-{}.elf", board.name));
        let stream = record(board, &elf);
        let texts = vouch_host::log::texts(&elf).unwrap();
        let lines = defmt::lines(&texts, &stream).unwrap();
        assert_eq!((lines.len(), lines[0].number), (RUNS * LINES, 2), "{}", board.name);
        for run in lines.chunks(LINES) {
            compared(board, &moves, run);
            logs += 1;
        }
        // All of them in one log are none: the machine starts anew.
        let all = log::of_lines(&moves, &lines, &[]).unwrap();
        let Conformance::No { row, .. } = compare(&moves, &all) else { panic!("{}", board.name) };
        assert_eq!(all.rows[row].line, MESSAGES + 2, "{}", board.name);
        // What cannot be decoded is told with its place.
        let mut damaged: Vec<&[u8]> = messages(&stream).collect();
        damaged.insert(3, &[0xff, 0xff, 0xff]);
        let damaged = [&damaged.join(&0)[..], &[0]].concat();
        let error = defmt::lines(&texts, &damaged).unwrap_err();
        assert_eq!(error.line, 4, "{error}");
        // The recording may end anywhere.
        let cut = defmt::lines(&texts, &stream[..stream.len() - 20]).unwrap();
        assert!(cut.len() < lines.len() && lines.starts_with(&cut));
        // As users say it.
        if let Some(tool) = std::env::var_os("VOUCH_BIN") {
            let place = tempfile::tempdir().unwrap();
            let file = place.path().join("log.bin");
            let first: Vec<&[u8]> = messages(&stream).take(MESSAGES).collect();
            std::fs::write(&file, [&first.join(&0)[..], &[0]].concat()).unwrap();
            let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/precharge.vch");
            let mut vouch = std::process::Command::new(tool);
            vouch.arg("conform").arg(example).arg(&file).arg("--defmt").arg(&elf);
            let output = vouch.output().unwrap();
            let said = String::from_utf8_lossy(&output.stdout);
            assert!(said.contains("is a run (101 lines, 100 steps)"), "{said}");
        }
    }
    assert!(logs >= 10, "{logs} logs");
}
