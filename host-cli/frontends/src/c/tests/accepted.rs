//! What programs say in odd ways, and what gcc takes it to mean: each condition holds in the reference
//! interpreter and in the program that gcc makes.

use super::language::holds;
use super::{compile, options, run};
use std::process::{Command, Output};

/// Declarations, statements, and a condition that holds after them.
type Claim = (&'static str, &'static str, &'static str);

const BIT_FIELDS: [Claim; 23] = [
    ("struct { unsigned f : 8; } r;", "r.f = 1;", "!(-1 < (unsigned)r.f)"),
    ("struct { unsigned f : 8; } r;", "r.f = 1;", "(unsigned)r.f - 5 > 0"),
    ("struct { unsigned f : 8; } r;", "r.f = 255;", "(unsigned)r.f << 24 > 0"),
    ("struct { unsigned f : 8; } r;", "r.f = 1;", "r.f - 2 < 0"),
    ("struct { unsigned f : 8; } r;", "", "(r.f = 1) - 2 < 0"),
    ("struct { unsigned f : 8; } r;", "", "r.f++ - 2 < 0 && ++r.f - 3 < 0"),
    ("struct { unsigned f : 8; } r;", "", "(r.f += 1) - 2 < 0"),
    ("struct { unsigned f : 8; } r;", "", "(0, r.f) - 2 < 0"),
    ("struct { unsigned f : 8; } r; int c = 1;", "", "(c ? r.f : r.f) - 2 < 0"),
    ("struct { unsigned f : 8; } r; int c = 1;", "", "(c ? r.f : 1u) - 2 > 0"),
    ("struct { unsigned f : 32; } r;", "", "r.f - 1 > 0"),
    ("struct { unsigned f : 31; } r;", "", "r.f - 1 < 0"),
    ("struct { unsigned f : 8; } r;", "", "sizeof((unsigned)r.f) == 4 && sizeof(r.f + 0) == 4"),
    ("struct { unsigned f : 3; } r;", "", "(r.f = 9) == 1 && (r.f += 7) == 0"),
    ("struct { signed f : 3; } r;", "", "(r.f = 7) == -1 && r.f-- == -1 && r.f == -2"),
    ("struct { unsigned long long f : 40; } r;", "r.f = -1;", "r.f + 1 == 0"),
    ("struct { unsigned long long f : 40; } r;", "r.f = -1;", "r.f + 1ull == 1ull << 40"),
    ("struct { unsigned long long f : 40; } r;", "r.f = 1;", "r.f << 39 << 1 == 0"),
    ("struct { unsigned long long f : 33; } r;", "r.f = 0;", "r.f - 1 == 0x1ffffffffull"),
    ("struct { long long f : 33; } r;", "r.f = 0xffffffff;", "(r.f *= 2) == -2"),
    ("struct { unsigned long long f : 33; } r;", "", "sizeof(r.f + 0) == 8"),
    ("struct { int f : 3; } r;", "", "sizeof(r.f = 1) == 1 && sizeof(r.f++) == 1"),
    ("struct { _Bool f : 1; } r;", "r.f = 2;", "r.f == 1 && r.f - 2 < 0 && -r.f == -1"),
];

const INITIALISERS: [Claim; 24] = [
    ("struct S { int a, b[3]; } d = { .b[1] = 5, .b = { 9, [2] = 8 } };", "", "d.b[1] == 0"),
    ("int m[2][2] = { [0][1] = 5, [0] = { 1 } };", "", "m[0][0] == 1 && m[0][1] == 0"),
    ("struct S { int a, b[3], c; } d = { .b[1] = 5, 6, 7 };", "", "d.b[2] == 6 && d.c == 7"),
    (
        "struct P { int x, y; } q = { 1, 2 };",
        "struct { struct P p; } s = { .p = q, .p.x = 5 };",
        "s.p.x == 5 && s.p.y == 0",
    ),
    (
        "int a[6] = { [1 ... 3] = 7, 8, [0] = 1 };",
        "",
        "a[0] == 1 && a[3] == 7 && a[4] == 8 && a[5] == 0",
    ),
    (
        "int m[2][3] = { [0 ... 1][1 ... 2] = 4 };",
        "",
        "m[0][0] == 0 && m[1][1] == 4 && m[0][2] == 4",
    ),
    ("struct S { int a, b; } s = { b: 2, a: 1 };", "", "s.a == 1 && s.b == 2"),
    ("int a[] = { [5] = 1 }, b[] = { 1, 2, 3 };", "", "sizeof a == 24 && sizeof b == 12"),
    ("struct S { int a; } a[] = { {}, {}, {} };", "", "sizeof a == 12"),
    (
        "struct S { struct { int a, b; }; int c; } s = { .b = 2, 3 };",
        "",
        "s.b == 2 && s.c == 3 && s.a == 0",
    ),
    ("union U { int i; char c[4]; } u = { .c = { 1, 2 } };", "", "u.c[1] == 2"),
    (
        "struct S { char s[4]; int x; } a[2] = { \"ab\", 1, \"cd\", 2 };",
        "",
        "a[1].s[0] == 'c' && a[1].x == 2",
    ),
    (
        "char s[] = (\"abc\"), t[] = { \"de\" }, u[2] = \"fg\";",
        "",
        "sizeof s == 4 && t[1] == 'e' && u[1] == 'g'",
    ),
    ("char c[] = { \"abc\"[1], 'x' };", "", "sizeof c == 2 && c[0] == 'b'"),
    ("int x = (int){ 42 };", "", "x == 42"),
    ("int f(void) { static int x = (int){ 42 }; return x++; }", "f();", "f() == 43"),
    (
        "struct P { int x, y; } t[2] = { (struct P){ 1, 2 }, (struct P){ .y = 4 } };",
        "",
        "t[0].y == 2 && t[1].x == 0 && t[1].y == 4",
    ),
    (
        "int a[] = (int[]){ 1, 2, 3 }, b[] = (int[5]){ 1 };",
        "",
        "sizeof a == 12 && a[2] == 3 && sizeof b == 20 && b[4] == 0",
    ),
    (
        "int *p = (int[]){ 1, 2 }; struct S { int *q; } s = { &(int){ 7 } };",
        "p[0] = 5; *s.q += 1;",
        "p[0] + p[1] == 7 && *s.q == 8",
    ),
    ("const char *p = (const char[]){ \"xy\" };", "", "p[1] == 'y'"),
    ("struct F { int n; char a[]; } f = { 2, { 5, 6, 7 } };", "", "f.a[2] == 7 && sizeof f == 4"),
    ("struct F { int n; char a[]; } f = { 2, \"xy\" };", "", "f.a[1] == 'y' && f.a[2] == 0"),
    (
        "struct E {} e; struct G { struct E e; int x; } g = { {}, 3 };",
        "",
        "sizeof e == 0 && g.x == 3",
    ),
    ("char *names[] = { \"a\", [2] = \"c\" };", "", "names[1] == 0 && *names[2] == 'c'"),
];

const DECLARATIONS: [Claim; 36] = [
    (
        "int n = 3, m[4];",
        "n++; char a[n][n - 1], b[2][n]; for (int i = 0; i < n; i++) for (int j = 0; j < n - 1; ++j) a[i][j] = 10 * i + j; \
         for (int i = 0; i < n; i++) b[1][i] = a[i][1]; n = 0; int *p = m; a[n++][1] += 5; *p = a[n++][2]; p[1] = *&a[3][0]; p[2] = b[1][3];",
        "n == 2 && a[0][1] == 6 && m[0] == 12 && m[1] == 30 && m[2] == 31",
    ),
    ("f(a, b) char b; { return a + b; }", "", "f(1, 258) == 3"),
    (
        "int f(p, n) int *p; unsigned char n; { return p[n]; } int a[2] = { 3, 4 };",
        "",
        "f(a, 257) == 4",
    ),
    (
        "static x; g() { return 5; } *h() { return &x; }",
        "register i = 2; *h() = 4;",
        "x + i + g() == 11",
    ),
    ("int f(void) __attribute__((noinline)); int f(void) { return 1; }", "", "f() == 1"),
    (
        "typedef unsigned int u8 __attribute__((mode(QI))); typedef int i64 __attribute__((mode(DI)));",
        "u8 x = 257;",
        "x == 1 && sizeof(i64) == 8",
    ),
    (
        "typedef int w __attribute__((__mode__(__word__))); w x; int y __attribute__((mode(HI)));",
        "",
        "sizeof x == 4 && sizeof y == 2",
    ),
    ("int a = 5; extern int b __asm__(\"a\");", "b = 7;", "a == 7"),
    ("extern int b __asm__(\"a\"); int f(void) { return b; } int a = 5;", "", "f() == 5"),
    ("int a = 5; extern int b __attribute__((alias(\"a\")));", "b++;", "a == 6"),
    ("int f(void) { return 3; } int g(void) __attribute__((alias(\"f\")));", "", "g() == 3"),
    ("int n; __attribute__((constructor)) static void c(void) { n += 2; }", "n *= 10;", "n == 20"),
    (
        "int n; __attribute__((constructor(200))) void a(void) { n = n * 10 + 2; } void b(void) __attribute__((constructor(101))); void b(void) { n = 1; }",
        "",
        "n == 12",
    ),
    (
        "_Noreturn void stop(void) { for (;;) ; } int f(int x) { if (x) stop(); return 4; }",
        "",
        "f(0) == 4",
    ),
    (
        "struct s { char c; int x; } __attribute__((packed)); struct t { char c; int x __attribute__((packed)); };",
        "",
        "sizeof(struct s) == 5 && sizeof(struct t) == 5",
    ),
    (
        "#pragma pack(push, 1)\nstruct s { char c; int x; };\n#pragma pack(pop)\nstruct t { char c; int x; };",
        "",
        "sizeof(struct s) == 5 && sizeof(struct t) == 8",
    ),
    (
        "struct s { char c; int x; };\n",
        "",
        "__alignof__(long long) == 8 && _Alignof(long long) == 4 && _Alignof(struct s) == 4",
    ),
    (
        "typedef int wide __attribute__((aligned(16))); struct s { wide x; };",
        "",
        "_Alignof(wide) == 16 && sizeof(struct s) == 16 && _Alignof(wide *) == 4",
    ),
    ("struct s { short s; int : 0; };", "", "sizeof(struct s) == 4 && sizeof(long double) == 12"),
    ("struct s { char a; long long : 0; char b; };", "", "sizeof(struct s) == 5"),
    ("typedef volatile int vi; typedef const int ci; ci x = 4; vi y;", "y = x;", "y == 4"),
    ("extern int a[]; int f(void) { return a[1]; } int a[] = { 1, 2 };", "", "f() == 2"),
    ("int f(int n, int a[n]) { return a[n - 1]; } int a[3] = { 1, 2, 3 };", "", "f(3, a) == 3"),
    (
        "_Static_assert(sizeof(int) == 4, \"int\"); struct s { _Static_assert(1, \"\"); int x; };",
        "_Static_assert(1);",
        "sizeof(struct s) == 4",
    ),
    (
        "enum e; enum e { A = 3 }; __extension__ typedef long long ll;",
        "enum e x = A; ll y = 1;",
        "x + y == 4",
    ),
    ("", "__auto_type x = 5ull; __auto_type p = &x;", "sizeof x == 8 && *p == 5"),
    ("", "typeof(1 + 2ll) x = 1; __typeof__(x) *p = &x;", "sizeof x == 8 && *p == 1"),
    (
        "int f(int (*g)(void)) { return g(); } int h(void) { return 6; }",
        "",
        "f(h) == 6 && f(&h) == 6",
    ),
    (
        "int actual(void) { return 42; }",
        "int (*p)(void) = (int (__attribute__((noinline)) *)(void))actual;",
        "p() == 42",
    ),
    (
        "inline static int __attribute__((always_inline)) f(void) { return 2; } __thread int t;",
        "",
        "f() + t == 2",
    ),
    ("int f(x) { return x; } int f(int);", "", "f(3) == 3"),
    ("struct s; struct s *p; struct s { int x; } s;", "p = &s; p->x = 4;", "s.x == 4"),
    ("int a<:2:> = <% 1, 2 %>;", "", "a<:1:> == 2"),
    (
        "int puts(const char *); int f(void) { extern int later; return later; } int later = 9;",
        "",
        "f() == 9",
    ),
    (
        "struct { int x; } volatile v; const struct s { int *p; } c; int y;",
        "v.x = 1; int *q = &y; *q = 2;",
        "v.x + y == 3",
    ),
    (
        "typedef union { int i; float f; } u __attribute__((transparent_union)); int x __attribute__((section(\".data.mine\"), used, weak)) = 1;",
        "",
        "x == 1",
    ),
];

const EXPRESSIONS: [Claim; 30] = [
    ("int n; int f(void) { return ++n; }", "int x = f() ?: 9;", "x == 1 && n == 1"),
    ("int z;", "int x = z ?: 9; char *p = 0; char *q = p ?: \"a\";", "x == 9 && *q == 'a'"),
    ("", "unsigned char c = 200; int x = c ?: -1;", "x == 200 && sizeof(c ?: c) == 4"),
    (
        "short s;",
        "",
        "_Generic(s, short: 1, default: 2) == 1 && _Generic(\"a\", char *: 3, int: 4) == 3",
    ),
    (
        "long long l;",
        "",
        "_Generic(l, int: 1, long long: 2, default: 3) == 2 && _Generic(&l, default: 5, int *: 6) == 5",
    ),
    ("", "int x = 'ab', y = 'abcd', z = '\\377';", "x == 24930 && y == 1633837924 && z == -1"),
    (
        "int *w = L\"ab\"; unsigned short u[] = u\"xy\"; unsigned v = U'z';",
        "",
        "w[1] == 'b' && w[2] == 0 && sizeof u == 6 && v == 'z' && sizeof(L'a') == 4",
    ),
    (
        "char *s = \"a\" \"\\x62\" \"c\"; char u[] = u8\"\\u00e9\";",
        "",
        "s[1] == 'b' && s[2] == 'c' && sizeof u == 3",
    ),
    (
        "struct A { int a[3]; int b; }; struct A f(int x) { struct A r = { { x, x + 1, x + 2 } }; return r; }",
        "int i = 2;",
        "f(5).a[i] == 7 && f(1).a[0] == 1 && *f(4).a == 4",
    ),
    ("", "int x = ({ int y = 4; y++; y; }); int z = ({ ; x; });", "x == 5 && z == 5"),
    ("", "int x = ({ if (1) goto l; l: 5; });", "x == 5"),
    ("", "int n = 0; switch (5) { case 1 ... 3: n = 1; break; case 4 ... 6: n = 2; }", "n == 2"),
    (
        "int f(int i) { static void *t[] = { &&a, &&b, &&c }; goto *t[i]; a: return 1; b: return 2; c: return 3; }",
        "",
        "f(0) == 1 && f(2) == 3",
    ),
    (
        "",
        "int n = 0; void *p = &&x; again: goto *p; x: n++; p = &&y; goto again; y: n += 10;",
        "n == 11",
    ),
    (
        "int f(int i) { static const int t[] = { &&a - &&a, &&b - &&a }; goto *(&&a + t[i]); a: return 1; b: return 2; }",
        "",
        "f(1) == 2",
    ),
    (
        "int g(int x) { { __label__ out; if (x) goto out; return 1; out: ; } { __label__ out; goto out; out: ; } return 2; }",
        "",
        "g(0) == 1 && g(1) == 2",
    ),
    (
        "",
        "int x = 3; asm(\"\"); asm volatile(\"\" : \"+r\"(x) : : \"memory\"); int y; asm(\"\" : \"=r\"(y) : \"0\"(x));",
        "x == 3 && y == 3",
    ),
    ("", "int x = sizeof(char[3][4]), y = sizeof((char[]){ 1, 2 });", "x == 12 && y == 2"),
    (
        "const char c[2] = { 1, 2 }; typedef struct { char ch[3]; } s; const s o; const s *const p = &o;",
        "if (0) ((char *)p->ch)[1] = 1;",
        "c[1] == 2",
    ),
    ("", "int n = 3; n = n, 4;", "n == 3"),
    ("", "unsigned x = 1; x <<= 31ull;", "x == 0x80000000"),
    ("int a[4] = { 1, 2, 3, 4 };", "int *p = a + 3;", "2[a] == 3 && p[-1] == 3 && *(a + 1) == 2"),
    (
        "struct s { int a; int b[2]; };",
        "",
        "__builtin_offsetof(struct s, b[1]) == 8 && (int)&((struct s *)0)->b == 4",
    ),
    (
        "",
        "int x = __builtin_choose_expr(1, 5, \"a\"), y = __builtin_types_compatible_p(int *, char *);",
        "x == 5 && y == 0",
    ),
    ("int n;", "int x = __builtin_constant_p(5), y = __builtin_constant_p(n);", "x == 1 && y == 0"),
    ("int f(void) { return 1; }", "int x = (*f)() + (&f)() + (**f)();", "x == 3"),
    ("", "int i = 0; do { if (i == 2) break; } while (i++ < 5);", "i == 2"),
    (
        "",
        "long long x = 0x7fffffff + 1ll, y = 2147483648;",
        "x == y && sizeof(2147483648) == 8 && sizeof(0xffffffff) == 4",
    ),
    (
        "",
        "char a[2][3] = { \"ab\", \"cd\" }; char (*p)[3] = a;",
        "p[1][1] == 'd' && sizeof *p == 3",
    ),
    ("enum { A = 1, B = A << 3 }; int a[B] = { [A] = 5 };", "", "sizeof a == 32 && a[1] == 5"),
];

fn all() -> impl Iterator<Item = &'static Claim> {
    BIT_FIELDS.iter().chain(&INITIALISERS).chain(&DECLARATIONS).chain(&EXPRESSIONS)
}

