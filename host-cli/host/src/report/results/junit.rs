//! Results as JUnit's XML: a suite for each model, a case for each property.

use super::{Checked, ErrorOutcome, Item, run_lines};
use crate::report::json::{Outcome, PropertyOutcome};
use crate::report::junit::{Case, Report, Status, Suite, Trouble};
use crate::verdict::Verdict;

/// The suites of all checks.
pub fn write(items: &[Item]) -> String {
    let suites = items.iter().map(suite).collect();
    Report { name: "vouch".into(), suites }.to_xml()
}

/// What CI systems show as a test suite.
fn suite(item: &Item) -> Suite {
    let suite = Suite { name: item.name.clone(), ..Suite::default() };
    match &item.checked {
        Checked::Failed(failed) => {
            let ErrorOutcome { kind, message, .. } = &failed.error;
            let first = message.lines().next().unwrap_or_default().to_string();
            let trouble = Trouble { kind: kind.clone(), message: first, text: message.clone() };
            Suite { cases: vec![case(item, "check", Status::Error(trouble))], ..suite }
        }
        Checked::Done(outcome) => {
            let mut cases: Vec<Case> =
                outcome.properties.iter().map(|p| property_case(item, outcome, p)).collect();
            if cases.is_empty() && outcome.verdict != Verdict::Safe {
                let message = item.whole(outcome).message;
                let text = outcome.detail.clone().unwrap_or_default();
                let trouble = Trouble { kind: outcome.verdict.to_string(), message, text };
                cases.push(case(item, "check", Status::Error(trouble)));
            }
            let facts = [
                ("engine", outcome.engine.clone()),
                ("target", outcome.target.clone()),
                ("cached", outcome.cached.then(|| "true".to_string())),
            ];
            let facts = facts.into_iter().filter_map(|(n, v)| Some((n.to_string(), v?)));
            Suite { cases, properties: facts.collect(), time_s: outcome.time_s, ..suite }
        }
    }
}

fn case(item: &Item, name: &str, status: Status) -> Case {
    let place = Some((item.path.clone(), None));
    Case { name: name.into(), class: item.name.clone(), place, status, ..Case::default() }
}

fn property_case(item: &Item, outcome: &Outcome, p: &PropertyOutcome) -> Case {
    let found = || {
        let finding = item.finding(outcome, p);
        let first = finding.message.lines().next().unwrap_or_default().to_string();
        let text = [finding.message.clone()].into_iter().chain(run_lines(finding.run));
        let text = text.collect::<Vec<String>>().join("\n");
        Trouble { kind: p.verdict.to_string(), message: first, text }
    };
    let status = match p.verdict {
        Verdict::Safe => Status::Passed,
        Verdict::Unsafe => Status::Failed(found()),
        Verdict::Unknown => Status::Error(found()),
    };
    let mut case = case(item, &p.name, status);
    if let Some(place) = &p.place {
        case.place = Some((place.path.clone(), Some(place.line)));
    }
    let requirement = |id: &String| ("requirement".to_string(), id.clone());
    case.properties = p.requirements.iter().map(requirement).collect();
    case
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::tests::items;

    #[test]
    fn a_report() {
        insta::assert_snapshot!(write(&items()));
    }
}
