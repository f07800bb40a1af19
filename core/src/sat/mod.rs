//! A CDCL solver for one edge at a time, in memory that the caller gives.
//!
//! What makes it small is that the bulk of a query, the edge's gates, is never stored: gates and
//! their fan-outs are read from the image, and propagation through a gate is a table look-up
//! (`gate`). RAM holds assignments, the trail, watch list heads and a pool of clauses
//! ([`clause`]): the engine's lemmas and what the solver learns.
//!
//! - [`Solver::turn`] turns to another edge; learnt clauses are parked with the old one. [`Solver::pass_to`] turns to one
//!   with the same gates, which costs nothing.
//! - [`Solver::begin`] opens a query at a level; [`Solver::demand`], [`Solver::assume`] and
//!   [`Solver::temporary`] fill it; [`Solver::solve`] answers; the model or the failed assumptions
//!   can be read until the next `begin`.
//! - Only variables in the query's cone are decided and only gates in it are looked at (*local
//!   domain*). That is sound because a gate outside is a definition: any assignment of the cone
//!   extends to it.
//!
//! Files: `clause` (the pool), `propagate`, `analyze`, `decide` (VMTF queue), `restart`, `reduce`, `parked`,
//! `domain`.
//! Literature: MiniSat for the frame, CaDiCaL for the queue, GipSAT for domains and the temporary
//! clause.

mod analyze;
pub mod clause;
mod decide;
mod domain;
mod gate;
mod parked;
mod propagate;
mod pulse;
mod reduce;
mod restart;

use crate::arena::{Regions, Tally};
use crate::image::{Edge, Image};
use crate::lit::Lit;
use crate::rules::Rule;
use crate::word::Word;
use clause::{Ends, HEADER, Pool, Ref, TEMPORARY, template};
use gate::{FALSE, TRUE, UNDEFINED};
pub(crate) use pulse::Pulse;

/// The result of a query. No skipped instruction shall turn one answer into another, so any two
/// differ in at least four bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Answer {
    /// Satisfiable: [`Solver::value`] reads the model.
    Sat = 0x2d,
    /// Unsatisfiable under the assumptions: [`Solver::failed`] reads the core.
    Unsat = 0xd2,
    /// The work limit was reached. Says nothing about the query.
    Budget = 0x4b,
    /// A clause did not fit. Says nothing about the query.
    Capacity = 0xb4,
    /// The callback ended it. Says nothing about the query.
    Cancelled = 0x1e,
}

// Flags of a variable: its saved phase; seen in conflict analysis; in the domain; a failed assumption;
// in an attached lemma; assumed.
const PHASE: u8 = 1;
const SEEN: u8 = 2;
const DOMAIN: u8 = 4;
const FAILED: u8 = 8;
const LEMMA: u8 = 16;
const ASSUMED: u8 = 32;

/// Why a variable has its value: the kind that goes with the word in `reason`.
mod why {
    /// Decided or assumed.
    pub const DECISION: u8 = 0;
    /// Implied by the clause `reason`.
    pub const CLAUSE: u8 = 1;
    /// Holds at level 0; `reason` is the tag it depends on.
    pub const ROOT: u8 = 2;
    /// Like `ROOT`, and depends on the temporary clause.
    pub const ROOT_TEMPORARY: u8 = 3;
    /// Implied by implicate `why - GATE` of gate `reason`.
    pub const GATE: u8 = 4;
}

/// The reason and the decision level of an assigned variable.
type Cell<W> = [W; 2];

/// A violated or unit clause: in the pool, or an implicate of a gate.
#[derive(Clone, Copy)]
enum Source {
    Clause(Ref),
    Gate { var: usize, clause: usize },
}

