//! An explanation of an invariant, as text.

use super::{Paint, Style};
use crate::explain::{Explanation, LINES};
use std::slice::from_ref;
use unicode_width::UnicodeWidthStr;

/// What holds, place by place; what is beyond a screen is counted, unless `all` of it is wanted.
pub fn text(explanation: &Explanation, style: &Style, all: bool) -> String {
    let mut lines: Vec<String> = vec![];
    for paragraph in &explanation.paragraphs {
        if paragraph.facts.is_empty() {
            lines.extend(wrapped("never reached:", from_ref(&paragraph.place), style.width));
            continue;
        }
        lines.extend(wrapped(&format!("{}:", paragraph.place), &paragraph.facts, style.width));
    }
    if !explanation.passed.is_empty() {
        lines.extend(wrapped("only passed through:", from_ref(&explanation.passed), style.width));
    }
    // The heading and the last line belong to the screen.
    let most = if all { usize::MAX } else { LINES - 2 };
    let left = lines.len().saturating_sub(most);
    lines.truncate(most);
    let last = match (explanation.is_inductive, left) {
        (_, 1..) => format!("({left} more lines: all with `-v`; only all together prove it)"),
        (true, 0) => "(each line follows from the invariant; together they prove it)".into(),
        (false, 0) => {
            "(each line follows from the invariant; together they are not inductive)".to_string()
        }
    };
    let mut text = format!("{}\n", style.paint(Paint::Heading, "What holds in every run:"));
    for line in lines.iter().chain([&last]) {
        text.push_str(&format!("  {line}\n"));
    }
    text
}

/// A title and items after it, in lines that are no wider than the terminal.
fn wrapped(title: &str, items: &[String], width: usize) -> Vec<String> {
    let room = width.saturating_sub(2).max(30);
    let mut lines = vec![title.to_string()];
    for (i, item) in items.iter().enumerate() {
        let item = format!("{item}{}", if i + 1 < items.len() { "," } else { "" });
        let last = lines.len() - 1;
        match lines[last].width() + 1 + item.width() <= room {
            true => lines[last].push_str(&format!(" {item}")),
            false => lines.push(format!("    {item}")),
        }
    }
    lines
}
