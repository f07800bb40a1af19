//! The canonical layout of a text: the same tokens and comments, in other white space.
//!
//! The formatter never looks at a syntax tree: it moves tokens, so that it cannot change what they
//! say, and at the end it reads its own result and compares. What is laid out how:
//!
//! - Four blanks for each level. A block stays in one line if it was in one and fits there.
//! - One statement in a line; a statement that was continued in another line still is.
//! - Blank lines stay, but never two together, nor at the edges of a block.
//! - Comments after code begin in one column.
//!
//! - [`space`]: blanks between the tokens of a line.
//! - [`lines`]: lines with their comments, and how they become text.
//! - [`layout`]: where lines end.

mod layout;
mod lines;
mod space;

use super::token::{Kind, Token};
use super::{lexer, parser};
use crate::Diagnostic;
use vouch_ir::Span;

/// Columns that a block in one line may reach.
const WIDTH: usize = 100;

/// The text in its canonical layout; or what hinders reading it.
pub fn format(text: &str) -> Result<String, Vec<Diagnostic>> {
    let mut errors = vec![];
    let tokens = lexer::lex(text, &mut errors);
    if errors.is_empty() {
        parser::parse(text, &tokens, &mut errors);
    }
    if !errors.is_empty() {
        return Err(super::in_order(errors));
    }
    let pieces = pieces(text, &tokens);
    let formatted = layout::lay_out(&pieces);
    // Nobody's text is replaced by one that says something else, whatever mistake is made above.
    let again = lexer::lex(&formatted, &mut errors);
    let same = errors.is_empty() && same(&pieces, &self::pieces(&formatted, &again));
    if !same {
        let message = "the formatter would change the text: please report this";
        let error = Diagnostic::error(message, Span::default(), "nothing was changed");
        return Err(vec![error.help("this is a bug of the formatter: the text itself is fine")]);
    }
    Ok(formatted)
}

/// A token, with what comes before it.
struct Piece<'t> {
    kind: Kind,
    text: &'t str,
    comments: Vec<Comment<'t>>,
    /// Line ends between it and what comes before it.
    newlines: usize,
}

/// A comment, without blanks after it.
struct Comment<'t> {
    text: &'t str,
    newlines: usize,
}

impl Comment<'_> {
    /// Whether it ends with its line.
    fn is_line(&self) -> bool {
        self.text.starts_with("//")
    }
}

/// The tokens, the end included, with the comments before each.
fn pieces<'t>(text: &'t str, tokens: &[Token]) -> Vec<Piece<'t>> {
    let mut at = 0;
    let piece = |token: &Token| {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let mut gap = &text[at..start];
        at = end;
        let mut comments = vec![];
        while let Some(begin) = gap.find("//").into_iter().chain(gap.find("/*")).min() {
            let newlines = gap[..begin].matches('\n').count();
            let length = comment_length(&gap[begin..]);
            comments.push(Comment { text: gap[begin..begin + length].trim_end(), newlines });
            gap = &gap[begin + length..];
        }
        let newlines = gap.matches('\n').count();
        Piece { kind: token.kind, text: &text[start..end], comments, newlines }
    };
    tokens.iter().map(piece).collect()
}

/// Bytes of the comment that the text begins with.
fn comment_length(text: &str) -> usize {
    if text.starts_with("//") {
        return text.find('\n').unwrap_or(text.len());
    }
    let (mut depth, mut at) = (0usize, 0);
    while let Some(next) = text[at..].find(['/', '*']) {
        at += next;
        if text[at..].starts_with("/*") {
            depth += 1;
            at += 2;
        } else if text[at..].starts_with("*/") {
            depth = depth.saturating_sub(1);
            at += 2;
            if depth == 0 {
                return at;
            }
        } else {
            at += 1;
        }
    }
    text.len()
}

/// Whether two texts have the same tokens and comments in the same order.
fn same(a: &[Piece<'_>], b: &[Piece<'_>]) -> bool {
    let comments = |p: &Piece<'_>| -> Vec<String> {
        p.comments.iter().map(|c| c.text.replace('\r', "")).collect()
    };
    a.len() == b.len()
        && a.iter()
            .zip(b)
            .all(|(a, b)| a.kind == b.kind && a.text == b.text && comments(a) == comments(b))
}
