//! Values on the way: expressions, made simpler than the pool alone makes them.
//!
//! What the executor needs is to see constants through the choices that merging of paths leaves: which
//! addresses a pointer can have, which targets a jump. So constants are pulled together in sums, and
//! operations with a constant go into the branches of a choice between constants.
//!
//! The stack pointer at the entry is a symbol of its own. A value that still speaks of it after simplification
//! depends on where the stack lies.

use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vouch_ir::{BinOp, Expr, ExprId, InputId, Pool, UnOp, Word, mask};

/// Choices with more constants than this are not looked through.
const MOST_LEAVES: usize = 24;
/// Sums with more terms than this are left as they are.
const MOST_TERMS: usize = 8;
/// Where the stack might lie: whatever is the same for all of these does not depend on it, as far as it is not about a single bit. They
/// leave different remainders, too.
const STACKS: [Word; 3] = [0x0001_3578, 0x7fff_1c48, 0xfffe_29c0];
/// It is aligned, so that its lowest bits are known. Any other differs between the first of these places and one that is so much further.
const UNKNOWN_BITS: std::ops::Range<u32> = 3..32;

/// A sum of terms, some of them subtracted, and a constant.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Sum {
    /// Each with how often it is added.
    pub terms: Vec<(ExprId, i32)>,
    /// The constant summand.
    pub constant: Word,
}

impl Sum {
    fn add(&mut self, term: ExprId, times: i32) {
        match self.terms.iter_mut().find(|(t, _)| *t == term) {
            Some((_, n)) => *n += times,
            None => self.terms.push((term, times)),
        }
        self.terms.retain(|(_, n)| *n != 0);
    }
}

/// Expressions and what is known of them.
pub struct Values {
    /// Holds every expression that a [`Values`] makes or is asked about.
    pub pool: Pool,
    simple: HashMap<ExprId, ExprId>,
    /// For each expression whether the stack pointer is in it.
    on_stack: Vec<bool>,
    /// The stack pointer at the entry.
    pub stack: ExprId,
}

impl Values {
    /// No expressions but the stack pointer, which is an input of this number.
    pub fn new(stack: InputId) -> Values {
        let mut pool = Pool::default();
        let stack = pool.input(stack, 32);
        Values { pool, simple: HashMap::default(), on_stack: vec![], stack }
    }

    /// A constant of 32 bits.
    pub fn word(&mut self, value: u32) -> ExprId {
        self.pool.constant(value.into(), 32)
    }

    /// The constant, if it is one of 32 bits.
    pub fn as_word(&self, x: ExprId) -> Option<u32> {
        self.pool.as_const(x).map(|value| value as u32)
    }

    /// The stack pointer at the entry plus this.
    pub fn on_stack(&mut self, offset: i32) -> ExprId {
        let offset = self.word(offset as u32);
        self.pool.binary(BinOp::Add, self.stack, offset)
    }

    /// The distance from the stack pointer at the entry, if the value is just that.
    pub fn stack_offset(&self, x: ExprId) -> Option<i32> {
        if x == self.stack {
            return Some(0);
        }
        match self.pool.get(x) {
            Expr::Binary(BinOp::Add, a, b) if a == self.stack => Some(self.as_word(b)? as i32),
            Expr::Binary(BinOp::Add, a, b) if b == self.stack => Some(self.as_word(a)? as i32),
            _ => None,
        }
    }

    /// Whether the stack pointer is in it.
    pub fn is_on_stack(&mut self, x: ExprId) -> bool {
        for id in self.on_stack.len()..self.pool.len() {
            let id = ExprId(id as u32);
            let is =
                id == self.stack || self.pool.operands(id).any(|o| self.on_stack[o.0 as usize]);
            self.on_stack.push(is);
        }
        self.on_stack[x.0 as usize]
    }

    /// The same value without the stack pointer in it; nothing if it depends on where the stack is.
    pub fn off_stack(&mut self, x: ExprId) -> Option<ExprId> {
        let x = self.simplify(x);
        if !self.is_on_stack(x) {
            return Some(x);
        }
        let mut same = None;
        let further = UNKNOWN_BITS.map(|bit| (STACKS[0] + (1 << bit)) & mask(32));
        for base in STACKS.into_iter().chain(further) {
            let base = self.pool.constant(base, 32);
            let there = self.with_stack_at(x, base);
            if same.is_some_and(|same| same != there) {
                return None;
            }
            same = Some(there);
        }
        same
    }

