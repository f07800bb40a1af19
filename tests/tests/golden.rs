//! The worked examples of the papers that the engine comes from.
//!
//! Each is built as its paper states it, decided by the engine, validated, and held against explicit
//! search; where the paper publishes an invariant, both certificate checkers must accept it. All of it
//! is done twice: with the program's locations as they are (Lange et al.), and with the location as one
//! more variable of a single loop (Cimatti and Griggio), where a clause `c` of location `l` reads
//! `pc = l → c`.
//!
//! - Lange, Neuhäußer, Noll: IC3 Software Model Checking on Control Flow Automata, FMCAD 2015.
//! - Cimatti, Griggio: Software Model Checking via IC3, CAV 2012.
//! - Birgmeier: Software Verification with IC3 via Abstraction and Interpolation, 2013.
//! - Werner: Property Directed Reachability in Ultimate, 2018.
//! - Somenzi, Bradley: IC3: Where Monolithic and Incremental Meet, FMCAD 2011.
//!
//! Integers of the papers are unbounded. Here they have a few bits, and each example says why its
//! argument survives that. Steps: a program of locations has as many steps as the paper's, the last one
//! entering the error location. For a transition system one step more assigns the initial state and one
//! more leaves for the error location once the property is broken.

use std::sync::Arc;
use vouch_core::certificate::Check;
use vouch_host::blast::{self, AlignedImage, Model};
use vouch_host::engines::cegar::Words;
use vouch_host::engines::{Answer, Engine, Setup};
use vouch_host::ir::{
    BinOp, BitLit, Certificate, Cfa, Clause, Edge, ExprId, Input, LocId, Property, PropertyId,
    Span, Trace, Type, Var, VarId, VarKind, Word,
};
use vouch_host::judge::{Finding, Question, Reason, judge};
use vouch_host::validate;
use vouch_tests::engine::recheck;
use vouch_tests::explicit::{self, Outcome};
use vouch_tests::suite;

// Building automata.

const SPAN: Span = Span { start: 0, end: 0 };

/// An automaton under construction; location 0 is initial.
struct Program(Cfa);

impl Program {
    fn new(name: &str) -> Program {
        Program(Cfa::new(name))
    }
    fn var(&mut self, name: &str, width: u32, ty: Type) -> VarId {
        self.0.add_var(Var { name: name.into(), width, ty, kind: VarKind::State })
    }
    /// A value that the environment chooses.
    fn any(&mut self, name: &str, width: u32) -> ExprId {
        let input = self.0.add_input(Input { name: name.into(), width, ty: Type::Unsigned });
        self.0.sample(input)
    }
    fn location(&mut self, name: &str) -> LocId {
        self.0.add_location(name, SPAN)
    }
    /// A location that must not be reached.
    fn error(&mut self) -> LocId {
        let error = self.location("error");
        self.0.properties.push(Property { name: "safe".into(), error, span: SPAN });
        error
    }
    fn read(&mut self, var: VarId) -> ExprId {
        self.0.read(var)
    }
    fn constant(&mut self, value: Word, width: u32) -> ExprId {
        self.0.pool.constant(value, width)
    }
    fn op(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        self.0.pool.binary(op, a, b)
    }
    /// `var + 1`.
    fn next(&mut self, var: VarId) -> ExprId {
        let x = self.read(var);
        let one = self.constant(1, self.0.vars[var.index()].width);
        self.op(BinOp::Add, x, one)
    }
    fn not(&mut self, x: ExprId) -> ExprId {
        self.0.pool.not(x)
    }
    fn yes(&mut self) -> ExprId {
        self.0.pool.bool(true)
    }
    fn edge(&mut self, from: LocId, to: LocId, guard: ExprId, updates: &[(VarId, ExprId)]) {
        let updates = updates.to_vec();
        self.0.add_edge(Edge { from, to, guard, updates, span: SPAN });
    }
    /// A disjunction of `x[i]` as `i`, primed `x[i]` as `10 + i`, negative if negated.
    fn clause(&mut self, lits: &[i32], now: &[ExprId], then: &[ExprId]) -> ExprId {
        let mut any = self.0.pool.bool(false);
        for lit in lits {
            let at = lit.unsigned_abs() as usize;
            let x = if at > 10 { then[at - 11] } else { now[at - 1] };
            let x = if *lit < 0 { self.not(x) } else { x };
            any = self.0.pool.or(any, x);
        }
        any
    }
}

