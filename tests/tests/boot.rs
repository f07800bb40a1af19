//! The self-check at boot and the live guard: against explicit search, with certificates of all kinds.

use vouch_core::certificate::{Check, Checker};
use vouch_core::guard::{Alarm, At, Guard, bit, set_bit};
use vouch_core::image::{Image, ImageBuilder};
use vouch_device::boot::{Decision, Method, Mode, Outcome, Policy, SelfCheck, Trace};
use vouch_device::boot::{Verdict, Watch, Why, check};
use vouch_device::record::{Record, Remembered, subject};
use vouch_host::blast::{AlignedImage, certified};
use vouch_host::engines::{Engine, Setup};
use vouch_host::frontend::{Language, Source};
use vouch_host::pipeline;
use vouch_tests::engine::{self, certificate_table};
use vouch_tests::image_oracle::{reach, shortest, step};
use vouch_tests::random_image;
use vouch_tests::rng::Rng;

/// With a `limit` above 12 it runs too long.
const PUMP: &str = "\
machine pump {
    param limit: u4 in 3..=14;
    input water: bool;
    var timer: u4 = 0;
    initial state Idle {
        on water -> Running { timer = 0; }
    }
    state Running {
        on !water -> Idle;
        on timer == limit -> Idle;
        else { timer += 1; }
    }
    property short: always timer <= 12;
    property bounded: always timer <= 14;
}
";

fn pump() -> AlignedImage {
    let source = Source { path: "pump.vch".into(), text: PUMP.into() };
    pipeline::compile(source, Language::Vch, &pipeline::Options::default()).unwrap().image
}

/// The pump with a proof for this limit.
fn certified_pump(limit: u64) -> AlignedImage {
    let image = pump();
    let setup = Setup { bindings: vec![(0, limit)], ..Setup::default() };
    let answer = Engine::default().run(&image, &setup, &mut |_| true).unwrap();
    certified::attach(&image, &answer.clauses).unwrap()
}

/// Counts what it sees.
#[derive(Default)]
struct Seen {
    idle: usize,
    traces: Vec<(usize, Vec<usize>)>,
}

impl Watch for Seen {
    fn idle(&mut self) {
        self.idle += 1;
    }
    fn broken(&mut self, trace: &mut Trace<'_, '_>) {
        let mut inputs = [0; 64];
        assert!(trace.initial(&mut inputs).is_some());
        let steps = (0..trace.steps()).map(|i| trace.step(i, &mut inputs).unwrap()).collect();
        self.traces.push((trace.property, steps));
    }
}

fn boot(image: &AlignedImage, what: &SelfCheck<'_>, words: usize) -> (Outcome, Seen) {
    let view = image.view::<u16>().unwrap();
    let mut seen = Seen::default();
    let outcome = check(&view, what, &mut vec![0xdead_beef; words], &mut seen);
    (outcome, seen)
}

#[test]
fn a_certificate_is_checked_and_where_it_does_not_hold_a_proof_is_found() {
    let limit = [("limit", 5)];
    let what = SelfCheck { parameters: &limit, slice: 20, ..SelfCheck::default() };
    let (outcome, seen) = boot(&certified_pump(5), &what, 4000);
    let safe = (Verdict::Safe, Decision::Start);
    assert_eq!((outcome.verdict, outcome.decision), safe);
    assert_eq!(outcome.method, Method::Certificate);
    assert!(seen.idle > 3 && outcome.peak_bytes > 0 && outcome.work > 0, "{}", seen.idle);
    // The same without a certificate, with one for another value, and with the order to prove.
    let other = [("limit", 12)];
    for (image, parameters, mode) in [
        (pump(), &limit, Mode::Recheck),
        (certified_pump(5), &other, Mode::Recheck),
        (certified_pump(5), &limit, Mode::Prove),
    ] {
        let what = SelfCheck { parameters, mode, slice: 20, ..SelfCheck::default() };
        let (outcome, seen) = boot(&image, &what, 4000);
        assert_eq!((outcome.verdict, outcome.decision), safe);
        assert_eq!(outcome.method, Method::Proof);
        assert!(seen.idle > 0 && outcome.work > 0);
    }
    let only = SelfCheck { mode: Mode::RecheckOnly, parameters: &other, ..SelfCheck::default() };
    let (outcome, _) = boot(&certified_pump(5), &only, 4000);
    assert_eq!(outcome.verdict, Verdict::Unknown(Why::NoCertificate));
    assert_eq!(outcome.decision, Decision::Refuse);
}

