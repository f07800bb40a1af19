//! Tables of the documentation that list what the code has: nothing is missing in them, and nothing is in them that there is not.

use std::path::{Path, PathBuf};
use vouch_core::link::message::{Event, Reply, Request};
use vouch_host::engines::Engine;
use vouch_host::frontend::LANGUAGES;
use vouch_host::report::formats::FORMATS;
use vouch_host::report::results;
use vouch_host::simplify::passes::Pass;
use vouch_host::transport::boards::BOARDS;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn page(path: &str) -> String {
    std::fs::read_to_string(root().join(path)).unwrap()
}

/// The first cells of the table whose head begins with this cell.
fn first_cells(page: &str, head: &str) -> Vec<String> {
    let head = format!("| {head} |");
    let mut lines = page.lines().skip_while(|line| !line.starts_with(&head));
    assert!(lines.next().is_some(), "there is no table `{head}`");
    let rows = lines.skip(1).take_while(|line| line.starts_with('|'));
    rows.map(|row| row.split('|').nth(1).unwrap().trim().to_owned()).collect()
}

/// What the first cells name, between backticks.
fn names(page: &str, head: &str) -> Vec<String> {
    let cells = first_cells(page, head);
    cells.iter().map(|cell| cell.split('`').nth(1).unwrap_or(cell).to_owned()).collect()
}

/// That a table lists just these, in whatever order.
#[track_caller]
fn assert_lists(path: &str, head: &str, known: impl IntoIterator<Item = impl Into<String>>) {
    let mut listed = names(&page(path), head);
    let mut known: Vec<String> = known.into_iter().map(Into::into).collect();
    listed.sort();
    known.sort();
    assert_eq!(listed, known, "the table `{head}` of {path}");
}

#[test]
fn engines_and_passes() {
    assert_lists("docs/cli.md", "engine", Engine::ALL.map(Engine::name));
    assert_lists("docs/passes.md", "pass", Pass::ALL.map(Pass::name));
}

#[test]
fn boards() {
    let table = page("boards.toml");
    let all: Vec<&str> = (table.lines())
        .filter_map(|line| line.strip_prefix("name = \"")?.strip_suffix('"'))
        .collect();
    assert!(all.len() >= 6);
    let page = page("docs/device.md");
    // Two tables begin alike: the second one is about the emulator.
    let (first, second) = page.split_at(page.rfind("| board | timer |").unwrap());
    assert_eq!(names(first, "board"), all);
    let mut counted = names(second, "board");
    let mut emulated: Vec<&str> = BOARDS.iter().map(|board| board.name.as_str()).collect();
    counted.sort();
    emulated.sort();
    assert_eq!(counted, emulated);
}

#[test]
fn languages() {
    let page = page("docs/cli.md");
    let row = page.lines().find(|line| line.starts_with("| `--lang LANGUAGE` |")).unwrap();
    let listed = row.rsplit('|').nth(1).unwrap().trim();
    let known = LANGUAGES.map(|about| format!("`{}`", about.name)).join(", ");
    assert_eq!(listed, known);
    let files = page.split("\n\n").find(|text| text.starts_with("`MODEL` is ")).unwrap();
    for extension in LANGUAGES.iter().flat_map(|about| about.extensions) {
        assert!(files.contains(&format!("`.{extension}`")), "`.{extension}` is not in: {files}");
    }
}

#[test]
fn formats_of_runs() {
    let page = page("docs/cli.md");
    let row = page.lines().find(|line| line.starts_with("| `--trace FILE` |")).unwrap();
    for format in FORMATS.iter().filter(|format| !format.extension.is_empty()) {
        assert!(row.contains(&format!("`.{}`", format.extension)), "`.{}`", format.extension);
    }
}

/// The flags for reports: each is described, and the action's inputs are some of them.
#[test]
fn formats_of_results() {
    let ci = page("docs/ci.md");
    let listed = names(&ci, "flag");
    let flags: Vec<String> =
        results::FORMATS.iter().map(|format| format!("--{} FILE", format.name)).collect();
    let others = ["--github", "--json"].map(String::from);
    assert_eq!(listed, [&flags[..], &others].concat());
    let cli = page("docs/cli.md");
    let row = format!(
        "| {}, `--github` |",
        flags.iter().map(|flag| format!("`{flag}`")).collect::<Vec<_>>().join(", ")
    );
    assert!(cli.contains(&row), "docs/cli.md has no row {row}");
    let action = page("action.yml");
    let inputs = action.split("inputs:\n").nth(1).unwrap().split("runs:\n").next().unwrap();
    let inputs = inputs.lines().filter_map(|line| line.strip_prefix("  ")?.strip_suffix(':'));
    let inputs: Vec<&str> = inputs.filter(|name| !["folder", "args"].contains(name)).collect();
    assert!(inputs.contains(&"junit"), "{inputs:?}");
    for name in inputs {
        assert!(flags.contains(&format!("--{name} FILE")), "action.yml has the input {name}");
        let variable = name.to_uppercase();
        let use_of_it = format!("then reports+=(--{name} \"${variable}\"); fi");
        assert!(action.contains(&use_of_it), "action.yml does nothing with {name}");
    }
}

