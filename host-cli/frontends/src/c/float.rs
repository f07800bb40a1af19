//! Floating-point numbers as their bits: `float` and `double` of IEEE 754.
//!
//! Only what has one result whatever the compiler does is computed. Arithmetic that rounds is not: it may be done with more precision
//! (x87), or two operations may become one (a multiplication and an addition).

use super::tree::Op;

/// The formats that have a meaning: bits of the exponent and of the significand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Format {
    /// Bits of the exponent.
    pub exponent: u32,
    /// Bits of the significand that are stored.
    pub significand: u32,
}

const SINGLE: Format = Format { exponent: 8, significand: 23 };
const DOUBLE: Format = Format { exponent: 11, significand: 52 };

impl Format {
    /// That of a type of so many bytes.
    pub fn of(bytes: u32) -> Option<Format> {
        match bytes {
            4 => Some(SINGLE),
            8 => Some(DOUBLE),
            _ => None,
        }
    }

    /// All bits.
    pub fn width(self) -> u32 {
        1 + self.exponent + self.significand
    }

    /// What the stored exponent of 1 is.
    pub fn bias(self) -> u32 {
        (1 << (self.exponent - 1)) - 1
    }

    /// The sign bit.
    pub fn sign(self) -> u128 {
        1 << (self.width() - 1)
    }

    /// The bits of infinity; those of numbers that are none are above.
    pub fn infinity(self) -> u128 {
        ((1 << self.exponent) - 1) << self.significand
    }

    /// The number that bits are; every one is a `f64`.
    pub fn number(self, bits: u128) -> f64 {
        match self {
            SINGLE => f64::from(f32::from_bits(bits as u32)),
            _ => f64::from_bits(bits as u64),
        }
    }

    /// The bits of a number, if it has it exactly.
    pub fn bits(self, number: f64) -> Option<u128> {
        let bits = match self {
            SINGLE => u128::from((number as f32).to_bits()),
            _ => u128::from(number.to_bits()),
        };
        (self.number(bits) == number).then_some(bits)
    }
}

/// A literal, in small letters: its size in bytes and its bits. `None` if it is of another type, or takes rounding that nobody
/// has written down here.
pub fn literal(text: &str) -> Option<(u32, u128)> {
    let hex = text.strip_prefix("0x");
    let (digits, bytes) = match text.strip_suffix('f') {
        // Of a hexadecimal number, `f` is a suffix only behind the exponent.
        Some(digits) if hex.is_none() || digits.contains('p') => (digits, 4),
        _ => (text, 8),
    };
    let Some(hex) = digits.strip_prefix("0x") else {
        return match bytes {
            4 => digits.parse::<f32>().ok().map(|x| (4, u128::from(x.to_bits()))),
            _ => digits.parse::<f64>().ok().map(|x| (8, u128::from(x.to_bits()))),
        };
    };
    let (digits, power) = hex.split_once('p')?;
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let value = u64::from_str_radix(&format!("{whole}{part}"), 16).ok()?;
    let power = power.parse::<i32>().ok()?.checked_sub(4 * part.len() as i32)?;
    // Both factors and the product are exact, or this is not a number that is told here.
    let is_exact = value < 1 << 53 && (-1000..900).contains(&power);
    let number = value as f64 * 2f64.powi(power);
    let format = Format::of(bytes)?;
    Some((bytes, format.bits(number).filter(|_| is_exact && number.is_finite())?))
}

/// Arithmetic on two numbers, if its result is exact.
pub fn exact(op: Op, format: Format, x: u128, y: u128) -> Option<u128> {
    let (a, b) = (format.number(x), format.number(y));
    let (result, error) = match op {
        Op::Add | Op::Sub => {
            let b = if op == Op::Sub { -b } else { b };
            let sum = a + b;
            // What was lost (Møller and Knuth): exact itself.
            let back = sum - a;
            (sum, (a - (sum - back)) + (b - back))
        }
        Op::Mul => (a * b, a.mul_add(b, -(a * b))),
        Op::Div => (a / b, (a / b).mul_add(b, -a)),
        _ => return None,
    };
    // Where numbers are tiny, what is lost is, too: such results are left alone.
    let is_plain = |x: f64| x == 0.0 || x.is_finite() && x.abs() > 1e-250;
    let plain = [a, b, result].into_iter().all(is_plain) && error == 0.0;
    let is_zero_by_chance =
        result == 0.0 && matches!(op, Op::Mul | Op::Div) && a != 0.0 && b != 0.0;
    format.bits(result).filter(|_| plain && !is_zero_by_chance)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_are_read_as_compilers_do() {
        let single = |x: f32| Some((4, u128::from(x.to_bits())));
        let double = |x: f64| Some((8, u128::from(x.to_bits())));
        for (text, bits) in [
            ("1.5", double(1.5)),
            ("1.5f", single(1.5)),
            (".5e1", double(5.0)),
            ("1.", double(1.0)),
            ("1.e2f", single(100.0)),
            ("0.1", double(0.1)),
            ("0.1f", single(0.1)),
            ("1e39f", single(f32::INFINITY)),
            ("0x1.8p1", double(3.0)),
            ("0x.8p0f", single(0.5)),
            ("0x1fp-4", double(31.0 / 16.0)),
            ("1.0l", None),
            ("1.0i", None),
            ("0x1.000001p0f", None),
        ] {
            assert_eq!(literal(text), bits, "{text}");
        }
    }

    #[test]
    fn only_exact_results_are_computed() {
        let f = SINGLE;
        let bits = |x: f32| u128::from(x.to_bits());
        let compute = |op, x, y| exact(op, f, bits(x), bits(y));
        assert_eq!(compute(Op::Add, 1.5, 2.0), Some(bits(3.5)));
        assert_eq!(compute(Op::Sub, 1.5, 1.5), Some(bits(0.0)));
        assert_eq!(compute(Op::Mul, 10.0, 2.0), Some(bits(20.0)));
        assert_eq!(compute(Op::Div, 1.0, 4.0), Some(bits(0.25)));
        for (op, x, y) in [
            (Op::Add, 1e8, 1.0),
            (Op::Mul, 0.1, 0.1),
            (Op::Div, 1.0, 3.0),
            (Op::Div, 1.0, 0.0),
            (Op::Div, 0.0, 0.0),
            (Op::Mul, 1e38, 10.0),
            (Op::Mul, 1e-30, 1e-30),
        ] {
            assert_eq!(compute(op, x, y), None, "{op:?} {x} {y}");
        }
        let double = |x: f64| u128::from(x.to_bits());
        assert_eq!(exact(Op::Mul, DOUBLE, double(1e-300), double(1e-300)), None);
        assert_eq!(exact(Op::Add, DOUBLE, double(1.0), double(1e-20)), None);
        assert_eq!(exact(Op::Mul, DOUBLE, double(3.0), double(0.5)), Some(double(1.5)));
    }
}
