//! C programs through the whole tool: verdicts, and counterexamples that gcc's program runs into.

use crate::place::Place;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn examples() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/c")
}

fn vouch(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vouch")).args(args).output().unwrap()
}

/// The flags that an example says it is to be checked with.
fn flags(file: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(file).unwrap();
    let line = text.lines().find(|l| l.contains("vouch check examples/c/")).unwrap();
    line.split_whitespace().skip(4).map(String::from).collect()
}

fn check(file: &Path, more: &[&str]) -> Output {
    let flags = flags(file);
    let mut args = vec!["check", file.to_str().unwrap(), "--timeout", "120"];
    args.extend(flags.iter().map(String::as_str));
    args.extend(more);
    vouch(&args)
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(examples()).unwrap().map(|e| e.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "c"));
    files.sort();
    assert!(files.len() >= 12);
    files
}

fn is_broken(file: &Path) -> bool {
    file.to_str().unwrap().ends_with("-broken.c")
}

#[test]
fn good_examples_are_safe() {
    for file in files().iter().filter(|f| !is_broken(f)) {
        let output = check(file, &[]);
        assert_eq!(output.status.code(), Some(0), "{}: {output:?}", file.display());
    }
}

/// Compiles and runs the program that `--harness` wrote, as it says itself, but for 32 bits, which need not be installed. `None`: there is no gcc.
fn run_harness(program: &Path) -> Option<Output> {
    if Command::new("gcc").arg("--version").output().is_err() {
        eprintln!("skipped: there is no gcc");
        return None;
    }
    let text = std::fs::read_to_string(program).unwrap();
    let command = text.lines().find(|line| line.contains("gcc ")).unwrap();
    let command = command.trim_start_matches(" *").replace(" -m32", "");
    let mut shell = Command::new("sh");
    let run = shell.current_dir(program.parent().unwrap()).args(["-c", &command]).output().unwrap();
    let said = String::from_utf8_lossy(&run.stderr);
    assert!(
        !said.contains(": error:") && !said.contains("undefined reference"),
        "{command}\n{said}"
    );
    Some(run)
}

#[test]
fn broken_examples_break_and_gcc_agrees() {
    let folder = tempfile::tempdir().unwrap();
    for file in files().iter().filter(|f| is_broken(f)) {
        let program = folder.path().join(file.file_name().unwrap());
        let output = check(file, &["--harness", program.to_str().unwrap()]);
        assert_eq!(output.status.code(), Some(1), "{}: {output:?}", file.display());
        let Some(run) = run_harness(&program) else { continue };
        assert_eq!(run.status.code(), Some(1), "{}: {run:?}", file.display());
    }
}

/// A task, with what `check` says and what its harness does.
fn task(text: &str, more: &[&str]) -> (Option<i32>, String, Option<Output>) {
    let folder = tempfile::tempdir().unwrap();
    let (file, program) = (folder.path().join("task.c"), folder.path().join("fail.c"));
    std::fs::write(&file, text).unwrap();
    let mut args = vec!["check", file.to_str().unwrap(), "--harness", program.to_str().unwrap()];
    args.extend(more);
    let output = vouch(&args);
    let said = String::from_utf8_lossy(&output.stdout).into_owned()
        + &String::from_utf8_lossy(&output.stderr);
    let run = program.exists().then(|| run_harness(&program)).flatten();
    (output.status.code(), said, run)
}

const TASK: &str = "extern int __VERIFIER_nondet_int(void);\n\
    extern _Bool __VERIFIER_nondet_bool(void);\n\
    extern void __VERIFIER_assume(int);\nextern void reach_error(void);\n";

#[test]
fn a_run_gives_each_call_its_value() {
    let main = "int main(void) { int n = 0; unsigned char x = __VERIFIER_nondet_int();\n\
        __VERIFIER_assume(x < 10);\n\
        while (x > 3 && __VERIFIER_nondet_bool() && __VERIFIER_nondet_int() == 7 + x) { n++; x++; }\n\
        if (n == 3 && x == 8) reach_error(); return 0; }";
    let (code, said, run) = task(&format!("{TASK}{main}"), &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)));
}

