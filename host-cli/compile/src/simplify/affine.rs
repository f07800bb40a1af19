//! Linear equations between variables: what holds in random runs.
//!
//! Runs of the reference interpreter leave samples at each location. The equations that all samples of
//! a location satisfy are the kernel of their matrix, found by elimination modulo a prime (Karr's
//! domain, Acta Informatica 1976, on samples instead of all states). Those with small coefficients are
//! worth trying; nothing here has to be right.

use rustc_hash::FxHashMap as HashMap;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{
    BinOp, Cfa, Expr, ExprId, InputId, Operand, Pool, Term, UnOp, VarId, VarKind, Word, eval, mask,
};

/// A prime: coefficients are fractions, and a few small ones are told apart modulo this one.
const PRIME: i128 = (1 << 61) - 1;
/// Runs, their length, and tries to find an edge that can be taken.
const RUNS: usize = 60;
const LENGTH: usize = 24;
const TRIES: usize = 6;
/// Expressions that are evaluated in all.
const WORK: usize = 400_000;
/// Samples of each location after which there is no need for more.
const ENOUGH: usize = 300;
/// Samples of a location beyond those that its variables need.
const SPARE: usize = 8;
/// The largest coefficient or denominator, and how many variables an equation may have.
const LARGEST: i128 = 64;
const VARIABLES: usize = 4;
/// Conditions that sums are split by.
const SPLITS: usize = 5;

/// `factor * var = constant + sum of coefficient * variable`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Equation {
    factor: i128,
    var: VarId,
    sum: Vec<(i128, VarId)>,
    constant: i128,
}

/// Equations between these variables, which have one width.
pub fn equations(cfa: &Cfa, vars: &[VarId]) -> Vec<Equation> {
    let Some(width) = vars.first().map(|v| cfa.vars[v.index()].width) else { return vec![] };
    let mut found = BTreeSet::new();
    let all = samples(cfa);
    for samples in all.iter().filter(|s| s.len() > vars.len() + SPARE) {
        let row = |state: &Vec<Word>| -> Vec<i128> {
            let value = |v: &VarId| eval::sign_extend(state[v.index()], width) as i128;
            [1].into_iter().chain(vars.iter().map(value)).collect()
        };
        found.extend(kernel(samples.iter().map(row).collect(), vars));
    }
    found.into_iter().collect()
}

impl Equation {
    /// The multiples of variables that it sums up, and what they sum up to.
    pub fn sum(&self) -> (Vec<(i128, VarId)>, i128) {
        let rest = self.sum.iter().map(|(coefficient, var)| (-coefficient, *var));
        ([(self.factor, self.var)].into_iter().chain(rest).collect(), self.constant)
    }

    /// Terms for it, numbered from `first` on; the last one is whether it holds.
    pub fn terms(&self, cfa: &Cfa, first: usize) -> Vec<Term> {
        let width = cfa.vars[self.var.index()].width;
        let constant = |c: i128| Operand::Const(c as Word & mask(width));
        let mut terms: Vec<Term> = vec![];
        let mut add = |op, left, right| {
            terms.push(Term { op, left, right });
            Operand::Var(VarId((first + terms.len() - 1) as u32))
        };
        let mut side = match self.factor {
            1 => Operand::Var(self.var),
            factor => add(BinOp::Mul, Operand::Var(self.var), constant(factor)),
        };
        for (coefficient, var) in &self.sum {
            side = match coefficient {
                1 => add(BinOp::Sub, side, Operand::Var(*var)),
                -1 => add(BinOp::Add, side, Operand::Var(*var)),
                c => {
                    let product = add(BinOp::Mul, Operand::Var(*var), constant(*c));
                    add(BinOp::Sub, side, product)
                }
            };
        }
        add(BinOp::Eq, side, constant(self.constant));
        terms
    }

    /// Whether it holds when variables have these new values, as an expression in which what cancels
    /// out is gone: an edge that keeps an equation is seen to do so, without a search.
    pub fn holds(&self, cfa: &mut Cfa, new: &HashMap<VarId, ExprId>) -> ExprId {
        let width = cfa.vars[self.var.index()].width;
        let parts = self.sum.iter().map(|(c, v)| (*c, *v)).chain([(-self.factor, self.var)]);
        let form = Form::of(cfa, width, self.constant as Word, parts, new);
        form.is_zero(&mut cfa.pool, SPLITS)
    }
}

