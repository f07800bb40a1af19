//! `cargo xtask test`: all that has to hold before a change goes in.
//!
//! Quick checks come first. Then what is for boards is checked and built in parallel with what is for the host, after what only tests call has
//! been installed: cargo keeps both in folders of their own, and neither keeps all processors busy. Clippy compiles what is tested: to
//! check it first, and to compile it then, would take half as long again. The test runner comes last, so that its closing line ends the
//! output.

use crate::shell::{Beside, Usage};
use crate::{alone, boards, firmware, libvouch, project, setup, shell, tidy};
use anyhow::Result;
use std::process::Command;

/// Runs all checks, or those of what is for boards.
pub fn task(args: &[String]) -> Result<()> {
    match args.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => all(),
        ["boards"] => for_boards(),
        _ => Err(Usage("test [boards]".to_owned()).into()),
    }
}

/// Runs all checks, the quick ones first.
fn all() -> Result<()> {
    setup::begin()?;
    shell::stage("format", || {
        shell::run(host().args(["fmt", "--all", "--check"]))?;
        shell::run(shell::cargo().current_dir(project::firmware()).args(["fmt", "--check"]))?;
        shell::run(libvouch::cargo("fmt").arg("--check"))
    })?;
    shell::stage("tidy", tidy::run)?;
    shell::stage("packages of others", packages)?;
    let boards = Beside::start(
        "what is for boards",
        Command::new(std::env::current_exe()?).args(["test", "boards"]),
        &project::target().join("test-boards.log"),
    )?;
    // What they hold is complete; that it compiles is seen to by the rest.
    shell::stage("packages of ours", || {
        let mut package = host();
        package.args([
            "package",
            "--workspace",
            "--no-verify",
            "--allow-dirty",
            "--offline",
            "--quiet",
        ]);
        shell::run(package.args([
            "--exclude",
            "vouch-tests",
            "--exclude",
            "vouch-tools",
            "--exclude",
            "vouch-fuzz",
            "--exclude",
            "xtask",
        ]))
    })?;
    let nextest = shell::find("cargo-nextest").is_some();
    let tests = || {
        let mut host = host();
        host.args(if nextest { ["nextest", "run"].as_slice() } else { &["test"] })
            .arg("--workspace");
        host.args(if nextest { [].as_slice() } else { &["--lib", "--bins", "--tests"] });
        host.args(CLIPPY);
        host
    };
    shell::stage("tests are built, by clippy", || {
        // Programs that no test calls as well. Apart from the rest they would have dependencies with other features.
        let all = ["--no-run", "--lib", "--bins", "--tests"].into_iter();
        let all = all.filter(|flag| nextest || *flag == "--no-run");
        shell::run(testing(tests().args(all)))
    })?;
    shell::stage("examples in the documentation", || {
        let mut examples = host();
        shell::run(testing(examples.args(["test", "--workspace", "--doc", "--quiet"]).args(CLIPPY)))
    })?;
    boards.join()?;
    shell::heading("tests");
    shell::run(testing(&mut tests()))
}

/// Lints of what is for boards, and all of it is built: the tests run it.
fn for_boards() -> Result<()> {
    setup::run()?;
    for board in boards::all() {
        shell::stage(&format!("clippy for {}", board.name), || {
            let mut clippy = firmware::cargo("clippy", board);
            // As it is built afterwards: what runs on this machine meanwhile is compiled once.
            shell::run(clippy.args(["--release", "--bins", "--examples"]).args(DENY))
        })?;
    }
    shell::stage("clippy for the verifier alone", || {
        shell::run(alone::cargo("clippy", true).arg("--release").args(DENY))
    })?;
    firmware::build(boards::all())?;
    shell::stage("clippy for libvouch", || {
        let mut clippy = libvouch::cargo_for("clippy", "thumbv7m-none-eabi");
        shell::run(clippy.arg("--release").args(DENY))
    })?;
    alone::build().map(|_| ())
}

/// Licences and origins of what this is built from, as `deny.toml` wants them.
fn packages() -> Result<()> {
    if shell::find("cargo-deny").is_none() {
        println!("not checked: cargo-deny is not installed (`cargo install --locked cargo-deny`)");
        return Ok(());
    }
    for folder in [project::root().to_path_buf(), project::firmware()] {
        // Those for other systems are looked at too, and may not be here.
        let mut fetch = shell::cargo();
        fetch.current_dir(&folder).args(["fetch", "--locked", "--quiet"]);
        if shell::exit_code(&mut fetch)? != 0 {
            println!("not checked: not all packages are here, and they cannot be fetched");
            return Ok(());
        }
        // It finds the file here or in a folder above.
        let mut deny = shell::cargo();
        deny.current_dir(&folder).args(["deny", "--offline", "--locked", "check"]);
        shell::run(deny.args(["licenses", "bans", "sources"]))?;
    }
    Ok(())
}

const DENY: [&str; 3] = ["--", "-D", "warnings"];

/// Compiles with clippy, as `cargo clippy` does when it checks. What tests call does not inherit it, as it would a variable.
const CLIPPY: [&str; 2] = ["--config", "build.rustc-workspace-wrapper=\"clippy-driver\""];

/// A cargo command in the host's workspace.
fn host() -> Command {
    let mut command = shell::cargo();
    command.current_dir(project::root());
    command
}

/// Tells tests where to find what was built for them.
fn testing(command: &mut Command) -> &mut Command {
    command
        .env("VOUCH_FIRMWARE_DIR", project::firmware_out())
        .env("VOUCH_BIN", project::tested_tool())
        .env("INSTA_UPDATE", "no")
        // As `cargo clippy` gives arguments to clippy.
        .env("CLIPPY_ARGS", "-D__CLIPPY_HACKERY__warnings__CLIPPY_HACKERY__")
}
