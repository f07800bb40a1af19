//! What a check shows of the examples: shortest runs, and invariants in words.

use std::fmt::Write;
use std::path::{Path, PathBuf};
use vouch_host::check::{By, Checked, Request, check};
use vouch_host::engines::{Engine, Memory};
use vouch_host::explain::{self, LINES};
use vouch_host::ir::{Certificate, PropertyId};
use vouch_host::judge::{Broken, Finding, Question, Verdict};
use vouch_host::pipeline::{self, Loaded, Options};
use vouch_host::report::{Style, explained, table};
use vouch_host::shortest::{self, Effort};
use vouch_host::validate;
use vouch_host::words::Words;

fn examples(broken: bool) -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path());
    let is_broken = |p: &Path| p.file_stem().unwrap().to_str().unwrap().ends_with("-broken");
    let mut files: Vec<PathBuf> = files
        .filter(|p| p.extension().is_some_and(|e| e == "vch") && is_broken(p) == broken)
        .collect();
    files.sort();
    files
}

fn name(path: &Path) -> &str {
    path.file_stem().unwrap().to_str().unwrap()
}

fn checked(path: &Path) -> (Loaded, Request, Checked) {
    let model = pipeline::load(path, &Options::default()).unwrap();
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    // The work is limited by nothing, so that it is the same everywhere.
    let by = By::Host { engine: Engine::Ic3Cfa, memory: Memory::default() };
    let checked = check(&model, &request, by, &mut |_| {}).unwrap();
    (model, request, checked)
}

fn words(model: &Loaded) -> Words<'_> {
    Words::new(&model.cfa, Some(&model.source), &model.moves)
}

fn broken(checked: &Checked) -> (PropertyId, Broken) {
    let mut broken = checked.judgement.findings.iter().filter_map(|(p, f)| match f {
        Finding::Unsafe(broken) => Some((*p, (**broken).clone())),
        _ => None,
    });
    broken.next().unwrap()
}

/// Proved for all but one, in work that is counted and not timed: how long that takes does not matter.
#[test]
fn runs_are_the_shortest() {
    let mut open = vec![];
    let mut lengths = String::new();
    for path in examples(true) {
        let (model, request, mut checked) = checked(&path);
        let (_, first) = broken(&checked);
        let effort = Effort { time: None, budget: 4_000_000 };
        let Checked { judgement, answer, .. } = &mut checked;
        shortest::shorten(&model, &request.question, answer, judgement, effort);
        let (property, shown) = broken(&checked);
        // Judged like any other.
        let run = validate::replay(&model.cfa, &shown.trace).unwrap();
        assert_eq!(shown.run.as_ref(), Some(&run), "{}", name(&path));
        assert!(shown.trace.steps.len() <= first.trace.steps.len(), "{}", name(&path));
        let words = words(&model);
        let (length, before) = (words.length(&shown.trace), words.length(&first.trace));
        writeln!(lengths, "{} {length} of {before}", name(&path)).unwrap();
        if shown.shortest != Some(true) {
            open.push(name(&path).to_owned());
            continue;
        }
        // As long as every engine's that finds shortest runs and has the time.
        let by = By::Host { engine: Engine::Bmc, memory: Memory::default() };
        let question = Question::new(&model.cfa, Some(property), vec![]);
        let budget = 4_000_000;
        let again = Request { budget, ..Request::new(question) };
        let again = check(&model, &again, by, &mut |_| {}).unwrap();
        let other = again.judgement.findings.iter().find_map(|(_, f)| match f {
            Finding::Unsafe(other) => Some(words.length(&other.trace)),
            _ => None,
        });
        assert!(other.is_none_or(|other| other == length), "{}: {other:?}", name(&path));
    }
    insta::assert_snapshot!(lengths);
    assert_eq!(open, ["can-busoff-babbling-broken"]);
}

/// Who moved, where that is written, and why the property is broken.
#[test]
fn runs_say_who_where_and_why() {
    let mut text = String::new();
    for path in examples(true) {
        let (model, request, mut checked) = checked(&path);
        let effort = Effort { time: None, budget: 1_000_000 };
        let Checked { judgement, answer, .. } = &mut checked;
        shortest::shorten(&model, &request.question, answer, judgement, effort);
        let (_, shown) = broken(&checked);
        let mut model = model;
        model.source.path = path.file_name().unwrap().to_str().unwrap().into();
        let words = words(&model);
        let run = shown.run.unwrap();
        let steps = words.moments(&run);
        let written = |m: &vouch_host::words::Moment| m.done.iter().all(|d| !d.text.is_empty());
        assert!(steps.iter().skip(1).all(written), "{}", name(&path));
        assert!(!words.why(&run).values.is_empty(), "{}", name(&path));
        let style = Style { rows: 8, ..Style::default() };
        let table = table::run_in(&model.cfa, &words, &run, &style);
        writeln!(text, "{}\n{table}", name(&path)).unwrap();
    }
    insta::assert_snapshot!(text);
}

/// Each fact follows from the invariant: with all of them it is still one, which the validator says. Most explanations
/// prove the properties by themselves.
#[test]
fn invariants_are_explained() {
    let mut text = String::new();
    let mut parts = vec![];
    for path in examples(false) {
        let (model, _, checked) = checked(&path);
        assert_eq!(checked.judgement.verdict(), Verdict::Safe);
        let certificate = checked.judgement.certificate.unwrap();
        let explanation = explain::explain(&model.cfa, &words(&model), &certificate);
        let Certificate { clauses, terms, .. } = explanation.certificate.clone();
        assert!(terms.starts_with(&certificate.terms));
        let both = [certificate.clauses.clone(), clauses].concat();
        let both = Certificate { clauses: both, terms, ..certificate };
        validate::check(&model.cfa, &both).unwrap();
        assert_eq!(
            validate::check(&model.cfa, &explanation.certificate).is_ok(),
            explanation.is_inductive
        );
        let shown = explained::text(&explanation, &Style::default(), false);
        assert!(shown.lines().count() <= LINES, "{}", name(&path));
        let is_whole = shown.lines().count()
            == explained::text(&explanation, &Style::default(), true).lines().count();
        if !explanation.is_inductive || !is_whole {
            parts.push(name(&path).to_owned());
        }
        writeln!(text, "{}\n{shown}", name(&path)).unwrap();
    }
    insta::assert_snapshot!(text);
    assert_eq!(parts, ["infusion-pump", "level-crossing", "watchdog"]);
}
