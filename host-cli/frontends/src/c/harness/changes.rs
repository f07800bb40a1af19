//! What functions that are declared only changed in a run, call by call.

use super::defined::plain_parameters;
use crate::c::Program;
use crate::c::lower::notes::{Change, Changed};
use crate::c::tree::Linkage;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use vouch_ir::{ExprId, InputId, Step, Trace, VarId, Word, eval};

/// For each function what its calls do, one after the other, as statements of C.
pub fn of(program: &Program, trace: &Trace) -> BTreeMap<String, Vec<String>> {
    let Program { cfa, notes, .. } = program;
    let mut calls: BTreeMap<String, Vec<String>> = BTreeMap::new();
    if notes.changes.iter().all(|change| change.objects.is_empty()) || trace.forced.steps > 0 {
        return calls;
    }
    let mut state: Vec<Word> = vec![0; cfa.vars.len()];
    for (var, value) in &trace.initial {
        state[var.index()] = *value;
    }
    for step in &trace.steps {
        let Some(edge) = cfa.edges.get(step.edge.index()) else { break };
        let now = Now { program, state: &state, step };
        for change in notes.changes.iter().filter(|change| change.at == edge.from) {
            if now.value(change.reached) != 0 {
                calls.entry(change.function.clone()).or_default().push(now.statements(change));
            }
        }
        match eval::step(cfa, &state, step.edge, |input| now.input(input)) {
            Some(next) => state = next,
            None => break,
        }
    }
    calls
}

/// A step of the run, and the state before it.
struct Now<'a> {
    program: &'a Program,
    state: &'a [Word],
    step: &'a Step,
}

impl Now<'_> {
    fn input(&self, input: InputId) -> Word {
        self.step.inputs.iter().find(|(id, _)| *id == input).map_or(0, |(_, value)| *value)
    }

    fn value(&self, e: ExprId) -> Word {
        let (var, input) = (|v: VarId| self.state[v.index()], |i: InputId| self.input(i));
        eval::expressions(&self.program.cfa.pool, &[e], var, input)[0]
    }

    fn statements(&self, change: &Change) -> String {
        let mut text = String::new();
        for changed in change.objects.iter().filter(|changed| self.value(changed.when) != 0) {
            let Some(base) = self.base(change, changed) else { continue };
            for (offset, var, input) in &changed.cells {
                let (width, value) = (self.program.cfa.vars[var.index()].width, self.input(*input));
                let _ = writeln!(
                    text,
                    "        vouch_put({base}, {offset}, {width}, {}ull);",
                    value as u64
                );
            }
        }
        text
    }

    /// Where an object begins: known by its name, or by an argument that points into it.
    fn base(&self, change: &Change, changed: &Changed) -> Option<String> {
        if let Some(name) = symbol(self.program, changed) {
            return Some(format!("vouch_symbol_{name}"));
        }
        let function = self.program.unit.functions.iter().find(|f| *f.name == *change.function)?;
        let passed = plain_parameters(function).len();
        let mut pointers = change.pointers.iter().filter(|(number, _)| *number < passed);
        pointers.find_map(|(number, pointer)| {
            let at = u64::try_from(self.value(*pointer)).ok()?.checked_sub(changed.address)?;
            (at < changed.size).then(|| format!("(char *)a{number} - {at}"))
        })
    }
}

/// The name of an object that every unit may know.
fn symbol<'a>(program: &'a Program, changed: &Changed) -> Option<&'a str> {
    let (_, var, _) = changed.cells.first()?;
    let global = &program.unit.globals[*program.notes.globals.get(var)?];
    (global.linkage != Linkage::Internal).then_some(&*global.name)
}

/// Declares them, as whoever changes them sees them.
pub fn symbols(program: &Program) -> String {
    let objects = program.notes.changes.iter().flat_map(|change| &change.objects);
    let names: BTreeSet<&str> = objects.filter_map(|changed| symbol(program, changed)).collect();
    let declared = |name| format!("extern char vouch_symbol_{name}[] __asm__(\"{name}\");\n");
    names.into_iter().map(declared).collect()
}
