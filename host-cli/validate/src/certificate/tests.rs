//! Certificates by hand, and thousands of random ones against an enumeration of all states.

use super::*;
use std::collections::HashSet;
use vouch_ir::sample::*;
use vouch_ir::{EdgeId, LocId};

/// The definition, by enumeration of all states and inputs.
fn is_certificate(cfa: &Cfa, certificate: &Certificate) -> bool {
    let widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    let input_widths: Vec<u32> = cfa.inputs.iter().map(|i| i.width).collect();
    let bound = |s: &Vec<Word>| certificate.bindings.iter().all(|(v, x)| s[v.index()] == *x);
    let in_range = |s: &Vec<Word>| {
        cfa.vars.iter().zip(s).all(|(v, x)| match (v.kind, &v.ty) {
            (VarKind::State, _) => true,
            (VarKind::Param { min, max }, Type::Signed) => {
                let signed = |x| eval::sign_extend(x, v.width) as i128;
                (signed(min)..=signed(max)).contains(&signed(*x))
            }
            (VarKind::Param { min, max }, _) => (min..=max).contains(x),
        })
    };
    let states: Vec<Vec<Word>> =
        all_values(&widths).into_iter().filter(|s| bound(s) && in_range(s)).collect();
    let invariant = |location: LocId, s: &[Word]| {
        let true_in =
            |c: &Clause| c.lits.iter().any(|l| (s[l.var.index()] >> l.bit) % 2 == l.value as Word);
        certificate.clauses.iter().filter(|c| c.location == location).all(true_in)
    };
    let initial = states.iter().all(|s| invariant(cfa.init, s));
    let inputs = all_values(&input_widths);
    let passed = |l: LocId| certificate.passed.contains(&l);
    // Steps from a location with an invariant, and on from passed ones, to the next with one.
    let inductive = || {
        let locations = (0..cfa.locations.len() as u32).map(LocId).filter(|l| !passed(*l));
        locations.into_iter().all(|start| {
            let starts = states.iter().filter(|s| invariant(start, s));
            let mut todo: Vec<(LocId, Vec<Word>)> = starts.map(|s| (start, s.clone())).collect();
            let mut seen: HashSet<(LocId, Vec<Word>)> = HashSet::new();
            while let Some((at, state)) = todo.pop() {
                let ids = (0..).map(EdgeId).zip(&cfa.edges).filter(|(_, e)| e.from == at);
                for (id, edge) in ids {
                    for inputs in &inputs {
                        let next = eval::step(cfa, &state, id, |i| inputs[i.index()]);
                        let Some(next) = next else { continue };
                        if !passed(edge.to) && !invariant(edge.to, &next) {
                            return false;
                        }
                        if passed(edge.to) && seen.insert((edge.to, next.clone())) {
                            todo.push((edge.to, next));
                        }
                    }
                }
            }
            true
        })
    };
    let fixed = |l: &LocId| *l == cfa.init || cfa.properties.iter().any(|p| p.error == *l);
    let has_clauses = |l: &LocId| certificate.clauses.iter().any(|c| c.location == *l);
    let is_cyclic = |l: &LocId| {
        let mut reached = HashSet::new();
        let mut stack = vec![*l];
        while let Some(at) = stack.pop() {
            for edge in cfa.edges.iter().filter(|e| e.from == at && passed(e.to)) {
                if reached.insert(edge.to) {
                    stack.push(edge.to);
                }
            }
        }
        reached.contains(l)
    };
    if certificate.passed.iter().any(|l| fixed(l) || has_clauses(l) || is_cyclic(l)) {
        return false;
    }
    let excluded = certificate.properties.iter().all(|p| {
        let error = cfa.properties[p.index()].error;
        certificate.clauses.iter().any(|c| c.location == error && c.lits.is_empty())
    });
    initial && excluded && inductive()
}

