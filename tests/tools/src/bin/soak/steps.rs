//! Steps of programs in machine code: `soak --kind steps [--programs N]`, so many for each build of each program.

use crate::Args;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use vouch_host::frontend::elf::ElfOptions;
use vouch_tests::machine::{compare, programs};

/// Steps of each build unless the command line says another number.
const STEPS: u64 = 2000;

/// A program, built in one way.
struct Build {
    program: &'static str,
    build: String,
    elf: PathBuf,
}

/// Programs in C, and whether a function of theirs comes before the first step.
const C: [&str; 4] = ["pump", "queue", "address", "names"];
/// Programs in Rust.
const RUST: [&str; 2] = ["door", "names"];

fn builds(folder: &Path) -> Vec<Build> {
    let mut all = vec![];
    for program in C {
        for cpu in ["-mcpu=cortex-m0", "-mcpu=cortex-m3"] {
            for level in ["-O0", "-Os", "-O1", "-O2", "-O3"] {
                let elf = programs::c(program, &[cpu, level], folder);
                all.push(Build { program, build: format!("{cpu} {level}"), elf });
            }
        }
    }
    let targets = ["thumbv6m-none-eabi", "thumbv7m-none-eabi", "riscv32imac-unknown-none-elf"];
    for program in RUST {
        for target in targets {
            for level in ["z", "s", "2", "3"] {
                let flag = format!("-Copt-level={level}");
                let elf = programs::rust(program, target, &[&flag], folder);
                all.push(Build { program, build: format!("{target} {level}"), elf });
            }
        }
    }
    all
}

/// Compares steps of all of them.
pub fn run(args: &Args) -> ExitCode {
    let count = args.programs.unwrap_or(STEPS);
    println!("soak: steps of machine code from seed {}, {count} of each build", args.seed);
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(e) => {
            println!("there is no folder for programs: {e}");
            return ExitCode::FAILURE;
        }
    };
    let (mut table, mut differ) = (vec![], false);
    for Build { program, build, elf } in builds(folder.path()) {
        let init = (program == "queue").then(|| "init".to_string());
        let options = ElfOptions { entry: Some("step".into()), init, ..ElfOptions::default() };
        let start = Instant::now();
        let result = compare(&elf, &options, count as usize, args.seed);
        let seconds = start.elapsed().as_secs_f64();
        if let Err(text) = &result {
            println!("DISAGREEMENT {program} {build}: {text}");
        }
        differ |= result.is_err();
        let (different, found) = (u32::from(result.is_err()), result.unwrap_or_default());
        let steps = found.returned + found.failed;
        table.push(format!(
            "{program}\t{build}\t{}\t{steps}\t{}\t{}\t{different}\t{seconds:.0}",
            args.seed, found.failed, found.left,
        ));
    }
    println!("program\tbuild\tseed\tsteps\tfailed\tleft\tdifferent\tseconds");
    for line in table {
        println!("{line}");
    }
    if differ { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
