//! Constants of any width.

/// Why digits are not a constant.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NumberError {
    /// A character is not a digit, or there is none.
    Digit,
    /// The value needs more bits than there are.
    Width,
}

/// The lowest `width` bits, the lowest first, of digits in `base`. A minus is allowed in base ten.
pub fn bits(text: &str, base: u32, width: usize) -> Result<Vec<bool>, NumberError> {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) if base == 10 => (true, rest),
        _ => (false, text),
    };
    if digits.is_empty() {
        return Err(NumberError::Digit);
    }
    let mut limbs: Vec<u32> = vec![0; width.div_ceil(32) + 1];
    for c in digits.chars() {
        let mut carry = c.to_digit(base).ok_or(NumberError::Digit)? as u64;
        for limb in &mut limbs {
            carry += *limb as u64 * base as u64;
            *limb = carry as u32;
            carry >>= 32;
        }
        if carry > 0 {
            return Err(NumberError::Width);
        }
    }
    let all = limbs.iter().flat_map(|l| (0..32).map(move |b| l >> b & 1 == 1));
    let mut bits: Vec<bool> = all.collect();
    if bits[width..].contains(&true) {
        return Err(NumberError::Width);
    }
    bits.truncate(width);
    if negative {
        // A negative number must be one in two's complement: at most 1000…0.
        let sign = bits.last().copied().unwrap_or(false);
        if sign && bits[..width - 1].contains(&true) {
            return Err(NumberError::Width);
        }
        let lowest = bits.iter().position(|b| *b).unwrap_or(width);
        bits.iter_mut().skip(lowest + 1).for_each(|b| *b = !*b);
    }
    Ok(bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(text: &str, base: u32, width: usize) -> Result<u64, NumberError> {
        let bits = bits(text, base, width)?;
        assert_eq!(bits.len(), width);
        Ok(bits.iter().rev().fold(0, |v, b| 2 * v + *b as u64))
    }

    #[test]
    fn numbers_are_read_in_every_base() {
        assert_eq!(value("1010", 2, 4), Ok(10));
        assert_eq!(value("10", 10, 4), Ok(10));
        assert_eq!(value("fF", 16, 9), Ok(255));
        assert_eq!(value("-1", 10, 33), Ok((1 << 33) - 1));
        assert_eq!(value("-8", 10, 4), Ok(8));
        assert_eq!(value("18446744073709551615", 10, 64), Ok(u64::MAX));
        let most = bits("340282366920938463463374607431768211456", 10, 129).unwrap();
        assert_eq!(most.iter().position(|b| *b), Some(128));
    }

    #[test]
    fn numbers_that_do_not_fit_are_refused() {
        assert_eq!(value("10000", 2, 4), Err(NumberError::Width));
        assert_eq!(value("16", 10, 4), Err(NumberError::Width));
        assert_eq!(value("-9", 10, 4), Err(NumberError::Width));
        assert_eq!(value("100000000000000000000000", 16, 4), Err(NumberError::Width));
        assert_eq!(value("2", 2, 4), Err(NumberError::Digit));
        assert_eq!(value("-1", 2, 4), Err(NumberError::Digit));
        assert_eq!(value("", 10, 4), Err(NumberError::Digit));
        assert_eq!(value("-", 10, 4), Err(NumberError::Digit));
    }
}
