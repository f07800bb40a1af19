//! Who may import whom.
//!
//! Data flows one way, and what checks a result shares no code with what found it. A layer is a
//! folder, or a file, directly in a package's `src`; for each one that has rules, the layers it must
//! not know of.

use super::Finding;
use super::source::Source;

/// A layer, and what it must not import.
type Rule = (&'static str, &'static [&'static str]);

/// In the core: the checker can be built without the engine, and the formats know of neither.
const CORE: [Rule; 8] = [
    ("word", &["lit", "image", "arena", "sat", "ic3", "certificate", "link", "session"]),
    ("lit", &["image", "arena", "sat", "ic3", "certificate", "link", "session"]),
    ("image", &["arena", "sat", "ic3", "certificate", "link", "session"]),
    ("arena", &["sat", "ic3", "certificate", "link", "session"]),
    ("sat", &["ic3", "certificate", "link", "session"]),
    ("ic3", &["certificate", "link", "session"]),
    ("certificate", &["ic3", "link", "session"]),
    ("link", &["arena", "sat", "certificate", "session"]),
];

/// On the host, in the order in which data flows. The validator imports nothing of what it checks.
const HOST: [Rule; 9] = [
    (
        "ir",
        &[
            "frontend",
            "gates",
            "simplify",
            "blast",
            "pack",
            "engines",
            "transport",
            "decode",
            "validate",
            "report",
        ],
    ),
    (
        "frontend",
        &["gates", "blast", "pack", "engines", "transport", "decode", "validate", "report"],
    ),
    (
        "gates",
        &["frontend", "simplify", "blast", "engines", "transport", "decode", "validate", "report"],
    ),
    (
        "simplify",
        &["frontend", "blast", "pack", "engines", "transport", "decode", "validate", "report"],
    ),
    ("blast", &["frontend", "engines", "transport", "decode", "validate", "report"]),
    (
        "transport",
        &["frontend", "gates", "simplify", "blast", "engines", "decode", "validate", "report"],
    ),
    ("decode", &["frontend", "simplify", "engines", "validate", "report"]),
    (
        "validate",
        &["sat", "ic3", "gates", "blast", "frontend", "simplify", "engines", "transport", "report"],
    ),
    ("report", &["frontend", "gates", "simplify", "blast", "engines", "transport"]),
];

/// Imports in this file that its layer must not have.
pub fn check(source: &Source) -> Vec<Finding> {
    let (rules, rest) = if let Some(rest) = source.path.strip_prefix("core/src/") {
        (&CORE[..], rest)
    } else if let Some(rest) = source.path.strip_prefix("host-cli/src/") {
        (&HOST[..], rest)
    } else {
        return Vec::new();
    };
    let layer = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
    let Some((_, banned)) = rules.iter().find(|(name, _)| *name == layer) else {
        return Vec::new();
    };
    let mut findings = Vec::new();
    for (line, path) in paths(&source.code) {
        if let Some(other) = banned.iter().find(|other| ***other == path) {
            let message = format!("`{layer}` must not import `{other}`: data flows the other way");
            findings.push(Finding { line, message });
        }
    }
    findings.dedup();
    findings
}

/// The layers that a file names, with their lines: what follows `crate::` or `vouch_core::`, one name
/// or a list in braces. `code` has no literals.
fn paths(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for root in ["crate::", "vouch_core::"] {
        for (at, _) in code.match_indices(root) {
            let tail = &code[at + root.len()..];
            let list = group(tail);
            let line = |offset: usize| 1 + code[..at + root.len() + offset].matches('\n').count();
            found.extend(list.into_iter().map(|(offset, name)| (line(offset), name)));
        }
    }
    found.sort();
    found
}

/// The first names of the paths that a `use` tree at the start of `text` has, with their positions.
fn group(text: &str) -> Vec<(usize, String)> {
    let name = |at: usize| {
        let end = |c: char| !(c.is_alphanumeric() || c == '_');
        let word = &text[at..];
        word[..word.find(end).unwrap_or(word.len())].to_owned()
    };
    if !text.starts_with('{') {
        return vec![(0, name(0))];
    }
    let (mut names, mut depth, mut fresh) = (Vec::new(), 0, false);
    for (at, c) in text.char_indices() {
        match c {
            '{' => (depth, fresh) = (depth + 1, depth == 0),
            '}' if depth == 1 => break,
            '}' => depth -= 1,
            ',' => fresh = depth == 1,
            _ if c.is_whitespace() => {}
            _ if fresh => {
                names.push((at, name(at)));
                fresh = false;
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(path: &str, text: &str) -> Vec<usize> {
        check(&Source::new(path, text)).into_iter().map(|finding| finding.line).collect()
    }

    #[test]
    fn the_validator_knows_neither_engine_nor_compiler() {
        let file = "host-cli/src/validate/trace.rs";
        for bad in ["vouch_core::sat::Solver", "vouch_core::ic3::Engine", "crate::blast::Aig"] {
            assert_eq!(lines(file, &format!("//! x\nuse {bad};\n")), [2], "{bad}");
            assert_eq!(
                lines(file, &format!("//! x\nfn f() {{\n  {bad}::new()\n}}\n")),
                [3],
                "{bad}"
            );
        }
        let list = "//! x\nuse crate::{\n    ir::{self, blast},\n    blast::{a, b},\n};\n";
        assert_eq!(lines(file, list), [4]);
        let fine = "//! crate::blast\nuse crate::ir::Cfa;\nuse vouch_core::image;\nlet satisfied = 1;\n\
                    #[cfg(test)]\nmod tests { use crate::blast; }\n";
        assert_eq!(lines(file, fine), [0; 0]);
    }

    #[test]
    fn data_flows_one_way() {
        assert_eq!(lines("host-cli/src/ir/a.rs", "use crate::frontend::x;"), [1]);
        assert_eq!(lines("host-cli/src/frontend/vch/a.rs", "use crate::ir::x;"), [0; 0]);
        assert_eq!(lines("host-cli/src/frontend/vch/a.rs", "use crate::blast::x;"), [1]);
        assert_eq!(lines("host-cli/src/decode.rs", "use crate::report::x;"), [1]);
        assert_eq!(lines("host-cli/src/main.rs", "use crate::report::x;"), [0; 0]);
        assert_eq!(lines("core/src/sat/a.rs", "use crate::ic3::x;"), [1]);
        assert_eq!(lines("core/src/ic3/a.rs", "use crate::sat::x;"), [0; 0]);
        assert_eq!(lines("core/src/certificate/a.rs", "use crate::{lit::Lit, ic3::x};"), [1]);
    }
}
