//! Objects: their bytes, their parts, their ends, and their lifetimes.

use super::language::{cfa, holds, refused};
use super::{compile, options, run};
use crate::Overflow;
use crate::c::Checks;

/// Where the run of `main` ends when bounds are not checked, and when they are.
pub fn hazard(declarations: &str, statements: &str) -> (String, String) {
    let text = format!("{declarations}\nint main(void) {{ {statements} return 0; }}");
    let mut checked = options("main");
    checked.c.checks = Checks { bounds: true, ..Checks::default() };
    let ends = |options| run(&cfa(&text, options), 0, 10_000).location;
    (ends(&options("main")), ends(&checked))
}

pub fn leaves(declarations: &str, statements: &str) {
    let found = hazard(declarations, statements);
    assert_eq!(found, ("error memory_limit".into(), "error bounds".into()), "{statements}");
}

pub fn stays(declarations: &str, statements: &str) {
    let found = hazard(declarations, statements);
    assert_eq!(found, ("end".into(), "end".into()), "{statements}");
}

/// Who called a body that many share is not known in it: a variable whose function may have ended is beyond a limit.
#[test]
fn variables_that_pointers_outlive_are_a_limit_where_many_call() {
    let limited = |declarations: &str, statements: &str| {
        let found = hazard(declarations, statements);
        let limit = || "error memory_limit".to_string();
        assert_eq!(found, (limit(), limit()), "{statements}");
    };
    let kept = "int *p; void g(int d) { if (d) g(d - 1); else *p = 1; }
        void f(int d) { int x; p = &x; g(d); }";
    limited(kept, "f(0); g(0);");
    limited(kept, "f(1); g(1);");
    // What it is for, and not told apart from the others.
    limited(kept, "f(2);");
    // The only function that is called from outside runs whoever else does.
    stays(kept, "int y; p = &y; g(0); g(2);");
    let given = "void g(int *q, int d) { if (d) g(q, d - 1); else *q = 1; }
        void f(int d) { int x; g(&x, d); }";
    stays(given, "f(0); f(2); int y; g(&y, 1);");
    let returned = "void g(int *q, int d) { if (d) g(q, d - 1); else *q = 1; }
        int *f(int d) { int x; g(&x, d); int *r = &x; return r; }";
    limited(returned, "g(f(1), 1);");
    let block = "void g(int *q, int d) { if (d) g(q, d - 1); else *q = 1; }
        void f(int d) { int *q; { int x; q = &x; } g(q, d); }";
    limited(block, "f(1);");
}

/// A variable of a call, or of a block, is not that of the next one, though it has its place.
#[test]
fn old_pointers_do_not_lead_to_the_variables_of_the_next_call() {
    let kept = "int *p; int f(void) { int x = 0; if (p) *p = 1; p = &x; return x; }";
    stays(kept, "f();");
    leaves(kept, "f(); f();");
    stays(kept, "f(); p = 0; f(); int y; p = &y; f();");
    let given =
        "struct s { int n, *p; }; void f(struct s *s) { int x; if (s->p) *s->p = 1; s->p = &x; }";
    leaves(given, "struct s s = { 0 }; f(&s); f(&s);");
    stays(given, "struct s s = { 0 }; f(&s); s.p = &s.n; f(&s);");
    leaves(
        given,
        "static struct s a[3]; for (int i = 0; i < 3; i++) { f(&a[i]); a[2].p = a[0].p; }",
    );
    let copied = "char kept[sizeof(int *)]; void f(int again) { int x, *p = &x; \
         for (unsigned i = 0; again && i < sizeof p; i++) ((char *)&p)[i] = kept[i]; \
         for (unsigned i = 0; i < sizeof p; i++) kept[i] = ((char *)&p)[i]; *p = 1; }";
    stays(copied, "f(0); f(0);");
    leaves(copied, "f(0); f(1);");
    let returned = "int *f(int *p) { int x, *q = &x; if (p) *p = 1; return q; }";
    leaves(returned, "int *p = f(0); f(p);");
    stays(returned, "int *p = f(0), y; p = &y; f(p);");
    let recursive = "int *p; void f(int n) { int x; if (n) f(n - 1); else if (p) *p = 1; p = &x; }";
    stays(recursive, "f(2);");
    leaves(recursive, "f(1); f(1);");
    leaves("", "int *p = 0; for (int i = 0; i < 2; i++) { int x; if (p) *p = 1; p = &x; }");
    stays("", "int *p; for (int i = 0; i < 2; i++) { int x; p = &x; *p = i; }");
    leaves("", "int *p = 0, i = 2; while (i--) ({ int x; if (p) *p = 1; p = &x; });");
}

