//! C as it is shipped: several files, functions of which only a declaration is known, registers.

use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Writes files into a folder and runs `vouch check` there.
fn check(files: &[(&str, &str)], args: &[&str]) -> (tempfile::TempDir, Output) {
    let folder = tempfile::tempdir().unwrap();
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let output = vouch(folder.path(), args);
    (folder, output)
}

fn vouch(folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_vouch"));
    command.current_dir(folder).arg("check").args(args).output().unwrap()
}

fn json(output: &Output) -> Value {
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&output.stderr)))
}

const LOOP: [&str; 4] = ["--entry", "step", "--loop", "--json"];

fn looped<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [args, &LOOP].concat()
}

const STEP: &str = "#include \"vouch.h\"\n#include \"level.h\"\nstatic int count;\n\
    void step(int x)\n{\n  level_set(x);\n  count = level_get();\n  VOUCH_ASSERT(count <= LIMIT);\n}\n";
const LEVEL: &str = "#include \"level.h\"\nstatic int count;\n\
    void level_set(int x) { count = x > LIMIT ? LIMIT : x; }\nint level_get(void) { return count; }\n";
const HEADER: &str =
    "void level_set(int); int level_get(void);\n#ifndef LIMIT\n#define LIMIT 9\n#endif\n";

#[test]
fn several_files_are_one_program() {
    let files = [("step.c", STEP), ("inc/level.h", HEADER), ("level.c", LEVEL)];
    let (folder, safe) = check(&files, &looped(&["step.c", "level.c", "-I", "inc"]));
    assert_eq!(safe.status.code(), Some(0), "{}", String::from_utf8_lossy(&safe.stdout));
    // Without the second file nothing is known of its functions.
    let broken = vouch(folder.path(), &looped(&["step.c", "-I", "inc"]));
    assert_eq!(broken.status.code(), Some(1));
    assert_eq!(json(&broken)["property"], "assert_8");
    // Two units that see another limit.
    fs::write(folder.path().join("low.h"), "#define LIMIT 5\n").unwrap();
    let low =
        vouch(folder.path(), &looped(&["step.c", "level.c", "-I", "inc", "-include", "low.h"]));
    assert_eq!(low.status.code(), Some(0));
    let low = vouch(
        folder.path(),
        &looped(&["step.c", "level.c", "-I", "inc", "-D", "LIMIT=4", "-U", "LIMIT"]),
    );
    assert_eq!(low.status.code(), Some(0));
}

#[test]
fn a_compilation_database_is_a_program() {
    let files = [
        ("src/step.c", STEP),
        ("inc/level.h", HEADER),
        ("src/level.c", LEVEL),
        ("src/bad.c", "#error\n"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let entry = |name: &str| {
        serde_json::json!({
            "directory": folder.path().join("build"), "file": format!("../src/{name}.c"),
            "arguments": ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-I../inc", "-c", format!("../src/{name}.c")],
        })
    };
    for (name, text) in files {
        let path = folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    fs::create_dir(folder.path().join("build")).unwrap();
    let database = Value::from_iter(["bad", "level", "step"].map(entry)).to_string();
    fs::write(folder.path().join("build/compile_commands.json"), database).unwrap();
    for args in [
        &["--compile-commands", "build/compile_commands.json"][..],
        &["build/compile_commands.json"],
        &["src/step.c", "--compile-commands", "build/compile_commands.json"],
    ] {
        let output = vouch(folder.path(), &looped(args));
        assert_eq!(
            output.status.code(),
            Some(0),
            "{args:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
    }
}

#[test]
fn errors_in_included_files_are_told_there() {
    let files = [
        ("main.c", "#include \"lib.c\"\nint main(void) { return f(); }\n"),
        ("lib.c", "int x;\n\nint f(void) { return y; }\n"),
    ];
    let (_folder, output) = check(&files, &["main.c", "--json"]);
    let error = &json(&output)["error"]["diagnostics"][0];
    assert_eq!(
        (&error["path"], &error["line"], &error["column"]),
        (&"lib.c".into(), &3.into(), &22.into())
    );
}

#[test]
fn what_depends_on_a_declaration_says_so() {
    let text = "#include \"vouch.h\"\nvoid read_all(int *); int calls;\n\
        void step(void) { int x = 1; read_all(&x); calls = x; VOUCH_ASSERT_NAMED(\"one\", calls == 1); }\n";
    let (folder, output) = check(&[("a.c", text)], &looped(&["a.c"]));
    let outcome = json(&output);
    assert_eq!(output.status.code(), Some(1));
    let warnings = outcome["warnings"].to_string();
    assert!(warnings.contains("declared only: `read_all`"), "{warnings}");
    assert!(warnings.contains("breaks one depends on what `read_all` changes"), "{warnings}");
    let nothing = vouch(folder.path(), &looped(&["a.c", "--declared-only", "nothing"]));
    assert_eq!(nothing.status.code(), Some(0), "{}", String::from_utf8_lossy(&nothing.stdout));
}

#[test]
fn a_run_that_needs_a_value_which_nobody_knows_is_not_one() {
    let address = "#include \"vouch.h\"\nstatic int x, low;\n\
        void step(int y) { low = (unsigned long)&x & 3; if (y > 5) x = 1; VOUCH_ASSERT(CLAIM); }\n";
    let text = "#include <stdio.h>\n#include \"vouch.h\"\nstatic char t[4];\n\
        void step(void) { snprintf(t, sizeof t, \"%d\", 42); VOUCH_ASSERT(CLAIM); }\n";
    let outcome = |text: &str, claim: &str| {
        let (_folder, output) = check(&[("a.c", &text.replace("CLAIM", claim))], &looped(&["a.c"]));
        (output.status.code(), json(&output)["reason"].to_string())
    };
    // The compiler aligns `x`, and prints `42`: no run of the program breaks these.
    for (text, claim, what) in [(address, "low == 0", "`address`"), (text, "t[0] == '4'", "`text`")]
    {
        let (code, reason) = outcome(text, claim);
        assert_eq!(code, Some(3), "{claim}");
        assert!(reason.contains("depends on") && reason.contains(what), "{claim}: {reason}");
    }
    assert_eq!(outcome(address, "low >= 0 && low < 4").0, Some(0));
    assert_eq!(outcome(text, "t[3] == 0").0, Some(0));
    // A run that breaks it whatever the address is.
    assert_eq!(outcome(address, "x == 0").0, Some(1));
}

#[test]
fn registers_are_no_memory() {
    let text = "#include <stdint.h>\n#include \"vouch.h\"\n\
        typedef struct { volatile uint32_t sr, dr; } usart;\n#define USART1 ((usart *)0x40013800)\n\
        static uint8_t buffer[4], count;\n\
        void step(void) { usart *u = USART1; if (u->sr & 1) { buffer[count BOUND] = (uint8_t)u->dr; count++; } u->sr = 0; }\n";
    let bounded = text.replace("BOUND", "& 3");
    let (_folder, safe) = check(&[("a.c", &bounded)], &looped(&["a.c", "--checks", "all"]));
    assert_eq!(safe.status.code(), Some(0), "{}", String::from_utf8_lossy(&safe.stdout));
    let (_folder, broken) =
        check(&[("a.c", &text.replace("BOUND", ""))], &looped(&["a.c", "--checks", "all"]));
    assert_eq!(broken.status.code(), Some(1));
    assert_eq!(json(&broken)["property"], "bounds");
}
