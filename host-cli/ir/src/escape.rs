//! Texts from outside, made fit to be shown: none of them moves a cursor, ends a line or turns its direction.

use std::borrow::Cow;
use std::fmt::Write;

/// Whether a character does something else than to show itself.
pub fn is_active(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{feff}')
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}')
        || matches!(c, '\u{2060}'..='\u{206f}' | '\u{fff9}'..='\u{fffb}')
}

/// The text with such characters escaped.
pub fn text(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_active(c) {
            // A string takes whatever it is given.
            true => write!(shown, "{}", c.escape_default()).unwrap_or_default(),
            false => shown.push(c),
        }
    }
    shown
}

/// Several lines that are shown as they are, but for such characters. Ends of lines and tabs stay, and so does what sets `colours` where there are any.
pub fn lines(text: &str, colours: bool) -> Cow<'_, str> {
    if !text.chars().any(|c| is_active(c) && !matches!(c, '\n' | '\t')) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = match c {
            '\x1b' if colours => colour(rest).unwrap_or(0),
            c if is_active(c) && !matches!(c, '\n' | '\t') => 0,
            c => c.len_utf8(),
        };
        match rest.split_at_checked(length) {
            Some((kept, after)) if length > 0 => {
                shown.push_str(kept);
                rest = after;
            }
            _ => {
                write!(shown, "{}", c.escape_default()).unwrap_or_default();
                rest = rest.strip_prefix(c).unwrap_or_default();
            }
        }
    }
    shown.into()
}

/// How long the sequence is that sets a colour at the beginning of a text.
fn colour(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let after = numbers.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';');
    Some(text.len() - after.strip_prefix('m')?.len())
}

/// The same JSON text, in which such characters are escaped as JSON does it: some of them it takes as they are.
pub fn json(text: &str) -> Cow<'_, str> {
    let is_raw = |c: char| is_active(c) && !c.is_ascii_whitespace();
    if !text.contains(is_raw) {
        return text.into();
    }
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        match is_raw(c) {
            // None of them needs two of these.
            true => write!(shown, "\\u{:04x}", c as u32).unwrap_or_default(),
            false => shown.push(c),
        }
    }
    shown.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_keep_colours_and_nothing_else() {
        let plain = "error: x\n\tµ 日本";
        assert!(matches!(lines(plain, false), Cow::Borrowed(same) if same == plain));
        let coloured = "\x1b[31;1merror\x1b[0m: \x1b[2J\x1b]0;title\x07\r\u{9b}2J\x1b[31\n\x1b";
        assert_eq!(
            lines(coloured, true),
            "\x1b[31;1merror\x1b[0m: \\u{1b}[2J\\u{1b}]0;title\\u{7}\\r\\u{9b}2J\\u{1b}[31\n\\u{1b}"
        );
        assert_eq!(lines("\x1b[31mx", false), "\\u{1b}[31mx");
    }

    #[test]
    fn json_means_the_same() {
        let written = "{\n  \"name\": \"a\x7f\u{9b}2J\u{202e}\\u001b\\\"\\n\u{feff}µ\"\n}";
        let shown = json(written);
        assert!(!shown.chars().any(|c| is_active(c) && c != '\n'), "{shown}");
        assert!(shown.contains("a\\u007f\\u009b2J\\u202e\\u001b\\\"\\n\\ufeffµ"), "{shown}");
        assert_eq!(json("{\"a\": 1}\n"), "{\"a\": 1}\n");
        // Each fits four digits.
        assert!(!('\u{10000}'..=char::MAX).any(is_active));
    }

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(text("µ-bit Größe 日本 \\"), "µ-bit Größe 日本 \\");
        let forged = "x\r\n\x1b[2Kprecharge: safe\u{9b}\u{202e}\u{2028}\u{feff}";
        let shown = text(forged);
        assert_eq!(shown, "x\\r\\n\\u{1b}[2Kprecharge: safe\\u{9b}\\u{202e}\\u{2028}\\u{feff}");
        assert!(!shown.chars().any(is_active));
    }
}
