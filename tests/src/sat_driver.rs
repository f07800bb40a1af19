//! The core's solver under random sequences of additions and queries, against other solvers.
//!
//! Every answer is held against a formula that is written down independently: the gates in full
//! Tseitin form, the clauses whose tag is at least the query's level, the temporary clause, what is
//! fixed, the assumptions. A model is checked by evaluation, so *sat* needs no oracle. For *unsat* an
//! oracle gets the formula with the failed assumptions only: if that is unsatisfiable, so is the whole.

use crate::engine::aligned;
use crate::rng::Rng;
use vouch_core::arena::Carver;
use vouch_core::image::{EdgeSpec, Image, ImageBuilder, LocationSpec};
use vouch_core::lit::Lit;
use vouch_core::rules::Rule;
use vouch_core::sat::clause::{HEADER, Ref, infinity};
use vouch_core::sat::{Answer, Sizes, Solver, State};
use vouch_core::word::Word;

/// A clause of literal codes.
pub type Codes = Vec<u32>;

/// Counters of a sequence, or of many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sequences of additions and queries, each with a solver of its own.
    pub instances: u64,
    /// Queries that were posed.
    pub queries: u64,
    /// Of these, satisfiable with a model that was checked.
    pub sat: u64,
    /// Of these, unsatisfiable by an oracle as well.
    pub unsat: u64,
    /// Of these, without an answer for lack of room or budget.
    pub none: u64,
    /// Conflicts in the solver.
    pub conflicts: u64,
    /// Most conflicts of one query.
    pub hardest: u64,
    /// Queries that began with the clause pool's back in use: something learnt before survived.
    pub carried: u64,
    /// Sequences whose pool was full at some time.
    pub full: u64,
}

impl Counts {
    /// Adds the counters of another.
    pub fn add(&mut self, other: &Counts) {
        self.instances += other.instances;
        self.queries += other.queries;
        self.sat += other.sat;
        self.unsat += other.unsat;
        self.none += other.none;
        self.conflicts += other.conflicts;
        self.hardest = self.hardest.max(other.hardest);
        self.carried += other.carried;
        self.full += other.full;
    }
}

/// A solver that decides whether `clauses` over variables `0..vars` have no model.
pub type Oracle = fn(vars: usize, clauses: &[Codes]) -> bool;

/// Dimacs numbers begin at 1.
fn dimacs(code: u32) -> isize {
    let var = (code / 2 + 1) as isize;
    if code & 1 == 1 { -var } else { var }
}

/// The first oracle.
pub fn varisat_refutes(_: usize, clauses: &[Codes]) -> bool {
    use varisat::ExtendFormula;
    let mut solver = varisat::Solver::new();
    let mut lits = Vec::new();
    for clause in clauses {
        lits.clear();
        lits.extend(clause.iter().map(|c| varisat::Lit::from_dimacs(dimacs(*c))));
        solver.add_clause(&lits);
    }
    !solver.solve().expect("no proof is written, so nothing can fail")
}

/// The second oracle, of other authors and in another language.
pub fn cadical_refutes(_: usize, clauses: &[Codes]) -> bool {
    let mut solver: cadical::Solver = cadical::Solver::new();
    for clause in clauses {
        solver.add_clause(clause.iter().map(|c| dimacs(*c) as i32));
    }
    solver.solve() == Some(false)
}

/// What is asked.
#[derive(Clone, Debug, Default)]
pub struct Query {
    /// Clauses with at least this tag hold.
    pub level: usize,
    /// Assumed literals; anything, also constants and contradictions.
    pub assumptions: Codes,
    /// The temporary clause.
    pub temporary: Option<Codes>,
    /// Cones to take into the domain without asking anything about them.
    pub demand: Codes,
    /// Whether the clauses' variables are in the domain. If not, a model owes nothing to a clause
    /// outside of it.
    pub lemmas: bool,
}

