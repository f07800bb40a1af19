//! Has cargo build a program, with its properties linked beside it.

use super::args::Args;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Where the linker puts properties.
const SCRIPT: &str = include_str!("../../vouch.x");

/// A program that was built.
pub struct Program {
    /// The ELF file as cargo's linker wrote it.
    pub bytes: Vec<u8>,
    /// The folder of all that `cargo vouch` writes.
    pub target: PathBuf,
    /// Where in it the program belongs.
    pub elf: PathBuf,
}

fn cargo() -> Command {
    Command::new(std::env::var_os("CARGO").unwrap_or("cargo".into()))
}

fn cannot_run(error: std::io::Error) -> String {
    format!("cannot run cargo: {error}")
}

/// Builds it; nothing if cargo has said why it cannot.
pub fn build(args: &Args) -> Result<Option<Program>, String> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]).args(args.place());
    let output = metadata.stderr(Stdio::inherit()).output().map_err(cannot_run)?;
    if !output.status.success() {
        return Ok(None);
    }
    let metadata: Value = serde_json::from_slice(&output.stdout)
        .map_err(|e| format!("`cargo metadata` cannot be understood: {e}"))?;
    let (package, bin) = choose(&metadata, args)?;
    let cargos =
        args.target_dir.clone().or_else(|| text(&metadata, "target_directory").map(PathBuf::from));
    let cargos = cargos.ok_or("`cargo metadata` does not tell the target folder")?;
    let cargos = std::path::absolute(&cargos).map_err(|e| format!("{}: {e}", cargos.display()))?;
    let target = cargos.join("vouch");
    let script = write_script(&target)?;
    let mut build = cargo();
    build.args(["rustc", "--message-format=json-render-diagnostics", "--package", &package]);
    build.args(["--bin", &bin]).args(args.cargo());
    build.args(["--", &format!("-Clink-arg=-T{}", script.display())]);
    let output = build.stderr(Stdio::inherit()).output().map_err(cannot_run)?;
    if !output.status.success() {
        return Ok(None);
    }
    let messages = output.stdout.split(|byte| *byte == b'\n');
    let messages = messages.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut built = messages.filter_map(|message| {
        let is_it = text(&message["target"], "name") == Some(&bin);
        text(&message, "executable").filter(|_| is_it).map(PathBuf::from)
    });
    let built = built.next_back().ok_or("cargo has built no program")?;
    let bytes =
        std::fs::read(&built).map_err(|e| format!("cannot read {}: {e}", built.display()))?;
    // As in cargo's own folder: TARGET/PROFILE/NAME.
    let place = built.strip_prefix(&cargos).unwrap_or(Path::new(&bin));
    let elf = target.join(place).with_extension("elf");
    Ok(Some(Program { bytes, target, elf }))
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The package and the program in it that are meant.
fn choose(metadata: &Value, args: &Args) -> Result<(String, String), String> {
    let default: Vec<&str> =
        list(metadata, "workspace_default_members").filter_map(Value::as_str).collect();
    let mut found = vec![];
    for package in list(metadata, "packages") {
        let (Some(name), Some(id)) = (text(package, "name"), text(package, "id")) else { continue };
        let is_meant = match &args.package {
            Some(wanted) => name == wanted,
            None => default.contains(&id),
        };
        for target in list(package, "targets").filter(|_| is_meant) {
            let is_bin = list(target, "kind").any(|kind| kind == "bin");
            let Some(bin) = text(target, "name").filter(|_| is_bin) else { continue };
            if args.bin.as_ref().is_none_or(|wanted| wanted == bin) {
                found.push((name.to_owned(), bin.to_owned()));
            }
        }
    }
    match &found[..] {
        [(package, bin)] => Ok((package.clone(), bin.clone())),
        [] => {
            let name = args.bin.as_deref().map_or(String::new(), |bin| format!(" `{bin}`"));
            Err(format!(
                "the package has no program{name}\nhelp: name one with `--bin`, of the package that `--package` names"
            ))
        }
        all => {
            let all: Vec<String> = all.iter().map(|(_, bin)| format!("`{bin}`")).collect();
            Err(format!(
                "the package has several programs: {}\nhelp: choose one with `--bin`",
                all.join(", ")
            ))
        }
    }
}

/// Writes the linker script, unless it is there: cargo builds again what depends on it.
fn write_script(folder: &Path) -> Result<PathBuf, String> {
    let path = folder.join("vouch.x");
    let cannot = |e: std::io::Error| format!("cannot write {}: {e}", path.display());
    std::fs::create_dir_all(folder).map_err(cannot)?;
    if std::fs::read_to_string(&path).ok().as_deref() != Some(SCRIPT) {
        std::fs::write(&path, SCRIPT).map_err(cannot)?;
    }
    Ok(path)
}
