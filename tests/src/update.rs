//! What an update costs: bytes on the line, flash operations, and instructions on the emulated boards.
//!
//! Each device has the model stored already and is given the same one again, so that both slots are in
//! use in the end and every signature is checked that a device in the field would check.

use crate::emulator::{Emulator, flash_with};
use crate::maker;
use crate::nor::Nor;
use crate::product;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use vouch_device::package::HEADER_LEN;
use vouch_device::{Store, Trust};
use vouch_host::client::{Client, Patience};
use vouch_host::transport::Transport;
use vouch_host::transport::qemu::{BOARDS, Board};

/// Nothing is ever sent again, so that the bytes can be counted: QEMU loses none.
const PATIENCE: Patience = Patience {
    reply: Duration::from_secs(120),
    silence: Duration::from_secs(120),
    boot: Duration::from_secs(120),
};
/// Bytes in a second on a line of 115200 baud: a start bit, eight of data, a stop bit.
const BYTES_PER_SECOND: f64 = 11_520.0;

/// Bytes that have passed.
#[derive(Clone, Default)]
struct Passed {
    to_device: Arc<AtomicU64>,
    to_host: Arc<AtomicU64>,
}

impl Passed {
    fn both(&self) -> [u64; 2] {
        [&self.to_device, &self.to_host].map(|count| count.load(Ordering::Relaxed))
    }
}

/// A transport that counts.
struct Counted<T> {
    inner: T,
    passed: Passed,
}

impl<T: Transport> Transport for Counted<T> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.passed.to_device.fetch_add(bytes.len() as u64, Ordering::Relaxed);
        self.inner.send(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let count = self.inner.recv(buffer, timeout)?;
        self.passed.to_host.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
    fn describe(&self) -> String {
        self.inner.describe()
    }
    fn firmware(&self) -> Option<&Path> {
        self.inner.firmware()
    }
}

/// Prints the table: the first argument is the folder of the firmware, all others are models.
pub fn print(mut args: impl Iterator<Item = String>) -> ExitCode {
    let Some(folder) = args.next().map(PathBuf::from) else {
        eprintln!("update FIRMWARE-FOLDER MODEL…");
        return ExitCode::from(2);
    };
    println!(
        "model\tboard\tpackage_bytes\tto_device\tto_host\tpages_erased\twords_programmed\t\
         instructions\tline_seconds"
    );
    for model in args.map(PathBuf::from) {
        let image = product::image(&model, true);
        // Words of 32 bits are not for devices.
        if image[6] == 2 {
            let name = model.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            BOARDS.iter().for_each(|board| println!("{name}\t{}", row(&folder, board, &image)));
        }
    }
    ExitCode::SUCCESS
}

fn row(folder: &Path, board: &Board, image: &[u8]) -> String {
    let package = maker::package(image, 1);
    let start = format!("{}\t{}", board.name, package.len());
    let Some((pages, words)) = operations(board, &package) else {
        return format!("{start}\ttoo large\t\t\t\t\t");
    };
    // QEMU does not let the LM3S6965 write its flash.
    let measured = (board.name != "lm3s6965evb").then(|| on_board(folder, board, image, &package));
    let show = |n: Option<u64>| n.map_or("-".into(), |n| n.to_string());
    let [to_device, to_host] = [0, 1].map(|way| measured.map(|(bytes, _)| bytes[way]));
    let instructions = show(measured.and_then(|(_, instructions)| instructions));
    // A request and its answer never pass each other, so what goes either way adds up.
    let seconds = to_device.zip(to_host).map(|(a, b)| (a + b) as f64 / BYTES_PER_SECOND);
    let seconds = seconds.map_or("-".into(), |s| format!("{s:.2}"));
    let (to_device, to_host) = (show(to_device), show(to_host));
    format!("{start}\t{to_device}\t{to_host}\t{pages}\t{words}\t{instructions}\t{seconds}")
}

/// Pages erased and words programmed by an update of flash as large as the board's; `None` if the
/// package does not fit.
fn operations(board: &Board, package: &[u8]) -> Option<(usize, usize)> {
    let mut store = Store::new(Nor::blank(board.models.len() / crate::nor::PAGE), Trust::Signed);
    store.provision_key(&maker::public()).unwrap();
    let update = |store: &mut Store<Nor>| {
        store.begin_update(&package[..HEADER_LEN]).ok()?;
        store.write_update(HEADER_LEN as u32, &package[HEADER_LEN..]).unwrap();
        Some(store.finish_update().unwrap())
    };
    update(&mut store)?;
    let mut store = Store::new(store.into_flash().restart(), Trust::Signed);
    update(&mut store)?;
    let flash = store.into_flash();
    Some((flash.erased, flash.operations - flash.erased))
}

/// Bytes to the device and to the host, from the first request of an update to the last answer; and the
/// instructions that the device says it took.
fn on_board(folder: &Path, board: &Board, image: &[u8], package: &[u8]) -> ([u64; 2], Option<u64>) {
    let models = product::models(board, image).unwrap();
    let elf = folder.join(board.elf());
    let emulator = Emulator::start(board, &flash_with(board, &elf, Some(&models)), false);
    // It says so when it listens; what is sent before that may be lost.
    (&emulator.uart).read_exact(&mut [0]).unwrap();
    let passed = Passed::default();
    let line = Counted { inner: emulator.line(), passed: passed.clone() };
    let mut client = Client::greet(Box::new(line), PATIENCE).unwrap();
    let before = passed.both();
    let stored = client.store(package, |_, _| {}).unwrap();
    let after = passed.both();
    assert_eq!(stored.model.map(|m| m.sequence), Some(2), "it is not stored");
    assert_eq!((client.quality().repeated, client.quality().garbled), (0, 0));
    let instructions = client.status().unwrap().instructions;
    ([0, 1].map(|way| after[way] - before[way]), instructions)
}
