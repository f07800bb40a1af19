//! `rig.toml`: what is there, and what is to be done with it.

use crate::formats::names::closest;
use crate::frontend::{Diagnostic, Overflow, Source};
use crate::ir::Span;
use crate::pipeline::LoadError;
use crate::read;
use crate::transport::probe::ProbeSettings;
use crate::transport::{Settings, Target};
use crate::verdict::Verdict;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;
use toml::Spanned;

/// A rig file (TOML): the devices of a bench, and the models that they check.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Rig {
    /// Where results are kept, next to the file.
    history: Option<PathBuf>,
    /// How often a job is tried again on a device that has failed.
    #[serde(default = "retries")]
    pub retries: u32,
    /// Failed attempts after which a device gets no more jobs.
    #[serde(default = "quarantine")]
    pub quarantine: u32,
    /// Seconds for one attempt.
    #[serde(default = "timeout")]
    timeout: f64,
    /// The `[[device]]` tables.
    #[serde(default)]
    device: Vec<Device>,
    /// The `[[model]]` tables.
    #[serde(default)]
    model: Vec<Model>,
    /// Where the file is.
    #[serde(skip)]
    path: PathBuf,
    /// What it says.
    #[serde(skip)]
    text: String,
}

fn retries() -> u32 {
    1
}
fn quarantine() -> u32 {
    4
}
fn timeout() -> f64 {
    120.0
}
fn settle() -> f64 {
    1.0
}
fn baud() -> u32 {
    115_200
}

/// A `[[device]]` table: how a device is reached.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Device {
    name: Spanned<String>,
    target: Spanned<String>,
    #[serde(default = "baud")]
    baud: u32,
    chip: Option<String>,
    firmware: Option<PathBuf>,
    #[serde(default)]
    program: bool,
    firmware_dir: Option<PathBuf>,
    qemu: Option<PathBuf>,
    sim_ram: Option<usize>,
    flash_file: Option<PathBuf>,
    /// A command that switches the device off and on.
    power_cycle: Option<String>,
    /// Seconds that it needs afterwards.
    #[serde(default = "settle")]
    settle: f64,
}

/// A model, and how it is checked.
#[derive(Deserialize, Debug)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Model {
    file: Spanned<PathBuf>,
    name: Option<String>,
    overflow: Option<Spanned<String>>,
    property: Option<Spanned<String>>,
    #[serde(default)]
    parameters: Vec<Spanned<BTreeMap<String, Value>>>,
    #[serde(default)]
    modes: Vec<Spanned<String>>,
    #[serde(default)]
    devices: Vec<Spanned<String>>,
    expect: Option<Spanned<String>>,
}

/// The value of a parameter.
#[derive(Deserialize, Debug)]
#[serde(untagged, expecting = "a parameter is a number, true, false, or a name in quotes")]
enum Value {
    Number(i64),
    Flag(bool),
    Name(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Value::Number(n) => write!(f, "{n}"),
            Value::Flag(flag) => write!(f, "{flag}"),
            Value::Name(name) => f.write_str(name),
        }
    }
}

/// A device that can be reached.
#[derive(Clone, Debug, PartialEq)]
pub struct Reached {
    /// Its name in the rig file; job names begin with it.
    pub name: String,
    /// Where it is.
    pub target: Target,
    /// How to get there.
    pub settings: Settings,
    /// A command that switches it off and on.
    pub power_cycle: Option<String>,
    /// How long it needs afterwards.
    pub settle: Duration,
}

/// How a device checks a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It gets the model and searches for a proof.
    Prove,
    /// It uses the one that it has stored.
    Stored,
}

impl Mode {
    /// In one word.
    pub fn name(self) -> &'static str {
        match self {
            Mode::Prove => "prove",
            Mode::Stored => "stored",
        }
    }
}

