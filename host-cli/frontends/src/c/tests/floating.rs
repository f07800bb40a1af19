//! Floating-point numbers, held against the processor's.

use super::language::{cfa, holds};
use super::random::Random;
use super::{compile, options};
use std::collections::HashMap;
use std::fmt::Write;
use vouch_ir::{Word, eval};

/// Globals after the run of `main` in which all inputs are 0.
fn globals(text: &str) -> HashMap<String, Word> {
    let cfa = cfa(text, &options("main"));
    let ended = eval::run(&cfa, 0, &[0], 10_000).unwrap();
    cfa.vars.iter().zip(&ended.state).map(|(v, x)| (v.name.clone(), *x)).collect()
}

/// Numbers of which some are special, or near a border.
fn bits(r: &mut Random) -> u64 {
    const SPECIAL: [f64; 16] = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.5,
        2147483647.0,
        2147483648.0,
        -2147483648.0,
        -2147483649.0,
        4294967295.0,
        4294967296.0,
        1e-40,
        5e-324,
        f64::INFINITY,
        f64::NEG_INFINITY,
        f64::NAN,
    ];
    match r.below(4) {
        0 => SPECIAL[r.below(16) as usize].to_bits(),
        1 => (r.next() as i32 as f64 / f64::from(1u32 << r.below(20))).to_bits(),
        2 => r.next() << 32 ^ r.next(),
        // Small ones of `float`.
        _ => f64::from(f32::from_bits(r.below(1 << 23) as u32)).to_bits(),
    }
}

#[test]
fn comparisons_and_conversions_are_those_of_the_processor() {
    for seed in 0..300 {
        let mut r = Random::new(seed);
        let (x, y) = (bits(&mut r), bits(&mut r));
        let y = if r.below(4) == 0 { x } else { y };
        let (a, b) = (f64::from_bits(x), f64::from_bits(y));
        let (c, d) = (a as f32, b as f32);
        let n = r.next() as i32 >> r.below(31);
        let mut text = format!(
            "union d {{ unsigned long long u; double f; }} a = {{ {x}ull }}, b = {{ {y}ull }}, w, m;\n\
             union f {{ unsigned u; float f; }} c = {{ {}u }}, d = {{ {}u }}, e, k;\n\
             int n = {n}; long long l; unsigned u; signed char s; _Bool t; double z; float v;\n",
            c.to_bits(),
            d.to_bits()
        );
        let operators = ["<", "<=", ">", ">=", "==", "!="];
        let (mut single, mut double) = (String::new(), String::new());
        for (i, op) in operators.iter().enumerate() {
            let _ = writeln!(text, "int f{i}, d{i};");
            let _ = write!(single, "f{i} = c.f {op} d.f;");
            let _ = write!(double, "d{i} = a.f {op} b.f;");
        }
        let _ = writeln!(
            text,
            "int main(void) {{ {single} {double} w.f = c.f; m.f = -a.f; e.f = n; k.f = -c.f; l = a.f; \
             u = c.f; s = c.f; t = a.f; z = n; v = n; return c.f ? 1 : 0; }}"
        );
        let found = globals(&text);
        let say = || format!("seed {seed}: {a:?} {b:?} {n}\n{text}");
        let compared = |x: f64, y: f64| [x < y, x <= y, x > y, x >= y, x == y, x != y];
        let both = compared(c.into(), d.into()).into_iter().zip(compared(a, b));
        for (i, (single, double)) in both.enumerate() {
            assert_eq!(found[&format!("f{i}")], single as u128, "{i} {}", say());
            assert_eq!(found[&format!("d{i}")], double as u128, "{i} {}", say());
        }
        let member =
            |name: &str| found.get(name).or_else(|| found.get(&format!("{name}.u"))).copied();
        let of = |name: &str| member(name).unwrap_or_else(|| panic!("{name} in {found:?}"));
        if !c.is_nan() {
            assert_eq!(of("w"), u128::from(f64::from(c).to_bits()), "{}", say());
        }
        assert_eq!(of("m"), u128::from((-a).to_bits()), "{}", say());
        assert_eq!(of("k"), u128::from((-c).to_bits()), "{}", say());
        assert_eq!(of("t"), (a != 0.0) as u128, "{}", say());
        assert_eq!(of("main::result"), (c != 0.0) as u128, "{}", say());
        assert_eq!(of("z"), u128::from(f64::from(n).to_bits()), "{}", say());
        if n as f32 as i64 == i64::from(n) {
            assert_eq!(of("v"), u128::from((n as f32).to_bits()), "{}", say());
            assert_eq!(of("e"), of("v"), "{}", say());
        }
        let fits = |x: f64, least: f64, most: f64| x.trunc() >= least && x.trunc() <= most;
        if fits(a, -9223372036854775808.0, 9223372036854774784.0) {
            assert_eq!(of("l") as u64 as i64, a as i64, "{}", say());
        }
        if fits(c.into(), 0.0, 4294967295.0) {
            assert_eq!(of("u") as u32, c as u32, "{}", say());
        }
        if fits(c.into(), -128.0, 127.0) {
            assert_eq!(of("s") as u8 as i8, c as i8, "{}", say());
        }
    }
}

