//! Programs of several files: what one unit means by a name is what another one does, as with a compiler and a linker.

use super::{options, run};
use crate::c::{self, COMPILE_COMMANDS, Macro};
use crate::{Compiled, Diagnostic, Options, Source};
use std::fs;
use std::path::Path;
use std::process::Command;

/// Writes files and compiles all that end in `.c`, the first of which is named.
fn compile_in(
    folder: &Path,
    files: &[(&str, &str)],
    options: &Options,
) -> Result<(Compiled, Source), (Vec<Diagnostic>, Source)> {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let path = |name: &str| folder.join(name).display().to_string();
    let units: Vec<&(&str, &str)> = files.iter().filter(|file| file.0.ends_with(".c")).collect();
    let mut options = options.clone();
    options.c.units = units[1..].iter().map(|file| path(file.0)).collect();
    let source = Source { path: path(units[0].0), text: units[0].1.into() };
    let source = c::gather(source, &options).map_err(|(source, errors)| (errors, source))?;
    match c::compile(&source, &options) {
        Ok(compiled) => Ok((compiled, source)),
        Err(errors) => Err((errors, source)),
    }
}

/// What `main` returns, as the automaton has it.
fn result(files: &[(&str, &str)]) -> u8 {
    let folder = tempfile::tempdir().unwrap();
    let compiled = compile_in(folder.path(), files, &options("main"));
    let (compiled, _) = compiled.unwrap_or_else(|(errors, _)| panic!("{errors:?}"));
    run(&compiled.cfa, 0, 100_000).values["main::result"] as u8
}

/// What `main` returns, as gcc has it; `None` without one.
fn native(files: &[(&str, &str)]) -> Option<u8> {
    let folder = tempfile::tempdir().unwrap();
    files.iter().for_each(|(name, text)| fs::write(folder.path().join(name), text).unwrap());
    let units = files.iter().map(|file| file.0).filter(|name| name.ends_with(".c"));
    let mut gcc = Command::new("gcc");
    gcc.args(["-m32", "-w", "-std=gnu11", "-fcommon", "-fwrapv"]).current_dir(folder.path());
    let made = gcc.args(units).output().ok()?;
    if super::accepted::cannot_link(&made) {
        return None;
    }
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let ended = Command::new(folder.path().join("a.out")).status().ok()?;
    ended.code().map(|code| code as u8)
}

