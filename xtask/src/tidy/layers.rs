//! Who may import whom within a package.
//!
//! Data flows one way, and what checks a result shares no code with what found it. Between packages Cargo
//! sees to that: `vouch-validate` depends on automata and a solver of its own, and on nothing else. Within
//! a package a layer is a folder or a file directly in its `src`, and each is listed here with
//! all that it may import.

use super::Finding;
use super::source::Source;

/// A layer, and the others that it may import.
type Layer = (&'static str, &'static [&'static str]);

/// A package's sources, and its layers.
type Package = (&'static str, &'static [Layer]);

/// The packages with layers, each after those that it builds on.
const PACKAGES: [Package; 6] = [
    ("core/src/", &CORE),
    ("device/src/", &DEVICE),
    ("host-cli/ir/src/", &IR),
    ("host-cli/validate/src/", &VALIDATE),
    ("host-cli/compile/src/", &COMPILE),
    ("host-cli/host/src/", &HOST),
];

/// The checker can be built without the engine, and the formats know of neither.
const CORE: [Layer; 12] = [
    ("word", &[]),
    ("rules", &[]),
    ("lit", &["word"]),
    ("arena", &["word"]),
    ("image", &["word", "lit"]),
    ("sat", &["word", "rules", "lit", "arena", "image"]),
    ("certificate", &["word", "lit", "arena", "image", "sat"]),
    ("ic3", &["word", "rules", "lit", "arena", "image", "sat", "certificate"]),
    ("guard", &["word", "lit", "image", "certificate"]),
    ("walk", &["word", "lit", "image", "certificate"]),
    ("link", &["image", "ic3"]),
    ("session", &["image", "ic3", "link"]),
];

/// What is stored does not know of what is checked at boot, nor the other way round.
const DEVICE: [Layer; 17] = [
    ("block", &[]),
    ("control", &[]),
    ("harden", &[]),
    ("hash", &["harden"]),
    ("package", &["harden", "hash", "signature"]),
    ("signature", &["harden", "hash", "package"]),
    ("keys", &["block", "package"]),
    ("slot", &["block"]),
    ("product", &["harden", "package"]),
    ("trial", &["harden"]),
    ("store", &["block", "harden", "keys", "package", "product", "slot", "trial", "update"]),
    ("update", &["block", "harden", "keys", "package", "slot", "store"]),
    ("ram", &["store"]),
    ("code", &["harden", "hash"]),
    ("live", &["code"]),
    ("boot", &["code", "control", "harden", "trial"]),
    ("record", &["boot", "hash"]),
];

/// Automata and all that is said of them.
const IR: [Layer; 14] = [
    ("deadline", &[]),
    ("escape", &[]),
    ("read", &["deadline"]),
    ("requirements", &[]),
    ("cfa", &["expr", "eval"]),
    ("expr", &["deadline", "eval"]),
    ("eval", &["cfa", "expr"]),
    ("interrupt", &["cfa", "deadline", "expr"]),
    ("live", &["cfa", "deadline", "expr"]),
    ("run", &["cfa", "expr", "term"]),
    ("term", &["cfa", "expr", "eval"]),
    ("value", &["cfa", "escape", "expr", "eval"]),
    ("formats", &["cfa", "escape", "expr", "run", "term", "value"]),
    ("sample", &["cfa", "expr", "run", "term", "value"]),
];

/// Replaying a run needs no solver.
const VALIDATE: [Layer; 12] = [
    ("lit", &[]),
    ("lrat", &["lit"]),
    ("solver", &["lit", "lrat"]),
    ("sums", &["solver"]),
    ("encode", &["solver", "sums"]),
    ("run", &[]),
    ("execute", &["run"]),
    ("replay", &["execute", "run"]),
    ("depends", &["run"]),
    ("family", &["encode", "replay", "solver"]),
    ("certificate", &["encode", "solver"]),
    ("imply", &["certificate", "encode", "solver"]),
];

/// In the order in which data flows.
const COMPILE: [Layer; 4] = [
    ("gates", &[]),
    ("simplify", &["gates"]),
    ("blast", &["gates", "simplify"]),
    ("decode", &["blast"]),
];

/// What engines and devices say is judged before it is reported; only the program knows of all.
const HOST: [Layer; 31] = [
    ("answer", &[]),
    ("verdict", &[]),
    ("memory", &[]),
    ("write", &[]),
    ("walk", &[]),
    ("conditions", &[]),
    ("pipeline", &[]),
    ("bind", &["pipeline"]),
    ("keywords", &[]),
    ("glue", &["keywords", "pipeline"]),
    ("words", &[]),
    ("report", &["explain", "keywords", "replay", "suite", "verdict", "walk", "words"]),
    ("explain", &["words"]),
    ("export", &[]),
    ("signing", &["pipeline"]),
    ("transport", &["write"]),
    ("engines", &["answer", "pipeline"]),
    ("judge", &["answer", "verdict"]),
    ("lint", &["engines", "judge"]),
    ("suite", &["engines", "judge", "walk", "conditions"]),
    ("conform", &["engines", "walk"]),
    ("client", &["answer", "memory", "signing", "transport"]),
    ("replay", &["judge", "pipeline", "transport", "verdict"]),
    ("shortest", &["answer", "engines", "judge", "pipeline", "words"]),
    ("seed", &["judge", "pipeline", "verdict"]),
    ("check", &["answer", "client", "engines", "judge", "pipeline", "replay", "seed", "shortest"]),
    ("sweep", &["check", "engines", "judge", "pipeline", "report", "verdict"]),
    ("rig", &["check", "client", "judge", "pipeline", "report", "transport", "verdict"]),
    ("log", &["client"]),
    ("simulate", &["engines", "report", "walk"]),
    ("project", &["pipeline", "report", "verdict", "write"]),
];

/// The roots of packages, which may import everything.
const FREE: [&str; 1] = ["lib"];

/// Imports in this file that its layer must not have.
pub fn check(source: &Source) -> Vec<Finding> {
    let package = PACKAGES.iter().find_map(|(folder, layers)| {
        let rest = source.path.strip_prefix(folder)?;
        Some((*layers, rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs")))
    });
    let Some((layers, layer)) = package.filter(|(_, layer)| !FREE.contains(layer)) else {
        return Vec::new();
    };
    let Some((_, allowed)) = layers.iter().find(|(name, _)| *name == layer) else {
        let message =
            format!("`{layer}` is a new layer: say in `tidy/layers.rs` what it may import");
        return vec![Finding { line: 1, message }];
    };
    let other = |name: &String| layers.iter().any(|(other, _)| other == name) && *name != layer;
    let mut findings = Vec::new();
    for (line, path) in paths(&source.code) {
        if other(&path) && !allowed.contains(&path.as_str()) {
            let message = format!("`{layer}` must not import `{path}`: data flows the other way");
            findings.push(Finding { line, message });
        }
    }
    findings.dedup();
    findings
}

/// The layers that a file names, with their lines: what follows `crate::`, one name or a list in braces.
/// `code` has no literals.
fn paths(code: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let root = "crate::";
    for (at, _) in code.match_indices(root) {
        let list = group(&code[at + root.len()..]);
        let line = |offset: usize| 1 + code[..at + root.len() + offset].matches('\n').count();
        found.extend(list.into_iter().map(|(offset, name)| (line(offset), name)));
    }
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
    fn layers_import_what_they_may() {
        let file = "host-cli/compile/src/gates/a.rs";
        let bad = "crate::blast::Map";
        assert_eq!(lines(file, &format!("//! x\nuse {bad};\n")), [2]);
        assert_eq!(lines(file, &format!("//! x\nfn f() {{\n  {bad}::new()\n}}\n")), [3]);
        let list = "//! x\nuse crate::{\n    gates::{self, blast},\n    blast::{a, b},\n};\n";
        assert_eq!(lines(file, list), [4]);
        let fine = "//! crate::blast\nuse crate::gates::Aig;\nuse vouch_ir::Cfa;\nlet blasted = 1;\n\
                    #[cfg(test)]\nmod tests { use crate::blast; }\n";
        assert_eq!(lines(file, fine), [0; 0]);
    }

    #[test]
    fn data_flows_one_way() {
        assert_eq!(lines("host-cli/compile/src/decode.rs", "use crate::blast::x;"), [0; 0]);
        assert_eq!(lines("host-cli/compile/src/blast/a.rs", "use crate::decode::x;"), [1]);
        assert_eq!(lines("host-cli/host/src/report/a.rs", "use crate::engines::x;"), [1]);
        assert_eq!(lines("host-cli/host/src/lib.rs", "use crate::report::x;"), [0; 0]);
        assert_eq!(lines("core/src/sat/a.rs", "use crate::ic3::x;"), [1]);
        assert_eq!(lines("core/src/ic3/a.rs", "use crate::sat::x;"), [0; 0]);
        assert_eq!(lines("core/src/certificate/a.rs", "use crate::{lit::Lit, ic3::x};"), [1]);
        assert_eq!(lines("device/src/boot.rs", "use crate::store::Store;"), [1]);
    }

    /// Who adds a layer says what it may import.
    #[test]
    fn a_new_layer_is_not_free() {
        assert_eq!(lines("core/src/bmc/mod.rs", "use crate::sat::x;"), [1]);
    }

    /// Every layer may import only what is there, and none itself.
    #[test]
    fn the_tables_name_layers() {
        for (package, layers) in PACKAGES {
            for (layer, allowed) in layers {
                let known = |name: &&str| layers.iter().any(|(other, _)| other == name);
                assert!(
                    allowed.iter().all(|name| known(name) && name != layer),
                    "{package}{layer}"
                );
            }
        }
    }
}
