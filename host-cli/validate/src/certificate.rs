//! Whether a certificate is one: an inductive invariant that excludes the errors.
//!
//! An invariant is a set of clauses at each location, over the bits of the variables there. Let
//! *P* be what is known of the parameters: they are within their bounds, those that the
//! certificate binds have that value, and no edge assigns them. Then no run reaches the error
//! location of a claimed property if
//!
//! 1. P implies each clause at the initial location, whatever the state variables are;
//! 2. for each edge, the clauses at its source, P and its guard imply each clause at its target
//!    under the updated values;
//! 3. the empty clause is at the error location.
//!
//! A certificate may name locations that it only *passes*: they have no clauses, none of them is the
//! initial or an error location, and they form no cycle. Condition 2 then holds for each path from a
//! location that is not passed over passed ones to the next that is not ([`paths`]).
//!
//! Clauses may speak of *terms*: values that variables determine, which the certificate defines. They
//! are expressions like any other here.
//!
//! Each edge has its own solver, which is asked for each clause at its target whether the edge can lead from where the
//! clauses at its source hold to where that one does not.

use super::encode::{Encoder, flip_sign};
use super::solver::Lit;
use super::{well_formed, within};
use paths::{NoWay, Ways};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::fmt;
use vouch_ir::formats::Names;
use vouch_ir::value;
use vouch_ir::{
    BitLit, Certificate, Cfa, Clause, EdgeId, ExprId, InputId, LocId, PropertyId, Type, VarId,
    VarKind, Word, eval, mask, term,
};

/// What a check has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CertificateStats {
    /// Properties that are proved.
    pub properties: usize,
    /// Parameters that are bound: the proof is for these values only.
    pub bindings: usize,
    /// Clauses of the invariant.
    pub clauses: usize,
    /// Locations that are only passed.
    pub passed: usize,
    /// Edges that were looked at.
    pub edges: usize,
    /// Edges that leave a location where no run ever is.
    pub unreachable_edges: usize,
    /// Questions to the solver.
    pub queries: usize,
}

/// A state that satisfies what it should and leads, with these inputs, to one that does not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// Where it is.
    pub location: LocId,
    /// The value of each variable.
    pub state: Vec<Word>,
    /// The inputs that the edges read, one after the other; none at the initial location.
    pub inputs: Vec<(InputId, Word)>,
    /// The values after the step; those of `state` at the initial location.
    pub after: Vec<Word>,
    /// The same for people.
    shown: String,
}

