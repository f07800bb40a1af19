//! Records of what was measured: tables under `benches/record/`, each with a head that says how.

use crate::{project, shell};
use anyhow::{Context, Result};
use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

fn path(name: &str) -> PathBuf {
    project::root().join("benches/record").join(name)
}

/// A table as it is; empty if there is none.
pub fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap_or_default()
}

/// Writes a whole table.
pub fn write(name: &str, text: &str) -> Result<()> {
    let path = path(name);
    std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
    std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))?;
    eprintln!("\nwritten: {}", path.display());
    Ok(())
}

/// The commit and the compiler.
pub fn build() -> Result<String> {
    Ok(format!("commit {}; {}", commit(), compiler()?))
}

/// The compiler.
pub fn compiler() -> Result<String> {
    shell::output(Command::new("rustc").arg("--version"))
}

/// The commit, `-dirty` if there are changes to what may be measured: not those that records and their tables make themselves;
/// `unknown` without git.
pub fn commit() -> String {
    let git =
        |args: &[&str]| shell::output(Command::new("git").current_dir(project::root()).args(args));
    let changes =
        ["status", "--porcelain", "--untracked-files=no", "--", ".", ":!benches/record", ":!docs"];
    match (git(&["describe", "--always"]), git(&changes)) {
        (Ok(commit), Ok(changes)) if changes.is_empty() => commit,
        (Ok(commit), _) => commit + "-dirty",
        (Err(_), _) => "unknown".into(),
    }
}

/// A model's name in a table.
pub fn name(model: &str) -> String {
    let stem = Path::new(model).file_stem();
    stem.map_or_else(|| model.to_owned(), |s| s.to_string_lossy().into_owned())
}

/// Writes a table whose rows a program prints, each of them as soon as it comes: what was measured is
/// not lost when the rest is. The program's first line names the columns, the first of which is the
/// model; a last one is added for the commit that was measured. With `only` the rows of all other
/// models stay as they are, if they have the same columns.
pub fn rows(name: &str, head: &str, only: Option<&[String]>, command: &mut Command) -> Result<()> {
    let path = path(name);
    let commit = commit();
    let line = shell::line(command);
    let mut process = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{line}` cannot be started"))?;
    let output = process.stdout.take().context("it prints nothing")?;
    let mut lines = BufReader::new(output).lines();
    let columns = lines.next().with_context(|| format!("`{line}` prints nothing"))?? + "\tcommit";
    let kept = match only {
        Some(models) => others(&read(name), &columns, models),
        None => String::new(),
    };
    write(name, &format!("{head}{columns}\n{kept}"))?;
    let mut table: File = OpenOptions::new().append(true).open(&path)?;
    for row in lines {
        let row = row?;
        eprintln!("   {row}");
        writeln!(table, "{row}\t{commit}")?;
    }
    let status = process.wait()?;
    anyhow::ensure!(status.success(), "`{line}` failed: {status}");
    Ok(())
}

/// The rows of a table that are not of these models.
pub fn others(table: &str, columns: &str, models: &[String]) -> String {
    let names: Vec<String> = models.iter().map(|m| self::name(m)).collect();
    let mut lines = table.lines().skip_while(|line| line.starts_with('#'));
    if lines.next() != Some(columns) {
        return String::new();
    }
    let other = |row: &&str| {
        let model = row.split('\t').next().unwrap_or_default();
        !names.iter().any(|name| name == model)
    };
    lines.filter(other).map(|row| row.to_owned() + "\n").collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_models_stay_unless_the_columns_changed() {
        let table = "# head\nmodel\tn\na\t1\nab\t2\na\t3\n";
        let only = ["examples/a.vch".to_owned()];
        assert_eq!(others(table, "model\tn", &only), "ab\t2\n");
        assert_eq!(others(table, "model\tm", &only), "");
        assert_eq!(others("", "model\tn", &only), "");
    }
}
