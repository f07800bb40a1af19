//! Who races.

use super::limit::{self, Limits};
use super::suite::Problem;
use crate::{project, record, shell};
use anyhow::{Result, bail};
use serde_json::Value;
use std::path::Path;
use std::process::{Command, Stdio};

/// What a racer said.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// No run breaks the property.
    Safe,
    /// A run does.
    Unsafe,
    /// Nothing, within its limits.
    Unknown,
}

/// Peers that are known here.
pub const NAMES: [&str; 7] =
    ["vouch-ic3", "vouch-aiger", "abc", "ric3", "spacer", "btormc", "cbmc"];

/// Which file of a problem a racer gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Input {
    /// The problem as it is.
    Original,
    /// A binary AIGER file with one property: the original, where it is one, else our export.
    Aiger,
    /// A BTOR2 file: the original, where it is one, else our export.
    Btor2,
    /// Our export to Horn clauses.
    Smt2,
    /// A C program, with a body for the error function.
    C,
}

/// A program that decides problems.
#[derive(Clone)]
pub struct Racer {
    /// What it is called.
    pub name: &'static str,
    /// How it is told apart from others of its name.
    pub version: String,
    /// What it reads.
    pub reads: &'static str,
    input: Input,
    command: Vec<String>,
    read: fn(&limit::Ended) -> Answer,
}

/// vouch itself with the engine `ic3cfa`, on the original file.
pub fn vouch() -> Racer {
    own("vouch", "ic3cfa", Input::Original)
}

/// vouch as users call it, on the original file.
pub fn auto() -> Racer {
    own("vouch", "auto", Input::Original)
}

fn own(name: &'static str, engine: &str, input: Input) -> Racer {
    let tool = project::tool().display().to_string();
    let words = [&tool, "check", "FILE", "--json", "--engine", engine];
    Racer {
        name,
        version: record::commit(),
        reads: if input == Input::Original { "the file itself" } else { "AIGER" },
        input,
        command: words.map(String::from).to_vec(),
        read: |ended| {
            let json = ended.text.lines().find_map(|l| serde_json::from_str::<Value>(l).ok());
            let verdict = json.as_ref().map(|j| match &j["properties"] {
                Value::Array(list) if !list.is_empty() => list[0]["verdict"].as_str(),
                _ => j["verdict"].as_str(),
            });
            match verdict.flatten() {
                Some("safe") => Answer::Safe,
                Some("unsafe") => Answer::Unsafe,
                _ => Answer::Unknown,
            }
        },
    }
}

const SPACER: &str = "\
import sys, z3
s = z3.SolverFor('HORN')
s.from_file(sys.argv[1])
print(s.check())";

/// A peer, if it is installed: at `place`, or on the path.
pub fn find(name: &str, place: Option<&Path>) -> Result<Option<Racer>> {
    let first_line = |program: &str, flag: &str| {
        let output = Command::new(program).arg(flag).stdin(Stdio::null()).output().ok()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Some(text.lines().map(str::trim).find(|l| !l.is_empty()).unwrap_or("").to_string())
    };
    let program = |candidates: &[&str]| match place {
        Some(place) => place.is_file().then(|| place.to_path_buf()),
        None => candidates.iter().find_map(|c| shell::find(c)),
    };
    let text = |path: &Path| path.display().to_string();
    Ok(match name.to_ascii_lowercase().as_str() {
        "vouch-ic3" => Some(own("vouch-ic3", "ic3", Input::Original)),
        "vouch-aiger" => Some(own("vouch-aiger", "ic3cfa", Input::Aiger)),
        "abc" => program(&["berkeley-abc", "abc"]).map(|path| Racer {
            name: "abc",
            version: "pdr".into(),
            reads: "AIGER",
            input: Input::Aiger,
            command: vec![
                text(&path),
                "-c".into(),
                "read_aiger FILE; logic; undc; strash; zero; fold; pdr".into(),
            ],
            read: |ended| {
                if ended.text.contains("Property proved") || ended.text.contains("is proved") {
                    Answer::Safe
                } else if ended.text.contains("was asserted in frame") {
                    Answer::Unsafe
                } else {
                    Answer::Unknown
                }
            },
        }),
        "ric3" => program(&["rIC3", "ric3"]).map(|path| Racer {
            name: "ric3",
            version: first_line(&text(&path), "--version").unwrap_or_default(),
            reads: "AIGER",
            input: Input::Aiger,
            command: vec![text(&path), "-e".into(), "ic3".into(), "FILE".into()],
            read: |ended| match ended.code {
                Some(20) => Answer::Safe,
                Some(10) => Answer::Unsafe,
                _ => Answer::Unknown,
            },
        }),
        "spacer" => {
            let python = program(&["python3"]);
            let version = python.as_ref().and_then(|p| {
                let script = "import z3; print(z3.get_version_string())";
                let output = Command::new(p).args(["-c", script]).output().ok()?;
                let version = String::from_utf8_lossy(&output.stdout).trim().to_string();
                output.status.success().then_some(version)
            });
            python.zip(version).map(|(path, version)| Racer {
                name: "spacer",
                version: format!("z3 {version}"),
                reads: "our Horn clauses",
                input: Input::Smt2,
                command: vec![text(&path), "-c".into(), SPACER.into(), "FILE".into()],
                read: |ended| match ended.text.lines().last().map(str::trim) {
                    Some("sat") => Answer::Safe,
                    Some("unsat") => Answer::Unsafe,
                    _ => Answer::Unknown,
                },
            })
        }
        "btormc" => program(&["btormc"]).map(|path| Racer {
            name: "btormc",
            version: first_line(&text(&path), "--version").unwrap_or_default(),
            reads: "BTOR2",
            input: Input::Btor2,
            command: vec![text(&path), "-kmax".into(), "1000".into(), "FILE".into()],
            read: |ended| match ended.text.lines().next().map(str::trim) {
                Some("sat") => Answer::Unsafe,
                _ => Answer::Unknown,
            },
        }),
        "cbmc" => program(&["cbmc"]).map(|path| Racer {
            name: "cbmc",
            version: first_line(&text(&path), "--version").unwrap_or_default(),
            reads: "C",
            input: Input::C,
            command: [&text(&path), "--32", "--unwind", "100", "--unwinding-assertions", "FILE"]
                .map(String::from)
                .to_vec(),
            read: |ended| cbmc(&ended.text),
        }),
        _ => bail!(shell::Usage(format!("unknown peer `{name}`; known are {}", NAMES.join(", ")))),
    })
}

