//! What is wrong with one file.

use super::Finding;
use super::source::Source;

/// The most lines of code that ships in one file. Longer ones hold more than one notion.
const MAX_LINES: usize = 700;

/// What is wrong with this file. `all` are the files of the code base.
pub fn check(source: &Source, all: &[Source]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut report = |line: usize, message: &str| {
        findings.push(Finding { line, message: message.to_owned() });
    };
    if !source.text.trim_start().starts_with("//!") {
        report(1, "begin the file with `//!` and say what it is for");
    }
    if is_left_out(source, all) {
        report(1, "add it to the `main.rs` next to it: else these tests never run");
    }
    let lines = shipped_lines(source);
    if lines > MAX_LINES {
        report(1, &format!("{lines} lines of code; at most {MAX_LINES}: give each notion a file"));
    }
    for (index, line) in source.text.lines().enumerate() {
        if let Some(mark) = MARKS.iter().map(|m| m.concat()).find(|m| has_word(line, m)) {
            report(index + 1, &format!("do it now, or write it down elsewhere than in a `{mark}`"));
        }
    }
    if source.path.starts_with("core/src/") {
        for (line, code) in source.lines() {
            if let Some(call) = PANICS.iter().find(|call| code.contains(*call)) {
                let call = call.trim_matches(['.', '(']);
                report(line, &format!("`{call}` in the core: return an error instead"));
            }
        }
        if !needs_allocation(source, all) {
            for (line, code) in source.lines() {
                let names = |name: &str| has_word(code, name) && !code.contains("extern crate");
                if names("std") || names("alloc") {
                    report(line, "the core is no_std and never allocates but to write images");
                }
            }
        }
    }
    findings
}

/// Whether a file is among tests that are one program, and no part of that program.
fn is_left_out(source: &Source, all: &[Source]) -> bool {
    let Some((folder, file)) = source.path.rsplit_once('/') else {
        return false;
    };
    // The one that is a program of its own is named in its package.
    if !folder.ends_with("/tests") || source.path == "tests/tests/drivers.rs" {
        return false;
    }
    let declared = format!("mod {};", file.trim_end_matches(".rs"));
    let program = all.iter().find(|other| other.path == format!("{folder}/main.rs"));
    file != "main.rs"
        && program.is_some_and(|program| !program.text.lines().any(|line| line == declared))
}

/// Words for things left undone; in pieces, so that this file is not found.
const MARKS: [[&str; 2]; 3] = [["TO", "DO"], ["FIX", "ME"], ["XX", "X"]];

/// Ways to panic on purpose.
const PANICS: [&str; 6] =
    [".unwrap()", ".expect(", "panic!(", "unreachable!(", "unimplemented!(", "todo!("];

/// Lines of the file, without those of its tests.
fn shipped_lines(source: &Source) -> usize {
    let test_only = |(text, code): (&str, &str)| {
        let text = text.trim();
        !text.is_empty() && !text.starts_with("//") && code.trim().is_empty()
    };
    let lines = source.text.lines().zip(source.code.lines());
    // A line that holds only a literal counts as test code then; there are too few to matter.
    lines.filter(|pair| !test_only(*pair)).count()
}

/// Whether a file is compiled only where images are written, that is on hosts.
fn needs_allocation(source: &Source, all: &[Source]) -> bool {
    let Some((folder, file)) = source.path.rsplit_once('/') else {
        return false;
    };
    let module = file.trim_end_matches(".rs");
    let parents = [format!("{folder}/mod.rs"), format!("{folder}/lib.rs"), format!("{folder}.rs")];
    all.iter().filter(|parent| parents.contains(&parent.path)).any(|parent| {
        let lines: Vec<&str> = parent.text.lines().map(str::trim).collect();
        lines.windows(2).any(|pair| {
            let declared = pair[1].trim_start_matches("pub ").trim_start_matches("mod ");
            pair[0] == "#[cfg(feature = \"writer\")]" && declared == format!("{module};")
        })
    })
}

