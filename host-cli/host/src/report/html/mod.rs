//! A verdict as one page that needs nothing else: the machine, the run with its waves, the source next to it, the
//! invariant, and how it came about.
//!
//! Everything is in the page without the script; that only moves the mark from step to step.

use super::Style;
use super::json::Outcome;
use super::markup;
use super::rows::{self, Row};
use super::sequence;
use super::text::{because, duration, grouped, size};
use crate::explain::Explanation;
use crate::formats::Names;
use crate::frontend::source::{Place, Source};
use crate::ir::{Cfa, LocId, Type, VarId, value};
use crate::validate::Run;
use crate::words::Words;
use serde_json::json;
use std::collections::BTreeSet;

const PAGE: &str = include_str!("page.html");
const STYLE: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// What a page is about.
pub struct Page<'a> {
    /// The automaton that was checked, as the front end made it.
    pub cfa: &'a Cfa,
    /// What its parts are called.
    pub words: &'a Words<'a>,
    /// The source text that the page lists.
    pub source: &'a Source,
    /// The outcome of the check, the same as `--json` prints.
    pub outcome: &'a Outcome,
    /// The machines, drawn.
    pub picture: &'a str,
    /// The run that breaks a property.
    pub run: Option<&'a Run>,
    /// The invariant that proves some.
    pub invariant: Option<&'a Explanation>,
    /// What was asked, word by word.
    pub command: &'a [String],
}

/// Text as it is written in a page.
fn escape(text: &str) -> String {
    markup::escape(&text.replace('\t', "    "))
}

/// The page as one HTML file, with style and script inside.
pub fn write(page: &Page<'_>) -> String {
    let name = escape(&page.cfa.name);
    let verdict = page.outcome.verdict.to_string();
    let rows = page.run.map_or_else(Vec::new, |run| {
        let style = Style { rows: usize::MAX, ..Style::default() };
        rows::rows(page.cfa, page.words, run, &style, &Names::new(page.cfa))
    });
    let run = page.run.map_or_else(|| json!([]), |run| steps_json(page, run, &rows));
    let mut body = format!("<h1>{name}: <span class=\"{verdict}\">{verdict}</span></h1>\n");
    body += &properties(page.outcome);
    let picture = match page.picture.find("<svg") {
        Some(start) => &page.picture[start..],
        None => "",
    };
    let machine = format!("<section id=\"machine\"><h2>Machine</h2>{picture}</section>\n");
    body += &match page.run {
        Some(run) => format!(
            "<p class=\"keys\"><button id=\"back\" type=\"button\">◀</button> step <span id=\"at\"></span> \
             <button id=\"forward\" type=\"button\">▶</button> <kbd>←</kbd> <kbd>→</kbd> one step, <kbd>Home</kbd> \
             <kbd>End</kbd>, or click a step</p>\n<div class=\"two\">{}{}</div>\n{machine}{}{}",
            steps(page, run, &rows),
            source(page.source),
            conversation(page, run),
            waves(page.cfa, run)
        ),
        None => format!("{machine}{}{}", invariant(page), source(page.source)),
    };
    body += &about(page);
    // `</script>` in a name must not end the script.
    let run = run.to_string().replace('<', "\\u003c");
    let parts = [
        ("@TITLE@", format!("{name}: {verdict}")),
        ("@STYLE@", STYLE.to_string()),
        ("@BODY@", body),
        ("@RUN@", run),
        ("@SCRIPT@", SCRIPT.to_string()),
    ];
    // Each once, from the front, so that nothing in a part is taken for a place.
    let mut out = String::new();
    let mut rest = PAGE;
    for (place, text) in parts {
        if let Some((before, after)) = rest.split_once(place) {
            out.push_str(before);
            out.push_str(&text);
            rest = after;
        }
    }
    out + rest
}

fn properties(outcome: &Outcome) -> String {
    let row = |p: &super::json::PropertyOutcome| {
        let why = match (&p.reason, p.trace_len, outcome.validated) {
            (Some(reason), _, _) => reason.to_string(),
            (None, Some(steps), _) => format!("a run of {steps} steps"),
            (None, None, true) => because(p, true),
            (None, None, false) => String::new(),
        };
        format!(
            "<tr><td><code>{}</code></td><td class=\"{v}\">{v}</td><td>{}</td><td>{}</td></tr>",
            escape(&p.name),
            escape(&why),
            escape(&p.requirements.join(", ")),
            v = p.verdict
        )
    };
    let rows: String = outcome.properties.iter().map(row).collect();
    format!("<section id=\"properties\"><table><tbody>{rows}</tbody></table></section>\n")
}

