//! `vouch inspect`: what a model or image consists of.

use super::args::InspectArgs;
use super::ask::{describe_range, range};
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::plan::{self, Fit, Sizes};
use super::{dot, files, picture};
use serde_json::{Value, json};
use unicode_width::UnicodeWidthStr;
use vouch::formats::Names;
use vouch::frontend::diagnostic::position;
use vouch::pipeline::Loaded;

/// Characters of source text behind an edge.
const EXCERPT: usize = 48;

/// The command.
pub fn command(args: &InspectArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    if args.dot || args.svg {
        let text = if args.svg { picture::draw(&model, &args.model) } else { dot::write(&model) };
        match &args.output {
            Some(path) => files::write(path, text.as_bytes(), &[&args.model.model])?,
            None => context.print(&text),
        }
        return Ok(0);
    }
    if args.output.is_some() {
        let message = "`--output` is for pictures\nhelp: add `--svg` or `--dot`";
        return Err(Failure::usage(message));
    }
    let unusable = |e| Failure::new(Kind::Mismatch, format!("the image cannot be used ({e:?})"));
    let sizes = plan::sizes(&model.image).map_err(unusable)?;
    let edges = plan::edge_sizes(&model.image).map_err(unusable)?;
    let fits = plan::fits(&sizes);
    if context.json {
        context::print(&to_json(&model, &sizes, &edges, &fits).to_string());
    } else {
        context.print(&to_text(&model, &sizes, &edges, &fits, context.quiet));
    }
    Ok(0)
}

fn line(model: &Loaded, span: vouch::ir::Span) -> usize {
    position(&model.source.text, span.start).0
}

fn to_json(model: &Loaded, sizes: &Sizes, edges: &[(usize, usize)], fits: &[Fit]) -> Value {
    // What is shown is what the image has: the simplified automaton.
    let (cfa, map) = (&model.simplified.cfa, &model.map);
    let names = Names::new(cfa);
    let locations = map.locations.iter().zip(&map.live).map(|(id, live)| {
        let bits = live.iter().map(|b| {
            let (var, bit) = map.bits[*b as usize];
            format!("{}.{bit}", names.var(var))
        });
        json!({
            "name": names.location(*id),
            "live_bits": live.len(),
            "live": bits.collect::<Vec<String>>(),
            "line": line(model, cfa.locations[id.index()].span),
        })
    });
    let shown_edges = map.edges.iter().enumerate().map(|(i, id)| {
        let edge = &cfa.edges[id.index()];
        json!({
            "from": names.location(edge.from),
            "to": names.location(edge.to),
            "gates": edges[i].0,
            "clauses": edges[i].1,
            "input_bits": map.edge_inputs[i].len(),
            "line": line(model, edge.span),
        })
    });
    let properties = (0..).zip(&cfa.properties).map(|(i, p)| {
        json!({
            "name": names.properties.show(i),
            "error": names.location(p.error),
            "line": line(model, p.span),
        })
    });
    let parameters = cfa.params().map(|(id, var)| {
        let (min, max) = range(var).unzip();
        json!({ "name": names.var(id), "bits": var.width, "min": min, "max": max })
    });
    json!({
        "model": cfa.name,
        "source": model.source.path,
        "sizes": sizes,
        "locations": locations.collect::<Vec<Value>>(),
        "edges": shown_edges.collect::<Vec<Value>>(),
        "properties": properties.collect::<Vec<Value>>(),
        "parameters": parameters.collect::<Vec<Value>>(),
        "boards": fits,
    })
}

/// Blanks behind a text up to a column.
fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

fn to_text(
    model: &Loaded,
    sizes: &Sizes,
    edges: &[(usize, usize)],
    fits: &[Fit],
    quiet: bool,
) -> String {
    // What is shown is what the image has: the simplified automaton.
    let (cfa, map) = (&model.simplified.cfa, &model.map);
    let names = Names::new(cfa);
    let mut text = format!("{} ({})\n{}", cfa.name, model.source.path, plan::show_sizes(sizes));
    if quiet {
        return text;
    }
    text.push_str("\nproperties\n");
    for (i, p) in (0..).zip(&cfa.properties) {
        let line = line(model, p.span);
        text.push_str(&format!("  {} (line {line})\n", names.properties.show(i)));
    }
    if cfa.params().next().is_some() {
        text.push_str("\nparameters\n");
        for (id, var) in cfa.params() {
            let range = describe_range(var);
            text.push_str(&format!("  {}: {range} ({} bits)\n", names.var(id), var.width));
        }
    }
    let widest = |all: &mut dyn Iterator<Item = String>| {
        all.map(|n| n.width()).max().unwrap_or(0).clamp(8, 48)
    };
    let width = widest(&mut map.locations.iter().map(|l| names.location(*l)));
    text.push_str(&format!("\n{}  {:>9}\n", pad("locations", width + 2), "live bits"));
    for (id, live) in map.locations.iter().zip(&map.live) {
        let name = pad(&names.location(*id), width);
        text.push_str(&format!("  {name}  {:>9}\n", live.len()));
    }
    let width = widest(&mut map.edges.iter().map(|e| names.edge(cfa, *e)));
    let head = pad("edges", width + 2);
    text.push_str(&format!(
        "\n{head}  {:>6}  {:>7}  {:>6}  source\n",
        "gates", "clauses", "inputs"
    ));
    for (i, id) in map.edges.iter().enumerate() {
        let name = pad(&names.edge(cfa, *id), width);
        let ((gates, clauses), inputs) = (edges[i], map.edge_inputs[i].len());
        let source = dot::excerpt(model, cfa.edges[id.index()].span, EXCERPT);
        let row = format!("  {name}  {gates:>6}  {clauses:>7}  {inputs:>6}  {source}");
        text.push_str(&format!("{}\n", row.trim_end()));
    }
    text.push_str(&format!("\nboards\n{}", plan::show_fits(fits)));
    text
}
