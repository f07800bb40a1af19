//! Re-checking a certificate: an inductive invariant that was found elsewhere.
//!
//! A certificate is a table of words, one record after the other: location, number of literals, the
//! literals as `2 * state bit + sign` (1: negated), by ascending bit. A clause without literals says that its location
//! is never reached. What is checked, for every edge `e` from `l` to `l'` and every clause `c` of `l'`:
//! `Inv(l) ∧ T_e ∧ ¬c'` has no model; that the initial location has no clauses; and that each property
//! in question has its error location excluded.
//!
//! ```
//! # #[repr(align(4))]
//! # struct Aligned<B: ?Sized>(B);
//! # static MODEL: &Aligned<[u8]> =
//! #     &Aligned(*include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/valves.image")));
//! use vouch_core::certificate::{Check, Checker};
//! use vouch_core::image::Image;
//!
//! let image = Image::<u16>::new_checked(&MODEL.0)?;
//! let table = image.certificate().ok_or("no certificate")?;
//! let mut checker = Checker::new(&image, table, 0..image.header.properties as usize)?;
//! let mut memory = [0; 1024];
//! assert!(Checker::bytes(&image, table) <= size_of_val(&memory));
//! let result = loop {
//!     match checker.step(&image, table, &[], &mut memory, 10_000) {
//!         Check::Running => {}
//!         result => break result,
//!     }
//! };
//! assert_eq!(result, Check::Valid);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Needs `sat` and an image, not the engine: a device that only re-checks proofs can be
//! built without `ic3`. The memory is that of one edge and of one location's clauses at a time.

use crate::arena::Carver;
use crate::image::Image;
use crate::lit::Lit;
use crate::sat::clause::HEADER;
use crate::sat::{self, Answer, Pulse, Sizes, Solver};
use crate::word::Word;
use serde::{Deserialize, Serialize};

/// The result of a slice of checking.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Check {
    /// There is more to check.
    Running,
    /// The invariant is inductive and excludes the error locations asked for.
    Valid,
    /// It is not, or the table is malformed.
    Invalid(Flaw),
    /// Memory did not suffice, which says nothing about the certificate.
    Capacity,
    /// The limit was reached or the caller gave up, which says nothing either.
    Interrupted,
}

/// What is wrong with a certificate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Flaw {
    /// The record at this word is cut off, or names something that does not exist.
    Malformed(u32),
    /// There is a clause at the initial location, whose states are all initial.
    Initial,
    /// The error location of this property is not excluded.
    Error(u32),
    /// This edge leads out of the invariant.
    Edge(u32),
}

impl core::fmt::Display for Flaw {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Flaw::Malformed(word) => write!(f, "the record at word {word} is malformed"),
            Flaw::Initial => f.write_str("there is a clause at the initial location"),
            Flaw::Error(property) => {
                write!(f, "the error location of property {property} is not excluded")
            }
            Flaw::Edge(edge) => write!(f, "edge {edge} leads out of the invariant"),
        }
    }
}

impl core::error::Error for Flaw {}

/// One record of the table.
pub(crate) struct Record<'c, W> {
    pub(crate) location: usize,
    pub(crate) lits: &'c [W],
    /// Where the next one starts.
    pub(crate) next: usize,
}

/// The record at `at`; `None` at the end. Malformed tables are sorted out by [`Checker::new`].
pub(crate) fn record<W: Word>(table: &[W], at: usize) -> Option<Record<'_, W>> {
    let [location, len, rest @ ..] = table.get(at..)? else { return None };
    let lits = rest.get(..len.get())?;
    Some(Record { location: location.get(), lits, next: at + 2 + lits.len() })
}

pub(crate) fn records<W: Word>(table: &[W]) -> impl Iterator<Item = Record<'_, W>> {
    let mut at = 0;
    core::iter::from_fn(move || {
        let record = record(table, at)?;
        at = record.next;
        Some(record)
    })
}

/// A check between two slices.
#[derive(Clone, Debug)]
pub struct Checker {
    solver: sat::State,
    sizes: Sizes,
    edge: usize,
    /// Start of the next record to check over this edge.
    at: usize,
    /// The sum of the solver's answers.
    shown: u32,
    /// Whether the solver has said of something possible that it is.
    control: bool,
}

impl Checker {
    /// Words of the pool that a certificate needs: the largest location's clauses, and some room to
    /// learn, or as much again.
    fn pool<W: Word>(image: &Image<'_, W>, table: &[W], is_least: bool) -> usize {
        let at_location = |l: usize| {
            let clauses = records(table).filter(move |r| r.location == l);
            clauses.map(|r| HEADER + r.lits.len()).sum::<usize>()
        };
        let largest = (0..image.locations()).map(at_location).max().unwrap_or(0);
        let (times, learnts) = if is_least { (1, 2) } else { (2, 4) };
        HEADER + times * largest + learnts * (HEADER + image.header.max_live as usize) + 64
    }

