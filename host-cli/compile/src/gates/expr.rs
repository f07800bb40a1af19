//! From expressions to literals: each node of the pool is blasted once, when it is first needed.
//!
//! All edges share one graph over the *flat* bits of the automaton: the bits of all variables in the
//! order of (variable, bit), then those of all inputs.

use super::aig::{Graph, Lit, Node};
use super::words::{self, Bits, Shift};
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::{BinOp, Cfa, Expr, ExprId, InputId, UnOp, VarId};

/// What a leaf of the graph represents.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Leaf {
    /// A flat state bit.
    State(u32),
    /// A bit of an input.
    Input(InputId, u32),
}

/// The graph of an automaton while it grows.
pub struct Blaster<'a> {
    cfa: &'a Cfa,
    graph: Graph,
    /// The words of the expressions seen so far.
    words: Vec<Option<Bits>>,
    /// Quotients and remainders by (signed, dividend, divisor): whoever needs one has the other.
    divisions: HashMap<(bool, ExprId, ExprId), (Bits, Bits)>,
    /// Flat number of each variable's lowest bit; one more entry for the end.
    vars: Vec<u32>,
    /// The same for inputs.
    inputs: Vec<u32>,
    /// No more nodes than this.
    max_nodes: usize,
}

/// The graph has more nodes than allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TooManyNodes;

/// Running sums of `widths` from `base`.
fn offsets(base: u32, widths: impl Iterator<Item = u32>) -> Result<Vec<u32>, TooManyNodes> {
    let mut sums = vec![base];
    let mut sum = base;
    for width in widths {
        sum = sum.checked_add(width).ok_or(TooManyNodes)?;
        sums.push(sum);
    }
    Ok(sums)
}

