//! Small random automata, the same for the same seed everywhere.
//!
//! They are made so that [`crate::explicit`] can decide them exactly, that safe and unsafe ones are
//! both common, and that the awkward cases of a control flow graph all occur.

use crate::rng::Rng;
use vouch_host::ir::{
    BinOp, Cfa, Edge, ExprId, Input, InputId, LocId, Property, Span, Type, UnOp, Var, VarId,
    VarKind, Word,
};

/// What kind of automaton.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Shape {
    /// One location with self-loops.
    SelfLoops,
    /// One cycle over several locations.
    Cycle,
    /// Cycles within a cycle.
    Nested,
    /// Branches that lead nowhere, and errors that are never connected.
    DeadEnds,
    /// Locations without a way in, with edges into the rest.
    Unreachable,
    /// Many edges into one location.
    Funnel,
    /// No cycle at all.
    Acyclic,
    /// Few wide variables, and arithmetic.
    Wide,
    /// Many variables of one bit.
    Narrow,
    /// Parameters with bounds.
    Params,
    /// Steps with several inputs.
    Inputs,
    /// Edges between any two locations, and now and then a parameter.
    Mixed,
    /// Words that are only copied and compared.
    Copies,
}

impl Shape {
    /// All shapes, for tests that go through them.
    pub const ALL: [Shape; 13] = [
        Shape::SelfLoops,
        Shape::Cycle,
        Shape::Nested,
        Shape::DeadEnds,
        Shape::Unreachable,
        Shape::Funnel,
        Shape::Acyclic,
        Shape::Wide,
        Shape::Narrow,
        Shape::Params,
        Shape::Inputs,
        Shape::Mixed,
        Shape::Copies,
    ];
}

/// The automaton with this seed and shape.
pub fn generate(seed: u64, shape: Shape) -> Cfa {
    let rng = Rng::new(seed ^ (shape as u64) << 56);
    let copies = shape == Shape::Copies;
    let mut g = Generator { rng, cfa: Cfa::new(format!("{shape:?}-{seed}")), copies };
    g.declare(shape);
    let (locations, arcs) = g.control(shape);
    g.initial(locations[0]);
    for (from, to) in arcs {
        g.edge(from, to);
    }
    g.properties(shape, &locations);
    g.cfa
}

struct Generator {
    rng: Rng,
    cfa: Cfa,
    /// Whether words are only copied and compared.
    copies: bool,
}

impl Generator {
    fn declare(&mut self, shape: Shape) {
        let widths: Vec<u32> = match shape {
            Shape::Wide => vec![4; 2],
            Shape::Copies => vec![4, 4, 4, 1],
            Shape::Narrow => vec![1; self.rng.between(4, 7)],
            Shape::Params => (0..self.rng.between(1, 2)).map(|_| self.width(3)).collect(),
            _ => (0..self.rng.between(1, 3)).map(|_| self.width(3)).collect(),
        };
        for (i, width) in widths.into_iter().enumerate() {
            self.var(format!("v{i}"), width, VarKind::State);
        }
        let params = match shape {
            Shape::Params => self.rng.between(1, 2),
            Shape::Mixed => self.rng.below(2),
            _ => 0,
        };
        for i in 0..params {
            let width = self.width(3);
            let ty = self.ty(width);
            let mut bounds = [self.rng.word(width), self.rng.word(width)];
            let half = if ty == Type::Signed { 1 << (width - 1) } else { 0 };
            bounds.sort_by_key(|b| b ^ half);
            let kind = VarKind::Param { min: bounds[0], max: bounds[1] };
            self.cfa.add_var(Var { name: format!("p{i}"), width, ty, kind });
        }
        let inputs = match shape {
            Shape::Inputs => 3,
            Shape::Copies => 1,
            _ => self.rng.below(3),
        };
        for i in 0..inputs {
            let width = match shape {
                Shape::Inputs => self.width(2),
                Shape::Copies => 4,
                _ => self.width(3).min(2),
            };
            let ty = self.ty(width);
            self.cfa.add_input(Input { name: format!("i{i}"), width, ty });
        }
    }

