//! Handlers of interrupts that share statics with the step: what they do in between is found, and what they cannot
//! do is not.
#![cfg(unix)]

use std::path::{Path, PathBuf};
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::c::{COptions, Macro};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::judge::Question;
use vouch_host::pipeline;
use vouch_host::verdict::Verdict;
use vouch_tests::machine::programs;
use vouch_tests::rng::Rng;

const TARGETS: [&str; 3] =
    ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"];
/// The program with nothing in it but these functions.
fn mail(target: &str, level: &str, options: &ElfOptions, folder: &Path) -> PathBuf {
    let handlers = options.interrupts.iter().map(|handler| &handler.0);
    let all = options.entry.iter().chain(handlers).chain(&options.always);
    let keep: Vec<String> = all.map(|function| format!("-Clink-arg=-u{function}")).collect();
    let mut flags = vec![level];
    flags.extend(keep.iter().map(String::as_str));
    let file = options.entry.clone().unwrap_or_default();
    programs::rust_as("mail", &format!("{file}{level}"), target, &flags, folder)
}

fn options(entry: &str, handlers: &[(&str, u8)]) -> ElfOptions {
    let interrupts = handlers.iter().map(|(name, priority)| (name.to_string(), *priority));
    let interrupts = interrupts.collect();
    ElfOptions { entry: Some(entry.into()), interrupts, ..ElfOptions::default() }
}

fn verdict(elf: &Path, options: &ElfOptions) -> Verdict {
    checked(elf, &pipeline::Options { elf: options.clone(), ..pipeline::Options::default() })
}

fn checked(path: &Path, options: &pipeline::Options) -> Verdict {
    let model = pipeline::load(path, options).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    check::check(&model, &request, by, &mut |_| {}).unwrap().judgement.verdict()
}

#[test]
fn what_a_handler_shares_changes_only_while_it_is_enabled() {
    let folder = tempfile::tempdir().unwrap();
    for target in TARGETS {
        for level in ["-Copt-level=z", "-Copt-level=3"] {
            let check = |entry: &str, handlers: &[(&str, u8)], expected: Verdict| {
                let always = match entry {
                    "mail_step" | "torn_step" => vec!["mail_holds".to_string()],
                    _ => vec![],
                };
                let options = ElfOptions { always, ..options(entry, handlers) };
                let elf = mail(target, level, &options, folder.path());
                let found = verdict(&elf, &options);
                assert_eq!(found, expected, "{target} {level} {entry} {handlers:?}");
            };
            check("mail_step", &[("mail_handler", 0)], Verdict::Safe);
            check("torn_step", &[("mail_handler", 0)], Verdict::Unsafe);
            check("count_step", &[("low_handler", 64), ("high_handler", 64)], Verdict::Safe);
            // On RISC-V a handler runs with interrupts disabled.
            let nested = if target.starts_with("thumb") { Verdict::Unsafe } else { Verdict::Safe };
            check("count_step", &[("low_handler", 64), ("high_handler", 32)], nested);
            check("moment_step", &[("wrong_handler", 0)], Verdict::Safe);
            check("early_step", &[("wrong_handler", 0)], Verdict::Unsafe);
            check("wait_step", &[("ready_handler", 0)], Verdict::Safe);
        }
    }
}

#[test]
fn a_handler_that_is_not_named_is_missed() {
    let folder = tempfile::tempdir().unwrap();
    let all = options("mail_step", &[("mail_handler", 0)]);
    let elf = mail(TARGETS[0], "-Copt-level=z", &all, folder.path());
    let options = pipeline::Options { elf: options("mail_step", &[]), ..Default::default() };
    let error = pipeline::load(&elf, &options).unwrap_err().to_string();
    assert!(error.contains("used outside of the step"), "{error}");
    assert!(error.contains("--interrupt FUNCTION"), "{error}");
}

