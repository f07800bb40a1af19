//! Random state machines, printed as C and as Rust: compilers make other code of each, for each processor and at each level of
//! optimisation, and what is proved of all of it is what a search through the machine's states finds.

use super::programs;
use crate::rng::Rng;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use vouch_host::check::{self, By, Request};
use vouch_host::engines::{Engine, Memory};
use vouch_host::frontend::c::{COptions, Macro};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::judge::Question;
use vouch_host::pipeline;
use vouch_host::verdict::Verdict;

/// Variables, each of three bits between two steps.
const VARS: usize = 3;
const MASK: u8 = 7;
/// What of an input counts.
const INPUT: u8 = 15;

/// A number of eight bits; whatever does not fit is cut off.
enum Value {
    Var(usize),
    Input,
    Const(u8),
    Op(&'static str, Box<Value>, Box<Value>),
}

/// What holds or does not.
struct Condition(&'static str, Value, Value);

enum Statement {
    Set(usize, Value),
    Go(usize),
    If(Condition, Vec<Statement>, Vec<Statement>),
}

/// What a machine is in, between two steps.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct State {
    at: usize,
    vars: [u8; VARS],
}

/// A machine: what it does in each of its states, and when it has failed.
pub struct Machine {
    states: Vec<Vec<Statement>>,
    first: State,
    failed: (usize, Condition),
}

fn value(rng: &mut Rng, depth: u32) -> Value {
    if depth == 0 || rng.one_in(3) {
        return match rng.below(5) {
            0 => Value::Input,
            1 => Value::Const(rng.below(16) as u8),
            _ => Value::Var(rng.below(VARS)),
        };
    }
    let op = rng.pick(&["+", "-", "^", "&", "|", "*", ">>", "%", "+", "-"]);
    let right = match op {
        ">>" => Value::Const(rng.between(1, 3) as u8),
        "%" => Value::Const(rng.between(2, 7) as u8),
        _ => value(rng, depth - 1),
    };
    Value::Op(op, Box::new(value(rng, depth - 1)), Box::new(right))
}

fn condition(rng: &mut Rng) -> Condition {
    let op = rng.pick(&["==", "!=", "<", "<="]);
    Condition(op, value(rng, 1), value(rng, 1))
}

fn statements(rng: &mut Rng, states: usize, depth: u32) -> Vec<Statement> {
    let statement = |rng: &mut Rng| match rng.below(4) {
        0 => Statement::Go(rng.below(states)),
        1 if depth > 0 => {
            let condition = condition(rng);
            let then = statements(rng, states, depth - 1);
            let otherwise = if rng.one_in(2) { statements(rng, states, depth - 1) } else { vec![] };
            Statement::If(condition, then, otherwise)
        }
        _ => Statement::Set(rng.below(VARS), value(rng, 2)),
    };
    (0..rng.between(1, 3)).map(|_| statement(rng)).collect()
}

impl Value {
    fn eval(&self, vars: &[u8; VARS], input: u8) -> u8 {
        match self {
            Value::Var(number) => vars[*number],
            Value::Input => input,
            Value::Const(value) => *value,
            Value::Op(op, a, b) => {
                let (a, b) = (a.eval(vars, input), b.eval(vars, input));
                match *op {
                    "+" => a.wrapping_add(b),
                    "-" => a.wrapping_sub(b),
                    "*" => a.wrapping_mul(b),
                    "^" => a ^ b,
                    "&" => a & b,
                    "|" => a | b,
                    ">>" => a >> b,
                    _ => a % b,
                }
            }
        }
    }

    fn print(&self, is_rust: bool) -> String {
        match self {
            Value::Var(number) if is_rust => format!("m.v{number}"),
            Value::Var(number) => format!("v{number}"),
            Value::Input => "input".into(),
            Value::Const(value) if is_rust => format!("{value}u8"),
            Value::Const(value) => value.to_string(),
            Value::Op(op, a, b) => {
                let (a, b) = (a.print(is_rust), b.print(is_rust));
                let wraps = match *op {
                    "+" => Some("wrapping_add"),
                    "-" => Some("wrapping_sub"),
                    "*" => Some("wrapping_mul"),
                    _ => None,
                };
                match wraps.filter(|_| is_rust) {
                    Some(wraps) => format!("{a}.{wraps}({b})"),
                    None if is_rust => format!("({a} {op} {b})"),
                    None => format!("(uint8_t)({a} {op} {b})"),
                }
            }
        }
    }
}

impl Condition {
    fn holds(&self, vars: &[u8; VARS], input: u8) -> bool {
        let (a, b) = (self.1.eval(vars, input), self.2.eval(vars, input));
        match self.0 {
            "==" => a == b,
            "!=" => a != b,
            "<" => a < b,
            _ => a <= b,
        }
    }

