//! Facts over variables that a certificate's clauses over bits amount to.
//!
//! At each location: first the range of each variable, which may be one value; then each clause, whose literals on one
//! variable become one condition on it. Within the range, bits often mean something that people say: the bits 1 and 0
//! of a number up to 5 are both set if it is 3. What remains is said with a mask. Ranges and conditions together say
//! what the clauses say. Relations of two variables come on top: they are shorter than the clauses that follow from
//! them.

use crate::deadline;
use crate::ir::term::Operand;
use crate::ir::{
    BinOp, BitLit, Certificate, Cfa, Clause, LocId, Term, Type, VarId, VarKind, Word, mask, term,
};
use crate::validate::imply::{Extended, Here};
use std::collections::BTreeMap;

/// Values that are looked at one by one.
const FEW: u32 = 10;
/// Pairs of variables that are compared.
const PAIRS: usize = 200;

/// A clause that people can read.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Fact {
    /// How hard it is to read.
    pub cost: usize,
    /// The literals, over variables of one bit and terms of one bit. The last is the conclusion of the others' negations.
    pub lits: Vec<BitLit>,
}

/// What was found.
pub struct Facts<'a> {
    cfa: &'a Cfa,
    certificate: &'a Certificate,
    widths: Vec<u32>,
    /// What facts speak of besides variables; first the certificate's own.
    pub terms: Vec<Term>,
    /// Locations where runs may be and that have an invariant.
    pub locations: Vec<LocId>,
    /// Locations where no run is.
    pub never: Vec<LocId>,
    /// What holds where.
    pub found: Vec<(LocId, Fact)>,
}

/// The values that a variable may have, as its type orders them.
#[derive(Clone, Copy)]
struct Range {
    var: VarId,
    width: u32,
    low: Word,
    high: Word,
    signed: bool,
}

impl Range {
    /// A number that orders raw values as the type does.
    fn key(&self, raw: Word) -> Word {
        raw ^ if self.signed { 1 << (self.width - 1) } else { 0 }
    }
}