/// A formula as the test sees it: several edges over the same state bits, and clauses over those.
#[derive(Clone, Debug, Default)]
pub struct Formula {
    /// State bits: variables `1..=live` of every edge.
    pub live: usize,
    /// The edges' inputs and gates.
    pub edges: Vec<(usize, Vec<[u32; 3]>)>,
    /// Clauses over state bits, with their tags.
    pub clauses: Vec<(Codes, usize)>,
    /// Literals that hold in every query.
    pub fixed: Codes,
}

impl Formula {
    fn first_gate(&self, edge: usize) -> usize {
        1 + self.live + self.edges[edge].0
    }

    /// Number of variables of an edge.
    pub fn vars(&self, edge: usize) -> usize {
        self.first_gate(edge) + self.edges[edge].1.len()
    }

    /// The image that the solver reads.
    pub fn image(&self) -> ImageBuilder {
        let edge = |(inputs, gates): &(usize, Vec<[u32; 3]>)| EdgeSpec {
            from: 0,
            to: 1,
            inputs: *inputs as u32,
            gates: gates.clone(),
            guard: 0,
            next: vec![],
        };
        let live = (0..self.live as u32).collect();
        ImageBuilder {
            name: "formula".into(),
            state_bits: self.live as u32,
            locations: vec![LocationSpec { live }, LocationSpec::default()],
            edges: self.edges.iter().map(edge).collect(),
            ..ImageBuilder::default()
        }
    }

    /// Everything but the assumptions as clauses.
    pub fn cnf(&self, edge: usize, query: &Query) -> Vec<Codes> {
        let mut cnf = vec![vec![0]];
        for (g, [s, t, e]) in self.edges[edge].1.iter().enumerate() {
            let o = 2 * (self.first_gate(edge) + g) as u32;
            cnf.extend([vec![s ^ 1, t ^ 1, o], vec![s ^ 1, *t, o ^ 1]]);
            cnf.extend([vec![*s, e ^ 1, o], vec![*s, *e, o ^ 1]]);
        }
        let active = self.clauses.iter().filter(|c| c.1 >= query.level);
        cnf.extend(active.map(|c| c.0.clone()));
        cnf.extend(query.temporary.clone());
        cnf.extend(self.fixed.iter().map(|l| vec![*l]));
        cnf
    }

    /// What is wrong with a model: `value` is what the solver says, `domain` what it decided about.
    fn check_model(
        &self,
        edge: usize,
        query: &Query,
        value: impl Fn(usize) -> Option<bool>,
        domain: impl Fn(usize) -> bool,
    ) -> Result<(), String> {
        let mut values = vec![true];
        let first = self.first_gate(edge);
        for var in 1..first {
            values.push(value(var).unwrap_or(false));
        }
        let holds = |values: &[bool], code: u32| values[code as usize / 2] ^ (code & 1 == 1);
        for [s, t, e] in &self.edges[edge].1 {
            let gate = if holds(&values, *s) { holds(&values, *t) } else { holds(&values, *e) };
            values.push(gate);
        }
        for (var, computed) in values.iter().enumerate().skip(1) {
            match value(var) {
                None if domain(var) => return Err(format!("variable {var} is not assigned")),
                Some(v) if domain(var) && v != *computed => {
                    return Err(format!("gate {var} is not what its operands say"));
                }
                _ => {}
            }
        }
        let lit = |code: &u32| holds(&values, *code);
        if let Some(l) = query.assumptions.iter().chain(&self.fixed).find(|l| !lit(l)) {
            return Err(format!("literal {l} is false"));
        }
        if query.temporary.as_ref().is_some_and(|c| !c.iter().any(lit)) {
            return Err("the temporary clause is false".into());
        }
        let owed = |c: &&(Codes, usize)| {
            c.1 >= query.level && (query.lemmas || c.0.iter().all(|l| domain(*l as usize / 2)))
        };
        match self.clauses.iter().filter(owed).find(|c| !c.0.iter().any(lit)) {
            Some((clause, tag)) => Err(format!("clause {clause:?} of tag {tag} is false")),
            None => Ok(()),
        }
    }
}