/// Programs, each as its files.
const PROGRAMS: [&[(&str, &str)]; 13] = [
    // What is static is each unit's own, functions, variables and types alike.
    &[
        (
            "a.c",
            "static int count = 3; static int next(void) { return ++count; } int other(void);\n\
             typedef char word; struct s { word a; }; static struct s s = { 5 };\n\
             int main(void) { next(); return next() * 16 + other() + s.a + sizeof(word); }",
        ),
        (
            "b.c",
            "static int count = 7; static int next(void) { return count -= 2; }\n\
             typedef int word; struct s { word a, b; }; static struct s s = { 1, 2 };\n\
             int other(void) { next(); return next() + s.b * sizeof(word); }",
        ),
    ],
    // What is not is one thing, whoever defines it, and once.
    &[
        (
            "a.c",
            "extern int level; int limit; extern int table[]; void set(int);\n\
             int main(void) { set(4); limit++; return level * 10 + limit + table[2]; }",
        ),
        (
            "b.c",
            "int level = 2; int limit; int table[3] = { 1, 2, 3 }; extern int limit;\n\
             void set(int x) { level += x; limit = x; }",
        ),
    ],
    // A header's types are the same types in all units.
    &[
        (
            "p.h",
            "#ifndef P\n#define P\nstruct node { int v; struct node *next; };\n\
             typedef struct { short x; unsigned y : 5, z : 7; struct node n; } point;\n\
             enum kind { SMALL, LARGE = 200 };\n\
             point move(point p, enum kind k); int sum(const struct node *n);\n\
             typedef int (*op)(int); extern const op ops[2];\n\
             static inline int twice(int x) { static int calls; return 2 * x + calls++; }\n#endif\n",
        ),
        (
            "a.c",
            "#include \"p.h\"\n\
             int main(void) { struct node a = { 3, 0 }, b = { 4, &a };\n\
             point p = { 1, 2, 3, b }; p = move(p, LARGE); twice(1);\n\
             return p.x + p.y + p.z + sum(&p.n) + ops[1](5) + twice(1); }",
        ),
        (
            "b.c",
            "#include \"p.h\"\n\
             point move(point p, enum kind k) { p.x += k; p.z++; p.n.v = twice(p.n.v); return p; }\n\
             int sum(const struct node *n) { int s = 0; for (; n; n = n->next) s += n->v; return s; }\n\
             static int half(int x) { return x / 2; } static int next(int x) { return x + 1; }\n\
             const op ops[2] = { half, next };",
        ),
    ],
    // Another definition counts more than one that is weak, wherever it stands.
    &[
        (
            "a.c",
            "__attribute__((weak)) int hook(void) { return 1; } int late(void) { return 8; }\n\
             int hook2(void); int main(void) { return hook() + 16 * hook2() + late(); }",
        ),
        (
            "b.c",
            "int hook(void) { return 2; } __attribute__((weak)) int late(void) { return 4; }\n\
             __attribute__((weak)) int hook2(void); int hook2(void) { return 3; }",
        ),
    ],
    // Other names of functions and variables, which are `weak` as in start-up code, or not.
    &[
        (
            "start.c",
            "static int n; static void wait(void) { n += 1; } int count(void) { return n; }\n\
             void tick(void) __attribute__((weak, alias(\"wait\")));\n\
             void button(void) __attribute__((weak, alias(\"wait\"))); void own(void) { n += 10; }\n\
             void other(void) __attribute__((alias(\"own\"))); int level = 5;\n\
             extern int height __attribute__((alias(\"level\")));\n\
             void (*table[2])(void) = { tick, button };",
        ),
        (
            "a.c",
            "void tick(void), button(void), other(void); int count(void); extern int height, level;\n\
             extern void (*table[2])(void); int ticks; void tick(void) { ticks++; }\n\
             int main(void) { tick(); button(); other(); table[0](); table[1](); height += 2;\n\
             return count() + 16 * ticks + 64 * (level == 7); }",
        ),
    ],
    // `extern inline` makes an inline function one for others, whoever comes first.
    &[
        ("a.c", "int f(int); int g(void); int main(void) { return f(1) + g(); }"),
        ("f.h", "inline int f(int x) { return x + 2; }\n"),
        ("f.c", "#include \"f.h\"\nextern inline int f(int x);\n"),
        ("b.c", "int f(int); int g(void) { return f(10); }"),
    ],
    // Variables give way as functions do.
    &[
        (
            "a.c",
            "__attribute__((weak)) int limit = 1, first = 2; int level = 3; extern int table[];\n\
             int main(void) { return limit + 8 * first + 32 * level + table[0]; }",
        ),
        (
            "b.c",
            "int limit = 4; __attribute__((weak)) int level = 7; int table[] __attribute__((weak)) = { 1 };\n",
        ),
        ("c.c", "__attribute__((weak)) int first = 9, only; int table[1] = { 2 };"),
    ],
    // A definition may be said to be `weak` later.
    &[
        (
            "a.c",
            "int hook(void) { return 1; } __attribute__((weak)) int hook(void);\n\
             int main(void) { return hook(); }",
        ),
        ("b.c", "int hook(void) { return 2; }"),
    ],
    // What is packed in one unit is not in the next.
    &[
        (
            "a.c",
            "#pragma pack(1)\nstruct s { char c; int i; };\nint other(void);\nint main(void) { return sizeof(struct s) * 16 + other(); }",
        ),
        ("b.c", "struct t { char c; int i; };\nint other(void) { return sizeof(struct t); }"),
    ],
    // Macros and includes are each unit's own; a file is found beside the one that includes it.
    &[
        ("size.h", "#define SIZE 5\n"),
        (
            "a.c",
            "#include \"size.h\"\n#define N SIZE\nint n(void);\nint main(void) { return N * 10 + n(); }",
        ),
        ("b.c", "#ifdef SIZE\n#error leaked\n#endif\n#define N 7\nint n(void) { return N; }"),
    ],
    // What another unit changes is no constant.
    &[
        (
            "a.c",
            "int n = 3; void grow(void); int main(void) { grow(); char a[n]; return sizeof a; }",
        ),
        ("b.c", "extern int n; void grow(void) { n = 5; }"),
    ],
    // Headers of the library.
    &[(
        "a.c",
        "#include <stdint.h>\n#include <stdbool.h>\n#include <limits.h>\n#include <string.h>\n\
             #include <stddef.h>\n#include <stdatomic.h>\n#include <inttypes.h>\n#include <stdlib.h>\n\
             struct s { uint8_t a; uint16_t b; uint64_t c; };\n\
             int main(void) { char t[8]; bool ok = true; atomic_int n = 4; int old = 5;\n\
             memset(t, 1, sizeof t); strcpy(t, \"abc\"); atomic_fetch_add(&n, 3);\n\
             ok = atomic_compare_exchange_strong(&n, &old, 9) + atomic_exchange(&n, 2) == old;\n\
             char *end; long v = strtol(\" -0x1fz\", &end, 0);\n\
             return strlen(t) + t[5] + ok + old + n + offsetof(struct s, c) + (INT_MAX > 0) - v\n\
             + (*end == 'z') + (UINT8_MAX == 255) + sizeof(uintptr_t) + (strtoul(\"99999999999\", 0, 10) == ULONG_MAX); }",
    )],
    // What the library says aside.
    &[(
        "a.c",
        "#include <errno.h>\n#include <stdlib.h>\n#include <limits.h>\n\
             int main(void) { errno = 0; long v = strtol(\"99999999999999999999\", 0, 10); int large = errno == ERANGE;\n\
             errno = 0; long long w = strtoll(\"-12\", 0, 10); unsigned long u = strtoul(\"-1\", 0, 10); int fits = errno == 0;\n\
             long long least = strtoll(\"-99999999999999999999\", 0, 10);\n\
             return large + 2 * fits + 4 * (v == LONG_MAX) + 8 * (w == -12) + 16 * (u == ULONG_MAX) + 32 * (least == LLONG_MIN) + 64 * (errno != 0); }",
    )],
];

