//! IC3-CEGAR (Birgmeier: *Software Verification with IC3 via Abstraction and Interpolation*, 2013): IC3 whose lemmas
//! are clauses over predicates.
//!
//! Proof obligations are concrete (Alg. 3): a cube of bits that leads to an error, lifted (§3.2). What is blocked is
//! its abstraction (§3.3, `solvers`): a state that it still has in the frame, as the predicates see it; this continues
//! until the frame has none, so not all abstract states need be enumerated. If the abstract state has a predecessor
//! that the concrete one has not, the abstraction is to blame, and predicates are added that tell the two apart
//! (§3.4, `refine`). Lemmas are generalised by dropping literals with counterexamples to generalisation (Alg. 8),
//! and by weaker predicates (Alg. 9).
//!
//! What can be switched, as in §4.2:
//!
//! - C: counterexamples to generalisation;
//! - G: geometric generalisation;
//! - R: refinement state mining, linear equations over states that have led to refinement;
//! - L: lazy refinement, only when a run with spurious steps begins at an initial state (Alg. 6, 7);
//! - B, which is ours: bounds that hold from the start (`bounds`), of which the certificate has what it needs (`needed`).
//!
//! Two things differ. Frames are those of each location, as in [IC3CFA](super::ic3cfa): there is no program counter
//! and no initial condition among the predicates. And refinement is not by interpolation: an interpolant of bits
//! is a formula over bits, but what is wanted are relations of words. Instead, relations that hold in the concrete
//! states (differences, bounds, equations) are all assumed at once, and the solver's core says which of them are
//! needed; where these do not suffice, the bits do.
//!
//! Predicates become terms of the certificate, so an invariant may say `x - y <= 1`.

mod bounds;
mod domain;
mod generalize;
mod needed;
mod post;
mod refine;
mod solvers;
mod templates;

use super::clock::Stop;
use super::found::Found;
use super::ic3cfa::Watch;
use super::job::{Job, with_job};
use super::{Answer, EngineError, ImageTrace, Setup};
use crate::blast::AlignedImage;
use domain::Domain;
pub use domain::Words;
use refine::Mine;
use rustc_hash::FxHashMap as HashMap;
use solvers::{Cube, Lemma, Reply, Solvers};
use std::str::FromStr;
use vouch_core::ic3::Verdict;
use vouch_core::word::Word;

/// Spurious steps of a run before refinement, if it is lazy.
const SPURIOUS: usize = 3;

/// What is switched on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Config {
    /// C: counterexamples to generalisation.
    pub ctg: bool,
    /// G: geometric generalisation.
    pub geometric: bool,
    /// R: refinement state mining.
    pub mining: bool,
    /// L: lazy refinement.
    pub lazy: bool,
    /// B: bounds that hold from the start.
    pub bounds: bool,
}

impl Config {
    /// The configurations of §4.2, and the one that is best.
    pub const NAMES: [&str; 8] = ["noopt", "c", "cg", "cr", "cgr", "crl", "cgrl", "crb"];
}

impl Default for Config {
    fn default() -> Config {
        Config { ctg: true, geometric: false, mining: true, lazy: false, bounds: true }
    }
}

impl FromStr for Config {
    type Err = String;
    fn from_str(name: &str) -> Result<Config, String> {
        if !Config::NAMES.contains(&name) {
            let known = Config::NAMES.join(", ");
            return Err(format!("unknown configuration `{name}`; there are: {known}"));
        }
        let has = |letter: char| name != "noopt" && name.contains(letter);
        Ok(Config {
            ctg: has('c'),
            geometric: has('g'),
            mining: has('r'),
            lazy: has('l'),
            bounds: has('b'),
        })
    }
}

impl std::fmt::Display for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let is = |name: &&&str| name.parse() == Ok(*self);
        f.pad(Config::NAMES.iter().find(is).unwrap_or(&"noopt"))
    }
}

/// Checks `image`.
pub fn run(image: &AlignedImage, setup: &Setup, watch: Watch<'_>) -> Result<Answer, EngineError> {
    with_job!(image, setup, watch, search)
}

fn search<'j, W: Word>(job: &'j Job<'j, W>, mut found: Found) -> Result<Answer, EngineError> {
    let mut search = Search::new(job);
    let stop = match search.decide(&mut found) {
        Err(stop) => Some(stop),
        Ok(mut clauses) => {
            found.answer.terms = search.domain.answer(&mut clauses);
            found.answer.clauses = clauses;
            found.open().into_iter().for_each(|p| found.answer.verdicts[p] = Verdict::Safe);
            None
        }
    };
    Ok(found.end(stop, &job.clock))
}

/// A cube of bits that is to be blocked, because it leads to an error.
struct Obligation {
    location: usize,
    cube: Cube,
    level: usize,
    /// Where it leads to, and how.
    next: Option<Next>,
    /// Spurious steps from here to the error.
    spurious: usize,
}