/// Pointers are shown by what they point to, past the last element of an array, too; files of runs are read with these names.
#[test]
fn pointers_have_the_names_of_what_they_point_to() {
    let text = "#include <assert.h>\nchar buffer[4]; struct { int a; char *name; } s;\n\
        char *p = buffer; char **q = &s.name;\n\
        void step(void) { p++; if (p == buffer + 4) q = 0; assert(q); }\n";
    let place = Place::new(&[("p.c", text)]);
    let args = ["check", "p.c", "--entry", "step", "--loop"];
    let run = place.run(&[&args[..], &["--trace", "p.trace"]].concat()).ended(1).out;
    for part in ["p = &buffer,", "q = &s.name", "&buffer → &buffer[1]", "&buffer[3] → &buffer[4]"]
    {
        assert!(run.contains(part), "{part}: {run}");
    }
    place.run(&["replay", "p.c", "p.trace", "--entry", "step", "--loop"]).ended(1);
    // If the parts are too many, only whole objects have names.
    let many = text.replace("buffer[4]", "buffer[100]").replace("+ 4", "+ 2");
    place.write("p.c", &many);
    let run = place.run(&args).ended(1).out;
    assert!(run.contains("p: &buffer → 40"), "{run}");
}

/// What the first engine does not decide soon goes to others. This one needs `items - 3 * boxes`, a predicate on whole words.
#[test]
fn engines_take_turns() {
    let text = "unsigned vouch_input_u32(void);\n#include \"vouch.h\"\n\
        int main(void) { unsigned boxes = 0, items = 5, big = vouch_input_u32();\n\
        while (vouch_input_u32()) { if (big) items += 6; else { items += 3; boxes += 1; } }\n\
        if (boxes != 0) VOUCH_ASSERT(items == 3 * boxes + 5); return 0; }";
    let place = Place::new(&[("boxes.c", text)]);
    let args = ["check", "boxes.c", "--timeout", "60", "--certificate", "boxes.cert", "--json"];
    let json = place.run(&args).ended(0).json();
    assert_eq!(json["engine"], "ic3-cegar");
    place.run(&["certify", "boxes.c", "boxes.cert"]).ended(0);
    // With passes of the user's own there are no predicates, and with a memory it is the engine that a device has.
    for (more, engine) in
        [(["--passes", "default"], "ic3cfa-eager"), (["--memory", "1M"], "ic3cfa")]
    {
        let args = ["check", "boxes.c", "--timeout", "2", "--json"];
        let json = place.run(&[&args[..], &more].concat()).ended(3).json();
        assert_eq!(json["engine"], engine);
    }
}

/// Tasks are called in any order after what is called first; a trace and a harness say which.
#[test]
fn tasks_are_called_in_any_order() {
    let text = "#include \"vouch.h\"\n#ifndef LIMIT\n#define LIMIT 10\n#endif\nstatic int ready, x;\n\
        void setup(void) { ready = 1; }\n\
        void up(unsigned char by) { VOUCH_ASSERT_NAMED(\"ready\", ready); if (x < 10) x += by & 3; }\n\
        void down(void) { if (x > 10) x = 0; VOUCH_ASSERT_NAMED(\"small\", x < LIMIT); }\n\
        int main(void) { return x; }\n";
    let tasks = ["--init", "setup", "--task", "up", "--task", "down"];
    let (code, said, _) = task(text, &[&tasks[..], &["-D", "LIMIT=11"]].concat());
    assert_eq!(code, Some(0), "{said}");
    let (code, said, run) = task(text, &tasks);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("task up") && said.contains("task down"), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)));
    // Without it, nobody is ready.
    let (code, said, _) = task(text, &[&tasks[2..], &["-D", "LIMIT=11"]].concat());
    assert_eq!(code, Some(1), "{said}");
    let (code, said, _) = task(text, &["--task", "up", "--task", "left", "-D", "LIMIT=1"]);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("there is no function `left` to run") && said.contains("`--task`"),
        "{said}"
    );
    // What the library brings along is not what one would run.
    let (_, said, _) = task("#include <stdlib.h>\nvoid up(void) { }\n", &["--entry", "left"]);
    assert!(said.contains("name one with `--entry`; there are up\n"), "{said}");
}

/// Whether a local of what it interrupts is there, a handler does not know.
#[test]
fn a_handler_that_follows_a_pointer_to_a_local() {
    let text = "int *volatile done_at;\n\
        void irq(void) { if (done_at) *done_at = 1; }\n\
        int main(void) { volatile int done = 0; done_at = (int *)&done;\n\
        for (int i = 0; i < 2 && !done; i++) ; done_at = 0; return 0; }\n";
    for checks in [&["--checks", "all"][..], &[]] {
        let (code, said, _) = task(text, &[&["--interrupt", "irq"], checks].concat());
        assert_eq!(code, Some(3), "{said}");
        assert!(!said.contains("unsafe"), "{said}");
    }
}

