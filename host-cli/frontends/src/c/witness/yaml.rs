//! The text of a witness. Strings are written as in JSON, which is YAML too.

use crate::Source;
use sha2::{Digest, Sha256};
use std::fmt::Write;
use std::time::SystemTime;

/// What was verified.
pub struct Task<'a> {
    /// The program: its path and hash go into the witness.
    pub source: &'a Source,
    /// `ILP32` or `LP64`.
    pub data_model: &'static str,
    /// The property, in temporal logic.
    pub specification: &'static str,
    /// Creation time in the metadata.
    pub now: SystemTime,
}

/// A place in the file, from 1.
#[derive(Clone, Copy)]
pub struct At {
    /// Line number in the file as given, before preprocessing.
    pub line: usize,
    /// The column, if that is known.
    pub column: Option<usize>,
}

/// Something that a run passes.
pub struct Waypoint {
    /// The waypoint's type, with its constraint if it has one.
    pub kind: Kind,
    /// The place in the file where it applies.
    pub at: At,
}

/// What a run passes.
pub enum Kind {
    /// This C expression holds when the run gets there.
    Assumption(String),
    /// A call returns, with this true of its result.
    Return(String),
    /// A branch is decided.
    Branch(String),
    /// The property breaks.
    Target,
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A number that no other witness has, as far as hashes go, in the form of a random UUID.
fn uuid(task: &Task<'_>, content: &str) -> String {
    let mut hash = Sha256::new();
    for part in [task.source.main(), task.specification, &time(task.now), content] {
        hash.update(part);
        hash.update([0]);
    }
    let mut b: [u8; 32] = hash.finalize().into();
    (b[6], b[8]) = (b[6] & 0x0f | 0x40, b[8] & 0x3f | 0x80);
    let hex: String = b[..16].iter().map(|b| format!("{b:02x}")).collect();
    [&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-")
}

fn time(now: SystemTime) -> String {
    chrono::DateTime::<chrono::Utc>::from(now).format("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn entry(task: &Task<'_>, kind: &str, content: &str) -> String {
    let file = quoted(&task.source.path);
    let hash: String =
        Sha256::digest(task.source.main().as_bytes()).iter().map(|b| format!("{b:02x}")).collect();
    let content = if content.is_empty() { " []\n".to_string() } else { format!("\n{content}") };
    format!(
        "- entry_type: {kind}\n  metadata:\n    format_version: \"2.0\"\n    uuid: {}\n    \
         creation_time: {}\n    producer:\n      name: \"vouch\"\n      version: {}\n    task:\n      \
         input_files:\n        - {file}\n      input_file_hashes:\n        {file}: \"{hash}\"\n      \
         specification: {}\n      data_model: {}\n      language: C\n  content:{content}",
        quoted(&uuid(task, &content)),
        quoted(&time(task.now)),
        quoted(env!("CARGO_PKG_VERSION")),
        quoted(&format!("CHECK( init(main()), LTL({}) )", task.specification)),
        task.data_model,
    )
}

fn location(task: &Task<'_>, at: At, indent: &str, text: &mut String) {
    let file = quoted(&task.source.path);
    let _ = writeln!(text, "{indent}location:\n{indent}  file_name: {file}");
    let _ = writeln!(text, "{indent}  line: {}", at.line);
    if let Some(column) = at.column {
        let _ = writeln!(text, "{indent}  column: {column}");
    }
}

/// A witness of type `violation_sequence`: each waypoint is a segment of its own.
pub fn violation(task: &Task<'_>, waypoints: &[Waypoint]) -> String {
    let mut text = String::new();
    for Waypoint { kind, at } in waypoints {
        let (name, constraint) = match kind {
            Kind::Assumption(value) => ("assumption", Some((value, "c_expression"))),
            Kind::Return(value) => ("function_return", Some((value, "acsl_expression"))),
            Kind::Branch(value) => ("branching", Some((value, "c_expression"))),
            Kind::Target => ("target", None),
        };
        text += "    - segment:\n        - waypoint:\n";
        let _ = writeln!(text, "            type: {name}\n            action: follow");
        location(task, *at, "            ", &mut text);
        if let Some((value, format)) = constraint {
            let value = quoted(value);
            let _ = writeln!(
                text,
                "            constraint:\n              value: {value}\n              format: {format}"
            );
        }
    }
    entry(task, "violation_sequence", &text)
}

/// Invariants: whether of a loop, where, and which.
pub fn invariants(task: &Task<'_>, invariants: &[(bool, At, String)]) -> String {
    let mut text = String::new();
    for (is_loop, at, value) in invariants {
        let kind = if *is_loop { "loop_invariant" } else { "location_invariant" };
        let _ = writeln!(text, "    - invariant:\n        type: {kind}");
        location(task, *at, "        ", &mut text);
        let _ = writeln!(text, "        value: {}\n        format: c_expression", quoted(value));
    }
    entry(task, "invariant_set", &text)
}
