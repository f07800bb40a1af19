//! Circuits in text, run in the reference interpreter; operators against big integers.

use super::*;
use crate::{Source, render};
use num_bigint::{BigInt, BigUint, Sign};
use vouch_ir::{Cfa, EdgeId, InputId, VarId, Word, eval, mask};

fn message(text: &str, errors: &[Diagnostic]) -> String {
    render(&Source { path: "test.btor2".into(), text: text.into() }, errors)
}

fn read(text: &str) -> (Cfa, Nodes) {
    match super::read(text, "test") {
        Ok((compiled, nodes)) => {
            compiled.cfa.check().unwrap();
            (compiled.cfa, nodes)
        }
        Err(errors) => panic!("{}", message(text, &errors)),
    }
}

fn refused(text: &str, what: &str) {
    let errors = super::compile(text, "test").unwrap_err();
    let message = message(text, &errors);
    assert!(message.contains(what), "{message}\ndoes not say: {what}");
}

/// What the loop's edge gives from a state.
fn step(cfa: &Cfa, state: &[Word], inputs: &[Word]) -> Option<Vec<Word>> {
    eval::step(cfa, state, EdgeId(1), |i| inputs[i.index()])
}

fn reset(cfa: &Cfa, state: &[Word]) -> Vec<Word> {
    eval::step(cfa, state, EdgeId(0), |_| 0).unwrap()
}

struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    /// A number of so many bits; often one at the edge.
    fn number(&mut self, width: u32) -> BigUint {
        let all = (BigUint::from(1u8) << width) - 1u8;
        match self.next() % 8 {
            0 => BigUint::ZERO,
            1 => all,
            2 => BigUint::from(1u8) << (width - 1),
            3 => BigUint::from(self.next() % (2 * width as u64)) & all,
            4 => BigUint::from(1u8) & all,
            _ => {
                (0..width.div_ceil(64))
                    .fold(BigUint::ZERO, |n, _| (n << 64) | BigUint::from(self.next()))
                    & all
            }
        }
    }
}

fn signed(x: &BigUint, width: u32) -> BigInt {
    let value = BigInt::from(x.clone());
    if x.bit(width as u64 - 1) { value - (BigInt::from(1) << width) } else { value }
}

fn wrap(x: BigInt, width: u32) -> BigUint {
    let modulus = BigInt::from(1) << width;
    (((x % &modulus) + &modulus) % &modulus).to_biguint().unwrap()
}

/// What an operator means, by the words of SMT-LIB and BTOR2.
fn meaning(op: &str, a: &BigUint, b: &BigUint, width: u32) -> BigUint {
    let (sa, sb) = (signed(a, width), signed(b, width));
    let zero = BigUint::ZERO;
    let ones = (BigUint::from(1u8) << width) - 1u8;
    let bit = |x: bool| BigUint::from(x as u8);
    let fits = |x: &BigInt| signed(&wrap(x.clone(), width), width) == *x;
    let shift: u64 = b.try_into().unwrap_or(u64::MAX).min(width as u64);
    let turn: u64 = (b % width).try_into().unwrap();
    match op {
        "iff" | "eq" => bit(a == b),
        "neq" => bit(a != b),
        "implies" => bit(*a == zero || *b != zero),
        "ult" => bit(a < b),
        "ulte" => bit(a <= b),
        "ugt" => bit(a > b),
        "ugte" => bit(a >= b),
        "slt" => bit(sa < sb),
        "slte" => bit(sa <= sb),
        "sgt" => bit(sa > sb),
        "sgte" => bit(sa >= sb),
        "and" => a & b,
        "or" => a | b,
        "xor" => a ^ b,
        "nand" => &ones - (a & b),
        "nor" => &ones - (a | b),
        "xnor" => &ones - (a ^ b),
        "add" => wrap(sa + sb, width),
        "sub" => wrap(sa - sb, width),
        "mul" => wrap(sa * sb, width),
        "udiv" if *b == zero => ones,
        "udiv" => a / b,
        "urem" => {
            if *b == zero {
                a.clone()
            } else {
                a % b
            }
        }
        "sdiv" if *b == zero => {
            if sa.sign() == Sign::Minus {
                1u8.into()
            } else {
                ones
            }
        }
        "sdiv" => wrap(sa / sb, width),
        "srem" | "smod" if *b == zero => a.clone(),
        "srem" => wrap(sa % sb, width),
        "smod" => wrap(((sa % &sb) + &sb) % sb, width),
        "sll" => (a << shift) & ones,
        "srl" => a >> shift,
        "sra" => wrap(sa >> shift, width),
        "rol" => ((a << turn) | (a >> (width as u64 - turn))) & ones,
        "ror" => ((a >> turn) | (a << (width as u64 - turn))) & ones,
        "concat" => (a << width) | b,
        "uaddo" => bit(a + b > ones),
        "usubo" => bit(a < b),
        "umulo" => bit(a * b > ones),
        "saddo" => bit(!fits(&(sa + sb))),
        "ssubo" => bit(!fits(&(sa - sb))),
        "smulo" => bit(!fits(&(sa * sb))),
        "sdivo" => bit(*b != zero && !fits(&(sa / sb))),
        "not" => ones - a,
        "neg" => wrap(-sa, width),
        "inc" => wrap(sa + 1, width),
        "dec" => wrap(sa - 1, width),
        "redand" => bit(*a == ones),
        "redor" => bit(*a != zero),
        "redxor" => bit(a.count_ones() % 2 == 1),
        _ => panic!("{op}"),
    }
}

