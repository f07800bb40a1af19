//! From expressions to clauses, the plain way: one gate at a time, both directions of each
//! definition (Tseitin).
//!
//! Vectors are lists of literals, lowest bit first. Gates fold constants and are shared, and so are sums
//! with one normal form ([`super::sums`]), which is all the optimisation there is: this is one of the few
//! places on which the word *safe* rests, so it is meant to be read. The meaning of each operator is that of [`vouch_ir::eval`], and the
//! tests compare the two.

use super::solver::{Lit, Solver};
pub use super::sums::Bits;
use super::sums::{Added, Form, Sums};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use vouch_ir::{BinOp, Expr, ExprId, InputId, Pool, UnOp, VarId, Word};

/// What makes two gates the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Gate {
    And(Lit, Lit),
    Xor(Lit, Lit),
    Mux(Lit, Lit, Lit),
}

/// Encodes expressions of one pool into one solver. Variables and inputs get their literals when
/// they are first met.
pub struct Encoder<'p> {
    /// The solver that the clauses are added to; queries are posed to it directly.
    pub solver: Solver,
    pool: &'p Pool,
    truth: Lit,
    /// The variables' own literals.
    vars: HashMap<VarId, Bits>,
    /// What variables are instead, where expressions are now read.
    values: HashMap<VarId, Bits>,
    inputs: HashMap<InputId, Bits>,
    nodes: HashMap<ExprId, Bits>,
    gates: HashMap<Gate, Lit>,
    sums: Sums,
}

impl<'p> Encoder<'p> {
    /// Starts with a solver without clauses.
    pub fn new(pool: &'p Pool) -> Self {
        let mut solver = Solver::default();
        let truth = Lit { var: solver.new_var(), value: true };
        solver.add_clause(&[truth]);
        Encoder {
            solver,
            pool,
            truth,
            vars: HashMap::default(),
            values: HashMap::default(),
            inputs: HashMap::default(),
            nodes: HashMap::default(),
            gates: HashMap::default(),
            sums: Sums::default(),
        }
    }

    /// The literal that is always `value`.
    pub fn constant(&self, value: bool) -> Lit {
        self.truth.same_if(value)
    }

    /// Goes somewhere else: from here on expressions are read with these values of variables, all
    /// others being what they are at first, and with new inputs. Returns the inputs so far.
    pub fn enter(&mut self, values: HashMap<VarId, Bits>) -> HashMap<InputId, Bits> {
        self.values = values;
        self.nodes.clear();
        std::mem::take(&mut self.inputs)
    }

    /// The same with inputs that have these bits.
    pub fn enter_with(
        &mut self,
        values: HashMap<VarId, Bits>,
        inputs: HashMap<InputId, Bits>,
    ) -> HashMap<InputId, Bits> {
        let before = self.enter(values);
        self.inputs = inputs;
        before
    }

    /// The bits of a variable, where expressions are now read.
    pub fn var(&mut self, var: VarId, width: u32) -> Bits {
        match self.values.get(&var) {
            Some(bits) => bits.clone(),
            None => self.own(var, width),
        }
    }

    /// The bits that a variable has at first.
    pub fn own(&mut self, var: VarId, width: u32) -> Bits {
        if let Some(bits) = self.vars.get(&var) {
            return bits.clone();
        }
        let bits = self.fresh_bits(width);
        self.vars.insert(var, bits.clone());
        bits
    }

    /// A bit that a variable has at first is known, so what is made of it can be folded.
    pub fn fix(&mut self, var: VarId, width: u32, bit: u32, value: bool) {
        let mut bits = self.own(var, width);
        let was = std::mem::replace(&mut bits[bit as usize], self.constant(value));
        self.vars.insert(var, bits);
        // It may have been used, and it may be known otherwise.
        self.solver.add_clause(&[was.same_if(value)]);
    }

    /// The value that a variable has at first in the model; 0 if nothing has mentioned it.
    pub fn var_value(&self, var: VarId) -> Word {
        self.vars.get(&var).map_or(0, |bits| self.value(bits))
    }

    /// The value of an input in the model, if something has mentioned it.
    pub fn input_value(&self, input: InputId) -> Option<Word> {
        self.inputs.get(&input).map(|bits| self.value(bits))
    }

    /// The value of a vector in the model.
    pub fn value(&self, bits: &[Lit]) -> Word {
        let bit = |l: &Lit| self.solver.value(l.var) == l.value;
        bits.iter().enumerate().fold(0, |word, (i, l)| word | (bit(l) as Word) << i)
    }

