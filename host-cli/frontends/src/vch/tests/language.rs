//! One construct after the other, executed.

use super::*;
use crate::Overflow;

/// The value that `expr` of type `ty` has in an action, given inputs a, b: u8; s, t: i8; c: bool.
fn value(ty: &str, expr: &str, inputs: Inputs) -> Word {
    let declarations =
        format!("input a: u8; input b: u8; input s: i8; input t: i8; input c: bool; var r: {ty};");
    let text = one_state(&declarations, &format!("r = {expr};"));
    let compiled = compile(&text);
    let mut run = Run::start(&compiled.cfa, &[]);
    assert_eq!(run.broken(inputs), Vec::<&str>::new(), "{expr}");
    run.step(inputs);
    run.get("r")
}

fn i8(x: i128) -> Word {
    x as Word & 0xff
}

#[test]
fn properties_name_the_requirements_that_they_cover() {
    let text = "var a: u8 = 0; machine m { initial state S { else { a += 3; } } \
                property plain: never a == 1; \
                property low [REQ-012, 4.2-b]: never a == 2; }";
    let requirements = compile(text).requirements;
    assert_eq!(requirements.of("low"), ["REQ-012", "4.2-b"]);
    assert!(requirements.of("plain").is_empty());
    let outline = super::super::outline(text);
    assert_eq!(outline.properties[1], ("low".into(), "never a == 2".into()));
}

#[test]
fn what_a_transition_reads_is_in_the_outline() {
    let text = "input go: bool;
machine a { var n: u2 = 0; initial state A { on go -> A { n += 1; } } }
machine b {
    var last: u2 = 0; var all: [u2; 4] = [0; 4]; var unread: u2 = 0;
    fn new(n: u2) -> bool { let unread = n; unread != last }
    initial state Rest {
        exit { all[a.n] = 0; }
        on new(all[1]) -> Busy { unread = 1; }
        else { last = 2; }
    }
    state Busy { entry { if in a.A { last = 1; } } }
}
system both = sync(a, b);
";
    let machines = super::super::outline(text).machines;
    let reads = |machine: usize, at: usize| {
        machines[machine].transitions[at].reads.iter().map(String::as_str).collect::<Vec<_>>()
    };
    assert_eq!(reads(0, 0), ["a.n", "go"]);
    assert_eq!(reads(1, 0), ["a.A", "a.n", "b.all", "b.last"]);
    assert!(reads(1, 1).is_empty());
    assert_eq!(machines[1].transitions[1].rule, [1, 0]);
}

#[test]
fn operators_wrap_around_and_keep_their_sign() {
    let ab = &[("a", 200), ("b", 100)];
    assert_eq!(value("u8", "a + b", ab), 44);
    assert_eq!(value("u8", "b - a", ab), 156);
    assert_eq!(value("u8", "a * b", ab), 200 * 100 % 256);
    assert_eq!(value("u8", "a / b", ab), 2);
    assert_eq!(value("u8", "a % 7", ab), 4);
    assert_eq!(value("u8", "~a", ab), 55);
    assert_eq!(value("u8", "a & 0xF0 | b ^ 1", ab), 192 | 101);
    assert_eq!(value("u16", "(a as u16) + (b as u16)", ab), 300);
    let st = &[("s", i8(-7)), ("t", 2)];
    assert_eq!(value("i8", "s / t", st), i8(-3));
    assert_eq!(value("i8", "s % t", st), i8(-1));
    assert_eq!(value("i8", "-s", st), 7);
    assert_eq!(value("i8", "s >> 1", st), i8(-4));
    assert_eq!(value("u8", "s as u8 >> 1", st), 249 >> 1);
    assert_eq!(value("i16", "s as i16", st), 0xfff9);
    assert_eq!(value("u16", "s as u8 as u16", st), 249);
    assert_eq!(value("bool", "s < t", st), 1);
    assert_eq!(value("bool", "s as u8 < t as u8", st), 0);
    assert_eq!(value("bool", "s >= -7 && t > 1", st), 1);
}

