//! Text in pages, pictures and XML.

/// Text as it is written between tags or in a quoted attribute. Characters that XML does not allow, and those that would
/// break a line, become blanks.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\u{fffe}' | '\u{ffff}' => out.push(' '),
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}

/// The same for text of several lines.
pub fn escape_lines(text: &str) -> String {
    text.lines().map(escape).collect::<Vec<String>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_a_tag_or_an_attribute() {
        assert_eq!(escape("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
        assert_eq!(escape("a\0b\nc\u{1b}d\u{ffff}e"), "a b c d e");
        assert_eq!(escape_lines("a\r\n<\nb\n"), "a\n&lt;\nb");
    }
}