    fn width(&mut self, max: usize) -> u32 {
        self.rng.between(1, max) as u32
    }

    fn ty(&mut self, width: u32) -> Type {
        match self.rng.below(3) {
            0 if width == 1 => Type::Bool,
            1 => Type::Signed,
            _ => Type::Unsigned,
        }
    }

    fn var(&mut self, name: String, width: u32, kind: VarKind) -> VarId {
        let ty = self.ty(width);
        self.cfa.add_var(Var { name, width, ty, kind })
    }

    fn location(&mut self) -> LocId {
        let name = format!("l{}", self.cfa.locations.len());
        self.cfa.add_location(name, Span::default())
    }

    /// Locations, the first being where runs begin, and the edges between them.
    fn control(&mut self, shape: Shape) -> (Vec<LocId>, Vec<(LocId, LocId)>) {
        let count = match shape {
            Shape::SelfLoops | Shape::Wide => self.rng.between(1, 2),
            Shape::Nested | Shape::Funnel => self.rng.between(3, 5),
            _ => self.rng.between(2, 4),
        };
        let l: Vec<LocId> = (0..count).map(|_| self.location()).collect();
        let mut arcs: Vec<(LocId, LocId)> = l.windows(2).map(|p| (p[0], p[1])).collect();
        let last = l[count - 1];
        match shape {
            Shape::SelfLoops | Shape::Wide | Shape::Params => {
                for at in &l {
                    arcs.extend((0..self.rng.between(1, 3)).map(|_| (*at, *at)));
                }
            }
            Shape::Cycle | Shape::Inputs => arcs.push((last, l[0])),
            Shape::Nested => {
                arcs.extend([(last, l[0]), (l[count - 2], l[1]), (last, last)]);
            }
            Shape::DeadEnds => {
                arcs.push((last, l[0]));
                for _ in 0..2 {
                    let (trap, from) = (self.location(), self.rng.pick(&l));
                    arcs.extend([(from, trap), (trap, trap)]);
                }
            }
            Shape::Unreachable => {
                arcs.push((last, l[0]));
                for _ in 0..self.rng.between(1, 2) {
                    let (lost, to) = (self.location(), self.rng.pick(&l));
                    arcs.extend([(lost, to), (lost, lost)]);
                }
            }
            Shape::Funnel => {
                for at in &l {
                    arcs.extend([(*at, l[1]), (*at, l[1])]);
                }
            }
            Shape::Acyclic => {
                for (i, from) in l.iter().enumerate() {
                    arcs.extend(l[i + 1..].iter().map(|to| (*from, *to)));
                }
            }
            Shape::Narrow | Shape::Mixed | Shape::Copies => {
                for _ in 0..self.rng.between(1, 5) {
                    arcs.push((self.rng.pick(&l), self.rng.pick(&l)));
                }
            }
        }
        (l, arcs)
    }

    /// Edges out of the initial location: bounds of parameters as guards, most variables set.
    fn initial(&mut self, to: LocId) {
        for _ in 0..1 + self.rng.one_in(4) as usize {
            let mut guard = self.bounds();
            if self.rng.one_in(3) {
                let more = self.condition(1);
                guard = self.cfa.pool.and(guard, more);
            }
            let mut updates = vec![];
            for var in self.state_vars() {
                let width = self.cfa.vars[var.index()].width;
                let value = match self.rng.below(6) {
                    0 => continue,
                    1..=3 if self.copies && width > 1 => self.cfa.sample(InputId(0)),
                    1 if self.copies => continue,
                    1 => self.expr(width, 1),
                    _ => {
                        let value = self.rng.word(width) & self.rng.word(width);
                        self.cfa.pool.constant(value, width)
                    }
                };
                updates.push((var, value));
            }
            let (from, span) = (self.cfa.init, Span::default());
            self.cfa.add_edge(Edge { from, to, guard, updates, span });
        }
    }