    /// The value if this is where the stack is.
    pub fn with_stack_at(&mut self, x: ExprId, base: ExprId) -> ExprId {
        let mut done = HashMap::default();
        done.insert(self.stack, base);
        let there = self.pool.replace(x, &mut done);
        self.simplify(there)
    }

    /// Whether a part of an address on the stack is in it that is not the lowest one: only who copies it byte by byte has that.
    pub fn has_upper_part_of_stack(&mut self, x: ExprId) -> bool {
        let (mut todo, mut seen) = (vec![x], HashSet::default());
        while let Some(x) = todo.pop() {
            if !self.is_on_stack(x) || !seen.insert(x) {
                continue;
            }
            if matches!(self.pool.get(x), Expr::Slice { lo: 1.., .. }) {
                return true;
            }
            todo.extend(self.pool.operands(x));
        }
        false
    }

    /// `if c then t else e`, simplified.
    pub fn select(&mut self, c: ExprId, t: ExprId, e: ExprId) -> ExprId {
        let ite = self.pool.ite(c, t, e);
        self.simplify(ite)
    }

    /// What a choice comes to if a condition holds, as far as the choice is by that.
    pub fn given(&mut self, x: ExprId, condition: ExprId) -> ExprId {
        match self.pool.get(x) {
            Expr::Ite(c, t, _) if c == condition => t,
            Expr::Ite(c, _, e) if self.pool.not(c) == condition => e,
            _ => x,
        }
    }

    /// Conjunction of all.
    pub fn all(&mut self, conditions: &[ExprId]) -> ExprId {
        let yes = self.pool.bool(true);
        conditions.iter().fold(yes, |all, c| self.pool.and(all, *c))
    }

    /// Whether a value is this constant.
    pub fn is_equal(&mut self, x: ExprId, value: Word) -> ExprId {
        let value = self.pool.constant(value, self.pool.width(x));
        let equal = self.pool.equal(x, value);
        self.simplify(equal)
    }

    /// The value of bytes, the lowest first.
    pub fn join(&mut self, bytes: &[ExprId]) -> Option<ExprId> {
        let (first, rest) = bytes.split_first()?;
        Some(rest.iter().fold(*first, |low, high| {
            let joined = self.pool.binary(BinOp::Concat, *high, low);
            self.simplify(joined)
        }))
    }

    /// An equal expression in which constants are easier to see.
    pub fn simplify(&mut self, root: ExprId) -> ExprId {
        if let Some(done) = self.simple.get(&root) {
            return *done;
        }
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            if self.simple.contains_key(&id) {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(self.pool.operands(id).filter(|o| !self.simple.contains_key(o)));
            if stack.len() > before {
                continue;
            }
            stack.pop();
            let width = self.pool.width(id);
            let simple = &self.simple;
            let expr = self.pool.get(id).map_operands(|o| simple[&o]);
            let made = self.pool.make(expr, width);
            let result = self.rewrite(made);
            self.simple.insert(id, result);
            self.simple.insert(result, result);
        }
        self.simple[&root]
    }

    /// One step at the root of an expression whose operands are simple.
    fn rewrite(&mut self, id: ExprId) -> ExprId {
        use BinOp::*;
        match self.pool.get(id) {
            Expr::Binary(Add | Sub, ..) if self.pool.width(id) > 1 => {
                let pushed = self.push(id);
                if pushed != id {
                    return pushed;
                }
                self.rebuild_sum(id)
            }
            Expr::Binary(Eq, a, b) if self.pool.width(a) > 1 => self.rewrite_equal(id, a, b),
            Expr::Binary(Concat, high, low) => self.rewrite_concat(id, high, low),
            Expr::Binary(And, a, b) => self.rewrite_mask(id, a, b),
            Expr::Slice { x, lo } => match self.aligned_bits(x) {
                // The stack is aligned to 8 bytes, so its lowest bits are known.
                Some((_, low)) if lo + self.pool.width(id) <= 3 => {
                    self.pool.constant(low >> lo, self.pool.width(id))
                }
                _ => self.push(id),
            },
            Expr::Binary(..) | Expr::Unary(..) | Expr::Extend { .. } => self.push(id),
            Expr::Ite(c, t, e) => {
                let (t2, e2) = (self.branch(c, true, t), self.branch(c, false, e));
                if (t2, e2) == (t, e) { id } else { self.pool.ite(c, t2, e2) }
            }
            _ => id,
        }
    }

