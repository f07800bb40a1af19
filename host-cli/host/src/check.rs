//! One way to ask: a model is checked by an engine here or by a device, and what comes back is judged.
//!
//! ```
//! use vouch_host::check::{By, Request, check};
//! use vouch_host::engines::{Engine, Memory};
//! use vouch_host::frontend::{Language, Source};
//! use vouch_host::judge::{Question, Verdict};
//! use vouch_host::pipeline;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let text = "machine door {
//!     var open: bool = false;
//!     var moving: bool = false;
//!     initial state Rest {
//!         on !moving { open = !open; }
//!         on !open { moving = !moving; }
//!     }
//!     property never_both: never open && moving;
//! }";
//! let source = Source { path: "door.vch".into(), text: text.into() };
//! let model = pipeline::compile(source, Language::Vch, &pipeline::Options::default())?;
//! let request = Request::new(Question::new(&model.cfa, None, vec![]));
//! let by = By::Host { engine: Engine::default(), memory: Memory::default() };
//! let checked = check(&model, &request, by, &mut |_| {})?;
//! assert_eq!(checked.judgement.verdict(), Verdict::Safe);
//! # Ok(())
//! # }
//! ```

pub mod file;

use crate::answer::{Answer, Ended};
use crate::blast::certified;
use crate::client::{self, CheckRequest, Client, DeviceError};
use crate::deadline::{Deadline, Over};
use crate::engines::auto::{self, Decided, Turns};
use crate::engines::cegar::Words;
use crate::engines::ic3cfa::Watch;
use crate::engines::portfolio::{self, Claim, Entrant, Won};
use crate::engines::{Engine, EngineError, Memory, Setup, Tuning};
use crate::frontend::{Language, machines};
use crate::ir::PropertyId;
use crate::judge::{Finding, Judgement, Question, judge_simplified};
use crate::pipeline::Loaded;
use crate::replay;
use crate::shortest::{self, Effort};
use crate::simplify::Passes;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use vouch_core::ic3::Stats;

/// Who is asked.
pub enum By<'a> {
    /// An engine here.
    Host {
        /// The engine.
        engine: Engine,
        /// How much memory it may take.
        memory: Memory,
    },
    /// A device that has the model.
    Device(&'a mut Client),
}

/// What is asked.
#[derive(Clone, Debug)]
pub struct Request {
    /// Of the model.
    pub question: Question,
    /// Work units after which to give up; 0: no limit.
    pub budget: u64,
    /// Whether the answer is validated. Without it is decoded and believed: for benchmarks.
    pub validate: bool,
    /// When the engine has to stop; properties still open then are unknown.
    pub deadline: Deadline,
    /// Until when an answer that came at the last moment may still be judged.
    pub last_moments: Deadline,
    /// Since when the check is under way, if runs are to be made [shorter](shortest) in as much time again.
    pub shorten: Option<Instant>,
    /// How an engine here works.
    pub tuning: Tuning,
}

impl Request {
    /// A question without limits.
    pub fn new(question: Question) -> Request {
        let deadline = Deadline::never();
        let (last_moments, tuning) = (deadline.clone(), Tuning::default());
        Request {
            question,
            budget: 0,
            validate: true,
            last_moments,
            deadline,
            shorten: None,
            tuning,
        }
    }
}