struct Next {
    id: usize,
    edge: usize,
    inputs: Vec<bool>,
    /// It leads to the abstraction only.
    is_spurious: bool,
}

/// Whether runs lead to a cube.
enum Consecution {
    /// No edge does, to this part of it.
    Holds(Cube),
    /// This one does.
    Fails { edge: usize, from: Cube, state: Cube, inputs: Vec<bool> },
}

struct Search<'j, W> {
    job: &'j Job<'j, W>,
    config: Config,
    domain: Domain,
    solvers: Solvers<'j, W>,
    /// Of each location.
    lemmas: Vec<Vec<Lemma>>,
    frontier: usize,
    obligations: Vec<Obligation>,
    /// Those that are open.
    queue: Vec<usize>,
    /// States that have led to refinement, by location.
    mines: HashMap<usize, Mine>,
    /// Which literals imply which at a location.
    weaker: HashMap<(usize, u32, u32), bool>,
}

impl<'j, W: Word> Search<'j, W> {
    fn new(job: &'j Job<'j, W>) -> Self {
        let image = job.image;
        let bits = image.header.state_bits as usize;
        Search {
            job,
            config: job.setup.tuning.cegar,
            domain: Domain::new(bits, job.setup.words.as_deref()),
            solvers: Solvers::new(job),
            lemmas: (0..image.locations()).map(|_| vec![]).collect(),
            frontier: 0,
            obligations: vec![],
            queue: vec![],
            mines: HashMap::default(),
            weaker: HashMap::default(),
        }
    }

    /// Returns the invariant that proves what is not broken.
    fn decide(&mut self, found: &mut Found) -> Result<Vec<(usize, Vec<u32>)>, Stop> {
        if self.config.bounds {
            let errors = self.job.targets(found);
            self.bounds(&errors)?;
        }
        loop {
            self.frontier += 1;
            let frontier = self.frontier as u32;
            self.job.clock.count(|stats| stats.frontier = frontier);
            for property in found.open() {
                self.strengthen(property, found)?;
            }
            if found.open().is_empty() {
                return Ok(vec![]);
            }
            for property in found.open() {
                found.answer.steps[property] = frontier;
            }
            if let Some(level) = self.propagate()? {
                let errors = self.job.targets(found);
                // Without the time for it, the proof is as good, and longer.
                _ = self.keep_needed(level, &errors);
                return Ok(self.invariant(level));
            }
        }
    }

