//! Values as people write them: `true`, `12`, `-3`, `Closed`.

use super::{Type, Word, eval::sign_extend, mask};
use crate::escape;

/// A value of this type and width, for people to read. What the type has no name for is shown as a
/// number.
pub fn show(ty: &Type, width: u32, value: Word) -> String {
    match (ty, value) {
        (Type::Bool, 0) => "false".to_string(),
        (Type::Bool, 1) => "true".to_string(),
        (Type::Signed, _) if (1..=128).contains(&width) && value <= mask(width) => {
            (sign_extend(value, width) as i128).to_string()
        }
        (Type::Float, _) => show_float(width, value),
        _ => ty.name(value).map_or_else(|| value.to_string(), escape::text),
    }
}

/// A floating-point number, with a point or an exponent; what is none with its bits.
fn show_float(width: u32, value: Word) -> String {
    let (shown, is_nan) = match width {
        32 => {
            let number = f32::from_bits(value as u32);
            (format!("{number:?}"), number.is_nan())
        }
        64 => {
            let number = f64::from_bits(value as u64);
            (format!("{number:?}"), number.is_nan())
        }
        _ => return value.to_string(),
    };
    if is_nan { format!("nan({value:#x})") } else { shown }
}

fn read_float(width: u32, text: &str) -> Option<Word> {
    let bits = text.strip_prefix("nan(").and_then(|text| text.strip_suffix(')'));
    if let Some(bits) = bits.or(Some(text).filter(|text| text.starts_with("0x"))) {
        return magnitude(bits).filter(|value| *value <= mask(width));
    }
    match width {
        32 => text.parse::<f32>().ok().map(|x| x.to_bits().into()),
        64 => text.parse::<f64>().ok().map(|x| x.to_bits().into()),
        _ => magnitude(text).filter(|value| *value <= mask(width)),
    }
}

/// What would be a value of this type and width.
pub fn describe(ty: &Type, width: u32) -> String {
    match ty {
        Type::Bool => "`true` or `false`".to_string(),
        Type::Signed => {
            let half = mask(width) >> 1;
            format!("a number from {} to {half}", show(ty, width, half + 1))
        }
        Type::Enum(names) if !names.is_empty() && names.len() <= 6 => {
            let names: Vec<String> = names.iter().map(|(_, n)| format!("`{n}`")).collect();
            format!("one of {}", names.join(", "))
        }
        Type::Enum(names) if names.len() > 6 => {
            format!("one of {} names (`{}`, `{}`, …)", names.len(), names[0].1, names[1].1)
        }
        Type::Float => "a floating-point number".to_string(),
        Type::Unsigned | Type::Enum(_) => format!("a number from 0 to {}", mask(width)),
    }
}

/// Reads what [`show`] writes, and numbers also as `0x…` or `0b…`. `None` if the text is not a value
/// of this type and width; [`describe`] says what would be.
pub fn read(ty: &Type, width: u32, text: &str) -> Option<Word> {
    match (ty, text) {
        (Type::Bool, "false") => return Some(0),
        (Type::Bool, "true") => return Some(1),
        (Type::Float, _) => return read_float(width, text),
        (Type::Enum(_), _) => {
            if let Some(value) = ty.named(text) {
                return Some(value).filter(|v| *v <= mask(width));
            }
        }
        _ => {}
    }
    if let Some(digits) = text.strip_prefix('-') {
        let magnitude = magnitude(digits)?;
        let smallest = (mask(width) >> 1) + 1;
        let fits = *ty == Type::Signed && magnitude <= smallest;
        return fits.then_some(magnitude.wrapping_neg() & mask(width));
    }
    let value = magnitude(text)?;
    // Bit patterns may use all bits of a signed value, numbers may not.
    let pattern = text.starts_with("0x") || text.starts_with("0b");
    let largest = if *ty == Type::Signed && !pattern { mask(width) >> 1 } else { mask(width) };
    (value <= largest).then_some(value)
}

fn magnitude(text: &str) -> Option<Word> {
    let (digits, radix) = match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
        (Some(digits), _) => (digits, 16),
        (_, Some(digits)) => (digits, 2),
        _ => (text, 10),
    };
    // from_str_radix would take a sign.
    if digits.starts_with(['+', '-']) {
        return None;
    }
    Word::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn modes() -> Type {
        Type::names(["Open", "Closed", "Twice", "Twice"].map(String::from))
    }

    #[test]
    fn values_are_shown_by_type() {
        assert_eq!(show(&Type::Bool, 1, 1), "true");
        assert_eq!(show(&Type::Bool, 4, 9), "9");
        assert_eq!(show(&Type::Unsigned, 8, 255), "255");
        assert_eq!(show(&Type::Signed, 8, 255), "-1");
        assert_eq!(show(&Type::Signed, 128, 1 << 127), i128::MIN.to_string());
        assert_eq!(show(&Type::Float, 32, 1.5f32.to_bits().into()), "1.5");
        assert_eq!(show(&Type::Float, 32, 0xffc0_0001), "nan(0xffc00001)");
        assert_eq!(show(&Type::Float, 64, (-1f64 / 0.0).to_bits().into()), "-inf");
        assert_eq!(show(&modes(), 3, 1), "Closed");
        assert_eq!(show(&modes(), 3, 7), "7");
    }

    #[test]
    fn what_is_shown_can_be_read() {
        for width in [1, 2, 3, 5, 32, 64, 128] {
            for ty in [Type::Bool, Type::Unsigned, Type::Signed, Type::Float, modes()] {
                let near = 0x3dcc_cccd << (width / 2);
                for value in [0, 1, 2, 3, near, mask(width) >> 1, mask(width)] {
                    let value = value & mask(width);
                    let text = show(&ty, width, value);
                    let expected = (text != "Twice").then_some(value);
                    assert_eq!(read(&ty, width, &text), expected, "{ty:?} {width} {text}");
                }
            }
        }
    }

    #[test]
    fn nonsense_is_not_read() {
        let u8 = |text| read(&Type::Unsigned, 8, text);
        for text in ["", "-", "256", "-1", "+1", "0x", "0x100", "0b2", "true", "1 ", "0x-1", "é"] {
            assert_eq!(u8(text), None, "{text}");
        }
        assert_eq!(u8("0xff"), Some(255));
        let i8 = |text| read(&Type::Signed, 8, text);
        assert_eq!(
            (i8("-128"), i8("-129"), i8("128"), i8("0x80")),
            (Some(128), None, None, Some(128))
        );
        assert_eq!(i8("--1"), None);
        assert_eq!(describe(&Type::Signed, 8), "a number from -128 to 127");
        assert_eq!(describe(&Type::Signed, 1), "a number from -1 to 0");
    }
}
