//! Finding the values for which properties hold.
//!
//! The parameters stay open: a question is about a whole region, of which the first is all there is. A *safe* answer comes with
//! an invariant, which is checked for the region. An *unsafe* one comes with a run for one combination of values; the
//! largest region around it for which the same edges and inputs break the property ([`family`]) is done, and the rest
//! is asked about again. Before the engine is asked, invariants that were found elsewhere are tried, as they are; those that do not
//! hold are where it begins. What it cannot decide is cut in half, down to single values.

use super::region::{self, Range, Region};
use super::{Evidence, Found, Piece, Sweep, narrowed};
use crate::blast::{self, AlignedImage};
use crate::check::{self, By, Checked, Progress, Request};
use crate::deadline::Deadline;
use crate::decode;
use crate::engines::{Engine, Memory, Tuning};
use crate::ir::{BinOp, Cfa, Clause, ExprId, PropertyId, Trace, Type, VarId, Word};
use crate::judge::{Finding, Judgement, Question, Reason};
use crate::pipeline::Loaded;
use crate::validate::certificate::covers;
use crate::validate::family::{Bounds, Family, breaks_all};
use crate::validate::{self, CertificateError};
use crate::verdict::Verdict;
use std::collections::BTreeSet;
use vouch_core::ic3::Stats;

/// Invariants that are tried before the engine is asked: the latest ones.
const TRIED: usize = 3;
/// How often a region for which an invariant does not hold is made smaller.
const CUTS: usize = 8;
/// An invariant is not used for less than this part of a region: the engine would find one for more.
const LEAST_PART: u128 = 8;
/// Clauses of earlier invariants that the engine begins with at most.
const SEEDS: usize = 4000;

/// What is swept.
pub struct Job<'a> {
    /// The model, with its parameters as the source bounds them.
    pub model: &'a Loaded,
    /// The parameters that are swept.
    pub params: Vec<VarId>,
    /// The values to sweep: a side for each of `params`, in the same order.
    pub region: Region,
    /// The properties that are decided.
    pub properties: Vec<PropertyId>,
    /// Other parameters that have a certain value; those not named have any.
    pub bindings: Vec<(VarId, Word)>,
    /// Work units of one question, after which the region is cut; 0: no limit.
    pub budget: u64,
    /// The engine that is asked about each region, in one thread.
    pub engine: Engine,
    /// Memory of the engine for each question.
    pub memory: Memory,
    /// Until when. What is not known by then is unknown.
    pub deadline: Deadline,
    /// Until when an answer that came at the last moment may still be judged.
    pub last_moments: Deadline,
}

/// How far a sweep is.
pub struct Step<'a> {
    /// The property that is being looked at; nothing if it is all of them.
    pub property: Option<PropertyId>,
    /// Its values that are still open.
    pub open: u128,
    /// Counters of the engine.
    pub stats: Option<&'a Stats>,
}

/// What is known so far.
struct Search<'a> {
    job: &'a Job<'a>,
    /// The model that is compiled for each region: the same automaton each time, so that all regions have the same numbers.
    base: Loaded,
    found: Sweep,
    /// Invariants by number, the latest last.
    proofs: Vec<usize>,
    /// Their clauses, in terms of the automaton that was compiled.
    seeds: BTreeSet<Clause>,
}

/// Decides each property for all values of the job's region; `progress` is told on the way.
pub fn run(job: &Job<'_>, progress: &mut dyn FnMut(Step<'_>)) -> Sweep {
    let base = base(job.model, &job.params);
    let mut search =
        Search { job, base, found: Sweep::default(), proofs: vec![], seeds: BTreeSet::new() };
    // All properties at once first: mostly many hold for all values.
    let all = &job.region;
    let mut open: Vec<(PropertyId, Vec<Piece>, Vec<Region>)> =
        job.properties.iter().map(|p| (*p, vec![], vec![all.clone()])).collect();
    if job.properties.len() > 1 {
        let besides = search.besides(&job.properties);
        let question = search.question(job.properties.clone(), besides);
        let told = &mut |stats: &Stats| {
            progress(Step { property: None, open: all.size(), stats: Some(stats) });
        };
        if let Ok(judgement) = search.ask(all, question, told) {
            for (property, pieces, regions) in &mut open {
                // Only what is settled: by itself it may have more luck.
                let finding = judgement.all().find(|f| f.0 == *property).map(|f| &f.1);
                if finding.is_some_and(|f| matches!(f, Finding::Safe | Finding::Unsafe(_))) {
                    *regions = search.settle(*property, all, &judgement, pieces);
                }
            }
        }
    }
    for (property, mut pieces, regions) in open {
        search.sweep(property, &mut pieces, regions, progress);
        search.found.properties.push(Found { property, pieces });
    }
    search.found
}

