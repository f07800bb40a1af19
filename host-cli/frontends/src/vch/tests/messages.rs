//! What the compiler says about common mistakes.

use super::*;

/// The rendered errors of a text.
fn errors(text: &str) -> String {
    match super::super::compile(text, &Options::default()) {
        Ok(_) => panic!("compiles: {text}"),
        Err(errors) => render(&source(text), &errors),
    }
}

/// Message and way out of each error.
fn brief(text: &str) -> Vec<(String, String)> {
    let errors = super::super::compile(text, &Options::default()).unwrap_err();
    errors.into_iter().map(|e| (e.message, e.help.unwrap_or_default())).collect()
}

#[test]
fn errors_show_the_place_and_a_way_out() {
    let text = "\
machine m {
    var timer: u8 = 0;
    var total: u16 = 0;
    initial state S {
        on timer > 3 { total = total + timer; }
    }
}
";
    insta::assert_snapshot!(errors(text), @r"
  × cannot apply `+` to u16 and u8
   ╭─[test.vch:5:40]
 4 │     initial state S {
 5 │         on timer > 3 { total = total + timer; }
   ·                                ──┬──   ──┬──
   ·                                  │       ╰── this is u8
   ·                                  ╰── this is u16
 6 │     }
   ╰────
  help: convert one of them: `timer as u16`
");
}

#[test]
fn requirements_that_are_none() {
    for list in ["[]", "[REQ-1,]", "[REQ 1]", "[REQ-1", "[!]"] {
        let text =
            format!("input a: bool; machine m {{ initial state S; property p {list}: never a; }}");
        let (message, help) = brief(&text).swap_remove(0);
        let is_told = help.contains("[REQ-12, SYS.4.2]") || message.contains("`]`");
        assert!(is_told, "{list}: {message}, {help}");
    }
}

#[test]
fn several_errors_in_one_go() {
    let text = "\
machine m {
    var a: u8 = 300;
    var b: bool = 1;
    input c u8;
    initial state S {
        on a > 3 -> T
        on b = 3 -> S;
        else { a = 1 }
    }
    property p alway a < 3;
}
";
    insta::assert_snapshot!(errors(text), @r"
  × expected `:` and a type, found `u8`
   ╭─[test.vch:4:13]
 3 │     var b: bool = 1;
 4 │     input c u8;
   ·             ─┬
   ·              ╰── expected `:` and a type
 5 │     initial state S {
   ╰────
  help: say its type, as in `c: u8`

  × expected `;`, found `on`
   ╭─[test.vch:6:22]
 5 │     initial state S {
 6 │         on a > 3 -> T
   ·                      ▲
   ·                      ╰── `;` is missing here
 7 │         on b = 3 -> S;
   ╰────
  help: end it with `;`

  × expected `-> STATE` or `{`, found `=`
   ╭─[test.vch:7:14]
 6 │         on a > 3 -> T
 7 │         on b = 3 -> S;
   ·              ┬
   ·              ╰── expected `-> STATE` or `{`
 8 │         else { a = 1 }
   ╰────
  help: to compare, write `==`

  × expected `;`, found `}`
   ╭─[test.vch:8:21]
 7 │         on b = 3 -> S;
 8 │         else { a = 1 }
   ·                     ▲
   ·                     ╰── `;` is missing here
 9 │     }
   ╰────
  help: end it with `;`

  × expected `:`, found `alway`
    ╭─[test.vch:10:16]
  9 │     }
 10 │     property p alway a < 3;
    ·                ──┬──
    ·                  ╰── expected `:`
 11 │ }
    ╰────
  help: write `:` here, or remove `alway`
");
    let text = "
        machine m {
            var a: u8 = 300;
            var b: bool = 1;
            initial state S { on a -> Tee; on b -> T { x = 1; } else { a = b; } }
            state T { on true -> S { a++; } }
        }";
    assert_eq!(brief(text).len(), 1, "what can't be read comes first");
    let messages: Vec<String> = brief(&text.replace("a++;", "")).into_iter().map(|e| e.0).collect();
    assert_eq!(
        messages,
        [
            "300 does not fit u8",
            "expected bool, found a number",
            "expected bool, found u8",
            "there is no state `Tee`",
            "there is no variable `x`",
            "expected u8, found bool",
        ]
    );
}

