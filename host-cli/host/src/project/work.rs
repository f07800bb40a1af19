//! One check of a project: looked up, or left to a `vouch` of its own.
//!
//! A process of its own has its own limits of time and memory, and takes nothing down with it.

use super::file::Check;
use super::matrix::Proof;
use super::store::{Store, hash, hash_all};
use super::{FOLDER, content};
use crate::deadline::{Deadline, Over};
use crate::pipeline::Options;
use crate::report::json::Outcome;
use crate::report::results::{Checked, ErrorOutcome, FORMATS, Failed, Format, Item};
use crate::verdict::{Reason, Verdict};
use serde::{Deserialize, Serialize};
use std::io::{Read, Seek};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// How long a process may take to end after the time of all is over.
const GRACE: Duration = Duration::from_millis(300);
/// How much earlier than all the time of a process ends, at least, so that what it has found is still heard.
const MARGIN: f64 = 1.2;
/// Variables of the environment that say what to do with one result, not with all; and those of [`FORMATS`].
const NOT_INHERITED: [&str; 15] = [
    "CERTIFICATE",
    "COLOR",
    "GITHUB",
    "HARNESS",
    "HTML",
    "JOBS",
    "JSON",
    "NO_CACHE",
    "QUIET",
    "SEED",
    "TIMEOUT",
    "TRACE",
    "VERBOSE",
    "WATCH",
    "WITNESS",
];

/// One check, ready to be done.
#[derive(Clone, Debug)]
pub struct Task {
    /// As the project says.
    pub check: Check,
    /// The flags of `vouch check`, with those of the command line.
    pub flags: Vec<String>,
    /// How the model is read with them.
    pub options: Options,
}

/// What the checks of a project share.
#[derive(Clone, Debug)]
pub struct Shop {
    /// The `vouch` that checks.
    pub tool: PathBuf,
    /// The folder that paths are seen from.
    pub root: PathBuf,
    /// What was found out before; and whether it counts.
    pub use_cache: bool,
    /// Whether a verdict counts only with its proof.
    pub need_proof: bool,
    /// The most bytes that each process may have, unless its flags say so.
    pub max_rss: Option<u64>,
    /// When all checks have to stop; each process is told to end a little earlier.
    pub deadline: Deadline,
}

/// What came of it.
#[derive(Clone, PartialEq, Debug)]
pub struct Done {
    /// The result under the check's name, as reports take it.
    pub item: Item,
    /// The proof of what is safe.
    pub proof: Option<Proof>,
    /// What the content was, if it could be read.
    pub content: Option<String>,
}

/// What is kept of a check.
#[derive(Serialize, Deserialize)]
struct Kept {
    outcome: Outcome,
    certificate: Option<String>,
}

impl Shop {
    fn store(&self) -> Store {
        Store::new(self.root.join(FOLDER))
    }

    /// What a check depends on, as far as its files tell.
    pub fn content(&self, task: &Task) -> Option<String> {
        let digest = || content::digest(&self.root.join(&task.check.path), &task.options);
        self.deadline.enter(digest).ok().flatten()
    }

    /// How long it took last time.
    pub fn last_time(&self, task: &Task) -> Option<f64> {
        let bytes = self.store().get(&task.check.id(), "time")?;
        String::from_utf8(bytes).ok()?.parse().ok()
    }

    fn key(&self, task: &Task, content: &str) -> Option<String> {
        let tool = self.store().program(&self.tool).ok()?;
        let mut variables: Vec<String> = std::env::vars_os()
            .filter(|(name, _)| is_inherited(&name.to_string_lossy()))
            .map(|(name, value)| format!("{name:?}={value:?}"))
            .collect();
        variables.sort();
        let flags = format!("{:?}", task.flags);
        let parts = [&tool, &task.check.path, &flags, &variables.join("\n"), content];
        Some(hash_all(&parts.map(|part| part.as_bytes())))
    }

