//! Sets of values against the reference interpreter.

use super::*;
use vouch_ir::sample::Random;

const OPS: [BinOp; 19] = [
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::UDiv,
    BinOp::URem,
    BinOp::SDiv,
    BinOp::SRem,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::Eq,
    BinOp::Ult,
    BinOp::Ule,
    BinOp::Slt,
    BinOp::Sle,
    BinOp::Concat,
];

/// A random set, as they come about, and words in it.
fn random(r: &mut Random, width: u32) -> (Value, Vec<Word>) {
    let words: Vec<Word> = (0..1 + r.below(3))
        .map(|_| match r.below(3) {
            0 => r.word(width),
            1 => r.word(width) & 3 & mask(width),
            _ => mask(width) & !(r.word(width) & 3),
        })
        .collect();
    let mut value = Value::exactly(words[0], width);
    for word in &words {
        let other = Value::exactly(*word, width);
        let limits: Vec<Word> = [3, 9].into_iter().filter(|l| *l <= mask(width)).collect();
        value = if r.below(6) == 0 { value.widen(&other, &limits) } else { value.join(&other) };
    }
    let inside = |w: &Word| value.contains(*w);
    let more: Vec<Word> = (0..8).map(|_| r.word(width)).filter(inside).collect();
    (value, [words, more].concat())
}

#[test]
fn every_result_is_in_the_set() {
    for seed in 0..4000 {
        let mut r = Random::new(seed);
        let width = [1, 2, 3, 4, 5, 8, 32, 64, 128][r.below(9)];
        let (a, xs) = random(&mut r, width);
        let (b, ys) = random(&mut r, width);
        for op in OPS {
            if op == BinOp::Concat && width > 64 {
                continue;
            }
            let result = Value::binary(op, &a, &b);
            for (x, y) in xs.iter().flat_map(|x| ys.iter().map(move |y| (*x, *y))) {
                assert!(a.contains(x) && b.contains(y), "{x} {y} {a:?} {b:?}");
                let word = eval::binary(op, x, y, width, width);
                assert!(result.contains(word), "{x} {op:?} {y} = {word}: {a:?} {b:?} {result:?}");
                if matches!(op, BinOp::Eq | BinOp::Ult | BinOp::Ule | BinOp::Slt | BinOp::Sle)
                    && word == 1
                {
                    let left = Value::comparing(op, &b).and_then(|v| v.meet(&a));
                    assert!(left.is_some_and(|v| v.contains(x)), "{x} {op:?} {y}: {left:?}");
                    let right = Value::compared(op, &a).and_then(|v| v.meet(&b));
                    assert!(right.is_some_and(|v| v.contains(y)), "{x} {op:?} {y}: {right:?}");
                }
            }
        }
        let meet = a.meet(&b);
        for x in xs.iter().filter(|x| b.contains(**x)) {
            assert!(meet.is_some_and(|m| m.contains(*x)));
        }
        for x in &xs {
            for op in [UnOp::Not, UnOp::Neg] {
                assert!(Value::unary(op, &a).contains(eval::unary(op, *x, width)));
            }
            let lo = r.below(width as usize) as u32;
            let part = 1 + r.below((width - lo) as usize) as u32;
            assert!(Value::slice(&a, lo, part).contains(x >> lo & mask(part)));
            let wide = width + r.below((128 - width) as usize + 1) as u32;
            assert!(Value::extend(&a, wide, false).contains(*x));
            let signed = eval::sign_extend(*x, width) & mask(wide);
            assert!(Value::extend(&a, wide, true).contains(signed), "{a:?} {x} {wide}");
            let n = a.signed_width();
            assert_eq!(eval::sign_extend(x & mask(n), n) & mask(width), *x);
        }
    }
}

/// The clauses hold for the words of the set and for no others.
#[test]
fn clauses_say_what_the_set_is() {
    for seed in 0..3000 {
        let mut r = Random::new(seed);
        let width = 1 + r.below(6) as u32;
        let (value, _) = random(&mut r, width);
        let clauses = value.clauses(VarId(0));
        for word in 0..=mask(width) {
            let holds = |l: &BitLit| (word >> l.bit & 1 == 1) == l.value;
            let all = clauses.iter().all(|c| c.iter().any(holds));
            assert_eq!(all, value.contains(word), "{word} {value:?} {clauses:?}");
        }
    }
}