/// The same program as C and as what the compiler makes of it: the verdicts are the same.
#[test]
fn c_and_its_machine_code_agree() {
    let folder = tempfile::tempdir().unwrap();
    let one: &[(&str, u8)] = &[("handler", 0)];
    let equal: &[(&str, u8)] = &[("handler", 64), ("urgent", 64)];
    let nested: &[(&str, u8)] = &[("handler", 64), ("urgent", 32)];
    let above: &[(&str, u8)] = &[("handler", 64), ("urgent", 16)];
    let cases = [
        ("-DGUARD=1", one, Verdict::Safe),
        ("-DGUARD=2", one, Verdict::Safe),
        ("-DGUARD=0", one, Verdict::Unsafe),
        ("-DGUARD=1", equal, Verdict::Safe),
        ("-DGUARD=1", nested, Verdict::Unsafe),
        ("-DGUARD=3", equal, Verdict::Safe),
        ("-DGUARD=3", above, Verdict::Unsafe),
        ("-DGUARD=4", equal, Verdict::Safe),
        ("-DGUARD=4", above, Verdict::Unsafe),
    ];
    for (guard, handlers, expected) in cases {
        let options = options("step", handlers);
        let interrupts = options.interrupts.clone();
        let c = COptions {
            entry: "step".into(),
            repeat: true,
            macros: [guard.strip_prefix("-D").unwrap(), "vouch_fail=reach_error"]
                .map(|text| Macro::Define(text.into()))
                .to_vec(),
            interrupts,
            ..COptions::default()
        };
        let path = programs::source("shared.c");
        let c = pipeline::Options { c, ..pipeline::Options::default() };
        assert_eq!(checked(&path, &c), expected, "C {guard} {handlers:?}");
        for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
            // The smallest have no BASEPRI.
            if ["-DGUARD=3", "-DGUARD=4"].contains(&guard) && cpu == "-mcpu=cortex-m0" {
                continue;
            }
            for level in ["-O0", "-O2"] {
                let keep = "-Wl,-u,handler,-u,urgent";
                let mut flags = vec![cpu, level, guard, "-ffunction-sections"];
                flags.extend(["-Wl,--gc-sections", "-Wl,-u,handler"]);
                if handlers.len() > 1 {
                    flags.push(keep);
                }
                let elf = programs::c("shared", &flags, folder.path());
                assert_eq!(verdict(&elf, &options), expected, "{cpu} {level} {guard} {handlers:?}");
            }
        }
    }
}

/// Who calls the step enables interrupts before the first, whatever `init` has left, and may do so between two. A level of which the
/// interrupt controller may have no bit masks nothing.
#[test]
fn what_is_left_disabled_is_enabled_by_others() {
    let folder = tempfile::tempdir().unwrap();
    let cases = [
        ("-DCASE=0", "", Verdict::Unsafe),
        ("-DCASE=1", "", Verdict::Unsafe),
        ("-DCASE=2", "-DLEVEL=0x40", Verdict::Safe),
        ("-DCASE=2", "-DLEVEL=0x20", Verdict::Safe),
        ("-DCASE=2", "-DLEVEL=0x60", Verdict::Unsafe),
        // Somebody has forgotten to shift it.
        ("-DCASE=2", "-DLEVEL=4", Verdict::Unsafe),
    ];
    for (case, level, expected) in cases {
        let options =
            ElfOptions { init: Some("init".into()), ..options("step", &[("handler", 0x40)]) };
        let macros = [case, level].into_iter().filter_map(|flag| flag.strip_prefix("-D"));
        let macros = macros.chain(["vouch_fail=reach_error"]);
        let c = COptions {
            entry: "step".into(),
            init: options.init.clone(),
            repeat: true,
            macros: macros.map(|text| Macro::Define(text.into())).collect(),
            interrupts: options.interrupts.clone(),
            ..COptions::default()
        };
        let path = programs::source("masks.c");
        let c = pipeline::Options { c, ..pipeline::Options::default() };
        assert_eq!(checked(&path, &c), expected, "C {case} {level}");
        for optimised in ["-O0", "-O2"] {
            let flags = [optimised, case, level, "-Wl,-u,handler"];
            let flags: Vec<&str> = flags.into_iter().filter(|flag| !flag.is_empty()).collect();
            let thumb = [&flags[..], &["-mcpu=cortex-m3"]].concat();
            let elf = programs::c("masks", &thumb, folder.path());
            assert_eq!(verdict(&elf, &options), expected, "{optimised} {case} {level}");
            if level.is_empty() {
                let handler = "-DHANDLER=__attribute__((interrupt))";
                let flags = [&flags[..], &[handler, "-Wl,-u,init"]].concat();
                let elf = programs::clang("masks", "riscv32-none-elf", &flags, folder.path());
                assert_eq!(verdict(&elf, &options), expected, "RISC-V {optimised} {case}");
            }
        }
    }
}

