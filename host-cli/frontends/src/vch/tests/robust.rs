//! No text makes the compiler panic, hang or eat all memory.

use super::*;
use proptest::prelude::*;

/// One of everything.
pub(super) const RICH: &str = "
    // A model that uses the whole language.
    const N = 3; const LIMIT: u8 = 2 * N + 0x10;
    enum Mode { Idle, Busy, Stuck }
    param level: u8 in 1..=LIMIT;
    input temp: i8 where temp >= -40 && temp <= 85;
    var shared: [u4; N] = [0; N];
    fn max(a: u8, b: u8) -> u8 { if a > b { return a; } b }
    machine main {
        input mode: Mode;
        var count: u8 = 0;
        var free: i5 where free > -3;
        fn reset() { count = 0; for i in 0..N { shared[i] = 0; } }
        initial state Idle {
            entry { reset(); } exit { count += 1; }
            on mode == Mode::Busy && temp < 20 -> Run { count = max(count, level); }
            choose { on any(bool) -> Run; on count > 3 { count -= 1; } }
            else { let x: u4 = 1; shared[count % N] = x; assert named: count < 200; }
        }
        state Run {
            on mode == Mode::Stuck -> Idle;
            on count >= 10 { choose { count = 1; } or { count = count / 2; } or { assume temp > 0; } }
            else { count = if temp < 0 { count << 1 } else { ~count >> 2 }; }
        }
        property a: always in Run => count <= 255;
        property b: when in Run then in Idle within 5 steps;
        every step { if count > 250 { count = 250; } }
        property e: when in Run then count > 0 after 2 steps;
    }
    machine isr {
        initial state Wait { on main.count == 7 -> Fire { shared[1] = 3; } }
        state Fire { on true -> Wait; }
        property c: no in Fire before main.count > 0;
    }
    property d: once main.count == 255 never in isr.Fire;
    system all = interleave(main, isr);
";

/// Whatever comes out, it must come out, and be printable.
fn survives(text: &str) {
    let source = source(text);
    match super::super::compile(text, &Options::default()) {
        Ok(compiled) => {
            compiled.cfa.check().unwrap();
            render(&source, &compiled.warnings);
        }
        Err(errors) => {
            assert!(!errors.is_empty());
            let shown = render(&source, &errors);
            assert!(errors.iter().all(|e| !e.message.contains("internal")), "{text}\n{shown}");
        }
    }
}

#[test]
fn the_whole_language_compiles() {
    assert_eq!(compile(RICH).cfa.properties.len(), 7);
}

pub(super) fn tokens() -> Vec<&'static str> {
    let mut errors = vec![];
    let tokens = super::super::lexer::lex(RICH, &mut errors);
    tokens.iter().map(|t| &RICH[t.span.start as usize..t.span.end as usize]).collect()
}

proptest! {
    #![proptest_config(fixed_seed())]

    #[test]
    fn changed_bytes(edits in prop::collection::vec((any::<usize>(), any::<u8>(), 0..3), 1..6)) {
        let mut bytes = RICH.as_bytes().to_vec();
        for (at, byte, kind) in edits {
            let at = at % bytes.len();
            match kind {
                0 => bytes[at] = byte,
                1 => { bytes.remove(at); }
                _ => bytes.insert(at, byte),
            }
        }
        survives(&String::from_utf8_lossy(&bytes));
    }

    #[test]
    fn changed_tokens(edits in prop::collection::vec((any::<usize>(), any::<usize>(), 0..4), 1..5)) {
        let mut list = tokens();
        for (a, b, kind) in edits {
            let (a, b) = (a % list.len(), b % list.len());
            match kind {
                0 => list.swap(a, b),
                1 => { list.remove(a); }
                2 => list[a] = list[b],
                _ => list.insert(a, list[b]),
            }
        }
        survives(&list.join(" "));
    }

    #[test]
    fn token_soup(picks in prop::collection::vec(any::<usize>(), 0..60)) {
        let list = tokens();
        let soup: Vec<&str> = picks.iter().map(|p| list[p % list.len()]).collect();
        survives(&soup.join(" "));
        survives(&format!("machine m {{ initial state S {{ on true {{ {} }} }} }}", soup.join(" ")));
    }

    #[test]
    fn any_text(text in "\\PC{0,80}") {
        survives(&text);
    }
}

