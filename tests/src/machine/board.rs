//! A program in QEMU whose functions are called one by one.

use crate::rng::Rng;
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::{Duration, Instant};
use vouch_host::frontend::elf::Source;
use vouch_host::frontend::elf::reader::Elf;
use vouch_host::transport::companion::{self, Companion};
use vouch_host::transport::probe::gdb::Gdb;
use vouch_host::transport::probe::rtt::Memory;

/// How a call ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum End {
    /// It returned.
    Returned,
    /// It called a function that says that something failed.
    Failed,
    /// Something else happened.
    Odd(String),
}

/// A running board.
pub struct Board {
    gdb: Gdb<UnixStream>,
    /// Functions that are inputs, with the bits of their results; negative if these have a sign.
    inputs: BTreeMap<u32, i32>,
    failures: BTreeSet<u32>,
    /// RAM at reset, after initialisation: section by section.
    ram: Vec<(u32, Vec<u8>)>,
    _process: Companion,
    _folder: tempfile::TempDir,
}

/// A board with a Cortex-M3, flash where STM32 have it, and 128 KiB of RAM.
const MACHINE: &str = "netduino2";
/// Where the stack begins.
const STACK: u32 = 0x2001_f000;
/// Where functions return to.
const BACK: u32 = 0x2001_fff0;
const SP: u32 = 13;
const LR: u32 = 14;
const PC: u32 = 15;
const XPSR: u32 = 25;

impl Board {
    /// Starts a board with this program.
    pub fn start(path: &Path, elf: &Elf) -> Board {
        let folder = tempfile::Builder::new().prefix("vouch-").tempdir().unwrap();
        let socket = folder.path().join("gdb");
        let gdb = format!("unix:{},server=on,wait=off", socket.display());
        let loader = format!("loader,file={}", path.display());
        let args = ["-machine", MACHINE, "-nodefaults", "-display", "none", "-monitor", "none"];
        let args = args.into_iter().chain(["-S", "-gdb", &gdb, "-device", &loader]);
        let program = companion::find(Path::new("qemu-system-arm")).expect("QEMU is installed");
        let complaints = File::create(folder.path().join("stderr")).unwrap();
        let process = Companion::start(&program, args, complaints, folder.path()).unwrap();
        let start = Instant::now();
        let stream = loop {
            match UnixStream::connect(&socket) {
                Ok(stream) => break stream,
                Err(e) => assert!(start.elapsed() < Duration::from_secs(10), "{e}"),
            }
            std::thread::sleep(Duration::from_millis(5));
        };
        stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        let mut gdb = Gdb::new(stream);
        // Before it has told which registers there are, QEMU does not let single ones be written.
        gdb.ask("qXfer:features:read:target.xml:0,ff0").unwrap();
        let functions = || elf.functions();
        let inputs = functions().filter(|f| f.name.starts_with("vouch_input_"));
        let bits = |name: &str| match name.rsplit('_').next() {
            Some("i8") => -8,
            Some("i16") => -16,
            _ => 32,
        };
        let inputs: BTreeMap<u32, i32> = inputs.map(|f| (f.start, bits(&f.name))).collect();
        let fails = |name: &str| {
            ["vouch_fail", "vouch_panic", "abort"].contains(&name) || name.contains("panicking")
        };
        let failures = functions().filter(|f| fails(&f.name) || fails(&f.shown()));
        let failures: BTreeSet<u32> = failures.map(|f| f.start).collect();
        for at in inputs.keys().chain(&failures).chain([&BACK]) {
            assert_eq!(gdb.ask(&format!("Z1,{at:x},2")).unwrap(), "OK");
        }
        Board { gdb, inputs, failures, ram: vec![], _process: process, _folder: folder }
    }

    /// Gives RAM its contents at reset.
    pub fn reset(&mut self, elf: &Elf) {
        self.ram.clear();
        for section in elf.sections().iter().filter(|s| s.is_writable) {
            let Some(bytes) = &section.bytes else { continue };
            self.gdb.write(section.start, bytes).unwrap();
            self.ram.push((section.start, bytes.clone()));
        }
    }

    /// Whether bytes have changed since the last look that are not among `known`; these are looked at then.
    pub fn changed(&mut self, known: &BTreeSet<u32>) -> Result<(), String> {
        let mut found = Ok(());
        for (start, before) in &mut self.ram {
            let mut now = vec![0; before.len()];
            self.gdb.read(*start, &mut now).unwrap();
            let bytes = (*start..).zip(before.iter().zip(&now));
            for (at, (a, b)) in bytes.filter(|(at, (a, b))| a != b && !known.contains(at)) {
                found = Err(format!("{at:#x} is not a variable and changed from {a:#x} to {b:#x}"));
            }
            *before = now;
        }
        found
    }

    /// Writes memory.
    pub fn write(&mut self, at: u32, bytes: &[u8]) {
        self.gdb.write(at, bytes).unwrap();
    }

    /// Reads memory.
    pub fn read(&mut self, at: u32, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.gdb.read(at, &mut bytes).unwrap();
        bytes
    }

    fn set(&mut self, register: u32, value: u32) {
        let hex = format!("P{register:x}={:08x}", value.swap_bytes());
        assert_eq!(self.gdb.ask(&hex).unwrap(), "OK", "{hex}");
    }

    fn get(&mut self, register: u32) -> u32 {
        let hex = self.gdb.ask("g").unwrap();
        let at = 8 * register as usize;
        u32::from_str_radix(&hex[at..at + 8], 16).unwrap().swap_bytes()
    }

    /// Calls a function that reads these inputs.
    pub fn call(&mut self, function: u32, reads: &[(Source, u32)], rng: &mut Rng) -> End {
        for (source, value) in reads {
            if let Source::Stack(offset) = source {
                self.write(STACK.wrapping_add_signed(*offset), &value.to_le_bytes());
            }
        }
        let reads = reads.iter().filter(|(source, _)| !matches!(source, Source::Stack(_)));
        let mut reads = reads.peekable();
        for register in 0..13 {
            self.set(register, rng.bits() as u32);
        }
        while let Some((Source::Argument(number), value)) = reads.peek() {
            self.set(*number, *value);
            reads.next();
        }
        self.set(SP, STACK);
        self.set(LR, BACK | 1);
        self.set(XPSR, 0x0100_0000);
        self.set(PC, function);
        loop {
            self.gdb.resume().unwrap();
            if let Err(e) = self.gdb.stopped() {
                let _ = self.gdb.halt();
                return End::Odd(format!("it does not stop ({e}), at {:#x}", self.get(PC)));
            }
            let pc = self.get(PC);
            if pc == BACK {
                return match reads.next() {
                    None => End::Returned,
                    Some(read) => End::Odd(format!("it returned without reading {read:x?}")),
                };
            }
            if self.failures.contains(&pc) {
                return End::Failed;
            }
            if !self.inputs.contains_key(&pc) {
                return End::Odd(format!("it stopped at {pc:#x}"));
            }
            match reads.next() {
                Some((Source::Function(function), value)) if *function == pc => {
                    let bits = self.inputs.get(&pc).copied().unwrap_or(32);
                    // Callees extend what they return.
                    let shift = 32 - bits.unsigned_abs();
                    let signed = ((*value << shift) as i32 >> shift) as u32;
                    self.set(0, if bits < 0 { signed } else { *value });
                }
                other => return End::Odd(format!("it reads from {pc:#x}, predicted {other:x?}")),
            }
            // What calls do not preserve.
            for register in [1, 2, 3, 12] {
                self.set(register, rng.bits() as u32);
            }
            let back = self.get(LR) & !1;
            self.set(PC, back);
        }
    }
}