/// 40009 is a prime: one query, and a hard one.
const FACTORS: &str = "\
machine factors {
    input a: u8;
    input b: u8;
    var product: u16 = 0;
    initial state Run {
        else { product = (a as u16) * (b as u16); }
    }
    property prime: always product != 40009;
}
";

/// However long one query takes, the watchdog is fed and the budget is kept, in search of a proof and
/// when one is checked.
#[test]
fn a_hard_query_is_no_excuse() {
    let source = Source { path: "factors.vch".into(), text: FACTORS.into() };
    let image = pipeline::compile(source, Language::Vch, &pipeline::Options::default());
    let image = image.unwrap().image;
    let answer = Engine::default().run(&image, &Setup::default(), &mut |_| true).unwrap();
    let certified = certified::attach(&image, &answer.clauses).unwrap();
    // What is propagated between two looks at the clock.
    let slack = u64::from(image.view::<u16>().unwrap().header.max_vars);
    for (image, mode) in [(&image, Mode::Prove), (&certified, Mode::RecheckOnly)] {
        let what = SelfCheck { mode, slice: 500, ..SelfCheck::default() };
        let (outcome, seen) = boot(image, &what, 12_000);
        assert_eq!(outcome.verdict, Verdict::Safe);
        assert!(outcome.work > 20_000, "{}", outcome.work);
        let fed = seen.idle as u64;
        assert!(fed >= outcome.work / (500 + slack), "{fed} times in {}", outcome.work);
        let what = SelfCheck { budget: 5000, ..what };
        let (outcome, _) = boot(image, &what, 12_000);
        assert_eq!(outcome.verdict, Verdict::Unknown(Why::Budget));
        assert!((5000..5000 + slack).contains(&outcome.work), "{}", outcome.work);
    }
}

/// Whether a table proves the image for these parameters, by the checker.
fn proves(image: &Image<'_, u16>, table: &[u16], bindings: &[(usize, u64)]) -> bool {
    let mut checker = Checker::new(image, table, 0..image.header.properties as usize).unwrap();
    let mut arena = vec![0; Checker::bytes(image, table) / 4 + 1];
    loop {
        match checker.step(image, table, bindings, &mut arena, 1000) {
            Check::Running => {}
            end => return end == Check::Valid,
        }
    }
}

#[test]
fn a_proof_found_at_boot_leaves_its_invariant_for_the_guard() {
    for limit in 3..=12 {
        let parameters = [("limit", limit)];
        let what = SelfCheck { parameters: &parameters, mode: Mode::Prove, ..SelfCheck::default() };
        let image = pump();
        let view = image.view::<u16>().unwrap();
        let mut memory = vec![0xdead_beef; 4000];
        let outcome = check(&view, &what, &mut memory, &mut || {});
        let table = outcome.invariant(&view, &memory).expect("an invariant");
        assert!(proves(&view, table, &[(0, limit)]), "{table:?}");
        // Where the certificate was checked, it is the invariant.
        let image = certified_pump(limit);
        let view = image.view::<u16>().unwrap();
        let what = SelfCheck { mode: Mode::Recheck, ..what };
        let outcome = check(&view, &what, &mut memory, &mut || {});
        assert_eq!(outcome.invariant(&view, &memory), view.certificate());
    }
    // What is not safe leaves none.
    let limit = [("limit", 14)];
    let what = SelfCheck { parameters: &limit, ..SelfCheck::default() };
    let image = certified_pump(5);
    let view = image.view::<u16>().unwrap();
    let mut memory = vec![0; 4000];
    let outcome = check(&view, &what, &mut memory, &mut || {});
    assert_eq!((outcome.invariant(&view, &memory), outcome.table), (None, 0));
}