/// Each mistake alone: its place, the message, the suggested way out.
#[test]
fn common_mistakes() {
    let declarations = "enum Mode { Idle, Busy } const K: u8 = 1; param p: u8 in 1..=3; \
        input x: u8; var n: u8 = 0; var w: u16 = 0; var s: i8 = 0; var f: bool = false; \
        var m2: Mode = Mode::Idle; var a: [u8; 4] = [0; 4]; \
        fn ok(v: u8) -> u8 { v } fn change() { n = 1; }";
    let table = [
        (
            "n = w;",
            "expected u8, found u16",
            "convert it, if losing the upper bits is right: `w as u8`",
        ),
        ("w = n;", "expected u16, found u8", "convert it: `n as u16`"),
        ("w = n + w;", "cannot apply `+` to u8 and u16", "convert one of them: `n as u16`"),
        ("f = s < n;", "cannot apply `<` to i8 and u8", "convert one of them: `s as u8`"),
        ("f = n;", "expected bool, found u8", "compare it: `n != 0`"),
        ("n = f;", "expected u8, found bool", "convert it: `f as u8`"),
        ("n = 256;", "256 does not fit u8", "use a wider type"),
        ("n = -1;", "-1 does not fit u8", "use a wider type"),
        ("f = n < 256;", "256 does not fit u8", "use a wider type"),
        (
            "f = !n;",
            "`!` is for bool",
            "write `~n` for the complement of all bits, `n == 0` for a test",
        ),
        ("f = ~f;", "`~` is for numbers", "write `!f`"),
        ("n = -n;", "an unsigned number has no negative", "write `0 - n`"),
        ("n == 1;", "this does nothing", "to assign, write `=`"),
        ("n++;", "there is no `++`", "write `n += 1`"),
        ("timr = 1;", "there is no variable `timr`", "check the spelling, or declare it"),
        ("n = m3;", "there is no variable `m3`", "did you mean `m2`?"),
        ("m2 = Busy;", "`Busy` is a value of the enum Mode", "write `Mode::Busy`"),
        ("m2 = Mode::Bussy;", "there is no value of Mode `Bussy`", "did you mean `Busy`?"),
        ("m2 = 1;", "expected Mode, found a number", "write one of its values, as in `Mode::Idle`"),
        (
            "m2 = n as Mode;",
            "u8 does not convert to Mode",
            "choose with `if`: not every number is one of its values",
        ),
        (
            "f = m2 < Mode::Busy;",
            "`<` does not take Mode",
            "the values of an enum have no order; compare with `==`",
        ),
        ("f = S;", "`S` is a state, not a value", "write `in S`"),
        ("f = in Q;", "there is no state `Q`", "known are: S"),
        ("x = 1;", "`x` is an input and can't be assigned", "only `var` and `let` can"),
        ("p = 1;", "`p` is a parameter and can't be assigned", "only `var` and `let` can"),
        ("K = 1;", "`K` is a constant and can't be assigned", "only `var` and `let` can"),
        ("a[4] = 1;", "there is no element 4", "count from 0, or make the array longer"),
        ("a[s] = 1;", "an index must be unsigned, this is i8", "convert it: `s as u8`"),
        ("n[0] = 1;", "expected an array, found u8", "only arrays are indexed: remove the `[…]`"),
        ("n = ok(1, 2);", "`ok` takes 1 argument, found 2", "call it as `ok(u8)`"),
        ("n = change();", "`change` changes variables", "call it as a statement: `change(…);`"),
        ("n = oki(1);", "there is no function `oki`", "did you mean `ok`?"),
        ("let y = 5; n = y;", "the width of this number is not known", "write `let y: u8 = …`"),
        ("let n: u8 = 5;", "`n` hides another declaration", "choose another name"),
        (
            "var y: u8 = 5;",
            "expected a statement, found `var`",
            "local variables are declared with `let`",
        ),
        ("f = 1 < n < 3;", "comparisons do not chain", "write `a < b && b < c`"),
        ("return 1;", "`return` is for functions", "use `if` and `else` in actions"),
        (
            "n = 1.5;",
            "there are no fractional numbers",
            "use a scaled integer, say millivolts instead of volts",
        ),
        ("n = 1 / 0;", "division by zero", "divide by something else"),
        ("n = if f { 1 };", "expected `else`, found `;`", "as a value, `if` needs both branches"),
        ("for i in 5..5 { }", "this range is empty", "`a..b` leaves out b, `a..=b` contains it"),
        (
            "for i: u8 in 0..300 { }",
            "this range does not fit u8",
            "choose a wider type, or a smaller range",
        ),
        ("n = s << s;", "a shift's amount must be unsigned, this is i8", "convert it: `s as u8`"),
        ("f = 3;", "expected bool, found a number", "compare it: `3 != 0`"),
        ("n = x $ 1;", "`$` means nothing here", "names are made of ASCII letters, digits and `_`"),
        (
            "n = 5u65;",
            "`u65` is not a type of a number",
            "write the type of a number after it, as in `20u8`",
        ),
        ("on = 1;", "expected an expression, found `on`", "`on` is a keyword; choose another name"),
    ];
    for (action, message, help) in table {
        let text = one_state(declarations, action);
        let found = brief(&text);
        assert_eq!(found.len(), 1, "{action}: {found:?}");
        assert_eq!((found[0].0.as_str(), found[0].1.as_str()), (message, help), "{action}");
    }
}

