//! One random case after the other, each with everything that is checked about it. The tests run
//! these with fixed seeds, `cargo xtask soak` with fresh ones.

use crate::check::{check, decided};
use crate::engine::{Setup, least, recheck, run};
use crate::explicit::{self, within_bounds};
use crate::history;
use crate::random_cfa::{self, Shape};
use crate::random_image;
use crate::rng::Rng;
use crate::sat_driver;
use std::sync::Arc;
use vouch_core::certificate::Check;
use vouch_core::ic3::{Config, Verdict};
use vouch_host::blast::{self, AlignedImage};
use vouch_host::engines::cegar::{self, Words};
use vouch_host::engines::{self, Engine, EngineError, Memory, Tuning};
use vouch_host::ir::{Cfa, PropertyId, VarId, Word};
use vouch_host::judge::{Finding, Judgement, Question, Reason, judge};

/// What came out of a case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Properties that hold.
    pub safe: u64,
    /// Properties that are broken.
    pub broken: u64,
    /// Runs of the engine.
    pub runs: u64,
    /// Of these, with so little memory or budget that they may end without a verdict.
    pub limited: u64,
    /// Of these, the ones that did, at least on one property.
    pub unknown: u64,
    /// Queries that were posed to a solver of its own.
    pub queries: u64,
    /// Starts of a device.
    pub starts: u64,
    /// Power cuts that were planned in a device's life.
    pub cuts: u64,
    /// What each engine found, in the order of [`Engine::ALL`], with as much memory as it likes.
    pub engines: [Found; Engine::ALL.len()],
}

/// What an engine found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Found {
    /// Automata that it was asked about.
    pub automata: u64,
    /// Properties that hold.
    pub safe: u64,
    /// Properties that are broken.
    pub broken: u64,
    /// Automata with a property without a verdict when the work was done that it may do.
    pub unknown: u64,
}

impl Tally {
    /// Adds the counts of another case.
    pub fn add(&mut self, other: &Tally) {
        self.safe += other.safe;
        self.broken += other.broken;
        self.runs += other.runs;
        self.limited += other.limited;
        self.unknown += other.unknown;
        self.queries += other.queries;
        self.starts += other.starts;
        self.cuts += other.cuts;
        for (own, other) in self.engines.iter_mut().zip(&other.engines) {
            own.automata += other.automata;
            own.safe += other.safe;
            own.broken += other.broken;
            own.unknown += other.unknown;
        }
    }
}

/// A kind of random case.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A random image against explicit search: the engine, its invariants, both word widths, slices,
    /// small memories, the core's certificate checker.
    Image,
    /// A random automaton from the compiler to a validated verdict, against explicit search.
    Automaton,
    /// A random sequence of queries to the solver, against other solvers.
    Sat,
    /// A device's life with power cuts and failing flash, against what must never happen.
    Flash,
}

impl Kind {
    /// All kinds: what `soak` runs unless one is chosen.
    pub const ALL: [Kind; 4] = [Kind::Image, Kind::Automaton, Kind::Sat, Kind::Flash];

    /// The name that `soak --kind` knows it by.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Image => "image",
            Kind::Automaton => "automaton",
            Kind::Sat => "sat",
            Kind::Flash => "flash",
        }
    }

    /// The case with this seed; an error is a disagreement.
    pub fn run(self, seed: u64) -> Result<Tally, String> {
        match self {
            Kind::Image => image(seed),
            Kind::Automaton => automaton(seed),
            Kind::Sat => {
                let counts = sat_driver::one(seed)?;
                Ok(Tally { queries: counts.queries, ..Tally::default() })
            }
            Kind::Flash => {
                let counts = history::one(seed)?;
                Ok(Tally { starts: counts.starts, cuts: counts.cuts, ..Tally::default() })
            }
        }
    }
}

