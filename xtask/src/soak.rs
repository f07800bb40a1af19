//! `cargo xtask soak --minutes N`: the random suites with fresh seeds, for as long as one likes.
//!
//! What is checked is what the tests check with fixed seeds; the arguments are those of the program
//! `soak` in the tests' package. C programs (`--kind c`, `--kind csmith`) need compilers that nothing
//! else needs; they are installed when they are asked for. Long runs of them are put into the record.

use crate::setup::{self, Program};
use crate::{project, record, shell};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// The task.
pub fn task(args: &[String]) -> Result<()> {
    if args.is_empty() {
        let usage = "`soak` needs `--minutes N`; also `--seed S`, `--jobs J`, `--kind K`, or \
                     `--replay KIND:SEED`. C programs: `--kind c` or `--kind csmith`, with \
                     `--minutes N` or `--programs N`, `--model M`, `--without FEATURE,…`, or \
                     `--file PROGRAM.c`.";
        return Err(shell::Usage(usage.into()).into());
    }
    let asks =
        |text: &str| args.iter().any(|arg| arg == text || arg.starts_with(&format!("{text}:")));
    let c = asks("c") || asks("csmith") || asks("--file");
    if c {
        compilers(asks("csmith"))?;
    }
    let mut cargo = shell::cargo();
    cargo.current_dir(project::root());
    cargo.args(["run", "--quiet", "--release", "--package", "vouch-tests", "--bin", "soak", "--"]);
    cargo.args(args);
    if c { recorded(&mut cargo) } else { shell::run(&mut cargo) }
}

const GCC32: Program = Program {
    names: &["gcc -m32"],
    purpose: "compiles programs for 32-bit x86",
    debian: "gcc gcc-multilib",
    elsewhere: "  Fedora:   dnf install gcc glibc-devel.i686
  Arch:     pacman -S gcc lib32-glibc",
};

const GCC_ARM: Program = Program {
    names: &["arm-none-eabi-gcc"],
    purpose: "compiles programs for Arm",
    debian: "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    elsewhere: "  Fedora:   dnf install arm-none-eabi-gcc-cs arm-none-eabi-newlib
  Arch:     pacman -S arm-none-eabi-gcc arm-none-eabi-newlib",
};

const QEMU_USER: Program = Program {
    names: &["qemu-arm"],
    purpose: "runs single programs for Arm",
    debian: "qemu-user",
    elsewhere: "  Fedora:   dnf install qemu-user
  Arch:     pacman -S qemu-user",
};

const CSMITH: Program = Program {
    names: &["csmith"],
    purpose: "generates C programs",
    debian: "csmith libcsmith-dev",
    elsewhere: "  from source: https://github.com/csmith-project/csmith",
};

/// Brings the compilers, and csmith if it is wanted.
fn compilers(csmith: bool) -> Result<()> {
    setup::bring(&GCC32, links_for_32_bits)?;
    if csmith {
        return setup::bring(&CSMITH, || shell::find("csmith").is_some());
    }
    setup::bring(&GCC_ARM, || shell::find("arm-none-eabi-gcc").is_some())?;
    setup::bring(&QEMU_USER, || shell::find("qemu-arm").is_some())
}

fn links_for_32_bits() -> bool {
    let flags = ["-m32", "-x", "c", "-", "-o", "/dev/null"];
    let mut gcc = Command::new("gcc");
    gcc.args(flags).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let Ok(mut process) = gcc.spawn() else { return false };
    if let Some(mut input) = process.stdin.take() {
        use std::io::Write;
        let _ = writeln!(input, "int main(void) {{ return 0; }}");
    }
    process.wait().is_ok_and(|status| status.success())
}

/// So many programs are worth a line in the record.
const MANY: u64 = 1000;

const COLUMNS: &str = "kind\tmodel\tfirst_seed\tprograms\taccepted\trefused\tdifferent\tslow\t\
                       unsettled\tseconds";

/// Runs the program, passes on what it prints, and adds its rows to the record.
fn recorded(command: &mut Command) -> Result<()> {
    let line = shell::line(command);
    // What is run, even if there is a newer one when it ends.
    let commit = record::commit();
    let mut process = command.stdout(Stdio::piped()).spawn().with_context(|| line.clone())?;
    let output = process.stdout.take().context("it prints nothing")?;
    let (mut rows, mut in_table) = (vec![], false);
    for line in BufReader::new(output).lines() {
        let line = line?;
        println!("{line}");
        if in_table {
            rows.push(line);
        } else {
            in_table = line == COLUMNS;
        }
    }
    let status = process.wait()?;
    let programs = |row: &String| row.split('\t').nth(3).and_then(|n| n.parse::<u64>().ok());
    rows.retain(|row| programs(row).is_some_and(|n| n >= MANY));
    if !rows.is_empty() {
        keep(&rows, &commit)?;
    }
    ensure!(status.success(), "`{line}` ended with {status}");
    Ok(())
}

/// Adds runs to the record.
fn keep(rows: &[String], commit: &str) -> Result<()> {
    let mut table = record::read("soak.tsv");
    if table.is_empty() {
        table = format!(
            "# cargo xtask soak --kind c|csmith: random programs, the compiler's result against the \
             automaton's. Seeds are\n# counted up from the first one; unsettled are programs that the \
             compiler itself has several results for.\n{COLUMNS}\tcommit\n"
        );
    }
    for row in rows {
        table += &format!("{row}\t{commit}\n");
    }
    record::write("soak.tsv", &table)
}
