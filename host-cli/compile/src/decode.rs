//! From image terms back to the automaton: traces and certificates as a device sends them.
//!
//! Every number here comes from a device and is checked before it is used. Whether a trace is a run
//! and a certificate an invariant is not decided here but by `validate`.

use crate::blast::Map;
use std::collections::HashMap;
use vouch_ir::{
    BitLit, Certificate, Cfa, Clause, LocId, PropertyId, Step, Term, Trace, Type, VarId, VarKind,
    Word, eval, mask,
};

/// Marks a literal that is a term.
pub const TERM: u32 = 1 << 31;

/// What a device sent does not fit the model.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DecodeError {
    /// A number that counts from 0 is too large.
    #[error("the device named {what} {index}, but the model has only {count}")]
    OutOfRange {
        /// What is numbered.
        what: &'static str,
        /// The number that the device sent.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// Too few or too many bits.
    #[error("the device sent {got} bits of {what}, but the model has {want}")]
    BitCount {
        /// What the bits are.
        what: &'static str,
        /// How many came.
        got: usize,
        /// How many should have come.
        want: usize,
    },
    /// A clause about a bit that its location does not have.
    #[error(
        "the device sent a clause over state bit {bit}, which location {location} does not have"
    )]
    NotLive {
        /// The image's location.
        location: usize,
        /// The global bit.
        bit: usize,
    },
    /// A binding of something that is not a parameter, or to a value that it cannot have.
    #[error(
        "variable number {} is bound, but it is not a parameter that can have this value",
        .0.index()
    )]
    Binding(VarId),
    /// The map does not belong to the automaton.
    #[error("the map of the image does not fit the model")]
    Map,
}

/// `items[index]`, or whose number is wrong.
fn pick<'a, T>(items: &'a [T], index: usize, what: &'static str) -> Result<&'a T, DecodeError> {
    items.get(index).ok_or(DecodeError::OutOfRange { what, index, count: items.len() })
}

/// Sets bits of variables or inputs, which may come in any order, in words sorted by the first use.
fn collect<K: Copy + Ord>(bits: impl Iterator<Item = (K, u32, bool)>) -> Vec<(K, Word)> {
    let mut words = std::collections::BTreeMap::new();
    for (key, bit, value) in bits {
        *words.entry(key).or_insert(0) |= (value as Word) << bit;
    }
    words.into_iter().collect()
}

fn ensure_bits(what: &'static str, got: usize, want: usize) -> Result<(), DecodeError> {
    if got == want { Ok(()) } else { Err(DecodeError::BitCount { what, got, want }) }
}

/// The run that a device reports: the values of the initial location's live bits, and for each step
/// the image's edge and its input bits.
pub fn trace(
    map: &Map,
    cfa: &Cfa,
    property: usize,
    initial_bits: &[bool],
    steps: &[(usize, Vec<bool>)],
) -> Result<Trace, DecodeError> {
    map.check(cfa).map_err(|()| DecodeError::Map)?;
    pick(&cfa.properties, property, "property")?;
    let live = map.live.first().ok_or(DecodeError::Map)?;
    ensure_bits("the initial state", initial_bits.len(), live.len())?;
    let bits = live.iter().zip(initial_bits).map(|(global, value)| {
        let (var, bit) = map.bits[*global as usize];
        (var, bit, *value)
    });
    let mut initial = collect(bits);
    name_params(map, cfa, &mut initial);

    let (mut decoded, mut read) = (vec![], HashMap::new());
    for (edge, bits) in steps {
        let id = *pick(&map.edges, *edge, "edge")?;
        let inputs = pick(&map.edge_inputs, *edge, "edge")?;
        ensure_bits("inputs", bits.len(), inputs.len())?;
        let bits = inputs.iter().zip(bits).map(|((input, bit), value)| (*input, *bit, *value));
        // Those of other edges that share the network say nothing.
        let read = read.entry(id).or_insert_with(|| {
            cfa.edges.get(id.index()).map_or(vec![], |edge| cfa.edge_inputs(edge))
        });
        let bits = bits.filter(|(input, ..)| read.contains(input));
        decoded.push(Step { edge: id, inputs: collect(bits) });
    }
    Ok(Trace::new(PropertyId(property as u32), initial, decoded))
}

