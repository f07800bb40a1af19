//! What C leaves undefined, or up to the compiler: it is found, and nothing rests on it.

use super::language::{cfa, holds, refused};
use super::memory::{hazard, leaves, stays};
use super::{options, run};
use crate::Overflow;

/// A limit whether bounds are checked or not.
fn limited(declarations: &str, statements: &str) {
    let limit = || "error memory_limit".to_string();
    assert_eq!(hazard(declarations, statements), (limit(), limit()), "{statements}");
}

/// What another call passed is not there.
#[test]
fn a_call_has_the_arguments_that_it_passes() {
    let sum = "int sum(int n, ...) { __builtin_va_list list; __builtin_va_start(list, n); int s = 0; \
         while (n-- > 0) s += __builtin_va_arg(list, int); __builtin_va_end(list); return s; } int x;";
    stays(sum, "x = sum(3, 1, 2, 3); x = sum(2, 4, 5); x = sum(0);");
    leaves(sum, "x = sum(3, 1, 2, 3); x = sum(3, 4, 5);");
    leaves(sum, "x = sum(1);");
    holds(sum, "x = sum(3, 1, 2, 3);", "x == 6 && sum(1, 7) == 7");
    // A wide one takes two words.
    let wide = "long long last(int n, ...) { __builtin_va_list list; __builtin_va_start(list, n); \
         __builtin_va_arg(list, int); return __builtin_va_arg(list, long long); }";
    holds(wide, "", "last(0, 1, 5ll) == 5");
    leaves(wide, "last(0, 1, 5);");
}

#[test]
fn what_is_assigned_must_not_overlap_by_a_part() {
    let declared = "struct s { int v[3]; } a[3]; int b[8], i = 1; struct s *p = a, *q = a + 2; \
         union { struct s one; struct { int before; struct s other; } two; } u;";
    limited(declared, "*(struct s *)(b + 1) = *(struct s *)b;");
    limited(declared, "u.two.other = u.one;");
    limited(declared, "p = (struct s *)(b + i); q = (struct s *)b; *q = *p;");
    stays(declared, "*(struct s *)(b + 3) = *(struct s *)b; u.one = u.one; u.two.other = a[0];");
    stays(declared, "a[i] = a[i + 1]; a[i] = a[i]; *p++ = *q--; *p = *q; *p = u.one;");
}

/// Also where the compiler computes, and whatever becomes of the value.
#[test]
fn constants_overflow() {
    let ends = |text: &str| {
        let text = format!("long long x; int n; int main(void) {{ {text} return 0; }}");
        let mut options = options("main");
        options.overflow = Overflow::Assume;
        run(&cfa(&text, &options), 0, 1000).location == "end"
    };
    for not in [
        "x = 2147483647 + 1;",
        "x = 1000 * 1000 * 1000 * 3;",
        "x = 2147483647 + 1 - 1 + n;",
        "x = -(-2147483647 - 1);",
        "x = (-2147483647 - 1) / -1;",
        "x = (long long)(65536 * 65536) + n;",
        "n = (char)(2147483647 + 1);",
    ] {
        assert!(!ends(not), "{not}");
    }
    for fits in [
        "x = 2147483647 + 1u;",
        "x = 2147483647 + 1ll;",
        "x = -2147483647 - 1;",
        "x = 1 << 31;",
        "n = (char)300;",
        "n = 0 && 2147483647 + 1;",
        "enum { A = 2147483647 * 2 }; static int s = 2147483647 + 1; n = s;",
    ] {
        assert!(ends(fits), "{fits}");
    }
    holds("int x;", "x = 2147483647 + 1;", "x < 0 && x == 2147483647 + 1");
}

#[test]
fn enumerators_that_do_not_fit_int_are_of_the_type_of_all() {
    let low = "enum e { LOW = -1, HIGH = 0x80000000u, SIZE = sizeof(HIGH) };";
    holds(low, "", "HIGH > -2 && sizeof(HIGH) == 8 && sizeof(LOW) == 4 && SIZE == 4");
    let wide = "enum e { A = 0x80000000u, B = 0x100000000 };";
    holds(wide, "", "-A == -0x80000000ll && sizeof(A) == 8 && ~A > 0xffffffffu");
    holds("enum e { A = 0x80000000u };", "", "-A == 0x80000000u && sizeof(A) == 4");
}

#[test]
fn a_choice_of_any_pointer_is_one() {
    let declared = "int a[4], one = 1, *p = a; void *v = a;";
    holds(declared, "", "(char *)((one ? p : v) + 1) - (char *)a == 1");
    holds(declared, "", "(char *)((one ? v : p) + 1) - (char *)a == 1");
    holds(declared, "", "sizeof(*(one ? p : (void *)0)) == 4 && (one ? 0 : p) == 0");
    holds(declared, "", "(char *)((one ? p : (void *)0) + 1) - (char *)a == 4");
}

