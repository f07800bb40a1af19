//! The tutorial is run: its files are written, its commands typed, and what it shows is what comes out.
//!
//! A code block that begins with a file's name (`` ```vch kettle.vch ``) is that file from there on. In a block marked
//! `console` a line after `$` is a command, for a shell in the folder with the files; what follows is what it prints,
//! `…` meaning any lines. A picture is what the commands before it have written under that name.
//! `VOUCH_BLESS=1` puts the output of today and the pictures into the documentation, except where there is a `…`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A page, and where its commands run.
struct Page {
    folder: tempfile::TempDir,
    tool: PathBuf,
    commands: usize,
}

impl Page {
    /// What a command prints, on both streams, and its exit code if that is not 0.
    fn run(&mut self, line: &str) -> String {
        self.commands += 1;
        let tools = self.tool.parent().unwrap().display().to_string();
        let path = format!("{tools}:{}", std::env::var("PATH").unwrap());
        let mut shell = Command::new("sh");
        shell.args(["-c", &format!("{{ {line}\n}} 2>&1")]).env("PATH", path);
        let output = shell.current_dir(self.folder.path()).output().unwrap();
        let mut said = String::from_utf8(output.stdout).unwrap();
        if !said.is_empty() && !said.ends_with('\n') {
            said.push('\n');
        }
        said
    }
}

/// Whether what is shown is what was said, `…` meaning any lines.
fn fits(shown: &[&str], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.is_empty(),
        Some((first, rest)) if first.trim() == "…" => {
            (0..=said.len()).any(|skipped| fits(rest, &said[skipped..]))
        }
        Some((first, rest)) => said.first() == Some(first) && fits(rest, &said[1..]),
    }
}

fn check(path: &Path) {
    let (Some(tool), Some(_)) =
        (std::env::var_os("VOUCH_BIN"), std::env::var_os("VOUCH_FIRMWARE_DIR"))
    else {
        eprintln!("VOUCH_BIN or VOUCH_FIRMWARE_DIR is not set: not tested");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let mut page = Page { folder, tool: tool.into(), commands: 0 };
    let text = std::fs::read_to_string(path).unwrap();
    let bless = std::env::var_os("VOUCH_BLESS").is_some();
    let (mut fresh, mut lines) = (String::new(), text.lines().peekable());
    let mut add = |line: &str| {
        fresh += line;
        fresh.push('\n');
    };
    while let Some(line) = lines.next() {
        add(line);
        let picture = line.strip_prefix("![").and_then(|rest| rest.rsplit_once("](pictures/"));
        if let Some((_, name)) = picture {
            same_picture(path, &page, name.trim_end_matches(')'), bless);
        }
        let Some(info) = line.strip_prefix("```").filter(|info| !info.is_empty()) else { continue };
        let mut body = vec![];
        while let Some(line) = lines.next_if(|line| *line != "```") {
            body.push(line);
        }
        if info != "console" {
            body.iter().for_each(|line| add(line));
            if let Some((_, file)) = info.split_once(' ') {
                std::fs::write(page.folder.path().join(file), body.join("\n") + "\n").unwrap();
            }
            continue;
        }
        let starts = (0..body.len()).filter(|i| body[*i].starts_with("$ "));
        let starts: Vec<usize> = starts.chain([body.len()]).collect();
        assert_eq!(starts[0], 0, "a block begins with a command: {body:?}");
        for pair in starts.windows(2) {
            let (command, shown) = (body[pair[0]], &body[pair[0] + 1..pair[1]]);
            let said = page.run(&command[2..]);
            // Times differ from machine to machine, so pages leave their lines out.
            let timed =
                |line: &&str| line.starts_with("  engine ") || line.starts_with("  device ");
            let said: Vec<&str> =
                said.lines().map(str::trim_end).filter(|line| !timed(line)).collect();
            let whole = !shown.iter().any(|line| line.trim() == "…");
            let trimmed: Vec<&str> = shown.iter().map(|line| line.trim_end()).collect();
            let right = fits(&trimmed, &said);
            assert!(right || bless && whole, "{command}\n{}", said.join("\n"));
            add(command);
            let kept = if whole { &said[..] } else { shown };
            kept.iter().for_each(|line| add(line));
        }
    }
    if bless {
        std::fs::write(path, &fresh).unwrap();
    }
    assert_eq!(text, fresh, "what the page shows has changed");
    assert!(page.commands > 0, "{} has no commands", path.display());
}

/// A picture in the documentation is the one that the commands have drawn.
fn same_picture(path: &Path, page: &Page, name: &str, bless: bool) {
    let drawn = std::fs::read(page.folder.path().join(name)).expect(name);
    let kept = path.parent().unwrap().join("pictures").join(name);
    if bless {
        std::fs::write(&kept, &drawn).unwrap();
    }
    assert!(std::fs::read(&kept).ok() == Some(drawn), "{name} is not the one that is drawn today");
}

#[test]
fn the_tutorial_is_true() {
    check(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/tutorial.md"));
}

#[test]
fn dots_mean_any_lines() {
    assert!(fits(&["a", "…", "d"], &["a", "b", "c", "d"]));
    assert!(fits(&["…"], &[]) && fits(&[], &[]));
    assert!(!fits(&["a", "…", "d"], &["a", "b", "c"]));
    assert!(!fits(&["a"], &["a", "b"]));
}
