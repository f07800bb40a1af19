//! `cargo vouch`: builds a crate, checks the program that comes out, and packages it.
//!
//! - [`args`]: what can be asked.
//! - [`build`]: has cargo build the program, with its properties linked to it.
//! - [`unload`]: takes the properties out of what is loaded.
//! - [`cache`]: what was found out before.
//!
//! Checking itself is left to `vouch`.

mod args;
mod build;
mod cache;
mod unload;

use args::{Args, What};
use cache::{Cache, Kept};
use clap::Parser;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use vouch_host::escape;

/// The command or the crate is wrong, as for `vouch`.
const WRONG: u8 = 2;

fn main() -> ExitCode {
    // Cargo calls `cargo-vouch vouch …`.
    let mut given: Vec<_> = std::env::args_os().collect();
    if given.get(1).is_some_and(|first| first == "vouch") {
        given.remove(1);
    }
    let code = match run(&Args::parse_from(given)) {
        Ok(code) => code,
        Err(message) => {
            eprintln!("error: {}", escape::lines(&message, false));
            WRONG
        }
    };
    ExitCode::from(code)
}

/// Does what is asked; returns the exit code, or what went wrong with a way out.
fn run(args: &Args) -> Result<u8, String> {
    let program = build::build(args)?;
    let bytes = unload::unload(program.bytes)?;
    let folder = program.elf.parent().unwrap_or(Path::new("."));
    std::fs::create_dir_all(folder).map_err(|e| cannot_write(folder, e))?;
    std::fs::write(&program.elf, &bytes).map_err(|e| cannot_write(&program.elf, e))?;
    let tool = tool()?;
    let cache = Cache::new(&program.target.join("cache"), &tool, &bytes, args)?;
    let mut code = 0;
    if args.what != Some(What::Package) {
        code = check(args, &tool, &program.elf, &cache)?;
    }
    if code == 0 && args.what != Some(What::Check) {
        code = package(args, &tool, &program.elf, &cache)?;
    }
    Ok(code)
}

fn cannot_write(path: &Path, error: std::io::Error) -> String {
    format!("cannot write {}: {error}", path.display())
}

/// `vouch`, which is installed next to this program.
fn tool() -> Result<PathBuf, String> {
    let own = std::env::current_exe().map_err(|e| format!("where is this program? {e}"))?;
    let tool = own.with_file_name(format!("vouch{}", std::env::consts::EXE_SUFFIX));
    match tool.is_file() {
        true => Ok(tool),
        false => Err(format!(
            "{} is missing\nhelp: install both programs: `cargo install vouch`",
            tool.display()
        )),
    }
}

/// The exit code of `vouch`, which has said itself why it is not 0.
fn code(tool: &Path, status: ExitStatus) -> Result<u8, String> {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    code.ok_or_else(|| {
        format!(
            "{} was ended from outside ({status})\nhelp: if memory was short, `-- --max-rss` limits it",
            tool.display()
        )
    })
}

/// Checks a program, unless that was done before.
fn check(args: &Args, tool: &Path, elf: &Path, cache: &Cache) -> Result<u8, String> {
    if let Some(Kept { code, output }) = cache.verdict() {
        show(args, &output, true);
        return Ok(code);
    }
    let mut command = Command::new(tool);
    command.arg("check").args(&args.vouch).arg(elf).stdout(Stdio::piped());
    let output = command.spawn().and_then(std::process::Child::wait_with_output);
    let output = output.map_err(|e| format!("cannot run {}: {e}", tool.display()))?;
    show(args, &output.stdout, false);
    let code = code(tool, output.status)?;
    cache.keep_verdict(&Kept { code, output: output.stdout });
    Ok(code)
}

/// Shows what `vouch` has said.
fn show(args: &Args, output: &[u8], is_cached: bool) {
    use std::io::Write;
    let mut text = String::from_utf8_lossy(output).into_owned();
    if is_cached {
        match serde_json::from_str(&text) {
            Ok(serde_json::Value::Object(mut object)) => {
                object.insert("cached".into(), true.into());
                text = serde_json::Value::Object(object).to_string() + "\n";
            }
            _ if args.is_quiet() => {}
            _ => eprintln!(
                "cached: program, options and tool are as before (--no-cache checks again)"
            ),
        }
    }
    // Whoever has closed it does not want to know.
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// Makes the package, unless it is there.
fn package(args: &Args, tool: &Path, elf: &Path, cache: &Cache) -> Result<u8, String> {
    let image = elf.with_extension("vimg");
    if cache.has_package(&image) {
        if !args.is_quiet() && !args.is_json() {
            println!("{} (cached)", image.display());
        }
        return Ok(0);
    }
    let mut command = Command::new(tool);
    command.args(["compile", "--with-certificate", "-o"]).arg(&image).args(&args.vouch).arg(elf);
    // With both, the verdict is what is shown.
    if args.what.is_none() && args.is_json() {
        command.stdout(Stdio::null());
    }
    let status = command.status().map_err(|e| format!("cannot run {}: {e}", tool.display()))?;
    let code = code(tool, status)?;
    if code == 0 {
        cache.keep_package(&image);
    }
    Ok(code)
}
