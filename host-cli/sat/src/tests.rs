//! Answers against all assignments; long searches.

use crate::{ClauseId, Lit, Proof, Solver, Unproved, Var};

/// The clause that was derived last.
#[derive(Default)]
struct Last(Vec<Lit>);

impl Proof for Last {
    fn derived(&mut self, clause: &[Lit], _: &[ClauseId]) {
        self.0 = clause.to_vec();
    }
    fn deleted(&mut self, _: ClauseId) {}
}

/// Numbers below `n`, each from the one before.
struct Random(u64);

impl Random {
    fn below(&mut self, n: u64) -> u64 {
        self.0 =
            self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn lit(&mut self, vars: u64) -> Lit {
        Var(self.below(vars) as u32).lit(self.below(2) == 0)
    }
}

fn holds(clause: &[Lit], state: u32) -> bool {
    clause.iter().any(|lit| (state >> lit.var().0 & 1 == 1) == lit.value())
}

/// Clauses and assumptions in turns, repeated and contradicting ones among them, against all assignments.
#[test]
fn answers_agree_with_enumeration() {
    const VARS: u64 = 10;
    let (mut yes, mut no) = (0, 0);
    for seed in 0..3000 {
        let mut random = Random(seed);
        let mut solver = Solver::new(Last::default());
        for _ in 0..VARS {
            solver.new_var();
        }
        let mut models: Vec<u32> = (0..1 << VARS).collect();
        for _ in 0..60 {
            let length = if random.below(8) == 0 { 1 } else { 2 + random.below(3) };
            let clause: Vec<Lit> = (0..length).map(|_| random.lit(VARS)).collect();
            models.retain(|state| holds(&clause, *state));
            solver.add_clause(&clause);
            let mut assumed: Vec<Lit> = vec![];
            // Some begin as the one before did.
            for _ in 0..3 {
                assumed.truncate(random.below(3) as usize);
                assumed.extend((0..random.below(4)).map(|_| random.lit(VARS)));
                let is_model = |state: u32| assumed.iter().all(|lit| holds(&[*lit], state));
                let expected = models.iter().any(|state| is_model(*state));
                assert_eq!(solver.solve(&assumed, &mut || true), Some(expected), "seed {seed}");
                if expected {
                    let bit = |v: u32| (solver.is_true(Var(v).lit(true)) as u32) << v;
                    let state = (0..VARS as u32).fold(0, |state, v| state | bit(v));
                    assert!(models.contains(&state) && is_model(state), "seed {seed}");
                    yes += 1;
                } else {
                    let last = &solver.proof.0;
                    assert!(last.iter().all(|lit| assumed.contains(&!*lit)), "seed {seed}");
                    assert!(models.iter().all(|state| holds(last, *state)), "seed {seed}");
                    no += 1;
                }
            }
        }
    }
    assert!(yes > 1000 && no > 1000);
}

/// So many pigeons, one hole less.
pub fn pigeons<P: Proof>(solver: &mut Solver<P>, count: usize) {
    let at: Vec<Vec<Lit>> =
        (0..count).map(|_| (1..count).map(|_| solver.new_var().lit(true)).collect()).collect();
    for (i, holes) in at.iter().enumerate() {
        solver.add_clause(holes);
        for others in &at[..i] {
            holes.iter().zip(others).for_each(|(a, b)| solver.add_clause(&[!*a, !*b]));
        }
    }
}

/// Long enough for restarts and reductions.
#[test]
fn pigeons_have_no_room() {
    let mut solver = Solver::new(Unproved);
    pigeons(&mut solver, 8);
    assert_eq!(solver.solve(&[], &mut || true), Some(false));
    assert_eq!(solver.solve(&[], &mut || true), Some(false));
}

#[test]
fn a_hard_question_can_be_given_up() {
    let mut solver = Solver::new(Unproved);
    pigeons(&mut solver, 14);
    let mut left = 5;
    let mut go_on = || {
        left -= 1;
        left > 0
    };
    assert_eq!(solver.solve(&[], &mut go_on), None);
    assert_eq!(left, 0);
}
