//! Results as Markdown, for the summary of a CI job or a comment on a change.

use super::{Checked, Item, run_lines, run_of};
use crate::report::markup::escape;
use crate::report::text;
use crate::verdict::Verdict;

/// The table of all properties, and then the runs that break some.
pub fn write(items: &[Item]) -> String {
    let mut out = format!("## vouch: {}\n\n", total(items));
    out += "| model | property | requirements | verdict | |\n|---|---|---|---|---|\n";
    for item in items {
        rows(item, &mut out);
    }
    for item in items {
        details(item, &mut out);
    }
    out
}

/// How many models came out how.
pub fn total(items: &[Item]) -> String {
    let words: Vec<String> = items.iter().map(|item| item.checked.word()).collect();
    let parts = ["unsafe", "error", "unknown", "safe"].into_iter().filter_map(|word| {
        let n = words.iter().filter(|w| *w == word).count();
        (n > 0).then(|| format!("{n} {word}"))
    });
    let parts: Vec<String> = parts.collect();
    if parts.is_empty() { "nothing to check".into() } else { parts.join(", ") }
}

fn rows(item: &Item, out: &mut String) {
    let name = code(&item.name);
    match &item.checked {
        Checked::Failed(failed) => {
            let message = failed.error.message.lines().next().unwrap_or_default();
            *out += &format!("| {name} | | | ⚠️ error | {} |\n", plain(message));
        }
        Checked::Done(outcome) if outcome.properties.is_empty() => {
            let reason = outcome.reason.as_ref().map(ToString::to_string).unwrap_or_default();
            *out += &format!("| {name} | | | {} | {} |\n", mark(outcome.verdict), plain(&reason));
        }
        Checked::Done(outcome) => {
            for p in &outcome.properties {
                let ids: Vec<String> = p.requirements.iter().map(|id| plain(id)).collect();
                let because = text::because(p, outcome.validated);
                let because = if outcome.cached { format!("{because}, cached") } else { because };
                *out += &format!(
                    "| {name} | {} | {} | {} | {} |\n",
                    code(&p.name),
                    ids.join(", "),
                    mark(p.verdict),
                    plain(&because)
                );
            }
        }
    }
}

fn details(item: &Item, out: &mut String) {
    let Checked::Done(outcome) = &item.checked else { return };
    for p in &outcome.properties {
        let run = run_of(outcome, p);
        if run.is_empty() {
            continue;
        }
        let title = format!("{}: the run that breaks {}", item.name, p.name);
        *out += &format!("\n<details><summary>{}</summary>\n\n", escape(&title));
        // Indented, so that nothing in it ends it.
        for line in run_lines(run) {
            *out += &format!("    {line}\n");
        }
        *out += "\n</details>\n";
    }
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Safe => "✅ safe",
        Verdict::Unsafe => "❌ unsafe",
        Verdict::Unknown => "❔ unknown",
    }
}

/// A name in a cell.
pub fn code(text: &str) -> String {
    match text.contains('`') {
        true => plain(text),
        false => format!("`{}`", text.replace('|', "\\|").replace(['\n', '\r'], " ")),
    }
}

/// Text in a cell: what means something in Markdown is escaped.
pub fn plain(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '`' | '*' | '_' | '[' | ']' | '\\' => out.extend(['\\', c]),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::tests::items;

    #[test]
    fn a_page() {
        insta::assert_snapshot!(write(&items()));
        assert_eq!(total(&[]), "nothing to check");
    }

    #[test]
    fn nothing_leaves_its_cell() {
        assert_eq!(plain("a|b\n<c> `d` [e](f)"), "a\\|b &lt;c&gt; \\`d\\` \\[e\\](f)");
        assert_eq!(code("a|b"), "`a\\|b`");
        assert_eq!(code("`"), "\\`");
    }
}