#[test]
fn units_are_linked_as_by_gcc() {
    for files in PROGRAMS {
        let expected = native(files);
        let found = result(files);
        assert!(
            expected.is_none_or(|expected| expected == found),
            "{expected:?}, {found}: {files:#?}"
        );
    }
}

/// A linker may merge them, and need not.
#[test]
fn equal_strings_of_two_units_may_be_two_objects() {
    let folder = tempfile::tempdir().unwrap();
    let compare =
        "const char *f(void); int main(void) { return f() == \"x\" ? 2 : f()[0] == 'x'; }";
    let files = [("a.c", compare), ("b.c", "const char *f(void) { return \"x\"; }")];
    let compiled = compile_in(folder.path(), &files, &options("main"));
    let (compiled, _) = compiled.unwrap_or_else(|(errors, _)| panic!("{errors:?}"));
    assert_eq!(compiled.cfa.approximate.len(), 1);
    let ends = [0, 1].map(|input| run(&compiled.cfa, input, 1000).values["main::result"]);
    assert_eq!(ends, [1, 2]);
}

#[test]
fn contradictions_are_told_with_both_places() {
    let cases: [(&str, &str, &str); 6] = [
        ("extern int x;\nint main(void) { return x; }", "\nchar x;", "something else"),
        (
            "int f(int);\nint main(void) { return f(1); }",
            "\nint f(char *p) { return 1; }",
            "something else",
        ),
        ("int x = 1;\nint main(void) { return x; }", "\nint x = 2;", "defined twice"),
        (
            "int f(void) { return 2; } int main(void) { return f(); }",
            "\ninline int f(void) { return 1; } int g(void) { return f(); }",
            "another function elsewhere",
        ),
        (
            "void f(void) { }\nint main(void) { return 0; }",
            "static void g(void) { }\nvoid f(void) __attribute__((alias(\"g\")));",
            "defined twice",
        ),
        (
            "struct s { int a; }; extern struct s x;\nint main(void) { return x.a; }",
            "\nstruct s { char a; } x;",
            "something else",
        ),
    ];
    for (a, b, message) in cases {
        let folder = tempfile::tempdir().unwrap();
        let failed = compile_in(folder.path(), &[("a.c", a), ("b.c", b)], &options("main"));
        let (errors, source) = failed.map(|_| ()).unwrap_err();
        assert!(errors[0].message.contains(message), "{errors:?}");
        let place = source.place(errors[0].span.start);
        assert!(place.path.ends_with("b.c") && place.line == 2, "{place:?}");
        let first = source.place(errors[0].related[0].0.start);
        assert!(first.path.ends_with("a.c") && first.line == 1, "{first:?}");
        let shown = crate::render(&source, &errors);
        assert!(shown.contains("b.c:2:") && shown.contains("a.c:1:"), "{shown}");
    }
}

