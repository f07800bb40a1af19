//! Sweeps over random models, against each value by itself.

use std::collections::BTreeMap;
use vouch_host::blast::{self, AlignedImage};
use vouch_host::check::{By, Request, check};
use vouch_host::deadline::Deadline;
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::{Origin, Source};
use vouch_host::ir::sample::{Random, random_cfa};
use vouch_host::ir::{Cfa, PropertyId, VarId, VarKind, Word, mask};
use vouch_host::judge::Question;
use vouch_host::pipeline::Loaded;
use vouch_host::simplify::{self, Passes};
use vouch_host::sweep::region::{self, Region};
use vouch_host::sweep::search::{self, Job};
use vouch_host::sweep::{Evidence, Sweep, narrowed};
use vouch_host::validate;
use vouch_host::verdict::Verdict;

fn loaded(cfa: Cfa) -> Loaded {
    let simplified = simplify::run(&cfa, &Passes::all());
    let model = blast::compile(&simplified.cfa, [0; 32], &blast::Options::default()).unwrap();
    Loaded {
        cfa,
        simplified,
        image: AlignedImage::new(&model.image),
        map: model.map,
        source: Source { path: "random".into(), text: String::new() },
        digest: [0; 32],
        warnings: vec![],
        moves: vec![],
        origin: Origin::Model,
        code: vec![],
        requirements: Default::default(),
    }
}

/// A random automaton with one parameter or two.
fn random(seed: u64) -> Option<Cfa> {
    let mut r = Random::new(seed);
    let mut cfa = random_cfa(&mut r);
    if seed % 2 == 1 {
        let var = VarId(0);
        cfa.edges.iter_mut().for_each(|e| e.updates.retain(|u| u.0 != var));
        let width = cfa.vars[0].width;
        let (min, max) = match cfa.vars[0].ty {
            vouch_host::ir::Type::Signed => (1 << (width - 1), mask(width) >> 1),
            _ => (0, mask(width)),
        };
        cfa.vars[0].kind = VarKind::Param { min, max };
    }
    // Half of them have a property that ends runs.
    if seed % 4 >= 2 && cfa.properties.len() > 1 {
        cfa.fatal = vec![PropertyId(1)];
    }
    cfa.check().unwrap();
    (cfa.params().count() > 0).then_some(cfa)
}

/// What a check of one combination of values says.
fn by_itself(model: &Loaded, property: PropertyId, bindings: Vec<(VarId, Word)>) -> Verdict {
    let request = Request::new(Question::new(&model.cfa, Some(property), bindings));
    let by = By::Host { engine: Engine::Ic3Cfa, memory: Memory::default() };
    check(model, &request, by, &mut |_| {}).unwrap().judgement.verdict()
}

fn all_points(region: &Region) -> Vec<Vec<i128>> {
    region.sides.iter().fold(vec![vec![]], |all, side| {
        let extend = |p: Vec<i128>| (side.first..=side.last).map(move |x| [&p[..], &[x]].concat());
        all.into_iter().flat_map(extend).collect()
    })
}

fn sweep(model: &Loaded, params: &[VarId], region: &Region, budget: u64) -> Sweep {
    let job = Job {
        model,
        params: params.to_vec(),
        region: region.clone(),
        properties: (0..model.cfa.properties.len() as u32).map(PropertyId).collect(),
        bindings: vec![],
        budget,
        engine: Engine::Ic3Cfa,
        memory: Memory::default(),
        deadline: Deadline::never(),
        last_moments: Deadline::never(),
    };
    search::run(&job, &mut |_| {})
}

/// Each value is in one piece, with the verdict that it has by itself, and what the piece rests on holds for all of it.
#[test]
fn each_value_has_the_verdict_that_it_has_by_itself() {
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    for seed in 0..160 {
        let Some(cfa) = random(seed) else { continue };
        let model = loaded(cfa);
        let params: Vec<VarId> = model.cfa.params().map(|p| p.0).collect();
        let var = |id: &VarId| &model.cfa.vars[id.index()];
        let all = Region { sides: params.iter().map(|id| region::all(var(id)).unwrap()).collect() };
        let found = sweep(&model, &params, &all, 0);
        for of in &found.properties {
            for point in all_points(&all) {
                let at = Region::point(point.iter().copied());
                let mut pieces = of.pieces.iter().filter(|p| p.region.meet(&at).is_some());
                let piece = pieces.next().unwrap();
                assert!(pieces.next().is_none(), "seed {seed}: {point:?} is in two pieces");
                let values = params.iter().zip(&point);
                let bindings: Vec<_> =
                    values.map(|(id, at)| (*id, region::value(var(id), *at))).collect();
                let expected = by_itself(&model, of.property, bindings.clone());
                assert_eq!(piece.verdict, expected, "seed {seed}: {:?} {point:?}", of.property);
                // A run is one with this value, too.
                if let Some(Evidence::Run(trace)) = piece.evidence.map(|n| &found.evidence[n]) {
                    let mut trace = trace.clone();
                    trace.initial.retain(|i| !params.contains(&i.0));
                    trace.initial.extend(bindings);
                    validate::replay(&model.cfa, &trace).unwrap();
                }
                *seen.entry(expected.to_string()).or_default() += 1;
            }
            for piece in &of.pieces {
                assert_eq!(piece.evidence.is_some(), piece.verdict != Verdict::Unknown);
                if let Some(Evidence::Proof(proof)) = piece.evidence.map(|n| &found.evidence[n]) {
                    let cfa = narrowed(&model.cfa, &params, &piece.region);
                    validate::check(&cfa, proof).unwrap();
                    *seen.entry("proofs".into()).or_default() += 1;
                }
                let is_partial = piece.region != all && piece.region.size() > 1;
                *seen.entry("parts".into()).or_default() += is_partial as usize;
            }
        }
        *seen.entry("reused".into()).or_default() += found.reused;
    }
    println!("{seen:?}");
    for (what, least) in [("safe", 100), ("unsafe", 100), ("unknown", 10), ("parts", 20)] {
        assert!(seen.get(what).is_some_and(|n| *n >= least), "{what}: {seen:?}");
    }
}

/// With a budget that is too small for anything, nothing is claimed that is not so.
#[test]
fn without_work_nothing_is_claimed_wrongly() {
    for seed in 0..40 {
        let Some(cfa) = random(seed) else { continue };
        let model = loaded(cfa);
        let params: Vec<VarId> = model.cfa.params().map(|p| p.0).collect();
        let side = |id: &VarId| region::all(&model.cfa.vars[id.index()]).unwrap();
        let all = Region { sides: params.iter().map(side).collect() };
        let (some, full) = (sweep(&model, &params, &all, 60), sweep(&model, &params, &all, 0));
        for (some, full) in some.properties.iter().zip(&full.properties) {
            let size: u128 = some.pieces.iter().map(|p| p.region.size()).sum();
            assert_eq!(size, all.size());
            for piece in some.pieces.iter().filter(|p| p.verdict != Verdict::Unknown) {
                let other = |p: &&vouch_host::sweep::Piece| p.region.meet(&piece.region).is_some();
                for known in full.pieces.iter().filter(other) {
                    assert_eq!(piece.verdict, known.verdict, "seed {seed}");
                }
            }
        }
    }
}
