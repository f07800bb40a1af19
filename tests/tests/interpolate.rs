//! Interpolants against another solver: each is implied by what is before, contradicts what is after, has only
//! variables that both share, and its clauses say the same.

use vouch_host::engines::Setup;
use vouch_host::engines::clock::Clock;
use vouch_host::engines::interpolate::{Outcome, Parts, clauses};
use vouch_host::engines::sat::{Clauses, Gates, SatLit};
use vouch_host::gates::aig::{Graph, Lit, Node};
use vouch_tests::rng::Rng;

/// CaDiCaL, which shares nothing with what made the proof.
#[derive(Default)]
struct Other {
    solver: cadical::Solver,
    vars: usize,
}

fn number(lit: SatLit) -> i32 {
    let var = lit.index() as i32 + 1;
    if lit.is_positive() { var } else { -var }
}

impl Clauses for Other {
    fn fresh(&mut self) -> SatLit {
        self.vars += 1;
        SatLit::from_dimacs(self.vars as isize)
    }
    fn add(&mut self, clause: &[SatLit]) {
        self.solver.add_clause(clause.iter().map(|lit| number(*lit)));
    }
}

impl Other {
    fn new(vars: usize, formula: &[&Part]) -> Other {
        let mut other = Other { vars, ..Other::default() };
        formula.iter().flat_map(|part| part.iter()).for_each(|clause| other.add(clause));
        other
    }

    /// A formula holds, or does not; its leaves are variables.
    fn hold(&mut self, graph: &Graph, lit: Lit, value: bool) {
        let mut gates = Gates::default();
        let own = gates.lit(graph, lit, self);
        for node in 0..graph.len() {
            if let (Node::Leaf(var), Some(leaf)) =
                (graph.node(node), gates.of(Lit::new(node, true)))
            {
                let var = SatLit::from_dimacs(var as isize + 1);
                self.add(&[leaf, !var]);
                self.add(&[!leaf, var]);
            }
        }
        self.add(&[if value { own } else { !own }]);
    }

    fn is_possible(&mut self) -> bool {
        self.solver.solve().unwrap()
    }
}

type Part = Vec<Vec<SatLit>>;

fn vars_of(parts: &[Part]) -> Vec<usize> {
    let mut vars: Vec<usize> = parts.iter().flatten().flatten().map(|lit| lit.index()).collect();
    vars.sort_unstable();
    vars.dedup();
    vars
}

fn leaves(graph: &Graph, root: Lit) -> Vec<usize> {
    let mut seen = vec![false; graph.len()];
    let (mut stack, mut leaves) = (vec![root.var()], vec![]);
    while let Some(node) = stack.pop() {
        if std::mem::replace(&mut seen[node], true) {
            continue;
        }
        if let Node::Leaf(var) = graph.node(node) {
            leaves.push(var as usize);
        }
        stack.extend(graph.operands(node));
    }
    leaves
}

/// Random clauses in random parts, most of them about as many as make them contradict each other. Variables
/// of a part are near each other, as those of a step are.
fn random(rng: &mut Rng) -> (usize, Vec<Part>) {
    let count = 1 + rng.below(5);
    let most = if rng.one_in(3) { 60 } else { 9 };
    let vars = 1 + rng.below(most);
    let total = vars * (2 + rng.below(3)) + rng.below(8);
    let longest = 1 + rng.below(4);
    let mut parts: Vec<Part> = vec![vec![]; count];
    for _ in 0..total {
        let part = rng.below(count);
        let width = (vars * 2).div_ceil(count).max(2).min(vars);
        let first = if rng.one_in(8) { 0 } else { part * vars / count };
        let lit = |rng: &mut Rng| {
            let var = (first + rng.below(width)) % vars;
            let lit = SatLit::from_dimacs(var as isize + 1);
            if rng.one_in(2) { !lit } else { lit }
        };
        let length = if rng.one_in(10) { 1 } else { 1 + rng.below(longest) };
        parts[part].push((0..length).map(|_| lit(rng)).collect());
    }
    (vars, parts)
}

#[test]
fn interpolants_are_interpolants() {
    let setup = Setup::default();
    let mut watch = |_: &_| true;
    let clock = Clock::new(&setup, &mut watch);
    let (mut interpolated, mut satisfied, mut as_clauses, mut inner) = (0, 0, 0, 0);
    for seed in 0..3000 {
        let mut rng = Rng::new(seed);
        let (vars, parts) = random(&mut rng);
        let mut own = Parts::default();
        (0..vars).for_each(|_| _ = own.fresh());
        for (at, part) in parts.iter().enumerate() {
            if at > 0 {
                own.next();
            }
            part.iter().for_each(|clause| own.add(clause));
        }
        let all: Vec<&Part> = parts.iter().collect();
        let is_possible = Other::new(vars, &all).is_possible();
        let (graph, interpolants) = match own.solve(&clock).unwrap() {
            Outcome::Model(model) => {
                assert!(is_possible, "seed {seed}");
                let holds = |lit: &SatLit| model[lit.index()] == lit.is_positive();
                assert!(parts.iter().flatten().all(|c| c.iter().any(holds)), "seed {seed}");
                satisfied += 1;
                continue;
            }
            Outcome::Interpolants(graph, interpolants) => (graph, interpolants),
            Outcome::Unknown => panic!("seed {seed}: no proof"),
        };
        assert!(!is_possible, "seed {seed}");
        assert_eq!(interpolants.len(), parts.len() - 1, "seed {seed}");
        let ends = |at: usize| match at {
            0 => Lit::TRUE,
            at if at == parts.len() => Lit::FALSE,
            at => interpolants[at - 1],
        };
        for at in 1..=parts.len() {
            let place = format!("seed {seed}, interpolant {at}");
            let mut step = Other::new(vars, &all[at - 1..at]);
            step.hold(&graph, ends(at - 1), true);
            step.hold(&graph, ends(at), false);
            assert!(!step.is_possible(), "{place}: not a sequence");
            let mut before = Other::new(vars, &all[..at]);
            before.hold(&graph, ends(at), false);
            assert!(!before.is_possible(), "{place}: not implied");
            let mut after = Other::new(vars, &all[at..]);
            after.hold(&graph, ends(at), true);
            assert!(!after.is_possible(), "{place}: not inconsistent");
            let (a, b) = (vars_of(&parts[..at]), vars_of(&parts[at..]));
            let shared = |var: &usize| a.contains(var) && b.contains(var);
            assert!(leaves(&graph, ends(at)).iter().all(shared), "{place}: not shared");
            inner += (!leaves(&graph, ends(at)).is_empty()) as u32;
            let Some(clauses) = clauses(&graph, ends(at), 5, &clock).unwrap() else { continue };
            as_clauses += 1;
            let mut both = Graph::clone(&graph);
            let mut conjunction = Lit::TRUE;
            for clause in &clauses {
                let mut any = Lit::FALSE;
                for (leaf, value) in clause {
                    let leaf = both.leaf(*leaf).negated_if(!value);
                    any = both.or(any, leaf);
                }
                conjunction = both.and(conjunction, any);
            }
            for value in [true, false] {
                let mut differ = Other::new(vars, &[]);
                differ.hold(&both, conjunction, value);
                differ.hold(&both, ends(at), !value);
                assert!(!differ.is_possible(), "{place}: other clauses");
            }
        }
        interpolated += 1;
    }
    let tally = format!("{interpolated} {satisfied} {as_clauses} {inner}");
    assert!(interpolated > 1000 && satisfied > 100 && inner > 500, "{tally}");
    assert!(as_clauses > 1000, "{tally}");
}
