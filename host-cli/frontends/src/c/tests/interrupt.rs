//! Handlers of interrupts.

use super::{compile, options, run};
use crate::Options;
use vouch_ir::Edge;

fn with(handlers: &[(&str, u8)]) -> Options {
    let mut options = options("main");
    options.c.interrupts = handlers.iter().map(|(name, p)| (name.to_string(), *p)).collect();
    options
}

/// Expressions of all kinds on objects that a handler uses, too: as long as it does not run, they mean what they
/// mean without it.
#[test]
fn taking_accesses_apart_changes_nothing_else() {
    let text = "
        struct pair { int a; unsigned char b; short c[3]; };
        volatile int x = 3, y = 5, z[4] = {1, 2, 3, 4}, r[12];
        volatile unsigned char small = 250;
        struct pair pair = {7, 8, {9, 10, 11}};
        int *volatile where = (int *)&x;
        static int twice(int n) { x += n; return n * 2; }
        int handler_uses(void) { return x + y + z[y & 3] + small + pair.a + pair.c[1] + *where + r[0]; }
        void handler(void) { r[11] = handler_uses(); }
        int main(void) {
            r[0] = x++ + ++y;
            r[1] = (x = y = 9) + x;
            r[2] = z[z[0]++ & 3] + z[0];
            z[x & 3] += z[y & 3]--;
            r[3] = z[1] + (small += 10);
            r[4] = small++ + twice(x) * twice(y);
            pair.c[pair.b & 1]++;
            r[5] = pair.c[0] + (pair.b >>= 1);
            r[6] = x > 3 && y++ < 100 || z[2]--;
            r[7] = x ? (y ? z[3] : x) : y;
            *where += 4;
            r[8] = (*where)-- + x;
            where = (int *)&z[1];
            where++;
            r[9] = *where++ + *where;
            for (int i = 0; i < 3; i++) z[i] ^= z[i + 1];
            do { y -= 3; } while (y > 0);
            switch (x & 3) { case 1: x = 100; break; default: x = 200; }
            r[10] = (x, y, z[0]);
            return 0;
        }";
    let alone = compile(text, &options("main")).unwrap();
    let mut handled = compile(text, &with(&[("handler", 0)])).unwrap();
    let locations = handled.cfa.locations.clone();
    let runs = |edge: &Edge| locations[edge.to.index()].name.starts_with("handler at");
    handled.cfa.edges.retain(|edge| !runs(edge));
    assert!(handled.cfa.edges.len() > alone.cfa.edges.len() + 50);
    let (alone, handled) = (run(&alone.cfa, 0, 10_000), run(&handled.cfa, 0, 100_000));
    assert_eq!((&*alone.location, &*handled.location), ("end", "end"));
    let mut compared = 0;
    for (name, value) in &alone.values {
        if ["x", "y", "z[", "r[", "small", "pair", "where"].iter().any(|n| name.starts_with(n)) {
            assert_eq!(handled.values.get(name), Some(value), "{name}");
            compared += 1;
        }
    }
    assert!(compared >= 20, "{compared}");
}

/// The names of the limits of a program with a handler.
fn limits(text: &str) -> Vec<String> {
    let cfa = compile(text, &with(&[("handler", 0)])).unwrap().cfa;
    cfa.limits.iter().map(|p| cfa.properties[p.index()].name.clone()).collect()
}

#[test]
fn what_may_be_interrupted_in_the_middle_is_a_limit() {
    let program = |declarations: &str, handler: &str, main: &str| {
        limits(&format!(
            "{declarations} void handler(void) {{ {handler} }} int main(void) {{ {main} }}"
        ))
    };
    let is_limit = |found: Vec<String>| found.iter().any(|name| name == "interrupt_limit");
    assert!(is_limit(program("volatile long long x;", "x++;", "return x != 0;")));
    let pair = "struct { int a, b; } x, y;";
    assert!(is_limit(program(pair, "x.a++;", "y = x; return y.a;")));
    // One call of the allocator may come in the middle of another one.
    let heap = "void *malloc(unsigned); void free(void *); char *p; char x;";
    assert!(is_limit(program(heap, "p = malloc(3);", "p = malloc(4); return 0;")));
    assert!(is_limit(program(heap, "free(p);", "p = malloc(4); return 0;")));
    assert!(!is_limit(program(heap, "if (p) x = *p;", "p = malloc(4); free(p); return 0;")));
    let bits = "volatile struct { unsigned a: 3, b: 5; } x;";
    assert!(is_limit(program(bits, "x.a++;", "x.b = 1;")));
    let copy = "void *memcpy(void *, const void *, unsigned long); char x[9], y[9];";
    assert!(is_limit(program(copy, "x[3]++;", "memcpy(y, x, 9); return y[0];")));
    assert!(!is_limit(program("volatile int x;", "x++;", "return x;")));
    let masked = "extern void __disable_irq(void); volatile long long x;";
    let found = program(masked, "x++;", "__disable_irq(); return x != 0;");
    assert!(is_limit(found), "whether a run comes there is for the engine to say");
}

