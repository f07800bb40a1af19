//! The attributes of `vouch-marker`: each leaves the item as it is and adds a record that tells vouch of it.
//!
//! - `item`: what the attribute is on.
//! - `record`: what is added.

mod item;
mod record;

use item::{Item, Kind};
use proc_macro::{Delimiter, Group, Ident, Literal, Punct, Spacing, Span, TokenStream, TokenTree};
use record::Mark;

/// A function one call of which is a step.
#[proc_macro_attribute]
pub fn step(args: TokenStream, item: TokenStream) -> TokenStream {
    mark(Mark::Step, args, item)
}

/// A function that is called once, before the first step.
#[proc_macro_attribute]
pub fn init(args: TokenStream, item: TokenStream) -> TokenStream {
    mark(Mark::Init, args, item)
}

/// A function that returns `true` between any two steps: a property.
#[proc_macro_attribute]
pub fn always(args: TokenStream, item: TokenStream) -> TokenStream {
    mark(Mark::Always, args, item)
}

/// A function whose result, or a static whose value, can be anything whenever it is asked for.
#[proc_macro_attribute]
pub fn input(args: TokenStream, item: TokenStream) -> TokenStream {
    mark(Mark::Input, args, item)
}

/// A static that is set before the first step, within a range, and never changes: `param(2..=10)`.
#[proc_macro_attribute]
pub fn param(args: TokenStream, item: TokenStream) -> TokenStream {
    mark(Mark::Param, args, item)
}

/// A function that handles an interrupt, with its priority in the interrupt controller: `interrupt(0x40)`.
#[proc_macro_attribute]
pub fn interrupt(args: TokenStream, item: TokenStream) -> TokenStream {
    mark(Mark::Interrupt, args, item)
}

fn mark(mark: Mark, args: TokenStream, tokens: TokenStream) -> TokenStream {
    let marked = Item::read(tokens.clone()).and_then(|item| {
        fits(mark, &item)?;
        record::record(mark, args, &item)
    });
    match marked {
        Ok(marked) => marked.around(tokens),
        // The item stays, so that nothing else is reported but what is wrong with the attribute.
        Err(Wrong(at, message)) => [compile_error(at, &message), tokens].into_iter().collect(),
    }
}

/// What is wrong with an attribute, and where.
struct Wrong(Span, String);

fn wrong<T>(at: Span, message: impl Into<String>) -> Result<T, Wrong> {
    Err(Wrong(at, message.into()))
}

/// Whether the attribute is one for this item.
fn fits(mark: Mark, item: &Item) -> Result<(), Wrong> {
    let name = mark.name();
    match (&item.kind, mark) {
        (Kind::Static { .. }, Mark::Input | Mark::Param) => Ok(()),
        (Kind::Static { .. }, _) => wrong(item.at, format!("`#[vouch::{name}]` is for a function")),
        (Kind::Function { .. }, Mark::Param) => wrong(item.at, "`#[vouch::param]` is for a static"),
        (Kind::Function { is_method: true, .. }, _) => {
            let help = "is for a function outside of an `impl`: write one that calls this method";
            wrong(item.at, format!("`#[vouch::{name}]` {help}"))
        }
        (Kind::Function { is_generic: true, .. }, _) => {
            let help = "is for a function without type parameters: there would be several of it";
            wrong(item.at, format!("`#[vouch::{name}]` {help}"))
        }
        (Kind::Function { is_async: true, .. }, _) => {
            let help = "is for a function that is not `async`: write one that polls it";
            wrong(item.at, format!("`#[vouch::{name}]` {help}"))
        }
        (Kind::Function { has_arguments: true, .. }, Mark::Always | Mark::Interrupt) => {
            wrong(item.at, format!("`#[vouch::{name}]` is for a function without arguments"))
        }
        (Kind::Function { .. }, _) => Ok(()),
    }
}

fn compile_error(at: Span, message: &str) -> TokenStream {
    let punct = |c, spacing| {
        let mut punct = Punct::new(c, spacing);
        punct.set_span(at);
        TokenTree::Punct(punct)
    };
    let ident = |name| TokenTree::Ident(Ident::new(name, at));
    let mut text = Literal::string(message);
    text.set_span(at);
    let mut group = Group::new(Delimiter::Brace, TokenTree::Literal(text).into());
    group.set_span(at);
    let path = || [punct(':', Spacing::Joint), punct(':', Spacing::Alone)];
    let tokens = path().into_iter().chain([ident("core")]).chain(path());
    let tokens = tokens.chain([ident("compile_error"), punct('!', Spacing::Alone)]);
    tokens.chain([TokenTree::Group(group)]).collect()
}