/// What is to be done with a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Wanted {
    /// The model's file, relative to the rig file's folder.
    pub file: PathBuf,
    /// Its name in job names; the file's stem unless the rig file gives one.
    pub name: String,
    /// What arithmetic does when a result does not fit, if the rig file says so.
    pub overflow: Option<String>,
    /// The only property that is asked for.
    pub property: Option<String>,
    /// Sets of parameters with their values, and where they are written.
    pub parameters: Vec<(BTreeMap<String, String>, Span)>,
    /// How it is checked.
    pub modes: Vec<Mode>,
    /// Names of the devices that are to check it.
    pub devices: Vec<String>,
    /// The verdict that is expected.
    pub expect: Verdict,
    /// Where it is written.
    pub span: Span,
}

/// Reads the file.
pub fn load(path: &Path) -> Result<Rig, LoadError> {
    let text =
        read::text(path).map_err(|source| LoadError::Read { path: path.to_path_buf(), source })?;
    match toml::from_str::<Rig>(&text) {
        Ok(rig) => Ok(Rig { path: path.to_path_buf(), text, ..rig }),
        Err(error) => Err(wrong(path, text, vec![explain(&error)])),
    }
}

fn wrong(path: &Path, text: String, diagnostics: Vec<Diagnostic>) -> LoadError {
    LoadError::Source { text: Source { path: path.display().to_string(), text }, diagnostics }
}

fn span(range: std::ops::Range<usize>) -> Span {
    let at = |n: usize| u32::try_from(n).unwrap_or(u32::MAX);
    Span { start: at(range.start), end: at(range.end) }
}

/// What TOML's reader complains about, with the near name if a key is unknown.
fn explain(error: &toml::de::Error) -> Diagnostic {
    let message = error.message().trim().to_string();
    let at = span(error.span().unwrap_or_default());
    // "unknown field `x`, expected one of `a`, `b`": the only place where it says which names there are.
    let mut quoted = message.split('`').skip(1).step_by(2);
    match (message.starts_with("unknown field"), quoted.next()) {
        (true, Some(name)) => {
            let known: Vec<&str> = quoted.collect();
            let near = closest(name, known.iter().copied());
            let label =
                near.map_or("not a key".to_string(), |near| format!("did you mean `{near}`?"));
            let help = format!("the keys here are {}", known.join(", "));
            Diagnostic::error(format!("unknown key `{name}`"), at, label).help(help)
        }
        _ => Diagnostic::error(message, at, ""),
    }
}

impl Rig {
    /// The folder that paths in the file are relative to.
    fn folder(&self) -> &Path {
        self.path.parent().unwrap_or(Path::new(""))
    }

    /// What it is called.
    pub fn name(&self) -> String {
        self.path.file_stem().map_or("rig".into(), |stem| stem.to_string_lossy().into_owned())
    }

    /// What the file says.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// An error at a place in the file.
    pub fn error(&self, diagnostic: Diagnostic) -> LoadError {
        wrong(&self.path, self.text.clone(), vec![diagnostic])
    }

    /// Where results are kept.
    pub fn history(&self) -> PathBuf {
        match &self.history {
            Some(path) => self.folder().join(path),
            None => self.path.with_extension("sqlite"),
        }
    }

    /// The time for one attempt.
    pub fn timeout(&self) -> Duration {
        Duration::try_from_secs_f64(self.timeout).unwrap_or(Duration::from_secs(120))
    }

