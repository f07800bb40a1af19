//! `cargo xtask setup`: brings what the other tasks need and is not there yet.
//!
//! When all is there it only looks, and needs no network.

use crate::shell::{self, Usage};
use crate::{boards, project};
use anyhow::{Context, Result, bail};
use std::io::IsTerminal;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Installs what is missing; fails if that does not work.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("setup", args)?;
    run()
}

/// Sets up whatever is missing.
pub fn run() -> Result<()> {
    shell::stage("set-up", || {
        rust()?;
        bring(&programs())?;
        labgrid();
        crates()
    })
}

/// Sets up what builds for the host need. The rest may be set up beside them, unless somebody has to be told or asked something.
pub fn begin() -> Result<()> {
    let is_quiet = shell::find("apt-get").is_some() && is_root();
    if !is_quiet && programs().iter().any(|program| !program.is_here()) {
        return run();
    }
    shell::stage("set-up for builds", || {
        rust()?;
        bring(&compilers())
    })
}

/// What the tests call.
fn programs() -> Vec<&'static Program> {
    let others = [&QEMU_ARM, &QEMU_RISCV, &ARM_GCC, &GDB, &CMAKE, &CLANG, &LLD, &CHROMIUM];
    [compilers(), others.to_vec()].concat()
}

/// The host's, which links all programs: it is not touched while something is built.
fn compilers() -> Vec<&'static Program> {
    // Elsewhere the tests that need it say that they are left out.
    let gcc32 = shell::find("apt-get").is_some().then_some(&GCC32);
    [&CPP].into_iter().chain(gcc32).collect()
}

/// A program that a system's package manager has.
pub struct Program {
    /// Its names; one of them suffices.
    pub names: &'static [&'static str],
    /// How it is tried, if being found in a folder of programs does not show that it works.
    pub works: Option<fn() -> bool>,
    /// What it is for.
    pub purpose: &'static str,
    /// Debian's packages for `apt-get install`, with blanks between them.
    pub debian: &'static str,
    /// What to say on other systems.
    pub elsewhere: &'static str,
}

const QEMU_ARM: Program = Program {
    names: &["qemu-system-arm"],
    works: None,
    purpose: "emulates the Arm boards",
    debian: "qemu-system-arm",
    elsewhere: "  Fedora:   dnf install qemu-system-arm
  Arch:     pacman -S qemu-system-arm
  macOS:    brew install qemu
  Windows:  the installer from https://www.qemu.org/download, with its folder in PATH",
};

const QEMU_RISCV: Program = Program {
    names: &["qemu-system-riscv32"],
    works: None,
    purpose: "emulates the RISC-V board",
    debian: "qemu-system-misc",
    elsewhere: "  Fedora:   dnf install qemu-system-riscv
  Arch:     pacman -S qemu-system-riscv
  macOS:    brew install qemu
  Windows:  the installer from https://www.qemu.org/download, with its folder in PATH",
};

/// A solver that the tests compare ours with is written in C++.
const CPP: Program = Program {
    names: &["c++", "g++", "clang++", "cl"],
    works: None,
    purpose: "compiles a solver that the tests use as an oracle",
    debian: "g++",
    elsewhere: "  Fedora:   dnf install gcc-c++
  Arch:     pacman -S gcc
  macOS:    xcode-select --install
  Windows:  the C++ build tools of Visual Studio",
};

/// Programs in C are compared with what gcc makes of them for 32 bits.
pub const GCC32: Program = Program {
    names: &["gcc -m32"],
    works: Some(links_for_32_bits),
    purpose: "compiles programs for 32-bit x86",
    debian: "gcc gcc-multilib",
    elsewhere: "  Fedora:   dnf install gcc glibc-devel.i686
  Arch:     pacman -S gcc lib32-glibc",
};

const GDB: Program = Program {
    names: &["gdb-multiarch"],
    works: None,
    purpose: "runs the scripts that vouch writes for debuggers",
    debian: "gdb-multiarch",
    elsewhere: "  Fedora:   dnf install gdb
  Arch:     pacman -S gdb
  macOS:    brew install gdb
with a link named gdb-multiarch",
};

