//! Source texts and where they come from.
//!
//! The text of a model that is made of several files holds them all, the one that was named first; so one number is
//! enough to say where something is. Before each further file comes the character that ASCII has for it, and its
//! path on the rest of that line.

use std::path::Path;

/// ASCII's file separator.
const MARK: char = '\u{1c}';
/// Comes before each further file.
const SEPARATOR: &str = "\n\u{1c}";

/// A source text and where it comes from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// Its path, for messages.
    pub path: String,
    /// The text; empty if the source is a binary file. Further files follow.
    pub text: String,
}

/// One of the files of a source.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct File<'a> {
    /// Path for messages, as it is in the source's separator line for all but the first file.
    pub path: &'a str,
    /// Contents of this file alone, without separator and path.
    pub text: &'a str,
    /// Where that begins in the text of all.
    pub start: u32,
}

/// Where something is, for people.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Place<'a> {
    /// Path of the file that the byte lies in.
    pub path: &'a str,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1, in characters.
    pub column: usize,
}

impl Source {
    /// The file's name without its extension: what a model is called that has no name of its own.
    pub fn stem(&self) -> String {
        let stem = Path::new(&self.path).file_stem();
        stem.map_or_else(|| "circuit".into(), |s| s.to_string_lossy().into_owned())
    }

    /// Adds a file.
    pub fn add(&mut self, path: &str, text: &str) {
        let plain = |text: &str| text.replace(MARK, " ");
        self.text.push_str(SEPARATOR);
        self.text.push_str(&plain(path).replace('\n', " "));
        self.text.push('\n');
        self.text.push_str(&plain(text));
    }

    /// The text of the file that was named.
    pub fn main(&self) -> &str {
        self.file_at(0).text
    }

    /// All files, that which was named first.
    pub fn files(&self) -> impl Iterator<Item = File<'_>> {
        let mut start = 0;
        self.text.split(SEPARATOR).enumerate().map(move |(number, part)| {
            let here = start;
            start += part.len() + SEPARATOR.len();
            let (path, text) = match number {
                0 => (self.path.as_str(), part),
                _ => part.split_once('\n').unwrap_or((part, "")),
            };
            File { path, text, start: (here + part.len() - text.len()) as u32 }
        })
    }

    /// The file that a byte is in.
    pub fn file_at(&self, byte: u32) -> File<'_> {
        let first = File { path: &self.path, text: "", start: 0 };
        self.files().take_while(|file| file.start <= byte).last().unwrap_or(first)
    }

    /// Where a byte is.
    pub fn place(&self, byte: u32) -> Place<'_> {
        let file = self.file_at(byte);
        let (line, column) = crate::diagnostic::position(file.text, byte - file.start);
        Place { path: file.path, line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_follow_one_another() {
        let mut source = Source { path: "a.c".into(), text: "int a;".into() };
        assert_eq!(source.files().count(), 1);
        source.add("b.h", "int b;\n\u{1c}int c;\n");
        source.add("c.h", "");
        let paths: Vec<&str> = source.files().map(|file| file.path).collect();
        assert_eq!(paths, ["a.c", "b.h", "c.h"]);
        assert_eq!(source.main(), "int a;");
        let at = source.text.find("int c").unwrap() as u32;
        assert_eq!(source.place(at), Place { path: "b.h", line: 2, column: 2 });
        assert_eq!(source.place(4), Place { path: "a.c", line: 1, column: 5 });
    }
}
