//! The variable that says which state a machine is in.
//!
//! Machine code has one location, the beginning of a step, and a byte or word that most of the step is decided by. It is
//! compared with constants, and gets nothing but constants. With a location for each of its values the automaton is the
//! machine that somebody wrote. For pictures only: nothing is checked on it.

use super::splitting::{Limits, Search};
use vouch_ir::live::Live;
use vouch_ir::{BinOp, Cfa, Expr, ExprId, LocId, Pool, Type, VarId, VarKind, Word};

/// Few states; but what a step does may depend on much else.
const LIMITS: Limits = Limits { copies: 64, parts: 300, deep: true };
/// Variables that are tried.
const TRIED: usize = 6;
/// Bits of a variable.
const WIDTH: u32 = 32;

/// Whether there is more than one state.
fn tells_apart(search: &Search) -> bool {
    search.copies().iter().filter(|(_, values)| !values.is_empty()).count() > 1
}

/// A machine: states, and transitions between them.
pub struct Machine {
    /// The variable that tells the states apart.
    pub var: VarId,
    /// Where each state is, and what the variable is then, if it matters there.
    pub states: Vec<(LocId, Option<Word>)>,
    /// From which state to which, and when: over the automaton's variables and inputs.
    pub transitions: Vec<(usize, usize, ExprId)>,
}

/// The machine that an automaton is, if a variable tells its states apart: one whose values have names rather than another. The
/// automaton gets more expressions, but does not change otherwise.
pub fn machine(cfa: &mut Cfa) -> Option<Machine> {
    for var in candidates(cfa) {
        let expressions = cfa.pool.len();
        let live = Live::of(cfa);
        let mut search = Search::new(cfa, &live, &[var], LIMITS);
        if search.run().is_ok() && tells_apart(&search) {
            let (copies, transitions) = (search.copies(), search.transitions());
            let states = copies.iter().map(|(at, values)| (*at, values.first().copied()));
            let (states, transitions) = (states.collect(), transitions.collect());
            return Some(Machine { var, states, transitions });
        }
        cfa.pool.truncate(expressions);
    }
    None
}

/// Variables to try, in this order.
fn candidates(cfa: &Cfa) -> Vec<VarId> {
    let mut vars = compared(cfa);
    let has_names = |v: &VarId| matches!(cfa.vars[v.index()].ty, Type::Enum(_));
    vars.sort_by_key(|v| !has_names(v));
    vars.truncate(TRIED);
    vars
}

/// Variables that are compared with constants, the most often compared first.
fn compared(cfa: &Cfa) -> Vec<VarId> {
    let is_constant = |x: ExprId| cfa.pool.as_const(x).is_some();
    let mut counts = vec![0usize; cfa.vars.len()];
    for id in cfa.pool.cone(cfa.edges.iter().flat_map(|e| e.roots())) {
        let var = match cfa.pool.get(id) {
            Expr::Binary(BinOp::Eq | BinOp::Ult | BinOp::Ule, a, b) if is_constant(b) => {
                whole(&cfa.pool, a)
            }
            Expr::Binary(BinOp::Eq | BinOp::Ult | BinOp::Ule, a, b) if is_constant(a) => {
                whole(&cfa.pool, b)
            }
            _ => None,
        };
        if let Some(var) = var {
            counts[var.index()] += 1;
        }
    }
    let all = (0..cfa.vars.len() as u32).map(VarId);
    let mut all: Vec<VarId> = all
        .filter(|v| {
            let var = &cfa.vars[v.index()];
            var.kind == VarKind::State && var.width <= WIDTH && counts[v.index()] > 0
        })
        .collect();
    all.sort_by_key(|v| std::cmp::Reverse(counts[v.index()]));
    all
}

/// The variable that an expression is, all of it.
fn whole(pool: &Pool, x: ExprId) -> Option<VarId> {
    match pool.get(x) {
        Expr::Var(var) => Some(var),
        Expr::Extend { x, .. } => whole(pool, x),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_ir::{Edge, Input, Property, Span, Var};

    /// A machine as a compiler leaves it: the state is a word among others, a bit makes a number, and the event that was
    /// compared with 1 is stored as the state 1.
    fn machine_code() -> (Cfa, VarId) {
        let mut cfa = Cfa::new("machine");
        let span = Span::default();
        let var = |name: &str| {
            let (name, ty) = (name.to_owned(), Type::Unsigned);
            Var { name, width: 8, ty, kind: VarKind::State }
        };
        let (count, state) = (cfa.add_var(var("count")), cfa.add_var(var("state")));
        let event = cfa.add_input(Input { name: "event".into(), width: 8, ty: Type::Unsigned });
        let step = cfa.add_location("step", span);
        let (old, x, number) = (cfa.read(state), cfa.sample(event), cfa.read(count));
        let pool = &mut cfa.pool;
        let [zero, one, two, three] = [0, 1, 2, 3].map(|n| pool.constant(n, 8));
        let (is_zero, is_one) = (pool.equal(old, zero), pool.equal(old, one));
        let go = pool.equal(x, one);
        let started = pool.ite(go, x, old);
        let late = pool.binary(BinOp::Ult, three, number);
        let late = pool.extend(late, 8, false);
        let doubled = pool.binary(BinOp::Add, late, one);
        let back = pool.equal(x, two);
        let ended = pool.ite(back, zero, old);
        let later = pool.ite(is_one, doubled, ended);
        let next = pool.ite(is_zero, started, later);
        let more = pool.binary(BinOp::Add, number, one);
        let (yes, init) = (pool.bool(true), cfa.init);
        let updates = vec![(state, zero), (count, zero)];
        cfa.add_edge(Edge { from: init, to: step, guard: yes, updates, span });
        let updates = vec![(state, next), (count, more)];
        cfa.add_edge(Edge { from: step, to: step, guard: yes, updates, span });
        let error = cfa.add_location("error", span);
        let (is_two, is_three) = (cfa.pool.equal(old, two), cfa.pool.equal(number, three));
        let guard = cfa.pool.and(is_two, is_three);
        cfa.add_edge(Edge { from: step, to: error, guard, updates: vec![], span });
        cfa.properties.push(Property { name: "p".into(), error, span });
        (cfa, state)
    }

    #[test]
    fn states_are_found_in_machine_code() {
        let (mut cfa, state) = machine_code();
        let machine = machine(&mut cfa).unwrap();
        assert_eq!(machine.var, state);
        let value = |at: usize| machine.states[at].1;
        let mut leads: Vec<_> =
            machine.transitions.iter().map(|(a, b, _)| (value(*a), value(*b))).collect();
        leads.retain(|(_, to)| to.is_some());
        leads.sort();
        leads.dedup();
        let expected = [(None, 0), (Some(0), 0), (Some(0), 1), (Some(1), 1), (Some(1), 2)];
        let expected = expected.into_iter().chain([(Some(2), 0), (Some(2), 2)]);
        assert_eq!(leads, expected.map(|(a, b)| (a, Some(b))).collect::<Vec<_>>());
    }

    #[test]
    fn what_counts_is_no_state() {
        let (mut cfa, state) = machine_code();
        for edge in &mut cfa.edges {
            edge.updates.retain(|(var, _)| *var != state);
        }
        assert!(machine(&mut cfa).is_none());
    }
}
