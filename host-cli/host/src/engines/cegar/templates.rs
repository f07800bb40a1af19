//! Templates for bounds: sums of words, and ladders of comparisons of them.

use super::domain::{Domain, Variable, comparisons, constant, orders};
use crate::simplify::affine;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{BinOp, Cfa, Operand, Term, VarId, Word, eval, mask};

/// Words that sums are made of, those first that the program compares; and their widths.
const WORDS: usize = 12;
const WIDTHS: std::ops::RangeInclusive<usize> = 4..=64;
/// Sums that are bounded, and sums times edges: each is a value on each edge.
const SUMS: usize = 120;
const WORK: usize = 20_000;
/// Words of a sum, and the largest factor of one.
const PARTS: usize = 4;
const LARGEST: i128 = 64;
/// Larger factors are harder to reason about.
const EASY: i128 = 2;

/// A sum of multiples of words of one width.
pub type Sum = Vec<(i128, VarId)>;

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// The sum of this number.
    Sum(usize),
    /// A constant.
    Number(Word),
}

/// A comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rung {
    /// How its sides are compared.
    pub op: BinOp,
    pub left: Side,
    pub right: Side,
}

/// Comparisons of the same sums, each weaker than the one before.
pub type Ladder = Vec<Rung>;

/// What may be bounded.
#[derive(Default)]
pub struct Templates {
    pub sums: Vec<Sum>,
    /// Of the words of each sum.
    widths: Vec<u32>,
    /// Numbers that the program knows.
    near: Vec<i128>,
    /// What is tried first, and what is tried then.
    pub stages: [Vec<Ladder>; 2],
}

impl Templates {
    /// Those for a program.
    pub fn of(cfa: &Cfa, domain: &Domain) -> Templates {
        let compared: Vec<[Sum; 2]> =
            comparisons(cfa).iter().filter_map(|c| sides(cfa, c)).collect();
        let named: BTreeSet<VarId> = compared.iter().flatten().flatten().map(|p| p.1).collect();
        let mut words: Vec<&Variable> =
            domain.variables.iter().filter(|v| WIDTHS.contains(&v.bits.len())).collect();
        words.sort_by_key(|v| !named.contains(&v.var));
        words.truncate(WORDS);
        let mut all = Templates { near: domain.constants.clone(), ..Templates::default() };
        for word in &words {
            all.bound(cfa, 0, vec![(1, word.var)], word.is_signed);
        }
        all.orders(cfa, &words, &compared);
        // What random runs have in common.
        for width in words.iter().map(|w| w.bits.len()).collect::<BTreeSet<usize>>() {
            let even = words.iter().filter(|w| w.bits.len() == width);
            let even: Vec<VarId> = even.map(|w| w.var).collect();
            for equation in affine::equations(cfa, &even) {
                let (parts, number) = equation.sum();
                let left = Side::Sum(all.sum(cfa, parts));
                let right = Side::Number(number as Word & mask(width as u32));
                all.stages[0].push(vec![Rung { op: BinOp::Eq, left, right }]);
            }
        }
        for (stage, sum) in sums(cfa, &words, &compared) {
            all.bound(cfa, stage, sum, true);
        }
        all
    }

    fn sum(&mut self, cfa: &Cfa, sum: Sum) -> usize {
        if let Some(known) = self.sums.iter().position(|own| *own == sum) {
            return known;
        }
        self.widths.push(sum.first().map_or(1, |part| cfa.vars[part.1.index()].width));
        self.sums.push(sum);
        self.sums.len() - 1
    }

    /// What a sum is at most, and at least.
    fn bound(&mut self, cfa: &Cfa, stage: usize, sum: Sum, is_signed: bool) {
        let (_, op) = orders(is_signed);
        let sum = self.sum(cfa, sum);
        let width = self.widths[sum];
        let numbers = numbers(&self.near, width, is_signed);
        let number = |n: &i128| Side::Number(*n as Word & mask(width));
        let sum = Side::Sum(sum);
        let above = |n| Rung { op, left: sum, right: number(n) };
        let below = |n| Rung { op, left: number(n), right: sum };
        self.stages[stage].push(numbers.iter().map(above).collect());
        self.stages[stage].push(numbers.iter().rev().map(below).collect());
    }

    /// Which of two words is less, and which of a word and what the program compares with one.
    fn orders(&mut self, cfa: &Cfa, words: &[&Variable], compared: &[[Sum; 2]]) {
        let word = |sum: &Sum| match sum[..] {
            [(1, var)] => words.iter().find(|w| w.var == var),
            _ => None,
        };
        let mut all: Vec<Sum> = words.iter().map(|w| vec![(1, w.var)]).collect();
        for sum in compared.iter().flatten().filter(|sum| is_usable(cfa, sum, words)) {
            if !all.contains(sum) {
                all.push(sum.clone());
            }
        }
        for a in &all {
            for b in &all {
                if word(a).or(word(b)).is_none() {
                    continue;
                }
                let is_signed = [word(a), word(b)].iter().flatten().all(|w| w.is_signed);
                let (left, right) = (self.sum(cfa, a.clone()), self.sum(cfa, b.clone()));
                if left != right && self.widths[left] == self.widths[right] {
                    let (less, at_most) = orders(is_signed);
                    let (left, right) = (Side::Sum(left), Side::Sum(right));
                    let is_easy = [a, b].iter().all(|s| s.iter().all(|part| part.0.abs() <= EASY));
                    let stage = !is_easy as usize;
                    self.stages[stage]
                        .push([less, at_most].map(|op| Rung { op, left, right }).into());
                }
            }
        }
    }