    /// Every parameter within its bounds, as a front end says it.
    fn bounds(&mut self) -> ExprId {
        let params: Vec<_> = self.cfa.params().map(|(id, v)| (id, v.clone())).collect();
        let mut all = self.cfa.pool.bool(true);
        for (id, v) in params {
            let VarKind::Param { min, max } = v.kind else { continue };
            let value = self.cfa.read(id);
            let pool = &mut self.cfa.pool;
            let le = if v.ty == Type::Signed { BinOp::Sle } else { BinOp::Ule };
            let (min, max) = (pool.constant(min, v.width), pool.constant(max, v.width));
            let low = pool.binary(le, min, value);
            let high = pool.binary(le, value, max);
            let both = pool.and(low, high);
            all = pool.and(all, both);
        }
        all
    }

    fn state_vars(&self) -> Vec<VarId> {
        let vars = self.cfa.vars.iter().enumerate();
        vars.filter(|(_, v)| v.kind == VarKind::State).map(|(i, _)| VarId(i as u32)).collect()
    }

    fn edge(&mut self, from: LocId, to: LocId) {
        let guard = match self.rng.below(4) {
            0 | 1 => self.cfa.pool.bool(true),
            2 if self.rng.one_in(6) => self.cfa.pool.bool(false),
            _ => self.condition(1),
        };
        let mut updates = vec![];
        for var in self.state_vars() {
            if self.rng.below(5) < 2 {
                continue;
            }
            let value = self.update(var);
            updates.push((var, value));
        }
        self.cfa.add_edge(Edge { from, to, guard, updates, span: Span::default() });
    }

    /// A new value: often one that keeps some invariant, so that safe automata are not trivial.
    fn update(&mut self, var: VarId) -> ExprId {
        let width = self.cfa.vars[var.index()].width;
        if self.copies {
            return if width == 1 { self.comparison() } else { self.copy(2) };
        }
        let now = self.cfa.read(var);
        let step = self.cfa.pool.constant(1 + self.rng.below(2) as Word, width);
        let limit = self.rng.word(width);
        match self.rng.below(6) {
            0 => self.cfa.pool.binary(BinOp::Add, now, step),
            1 => self.cfa.pool.binary(BinOp::Sub, now, step),
            2 => {
                let pool = &mut self.cfa.pool;
                let limit = pool.constant(limit, width);
                let below = pool.binary(BinOp::Ult, now, limit);
                let up = pool.binary(BinOp::Add, now, step);
                pool.ite(below, up, now)
            }
            3 => {
                let value = self.expr(width, 1);
                let mask = self.cfa.pool.constant(limit, width);
                self.cfa.pool.binary(BinOp::And, value, mask)
            }
            _ => self.expr(width, 2),
        }
    }

    /// A condition that is neither rarely nor mostly true.
    fn condition(&mut self, depth: usize) -> ExprId {
        if self.copies {
            return self.comparison();
        }
        let var = VarId(self.rng.below(self.cfa.vars.len()) as u32);
        let width = self.cfa.vars[var.index()].width;
        let left = self.cfa.read(var);
        let right = self.expr(width, depth);
        let ops = [BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle];
        let op = self.rng.pick(&ops);
        let holds = self.cfa.pool.binary(op, left, right);
        if self.rng.one_in(3) { self.cfa.pool.not(holds) } else { holds }
    }

    /// One of the words, or a constant.
    fn copy(&mut self, depth: usize) -> ExprId {
        match self.rng.below(8) {
            0 => self.cfa.pool.constant(self.rng.word(4) & 0b1001, 4),
            1..=3 if depth > 0 => {
                let (c, t, e) = (self.comparison(), self.copy(depth - 1), self.copy(depth - 1));
                self.cfa.pool.ite(c, t, e)
            }
            _ => self.cfa.read(VarId(self.rng.below(3) as u32)),
        }
    }

    /// How words compare, extended or not; and now and then the flag.
    fn comparison(&mut self) -> ExprId {
        if self.rng.one_in(4) {
            return self.cfa.read(VarId(3));
        }
        let depth = self.rng.below(2);
        let (left, right) = (self.copy(0), self.copy(depth));
        let ops = [BinOp::Eq, BinOp::Ult, BinOp::Ule, BinOp::Slt, BinOp::Sle];
        let op = self.rng.pick(&ops);
        let (width, signed) = (self.rng.pick(&[4, 4, 6]), self.rng.one_in(2));
        let pool = &mut self.cfa.pool;
        let (left, right) = (pool.extend(left, width, signed), pool.extend(right, width, signed));
        pool.binary(op, left, right)
    }

