//! The run of a program whose inputs never change, executed to its end. Without inputs it is the only one.
//!
//! A program without inputs does one thing after the other, for millions of steps maybe; symbolic engines would have to
//! unroll these, and explicit-state search to keep them. Here the automaton becomes instructions of a machine with
//! registers of 64 bits, which does a step in a few nanoseconds and remembers nothing but what was broken. If it ends and
//! was the only run ([`determined`]), nothing else ever is. If there are inputs, some values are tried that programs are
//! seldom tested with.
//!
//! Limits: no wider values, never two edges that can be taken, unless they break something, and a run that ends. If it
//! does not, what was broken is told after a while.

mod determined;

use super::clock::{Clock, Stop};
use super::found::Found;
use super::ic3cfa::Watch;
use super::job::{Job, with_job};
use super::{Answer, EngineError, Setup};
use crate::blast::AlignedImage;
use crate::ir::{BinOp, Cfa, EdgeId, Expr, ExprId, Input, InputId, UnOp, VarId, VarKind, mask};
use rustc_hash::FxHashMap as HashMap;
use std::rc::Rc;
use vouch_core::ic3::{Limit, Verdict};
use vouch_core::word::Word;

/// The widest value that a register holds.
const WIDEST: u32 = 64;
/// Jumps between two looks at the clock.
const STRIDE: u64 = 1 << 16;
/// Most instructions, about, of a run that is one of many: others may be worth more.
const MOST: u64 = 1 << 27;

/// What inputs of this width are, in one run after the other: 0, the largest numbers with and without a sign, a number whose
/// square is too large, and 1.
fn choices(width: u32) -> [u64; 5] {
    let all = mask(width.min(WIDEST)) as u64;
    [0, all >> 1, all, all >> (width.min(WIDEST) / 2).saturating_sub(1), 1]
}

/// Checks `image` by what it was compiled from.
pub fn run(image: &AlignedImage, setup: &Setup, watch: Watch<'_>) -> Result<Answer, EngineError> {
    with_job!(image, setup, watch, search)
}

fn search<'j, W: Word>(job: &'j Job<'j, W>, mut found: Found) -> Result<Answer, EngineError> {
    let stop = decide(job, &mut found).err();
    Ok(found.end(stop, &job.clock))
}

fn decide<'j, W: Word>(job: &'j Job<'j, W>, found: &mut Found) -> Result<(), Stop> {
    let unsuitable = || job.clock.stop(Stop::Limit(Limit::Capacity));
    let Some(cfa) = job.setup.written.as_deref() else { return unsuitable() };
    let mut first: Vec<u64> = vec![0; cfa.vars.len()];
    for (var, value) in cfa.vars.iter().zip(&mut first) {
        if let VarKind::Param { min, .. } = var.kind {
            *value = min as u64;
        }
    }
    let params: Vec<VarId> = cfa.params().map(|p| p.0).collect();
    let mut bound = vec![];
    for &(param, value) in &job.setup.bindings {
        if let Some(var) = params.get(param as usize) {
            first[var.index()] = value;
            bound.push(*var);
        }
    }
    let Some(compiled) = Compiler::new(cfa, first).compile() else { return unsuitable() };
    let is_only = determined::is_determined(cfa, &bound);
    let (runs, most) = if is_only { (1, u64::MAX) } else { (choices(1).len(), compiled.most) };
    for choice in 0..runs {
        let mut machine = compiled.clone();
        machine.choose(choice);
        let is_over = machine.execute(&job.clock, &found.open(), most);
        for property in found.open() {
            let verdict = match machine.broken[property] {
                true => Verdict::Unsafe,
                false if is_only && is_over => Verdict::Safe,
                false => continue,
            };
            found.answer.verdicts[property] = verdict;
            found.answer.executed.properties.push(property);
        }
        if !found.answer.executed.properties.is_empty() {
            let input =
                |(id, input): (u32, &Input)| (InputId(id), choices(input.width)[choice].into());
            found.answer.executed.inputs = (0..).zip(&cfa.inputs).map(input).collect();
            break;
        }
    }
    match (job.clock.stopped(), found.open().is_empty()) {
        (Some(stop), _) => Err(stop),
        (None, true) => Ok(()),
        (None, false) => unsuitable(),
    }
}

