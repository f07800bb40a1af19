//! Refinement (§3.4): predicates that tell a concrete state's predecessors from its abstraction's.
//!
//! The states of a cube have no predecessor in the frame, but those of their abstraction have. Relations that hold
//! in the cube are assumed in addition, simple ones first, until there is no predecessor any more; those in the
//! solver's core become predicates. The cube itself, bit by bit, is the last of them, so this always succeeds.

use super::domain::{Domain, Variable, constant, orders};
use super::solvers::Cube;
use super::{Consecution, Search};
use crate::engines::clock::Stop;
use crate::simplify::affine;
use vouch_core::word::Word;
use vouch_ir::{BinOp, Operand, Term, VarId, eval, mask};

/// States of a location that equations are made of at least (minPoints), and that are kept.
const POINTS: usize = 3;
const KEPT: usize = 40;
/// Words of a state that are compared with each other.
const COMPARED: usize = 8;
/// Words that are less wide than this are as good as their bits.
const NARROWEST: usize = 4;

/// States that have led to refinement: the words that they give values, and these.
#[derive(Default)]
pub(super) struct Mine {
    points: Vec<(Vec<VarId>, Vec<i128>)>,
}

impl<W: Word> Search<'_, W> {
    /// Adds predicates such that the abstraction has no predecessor if the cube has none.
    pub(super) fn refine(
        &mut self,
        location: usize,
        cube: &[u32],
        abstraction: &[u32],
        level: usize,
    ) -> Result<(), Stop> {
        let words = self.words(cube);
        let mut mined = vec![];
        if self.config.mining {
            mined = self.mined(location, &words);
        }
        let simple = [relations(&words), forms(&words, 2, &self.domain)].concat();
        let stages = [simple, [mined, forms(&words, 3, &self.domain)].concat(), bounds(&words)];
        let mut assumed: Cube = abstraction.to_vec();
        for stage in stages {
            for terms in stage {
                assumed.extend(self.domain.number(terms).map(|number| 2 * number));
            }
            assumed.sort_unstable();
            assumed.dedup();
            if self.take(location, &assumed, level)? {
                return Ok(());
            }
        }
        assumed.extend(cube);
        assumed.sort_unstable();
        assumed.dedup();
        self.take(location, &assumed, level)?;
        Ok(())
    }

    /// Adds the predicates that are needed, if these suffice.
    fn take(&mut self, location: usize, assumed: &[u32], level: usize) -> Result<bool, Stop> {
        let Consecution::Holds(core) = self.consecution(location, assumed, level)? else {
            return Ok(false);
        };
        // As few as possible: each makes abstract states smaller.
        let mut needed = core.clone();
        // Those that were made last are the least simple.
        for lit in core.into_iter().rev() {
            if self.domain.active().any(|p| p == lit / 2) || !needed.contains(&lit) {
                continue;
            }
            let fewer: Cube = needed.iter().copied().filter(|other| *other != lit).collect();
            if let Consecution::Holds(core) = self.consecution(location, &fewer, level)? {
                needed = core;
            }
        }
        needed.into_iter().for_each(|lit| self.domain.add(lit / 2));
        Ok(true)
    }

    /// The words to which a cube gives values.
    fn words(&self, cube: &[u32]) -> Vec<(Variable, i128)> {
        let value = |variable: &Variable| {
            let mut value: i128 = 0;
            let width = variable.bits.len();
            for (at, bit) in variable.bits.iter().enumerate() {
                if cube.binary_search(&(2 * bit)).is_ok() {
                    // Two's complement: the highest bit of a signed word counts negative.
                    let is_sign = variable.is_signed && at + 1 == width;
                    value += if is_sign { -(1 << at) } else { 1 << at };
                } else if cube.binary_search(&(2 * bit + 1)).is_err() {
                    return None;
                }
            }
            Some((variable.clone(), value))
        };
        self.domain.variables.iter().filter(|v| v.bits.len() <= 64).filter_map(value).collect()
    }

    /// Equations that this state and others at the location have in common (Alg. 4 and 5), and what follows of them.
    fn mined(&mut self, location: usize, words: &[(Variable, i128)]) -> Vec<Vec<Term>> {
        let Some(own) = self.job.setup.words.as_deref() else { return vec![] };
        let mine = self.mines.entry(location).or_default();
        let vars: Vec<VarId> = words.iter().map(|(variable, _)| variable.var).collect();
        let point = (vars.clone(), words.iter().map(|w| w.1).collect::<Vec<i128>>());
        if !mine.points.contains(&point) {
            mine.points.push(point);
        }
        if mine.points.len() > KEPT {
            mine.points.remove(0);
        }
        let same = mine.points.iter().filter(|p| p.0 == vars);
        let rows: Vec<Vec<i128>> = same.map(|p| [&[1], &p.1[..]].concat()).collect();
        let width = words.first().map_or(0, |(variable, _)| variable.bits.len());
        let is_even = words.iter().all(|(variable, _)| variable.bits.len() == width);
        if rows.len() < POINTS || !is_even || vars.len() < 2 {
            return vec![];
        }
        let mut all = vec![];
        for equation in affine::kernel(rows, &vars) {
            let terms = equation.terms(&own.cfa, own.cfa.vars.len());
            let Some(Term { left, right, .. }) = terms.last().copied() else { continue };
            // Refinement with inequalities (§3.6).
            for (left, right) in [(left, right), (right, left)] {
                let mut inequality = terms.clone();
                inequality.pop();
                inequality.push(Term { op: BinOp::Sle, left, right });
                all.push(inequality);
            }
            all.push(terms);
        }
        all
    }
}