/// A number in the words of something with several parts.
fn split(value: &BigUint, widths: &[u32]) -> Vec<Word> {
    let mut low = 0;
    let mut words = vec![];
    for width in widths {
        let part: BigUint = (value >> low) & BigUint::from(mask(*width));
        words.push(part.try_into().unwrap());
        low += width;
    }
    words
}

/// The other way.
fn join(words: &[Word], widths: &[u32]) -> BigUint {
    let mut low = 0;
    let mut value = BigUint::ZERO;
    for (word, width) in words.iter().zip(widths) {
        value |= BigUint::from(*word) << low;
        low += width;
    }
    value
}

/// The result of an operator as a circuit computes it.
struct Operation {
    cfa: Cfa,
    widths: Vec<u32>,
}

impl Operation {
    /// `line` is an operator's line without its number and sort, over inputs 4 and 5.
    fn new(line: &str, width: u32, result: u32) -> Operation {
        let (tag, operands) = line.split_once(' ').unwrap();
        let text = format!(
            "1 sort bitvec {width}\n2 sort bitvec {result}\n4 input 1 a\n5 input 1 b\n\
             6 state 2 r\n7 {tag} 2 {operands}\n8 next 2 6 7\n"
        );
        let (cfa, _) = read(&text);
        let widths = cfa.vars.iter().map(|v| v.width).collect();
        Operation { cfa, widths }
    }

    fn run(&self, a: &BigUint, b: &BigUint) -> BigUint {
        let widths: Vec<u32> = self.cfa.inputs.iter().map(|i| i.width).collect();
        let half = widths.len() / 2;
        let mut inputs = split(a, &widths[..half]);
        inputs.extend(split(b, &widths[half..]));
        let next = step(&self.cfa, &vec![0; self.widths.len()], &inputs).unwrap();
        join(&next, &self.widths)
    }
}

const COMPARISONS: [&str; 10] =
    ["eq", "neq", "ult", "ulte", "ugt", "ugte", "slt", "slte", "sgt", "sgte"];
const OVERFLOWS: [&str; 7] = ["uaddo", "saddo", "usubo", "ssubo", "umulo", "smulo", "sdivo"];
const ARITHMETIC: [&str; 19] = [
    "and", "or", "xor", "nand", "nor", "xnor", "add", "sub", "mul", "udiv", "urem", "sdiv", "srem",
    "smod", "sll", "srl", "sra", "rol", "ror",
];
const UNARY: [&str; 7] = ["not", "neg", "inc", "dec", "redand", "redor", "redxor"];

