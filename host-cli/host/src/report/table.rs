//! A counterexample as a table: one row for each step, with the state it leads to, who did what, the inputs of
//! the step and what it changed. Of a program, one block for each call, with a row for each place where something happens.

use super::{Paint, Style, count, value};
use crate::formats::Names;
use crate::frontend::c::TASK;
use crate::ir::{Cfa, InputId, Type, VarId, VarKind, Word};
use crate::validate::Run;
use crate::words::{Done, Moment, Words};
use unicode_width::UnicodeWidthStr;

/// More variables or inputs than this are not listed one by one if they are 0.
const MANY: usize = 6;

/// A run as a table, in the usual style, of a model without source.
pub fn run(cfa: &Cfa, run: &Run) -> String {
    run_in(cfa, &Words::new(cfa, None, &[]), run, &Style::default())
}

/// A run as a table.
pub fn run_in(cfa: &Cfa, words: &Words<'_>, run: &Run, style: &Style) -> String {
    let names = Names::new(cfa);
    let rows = Writer { cfa, words, run, style, names: &names }.rows();
    let has_inputs = rows.iter().any(|r| !r.inputs.is_empty());
    let marks = Marks::of(style);
    let columns = Columns::fit(&rows, has_inputs, style.width);

    let mut text = String::new();
    let (unit, place) = match words.has_calls() {
        true => ("call", "place"),
        false => ("step", "state"),
    };
    let head = [unit, place, "inputs", "changes"].map(|title| vec![title.to_string()]);
    for line in columns.lines(&head, &marks) {
        text.push_str(&style.paint(Paint::Heading, &line));
        text.push('\n');
    }
    text.push_str(&columns.rule(&marks));
    text.push('\n');
    for row in &rows {
        let mut place: Vec<String> =
            row.place.iter().map(|p| abbreviate(p, columns.widths[1], &marks)).collect();
        place.extend(row.done.iter().map(|d| cut(d, columns.widths[1], &marks)));
        let cells = [
            vec![row.step.clone()],
            place,
            flow(&row.inputs, columns.widths[2], &marks),
            flow(&row.changes, columns.widths[3], &marks),
        ];
        for line in columns.lines(&cells, &marks) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    text.push_str(&reason(words, run, &names, style));
    text
}

/// How many steps a run has.
fn length(words: &Words<'_>, run: &Run) -> usize {
    words.moments(run).last().map_or(0, |moment| moment.step)
}

/// Why the property is broken, below the table.
fn reason(words: &Words<'_>, run: &Run, names: &Names, style: &Style) -> String {
    let why = words.why(run);
    let property = names.property(run.property);
    let length = length(words, run);
    let when = match words.has_calls() {
        true => format!("in call {length}"),
        false if words.fails_in_step(run.property) => format!("in step {length}"),
        false => format!("after {}", count(length, "step")),
    };
    let place = why.place.map_or(String::new(), |place| format!(" ({place})"));
    let last = format!("property {property} is broken {when}{place}");
    let mut text = format!("{}\n", style.paint(Paint::Bad, &last));
    if let Some(claim) = why.claim {
        text.push_str(&format!("  {claim}\n"));
    }
    if !why.values.is_empty() {
        let values: Vec<String> = why.values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        let width = style.width.saturating_sub(8).max(20);
        for (i, line) in flow(&values, width, &Marks::of(style)).iter().enumerate() {
            text.push_str(if i == 0 { "  with " } else { "       " });
            text.push_str(&format!("{line}\n"));
        }
    }
    text
}

#[derive(Default)]
struct Row {
    step: String,
    place: Option<String>,
    done: Vec<String>,
    inputs: Vec<String>,
    changes: Vec<String>,
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
            let gap = Row {
                step: Marks::of(self.style).gap.into(),
                place: Some(format!("({} more)", n - most)),
                ..Row::default()
            };
            rows.splice(first..n - (most - first), [gap]);
        }
        rows
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
            let changes = match moment.edge {
                0 => self.beginning(after),
                _ => self.changes(before, after),
            };
            let is_new = call != Some(moment.step);
            if !is_new && !moment.fails && inputs.is_empty() && changes.is_empty() {
                continue;
            }
            let mut done: Vec<String> = match moment.edge {
                0 => vec!["(start)".into()],
                _ => moment.done.iter().map(show).filter(|d| !d.is_empty()).collect(),
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
            rows.push(Row { step, place: None, done, inputs, changes });
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

/// Cut at the end.
fn cut(text: &str, width: usize, marks: &Marks) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let room = width.saturating_sub(marks.more.width());
    let mut short = String::new();
    for c in text.trim_end_matches('…').chars() {
        if short.width() + c.to_string().width() > room {
            break;
        }
        short.push(c);
    }
    short + marks.more
}

/// The characters that tables are drawn with.
struct Marks {
    across: &'static str,
    down: &'static str,
    cross: &'static str,
    arrow: &'static str,
    more: &'static str,
    gap: &'static str,
}

impl Marks {
    fn of(style: &Style) -> Marks {
        match style.unicode {
            true => Marks {
                across: "─", down: "│", cross: "┼", arrow: "→", more: "…", gap: "⋮"
            },
            false => {
                Marks { across: "-", down: "|", cross: "+", arrow: "->", more: "...", gap: "..." }
            }
        }
    }
}

struct Columns {
    widths: [usize; 4],
    has_inputs: bool,
}

impl Columns {
    /// As wide as they need to be, as far as the terminal allows.
    fn fit(rows: &[Row], has_inputs: bool, terminal: usize) -> Columns {
        const LEAST: usize = 12;
        let widest = |cell: &dyn Fn(&Row) -> usize, head: &str| {
            rows.iter().map(cell).max().unwrap_or(0).max(head.width())
        };
        let line = |items: &[String]| items.iter().map(|i| i.width() + 2).sum::<usize>();
        let step = widest(&|r| r.step.width(), "step");
        let place = |r: &Row| {
            let lines = r.place.iter().chain(&r.done);
            lines.map(|line| line.width()).max().unwrap_or(0)
        };
        let location = widest(&place, "place").min((terminal * 3 / 8).max(LEAST));
        let inputs = widest(&|r| line(&r.inputs).saturating_sub(2), "inputs");
        let changes = widest(&|r| line(&r.changes).saturating_sub(2), "changes");
        // A blank at the left, and " | " between columns.
        let taken = 1 + step + 3 + location + 3 + if has_inputs { 3 } else { 0 };
        let room = terminal.saturating_sub(taken).max(2 * LEAST);
        let (inputs, changes) = match has_inputs {
            false => (0, changes.min(room)),
            true if inputs + changes <= room => (inputs, changes),
            true => {
                // Half each; what one does not need goes to the other.
                let half = room / 2;
                let inputs = inputs.min(half.max(room.saturating_sub(changes)));
                (inputs, changes.min(room - inputs))
            }
        };
        Columns { widths: [step, location, inputs, changes], has_inputs }
    }

    fn shown(&self) -> impl Iterator<Item = usize> {
        let has_inputs = self.has_inputs;
        (0..4).filter(move |c| *c != 2 || has_inputs)
    }

    /// The lines of one row. The numbers of steps stand at the right of their column.
    fn lines(&self, cells: &[Vec<String>; 4], marks: &Marks) -> Vec<String> {
        let height = cells.iter().map(Vec::len).max().unwrap_or(0);
        let line = |i: usize| {
            let cell = |c: usize| {
                let text = cells[c].get(i).map_or("", String::as_str);
                let blanks = " ".repeat(self.widths[c].saturating_sub(text.width()));
                if c == 0 { format!("{blanks}{text}") } else { format!("{text}{blanks}") }
            };
            let cells: Vec<String> = self.shown().map(cell).collect();
            format!(" {}", cells.join(&format!(" {} ", marks.down))).trim_end().to_string()
        };
        (0..height).map(line).collect()
    }

    fn rule(&self, marks: &Marks) -> String {
        let part = |c: usize| {
            let extra = if c == 3 { 1 } else { 2 };
            marks.across.repeat(self.widths[c] + extra)
        };
        self.shown().map(part).collect::<Vec<_>>().join(marks.cross)
    }
}

/// Items one after the other, in lines of at most this width. An item that needs more than a line is
/// broken at its blanks and continues a little to the right.
fn flow(items: &[String], width: usize, marks: &Marks) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for (i, item) in items.iter().enumerate() {
        let comma = if i + 1 < items.len() { "," } else { "" };
        let item = format!("{item}{comma}");
        match lines.last_mut() {
            Some(line) if line.width() + 1 + item.width() <= width => {
                line.push_str(&format!(" {item}"));
                continue;
            }
            _ => lines.push(String::new()),
        }
        for (j, word) in item.split(' ').enumerate() {
            let line = lines.len() - 1;
            let room = width.saturating_sub(lines[line].width() + 1);
            if j > 0 && word.width() <= room {
                lines[line].push_str(&format!(" {word}"));
            } else if j == 0 {
                lines[line] = abbreviate(word, width, marks);
            } else {
                lines.push(format!("  {}", abbreviate(word, width.saturating_sub(2), marks)));
            }
        }
    }
    lines
}