/// A sum of multiples of variables of one width when these have new values, as an expression in which what cancels out
/// is gone.
pub fn sum(cfa: &mut Cfa, parts: &[(i128, VarId)], new: &HashMap<VarId, ExprId>) -> ExprId {
    let width = parts.first().map_or(1, |part| cfa.vars[part.1.index()].width);
    let form = Form::of(cfa, width, 0, parts.iter().copied(), new);
    form.split(&mut cfa.pool, SPLITS, &Form::written)
}

/// A sum of multiples, modulo two to the power of the width.
#[derive(Clone, Default)]
pub struct Form {
    width: u32,
    constant: Word,
    parts: BTreeMap<ExprId, Word>,
}

/// A form, or one of two where a condition holds and where it does not.
pub enum Cases {
    /// Without conditions, or with more than were to be split.
    One(Form),
    /// The first where the condition holds.
    Either(ExprId, Box<[Cases; 2]>),
}

impl Form {
    /// A constant, and multiples of variables when these have new values.
    fn of(
        cfa: &mut Cfa,
        width: u32,
        constant: Word,
        parts: impl Iterator<Item = (i128, VarId)>,
        new: &HashMap<VarId, ExprId>,
    ) -> Form {
        let mut form = Form { width, constant, ..Form::default() };
        for (coefficient, var) in parts {
            let value = new.get(&var).copied().unwrap_or_else(|| cfa.read(var));
            form.add(&cfa.pool, value, coefficient as Word);
        }
        form
    }

    /// Multiples of expressions.
    pub fn sum(pool: &Pool, width: u32, parts: impl IntoIterator<Item = (i128, ExprId)>) -> Form {
        let mut form = Form { width, ..Form::default() };
        parts.into_iter().for_each(|(factor, id)| form.add(pool, id, factor as Word));
        form
    }

    /// The width of all its parts.
    pub fn width(&self) -> u32 {
        self.width
    }
    /// What is added besides parts.
    pub fn constant(&self) -> Word {
        self.constant & mask(self.width)
    }
    /// Expressions and how often each is added.
    pub fn parts(&self) -> impl Iterator<Item = (ExprId, Word)> {
        self.parts.iter().map(|(id, factor)| (*id, *factor))
    }

    /// Adds a multiple of an expression.
    fn add(&mut self, pool: &Pool, root: ExprId, factor: Word) {
        let mut stack = vec![(root, factor)];
        while let Some((id, factor)) = stack.pop() {
            vouch_ir::deadline::tick();
            let constant = |x| pool.as_const(x);
            match pool.get(id) {
                Expr::Const(word) => {
                    self.constant = self.constant.wrapping_add(word.wrapping_mul(factor));
                }
                Expr::Binary(BinOp::Add, a, b) => stack.extend([(a, factor), (b, factor)]),
                Expr::Binary(BinOp::Sub, a, b) => {
                    stack.extend([(a, factor), (b, factor.wrapping_neg())]);
                }
                Expr::Unary(UnOp::Neg, x) => stack.push((x, factor.wrapping_neg())),
                Expr::Binary(BinOp::Mul, a, b) => match (constant(a), constant(b)) {
                    (_, Some(c)) => stack.push((a, factor.wrapping_mul(c))),
                    (Some(c), _) => stack.push((b, factor.wrapping_mul(c))),
                    _ => self.part(id, factor),
                },
                _ => self.part(id, factor),
            }
        }
    }

    fn part(&mut self, id: ExprId, factor: Word) {
        let part = self.parts.entry(id).or_default();
        *part = part.wrapping_add(factor) & mask(self.width);
        if *part == 0 {
            self.parts.remove(&id);
        }
    }