/// A solver between two slices of work, besides its memory.
#[derive(Clone, Copy, Debug)]
pub struct State {
    /// The loaded edge.
    pub edge: usize,
    /// Ends of the clause pool.
    pub ends: Ends,
    /// Conflicts so far.
    pub conflicts: u32,
    /// Propagated literals so far: the unit of work.
    pub propagations: u64,
    /// Work at which [`Answer::Budget`] is given.
    pub limit: u64,
    /// Level of the current query.
    level: usize,
    assumptions: usize,
    domain: usize,
    /// Length of the trail, what of it is propagated, and the decision level.
    trail: usize,
    head: usize,
    depth: usize,
    /// First of the list of unit clauses.
    units: usize,
    /// VMTF queue: its ends, where to search, and the newest time stamp.
    queue: decide::Queue,
    /// Whether the temporary clause is in use.
    temporary: bool,
    /// Where clauses end that were learnt in this query.
    fresh: usize,
    /// Words of clauses that were learnt on the loaded edge, and how many are too many.
    own: usize,
    allowed: usize,
    /// The soundness rule to break, for tests.
    #[cfg(feature = "__sabotage")]
    pub sabotage: Option<Rule>,
    /// Whether a constant assumption failed.
    constant_failed: bool,
    restart: restart::Schedule,
}

/// Sizes of a solver's regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Variables of the largest edge.
    pub vars: usize,
    /// Most assumptions of a query.
    pub assumptions: usize,
    /// Literals of the temporary clause.
    pub temporary: usize,
    /// Words of the clause pool.
    pub pool: usize,
}

impl Sizes {
    /// What an image needs, with a pool of `pool` words.
    pub fn of<W: Word>(image: &Image<'_, W>, pool: usize) -> Sizes {
        let h = &image.header;
        Sizes {
            vars: h.max_vars as usize,
            assumptions: (h.max_live + h.max_inputs) as usize + 2,
            temporary: h.max_live as usize + 2,
            pool,
        }
    }

    /// Words of four bytes of all regions.
    pub fn words<W: Word>(&self) -> usize {
        let mut tally = Tally::default();
        let _ = Solver::<W>::take(self, State::new::<W>(self), &mut tally);
        tally.words()
    }
}

/// The solver: its state, its regions, and the edge it works on.
pub struct Solver<'a, W> {
    /// Counters and positions.
    pub state: State,
    /// The loaded edge.
    pub edge: Edge<'a, W>,
    /// `UNDEFINED`, `TRUE` or `FALSE` for each literal, so that reading one takes no arithmetic.
    value: &'a mut [u8],
    flags: &'a mut [u8],
    /// What goes with the value of a variable, in one place because it is written together.
    cells: &'a mut [Cell<W>],
    /// The kind of the reason ([`why`]) of an assigned variable.
    whys: &'a mut [u8],
    trail: &'a mut [W],
    /// VMTF links and stamps.
    older: &'a mut [W],
    newer: &'a mut [W],
    stamp: &'a mut [W],
    /// From the front: the clause being learnt, whose literals but the first are of earlier levels. From the back:
    /// the variables of the latest level that take part. None is both, so there is room for all. Before the search
    /// begins: the variables of the domain.
    learnt: &'a mut [W],
    /// First clause of each literal's watch list.
    watches: &'a mut [W],
    assumed: &'a mut [W],
    /// Lemmas and learnt clauses.
    pub pool: Pool<'a, W>,
    /// The callback during queries.
    pub(crate) pulse: Option<Pulse<'a>>,
}

impl State {
    /// The state of a solver that has loaded nothing yet.
    pub fn new<W: Word>(sizes: &Sizes) -> State {
        State {
            edge: usize::MAX,
            ends: Ends::new(sizes.pool, sizes.temporary),
            conflicts: 0,
            propagations: 0,
            limit: u64::MAX,
            level: 0,
            assumptions: 0,
            domain: 0,
            trail: 0,
            head: 0,
            depth: 0,
            units: W::NONE.get(),
            queue: decide::Queue::default(),
            temporary: false,
            fresh: sizes.pool,
            own: 0,
            allowed: 0,
            #[cfg(feature = "__sabotage")]
            sabotage: None,
            constant_failed: false,
            restart: restart::Schedule::default(),
        }
    }
}

