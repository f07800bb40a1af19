//! `cargo xtask tidy`: rules of the code base that no other tool checks.
//!
//! - [`source`]: a file with what is not code taken out.
//! - [`rules`]: findings in one file.
//! - [`layers`]: who may import whom.
//! - [`pages`]: the documentation.

mod layers;
mod pages;
mod rules;
mod source;

use crate::{project, shell};
use anyhow::{Context, Result, bail};
use source::Source;
use std::fs;
use std::path::{Path, PathBuf};

/// The folders with code of ours.
const ROOMS: [&str; 10] = [
    "core", "device", "libvouch", "marker", "host-cli", "firmware", "tests", "xtask", "benches",
    "fuzz",
];

/// Pages for people outside of `docs`. What changed names files that are no longer there.
const PAGES: [&str; 4] = ["README.md", "CONTRIBUTING.md", "RELEASE.md", "SECURITY.md"];

/// Those whose lines are longer than they should be; wrap them, and empty this list.
const WIDE: [&str; 2] = ["docs/c.md", "docs/elf.md"];

/// Something that breaks a rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Finding {
    /// The line, from 1.
    line: usize,
    /// What is wrong and how to mend it.
    message: String,
}

/// Checks all rules on the code base; a finding is an error.
pub fn task(args: &[String]) -> Result<()> {
    shell::no_arguments("tidy", args)?;
    shell::stage("tidy", run)
}

/// Checks every file.
pub fn run() -> Result<()> {
    let mut files = Vec::new();
    for room in ROOMS {
        collect(&project::root().join(room), "rs", &mut files)?;
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
    let mut pages: Vec<PathBuf> = PAGES.iter().map(|page| project::root().join(page)).collect();
    collect(&project::root().join("docs"), "md", &mut pages)?;
    for page in pages {
        let text = fs::read_to_string(&page).with_context(|| page.display().to_string())?;
        let mut findings = pages::check(project::root(), &text);
        if !WIDE.iter().any(|wide| page.ends_with(wide)) {
            findings.extend(pages::long_lines(&text));
        }
        for Finding { line, message } in findings {
            eprintln!("{}:{line}: {message}", page.display());
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

/// The files of a kind in a folder and below, without what was built there.
fn collect(folder: &Path, kind: &str, files: &mut Vec<PathBuf>) -> Result<()> {
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
                collect(&path, kind, files)?;
            }
        } else if path.extension().is_some_and(|extension| extension == kind) {
            files.push(path);
        }
    }
    Ok(())
}
