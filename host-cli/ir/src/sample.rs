//! Models and random numbers for tests.
#![allow(missing_docs, clippy::unwrap_used, clippy::should_implement_trait)]

use crate::*;

/// Numbers that look random and are the same each time (splitmix64).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x5851_f42d_4c95_7f2d)
    }
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let x = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }
    pub fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }
    pub fn coin(&mut self) -> bool {
        self.below(2) == 1
    }
    pub fn word(&mut self, width: u32) -> Word {
        ((self.next() as Word) << 64 | self.next() as Word) & mask(width)
    }
}

pub fn state_var(name: &str, width: u32, ty: Type) -> Var {
    Var { name: name.into(), width, ty, kind: VarKind::State }
}

pub fn edge(from: LocId, to: LocId, guard: ExprId, updates: Vec<(VarId, ExprId)>) -> Edge {
    Edge { from, to, guard, updates, span: Span::default() }
}

/// A timer counts up to a parameter and wraps; `closed` follows from the timer's end. The error is
/// a timer above the limit. With `bug`, it may be reset to 7.
///
/// Locations: init, Idle, Charge, `late timer`. Variables: timer (4), limit (1 to 6), mode.
pub fn timer(bug: bool) -> Cfa {
    let mut cfa = Cfa::new("timer");
    let timer = cfa.add_var(state_var("timer", 4, Type::Unsigned));
    let limit = cfa.add_var(Var {
        name: "limit".into(),
        width: 4,
        ty: Type::Unsigned,
        kind: VarKind::Param { min: 1, max: 6 },
    });
    let modes = Type::names(["Open", "Pre charge", "Closed"].map(String::from));
    let mode = cfa.add_var(state_var("contactor.mode", 2, modes));
    let input = |name: &str, width, ty| Input { name: name.into(), width, ty };
    let start = cfa.add_input(input("start", 1, Type::Bool));
    let add = cfa.add_input(input("add", 2, Type::Signed));
    let idle = cfa.add_location("Idle", Span::default());
    let charge = cfa.add_location("Charge", Span::default());
    let late = cfa.add_location("late timer", Span::default());
    cfa.properties.push(Property { name: "never late".into(), error: late, span: Span::default() });
    let (t, l) = (cfa.read(timer), cfa.read(limit));
    let (s, a) = (cfa.sample(start), cfa.sample(add));
    let p = &mut cfa.pool;
    let yes = p.bool(true);
    let (zero, one, seven) = (p.constant(0, 4), p.constant(1, 4), p.constant(7, 4));
    let modes: Vec<ExprId> = (0..3).map(|m| p.constant(m, 2)).collect();
    let below = p.binary(BinOp::Ult, t, l);
    let above = p.binary(BinOp::Ult, l, t);
    let done = p.not(below);
    let more = p.binary(BinOp::Add, t, one);
    let odd = p.slice(a, 0, 1);
    let go = p.and(s, odd);
    let reset = if bug { p.ite(s, seven, zero) } else { zero };
    cfa.add_edge(edge(cfa.init, idle, yes, vec![(timer, zero), (mode, modes[0])]));
    cfa.add_edge(edge(idle, charge, go, vec![(mode, modes[1])]));
    cfa.add_edge(edge(charge, charge, below, vec![(timer, more)]));
    cfa.add_edge(edge(charge, idle, done, vec![(timer, reset), (mode, modes[2])]));
    cfa.add_edge(edge(idle, late, above, vec![]));
    cfa.add_edge(edge(charge, late, above, vec![]));
    cfa.check().unwrap();
    cfa
}

fn lit(var: u32, bit: u32, value: bool) -> BitLit {
    BitLit { var: VarId(var), bit, value }
}

/// A certificate of `timer(false)`: 0 in Idle; at most the limit in Charge.
pub fn timer_certificate() -> Certificate {
    let mut clauses = vec![];
    for bit in 0..4 {
        clauses.push(Clause { location: LocId(1), lits: vec![lit(0, bit, false)] });
    }
    // timer <= limit: no bit of the timer is the highest that differs, and set.
    for timer in 0..16u32 {
        for limit in 0..timer {
            let bits = |var: u32, v: u32| (0..4).map(move |b| lit(var, b, v >> b & 1 == 0));
            let lits = bits(0, timer).chain(bits(1, limit)).collect();
            clauses.push(Clause { location: LocId(2), lits });
        }
    }
    clauses.push(Clause { location: LocId(3), lits: vec![] });
    Certificate { properties: vec![PropertyId(0)], clauses, ..Certificate::default() }
}

/// A trace of `timer(true)`.
pub fn timer_trace() -> Trace {
    let step = |edge, inputs: &[(u32, Word)]| Step {
        edge: EdgeId(edge),
        inputs: inputs.iter().map(|(i, v)| (InputId(*i), *v)).collect(),
    };
    Trace::new(
        PropertyId(0),
        vec![(VarId(1), 2), (VarId(0), 9)],
        vec![
            step(0, &[]),
            step(1, &[(0, 1), (1, 3)]),
            step(2, &[]),
            step(2, &[]),
            step(3, &[(0, 1)]),
            step(4, &[]),
        ],
    )
}

