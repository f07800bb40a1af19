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
//! parameters in use. One made for other values simply fails, or holds for these too.

use vouch_core::certificate::{Check, Checker};
use vouch_core::image::Image;

/// How to find out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
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
pub enum Policy {
    /// It is only reported.
    Report,
    /// The product starts, with less.
    Degrade,
    /// The product does not start.
    #[default]
    Refuse,
}

/// What to check.
#[derive(Clone, Copy, Debug)]
pub struct SelfCheck<'c> {
    /// How.
    pub mode: Mode,
    /// The parameters that this device has, by their names in the model, as raw bits. The proof holds
    /// for all values of those that are not named.
    pub parameters: &'c [(&'c str, u64)],
    /// What it means if a property is not safe; those that are not named refuse.
    pub policies: &'c [(&'c str, Policy)],
    /// Work units (propagated literals) after which it gives up; 0: no limit.
    pub budget: u64,
    /// Work units between two calls of [`Watch::idle`].
    pub slice: u32,
}

impl Default for SelfCheck<'_> {
    fn default() -> Self {
        SelfCheck { mode: Mode::Recheck, parameters: &[], policies: &[], budget: 0, slice: 1000 }
    }
}

/// Parameters at most.
pub const MAX_PARAMETERS: usize = 16;

/// What is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Every property holds, for these parameters.
    Safe,
    /// This property is broken; [`Watch::broken`] was given the run that does it.
    Unsafe {
        /// Number of the first such property.
        property: usize,
    },
    /// Neither, and why.
    Unknown(Why),
}

/// Why nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
}

/// How it was found out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    /// The certificate was checked.
    Certificate,
    /// A proof was sought, from the certificate on where there is one.
    Proof,
}

/// Whether to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Decision {
    /// Yes.
    Start,
    /// With less: a property with the policy [`Policy::Degrade`] is not safe.
    Degraded,
    /// No.
    Refuse,
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
}

impl Outcome {
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
    };
    let mut bindings = [(0, 0); MAX_PARAMETERS];
    let bound = match bind(image, what, &mut bindings) {
        Ok(bound) => bound,
        Err(why) => {
            outcome.verdict = Verdict::Unknown(why);
            return outcome;
        }
    };
    outcome.decision = worst(image, what, |_| false);
    if what.mode != Mode::Prove {
        recheck(image, what, bound, memory, watch, &mut outcome);
        if outcome.verdict == Verdict::Safe {
            outcome.decision = Decision::Start;
            return outcome;
        }
    }
    #[cfg(feature = "ic3")]
    if what.mode != Mode::RecheckOnly {
        prove::prove(image, what, bound, memory, watch, &mut outcome);
    }
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
    for (i, (name, _)) in what.policies.iter().enumerate() {
        if !image.properties().any(|p| p.name == *name) {
            return Err(Why::NoSuchProperty(i));
        }
    }
    Ok(&bindings[..what.parameters.len()])
}

/// What follows if `is_safe` tells which properties are.
fn worst(
    image: &Image<'_, u16>,
    what: &SelfCheck<'_>,
    is_safe: impl Fn(usize) -> bool,
) -> Decision {
    let policy = |name: &str| {
        let named = what.policies.iter().find(|(other, _)| *other == name);
        named.map_or(Policy::Refuse, |(_, policy)| *policy)
    };
    let unsafe_ones = image.properties().enumerate().filter(|(p, _)| !is_safe(*p));
    match unsafe_ones.map(|(_, p)| policy(p.name)).max() {
        None | Some(Policy::Report) => Decision::Start,
        Some(Policy::Degrade) => Decision::Degraded,
        Some(Policy::Refuse) => Decision::Refuse,
    }
}

