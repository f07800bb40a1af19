//! The walk after a proof: it never leaves an invariant, and soon leaves most tables that are none.

use std::path::Path;
use vouch_core::certificate::{Check, Checker, Flaw};
use vouch_core::image::{EdgeSpec, Image, ImageBuilder, LocationSpec, PropertySpec};
use vouch_core::walk::{Ground, Stop, walk};
use vouch_device::boot::WALK;
use vouch_host::blast::AlignedImage;
use vouch_host::engines::{Engine, Setup};
use vouch_host::pipeline;
use vouch_tests::engine::{certificate_table, recheck};
use vouch_tests::image_oracle::Clause;

/// What a device spends on it after a proof.
const EFFORT: u64 = WALK;

fn walked(image: &Image<'_, u16>, clauses: &[Clause], bound: &[(usize, u64)], effort: u64) -> bool {
    let invariant = certificate_table::<u16>(clauses);
    let ground = Ground { image, invariant: &invariant, bound };
    let mut memory = [0xdead_beef; 1000];
    walk(ground, effort, &mut memory, &mut || {}).is_ok()
}

/// Each clause of a proof left out in turn: where the rest is not an invariant, a step that leads out of it is found
/// in most cases. With all clauses none is.
#[test]
fn what_is_no_invariant_is_left() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let (mut wrong, mut noticed) = (0, 0);
    for name in ["precharge", "elevator", "flight-failsafe", "charging-station"] {
        let model = examples.join(name).with_extension("vch");
        let image = pipeline::load(&model, &pipeline::Options::default()).unwrap().image;
        let answer = Engine::default().run(&image, &Setup::default(), &mut |_| true).unwrap();
        let view = image.view::<u16>().unwrap();
        assert!(walked(&view, &answer.clauses, &[], EFFORT), "{name}");
        for left_out in 0..answer.clauses.len() {
            let mut clauses = answer.clauses.clone();
            clauses.remove(left_out);
            match recheck::<u16>(&image, &clauses, &[], &[], 10_000).0 {
                Check::Valid => assert!(walked(&view, &clauses, &[], EFFORT), "{name}, {left_out}"),
                Check::Invalid(Flaw::Edge(_)) => {
                    wrong += 1;
                    noticed += usize::from(!walked(&view, &clauses, &[], EFFORT));
                }
                other => panic!("{name}, {left_out}: {other:?}"),
            }
        }
    }
    assert!(wrong > 40 && noticed * 3 > wrong * 2, "{noticed} of {wrong} noticed");
}

/// What holds for some values of the parameters only is walked with these.
#[test]
fn parameters_keep_their_values() {
    let text = "machine pump { param limit: u4; input go: bool; var timer: u4 = 0;
        initial state Running { on timer < limit && go -> Running { timer += 1; } else { timer = 0; } }
        property short: always timer <= 12; }";
    let source = vouch_host::frontend::Source { path: "pump.vch".into(), text: text.into() };
    let options = pipeline::Options::default();
    let language = vouch_host::frontend::Language::Vch;
    let image = pipeline::compile(source, language, &options).unwrap().image;
    let view = image.view::<u16>().unwrap();
    let setup = Setup { bindings: vec![(0, 12)], ..Setup::default() };
    let answer = Engine::default().run(&image, &setup, &mut |_| true).unwrap();
    assert!(!answer.clauses.is_empty());
    assert!(walked(&view, &answer.clauses, &[(0, 12)], EFFORT));
    println!(
        "{:?} {} edges {:?}",
        answer.clauses,
        view.edges(),
        (0..view.edges()).map(|e| (view.ends(e), view.edge(e).vars())).collect::<Vec<_>>()
    );
    assert!(!walked(&view, &answer.clauses, &[(0, 14)], EFFORT));
    assert!(!walked(&view, &answer.clauses, &[], EFFORT), "with any value");
}

#[test]
fn too_little_memory_is_said() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/elevator.vch");
    let image = pipeline::load(&examples, &pipeline::Options::default()).unwrap().image;
    let view = image.view::<u16>().unwrap();
    let ground = Ground { image: &view, invariant: &[], bound: &[] };
    let Err(Stop::Memory(needed)) = walk(ground, 100, &mut [0; 4], &mut || {}) else {
        panic!("it fits in 16 bytes")
    };
    assert!(walk(ground, 100, &mut vec![0; needed.div_ceil(4)], &mut || {}).is_ok());
}

/// It needs no more memory than the checker before it, so that it never fails for lack of it.
#[test]
fn the_checkers_memory_suffices() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    for entry in std::fs::read_dir(examples).unwrap() {
        let model = entry.unwrap().path();
        if model.extension().is_none_or(|e| e != "vch") {
            continue;
        }
        let image = pipeline::load(&model, &pipeline::Options::default()).unwrap().image;
        let view = image.view::<u16>().unwrap();
        let ground = Ground { image: &view, invariant: &[], bound: &[] };
        let bytes = Checker::bytes(&view, &[]);
        let walked = walk(ground, 1, &mut vec![0; bytes / 4], &mut || {});
        assert!(!matches!(walked, Err(Stop::Memory(_))), "{}: {walked:?}", model.display());
    }
}

/// A model may have come down to no step at all, or to none that chance finds.
#[test]
fn a_walk_ends_where_there_is_no_step() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/cell-monitor.vch");
    let image = pipeline::load(&examples, &pipeline::Options::default()).unwrap().image;
    let mut never = ImageBuilder {
        locations: vec![LocationSpec::default(); 2],
        properties: vec![PropertySpec { name: "p".into(), error: 1 }],
        ..ImageBuilder::default()
    };
    let without = never.build_as::<u16>().unwrap();
    never.edges.push(EdgeSpec::plain(0, 1, 1, &[]));
    let impossible = never.build_as::<u16>().unwrap();
    for image in [image, AlignedImage::new(&without), AlignedImage::new(&impossible)] {
        let view = image.view::<u16>().unwrap();
        assert!(walked(&view, &[(1, vec![])], &[], EFFORT));
    }
}

/// Of a model that breaks a property no table is an invariant, least of all one that says without any reason
/// that errors are never reached.
#[test]
fn a_claim_without_reasons_is_left() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let mut models = 0;
    for entry in std::fs::read_dir(examples).unwrap() {
        let model = entry.unwrap().path();
        if !model.to_string_lossy().ends_with("-broken.vch") {
            continue;
        }
        let image = pipeline::load(&model, &pipeline::Options::default()).unwrap().image;
        let view = image.view::<u16>().unwrap();
        let errors: Vec<Clause> = view.properties().map(|p| (p.error as usize, vec![])).collect();
        assert!(!walked(&view, &errors, &[], EFFORT / 8), "{}", model.display());
        models += 1;
    }
    assert!(models > 10);
}
