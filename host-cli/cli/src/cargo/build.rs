//! Has cargo build a program, with its properties linked to it.

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

/// What cargo prints; whatever else it has to say, it says itself. `help` is for when it fails.
fn output(command: &mut Command, help: &str) -> Result<Vec<u8>, String> {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let line: Vec<_> = words.map(|word| word.to_string_lossy().into_owned()).collect();
    let line = line.join(" ");
    let output = command.stderr(Stdio::inherit()).output();
    let output = output.map_err(|e| {
        format!("cannot run `{line}`: {e}\nhelp: install Rust (https://rustup.rs), or name cargo in the variable CARGO")
    })?;
    match output.status.success() {
        true => Ok(output.stdout),
        false => Err(format!("`{line}` failed ({})\nhelp: {help}", output.status)),
    }
}

/// Has cargo build the program, and finds the file that came of it.
pub fn build(args: &Args) -> Result<Program, String> {
    let mut metadata = cargo();
    metadata.args(["metadata", "--no-deps", "--format-version", "1"]).args(args.place());
    let help = "run it in the folder of a crate, or name its `Cargo.toml` with `--manifest-path`";
    let metadata: Value = serde_json::from_slice(&output(&mut metadata, help)?)
        .map_err(|e| format!("`cargo metadata` does not print JSON: {e}\nhelp: {WRAPPER}"))?;
    let (package, bin) = choose(&metadata, args)?;
    let cargos =
        args.target_dir.clone().or_else(|| text(&metadata, "target_directory").map(PathBuf::from));
    let cargos = cargos.ok_or_else(|| {
        format!("`cargo metadata` does not tell the target folder\nhelp: name it with `--target-dir`; {WRAPPER}")
    })?;
    let cargos = std::path::absolute(&cargos).map_err(|e| format!("{}: {e}", cargos.display()))?;
    let target = cargos.join("vouch");
    let script = write_script(&target)?;
    let mut build = cargo();
    build.args(["rustc", "--message-format=json-render-diagnostics", "--package", &package]);
    build.args(["--bin", &bin]).args(args.cargo());
    build.args(["--", &format!("-Clink-arg=-T{}", script.display())]);
    let help = "see above what is wrong; if `cargo build` succeeds with the same options, the linker does not take `-T`: \
                it has to be rust-lld or one of GNU";
    let built = built(&output(&mut build, help)?, &bin)?;
    let bytes =
        std::fs::read(&built).map_err(|e| format!("cannot read {}: {e}", built.display()))?;
    // As in cargo's own folder: TARGET/PROFILE/NAME.
    let place = built.strip_prefix(&cargos).unwrap_or(Path::new(&bin));
    let elf = target.join(place).with_extension("elf");
    Ok(Program { bytes, target, elf })
}

/// Why cargo may not print what cargo prints.
const WRAPPER: &str = "is there a program of another kind in the variable CARGO?";

/// The program that cargo has built, by the messages that it has printed.
fn built(messages: &[u8], bin: &str) -> Result<PathBuf, String> {
    // Programs that cargo runs may print among them.
    let messages = messages.split(|byte| *byte == b'\n');
    let messages = messages.filter_map(|line| serde_json::from_slice::<Value>(line).ok());
    let mut built: Vec<PathBuf> = messages
        .filter_map(|message| {
            let is_it = text(&message["target"], "name") == Some(bin);
            text(&message, "executable").filter(|_| is_it).map(PathBuf::from)
        })
        .collect();
    built.dedup();
    match &built[..] {
        [one] => Ok(one.clone()),
        [] => Err(format!(
            "cargo does not tell where the program `{bin}` is that it has built\nhelp: {WRAPPER}"
        )),
        all => {
            let all: Vec<String> = all.iter().map(|path| path.display().to_string()).collect();
            Err(format!(
                "cargo has built several programs `{bin}`: {}\nhelp: choose what it is built for with `--target`",
                all.join(", ")
            ))
        }
    }
}

fn text<'a>(value: &'a Value, name: &str) -> Option<&'a str> {
    value.get(name)?.as_str()
}

fn list<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}

/// The package and the program in it that are meant.
fn choose(metadata: &Value, args: &Args) -> Result<(String, String), String> {
    // Cargo tells the default ones since 1.71.
    let members = ["workspace_default_members", "workspace_members"]
        .iter()
        .find_map(|name| metadata.get(name));
    let default: Vec<&str> =
        members.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let (mut names, mut found) = (vec![], vec![]);
    for package in list(metadata, "packages") {
        let (Some(name), Some(id)) = (text(package, "name"), text(package, "id")) else { continue };
        names.push(format!("`{name}`"));
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
        [] if args.package.as_ref().is_some_and(|p| !names.contains(&format!("`{p}`"))) => {
            Err(format!(
                "there is no package `{}` in the workspace\nhelp: `--package` takes one of {}",
                args.package.as_deref().unwrap_or_default(),
                names.join(", ")
            ))
        }
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

#[cfg(test)]
mod tests {
    use super::*;
    use clap::Parser;
    use serde_json::json;

    #[test]
    fn the_program_is_where_cargo_says() {
        let message = |name: &str, path: Option<&str>| {
            let target = json!({ "name": name, "kind": ["bin"] });
            json!({ "reason": "compiler-artifact", "target": target, "executable": path })
                .to_string()
        };
        let ask = |lines: &[String]| built(lines.join("\n").as_bytes(), "pump");
        let (other, pump) =
            (message("other", Some("/t/other")), message("pump", Some("/t/a/pump")));
        let printed = "a build script's text, [1, 2], { not JSON".to_owned();
        let library = message("pump", None);
        let lines = [printed.clone(), "[1]".into(), library.clone(), other.clone(), pump.clone()];
        assert_eq!(ask(&lines), Ok("/t/a/pump".into()));
        let nothing = ask(&[printed, library, other]).unwrap_err();
        assert!(nothing.contains("`pump`") && nothing.contains("CARGO"), "{nothing}");
        // `build.target` may name several.
        let several = ask(&[pump, message("pump", Some("/t/b/pump"))]).unwrap_err();
        assert!(several.contains("/t/a/pump, /t/b/pump"), "{several}");
        assert!(several.contains("--target"), "{several}");
    }

    #[test]
    fn what_is_not_there_is_said_with_what_there_is() {
        let package = |name: &str, bins: &[&str]| {
            let targets: Vec<Value> =
                bins.iter().map(|bin| json!({ "name": bin, "kind": ["bin"] })).collect();
            json!({ "name": name, "id": format!("id of {name}"), "targets": targets })
        };
        let packages = [package("pump", &["pump"]), package("tools", &["log", "plot"])];
        let metadata = json!({ "packages": packages, "workspace_members": ["id of pump", "id of tools"],
            "workspace_default_members": ["id of pump"] });
        let ask = |metadata: &Value, more: &[&str]| {
            choose(metadata, &Args::parse_from([&["cargo-vouch"], more].concat()))
        };
        let pump = ("pump".to_owned(), "pump".to_owned());
        assert_eq!(ask(&metadata, &[]), Ok(pump.clone()));
        let wrong = ask(&metadata, &["--package", "pmup"]).unwrap_err();
        assert!(wrong.contains("`pmup`") && wrong.contains("`pump`, `tools`"), "{wrong}");
        let wrong = ask(&metadata, &["--package", "tools"]).unwrap_err();
        assert!(wrong.contains("`log`, `plot`") && wrong.contains("--bin"), "{wrong}");
        // Before 1.71.
        let old = json!({ "packages": packages, "workspace_members": ["id of pump"] });
        assert_eq!(ask(&old, &[]), Ok(pump));
    }
}
