//! What shells and `man` get.

use std::path::Path;
use std::process::{Command, Output, Stdio};

fn vouch(args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_vouch")).args(args).output().unwrap()
}

/// The commands, as `--help` lists them.
fn commands() -> Vec<String> {
    let help = String::from_utf8(vouch(&["--help"]).stdout).unwrap();
    let rows = help.lines().skip_while(|line| *line != "Commands:").skip(1);
    // What does not fit into a line continues in the next, further to the right.
    let rows = rows.take_while(|line| !line.is_empty()).filter(|line| !line.starts_with("   "));
    let names = rows.filter_map(|line| line.split_whitespace().next()).map(str::to_owned);
    names.filter(|name| name != "help").collect()
}

#[test]
fn each_command_has_a_page() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("share/man1");
    assert!(vouch(&["manual", pages.to_str().unwrap()]).status.success());
    let commands = commands();
    assert!(commands.len() > 15, "{commands:?}");
    let named = commands.iter().map(|command| format!("vouch-{command}.1"));
    for name in named.chain(["vouch.1".to_owned()]) {
        let page = std::fs::read_to_string(pages.join(&name)).expect(&name);
        assert!(page.contains(".TH") && page.contains(".SH SYNOPSIS"), "{name}: {page}");
    }
    let check = std::fs::read_to_string(pages.join("vouch-check.1")).unwrap();
    assert!(check.contains("\\-\\-timeout") && check.contains("vouch check"), "{check}");
}

/// Words that begin with `--`.
fn flags(text: &str) -> std::collections::BTreeSet<String> {
    let is_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
    let starts = text.match_indices("--").map(|(at, _)| at);
    let starts = starts.filter(|at| !text[..*at].ends_with(is_name));
    let name = |at: usize| {
        let rest = &text[at..];
        rest[..rest.find(|c| !is_name(c)).unwrap_or(rest.len())].to_owned()
    };
    starts.map(name).filter(|name| name.len() > 3 && !name.ends_with('-')).collect()
}

/// The page names every flag of every command, and the fields of what `--json` prints.
#[test]
fn the_page_on_commands_is_complete() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let page = std::fs::read_to_string(root.join("docs/cli.md")).unwrap();
    let known = flags(&page);
    for command in commands() {
        let help = String::from_utf8(vouch(&[&command, "--help"]).stdout).unwrap();
        // The lines that define a flag begin with it.
        let own = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        let own = flags(&own.collect::<Vec<_>>().join("\n"));
        let missing: Vec<_> = own.difference(&known).filter(|flag| *flag != "--help").collect();
        assert!(missing.is_empty(), "docs/cli.md does not name {missing:?} of {command}");
    }
    let schema = std::fs::read_to_string(root.join("docs/formats/check.schema.json")).unwrap();
    let schema: serde_json::Value = serde_json::from_str(&schema).unwrap();
    for field in schema["$defs"]["check"]["properties"].as_object().unwrap().keys() {
        assert!(page.contains(&format!("`{field}`")), "docs/cli.md does not name `{field}`");
    }
}

#[test]
fn a_shell_understands_what_it_completes_with() {
    let script = vouch(&["completions", "bash"]).stdout;
    let text = String::from_utf8(script.clone()).unwrap();
    commands().iter().for_each(|command| assert!(text.contains(command.as_str()), "{command}"));
    let mut bash = Command::new("bash");
    bash.arg("-n").stdin(Stdio::piped());
    let mut bash = bash.spawn().unwrap();
    std::io::Write::write_all(&mut bash.stdin.take().unwrap(), &script).unwrap();
    assert!(bash.wait().unwrap().success());
    for shell in ["zsh", "fish", "elvish", "powershell"] {
        assert!(!vouch(&["completions", shell]).stdout.is_empty(), "{shell}");
    }
    assert_eq!(vouch(&["completions", "abacus"]).status.code(), Some(2));
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let output = vouch(&["manual", "/dev/null/man1"]);
    assert_eq!(output.status.code(), Some(2));
    let message = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(message.contains("/dev/null/man1 cannot be made"), "{message}");
    assert!(!Path::new("/dev/null/man1").exists());
}