/// On random models, in memory from little to much: whatever invariant is left proves the model again,
/// and every reachable state fulfils it.
#[test]
fn invariants_left_by_proofs_hold_in_every_reachable_state() {
    let (mut tables, mut none) = (0, 0);
    for seed in 0..150 {
        let image = random_image::generate(seed);
        let bytes = AlignedImage::new(&image.build_as::<u16>().unwrap());
        let view = bytes.view::<u16>().unwrap();
        let mut memory = vec![0xdead_beef; 150 << (seed % 6)];
        let what = SelfCheck { mode: Mode::Prove, budget: 200_000, ..SelfCheck::default() };
        let outcome = check(&view, &what, &mut memory, &mut || {});
        let Some(table) = outcome.invariant(&view, &memory) else {
            none += (outcome.verdict == Verdict::Safe) as u32;
            continue;
        };
        tables += 1;
        assert!(proves(&view, table, &[]), "{seed}");
        let guard = Guard::new(&view, table);
        let mut bits = vec![0x5a; image.state_bits.div_ceil(8) as usize];
        for (location, values) in reach(&image, |_| true).into_keys() {
            let location = location as usize;
            spread(&image.locations[location].live, values, &mut bits);
            assert_eq!(guard.holds(At { location, bits: &bits }), Ok(()), "{seed}");
        }
    }
    assert!(tables > 20, "{tables} with a table, {none} without");
}

#[test]
fn what_a_broken_property_means_is_the_products_choice() {
    let limit = [("limit", 14)];
    for image in [pump(), certified_pump(5)] {
        for (policies, decision) in [
            (&[][..], Decision::Refuse),
            (&[("short", Policy::Degrade)], Decision::Degraded),
            (&[("short", Policy::Report)], Decision::Start),
            (&[("bounded", Policy::Report)], Decision::Refuse),
        ] {
            let what = SelfCheck { parameters: &limit, policies, ..SelfCheck::default() };
            let (outcome, seen) = boot(&image, &what, 4000);
            assert_eq!(outcome.verdict, Verdict::Unsafe { property: 0 });
            assert_eq!(outcome.decision, decision);
            let [(0, steps)] = &seen.traces[..] else { panic!("{:?}", seen.traces) };
            assert!(steps.len() > 12);
        }
    }
    // With the limit open it is broken too, since some value breaks it.
    let (outcome, _) = boot(&pump(), &SelfCheck::default(), 4000);
    assert_eq!(outcome.verdict, Verdict::Unsafe { property: 0 });
}

