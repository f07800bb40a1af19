//! Bodies that calls share, and copies of them: the same happens.

use super::{compile, options, run};
use crate::Options;
use crate::limits;

/// Calls that all share bodies.
fn sharing(entry: &str) -> Options {
    let mut options = options(entry);
    options.c.copies = 0;
    options
}

/// How many places have a function's name.
fn places(text: &str, options: &Options, function: &str) -> usize {
    let cfa = compile(text, options).unwrap().cfa;
    cfa.locations.iter().filter(|l| l.name.starts_with(&format!("{function}:"))).count()
}

#[test]
fn calls_share_a_body_and_return_to_where_they_came_from() {
    let programs = [
        "int twice(int x) { return 2 * x; } \
         int main(void) { int r = twice(twice(3)) + twice(1); return r; }",
        "int n; void add(int by) { n += by; } void both(int a, int b) { add(a); add(b); } \
         int main(void) { both(1, 2); both(3, 4); add(5); int r = n; return r; }",
        "struct p { int a, b; }; struct p make(int a) { struct p p = { a, a + 1 }; return p; } \
         int main(void) { struct p x = make(1), y = make(10); int r = x.a + x.b + y.a + y.b; return r; }",
        "void set(int *p, int v) { *p = v; } void twice(int *p) { int x; set(&x, 4); set(p, x + x); } \
         int main(void) { int a, b[2]; set(&a, 1); twice(&b[1]); set(b, 3); int r = a + b[0] + b[1]; return r; }",
        "#include <stdarg.h>\n int last(int n, ...) { va_list l; int x = 0; va_start(l, n); \
         while (n--) x = va_arg(l, int); va_end(l); return x; } \
         int main(void) { int r = last(2, 5, 6) + last(1, 7); return r; }",
        "int f(int x) { if (x > 3) return 1; for (;;) { if (x > 5) return 2; x++; } } \
         int (*const t[2])(int) = { f, f }; int main(void) { int r = t[1](2) + 10 * f(9); return r; }",
        "int fact(int n) { return n ? n * fact(n - 1) : 1; } int call(int n) { return fact(n); } \
         int main(void) { int r = call(3) + call(4); return r; }",
        "#include <string.h>\n char a[8], b[8]; int main(void) { int n = 3; memcpy(a, \"abcdef\", n); \
         memcpy(b, a, n - 1); int r = a[2] * 2 + b[1] + b[2]; return r; }",
        "#include <stdio.h>\n int main(void) { char a[8]; int x = snprintf(a, 8, \"ab\"); \
         int r = x * 100 + snprintf(a, 8, \"abcd\"); return r; }",
    ];
    for text in programs {
        let result = |options: &Options| {
            let ended = run(&compile(text, options).unwrap().cfa, 0, 10_000);
            assert_eq!(ended.location, "end", "{text}");
            ended.values["main::r"]
        };
        assert_eq!(result(&options("main")), result(&sharing("main")), "{text}");
    }
}

#[test]
fn small_programs_have_copies() {
    let text = "int n; void add(int by) { n += by; } \
                int main(void) { add(1); add(2); add(3); return n; }";
    assert!(places(text, &options("main"), "add") > places(text, &sharing("main"), "add"));
}

#[test]
fn a_driver_that_everything_goes_through_is_not_copied() {
    let put = "int n; char buf[200]; void put(char c) { if (n < 200) buf[n++] = c; } ";
    let mut text = String::from(put);
    for level in 0..40 {
        text +=
            &format!("void f{level}(char c) {{ put(c); put(c + 1); put(c + 2); put(c + 3); }} ");
    }
    text += "int main(void) { ";
    (0..40).for_each(|level| text += &format!("f{level}({level}); "));
    text += "return n; }";
    // One body has a handful of places.
    assert!(places(&text, &options("main"), "put") < 10);
    assert!(places(&text, &options("main"), "f3") > 0);
    let mut never = options("main");
    never.c.copies = u64::MAX;
    assert!(places(&text, &never, "put") > 160);
}

#[test]
fn who_called_is_not_forgotten_by_handlers() {
    let text = "int read(void); volatile int n; int shown; void add(int by) { n += by; } \
                void tick(void) { add(1); add(1); } void step(void) { add(-2); shown = n; add(read()); }";
    let mut with = sharing("step");
    with.c.repeat = true;
    with.c.interrupts = vec![("tick".into(), 1)];
    let cfa = compile(text, &with).unwrap().cfa;
    // The program and the handler have a body each, and nothing leads from one to the other's callers.
    let callers: Vec<&str> =
        cfa.vars.iter().filter_map(|v| v.name.strip_suffix("::caller")).collect();
    assert!(callers.iter().filter(|name| name.starts_with("add")).count() == 2, "{callers:?}");
}

#[test]
fn a_variable_that_may_be_gone_is_a_limit() {
    let text = "int *p; int get(void) { return *p; } void keep(void) { int x = 1; p = &x; get(); } \
                int main(void) { keep(); return get(); }";
    let cfa = compile(text, &sharing("main")).unwrap().cfa;
    let ended = run(&cfa, 0, 1000);
    assert_eq!(ended.location, format!("error {}", limits::MEMORY));
}
