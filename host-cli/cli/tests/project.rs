//! Projects: many models by one command, what is known already, reports for CI systems, requirements.

use crate::place::{self, Output, Place};
use crate::schema;
use serde_json::Value;
use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

/// Counts up to a limit and starts again.
fn counter(limit: u32) -> String {
    format!(
        "machine counter {{\n    var n: u8 = 0;\n    initial state S {{\n        on n < {limit} {{ n = n + 1; }}\n        \
         else {{ n = 0; }}\n    }}\n    property low [REQ-1, REQ-2]: always n <= 9;\n    property fits: always n < 200;\n}}\n"
    )
}

/// The JSON output, which is as its schema says.
trait Checked {
    fn checked(&self) -> Value;
}

impl Checked for Output {
    #[track_caller]
    fn checked(&self) -> Value {
        let value = self.json();
        schema::check(&value);
        value
    }
}

const PROJECT: &str = "\
[check]
timeout = 60

[requirements]
REQ-1 = \"The counter stays low\"
REQ-9 = \"Nobody has thought of this\"

[[model]]
path = \"models/*.vch\"
";

fn two() -> Place {
    Place::new(&[
        ("vouch.toml", PROJECT),
        ("models/good.vch", &counter(9)),
        ("models/bad.vch", &counter(12)),
    ])
}

fn verdicts(json: &Value) -> Vec<(String, String, bool)> {
    let one = |model: &Value| {
        let result = &model["result"];
        let verdict = result["verdict"].as_str().unwrap_or("error").to_string();
        (model["name"].as_str().unwrap().to_string(), verdict, result["cached"] == true)
    };
    json["models"].as_array().unwrap().iter().map(one).collect()
}

fn expected(all: &[(&str, &str, bool)]) -> Vec<(String, String, bool)> {
    all.iter()
        .map(|(name, verdict, cached)| (name.to_string(), verdict.to_string(), *cached))
        .collect()
}

#[test]
fn all_models_are_checked_and_what_is_known_is_not_asked_again() {
    let place = two();
    let first = place.run(&["check", "--json"]).ended(1).checked();
    assert_eq!(verdicts(&first), expected(&[("bad", "unsafe", false), ("good", "safe", false)]));
    let again = place.run(&["check", "--json"]).ended(1).checked();
    assert_eq!(verdicts(&again), expected(&[("bad", "unsafe", true), ("good", "safe", true)]));
    let anew = place.run(&["check", "--json", "--no-cache", "-j1"]).ended(1).checked();
    assert_eq!(verdicts(&anew), expected(&[("bad", "unsafe", false), ("good", "safe", false)]));
    // From a folder below, too; other flags are other checks.
    let below =
        place.command(&["check", "--json"]).current_dir(place.path("models")).output().unwrap();
    assert_eq!(below.status.code(), Some(1));
    let other = place.run(&["check", "--json", "--overflow", "error"]).ended(1).checked();
    assert!(verdicts(&other).iter().all(|(_, _, cached)| !cached));
    let text = place.run(&["check"]).ended(1);
    assert!(text.out.contains("bad   unsafe   low: run of 10 steps"), "{}", text.out);
    assert!(text.out.contains("1 unsafe, 1 safe (2 cached)"), "{}", text.out);
    assert!(!place.path(".vouch/.gitignore").metadata().unwrap().permissions().readonly());
}

/// The old proof still holds if there is less to prove, and is of no use if there is a run that breaks it.
#[test]
fn an_old_certificate_is_tried_first() {
    let place =
        Place::new(&[("vouch.toml", "[[model]]\npath = \"m.vch\"\n"), ("m.vch", &counter(9))]);
    let engine = |place: &Place| {
        let json = place.run(&["check", "--json"]).checked();
        json["models"][0]["result"]["engine"].as_str().unwrap().to_string()
    };
    assert_eq!(engine(&place), "ic3cfa");
    place.write("m.vch", counter(7));
    assert_eq!(engine(&place), "certificate");
    place.write("m.vch", counter(12));
    assert_eq!(engine(&place), "ic3cfa");
    place.run(&["check"]).ended(1);
    place.write("m.vch", counter(9));
    let json = place.run(&["check", "--json"]).ended(0).checked();
    assert_eq!(json["models"][0]["result"]["cached"], true);
}

