//! Workflow commands of GitHub actions: what is found is shown at the lines of a change.

use super::Item;
use crate::escape;

/// One command for each finding.
pub fn write(items: &[Item]) -> String {
    let mut out = String::new();
    for finding in items.iter().flat_map(Item::findings) {
        let level = if finding.is_error { "error" } else { "warning" };
        let mut about = format!("file={}", property(finding.path));
        if let Some((line, column)) = finding.place {
            about += &format!(",line={line},col={column}");
        }
        about += &format!(",title={}", property(&format!("vouch: {}", finding.rule)));
        out += &format!("::{level} {about}::{}\n", data(&finding.message));
    }
    out
}

/// Text after the second pair of colons.
fn data(text: &str) -> String {
    escape::text(&text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A"))
}

/// Text of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::tests::items;

    #[test]
    fn commands_for_all_that_is_not_proved() {
        let text = write(&items());
        insta::assert_snapshot!(text);
        assert!(!text.contains("fine"), "what is proved needs no attention");
    }

    /// A message can't begin a command of its own.
    #[test]
    fn one_line_for_each() {
        assert_eq!(write(&items()).lines().count(), 4);
        assert_eq!(data("50%\n::error::x"), "50%25%0A::error::x");
        assert_eq!(property("a:b,c"), "a%3Ab%2Cc");
        assert_eq!(data("\x1b[2Jx"), "\\u{1b}[2Jx");
    }
}