/// Markers are for machine code; that they mean nothing here is told.
#[test]
fn markers_of_properties_are_warned_of() {
    let text = "#include \"vouch.h\"\nint n; int ok(void) { return n < 3; }\nVOUCH_ALWAYS(ok);\n\
        VOUCH_ANY(n);\nint main(void) { n++; return 0; }\n";
    let (code, said, _) = task(text, &[]);
    assert_eq!(code, Some(0), "{said}");
    for marker in ["VOUCH_ALWAYS", "VOUCH_ANY"] {
        assert!(said.contains(&format!("`{marker}` means nothing")), "{said}");
    }
}

/// A call whose value does not matter is still a call: the next one gets the next value.
#[test]
fn a_run_counts_calls_that_do_not_matter() {
    let main = "int main(void) { __VERIFIER_nondet_int(); int x = __VERIFIER_nondet_int();\n\
        if (x == 7) reach_error(); return 0; }";
    let (code, said, run) = task(&format!("{TASK}{main}"), &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)));
}

/// What a source only declares is there in the program: registers, which show their values read by read,
/// functions without a result, and those that the run does not call.
#[test]
fn a_harness_defines_what_is_only_declared() {
    let text = "#include \"vouch.h\"\nextern volatile unsigned short ADC, OUT, MODE; extern int spare;\n\
        void led(int); int pin(void); void never(void);\n\
        static int n; void off(void) { never(); spare = 1; }\n\
        void step(void) { led(1); OUT = 3; MODE = 1; if (ADC == 700) n++; if (pin() == 3 && MODE == 5) n++;\n\
        MODE = 2; OUT |= 1; VOUCH_ASSERT_NAMED(\"high\", n < 1000); VOUCH_ASSERT_NAMED(\"few\", n < 3);\n\
        if (n > 4) off(); }\n";
    let (code, said, run) =
        task(text, &["--entry", "step", "--loop", "--property", "few", "--timeout", "60"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)));
}

/// The program shows the property that it was written for, and continues after others.
#[test]
fn a_harness_ends_where_its_own_property_is_broken() {
    let text = "#include \"vouch.h\"\nstatic int n;\nvoid step(void) { n++;\n\
        VOUCH_ASSERT(n < 2);\nVOUCH_ASSERT_NAMED(\"late\", n < 5); }\n";
    let (code, said, run) = task(text, &["--entry", "step", "--loop", "--property", "late"]);
    assert_eq!(code, Some(1), "{said}");
    let Some(run) = run else { return };
    let said = String::from_utf8_lossy(&run.stderr);
    assert_eq!(run.status.code(), Some(1));
    assert!(said.ends_with("assert_4 is broken\nthe property is broken\n"), "{said}");
}

/// What only a sanitizer sees is compiled with one; the program says how.
#[test]
fn a_harness_says_how_it_is_compiled() {
    let text = "#include <stdint.h>\nunsigned char a[LENGTH]; unsigned i;\n\
        void step(unsigned char x) { a[i] = x; i++; }\n";
    let flags = ["--entry", "step", "--loop", "--checks", "bounds", "-D", "LENGTH=2 + 2"];
    let (code, said, run) = task(text, &flags);
    assert_eq!(code, Some(1), "{said}");
    let Some(run) = run else { return };
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    // Without the sanitizers' libraries there is nothing to see.
    if !said.contains("cannot find") && !said.contains("not found") {
        assert_eq!(run.status.code(), Some(1), "{said}");
        assert!(said.contains("runtime error") || said.contains("overflow"), "{said}");
    }
}

/// The data model may be that of a compile command.
#[test]
fn a_harness_has_the_types_of_the_compile_command() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let (source, database, program) = (path("a.c"), path("compile_commands.json"), path("fail.c"));
    let text = "extern void reach_error(void); char c;\nint main(void) { c = -1; if (c > 0) reach_error(); return 0; }\n";
    std::fs::write(&source, text).unwrap();
    let entry = format!(
        "[{{\"directory\": {:?}, \"file\": \"a.c\", \"command\": \"arm-none-eabi-gcc -mcpu=cortex-m4 -c a.c\"}}]",
        folder.path()
    );
    std::fs::write(&database, entry).unwrap();
    let args =
        ["check", source.to_str().unwrap(), "--compile-commands", database.to_str().unwrap()];
    let output = vouch(&[&args[..], &["--harness", program.to_str().unwrap()]].concat());
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = std::fs::read_to_string(&program).unwrap();
    assert!(text.contains("-m32") && text.contains("-funsigned-char -fshort-enums"), "{text}");
    let Some(run) = run_harness(&program) else { return };
    assert_eq!(run.status.code(), Some(1), "{run:?}");
}