const INIT: LocId = LocId(0);

/// A Boolean transition system: initial values, `T` and `P` as clauses. The state is at location 1.
fn system(name: &str, initial: &[bool], t: &[&[i32]], p: &[i32]) -> Cfa {
    let mut program = Program::new(name);
    let state = program.location("state");
    let error = program.error();
    let count = initial.len();
    let vars: Vec<VarId> =
        (1..=count).map(|i| program.var(&format!("x{i}"), 1, Type::Bool)).collect();
    let now: Vec<ExprId> = vars.iter().map(|v| program.read(*v)).collect();
    let then: Vec<ExprId> = (1..=count).map(|i| program.any(&format!("x{i}'"), 1)).collect();
    let yes = program.yes();
    let values = initial.iter().map(|v| program.0.pool.bool(*v)).collect::<Vec<_>>();
    let first: Vec<_> = vars.iter().copied().zip(values).collect();
    program.edge(INIT, state, yes, &first);
    // A relation that need not be a function: any next state, if the relation holds.
    let mut relation = yes;
    for lits in t {
        let clause = program.clause(lits, &now, &then);
        relation = program.0.pool.and(relation, clause);
    }
    let next: Vec<_> = vars.into_iter().zip(then).collect();
    program.edge(state, state, relation, &next);
    let good = program.clause(p, &now, &[]);
    let bad = program.not(good);
    program.edge(state, error, bad, &[]);
    program.0
}

// Invariants.

/// A clause over Boolean variables, numbered from 1, negative if negated.
fn clause(location: u32, lits: &[i32]) -> Clause {
    let lit = |l: &i32| BitLit { var: VarId(l.unsigned_abs() - 1), bit: 0, value: *l > 0 };
    Clause { location: LocId(location), lits: lits.iter().map(lit).collect() }
}

/// `x = y`, bit by bit.
fn equal(location: LocId, x: VarId, y: VarId, width: u32) -> Vec<Clause> {
    let lit = |var, bit, value| BitLit { var, bit, value };
    let same = |bit: u32| {
        [true, false].map(|v| Clause { location, lits: vec![lit(x, bit, v), lit(y, bit, !v)] })
    };
    (0..width).flat_map(same).collect()
}

/// Adds that the error locations are not reached.
fn certificate(cfa: &Cfa, clauses: &[Clause]) -> Certificate {
    let mut clauses = clauses.to_vec();
    clauses.extend(cfa.properties.iter().map(|p| Clause { location: p.error, lits: vec![] }));
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    Certificate { properties, clauses, ..Certificate::default() }
}

/// What the core's own checker says about a certificate.
fn core_check(model: &Model, certificate: &Certificate) -> Check {
    let map = &model.map;
    let clauses: Vec<(usize, Vec<u32>)> = (certificate.clauses.iter())
        .map(|c| {
            let location = map.locations.iter().position(|l| *l == c.location).unwrap();
            let lit = |l: &BitLit| {
                let bit = map.bits.iter().position(|b| *b == (l.var, l.bit)).unwrap();
                2 * bit as u32 + !l.value as u32
            };
            (location, c.lits.iter().map(lit).collect())
        })
        .collect();
    let properties: Vec<usize> = certificate.properties.iter().map(|p| p.index()).collect();
    recheck::<u16>(&model.image, &clauses, &properties, &[], 1000).0
}

// Deciding them.

