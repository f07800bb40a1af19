//! Whether JSON follows `docs/formats/check.schema.json`: the part of JSON Schema that it uses.

use serde_json::Value;

const SCHEMA: &str = include_str!("../../../../docs/formats/check.schema.json");

/// Panics if it does not.
#[track_caller]
pub fn check(value: &Value) {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let errors = errors(value, &schema, &schema, "");
    assert!(errors.is_empty(), "{errors:#?}\n{value:#}");
}

fn errors(value: &Value, schema: &Value, root: &Value, at: &str) -> Vec<String> {
    let mut all = vec![];
    for (keyword, rule) in schema.as_object().unwrap() {
        match keyword.as_str() {
            "$schema" | "$defs" | "title" | "description" => {}
            "$ref" => {
                let name = rule.as_str().unwrap().strip_prefix("#/$defs/").unwrap();
                let target = root["$defs"].get(name).unwrap_or_else(|| panic!("no {name}"));
                all.extend(errors(value, target, root, at));
            }
            "oneOf" => {
                let tried: Vec<Vec<String>> = rule
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|one| errors(value, one, root, at))
                    .collect();
                if tried.iter().filter(|errors| errors.is_empty()).count() != 1 {
                    all.push(format!("{at}: not exactly one of {tried:?}"));
                }
            }
            "enum" => {
                if !rule.as_array().unwrap().contains(value) {
                    all.push(format!("{at}: {value} is not one of {rule}"));
                }
            }
            "type" => {
                let is = |name: &str| match name {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "number" => value.is_number(),
                    "boolean" => value.is_boolean(),
                    "null" => value.is_null(),
                    other => panic!("unknown type {other}"),
                };
                let names = rule.as_array().cloned().unwrap_or_else(|| vec![rule.clone()]);
                if !names.iter().any(|name| is(name.as_str().unwrap())) {
                    all.push(format!("{at}: {value} is not {rule}"));
                }
            }
            "required" => {
                for name in rule.as_array().unwrap().iter().filter_map(Value::as_str) {
                    if value.is_object() && value.get(name).is_none() {
                        all.push(format!("{at}: no {name}"));
                    }
                }
            }
            "properties" | "additionalProperties" => {
                let Some(object) = value
                    .as_object()
                    .filter(|_| keyword == "properties" || schema.get("properties").is_none())
                else {
                    continue;
                };
                for (name, value) in object {
                    let at = format!("{at}/{name}");
                    match rule.get(name).filter(|_| keyword == "properties") {
                        Some(rule) => all.extend(errors(value, rule, root, &at)),
                        None if keyword == "additionalProperties" => {
                            all.extend(errors(value, rule, root, &at))
                        }
                        None if schema.get("additionalProperties") == Some(&false.into()) => {
                            all.push(format!("{at}: not in the schema"))
                        }
                        None => {}
                    }
                }
            }
            "items" => {
                for (number, item) in value.as_array().into_iter().flatten().enumerate() {
                    all.extend(errors(item, rule, root, &format!("{at}/{number}")));
                }
            }
            other => panic!("the checker does not know `{other}`"),
        }
    }
    all
}

#[test]
fn the_checker_sees_what_is_wrong() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let wrong =
        |text: &str| !errors(&serde_json::from_str(text).unwrap(), &schema, &schema, "").is_empty();
    assert!(!wrong(r#"{"error": {"kind": "usage", "message": "x"}, "exit_code": 2}"#));
    assert!(wrong(r#"{"error": {"kind": "other", "message": "x"}, "exit_code": 2}"#));
    assert!(wrong(r#"{"error": {"kind": "usage"}, "exit_code": 2}"#));
    assert!(wrong(r#"{"error": {"kind": "usage", "message": 3}, "exit_code": 2}"#));
    assert!(wrong(r#"{"error": {"kind": "usage", "message": "x"}, "exit_code": 2, "more": 1}"#));
    assert!(wrong("{}"));
}
