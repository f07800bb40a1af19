//! The abstract domain (§3.1): predicates over words, and which of them count.
//!
//! A predicate is a state bit, or a comparison of words as certificates have it: [`Term`]s, the last of which is one
//! bit. Predicates have numbers, bits first; a literal is `2 * number + sign`, as in answers. Only *active* ones are
//! part of abstract states: bits of wide words are there to describe concrete states, and candidates until
//! somebody needs them.

use crate::blast::Map;
use crate::gates::aig::{Graph, Lit};
use crate::gates::words;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use vouch_ir::{
    BinOp, Cfa, Expr, ExprId, Operand, Term, Type, UnOp, VarId, Word, eval, mask, term,
};

/// Comparisons of the program to begin with, and variables that are all compared with each other.
const FIRST: usize = 60;
const PAIRED: usize = 8;
/// Numbers of the program that words are compared with.
const CONSTANTS: usize = 20;

/// What the bits of an image mean.
#[derive(Clone, PartialEq, Debug)]
pub struct Words {
    /// The automaton that was compiled.
    pub cfa: Cfa,
    /// The image's numbers in it.
    pub map: Map,
}

/// A variable all of whose bits the image has.
#[derive(Clone, Debug)]
pub(super) struct Variable {
    pub var: VarId,
    pub is_signed: bool,
    /// Numbers of its state bits in the image, lowest bit first.
    pub bits: Vec<u32>,
}

/// A comparison of words.
struct Comparison {
    /// Numbers past the automaton's variables are those of terms of this one.
    terms: Vec<Term>,
    /// The state bits that determine it.
    bits: BTreeSet<u32>,
}

/// The predicates that cubes and lemmas are made of: state bits, and comparisons of words.
pub(super) struct Domain {
    /// Words that predicates can speak of.
    pub variables: Vec<Variable>,
    /// Numbers that the program knows.
    pub constants: Vec<i128>,
    bits: usize,
    /// Variables of the automaton.
    vars: usize,
    comparisons: Vec<Comparison>,
    known: HashMap<Vec<Term>, usize>,
    active: BTreeSet<u32>,
}

impl Domain {
    /// The initial domain (§3.6): Boolean variables, comparisons of the program, pairs of variables. Where nobody
    /// says what bits mean, all of them.
    pub fn new(bits: usize, words: Option<&Words>) -> Domain {
        let mut domain = Domain {
            variables: vec![],
            constants: vec![],
            bits,
            vars: 0,
            comparisons: vec![],
            known: HashMap::default(),
            active: BTreeSet::new(),
        };
        let Some(Words { cfa, map }) = words.filter(|w| w.map.bits.len() == bits) else {
            domain.active.extend(0..bits as u32);
            return domain;
        };
        domain.vars = cfa.vars.len();
        domain.constants = constants(cfa);
        let mut of: HashMap<VarId, Vec<(u32, u32)>> = HashMap::default();
        for (global, (var, bit)) in (0..).zip(&map.bits) {
            of.entry(*var).or_default().push((*bit, global));
        }
        for (var, own) in (0..).map(VarId).zip(&cfa.vars) {
            let Some(mut bits) = of.remove(&var) else { continue };
            bits.sort_unstable();
            let is_whole = bits.len() == own.width as usize;
            let bits: Vec<u32> = bits.into_iter().map(|b| b.1).collect();
            if own.width == 1 || !is_whole {
                domain.active.extend(bits);
            } else {
                domain.variables.push(Variable { var, is_signed: own.ty == Type::Signed, bits });
            }
        }
        for terms in comparisons(cfa).into_iter().take(FIRST) {
            domain.activate(terms);
        }
        let few = domain.variables.iter().take(PAIRED).cloned().collect::<Vec<_>>();
        for (at, a) in few.iter().enumerate() {
            for b in few[at + 1..].iter().filter(|b| b.bits.len() == a.bits.len()) {
                domain.activate(vec![less(a, b)]);
                domain.activate(vec![less(b, a)]);
            }
        }
        domain
    }

    fn activate(&mut self, terms: Vec<Term>) {
        if let Some(number) = self.number(terms) {
            self.active.insert(number);
        }
    }

    /// The number of a comparison; `None` if it is not one of words that the image has.
    pub fn number(&mut self, terms: Vec<Term>) -> Option<u32> {
        if let Some(known) = self.known.get(&terms) {
            return Some((self.bits + known) as u32);
        }
        let mut bits = BTreeSet::new();
        let operands = terms.iter().flat_map(|t| [t.left, t.right]);
        for operand in operands {
            let Operand::Var(var) = operand else { continue };
            if var.index() < self.vars {
                bits.extend(&self.variables.iter().find(|v| v.var == var)?.bits);
            }
        }
        self.known.insert(terms.clone(), self.comparisons.len());
        self.comparisons.push(Comparison { terms, bits });
        Some((self.bits + self.comparisons.len() - 1) as u32)
    }