/// The reachable states of each location.
fn reachable(cfa: &Cfa, bindings: &[(VarId, Word)]) -> HashSet<(LocId, Vec<Word>)> {
    let widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    let input_widths: Vec<u32> = cfa.inputs.iter().map(|i| i.width).collect();
    let inputs = all_values(&input_widths);
    let mut todo: Vec<(LocId, Vec<Word>)> = all_values(&widths)
        .into_iter()
        .filter(|s| cfa.vars.iter().zip(s).all(|(v, x)| within(v, *x)))
        .filter(|s| bindings.iter().all(|(v, x)| s[v.index()] == *x))
        .map(|s| (cfa.init, s))
        .collect();
    let mut seen: HashSet<_> = todo.iter().cloned().collect();
    while let Some((location, state)) = todo.pop() {
        for (i, edge) in cfa.edges.iter().enumerate().filter(|(_, e)| e.from == location) {
            for values in &inputs {
                let next = eval::step(cfa, &state, EdgeId(i as u32), |i| values[i.index()]);
                let Some(next) = next.map(|next| (edge.to, next)) else { continue };
                if seen.insert(next.clone()) {
                    todo.push(next);
                }
            }
        }
    }
    seen
}

/// The weakest thing that excludes exactly what is not reachable: a clause for each such state, or
/// the empty clause where nothing is.
fn exact(cfa: &Cfa, bindings: &[(VarId, Word)]) -> Certificate {
    let reached = reachable(cfa, bindings);
    let widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    let mut clauses = vec![];
    for location in (0..cfa.locations.len() as u32).map(LocId) {
        if !reached.iter().any(|(l, _)| *l == location) {
            clauses.push(Clause { location, lits: vec![] });
            continue;
        }
        for state in all_values(&widths) {
            if reached.contains(&(location, state.clone())) {
                continue;
            }
            let bits = state.iter().enumerate().flat_map(|(v, value)| {
                let var = VarId(v as u32);
                (0..widths[v]).map(move |bit| BitLit { var, bit, value: value >> bit & 1 == 0 })
            });
            clauses.push(Clause { location, lits: bits.collect() });
        }
    }
    let safe = |p: &usize| !reached.iter().any(|(l, _)| *l == cfa.properties[*p].error);
    let properties = (0..cfa.properties.len()).filter(safe).map(|p| PropertyId(p as u32));
    let bindings = bindings.to_vec();
    Certificate { properties: properties.collect(), bindings, clauses, ..Certificate::default() }
}

fn random_lit(cfa: &Cfa, r: &mut Random) -> BitLit {
    let var = r.below(cfa.vars.len());
    let bit = r.below(cfa.vars[var].width as usize) as u32;
    BitLit { var: VarId(var as u32), bit, value: r.coin() }
}

/// Some small damage, or a strengthening, or nothing that matters.
fn mutate(cfa: &Cfa, certificate: &mut Certificate, r: &mut Random) {
    let n = certificate.clauses.len();
    let pick = |r: &mut Random| r.below(n.max(1));
    let location = LocId(r.below(cfa.locations.len()) as u32);
    match r.below(8) {
        0 if n > 0 => drop(certificate.clauses.swap_remove(pick(r))),
        1 | 2 if n > 0 => {
            let lits = &mut certificate.clauses[pick(r)].lits;
            if !lits.is_empty() {
                lits.swap_remove(r.below(lits.len()));
            }
        }
        3 if n > 0 => {
            let lits = &mut certificate.clauses[pick(r)].lits;
            if !lits.is_empty() {
                let i = r.below(lits.len());
                lits[i].value ^= true;
            }
        }
        4 if n > 0 => certificate.clauses[pick(r)].location = location,
        5 if n > 0 => certificate.clauses[pick(r)].lits.push(random_lit(cfa, r)),
        6 => {
            let lits = (0..r.below(3)).map(|_| random_lit(cfa, r)).collect();
            certificate.clauses.push(Clause { location, lits });
        }
        _ => {
            let open: Vec<(VarId, u32)> = cfa.params().map(|(id, v)| (id, v.width)).collect();
            for (id, width) in open {
                certificate.bindings = vec![(id, r.word(width))];
            }
        }
    }
}