    /// Whether the sum is zero.
    fn is_zero(&self, pool: &mut Pool, splits: usize) -> ExprId {
        self.split(pool, splits, &|form, pool| {
            let mut sum = pool.constant(form.constant & mask(form.width), form.width);
            for (id, factor) in &form.parts {
                let factor = pool.constant(*factor, form.width);
                let product = pool.binary(BinOp::Mul, *id, factor);
                sum = pool.binary(BinOp::Add, sum, product);
            }
            let zero = pool.constant(0, form.width);
            pool.equal(sum, zero)
        })
    }

    /// What `whole` makes of sums without conditions.
    fn split(
        &self,
        pool: &mut Pool,
        splits: usize,
        whole: &dyn Fn(&Form, &mut Pool) -> ExprId,
    ) -> ExprId {
        self.cases(pool, splits).fold(pool, whole)
    }

    /// Conditional parts with one condition are decided together, so many conditions deep.
    pub fn cases(&self, pool: &Pool, splits: usize) -> Cases {
        let condition = self.parts.keys().find_map(|id| match pool.get(*id) {
            Expr::Ite(c, ..) => Some(c),
            _ => None,
        });
        let Some(c) = condition.filter(|_| splits > 0) else { return Cases::One(self.clone()) };
        let cases = [true, false].map(|holds| {
            let mut form = Form { parts: BTreeMap::new(), ..self.clone() };
            for (id, factor) in &self.parts {
                match pool.get(*id) {
                    Expr::Ite(d, t, e) if d == c => {
                        form.add(pool, if holds { t } else { e }, *factor);
                    }
                    _ => form.part(*id, *factor),
                }
            }
            form.cases(pool, splits - 1)
        });
        Cases::Either(c, Box::new(cases))
    }

    /// The sum: what is added, then what is subtracted. The constant comes last, so sums that differ in nothing else have
    /// all the rest in common.
    fn written(&self, pool: &mut Pool) -> ExprId {
        let mut sum = pool.constant(0, self.width);
        let negative = |factor: Word| factor > mask(self.width) / 2;
        let mut parts: Vec<(ExprId, Word)> = self.parts.iter().map(|(id, f)| (*id, *f)).collect();
        parts.sort_by_key(|(_, factor)| negative(*factor));
        for (id, factor) in parts {
            let (op, factor) = match negative(factor) {
                true => (BinOp::Sub, factor.wrapping_neg() & mask(self.width)),
                false => (BinOp::Add, factor),
            };
            let factor = pool.constant(factor, self.width);
            let product = pool.binary(BinOp::Mul, id, factor);
            sum = pool.binary(op, sum, product);
        }
        let constant = pool.constant(self.constant & mask(self.width), self.width);
        pool.binary(BinOp::Add, sum, constant)
    }
}

impl Cases {
    /// What `whole` makes of each of them.
    fn fold(self, pool: &mut Pool, whole: &dyn Fn(&Form, &mut Pool) -> ExprId) -> ExprId {
        match self {
            Cases::One(form) => whole(&form, pool),
            Cases::Either(condition, cases) => {
                let [yes, no] = cases.map(|case| case.fold(pool, whole));
                pool.ite(condition, yes, no)
            }
        }
    }
}

/// States that runs have at each location.
fn samples(cfa: &Cfa) -> Vec<Vec<Vec<Word>>> {
    let leaving = cfa.leaving();
    let cost: Vec<usize> = cfa.edges.iter().map(|e| cfa.pool.cone(e.roots()).len()).collect();
    let mut random = Random { state: 1, constants: constants(cfa) };
    let mut samples = vec![vec![]; cfa.locations.len()];
    let mut work = 0;
    for _ in 0..RUNS {
        let matters = |l: usize| l != cfa.init.index() && !leaving[l].is_empty();
        if (0..samples.len()).all(|l| !matters(l) || samples[l].len() >= ENOUGH) {
            break;
        }
        let mut at = cfa.init;
        let initial = |var: &vouch_ir::Var| match var.kind {
            VarKind::Param { min, .. } => min,
            VarKind::State => 0,
        };
        let mut state: Vec<Word> = cfa.vars.iter().map(initial).collect();
        for _ in 0..LENGTH {
            let edges = &leaving[at.index()];
            let step = (0..TRIES).filter(|_| !edges.is_empty()).find_map(|_| {
                let edge = edges[random.next() as usize % edges.len()];
                work += cost[edge.index()];
                let mut inputs: HashMap<InputId, Word> = HashMap::default();
                for input in cfa.edge_inputs(&cfa.edges[edge.index()]) {
                    inputs.insert(input, random.word(cfa.inputs[input.index()].width));
                }
                let value = |i: InputId| inputs.get(&i).copied().unwrap_or(0);
                Some((cfa.edges[edge.index()].to, eval::step(cfa, &state, edge, value)?))
            });
            let Some((to, next)) = step.filter(|_| work < WORK) else { break };
            (at, state) = (to, next);
            samples[at.index()].push(state.clone());
        }
    }
    samples
}