    fn print(&self, is_rust: bool) -> String {
        format!("{} {} {}", self.1.print(is_rust), self.0, self.2.print(is_rust))
    }
}

fn run(statements: &[Statement], state: &mut State, input: u8) {
    for statement in statements {
        match statement {
            Statement::Set(var, value) => state.vars[*var] = value.eval(&state.vars, input),
            Statement::Go(to) => state.at = *to,
            Statement::If(condition, then, otherwise) => {
                let holds = condition.holds(&state.vars, input);
                run(if holds { then } else { otherwise }, state, input);
            }
        }
    }
}

fn print(statements: &[Statement], is_rust: bool, depth: usize, text: &mut String) {
    let indent = "    ".repeat(depth);
    for statement in statements {
        let _ = match statement {
            Statement::Set(var, value) if is_rust => {
                writeln!(text, "{indent}m.v{var} = {};", value.print(true))
            }
            Statement::Set(var, value) => {
                writeln!(text, "{indent}v{var} = {};", value.print(false))
            }
            Statement::Go(to) if is_rust => writeln!(text, "{indent}m.state = State::S{to};"),
            Statement::Go(to) => writeln!(text, "{indent}state = S{to};"),
            Statement::If(condition, then, otherwise) => {
                let condition = condition.print(is_rust);
                let _ = match is_rust {
                    true => writeln!(text, "{indent}if {condition} {{"),
                    false => writeln!(text, "{indent}if ({condition}) {{"),
                };
                print(then, is_rust, depth + 1, text);
                if !otherwise.is_empty() {
                    let _ = writeln!(text, "{indent}}} else {{");
                    print(otherwise, is_rust, depth + 1, text);
                }
                writeln!(text, "{indent}}}")
            }
        };
    }
}

impl Machine {
    /// A machine that depends on the seed only. Every other one fails; the others come to where they could.
    pub fn new(seed: u64) -> Machine {
        let rng = &mut Rng::new(seed);
        let wanted = if seed.is_multiple_of(2) { Verdict::Safe } else { Verdict::Unsafe };
        loop {
            let count = rng.between(2, 5);
            let states = (0..count).map(|_| statements(rng, count, 2)).collect();
            let first = State { at: rng.below(count), vars: [0; VARS].map(|_| rng.below(8) as u8) };
            let machine = Machine { states, first, failed: (rng.below(count), condition(rng)) };
            if machine.search() == (wanted, true) {
                return machine;
            }
        }
    }

    /// Whether it never fails.
    pub fn truth(&self) -> Verdict {
        self.search().0
    }

    /// What a search through all of its states finds, and whether that is more than what there is.
    fn search(&self) -> (Verdict, bool) {
        const FEW: usize = 8;
        let mut comes_there = false;
        let mut seen = BTreeSet::from([self.first]);
        let mut todo = vec![self.first];
        while let Some(state) = todo.pop() {
            for input in 0..=INPUT {
                let mut next = state;
                run(&self.states[state.at], &mut next, input);
                next.vars = next.vars.map(|var| var & MASK);
                comes_there |= next.at == self.failed.0;
                if next.at == self.failed.0 && self.failed.1.holds(&next.vars, input) {
                    return (Verdict::Unsafe, seen.len() > FEW);
                }
                if seen.insert(next) {
                    todo.push(next);
                }
            }
        }
        (Verdict::Safe, comes_there && seen.len() > FEW)
    }

    fn c(&self) -> String {
        let mut text = String::from("#include \"vouch.h\"\n\n");
        let names: Vec<String> = (0..self.states.len()).map(|n| format!("S{n}")).collect();
        let _ =
            writeln!(text, "static enum {{ {} }} state = S{};", names.join(", "), self.first.at);
        for (number, var) in self.first.vars.iter().enumerate() {
            let _ = writeln!(text, "static uint8_t v{number} = {var};");
        }
        text += "\nvoid step(void) {\n";
        let _ = writeln!(
            text,
            "    uint8_t input = vouch_input_u8() & {INPUT};\n    switch (state) {{"
        );
        for (number, state) in self.states.iter().enumerate() {
            let _ = writeln!(text, "    case S{number}:");
            print(state, false, 2, &mut text);
            text += "        break;\n";
        }
        text += "    }\n";
        for number in 0..VARS {
            let _ = writeln!(text, "    v{number} &= {MASK};");
        }
        let (at, condition) = (self.failed.0, self.failed.1.print(false));
        let _ = writeln!(text, "    if (state == S{at} && {condition}) vouch_fail();\n}}");
        text
    }