/// They are variables of the block around them, even if that is not written as one.
#[test]
fn compound_literals_die_with_their_blocks() {
    leaves("", "int *p; { p = (int[]){ 1, 2 }; } *p = 1;");
    leaves("", "int *p, c = 1; if (c) p = &(int){ 1 }; *p = 1;");
    leaves("", "int *p; for (int i = 0; i < 2; i++) p = &(int){ 1 }; *p = 1;");
    leaves("int f(int **p) { int *q = &(int){ 1 }; *p = q; return 1; }", "int *p; f(&p); *p = 1;");
    stays("", "int *p = (int[]){ 1, 2 }; { p[1] = 3; } p = &(int){ 1 }; *p = 1;");
    stays("int f(int *p) { return *p; }", "if (f(&(int){ 1 })) f((int[]){ 1 }); else f(0);");
    stays("", "int *p; if ((p = &(int){ 1 })) *p = 2; while (*(p = &(int){ 0 })) *p = 2;");
}

/// What is written through a pointer is nothing that can be written.
#[test]
fn constants_are_not_written() {
    let kept = "const char text[4] = \"abc\"; char room[4]; int n;";
    leaves(kept, "char *p = n ? room : (char *)text; *p = 1;");
    leaves(kept, "char *p = n ? room : \"abc\"; p[1] = 1;");
    stays(kept, "char *p = n ? (char *)text : room; *p = 1;");
}

/// Compilers move the bytes in any order.
#[test]
fn places_that_overlap_are_a_limit_of_memcpy() {
    let declared = "void *memcpy(void *, const void *, unsigned long); char a[8], b[8]; int n = 3;";
    let limited = |statements: &str| {
        let found = hazard(declared, statements);
        assert_eq!(found, ("error memory_limit".into(), "error memory_limit".into()));
    };
    limited("memcpy(a + 1, a, 2);");
    limited("memcpy(a, a + 2, n);");
    limited("char *p = n ? a : b, *q = n ? a : b; memcpy(p, q + 2, n);");
    for fits in ["memcpy(a + 2, a, 2);", "memcpy(a, a + n, n);", "memcpy(a, a, n);"] {
        stays(declared, fits);
    }
    stays(declared, "char *p = n ? a : b, *q = n ? b : a; memcpy(p, q, n); memcpy(p, p + 3, n);");
}

#[test]
fn padding_is_memory() {
    let s = "struct S { char a; int b; } g;";
    let fill = "struct S s; unsigned char *p = (unsigned char *)&s; \
                for (unsigned i = 0; i < sizeof s; i++) p[i] = 0x5a;";
    holds(s, fill, "p[1] == 0x5a && p[3] == 0x5a && s.b == 0x5a5a5a5a");
    holds(s, &format!("{fill} s.a = 1;"), "p[0] == 1 && p[1] == 0x5a");
    holds(s, "unsigned char *p = (unsigned char *)&g;", "p[1] == 0 && p[2] == 0 && p[3] == 0");
    let bits = "struct B { unsigned a : 3; int b; };";
    let fill = fill.replace("struct S", "struct B").replace("0x5a", "0xff");
    holds(bits, &format!("{fill} s.a = 0;"), "p[0] == 0xf8 && p[1] == 0xff");
    let truth = "struct T { _Bool t; char c; };";
    let fill = fill.replace("struct B", "struct T");
    holds(truth, &fill, "p[0] == 0xff && s.t");
}

#[test]
fn padding_of_a_copy_is_anything() {
    let text = "extern void reach_error(void); struct S { char a; int b; } g;
        int main(void) { struct S s = g; unsigned char *p = (unsigned char *)&s;
        if (p[1] == 0x7b) reach_error(); return 0; }";
    assert_eq!(run(&cfa(text, &options("main")), 0, 1000).location, "end");
    assert_eq!(run(&cfa(text, &options("main")), 0x7b7b7b, 1000).location, "error reach_error");
}