/// A run of many steps in which inputs stay the same.
#[test]
fn a_harness_repeats_inputs_of_a_long_run() {
    let text = format!(
        "{TASK}int main(void) {{ unsigned n = __VERIFIER_nondet_int(), sum = 0;\n\
         for (unsigned i = 0; i < 300000; i++) sum += n;\nif (sum == 300000) reach_error(); return 0; }}"
    );
    let (code, said, run) = task(&text, &["--engine", "execute"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)));
}

/// A `main` that takes numbers is called with those of the run.
#[test]
fn a_harness_calls_main_with_its_arguments() {
    let text =
        format!("{TASK}void main(int n, short m) {{ if (n == 77 && m == -5) reach_error(); }}");
    let (code, said, run) = task(&text, &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)));
}

/// Faults are seen without a sanitizer.
#[test]
fn a_harness_notices_faults() {
    for (text, check) in [
        ("int *p; void step(int n) { if (n == 3) *p = 1; }\n", "null"),
        ("int q; void step(int n) { q = 10 / (n - 3); }\n", "div"),
    ] {
        let (code, said, run) = task(text, &["--entry", "step", "--checks", check]);
        assert_eq!(code, Some(1), "{said}");
        assert!(run.is_none_or(|run| run.status.code() == Some(1)), "{check}");
    }
}

/// Registers at fixed addresses show their values read by read, keep them, or clear them; parameters and floating-point
/// numbers have those of the run.
#[test]
fn a_harness_shows_devices_and_numbers() {
    let folder = tempfile::tempdir().unwrap();
    let registers = folder.path().join("registers.txt");
    let description = "UART.OUT 0x40004004 32 keeps 7\nUART.FLAGS 0x40004008 32 clears 5\n";
    std::fs::write(&registers, description).unwrap();
    let text = "#include \"vouch.h\"\n#include <stdint.h>\n\
        struct uart { volatile uint32_t in, out, flags; volatile uint8_t mode; };\n\
        #define UART ((struct uart *)0x40004000)\n#define LED (*(volatile uint16_t *)0x50000010)\n\
        VOUCH_PARAM(1, 9) const uint8_t limit = 2;\nVOUCH_STEP(step);\nfloat gain(void);\n\
        static unsigned n; static float level;\nvoid step(double x, short y) {\n\
        LED = 3; LED ^= 1; if (UART->in == 77 && UART->in == 78 && UART->mode == 9) n++;\n\
        if (UART->flags == 5 && UART->flags == 0 && UART->out == 7) { UART->out = 8; n++; }\n\
        if (UART->out == 8 && x > 1.5 && gain() == 0.25f && y == -3) n++;\n\
        VOUCH_INPUT(level); if (level < -2.0f && limit == 6) n++;\n\
        VOUCH_ASSERT_NAMED(\"few\", n < 7); }\n";
    let described = registers.to_str().unwrap();
    let flags = ["--entry", "step", "--loop", "--registers", described, "--timeout", "60"];
    let (code, said, run) = task(text, &flags);
    assert_eq!(code, Some(1), "{said}");
    let Some(run) = run else { return };
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.code() == Some(1) && said.contains("the property is broken"), "{said}");
}

