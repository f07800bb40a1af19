//! Lifted PDR (Werner, *Property Directed Reachability in Ultimate*, §4): PDR on control flow graphs whose proof
//! obligations are weakest preconditions.
//!
//! Each location has frames of its own; what is to be blocked are *transitions* into the error, not states, so every
//! round begins with the same obligations, one level higher. An obligation that cannot be blocked asks for the *weakest
//! precondition* of its cube over the edge, in disjunctive normal form: each cube of it is an obligation of its own
//! (§4.4). It does not depend on frames, so it is computed once for an edge and a cube. There is neither relative induction nor
//! are lemmas pushed forward; what ends the search is a level at which all locations have the frame of the level before.
//!
//! Obligations are generalised by cores of unsatisfiable questions, which take the place of the thesis's interpolants:
//! literals that no edge needs are dropped.

use super::clock::Stop;
use super::found::Found;
use super::ic3cfa::Watch;
use super::job::{Job, with_job};
use super::tree::query::{Lits, Reply, Solvers, is_subset, negated, preimage};
use super::{Answer, EngineError, ImageTrace, Setup};
use crate::blast::AlignedImage;
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;
use vouch_core::ic3::Verdict;
use vouch_core::word::Word;

/// Cubes of a weakest precondition that are computed at once. Where it has more, others follow when they are needed.
const CUBES: usize = 8;
/// Numbers of questions that are not about a frame.
const NO_FRAME: usize = 1 << 32;

/// Checks `image`.
pub fn run(image: &AlignedImage, setup: &Setup, watch: Watch<'_>) -> Result<Answer, EngineError> {
    with_job!(image, setup, watch, search)
}

fn search<'j, W: Word>(job: &'j Job<'j, W>, mut found: Found) -> Result<Answer, EngineError> {
    let mut pdr = Pdr::new(job);
    let stop = pdr.prove(&mut found).err();
    Ok(found.end(stop, &job.clock))
}

/// A part of a weakest precondition: from each of its states these inputs lead to the cube that it was made of.
struct Part {
    cube: Lits,
    inputs: Vec<bool>,
}

/// A cube that is to be blocked at a location, up to a level.
struct Obligation {
    cube: Lits,
    location: usize,
    level: usize,
    /// The edge to take from it, with these inputs, to the obligation that it was made for, or to the error.
    next: (usize, Vec<bool>),
    /// The obligation that it was made for; `None` if `next` leads to the error.
    then: Option<Rc<Obligation>>,
}

/// What came of an obligation.
enum Outcome {
    Blocked,
    /// These have to be blocked first.
    After(Vec<Obligation>),
    /// A run: the first state, and its edges with their inputs.
    Run(Vec<bool>, Vec<(usize, Vec<bool>)>),
}

struct Pdr<'j, W> {
    job: &'j Job<'j, W>,
    solvers: Solvers<'j, W>,
    /// F(i, l), by level and location: clauses. Those of a level are among those of the level before.
    frames: Vec<Vec<Vec<Lits>>>,
    /// By edge and cube.
    weakest: HashMap<(usize, Lits), Rc<Vec<Part>>>,
    lits: usize,
}

