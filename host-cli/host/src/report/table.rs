//! A counterexample as a table: one row for each step, with the state it leads to, who did what, the inputs of
//! the step and what it changed. Of a program, one block for each call, with a row for each place where something happens.

use super::rows::{Row, rows};
use super::{Paint, Style, count};
use crate::formats::Names;
use crate::ir::Cfa;
use crate::validate::Run;
use crate::words::Words;
use unicode_width::UnicodeWidthStr;

/// A run as a table, in the usual style, of a model without source.
pub fn run(cfa: &Cfa, run: &Run) -> String {
    run_in(cfa, &Words::new(cfa, None, &[]), run, &Style::default())
}

/// A run as a table.
pub fn run_in(cfa: &Cfa, words: &Words<'_>, run: &Run, style: &Style) -> String {
    let names = Names::new(cfa);
    let rows = rows(cfa, words, run, style, &names);
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
pub(super) struct Marks {
    across: &'static str,
    down: &'static str,
    cross: &'static str,
    pub(super) arrow: &'static str,
    more: &'static str,
    pub(super) gap: &'static str,
}

impl Marks {
    pub(super) fn of(style: &Style) -> Marks {
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

    /// The lines of one row. The numbers of steps are right-aligned.
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

/// Cut in the middle, because names differ at their ends, and values are there.
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
    use crate::ir::Word;
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