#[test]
fn padding_in_a_packed_struct_is_no_place_of_its_own() {
    let s = "struct S { char a; _Alignas(8) int b; } t = {1, 2}; int zero;
        struct __attribute__((packed)) P { char x; struct S s; char y; } q = {3, {4, 5}, 6};";
    let copy = "struct S *p = zero ? &t : &q.s; *p = t;";
    stays(s, copy);
    holds(s, copy, "q.x == 3 && q.s.a == 1 && q.s.b == 2 && q.y == 6");
}

#[test]
fn narrower_pointers_find_the_parts_of_a_scalar() {
    holds("int x = 0x40003;", "short *s = (short *)&x; s[1] = 7;", "x == 0x70003 && s[0] == 3");
    holds("long long x;", "int *p = (int *)&x; p[1] = 1; p[0] = -1;", "x == 0x1ffffffffll");
    holds("int g[5] = {1, 2, 3, 4, 5};", "short *s = (short *)&g[2];", "s[1] == 0 && s[2] == 4");
    // Not known which, but aligned.
    holds(
        "int g[2] = {0x10002, 0x30004}; int zero;",
        "short *s = (short *)g; s += zero + 3;",
        "*s == 3 && s[-1] == 4",
    );
    stays("int x; int zero;", "short *s = (short *)&x; s[1 + zero] = 7;");
    leaves("int x; int zero;", "short *s = (short *)&x; s[2 + zero] = 7;");
}

#[test]
fn an_index_stays_in_its_array() {
    let s = "struct S { int buf[4]; unsigned n; } s; int m[2][3]; int i;";
    stays(s, "struct S *p = &s; p->n = 3; p->buf[p->n] = 1;");
    leaves(s, "struct S *p = &s; p->n = 4; p->buf[p->n] = 1;");
    leaves(s, "int (*p)[3] = m; i = 4; p[0][i] = 7;");
    stays(s, "int (*p)[3] = m; i = 2; p[1][i] = 7;");
    // A list's head is taken for what is around an entry; only before the entry there is nothing.
    let list = "struct L { struct L *next; int n; }; struct item { int v; struct L node; };
        struct L head = { &head, 3 };
        struct item *around(struct L *l) { return (struct item *)((char *)l - 4); }";
    stays(list, "struct item *t = around(head.next); int n = t->node.n;");
    leaves(list, "struct item *t = around(head.next); int n = t->v;");
    // One past the end is an address, only not of anything.
    stays(s, "struct S *p = &s; i = 4; int *end = &p->buf[i]; if (end != (int *)&p->n) i = 9;");
    // The last array of a struct may be as long as the object.
    stays(
        "struct M { int n; char data[1]; }; int buf[4]; int i;",
        "struct M *m = (struct M *)buf; i = 5; m->data[i] = 1;",
    );
}

#[test]
fn variables_die_with_their_block_and_call() {
    let p = "int *p; int n;";
    leaves(&format!("{p} void f(void) {{ int local = 5; p = &local; }}"), "f(); n = *p;");
    leaves(&format!("{p} int *f(void) {{ int local = 5; return &local; }}"), "p = f(); n = *p;");
    leaves(p, "{ int inner = 1; p = &inner; } n = *p;");
    leaves(p, "for (n = 0; n < 2; n++) { if (n) *p = 1; { int inner; p = &inner; } }");
    stays(p, "{ int inner = 1; p = &inner; n = *p; }");
    stays(&format!("{p} void f(int *q) {{ *q = 1; }}"), "int x; f(&x); n = x;");
    stays(p, "int x = 3; l: if (n++ < 2) { p = &x; goto l; } n = *p;");
    stays(p, "p = (int[]){1, 2}; n = p[1];");
    // An array in a value that a call returns lives as long as the expression.
    let f = "struct S { int a[4]; }; struct S f(void) { return (struct S){{1, 2, 3}}; } int i = 2;";
    holds(f, "", "f().a[i] == 3 && *(f().a + 1) == 2");
    stays(p, "switch (n) { case 0: ; int x = 1; p = &x; n = *p; }");
    // A label makes no block, and a block behind one is one.
    leaves(p, "switch (n) { case 0: { int x = 1; p = &x; } case 1: { int y = 2; n = *p + y; } }");
    leaves(p, "switch (n) { case 0: for (int x = 0; x < 2; x++) p = &x; case 1: n = *p; }");
    leaves(p, "again: { int x = 1; p = &x; if (!n++) goto again; } { int y = 7; ++*p; n = y; }");
    stays(p, "switch (n) { case 0:; int x; x = 4; p = &x; default: n = *p; }");
    stays(p, "goto on; on: ; int x = 3; p = &x; next: n += *p; if (n < 9) goto next;");
    let recursive =
        "void f(int *q, int d) { int x = d; if (d) f(d > 1 ? &x : q, d - 1); else *q = 1; }";
    stays(&format!("{p} {recursive}"), "int y; f(&y, 3);");
    stays(&format!("{p} {recursive}"), "int y; f(&y, 1);");
}