#[test]
fn random_certificates_agree_with_enumeration() {
    let (mut accepted, mut rejected, mut inductive_rejected) = (0, 0, 0);
    for seed in 0..700 {
        let mut r = Random::new(seed);
        let cfa = random_cfa(&mut r);
        let bindings: Vec<(VarId, Word)> = match cfa.params().next() {
            Some((id, var)) if r.coin() => {
                let VarKind::Param { min, .. } = var.kind else { unreachable!() };
                vec![(id, min)]
            }
            _ => vec![],
        };
        let good = exact(&cfa, &bindings);
        if good.properties.is_empty() {
            assert_eq!(check(&cfa, &good), Err(CertificateError::NothingClaimed));
            continue;
        }
        for round in 0..12 {
            let mut certificate = good.clone();
            for _ in 0..round.min(3) {
                mutate(&cfa, &mut certificate, &mut r);
            }
            let known = |(v, x): &(VarId, Word)| within(&cfa.vars[v.index()], *x);
            let expected =
                certificate.bindings.iter().all(known) && is_certificate(&cfa, &certificate);
            let answer = check(&cfa, &certificate);
            assert_eq!(answer.is_ok(), expected, "seed {seed}, round {round}: {answer:?}");
            match answer {
                Ok(_) => accepted += 1,
                Err(CertificateError::Solver(why)) => panic!("seed {seed}: {why}"),
                Err(CertificateError::NotInductive { edge, example, .. }) => {
                    let input = |id| example.inputs.iter().find(|i| i.0 == id).map_or(0, |i| i.1);
                    let next = eval::step(&cfa, &example.state, edge, input);
                    assert_eq!(next.as_ref(), Some(&example.after));
                    inductive_rejected += 1;
                }
                Err(_) => rejected += 1,
            }
        }
    }
    // The test is worth something only if all kinds of answers are frequent.
    assert!(accepted > 1000 && rejected > 300 && inductive_rejected > 1000);
}

/// The same with locations that are only passed.
#[test]
fn passed_locations_agree_with_enumeration() {
    let (mut accepted, mut not_passed, mut not_inductive) = (0, 0, 0);
    for seed in 0..1000 {
        let mut r = Random::new(10_000 + seed);
        let cfa = random_cfa(&mut r);
        let good = exact(&cfa, &[]);
        if good.properties.is_empty() {
            continue;
        }
        for round in 0..6 {
            let mut certificate = good.clone();
            let inner = cfa.locations.len() - cfa.properties.len() - 1;
            for l in (1..=inner as u32).map(LocId).filter(|_| r.coin()) {
                certificate.passed.push(l);
            }
            if round == 5 {
                certificate.passed.push(LocId(r.below(cfa.locations.len()) as u32));
            }
            let passed = certificate.passed.clone();
            certificate.clauses.retain(|c| !passed.contains(&c.location));
            for _ in 0..round.min(2) {
                mutate(&cfa, &mut certificate, &mut r);
            }
            certificate.bindings.clear();
            let expected = is_certificate(&cfa, &certificate);
            let answer = check(&cfa, &certificate);
            assert_eq!(answer.is_ok(), expected, "seed {seed}, round {round}: {answer:?}");
            match answer {
                Ok(stats) => accepted += (stats.passed > 0) as usize,
                Err(CertificateError::Solver(why)) => panic!("seed {seed}: {why}"),
                Err(CertificateError::Passed { .. }) => not_passed += 1,
                Err(CertificateError::NotInductive { step, .. }) => {
                    not_inductive += step.contains(", then ") as usize;
                }
                Err(_) => {}
            }
        }
    }
    println!("{accepted} {not_passed} {not_inductive}");
    let enough = accepted > 300 && not_passed > 300 && not_inductive > 10;
    assert!(enough, "{accepted} {not_passed} {not_inductive}");
}

