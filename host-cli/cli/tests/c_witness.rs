//! Verification witnesses of C programs, checked by means of their own: the YAML is read by a library,
//! and gcc's programs run into what it says, waypoint by waypoint, or never leave its invariants.

use serde_yaml_ng::Value;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const PROTOTYPES: &str = "extern int __VERIFIER_nondet_int(void); extern unsigned char \
    __VERIFIER_nondet_uchar(void); extern _Bool __VERIFIER_nondet_bool(void); extern void \
    __VERIFIER_assume(int); extern void reach_error(void);\n";

/// Checks a program, whose first line are the prototypes; the witness.
fn witness(folder: &Path, text: &str, verdict: i32) -> Value {
    let (file, out) = (folder.join("task.c"), folder.join("task.yml"));
    std::fs::write(&file, format!("{PROTOTYPES}{text}")).unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_vouch"))
        .arg("check")
        .arg(&file)
        .args(["--timeout", "60", "--witness"])
        .arg(&out)
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(verdict), "{run:?}");
    let text = std::fs::read_to_string(out).unwrap();
    let all: Value = serde_yaml_ng::from_str(&text).unwrap();
    let [entry] = all.as_sequence().unwrap().as_slice() else { panic!("{text}") };
    check_metadata(&entry["metadata"], &file);
    entry.clone()
}

fn check_metadata(metadata: &Value, file: &Path) {
    let file = file.to_str().unwrap();
    assert_eq!(metadata["format_version"], "2.0");
    assert_eq!(metadata["producer"]["name"], "vouch");
    assert_eq!(metadata["uuid"].as_str().unwrap().len(), 36);
    assert_eq!(metadata["creation_time"].as_str().unwrap().len(), 20);
    let task = &metadata["task"];
    assert_eq!(task["input_files"][0], file);
    assert_eq!(task["input_file_hashes"][file].as_str().unwrap().len(), 64);
    assert_eq!(task["specification"], "CHECK( init(main()), LTL(G ! call(reach_error())) )");
    assert_eq!((&task["data_model"], &task["language"]), (&"ILP32".into(), &"C".into()));
}

/// Compiles a program. `None`: there is no gcc.
fn compile(folder: &Path, text: &str) -> Option<PathBuf> {
    let (file, binary) = (folder.join("native.c"), folder.join("native"));
    std::fs::write(&file, text).unwrap();
    let gcc = Command::new("gcc").args(["-w", "-fwrapv", "-o"]).args([&binary, &file]).output();
    let Ok(gcc) = gcc else {
        eprintln!("skipped: there is no gcc");
        return None;
    };
    assert!(gcc.status.success(), "{}\n{text}", String::from_utf8_lossy(&gcc.stderr));
    Some(binary)
}

fn run(binary: &Path, args: &[&str]) -> Output {
    Command::new(binary).args(args).output().unwrap()
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap()
}

/// A program that follows a witness: each waypoint is passed when its line has its value, in order, and
/// the error counts only at the target with all others passed. Values that the witness does not give are
/// 99.
fn follower(entry: &Value, text: &str) -> String {
    let mut list = String::new();
    for segment in entry["content"].as_sequence().unwrap() {
        let waypoint = &segment["segment"][0]["waypoint"];
        assert_eq!(waypoint["action"], "follow");
        let line = number(&waypoint["location"]["line"]);
        let column = number(&waypoint["location"]["column"]) as usize;
        let at = &text.lines().nth(line as usize - 1).unwrap()[column - 1..];
        let value = waypoint["constraint"]["value"].as_str().unwrap_or("");
        let (kind, value) = match waypoint["type"].as_str().unwrap() {
            "function_return" => {
                assert!(at.starts_with(')'), "{at}");
                assert_eq!(waypoint["constraint"]["format"], "acsl_expression");
                ('r', value.strip_prefix("\\result == ").unwrap().to_string())
            }
            "branching" => {
                assert!(["if", "while", "for", "switch"].iter().any(|w| at.starts_with(w)), "{at}");
                let value = if value == "default" { "-1" } else { value };
                ('b', value.replace("true", "1").replace("false", "0"))
            }
            "assumption" => {
                let (name, value) = value.split_once(" == ").unwrap();
                assert!(text.contains(&format!("int {name};")), "{name}");
                ('a', value.to_string())
            }
            "target" => {
                assert!(at.starts_with("reach_error"), "{at}");
                ('t', "0".into())
            }
            other => panic!("{other}"),
        };
        let _ = write!(list, "{{ '{kind}', {line}, {value} }}, ");
    }
    let body = text.split_once('\n').unwrap().1;
    format!(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         static struct {{ char kind; int line; long long value; }} way[] = {{ {list} }};\n\
         static unsigned at, fuel = 1000000;\n\
         static int take(int line, int value)\n\
         {{ if (fuel-- == 0) exit(3); if (way[at].kind == 'r' && way[at].line == line) return way[at++].value; return value; }}\n\
         static int branch(int line, int c)\n\
         {{ if (way[at].kind == 'b' && way[at].line == line) {{ if (way[at++].value != c) exit(4); }} return c; }}\n\
         static void assumed(int line, int *p)\n\
         {{ if (way[at].kind == 'a' && way[at].line == line) *p = way[at++].value; }}\n\
         static void failed(int line) {{ exit(way[at].kind == 't' && way[at].line == line ? 1 : 5); }}\n\
         #define __VERIFIER_nondet_int() take(__LINE__, 99)\n\
         #define __VERIFIER_nondet_uchar() ((unsigned char)take(__LINE__, 99))\n\
         #define __VERIFIER_nondet_bool() (take(__LINE__, 1) != 0)\n\
         #define __VERIFIER_assume(c) ((c) ? (void)0 : exit(6))\n\
         #define reach_error() failed(__LINE__)\n\
         #define if(c) if (branch(__LINE__, !!(c)))\n\
         #define while(c) while (branch(__LINE__, !!(c)))\n\
         #define switch(v) switch (branch(__LINE__, (v)))\n\
         #define ASSUMED(x) assumed(__LINE__, &x);\n\
         #line 2\n{body}"
    )
}

