//! A machine of QEMU, through its stub for debuggers.

use super::Obstacle;
use super::machines::Machine;
use crate::transport::companion::{self, Companion};
use crate::transport::probe::gdb::Gdb;
use crate::transport::probe::rtt::Memory;
use std::fs::File;
use std::io;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// How long QEMU may take to listen, and to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// A register, as the stub counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Register(pub u32);

/// A running machine.
pub struct Board {
    gdb: Gdb<UnixStream>,
    /// The kind of machine that QEMU emulates here.
    pub machine: &'static Machine,
    // Ended before the folder goes that it has files in.
    _process: Companion,
    _folder: TempDir,
}

impl Board {
    /// Starts a machine whose processor is halted.
    pub fn start(machine: &'static Machine) -> Result<Board, Obstacle> {
        let qemu = Path::new(machine.qemu);
        let qemu = companion::find(qemu).ok_or(Obstacle::NoQemu(machine.qemu))?;
        let failed = |e: &dyn std::fmt::Display| {
            Obstacle::Failed(format!("QEMU ({}) cannot be used: {e}", machine.name))
        };
        let folder = tempfile::Builder::new().prefix("vouch-").tempdir();
        let folder = folder.map_err(|e| failed(&e))?;
        let socket = folder.path().join("gdb");
        // QEMU reads `,,` as a comma in a path.
        let listen = socket.display().to_string().replace(',', ",,");
        let listen = format!("unix:{listen},server=on,wait=off");
        let arguments = machine.arguments.iter().copied();
        let arguments = arguments.chain(["-nodefaults", "-display", "none", "-monitor", "none"]);
        let arguments = arguments.chain(["-S", "-gdb", &listen]);
        let complaints = folder.path().join("stderr");
        let file = File::create(&complaints).map_err(|e| failed(&e))?;
        let process = Companion::start(&qemu, arguments, file, folder.path());
        let mut process = process.map_err(|e| failed(&e))?;
        let start = Instant::now();
        let stream = loop {
            if let Ok(stream) = UnixStream::connect(&socket) {
                break stream;
            }
            crate::deadline::look();
            if let Some(status) = process.ended() {
                let said = std::fs::read_to_string(&complaints).unwrap_or_default();
                return Err(failed(&format_args!("it ended at once ({status}) {}", said.trim())));
            }
            if start.elapsed() > PATIENCE {
                return Err(failed(&"it does not listen"));
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        stream.set_write_timeout(Some(PATIENCE)).map_err(|e| failed(&e))?;
        let mut board =
            Board { gdb: Gdb::new(stream), machine, _process: process, _folder: folder };
        // Before it has told which registers there are, QEMU does not let single ones be written.
        board.ask("qXfer:features:read:target.xml:0,ff0").map_err(|e| failed(&e))?;
        Ok(board)
    }

    /// Waits no longer than there is time.
    fn hurry(&mut self) -> io::Result<()> {
        crate::deadline::look();
        let left = crate::deadline::current().left().unwrap_or(PATIENCE);
        let left = left.clamp(Duration::from_millis(10), PATIENCE);
        self.gdb.stream().set_read_timeout(Some(left))
    }

    fn ask(&mut self, command: &str) -> io::Result<String> {
        self.hurry()?;
        self.gdb.ask(command)
    }

    fn told(&mut self, command: &str) -> io::Result<()> {
        match self.ask(command)?.as_str() {
            "OK" => Ok(()),
            other => Err(io::Error::other(format!("QEMU answers `{other}` to `{command}`"))),
        }
    }

    /// Stops whenever an instruction at this address is to be executed.
    pub fn stop_at(&mut self, address: u32) -> io::Result<()> {
        self.told(&format!("Z1,{address:x},2"))
    }

    /// The program counter, as the stub counts.
    pub fn pc(&self) -> Register {
        Register(if self.machine.is_thumb { 15 } else { 32 })
    }

    /// Writes a register.
    pub fn set(&mut self, register: Register, value: u32) -> io::Result<()> {
        self.told(&format!("P{:x}={:08x}", register.0, value.swap_bytes()))
    }

    /// Reads a register.
    pub fn get(&mut self, register: Register) -> io::Result<u32> {
        let hex = self.ask(&format!("p{:x}", register.0))?;
        match u32::from_str_radix(&hex, 16) {
            Ok(value) if hex.len() == 8 => Ok(value.swap_bytes()),
            _ => Err(io::Error::other(format!("QEMU reports a register as `{hex}`"))),
        }
    }

    /// Writes memory, flash too.
    pub fn write(&mut self, at: u32, bytes: &[u8]) -> io::Result<()> {
        self.hurry()?;
        self.gdb.write(at, bytes)
    }

    /// Reads memory through the gdb stub; fails if QEMU does not answer in time.
    pub fn read(&mut self, at: u32, bytes: &mut [u8]) -> io::Result<()> {
        self.hurry()?;
        self.gdb.read(at, bytes)
    }

    /// Lets the processor run until it stops; returns where.
    pub fn resume(&mut self) -> io::Result<u32> {
        self.go("vCont;c")
    }

    /// Executes one instruction; returns where it leads.
    pub fn step(&mut self) -> io::Result<u32> {
        self.go("vCont;s")
    }

    fn go(&mut self, command: &str) -> io::Result<u32> {
        self.hurry()?;
        self.gdb.send(command)?;
        if let Err(error) = self.gdb.stopped() {
            // If it was only slow, there was no more time.
            crate::deadline::look();
            return Err(error);
        }
        self.get(self.pc())
    }
}
