//! What a report on a C program promises: what its verdicts rest on, and where they say less than
//! they seem to.

use serde_json::Value;
use std::process::{Command, Output};

/// Runs a command on a file with this text; `FILE` in the arguments is its path.
fn vouch(text: &str, args: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("x.c");
    std::fs::write(&file, text).unwrap();
    let file = file.to_str().unwrap();
    let args = args.iter().map(|a| if *a == "FILE" { file } else { *a });
    Command::new(env!("CARGO_BIN_EXE_vouch")).args(args).output().unwrap()
}

/// The exit code and the outcome for programs.
fn check(text: &str, more: &[&str]) -> (i32, Value) {
    let output = vouch(text, &[&["check", "FILE", "--json"], more].concat());
    let outcome = serde_json::from_slice(&output.stdout).unwrap_or(Value::Null);
    (output.status.code().unwrap(), outcome)
}

fn verdicts(outcome: &Value) -> Vec<(&str, &str)> {
    let properties = outcome["properties"].as_array().unwrap();
    let text = |p: &'_ Value, field: &str| p[field].as_str().unwrap().to_owned();
    let all = properties.iter().map(|p| (text(p, "name"), text(p, "verdict")));
    all.map(|(n, v)| (&*n.leak(), &*v.leak())).collect()
}

const LOOP: [&str; 3] = ["--entry", "step", "--loop"];
const CLAIM: &str = "void vouch_assert_named(const char *name, int condition);\n";