/// Whether a parameter may have this value.
fn in_bounds(cfa: &Cfa, var: VarId, value: Word) -> bool {
    let v = &cfa.vars[var.index()];
    let VarKind::Param { min, max } = v.kind else { return false };
    let key = |x: Word| match v.ty {
        // The order of signed numbers is that of unsigned ones once the sign is flipped.
        Type::Signed => eval::sign_extend(x, v.width) ^ 1 << 127,
        _ => x,
    };
    key(min) <= key(value) && key(value) <= key(max) && value <= mask(v.width)
}

/// Gives bits of parameters that do not matter values such that the whole is within its bounds.
fn name_params(map: &Map, cfa: &Cfa, initial: &mut Vec<(VarId, Word)>) {
    for (var, v) in cfa.params() {
        let VarKind::Param { min, max } = v.kind else { continue };
        let live = map.live.first().into_iter().flatten().map(|g| map.bits[*g as usize]);
        let sent = live.filter(|b| b.0 == var).fold(0, |sent: Word, b| sent | 1 << b.1);
        match initial.binary_search_by_key(&var, |i| i.0) {
            Ok(at) => {
                let known = initial[at].1;
                let fill = [0, min, max].map(|filler| known | filler & !sent);
                let legal = fill.into_iter().find(|value| in_bounds(cfa, var, *value));
                initial[at].1 = legal.unwrap_or(known);
            }
            Err(at) => initial.insert(at, (var, min)),
        }
    }
}

