//! A first `vouch.toml`, for what lies in a folder.

use super::paths::matching;
use std::path::Path;

/// Folders that hold what was made, not what was written.
const MADE: [&str; 6] = ["target/", "build/", "node_modules/", ".pio/", "out/", "dist/"];

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Found {
    /// The file's content.
    pub text: String,
    /// What is in it, for people.
    pub notes: Vec<String>,
}

/// What a folder has that can be checked.
pub fn look(folder: &Path) -> Found {
    let mut found = Found::default();
    found.text += "# What `vouch check` checks: see docs/project.md, or `vouch help check`.\n\n[check]\ntimeout = 60\n";
    let models = written(folder, "**/*.vch");
    for group in folders(&models) {
        let count = models.iter().filter(|m| folder_of(m) == group).count();
        found.add(
            &format!("path = \"{group}*.vch\""),
            &format!("{} in `{}`", crate::report::count(count, "model"), shown(&group)),
        );
    }
    found.c(folder);
    if folder.join("Cargo.toml").is_file() {
        found
            .notes
            .push("a cargo project: `cargo vouch` builds and checks it by its markers".into());
    }
    if !found.text.contains("[[model]]") {
        found.add(
            "path = \"models/first.vch\"",
            "no model: the file names one that is still to be written",
        );
    }
    found
}

impl Found {
    fn add(&mut self, lines: &str, note: &str) {
        self.text += &format!("\n[[model]]\n{lines}\n");
        self.notes.push(note.to_string());
    }

    /// Programs in C: by a compilation database if there is one, else file by file as far as they use `vouch.h`.
    fn c(&mut self, folder: &Path) {
        let databases = ["compile_commands.json", "build/compile_commands.json"];
        if let Some(path) = databases.into_iter().find(|path| folder.join(path).is_file()) {
            let lines =
                format!("compile-commands = \"{path}\"\nentry = \"main\"\nchecks = [\"all\"]");
            return self.add(
                &lines,
                &format!("a program in C, by `{path}`: set `entry` to the function that is a step"),
            );
        }
        if folder.join("platformio.ini").is_file() {
            self.notes.push(
                "a PlatformIO project: make `compile_commands.json` with `pio run -t compiledb`, then run `vouch init --force`"
                    .into(),
            );
            return;
        }
        if folder.join("CMakeLists.txt").is_file() {
            self.notes.push(
                "a CMake project: make `build/compile_commands.json` with `cmake -B build \
                 -DCMAKE_EXPORT_COMPILE_COMMANDS=ON`, then run `vouch init --force`"
                    .into(),
            );
        }
        for path in written(folder, "**/*.c") {
            let text = std::fs::read_to_string(folder.join(&path)).unwrap_or_default();
            if text.contains("vouch.h") {
                let lines = format!("path = \"{path}\"\nentry = \"main\"\nchecks = [\"all\"]");
                self.add(
                    &lines,
                    &format!(
                        "`{path}`: set `entry` to the function that is a step, and `loop = true`"
                    ),
                );
            }
        }
    }
}

fn written(folder: &Path, pattern: &str) -> Vec<String> {
    let is_made = |path: &String| {
        MADE.iter().any(|made| path.starts_with(made) || path.contains(&format!("/{made}")))
    };
    matching(folder, pattern).into_iter().filter(|path| !is_made(path)).collect()
}

fn folder_of(path: &str) -> String {
    path.rsplit_once('/').map_or_else(String::new, |(folder, _)| format!("{folder}/"))
}

fn folders(paths: &[String]) -> Vec<String> {
    let mut all: Vec<String> = paths.iter().map(|path| folder_of(path)).collect();
    all.dedup();
    all
}

fn shown(folder: &str) -> &str {
    if folder.is_empty() { "." } else { folder.trim_end_matches('/') }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frontend::Source;
    use crate::project::file;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    /// Whatever is found, the file can be read.
    fn names(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let folder = folder(files);
        let found = look(folder.path());
        let source = Source { path: "vouch.toml".into(), text: found.text.clone() };
        let project = file::parse(source, folder.path()).unwrap();
        (project.checks.into_iter().map(|c| c.name).collect(), found.notes)
    }

    #[test]
    fn models_and_programs_are_found() {
        let (checks, notes) =
            names(&[("a.vch", ""), ("m/b.vch", ""), ("m/c.vch", ""), ("target/d.vch", "")]);
        assert_eq!(checks, ["a", "b", "c"]);
        assert_eq!(notes, ["1 model in `.`", "2 models in `m`"]);
        let (checks, _) = names(&[("src/pump.c", "#include \"vouch.h\""), ("src/other.c", "")]);
        assert_eq!(checks, ["pump"]);
        let (checks, _) = names(&[
            ("kettle.vch", ""),
            ("old/kettle.vch", ""),
            ("kettle.c", "#include \"vouch.h\""),
        ]);
        assert_eq!(checks, ["kettle.vch", "old/kettle.vch", "kettle.c"]);
        let (checks, notes) =
            names(&[("CMakeLists.txt", ""), ("build/compile_commands.json", "[]")]);
        assert_eq!(checks, ["compile_commands"]);
        assert!(notes[0].contains("entry"), "{notes:?}");
        let (_, notes) = names(&[("platformio.ini", ""), ("x.vch", "")]);
        assert!(notes[1].contains("pio run -t compiledb"), "{notes:?}");
        let (_, notes) = names(&[("Cargo.toml", ""), ("x.vch", "")]);
        assert!(notes[1].contains("cargo vouch"), "{notes:?}");
    }

    #[test]
    fn an_empty_folder_gets_an_example() {
        let (checks, notes) = names(&[]);
        assert_eq!(checks, ["first"]);
        assert!(notes[0].starts_with("no model"), "{notes:?}");
        // A project in another language has none yet, either.
        for file in ["Cargo.toml", "CMakeLists.txt", "platformio.ini"] {
            let (checks, notes) = names(&[(file, "")]);
            assert_eq!((checks, notes.len()), (vec!["first".to_string()], 2), "{file}");
        }
    }
}
