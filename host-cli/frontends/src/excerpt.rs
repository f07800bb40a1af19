//! A source text as far as it can be shown: lines that no screen has room for are cut round what is pointed
//! at in them. Preprocessors and generators write lines of megabytes, and miette counts columns in 16 bits.

use super::source::File;
use miette::{MietteError, MietteSpanContents, SourceCode, SourceSpan, SpanContents};
use std::borrow::Cow;
use std::ops::Range;
use vouch_ir::Span;

/// The longest line that is shown whole, in bytes.
const LONGEST: usize = 2000;
/// What is shown of a longer one on either side of a place, in bytes.
const AROUND: usize = 60;
/// Represents what is left out.
const DOTS: &str = "...";

/// A text and its name.
#[derive(Debug)]
pub struct Excerpt<'a> {
    name: &'a str,
    text: Cow<'a, str>,
    /// The lines that were cut, ascending.
    cuts: Vec<Cut>,
    /// Length of the text before.
    len: usize,
}

/// A line that was cut.
#[derive(Debug)]
struct Cut {
    /// Its number, from 0.
    line: usize,
    /// All of it in the text before, without its end.
    whole: Range<usize>,
    /// What is left of it there.
    left: Range<usize>,
    /// Where that begins in the text after.
    start: usize,
    /// Where the line ends there.
    end: usize,
}

impl<'a> Excerpt<'a> {
    /// Cuts what is too long to be shown with these places.
    pub fn new(file: &File<'a>, places: impl Iterator<Item = Span>) -> Excerpt<'a> {
        let (name, text, len) = (file.path, file.text, file.text.len());
        if text.lines().all(|l| l.len() <= LONGEST) {
            return Excerpt { name, text: text.into(), cuts: vec![], len };
        }
        let places: Vec<usize> = places.map(|p| p.start as usize).collect();
        let (mut shown, mut cuts) = (String::new(), vec![]);
        let mut at = 0;
        for (line, whole) in text.split_inclusive('\n').enumerate() {
            let content = whole.trim_end_matches(['\n', '\r']);
            if content.len() <= LONGEST {
                shown.push_str(whole);
            } else {
                let range = at..at + content.len();
                let place = places.iter().find(|p| (range.start..=range.end).contains(*p));
                let place = place.map_or(0, |p| p - at);
                let first = floor(content, place.saturating_sub(AROUND));
                let last = floor(content, (place + AROUND).min(content.len()));
                let (before, after) = (first > 0, last < content.len());
                shown.push_str(if before { DOTS } else { "" });
                let start = shown.len();
                shown.push_str(&content[first..last]);
                shown.push_str(if after { DOTS } else { "" });
                let left = at + first..at + last;
                cuts.push(Cut { line, whole: range, left, start, end: shown.len() });
                shown.push_str(&whole[content.len()..]);
            }
            at += whole.len();
        }
        Excerpt { name, text: shown.into(), cuts, len }
    }

    /// Where a span is in the excerpt: whole characters of it.
    pub fn place(&self, span: Span) -> Range<usize> {
        let mut start = self.position(span.start as usize);
        let mut end = self.position(span.end as usize).max(start);
        while !self.text.is_char_boundary(start) {
            start -= 1;
        }
        while !self.text.is_char_boundary(end) {
            end += 1;
        }
        start..end
    }

    fn position(&self, at: usize) -> usize {
        let at = at.min(self.len);
        let number = self.cuts.partition_point(|c| c.whole.start <= at);
        let Some(cut) = number.checked_sub(1).and_then(|n| self.cuts.get(n)) else { return at };
        if at < cut.whole.end {
            return cut.start + at.clamp(cut.left.start, cut.left.end) - cut.left.start;
        }
        cut.end + (at - cut.whole.end)
    }
}

/// The start of the character at a byte.
fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl SourceCode for Excerpt<'_> {
    fn read_span<'a>(
        &'a self,
        span: &SourceSpan,
        before: usize,
        after: usize,
    ) -> Result<Box<dyn SpanContents<'a> + 'a>, MietteError> {
        let found = (*self.text).read_span(span, before, after)?;
        let mut column = found.column();
        // What is asked for without its neighbours is asked for its place.
        if (before, after) == (0, 0)
            && let Ok(at) = self.cuts.binary_search_by_key(&found.line(), |c| c.line)
            && let Cut { whole, left, .. } = &self.cuts[at]
            && left.start > whole.start
        {
            column = (column + (left.start - whole.start)).saturating_sub(DOTS.len());
        }
        Ok(Box::new(MietteSpanContents::new_named(
            self.name.to_string(),
            found.data(),
            *found.span(),
            found.line(),
            column,
            found.line_count(),
        )))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Diagnostic, Source, render};

    fn source(text: String) -> Source {
        Source { path: "long.vch".into(), text }
    }

    #[test]
    fn long_lines_are_cut_round_the_place() {
        let text = format!("first\n{}wrong{}\nlast\n", "é".repeat(40_000), " ".repeat(70_000));
        let start = text.find("wrong").unwrap() as u32;
        let source = source(text);
        let error = Diagnostic::error("no", Span { start, end: start + 5 }, "this one");
        let error = error.related(Span { start: 0, end: 5 }, "and this");
        let shown = render(&source, &[error]);
        assert!(shown.len() < 2000, "{shown}");
        for part in ["long.vch:2:80001", "wrong", "this one", "first", "and this", "last", "..."] {
            assert!(shown.contains(part), "{part}: {shown}");
        }
    }

    #[test]
    fn places_are_found_again() {
        let long = "x".repeat(5000);
        let source = source(format!("a\n{long}\nb {long}\nend"));
        let end = source.text.len() as u32;
        for (start, text) in [(0, "a"), (5003, "b "), (end - 3, "end")] {
            let span = Span { start, end: start + text.len() as u32 };
            let excerpt = Excerpt::new(&source.file_at(0), [span].into_iter());
            assert_eq!(&excerpt.text[excerpt.place(span)], text);
        }
        let beyond = Span { start: end + 7, end: end + 9 };
        let excerpt = Excerpt::new(&source.file_at(0), [beyond].into_iter());
        assert_eq!(excerpt.place(beyond), excerpt.text.len()..excerpt.text.len());
    }
}