/// The program with its location as a variable: one loop, an edge for each edge.
fn symbolic(cfa: &Cfa) -> Cfa {
    let mut program = Program(cfa.clone());
    let name = format!("{}, symbolic", cfa.name);
    let count = cfa.locations.len();
    let width = usize::BITS - (count - 1).leading_zeros();
    let pc = program.var("pc", width, Type::Unsigned);
    program.0 = Cfa { name, edges: vec![], properties: vec![], ..program.0 };
    program.0.locations.truncate(1);
    let state = program.location("state");
    let error = program.error();
    let at = program.read(pc);
    let yes = program.yes();
    let entry = program.constant(0, width);
    program.edge(INIT, state, yes, &[(pc, entry)]);
    for edge in &cfa.edges {
        let from = program.constant(edge.from.0 as Word, width);
        let to = program.constant(edge.to.0 as Word, width);
        let here = program.op(BinOp::Eq, at, from);
        let guard = program.0.pool.and(here, edge.guard);
        let mut updates = edge.updates.clone();
        updates.push((pc, to));
        program.edge(state, state, guard, &updates);
    }
    let bad = program.constant(cfa.properties[0].error.0 as Word, width);
    let broken = program.op(BinOp::Eq, at, bad);
    program.edge(state, error, broken, &[]);
    program.0
}

/// A clause of a location as one of the whole state.
fn symbolic_clause(cfa: &Cfa, clause: &Clause) -> Clause {
    let pc = VarId(cfa.vars.len() as u32);
    let width = usize::BITS - (cfa.locations.len() - 1).leading_zeros();
    let elsewhere = |bit: u32| {
        let value = clause.location.0 >> bit & 1 == 0;
        BitLit { var: pc, bit, value }
    };
    let mut lits = clause.lits.clone();
    lits.extend((0..width).map(elsewhere));
    Clause { location: LocId(1), lits }
}

struct Run {
    model: Model,
    answer: Answer,
    trace: Option<Trace>,
}

/// Decides a program, and checks all that comes out.
fn decide(cfa: &Cfa) -> Run {
    let model = blast::compile(cfa, [0; 32], &blast::Options::default()).unwrap();
    let image = AlignedImage::new(&model.image);
    let answer = Engine::Ic3Cfa.run(&image, &Setup::default(), &mut |_| true).unwrap();
    let question = Question { properties: vec![PropertyId(0)], ..Question::default() };
    let judgement = judge(cfa, &model.map, &question, &answer, true);
    assert!(judgement.validated, "{}: {judgement:?}", cfa.name);
    let trace = match &judgement.findings[0].1 {
        Finding::Safe => {
            let certificate = judgement.certificate.unwrap();
            let found = core_check(&model, &certificate);
            assert_eq!(found, Check::Valid, "{}", cfa.name);
            None
        }
        Finding::Unsafe(broken) => Some(broken.trace.clone()),
        Finding::Unknown(reason) => panic!("{}: {reason}", cfa.name),
    };
    let truth = explicit::search(cfa)[0];
    match (&trace, truth) {
        (None, Outcome::Safe) => {}
        (Some(t), Outcome::Unsafe { length }) => assert!(t.steps.len() >= length),
        other => panic!("{}: {other:?}", cfa.name),
    }
    others(cfa, &model, &image, truth);
    Run { model, answer, trace }
}

/// The host's other engines come to the same verdict, or to none within their budget; of those that find shortest runs, so does the length.
fn others(cfa: &Cfa, model: &Model, image: &AlignedImage, truth: Outcome) {
    for engine in Engine::ALL {
        let words = Some(Arc::new(Words { cfa: cfa.clone(), map: model.map.clone() }));
        let written = Some(Arc::new(cfa.clone()));
        let setup = Setup { budget: suite::budget(engine), words, written, ..Setup::default() };
        let answer = engine.run(image, &setup, &mut |_| true).unwrap();
        let question = Question { properties: vec![PropertyId(0)], ..Question::default() };
        let judgement = judge(cfa, &model.map, &question, &answer, true);
        match (&judgement.findings[0].1, truth) {
            (Finding::Safe, Outcome::Safe) => {}
            (Finding::Unsafe(broken), Outcome::Unsafe { length }) => {
                let found = broken.trace.steps.len();
                assert!(found == length || found > length && !engine.is_shortest(), "{engine}");
            }
            (Finding::Unknown(Reason::Budget), _) if suite::may_give_up(engine) => {}
            // There is more than one run, and those with inputs that never change show nothing.
            (Finding::Unknown(Reason::Capacity), _) if engine == Engine::Execute => {}
            other => panic!("{engine} on {}: {other:?}", cfa.name),
        }
    }
}