/// A random expression of this width over what `cfa` has.
pub fn random_expr(cfa: &mut Cfa, r: &mut Random, width: u32, depth: u32) -> ExprId {
    use BinOp::*;
    if depth == 0 || r.below(8) == 0 {
        let source = match r.below(5) {
            0 => {
                let value = r.word(width);
                return cfa.pool.constant(value, width);
            }
            1 | 2 if !cfa.inputs.is_empty() => {
                let id = r.below(cfa.inputs.len());
                cfa.sample(InputId(id as u32))
            }
            _ => {
                let id = r.below(cfa.vars.len());
                cfa.read(VarId(id as u32))
            }
        };
        let signed = r.coin();
        return cfa.pool.resize(source, width, signed);
    }
    let mut sub = |cfa: &mut Cfa, width| random_expr(cfa, r, width, depth - 1);
    let (a, b) = (sub(cfa, width), sub(cfa, width));
    match r.below(24) {
        0 => cfa.pool.not(a),
        1 => cfa.pool.unary(UnOp::Neg, a),
        2 | 3 => {
            let c = random_expr(cfa, r, 1, depth - 1);
            cfa.pool.ite(c, a, b)
        }
        4 if width > 1 => {
            let high = 1 + r.below(width as usize - 1) as u32;
            let (a, b) = (cfa.pool.slice(a, 0, high), cfa.pool.slice(b, 0, width - high));
            cfa.pool.binary(Concat, a, b)
        }
        5 if width < 100 => {
            let wide = width + 1 + r.below(3) as u32;
            let lo = r.below((wide - width) as usize + 1) as u32;
            let x = random_expr(cfa, r, wide, depth - 1);
            cfa.pool.slice(x, lo, width)
        }
        6 if width > 1 => {
            let x = cfa.pool.slice(a, 0, width - 1);
            let signed = r.coin();
            cfa.pool.extend(x, width, signed)
        }
        n if width == 1 && n > 12 => {
            let w = 1 + r.below(4) as u32;
            let (a, b) = (random_expr(cfa, r, w, depth - 1), random_expr(cfa, r, w, depth - 1));
            let op = [Eq, Ult, Ule, Slt, Sle][r.below(5)];
            cfa.pool.binary(op, a, b)
        }
        _ => {
            let ops = [And, Or, Xor, Add, Sub, Mul, UDiv, URem, SDiv, SRem, Shl, LShr, AShr];
            let op = ops[r.below(ops.len())];
            cfa.pool.binary(op, a, b)
        }
    }
}

/// A random automaton, small enough to look at all its states: at most 6 bits of variables and 3 of
/// inputs, one of the variables perhaps a parameter.
pub fn random_cfa(r: &mut Random) -> Cfa {
    let mut cfa = Cfa::new("random");
    let mut bits = 6;
    for i in 0..1 + r.below(3) {
        let width = 1 + r.below(3.min(bits - 2)) as u32;
        bits -= width as usize;
        let ty = if r.coin() { Type::Signed } else { Type::Unsigned };
        let mut var = state_var(&format!("v{i}"), width, ty);
        if i == 1 && r.coin() {
            let value = |x: Word| match var.ty {
                Type::Signed => eval::sign_extend(x, width) as i128,
                _ => x as i128,
            };
            let (x, y) = (r.word(width), r.word(width));
            let (min, max) = if value(x) <= value(y) { (x, y) } else { (y, x) };
            var.kind = VarKind::Param { min, max };
        }
        cfa.add_var(var);
        if bits <= 2 {
            break;
        }
    }
    for i in 0..r.below(3) {
        let width = 1 + (i == 0 && r.coin()) as u32;
        cfa.add_input(Input { name: format!("i{i}"), width, ty: Type::Unsigned });
    }
    let inner = 1 + r.below(3);
    for i in 0..inner {
        cfa.add_location(format!("l{i}"), Span::default());
    }
    let errors = 1 + r.below(2);
    for i in 0..errors {
        let error = cfa.add_location(format!("e{i}"), Span::default());
        cfa.properties.push(Property { name: format!("p{i}"), error, span: Span::default() });
    }
    for _ in 0..inner + errors + r.below(4) {
        let from = LocId(r.below(1 + inner) as u32);
        let to = LocId(1 + r.below(inner + errors) as u32);
        let guard = random_expr(&mut cfa, r, 1, 3);
        let mut updates = vec![];
        for (i, var) in cfa.vars.clone().iter().enumerate() {
            if var.kind == VarKind::State && r.below(3) > 0 {
                updates.push((VarId(i as u32), random_expr(&mut cfa, r, var.width, 2)));
            }
        }
        cfa.add_edge(edge(from, to, guard, updates));
    }
    cfa.check().unwrap();
    cfa
}

/// Every combination of values of these widths.
pub fn all_values(widths: &[u32]) -> Vec<Vec<Word>> {
    widths.iter().fold(vec![vec![]], |all, width| {
        let extend = |values: Vec<Word>| {
            (0..=mask(*width)).map(move |v| values.iter().copied().chain([v]).collect())
        };
        all.into_iter().flat_map(extend).collect()
    })
}
