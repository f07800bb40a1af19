//! What the language means, and what is refused.

use super::{compile, options, run};
use crate::c::{Checks, DataModel};
use crate::{Options, Overflow};
use vouch_ir::{Cfa, VarId};

pub fn cfa(text: &str, options: &Options) -> Cfa {
    match compile(text, options) {
        Ok(compiled) => compiled.cfa,
        Err(errors) => panic!("{errors:#?}"),
    }
}

/// The location where the only run of `main` ends.
fn ends(text: &str) -> String {
    run(&cfa(text, &options("main")), 0, 10_000).location
}

/// What is wrong with a text, and the text that it points at.
fn wrong(text: &str) -> (String, String) {
    let errors = compile(text, &options("main")).unwrap_err();
    let span = errors[0].span;
    (errors[0].message.clone(), text[span.start as usize..span.end as usize].to_string())
}

pub fn refused(text: &str, message: &str, at: &str) {
    let (found, place) = wrong(text);
    assert!(found.contains(message) && place == at, "{found:?} at {place:?}");
}

/// A main that reaches an error unless the condition holds.
pub fn holds(declarations: &str, statements: &str, condition: &str) {
    let text = format!(
        "extern void reach_error(void);\n{declarations}\n\
         int main(void) {{ {statements} if (!({condition})) reach_error(); return 0; }}"
    );
    assert_eq!(ends(&text), "end", "{text}");
    let text = text.replace("if (!(", "if ((");
    assert_eq!(ends(&text), "error reach_error", "{text}");
}

#[test]
fn integers_are_promoted_and_converted() {
    holds("unsigned char c = 255;", "c++;", "c == 0");
    holds("unsigned char c = 255;", "", "c + 1 == 256");
    holds("signed char c = -1; unsigned u = 1;", "", "c > u");
    holds("long l = -1; unsigned u = 1;", "", "l > u");
    holds("long long l = -1; unsigned u = 1;", "", "l < u");
    holds("int x = 0x7fffffff;", "x = x + 1;", "x < 0");
    holds("_Bool b;", "b = 256;", "b == 1");
    holds("enum e { A, B = 5, C } e = C;", "", "e == 6 && sizeof(e) == 4");
    holds("", "int x = 'a'; x <<= 2;", "x == 388 && -7 / 2 == -3 && -7 % 3 == -1");
    holds(
        "struct { signed a : 3; unsigned b : 3; } s;",
        "s.a = 5; s.b = 13;",
        "s.a == -3 && s.b == 5",
    );
}

#[test]
fn objects_lie_in_memory() {
    holds(
        "union { int i; unsigned char b[4]; } u;",
        "u.i = 0x01020304;",
        "u.b[0] == 4 && u.b[3] == 1",
    );
    holds(
        "int a[3] = { 1, 2, 3 }, *p = a;",
        "p++; *p += 5; p[1] = 9;",
        "a[1] == 7 && a[2] == 9 && p - a == 1",
    );
    holds(
        "struct s { int x; struct { char c[3]; }; } s;",
        "struct s *p = &s; p->c[2] = 7; s.x = p->c[2];",
        "s.x == 7",
    );
    holds(
        "static void swap(int *a, int *b) { int t = *a; *a = *b; *b = t; }",
        "int x = 1, y = 2; swap(&x, &y);",
        "x == 2 && y == 1",
    );
    holds(
        "char s[] = \"ab\";",
        "int n = 0; for (char *p = s; *p; p++) n++;",
        "n == 2 && sizeof s == 3",
    );
    holds(
        "int m[2][3] = { { 1 }, 4, [1][2] = 6 };",
        "int (*row)[3] = &m[1];",
        "(*row)[0] == 4 && m[1][2] == 6",
    );
    holds(
        "struct p { int x, y; }; struct p f(int x) { struct p p = { x, x + 1 }; return p; }",
        "struct p q = f(3);",
        "q.y == 4 && f(5).x == 5",
    );
    holds(
        "int f(int x) { return x + 1; } int g(int x) { return x * 2; } int (*t[2])(int) = { f, g };",
        "int i = 1;",
        "t[i](5) == 10 && t[0](5) == 6",
    );
}

