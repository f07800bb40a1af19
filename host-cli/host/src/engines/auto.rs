//! What to use if nobody says: IC3, and others for a while where it does not decide soon.
//!
//! Most models are decided in a moment by [IC3](super::ic3cfa). Among those that are not, some break a property soon
//! and in a way that IC3 does not see at once ([bounded](super::bmc) model checking does), a program without inputs is
//! [executed](super::execute), and a model without much to choose may have few states ([explicit](super::explicit) search). When IC3 has had a share of the time it pauses, and each
//! of these has a share, too; then it continues where it was. Where the model can be compiled again, [`crate::check`]
//! has [predicates](super::cegar) after them. The first pauses are early and short, the last one is longer: most of
//! what another engine decides takes it a moment. On programs IC3 begins as the device runs it, and continues with
//! [more work](super::Engine::Eager) on each lemma: either decides as many, and predicates, which are asked anyway, decide more of what
//! only the first of them does.
//!
//! With several threads, IC3 does not pause: another configuration of it does, in a thread of its own.
//!
//! A run with a fixed memory or an amount of work, as on a device, is the core's alone: its answer must not depend on the
//! machine's speed.

use super::found::Found;
use super::ic3cfa::Watch;
use super::{Answer, Ended, Engine, EngineError, Memory, Setup, explicit, with_view};
use crate::blast::AlignedImage;
use std::time::{Duration, Instant};
use vouch_core::ic3::Verdict;

/// Who is asked, and for how long.
pub struct Turns {
    /// Who is asked first, each with one of so many parts of the time.
    first: &'static [(Engine, u32)],
    /// Whether IC3 does [more work](super::Engine::Eager) on each lemma.
    eager: bool,
    /// When IC3 pauses.
    pauses: &'static [Pause],
}

/// A pause of IC3.
struct Pause {
    /// When it has worked for one of so many parts of the time.
    after: u32,
    /// Who else is asked then, each with one of so many parts of the time.
    others: &'static [(Engine, u32)],
    /// In how many parts whoever is asked last has one.
    last: u32,
}

impl Pause {
    /// For programs and machines: what is easy for somebody.
    const EASY: Pause = Pause { after: 128, others: &[(Engine::Bmc, 128)], last: 64 };

    /// For programs and machines. One that is executed is not executed again.
    const fn first(after: u32) -> Pause {
        const OTHERS: &[(Engine, u32)] =
            &[(Engine::Execute, 4), (Engine::Bmc, 64), (Engine::Explicit, 64)];
        Pause { after, others: OTHERS, last: 16 }
    }

    /// For programs and machines, with more time.
    const fn second(after: u32) -> Pause {
        Pause { after, others: &[(Engine::Bmc, 16), (Engine::Explicit, 16)], last: 4 }
    }

    /// For circuits: what is easy with more work on each lemma.
    const EASY_CIRCUITS: Pause = Pause { after: 16, others: &[(Engine::Eager, 32)], last: 16 };

    /// For circuits. They have inputs in every step, so nobody enumerates their states. Faults in wide data are where IC3
    /// is slowest and bounded model checking is not; it sees them soon or not at all. IC3 has more than half of the time.
    const fn of_circuits(after: u32) -> Pause {
        Pause { after, others: &[(Engine::Eager, 3), (Engine::Bmc, 8)], last: 4 }
    }
}

/// For programs and machines.
pub const PROGRAMS: Turns = Turns { first: &[(Engine::Ic3Cfa, 32)], eager: true, pauses: PAUSES };
const PAUSES: &[Pause] = &[Pause::EASY, Pause::first(24), Pause::second(6)];
/// For circuits. Most of what IC3 decides takes it a while.
pub const CIRCUITS: Turns =
    Turns { first: &[], eager: false, pauses: &[Pause::EASY_CIRCUITS, Pause::of_circuits(4)] };