/// A formula in the solver.
pub struct Driver<W> {
    /// What it should be.
    pub formula: Formula,
    /// Counters of this sequence.
    pub counts: Counts,
    /// The solver's state between calls, as the engine keeps it.
    pub state: State,
    /// Whether every query must have an answer.
    pub plenty: bool,
    image: Vec<u32>,
    image_len: usize,
    sizes: Sizes,
    memory: Vec<u32>,
    refs: Vec<Ref>,
    word: core::marker::PhantomData<W>,
}

impl<W: Word> Driver<W> {
    /// A solver for the edges of `formula` with a pool of `pool` words beyond the temporary clause,
    /// and room for `assumptions`. Its clauses are still to be added.
    pub fn new(mut formula: Formula, pool: usize, assumptions: usize) -> Self {
        let bytes = formula.image().build_as::<W>().expect("a valid image");
        let clauses = std::mem::take(&mut formula.clauses);
        let sizes = Sizes {
            vars: (0..formula.edges.len()).map(|e| formula.vars(e)).max().unwrap_or(1),
            assumptions,
            temporary: assumptions,
            pool: (pool + HEADER + assumptions).min(W::MAX_INDEX),
        };
        let mut driver = Driver {
            formula,
            counts: Counts { instances: 1, ..Counts::default() },
            state: State::new::<W>(&sizes),
            plenty: false,
            image: aligned(&bytes),
            image_len: bytes.len(),
            sizes,
            // Whoever reads what was never written shall notice.
            memory: vec![0xdead_beef; sizes.words::<W>()],
            refs: vec![],
            word: core::marker::PhantomData,
        };
        driver.load(0, false);
        for (clause, tag) in clauses {
            driver.add(clause, tag);
        }
        driver
    }

    /// The solver, its memory divided anew.
    fn with<T>(&mut self, work: impl FnOnce(&mut Solver<'_, W>, &Image<'_, W>) -> T) -> T {
        let view: &[u8] = bytemuck::cast_slice(&self.image);
        let image = Image::<W>::new_trusted(&view[..self.image_len]).expect("built before");
        let edge = if self.state.edge == usize::MAX { 0 } else { self.state.edge };
        let mut carver = Carver::new(&mut self.memory);
        let mut solver = Solver::take(&self.sizes, self.state, &mut carver);
        solver.edge = image.edge(edge);
        let result = work(&mut solver, &image);
        self.state = solver.state;
        result
    }

    /// Turns to an edge and attaches all clauses, which are attached already where its network is loaded. What was
    /// learnt is put aside, or else forgotten.
    pub fn load(&mut self, edge: usize, aside: bool) {
        let refs = self.refs.clone();
        let view: &[u8] = bytemuck::cast_slice(&self.image);
        let image = Image::<W>::new_trusted(&view[..self.image_len]).expect("built before");
        let mut carver = Carver::new(&mut self.memory);
        let mut solver = Solver::take(&self.sizes, self.state, &mut carver);
        solver.edge = image.edge(edge);
        let loaded = self.state.edge;
        if aside && loaded < image.edges() && image.is_akin(loaded, edge) {
            solver.pass_to(edge, image.edge(edge));
            self.state = solver.state;
            return;
        }
        if aside {
            solver.turn(edge, image.edge(edge));
        } else {
            solver.load(edge, image.edge(edge));
        }
        for r in refs {
            solver.attach(r);
        }
        self.state = solver.state;
    }

    /// Adds a clause without repeated literals, at the expense of what is learnt; `false` if there
    /// is no room for it.
    pub fn add(&mut self, clause: Codes, tag: usize) -> bool {
        let lits = || clause.iter().map(|c| Lit::from_code(*c as usize));
        let added = self.with(|solver, _| {
            solver.begin(1);
            solver.add_clause(lits(), tag).or_else(|| {
                solver.forget();
                solver.add_clause(lits(), tag)
            })
        });
        if let Some(r) = added {
            self.refs.push(r);
            self.formula.clauses.push((clause, tag));
        }
        added.is_some()
    }

    /// Raises the tag of a clause, as pushing does.
    pub fn raise(&mut self, clause: usize, tag: usize) {
        let r = self.refs[clause];
        self.with(|solver, _| solver.pool.set_tag(r, tag));
        self.formula.clauses[clause].1 = tag;
    }

