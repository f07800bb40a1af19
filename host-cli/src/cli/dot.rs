//! The automaton as a graph for Graphviz.

use std::fmt::Write;
use vouch::formats::Names;
use vouch::ir::Span;
use vouch::pipeline::Loaded;

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

/// The graph.
pub fn write(model: &Loaded) -> String {
    let cfa = &model.simplified.cfa;
    let names = Names::new(cfa);
    let mut text = format!("digraph {} {{\n", quote(&cfa.name));
    text.push_str("  rankdir=LR;\n  node [shape=box, style=rounded, fontname=\"sans-serif\"];\n");
    text.push_str("  edge [fontname=\"sans-serif\", fontsize=10];\n");
    for (i, id) in model.map.locations.iter().enumerate() {
        let property = cfa.properties.iter().position(|p| p.error == *id);
        let look = match property {
            Some(_) => ", shape=octagon, style=filled, fillcolor=\"#f4c7c3\"",
            None if *id == cfa.init => ", shape=circle",
            None => "",
        };
        let bits = model.map.live.get(i).map_or(0, Vec::len);
        let label = match property {
            Some(_) => names.location(*id),
            None => format!("{} ({bits} bits)", names.location(*id)),
        };
        // Writing into a string has no way to fail.
        let _ = writeln!(text, "  n{} [label={}{look}];", id.0, quote(&label));
    }
    for id in &model.map.edges {
        let edge = &cfa.edges[id.index()];
        let label = quote(&excerpt(model, edge.span, LABEL));
        let _ = writeln!(text, "  n{} -> n{} [label={label}];", edge.from.0, edge.to.0);
    }
    text.push_str("}\n");
    text
}