#[test]
fn shifts_by_the_width_or_more_leave_nothing() {
    assert_eq!(value("u8", "a << b", &[("a", 255), ("b", 4)]), 0xf0);
    assert_eq!(value("u8", "a << b", &[("a", 255), ("b", 8)]), 0);
    assert_eq!(value("u8", "a >> b", &[("a", 255), ("b", 200)]), 0);
    assert_eq!(value("i8", "s >> b", &[("s", i8(-100)), ("b", 200)]), i8(-1));
    assert_eq!(value("u3", "(a as u3) << b", &[("a", 7), ("b", 9)]), 0);
    assert_eq!(value("i3", "(s as i3) >> b", &[("s", 4), ("b", 9)]), 7);
    assert_eq!(value("u8", "1 << (b as u3)", &[("b", 7)]), 128);
}

#[test]
fn precedence_is_that_of_rust() {
    assert_eq!(value("bool", "a & 1 == 1", &[("a", 3)]), 1);
    assert_eq!(value("u8", "1 + 2 * 3 << 1", &[]), 14);
    assert_eq!(value("bool", "false && true || true", &[]), 1);
    assert_eq!(value("bool", "true => false => false", &[]), 1);
    assert_eq!(value("u8", "c ? 1 : c ? 2 : 3", &[]), 3);
    assert_eq!(value("u8", "if c { 1 } else if a == 5 { 2 } else { 3 }", &[("a", 5)]), 2);
    assert_eq!(value("i8", "-s as i8 - 1", &[("s", 3)]), i8(-4));
    assert_eq!(value("u8", "10 - 3 - 2", &[]), 5);
}

#[test]
fn numbers_without_type_are_exact() {
    assert_eq!(value("u8", "1000 / 4 - 5", &[]), 245);
    assert_eq!(value("u8", "(1 << 8) - 1", &[]), 255);
    assert_eq!(value("u64", "0xFFFF_FFFF_FFFF_FFFF", &[]), u64::MAX as Word);
    assert_eq!(value("i64", "-9223372036854775808", &[]), 1 << 63);
    assert_eq!(value("u8", "0b101 + 0o17", &[]), 20);
}

#[test]
fn constants_arrays_and_enums() {
    let text = "
        const N = 4;
        const LIMIT: u8 = 10 * 2 + N;
        enum Mode { A, B, C }
        const FIRST: Mode = Mode::B;
        const TABLE: [u8; N] = [1, 2, LIMIT, 8];
        machine m {
            input i: u2;
            input mode: Mode;
            var r: u8 = TABLE[2];
            var s: Mode = FIRST;
            var n: u8 = 0;
            initial state S { on true { r = TABLE[i]; s = mode; n = Mode::C as u8; } }
        }";
    let compiled = compile(text);
    let mut run = Run::start(&compiled.cfa, &[]);
    assert_eq!((run.get("r"), run.get("s")), (24, 1));
    run.step(&[("i", 3), ("mode", 2)]);
    assert_eq!((run.get("r"), run.get("s"), run.get("n")), (8, 2, 2));
    // The fourth bit pattern is not a value of the enum: there is no such step.
    assert!(!run.step(&[("mode", 3)]));
    assert_eq!(compiled.cfa.properties.len(), 0, "a u2 can't miss an array of 4");
}

