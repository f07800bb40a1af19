//! Bit-vector operators as gates. What each means is said by [`ir::eval`](vouch_ir::eval).
//!
//! A word is a vector of literals, lowest bit first. Constants are words of constant literals and
//! fold on the way, so no operator treats them apart but multiplication, which recodes them.

use super::aig::{Graph, Lit};

/// A word, lowest bit first.
pub type Bits = Vec<Lit>;

/// The word of a constant.
pub fn constant(value: u128, width: u32) -> Bits {
    (0..width).map(|i| if value >> i & 1 == 1 { Lit::TRUE } else { Lit::FALSE }).collect()
}

/// The value of a word of constants.
pub fn as_constant(x: &[Lit]) -> Option<u128> {
    x.iter().enumerate().try_fold(0, |value, (i, l)| match *l {
        Lit::TRUE => Some(value | 1 << i),
        Lit::FALSE => Some(value),
        _ => None,
    })
}

/// Bitwise complement; it costs no gates, since literals have a sign.
pub fn not(x: &[Lit]) -> Bits {
    x.iter().map(|l| !*l).collect()
}

/// A gate on each pair of bits.
pub fn bitwise(
    g: &mut Graph,
    a: &[Lit],
    b: &[Lit],
    gate: impl Fn(&mut Graph, Lit, Lit) -> Lit,
) -> Bits {
    a.iter().zip(b).map(|(a, b)| gate(g, *a, *b)).collect()
}

/// `if s then t else e`.
pub fn mux(g: &mut Graph, s: Lit, t: &[Lit], e: &[Lit]) -> Bits {
    bitwise(g, t, e, |g, t, e| g.mux(s, t, e))
}

/// `a + b + carry` and the carry out: three gates a bit.
fn ripple(g: &mut Graph, a: &[Lit], b: &[Lit], mut carry: Lit) -> (Bits, Lit) {
    let mut sum = Vec::with_capacity(a.len());
    for (&a, &b) in a.iter().zip(b) {
        let differ = g.xor(a, b);
        sum.push(g.xor(differ, carry));
        carry = g.mux(differ, carry, a);
    }
    (sum, carry)
}

