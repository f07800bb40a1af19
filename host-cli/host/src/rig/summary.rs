//! The result of a rig's run for people, as a page, and for CI systems.

use super::file::File;
use super::{Row, State};
use crate::report::junit::{Case, Report, Status, Suite, Trouble};
use crate::report::markup::{escape, escape_lines};
use crate::report::{Style, count};
use crate::verdict::Verdict;
use std::fmt::Write;

/// A result in one line.
pub fn line(row: &Row, style: &Style) -> String {
    let verdict = row.verdict.map_or(row.state.to_string(), |v| v.to_string());
    let colour = match row.state {
        State::Passed => Verdict::Safe,
        State::Failed | State::Error => Verdict::Unsafe,
        State::Skipped => Verdict::Unknown,
    };
    let mut text = format!(
        "{}  {}  {verdict}  {:.1} s",
        style.paint_verdict(colour, &format!("{:7}", row.state)),
        row.job,
        row.time_s
    );
    if row.attempts > 1 {
        let _ = write!(text, "  {}", count(row.attempts as usize, "attempt"));
    }
    if let Some(why) = row.reason.as_deref().and_then(|why| why.lines().next()) {
        let _ = write!(text, "  {why}");
    }
    text
}

/// All of it in a few lines.
pub fn text(file: &File, style: &Style) -> String {
    let mut text = String::new();
    if file.resumed > 0 {
        let _ = writeln!(text, "{} from before the run was ended", count(file.resumed, "result"));
    }
    let counts = State::ALL.into_iter().map(|state| (state, file.count(state)));
    let counts = counts.filter(|(_, n)| *n > 0).map(|(state, n)| format!("{n} {state}"));
    let _ = writeln!(
        text,
        "{}: {} in {:.1} s",
        file.rig,
        counts.collect::<Vec<_>>().join(", "),
        file.time_s
    );
    for change in &file.changes {
        let shown = |state: Option<State>| state.map_or("-".into(), |s| s.to_string());
        let arrow = if style.unicode { "→" } else { "->" };
        let (before, now) = (shown(change.before), shown(change.now));
        let _ = writeln!(text, "  {}: {before} {arrow} {now}", change.job);
    }
    text
}

/// For CI systems: a suite for each device.
pub fn junit(file: &File) -> Report {
    let case = |row: &Row| {
        let reason = row.reason.clone().unwrap_or_default();
        let trouble = |kind: &str| Trouble {
            kind: kind.into(),
            message: reason.lines().next().unwrap_or(kind).into(),
            text: reason.clone(),
        };
        let name = [&row.model, &row.parameters, &row.mode];
        let name: Vec<&str> =
            name.into_iter().map(|s| s.as_str()).filter(|s| !s.is_empty()).collect();
        let fact = |name: &str, value: &Option<String>| value.clone().map(|v| (name.into(), v));
        let facts = [fact("board", &row.board), fact("build", &row.build)];
        Case {
            name: if name.is_empty() { row.job.clone() } else { name.join("/") },
            class: row.device.clone(),
            place: None,
            time_s: Some(row.time_s),
            properties: facts.into_iter().flatten().collect(),
            status: match row.state {
                State::Passed => Status::Passed,
                State::Failed => {
                    Status::Failed(trouble(&row.verdict.map_or("failed".into(), |v| v.to_string())))
                }
                State::Error => Status::Error(trouble("device")),
                State::Skipped => Status::Skipped(reason.clone()),
            },
            output: None,
        }
    };
    let suite = |(device, rows): (&str, Vec<&Row>)| Suite {
        name: device.into(),
        cases: rows.into_iter().map(case).collect(),
        ..Suite::default()
    };
    Report { name: file.rig.clone(), suites: file.devices().into_iter().map(suite).collect() }
}

const STYLE: &str = "\
body{font:15px/1.45 -apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;margin:2rem auto;max-width:70rem;padding:0 1rem;color:#1f2933}\
table{border-collapse:collapse;width:100%;margin:0 0 1.5rem}th,td{text-align:left;padding:.3rem .6rem;border-bottom:1px solid #d9e2ec;vertical-align:top}\
th{color:#52606d;font-weight:600}.passed{color:#27794a}.failed,.error{color:#b3261e;font-weight:600}.skipped{color:#8a6d00}\
td.why{white-space:pre-wrap;font-size:13px}h2{font-size:1.1rem;margin:1.2rem 0 .3rem}";

/// A page for a browser that needs nothing else.
pub fn html(file: &File) -> String {
    let name = escape(&file.rig);
    let mut body = format!("<h1>{name}</h1>\n<p>");
    for state in State::ALL {
        let _ = write!(body, "<span class=\"{state}\">{} {state}</span> ", file.count(state));
    }
    let _ = writeln!(body, "in {:.1} s</p>", file.time_s);
    if !file.changes.is_empty() {
        body.push_str("<h2>Since the last run</h2>\n<table><tr><th>job</th><th>before</th><th>now</th></tr>\n");
        for change in &file.changes {
            let cell = |state: Option<State>| match state {
                Some(state) => format!("<td class=\"{state}\">{state}</td>"),
                None => "<td>-</td>".into(),
            };
            let (before, now) = (cell(change.before), cell(change.now));
            let _ = writeln!(body, "<tr><td>{}</td>{before}{now}</tr>", escape(&change.job));
        }
        body.push_str("</table>\n");
    }
    for (device, rows) in file.devices() {
        let board = rows.iter().find_map(|row| row.board.clone()).unwrap_or_default();
        let _ = writeln!(body, "<h2>{} {}</h2>", escape(device), escape(&board));
        body.push_str(
            "<table><tr><th>result</th><th>model</th><th>parameters</th><th>mode</th><th>verdict</th><th>time</th>\
             <th>attempts</th><th>why</th></tr>\n",
        );
        for row in rows {
            let verdict = row.verdict.map_or(String::new(), |v| v.to_string());
            let _ = writeln!(
                body,
                "<tr><td class=\"{}\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{verdict}</td><td>{:.1} s</td>\
                 <td>{}</td><td class=\"why\">{}</td></tr>",
                row.state,
                row.state,
                escape(&row.model),
                escape(&row.parameters),
                escape(&row.mode),
                row.time_s,
                row.attempts,
                escape_lines(row.reason.as_deref().unwrap_or_default())
            );
        }
        body.push_str("</table>\n");
    }
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><title>{name}</title>\
         <style>{STYLE}</style></head>\n<body>\n{body}</body></html>\n"
    )
}