#[test]
fn arrays_are_read_and_written_by_index() {
    let text = one_state(
        "input i: u4; input x: u8; var a: [u8; 5] = [0; 5]; var b: [[u4; 2]; 3] = [[1, 2], [3, 4], \
         [5, 6]]; var r: u8 = 0; var whole: [u8; 5];",
        "a[i] = x; a[4] += 1; b[i & 1][1] = 15; r = a[i] + b[2][i & 1] as u8; whole = a;",
    );
    let compiled = compile(&text);
    let start = Run::start(&compiled.cfa, &[]);
    for i in 0..5 {
        let mut run = start.clone();
        assert_eq!(run.broken(&[("i", i)]), Vec::<&str>::new());
        run.step(&[("i", i), ("x", 7)]);
        for k in 0..5 {
            let expected = if k == i { 7 } else { 0 } + if k == 4 { 1 } else { 0 };
            assert_eq!(run.get(&format!("a[{k}]")), expected);
            assert_eq!(run.get(&format!("whole[{k}]")), expected);
        }
        assert_eq!(run.get(&format!("b[{}][1]", i & 1)), 15);
        assert_eq!(run.get("b[1][0]"), 3);
        assert_eq!(run.get("r"), 7 + (i == 4) as Word + 5 + (i & 1));
    }
    for i in 5..16 {
        let mut run = start.clone();
        assert_eq!(run.broken(&[("i", i)]), ["index_in_range"]);
        assert!(!run.step(&[("i", i)]), "a step that failed goes no further");
    }
}

#[test]
fn what_is_not_evaluated_does_not_fail() {
    let text = one_state(
        "input i: u4; var a: [u8; 3] = [9; 3]; var r: bool = false; var q: u8 = 0;",
        "r = i < 3 && a[i] == 9; q = i == 0 ? 0 : 100 / (i as u8); if i < 3 { a[i] = 1; }",
    );
    let compiled = compile(&text);
    // Folding can't see that the checks never fail, but no input makes them.
    for i in 0..16 {
        let mut run = Run::start(&compiled.cfa, &[]);
        assert_eq!(run.broken(&[("i", i)]), Vec::<&str>::new());
        run.step(&[("i", i)]);
        assert_eq!(run.get("r"), (i < 3) as Word);
        assert_eq!(run.get("q"), 100u128.checked_div(i).unwrap_or(0));
    }
}

#[test]
fn division_by_zero_is_a_violation() {
    let text = one_state("input x: u4; var r: u4 = 0;", "r = 12 % x;");
    let compiled = compile(&text);
    let run = Run::start(&compiled.cfa, &[]);
    assert_eq!(run.broken(&[("x", 0)]), ["no_division_by_zero"]);
    assert!(run.broken(&[("x", 5)]).is_empty());
    let fine = compile(&one_state("input x: u4; var r: u4 = 0;", "r = x / 3;"));
    assert!(fine.cfa.properties.is_empty());
}

#[test]
fn overflow_wraps_fails_or_is_excluded() {
    let actions = [
        ("u4", "r = r + x;", 15 - 9),
        ("u4", "r = r - x;", 9),
        ("u4", "r = r * x;", 1),
        ("u4", "r += x;", 6),
        ("u4", "r = r +% x;", 15),
    ];
    for (ty, action, largest) in actions {
        let text = one_state(&format!("input x: {ty}; var r: {ty} = 9;"), action);
        let with = |overflow| compile_with(&text, &Options { overflow, ..Options::default() });
        let (wrap, error, assume) =
            (with(Overflow::Wrap), with(Overflow::Error), with(Overflow::Assume));
        for x in 0..16 {
            let inputs = &[("x", x)][..];
            let mut runs = [&wrap, &error, &assume].map(|c| Run::start(&c.cfa, &[]));
            let broken = runs.each_ref().map(|r| r.broken(inputs));
            let changed = runs.each_mut().map(|r| r.step(inputs));
            let fits = x <= largest;
            assert!(broken[0].is_empty() && broken[2].is_empty());
            assert_eq!(broken[1].is_empty(), fits, "{action} with {x}");
            if fits {
                assert!(runs.iter().all(|r| r.values == runs[0].values));
            } else {
                assert_eq!(changed, [true, false, false]);
            }
        }
    }
    let text = one_state("input x: i4; input y: i4; var r: i4; var s: i4;", "r = x * y; s = -x;");
    let error = compile_with(&text, &Options { overflow: Overflow::Error, ..Options::default() });
    let run = Run::start(&error.cfa, &[]);
    for x in -8..8i32 {
        for y in -8..8i32 {
            let inputs = [("x", x as Word & 15), ("y", y as Word & 15)];
            let fits = (-8..8).contains(&(x * y)) && x != -8;
            assert_eq!(run.broken(&inputs).is_empty(), fits, "{x} {y}");
        }
    }
    let text = one_state("input x: i4; input y: i4; var r: i4;", "if y != 0 { r = x / y; }");
    let error = compile_with(&text, &Options { overflow: Overflow::Error, ..Options::default() });
    let run = Run::start(&error.cfa, &[]);
    assert_eq!(run.broken(&[("x", 8), ("y", 15)]), ["no_overflow"]);
    assert!(run.broken(&[("x", 9), ("y", 15)]).is_empty());
}

