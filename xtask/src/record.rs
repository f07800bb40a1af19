//! Records of what was measured: tables under `benches/record/`, each with a head that says how.

use crate::{project, shell};
use anyhow::{Context, Result};
use std::io::{BufRead, BufReader};
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
    put_down(name, text)?;
    eprintln!("\nwritten: {}", path(name).display());
    Ok(())
}

fn put_down(name: &str, text: &str) -> Result<()> {
    let path = path(name);
    std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
    std::fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
}

/// The commit and the compiler.
pub fn build() -> Result<String> {
    Ok(format!("commit {}; {}", commit(), compiler()?))
}

/// The version of the compiler.
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

/// Which rows of a table stay when others are measured.
pub enum Kept<'a> {
    Nothing,
    /// Those of all other models.
    OtherModels(&'a [String]),
    /// Each, until there is a new one that begins with the same so many columns.
    UntilReplaced(usize),
}

/// Writes a table whose rows a program prints, each of them as soon as it comes: what was measured is
/// not lost when the rest is. The program's first line names the columns, the first of which is the
/// model; a last one is added for the commit that was measured. Rows stay only if they have the same columns.
pub fn rows(name: &str, head: &str, kept: Kept<'_>, command: &mut Command) -> Result<()> {
    let commit = commit();
    let line = shell::line(command);
    let mut process = command
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("`{line}` cannot be started"))?;
    let output = process.stdout.take().context("it prints nothing")?;
    let mut lines = BufReader::new(output).lines();
    let columns = lines.next().with_context(|| format!("`{line}` prints nothing"))?? + "\tcommit";
    let before = read(name);
    let (mut rows, key) = match kept {
        Kept::Nothing => (vec![], None),
        Kept::OtherModels(models) => (others(&before, &columns, models), None),
        Kept::UntilReplaced(key) => (others(&before, &columns, &[]), Some(key)),
    };
    for row in lines {
        let row = format!("{}\t{commit}", row?);
        eprintln!("   {row}");
        put(&mut rows, row, key);
        put_down(name, &format!("{head}{columns}\n{}\n", rows.join("\n")))?;
    }
    eprintln!("\nwritten: {}", path(name).display());
    let status = process.wait()?;
    anyhow::ensure!(status.success(), "`{line}` failed: {status}");
    Ok(())
}

/// Adds a row, in place of one that begins with the same columns.
fn put(rows: &mut Vec<String>, row: String, key: Option<usize>) {
    let begin = |row: &str, key| row.split('\t').take(key).map(str::to_owned).collect::<Vec<_>>();
    let same = |key| rows.iter().position(|other| begin(other, key) == begin(&row, key));
    match key.and_then(same) {
        Some(at) => rows[at] = row,
        None => rows.push(row),
    }
}

/// The rows of a table that are not of these models.
pub fn others(table: &str, columns: &str, models: &[String]) -> Vec<String> {
    let names: Vec<String> = models.iter().map(|m| self::name(m)).collect();
    let mut lines = table.lines().skip_while(|line| line.starts_with('#'));
    if lines.next() != Some(columns) {
        return vec![];
    }
    let other = |row: &&str| {
        let model = row.split('\t').next().unwrap_or_default();
        !names.iter().any(|name| name == model)
    };
    lines.filter(other).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_other_models_stay_unless_the_columns_changed() {
        let table = "# head\nmodel\tn\na\t1\nab\t2\na\t3\n";
        let only = ["examples/a.vch".to_owned()];
        assert_eq!(others(table, "model\tn", &only), ["ab\t2"]);
        assert!(others(table, "model\tm", &only).is_empty());
        assert!(others("", "model\tn", &only).is_empty());
    }

    #[test]
    fn a_row_replaces_the_one_with_the_same_key() {
        let mut rows = vec!["a\tx\t1".to_owned(), "a\ty\t2".to_owned()];
        put(&mut rows, "a\tx\t3".to_owned(), Some(2));
        put(&mut rows, "b\tx\t4".to_owned(), Some(2));
        assert_eq!(rows, ["a\tx\t3", "a\ty\t2", "b\tx\t4"]);
        put(&mut rows, "b\tx\t5".to_owned(), None);
        assert_eq!(rows.len(), 4);
    }
}
