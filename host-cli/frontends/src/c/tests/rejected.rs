//! What is no C, or is not understood, is an error that points at it.

use super::language::refused;
use super::{compile, options};
use crate::Diagnostic;
use crate::c::DataModel;
use std::process::Command;

/// Texts that no compiler takes: the message, and what it points at.
const WRONG: [(&str, &str, &str); 30] = [
    ("int main(void) { goto nowhere; }", "no label `nowhere`", "nowhere"),
    ("int main(void) { a: ; a: ; return 0; }", "there twice", "a"),
    ("int main(void) { int x = 1; int x = 2; return x; }", "declared twice", "x"),
    (
        "int f(int x) { int x = 2; return x; } int main(void) { return f(1); }",
        "declared twice",
        "x",
    ),
    ("int main(void) { const int x = 1; x = 2; return x; }", "cannot be assigned", "x"),
    ("const int x = 1; int main(void) { x++; return x; }", "cannot be assigned", "x"),
    ("const int a[2]; int main(void) { a[1] = 2; return 0; }", "cannot be assigned", "a[1]"),
    ("int main(void) { const char *p = \"a\"; *p = 2; return 0; }", "cannot be assigned", "*p"),
    ("struct s { const int x; } s; int main(void) { s.x = 2; return 0; }", "cannot be", "s.x"),
    ("typedef const int ci; ci x; int main(void) { x += 2; return 0; }", "cannot be", "x"),
    ("int a[2]; int main(void) { a = 2; return 0; }", "cannot be assigned", "a"),
    (
        "struct s { int x; } s; int main(void) { s = (struct s)2; return 0; }",
        "cannot be converted",
        "",
    ),
    ("int f(int); char *f(int); int main(void) { return 0; }", "something else", "f"),
    ("int f(int); int f(int *); int main(void) { return 0; }", "something else", "f"),
    ("int f(int); int f(int a, int b) { return a; } int main(void) { return 0; }", "else", "f"),
    ("int x; char x; int main(void) { return 0; }", "something else", "x"),
    ("int x; int x(void); int main(void) { return 0; }", "something else", "x"),
    ("typedef int t; typedef char t; int main(void) { return 0; }", "something else", "t"),
    ("extern int a[3]; int a[4]; int main(void) { return 0; }", "something else", "a"),
    ("int x = 1; int x = 2; int main(void) { return 0; }", "defined twice", "x"),
    // What is weak gives way to a function of another file.
    (
        "__attribute__((weak)) int f(void) { return 1; } int f(void) { return 2; } int main(void) { return 0; }",
        "defined twice",
        "f",
    ),
    ("struct s { int a; char a; } s; int main(void) { return 0; }", "two members", "a"),
    ("struct s { int a; struct { char a; }; } s; int main(void) { return 0; }", "two members", ""),
    ("char a[0x80000000]; int main(void) { return 0; }", "too large", "[0x80000000]"),
    ("typedef int t[0x20000000]; int main(void) { return 0; }", "too large", "[0x20000000]"),
    (
        "struct s { char a[0x7fffffff], b; }; int main(void) { return 0; }",
        "too large",
        "struct s { char a[0x7fffffff], b; }",
    ),
    ("int a[2] = { [2] = 1 }; int main(void) { return 0; }", "no such element", "2"),
    ("int main(void) { int x; (int)x = 5; return 0; }", "cannot be assigned", "(int)x"),
    ("int main(void) { return nobody; }", "not declared", "nobody"),
    ("struct s { int a : 33; } s; int main(void) { return 0; }", "this width", "a"),
];

