//! What the operators mean.

use super::line::Line;
use super::value::{Sort, Value};
use super::wide::{Shift, Wide, Words};
use super::{Result1, fail};
use vouch_ir::ExprId;

/// How many operands an operator has that are nodes; `None` if it is none that is known.
pub fn arity(tag: &str) -> Option<usize> {
    Some(match tag {
        "not" | "inc" | "dec" | "neg" | "redand" | "redor" | "redxor" | "uext" | "sext"
        | "slice" => 1,
        "iff" | "implies" | "eq" | "neq" | "ugt" | "sgt" | "ugte" | "sgte" | "ult" | "slt"
        | "ulte" | "slte" | "and" | "nand" | "nor" | "or" | "xnor" | "xor" | "rol" | "ror"
        | "sll" | "sra" | "srl" | "add" | "mul" | "udiv" | "sdiv" | "smod" | "urem" | "srem"
        | "sub" | "uaddo" | "saddo" | "sdivo" | "umulo" | "smulo" | "usubo" | "ssubo"
        | "concat" | "read" => 2,
        "ite" | "write" => 3,
        _ => return None,
    })
}

/// About how many operations on words an operator takes on vectors wider than a word, if these are more
/// than in proportion to the width.
pub fn wide_work(words: &Words, tag: &str, operands: &[Value]) -> u64 {
    let Some(Value::Vector(x)) = operands.first() else { return 0 };
    let (width, limbs) = (u64::from(words.width(x)), x.0.len() as u64);
    match tag {
        _ if limbs == 1 => 0,
        "mul" => 6 * limbs.pow(3),
        // Of twice the width.
        "umulo" | "smulo" => 6 * (2 * limbs).pow(3),
        "udiv" | "urem" | "sdiv" | "srem" | "smod" | "sdivo" => 10 * width * limbs,
        _ => 0,
    }
}

/// Applies the operator of a line.
pub fn apply(words: &mut Words, line: &Line, operands: &[Value]) -> Result1<Value> {
    let tag = line.tag.text;
    let ill = |why: &str| fail(format!("`{tag}` {why}"), line.span, "ill-sorted");
    match (tag, operands) {
        ("ite", [Value::Vector(c), t, e]) => {
            if words.width(c) != 1 || words.sort(t) != words.sort(e) {
                return ill("needs a condition of one bit and two values of one sort");
            }
            Ok(words.choose(c.0[0], t, e))
        }
        ("read", [Value::Array(elements), Value::Vector(index)]) => {
            if 1u64.checked_shl(words.width(index)) != Some(elements.len() as u64) {
                return ill("needs an index of the array's sort");
            }
            Ok(Value::Vector(words.read(elements, index)))
        }
        ("write", [array @ Value::Array(elements), Value::Vector(index), Value::Vector(x)]) => {
            let sort = Sort::Array { index: words.width(index), element: words.width(x) };
            if words.sort(array) != sort {
                return ill("needs an index and a value of the array's sorts");
            }
            Ok(Value::Array(words.write(elements, index, x)))
        }
        ("eq" | "neq", [a, b]) => {
            if words.sort(a) != words.sort(b) {
                return ill("needs two values of one sort");
            }
            let same = words.same(a, b);
            let bit = if tag == "eq" { same } else { words.0.not(same) };
            Ok(Value::Vector(words.bool(bit)))
        }
        (_, [Value::Vector(x)]) => unary(words, line, x).map(Value::Vector),
        (_, [Value::Vector(a), Value::Vector(b)]) => {
            if tag != "concat" && words.width(a) != words.width(b) {
                return ill("needs two values of one sort");
            }
            if matches!(tag, "iff" | "implies") && words.width(a) != 1 {
                return ill("needs values of one bit");
            }
            match binary(words, tag, a, b) {
                Some(value) => Ok(Value::Vector(value)),
                None => ill("does not take vectors"),
            }
        }
        _ => ill("does not take arrays in this place"),
    }
}

fn unary(words: &mut Words, line: &Line, x: &Wide) -> Result1<Wide> {
    let width = words.width(x);
    Ok(match line.tag.text {
        "not" => words.not(x),
        "neg" => words.neg(x),
        "inc" | "dec" => {
            let one = words.small(1, width);
            if line.tag.text == "inc" { words.add(x, &one) } else { words.sub(x, &one) }
        }
        "redand" => one(words.all(x)),
        "redor" => one(words.any(x)),
        "redxor" => one(words.parity(x)),
        "uext" | "sext" => {
            let by = line.number(2, "the number of bits to add")?;
            let signed = line.tag.text == "sext";
            match u32::try_from(by).ok().and_then(|by| width.checked_add(by)) {
                Some(width) if width <= super::build::MAX_WIDTH => words.extend(x, width, signed),
                _ => return fail("the vector becomes too wide", line.span, "here"),
            }
        }
        "slice" => {
            let (hi, lo) = (line.number(2, "the upper bit")?, line.number(3, "the lower bit")?);
            if lo > hi || hi >= width as u64 {
                let message = format!("bits {hi} to {lo} of a vector of {width} bits");
                return fail(message, line.span, "no such bits");
            }
            words.slice(x, lo as u32, (hi - lo + 1) as u32)
        }
        tag => return fail(format!("`{tag}` does not take a vector"), line.span, "ill-sorted"),
    })
}

fn one(bit: ExprId) -> Wide {
    Wide(vec![bit])
}