#[test]
fn control_flows() {
    holds(
        "int n;",
        "for (int i = 0; i < 10; i++) { if (i == 3) continue; if (i == 6) break; n += i; }",
        "n == 12",
    );
    holds(
        "int n;",
        "switch (3) { case 1: n = 1; case 3: n += 3; case 4: n += 4; break; default: n = 9; }",
        "n == 7",
    );
    holds("int n;", "goto in; while (n < 3) { in: n++; }", "n == 3");
    holds("int n;", "do n++; while (n < 5 && n != 3);", "n == 3");
    holds("int n; int f(void) { n++; return n; }", "int x = f() + 10 * f();", "x == 21");
    holds(
        "int n; int f(void) { return ++n; }",
        "0 && f(); 1 || f(); int x = 0 ? f() : 5;",
        "n == 0 && x == 5",
    );
    holds("int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }", "", "fib(7) == 13");
    holds("int f(void) { static int n = 5; return n++; }", "f(); f();", "f() == 7");
    holds("", "int x = ({ int y = 3; y + 1; });", "x == 4");
}

#[test]
fn what_a_run_must_not_do_ends_in_a_limit() {
    let ends_at = |text: &str| ends(text);
    let recursive = "int f(int n) { return f(n + 1); } int main(void) { return f(0); }";
    assert_eq!(ends_at(recursive), "error recursion_limit");
    let outside = "int a[4], i = 5; int main(void) { a[i] = 1; return 0; }";
    assert_eq!(ends_at(outside), "error memory_limit");
    let null = "int *p; int main(void) { return *p; }";
    assert_eq!(ends_at(null), "error memory_limit");
    let model = cfa(outside, &options("main"));
    let limit = &model.properties[model.limits[0].index()];
    assert_eq!((limit.name.as_str(), model.limits.len()), ("memory_limit", 1));
}

#[test]
fn checks_make_them_properties() {
    let ends_at = |text: &str, checks: &str| {
        let mut options = options("main");
        options.c.checks = checks.parse::<Checks>().unwrap();
        let cfa = cfa(text, &options);
        assert_eq!(cfa.limits, []);
        // A run ends there, and who is proved besides rests on it.
        let end = run(&cfa, 0, 100).location;
        let fatal = cfa.fatal.iter().map(|p| &cfa.properties[p.index()]);
        let fatal: Vec<String> = fatal.map(|p| format!("error {}", p.name)).collect();
        assert!(fatal.contains(&end), "{fatal:?}");
        end
    };
    let main = |body: &str| format!("int a[4], i = 5, *p, z; int main(void) {{ {body} }}");
    assert_eq!(ends_at(&main("return a[i];"), "bounds,null"), "error bounds");
    assert_eq!(ends_at(&main("return *p;"), "all"), "error null");
    // It is the pointer that is null, wherever the element lies.
    for body in
        ["return s->v[i];", "return s->v[2];", "s = 0; s->v[i] = 1;", "return s->w[i - 1].x;"]
    {
        let text = "struct s { int k, v[4]; struct { char c; int x; } w[2]; } *s; int i = 2; int main(void)";
        assert_eq!(
            ends_at(&format!("{text} {{ {body} return 0; }}"), "all"),
            "error null",
            "{body}"
        );
    }
    assert!("bound".parse::<Checks>().is_err());
    let with = |text: &str, overflow| {
        let mut options = options("main");
        options.overflow = overflow;
        cfa(text, &options).properties.iter().map(|p| p.name.clone()).collect::<Vec<_>>()
    };
    let adds = "int x; int main(void) { x = x + 1; return 0; }";
    assert_eq!(with(adds, Overflow::Error), ["no_overflow"]);
    assert_eq!(with(adds, Overflow::Wrap), ["reach_error"]);
}