impl<'j, W: Word> Pdr<'j, W> {
    fn new(job: &'j Job<'j, W>) -> Pdr<'j, W> {
        // Nothing but the initial location is reached in no step.
        let mut first = vec![vec![vec![]]; job.image.locations()];
        first[0] = Pdr::bound(job);
        let (solvers, weakest) = (Solvers::new(job), HashMap::default());
        Pdr { job, solvers, frames: vec![first], weakest, lits: 0 }
    }

    /// What is known of the initial location on every level: the parameters that are bound.
    fn bound(job: &Job<'_, W>) -> Vec<Lits> {
        let live = job.image.location(0).live.iter().enumerate();
        let value = |(at, bit): (usize, &W)| {
            let value = job.bound.get(&(bit.get() as u32))?;
            Some(vec![2 * at as u32 + !value as u32])
        };
        live.filter_map(value).collect()
    }

    /// Algorithm 2, LIFTED-PDR-PROVE.
    fn prove(&mut self, found: &mut Found) -> Result<(), Stop> {
        loop {
            // Next level: lines 8 to 10.
            let mut next = vec![vec![]; self.job.image.locations()];
            next[0] = Pdr::bound(self.job);
            self.frames.push(next);
            let level = self.frames.len() - 1;
            for property in found.open() {
                // Blocking phase: lines 11 to 15.
                if let Some(trace) = self.block(property, level)? {
                    found.broken(trace);
                }
            }
            let lemmas = self.frames[1].iter().map(Vec::len).sum::<usize>();
            self.job.clock.count(|stats| {
                stats.frontier = level as u32;
                stats.lemmas = u32::try_from(lemmas).unwrap_or(u32::MAX);
            });
            // Propagation phase: lines 16 to 20.
            if found.open().is_empty() {
                return Ok(());
            }
            if let Some(fixpoint) = self.fixpoint()? {
                let errors = self.job.targets(found);
                found.open().into_iter().for_each(|p| found.answer.verdicts[p] = Verdict::Safe);
                found.answer.clauses.extend(self.clauses(fixpoint, &errors));
                return Ok(());
            }
            for property in found.open() {
                found.answer.steps[property] = level as u32;
            }
        }
    }

    /// Blocks all transitions to a property's error on a level, or finds a run that takes one.
    fn block(&mut self, property: usize, level: usize) -> Result<Option<ImageTrace>, Stop> {
        let error = self.job.errors[property];
        for edge in self.job.image.location(error).in_edges {
            let edge = edge.get();
            while let Some(reply) = self.transition(edge, level)? {
                let mut stack = match reply {
                    Outcome::Run(initial, steps) => {
                        return Ok(Some(ImageTrace { property, initial, steps }));
                    }
                    Outcome::After(obligations) => obligations.into_iter().map(Rc::new).collect(),
                    Outcome::Blocked => vec![],
                };
                // Those of the lowest level come first.
                while let Some(obligation) = stack.pop() {
                    match self.try_to_block(&obligation)? {
                        Outcome::Blocked => {}
                        Outcome::After(before) => {
                            stack.push(obligation);
                            stack.extend(before.into_iter().map(Rc::new));
                        }
                        Outcome::Run(initial, steps) => {
                            return Ok(Some(ImageTrace { property, initial, steps }));
                        }
                    }
                }
            }
        }
        Ok(None)
    }

    /// Whether the transition to an error can be taken from the frame of a level, and what has to be blocked then.
    fn transition(&mut self, edge: usize, level: usize) -> Result<Option<Outcome>, Stop> {
        let from = self.job.image.ends(edge).0;
        let Reply::Reached { state, inputs } = self.ask(edge, level, &[])? else {
            return Ok(None);
        };
        if from == 0 {
            return Ok(Some(Outcome::Run(state, vec![(edge, inputs)])));
        }
        let parts = self.parts(edge, &[], &state, inputs)?;
        let obligation = |part: Part| Obligation {
            cube: part.cube,
            location: from,
            level,
            next: (edge, part.inputs),
            then: None,
        };
        Ok(Some(Outcome::After(parts.into_iter().map(obligation).collect())))
    }

    /// One obligation: is it reached from the frame below, over any edge?
    fn try_to_block(&mut self, obligation: &Rc<Obligation>) -> Result<Outcome, Stop> {
        let Obligation { cube, location, level, .. } = &**obligation;
        self.job.clock.count(|stats| stats.obligations = stats.obligations.saturating_add(1));
        self.job.clock.uses(self.solvers.bytes() + 24 * self.lits)?;
        let frame = &self.frames[*level][*location];
        if self.solvers.entails(*location, *level, frame, &negated(cube))? {
            return Ok(Outcome::Blocked);
        }
        let mut needed: Lits = vec![];
        for edge in self.job.image.location(*location).in_edges {
            let edge = edge.get();
            let from = self.job.image.ends(edge).0;
            match self.ask(edge, level - 1, cube)? {
                Reply::Blocked(core) => needed.extend(core),
                Reply::Reached { state, inputs } if from == 0 => {
                    let mut steps = vec![(edge, inputs)];
                    let mut at = Some(obligation);
                    while let Some(here) = at {
                        steps.push(here.next.clone());
                        at = here.then.as_ref();
                    }
                    return Ok(Outcome::Run(state, steps));
                }
                Reply::Reached { state, inputs } => {
                    let before = |part: Part| Obligation {
                        cube: part.cube,
                        location: from,
                        level: level - 1,
                        next: (edge, part.inputs),
                        then: Some(obligation.clone()),
                    };
                    let parts = self.parts(edge, cube, &state, inputs)?;
                    return Ok(Outcome::After(parts.into_iter().map(before).collect()));
                }
            }
        }
        needed.sort_unstable();
        needed.dedup();
        let cube = self.generalize(*location, *level, needed)?;
        self.strengthen(*location, *level, negated(&cube));
        Ok(Outcome::Blocked)
    }

    /// Whether an edge leads from the frame of a level to a cube.
    fn ask(&mut self, edge: usize, level: usize, cube: &[u32]) -> Result<Reply, Stop> {
        let from = self.job.image.ends(edge).0;
        if level == 0 && from != 0 {
            return Ok(Reply::Blocked(vec![]));
        }
        self.solvers.step(edge, level, &self.frames[level][from], cube)
    }

    /// Drops literals as long as no edge leads to the cube.
    fn generalize(&mut self, location: usize, level: usize, mut cube: Lits) -> Result<Lits, Stop> {
        let mut next = 0;
        'literals: while next < cube.len() {
            let mut fewer = cube.clone();
            fewer.remove(next);
            let mut needed: Lits = vec![];
            for edge in self.job.image.location(location).in_edges {
                match self.ask(edge.get(), level - 1, &fewer)? {
                    Reply::Blocked(core) => needed.extend(core),
                    Reply::Reached { .. } => {
                        next += 1;
                        continue 'literals;
                    }
                }
            }
            // Literals before the next one were needed, and still are.
            needed.extend(&cube[..next]);
            needed.sort_unstable();
            needed.dedup();
            cube = needed;
        }
        Ok(cube)
    }

    /// F(j, l) := F(j, l) ∧ clause for all j up to a level.
    fn strengthen(&mut self, location: usize, level: usize, clause: Lits) {
        for frame in &mut self.frames[1..=level] {
            let own = &mut frame[location];
            // Solvers know clauses by their number, so what is implied stays.
            if !own.iter().any(|known| is_subset(known, &clause)) {
                self.lits += 1 + clause.len();
                own.push(clause.clone());
            }
        }
    }

    /// The parts of the weakest precondition of a cube over an edge: that of this state, from which these inputs lead to it,
    /// comes last.
    fn parts(
        &mut self,
        edge: usize,
        cube: &[u32],
        state: &[bool],
        inputs: Vec<bool>,
    ) -> Result<Vec<Part>, Stop> {
        let key = (edge, cube.to_vec());
        let known = match self.weakest.get(&key) {
            Some(known) => known.clone(),
            None => {
                let parts = Rc::new(self.weakest_precondition(edge, cube)?);
                self.lits += parts.iter().map(|p| p.cube.len() + p.inputs.len()).sum::<usize>();
                self.weakest.insert(key, parts.clone());
                parts
            }
        };
        let holds = |lit: &u32| state[*lit as usize / 2] == (lit & 1 == 0);
        let copy = |p: &Part| Part { cube: p.cube.clone(), inputs: p.inputs.clone() };
        let (this, others): (Vec<&Part>, Vec<&Part>) =
            known.iter().partition(|part| part.cube.iter().all(holds));
        let mut parts: Vec<Part> = others.into_iter().map(copy).collect();
        parts.push(match this.first() {
            Some(this) => copy(this),
            None => Part { cube: preimage(self.job.image, edge, state, &inputs, cube), inputs },
        });
        Ok(parts)
    }

    /// The first cubes of the weakest precondition's disjunctive normal form.
    fn weakest_precondition(&mut self, edge: usize, cube: &[u32]) -> Result<Vec<Part>, Stop> {
        let (mut parts, mut others) = (vec![], vec![]);
        let number = NO_FRAME + self.weakest.len();
        while parts.len() < CUBES {
            let reply = self.solvers.step(edge, number, &others, cube)?;
            let Reply::Reached { state, inputs } = reply else { break };
            let part = preimage(self.job.image, edge, &state, &inputs, cube);
            others.push(negated(&part));
            parts.push(Part { cube: part, inputs });
        }
        Ok(parts)
    }

    /// A level at which all frames are those of the level before. Clauses of a level are among those before it, so it
    /// suffices that those of the level before follow.
    fn fixpoint(&mut self) -> Result<Option<usize>, Stop> {
        'levels: for level in 2..self.frames.len() {
            for location in 1..self.job.image.locations() {
                let before = self.frames[level - 1][location].clone();
                for clause in &before {
                    let frame = &self.frames[level][location];
                    if !self.solvers.entails(location, level, frame, clause)? {
                        continue 'levels;
                    }
                }
            }
            return Ok(Some(level));
        }
        Ok(None)
    }

    /// The frames of a level, in the image's numbers, and that these errors are not reached.
    fn clauses(&self, level: usize, errors: &[usize]) -> Vec<(usize, Lits)> {
        let mut clauses: Vec<(usize, Lits)> = errors.iter().map(|error| (*error, vec![])).collect();
        for (location, own) in self.frames[level].iter().enumerate().skip(1) {
            let live = self.job.image.location(location).live;
            for clause in own {
                let global = |lit: &u32| 2 * live[*lit as usize / 2].get() as u32 + (lit & 1);
                clauses.push((location, clause.iter().map(global).collect()));
            }
        }
        clauses
    }
}