    /// The width of what a comparison compares.
    pub fn width(&self, rung: &Rung) -> u32 {
        match (rung.left, rung.right) {
            (Side::Sum(sum), _) | (_, Side::Sum(sum)) => self.widths[sum],
            _ => 1,
        }
    }

    /// Whether a comparison holds in a state, which has the values of all variables.
    pub fn holds(&self, rung: &Rung, state: &[Word]) -> bool {
        let width = self.width(rung);
        let value = |side| match side {
            Side::Number(number) => number,
            Side::Sum(sum) => {
                let parts = self.sums[sum].iter();
                let part = |(f, v): &(i128, VarId)| state[v.index()].wrapping_mul(*f as Word);
                parts.fold(0, |all: Word, p| all.wrapping_add(part(p))) & mask(width)
            }
        };
        eval::binary(rung.op, value(rung.left), value(rung.right), width, width) == 1
    }

    /// A comparison as certificates have it.
    pub fn terms(&self, rung: &Rung, domain: &Domain) -> Vec<Term> {
        let width = self.width(rung) as usize;
        let mut terms: Vec<Term> = vec![];
        let mut side = |side| match side {
            Side::Number(number) => Operand::Const(number),
            Side::Sum(sum) => written(&self.sums[sum], width, domain, &mut terms),
        };
        let (left, right) = (side(rung.left), side(rung.right));
        terms.push(Term { op: rung.op, left, right });
        terms
    }
}

/// A sum as an operand, with the terms that it needs.
fn written(sum: &Sum, width: usize, domain: &Domain, terms: &mut Vec<Term>) -> Operand {
    let mut add = |op, left, right| {
        terms.push(Term { op, left, right });
        domain.term(terms.len() - 1)
    };
    let mut all: Option<Operand> = None;
    for (factor, var) in sum {
        let part = match factor.abs() {
            1 => Operand::Var(*var),
            more => add(BinOp::Mul, Operand::Var(*var), constant(more, width)),
        };
        all = Some(match (all, *factor > 0) {
            (None, true) => part,
            (None, false) => add(BinOp::Sub, constant(0, width), part),
            (Some(left), true) => add(BinOp::Add, left, part),
            (Some(left), false) => add(BinOp::Sub, left, part),
        });
    }
    all.unwrap_or(Operand::Const(0))
}

/// Whether a sum is one of a few words of one width, with small factors.
fn is_usable(cfa: &Cfa, sum: &Sum, words: &[&Variable]) -> bool {
    let width = |part: &(i128, VarId)| cfa.vars[part.1.index()].width;
    let is_word = |part: &(i128, VarId)| words.iter().any(|w| w.var == part.1);
    (1..=PARTS).contains(&sum.len())
        && sum.iter().all(|part| width(part) == width(&sum[0]))
        && sum.iter().all(|part| part.0.abs() <= LARGEST && is_word(part))
}

/// The sums whose bounds may matter, and when to try them: what the program compares, and differences; then multiples that
/// it knows, what it compares and another word, sums of two.
fn sums(cfa: &Cfa, words: &[&Variable], compared: &[[Sum; 2]]) -> Vec<(usize, Sum)> {
    let mut all: Vec<(usize, Sum)> = vec![];
    let mut add = |stage: usize, sum: Sum| {
        let mut sum = merged(sum);
        if sum.first().is_some_and(|part| part.0 < 0) {
            sum.iter_mut().for_each(|part| part.0 = -part.0);
        }
        if sum.len() > 1
            && is_usable(cfa, &sum, words)
            && all.iter().all(|(_, other)| *other != sum)
        {
            all.push((stage, sum));
        }
    };
    let pairs = || {
        let one = |at: usize| words[at + 1..].iter().map(move |b| (words[at].var, b.var));
        (0..words.len()).flat_map(one)
    };
    let minus = |[a, b]: &[Sum; 2]| [&a[..], &times(b, -1)].concat();
    let differences: Vec<Sum> = compared.iter().map(minus).collect();
    // Longer ones are harder to reason about, and seldom needed.
    differences.iter().for_each(|sum| add((sum.len() > 2) as usize, sum.clone()));
    pairs().for_each(|(a, b)| add(0, vec![(1, a), (-1, b)]));
    let factors = differences.iter().flatten().map(|part| part.0.abs()).chain([2]);
    for factor in factors.filter(|f| *f > 1).collect::<BTreeSet<i128>>() {
        pairs().for_each(|(a, b)| add(1, vec![(factor, a), (-1, b)]));
        pairs().for_each(|(a, b)| add(1, vec![(1, a), (-factor, b)]));
    }
    for sum in &differences {
        for word in words {
            add(1, [&sum[..], &[(1, word.var)]].concat());
            add(1, [&sum[..], &[(-1, word.var)]].concat());
        }
    }
    pairs().for_each(|(a, b)| add(1, vec![(1, a), (1, b)]));
    all.truncate(SUMS.min(WORK / cfa.edges.len().max(1)));
    all
}