/// Texts that mean something to gcc which cannot be compiled here.
const REFUSED: [(&str, &str, &str); 9] = [
    (
        "int main(void) { int n = 3; n++; struct s { char b[n]; }; return sizeof(struct s); }",
        "a member whose length is not a constant",
        "b[n]",
    ),
    ("int main(void) { return nobody(1); }", "`nobody` is not declared", "nobody(1)"),
    (
        "int main(void) { return __builtin_nothing(1); }",
        "`__builtin_nothing`",
        "__builtin_nothing(1)",
    ),
    (
        "void c(int *); int main(void) { int x __attribute__((cleanup(c))) = 1; return 0; }",
        "`cleanup`",
        "x __attribute__((cleanup(c))) = 1",
    ),
    (
        "struct __attribute__((ms_struct)) s { int a; }; int main(void) { return 0; }",
        "ms",
        "ms_struct",
    ),
    (
        "__attribute__((destructor)) void d(void) {} void exit(int); int main(void) { exit(0); }",
        "destructor",
        "d",
    ),
    ("int setjmp(int); int main(void) { return setjmp(1); }", "`setjmp`", "setjmp(1)"),
    ("int main(void) { int f(void) { return 1; } return f(); }", "within a function", "f"),
    ("void f(int n, int a[n++]) {} int main(void) { return 0; }", "no effect", "n++"),
];

#[test]
fn what_is_wrong_is_an_error() {
    for (text, message, at) in WRONG {
        refused_at(text, message, at);
    }
    for (text, message, at) in REFUSED {
        refused_at(text, message, at);
    }
}

#[test]
fn an_input_is_a_number() {
    for declared in ["int v[2]", "struct { int x; } v"] {
        let text = format!(
            "#include \"vouch.h\"\n{declared}; int main(void) {{ VOUCH_INPUT(v); return 0; }}"
        );
        let errors = compile(&text, &options("main")).map(|_| ()).unwrap_err();
        let help = errors[0].help.as_deref().unwrap_or_default();
        assert!(help.contains("`VOUCH_INPUT` takes one of them"), "{errors:?}");
    }
}

fn refused_at(text: &str, message: &str, at: &str) {
    match at {
        "" => {
            let errors = compile(text, &options("main")).unwrap_err();
            assert!(errors[0].message.contains(message), "{errors:?}");
        }
        _ => refused(text, message, at),
    }
}

/// The table is about C, not about us: gcc takes none of it.
#[test]
fn gcc_finds_it_wrong_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("p.c");
    for (text, ..) in WRONG {
        std::fs::write(&source, text).unwrap();
        let gcc = Command::new("gcc")
            .args(["-m32", "-w", "-std=gnu11", "-fsyntax-only"])
            .arg(&source)
            .output();
        match gcc {
            Ok(gcc) => assert!(!gcc.status.success(), "gcc takes {text}"),
            Err(_) => {
                eprintln!("skipped: there is no gcc");
                return;
            }
        }
    }
}

/// The warnings about functions that nobody declares.
fn undeclared(text: &str) -> Vec<Diagnostic> {
    let mut warnings = compile(text, &options("main")).unwrap().warnings;
    warnings.retain(|w| w.message.contains("not declared"));
    warnings
}

#[test]
fn what_no_run_reaches_may_be_undeclared() {
    let text = "int f(void) { return nobody(1); } int main(void) { return 0; }";
    assert_eq!(undeclared(text).len(), 1);
    let mut options = options("main");
    options.c.model = DataModel::Lp64;
    compile("char a[0x80000000]; int main(void) { return 0; }", &options).unwrap();
}

#[test]
fn undeclared_functions_that_are_known_have_their_type() {
    let text = "int main(void) { abort(); return 0; } int unused(void) { return strlen(\"a\"); }";
    let found = undeclared(text);
    let messages: Vec<&str> = found.iter().map(|w| &*w.message).collect();
    assert_eq!(
        messages,
        ["`abort` is called, but not declared", "`strlen` is called, but not declared"]
    );
    assert!(found[1].help.as_ref().is_some_and(|h| h.contains("unsigned long")));
    // Later in the file is early enough.
    let text = "int main(void) { return f(1); } int f(int x) { return x; }";
    assert_eq!(undeclared(text).len(), 1);
}