    /// Excludes the error of a property from the frontier, or finds a run to it (Alg. 3 and 6).
    fn strengthen(&mut self, property: usize, found: &mut Found) -> Result<(), Stop> {
        self.obligations.clear();
        self.queue.clear();
        let (location, level) = (self.job.errors[property], self.frontier);
        self.push(Obligation { location, cube: vec![], level, next: None, spurious: 0 });
        while let Some(&id) = self.queue.iter().min_by_key(|id| self.obligations[**id].level) {
            self.job.clock.count(|stats| stats.obligations = stats.obligations.saturating_add(1));
            let lemmas = self.lemmas.iter().flatten().map(|l| 48 + 4 * l.cube.len()).sum::<usize>();
            self.job.clock.uses(self.solvers.bytes() + lemmas + 200 * self.obligations.len())?;
            let Obligation { location, level, spurious, .. } = self.obligations[id];
            let cube = self.obligations[id].cube.clone();
            let lemmas = &self.lemmas[location];
            let state = self.solvers.state(&self.domain, location, lemmas, level, &cube)?;
            let Some(state) = state else {
                // All of it is excluded (§3.3): try the next frame.
                self.queue.retain(|other| *other != id);
                if level < self.frontier {
                    self.obligations[id].level += 1;
                    self.queue.push(id);
                }
                continue;
            };
            if location == 0 {
                if spurious == 0 {
                    found.broken(self.trace(property, id, &state));
                    return Ok(());
                }
                self.backtrack(id)?;
                continue;
            }
            let abstraction = self.abstraction(location, &cube, &state);
            match self.consecution(location, &abstraction, level)? {
                Consecution::Holds(core) => self.learn(location, core, level, 0)?,
                Consecution::Fails { edge, from, state, inputs } => {
                    let concrete = self.consecution(location, &cube, level)?;
                    if let Consecution::Fails { edge, from, state, inputs } = concrete {
                        let from = self.domain.whole(from, &state);
                        self.precede(id, edge, from, inputs, false);
                    } else if self.config.lazy
                        && spurious < SPURIOUS
                        && self.job.image.ends(edge).0 != 0
                    {
                        let from = self.domain.whole(from, &state);
                        self.precede(id, edge, from, inputs, true);
                    } else {
                        self.refine(location, &cube, &abstraction, level)?;
                    }
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, obligation: Obligation) {
        self.queue.push(self.obligations.len());
        self.obligations.push(obligation);
    }

    /// An obligation at the source of an edge.
    fn precede(
        &mut self,
        id: usize,
        edge: usize,
        cube: Cube,
        inputs: Vec<bool>,
        is_spurious: bool,
    ) {
        let Obligation { level, spurious, .. } = self.obligations[id];
        let next = Some(Next { id, edge, inputs, is_spurious });
        let location = self.job.image.ends(edge).0;
        let spurious = spurious + is_spurious as usize;
        self.push(Obligation { location, cube, level: level - 1, next, spurious });
    }

    /// A run with a spurious step begins at an initial state (BACKTRACKREFINE): refines there, and forgets what led
    /// to it.
    fn backtrack(&mut self, mut id: usize) -> Result<(), Stop> {
        loop {
            self.queue.retain(|other| *other != id);
            let Some(Next { id: next, is_spurious, .. }) = &self.obligations[id].next else {
                return Ok(());
            };
            let is_spurious = *is_spurious;
            id = *next;
            if is_spurious {
                break;
            }
        }
        let Obligation { location, level, .. } = self.obligations[id];
        let cube = self.obligations[id].cube.clone();
        let lemmas = &self.lemmas[location];
        let state = self.solvers.state(&self.domain, location, lemmas, level, &cube)?;
        let Some(state) = state else { return Ok(()) };
        let abstraction = self.abstraction(location, &cube, &state);
        match self.consecution(location, &abstraction, level)? {
            Consecution::Holds(core) => self.learn(location, core, level, 0),
            Consecution::Fails { .. } => self.refine(location, &cube, &abstraction, level),
        }
    }

    /// The run from a state of an obligation.
    fn trace(&self, property: usize, id: usize, state: &[u32]) -> ImageTrace {
        let live = self.job.image.location(0).live.iter();
        let initial = live.map(|b| state.binary_search(&(2 * b.get() as u32)).is_ok()).collect();
        let mut steps = vec![];
        let mut next = &self.obligations[id].next;
        while let Some(Next { id, edge, inputs, .. }) = next {
            steps.push((*edge, inputs.clone()));
            next = &self.obligations[*id].next;
        }
        ImageTrace { property, initial, steps }
    }

    /// The abstract state of a state of a cube: those predicates that have to do with the cube (§3.3). No run
    /// may be at an error at all.
    fn abstraction(&mut self, location: usize, cube: &[u32], state: &[u32]) -> Cube {
        if self.job.errors.contains(&location) {
            return vec![];
        }
        let sets = |bit: u32| {
            cube.binary_search(&(2 * bit)).is_ok() || cube.binary_search(&(2 * bit + 1)).is_ok()
        };
        let predicates = self.predicates(location).into_iter();
        let related: Vec<u32> = predicates.filter(|p| self.domain.reads(*p, sets)).collect();
        self.solvers.abstraction(&self.domain, location, related.into_iter(), state)
    }

    /// The active predicates that a location has.
    fn predicates(&self, location: usize) -> Vec<u32> {
        let live = self.job.image.location(location).live;
        let has = |bit: u32| live.binary_search_by_key(&(bit as usize), |b| b.get()).is_ok();
        self.domain.active().filter(|p| self.domain.is_at(*p, has)).collect()
    }

    /// Whether no edge leads from the frame before a level to a cube.
    fn consecution(
        &mut self,
        location: usize,
        cube: &[u32],
        level: usize,
    ) -> Result<Consecution, Stop> {
        let mut core: Cube = vec![];
        for edge in self.job.image.location(location).in_edges {
            let edge = edge.get();
            let lemmas = &self.lemmas[self.job.image.ends(edge).0];
            match self.solvers.step(&self.domain, edge, lemmas, level - 1, cube)? {
                Reply::Blocked(own) => core.extend(own),
                Reply::Reached { from, state, inputs } => {
                    return Ok(Consecution::Fails { edge, from, state, inputs });
                }
            }
        }
        core.sort_unstable();
        core.dedup();
        Ok(Consecution::Holds(core))
    }

    /// Lemmas that hold one step longer do. Returns a level from which on nothing changes.
    fn propagate(&mut self) -> Result<Option<usize>, Stop> {
        for level in 1..self.frontier {
            let mut is_left = false;
            for location in 1..self.lemmas.len() {
                for at in 0..self.lemmas[location].len() {
                    if self.lemmas[location][at].level != level {
                        continue;
                    }
                    let cube = self.lemmas[location][at].cube.clone();
                    match self.consecution(location, &cube, level + 1)? {
                        Consecution::Holds(_) => self.lemmas[location][at].level = level + 1,
                        Consecution::Fails { .. } => is_left = true,
                    }
                }
            }
            if !is_left {
                return Ok(Some(level));
            }
        }
        Ok(None)
    }

    /// The lemmas beyond a level, as clauses.
    fn invariant(&self, level: usize) -> Vec<(usize, Vec<u32>)> {
        let all = self.lemmas.iter().flatten().filter(|lemma| lemma.level > level);
        all.map(|l| (l.location, l.cube.iter().map(|lit| lit ^ 1).collect())).collect()
    }
}
