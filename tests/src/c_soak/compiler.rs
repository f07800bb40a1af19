//! Compilers, and what the programs that they make compute.

use super::Program;
use std::fmt::Write;
use std::process::{Command, Stdio};
use vouch_host::frontend::c::DataModel;

/// A data model, and the compiler that defines it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Model {
    /// 32-bit x86.
    Ilp32,
    /// 64-bit x86.
    Lp64,
    /// Bare-metal Arm.
    Arm32,
}

/// Why there is no result.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It took too long.
    Slow,
    /// It could not be compiled, or it crashed.
    Broken(String),
}

impl Model {
    /// All data models that programs are compared in.
    pub const ALL: [Model; 3] = [Model::Ilp32, Model::Lp64, Model::Arm32];

    /// Its name, as the tool has it.
    pub fn name(self) -> &'static str {
        match self {
            Model::Ilp32 => "ilp32",
            Model::Lp64 => "lp64",
            Model::Arm32 => "arm32",
        }
    }

    /// The one of this name.
    pub fn from_name(name: &str) -> Option<Model> {
        Model::ALL.into_iter().find(|m| m.name() == name)
    }

    /// What the front end calls it.
    pub fn data_model(self) -> DataModel {
        match self {
            Model::Ilp32 => DataModel::Ilp32,
            Model::Lp64 => DataModel::Lp64,
            Model::Arm32 => DataModel::ARM32,
        }
    }

    fn compiler(self) -> Command {
        let (name, flags): (_, &[&str]) = match self {
            Model::Ilp32 => ("gcc", &["-m32"]),
            Model::Lp64 => ("gcc", &["-m64"]),
            Model::Arm32 => ("arm-none-eabi-gcc", &["--specs=rdimon.specs"]),
        };
        let mut command = Command::new(name);
        command.args(flags).args(["-w", "-fwrapv", "-fno-strict-aliasing", "-std=gnu11"]);
        command
    }

    /// Whether its programs can be made and run here.
    pub fn is_available(self) -> bool {
        let program = Program {
            seed: 0,
            text: "unsigned long long s; void f(void) { s = 7; }\n".into(),
            entry: "f".into(),
            sum: "s".into(),
        };
        run(self, "", &[program], "-O0").is_ok_and(|sums| sums == [Ok(7)])
    }
}

/// A main function that prints the number and the result of every program. One that crashes or does
/// not end must not take the others with it; where there are no processes it can't be helped.
fn main_function(model: Model, programs: &[Program]) -> String {
    let mut text = String::from("int printf(const char *, ...);\nint fflush(void *);\n");
    let bare = model == Model::Arm32;
    if !bare {
        text += "int fork(void);\nint wait(int *);\nunsigned alarm(unsigned);\nvoid _exit(int);\n";
    }
    text += "int main(void) {\n";
    for (i, program) in programs.iter().enumerate() {
        let (entry, sum) = (&program.entry, &program.sum);
        let run = format!("{entry}(); printf(\"%d %llu\\n\", {i}, {sum}); fflush(0);");
        let _ = if bare {
            writeln!(text, "{run}")
        } else {
            writeln!(
                text,
                "if (!fork()) {{ alarm({SECONDS}); {run} _exit(0); }}\nint s{i}; wait(&s{i});\n\
                 if (s{i}) {{ printf(\"%d signal %d\\n\", {i}, s{i} & 127); fflush(0); }}"
            )
        };
    }
    text + "return 0;\n}\n"
}

/// How long one program may run.
const SECONDS: u32 = 1;

/// The results of programs, each of them or why there is none.
pub fn run(
    model: Model,
    prelude: &str,
    programs: &[Program],
    optimise: &str,
) -> Result<Vec<Result<u64, Failure>>, String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let (source, binary) = (folder.path().join("p.c"), folder.path().join("p"));
    let texts: String = programs.iter().map(|p| p.text.as_str()).collect();
    let text = format!("{prelude}{texts}{}", main_function(model, programs));
    std::fs::write(&source, text).map_err(|e| e.to_string())?;
    let mut compiler = model.compiler();
    let made = compiler.arg(optimise).arg("-o").args([&binary, &source]).output();
    let made = made.map_err(|e| format!("{}: {e}", compiler.get_program().display()))?;
    if !made.status.success() {
        // One of them is at fault.
        if let [_] = programs {
            let errors = String::from_utf8_lossy(&made.stderr).into_owned();
            return Ok(vec![Err(Failure::Broken(errors))]);
        }
        let (left, right) = programs.split_at(programs.len() / 2);
        let mut results = run(model, prelude, left, optimise)?;
        results.extend(run(model, prelude, right, optimise)?);
        return Ok(results);
    }
    let mut program = match model {
        Model::Arm32 => Command::new("qemu-arm"),
        _ => Command::new(&binary),
    };
    if model == Model::Arm32 {
        program.arg(&binary);
    }
    let output = program.stdin(Stdio::null()).stderr(Stdio::null()).output();
    let output = output.map_err(|e| format!("{}: {e}", program.get_program().display()))?;
    let missing = || Err(Failure::Broken("it does not end".into()));
    let mut results: Vec<_> = programs.iter().map(|_| missing()).collect();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let words: Vec<_> = line.split(' ').collect();
        let number = |i: usize| words.get(i).and_then(|w| w.parse::<u64>().ok());
        let Some(result) = number(0).and_then(|i| results.get_mut(i as usize)) else { continue };
        *result = match (number(1), number(2)) {
            (Some(sum), _) => Ok(sum),
            (None, Some(SIGALRM)) => Err(Failure::Slow),
            (None, signal) => Err(Failure::Broken(format!("it ends with signal {signal:?}"))),
        };
    }
    // Without processes one that crashes takes all after it along; they get another chance.
    if let Some(lost) = results.iter().position(|r| *r == missing())
        && lost + 1 < programs.len()
    {
        results.truncate(lost + 1);
        results.extend(run(model, prelude, &programs[lost + 1..], optimise)?);
    }
    Ok(results)
}

const SIGALRM: u64 = 14;
