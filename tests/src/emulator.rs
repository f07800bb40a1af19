//! QEMU with its lid open: any program, any flash, its memory, and its debugger's stub.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vouch::transport::companion::{self, Companion};
use vouch::transport::probe::gdb::Gdb;
use vouch::transport::qemu::flash::{self, Monitor};
use vouch::transport::{Transport, qemu};

/// A running board.
pub struct Emulator {
    /// The board's port.
    pub uart: UnixStream,
    all: std::ops::Range<u32>,
    // Ended before the folder goes that it has files in.
    _process: Companion,
    folder: tempfile::TempDir,
}

/// The contents of a board's flash: a program, and the models behind it.
pub fn flash_with(board: &qemu::Board, elf: &Path, models: Option<&[u8]>) -> Vec<u8> {
    flash::contents(board, &fs::read(elf).unwrap(), models).unwrap()
}

/// A folder with a file for QEMU to start from.
fn folder_with(flash: &[u8]) -> tempfile::TempDir {
    let folder = tempfile::Builder::new().prefix("vouch-").tempdir().unwrap();
    fs::write(folder.path().join("flash.bin"), flash).unwrap();
    folder
}

fn connect(path: &Path) -> UnixStream {
    let start = Instant::now();
    loop {
        match UnixStream::connect(path) {
            Ok(stream) => return stream,
            Err(e) => assert!(start.elapsed() < Duration::from_secs(10), "{path:?}: {e}"),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}

impl Emulator {
    /// Starts a board with this flash; with `stopped` it waits for a debugger.
    pub fn start(board: &qemu::Board, flash: &[u8], stopped: bool) -> Emulator {
        let folder = folder_with(flash);
        let file = |name: &str| -> PathBuf { folder.path().join(name) };
        let mut args = board.arguments(&file("flash.bin"));
        let mut socket = |option: &str, name: &str| {
            let place = format!("unix:{},server=on,wait=off", file(name).display());
            args.extend([option.into(), place.into()]);
        };
        socket("-qmp", "qmp");
        if stopped {
            socket("-gdb", "gdb");
            args.push("-S".into());
        }
        Emulator::with(board, folder, args)
    }

    /// Starts a board that does not count instructions and has nothing but its port, which is many times
    /// quicker; with `log` QEMU writes there which code it translates, each block when it is first
    /// executed.
    pub fn quick(board: &qemu::Board, flash: &[u8], log: Option<&Path>) -> Emulator {
        let folder = folder_with(flash);
        let fixed = ["-nodefaults", "-display", "none", "-monitor", "none", "-kernel"];
        let mut args: Vec<OsString> = board.machine.iter().chain(&fixed).map(Into::into).collect();
        args.push(folder.path().join("flash.bin").into());
        if let Some(log) = log {
            args.extend(["-d", "in_asm", "-D"].map(Into::into));
            args.push(log.into());
        }
        Emulator::with(board, folder, args)
    }

    fn with(board: &qemu::Board, folder: tempfile::TempDir, mut args: Vec<OsString>) -> Emulator {
        let file = |name: &str| -> PathBuf { folder.path().join(name) };
        let place = format!("unix:{},server=on,wait=on", file("uart").display());
        args.extend(["-serial".into(), place.into()]);
        let program = companion::find(Path::new(board.emulator)).unwrap();
        let complaints = File::create(file("stderr")).unwrap();
        let process = Companion::start(&program, args, complaints, folder.path()).unwrap();
        let uart = connect(&file("uart"));
        let all = board.base()..board.models.end;
        Emulator { uart, all, _process: process, folder }
    }

    /// All of its flash.
    pub fn flash(&self) -> Vec<u8> {
        let file = self.folder.path().join("dump");
        let mut monitor = Monitor::connect(&self.folder.path().join("qmp")).unwrap();
        monitor.save(self.all.clone(), &file).unwrap();
        fs::read(file).unwrap()
    }

    /// The debugger's stub.
    pub fn debugger(&self) -> Debugger {
        let stream = connect(&self.folder.path().join("gdb"));
        Debugger { gdb: Gdb::new(stream) }
    }

    /// Text from the port up to and including the line `last`; if that does not come in time, what came.
    pub fn text_until(&mut self, last: &str, patience: Duration) -> Result<String, String> {
        self.uart.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        let (start, mut text) = (Instant::now(), Vec::new());
        let mut block = [0; 256];
        loop {
            // More may have come with it.
            if let Some(text) = up_to(&String::from_utf8_lossy(&text), last) {
                return Ok(text.to_owned());
            }
            if start.elapsed() >= patience {
                return Err(String::from_utf8_lossy(&text).into_owned());
            }
            if let Ok(count) = self.uart.read(&mut block) {
                text.extend_from_slice(&block[..count]);
            }
        }
    }

    /// A line for a client of the session.
    pub fn line(&self) -> Box<dyn Transport> {
        Box::new(Line(self.uart.try_clone().unwrap()))
    }
}

/// `text` up to and including the line `last`.
fn up_to<'t>(text: &'t str, last: &str) -> Option<&'t str> {
    let mut end = 0;
    text.split_inclusive('\n').find_map(|line| {
        end += line.len();
        (line.strip_suffix('\n') == Some(last)).then(|| &text[..end])
    })
}