/// What functions that are declared only have changed is what it was in the run: variables of their callers, parts of
/// them, and those that they know by their names.
/// The moment at which an interrupt comes is found again in the compiled program, between the instructions of a statement, in
/// another handler, in a loop that never ends, at the end, and only where interrupts are enabled.
#[test]
fn a_harness_finds_when_interrupts_come() {
    let both = "#include \"vouch.h\"\nvoid __disable_irq(void); void __enable_irq(void); void __set_BASEPRI(unsigned);\n\
        static volatile unsigned char count, seen;\nvoid tick(void) { count++; seen++; }\n";
    let step = "void step(void) { count++; __disable_irq(); seen++;\n\
        VOUCH_ASSERT_NAMED(\"none_lost\", count == seen); __enable_irq(); }\n";
    let looped = &["--entry", "step", "--loop", "--interrupt", "tick:2"][..];
    let priorities = [looped, &["--interrupt", "urgent:1"]].concat();
    let tasks = [&["--task", "other"], looped].concat();
    let whole = &["--interrupt", "tick"][..];
    let cases: [(&str, &[&str]); 8] = [
        (step, looped),
        (
            "void step(void) { seen++; __set_BASEPRI(2); count++; __set_BASEPRI(0); int s = seen;\n\
          VOUCH_ASSERT_NAMED(\"near\", s == count); }",
            looped,
        ),
        (
            "void urgent(void) { VOUCH_ASSERT_NAMED(\"even\", count == seen); } void step(void) {}",
            &priorities,
        ),
        (
            "static volatile int turn; void other(void) { turn = 1; } void step(void) { if (turn) { turn = 0; count++; } \n\
          VOUCH_ASSERT_NAMED(\"few\", count < 2 || seen < 3); }",
            &tasks,
        ),
        (
            "int main(void) { int before = count; int after = count; VOUCH_ASSERT(after != before + 1); return 0; }",
            whole,
        ),
        (
            "static volatile int armed; int main(void) { armed = 1; for (;;) ; }\n\
          void late(void) { VOUCH_ASSERT_NAMED(\"unarmed\", !armed); }",
            &["--interrupt", "late"],
        ),
        (
            "static volatile int armed; int main(void) { __disable_irq(); armed = 1; armed = 2; __enable_irq(); return 0; }\n\
          void late(void) { VOUCH_ASSERT_NAMED(\"unarmed\", armed != 2); }",
            &["--interrupt", "late"],
        ),
        (
            "int table[4]; void step(void) { int i = count & 3; i += count & 3; table[i] = 1; }",
            looped,
        ),
    ];
    for (program, args) in cases {
        let checks = ["--checks", "all"];
        let args =
            [args, &["--timeout", "60"], if program.contains("table") { &checks } else { &[] }]
                .concat();
        let (code, said, run) = task(&format!("{both}{program}"), &args);
        assert_eq!(code, Some(1), "{program}\n{said}");
        assert!(run.is_none_or(|run| run.status.code() == Some(1)), "{program}\n{said}");
    }
    // Nothing comes where interrupts are disabled, so nothing is broken: there is no such program.
    let masked = step.replacen("count++; __disable_irq();", "__disable_irq(); count++;", 1);
    let (code, said, run) = task(&format!("{both}{masked}"), looped);
    assert_eq!((code, run.is_none()), (Some(0), true), "{said}");
}

