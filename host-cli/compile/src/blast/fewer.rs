//! Certificates made small before they are packed: clauses that the others do without, and literals.
//!
//! A device that re-checks a certificate asks of each clause whether it follows over each edge into its location, and keeps
//! the clauses of one location in memory. What IC3 leaves is more than that takes: lemmas that only a part of the search needed. What
//! is left out here is looked at again by the checker that devices run, so nothing rests on this file but sizes.

use super::certified::ImageClause;
use vouch_core::arena::Carver;
use vouch_core::image::Image;
use vouch_core::lit::Lit;
use vouch_core::sat::clause::HEADER;
use vouch_core::sat::{Answer, Sizes, Solver, State};
use vouch_core::word::Word;

/// Words of room for what a query learns.
const LEARNT: usize = 1 << 14;
/// Literals that are propagated for one query, at most.
const HARD: u64 = 1 << 18;

/// Clauses that are an invariant if `clauses` are one for these parameters, and that close the locations that
/// those close; fewer of them and shorter, as far as that is found within `effort` propagated literals.
pub fn fewer<W: Word>(
    image: &Image<'_, W>,
    clauses: &[ImageClause],
    bindings: &[(usize, u64)],
    effort: u64,
) -> Vec<ImageClause> {
    let mut kept = vec![vec![]; image.locations()];
    for (location, lits) in clauses {
        let mut lits = lits.clone();
        lits.sort_unstable();
        if let Some(at) = kept.get_mut(*location) {
            at.push(lits);
        }
    }
    let mut out_edges = vec![vec![]; image.locations()];
    for edge in 0..image.edges() {
        out_edges[image.ends(edge).0].push(edge);
    }
    let mut search = Search { image, bindings, memory: vec![], out_edges, kept, effort };
    search.kept.iter_mut().for_each(drop_implied);
    search.drop_clauses();
    search.drop_literals();
    search.drop_clauses();
    let at = |(location, clauses): (usize, Vec<Vec<u32>>)| {
        clauses.into_iter().map(move |lits| (location, lits))
    };
    search.kept.into_iter().enumerate().flat_map(at).collect()
}

/// Drops clauses of one location that contain another one.
fn drop_implied(clauses: &mut Vec<Vec<u32>>) {
    clauses.sort_by_key(|c| c.len());
    clauses.dedup();
    let mut kept: Vec<Vec<u32>> = vec![];
    for clause in clauses.drain(..) {
        if !kept.iter().any(|k| k.iter().all(|l| clause.contains(l))) {
            kept.push(clause);
        }
    }
    *clauses = kept;
}

struct Search<'a, W> {
    image: &'a Image<'a, W>,
    bindings: &'a [(usize, u64)],
    memory: Vec<u32>,
    /// The edges that leave each location.
    out_edges: Vec<Vec<usize>>,
    /// The clauses of each location.
    kept: Vec<Vec<Vec<u32>>>,
    /// Work that is left.
    effort: u64,
}