struct Random {
    state: u64,
    constants: Vec<Word>,
}

impl Random {
    /// xorshift64*.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }

    /// Mostly small: what grows beyond all bounds satisfies no equation of numbers.
    fn word(&mut self, width: u32) -> Word {
        let word = match self.next() % 4 {
            0 if !self.constants.is_empty() => {
                let at = self.next() as usize % self.constants.len();
                self.constants[at]
            }
            1 => (self.next() % 2) as Word,
            2 => (self.next() % 8) as Word,
            _ => (self.next() % 100) as Word,
        };
        word & mask(width)
    }
}

/// Constants of the model that are not large.
fn constants(cfa: &Cfa) -> Vec<Word> {
    let ids = (0..cfa.pool.len() as u32).map(ExprId);
    let constant = |id| match cfa.pool.get(id) {
        Expr::Const(word) if word < 1 << 20 => Some(word),
        _ => None,
    };
    ids.filter_map(constant).collect::<BTreeSet<Word>>().into_iter().collect()
}

/// Equations that all rows satisfy; the first column is the constant's.
pub fn kernel(mut rows: Vec<Vec<i128>>, vars: &[VarId]) -> Vec<Equation> {
    rows.iter_mut().flatten().for_each(|x| *x = x.rem_euclid(PRIME));
    let columns = vars.len() + 1;
    let mut pivots: Vec<usize> = vec![];
    for column in 0..columns {
        let top = pivots.len();
        let Some(found) = (top..rows.len()).find(|r| rows[*r][column] != 0) else { continue };
        rows.swap(top, found);
        let inverse = power(rows[top][column], PRIME - 2);
        rows[top].iter_mut().for_each(|x| *x = *x * inverse % PRIME);
        let pivot = rows[top].clone();
        for (at, row) in rows.iter_mut().enumerate() {
            let factor = row[column];
            if at != top && factor != 0 {
                let pairs = row.iter_mut().zip(&pivot);
                pairs.for_each(|(x, p)| *x = (*x - factor * p % PRIME).rem_euclid(PRIME));
            }
        }
        pivots.push(column);
    }
    // A column without a pivot is a combination of those before it.
    let free = (1..columns).filter(|c| !pivots.contains(c));
    free.filter_map(|column| {
        let combination: Vec<(usize, i128)> = (pivots.iter().enumerate())
            .map(|(row, pivot)| (*pivot, rows[row][column]))
            .filter(|(_, x)| *x != 0)
            .collect();
        let factor = (1..=8).find(|f| combination.iter().all(|(_, x)| small(x * f).is_some()))?;
        let mut equation = Equation { factor, var: vars[column - 1], sum: vec![], constant: 0 };
        for (pivot, x) in combination {
            match (pivot, small(x * factor)?) {
                (0, c) => equation.constant = c,
                (_, c) => equation.sum.push((c, vars[pivot - 1])),
            }
        }
        // A constant is not a relation.
        (1..VARIABLES).contains(&equation.sum.len()).then_some(equation)
    })
    .collect()
}

/// A small number of either sign.
fn small(x: i128) -> Option<i128> {
    let x = x.rem_euclid(PRIME);
    [x, x - PRIME].into_iter().find(|x| x.abs() <= LARGEST)
}