/// The library that users begin with: each C example is in its page, and each that breaks says so.
#[test]
fn examples_in_c() {
    let page = page("examples/README.md");
    for entry in std::fs::read_dir(root().join("examples/c")).unwrap() {
        let name = entry.unwrap().file_name().into_string().unwrap();
        let link = format!("(c/{name})");
        let row = page.lines().find(|line| line.contains(&link));
        assert!(row.is_some_and(|row| row.starts_with('|')), "{name} is not in examples/README.md");
    }
}

/// Crates of the workspace have their row in the tour.
#[test]
fn rooms() {
    let manifest = page("Cargo.toml");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).unwrap();
    let rooms = names(&page("docs/architecture.md"), "room");
    for member in members.split('"').skip(1).step_by(2) {
        let is_told = rooms.iter().any(|room| {
            let room = room.trim_end_matches('/');
            member == room || member.starts_with(&format!("{room}/"))
        });
        assert!(is_told, "{member} is not in docs/architecture.md");
    }
    for room in rooms {
        assert!(root().join(&room).exists(), "docs/architecture.md tells of {room}");
    }
}

/// A package that is published carries the texts of its licences.
#[test]
fn licences() {
    let manifest = page("Cargo.toml");
    let members = manifest.lines().find_map(|line| line.strip_prefix("members = [")).unwrap();
    let members = members.split('"').skip(1).step_by(2);
    let published =
        members.filter(|member| !page(&format!("{member}/Cargo.toml")).contains("publish = false"));
    let published: Vec<&str> = published.collect();
    assert!(published.len() >= 11, "{published:?}");
    for package in published {
        for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
            let text = std::fs::read_to_string(root().join(package).join(name));
            assert_eq!(text.ok(), Some(page(name)), "{package}/{name}");
        }
    }
}

/// The variants of an enum of the protocol, by their numbers: each can be decoded from some fields.
fn variants(before: &[u8], decode: impl Fn(&[u8]) -> Option<String>) -> Vec<String> {
    let with = |number: u8, fields: usize| [before, &[number], &vec![0; fields][..]].concat();
    let variant = |number| (0..=80).find_map(|fields| decode(&with(number, fields)));
    (0..100).map_while(variant).collect()
}

/// The number and the name that a text begins with.
fn numbered(texts: &[String]) -> Vec<String> {
    let name = |text: &String| {
        let end = text.find(|c: char| !c.is_alphanumeric()).unwrap_or(text.len());
        text[..end].to_owned()
    };
    texts.iter().enumerate().map(|(number, text)| format!("{number} {}", name(text))).collect()
}

/// `docs/formats/protocol.md` numbers messages and errors as the code does.
#[test]
fn messages_of_the_protocol() {
    let page = page("docs/formats/protocol.md");
    let rows = |head: &str| -> Vec<String> {
        let two = |cell: &String| cell.split(' ').take(2).collect::<Vec<_>>().join(" ");
        first_cells(&page, head).iter().map(two).collect()
    };
    let requests = variants(&[], |bytes| Some(format!("{:?}", Request::decode(bytes)?)));
    assert_eq!(rows("request"), numbered(&requests));
    let replies = variants(&[], |bytes| Some(format!("{:?}", Reply::decode(bytes)?)));
    assert_eq!(rows("reply"), numbered(&replies));
    let events = variants(&[], |bytes| Some(format!("{:?}", Event::decode(bytes)?)));
    assert_eq!(rows("event"), numbered(&events));
    let refusal = |bytes: &[u8]| match Reply::decode(bytes)? {
        Reply::Refused(refusal) => Some(format!("{refusal:?}")),
        _ => None,
    };
    assert_eq!(rows("refusal"), numbered(&variants(&[1], refusal)));
    // In sentences: as many numbers as there are errors.
    for (title, before) in [("*Image errors:*", &[1, 9][..]), ("*Store errors:*", &[1, 13])] {
        let text = page.split(title).nth(1).unwrap().split("\n\n").next().unwrap();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        // What is in parentheses is about an error's fields.
        let outside = text.split('(').map(|part| part.rsplit(')').next().unwrap());
        let text = format!(", {}", outside.collect::<String>());
        let count = variants(before, refusal).len();
        assert!(count >= 8, "{count}");
        let has = |number: usize| text.contains(&format!(", {number} "));
        let missing: Vec<usize> = (0..count).filter(|number| !has(*number)).collect();
        assert!(missing.is_empty(), "{title} has no {missing:?}: {text}");
        assert!(!has(count), "{title} has {count}: {text}");
    }
}
