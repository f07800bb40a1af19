//! Many devices and many models: each model, with each set of parameters and in each mode, on each device.
//!
//! - [`config`]: the file, `rig.toml`.
//! - [`plan`]: the jobs that it means.
//! - [`work`]: one job on one device.
//! - [`run`]: all of them, at the same time on different devices; retries, power cycles, quarantine.
//! - [`history`]: what came out, in a database: to resume from, and to compare with.
//! - [`file`]: the result as JSON, and several of them as one.
//! - [`summary`]: the result for people, as a page, and for CI systems.

pub mod config;
pub mod file;
pub mod history;
pub mod plan;
pub mod run;
pub mod summary;
pub mod work;

use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::fmt;

/// How a job ended.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// The verdict is the expected one.
    Passed,
    /// It is another.
    Failed,
    /// The device is gone, busy, or says what is not true.
    Error,
    /// Nobody has tried: the device has failed too often, or no file has the result.
    Skipped,
}

impl State {
    /// All of them.
    pub const ALL: [State; 4] = [State::Passed, State::Failed, State::Error, State::Skipped];

    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            State::Passed => "passed",
            State::Failed => "failed",
            State::Error => "error",
            State::Skipped => "skipped",
        }
    }

    /// Of its name.
    pub fn named(name: &str) -> Option<State> {
        State::ALL.into_iter().find(|state| state.name() == name)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The result of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Row {
    /// The job: device, model, parameters, mode.
    pub job: String,
    /// The device's name.
    pub device: String,
    /// The model's name.
    pub model: String,
    /// Its parameters, as `limit=3`; may be empty.
    pub parameters: String,
    /// How it was checked.
    pub mode: String,
    /// How it ended.
    pub state: State,
    /// The verdict, if there is one.
    pub verdict: Option<Verdict>,
    /// Why there is none, or why it is unknown, or which property is broken.
    pub reason: Option<String>,
    /// How often it was tried.
    pub attempts: u32,
    /// Wall-clock seconds from the first attempt to the result.
    pub time_s: f64,
    /// What the device calls itself, and its firmware.
    pub board: Option<String>,
    /// The firmware's build identifier; `None` if there is no answer.
    pub build: Option<String>,
}

/// A job whose result is another than last time.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Change {
    /// The job's name, as in [`Row::job`].
    pub job: String,
    /// How it ended last time; nothing if it is new.
    pub before: Option<State>,
    /// How it ended now; nothing if it is gone.
    pub now: Option<State>,
}