#[test]
fn shifts_of_signed_numbers_overflow() {
    let ends = |statements: &str| {
        let text = format!("int main(void) {{ {statements} return 0; }}");
        let options = crate::Options { overflow: Overflow::Error, ..options("main") };
        run(&cfa(&text, &options), 0, 1000).location
    };
    for wrong in
        ["int x = 2; x <<= 31;", "int x = -1; x = x << 3;", "int x = 1, n = 31; x = x << n;"]
    {
        // The run continues, in the one way and in the other.
        let text = format!("int main(void) {{ {wrong} return 0; }}");
        let options = crate::Options { overflow: Overflow::Error, ..options("main") };
        let cfa = cfa(&text, &options);
        assert!(cfa.properties.iter().any(|p| p.name == "no_overflow"), "{wrong}");
    }
    for right in ["int x = 1; x <<= 30;", "unsigned x = -1; x <<= 31;", "int x = -8; x >>= 2;"] {
        assert_eq!(ends(right), "end", "{right}");
    }
}

#[test]
fn equal_strings_are_one_object() {
    holds("const char *a = \"same\";", "const char *b = \"same\";", "a == b && a != \"other\"");
}

#[test]
fn unions_are_set_and_returned_member_by_member() {
    let two = "union U { struct { unsigned a; unsigned short b; } s; unsigned w; };";
    holds(
        &format!("{two} union U g = {{ {{ 1, 0xffb4 }}, .w = 5 }};"),
        "",
        "g.s.b == 0 && g.w == 5",
    );
    holds(&format!("{two} union U g = {{ .s.a = 1, .s.b = 2 }};"), "", "g.s.a == 1 && g.s.b == 2");
    let returned = "union U { int i; char c[4]; } f(void) { return (union U){ 0x01020304 }; }";
    holds(returned, "", "f().c[0] == 4 && f().i == 0x01020304");
    holds("", "int x = --(int){ 3 };", "x == 2");
}

/// A program with an array of that many elements, and the location where its run ends if all inputs are 0, or 1.
fn with_large(body: &str) -> [String; 2] {
    let text = format!(
        "extern void reach_error(void); unsigned char large[100000] = {{ 5 }}; \
         struct {{ int before; short data[30000]; int after; }} s; \
         int main(void) {{ unsigned char *p = large; {body} }}"
    );
    let mut options = options("main");
    options.c.checks.bounds = true;
    let cfa = cfa(&text, &options);
    [0, 1].map(|input| run(&cfa, input, 1000).location)
}

#[test]
fn arrays_that_are_too_large_hold_anything() {
    let (end, error) = ("end".to_string(), "error reach_error".to_string());
    for access in ["large[0]", "large[99999]", "p[70000]", "s.data[s.before + 20000]"] {
        let [zeros, ones] = with_large(&format!("if ({access} == 1) reach_error();"));
        assert_eq!((zeros, ones), (end.clone(), error.clone()), "{access}");
        let write = format!("{access} = 1; if ({access} != 1) reach_error();");
        assert_eq!(with_large(&write), [error.clone(), end.clone()], "{access}");
    }
    // What lies beside it is followed.
    let beside = "s.before = 3; s.after = 4; s.data[s.before * 1000] = 9; \
         if (s.before + s.after != 7) reach_error();";
    assert_eq!(with_large(beside), [end.clone(), end.clone()]);
    for outside in ["p[100000] = 1;", "p[-1] = 1;", "large[s.before + 100000] = 1;"] {
        assert_eq!(with_large(outside), ["error bounds", "error bounds"], "{outside}");
    }
    let copies = "__typeof__(s) t = s; t.before = 2; s = t; if (s.before != 2) reach_error();";
    assert_eq!(with_large(copies), [end.clone(), end]);
}

