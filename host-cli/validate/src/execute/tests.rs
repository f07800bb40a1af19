//! Against the reference interpreter step by step, and against all runs.

use super::*;
use crate::replay;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::sample::{Random, all_values, edge, random_cfa, state_var};
use vouch_ir::{Edge, InputId, Property, Span, Type};

/// The property that an edge breaks.
fn breaks(cfa: &Cfa, edge: &Edge) -> Option<PropertyId> {
    let found = cfa.properties.iter().position(|p| p.error == edge.to);
    found.map(|p| PropertyId(p as u32))
}

/// After how many steps each property can be broken first.
type Breaks = BTreeMap<PropertyId, usize>;

/// The edges of the run with these inputs, and what can be broken on the way, if it ends within so many steps and there was
/// never a choice.
fn slowly(
    cfa: &Cfa,
    first: &[Word],
    inputs: &[(InputId, Word)],
    most: usize,
) -> Option<(Vec<EdgeId>, Breaks)> {
    let (mut at, mut state) = (cfa.init, first.to_vec());
    let (mut edges, mut broken) = (vec![], BTreeMap::new());
    for number in 0..most {
        let mut open = vec![];
        for (id, edge) in (0..).map(EdgeId).zip(&cfa.edges).filter(|(_, e)| e.from == at) {
            let input = |id: InputId| inputs[id.index()].1;
            let Some(after) = eval::step(cfa, &state, id, input) else { continue };
            match breaks(cfa, edge) {
                Some(property) => drop(broken.entry(property).or_insert(number)),
                None => open.push((id, edge.to, after)),
            }
        }
        let Some((id, to, after)) = open.pop() else { return Some((edges, broken)) };
        if !open.is_empty() {
            return None;
        }
        edges.push(id);
        (at, state) = (to, after);
    }
    None
}

/// Whether all runs take these edges, whatever they begin with and read, and can take no other but those that break what
/// `broken` says.
fn is_only(cfa: &Cfa, edges: &[EdgeId], broken: &Breaks) -> bool {
    let widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    let inputs: Vec<u32> = cfa.inputs.iter().map(|i| i.width).collect();
    let fits = |values: &Vec<Word>| cfa.vars.iter().zip(values).all(|(var, v)| within(var, *v));
    let mut states: BTreeSet<Vec<Word>> = all_values(&widths).into_iter().filter(fits).collect();
    let mut at = cfa.init;
    for number in 0..=edges.len() {
        let mut after = BTreeSet::new();
        for state in &states {
            for chosen in all_values(&inputs) {
                for (id, edge) in (0..).map(EdgeId).zip(&cfa.edges).filter(|(_, e)| e.from == at) {
                    let input = |i: InputId| chosen[i.index()];
                    let property = breaks(cfa, edge);
                    match eval::step(cfa, state, id, input) {
                        Some(_) if property.is_some_and(|p| broken.contains_key(&p)) => {}
                        Some(next) if Some(&id) == edges.get(number) => drop(after.insert(next)),
                        Some(_) => return false,
                        None if Some(&id) == edges.get(number) => return false,
                        None => {}
                    }
                }
            }
        }
        states = after;
        at = edges.get(number).map_or(at, |id| cfa.edges[id.index()].to);
    }
    true
}

#[test]
fn random_automata_do_what_the_reference_says() {
    let (mut ended, mut broken, mut only) = (0, 0, 0);
    for seed in 0..6000 {
        let cfa = random_cfa(&mut Random::new(seed));
        let first: Vec<Word> = (cfa.vars.iter())
            .map(|var| match var.kind {
                VarKind::Param { min, .. } => min,
                VarKind::State => 0,
            })
            .collect();
        let mut random = Random::new(seed + 1);
        let inputs: Vec<(InputId, Word)> = ((0..).map(InputId).zip(&cfa.inputs))
            .map(|(id, input)| (id, random.word(input.width)))
            .collect();
        let Some((edges, breaks)) = slowly(&cfa, &first, &inputs, 1000) else { continue };
        let executed = execute(&cfa, &[], &inputs, None).unwrap();
        assert_eq!((executed.steps, executed.is_over), (edges.len() as u64, true), "seed {seed}");
        ended += 1;
        if executed.is_only {
            assert!(is_only(&cfa, &edges, &breaks), "seed {seed}");
            only += 1;
        }
        let found = executed.broken.iter().map(|b| (b.1.property, b.1.steps.len() - 1)).collect();
        assert_eq!(breaks, found, "seed {seed}");
        for (trace, run) in executed.broken {
            assert_eq!(replay(&cfa, &trace).unwrap(), run, "seed {seed}");
            // Who wants no more than this gets no more.
            let part = execute(&cfa, &[], &inputs, Some(&[run.property])).unwrap();
            assert!(part.broken.iter().any(|b| b.1 == run), "seed {seed}");
            assert!(part.steps <= edges.len() as u64 && !part.is_over, "seed {seed}");
            broken += 1;
        }
    }
    assert!(ended > 1000 && broken > 300 && only > 100, "{ended} {broken} {only}");
}

