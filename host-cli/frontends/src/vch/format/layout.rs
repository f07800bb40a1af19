//! Where lines end.
//!
//! The tokens pass once. A stack says what is open: bodies, which hold statements, and brackets of
//! expressions, which do not. A body is *broken* if its statements have lines of their own.

use super::super::token::Kind;
use super::lines::Lines;
use super::{Piece, WIDTH, space};

/// What braces, or the file, hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Body {
    /// Items: the file's, or a machine's.
    Items,
    /// Rules of a state, or of a `choose` in one.
    Rules,
    /// Statements: the body of a function, an action or a loop.
    Block,
    /// Values of an enum.
    Values,
    /// An expression: braces of an `if` that is a value, parentheses, brackets.
    Expr,
}

struct Frame {
    body: Body,
    broken: bool,
    /// The first token of the current statement.
    first: Option<Kind>,
    /// Each `if` whose block has not begun: whether it is a value.
    ifs: Vec<bool>,
    /// Set after the block of an `if`: whether that is a value.
    closed_if: Option<bool>,
    /// Whether this is a block of an `if`, and of which kind.
    of_if: Option<bool>,
}

impl Frame {
    fn new(body: Body, broken: bool, of_if: Option<bool>) -> Frame {
        Frame { body, broken, first: None, ifs: vec![], closed_if: None, of_if }
    }
}

struct Layout<'p, 't> {
    pieces: &'p [Piece<'t>],
    blanks: Vec<bool>,
    /// For each opening brace whether it reaches over several lines.
    spread: Vec<bool>,
    /// For each opening brace the columns up to the closing one, in one line.
    columns: Vec<usize>,
    stack: Vec<Frame>,
    lines: Lines,
}

