//! What an attribute is on: as much of it as a record needs.

use crate::{Wrong, wrong};
use proc_macro::{Delimiter, Ident, Span, TokenStream, TokenTree};

/// A function or a static.
pub struct Item {
    /// Its name.
    pub name: Ident,
    /// What it is.
    pub kind: Kind,
    /// Where errors about it are shown.
    pub at: Span,
    /// The last parts of the names of its other attributes.
    pub attributes: Vec<String>,
}

/// What an item is.
pub enum Kind {
    /// A function.
    Function {
        /// Whether it has a `self`.
        is_method: bool,
        /// Whether it has type parameters.
        is_generic: bool,
        /// Whether it is `async`.
        is_async: bool,
        /// Whether it has arguments.
        has_arguments: bool,
        /// The type of its result, if it has one.
        result: Option<TokenStream>,
    },
    /// A static.
    Static {
        /// Whether it is `static mut`.
        is_mutable: bool,
        /// Its type.
        ty: TokenStream,
    },
}

fn is_punct(token: Option<&TokenTree>, c: char) -> bool {
    matches!(token, Some(TokenTree::Punct(punct)) if punct.as_char() == c)
}

fn is_ident(token: Option<&TokenTree>, name: &str) -> bool {
    matches!(token, Some(TokenTree::Ident(ident)) if ident.to_string() == name)
}

impl Item {
    /// Reads a function or a static.
    pub fn read(tokens: TokenStream) -> Result<Item, Wrong> {
        let tokens: Vec<TokenTree> = tokens.into_iter().collect();
        let mut attributes = vec![];
        let mut at = 0;
        while is_punct(tokens.get(at), '#') {
            if let Some(TokenTree::Group(group)) = tokens.get(at + 1) {
                attributes.extend(last_name(group.stream()));
            }
            at += 2;
        }
        let here = tokens.get(at).map_or_else(Span::call_site, TokenTree::span);
        let mut is_async = false;
        for (at, token) in tokens.iter().enumerate().skip(at) {
            is_async |= is_ident(Some(token), "async");
            let rest = &tokens[at + 1..];
            let (name, kind) = if is_ident(Some(token), "fn") {
                (rest.first(), function(rest, is_async)?)
            } else if is_ident(Some(token), "static") {
                let is_mutable = is_ident(rest.first(), "mut");
                let rest = &rest[usize::from(is_mutable).min(rest.len())..];
                (rest.first(), Kind::Static { is_mutable, ty: static_type(rest) })
            } else {
                continue;
            };
            let Some(TokenTree::Ident(name)) = name else { break };
            return Ok(Item { at: name.span(), name: name.clone(), kind, attributes });
        }
        wrong(here, "this attribute is for a function or a static")
    }
}

/// The last part of an attribute's path.
fn last_name(attribute: TokenStream) -> Option<String> {
    let path = attribute
        .into_iter()
        .take_while(|token| matches!(token, TokenTree::Ident(_)) || is_punct(Some(token), ':'));
    let idents = path.filter(|token| matches!(token, TokenTree::Ident(_)));
    idents.last().map(|ident| ident.to_string())
}

/// What follows `fn`.
fn function(tokens: &[TokenTree], is_async: bool) -> Result<Kind, Wrong> {
    let generics = is_punct(tokens.get(1), '<');
    let is_list = |token: &TokenTree| matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Parenthesis);
    let Some(list) = tokens.iter().position(is_list) else {
        let at = tokens.first().map_or_else(Span::call_site, TokenTree::span);
        return wrong(at, "this attribute is for a function or a static");
    };
    let arguments: Vec<TokenTree> = match &tokens[list] {
        TokenTree::Group(group) => group.stream().into_iter().collect(),
        _ => vec![],
    };
    let first = arguments.split(|token| is_punct(Some(token), ',')).next().unwrap_or_default();
    let before_type = first.split(|token| is_punct(Some(token), ':')).next().unwrap_or_default();
    let is_method = before_type.iter().any(|token| is_ident(Some(token), "self"));
    let mut result = None;
    if is_punct(tokens.get(list + 1), '-') && is_punct(tokens.get(list + 2), '>') {
        let is_end = |token: &&TokenTree| {
            let is_body =
                matches!(token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
            !is_body && !is_ident(Some(token), "where")
        };
        result = Some(tokens[list + 3..].iter().take_while(is_end).cloned().collect());
    }
    let has_arguments = !arguments.is_empty();
    Ok(Kind::Function { is_method, is_generic: generics, is_async, has_arguments, result })
}

/// The type of a static, between `:` and `=`.
fn static_type(tokens: &[TokenTree]) -> TokenStream {
    let rest = tokens.iter().skip_while(|token| !is_punct(Some(token), ':')).skip(1);
    rest.take_while(|token| !is_punct(Some(token), '=') && !is_punct(Some(token), ';'))
        .cloned()
        .collect()
}