#[test]
fn a_claim_hides_nothing_that_follows() {
    let text = format!(
        "{CLAIM}int a[4]; unsigned i;
         void step(void) {{ i++; vouch_assert_named(\"i_small\", i < 4); a[i] = 1; }}"
    );
    let (code, outcome) =
        check(&text, &[&LOOP[..], &["--checks", "bounds", "--property", "bounds"]].concat());
    assert_eq!((code, verdicts(&outcome)), (1, vec![("bounds", "unsafe")]), "{outcome}");
    let (code, outcome) = check(&text, &[&LOOP[..], &["--checks", "bounds"]].concat());
    let both = vec![("bounds", "unsafe"), ("i_small", "unsafe")];
    let mut found = verdicts(&outcome);
    found.sort_unstable();
    assert_eq!((code, found), (1, both), "{outcome}");
}

/// What is proved up to where a run ends is not said to be safe, and what it rests on is named.
#[test]
fn what_rests_on_something_broken_says_so() {
    let text = |index: &str| {
        format!(
            "{CLAIM}int a[4]; unsigned i;
             void step(void) {{ i++; a[{index}] = 1; vouch_assert_named(\"low\", (i & 7) < 5); }}"
        )
    };
    let flags = |more: &[&'static str]| [&LOOP[..], &["--checks", "bounds"], more].concat();
    // No run gets to i == 5: a[4] ends it.
    let (code, outcome) = check(&text("i & 7"), &flags(&["--property", "low"]));
    assert_eq!(code, 3, "{outcome}");
    assert_eq!(verdicts(&outcome), [("low", "unknown"), ("bounds", "unsafe")]);
    assert_eq!(outcome["verdict"], "unknown");
    assert_eq!(outcome["reason"], "safe as long as bounds holds");
    assert_eq!(outcome["properties"][0]["reason"], "safe as long as bounds holds");
    assert_eq!((&outcome["property"], &outcome["trace"]), (&"low".into(), &Value::Null));
    // Something that was asked for is broken.
    let (code, outcome) = check(&text("i & 7"), &flags(&[]));
    assert_eq!((code, &outcome["verdict"]), (1, &"unsafe".into()), "{outcome}");
    let mut found = verdicts(&outcome);
    found.sort_unstable();
    assert_eq!(found, [("bounds", "unsafe"), ("low", "unknown")]);
    // Nothing ends a run before its time: the question shows what there is.
    let (code, outcome) = check(&text("i & 3"), &flags(&["--property", "low"]));
    assert_eq!((code, &outcome["verdict"]), (1, &"unsafe".into()), "{outcome}");
    let good = text("i & 3").replace("< 5", "< 8");
    let (code, outcome) = check(&good, &flags(&["--property", "low"]));
    assert_eq!((code, &outcome["verdict"]), (0, &"safe".into()), "{outcome}");
    assert_eq!(outcome["validated"], true);
}

/// The only warning, if there is one.
fn warning(outcome: &Value) -> String {
    let all = outcome["warnings"].as_array().map_or(&[][..], |w| w);
    assert!(all.len() < 2, "{outcome}");
    all.first().map_or(String::new(), |w| w.as_str().unwrap().to_owned())
}

#[test]
fn one_call_of_a_function_with_state_is_warned_of() {
    let text = |body: &str| {
        format!(
            "{CLAIM}static int state, out; void step(int x) {{ {body} vouch_assert_named(\"p\", out < 9); }}"
        )
    };
    let once = ["--entry", "step"];
    let counts = text("if (state > 3) { out = 0; } else { out = 1; } state++;");
    let (code, outcome) = check(&counts, &once);
    assert_eq!(code, 0);
    let found = warning(&outcome);
    assert!(found.contains("only one call of `step`") && found.contains("`state`"), "{found}");
    assert!(!found.contains("`out`"), "it is written before it is read: {found}");
    assert_eq!(warning(&check(&counts, &LOOP).1), "");
    // In a static variable of the function, and behind a pointer.
    let inside = text("static int n; n++; out = n > 3;");
    assert!(warning(&check(&inside, &once).1).contains("n`"));
    let pointer = text("int *p = x ? &state : &out; (*p)++; out = state;");
    assert!(warning(&check(&pointer, &once).1).contains("`state`"));
    // A function without memory, and a program.
    assert_eq!(warning(&check(&text("out = x > 3;"), &once).1), "");
    let main = counts.replace("step(int x)", "main(void)");
    assert_eq!(warning(&check(&main, &[]).1), "");
    // People see it too.
    let output = vouch(&counts, &[&["check", "FILE"], &once[..]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(said.contains("add `--loop`"), "{said}");
}

#[test]
fn a_program_that_claims_nothing_is_warned_of() {
    let text = "int a[3], i; int main(void) { a[i] = 2; return 0; }";
    let (code, outcome) = check(text, &[]);
    assert_eq!(code, 0);
    assert!(warning(&outcome).contains("nothing is claimed about `main`"), "{outcome}");
    assert_eq!(warning(&check(text, &["--checks", "all"]).1), "");
    let claims = format!("{CLAIM}int main(void) {{ vouch_assert_named(\"p\", 1); return 0; }}");
    assert_eq!(warning(&check(&claims, &[]).1), "");
    let error = "void reach_error(void); int x; int main(void) { if (x) reach_error(); return 0; }";
    assert_eq!(warning(&check(error, &[]).1), "");
}

/// Messages of `lint`, and the lines that they are about.
fn lint(text: &str, more: &[&str]) -> Vec<(String, u64)> {
    let output = vouch(text, &[&["lint", "FILE", "--json"], more].concat());
    let found: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(found["open"], 0, "{found}");
    let warnings = found["warnings"].as_array().unwrap();
    assert_eq!(output.status.code(), Some(!warnings.is_empty() as i32));
    let warning = |w: &Value| (w["message"].as_str().unwrap().into(), w["line"].as_u64().unwrap());
    warnings.iter().map(warning).collect()
}

#[test]
fn lint_finds_loops_that_hang_and_assertions_that_nobody_reaches() {
    let text = format!(
        "{CLAIM}int n;\nvoid step(void) {{\nwhile (n < 1);\nvouch_assert_named(\"never\", 0);\n}}"
    );
    assert_eq!(check(&text, &LOOP).0, 0, "a hang breaks nothing");
    let expected =
        [("this loop can hang".to_string(), 4), ("the property never holds vacuously".into(), 5)];
    assert_eq!(lint(&text, &LOOP), expected);
    // Who waits for a register does not hang, and who bounds the loop neither.
    let register = text.replace("int n;", "extern volatile int n;");
    assert_eq!(lint(&register, &LOOP), []);
    assert_eq!(lint(&text.replace("while (n < 1);", "while (n < 9) n++;"), &LOOP), []);
    // It steps over its end.
    let over = text.replace("while (n < 1);", "unsigned k = 1; while (k != 8) k += 2;");
    let expected = [
        ("this loop is never left".to_string(), 4),
        ("the property never holds vacuously".into(), 5),
    ];
    assert_eq!(lint(&over, &LOOP), expected);
    // A main loop is meant to run for ever.
    assert_eq!(lint("int n; int main(void) { for (;;) { n++; } }", &[]).len(), 1, "no claim");
    // The branches of `assert()` end in a call of their own.
    let branch = "void __assert_fail(void); int x;\nint main(void) {\nint y = x;\n\
         if (y > 1) { if (y < 9) ; else __assert_fail(); }\nif (y < 1) ; else __assert_fail();\n}";
    let found = lint(branch, &[]);
    assert_eq!(found, [("the property assert_4 holds vacuously".to_string(), 4)]);
}

#[test]
fn an_order_that_c_leaves_open_is_not_relied_on() {
    let f = format!(
        "{CLAIM}int a; int f(void) {{ a = 1; return 0; }} int g(void) {{ a = 2; return 0; }}
         int main(void) {{ int x = f() + g(); "
    );
    let claim = |holds: &str| format!("{f} vouch_assert_named(\"a\", {holds}); return x; }}");
    // From left to right it holds, but not from right to left.
    let output = vouch(&claim("a == 2"), &["check", "FILE"]);
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("limit of the model: order_limit"), "{said}");
    assert!(said.contains("C does not say which of these operands comes first"), "{said}");
    assert!(said.contains("if operands are evaluated in another order"), "{said}");
    // From left to right it does not hold.
    assert_eq!(check(&claim("a == 1"), &[]).0, 1);
    // In every order.
    assert_eq!(check(&claim("a != 0 && x == 0"), &[]).0, 0);
    // And the loop that goes through them is nobody's.
    let found = lint(&claim("a == 2"), &[]);
    assert!(found.len() == 1 && found[0].0.contains("comes first"), "{found:?}");
}

#[test]
fn the_layout_of_memory_is_not_relied_on() {
    let text = |from: &str, to: &str| {
        format!(
            "{CLAIM}char a[4] = {{1, 2, 3, 4}}, b[4];
             void move(char *to, const char *from, int n) {{
                 if (to < from) for (int i = 0; i < n; i++) to[i] = from[i];
                 else for (int i = n - 1; i > 0; i--) to[i] = from[i]; }}
             int main(void) {{ move({to}, {from}, 3);
                 vouch_assert_named(\"moved\", {to}[0] == 1); return 0; }}"
        )
    };
    // The loop that counts down forgets the first.
    assert_eq!(check(&text("a", "b"), &[]).0, 3);
    assert_eq!(check(&text("a", "(b + 1)"), &[]).0, 3);
    assert_eq!(check(&text("a", "(a + 1)"), &[]).0, 1);
}