impl fmt::Display for Counterexample {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.shown)
    }
}

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum CertificateError {
    /// The model itself is broken.
    #[error("{0}")]
    IllFormed(String),
    /// Nothing is claimed, so nothing can be proved.
    #[error("the certificate claims no property")]
    NothingClaimed,
    /// It speaks of something that the model does not have.
    #[error("the certificate names {what} {index}, which the model does not have")]
    Unknown {
        /// What kind of thing.
        what: &'static str,
        /// The number in the certificate, past the last one of its kind.
        index: u32,
    },
    /// A term has operands that do not fit.
    #[error("term {0} of the certificate is malformed")]
    Term(usize),
    /// A literal names a bit above the width.
    #[error("the certificate names bit {bit} of {var}, which has {width} bits")]
    NoSuchBit {
        /// Name of the variable or term.
        var: String,
        /// The bit that was named, 0 being the lowest.
        bit: u32,
        /// Width of the variable or term in bits.
        width: u32,
    },
    /// A location cannot be passed.
    #[error("the certificate passes {location}, {why}")]
    Passed {
        /// Name of the location.
        location: String,
        /// Why it cannot.
        why: &'static str,
    },
    /// What it binds cannot be bound so.
    #[error("the certificate binds {var} to {value}: {why}")]
    Binding {
        /// Name of the variable that is bound.
        var: String,
        /// The value that it is bound to, shown as its type says.
        value: String,
        /// What is wrong with it.
        why: &'static str,
    },
    /// With no value to take, everything would hold of the model.
    #[error("parameter {var} has no value within its bounds")]
    EmptyRange {
        /// Name of the parameter.
        var: String,
    },
    /// The error location lacks the empty clause.
    #[error("the certificate does not exclude {location}, the error location of {property}")]
    NotExcluded {
        /// Name of the claimed property.
        property: String,
        /// Its error location.
        location: String,
    },
    /// A clause is false in an initial state.
    #[error("clause {clause} `{text}` does not hold at {location}, where runs start\n{example}")]
    NotInitial {
        /// The number of the clause in the certificate.
        clause: usize,
        /// Its literals, in the model's names.
        text: String,
        /// The initial location.
        location: String,
        /// A state that breaks it.
        example: Box<Counterexample>,
    },
    /// A clause can be broken by a step.
    #[error("clause {clause} `{text}` at {location} is not inductive: {step} breaks it\n{example}")]
    NotInductive {
        /// The number of the clause in the certificate.
        clause: usize,
        /// Its literals, in the model's names.
        text: String,
        /// Where it should hold.
        location: String,
        /// The edge that enters it.
        edge: EdgeId,
        /// The edge, or the path that ends with it, for people.
        step: String,
        /// A state that breaks it.
        example: Box<Counterexample>,
    },
    /// The solver has not answered, or its answer is not valid.
    #[error("the check itself failed ({0}); the certificate is neither accepted nor refuted")]
    Solver(&'static str),
}

/// What a certificate leaves open of what was asked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Gap {
    /// This property is not claimed.
    #[error("the certificate does not claim property {}", .0.0)]
    Property(PropertyId),
    /// This parameter has another value there, or is bound there and open here.
    #[error("the certificate is for another value of parameter {}", .0.0)]
    Parameter(VarId),
}

/// Whether a certificate, once [`check`]ed, answers the question: all `properties`, for parameters
/// with these `bindings`. One that leaves a bound parameter open proves more and will do.
pub fn covers(
    certificate: &Certificate,
    properties: &[PropertyId],
    bindings: &[(VarId, Word)],
) -> Result<(), Gap> {
    if let Some(p) = properties.iter().find(|p| !certificate.properties.contains(p)) {
        return Err(Gap::Property(*p));
    }
    match certificate.bindings.iter().find(|b| !bindings.contains(b)) {
        Some((var, _)) => Err(Gap::Parameter(*var)),
        None => Ok(()),
    }
}

/// Checks a certificate. `Ok` means: no run of the automaton, with parameters within their bounds
/// and bound ones at their value, reaches the error location of any property that it claims.
pub fn check(cfa: &Cfa, certificate: &Certificate) -> Result<CertificateStats, CertificateError> {
    well_formed(cfa).map_err(CertificateError::IllFormed)?;
    let mut extended;
    let mut terms = vec![];
    let mut cfa = cfa;
    if !certificate.terms.is_empty() {
        extended = cfa.clone();
        terms =
            term::expressions(&mut extended, &certificate.terms).map_err(CertificateError::Term)?;
        cfa = &extended;
    }
    Checker::new(cfa, certificate, terms)?.check()
}

/// A clause with its number in the certificate.
type Numbered<'a> = (usize, &'a Clause);

pub(super) struct Checker<'a> {
    cfa: &'a Cfa,
    certificate: &'a Certificate,
    names: Names,
    /// The expressions of the certificate's terms.
    terms: Vec<ExprId>,
    /// The clauses of the certificate, indexed by location.
    clauses: Vec<Vec<Numbered<'a>>>,
    ways: Ways,
}