/// `a + b` modulo 2^width, as a ripple-carry adder.
pub fn add(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Bits {
    ripple(g, a, b, Lit::FALSE).0
}

/// `a - b` modulo 2^width: `a + !b + 1`.
pub fn sub(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Bits {
    ripple(g, a, &not(b), Lit::TRUE).0
}

/// Two's complement negation.
pub fn neg(g: &mut Graph, x: &[Lit]) -> Bits {
    sub(g, &vec![Lit::FALSE; x.len()], x)
}

/// Conjunction of all, as a balanced tree.
fn all(g: &mut Graph, mut lits: Bits) -> Lit {
    while lits.len() > 1 {
        lits = lits.chunks(2).map(|c| if let [a, b] = *c { g.and(a, b) } else { c[0] }).collect();
    }
    lits.first().copied().unwrap_or(Lit::TRUE)
}

/// Whether two words of the same width have the same value.
pub fn equal(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Lit {
    let same = bitwise(g, a, b, |g, a, b| !g.xor(a, b));
    all(g, same)
}

/// Whether `a < b` as unsigned numbers: the highest bit in which they differ decides.
pub fn less(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Lit {
    let mut less = Lit::FALSE;
    for (&a, &b) in a.iter().zip(b) {
        let differ = g.xor(a, b);
        less = g.mux(differ, b, less);
    }
    less
}

/// Whether `a < b` as signed numbers: as unsigned ones with the sign bits flipped.
pub fn signed_less(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Lit {
    let flipped = |x: &[Lit]| {
        let mut x = x.to_vec();
        if let Some(sign) = x.last_mut() {
            *sign = !*sign;
        }
        x
    };
    less(g, &flipped(a), &flipped(b))
}

/// Product, by adding a shifted row for each bit of one operand.
pub fn mul(g: &mut Graph, a: &[Lit], b: &[Lit]) -> Bits {
    if let Some(value) = as_constant(a) {
        return mul_constant(g, b, value);
    }
    if let Some(value) = as_constant(b) {
        return mul_constant(g, a, value);
    }
    // A row of a bit that is constant costs little or nothing: let the plainer operand choose rows.
    let known = |x: &[Lit]| x.iter().filter(|l| l.var() == 0).count();
    let (rows, x) = if known(a) > known(b) { (a, b) } else { (b, a) };
    let mut product = vec![Lit::FALSE; x.len()];
    for (i, &bit) in rows.iter().enumerate() {
        let row: Bits = x[..x.len() - i].iter().map(|l| g.and(*l, bit)).collect();
        let upper = add(g, &product[i..], &row);
        product.truncate(i);
        product.extend(upper);
    }
    product
}

/// Product with a constant in non-adjacent form: as few rows as possible, some of them subtracted.
fn mul_constant(g: &mut Graph, x: &[Lit], mut value: u128) -> Bits {
    let width = x.len();
    let mut product = vec![Lit::FALSE; width];
    for i in 0..width {
        if value & 1 == 1 {
            let minus = value & 2 != 0;
            let row = &x[..width - i];
            let upper = if minus { sub(g, &product[i..], row) } else { add(g, &product[i..], row) };
            product.truncate(i);
            product.extend(upper);
            // Wrapping: a carry out of the top is beyond every width.
            value = if minus { value.wrapping_add(1) } else { value - 1 };
        }
        value >>= 1;
    }
    product
}

/// Quotient and remainder of unsigned numbers, by restoring division. A divisor of zero gives all
/// ones and the dividend without being treated apart.
pub fn div_rem(g: &mut Graph, a: &[Lit], b: &[Lit]) -> (Bits, Bits) {
    let width = a.len();
    // small[k]: the divisor has no bit from k on.
    let mut small = vec![Lit::TRUE; width + 1];
    for k in (0..width).rev() {
        small[k] = g.and(small[k + 1], !b[k]);
    }
    let mut quotient = vec![Lit::FALSE; width];
    let mut rest: Bits = vec![];
    // After k of the dividend's bits the rest has at most k bits, so only those are subtracted.
    for k in 1..=width {
        rest.insert(0, a[width - k]);
        let (difference, no_borrow) = ripple(g, &rest, &not(&b[..k]), Lit::TRUE);
        let fits = g.and(no_borrow, small[k]);
        quotient[width - k] = fits;
        rest = mux(g, fits, &difference, &rest);
    }
    (quotient, rest)
}

/// Quotient and remainder of signed numbers, rounding towards zero.
pub fn signed_div_rem(g: &mut Graph, a: &[Lit], b: &[Lit]) -> (Bits, Bits) {
    let sign = |x: &[Lit]| x.last().copied().unwrap_or(Lit::FALSE);
    let (sa, sb) = (sign(a), sign(b));
    let a = negate_if(g, sa, a);
    let b = negate_if(g, sb, b);
    let (quotient, rest) = div_rem(g, &a, &b);
    let differ = g.xor(sa, sb);
    (negate_if(g, differ, &quotient), negate_if(g, sa, &rest))
}

/// `-x` if `s` else `x`: complement and increment, both only if `s`.
fn negate_if(g: &mut Graph, s: Lit, x: &[Lit]) -> Bits {
    let flipped: Bits = x.iter().map(|l| g.xor(*l, s)).collect();
    ripple(g, &flipped, &vec![Lit::FALSE; x.len()], s).0
}

/// Shift direction and what comes in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[allow(missing_docs)]
pub enum Shift {
    Left,
    Right,
    /// Right with copies of the sign.
    Arithmetic,
}

/// Barrel shifter: a row of multiplexers for each bit of `by`; too far a shift leaves only fill.
pub fn shift(g: &mut Graph, kind: Shift, x: &[Lit], by: &[Lit]) -> Bits {
    let width = x.len();
    let fill = match (kind, x.last()) {
        (Shift::Arithmetic, Some(sign)) => *sign,
        _ => Lit::FALSE,
    };
    let mut x = x.to_vec();
    let mut too_far = Lit::FALSE;
    for (i, &bit) in by.iter().enumerate() {
        let distance = u32::try_from(i).ok().and_then(|i| 1usize.checked_shl(i));
        let Some(distance) = distance.filter(|d| *d < width) else {
            too_far = g.or(too_far, bit);
            continue;
        };
        x = (0..width)
            .map(|j| {
                let from = match kind {
                    Shift::Left => j.checked_sub(distance),
                    _ => Some(j + distance),
                };
                let moved = from.and_then(|from| x.get(from)).copied().unwrap_or(fill);
                g.mux(bit, moved, x[j])
            })
            .collect();
    }
    x.into_iter().map(|l| g.mux(too_far, fill, l)).collect()
}