    /// The cube with all bits of the words that it has bits of, as in the state (§3.2: a lifted state gives
    /// values to some of the variables).
    pub fn whole(&self, cube: Vec<u32>, state: &[u32]) -> Vec<u32> {
        let has = |bit: &u32| {
            cube.binary_search(&(2 * bit)).is_ok() || cube.binary_search(&(2 * bit + 1)).is_ok()
        };
        let named = self.variables.iter().filter(|v| v.bits.iter().any(has));
        let bits = named.flat_map(|v| v.bits.iter().flat_map(|bit| [2 * bit, 2 * bit + 1]));
        let mut whole = cube.clone();
        whole.extend(bits.filter(|lit| state.binary_search(lit).is_ok()));
        whole.sort_unstable();
        whole.dedup();
        whole
    }

    /// The operand that is a term of a comparison.
    pub fn term(&self, number: usize) -> Operand {
        Operand::Var(VarId((self.vars + number) as u32))
    }

    /// It counts from now on.
    pub fn add(&mut self, predicate: u32) {
        self.active.insert(predicate);
    }

    /// The active predicates, ascending.
    pub fn active(&self) -> impl Iterator<Item = u32> + '_ {
        self.active.iter().copied()
    }

    /// Whether a location with these live bits, ascending, has all that a predicate needs.
    pub fn is_at(&self, predicate: u32, has: impl Fn(u32) -> bool) -> bool {
        match (predicate as usize).checked_sub(self.bits) {
            None => has(predicate),
            Some(at) => self.comparisons[at].bits.iter().all(|bit| has(*bit)),
        }
    }

    /// Whether two predicates have bits in common.
    pub fn overlap(&self, a: u32, b: u32) -> bool {
        self.reads(a, |bit| self.reads(b, |other| other == bit))
    }

    /// Whether one of these bits matters to a predicate.
    pub fn reads(&self, predicate: u32, bit: impl Fn(u32) -> bool) -> bool {
        match (predicate as usize).checked_sub(self.bits) {
            None => bit(predicate),
            Some(at) => self.comparisons[at].bits.iter().any(|own| bit(*own)),
        }
    }

    /// A predicate as a gate, given those of the bits; `None` if one of these is missing.
    pub fn gate(
        &self,
        graph: &mut Graph,
        predicate: u32,
        bit: impl Fn(u32) -> Option<Lit>,
    ) -> Option<Lit> {
        let Some(at) = (predicate as usize).checked_sub(self.bits) else { return bit(predicate) };
        let mut made: Vec<Vec<Lit>> = vec![];
        for term in &self.comparisons[at].terms {
            let word = |operand: Operand| -> Option<Vec<Lit>> {
                let Operand::Var(var) = operand else { return None };
                if let Some(term) = var.index().checked_sub(self.vars) {
                    return made.get(term).cloned();
                }
                let own = self.variables.iter().find(|v| v.var == var)?;
                own.bits.iter().map(|b| bit(*b)).collect()
            };
            let (left, right) = (word(term.left), word(term.right));
            let width = left.as_ref().or(right.as_ref())?.len() as u32;
            let side = |word: Option<Vec<Lit>>, operand| match operand {
                Operand::Const(value) => Some(words::constant(value, width)),
                Operand::Var(_) => word,
            };
            let (a, b) = (side(left, term.left)?, side(right, term.right)?);
            made.push(match term.op {
                BinOp::And => words::bitwise(graph, &a, &b, Graph::and),
                BinOp::Or => words::bitwise(graph, &a, &b, Graph::or),
                BinOp::Xor => words::bitwise(graph, &a, &b, Graph::xor),
                BinOp::Add => words::add(graph, &a, &b),
                BinOp::Sub => words::sub(graph, &a, &b),
                BinOp::Mul => words::mul(graph, &a, &b),
                op => vec![compared(graph, op, &a, &b)?],
            });
        }
        made.pop()?.first().copied()
    }

    /// Clauses in terms of an answer: its terms, and its literals.
    pub fn answer(&self, clauses: &mut [(usize, Vec<u32>)]) -> Vec<Term> {
        let mut terms: Vec<Term> = vec![];
        let mut lasts: HashMap<usize, u32> = HashMap::default();
        for lit in clauses.iter_mut().flat_map(|c| &mut c.1) {
            let Some(at) = (*lit as usize / 2).checked_sub(self.bits) else { continue };
            let last = *lasts.entry(at).or_insert_with(|| {
                let first = terms.len() as u32;
                terms.extend(self.comparisons[at].terms.iter().map(|term| {
                    let shifted = |operand| match operand {
                        Operand::Var(var) if var.index() >= self.vars => {
                            Operand::Var(VarId(var.0 + first))
                        }
                        other => other,
                    };
                    Term { op: term.op, left: shifted(term.left), right: shifted(term.right) }
                }));
                terms.len() as u32 - 1
            });
            *lit = crate::answer::TERM + 2 * last + (*lit & 1);
        }
        terms
    }
}