    /// The bits of an expression.
    pub fn expr(&mut self, root: ExprId) -> Bits {
        // Operands have smaller numbers than their users, so ascending order is bottom-up. An
        // explicit stack: expressions may be deeper than the thread's.
        let mut todo = HashSet::default();
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            vouch_ir::deadline::tick();
            if !self.nodes.contains_key(&id) && todo.insert(id) {
                stack.extend(self.pool.operands(id));
            }
        }
        let mut todo: Vec<ExprId> = todo.into_iter().collect();
        todo.sort();
        for id in todo {
            let bits = self.node(id);
            debug_assert_eq!(bits.len(), self.pool.width(id) as usize);
            self.nodes.insert(id, bits);
        }
        self.nodes[&root].clone()
    }

    /// One node whose operands are there.
    fn node(&mut self, id: ExprId) -> Bits {
        let width = self.pool.width(id) as usize;
        match self.pool.get(id) {
            Expr::Const(value) => self.word(value, width),
            Expr::Var(var) => self.var(var, width as u32),
            Expr::Input(input) => {
                if let Some(bits) = self.inputs.get(&input) {
                    return bits.clone();
                }
                let bits = self.fresh_bits(width as u32);
                self.inputs.insert(input, bits.clone());
                bits
            }
            Expr::Unary(UnOp::Not, x) => self.nodes[&x].iter().map(|l| !*l).collect(),
            Expr::Unary(UnOp::Neg, x) => {
                let zero = Form::constant(0, width as u32);
                let sum = zero.plus(&self.form(&self.nodes[&x]), Word::MAX);
                self.sum(sum)
            }
            Expr::Binary(op, a, b) => {
                let (a, b) = (self.nodes[&a].clone(), self.nodes[&b].clone());
                self.binary(op, &a, &b)
            }
            Expr::Ite(c, t, e) => {
                let (t, e) = (self.nodes[&t].clone(), self.nodes[&e].clone());
                let c = self.nodes[&c][0];
                self.mux_bits(c, &t, &e)
            }
            Expr::Slice { x, lo } => self.nodes[&x][lo as usize..][..width].to_vec(),
            Expr::Extend { x, signed } => {
                let mut bits = self.nodes[&x].clone();
                let top = if signed { bits[bits.len() - 1] } else { !self.truth };
                bits.resize(width, top);
                bits
            }
        }
    }

    fn binary(&mut self, op: BinOp, a: &[Lit], b: &[Lit]) -> Bits {
        let no = !self.truth;
        match op {
            BinOp::And => self.zip(a, b, Self::and),
            BinOp::Or => self.zip(a, b, Self::or),
            BinOp::Xor => self.zip(a, b, Self::xor),
            BinOp::Add | BinOp::Sub => {
                let times = if op == BinOp::Add { 1 } else { Word::MAX };
                let sum = self.form(a).plus(&self.form(b), times);
                match (sum.is_short(), op) {
                    (true, _) => self.sum(sum),
                    (false, BinOp::Add) => self.add(a, b, no),
                    (false, _) => self.subtract(a, b),
                }
            }
            BinOp::Mul => {
                let (a_form, b_form) = (self.form(a), self.form(b));
                let zero = Form::constant(0, a.len() as u32);
                match (a_form.as_constant(), b_form.as_constant()) {
                    (Some(factor), _) => self.sum(zero.plus(&b_form, factor)),
                    (_, Some(factor)) => self.sum(zero.plus(&a_form, factor)),
                    _ => self.multiply(a, b),
                }
            }
            BinOp::UDiv => self.divide(a, b).0,
            BinOp::URem => self.divide(a, b).1,
            BinOp::SDiv => {
                // By zero the magnitudes give all ones, hence -1, or 1 after the change of sign.
                let (sa, sb) = (a[a.len() - 1], b[b.len() - 1]);
                let (a, b) = (self.negate_if(sa, a), self.negate_if(sb, b));
                let quotient = self.divide(&a, &b).0;
                let sign = self.xor(sa, sb);
                self.negate_if(sign, &quotient)
            }
            BinOp::SRem => {
                let (sa, sb) = (a[a.len() - 1], b[b.len() - 1]);
                let (a, b) = (self.negate_if(sa, a), self.negate_if(sb, b));
                let remainder = self.divide(&a, &b).1;
                self.negate_if(sa, &remainder)
            }
            BinOp::Shl => {
                let reversed: Bits = a.iter().rev().copied().collect();
                let mut bits = self.shift_right(&reversed, b, no);
                bits.reverse();
                bits
            }
            BinOp::LShr => self.shift_right(a, b, no),
            BinOp::AShr => self.shift_right(a, b, a[a.len() - 1]),
            BinOp::Eq => {
                let same = self.zip(a, b, |s, x, y| !s.xor(x, y));
                vec![same.into_iter().fold(self.truth, |all, l| self.and(all, l))]
            }
            BinOp::Ult => vec![self.less(a, b)],
            BinOp::Ule => vec![!self.less(b, a)],
            BinOp::Slt => vec![self.less(&flip_sign(a), &flip_sign(b))],
            BinOp::Sle => vec![!self.less(&flip_sign(b), &flip_sign(a))],
            BinOp::Concat => b.iter().chain(a).copied().collect(),
        }
    }

    /// Whether `a < b`, unsigned: the highest bit in which they differ decides.
    pub fn less(&mut self, a: &[Lit], b: &[Lit]) -> Lit {
        a.iter().zip(b).fold(!self.truth, |less, (x, y)| {
            let differ = self.xor(*x, *y);
            self.mux(differ, *y, less)
        })
    }

    /// A constant vector.
    pub fn word(&self, value: Word, width: usize) -> Bits {
        (0..width).map(|i| self.constant(value >> i & 1 == 1)).collect()
    }

    /// What a vector is, as a sum.
    fn form(&self, bits: &[Lit]) -> Form {
        let values: Option<Vec<bool>> = bits.iter().map(|l| self.as_constant(*l)).collect();
        match values {
            Some(values) => {
                let bit = |word, (i, value): (usize, &bool)| word | (*value as Word) << i;
                Form::constant(values.iter().enumerate().fold(0, bit), bits.len() as u32)
            }
            None => self.sums.form(bits),
        }
    }

    /// The vector of a sum: what it has of parts one after the other, the constant last.
    fn sum(&mut self, form: Form) -> Bits {
        if let Some(bits) = self.sums.vector(&form) {
            return bits;
        }
        let width = form.width() as usize;
        let bits = match form.clone().split() {
            (rest, Added::Constant(value)) if rest.as_constant().is_some() => {
                self.word(value, width)
            }
            (rest, Added::Constant(value)) => {
                let (rest, value) = (self.sum(rest), self.word(value, width));
                self.add(&rest, &value, !self.truth)
            }
            (rest, Added::Multiple(bits, factor)) => {
                let (rest, factor) = (self.sum(rest), self.word(factor, width));
                let product = self.multiply(&bits, &factor);
                self.add(&rest, &product, !self.truth)
            }
            (rest, Added::Subtracted(bits, factor)) => {
                let (rest, factor) = (self.sum(rest), self.word(factor, width));
                let product = self.multiply(&bits, &factor);
                self.subtract(&rest, &product)
            }
        };
        self.sums.insert(form, &bits);
        bits
    }

    fn add(&mut self, a: &[Lit], b: &[Lit], mut carry: Lit) -> Bits {
        let mut sum = vec![];
        for (&x, &y) in a.iter().zip(b) {
            let half = self.xor(x, y);
            sum.push(self.xor(half, carry));
            let (both, one) = (self.and(x, y), self.and(half, carry));
            carry = self.or(both, one);
        }
        sum
    }

    fn subtract(&mut self, a: &[Lit], b: &[Lit]) -> Bits {
        let b: Bits = b.iter().map(|l| !*l).collect();
        self.add(a, &b, self.truth)
    }

    fn negate(&mut self, x: &[Lit]) -> Bits {
        let zero = self.word(0, x.len());
        self.subtract(&zero, x)
    }

    fn negate_if(&mut self, condition: Lit, x: &[Lit]) -> Bits {
        let negated = self.negate(x);
        self.mux_bits(condition, &negated, x)
    }

    /// Sum of shifted partial products.
    fn multiply(&mut self, a: &[Lit], b: &[Lit]) -> Bits {
        let width = a.len();
        let mut sum = self.word(0, width);
        for (i, &factor) in b.iter().enumerate() {
            let mut partial = self.word(0, i);
            for &x in &a[..width - i] {
                partial.push(self.and(x, factor));
            }
            sum = self.add(&sum, &partial, !self.truth);
        }
        sum
    }

    /// Restoring division, one bit of the quotient at a time. Division by zero subtracts nothing
    /// and always "fits", which gives all ones and the dividend, as it should.
    fn divide(&mut self, a: &[Lit], b: &[Lit]) -> (Bits, Bits) {
        let width = a.len();
        let mut quotient = self.word(0, width);
        // One bit more than the operands, for the remainder is doubled before it is compared.
        let mut divisor = b.to_vec();
        divisor.push(!self.truth);
        let mut remainder = vec![!self.truth; width + 1];
        for i in (0..width).rev() {
            remainder.pop();
            remainder.insert(0, a[i]);
            let fits = !self.less(&remainder, &divisor);
            let reduced = self.subtract(&remainder, &divisor);
            remainder = self.mux_bits(fits, &reduced, &remainder);
            quotient[i] = fits;
        }
        remainder.pop();
        (quotient, remainder)
    }

    /// A shifter with one stage for each bit of the distance that is below the width.
    fn shift_right(&mut self, a: &[Lit], by: &[Lit], fill: Lit) -> Bits {
        let width = a.len();
        let mut bits = a.to_vec();
        for (k, &stage) in by.iter().enumerate() {
            let distance = if k < 8 { (1usize << k).min(width) } else { width };
            let moved: Bits =
                (0..width).map(|i| bits.get(i + distance).copied().unwrap_or(fill)).collect();
            bits = self.mux_bits(stage, &moved, &bits);
        }
        bits
    }

    fn zip(&mut self, a: &[Lit], b: &[Lit], gate: impl Fn(&mut Self, Lit, Lit) -> Lit) -> Bits {
        a.iter().zip(b).map(|(x, y)| gate(self, *x, *y)).collect()
    }

    /// `if c then t else e` for vectors.
    pub fn mux_bits(&mut self, c: Lit, t: &[Lit], e: &[Lit]) -> Bits {
        t.iter().zip(e).map(|(t, e)| self.mux(c, *t, *e)).collect()
    }

    // Gates.

    /// A literal that nothing says anything of.
    pub fn fresh(&mut self) -> Lit {
        Lit { var: self.solver.new_var(), value: true }
    }

    fn fresh_bits(&mut self, width: u32) -> Bits {
        (0..width).map(|_| self.fresh()).collect()
    }

    fn as_constant(&self, l: Lit) -> Option<bool> {
        (l.var == self.truth.var).then_some(l.value)
    }

    /// A literal equal to `a AND b`; folds constants and reuses an equal gate.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        let (a, b) = (a.min(b), a.max(b));
        match (self.as_constant(a), self.as_constant(b)) {
            (Some(false), _) | (_, Some(false)) => return !self.truth,
            (Some(true), _) => return b,
            (_, Some(true)) => return a,
            _ if a == b => return a,
            _ if a == !b => return !self.truth,
            _ => {}
        }
        if let Some(out) = self.gates.get(&Gate::And(a, b)) {
            return *out;
        }
        let out = self.fresh();
        self.solver.add_clause(&[!out, a]);
        self.solver.add_clause(&[!out, b]);
        self.solver.add_clause(&[out, !a, !b]);
        self.gates.insert(Gate::And(a, b), out);
        out
    }

    /// A literal equal to `a OR b`, by De Morgan's law.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }

    /// A literal equal to `a XOR b`; folds constants and reuses an equal gate.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        // The signs are taken out, so that all four variants are one gate.
        let odd = !a.value ^ !b.value;
        let (a, b) = (a.same_if(a.value), b.same_if(b.value));
        let (a, b) = (a.min(b), a.max(b));
        let out = match (self.as_constant(a), self.as_constant(b)) {
            _ if a == b => !self.truth,
            (Some(_), _) => !b,
            (_, Some(_)) => !a,
            _ => match self.gates.get(&Gate::Xor(a, b)) {
                Some(out) => *out,
                None => {
                    let out = self.fresh();
                    self.solver.add_clause(&[!out, a, b]);
                    self.solver.add_clause(&[!out, !a, !b]);
                    self.solver.add_clause(&[out, !a, b]);
                    self.solver.add_clause(&[out, a, !b]);
                    self.gates.insert(Gate::Xor(a, b), out);
                    out
                }
            },
        };
        out.same_if(!odd)
    }

    /// `if c then t else e`.
    pub fn mux(&mut self, c: Lit, t: Lit, e: Lit) -> Lit {
        match self.as_constant(c) {
            Some(true) => return t,
            Some(false) => return e,
            None if t == e => return t,
            None => {}
        }
        match (self.as_constant(t), self.as_constant(e)) {
            (Some(true), _) => return self.or(c, e),
            (Some(false), _) => return self.and(!c, e),
            (_, Some(true)) => return self.or(!c, t),
            (_, Some(false)) => return self.and(c, t),
            _ => {}
        }
        if t == !e {
            return !self.xor(c, t);
        }
        if let Some(out) = self.gates.get(&Gate::Mux(c, t, e)) {
            return *out;
        }
        let out = self.fresh();
        self.solver.add_clause(&[!c, !t, out]);
        self.solver.add_clause(&[!c, t, !out]);
        self.solver.add_clause(&[c, !e, out]);
        self.solver.add_clause(&[c, e, !out]);
        // Implied by the four, but they let equal branches decide without the condition.
        self.solver.add_clause(&[!t, !e, out]);
        self.solver.add_clause(&[t, e, !out]);
        self.gates.insert(Gate::Mux(c, t, e), out);
        out
    }
}

