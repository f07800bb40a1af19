//! Certificates in images: attached, read, checked with a device's code, and taken out again.

use std::path::Path;
use vouch_core::certificate::{Check, Flaw};
use vouch_host::blast::AlignedImage;
use vouch_host::blast::certified::{ImageClause, attach, attach_fewer, check, clauses, detach};
use vouch_host::engines::{Engine, Setup};
use vouch_host::frontend::{Language, Source};
use vouch_host::pipeline;
use vouch_host::simplify::Passes;

/// `x` counts to a bound that the parameter gives; 5 is never exceeded if it is 5.
const SOURCE: &str = "
    machine counter {
        param bound: u3 in 3..=6;
        var x: u3 = 0;
        initial state Run { on x < bound -> Run { x += 1; } else -> Rest; }
        state Rest { on true -> Run { x = 0; } }
        property low: always x <= 5;
        property below_seven: always x != 7;
    }";

fn image() -> AlignedImage {
    let source = Source { path: "x.vch".into(), text: SOURCE.into() };
    pipeline::compile(source, Language::Vch, &pipeline::Options::default()).unwrap().image
}

fn proof(image: &AlignedImage, bindings: &[(u32, u64)]) -> Vec<ImageClause> {
    let setup = Setup { bindings: bindings.to_vec(), ..Setup::default() };
    Engine::Ic3Cfa.run(image, &setup, &mut |_| true).unwrap().clauses
}

#[test]
fn what_is_attached_is_read_checked_and_detached() {
    let bare = image();
    let bound = [(0, 5)];
    let mut claims = proof(&bare, &bound);
    let certified = attach(&bare, &claims).unwrap();
    assert_eq!(clauses(&bare), Ok(None));
    claims.iter_mut().for_each(|c| c.1.sort());
    claims.sort();
    assert_eq!(clauses(&certified), Ok(Some(claims)));
    assert_eq!(detach(&certified).unwrap(), bare);
    let (check_bound, effort) = check(&certified, &bound).unwrap();
    assert_eq!(check_bound, Check::Valid);
    assert!(effort.table_bytes > 0 && effort.memory_bytes > 0 && effort.propagations > 0);
    // For other values, or for all, it proves nothing.
    assert!(matches!(check(&certified, &[(0, 6)]).unwrap().0, Check::Invalid(Flaw::Edge(_))));
    assert!(matches!(check(&certified, &[]).unwrap().0, Check::Invalid(Flaw::Edge(_))));
    assert_eq!(check(&bare, &bound).unwrap().0, Check::Invalid(Flaw::Error(0)));
}

/// What is made small is still a certificate, for the same values; what is none does not become one.
#[test]
fn fewer_clauses_still_are_a_certificate() {
    let bare = image();
    let bound = [(0, 5)];
    let claims = proof(&bare, &bound);
    let certified = attach_fewer(&bare, &claims, &bound).unwrap();
    assert_eq!(check(&certified, &bound).unwrap().0, Check::Valid);
    assert!(matches!(check(&certified, &[]).unwrap().0, Check::Invalid(Flaw::Edge(_))));
    let weak = claims.iter().filter(|c| !c.1.is_empty()).cloned().collect::<Vec<_>>();
    let weak = attach_fewer(&bare, &weak, &bound).unwrap();
    assert!(matches!(check(&weak, &bound).unwrap().0, Check::Invalid(_)));

    for (name, most) in [("traffic-lights", 1.0), ("flight-failsafe", 1.0), ("ab-update", 0.9)] {
        let model = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../examples/{name}.vch"));
        let image = pipeline::load(&model, &pipeline::Options::default()).unwrap().image;
        let claims = proof(&image, &[]);
        let effort = |image| {
            let (result, effort) = check(&image, &[]).unwrap();
            assert_eq!(result, Check::Valid, "{name}");
            effort
        };
        let all = effort(attach(&image, &claims).unwrap());
        let fewer = effort(attach_fewer(&image, &claims, &[]).unwrap());
        assert!(
            fewer.table_bytes as f64 <= most * all.table_bytes as f64,
            "{name}: {all:?}, {fewer:?}"
        );
    }
}

#[test]
fn a_weakened_certificate_is_not_believed() {
    let bare = image();
    let claims = proof(&bare, &[(0, 5)]);
    let mut refused = 0;
    for left_out in 0..claims.len() {
        let mut fewer = claims.clone();
        fewer.remove(left_out);
        let (result, _) = check(&attach(&bare, &fewer).unwrap(), &[(0, 5)]).unwrap();
        assert!(matches!(result, Check::Valid | Check::Invalid(_)));
        refused += (result != Check::Valid) as usize;
    }
    assert!(refused >= 2, "each error location must be excluded at least");
}

#[test]
fn nonsense_is_refused_without_a_panic() {
    let bare = image();
    for bad in [
        vec![(99, vec![])],
        vec![(0, vec![])],
        vec![(1, vec![0, 1])],
        vec![(1, vec![u16::MAX as u32 * 2])],
        vec![(1, (0..40).collect())],
    ] {
        let image = attach(&bare, &bad).unwrap();
        assert!(matches!(check(&image, &[]).unwrap().0, Check::Invalid(_)), "{bad:?}");
    }
}

/// The image of the examples in the core's documentation: compiled without passes, so that something is
/// left to prove, and certified.
#[test]
fn the_image_of_the_documentation_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../core/doc");
    let options = pipeline::Options { passes: Some(Passes::none()), ..Default::default() };
    let compiled = pipeline::load(&folder.join("valves.vch"), &options).unwrap().image;
    let file = folder.join("valves.image");
    if std::env::var_os("VOUCH_BLESS").is_some() {
        let certified = attach(&compiled, &proof(&compiled, &[])).unwrap();
        std::fs::write(&file, &certified[..]).unwrap();
    }
    let kept = AlignedImage::new(&std::fs::read(&file).unwrap());
    assert!(detach(&kept).unwrap() == compiled, "VOUCH_BLESS=1 writes it again");
    assert_eq!(check(&kept, &[]).unwrap().0, Check::Valid);
}