    /// What a branch of a choice is, given the choice.
    fn branch(&self, condition: ExprId, holds: bool, value: ExprId) -> ExprId {
        match self.pool.get(value) {
            Expr::Ite(c, t, e) if c == condition => {
                if holds {
                    t
                } else {
                    e
                }
            }
            _ => value,
        }
    }

    /// The terms of a sum.
    pub fn sum(&self, x: ExprId) -> Sum {
        let mut sum = Sum::default();
        self.collect(x, 1, &mut sum, 0);
        sum.constant &= mask(self.pool.width(x));
        sum
    }

    fn collect(&self, x: ExprId, times: i32, sum: &mut Sum, depth: u32) {
        let constant = |value: Word| value.wrapping_mul(times as i128 as Word);
        match self.pool.get(x) {
            Expr::Const(value) => sum.constant = sum.constant.wrapping_add(constant(value)),
            Expr::Binary(BinOp::Add, a, b) if depth < 6 => {
                self.collect(a, times, sum, depth + 1);
                self.collect(b, times, sum, depth + 1);
            }
            Expr::Binary(BinOp::Sub, a, b) if depth < 6 => {
                self.collect(a, times, sum, depth + 1);
                self.collect(b, -times, sum, depth + 1);
            }
            Expr::Unary(UnOp::Neg, a) if depth < 6 => self.collect(a, -times, sum, depth + 1),
            _ => sum.add(x, times),
        }
    }

    /// The value of a sum.
    pub fn total(&mut self, sum: &Sum, width: u32) -> ExprId {
        let mut total = None;
        let mut terms = sum.terms.clone();
        // Terms that are added come first, so that there is something to subtract from.
        terms.sort_by_key(|(t, n)| (*n < 0, *t));
        for (term, times) in terms {
            let op = if times > 0 { BinOp::Add } else { BinOp::Sub };
            let factor = self.pool.constant(Word::from(times.unsigned_abs()), width);
            let term = self.pool.binary(BinOp::Mul, term, factor);
            let so_far = total.unwrap_or_else(|| self.pool.constant(0, width));
            total = Some(match total {
                None if times > 0 => term,
                _ => self.pool.binary(op, so_far, term),
            });
        }
        let constant = self.pool.constant(sum.constant, width);
        match total {
            None => constant,
            Some(total) => self.pool.binary(BinOp::Add, total, constant),
        }
    }

    fn rebuild_sum(&mut self, id: ExprId) -> ExprId {
        let sum = self.sum(id);
        if sum.terms.len() > MOST_TERMS || sum.terms.iter().any(|(_, n)| n.abs() > 1) {
            return id;
        }
        self.total(&sum, self.pool.width(id))
    }

    fn rewrite_equal(&mut self, id: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let width = self.pool.width(a);
        let (left, right) = (self.sum(a), self.sum(b));
        let mut difference = left;
        right.terms.iter().for_each(|(t, n)| difference.add(*t, -n));
        difference.constant = difference.constant.wrapping_sub(right.constant) & mask(width);
        match difference.terms[..] {
            [] => self.pool.bool(difference.constant == 0),
            [(term, 1)] => {
                let value = difference.constant.wrapping_neg() & mask(width);
                self.rewrite_equal_constant(term, value)
            }
            [(term, -1)] => self.rewrite_equal_constant(term, difference.constant),
            _ => id,
        }
    }

    /// Whether a simple value that is not a sum is this constant.
    fn rewrite_equal_constant(&mut self, x: ExprId, value: Word) -> ExprId {
        match self.pool.get(x) {
            Expr::Const(c) => return self.pool.bool(c == value),
            Expr::Ite(c, t, e) => match (self.pool.as_const(t), self.pool.as_const(e)) {
                (None, None) => {}
                _ => {
                    let t = self.rewrite_equal_constant(t, value);
                    let e = self.rewrite_equal_constant(e, value);
                    return self.pool.ite(c, t, e);
                }
            },
            Expr::Extend { x: small, signed } => {
                let width = self.pool.width(small);
                let low = value & mask(width);
                let back = self.pool.constant(low, width);
                let wide = self.pool.extend(back, self.pool.width(x), signed);
                return match self.pool.as_const(wide) == Some(value) {
                    true => self.rewrite_equal_constant(small, low),
                    false => self.pool.bool(false),
                };
            }
            Expr::Binary(BinOp::Concat, high, low) => {
                let width = self.pool.width(low);
                let high = self.rewrite_equal_constant(high, value >> width);
                let low = self.rewrite_equal_constant(low, value & mask(width));
                return self.pool.and(high, low);
            }
            Expr::Binary(BinOp::Add | BinOp::Sub, ..) => {
                let sum = self.sum(x);
                if let [(term, 1)] = sum.terms[..]
                    && term != x
                {
                    let value = value.wrapping_sub(sum.constant) & mask(self.pool.width(x));
                    return self.rewrite_equal_constant(term, value);
                }
            }
            _ => {}
        }
        let value = self.pool.constant(value, self.pool.width(x));
        self.pool.equal(x, value)
    }

