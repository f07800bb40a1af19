//! What QEMU says that comes of cases.

use super::{CODE, Case, State, Target, WINDOW};
use std::ffi::OsString;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};
use vouch_host::frontend::elf::isa::It;
use vouch_host::transport::companion::{self, Companion};

/// What came of a case.
pub struct Emulated {
    /// Registers and flags after the case.
    pub state: State,
    /// Whether it ended with a jump to an address without bit 0.
    pub not_thumb: bool,
    /// The contents of the window.
    pub window: [u8; WINDOW],
}

/// The program that executes cases.
pub struct Harness {
    folder: tempfile::TempDir,
}

/// Longer than a run takes on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);

impl Harness {
    /// Builds it for a target.
    pub fn build(target: &Target) -> Harness {
        let folder = tempfile::Builder::new().prefix("vouch-").tempdir().unwrap();
        let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/isa/harness");
        let script = sources.join(if target.is_thumb() { "thumb.x" } else { "riscv.x" });
        let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
        let mut command = Command::new(rustc);
        command.args(["--edition", "2024", "--crate-type", "bin", "-O", "-C", "panic=abort"]);
        command.args(["--target", target.triple, "--cfg", target.cfg]);
        command.arg("-C").arg(format!("link-arg=-T{}", script.display()));
        command.arg("-o").arg(folder.path().join("harness")).arg(sources.join("main.rs"));
        assert!(command.status().unwrap().success(), "{command:?}");
        Harness { folder }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }
}

/// Runs cases. There are fewer results than cases if one did not come back.
pub fn run(target: &Target, harness: &Harness, cases: &[&Case]) -> Result<Vec<Emulated>, String> {
    let mut input = vec![];
    for case in cases {
        input.extend(record(target, case));
    }
    fs::write(harness.file("in"), input).unwrap();
    let mut names = vec![0; 512];
    for (at, name) in [(0, "in"), (256, "out")] {
        let path = harness.file(name);
        let bytes = path.as_os_str().as_encoded_bytes();
        assert!(bytes.len() < 256, "{path:?}");
        names[at..at + bytes.len()].copy_from_slice(bytes);
    }
    fs::write(harness.file("names"), names).unwrap();
    let _ = fs::remove_file(harness.file("out"));
    let own = harness.file("own");
    fs::create_dir_all(&own).unwrap();
    let complaints = File::create(harness.file("stderr")).unwrap();
    let program = companion::find(Path::new(target.emulator)).ok_or("QEMU is not installed")?;
    let args = arguments(target, harness);
    let mut process = Companion::start(&program, args, complaints, &own).unwrap();
    let start = Instant::now();
    while process.ended().is_none() && start.elapsed() < PATIENCE {
        std::thread::sleep(Duration::from_millis(5));
    }
    drop(process);
    let output = fs::read(harness.file("out")).unwrap_or_default();
    if output.is_empty() {
        let complaints = fs::read_to_string(harness.file("stderr")).unwrap_or_default();
        return Err(format!("the emulator did nothing: {complaints}"));
    }
    let size = if target.is_thumb() { thumb::RESULT } else { riscv::RESULT };
    // The first one is of no case.
    Ok(output.chunks_exact(size).skip(1).map(|bytes| result(target, bytes)).collect())
}

fn arguments(target: &Target, harness: &Harness) -> Vec<OsString> {
    let fixed = ["-nodefaults", "-display", "none", "-monitor", "none", "-serial", "none"];
    let mut args: Vec<OsString> = fixed.iter().map(OsString::from).collect();
    args.extend(["-machine", target.machine].map(OsString::from));
    args.extend(["-semihosting-config", "enable=on,target=native"].map(OsString::from));
    if !target.is_thumb() {
        args.extend(["-bios", "none"].map(OsString::from));
    }
    args.extend(["-kernel".into(), harness.file("harness").into()]);
    let names = harness.file("names");
    let address = if target.is_thumb() { thumb::NAMES } else { riscv::NAMES };
    let loader = format!("loader,file={},addr={address:#x},force-raw=on", names.display());
    args.extend(["-device".into(), loader.into()]);
    args
}

fn record(target: &Target, case: &Case) -> Vec<u8> {
    let mut words =
        if target.is_thumb() { thumb::record(&case.state) } else { riscv::record(&case.state) };
    words.push(case.place);
    let mut bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    bytes.extend(case.code);
    bytes.extend((0..CODE as u32).map(|i| target.fill(case.place + i)));
    bytes.extend(case.window);
    bytes
}

fn result(target: &Target, bytes: &[u8]) -> Emulated {
    let (words, window) = bytes.split_at(bytes.len() - WINDOW);
    let words: Vec<u32> =
        words.chunks_exact(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect();
    let (state, not_thumb) =
        if target.is_thumb() { thumb::state(&words) } else { (riscv::state(&words), false) };
    Emulated { state, not_thumb, window: window.try_into().unwrap() }
}

/// The layouts of `harness/thumb.s`.
mod thumb {
    use super::*;

    pub const NAMES: u32 = 0x8000;
    pub const RESULT: usize = 4 * 19 + WINDOW;
    const T: u32 = 1 << 24;
    const PADDED: u32 = 1 << 9;

    /// r4 to r11, the frame of an exception, its address, PRIMASK, BASEPRI.
    pub fn record(state: &State) -> Vec<u32> {
        let (r, sp, it) = (&state.regs, state.regs[13], u32::from(state.it.0));
        let padded = sp % 8 != 0;
        let frame = sp - 32 - if padded { 4 } else { 0 };
        let it = (it & 3) << 25 | (it >> 2) << 10;
        let xpsr = state.flags << 28 | it | T | if padded { PADDED } else { 0 };
        let mut words = r[4..12].to_vec();
        words.extend([r[0], r[1], r[2], r[3], r[12], r[14], state.pc, xpsr]);
        words.extend([frame, state.special[0], state.special[1]]);
        words
    }

    pub fn state(words: &[u32]) -> (State, bool) {
        let (frame, xpsr) = (&words[8..16], words[15]);
        let mut regs = [0; 32];
        regs[4..12].copy_from_slice(&words[..8]);
        regs[..4].copy_from_slice(&frame[..4]);
        regs[12] = frame[4];
        regs[14] = frame[5];
        regs[13] = words[16].wrapping_add(if xpsr & PADDED != 0 { 36 } else { 32 });
        let it = It((xpsr >> 25 & 3 | xpsr >> 10 << 2 & 0xfc) as u8);
        let special = [words[17], words[18], 0];
        (State { regs, flags: xpsr >> 28, it, special, pc: frame[6] }, xpsr & T == 0)
    }
}

/// The layouts of `harness/riscv.s`.
mod riscv {
    use super::*;

    pub const NAMES: u32 = 0x8010_0000;
    pub const RESULT: usize = 4 * 34 + WINDOW;

    /// x0 to x31, the address, `mstatus`.
    pub fn record(state: &State) -> Vec<u32> {
        let mut words = state.regs.to_vec();
        words.extend([state.pc, state.special[2]]);
        words
    }

    pub fn state(words: &[u32]) -> State {
        let mut regs: [u32; 32] = words[..32].try_into().unwrap();
        regs[0] = 0;
        // The exception has moved MIE to MPIE and set MPP.
        let mstatus = words[33];
        let mstatus = mstatus & !0x1808 | 0x80 | (mstatus >> 7 & 1) << 3;
        State { regs, flags: 0, it: It::NONE, special: [0, 0, mstatus], pc: words[32] }
    }
}