impl<'a> Search<'a> {
    fn cfa(&self) -> &'a Cfa {
        &self.job.model.cfa
    }

    /// What verdicts on these properties rest on.
    fn besides(&self, properties: &[PropertyId]) -> Vec<PropertyId> {
        let others = self.cfa().limits.iter().chain(&self.cfa().fatal).copied();
        others.filter(|p| !properties.contains(p)).collect()
    }

    fn question(&self, properties: Vec<PropertyId>, besides: Vec<PropertyId>) -> Question {
        Question { properties, besides, bindings: self.job.bindings.clone() }
    }

    /// One property, in all that is open.
    fn sweep(
        &mut self,
        property: PropertyId,
        pieces: &mut Vec<Piece>,
        mut open: Vec<Region>,
        progress: &mut dyn FnMut(Step<'_>),
    ) {
        while let Some(region) = open.pop() {
            let left = open.iter().map(Region::size).fold(region.size(), u128::saturating_add);
            progress(Step { property: Some(property), open: left, stats: None });
            if let Some(over) = self.job.deadline.over() {
                pieces.push(unknown(region, over.into()));
                continue;
            }
            if let Some((evidence, part)) = self.reuse(property, &region) {
                open.extend(region.without(&part));
                pieces.push(safe(part, evidence));
                continue;
            }
            let besides = self.besides(&[property]);
            let question = self.question(vec![property], besides);
            let told = &mut |stats: &Stats| {
                progress(Step { property: Some(property), open: left, stats: Some(stats) });
            };
            match self.ask(&region, question, told) {
                Ok(judgement) => open.extend(self.settle(property, &region, &judgement, pieces)),
                Err(reason) => pieces.push(unknown(region, reason)),
            }
        }
    }

    /// Asks the engine about a region.
    fn ask(
        &mut self,
        region: &Region,
        question: Question,
        told: &mut dyn FnMut(&Stats),
    ) -> Result<Judgement, Reason> {
        let job = self.job;
        self.found.checks += 1;
        let model = self.narrow(region)?;
        let request = Request {
            question,
            budget: job.budget,
            validate: true,
            deadline: job.deadline.clone(),
            last_moments: job.last_moments.clone(),
            shorten: None,
            tuning: Tuning::default(),
        };
        let by = By::Host { engine: job.engine, memory: job.memory };
        let checked = check::check(&model, &request, by, &mut |progress| {
            if let Progress::Proving(stats) = progress {
                told(stats);
            }
        });
        let checked = checked.map_err(|_| Reason::Capacity)?;
        self.remember(&model, &checked);
        Ok(checked.judgement)
    }

    /// The model in a region, compiled.
    fn narrow(&self, region: &Region) -> Result<Loaded, Reason> {
        let params = &self.job.params;
        let mut model = self.base.clone();
        model.cfa = narrowed(&model.cfa, params, region);
        let mut simple = narrowed(&model.simplified.cfa, params, region);
        // Engines do not look at bounds: runs begin only within them.
        for (id, side) in params.iter().zip(&region.sides) {
            let within = within(&mut simple, *id, *side);
            for at in 0..simple.edges.len() {
                if simple.edges[at].from == simple.init {
                    simple.edges[at].guard = simple.pool.and(simple.edges[at].guard, within);
                }
            }
        }
        let compiled = blast::compile(&simple, model.digest, &blast::Options::default());
        let compiled = compiled.map_err(|_| Reason::Capacity)?;
        (model.image, model.map) = (AlignedImage::new(&compiled.image), compiled.map);
        model.simplified.cfa = simple;
        model.simplified.candidates.extend(self.seeds.iter().cloned());
        Ok(model)
    }

    /// Keeps the clauses of an invariant, if there is one.
    fn remember(&mut self, model: &Loaded, checked: &Checked) {
        if checked.judgement.certificate.is_none() || !checked.answer.terms.is_empty() {
            return;
        }
        let clauses = checked.answer.clauses.iter().cloned();
        let simple = &model.simplified.cfa;
        let decoded = decode::certificate(&model.map, simple, vec![], vec![], clauses, vec![]);
        if let Ok(certificate) = decoded
            && self.seeds.len() + certificate.clauses.len() <= SEEDS
        {
            self.seeds.extend(certificate.clauses);
        }
    }

    /// What an answer says of a property in a region; the values that are still open.
    fn settle(
        &mut self,
        property: PropertyId,
        region: &Region,
        judgement: &Judgement,
        pieces: &mut Vec<Piece>,
    ) -> Vec<Region> {
        let finding = judgement.all().find(|f| f.0 == property).map(|f| &f.1);
        match finding {
            Some(Finding::Safe) => match &judgement.certificate {
                Some(certificate) => {
                    let number = self.keep(Evidence::Proof(certificate.clone()));
                    pieces.push(safe(region.clone(), number));
                    vec![]
                }
                None => self.cut(region, Reason::Unanswered, pieces),
            },
            Some(Finding::Unsafe(broken)) => {
                let part = self.grow(&broken.trace, region);
                let evidence = Some(self.keep(Evidence::Run(broken.trace.clone())));
                let (verdict, reason) = (Verdict::Unsafe, None);
                pieces.push(Piece { region: part.clone(), verdict, reason, evidence });
                region.without(&part)
            }
            // Where what it rests on is broken, more is not known; elsewhere there may be.
            Some(Finding::Unknown(reason @ Reason::Until(_))) => {
                let is_end = |p: &PropertyId| self.cfa().fatal.contains(p);
                let end = judgement.all().find_map(|(p, f)| match f {
                    Finding::Unsafe(broken) if is_end(p) => Some(&broken.trace),
                    _ => None,
                });
                match end.map(|trace| self.grow(trace, region)) {
                    Some(part) if part == *region => {
                        pieces.push(unknown(part, reason.clone()));
                        vec![]
                    }
                    Some(part) => {
                        let mut open = region.without(&part);
                        open.push(part);
                        open
                    }
                    None => self.cut(region, reason.clone(), pieces),
                }
            }
            Some(Finding::Unknown(reason)) => self.cut(region, reason.clone(), pieces),
            None => self.cut(region, Reason::Unanswered, pieces),
        }
    }

    /// What is not known of a region may be of its halves.
    fn cut(&self, region: &Region, reason: Reason, pieces: &mut Vec<Piece>) -> Vec<Region> {
        let is_over = self.job.deadline.over().is_some() || matches!(reason, Reason::Invalid(_));
        match region.halves().filter(|_| !is_over) {
            Some(halves) => halves.into(),
            None => {
                pieces.push(unknown(region.clone(), reason));
                vec![]
            }
        }
    }

    fn keep(&mut self, evidence: Evidence) -> usize {
        if let Some(known) = self.found.evidence.iter().position(|e| *e == evidence) {
            return known;
        }
        let number = self.found.evidence.len();
        if matches!(evidence, Evidence::Proof(_)) {
            self.proofs.push(number);
        }
        self.found.evidence.push(evidence);
        number
    }

    /// An invariant that was found for other values and holds for these, or for a good part of them.
    fn reuse(&mut self, property: PropertyId, region: &Region) -> Option<(usize, Region)> {
        let mut claims = self.besides(&[property]);
        claims.push(property);
        for number in self.proofs.iter().rev().take(TRIED) {
            let Some(Evidence::Proof(certificate)) = self.found.evidence.get(*number) else {
                continue;
            };
            if covers(certificate, &claims, &self.job.bindings).is_err() {
                continue;
            }
            let mut part = region.clone();
            for _ in 0..CUTS {
                if part.size().saturating_mul(LEAST_PART) < region.size() {
                    break;
                }
                let cfa = narrowed(self.cfa(), &self.job.params, &part);
                let checked = self.job.deadline.enter(|| validate::check(&cfa, certificate));
                let example = match checked {
                    Ok(Ok(_)) => {
                        self.found.reused += 1;
                        return Some((*number, part));
                    }
                    Ok(Err(CertificateError::NotInductive { example, .. })) => example,
                    Ok(Err(CertificateError::NotInitial { example, .. })) => example,
                    _ => break,
                };
                let at = self.point(|id| example.state.get(id.index()).copied());
                let rest = part.meet(&at).map_or(vec![], |at| part.without(&at));
                let Some(largest) = rest.into_iter().max_by_key(Region::size) else { break };
                part = largest;
            }
        }
        None
    }

    /// The combination of values that the swept parameters have.
    fn point(&self, value: impl Fn(VarId) -> Option<Word>) -> Region {
        let place = |id: &VarId| {
            let word = value(*id).unwrap_or(0);
            self.cfa().vars.get(id.index()).map_or(0, |var| region::place(var, word))
        };
        Region::point(self.job.params.iter().map(place))
    }

    /// The values around those of a run with which the same run breaks the same property; at least its own.
    fn grow(&self, trace: &Trace, within: &Region) -> Region {
        let own = self.point(|id| trace.initial.iter().find(|i| i.0 == id).map(|i| i.1));
        let model = self.job.model;
        // A run that had to be tried on the program, or may depend on what the program decides, is one for its own values.
        if model.origin.is_lifted() || !model.cfa.approximate.is_empty() {
            return own;
        }
        let grown = self.job.deadline.enter(|| {
            let grown = self.grown(trace, own.clone(), within)?;
            breaks_all(self.cfa(), trace, &self.bounds(&grown)).ok()?.then_some(grown)
        });
        grown.ok().flatten().unwrap_or(own)
    }

    fn grown(&self, trace: &Trace, own: Region, within: &Region) -> Option<Region> {
        let mut family = Family::new(self.cfa(), trace, &self.job.params).ok()?;
        let mut grown = own;
        for (side, limit) in within.sides.iter().enumerate() {
            for up in [true, false] {
                let now = grown.sides[side];
                // Good up to here, and bad from there on.
                let (mut good, mut bad) =
                    if up { (now.last, limit.last + 1) } else { (now.first, limit.first - 1) };
                let mut asked = bad + if up { -1 } else { 1 };
                while good != asked {
                    let more = match up {
                        true => Range { first: good + 1, last: asked },
                        false => Range { first: asked, last: good - 1 },
                    };
                    match family.exception(&self.bounds(&grown.with(side, more)))? {
                        None => good = asked,
                        Some(words) => {
                            let id = self.job.params[side];
                            bad = region::place(&self.cfa().vars[id.index()], words[side]);
                        }
                    }
                    asked = good + (bad - good) / 2;
                }
                let now = match up {
                    true => Range { last: good, ..now },
                    false => Range { first: good, ..now },
                };
                grown = grown.with(side, now);
            }
        }
        Some(grown)
    }

    fn bounds(&self, region: &Region) -> Vec<Bounds> {
        let bounds = |(id, side): (&VarId, &Range)| {
            let var = &self.cfa().vars[id.index()];
            (*id, region::value(var, side.first), region::value(var, side.last))
        };
        self.job.params.iter().zip(&region.sides).map(bounds).collect()
    }
}