    /// Asks, and checks the answer.
    pub fn ask(&mut self, query: &Query, oracle: Oracle) -> Result<Answer, String> {
        let formula = std::mem::take(&mut self.formula);
        let mut counts = self.counts;
        let plenty = self.plenty;
        let result = self.with(|solver, _| {
            let edge = solver.state.edge;
            counts.carried += (solver.state.ends.learnts < solver.pool.words.len()) as u64;
            let before = solver.state.conflicts;
            let answer = pose(solver, &formula, query);
            counts.queries += 1;
            let conflicts = (solver.state.conflicts - before) as u64;
            counts.conflicts += conflicts;
            counts.hardest = counts.hardest.max(conflicts);
            match answer {
                Answer::Sat => {
                    counts.sat += 1;
                    let domain = |var| solver.is_in_domain(var);
                    formula.check_model(edge, query, |var| solver.value(var), domain)?;
                }
                Answer::Unsat => {
                    counts.unsat += 1;
                    let mut cnf = formula.cnf(edge, query);
                    let failed = |l: &&u32| solver.failed(Lit::from_code(**l as usize));
                    let core: Codes = query.assumptions.iter().filter(failed).copied().collect();
                    cnf.extend(core.iter().map(|l| vec![*l]));
                    if !oracle(formula.vars(edge), &cnf) {
                        let all = query.assumptions.iter().map(|l| vec![*l]);
                        cnf.extend(all);
                        let what = if oracle(formula.vars(edge), &cnf) { "core" } else { "unsat" };
                        return Err(format!("wrong {what} {core:?}"));
                    }
                }
                Answer::Budget | Answer::Capacity if plenty => return Err(format!("{answer:?}")),
                Answer::Budget | Answer::Capacity => counts.none += 1,
                Answer::Cancelled => return Err("nobody has cancelled".into()),
            }
            Ok(answer)
        });
        counts.full = (self.state.ends.peak + 16 > self.sizes.pool) as u64;
        self.formula = formula;
        self.counts = counts;
        let number = counts.queries;
        result.map_err(|what| format!("query {number}: {what}: {query:?}"))
    }
}

impl<W: Word> Driver<W> {
    /// Whether one learnt clause, and `pick` chooses which, follows from what its tag says: the gates
    /// and the clauses of at least that tag. A learnt clause of the temporary clause is exempt while
    /// that one lives. A wrong dependency shows here long before it makes an answer wrong.
    pub fn audit(&mut self, pick: usize, oracle: Oracle) -> Result<(), String> {
        let formula = std::mem::take(&mut self.formula);
        let result = self.with(|solver, _| {
            let (mut found, mut r) = (vec![], solver.state.ends.learnts);
            while r < solver.pool.words.len() {
                // Of this edge, of use lately or not.
                let is_own = [W::NONE, W::of(1)].contains(&solver.pool.next(r));
                if solver.pool.tag(r) != 0 && is_own {
                    found.push(r);
                }
                r += HEADER + solver.pool.len(r);
            }
            if found.is_empty() {
                return Ok(());
            }
            let r = found[pick % found.len()];
            let lits: Codes = solver.pool.lits(r).iter().map(|l| l.get() as u32).collect();
            let query = Query { level: solver.pool.tag(r), ..Query::default() };
            let edge = solver.state.edge;
            let mut cnf = formula.cnf(edge, &query);
            cnf.extend(lits.iter().map(|l| vec![l ^ 1]));
            if oracle(formula.vars(edge), &cnf) {
                Ok(())
            } else {
                Err(format!("learnt {lits:?} does not follow at level {}", query.level))
            }
        });
        self.formula = formula;
        let number = self.counts.queries;
        result.map_err(|what| format!("query {number}: {what}"))
    }
}

