//! What edges do to sums of words, as questions to a solver.

use super::domain::compared;
use super::templates::{Rung, Side, Templates};
use crate::engines::clock::{Clock, Stop};
use crate::engines::sat::{Encoder, SatLit};
use crate::gates::aig::Lit;
use crate::gates::expr::{Blaster, Leaf, TooManyNodes};
use crate::gates::words;
use crate::simplify::affine;
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::{Cfa, EdgeId, ExprId, InputId, Type, VarId, VarKind, Word, eval};

/// Gates that are made at most.
const GATES: usize = 4_000_000;

/// Why there is no answer.
pub enum Failure {
    /// It takes too many gates, or too much time.
    TooLarge,
    /// The run ends.
    Stop(Stop),
}

impl From<Stop> for Failure {
    fn from(stop: Stop) -> Failure {
        Failure::Stop(stop)
    }
}

impl From<TooManyNodes> for Failure {
    fn from(_: TooManyNodes) -> Failure {
        Failure::TooLarge
    }
}

/// An automaton whose pool has the values of all sums.
pub struct Extended {
    cfa: Cfa,
    /// The sums at first.
    before: Vec<ExprId>,
    /// The sums after an edge.
    after: HashMap<EdgeId, Vec<ExprId>>,
}

/// The edges of an automaton, and a solver for each.
pub struct Post<'b, 'j> {
    own: &'b Extended,
    templates: &'b Templates,
    /// Bits of parameters that are bound.
    bound: &'b [((VarId, u32), bool)],
    clock: &'j Clock<'j>,
    blaster: Blaster<'b>,
    encoders: HashMap<EdgeId, Encoder<'j>>,
}

impl<'b, 'j> Post<'b, 'j> {
    /// The values of sums before and after these edges, as expressions in which what cancels out is gone.
    pub fn extended(cfa: &Cfa, edges: &[EdgeId], templates: &Templates) -> Extended {
        let mut cfa = cfa.clone();
        let sums = &templates.sums;
        let kept = HashMap::default();
        let before = sums.iter().map(|sum| affine::sum(&mut cfa, sum, &kept)).collect();
        let mut after = HashMap::default();
        for edge in edges {
            let new = cfa.edges[edge.index()].updates.iter().copied().collect();
            let own = sums.iter().map(|sum| affine::sum(&mut cfa, sum, &new)).collect();
            after.insert(*edge, own);
        }
        Extended { cfa, before, after }
    }

    /// Without any solvers: each is made when its edge is first asked about.
    pub fn new(
        own: &'b Extended,
        templates: &'b Templates,
        bound: &'b [((VarId, u32), bool)],
        clock: &'j Clock<'j>,
    ) -> Result<Post<'b, 'j>, Failure> {
        let blaster = Blaster::new(&own.cfa, GATES)?;
        Ok(Post { own, templates, bound, clock, blaster, encoders: HashMap::default() })
    }

    /// About how many bytes it takes.
    pub fn bytes(&self) -> usize {
        let solvers: usize = self.encoders.values().map(Encoder::bytes).sum();
        solvers + 64 * self.blaster.graph().len()
    }

    /// A state to which an edge leads from one in which all of these hold, and in which not all of the others do; any
    /// state if there are no others to keep to.
    pub fn escape(
        &mut self,
        edge: EdgeId,
        assumed: &[Rung],
        kept: Option<&[Rung]>,
    ) -> Result<Option<Vec<Word>>, Failure> {
        if kept.is_some_and(<[Rung]>::is_empty) {
            return Ok(None);
        }
        let guard = self.blaster.word(self.own.cfa.edges[edge.index()].guard)?[0];
        let mut holding = vec![guard];
        for rung in assumed {
            holding.push(self.rung(&self.own.before, rung)?);
        }
        let mut others = vec![];
        for rung in kept.unwrap_or_default() {
            others.push(!self.rung(&self.own.after[&edge], rung)?);
        }
        let is_new = !self.encoders.contains_key(&edge);
        let parameters = if is_new { self.parameters() } else { vec![] };
        let encoder = self.encoders.entry(edge).or_insert_with(|| Encoder::new(self.clock));
        for lit in parameters {
            let lit = encoder.lit(self.blaster.graph(), lit);
            encoder.add(&[lit]);
        }
        let graph = self.blaster.graph();
        let mut all: Vec<SatLit> = holding.iter().map(|lit| encoder.lit(graph, *lit)).collect();
        if kept.is_some() {
            let on = encoder.fresh();
            let mut clause: Vec<SatLit> = others.iter().map(|l| encoder.lit(graph, *l)).collect();
            clause.push(!on);
            encoder.add(&clause);
            all.push(on);
        }
        if !encoder.solve(&all)? {
            return Ok(None);
        }
        let mut state = vec![0; self.own.cfa.vars.len()];
        let mut inputs: HashMap<InputId, Word> = HashMap::default();
        for node in 0..graph.len() {
            let Some(leaf) = self.blaster.leaf(node) else { continue };
            let is_set = encoder.gate_value(Lit::new(node, true)) == Some(true);
            match leaf {
                Leaf::State(flat) => {
                    let (var, bit) = self.blaster.state_bit(flat);
                    state[var.index()] |= (is_set as Word) << bit;
                }
                Leaf::Input(input, bit) => {
                    *inputs.entry(input).or_default() |= (is_set as Word) << bit;
                }
            }
        }
        let value = |input: InputId| inputs.get(&input).copied().unwrap_or(0);
        let next = eval::step(&self.own.cfa, &state, edge, value);
        // The interpreter has the last word.
        next.map(Some).ok_or(Failure::TooLarge)
    }

    /// A comparison of sums that have these values.
    fn rung(&mut self, sums: &[ExprId], rung: &Rung) -> Result<Lit, Failure> {
        let width = self.templates.width(rung);
        let mut side = |side| match side {
            Side::Number(number) => Ok(words::constant(number, width)),
            Side::Sum(sum) => self.blaster.word(sums[sum]).map(<[Lit]>::to_vec),
        };
        let (left, right) = (side(rung.left)?, side(rung.right)?);
        let lit = compared(self.blaster.graph_mut(), rung.op, &left, &right);
        lit.ok_or(Failure::TooLarge)
    }

    /// Parameters are within their bounds, and those that are bound have their value.
    fn parameters(&mut self) -> Vec<Lit> {
        let mut all = vec![];
        for ((var, bit), value) in self.bound {
            let flat = self.blaster.flat(*var, *bit);
            all.push(self.blaster.state(flat).negated_if(!value));
        }
        for (id, var) in self.own.cfa.params() {
            let VarKind::Param { min, max } = var.kind else { continue };
            let own: Vec<Lit> =
                (0..var.width).map(|bit| self.blaster.state(self.blaster.flat(id, bit))).collect();
            let graph = self.blaster.graph_mut();
            let less = match var.ty {
                Type::Signed => words::signed_less,
                _ => words::less,
            };
            let (min, max) = (words::constant(min, var.width), words::constant(max, var.width));
            all.extend([!less(graph, &own, &min), !less(graph, &max, &own)]);
        }
        all
    }
}