impl State {
    /// Whether this soundness rule is to be broken. Never, but in tests.
    #[inline(always)]
    pub(crate) fn breaks(&self, rule: Rule) -> bool {
        #[cfg(feature = "__sabotage")]
        return self.sabotage == Some(rule);
        #[cfg(not(feature = "__sabotage"))]
        {
            let _ = rule;
            false
        }
    }
}

impl<'a, W: Word> Solver<'a, W> {
    /// The layout of the solver's memory: continues in regions divided as before. If `state` says that an edge
    /// is loaded, the caller sets [`Self::edge`].
    pub fn take(sizes: &Sizes, state: State, regions: &mut impl Regions<'a>) -> Self {
        Solver {
            state,
            edge: Edge::none(),
            value: regions.take(2 * sizes.vars),
            // Whole words, so that all of them can be changed word by word.
            flags: regions.take(sizes.vars.next_multiple_of(4)),
            cells: regions.take(sizes.vars),
            whys: regions.take(sizes.vars),
            trail: regions.take(sizes.vars),
            older: regions.take(sizes.vars),
            newer: regions.take(sizes.vars),
            stamp: regions.take(sizes.vars),
            learnt: regions.take(sizes.vars),
            watches: regions.take(2 * sizes.vars),
            assumed: regions.take(sizes.assumptions),
            pool: Pool { words: regions.take(sizes.pool) },
            pulse: None,
        }
    }

    /// Turns to edge `index`: nothing is attached, nothing is learnt.
    pub fn load(&mut self, index: usize, edge: Edge<'a, W>) {
        self.unload();
        self.turn(index, edge);
    }

    /// Leaves the edge, and forgets what was learnt on it and on others. Clauses are not looked at: they may
    /// have been moved.
    pub(crate) fn unload(&mut self) {
        self.abandon();
        self.state.ends.learnts = self.pool.words.len();
        self.state.own = 0;
        self.state.edge = usize::MAX;
    }

    /// Turns to edge `index`, which is [akin](Image::is_akin) to the one that is loaded. Nothing else
    /// changes: an edge has its guard and its next values to itself, and queries only assume these, so that what
    /// was learnt follows from the gates and from what is attached.
    pub fn pass_to(&mut self, index: usize, edge: Edge<'a, W>) {
        self.edge = edge;
        self.state.edge = index;
    }

    /// Turns to edge `index`: nothing is attached. What was learnt on the one before is parked, and what
    /// was learnt on this one taken up again.
    pub fn turn(&mut self, index: usize, edge: Edge<'a, W>) {
        let before = self.state.edge;
        self.edge = edge;
        self.state.edge = index;
        self.abandon();
        let vars = self.edge.vars();
        self.value[..2 * vars].fill(UNDEFINED);
        self.flags[..vars].fill(0);
        self.value[Lit::TRUE.code()] = TRUE;
        self.value[Lit::FALSE.code()] = FALSE;
        self.cells[0] = [W::of(template::<W>()), W::of(0)];
        self.whys[0] = why::ROOT;
        self.fill_queue();
        self.exchange_learnts(before);
        self.allow_learnts();
    }

    /// Leaves the query as it is; nothing is watched any more.
    fn abandon(&mut self) {
        self.state.trail = 0;
        self.state.head = 0;
        self.state.depth = 0;
        self.state.domain = 0;
        self.state.assumptions = 0;
        self.state.temporary = false;
        self.detach_all();
    }

    /// Empties all watch lists.
    fn detach_all(&mut self) {
        let vars = self.edge.vars();
        self.watches[..2 * vars].fill(W::NONE);
        self.state.units = W::NONE.get();
    }

