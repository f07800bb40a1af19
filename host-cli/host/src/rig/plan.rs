//! The jobs of a rig: each model, with each set of parameters and in each mode, on each of its devices.

use super::config::{Mode, Reached, Rig, Wanted};
use crate::formats::Names;
use crate::formats::names::closest;
use crate::frontend::Diagnostic;
use crate::ir::{Cfa, PropertyId, VarId, VarKind, Word, value};
use crate::judge::Question;
use crate::pipeline::{LoadError, Loaded};
use crate::validate::within;
use crate::verdict::Verdict;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;

/// All that is to be done.
pub struct Plan {
    /// What it is called.
    pub name: String,
    /// The devices with their jobs.
    pub devices: Vec<(Reached, Vec<Job>)>,
    /// The compiled models; [`Job::model`] is an index into them.
    pub models: Vec<Loaded>,
    /// What tells this plan from others: a run can be resumed if it had the same one.
    pub digest: String,
}

/// A question to a device.
pub struct Job {
    /// What it is called.
    pub name: String,
    /// The number of the model.
    pub model: usize,
    /// The model's name.
    pub model_name: String,
    /// Its parameters, as `limit=3`.
    pub parameters: String,
    /// What is asked.
    pub question: Question,
    /// How it is checked.
    pub mode: Mode,
    /// The verdict that is expected.
    pub expect: Verdict,
}

impl Plan {
    /// Of a rig; `load` compiles a model. That is done with all of them first, so that what is wrong with one is said
    /// before a device is touched.
    pub fn new<E: From<LoadError>>(
        rig: &Rig,
        mut load: impl FnMut(&Wanted) -> Result<Loaded, E>,
    ) -> Result<Plan, E> {
        let devices = rig.devices()?;
        let wanted = rig.models(&devices)?;
        let mut digest = Sha256::new();
        digest.update(rig.text());
        let (mut models, mut jobs) = (vec![], vec![]);
        for wanted in &wanted {
            let model = load(wanted)?;
            digest.update(&model.image[..]);
            for (set, span) in &wanted.parameters {
                let question = question(&model.cfa, wanted, set).map_err(|(what, help)| {
                    let at = if set.is_empty() { wanted.span } else { *span };
                    rig.error(Diagnostic::error(what, at, "").help(help))
                })?;
                jobs.push((wanted, models.len(), question, set));
            }
            models.push(model);
        }
        let of_device = |device: Reached| {
            let own = jobs.iter().filter(|(wanted, ..)| wanted.devices.contains(&device.name));
            let own = own.flat_map(|(wanted, model, question, set)| {
                let parameters = shown(set);
                let device = &device.name;
                wanted.modes.iter().map(move |mode| {
                    let parts = [device, &wanted.name, &parameters, mode.name()];
                    let parts = parts.into_iter().filter(|part| !part.is_empty());
                    Job {
                        name: parts.collect::<Vec<&str>>().join("/"),
                        model: *model,
                        model_name: wanted.name.clone(),
                        parameters: parameters.clone(),
                        question: question.clone(),
                        mode: *mode,
                        expect: wanted.expect,
                    }
                })
            });
            let own = own.collect();
            (device, own)
        };
        let digest = digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
        let devices = devices.into_iter().map(of_device).collect();
        Ok(Plan { name: rig.name(), devices, models, digest })
    }

    /// The jobs of all devices.
    pub fn jobs(&self) -> impl Iterator<Item = (&Reached, &Job)> {
        self.devices.iter().flat_map(|(device, jobs)| jobs.iter().map(move |job| (device, job)))
    }

    /// Leaves only the devices of one of several parts. A device is in one part only: two hosts must not use it at once.
    pub fn shard(&mut self, number: u32, count: u32) {
        let mut at = 0;
        self.devices.retain(|_| {
            at += 1;
            (at - 1) % count == number - 1
        });
    }
}

fn shown(set: &BTreeMap<String, String>) -> String {
    set.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(",")
}

/// What is asked; or what is wrong, and a way out.
fn question(
    cfa: &Cfa,
    wanted: &Wanted,
    set: &BTreeMap<String, String>,
) -> Result<Question, (String, String)> {
    let names = Names::new(cfa);
    if cfa.properties.is_empty() {
        return Err((format!("{} states no property", cfa.name), "add one to the model".into()));
    }
    let near = |name: &str, known: Vec<String>| {
        let near = closest(name, known.iter().map(String::as_str));
        let near = near.map_or(String::new(), |near| format!("; did you mean `{near}`?"));
        let known = if known.is_empty() { "none".into() } else { known.join(", ") };
        (near, format!("{} has {known}", cfa.name))
    };
    let only = match &wanted.property {
        None => None,
        Some(name) => {
            let all = || (0..cfa.properties.len() as u32).map(PropertyId);
            let found = all().find(|p| names.property(*p) == *name);
            Some(found.ok_or_else(|| {
                let (near, known) = near(name, all().map(|p| names.property(p)).collect());
                (format!("{} has no property `{name}`{near}", cfa.name), known)
            })?)
        }
    };
    let binding = |(name, text): (&String, &String)| -> Result<(VarId, Word), (String, String)> {
        let found = cfa.params().find(|(id, _)| names.var(*id) == *name);
        let (id, var) = found.ok_or_else(|| {
            let (near, known) = near(name, cfa.params().map(|(id, _)| names.var(id)).collect());
            (format!("{} has no parameter `{name}`{near}", cfa.name), known)
        })?;
        let VarKind::Param { min, max } = var.kind else {
            return Err((format!("`{name}` is not a parameter"), String::new()));
        };
        let show = |word| value::show(&var.ty, var.width, word);
        let word = value::read(&var.ty, var.width, text).filter(|word| within(var, *word));
        let word = word.ok_or_else(|| {
            (
                format!("{name} cannot be `{text}`"),
                format!("it can be {} to {}", show(min), show(max)),
            )
        })?;
        Ok((id, word))
    };
    let bindings = set.iter().map(binding).collect::<Result<Vec<_>, _>>()?;
    Ok(Question::new(cfa, only, bindings))
}