#[test]
fn mistakes_in_declarations() {
    let table = [
        ("", "there is no machine in this file"),
        ("machine m { }", "the machine m has no initial state"),
        ("machine m { state A { } }", "the machine m has no initial state"),
        (
            "machine m { initial state A { } initial state B { } }",
            "the machine m has two initial states",
        ),
        ("machine m { initial state A { } state A { } }", "two states are named `A`"),
        ("machine m { var x: u8; input x: u8; initial state A { } }", "the name `x` is used twice"),
        ("machine m { var x: u65; initial state A { } }", "there is no type `u65`"),
        ("machine m { var x: int; initial state A { } }", "there is no type `int`"),
        ("machine m { var x; initial state A { } }", "expected `:` and a type, found `;`"),
        ("machine m { var u8: u8; initial state A { } }", "`u8` is the name of a type"),
        (
            "machine m { var state: u8; initial state A { } }",
            "expected the name of the variable, found `state`",
        ),
        ("machine m { enum E { } initial state A { } }", "the enum E has no values"),
        ("machine m { enum E { A, A } initial state A { } }", "the value `A` is named twice"),
        ("machine m { param p: u8 in 5..=300; initial state A { } }", "this range does not fit u8"),
        (
            "machine m { param p: bool in 0..=1; initial state A { } }",
            "a parameter of type bool has no range",
        ),
        (
            "machine m { const A: u8 = 200; const B: u8 = A + A; initial state A1 { } }",
            "the result does not fit its type",
        ),
        (
            "machine m { const A: u8 = B; const B: u8 = 1; initial state A1 { } }",
            "the constant `B` is declared further down",
        ),
        (
            "machine m { var x: u8 = y; var y: u8 = 1; initial state A { } }",
            "`y` has no value yet; that is not possible in an initial value",
        ),
        (
            "machine m { input y: u8; var x: u8 = y; initial state A { } }",
            "`y` is an input; that is not possible in an initial value",
        ),
        (
            "machine m { var x: u8 = 3 where false; initial state A { } }",
            "no initial value of `x` is possible",
        ),
        (
            "machine m { input x: u8 where x < 0; initial state A { } }",
            "no value of the input `x` is possible",
        ),
        (
            "machine m { initial state A { else { } on true { } } }",
            "`else` must be the last of the transitions",
        ),
        ("machine m { fn f(x: u8) -> u8 { f(x) } initial state A { } }", "`f` is not known yet"),
        (
            "machine m { fn f(x: u8) -> u8 { if x > 1 { return 1; } } initial state A { } }",
            "f does not return a value on every path",
        ),
        (
            "machine m { input i: u8; initial state A { } property p: always i < 3; }",
            "`i` is an input, and has a value only during a step; that is not possible in a property",
        ),
        (
            "machine m { initial state A { } property p: always true; property p: always true; }",
            "two properties are named `p`",
        ),
        (
            "machine m { initial state A { } property no_overflow: always true; }",
            "two properties are named `no_overflow`",
        ),
        (
            "machine m { initial state A { } property p: eventually true; }",
            "expected `always`, `never`, `when`, `no` or `once`, found `eventually`",
        ),
        (
            "machine a { initial state A { } } machine b { initial state A { } }",
            "how do the machines run together?",
        ),
        (
            "machine a { initial state A { } } machine b { initial state A { } } system s = sync(a);",
            "the machine b is not part of the system",
        ),
        ("machine a { initial state A { } } system s = sync(a, a);", "the machine a runs twice"),
        (
            "machine a { initial state A { } } system s = parallel(a);",
            "`parallel` is not a composition operator",
        ),
        (
            "var x: u8; machine a { initial state A { on true { x = 1; } } } machine b { initial state A { on true { x = 2; } } } system s = sync(a, b);",
            "two machines of a `sync` assign `x`",
        ),
        (
            "machine a { var x: u8; initial state A { } } machine b { initial state A { on true { a.x = 2; } } } system s = sync(a, b);",
            "`a.x` belongs to another machine",
        ),
        (
            "machine a { initial state A { } } machine b { initial state A { } } system s = sync(a, b); property p: never in A;",
            "several machines have a state `A`",
        ),
        ("initial state A { }", "expected `machine`, found `initial`"),
        (
            "machine m { initial state A { } every step { } every step { } }",
            "the machine has a second `every step`",
        ),
        (
            "machine m { initial state A { } property p: when true then true after 65 steps; }",
            "65 is not a number of steps here",
        ),
        (
            "machine m { initial state A { } property p: when true then true by 3 steps; }",
            "expected `within` or `after`, found `by`",
        ),
        ("machine m { initial state A { on true -> A", "expected `;`, found the end of the file"),
        ("machine m { initial state A { on true -> A;", "expected `}`, found the end of the file"),
    ];
    for (text, message) in table {
        let found = brief(text);
        assert_eq!(found[0].0, message, "{text}");
        assert_eq!(found.len(), 1, "{text}: {found:?}");
        assert_ne!(found[0].1, "", "no way out of: {text}");
    }
}