    /// Puts clause `r`, which is not empty, into the watch lists. No query may be open.
    pub fn attach(&mut self, r: Ref) {
        debug_assert!(self.pool.len(r) > 0);
        for i in 0..self.pool.len(r) {
            let var = self.pool.lit(r, i).var();
            self.flags[var] |= LEMMA;
        }
        self.watch(r);
    }

    /// Adds a clause with this tag to the pool and attaches it; `None` if there is no room. The
    /// empty clause is not a clause for the solver. It has no trailer: who adds clauses in this way keeps nothing
    /// else of them, and does not compact them.
    pub fn add_clause(
        &mut self,
        lits: impl ExactSizeIterator<Item = Lit>,
        tag: usize,
    ) -> Option<Ref> {
        let size = HEADER + lits.len();
        let r = self.state.ends.take_front(size, self.pool.words.len())?;
        self.pool.begin(r, lits.len(), tag);
        for (i, lit) in lits.enumerate() {
            self.pool.set_lit(r, i, lit);
        }
        self.attach(r);
        Some(r)
    }

    /// Links the first two literals, or the list of units.
    fn watch(&mut self, r: Ref) {
        if self.pool.len(r) == 1 {
            self.pool.words[r] = W::of(self.state.units);
            self.state.units = r;
            return;
        }
        for i in 0..2 {
            let code = self.pool.lit(r, i).code();
            self.pool.words[r + i] = self.watches[code];
            self.watches[code] = W::of(r);
        }
    }

    /// Opens a query in which clauses with a tag of at least `level` hold. Ends the one before.
    pub fn begin(&mut self, level: usize) {
        self.backtrack(0);
        while self.state.trail > 0 {
            self.unassign_last();
        }
        self.state.head = 0;
        for i in 0..self.state.assumptions {
            let var = Lit::from_code(self.assumed[i].get()).var();
            self.flags[var] &= !(FAILED | ASSUMED);
        }
        if self.state.temporary {
            self.drop_temporary();
        }
        self.tidy();
        self.clear_domain();
        self.state.assumptions = 0;
        self.state.constant_failed = false;
        self.state.level = level;
    }

    /// Adds an assumption, and its cone to the domain.
    pub fn assume(&mut self, lit: Lit) {
        if lit == Lit::TRUE {
            return;
        }
        self.demand(lit);
        if self.flags[lit.var()] & ASSUMED != 0 && self.assumed_lits().any(|l| l == lit) {
            return;
        }
        self.flags[lit.var()] |= ASSUMED;
        self.assumed[self.state.assumptions] = W::of(lit.code());
        self.state.assumptions += 1;
    }

    fn assumed_lits(&self) -> impl Iterator<Item = Lit> {
        self.assumed[..self.state.assumptions].iter().map(|l| Lit::from_code(l.get()))
    }

    /// A literal that holds throughout the run (a bound parameter): asserted without dependency.
    pub fn fix(&mut self, lit: Lit) {
        self.demand(lit);
        if self.truth(lit) == UNDEFINED {
            self.push_trail(lit, why::ROOT, W::of(template::<W>()));
        }
    }

    /// Adds a literal to the temporary clause opened before.
    pub fn temporary(&mut self, lit: Lit) {
        let len = self.pool.len(TEMPORARY);
        if lit == Lit::FALSE || (0..len).any(|i| self.pool.lit(TEMPORARY, i) == lit) {
            return;
        }
        self.demand(lit);
        self.pool.begin(TEMPORARY, len + 1, template::<W>());
        self.pool.set_lit(TEMPORARY, len, lit);
    }

    /// Opens the temporary clause, which may stay empty.
    pub fn open_temporary(&mut self) {
        self.pool.begin(TEMPORARY, 0, template::<W>());
        self.state.temporary = true;
    }

    /// The value of a variable in the model; `None` if the query did not depend on it.
    pub fn value(&self, var: usize) -> Option<bool> {
        match self.truth(Lit::new(var, true)) {
            TRUE => Some(true),
            FALSE => Some(false),
            _ => None,
        }
    }

