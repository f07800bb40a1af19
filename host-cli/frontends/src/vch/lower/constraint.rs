//! Which values of the inputs a step may see.
//!
//! A step needs all constraints. But one on inputs that an edge does not read says nothing about
//! the edge, as long as some values satisfy it; such constraints are left out, which keeps edges
//! small. Constraints that share inputs are kept or dropped together.

use super::super::hir::Model;
use super::engine::{Engine, Lower, Stop};
use std::collections::{BTreeSet, HashSet};
use vouch_ir::{Cfa, Expr, ExprId, Pool, VarId, Word, eval};

/// Constraints that share no input with the others.
struct Group {
    holds: ExprId,
    inputs: BTreeSet<u32>,
    /// Whether some values of the inputs satisfy it, whatever the variables are.
    satisfiable: bool,
}

/// The constraints of one location.
pub struct Constraints {
    groups: Vec<Group>,
}

impl Constraints {
    /// Evaluates the constraints; what fails in them fails in the engine.
    pub fn new(model: &Model, engine: &mut Engine) -> Lower<Constraints> {
        let mut groups: Vec<Group> = vec![];
        for (i, input) in model.inputs.iter().enumerate() {
            let mut list = vec![];
            for leaf in engine.inputs[i].clone() {
                list.extend(engine.within_enum(leaf, &input.ty));
            }
            if let Some(constraint) = &input.constraint {
                let holds = engine.scalar(constraint)?;
                if engine.cfa.pool.as_const(holds) == Some(0) {
                    let message = format!("no value of the input `{}` is possible", input.name);
                    return Err(Stop::impossible(message, constraint.span));
                }
                list.push(holds);
            }
            for holds in list {
                add(&mut groups, &mut engine.cfa.pool, holds);
            }
        }
        for group in &mut groups {
            let pool = &engine.cfa.pool;
            let known = engine.satisfiable.entry(group.holds);
            group.satisfiable = *known.or_insert_with(|| satisfiable(pool, group.holds));
        }
        Ok(Constraints { groups })
    }

    /// The guard of an edge, with the constraints that matter for it.
    pub fn complete(&self, cfa: &mut Cfa, guard: ExprId, updates: &[(VarId, ExprId)]) -> ExprId {
        if self.groups.is_empty() {
            return guard;
        }
        let used = reads(&cfa.pool, updates.iter().map(|u| u.1).chain([guard])).inputs;
        let mut all = guard;
        for group in &self.groups {
            if !group.satisfiable || !group.inputs.is_disjoint(&used) {
                all = cfa.pool.and(group.holds, all);
            }
        }
        all
    }
}

impl Constraints {
    /// The constraints on the inputs that an expression reads.
    pub fn around(&self, pool: &mut Pool, expr: ExprId) -> ExprId {
        let read = reads(pool, [expr]).inputs;
        let mut all = pool.bool(true);
        for group in self.groups.iter().filter(|g| !g.inputs.is_disjoint(&read)) {
            all = pool.and(all, group.holds);
        }
        all
    }
}

/// Adds a constraint, joining the groups that it connects.
fn add(groups: &mut Vec<Group>, pool: &mut Pool, holds: ExprId) {
    let inputs = reads(pool, [holds]).inputs;
    let mut joined = Group { holds, inputs, satisfiable: false };
    let mut apart = vec![];
    for group in groups.drain(..) {
        if group.inputs.is_disjoint(&joined.inputs) {
            apart.push(group);
        } else {
            joined.holds = pool.and(group.holds, joined.holds);
            joined.inputs.extend(group.inputs);
        }
    }
    apart.push(joined);
    *groups = apart;
}

/// What an expression reads.
struct Reads {
    inputs: BTreeSet<u32>,
    any_var: bool,
    constants: BTreeSet<Word>,
}

fn reads(pool: &Pool, roots: impl IntoIterator<Item = ExprId>) -> Reads {
    let mut found = Reads { inputs: BTreeSet::new(), any_var: false, constants: BTreeSet::new() };
    let mut seen = HashSet::new();
    let mut stack: Vec<ExprId> = roots.into_iter().collect();
    while let Some(id) = stack.pop() {
        if !seen.insert(id) {
            continue;
        }
        match pool.get(id) {
            Expr::Input(input) => {
                found.inputs.insert(input.0);
            }
            Expr::Var(_) => found.any_var = true,
            Expr::Const(value) => {
                found.constants.insert(value);
            }
            _ => {}
        }
        stack.extend(pool.operands(id));
    }
    found
}

/// Looks for values that satisfy a constraint on inputs alone, all inputs having the same one: at
/// the ends and around the constants of the constraint. Finding none does no harm.
fn satisfiable(pool: &Pool, holds: ExprId) -> bool {
    let Reads { any_var, constants, .. } = reads(pool, [holds]);
    let around = |c: Word| [c, c.wrapping_add(1), c.wrapping_sub(1)];
    !any_var
        && constants
            .into_iter()
            .take(16)
            .flat_map(around)
            .chain([0, Word::MAX])
            .any(|value| eval::expressions(pool, &[holds], |_| 0, |_| value) == [1])
}
