//! The self-check at boot: prove the stored model with the parameters that this device has, and
//! decide whether to start.
//!
//! [`check`] works in slices and calls [`Watch::idle`] between them, so that a watchdog is fed. By
//! default it re-checks the certificate in the image, which needs little memory and time; where that
//! is missing or does not hold for these parameters, it proves anew, starting from it. Whatever it
//! cannot decide is [`Unknown`](Verdict::Unknown), and what happens then is the product's
//! [`Policy`]: refuse to start, start degraded, or only report.
//!
//! A certificate is never believed: it is checked here, by [`vouch_core::certificate`], for the
//! parameters in use. One made for other values simply fails, or holds for these too. The invariant of a
//! proof that was found here is checked in the same way.
//!
//! A model that was lifted from a program is bound to its bytes: before anything else they are [hashed](crate::code)
//! where they lie, and another program is refused, whatever the policies.
//!
//! One skipped instruction does not make a product start that should not: see [`harden`]. What counts is
//! not a branch somewhere, but that everything was shown that there is to show. Let [`Outcome::start`]
//! start the application; an `if` of your own could be skipped.

use crate::code::{self, Code};
use crate::control;
use crate::harden::{self, ASKED, BOUND, Hard, PROVED, Passed, Stage, VIEWED};
use crate::trial::Trial;
use core::fmt;
use core::hint::black_box;
use vouch_core::certificate::{self, Check, Checker};
use vouch_core::image::Image;
use vouch_core::walk::{Ground, Stop, walk};

/// How to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Mode {
    /// Re-check the certificate; if it does not hold, prove anew, starting from it.
    #[default]
    Recheck,
    /// Re-check the certificate and nothing else.
    RecheckOnly,
    /// Prove, whatever certificate there is.
    Prove,
}

/// What a property that is not safe means for the product.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Policy {
    /// It is only reported.
    Report = 0x1d95_a3c6,
    /// The product starts, with less.
    Degrade = 0x53e8_6c1b,
    /// The product does not start.
    #[default]
    Refuse = 0xa627_9b5d,
}

/// What to check.
#[derive(Clone, Copy, Debug)]
pub struct SelfCheck<'c> {
    /// Whether the certificate is re-checked, and whether a proof is searched for.
    pub mode: Mode,
    /// The parameters that this device has, by their names in the model, as raw bits. The proof holds
    /// for all values of those that are not named.
    pub parameters: &'c [(&'c str, u64)],
    /// What it means if a property is not safe; those that are not named refuse.
    pub policies: &'c [(&'c str, Policy)],
    /// Properties that the model must have, by name. Whoever can sign a model could else leave out the one
    /// that matters.
    pub required: &'c [&'c str],
    /// Which code the model must be of.
    pub code: Code<'c>,
    /// Work units (propagated literals) after which it gives up; 0: no limit.
    pub budget: u64,
    /// Work units between two calls of [`Watch::idle`].
    pub slice: u32,
}

impl Default for SelfCheck<'_> {
    fn default() -> Self {
        SelfCheck {
            mode: Mode::Recheck,
            parameters: &[],
            policies: &[],
            required: &[],
            code: Code::default(),
            budget: 0,
            slice: 1000,
        }
    }
}

/// Parameters at most.
pub const MAX_PARAMETERS: usize = 16;

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Verdict {
    /// Every property holds, for these parameters.
    Safe = 0x3ad5_c692,
    /// This property is broken; [`Watch::broken`] was given the run that does it.
    Unsafe {
        /// Number of the first such property.
        property: usize,
    } = 0x5c69_3a2d,
    /// Neither, and why.
    Unknown(Why) = 0x65b2_9d4e,
}

