//! Formats of `snprintf` and its kin: how long a text they give.

use super::{Fail, Lower, Value};
use crate::c::tree::{Expr, ExprKind, FunctionId};
use vouch_ir::{self as ir, BinOp, ExprId, Span, VarId, mask};

/// The fewest and most characters; without a most, nobody knows.
type Lengths = (u32, Option<u32>);

/// Nothing is known.
const ANY: Lengths = (0, None);
/// Longer ones are not told apart from those that nobody knows.
const LONGEST: u32 = 1 << 16;

/// The length of a text: what is held in a variable, and what comes on top of that.
#[derive(Clone, Copy)]
pub struct Length {
    held: Option<VarId>,
    rest: Lengths,
}

impl Length {
    /// Nobody knows.
    pub const ANY: Length = Length { held: None, rest: ANY };
}

/// A part of what a format gives: so many characters, and what tells how many exactly.
struct Piece {
    lengths: Lengths,
    exact: Option<Exact>,
}

/// What tells how many characters there are.
enum Exact {
    /// An argument that is a number.
    Number(usize, Number),
    Text(Text),
}

/// An argument that is a text.
#[derive(Clone, Copy)]
pub struct Text {
    pub argument: usize,
    /// The most characters of it that are taken, and the fewest that are written.
    pub most: Option<u32>,
    width: u32,
}

/// How a number is written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Number {
    base: u64,
    signed: bool,
    size: Size,
    /// Whether it has a sign in any case.
    has_sign: bool,
    /// The fewest digits, and the fewest characters.
    digits: u32,
    width: u32,
}

/// Of how many bits a number is taken to be.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Size {
    /// Of an `int` only these are looked at.
    Part(u32),
    Int,
    Word,
    Long,
}

impl Size {
    /// The bits that are looked at, and those of the argument.
    fn bits(self, word: u32) -> (u32, u32) {
        match self {
            Size::Part(bits) => (bits, 32),
            Size::Int => (32, 32),
            Size::Word => (word, word),
            Size::Long => (64, 64),
        }
    }
}

/// The parts of what a format gives; none if it is none.
fn pieces(format: &str) -> Option<Vec<Piece>> {
    let mut all = vec![];
    let mut add = |few: u32, many: Option<u32>, exact: Option<Exact>| {
        all.push(Piece { lengths: (few, many), exact });
    };
    let (mut rest, mut argument) = (format, 0);
    while let Some(at) = rest.find('%') {
        add(at as u32, Some(at as u32), None);
        rest = &rest[at + 1..];
        let spec = rest.trim_start_matches(['-', '+', ' ', '#', '0']);
        let flags = &rest[..rest.len() - spec.len()];
        let mut is_given = false;
        let mut count = |text: &'_ str| {
            let end = match text.strip_prefix('*') {
                Some(_) => {
                    (is_given, argument) = (true, argument + 1);
                    1
                }
                None => text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len()),
            };
            (text[..end].parse().unwrap_or(0u32), end)
        };
        let (width, end) = count(spec);
        let mut spec = &spec[end..];
        let mut precision = None;
        if let Some(more) = spec.strip_prefix('.') {
            let (digits, end) = count(more);
            (precision, spec) = (Some(digits), &more[end..]);
        }
        let letters = spec.trim_start_matches(['h', 'l', 'q', 'j', 'z', 't', 'L']);
        let size = match &spec[..spec.len() - letters.len()] {
            "" => Size::Int,
            "hh" => Size::Part(8),
            "h" => Size::Part(16),
            "l" | "z" | "t" => Size::Word,
            _ => Size::Long,
        };
        let letter = letters.chars().next()?;
        rest = &letters[letter.len_utf8()..];
        if letter == '%' {
            add(1, Some(1), None);
            continue;
        }
        let mine = argument;
        argument += 1;
        let (base, digits) = match (letter, size) {
            ('d' | 'i' | 'u', Size::Int | Size::Part(_)) => (10, 10),
            ('d' | 'i' | 'u', _) => (10, 20),
            ('x' | 'X', Size::Int | Size::Part(_)) => (16, 8),
            ('x' | 'X', _) => (16, 16),
            ('o', Size::Int | Size::Part(_)) => (8, 11),
            ('o', _) => (8, 22),
            _ => (0, 0),
        };
        let (few, many, exact) = match letter {
            // A width that comes as an argument.
            _ if is_given => (0, None, None),
            'c' => (1, Some(1), None),
            'p' => (0, Some(18), None),
            's' if size == Size::Int => {
                let text = Text { argument: mine, most: precision, width };
                (0, precision, Some(Exact::Text(text)))
            }
            's' => (0, None, None),
            _ if base > 0 => {
                let signed = matches!(letter, 'd' | 'i');
                let has_sign = signed && flags.contains(['+', ' ']);
                let digits = digits.max(precision.unwrap_or(0));
                // With a sign, and `0x` or `0` before it if that was asked for.
                let more = if flags.contains('#') { 2 } else { u32::from(signed) };
                let few = u32::from(precision != Some(0));
                let known = few > 0 && !flags.contains('#');
                let least = precision.unwrap_or(1);
                let number = Number { base, signed, size, has_sign, digits: least, width };
                let exact = known.then_some(Exact::Number(mine, number));
                (few, Some(digits.saturating_add(more)), exact)
            }
            // Fractions can be of any length, and whatever else there is.
            'a' | 'A' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G' => (1, None, None),
            _ => return None,
        };
        add(few.max(width), many.map(|n| n.max(width)), exact);
    }
    add(rest.len() as u32, Some(rest.len() as u32), None);
    Some(all)
}