/// The paper proves it with this invariant.
fn safe(cfa: &Cfa, invariant: &[Clause]) -> Run {
    let run = decide(cfa);
    assert_eq!(run.trace, None, "{}", cfa.name);
    published(cfa, &run.model, invariant);
    let symbolic_cfa = symbolic(cfa);
    let symbolic_run = decide(&symbolic_cfa);
    assert_eq!(symbolic_run.trace, None);
    let mut clauses: Vec<Clause> = invariant.iter().map(|c| symbolic_clause(cfa, c)).collect();
    let error = Clause { location: cfa.properties[0].error, lits: vec![] };
    clauses.push(symbolic_clause(cfa, &error));
    published(&symbolic_cfa, &symbolic_run.model, &clauses);
    run
}

/// Both checkers accept the invariant, and neither accepts that the error is simply out of reach.
fn published(cfa: &Cfa, model: &Model, invariant: &[Clause]) {
    let good = certificate(cfa, invariant);
    validate::check(cfa, &good).unwrap_or_else(|e| panic!("{}: {e}", cfa.name));
    assert_eq!(core_check(model, &good), Check::Valid, "{}", cfa.name);
    let bare = certificate(cfa, &[]);
    assert!(validate::check(cfa, &bare).is_err(), "{}", cfa.name);
    assert!(matches!(core_check(model, &bare), Check::Invalid(_)), "{}", cfa.name);
}

/// The paper breaks it, and a shortest run has this many steps.
fn broken(cfa: &Cfa, length: usize) -> Run {
    let run = decide(cfa);
    assert_eq!(explicit::search(cfa)[0], Outcome::Unsafe { length }, "{}", cfa.name);
    let symbolic = symbolic(cfa);
    decide(&symbolic);
    let longer = Outcome::Unsafe { length: length + 2 };
    assert_eq!(explicit::search(&symbolic)[0], longer, "{}", symbolic.name);
    run
}

// Somenzi and Bradley.

/// Fig. 1: q0 stays; q1 (01) stays or goes to q2 (11); q2 goes to q3 (10), which stays.
const PASSING: [&[i32]; 5] = [&[1, -2, 12], &[1, 2, -11], &[-1, 11], &[-1, -12], &[2, -12]];

/// Section II-A, Fig. 1: `F1 = (¬x1 ∨ x2) ∧ ¬x2` is inductive; and with `¬x1` learnt on the way.
#[test]
fn somenzi_bradley_passing_property() {
    let cfa = system("Somenzi, Bradley, Fig. 1", &[false, false], &PASSING, &[-1, 2]);
    let run = safe(&cfa, &[clause(1, &[-1, 2]), clause(1, &[-2])]);
    safe(&cfa, &[clause(1, &[-1, 2]), clause(1, &[-1]), clause(1, &[-2])]);
    // ¬x1 alone bounds the error's distance but is not inductive, as the transition q1 to q2 shows.
    let weak = certificate(&cfa, &[clause(1, &[-1, 2]), clause(1, &[-1])]);
    assert!(validate::check(&cfa, &weak).is_err());
    assert!(matches!(core_check(&run.model, &weak), Check::Invalid(_)));
    // The paper needs two frames, or three if the less lucky literal is dropped; one more sets up.
    assert!(run.answer.stats.frontier <= 4, "{:?}", run.answer.stats);
}