/// Why nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Why {
    /// The work budget was used up.
    Budget,
    /// Memory did not suffice.
    Memory {
        /// Bytes with which it could begin; more make it likelier to end.
        needed: usize,
    },
    /// The model has no parameter of this number in the list given, or there are too many.
    NoSuchParameter(usize),
    /// This parameter in the list given has a value outside its range.
    OutOfRange(usize),
    /// There is no certificate that holds, and nothing else was to be tried.
    NoCertificate,
    /// A policy names a property that the model does not have.
    NoSuchProperty(usize),
    /// The model has no property, so there is nothing that would hold.
    NoProperties,
    /// The model lacks this one of the required properties.
    Missing(usize),
    /// The code in flash is not the one that the model was lifted from, or cannot be looked at.
    CodeDiffers,
    /// The model is not of any code, and has to be.
    Unbound,
    /// What was shown is not all that there is to show, or a proof does not hold that was just found: the
    /// processor or its memory is at fault. Also if the model has no run at all with these parameters.
    Fault,
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Why::Budget => f.write_str("the work budget was used up"),
            Why::Memory { needed } => {
                write!(f, "out of memory: {needed} bytes are needed to begin")
            }
            Why::NoSuchParameter(at) => write!(f, "the model has no parameter for value {at}"),
            Why::OutOfRange(at) => write!(f, "value {at} is outside its parameter's range"),
            Why::NoCertificate => f.write_str("no certificate holds"),
            Why::NoSuchProperty(at) => write!(f, "the model has no property for policy {at}"),
            Why::NoProperties => f.write_str("the model states no property"),
            Why::Missing(at) => write!(f, "the model lacks required property {at}"),
            Why::CodeDiffers => f.write_str("the code is not the one that was proved"),
            Why::Unbound => f.write_str("the model is not bound to any code"),
            Why::Fault => f.write_str("processor or memory at fault, or no run is possible"),
        }
    }
}

impl core::error::Error for Why {}

/// How it was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Method {
    /// The certificate was checked.
    Certificate,
    /// A proof was sought, from the certificate on where there is one.
    Proof,
}

/// Whether to start. To be reported; what starts an application is [`Outcome::start`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u32)]
pub enum Decision {
    /// Yes.
    Start = 0x2e5a_93c5,
    /// With less: a property with the policy [`Policy::Degrade`] is not safe.
    Degraded = 0x59a6_c91b,
    /// No.
    Refuse = 0x97c1_6a74,
}

/// What the self-check ended with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// What is known of all properties together.
    pub verdict: Verdict,
    /// What follows from it.
    pub decision: Decision,
    /// How it was found out.
    pub method: Method,
    /// Work units it took.
    pub work: u64,
    /// Most bytes of memory in use.
    pub peak_bytes: usize,
    /// Words of 16 bits at the front of the memory that hold the invariant of a proof found here; 0 if
    /// there is none. See [`Outcome::invariant`].
    pub table: usize,
    /// What led to the decision.
    seal: Hard,
}

/// What leads to a start, and to a start with less.
const MAY_START: Hard = may(Decision::Start);
const MAY_DEGRADED: Hard = may(Decision::Degraded);

const fn may(decision: Decision) -> Hard {
    Hard::of(&[VIEWED, ASKED, BOUND, PROVED, Stage::of(decision as u32)])
}

/// That an application may start. There is no other way to one than [`Outcome::start`].
///
/// A glitch may lead the processor anywhere, past the decision too. So the application begins with
/// [`Permit::confirm`], in a function of its own that is not inlined.
#[derive(Debug)]
pub struct Permit<'o> {
    outcome: &'o Outcome,
    expected: Hard,
}

impl Permit<'_> {
    /// Continues only if what led to the decision is right; otherwise never, and the watchdog ends it.
    #[inline(always)]
    pub fn confirm(&self) {
        let seal = black_box(self.outcome.seal);
        if seal.then(black_box(self.expected), || ()).is_none() {
            halt();
        }
        let [gap, other] = black_box(self).outcome.seal.gap(self.expected);
        if black_box(gap) | black_box(other) != 0 {
            halt();
        }
    }
}

/// Nothing happens any more.
#[cold]
#[inline(never)]
fn halt() -> ! {
    loop {
        core::hint::spin_loop();
    }
}

