//! A counterexample as a table: one row for each state, with the inputs of the step that led there
//! and what it changed.

use super::{Paint, Style, count, value};
use crate::formats::Names;
use crate::ir::{Cfa, InputId, VarId, VarKind, Word};
use crate::validate::Run;
use unicode_width::UnicodeWidthStr;

/// More variables than this are not listed one by one where a run begins.
const MANY: usize = 24;

/// A run as a table, in the usual style.
pub fn run(cfa: &Cfa, run: &Run) -> String {
    run_in(cfa, run, &Style::default())
}

/// A run as a table.
pub fn run_in(cfa: &Cfa, run: &Run, style: &Style) -> String {
    let names = Names::new(cfa);
    let rows = Writer { cfa, run, style, names: &names }.rows();
    let has_inputs = rows.iter().any(|r| !r.inputs.is_empty());
    let marks = Marks::of(style);
    let columns = Columns::fit(&rows, has_inputs, style.width);

    let mut text = String::new();
    let head = [
        vec!["step".to_string()],
        vec!["location".to_string()],
        vec!["inputs".to_string()],
        vec!["changes".to_string()],
    ];
    for line in columns.lines(&head, &marks) {
        text.push_str(&style.paint(Paint::Heading, &line));
        text.push('\n');
    }
    text.push_str(&columns.rule(&marks));
    text.push('\n');
    for row in &rows {
        let location = abbreviate(&row.location, columns.widths[1], &marks);
        let cells = [
            vec![row.step.clone()],
            vec![location],
            flow(&row.inputs, columns.widths[2], &marks),
            flow(&row.changes, columns.widths[3], &marks),
        ];
        for line in columns.lines(&cells, &marks) {
            text.push_str(&line);
            text.push('\n');
        }
    }
    let steps = count(run.steps.len(), "step");
    let property = names.property(run.property);
    let last = format!("property {property} is broken after {steps}");
    text.push_str(&style.paint(Paint::Bad, &last));
    text.push('\n');
    text
}

struct Row {
    step: String,
    location: String,
    inputs: Vec<String>,
    changes: Vec<String>,
}

struct Writer<'a> {
    cfa: &'a Cfa,
    run: &'a Run,
    style: &'a Style,
    names: &'a Names,
}

impl Writer<'_> {
    /// The rows that are shown: of a long run the beginning and the end.
    fn rows(&self) -> Vec<Row> {
        let (n, most) = (self.run.states.len(), self.style.rows.max(4));
        if n <= most {
            return (0..n).map(|i| self.row(i)).collect();
        }
        let first = most / 2;
        let rest = n - (most - first);
        let mut rows: Vec<Row> = (0..first).map(|i| self.row(i)).collect();
        rows.push(Row {
            step: Marks::of(self.style).gap.into(),
            location: format!("({} more)", rest - first),
            inputs: vec![],
            changes: vec![],
        });
        rows.extend((rest..n).map(|i| self.row(i)));
        rows
    }

    fn row(&self, index: usize) -> Row {
        let state = &self.run.states[index];
        let inputs = match index.checked_sub(1) {
            None => vec![],
            Some(step) => {
                let inputs = &self.run.steps[step].inputs;
                inputs.iter().map(|(id, word)| self.input(*id, *word)).collect()
            }
        };
        let changes = match index {
            0 => self.parameters(),
            1 => self.beginning(),
            _ => self.changes(&self.run.states[index - 1].values, &state.values),
        };
        let location = self.names.location(state.location);
        Row { step: index.to_string(), location, inputs, changes }
    }

    fn input(&self, id: InputId, word: Word) -> String {
        let name = self.names.input(id);
        match self.cfa.inputs.get(id.index()) {
            Some(input) => format!("{name} = {}", value::show(&input.ty, input.width, word)),
            None => format!("{name} = {word}"),
        }
    }

    fn var(&self, index: usize, word: Word) -> String {
        let var = &self.cfa.vars[index];
        value::show(&var.ty, var.width, word)
    }

    fn assigned(&self, index: usize, word: Word) -> String {
        format!("{} = {}", self.names.var(VarId(index as u32)), self.var(index, word))
    }

    /// Where the run starts, only parameters mean something: variables are not initialised yet.
    fn parameters(&self) -> Vec<String> {
        let values = &self.run.states[0].values;
        self.cfa.params().map(|(id, _)| self.assigned(id.index(), values[id.index()])).collect()
    }

    /// After the first step all variables are told; of very many those that are not zero.
    fn beginning(&self) -> Vec<String> {
        let values = &self.run.states[1].values;
        let vars = self.cfa.vars.iter().enumerate();
        let state: Vec<usize> =
            vars.filter(|(_, v)| v.kind == VarKind::State).map(|(i, _)| i).collect();
        let told = |i: &&usize| state.len() <= MANY || values[**i] != 0;
        let mut all: Vec<String> =
            state.iter().filter(told).map(|i| self.assigned(*i, values[*i])).collect();
        if all.len() < state.len() {
            all.push(format!("{} are 0", count(state.len() - all.len(), "other")));
        }
        all
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
        let location = widest(&|r| r.location.width(), "location").min((terminal / 4).max(LEAST));
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
        let text = run_in(&cfa, &run, &Style { width: 60, unicode: false, ..Style::default() });
        no_line_is_untidy(&text, 60);
        insta::assert_snapshot!(text);
        // However narrow, nothing goes wrong.
        for width in 0..60 {
            run_in(&cfa, &run, &Style { width, ..Style::default() });
        }
    }

    #[test]
    fn a_long_run_is_cut_in_the_middle() {
        let (cfa, mut long) = sample();
        for _ in 0..300 {
            long.states.insert(3, long.states[3].clone());
            long.steps.insert(2, long.steps[2].clone());
        }
        let text = run_in(&cfa, &long, &Style { rows: 8, ..Style::default() });
        no_line_is_untidy(&text, 100);
        assert_eq!(text.lines().count(), 2 + 9 + 1);
        assert!(text.contains("⋮ │ (299 more)"), "{text}");
        assert!(text.contains("306 │"), "{text}");
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
        let text = run_in(&cfa, &run, &Style { width: 80, ..Style::default() });
        no_line_is_untidy(&text, 80);
        assert!(!text.contains('\x1b'));
        assert!(text.contains("others are 0"), "{text}");
    }
}