fn compare(op: &str, width: u32, values: &[(BigUint, BigUint)]) {
    let result = match op {
        op if COMPARISONS.contains(&op) || OVERFLOWS.contains(&op) || op.starts_with("red") => 1,
        "iff" | "implies" => 1,
        "concat" => 2 * width,
        _ => width,
    };
    let operands = if UNARY.contains(&op) { "4" } else { "4 5" };
    let operation = Operation::new(&format!("{op} {operands}"), width, result);
    for (a, b) in values {
        let expected = meaning(op, a, b, width);
        assert_eq!(operation.run(a, b), expected, "{op} of {a} and {b}, {width} bits");
    }
}

fn operators() -> impl Iterator<Item = &'static str> {
    COMPARISONS.into_iter().chain(OVERFLOWS).chain(ARITHMETIC).chain(UNARY).chain(["concat"])
}

#[test]
fn operators_on_all_small_numbers() {
    for width in 1..=4 {
        let numbers = || (0..1u32 << width).map(BigUint::from);
        let all: Vec<_> = numbers().flat_map(|a| numbers().map(move |b| (a.clone(), b))).collect();
        for op in operators() {
            compare(op, width, &all);
        }
        if width == 1 {
            compare("iff", 1, &all);
            compare("implies", 1, &all);
        }
    }
}

#[test]
fn operators_on_numbers_wider_than_a_word() {
    let mut rng = Rng(12345);
    for width in [64, 65, 100, 128, 129, 193] {
        let values: Vec<_> = (0..12).map(|_| (rng.number(width), rng.number(width))).collect();
        for op in operators() {
            // Bit by bit, which is slow to interpret.
            let slow = ["udiv", "urem", "sdiv", "srem", "smod"].contains(&op) && width > 128;
            compare(op, width, if slow { &values[..3] } else { &values });
        }
    }
}

#[test]
fn parts_and_extensions_of_wide_numbers() {
    let mut rng = Rng(777);
    for (width, hi, lo) in
        [(8, 6, 2), (128, 127, 1), (200, 199, 0), (200, 140, 60), (300, 128, 128)]
    {
        let slice = Operation::new(&format!("slice 4 {hi} {lo}"), width, hi - lo + 1);
        let narrow = Operation::new(&format!("uext 4 {lo}"), width, width + lo);
        let signs = Operation::new(&format!("sext 4 {hi}"), width, width + hi);
        for _ in 0..10 {
            let (a, b) = (rng.number(width), BigUint::ZERO);
            let part = (&a >> lo) & ((BigUint::from(1u8) << (hi - lo + 1)) - 1u8);
            assert_eq!(slice.run(&a, &b), part);
            assert_eq!(narrow.run(&a, &b), a);
            assert_eq!(signs.run(&a, &b), wrap(signed(&a, width), width + hi));
        }
    }
}

#[test]
fn constants_in_every_base() {
    let text = "1 sort bitvec 8\n2 const 1 10\n3 constd 1 -2\n4 consth 1 fE\n5 zero 1\n6 one 1\n\
                7 ones 1\n10 state 1 a\n11 state 1 b\n12 state 1 c\n13 state 1 d\n14 state 1 e\n\
                15 state 1 f\n16 state 1 g\n20 next 1 10 2\n21 next 1 11 3\n22 next 1 12 4\n\
                23 next 1 13 5\n24 next 1 14 6\n25 next 1 15 7\n26 next 1 16 -2\n";
    let (cfa, _) = read(text);
    assert_eq!(step(&cfa, &[9; 7], &[]).unwrap(), [2, 254, 254, 0, 1, 255, 253]);
}

