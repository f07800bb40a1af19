//! `vouch inspect`: what a model or image consists of.

use super::args::InspectArgs;
use super::ask::{describe_range, range};
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::plan::{self, Fit, Sizes};
use super::{bound, dot, files, picture};
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use unicode_width::UnicodeWidthStr;
use vouch_host::escape;
use vouch_host::formats::Names;
use vouch_host::ir::{Cfa, EdgeId, LocId};
use vouch_host::pipeline::{Loaded, Origin};

/// Characters of source text after an edge.
const EXCERPT: usize = 48;

/// Runs `vouch inspect`; returns the exit code.
pub fn command(args: &InspectArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    if args.dot || args.svg {
        let shown = if args.simplified { &model.simplified.cfa } else { &model.cfa };
        let text = match args.svg {
            true => picture::draw(&model, &args.model),
            false => dot::write(&model, shown),
        };
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
    let unusable = |e| Failure::new(Kind::Mismatch, format!("the image cannot be used: {e}"));
    // What a board would get is the simplified model, whichever is shown.
    let sizes = plan::sizes(&model.image).map_err(unusable)?;
    let fits = plan::fits(&sizes, None);
    // What an image is bound to goes with the image.
    let bound = (bound::to_json(&model), bound::to_text(&model));
    let shown = if args.simplified { model } else { model.as_written()? };
    let edges = plan::edge_sizes(&shown.image).map_err(unusable)?;
    let automaton = Automaton::new(&shown, &edges);
    if context.json {
        let mut text = to_json(&automaton, &sizes, &fits);
        text["bound"] = bound.0.into();
        context::print(&text.to_string());
    } else {
        context.print(&to_text(&automaton, &bound.1, &sizes, &fits, context.quiet));
    }
    Ok(0)
}

/// What is shown: the model as it is written, or what the passes leave of it.
struct Automaton<'a> {
    model: &'a Loaded,
    cfa: &'a Cfa,
    /// The bits that matter at those locations that an image of it has.
    live: HashMap<LocId, &'a [u32]>,
    /// Input bits, gates and clauses of those edges that an image of it has.
    edges: HashMap<EdgeId, (usize, usize, usize)>,
}

impl<'a> Automaton<'a> {
    /// The automaton that the model's image was made of, with gates and clauses of the image's edges.
    fn new(model: &'a Loaded, edges: &[(usize, usize)]) -> Automaton<'a> {
        let map = &model.map;
        let live = map.locations.iter().copied().zip(map.live.iter().map(Vec::as_slice));
        let sizes = map.edge_inputs.iter().map(Vec::len).zip(edges);
        let sizes = sizes.map(|(inputs, (gates, clauses))| (inputs, *gates, *clauses));
        let edges = map.edges.iter().copied().zip(sizes).collect();
        Automaton { model, cfa: &model.simplified.cfa, live: live.collect(), edges }
    }

    /// The bits that matter at a location.
    fn live(&self, id: LocId) -> &'a [u32] {
        self.live.get(&id).copied().unwrap_or_default()
    }

    /// Input bits, gates and clauses of an edge.
    fn edge(&self, id: EdgeId) -> (usize, usize, usize) {
        self.edges.get(&id).copied().unwrap_or_default()
    }
}

/// The line of the source; nothing if that has none.
fn line(model: &Loaded, span: vouch_host::ir::Span) -> Option<usize> {
    (!model.source.text.is_empty()).then(|| model.source.place(span.start).line)
}

/// What is known of a program besides its automaton.
fn about(model: &Loaded) -> &[(&'static str, String)] {
    match &model.origin {
        Origin::Program(binary) => &binary.program.about,
        _ => &[],
    }
}

fn to_json(shown: &Automaton<'_>, sizes: &Sizes, fits: &[Fit]) -> Value {
    let Automaton { model, cfa, .. } = shown;
    let (names, map) = (Names::new(cfa), &model.map);
    let locations = dot::shown(cfa).map(|id| {
        let live = shown.live(id);
        let bits = live.iter().map(|b| {
            let (var, bit) = map.bits[*b as usize];
            format!("{}.{bit}", names.var(var))
        });
        json!({
            "name": names.location(id),
            "live_bits": live.len(),
            "live": bits.collect::<Vec<String>>(),
            "line": line(model, cfa.locations[id.index()].span),
        })
    });
    let shown_edges = (0..).map(EdgeId).zip(&cfa.edges).map(|(id, edge)| {
        let (inputs, gates, clauses) = shown.edge(id);
        json!({
            "from": names.location(edge.from),
            "to": names.location(edge.to),
            "gates": gates,
            "clauses": clauses,
            "input_bits": inputs,
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
        "program": about(model).iter().cloned().collect::<BTreeMap<&str, String>>(),
    })
}

/// Blanks after a text up to a column.
fn pad(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(text.width())))
}

fn to_text(shown: &Automaton<'_>, bound: &str, sizes: &Sizes, fits: &[Fit], quiet: bool) -> String {
    let Automaton { model, cfa, .. } = shown;
    let names = Names::new(cfa);
    let mut text = format!("{} ({})\n{}", cfa.name, model.source.path, plan::show_sizes(sizes));
    if quiet {
        return text;
    }
    let about = about(model);
    if !about.is_empty() {
        text.push_str("\nprogram\n");
        for (heading, line) in about {
            text.push_str(&format!("  {heading:9}  {}\n", escape::text(line)));
        }
    }
    text.push_str(bound);
    text.push_str("\nproperties\n");
    for (i, p) in (0..).zip(&cfa.properties) {
        let line = line(model, p.span).map_or(String::new(), |line| format!(" (line {line})"));
        text.push_str(&format!("  {}{line}\n", names.properties.show(i)));
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
    let width = widest(&mut dot::shown(cfa).map(|l| names.location(l)));
    text.push_str(&format!("\n{}  {:>9}\n", pad("locations", width + 2), "live bits"));
    for id in dot::shown(cfa) {
        let name = pad(&names.location(id), width);
        text.push_str(&format!("  {name}  {:>9}\n", shown.live(id).len()));
    }
    let edges = || (0..cfa.edges.len() as u32).map(EdgeId);
    let width = widest(&mut edges().map(|e| names.edge(cfa, e)));
    let head = pad("edges", width + 2);
    text.push_str(&format!(
        "\n{head}  {:>6}  {:>7}  {:>6}  source\n",
        "gates", "clauses", "inputs"
    ));
    for id in edges() {
        let name = pad(&names.edge(cfa, id), width);
        let (inputs, gates, clauses) = shown.edge(id);
        let source = dot::excerpt(model, cfa.edges[id.index()].span, EXCERPT);
        let row = format!("  {name}  {gates:>6}  {clauses:>7}  {inputs:>6}  {source}");
        text.push_str(&format!("{}\n", row.trim_end()));
    }
    text.push_str(&format!("\nboards\n{}", plan::show_fits(fits)));
    text
}