    /// Pieces of two choices by one condition are a choice between the wholes.
    fn rewrite_concat(&mut self, id: ExprId, high: ExprId, low: ExprId) -> ExprId {
        let (h, l) = (self.pool.get(high), self.pool.get(low));
        let constant = |x: ExprId| self.pool.as_const(x).is_some();
        let parts = match (h, l) {
            (Expr::Ite(c, t, e), Expr::Ite(d, u, f)) if c == d => Some((c, [t, u], [e, f])),
            (Expr::Ite(c, t, e), Expr::Const(_)) if constant(t) || constant(e) => {
                Some((c, [t, low], [e, low]))
            }
            (Expr::Const(_), Expr::Ite(c, t, e)) if constant(t) || constant(e) => {
                Some((c, [high, t], [high, e]))
            }
            // Bytes between the two were zeros.
            (Expr::Ite(c, t, e), Expr::Extend { .. }) => {
                self.widened(c, low).map(|[u, f]| (c, [t, u], [e, f]))
            }
            _ => None,
        };
        match parts {
            Some((c, [th, tl], [eh, el])) => {
                let t = self.pool.binary(BinOp::Concat, th, tl);
                let e = self.pool.binary(BinOp::Concat, eh, el);
                let (t, e) = (self.simplify(t), self.simplify(e));
                self.pool.ite(c, t, e)
            }
            // Zeros above a value are its extension.
            None if self.pool.as_const(high) == Some(0) => {
                let width = self.pool.width(id);
                self.pool.extend(low, width, false)
            }
            None => id,
        }
    }

    /// The branches of a choice by this condition that was extended with zeros.
    fn widened(&mut self, condition: ExprId, x: ExprId) -> Option<[ExprId; 2]> {
        let branches = match self.pool.get(x) {
            Expr::Ite(c, t, e) if c == condition => return Some([t, e]),
            Expr::Extend { x: small, signed: false } => self.widened(condition, small)?,
            _ => return None,
        };
        let width = self.pool.width(x);
        Some(branches.map(|branch| self.pool.extend(branch, width, false)))
    }

    fn rewrite_mask(&mut self, id: ExprId, a: ExprId, b: ExprId) -> ExprId {
        let (x, bits) = match (self.pool.as_const(a), self.pool.as_const(b)) {
            (Some(bits), None) => (b, bits),
            (None, Some(bits)) => (a, bits),
            _ => return self.push(id),
        };
        let width = self.pool.width(id);
        let cleared = !bits & mask(width);
        if cleared >> self.low_zeros(x).min(64) == 0 {
            return x;
        }
        // An address on the stack that is aligned.
        if cleared < 8
            && let Some((1, constant)) = self.aligned_bits(x)
        {
            let constant = self.pool.constant(constant & bits, width);
            return self.pool.binary(BinOp::Add, self.stack, constant);
        }
        let kept = bits.checked_add(1).filter(|n| n.is_power_of_two()).map(|n| n.ilog2());
        match kept {
            // The lowest bits are a slice.
            Some(kept) if kept < width && kept > 0 => {
                let low = self.pool.slice(x, 0, kept);
                let low = self.simplify(low);
                let wide = self.pool.extend(low, width, false);
                self.push(wide)
            }
            _ => self.push(id),
        }
    }

    /// How often the stack pointer is in a sum in which nothing else is, and the constant.
    fn aligned_bits(&mut self, x: ExprId) -> Option<(i32, Word)> {
        if !self.is_on_stack(x) {
            return None;
        }
        let sum = self.sum(x);
        match sum.terms[..] {
            [(term, times)] if term == self.stack => Some((times, sum.constant)),
            _ => None,
        }
    }

