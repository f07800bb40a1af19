//! Generalisation of abstract states (§3.5).

use super::solvers::{Cube, Lemma, RETIRED};
use super::{Consecution, Search};
use crate::engines::clock::Stop;
use vouch_core::word::Word;

/// Counterexamples to generalisation that are blocked at most, and how deep (maxCTGs, maxDepth).
const CTGS: usize = 3;
const DEPTH: usize = 1;
/// Weaker literals that are tried at most (maxGeo).
const WEAKER: usize = 100;

impl<W: Word> Search<'_, W> {
    /// Excludes a cube from the frames up to a level, and as much more as there is a reason for.
    pub(super) fn learn(
        &mut self,
        location: usize,
        cube: Cube,
        mut level: usize,
        depth: usize,
    ) -> Result<(), Stop> {
        let cube = self.minimal(location, cube, level, depth)?;
        while level < self.frontier
            && matches!(self.consecution(location, &cube, level + 1)?, Consecution::Holds(_))
        {
            level += 1;
        }
        self.job.clock.count(|stats| stats.lemmas = stats.lemmas.saturating_add(1));
        // What the new one says as well, and for as long, is retired.
        for old in self.lemmas[location].iter_mut().filter(|old| old.level <= level) {
            if cube.iter().all(|lit| old.cube.contains(lit)) {
                old.level = RETIRED;
            }
        }
        self.lemmas[location].push(Lemma { location, cube, level });
        Ok(())
    }

    /// MIC (Alg. 8 and 9): drops literals, or replaces them by weaker ones.
    fn minimal(
        &mut self,
        location: usize,
        mut cube: Cube,
        level: usize,
        depth: usize,
    ) -> Result<Cube, Stop> {
        let mut tries = 0;
        for lit in cube.clone() {
            if !cube.contains(&lit) {
                continue;
            }
            let fewer = cube.iter().copied().filter(|other| *other != lit).collect();
            if let Some(core) = self.down(location, fewer, level, depth)? {
                cube = core;
            } else if self.config.geometric {
                cube = self.weaken(location, cube, lit, level, &mut tries)?;
            }
        }
        Ok(cube)
    }

    /// CTGDOWN (Alg. 8): a part of the cube that is blocked. States that are in the way are blocked themselves, or
    /// joined.
    fn down(
        &mut self,
        location: usize,
        mut cube: Cube,
        level: usize,
        depth: usize,
    ) -> Result<Option<Cube>, Stop> {
        let mut ctgs = 0;
        loop {
            let (edge, state) = match self.consecution(location, &cube, level)? {
                Consecution::Holds(core) => return Ok(Some(core)),
                Consecution::Fails { edge, state, .. } => (edge, state),
            };
            let from = self.job.image.ends(edge).0;
            if !self.config.ctg || depth >= DEPTH || from == 0 {
                return Ok(None);
            }
            let predicates = self.predicates(from).into_iter();
            let abstraction = self.solvers.abstraction(&self.domain, from, predicates, &state);
            if ctgs < CTGS && level > 1 {
                let reply = self.consecution(from, &abstraction, level - 1)?;
                if let Consecution::Holds(core) = reply {
                    ctgs += 1;
                    self.learn(from, core, level - 1, depth + 1)?;
                    continue;
                }
            }
            // Only what is at the same location has something in common with the cube.
            if from != location {
                return Ok(None);
            }
            ctgs = 0;
            let before = cube.len();
            cube.retain(|lit| abstraction.contains(lit));
            if cube.len() == before {
                return Ok(None);
            }
        }
    }

    /// Geometric generalisation (Alg. 9): a literal is replaced by weaker ones as long as the cube stays blocked.
    fn weaken(
        &mut self,
        location: usize,
        mut cube: Cube,
        mut lit: u32,
        level: usize,
        tries: &mut usize,
    ) -> Result<Cube, Stop> {
        'again: loop {
            for predicate in self.predicates(location) {
                for other in [2 * predicate, 2 * predicate + 1] {
                    let is_tried = cube.iter().any(|own| own / 2 == predicate);
                    if is_tried || !self.is_weaker(location, lit, other)? {
                        continue;
                    }
                    *tries += 1;
                    if *tries > WEAKER {
                        return Ok(cube);
                    }
                    let rest = cube.iter().copied().filter(|own| *own != lit);
                    let mut weaker: Cube = rest.chain([other]).collect();
                    weaker.sort_unstable();
                    if let Consecution::Holds(core) = self.consecution(location, &weaker, level)? {
                        cube = core;
                        lit = other;
                        if !cube.contains(&lit) {
                            return Ok(cube);
                        }
                        continue 'again;
                    }
                }
            }
            return Ok(cube);
        }
    }

    /// Whether a literal follows from another and not the other way round.
    fn is_weaker(&mut self, location: usize, lit: u32, other: u32) -> Result<bool, Stop> {
        if !self.domain.overlap(lit / 2, other / 2) {
            return Ok(false);
        }
        for (a, b, wanted) in [(lit, other, true), (other, lit, false)] {
            let known = self.weaker.get(&(location, a, b)).copied();
            let implies = match known {
                Some(known) => known,
                None => {
                    let implies = self.solvers.implies(&self.domain, location, a, b)?;
                    self.weaker.insert((location, a, b), implies);
                    implies
                }
            };
            if implies != wanted {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