/// Why the machine stops.
enum Pause {
    /// So many jumps were done.
    Jumps,
    /// Something is broken for the first time.
    Broken,
    /// Nothing can be done where it is.
    End,
    /// Several things can.
    Choice,
}

#[derive(Clone)]
struct Machine {
    code: Rc<[Instruction]>,
    registers: Vec<u64>,
    at: usize,
    /// Which properties are.
    broken: Vec<bool>,
    /// Widths of inputs, and the register of each.
    inputs: Vec<(u32, u32)>,
    /// Jumps in [`MOST`] instructions, if all locations are alike.
    most: u64,
}

/// Three operands are registers, and one is a width, a distance or an address.
#[derive(Clone, Copy)]
struct Instruction {
    what: What,
    /// Bits that a value of its width has.
    mask: u64,
    to: u32,
    a: u32,
    b: u32,
    c: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum What {
    Copy,
    Not,
    Neg,
    Binary(BinOp),
    Ite,
    Slice,
    SignExtend,
    /// Goes to the address `c` if `a` is 0.
    Unless,
    /// Gives up if `a` is not 0.
    ChoiceIf,
    /// Goes to the address `c`.
    Jump,
    /// Breaks property `c` if `a` is not 0.
    BrokenIf,
    /// Nothing can be done.
    End,
}

impl Machine {
    /// Has inputs be what they are in one of the runs.
    fn choose(&mut self, choice: usize) {
        for (width, register) in &self.inputs {
            self.registers[*register as usize] = choices(*width)[choice];
        }
    }

    /// Goes on until it ends, or all of these are broken, or for about so many jumps. Whether it has come to its end.
    fn execute(&mut self, clock: &Clock<'_>, open: &[usize], mut most: u64) -> bool {
        let mut jumps = 0;
        loop {
            match self.go(STRIDE) {
                _ if open.iter().all(|p| self.broken[*p]) => return false,
                Pause::Jumps if jumps < most => jumps += STRIDE,
                // Not for ever if something is known.
                Pause::Broken => most = most.min(2 * jumps + self.most),
                Pause::End => return true,
                Pause::Jumps | Pause::Choice => return false,
            }
            if clock.work(STRIDE).is_err() {
                return false;
            }
        }
    }