impl<'a> Checker<'a> {
    /// Everything that can be seen without a solver.
    pub(super) fn new(
        cfa: &'a Cfa,
        certificate: &'a Certificate,
        terms: Vec<ExprId>,
    ) -> Result<Self, CertificateError> {
        if certificate.properties.is_empty() {
            return Err(CertificateError::NothingClaimed);
        }
        let names = Names::with_terms(cfa, &certificate.terms);
        let unknown = |what, index| Err(CertificateError::Unknown { what, index });
        for p in &certificate.properties {
            if p.index() >= cfa.properties.len() {
                return unknown("property", p.0);
            }
        }
        check_parameters(cfa, certificate, &names)?;
        let mut clauses = vec![vec![]; cfa.locations.len()];
        for (number, clause) in certificate.clauses.iter().enumerate() {
            for lit in &clause.lits {
                let term = lit.var.index().checked_sub(cfa.vars.len());
                let width = match term {
                    None => Some(cfa.vars[lit.var.index()].width),
                    Some(term) => terms.get(term).map(|t| cfa.pool.width(*t)),
                };
                let Some(width) = width else { return unknown("variable", lit.var.0) };
                let bit = lit.bit;
                if bit >= width {
                    let var = names.var(lit.var);
                    return Err(CertificateError::NoSuchBit { var, bit, width });
                }
            }
            match clauses.get_mut(clause.location.index()) {
                Some(list) => list.push((number, clause)),
                None => return unknown("location", clause.location.0),
            }
        }
        let has_clauses = |l: LocId| !clauses[l.index()].is_empty();
        let ways = Ways::new(cfa, &certificate.passed, has_clauses).map_err(|e| match e {
            NoWay::Missing(index) => CertificateError::Unknown { what: "location", index },
            NoWay::Passed(l, why) => CertificateError::Passed { location: names.location(l), why },
        })?;
        Ok(Checker { cfa, certificate, names, terms, clauses, ways })
    }

    /// Checks conditions 1 to 3; the first violation found is the error.
    fn check(&self) -> Result<CertificateStats, CertificateError> {
        let mut stats = CertificateStats {
            properties: self.certificate.properties.len(),
            bindings: self.certificate.bindings.len(),
            clauses: self.certificate.clauses.len(),
            passed: self.ways.passed(),
            ..CertificateStats::default()
        };
        self.initial(&mut stats)?;
        for (id, edge) in (0..).map(EdgeId).zip(&self.cfa.edges) {
            stats.edges += 1;
            if !self.ways.is_passed(edge.from) && !self.ways.is_passed(edge.to) {
                self.edge(id, &mut stats)?;
            }
        }
        for location in (0..self.cfa.locations.len() as u32).map(LocId) {
            self.paths(location, &mut stats)?;
        }
        self.excluded()?;
        Ok(stats)
    }

    /// Condition 1 of the module: initiation.
    fn initial(&self, stats: &mut CertificateStats) -> Result<(), CertificateError> {
        let init = self.cfa.init;
        if self.clauses[init.index()].is_empty() {
            return Ok(());
        }
        let mut encoder = self.encoder();
        self.assert_parameters(&mut encoder);
        for &(number, clause) in &self.clauses[init.index()] {
            let negated: Vec<Lit> =
                clause.lits.iter().map(|l| !self.lit(&mut encoder, l)).collect();
            stats.queries += 1;
            match encoder.solver.solve(&negated) {
                Some(false) => continue,
                Some(true) => {}
                None => return Err(CertificateError::Solver("the solver gave up")),
            }
            let state = self.state(&encoder);
            if !self.parameters_hold(&state) || self.holds(clause, &state) {
                return Err(CertificateError::Solver("the solver returned an invalid model"));
            }
            let shown = self.show(&state, &[], &state);
            let after = state.clone();
            return Err(CertificateError::NotInitial {
                clause: number,
                text: self.names.clause(clause),
                location: self.names.location(init),
                example: Box::new(Counterexample {
                    location: init,
                    state,
                    inputs: vec![],
                    after,
                    shown,
                }),
            });
        }
        Ok(())
    }