#[test]
fn bit_fields_are_of_their_width() {
    BIT_FIELDS.iter().for_each(|(d, s, c)| holds(d, s, c));
}

#[test]
fn initial_values_go_where_they_belong() {
    INITIALISERS.iter().for_each(|(d, s, c)| holds(d, s, c));
}

#[test]
fn declarations_are_understood() {
    DECLARATIONS.iter().for_each(|(d, s, c)| holds(d, s, c));
}

#[test]
fn expressions_are_understood() {
    EXPRESSIONS.iter().for_each(|(d, s, c)| holds(d, s, c));
}

/// Whether gcc has failed because it has no libraries for 32 bits.
pub(super) fn cannot_link(gcc: &Output) -> bool {
    let complaint = String::from_utf8_lossy(&gcc.stderr);
    let is_so = complaint.contains("cannot find -lgcc") || complaint.contains("Scrt1.o");
    if is_so {
        eprintln!(
            "skipped: gcc cannot link for 32 bits; `cargo xtask setup` installs what it lacks"
        );
    }
    is_so
}

/// The table is about C, not about us: gcc agrees with all of it.
#[test]
fn gcc_agrees() {
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("p.c"), folder.path().join("p"));
    for (declarations, statements, condition) in all() {
        let text = format!(
            "{declarations}\nint main(void) {{ {statements} return ({condition}) ? 0 : 1; }}\n"
        );
        std::fs::write(&source, &text).unwrap();
        let gcc = Command::new("gcc")
            .args(["-m32", "-w", "-fwrapv", "-std=gnu11", "-o"])
            .args([&binary, &source])
            .output();
        let Ok(gcc) = gcc else {
            eprintln!("skipped: there is no gcc");
            return;
        };
        if cannot_link(&gcc) {
            return;
        }
        assert!(gcc.status.success(), "{text}\n{}", String::from_utf8_lossy(&gcc.stderr));
        let status = Command::new(&binary).status().unwrap();
        assert!(status.success(), "gcc disagrees:\n{text}");
    }
}

#[test]
fn destructors_run_after_main() {
    let text = "extern void reach_error(void); int n; \
        __attribute__((destructor(200))) void a(void) { n = n * 10 + 1; } \
        __attribute__((destructor(101))) void b(void) { if (n == 21) reach_error(); } \
        int main(void) { n = 2; return 0; }";
    assert_eq!(
        run(&compile(text, &options("main")).unwrap().cfa, 0, 100).location,
        "error reach_error"
    );
    // Only what calls `main` calls them.
    let text = text.replace("main", "start");
    assert_eq!(run(&compile(&text, &options("start")).unwrap().cfa, 0, 100).location, "end");
}

#[test]
fn options_and_line_ends_reach_files_without_directives() {
    let text = "extern void reach_error(void); int main(void) { if (N) reach_error(); return 0; }";
    let mut with = options("main");
    with.c.macros = vec![crate::c::Macro::Define("N=1".into())];
    assert_eq!(run(&compile(text, &with).unwrap().cfa, 0, 100).location, "error reach_error");
    let text =
        "extern void reach_error(void);\nint main(void) {\n// not \\\nreach_error();\nreturn 0; }";
    assert_eq!(run(&compile(text, &options("main")).unwrap().cfa, 0, 100).location, "end");
}