/// A comparison of two words; `None` if it is another operation.
pub(super) fn compared(graph: &mut Graph, op: BinOp, a: &[Lit], b: &[Lit]) -> Option<Lit> {
    Some(match op {
        BinOp::Eq => words::equal(graph, a, b),
        BinOp::Ult => words::less(graph, a, b),
        BinOp::Ule => !words::less(graph, b, a),
        BinOp::Slt => words::signed_less(graph, a, b),
        BinOp::Sle => !words::signed_less(graph, b, a),
        _ => return None,
    })
}

/// Less, and at most.
pub(super) fn orders(is_signed: bool) -> (BinOp, BinOp) {
    match is_signed {
        true => (BinOp::Slt, BinOp::Sle),
        false => (BinOp::Ult, BinOp::Ule),
    }
}

/// `a < b`.
fn less(a: &Variable, b: &Variable) -> Term {
    let (op, _) = orders(a.is_signed);
    Term { op, left: Operand::Var(a.var), right: Operand::Var(b.var) }
}

/// The comparisons of a program that do not read inputs, as terms.
pub(super) fn comparisons(cfa: &Cfa) -> Vec<Vec<Term>> {
    let mut found: Vec<Vec<Term>> = vec![];
    for edge in &cfa.edges {
        for id in cfa.pool.cone(edge.roots()) {
            let Expr::Binary(op, ..) = cfa.pool.get(id) else { continue };
            if !matches!(op, BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle) {
                continue;
            }
            let mut terms = vec![];
            if convert(cfa, id, &mut terms).is_some()
                && term::widths(cfa, &terms).is_ok_and(|w| w.last() == Some(&1))
                && !found.contains(&terms)
            {
                found.push(terms);
            }
        }
    }
    found
}

/// The numbers of a program that are nearest to 0, and those next to it.
fn constants(cfa: &Cfa) -> Vec<i128> {
    let mut found = BTreeSet::from([-1, 0, 1]);
    for edge in &cfa.edges {
        for id in cfa.pool.cone(edge.roots()) {
            if let Expr::Const(value) = cfa.pool.get(id) {
                found.insert(eval::sign_extend(value, cfa.pool.width(id)) as i128);
            }
        }
    }
    let mut found: Vec<i128> = found.into_iter().collect();
    found.sort_by_key(|c| c.unsigned_abs());
    found.truncate(CONSTANTS);
    found
}

/// An expression as an operand, with the terms that it needs.
fn convert(cfa: &Cfa, id: ExprId, terms: &mut Vec<Term>) -> Option<Operand> {
    if terms.len() > 8 {
        return None;
    }
    let width = cfa.pool.width(id);
    let (op, left, right) = match cfa.pool.get(id) {
        Expr::Const(value) => return Some(Operand::Const(value)),
        Expr::Var(var) => return Some(Operand::Var(var)),
        Expr::Unary(UnOp::Neg, x) => (BinOp::Sub, Operand::Const(0), convert(cfa, x, terms)?),
        Expr::Unary(UnOp::Not, x) => {
            (BinOp::Xor, convert(cfa, x, terms)?, Operand::Const(mask(width)))
        }
        Expr::Binary(op, a, b) => {
            let minus = Operand::Const(mask(width));
            match (op, convert(cfa, a, terms)?, convert(cfa, b, terms)?) {
                // Whoever checks it need not multiply.
                (BinOp::Mul, x, c) | (BinOp::Mul, c, x) if c == minus => {
                    (BinOp::Sub, Operand::Const(0), x)
                }
                other => other,
            }
        }
        _ => return None,
    };
    terms.push(Term { op, left, right });
    Some(Operand::Var(VarId((cfa.vars.len() + terms.len() - 1) as u32)))
}

/// A value as a constant of so many bits.
pub(super) fn constant(value: i128, width: usize) -> Operand {
    Operand::Const(value as Word & mask(width as u32))
}
