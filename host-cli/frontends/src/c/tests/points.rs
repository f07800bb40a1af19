//! Where pointers may point to: whatever way a pointer takes, what it points to is found.

use super::{compile, options, run};
use crate::Options;
use crate::limits;

fn checked() -> Options {
    let mut options = options("main");
    options.c.checks = "all".parse().unwrap();
    options
}

/// What `main` returns; a pointer that was not foreseen would end the run at a limit.
fn result(text: &str) -> u128 {
    let compiled = compile(text, &checked()).unwrap();
    let ended = run(&compiled.cfa, 7, 10_000);
    assert_eq!(ended.location, "end", "{text}");
    ended.values["main::result"]
}

#[test]
fn pointers_are_followed_wherever_they_went() {
    let programs = [
        // Through objects.
        ("int x = 3, *p; int main(void) { p = &x; return *p; }", 3),
        ("int x = 3, *p = &x, **q = &p; int main(void) { return **q; }", 3),
        (
            "int a[4] = { 1, 2, 3, 4 }; int main(void) { int *p = a + 1; p++; p = p + 1; return *p; }",
            4,
        ),
        (
            "int x = 3; int main(void) { int *t[3] = { 0 }; for (int i = 0; i < 3; i++) t[i] = &x; return *t[2]; }",
            3,
        ),
        (
            "struct s { int v, *p; }; int x = 3; int main(void) { struct s a = { 1, &x }, b; b = a; return *b.p; }",
            3,
        ),
        (
            "struct s { int v, *p; }; int x = 3; struct s f(int *p) { struct s s = { 1, p }; return s; }\n\
             int main(void) { return *f(&x).p; }",
            3,
        ),
        (
            "struct s { int v, *p; }; int x = 3; int f(struct s s) { return *s.p; }\n\
             int main(void) { struct s s = { 1, &x }; return f(s); }",
            3,
        ),
        (
            "int x = 3; int main(void) { int *p = 0, *q = &x; p = 1 ? q : 0; return *(p ? p : q); }",
            3,
        ),
        ("int x = 3; int main(void) { int *p = ({ int *q = &x; q; }); return *p; }", 3),
        ("struct s { int *p; }; int x = 3; int main(void) { return *((struct s){ &x }).p; }", 3),
        (
            "int x = 3; int *f(void) { static int *p; if (!p) p = &x; return p; } int main(void) { return *f(); }",
            3,
        ),
        (
            "int x = 3; void f(int **p) { *p = &x; } int main(void) { int *p = 0; f(&p); return *p; }",
            3,
        ),
        (
            "int x = 3; void f(void *p) { *(int **)p = &x; } int main(void) { int *p = 0; f(&p); return *p; }",
            3,
        ),
        (
            "int g(int *p) { return *p; } int main(void) { int a = 1, b = 2; return g(&a) * 10 + g(&b); }",
            12,
        ),
        // As bytes and numbers.
        (
            "void *memcpy(void *, const void *, unsigned); struct s { int v, *p; }; int x = 3;\n\
             int main(void) { struct s a = { 1, &x }, b[2]; memcpy(&b[1], &a, sizeof a); return *b[1].p; }",
            3,
        ),
        (
            "void *memmove(void *, const void *, unsigned); int x = 3;\n\
             int main(void) { int *a[3] = { &x }; unsigned n = 2; for (n = 0; n < 2; n++) ; memmove(a + 1, a, n * sizeof *a); return *a[2 - 1]; }",
            3,
        ),
        (
            "struct s { int v, *p; }; int x = 3;\n\
             int main(void) { struct s a = { 1, &x }, b; char *d = (char *)&b, *s = (char *)&a;\n\
             for (unsigned i = 0; i < sizeof a; i++) d[i] = s[i]; return *b.p; }",
            3,
        ),
        (
            "union u { int *p; char *q; }; int x = 3; int main(void) { union u u; u.q = (char *)&x; return *u.p; }",
            3,
        ),
        (
            "struct s { int a, b; }; struct s s = { 1, 3 }; int main(void) { int *p = &s.a; return ((struct s *)((char *)p - 0))->b; }",
            3,
        ),
        (
            "struct link { int n; }; struct s { int a; struct link l; }; struct s s = { 3, { 4 } };\n\
             int f(struct link *l) { return ((struct s *)((char *)l - __builtin_offsetof(struct s, l)))->a; }\n\
             int main(void) { return f(&s.l); }",
            3,
        ),
        (
            "int x[2] = { 2, 3 }; int main(void) { int *p = (int *)((unsigned)&x[0] + 4); return *p; }",
            3,
        ),
        // Arguments that are not parameters.
        (
            "int f(int n, ...) { __builtin_va_list l; __builtin_va_start(l, n); int *p = __builtin_va_arg(l, int *); return *p; }\n\
             int x = 3; int main(void) { return f(1, &x); }",
            3,
        ),
        // Lists.
        (
            "struct n { int v; struct n *next; }; struct n *head; struct n all[3];\n\
             void push(struct n *n) { n->next = head; head = n; }\n\
             int main(void) { int sum = 0; for (int i = 0; i < 3; i++) { all[i].v = i + 1; push(&all[i]); }\n\
             for (struct n *n = head; n; n = n->next) sum += n->v; return sum; }",
            6,
        ),
        (
            "struct t { int v; struct t *l, *r; }; int sum(struct t *t) { return t ? sum(t->l) + t->v + sum(t->r) : 0; }\n\
             int main(void) { struct t a = { 1, 0, 0 }, b = { 2, 0, 0 }, c = { 3, &a, &b }; return sum(&c); }",
            6,
        ),
        // Functions.
        ("int f(int x) { return x + 1; } int (*p)(int) = f; int main(void) { return p(2); }", 3),
        (
            "int f(int x) { return x + 1; } int g(int x) { return x + 2; } int (*const t[])(int) = { f, g };\n\
             int main(void) { int sum = 0; for (int i = 0; i < 2; i++) sum += t[i](i); return sum; }",
            4,
        ),
        (
            "struct ops { int (*up)(int), (*down)(int); }; int inc(int x) { return x + 1; } int dec(int x) { return x - 1; }\n\
             const struct ops ops = { inc, dec }; int run(const struct ops *o, int x) { return o->up(o->up(o->down(x))); }\n\
             int main(void) { return run(&ops, 2); }",
            3,
        ),
        (
            "typedef int (*fn)(int); int f(int x) { return x + 1; } fn get(void) { return f; } int main(void) { return get()(2); }",
            3,
        ),
        (
            "typedef void (*fn)(void *); void set(void *p) { *(int *)p = 3; } void call(fn f, void *p) { f(p); }\n\
             int main(void) { int x = 1; call(set, &x); return x; }",
            3,
        ),
    ];
    for (text, expected) in programs {
        assert_eq!(result(text), expected, "{text}");
    }
}