/// Bounds on differences of two words, or on sums of two without a third, by constants of the program: whatever
/// values the solver has chosen, the nearest of these has a reason.
fn forms(words: &[(Variable, i128)], count: usize, domain: &Domain) -> Vec<Vec<Term>> {
    let mut all = vec![];
    let few = &words[..words.len().min(COMPARED)];
    for (at, a) in few.iter().enumerate() {
        if count == 2 {
            all.extend(bounded(&[(true, a)], domain));
        }
        for (next, b) in few.iter().enumerate().skip(at + 1) {
            if count == 2 {
                all.extend(bounded(&[(true, a), (false, b)], domain));
                all.extend(bounded(&[(true, a), (true, b)], domain));
                continue;
            }
            for c in few.iter().skip(next + 1) {
                for (x, y, z) in [(a, b, c), (a, c, b), (b, c, a)] {
                    all.extend(bounded(&[(true, x), (true, y), (false, z)], domain));
                }
            }
        }
    }
    all
}

/// The nearest constants that a sum is between.
fn bounded(sum: &[(bool, &(Variable, i128))], domain: &Domain) -> Vec<Vec<Term>> {
    let Some((_, (first, _))) = sum.first() else { return vec![] };
    let width = first.bits.len();
    if width < NARROWEST || sum.iter().any(|(_, (v, _))| v.bits.len() != width) {
        return vec![];
    }
    let value: i128 = sum.iter().map(|(is_added, (_, x))| if *is_added { *x } else { -*x }).sum();
    let bits = width as u32;
    let value = eval::sign_extend(value as vouch_ir::Word & mask(bits), bits) as i128;
    let mut terms: Vec<Term> = vec![];
    let mut left = Operand::Var(first.var);
    for (is_added, (variable, _)) in &sum[1..] {
        let op = if *is_added { BinOp::Add } else { BinOp::Sub };
        terms.push(Term { op, left, right: Operand::Var(variable.var) });
        left = domain.term(terms.len() - 1);
    }
    let above = domain.constants.iter().copied().filter(|c| *c >= value).min();
    let below = domain.constants.iter().copied().filter(|c| *c <= value).max();
    let mut all = vec![];
    for (bound, is_above) in [(above, true), (below, false)] {
        let Some(bound) = bound else { continue };
        let bound = constant(bound, width);
        let (left, right) = if is_above { (left, bound) } else { (bound, left) };
        all.push([&terms[..], &[Term { op: BinOp::Sle, left, right }]].concat());
    }
    all
}

/// Comparisons of two words that hold.
fn relations(words: &[(Variable, i128)]) -> Vec<Vec<Term>> {
    let mut all = vec![];
    let few = &words[..words.len().min(COMPARED)];
    for (at, (a, x)) in few.iter().enumerate() {
        for (b, y) in &few[at + 1..] {
            let width = a.bits.len();
            if b.bits.len() != width || a.is_signed != b.is_signed {
                continue;
            }
            let (less, at_most) = orders(a.is_signed);
            let (left, right) = (Operand::Var(a.var), Operand::Var(b.var));
            match x.cmp(y) {
                std::cmp::Ordering::Less => all.push(vec![Term { op: less, left, right }]),
                std::cmp::Ordering::Greater => {
                    all.push(vec![Term { op: less, left: right, right: left }]);
                }
                std::cmp::Ordering::Equal => {
                    all.push(vec![Term { op: at_most, left, right }]);
                    all.push(vec![Term { op: at_most, left: right, right: left }]);
                }
            }
        }
    }
    all
}

/// What words are at most and at least.
fn bounds(words: &[(Variable, i128)]) -> Vec<Vec<Term>> {
    let bound = |(variable, value): &(Variable, i128)| {
        let (_, op) = orders(variable.is_signed);
        let (own, value) = (Operand::Var(variable.var), constant(*value, variable.bits.len()));
        [vec![Term { op, left: own, right: value }], vec![Term { op, left: value, right: own }]]
    };
    words.iter().flat_map(bound).collect()
}