    /// The devices, with their settings checked. It is an error if there are none.
    pub fn devices(&self) -> Result<Vec<Reached>, LoadError> {
        let mut all: Vec<Reached> = vec![];
        for device in &self.device {
            let name = device.name.get_ref();
            let fail = |what: String, at: &Spanned<String>, label: &str, help: &str| {
                let diagnostic = Diagnostic::error(what, span(at.span()), label);
                Err(self.error(if help.is_empty() { diagnostic } else { diagnostic.help(help) }))
            };
            if name.is_empty() || name.contains(['/', ' ', '\n']) {
                return fail(
                    format!("`{name}` is not a name for a device"),
                    &device.name,
                    "",
                    "use letters, digits and `-`",
                );
            }
            if all.iter().any(|other| other.name == *name) {
                return fail(
                    format!("two devices are called {name}"),
                    &device.name,
                    "the second",
                    "",
                );
            }
            let target = match device.target.get_ref().parse::<Target>() {
                Ok(target) => target,
                Err(error) => return fail(error.to_string(), &device.target, "", ""),
            };
            let beside = |path: &Option<PathBuf>| path.as_ref().map(|p| self.folder().join(p));
            let default = Settings::default();
            let settings = Settings {
                sim_ram: device.sim_ram.unwrap_or(default.sim_ram),
                baud: device.baud,
                firmware_dir: beside(&device.firmware_dir)
                    .or_else(|| std::env::var_os("VOUCH_FIRMWARE_DIR").map(PathBuf::from)),
                qemu: device.qemu.clone(),
                flash_file: beside(&device.flash_file),
                probe: ProbeSettings {
                    chip: device.chip.clone(),
                    firmware: beside(&device.firmware),
                    program: device.program,
                },
            };
            let settle = Duration::try_from_secs_f64(device.settle).unwrap_or_default();
            let power_cycle = device.power_cycle.clone();
            all.push(Reached { name: name.clone(), target, settings, power_cycle, settle });
        }
        match all.is_empty() {
            true => {
                Err(self.error(Diagnostic::error("there is no device", Span::default(), "").help(
                    "add one: `[[device]]`, `name = \"bench-1\"`, `target = \"qemu:microbit\"`",
                )))
            }
            false => Ok(all),
        }
    }

    /// The models, with their settings checked. It is an error if there are none.
    pub fn models(&self, devices: &[Reached]) -> Result<Vec<Wanted>, LoadError> {
        let wanted = self.model.iter().map(|model| self.wanted(model, devices));
        let all = wanted.collect::<Result<Vec<Wanted>, LoadError>>()?;
        let names = |i: usize| all[..i].iter().any(|other| other.name == all[i].name);
        if let Some(twice) = (0..all.len()).find(|i| names(*i)) {
            let Wanted { name, span, .. } = &all[twice];
            let what = format!("two models are called {name}");
            return Err(
                self.error(Diagnostic::error(what, *span, "the second").help("give it a `name`"))
            );
        }
        match all.is_empty() {
            true => Err(self.error(
                Diagnostic::error("there is no model", Span::default(), "")
                    .help("add one: `[[model]]`, `file = \"pump.vch\"`"),
            )),
            false => Ok(all),
        }
    }