    fn sizes<W: Word>(image: &Image<'_, W>, table: &[W], is_least: bool) -> Sizes {
        let assumptions = image.header.max_live as usize + 2;
        let pool = Self::pool(image, table, is_least).min(W::MAX_INDEX);
        Sizes { vars: image.header.max_vars as usize, assumptions, temporary: 0, pool }
    }

    /// Starts over with `bytes` of memory, at least [`Self::least`]: the rest is room to learn.
    pub fn restart<W: Word>(&mut self, image: &Image<'_, W>, table: &[W], bytes: usize) {
        let spare = bytes.saturating_sub(Self::least(image, table)) / size_of::<W>();
        let mut sizes = Self::sizes(image, table, true);
        sizes.pool = sizes.pool.saturating_add(spare).min(W::MAX_INDEX);
        let mut solver = sat::State::new::<W>(&sizes);
        (solver.limit, solver.propagations) = (self.solver.limit, self.solver.propagations);
        *self = Checker { solver, sizes, edge: 0, at: 0, shown: 0, control: false };
    }

    /// Bytes of memory that checking this table takes, unless its questions are hard.
    pub fn bytes<W: Word>(image: &Image<'_, W>, table: &[W]) -> usize {
        Self::sizes(image, table, false).words::<W>() * 4
    }

    /// Bytes of memory with which it may be checked, too, in more time: less room is left to learn.
    pub fn least<W: Word>(image: &Image<'_, W>, table: &[W]) -> usize {
        Self::sizes(image, table, true).words::<W>() * 4
    }

    /// Begins to check that `table` proves each of `properties`, after what needs no solver.
    pub fn new<W: Word>(
        image: &Image<'_, W>,
        table: &[W],
        mut properties: impl Iterator<Item = usize>,
    ) -> Result<Checker, Flaw> {
        let mut at = 0;
        while at < table.len() {
            let malformed = Flaw::Malformed(at as u32);
            let record = record(table, at).ok_or(malformed)?;
            if record.location >= image.locations() {
                return Err(malformed);
            }
            if record.location == 0 {
                return Err(Flaw::Initial);
            }
            let live = image.location(record.location).live;
            let known = |l: &W| live.binary_search(&W::of(l.get() / 2)).is_ok();
            let ascending = record.lits.windows(2).all(|p| p[0].get() / 2 < p[1].get() / 2);
            if !ascending || !record.lits.iter().all(known) {
                return Err(malformed);
            }
            at = record.next;
        }
        let excluded = |p: usize| {
            let error = image.properties().nth(p).map(|p| p.error as usize);
            records(table).any(|r| Some(r.location) == error && r.lits.is_empty())
        };
        if let Some(p) = properties.find(|p| !excluded(*p)) {
            return Err(Flaw::Error(p as u32));
        }
        let sizes = Self::sizes(image, table, false);
        let solver = sat::State::new::<W>(&sizes);
        Ok(Checker { solver, sizes, edge: 0, at: 0, shown: 0, control: false })
    }

    /// Ends the check in [`Check::Interrupted`] after this much work.
    pub fn limit(&mut self, work: u64) {
        self.solver.limit = work;
    }

    /// Checks for about `budget` units of work. `bindings` are the parameters' values for which the
    /// certificate claims to hold; all other parameters are open.
    pub fn step<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        table: &[W],
        bindings: &[(usize, u64)],
        memory: &mut [u32],
        budget: u32,
    ) -> Check {
        self.step_watched(image, table, bindings, memory, budget, &mut || true)
    }

    /// Like [`Self::step`], and calls `watch` every `budget` units even if a clause takes longer. Once it
    /// returns false, the check is interrupted.
    pub fn step_watched<W: Word>(
        &mut self,
        image: &Image<'_, W>,
        table: &[W],
        bindings: &[(usize, u64)],
        memory: &mut [u32],
        budget: u32,
        watch: &mut dyn FnMut() -> bool,
    ) -> Check {
        let mut solver = Solver::take(&self.sizes, self.solver, &mut Carver::new(memory));
        if self.solver.edge < image.edges() {
            solver.edge = image.edge(self.solver.edge);
        }
        solver.pulse = Some(Pulse::new(solver.state.propagations, budget, watch));
        let end = solver.state.propagations.saturating_add(budget as u64);
        let result = loop {
            match self.advance(image, table, bindings, &mut solver) {
                Check::Running if solver.state.propagations < end => {}
                result => break result,
            }
        };
        self.solver = solver.state;
        result
    }

    /// The propagated literals so far.
    pub fn propagations(&self) -> u64 {
        self.solver.propagations
    }

    /// The sum of the answers so far. Once the table is valid it equals what there was [to show](to_show), so that
    /// the caller need not rely on the one branch that says so.
    pub fn shown(&self) -> u32 {
        self.shown
    }

    /// One clause over one edge.
    fn advance<'a, W: Word>(
        &mut self,
        image: &'a Image<'a, W>,
        table: &[W],
        bindings: &[(usize, u64)],
        solver: &mut Solver<'a, W>,
    ) -> Check {
        solver.state.propagations += 1;
        if self.edge >= image.edges() {
            return Check::Valid;
        }
        let (from, to) = image.ends(self.edge);
        // From a location that is never reached, nothing has to be shown.
        let is_void = self.at == 0 && is_excluded(table, from);
        let Some(clause) = record(table, self.at).filter(|_| !is_void) else {
            self.edge += 1;
            self.at = 0;
            return Check::Running;
        };
        self.at = clause.next;
        if clause.location != to {
            return Check::Running;
        }
        if solver.state.edge != self.edge && !turn(image, table, solver, self.edge) {
            return Check::Capacity;
        }
        if from == 0 && !self.control {
            // A solver that finds nothing possible would find every table valid. That a step may be made or
            // not always is.
            solver.begin(1);
            solver.demand(solver.edge.guard);
            match solver.solve() {
                Answer::Unsat => {}
                Answer::Sat => {
                    self.control = true;
                    self.shown = self.shown.wrapping_add(Answer::Sat as u32);
                }
                Answer::Capacity => return Check::Capacity,
                Answer::Budget | Answer::Cancelled => return Check::Interrupted,
            }
        }
        let live = image.location(to).live;
        ask(image, solver, bindings);
        for l in clause.lits {
            let l = Lit::from_code(l.get());
            let next = solver.edge.next(position(live, l.var())).negated_if(!l.is_positive());
            solver.assume(!next);
        }
        let answer = solver.solve();
        self.shown = self.shown.wrapping_add(answer as u32);
        match answer {
            Answer::Unsat => Check::Running,
            Answer::Sat => Check::Invalid(Flaw::Edge(self.edge as u32)),
            Answer::Capacity => Check::Capacity,
            Answer::Budget | Answer::Cancelled => Check::Interrupted,
        }
    }
}