/// Section II-A at its end: with q2 = 10 and q3 = 11 the negated state has no inductive
/// generalisation, and IC3 still proves it.
#[test]
fn somenzi_bradley_passing_property_with_other_codes() {
    let t: [&[i32]; 6] =
        [&[-1, 11], &[-1, 12], &[1, 2, -11], &[1, 2, -12], &[1, -2, 11, 12], &[1, -2, -11, -12]];
    let cfa = system("Somenzi, Bradley, other codes", &[false, false], &t, &[-1, -2]);
    let run = safe(&cfa, &[clause(1, &[-1]), clause(1, &[-2])]);
    // The paper: removing the state 10 alone, or generalising it to ¬x1, is not inductive.
    for lits in [&[-1, 2][..], &[-1]] {
        let weak = certificate(&cfa, &[clause(1, lits), clause(1, &[-1, -2])]);
        assert!(validate::check(&cfa, &weak).is_err());
        assert!(matches!(core_check(&run.model, &weak), Check::Invalid(_)));
    }
}

/// Fig. 2: x1 is free, x2 takes x1, x3 takes x2.
const FAILING: [&[i32]; 4] = [&[1, -12], &[-1, 12], &[2, -13], &[-2, 13]];

/// Section II-B, Fig. 2: the run q0, q1, q3, q7 of three transitions is a shortest one. (The paper
/// numbers states with x1 as the highest bit here and as the lowest there; the codes do not matter.)
#[test]
fn somenzi_bradley_failing_property() {
    let cfa = system("Somenzi, Bradley, Fig. 2", &[false; 3], &FAILING, &[-1, -2, -3]);
    let run = broken(&cfa, 1 + 3 + 1);
    // Three steps fill the register with ones, whatever was tried first.
    let steps = run.trace.unwrap().steps;
    let shifted: Vec<Word> = steps[1..steps.len() - 1].iter().map(|s| s.inputs[0].1).collect();
    assert_eq!(shifted[shifted.len() - 3..], [1, 1, 1]);
}

// Werner.

/// Section 3.3.1: the trace of three transitions, 000 → 100 → 110 → 111.
#[test]
fn werner_failing_property() {
    let cfa = system("Werner, 3.3.1", &[false; 3], &FAILING, &[-1, -2, -3]);
    let run = broken(&cfa, 1 + 3 + 1);
    let replayed = validate::replay(&cfa, &run.trace.unwrap()).unwrap();
    let states: Vec<&[Word]> = replayed.states.iter().map(|s| &s.values[..]).collect();
    let last = states.len() - 1;
    assert_eq!(states[last - 4..last], [[0, 0, 0], [1, 0, 0], [1, 1, 0], [1, 1, 1]]);
}

/// Section 3.3.2: `(¬x1 ∨ x2) ∧ ¬x1 ∧ ¬x2` is the inductive invariant.
#[test]
fn werner_passing_property() {
    let cfa = system("Werner, 3.3.2", &[false, false], &PASSING, &[-1, 2]);
    safe(&cfa, &[clause(1, &[-1, 2]), clause(1, &[-1]), clause(1, &[-2])]);
}

/// Section 4.3.1, Fig. 4.1: the trace ℓ0 → ℓ1 → ℓ2 → ℓE. Two bits hold all values that occur.
#[test]
fn werner_reachable_error() {
    let width = 2;
    let mut program = Program::new("Werner, 4.3.1");
    let [l1, l2, l3] = ["l1", "l2", "l3"].map(|name| program.location(name));
    let error = program.error();
    let x = program.var("x", width, Type::Unsigned);
    let (zero, one) = (program.constant(0, width), program.constant(1, width));
    let (yes, up, now) = (program.yes(), program.next(x), program.read(x));
    let is_one = program.op(BinOp::Eq, now, one);
    let is_not = program.not(is_one);
    program.edge(INIT, l1, yes, &[(x, zero)]);
    program.edge(l1, l2, yes, &[(x, up)]);
    program.edge(l2, error, is_one, &[]);
    program.edge(l2, l3, is_not, &[]);
    let run = broken(&program.0, 3);
    assert_eq!(run.trace.unwrap().steps.len(), 3, "there is no other run");
    // The paper finds it at level 2: the obligation x = 0 at ℓ1 on level 1.
    assert!(run.answer.stats.frontier <= 3, "{:?}", run.answer.stats);
}