struct Line(UnixStream);

impl Transport for Line {
    fn send(&mut self, bytes: &[u8]) -> std::io::Result<()> {
        self.0.write_all(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> std::io::Result<usize> {
        use std::io::ErrorKind::{TimedOut, WouldBlock};
        self.0.set_read_timeout(Some(timeout.max(Duration::from_millis(1))))?;
        match self.0.read(buffer) {
            Err(e) if matches!(e.kind(), WouldBlock | TimedOut) => Ok(0),
            other => other,
        }
    }
    fn describe(&self) -> String {
        "an emulated board".into()
    }
}

/// The debugger's side of a processor that stops at addresses.
pub struct Debugger {
    gdb: Gdb<UnixStream>,
}

impl Debugger {
    fn ask(&mut self, command: &str) -> String {
        self.gdb.stream().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        self.gdb.ask(command).unwrap()
    }

    /// Stops whenever the processor comes to `address`.
    pub fn stop_at(&mut self, address: u32) {
        assert_eq!(self.ask(&format!("Z1,{address:x},2")), "OK");
    }

    /// Lets it run.
    pub fn run(&mut self) {
        self.gdb.resume().unwrap();
    }

    /// Waits until it has stopped; false if it does not in time.
    pub fn stopped(&mut self, patience: Duration) -> bool {
        self.gdb.stream().set_read_timeout(Some(patience)).unwrap();
        self.gdb.stopped().is_ok()
    }

    /// Registers 0 to 15.
    pub fn registers(&mut self) -> [u32; 16] {
        let hex = self.ask("g");
        std::array::from_fn(|i| {
            let word = u32::from_str_radix(&hex[8 * i..8 * i + 8], 16).unwrap();
            word.swap_bytes()
        })
    }

    /// Executes one instruction although it is stopped at a breakpoint.
    pub fn step_over(&mut self, address: u32) {
        self.ask(&format!("z1,{address:x},2"));
        self.gdb.send("s").unwrap();
        assert!(self.stopped(Duration::from_secs(10)));
        self.ask(&format!("Z1,{address:x},2"));
    }
}

#[cfg(test)]
mod tests {
    use super::up_to;

    #[test]
    fn the_last_line_need_not_come_last() {
        assert_eq!(up_to("a\ndone\nb\n", "done"), Some("a\ndone\n"));
        assert_eq!(up_to("a\ndone", "done"), None);
        assert_eq!(up_to("undone\n", "done"), None);
    }
}
