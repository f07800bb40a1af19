//! A source file, and the same with everything blanked out that is not code, or not code that ships.
//!
//! Blanking keeps line breaks, so that a position in one text is the same line in the other.

/// A source file.
#[derive(Clone, Debug)]
pub struct Source {
    /// Where it is, from the top of the source tree.
    pub path: String,
    /// Its text as it is in the file.
    pub text: String,
    /// Its text without comments, literals and tests.
    pub code: String,
}

impl Source {
    /// Reads a file.
    pub fn new(path: &str, text: &str) -> Source {
        let code = if is_test(path) { blank(text) } else { without_tests(&without_literals(text)) };
        Source { path: path.to_owned(), text: text.to_owned(), code }
    }

    /// Lines of code, numbered from 1.
    pub fn lines(&self) -> impl Iterator<Item = (usize, &str)> {
        self.code.lines().enumerate().map(|(index, line)| (index + 1, line))
    }
}

/// Whether all of a file is tests.
fn is_test(path: &str) -> bool {
    let mut parts = path.split('/').rev();
    let file = parts.next().unwrap_or_default();
    file == "tests.rs" || file.ends_with("_tests.rs") || parts.any(|part| part == "tests")
}

fn blank(text: &str) -> String {
    text.chars().map(|c| if c == '\n' { c } else { ' ' }).collect()
}

/// Blanks comments, strings and characters.
fn without_literals(text: &str) -> String {
    let mut code = String::with_capacity(text.len());
    let mut rest = text;
    let mut before = ' ';
    while let Some(c) = rest.chars().next() {
        let word = before.is_alphanumeric() || before == '_';
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if c == '"' {
            string(rest)
        } else if let Some(len) = raw_string(rest).filter(|_| !word) {
            len
        } else if c == '\'' {
            character(rest)
        } else {
            0
        };
        if len > 0 {
            code.push_str(&blank(&rest[..len]));
            rest = &rest[len..];
            before = ' ';
        } else {
            code.push(c);
            rest = &rest[c.len_utf8()..];
            before = c;
        }
    }
    code
}

/// Length of the comment that `text` starts with; they nest.
fn block_comment(text: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < text.len() {
        let rest = &text.as_bytes()[at..];
        if rest.starts_with(b"/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with(b"*/") {
            (depth, at) = (depth - 1, at + 2);
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Length of the string that `text` starts with.
fn string(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Length of the raw string that `text` starts with, if it does.
fn raw_string(text: &str) -> Option<usize> {
    let start = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = start.len() - start.trim_start_matches('#').len();
    let content = start[hashes..].strip_prefix('"')?;
    let end = format!("\"{}", "#".repeat(hashes));
    let head = text.len() - content.len();
    Some(content.find(&end).map_or(text.len(), |at| head + at + end.len()))
}

/// Length of the character literal that `text` starts with; 0 if that is a lifetime.
fn character(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    match chars.next() {
        // The character after the backslash may itself be a quote.
        Some((_, '\\')) => match text.get(3..).and_then(|tail| tail.find('\'')) {
            Some(at) => at + 4,
            None => 0,
        },
        Some(_) => match chars.next() {
            Some((at, '\'')) => at + 1,
            _ => 0,
        },
        None => 0,
    }
}

/// Blanks items that exist only in tests. `code` has no literals.
fn without_tests(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = ["#[cfg(test)]", "#[cfg(all(test", "#[test]"]
        .iter()
        .filter_map(|attribute| rest.find(attribute))
        .min()
    {
        let len = item(&rest[at..]);
        kept.push_str(&rest[..at]);
        kept.push_str(&blank(&rest[at..at + len]));
        rest = &rest[at + len..];
    }
    kept + rest
}

/// Length of the item that `code` starts with: up to the semicolon or the closing brace.
fn item(code: &str) -> usize {
    let mut depth = 0usize;
    for (at, c) in code.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            ';' if depth == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> String {
        let code = Source::new("core/src/x.rs", text).code;
        assert_eq!(code.lines().count(), text.lines().count());
        code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn literals_and_comments_are_no_code() {
        assert_eq!(words("a // b\nc /* d /* e */ f\n */ g"), "a c g");
        assert_eq!(words(r#"a("b \" c", 'd', '\'', '\u{1F}', &'e f)"#), "a( , , , , &'e f)");
        assert_eq!(words("a(r#\"b \" c\"#, br\"d\\\", for\"e\")"), "a( , , for )");
        assert_eq!(
            words("fn f<'a>(x: &'a str, c: char) { '\"' } b"),
            words("fn f<'a>(x: &'a str, c: char) {     } b")
        );
        assert_eq!(words("a \"never closed\n b"), "a");
    }

    #[test]
    fn tests_are_no_code() {
        assert_eq!(words("a\n#[cfg(test)]\nmod tests {\n fn f() { b }\n}\nc"), "a c");
        assert_eq!(words("a\n#[cfg(all(test, feature = \"x\"))]\nmod tests;\nc"), "a c");
        assert_eq!(words("#[test]\nfn f() -> T { \"}\" }\nc"), "c");
        for path in ["tests/src/a.rs", "core/src/session/tests.rs", "host-cli/host/src/a_tests.rs"]
        {
            assert_eq!(Source::new(path, "a\nb").code.trim(), "");
        }
    }
}
