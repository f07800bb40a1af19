//! State machines as pictures.
//!
//! - [`layout`]: where boxes, lines and labels go.

pub mod layout;

use super::markup::escape;
use layout::{Graph, Placed, Size};
use std::collections::BTreeMap;
use std::fmt::Write;

/// What is drawn.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Picture {
    /// The heading: the model's name.
    pub title: String,
    /// Under the title.
    pub subtitle: Option<String>,
    /// One next to the other.
    pub machines: Vec<Machine>,
    /// Name and text of each property.
    pub properties: Vec<(String, String)>,
}

/// A state machine, drawn in a frame of its own.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Machine {
    /// Caption of the frame.
    pub name: String,
    /// The states; `initial` and `transitions` refer to them by index.
    pub states: Vec<State>,
    /// Where it starts.
    pub initial: usize,
    /// From, to, and the guard, with the action after a slash.
    pub transitions: Vec<(usize, usize, String)>,
}

/// A state, drawn as a box.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct State {
    /// Caption of the box.
    pub name: String,
    /// What happens in it without leaving it.
    pub inside: Vec<String>,
    /// Whether it must never be entered.
    pub forbidden: bool,
}

/// Letters in a line of a label.
const LINE: usize = 26;
/// Lines of a label.
const LINES: usize = 4;
/// Lines in a state.
const INSIDE: usize = 4;
const MARGIN: f64 = 24.0;
/// Room above a machine for the arrow to its initial state.
const START: f64 = 30.0;
/// Machines next to each other up to this width.
const WIDE: f64 = 1500.0;

const STYLE: &str = "\
text{font-family:-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2933}\
.title{font-size:20px;font-weight:600}.subtitle{font-size:12px;fill:#52606d}\
.machine{font-size:14px;font-weight:600;fill:#52606d}.frame{fill:#fff;stroke:#d9e2ec}\
.state{fill:#eef4fb;stroke:#3e7cb1;stroke-width:1.5}.forbidden{fill:#fdecea;stroke:#c0392b;stroke-width:1.5;stroke-dasharray:5 3}\
.name{font-size:14px;font-weight:600;text-anchor:middle}.code{font-family:'DejaVu Sans Mono',Menlo,Consolas,monospace;font-size:10.5px}\
.inside{text-anchor:middle;fill:#52606d}.label{text-anchor:middle}.back{fill:#fff;fill-opacity:.88}\
.edge{fill:none;stroke:#829ab1;stroke-width:1.3}.start{fill:#1f2933}.rule{stroke:#9fb3c8}\
.property{font-size:12px;font-weight:600}";

/// A text in lines of at most so many letters, broken at blanks, cut after so many lines.
fn wrap(text: &str, letters: usize, most: usize) -> Vec<String> {
    let mut lines: Vec<String> = vec![];
    for word in text.split_whitespace() {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= letters => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    for line in &mut lines {
        if line.chars().count() > letters + 8 {
            *line = line.chars().take(letters + 7).chain(['…']).collect();
        }
    }
    if lines.len() > most {
        lines.truncate(most);
        if let Some(last) = lines.last_mut() {
            last.push('…');
        }
    }
    lines
}

/// About the columns of a text in the small, fixed-width letters.
fn width(lines: &[String]) -> f64 {
    lines.iter().map(|l| l.chars().count()).max().unwrap_or(0) as f64 * 6.4
}

/// A machine with its places.
struct Drawn<'m> {
    machine: &'m Machine,
    inside: Vec<Vec<String>>,
    sizes: Vec<Size>,
    /// From, to, and the lines of the label.
    edges: Vec<(usize, usize, Vec<String>)>,
    placed: Placed,
    size: Size,
}