impl<'a> Facts<'a> {
    pub fn new(cfa: &'a Cfa, certificate: &'a Certificate) -> Facts<'a> {
        let has = |l: LocId, empty: bool| {
            let mut clauses = certificate.clauses.iter();
            clauses.any(|c| c.location == l && c.lits.is_empty() == empty)
        };
        let all = (0..cfa.locations.len() as u32).map(LocId);
        let never: Vec<LocId> = all.clone().filter(|l| has(*l, true)).collect();
        let is_place = |l: &LocId| {
            *l != cfa.init
                && !never.contains(l)
                && !certificate.passed.contains(l)
                && !cfa.properties.iter().any(|p| p.error == *l)
        };
        let mut widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
        widths.extend(term::widths(cfa, &certificate.terms).unwrap_or_default());
        Facts {
            cfa,
            certificate,
            widths,
            terms: certificate.terms.clone(),
            locations: all.filter(is_place).collect(),
            never,
            found: vec![],
        }
    }

    /// Locations that runs only pass through.
    pub fn passed(&self) -> &'a [LocId] {
        &self.certificate.passed
    }

    /// Finds them.
    pub fn collect(&mut self) {
        let certificate = self.certificate;
        let Ok(extended) = Extended::new(self.cfa, certificate) else { return };
        for location in self.locations.clone() {
            deadline::look();
            let Ok(mut here) = extended.at(certificate, location) else { continue };
            let ranges = self.ranges(&mut here);
            for range in &ranges {
                self.range(location, range);
            }
            for clause in certificate.clauses.iter().filter(|c| c.location == location) {
                if let Some(fact) = self.lift(clause, &ranges) {
                    self.found.push((location, fact));
                }
            }
            self.pairs(location, &ranges);
        }
    }

    /// The range of each variable.
    fn ranges(&self, here: &mut Here<'_>) -> Vec<Range> {
        let vars = (0..).map(VarId).zip(&self.cfa.vars);
        let range = |(var, v): (VarId, &crate::ir::Var)| {
            let (width, signed) = (v.width, v.ty == Type::Signed);
            let low = here.extreme(var, width, signed, false)?;
            let high = here.extreme(var, width, signed, true)?;
            Some(Range { var, width, low, high, signed })
        };
        vars.filter_map(range).collect()
    }

    fn term(&mut self, op: BinOp, left: Operand, right: Operand) -> VarId {
        let term = Term { op, left, right };
        let at = self.terms.iter().position(|t| *t == term).unwrap_or_else(|| {
            let width = term.width(&self.widths).unwrap_or(1);
            self.terms.push(term);
            self.widths.push(width);
            self.terms.len() - 1
        });
        VarId((self.cfa.vars.len() + at) as u32)
    }

    fn compare(&mut self, op: BinOp, left: Operand, right: Operand) -> BitLit {
        BitLit { var: self.term(op, left, right), bit: 0, value: true }
    }

    fn less_or_equal(&mut self, range: &Range, left: Operand, right: Operand) -> BitLit {
        let op = if range.signed { BinOp::Sle } else { BinOp::Ule };
        self.compare(op, left, right)
    }

    /// What the range of a variable says.
    fn range(&mut self, location: LocId, range: &Range) {
        let Range { var, width, low, high, .. } = *range;
        let v = &self.cfa.vars[var.index()];
        let (least, most) = match v.kind {
            // What is declared is not told again.
            VarKind::Param { min, max } => (min, max),
            VarKind::State => match range.signed {
                true => (1 << (width - 1), mask(width) >> 1),
                false => (0, mask(width)),
            },
        };
        let own = Operand::Var(var);
        let mut lits = vec![];
        if (low, high) == (least, most) {
            return;
        } else if low == high {
            lits.push(self.is(range, low));
        } else {
            if high != most {
                lits.push(self.less_or_equal(range, own, Operand::Const(high)));
            }
            if low != least {
                lits.push(self.less_or_equal(range, Operand::Const(low), own));
            }
        }
        for lit in lits {
            let cost = if low == high { 1 } else { 2 };
            self.found.push((location, Fact { cost, lits: vec![lit] }));
        }
    }

    /// That a variable has a value.
    fn is(&mut self, range: &Range, value: Word) -> BitLit {
        match range.width {
            1 => BitLit { var: range.var, bit: 0, value: value == 1 },
            _ => self.compare(BinOp::Eq, Operand::Var(range.var), Operand::Const(value)),
        }
    }

    /// A clause over bits as one over conditions on variables; `None` if the ranges say as much.
    fn lift(&mut self, clause: &Clause, ranges: &[Range]) -> Option<Fact> {
        // The clause excludes this: bits of each variable that must not all be so.
        let mut excluded: BTreeMap<VarId, (Word, Word)> = BTreeMap::new();
        for lit in &clause.lits {
            let (bits, values) = excluded.entry(lit.var).or_default();
            *bits |= 1 << lit.bit;
            *values |= (!lit.value as Word) << lit.bit;
        }
        let (mut lits, mut conclusion, mut cost) = (vec![], None, 2);
        for (var, (bits, values)) in excluded {
            let range = ranges.iter().find(|r| r.var == var);
            let range = range.copied().unwrap_or_else(|| {
                let width = self.widths[var.index()];
                Range { var, width, low: 0, high: mask(width), signed: false }
            });
            let condition = self.condition(&range, bits, values)?;
            cost += condition.cost;
            match &condition.lits[..] {
                // Always so: the others decide.
                [] => {}
                [only] if conclusion.is_none() || range.width == 1 => {
                    lits.extend(conclusion.replace(*only));
                }
                all => lits.extend(all),
            }
        }
        lits.extend(conclusion);
        let negated = lits.iter().map(|l| BitLit { value: !l.value, ..*l }).collect();
        Some(Fact { cost: cost + 2 * lits.len(), lits: negated })
    }

    /// That certain bits of a variable have certain values, within its range; `None` if that is never so.
    fn condition(&mut self, range: &Range, bits: Word, values: Word) -> Option<Condition> {
        let Range { var, width, low, high, .. } = *range;
        let own = Operand::Var(var);
        if bits == mask(width) {
            let fits = (range.key(low)..=range.key(high)).contains(&range.key(values));
            return fits.then(|| Condition { cost: 1, lits: vec![self.is(range, values)] });
        }
        if width <= FEW {
            let all: Vec<Word> = (range.key(low)..=range.key(high)).map(|k| range.key(k)).collect();
            let so: Vec<Word> = all.iter().copied().filter(|v| v & bits == values).collect();
            let (first, last) = (*so.first()?, *so.last()?);
            if so.len() == all.len() {
                return Some(Condition { cost: 0, lits: vec![] });
            }
            if let [only] = so[..] {
                return Some(Condition { cost: 1, lits: vec![self.is(range, only)] });
            }
            if so.len() + 1 == all.len()
                && let Some(not) = all.iter().find(|v| !so.contains(v))
            {
                let is = self.is(range, *not);
                return Some(Condition { cost: 1, lits: vec![BitLit { value: !is.value, ..is }] });
            }
            if so.len() as Word == range.key(last) - range.key(first) + 1 {
                let mut lits = vec![];
                if first != low {
                    lits.push(self.less_or_equal(range, Operand::Const(first), own));
                }
                if last != high {
                    lits.push(self.less_or_equal(range, own, Operand::Const(last)));
                }
                return Some(Condition { cost: 2 * lits.len(), lits });
            }
        }
        let masked = self.term(BinOp::And, own, Operand::Const(bits));
        let is = self.compare(BinOp::Eq, Operand::Var(masked), Operand::Const(values));
        Some(Condition { cost: 6, lits: vec![is] })
    }

    /// Relations of two numbers that vary. Whether they hold is asked later.
    fn pairs(&mut self, location: LocId, ranges: &[Range]) {
        let vars = &self.cfa.vars;
        let is_number = |r: &&Range| {
            let ty = &vars[r.var.index()].ty;
            r.width > 1 && r.low != r.high && !matches!(ty, Type::Enum(_) | Type::Bool)
        };
        let numbers: Vec<Range> = ranges.iter().filter(is_number).copied().collect();
        let is_param = |r: &Range| vars[r.var.index()].kind != VarKind::State;
        let mut pairs = vec![];
        for a in &numbers {
            for b in &numbers {
                let alike = a.width == b.width && a.signed == b.signed && a.var != b.var;
                let apart = a.key(a.high) <= a.key(b.low) || is_param(a) && is_param(b);
                if alike && !apart {
                    pairs.push((*a, *b));
                }
            }
        }
        pairs.truncate(PAIRS);
        for (a, b) in pairs {
            let (left, right) = (Operand::Var(a.var), Operand::Var(b.var));
            let lit = self.less_or_equal(&a, left, right);
            self.found.push((location, Fact { cost: 3, lits: vec![lit] }));
            if a.var < b.var {
                let lit = self.compare(BinOp::Eq, left, right);
                self.found.push((location, Fact { cost: 2, lits: vec![lit] }));
            }
        }
    }
}

/// A condition on one variable: all of these.
struct Condition {
    cost: usize,
    lits: Vec<BitLit>,
}