/// The model with its parameters as they are written, simplified if they still are.
fn base(model: &Loaded, params: &[VarId]) -> Loaded {
    let (cfa, simple) = (&model.cfa, &model.simplified.cfa);
    let is_kept = |id: &VarId| match (cfa.vars.get(id.index()), simple.vars.get(id.index())) {
        (Some(var), Some(other)) => var.kind == other.kind && var.width == other.width,
        _ => false,
    };
    if params.iter().all(is_kept) {
        return model.clone();
    }
    // What cannot be compiled as it is written is unknown for each region.
    model.clone().as_written().unwrap_or_else(|_| model.clone())
}

/// That a parameter is in a range, as an expression.
fn within(cfa: &mut Cfa, id: VarId, range: Range) -> ExprId {
    let Some(var) = cfa.vars.get(id.index()).cloned() else { return cfa.pool.bool(true) };
    let at_most = if var.ty == Type::Signed { BinOp::Sle } else { BinOp::Ule };
    let value = cfa.read(id);
    let first = cfa.pool.constant(region::value(&var, range.first), var.width);
    let last = cfa.pool.constant(region::value(&var, range.last), var.width);
    let above = cfa.pool.binary(at_most, first, value);
    let below = cfa.pool.binary(at_most, value, last);
    cfa.pool.and(above, below)
}

fn safe(region: Region, evidence: usize) -> Piece {
    Piece { region, verdict: Verdict::Safe, reason: None, evidence: Some(evidence) }
}

fn unknown(region: Region, reason: Reason) -> Piece {
    Piece { region, verdict: Verdict::Unknown, reason: Some(reason), evidence: None }
}