#[test]
fn what_cannot_be_decided_is_unknown_and_does_not_start() {
    let limit = [("limit", 12)];
    let base = SelfCheck { parameters: &limit, ..SelfCheck::default() };
    let unknown = |what: &SelfCheck<'_>, words: usize| {
        let (outcome, _) = boot(&certified_pump(5), what, words);
        assert_eq!(outcome.decision, Decision::Refuse);
        match outcome.verdict {
            Verdict::Unknown(why) => why,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(unknown(&SelfCheck { budget: 30, slice: 5, ..base }, 4000), Why::Budget);
    for words in [0, 1, 10, 100, 200] {
        let Why::Memory { needed } = unknown(&base, words) else { panic!("{words}") };
        assert!(needed > words * 4);
    }
    for (parameters, why) in [
        (&[("limit", 2)][..], Why::OutOfRange(0)),
        (&[("limit", 15)], Why::OutOfRange(0)),
        (&[("limit", 16 + 5)], Why::OutOfRange(0)),
        (&[("limit", 5), ("limit", 6)], Why::OutOfRange(1)),
        (&[("limit", 5), ("height", 6)], Why::NoSuchParameter(1)),
    ] {
        for mode in [Mode::Recheck, Mode::RecheckOnly, Mode::Prove] {
            assert_eq!(unknown(&SelfCheck { parameters, mode, ..base }, 4000), why);
        }
    }
    let policies = &[("shrt", Policy::Report)][..];
    assert_eq!(unknown(&SelfCheck { policies, ..base }, 4000), Why::NoSuchProperty(0));
}

/// Without a property there is nothing that could hold, and a product may ask for those it relies on.
#[test]
fn what_is_not_asked_for_does_not_start() {
    let mut image = random_image::generate(1);
    image.properties.clear();
    let image = AlignedImage::new(&image.build_as::<u16>().unwrap());
    for mode in [Mode::Recheck, Mode::RecheckOnly, Mode::Prove] {
        let (outcome, _) = boot(&image, &SelfCheck { mode, ..SelfCheck::default() }, 4000);
        let nothing = (Verdict::Unknown(Why::NoProperties), Decision::Refuse);
        assert_eq!((outcome.verdict, outcome.decision), nothing);
        let limit = [("limit", 5)];
        let base = SelfCheck { mode, parameters: &limit, ..SelfCheck::default() };
        let with = |required| boot(&certified_pump(5), &SelfCheck { required, ..base }, 4000).0;
        assert_eq!(with(&["bounded", "short"]).decision, Decision::Start);
        let outcome = with(&["short", "quiet"]);
        assert_eq!(outcome.verdict, Verdict::Unknown(Why::Missing(1)));
        assert_eq!(outcome.decision, Decision::Refuse);
    }
}

/// What is started is what was decided.
#[test]
fn an_application_starts_by_a_permit_only() {
    for (limit, policies, decision) in [
        (5, &[][..], Decision::Start),
        (14, &[("short", Policy::Report)], Decision::Start),
        (14, &[("short", Policy::Degrade)], Decision::Degraded),
        (14, &[], Decision::Refuse),
    ] {
        let parameters = [("limit", limit)];
        for image in [pump(), certified_pump(5)] {
            for mode in [Mode::Recheck, Mode::RecheckOnly, Mode::Prove] {
                let what =
                    SelfCheck { mode, policies, parameters: &parameters, ..SelfCheck::default() };
                let (outcome, _) = boot(&image, &what, 4000);
                let decided = |to: Decision| (outcome.decision == to).then_some(());
                assert_eq!(outcome.start(|permit| permit.confirm()), decided(Decision::Start));
                let less = outcome.start_degraded(|permit| permit.confirm());
                assert_eq!(less, decided(Decision::Degraded));
                // Without a proof nothing is known of the property that has no policy.
                if mode != Mode::RecheckOnly {
                    assert_eq!(outcome.decision, decision);
                } else {
                    assert!(outcome.decision >= decision);
                }
            }
        }
    }
}

/// A certificate with something wrong in it.
fn tampered(image: &ImageBuilder, rng: &mut Rng) -> Vec<(u32, Vec<u32>)> {
    let mut clauses = image.certificate.clone();
    for _ in 0..1 + rng.below(3) {
        let location = rng.below(image.locations.len() + 1) as u32;
        let mut lits: Vec<u32> = (0..rng.below(3))
            .map(|_| rng.below(2 * image.state_bits as usize + 2) as u32)
            .collect();
        lits.sort_unstable();
        match rng.below(4) {
            0 if !clauses.is_empty() => drop(clauses.remove(rng.below(clauses.len()))),
            1 => clauses.extend(image.properties.iter().map(|p| (p.error, vec![]))),
            _ => clauses.push((location, lits)),
        }
    }
    clauses
}

#[test]
fn random_models_with_right_wrong_and_no_certificates_get_the_true_verdict() {
    let (mut safe, mut rechecked, mut broken) = (0, 0, 0);
    for seed in 0..400 {
        let mut image = random_image::generate(seed);
        let mut rng = Rng::new(!seed);
        let truth = shortest(&image, |_| true);
        let first = truth.iter().position(Option::is_some);
        let bytes = image.build_as::<u16>().unwrap();
        let found = engine::run::<u16>(&bytes, &engine::Setup::default()).unwrap();
        let mut clauses: Vec<(u32, Vec<u32>)> =
            found.clauses.iter().map(|(l, lits)| (*l as u32, lits.clone())).collect();
        clauses.iter_mut().for_each(|(_, lits)| lits.sort_unstable());
        for round in 0..4 {
            image.certificate = match round {
                0 => vec![],
                1 => clauses.clone(),
                _ => tampered(&image, &mut rng),
            };
            let Ok(bytes) = image.build_as::<u16>() else { continue };
            let aligned = AlignedImage::new(&bytes);
            let what = SelfCheck { slice: 50, ..SelfCheck::default() };
            let (outcome, seen) = boot(&aligned, &what, 1 << 18);
            match (first, outcome.verdict) {
                (None, Verdict::Safe) => {
                    safe += 1;
                    rechecked += (outcome.method == Method::Certificate) as usize;
                    assert_eq!(outcome.decision, Decision::Start);
                }
                (Some(_), Verdict::Unsafe { property }) => {
                    broken += 1;
                    assert!(truth[property].is_some() && !seen.traces.is_empty());
                    assert_eq!(outcome.decision, Decision::Refuse);
                }
                other => panic!("seed {seed}, round {round}: {other:?}"),
            }
        }
    }
    assert!(safe > 100 && broken > 100 && rechecked > 50, "{safe}, {broken}, {rechecked}");
}

/// Live bits of a location by their global numbers.
fn spread(live: &[u32], values: u64, bits: &mut [u8]) {
    for (j, number) in live.iter().enumerate() {
        set_bit(bits, *number as usize, values >> j & 1 == 1);
    }
}

#[test]
fn the_guard_lets_every_reachable_state_and_step_pass_and_no_other_step() {
    let (mut states, mut steps, mut caught, mut flips) = (0, 0, 0, 0);
    for seed in 0..700 {
        let image = random_image::generate(seed);
        let bytes = image.build_as::<u16>().unwrap();
        let found = engine::run::<u16>(&bytes, &engine::Setup::default()).unwrap();
        let table = certificate_table::<u16>(&found.clauses);
        let words = engine::aligned(&bytes);
        let view: &[u8] = bytemuck::cast_slice(&words);
        let view = Image::<u16>::new_checked(&view[..bytes.len()]).unwrap();
        let guard = Guard::new(&view, &table);
        let size = image.state_bits.div_ceil(8) as usize;
        let mut scratch = vec![0; guard.scratch()];
        let (mut before, mut after) = (vec![0x5a; size], vec![0xa5; size]);
        for (location, values) in reach(&image, |_| true).into_keys() {
            let live = &image.locations[location as usize].live;
            spread(live, values, &mut before);
            let at = At { location: location as usize, bits: &before };
            let errors = || image.properties.iter().map(|p| p.error);
            if found.clauses.is_empty() || errors().any(|e| e == location) {
                continue;
            }
            states += 1;
            assert_eq!(guard.holds(at), Ok(()), "seed {seed}: {location} {values:b}");
            for (index, edge) in image.edges.iter().enumerate().filter(|(_, e)| e.from == location)
            {
                for inputs in 0..1u64 << edge.inputs {
                    let packed = inputs.to_le_bytes();
                    let expected = step(edge, live.len(), values, inputs);
                    let taken = guard.take(index, at, &packed, &mut after, &mut scratch);
                    let Some(expected) = expected else {
                        assert_eq!(taken, Err(Alarm::NotEnabled));
                        continue;
                    };
                    assert_eq!(taken, Ok(edge.to as usize));
                    let target = &image.locations[edge.to as usize].live;
                    for (j, number) in target.iter().enumerate() {
                        assert_eq!(bit(&after, *number as usize), expected >> j & 1 == 1);
                    }
                    steps += 1;
                    let to = At { location: edge.to as usize, bits: &after };
                    let step = guard.step(index, at, &packed, to, &mut scratch);
                    assert!(step.is_ok() || errors().any(|e| e == edge.to), "{step:?}");
                    // Any other state there is refused.
                    for number in target {
                        let mut wrong = after.clone();
                        set_bit(&mut wrong, *number as usize, !bit(&after, *number as usize));
                        let to = At { location: edge.to as usize, bits: &wrong };
                        let step = guard.step(index, at, &packed, to, &mut scratch);
                        assert_eq!(step, Err(Alarm::WrongBit(*number)));
                        flips += 1;
                        caught += guard.holds(to).is_err() as usize;
                    }
                }
            }
        }
    }
    assert!(states > 800 && steps > 2500, "{states}, {steps}");
    assert!(caught > 0 && caught < flips, "{caught} of {flips}");
}

#[test]
fn the_guard_knows_what_is_not_there() {
    let image = pump();
    let view = image.view::<u16>().unwrap();
    let guard = Guard::new(&view, &[]);
    let (bits, mut scratch) = ([0; 8], [0; 64]);
    let at = |location| At { location, bits: &bits };
    assert_eq!(guard.holds(at(view.locations())), Err(Alarm::Nowhere));
    assert_eq!(guard.holds(At { location: 0, bits: &[] }), Err(Alarm::Nowhere));
    let none = guard.step(view.edges(), at(0), &[], at(1), &mut scratch);
    assert_eq!(none, Err(Alarm::NoSuchEdge));
    let wrong = (0..view.edges()).find(|e| view.ends(*e).0 != 0).unwrap();
    assert_eq!(guard.step(wrong, at(0), &[], at(1), &mut scratch), Err(Alarm::NoSuchEdge));
    let right = (0..view.edges()).find(|e| view.ends(*e).0 == 0).unwrap();
    assert_eq!(guard.step(right, at(0), &[], at(1), &mut []), Err(Alarm::Scratch));
    // A table that is cut off is not an invariant that anything fulfils.
    assert_eq!(Guard::new(&view, &[1, 5, 0]).holds(at(1)), Err(Alarm::Nowhere));
    assert_eq!(Guard::new(&view, &[1, 0]).holds(at(1)), Err(Alarm::NeverReached));
}

#[test]
fn a_record_is_recalled_for_its_subject_only() {
    let (outcome, _) = boot(&certified_pump(5), &SelfCheck::default(), 4000);
    assert_eq!(outcome.verdict, Verdict::Unsafe { property: 0 });
    let parameters = [("limit", 5)];
    let what = SelfCheck { parameters: &parameters, ..SelfCheck::default() };
    let (safe, _) = boot(&certified_pump(5), &what, 4000);
    let hash = [3; 32];
    let one = subject(&hash, &parameters);
    let mut record = Record::empty();
    assert_eq!(record.recall(&one), None);
    record.remember(&one, &safe);
    assert_eq!(record.recall(&one), Some(Remembered::Safe));
    // Another model, other values, other names, none.
    for other in [
        subject(&[4; 32], &parameters),
        subject(&hash, &[("limit", 6)]),
        subject(&hash, &[("limi", 5)]),
        subject(&hash, &[]),
        subject(&hash, &[("limit", 5), ("limit", 5)]),
    ] {
        assert_eq!(record.recall(&other), None);
    }
    record.remember(&one, &outcome);
    assert_eq!(record.recall(&one), Some(Remembered::Unsafe));
    record.forget();
    assert_eq!(record.recall(&one), None);
}

#[test]
fn no_flipped_bit_of_a_record_is_overlooked() {
    let parameters = [("limit", 5)];
    let what = SelfCheck { parameters: &parameters, ..SelfCheck::default() };
    let (safe, _) = boot(&certified_pump(5), &what, 4000);
    let one = subject(&[3; 32], &parameters);
    let mut record = Record::empty();
    record.remember(&one, &safe);
    let words = record.to_words();
    for bit in 0..32 * words.len() {
        let mut bad = words;
        bad[bit / 32] ^= 1 << (bit % 32);
        assert_eq!(Record::from_words(bad).recall(&one), None, "bit {bit}");
    }
    assert_eq!(Record::from_words(words).recall(&one), Some(Remembered::Safe));
}