const CLANG: Program = Program {
    names: &["clang"],
    works: None,
    purpose: "makes other machine code of C than GCC, which the tests lift",
    debian: "clang",
    elsewhere: "  Fedora:   dnf install clang
  Arch:     pacman -S clang
  macOS:    brew install llvm
  Windows:  the installer from https://releases.llvm.org, with its folder in PATH",
};

const LLD: Program = Program {
    names: &["ld.lld"],
    works: None,
    purpose: "links what clang makes",
    debian: "lld",
    elsewhere: "  Fedora:   dnf install lld
  Arch:     pacman -S lld
  macOS:    brew install lld
  Windows:  the installer from https://releases.llvm.org, with its folder in PATH",
};

const CHROMIUM: Program = Program {
    names: &["chromium", "chromium-browser", "google-chrome"],
    works: None,
    purpose: "steps through the pages that vouch writes",
    debian: "chromium",
    elsewhere: "  Fedora:   dnf install chromium
  Arch:     pacman -S chromium
  macOS:    brew install --cask google-chrome, with a link named google-chrome
  Windows:  the installer from https://www.chromium.org, with its folder in PATH",
};

const CMAKE: Program = Program {
    names: &["cmake"],
    works: None,
    purpose: "builds firmware in C with the package of libvouch",
    debian: "cmake make",
    elsewhere: "  Fedora:   dnf install cmake make
  Arch:     pacman -S cmake make
  macOS:    brew install cmake make
  Windows:  the installer from https://cmake.org/download, with its folder in PATH",
};

/// Bit-fields have to lie where the compiler for the target places them.
const ARM_GCC: Program = Program {
    names: &["arm-none-eabi-gcc"],
    works: None,
    purpose: "lays structs out for Arm, which the tests compare with",
    debian: "gcc-arm-none-eabi",
    elsewhere: "  Fedora:   dnf install arm-none-eabi-gcc-cs
  Arch:     pacman -S arm-none-eabi-gcc
  macOS:    brew install --cask gcc-arm-embedded
  Windows:  the Arm GNU Toolchain from https://developer.arm.com, with its folder in PATH",
};

/// The compiler's parts: targets of the boards, formatter and linter.
fn rust() -> Result<()> {
    let rustc = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let sysroot = PathBuf::from(shell::output(Command::new(rustc).args(["--print", "sysroot"]))?);
    let targets = missing_targets(&sysroot);
    let components: Vec<_> = [("rustfmt", "cargo-fmt"), ("clippy", "cargo-clippy")]
        .into_iter()
        .filter(|(_, program)| {
            let file = format!("{program}{}", std::env::consts::EXE_SUFFIX);
            let installed = sysroot.join("bin").join(file).is_file();
            !installed && (!no_rustup() || !works(program))
        })
        .map(|(component, _)| component)
        .collect();
    rustup("target", &targets)?;
    rustup("component", &components)
}

/// What the tests build besides the workspace is fetched, so that building it needs no network.
fn crates() -> Result<()> {
    for folder in ["tests/crates", "tests/marked", "libvouch"] {
        let manifest = project::root().join(folder).join("Cargo.toml");
        let fetch = || {
            let mut cargo = shell::cargo();
            cargo.args(["fetch", "--quiet", "--locked", "--manifest-path"]).arg(&manifest);
            cargo
        };
        let mut offline = fetch();
        offline.arg("--offline").stderr(Stdio::null());
        if shell::exit_code(&mut offline)? != 0 {
            shell::run(&mut fetch())?;
        }
    }
    Ok(())
}

/// labgrid, in a folder of its own: a test has it lend boards. It comes from PyPI, which not every machine reaches; without it that
/// test says that it is left out.
fn labgrid() {
    let folder = project::root().join("target/labgrid");
    let program = "labgrid-coordinator";
    if shell::find(program).is_some() || folder.join("bin").join(program).is_file() {
        return;
    }
    eprintln!("   installing labgrid with pip");
    let make = |ready: bool| {
        if !ready && shell::find("apt-get").is_some() {
            apt(&["install", "-y", "--no-install-recommends", "python3-venv"])?;
        }
        let mut python = Command::new("python3");
        shell::run(python.args(["-m", "venv", "--clear"]).arg(&folder))?;
        let pip = folder.join("bin/pip");
        shell::run(Command::new(pip).args(["install", "--quiet", "labgrid>=25,<27"]))
    };
    let has_pip = Command::new("python3").args(["-c", "import ensurepip, venv"]).status();
    if let Err(error) = make(has_pip.is_ok_and(|status| status.success())) {
        println!("not installed: {error:#}; the test with labgrid is left out");
        // Half of it would be found next time.
        let _ = std::fs::remove_dir_all(&folder);
    }
}