/// Of each row: the line of the source, where machines are then, and the number of the state.
fn steps_json(page: &Page<'_>, run: &Run, rows: &[Row]) -> serde_json::Value {
    let cfa = page.cfa;
    let is_error = |id: LocId| cfa.properties.iter().any(|p| p.error == id);
    let shown = |row: &Row| {
        let taken = run.steps.get(row.edge).and_then(|s| cfa.edges.get(s.edge.index()));
        let line = taken.and_then(|edge| line_of(page.source, edge.span.start));
        // Where something breaks the machines stay where they are.
        let at = taken.map(|edge| if is_error(edge.to) { edge.from } else { edge.to });
        let states: Vec<&str> =
            at.map_or_else(Vec::new, |at| cfa.locations[at.index()].name.split('|').collect());
        json!({ "line": line, "states": states, "state": row.edge + 1 })
    };
    rows.iter().map(shown).collect()
}

/// A line of the text that is shown; `None` if it is of another file.
fn line_of(source: &Source, at: u32) -> Option<usize> {
    let Place { path, line, .. } = source.place(at);
    (path == source.path).then_some(line)
}

fn steps(page: &Page<'_>, run: &Run, rows: &[Row]) -> String {
    let row = |row: &Row| {
        let cell = |list: &[String]| escape(&list.join(", "));
        let place = row.place.iter().chain(&row.done).map(|line| escape(line));
        format!(
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&row.step),
            place.collect::<Vec<_>>().join("<br>"),
            cell(&row.inputs),
            cell(&row.changes)
        )
    };
    let rows: String = rows.iter().map(row).collect();
    let why = page.words.why(run);
    let mut reason = String::new();
    if let Some(claim) = &why.claim {
        reason = format!("<p id=\"why\"><code>{}</code>", escape(claim));
        let values: Vec<String> = why.values.iter().map(|(n, v)| format!("{n} = {v}")).collect();
        if !values.is_empty() {
            reason += &format!(" is false with {}", escape(&values.join(", ")));
        }
        reason += "</p>";
    }
    let property = escape(&Names::new(page.cfa).property(run.property));
    let unit = if page.words.has_calls() { "call" } else { "step" };
    format!(
        "<section id=\"steps\"><h2>A run that breaks <code>{property}</code></h2>{reason}<div class=\"scroll\"><table><thead><tr>\
         <th>{unit}</th><th>at</th><th>inputs</th><th>changes</th></tr></thead><tbody>{rows}</tbody></table></div></section>\n"
    )
}

fn source(source: &Source) -> String {
    if source.text.is_empty() {
        return String::new();
    }
    let own = |at: usize| line_of(source, u32::try_from(at).unwrap_or(u32::MAX));
    let mut at = 0;
    let mut lines = String::new();
    for text in source.text.split_inclusive('\n') {
        // Files that are included come after the one that is shown.
        let Some(number) = own(at) else { break };
        lines += &format!(
            "<span class=\"line\" data-line=\"{number}\">{}</span>",
            escape(text.trim_end_matches(['\n', '\r']))
        );
        at += text.len();
    }
    let path = escape(&source.path);
    format!(
        "<section id=\"source\"><h2>{path}</h2><div class=\"scroll\"><pre>{lines}</pre></div></section>\n"
    )
}

/// Several machines: who has moved, and who has received what.
fn conversation(page: &Page<'_>, run: &Run) -> String {
    let Some(chart) = sequence::of_run(page.cfa, page.words, run) else { return String::new() };
    format!(
        "<section id=\"sequence\"><h2>Who moved</h2><div class=\"scroll\">{}</div></section>\n",
        sequence::draw(&page.cfa.name, &chart)
    )
}