impl Outcome {
    /// Starts the application, if the decision is [`Decision::Start`].
    #[inline(always)]
    pub fn start<R>(&self, application: impl FnOnce(Permit<'_>) -> R) -> Option<R> {
        self.seal.then(MAY_START, || application(Permit { outcome: self, expected: MAY_START }))
    }

    /// Starts what is to be started with less, if the decision is [`Decision::Degraded`].
    #[inline(always)]
    pub fn start_degraded<R>(&self, application: impl FnOnce(Permit<'_>) -> R) -> Option<R> {
        let permit = || Permit { outcome: self, expected: MAY_DEGRADED };
        self.seal.then(MAY_DEGRADED, || application(permit()))
    }

    /// What it means for a model on trial: it has passed if the decision is [`Decision::Start`].
    pub fn trial(&self) -> Trial {
        Trial::of(self.seal, MAY_START)
    }

    /// The invariant that was proved, as the [guard](vouch_core::guard) wants it: the image's
    /// certificate if that was checked; else what a proof has left at the front of `memory`, which is
    /// the memory that [`check`] had. `None` unless all is safe, or if the proof's obligations left no
    /// room for it.
    pub fn invariant<'m>(&self, image: &'m Image<'_, u16>, memory: &'m [u32]) -> Option<&'m [u16]> {
        match (self.verdict, self.method) {
            (Verdict::Safe, Method::Certificate) => image.certificate(),
            (Verdict::Safe, Method::Proof) => {
                let words = bytemuck::cast_slice(memory);
                words.get(..self.table).filter(|table| !table.is_empty())
            }
            _ => None,
        }
    }
}

/// Who looks on.
pub trait Watch {
    /// Called between two slices of work: feed the watchdog here.
    fn idle(&mut self) {}
    /// A property is broken: the run that does it can be read now.
    #[cfg(feature = "ic3")]
    fn broken(&mut self, trace: &mut Trace<'_, '_>) {
        let _ = trace;
    }
}

impl<F: FnMut()> Watch for F {
    fn idle(&mut self) {
        self();
    }
}

/// Checks `image` in `memory`.
pub fn check(
    image: &Image<'_, u16>,
    what: &SelfCheck<'_>,
    memory: &mut [u32],
    watch: &mut impl Watch,
) -> Outcome {
    let mut outcome = Outcome {
        verdict: Verdict::Unknown(Why::NoCertificate),
        decision: Decision::Refuse,
        method: Method::Certificate,
        work: 0,
        peak_bytes: 0,
        table: 0,
        seal: Hard::NONE,
    };
    let mut bindings = [(0, 0); MAX_PARAMETERS];
    let bound = match bind(image, what, &mut bindings) {
        Ok(bound) => bound,
        Err(why) => {
            outcome.verdict = Verdict::Unknown(why);
            return outcome;
        }
    };
    // What is checked is another view than the one that is proved: had something happened to one of them,
    // it would be of another model.
    let Ok(view) = Image::new_trusted(image.bytes()) else {
        outcome.verdict = Verdict::Unknown(Why::Fault);
        return outcome;
    };
    let question = Question { image: &view, what, bound };
    let viewed = image.places() ^ harden::sum(black_box(image.bytes()));
    outcome.seal.add(question.asked());
    let bound = code::check(&view, &what.code, &mut || watch.idle());
    outcome.seal.add(bound);
    if bound.then(BOUND, || ()).is_none() {
        let is_bound = view.program().is_some();
        let why = if is_bound { Why::CodeDiffers } else { Why::Unbound };
        outcome.verdict = Verdict::Unknown(why);
        return outcome;
    }
    // What nobody has shown counts as not safe.
    let mut decision = question.decision(|_| false);
    let mut proved = question.vacuous(decision);
    if what.mode != Mode::Prove {
        // Of all properties, whatever their policies.
        let all = Question { what: &SelfCheck { policies: &[], ..*what }, ..question };
        let table = image.certificate().ok_or(Why::NoCertificate);
        let shown = table
            .and_then(|table| all.recheck(table, Decision::Start, memory, watch, &mut outcome));
        match shown {
            Ok(shown) => {
                outcome.verdict = Verdict::Safe;
                (decision, proved) = (Decision::Start, shown);
            }
            Err(why) => outcome.verdict = Verdict::Unknown(why),
        }
    }
    #[cfg(feature = "ic3")]
    if what.mode != Mode::RecheckOnly && outcome.verdict != Verdict::Safe {
        (decision, proved) = prove::prove(image, &question, memory, watch, &mut outcome);
    }
    // Where a model is in RAM, a solver that is damaged may have written over it, and proved what it wrote.
    let still = view.places() ^ harden::sum(black_box(view.bytes()));
    outcome.seal.add(harden::equal(VIEWED, viewed, still));
    outcome.seal.add(proved);
    outcome.seal.add(harden::word(decision as u32));
    // What is reported comes from what starts the application, not the other way round.
    let seal = outcome.seal;
    seal.then(MAY_START, || outcome.decision = Decision::Start);
    seal.then(MAY_DEGRADED, || outcome.decision = Decision::Degraded);
    outcome
}

