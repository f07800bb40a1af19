//! `labgrid:PLACE` with labgrid's own coordinator and exporter, and emulated boards with their power switches. Left out where
//! labgrid is not installed; `cargo xtask setup` does that.
#![cfg(unix)]

use crate::bench::{self, Board, Trouble};
use serde_json::Value;
use std::fs::{self, File};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

const DOOR: &str = "\
machine door {
    param broken: bool;
    input go: bool;
    var open: bool = false;
    var moving: bool = false;
    initial state Rest {
        on go && (!moving || broken) { open = !open; }
        on !go && !open { moving = !moving; }
    }
    property never_both: never open && moving;
}
";

/// A program that is ended with this.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A coordinator and an exporter.
struct Lab {
    folder: tempfile::TempDir,
    /// Where labgrid's programs are.
    programs: PathBuf,
    coordinator: String,
    _running: Vec<Running>,
}

impl Lab {
    fn new(boards: &[Board]) -> Option<Lab> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target/labgrid/bin");
        let mut folders = std::env::split_paths(&path).chain([ours]);
        let programs = folders.find(|f| f.join("labgrid-coordinator").is_file());
        let Some(programs) = programs else {
            eprintln!("left out: labgrid is not installed");
            return None;
        };
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let coordinator = format!("127.0.0.1:{port}");
        let mut resources = String::new();
        for (i, board) in boards.iter().enumerate() {
            let (host, port) = board.address.rsplit_once(':').unwrap();
            resources += &format!(
                "board-{i}:\n  NetworkSerialPort:\n    host: {host}\n    port: {port}\n    protocol: raw\n  \
                 NetworkPowerPort:\n    model: simplerest\n    host: '{}/{{value}}'\n    index: 0\n",
                board.switch
            );
        }
        fs::write(folder.path().join("lab.yaml"), resources).unwrap();
        let mut lab = Lab { folder, programs, coordinator, _running: vec![] };
        lab.start("labgrid-coordinator", &["-l", &lab.coordinator.clone()]);
        lab.until(|lab| lab.client(&["places"]).status.success());
        let address = lab.coordinator.clone();
        lab.start("labgrid-exporter", &["-c", &address, "-n", "lab", "lab.yaml"]);
        let count = boards.len();
        lab.until(|lab| {
            let listed = lab.client(&["resources"]).stdout;
            String::from_utf8_lossy(&listed).lines().count() >= 2 * count
        });
        for i in 0..count {
            let place = format!("board-{i}");
            assert!(lab.client(&["-p", &place, "create"]).status.success());
            let pattern = format!("lab/{place}/*");
            assert!(lab.client(&["-p", &place, "add-match", &pattern]).status.success());
        }
        Some(lab)
    }

    fn path(&self) -> &Path {
        self.folder.path()
    }

    fn command(&self, program: &Path, args: &[&str]) -> Command {
        let mut command = Command::new(program);
        command.args(args).current_dir(self.path()).stdin(Stdio::null());
        command.env("LG_COORDINATOR", &self.coordinator);
        let path = std::env::var_os("PATH").unwrap_or_default();
        let path = std::env::split_paths(&path).chain([self.programs.clone()]);
        command.env("PATH", std::env::join_paths(path).unwrap());
        command
    }

    fn start(&mut self, program: &str, args: &[&str]) {
        let log = File::create(self.path().join(program)).unwrap();
        let mut command = self.command(&self.programs.join(program), args);
        let child = command.stdout(log.try_clone().unwrap()).stderr(log).spawn().unwrap();
        self._running.push(Running(child));
    }

    fn client(&self, args: &[&str]) -> Output {
        self.command(&self.programs.join("labgrid-client"), args).output().unwrap()
    }

    #[track_caller]
    fn until(&self, done: impl Fn(&Lab) -> bool) {
        let start = Instant::now();
        while !done(self) {
            assert!(start.elapsed() < Duration::from_secs(60), "labgrid does not start");
            std::thread::sleep(Duration::from_millis(200));
        }
    }

    fn vouch(&self, args: &[&str]) -> (i32, Value, String) {
        let program = Path::new(env!("CARGO_BIN_EXE_vouch"));
        let output = self.command(program, args).output().unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        (output.status.code().unwrap(), json, err)
    }
}

/// Four boards: two are well, one has a model that fails on purpose, one loses its power in the middle
/// and is off until labgrid has switched it on again. A fifth place does not exist.
#[test]
fn boards_that_labgrid_lends() {
    let Some(firmware) = bench::firmware() else { return };
    let board = |power_fails_after| {
        let trouble = Trouble { power_fails_after, stays_off: true, ..Trouble::default() };
        Board::new("qemu:lm3s6965evb", &firmware, trouble)
    };
    let boards = [board(0), board(0), board(0), board(100)];
    let Some(lab) = Lab::new(&boards) else { return };
    fs::write(lab.path().join("door.vch"), DOOR).unwrap();
    let mut rig = String::from("retries = 1\n");
    for i in 0..4 {
        rig +=
            &format!("[[device]]\nname = \"d{i}\"\ntarget = \"labgrid:board-{i}\"\nsettle = 0\n");
    }
    rig += "[[device]]\nname = \"none\"\ntarget = \"labgrid:board-9\"\npower-cycle = \"true\"\nsettle = 0\n";
    rig += "[[model]]\nfile = \"door.vch\"\nparameters = [{ broken = false }]\n";
    rig += "[[model]]\nfile = \"door.vch\"\nname = \"faulty\"\nparameters = [{ broken = true }]\ndevices = [\"d2\"]\n";
    fs::write(lab.path().join("rig.toml"), rig).unwrap();
    let (code, result, err) = lab.vouch(&["rig", "--json"]);
    assert_eq!(code, 1, "{result} {err}");
    let rows = result["rows"].as_array().unwrap();
    let row = |job: &str| rows.iter().find(|r| r["job"] == job).unwrap();
    for i in 0..4 {
        let row = row(&format!("d{i}/door/broken=false/prove"));
        assert_eq!((&row["state"], &row["verdict"]), (&"passed".into(), &"safe".into()), "{row}");
        assert_eq!(row["attempts"], if i == 3 { 2 } else { 1 }, "{row}");
    }
    assert_eq!(boards[3].starts.load(Ordering::Relaxed), 2);
    assert_eq!(row("d2/faulty/broken=true/prove")["verdict"], "unsafe");
    let none = row("none/door/broken=false/prove");
    assert_eq!(none["state"], "error");
    assert!(none["reason"].as_str().unwrap().contains("matches nothing"), "{none}");
    // All are given back.
    let who = lab.client(&["who"]);
    let who = String::from_utf8_lossy(&who.stdout).into_owned();
    assert!(!who.contains("board-"), "{who}");
    // One that the user has stays the user's.
    assert!(lab.client(&["-p", "board-0", "acquire"]).status.success());
    let args =
        ["run", "door.vch", "--bind", "broken=false", "--target", "labgrid:board-0", "--json"];
    let (code, result, err) = lab.vouch(&args);
    assert_eq!(code, 0, "{result} {err}");
    let who = lab.client(&["who"]);
    assert!(String::from_utf8_lossy(&who.stdout).contains("board-0"));
}