    fn certificate(&self, task: &Task) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let name: String = task.check.name.chars().map(plain).collect();
        let id = task.check.id();
        self.store().path(&format!("certificates/{name}-{}", &id[..8]), "cert")
    }

    /// The proof that belongs to a verdict, if it is there.
    fn proof(&self, task: &Task, sum: Option<&String>) -> Option<Proof> {
        let path = self.certificate(task);
        let there = hash(&std::fs::read(&path).ok()?);
        (Some(&there) == sum).then(|| Proof {
            path: path.strip_prefix(&self.root).unwrap_or(&path).display().to_string(),
            sha256: there,
        })
    }

    /// Does it, unless that was done before.
    pub fn work(&self, task: &Task) -> Done {
        let content = self.content(task);
        let key = content.as_ref().and_then(|content| self.key(task, content));
        let (mut checked, proof) = match self.known(task, key.as_deref()) {
            Some((outcome, proof)) => (Checked::Done(Box::new(outcome)), proof),
            None => self.ask(task, key.as_deref()),
        };
        if let Checked::Done(outcome) = &mut checked {
            for p in &mut outcome.properties {
                for id in task.check.requirements.of(&p.name) {
                    if !p.requirements.contains(id) {
                        p.requirements.push(id.clone());
                    }
                }
            }
        }
        let (name, path) = (task.check.name.clone(), task.check.path.clone());
        Done { item: Item { name, path, checked }, proof, content }
    }

    fn known(&self, task: &Task, key: Option<&str>) -> Option<(Outcome, Option<Proof>)> {
        let bytes = self.store().get(key.filter(|_| self.use_cache)?, "check")?;
        let Kept { outcome, certificate } = serde_json::from_slice(&bytes).ok()?;
        let proof = self.proof(task, certificate.as_ref());
        let is_proved = outcome.properties.iter().any(|p| p.verdict == Verdict::Safe);
        if self.need_proof && is_proved && proof.is_none() {
            return None;
        }
        Some((Outcome { cached: true, ..outcome }, proof))
    }

    fn ask(&self, task: &Task, key: Option<&str>) -> (Checked, Option<Proof>) {
        let start = Instant::now();
        let place = self.certificate(task);
        let checked = match self.start(task, &place) {
            Ok((child, output)) => self.wait(child, output),
            Err(error) => failed(format!("cannot run {}: {error}", self.tool.display())),
        };
        let Checked::Done(outcome) = &checked else { return (checked, None) };
        let is_proved = outcome.properties.iter().any(|p| p.verdict == Verdict::Safe);
        let sum = std::fs::read(&place).ok().filter(|_| is_proved).map(|bytes| hash(&bytes));
        let time = start.elapsed().as_secs_f64().to_string();
        self.store().put(&task.check.id(), "time", time.as_bytes());
        // What is not known may be known next time.
        if let Some(key) = key.filter(|_| outcome.verdict != Verdict::Unknown) {
            let kept = Kept { outcome: (**outcome).clone(), certificate: sum.clone() };
            self.store().put(key, "check", &serde_json::to_vec(&kept).unwrap_or_default());
        }
        let proof = self.proof(task, sum.as_ref());
        (checked, proof)
    }

    fn start(&self, task: &Task, place: &Path) -> std::io::Result<(Child, std::fs::File)> {
        let folder = place.parent().unwrap_or(&self.root);
        self.store().make(folder);
        let output = tempfile::tempfile()?;
        let mut command = Command::new(&self.tool);
        command.current_dir(&self.root).args(["check", "--json", "--color=never", "--no-project"]);
        let mut flags = task.flags.clone();
        if let Some(left) = self.deadline.left() {
            let is_time = |flag: &&String| flag.starts_with("--timeout=");
            let own =
                flags.iter().find(is_time).and_then(|flag| flag.split_once('=')?.1.parse().ok());
            let left = left.as_secs_f64();
            let left = (left - MARGIN.max(left / 16.0)).max(0.01);
            let time = left.min(own.unwrap_or(f64::INFINITY));
            flags.retain(|flag| !is_time(&flag));
            flags.push(format!("--timeout={time}"));
        }
        if let (Some(bytes), false) =
            (self.max_rss, flags.iter().any(|flag| flag.starts_with("--max-rss=")))
        {
            flags.push(format!("--max-rss={bytes}"));
        }
        command.args(flags);
        if self.use_cache && place.is_file() {
            command.arg("--seed").arg(place);
        }
        command.arg("--certificate").arg(place).arg("--").arg(&task.check.path);
        for name in not_inherited() {
            command.env_remove(name);
        }
        command.stdin(Stdio::null()).stdout(output.try_clone()?).stderr(Stdio::null());
        Ok((command.spawn()?, output))
    }

    fn wait(&self, mut child: Child, mut output: std::fs::File) -> Checked {
        let start = Instant::now();
        let mut over: Option<(Instant, Over)> = None;
        let status: std::io::Result<ExitStatus> = loop {
            match child.try_wait() {
                Ok(Some(status)) => break Ok(status),
                Err(error) => break Err(error),
                Ok(None) => {}
            }
            over = over.or_else(|| Some((Instant::now(), self.deadline.over()?)));
            if over.is_some_and(|(since, _)| since.elapsed() > GRACE) {
                let _ = child.kill();
                break child.wait();
            }
            // Short checks are not held up, long ones not disturbed.
            let pause =
                (start.elapsed() / 16).clamp(Duration::from_millis(1), Duration::from_millis(20));
            std::thread::sleep(pause);
        };
        let mut text = String::new();
        let read = output.rewind().and_then(|()| output.read_to_string(&mut text));
        let said = read.ok().and_then(|_| Checked::from_json(text.trim()).ok());
        match (said, over, status) {
            (Some(said), _, _) => said,
            (None, Some((_, over)), _) => {
                let reason: Reason = over.into();
                Checked::Done(Box::new(Outcome { reason: Some(reason), ..Outcome::default() }))
            }
            (None, None, Ok(status)) => {
                failed(format!("vouch was ended without a word ({status})"))
            }
            (None, None, Err(error)) => failed(format!("vouch is not there any more: {error}")),
        }
    }
}

/// The variables of vouch that the processes of a project do not get.
fn not_inherited() -> impl Iterator<Item = String> {
    let own = NOT_INHERITED.iter().map(|name| format!("VOUCH_{name}"));
    own.chain(FORMATS.iter().map(Format::variable))
}

/// Whether a variable of the environment changes what a check finds.
fn is_inherited(name: &str) -> bool {
    name.starts_with("VOUCH_") && not_inherited().all(|other| other != name)
}

fn failed(message: String) -> Checked {
    let error = ErrorOutcome { kind: "internal".into(), message, ..ErrorOutcome::default() };
    Checked::Failed(Failed { error, exit_code: 2 })
}