/// Numbers and values of the parameters.
fn bind<'b>(
    image: &Image<'_, u16>,
    what: &SelfCheck<'_>,
    bindings: &'b mut [(usize, u64); MAX_PARAMETERS],
) -> Result<&'b [(usize, u64)], Why> {
    for (i, (name, value)) in what.parameters.iter().enumerate() {
        let mut params = image.params().enumerate();
        let (number, record) =
            params.find(|(_, p)| p.name == *name).ok_or(Why::NoSuchParameter(i))?;
        // Named twice with two values there would be no run at all, and all properties would hold.
        let twice = what.parameters[..i].iter().any(|(other, _)| other == name);
        // Outside its range there would be no run either.
        if !record.allows(*value) || twice {
            return Err(Why::OutOfRange(i));
        }
        *bindings.get_mut(i).ok_or(Why::NoSuchParameter(i))? = (number, *value);
    }
    let has = |name: &str| image.properties().any(|p| p.name == name);
    if let Some(i) = what.policies.iter().position(|(name, _)| !has(name)) {
        return Err(Why::NoSuchProperty(i));
    }
    if image.header.properties == 0 {
        return Err(Why::NoProperties);
    }
    if let Some(i) = what.required.iter().position(|name| !has(name)) {
        return Err(Why::Missing(i));
    }
    Ok(&bindings[..what.parameters.len()])
}

/// What is checked, for which parameters.
#[derive(Clone, Copy)]
struct Question<'q, 'i> {
    image: &'q Image<'i, u16>,
    what: &'q SelfCheck<'q>,
    bound: &'q [(usize, u64)],
}

impl Question<'_, '_> {
    /// Passed if there is a property, and each that is required.
    fn asked(&self) -> Passed {
        let has = |name: &&&str| self.image.properties().any(|p| p.name == **name);
        let found = self.what.required.iter().filter(has).count() as u32;
        let some = u32::from(self.image.properties().next().is_some());
        harden::equal(ASKED, found + some, self.what.required.len() as u32 + 1)
    }

    /// What follows if `is_safe` says which properties are safe.
    fn decision(&self, is_safe: impl Fn(usize) -> bool) -> Decision {
        let policy = |name: &str| {
            let named = self.what.policies.iter().find(|(other, _)| *other == name);
            named.map_or(Policy::Refuse, |(_, policy)| *policy)
        };
        let unsafe_ones = self.image.properties().enumerate().filter(|(p, _)| !is_safe(*p));
        match unsafe_ones.map(|(_, p)| policy(p.name)).max() {
            None | Some(Policy::Report) => Decision::Start,
            Some(Policy::Degrade) => Decision::Degraded,
            Some(Policy::Refuse) => Decision::Refuse,
        }
    }

    /// Whether a decision rests on this property: with its policy it could not be made if the property
    /// were broken.
    fn rests_on(&self, decision: Decision, property: &str) -> bool {
        for (name, policy) in self.what.policies {
            if *name == property {
                return match decision {
                    Decision::Start => *policy != Policy::Report,
                    Decision::Degraded => *policy == Policy::Refuse,
                    Decision::Refuse => true,
                };
            }
        }
        true
    }

    /// The error locations of the properties that a decision rests on.
    fn errors(&self, decision: Decision) -> impl Iterator<Item = usize> {
        let rests = move |name: &str| self.rests_on(decision, name);
        self.image.properties().filter(move |p| rests(p.name)).map(|p| p.error as usize)
    }

    /// Passed if a decision rests on nothing, because of the policies.
    fn vacuous(&self, decision: Decision) -> Passed {
        harden::equal(PROVED, self.errors(decision).count() as u32, 0)
    }

