//! The problems.

use super::peer::Answer;
use crate::{project, shell};
use anyhow::{Context, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Suites that are raced if nothing else is said. A folder of `verdicts.tsv`, or a folder in it, is a
/// suite too.
pub const NAMES: [&str; 5] =
    ["examples", "hw-small", "hwmcc19/aig", "hwmcc19/btor2_bv", "hwmcc19/btor2_array"];

/// A model with one property and what is known of it.
pub struct Problem {
    /// The file, and the property if it has several.
    pub name: String,
    /// What is true.
    pub expected: Answer,
    /// The file as the suite has it, before any export.
    pub original: PathBuf,
    /// The property, if the file has several.
    property: Option<String>,
    /// Where exported files go.
    folder: PathBuf,
}

/// Problems that are raced together.
pub struct Suite {
    /// What they are called.
    pub name: String,
    /// In the order of the suite's list of verdicts; at least one.
    pub problems: Vec<Problem>,
}

/// A suite; `None` if it is not there.
pub fn load(name: &str, bench: &Path, scratch: &Path, only: Option<&str>) -> Result<Option<Suite>> {
    std::fs::create_dir_all(scratch)?;
    let (list, base) = match name {
        "examples" => {
            let folder = project::root().join("examples");
            (folder.join("expected.tsv"), folder)
        }
        _ => (bench.join("verdicts.tsv"), bench.to_path_buf()),
    };
    let Ok(text) = std::fs::read_to_string(list) else { return Ok(None) };
    let mut problems = vec![];
    for line in text.lines().skip(1) {
        let columns: Vec<&str> = line.split('\t').collect();
        let (file, property, verdict) = match (name, columns.as_slice()) {
            ("examples", [file, property, verdict, ..]) => (*file, Some(*property), *verdict),
            (_, [file, verdict, ..]) if file.starts_with(&format!("{name}/")) => {
                (*file, None, *verdict)
            }
            _ => continue,
        };
        let expected = match verdict {
            "safe" => Answer::Safe,
            "unsafe" => Answer::Unsafe,
            _ => continue,
        };
        let original = base.join(file);
        let property = match property {
            Some(property) => Some(property.to_string()),
            None => first_of_several(&original)?,
        };
        let short = file.strip_prefix(&format!("{name}/")).unwrap_or(file);
        let name = match (&property, name) {
            (Some(property), "examples") => format!("{short}:{property}"),
            _ => short.to_string(),
        };
        if only.is_none_or(|part| name.contains(part)) {
            problems.push(Problem { name, expected, original, property, folder: scratch.into() });
        }
    }
    Ok((!problems.is_empty()).then(|| Suite { name: name.into(), problems }))
}

/// The first property of a circuit that has several: the one that verdicts are known of.
fn first_of_several(path: &Path) -> Result<Option<String>> {
    let bytes =
        std::fs::read(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let several = match path.extension().and_then(|e| e.to_str()) {
        Some("aig" | "aag") => {
            let line = bytes.split(|b| *b == b'\n').next().unwrap_or_default();
            let line = String::from_utf8_lossy(line).into_owned();
            let number = |at: usize| line.split(' ').nth(at).and_then(|n| n.parse::<u64>().ok());
            let bads = number(6).filter(|n| *n > 0).or(number(4)).unwrap_or(0);
            bads > 1
        }
        Some("btor2") => {
            let text = String::from_utf8_lossy(&bytes).into_owned();
            text.lines().filter(|l| l.split_whitespace().nth(1) == Some("bad")).count() > 1
        }
        _ => false,
    };
    if !several {
        return Ok(None);
    }
    let output =
        shell::output(Command::new(project::tool()).arg("inspect").arg(path).arg("--json"))?;
    let json: serde_json::Value = serde_json::from_str(&output)?;
    Ok(json["properties"][0]["name"].as_str().map(String::from))
}

/// Whether a function is defined in a C program.
fn has_body(text: &str, name: &str) -> bool {
    text.split(name).skip(1).any(|rest| {
        let after = rest.trim_start().strip_prefix('(').and_then(|rest| rest.split_once(')'));
        after.is_some_and(|(_, rest)| rest.trim_start().starts_with('{'))
    })
}

impl Suite {
    /// What files about it are called.
    pub fn file_name(&self) -> String {
        self.name.replace('/', "-")
    }
}

impl Problem {
    /// A model of ours that is safe.
    pub fn of(name: &str, original: &Path, folder: &Path) -> Problem {
        let (original, folder) = (original.into(), folder.into());
        Problem { name: name.into(), expected: Answer::Safe, original, property: None, folder }
    }

    /// A file for this problem alone.
    pub fn scratch(&self, extension: &str) -> PathBuf {
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '+' };
        self.folder
            .join(format!("{}.{extension}", self.name.chars().map(plain).collect::<String>()))
    }

    /// Which property is meant, for our own tool.
    pub fn options(&self) -> Vec<String> {
        self.property.iter().flat_map(|p| ["--property".to_string(), p.clone()]).collect()
    }

    /// A binary AIGER file.
    pub fn aiger(&self) -> Result<PathBuf> {
        self.file("aig")
    }
    /// A BTOR2 file.
    pub fn btor2(&self) -> Result<PathBuf> {
        self.file("btor2")
    }
    /// Its export to constrained Horn clauses (SMT-LIB 2).
    pub fn smt2(&self) -> Result<PathBuf> {
        self.file("smt2")
    }

    /// Whether it is a C program.
    pub fn is_c(&self) -> bool {
        self.original.extension().is_some_and(|e| e == "c" || e == "i")
    }

    /// The C program with bodies for those error functions that have none.
    pub fn c(&self) -> Result<PathBuf> {
        let mut text = std::fs::read_to_string(&self.original)?;
        for name in ["__VERIFIER_error", "reach_error"] {
            if text.contains(name) && !has_body(&text, name) {
                text += &format!("\nvoid {name}(void) {{ __CPROVER_assert(0, \"error\"); }}\n");
            }
        }
        let path = self.scratch("c");
        std::fs::write(&path, text).with_context(|| path.display().to_string())?;
        Ok(path)
    }

    fn is_circuit(&self) -> bool {
        let extension = self.original.extension().and_then(|e| e.to_str());
        matches!(extension, Some("aag" | "aig" | "btor2"))
    }

    /// The original if it is of this kind and has one property, else our export.
    fn file(&self, extension: &str) -> Result<PathBuf> {
        let is_one = self.original.extension().is_some_and(|e| e == extension);
        if is_one && self.property.is_none() {
            return Ok(self.original.clone());
        }
        let path = self.scratch(extension);
        let mut command = Command::new(project::tool());
        command.arg("export").arg(&self.original).args(self.options()).arg("-o").arg(&path);
        if !self.is_circuit() {
            // Peers do not know what our passes do to a program: they get what is left.
            command.arg("--simplified");
        }
        shell::output(command.arg("--quiet"))?;
        Ok(path)
    }
}

#[cfg(test)]
mod tests {
    use super::has_body;

    #[test]
    fn declarations_and_calls_are_no_bodies() {
        assert!(has_body("void reach_error(void)\n{ abort(); }", "reach_error"));
        assert!(has_body("extern void reach_error(); void reach_error() {}", "reach_error"));
        assert!(!has_body("extern void reach_error(void);", "reach_error"));
        assert!(!has_body("int main() { if (x) reach_error(); }", "reach_error"));
    }
}
