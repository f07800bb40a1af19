//! An invariant for people: what holds in each state, in the names of the source.
//!
//! The clauses of a certificate are over bits. Here they become [facts] over variables: ranges, equalities, relations
//! of two variables, implications. Each fact is a clause over terms, so a set of facts is a certificate again:
//! which of them follow is asked of [`validate::imply`]. Whether all together prove the properties by themselves, or at least with the
//! certificate, is what [`validate::check`] says; what it does not confirm is not told.

mod facts;
mod show;

use crate::deadline;
use crate::ir::{Certificate, Cfa, Clause, LocId};
use crate::validate;
use crate::validate::imply::{Asked, Extended};
use crate::words::Words;
use facts::{Fact, Facts};
use std::collections::{BTreeMap, BTreeSet};

/// Lines that an explanation has at most.
pub const LINES: usize = 40;
/// Facts that are told even if the proof does not need them.
const MANY: usize = 60;
/// Of so many nobody reads enough to see what is not needed.
const TOO_MANY: usize = 160;
/// How many facts are tried to be left out.
const TRIALS: usize = 60;

/// What holds at some locations.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Paragraph {
    /// Where, for people.
    pub place: String,
    /// The locations that `place` describes.
    pub locations: Vec<LocId>,
    /// What holds there, the shortest first; nothing if no run gets there.
    pub facts: Vec<String>,
}

/// An invariant for people.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Explanation {
    /// What holds, first everywhere, then in some places.
    pub paragraphs: Vec<Paragraph>,
    /// States that runs only pass through, of which the invariant says nothing.
    pub passed: String,
    /// Whether all of it together is inductive and excludes the errors.
    pub is_inductive: bool,
    /// The same as a certificate.
    pub certificate: Certificate,
}

/// Explains a certificate that was checked.
pub fn explain(cfa: &Cfa, words: &Words<'_>, certificate: &Certificate) -> Explanation {
    let mut facts = Facts::new(cfa, certificate);
    facts.collect();
    let Facts { terms, .. } = &facts;
    // All clauses from here on speak of these terms.
    let base = Certificate { terms: terms.clone(), ..certificate.clone() };
    let Ok(extended) = Extended::new(cfa, &base) else { return Explanation::default() };
    let Ok(asked) = extended.of(&base) else { return Explanation::default() };
    let mut lines = lines(&asked, &facts);
    drop_redundant(&asked, &mut lines);
    if (MANY..TOO_MANY).contains(&lines.len()) {
        drop_unneeded(cfa, &base, &facts.never, &mut lines);
    }
    let own = Certificate { clauses: clauses(&lines, &facts.never), ..base };
    let is_inductive = validate::check(cfa, &own).is_ok();
    // Lines that do not prove anything by themselves must at least follow: with them it is still an invariant.
    if !is_inductive {
        let both = [&certificate.clauses[..], &own.clauses].concat();
        if validate::check(cfa, &Certificate { clauses: both, ..own.clone() }).is_err() {
            return Explanation::default();
        }
    }
    let paragraphs = paragraphs(cfa, words, &facts, &lines);
    // Of a program the places in it are of no use to anybody.
    let passed = certificate.passed.iter().copied().filter(|l| words.states(*l).is_some());
    let passed = show::listed(words, &passed.collect());
    Explanation { paragraphs, passed, is_inductive, certificate: own }
}

/// Drops what is true but not needed for the proof, the most complicated first.
fn drop_unneeded(cfa: &Cfa, base: &Certificate, never: &[LocId], lines: &mut Vec<Line>) {
    let proves = |lines: &[Line]| {
        let own = Certificate { clauses: clauses(lines, never), ..base.clone() };
        validate::check(cfa, &own).is_ok()
    };
    for number in (0..lines.len()).rev().take(TRIALS) {
        if lines.len() <= MANY {
            break;
        }
        let mut rest = lines.clone();
        rest.remove(number);
        if proves(&rest) {
            *lines = rest;
        }
    }
}

/// A fact, and where it holds.
type Line = (Fact, BTreeSet<LocId>);

/// Each fact with all locations that it follows at.
fn lines(asked: &Asked<'_>, facts: &Facts<'_>) -> Vec<Line> {
    let mut lines: BTreeMap<Fact, BTreeSet<LocId>> = BTreeMap::new();
    for (location, fact) in &facts.found {
        lines.entry(fact.clone()).or_default().insert(*location);
    }
    for location in &facts.locations {
        let mut here = asked.at(*location);
        for (fact, places) in &mut lines {
            deadline::tick();
            // What was found here was found by looking at bits: it is still asked for.
            match here.implies(&fact.lits) {
                Some(true) => places.insert(*location),
                _ => places.remove(location),
            };
        }
    }
    let mut lines: Vec<Line> = lines.into_iter().filter(|l| !l.1.is_empty()).collect();
    lines.sort_by_key(|(fact, places)| (fact.cost, usize::MAX - places.len()));
    lines
}

/// Drops what follows from the other lines, the most complicated first.
fn drop_redundant(asked: &Asked<'_>, lines: &mut Vec<Line>) {
    for number in (0..lines.len()).rev() {
        let (fact, places) = lines[number].clone();
        let follows = |location: &LocId| {
            deadline::tick();
            let others = lines.iter().enumerate();
            let others = others.filter(|(i, l)| *i != number && l.1.contains(location));
            let mut here = asked.given(others.map(|(_, l)| l.0.lits.as_slice()));
            here.implies(&fact.lits) == Some(true)
        };
        // A fact that is needed somewhere is told wherever it holds.
        if places.iter().all(follows) {
            lines.remove(number);
        }
    }
}

fn clauses(lines: &[Line], never: &[LocId]) -> Vec<Clause> {
    let mut clauses: Vec<Clause> =
        never.iter().map(|l| Clause { location: *l, lits: vec![] }).collect();
    for (fact, places) in lines {
        clauses.extend(places.iter().map(|l| Clause { location: *l, lits: fact.lits.clone() }));
    }
    clauses
}

fn paragraphs(cfa: &Cfa, words: &Words<'_>, facts: &Facts<'_>, lines: &[Line]) -> Vec<Paragraph> {
    let mut by_place: BTreeMap<&BTreeSet<LocId>, Vec<String>> = BTreeMap::new();
    for (fact, places) in lines {
        by_place.entry(places).or_default().push(show::fact(cfa, &facts.terms, fact));
    }
    // What is said to hold in a state must do so wherever that is passed.
    let all: Vec<LocId> = facts.locations.iter().chain(facts.passed()).copied().collect();
    let mut paragraphs: Vec<Paragraph> = (by_place.into_iter())
        .map(|(places, facts_here)| Paragraph {
            place: show::place(words, &all, places),
            locations: places.iter().copied().collect(),
            facts: facts_here,
        })
        .collect();
    paragraphs.sort_by_key(|p| usize::MAX - p.locations.len());
    let unreached = facts.never.iter().copied().filter(|l| words.states(*l).is_some());
    let unreached: BTreeSet<LocId> = unreached.collect();
    if !unreached.is_empty() {
        paragraphs.push(Paragraph {
            place: show::listed(words, &unreached),
            locations: unreached.into_iter().collect(),
            facts: vec![],
        });
    }
    paragraphs
}