fn waves(cfa: &Cfa, run: &Run) -> String {
    let names = Names::new(cfa);
    let mut rows = String::new();
    let mut row = |name: &str, ty: &Type, cells: &[Option<String>]| {
        rows += &format!("<tr><th>{}</th>", escape(name));
        let mut last: Option<&String> = None;
        for (number, cell) in cells.iter().enumerate() {
            let mut classes = vec![];
            let is_new = cell.is_some() && cell.as_ref() != last;
            match (ty, cell.as_deref()) {
                (Type::Bool, Some("true")) => classes.push("hi"),
                (Type::Bool, Some("false")) => classes.push("lo"),
                _ => {}
            }
            if is_new {
                classes.push("new");
            }
            let text = match (ty, cell) {
                (Type::Bool, _) | (_, None) => String::new(),
                (_, Some(text)) if is_new => escape(text),
                _ => String::new(),
            };
            rows +=
                &format!("<td class=\"{}\" data-step=\"{number}\">{text}</td>", classes.join(" "));
            last = cell.as_ref();
        }
        rows += "</tr>";
    };
    let places: Vec<Option<String>> =
        run.states.iter().map(|s| Some(cfa.locations[s.location.index()].name.clone())).collect();
    row("at", &Type::Unsigned, &places);
    let read: BTreeSet<_> = run.steps.iter().flat_map(|s| &s.inputs).map(|i| i.0).collect();
    for id in read {
        let input = &cfa.inputs[id.index()];
        // An input is shown at the state that it led to.
        let cells = std::iter::once(None).chain(run.steps.iter().map(|step| {
            let word = step.inputs.iter().find(|i| i.0 == id)?.1;
            Some(value::show(&input.ty, input.width, word))
        }));
        row(&names.input(id), &input.ty, &cells.collect::<Vec<_>>());
    }
    for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
        let cells = run.states.iter().enumerate().map(|(number, state)| {
            (number > 0).then(|| value::show(&var.ty, var.width, state.values[id.index()]))
        });
        row(&names.var(id), &var.ty, &cells.collect::<Vec<_>>());
    }
    format!(
        "<section id=\"waves\"><h2>Waves</h2><div class=\"scroll\"><table><tbody>{rows}</tbody></table></div></section>\n"
    )
}

fn invariant(page: &Page<'_>) -> String {
    let Some(explanation) = page.invariant else { return String::new() };
    let whole = match explanation.is_inductive {
        true => "Together these lines prove the properties.",
        false => "Each line follows from the invariant, which has more to it than they say.",
    };
    let mut text = format!(
        "<section id=\"invariant\"><h2>What holds in every run</h2><p>{whole}</p><table><tbody>"
    );
    for paragraph in &explanation.paragraphs {
        let facts = match paragraph.facts.is_empty() {
            true => "no run gets there".to_string(),
            false => paragraph.facts.iter().map(|f| escape(f)).collect::<Vec<_>>().join("<br>"),
        };
        text +=
            &format!("<tr><th>{}</th><td><code>{facts}</code></td></tr>", escape(&paragraph.place));
    }
    text + "</tbody></table></section>\n"
}

fn about(page: &Page<'_>) -> String {
    let o = page.outcome;
    let device = o.device.as_ref();
    let rows: Vec<(&str, Option<String>)> = vec![
        ("engine", o.engine.clone()),
        ("target", o.target.clone()),
        ("board", device.and_then(|d| d.board.clone())),
        ("firmware", device.and_then(|d| d.build.clone())),
        ("time", o.time_s.map(duration)),
        ("frontier", o.frontier.map(grouped)),
        ("lemmas", o.lemmas.map(grouped)),
        ("queries", o.queries.map(grouped)),
        ("conflicts", o.conflicts.map(grouped)),
        ("memory", o.peak_bytes.map(size)),
        ("validated", Some(if o.validated { "yes" } else { "no" }.to_string())),
        ("version", Some(format!("vouch {}", env!("CARGO_PKG_VERSION")))),
    ];
    let rows: String = rows
        .into_iter()
        .filter_map(|(name, text)| {
            Some(format!("<tr><th>{name}</th><td>{}</td></tr>", escape(&text?)))
        })
        .collect();
    let command: Vec<String> = page.command.iter().map(|word| quoted(word)).collect();
    format!(
        "<section id=\"about\"><h2>How it came about</h2><table><tbody>{rows}</tbody></table>\n\
         <h2>To reproduce it</h2><pre>{}</pre></section>\n",
        escape(&command.join(" "))
    )
}

/// A word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./=:,+@%".contains(c);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_string(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}
