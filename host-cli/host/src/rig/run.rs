//! All jobs of a plan: one after the other on a device, at the same time on different ones.
//!
//! A device that fails is tried again, after a power cycle if there is a way to make one. Once it has failed too often in a run, whether or not
//! it came back in between, it gets nothing more: what a flaky device says is not worth the time of the others.

use super::config::Reached;
use super::plan::{Job, Plan};
use super::work::{Answered, Trouble, attempt};
use super::{Row, State};
use crate::deadline::Deadline;
use crate::transport::companion::wait;
use crate::transport::{Target, labgrid};
use crate::verdict::Verdict;
use std::any::Any;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::process::{Command, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

/// How long a power cycle may take.
const POWER: Duration = Duration::from_secs(60);

/// How patient to be with devices.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Policy {
    /// How often a job is tried again.
    pub retries: u32,
    /// Failed attempts after which a device gets no more.
    pub quarantine: u32,
    /// The time for one attempt.
    pub timeout: Duration,
}

/// Progress of a run, as the threads of the devices report it.
#[derive(Clone, PartialEq, Debug)]
pub enum Event {
    /// A device is at a job.
    At {
        /// The device's name in the rig file.
        device: String,
        /// The job's name.
        job: String,
        /// What it is doing.
        doing: String,
    },
    /// An attempt has failed, and there will be another.
    Again {
        /// The job's name.
        job: String,
        /// Why the attempt failed.
        why: String,
    },
    /// A job has ended.
    Done(Row),
}

/// Does all jobs but those that are done already. `told` hears of everything, in this thread. Returns whether nothing was left
/// because the user stopped it.
pub fn run(
    plan: &Plan,
    done: &HashSet<String>,
    policy: Policy,
    deadline: &Deadline,
    told: &mut dyn FnMut(Event),
) -> bool {
    let (events, heard) = channel();
    std::thread::scope(|scope| {
        for (device, jobs) in &plan.devices {
            let open: Vec<&Job> = jobs.iter().filter(|job| !done.contains(&job.name)).collect();
            let worker = Worker { plan, device, policy, deadline, events: events.clone() };
            scope.spawn(move || worker.work(&open));
        }
        drop(events);
        heard.iter().for_each(told);
    });
    !deadline.is_stopped() && deadline.over().is_none()
}

/// Works on a device.
struct Worker<'a> {
    plan: &'a Plan,
    device: &'a Reached,
    policy: Policy,
    deadline: &'a Deadline,
    events: Sender<Event>,
}

impl Worker<'_> {
    fn work(&self, jobs: &[&Job]) {
        let mut failed = 0;
        // Held until all is done, so that nobody else gets it between two jobs. If that fails, so does the first job.
        let _place = match &self.device.target {
            Target::Labgrid(place) if !jobs.is_empty() => labgrid::acquire(place).ok(),
            _ => None,
        };
        for job in jobs {
            if self.deadline.over().is_some() {
                return;
            }
            let row = match failed >= self.policy.quarantine {
                true => {
                    let why = format!(
                        "{} is in quarantine: it has failed {failed} times",
                        self.device.name
                    );
                    self.row(job, State::Skipped, why)
                }
                false => match self.job(job, &mut failed) {
                    Some(row) => row,
                    None => return,
                },
            };
            self.tell(Event::Done(row));
        }
    }

    /// Who does not listen any more has stopped everything.
    fn tell(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// A job until there is a result, or nothing if everything was stopped.
    fn job(&self, job: &Job, failed: &mut u32) -> Option<Row> {
        let start = Instant::now();
        let mut attempts = 0;
        loop {
            attempts += 1;
            let result = self.attempt(job);
            // What was ended half-way has no result: it is done when the run is resumed.
            let is_known = |a: &Answered| a.verdict != Verdict::Unknown;
            if self.deadline.over().is_some() && !result.as_ref().is_ok_and(is_known) {
                return None;
            }
            let row = match result {
                Ok(answered) => self.answered(job, answered),
                Err(Trouble::Stopped) => return None,
                Err(Trouble::Device(why)) => {
                    *failed += 1;
                    if attempts <= self.policy.retries && *failed < self.policy.quarantine {
                        self.tell(Event::Again { job: job.name.clone(), why });
                        self.power_cycle(job);
                        continue;
                    }
                    self.row(job, State::Error, why)
                }
            };
            return Some(Row { attempts, time_s: start.elapsed().as_secs_f64(), ..row });
        }
    }

    fn attempt(&self, job: &Job) -> Result<Answered, Trouble> {
        let Some(model) = self.plan.models.get(job.model) else {
            return Err(Trouble::Device("its model is missing".into()));
        };
        let deadline = self.deadline.within(self.policy.timeout);
        let told = &mut |doing: &str| {
            let (device, job) = (self.device.name.clone(), job.name.clone());
            self.tell(Event::At { device, job, doing: doing.into() });
        };
        // A bug that one job shows ends that job.
        let work = || deadline.enter(|| attempt(self.device, job, model, &deadline, told));
        match catch_unwind(AssertUnwindSafe(work)) {
            Ok(Ok(result)) => result,
            Ok(Err(_)) if self.deadline.is_stopped() => Err(Trouble::Stopped),
            Ok(Err(over)) => Err(Trouble::Device(over.to_string())),
            Err(panic) => Err(Trouble::Device(format!("a bug of vouch: {}", message(&*panic)))),
        }
    }

    fn answered(&self, job: &Job, answered: Answered) -> Row {
        let Answered { verdict, reason, board, build } = answered;
        let state = if verdict == job.expect { State::Passed } else { State::Failed };
        Row {
            verdict: Some(verdict),
            reason,
            board: Some(board),
            build: Some(build),
            ..self.row(job, state, String::new())
        }
    }

    fn row(&self, job: &Job, state: State, why: String) -> Row {
        Row {
            job: job.name.clone(),
            device: self.device.name.clone(),
            model: job.model_name.clone(),
            parameters: job.parameters.clone(),
            mode: job.mode.name().into(),
            state,
            verdict: None,
            reason: Some(why).filter(|why| !why.is_empty()),
            attempts: 0,
            time_s: 0.0,
            board: None,
            build: None,
        }
    }

    /// Switches the device off and on, if there is a way to. If that fails, the next attempt will, too.
    fn power_cycle(&self, job: &Job) {
        let result = match (&self.device.power_cycle, &self.device.target) {
            (Some(command), target) => self.hook(command, target),
            (None, Target::Labgrid(place)) => labgrid::power_cycle(place),
            (None, _) => return,
        };
        if let Err(why) = result {
            self.tell(Event::Again { job: job.name.clone(), why: format!("power cycle: {why}") });
        }
        std::thread::sleep(self.device.settle.min(POWER));
    }

    fn hook(&self, command: &str, target: &Target) -> Result<(), String> {
        let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
        let mut child = Command::new(shell[0])
            .args([shell[1], command])
            .env("VOUCH_DEVICE", &self.device.name)
            .env("VOUCH_DEVICE_TARGET", target.to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .map_err(|e| e.to_string())?;
        match wait(&mut child, POWER, || self.deadline.is_stopped()).map_err(|e| e.to_string())? {
            Some(status) if status.success() => Ok(()),
            Some(status) => Err(format!("`{command}` ended with {status}")),
            None => Err(format!("`{command}` does not come to an end")),
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> &str {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("it has panicked")
}
