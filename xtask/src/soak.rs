//! `cargo xtask soak --minutes N`: the random suites with fresh seeds, for as long as one likes.
//!
//! What is checked is what the tests check with fixed seeds; the arguments are those of the program
//! `soak` in the tests' package. C programs (`--kind c`, `--kind csmith`) need compilers that nothing
//! else needs; they are installed when they are asked for. Long runs of them, of lives of devices (`--kind flash`) and of
//! automata (`--kind automaton`), are put into the record, and so are those of instructions (`--kind isa`) and of whole steps of
//! programs (`--kind steps`) and of random machines that are compiled (`--kind machines`).

use crate::setup::{self, GCC32, Program};
use crate::{project, record, shell};
use anyhow::{Context, Result, ensure};
use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

/// Passes its arguments to the program `soak`, and records long runs.
pub fn task(args: &[String]) -> Result<()> {
    if args.is_empty() {
        let usage = "`soak` needs `--minutes N`; also `--seed S`, `--jobs J`, `--kind K`, or \
                     `--replay KIND:SEED`. Instructions: `--kind isa`, with `--programs N` for each \
                     row of the encoding tables. Steps of machine code: `--kind steps`, with \
                     `--programs N` for each build of a program. Machines in C and Rust, compiled: `--kind machines`, with \
                     `--programs N`. C programs: `--kind c` or `--kind csmith`, with \
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
    cargo.args(["run", "--quiet", "--release", "--package", "vouch-tools", "--bin", "soak", "--"]);
    cargo.args(args);
    let table = match () {
        () if asks("isa") => &INSTRUCTIONS,
        () if asks("steps") => &STEPS,
        () if asks("machines") => &MACHINES,
        () if asks("automaton") => &AUTOMATA,
        () if c => &PROGRAMS,
        () => &LIVES,
    };
    recorded(&mut cargo, table)
}

const GCC_ARM: Program = Program {
    names: &["arm-none-eabi-gcc"],
    works: None,
    purpose: "compiles programs for Arm",
    debian: "gcc-arm-none-eabi libnewlib-arm-none-eabi",
    elsewhere: "  Fedora:   dnf install arm-none-eabi-gcc-cs arm-none-eabi-newlib
  Arch:     pacman -S arm-none-eabi-gcc arm-none-eabi-newlib",
};

const QEMU_USER: Program = Program {
    names: &["qemu-arm"],
    works: None,
    purpose: "runs single programs for Arm",
    debian: "qemu-user",
    elsewhere: "  Fedora:   dnf install qemu-user
  Arch:     pacman -S qemu-user",
};

const CSMITH: Program = Program {
    names: &["csmith"],
    works: None,
    purpose: "generates C programs",
    debian: "csmith libcsmith-dev",
    elsewhere: "  from source: https://github.com/csmith-project/csmith",
};

/// Brings the compilers, and csmith if it is wanted.
fn compilers(csmith: bool) -> Result<()> {
    if csmith {
        setup::bring(&[&GCC32, &CSMITH])
    } else {
        setup::bring(&[&GCC32, &GCC_ARM, &QEMU_USER])
    }
}

/// So many cases are worth a line in the record.
const MANY: u64 = 1000;

/// A record of long runs.
struct Table {
    file: &'static str,
    head: &'static str,
    /// As the program prints them at its end, before its rows.
    columns: &'static str,
    /// The one with the number of cases.
    cases: &'static str,
}

const PROGRAMS: Table = Table {
    file: "soak.tsv",
    head: "# cargo xtask soak --kind c|csmith: random programs, the compiler's result against the \
           automaton's. Seeds are\n# counted up from the first one; unsettled are programs that the \
           compiler itself has several results for.\n",
    columns: "kind\tmodel\tfirst_seed\tprograms\taccepted\trefused\tdifferent\tslow\tunsettled\t\
              seconds",
    cases: "programs",
};

const LIVES: Table = Table {
    file: "lives.tsv",
    head: "# cargo xtask soak --kind flash: random lives of devices that store models. Seeds are counted up \
           from the first one;\n# a run ends with the first fault.\n",
    columns: "first_seed\tlives\tstarts\tpower_cuts\tfaults\tseconds",
    cases: "lives",
};

const AUTOMATA: Table = Table {
    file: "automata.tsv",
    head: "# cargo xtask soak --kind automaton: random automata, each decided by the core's engine and by one of the \
           others, against explicit-state\n# search by other code. safe and broken are properties, unknown the automata \
           on which the work ended that the engine may do\n# (tests/src/suite.rs, `budget`); a run ends with the first \
           wrong verdict of any engine.\n",
    columns: "engine\tfirst_seed\tautomata\tsafe\tbroken\tunknown\twrong",
    cases: "automata",
};

const INSTRUCTIONS: Table = Table {
    file: "instructions.tsv",
    head: "# cargo xtask soak --kind isa: instructions with random operands, registers and memory, our meaning of \
           them against QEMU's.\n# refused are random encodings of the rows that are not accepted; a run ends with \
           the first difference.\n",
    columns: "isa\tseed\trows\tcases\trefused\tdifferent\tseconds",
    cases: "cases",
};

const STEPS: Table = Table {
    file: "steps.tsv",
    head: "# cargo xtask soak --kind steps: whole steps of programs in machine code, from states that are reached and from \
           arbitrary ones,\n# the automaton against the program in QEMU, byte by byte. left are steps that leave what is \
           modelled; a run ends with the first difference.\n",
    columns: "program\tbuild\tseed\tsteps\tfailed\tleft\tdifferent\tseconds",
    cases: "steps",
};

const MACHINES: Table = Table {
    file: "machines.tsv",
    head: "# cargo xtask soak --kind machines: random state machines, as C and as Rust, compiled for three instruction sets at five\n\
           # levels of optimisation, and as C source: each verdict against a search through the machine's states.\n",
    columns: "first_seed\tmachines\tsafe\tbuilds\tdifferent\tseconds",
    cases: "builds",
};

/// Runs the program, passes on what it prints, and adds its rows to the record.
fn recorded(command: &mut Command, table: &Table) -> Result<()> {
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
            in_table = line == table.columns;
        }
    }
    let status = process.wait()?;
    let at = table.columns.split('\t').position(|column| column == table.cases).unwrap_or(0);
    let cases = |row: &String| row.split('\t').nth(at).and_then(|n| n.parse::<u64>().ok());
    rows.retain(|row| cases(row).is_some_and(|n| n >= MANY));
    if !rows.is_empty() {
        table.keep(&rows, &commit)?;
    }
    ensure!(status.success(), "`{line}` ended with {status}");
    Ok(())
}