/// `for (x = 0; x < count; x++);`, with an error after it.
fn counting(count: Word) -> Cfa {
    let mut cfa = Cfa::new("counting");
    let x = cfa.add_var(state_var("x", 32, Type::Unsigned));
    let head = cfa.add_location("head", Span::default());
    let error = cfa.add_location("error", Span::default());
    cfa.properties.push(Property { name: "short".into(), error, span: Span::default() });
    let (zero, one, most) =
        (cfa.pool.constant(0, 32), cfa.pool.constant(1, 32), cfa.pool.constant(count, 32));
    let (truth, value) = (cfa.pool.constant(1, 1), cfa.read(x));
    let next = cfa.pool.binary(BinOp::Add, value, one);
    let more = cfa.pool.binary(BinOp::Ult, value, most);
    let over = cfa.pool.not(more);
    cfa.add_edge(edge(cfa.init, head, truth, vec![(x, zero)]));
    cfa.add_edge(edge(head, head, more, vec![(x, next)]));
    cfa.add_edge(edge(head, error, over, vec![]));
    cfa
}

#[test]
fn of_a_long_run_the_end_is_kept_and_can_be_replayed() {
    let cfa = counting(100_000);
    let executed = execute(&cfa, &[], &[], None).unwrap();
    assert_eq!((executed.steps, executed.is_only, executed.is_over), (100_001, true, true));
    let (trace, run) = executed.broken[0].clone();
    assert_eq!((trace.forced.steps, trace.steps.len() as u64), (100_001 - KEPT, KEPT + 1));
    assert_eq!(run.states[0].values, [Word::from(100_001 - KEPT - 1)]);
    assert_eq!(run.states.last().unwrap().values, [100_000]);
    assert_eq!(replay(&cfa, &trace).unwrap(), run);
    let kept = trace.forced.steps;
    for steps in [0, kept - 1, kept + 1, 100_002, 100_003, u64::MAX] {
        let other = Trace { forced: Forced { steps, inputs: vec![] }, ..trace.clone() };
        assert!(replay(&cfa, &other).is_err(), "{steps}");
    }
    // All lengths around those at which it is taken up again.
    for count in (STRIDE - 3..STRIDE + 3).chain(2 * STRIDE - 3..2 * STRIDE + 3) {
        let executed = execute(&counting(count.into()), &[], &[], None).unwrap();
        let (trace, run) = executed.broken[0].clone();
        assert_eq!((executed.steps, run.states.len()), (count + 1, trace.steps.len() + 1));
        assert_eq!(trace.forced.steps + trace.steps.len() as u64, count + 2);
        assert_eq!(replay(&counting(count.into()), &trace).unwrap(), run);
    }
}

#[test]
fn a_value_that_nobody_has_assigned_is_not_relied_on() {
    // Without the edge that assigns 0 the run is as long as its beginning says.
    let mut cfa = counting(5);
    cfa.edges[0].updates.clear();
    let executed = execute(&cfa, &[], &[], None).unwrap();
    assert_eq!((executed.steps, executed.is_only), (6, false));
    // What is never read does not matter, also if it is copied.
    let mut cfa = counting(5);
    let y = cfa.add_var(state_var("y", 8, Type::Unsigned));
    let z = cfa.add_var(state_var("z", 8, Type::Unsigned));
    let read = cfa.read(y);
    cfa.edges[1].updates.push((z, read));
    assert!(execute(&cfa, &[], &[], None).unwrap().is_only);
    // Until a guard reads the copy.
    let read = cfa.read(z);
    let zero = cfa.pool.constant(0, 8);
    let is_zero = cfa.pool.binary(BinOp::Eq, read, zero);
    cfa.edges[2].guard = cfa.pool.binary(BinOp::And, cfa.edges[2].guard, is_zero);
    assert!(!execute(&cfa, &[], &[], None).unwrap().is_only);
}

#[test]
fn a_choice_is_refused() {
    let mut cfa = counting(20_000);
    cfa.add_edge(Edge { from: LocId(1), to: LocId(1), updates: vec![], ..cfa.edges[0].clone() });
    let error = execute(&cfa, &[], &[], None).unwrap_err().to_string();
    assert_eq!(
        error,
        "after 1 steps the run is at head, where there is more or less than one thing to do"
    );
}
