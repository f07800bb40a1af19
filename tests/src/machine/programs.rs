//! Small programs, built for the processors that the ELF front end knows.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Where their sources are.
fn sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("machine")
}

/// One of them.
pub fn source(file: &str) -> PathBuf {
    sources().join(file)
}

fn run(command: &mut Command) {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Builds a C program; `arm-none-eabi-gcc` is what `cargo xtask setup` installs.
pub fn c(name: &str, flags: &[&str], folder: &Path) -> PathBuf {
    c_at(name, flags, FLASH, RAM, folder)
}

/// Where flash and RAM are unless said otherwise.
const FLASH: u32 = 0x0800_0000;
const RAM: u32 = 0x2000_0000;

/// Builds a C program for a processor with flash and RAM at these addresses.
pub fn c_at(name: &str, flags: &[&str], flash: u32, ram: u32, folder: &Path) -> PathBuf {
    let elf = folder.join(format!("{name}{}-{flash:x}-{ram:x}.elf", flags.concat()));
    let script = std::fs::read_to_string(sources().join("link.x")).unwrap();
    let script = script.replace("0x08000000", &format!("{flash:#x}"));
    let script = script.replace("0x20000000", &format!("{ram:#x}"));
    let link = folder.join(format!("{flash:x}-{ram:x}.x"));
    std::fs::write(&link, script).unwrap();
    let link = format!("-Wl,-T,{},-e,step,-u,init", link.display());
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.current_dir(sources()).args(["-mthumb", "-g", "-ffreestanding", "-nostdlib"]).args(flags);
    gcc.args([&link, &format!("{name}.c"), "io.c", "-lgcc", "-o"]).arg(&elf);
    run(&mut gcc);
    elf
}

/// Builds a C program with clang, which `cargo xtask setup` installs.
pub fn clang(name: &str, target: &str, flags: &[&str], folder: &Path) -> PathBuf {
    let elf = folder.join(format!("{name}-{target}{}.elf", flags.concat()));
    let mut clang = Command::new("clang");
    clang.current_dir(sources()).args(["-g", "-ffreestanding", "-nostdlib", "-fuse-ld=lld"]);
    clang.args(["-Wl,-T,link.x", "-Wl,-e,step", &format!("--target={target}")]);
    if target.starts_with("riscv32") {
        clang.args(["-march=rv32imac", "-mabi=ilp32"]);
    }
    run(clang.args(flags).args([&format!("{name}.c"), "io.c", "-o"]).arg(&elf));
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
    // What they depend on is built once for both.
    let folder = tests.join("../target/crates/z");
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(tests.join("crates")).env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "z");
    cargo.args(["build", "--quiet", "--release", "--locked", "--target", target, "--target-dir"]);
    // What others need is not built.
    cargo.arg(&folder).args(["--no-default-features", "--features", &names.join(",")]);
    cargo.args(fault.then_some("--features=fault"));
    run(cargo.args(names.iter().map(|name| format!("--bin={name}"))));
    let built = folder.join(target).join("release");
    let kept = built.join(kind);
    std::fs::create_dir_all(&kept).unwrap();
    for name in names {
        std::fs::copy(built.join(name), kept.join(name)).unwrap();
    }
    kept
}

/// Builds a C program with markers; its properties are linked, too, if `whole`.
pub fn c_marked(name: &str, flags: &[&str], whole: bool, folder: &Path) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let elf = folder.join(format!("{name}{}{whole}.elf", flags.concat()));
    let header = root.join("host-cli/frontends/src/c/include");
    let mut gcc = Command::new("arm-none-eabi-gcc");
    gcc.current_dir(sources()).args(["-mthumb", "-g", "-ffreestanding", "-nostdlib"]);
    gcc.args(["-Wall", "-Werror", "-ffunction-sections", "-fdata-sections"]).args(flags);
    // GNU ld wants it before the other script, and a section before `.text` in that one.
    gcc.args(whole.then(|| format!("-Wl,-T,{}", root.join("marker/vouch.x").display())));
    let script = std::fs::read_to_string(sources().join("link.x")).unwrap();
    let vectors = "SECTIONS { .vectors : { *(.vectors) } > FLASH";
    let link = folder.join("vectors.x");
    std::fs::write(&link, script.replacen("SECTIONS {", vectors, 1)).unwrap();
    gcc.arg(format!("-Wl,--gc-sections,-e,step,-T,{}", link.display())).arg("-I").arg(header);
    gcc.args([&format!("{name}.c"), "-lgcc", "-o"]).arg(&elf);
    run(&mut gcc);
    elf
}

/// Builds the firmware with markers (`tests/marked`), with these features; its properties are linked, too, if `whole`.
pub fn marked(target: &str, features: &str, whole: bool) -> PathBuf {
    let tests = Path::new(env!("CARGO_MANIFEST_DIR"));
    let kind = format!("{}-{whole}", features.replace(',', "-"));
    let folder = tests.join("../target/marked").join(kind);
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo.current_dir(tests.join("marked")).args(["rustc", "--quiet", "--release", "--locked"]);
    cargo.args(["--offline", "--target", target, "--features", features, "--target-dir"]);
    cargo.arg(&folder);
    if whole {
        let script = tests.join("../marker/vouch.x");
        cargo.args(["--", &format!("-Clink-arg=-T{}", script.display())]);
    }
    run(&mut cargo);
    folder.join(target).join("release/marked")
}
