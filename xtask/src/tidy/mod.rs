//! `cargo xtask tidy`: rules of the code base that no other tool checks.
//!
//! - [`source`]: a file with what is not code taken out.
//! - [`rules`]: findings in one file.
//! - [`layers`]: who may import whom.

mod layers;
mod rules;
mod source;

use crate::{project, shell};
use anyhow::{Context, Result, bail};
use source::Source;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders with code of ours.
const ROOMS: [&str; 8] =
    ["core", "device", "host-cli", "firmware", "tests", "xtask", "benches", "fuzz"];

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    line: usize,
    /// What is wrong and how to mend it.
    message: String,
}

/// The task.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("tidy", args)?;
    shell::stage("tidy", run)
}

/// Checks every file.
pub fn run() -> Result<()> {
    let mut files = Vec::new();
    for room in ROOMS {
        collect(&project::root().join(room), &mut files)?;
    }
    files.sort();
    let sources = files.iter().map(|file| read(file)).collect::<Result<Vec<_>>>()?;
    let mut count = 0;
    for source in &sources {
        for Finding { line, message } in check(source, &sources) {
            eprintln!("{}:{line}: {message}", source.path);
            count += 1;
        }
    }
    match count {
        0 => Ok(()),
        1 => bail!("one finding"),
        _ => bail!("{count} findings"),
    }
}

/// All that is wrong with a file.
fn check(source: &Source, all: &[Source]) -> Vec<Finding> {
    let mut findings = rules::check(source, all);
    findings.extend(layers::check(source));
    findings.sort_by_key(|finding| finding.line);
    findings
}

fn read(file: &Path) -> Result<Source> {
    let text =
        fs::read_to_string(file).with_context(|| format!("{} cannot be read", file.display()))?;
    let path = file.strip_prefix(project::root()).unwrap_or(file);
    // Rules name files with slashes, whatever the system uses.
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    Ok(Source::new(&parts.join("/"), &text))
}

/// The Rust files in a folder and below, without what was built there.
fn collect(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let entries =
        fs::read_dir(folder).with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            if !name.starts_with('.') && !matches!(&*name, "target" | "out" | "fixtures") {
                collect(&path, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}