#[test]
fn violations_are_followed_natively() {
    // One call or branch in a line, so that a line tells which.
    let tasks = [
        // Calls whose value does not matter are not waypoints, but calls.
        "int main(void)\n{\n  int n = 0;\n  unsigned char x = __VERIFIER_nondet_uchar();\n\
         __VERIFIER_nondet_int();\n  __VERIFIER_assume(x < 10);\n  while (x > 3) {\n\
         int y = __VERIFIER_nondet_int();\n    if (y != 7 + x) {\n      break;\n    }\n    n++;\n    x++;\n\
         if (x > 20) {\n      break;\n    }\n  }\n  if (n == 3 && x == 8) {\n    reach_error();\n  }\n\
         return 0;\n}\n",
        // A function that is inlined twice, a switch, an error after a label.
        "int state;\nint next(void)\n{\n  int e = __VERIFIER_nondet_int();\n  switch (state) {\n\
         case 0: state = e == 11 ? 1 : 0; break;\n  case 1: state = e == 12 ? 2 : 0; break;\n\
         default: break;\n  }\n  return e;\n}\n\
         int main(void)\n{\n  while (1) {\n    int a = next();\n    int b = next();\n\
         if (state == 2 && a == 11) {\n      ERROR: reach_error();\n    }\n  }\n}\n",
        // A value that nobody has given.
        "int main(void)\n{\n  int x;\n  int y = 1;\n  ASSUMED(x) if (x * 3 == 21) {\n    y = 2;\n  }\n\
         if (y == 2) {\n    reach_error();\n  }\n  return 0;\n}\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    for text in tasks {
        // What represents setting an uninitialised variable is nothing to vouch, in the same columns.
        let plain = text.replace("ASSUMED(x)", "          ");
        let entry = witness(folder.path(), &plain, 1);
        assert_eq!(entry["entry_type"], "violation_sequence");
        let native = follower(&entry, &format!("{PROTOTYPES}{text}"));
        let Some(binary) = compile(folder.path(), &native) else { return };
        assert_eq!(run(&binary, &[]).status.code(), Some(1), "{native}");
    }
}

/// The program with its invariants checked, and any values for what it asks for.
fn instrumented(entry: &Value, text: &str) -> (String, usize) {
    let mut lines: Vec<String> = text.lines().map(String::from).collect();
    lines[0].clear();
    let mut all: Vec<(usize, usize, bool, String)> = vec![];
    for item in entry["content"].as_sequence().unwrap() {
        let invariant = &item["invariant"];
        let (line, column) =
            (number(&invariant["location"]["line"]), number(&invariant["location"]["column"]));
        let value = invariant["value"].as_str().unwrap().to_string();
        assert_eq!(invariant["format"], "c_expression");
        let is_loop = match invariant["type"].as_str().unwrap() {
            "loop_invariant" => true,
            "location_invariant" => false,
            other => panic!("{other}"),
        };
        all.push((line as usize - 1, column as usize - 1, is_loop, value));
    }
    all.sort();
    let count = all.len();
    for (line, column, is_loop, value) in all.into_iter().rev() {
        let text = &mut lines[line];
        let rest = &text[column..];
        if !is_loop {
            text.insert_str(column, &format!("CHECK({value}); "));
        } else if rest.starts_with("while (") {
            text.insert_str(column + 7, &format!("CHECK({value}), "));
        } else {
            assert!(rest.starts_with("for ("), "{rest}");
            let first = column + rest.find(';').unwrap() + 1;
            text.insert_str(first, &format!("CHECK({value}), "));
        }
    }
    let body = lines.join("\n");
    let native = format!(
        "#include <stdio.h>\n#include <stdlib.h>\n\
         static unsigned long long seed; static unsigned fuel = 20000;\n\
         static unsigned any(void) {{ seed = seed * 6364136223846793005ull + 1442695040888963407ull;\n\
         unsigned r = seed >> 33; return r & 1 ? r >> 1 : r >> 1 & 15; }}\n\
         #define CHECK(c) ((c) ? fuel-- == 0 ? exit(0) : (void)0 : (fprintf(stderr, \"%s\\n\", #c), exit(2)))\n\
         #define __VERIFIER_nondet_int() ((int)any())\n\
         #define __VERIFIER_nondet_uchar() ((unsigned char)any())\n\
         #define __VERIFIER_nondet_bool() (any() >> 2 & 1)\n\
         #define __VERIFIER_assume(c) ((c) ? fuel-- == 0 ? exit(0) : (void)0 : exit(0))\n\
         #define reach_error() exit(7)\n\
         __attribute__((constructor)) static void start(int n, char **args) {{ seed = atoi(args[1]); any(); }}\n\
         #line 1\n{body}\n"
    );
    (native, count)
}