    /// Goes on for so many jumps.
    fn go(&mut self, jumps: u64) -> Pause {
        let Machine { code, registers: r, at, broken, .. } = self;
        let mut left = jumps;
        loop {
            let Instruction { what, mask, to, a, b, c } = code[*at];
            let (to, a, b) = (to as usize, a as usize, b as usize);
            *at += 1;
            r[to] = match what {
                What::Copy => r[a],
                What::Not => !r[a] & mask,
                What::Neg => r[a].wrapping_neg() & mask,
                What::Binary(op) => binary(op, r[a], r[b], mask, c),
                What::Ite => r[if r[a] != 0 { b } else { c as usize }],
                What::Slice => r[a] >> c & mask,
                What::SignExtend => signed(r[a], c) as u64 & mask,
                What::Unless => {
                    if r[a] == 0 {
                        *at = c as usize;
                    }
                    continue;
                }
                What::ChoiceIf if r[a] == 0 => continue,
                What::ChoiceIf => return Pause::Choice,
                What::End => {
                    *at -= 1;
                    return Pause::End;
                }
                What::BrokenIf => {
                    if r[a] != 0 && !std::mem::replace(&mut broken[c as usize], true) {
                        return Pause::Broken;
                    }
                    continue;
                }
                What::Jump => {
                    *at = c as usize;
                    left -= 1;
                    if left == 0 {
                        return Pause::Jumps;
                    }
                    continue;
                }
            };
        }
    }
}

/// The value of the lowest `width` bits in two's complement.
fn signed(value: u64, width: u32) -> i64 {
    ((value << (64 - width)) as i64) >> (64 - width)
}

/// A binary operator; `width` is the first operand's, or where the second one of a concatenation ends.
#[inline]
fn binary(op: BinOp, a: u64, b: u64, mask: u64, width: u32) -> u64 {
    let bit = |is: bool| is as u64;
    let sign = |x: u64| signed(x, width);
    match op {
        BinOp::And => a & b,
        BinOp::Or => a | b,
        BinOp::Xor => a ^ b,
        BinOp::Add => a.wrapping_add(b) & mask,
        BinOp::Sub => a.wrapping_sub(b) & mask,
        BinOp::Mul => a.wrapping_mul(b) & mask,
        BinOp::UDiv => a.checked_div(b).unwrap_or(mask),
        BinOp::URem => a.checked_rem(b).unwrap_or(a),
        BinOp::SDiv if b == 0 => {
            if sign(a) < 0 {
                1
            } else {
                mask
            }
        }
        BinOp::SDiv => sign(a).wrapping_div(sign(b)) as u64 & mask,
        BinOp::SRem if b == 0 => a,
        BinOp::SRem => sign(a).wrapping_rem(sign(b)) as u64 & mask,
        BinOp::Shl if b < width.into() => a << b & mask,
        BinOp::LShr if b < width.into() => a >> b,
        BinOp::Shl | BinOp::LShr => 0,
        BinOp::AShr => (sign(a) >> b.min(63)) as u64 & mask,
        BinOp::Eq => bit(a == b),
        BinOp::Ult => bit(a < b),
        BinOp::Ule => bit(a <= b),
        BinOp::Slt => bit(sign(a) < sign(b)),
        BinOp::Sle => bit(sign(a) <= sign(b)),
        BinOp::Concat => a << width | b,
    }
}

/// Makes instructions of an automaton. Registers are the variables, then what expressions need.
struct Compiler<'a> {
    cfa: &'a Cfa,
    code: Vec<Instruction>,
    registers: Vec<u64>,
    constants: HashMap<u64, u32>,
    inputs: HashMap<u32, u32>,
}

