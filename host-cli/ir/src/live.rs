//! Which variables matter at which location.
//!
//! A variable is live at a location if the guard of an edge that leaves it reads it, or the new
//! value of a variable that is live at such an edge's target. Keeping a value is reading it.

use super::{Cfa, Edge, Expr, ExprId, LocId, Marks, VarId};
use rustc_hash::FxHashMap as HashMap;

/// The variables that are live, for each location.
pub struct Live {
    words: Vec<Vec<u64>>,
}

impl Live {
    /// Computes the live variables, starting from the guards of all edges.
    pub fn of(cfa: &Cfa) -> Live {
        Live::of_guards(cfa, |_| true)
    }

    /// The same with only those guards that enter an error location: a soundness rule broken, for
    /// the test that shows that this is noticed.
    #[cfg(feature = "__sabotage")]
    pub fn of_properties_alone(cfa: &Cfa) -> Live {
        Live::of_guards(cfa, |edge| cfa.properties.iter().any(|p| p.error == edge.to))
    }

    /// Backwards from what these guards read, each node once for each location that reads it.
    fn of_guards(cfa: &Cfa, counts: impl Fn(&Edge) -> bool) -> Live {
        let words = vec![vec![0; cfa.vars.len().div_ceil(64)]; cfa.locations.len()];
        let mut live = Live { words };
        let mut entering = vec![vec![]; cfa.locations.len()];
        let mut updates: Vec<HashMap<VarId, ExprId>> = vec![];
        let mut seen = vec![Marks::new(cfa.pool.len()); cfa.locations.len()];
        let mut todo: Vec<(LocId, VarId)> = vec![];
        for (at, edge) in cfa.edges.iter().enumerate() {
            entering[edge.to.index()].push(at);
            updates.push(edge.updates.iter().copied().collect());
            if counts(edge) {
                live.read(cfa, edge.from, edge.guard, &mut seen[edge.from.index()], &mut todo);
            }
        }
        while let Some((location, var)) = todo.pop() {
            crate::deadline::tick();
            for &at in &entering[location.index()] {
                let from = cfa.edges[at].from;
                match updates[at].get(&var) {
                    Some(value) => {
                        live.read(cfa, from, *value, &mut seen[from.index()], &mut todo);
                    }
                    None if live.insert(from, var) => todo.push((from, var)),
                    None => {}
                }
            }
        }
        live
    }

    /// Whether a variable is live at a location.
    pub fn has(&self, location: LocId, var: VarId) -> bool {
        self.words[location.index()][var.index() / 64] >> (var.index() % 64) & 1 == 1
    }

    fn insert(&mut self, location: LocId, var: VarId) -> bool {
        let is_new = !self.has(location, var);
        self.words[location.index()][var.index() / 64] |= 1 << (var.index() % 64);
        is_new
    }

    fn read(
        &mut self,
        cfa: &Cfa,
        location: LocId,
        root: ExprId,
        seen: &mut Marks,
        todo: &mut Vec<(LocId, VarId)>,
    ) {
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            crate::deadline::tick();
            if !seen.insert(id) {
                continue;
            }
            if let Expr::Var(var) = cfa.pool.get(id)
                && self.insert(location, var)
            {
                todo.push((location, var));
            }
            stack.extend(cfa.pool.operands(id));
        }
    }
}