/// Two counters that step together from equal values. `first` assigns them.
fn twins(name: &str, width: u32, first: impl Fn(&mut Program, VarId, VarId)) -> (Cfa, Vec<Clause>) {
    let mut program = Program::new(name);
    let [l1, l2] = ["l1", "l2"].map(|name| program.location(name));
    let error = program.error();
    let x = program.var("x", width, Type::Unsigned);
    let y = program.var("y", width, Type::Unsigned);
    first(&mut program, x, y);
    let (more_x, more_y) = (program.next(x), program.next(y));
    let (read_x, read_y) = (program.read(x), program.read(y));
    let same = program.op(BinOp::Eq, read_x, read_y);
    let differ = program.not(same);
    let yes = program.yes();
    program.edge(l1, l1, yes, &[(x, more_x), (y, more_y)]);
    program.edge(l1, l2, same, &[]);
    program.edge(l1, error, differ, &[]);
    (program.0, equal(l1, x, y, width))
}

/// Section 4.3.2, Fig. 4.2: `x = y` at ℓ1. Counters that wrap around stay equal too, so any width
/// will do.
#[test]
fn werner_unreachable_error() {
    for width in [1, 3, 6] {
        let (cfa, invariant) = twins("Werner, 4.3.2", width, |program, x, y| {
            let (yes, zero) = (program.yes(), program.constant(0, width));
            program.edge(INIT, LocId(1), yes, &[(x, zero), (y, zero)]);
        });
        safe(&cfa, &invariant);
    }
}

// Lange, Neuhäußer and Noll.

/// Fig. 2 and the example of section IV: after `y := x`, whatever x is, `F = (1, x = y)`.
#[test]
fn lange_neuhaeusser_noll_figure_2() {
    for width in [1, 3, 6] {
        let (cfa, invariant) = twins("Lange et al., Fig. 2", width, |program, x, y| {
            let (yes, now) = (program.yes(), program.read(x));
            program.edge(INIT, LocId(1), yes, &[(y, now)]);
        });
        safe(&cfa, &invariant);
    }
}

/// Fig. 1: `x := 10`, then only upwards; never 9. Over unbounded integers IC3CFA need not end here:
/// it excludes 9, 8, 7 and so on, one at a level, and `x ≥ 10` is the invariant it cannot come to. With
/// a few bits there is an end. Counting stops at the highest value, as 9 would be reached by wrapping
/// around, which an integer does not do.
#[test]
fn lange_neuhaeusser_noll_figure_1() {
    let width = 5;
    let mut program = Program::new("Lange et al., Fig. 1");
    let l1 = program.location("1");
    let error = program.error();
    let x = program.var("x", width, Type::Unsigned);
    let [nine, ten, top] = [9, 10, 31].map(|v| program.constant(v, width));
    let (yes, now, up) = (program.yes(), program.read(x), program.next(x));
    let bad = program.op(BinOp::Eq, now, nine);
    let low = program.op(BinOp::Ult, now, top);
    program.edge(INIT, l1, yes, &[(x, ten)]);
    program.edge(l1, l1, low, &[(x, up)]);
    program.edge(l1, error, bad, &[]);
    // 10 = 01010: the highest bit, or the next and one of the two after it.
    let lit = |bit| BitLit { var: x, bit, value: true };
    let at_least_10 = [
        Clause { location: l1, lits: vec![lit(4), lit(3)] },
        Clause { location: l1, lits: vec![lit(4), lit(2), lit(1)] },
    ];
    safe(&program.0, &at_least_10);
}

// Birgmeier.

