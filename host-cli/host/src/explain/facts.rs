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

/// Values that are looked at one by one, at most.
const FEW: Word = 1024;
/// Beyond so many facts nobody reads them, and only the clauses themselves are lifted.
const FACTS: usize = 4000;
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

    /// Fills `found` with the facts of each location: ranges, lifted clauses, relations.
    pub fn collect(&mut self) {
        let certificate = self.certificate;
        let Ok(extended) = Extended::new(self.cfa, certificate) else { return };
        let Ok(asked) = extended.of(certificate) else { return };
        for location in self.locations.clone() {
            deadline::look();
            let mut here = asked.at(location);
            let ranges = self.ranges(&mut here);
            for range in &ranges {
                self.range(location, range);
            }
            for clause in certificate.clauses.iter().filter(|c| c.location == location) {
                if let Some(fact) = self.lift(clause, &ranges) {
                    self.found.push((location, fact));
                }
                if self.found.len() < FACTS {
                    self.strengthen(&mut here, clause, &ranges);
                    self.relate(clause, &ranges);
                }
            }
            self.pairs(location, &ranges);
        }
    }

    /// The range of each variable.
    fn ranges(&self, here: &mut Here<'_, '_>) -> Vec<Range> {
        let vars = (0..).map(VarId).zip(&self.cfa.vars);
        let range = |(var, v): (VarId, &crate::ir::Var)| {
            let (width, signed) = (v.width, v.ty == Type::Signed);
            let low = here.extreme(var, width, signed, false, &[])?;
            let high = here.extreme(var, width, signed, true, &[])?;
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
        let width = range.width;
        let (low, high) = match self.cfa.vars[range.var.index()].kind {
            // What is declared is not told again.
            VarKind::Param { min, max } => (min, max),
            VarKind::State if range.signed => (1 << (width - 1), mask(width) >> 1),
            VarKind::State => (0, mask(width)),
        };
        let cost = if range.low == range.high { 1 } else { 2 };
        for lit in self.narrowed(range, &Range { low, high, ..*range }) {
            self.found.push((location, Fact { cost, lits: vec![lit] }));
        }
    }

    /// What a range says beyond a larger one.
    fn narrowed(&mut self, range: &Range, larger: &Range) -> Vec<BitLit> {
        let own = Operand::Var(range.var);
        let mut lits = vec![];
        if (range.low, range.high) == (larger.low, larger.high) {
            return lits;
        }
        if range.low == range.high {
            return vec![self.is(range, range.low)];
        }
        if range.high != larger.high {
            lits.push(self.less_or_equal(range, own, Operand::Const(range.high)));
        }
        if range.low != larger.low {
            lits.push(self.less_or_equal(range, Operand::Const(range.low), own));
        }
        lits
    }

    /// Several clauses may say one thing of a number: where the rest of a clause is false, how large it can be.
    fn strengthen(&mut self, here: &mut Here<'_, '_>, clause: &Clause, ranges: &[Range]) {
        let mut numbers: Vec<&Range> = ranges.iter().filter(|r| r.width > 1).collect();
        numbers.retain(|r| clause.lits.iter().any(|l| l.var == r.var));
        for range in numbers {
            let (_, others): (Vec<BitLit>, Vec<BitLit>) =
                clause.lits.iter().partition(|l| l.var == range.var);
            let given: Vec<BitLit> = others.iter().copied().map(negated).collect();
            let Range { var, width, signed, .. } = *range;
            let mut extreme = |largest| here.extreme(var, width, signed, largest, &given);
            let (Some(low), Some(high)) = (extreme(false), extreme(true)) else { continue };
            let narrow = Range { low, high, ..*range };
            let rest = Clause { location: clause.location, lits: others };
            let Some(condition) = self.lift(&rest, ranges) else { continue };
            for lit in self.narrowed(&narrow, range) {
                let lits = [condition.lits.clone(), vec![lit]].concat();
                let fact = Fact { cost: condition.cost + 2, lits };
                self.found.push((clause.location, fact));
            }
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
        let cost = cost + 2 * lits.len();
        Some(Fact { cost, lits: lits.into_iter().map(negated).collect() })
    }

    /// That certain bits of a variable have certain values, within its range; `None` if that is never so.
    fn condition(&mut self, range: &Range, bits: Word, values: Word) -> Option<Condition> {
        let Range { var, width, low, high, .. } = *range;
        let own = Operand::Var(var);
        if bits == mask(width) {
            let fits = (range.key(low)..=range.key(high)).contains(&range.key(values));
            return fits.then(|| Condition { cost: 1, lits: vec![self.is(range, values)] });
        }
        if range.key(high) - range.key(low) < FEW {
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
                return Some(Condition { cost: 1, lits: vec![negated(self.is(range, *not))] });
            }
            // Names have no order.
            let ty = self.cfa.vars.get(var.index()).map(|v| &v.ty);
            if matches!(ty, Some(Type::Enum(_))) {
                let others = all.iter().filter(|v| !so.contains(v));
                let lits: Vec<BitLit> = others.map(|v| negated(self.is(range, *v))).collect();
                return Some(Condition { cost: 2 * lits.len(), lits });
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

    /// Clauses that speak of two variables of one type may say how they compare, while the rest of the clause is false.
    /// Whether it is so is asked later.
    fn relate(&mut self, clause: &Clause, ranges: &[Range]) {
        let mut own: Vec<&Range> = ranges.iter().collect();
        own.retain(|r| r.low != r.high && clause.lits.iter().any(|l| l.var == r.var));
        for (i, a) in own.iter().enumerate() {
            for b in &own[i + 1..] {
                let ty = |r: &Range| &self.cfa.vars[r.var.index()].ty;
                if a.width != b.width || ty(a) != ty(b) {
                    continue;
                }
                let mut lits = clause.lits.clone();
                lits.retain(|l| l.var != a.var && l.var != b.var);
                let rest = Clause { location: clause.location, lits };
                let Some(rest) = self.lift(&rest, ranges) else { continue };
                let (left, right) = (Operand::Var(a.var), Operand::Var(b.var));
                let mut relations = vec![(1, self.compare(BinOp::Eq, left, right))];
                if a.width == 1 {
                    let equal = relations[0].1;
                    relations.push((1, negated(equal)));
                } else if !matches!(ty(a), Type::Enum(_)) {
                    relations.push((2, self.less_or_equal(a, left, right)));
                    relations.push((2, self.less_or_equal(a, right, left)));
                }
                for (cost, lit) in relations {
                    let lits = [rest.lits.clone(), vec![lit]].concat();
                    self.found.push((clause.location, Fact { cost: rest.cost + cost, lits }));
                }
            }
        }
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

fn negated(lit: BitLit) -> BitLit {
    BitLit { value: !lit.value, ..lit }
}

/// A condition on one variable: all of these.
struct Condition {
    cost: usize,
    lits: Vec<BitLit>,
}