/// For programs and machines, in a thread alongside an IC3 that does not pause.
pub const PROGRAMS_BESIDE: Turns =
    Turns { first: &[], eager: true, pauses: &[Pause::EASY, Pause::first(60), Pause::second(12)] };
/// For circuits, alongside the same.
pub const CIRCUITS_BESIDE: Turns =
    Turns { first: &[], eager: true, pauses: &[Pause::of_circuits(6)] };
/// The time that these are parts of if there is no end to it.
const ENDLESS: Duration = Duration::from_secs(64);

/// Who has decided.
pub enum Decided<T> {
    /// One of the engines here.
    Here(Engine, Box<Answer>),
    /// Whoever was asked after them.
    Elsewhere(T),
}

/// One of so many parts of the time.
pub fn share(time: Option<Duration>, parts: u32) -> Duration {
    time.unwrap_or(ENDLESS) / parts
}

/// Whether something that was asked is not known.
pub fn is_open(answer: &Answer) -> bool {
    answer.verdicts.iter().any(|verdict| matches!(verdict, Verdict::Unknown(_)))
}

/// Checks `image`. In each pause `last` is asked if those whose `turns` these are leave something open, with one of
/// so many parts of the time; what it returns is the answer.
pub fn run<T>(
    image: &AlignedImage,
    setup: &Setup,
    turns: &Turns,
    mut last: impl FnMut(u32, Watch<'_>) -> Option<T>,
    watch: Watch<'_>,
) -> Result<Decided<T>, EngineError> {
    let own = if turns.eager { Engine::Eager } else { Engine::Ic3Cfa };
    if setup.budget > 0 || matches!(setup.memory, Memory::Fixed(_)) {
        let alone = turns.first.first().map_or(own, |(engine, _)| *engine);
        return Ok(Decided::Here(alone, Box::new(alone.run(image, setup, watch)?)));
    }
    let count = with_view!(image, view => Ok(view.header.properties as usize))?;
    let mut found = Found::new(count, setup.property);
    if let Some(engine) = others(image, setup, (own, turns.first), &mut found, watch) {
        return Ok(Decided::Here(engine, Box::new(found.answer(Ended::Itself))));
    }
    let (mut pauses, mut by, mut elsewhere) = (turns.pauses.iter(), None, None);
    // When IC3 began, but for the time of the others.
    let (mut start, mut pause) = (Instant::now(), pauses.next());
    let answer = own.run(image, setup, &mut |stats| {
        if let Some(now) = pause.take_if(|p| start.elapsed() >= share(setup.timeout, p.after)) {
            let begun = Instant::now();
            by = others(image, setup, (own, now.others), &mut found, watch);
            elsewhere = if by.is_none() { last(now.last, watch) } else { None };
            start += begun.elapsed();
            pause = pauses.next();
        }
        by.is_none() && elsewhere.is_none() && watch(stats)
    })?;
    if let Some(other) = elsewhere {
        return Ok(Decided::Elsewhere(other));
    }
    let (engine, ended) = match by {
        Some(engine) => (engine, Ended::Itself),
        None => {
            let ended = answer.ended;
            found.take(answer);
            (own, ended)
        }
    };
    Ok(Decided::Here(engine, Box::new(found.answer(ended))))
}

/// Who of the others has decided what was left.
fn others(
    image: &AlignedImage,
    setup: &Setup,
    (own, others): (Engine, &[(Engine, u32)]),
    found: &mut Found,
    watch: Watch<'_>,
) -> Option<Engine> {
    for &(engine, parts) in others {
        let is_suitable = match engine {
            Engine::Explicit => explicit::is_suitable(image, setup).unwrap_or(false),
            other => other != own,
        };
        if !is_suitable {
            continue;
        }
        let part = Setup { timeout: Some(share(setup.timeout, parts)), ..setup.clone() };
        // IC3 will say what is wrong with the image, if anything is.
        let Ok(answer) = engine.run(image, &part, watch) else { continue };
        found.take(answer);
        if !is_open(&found.answer) {
            return Some(engine);
        }
    }
    None
}
