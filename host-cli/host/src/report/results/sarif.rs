//! Results as SARIF 2.1.0, which code scanning of GitHub, GitLab and Azure reads, and so do editors.
//!
//! What is broken is an error and what is not decided a warning; what is proved is not a result. The run that breaks a
//! property is its code flow, so that a viewer steps through it.

use super::{Finding, Item, step_lines};
use crate::report::json::StateOutcome;
use serde_json::{Map, Value, json};

/// The schema that the file follows.
const SCHEMA: &str = "https://json.schemastore.org/sarif-2.1.0.json";

/// The findings of all checks as a SARIF 2.1.0 log.
pub fn write(items: &[Item]) -> String {
    let findings: Vec<Finding<'_>> = items.iter().flat_map(Item::findings).collect();
    let mut rules: Vec<&str> = findings.iter().map(|f| f.rule.as_str()).collect();
    rules.sort_unstable();
    rules.dedup();
    let of_rule = |id: &&str| {
        let finding = findings.iter().find(|f| f.rule == **id);
        let ids = finding.and_then(|f| f.property).map_or(&[][..], |p| &p.requirements);
        let mut rule = json!({ "id": id, "shortDescription": { "text": describe(finding, id) } });
        if !ids.is_empty() {
            rule["properties"] = json!({ "tags": ids });
        }
        rule
    };
    let results: Vec<Value> = findings.iter().map(|f| result(f, &rules)).collect();
    let log = json!({
        "$schema": SCHEMA,
        "version": "2.1.0",
        "runs": [{
            "tool": { "driver": {
                "name": "vouch",
                "semanticVersion": env!("CARGO_PKG_VERSION"),
                "rules": rules.iter().map(of_rule).collect::<Vec<Value>>(),
            } },
            "columnKind": "unicodeCodePoints",
            "results": results,
        }],
    });
    format!("{log:#}\n")
}

fn describe(finding: Option<&Finding<'_>>, id: &str) -> String {
    match finding.and_then(|f| f.property) {
        Some(p) => format!("the property {}", p.name),
        None => id.to_string(),
    }
}

fn result(finding: &Finding<'_>, rules: &[&str]) -> Value {
    let index = rules.binary_search(&finding.rule.as_str()).unwrap_or(0);
    let mut result = json!({
        "ruleId": finding.rule,
        "ruleIndex": index,
        "level": if finding.is_error { "error" } else { "warning" },
        "message": { "text": finding.message },
        "locations": [location(finding.path, finding.place)],
        // What makes it the same finding next time, whatever the run looks like.
        "partialFingerprints": { "vouchRule/v1": format!("{}:{}", finding.path, finding.rule) },
    });
    if let Some(ids) = finding.property.map(|p| &p.requirements).filter(|ids| !ids.is_empty()) {
        result["properties"] = json!({ "requirements": ids });
    }
    if !finding.run.is_empty() {
        let steps = finding.run.iter().zip(step_lines(finding.run));
        let steps: Vec<Value> =
            steps.map(|(state, text)| step(finding.path, state, &text)).collect();
        result["codeFlows"] = json!([{ "threadFlows": [{ "locations": steps }] }]);
    }
    result
}

fn step(path: &str, state: &StateOutcome, text: &str) -> Value {
    let line = state.done.iter().find_map(|done| done.line);
    let mut location = location(path, line.map(|line| (line, 1)));
    location["message"] = json!({ "text": text });
    json!({ "location": location, "executionOrder": state.step })
}

fn location(path: &str, place: Option<(usize, usize)>) -> Value {
    let mut physical = Map::new();
    physical.insert("artifactLocation".into(), json!({ "uri": uri(path) }));
    if let Some((line, column)) = place {
        physical.insert("region".into(), json!({ "startLine": line, "startColumn": column }));
    }
    json!({ "physicalLocation": physical })
}

/// A path as a relative reference.
fn uri(path: &str) -> String {
    let mut out = String::new();
    for byte in path.replace('\\', "/").trim_start_matches("./").bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' | b'/' => {
                out.push(byte as char);
            }
            byte => out += &format!("%{byte:02X}"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::results::tests::items;

    #[test]
    fn a_log() {
        let text = write(&items());
        // The version changes with every release.
        insta::assert_snapshot!(text.replace(env!("CARGO_PKG_VERSION"), "VERSION"));
        let log: Value = serde_json::from_str(&text).unwrap();
        let run = &log["runs"][0];
        let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
        for result in run["results"].as_array().unwrap() {
            let index = result["ruleIndex"].as_u64().unwrap() as usize;
            assert_eq!(rules[index]["id"], result["ruleId"]);
        }
    }

    #[test]
    fn paths_are_references() {
        assert_eq!(uri("./models/pump a.vch"), "models/pump%20a.vch");
        assert_eq!(uri("a\\b#1.c"), "a/b%231.c");
    }
}
