//! The firmware itself, on each board in QEMU: who it says it is, memory, counts, logs, recovery.
//!
//! `cargo xtask test` builds the firmware and says in `VOUCH_FIRMWARE_DIR` where it is. Without that
//! there is nothing to test.

use std::path::PathBuf;
use std::sync::mpsc::channel;
use std::time::Duration;
use vouch_core::ic3::{Limit, Verdict};
use vouch_core::image::{EdgeSpec, ImageBuilder, LocationSpec, PropertySpec};
use vouch_core::link::message::Phase;
use vouch_host::client::{Answer, CheckRequest, Client, DeviceError, Ended, Patience};
use vouch_host::deadline::Deadline;
use vouch_host::transport::{Settings, Target, Transport, qemu};

fn settings() -> Option<Settings> {
    let folder = std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from);
    if folder.is_none() {
        eprintln!("VOUCH_FIRMWARE_DIR is not set: not tested");
    }
    Some(Settings { firmware_dir: Some(folder?), ..Settings::default() })
}

/// A line to each board.
fn boards() -> Vec<(&'static qemu::Board, Box<dyn Transport>)> {
    let Some(settings) = settings() else {
        return Vec::new();
    };
    let open = |board| (board, Target::Qemu(board).open(&settings).unwrap());
    qemu::BOARDS.iter().map(open).collect()
}

fn greet(transport: Box<dyn Transport>) -> Client {
    Client::greet(transport, Patience::default()).unwrap()
}

/// A flag that an input sets. One property says that it stays unset, one holds.
fn model(inputs: u32) -> Vec<u8> {
    let live = |bits: &[u32]| LocationSpec { live: bits.into() };
    let edge = EdgeSpec::plain;
    let property = |name: &str, error| PropertySpec { name: name.into(), error };
    let model = ImageBuilder {
        name: "flag".into(),
        state_bits: 1,
        locations: vec![live(&[]), live(&[0]), live(&[]), live(&[])],
        edges: vec![
            edge(0, 1, 0, &[1]),
            EdgeSpec { inputs, ..edge(1, 1, 0, &[4]) },
            edge(1, 2, 2, &[]),
            edge(1, 3, 1, &[]),
        ],
        properties: vec![property("stays unset", 2), property("never taken", 3)],
        ..ImageBuilder::default()
    };
    model.build_as::<u16>().unwrap()
}

fn check(client: &mut Client, image: &[u8]) -> Answer {
    client.load(image, |_, _| {}).unwrap();
    client.check(&CheckRequest::default(), |_| {}).unwrap()
}

#[test]
fn a_board_knows_itself() {
    for (board, transport) in boards() {
        let client = greet(transport);
        let info = client.info();
        assert_eq!(
            (info.board.as_str(), info.ram, info.flash),
            (board.name.as_str(), board.ram, board.flash)
        );
        assert!(info.build.starts_with(env!("CARGO_PKG_VERSION")), "{}", info.build);
        // Most of RAM is for models and proofs: on the smallest board, 11 of 16 KiB.
        assert!(info.heap <= info.ram && info.heap * 16 >= info.ram * 11, "{info:?}");
        assert!((4096..info.flash / 2).contains(&info.firmware), "{info:?}");
    }
}

#[test]
fn boards_find_what_the_simulated_device_finds() {
    let image = model(8);
    let sim = Target::Sim.open(&Settings::default()).unwrap();
    let expected = check(&mut greet(sim), &image);
    for (board, transport) in boards() {
        let mut client = greet(transport);
        let first = check(&mut client, &image);
        let second = check(&mut client, &image);
        for outcome in [&first, &second] {
            assert_eq!(outcome.verdicts, expected.verdicts, "{}", board.name);
            assert_eq!(outcome.traces, expected.traces, "{}", board.name);
            assert_eq!(outcome.clauses, expected.clauses, "{}", board.name);
        }
        // The same work is the same count, up to the timer's grain at either end of a slice.
        let counts = [first.instructions.unwrap(), second.instructions.unwrap()];
        assert!(counts[0] > 0 && counts[0].abs_diff(counts[1]) <= 200, "{counts:?}");
    }
}

