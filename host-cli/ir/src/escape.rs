//! Texts from outside, made fit to be shown: none of them moves a cursor, ends a line or turns its direction.

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_moves_the_cursor() {
        assert_eq!(text("µ-bit Größe 日本 \\"), "µ-bit Größe 日本 \\");
        let forged = "x\r\n\x1b[2Kprecharge: safe\u{9b}\u{202e}\u{2028}\u{feff}";
        let shown = text(forged);
        assert_eq!(shown, "x\\r\\n\\u{1b}[2Kprecharge: safe\\u{9b}\\u{202e}\\u{2028}\\u{feff}");
        assert!(!shown.chars().any(is_active));
    }
}