/// The invariant that a device reports: the image's location and literals `2 * global bit + sign` of
/// each clause; literals with the highest bit set are `2 * term + sign`, of terms whose width is one bit. Locations that no path enters get the empty clause here: the device never heard of
/// them.
pub fn certificate(
    map: &Map,
    cfa: &Cfa,
    proven: Vec<PropertyId>,
    bindings: Vec<(VarId, Word)>,
    clauses: impl IntoIterator<Item = (usize, Vec<u32>)>,
    terms: Vec<Term>,
) -> Result<Certificate, DecodeError> {
    map.check(cfa).map_err(|()| DecodeError::Map)?;
    for p in &proven {
        pick(&cfa.properties, p.index(), "property")?;
    }
    for (var, value) in &bindings {
        if var.index() >= cfa.vars.len() || !in_bounds(cfa, *var, *value) {
            return Err(DecodeError::Binding(*var));
        }
    }
    let mut decoded = vec![];
    for (index, lits) in clauses {
        let location = *pick(&map.locations, index, "location")?;
        let live = pick(&map.live, index, "location")?;
        let lits = lits.into_iter().map(|code| {
            if let Some(code) = code.checked_sub(TERM) {
                let at = (code >> 1) as usize;
                pick(&terms, at, "term")?;
                let var = VarId((cfa.vars.len() + at) as u32);
                return Ok(BitLit { var, bit: 0, value: code & 1 == 0 });
            }
            let global = code >> 1;
            let (var, bit) = *pick(&map.bits, global as usize, "state bit")?;
            // A parameter has its value everywhere, whether it matters there or not.
            let is_param = cfa.vars[var.index()].kind != VarKind::State;
            if !is_param && live.binary_search(&global).is_err() {
                return Err(DecodeError::NotLive { location: index, bit: global as usize });
            }
            Ok(BitLit { var, bit, value: code & 1 == 0 })
        });
        decoded.push(Clause { location, lits: lits.collect::<Result<_, _>>()? });
    }
    let nowhere = |location: &LocId| Clause { location: *location, lits: vec![] };
    for clause in map.unreachable.iter().map(nowhere) {
        if !decoded.contains(&clause) {
            decoded.push(clause);
        }
    }
    Ok(Certificate {
        properties: proven,
        bindings,
        clauses: decoded,
        terms,
        ..Certificate::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blast::{Options, compile};
    use vouch_ir::{BinOp, Edge, Input, InputId, Property, Span, Var};

    /// `init -> a` takes `x` from the input's two upper bits; `a -> error` if `x == p`, `p` being a
    /// signed parameter of -2..=-1; location `lost` has no way in.
    fn example() -> Cfa {
        let mut cfa = Cfa::new("example");
        let span = Span::default();
        let x = Var { name: "x".into(), width: 2, ty: Type::Unsigned, kind: VarKind::State };
        let x = cfa.add_var(x);
        let kind = VarKind::Param { min: 2, max: 3 };
        let p = cfa.add_var(Var { name: "p".into(), width: 2, ty: Type::Signed, kind });
        let kind = VarKind::Param { min: 5, max: 6 };
        cfa.add_var(Var { name: "unused".into(), width: 3, ty: Type::Unsigned, kind });
        let i = cfa.add_input(Input { name: "i".into(), width: 4, ty: Type::Unsigned });
        let a = cfa.add_location("a", span);
        let error = cfa.add_location("error", span);
        let lost = cfa.add_location("lost", span);
        let (read_x, read_p, input) = (cfa.read(x), cfa.read(p), cfa.sample(i));
        let upper = cfa.pool.slice(input, 2, 2);
        let one = cfa.pool.constant(1, 1);
        let sign = cfa.pool.slice(read_p, 1, 1);
        let hit = cfa.pool.binary(BinOp::Eq, read_x, read_p);
        let init = cfa.init;
        cfa.add_edge(Edge { from: lost, to: a, guard: one, updates: vec![], span });
        cfa.add_edge(Edge { from: init, to: a, guard: sign, updates: vec![(x, upper)], span });
        cfa.add_edge(Edge { from: a, to: error, guard: hit, updates: vec![], span });
        cfa.properties.push(Property { name: "never".into(), error, span });
        cfa.check().unwrap();
        cfa
    }

    #[test]
    fn traces_come_back_in_terms_of_the_automaton() {
        let cfa = example();
        let map = compile(&cfa, [0; 32], &Options::default()).unwrap().map;
        assert_eq!(map.live[0].len(), 2, "only p is live at first");
        let steps = [(0, vec![false, true]), (1, vec![])];
        let run = trace(&map, &cfa, 0, &[false, true], &steps).unwrap();
        assert_eq!(run.initial, [(VarId(1), 2), (VarId(2), 5)]);
        assert_eq!(run.steps[0].inputs, [(InputId(0), 8)]);
        let value = |i| if i == InputId(0) { 8 } else { 0 };
        let state = eval::step(&cfa, &[0, 2, 5], run.steps[0].edge, value).unwrap();
        assert!(eval::step(&cfa, &state, run.steps[1].edge, |_| 0).is_some());
    }

    #[test]
    fn certificates_close_the_locations_that_were_cut_off() {
        let cfa = example();
        let map = compile(&cfa, [0; 32], &Options::default()).unwrap().map;
        let p = map.bits.iter().position(|b| *b == (VarId(1), 1)).unwrap() as u32;
        let lits = vec![2 * p + 1];
        let c =
            certificate(&map, &cfa, vec![PropertyId(0)], vec![(VarId(1), 3)], [(1, lits)], vec![]);
        let lits = vec![BitLit { var: VarId(1), bit: 1, value: false }];
        let want =
            vec![Clause { location: LocId(1), lits }, Clause { location: LocId(3), lits: vec![] }];
        assert_eq!(c.unwrap().clauses, want);
    }

    #[test]
    fn wrong_numbers_are_refused() {
        let cfa = example();
        let map = compile(&cfa, [0; 32], &Options::default()).unwrap().map;
        let run = |property, initial: &[bool], steps: &[(usize, Vec<bool>)]| {
            trace(&map, &cfa, property, initial, steps).unwrap_err().to_string()
        };
        assert!(run(1, &[false; 2], &[]).contains("property 1"));
        assert!(run(0, &[false; 3], &[]).contains("3 bits"));
        assert!(run(0, &[false; 2], &[(2, vec![])]).contains("edge 2"));
        assert!(run(0, &[false; 2], &[(0, vec![true])]).contains("1 bits of inputs"));
        let clause = |location, lits: &[u32]| {
            certificate(&map, &cfa, vec![], vec![], [(location, lits.to_vec())], vec![])
                .unwrap_err()
        };
        let out = |what, index, count| DecodeError::OutOfRange { what, index, count };
        assert_eq!(clause(3, &[]), out("location", 3, 3));
        assert_eq!(clause(1, &[TERM - 1]), out("state bit", TERM as usize / 2 - 1, 7));
        assert_eq!(clause(1, &[TERM]), out("term", 0, 0));
        assert_eq!(clause(1, &[u32::MAX]), out("term", TERM as usize / 2 - 1, 0));
        assert_eq!(clause(0, &[0]), DecodeError::NotLive { location: 0, bit: 0 });
        let c = certificate(&map, &cfa, vec![PropertyId(1)], vec![], [], vec![]);
        assert_eq!(c, Err(out("property", 1, 1)));
        for binding in [(VarId(1), 1), (VarId(0), 1), (VarId(9), 1), (VarId(1), 6)] {
            let c = certificate(&map, &cfa, vec![], vec![binding], [], vec![]);
            assert_eq!(c, Err(DecodeError::Binding(binding.0)));
        }
    }
}