#[test]
fn statements_run_in_order() {
    let text = "
        machine m {
            input x: u8;
            var sum: u16 = 0;
            var steps: u8 = 0;
            fn clamp(v: u8, limit: u8) -> u8 {
                if v > limit { return limit; }
                v
            }
            fn sign(v: i8) -> i8 { if v < 0 { -1 } else if v == 0 { 0 } else { 1 } }
            fn bump(by: u8) { steps += by; if by > 100 { return; } steps += 1; }
            var s: i8 = 0;
            initial state S {
                on true {
                    sum = 0;
                    let top = clamp(x, 10);
                    for i: u8 in 0..5 {
                        if i == 3 { sum += 100; } else { sum += (i + top) as u16; }
                    }
                    for k in 1..=2 { let twice = k * 2; sum += twice as u16; }
                    { let inner: u16 = 1; sum += inner; }
                    bump(x);
                    s = sign(x as i8);
                }
            }
        }";
    let compiled = compile(text);
    for x in [0u128, 3, 10, 11, 100, 101, 128, 255] {
        let mut run = Run::start(&compiled.cfa, &[]);
        run.step(&[("x", x)]);
        let top = x.min(10);
        assert_eq!(run.get("sum"), 100 + (1 + 2 + 4) + 4 * top + 2 + 4 + 1);
        assert_eq!(run.get("steps"), (x + (x <= 100) as u128) & 0xff);
        assert_eq!(run.get("s"), if x == 0 { 0 } else { i8(if x < 128 { 1 } else { -1 }) });
    }
}

#[test]
fn the_first_enabled_transition_fires() {
    let text = "
        machine m {
            input go: u2;
            var log: u8 = 0;
            initial state A {
                entry { log = log * 10 + 1; }
                exit { log = log * 10 + 2; }
                on go == 1 -> B { log = log * 10 + 3; }
                on go == 2 -> A;
                on go >= 1 { log = 9; }
            }
            state B {
                entry { log = log * 10 + 4; }
                on go == 1 && in B -> A { log = 0; }
            }
        }";
    let compiled = compile(text);
    let start = Run::start(&compiled.cfa, &[]);
    assert_eq!((start.state(), start.get("log")), ("A", 1));
    let after = |go| {
        let mut run = start.clone();
        let moved = run.step(&[("go", go)]);
        (moved, run.state(), run.get("log"))
    };
    assert_eq!(after(0), (false, "A", 1), "nothing enabled: nothing changes");
    assert_eq!(after(1), (true, "B", (1234u128) & 0xff));
    assert_eq!(after(2), (true, "A", 121));
    assert_eq!(after(3), (true, "A", 9));
}

