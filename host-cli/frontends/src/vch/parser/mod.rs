//! Tokens to a syntax tree, by recursive descent.
//!
//! After an error the parser continues at the next `;`, `}` or declaration, so that one run reports
//! several. Nesting is limited: neither this parser nor anything that walks over its trees can
//! exhaust the stack.

mod expr;
mod item;
mod statement;

use super::ast::{File, Name};
use super::hint;
use super::token::{Kind, Token};
use crate::Diagnostic;
use vouch_ir::Span;

/// How deep blocks, parentheses and prefix operators may nest.
const MAX_NESTING: u32 = 128;
/// How high an expression's tree may be (a chain of n operators has height n).
const MAX_HEIGHT: u32 = 256;
/// After so many errors the rest is noise.
pub const MAX_ERRORS: usize = 20;

/// The error has been reported; the caller finds a place to continue.
struct Failed;
type Parse<T> = Result<T, Failed>;

struct Parser<'a> {
    text: &'a str,
    tokens: &'a [Token],
    at: usize,
    nesting: u32,
    /// The next `}` is missing, which has been reported.
    unclosed: bool,
    errors: &'a mut Vec<Diagnostic>,
}

/// The tree of the text; what could not be read is reported and left out.
pub fn parse(text: &str, tokens: &[Token], errors: &mut Vec<Diagnostic>) -> File {
    let mut parser = Parser { text, tokens, at: 0, nesting: 0, unclosed: false, errors };
    parser.file()
}

