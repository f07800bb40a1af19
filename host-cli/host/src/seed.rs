//! An old proof, tried on a model that may have changed.

use crate::formats;
use crate::ir::PropertyId;
use crate::judge::{Finding, Judgement, Question, respect_others};
use crate::pipeline::Loaded;
use crate::validate::{self, certificate::covers};
use crate::verdict::Verdict;

/// The judgement that a certificate's text allows by itself: nothing, unless it proves all that is asked of this model.
/// It is checked as any other, so that it does not matter whom it comes from.
pub fn judge(model: &Loaded, question: &Question, text: &str) -> Option<Judgement> {
    let (_, certificate) = formats::certificate::parse(&model.cfa, text).ok()?;
    let asked: Vec<PropertyId> =
        question.properties.iter().chain(&question.besides).copied().collect();
    covers(&certificate, &asked, &question.bindings).ok()?;
    let checked = validate::check(&model.cfa, &certificate).ok()?;
    let mut findings: Vec<_> = asked.into_iter().map(|p| (p, Finding::Safe)).collect();
    respect_others(&model.cfa, &mut findings);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::{By, Request, check};
    use crate::engines::{Engine, Memory};
    use crate::frontend::{Language, Source};
    use crate::pipeline::{self, Options};

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
        let by = By::Host { engine: Engine::default(), threads: 1, memory: Memory::default() };
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
}