/// What the processor gives is among what arithmetic may give, and what cannot be is not.
#[test]
fn what_is_known_of_arithmetic_is_so() {
    let numbers = [
        0.0,
        -0.0,
        1.0,
        -1.0,
        0.3,
        -0.7,
        2.5,
        -1e20,
        f32::MAX,
        -1e-40,
        f32::MIN_POSITIVE,
        f32::INFINITY,
        f32::NEG_INFINITY,
        f32::NAN,
    ];
    let give = |op: &str, x: f32, y: f32, any: u32| {
        let text = format!(
            "union f {{ unsigned u; float f; }} a = {{ {}u }}, b = {{ {}u }}, c;\n\
             int main(void) {{ c.f = a.f {op} b.f; return 0; }}",
            x.to_bits(),
            y.to_bits()
        );
        let cfa = compile(&text, &options("main")).unwrap().cfa;
        let ended = eval::run(&cfa, 0, &[any.into()], 1000).unwrap();
        let mut found = cfa.vars.iter().zip(&ended.state).filter(|(v, _)| v.name.starts_with('c'));
        f32::from_bits(found.next().map(|(_, bits)| *bits as u32).unwrap())
    };
    for x in numbers {
        for y in numbers {
            for (op, result) in [("+", x + y), ("-", x - y), ("*", x * y), ("/", x / y)] {
                let found = give(op, x, y, result.to_bits());
                let same = found.to_bits() == result.to_bits() || found.is_nan() && result.is_nan();
                assert!(same, "{x:e} {op} {y:e} is {result:e}, not {found:e}");
            }
        }
    }
    for any in [0u32, 0x8000_0000, 0x3f00_0000, 0xff7f_ffff, 0x7f80_0000, 0x7fc0_0000, 0xffff_ffff]
    {
        let give = |op: &str, x: f32, y: f32| give(op, x, y, any);
        assert!((0.0..=3.0).contains(&give("*", 3.0, 0.5)));
        assert!(give("*", -3.0, 2.5) <= -3.0);
        assert!(give("+", 3.0, 2.5) >= 3.0);
        assert!((-3.0..=0.0).contains(&give("-", 2.5, 3.0)));
        assert!((-3.0..=0.0).contains(&give("/", 3.0, -2.5)));
        assert!(give("/", 3.0, 0.5) >= 3.0);
        assert!(give("+", f32::NAN, 1.0).is_nan());
    }
}

#[test]
fn constants_are_computed_where_nothing_is_rounded() {
    holds("float x = 1.5f;", "", "x * 2 == 3 || x == 1.5");
    holds("static const float x = 3; int n = (int)2.75;", "", "x == 3.0 && n == 2 && -x < 0");
    holds("double x = 10.0 * 2 - 0.5;", "", "x == 19.5 && (int)x == 19");
    holds("float f(float x) { return x; }", "float y = f(7);", "y == 7.0f");
    holds("enum { N = (int)3.9 }; int a[N];", "", "sizeof a == 12");
    holds("double fabs(double);", "double x = -2;", "fabs(x) == 2 && !(x > 0)");
    holds("float fmaxf(float, float);", "float x = 3;", "fmaxf(x, 4.5f) == 4.5f");
}

/// Names of what a program decides and nothing here knows.
fn approximate(declarations: &str, statements: &str) -> Vec<String> {
    let text = format!("{declarations} int main(void) {{ {statements} }}");
    let compiled = compile(&text, &options("main")).unwrap();
    let cfa = &compiled.cfa;
    cfa.approximate.iter().map(|i| cfa.inputs[i.index()].name.clone()).collect()
}

#[test]
fn what_may_be_rounded_is_approximate() {
    assert_eq!(approximate("float x;", "x = x * 3;"), ["rounded"]);
    assert_eq!(approximate("double x;", "x += 0.1;"), ["rounded"]);
    assert_eq!(approximate("double x; float y;", "y = x;"), ["rounded"]);
    assert_eq!(approximate("int n; float y;", "y = n;"), ["rounded"]);
    assert_eq!(approximate("double sqrt(double); double x;", "x = sqrt(x);"), ["sqrt"]);
    assert_eq!(approximate("int n; double y;", "y = n; if (y < 3) n = y;"), Vec::<String>::new());
    // A function of the program's own that has such a name.
    assert_eq!(approximate("void log(const char *);", "log(0);"), Vec::<String>::new());
}

#[test]
fn other_numbers_are_refused() {
    let refused = |text: &str| {
        let errors = compile(text, &options("main")).unwrap_err();
        assert!(errors[0].message.contains("floating-point"), "{errors:?}");
    };
    refused("long double x; int main(void) { x = x + 1; }");
    refused("int main(void) { return 1.0L > 0; }");
    for wrong in ["~x", "x % 2", "x << 1", "1 << x", "(x = p)", "x == p"] {
        refused(&format!("float x; int *p; int main(void) {{ return (int)({wrong}); }}"));
    }
}

#[test]
fn inputs_may_be_any_number() {
    let text = "extern float __vouch_input_float(const char *); extern double __vouch_input_double(const char *);\n\
        extern unsigned long long vouch_input(const char *);\n\
        #define ANY(v) ((v) = (__typeof__(v))_Generic((v), float: __vouch_input_float, \\\n\
        double: __vouch_input_double, default: vouch_input)(#v))\n\
        float x; volatile double y; int z; int main(void) { ANY(x); ANY(y); ANY(z); return 0; }";
    let cfa = compile(text, &options("main")).unwrap().cfa;
    assert!(cfa.approximate.is_empty());
    let width = |name: &str| cfa.inputs.iter().find(|i| i.name == name).map(|i| i.width);
    assert_eq!([width("x"), width("y"), width("z")], [Some(32), Some(64), Some(64)]);
}
