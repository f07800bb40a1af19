//! Blanks between the tokens of a line.

use super::super::token::Kind;
use super::Piece;

/// Words of claims, which are names elsewhere: what follows them in parentheses is not an argument.
const CLAIM_WORDS: [&str; 9] =
    ["always", "never", "when", "then", "within", "after", "no", "before", "once"];

/// For each token whether there is a blank before it, if it does not begin a line.
pub fn blanks(pieces: &[Piece<'_>]) -> Vec<bool> {
    let mut scan = Scan { open: vec![0], in_claim: false };
    let mut blanks = vec![false; pieces.len()];
    for i in 1..pieces.len() {
        let before = i.checked_sub(2).map(|i| &pieces[i]);
        let (previous, next) = (&pieces[i - 1], &pieces[i]);
        let before = before.map(|p| p.kind);
        let unary = is_unary(before, previous.kind);
        // The brackets after a property's name are not an index.
        let lists = before == Some(Kind::Property) && next.kind == Kind::OpenBracket;
        blanks[i] = scan.blank(previous, next, unary) || lists;
    }
    blanks
}

/// Whether `kind` is a prefix operator where `before` precedes it.
fn is_unary(before: Option<Kind>, kind: Kind) -> bool {
    let ends_operand = |kind: Kind| {
        use Kind::*;
        matches!(kind, Ident | Number | CloseParen | CloseBracket | CloseBrace | True | False)
    };
    match kind {
        Kind::Bang | Kind::Tilde => true,
        Kind::Minus => !before.is_some_and(ends_operand),
        _ => false,
    }
}

/// What decides about blanks beyond the two tokens.
struct Scan {
    /// For each open bracket the number of `?` that wait for their `:`.
    open: Vec<usize>,
    in_claim: bool,
}

impl Scan {
    /// Whether there is a blank between the two.
    fn blank(&mut self, previous: &Piece<'_>, next: &Piece<'_>, unary: bool) -> bool {
        use Kind::*;
        match next.kind {
            OpenParen | OpenBracket | OpenBrace => self.open.push(0),
            CloseParen | CloseBracket | CloseBrace if self.open.len() > 1 => {
                self.open.pop();
            }
            Property => self.in_claim = true,
            Semicolon if self.open.len() <= 2 => self.in_claim = false,
            _ => {}
        }
        let is_ternary = self.colon(next.kind);
        match (previous.kind, next.kind) {
            (_, Semicolon | Comma | Dot | ColonColon | DotDot | DotDotEq) => false,
            (Dot | ColonColon | DotDot | DotDotEq, _) => false,
            (_, Colon) => is_ternary,
            (OpenBrace, CloseBrace) => false,
            (OpenParen | OpenBracket, _) | (_, CloseParen | CloseBracket) => false,
            _ if unary => false,
            (Ident, OpenParen) => self.in_claim && CLAIM_WORDS.contains(&previous.text),
            (Any, OpenParen) => false,
            (Ident | CloseBracket | CloseParen, OpenBracket) => false,
            _ => true,
        }
    }

    /// Whether this is the `:` of a choice.
    fn colon(&mut self, kind: Kind) -> bool {
        let Some(waiting) = self.open.last_mut() else { return false };
        match kind {
            Kind::Question => *waiting += 1,
            Kind::Semicolon => *waiting = 0,
            Kind::Colon if *waiting > 0 => {
                *waiting -= 1;
                return true;
            }
            _ => {}
        }
        false
    }
}
