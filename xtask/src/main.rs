//! The project's own tasks: `cargo xtask TASK`.
//!
//! Each task is a file. They need nothing but cargo to start with; what else they use, [`setup`]
//! brings.

mod alone;
mod bench;
mod bench_auto;
mod bench_build;
mod bench_c;
mod bench_device;
mod bench_elf;
mod bench_runs;
mod bench_threads;
mod boards;
mod demo;
mod dist;
mod elf;
mod examples;
mod figures;
mod firmware;
mod fuzz;
mod glitch;
mod growth;
mod libvouch;
mod passes;
mod powercut;
mod project;
mod race;
mod record;
mod setup;
mod shell;
mod soak;
mod table;
mod test;
mod tidy;

use anyhow::Result;
use std::process::ExitCode;

/// A task's name, what it does, and how.
type Task = (&'static str, &'static str, fn(&[String]) -> Result<()>);

const TASKS: [Task; 27] = [
    ("setup", "install the Rust targets and QEMU where they are missing", setup::task),
    (
        "demo",
        "a firmware whose own code is proved, and an emulated board that starts with no other",
        demo::task,
    ),
    ("test", "format, lints, firmware builds, host tests, tests on emulated boards", test::task),
    (
        "firmware",
        "build the firmware into firmware/out; --board B: only that board",
        firmware::task,
    ),
    (
        "libvouch",
        "the static library for C into target/libvouch/out, and what it takes of flash",
        libvouch::task,
    ),
    ("dist", "what users install, into target/dist: archive, Debian package", dist::task),
    (
        "soak",
        "random cases with fresh seeds; --minutes N, --seed S, --kind K, --replay KIND:SEED",
        soak::task,
    ),
    ("fuzz", "everything that takes bytes from outside; --minutes N [--target T]…", fuzz::task),
    (
        "powercut",
        "cut the power of an emulated board at every flash operation of an update",
        powercut::task,
    ),
    (
        "glitch",
        "skip each instruction of boots that must refuse; --board B, --sample N, --jobs J",
        glitch::task,
    ),
    ("bench", "count instructions of every example, or of MODEL…, on every board", bench::task),
    (
        "bench-device",
        "what the self-check at boot and the guard cost on every board, or for MODEL…",
        bench_device::boot,
    ),
    ("bench-bound", "what it costs at boot to hash the code that was proved", bench_device::bound),
    (
        "bench-update",
        "bytes, flash operations and instructions of storing every example, or MODEL…",
        bench_device::update,
    ),
    (
        "bench-c",
        "check C programs with known verdicts; FOLDER, --timeout S, --filter TEXT, --jobs N",
        bench_c::task,
    ),
    (
        "bench-elf",
        "check machine code of crates from crates.io; --timeout S, --filter TEXT",
        bench_elf::task,
    ),
    (
        "race",
        "vouch against its peers on the same problems; --peers, --suite, --timeout S, --bench PATH",
        race::task,
    ),
    (
        "table",
        "the papers' comparisons of engines; cav12|fmcad15|cegar FOLDER, --timeout S, --filter TEXT",
        table::task,
    ),
    (
        "bench-auto",
        "whether auto decides as many as the best engine; FOLDER, --timeout S, --filter TEXT, --jobs N",
        bench_auto::task,
    ),
    (
        "bench-build",
        "what it costs to build the tool, and after a change in each package",
        bench_build::task,
    ),
    ("bench-runs", "what it costs to look for a shortest run", bench_runs::task),
    ("bench-threads", "what took long, with one thread and with two; FOLDER", bench_threads::task),
    (
        "bench-growth",
        "what it costs when a model grows, compared with the peers; --timeout S, --filter FAMILY, --peer NAME=PATH",
        growth::task,
    ),
    (
        "bench-passes",
        "what each simplification does; FOLDER: sizes of the models below it",
        passes::task,
    ),
    ("examples", "every example on every board that it fits", examples::task),
    ("tidy", "check the rules of the code base that no other tool checks", tidy::task),
    ("help", "list the tasks", help),
];

/// What a shell gets when the task was not understood.
const USAGE: u8 = 2;

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, rest)) = args.split_first() else {
        eprint!("{}", listing());
        return ExitCode::from(USAGE);
    };
    let name = if matches!(name.as_str(), "-h" | "--help") { "help" } else { name };
    let Some((_, _, run)) = TASKS.iter().find(|(task, _, _)| *task == name) else {
        eprint!("There is no task `{name}`.\n\n{}", listing());
        return ExitCode::from(USAGE);
    };
    match run(rest) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if error.is::<shell::Usage>() => {
            eprintln!("{error}");
            ExitCode::from(USAGE)
        }
        Err(error) => {
            eprintln!("\nerror: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn help(args: &[String]) -> Result<()> {
    shell::no_arguments("help", args)?;
    print!("{}", listing());
    Ok(())
}

fn listing() -> String {
    let mut text = String::from("cargo xtask TASK\n\n");
    for (name, what, _) in TASKS {
        text += &format!("  {name:<14}{what}\n");
    }
    text
}