#[test]
fn states_start_and_step_as_they_are_told() {
    // 10: init and next. 11: next only. 12: init only. 13: neither. 14: init from 10, 15: from 11.
    let text = "1 sort bitvec 4\n2 constd 1 5\n10 state 1 both\n11 state 1 stepped\n\
                12 state 1 begun\n13 state 1 free\n20 init 1 10 2\n21 init 1 12 2\n22 inc 1 10\n\
                23 state 1 late\n24 init 1 23 22\n25 state 1 later\n26 add 1 23 11\n\
                27 init 1 25 26\n30 next 1 10 22\n31 next 1 11 13\n32 next 1 23 23\n33 next 1 25 25\n";
    let (cfa, nodes) = read(text);
    let names: Vec<&str> = cfa.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["both", "stepped", "begun", "free", "late", "later"]);
    assert_eq!(reset(&cfa, &[1, 2, 3, 4, 9, 9]), [5, 2, 5, 4, 6, 8]);
    // What has no next value gets one from the environment.
    let inputs: Vec<&str> = cfa.inputs.iter().map(|i| i.name.as_str()).collect();
    assert_eq!(inputs, ["begun", "free"]);
    assert_eq!(step(&cfa, &[5, 2, 5, 4, 6, 8], &[10, 11]).unwrap(), [6, 4, 10, 11, 6, 8]);
    assert_eq!(nodes.states[3].vars, [[VarId(3)]]);
    assert_eq!(nodes.states[3].inputs, [[InputId(1)]]);

    // Nobody asks for the first value of `free`: then it is an input and nothing else.
    let text = "1 sort bitvec 4\n10 state 1 x\n13 state 1 free\n31 next 1 10 13\n";
    let (cfa, nodes) = read(text);
    assert_eq!((cfa.vars.len(), cfa.inputs.len()), (1, 1));
    assert_eq!(step(&cfa, &[5], &[7]).unwrap(), [7]);
    assert!(nodes.states[1].vars.is_empty());
}

#[test]
fn arrays_are_read_and_written() {
    let text = "1 sort bitvec 2\n2 sort bitvec 4\n3 sort array 1 2\n4 input 1 at\n5 input 2 value\n\
                6 state 3 memory\n7 write 3 6 4 5\n8 next 3 6 7\n9 state 2 out\n10 read 2 6 4\n\
                11 next 2 9 10\n12 constd 2 3\n13 init 3 6 12\n14 sort bitvec 1\n15 state 3 copy\n\
                16 eq 14 6 15\n17 ite 3 16 7 15\n18 next 3 15 17\n19 bad 16 same\n";
    let (cfa, nodes) = read(text);
    assert_eq!(cfa.vars.len(), 9);
    assert_eq!(cfa.vars[2].name, "memory[2]");
    assert_eq!(nodes.states[0].index, Some(2));
    let start = reset(&cfa, &[0; 9]);
    assert_eq!(start, [3, 3, 3, 3, 0, 0, 0, 0, 0]);
    let state = [10, 11, 12, 13, 0, 1, 2, 3, 4];
    let next = step(&cfa, &state, &[2, 9]).unwrap();
    assert_eq!(next, [10, 11, 9, 13, 12, 1, 2, 3, 4]);
    let same = [1, 2, 3, 4, 0, 1, 2, 3, 4];
    assert_eq!(step(&cfa, &same, &[0, 9]).unwrap(), [9, 2, 3, 4, 1, 9, 2, 3, 4]);
    let bad = |state: &[Word]| eval::step(&cfa, state, EdgeId(2), |_| 0).is_some();
    assert!(bad(&same) && !bad(&state));
}

#[test]
fn constraints_hold_in_the_last_state_too() {
    let text = "1 sort bitvec 1\n2 input 1 x\n3 constraint 2\n4 bad -2 low\n5 bad 2\n";
    let (cfa, nodes) = read(text);
    assert_eq!(nodes.bads, [4, 5]);
    let taken = |edge, x| eval::step(&cfa, &[], EdgeId(edge), |_| x).is_some();
    assert!(!taken(1, 0) && taken(1, 1));
    assert!(!taken(2, 0) && !taken(2, 1), "bad and forbidden at once");
    assert!(!taken(3, 0) && taken(3, 1));
    let names: Vec<&str> = cfa.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["low", "bad1"]);
}