/// Whether `word` is in `line`, and not as a part of another word.
pub fn has_word(line: &str, word: &str) -> bool {
    let part = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(part) && !line[at + word.len()..].starts_with(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn messages(path: &str, text: &str) -> Vec<String> {
        let source = Source::new(path, text);
        let found = check(&source, std::slice::from_ref(&source));
        found.into_iter().map(|f| format!("{}: {}", f.line, f.message)).collect()
    }

    fn one(path: &str, text: &str, part: &str) {
        let found = messages(path, text);
        assert!(found.len() == 1 && found[0].contains(part), "{found:?}");
    }

    const CORE: &str = "core/src/a.rs";

    #[test]
    fn good_code_passes() {
        let text = "//! Says why.\n\n/// Not std::vec.\nfn f() { \"std::x panic!(\"; }\n\
                    #[cfg(test)]\nmod tests {\n use std::vec; f().unwrap(); panic!()\n}\n";
        assert_eq!(messages(CORE, text), [""; 0]);
    }

    #[test]
    fn a_file_says_what_it_is_for() {
        one(CORE, "use core::x;\n", "1: begin the file");
        one("firmware/build.rs", "fn main() {}\n", "1: begin the file");
    }

    #[test]
    fn files_are_short_but_for_their_tests() {
        let long = "a();\n".repeat(MAX_LINES);
        one(CORE, &format!("//! x\n{long}"), "701 lines of code");
        let tests = format!("//! x\n#[cfg(test)]\nmod tests {{\n{long}\n}}\n");
        assert_eq!(messages(CORE, &tests), [""; 0]);
        assert_eq!(messages("tests/src/a.rs", &format!("//! x\n{long}")), [""; 0]);
    }

    #[test]
    fn no_file_of_tests_is_left_out() {
        let file = |name: &str, text: &str| Source::new(&format!("a/tests/{name}.rs"), text);
        let both = |main: &str| [file("main", main), file("x", "//! x\n")];
        let found =
            |main: &str| both(main).iter().map(|f| check(f, &both(main)).len()).sum::<usize>();
        assert_eq!(found("//! x\nmod x;\n"), 0);
        assert_eq!(found("//! x\nmod xx;\n"), 1);
        // Each is a program of its own.
        assert_eq!(check(&file("x", "//! x\n"), &[file("y", "//! x\n")]), []);
    }

    #[test]
    fn nothing_is_left_undone() {
        for mark in MARKS.map(|mark| mark.concat()) {
            one("xtask/src/a.rs", &format!("//! x\n\n// {mark}: later\n"), "3: do it now");
            assert_eq!(messages(CORE, &format!("//! x\n// {mark}S\n")), [""; 0]);
        }
    }

    #[test]
    fn the_core_does_not_panic_on_purpose() {
        for call in PANICS {
            one(CORE, &format!("//! x\nfn f() {{\n    a{call};\n}}\n"), "3: `");
            assert_eq!(messages("host-cli/host/src/a.rs", &format!("//! x\na{call};\n")), [""; 0]);
        }
        assert_eq!(messages(CORE, "//! x\na.unwrap_or(0); b.expected();\n"), [""; 0]);
    }

    #[test]
    fn the_core_allocates_only_to_write_images() {
        one(CORE, "//! x\nuse std::vec::Vec;\n", "2: the core is no_std");
        one(CORE, "//! x\nfn f() -> alloc::vec::Vec<u8> {}\n", "2: the core is no_std");
        let writer = Source::new("core/src/image/writer.rs", "//! x\nuse alloc::vec::Vec;\n");
        let declare = |line: &str| Source::new("core/src/image/mod.rs", line);
        let with = declare("#[cfg(feature = \"writer\")]\npub mod writer;\n");
        let without = declare("#[cfg(feature = \"writer\")]\nmod other;\npub mod writer;\n");
        assert_eq!(check(&writer, &[with]), []);
        assert_eq!(check(&writer, &[without]).len(), 1);
    }
}