/// What arrives in a register that nobody filled is not known, nor what a record means to another one.
#[test]
fn calls_of_another_type_are_a_limit() {
    let ends = |declarations: &str, statement: &str| {
        let text =
            format!("{declarations} void *any = f; int main(void) {{ {statement} return 0; }}");
        run(&cfa(&text, &options("main")), 0, 1000).location
    };
    for (declarations, statement) in [
        ("int f(long long x) { return x >> 32; }", "((int (*)(int))any)(1);"),
        ("int f(int x) { return x; }", "long long x = ((long long (*)(int))any)(1);"),
        ("int f(float x) { return x; }", "((int (*)(double))any)(1);"),
        (
            "struct a { int x; }; struct b { char x, y; }; int f(struct a a) { return a.x; }",
            "struct b b = { 1, 2 }; ((int (*)(struct b))any)(b);",
        ),
    ] {
        assert_eq!(ends(declarations, statement), "error memory_limit", "{statement}");
    }
    let same = "int f(short x, enum e { A } e, void *p) { return x; }";
    assert_eq!(ends(same, "int x; ((int (*)(int, int, char *))any)(1, 2, (char *)&x);"), "end");
}

/// What is printed is read.
#[test]
fn arguments_of_formats_are_read() {
    let declared =
        "int printf(const char *, ...); char *names[2] = { \"a\", \"b\" }; double d[2]; int i = 2;";
    leaves(declared, "printf(\"%s\", names[i]);");
    leaves(declared, "printf(\"%f\", d[i]);");
    stays(declared, "printf(\"%s %f %s\", names[i - 1], d[0], \"c\");");
}

#[test]
fn a_choice_by_type_is_made_where_types_are_told_apart() {
    let choice = |value: &str, list: &str| {
        let text = format!("_Generic({value}, {list})");
        let declared = "volatile int *v; signed char *s; long *l; enum e { A } e;";
        let main = format!("{declared} int main(void) {{ return {text}; }}");
        refused(&main, "a choice between types", &text);
    };
    choice("v", "int *: 1, default: 2");
    choice("s", "char *: 1, default: 2");
    choice("l", "int *: 1, default: 2");
    choice("e", "unsigned: 1, default: 2");
    let enums = "enum e { A } e; enum f { B };";
    holds(enums, "", "_Generic(e, int: 1, enum f: 2, enum e: 3) == 3");
    holds(enums, "", "_Generic(e, int: 1, unsigned: 2) == 2");
}

#[test]
fn constant_locals_are_not_written() {
    leaves("", "const int x = 1; *(int *)&x = 2;");
    stays(
        "",
        "for (int i = 0; i < 2; i++) { const int x[2] = { i, 1 }; const int *p = x; if (p[0] != i) p = 0; i += *p; }",
    );
    holds("", "const struct { int a, b; } s = { 1, 2 }, *p = &s;", "p->b == 2");
}

/// Where things lie is not known, however one looks at it.
#[test]
fn an_address_that_is_read_as_a_number_is_any() {
    let result = |text: &str| {
        let text =
            format!("int x, y; union {{ int *p; unsigned n; unsigned char b[4]; }} u; {text}");
        let cfa = cfa(&text, &options("main"));
        let ended = run(&cfa, 7, 10_000);
        assert_eq!(ended.location, "end", "{text}");
        (ended.values["main::result"], cfa.approximate.is_empty())
    };
    let main = |body: &str| result(&format!("int main(void) {{ {body} }}"));
    assert_eq!(main("u.p = &x; return u.n;"), (7, false));
    assert_eq!(main("u.p = &x; return u.b[0];"), (7, false));
    assert_eq!(main("int *p = &x; return *(unsigned *)&p;"), (7, false));
    assert_eq!(main("int *p = &x; return ((unsigned char *)&p)[1];"), (7, false));
    let copied = "void *memcpy(void *, const void *, unsigned);";
    let copied = |body: &str| result(&format!("{copied} int main(void) {{ {body} }}"));
    assert!(!copied("int *p = &x; unsigned n; memcpy(&n, &p, 4); return n;").1);
    // What is not an address is what it is.
    assert_eq!(main("u.p = &x; u.p = 0; return u.n;").0, 0);
    assert_eq!(main("u.p = &x; u.n = 5; return u.n;").0, 5);
    assert_eq!(main("u.n = 300; return u.n;"), (300, true));
    // And what is copied stays a pointer.
    let bytes = "int *p = &x, *q; for (int i = 0; i < 4; i++) ((char *)&q)[i] = ((char *)&p)[i];";
    assert_eq!(main(&format!("{bytes} *q = 3; return x;")).0, 3);
    assert_eq!(copied("int *p = &x, *q; memcpy(&q, &p, 4); *q = 3; return x;").0, 3);
    assert_eq!(main("u.p = &x; u.n += 4; u.n -= 4; *u.p = 3; return x;").0, 3);
}

#[test]
fn what_has_a_flexible_array_is_copied_without() {
    let declared = "struct f { int n; char d[]; }; static struct f x = { 3, { 1, 2 } }; \
         int get(struct f f) { return f.n; }";
    holds(declared, "struct f y = x, z; z = x;", "y.n == 3 && z.n == 3 && get(x) == 3");
}