fn measure(machine: &Machine) -> Drawn<'_> {
    let shown = |state: &State| {
        let mut lines: Vec<String> =
            state.inside.iter().flat_map(|t| wrap(t, LINE + 6, 1)).collect();
        if lines.len() > INSIDE {
            let more = lines.len() - INSIDE + 1;
            lines.truncate(INSIDE - 1);
            lines.push(format!("… {more} more"));
        }
        lines
    };
    let inside: Vec<Vec<String>> = machine.states.iter().map(shown).collect();
    let size = |(state, inside): (&State, &Vec<String>)| {
        let name = state.name.chars().count() as f64 * 8.6;
        let height = if inside.is_empty() { 34.0 } else { 36.0 + 14.0 * inside.len() as f64 };
        Size { width: (name.max(width(inside)) + 26.0).max(84.0), height }
    };
    let sizes: Vec<Size> = machine.states.iter().zip(&inside).map(size).collect();
    // Several ways from one state to another are one line.
    let mut merged: BTreeMap<(usize, usize), Vec<String>> = BTreeMap::new();
    for (from, to, guard) in machine.transitions.iter().filter(|t| t.0 != t.1) {
        merged.entry((*from, *to)).or_default().extend(wrap(guard, LINE, LINES));
    }
    let edges: Vec<(usize, usize, Vec<String>)> =
        merged.into_iter().map(|((from, to), lines)| (from, to, lines)).collect();
    // The initial state first, so that it comes to the top.
    let count = machine.states.len().max(1);
    let turn = |s: usize| (s + count - machine.initial) % count;
    let back = |s: usize| (s + machine.initial) % count;
    let label = |lines: &Vec<String>| Size {
        width: width(lines) + 8.0,
        height: 13.0 * lines.len() as f64 + 4.0,
    };
    let graph = Graph {
        boxes: (0..machine.states.len()).map(|s| sizes[back(s)]).collect(),
        edges: edges.iter().map(|(f, t, l)| (turn(*f), turn(*t), label(l))).collect(),
    };
    let mut placed = layout::lay_out(&graph);
    placed.boxes = (0..machine.states.len()).map(|s| placed.boxes[turn(s)]).collect();
    let name = machine.name.chars().count() as f64 * 9.0;
    let size = Size {
        width: placed.size.0.max(name) + 2.0 * MARGIN,
        height: placed.size.1 + 2.0 * MARGIN + START + 20.0,
    };
    Drawn { machine, inside, sizes, edges, placed, size }
}

/// The picture as an SVG file.
pub fn draw(picture: &Picture) -> String {
    let drawn: Vec<Drawn<'_>> = picture.machines.iter().map(measure).collect();
    // Machines in rows.
    let mut places = vec![];
    let top = if picture.subtitle.is_some() { 76.0 } else { 58.0 };
    let (mut x, mut y, mut row, mut right) = (MARGIN, top, 0f64, 320f64);
    for d in &drawn {
        if x > MARGIN && x + d.size.width > WIDE {
            (x, y, row) = (MARGIN, y + row + MARGIN, 0.0);
        }
        places.push((x, y));
        x += d.size.width + MARGIN;
        row = row.max(d.size.height);
        right = right.max(x);
    }
    let bottom = y + row + MARGIN;
    let columns = 112;
    let claims: Vec<Vec<String>> =
        picture.properties.iter().map(|p| wrap(&p.1, columns, 2)).collect();
    let names = picture.properties.iter().map(|p| p.0.chars().count()).max().unwrap_or(0);
    let indent = names as f64 * 7.6 + 24.0;
    let lines: usize = claims.iter().map(|c| c.len().max(1)).sum();
    let height = bottom + if lines > 0 { 18.0 * lines as f64 + MARGIN } else { 0.0 };
    let text_width = claims.iter().map(|c| width(c)).fold(0.0, f64::max) + indent + 2.0 * MARGIN;
    let width = right.max(if lines > 0 { text_width } else { 0.0 });

    let mut out = String::new();
    // Writing into a string has no way to fail.
    let _ = writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width:.0}\" height=\"{height:.0}\" \
         viewBox=\"0 0 {width:.0} {height:.0}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" \
         markerHeight=\"8\" orient=\"auto\"><path d=\"M0 0.5L7.5 4L0 7.5z\" fill=\"#829ab1\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#f7f9fb\"/>",
        escape(&picture.title)
    );
    let _ = writeln!(
        out,
        "<text class=\"title\" x=\"{MARGIN}\" y=\"38\">{}</text>",
        escape(&picture.title)
    );
    if let Some(subtitle) = &picture.subtitle {
        let subtitle = escape(subtitle);
        let _ = writeln!(
            out,
            "<text class=\"subtitle code\" x=\"{MARGIN}\" y=\"58\">{subtitle}</text>"
        );
    }
    for (d, (x, y)) in drawn.iter().zip(&places) {
        let _ = writeln!(out, "<g transform=\"translate({x:.1} {y:.1})\">");
        machine(&mut out, d, picture.machines.len() > 1);
        out.push_str("</g>\n");
    }
    let mut y = bottom + 8.0;
    for ((name, _), claim) in picture.properties.iter().zip(&claims) {
        let name = escape(name);
        let _ = writeln!(out, "<text class=\"property\" x=\"{MARGIN}\" y=\"{y:.1}\">{name}</text>");
        for line in claim {
            let x = MARGIN + indent;
            let line = escape(line);
            let _ = writeln!(out, "<text class=\"code\" x=\"{x:.1}\" y=\"{y:.1}\">{line}</text>");
            y += 18.0;
        }
        if claim.is_empty() {
            y += 18.0;
        }
    }
    out.push_str("</svg>\n");
    out
}

