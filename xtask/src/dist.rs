//! `cargo xtask dist`: what a user installs, in `target/dist`.
//!
//! A tree (`bin`, completions, manual pages, licences), as an archive, and as a Debian package where `dpkg-deb` is
//! installed. All of it is made of the release build and of what the tool says of itself.

use crate::{demo, project, shell};
use anyhow::{Context, Result, bail};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Bytes that the tool may have without symbols.
const LIMIT: u64 = 20_000_000;

/// Binaries that go into `bin`.
const PROGRAMS: [&str; 2] = ["vouch", "cargo-vouch"];

/// Shells, and where each looks for what it completes with, below `share`.
const SHELLS: [(&str, &str); 3] = [
    ("bash", "bash-completion/completions/vouch"),
    ("zsh", "zsh/vendor-completions/_vouch"),
    ("fish", "fish/vendor_completions.d/vouch.fish"),
];

/// Makes the tree, the archive, and the Debian package where `dpkg-deb` is installed.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("dist", args)?;
    shell::stage("host tool", demo::build_tool)?;
    let out = project::target().join("dist");
    let _ = fs::remove_dir_all(&out);
    let tree = out.join("tree");
    shell::stage("tree", || stage(&tree))?;
    let version = env!("CARGO_PKG_VERSION");
    let archive = out.join(format!("vouch-{version}-{}.tar.gz", std::env::consts::ARCH));
    shell::stage("archive", || {
        let mut tar = Command::new("tar");
        tar.args(["--owner=0", "--group=0", "--sort=name", "-czf"]).arg(&archive);
        shell::run(tar.arg("-C").arg(&tree).arg("."))?;
        tell(&archive)
    })?;
    if shell::find("dpkg-deb").is_none() {
        println!("no Debian package: dpkg-deb is not installed");
        return Ok(());
    }
    shell::stage("Debian package", || debian(&out, &tree, version))
}

/// Puts everything where it belongs below a prefix.
fn stage(tree: &Path) -> Result<()> {
    let built = project::tool().parent().map(Path::to_path_buf).unwrap_or_default();
    for program in PROGRAMS {
        let to = tree.join("bin").join(program);
        copy(&built.join(program), &to)?;
        shell::run(Command::new("strip").arg(&to))?;
        tell(&to)?;
    }
    let tool = tree.join("bin/vouch");
    let size = fs::metadata(&tool)?.len();
    if size > LIMIT {
        bail!("the tool has {size} bytes, and {LIMIT} is the limit");
    }
    let share = tree.join("share");
    for (shell, place) in SHELLS {
        let script = shell::output(Command::new(&tool).args(["completions", shell]))?;
        write(&share.join(place), &format!("{script}\n"))?;
    }
    shell::run(Command::new(&tool).arg("manual").arg(share.join("man/man1")))?;
    for file in ["README.md", "CHANGELOG.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        copy(&project::root().join(file), &share.join("doc/vouch").join(file))?;
    }
    copy(&project::root().join("LICENSE-MIT"), &share.join("doc/vouch/copyright"))
}

/// The package, which is looked into again: the tool in it must run.
fn debian(out: &Path, tree: &Path, version: &str) -> Result<()> {
    let root = out.join("debian");
    let mut copy = Command::new("cp");
    fs::create_dir_all(&root)?;
    shell::run(copy.arg("-r").arg(tree).arg(root.join("usr")))?;
    let architecture = shell::output(Command::new("dpkg").arg("--print-architecture"))?;
    let control = format!(
        "Package: vouch\n\
         Version: {version}\n\
         Architecture: {architecture}\n\
         Maintainer: The vouch developers <vouch@example.org>\n\
         Section: devel\n\
         Priority: optional\n\
         Depends: libc6 (>= 2.34)\n\
         Recommends: qemu-system-arm, qemu-system-misc, gcc\n\
         Description: proves firmware state machines on the device that runs them\n \
         Compiles models, C and machine code into images for a checker of fixed memory,\n \
         has a device prove them at boot, and validates what comes back.\n"
    );
    write(&root.join("DEBIAN/control"), &control)?;
    let package = out.join(format!("vouch_{version}_{architecture}.deb"));
    let mut build = Command::new("dpkg-deb");
    build.args(["--root-owner-group", "--build"]).arg(&root).arg(&package);
    shell::run(&mut build)?;
    tell(&package)?;
    let inside = out.join("installed");
    shell::run(Command::new("dpkg-deb").arg("-x").arg(&package).arg(&inside))?;
    let said = shell::output(Command::new(inside.join("usr/bin/vouch")).arg("--version"))?;
    println!("{said} in it runs");
    Ok(())
}

fn copy(from: &Path, to: &PathBuf) -> Result<()> {
    fs::create_dir_all(to.parent().unwrap_or(to))?;
    fs::copy(from, to).with_context(|| format!("{} cannot be copied", from.display()))?;
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(path))?;
    fs::write(path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// Says how large a file is.
fn tell(path: &Path) -> Result<()> {
    let size = fs::metadata(path).with_context(|| path.display().to_string())?.len();
    println!("{}: {:.1} MB", path.display(), size as f64 / 1e6);
    Ok(())
}
