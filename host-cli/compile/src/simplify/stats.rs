//! What a pass has removed.

use super::Pass;
use rustc_hash::FxHashSet as HashSet;
use std::time::Duration;
use vouch_ir::{Cfa, Edge, Expr, ExprId, VarKind, mask};

/// How large an automaton is, as far as its edges use it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Size {
    /// State variables that are read.
    pub vars: usize,
    /// Those of their bits that are read: of one that is only cut, the parts.
    pub bits: usize,
    /// Inputs that are read.
    pub inputs: usize,
    /// Locations that an edge enters or leaves.
    pub locations: usize,
    /// All edges of the automaton.
    pub edges: usize,
    /// Distinct expression nodes that guards and updates depend on.
    pub nodes: usize,
}

impl Size {
    /// Of this automaton.
    pub fn of(cfa: &Cfa) -> Size {
        let mut size = Size { edges: cfa.edges.len(), ..Size::default() };
        let mut read = vec![0; cfa.vars.len()];
        let mut whole = |id: ExprId| {
            if let Expr::Var(v) = cfa.pool.get(id) {
                read[v.index()] = mask(cfa.pool.width(id));
            }
        };
        let roots = cfa.edges.iter().flat_map(Edge::roots);
        roots.for_each(&mut whole);
        let all: Vec<ExprId> = used(cfa).collect();
        for id in &all {
            match cfa.pool.get(*id) {
                Expr::Slice { .. } => {}
                Expr::Input(_) => size.inputs += 1,
                _ => cfa.pool.operands(*id).for_each(&mut whole),
            }
        }
        for id in &all {
            if let Expr::Slice { x, lo } = cfa.pool.get(*id)
                && let Expr::Var(v) = cfa.pool.get(x)
            {
                read[v.index()] |= mask(cfa.pool.width(*id)) << lo;
            }
        }
        size.nodes = all.len();
        for (read, var) in read.iter().zip(&cfa.vars).filter(|(_, v)| v.kind == VarKind::State) {
            size.vars += (*read != 0) as usize;
            size.bits += (*read & mask(var.width)).count_ones() as usize;
        }
        let ends = cfa.edges.iter().flat_map(|e| [e.from, e.to]);
        size.locations = ends.collect::<HashSet<_>>().len();
        size
    }

    /// The numbers with their names, in the order in which they are shown.
    pub fn columns(&self) -> [(&'static str, usize); 6] {
        [
            ("variables", self.vars),
            ("bits", self.bits),
            ("inputs", self.inputs),
            ("locations", self.locations),
            ("edges", self.edges),
            ("expressions", self.nodes),
        ]
    }
}

/// The expressions that edges use, operands before users. Quicker than a cone where that is about all.
pub fn used(cfa: &Cfa) -> impl Iterator<Item = ExprId> {
    let mut used = vec![false; cfa.pool.len()];
    let roots = cfa.edges.iter().flat_map(Edge::roots);
    roots.for_each(|id| used[id.0 as usize] = true);
    for id in (0..cfa.pool.len() as u32).rev().map(ExprId) {
        if used[id.0 as usize] {
            cfa.pool.operands(id).for_each(|x| used[x.0 as usize] = true);
        }
    }
    (0..).map(ExprId).zip(used).filter(|(_, used)| *used).map(|(id, _)| id)
}

/// What a pass has done.
#[derive(Clone, Copy, Debug)]
pub struct PassStats {
    /// Which pass ran; one that runs several times has an entry for each run.
    pub pass: Pass,
    /// The automaton before.
    pub before: Size,
    /// The automaton after; it can be larger, since some passes add variables or locations.
    pub after: Size,
    /// How long it took.
    pub time: Duration,
}

/// How long it took makes no difference.
impl PartialEq for PassStats {
    fn eq(&self, other: &PassStats) -> bool {
        (self.pass, self.before, self.after) == (other.pass, other.before, other.after)
    }
}
