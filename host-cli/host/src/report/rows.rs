//! A run as rows: one for each step, with the state it leads to, who did what, the inputs of the step and what it changed. Of
//! a program, one for each place where something happens. Tables and pages show them.

use super::table::Marks;
use super::{Style, count, value};
use crate::formats::Names;
use crate::frontend::c::TASK;
use crate::ir::{Cfa, InputId, Type, VarId, VarKind, Word};
use crate::validate::Run;
use crate::words::{Done, Moment, Words};

/// More variables or inputs than this are not listed one by one if they are 0.
const MANY: usize = 6;

/// A row of the table that shows a run: a step, a part of a call, or a gap.
#[derive(Default)]
pub struct Row {
    /// The number of the step or call, where one begins.
    pub step: String,
    /// Where the run is then, if there are states.
    pub place: Option<String>,
    /// Who did what where.
    pub done: Vec<String>,
    /// Inputs of the step.
    pub inputs: Vec<String>,
    /// What it changed.
    pub changes: Vec<String>,
    /// The edge that was taken, as the run counts.
    pub edge: usize,
}

/// The rows that are shown of a run.
pub fn rows(cfa: &Cfa, words: &Words<'_>, run: &Run, style: &Style, names: &Names) -> Vec<Row> {
    Writer { cfa, words, run, style, names }.rows()
}

struct Writer<'a> {
    cfa: &'a Cfa,
    words: &'a Words<'a>,
    run: &'a Run,
    style: &'a Style,
    names: &'a Names,
}

impl Writer<'_> {
    /// The rows that are shown: of a long run the beginning and the end.
    fn rows(&self) -> Vec<Row> {
        let mut rows = match self.words.has_calls() {
            true => self.calls(),
            false => self.words.moments(self.run).iter().map(|m| self.row(m)).collect(),
        };
        let (n, most) = (rows.len(), self.style.rows.max(4));
        if n > most {
            let first = most / 2;
            let gap = self.gap(format!("({} more)", n - most));
            rows.splice(first..n - (most - first), [gap]);
        }
        if self.run.forced.steps > 0 {
            let steps = count(self.run.forced.steps as usize, "step");
            let inputs = self.inputs(&self.run.forced.inputs);
            rows.insert(0, Row { inputs, ..self.gap(format!("({steps} before)")) });
        }
        rows
    }

    /// A row for those that are not shown.
    fn gap(&self, what: String) -> Row {
        Row { step: Marks::of(self.style).gap.into(), place: Some(what), ..Row::default() }
    }

    /// The row of a step.
    fn row(&self, moment: &Moment) -> Row {
        let before = &self.run.states[moment.edge].values;
        let after = &self.run.states[moment.edge + 1].values;
        Row {
            step: moment.step.to_string(),
            place: Some(moment.place.clone()),
            done: match moment.step {
                0 => vec![],
                _ => moment.done.iter().map(show).filter(|d| !d.is_empty()).collect(),
            },
            inputs: self.inputs(&self.run.steps[moment.edge].inputs),
            changes: match moment.step {
                0 if !moment.fails => self.beginning(after),
                _ => self.changes(before, after),
            },
            edge: moment.edge,
        }
    }

    /// The rows of a program: only where something is read or changes, and what fails.
    fn calls(&self) -> Vec<Row> {
        let mut rows: Vec<Row> = vec![];
        let mut call = None;
        for moment in self.words.moments(self.run) {
            let before = &self.run.states[moment.edge].values;
            let after = &self.run.states[moment.edge + 1].values;
            let inputs = self.inputs(&self.run.steps[moment.edge].inputs);
            let is_first = moment.edge == 0 && self.run.forced.steps == 0;
            let changes = match is_first {
                true => self.beginning(after),
                false => self.changes(before, after),
            };
            let is_new = call != Some(moment.step);
            if !is_new && !moment.fails && inputs.is_empty() && changes.is_empty() {
                continue;
            }
            let mut done: Vec<String> = match is_first {
                true => vec!["(start)".into()],
                false => moment.done.iter().map(show).filter(|d| !d.is_empty()).collect(),
            };
            // A call in which nothing has happened so far: its row is for what happens first.
            let is_quiet = |r: &Row| r.inputs.is_empty() && r.changes.is_empty();
            let step = match rows.pop_if(|row| !is_new && is_quiet(row)) {
                Some(row) => {
                    let task = row.done.into_iter().filter(|d| d.contains(TASK));
                    done = task.chain(done).collect();
                    row.step
                }
                None if is_new => moment.step.to_string(),
                None => String::new(),
            };
            call = Some(moment.step);
            if done.is_empty() {
                done.push(moment.place);
            }
            rows.push(Row { step, place: None, done, inputs, changes, edge: moment.edge });
        }
        rows
    }

    /// Inputs and their values; of many only those that are not 0.
    fn inputs(&self, inputs: &[(InputId, Word)]) -> Vec<String> {
        let is_listed = |(id, word): &&(InputId, Word)| {
            let ty = self.cfa.inputs.get(id.index()).map(|i| &i.ty);
            inputs.len() <= 2 || *word != 0 || matches!(ty, Some(Type::Enum(_)))
        };
        let listed: Vec<String> = (inputs.iter().filter(is_listed))
            .map(|(id, word)| {
                let shown = self.cfa.inputs.get(id.index());
                let shown = shown.map(|i| value::show(&i.ty, i.width, *word));
                format!("{} = {}", self.names.input(*id), shown.unwrap_or_else(|| word.to_string()))
            })
            .collect();
        self.with_rest(listed, inputs.len())
    }

    /// Says that what is not listed is 0.
    fn with_rest(&self, mut listed: Vec<String>, all: usize) -> Vec<String> {
        match (all - listed.len(), listed.is_empty()) {
            (0, _) => {}
            (n, true) => listed.push(format!("all {n} are 0")),
            (1, false) => listed.push("1 other is 0".into()),
            (n, false) => listed.push(format!("{n} others are 0")),
        }
        listed
    }

    fn var(&self, index: usize, word: Word) -> String {
        let var = &self.cfa.vars[index];
        value::show(&var.ty, var.width, word)
    }

    /// Where the run starts, all variables and parameters are listed; of many those that are not 0.
    fn beginning(&self, values: &[Word]) -> Vec<String> {
        let all: Vec<usize> = (0..self.cfa.vars.len()).collect();
        let is_listed = |i: &&usize| {
            let var = &self.cfa.vars[**i];
            let is_named = matches!(var.ty, Type::Enum(_)) || var.kind != VarKind::State;
            all.len() <= MANY || values[**i] != 0 || is_named
        };
        let assigned = |i: &usize| {
            format!("{} = {}", self.names.var(VarId(*i as u32)), self.var(*i, values[*i]))
        };
        self.with_rest(all.iter().filter(is_listed).map(assigned).collect(), all.len())
    }

    fn changes(&self, before: &[Word], after: &[Word]) -> Vec<String> {
        let arrow = Marks::of(self.style).arrow;
        let changed = (0..after.len()).filter(|i| before[*i] != after[*i]);
        changed
            .map(|i| {
                let name = self.names.var(VarId(i as u32));
                format!("{name}: {} {arrow} {}", self.var(i, before[i]), self.var(i, after[i]))
            })
            .collect()
    }
}

/// Who does what where: `drive:92 on sensor -> Standing`.
fn show(done: &Done) -> String {
    let line = done.line.map_or(String::new(), |line| format!(":{line}"));
    let place = format!("{}{line}", done.who.as_deref().unwrap_or(""));
    format!("{place} {}", done.text).trim().to_string()
}
