//! Which property covers which requirement, with its verdict and its proof: what an auditor asks for.

use crate::report::results::markdown::{code, plain};
use crate::report::results::{Checked, Item};
use crate::report::text::because;
use crate::verdict::Verdict;
use serde::Serialize;

/// A line of the matrix.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Row {
    /// The id of the requirement; none if the property covers none.
    pub requirement: Option<String>,
    /// What it says, if the project tells.
    pub text: Option<String>,
    /// Name of the check in the project; none if no check covers the requirement.
    pub model: Option<String>,
    /// The property; none if no property covers the requirement.
    pub property: Option<String>,
    /// What is known of it.
    pub verdict: Option<Verdict>,
    /// What that rests on.
    pub because: Option<String>,
    /// The certificate's file, if the property is safe and a proof was kept.
    pub certificate: Option<Proof>,
}

/// The file of a proof.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Proof {
    /// Where it is.
    pub path: String,
    /// SHA-256 of its content.
    pub sha256: String,
}

/// The rows for what checks have found, in the order of the requirements: those that the project lists, then others by name,
/// then properties that cover none.
pub fn rows(items: &[(Item, Option<Proof>)], listed: &[(String, String)]) -> Vec<Row> {
    let mut rows = vec![];
    for (item, proof) in items {
        let Checked::Done(outcome) = &item.checked else {
            rows.push(Row { model: Some(item.name.clone()), ..empty(None) });
            continue;
        };
        // It was ended before it knew its properties.
        if outcome.properties.is_empty() {
            rows.push(Row { model: Some(item.name.clone()), ..empty(None) });
        }
        for p in &outcome.properties {
            let ids = p.requirements.iter().map(|id| Some(id.clone()));
            let ids: Vec<Option<String>> =
                if p.requirements.is_empty() { vec![None] } else { ids.collect() };
            for id in ids {
                rows.push(Row {
                    model: Some(item.name.clone()),
                    property: Some(p.name.clone()),
                    verdict: Some(p.verdict),
                    because: Some(because(p, outcome.validated)),
                    certificate: proof.clone().filter(|_| p.verdict == Verdict::Safe),
                    ..empty(id)
                });
            }
        }
    }
    for (id, _) in listed {
        if !rows.iter().any(|row| row.requirement.as_ref() == Some(id)) {
            rows.push(empty(Some(id.clone())));
        }
    }
    for row in &mut rows {
        let text = listed.iter().find(|(id, _)| row.requirement.as_ref() == Some(id));
        row.text = text.map(|(_, text)| text.clone());
    }
    let place = |row: &Row| listed.iter().position(|(id, _)| row.requirement.as_ref() == Some(id));
    rows.sort_by_key(|row| {
        (row.requirement.is_none(), place(row).unwrap_or(usize::MAX), row.requirement.clone())
    });
    rows
}

fn empty(requirement: Option<String>) -> Row {
    let (text, model, property, verdict, because) = (None, None, None, None, None);
    Row { requirement, text, model, property, verdict, because, certificate: None }
}

impl Row {
    /// In a word or two.
    pub fn status(&self) -> String {
        match (self.verdict, &self.model) {
            (Some(verdict), _) => verdict.to_string(),
            (None, Some(_)) => "not checked".into(),
            (None, None) => "not covered".into(),
        }
    }

    fn cells(&self) -> [String; 6] {
        let of = |text: &Option<String>| text.clone().unwrap_or_default();
        let proof = self.certificate.as_ref();
        let proof = proof.map(|p| format!("{} sha256:{}", p.path, p.sha256)).unwrap_or_default();
        let property = match (&self.model, &self.property) {
            (Some(model), Some(property)) => format!("{model}.{property}"),
            (Some(model), None) => model.clone(),
            _ => String::new(),
        };
        [of(&self.requirement), of(&self.text), property, self.status(), of(&self.because), proof]
    }
}

const TITLES: [&str; 6] = ["requirement", "text", "property", "verdict", "because", "certificate"];

/// As columns for people.
pub fn text(rows: &[Row]) -> String {
    let mut table: Vec<[String; 6]> = vec![TITLES.map(Into::into)];
    table.extend(rows.iter().map(|row| row.cells().map(|cell| crate::escape::text(&cell))));
    let width = |column: usize| table.iter().map(|r| r[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..6).map(width).collect();
    let mut out = String::new();
    for row in &table {
        // A column without anything in it is left out.
        let cells = row.iter().zip(&widths).enumerate();
        let cells = cells.filter(|(at, _)| table[1..].iter().any(|r| !r[*at].is_empty()));
        let line: Vec<String> = cells.map(|(_, (cell, width))| format!("{cell:width$}")).collect();
        out += line.join("  ").trim_end();
        out.push('\n');
    }
    out
}

/// The matrix as a Markdown table.
pub fn markdown(rows: &[Row]) -> String {
    let mut out = format!("| {} |\n|{}\n", TITLES.join(" | "), "---|".repeat(6));
    for row in rows {
        let [requirement, text, property, status, because, proof] = row.cells();
        let property = if property.is_empty() { property } else { code(&property) };
        let proof = if proof.is_empty() { proof } else { code(&proof) };
        out += &format!(
            "| {} | {} | {property} | {status} | {} | {proof} |\n",
            plain(&requirement),
            plain(&text),
            plain(&because)
        );
    }
    out
}

/// As comma-separated values (RFC 4180).
pub fn csv(rows: &[Row]) -> String {
    let line = |cells: [String; 6]| cells.map(|cell| quoted(&cell)).join(",") + "\r\n";
    line(TITLES.map(Into::into)) + &rows.iter().map(|row| line(row.cells())).collect::<String>()
}

fn quoted(cell: &str) -> String {
    // What begins so would be a formula in a spreadsheet.
    let cell = match cell.starts_with(['=', '@', '+', '-']) {
        true => format!("'{cell}"),
        false => cell.to_string(),
    };
    match cell.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", cell.replace('"', "\"\"")),
        false => cell,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::tests::items;

    fn all() -> Vec<Row> {
        let proof = Proof { path: ".vouch/pump.cert".into(), sha256: "00ff".into() };
        let items: Vec<(Item, Option<Proof>)> =
            items().into_iter().map(|item| (item, Some(proof.clone()))).collect();
        let listed = [("REQ-9", "nobody, \"cares\""), ("REQ-2", "in time")];
        rows(&items, &listed.map(|(id, text)| (id.to_string(), text.to_string())))
    }

    #[test]
    fn requirements_come_first_and_none_is_forgotten() {
        let rows = all();
        let ids: Vec<Option<&str>> = rows.iter().map(|r| r.requirement.as_deref()).collect();
        assert_eq!(ids[..3], [Some("REQ-9"), Some("REQ-2"), Some("REQ-1")]);
        assert_eq!(rows[0].status(), "not covered");
        assert_eq!(rows[1].status(), "unsafe");
        assert!(rows[1].certificate.is_none(), "what is broken has no proof");
        let fine = rows.iter().find(|row| row.property.as_deref() == Some("fine")).unwrap();
        assert!(fine.certificate.is_some());
        assert!(rows.iter().any(|row| row.status() == "not checked"));
    }

    #[test]
    fn a_matrix_in_each_format() {
        insta::assert_snapshot!(format!("{}\n{}\n{}", text(&all()), markdown(&all()), csv(&all())));
    }

    #[test]
    fn cells_are_quoted() {
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
        assert_eq!(quoted("=1+1"), "'=1+1");
    }
}
