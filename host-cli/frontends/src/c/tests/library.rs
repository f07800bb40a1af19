//! Functions of the library and of the compiler.

use super::language::{cfa, holds};
use super::{compile, options, run};
use std::process::Command;

const STRINGS: &str = "
    extern void *memcpy(void *, const void *, unsigned long);
    extern void *memmove(void *, const void *, unsigned long);
    extern void *memset(void *, int, unsigned long);
    extern int memcmp(const void *, const void *, unsigned long);
    extern unsigned long strlen(const char *);
    extern char *strcpy(char *, const char *);
    extern char *strncpy(char *, const char *, unsigned long);
    extern char *strchr(const char *, int);
    extern int strcmp(const char *, const char *);
    struct S { char a; int b; short c[3]; } x = {1, 0x12345678, {5, 6, 7}}, y;
    char buf[16] = \"0123456789\"; int n;";

#[test]
fn blocks_of_memory_are_moved() {
    holds(STRINGS, "memcpy(&y, &x, sizeof x);", "y.a == 1 && y.b == 0x12345678 && y.c[2] == 7");
    holds(STRINGS, "n = sizeof x; memcpy(&y, &x, n);", "y.b == 0x12345678 && y.c[2] == 7");
    holds(STRINGS, "memset(&x, 0xff, 5);", "x.a == -1 && x.b == 0x123456ff && x.c[0] == 5");
    holds(STRINGS, "n = 5; memset(&x, 0xff, n);", "x.a == -1 && x.b == 0x123456ff");
    holds(STRINGS, "memmove(buf + 1, buf, 4);", "buf[0] == '0' && buf[1] == '0' && buf[4] == '3'");
    holds(STRINGS, "n = 4; memmove(buf + 1, buf, n);", "buf[1] == '0' && buf[4] == '3'");
    holds(STRINGS, "memcpy(&x.c[1], &x.c[0], 2);", "x.c[1] == 5 && x.c[2] == 7");
    holds(STRINGS, "y = x; memset(&y.c, 0, 0);", "!memcmp(&x.b, &y.b, 4) && y.c[0] == 5");
}

#[test]
fn strings_are_read_and_written() {
    holds(STRINGS, "strcpy(buf, \"abc\");", "strlen(buf) == 3 && !strcmp(buf, \"abc\")");
    holds(STRINGS, "strncpy(buf, \"ab\", 4);", "buf[2] == 0 && buf[3] == 0 && buf[4] == '4'");
    holds(STRINGS, "", "strchr(buf, '5') == buf + 5 && strchr(buf, 'x') == 0");
}