/// Instructions of the processor that the program is written for, as CMSIS and FreeRTOS have them in assembly.
#[test]
fn a_harness_understands_assembly_of_other_processors() {
    let both = "#include \"vouch.h\"\n#include <stdint.h>\nstatic volatile unsigned char count, seen;\nvoid tick(void) { count++; seen++; }\n\
        static inline uint32_t mask(void) { uint32_t was; __asm volatile (\"MRS %0, primask\" : \"=r\" (was)); __asm volatile (\"cpsid i\" : : : \"memory\"); return was; }\n\
        static inline void put(uint32_t to) { __asm volatile (\"MSR primask, %0\" : : \"r\" (to) : \"memory\"); }\n\
        static inline void raise(void) { uint32_t to; __asm volatile (\" mov %0, %1 \\n msr basepri, %0 \\n isb \\n dsb \\n\" : \"=r\" (to) : \"i\" (32) : \"memory\"); }\n\
        static inline void lower(void) { __asm volatile (\" msr basepri, %0 \" : : \"r\" (0) : \"memory\"); }\n";
    let looped = &["--entry", "step", "--loop", "--timeout", "60", "--interrupt", "tick:32"][..];
    let unmasked = "void step(void) { count++; uint32_t was = mask(); seen++;\n\
        VOUCH_ASSERT_NAMED(\"none_lost\", count == seen); put(was); __asm volatile (\"wfi; dsb 0xf\"); }\n";
    let raised = "void step(void) { seen++; raise(); count++; lower(); int s = seen; VOUCH_ASSERT_NAMED(\"near\", s == count); }";
    // Interrupts come where assembly enables them, and registers keep what they held.
    let enabled = "void step(void) { double half = count; __asm volatile (\"cpsid i\"); seen = count; __asm volatile (\"cpsie i\"); int s = seen;\n\
        VOUCH_ASSERT_NAMED(\"same\", half != count || s == count); VOUCH_ASSERT_NAMED(\"few\", half < 9); }";
    for program in [unmasked, raised, enabled] {
        let (code, said, run) = task(&format!("{both}{program}"), looped);
        assert_eq!(code, Some(1), "{program}\n{said}");
        assert!(run.is_none_or(|run| run.status.code() == Some(1)), "{program}\n{said}");
    }
    let masked =
        unmasked.replacen("count++; uint32_t was = mask();", "uint32_t was = mask(); count++;", 1);
    let (code, said, _) = task(&format!("{both}{masked}"), looped);
    assert_eq!(code, Some(0), "{said}");
    // Without a handler, too; and what only a run that nobody makes would need is no obstacle.
    let alone = format!("{both}uint32_t unused(uint32_t *at) {{ uint32_t x; __asm volatile (\"ldrex %0, [%1]\" : \"=r\" (x) : \"r\" (at)); return x; }}\n{unmasked}")
        .replace("count++; uint32_t", "count += 2; seen++; uint32_t");
    let (code, said, run) = task(&alone, &["--entry", "step", "--loop"]);
    assert_eq!(
        (code, run.is_none_or(|run| run.status.code() == Some(1))),
        (Some(0), true),
        "{said}"
    );
    let broken = alone.replace("seen++; uint32_t", "uint32_t");
    let (code, said, run) = task(&broken, &["--entry", "step", "--loop"]);
    assert_eq!(
        (code, run.is_none_or(|run| run.status.code() == Some(1))),
        (Some(1), true),
        "{said}"
    );
    // What an assembler for PCs cannot know.
    for (instruction, why) in [("mov %0, #3", "`#`"), ("ldrexb %0, [%1]", "exclusive access")] {
        let odd = format!("asm volatile (\"{instruction}\" : \"=r\" (x) : \"r\" (&count)); ");
        let odd = unmasked.replacen("count++;", &format!("uint32_t x; {odd} count++;"), 1);
        let (_, said, run) = task(&format!("{both}{odd}"), looped);
        assert!(said.contains(why) && run.is_none(), "{said}");
    }
}

/// Exclusive accesses by their names in CMSIS: a store stores unless a handler has come since the load.
#[test]
fn a_harness_has_exclusive_accesses() {
    let text = "#include \"vouch.h\"\n#include <stdint.h>\nstatic volatile uint32_t tickets; static volatile uint8_t mine, retried;\n\
        void tick(void) { uint32_t x; do { x = __LDREXW(&tickets); } while (__STREXW(x + 1, &tickets)); }\n\
        void step(void) { uint32_t x; uint8_t tries = 0; do { x = __LDREXW(&tickets); tries++; __DMB(); } while (tries < 3 && __STREXW(x + 1, &tickets));\n\
        if (tries == 2 && x == 1) retried = 1;\nVOUCH_ASSERT_NAMED(\"never_twice\", !retried); }\n";
    let (code, said, run) = task(text, &["--entry", "step", "--loop", "--interrupt", "tick"]);
    assert_eq!(code, Some(1), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)), "{said}");
}

#[test]
fn a_harness_changes_what_declared_functions_change() {
    let text = "#include \"vouch.h\"\n#include <stdint.h>\nstruct sample { uint8_t kind: 3, on: 1; int16_t value[3]; };\n\
        extern int mode; int mode; static struct { int before; struct sample last; } kept;\n\
        int read(int channel, struct sample *to); void fill(double x, uint8_t *at, unsigned n); void turn(void);\n\
        void step(void) { struct sample now; uint8_t text[4]; static int n;\n\
        if (read(3, &now) == 5 && now.kind == 6 && now.on && now.value[2] == -300) n++;\n\
        fill(1.5, text + 1, 3); if (text[0] == 1 && text[3] == 7) n++;\n\
        read(4, &kept.last); if (kept.last.value[1] == 77 && kept.before == 9) n++;\n\
        turn(); if (mode == 12345) n++;\nVOUCH_ASSERT_NAMED(\"few\", n < 7); }\n";
    let (code, said, run) = task(text, &["--entry", "step", "--loop", "--timeout", "60"]);
    assert_eq!(code, Some(1), "{said}");
    let Some(run) = run else { return };
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.code() == Some(1) && said.contains("the property is broken"), "{said}");
}

