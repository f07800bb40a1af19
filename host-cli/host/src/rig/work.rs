//! One job on one device: the model goes there, the answer comes back and is judged here.

use super::config::{Mode, Reached};
use super::plan::Job;
use crate::check::{self, By, CheckError, Request};
use crate::client::{Client, DeviceError, Patience};
use crate::deadline::{Deadline, Over};
use crate::formats::Names;
use crate::judge::{Finding, Judgement, Reason};
use crate::pipeline::Loaded;
use crate::verdict::Verdict;
use std::time::Duration;
use vouch_core::link::MAX_PAYLOAD;

/// Bits on a serial line for a byte, and what frames add at most.
const BITS: u64 = 10;
const FRAMING: usize = 16;

/// What came out of a job.
#[derive(Clone, PartialEq, Debug)]
pub struct Answered {
    /// The verdict after validation on the host, not what the device claims.
    pub verdict: Verdict,
    /// Why it is unknown, or what is broken.
    pub reason: Option<String>,
    /// What the device calls itself.
    pub board: String,
    /// The firmware's build identifier, as the device reports it.
    pub build: String,
}

/// Why there is no verdict.
#[derive(Clone, PartialEq, Debug)]
pub enum Trouble {
    /// The device is gone, busy, or does not do what it should.
    Device(String),
    /// The user has stopped everything.
    Stopped,
}

impl From<DeviceError> for Trouble {
    fn from(error: DeviceError) -> Trouble {
        match error {
            DeviceError::Ended(Over::Cancelled | Over::Memory) => Trouble::Stopped,
            error => Trouble::Device(error.to_string()),
        }
    }
}

/// How long to wait on a line of this speed: a request and its reply take their time there.
pub fn patience(baud: u32) -> Patience {
    let bytes = 2 * (MAX_PAYLOAD + FRAMING) as u64;
    let time = Duration::from_millis(bytes * BITS * 1000 / u64::from(baud.max(1)));
    let default = Patience::default();
    Patience { reply: default.reply + time, ..default }
}

/// Does a job.
pub fn attempt(
    device: &Reached,
    job: &Job,
    model: &Loaded,
    deadline: &Deadline,
    told: &mut dyn FnMut(&str),
) -> Result<Answered, Trouble> {
    told("reaching it");
    let patience = patience(device.settings.baud);
    let mut client = Client::connect(&device.target, &device.settings, patience)?;
    client.stop_at(deadline.clone());
    let answered = dialogue(&mut client, job, model, deadline, told);
    // What is broken first is what matters.
    let finished = client.finish();
    let answered = answered?;
    finished?;
    Ok(answered)
}

fn dialogue(
    client: &mut Client,
    job: &Job,
    model: &Loaded,
    deadline: &Deadline,
    told: &mut dyn FnMut(&str),
) -> Result<Answered, Trouble> {
    let (board, build) = (client.info().board.clone(), client.info().build.clone());
    let unknown = |reason: Reason| {
        let (board, build) = (board.clone(), build.clone());
        Ok(Answered { verdict: Verdict::Unknown, reason: Some(reason.to_string()), board, build })
    };
    told("loading");
    let is_stored = match job.mode {
        Mode::Stored => true,
        Mode::Prove => false,
    };
    let loading = |sent, all: usize| told(&format!("loading, {} %", sent * 100 / all.max(1)));
    match check::load(model, client, is_stored, loading) {
        Err(DeviceError::TooLarge { .. }) => return unknown(Reason::Capacity),
        Err(DeviceError::Ended(Over::Timeout)) => return unknown(Reason::Timeout),
        loaded => loaded?,
    };
    told("proving");
    let request = Request {
        deadline: deadline.clone(),
        last_moments: deadline.with_grace(Duration::from_secs(5)),
        ..Request::new(job.question.clone())
    };
    let found = match check::search(model, &request, By::Device(client), &mut |_| {}) {
        Ok(found) => found,
        Err(CheckError::Device(DeviceError::TooLarge { .. })) => return unknown(Reason::Capacity),
        Err(CheckError::Device(DeviceError::Ended(Over::Timeout))) => {
            return unknown(Reason::Timeout);
        }
        Err(CheckError::Device(error)) => return Err(error.into()),
        Err(CheckError::Engine(error)) => return Err(Trouble::Device(error.to_string())),
    };
    told("validating");
    let judgement = found.judge(model, &request, &mut |_| {}).judgement;
    if deadline.is_stopped() {
        return Err(Trouble::Stopped);
    }
    // What does not survive validation is not a verdict: the device, or vouch, is broken.
    if let Some((_, why)) = judgement.complaints().next() {
        return Err(Trouble::Device(format!("what it says is not true: {why}")));
    }
    let (verdict, reason) = (judgement.verdict(), reason(model, &judgement));
    Ok(Answered { verdict, reason, board, build })
}

fn reason(model: &Loaded, judgement: &Judgement) -> Option<String> {
    let names = Names::new(&model.cfa);
    match judgement.verdict() {
        Verdict::Safe => None,
        Verdict::Unknown => judgement.reason().map(ToString::to_string),
        Verdict::Unsafe => {
            let is_broken = |f: &&(_, Finding)| matches!(f.1, Finding::Unsafe(_));
            let broken = judgement.findings.iter().filter(is_broken).map(|f| names.property(f.0));
            Some(format!("{} is broken", broken.collect::<Vec<_>>().join(", ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_lines_get_more_time() {
        let reply = |baud| patience(baud).reply;
        assert!(reply(9600) > Duration::from_millis(600));
        assert!(reply(115_200) < Duration::from_millis(300));
        assert!(reply(0) > Duration::from_secs(60));
    }
}