#[test]
fn the_order_of_strings_has_a_sign_and_no_size() {
    let text = format!(
        "extern void reach_error(void); {STRINGS}
         int main(void) {{ if (strcmp(\"b\", \"a\") == 77) reach_error(); return 0; }}"
    );
    let cfa = cfa(&text, &options("main"));
    assert_eq!(run(&cfa, 1, 1000).location, "end");
    assert_eq!(run(&cfa, 77, 1000).location, "error reach_error");
}

#[test]
fn a_function_of_that_name_may_be_the_programs_own() {
    holds("int strlen(int x) { return x + 1; }", "", "strlen(4) == 5");
    holds("long memset(long a) { return a; }", "", "memset(7) == 7");
}

#[test]
fn arguments_beyond_the_parameters_are_listed() {
    let list = "typedef __builtin_va_list va_list;
        struct S { char a; int b; };
        int sum(int n, ...) { va_list ap; int s = 0; __builtin_va_start(ap, n);
            while (n--) s += __builtin_va_arg(ap, int); __builtin_va_end(ap); return s; }
        long long wide(int n, ...) { va_list ap, aq; __builtin_va_start(ap, n);
            long long a = __builtin_va_arg(ap, long long); __builtin_va_copy(aq, ap);
            int b = __builtin_va_arg(ap, int); struct S s = __builtin_va_arg(ap, struct S);
            return a + b + s.b + __builtin_va_arg(aq, int); }
        int inner(va_list ap) { return __builtin_va_arg(ap, int); }
        int outer(int n, ...) { va_list ap; __builtin_va_start(ap, n); return inner(ap); }
        int (*pointer)(int, ...) = sum;";
    holds(list, "signed char c = -3;", "sum(3, 10, 20, c) == 27 && sum(0) == 0");
    holds(list, "struct S s = {1, 100};", "wide(1, 1ll << 40, 3, s) == (1ll << 40) + 106");
    holds(list, "", "outer(1, 42) == 42 && pointer(2, 5, 6) == 11");
    // What asks for more than a word lies in words anyway.
    let aligned = "struct A { int c __attribute__((aligned(8))); _Bool e; };
        int last(int n, ...) { __builtin_va_list ap; __builtin_va_start(ap, n);
            __builtin_va_arg(ap, unsigned); struct A a = __builtin_va_arg(ap, struct A); return a.c; }";
    holds(aligned, "", "last(1, 2, (struct A){ 3 }) == 3");
}

#[test]
fn functions_of_the_compiler_compute() {
    let one =
        |condition: &str| holds("unsigned v = 0x12345678; int r; unsigned char b;", "", condition);
    one("__builtin_popcount(v) == 13 && __builtin_parity(v) == 1");
    one("__builtin_clz(v) == 3 && __builtin_ctz(v) == 3 && __builtin_ffs(v) == 4");
    one("__builtin_ffs(v - v) == 0 && __builtin_clrsb((int)v) == 2");
    one("__builtin_bswap32(v) == 0x78563412");
    one("__builtin_add_overflow(0x7fffffff, 1, &r) && r == -0x7fffffff - 1");
    one("!__builtin_add_overflow(100, 100, &b) && b == 200");
    one("__builtin_mul_overflow(16u, 16u, &b) && b == 0");
    one("__builtin_sub_overflow(1u, 2u, &b) && !__builtin_sub_overflow(1u, 2u, &r) && r == -1");
}

#[test]
fn arguments_that_only_advise_are_evaluated() {
    holds(
        "int z;",
        "__builtin_expect(1, z++); long y = __builtin_expect(z, z++);",
        "z == 2 && y == 1",
    );
}

#[test]
fn what_the_compiler_computes_itself_is_not_the_programs_own() {
    let text = "int ABS(int x) { return 5; } int main(void) { return abs(1); }";
    let errors = compile(&text.replace("ABS", "abs"), &options("main")).unwrap_err();
    assert!(errors[0].message.contains("the compiler has"), "{errors:?}");
    holds("static int abs(int x) { return 5; }", "", "abs(1) == 5");
}

#[test]
fn what_is_printed_is_evaluated() {
    let text = "extern int printf(const char *, ...); char t[3] = \"ab\"; int n;
        const char *next(void) { n++; return t; }";
    holds(text, "char *p = t; printf(\"%s%s\", p++, next());", "p == t + 1 && n == 1");
}

/// How long a text is follows from the numbers in it.
#[test]
fn numbers_have_their_digits() {
    let head = "#include <stdio.h>\n#include <stdint.h>\n#include <limits.h>\nchar t[64]; signed char minus = -1;\n";
    let formats = [
        "\"%d|%5u|%x\", -12, 7u, 255",
        "\"%u %u %u\", 9, 10, 4294967295u",
        "\"%d%d\", INT_MIN, INT_MAX",
        "\"%+d% d%+d\", 5, 0, -5",
        "\"%08lx%-3hhu%hd\", 0xffful, 1000, 70000",
        "\"%lld %llu\", LLONG_MIN, ULLONG_MAX",
        "\"%.4d%7.5i%o\", -3, 12345, 64",
        "\"%c%%%zu\", 'a', sizeof(int)",
        "\"%d %d\", (signed char)-128, (_Bool)1",
        "\"%u\", (signed char)-1",
        "\"%d %u %d\", (unsigned short)minus, (unsigned char)minus, (signed char)(unsigned char)200",
    ];
    let sums = formats.iter().map(|f| format!("r = r * 31 + sprintf(t, {f});"));
    let text = format!(
        "{head}int main(void) {{ unsigned r = 0; {} return r; }}",
        sums.collect::<String>()
    );
    let mut expected = 0u32;
    for length in [12, 15, 21, 6, 15, 41, 15, 3, 6, 10, 13] {
        expected = expected.wrapping_mul(31).wrapping_add(length);
    }
    let ended = run(&cfa(&text, &options("main")), 0, 10_000);
    assert_eq!((&*ended.location, ended.values["main::result"] as u32), ("end", expected));
}

#[test]
fn numbers_in_texts_that_do_not_fit_may_be_any() {
    for (text, expected) in [
        ("4294967297", 7),
        ("2147483648", 7),
        ("-2147483649", 7),
        ("99999999999", 7),
        (" +2147483647x", i32::MAX),
        ("-2147483648", i32::MIN),
        ("-42", -42),
    ] {
        for name in ["atoi", "atol"] {
            let text =
                format!("#include <stdlib.h>\nint main(void) {{ return {name}(\"{text}\"); }}");
            let ended = run(&cfa(&text, &options("main")), 7, 10_000);
            assert_eq!(ended.values["main::result"] as u32 as i32, expected, "{text}");
        }
    }
}

#[test]
fn a_format_that_is_chosen_is_not_known() {
    let head =
        "#include <stdio.h>\nchar t[8], format[] = \"x\"; const char fixed[] = \"ab\"; int c;\n";
    for format in ["c ? \"abc\" : \"%s\", t", "format", "fixed + c"] {
        let text = format!("{head}int main(void) {{ return sprintf(t, {format}); }}");
        assert!(compile(&text, &options("main")).is_err(), "{format}");
    }
    let text = format!("{head}int main(void) {{ return sprintf(t, fixed); }}");
    assert_eq!(run(&cfa(&text, &options("main")), 0, 1000).values["main::result"], 2);
    let text = format!("{head}int main(void) {{ return sprintf(t, c ? \"abcd\" : \"xyz\"); }}");
    for (input, length) in [(3, 3), (4, 4), (5, 3)] {
        assert_eq!(run(&cfa(&text, &options("main")), input, 1000).values["main::result"], length);
    }
}

#[test]
fn texts_have_their_lengths() {
    let head = "#include <stdio.h>\n char t[40], *name = \"motor\"; struct { char id[4]; } s = { \"ab\" };\n";
    for (call, length) in [
        ("\"%s=%d\", name, 17", 8),
        ("\"%s%8s%-3s|\", s.id, name, name", 16),
        ("\"%.3s%.9s\", name, s.id", 5),
        ("\"%d%s\", sprintf(t, \"%s\", name), name + 2", 4),
    ] {
        let text = format!("{head}int main(void) {{ return sprintf(t + 9, {call}); }}");
        let found = compile(&text, &options("main"));
        if call.contains("sprintf") {
            assert!(found.is_err(), "what one asks is not what another one gets");
            continue;
        }
        let ended = run(&found.unwrap().cfa, 0, 10_000);
        assert_eq!((&*ended.location, ended.values["main::result"]), ("end", length), "{call}");
    }
}

#[test]
fn what_printing_stores_is_refused() {
    let text = "extern int printf(const char *, ...);
        int main(void) { int n; printf(\"%d%%n %5ln\", 1, &n); return n; }";
    let errors = compile(text, &options("main")).unwrap_err();
    assert!(errors[0].message.contains("%n"), "{errors:?}");
    cfa(&text.replace("%5ln", "%s"), &options("main"));
}

/// The bodies of library functions are C: compiled under other names, they do what the compiler's own
/// library does.
#[test]
fn bodies_do_what_the_library_does() {
    let library = include_str!("../include/library.c");
    let names = ["memmove", "memcmp", "memchr", "strlen", "strncpy", "strncat", "strncmp"];
    let more = ["strrchr", "strstr", "strspn", "strcspn", "strpbrk", "atoi", "ispunct", "toupper"];
    let mut own = String::new();
    for name in names.iter().chain(&more) {
        own += &format!("#define {name} own_{name}\n");
    }
    let text = format!(
        "#include <string.h>\n#include <stdlib.h>\n#include <ctype.h>\n#include <stdio.h>
        #undef ispunct\n#undef toupper\nstatic int wanted_sign;
        static long long __vouch_input(const char *n) {{ return wanted_sign; }}
        static void __vouch_assume(int c) {{ if (!c) wanted_sign = -7; }}
        {own}\n{}\n",
        functions(library, &names, &more),
    );
    let undefine: String = (names.iter().chain(&more)).map(|n| format!("#undef {n}\n")).collect();
    let test = r#"
        static const char *texts[] = {"", "a", "ab", "abc", "b", "aab", "\x80", "abab", "-12", " +7x"};
        #define SIGN(x) (((x) > 0) - ((x) < 0))
        #define CHECK(c) do { if (!(c)) { printf("%d: %s %s\n", __LINE__, a, b); return 1; } } while (0)
        int main(void) {
            for (int i = 0; i < 10; i++) for (int j = 0; j < 10; j++) for (int n = 0; n < 5; n++) {
                const char *a = texts[i], *b = texts[j];
                for (wanted_sign = -1; wanted_sign <= 1; wanted_sign += 2) {
                    int keep = wanted_sign, got = own_strncmp(a, b, n), real = strncmp(a, b, n);
                    CHECK(real == 0 ? got == 0 : SIGN(real) == keep ? got == keep : wanted_sign == -7);
                    wanted_sign = keep;
                }
                char x[16] = "xyzxyzxyz", y[16] = "xyzxyzxyz";
                CHECK(own_strncpy(x, a, n) == x && strncpy(y, a, n) && !memcmp(x, y, 16));
                strcpy(x, a), strcpy(y, a);
                CHECK(own_strncat(x, b, n) == x && strncat(y, b, n) && !strcmp(x, y));
                CHECK(own_strstr(a, b) == strstr(a, b) && own_strpbrk(a, b) == strpbrk(a, b));
                CHECK(own_strspn(a, b) == strspn(a, b) && own_strcspn(a, b) == strcspn(a, b));
                CHECK(own_strrchr(a, b[0]) == strrchr(a, b[0]) && own_strlen(a) == strlen(a));
                CHECK(own_memchr(a, b[0], strlen(a)) == memchr(a, b[0], strlen(a)));
                CHECK(own_atoi(a) == atoi(a));
                memset(x, 1, 16), memcpy(x, "01234567", 8), memcpy(y, x, 16);
                own_memmove(x + n, x + 2, 5), memmove(y + n, y + 2, 5);
                CHECK(!memcmp(x, y, 16));
                wanted_sign = 1;
                for (int c = -1; c < 128; c++) {
                    wanted_sign = 1, own_ispunct(c);
                    CHECK((wanted_sign == 1) == !!ispunct(c) && own_toupper(c) == toupper(c));
                }
            }
            return 0;
        }"#;
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("p.c"), folder.path().join("p"));
    std::fs::write(&source, format!("{text}{undefine}{test}")).unwrap();
    let gcc =
        Command::new("gcc").args(["-w", "-fno-builtin", "-o"]).args([&binary, &source]).output();
    let Ok(gcc) = gcc else {
        eprintln!("skipped: there is no gcc");
        return;
    };
    assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
    let output = Command::new(&binary).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
}

/// The definitions of some functions.
fn functions(library: &str, names: &[&str], more: &[&str]) -> String {
    let bodies = library.split("\n}\n").map(|body| body.rsplit("\n\n").next().unwrap_or(body));
    let wanted = bodies.filter(|body| {
        let head = body.split('(').next().unwrap_or("");
        let name = head.rsplit([' ', '*']).next().unwrap_or("");
        names.iter().chain(more).any(|n| *n == name)
    });
    wanted.map(|body| format!("{body}\n}}\n")).collect()
}

#[test]
fn what_the_library_calls_needs_no_declaration() {
    let text = "char *strdup(const char *); int main(void) { return 0; }";
    let warnings = compile(text, &options("main")).unwrap().warnings;
    assert!(warnings.iter().all(|w| !w.message.contains("not declared")), "{warnings:?}");
}
