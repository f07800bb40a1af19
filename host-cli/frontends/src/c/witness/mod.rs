//! Verdicts as verification witnesses, format 2.0: what the validators of the competition on software
//! verification read (Ayaziová, Beyer, Lingsch-Rosenfeld, Spiessl, Strejček, SPIN'24).
//!
//! A broken property becomes a `violation_sequence`: what calls return, which branches are taken, what
//! variables without initial values hold, up to where the property breaks. A proof becomes an
//! `invariant_set`: the clauses of the certificate at loops and statements, as C expressions. A place
//! in the text may have several copies in the automaton, one for each call that was inlined; what is
//! said of the place holds at one of them at least. Clauses over what C cannot name there (temporaries,
//! variables of callers, addresses) are left out: what remains is weaker, and still invariant.
//!
//! - [`scope`]: which variables have names at a statement
//! - [`clause`]: clauses as C
//! - [`yaml`]: the text

mod clause;
mod scope;
mod yaml;

use super::lower::notes::{Answer, Place, Root};
use super::{DataModel, Fail, Program, builtin, calls, fail, on_large_stack};
use crate::{Diagnostic, Options, Source};
use scope::Scope;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::time::SystemTime;
use vouch_ir::{Certificate, Cfa, Clause, Expr, LocId, Span, Trace, VarId, Word, eval};
use yaml::{At, Kind, Task, Waypoint};