/// Several files, each with its own static functions, of which the one with the entry is not the first.
#[test]
fn a_harness_is_made_of_several_files() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_string()
    };
    let first = file(
        "first.c",
        "#include \"vouch.h\"\nextern volatile unsigned char PIN; int sensor(void);\nstatic int n; static int more(void) { return 1; }\n\
         int count(void) { if (PIN == 4) n += more(); VOUCH_ASSERT(sensor() != 9 || n < 3);\nreturn n; }\n",
    );
    let second = file(
        "second.c",
        "#include \"vouch.h\"\n#include \"second.h\"\nstatic int more(void) { return SCALE; }\n\
         int scale;\nstatic void step(int x) { int n = count() * more();\nif (x == 5) VOUCH_ASSERT_NAMED(\"few\", n < 8);\n\
         if (n) VOUCH_ASSERT_NAMED(\"scaled\", scale != 3); }\nvoid (*const table[])(int) = { step };\n",
    );
    std::fs::create_dir(folder.path().join("include")).unwrap();
    file("include/second.h", "int count(void);\n#define SCALE 2\n");
    let include = folder.path().join("include");
    let (include, program) = (include.to_str().unwrap(), folder.path().join("fail.c"));
    for property in ["few", "assert_4"] {
        let mut args = vec!["check", &first, &second, "-I", include, "--entry", "step", "--loop"];
        args.extend(["--property", property, "--harness", program.to_str().unwrap()]);
        let output = vouch(&args);
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let Some(run) = run_harness(&program) else { return };
        let said = String::from_utf8_lossy(&run.stderr).into_owned();
        assert!(run.status.code() == Some(1) && said.contains("the property is broken"), "{said}");
    }
    let broken = file(
        "third.c",
        "extern int scale;\nstatic void before(void) { scale = 3; }\nstatic int more(void) { return 0; }\nint third(void) { before(); return more(); }\n",
    );
    // What is called from outside may be static in another file, where another function has the name, too.
    let args =
        ["check", &second, &first, &broken, "-I", include, "--entry", "step", "--init", "before"];
    let output = vouch(
        &[&args[..], &["--loop", "--property", "scaled", "--harness", program.to_str().unwrap()]]
            .concat(),
    );
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let Some(run) = run_harness(&program) else { return };
    let said = String::from_utf8_lossy(&run.stderr).into_owned();
    assert!(run.status.code() == Some(1) && said.contains("the property is broken"), "{said}");
}

/// Recursion is followed deeper as long as nothing is decided.
#[test]
fn recursion_is_followed_deeper() {
    let f = "int f(unsigned char n) { return n == 0 ? 0 : 1 + f(n - 1); }\n";
    let main = |wrong: &str| {
        format!(
            "{TASK}{f}int main(void) {{ unsigned char n = __VERIFIER_nondet_int();\n\
             __VERIFIER_assume(n <= 12); if (f(n) {wrong}) reach_error(); return 0; }}"
        )
    };
    assert_eq!(task(&main("!= n"), &[]).0, Some(0));
    assert_eq!(task(&main("== 11"), &[]).0, Some(1));
    assert_eq!(task(&main("== 2"), &[]).0, Some(1));
}

#[test]
fn a_length_is_what_it_was_at_the_declaration() {
    let main = |change: &str, wrong: &str| {
        format!(
            "{TASK}int size = 3;\nint main(void) {{ int n = 2; char a[size + n];\n\
             {change} a[4] = 1; if (sizeof a {wrong}) reach_error(); return 0; }}"
        )
    };
    let changes = ["", "n = 2;", "n++;", "--size;", "int *p = &n; *p = 9;", "++(n);", "size += 0;"];
    for change in changes {
        for (wrong, expected) in [("!= 5", 0), ("== 5", 1)] {
            let (code, said, _) = task(&main(change, wrong), &[]);
            assert_eq!(code, Some(expected), "{change} {wrong}: {said}");
        }
    }
}

#[test]
fn what_is_beyond_a_limit_is_unknown_and_never_safe() {
    let f = "int f(unsigned char n) { return n == 0 ? 0 : 1 + f(n - 1); }\n";
    let main = |bound: u32| {
        format!(
            "{TASK}{f}int main(void) {{ unsigned char n = __VERIFIER_nondet_int();\n\
             __VERIFIER_assume(n <= {bound}); if (f(n) != n) reach_error(); return 0; }}"
        )
    };
    assert_eq!(task(&main(3), &["--recursion", "3"]).0, Some(0));
    let (code, said, _) = task(&main(3), &["--recursion", "2"]);
    assert!(code == Some(3) && said.contains("recursion_limit"), "{said}");
    // Also when only another property is asked about.
    let ask = ["--recursion", "2", "--property", "reach_error"];
    assert_eq!(task(&main(3), &ask).0, Some(3));
    let outside = format!(
        "{TASK}int a[4]; int main(void) {{ int i = __VERIFIER_nondet_int(); a[i & 7] = 1; return 0; }}"
    );
    assert_eq!(task(&outside, &[]).0, Some(3));
    assert_eq!(task(&outside, &["--checks", "bounds"]).0, Some(1));
}