/// One side of a choice may never come back: a call deeper than recursion is followed, or one that ends the program.
#[test]
fn the_other_side_of_a_choice_has_its_value() {
    holds("int f(int n) { return n ? f(n - 1) : 6; }", "", "f(24) == 6 && f(23) == 6");
    holds("int f(int n) { return n == 24 ? 6 : f(n + 1); }", "", "f(0) == 6");
    let record =
        "struct s { int a, b; } s = { 6, 7 }; struct s f(int n) { return n ? f(n - 1) : s; }";
    holds(record, "", "f(24).b == 7");
    let pointers = "int a(int), b(int), (*p)(int) = a; int b(int n) { return n; } \
         int a(int n) { if (n == 24) p = b; return p(n + 1); }";
    holds(pointers, "", "a(0) == 25");
    holds("int abort(void); int f(int n) { return n ? abort() : 6; }", "", "f(0) == 6");
}

/// There is no wider number that holds the exact result.
#[test]
fn sums_of_128_bits_overflow() {
    let ends = |operation: &str| {
        let text = format!(
            "__int128 most = (__int128)((unsigned __int128)-1 >> 1), x; \
             int main(void) {{ x = {operation}; return 0; }}"
        );
        let mut options = options("main");
        options.overflow = Overflow::Assume;
        // Runs in which it does not fit are not looked at.
        run(&cfa(&text, &options), 0, 1000).location == "end"
    };
    for fits in
        ["most + 0", "most - most", "most + -1", "-most - 1", "-1 - most", "most + (-1 - most)"]
    {
        assert!(ends(fits), "{fits}");
    }
    for not in
        ["most + 1", "1 + most", "-most - 2", "most - -1", "(-1 - most) + -1", "0 - (-1 - most)"]
    {
        assert!(!ends(not), "{not}");
    }
    let mut checked = options("main");
    checked.overflow = Overflow::Error;
    let product = "__int128 x; int main(void) { x = x * x; return 0; }";
    let errors = compile(product, &checked).unwrap_err();
    assert!(errors[0].message.contains("128 bits"), "{errors:?}");
}

/// On the target nothing is in the place of a claim; a failed `assert()` ends the program.
#[test]
fn claims_hide_nothing_but_assert_ends() {
    let after = |claim: &str| {
        let declared = "void vouch_assert(int), vouch_assert_named(const char *, int), assert(int), \
             __CPROVER_assert(int, const char *), __assert_fail(void), reach_error(void);";
        let text = format!("{declared} int n; int main(void) {{ {claim} n = 1; return 0; }}");
        let cfa = cfa(&text, &options("main"));
        let names: Vec<String> = cfa.properties.iter().map(|p| p.name.clone()).collect();
        let n = cfa.vars.iter().position(|v| v.name == "n").map(|n| VarId(n as u32));
        let sets = |e: &vouch_ir::Edge| e.updates.iter().any(|u| Some(u.0) == n);
        let goes_on = cfa.edges.iter().any(|e| e.from != cfa.init && sets(e));
        (names.join(" "), goes_on, cfa.fatal.len())
    };
    let with = |name: &str, goes_on| (name.to_string(), goes_on, 0);
    assert_eq!(after("vouch_assert(0);"), with("assert_1", true));
    assert_eq!(after("vouch_assert_named(\"small\", 0);"), with("small", true));
    assert_eq!(after("vouch_assert_named(\"small [REQ-1, B]\", 0);"), with("small", true));
    assert_eq!(after("__CPROVER_assert(0, \"small\");"), with("assert_1", true));
    assert_eq!(after("assert(0);"), with("assert_1", false));
    assert_eq!(after("__assert_fail();"), with("assert_1", false));
    assert_eq!(after("reach_error();"), with("reach_error", false));
    // With the assert.h that comes with vouch too.
    let text = "#include <assert.h>\nint main(void) { assert(0); for (;;) { } return 0; }";
    let cfa = cfa(text, &options("main"));
    assert_eq!(run(&cfa, 0, 100).location, "error assert_2");
}