impl Table {
    /// Adds runs to the record.
    fn keep(&self, rows: &[String], commit: &str) -> Result<()> {
        let mut text = record::read(self.file);
        if text.is_empty() {
            text = format!("{}{}\tcommit\n", self.head, self.columns);
        }
        for row in rows {
            text += &format!("{row}\t{commit}\n");
        }
        record::write(self.file, &text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What `docs/results.md` says of the engines on random automata.
    #[test]
    fn automata_are_decided() {
        let text = record::read(AUTOMATA.file);
        let mut rows = text.lines().filter(|line| !line.starts_with('#'));
        assert_eq!(rows.next(), Some(format!("{}\tcommit", AUTOMATA.columns).as_str()));
        for row in rows {
            let fields: Vec<&str> = row.split('\t').collect();
            let number = |at: usize| fields[at].parse::<u64>().unwrap();
            let (automata, unknown, wrong) = (number(2), number(5), number(6));
            assert_eq!(wrong, 0, "{row}");
            match fields[0] {
                "bmc" | "execute" => {}
                "kind" | "tree-ic3" | "tree-ic3-itp" | "ic3-cegar" | "pdr" => {
                    assert!(100 * unknown < automata, "{row}");
                }
                _ => assert_eq!(unknown, 0, "{row}"),
            }
        }
    }
}