#[test]
fn another_unit_knows_what_is_in_a_struct() {
    let files = [
        (
            "a.c",
            "struct s; void f(const struct s *); extern const struct s s; int x(void);\n\
             int main(void) { f(&s); return x(); }",
        ),
        (
            "b.c",
            "struct s { int *p; }; static int v = 1; const struct s s = { &v }; int x(void) { return v; }",
        ),
    ];
    assert_eq!(result(&files), 0, "all that nobody knows is 0");
}

/// As start-up code has them.
#[test]
fn other_names_can_be_named() {
    let start = "static void wait(void) { } int main(void) { return 3; }\n\
        int go(void) __attribute__((alias(\"main\"))); void tick(void) __attribute__((weak, alias(\"wait\")));";
    let folder = tempfile::tempdir().unwrap();
    let mut options = options("go");
    options.c.interrupts = vec![("tick".into(), 0)];
    options.c.tasks = vec!["go".into()];
    let done = compile_in(folder.path(), &[("a.c", start)], &options);
    assert!(done.is_ok(), "{:?}", done.unwrap_err().0);
    let replaced = "__attribute__((weak)) void wait(void) { } void tick(void) __attribute__((alias(\"wait\")));\n\
        int go(void) { tick(); return 0; }";
    let other = "void wait(void) { for (;;); }";
    let files = [("a.c", replaced), ("b.c", other)];
    let (errors, _) = compile_in(folder.path(), &files, &options).map(|_| ()).unwrap_err();
    assert!(errors[0].message.contains("another file replaces"), "{errors:?}");
}

#[test]
fn places_are_those_of_included_files() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("inc/lib.c", "// one\nint f(int x)\n{\n  vouch_assert(x != 3);\n  return x;\n}\n"),
        ("a.h", "int a;\n"),
        (
            "main.c",
            "void vouch_assert(int);\n#include \"a.h\"\n#include \"inc/lib.c\"\nint main(void)\n{\n\
             vouch_assert(a == 0); return f(3); }\n",
        ),
    ];
    let named = [files[2], files[1]];
    files.iter().for_each(|(name, text)| {
        fs::create_dir_all(folder.path().join("inc")).unwrap();
        fs::write(folder.path().join(name), text).unwrap();
    });
    let (compiled, source) = compile_in(folder.path(), &named, &options("main")).unwrap();
    let names: Vec<&str> = compiled.cfa.properties.iter().map(|p| &*p.name).collect();
    assert_eq!(names, ["assert_6", "assert_lib.c:4"]);
    let place = source.place(compiled.cfa.properties[1].span.start);
    assert!(place.path.ends_with("inc/lib.c") && (place.line, place.column) == (4, 3), "{place:?}");
    let locations: Vec<&str> = compiled.cfa.locations.iter().map(|l| &*l.name).collect();
    assert!(locations.contains(&"error assert_lib.c:4"), "{locations:?}");
    // What the preprocessor does not like is told where it stands, too.
    fs::write(folder.path().join("a.h"), "\n#error no\n").unwrap();
    let named = [files[2], ("a.h", "\n#error no\n")];
    let (errors, source) = compile_in(folder.path(), &named, &options("main")).unwrap_err();
    let place = source.place(errors[0].span.start);
    assert!(place.path.ends_with("a.h") && place.line == 2, "{place:?}: {errors:?}");
}