#[test]
fn what_does_not_fit_is_refused_and_the_next_model_is_welcome() {
    for (board, transport) in boards() {
        let mut client = greet(transport);
        let heap = client.info().heap as usize;
        let mut image = model(8);
        let small = image.clone();
        image.resize(heap + 4, 0);
        let error = client.load(&image, |_, _| {}).unwrap_err();
        assert_eq!(error.exit_code(), 3, "{}: {error}", board.name);
        assert!(error.to_string().contains(&heap.to_string()), "{}: {error}", board.name);
        check(&mut client, &small);
    }
}

#[test]
fn rubbish_on_the_line_does_no_harm() {
    for (board, mut transport) in boards() {
        let mut state = 1u32;
        let mut byte = || {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (state >> 24) as u8
        };
        let rubbish: Vec<u8> = (0..3000).map(|_| byte()).collect();
        transport.send(&rubbish).unwrap();
        let mut client = greet(transport);
        assert_eq!(client.info().board, board.name);
        check(&mut client, &model(8));
        assert!(client.status().unwrap().garbled > 0);
    }
}

#[test]
fn logs_are_readable() {
    for (_, transport) in boards() {
        let (sender, receiver) = channel();
        let mut client = greet(transport);
        let elf = client.firmware().unwrap().to_owned();
        let line = move |line: &str| {
            let _ = sender.send(line.to_owned());
        };
        client.log_to(vouch_host::log::decoder(&elf, line).unwrap());
        check(&mut client, &model(8));
        drop(client);
        let lines: Vec<String> = receiver.iter().collect();
        assert!(lines.iter().any(|line| line.contains("bytes of stack used")), "{lines:?}");
    }
}

/// Whether so many pigeons fit into one hole less: one query, and a hard one.
fn pigeons(holes: u32) -> Vec<u8> {
    let inputs = (holes + 1) * holes;
    let at = |pigeon: u32, hole: u32| 2 * (1 + pigeon * holes + hole);
    let mut gates: Vec<[u32; 3]> = Vec::new();
    let mut gate = |operands| {
        gates.push(operands);
        2 * (inputs + gates.len() as u32)
    };
    let mut guard = 0;
    for pigeon in 0..=holes {
        let mut sits = 1;
        for hole in 0..holes {
            sits = gate([at(pigeon, hole), 0, sits]);
            for other in 0..pigeon {
                let both = gate([at(pigeon, hole), at(other, hole), 1]);
                guard = gate([guard, both ^ 1, 1]);
            }
        }
        guard = gate([guard, sits, 1]);
    }
    let nothing = || LocationSpec { live: Vec::new() };
    let model = ImageBuilder {
        name: "pigeons".into(),
        locations: vec![nothing(), nothing()],
        edges: vec![EdgeSpec { inputs, gates, ..EdgeSpec::plain(0, 1, guard, &[]) }],
        properties: vec![PropertySpec { name: "fit".into(), error: 1 }],
        ..ImageBuilder::default()
    };
    model.build_as::<u16>().unwrap()
}

/// The host asks for the state all the while, and in the end cancels: in the middle of a query.
#[test]
fn a_board_hears_in_the_middle_of_a_query() {
    let image = pigeons(10);
    let Some(settings) = settings() else { return };
    for board in qemu::BOARDS.iter().filter(|board| board.ram >= 200 << 10) {
        let mut client = greet(Target::Qemu(board).open(&settings).unwrap());
        client.load(&image, |_, _| {}).unwrap();
        client.stop_at(Deadline::after(Some(Duration::from_secs(3))));
        let mut asked = 0;
        match client.check(&CheckRequest::default(), |_| asked += 1) {
            Ok(outcome) => {
                assert_eq!(outcome.ended, Ended::Timeout, "{}", board.name);
                assert_eq!(outcome.verdicts, [Verdict::Unknown(Limit::Cancelled)]);
                assert!(outcome.stats.queries <= 1, "{}: {:?}", board.name, outcome.stats);
                assert!(asked > 1, "{}: {asked}", board.name);
            }
            // The host does not wait long any more, and this machine may be busy. The board has heard it.
            Err(DeviceError::Ended(_)) => {
                client.stop_at(Deadline::never());
                assert_eq!(client.status().unwrap().phase, Phase::Finished, "{}", board.name);
            }
            Err(error) => panic!("{}: {error}", board.name),
        }
    }
}
