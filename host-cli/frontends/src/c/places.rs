//! From a preprocessed text back to where things stand in the files.

use super::preprocess::{line_starts, marker};
use super::{DataModel, Fail, fail};
use crate::Source;
use std::collections::HashMap;
use vouch_ir::Span;

/// What the name of a preprocessed unit among the files of a source begins with.
const UNIT: char = '=';

/// Whether a source has preprocessed units.
pub fn has_units(source: &Source) -> bool {
    source.files().any(|file| file.start > 0 && file.path.starts_with(UNIT))
}

/// Adds a preprocessed unit to a source.
pub fn add_unit(source: &mut Source, path: &str, model: DataModel, text: &str) {
    source.add(&format!("{UNIT}{} {path}", model.name()), text);
}

/// The units of a source as one text, and where its lines come from.
#[derive(Clone, Debug)]
pub struct Places {
    /// All units, one behind the other.
    pub text: String,
    /// The data model.
    pub model: DataModel,
    /// Where each begins, and its path.
    pub units: Vec<(u32, String)>,
    /// For each line of the text: where it begins, and what it is in its file.
    lines: Vec<(u32, Origin)>,
    files: Vec<Known>,
}

/// A line of a file.
#[derive(Clone, Copy, Debug)]
struct Origin {
    file: usize,
    /// From 0.
    line: u32,
}

/// A file that lines of the text come from.
#[derive(Clone, Debug)]
struct Known {
    /// Its name, without folders.
    name: String,
    /// Where its lines begin in the source, and its end.
    starts: Vec<u32>,
}

impl Places {
    /// Of a source that has units.
    pub fn of(source: &Source) -> Result<Option<Places>, Fail> {
        let mut files = vec![];
        let mut by_path: HashMap<&str, usize> = HashMap::new();
        let (units, rest): (Vec<_>, Vec<_>) =
            source.files().partition(|file| file.start > 0 && file.path.starts_with(UNIT));
        if units.is_empty() {
            return Ok(None);
        }
        for file in rest {
            let mut starts: Vec<u32> =
                line_starts(file.text).into_iter().map(|start| start + file.start).collect();
            starts.push(file.start + file.text.len() as u32 + 1);
            by_path.entry(file.path).or_insert(files.len());
            let name = file.path.rsplit(['/', '\\']).next().unwrap_or(file.path).to_string();
            files.push(Known { name, starts });
        }
        let mut places = Places {
            text: String::new(),
            model: DataModel::default(),
            units: vec![],
            lines: vec![],
            files,
        };
        for unit in units {
            let header = unit.path.trim_start_matches(UNIT);
            let (model, path) = header.split_once(' ').unwrap_or((header, ""));
            places.model = model.parse().map_err(|e: String| fail(e, Span::default(), ""))?;
            places.units.push((places.text.len() as u32, path.to_string()));
            places.read(unit.text, &by_path);
        }
        Ok(Some(places))
    }

    /// Reads the line markers of a unit.
    fn read(&mut self, unit: &str, by_path: &HashMap<&str, usize>) {
        let mut origin = Origin { file: 0, line: 0 };
        for line in unit.split_inclusive('\n') {
            self.lines.push((self.text.len() as u32, origin));
            self.text.push_str(line);
            match marker(line) {
                Some((number, path)) => {
                    let file = by_path.get(path).copied().unwrap_or(0);
                    origin = Origin { file, line: number.saturating_sub(1) };
                }
                None => origin.line += 1,
            }
        }
    }

    fn line_at(&self, at: u32) -> Option<(u32, Origin)> {
        let line = self.lines.partition_point(|l| l.0 <= at).saturating_sub(1);
        self.lines.get(line).copied()
    }

    /// The span in the source for one in the text.
    pub fn original(&self, span: Span) -> Span {
        let start = self.position(span.start);
        let end = self.position(span.end.max(span.start));
        Span { start, end: end.max(start) }
    }

    /// The line of the file that was named, from 1, of a place in the text; none if it is another file's.
    pub fn main_line(&self, at: u32) -> Option<usize> {
        let (_, origin) = self.line_at(at)?;
        (origin.file == 0).then_some(origin.line as usize + 1)
    }

    /// The line of a place in the text, with the file if it is not the one that was named.
    pub fn line(&self, at: u32) -> String {
        let Some((_, Origin { file, line })) = self.line_at(at) else { return "1".into() };
        let name = self.files.get(file).filter(|_| file > 0).map(|file| format!("{}:", file.name));
        format!("{}{}", name.unwrap_or_default(), line + 1)
    }

    fn position(&self, at: u32) -> u32 {
        let Some((start, origin)) = self.line_at(at) else { return 0 };
        let Some(file) = self.files.get(origin.file) else { return 0 };
        let last = file.starts.last().copied().unwrap_or(0);
        let first = file.starts.get(origin.line as usize).copied().unwrap_or(last);
        let next = file.starts.get(origin.line as usize + 1).copied().unwrap_or(first + 1);
        // Macros may have made the line longer.
        (first + (at - start)).min(next.saturating_sub(1)).max(first)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_again() {
        let main = "#include \"a.h\"\nint x;\n#define TWO 2\nint y = TWO + 1;\n";
        let mut source = Source { path: "m.c".into(), text: main.into() };
        source.add("inc/a.h", "// a\nint a;\nint b;\n");
        let text =
            "# 2 \"inc/a.h\"\nint a;\nint b;\n# 2 \"m.c\"\nint x;\n# 4 \"m.c\"\nint y = 2 + 1;\n";
        add_unit(&mut source, "m.c", DataModel::ARM32, text);
        let places = Places::of(&source).unwrap().unwrap();
        assert_eq!((places.text.as_str(), places.model), (text, DataModel::ARM32));
        let find = |what: &str| {
            let start = text.find(what).unwrap() as u32;
            let span = places.original(Span { start, end: start + what.len() as u32 });
            let line = places.line(start);
            (&source.text[span.start as usize..span.end as usize], line)
        };
        assert_eq!(find("int x"), ("int x", "2".into()));
        assert_eq!(find("int y"), ("int y", "4".into()));
        assert_eq!(find("int b"), ("int b", "a.h:3".into()));
        let plain = Source { path: "m.c".into(), text: main.into() };
        assert!(Places::of(&plain).unwrap().is_none());
    }
}