    /// Whether assumption `lit` is in the core of the last `Unsat`.
    pub fn failed(&self, lit: Lit) -> bool {
        if lit.var() == 0 {
            return lit == Lit::FALSE && self.state.constant_failed;
        }
        self.flags[lit.var()] & FAILED != 0
    }

    /// `TRUE`, `FALSE` or `UNDEFINED`.
    #[inline(always)]
    fn truth(&self, lit: Lit) -> u8 {
        self.value[lit.code()]
    }

    /// The reason of an assigned variable; what it is, [`Self::why`] says.
    #[inline(always)]
    fn reason(&self, var: usize) -> usize {
        self.cells[var][0].get()
    }

    /// The decision level of an assigned variable.
    #[inline(always)]
    fn level(&self, var: usize) -> usize {
        self.cells[var][1].get()
    }

    /// The kind of the reason of an assigned variable.
    #[inline(always)]
    fn why(&self, var: usize) -> u8 {
        self.whys[var]
    }

    /// Answers the query. Counts work against the limit.
    pub fn solve(&mut self) -> Answer {
        self.state.restart = restart::Schedule::default();
        self.rewind_queue();
        if let Err(answer) = self.assert_roots() {
            return answer;
        }
        loop {
            if let Some(conflict) = self.propagate() {
                self.state.conflicts = self.state.conflicts.wrapping_add(1);
                self.backtrack(self.depth_of(conflict));
                if self.state.depth <= self.state.assumptions {
                    // Every decision so far is an assumption: they fail together.
                    self.analyze_final(conflict);
                    return Answer::Unsat;
                }
                if let Some(answer) = self.interrupted() {
                    return answer;
                }
                if let Err(answer) = self.learn(conflict) {
                    return answer;
                }
                continue;
            }
            if let Some(answer) = self.interrupted() {
                return answer;
            }
            if self.state.restart.is_due() {
                self.state.restart.advance();
                let assumptions = self.state.assumptions.min(self.state.depth);
                self.backtrack(assumptions);
            }
            if self.state.depth < self.state.assumptions {
                let lit = Lit::from_code(self.assumed[self.state.depth].get());
                match self.truth(lit) {
                    TRUE => self.state.depth += 1,
                    FALSE => {
                        self.analyze_failed(lit);
                        return Answer::Unsat;
                    }
                    _ => self.decide(lit),
                }
                continue;
            }
            match self.pick() {
                Some(lit) => self.decide(lit),
                None => return Answer::Sat,
            }
        }
    }

    /// The decision level at which `conflict` became one.
    fn depth_of(&self, conflict: Source) -> usize {
        let mut depth = 0;
        self.for_each_lit(conflict, |lit| depth = depth.max(self.level(lit.var())));
        depth
    }

    /// Asserts unit clauses that are active, and the temporary clause.
    fn assert_roots(&mut self) -> Result<(), Answer> {
        let mut r = self.state.units;
        while r != W::NONE.get() {
            let lit = self.pool.lit(r, 0);
            if self.pool.tag(r) >= self.state.level {
                if self.truth(lit) == FALSE {
                    return Err(Answer::Unsat);
                }
                if self.truth(lit) != TRUE {
                    self.push_trail(lit, why::ROOT, W::of(self.pool.tag(r)));
                }
            }
            r = self.pool.words[r].get();
        }
        if self.state.temporary {
            match self.pool.len(TEMPORARY) {
                0 => return Err(Answer::Unsat),
                1 => {
                    let lit = self.pool.lit(TEMPORARY, 0);
                    if self.truth(lit) == FALSE {
                        return Err(Answer::Unsat);
                    }
                    if self.truth(lit) != TRUE {
                        self.push_trail(lit, why::ROOT_TEMPORARY, W::of(template::<W>()));
                    }
                }
                _ => self.watch(TEMPORARY),
            }
        }
        Ok(())
    }
}