/// What a compiler makes of a handler on RISC-V: it saves all registers that it uses, and ends in `mret`.
#[test]
fn a_handler_returns_to_what_it_has_interrupted() {
    let folder = tempfile::tempdir().unwrap();
    let build = |flags: &[&str]| {
        let handler = "-DHANDLER=__attribute__((interrupt))";
        let all = [&["-Wl,-u,handler", "-Wl,--gc-sections", handler], flags].concat();
        programs::clang("shared", "riscv32-none-elf", &all, folder.path())
    };
    let options = options("step", &[("handler", 0)]);
    for level in ["-O0", "-O2"] {
        let elf = build(&[level, "-ffunction-sections", "-DGUARD=5"]);
        assert_eq!(verdict(&elf, &options), Verdict::Safe, "{level}");
        let elf = build(&[level, "-ffunction-sections", "-DGUARD=0"]);
        assert_eq!(verdict(&elf, &options), Verdict::Unsafe, "{level}");
    }
    // Which interrupts come then, nobody knows.
    let elf = build(&["-O2", "-ffunction-sections", "-DGUARD=5", "-DOPENS"]);
    let load = |options: &ElfOptions| {
        let options = pipeline::Options { elf: options.clone(), ..pipeline::Options::default() };
        pipeline::load(&elf, &options).map(|_| ()).unwrap_err().to_string()
    };
    let error = load(&options);
    assert!(error.contains("a handler enables interrupts"), "{error}");
    // No step ends in it.
    let entry = ElfOptions { entry: Some("handler".into()), ..ElfOptions::default() };
    let error = load(&entry);
    assert!(error.contains("mret: this is not a handler"), "{error}");
}

/// Nothing is lost between a load-exclusive and the store that belongs to it: a handler that comes there makes that fail.
#[test]
fn a_handler_takes_the_monitor_away() {
    let folder = tempfile::tempdir().unwrap();
    let options = options("step", &[("handler", 0)]);
    let cases =
        [("-DATOMIC", Verdict::Safe), ("-DPLAIN", Verdict::Unsafe), ("-DLATE", Verdict::Unsafe)];
    for (how, expected) in cases {
        for level in ["-O0", "-O2"] {
            let flags = ["-mcpu=cortex-m3", level, how, "-Wl,-u,handler"];
            let elf = programs::c("flags", &flags, folder.path());
            assert_eq!(verdict(&elf, &options), expected, "{how} {level}");
        }
    }
}

/// A handler runs while the program waits for nothing that it shares, in C and in machine code.
#[test]
fn handlers_run_in_loops_that_never_end() {
    let folder = tempfile::tempdir().unwrap();
    let handlers: &[(&str, u8)] = &[("handler", 0)];
    let path = programs::source("waits.c");
    for wait in ["WAIT=0", "WAIT=1", "WAIT=2", "WAIT=3"] {
        for (armed, expected) in [("ARMED=1", Verdict::Unsafe), ("ARMED=0", Verdict::Safe)] {
            let options = options("step", handlers);
            let macros = [wait, armed, "vouch_fail=reach_error"];
            let macros = macros.map(|text| Macro::Define(text.into())).to_vec();
            let interrupts = options.interrupts.clone();
            let c = COptions { entry: "step".into(), macros, interrupts, ..COptions::default() };
            let c = pipeline::Options { c, ..pipeline::Options::default() };
            assert_eq!(checked(&path, &c), expected, "C {wait} {armed}");
            let (wait, armed) = (format!("-D{wait}"), format!("-D{armed}"));
            let flags = ["-mcpu=cortex-m0", "-O2", &wait, &armed, "-Wl,-u,handler"];
            let elf = programs::c("waits", &flags, folder.path());
            assert_eq!(verdict(&elf, &options), expected, "{wait} {armed}");
        }
    }
}