#[test]
fn a_header_that_changes_is_noticed() {
    let place = Place::new(&[
        (
            "vouch.toml",
            "[[model]]\npath = \"src/a.c\"\nentry = \"step\"\nloop = true\ninclude = \"inc\"\n",
        ),
        (
            "src/a.c",
            "#include \"vouch.h\"\n#include \"limit.h\"\nstatic int n;\nvoid step(void) {\n    n = n < LIMIT ? n + 1 : 0;\n    VOUCH_ASSERT_NAMED(\"low [REQ-7]\", n <= 9);\n}\n",
        ),
        ("inc/limit.h", "#define LIMIT 9\n"),
    ]);
    let json = place.run(&["check", "--json"]).ended(0).checked();
    let property = &json["models"][0]["result"]["properties"][0];
    assert_eq!((&property["name"], &property["requirements"][0]), (&"low".into(), &"REQ-7".into()));
    assert_eq!(property["place"]["path"], "src/a.c");
    let json = place.run(&["check", "--json"]).ended(0).checked();
    assert_eq!(json["models"][0]["result"]["cached"], true);
    place.write("inc/limit.h", "#define LIMIT 12\n");
    place.run(&["check"]).ended(1);
}

#[test]
fn one_that_is_no_model_does_not_keep_others_from_being_checked() {
    let place = two();
    place.write("models/wrong.vch", "machine m {\n    var x u8;\n}\n");
    place.write("vouch.toml", format!("{PROJECT}\n[[model]]\npath = \"gone.vch\"\n"));
    let json = place.run(&["check", "--json"]).ended(1).checked();
    let names: Vec<String> =
        verdicts(&json).into_iter().map(|(name, verdict, _)| format!("{name} {verdict}")).collect();
    assert_eq!(names, ["bad unsafe", "good safe", "wrong error", "gone error"]);
    fs::remove_file(place.path("models/bad.vch")).unwrap();
    let text = place.run(&["check"]).ended(2);
    assert!(text.err.contains("wrong.vch:2:"), "{}", text.err);
    assert!(text.err.contains("gone.vch"), "{}", text.err);
}

#[test]
fn reports_say_what_the_verdict_says() {
    let place = two();
    place.write("models/wrong.vch", "machine m {\n    var x u8;\n}\n");
    let reports =
        ["--junit", "out.xml", "--sarif", "out.sarif", "--markdown", "out.md", "--github"];
    let output = place.run(&[&["check"], &reports[..]].concat()).ended(1);
    assert!(output.out.contains("::error file=models/bad.vch,line=7,col=14,title=vouch%3A bad.low::low [REQ-1, REQ-2] is broken"), "{}", output.out);
    assert!(output.out.contains("::error file=models/wrong.vch,line=2,"), "{}", output.out);
    let xml = place.read("out.xml");
    assert!(xml.contains("tests=\"5\" failures=\"1\" errors=\"1\""), "{xml}");
    assert!(xml.contains("<property name=\"requirement\" value=\"REQ-2\"/>"), "{xml}");
    let sarif: Value = serde_json::from_str(&place.read("out.sarif")).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), 2);
    assert_eq!(results[0]["properties"]["requirements"][0], "REQ-1");
    let markdown = place.read("out.md");
    assert!(markdown.contains("| `bad` | `low` | REQ-1, REQ-2 | ❌ unsafe |"), "{markdown}");
    // One model alone gives the same reports.
    place.run(&[&["check", "models/bad.vch"], &reports[..]].concat()).ended(1);
    assert!(place.read("out.xml").contains("tests=\"2\" failures=\"1\" errors=\"0\""));
    place.run(&[&["check", "models/wrong.vch"], &reports[..]].concat()).ended(2);
    assert!(place.read("out.xml").contains("errors=\"1\""));
    // A report that cannot be written is an error, whatever the verdict.
    let output = place.run(&["check", "models/good.vch", "--junit", "no/where.xml"]).ended(2);
    assert!(output.out.contains("counter: safe"), "{}", output.out);
}

