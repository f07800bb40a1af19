//! What is outside of the program: functions that are declared only, and devices at fixed addresses.

use super::language::refused;
use super::{compile, options, run};
use crate::c::{DataModel, DeclaredOnly, changer};
use crate::limits;

/// What `main` returns when all that nobody knows is 7.
fn result(text: &str) -> u128 {
    let compiled = compile(text, &options("main")).unwrap();
    let ended = run(&compiled.cfa, 7, 10_000);
    assert_eq!(ended.location, "end", "{text}");
    ended.values["main::result"]
}

#[test]
fn what_is_given_changes() {
    let changed = [
        ("void f(int *); int main(void) { int x = 1; f(&x); return x; }", 7),
        ("void f(const int *); int main(void) { int x = 1; f(&x); return x; }", 1),
        ("void f(int); int g = 1; int main(void) { f(2); return g; }", 1),
        // What other units know.
        ("void f(void); extern int g; int g = 1; int main(void) { f(); return g; }", 7),
        (
            "void f(void); int g = 1; extern int g; int main(void) { int x = g; f(); return g + x; }",
            8,
        ),
        ("void f(void); extern const int g; const int g = 1; int main(void) { f(); return g; }", 1),
        ("void f(void); static int g = 1; extern int g; int main(void) { f(); return g; }", 1),
        (
            "int f_nondet(void); extern int g; int g = 1; int main(void) { f_nondet(); return g; }",
            1,
        ),
        (
            "struct s { int *p; }; extern struct s s; static int x = 1; struct s s;\n\
             void f(void); int main(void) { s.p = &x; f(); return x; }",
            7,
        ),
        ("int f(int *); int main(void) { int x = 1, y = 2; f(&x); return y; }", 2),
        ("int f(int *); int main(void) { int x = 1, y = f(&x); return y + x; }", 14),
        ("void f(int *); int main(void) { int a[4] = { 0 }; f(a + 2); return a[0] + a[3]; }", 14),
        (
            "void f(void *); struct s { int a, b; }; int main(void) { struct s s = { 1, 2 }; f(&s.b); return s.a; }",
            7,
        ),
        ("void f(int *); int main(void) { static const int x = 3; f((int *)&x); return x; }", 3),
        (
            "void f(int *); int main(void) { int x = 1; int *p = 0; f(p); f(0); f(&x + 0); return x; }",
            7,
        ),
        // Through pointers, as far as they lead.
        (
            "struct s { int *p; }; void f(struct s *); int main(void) { int x = 1; struct s s = { &x }; f(&s); return x; }",
            7,
        ),
        (
            "struct s { int *p; }; void f(const struct s *); int main(void) { int x = 1; struct s s = { &x }; f(&s); return x; }",
            7,
        ),
        (
            "struct s { const int *p; }; void f(const struct s *); int main(void) { int x = 1; struct s s = { &x }; f(&s); return x; }",
            1,
        ),
        (
            "struct s { int *p; }; void f(struct s); int main(void) { int x = 1; struct s s = { &x }; f(s); return x; }",
            7,
        ),
        (
            "struct n { int v; struct n *next; }; void f(struct n *);\n\
             int main(void) { struct n a = { 1, 0 }, b = { 2, &a }, c = { 3, &b }, d = { 4, &c }, e = { 5, &d }; f(&e); return a.v; }",
            7,
        ),
        (
            "struct n { struct n *next; }; void f(struct n *); int main(void) { int x = 1, *p = &x; struct n n = { 0 }; f(&n); return *p; }",
            1,
        ),
        // Through what nobody writes, which stays as it is.
        (
            "struct s { int *p; }; void f(const struct s *); static int x = 1; static const struct s s = { &x };\n\
             int main(void) { f(&s); return x; }",
            7,
        ),
        (
            "struct s { int *p; }; struct t { const struct s *s; }; void f(const struct t *); static int x = 1;\n\
             static const struct s s = { &x }; int main(void) { struct t t = { &s }; f(&t); return x; }",
            7,
        ),
        (
            "struct s { int *p; int n; }; void f(const struct s *); static int x = 1; static struct s s = { &x, 2 };\n\
             int main(void) { f(&s); return s.n + (s.p == &x) + x; }",
            10,
        ),
        // Where the type has a union, or none.
        (
            "union u { unsigned n; int *p; }; void f(union u *); int main(void) { int x = 1; union u u; u.p = &x; f(&u); return x; }",
            7,
        ),
        (
            "union u { unsigned char n[2]; int *p; }; void f(union u); int main(void) { int x = 1; union u u; u.p = &x; f(u); return x; }",
            7,
        ),
        (
            "void f(void *); int main(void) { int x = 1, *p = &x; char b[8]; *(int **)b = p; f(b); return x; }",
            7,
        ),
        (
            "struct s { const int *p; int n; }; void f(struct s *); int main(void) { int x = 1; struct s s = { &x, 1 }; f(&s); return x; }",
            1,
        ),
        // An address as a number.
        ("void f(unsigned); int main(void) { int x = 1; f((unsigned)&x); return x; }", 7),
        (
            "void f(unsigned); int main(void) { int x = 1, y = 2; f((unsigned)&x + 4); return y; }",
            2,
        ),
        // Through a pointer to the function.
        ("void f(int *); void (*p)(int *) = f; int main(void) { int x = 1; p(&x); return x; }", 7),
    ];
    for (text, expected) in changed {
        assert_eq!(result(text), expected, "{text}");
    }
}

