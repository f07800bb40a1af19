//! QEMU with its lid open: any program, any flash, its memory, and its debugger's stub.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vouch_host::transport::companion::{self, Companion};
use vouch_host::transport::probe::gdb::Gdb;
use vouch_host::transport::probe::rtt::Memory;
use vouch_host::transport::qemu::flash::{self, Monitor};
use vouch_host::transport::{Transport, qemu};

/// A running board.
pub struct Emulator {
    /// The board's port.
    pub uart: UnixStream,
    all: std::ops::Range<u32>,
    // Ended before the folder goes that it has files in.
    process: Companion,
    folder: tempfile::TempDir,
}

/// The contents of a board's flash: a program, and the models after it.
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

/// A socket of QEMU's, named as the option is.
fn socket(option: &str, folder: &Path) -> [OsString; 2] {
    let file = folder.join(option.trim_start_matches('-'));
    [option.into(), format!("unix:{},server=on,wait=off", file.display()).into()]
}

/// Has QEMU wait for a debugger.
fn waiting(folder: &Path) -> impl Iterator<Item = OsString> {
    [socket("-qmp", folder), socket("-gdb", folder)].into_iter().flatten().chain(["-S".into()])
}

/// A board with nothing around it that does not count instructions.
fn bare(board: &qemu::Board) -> Vec<OsString> {
    let fixed = ["-nodefaults", "-display", "none", "-monitor", "none"];
    let machine = board.qemu.arguments.iter().map(OsString::from);
    machine.chain(fixed.map(OsString::from)).collect()
}

impl Emulator {
    /// Starts a board with this flash; with `stopped` it waits for a debugger.
    pub fn start(board: &qemu::Board, flash: &[u8], stopped: bool) -> Emulator {
        let folder = folder_with(flash);
        let mut args = board.arguments(&folder.path().join("flash.bin"));
        if stopped {
            args.extend(waiting(folder.path()));
        } else {
            args.extend(socket("-qmp", folder.path()));
        }
        Emulator::with(board, folder, args)
    }

    /// Starts a board that does not count instructions and has nothing but its port and its monitor, which
    /// is many times quicker; with `log` QEMU writes there which code it translates, each block when it is first
    /// executed.
    pub fn quick(board: &qemu::Board, flash: &[u8], log: Option<&Path>) -> Emulator {
        let folder = folder_with(flash);
        let mut args = bare(board);
        args.extend(["-kernel".into(), folder.path().join("flash.bin").into()]);
        args.extend(socket("-qmp", folder.path()));
        if let Some(log) = log {
            args.extend(["-d", "in_asm", "-D"].map(Into::into));
            args.push(log.into());
        }
        Emulator::with(board, folder, args)
    }

    /// Starts a board as [`Emulator::quick`] does, but it waits for a debugger, and its RAM, which begins at
    /// `ram`, holds zeros after each reset, as when the power comes on.
    ///
    /// Its flash is to be written by a debugger. QEMU would write what it was given anew at each reset, and
    /// forget the code it has translated.
    pub fn reusable(board: &qemu::Board, ram: u32) -> Emulator {
        let folder = folder_with(&[]);
        let zeros = folder.path().join("zeros");
        fs::write(&zeros, vec![0; board.ram as usize]).unwrap();
        let mut args = bare(board);
        // Arm boards insist on a file, which may be empty; for RISC-V it may not.
        if board.triple.starts_with("thumb") {
            args.extend(["-kernel".into(), folder.path().join("flash.bin").into()]);
        }
        let place = format!("loader,file={},addr={ram:#x},force-raw=on", zeros.display());
        args.extend(["-device".into(), place.into()]);
        args.extend(waiting(folder.path()));
        Emulator::with(board, folder, args)
    }

    fn with(board: &qemu::Board, folder: tempfile::TempDir, mut args: Vec<OsString>) -> Emulator {
        let file = |name: &str| -> PathBuf { folder.path().join(name) };
        let place = format!("unix:{},server=on,wait=on", file("uart").display());
        args.extend(["-serial".into(), place.into()]);
        let program = companion::find(Path::new(&board.qemu.program)).unwrap();
        let complaints = File::create(file("stderr")).unwrap();
        let process = Companion::start(&program, args, complaints, folder.path()).unwrap();
        let uart = connect(&file("uart"));
        let all = board.base()..board.models.end;
        Emulator { uart, all, process, folder }
    }

    /// All of its flash.
    pub fn flash(&self) -> Vec<u8> {
        self.flash_by(&mut self.monitor()).unwrap()
    }

    /// All of its flash, by a monitor that is open.
    pub fn flash_by(&self, monitor: &mut Monitor) -> io::Result<Vec<u8>> {
        let file = self.folder.path().join("dump");
        monitor.save(self.all.clone(), &file)?;
        fs::read(file)
    }

    /// QEMU's line for commands.
    pub fn monitor(&self) -> Monitor {
        // It serves one at a time, and may not have noticed that the last one has gone.
        let connect = || Monitor::connect(&self.folder.path().join("qmp"));
        connect().or_else(|_| connect()).unwrap()
    }

    /// Whether QEMU has ended.
    pub fn ended(&mut self) -> bool {
        self.process.ended().is_some()
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
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.write_all(bytes)
    }
    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        use io::ErrorKind::{TimedOut, WouldBlock};
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

    /// Interrupts the processor; waits at most 10 seconds for it to stop.
    pub fn halt(&mut self) -> io::Result<()> {
        self.gdb.stream().set_read_timeout(Some(Duration::from_secs(10)))?;
        self.gdb.halt()
    }

    /// Writes memory, flash too.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> io::Result<()> {
        self.gdb.stream().set_read_timeout(Some(Duration::from_secs(10)))?;
        self.gdb.write(address, bytes)
    }

    /// Reads `count` bytes of memory; panics if there is no answer.
    pub fn read(&mut self, address: u32, count: usize) -> Vec<u8> {
        self.gdb.stream().set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut bytes = vec![0; count];
        self.gdb.read(address, &mut bytes).unwrap();
        bytes
    }

    /// Does not stop at `address` any more.
    pub fn forget(&mut self, address: u32) {
        assert_eq!(self.ask(&format!("z1,{address:x},2")), "OK");
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