impl<W: Word> Search<'_, W> {
    /// Leaves out one clause after the other, the longest first, with all that does not follow without it.
    fn drop_clauses(&mut self) {
        let mut all: Vec<(usize, Vec<u32>)> = vec![];
        for (location, clauses) in self.kept.iter().enumerate() {
            all.extend(clauses.iter().filter(|c| !c.is_empty()).map(|c| (location, c.clone())));
        }
        all.sort_by_key(|(_, clause)| std::cmp::Reverse(clause.len()));
        for (location, clause) in all {
            if self.effort == 0 {
                return;
            }
            let Some(at) = self.kept[location].iter().position(|c| *c == clause) else { continue };
            let before = self.kept.clone();
            self.kept[location].remove(at);
            if !self.settles(location) {
                self.kept = before;
            }
        }
    }

    /// Drops what does not follow any more, after a clause of `location` was left out. `false` if a location
    /// would not be closed any more, or if there is no more effort to be made.
    fn settles(&mut self, location: usize) -> bool {
        let mut weaker = vec![location];
        while let Some(from) = weaker.pop() {
            for edge in self.out_edges[from].clone() {
                let to = self.image.ends(edge).1;
                let clauses = std::mem::take(&mut self.kept[to]);
                // An edge that returns assumes them all.
                self.kept[to].clone_from(&clauses);
                let follows = self.follow(edge, &clauses);
                let lost =
                    clauses.iter().zip(&follows).any(|(c, follows)| c.is_empty() && !follows);
                if lost || self.effort == 0 {
                    return false;
                }
                if follows.iter().all(|follows| *follows) {
                    continue;
                }
                let mut follows = follows.into_iter();
                self.kept[to].retain(|_| follows.next() == Some(true));
                weaker.push(to);
            }
        }
        true
    }

    /// Leaves out literals of clauses that follow without them, too.
    fn drop_literals(&mut self) {
        for location in 1..self.kept.len() {
            for at in 0..self.kept[location].len() {
                let mut j = self.kept[location][at].len();
                while j > 0 && self.kept[location][at].len() > 1 && self.effort > 0 {
                    j -= 1;
                    let before = self.kept[location][at].clone();
                    self.kept[location][at].remove(j);
                    let shorter = self.kept[location][at].clone();
                    let in_edges = self.image.location(location).in_edges;
                    let holds = in_edges
                        .iter()
                        .all(|e| self.follow(e.get(), std::slice::from_ref(&shorter))[0]);
                    if !holds || self.effort == 0 {
                        self.kept[location][at] = before;
                    }
                }
            }
            drop_implied(&mut self.kept[location]);
        }
    }

    /// Which of some clauses follow over an edge from what is kept at its source. What takes too long does not.
    fn follow(&mut self, edge: usize, clauses: &[Vec<u32>]) -> Vec<bool> {
        let image = self.image;
        let (from, to) = image.ends(edge);
        let source = &self.kept[from];
        if source.iter().any(|c| c.is_empty()) || clauses.is_empty() {
            return vec![true; clauses.len()];
        }
        let words = source.iter().map(|c| HEADER + c.len()).sum::<usize>();
        // To load an edge and its clauses is work, too.
        let loading = (words + image.header.max_vars as usize) as u64 / 8;
        self.effort = self.effort.saturating_sub(loading);
        let pool = (HEADER + words + LEARNT).min(W::MAX_INDEX);
        let sizes = Sizes { temporary: 0, ..Sizes::of(image, pool) };
        self.memory.resize(sizes.words::<W>().max(self.memory.len()), 0);
        let mut carver = Carver::new(&mut self.memory);
        let mut solver = Solver::take(&sizes, State::new::<W>(&sizes), &mut carver);
        solver.load(edge, image.edge(edge));
        let place = |location: usize, code: &u32| {
            let l = Lit::from_code(*code as usize);
            let at = image.location(location).live.binary_search(&W::of(l.var())).unwrap_or(0);
            (at, l.is_positive())
        };
        let variable = |code: &u32| {
            let (at, positive) = place(from, code);
            Lit::new(1 + at, positive)
        };
        if !source.iter().all(|c| solver.add_clause(c.iter().map(variable), 1).is_some()) {
            return vec![false; clauses.len()];
        }
        let params: Vec<_> = image.params().collect();
        let mut follows = vec![];
        for clause in clauses {
            solver.begin(1);
            for (param, value) in self.bindings {
                let Some(param) = params.get(*param) else { continue };
                for i in 0..param.width as usize {
                    let bit = W::of(param.first_bit as usize + i);
                    if let Ok(at) = image.location(from).live.binary_search(&bit) {
                        solver.fix(Lit::new(1 + at, value >> i & 1 == 1));
                    }
                }
            }
            solver.demand_lemmas();
            solver.assume(solver.edge.guard);
            for code in clause {
                let (at, positive) = place(to, code);
                let next = solver.edge.next(at).negated_if(!positive);
                solver.assume(!next);
            }
            let before = solver.state.propagations;
            solver.state.limit = before + HARD.min(self.effort);
            follows.push(solver.solve() == Answer::Unsat);
            self.effort = self.effort.saturating_sub(1 + solver.state.propagations - before);
        }
        follows
    }
}