/// What is done with an atomic object is one access, wherever it is.
#[test]
fn handlers_do_not_come_between_the_parts_of_an_atomic_access() {
    let pauses = |declarations: &str, place: &str, step: &str| {
        let text = format!(
            "#include <stdatomic.h>\nint i; {declarations} void handler(void) {{ {place} = 1; }} \
             int main(void) {{ int e = 0; {step}; return 0; }}"
        );
        let cfa = compile(&text, &with(&[("handler", 0)])).unwrap().cfa;
        cfa.locations.iter().filter(|l| l.name.starts_with("handler at main")).count()
    };
    for (declarations, place, step, count) in [
        ("volatile int x;", "x", "x++", 2),
        ("_Atomic int x;", "x", "x++", 1),
        ("_Atomic(int) x[2];", "x[0]", "x[i] += x[1]", 2),
        ("atomic_int x;", "x", "x = x + 1", 2),
        ("struct { int a; atomic_int b; } x[2];", "x[0].b", "x[0].b |= 4", 1),
        ("struct { int a; atomic_int b; } x[2];", "x[0].a", "x[0].a |= 4", 2),
        ("volatile int x;", "x", "atomic_fetch_add(&x, 3)", 1),
        ("volatile int x;", "x", "e = atomic_exchange(&x, 3)", 1),
        ("volatile int x;", "x", "__sync_bool_compare_and_swap(&x, 3, 4)", 1),
        // What is expected is read before, and what was found is stored after.
        ("volatile int x;", "x", "atomic_compare_exchange_strong(&x, &e, 4)", 3),
    ] {
        assert_eq!(pauses(declarations, place, step), count, "{declarations} {step}");
    }
}

/// One operand may be used before a handler comes, and the other one after it.
#[test]
fn operands_that_a_handler_uses_come_in_any_order() {
    let depends = |declarations: &str, handler: &str, step: &str| {
        let text = format!(
            "extern void reach_error(void); volatile int a, b; int c; struct {{ int n, m; }} s, *p = &s;\n\
             {declarations} void handler(void) {{ {handler} }}\n\
             int main(void) {{ int x = 0; {step} if (x == 2) reach_error(); return 0; }}"
        );
        let cfa = compile(&text, &with(&[("handler", 0)])).unwrap().cfa;
        cfa.properties.iter().any(|p| p.name == crate::limits::ORDER)
    };
    let both = "a = 1; b = 1;";
    assert!(depends("", both, "x = 2 * a + b;"));
    assert!(depends("", both, "x = a > b;"));
    assert!(depends("", both, "int v[2] = { a, b }; x = v[0];"));
    assert!(depends("", "a = b;", "x = a + (b = 3);"));
    assert!(depends("int f(int x, int y) { return x > y; }", both, "x = f(a, b);"));
    assert!(depends("int f(void) { return a; } int g(void) { return b; }", both, "x = f() - g();"));
    assert!(depends("", "p->n++; p->m++;", "x = p->n - p->m;"));
    assert!(!depends("", both, "x = a; x += 2 * b;"));
    assert!(!depends("", both, "x = a && b;"));
    assert!(!depends("", "a = b;", "x = a + b;"));
    assert!(!depends("", both, "x = a + c;"));
    // Nothing is more urgent than the handler.
    assert!(!depends("", "a = 1; b = 1; c = a + b;", "x = c;"));
    // No handler comes where interrupts are surely disabled.
    let masks = "void __disable_irq(void); void __enable_irq(void); void __set_PRIMASK(int); int __get_PRIMASK(void);\n\
        int enter(void) { int was = __get_PRIMASK(); __disable_irq(); return was; }\n\
        void maybe(void) { if (c) __disable_irq(); } void leave(void) { __enable_irq(); }";
    let masked = |step: &str| !depends(masks, both, step);
    assert!(masked("__disable_irq(); x = a > b; __enable_irq();"));
    assert!(masked("int was = enter(); if (c) x = a > b; else x = a < b; __set_PRIMASK(was);"));
    assert!(masked("enter(); for (c = 0; c < 2; c++) x = a > b; x = a < b;"));
    assert!(masked(
        "enter(); switch (c) { case 1: x = a > b; break; default: x = a < b; } x = a - b;"
    ));
    for step in [
        "maybe(); x = a > b;",
        "enter(); leave(); x = a > b;",
        "enter(); x = (__enable_irq(), a) > b;",
        "enter(); for (c = 0; c < 2; c++) { x = a > b; __enable_irq(); }",
        "enter(); while (c--) leave(); x = a > b;",
        "if (c) enter(); x = a > b;",
        "if (c) goto out; enter(); out: x = a > b;",
        "switch (c) { case 1: enter(); case 2: x = a > b; }",
        "switch (c) { case 1: enter(); while (c--) { case 2: x = a > b; } }",
        "enter(); if (c) __set_PRIMASK(0); x = a > b;",
        "void (*f)(void) = leave; enter(); f(); x = a > b;",
        "x = a > b; enter();",
    ] {
        assert!(!masked(step), "{step}");
    }
    // The usual order is the one from left to right.
    let text = "extern void reach_error(void); volatile int a, b; void handler(void) { a = 1; b = 1; }\n\
        int main(void) { int x = 2 * a + b; if (x == 2) reach_error(); return 0; }";
    let cfa = compile(text, &with(&[("handler", 0)])).unwrap().cfa;
    let is_usual = |p: &vouch_ir::Property| p.name == "reach_error";
    assert!(cfa.properties.iter().any(is_usual));
}