/// How far it is.
pub enum Progress<'a> {
    /// The engine is at work; these are its counters so far.
    Proving(&'a Stats),
    /// There is an answer, which is to be judged now.
    Validating(&'a Answer),
}

/// What came of it.
#[derive(Clone, Debug)]
pub struct Checked {
    /// What is known of the model.
    pub judgement: Judgement,
    /// What that was made of, which nobody should believe.
    pub answer: Answer,
    /// Whose answer it is.
    pub engine: Engine,
    /// How long the engine took.
    pub time: Duration,
}

/// Why there was no answer to be judged.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// The engine could not run.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The dialogue with the device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

/// Checks a model.
pub fn check(
    model: &Loaded,
    request: &Request,
    by: By<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Checked, CheckError> {
    let found = search(model, request, by, progress)?;
    Ok(found.judge(model, request, progress))
}

/// An answer that is still to be judged.
#[derive(Debug)]
pub struct Found {
    /// The answer, which nobody believes yet.
    pub answer: Answer,
    engine: Engine,
    /// How long the engine took.
    pub time: Duration,
    /// What it is worth, if that had to be known to choose among several.
    judged: Option<Judgement>,
}

impl Found {
    fn since(
        start: Instant,
        mut answer: Answer,
        engine: Engine,
        judged: Option<Judgement>,
        request: &Request,
    ) -> Found {
        if answer.ended == Ended::Cancelled && request.deadline.over() == Some(Over::Memory) {
            answer.ended = Ended::Memory;
        }
        Found { answer, engine, time: start.elapsed(), judged }
    }

    /// Finds out what it is worth.
    pub fn judge(
        self,
        model: &Loaded,
        request: &Request,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Checked {
        let Found { answer, engine, time, judged } = self;
        progress(Progress::Validating(&answer));
        let judgement = judged.unwrap_or_else(|| judged_in_time(model, request, &answer));
        Checked { judgement, answer, engine, time }
    }
}

/// The first half of [`check`].
pub fn search(
    model: &Loaded,
    request: &Request,
    by: By<'_>,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<Found, CheckError> {
    let start = Instant::now();
    let (engine, answer) = match by {
        By::Host { engine, memory } => {
            let setup = setup(model, request, engine, memory);
            (engine, engine.run(&model.image, &setup, &mut watch(request, progress))?)
        }
        By::Device(client) => {
            let request = device_request(model, request);
            let answer = client.check(&request, |stats| progress(Progress::Proving(stats)))?;
            (Engine::Ic3Cfa, answer)
        }
    };
    Ok(Found::since(start, answer, engine, None, request))
}

/// The same with [several engines](auto), in turns or in several threads: what those leave open that need no more than
/// the image is tried with predicates on whole words, for which `compile` compiles the model again with these passes,
/// if it can. Returns that model if the answer is about it. Circuits have no words any more.
pub fn search_in_turns(
    model: &Loaded,
    request: &Request,
    memory: Memory,
    threads: usize,
    compile: impl Fn(Passes) -> Option<Loaded> + Send,
    progress: &mut dyn FnMut(Progress<'_>),
) -> Result<(Found, Option<Loaded>), CheckError> {
    let language = Language::from_path(Path::new(&model.source.path));
    let is_circuit = matches!(language, Some(Language::Aiger | Language::Btor2));
    let start = Instant::now();
    let whole = request.deadline.left();
    let mut other = None;
    let with_words = move |parts: u32, watch: Watch<'_>| {
        if is_circuit {
            return None;
        }
        let deadline = request.deadline.within(auto::share(whole, parts));
        // One that was compiled in a turn too short for its passes is not what the next turn should search.
        if other.as_ref().is_none_or(|model: &Loaded| model.simplified.hurried) {
            let passes = Engine::Cegar.passes()?;
            // What takes too long to compile must not end the others' search.
            other = deadline.enter(|| compile(passes)).ok().flatten();
            deadline.set_phase("proving");
        }
        let part = Request { deadline, ..request.clone() };
        let setup = setup(other.as_ref()?, &part, Engine::Cegar, memory);
        let answer = Engine::Cegar.run(&other.as_ref()?.image, &setup, watch).ok()?;
        if auto::is_open(&answer) { None } else { Some((answer, other.take()?)) }
    };
    let setup = &setup(model, request, Engine::Auto, memory);
    let in_turns = move |turns: &Turns, watch: Watch<'_>| {
        let decided = auto::run(&model.image, setup, turns, with_words, watch)?;
        Ok(match decided {
            Decided::Here(engine, answer) => Claim { engine, answer: *answer, about: None },
            Decided::Elsewhere((answer, other)) => {
                Claim { engine: Engine::Cegar, answer, about: Some(other) }
            }
        })
    };
    let watch = &mut watch(request, progress);
    let Won { claim, judged } = if threads <= 1 {
        let turns = if is_circuit { auto::CIRCUITS } else { auto::PROGRAMS };
        Won { claim: in_turns(&turns, watch)?, judged: None }
    } else {
        let beside = if is_circuit { auto::CIRCUITS_BESIDE } else { auto::PROGRAMS_BESIDE };
        let alone = |engine: Engine| -> Entrant<'_, _> {
            Box::new(move |watch| {
                let answer = engine.run(&model.image, setup, watch)?;
                Ok(Claim { engine, answer, about: None })
            })
        };
        let others: Entrant<'_, _> = Box::new(move |watch| in_turns(&beside, watch));
        // In the order in which they are worth a thread; the third is for programs whose locations hide what they have
        // in common.
        let mut entrants = vec![alone(Engine::Ic3Cfa), others, alone(Engine::Ic3)];
        entrants.truncate(threads);
        let judge = |claim: &Claim<Option<Loaded>>| {
            let model = claim.about.as_ref().unwrap_or(model);
            let judgement = judged_in_time(model, request, &claim.answer);
            let settled = judgement.all().all(|f| f.1.is_settled());
            (judgement, settled)
        };
        portfolio::run(entrants, &judge, watch)?
    };
    let Claim { engine, answer, about } = claim;
    Ok((Found::since(start, answer, engine, judged, request), about))
}

fn setup(model: &Loaded, request: &Request, engine: Engine, memory: Memory) -> Setup {
    Setup {
        property: only(&request.question),
        bindings: model.numbered(&request.question.bindings),
        candidates: model.candidates(),
        budget: request.budget,
        timeout: engine_time(request),
        memory,
        words: (engine == Engine::Cegar).then(|| {
            let (cfa, map) = (model.simplified.cfa.clone(), model.map.clone());
            Arc::new(Words { cfa, map })
        }),
        written: (matches!(engine, Engine::Execute | Engine::Auto) && is_executable(model))
            .then(|| Arc::new(model.cfa.clone())),
        tuning: request.tuning,
    }
}

/// The time that an engine here has. Of several properties one may be undecided to the end: there must be time left to
/// validate what is found of the others.
fn engine_time(request: &Request) -> Option<Duration> {
    let left = request.deadline.left();
    match request.validate && request.question.properties.len() > 1 {
        true => left.map(|left| left - left / 8),
        false => left,
    }
}

/// Whether a run of it can begin with steps that are not listed. Where a step is a call these would have to be counted, and
/// machine code is tried on a processor from the beginning.
fn is_executable(model: &Loaded) -> bool {
    let language = Language::from_path(Path::new(&model.source.path));
    matches!(language, Some(Language::C | Language::Vch))
        && machines::head(&model.cfa, language).is_none()
}

/// Passes on what an engine counts, and whether it is to continue.
fn watch(request: &Request, progress: &mut dyn FnMut(Progress<'_>)) -> impl FnMut(&Stats) -> bool {
    |stats| {
        progress(Progress::Proving(stats));
        !request.deadline.is_stopped()
    }
}

/// Has a device take a model: the one that it has stored, or from here.
pub fn load(
    model: &Loaded,
    client: &mut Client,
    is_stored: bool,
    progress: impl FnMut(usize, usize),
) -> Result<client::Loaded, DeviceError> {
    if is_stored {
        return client.load_stored(&model.image);
    }
    // The device is to find a proof itself, and its memory is scarce.
    let bare = certified::detach(&model.image).ok();
    client.load(bare.as_ref().unwrap_or(&model.image), progress)
}

/// The same question for a device.
fn device_request(model: &Loaded, request: &Request) -> CheckRequest {
    CheckRequest {
        property: only(&request.question),
        budget: request.budget,
        bindings: model.numbered(&request.question.bindings),
    }
}

/// What an answer is worth, as far as there is time to look at it.
fn judged_in_time(model: &Loaded, request: &Request, answer: &Answer) -> Judgement {
    let Loaded { cfa, simplified, map, .. } = model;
    let question = &request.question;
    let judge = || {
        let validate = request.validate;
        let mut judgement = judge_simplified(cfa, simplified, map, question, answer, validate);
        // What came at the last moment is shown as it is; else there must be time left to show it.
        let left = request.deadline.left().map(|left| left / 2);
        let has_time = request.deadline.over().is_none() && left.is_none_or(|left| !left.is_zero());
        if let (true, true, Some(since)) = (validate, has_time, request.shorten) {
            let effort = Effort::after(since.elapsed()).within(left);
            shortest::shorten(model, question, answer, &mut judgement, effort);
        }
        // After that: it is the run that is shown which the program has to do.
        replay::confirm(model, &mut judgement);
        judgement
    };
    request.last_moments.enter(judge).unwrap_or_else(|over| {
        let unknown = |p: &PropertyId| (*p, Finding::Unknown(over.into()));
        Judgement {
            findings: question.properties.iter().map(unknown).collect(),
            ..Judgement::default()
        }
    })
}

/// The only property that an engine has to look at, as the image counts.
fn only(question: &Question) -> Option<u32> {
    match (&question.properties[..], &question.besides[..]) {
        ([only], []) => Some(only.0),
        _ => None,
    }
}