/// Whether that is null, nobody knows here.
#[test]
fn the_address_of_what_may_be_missing_is_refused() {
    let weak = "extern int x __attribute__((weak)); extern void f(void) __attribute__((weak));";
    for (use_, at) in [("&x != 0", "&x"), ("f != 0", "f"), ("!f", "f")] {
        let text = format!("{weak} int main(void) {{ return {use_}; }}");
        refused(&text, "that nobody defines", at);
    }
    let defined = "int x __attribute__((weak)); __attribute__((weak)) void f(void) { x = 3; }";
    assert_eq!(result(&format!("{defined} int main(void) {{ if (f && &x) f(); return x; }}")), 3);
    assert_eq!(result(&format!("{weak} int main(void) {{ f(); return 4; }}")), 4);
}

#[test]
fn nothing_changes_by_choice() {
    let mut options = options("main");
    options.c.declared_only = DeclaredOnly::Nothing;
    let text = "int f(int *); int main(void) { int x = 1, y = f(&x); return y + x; }";
    let compiled = compile(text, &options).unwrap();
    assert_eq!(run(&compiled.cfa, 7, 1000).values["main::result"], 8);
    assert!(compiled.warnings.iter().all(|w| !w.message.contains("declared only")));
}

#[test]
fn who_changes_what_is_told() {
    let text = "void f(int *); int main(void) { int x = 1; f(&x); return x; }";
    let compiled = compile(text, &options("main")).unwrap();
    let warning = compiled.warnings.iter().find(|w| w.message.contains("declared only")).unwrap();
    assert!(warning.message.contains("`f`"), "{warning:?}");
    let names = compiled.cfa.inputs.iter().map(|input| changer(&input.name));
    assert!(names.flatten().all(|name| name == "f"));
    assert!(compiled.cfa.inputs.iter().any(|input| changer(&input.name) == Some("f")));
    assert_eq!(
        (changer("x"), changer("x after f()"), changer("a b after g()#2")),
        (None, Some("f"), Some("g"))
    );
}