impl<'a> Blaster<'a> {
    /// An empty graph for `cfa`.
    pub fn new(cfa: &'a Cfa, max_nodes: usize) -> Result<Blaster<'a>, TooManyNodes> {
        let vars = offsets(0, cfa.vars.iter().map(|v| v.width))?;
        let base = vars.last().copied().unwrap_or(0);
        let inputs = offsets(base, cfa.inputs.iter().map(|i| i.width))?;
        Ok(Blaster {
            cfa,
            graph: Graph::default(),
            words: vec![None; cfa.pool.len()],
            divisions: HashMap::default(),
            vars,
            inputs,
            max_nodes: max_nodes.min(u32::MAX as usize / 4),
        })
    }

    /// The graph of all expressions blasted so far.
    pub fn graph(&self) -> &Graph {
        &self.graph
    }
    /// The same, for more gates on top.
    pub fn graph_mut(&mut self) -> &mut Graph {
        &mut self.graph
    }
    /// The flat number of a variable's bit.
    pub fn flat(&self, var: VarId, bit: u32) -> u32 {
        self.vars[var.index()] + bit
    }
    /// Number of flat state bits.
    pub fn state_bits(&self) -> u32 {
        self.inputs[0]
    }
    /// The variable and bit that a flat state bit is.
    pub fn state_bit(&self, flat: u32) -> (VarId, u32) {
        let var = self.vars.partition_point(|first| *first <= flat) - 1;
        (VarId(var as u32), flat - self.vars[var])
    }
    /// What a node is, if it is a leaf.
    pub fn leaf(&self, node: usize) -> Option<Leaf> {
        match self.graph.node(node) {
            Node::Leaf(flat) if flat < self.state_bits() => Some(Leaf::State(flat)),
            Node::Leaf(flat) => {
                let input = self.inputs.partition_point(|first| *first <= flat) - 1;
                Some(Leaf::Input(InputId(input as u32), flat - self.inputs[input]))
            }
            _ => None,
        }
    }
    /// The literal of a flat state bit.
    pub fn state(&mut self, flat: u32) -> Lit {
        self.graph.leaf(flat)
    }

    /// What a literal is when others hold ([`Graph::under`]).
    pub fn under(
        &mut self,
        lit: Lit,
        holding: &HashMap<usize, Lit>,
        done: &mut HashMap<usize, Lit>,
    ) -> Result<Lit, TooManyNodes> {
        let lit = self.graph.under(lit, holding, done);
        if self.graph.len() > self.max_nodes { Err(TooManyNodes) } else { Ok(lit) }
    }

    /// The word of an expression.
    pub fn word(&mut self, root: ExprId) -> Result<&[Lit], TooManyNodes> {
        let pool = &self.cfa.pool;
        let mut stack = vec![root];
        while let Some(&id) = stack.last() {
            vouch_ir::deadline::tick();
            if self.words[id.0 as usize].is_some() {
                stack.pop();
                continue;
            }
            let before = stack.len();
            stack.extend(pool.operands(id).filter(|o| self.words[o.0 as usize].is_none()));
            if stack.len() == before {
                let bits = self.blast(id);
                debug_assert_eq!(bits.len(), pool.width(id) as usize, "{:?}", pool.get(id));
                self.words[id.0 as usize] = Some(bits);
                stack.pop();
                // One operator adds at most some hundred thousand nodes: checking here suffices.
                if self.graph.len() > self.max_nodes {
                    return Err(TooManyNodes);
                }
            }
        }
        Ok(self.words[root.0 as usize].as_deref().unwrap_or_default())
    }

    /// The word of a node whose operands have theirs.
    fn blast(&mut self, id: ExprId) -> Bits {
        let pool = &self.cfa.pool;
        let width = pool.width(id);
        let g = &mut self.graph;
        let get = |x: ExprId| self.words[x.0 as usize].as_deref().unwrap_or_default();
        match pool.get(id) {
            Expr::Const(value) => words::constant(value, width),
            Expr::Var(v) => (0..width).map(|i| g.leaf(self.vars[v.index()] + i)).collect(),
            Expr::Input(i) => (0..width).map(|b| g.leaf(self.inputs[i.index()] + b)).collect(),
            Expr::Unary(UnOp::Not, x) => words::not(get(x)),
            Expr::Unary(UnOp::Neg, x) => words::neg(g, get(x)),
            Expr::Ite(c, t, e) => {
                let c = get(c)[0];
                words::mux(g, c, get(t), get(e))
            }
            Expr::Slice { x, lo } => get(x)[lo as usize..(lo + width) as usize].to_vec(),
            Expr::Extend { x, signed } => {
                let mut bits = get(x).to_vec();
                let sign = bits.last().copied().filter(|_| signed).unwrap_or(Lit::FALSE);
                bits.resize(width as usize, sign);
                bits
            }
            Expr::Binary(op, a, b) => {
                let (wa, wb) = (get(a), get(b));
                match op {
                    BinOp::And => words::bitwise(g, wa, wb, Graph::and),
                    BinOp::Or => words::bitwise(g, wa, wb, Graph::or),
                    BinOp::Xor => words::bitwise(g, wa, wb, Graph::xor),
                    BinOp::Add => words::add(g, wa, wb),
                    BinOp::Sub => words::sub(g, wa, wb),
                    BinOp::Mul => words::mul(g, wa, wb),
                    BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem => {
                        let signed = matches!(op, BinOp::SDiv | BinOp::SRem);
                        let (quotient, rest) =
                            self.divisions.entry((signed, a, b)).or_insert_with(|| {
                                if signed {
                                    words::signed_div_rem(g, wa, wb)
                                } else {
                                    words::div_rem(g, wa, wb)
                                }
                            });
                        let quotient_asked = matches!(op, BinOp::UDiv | BinOp::SDiv);
                        if quotient_asked { quotient.clone() } else { rest.clone() }
                    }
                    BinOp::Shl => words::shift(g, Shift::Left, wa, wb),
                    BinOp::LShr => words::shift(g, Shift::Right, wa, wb),
                    BinOp::AShr => words::shift(g, Shift::Arithmetic, wa, wb),
                    BinOp::Eq => vec![words::equal(g, wa, wb)],
                    BinOp::Ult => vec![words::less(g, wa, wb)],
                    BinOp::Ule => vec![!words::less(g, wb, wa)],
                    BinOp::Slt => vec![words::signed_less(g, wa, wb)],
                    BinOp::Sle => vec![!words::signed_less(g, wb, wa)],
                    BinOp::Concat => [wb, wa].concat(),
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "expr_tests.rs"]
mod tests;