fn missing_targets(sysroot: &Path) -> Vec<&'static str> {
    let installed = sysroot.join("lib").join("rustlib");
    let missing = |target: &&str| !installed.join(target).join("lib").is_dir();
    let mut targets: Vec<_> =
        boards::all().iter().map(|board| board.target.as_str()).filter(missing).collect();
    targets.sort();
    targets.dedup();
    targets
}

fn no_rustup() -> bool {
    shell::find("rustup").is_none()
}

fn works(program: &str) -> bool {
    let mut command = Command::new(program);
    command.arg("--version").stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn rustup(kind: &str, names: &[&str]) -> Result<()> {
    if names.is_empty() {
        return Ok(());
    }
    let names_line = names.join(" ");
    if no_rustup() {
        bail!(
            "this Rust lacks {names_line}, and there is no rustup to add it.\n\
             Install rustup from https://rustup.rs, or add it with your system's packages."
        );
    }
    shell::run(Command::new("rustup").args([kind, "add"]).args(names).stdin(Stdio::null()))
        .with_context(|| format!("{names_line} could not be added; is there a network?"))
}

impl Program {
    fn is_here(&self) -> bool {
        let by_name = || self.names.iter().any(|name| shell::find(name).is_some());
        self.works.map_or_else(by_name, |works| works())
    }
}

/// Installs the programs that are not there, all at once: each call of apt-get ends with what the system does after an
/// installation, which takes longer than most of them.
pub fn bring(programs: &[&Program]) -> Result<()> {
    let missing: Vec<&Program> = programs.iter().copied().filter(|p| !p.is_here()).collect();
    let Some(first) = missing.first() else { return Ok(()) };
    if shell::find("apt-get").is_none() {
        let Program { names, purpose, elsewhere, .. } = first;
        return Err(Usage(format!(
            "`{}`, which {purpose}, is not installed. Install it and try again:\n{elsewhere}",
            names[0]
        ))
        .into());
    }
    let packages: Vec<&str> = missing.iter().flat_map(|p| p.debian.split(' ')).collect();
    eprintln!("   installing {} with apt-get", packages.join(" "));
    // The package lists of a machine that was set up recently are good; only if not, fetch them.
    let install = [&["install", "-y", "--no-install-recommends"][..], &packages].concat();
    if apt(&install).is_err() {
        apt(&["update"])?;
        apt(&install)?;
    }
    if let Some(Program { names, debian, .. }) = missing.iter().find(|p| !p.is_here()) {
        bail!("apt-get has installed {debian}, but there is still no working `{}`", names[0]);
    }
    Ok(())
}

/// Runs apt-get as root, without a question.
fn apt(args: &[&str]) -> Result<()> {
    let mut command = if is_root() {
        Command::new("apt-get")
    } else if shell::find("sudo").is_some() {
        let mut sudo = Command::new("sudo");
        if !std::io::stdin().is_terminal() {
            sudo.arg("-n");
        }
        sudo.arg("apt-get");
        sudo
    } else {
        bail!("installing needs root: run `apt-get {}` as root and try again", args.join(" "));
    };
    shell::run(command.env("DEBIAN_FRONTEND", "noninteractive").arg("-q").args(args))
}

fn is_root() -> bool {
    shell::output(Command::new("id").arg("-u")).is_ok_and(|id| id == "0")
}

/// Whether there is a compiler that links for 32 bits.
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_missing_unless_its_library_is_there() {
        let sysroot = std::env::temp_dir().join(format!("vouch-setup-{}", std::process::id()));
        let all = missing_targets(&sysroot);
        assert_eq!(all.len(), 4);
        let lib = sysroot.join("lib/rustlib").join(all[1]).join("lib");
        std::fs::create_dir_all(&lib).unwrap();
        assert_eq!(missing_targets(&sysroot), [&all[..1], &all[2..]].concat());
        std::fs::remove_dir_all(&sysroot).unwrap();
    }
}