/// Idle and Charge of the timer form a cycle; one of them alone may be passed, unless it loops.
#[test]
fn what_cannot_be_passed_is_told() {
    let cfa = timer(false);
    let why = |passed: &[u32]| {
        let passed: Vec<LocId> = passed.iter().copied().map(LocId).collect();
        let mut certificate = timer_certificate();
        certificate.clauses.retain(|c| !passed.contains(&c.location));
        match check(&cfa, &Certificate { passed, ..certificate }) {
            Err(CertificateError::Passed { location, why }) => format!("{location}: {why}"),
            other => format!("{other:?}"),
        }
    };
    assert_eq!(why(&[0]), "init: where runs start");
    assert_eq!(why(&[3]), "\"late timer\": an error location");
    let cycle = "Charge: which a cycle of passed locations contains or leads to";
    assert_eq!(why(&[2]), cycle);
    assert!(why(&[1, 2]).contains("a cycle of passed locations"));
    assert!(why(&[1]).starts_with("Ok("), "{}", why(&[1]));
    let kept = Certificate { passed: vec![LocId(1)], ..timer_certificate() };
    let error = check(&cfa, &kept).unwrap_err().to_string();
    assert_eq!(error, "the certificate passes Idle, but has clauses there");
    let outside = Certificate { passed: vec![LocId(9)], ..timer_certificate() };
    assert!(check(&cfa, &outside).unwrap_err().to_string().contains("location 9"));
    // With the bug, the path over Idle breaks it.
    let mut certificate = timer_certificate();
    certificate.clauses.retain(|c| c.location != LocId(1));
    certificate.passed = vec![LocId(1)];
    let error = check(&timer(true), &certificate).unwrap_err().to_string();
    assert!(error.contains("Charge -> Idle, then Idle -> "), "{error}");
}

#[test]
fn a_good_certificate_is_accepted() {
    let stats = check(&timer(false), &timer_certificate()).unwrap();
    assert_eq!((stats.properties, stats.edges, stats.clauses), (1, 6, 125));
    assert!(stats.queries > 3);
    assert!(is_certificate(&timer(false), &timer_certificate()));
}

#[test]
fn a_model_with_the_bug_refutes_it() {
    let error = check(&timer(true), &timer_certificate()).unwrap_err();
    let CertificateError::NotInductive { edge, example, .. } = &error else { panic!("{error}") };
    assert_eq!((*edge, example.location), (EdgeId(3), LocId(2)));
    assert_eq!(example.after[0], 7);
    let text = error.to_string();
    assert!(text.contains("at Idle is not inductive: Charge -> Idle breaks it"), "{text}");
    assert!(text.contains("with start=true") && text.contains("timer=7"), "{text}");
}

#[test]
fn each_clause_counts() {
    let (cfa, good) = (timer(false), timer_certificate());
    for i in (0..good.clauses.len()).step_by(7) {
        let mut certificate = good.clone();
        certificate.clauses.remove(i);
        assert_eq!(check(&cfa, &certificate).is_ok(), is_certificate(&cfa, &certificate), "{i}");
    }
    let mut certificate = good.clone();
    certificate.clauses.pop();
    assert!(matches!(check(&cfa, &certificate), Err(CertificateError::NotExcluded { .. })));
}

#[test]
fn bindings_narrow_what_is_proved() {
    let (cfa, good) = (timer(false), timer_certificate());
    let bound = |bindings: Vec<(VarId, Word)>| Certificate { bindings, ..good.clone() };
    assert_eq!(check(&cfa, &bound(vec![(VarId(1), 3)])).unwrap().bindings, 1);
    let why = |bindings| match check(&cfa, &bound(bindings)) {
        Err(CertificateError::Binding { why, .. }) => why,
        other => panic!("{other:?}"),
    };
    assert_eq!(why(vec![(VarId(1), 0)]), "outside the parameter's bounds");
    assert_eq!(why(vec![(VarId(1), 99)]), "outside the parameter's bounds");
    assert_eq!(why(vec![(VarId(0), 0)]), "it is not a parameter");
    // Contradictory bindings would prove anything.
    assert_eq!(why(vec![(VarId(1), 2), (VarId(1), 3)]), "it is bound twice");

    let one = bound(vec![(VarId(1), 3)]);
    assert_eq!(covers(&one, &[PropertyId(0)], &[(VarId(1), 3)]), Ok(()));
    assert_eq!(covers(&one, &[PropertyId(0)], &[]), Err(Gap::Parameter(VarId(1))));
    assert_eq!(covers(&one, &[], &[(VarId(1), 2)]), Err(Gap::Parameter(VarId(1))));
    assert_eq!(covers(&good, &[PropertyId(0)], &[(VarId(1), 2)]), Ok(()));
    assert_eq!(covers(&good, &[PropertyId(1)], &[]), Err(Gap::Property(PropertyId(1))));
}