/// Found by the tests above.
#[test]
fn constants_read_nothing_that_runs() {
    for what in ["x", "i", "p", "local", "m.x", "any(u8)", "f()", "in S", "_k"] {
        for place in [
            "const C: u8 = WHAT;",
            "param q: u8 in WHAT..=3;",
            "var y: [u8; WHAT] = [0; 3];",
            "fn g() { let _z = [0u8; WHAT]; }",
            "fn g() { for _k in 0..3 { for _j in 0..WHAT { } } }",
            "property q: when x > 1 then x < 1 within WHAT steps;",
        ] {
            let place = place.replace("WHAT", what);
            let declarations =
                format!("param p: u8; input i: u8; var x: u8 = 0; fn f() -> u8 {{ 1 }} {place}");
            let text = one_state(&declarations, "let local: u8 = i; x = local;");
            assert!(super::super::compile(&text, &Options::default()).is_err(), "{text}");
        }
    }
}

#[test]
fn deep_and_huge_models_are_refused() {
    let expect_error = |text: String, part: &str| {
        let errors = super::super::compile(&text, &Options::default()).unwrap_err();
        let shown = render(&source(""), &errors);
        assert!(shown.contains(part), "{shown}");
    };
    let deep = |open: &str, close: &str| {
        let expr = format!("{}x{}", open.repeat(100_000), close.repeat(100_000));
        one_state("var x: u8 = 0;", &format!("x = {expr};"))
    };
    expect_error(deep("(", ")"), "nested more than");
    expect_error(deep("~", ""), "nested more than");
    expect_error(deep("[", "]"), "nested more than");
    expect_error(deep("if true { 1 } else { ", " }"), "nested more than");
    expect_error(deep("1 + ", ""), "more than 256 operators");
    expect_error(deep("true ? 1 : ", ""), "nested more than");
    expect_error(deep("", "[0]"), "more than 256 operators");
    expect_error(one_state("", &"{".repeat(100_000)), "nested more than");
    expect_error(one_state("", &"if true { } else ".repeat(100_000)), "nested more than");
    expect_error(format!("{}u8", "var x: [".repeat(100_000)), "expected");
    expect_error("/*".repeat(100_000), "comment is not closed");
    expect_error("x".repeat(5 << 20), "limit");
    expect_error(one_state("var x: [u8; 5000] = [0; 5000];", ""), "can't have 5000");
    expect_error(one_state("var x: [[u8; 4000]; 4000];", ""), "can't have 4000");
    expect_error(one_state("var x: [u8; 4000]; var y: [u8; 4000];", ""), "more than 4096");
    expect_error(one_state("", "for i in 0..100000000 { }"), "runs 100000000 times");
    let nest = "for i in 0..60000 { for j in 0..60000 { x += 1; } }";
    expect_error(one_state("var x: u8 = 0;", nest), "too large");
    // Each function doubles the work of the one before it.
    let mut functions = String::from("fn f0(x: u8) -> u8 { x + 1 }\n");
    for i in 1..32 {
        functions += &format!("fn f{i}(x: u8) -> u8 {{ f{0}(f{0}(x)) }}\n", i - 1);
    }
    let doubling = one_state("var x: u8 = 0;", "x = f31(x);");
    expect_error(format!("{functions}{doubling}"), "too large");
    let mut functions = String::from("fn f0(x: u8) -> u8 { x + 1 }\n");
    for i in 1..1000 {
        functions += &format!("fn f{i}(x: u8) -> u8 {{ f{}(x) }}\n", i - 1);
    }
    expect_error(functions, "deep");
    // A product of many machines.
    let mut text = String::new();
    for m in 0..12 {
        text += &format!(
            "machine m{m} {{ initial state A {{ on true -> B; }} state B {{ on any(bool) -> C; }} state C {{ on true -> A; }} }}\n"
        );
    }
    let names: Vec<String> = (0..12).map(|m| format!("m{m}")).collect();
    expect_error(
        format!("{text} system all = interleave({});", names.join(", ")),
        "combined states",
    );
    expect_error(format!("{text} system all = sync({});", names.join(", ")), "more than");
}

#[test]
fn the_largest_that_is_allowed_compiles() {
    let nest = |n: usize| format!("{}x{}", "(~".repeat(n), ")".repeat(n));
    compile(&one_state("var x: u8 = 0;", &format!("x = {};", nest(60))));
    let chain = vec!["x"; 250].join(" + ");
    compile(&one_state("var x: u8 = 0;", &format!("x = {chain};")));
    let blocks = format!("{}x = 1;{}", "if x > 3 { ".repeat(120), "}".repeat(120));
    compile(&one_state("var x: u8 = 0;", &blocks));
}