    fn wanted(&self, model: &Model, devices: &[Reached]) -> Result<Wanted, LoadError> {
        let choose = |given: &Spanned<String>, what: &str, known: &[&str]| {
            let name = given.get_ref();
            let near = closest(name, known.iter().copied());
            let label = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
            self.error(
                Diagnostic::error(format!("`{name}` is not {what}"), span(given.span()), label)
                    .help(format!("it can be {}", known.join(", "))),
            )
        };
        if let Some(given) = &model.overflow
            && given.get_ref().parse::<Overflow>().is_err()
        {
            return Err(choose(given, "a mode of overflow", &["wrap", "error", "assume"]));
        }
        let expect = match model.expect.as_ref().map(|e| (e, e.get_ref().as_str())) {
            None | Some((_, "safe")) => Verdict::Safe,
            Some((_, "unsafe")) => Verdict::Unsafe,
            Some((given, _)) => {
                return Err(choose(given, "a verdict to expect", &["safe", "unsafe"]));
            }
        };
        let mode = |given: &Spanned<String>| match given.get_ref().as_str() {
            "prove" => Ok(Mode::Prove),
            "stored" => Ok(Mode::Stored),
            _ => Err(choose(given, "a mode", &["prove", "stored"])),
        };
        let modes = model.modes.iter().map(mode).collect::<Result<Vec<Mode>, LoadError>>()?;
        let known: Vec<&str> = devices.iter().map(|d| d.name.as_str()).collect();
        let device = |given: &Spanned<String>| match known.contains(&given.get_ref().as_str()) {
            true => Ok(given.get_ref().clone()),
            false => Err(choose(given, "a device", &known)),
        };
        let chosen =
            model.devices.iter().map(device).collect::<Result<Vec<String>, LoadError>>()?;
        let set = |set: &Spanned<BTreeMap<String, Value>>| {
            let values =
                set.get_ref().iter().map(|(name, value)| (name.clone(), value.to_string()));
            (values.collect(), span(set.span()))
        };
        let file = self.folder().join(model.file.get_ref());
        let stem = file.file_stem().map_or(String::new(), |s| s.to_string_lossy().into_owned());
        Ok(Wanted {
            name: model.name.clone().unwrap_or(stem),
            overflow: model.overflow.as_ref().map(|o| o.get_ref().clone()),
            property: model.property.as_ref().map(|p| p.get_ref().clone()),
            parameters: match model.parameters.is_empty() {
                true => vec![(BTreeMap::new(), Span::default())],
                false => model.parameters.iter().map(set).collect(),
            },
            modes: if modes.is_empty() { vec![Mode::Prove] } else { modes },
            devices: if chosen.is_empty() {
                known.iter().map(|d| d.to_string()).collect()
            } else {
                chosen
            },
            expect,
            span: span(model.property.as_ref().map_or(model.file.span(), |p| p.span())),
            file,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load_text(text: &str) -> Result<(Vec<Reached>, Vec<Wanted>), String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("rig.toml");
        std::fs::write(&path, text).unwrap();
        let rig = load(&path).map_err(|e| e.to_string())?;
        let devices = rig.devices().map_err(|e| e.to_string())?;
        let models = rig.models(&devices).map_err(|e| e.to_string())?;
        Ok((devices, models))
    }

    const GOOD: &str = "\
[[device]]
name = \"a\"
target = \"qemu:microbit\"
[[device]]
name = \"b\"
target = \"tcp:localhost:4000\"
baud = 9600
power-cycle = \"true\"
[[model]]
file = \"pump.vch\"
parameters = [{ limit = 3 }, { limit = 12, mode = \"Fast\" }]
[[model]]
file = \"door.vch\"
devices = [\"b\"]
expect = \"unsafe\"
";

    #[test]
    fn what_is_there_and_what_is_wanted() {
        let (devices, models) = load_text(GOOD).unwrap();
        assert_eq!(devices.len(), 2);
        assert_eq!(
            (devices[1].settings.baud, devices[1].power_cycle.as_deref()),
            (9600, Some("true"))
        );
        assert_eq!(models[0].parameters[1].0["mode"], "Fast");
        assert_eq!(models[0].parameters[0].0["limit"], "3");
        assert_eq!(models[0].devices, ["a", "b"]);
        assert_eq!(
            (&models[1].devices[..], models[1].expect),
            (&["b".to_string()][..], Verdict::Unsafe)
        );
    }

    #[test]
    fn what_is_wrong_is_shown_where_it_is() {
        for (from, to, expected) in [
            (
                "power-cycle",
                "power-cycel",
                &["unknown key `power-cycel`", "did you mean `power-cycle`?", "rig.toml:8"][..],
            ),
            ("target = \"qemu", "traget = \"qemu", &["did you mean `target`?", "rig.toml:3"]),
            ("qemu:microbit", "qemu:microbat", &["QEMU boards are", "rig.toml:3"]),
            ("name = \"b\"", "name = \"a\"", &["two devices are called a", "rig.toml:5"]),
            ("devices = [\"b\"]", "devices = [\"c\"]", &["`c` is not a device", "rig.toml:14"]),
            ("\"unsafe\"", "\"unsave\"", &["did you mean `unsafe`?", "rig.toml:15"]),
            ("door.vch", "pump.vch", &["two models are called pump"]),
            ("baud = 9600", "baud = \"fast\"", &["rig.toml:7"]),
            ("[[model]]", "[[modle]]", &["did you mean `model`?"]),
            ("[[device]]", "[[device", &["rig.toml:1"]),
        ] {
            let error = load_text(&GOOD.replacen(from, to, 1)).unwrap_err();
            for part in expected {
                assert!(error.contains(part), "{from}: {error}");
            }
        }
        assert!(load_text("").unwrap_err().contains("there is no device"));
    }
}
