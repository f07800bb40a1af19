//! Whether a run of the automaton is one whatever the values of some inputs are.
//!
//! The run is followed once more. A value is *open* if one of these inputs can change it; a run that has taken each edge
//! whose guard is not open is a run for all values of them, with the same edges to the same end.

use super::run::Run;
use std::collections::HashMap;
use vouch_ir::{BinOp, Cfa, Expr, ExprId, InputId, Pool, VarId, Word, eval, mask};

/// A value, and an input that can change it.
type Seen = (Word, Option<InputId>);

/// An input of `open` that decides whether the run gets to its end, as far as this can tell; `None`: none of them does.
pub fn depends_on(cfa: &Cfa, run: &Run, open: &[InputId]) -> Option<InputId> {
    if open.is_empty() {
        return None;
    }
    let mut changed: Vec<Option<InputId>> = vec![None; cfa.vars.len()];
    for (state, step) in run.states.iter().zip(&run.steps) {
        vouch_ir::deadline::tick();
        let edge = &cfa.edges[step.edge.index()];
        let inputs: HashMap<InputId, Word> = step.inputs.iter().copied().collect();
        let var = |v: VarId| (state.values[v.index()], changed[v.index()]);
        let input = |i: InputId| {
            let value = inputs.get(&i).copied().unwrap_or(0);
            (value, open.contains(&i).then_some(i))
        };
        let mut seen: HashMap<ExprId, Seen> = HashMap::new();
        for id in cfa.pool.cone(edge.roots()) {
            let value = node(&cfa.pool, id, &seen, var, input);
            seen.insert(id, value);
        }
        if let Some(input) = seen[&edge.guard].1 {
            return Some(input);
        }
        let updates: Vec<(VarId, Option<InputId>)> =
            edge.updates.iter().map(|(var, value)| (*var, seen[value].1)).collect();
        updates.into_iter().for_each(|(var, by)| changed[var.index()] = by);
    }
    None
}

/// Those of some inputs that do not decide, in any values of them together, whether the run gets to its end.
pub fn irrelevant(cfa: &Cfa, run: &Run, inputs: &[InputId]) -> Vec<InputId> {
    let mut open = inputs.to_vec();
    while let Some(decides) = depends_on(cfa, run, &open) {
        open.retain(|input| *input != decides);
    }
    open
}