/// A register that keeps its value is shared with a handler as a variable is.
#[test]
fn a_handler_changes_a_register_that_keeps_its_value() {
    let folder = tempfile::tempdir().unwrap();
    let (path, registers) = (folder.path().join("port.c"), folder.path().join("port.txt"));
    std::fs::write(&registers, "PORT.OUT 0x40020014 32 keeps 0\n").unwrap();
    let verdict = |main: &str, handler: &str| {
        let text = format!(
            "#define OUT (*(volatile unsigned *)0x40020014)\n\
             #define IN (*(volatile unsigned *)0x40020010)\n\
             extern void reach_error(void), __disable_irq(void), __enable_irq(void);\n\
             void handler(void) {{ {handler} }}\nvoid step(void) {{ {main} }}\n"
        );
        std::fs::write(&path, text).unwrap();
        let c = COptions {
            entry: "step".into(),
            repeat: true,
            interrupts: vec![("handler".into(), 0)],
            registers: vec![registers.to_str().unwrap().into()],
            ..COptions::default()
        };
        checked(&path, &pipeline::Options { c, ..pipeline::Options::default() })
    };
    let toggles = "OUT = 3; OUT |= 4; if (OUT != 7) reach_error();";
    assert_eq!(verdict(toggles, "OUT |= 8;"), Verdict::Unsafe);
    let masked = format!("__disable_irq(); {toggles} __enable_irq();");
    assert_eq!(verdict(&masked, "OUT |= 8;"), Verdict::Safe);
    assert_eq!(verdict(toggles, "unsigned now = IN; IN = now;"), Verdict::Safe);
    // Through a pointer, on either side.
    let pointed = "volatile unsigned *out = &OUT; *out = 3; if (*out != 3) reach_error();";
    assert_eq!(verdict(pointed, "OUT = 8;"), Verdict::Unsafe);
    let handler = "volatile unsigned *out = IN ? &OUT : &IN; *out = 8;";
    assert_eq!(verdict(toggles, handler), Verdict::Unsafe);
}

