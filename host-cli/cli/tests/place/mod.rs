//! A folder in which the program runs, and what it says.
#![allow(dead_code, clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// A pump that may run only while there is water; with a `limit` above 12 too long.
pub const PUMP: &str = "\
machine pump {
    param limit: u4 in 3..=14;
    input water: bool;
    var timer: u4 = 0;
    initial state Idle {
        on water -> Running { timer = 0; }
    }
    state Running {
        on !water -> Idle;
        on timer == limit -> Idle;
        on timer > limit -> Idle;
        else { timer += 1; }
    }
    property short: always timer <= 12;
}
";

/// How the program ended, and what it has said.
pub struct Output {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Output {
    #[track_caller]
    pub fn ended(self, code: i32) -> Output {
        assert_eq!(self.code, code, "stdout:\n{}\nstderr:\n{}", self.out, self.err);
        self
    }
    #[track_caller]
    pub fn says(self, what: &str) -> Output {
        let all = format!("{}{}", self.out, self.err);
        assert!(all.contains(what), "`{what}` is not in\n{all}");
        self
    }
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap_or_else(|e| panic!("{e}: {} {}", self.out, self.err))
    }
}

/// A temporary folder in which the program runs; it is deleted in the end.
pub struct Place(pub tempfile::TempDir);

impl Place {
    pub fn new(files: &[(&str, &str)]) -> Place {
        let place = Place(tempfile::tempdir().unwrap());
        files.iter().for_each(|(path, text)| place.write(path, text));
        place
    }
    pub fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }
    pub fn write(&self, path: &str, content: impl AsRef<[u8]>) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }
    pub fn read(&self, path: &str) -> String {
        fs::read_to_string(self.path(path)).unwrap()
    }
    pub fn bytes(&self, path: &str) -> Vec<u8> {
        fs::read(self.path(path)).unwrap()
    }
    /// The program with these arguments, and without settings of whoever runs the tests.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vouch"));
        command.current_dir(&self.0).args(args).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("VOUCH_") {
                command.env_remove(name);
            }
        }
        command
    }
    pub fn run(&self, args: &[&str]) -> Output {
        ended(&mut self.command(args))
    }
}

/// Runs a program to its end.
pub fn ended(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let code = output.status.code().unwrap();
    let output = Output { code, out: text(&output.stdout), err: text(&output.stderr) };
    assert!(!output.err.contains("panicked"), "{}", output.err);
    output
}
