//! A run of several machines as a sequence chart: a line of life for each machine, what it does on the way, and who has
//! received what from whom.
//!
//! Machines speak by variables and states. One receives what another has changed when it takes the first transition since
//! that reads it, in its guard, in what is done, or in a function that is called there.

use super::markup::escape;
use crate::formats::Names;
use crate::ir::{Cfa, VarId, value};
use crate::validate::{Run, State};
use crate::words::Words;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

/// Between two lines of life, and between two steps.
const COLUMN: f64 = 300.0;
const ROW: f64 = 52.0;
/// Left of the first line: the step's number.
const LEFT: f64 = 190.0;
const TOP: f64 = 64.0;
/// Letters of a transition, and of what is received.
const LONGEST: usize = 42;
const MESSAGE: usize = 26;

/// In a page there are other pictures, too.
const STYLE: &str = "\
.sequence text{font-family:-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2933;text-anchor:middle}\
.sequence .machine{font-size:14px;font-weight:600}.sequence .life{stroke:#9fb3c8;stroke-dasharray:4 4}\
.sequence .moved{fill:#eef4fb;stroke:#3e7cb1;stroke-width:1.5}.sequence .name{font-size:12px;font-weight:600}\
.sequence .code{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:10px;fill:#52606d}\
.sequence .message{stroke:#c77d0a;stroke-width:1.4;fill:none}.sequence .received{font-size:10px;fill:#8a5a00}\
.sequence .step{font-size:11px;fill:#52606d}.sequence .broken{font-size:12px;font-weight:600;fill:#b42318}";

/// What a machine does in a step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Act {
    /// The machine's number.
    pub machine: usize,
    /// The transition, as it is written.
    pub text: String,
    /// Where it is then.
    pub state: String,
}

/// Something that one machine has changed and another takes up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Message {
    /// Who has changed it, and the row.
    pub from: (usize, usize),
    /// Who takes it up, and the row.
    pub to: (usize, usize),
    /// What it is then.
    pub text: String,
}

/// What is drawn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Chart {
    /// Names of the machines.
    pub machines: Vec<String>,
    /// For each step: its number, and what machines do.
    pub rows: Vec<(usize, Vec<Act>)>,
    /// Who has received what.
    pub messages: Vec<Message>,
    /// What does not hold in the last row, if the run fails there and not between steps.
    pub broken: Option<String>,
}

/// Something that has changed, and what it is then.
struct Change {
    /// Who has changed it; `None` if that is not known.
    by: Option<usize>,
    name: String,
    text: String,
}

/// The last change of something that is known by its name.
struct News {
    by: usize,
    row: usize,
    text: String,
    /// Who has taken it up.
    taken: BTreeSet<usize>,
}

/// The chart of a run; `None` unless there are several machines.
pub fn of_run(cfa: &Cfa, words: &Words<'_>, run: &Run) -> Option<Chart> {
    let machines: Vec<String> = words.machines().iter().map(|m| m.name.clone()).collect();
    if machines.len() < 2 {
        return None;
    }
    let mut chart = Chart { machines, ..Chart::default() };
    let mut news: BTreeMap<String, News> = BTreeMap::new();
    for moment in words.moments(run).into_iter().filter(|m| m.step > 0) {
        let row = chart.rows.len();
        let edge = run.steps.get(moment.edge)?.edge;
        let before = run.states.get(moment.edge)?;
        let after = run.states.get(moment.edge + 1).filter(|_| !moment.fails).unwrap_or(before);
        let states = words.states(after.location)?;
        let mut acts: Vec<Act> = vec![];
        for done in &moment.done {
            let machine = chart.machines.iter().position(|m| Some(m) == done.who.as_ref());
            let Some(machine) = machine else { continue };
            let state = states.get(machine).map_or(String::new(), |s| s.1.clone());
            acts.push(Act { machine, text: done.text.clone(), state });
        }
        if moment.fails {
            let claim = moment.done.iter().find(|done| done.who.is_none());
            chart.broken = Some(claim.map_or(String::new(), |done| done.text.clone()));
        }
        let mut changes = changes(cfa, words, &chart.machines, before, after, &acts);
        for act in &acts {
            // What was changed in an earlier step, and what is seen of this one.
            let seen = |by: usize| by != act.machine && words.sees_at_once(act.machine, by);
            let now = changes.extract_if(.., |change| change.by.is_some_and(seen));
            note(&mut news, now.collect(), row);
            for (name, news) in &mut news {
                if news.by != act.machine
                    && words.reads(edge, act.machine, name)
                    && news.taken.insert(act.machine)
                {
                    let (from, to) = ((news.by, news.row), (act.machine, row));
                    chart.messages.push(Message { from, to, text: news.text.clone() });
                }
            }
        }
        note(&mut news, changes, row);
        chart.rows.push((moment.step, acts));
    }
    Some(chart)
}