#[test]
fn a_run_that_hands_out_a_function_leaves_the_model() {
    let warned = |text: &str, options: &crate::Options| {
        let compiled = compile(text, options).unwrap();
        let warning = compiled.warnings.iter().find(|w| w.message.contains("may call it"));
        let error = compiled.cfa.properties.iter().find(|p| p.name == limits::CALLBACK);
        let is_limit = error.is_some_and(|p| compiled.cfa.edges.iter().any(|e| e.to == p.error));
        assert_eq!(is_limit, warning.is_some(), "{text}");
        warning.map(|w| w.message.clone())
    };
    let text = "static int n; static void tick(void) { n++; } void start(void (*)(void)); \
                int main(void) { start(tick); return n; }";
    let main = options("main");
    let told = "`start` is given `tick` and may call it, which is not modelled";
    assert_eq!(warned(text, &main).as_deref(), Some(told));
    // Also if it lies in what is given, whoever may change that.
    let inside = "struct t { int n; void (*f)(void); }; static int n; static void tick(void) { n++; } \
                  void start(const struct t *); \
                  int main(void) { static const struct t t = { 1, tick }; start(&t); return n; }";
    assert_eq!(warned(inside, &main).as_deref(), Some(told));
    // Or in what others know by its name, and if what it changes is changed by another one.
    let known = "static int n; static void tick(void) { n++; } extern void (*hook)(void); void start(void); \
                 int main(void) { hook = tick; start(); return n; }";
    assert_eq!(warned(known, &main).as_deref(), Some(told));
    let far = "extern int n; void f(void); static void tick(void) { f(); } void start(void (*)(void)); \
               int main(void) { start(tick); return n; }";
    assert_eq!(warned(far, &main).as_deref(), Some(told));
    assert_eq!(warned(&far.replace("extern int n", "static int n"), &main), None);
    assert_eq!(warned(&text.replace("start(tick)", "start(0)"), &main), None);
    assert_eq!(warned(&text.replace("(void));", "(void)) { }"), &main), None);
    let mut named = options("main");
    named.c.interrupts = vec![("tick".into(), 1)];
    assert_eq!(warned(text, &named), None);
    let mut nothing = options("main");
    nothing.c.declared_only = DeclaredOnly::Nothing;
    assert_eq!(warned(text, &nothing), None);
}

#[test]
fn a_function_that_changes_nothing_may_be_handed_out() {
    let matters = |tick: &str| {
        let text = format!(
            "int puts(const char *); void reach_error(void); void restart(void (*)(void)); \
             static int n, unread, a[4], b[4]; static int *p = a; static void set(void) {{ n = 1; }} \
             static void tick(void) {{ {tick} }} \
             void start(void (*)(void)); int main(void) {{ start(tick); return n + *p; }}"
        );
        let compiled = compile(&text, &options("main")).unwrap();
        compiled.cfa.properties.iter().any(|p| p.name == limits::CALLBACK)
    };
    let harmless = [
        "",
        "int i = 0; i += n; unread = i / 2;",
        "*(volatile int *)0x40000000 = n;",
        "unread = n / 2 << 31; b[3] = n;",
        "restart(tick);",
        "puts(\"x\");",
    ];
    for tick in harmless {
        assert!(!matters(tick), "{tick}");
    }
    let harmful = [
        "n = 1;",
        "b[4] = 1;",
        "unread = n / 0;",
        "unread = n << 32;",
        "a[1] = 1;",
        "*p = 1;",
        "set();",
        "restart(set);",
        "if (n) reach_error();",
        "unread = a[n];",
        "unread = 1 / n;",
        "unread <<= n;",
    ];
    for tick in harmful {
        assert!(matters(tick), "{tick}");
    }
}

#[test]
fn what_comes_after_a_function_was_handed_out_is_looked_at() {
    let text = "static int n; static void tick(void) { n = 1; } void start(void (*)(void)); \
                void reach_error(void); int main(void) { start(tick); reach_error(); return n; }";
    let cfa = compile(text, &options("main")).unwrap().cfa;
    let error = |name: &str| cfa.properties.iter().find(|p| p.name == name).unwrap().error;
    let guard_of = |to| cfa.edges.iter().find(|e| e.to == to).map(|e| cfa.pool.as_const(e.guard));
    assert_eq!(guard_of(error(limits::CALLBACK)), Some(Some(1)));
    assert_eq!(guard_of(error("reach_error")), Some(Some(1)));
}

#[test]
fn a_pointer_from_outside_points_to_nothing() {
    let warned = |text: &str| {
        let warnings = compile(text, &options("f")).unwrap().warnings;
        let found = warnings.iter().find(|w| w.message.contains("any pointer"))?;
        Some((found.message.clone(), found.help.clone().unwrap_or_default()))
    };
    let (message, help) =
        warned("struct q { int n; }; void f(int x, struct q *q) { q->n = x; }").unwrap();
    assert_eq!(message, "`f` is called with any pointer as `q`");
    assert!(help.ends_with("`void step(void) { static struct q x; f(…, &x); }`"), "{help}");
    assert_eq!(warned("int x; void f(int n) { x = n; }"), None);
}

