//! The core's solver against varisat and CaDiCaL.

use vouch_core::sat::Answer;
use vouch_core::word::Word;
use vouch_tests::rng::Rng;
use vouch_tests::sat_driver::{
    self, Codes, Counts, Driver, Formula, Query, cadical_refutes, varisat_refutes,
};

/// Sequences of additions and queries in which learnt clauses outlive the query they come from.
#[test]
fn random_sequences_agree() {
    let mut counts = Counts::default();
    for seed in 0..400 {
        match sat_driver::one(seed) {
            Ok(c) => counts.add(&c),
            Err(what) => panic!("{what}"),
        }
    }
    println!("{counts:?}");
    let Counts { queries, sat, unsat, none, carried, full, hardest, .. } = counts;
    assert!(queries >= 30_000 && sat > 10_000 && unsat > 10_000, "{counts:?}");
    assert!(carried > 10_000 && none > 100 && full > 50 && hardest > 300, "{counts:?}");
}

/// State bits only, and these clauses at level 1.
fn plain(live: usize, clauses: impl IntoIterator<Item = Codes>) -> Formula {
    let clauses = clauses.into_iter().map(|c| (c, 1)).collect();
    Formula { live, edges: vec![(0, vec![])], clauses, fixed: vec![] }
}

fn query(assumptions: Codes, temporary: Option<Codes>) -> Query {
    Query { level: 1, assumptions, temporary, demand: vec![], lemmas: true }
}

/// What a learnt clause of the temporary clause implies at the root depends on that one too. Once it
/// did not, and the unit `[11]` learnt from it stayed as if it followed from the clauses alone.
#[test]
fn root_implications_of_temporary_learnts_are_temporary() {
    let clauses: [&[u32]; 25] = [
        &[4, 19],
        &[5, 12, 17],
        &[9, 14],
        &[11, 24],
        &[9, 27],
        &[5, 21],
        &[2, 4, 10],
        &[5, 18],
        &[13, 16, 20],
        &[2, 10, 25],
        &[9, 13],
        &[5, 26],
        &[13, 20, 27],
        &[10, 13, 25],
        &[7, 19, 26],
        &[8, 12],
        &[2, 10, 26],
        &[9, 17],
        &[7, 13, 23],
        &[4, 21, 27],
        &[22, 25],
        &[3, 8],
        &[17, 18],
        &[9, 11, 25],
        &[3, 21, 27],
    ];
    let formula = plain(13, clauses.map(|c| c.to_vec()));
    let mut driver = Driver::<u16>::new(formula, 5000, 4);
    driver.ask(&query(vec![], Some(vec![21, 18])), varisat_refutes).unwrap();
    for pick in 0..8 {
        driver.audit(pick, varisat_refutes).unwrap();
    }
    let answer = driver.ask(&query(vec![10], None), varisat_refutes);
    assert_eq!(answer, Ok(Answer::Sat));
}

/// A search in a pool for one or two learnt clauses ends: with an answer, or for lack of room. It
/// went round in circles when every full pool sent it back to the root.
#[test]
fn tiny_pools_do_not_keep_a_query_from_ending() {
    let mut answers = [0; 2];
    for seed in 0..40 {
        let mut rng = Rng::new(seed);
        let formula = random_3sat(&mut rng, 24, 100);
        let room = formula.clauses.len() * 8;
        for spare in [6, 8, 10, 14, 20, 30, 60] {
            let mut driver = Driver::<u16>::new(formula.clone(), room + spare, 4);
            driver.state.limit = 10_000_000;
            let answer = driver.ask(&query(vec![], None), varisat_refutes).unwrap();
            assert_ne!(answer, Answer::Budget, "seed {seed}, {spare} words");
            answers[matches!(answer, Answer::Sat | Answer::Unsat) as usize] += 1;
        }
    }
    assert!(answers[0] > 20 && answers[1] > 20, "{answers:?}");
}

fn random_3sat(rng: &mut Rng, vars: usize, count: usize) -> Formula {
    let clause = |_| loop {
        let mut c: Codes = (0..3).map(|_| (2 + rng.below(2 * vars)) as u32).collect();
        c.sort();
        c.dedup_by_key(|l| *l / 2);
        if c.len() == 3 {
            break c;
        }
    };
    plain(vars, (0..count).map(clause).collect::<Vec<_>>())
}