#[test]
fn what_calls_itself_can_be_interrupted() {
    let text = "volatile int x; int f(int n) { x = n; return n ? f(n - 1) : x; }
        void handler(void) { f(2); } int main(void) { return f(3); }";
    let cfa = compile(text, &with(&[("handler", 0)])).unwrap().cfa;
    assert!(cfa.locations.iter().any(|l| l.name.starts_with("handler at f")));
}

#[test]
fn what_is_not_volatile_is_warned_of() {
    let text =
        "int x; volatile int y; void handler(void) { x++; y++; } int main(void) { return x + y; }";
    let warnings = compile(text, &with(&[("handler", 0)])).unwrap().warnings;
    let about = |name: &str| warnings.iter().any(|w| w.message.contains(name));
    assert!(about("`x` is shared with a handler") && !about("`y`"));
    let alone = compile(text, &options("main")).unwrap().warnings;
    assert!(!alone.iter().any(|w| w.message.contains("shared")));
}

#[test]
fn what_cannot_handle_an_interrupt() {
    let text = "void a(int n) {} int main(void) { return 0; }";
    for (name, message) in [("a", "takes arguments"), ("c", "no function `c`")] {
        let found = compile(text, &with(&[(name, 0)])).err().unwrap();
        assert!(found[0].message.contains(message), "{}", found[0].message);
    }
}