fn binary(words: &mut Words, tag: &str, a: &Wide, b: &Wide) -> Option<Wide> {
    let width = words.width(a);
    Some(match tag {
        "iff" => one(words.equal(a, b)),
        "implies" => {
            let not = words.not(a);
            words.or(&not, b)
        }
        "ult" => one(words.ult(a, b)),
        "ugt" => one(words.ult(b, a)),
        "slt" => one(words.slt(a, b)),
        "sgt" => one(words.slt(b, a)),
        "ulte" => not_one(words, Words::ult, b, a),
        "ugte" => not_one(words, Words::ult, a, b),
        "slte" => not_one(words, Words::slt, b, a),
        "sgte" => not_one(words, Words::slt, a, b),
        "and" => words.and(a, b),
        "or" => words.or(a, b),
        "xor" => words.xor(a, b),
        "nand" => negated(words, Words::and, a, b),
        "nor" => negated(words, Words::or, a, b),
        "xnor" => negated(words, Words::xor, a, b),
        "rol" => words.rotate(a, b, true),
        "ror" => words.rotate(a, b, false),
        "sll" => words.shift(a, b, Shift::Left),
        "srl" => words.shift(a, b, Shift::Right),
        "sra" => words.shift(a, b, Shift::Arithmetic),
        "add" => words.add(a, b),
        "sub" => words.sub(a, b),
        "mul" => words.mul(a, b),
        "udiv" => words.div_rem(a, b).0,
        "urem" => words.div_rem(a, b).1,
        "sdiv" => signed_division(words, a, b).0,
        "srem" => signed_division(words, a, b).1,
        "smod" => modulo(words, a, b),
        "concat" => words.concat(a, b),
        "uaddo" => {
            let (a, b) = (words.extend(a, width + 1, false), words.extend(b, width + 1, false));
            let sum = words.add(&a, &b);
            one(words.sign(&sum))
        }
        "usubo" => one(words.ult(a, b)),
        "saddo" | "ssubo" => {
            let (a, b) = (words.extend(a, width + 1, true), words.extend(b, width + 1, true));
            let exact = if tag == "saddo" { words.add(&a, &b) } else { words.sub(&a, &b) };
            one(leaves(words, &exact, width))
        }
        "umulo" => {
            let (a, b) = (words.extend(a, 2 * width, false), words.extend(b, 2 * width, false));
            let product = words.mul(&a, &b);
            let upper = words.slice(&product, width, width);
            one(words.any(&upper))
        }
        "smulo" => {
            let (a, b) = (words.extend(a, 2 * width, true), words.extend(b, 2 * width, true));
            let exact = words.mul(&a, &b);
            one(leaves(words, &exact, width))
        }
        "sdivo" => {
            // Only the least number divided by -1 does not fit.
            let mut least = vec![false; width as usize];
            least[width as usize - 1] = true;
            let (least, ones) = (words.constant(&least), words.ones(width));
            let (x, y) = (words.equal(a, &least), words.equal(b, &ones));
            one(words.0.and(x, y))
        }
        _ => return None,
    })
}

fn negated<'w>(
    words: &mut Words<'w>,
    op: fn(&mut Words<'w>, &Wide, &Wide) -> Wide,
    a: &Wide,
    b: &Wide,
) -> Wide {
    let value = op(words, a, b);
    words.not(&value)
}

fn not_one<'w>(
    words: &mut Words<'w>,
    op: fn(&mut Words<'w>, &Wide, &Wide) -> ExprId,
    a: &Wide,
    b: &Wide,
) -> Wide {
    let bit = op(words, a, b);
    one(words.0.not(bit))
}

/// Whether a signed number is not a number of `width` bits.
fn leaves(words: &mut Words, exact: &Wide, width: u32) -> ExprId {
    let total = words.width(exact);
    let cut = words.slice(exact, 0, width);
    let back = words.extend(&cut, total, true);
    let same = words.equal(&back, exact);
    words.0.not(same)
}

fn absolute(words: &mut Words, x: &Wide) -> (ExprId, Wide) {
    let (sign, negated) = (words.sign(x), words.neg(x));
    (sign, words.ite(sign, &negated, x))
}

/// Quotient towards zero, remainder with the dividend's sign.
fn signed_division(words: &mut Words, a: &Wide, b: &Wide) -> (Wide, Wide) {
    use vouch_ir::BinOp::{SDiv, SRem};
    if let ([a], [b]) = (a.0.as_slice(), b.0.as_slice()) {
        return (one(words.0.binary(SDiv, *a, *b)), one(words.0.binary(SRem, *a, *b)));
    }
    let ((sign_a, size_a), (sign_b, size_b)) = (absolute(words, a), absolute(words, b));
    let (quotient, rest) = words.div_rem(&size_a, &size_b);
    let differ = words.0.binary(vouch_ir::BinOp::Xor, sign_a, sign_b);
    let (minus_quotient, minus_rest) = (words.neg(&quotient), words.neg(&rest));
    (words.ite(differ, &minus_quotient, &quotient), words.ite(sign_a, &minus_rest, &rest))
}

/// Remainder with the divisor's sign.
fn modulo(words: &mut Words, a: &Wide, b: &Wide) -> Wide {
    let ((sign_a, size_a), (sign_b, size_b)) = (absolute(words, a), absolute(words, b));
    let rest = words.div_rem(&size_a, &size_b).1;
    let minus = words.neg(&rest);
    let (positive, negative) = (words.add(&rest, b), words.add(&minus, b));
    // By the dividend's sign, for each sign of the divisor.
    let by_plus = words.ite(sign_a, &negative, &rest);
    let by_minus = words.ite(sign_a, &minus, &positive);
    let result = words.ite(sign_b, &by_minus, &by_plus);
    let some = words.any(&rest);
    words.ite(some, &result, &rest)
}