/// Signed order is unsigned order with the sign bits flipped.
pub fn flip_sign(x: &[Lit]) -> Bits {
    let mut x = x.to_vec();
    if let Some(top) = x.last_mut() {
        *top = !*top;
    }
    x
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_ir::sample::{Random, random_expr, state_var};
    use vouch_ir::{Cfa, Input, Type, eval, mask};

    /// The encoded value of `root` for fixed values of variables and inputs is the interpreter's,
    /// and no other.
    fn agrees(cfa: &Cfa, root: ExprId, vars: &[Word], inputs: &[Word]) {
        let pool = &cfa.pool;
        let (var, input) = (|v: VarId| vars[v.index()], |i: InputId| inputs[i.index()]);
        let expected = eval::expressions(pool, &[root], var, input)[0];
        let mut encoder = Encoder::new(pool);
        let bits = encoder.expr(root);
        let mut fixed = vec![];
        let fix = |bits: &[Lit], value: Word| -> Vec<Lit> {
            bits.iter().enumerate().map(|(i, l)| l.same_if(value >> i & 1 == 1)).collect()
        };
        for (id, bits) in &encoder.vars {
            fixed.extend(fix(bits, vars[id.index()]));
        }
        for (id, bits) in &encoder.inputs {
            fixed.extend(fix(bits, inputs[id.index()]));
        }
        assert_eq!(encoder.solver.solve(&fixed), Some(true));
        let shown = || format!("{:?} of {vars:?} {inputs:?}", pool.get(root));
        assert_eq!(encoder.value(&bits), expected, "{}", shown());
        // Some bit otherwise: impossible, or the definitions have only one direction.
        let other: Vec<Lit> = fix(&bits, expected).iter().map(|l| !*l).collect();
        encoder.solver.add_clause(&other);
        assert_eq!(encoder.solver.solve(&fixed), Some(false), "{}", shown());
    }

    fn model(widths: [u32; 2], input: u32) -> Cfa {
        let mut cfa = Cfa::new("expressions");
        for (i, width) in widths.into_iter().enumerate() {
            cfa.add_var(state_var(&format!("v{i}"), width, Type::Unsigned));
        }
        cfa.add_input(Input { name: "i".into(), width: input, ty: Type::Unsigned });
        cfa
    }

    const OPS: [BinOp; 18] = {
        use BinOp::*;
        [
            And, Or, Xor, Add, Sub, Mul, UDiv, URem, SDiv, SRem, Shl, LShr, AShr, Eq, Ult, Ule,
            Slt, Sle,
        ]
    };

    /// Sums that are shared, against the interpreter: many in one encoder, in every state of three variables.
    #[test]
    fn sums_agree() {
        let mut random = Random::new(7);
        for round in 0..60 {
            let width = 2 + round % 3;
            let mut cfa = Cfa::new("sums");
            let vars = ["x", "y", "z"].map(|n| cfa.add_var(state_var(n, width, Type::Unsigned)));
            let mut known: Vec<ExprId> = vars.iter().map(|v| cfa.read(*v)).collect();
            known.extend([1, 2, mask(width)].map(|value| cfa.pool.constant(value, width)));
            for _ in 0..24 {
                let mut any = || known[random.below(known.len())];
                let (a, b) = (any(), any());
                known.push(match random.below(7) {
                    0..=2 => cfa.pool.binary(BinOp::Add, a, b),
                    3 | 4 => cfa.pool.binary(BinOp::Sub, a, b),
                    5 => cfa.pool.unary(UnOp::Neg, a),
                    _ => {
                        let factor = cfa.pool.constant(random.word(width), width);
                        cfa.pool.binary(BinOp::Mul, a, factor)
                    }
                });
            }
            let mut encoder = Encoder::new(&cfa.pool);
            let own: Vec<Bits> = vars.iter().map(|v| encoder.own(*v, width)).collect();
            let vectors: Vec<Bits> = known.iter().map(|id| encoder.expr(*id)).collect();
            for state in 0..1 << (3 * width) {
                let value = |v: VarId| (state >> (v.0 * width)) as Word & mask(width);
                let lits = own.iter().zip(vars).flat_map(|(bits, v)| {
                    let bit = move |(i, l): (usize, &Lit)| l.same_if(value(v) >> i & 1 == 1);
                    bits.iter().enumerate().map(bit).collect::<Vec<Lit>>()
                });
                assert_eq!(encoder.solver.solve(&lits.collect::<Vec<_>>()), Some(true));
                let want = eval::expressions(&cfa.pool, &known, value, |_| 0);
                let is: Vec<Word> = vectors.iter().map(|bits| encoder.value(bits)).collect();
                assert_eq!(is, want, "in state {state:b}");
            }
        }
    }

    /// What cancels out is gone: both are one vector, without a gate.
    #[test]
    fn equal_sums_are_one() {
        let mut cfa = Cfa::new("sums");
        let vars = ["x", "y"].map(|n| cfa.add_var(state_var(n, 32, Type::Unsigned)));
        let [x, y] = vars.map(|v| cfa.read(v));
        let plain = cfa.pool.binary(BinOp::Sub, x, y);
        let mut encoder = Encoder::new(&cfa.pool);
        let before = encoder.expr(plain);
        let values = vars.map(|v| {
            let own = encoder.own(v, 32);
            let one = encoder.word(1, 32);
            (v, encoder.binary(BinOp::Add, &own, &one))
        });
        encoder.enter(values.into_iter().collect());
        assert_eq!(encoder.expr(plain), before);
    }

    /// Every operator on every pair of operands of up to 3 bits: all the corners (division by zero,
    /// the smallest number, shifts too far) are among them.
    #[test]
    fn operators_agree_on_all_small_operands() {
        for width in 1..=3 {
            let mut cfa = model([width, width], 1);
            let (a, b) = (cfa.read(VarId(0)), cfa.read(VarId(1)));
            let mut roots: Vec<ExprId> = OPS.iter().map(|op| cfa.pool.binary(*op, a, b)).collect();
            roots.push(cfa.pool.binary(BinOp::Concat, a, b));
            roots.push(cfa.pool.unary(UnOp::Neg, a));
            roots.push(cfa.pool.not(a));
            for root in roots {
                for x in 0..=mask(width) {
                    for y in 0..=mask(width) {
                        agrees(&cfa, root, &[x, y], &[0]);
                    }
                }
            }
        }
    }

    #[test]
    fn operators_agree_on_wide_operands() {
        let mut random = Random::new(1);
        for width in [5, 8, 13, 31, 33, 64, 128] {
            let mut cfa = model([width, width], 1);
            let (a, b) = (cfa.read(VarId(0)), cfa.read(VarId(1)));
            for op in OPS {
                let expensive = matches!(op, BinOp::SDiv | BinOp::SRem | BinOp::UDiv | BinOp::URem);
                if expensive && width > 33 && op != BinOp::SDiv {
                    continue;
                }
                let root = cfa.pool.binary(op, a, b);
                let x = random.word(width);
                // Shifts and divisions are dull with operands of one size.
                let y = random.word(width) >> random.below(width as usize);
                agrees(&cfa, root, &[x, y], &[0]);
                if !expensive || width < 64 {
                    agrees(&cfa, root, &[x, random.word(width) & 0x7f & mask(width)], &[0]);
                }
            }
        }
    }

    #[test]
    fn random_expressions_agree() {
        for seed in 0..1000 {
            let mut r = Random::new(seed);
            let widths = [1 + r.below(6) as u32, 1 + r.below(6) as u32];
            let input = 1 + r.below(4) as u32;
            let mut cfa = model(widths, input);
            let width = 1 + r.below(7) as u32;
            let root = random_expr(&mut cfa, &mut r, width, 4);
            for _ in 0..3 {
                agrees(&cfa, root, &widths.map(|w| r.word(w)), &[r.word(input)]);
            }
        }
    }
}