/// A project below the folder that the command is run in: annotations lead to files as seen from there.
#[test]
fn reports_name_files_as_seen_from_the_repository() {
    let project = "[[model]]\npath = \"bad.vch\"\n";
    let place = Place::new(&[("sub/vouch.toml", project), ("sub/bad.vch", &counter(11))]);
    let seen = |command: &mut Command| {
        let output = place::ended(command).ended(1);
        assert!(output.out.contains("::error file=sub/bad.vch,"), "{}", output.out);
        assert!(place.read("out.sarif").contains("\"sub/bad.vch\""));
    };
    let args = ["check", "--github", "--sarif", "out.sarif"];
    seen(place.command(&[&args[..], &["sub"]].concat()).env_remove("GITHUB_WORKSPACE"));
    // In the project's folder, on GitHub.
    let sarif = place.path("out.sarif");
    let args = ["check", "--github", "--sarif", sarif.to_str().unwrap()];
    let mut command = place.command(&args);
    seen(command.current_dir(place.path("sub")).env("GITHUB_WORKSPACE", place.path("")));
}

#[test]
fn github_shows_the_table_in_the_job_s_summary() {
    let place = two();
    place.write("summary.md", "before\n");
    let mut command = place.command(&["check", "--github", "-q"]);
    command.env("GITHUB_STEP_SUMMARY", place.path("summary.md"));
    assert_eq!(command.output().unwrap().status.code(), Some(1));
    let summary = place.read("summary.md");
    assert!(summary.starts_with("before\n## vouch: 1 unsafe, 1 safe\n"), "{summary}");
}

#[test]
fn settings_of_the_file_hold_for_every_command_and_flags_that_differ_are_told() {
    let model = "machine m {\n    var n: u8 = 0;\n    initial state S { else { n = n + 1; } }\n    property p: always n < 256;\n}\n";
    let model = model.replace("n < 256", "n <= 255");
    let place = Place::new(&[
        ("vouch.toml", "[check]\noverflow = \"error\"\n[[model]]\npath = \"m.vch\"\n"),
        ("m.vch", &model),
    ]);
    let project = place.run(&["check"]).ended(1);
    assert!(project.out.contains("no_overflow"), "{}", project.out);
    // The model alone means the same.
    let alone = place.run(&["check", "m.vch"]).ended(1);
    assert!(alone.err.contains("--overflow=error"), "{}", alone.err);
    place.run(&["check", "m.vch", "--no-project"]).ended(0);
    let other = place.run(&["check", "m.vch", "--overflow", "wrap"]).ended(0);
    assert!(other.err.contains("`--overflow wrap` differs from"), "{}", other.err);
    let other = place.run(&["check", "--overflow", "wrap"]).ended(0);
    assert!(
        other.err.contains("differs from vouch.toml, which says `error` for m"),
        "{}",
        other.err
    );
}

#[test]
fn targets_and_keys_have_names() {
    let place = two();
    place.write("vouch.toml", format!("{PROJECT}[targets]\nbench = \"sim\"\n[keys]\nrelease = \"keys/r\"\npublic = \"keys/r.pub\"\n"));
    fs::create_dir(place.path("keys")).unwrap();
    place.run(&["keygen", "-o", "keys/r"]).ended(0);
    place.run(&["compile", "models/good.vch", "--sign", "release", "-o", "good.vimg"]).ended(0);
    place.run(&["verify", "good.vimg", "--key=public"]).ended(0);
    let json =
        place.run(&["run", "models/good.vch", "--target", "bench", "--json"]).ended(0).checked();
    assert_eq!(json["target"], "sim");
    place.run(&["run", "models/good.vch", "--target", "nowhere"]).ended(2);
}

#[test]
fn mistakes_in_the_file_are_pointed_at() {
    let place = Place::new(&[(
        "vouch.toml",
        "[check]\ntimeuot = 3\n[[model]]\npath = \"m.vch\"\noverflow = \"wrapp\"\n",
    )]);
    let output = place.run(&["check"]).ended(2);
    assert!(output.err.contains("did you mean `timeout`?"), "{}", output.err);
    place.write("vouch.toml", "[[model]]\npath = \"m.vch\"\noverflow = \"wrapp\"\n");
    let output = place.run(&["check"]).ended(2);
    assert!(output.err.contains("vouch.toml:3:12"), "{}", output.err);
    assert!(output.err.contains("wrapp"), "{}", output.err);
    let output = place.run(&["check", "--trace", "x.vcd"]).ended(2);
    assert!(output.err.contains("`--trace` is about one model"), "{}", output.err);
    let empty = Place::new(&[]);
    let output = empty.run(&["check"]).ended(2);
    assert!(output.err.contains("vouch init"), "{}", output.err);
    let output = empty.run(&["lint"]).ended(2);
    assert!(output.err.contains("required arguments"), "{}", output.err);
}