#[test]
fn a_header_that_is_not_there_is_told_with_a_way_out() {
    let folder = tempfile::tempdir().unwrap();
    let files = [("a.c", "#include <pthread.h>\nint main(void) { return 0; }\n")];
    let (errors, _) = compile_in(folder.path(), &files, &options("main")).unwrap_err();
    let help = errors[0].help.as_deref().unwrap_or("");
    assert!(help.contains("`-I`") && help.contains("--host-headers"), "{errors:?}");
}

/// Writes files, and a compilation database of some in `src`, each with flags.
pub(super) fn database(folder: &Path, files: &[(&str, &str)], entries: &[(&str, &str)]) -> Source {
    for (name, text) in files {
        let path = folder.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let build = folder.join("build");
    fs::create_dir_all(&build).unwrap();
    let entry = |(name, flags): &(&str, &str)| {
        serde_json::json!({
            "directory": build, "file": format!("../src/{name}.c"),
            "command": format!("arm-none-eabi-gcc -mcpu=cortex-m4 {flags} -I../inc -c ../src/{name}.c"),
        })
    };
    let text = serde_json::Value::from_iter(entries.iter().map(entry)).to_string();
    let path = build.join(COMPILE_COMMANDS);
    fs::write(&path, &text).unwrap();
    Source { path: path.display().to_string(), text }
}

/// What `main` returns in a program of a database, or what is wrong with that.
pub(super) fn result_by(database: Source) -> Result<u8, String> {
    let told = |errors: Vec<Diagnostic>| {
        errors[0].message.clone() + errors[0].help.as_deref().unwrap_or("")
    };
    let source = c::gather(database, &options("main")).map_err(|e| told(e.1))?;
    let compiled = c::compile(&source, &options("main")).map_err(told)?;
    Ok(run(&compiled.cfa, 0, 1000).values["main::result"] as u8)
}

#[test]
fn in_a_database_another_definition_counts_more_than_one_that_yields() {
    let files = [
        (
            "src/main.c",
            "__attribute__((weak)) int hook(void) { return 1; } int late(void); extern int limit;\n\
             __attribute__((weak)) int alone(void) { return 64; }\n\
             int main(void) { return hook() + late() + limit + alone(); }",
        ),
        ("src/weak.c", "__attribute__((weak)) int late(void) { return 4; } int limit;"),
        (
            "src/strong.c",
            "int hook(void) { return 2; } int late(void) { return 8; } int limit = 16;",
        ),
    ];
    for names in [["main", "weak", "strong"], ["strong", "weak", "main"]] {
        let folder = tempfile::tempdir().unwrap();
        let database = database(folder.path(), &files, &names.map(|name| (name, "")));
        assert_eq!(result_by(database), Ok(90));
    }
}

#[test]
fn two_programs_in_a_database_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("src/app.c", "int get(void); int main(void) { return get(); }"),
        ("src/test.c", "int get(void) { return 1; }\nint main(void) { return 2; }"),
        ("src/get.c", "int get(void) { return 3; }"),
    ];
    let entries = [("app", ""), ("test", ""), ("get", "")];
    let database = database(folder.path(), &files, &entries);
    let wrong = result_by(database.clone()).unwrap_err();
    assert!(wrong.contains("`main` is defined in ") && wrong.contains("app.c"), "{wrong}");
    assert!(wrong.contains("test.c") && wrong.contains("name the file"), "{wrong}");
    // With the file that is meant it is the other function that is not clear.
    let path = |name: &str| folder.path().join(name).display().to_string();
    let source = || Source { path: path("src/app.c"), text: files[0].1.into() };
    let mut named = options("main");
    named.c.compile_commands = Some(database.path.clone());
    let wrong = c::gather(source(), &named).unwrap_err().1;
    assert!(wrong[0].message.contains("`get` is defined in "), "{wrong:?}");
    named.c.units = vec![path("src/get.c")];
    let source = c::gather(source(), &named).unwrap_or_else(|e| panic!("{:?}", e.1));
    let compiled = c::compile(&source, &named).unwrap();
    assert_eq!(run(&compiled.cfa, 0, 1000).values["main::result"], 3);
}

