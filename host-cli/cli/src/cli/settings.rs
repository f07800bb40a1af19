//! What a project's file says of the model that a command names.
//!
//! A verdict depends on settings like `--overflow`. Where `vouch.toml` has them for a model, every command takes them from
//! there, unless its own flags say otherwise, which is told.

use super::args::{Cli, PROJECT};
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, CommandFactory, FromArgMatches};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use vouch_host::project::file::{self, Setting};
use vouch_host::project::{self, Check, Project};

/// Keys whose values are files or folders, as seen from the project.
const PATHS: [&str; 5] = ["compile-commands", "include", "include-file", "registers", "unit"];

/// Flags that take a name of the project's file, and whether that is one of a key.
const NAMED: [(&str, bool); 5] =
    [("--target", false), ("--sign", true), ("--key", true), ("--add", true), ("--retire", true)];

/// Puts what the project says in the place of names that it knows. A file that is there is not a name.
fn replace_names(args: &mut [OsString]) {
    let mut project = None;
    for at in 1..args.len() {
        let Some(text) = args[at].to_str().map(String::from) else { continue };
        for (flag, is_key) in NAMED {
            let joined = text.strip_prefix(flag).and_then(|rest| rest.strip_prefix('='));
            let value = match joined {
                Some(value) => value,
                None if args[at - 1] == flag => &text,
                None => continue,
            };
            if is_key && Path::new(value).exists() {
                continue;
            }
            let project = project
                .get_or_insert_with(|| file::read(&project::find(Path::new("."))?).ok()?.ok());
            let Some(project) = project else { return };
            let names = if is_key { &project.keys } else { &project.targets };
            let Some((_, meant)) = names.iter().find(|(name, _)| name == value) else { continue };
            let meant = match is_key {
                true => project.root.join(meant).display().to_string(),
                false => meant.clone(),
            };
            args[at] = if joined.is_some() { format!("{flag}={meant}") } else { meant }.into();
            break;
        }
    }
}

/// Parses the arguments, with the settings of the model that they name; and what is to be told of it.
pub fn parse(mut args: Vec<OsString>) -> Result<(Cli, Vec<String>), clap::Error> {
    replace_names(&mut args);
    let matches = Cli::command().try_get_matches_from(&args)?;
    let mut cli = Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut Cli::command()))?;
    let Some((name, given)) = matches.subcommand() else { return Ok((cli, vec![])) };
    let takes_project = name == "check";
    let Some((model, _)) = cli.command.model() else { return Ok((cli, vec![])) };
    let is_named = given.value_source("model") == Some(ValueSource::CommandLine);
    if !is_named && model.model.as_os_str() == PROJECT && !takes_project {
        let message = "the following required arguments were not provided:\n  <MODEL>";
        let mut command = Cli::command();
        command.build();
        let command = command.find_subcommand_mut(name);
        let kind = clap::error::ErrorKind::MissingRequiredArgument;
        return Err(
            command.map_or_else(|| clap::Error::raw(kind, message), |c| c.error(kind, message))
        );
    }
    let is_alone =
        given.try_get_one::<bool>("no_project").ok().flatten().is_some_and(|alone| *alone);
    if is_alone || !model.model.is_file() {
        return Ok((cli, vec![]));
    }
    let Some((project, check)) = of(&model.model) else { return Ok((cli, vec![])) };
    let (flags, notes) = apply(&check, &project, name, given);
    if !flags.is_empty() {
        let at = args.iter().position(|arg| arg == name).map_or(args.len(), |at| at + 1);
        args.splice(at..at, flags.into_iter().map(OsString::from));
        cli = Cli::try_parse_from_all(args)?;
    }
    Ok((cli, notes))
}

impl Cli {
    fn try_parse_from_all(args: Vec<OsString>) -> Result<Cli, clap::Error> {
        let matches = Cli::command().try_get_matches_from(args)?;
        Cli::from_arg_matches(&matches).map_err(|e| e.format(&mut Cli::command()))
    }
}

/// The project of a model that says something of it. A project that cannot be read says nothing; `vouch check` tells why.
fn of(model: &Path) -> Option<(Project, Check)> {
    let project = file::read(&project::find(project::folder(model))?).ok()?.ok()?;
    let check = project.checks_of(model).next()?.clone();
    Some((project, check))
}

/// The flags that a command gets from a project, and what is to be told of them.
fn apply(
    check: &Check,
    project: &Project,
    command: &str,
    given: &ArgMatches,
) -> (Vec<String>, Vec<String>) {
    let ids = ids(command);
    let (mut flags, mut notes) = (vec![], vec![]);
    for setting in check.settings.iter().filter(|setting| setting.key.means) {
        let Some(id) = ids.get(setting.key.name) else { continue };
        match own(given, id) {
            Some(own) => notes.extend(differs(setting, &own, &project.source.path)),
            None => flags.extend(seen_from_here(setting, &project.root).flags()),
        }
    }
    if !flags.is_empty() {
        notes.insert(0, format!("from {}: {}", project.source.path, flags.join(" ")));
    }
    (flags, notes)
}

/// What clap calls the arguments of a command, by their long flags.
pub fn ids(command: &str) -> BTreeMap<String, String> {
    let cli = Cli::command();
    let own = cli.find_subcommand(command).into_iter().flat_map(|c| c.get_arguments());
    let pair = |arg: &Arg| Some((arg.get_long()?.to_string(), arg.get_id().to_string()));
    cli.get_arguments().chain(own).filter_map(pair).collect()
}

/// What the command line or the environment says of an argument.
pub fn own(given: &ArgMatches, id: &str) -> Option<Vec<String>> {
    match given.value_source(id)? {
        ValueSource::DefaultValue => None,
        _ => {
            let raw = given.get_raw(id)?;
            Some(raw.map(|value| value.to_string_lossy().into_owned()).collect())
        }
    }
}

/// What is told of a flag that says something else than the project.
pub fn differs(setting: &Setting, own: &[String], file: &str) -> Option<String> {
    let key = setting.key.name;
    let is_switch = setting.values.is_empty();
    let same = is_switch || own == setting.values || own.join(",") == setting.values.join(",");
    (!same).then(|| {
        format!(
            "note: `--{key} {}` differs from {file}, which says `{}`",
            own.join(","),
            setting.values.join(",")
        )
    })
}

fn seen_from_here(setting: &Setting, root: &Path) -> Setting {
    let mut setting = setting.clone();
    if PATHS.contains(&setting.key.name) {
        for value in &mut setting.values {
            *value = root.join(&value).display().to_string();
        }
    }
    setting
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_host::project::keys::FLAGS;

    /// What a project can say is what `vouch check` takes.
    #[test]
    fn every_key_is_a_flag() {
        for key in FLAGS {
            assert!(ids("check").contains_key(key.name), "{}", key.name);
        }
        for key in PATHS {
            assert!(FLAGS.iter().any(|flag| flag.name == key), "{key}");
        }
    }
}