#[test]
fn what_is_wrong_is_told_where_it_is() {
    refused("hello", "expected the number of a node");
    refused("1", "the line ends after its number");
    refused("1 sort bitvec 0", "at least one bit");
    refused("1 sort bitvec 70000", "too wide");
    refused("1 sort real", "expected `bitvec` or `array`");
    refused("1 sort bitvec 4\n1 zero 1", "must ascend");
    refused("1 sort bitvec 4\n2 zero 3", "3 is not a sort");
    refused("1 sort bitvec 4\n2 frobnicate 1", "unknown keyword `frobnicate`");
    refused("1 sort bitvec 4\n2 not 1 3", "3 is not a value that was defined before");
    refused("1 sort bitvec 4\n2 const 1 10000", "does not fit its sort");
    refused("1 sort bitvec 4\n2 zero 1\n3 add 1 2", "the line ends where");
    refused("1 sort bitvec 4\n2 zero 1\n3 redor 1 2", "the line says vector of 4 bits");
    refused("1 sort bitvec 4\n2 zero 1\n3 slice 1 2 4 1", "no such bits");
    refused("1 sort bitvec 4\n2 zero 1\n3 bad 2", "a value of one bit is expected");
    refused("1 sort bitvec 4\n2 zero 1\n3 next 1 2 2", "2 is not a state");
    refused("1 sort bitvec 4\n2 state 1\n3 init 1 2 2", "first values depend on each other");
    refused("1 sort bitvec 4\n2 input 1\n3 state 1\n4 init 1 3 2", "depends on an input");
    refused("1 sort bitvec 4\n2 state 1\n3 next 1 2 2\n4 next 1 2 2", "two next values");
    refused(
        "1 sort bitvec 4\n2 zero 1\n3 state 1\n4 init 1 3 2\n5 init 1 3 2",
        "initialised twice",
    );
    refused("1 sort bitvec 1\n2 one 1\n3 justice 1 2", "liveness");
    refused("1 sort bitvec 32\n2 sort array 1 1\n3 state 2", "2^32 × 32 bits is too large");
    refused("1 sort bitvec 4\n2 sort array 1 1\n3 state 2\n4 add 1 3 3", "does not take arrays");
    refused("1 sort bitvec 60000\n2 zero 1\n3 uext 1 2 60000", "too wide");
}

/// A few lines could ask for hours of work and all memory.
#[test]
fn products_and_quotients_without_bounds_are_refused() {
    let start = |width: u32| format!("1 sort bitvec {width}\n2 state 1\n");
    refused(&(start(60_000) + "3 mul 1 2 2\n"), "takes too many operations");
    refused(&(start(60_000) + "3 udiv 1 2 2\n"), "make the vectors narrower");
    refused(&(start(5000) + "3 umulo 1 2 2\n"), "`umulo`");
    // Two of them, of which one would do.
    refused(&(start(4000) + "3 udiv 1 2 2\n4 srem 1 3 2\n"), "`srem`");
    // What is usual is not.
    let some: String = (3..20).map(|i| format!("{i} mul 1 {} 2\n", i - 1)).collect();
    assert!(super::compile(&(start(256) + &some), "test").is_ok());
    assert!(super::compile(&(start(128) + "3 udiv 1 2 2\n"), "test").is_ok());
}

#[test]
fn damaged_files_are_refused_without_a_panic() {
    let text = "1 sort bitvec 2\n2 sort bitvec 4\n3 sort array 1 2\n4 input 1 at\n5 input 2 value\n\
                6 state 3 memory\n7 write 3 6 4 5\n8 next 3 6 7\n9 state 2 out\n10 read 2 6 4\n\
                11 next 2 9 10\n12 constd 2 3\n13 init 3 6 12\n14 sort bitvec 1\n15 smod 2 9 5\n\
                16 ult 14 9 15\n17 rol 2 15 9\n18 slice 1 17 2 1\n19 bad 16 same\n20 constraint -16\n";
    read(text);
    let mut rng = Rng(5);
    let mut accepted = 0;
    for _ in 0..2000 {
        let mut bytes = text.as_bytes().to_vec();
        for _ in 0..1 + rng.next() % 3 {
            let at = (rng.next() % bytes.len() as u64) as usize;
            match rng.next() % 3 {
                0 => bytes[at] = b" 0123456789-\n"[(rng.next() % 13) as usize],
                1 => drop(bytes.remove(at)),
                _ => bytes.swap(at, 0),
            }
        }
        let text = String::from_utf8(bytes).unwrap();
        match super::compile(&text, "damaged") {
            Ok(compiled) => {
                compiled.cfa.check().unwrap();
                accepted += 1;
            }
            Err(errors) => assert!(!message(&text, &errors).is_empty()),
        }
    }
    assert!((10..1990).contains(&accepted), "{accepted}");
}