impl<'a> Compiler<'a> {
    fn new(cfa: &'a Cfa, registers: Vec<u64>) -> Compiler<'a> {
        let (constants, inputs) = (HashMap::default(), HashMap::default());
        Compiler { cfa, code: vec![], registers, constants, inputs }
    }

    /// `None` if something is too wide.
    fn compile(mut self) -> Option<Machine> {
        let leaving = self.cfa.leaving();
        let mut starts = vec![];
        for edges in &leaving {
            starts.push(self.code.len() as u32);
            self.location(edges)?;
        }
        // Jumps know locations, not yet addresses.
        for instruction in self.code.iter_mut().filter(|i| i.what == What::Jump) {
            instruction.c = starts[instruction.c as usize];
        }
        let at = starts[self.cfa.init.index()] as usize;
        let broken = vec![false; self.cfa.properties.len()];
        let most = MOST * starts.len() as u64 / self.code.len() as u64;
        let (code, inputs) = (self.code.into(), self.inputs.into_iter().collect());
        Some(Machine { code, registers: self.registers, at, broken, inputs, most })
    }

    /// All guards first; then the edge whose guard holds, unless there are two.
    fn location(&mut self, edges: &[EdgeId]) -> Option<()> {
        let cfa = self.cfa;
        let inputs = edges.iter().flat_map(|id| cfa.edge_inputs(&cfa.edges[id.index()]));
        if inputs.into_iter().any(|input| cfa.approximate.contains(&input)) {
            // Nobody knows what the program would do.
            let one = self.constant(1);
            self.emit(What::ChoiceIf, 0, 0, [one, 0, 0]);
        }
        let mut known = HashMap::default();
        let (mut steps, mut guards) = (vec![], vec![]);
        for id in edges {
            let edge = &cfa.edges[id.index()];
            let guard = self.value(edge.guard, &mut known)?;
            let mut breaks =
                (0..).zip(&cfa.properties).filter(|(_, p)| p.error == edge.to).peekable();
            if breaks.peek().is_none() {
                steps.push(edge);
                guards.push(guard);
            }
            for (property, _) in breaks {
                self.emit(What::BrokenIf, 0, 0, [guard, 0, property]);
            }
        }
        for (number, edge) in steps.into_iter().enumerate() {
            let unless = self.code.len();
            self.emit(What::Unless, 0, 0, [guards[number], 0, 0]);
            for other in &guards[number + 1..] {
                self.emit(What::ChoiceIf, 0, 0, [*other, 0, 0]);
            }
            let mut own = known.clone();
            let mut moves = vec![];
            for (var, value) in &edge.updates {
                let mut from = self.value(*value, &mut own)?;
                // A variable may have its new value when another one wants the old.
                if (from as usize) < self.cfa.vars.len() {
                    let copy = self.register();
                    self.emit(What::Copy, copy, 0, [from, 0, 0]);
                    from = copy;
                }
                moves.push((from, var.0));
            }
            for (from, to) in moves {
                self.emit(What::Copy, to, 0, [from, 0, 0]);
            }
            self.emit(What::Jump, 0, 0, [0, 0, edge.to.0]);
            self.code[unless].c = self.code.len() as u32;
        }
        self.emit(What::End, 0, 0, [0; 3]);
        Some(())
    }

    fn register(&mut self) -> u32 {
        self.registers.push(0);
        self.registers.len() as u32 - 1
    }

    /// The register that has this value for good.
    fn constant(&mut self, value: u64) -> u32 {
        *self.constants.entry(value).or_insert_with(|| {
            self.registers.push(value);
            self.registers.len() as u32 - 1
        })
    }

    fn emit(&mut self, what: What, to: u32, mask: u64, [a, b, c]: [u32; 3]) {
        self.code.push(Instruction { what, mask, to, a, b, c });
    }

    /// The register that has the value of an expression, with the instructions that put it there.
    fn value(&mut self, root: ExprId, known: &mut HashMap<ExprId, u32>) -> Option<u32> {
        let pool = &self.cfa.pool;
        for id in pool.cone([root]) {
            if known.contains_key(&id) {
                continue;
            }
            let width = pool.width(id);
            if width > WIDEST {
                return None;
            }
            let mask = mask(width) as u64;
            let register = |x: ExprId| known.get(&x).copied();
            let (what, operands) = match pool.get(id) {
                Expr::Var(var) => {
                    known.insert(id, var.0);
                    continue;
                }
                Expr::Const(value) => {
                    known.insert(id, self.constant(value as u64));
                    continue;
                }
                Expr::Input(_) => {
                    // All inputs of a width are the same.
                    let register = self.inputs.entry(width).or_insert_with(|| {
                        self.registers.push(0);
                        self.registers.len() as u32 - 1
                    });
                    known.insert(id, *register);
                    continue;
                }
                Expr::Unary(UnOp::Not, x) => (What::Not, [register(x)?, 0, 0]),
                Expr::Unary(UnOp::Neg, x) => (What::Neg, [register(x)?, 0, 0]),
                Expr::Binary(op, a, b) => {
                    let of = if op == BinOp::Concat { b } else { a };
                    (What::Binary(op), [register(a)?, register(b)?, pool.width(of)])
                }
                Expr::Ite(c, t, e) => (What::Ite, [register(c)?, register(t)?, register(e)?]),
                Expr::Slice { x, lo } => (What::Slice, [register(x)?, 0, lo]),
                Expr::Extend { x, signed: false } => (What::Copy, [register(x)?, 0, 0]),
                Expr::Extend { x, signed: true } => {
                    (What::SignExtend, [register(x)?, 0, pool.width(x)])
                }
            };
            let to = self.register();
            self.emit(what, to, mask, operands);
            known.insert(id, to);
        }
        known.get(&root).copied()
    }
}