    /// Condition 2 of the module: consecution.
    fn edge(&self, id: EdgeId, stats: &mut CertificateStats) -> Result<(), CertificateError> {
        let edge = &self.cfa.edges[id.index()];
        let source = &self.clauses[edge.from.index()];
        let target = &self.clauses[edge.to.index()];
        if source.iter().any(|(_, c)| c.lits.is_empty()) {
            stats.unreachable_edges += 1;
            return Ok(());
        }
        let updates: HashMap<VarId, ExprId> = edge.updates.iter().copied().collect();
        // What the edge leaves alone and the source has as well needs no solver.
        let is_left =
            |l: &BitLit| l.var.index() < self.cfa.vars.len() && !updates.contains_key(&l.var);
        let untouched = |c: &Clause| !c.lits.is_empty() && c.lits.iter().all(is_left);
        let there: HashSet<Vec<BitLit>> = source.iter().map(|(_, c)| sorted(c)).collect();
        let target: Vec<Numbered<'_>> = target
            .iter()
            .filter(|(_, c)| !(untouched(c) && there.contains(&sorted(c))))
            .copied()
            .collect();
        if target.is_empty() {
            return Ok(());
        }
        let mut encoder = self.encoder();
        self.assert_parameters(&mut encoder);
        self.assert_clauses(&mut encoder, edge.from);
        let guard = encoder.expr(edge.guard)[0];
        encoder.solver.add_clause(&[guard]);
        // All of the edge that is needed comes before the first question.
        let asked = self.reads(target.iter().map(|t| t.1));
        let after = updates.iter().filter(|u| asked.contains(u.0));
        let after = after.map(|(var, value)| (*var, encoder.expr(*value))).collect();
        let inputs = encoder.enter(after);
        let mut wrong = vec![];
        for (number, clause) in target {
            let negated = clause.lits.iter().map(|l| !self.lit(&mut encoder, l)).collect();
            wrong.push(((number, clause), negated));
        }
        let Some((number, clause)) = any(&mut encoder, wrong, stats)? else {
            return Ok(());
        };
        let inputs = (self.cfa.edge_inputs(edge).into_iter())
            .map(|id| (id, inputs.get(&id).map_or(0, |bits| encoder.value(bits))))
            .collect();
        Err(self.not_inductive(&[(id, inputs)], number, clause, &encoder))
    }

    /// Condition 3. Checked last, because a clause that fails says more.
    fn excluded(&self) -> Result<(), CertificateError> {
        for p in &self.certificate.properties {
            let error = self.cfa.properties[p.index()].error;
            if !self.clauses[error.index()].iter().any(|(_, c)| c.lits.is_empty()) {
                return Err(CertificateError::NotExcluded {
                    property: self.names.property(*p),
                    location: self.names.location(error),
                });
            }
        }
        Ok(())
    }