/// Each field means its own functions: a handler that enters another state does not call handlers.
#[test]
fn functions_are_told_apart_by_the_field_that_they_are_in() {
    let text = "struct state { int (*handle)(int), (*enter)(int); };\n\
        int entered; int enter(int x) { entered = x; return 0; }\n\
        extern const struct state on, off; const struct state *now;\n\
        int go(const struct state *to, int x) { now = to; return to->enter(x); }\n\
        int handle_on(int x) { return go(&off, x); } int handle_off(int x) { return go(&on, x); }\n\
        const struct state on = { handle_on, enter }, off = { handle_off, enter };\n\
        int main(void) { now = &on; now->handle(1); now->handle(2); return entered; }";
    let compiled = compile(text, &checked()).unwrap();
    let has = |name: &str| compiled.cfa.properties.iter().any(|p| p.name == name);
    assert!(!has(limits::RECURSION), "handlers were taken for what enters a state");
    assert_eq!(result(text), 2);
}

/// An access concerns the objects that its pointer may point to, and no others.
#[test]
fn other_objects_are_left_alone() {
    let text = "int a[2], b[2], *q = b; void set(int *p, unsigned i) { p[i & 1] = 1; }\n\
        unsigned any(void); int main(void) { set(a, any()); q[0] = 2; return 0; }";
    let compiled = compile(text, &checked()).unwrap();
    let cfa = &compiled.cfa;
    let is_b = |v: vouch_ir::VarId| cfa.vars[v.index()].name == "b[1]";
    let written = cfa.edges.iter().filter(|e| e.from != cfa.init);
    assert!(written.flat_map(|e| &e.updates).all(|u| !is_b(u.0)));
}

/// What a run does not do that the analysis allows is fine; what it does not allow is beyond a limit, and no mistake.
#[test]
fn what_is_not_foreseen_is_beyond_a_limit() {
    // The pointer is put together from parts.
    let text = "int x = 3; int main(void) { int *p = &x, *q = 0; unsigned short *s = (unsigned short *)&p, *d = (unsigned short *)&q;\n\
        unsigned short t[2]; t[0] = s[0]; t[1] = s[1]; t[0] *= 2; t[0] /= 2; d[0] = t[0]; d[1] = t[1]; return *q; }";
    let compiled = compile(text, &checked()).unwrap();
    let ended = run(&compiled.cfa, 7, 10_000);
    assert!(
        [format!("error {}", limits::MEMORY), "end".into()].contains(&ended.location),
        "{}",
        ended.location
    );
}

/// Bytes are moved by any number, within one object and between two.
#[test]
fn any_number_of_bytes_is_moved_at_once() {
    let head = "void *memcpy(void *, const void *, unsigned); void *memmove(void *, const void *, unsigned);\n\
        void *memset(void *, int, unsigned); unsigned any(void);\n";
    let programs = [
        (
            "char a[8], b[8] = \"1234567\"; int main(void) { memcpy(a, b, any()); return a[6] * 256 + a[7]; }",
            0x3700,
        ),
        (
            "char a[9] = \"12345678\"; int main(void) { memmove(a + 1, a, any()); return a[7] * 256 + a[8]; }",
            0x3700,
        ),
        (
            "char a[9] = \"12345678\"; int main(void) { memmove(a, a + 1, any()); return a[6] * 256 + a[7]; }",
            0x3838,
        ),
        (
            "char a[9]; int main(void) { memset(a + 1, 5, any()); return a[0] * 65536 + a[7] * 256 + a[8]; }",
            0x0500,
        ),
        (
            "int a[2] = { -1, -1 }; int main(void) { memset(a, 0, any() - 1); return a[1]; }",
            -65536i32 as u32 as u128,
        ),
        ("char a[4], *p; int main(void) { memset(p, 5, any() - 7); return a[0]; }", 0),
    ];
    for (text, expected) in programs {
        assert_eq!(result(&format!("{head}{text}")), expected, "{text}");
    }
    let breaks = [
        ("char a[6]; int main(void) { memset(a, 1, any()); return 0; }", "bounds"),
        ("char a[8]; int main(void) { memset(a + 2, 1, any()); return 0; }", "bounds"),
        ("char a[8], b[6]; int main(void) { memcpy(a, b, any()); return 0; }", "bounds"),
        ("char a[8], *p; int main(void) { memcpy(a, p, any()); return 0; }", "null"),
    ];
    for (text, property) in breaks {
        let compiled = compile(&format!("{head}{text}"), &checked()).unwrap();
        let ended = run(&compiled.cfa, 7, 10_000);
        assert_eq!(ended.location, format!("error {property}"), "{text}");
    }
}