/// What has changed in a step.
fn changes(
    cfa: &Cfa,
    words: &Words<'_>,
    machines: &[String],
    before: &State,
    after: &State,
    acts: &[Act],
) -> Vec<Change> {
    let names = Names::new(cfa);
    let mut changes = vec![];
    for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
        let word = after.values[id.index()];
        if before.values[id.index()] == word {
            continue;
        }
        let name = names.var(id);
        let owner = name.split_once('.').map(|(machine, _)| machine);
        let owner = owner.and_then(|owner| machines.iter().position(|m| m == owner));
        // What belongs to nobody was changed by the only one that moved.
        let by = owner.or(match acts {
            [only] => Some(only.machine),
            _ => None,
        });
        let text = format!("{name} = {}", value::show(&var.ty, var.width, word));
        changes.push(Change { by, name, text });
    }
    let (old, new) = (words.states(before.location), words.states(after.location));
    for (machine, (old, new)) in old.iter().flatten().zip(new.iter().flatten()).enumerate() {
        if old != new {
            let (name, text) = (format!("{}.{}", new.0, new.1), format!("in {}", new.1));
            changes.push(Change { by: Some(machine), name, text });
        }
    }
    changes
}

/// Records changes as the last of their variables, each with the row that it is in.
fn note(news: &mut BTreeMap<String, News>, changes: Vec<Change>, row: usize) {
    for Change { by, name, text } in changes {
        match by {
            Some(by) => news.insert(name, News { by, row, text, taken: BTreeSet::new() }),
            None => news.remove(&name),
        };
    }
}

fn short(text: &str, letters: usize) -> String {
    match text.chars().count() > letters {
        true => text.chars().take(letters - 1).chain(['…']).collect(),
        false => text.to_string(),
    }
}

/// The chart as an SVG file.
pub fn draw(title: &str, chart: &Chart) -> String {
    let x = |machine: usize| LEFT + COLUMN * machine as f64;
    let y = |row: usize| TOP + 30.0 + ROW * row as f64;
    let width = LEFT + COLUMN * chart.machines.len().saturating_sub(1) as f64 + LEFT;
    let height = y(chart.rows.len()) + 10.0;
    let mut out = String::new();
    // Writing into a string has no way to fail.
    let _ = writeln!(
        out,
        "<svg class=\"sequence\" xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" viewBox=\"0 0 {width:.0} \
         {height:.0}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n<defs><marker id=\"takes\" viewBox=\"0 0 8 8\" \
         refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0.5L7.5 4L0 7.5z\" \
         fill=\"#c77d0a\"/></marker></defs>\n<rect width=\"100%\" height=\"100%\" fill=\"#f7f9fb\"/>",
        escape(title)
    );
    for (machine, name) in chart.machines.iter().enumerate() {
        let (x, bottom) = (x(machine), height - 10.0);
        let _ = writeln!(
            out,
            "<text class=\"machine\" x=\"{x:.1}\" y=\"{:.1}\">{}</text><path class=\"life\" d=\"M{x:.1} {TOP:.1}V{bottom:.1}\"/>",
            TOP - 14.0,
            escape(name)
        );
    }
    for message in &chart.messages {
        let (from, to) =
            ((x(message.from.0), y(message.from.1)), (x(message.to.0), y(message.to.1)));
        // From the edge of a box to the edge of the other.
        let side = if to.0 > from.0 { 52.0 } else { -52.0 };
        let (from, to) = ((from.0 + side, from.1), (to.0 - side, to.1));
        let middle = ((from.0 + to.0) / 2.0, (from.1 + to.1) / 2.0 - 5.0);
        let _ = writeln!(
            out,
            "<path class=\"message\" marker-end=\"url(#takes)\" d=\"M{:.1} {:.1}L{:.1} {:.1}\"/>\
             <text class=\"received\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
            from.0,
            from.1,
            to.0,
            to.1,
            middle.0,
            middle.1,
            escape(&short(&message.text, MESSAGE))
        );
    }
    for (row, (step, acts)) in chart.rows.iter().enumerate() {
        let y = y(row);
        let _ = writeln!(out, "<text class=\"step\" x=\"24\" y=\"{:.1}\">{step}</text>", y + 4.0);
        for act in acts {
            let x = x(act.machine);
            let _ = writeln!(
                out,
                "<rect class=\"moved\" x=\"{:.1}\" y=\"{:.1}\" width=\"104\" height=\"22\" rx=\"6\"/>\
                 <text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\">{}</text><text class=\"code\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
                x - 52.0,
                y - 11.0,
                y + 4.0,
                escape(&short(&act.state, 14)),
                y + 23.0,
                escape(&short(&act.text, LONGEST))
            );
        }
    }
    if let Some(claim) = &chart.broken {
        let y = y(chart.rows.len().saturating_sub(1)) + 4.0;
        let _ = writeln!(
            out,
            "<text class=\"broken\" x=\"{:.1}\" y=\"{y:.1}\">fails: {}</text>",
            width / 2.0,
            escape(&short(claim, LONGEST))
        );
    }
    out.push_str("</svg>\n");
    out
}