/// What cbmc says of the error function. Of loops that run longer than they were unrolled nothing is
/// known, and what else it checks is not asked.
fn cbmc(text: &str) -> Answer {
    let failed = |kind: &str| {
        let mut lines = text.lines().map(str::trim_end);
        lines.any(|line| line.contains(kind) && line.ends_with("FAILURE"))
    };
    if failed(".assertion.") {
        Answer::Unsafe
    } else if failed(".unwind.") || !text.contains("VERIFICATION ") {
        Answer::Unknown
    } else {
        Answer::Safe
    }
}

impl Racer {
    /// Whether it reads problems of this kind.
    pub fn takes(&self, problem: &Problem) -> bool {
        self.input != Input::C || problem.is_c()
    }

    /// Runs it on a problem. Returns its answer, and CPU seconds.
    pub fn run(&self, problem: &Problem, limits: &Limits) -> Result<(Answer, f64)> {
        let file = match self.input {
            Input::Original => problem.original.clone(),
            Input::Aiger => problem.aiger()?,
            Input::Btor2 => problem.btor2()?,
            Input::Smt2 => problem.smt2()?,
            Input::C => problem.c()?,
        };
        let file = file.display().to_string();
        let mut words: Vec<String> =
            self.command.iter().map(|w| w.replace("FILE", &file)).collect();
        if self.input == Input::Original {
            words.extend(problem.options());
        }
        let ended = limit::run(&words, limits, &problem.scratch("out"))?;
        let over = ended.seconds > limits.seconds as f64;
        let answer = if over { Answer::Unknown } else { (self.read)(&ended) };
        Ok((answer, ended.seconds))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cbmc_is_asked_for_the_error_alone() {
        let unwound = "[main.unwind.0] line 3 unwinding assertion loop 0: ";
        let error = "[__VERIFIER_error.assertion.1] line 2 error: ";
        let other = "[main.overflow.1] line 7 arithmetic overflow on signed +: FAILURE\n";
        let say = |loops: &str, bad: &str, end: &str| {
            cbmc(&format!("{other}{unwound}{loops}\n{error}{bad}\n\nVERIFICATION {end}\n"))
        };
        assert_eq!(say("SUCCESS", "SUCCESS", "SUCCESSFUL"), Answer::Safe);
        assert_eq!(say("SUCCESS", "SUCCESS", "FAILED"), Answer::Safe);
        assert_eq!(say("SUCCESS", "FAILURE", "FAILED"), Answer::Unsafe);
        assert_eq!(say("FAILURE", "FAILURE", "FAILED"), Answer::Unsafe);
        assert_eq!(say("FAILURE", "SUCCESS", "FAILED"), Answer::Unknown);
        assert_eq!(cbmc(error), Answer::Unknown);
    }
}
