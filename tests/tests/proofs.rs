//! The solver of the validator, whose proofs it checks, against CaDiCaL: formulas that need thousands of conflicts, so
//! that clauses are learnt, made smaller, thrown away and needed again.

use vouch_host::validate::solver::{Lit, SatVar, Solver};
use vouch_tests::rng::Rng;

/// Both at the same time.
struct Pair {
    own: Solver,
    other: cadical::Solver,
    vars: usize,
    clauses: Vec<Vec<Lit>>,
}

fn number(lit: &Lit) -> i32 {
    let var = lit.var.0 as i32 + 1;
    if lit.value { var } else { -var }
}

impl Pair {
    fn new(vars: usize) -> Pair {
        let mut own = Solver::default();
        for _ in 0..vars {
            own.new_var();
        }
        Pair { own, other: cadical::Solver::new(), vars, clauses: vec![] }
    }

    fn lit(&self, rng: &mut Rng) -> Lit {
        Lit { var: SatVar(rng.below(self.vars) as u32), value: rng.one_in(2) }
    }

    fn add(&mut self, clause: Vec<Lit>) {
        self.own.add_clause(&clause);
        self.other.add_clause(clause.iter().map(number));
        self.clauses.push(clause);
    }

    fn fresh(&mut self) -> Lit {
        self.vars += 1;
        Lit { var: self.own.new_var(), value: true }
    }

    fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        let out = self.fresh();
        for clause in [[!out, a, b], [!out, !a, !b], [out, !a, b], [out, a, !b]] {
            self.add(clause.to_vec());
        }
        out
    }

    /// Two of three are true.
    fn two(&mut self, a: Lit, b: Lit, c: Lit) -> Lit {
        let out = self.fresh();
        for (x, y) in [(a, b), (a, c), (b, c)] {
            self.add(vec![!x, !y, out]);
            self.add(vec![x, y, !out]);
        }
        out
    }

    /// Of two words, the lowest bit first.
    fn sum(&mut self, a: &[Lit], b: &[Lit]) -> Vec<Lit> {
        let mut carry = self.fresh();
        self.add(vec![!carry]);
        let mut sum = vec![];
        for (a, b) in a.iter().zip(b) {
            let half = self.xor(*a, *b);
            sum.push(self.xor(half, carry));
            carry = self.two(*a, *b, carry);
        }
        sum
    }

    /// Asks both. An answer without a proof that holds would be none, and a model must be one.
    fn ask(&mut self, assumed: &[Lit]) -> bool {
        let answer = self.own.solve(assumed);
        assert_eq!(answer, self.other.solve_with(assumed.iter().map(number)));
        if answer == Some(true) {
            let holds = |lit: &Lit| self.own.value(lit.var) == lit.value;
            assert!(assumed.iter().all(holds));
            assert!(self.clauses.iter().all(|clause| clause.iter().any(holds)));
        }
        answer == Some(true)
    }
}

/// Random clauses of three literals, so many that half of the formulas have a model, and questions while they are added.
#[test]
fn random_formulas_agree() {
    let (mut yes, mut no) = (0, 0);
    for seed in 0..60 {
        let mut rng = Rng::new(seed);
        let mut pair = Pair::new(rng.between(80, 160));
        let most = pair.vars * 47 / 10;
        for count in 0..most {
            let clause = (0..3).map(|_| pair.lit(&mut rng)).collect();
            pair.add(clause);
            if count > pair.vars * 3 && rng.one_in(40) {
                let assumed: Vec<Lit> = (0..rng.below(6)).map(|_| pair.lit(&mut rng)).collect();
                match pair.ask(&assumed) {
                    true => yes += 1,
                    false => no += 1,
                }
            }
        }
    }
    assert!(yes > 100 && no > 100, "{yes} {no}");
}

/// Two sums of the same words, added up in different orders: the solver must find out that they are equal.
#[test]
fn sums_are_equal_in_any_order() {
    let mut pair = Pair::new(0);
    let [a, b, c] = [(); 3].map(|()| (0..7).map(|_| pair.fresh()).collect::<Vec<Lit>>());
    let ab = pair.sum(&a, &b);
    let left = pair.sum(&ab, &c);
    let cb = pair.sum(&c, &b);
    let right = pair.sum(&a, &cb);
    for (x, y) in left.iter().zip(&right) {
        assert!(!pair.ask(&[*x, !*y]) && !pair.ask(&[!*x, *y]));
        assert!(pair.ask(&[*x, *y]) && pair.ask(&[!*x, !*y]));
    }
}