#[test]
fn a_matrix_shows_what_is_not_covered() {
    let place = two();
    let output = place.run(&["matrix"]).ended(1);
    let lines: Vec<&str> = output.out.lines().collect();
    assert!(lines[1].starts_with("REQ-1        The counter stays low"), "{}", output.out);
    assert!(output.out.contains("REQ-9") && output.out.contains("not covered"), "{}", output.out);
    let json: Value = serde_json::from_str(&place.run(&["matrix", "--json"]).ended(1).out).unwrap();
    let rows = json["rows"].as_array().unwrap();
    let safe = rows.iter().find(|r| r["requirement"] == "REQ-1" && r["verdict"] == "safe").unwrap();
    let path = safe["certificate"]["path"].as_str().unwrap();
    // The proof is there, and is one.
    place.run(&["certify", "models/good.vch", path]).ended(0);
    place.run(&["matrix", "--to", "csv", "-o", "m.csv"]).ended(1);
    assert!(
        place
            .read("m.csv")
            .starts_with("requirement,text,property,verdict,because,certificate\r\n")
    );
    // Without its proof a verdict is found out again.
    fs::remove_dir_all(place.path(".vouch/certificates")).unwrap();
    place.run(&["matrix"]).ended(1);
    assert!(place.path(path).is_file());
    // One model by itself, in the project and outside of any.
    let output = place.run(&["matrix", "models/good.vch"]).ended(0);
    assert!(output.out.contains("REQ-1") && !output.out.contains("REQ-9"), "{}", output.out);
    let alone = Place::new(&[("good.vch", &place.read("models/good.vch"))]);
    let output = alone.run(&["matrix", "good.vch", "--to", "csv", "-o", "m.csv"]).ended(0);
    assert!(
        output.out.is_empty() && alone.read("m.csv").contains(",safe,invariant checked,.vouch/")
    );
    let output = alone.run(&["matrix", "godo.vch"]).ended(2);
    assert!(output.err.contains("godo.vch"), "{}", output.err);
}

#[test]
fn init_writes_what_check_reads() {
    let place = Place::new(&[("models/good.vch", &counter(9))]);
    place.run(&["init"]).ended(0);
    place.run(&["check"]).ended(0);
    let output = place.run(&["init"]).ended(2);
    assert!(output.err.contains("--force"), "{}", output.err);
    place.run(&["init", "--force"]).ended(0);
}

#[test]
fn requirements_survive_in_an_image() {
    let place = two();
    place.run(&["compile", "models/good.vch", "-o", "good.vimg"]).ended(0);
    let json = place.run(&["check", "good.vimg", "--json"]).ended(0).checked();
    let ids: Vec<&str> = json["properties"][0]["requirements"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(Value::as_str)
        .collect();
    assert_eq!(ids, ["REQ-1", "REQ-2"]);
    let text = place.run(&["check", "good.vimg"]).ended(0);
    assert!(text.out.contains("[REQ-1, REQ-2]"), "{}", text.out);
}

#[test]
fn a_change_is_noticed_while_watching() {
    let place =
        Place::new(&[("vouch.toml", "[[model]]\npath = \"m.vch\"\n"), ("m.vch", &counter(9))]);
    let log = fs::File::create(place.path("log")).unwrap();
    let mut child =
        place.command(&["check", "--watch", "--timeout", "120"]).stdout(log).spawn().unwrap();
    let wait_for = |text: &str| {
        let start = Instant::now();
        while !place.read("log").contains(text) {
            assert!(start.elapsed() < Duration::from_secs(60), "{}", place.read("log"));
            std::thread::sleep(Duration::from_millis(50));
        }
    };
    wait_for("1 safe");
    place.write("m.vch", counter(12));
    wait_for("1 unsafe");
    child.kill().unwrap();
    child.wait().unwrap();
}

#[test]
fn what_is_printed_follows_the_schema() {
    let place = two();
    place.write("models/wrong.vch", "machine m {\n    var x u8;\n}\n");
    for args in [
        &["check", "models/good.vch", "--json", "--explain"][..],
        &["check", "models/bad.vch", "--json"],
        &["check", "models/wrong.vch", "--json"],
        &["check", "gone.vch", "--json"],
        &["check", "models/good.vch", "--json", "--budget", "1"],
        &["check", "--json"],
    ] {
        place.run(args).checked();
    }
}