/// Accesses that are not an assignment: exclusive ones, what compilers' functions store, blocks of the heap, and what is called through a
/// pointer.
#[test]
fn what_else_a_handler_may_come_between() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("between.c");
    let verdict = |shared: &str, handler: &str, main: &str| {
        let text = format!(
            "extern void reach_error(void), __disable_irq(void), __enable_irq(void), free(void *); void *malloc(unsigned);\n\
             volatile unsigned x; unsigned runs; {shared}\nvoid handler(void) {{ if (!runs) {{ runs++; {handler} }} }}\n\
             int main(void) {{ {main} }}\n"
        );
        std::fs::write(&path, text).unwrap();
        let c = COptions { interrupts: vec![("handler".into(), 0)], ..COptions::default() };
        checked(&path, &pipeline::Options { c, ..pipeline::Options::default() })
    };
    // The sum of both is right only if neither is lost.
    let sum = |add: &str| format!("{add}; __disable_irq(); if (x != 1 + runs) reach_error();");
    let exclusive = "unsigned v; do v = __LDREXW(&x) + 1; while (__STREXW(v, &x))";
    let assembly = "unsigned v, r; volatile unsigned *p = &x;
        do { asm volatile(\"ldrex %0, [%1]\" : \"=r\"(v) : \"r\"(p) : \"memory\"); v++;
             asm volatile(\"strex %0, %2, %1\" : \"=&r\"(r), \"+Q\"(*p) : \"r\"(v)); } while (r)";
    for add in [exclusive, assembly] {
        assert_eq!(verdict("", "x++;", &sum(add)), Verdict::Safe, "{add}");
        assert_eq!(verdict("", &format!("{exclusive};"), &sum(add)), Verdict::Safe, "{add}");
    }
    let late = "unsigned v = x + 1; __LDREXW(&x); while (__STREXW(v, &x)) __LDREXW(&x)";
    assert_eq!(verdict("", "x++;", &sum(late)), Verdict::Unsafe);
    let may_fail = "__LDREXW(&x); if (__STREXW(1, &x)) reach_error();";
    assert_eq!(verdict("", "", may_fail), Verdict::Unsafe);
    // What was kept, and what is stored.
    let overflow = "__builtin_add_overflow(x, 1u, &x)";
    assert_eq!(verdict("", "x++;", &sum(overflow)), Verdict::Unsafe);
    let masked = format!("__disable_irq(); {overflow}; __enable_irq()");
    assert_eq!(verdict("", "x++;", &sum(&masked)), Verdict::Safe);
    assert_eq!(verdict("", "__builtin_add_overflow(x, 1u, &x);", &sum(exclusive)), Verdict::Safe);
    // A block is used before it is freed.
    let block = "int *volatile p; int seen;";
    let reads = "int *q = p; if (q) seen = *q;";
    let frees = "int *q = malloc(4); *q = 7; p = q;";
    let right =
        format!("{frees} p = 0; free(q); __disable_irq(); if (seen && seen != 7) reach_error();");
    assert_eq!(verdict(block, reads, &right), Verdict::Safe);
    let wrong = format!("{frees} if (seen == 7) reach_error(); free(q); p = 0;");
    assert_eq!(verdict(block, reads, &wrong), Verdict::Unsafe);
    let late = format!("{frees} free(q); p = 0;");
    assert_eq!(
        verdict(block, reads, &late),
        Verdict::Unknown,
        "it may follow a pointer to nothing"
    );
    let both = format!("{frees} p = 0; free(q);");
    assert_eq!(verdict(block, "seen = *(int *)malloc(4);", &both), Verdict::Unknown);
    let apart = format!("__disable_irq(); {both} __enable_irq();");
    assert_eq!(verdict(block, "int *q = malloc(4); free(q);", &apart), Verdict::Safe);
    // The handler has its own copy of what both call, also through pointers, and interrupts that of the step.
    let table =
        "typedef unsigned add_t(unsigned, unsigned); add_t add, sub; add_t *volatile f = add;
        unsigned add(unsigned a, unsigned b) { x++; unsigned c = a; c += b; x--; return c; }
        unsigned sub(unsigned a, unsigned b) { x++; return a - b; }";
    let calls = "unsigned r = f(3, 4); if (r != 7 && r + 1 != 0) reach_error();";
    assert_eq!(verdict(table, "if (f(5, 6) != 11) reach_error(); f = sub;", calls), Verdict::Safe);
    assert_eq!(
        verdict(table, "f = sub;", "f(3, 4); if (f(3, 4) != 7) reach_error();"),
        Verdict::Unsafe
    );
    let other = "if (f == sub && x != 1) reach_error();";
    assert_eq!(
        verdict(table, &format!("f = sub; f(1, 2); {other}"), "x = 0; __disable_irq();"),
        Verdict::Safe
    );
}

/// Random statements in the manner of a main loop and its handlers: each does one access to what is shared. `#` marks where handlers
/// may run.
struct Statements {
    rng: Rng,
    /// The variable that the statements hold values in.
    held: &'static str,
    is_main: bool,
}

impl Statements {
    fn shared(&mut self) -> char {
        self.rng.pick(&['a', 'b', 'c'])
    }

    fn some(&mut self, most: usize, depth: u32) -> String {
        let count = 1 + self.rng.below(most);
        (0..count).map(|_| self.one(depth)).collect()
    }

    fn one(&mut self, depth: u32) -> String {
        let (k, x, held) = (self.rng.below(4), self.shared(), self.held);
        let kinds = match (depth, self.is_main) {
            (0, _) => 5,
            (_, false) => 9,
            (_, true) => 15,
        };
        match self.rng.below(kinds) {
            0 | 1 => format!("{held} = {x}; # "),
            2 | 3 => format!("{x} = ({held} + {k}) & 3; # "),
            4 => format!("if ({held} == {k}) reach_error(); "),
            5 | 6 => {
                let (then, other) = (self.some(2, depth - 1), self.some(2, depth - 1));
                format!("if ({held} == {k}) {{ {then}}} else {{ {other}}} ")
            }
            7 => format!("if ({held} == {k}) exit(0); "),
            8 => format!("__VERIFIER_assume({held} != {k}); "),
            9 => format!("for (;;) {{ # {}}} ", self.some(2, depth - 1)),
            10 => format!("while ({held} != {k}) {{ # {}}} ", self.some(2, depth - 1)),
            11 => format!("for (i = 0; i < 2; i++) {{ {}}} ", self.some(2, 0)),
            12 => format!("do {{ # {}}} while ({held} < {k}); ", self.some(2, depth - 1)),
            13 => format!("OFF # {}ON # ", self.some(3, 0)),
            _ => {
                let label = self.rng.below(1 << 30);
                let body = self.some(2, depth - 1);
                format!("l{label}: # {body}if ({held} == {k}) goto l{label}; ")
            }
        }
    }
}

/// A program of random statements: what is in it where handlers may run, in `step` and in the handler that is less urgent.
struct Program {
    step: String,
    low: String,
    high: String,
}

impl Program {
    fn random(seed: u64) -> Program {
        let mut step = Statements { rng: Rng::new(seed), held: "t", is_main: true };
        let text = step.some(4, 2);
        let mut handler = Statements { rng: step.rng, held: "u", is_main: false };
        Program { step: text, low: handler.some(3, 1), high: handler.some(2, 1) }
    }

    fn text(&self, in_step: &str, in_low: &str, off: &str, on: &str) -> String {
        let step = self.step.replace('#', in_step).replace("OFF", off).replace("ON", on);
        let (low, high) = (self.low.replace('#', in_low), self.high.replace('#', ""));
        format!(
            "extern void reach_error(void), exit(int), __VERIFIER_assume(int);\n\
             extern _Bool nondet_bool(void);\n\
             volatile unsigned char a, b, c; unsigned char masked;\n\
             void high(void) {{ unsigned char u = 0; {high}}}\n\
             void low(void) {{ unsigned char u = 0; {in_low} {low}}}\n\
             void step(void) {{ unsigned char t = 0, i = 0; {in_step} {step}}}\n"
        )
    }

    /// As it is: handlers are named.
    fn alone(&self) -> String {
        self.text("", "", "__asm volatile(\"cpsid i\");", "__asm volatile(\"cpsie i\");")
    }

    /// With calls of handlers instead.
    fn called(&self) -> String {
        let in_step = "while (!masked && nondet_bool()) { if (nondet_bool()) low(); else high(); }";
        self.text(in_step, "while (nondet_bool()) high();", "masked = 1;", "masked = 0;")
    }
}

const URGENT: &[(&str, u8)] = &[("low", 64), ("high", 32)];

/// Handlers run between any two accesses, in any loop and at the end: what is found is what a program finds in which they
/// are called there.
#[test]
fn handlers_run_wherever_it_matters() {
    let folder = tempfile::tempdir().unwrap();
    let mut found = [0; 2];
    for seed in 0..120 {
        let program = Program::random(seed);
        let verdict = |name: &str, text: &str, handlers: &[(&str, u8)], engine: Engine| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            let interrupts = handlers.iter().map(|(name, p)| (name.to_string(), *p)).collect();
            // Once, or again and again.
            let repeat = seed % 2 == 0;
            let c = COptions { entry: "step".into(), repeat, interrupts, ..COptions::default() };
            let model = pipeline::load(&path, &pipeline::Options { c, ..Default::default() })
                .unwrap_or_else(|e| panic!("{e}\n{text}"));
            let request = Request::new(Question::new(&model.cfa, None, vec![]));
            let by = By::Host { engine, memory: Memory::default() };
            check::check(&model, &request, by, &mut |_| {}).unwrap().judgement.verdict()
        };
        let is = verdict("alone.c", &program.alone(), URGENT, Engine::default());
        let expected = verdict("called.c", &program.called(), &[], Engine::Explicit);
        assert_eq!(is, expected, "seed {seed}:\n{}", program.alone());
        found[usize::from(is == Verdict::Safe)] += 1;
    }
    assert!(found.iter().all(|count| *count >= 20), "{found:?}");
}

/// The same for what a compiler makes of such programs.
#[test]
fn handlers_of_machine_code_run_wherever_it_matters() {
    let folder = tempfile::tempdir().unwrap();
    let (path, called) = (folder.path().join("alone"), folder.path().join("called.c"));
    let mut found = [0; 2];
    // There is no such thing as an assumption, and whoever exits is gone.
    let is_plain = |program: &Program| {
        let all = [&program.step, &program.low, &program.high];
        all.iter().all(|text| !text.contains("exit") && !text.contains("assume"))
    };
    for seed in (0..).filter(|seed| is_plain(&Program::random(*seed))).take(40) {
        let program = Program::random(seed);
        let text = program.alone().replace("reach_error", "vouch_fail");
        std::fs::write(path.with_extension("c"), &text).unwrap();
        let level = if seed % 2 == 0 { "-O1" } else { "-Os" };
        let flags = ["-mcpu=cortex-m3", level, "-Wl,-u,low,-u,high"];
        let elf = programs::c(path.to_str().unwrap(), &flags, folder.path());
        let is = verdict(&elf, &options("step", URGENT));
        std::fs::write(&called, program.called()).unwrap();
        let c = COptions { entry: "step".into(), repeat: true, ..COptions::default() };
        let expected = checked(&called, &pipeline::Options { c, ..Default::default() });
        assert_eq!(is, expected, "seed {seed}:\n{text}");
        found[usize::from(is == Verdict::Safe)] += 1;
    }
    assert!(found.iter().all(|count| *count >= 8), "{found:?}");
}