#[test]
fn what_a_large_array_holds_is_approximate() {
    let text = "int large[50000]; int main(void) { return large[7]; }";
    let compiled = compile(text, &options("main")).unwrap();
    let inputs = compiled.cfa.approximate.iter().map(|i| &compiled.cfa.inputs[i.index()].name);
    assert_eq!(inputs.collect::<Vec<_>>(), ["large"]);
    assert!(compiled.warnings.iter().any(|w| w.message.contains("`large` is too large")));
    let floats = "double large[40][40]; int main(void) { return large[7][3] > 1; }";
    assert_eq!(compile(floats, &options("main")).unwrap().cfa.approximate.len(), 1);
    let shared = "union { struct { char big[30000]; } a; int x; } u; int main(void) { u.x = 3; return u.x; }";
    assert_eq!(compile(shared, &options("main")).unwrap().cfa.approximate.len(), 1);
    let array = "struct { int n; union { char big[30000]; int x; } u[3]; } s; \
         int main(void) { s.u[s.n].x = 3; return s.u[s.n].x; }";
    assert_eq!(compile(array, &options("main")).unwrap().cfa.approximate.len(), 3);
    // Pointers are not lost that way, and there is an end to it.
    let beside =
        "union { char big[30000]; int *p; } u; int main(void) { u.big[1] = 3; return u.p != 0; }";
    refused(beside, "too large", "u");
    let pointers = "int *large[50000]; int main(void) { return large[7] != 0; }";
    refused(pointers, "too large", "large");
    refused("char large[1u << 30]; int main(void) { return large[7]; }", "too large", "large");
}

#[test]
fn where_objects_lie_is_not_known() {
    let open = |declarations: &str, statements: &str| {
        let text = format!("{declarations} int main(void) {{ {statements} return 0; }}");
        let cfa = compile(&text, &options("main")).unwrap().cfa;
        cfa.approximate.iter().any(|i| cfa.inputs[i.index()].name == "place in memory")
    };
    let two = "char a[4], b[4], *p, *q; int x, zero;";
    for pointers in ["p = a; q = b;", "p = zero ? a : b; q = a;"] {
        let open = |comparison: &str| open(two, &format!("{pointers} x = {comparison};"));
        assert!(open("p < q") && open("p >= q") && open("p - q"));
        assert!(open("p + 4 == q"));
        assert!(!open("p < (char *)0") && !open("q != (char *)0"));
    }
    // Neither is at the end.
    assert!(!open(two, "x = &a[1] == &b[1];"));
    assert!(!open(two, "p = a; q = p + 4; x = p < q; x = q - p; x = p == q; while (p != q) p++;"));
    assert!(!open(
        "volatile int *p = (volatile int *)0x40000000; int x;",
        "x = p < (volatile int *)0x40000100;"
    ));
    // Variables of calls of one function, and functions.
    assert!(open("int f(int *p, int n) { int x; return n ? f(&x, n - 1) : p < &x; }", "f(0, 2);"));
    assert!(open("void f(void) { } void g(void) { } int x;", "x = (char *)f < (char *)g;"));
    assert!(!open("void f(void) { } void g(void) { } int x;", "x = f == g;"));
    // Something else may lie where a variable was.
    let gone = "int *f(void) { int x, *p = &x; return p; } int x;";
    assert!(
        open(gone, "int *p = f(); x = p == &x;")
            && open(gone, "int *p = f(), *q = f(); x = p == q;")
    );
    // Linkers merge strings that end alike.
    for alike in [
        r#""ab" + 1 == "b""#,
        r#""b" + 1 == "ab" + 2"#,
        r#""ab" + 2 != """#,
        r#"L"ab" + 1 == L"b""#,
    ] {
        assert!(open("int x;", &format!("x = {alike};")), "{alike}");
    }
    for apart in [r#""ab" + 1 == "cb" + 1"#, r#""ab" == "b""#, r#""abc" + 1 == "b""#] {
        assert!(!open("int x;", &format!("x = {apart};")), "{apart}");
    }
    // Both ways of what copies are looked at.
    let copy = "extern void reach_error(void); void move(char *to, const char *from) {
        if (to < from) to[0] = from[0]; else reach_error(); }
        char a[4], b[4]; int main(void) {";
    for calls in ["move(a, b);", "move(b, a);"] {
        let cfa = compile(&format!("{copy} {calls} return 0; }}"), &options("main")).unwrap().cfa;
        let ends: Vec<String> = [0, 1].map(|input| run(&cfa, input, 1000).location).into();
        assert_eq!(ends, ["error reach_error", "end"], "{calls}");
    }
}
