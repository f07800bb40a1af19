//! What is added to an item: a record in a section that is not loaded, and attributes that keep the item where
//! the record says it is. On targets with an operating system nothing is added: there it is ordinary Rust.

use crate::item::{Item, Kind};
use crate::{Wrong, wrong};
use proc_macro::{Span, TokenStream, TokenTree};

/// What an item is marked as; the numbers are those of the records.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Mark {
    Step = 1,
    Init = 2,
    Always = 3,
    Input = 4,
    Param = 5,
    Interrupt = 6,
}

impl Mark {
    /// The name of the attribute.
    pub fn name(self) -> &'static str {
        match self {
            Mark::Step => "step",
            Mark::Init => "init",
            Mark::Always => "always",
            Mark::Input => "input",
            Mark::Param => "param",
            Mark::Interrupt => "interrupt",
        }
    }
}

/// Of the format of records, `docs/formats/marker.md`.
const VERSION: u32 = 1;

/// Attributes for the item, and what follows it.
pub struct Marked {
    attributes: TokenStream,
    after: TokenStream,
}

impl Marked {
    /// The item with all of it.
    pub fn around(self, item: TokenStream) -> TokenStream {
        [self.attributes, item, self.after].into_iter().collect()
    }
}

/// Attributes that make the function of the source one that the code of a handler calls under its own name.
const HANDLERS: [&str; 4] = ["interrupt", "exception", "core_interrupt", "external_interrupt"];

/// Makes the record.
pub fn record(mark: Mark, args: TokenStream, item: &Item) -> Result<Marked, Wrong> {
    let name = item.name.to_string();
    let name = name.strip_prefix("r#").unwrap_or(&name);
    let (low, high, priority) = arguments(mark, args)?;
    // How wide it is, and whether it has a sign.
    let width = match (&item.kind, mark) {
        (Kind::Function { result, .. }, Mark::Input) => {
            let result = result.as_ref().map_or("()".into(), TokenStream::to_string);
            format!("<{result} as ::vouch::__record::Value>::WIDTH")
        }
        (Kind::Static { is_mutable: true, ty }, Mark::Param) => {
            format!("<{ty} as ::vouch::__record::Value>::WIDTH")
        }
        (Kind::Static { is_mutable: false, ty }, Mark::Param) => {
            format!("<{ty} as ::vouch::__record::Changeable>::WIDTH")
        }
        _ => "0".into(),
    };
    let copy = format!("__vouch_always_{name}");
    let is_symbol = item.attributes.iter().any(|a| HANDLERS.contains(&a.as_str()));
    // What such an attribute leaves is known to the linker by this name, and to nobody else.
    let address = match mark {
        Mark::Interrupt if is_symbol => (name.to_owned(), String::new()),
        Mark::Always => ("{address}".into(), format!("address = sym {copy},")),
        _ => ("{address}".into(), format!("address = sym {},", item.name)),
    };
    let (address, operand) = address;
    let section = format!(".vouch.always.{name}");
    let property = match mark {
        // A copy that lies apart: what the firmware itself calls stays where it is.
        Mark::Always => format!(
            "#[cfg(target_os = \"none\")] #[allow(unsafe_code)] #[doc(hidden)] #[inline(never)] \
             #[unsafe(link_section = \"{section}\")] \
             extern \"C\" fn {copy}() -> bool {{ {name}() }}",
            name = item.name
        ),
        _ => String::new(),
    };
    let after = format!(
        "{property}
         #[cfg(target_os = \"none\")]
         #[allow(unsafe_code)]
         ::core::arch::global_asm!(
             \".pushsection .vouch,\\\"\\\",%progbits\",
             \".ascii \\\"vouch\\\"\",
             \".byte {VERSION}\",
             \".2byte 771f - 770f\",
             \"770: .byte {kind}, {{priority}}, {{width}}, 0\",
             \".4byte {address}\",
             \".8byte {{low}}\",
             \".8byte {{high}}\",
             ::core::concat!(\".ascii \\\"\", ::core::module_path!(), \"::{name}\\\"\"),
             \"771: .popsection\",
             {operand}
             priority = const ({priority}) as u8,
             width = const {width},
             low = const ({low}) as i64,
             high = const ({high}) as i64,
         );",
        kind = mark as u32,
    );
    let attributes = match (&item.kind, mark) {
        (Kind::Static { .. }, _) => "",
        (_, Mark::Always) => "#[cfg_attr(target_os = \"none\", inline(always))]",
        (_, Mark::Interrupt) if is_symbol => "",
        _ => "#[cfg_attr(target_os = \"none\", inline(never))]",
    };
    let parse = |text: &str| -> Result<TokenStream, Wrong> {
        let parsed: Result<TokenStream, _> = text.parse();
        let tokens =
            parsed.or_else(|_| wrong(item.at, "this attribute cannot be expanded here"))?;
        Ok(at(item.at, tokens))
    };
    Ok(Marked { attributes: parse(attributes)?, after: parse(&after)? })
}

/// Errors in what is added are shown at the item.
fn at(span: Span, tokens: TokenStream) -> TokenStream {
    let span = span.resolved_at(Span::call_site());
    tokens
        .into_iter()
        .map(|mut token| {
            if let TokenTree::Group(group) = &token {
                let inner = at(span, group.stream());
                let mut group = proc_macro::Group::new(group.delimiter(), inner);
                group.set_span(span);
                return TokenTree::Group(group);
            }
            token.set_span(span);
            token
        })
        .collect()
}

/// The range of a parameter, and the priority of a handler.
fn arguments(mark: Mark, args: TokenStream) -> Result<(String, String, String), Wrong> {
    let at = args.clone().into_iter().next().map_or_else(Span::call_site, |token| token.span());
    let text = args.to_string();
    let zero = || String::from("0");
    match mark {
        Mark::Param => {
            let tokens: Vec<TokenTree> = args.into_iter().collect();
            let is = |token: &TokenTree, c: char| matches!(token, TokenTree::Punct(p) if p.as_char() == c);
            let dots =
                tokens.windows(3).position(|w| is(&w[0], '.') && is(&w[1], '.') && is(&w[2], '='));
            let side =
                |tokens: &[TokenTree]| tokens.iter().cloned().collect::<TokenStream>().to_string();
            match dots {
                Some(dots) if dots > 0 && dots + 3 < tokens.len() => {
                    Ok((side(&tokens[..dots]), side(&tokens[dots + 3..]), zero()))
                }
                _ => wrong(at, "say which values it can have: `#[vouch::param(2..=10)]`"),
            }
        }
        Mark::Interrupt if !text.is_empty() => Ok((zero(), zero(), text)),
        _ if text.is_empty() => Ok((zero(), zero(), zero())),
        _ => wrong(at, format!("`#[vouch::{}]` takes no arguments", mark.name())),
    }
}
