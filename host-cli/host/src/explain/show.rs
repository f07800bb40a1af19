//! Facts and places as people write them.

use super::facts::Fact;
use crate::ir::formats::Names;
use crate::ir::term::{Operand, symbol};
use crate::ir::{BinOp, BitLit, Cfa, LocId, Term, Type, VarId, Word, term, value};
use crate::words::Words;
use std::collections::BTreeSet;

/// A fact: `locked`, `level <= 5`, `door == Open => !moving`.
pub fn fact(cfa: &Cfa, terms: &[Term], fact: &Fact) -> String {
    let widths = term::widths(cfa, terms).unwrap_or_default();
    let writer = Writer { cfa, terms, widths, names: Names::with_terms(cfa, terms) };
    let Some((conclusion, conditions)) = fact.lits.split_last() else { return "false".into() };
    let conclusion = writer.lit(conclusion);
    if conditions.is_empty() {
        return conclusion;
    }
    let not = |l: &BitLit| writer.lit(&BitLit { value: !l.value, ..*l });
    let conditions: Vec<String> = conditions.iter().map(not).collect();
    format!("{} => {conclusion}", conditions.join(" && "))
}

struct Writer<'a> {
    cfa: &'a Cfa,
    terms: &'a [Term],
    /// Of the terms.
    widths: Vec<u32>,
    names: Names,
}

impl Writer<'_> {
    fn lit(&self, lit: &BitLit) -> String {
        match self.term(lit.var) {
            Some(term) if is_relation(term.op) => self.relation(term, lit.value),
            _ => {
                let (name, ty) = (self.name(lit.var), self.ty(lit.var));
                match ty {
                    Some(ty @ Type::Enum(_)) => {
                        format!("{name} == {}", value::show(ty, 1, lit.value as Word))
                    }
                    _ => format!("{}{name}", if lit.value { "" } else { "!" }),
                }
            }
        }
    }

    fn relation(&self, term: &Term, holds: bool) -> String {
        // A constant is on the right.
        let swapped = matches!(term.left, Operand::Const(_));
        let (left, right) = if swapped { (term.right, term.left) } else { (term.left, term.right) };
        let sign = match (term.op, holds, swapped) {
            (BinOp::Eq, true, _) => "==",
            (BinOp::Eq, false, _) => "!=",
            (BinOp::Ule | BinOp::Sle, true, false) => "<=",
            (BinOp::Ule | BinOp::Sle, true, true) => ">=",
            (BinOp::Ule | BinOp::Sle, false, false) => ">",
            (BinOp::Ule | BinOp::Sle, false, true) => "<",
            (_, true, false) => "<",
            (_, true, true) => ">",
            (_, false, false) => ">=",
            (_, false, true) => "<=",
        };
        // A constant is shown as a value of what it is compared with.
        let right = match (left, right) {
            (Operand::Var(var), Operand::Const(word)) => {
                let signed = matches!(term.op, BinOp::Slt | BinOp::Sle).then_some(&Type::Signed);
                match self.ty(var).or(signed) {
                    Some(ty) => value::show(ty, self.width(var), word),
                    None => word.to_string(),
                }
            }
            (_, right) => self.operand(right),
        };
        format!("{} {sign} {right}", self.operand(left))
    }

    fn operand(&self, operand: Operand) -> String {
        match operand {
            Operand::Var(var) => self.name(var),
            Operand::Const(word) => word.to_string(),
        }
    }

    fn width(&self, var: VarId) -> u32 {
        match var.index().checked_sub(self.cfa.vars.len()) {
            Some(term) => self.widths.get(term).copied().unwrap_or(1),
            None => self.cfa.vars[var.index()].width,
        }
    }

    fn ty(&self, var: VarId) -> Option<&Type> {
        self.cfa.vars.get(var.index()).map(|v| &v.ty)
    }

    fn name(&self, var: VarId) -> String {
        let Some(term) = self.term(var) else { return self.names.var(var) };
        // A chain of sums needs no parentheses, as long as it grows at the left.
        let is_sum = |op| matches!(op, BinOp::Add | BinOp::Sub);
        let side = |operand, is_left: bool| {
            let inner = match operand {
                Operand::Var(var) => self.term(var),
                Operand::Const(_) => None,
            };
            let is_plain = |inner: &Term| {
                inner.op == BinOp::Mul && is_sum(term.op)
                    || is_left && is_sum(inner.op) && is_sum(term.op)
            };
            match inner.is_none_or(is_plain) {
                true => self.operand(operand),
                false => format!("({})", self.operand(operand)),
            }
        };
        format!("{} {} {}", side(term.left, true), symbol(term.op), side(term.right, false))
    }

    fn term(&self, var: VarId) -> Option<&Term> {
        self.terms.get(var.index().checked_sub(self.cfa.vars.len())?)
    }
}

fn is_relation(op: BinOp) -> bool {
    matches!(op, BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle)
}

/// Some of all locations: `always`, `in doors.Open`, or a list of them.
pub fn place(words: &Words<'_>, all: &[LocId], some: &BTreeSet<LocId>) -> String {
    if all.len() == some.len() {
        return "always".into();
    }
    let states = |l: &LocId| words.states(*l);
    let machines = all.first().and_then(states).map_or(0, |s| s.len());
    for m in 0..machines {
        let state = |l: &LocId| states(l).and_then(|s| s.into_iter().nth(m));
        let here: BTreeSet<_> = some.iter().filter_map(state).collect();
        let is_here = |l: &&LocId| state(l).is_some_and(|s| here.contains(&s));
        if all.iter().filter(is_here).count() == some.len() {
            let name = |(machine, state): &(String, String)| match machines {
                1 => state.clone(),
                _ => format!("{machine}.{state}"),
            };
            return format!("in {}", here.iter().map(name).collect::<Vec<_>>().join(", "));
        }
    }
    format!("in {}", listed(words, some))
}

/// A list of locations.
pub fn listed(words: &Words<'_>, some: &BTreeSet<LocId>) -> String {
    some.iter().map(|l| words.place(*l)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::mask;
    use crate::ir::sample::state_var;

    /// Sums say what they are: with parentheses where they are needed, and numbers with their sign.
    #[test]
    fn sums_are_written_as_they_are() {
        let mut cfa = Cfa::new("sums");
        let [i, n] = ["i", "n"].map(|name| cfa.add_var(state_var(name, 32, Type::Signed)));
        let (var, own) = (Operand::Var, |at: u32| Operand::Var(VarId(2 + at)));
        let term = |op, left, right| Term { op, left, right };
        let terms = [
            term(BinOp::Add, var(n), var(n)),
            term(BinOp::Sub, var(i), own(0)),
            term(BinOp::Sle, Operand::Const(mask(32)), own(1)),
            term(BinOp::Mul, var(n), Operand::Const(3)),
            term(BinOp::Sub, own(1), own(3)),
            term(BinOp::Sle, own(4), Operand::Const(7)),
        ];
        let shown = |at: u32| {
            let lits = vec![BitLit { var: VarId(2 + at), bit: 0, value: true }];
            fact(&cfa, &terms, &Fact { cost: 0, lits })
        };
        assert_eq!(shown(2), "i - (n + n) >= -1");
        assert_eq!(shown(5), "i - (n + n) - n * 3 <= 7");
    }
}
