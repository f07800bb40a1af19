//! Formats of `snprintf` and its kin: how long a text they give.

use super::{Fail, Lower, Value};
use crate::c::tree::{Expr, FunctionId};
use vouch_ir::{self as ir, BinOp, Span};

/// The fewest and most characters; without a most, nobody knows.
pub type Lengths = (u32, Option<u32>);

/// Nothing is known.
const ANY: Lengths = (0, None);
/// Longer ones are not told apart from those that nobody knows.
const LONGEST: u32 = 1 << 16;

/// The lengths of the texts that a format gives. Numbers have 64 bits at most.
fn lengths(format: &str) -> Lengths {
    let (mut least, mut most) = (0u32, Some(0u32));
    let mut add = |few: u32, many: Option<u32>| {
        least = least.saturating_add(few).min(LONGEST);
        most = most.zip(many).map(|(a, b)| a.saturating_add(b)).filter(|n| *n <= LONGEST);
    };
    let mut rest = format;
    while let Some(at) = rest.find('%') {
        add(at as u32, Some(at as u32));
        rest = &rest[at + 1..];
        let spec = rest.trim_start_matches(['-', '+', ' ', '#', '0']);
        let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (width, spec) = spec.split_at(digits(spec));
        let (precision, spec) = match spec.strip_prefix('.') {
            Some(spec) => {
                let (digits, spec) = spec.split_at(digits(spec));
                (Some(digits.parse().unwrap_or(0)), spec)
            }
            None => (None, spec),
        };
        let long = spec.starts_with(['l', 'q', 'j', 'z', 't', 'L']);
        let spec = spec.trim_start_matches(['h', 'l', 'q', 'j', 'z', 't', 'L']);
        let width: u32 = width.parse().unwrap_or(0);
        let Some(letter) = spec.chars().next() else { return ANY };
        rest = &spec[letter.len_utf8()..];
        // With a sign, and `0x` or `0` before it if that was asked for.
        let digits = precision.unwrap_or(0).max(if long { 20 } else { 10 });
        let (few, many) = match letter {
            '%' => (1, Some(1)),
            'c' => (1, Some(1)),
            'd' | 'i' | 'u' | 'x' | 'X' => (0, Some(digits + 2)),
            'o' => (0, Some(digits.max(if long { 22 } else { 11 }) + 2)),
            'p' => (0, Some(18)),
            's' => (0, precision),
            // `*` is a width that comes as an argument; fractions can be of any length.
            _ => return ANY,
        };
        add(few.max(width), many.map(|n| n.max(width)));
    }
    let last = rest.len() as u32;
    add(last, Some(last));
    (least, most)
}

/// Which argument of a function is its format.
pub fn argument(name: &str) -> Option<usize> {
    match name.trim_start_matches("__builtin_") {
        "sprintf" | "vsprintf" => Some(1),
        "snprintf" | "vsnprintf" => Some(2),
        _ => None,
    }
}

impl Lower<'_> {
    /// A call of a function of the library that formats is about to be made.
    pub(super) fn note_format(
        &mut self,
        id: FunctionId,
        args: &[Expr],
        span: Span,
    ) -> Result<(), Fail> {
        let function = &self.unit.functions[id];
        let Some(number) = argument(&function.name).filter(|_| function.library) else {
            return Ok(());
        };
        if self.stores_count(args) {
            return self.refuse("`%n` in a format", span);
        }
        let text = args.get(number).and_then(|format| self.text_of(format).ok());
        self.format = text.map_or(ANY, |text| lengths(&text));
        let has_bound = function.name.contains("snprintf");
        if !has_bound && self.format.1.is_none() {
            let what =
                format!("`{}` with a format that can give a text of any length", function.name);
            return self.refuse(&what, span);
        }
        Ok(())
    }

    /// How long the text is that the current format gives.
    pub(super) fn format_length(&mut self) -> Value {
        let (least, most) = self.format;
        let most = most.unwrap_or(i32::MAX as u32);
        let shortest = self.cfa.pool.constant(least as u128, 32);
        if least == most {
            return Value::Scalar(shortest);
        }
        let length = self.fresh_approximate("length", 32, ir::Type::Signed);
        let longest = self.cfa.pool.constant(most as u128, 32);
        let above = self.cfa.pool.binary(BinOp::Ule, shortest, length);
        let below = self.cfa.pool.binary(BinOp::Ule, length, longest);
        let is_possible = self.cfa.pool.and(above, below);
        // Nothing is assumed, so that no run depends on the length because of that alone.
        Value::Scalar(self.cfa.pool.ite(is_possible, length, shortest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_have_lengths() {
        assert_eq!(lengths(""), (0, Some(0)));
        assert_eq!(lengths("ab%%c"), (4, Some(4)));
        assert_eq!(lengths("%d"), (0, Some(12)));
        assert_eq!(lengths("%08lx!"), (9, Some(23)));
        assert_eq!(lengths("%.3s|%5c"), (6, Some(9)));
        assert_eq!(lengths("%s"), (0, None));
        assert_eq!(lengths("%*d"), ANY);
        assert_eq!(lengths("%f"), ANY);
        assert_eq!(lengths("%"), ANY);
    }
}