/// Random 3-SAT at the threshold: restarts, reductions in a pool that is too small for all, and with
/// narrow words a clock of the decision queue that runs out several times.
fn threshold<W: Word>(seeds: std::ops::Range<u64>) -> Counts {
    let mut counts = Counts::default();
    for seed in seeds {
        let mut rng = Rng::new(seed);
        let vars = rng.between(60, 130);
        let formula = random_3sat(&mut rng, vars, vars * 425 / 100);
        let room = formula.clauses.len() * 11 + 1500;
        let mut driver = Driver::<W>::new(formula, room, 4);
        driver.plenty = true;
        let oracle = if rng.one_in(2) { cadical_refutes } else { varisat_refutes };
        driver.ask(&query(vec![], None), oracle).unwrap();
        for _ in 0..4 {
            let lit = |rng: &mut Rng| (2 + rng.below(2 * vars)) as u32;
            let temporary = rng.one_in(2).then(|| (0..3).map(|_| lit(&mut rng)).collect());
            let assumptions = (0..2).map(|_| lit(&mut rng)).collect();
            driver.ask(&query(assumptions, temporary), oracle).unwrap();
            driver.audit(rng.below(100), oracle).unwrap();
        }
        counts.add(&driver.counts);
    }
    println!("{counts:?}");
    counts
}

#[test]
fn threshold_formulas_agree() {
    for counts in [threshold::<u16>(0..14), threshold::<u32>(14..28)] {
        assert!(counts.sat > 5 && counts.unsat > 5, "{counts:?}");
        // A restart comes after 64 conflicts at the latest; all pools were full.
        assert!(counts.hardest > 1000 && counts.full > 8, "{counts:?}");
    }
}

/// Everybody sits, and no two on one chair, with one chair too few.
fn pigeons(chairs: usize) -> Formula {
    let sits = |p: usize, c: usize| 2 * (1 + p * chairs + c) as u32;
    let mut clauses: Vec<Codes> =
        (0..=chairs).map(|p| (0..chairs).map(|c| sits(p, c)).collect()).collect();
    for c in 0..chairs {
        for p in 0..=chairs {
            clauses.extend((0..p).map(|q| vec![sits(p, c) ^ 1, sits(q, c) ^ 1]));
        }
    }
    plain((chairs + 1) * chairs, clauses)
}

/// A refutation that needs many conflicts in one query. With more than 64 Ki moves in the decision
/// queue the stamps of 16 bits must have been renumbered.
#[test]
fn pigeons_do_not_fit() {
    let formula = pigeons(7);
    let room = formula.clauses.len() * 14 + 3000;
    let mut driver = Driver::<u16>::new(formula, room, 4);
    driver.plenty = true;
    assert_eq!(driver.ask(&query(vec![], None), varisat_refutes), Ok(Answer::Unsat));
    let first = driver.counts;
    assert!(first.full == 1, "{first:?}");
    // With one chair taken by assumption, and with the clauses out of force.
    assert_eq!(driver.ask(&query(vec![2], None), cadical_refutes), Ok(Answer::Unsat));
    let above = Query { level: 2, ..query(vec![2], None) };
    assert_eq!(driver.ask(&above, varisat_refutes), Ok(Answer::Sat));
    // Every conflict moves at least the asserted variable, and on average far more.
    println!("{:?}", driver.counts);
    assert!(driver.counts.conflicts > 10_000, "{:?}", driver.counts);
}

/// The parity of the same inputs, added up in two orders, is the same; gates alone refute it.
#[test]
fn parities_agree() {
    for (inputs, seed) in [(6, 1), (9, 2), (13, 3), (18, 4)] {
        let mut rng = Rng::new(seed);
        let mut gates: Vec<[u32; 3]> = vec![];
        let mut chain = |order: &[u32]| {
            order[1..].iter().fold(order[0], |sum, x| {
                gates.push([sum, x ^ 1, *x]);
                2 * (inputs + gates.len()) as u32
            })
        };
        let mut order: Vec<u32> = (1..=inputs as u32).map(|v| 2 * v).collect();
        let one = chain(&order);
        for i in (1..order.len()).rev() {
            order.swap(i, rng.below(i + 1));
        }
        let other = chain(&order);
        let edges = vec![(inputs, gates)];
        let formula = Formula { live: 0, edges, clauses: vec![], fixed: vec![] };
        let mut driver = Driver::<u16>::new(formula, 2000, 4);
        driver.plenty = true;
        for (a, b, want) in [
            (one, other ^ 1, Answer::Unsat),
            (one ^ 1, other, Answer::Unsat),
            (one, other, Answer::Sat),
            (one ^ 1, other ^ 1, Answer::Sat),
        ] {
            assert_eq!(driver.ask(&query(vec![a, b], None), cadical_refutes), Ok(want));
            // The same by way of the temporary clause.
            let both = driver.ask(&query(vec![a], Some(vec![b])), varisat_refutes);
            assert_eq!(both, Ok(want));
        }
        println!("{inputs}: {:?}", driver.counts);
        assert!(inputs < 18 || driver.counts.conflicts > 1000, "{:?}", driver.counts);
    }
}