/// Checks the certificate, if there is one.
#[inline(never)]
fn recheck(
    image: &Image<'_, u16>,
    what: &SelfCheck<'_>,
    bindings: &[(usize, u64)],
    memory: &mut [u32],
    watch: &mut impl Watch,
    outcome: &mut Outcome,
) {
    let Some(table) = image.certificate() else { return };
    let properties = image.header.properties as usize;
    let Ok(mut checker) = Checker::new(image, table, 0..properties) else { return };
    let (mut bytes, most) = (Checker::bytes(image, table), memory.len() * 4);
    if bytes > most {
        outcome.verdict = Verdict::Unknown(Why::Memory { needed: bytes });
        return;
    }
    if what.budget != 0 {
        checker.limit(what.budget);
    }
    loop {
        let mut idle = || {
            watch.idle();
            true
        };
        let status = checker.step_watched(image, table, bindings, memory, what.slice, &mut idle);
        (outcome.work, outcome.peak_bytes) = (checker.propagations(), bytes);
        match status {
            Check::Running if what.budget == 0 || outcome.work < what.budget => watch.idle(),
            Check::Running | Check::Interrupted => {
                outcome.verdict = Verdict::Unknown(Why::Budget);
                return;
            }
            Check::Valid => {
                outcome.verdict = Verdict::Safe;
                return;
            }
            Check::Invalid(_) => return,
            Check::Capacity if bytes < most => {
                bytes = most;
                checker.widen(image, table, bytes);
            }
            Check::Capacity => {
                outcome.verdict = Verdict::Unknown(Why::Memory { needed: most + 4 });
                return;
            }
        }
    }
}

#[cfg(feature = "ic3")]
pub use prove::Trace;

#[cfg(feature = "ic3")]
mod prove {
    use super::{Method, Outcome, SelfCheck, Verdict, Watch, Why, worst};
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

    /// Seeks a proof, from the certificate on.
    #[inline(never)]
    pub(super) fn prove(
        image: &Image<'_, u16>,
        what: &SelfCheck<'_>,
        bindings: &[(usize, u64)],
        memory: &mut [u32],
        watch: &mut impl Watch,
        outcome: &mut Outcome,
    ) {
        outcome.method = Method::Proof;
        let before = outcome.work;
        let left = what.budget.saturating_sub(before);
        if what.budget != 0 && left == 0 {
            outcome.verdict = Verdict::Unknown(Why::Budget);
            return;
        }
        // A clause of the certificate is widened here on its way into the engine.
        let room = image.header.max_live as usize;
        let bytes = memory.len().saturating_sub(room) * 4;
        let plan = match Plan::new(image, bytes) {
            Ok(plan) => plan,
            Err(shortage) => {
                let needed = shortage.needed as usize + room * 4;
                outcome.verdict = Verdict::Unknown(Why::Memory { needed });
                return;
            }
        };
        let (clause, arena) = memory.split_at_mut(room);
        let mut engine = Engine::new(image, plan, Config::new(left, None), arena);
        for (param, value) in bindings {
            // Name and range were checked before; if it is refused all the same, nothing is proved.
            if engine.bind(image, arena, *param, *value).is_err() {
                outcome.verdict = Verdict::Unknown(Why::OutOfRange(*param));
                return;
            }
        }
        let table = image.certificate().unwrap_or_default();
        engine.seed_table(image, arena, table, clause);
        let mut broken = None;
        loop {
            let mut idle = || {
                watch.idle();
                true
            };
            match engine.step_watched(image, arena, what.slice, &mut idle) {
                Status::Running => watch.idle(),
                Status::Broken { property } => {
                    broken = broken.or(Some(property));
                    watch.broken(&mut Trace { property, image, engine: &engine, memory: arena });
                }
                Status::Finished => break,
            }
        }
        let stats = engine.stats();
        outcome.work = before + stats.propagations;
        outcome.peak_bytes = outcome.peak_bytes.max(stats.peak_bytes as usize + room * 4);
        let verdict = |p: usize| engine.verdict(arena, p);
        let is_safe = |p: usize| verdict(p) == ic3::Verdict::Safe;
        outcome.decision = worst(image, what, is_safe);
        let properties = 0..image.header.properties as usize;
        let unknown = properties.clone().map(verdict).find_map(|v| match v {
            ic3::Verdict::Unknown(Limit::Capacity) => {
                Some(Why::Memory { needed: plan.bytes() + room * 4 + 4 })
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
        if outcome.verdict == Verdict::Safe {
            outcome.table = engine.into_table(image, arena).unwrap_or(0);
            let words = outcome.table.div_ceil(2);
            memory.copy_within(room..room + words, 0);
        }
    }
}
