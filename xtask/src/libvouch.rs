//! `cargo xtask libvouch`: the static library for products in C, for each processor, and what it takes of flash.
//!
//! Beside the libraries lie the headers, the linker script for properties, and the files for CMake and Zephyr.

use crate::{project, record, shell};
use anyhow::{Context, Result, ensure};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What it is built for. What rustup has not installed is left out, and that is said.
const TARGETS: [&str; 6] = [
    "thumbv6m-none-eabi",
    "thumbv7m-none-eabi",
    "thumbv7em-none-eabi",
    "thumbv7em-none-eabihf",
    "riscv32imc-unknown-none-elf",
    "riscv32imac-unknown-none-elf",
];

/// The examples, on a Cortex-M3: the most bytes of flash that one may take, without its model.
const EXAMPLES: [(&str, Option<u32>); 3] =
    [("checker", Some(27 << 10)), ("boot", None), ("store", None)];

/// Builds the library for each installed target, and measures the flash of the examples.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("libvouch", args)?;
    let installed = shell::output(Command::new("rustup").args(["target", "list", "--installed"]))?;
    let out = out();
    for target in TARGETS {
        if !installed.lines().any(|line| line.trim() == target) {
            eprintln!("   {target}: not installed, left out (`rustup target add {target}`)");
            continue;
        }
        shell::stage(&format!("libvouch for {target}"), || {
            let built = build(target)?;
            copy(&built, &out.join("lib").join(target).join("libvouch.a"))
        })?;
    }
    for (from, to) in [
        ("libvouch/include/vouch_device.h", "include/vouch_device.h"),
        ("host-cli/frontends/src/c/include/vouch.h", "include/vouch.h"),
        ("marker/vouch.x", "vouch.x"),
        ("libvouch/cmake/vouch-config.cmake", "cmake/vouch-config.cmake"),
        ("libvouch/zephyr/module.yml", "zephyr/module.yml"),
        ("libvouch/zephyr/CMakeLists.txt", "zephyr/CMakeLists.txt"),
        ("libvouch/zephyr/Kconfig", "zephyr/Kconfig"),
    ] {
        copy(&project::root().join(from), &out.join(to))?;
    }
    eprintln!("written: {}", out.display());
    shell::stage("what the examples take on a Cortex-M3", || measure(&out))
}

/// Where finished libraries go.
fn out() -> PathBuf {
    folder().join("out")
}

fn build(target: &str) -> Result<PathBuf> {
    shell::run(cargo_for("build", target).arg("--release"))?;
    Ok(folder().join(target).join("release/libvouch.a"))
}

fn folder() -> PathBuf {
    project::target().join("libvouch")
}

/// A cargo command for the library.
pub fn cargo(verb: &str) -> Command {
    let mut cargo = shell::cargo();
    // What the host's compiler is told does not suit these processors.
    cargo.current_dir(project::root().join("libvouch")).env_remove("RUSTFLAGS").arg(verb);
    cargo
}

/// The same for a processor.
pub fn cargo_for(verb: &str, target: &str) -> Command {
    let mut cargo = cargo(verb);
    cargo.args(["--locked", "--target", target, "--target-dir"]).arg(folder());
    cargo
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to.parent().unwrap_or(to))?;
    std::fs::copy(from, to).with_context(|| format!("{} cannot be copied", from.display()))?;
    Ok(())
}

/// Bytes of flash of each example, without its model.
fn measure(out: &Path) -> Result<()> {
    let library = out.join("lib/thumbv7m-none-eabi/libvouch.a");
    let nothing = out.join("nothing");
    std::fs::write(&nothing, [])?;
    let files = ["MODEL", "KEY"].map(|name| format!("-D{name}=\"{}\"", nothing.display()));
    let mut table = format!(
        "# cargo xtask libvouch; {}; arm-none-eabi-gcc -Os, Cortex-M3; bytes of flash of a whole program, without its model\n\
         example\tflash\tat most\n",
        record::build()?
    );
    for (name, limit) in EXAMPLES {
        let elf = out.join(format!("{name}.elf"));
        let mut gcc = Command::new("arm-none-eabi-gcc");
        gcc.current_dir(project::root().join("libvouch/example"));
        gcc.args(["-mcpu=cortex-m3", "-mthumb", "-Os", "-ffreestanding", "-nostdlib"]);
        gcc.args([
            "-ffunction-sections",
            "-fdata-sections",
            "-Wl,--gc-sections,-z,noexecstack",
            "-I../include",
        ]);
        gcc.args(["-T", "link.ld", "-DHEADER=144"]).args(&files);
        gcc.args([&format!("{name}.c"), "board.c", "model.S"]).arg(&library);
        shell::run(gcc.args(["-lgcc", "-o"]).arg(&elf))?;
        let size = shell::output(Command::new("arm-none-eabi-size").arg(&elf))?;
        let numbers = size.lines().nth(1).context("arm-none-eabi-size prints no numbers")?;
        let mut numbers =
            numbers.split_whitespace().filter_map(|number| number.parse::<u32>().ok());
        let flash = numbers.next().context("no size of text")? + numbers.next().unwrap_or(0);
        let most = limit.map_or("-".into(), |limit| limit.to_string());
        eprintln!("   {name}: {flash} bytes of flash, at most {most}");
        let _ = writeln!(table, "{name}\t{flash}\t{most}");
        let fits = limit.is_none_or(|limit| flash <= limit);
        ensure!(fits, "{name} takes {flash} bytes of flash, more than {most}");
    }
    record::write("libvouch.tsv", &table)
}