#[test]
fn what_others_could_change_is_told() {
    let warned = |text: &str| {
        let warnings = compile(text, &options("main")).unwrap().warnings;
        warnings.iter().find(|w| w.message.contains("defined elsewhere")).map(|w| w.message.clone())
    };
    let text = "int ticks; void tick(void); int main(void) { tick(); return ticks; }";
    assert_eq!(
        warned(text).unwrap(),
        "`tick` is defined elsewhere, and is taken not to change `ticks`"
    );
    assert_eq!(warned(&text.replace("int ticks", "static int ticks")), None);
    assert_eq!(warned(&text.replace("int ticks", "extern int ticks; int ticks")), None);
    assert_eq!(warned(&text.replace("void tick(void)", "void tick(void) { }")), None);
    assert_eq!(warned(&text.replace("return ticks", "return 0")), None);
}

#[test]
fn handlers_that_nobody_names_are_told() {
    let warned = |text: &str, entry: &str| {
        let warnings = compile(text, &options(entry)).unwrap().warnings;
        warnings.iter().find(|w| w.message.contains("nothing calls")).map(|w| w.message.clone())
    };
    let text = "static volatile int flag; static void clear(void) { flag = 0; }\n\
        void uart_irq(void) { flag++; } int step(void) { return flag; }\n\
        int main(void) { clear(); return step(); }";
    let message = "`uart_irq` changes `flag`, but nothing calls it";
    assert_eq!(warned(text, "step").unwrap(), message);
    assert_eq!(warned(text, "main").unwrap(), message);
    assert_eq!(warned(&text.replace("volatile", ""), "step"), None);
    assert_eq!(warned(&text.replace("return flag", "return 1"), "step"), None);
    assert_eq!(warned(&text.replace("return flag", "uart_irq(); return flag"), "step"), None);
    assert_eq!(warned(&text.replace("flag++", "int flag = 0; flag++"), "step"), None);
}

#[test]
fn values_that_the_program_decides_are_approximate() {
    let approximate = |text: &str| {
        let cfa = compile(text, &options("main")).unwrap().cfa;
        let names = cfa.approximate.iter().map(|i| cfa.inputs[i.index()].name.clone());
        names.collect::<Vec<_>>().join(" ")
    };
    // Whether a block of no bytes is one, and what lies where one was.
    let heap = "void *malloc(unsigned); void free(void *); int n;";
    let of_none = format!("{heap} int main(void) {{ return malloc(n) != 0; }}");
    assert_eq!(approximate(&of_none), "malloc(0)");
    assert_eq!(approximate(&of_none.replace("(n)", "(3)")), "");
    let two = "int main(void) { char *p = malloc(1), *q = malloc(2); int x = p == q;";
    assert_eq!(approximate(&format!("{heap} {two} return x; }}")), "place in memory");
    let address = "int x; int main(void) { return (unsigned long)&x & 3; }";
    assert_eq!(approximate(address), "address");
    let text = "#include <stdio.h>\nint main(void) { char b[8]; return snprintf(b, 3, \"%d\", 12) + b[0]; }";
    assert_eq!(approximate(text), "text");
    assert_eq!(approximate(&text.replace("%d\", 12", "%s\", b")), "length text");
    assert_eq!(
        approximate("int printf(const char *, ...); int main(void) { return printf(\"a\"); }"),
        "printf"
    );
    assert_eq!(
        approximate(
            "int vouch_input(const char *); int main(void) { return vouch_input(\"address\"); }"
        ),
        ""
    );
}

#[test]
fn functions_are_told_apart_by_what_they_take() {
    let text = "typedef unsigned char u8; static u8 pin(u8 id) { return id; }\n\
                static int last; static void pressed(int *at, void *user) { last = *at; }\n\
                struct b { u8 (*read)(u8); void (*event)(int *, void *); } b = { pin, pressed };\n\
                int main(void) { int n = 5; b.event(&n, 0); return last + b.read(3); }";
    assert_eq!(result(text), 8);
}

