//! Bounds that hold from the start: comparisons of sums of words with numbers of the program, inductive together, found
//! before IC3 begins.
//!
//! This is abstract interpretation with templates (Sankaranarayanan, Sipma, Manna: *Scalable Analysis of Linear Systems
//! using Mathematical Programming*, VMCAI'05), with a SAT solver instead of linear programs: sums wrap around as they do
//! in the program. Each template is a ladder: comparisons of one sum, each weaker than the one before. A location is on
//! the strongest rung that no state found so far refutes. When an edge leads from a state within all bounds of its
//! source to one that is not within those of its target, the target steps down. What is left when no edge does is an
//! invariant. The numbers of the program are the thresholds of widening, and whoever steps down too often is let go.
//!
//! What an edge does to a sum is a sum again, in which what cancels out is gone, so the solver need not find out that
//! `(x + 1) - (y + 1)` is `x - y`.

use super::post::{Failure, Post};
use super::solvers::{FOREVER, Lemma};
use super::templates::{Ladder, Rung, Templates};
use super::{Consecution, Search};
use crate::engines::clock::Stop;
use std::collections::BTreeSet;
use std::time::{Duration, Instant};
use vouch_core::word::Word;
use vouch_ir::{EdgeId, Term, VarId};

/// Bounds that are asked about at once.
const AT_ONCE: usize = 24;
/// Steps down at a location after which there is no bound.
const STEPS: usize = 8;
/// One of so many parts of the time and of the work that is left is kept from each stage; the time if there is no end to it.
const SHARE: u32 = 4;
const ENDLESS: Duration = Duration::from_secs(60);
/// A level whose frame before has lemmas.
const SECOND: usize = 2;

/// Where a location is on a ladder.
#[derive(Clone, Copy)]
struct Place {
    ladder: usize,
    rung: usize,
    steps: usize,
}

impl<W: Word> Search<'_, W> {
    /// Finds bounds, which become lemmas of all frames, until these errors are excluded.
    pub(super) fn bounds(&mut self, errors: &[usize]) -> Result<(), Stop> {
        let Some(words) = self.job.setup.words.clone() else { return Ok(()) };
        let templates = Templates::of(&words.cfa, &self.domain);
        let cfa = Post::extended(&words.cfa, &words.map.edges, &templates);
        let bound: Vec<((VarId, u32), bool)> =
            self.job.bound.iter().map(|(bit, v)| (words.map.bits[*bit as usize], *v)).collect();
        let mut held: Vec<Vec<Rung>> = vec![vec![]; self.lemmas.len()];
        for ladders in &templates.stages {
            let found = Post::new(&cfa, &templates, &bound, &self.job.clock).and_then(|post| {
                self.climb_down(post, &templates, ladders, &held, &words.map.edges)
            });
            let found = match found {
                Ok(found) => found,
                Err(Failure::TooLarge) => break,
                Err(Failure::Stop(stop)) => return Err(stop),
            };
            for (location, rungs) in found.into_iter().enumerate() {
                rungs
                    .iter()
                    .for_each(|rung| self.hold(location, templates.terms(rung, &self.domain)));
                held[location].extend(rungs);
            }
            if self.are_excluded(errors)? {
                break;
            }
        }
        Ok(())
    }

    /// A comparison becomes a lemma.
    fn hold(&mut self, location: usize, terms: Vec<Term>) {
        let Some(number) = self.domain.number(terms) else { return };
        self.lemmas[location].push(Lemma { location, cube: vec![2 * number + 1], level: FOREVER });
    }

    /// Whether what holds forever suffices.
    fn are_excluded(&mut self, errors: &[usize]) -> Result<bool, Stop> {
        for error in errors {
            if let Consecution::Fails { .. } = self.consecution(*error, &[], SECOND)? {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// The rungs of all locations, given what holds there.
    fn climb_down(
        &mut self,
        mut post: Post<'_, '_>,
        templates: &Templates,
        ladders: &[Ladder],
        held: &[Vec<Rung>],
        edges: &[EdgeId],
    ) -> Result<Vec<Vec<Rung>>, Failure> {
        let image = self.job.image;
        let clock = &self.job.clock;
        let left = clock.left().unwrap_or(ENDLESS);
        let end = Instant::now() + left - left / SHARE;
        let least = clock.budget_left() / u64::from(SHARE);
        let (leaving, _) = self.job.leaving(&self.job.errors);
        let rungs = |places: &[Place]| -> Vec<Rung> {
            places.iter().filter_map(|place| place.of(ladders)).copied().collect()
        };
        let mut places: Vec<Option<Vec<Place>>> = vec![None; image.locations()];
        places[0] = Some(vec![]);
        let mut waiting: BTreeSet<usize> = leaving[0].iter().copied().collect();
        while let Some(edge) = waiting.pop_first() {
            let (from, to) = image.ends(edge);
            if self.job.errors.contains(&to) {
                continue;
            }
            let mut is_new = false;
            let mut first = 0;
            while places[to].as_ref().is_none_or(|own| first < own.len()) {
                if Instant::now() >= end || clock.budget_left() < least {
                    return Err(Failure::TooLarge);
                }
                clock.uses(post.bytes())?;
                let assumed = rungs(places[from].as_deref().unwrap_or_default());
                let assumed = [&held[from][..], &assumed].concat();
                let asked = |own: &Vec<Place>| rungs(&own[first..own.len().min(first + AT_ONCE)]);
                let kept = places[to].as_ref().map(asked);
                match post.escape(edges[edge], &assumed, kept.as_deref())? {
                    Some(state) => {
                        is_new = true;
                        let own =
                            places[to].get_or_insert_with(|| self.tops(templates, ladders, to));
                        own.iter_mut()
                            .for_each(|place| place.step_down(templates, ladders, &state));
                    }
                    // An edge that leads nowhere has nothing to say.
                    None if kept.is_none() => break,
                    None => first += AT_ONCE,
                }
            }
            if is_new {
                waiting.extend(&leaving[to]);
            }
        }
        Ok(places.iter().map(|own| rungs(own.as_deref().unwrap_or_default())).collect())
    }

    /// The strongest rungs of the ladders that a location has.
    fn tops(&mut self, templates: &Templates, ladders: &[Ladder], location: usize) -> Vec<Place> {
        let live = self.job.image.location(location).live;
        let has = |bit: u32| live.binary_search_by_key(&(bit as usize), |b| b.get()).is_ok();
        let all = (0..ladders.len()).map(|ladder| Place { ladder, rung: 0, steps: 0 });
        let mut own = vec![];
        for place in all {
            let terms = place.of(ladders).map(|rung| templates.terms(rung, &self.domain));
            let number = terms.and_then(|terms| self.domain.number(terms));
            if number.is_some_and(|number| self.domain.is_at(number, has)) {
                own.push(place);
            }
        }
        own
    }
}

impl Place {
    /// The rung; `None` below the last one.
    fn of(self, ladders: &[Ladder]) -> Option<&Rung> {
        ladders[self.ladder].get(self.rung)
    }

    /// Goes down to what holds in a state.
    fn step_down(&mut self, templates: &Templates, ladders: &[Ladder], state: &[vouch_ir::Word]) {
        let rungs = &ladders[self.ladder];
        let holds = |r: &usize| templates.holds(&rungs[*r], state);
        let held = (self.rung..rungs.len()).find(holds).unwrap_or(rungs.len());
        self.steps += (held != self.rung) as usize;
        self.rung = if self.steps > STEPS { rungs.len() } else { held };
    }
}