/// The text of these tokens and comments.
pub fn lay_out(pieces: &[Piece<'_>]) -> String {
    let blanks = space::blanks(pieces);
    let (spread, columns) = measure(pieces, &blanks);
    let stack = vec![Frame::new(Body::Items, true, None)];
    let mut layout = Layout { pieces, blanks, spread, columns, stack, lines: Lines::new() };
    for i in 0..pieces.len() {
        layout.piece(i);
    }
    layout.lines.to_text()
}

/// For each opening brace: whether a line ends before the closing one, and the columns up to that.
fn measure(pieces: &[Piece<'_>], blanks: &[bool]) -> (Vec<bool>, Vec<usize>) {
    let mut spread = vec![false; pieces.len()];
    let mut columns = vec![0; pieces.len()];
    let (mut open, mut column, mut line) = (vec![], 0, 0);
    for (i, piece) in pieces.iter().enumerate() {
        for comment in &piece.comments {
            column += comment.text.chars().count() + 1;
            line += comment.newlines + comment.text.matches('\n').count();
            line += comment.is_line() as usize;
        }
        line += piece.newlines;
        column += piece.text.len() + blanks[i] as usize;
        match piece.kind {
            Kind::OpenBrace => open.push((i, column, line)),
            Kind::CloseBrace => {
                if let Some((at, from, first)) = open.pop() {
                    spread[at] = line > first;
                    columns[at] = column - from;
                }
            }
            _ => {}
        }
    }
    (spread, columns)
}

impl Layout<'_, '_> {
    fn top(&mut self) -> &mut Frame {
        // The file's frame is never taken off.
        let last = self.stack.len() - 1;
        &mut self.stack[last]
    }

    fn kind(&self, i: usize) -> Kind {
        self.pieces.get(i).map_or(Kind::End, |p| p.kind)
    }

    fn is_word(&self, i: usize, word: &str) -> bool {
        self.pieces.get(i).is_some_and(|p| p.kind == Kind::Ident && p.text == word)
    }

    /// Whether the token begins the content of the innermost body.
    fn begins(&mut self) -> bool {
        self.top().body != Body::Expr && self.top().first.is_none()
    }

    /// Levels of a line that begins with a token of this kind.
    fn levels(&mut self, kind: Kind) -> usize {
        let broken = self.stack.iter().filter(|f| f.broken).count() - 1;
        let is_else = kind == Kind::Else && self.top().closed_if == Some(false);
        let body = self.top().body;
        if kind == Kind::CloseBrace && body != Body::Expr {
            return broken.saturating_sub(1);
        }
        if self.begins() || body == Body::Values || is_else {
            return broken;
        }
        let open = self.stack.iter().rev().take_while(|f| f.body == Body::Expr).count();
        let closes = matches!(kind, Kind::CloseParen | Kind::CloseBracket | Kind::CloseBrace);
        let inner = if closes { open.saturating_sub(1) } else { open.max(1) };
        broken + inner
    }

    /// The comments before a token, and the token.
    fn piece(&mut self, i: usize) {
        let piece = &self.pieces[i];
        let mut must_end = false;
        let after_open = i > 0 && self.kind(i - 1) == Kind::OpenBrace;
        for (n, comment) in piece.comments.iter().enumerate() {
            let own_line = comment.newlines > 0 || must_end || (i == 0 && n == 0);
            if own_line {
                let levels = if piece.kind == Kind::CloseBrace {
                    self.inside()
                } else {
                    self.levels(piece.kind)
                };
                let begins = self.begins();
                let blank = comment.newlines > 1 && begins && !(after_open && n == 0);
                self.lines.begin(levels, blank);
                self.lines.add(false, comment.text);
            } else if comment.is_line() {
                self.lines.comment(comment.text);
            } else {
                self.lines.add(true, comment.text);
            }
            must_end = comment.is_line();
        }
        if piece.kind == Kind::End {
            return;
        }
        let first = after_open && piece.comments.is_empty();
        if must_end || self.breaks(i) {
            let levels = self.levels(piece.kind);
            let begins = self.begins() && piece.kind != Kind::CloseBrace;
            self.lines.begin(levels, piece.newlines > 1 && begins && !first);
            self.lines.add(false, piece.text);
        } else {
            let blank = self.blanks[i] || !piece.comments.is_empty();
            self.lines.add(blank, piece.text);
        }
        self.pass(i);
    }

    /// Levels of a comment before a closing brace.
    fn inside(&mut self) -> usize {
        match self.top().body {
            Body::Expr => self.levels(Kind::Ident),
            _ => self.stack.iter().filter(|f| f.broken).count() - 1,
        }
    }

    /// Whether a line begins before a token.
    fn breaks(&mut self, i: usize) -> bool {
        let (kind, newlines) = (self.kind(i), self.pieces[i].newlines);
        if i == 0 || matches!(kind, Kind::Semicolon | Kind::Comma) {
            return false;
        }
        let previous = self.kind(i - 1);
        let Frame { body, broken, .. } = *self.top();
        if self.begins() || kind == Kind::CloseBrace && body != Body::Expr {
            return match body {
                Body::Values if previous != Kind::OpenBrace && kind != Kind::CloseBrace => {
                    broken && newlines > 0
                }
                _ => broken && !(previous == Kind::OpenBrace && kind == Kind::CloseBrace),
            };
        }
        if body == Body::Values {
            return broken && newlines > 0;
        }
        let glued = matches!(kind, Kind::Dot | Kind::ColonColon | Kind::OpenBrace)
            || matches!(previous, Kind::Dot | Kind::ColonColon)
            || (previous == Kind::CloseBrace && (kind == Kind::Else || self.is_word(i, "or")))
            || !self.blanks[i]
                && !matches!(previous, Kind::OpenParen | Kind::OpenBracket)
                && !matches!(kind, Kind::CloseParen | Kind::CloseBracket);
        // A body in one line has no line ends in it, and gets none.
        let inside_line = self.stack.iter().any(|f| f.body != Body::Expr && !f.broken);
        newlines > 0 && !glued && !inside_line
    }

    /// Keeps track of what is open, and of what begins next.
    fn pass(&mut self, i: usize) {
        let kind = self.kind(i);
        let begins = self.begins();
        if begins && kind != Kind::CloseBrace {
            self.top().first = Some(kind);
        }
        let after_else = i > 0 && self.kind(i - 1) == Kind::Else;
        match kind {
            Kind::If => {
                let chained = if after_else { self.top().closed_if.take() } else { None };
                let is_value = chained.unwrap_or(!begins || self.top().body != Body::Block);
                self.top().ifs.push(is_value);
            }
            Kind::OpenParen | Kind::OpenBracket => {
                self.stack.push(Frame::new(Body::Expr, false, None));
            }
            Kind::CloseParen | Kind::CloseBracket => self.close(),
            Kind::OpenBrace => self.open(i, after_else),
            Kind::CloseBrace => {
                let of_if = self.top().of_if;
                let body = self.top().body;
                self.close();
                self.top().closed_if = of_if;
                if body != Body::Expr && !self.goes_on(i + 1, of_if) {
                    self.end();
                }
            }
            Kind::Semicolon if self.top().body != Body::Expr => self.end(),
            _ => {}
        }
    }

    fn close(&mut self) {
        if self.stack.len() > 1 {
            self.stack.pop();
        }
    }

    /// A statement has ended.
    fn end(&mut self) {
        let top = self.top();
        (top.first, top.closed_if) = (None, None);
        top.ifs.clear();
    }

    /// Whether a statement continues after one of its blocks.
    fn goes_on(&mut self, next: usize, of_if: Option<bool>) -> bool {
        match self.kind(next) {
            Kind::Semicolon => true,
            Kind::Else => of_if.is_some(),
            Kind::Ident => {
                self.is_word(next, "or")
                    && self.kind(next + 1) == Kind::OpenBrace
                    && self.top().first == Some(Kind::Choose)
            }
            _ => false,
        }
    }

    fn open(&mut self, i: usize, after_else: bool) {
        let width = self.lines.width();
        let top = self.top();
        let of_if = if after_else { top.closed_if.take() } else { None };
        let of_if = of_if.or_else(|| top.ifs.pop());
        let first = top.first;
        let body = match (of_if, first, top.body) {
            (Some(true), _, _) | (_, _, Body::Expr | Body::Values) => Body::Expr,
            (Some(false), _, _) => Body::Block,
            (_, Some(Kind::Machine), _) => Body::Items,
            (_, Some(Kind::Enum), _) => Body::Values,
            (_, Some(Kind::State | Kind::Initial), _) => Body::Rules,
            (_, Some(Kind::Choose), Body::Rules) => Body::Rules,
            _ => Body::Block,
        };
        let in_line = self.stack.iter().any(|f| f.body != Body::Expr && !f.broken);
        let wide = width + self.columns[i] > WIDTH;
        let machine = first == Some(Kind::Machine) && self.kind(i + 1) != Kind::CloseBrace;
        let broken = body != Body::Expr && !in_line && (self.spread[i] || wide || machine);
        self.stack.push(Frame::new(body, broken, of_if));
    }
}