    /// How many constants a choice is between; nothing if one is not a constant, or there are too many.
    fn leaves(&self, x: ExprId) -> Option<usize> {
        let (mut todo, mut leaves) = (vec![x], 0);
        while let Some(x) = todo.pop() {
            match self.pool.get(x) {
                Expr::Const(_) => leaves += 1,
                Expr::Ite(_, t, e) => todo.extend([t, e]),
                _ => return None,
            }
            if leaves > MOST_LEAVES || todo.len() > MOST_LEAVES {
                return None;
            }
        }
        Some(leaves)
    }

    /// Moves an operation whose other operands are constants into a choice between constants.
    fn push(&mut self, id: ExprId) -> ExprId {
        let operands: Vec<ExprId> = self.pool.operands(id).collect();
        let open: Vec<ExprId> =
            operands.iter().copied().filter(|o| self.pool.as_const(*o).is_none()).collect();
        let [choice] = open[..] else { return id };
        if !matches!(self.pool.get(choice), Expr::Ite(..)) || self.leaves(choice).is_none() {
            return id;
        }
        let (expr, width) = (self.pool.get(id), self.pool.width(id));
        self.push_into(choice, &mut |values, leaf| {
            let expr = expr.map_operands(|o| if o == choice { leaf } else { o });
            values.pool.make(expr, width)
        })
    }

    fn push_into(
        &mut self,
        x: ExprId,
        f: &mut impl FnMut(&mut Values, ExprId) -> ExprId,
    ) -> ExprId {
        match self.pool.get(x) {
            Expr::Ite(c, t, e) => {
                let t = self.push_into(t, f);
                let e = self.push_into(e, f);
                self.pool.ite(c, t, e)
            }
            _ => f(self, x),
        }
    }

    /// A condition that a value depends on by a choice in it, and the value either way.
    pub fn choice(&mut self, x: ExprId) -> Option<(ExprId, [ExprId; 2])> {
        if let Some(choice) = self.choice_of_terms(x) {
            return Some(choice);
        }
        /// Deeper, or among more nodes, nobody looks.
        const MOST: usize = 200;
        let (mut todo, mut seen, mut found) = (vec![x], 0, None);
        while let Some(id) = todo.pop() {
            seen += 1;
            if seen > MOST {
                return None;
            }
            if let Expr::Ite(c, ..) = self.pool.get(id) {
                found = Some(c);
                break;
            }
            todo.extend(self.pool.operands(id));
        }
        let condition = found?;
        let ways = [true, false].map(|way| {
            let way = self.pool.bool(way);
            let mut done = HashMap::default();
            done.insert(condition, way);
            let chosen = self.pool.replace(x, &mut done);
            self.simplify(chosen)
        });
        Some((condition, ways))
    }

    /// The same, if a term of a sum is a choice: then only that has to be looked into.
    fn choice_of_terms(&mut self, x: ExprId) -> Option<(ExprId, [ExprId; 2])> {
        let sum = self.sum(x);
        let condition = sum.terms.iter().find_map(|(term, _)| match self.pool.get(*term) {
            Expr::Ite(c, ..) => Some(c),
            _ => None,
        })?;
        let width = self.pool.width(x);
        let ways = [true, false].map(|way| {
            let mut chosen = Sum { terms: vec![], constant: sum.constant };
            for (term, times) in &sum.terms {
                let term = self.branch(condition, way, *term);
                self.collect(term, *times, &mut chosen, 0);
            }
            chosen.constant &= mask(width);
            let chosen = self.total(&chosen, width);
            self.simplify(chosen)
        });
        Some((condition, ways))
    }

    /// The constants that a value can be, each with when; nothing if it can be something else.
    pub fn cases(&mut self, x: ExprId, most: usize) -> Option<Vec<(ExprId, Word)>> {
        let always = self.pool.bool(true);
        let mut cases: Vec<(ExprId, Word)> = vec![];
        for (when, value) in self.raw_cases(x, always, most)? {
            match cases.iter_mut().find(|(_, v)| *v == value) {
                Some((other, _)) => *other = self.pool.or(*other, when),
                None => cases.push((when, value)),
            }
        }
        Some(cases)
    }