/// Section 2, hardware verification example: a counter 00, 01, 10, 00 that starts below 2. The paper
/// states no property; what it says of the counter is that it counts to two, so 11 is never reached.
#[test]
fn birgmeier_counter() {
    // x1 is the higher bit. The first step chooses x2: initial is ¬x1.
    let t: [&[i32]; 6] =
        [&[-1, -11], &[-1, -12], &[1, 2, -11], &[1, 2, 12], &[1, -2, 11], &[1, -2, -12]];
    let mut cfa = system("Birgmeier, counter", &[false, false], &t, &[-1, -2]);
    let free = cfa.add_input(Input { name: "x2".into(), width: 1, ty: Type::Bool });
    let free = cfa.sample(free);
    cfa.edges[0].updates[1].1 = free;
    safe(&cfa, &[clause(1, &[-1, -2])]);
    // What does occur, and when: 10 after the initial step, a step from 01, and the way out.
    let mut cfa = system("Birgmeier, counter to two", &[false, false], &t, &[-1, 2]);
    let free = cfa.add_input(Input { name: "x2".into(), width: 1, ty: Type::Bool });
    let free = cfa.sample(free);
    cfa.edges[0].updates[1].1 = free;
    broken(&cfa, 1 + 1 + 1);
}

/// Section 2, Fig. 2.4: `a = 0; b = *; while (a < b) ++a; assert(a == 10);` as the table of its
/// transition relation has it. Locations 1 to 5 are the paper's; 6 is the error location.
fn count_up() -> (Program, [VarId; 2]) {
    // From -16 to 15: 10 is among them, and a never passes b, so nothing wraps around.
    let width = 5;
    let mut program = Program::new("Birgmeier, Fig. 2.4");
    let [l1, l2, l3, l4, l5] = ["1", "2", "3", "4", "5"].map(|name| program.location(name));
    let error = program.error();
    let a = program.var("a", width, Type::Signed);
    let b = program.var("b", width, Type::Signed);
    let (read_a, read_b, any) = (program.read(a), program.read(b), program.any("b", width));
    let (zero, ten) = (program.constant(0, width), program.constant(10, width));
    let less = program.op(BinOp::Slt, read_a, read_b);
    let done = program.not(less);
    let right = program.op(BinOp::Eq, read_a, ten);
    let wrong = program.not(right);
    let (up, yes) = (program.next(a), program.yes());
    program.edge(INIT, l1, yes, &[(a, zero), (b, any)]);
    program.edge(l1, l2, less, &[]);
    program.edge(l2, l3, yes, &[(a, up)]);
    program.edge(l3, l1, yes, &[]);
    program.edge(l1, l4, done, &[]);
    program.edge(l4, l5, right, &[]);
    program.edge(l4, error, wrong, &[]);
    program.edge(l5, l5, yes, &[]);
    (program, [a, b])
}

/// "The assertion may be violated, since b can take non-positive values": 0, 1, 4, 6.
#[test]
fn birgmeier_count_up() {
    let (program, _) = count_up();
    broken(&program.0, 3);
}

/// The same program may be "in the state (pc = 2 | a = 5 | b = 11)": after five rounds of three steps.
#[test]
fn birgmeier_count_up_reaches_the_state_of_the_text() {
    let (mut program, [a, b]) = count_up();
    program.0.properties.clear();
    program.0.edges.retain(|e| e.to != LocId(6));
    let error = program.error();
    let (read_a, read_b) = (program.read(a), program.read(b));
    let (five, eleven) = (program.constant(5, 5), program.constant(11, 5));
    let (is_5, is_11) =
        (program.op(BinOp::Eq, read_a, five), program.op(BinOp::Eq, read_b, eleven));
    let both = program.0.pool.and(is_5, is_11);
    program.edge(LocId(2), error, both, &[]);
    let run = broken(&program.0, 1 + 5 * 3 + 1 + 1);
    assert_eq!(run.trace.unwrap().steps.len(), 18, "b is chosen once, the rest follows");
}