/// One random image, with free or bound parameters.
pub fn image(seed: u64) -> Result<Tally, String> {
    let image = random_image::generate(seed);
    let mut rng = Rng::new(!seed);
    let mut setup = Setup::default();
    setup.config.budget = 10_000_000;
    setup.config.eager = seed.is_multiple_of(2);
    if !image.params.is_empty() && seed & 64 != 0 {
        setup.bind = vec![(0, seed >> 7 & image.params[0].max)];
    }
    let bytes = image.build_as::<u16>().map_err(|e| format!("{e:?}"))?;
    let outcome = run::<u16>(&bytes, &setup).ok_or("a mebibyte is too little")?;
    check(&image, &setup, &outcome)?;
    if !decided(&outcome) {
        return Err(format!("no verdict: {outcome:?}"));
    }
    let wide = image.build_as::<u32>().map_err(|e| format!("{e:?}"))?;
    let same = run::<u32>(&wide, &setup).ok_or("a mebibyte is too little")?;
    if (&same.verdicts, &same.clauses) != (&outcome.verdicts, &outcome.clauses) {
        return Err(format!("wide words differ: {same:?}, {outcome:?}"));
    }
    let slices = (0..rng.between(1, 3)).map(|_| 1 + rng.below(200) as u32).collect();
    let sliced = run::<u16>(&bytes, &Setup { slices, ..setup.clone() });
    if sliced.as_ref() != Some(&outcome) {
        return Err(format!("slices differ: {sliced:?}, {outcome:?}"));
    }
    let safe = (0..outcome.verdicts.len()).filter(|p| outcome.verdicts[*p] == Verdict::Safe);
    let safe: Vec<usize> = safe.collect();
    if !safe.is_empty() {
        let found = recheck::<u16>(&bytes, &outcome.clauses, &safe, &setup.bind, 50).0;
        if found != Check::Valid {
            return Err(format!("the certificate is {found:?}: {outcome:?}"));
        }
    }
    let mut tally = Tally {
        safe: safe.len() as u64,
        broken: (outcome.verdicts.len() - safe.len()) as u64,
        runs: 3,
        ..Tally::default()
    };
    for _ in 0..2 {
        limited(&image, &bytes, &setup, &mut rng, &mut tally)?;
    }
    Ok(tally)
}

/// The image with a random amount of memory, and sometimes of work: a right answer, or none.
fn limited(
    image: &vouch_core::image::ImageBuilder,
    bytes: &[u8],
    setup: &Setup,
    rng: &mut Rng,
    tally: &mut Tally,
) -> Result<(), String> {
    let spare = rng.pick(&[50, 150, 500, 4000]);
    let memory = least::<u16>(bytes) + rng.below(spare);
    let budget = if rng.one_in(4) { 1 + rng.below(500) as u64 } else { 2_000_000 };
    let config = Config { budget, ..setup.config };
    let setup = Setup { memory, config, ..setup.clone() };
    let outcome = run::<u16>(bytes, &setup).ok_or("the least is too little")?;
    tally.runs += 1;
    tally.limited += 1;
    tally.unknown += !decided(&outcome) as u64;
    let what = |e: String| format!("{memory} bytes, budget {budget}: {e}: {outcome:?}");
    check(image, &setup, &outcome).map_err(what)
}

/// Whether an engine may find no end: bounded model checking has none, k-induction may need the longest path
/// that there is, Tree-IC3 as many paths as there are, IC3-CEGAR predicates that it does not find, and lifted PDR, which
/// pushes no lemma forward, as many levels as there are.
pub fn may_give_up(engine: Engine) -> bool {
    !engine.is_complete()
        || matches!(
            engine,
            Engine::Kind | Engine::Tree | Engine::TreeItp | Engine::Cegar | Engine::Pdr
        )
}

/// Work that decides a random automaton, or that is enough to see that it does not.
pub fn budget(engine: Engine) -> u64 {
    match engine {
        Engine::Bmc => 50_000,
        Engine::Kind | Engine::Tree | Engine::TreeItp | Engine::Cegar | Engine::Pdr => 10_000_000,
        _ => 50_000_000,
    }
}