    /// Checks that `table` proves the properties that a decision rests on. What [`PROVED`] came to, if
    /// it does; that is found by counting once more what there was to show.
    #[inline(never)]
    fn recheck(
        &self,
        table: &[u16],
        decision: Decision,
        memory: &mut [u32],
        watch: &mut impl Watch,
        outcome: &mut Outcome,
    ) -> Result<Passed, Why> {
        let Question { image, what, bound } = *self;
        let rests_on = |p: &usize| {
            let mut properties = image.properties();
            properties.nth(*p).is_none_or(|p| self.rests_on(decision, p.name))
        };
        let properties = (0..image.header.properties as usize).filter(rests_on);
        let checker = Checker::new(image, table, properties);
        let mut checker = checker.map_err(|_| Why::NoCertificate)?;
        let (mut bytes, most) = (Checker::bytes(image, table), memory.len() * 4);
        if bytes > most {
            let needed = Checker::least(image, table);
            if needed > most {
                return Err(Why::Memory { needed });
            }
            bytes = most;
            checker.restart(image, table, bytes);
        }
        let before = outcome.work;
        if what.budget != 0 {
            checker.limit(what.budget.saturating_sub(before));
        }
        loop {
            let mut idle = || {
                watch.idle();
                true
            };
            let status = checker.step_watched(image, table, bound, memory, what.slice, &mut idle);
            outcome.work = before + checker.propagations();
            outcome.peak_bytes = outcome.peak_bytes.max(bytes);
            match status {
                Check::Running if what.budget == 0 || outcome.work < what.budget => watch.idle(),
                Check::Running | Check::Interrupted => return Err(Why::Budget),
                Check::Valid => break,
                Check::Invalid(_) => return Err(Why::NoCertificate),
                Check::Capacity if bytes < most => {
                    bytes = most;
                    checker.restart(image, table, bytes);
                }
                Check::Capacity => return Err(Why::Memory { needed: most + 4 }),
            }
        }
        let excluded = |error: &usize| certificate::is_excluded(table, *error);
        let errors = self.errors(decision).filter(excluded).count() as u32;
        let shown = checker.shown().wrapping_add(errors.wrapping_mul(EACH));
        let control = control::run(memory).map_err(|needed| Why::Memory { needed })?;
        let shown = shown.wrapping_add(control);
        let errors = self.errors(decision).count() as u32;
        let to_show = certificate::to_show(image, table).wrapping_add(errors.wrapping_mul(EACH));
        let to_show = to_show.wrapping_add(control::EXPECTED);
        let passed = harden::equal(PROVED, shown, to_show);
        passed.then(PROVED, || ()).ok_or(Why::Fault)?;
        let ground = Ground { image, invariant: table, bound };
        let least = if outcome.method == Method::Proof { WALK } else { 0 };
        let left =
            if what.budget == 0 { u64::MAX } else { what.budget.saturating_sub(outcome.work) };
        let effort = least.max(outcome.work / 32).min(left);
        match walk(ground, effort, memory, &mut || watch.idle()) {
            Ok(effort) => outcome.work += effort,
            Err(Stop::LeftInvariant) => return Err(Why::Fault),
            Err(Stop::Memory(needed)) => return Err(Why::Memory { needed }),
        }
        Ok(passed)
    }
}

/// Work units that are spent on a walk through the model after a proof that was found here, at least. With an
/// eighth of it, 14 of the solver's 2757 instructions that a boot executes could be left out unnoticed.
pub const WALK: u64 = 65_536;

/// What an excluded error location counts, beside the solver's answers.
const EACH: u32 = 0x0100_0193;

#[cfg(feature = "ic3")]
pub use prove::Trace;

#[cfg(feature = "ic3")]
mod prove {
    use super::{Decision, Method, Outcome, Passed, Question, Verdict, Watch, Why};
    use vouch_core::ic3::{self, Config, Engine, Limit, Plan, Status};
    use vouch_core::image::Image;

    /// A run that breaks a property.
    #[derive(Debug)]
    pub struct Trace<'t, 'i> {
        /// The property.
        pub property: usize,
        image: &'t Image<'i, u16>,
        engine: &'t Engine,
        memory: &'t mut [u32],
    }

    impl Trace<'_, '_> {
        /// Its steps.
        pub fn steps(&self) -> usize {
            self.engine.trace_len()
        }
        /// The bits that are live at the start, packed into `out`; how many there are.
        pub fn initial(&mut self, out: &mut [u8]) -> Option<usize> {
            self.engine.trace_initial(self.image, self.memory, out)
        }
        /// The edge of a step, its inputs packed into `out`.
        pub fn step(&mut self, index: usize, out: &mut [u8]) -> Option<usize> {
            self.engine.trace_step(self.image, self.memory, index, out)
        }
    }