#[test]
fn a_file_may_be_listed_twice_if_it_is_the_same() {
    let files = [("src/main.c", "int main(void) { return N; }")];
    for (flags, expected) in [("-DN=3", true), ("-DN=3 -DM=1", true), ("-DN=4", false)] {
        let folder = tempfile::tempdir().unwrap();
        let entries = [("main", "-DN=3"), ("main", flags)];
        let database = database(folder.path(), &files, &entries);
        match result_by(database.clone()) {
            Ok(value) => assert!(expected && value == 3, "{flags}"),
            Err(wrong) => assert!(!expected && wrong.contains("in two ways"), "{wrong}"),
        }
        let mut named = options("main");
        named.c.compile_commands = Some(database.path);
        let path = folder.path().join("src/main.c").display().to_string();
        let source = Source { path, text: files[0].1.into() };
        assert_eq!(c::gather(source, &named).is_ok(), expected, "{flags}");
    }
}

#[test]
fn a_database_gives_the_units_that_are_needed() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "src/step.c",
            "#include \"lib.h\"\nint state;\nvoid step(void) { state = helper(state) + N; }\n",
        ),
        (
            "src/lib.c",
            "#include \"lib.h\"\nstatic int count;\nint helper(int x) { return x + table[count++ & 1]; }\n",
        ),
        ("src/table.c", "#include \"lib.h\"\nconst int table[2] = { 1, 2 };\n"),
        ("src/unused.c", "#error not needed\n"),
        ("src/other.c", "int other(void) { return 1; }\nint step_back(void) { return 2; }\n"),
        (
            "inc/lib.h",
            "int helper(int); extern const int table[2];\n#ifndef __ARM_ARCH\n#error arm\n#endif\n",
        ),
    ];
    let names = ["other", "unused", "table", "step", "lib"];
    let database = database(folder.path(), &files, &names.map(|name| (name, "-DN=3")));
    let source =
        c::gather(database.clone(), &options("step")).unwrap_or_else(|e| panic!("{:?}", e.1));
    let units: Vec<&str> =
        source.files().filter(|f| f.path.starts_with('=')).map(|f| f.path).collect();
    assert_eq!(units.len(), 3, "{units:?}");
    assert!(units.iter().all(|unit| unit.starts_with("=arm32 ")));
    let cfa = c::compile(&source, &options("step")).unwrap().cfa;
    assert_eq!(run(&cfa, 0, 1000).values["state"], 4);
    let missing = c::gather(database, &options("nobody")).unwrap_err().1;
    assert!(missing[0].message.contains("defines `nobody`"), "{missing:?}");
}

#[test]
fn macros_and_includes_can_be_given() {
    let folder = tempfile::tempdir().unwrap();
    let mut given = options("main");
    let forced = folder.path().join("pre.h");
    fs::write(&forced, "#define B A + 1\n").unwrap();
    given.c.macros = vec![Macro::Define("A=4".into()), Macro::Undefine("__ELF__".into())];
    given.c.forced = vec![forced.display().to_string()];
    let text = "#ifdef __ELF__\n#error still there\n#endif\nint main(void) { return B; }\n";
    let (compiled, _) = compile_in(folder.path(), &[("a.c", text)], &given).unwrap();
    assert_eq!(run(&compiled.cfa, 0, 100).values["main::result"], 5);
}

/// Whoever defines a variable says whether it can be written.
#[test]
fn what_another_file_defines_as_constant_is_not_written() {
    let ends = |files: &[(&str, &str)]| {
        let folder = tempfile::tempdir().unwrap();
        let compiled = compile_in(folder.path(), files, &options("main"));
        let (compiled, _) = compiled.unwrap_or_else(|(errors, _)| panic!("{errors:?}"));
        run(&compiled.cfa, 0, 1000).location
    };
    let writes = "extern int x; int main(void) { x = 1; return x; }";
    assert_eq!(ends(&[("a.c", writes), ("b.c", "const int x = 5;")]), "error memory_limit");
    let reads = "extern const int x; void set(void); int main(void) { set(); return x; }";
    let sets = "int x; void set(void) { int *p = &x; *p = 1; x++; }";
    assert_eq!(ends(&[("a.c", reads), ("b.c", sets)]), "end");
}
