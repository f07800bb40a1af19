//! What the README says of its heater is so.

use std::path::Path;
use vouch_device::boot::{Decision, SelfCheck, Verdict, check};
use vouch_host::blast::certified;
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::{Language, Source};
use vouch_host::ir::VarId;
use vouch_host::judge::Question;
use vouch_host::pipeline::{self, Loaded};
use vouch_host::verdict;

fn heater() -> Loaded {
    let readme = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    let readme = std::fs::read_to_string(readme).unwrap();
    let (_, rest) = readme.split_once("```vch\n").unwrap();
    let (text, _) = rest.split_once("```").unwrap();
    let source = Source { path: "heater.vch".into(), text: text.into() };
    pipeline::compile(source, Language::Vch, &pipeline::Options::default()).unwrap()
}

fn on_host(model: &Loaded, limit: u64) -> check::Checked {
    let (param, _) = model.cfa.params().next().unwrap();
    let bindings: Vec<(VarId, u128)> = vec![(param, limit.into())];
    let request = Request::new(Question::new(&model.cfa, None, bindings));
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    check::check(model, &request, by, &mut |_| {}).unwrap()
}

#[test]
fn a_device_refuses_because_the_proof_fails_for_it() {
    let model = heater();
    for limit in 2..=6 {
        assert_eq!(on_host(&model, limit).judgement.verdict(), verdict::Verdict::Safe, "{limit}");
    }
    assert_eq!(on_host(&model, 7).judgement.verdict(), verdict::Verdict::Unsafe);
    // Shipped with the proof for 6.
    let image = certified::attach(&model.image, &on_host(&model, 6).answer.clauses).unwrap();
    let view = image.view::<u16>().unwrap();
    let boot = |limit: u64| {
        let config = SelfCheck { parameters: &[("limit", limit)], ..SelfCheck::default() };
        check(&view, &config, &mut vec![0; 4096], &mut || {})
    };
    assert_eq!((boot(6).verdict, boot(6).decision), (Verdict::Safe, Decision::Start));
    let refused = boot(7);
    assert!(matches!(refused.verdict, Verdict::Unsafe { .. }), "{:?}", refused.verdict);
    assert_eq!(refused.decision, Decision::Refuse);
}
