//! Text files: certificates and traces, in the model's own names.
//!
//! Both are line based, begin with their name and version, and end with `end`, so that a file that
//! was cut short is noticed. `docs/formats/` has a page on each.
//!
//! - [`names`]: how things of a model are called, uniquely.
//! - [`scan`]: lines, words, quoted names, and errors that point at them.
//! - [`certificate`], [`trace`]: the two formats.

pub mod certificate;
pub mod names;
pub mod scan;
pub mod trace;

pub use names::Names;
pub use scan::{ParseError, ParseErrorKind};

use crate::{Type, Word, mask, value};
use scan::{Line, Lines};

/// The SHA-256 of a model's source text.
pub type Digest = [u8; 32];

/// What a file says about the model that it belongs to.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Header {
    /// The model's name.
    pub model: String,
    /// Of which source; `None` if it was not known.
    pub source: Option<Digest>,
}

/// What cannot be written, for it is not of this model.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{what} {index} does not exist in the model {model}")]
pub struct WriteError {
    /// What kind of thing.
    pub what: &'static str,
    /// The number that was to be written, past the last one of its kind.
    pub index: u32,
    /// The model's name.
    pub model: String,
}

impl Header {
    fn write(&self, format: &str, version: u32) -> String {
        let source = match &self.source {
            None => "unknown".to_string(),
            Some(digest) => digest.iter().fold("sha256:".to_string(), |mut s, byte| {
                s.push_str(&format!("{byte:02x}"));
                s
            }),
        };
        format!("{format} {version}\nmodel {}\nsource {source}\n", names::spell(&self.model))
    }

    /// Format and version.
    fn begin(lines: &mut Lines<'_>, format: &str, version: u32) -> Result<(), ParseError> {
        let first = format!("`{format} {version}`");
        let mut line = lines.expect_line(&first)?;
        line.keyword(format, &first)?;
        let number = line.word("a version number")?;
        match number.text.parse::<u32>() {
            Ok(found) if found == version => {}
            Ok(found) => {
                let message =
                    format!("version {found} of this format; this program reads {version}");
                return Err(line.error(&number, ParseErrorKind::Version, message));
            }
            Err(_) => return Err(line.expected(&number, "a version number")),
        }
        line.end()
    }

    fn parse(lines: &mut Lines<'_>, format: &str, version: u32) -> Result<Header, ParseError> {
        Header::begin(lines, format, version)?;
        let model = Header::model(lines.expect_line("`model NAME`")?)?;
        let source = Header::source(lines.expect_line("`source sha256:…`")?)?;
        Ok(Header { model, source })
    }

    /// Of something that may have been written by hand, which need not say what it was made for.
    fn parse_by_hand(
        lines: &mut Lines<'_>,
        format: &str,
        version: u32,
    ) -> Result<Header, ParseError> {
        Header::begin(lines, format, version)?;
        let model = lines.next_if("model").map(Header::model).transpose()?;
        let source = lines.next_if("source").map(Header::source).transpose()?;
        Ok(Header { model: model.unwrap_or_default(), source: source.flatten() })
    }

    fn model(mut line: Line<'_>) -> Result<String, ParseError> {
        line.keyword("model", "`model NAME`")?;
        let model = line.name("the model's name")?.name;
        line.end()?;
        Ok(model)
    }

    fn source(mut line: Line<'_>) -> Result<Option<Digest>, ParseError> {
        line.keyword("source", "`source sha256:…`")?;
        let source = digest(&mut line)?;
        line.end()?;
        Ok(source)
    }
}

fn digest(line: &mut Line<'_>) -> Result<Option<Digest>, ParseError> {
    const WHAT: &str = "`sha256:` and 64 hexadecimal digits, or `unknown`";
    let word = line.word(WHAT)?;
    if word.text == "unknown" {
        return Ok(None);
    }
    let digits = word.text.strip_prefix("sha256:").filter(|d| {
        d.len() == 64 && d.bytes().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(&b))
    });
    let Some(digits) = digits else { return Err(line.expected(&word, WHAT)) };
    let mut digest = Digest::default();
    for (byte, pair) in digest.iter_mut().zip(digits.as_bytes().chunks(2)) {
        let nibble = |c: u8| if c.is_ascii_digit() { c - b'0' } else { c - b'a' + 10 };
        *byte = nibble(pair[0]) << 4 | nibble(pair[1]);
    }
    Ok(Some(digest))
}

/// A value as it is written in a file: names of enumerations as names of the model are spelled.
fn spell_value(ty: &Type, width: u32, value: Word) -> String {
    let Type::Enum(_) = ty else { return value::show(ty, width, value) };
    match ty.name(value) {
        Some(name) if ty.named(name) == Some(value) => names::spell(name),
        _ => value.to_string(),
    }
}

/// `= VALUE` for something of this type and width.
fn assignment(line: &mut Line<'_>, ty: &Type, width: u32) -> Result<Word, ParseError> {
    line.keyword("=", "`=`")?;
    let what = value::describe(ty, width);
    let word = line.peek();
    let is_number = word.text.starts_with(|c: char| c.is_ascii_digit());
    let read = match ty {
        // Only what is spelled as a name is one, even if an enumeration has a member called `1`.
        Type::Enum(_) if !is_number => {
            let name = line.name(&what)?;
            let value = ty.named(&name.name).filter(|_| name.nth.is_none());
            value.filter(|v| *v <= mask(width))
        }
        Type::Enum(_) => {
            line.word(&what)?;
            value::read(&Type::Unsigned, width, word.text)
        }
        _ => {
            line.word(&what)?;
            value::read(ty, width, word.text)
        }
    };
    read.ok_or_else(|| line.expected(&word, &what))
}

#[cfg(test)]
mod tests;