/// One random automaton: compiled, decided, decoded, validated.
pub fn automaton(seed: u64) -> Result<Tally, String> {
    let shape = Shape::ALL[(seed % Shape::ALL.len() as u64) as usize];
    let cfa = random_cfa::generate(seed, shape);
    cfa.check()?;
    let mut rng = Rng::new(!seed);
    let options = blast::Options::default();
    let model = blast::compile(&cfa, [7; 32], &options).map_err(|e| e.to_string())?;
    let image = AlignedImage::new(&model.image);
    // Half of the automata with parameters have some of them bound.
    let mut bindings: Vec<(VarId, Word)> = vec![];
    if rng.one_in(2) {
        for (id, var) in cfa.params() {
            let value = (0..50).map(|_| rng.word(var.width)).find(|v| within_bounds(&cfa, id, *v));
            bindings.extend(value.filter(|_| rng.below(4) > 0).map(|v| (id, v)));
        }
    }
    let number = |var: VarId| model.map.params.iter().position(|p| *p == var);
    let bound = bindings.iter().filter_map(|(var, v)| Some((number(*var)? as u32, *v as u64)));
    let small = rng.one_in(3);
    let setup = engines::Setup {
        bindings: bound.collect(),
        memory: if small { Memory::Fixed(1000 + rng.below(4000)) } else { Memory::default() },
        budget: if small { 2_000_000 } else { 50_000_000 },
        // Who does not know what bits mean has only bits to speak of.
        words: (!rng.one_in(4))
            .then(|| Arc::new(Words { cfa: cfa.clone(), map: model.map.clone() })),
        written: Some(Arc::new(cfa.clone())),
        tuning: Tuning {
            growth: rng.below(8) as u32,
            cegar: rng.pick(&cegar::Config::NAMES).parse()?,
            ..Tuning::default()
        },
        ..engines::Setup::default()
    };
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    let question = Question { properties, bindings, ..Question::default() };
    let truth = explicit::search_bound(&cfa, &question.bindings);
    let mut tally = Tally::default();
    // The core's engine, and one of the others: each shape has all of them in turn.
    let other = Engine::ALL[(seed as usize / Shape::ALL.len()) % Engine::ALL.len()];
    for engine in [Engine::Ic3Cfa, other] {
        // A small memory is for the core's engine; what proves nothing by itself has an end of work.
        let is_core = engine == Engine::Ic3Cfa;
        let small = if is_core { small } else { may_give_up(engine) };
        let setup = engines::Setup {
            memory: if is_core { setup.memory } else { Memory::default() },
            budget: if is_core { setup.budget } else { budget(engine) },
            ..setup.clone()
        };
        let answer = match engine.run(&image, &setup, &mut |_| true) {
            Ok(answer) => answer,
            Err(EngineError::Shortage { .. }) if small => continue,
            Err(e) => return Err(e.to_string()),
        };
        let judgement = judge(&cfa, &model.map, &question, &answer, true);
        let found = compare(&cfa, &truth, engine, &answer, &judgement, small);
        let mut found = found.map_err(|what| format!("{engine}: {what}"))?;
        if !(is_core && small) {
            let at = Engine::ALL.iter().position(|e| *e == engine).unwrap_or(0);
            let Tally { safe, broken, unknown, .. } = found;
            found.engines[at] = Found { automata: 1, safe, broken, unknown };
        }
        tally.add(&found);
    }
    Ok(tally)
}

/// A judgement against the truth.
fn compare(
    cfa: &Cfa,
    truth: &[explicit::Outcome],
    engine: Engine,
    answer: &engines::Answer,
    judgement: &Judgement,
    small: bool,
) -> Result<Tally, String> {
    let mut tally = Tally { runs: 1, limited: small as u64, ..Tally::default() };
    if judgement.findings.len() != truth.len() {
        return Err(format!("{} findings", judgement.findings.len()));
    }
    for ((id, finding), truth) in judgement.findings.iter().zip(truth) {
        let safe_steps = answer.steps.get(id.index()).copied().unwrap_or(0) as usize;
        let is_unknown = matches!(finding, Finding::Unknown(_));
        let is_wrong = |length: &usize| is_unknown && safe_steps >= *length;
        if matches!(truth, explicit::Outcome::Unsafe { length } if is_wrong(length)) {
            return Err(format!("property {} of {}: {safe_steps} steps", id.0, cfa.name));
        }
        let is_length = |length: usize, least: usize| match engine.is_shortest() {
            true => length == least,
            false => length >= least,
        };
        match (finding, truth) {
            (Finding::Safe, explicit::Outcome::Safe) => tally.safe += 1,
            (Finding::Unsafe(broken), explicit::Outcome::Unsafe { length })
                if broken.run.is_some() && is_length(broken.trace.steps.len(), *length) =>
            {
                tally.broken += 1;
            }
            (Finding::Unknown(Reason::Capacity | Reason::Budget), _) if small => tally.unknown = 1,
            other => return Err(format!("property {} of {}: {other:?}", id.0, cfa.name)),
        }
    }
    if !judgement.validated && tally.safe + tally.broken > 0 {
        return Err(format!("{}: not validated", cfa.name));
    }
    Ok(tally)
}
