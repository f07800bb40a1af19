//! One run under a limit of CPU time and memory.

use anyhow::{Context, Result};
use nix::sys::resource::{UsageWho, getrusage};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What a run may take.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Seconds of CPU time.
    pub seconds: u64,
    /// Bytes of address space.
    pub bytes: u64,
}

/// How a run ended.
pub struct Ended {
    /// The exit code; `None` if it was killed.
    pub code: Option<i32>,
    /// What it printed, on both channels.
    pub text: String,
    /// CPU time in seconds, with that of its children.
    pub seconds: f64,
}

/// CPU time of all children so far.
fn children() -> Result<f64> {
    let usage = getrusage(UsageWho::RUSAGE_CHILDREN)?;
    let seconds = |t: nix::sys::time::TimeVal| t.tv_sec() as f64 + t.tv_usec() as f64 / 1e6;
    Ok(seconds(usage.user_time()) + seconds(usage.system_time()))
}

/// Runs `words` under the limits; `scratch` is a file for what it prints.
pub fn run(words: &[String], limits: &Limits, scratch: &Path) -> Result<Ended> {
    let before = children()?;
    let output = File::create(scratch)?;
    let mut child = Command::new("prlimit")
        .arg(format!("--cpu={}", limits.seconds + 1))
        .arg(format!("--as={}", limits.bytes))
        .args(words)
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .spawn()
        .context("`prlimit` (of util-linux) cannot be started")?;
    // Who sleeps uses no CPU time; nobody may sleep for ever.
    let patience = Duration::from_secs(4 * limits.seconds + 30);
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait()? {
            break status;
        }
        if start.elapsed() > patience {
            child.kill()?;
        }
        std::thread::sleep(Duration::from_millis(2));
    };
    let seconds = children()? - before;
    let text = String::from_utf8_lossy(&std::fs::read(scratch)?).into_owned();
    Ok(Ended { code: status.code(), text, seconds })
}