    pub(super) fn encoder(&self) -> Encoder<'a> {
        Encoder::new(&self.cfa.pool)
    }

    /// A literal where the encoder is.
    pub(super) fn lit(&self, encoder: &mut Encoder<'_>, lit: &BitLit) -> Lit {
        let bits = match lit.var.index().checked_sub(self.cfa.vars.len()) {
            None => encoder.var(lit.var, self.cfa.vars[lit.var.index()].width),
            Some(term) => encoder.expr(self.terms[term]),
        };
        bits[lit.bit as usize].same_if(lit.value)
    }

    /// Where the encoder is, the clauses of a location hold.
    pub(super) fn assert_clauses(&self, encoder: &mut Encoder<'_>, location: LocId) {
        let clauses = &self.clauses[location.index()];
        for (_, clause) in clauses {
            if let [lit] = &clause.lits[..]
                && let Some(var) = self.cfa.vars.get(lit.var.index())
            {
                encoder.fix(lit.var, var.width, lit.bit, lit.value);
            }
        }
        for (_, clause) in clauses {
            let lits: Vec<Lit> = clause.lits.iter().map(|l| self.lit(encoder, l)).collect();
            encoder.solver.add_clause(&lits);
        }
    }

    /// The variables that clauses depend on.
    fn reads<'c>(&self, clauses: impl Iterator<Item = &'c Clause>) -> HashSet<VarId> {
        let mut vars = HashSet::default();
        for lit in clauses.flat_map(|c| &c.lits) {
            match lit.var.index().checked_sub(self.cfa.vars.len()) {
                None => {
                    vars.insert(lit.var);
                }
                Some(term) => vars.extend(self.cfa.pool.vars(self.terms[term])),
            }
        }
        vars
    }

    /// Whether a clause is true in a state.
    fn holds(&self, clause: &Clause, state: &[Word]) -> bool {
        let value = |l: &BitLit| match l.var.index().checked_sub(self.cfa.vars.len()) {
            None => state[l.var.index()],
            Some(term) => {
                let root = self.terms[term];
                eval::expressions(&self.cfa.pool, &[root], |v| state[v.index()], |_| 0)[0]
            }
        };
        clause.lits.iter().any(|l| (value(l) >> l.bit & 1 == 1) == l.value)
    }

    /// P of the module's documentation.
    pub(super) fn assert_parameters(&self, encoder: &mut Encoder<'_>) {
        for (id, var) in self.cfa.params() {
            let VarKind::Param { min, max } = var.kind else { continue };
            let bits = encoder.var(id, var.width);
            let width = var.width as usize;
            for (_, value) in self.certificate.bindings.iter().filter(|b| b.0 == id) {
                for (l, wanted) in bits.iter().zip(encoder.word(*value, width)) {
                    let differ = encoder.xor(*l, wanted);
                    encoder.solver.add_clause(&[!differ]);
                }
            }
            let (low, high) = (encoder.word(min, width), encoder.word(max, width));
            let order = |x: &[Lit]| if var.ty == Type::Signed { flip_sign(x) } else { x.to_vec() };
            let below = encoder.less(&order(&bits), &order(&low));
            let above = encoder.less(&order(&high), &order(&bits));
            encoder.solver.add_clause(&[!below]);
            encoder.solver.add_clause(&[!above]);
        }
    }

    fn parameters_hold(&self, state: &[Word]) -> bool {
        let bound = |(var, value): &(VarId, Word)| state[var.index()] == *value;
        self.cfa.vars.iter().zip(state).all(|(var, value)| within(var, *value))
            && self.certificate.bindings.iter().all(bound)
    }

    /// The variables' values in the model. Those that play no part are 0.
    fn state(&self, encoder: &Encoder<'_>) -> Vec<Word> {
        (0..self.cfa.vars.len() as u32).map(|i| encoder.var_value(VarId(i))).collect()
    }

    /// The refutation, after it was replayed: an encoder or solver that is wrong must not blame the
    /// certificate. `path` has each edge with its inputs.
    fn not_inductive(
        &self,
        path: &[(EdgeId, Vec<(InputId, Word)>)],
        number: usize,
        clause: &Clause,
        encoder: &Encoder<'_>,
    ) -> CertificateError {
        let no_model = CertificateError::Solver("the solver returned an invalid model");
        let (Some((first, _)), Some((last, _))) = (path.first(), path.last()) else {
            return no_model;
        };
        let from = self.cfa.edges[first.index()].from;
        let state = self.state(encoder);
        let source = &self.clauses[from.index()];
        let mut good =
            self.parameters_hold(&state) && source.iter().all(|(_, c)| self.holds(c, &state));
        let (mut at, mut after) = (from, state.clone());
        for (id, inputs) in path {
            let input = |id: InputId| inputs.iter().find(|i| i.0 == id).map_or(0, |i| i.1);
            let edge = &self.cfa.edges[id.index()];
            match eval::step(self.cfa, &after, *id, input) {
                Some(next) if edge.from == at => (at, after) = (edge.to, next),
                _ => good = false,
            }
        }
        if !good || at != clause.location || self.holds(clause, &after) {
            return no_model;
        }
        let inputs: Vec<(InputId, Word)> = path.iter().flat_map(|p| p.1.clone()).collect();
        let shown = self.show(&state, &inputs, &after);
        let steps: Vec<String> = path.iter().map(|p| self.names.edge(self.cfa, p.0)).collect();
        CertificateError::NotInductive {
            clause: number,
            text: self.names.clause(clause),
            location: self.names.location(at),
            edge: *last,
            step: steps.join(", then "),
            example: Box::new(Counterexample { location: from, state, inputs, after, shown }),
        }
    }

    /// A step for people: what holds before, the inputs, what has changed.
    fn show(&self, state: &[Word], inputs: &[(InputId, Word)], after: &[Word]) -> String {
        let mut text = String::from("  from");
        let shown = |i: usize, values: &[Word]| {
            let var = &self.cfa.vars[i];
            value::show(&var.ty, var.width, values[i])
        };
        let name = |i: usize| self.names.var(VarId(i as u32));
        for i in 0..state.len() {
            text.push_str(&format!(" {}={}", name(i), shown(i, state)));
        }
        if !inputs.is_empty() {
            text.push_str("\n  with");
        }
        for (id, word) in inputs {
            let input = &self.cfa.inputs[id.index()];
            let word = value::show(&input.ty, input.width, *word);
            text.push_str(&format!(" {}={word}", self.names.input(*id)));
        }
        let changed: Vec<usize> = (0..state.len()).filter(|i| state[*i] != after[*i]).collect();
        if !changed.is_empty() {
            text.push_str("\n  to  ");
        }
        for i in changed {
            text.push_str(&format!(" {}={}", name(i), shown(i, after)));
        }
        text
    }
}