#[test]
fn clauses_at_the_start_must_follow_from_the_parameters() {
    let cfa = timer(false);
    let with = |lits: Vec<(u32, u32, bool)>, bindings: Vec<(VarId, Word)>| {
        let lits = lits.into_iter().map(|(v, bit, value)| BitLit { var: VarId(v), bit, value });
        let mut certificate = Certificate { bindings, ..timer_certificate() };
        certificate.clauses.push(Clause { location: cfa.init, lits: lits.collect() });
        check(&cfa, &certificate)
    };
    // The limit is at most 6; it is below 4 only if bound so.
    assert!(with(vec![(1, 3, false)], vec![]).is_ok());
    assert!(with(vec![(1, 2, false)], vec![(VarId(1), 3)]).is_ok());
    assert!(matches!(with(vec![(1, 2, false)], vec![]), Err(CertificateError::NotInitial { .. })));
    // State variables are arbitrary at the start, and "never at the start" is never true.
    assert!(matches!(with(vec![(0, 0, false)], vec![]), Err(CertificateError::NotInitial { .. })));
    assert!(matches!(with(vec![], vec![]), Err(CertificateError::NotInitial { .. })));
}

#[test]
fn what_is_not_of_the_model_is_refused() {
    let cfa = timer(false);
    let clause = |l: u32, var: u32, bit| {
        let lits = vec![BitLit { var: VarId(var), bit, value: true }];
        let mut certificate = timer_certificate();
        certificate.clauses.push(Clause { location: LocId(l), lits });
        check(&cfa, &certificate).unwrap_err()
    };
    let unknown = |what, index| CertificateError::Unknown { what, index };
    assert_eq!(clause(4, 0, 0), unknown("location", 4));
    assert_eq!(clause(1, 3, 0), unknown("variable", 3));
    assert!(matches!(clause(1, 0, 4), CertificateError::NoSuchBit { bit: 4, width: 4, .. }));
    assert!(matches!(clause(1, 0, u32::MAX), CertificateError::NoSuchBit { .. }));
    let mut certificate = timer_certificate();
    certificate.properties.push(PropertyId(1));
    assert_eq!(check(&cfa, &certificate), Err(unknown("property", 1)));
    certificate.properties.clear();
    assert_eq!(check(&cfa, &certificate), Err(CertificateError::NothingClaimed));
    certificate = timer_certificate();
    certificate.bindings.push((VarId(7), 0));
    assert_eq!(check(&cfa, &certificate), Err(unknown("parameter", 7)));
}

#[test]
fn parameters_without_a_value_prove_nothing() {
    for (min, max) in [(5, 4), (0, 99), (99, 0)] {
        let mut cfa = timer(true);
        cfa.vars[1].kind = VarKind::Param { min, max };
        let error = check(&cfa, &timer_certificate()).unwrap_err();
        assert!(matches!(error, CertificateError::EmptyRange { .. }), "{error}");
    }
}

#[test]
fn ill_formed_automata_are_refused() {
    let broken = |change: &dyn Fn(&mut Cfa)| {
        let mut cfa = timer(false);
        change(&mut cfa);
        let error = check(&cfa, &timer_certificate()).unwrap_err();
        assert!(matches!(error, CertificateError::IllFormed(_)), "{error}");
    };
    broken(&|cfa| cfa.edges[0].guard = ExprId(9999));
    broken(&|cfa| cfa.edges[2].updates[0].1 = ExprId(9999));
    broken(&|cfa| cfa.edges[2].updates[0].0 = VarId(1));
    broken(&|cfa| cfa.edges[3].to = LocId(0));
    broken(&|cfa| cfa.init = LocId(17));
    broken(&|cfa| cfa.properties[0].error = LocId(17));
    broken(&|cfa| cfa.vars[2].width = 0);
    broken(&|cfa| cfa.vars[0].width = 5);
    broken(&|cfa| cfa.inputs[0].width = 129);
}
