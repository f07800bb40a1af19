//! An old proof, tried on a model that may have changed.

use crate::formats;
use crate::judge::{Judgement, Question, certified};
use crate::pipeline::Loaded;
use crate::validate::certificate::covers;
use crate::verdict::Verdict;

/// The judgement that a certificate's text allows by itself: nothing, unless it proves all that is asked of this model.
/// It is checked as any other, so that it does not matter whom it comes from.
pub fn judge(model: &Loaded, question: &Question, text: &str) -> Option<Judgement> {
    let (_, certificate) = formats::certificate::parse(&model.cfa, text).ok()?;
    let asked = [&question.properties[..], &question.besides].concat();
    // What does not claim all of it is not even checked.
    covers(&certificate, &asked, &question.bindings).ok()?;
    let (mut findings, checked) = certified(&model.cfa, question, &certificate).ok()?;
    if findings.iter().any(|(_, finding)| finding.verdict() != Verdict::Safe) {
        return None;
    }
    let besides = findings.split_off(question.properties.len());
    let certificate = Some(certificate);
    let checked = Some(checked);
    Some(Judgement {
        findings,
        besides,
        certificate,
        validated: true,
        checked,
        ..Judgement::default()
    })
}

/// Lets the search begin with the clauses of a certificate's text: those that hold for this model are learnt
/// without a search for them, the others are dropped.
pub fn offer(model: &mut Loaded, text: &str) {
    model.simplified.candidates.extend(formats::certificate::clauses(&model.cfa, text));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{By, Request, check};
    use crate::engines::{Engine, Memory};
    use crate::frontend::{Language, Source};
    use crate::pipeline::{self, Options};
    use std::path::Path;

    fn model(limit: u32, more: &str) -> Loaded {
        let text = format!(
            "machine m {{ var n: u8 = 0; initial state S {{ on n < {limit} {{ n = n + 1; }} else {{ n = 0; }} }} \
             property low: always n <= 9; {more} }}"
        );
        let source = Source { path: "m.vch".into(), text };
        pipeline::compile(source, Language::Vch, &Options::default()).unwrap()
    }

    /// A proof holds for what has changed as long as it is inductive there, and says nothing of what is new.
    #[test]
    fn an_old_certificate_is_believed_only_if_it_still_proves_all() {
        let first = model(9, "");
        let question = Question::new(&first.cfa, None, vec![]);
        let by = By::Host { engine: Engine::default(), memory: Memory::default() };
        let found = check(&first, &Request::new(question.clone()), by, &mut |_| {}).unwrap();
        let certificate = found.judgement.certificate.unwrap();
        let text = formats::certificate::write(&first.cfa, &certificate, None).unwrap();
        let holds = |model: &Loaded| {
            judge(model, &Question::new(&model.cfa, None, vec![]), &text).map(|j| j.verdict())
        };
        assert_eq!(holds(&first), Some(Verdict::Safe));
        assert_eq!(holds(&model(7, "")), Some(Verdict::Safe), "fewer runs");
        assert_eq!(holds(&model(12, "")), None, "a run breaks it");
        assert_eq!(
            holds(&model(9, "property other: always n < 200;")),
            None,
            "it says nothing of it"
        );
        assert_eq!(judge(&first, &question, "nonsense").map(|j| j.verdict()), None);
    }

    /// What is still right of it need not be found again, and what is wrong does no harm.
    #[test]
    fn a_changed_model_is_proved_from_the_old_certificate() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/can-busoff.vch");
        let text = std::fs::read_to_string(path).unwrap();
        let model = |off: u32| {
            let text = text.replace("const OFF = 8;", &format!("const OFF = {off};"));
            let source = Source { path: "can-busoff.vch".into(), text };
            pipeline::compile(source, Language::Vch, &Options::default()).unwrap()
        };
        let find = |model: &Loaded| {
            let by = By::Host { engine: Engine::Ic3Cfa, memory: Memory::default() };
            let question = Question::new(&model.cfa, None, vec![]);
            check(model, &Request::new(question), by, &mut |_| {}).unwrap()
        };
        let first = model(8);
        let certificate = find(&first).judgement.certificate.unwrap();
        let text = formats::certificate::write(&first.cfa, &certificate, None).unwrap();
        let changed = model(10);
        let question = Question::new(&changed.cfa, None, vec![]);
        assert!(judge(&changed, &question, &text).is_none(), "the counter goes further");
        let alone = find(&changed);
        let mut from_old = changed;
        offer(&mut from_old, &text);
        let seeded = find(&from_old);
        for found in [&alone, &seeded] {
            assert_eq!(found.judgement.verdict(), Verdict::Safe);
            assert!(found.judgement.validated);
        }
        let work = [&alone, &seeded].map(|found| found.answer.stats.propagations);
        assert!(work[1] < work[0], "{work:?}");
        offer(
            &mut from_old,
            "vouch certificate 9\nat nowhere\n  x[3] = 1\nat S\n  n[9]=1 &&\nnever\n",
        );
        assert_eq!(find(&from_old).judgement.verdict(), Verdict::Safe);
    }
}