#[test]
fn choices_are_open() {
    let text = "
        machine m {
            enum E { A, B, C }
            var x: u4 = 0;
            var e: E = E::A;
            initial state S {
                choose {
                    on x < 4 -> T { x = 1; }
                    on x < 8 { x = any(u4); }
                }
                else -> U;
            }
            state T {
                on true { choose { x = 2; } or { x = 3; e = any(E); } or { x = 4; } }
            }
            state U { }
            property never_seven: never x == 7;
            property never_three: never x == 3;
            property never_five: never x == 5 && in T;
            property not_u: never in U;
            property valid: always e == E::A || e == E::B || e == E::C;
            property not_c: never e == E::C;
        }";
    let shortest = explore(&compile(text).cfa, &[]);
    let expect = [
        ("never_seven", Some(3)),
        ("never_three", Some(3)),
        ("never_five", None),
        ("not_u", Some(4)),
        ("valid", None),
        ("not_c", Some(4)),
    ];
    for (name, length) in expect {
        assert_eq!(shortest[name], length, "{name}");
    }
}

#[test]
fn initial_values_parameters_and_constraints() {
    let text = "
        machine m {
            param p: i8 in -3..=5;
            param on_: bool;
            input x: u8 where x < limit && x != 7;
            var limit: u8 where limit <= 20 && limit > 3;
            var twice: i8 = p + p;
            var y: u8 = 0;
            initial state S { on x > 0 { y = x; } }
            property a: always y < 20;
            property b: always y < 19;
            property c: always y != 7;
            property d: always twice <= 10 && twice >= -6;
            property e: always twice != 10;
            property f: always limit > 3;
            property g: never on_;
        }";
    let compiled = compile(text);
    let bytes: Vec<Word> = (0..30).collect();
    let all: Vec<Word> = (0..256).filter(|p| p % 3 == 2 || *p < 8).collect();
    let shortest = explore(&compiled.cfa, &[("p", &all), ("x", &bytes), ("limit.init", &bytes)]);
    let broken: Vec<&str> =
        shortest.iter().filter(|s| s.1.is_some()).map(|s| s.0.as_str()).collect();
    assert_eq!(broken, ["b", "e", "g"]);
    let params: Vec<_> = compiled.cfa.params().map(|(_, v)| (v.name.as_str(), v.kind)).collect();
    assert_eq!(
        params,
        [
            ("p", vouch_ir::VarKind::Param { min: 0xfd, max: 5 }),
            ("on_", vouch_ir::VarKind::Param { min: 0, max: 1 })
        ]
    );
}

#[test]
fn constraints_of_inputs_that_an_edge_does_not_read_are_left_out() {
    let text = "
        machine m {
            input x: u8 where x <= 100;
            input y: u8 where y <= z;
            input z: u8 where z < 3;
            var r: u8 = 0;
            initial state A { on x > 5 -> B; }
            state B { on y > 1 -> C { r = z; } }
            state C { on true -> A; }
            property p: always r < 3;
        }";
    let cfa = compile(text).cfa;
    let inputs = |from: &str| -> Vec<&str> {
        let edge = (cfa.edges.iter())
            .find(|e| cfa.locations[e.from.index()].name == from && e.to.index() < 4)
            .unwrap();
        cfa.edge_inputs(edge).into_iter().map(|i| cfa.inputs[i.index()].name.as_str()).collect()
    };
    assert_eq!(inputs("A"), ["x"]);
    assert_eq!(inputs("B"), ["y", "z"]);
    assert_eq!(inputs("C"), Vec::<&str>::new());
    let all: Vec<Word> = (0..8).collect();
    assert_eq!(explore(&cfa, &[("x", &all), ("y", &all), ("z", &all)])["p"], None);
    // Nothing satisfies both constraints, so there is no step, whatever it reads.
    let text = "
        machine m {
            input x: u8 where x > y;
            input y: u8 where y > x;
            var r: u8 = 0;
            initial state A { on true { r = 1; } }
            property p: always r == 0;
        }";
    let cfa = compile(text).cfa;
    assert_eq!(explore(&cfa, &[("x", &all), ("y", &all)])["p"], None);
}

