//! Small programs, built for the processors that the ELF front end knows.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where their sources are.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("machine")
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Builds a C program; `arm-none-eabi-gcc` is what `cargo xtask setup` installs.
pub fn c(name: &str, flags: &[&str], folder: &Path) -> PathBuf {
    let elf = folder.join(format!("{name}{}.elf", flags.concat()));
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.current_dir(sources()).args(["-mthumb", "-g", "-ffreestanding", "-nostdlib"]).args(flags);
    gcc.args(["-Wl,-T,link.x,-e,step,-u,init", &format!("{name}.c"), "io.c", "-lgcc", "-o"])
        .arg(&elf);
    run(&mut gcc);
    elf
}

/// Builds a Rust program; flags are those of `rustc`.
pub fn rust(name: &str, target: &str, flags: &[&str], folder: &Path) -> PathBuf {
    rust_as(name, &format!("{name}{}", flags.concat()), target, flags, folder)
}

/// The same, with a name for the file.
pub fn rust_as(name: &str, file: &str, target: &str, flags: &[&str], folder: &Path) -> PathBuf {
    let elf = folder.join(format!("{file}-{target}.elf"));
    let rustc = std::env::var_os("RUSTC").unwrap_or("rustc".into());
    let mut rustc = Command::new(rustc);
    rustc.current_dir(sources()).args(["--edition", "2024", "--crate-type", "bin", "-g"]);
    rustc.args(["-C", "panic=abort", "-C", "overflow-checks=on", "--check-cfg", "cfg(broken)"]);
    rustc.args(["-C", "link-arg=-Tlink.x", "-C", "link-arg=-ustep", "-C", "link-arg=-estep"]);
    rustc.args(["--target", target]).args(flags).arg(format!("{name}.rs")).arg("-o").arg(&elf);
    run(&mut rustc);
    elf
}

/// Builds state machines of crates from crates.io, and returns the folder that they are in; with `fault` what they
/// assert is broken.
pub fn crates(names: &[&str], target: &str, fault: bool) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kind = if fault { "fault" } else { "good" };
    let folder = tests.join("../target/crates").join(format!("z-{kind}"));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(tests.join("crates")).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "z");
    cargo.args(["build", "--quiet", "--release", "--locked", "--target", target, "--target-dir"]);
    cargo.arg(&folder).args(fault.then_some("--features=fault"));
    run(cargo.args(names.iter().map(|name| format!("--bin={name}"))));
    folder.join(target).join("release")
}