fn machine(out: &mut String, d: &Drawn<'_>, named: bool) {
    let Size { width, height } = d.size;
    let _ = writeln!(
        out,
        "<rect class=\"frame\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"10\"/>"
    );
    if named {
        let name = escape(&d.machine.name);
        let _ = writeln!(out, "<text class=\"machine\" x=\"16\" y=\"24\">{name}</text>");
    }
    let slack = (width - 2.0 * MARGIN - d.placed.size.0) / 2.0;
    let at = |(x, y): (f64, f64)| (x + MARGIN + slack, y + MARGIN + START + 16.0);
    for points in &d.placed.edges {
        let _ = writeln!(
            out,
            "<path class=\"edge\" marker-end=\"url(#tip)\" d=\"{}\"/>",
            path(points.iter().map(|p| at(*p)))
        );
    }
    if let (Some(place), Some(size)) =
        (d.placed.boxes.get(d.machine.initial), d.sizes.get(d.machine.initial))
    {
        let (x, y) = at(*place);
        // Beside the lines that come back to the initial state.
        let (x, y) = (x - size.width / 2.0 + 14.0, y - size.height / 2.0);
        let _ = writeln!(
            out,
            "<circle class=\"start\" cx=\"{x:.1}\" cy=\"{:.1}\" r=\"5\"/>\
             <path class=\"edge\" marker-end=\"url(#tip)\" d=\"M{x:.1} {:.1}V{:.1}\"/>",
            y - 30.0,
            y - 25.0,
            y - 1.0
        );
    }
    for (s, state) in d.machine.states.iter().enumerate() {
        let (x, y) = at(d.placed.boxes[s]);
        let Size { width, height } = d.sizes[s];
        let (left, top) = (x - width / 2.0, y - height / 2.0);
        let class = if state.forbidden { "forbidden" } else { "state" };
        let _ = writeln!(
            out,
            "<rect class=\"{class}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" \
             height=\"{height:.1}\" rx=\"9\"/><text class=\"name\" x=\"{x:.1}\" y=\"{:.1}\">{}</text>",
            top + 22.0,
            escape(&state.name)
        );
        let inside = &d.inside[s];
        if !inside.is_empty() {
            let y = top + 30.0;
            let right = left + width;
            let _ = writeln!(out, "<path class=\"rule\" d=\"M{left:.1} {y:.1}H{right:.1}\"/>");
        }
        for (i, line) in inside.iter().enumerate() {
            let y = top + 43.0 + 14.0 * i as f64;
            let line = escape(line);
            let _ = writeln!(
                out,
                "<text class=\"code inside\" x=\"{x:.1}\" y=\"{y:.1}\">{line}</text>"
            );
        }
    }
    for ((_, _, lines), label) in d.edges.iter().zip(&d.placed.labels) {
        let (x, y) = at(*label);
        let first = y - 13.0 * (lines.len() as f64 - 1.0) / 2.0 + 4.0;
        let (w, h) = (self::width(lines) + 4.0, 13.0 * lines.len() as f64 + 2.0);
        let (left, top) = (x - w / 2.0, y - h / 2.0);
        let _ = writeln!(
            out,
            "<rect class=\"back\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{w:.1}\" height=\"{h:.1}\"/>"
        );
        for (i, line) in lines.iter().enumerate() {
            let y = first + 13.0 * i as f64;
            let line = escape(line);
            let _ =
                writeln!(out, "<text class=\"code label\" x=\"{x:.1}\" y=\"{y:.1}\">{line}</text>");
        }
    }
}

/// A line through points: straight down through layers, curved between them.
fn path(points: impl Iterator<Item = (f64, f64)>) -> String {
    let mut out = String::new();
    let mut last: Option<(f64, f64)> = None;
    for (x, y) in points {
        let _ = match last {
            None => write!(out, "M{x:.1} {y:.1}"),
            Some((from, _)) if (from - x).abs() < 0.05 => write!(out, "V{y:.1}"),
            Some((from, above)) => {
                let middle = (above + y) / 2.0;
                write!(out, "C{from:.1} {middle:.1} {x:.1} {middle:.1} {x:.1} {y:.1}")
            }
        };
        last = Some((x, y));
    }
    out
}