#[test]
fn assertions_and_assumptions() {
    let text = "
        machine m {
            input x: u4;
            var r: u4 = 0;
            fn check(v: u4) { assert small: v < 10; }
            initial state S {
                entry { assert r == 0; }
                on x > 1 {
                    assume x != 5;
                    if x > 7 { check(x); assert x != 9; }
                    r = x;
                }
            }
            property r_ten: never r >= 9;
            property r_five: never r == 5;
        }";
    let compiled = compile(text);
    let names: Vec<&str> = compiled.cfa.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["r_ten", "r_five", "small", "assert at 7", "assert at 10"]);
    let start = Run::start(&compiled.cfa, &[]);
    for x in 0..16 {
        let mut run = start.clone();
        let expected: &[&str] = match x {
            9 => &["assert at 10"],
            10.. => &["small"],
            _ => &[],
        };
        assert_eq!(run.broken(&[("x", x)]), expected, "{x}");
        // A claim that does not hold hides nothing of what follows.
        let goes_on = x > 1 && x != 5;
        assert_eq!(run.step(&[("x", x)]), goes_on, "{x}");
    }
    let shortest = explore(&compiled.cfa, &[]);
    assert_eq!(shortest["r_ten"], Some(3));
    assert_eq!(shortest["r_five"], None);
    assert_eq!(compiled.cfa.fatal, []);
}

/// A machine whose variables a and b take any values, with a claim about them.
fn history(claim: &str) -> Cfa {
    let text = format!(
        "machine m {{
            input x: bool; input y: bool;
            var a: bool; var b: bool;
            initial state S {{ on true {{ a = x; b = y; }} }}
            property p: {claim};
        }}"
    );
    compile(&text).cfa
}

/// The first of the states (values of a and b) in which the property is broken.
fn first_broken(cfa: &Cfa, states: &[(bool, bool)]) -> Option<usize> {
    let bits = |i: usize| (states[i].0 as Word, states[i].1 as Word);
    let (a, b) = bits(0);
    let mut run = Run::start(cfa, &[("a.init", a), ("b.init", b)]);
    for i in 0..states.len() {
        if !run.broken(&[]).is_empty() {
            return Some(i);
        }
        if i + 1 < states.len() {
            let (a, b) = bits(i + 1);
            run.step(&[("x", a), ("y", b)]);
            assert_eq!((run.get("a"), run.get("b")), (a, b));
        }
    }
    None
}

#[test]
fn properties_about_history_agree_with_their_definition() {
    let (no_before, once_never) = (history("no b before a"), history("once a never b"));
    let within: Vec<Cfa> =
        (0..4).map(|n| history(&format!("when a then b within {n} steps"))).collect();
    let after: Vec<Cfa> =
        (0..4).map(|n| history(&format!("when a then b after {n} steps"))).collect();
    // All sequences of 5 states, each with a and b.
    for code in 0..1usize << 10 {
        let states: Vec<(bool, bool)> =
            (0..5).map(|i| (code >> (2 * i) & 1 == 1, code >> (2 * i + 1) & 1 == 1)).collect();
        let a_until = |i: usize| states[..=i].iter().any(|s| s.0);
        let expected = (0..5).find(|i| states[*i].1 && !a_until(*i));
        assert_eq!(first_broken(&no_before, &states), expected, "{states:?}");
        let expected = (0..5).find(|i| states[*i].1 && a_until(*i));
        assert_eq!(first_broken(&once_never, &states), expected, "{states:?}");
        for (n, cfa) in within.iter().enumerate() {
            // Broken in state j: some a in j-n has no b in j-n..=j.
            let expected =
                (n..5).find(|j| states[j - n].0 && !states[j - n..=*j].iter().any(|s| s.1));
            assert_eq!(first_broken(cfa, &states), expected, "{n} {states:?}");
        }
        for (n, cfa) in after.iter().enumerate() {
            let expected = (n..5).find(|j| states[j - n].0 && !states[*j].1);
            assert_eq!(first_broken(cfa, &states), expected, "after {n} {states:?}");
        }
    }
}