/// Section 3.2: a program whose lifted trace is pc = 0, 1, 2, 3, 5, 6, 5, 9, without the variables
/// that do not matter. The loop's test and `++m` are one step there. Three bits hold the trace's
/// values; m never passes n, so nothing wraps around.
#[test]
fn birgmeier_lifted_trace() {
    let width = 3;
    let mut program = Program::new("Birgmeier, 3.2");
    let names = ["1", "2", "3", "4", "5", "6", "9"];
    let [l1, l2, l3, l4, l5, l6, l9] = names.map(|name| program.location(name));
    let error = program.error();
    let [m, n] = ["m", "n"].map(|name| program.var(name, width, Type::Signed));
    // These do not matter; a bit each keeps the explicit search short.
    let [i, j, k] = ["i", "j", "k"].map(|name| program.var(name, 1, Type::Unsigned));
    let (read_m, read_n) = (program.read(m), program.read(n));
    let (any_m, any_n) = (program.any("m", width), program.any("n", width));
    let zero = program.constant(0, 1);
    let (yes, more_m, more_i, more_n) =
        (program.yes(), program.next(m), program.next(i), program.next(n));
    let below = program.op(BinOp::Slt, read_m, read_n);
    let done = program.not(below);
    let (right, returns) =
        (program.op(BinOp::Eq, read_m, more_n), program.op(BinOp::Sle, read_n, read_m));
    let wrong = program.not(right);
    let goes_on = program.not(returns);
    program.edge(INIT, l1, yes, &[(m, any_m)]);
    program.edge(l1, l2, yes, &[(n, any_n)]);
    program.edge(l2, l3, yes, &[(i, zero)]);
    program.edge(l3, l4, returns, &[]);
    program.edge(l3, l5, goes_on, &[]);
    program.edge(l5, l6, below, &[(m, more_m)]);
    program.edge(l6, l5, yes, &[(i, more_i)]);
    program.edge(l5, l9, done, &[]);
    program.edge(l9, error, wrong, &[]);
    // Eight states of the paper's trace, and the step to the error location.
    let run = broken(&program.0, 7 + 1);
    let known = |var: VarId| run.model.map.bits.iter().any(|b| b.0 == var);
    assert!(known(m) && known(n) && !known(i) && !known(j) && !known(k));
    let trace = run.trace.unwrap();
    let path: Vec<u32> = trace.steps.iter().map(|s| program.0.edges[s.edge.index()].to.0).collect();
    assert_eq!(path[..4], [1, 2, 3, 5]);
    assert_eq!(path[path.len() - 4..], [6, 5, 7, 8]);
}

/// Section 3.2, lifting over `4: a = *; 5:` towards `a = 3, b = 0`: the obligation at 4 is `b = 0`,
/// whatever a was. With b = 0 the state is reached; with any other b it is not, and `b ≠ 0` proves it.
#[test]
fn birgmeier_lifting_of_free_assignments() {
    let width = 2;
    let build = |zero: bool| {
        let mut program = Program::new("Birgmeier, 3.2, free assignment");
        let [l4, l5] = ["4", "5"].map(|name| program.location(name));
        let error = program.error();
        let a = program.var("a", width, Type::Unsigned);
        let b = program.var("b", width, Type::Unsigned);
        let (any, any_b) = (program.any("a", width), program.any("b", width));
        let [none, three] = [0, 3].map(|v| program.constant(v, width));
        let (read_a, read_b, yes) = (program.read(a), program.read(b), program.yes());
        let is_zero = program.op(BinOp::Eq, any_b, none);
        let first = if zero { is_zero } else { program.not(is_zero) };
        let (is_3, is_0) =
            (program.op(BinOp::Eq, read_a, three), program.op(BinOp::Eq, read_b, none));
        let both = program.0.pool.and(is_3, is_0);
        program.edge(INIT, l4, first, &[(b, any_b)]);
        program.edge(l4, l5, yes, &[(a, any)]);
        program.edge(l5, l4, yes, &[]);
        program.edge(l5, error, both, &[]);
        let lits = (0..width).map(|bit| BitLit { var: b, bit, value: true }).collect::<Vec<_>>();
        let not_zero = [l4, l5].map(|location| Clause { location, lits: lits.clone() });
        (program.0, not_zero)
    };
    let run = broken(&build(true).0, 3);
    let steps = run.trace.unwrap().steps;
    assert_eq!(steps[steps.len() - 2].inputs[0].1, 3, "the choice of a is kept for replay");
    let (cfa, not_zero) = build(false);
    safe(&cfa, &not_zero);
}