#[test]
fn devices_are_not_memory() {
    let registers = [
        ("int main(void) { return *(volatile unsigned *)0x40021000; }", 7),
        ("#define R (*(volatile unsigned char *)0x25)\nint main(void) { R = 3; return R; }", 7),
        (
            "typedef struct { volatile unsigned mode, in, out[2]; } gpio;\n#define A ((gpio *)0x40020000UL)\n\
             int main(void) { A->mode |= 2; A->out[1] = 5; return A->in + A->out[1]; }",
            14,
        ),
        // Whoever has the address, and wherever it is kept.
        (
            "typedef struct { volatile unsigned in; } gpio; static gpio *ports[2] = { (gpio *)0x40020000, (gpio *)0x40020400 };\n\
             static int get(gpio *g) { return g->in; } int main(void) { int x = 1; return get(ports[x]) + x; }",
            8,
        ),
        // Computed as a number.
        (
            "int main(void) { unsigned n = 2; return *(volatile unsigned *)(0x40000000 + 0x400 * n); }",
            7,
        ),
        (
            "static unsigned base(int n) { return 0x40000000u + n; } int main(void) { return *(volatile unsigned *)base(16); }",
            7,
        ),
        // And back.
        (
            "#define P ((volatile unsigned *)0x40000010)\nint main(void) { return ((unsigned)P & 0xff) + ((unsigned)(P + 1) == 0x40000014); }",
            17,
        ),
        (
            "int main(void) { int a[2] = { 1, 2 }; int *p = (int *)((unsigned)a + 4); return *p; }",
            2,
        ),
        (
            "struct s { int a, b; }; int main(void) { struct s s = { 3, 4 }; int *p = &s.b; return ((struct s *)((unsigned long)p - 4))->a; }",
            3,
        ),
        (
            "int main(void) { int x; int *p = &x; return (unsigned)p != 0 && (unsigned)(int *)0 == 0; }",
            1,
        ),
    ];
    for (text, expected) in registers {
        assert_eq!(result(text), expected, "{text}");
    }
}

#[test]
fn objects_lie_beside_devices() {
    let text = "int a[300]; int main(void) { int *p = a; *(volatile int *)0x1000 = 1; *(volatile int *)0x2004 = 2;\n\
                for (int i = 0; i < 300; i++) p[i] = i; return *(p + 200) - 195; }";
    assert_eq!(result(text), 5);
}

#[test]
fn a_number_that_leads_nowhere_is_beyond_a_limit() {
    for text in [
        "int x; int main(void) { unsigned n = 0x1000; return *(int *)n + x; }",
        "int main(void) { return *((volatile int *)0x40000000 + 0x100000); }",
        "int main(void) { ((void (*)(void))0x1fff0000)(); return 0; }",
    ] {
        for model in [DataModel::Ilp32, DataModel::ARM32] {
            let mut options = options("main");
            options.c.checks = "all".parse().unwrap();
            options.c.model = model;
            let cfa = compile(text, &options).unwrap().cfa;
            let ended = run(&cfa, 0, 1000);
            assert_eq!(ended.location, format!("error {}", limits::MEMORY), "{text}");
        }
    }
}

#[test]
fn formats_write_within_their_bounds() {
    let head = "typedef unsigned long size_t; int snprintf(char *, size_t, const char *, ...); int sprintf(char *, const char *, ...);\n";
    let text = "int main(void) { char t[4] = { 9, 9, 9, 9 }; snprintf(t, 3, \"%d\", 1234); return t[0] + t[1] + t[2] + t[3]; }";
    assert_eq!(result(&format!("{head}{text}")), 7 + 7 + 9);
    let text = "int main(void) { char t[16]; return snprintf(0, 0, \"%s\", \"x\") + sprintf(t, \"%02u:%c\", 3, 'a'); }";
    assert_eq!(result(&format!("{head}{text}")), 7 + 4);
    let errors = compile(
        &format!(
            "{head}int main(void) {{ char t[9]; char *s = t; return sprintf(t, \"%s%f\", s, 1.0); }}"
        ),
        &options("main"),
    );
    assert!(errors.unwrap_err()[0].message.contains("any length"));
}