fn power(mut base: i128, mut exponent: i128) -> i128 {
    let mut result = 1;
    while exponent > 0 {
        if exponent & 1 == 1 {
            result = result * base % PRIME;
        }
        base = base * base % PRIME;
        exponent >>= 1;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_ir::{Type, Var, term};

    fn words(count: u32) -> Cfa {
        let mut cfa = Cfa::new("words");
        for i in 0..count {
            let (name, ty) = (format!("v{i}"), Type::Signed);
            cfa.add_var(Var { name, width: 8, ty, kind: VarKind::State });
        }
        cfa
    }

    /// A counter that goes around is not one that counts on.
    #[test]
    fn bits_that_are_cut_off_count() {
        let mut cfa = words(2);
        let equation = Equation { factor: 1, var: VarId(0), sum: vec![(1, VarId(1))], constant: 0 };
        let one = cfa.pool.constant(1, 8);
        let [x, y] = [0, 1].map(|v| cfa.read(VarId(v)));
        let [x, y] = [x, y].map(|v| cfa.pool.binary(BinOp::Add, v, one));
        let low = cfa.pool.slice(x, 0, 3);
        let low = cfa.pool.extend(low, 8, false);
        let new = HashMap::from_iter([(VarId(0), low), (VarId(1), y)]);
        let holds = equation.holds(&mut cfa, &new);
        let at = |value| eval::expressions(&cfa.pool, &[holds], |_| value, |_| 0);
        assert_eq!([at(6), at(7)], [[1], [0]]);
        // Also of a variable that is whole.
        let [x, y] = [0, 1].map(|v| cfa.read(VarId(v)));
        let low = cfa.pool.slice(x, 0, 3);
        let low = cfa.pool.extend(low, 8, false);
        let new = HashMap::from_iter([(VarId(0), low), (VarId(1), y)]);
        let holds = equation.holds(&mut cfa, &new);
        let at = |value| eval::expressions(&cfa.pool, &[holds], |_| value, |_| 0);
        assert_eq!([at(7), at(8)], [[1], [0]]);
    }

    /// The kernel of samples of `v2 = 3 v0 - v1 + 5` and `2 v3 = v0 + v1` is these two.
    #[test]
    fn equations_of_samples_are_found() {
        let vars: Vec<VarId> = (0..4).map(VarId).collect();
        let mut random = Random { state: 7, constants: vec![] };
        let mut rows = vec![];
        for _ in 0..20 {
            let [a, b] = [0; 2].map(|_| 2 * (random.next() % 50) as i128 - 40);
            rows.push(vec![1, a, b, 3 * a - b + 5, (a + b) / 2]);
        }
        let found = kernel(rows, &vars);
        let equation = |factor, var, sum: [(i128, u32); 2], constant| {
            let sum = sum.map(|(c, v)| (c, VarId(v))).to_vec();
            Equation { factor, var: VarId(var), sum, constant }
        };
        let first = equation(1, 2, [(3, 0), (-1, 1)], 5);
        let second = equation(2, 3, [(1, 0), (1, 1)], 0);
        assert_eq!(found, [first, second]);
    }

    /// What a certificate says of an equation and what edges compute is the same.
    #[test]
    fn terms_and_sums_agree() {
        let mut random = Random { state: 3, constants: vec![] };
        let (mut held, mut failed) = (0, 0);
        for _ in 0..300 {
            let mut cfa = words(3);
            let mut next = |n: i128| random.next() as i128 % (2 * n + 1) - n;
            let sum = vec![(next(3), VarId(0)), (next(3), VarId(1))];
            let sum: Vec<(i128, VarId)> = sum.into_iter().filter(|s| s.0 != 0).collect();
            let equation =
                Equation { factor: 1 + next(1).abs(), var: VarId(2), sum, constant: next(3) };
            let terms = equation.terms(&cfa, 3);
            let value = *term::expressions(&mut cfa, &terms).unwrap().last().unwrap();
            let holds = equation.holds(&mut cfa, &HashMap::default());
            for _ in 0..20 {
                let state = [next(2), next(2), next(4)].map(|x| x as Word & mask(8));
                let read = |v: VarId| state[v.index()];
                let values = eval::expressions(&cfa.pool, &[value, holds], read, |_| 0);
                assert_eq!(values[0], values[1], "{equation:?} in {state:?}");
                held += values[0];
                failed += 1 - values[0];
            }
        }
        assert!(held > 100 && failed > 100, "{held} {failed}");
    }
}
