//! First values that depend on those of other states.
//!
//! In the automaton the states' values before the reset are arbitrary and lost in it, so a state that
//! another's first value depends on is replaced by its own first value, and so on.

use super::{Result1, fail};
use std::collections::HashMap;
use vouch_ir::{Expr, ExprId, Pool, Span, VarId};

/// The first values, as they are written.
#[derive(Default)]
pub struct Resets {
    list: Vec<(VarId, ExprId, Span)>,
    by_var: HashMap<VarId, (ExprId, Span)>,
}

impl Resets {
    /// Adds one; `false` if there was one already.
    pub fn insert(&mut self, var: VarId, value: ExprId, span: Span) -> bool {
        self.list.push((var, value, span));
        self.by_var.insert(var, (value, span)).is_none()
    }

    /// The first values in terms of states that have none.
    pub fn resolve(self, pool: &mut Pool) -> Result1<Vec<(VarId, ExprId)>> {
        // `None` while a node's operands are being replaced.
        let mut done: HashMap<ExprId, Option<ExprId>> = HashMap::new();
        let mut resolved = vec![];
        for (var, value, span) in &self.list {
            let mut stack = vec![*value];
            while let Some(&id) = stack.last() {
                vouch_ir::deadline::tick();
                if done.get(&id).is_some_and(Option::is_some) {
                    stack.pop();
                    continue;
                }
                let operands: Vec<ExprId> = match pool.get(id) {
                    Expr::Input(_) => {
                        let message = "a first value depends on an input";
                        return fail(message, *span, "only states and constants are possible here");
                    }
                    Expr::Var(v) => self.by_var.get(&v).map(|r| r.0).into_iter().collect(),
                    _ => pool.operands(id).collect(),
                };
                let open = |o: &&ExprId| !done.get(o).is_some_and(Option::is_some);
                let missing: Vec<ExprId> = operands.iter().filter(open).copied().collect();
                if missing.is_empty() {
                    let get = |o: ExprId| done.get(&o).copied().flatten().unwrap_or(o);
                    let new = match pool.get(id) {
                        Expr::Var(_) => operands.first().map_or(id, |reset| get(*reset)),
                        expr => pool.make(expr.map_operands(get), pool.width(id)),
                    };
                    done.insert(id, Some(new));
                    stack.pop();
                    continue;
                }
                if done.insert(id, None).is_some() {
                    return fail("first values depend on each other", *span, "in a circle");
                }
                stack.extend(missing);
            }
            let new = done.get(value).copied().flatten().unwrap_or(*value);
            resolved.push((*var, new));
        }
        Ok(resolved)
    }
}