#[test]
fn atomic_operations_are_done() {
    let head = "int x = 5, e, r;\n";
    for (text, expected) in [
        ("return __atomic_load_n(&x, 5);", 5),
        ("__atomic_store_n(&x, 4, 0); return x;", 4),
        ("r = 8; __atomic_store(&x, &r, 0); __atomic_load(&x, &e, 0); return e;", 8),
        ("int r = __atomic_exchange_n(&x, 2, 5); return r * 10 + x;", 52),
        ("r = 3; __atomic_exchange(&x, &r, &e, 5); return e * 10 + x;", 53),
        ("int r = __atomic_fetch_add(&x, 2, 5); return r * 10 + x;", 57),
        ("int r = __atomic_sub_fetch(&x, 2, 5); return r * 10 + x;", 33),
        (
            "e = 5; int r = __atomic_compare_exchange_n(&x, &e, 9, 0, 5, 5); return r * 100 + x * 10 + e;",
            195,
        ),
        (
            "e = 4; int r = __atomic_compare_exchange_n(&x, &e, 9, 0, 5, 5); return r * 100 + x * 10 + e;",
            55,
        ),
        ("int r = __sync_fetch_and_or(&x, 2); return r * 10 + x;", 57),
        ("int r = __sync_bool_compare_and_swap(&x, 5, 6); return r * 10 + x;", 16),
        ("int r = __sync_val_compare_and_swap(&x, 4, 6); return r * 10 + x;", 55),
        (
            "unsigned char f = 0; e = __atomic_test_and_set(&f, 5); e += 2 * __atomic_test_and_set(&f, 5); __atomic_clear(&f, 5); return e + 10 * f;",
            2,
        ),
        ("int *p = &x; e = __atomic_load_n(p++, 5); return e + (p == &x + 1);", 6),
    ] {
        assert_eq!(result(&format!("{head}int main(void) {{ {text} }}")), expected, "{text}");
    }
}

#[test]
fn arrays_of_variable_length_end_where_they_end() {
    let main = |body: &str| {
        format!(
            "int n = 3; int sum(int *p, int m) {{ int s = 0; while (m--) s += *p++; return s; }}\n\
                 int main(void) {{ n++; int a[n]; for (int i = 0; i < n; i++) a[i] = i; {body} }}"
        )
    };
    for (body, expected) in [
        ("return a[3] + a[0];", 3),
        ("return sum(a, n);", 6),
        ("return sizeof a + sizeof(a) / sizeof *a;", 20),
        ("n = 9; return sizeof a;", 16),
        (
            "int s = 0; for (int k = 1; k < 4; k++) { char b[k]; b[k - 1] = k; s += b[k - 1] + sizeof b; } return s;",
            12,
        ),
        ("struct p { int x, y; } b[n - 2]; b[1].y = 4; return b[1].y;", 4),
    ] {
        assert_eq!(result(&main(body)), expected, "{body}");
    }
    for (body, location) in [
        ("a[n] = 1; return 0;", "error bounds"),
        ("int *p = a; p[n] = 1; return 0;", "error bounds"),
        ("return sum(a, n + 1);", "error bounds"),
        ("n = 1000; { char b[n]; b[0] = 1; } return 0;", "error memory_limit"),
        // Of two dimensions, where each row has its end.
        ("int b[n][n - 1]; b[n - 1][n - 2] = 1; return 0;", "end"),
        ("int b[n][n - 1]; b[0][n - 1] = 1; return 0;", "error bounds"),
        ("int b[n][n - 1]; b[n][0] = 1; return 0;", "error bounds"),
        ("int b[n][n - 1]; b[1][-1] = 1; return 0;", "error bounds"),
        ("short b[4 * n][4]; b[15][3] = 1; return 0;", "end"),
        ("short b[3][20 * n]; b[2][9] = 1; return 0;", "error memory_limit"),
        ("short b[1 << 30][4 * n]; b[2][9] = 1; return 0;", "error memory_limit"),
        ("n = -1; { char b[n]; b[0] = 1; } return 0;", "error memory_limit"),
    ] {
        let mut options = options("main");
        options.c.checks = "all".parse().unwrap();
        let cfa = compile(&main(body), &options).unwrap().cfa;
        assert_eq!(run(&cfa, 0, 1000).location, location, "{body}");
    }
}
