//! `vouch sweep` and `vouch merge`, as users see them.

use crate::place::Place;
use serde_json::Value;

/// Water rises while the valve is open, at most for `limit` steps.
const TANK: &str = "\
machine tank {
    param limit: u12;
    param rate: u3 in 1..=4;
    input open: bool;
    var level: u5 = 0;
    var timer: u12 = 0;
    initial state Filling {
        on open && timer < limit && level < 20 { level += 1; timer += 1; }
        on timer >= limit -> Full;
    }
    state Full {}
    property no_flood: always timer <= limit;
    property shallow: never level > 5 && limit < 2048;
    property deep: never limit >= 100 && rate == 3;
}
";

/// A folder with the tank.
fn tank() -> Place {
    Place::new(&[("tank.vch", TANK)])
}

/// The ranges of a property, and what is known there.
fn ranges(result: &Value, property: &str) -> Vec<(Value, String)> {
    let all = result["properties"].as_array().unwrap();
    let of = all.iter().find(|p| p["name"] == property).unwrap();
    let range = |r: &Value| (r["values"].clone(), r["verdict"].as_str().unwrap().to_string());
    of["ranges"].as_array().unwrap().iter().map(range).collect()
}

#[test]
fn the_exact_values_with_evidence_that_holds() {
    let place = tank();
    let result =
        place.run(&["sweep", "tank.vch", "--param", "limit=0..=4095", "-o", "out", "--json"]);
    let result = result.ended(0).json();
    let known = |first: u32, last: u32, verdict: &str| {
        (serde_json::json!([[first, last]]), verdict.to_string())
    };
    assert_eq!(ranges(&result, "no_flood"), [known(0, 4095, "safe")]);
    assert_eq!(
        ranges(&result, "shallow"),
        [known(0, 5, "safe"), known(6, 2047, "unsafe"), known(2048, 4095, "safe")]
    );
    assert_eq!(ranges(&result, "deep"), [known(0, 99, "safe"), known(100, 4095, "unsafe")]);
    // Few questions for 3 × 4096 answers.
    assert!(result["checks"].as_u64().unwrap() <= 12, "{}", result["checks"]);
    let evidence = result["evidence"].as_array().unwrap();
    assert!(!evidence.is_empty());
    for kept in evidence {
        let file = format!("out/{}", kept["file"].as_str().unwrap());
        if file.ends_with(".trace") {
            place.run(&["replay", "tank.vch", &file]).ended(1);
        }
    }
    // A certificate is checked for the range that names it, and for no other.
    let shallow = &result["properties"][1]["ranges"];
    let proof = |range: &Value| {
        let name = range["evidence"][0].clone();
        let kept = evidence.iter().find(|e| e["name"] == name).unwrap();
        format!("out/{}", kept["file"].as_str().unwrap())
    };
    let (low, high) = (proof(&shallow[0]), proof(&shallow[2]));
    let certify = |file: &str, range: &str| {
        place.run(&["certify", "tank.vch", file, "--property", "shallow", "--param", range])
    };
    certify(&low, "limit=0..=5").ended(0);
    certify(&low, "limit=0..=6").ended(5);
    certify(&high, "limit=2048..=4095").ended(0);
    let written: Value = serde_json::from_str(&place.read("out/sweep.json")).unwrap();
    assert_eq!(written, result);
}

#[test]
fn a_table_and_a_picture() {
    let place = tank();
    let args =
        ["sweep", "tank.vch", "--param", "limit=90..110", "--param", "rate", "--property", "deep"];
    let shown = place.run(&[&args[..], &["--svg", "plane.svg"]].concat()).ended(0);
    let shown = shown.says("tank: limit = 90..=109, rate = 1..=4").says("unsafe for 10 values");
    shown.says("limit = 100..=109  rate = 3");
    let plane = place.read("plane.svg");
    assert!(plane.starts_with("<svg") && plane.contains("class=\"unsafe\""), "{plane}");
    let bar = ["sweep", "tank.vch", "--param", "limit", "--bind", "rate=1", "--svg", "bar.svg"];
    place.run(&bar).ended(0).says("deep: safe for all 4096 values");
    assert!(place.read("bar.svg").contains("2047"));
}

#[test]
fn parts_are_merged_into_the_same_result() {
    let place = tank();
    let whole = place.run(&["sweep", "tank.vch", "--param", "limit", "--json"]).ended(0).json();
    let names = ["a.json", "b.json", "c.json"];
    for (number, name) in (1..).zip(names) {
        let shard = format!("{number}/3");
        let part =
            place.run(&["sweep", "tank.vch", "--param", "limit", "--shard", &shard, "--json"]);
        place.write(name, &part.ended(0).out);
    }
    let merged = place.run(&["merge", "a.json", "c.json", "b.json", "--json"]).ended(0).json();
    for property in ["no_flood", "shallow", "deep"] {
        assert_eq!(ranges(&merged, property), ranges(&whole, property));
    }
    // What is missing is unknown, what is there twice is refused.
    place.run(&["merge", "a.json", "b.json"]).ended(3).says("in none of the files");
    place.run(&["merge", "a.json", "a.json"]).ended(5).says("values in common");
    let other = place.run(&["sweep", "tank.vch", "--param", "limit=0..=9", "--json"]).ended(0).out;
    place.write("d.json", &other);
    place.run(&["merge", "a.json", "d.json"]).ended(5).says("differ in the parameters");
    place.write("e.json", "{\"kind\": \"cake\"}");
    place.run(&["merge", "e.json"]).ended(2).says("e.json is not a part of");
    place.write("f.json", "{");
    place.run(&["merge", "f.json"]).ended(2).says("f.json is not JSON");
}

#[test]
fn wrong_questions_are_answered_with_what_is_right() {
    let place = tank();
    for (args, expected) in [
        (&["--param", "limitt"][..], "the parameters of tank are limit (0 to 4095)"),
        (&["--param", "level"], "is a variable, not a parameter"),
        (&["--param", "limit=9..=3"], "the range is empty"),
        (&["--param", "limit=0..=4096"], "not a range of values"),
        (&["--param", "rate=0..=3"], "outside its range"),
        (&["--param", "limit=x"], "limit can be 0 to 4095"),
        (&["--param", "limit", "--param", "limit=3"], "named twice"),
        (&["--param", "limit", "--bind", "limit=3"], "swept and bound at once"),
        (&["--param", "rate", "--shard", "5/5"], "only 4 values"),
        (&["--param", "rate", "--shard", "0/5"], "the first is 1"),
        (&[], "--param"),
    ] {
        place.run(&[&["sweep", "tank.vch"], args].concat()).ended(2).says(expected);
    }
}

/// What is known when the time is over is shown.
#[test]
fn time_that_is_over_leaves_values_unknown() {
    let place = tank();
    let args = ["sweep", "tank.vch", "--param", "limit", "--timeout", "0.001", "--json"];
    let output = place.run(&args);
    assert_eq!(output.code, 3, "{}", output.err);
}