/// What a witness is of.
#[derive(Clone, Copy, Debug)]
pub enum Evidence<'a> {
    /// A run that breaks a property.
    Run(&'a Trace),
    /// An invariant that excludes all errors.
    Proof(&'a Certificate),
}

/// The witness of a verdict on `cfa`, which was compiled from `source`, as YAML.
pub fn write(
    source: &Source,
    options: &Options,
    cfa: &Cfa,
    evidence: Evidence<'_>,
    now: SystemTime,
) -> Result<String, Vec<Diagnostic>> {
    on_large_stack(|| {
        let refuse = |what: &str, help: &str| -> Fail {
            Box::new(fail(what, Span::default(), "no witness of this").help(help))
        };
        if options.c.entry != "main" || options.c.repeat {
            return Err(refuse(
                "witnesses are of programs that start in `main` and run once",
                "use `--certificate`, `--trace` or `--harness`",
            ));
        }
        if !options.c.interrupts.is_empty() {
            return Err(refuse(
                "a witness cannot say when an interrupt comes",
                "use `--certificate` or `--trace`",
            ));
        }
        if let Some((_, param)) = cfa.params().next() {
            let message = format!("a witness cannot speak of the parameter `{}`", param.name);
            return Err(refuse(&message, "make it an input or a constant"));
        }
        let program = Program::new(source, options)?;
        if program.cfa.edges.len() != cfa.edges.len() || program.cfa.vars != cfa.vars {
            return Err(refuse("this is not the program that was checked", "check it again"));
        }
        let writer = Writer { program: &program, source };
        let data_model = match program.unit.types.model {
            DataModel::Lp64 => "LP64",
            DataModel::Ilp32 | DataModel::Arm(_) | DataModel::Riscv32 => "ILP32",
        };
        let specification = specification(cfa, evidence);
        let task = Task { source, data_model, specification, now };
        Ok(match evidence {
            Evidence::Run(trace) => yaml::violation(&task, &writer.waypoints(trace)),
            Evidence::Proof(certificate) => {
                yaml::invariants(&task, &writer.invariants(certificate))
            }
        })
    })
}

/// The property that a witness is about, as competitions write it.
fn specification(cfa: &Cfa, evidence: Evidence<'_>) -> &'static str {
    let name = |p: usize| cfa.properties.get(p).map_or("", |p| p.name.as_str());
    let names: Vec<&str> = match evidence {
        Evidence::Run(trace) => vec![name(trace.property.index())],
        Evidence::Proof(certificate) => {
            certificate.properties.iter().map(|p| name(p.index())).collect()
        }
    };
    let has = |what: &str| names.iter().any(|n| n.starts_with(what));
    if has("reach_error") {
        "G ! call(reach_error())"
    } else if has("assert_") {
        "G ! call(__assert_fail())"
    } else if has("no_overflow") {
        "G ! overflow"
    } else if has("bounds") || has("null") {
        "G valid-deref"
    } else {
        "G ! call(reach_error())"
    }
}

struct Writer<'a> {
    program: &'a Program,
    source: &'a Source,
}

impl Writer<'_> {
    /// Where a byte of the text stands in the file. Nowhere, if a macro or an include has had its hand in
    /// the line.
    fn locate(&self, at: u32) -> Option<At> {
        let text = &self.program.text;
        let start = text[..at as usize].rfind('\n').map_or(0, |n| n + 1);
        let column = text[start..at as usize].chars().count() + 1;
        let Some(places) = &self.program.places else {
            let line = text[..start].matches('\n').count() + 1;
            return Some(At { line, column: Some(column) });
        };
        let line = places.main_line(at)?;
        let here = text[start..].lines().next()?;
        let there = self.source.main().lines().nth(line.checked_sub(1)?)?;
        (here.trim_end() == there.trim_end()).then_some(At { line, column: Some(column) })
    }

    /// The line of a byte of the text, if no more is known.
    fn line(&self, at: u32) -> At {
        let line = match &self.program.places {
            Some(places) => places.main_line(at).unwrap_or(1),
            None => self.program.text[..at as usize].matches('\n').count() + 1,
        };
        At { line, column: None }
    }

    /// Whether a statement begins with this word.
    fn begins_with(&self, at: u32, word: &str) -> bool {
        let rest = &self.program.text[at as usize..];
        let after = rest.strip_prefix(word).and_then(|r| r.chars().next());
        after.is_some_and(|c| !c.is_alphanumeric() && c != '_')
    }

    /// How C names a variable in a scope, if it does.
    fn name(&self, var: VarId, scope: &Scope, place: &Place) -> Option<String> {
        let named = self.program.notes.names.get(&var)?;
        let unit = &self.program.unit;
        let name = match named.root {
            Root::Local(function, depth, local) => {
                let name = &unit.functions[function].locals[local].name;
                let is_here = (function, depth) == (place.function, place.depth);
                (is_here && scope.local(name) == Some(local)).then(|| name.to_string())
            }
            Root::Global(id) => {
                let name = &unit.globals[id].name;
                let function = &unit.functions[place.function].name;
                let statics = format!("{function}::{name}");
                let hidden =
                    scope.local(name).is_some() || unit.globals.iter().any(|g| g.name == statics);
                let is_word = name.chars().all(|c| c.is_alphanumeric() || c == '_');
                (is_word && !hidden).then(|| name.clone())
            }
        };
        name.map(|name| name + &named.path)
    }

    /// The waypoints of a run.
    fn waypoints(&self, trace: &Trace) -> Vec<Waypoint> {
        let Program { cfa, notes, unit, .. } = self.program;
        let points: HashMap<LocId, &Place> = notes.points.iter().map(|p| (p.at, p)).collect();
        let mut state: Vec<Word> = vec![0; cfa.vars.len()];
        trace.initial.iter().for_each(|(var, value)| state[var.index()] = *value);
        let mut waypoints = vec![];
        // Variables that came into being with a value that matters and is not told yet.
        let mut untold: Vec<VarId> = vec![];
        let mut last = Span::default();
        // What comes after steps that are not listed could be said of earlier ones, too: only the end is told.
        let listed = if trace.forced.steps == 0 { 0 } else { trace.steps.len().saturating_sub(1) };
        for step in &trace.steps[listed..] {
            let Some(edge) = cfa.edges.get(step.edge.index()) else { break };
            if let Some(place) = points.get(&edge.from)
                && !untold.is_empty()
            {
                self.tell(&mut untold, place, &state, &mut waypoints);
            }
            for chosen in calls::of_step(self.program, step).into_iter().filter(|c| c.matters) {
                let input = &cfa.inputs[chosen.input.index()];
                let name = input.name.split('#').next().unwrap_or(&input.name);
                let function = unit.functions.iter().find(|f| *f.name == *name);
                match (chosen.call, function) {
                    (Some(call), Some(function)) => {
                        let value = clause::decimal(chosen.value, &function.result);
                        let at = self.locate(call.end.saturating_sub(1));
                        if let (Some(value), Some(at)) = (value, at) {
                            let kind = Kind::Return(format!("\\result == {value}"));
                            waypoints.push(Waypoint { kind, at });
                        }
                    }
                    (None, _) => {
                        let reads = Expr::Input(chosen.input);
                        let havocs = |u: &&(VarId, _)| cfa.pool.get(u.1) == reads;
                        untold.extend(edge.updates.iter().find(havocs).map(|u| u.0));
                    }
                    _ => {}
                }
            }
            if let Some((span, answer)) = notes.branches.get(&step.edge)
                && !self.begins_with(span.start, "do")
                && let Some(at) = self.locate(span.start)
            {
                let value = match answer {
                    Answer::Holds(holds) => holds.to_string(),
                    Answer::Case(value) => value.to_string(),
                    Answer::Default => "default".into(),
                };
                waypoints.push(Waypoint { kind: Kind::Branch(value), at });
            }
            let input = |i| step.inputs.iter().find(|x| x.0 == i).map_or(0, |x| x.1);
            if let Some(next) = eval::step(cfa, &state, step.edge, input) {
                state = next;
            }
            last = edge.span;
        }
        // A label means an error too: the error is the call behind it.
        let at = scope::behind_labels(unit, last.start, |f| {
            builtin::of(f) == Some(builtin::Builtin::Error)
        });
        let at = at.unwrap_or(last.start);
        let at = self.locate(at).unwrap_or_else(|| self.line(at));
        waypoints.push(Waypoint { kind: Kind::Target, at });
        waypoints
    }

    /// Tells the values of variables as far as they have names at a place.
    fn tell(
        &self,
        untold: &mut Vec<VarId>,
        place: &Place,
        state: &[Word],
        waypoints: &mut Vec<Waypoint>,
    ) {
        let Some(scope) = Scope::at(&self.program.unit, place) else { return };
        let Some(at) = self.locate(place.span.start) else { return };
        let mut told = vec![];
        untold.retain(|var| {
            let named = self.program.notes.names.get(var);
            let value = named.and_then(|n| clause::constant(state[var.index()], &n.ty));
            match (self.name(*var, &scope, place), value) {
                (Some(name), Some(value)) => told.push(format!("{name} == {value}")),
                _ => return true,
            }
            false
        });
        if !told.is_empty() {
            waypoints.push(Waypoint { kind: Kind::Assumption(told.join(" && ")), at });
        }
    }

    /// What a proof says of loops and statements.
    fn invariants(&self, certificate: &Certificate) -> Vec<(bool, At, String)> {
        let notes = &self.program.notes;
        let mut clauses: HashMap<LocId, Vec<&Clause>> = HashMap::new();
        for clause in &certificate.clauses {
            clauses.entry(clause.location).or_default().push(clause);
        }
        let passed: HashSet<LocId> = certificate.passed.iter().copied().collect();
        let mut places: BTreeMap<(u32, bool), Vec<&Place>> = BTreeMap::new();
        for head in &notes.heads {
            places.entry((head.span.start, true)).or_default().push(head);
        }
        for point in &notes.points {
            places.entry((point.span.start, false)).or_default().push(point);
        }
        let mut found = vec![];
        for ((start, is_head), copies) in places {
            // What holds where a body begins is at its first statement; and a loop is its head.
            let is_do = self.begins_with(start, "do");
            let is_loop = is_do || self.begins_with(start, "while");
            if is_head && is_do || !is_head && (is_loop || notes.inside.contains(&start)) {
                continue;
            }
            let Some(at) = self.locate(start) else { continue };
            let formulas: Option<Vec<String>> = (copies.iter())
                .map(|copy| {
                    let known = clauses.get(&copy.at).filter(|_| !passed.contains(&copy.at))?;
                    let scope = Scope::at(&self.program.unit, copy)?;
                    let names = |var| {
                        let ty = &self.program.notes.names.get(&var)?.ty;
                        Some((self.name(var, &scope, copy)?, ty.clone()))
                    };
                    clause::conjunction(known, &names)
                })
                .collect();
            let Some(mut formulas) = formulas else { continue };
            formulas.sort();
            formulas.dedup();
            // A copy that no run gets to says nothing.
            if formulas.len() > 1 {
                formulas.retain(|f| f != clause::NEVER);
            }
            let value = match formulas.as_slice() {
                [one] => one.clone(),
                many => many.iter().map(|f| format!("({f})")).collect::<Vec<_>>().join(" || "),
            };
            found.push((is_head, at, value));
        }
        found
    }
}