/// Two lengths, one after the other.
fn sum(a: Lengths, b: Lengths) -> Lengths {
    let most = a.1.zip(b.1).map(|(a, b)| a.saturating_add(b));
    (a.0.saturating_add(b.0).min(LONGEST), most.filter(|n| *n <= LONGEST))
}

/// The length of all parts.
fn total(parts: &[Piece]) -> Lengths {
    parts.iter().map(|piece| piece.lengths).fold((0, Some(0)), sum)
}

/// The arguments of a format that are texts.
pub fn texts(format: &str) -> Vec<Text> {
    let text = |piece: &Piece| match piece.exact {
        Some(Exact::Text(text)) => Some(text),
        _ => None,
    };
    pieces(format).unwrap_or_default().iter().filter_map(text).collect()
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
        values: &[Value],
        span: Span,
    ) -> Result<(), Fail> {
        let function = &self.unit.functions[id];
        let Some(number) = argument(&function.name).filter(|_| function.library) else {
            return Ok(());
        };
        if self.stores_count(args) {
            return self.refuse("`%n` in a format", span);
        }
        // Those of a list are not at hand.
        let is_list = function.name.contains("vs");
        let has_bound = function.name.contains("snprintf");
        let mut texts = std::mem::take(&mut self.texts);
        if has_bound {
            texts.clear();
        }
        let formats = args.get(number).and_then(|format| self.unit.texts(format));
        let parts: Option<Vec<Vec<Piece>>> =
            formats.and_then(|all| all.iter().map(|format| pieces(format)).collect());
        let mut exact = self.cfa.pool.constant(0, 32);
        let rest = match parts.as_deref() {
            Some([parts]) if !is_list => {
                // What another call asked in between tells nothing here.
                let wanted = parts.iter().filter(|p| matches!(p.exact, Some(Exact::Text(_))));
                let are_mine = wanted.count() == texts.len();
                let mut texts = texts.into_iter().filter(|_| are_mine);
                let mut rest = (0, Some(0));
                for Piece { lengths, exact: of } in parts {
                    let length = match of {
                        Some(Exact::Number(argument, of)) => {
                            let argument = number + 1 + argument;
                            let found = args.get(argument).zip(values.get(argument));
                            found.and_then(|(arg, value)| self.number_length(*of, arg, value))
                        }
                        Some(Exact::Text(text)) => {
                            let length = texts.next().map(|held| self.read_var(held));
                            length.map(|length| self.at_least(length, text.width))
                        }
                        None => None,
                    };
                    match length {
                        Some(length) => exact = self.cfa.pool.binary(BinOp::Add, exact, length),
                        None => rest = sum(rest, *lengths),
                    }
                }
                rest
            }
            Some(all) => {
                let all = all.iter().map(|parts| total(parts));
                let either =
                    |a: Lengths, b: Lengths| (a.0.min(b.0), a.1.zip(b.1).map(|(a, b)| a.max(b)));
                all.reduce(either).unwrap_or(ANY)
            }
            None => ANY,
        };
        if !has_bound && rest.1.is_none() {
            let what =
                format!("`{}` with a format that can give a text of any length", function.name);
            return self.refuse(&what, span);
        }
        let is_none = self.cfa.pool.as_const(exact) == Some(0);
        let held = (!is_none).then(|| self.hold_scalar(exact));
        self.format = Length { held, rest };
        Ok(())
    }

    /// How many characters a number is written with (32 bits).
    fn number_length(&mut self, of: Number, arg: &Expr, value: &Value) -> Option<ExprId> {
        let (bits, passed) = of.size.bits(self.unit.types.word());
        let (width, _) = arg.ty.integer()?;
        let Value::Scalar(value) = value else { return None };
        if width.max(32) != passed {
            return None;
        }
        // What was narrower, and is still the same number, has fewer digits.
        let mut narrow = bits;
        let mut inner = arg;
        while let (ExprKind::Cast(from), Some((wide, keeps_sign))) =
            (&inner.kind, inner.ty.integer())
            && let Some((width, signed)) = from.ty.integer()
            && (keeps_sign || !signed)
            && (width < wide || width == wide && signed == keeps_sign)
        {
            if !signed || of.signed {
                narrow = narrow.min(width);
            }
            inner = from;
        }
        let pool = &mut self.cfa.pool;
        let value = if width > bits { pool.slice(*value, 0, bits) } else { *value };
        let value = pool.extend(value, bits, arg.ty.integer()?.1);
        let zero = pool.constant(0, bits);
        let (mut size, mut sign) = (value, pool.constant(u128::from(of.has_sign), 32));
        if of.signed {
            let (is_negative, back) =
                (pool.binary(BinOp::Slt, value, zero), pool.binary(BinOp::Sub, zero, value));
            size = pool.ite(is_negative, back, value);
            let one = pool.constant(1, 32);
            sign = pool.ite(is_negative, one, sign);
        }
        let mut digits = pool.constant(u128::from(of.digits.max(1)), 32);
        let mut power = 1u128;
        for count in 2..=64u128 {
            power *= u128::from(of.base);
            if power > mask(narrow) {
                break;
            }
            if count <= u128::from(of.digits) {
                continue;
            }
            let least = pool.constant(power, bits);
            let is_less = pool.binary(BinOp::Ult, size, least);
            let count = pool.constant(count, 32);
            digits = pool.ite(is_less, digits, count);
        }
        let length = pool.binary(BinOp::Add, digits, sign);
        Some(self.at_least(length, of.width))
    }

    fn at_least(&mut self, length: ExprId, width: u32) -> ExprId {
        let width = self.cfa.pool.constant(u128::from(width), 32);
        let is_short = self.cfa.pool.binary(BinOp::Ult, length, width);
        self.cfa.pool.ite(is_short, width, length)
    }

    /// How long a text is that the next call formats.
    pub(super) fn note_text(&mut self, args: &[Expr]) -> Result<(), Fail> {
        if let Some(length) = args.first() {
            let length = self.scalar(length)?;
            let length = self.cfa.pool.resize(length, 32, false);
            let held = self.hold_scalar(length);
            self.texts.push(held);
        }
        Ok(())
    }

    /// How long the text is that the current format gives.
    pub(super) fn format_length(&mut self) -> Value {
        let Length { held, rest: (least, most) } = self.format;
        let most = most.unwrap_or(i32::MAX as u32 - LONGEST);
        let shortest = self.cfa.pool.constant(least as u128, 32);
        let mut length = shortest;
        if least != most {
            let any = self.fresh_approximate("length", 32, ir::Type::Signed);
            let longest = self.cfa.pool.constant(most as u128, 32);
            let above = self.cfa.pool.binary(BinOp::Ule, shortest, any);
            let below = self.cfa.pool.binary(BinOp::Ule, any, longest);
            let is_possible = self.cfa.pool.and(above, below);
            // Nothing is assumed, so that no run depends on the length because of that alone.
            length = self.cfa.pool.ite(is_possible, any, shortest);
        }
        if let Some(held) = held {
            let known = self.read_var(held);
            length = self.cfa.pool.binary(BinOp::Add, known, length);
        }
        Value::Scalar(length)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lengths(format: &str) -> Lengths {
        pieces(format).map_or(ANY, |parts| total(&parts))
    }

    #[test]
    fn formats_have_lengths() {
        assert_eq!(lengths(""), (0, Some(0)));
        assert_eq!(lengths("ab%%c"), (4, Some(4)));
        assert_eq!(lengths("%d"), (1, Some(11)));
        assert_eq!(lengths("%#x"), (1, Some(10)));
        assert_eq!(lengths("%.0u"), (0, Some(10)));
        assert_eq!(lengths("%08lx!"), (9, Some(17)));
        assert_eq!(lengths("%.3s|%5c"), (6, Some(9)));
        assert_eq!(lengths("%s"), (0, None));
        assert_eq!(lengths("%*d"), (0, None));
        assert_eq!(lengths("%f"), (1, None));
        assert_eq!(lengths("%"), ANY);
    }

    #[test]
    fn arguments_are_those_of_their_directives() {
        let numbers = |format: &str| -> Vec<(usize, u64)> {
            let pieces = pieces(format).unwrap();
            let number = |piece: &Piece| match piece.exact {
                Some(Exact::Number(argument, of)) => Some((argument, of.base)),
                _ => None,
            };
            pieces.iter().filter_map(number).collect()
        };
        assert_eq!(numbers("%d %s%%%-3hhx %.*s %#x %lo %.0d"), [(0, 10), (2, 16), (6, 8)]);
    }
}
