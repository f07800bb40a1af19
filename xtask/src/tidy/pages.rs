//! The pages for people: files that they name exist, lines are of a length that editors show, and they are in plain English.

use super::Finding;
use std::path::Path;

/// Where paths begin that pages name.
const FOLDERS: [&str; 9] = [
    "core/",
    "device/",
    "host-cli/",
    "firmware/",
    "tests/",
    "xtask/",
    "fuzz/",
    "docs/",
    "benches/",
];

/// The most columns of a line of text.
const COLUMNS: usize = 140;

/// What sounds translated, and what to write instead.
const PHRASES: [(&str, &str); 6] = [
    ("for want of", "for lack of"),
    ("standstill", "deadlock"),
    ("stands for", "means"),
    ("all the same", "still"),
    ("goes on", "continues"),
    ("lest", "so that … not"),
];

/// What is wrong with the text of a page.
pub fn check(root: &Path, text: &str) -> Vec<Finding> {
    let mut findings = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let mut report = |message: String| findings.push(Finding { line: index + 1, message });
        // Every second piece is between backticks.
        for named in line.split('`').skip(1).step_by(2) {
            let is_path = FOLDERS.iter().any(|folder| named.starts_with(folder))
                && named.chars().all(|c| c.is_ascii_alphanumeric() || "/._-".contains(c));
            // What is built is not there before it is.
            let is_built = named.starts_with("firmware/out");
            if is_path && !is_built && !root.join(named).exists() {
                report(format!("there is no `{named}`"));
            }
        }
        let lower = line.to_lowercase();
        for (phrase, instead) in PHRASES.iter().filter(|(phrase, _)| has_words(&lower, phrase)) {
            report(format!("write `{instead}` instead of `{phrase}`"));
        }
    }
    findings
}

/// Lines that are too long. Rows of tables cannot be broken, and what is shown of code is as it is.
pub fn long_lines(text: &str) -> Vec<Finding> {
    let mut is_code = false;
    let is_long = |(index, line): (usize, &str)| {
        is_code ^= line.trim_start().starts_with("```");
        let is_text = !is_code && !line.starts_with('|') && !line.starts_with("    ");
        let is_long = is_text && line.chars().count() > COLUMNS;
        let message = format!("break the line: it has more than {COLUMNS} columns");
        is_long.then_some(Finding { line: index + 1, message })
    };
    text.lines().enumerate().filter_map(is_long).collect()
}

/// Whether a line has these words, and not only as parts of others.
fn has_words(line: &str, words: &str) -> bool {
    line.match_indices(words).any(|(at, _)| {
        let (before, after) =
            (line[..at].chars().next_back(), line[at + words.len()..].chars().next());
        ![before, after].into_iter().flatten().any(char::is_alphanumeric)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_are_not_there_are_found() {
        let root = crate::project::root();
        let messages = |text: &str| -> Vec<String> {
            check(root, text).into_iter().map(|finding| finding.message).collect()
        };
        assert_eq!(messages("see `core/src/lib.rs` and `docs/`"), [""; 0]);
        assert_eq!(messages("see `core/src/nowhere.rs`"), ["there is no `core/src/nowhere.rs`"]);
        assert_eq!(messages("`docs/NAME…`, `firmware/out/vouch-BOARD.elf`"), [""; 0]);
        assert_eq!(messages("It goes on."), ["write `continues` instead of `goes on`"]);
        assert_eq!(messages("the smallest"), [""; 0]);
    }

    #[test]
    fn lines_of_text_are_short() {
        let long = "word ".repeat(30);
        let lines = |text: &str| -> Vec<usize> {
            long_lines(text).into_iter().map(|finding| finding.line).collect()
        };
        assert_eq!(lines(&format!("short\n{long}")), [2]);
        assert_eq!(lines(&format!("```\n{long}\n```\n    {long}\n| {long}|\n{long}")), [6]);
    }
}