/// The sides of a comparison without their constants, if they are sums.
fn sides(cfa: &Cfa, terms: &[Term]) -> Option<[Sum; 2]> {
    let vars = cfa.vars.len();
    let mut made: Vec<Sum> = vec![];
    let side = |made: &[Sum], operand| -> Option<Sum> {
        match operand {
            Operand::Const(_) => Some(vec![]),
            Operand::Var(var) if var.index() < vars => Some(vec![(1, var)]),
            Operand::Var(var) => made.get(var.index() - vars).cloned(),
        }
    };
    let (last, parts) = terms.split_last()?;
    for term in parts {
        let (left, right) = (side(&made, term.left)?, side(&made, term.right)?);
        made.push(merged(match (term.op, term.left, term.right) {
            (BinOp::Add, ..) => [left, right].concat(),
            (BinOp::Sub, ..) => [left, times(&right, -1)].concat(),
            (BinOp::Mul, Operand::Const(c), _) if c <= LARGEST as Word => times(&right, c as i128),
            (BinOp::Mul, _, Operand::Const(c)) if c <= LARGEST as Word => times(&left, c as i128),
            _ => return None,
        }));
    }
    Some([side(&made, last.left)?, side(&made, last.right)?])
}

fn times(sum: &Sum, by: i128) -> Sum {
    sum.iter().map(|(factor, var)| (factor * by, *var)).collect()
}

/// Each word once, ascending.
fn merged(sum: Sum) -> Sum {
    let mut parts: BTreeMap<VarId, i128> = BTreeMap::new();
    sum.iter().for_each(|(factor, var)| *parts.entry(*var).or_default() += factor);
    parts.into_iter().filter(|part| part.1 != 0).map(|(var, factor)| (factor, var)).collect()
}

/// Numbers and those near them, ascending.
fn numbers(constants: &[i128], width: u32, is_signed: bool) -> Vec<i128> {
    let whole = 1i128 << width;
    let near = |c: &i128| (c - 2..=c + 2).chain(-c - 1..=-c + 1);
    let all = constants.iter().flat_map(near).filter_map(|c| match is_signed {
        true => (-whole / 2..whole / 2).contains(&c).then_some(c),
        false => Some(c.rem_euclid(whole)),
    });
    all.collect::<BTreeSet<i128>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::cegar::domain::Words;
    use crate::pipeline;
    use vouch_ir::sample::Random;
    use vouch_ir::term;

    /// Each rung is weaker than the one before, and certificates say the same.
    #[test]
    fn rungs_are_weaker_and_weaker() {
        let text = "machine sums {
            input go: bool;
            var x: i8 = 0; var y: i8 = 0; var n: u8 = 3; var m: u8 = 0;
            initial state Run {
                on go && x + 2 < y { x = x + 1; m = m + 2; }
                on x <= 5 { y = y + 1; }
                on n < m { n = n + 1; }
            }
            property p: always 2 * m - n != 77;
        }";
        let source = crate::frontend::source::Source { path: "sums.vch".into(), text: text.into() };
        let options = pipeline::Options::default();
        let model = pipeline::compile(source, crate::frontend::Language::Vch, &options).unwrap();
        let mut cfa = model.simplified.cfa.clone();
        let words = Words { cfa: cfa.clone(), map: model.map.clone() };
        let domain = Domain::new(model.map.bits.len(), Some(&words));
        let templates = Templates::of(&cfa, &domain);
        let ladders: Vec<&Ladder> = templates.stages.iter().flatten().collect();
        assert!(ladders.len() > 20, "{}", ladders.len());
        let mut random = Random::new(1);
        let states: Vec<Vec<Word>> =
            (0..200).map(|_| cfa.vars.iter().map(|var| random.word(var.width)).collect()).collect();
        for ladder in ladders {
            for state in &states {
                let holds: Vec<bool> = ladder.iter().map(|r| templates.holds(r, state)).collect();
                assert!(holds.is_sorted(), "{ladder:?} in {state:?}: {holds:?}");
            }
            let rung = &ladder[ladder.len() / 2];
            let terms = templates.terms(rung, &domain);
            let value = *term::expressions(&mut cfa, &terms).unwrap().last().unwrap();
            for state in &states {
                let values = eval::expressions(&cfa.pool, &[value], |v| state[v.index()], |_| 0);
                assert_eq!(values[0] == 1, templates.holds(rung, state), "{rung:?} in {state:?}");
            }
        }
    }
}