/// Words of other languages, and misspelt ones.
#[test]
fn words_from_elsewhere_are_understood() {
    let table = [
        ("machine m { inital state A { } }", "did you mean `initial`?"),
        ("machine m { initial sate A { } }", "did you mean `state`?"),
        ("machne m { initial state A { } }", "did you mean `machine`?"),
        ("machine m { outptu x: u8; initial state A { } }", "did you mean `output`?"),
        ("machine m { initial state A { esle -> A; } }", "did you mean `else`?"),
        (
            "machine m { input a: bool; initial state A { on a and a -> A; } }",
            "for `and` write `&&`",
        ),
        ("machine m { input a: bool; initial state A { on a or a -> A; } }", "for `or` write `||`"),
        ("machine m { input a: bool; initial state A { on not a -> A; } }", "for `not` write `!`"),
        (
            "machine m { uint8_t x = 0; initial state A { } }",
            "the type follows the name: `var NAME: u8 = 0;`",
        ),
        ("machine m { var x: uint16_t = 0; initial state A { } }", "write `u16`"),
        ("machine m { var x: int = 0; initial state A { } }", "write `i32`"),
        (
            "machine m { initial state A { state B { } } }",
            "make it a state of the machine; transitions that both have are written twice",
        ),
        ("machine m {\n initial state A {\n  else -> B;\n state B;\n}", "write `}` here"),
        (
            "machine m { initial state A; property p: eventually in A; }",
            "liveness is not supported; give a bound. one of: `always E`, `never E`, \
             `when A then B within N steps`, `when A then B after N steps`, `no B before A`, `once A never B`",
        ),
        ("machine m { var x: bool = false; initial state A { else { x = 1; } } }", "write `true`"),
    ];
    for (text, help) in table {
        let found = brief(text);
        assert_eq!(found[0].1, help, "{text}: {found:?}");
    }
}

/// A brace that is missing, or one too many, is one mistake and not ten.
#[test]
fn what_follows_an_open_state_is_read() {
    let head = "machine m {\n    var x: bool = false;\n    initial state A {\n";
    let tail =
        "    state B {\n        on x -> A;\n    }\n    state C;\n    property p: never x;\n}\n";
    for inside in ["        else -> B;\n", "        state D {\n        }\n    }\n"] {
        let found = brief(&format!("{head}{inside}{tail}"));
        assert_eq!(found.len(), 1, "{found:?}");
    }
}