    fn raw_cases(&mut self, x: ExprId, when: ExprId, most: usize) -> Option<Vec<(ExprId, Word)>> {
        match self.pool.get(x) {
            Expr::Const(value) => Some(vec![(when, value)]),
            Expr::Ite(..) => {
                // Tables are long chains: along the second branch without recursion.
                let (mut cases, mut x, mut when) = (vec![], x, when);
                while let Expr::Ite(c, t, e) = self.pool.get(x) {
                    let here = self.pool.and(when, c);
                    cases.extend(self.raw_cases(t, here, most)?);
                    let not = self.pool.not(c);
                    when = self.pool.and(when, not);
                    x = e;
                    if cases.len() > most {
                        return None;
                    }
                }
                cases.extend(self.raw_cases(x, when, most)?);
                Some(cases)
            }
            Expr::Var(_) | Expr::Input(_) => None,
            expr => {
                let width = self.pool.width(x);
                let operands: Vec<ExprId> = self.pool.operands(x).collect();
                let mut sets = vec![];
                for operand in &operands {
                    sets.push(self.raw_cases(*operand, when, most)?);
                }
                let count = sets.iter().try_fold(1usize, |n, s| n.checked_mul(s.len()))?;
                if count > most {
                    return None;
                }
                let mut cases = vec![];
                for mut number in 0..count {
                    let mut when = when;
                    let mut chosen = HashMap::default();
                    for (operand, set) in operands.iter().zip(&sets) {
                        let (c, value) = set[number % set.len()];
                        number /= set.len();
                        when = self.pool.and(when, c);
                        let value = self.pool.constant(value, self.pool.width(*operand));
                        chosen.insert(*operand, value);
                    }
                    let result = self.pool.make(expr.map_operands(|o| chosen[&o]), width);
                    cases.push((when, self.pool.as_const(result)?));
                }
                Some(cases)
            }
        }
    }

    /// How many of the lowest bits are certainly zero.
    pub fn low_zeros(&self, x: ExprId) -> u32 {
        self.low_zeros_to(x, 8)
    }

    fn low_zeros_to(&self, x: ExprId, depth: u32) -> u32 {
        if depth == 0 {
            return 0;
        }
        let of = |x: ExprId| self.low_zeros_to(x, depth - 1);
        match self.pool.get(x) {
            Expr::Const(value) => value.trailing_zeros().min(self.pool.width(x)),
            Expr::Input(_) if x == self.stack => 3,
            Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor, a, b) => {
                of(a).min(of(b))
            }
            Expr::Binary(BinOp::And, a, b) => of(a).max(of(b)),
            Expr::Binary(BinOp::Mul, a, b) => (of(a) + of(b)).min(self.pool.width(x)),
            Expr::Binary(BinOp::Shl, a, b) => {
                let by = self.pool.as_const(b).and_then(|by| u32::try_from(by).ok()).unwrap_or(0);
                of(a).saturating_add(by).min(self.pool.width(x))
            }
            Expr::Binary(BinOp::Concat, a, b) => {
                let width = self.pool.width(b);
                let low = of(b);
                if low == width { width + of(a) } else { low }
            }
            Expr::Ite(_, t, e) => of(t).min(of(e)),
            Expr::Extend { x: small, .. } => {
                let zeros = of(small);
                if zeros == self.pool.width(small) { self.pool.width(x) } else { zeros }
            }
            Expr::Slice { x: whole, lo } => of(whole).saturating_sub(lo).min(self.pool.width(x)),
            _ => 0,
        }
    }

    /// Whether one of the conditions is certainly broken if `x` has this value.
    pub fn contradicts(&mut self, conditions: &[ExprId], x: ExprId, value: Word) -> bool {
        let constant = self.pool.constant(value, self.pool.width(x));
        conditions.iter().rev().take(24).any(|condition| {
            if !self.mentions(*condition, x) {
                return false;
            }
            let mut done = HashMap::default();
            done.insert(x, constant);
            let then = self.pool.replace(*condition, &mut done);
            self.pool.as_const(then) == Some(0)
        })
    }

    /// Whether `x` occurs in a condition, which is not so large that it costs time to look.
    fn mentions(&self, condition: ExprId, x: ExprId) -> bool {
        let (mut todo, mut seen, mut found) = (vec![condition], 0, false);
        while let Some(id) = todo.pop() {
            seen += 1;
            if seen > 60 {
                return false;
            }
            found |= id == x;
            if id != x {
                todo.extend(self.pool.operands(id));
            }
        }
        found
    }
}