    /// A random expression.
    fn expr(&mut self, width: u32, depth: usize) -> ExprId {
        let signed = self.rng.one_in(2);
        if depth == 0 || self.rng.one_in(5) {
            let leaf = match self.rng.below(5) {
                0 => {
                    let value = self.rng.word(width);
                    return self.cfa.pool.constant(value, width);
                }
                1 if !self.cfa.inputs.is_empty() => {
                    let input = InputId(self.rng.below(self.cfa.inputs.len()) as u32);
                    self.cfa.sample(input)
                }
                _ => {
                    let var = VarId(self.rng.below(self.cfa.vars.len()) as u32);
                    self.cfa.read(var)
                }
            };
            return self.cfa.pool.resize(leaf, width, signed);
        }
        match self.rng.below(12) {
            0 => {
                let x = self.expr(width, depth - 1);
                let op = if signed { UnOp::Neg } else { UnOp::Not };
                self.cfa.pool.unary(op, x)
            }
            1 | 2 => {
                let c = self.condition(depth - 1);
                let (t, e) = (self.expr(width, depth - 1), self.expr(width, depth - 1));
                self.cfa.pool.ite(c, t, e)
            }
            3 if width >= 2 => {
                let low = 1 + self.rng.below(width as usize - 1) as u32;
                let (high, low) = (self.expr(width - low, depth - 1), self.expr(low, depth - 1));
                self.cfa.pool.binary(BinOp::Concat, high, low)
            }
            4 => {
                let x = self.expr(width + 1, depth - 1);
                self.cfa.pool.slice(x, self.rng.below(2) as u32, width)
            }
            5 => {
                let x = self.expr(width.div_ceil(2), depth - 1);
                self.cfa.pool.extend(x, width, signed)
            }
            6 => {
                let c = self.condition(depth - 1);
                self.cfa.pool.extend(c, width, signed)
            }
            _ => {
                use BinOp::*;
                let ops = [And, Or, Xor, Add, Sub, Mul, UDiv, URem, SDiv, SRem, Shl, LShr, AShr];
                let op = self.rng.pick(&ops);
                let (a, b) = (self.expr(width, depth - 1), self.expr(width, depth - 1));
                self.cfa.pool.binary(op, a, b)
            }
        }
    }

    /// One to three properties, with edges into their error locations from one or two places.
    fn properties(&mut self, shape: Shape, locations: &[LocId]) {
        for i in 0..self.rng.between(1, 3) {
            let shared = self.rng.one_in(8).then(|| self.cfa.properties.last()).flatten();
            let shared = shared.map(|p| p.error);
            let error = shared.unwrap_or_else(|| self.location());
            let lonely = shape == Shape::DeadEnds && self.rng.one_in(4);
            for _ in 0..if lonely { 0 } else { self.rng.between(1, 2) } {
                let from = self.rng.pick(locations);
                let mut guard = self.point();
                for _ in 0..self.rng.pick(&[0, 1, 1, 2]) {
                    let more = if self.rng.one_in(2) { self.point() } else { self.condition(1) };
                    guard = self.cfa.pool.and(guard, more);
                }
                let (updates, span) = (vec![], Span::default());
                self.cfa.add_edge(Edge { from, to: error, guard, updates, span });
            }
            self.cfa.properties.push(Property {
                name: format!("never{i}"),
                error,
                span: Span::default(),
            });
        }
    }

    /// A variable has one certain value.
    fn point(&mut self) -> ExprId {
        let var = VarId(self.rng.below(self.cfa.vars.len()) as u32);
        let now = self.cfa.read(var);
        let width = self.cfa.vars[var.index()].width;
        let value = self.rng.word(width) | self.rng.word(width);
        let value = self.cfa.pool.constant(value, width);
        self.cfa.pool.equal(now, value)
    }
}