    fn rust(&self) -> String {
        let mut text = String::from(
            "#![no_std]\n#![no_main]\n#![allow(unused, clippy::all)]\n\n#[derive(Clone, Copy, PartialEq)]\nenum State {\n",
        );
        for number in 0..self.states.len() {
            let _ = writeln!(text, "    S{number},");
        }
        text += "}\n\nstruct Machine {\n    state: State,\n    v0: u8,\n    v1: u8,\n    v2: u8,\n}\n\n";
        let State { at, vars: [a, b, c] } = self.first;
        let _ = writeln!(
            text,
            "static mut MACHINE: Machine = Machine {{ state: State::S{at}, v0: {a}, v1: {b}, v2: {c} }};\n"
        );
        text += "#[unsafe(no_mangle)]\n#[inline(never)]\nextern \"C\" fn vouch_input_u8() -> u8 {\n    \
                 unsafe { (0x4000_0000 as *const u8).read_volatile() }\n}\n\n\
                 #[unsafe(no_mangle)]\n#[inline(never)]\nextern \"C\" fn vouch_fail() -> ! {\n    \
                 loop {\n        unsafe { (0x4000_0000 as *mut u8).write_volatile(1) }\n    }\n}\n\n\
                 #[panic_handler]\nfn panic(_: &core::panic::PanicInfo) -> ! {\n    loop {}\n}\n\n\
                 #[unsafe(no_mangle)]\nextern \"C\" fn step() {\n    let m = unsafe { &mut *(&raw mut MACHINE) };\n";
        let _ = writeln!(text, "    let input = vouch_input_u8() & {INPUT};\n    match m.state {{");
        for (number, state) in self.states.iter().enumerate() {
            let _ = writeln!(text, "        State::S{number} => {{");
            print(state, true, 3, &mut text);
            text += "        }\n";
        }
        text += "    }\n";
        for number in 0..VARS {
            let _ = writeln!(text, "    m.v{number} &= {MASK};");
        }
        let (at, condition) = (self.failed.0, self.failed.1.print(true));
        let _ = writeln!(
            text,
            "    if m.state == State::S{at} && {condition} {{\n        vouch_fail();\n    }}\n}}"
        );
        text
    }
}

/// How a program is built.
#[derive(Clone, Debug)]
pub enum Build {
    /// The source itself, as a C program.
    Source,
    /// C for a Cortex-M, with this level of optimisation.
    Gcc(&'static str, &'static str),
    /// C for RISC-V.
    Clang(&'static str),
    /// Rust for a target.
    Rust(&'static str, &'static str),
}

/// Every way to build one.
pub fn builds() -> Vec<Build> {
    let mut all = vec![Build::Source];
    for level in ["-O0", "-Os", "-O1", "-O2", "-O3"] {
        all.extend(["-mcpu=cortex-m0", "-mcpu=cortex-m3"].map(|cpu| Build::Gcc(cpu, level)));
        all.push(Build::Clang(level));
    }
    let targets = ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"];
    for level in
        ["-Copt-level=z", "-Copt-level=s", "-Copt-level=1", "-Copt-level=2", "-Copt-level=3"]
    {
        all.extend(targets.map(|target| Build::Rust(target, level)));
    }
    all
}

/// Checks a machine, built in one way; what differs from the truth is said.
pub fn check(seed: u64, machine: &Machine, build: &Build, folder: &Path) -> Result<(), String> {
    let base = folder.join(format!("m{seed}"));
    let file = |end: &str, text: String| -> PathBuf {
        let path = base.with_extension(end);
        std::fs::write(&path, text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        path
    };
    let name = base.display().to_string();
    std::fs::copy(programs::source("vouch.h"), folder.join("vouch.h"))
        .map_err(|e| e.to_string())?;
    let c = file("c", machine.c());
    file("rs", machine.rust());
    let program = match build {
        Build::Source => c,
        Build::Gcc(cpu, level) => programs::c(&name, &[cpu, level], folder),
        Build::Clang(level) => programs::clang(&name, "riscv32-none-elf", &[level], folder),
        Build::Rust(target, level) => {
            programs::rust_as(&name, &format!("m{seed}{level}"), target, &[level], folder)
        }
    };
    let elf = ElfOptions { entry: Some("step".into()), ..ElfOptions::default() };
    let fails = Macro::Define("vouch_fail=reach_error".into());
    let c =
        COptions { entry: "step".into(), repeat: true, macros: vec![fails], ..COptions::default() };
    let options = match build {
        Build::Source => pipeline::Options { c, ..pipeline::Options::default() },
        _ => pipeline::Options { elf, ..pipeline::Options::default() },
    };
    let model = pipeline::load(&program, &options).map_err(|e| e.to_string())?;
    let request = Request::new(Question::new(&model.cfa, None, vec![]));
    let by = By::Host { engine: Engine::default(), memory: Memory::default() };
    let found = check::check(&model, &request, by, &mut |_| {}).map_err(|e| e.to_string())?;
    let (found, truth) = (found.judgement.verdict(), machine.truth());
    if found == truth { Ok(()) } else { Err(format!("{build:?}: {found:?}, but {truth:?}")) }
}
