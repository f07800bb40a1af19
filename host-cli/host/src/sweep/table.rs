//! A sweep for people.

use super::file::{File, Part, Property};
use crate::report::{Style, count};
use crate::verdict::Verdict;
use std::fmt::Write;
use unicode_width::UnicodeWidthStr;

/// Evidence that is named in a line at most.
const NAMED: usize = 3;
/// Lines for one property.
const LINES: usize = 40;

/// The sweep as text: for each property the ranges with their verdicts and evidence.
pub fn show(file: &File, style: &Style) -> String {
    let swept = file.parameters.iter().map(|p| format!("{} = {}", p.name, p.show_range(p.range)));
    let mut text = format!("{}: {}", file.model, swept.collect::<Vec<_>>().join(", "));
    for (name, value) in &file.bindings {
        let _ = write!(text, ", with {name} = {value}");
    }
    if let Some(shard) = &file.shard {
        let _ = write!(text, ", part {shard}");
    }
    text.push('\n');
    for property in &file.properties {
        let _ = writeln!(text, "{}: {}", property.name, summary(property));
        text.push_str(&lines(file, property, style));
    }
    let _ = write!(text, "{} to the engine", count(file.checks, "question"));
    if file.reused > 0 {
        let _ = write!(text, "; an invariant was used again {}", count(file.reused, "time"));
    }
    let _ = writeln!(text, "; {:.1} s", file.time_s);
    text
}

/// What is known, in a few words.
fn summary(property: &Property) -> String {
    let verdicts = [Verdict::Safe, Verdict::Unsafe, Verdict::Unknown];
    let counts = verdicts.map(|verdict| (verdict, property.count(verdict)));
    let known: Vec<_> = counts.iter().filter(|(_, n)| *n > 0).collect();
    match known[..] {
        [(verdict, 1)] => format!("{verdict} for the only value"),
        [(verdict, n)] => format!("{verdict} for all {n} values"),
        _ => {
            let each = known.iter().map(|(verdict, n)| format!("{verdict} for {n}"));
            let value = if known.last().is_some_and(|(_, n)| *n == 1) { "value" } else { "values" };
            format!("{} {value}", each.collect::<Vec<_>>().join(", "))
        }
    }
}

fn lines(file: &File, property: &Property, style: &Style) -> String {
    let row = |part: &Part| {
        let sides = file.parameters.iter().zip(&part.values.sides);
        sides.map(|(p, range)| format!("{} = {}", p.name, p.show_range(*range))).collect()
    };
    let rows: Vec<Vec<String>> = property.ranges.iter().take(LINES).map(row).collect();
    let wide = |column: usize| {
        rows.iter().filter_map(|r| r.get(column)).map(|t| t.width()).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..file.parameters.len()).map(wide).collect();
    let mut text = String::new();
    for (row, part) in rows.iter().zip(&property.ranges) {
        text.push_str("  ");
        for (cell, wide) in row.iter().zip(&widths) {
            let blanks = wide.saturating_sub(cell.width()) + 2;
            let _ = write!(text, "{cell}{:blanks$}", "");
        }
        let verdict = style.paint_verdict(part.verdict, &format!("{:7}", part.verdict));
        let why = part.reason.clone().unwrap_or_else(|| evidence(part));
        let _ = writeln!(text, "{verdict}  {why}");
    }
    if property.ranges.len() > LINES {
        let _ = writeln!(text, "  and {} more, which JSON lists", property.ranges.len() - LINES);
    }
    text
}

fn evidence(part: &Part) -> String {
    let named = part.evidence.iter().take(NAMED).cloned().collect::<Vec<_>>().join(", ");
    match part.evidence.len().saturating_sub(NAMED) {
        0 => named,
        more => format!("{named} and {more} more"),
    }
}