#[test]
fn data_models_differ() {
    let size = |model, expression: &str| {
        let mut options = options("main");
        options.c.model = model;
        let text = format!(
            "long long r; enum e {{ A }}; int main(void) {{ r = {expression}; return 0; }}"
        );
        run(&cfa(&text, &options), 0, 100).values["r"]
    };
    use DataModel::{Ilp32, Lp64};
    let arm32 = DataModel::ARM32;
    assert_eq!([Ilp32, Lp64, arm32].map(|m| size(m, "sizeof(long)")), [4, 8, 4]);
    assert_eq!([Ilp32, Lp64, arm32].map(|m| size(m, "sizeof(enum e)")), [4, 4, 1]);
    assert_eq!([Ilp32, Lp64, arm32].map(|m| size(m, "(char)200 > 0")), [0, 0, 1]);
}

#[test]
fn what_is_not_supported_is_refused_where_it_stands() {
    let main = |body: &str| {
        format!("float x; int *p, n; void *malloc(unsigned); int main(void) {{ {body} }}")
    };
    refused(&main("int a[n][n][n];"), "length is not a constant", "int a[n][n][n]");
    for text in ["svc 0", "nop; svc 0", "mov r0, %0", "mrs %0, faultmask", "mov %0, %1"] {
        let text = format!("asm(\"{text}\" : \"=r\"(n));");
        refused(&main(&text), "assembly", &text);
    }
    let text = "asm(\"dsb\" : : \"r\"(n++));";
    refused(&main(text), "assembly", text);
    refused(&main("n = y;"), "not declared", "y");
    // Where it is missing, not at what comes next.
    refused(&main("n = 1"), "expected `;`", "");
    refused("int main(void) { return 0;", "expected `}`", "");
    // What no run meets does not matter.
    compile("float f(float x) { return x * 2; } int main(void) { return 0; }", &options("main"))
        .unwrap();
}

#[test]
fn uninitialised_is_any_value() {
    let text = "int main(void) { int x; unsigned char y; if (x == -1 && y == 255) { ERROR: ; } return 0; }";
    let cfa = cfa(text, &options("main"));
    assert_eq!(run(&cfa, 0, 100).location, "end");
    // A label has two ways on: the property, and the program's.
    let error = cfa.properties[0].error;
    assert!(cfa.edges.iter().any(|e| e.to == error));
    assert_eq!(cfa.inputs.iter().map(|i| i.width).collect::<Vec<_>>(), [32, 8]);
}

/// A declaration that follows can say that it is a parameter, as the marker for machine code does.
#[test]
fn a_later_declaration_makes_a_parameter() {
    let text = "const volatile unsigned char limit = 4;\n\
                extern __typeof__(limit) limit __attribute__((vouch_param(2, 10)));\n\
                int main(void) { return limit; }";
    let cfa = cfa(text, &options("main"));
    let kinds: Vec<_> = cfa.params().map(|(_, var)| (var.name.as_str(), var.kind)).collect();
    assert_eq!(kinds, [("limit", vouch_ir::VarKind::Param { min: 2, max: 10 })]);
}

#[test]
fn bad_texts_do_not_panic() {
    let text = include_str!("../include/vouch.h").replace("\\\n", "")
        + "struct s { int a : 3; union { int b; char c[2]; }; } t[2] = { { 1 }, { .c = { 1 } } };\n\
           int f(int (*g)(int), int n) { switch (n) { case 1 ... 3: return g(n); default: ; } return 0; }\n\
           int h(int x) { return x ? f(h, x - 1) : t[x & 1].c[1]; }\n\
           int main(void) { int i; for (i = 0; i < 3; i++) { h(i); } return i; }\n";
    let text = text.lines().filter(|l| !l.starts_with('#')).collect::<Vec<_>>().join("\n");
    compile(&text, &options("main")).unwrap();
    let mut r = super::random::Random::new(7);
    for _ in 0..400 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..1 + r.below(3) {
            let at = r.below(bytes.len() as u64) as usize;
            match r.below(3) {
                0 => bytes.truncate(at.max(1)),
                1 => {
                    bytes.remove(at);
                }
                _ => bytes.insert(at, *r.pick(&[&b'(', &b'}', &b'*', &b'1', &b';', &b'[', &b'-'])),
            }
        }
        let _ = compile(&String::from_utf8_lossy(&bytes), &options("main"));
    }
}