#[test]
fn instructions_and_functions_that_mask_interrupts() {
    let programs = [
        (
            "int x = 3, y, z; asm volatile(\"nop\\n\\twfi; mov %[to], %[from]\\n dsb sy\" : [to] \"=r\"(y) : [from] \"r\"(x + 1));
             asm(\"msr basepri, %1; mrs %0, basepri\" : \"=r\"(z) : \"r\"(0x140)); __WFI(); __DSB(); return y * 256 + z;",
            0x440,
        ),
        (
            "__set_BASEPRI(0x40); __set_BASEPRI_MAX(0x80); int x = __get_BASEPRI(); __set_BASEPRI_MAX(0x20);
             int y = __get_BASEPRI(); __set_BASEPRI_MAX(0); return x * 0x10000 + y * 0x100 + __get_BASEPRI();",
            0x40_2020,
        ),
        ("__set_PRIMASK(3); int x = __get_PRIMASK(); __enable_irq(); return x * 2 + __get_PRIMASK();", 2),
        // Stores if it is the first one after a load, and `clrex` is not between.
        (
            "volatile unsigned x = 5; unsigned a = __STREXW(7, &x), b = x, c = __LDREXW(&x); __CLREX(); a += __STREXW(8, &x);
             c += __LDREXW(&x); unsigned d = __STREXW(9, &x); return a * 0x10000 + b * 0x1000 + c * 0x100 + d * 0x10 + x;",
            0x2_5a09,
        ),
        (
            "unsigned char x[2] = {250, 1}, *p = x; unsigned v, r;
             asm volatile(\"ldrexb %0, [%1]\" : \"=r\"(v) : \"r\"(p)); v += 8;
             asm volatile(\"strexb %0, %2, %1\" : \"=&r\"(r), \"=Q\"(*p) : \"r\"(v)); return x[0] + x[1] * 256 + r;",
            0x102,
        ),
        (
            "unsigned short x = 3; int v, r; asm(\"ldrexh %0, %1\" : \"=r\"(v) : \"Q\"(x));
             asm(\"clrex; strexh %[r], %[v], [%[p]]\" : [r] \"=&r\"(r) : [v] \"r\"(v + 1), [p] \"r\"(&x)); return x * 16 + r;",
            0x31,
        ),
        ("int x; asm(\"mov %0, #7\" : \"=r\"(x)); asm(\"cpsid i\"); return x * 2 + __get_PRIMASK();", 15),
    ];
    for (body, expected) in programs {
        let text = format!("int main(void) {{ {body} }}");
        let ended = run(&compile(&text, &options("main")).unwrap().cfa, 1, 1000);
        assert_eq!((&*ended.location, ended.values["main::result"]), ("end", expected), "{body}");
    }
}

/// Handlers run in each loop, unless it is one that surely ends.
#[test]
fn handlers_run_in_loops_that_may_never_end() {
    let is_paused = |body: &str| {
        let text = format!(
            "int x, *p; void handler(void) {{ x++; }}
             int main(void) {{ unsigned char c = 0; int i, n = 9; unsigned u; long long w; _Bool b; {body} return 0; }}"
        );
        let cfa = compile(&text, &with(&[("handler", 0)])).unwrap().cfa;
        let names: Vec<&str> = cfa.locations.iter().map(|l| l.name.as_str()).collect();
        assert!(names.contains(&"handler at end"), "{body}: {names:?}");
        names.iter().any(|name| name.starts_with("handler at main"))
    };
    let end = [
        "for (i = 0; i < 10; i++) c++;",
        "for (i = 10; i > 0; i--) { if (c) break; if (n) continue; c++; }",
        "for (i = 0; i < n; ++i) c++;",
        "for (i = 0; i != n; i++) c++;",
        "for (u = 0; 7 > u; u++) c++;",
        "for (c = 0; c <= 254; c++) n++;",
        "for (i = 0; i < (int)sizeof n; i++) c++;",
        "for (i = 0; i < sizeof n; i++) c++;",
        "for (i = 0; i < 3; i++) for (u = 0; u < 3; u++) c++;",
    ];
    for body in end {
        assert!(!is_paused(body), "{body}");
    }
    let forever = [
        "for (;;) c++;",
        "while (n) c++;",
        "do c++; while (c < 200);",
        "again: c++; if (c < 9) goto again;",
        "for (i = 0; i < 10; i++) if (c) i = 0;",
        "for (i = 0; i < 10; i++) i--;",
        "p = &i; for (i = 0; i < 10; i++) --*p;",
        "for (i = 0; i < n; i++) n++;",
        "for (i = 0; i < 10; i += 3) c++;",
        "for (i = 0; i < 10; i--) c++;",
        "for (c = 0; c < 256; c++) n++;",
        "for (c = 0; c <= 255; c++) n++;",
        "for (c = 0; c != 300; c++) n++;",
        "for (c = 0; c < n; c++) ;",
        "for (u = 5; u >= 0; u--) c++;",
        "for (i = 0; i < w; i++) c++;",
        "for (b = 1; b != 0; b++) c++;",
        "while (n) for (i = 0; i < 3; i++) c++;",
    ];
    for body in forever {
        assert!(is_paused(body), "{body}");
    }
}

/// A handler that comes where a step begins does not use up what the step chooses.
#[test]
fn a_handler_takes_no_choice_from_what_it_interrupts() {
    let text = "
        extern void reach_error(void);
        volatile int last, seen;
        void handler(void) { seen = last; }
        void step(int x) { last = x; if (seen == 3) reach_error(); }";
    let mut options = options("step");
    options.c.repeat = true;
    options.c.interrupts = vec![("handler".into(), 0)];
    let source = crate::Source { path: "test.c".into(), text: text.into() };
    let program = crate::c::Program::new(&source, &options).unwrap();
    let chosen = |edge: usize| {
        let step = vouch_ir::Step { edge: vouch_ir::EdgeId(edge as u32), inputs: vec![] };
        crate::c::calls::of_step(&program, &step).len()
    };
    let (mut handled, mut stepped) = (0, 0);
    for (number, edge) in program.cfa.edges.iter().enumerate() {
        let is_handler = program.cfa.locations[edge.to.index()].name.starts_with("handler at ");
        if is_handler && program.notes.samples.iter().any(|sample| sample.at == edge.from) {
            assert_eq!(chosen(number), 0);
            handled += 1;
        }
        stepped += usize::from(!is_handler && chosen(number) > 0);
    }
    assert!(handled > 0 && stepped > 0, "{handled} {stepped}");
}