/// One of several things that should not be, each a conjunction of literals, if one can be; the solver
/// then holds the model.
fn any<T>(
    encoder: &mut Encoder<'_>,
    wrong: Vec<(T, Vec<Lit>)>,
    stats: &mut CertificateStats,
) -> Result<Option<T>, CertificateError> {
    let impossible = encoder.constant(false);
    for (what, lits) in wrong {
        // A literal that the edge makes true by a constant: frequent where runs begin.
        if lits.contains(&impossible) {
            continue;
        }
        stats.queries += 1;
        match encoder.solver.solve(&lits) {
            Some(false) => {}
            Some(true) => return Ok(Some(what)),
            None => return Err(CertificateError::Solver("the solver gave up")),
        }
    }
    Ok(None)
}

fn check_parameters(
    cfa: &Cfa,
    certificate: &Certificate,
    names: &Names,
) -> Result<(), CertificateError> {
    for (id, var) in cfa.params() {
        let VarKind::Param { min, max } = var.kind else { continue };
        if max > mask(var.width) || !within(var, min) {
            return Err(CertificateError::EmptyRange { var: names.var(id) });
        }
    }
    // Two values for one parameter would make every implication hold.
    let mut bound = HashSet::default();
    for (id, word) in &certificate.bindings {
        let Some(var) = cfa.vars.get(id.index()) else {
            return Err(CertificateError::Unknown { what: "parameter", index: id.0 });
        };
        let why = if var.kind == VarKind::State {
            "it is not a parameter"
        } else if !within(var, *word) {
            "outside the parameter's bounds"
        } else if !bound.insert(*id) {
            "it is bound twice"
        } else {
            continue;
        };
        let shown = value::show(&var.ty, var.width, *word);
        return Err(CertificateError::Binding { var: names.var(*id), value: shown, why });
    }
    Ok(())
}

fn sorted(clause: &Clause) -> Vec<BitLit> {
    let mut lits = clause.lits.clone();
    lits.sort();
    lits.dedup();
    lits
}

mod paths;

#[cfg(test)]
mod tests;