fn node(
    pool: &Pool,
    id: ExprId,
    seen: &HashMap<ExprId, Seen>,
    var: impl Fn(VarId) -> Seen,
    input: impl Fn(InputId) -> Seen,
) -> Seen {
    let expr = pool.get(id);
    let value = |x: ExprId| seen[&x].0;
    let known = |x: ExprId, wanted: Word| seen[&x] == (wanted, None);
    let by = match expr {
        Expr::Const(_) => None,
        Expr::Var(v) => var(v).1,
        Expr::Input(i) => input(i).1,
        // What one operand decides alone.
        Expr::Ite(c, t, e) if seen[&c].1.is_none() => seen[if value(c) != 0 { &t } else { &e }].1,
        Expr::Ite(_, t, e) if seen[&t] == seen[&e] && seen[&t].1.is_none() => None,
        Expr::Binary(BinOp::And | BinOp::Mul, a, b) if known(a, 0) || known(b, 0) => None,
        Expr::Binary(BinOp::Or, a, b)
            if known(a, mask(pool.width(id))) || known(b, mask(pool.width(id))) =>
        {
            None
        }
        _ => pool.operands(id).find_map(|x| seen[&x].1),
    };
    let values = eval::node(pool, id, value, |v| var(v).0, |i| input(i).0);
    (values, by)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{replay, within};
    use vouch_ir::sample::{Random, edge, random_cfa, state_var};
    use vouch_ir::{EdgeId, Input, Property, PropertyId, Span, Step, Trace, Type};

    /// A run of two steps: `x` becomes `value` of the input, and fails where `guard` of `x` is true.
    fn decides(
        value: impl Fn(&mut Pool, ExprId) -> ExprId,
        guard: impl Fn(&mut Pool, ExprId) -> ExprId,
        input: Word,
    ) -> bool {
        let mut cfa = Cfa::new("m");
        let x = cfa.add_var(state_var("x", 8, Type::Unsigned));
        let i = cfa.add_input(Input { name: "i".into(), width: 8, ty: Type::Unsigned });
        let span = Span::default();
        let (middle, error) = (cfa.add_location("middle", span), cfa.add_location("error", span));
        let (read, sampled, yes) = (cfa.read(x), cfa.sample(i), cfa.pool.bool(true));
        let value = value(&mut cfa.pool, sampled);
        let fails = guard(&mut cfa.pool, read);
        cfa.add_edge(edge(cfa.init, middle, yes, vec![(x, value)]));
        cfa.add_edge(edge(middle, error, fails, vec![]));
        cfa.properties.push(Property { name: "p".into(), error, span });
        let step = |edge, inputs| Step { edge: EdgeId(edge), inputs };
        let steps = vec![step(0, vec![(i, input)]), step(1, vec![])];
        let trace = Trace::new(PropertyId(0), vec![], steps);
        let run = replay(&cfa, &trace).expect("it is a run");
        assert_eq!(depends_on(&cfa, &run, &[]), None);
        depends_on(&cfa, &run, &[i]) == Some(i)
    }

    #[test]
    fn what_an_input_decides_is_told() {
        let is = |n: Word| {
            move |pool: &mut Pool, x| {
                let n = pool.constant(n, 8);
                pool.equal(x, n)
            }
        };
        let masked = |with: Word| {
            move |pool: &mut Pool, x| {
                let with = pool.constant(with, 8);
                pool.binary(BinOp::And, x, with)
            }
        };
        assert!(decides(|_, x| x, is(7), 7));
        assert!(decides(masked(4), is(0), 3));
        assert!(!decides(|_, x| x, |pool, _| pool.bool(true), 3));
        assert!(!decides(masked(0), is(0), 3));
    }

    /// A random walk that fails.
    fn failing(r: &mut Random) -> Option<(Cfa, Trace)> {
        let cfa = random_cfa(r);
        let values: Vec<Word> = cfa.vars.iter().map(|var| r.word(var.width)).collect();
        if !cfa.vars.iter().zip(&values).all(|(var, value)| within(var, *value)) {
            return None;
        }
        let initial = (0..).map(VarId).zip(values.iter().copied()).collect();
        let (mut at, mut state, mut steps) = (cfa.init, values, vec![]);
        for _ in 0..20 {
            let chosen: Vec<(InputId, Word)> =
                (0..).map(InputId).zip(&cfa.inputs).map(|(i, x)| (i, r.word(x.width))).collect();
            let edge = EdgeId(r.below(cfa.edges.len()) as u32);
            let next = (cfa.edges[edge.index()].from == at)
                .then(|| eval::step(&cfa, &state, edge, |i| chosen[i.index()].1));
            let Some(Some(next)) = next else { continue };
            (at, state) = (cfa.edges[edge.index()].to, next);
            steps.push(Step { edge, inputs: chosen });
            if let Some(p) = cfa.properties.iter().position(|p| p.error == at) {
                let trace = Trace::new(PropertyId(p as u32), initial, steps);
                return Some((cfa, trace));
            }
        }
        None
    }

    /// Where no input decides, the run stays one with any other value of it.
    #[test]
    fn a_run_that_does_not_depend_stays_one() {
        let mut r = Random::new(1);
        let (mut independent, mut dependent) = (0, 0);
        for _ in 0..20_000 {
            let Some((cfa, trace)) = failing(&mut r) else { continue };
            let run = replay(&cfa, &trace).expect("a walk is a run");
            for open in (0..cfa.inputs.len() as u32).map(InputId) {
                let reads = run.steps.iter().any(|s| s.inputs.iter().any(|i| i.0 == open));
                if depends_on(&cfa, &run, &[open]).is_some() {
                    dependent += 1;
                    continue;
                }
                independent += reads as usize;
                for _ in 0..8 {
                    let mut changed = trace.clone();
                    for (id, value) in changed.steps.iter_mut().flat_map(|s| &mut s.inputs) {
                        if *id == open {
                            *value = r.word(cfa.inputs[open.index()].width);
                        }
                    }
                    assert!(replay(&cfa, &changed).is_ok(), "{cfa:?} {trace:?} {open:?}");
                }
            }
        }
        assert!(independent > 100 && dependent > 100, "{independent} {dependent}");
    }

    /// What is irrelevant together can be left out together.
    #[test]
    fn a_run_stays_one_without_what_is_irrelevant() {
        let mut r = Random::new(2);
        let (mut left_out, mut kept) = (0, 0);
        for _ in 0..20_000 {
            let Some((cfa, mut trace)) = failing(&mut r) else { continue };
            let run = replay(&cfa, &trace).expect("a walk is a run");
            let all: Vec<InputId> = (0..cfa.inputs.len() as u32).map(InputId).collect();
            let irrelevant = irrelevant(&cfa, &run, &all);
            left_out += irrelevant.len();
            kept += all.len() - irrelevant.len();
            for step in &mut trace.steps {
                step.inputs.retain(|(id, _)| !irrelevant.contains(id));
            }
            let shorter = replay(&cfa, &trace).expect("it is one without them");
            let edges = |run: &Run| run.steps.iter().map(|step| step.edge).collect::<Vec<_>>();
            assert_eq!(edges(&shorter), edges(&run), "{cfa:?} {trace:?}");
        }
        assert!(left_out > 100 && kept > 100, "{left_out} {kept}");
    }
}
