//! Help that is made of tables: whatever they list is in it.

use vouch_host::engines::Engine;
use vouch_host::frontend;
use vouch_host::report::formats;
use vouch_host::transport::qemu;

/// The help of `run`, without the names of boards.
const RUN_HELP: &str = "\
Targets:
  sim               the device's program in this process
  qemu:BOARD        an emulated board: {boards}
  serial:PATH       a board on a serial port
  usb:VENDOR:PRODUCT[:SERIAL]  the serial port of a USB device
  tcp:HOST:PORT     a serial port that is served over TCP
  rfc2217:HOST:PORT the same with RFC 2217 (ser2net)
  probe[:SELECTOR]  a board on a debug probe (needs probe-rs, and --chip)
  labgrid:PLACE     a board that labgrid lends (needs labgrid-client)

Examples:
  vouch run pump.vch --target sim
  vouch run pump.vch --target qemu:lm3s6965evb --log
  vouch run pump.vimg --target serial:/dev/ttyACM0 --timeout 60 --trace run.vcd
  vouch run pump.vimg --target probe --chip nRF52840_xxAA --program";

/// The help of the model: all kinds of files that are read.
pub fn models() -> String {
    format!("The model; {}, images end in `.vimg`", frontend::extensions())
}

/// The help of `--lang`.
pub fn languages() -> String {
    let names = frontend::LANGUAGES.map(|about| about.name).join(", ");
    format!("The model's language, if it does not follow from the file's name [one of: {names}]")
}

/// The help of `--engine`.
pub fn engines() -> String {
    let one = |engine: Engine| format!("{} ({})", engine.name(), engine.about());
    format!("The engine: {}", Engine::ALL.map(one).join("; "))
}

/// The help after the options of `run`.
pub fn run_help() -> String {
    let boards: Vec<&str> = qemu::BOARDS.iter().map(|board| board.name.as_str()).collect();
    RUN_HELP.replace("{boards}", &boards.join(", "))
}

/// The help of an option that writes a run.
pub fn run_file(what: &str) -> String {
    format!("{what}: {}; `vouch replay` reads the text", formats::listed())
}
