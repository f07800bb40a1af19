//! The automaton as a graph for Graphviz.

use std::fmt::Write;
use vouch_host::formats::Names;
use vouch_host::ir::{Cfa, LocId, Span};
use vouch_host::pipeline::Loaded;

/// Characters of an edge's label.
const LABEL: usize = 40;

/// A string of the dot language.
fn quote(text: &str) -> String {
    let mut quoted = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            c if c.is_control() => quoted.push(' '),
            c => quoted.push(c),
        }
    }
    quoted.push('"');
    quoted
}

/// The source of something in one line, shortened.
pub fn excerpt(model: &Loaded, span: Span, most: usize) -> String {
    let text = model.source.text.get(span.start as usize..span.end as usize).unwrap_or("");
    let text = text.split_whitespace().collect::<Vec<&str>>().join(" ");
    if text.chars().count() <= most {
        return text;
    }
    text.chars().take(most.saturating_sub(1)).chain(['…']).collect()
}

/// The locations that an edge touches; passes leave some without any.
pub fn shown(cfa: &Cfa) -> impl Iterator<Item = LocId> {
    let mut touched = vec![false; cfa.locations.len()];
    touched[cfa.init.index()] = true;
    cfa.edges.iter().flat_map(|e| [e.from, e.to]).for_each(|l| touched[l.index()] = true);
    (0..).map(LocId).zip(touched).filter(|(_, touched)| *touched).map(|(id, _)| id)
}

/// The graph of an automaton that was made of the model's source.
pub fn write(model: &Loaded, cfa: &Cfa) -> String {
    let names = Names::new(cfa);
    let mut text = format!("digraph {} {{\n", quote(&cfa.name));
    text.push_str("  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    text.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for id in shown(cfa) {
        let look = match cfa.properties.iter().any(|p| p.error == id) {
            true => ", shape=octagon, style=filled, fillcolor=\"#f4c7c3\"",
            false if id == cfa.init => ", shape=circle",
            false => "",
        };
        let label = quote(&names.location(id));
        // Writing into a string has no way to fail.
        let _ = writeln!(text, "  n{} [label={label}{look}];", id.0);
    }
    for edge in &cfa.edges {
        let label = quote(&excerpt(model, edge.span, LABEL));
        let _ = writeln!(text, "  n{} -> n{} [label={label}];", edge.from.0, edge.to.0);
    }
    text.push_str("}\n");
    text
}