    /// Seeks a proof, from the certificate on; what follows, and what [`PROVED`](super::PROVED) came to.
    pub(super) fn prove(
        image: &Image<'_, u16>,
        question: &Question<'_, '_>,
        memory: &mut [u32],
        watch: &mut impl Watch,
        outcome: &mut Outcome,
    ) -> (Decision, Passed) {
        outcome.method = Method::Proof;
        let Found { decision, words } = match search(image, question, memory, watch, outcome) {
            Ok(found) => found,
            Err(why) => {
                outcome.verdict = Verdict::Unknown(why);
                let decision = question.decision(|_| false);
                return (decision, question.vacuous(decision));
            }
        };
        let vacuous = question.vacuous(decision);
        if decision == Decision::Refuse || question.errors(decision).next().is_none() {
            return (decision, vacuous);
        }
        // The engine's invariant is checked by what has no part in finding it.
        let most = memory.len() * 4;
        let room = words.div_ceil(2).min(memory.len());
        let (table, rest) = memory.split_at_mut(room);
        let table = bytemuck::cast_slice(table).get(..words).unwrap_or_default();
        match question.recheck(table, decision, rest, watch, outcome) {
            Ok(shown) => (decision, shown),
            Err(why) => {
                let why = match why {
                    // The invariant did not even fit where the obligations were.
                    Why::NoCertificate if words == 0 => Why::Memory { needed: most + 4 },
                    Why::NoCertificate => Why::Fault,
                    why => why,
                };
                outcome.verdict = Verdict::Unknown(why);
                outcome.table = 0;
                (Decision::Refuse, Passed::NOT)
            }
        }
    }

    /// What a search has found.
    struct Found {
        decision: Decision,
        /// Words of 16 bits that the invariant takes, at the front of the memory.
        words: usize,
    }

    #[inline(never)]
    fn search(
        image: &Image<'_, u16>,
        question: &Question<'_, '_>,
        memory: &mut [u32],
        watch: &mut impl Watch,
        outcome: &mut Outcome,
    ) -> Result<Found, Why> {
        let Question { what, bound, .. } = *question;
        let before = outcome.work;
        let left = what.budget.saturating_sub(before);
        if what.budget != 0 && left == 0 {
            return Err(Why::Budget);
        }
        let plan = Plan::new(image, memory.len() * 4)
            .map_err(|shortage| Why::Memory { needed: shortage.needed as usize })?;
        let mut engine = Engine::new(image, plan, Config::new(left, None), memory);
        for (param, value) in bound {
            // Name and range were checked before; if it is refused anyway, nothing is proved.
            engine.bind(image, memory, *param, *value).map_err(|_| Why::OutOfRange(*param))?;
        }
        engine.seed_table(image, memory, image.certificate().unwrap_or_default());
        let mut broken = None;
        loop {
            let mut idle = || {
                watch.idle();
                true
            };
            match engine.step_watched(image, memory, what.slice, &mut idle) {
                Status::Running => watch.idle(),
                Status::Broken { property } => {
                    broken = broken.or(Some(property));
                    watch.broken(&mut Trace { property, image, engine: &engine, memory });
                }
                Status::Finished => break,
            }
        }
        let stats = engine.stats();
        outcome.work = before + stats.propagations;
        outcome.peak_bytes = outcome.peak_bytes.max(stats.peak_bytes as usize);
        let verdict = |p: usize| engine.verdict(memory, p);
        let is_safe = |p: usize| verdict(p) == ic3::Verdict::Safe;
        let decision = question.decision(is_safe);
        let properties = 0..image.header.properties as usize;
        let unknown = properties.clone().map(verdict).find_map(|v| match v {
            ic3::Verdict::Unknown(Limit::Capacity) => {
                Some(Why::Memory { needed: plan.bytes() + 4 })
            }
            ic3::Verdict::Unknown(_) => Some(Why::Budget),
            _ => None,
        });
        outcome.verdict = match (broken, unknown) {
            (Some(property), _) => Verdict::Unsafe { property },
            (None, Some(why)) => Verdict::Unknown(why),
            (None, None) if properties.clone().all(is_safe) => Verdict::Safe,
            (None, None) => Verdict::Unknown(Why::NoCertificate),
        };
        let mut words = 0;
        if decision != Decision::Refuse {
            words = engine.into_table(image, memory).unwrap_or(0);
        }
        if outcome.verdict == Verdict::Safe {
            outcome.table = words;
        }
        Ok(Found { decision, words })
    }
}