/// Poses a query to the solver.
fn pose<W: Word>(solver: &mut Solver<'_, W>, formula: &Formula, query: &Query) -> Answer {
    let lit = |code: &u32| Lit::from_code(*code as usize);
    solver.begin(query.level);
    formula.fixed.iter().for_each(|l| solver.fix(lit(l)));
    if query.lemmas {
        solver.demand_lemmas();
    }
    query.demand.iter().for_each(|l| solver.demand(lit(l)));
    query.assumptions.iter().for_each(|l| solver.assume(lit(l)));
    if let Some(clause) = &query.temporary {
        solver.open_temporary();
        clause.iter().for_each(|l| solver.temporary(lit(l)));
    }
    solver.solve()
}

/// Most assumptions of a random query.
const ASSUMPTIONS: usize = 12;

/// One random sequence; what it is follows from the seed alone.
pub fn one(seed: u64) -> Result<Counts, String> {
    one_broken(seed, None)
}

/// The same with a solver that may break a soundness rule.
pub fn one_broken(seed: u64, rule: Option<Rule>) -> Result<Counts, String> {
    // Half of the sequences with each width.
    let result =
        if seed & 1 == 0 { sequence::<u16>(seed, rule) } else { sequence::<u32>(seed, rule) };
    result.map_err(|what| format!("sequence {seed}: {what}"))
}

fn sequence<W: Word>(seed: u64, rule: Option<Rule>) -> Result<Counts, String> {
    let mut rng = Rng::new(seed);
    let formula = random_formula(&mut rng);
    let live = formula.live;
    // Two kinds of sequences: a bit of everything; and at the edge of satisfiability, where conflicts
    // are deep and clauses are learnt from learnt ones.
    let deep = live >= 20 && !rng.one_in(3);
    let most = if deep { live * rng.between(34, 43) / 10 } else { live * rng.between(1, 12) };
    // From room for next to nothing to plenty, beyond what all clauses would take.
    let clauses = if rng.one_in(4) { 0 } else { most * (HEADER + 3) };
    let spare = rng.pick(&[24, 50, 80, 200, 500, 2000, 30_000]);
    let mut driver = Driver::<W>::new(formula, clauses + spare, ASSUMPTIONS);
    driver.plenty = spare == 30_000;
    driver.state.sabotage = rule;
    if !driver.plenty && rng.one_in(8) {
        driver.state.limit = 1000 + rng.below(100_000) as u64;
    }
    let growth = if deep { most } else { rng.between(1, 8) };
    let queries = rng.between(40, 400);
    // How much is asked at once: little makes models, much makes trivial conflicts.
    let breadth = if deep { 2 } else { rng.between(1, 5) };
    for _ in 0..queries {
        for _ in 0..rng.below(growth + 1) {
            if driver.formula.clauses.len() < most {
                let clause = random_clause(&mut rng, live, deep);
                let tag = if deep { rng.between(2, 4) } else { random_tag::<W>(&mut rng) };
                driver.add(clause, tag);
            }
        }
        if rng.one_in(if deep { 100 } else { 8 }) && !driver.refs.is_empty() {
            let at = rng.below(driver.refs.len());
            let tag = driver.formula.clauses[at].1.max(random_tag::<W>(&mut rng));
            driver.raise(at, tag);
        }
        if rng.one_in(20) {
            driver.load(rng.below(driver.formula.edges.len()), !rng.one_in(4));
        }
        let vars = driver.formula.vars(driver.state.edge);
        let mut query = random_query(&mut rng, live, vars, breadth);
        if deep {
            query.level = rng.pick(&[2, 2, 2, 3, 4]);
            // Without assumptions the root level is where things follow from learnt clauses.
            if rng.one_in(2) {
                query.assumptions.clear();
                let any = |_| random_lit(&mut rng, 1, 1 + live);
                query.temporary = Some((0..3).map(any).collect());
            }
        }
        let oracle = if rng.one_in(5) { cadical_refutes } else { varisat_refutes };
        let conflicts = driver.counts.conflicts;
        driver.ask(&query, oracle)?;
        // The newest clauses are the first.
        let audits = if conflicts < driver.counts.conflicts { rng.below(3) } else { 0 };
        for i in 0..audits {
            driver.audit(i * rng.below(1000), oracle)?;
        }
    }
    Ok(driver.counts)
}