/// What a check of `table` shows if it comes to its end, see [`Checker::shown`]: over each edge each clause
/// of where it leads to; and, if anything is shown of the first steps, that the solver finds something possible.
pub fn to_show<W: Word>(image: &Image<'_, W>, table: &[W]) -> u32 {
    let clauses = |at: usize| records(table).filter(|r| r.location == at).count() as u32;
    let edges = (0..image.edges()).map(|edge| image.ends(edge));
    let (mut sum, mut control) = (0u32, 0);
    for (from, to) in edges.filter(|(from, _)| !is_excluded(table, *from)) {
        let count = clauses(to);
        sum = sum.wrapping_add(count.wrapping_mul(Answer::Unsat as u32));
        if from == 0 && count > 0 {
            control = Answer::Sat as u32;
        }
    }
    sum.wrapping_add(control)
}

/// Whether the certificate says that `location` is never reached.
pub fn is_excluded<W: Word>(table: &[W], location: usize) -> bool {
    records(table).any(|r| r.location == location && r.lits.is_empty())
}

/// Opens a query for the steps over the loaded edge.
fn ask<W: Word>(image: &Image<'_, W>, solver: &mut Solver<'_, W>, bindings: &[(usize, u64)]) {
    solver.begin(1);
    for (param, value) in bindings {
        fix(image, solver, *param, *value);
    }
    solver.demand_lemmas();
    solver.assume(solver.edge.guard);
}

/// Asserts the value of a parameter in the state before the step.
fn fix<W: Word>(image: &Image<'_, W>, solver: &mut Solver<'_, W>, param: usize, value: u64) {
    let Some(param) = image.params().nth(param) else { return };
    let live = image.location(solver.edge.from).live;
    for i in 0..param.width as usize {
        if let Ok(j) = live.binary_search(&W::of(param.first_bit as usize + i)) {
            solver.fix(Lit::new(1 + j, value >> i & 1 == 1));
        }
    }
}

/// Turns the solver to `edge` with the clauses of its source; `false` if they do not fit.
fn turn<'a, W: Word>(
    image: &'a Image<'a, W>,
    table: &[W],
    solver: &mut Solver<'a, W>,
    edge: usize,
) -> bool {
    let loaded = solver.state.edge;
    if loaded < image.edges() && image.is_akin(loaded, edge) {
        // The clauses of its source are there.
        solver.pass_to(edge, image.edge(edge));
        return true;
    }
    solver.load(edge, image.edge(edge));
    let from = solver.edge.from;
    let live = image.location(from).live;
    solver.state.ends.lemmas = solver.state.ends.reserved;
    records(table).filter(|r| r.location == from).all(|clause| {
        let lits = clause.lits.iter().map(|l| {
            let l = Lit::from_code(l.get());
            Lit::new(1 + position(live, l.var()), l.is_positive())
        });
        solver.add_clause(lits, 1).is_some()
    })
}

/// The place of a bit among the live ones. [`Checker::new`] made sure that it is there.
fn position<W: Word>(live: &[W], bit: usize) -> usize {
    live.binary_search(&W::of(bit)).unwrap_or(0)
}