impl Parser<'_> {
    fn token(&self) -> Token {
        self.tokens[self.at.min(self.tokens.len() - 1)]
    }
    fn kind(&self) -> Kind {
        self.token().kind
    }
    fn kind_after(&self) -> Kind {
        self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }
    fn span(&self) -> Span {
        self.token().span
    }
    fn text_of(&self, span: Span) -> &str {
        &self.text[span.start as usize..span.end as usize]
    }
    /// How far from the beginning of its line something is.
    fn column(&self, span: Span) -> usize {
        let before = &self.text[..span.start as usize];
        before.len() - before.rfind('\n').map_or(0, |at| at + 1)
    }
    /// The span from `start` to the last token taken.
    fn since(&self, start: Span) -> Span {
        let last = self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span;
        Span { start: start.start, end: last.end.max(start.end) }
    }

    fn advance(&mut self) -> Token {
        let token = self.token();
        if token.kind != Kind::End {
            self.at += 1;
        }
        token
    }
    fn eat(&mut self, kind: Kind) -> bool {
        let found = self.kind() == kind;
        if found {
            self.advance();
        }
        found
    }
    /// Whether the next token is this word; these words are names everywhere else.
    fn is_word(&self, word: &str) -> bool {
        self.kind() == Kind::Ident && self.text_of(self.span()) == word
    }
    fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        // Two errors at one place are one mistake.
        let known = self.errors.iter().any(|e| e.span.start == diagnostic.span.start);
        if !known {
            self.errors.push(diagnostic);
        }
        Failed
    }
    /// An error at the next token.
    fn unexpected(&mut self, expected: &str) -> Failed {
        let error = self.unexpected_diagnostic(expected);
        self.report(error)
    }
    fn unexpected_diagnostic(&self, expected: &str) -> Diagnostic {
        let token = self.token();
        let found = match token.kind {
            Kind::End => "the end of the file".to_owned(),
            _ => format!("`{}`", self.text_of(token.span)),
        };
        let message = format!("expected {expected}, found {found}");
        let help = match (token.kind, expected, self.meant(expected)) {
            (Kind::End, ..) => "the file ends too early: is a `}` missing?".to_owned(),
            (_, _, Some(hint)) => hint,
            (_, "`;`", _) => "end it with `;`".to_owned(),
            _ => format!("write {expected} here, or remove {found}"),
        };
        Diagnostic::error(message, token.span, format!("expected {expected}")).help(help)
    }
    /// What may have been meant by a word that makes no sense here.
    fn meant(&self, expected: &str) -> Option<String> {
        let word = |at: usize| {
            let token = self.tokens.get(at).filter(|t| t.kind == Kind::Ident)?;
            Some(self.text_of(token.span))
        };
        // `not x` fails at the second word.
        let before = self.at.checked_sub(1).and_then(word).filter(|w| *w == "not");
        if let Some((word, operator)) =
            before.or(word(self.at)).and_then(|w| Some((w, hint::operator(w)?)))
        {
            return Some(format!("for `{word}` write `{operator}`"));
        }
        let word = word(self.at)?;
        if let Some(ty) = hint::of_c(word) {
            return Some(format!("the type follows the name: `var NAME: {ty} = 0;`"));
        }
        let items = expected.contains("declaration");
        let keywords = Kind::KEYWORDS.iter().copied();
        let fits = |k: &&str| items || expected.contains(&format!("`{k}`"));
        let nearest = hint::nearest(word, keywords.chain(["output", "every"]).filter(fits))?;
        Some(format!("did you mean `{nearest}`?"))
    }
    fn expect(&mut self, kind: Kind) -> Parse<Token> {
        if self.kind() == kind { Ok(self.advance()) } else { Err(self.unexpected(kind.shown())) }
    }
    /// A closing `;`; if it is missing the error points after the last token, where it belongs.
    fn semicolon(&mut self) -> Parse<()> {
        if self.eat(Kind::Semicolon) {
            return Ok(());
        }
        let after = self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span;
        let found = self.unexpected_diagnostic("`;`");
        let span = Span { start: after.end, end: after.end };
        Err(self.report(Diagnostic { span, label: "`;` is missing here".into(), ..found }))
    }
    fn word(&mut self, word: &str) -> Parse<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.unexpected(&format!("`{word}`"))) }
    }
    fn name(&mut self, what: &str) -> Parse<Name> {
        if self.kind() == Kind::Ident {
            let span = self.advance().span;
            return Ok(Name { text: self.text_of(span).to_owned(), span });
        }
        let mut error = self.unexpected_diagnostic(&format!("the name of {what}"));
        if Kind::keyword(self.text_of(self.span())).is_some() {
            let text = self.text_of(self.span());
            let help = format!("`{text}` is a keyword; choose another name, say `{text}_`");
            error = error.help(help);
            if matches!(self.kind_after(), Kind::Colon | Kind::Assign) {
                // It was meant as a name, and what follows makes sense with it.
                self.report(error);
                let span = self.advance().span;
                return Ok(Name { text: self.text_of(span).to_owned(), span });
            }
        }
        Err(self.report(error))
    }

    /// Runs `parse` one level deeper.
    fn nested<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        if self.nesting >= MAX_NESTING {
            let error = Diagnostic::error(
                format!("this is nested more than {MAX_NESTING} levels deep"),
                self.span(),
                "too deep",
            );
            return Err(self.report(error.help("use local variables or functions for the parts")));
        }
        self.nesting += 1;
        let result = parse(self);
        self.nesting -= 1;
        result
    }

    /// Skips to where a new declaration or statement may begin: past the next `;`, or before a `}`
    /// or a token for which `begins` holds. Braces opened on the way are skipped as a whole.
    fn recover(&mut self, begins: impl Fn(Kind) -> bool) {
        let mut depth = 0u32;
        loop {
            match self.kind() {
                Kind::End => return,
                Kind::CloseBrace if depth == 0 => return,
                Kind::CloseBrace => {
                    depth -= 1;
                    if depth == 0 {
                        self.advance();
                        return;
                    }
                }
                Kind::OpenBrace => depth += 1,
                Kind::Semicolon if depth == 0 => {
                    self.advance();
                    return;
                }
                kind if depth == 0 && begins(kind) => return,
                _ => {}
            }
            self.advance();
        }
    }

    /// `{ parse* }`; whatever fails is skipped, always moving on.
    fn braced(
        &mut self,
        begins: impl Fn(Kind) -> bool + Copy,
        mut parse: impl FnMut(&mut Self) -> Parse<()>,
    ) -> Parse<()> {
        let open = self.expect(Kind::OpenBrace)?.span;
        while !matches!(self.kind(), Kind::CloseBrace | Kind::End) {
            if self.errors.len() >= MAX_ERRORS {
                return Err(Failed);
            }
            let before = self.at;
            let parsed = parse(self);
            if std::mem::take(&mut self.unclosed) {
                return Ok(());
            }
            if parsed.is_err() {
                self.recover(begins);
                if self.at == before && self.kind() != Kind::CloseBrace {
                    self.advance();
                }
            }
        }
        if self.kind() == Kind::End {
            let error = self.unexpected_diagnostic("`}`").related(open, "this `{` is not closed");
            return Err(self.report(error));
        }
        self.advance();
        Ok(())
    }

    /// `parse, parse, …` up to `close`, which is taken.
    fn list<T>(
        &mut self,
        close: Kind,
        mut parse: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut list = vec![];
        while self.kind() != close {
            list.push(parse(self)?);
            if !self.eat(Kind::Comma) && self.kind() != close {
                return Err(self.unexpected(&format!("`,` or {}", close.shown())));
            }
        }
        self.advance();
        Ok(list)
    }
}