#[test]
fn parameters_are_bound() {
    let text = "#include \"vouch.h\"\nVOUCH_PARAM(1, 9) const int limit = 5; int n;\n\
        void step(void) { if (n < limit) n++; VOUCH_ASSERT_NAMED(\"few\", n <= 5); }\n";
    let step = ["--entry", "step", "--loop"];
    let with = |bind: &str| task(text, &[&step[..], &["--bind", bind][..]].concat()).0;
    assert_eq!(task(text, &step).0, Some(1));
    assert_eq!([with("limit=5"), with("limit=6"), with("limit=10")], [Some(0), Some(1), Some(2)]);
}

#[test]
fn errors_name_the_place_in_the_file() {
    let text =
        "#include <stdint.h>\n#define HALF 0.5L\n\nint main(void)\n{\n    return HALF * 2;\n}\n";
    let (code, said, _) = task(text, &[]);
    assert_eq!(code, Some(2));
    assert!(said.contains("task.c:6:") && said.contains("floating-point"), "{said}");
}

#[test]
fn a_heap_is_proved_and_refuted() {
    let list = |wrong: &str| {
        format!(
            "{TASK}void *malloc(unsigned long); void free(void *);\n\
             struct node {{ int value; struct node *next; }};\n\
             int main(void) {{ struct node *head = 0; int n = __VERIFIER_nondet_int();\n\
             __VERIFIER_assume(n >= 0 && n <= 3);\n\
             for (int i = 0; i < n; i++) {{ struct node *p = malloc(sizeof *p);\n\
             p->value = i; p->next = head; head = p; }}\n\
             int count = 0; while (head) {{ struct node *next = head->next; free(head); count++; head = next; }}\n\
             if (count {wrong}) reach_error(); return 0; }}"
        )
    };
    assert_eq!(task(&list("!= n"), &["--checks", "bounds,null"]).0, Some(0));
    let (code, said, run) = task(&list("== 3"), &[]);
    assert_eq!(code, Some(1), "{said}");
    assert!(run.is_none_or(|run| run.status.code() == Some(1)));
    let (code, said, _) = task(&list("!= n"), &["--blocks", "2"]);
    assert!(code == Some(3) && said.contains("heap_limit") && said.contains("--blocks"), "{said}");
    // Whether the block is given out again or not, an old pointer is found out.
    let old = format!(
        "{TASK}void *malloc(unsigned long); void free(void *);\n\
         int main(void) {{ int *old = 0;\n\
         for (int i = 0; i < 2; i++) {{ int *p = malloc(4); *p = 1; if (old) *old = 2; free(p); old = p; }}\n\
         return 0; }}"
    );
    let (code, said, _) = task(&old, &["--checks", "bounds"]);
    assert!(code == Some(1) && said.contains("bounds"), "{said}");
}

#[test]
fn what_nothing_here_knows_is_never_said_to_break_anything() {
    let float = |claim: &str| {
        format!(
            "{TASK}float x; int main(void) {{ int n = __VERIFIER_nondet_int(); x = n % 100; \
             float y = x * 0.1f; if ({claim}) reach_error(); return 0; }}"
        )
    };
    assert_eq!(task(&float("x > 99"), &[]).0, Some(0));
    assert_eq!(task(&float("x == 99"), &[]).0, Some(1));
    assert_eq!(task(&float("y > 10"), &[]).0, Some(3));
    let large = |claim: &str| {
        format!(
            "{TASK}char a[50000]; int main(void) {{ unsigned i = __VERIFIER_nondet_int(); \
             if (i < sizeof a) {{ a[i] = 1; if ({claim}) reach_error(); }} return 0; }}"
        )
    };
    assert_eq!(task(&large("i == 50000"), &[]).0, Some(0));
    assert_eq!(task(&large("a[i] != 1"), &[]).0, Some(3));
    assert_eq!(task(&large("i == 49999"), &[]).0, Some(1));
}
