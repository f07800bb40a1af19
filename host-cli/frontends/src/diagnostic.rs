//! What a front end has to say about a source text, and how it looks on a terminal.

use super::Source;
use super::excerpt::Excerpt;
use super::source::Place;
use miette::{GraphicalReportHandler, GraphicalTheme, LabeledSpan, SourceCode};
use std::fmt;
use vouch_ir::Span;

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Nothing is compiled.
    Error,
    /// The model means something, but perhaps not what was meant.
    Warning,
}

/// One error or warning.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What is wrong, in one line.
    pub message: String,
    /// Bytes of the source text that the label underlines.
    pub span: Span,
    /// What to see there: what was found, what was expected.
    pub label: String,
    /// Other places that matter, each with a word on why.
    pub related: Vec<(Span, String)>,
    /// The way out.
    pub help: Option<String>,
}

impl Diagnostic {
    /// A diagnostic of severity [`Severity::Error`], without related places or help.
    pub fn error(message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic {
            severity: Severity::Error,
            message: message.into(),
            span,
            label: label.into(),
            related: vec![],
            help: None,
        }
    }
    /// A diagnostic of severity [`Severity::Warning`], without related places or help.
    pub fn warning(message: impl Into<String>, span: Span, label: impl Into<String>) -> Diagnostic {
        Diagnostic { severity: Severity::Warning, ..Diagnostic::error(message, span, label) }
    }
    /// The same with a way out.
    pub fn help(mut self, help: impl Into<String>) -> Diagnostic {
        self.help = Some(help.into());
        self
    }
    /// The same with another place that matters.
    pub fn related(mut self, span: Span, label: impl Into<String>) -> Diagnostic {
        self.related.push((span, label.into()));
        self
    }
}

/// The line and column (both from 1, columns in characters) of a byte of the text.
pub fn position(text: &str, byte: u32) -> (usize, usize) {
    let mut end = (byte as usize).min(text.len());
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let before = &text[..end];
    let line = before.matches('\n').count() + 1;
    let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
    (line, column)
}

/// The diagnostics as text without colours, ready to be printed.
pub fn render(source: &Source, diagnostics: &[Diagnostic]) -> String {
    render_with(source, diagnostics, false)
}

/// The diagnostics as text, with colours if asked.
pub fn render_with(source: &Source, diagnostics: &[Diagnostic], colours: bool) -> String {
    let theme = if colours { GraphicalTheme::unicode() } else { GraphicalTheme::unicode_nocolor() };
    let handler = GraphicalReportHandler::new_themed(theme).with_width(100).with_links(false);
    let mut out = String::new();
    for (i, diagnostic) in diagnostics.iter().enumerate() {
        if i > 0 {
            out.push('\n');
        }
        let file = source.file_at(diagnostic.span.start);
        let is_here = |span: &Span| source.file_at(span.start) == file;
        let (here, elsewhere): (Vec<_>, Vec<_>) =
            diagnostic.related.iter().cloned().partition(|r| is_here(&r.0));
        let within = |span: Span| Span {
            start: span.start.saturating_sub(file.start),
            end: span.end.saturating_sub(file.start),
        };
        let local = Diagnostic {
            span: within(diagnostic.span),
            related: here.into_iter().map(|(span, label)| (within(span), label)).collect(),
            ..diagnostic.clone()
        };
        let spans = [local.span].into_iter().chain(local.related.iter().map(|r| r.0));
        let shown = Shown { source: Excerpt::new(&file, spans), diagnostic: &local };
        if handler.render_report(&mut out, &shown).is_err() {
            // The plain form loses the excerpt but never the message.
            let Place { path, line, column } = source.place(diagnostic.span.start);
            out += &format!("{path}:{line}:{column}: {}\n", diagnostic.message);
        }
        for (span, label) in elsewhere {
            let Place { path, line, column } = source.place(span.start);
            out += &format!("  {path}:{line}:{column}: {label}\n");
        }
    }
    out
}

/// A diagnostic together with its text, as miette wants it.
#[derive(Debug)]
struct Shown<'a> {
    diagnostic: &'a Diagnostic,
    source: Excerpt<'a>,
}

impl fmt::Display for Shown<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.diagnostic.message)
    }
}

impl std::error::Error for Shown<'_> {}

impl miette::Diagnostic for Shown<'_> {
    fn severity(&self) -> Option<miette::Severity> {
        Some(match self.diagnostic.severity {
            Severity::Error => miette::Severity::Error,
            Severity::Warning => miette::Severity::Warning,
        })
    }
    fn help<'a>(&'a self) -> Option<Box<dyn fmt::Display + 'a>> {
        self.diagnostic.help.as_ref().map(|help| Box::new(help) as _)
    }
    fn source_code(&self) -> Option<&dyn SourceCode> {
        Some(&self.source)
    }
    fn labels(&self) -> Option<Box<dyn Iterator<Item = LabeledSpan> + '_>> {
        let text = |label: &str| (!label.is_empty()).then(|| label.to_owned());
        let main = LabeledSpan::new_primary_with_span(
            text(&self.diagnostic.label),
            self.source.place(self.diagnostic.span),
        );
        let others = (self.diagnostic.related.iter()).map(move |(span, label)| {
            LabeledSpan::new_with_span(text(label), self.source.place(*span))
        });
        Some(Box::new(std::iter::once(main).chain(others)))
    }
}
