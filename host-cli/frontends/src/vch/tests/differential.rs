//! Random programs: the automaton against an interpreter of its own, which computes with plain
//! integers and knows nothing of bit-vectors, symbolic execution or the compiler's trees.

use super::*;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use std::fmt::Write;
use vouch_ir::{InputId, mask};

/// A number type of the test: width and whether it is signed.
type Num = (u32, bool);
const NUMS: &[Num] = &[(1, false), (3, false), (8, false), (13, false), (64, false)];
const SIGNED: &[Num] = &[(2, true), (8, true), (11, true), (64, true)];
/// Each type has this many variables, `v{type}_{k}`.
const VARS: usize = 2;
const ARRAY: usize = 5;

fn nums() -> Vec<Num> {
    NUMS.iter().chain(SIGNED).copied().collect()
}
fn shown((width, signed): Num) -> String {
    format!("{}{width}", if signed { 'i' } else { 'u' })
}
fn name(ty: usize, k: usize) -> String {
    format!("v{ty}_{k}")
}
/// The value that remains of an exact one.
fn wrap(value: i128, (width, signed): Num) -> i128 {
    let modulus = 1i128 << width;
    let value = value.rem_euclid(modulus);
    if signed && value >= modulus / 2 { value - modulus } else { value }
}

/// An expression over numbers of one type (by its place in `nums`).
#[derive(Clone, Debug)]
enum E {
    Lit(usize, i128),
    Var(usize, usize),
    Bin(&'static str, Box<E>, Box<E>),
    Neg(Box<E>),
    Flip(Box<E>),
    Cast(usize, Box<E>),
    If(Box<B>, Box<E>, Box<E>),
    /// An element of the array of u8, the index being taken modulo its length.
    Element(Box<E>),
    /// The function `pick`, on numbers of 8 bits.
    Pick(Box<E>, Box<E>),
}

#[derive(Clone, Debug)]
enum B {
    Lit(bool),
    Cmp(&'static str, Box<E>, Box<E>),
    Bin(&'static str, Box<B>, Box<B>),
    Not(Box<B>),
}

#[derive(Clone, Debug)]
enum S {
    Assign(usize, usize, E),
    Store(E, E),
    If(B, Vec<S>, Vec<S>),
    For(u32, Vec<S>),
    /// A local variable, and an assignment from it.
    Local(usize, usize, E),
}

const U8: usize = 2;

fn expr(ty: usize, depth: u32) -> BoxedStrategy<E> {
    let num = nums()[ty];
    let low = if num.1 { -(1i128 << (num.0 - 1)) } else { 0 };
    let high = low + (1i128 << num.0) - 1;
    let leaf = prop_oneof![
        (low..=high).prop_map(move |v| E::Lit(ty, v)),
        (0..VARS).prop_map(move |k| E::Var(ty, k)),
        (0..VARS).prop_map(move |k| E::Var(ty, k)),
    ];
    if depth == 0 {
        return leaf.boxed();
    }
    let sub = move || expr(ty, depth - 1).prop_map(Box::new);
    let ops = &["+", "-", "*", "/", "%", "&", "|", "^", "+%", "-%", "*%"];
    let mut options = vec![
        leaf.boxed(),
        (prop::sample::select(ops), sub(), sub()).prop_map(|(o, a, b)| E::Bin(o, a, b)).boxed(),
        (prop::sample::select(&["<<", ">>"]), sub(), expr(1, depth - 1))
            .prop_map(|(o, a, b)| E::Bin(o, a, Box::new(b)))
            .boxed(),
        (prop::sample::select(&["<<", ">>"]), sub(), expr(U8, depth - 1))
            .prop_map(|(o, a, b)| E::Bin(o, a, Box::new(b)))
            .boxed(),
        sub().prop_map(E::Flip).boxed(),
        (0..nums().len())
            .prop_flat_map(move |from| expr(from, depth - 1))
            .prop_map(move |e| E::Cast(ty, Box::new(e)))
            .boxed(),
        (cond(depth - 1), sub(), sub()).prop_map(|(c, a, b)| E::If(Box::new(c), a, b)).boxed(),
    ];
    if num.1 {
        options.push(sub().prop_map(E::Neg).boxed());
    }
    if ty == U8 {
        options.push(sub().prop_map(E::Element).boxed());
        options.push((sub(), sub()).prop_map(|(a, b)| E::Pick(a, b)).boxed());
    }
    prop::strategy::Union::new(options).boxed()
}

fn cond(depth: u32) -> BoxedStrategy<B> {
    if depth == 0 {
        return any::<bool>().prop_map(B::Lit).boxed();
    }
    let sub = move || cond(depth - 1).prop_map(Box::new);
    let compare = (0..nums().len(), prop::sample::select(&["==", "!=", "<", "<=", ">", ">="]))
        .prop_flat_map(move |(ty, o)| {
            (expr(ty, depth - 1), expr(ty, depth - 1))
                .prop_map(move |(a, b)| B::Cmp(o, Box::new(a), Box::new(b)))
        });
    let join = prop::sample::select(&["&&", "||", "=>", "==", "!=", "&", "|", "^"]);
    prop_oneof![
        4 => compare,
        1 => (join, sub(), sub()).prop_map(|(o, a, b)| B::Bin(o, a, b)),
        1 => sub().prop_map(B::Not),
    ]
    .boxed()
}

fn statement(depth: u32) -> BoxedStrategy<S> {
    let assign = (0..nums().len(), 0..VARS)
        .prop_flat_map(|(ty, k)| expr(ty, 3).prop_map(move |e| S::Assign(ty, k, e)));
    let local = (0..nums().len(), 0..VARS)
        .prop_flat_map(|(ty, k)| expr(ty, 2).prop_map(move |e| S::Local(ty, k, e)));
    let store = (expr(U8, 2), expr(U8, 2)).prop_map(|(i, e)| S::Store(i, e));
    let simple = prop_oneof![3 => assign, 1 => local, 1 => store];
    if depth == 0 {
        return simple.boxed();
    }
    let block = || prop::collection::vec(statement(depth - 1), 1..4);
    prop_oneof![
        3 => simple,
        2 => (cond(3), block(), block()).prop_map(|(c, a, b)| S::If(c, a, b)),
        1 => (1..4u32, block()).prop_map(|(n, b)| S::For(n, b)),
    ]
    .boxed()
}

/// The program's text. Every sub-expression is in parentheses: precedence has its own test.
fn print(list: &[S], out: &mut String, locals: &mut usize) {
    for s in list {
        match s {
            S::Assign(ty, k, e) => writeln!(out, "{} = {};", name(*ty, *k), text(e)),
            S::Store(i, e) => writeln!(out, "arr[{} % {ARRAY}] = {};", text(i), text(e)),
            S::Local(ty, k, e) => {
                *locals += 1;
                let n = *locals;
                writeln!(out, "let l{n} = {}; {} = l{n};", text(e), name(*ty, *k))
            }
            S::If(c, a, b) => {
                writeln!(out, "if {} {{", condition(c)).unwrap();
                print(a, out, locals);
                writeln!(out, "}} else {{").unwrap();
                print(b, out, locals);
                writeln!(out, "}}")
            }
            S::For(n, body) => {
                *locals += 1;
                writeln!(out, "for _i{locals} in 0..{n} {{").unwrap();
                print(body, out, locals);
                writeln!(out, "}}")
            }
        }
        .unwrap();
    }
}

fn text(e: &E) -> String {
    match e {
        E::Lit(ty, v) if *v < 0 => format!("(({v}) as {})", shown(nums()[*ty])),
        E::Lit(ty, v) => format!("{v}{}", shown(nums()[*ty])),
        E::Var(ty, k) => name(*ty, *k),
        E::Bin(op, a, b) => format!("({} {op} {})", text(a), text(b)),
        E::Neg(a) => format!("(-{})", text(a)),
        E::Flip(a) => format!("(~{})", text(a)),
        E::Cast(ty, a) => format!("({} as {})", text(a), shown(nums()[*ty])),
        E::If(c, a, b) => format!("({} ? {} : {})", condition(c), text(a), text(b)),
        E::Element(i) => format!("arr[{} % {ARRAY}]", text(i)),
        E::Pick(a, b) => format!("pick({}, {})", text(a), text(b)),
    }
}

fn condition(b: &B) -> String {
    match b {
        B::Lit(v) => v.to_string(),
        B::Cmp(op, a, b) => format!("({} {op} {})", text(a), text(b)),
        B::Bin(op, a, b) => format!("({} {op} {})", condition(a), condition(b)),
        B::Not(a) => format!("(!{})", condition(a)),
    }
}

/// The interpreter's memory. `Err` is a division by zero.
#[derive(Clone, PartialEq, Debug)]
struct Memory {
    vars: Vec<[i128; VARS]>,
    arr: [i128; ARRAY],
}
type Eval<T> = Result<T, ()>;

impl Memory {
    fn number(&self, e: &E) -> Eval<(i128, Num)> {
        Ok(match e {
            E::Lit(ty, v) => (*v, nums()[*ty]),
            E::Var(ty, k) => (self.vars[*ty][*k], nums()[*ty]),
            E::Bin(op, a, b) => {
                let ((x, num), (y, _)) = (self.number(a)?, self.number(b)?);
                let big = y >= num.0 as i128;
                let exact = match *op {
                    "+" | "+%" => x + y,
                    "-" | "-%" => x - y,
                    // Only the lower 64 bits matter, and they wrap in the same way.
                    "*" | "*%" => x.wrapping_mul(y),
                    "/" | "%" if y == 0 => return Err(()),
                    "/" => x / y,
                    "%" => x % y,
                    "&" => x & y,
                    "|" => x | y,
                    "^" => x ^ y,
                    "<<" if big => 0,
                    "<<" => (x as u128).wrapping_shl(y as u32) as i128,
                    ">>" if big => {
                        if x < 0 {
                            -1
                        } else {
                            0
                        }
                    }
                    ">>" => x.div_euclid(1 << y),
                    _ => unreachable!(),
                };
                (wrap(exact, num), num)
            }
            E::Neg(a) => {
                let (x, num) = self.number(a)?;
                (wrap(-x, num), num)
            }
            E::Flip(a) => {
                let (x, num) = self.number(a)?;
                (wrap(-1 - x, num), num)
            }
            E::Cast(ty, a) => (wrap(self.number(a)?.0, nums()[*ty]), nums()[*ty]),
            E::If(c, a, b) => return if self.truth(c)? { self.number(a) } else { self.number(b) },
            E::Element(i) => (self.arr[(self.number(i)?.0 % ARRAY as i128) as usize], nums()[U8]),
            E::Pick(a, b) => {
                let (a, b) = (self.number(a)?.0, self.number(b)?.0);
                // As the function does it, with an early return.
                let value = if a > 2 * b { a - b } else { wrap(a + 1, nums()[U8]) ^ b };
                (value, nums()[U8])
            }
        })
    }
    fn truth(&self, b: &B) -> Eval<bool> {
        Ok(match b {
            B::Lit(v) => *v,
            B::Cmp(op, a, b) => {
                let (x, y) = (self.number(a)?.0, self.number(b)?.0);
                match *op {
                    "==" => x == y,
                    "!=" => x != y,
                    "<" => x < y,
                    "<=" => x <= y,
                    ">" => x > y,
                    _ => x >= y,
                }
            }
            B::Bin("&&", a, b) => self.truth(a)? && self.truth(b)?,
            B::Bin("||", a, b) => self.truth(a)? || self.truth(b)?,
            B::Bin("=>", a, b) => !self.truth(a)? || self.truth(b)?,
            B::Bin(op, a, b) => {
                let (x, y) = (self.truth(a)?, self.truth(b)?);
                match *op {
                    "==" => x == y,
                    "!=" | "^" => x != y,
                    "&" => x && y,
                    _ => x || y,
                }
            }
            B::Not(a) => !self.truth(a)?,
        })
    }
    fn run(&mut self, list: &[S]) -> Eval<()> {
        for s in list {
            match s {
                S::Assign(ty, k, e) | S::Local(ty, k, e) => self.vars[*ty][*k] = self.number(e)?.0,
                S::Store(i, e) => {
                    let i = (self.number(i)?.0 % ARRAY as i128) as usize;
                    self.arr[i] = self.number(e)?.0;
                }
                S::If(c, a, b) => {
                    if self.truth(c)? {
                        self.run(a)?;
                    } else {
                        self.run(b)?;
                    }
                }
                S::For(n, body) => {
                    for _ in 0..*n {
                        self.run(body)?;
                    }
                }
            }
        }
        Ok(())
    }
}

/// The statements as an action, or as what happens in every step.
fn program(list: &[S], every: bool) -> String {
    let mut out = String::from(
        "fn pick(a: u8, b: u8) -> u8 {
            if a as u16 > 2 * (b as u16) { return a - b; }
            let next = a + 1;
            next ^ b
        }
        machine m {\n",
    );
    for (ty, num) in nums().into_iter().enumerate() {
        for k in 0..VARS {
            writeln!(out, "var {}: {};", name(ty, k), shown(num)).unwrap();
        }
    }
    let (before, after) = match every {
        true => ("initial state S;\nevery step {", "}\n}"),
        false => ("initial state S { on true {", "} }\n}"),
    };
    writeln!(out, "var arr: [u8; {ARRAY}];\n{before}").unwrap();
    print(list, &mut out, &mut 0);
    out += after;
    out
}

#[test]
fn random_programs_agree() {
    // Making the programs is slow, and each has much in it.
    let mut config = fixed_seed();
    config.cases = config.cases.div_ceil(2);
    let mut runner = TestRunner::new(config);
    let numbers = prop::collection::vec(any::<u64>(), 60);
    let strategy = (prop::collection::vec(statement(2), 1..6), numbers, any::<bool>());
    let result = runner.run(&strategy, |(list, numbers, every)| {
        let text = program(&list, every);
        let compiled = compile(&text);
        let cfa = &compiled.cfa;
        // Several starts for each program: small values make divisors and indexes interesting.
        for (round, numbers) in numbers.chunks(20).enumerate() {
            let mut numbers = numbers.iter().cycle().map(|n| if round == 0 { n % 3 } else { *n });
            let mut next = move |num| wrap(numbers.next().unwrap() as i128, num);
            let vars = nums().iter().map(|num| std::array::from_fn(|_| next(*num))).collect();
            let mut memory = Memory { vars, arr: std::array::from_fn(|_| next(nums()[U8])) };
            let bits = |v: i128, num: Num| v as Word & mask(num.0);
            let state = |memory: &Memory| -> Vec<Word> {
                let vars = nums().into_iter().zip(&memory.vars);
                let vars = vars.flat_map(|(num, list)| list.map(|v| bits(v, num)));
                vars.chain(memory.arr.map(|v| v as Word)).collect()
            };
            let before = state(&memory);
            let init =
                eval::step(cfa, &vec![0; before.len()], EdgeId(0), |i: InputId| before[i.index()]);
            prop_assert_eq!(init.as_ref(), Some(&before));
            let run = Run { cfa, location: cfa.edges[0].to, values: before.clone() };
            match memory.run(&list) {
                Ok(()) => {
                    prop_assert!(run.broken(&[]).is_empty(), "{}", text);
                    let mut run = run;
                    // A step that changes nothing may have no edge.
                    run.step(&[]);
                    prop_assert_eq!(run.values, state(&memory), "{}", text);
                }
                Err(()) => {
                    prop_assert_eq!(run.broken(&[]), ["no_division_by_zero"], "{}", text);
                    let mut run = run;
                    prop_assert!(!run.step(&[]));
                }
            }
        }
        Ok(())
    });
    if let Err(error) = result {
        panic!("{error}");
    }
}