#[test]
fn invariants_hold_natively() {
    let tasks = [
        // A counter and its parity; a variable of an inner block with the name of an outer one.
        "int g;\nint main(void)\n{\n  unsigned n = 0;\n  int x = 5;\n\
         while (__VERIFIER_nondet_bool()) {\n    int x = __VERIFIER_nondet_int();\n    if (x == 3) {\n      n += 2;\n\
         }\n    g = n & 7;\n  }\n  if (n & 1 || x != 5) {\n    reach_error();\n  }\n  return 0;\n}\n",
        // One loop, three calls: what holds in one holds not in all.
        "int limit(int top)\n{\n  int i;\n  for (i = 0; i < top; i++) {\n    if (__VERIFIER_nondet_bool()) {\n\
         break;\n    }\n  }\n  return i;\n}\n\
         int main(void)\n{\n  int a = limit(3);\n  int b = limit(12);\n  int c = limit(a);\n\
         if (a > 3 || b > 12 || c > a) {\n    reach_error();\n  }\n  return 0;\n}\n",
        // A machine with a queue, in a struct, and a do loop.
        "struct { unsigned char head; unsigned char used; int slot[4]; } q;\nint main(void)\n{\n  int e;\n  do {\n\
         e = __VERIFIER_nondet_int();\n    if (e == 1 && q.used < 4) {\n\
         q.slot[(q.head + q.used) & 3] = 7;\n      q.used++;\n    }\n    if (e == 2 && q.used > 0) {\n\
         if (q.slot[q.head] != 7) {\n        reach_error();\n      }\n      q.slot[q.head] = 0;\n\
         q.head = (q.head + 1) & 3;\n      q.used--;\n    }\n  } while (__VERIFIER_nondet_bool());\n  return 0;\n}\n",
        // A loop made of jumps, an enumeration, signed numbers.
        "enum mode { OFF, ON = 4, DONE = 9 };\nint main(void)\n{\n  enum mode m = OFF;\n  int low = 0;\n\
         again:\n  if (m == OFF && __VERIFIER_nondet_bool()) {\n    m = ON;\n    low = -3;\n  }\n\
         else if (m == ON && low < 0) {\n    low++;\n  }\n  else if (m == ON) {\n    m = DONE;\n  }\n\
         if (m == DONE && low != 0 || low > 0 || low < -3) {\n    reach_error();\n  }\n  goto again;\n}\n",
        // Recursion: variables of other depths have no names.
        "int f(int n)\n{\n  int s = 0;\n  while (s < n) {\n    s++;\n  }\n  if (n > 0) {\n    s = f(n - 1) + 1;\n  }\n\
         return s;\n}\nint main(void)\n{\n  int n = __VERIFIER_nondet_int();\n  __VERIFIER_assume(n >= 0);\n\
         __VERIFIER_assume(n < 4);\n  if (f(n) != n) {\n    reach_error();\n  }\n  return 0;\n}\n",
    ];
    let folder = tempfile::tempdir().unwrap();
    for (i, text) in tasks.into_iter().enumerate() {
        let entry = witness(folder.path(), text, 0);
        assert_eq!(entry["entry_type"], "invariant_set");
        let (native, count) = instrumented(&entry, &format!("{PROTOTYPES}{text}"));
        // Of a recursive function, all depths have to say something of the same place.
        let is_recursive = text.contains("f(n - 1)");
        assert!(count > 0 || is_recursive, "nothing is said of program {i}");
        let Some(binary) = compile(folder.path(), &native) else { return };
        for seed in 0..100 {
            let seed = seed.to_string();
            let run = run(&binary, &[&seed]);
            let said = String::from_utf8_lossy(&run.stderr);
            assert_eq!(run.status.code(), Some(0), "program {i}, seed {seed}: {said}\n{native}");
        }
    }
}

#[test]
fn what_witnesses_cannot_speak_of_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let (file, out) = (folder.path().join("step.c"), folder.path().join("step.yml"));
    std::fs::write(&file, "int n; void step(void) { n = 1; }\n").unwrap();
    let run = Command::new(env!("CARGO_BIN_EXE_vouch"))
        .arg("check")
        .arg(&file)
        .args(["--entry", "step", "--loop", "--witness"])
        .arg(&out)
        .output()
        .unwrap();
    assert!(!out.exists());
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.code() == Some(2) && said.contains("start in `main`"), "{run:?}");
}