#[test]
fn every_step_ends_with_the_block() {
    let text = "
        machine m {
            input go: bool;
            var n: u8 = 1;
            var ticks: u8 = 0;
            initial state A {
                entry { n += 1; }
                exit { n *= 2; }
                on go && n < 100 -> B { n += 3; }
            }
            state B {
                entry { n += 10; }
                on go { n = 50; }
                on n == 250 { assert never: false; }
            }
            every step { ticks += 1; n += in B ? 100 : 20; assert small: ticks < 4; }
        }";
    let cfa = compile(text).cfa;
    let mut run = Run::start(&cfa, &[]);
    assert_eq!((run.get("n"), run.get("ticks")), (2, 0));
    assert!(run.step(&[]));
    assert_eq!((run.get("n"), run.get("ticks"), run.state()), (22, 1, "A"));
    assert!(run.step(&[("go", 1)]));
    assert_eq!((run.get("n"), run.get("ticks"), run.state()), (157, 2, "B"));
    assert!(run.step(&[("go", 1)]));
    assert_eq!((run.get("n"), run.get("ticks"), run.state()), (150, 3, "B"));
    // What fails in it fails, whether a transition was taken or not.
    assert_eq!(run.broken(&[]), ["small"]);
    assert_eq!(run.broken(&[("go", 1)]), ["small"]);
    assert!(run.step(&[]));
}

#[test]
fn machines_in_sequence_end_their_own_steps() {
    let text = "
        machine a { var x: u4 = 0; initial state S { on b.y > 3 { x = 0; } } every step { x += 1; } }
        machine b { var y: u4 = 0; initial state T; every step { y = a.x; } }
        system s = sequence(a, b);
        property p: always a.x == b.y;
        property q: never a.x == 3;";
    let shortest = explore(&compile(text).cfa, &[]);
    assert_eq!((shortest["p"], shortest["q"]), (None, Some(5)));
    let sync = explore(&compile(&text.replace("sequence", "sync")).cfa, &[]);
    assert_eq!(sync["p"], Some(3));
}

#[test]
fn time_passes_when_nothing_is_enabled() {
    let text = "
        machine m {
            var asked: bool = false;
            initial state A { on !asked { asked = true; } }
            property answered: when asked then in B within 3 steps;
            state B { }
        }";
    assert_eq!(explore(&compile(text).cfa, &[])["answered"], Some(6));
}

#[test]
fn a_property_that_cannot_be_evaluated_is_broken() {
    let text = "
        machine m {
            var i: u3 = 0;
            var a: [bool; 5] = [true; 5];
            initial state S { on i < 6 { i += 1; } }
            property p: always a[i];
            property q: always i < 5 => a[i];
        }";
    let shortest = explore(&compile(text).cfa, &[]);
    assert_eq!(shortest["p"], Some(7));
    assert_eq!(shortest["q"], None);
}

#[test]
fn warnings_tell_what_does_nothing() {
    let text = "
        machine m {
            const UNUSED = 3;
            input x: u8;
            input never_read: bool;
            var written: u8 = 0;
            var _quiet: u8 = 0;
            output lamp: bool = false;
            var output: bool = true;
            fn uncalled() -> u8 { 1 }
            initial state A {
                on x < 0 -> B;
                on true { let local = x; written = 1; lamp = output; }
                on x == 3 -> C;
            }
            state B { }
            state C { }
        }";
    let warnings: Vec<String> = compile(text).warnings.into_iter().map(|w| w.message).collect();
    assert_eq!(
        warnings,
        [
            "the constant `UNUSED` is never read",
            "the input `never_read` is never read",
            "the variable `written` is never read",
            "the function `uncalled` is never called",
            "this transition is never taken: its guard is always false",
            "`local` is never read",
            "this transition is never taken: an earlier one always is",
            "the state B can't be reached",
            "the state C can't be reached",
        ]
    );
}