/// A tag from 1 to 5, or that of the infinity frame.
fn random_tag<W: Word>(rng: &mut Rng) -> usize {
    match rng.below(7) {
        0 => infinity::<W>(),
        level => level.min(5),
    }
}

fn random_formula(rng: &mut Rng) -> Formula {
    let live = rng.pick(&[3, 5, 8, 12, 20, 30, 40, 60, 80]);
    let edge = |rng: &mut Rng| {
        let inputs = rng.below(5);
        let count = if rng.one_in(4) { 0 } else { rng.below(50) };
        (inputs, random_gates(rng, 1 + live + inputs, count))
    };
    let mut edges: Vec<_> = (0..rng.between(1, 2)).map(|_| edge(rng)).collect();
    if rng.one_in(2) {
        // One more edge that has the network of the first.
        edges.push(edges[0].clone());
    }
    let any = if rng.one_in(5) { rng.between(1, 2) } else { 0 };
    let mut fixed: Codes = (0..any).map(|_| random_lit(rng, 1, 1 + live)).collect();
    fixed.dedup_by_key(|l| *l / 2);
    Formula { live, edges, clauses: vec![], fixed }
}

fn random_gates(rng: &mut Rng, first: usize, count: usize) -> Vec<[u32; 3]> {
    let mut gates = Vec::new();
    for g in 0..count {
        let vars = first + g;
        // Constants and repeated operands are rare in an image, but legal.
        let any = |rng: &mut Rng| {
            let from = if rng.one_in(20) { 0 } else { 1 };
            let near = vars.saturating_sub(8).max(from);
            let from = if rng.one_in(2) { near } else { from };
            random_lit(rng, from, vars)
        };
        let (a, b) = (any(rng), any(rng));
        gates.push(match rng.below(4) {
            0 => [a, b, 1],
            1 => [a, 0, b],
            2 => [a, b ^ 1, b],
            _ => [a, b, any(rng)],
        });
    }
    gates
}

/// A literal of a variable in `from..to`.
fn random_lit(rng: &mut Rng, from: usize, to: usize) -> u32 {
    (2 * rng.between(from, to - 1) + rng.below(2)) as u32
}

/// One to four different variables of the state.
fn random_clause(rng: &mut Rng, live: usize, deep: bool) -> Codes {
    let len = match rng.below(20) {
        _ if deep => 3,
        0 => 1,
        1..4 => 2,
        4..16 => 3,
        _ => 4,
    };
    let mut clause: Codes = (0..len).map(|_| random_lit(rng, 1, 1 + live)).collect();
    clause.sort();
    clause.dedup_by_key(|l| *l / 2);
    clause
}

fn random_query(rng: &mut Rng, live: usize, vars: usize, breadth: usize) -> Query {
    let gate_or_any = |rng: &mut Rng| {
        let gates = vars > 1 + live && rng.one_in(2);
        random_lit(rng, if gates { 1 + live } else { 1 }, vars)
    };
    let mut assumptions: Codes = (0..rng.below(breadth + 1)).map(|_| gate_or_any(rng)).collect();
    // What the engine may well come up with: a bit set twice, both ways, or to a constant.
    if rng.one_in(10) {
        assumptions.push(rng.below(2) as u32);
    }
    if rng.one_in(8) && !assumptions.is_empty() {
        let again = rng.pick(&assumptions) ^ rng.one_in(2) as u32;
        assumptions.insert(rng.below(assumptions.len() + 1), again);
    }
    let temporary = rng.one_in(2).then(|| {
        let len = if rng.one_in(20) { 0 } else { rng.between(1, 4) };
        let constant = rng.one_in(30);
        let any = |rng: &mut Rng| random_lit(rng, if constant { 0 } else { 1 }, vars);
        // As for relative induction, mostly over state bits.
        let bits = !rng.one_in(4);
        (0..len).map(|_| if bits { random_lit(rng, 1, 1 + live) } else { any(rng) }).collect()
    });
    let demand = if rng.one_in(4) { vec![gate_or_any(rng)] } else { vec![] };
    Query { level: rng.between(1, 6), assumptions, temporary, demand, lemmas: !rng.one_in(10) }
}