/// Cut in the middle, for names differ at their ends and values stand there.
fn abbreviate(text: &str, width: usize, marks: &Marks) -> String {
    if text.width() <= width {
        return text.to_string();
    }
    let room = width.saturating_sub(marks.more.width());
    let take = |chars: &mut dyn Iterator<Item = char>, room: usize| {
        let mut taken = vec![];
        let mut used = 0;
        for c in chars {
            used += c.to_string().width();
            if used > room {
                break;
            }
            taken.push(c);
        }
        taken
    };
    let start = take(&mut text.chars(), room / 2);
    let mut end = take(&mut text.chars().rev(), room - room / 2);
    end.reverse();
    start.into_iter().chain(marks.more.chars()).chain(end).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::replay;
    use vouch_ir::sample::*;

    fn sample() -> (Cfa, Run) {
        let cfa = timer(true);
        let run = replay(&cfa, &timer_trace()).unwrap();
        (cfa, run)
    }

    fn shown(cfa: &Cfa, run: &Run, style: &Style) -> String {
        run_in(cfa, &Words::new(cfa, None, &[]), run, style)
    }

    fn no_line_is_untidy(text: &str, width: usize) {
        for line in text.lines() {
            assert_eq!(line.trim_end(), line);
            assert!(line.width() <= width, "{line}");
        }
    }

    #[test]
    fn a_counterexample() {
        let (cfa, run_) = sample();
        let text = run(&cfa, &run_);
        no_line_is_untidy(&text, 100);
        insta::assert_snapshot!(text);
    }

    #[test]
    fn a_narrow_terminal() {
        let (cfa, run) = sample();
        let text = shown(&cfa, &run, &Style { width: 60, unicode: false, ..Style::default() });
        no_line_is_untidy(&text, 60);
        insta::assert_snapshot!(text);
        // However narrow, nothing goes wrong.
        for width in 0..60 {
            shown(&cfa, &run, &Style { width, ..Style::default() });
        }
    }

    #[test]
    fn a_long_run_is_cut_in_the_middle() {
        let (cfa, mut long) = sample();
        for _ in 0..300 {
            long.states.insert(3, long.states[3].clone());
            long.steps.insert(2, long.steps[2].clone());
        }
        let text = shown(&cfa, &long, &Style { rows: 8, ..Style::default() });
        no_line_is_untidy(&text, 100);
        assert_eq!(text.lines().count(), 2 + 9 + 2);
        assert!(text.contains("⋮ │ (297 more)"), "{text}");
        assert!(text.contains("304 │"), "{text}");
    }

    #[test]
    fn very_many_variables_and_odd_names() {
        let (mut cfa, mut run) = sample();
        for i in 0..40 {
            cfa.add_var(state_var(
                &format!("latch\x1b[31m {i} 漢字"),
                8,
                crate::ir::Type::Unsigned,
            ));
        }
        for (i, state) in run.states.iter_mut().enumerate() {
            state.values.extend((0..40).map(|v| ((v + i) % 20 == 0) as Word * 200));
        }
        let text = shown(&cfa, &run, &Style { width: 80, ..Style::default() });
        no_line_is_untidy(&text, 80);
        assert!(!text.contains('\x1b'));
        assert!(text.contains("others are 0"), "{text}");
    }
}
