//! Commands about runs, as users see them: tests, conform, simulate.

use crate::place::{PUMP, Place};
use serde_json::Value;
use std::process::Command;

/// A folder with the pump.
fn pump() -> Place {
    Place::new(&[("pump.vch", PUMP)])
}

#[test]
fn tests_are_made_and_what_is_out_of_reach_is_told() {
    let place = pump();
    let said = place.run(&["tests", "pump.vch", "-o", "t.json"]).ended(0).out;
    assert!(said.contains("4 of 5 transitions covered"), "{said}");
    assert!(said.contains("pump.vch:11: Running -> Idle on timer > limit"), "{said}");
    let suite: Value = serde_json::from_str(&place.read("t.json")).unwrap();
    assert_eq!((&suite["covered"], &suite["cover"]), (&4.into(), &"transitions".into()));
    let verdicts: Vec<&str> =
        suite["goals"].as_array().unwrap().iter().map(|g| g["verdict"].as_str().unwrap()).collect();
    assert_eq!(verdicts, ["covered", "covered", "covered", "unreachable", "covered"]);
    let step = &suite["cases"][0]["steps"][1];
    assert!(step["inputs"]["water"].is_boolean() && step["states"]["pump"].is_string(), "{step}");
    // To standard output, with the summary on the other one.
    let said = place.run(&["tests", "pump.vch", "--c", "--cover", "states"]).ended(0);
    assert!(
        said.out.contains("void pump_step(") && said.err.contains("2 of 2 states"),
        "{}",
        said.err
    );
    let said = place.run(&["tests", "pump.vch", "--rust", "--bind", "limit=3"]).ended(0).out;
    assert!(said.contains("Parameters { limit: 3 }") && !said.contains("limit: 4"), "{said}");
    let said = place.run(&["tests", "pump.vch", "--cover", "lines"]).ended(2).err;
    assert!(said.contains("what can: states, transitions, pairs, conditions"), "{said}");
    place.write("p.c", "int x; void step(void) { x++; }");
    let said = place.run(&["tests", "p.c", "--entry", "step", "--loop", "--c"]).ended(2).err;
    assert!(said.contains("not from programs"), "{said}");
    let said = place.run(&["tests", "p.c", "--entry", "step", "--loop", "--json"]).ended(0).out;
    assert!(serde_json::from_str::<Value>(&said).unwrap()["covered"].as_u64() > Some(0), "{said}");
}

#[test]
fn a_counterexample_is_a_test_that_fails_for_the_code_that_does_the_same() {
    let place = pump();
    place.run(&["check", "pump.vch", "-q", "--trace", "bug.c", "--bind", "limit=14"]).ended(1);
    place.run(&["check", "pump.vch", "-q", "--trace", "bug.rs"]).ended(1);
    assert!(place.read("bug.rs").contains("assert!(differs.is_some()"));
    let driver = |limit: &str| {
        format!(
            "#include \"bug.c\"\nstatic struct pump_parameters p; static struct pump_state s;\n\
             void pump_start(const struct pump_parameters *q, const struct pump_first *f) {{\n\
             (void)f; p = *q; s = (struct pump_state){{0}}; }}\n\
             void pump_step(const struct pump_inputs *i) {{\n\
             if (s.state == pump_state_state_Idle) {{ if (i->water) {{ s.state = pump_state_state_Running; s.timer = 0; }} }}\n\
             else if (!i->water || s.timer == {limit}) s.state = pump_state_state_Idle;\n\
             else s.timer++; }}\n\
             void pump_get(struct pump_state *t) {{ *t = s; }}\n"
        )
    };
    for (limit, code) in [("p.limit", 1), ("12", 0)] {
        place.write("driver.c", driver(limit));
        let mut gcc = Command::new("gcc");
        let gcc =
            gcc.current_dir(&place.0).args(["-Wall", "-Wextra", "-Werror", "driver.c"]).output();
        let Ok(gcc) = gcc else { return };
        assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
        let ran = Command::new(place.0.path().join("a.out")).output().unwrap();
        assert_eq!(ran.status.code(), Some(code), "{}", String::from_utf8_lossy(&ran.stdout));
    }
    // C has its own way.
    place.write("p.c", "#include <assert.h>\nint x; void step(void) { x++; assert(x != 3); }");
    let said = place.run(&["check", "p.c", "--entry", "step", "--loop", "--trace", "t.c"]);
    assert!(said.code == 2 && said.err.contains("`.vcd`, `.json` or `.txt`"), "{}", said.err);
}

#[test]
fn logs_are_compared() {
    let place = pump();
    place.write(
        "log.csv",
        "time,pump,timer\n0.1,Idle,0\n0.2,Running,0\n0.3,Running,1\n0.4,Running,3\n",
    );
    let said = place.run(&["conform", "pump.vch", "log.csv", "--ignore", "time"]).ended(1);
    assert!(said.out.contains("log.csv is not a run: line 5 cannot be"), "{}", said.out);
    assert!(
        said.out.contains("timer is 3; the model allows 2, if all else is right"),
        "{}",
        said.out
    );
    let args = ["conform", "pump.vch", "log.csv", "--ignore", "time", "--gap", "2", "--json"];
    let said: Value = serde_json::from_str(&place.run(&args).ended(0).out).unwrap();
    assert_eq!((&said["conforms"], &said["lines"]), (&true.into(), &4.into()));
    let said = place.run(&["conform", "pump.vch", "log.csv"]).ended(2).err;
    assert!(said.contains("log.csv: line 1, column `time`: the model has no variable"), "{said}");
    place.run(&["conform", "pump.vch", "nowhere.csv"]).ended(2);
}

#[test]
fn a_program_is_compared_call_by_call() {
    let place = Place::new(&[(
        "count.c",
        "unsigned char n, twice; void step(unsigned char by) { if (by > 2) by = 2; n += by; twice = n; twice += n; }",
    )]);
    let conform = |log: &str, more: &[&str]| {
        place.write("log.csv", log);
        let args = ["conform", "count.c", "log.csv", "--entry", "step", "--loop"];
        place.run(&[&args[..], more].concat())
    };
    let said = conform("n,twice\n0,0\n2,4\n3,6\n", &[]).ended(0).out;
    assert!(said.contains("log.csv is a run (3 lines, 2 calls)"), "{said}");
    // Between two statements of a call it is so, but not between two calls.
    let said = conform("n,twice\n0,0\n2,4\n3,3\n", &[]).ended(1).out;
    assert!(said.contains("line 4 cannot be"), "{said}");
    assert!(said.contains("twice is 3; the model allows 6, if all else is right"), "{said}");
    let said = conform("n\n0\n3\n", &[]).ended(1).out;
    assert!(said.contains("line 3 cannot be"), "{said}");
    conform("n\n0\n3\n", &["--gap", "2"]).ended(0);
    // An input holds for the call that led there.
    conform("n,step::by\n0,\n2,9\n3,1\n", &[]).ended(0);
    let said = conform("n,step::by\n0,\n2,9\n3,2\n", &[]).ended(1).out;
    assert!(
        said.contains("line 4 cannot be") && said.contains("step::by is 2; the model allows 1"),
        "{said}"
    );
}

#[test]
fn a_defmt_stream_needs_its_firmware() {
    let place = pump();
    place.write("log.bin", "\u{1}\u{2}");
    let conform = |more: &[&str]| {
        place.run(&[&["conform", "pump.vch", "log.bin"][..], more].concat()).ended(2).err
    };
    let said = conform(&["--defmt", "nowhere.elf"]);
    assert!(
        said.contains("cannot read nowhere.elf") && said.contains("help: `--defmt` takes"),
        "{said}"
    );
    let said = conform(&["--defmt", "pump.vch"]);
    assert!(said.contains("cannot read the log texts of pump.vch"), "{said}");
    std::fs::write(place.path("log.bin"), [0xc0, 0xff, 0]).unwrap();
    let said = conform(&[]);
    assert!(said.contains("name its firmware with `--defmt FIRMWARE.elf`"), "{said}");
}

#[test]
fn a_script_steps_through_a_model() {
    let place = pump();
    place.write(
        "s.txt",
        "set limit = 13\nstep\nproperties\ntake Idle -> Running # on water\nset water = true\nstep 12\n\
         expect timer = 12\nback 2\nexpect timer = 10\nforward\nstep 2\nexpect state = Running\n\
         properties\npossible\nwatch timer\nsave half.trace\ntake breaks\nsave whole.trace\n",
    );
    let said = place.run(&["simulate", "pump.vch", "--script", "s.txt"]).ended(0).out;
    assert!(
        said.contains("  short holds here") && said.contains("  short is broken here"),
        "{said}"
    );
    assert!(said.contains("> back 2\n   12  Running"), "{said}");
    // Both can be replayed; one breaks the property.
    let said = place.run(&["replay", "pump.vch", "half.trace"]).ended(0).out;
    assert!(said.contains("a run of 15 steps that breaks nothing"), "{said}");
    place.run(&["replay", "pump.vch", "whole.trace"]).ended(1);
    place.write("t.txt", "load whole.trace\nback\nexpect timer = 13\nrandom 20\nreset\nshow\n");
    place.run(&["simulate", "pump.vch", "--script", "t.txt"]).ended(0);
    // By hand, without a hash.
    let hand = "vouch-trace 1\nvar limit = 3\nstep init -> Idle\nstep Idle -> Running\n  input water = true\nend\n";
    place.write("hand.trace", hand);
    place.run(&["replay", "pump.vch", "hand.trace"]).ended(0);
    let args = ["simulate", "pump.vch", "--load", "hand.trace", "--script", "u.txt"];
    place.write("u.txt", "expect state = Running\n");
    place.run(&args).ended(0);
    place.write("hand.trace", hand.replace("true", "false"));
    let said = place.run(&["replay", "pump.vch", "hand.trace"]).ended(5).err;
    assert!(said.contains("step 2 is not possible") && said.contains("Idle -> Running"), "{said}");
}

#[test]
fn a_script_that_leaves_the_model_is_told_where_and_what_would_be_possible() {
    let place = pump();
    let fails = |script: &str, code: i32, message: &str| {
        place.write("s.txt", script);
        let said = place.run(&["simulate", "pump.vch", "--script", "s.txt"]).ended(code).err;
        assert!(said.contains(message), "{said}");
    };
    fails(
        "step\n\ntake Running -> Idle\n",
        5,
        "s.txt:3: `Running -> Idle` is not possible here\npossible in Idle:",
    );
    fails(
        "step\nset water = false\ntake Idle -> Running\n",
        5,
        "possible in Idle with other inputs:\n  Idle -> Running",
    );
    fails(
        "step\nset wafer = true\n",
        2,
        "s.txt:2: pump has no input `wafer`; did you mean `water`?",
    );
    fails("step\nset water = 7\n", 2, "water cannot be `7`: it is `true` or `false`");
    fails("step\nset limit = 4\n", 2, "limit is a parameter, which does not change");
    fails("set limit = 15\n", 2, "outside the parameter's bounds");
    fails("stop\n", 2, "`stop` is not a command; did you mean `step`?");
    fails("step\nexpect timer = 1\n", 5, "s.txt:2: timer is 0, not 1");
    fails("load nothing.trace\n", 5, "cannot read nothing.trace");
    fails("step x\n", 2, "`step` takes a number, not `x`");
    let said = place.run(&["simulate", "pump.vch"]).ended(2).err;
    assert!(said.contains("a simulation needs a terminal"), "{said}");
}

/// A counter of two bits with a reset, as a circuit.
const CIRCUIT: &str = "1 sort bitvec 1\n2 sort bitvec 2\n3 input 1 clear\n4 state 2 count\n5 zero 2\n6 init 2 4 5\n\
    7 inc 2 4\n8 ite 2 3 5 7\n9 next 2 4 8\n10 constd 2 3\n11 eq 1 4 10\n12 bad 11 full\n";

#[test]
fn circuits_and_c_can_be_stepped_and_compared() {
    let place = pump();
    place.write("c.btor2", CIRCUIT);
    place.write("s.txt", "step\nset clear = false\nstep 2\nexpect count = 2\nset clear = true\nstep\nexpect count = 0\n");
    place.run(&["simulate", "c.btor2", "--script", "s.txt"]).ended(0);
    place.write(
        "log.jsonl",
        "{\"count\": 0}\n{\"count\": 1, \"clear\": false}\n{\"count\": 2}\n{\"count\": 1}\n",
    );
    let said = place.run(&["conform", "c.btor2", "log.jsonl"]).ended(1).out;
    assert!(said.contains("line 4 cannot be"), "{said}");
    let said =
        place.run(&["tests", "c.btor2", "--cover", "conditions", "-o", "t.json"]).ended(0).out;
    assert!(said.contains("covered by"), "{said}");
    place.write(
        "p.c",
        "#include <assert.h>\nunsigned char x; void step(void) { x++; assert(x != 200); }",
    );
    place.write("s.txt", "random 12\nshow\n");
    let args = ["simulate", "p.c", "--entry", "step", "--loop", "--script", "s.txt"];
    let said = place.run(&args).ended(0).out;
    assert!(said.contains("after 12 steps") && said.contains("x = "), "{said}");
    assert!(said.contains("step:2 x++"), "{said}");
    place.write(
        "q.c",
        "int x;\nint get(void);\nvoid step(void) {\n  if (get() > 3)\n    x = 1;\n  else\n    x = 0;\n}\n",
    );
    let args = ["tests", "q.c", "--entry", "step", "--loop", "--json"];
    let said = place.run(&args).ended(0).out;
    assert!(said.contains("step:4 `get() > 3` is true"), "{said}");
    assert!(
        said.contains("step:4 `get() > 3` is false") && said.contains("step:5 x = 1"),
        "{said}"
    );
}

/// What a reader does with a page, and what is marked then: rows, the counter, states, lines.
const READER: &str = r#"
<script>
const here = (q) => Array.from(document.querySelectorAll(q)).map((x, i) => x.classList.contains('here') ? i : -1).filter((i) => i >= 0);
const names = () => Array.from(document.querySelectorAll('#machine .name')).filter((n) => n.previousElementSibling && n.previousElementSibling.classList.contains('here'));
const told = [];
const show = () => told.push([here('#steps tbody tr').join(), document.getElementById('at').textContent, names().map((n) => n.textContent).join(),
  Array.from(document.querySelectorAll('#source .line.here')).map((l) => l.getAttribute('data-line')).join()].join(' '));
const press = (key) => document.dispatchEvent(new KeyboardEvent('keydown', { key: key, cancelable: true }));
show(); press('ArrowRight'); show(); press('ArrowRight'); show(); press('ArrowLeft'); show(); press('End'); show(); press('ArrowRight'); show();
document.querySelectorAll('#steps tbody tr')[2].click(); show(); document.getElementById('back').click(); show();
document.querySelector('#waves [data-step="3"]').click(); show();
const pre = document.createElement('pre');
pre.id = 'told';
pre.textContent = told.concat(window.wrong.map((w) => 'error: ' + w)).join('\n');
document.body.appendChild(pre);
</script>
"#;

/// Notes what goes wrong in a page.
const WATCH: &str = "<script>window.wrong = []; \
    window.addEventListener('error', (e) => window.wrong.push(e.message)); \
    console.error = (...words) => window.wrong.push(words.join(' '));</script>";

/// What a reader of a page sees, in a browser; `None` if there is none.
fn read_page(place: &Place, page: &str) -> Option<String> {
    let page = page.replacen("<head>", &format!("<head>{WATCH}"), 1);
    let page = page.replacen("</body>", &format!("{READER}</body>"), 1);
    place.write("read.html", &page);
    let file = format!("file://{}", place.0.path().join("read.html").display());
    let profile = format!("--user-data-dir={}", place.0.path().join("profile").display());
    for browser in ["chromium", "chromium-browser", "google-chrome"] {
        let mut browser = Command::new(browser);
        browser.args(["--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]);
        let Ok(output) = browser.arg(&profile).arg(&file).output() else { continue };
        let dom = String::from_utf8_lossy(&output.stdout).into_owned();
        let told =
            dom.split_once("<pre id=\"told\">").and_then(|(_, rest)| rest.split_once("</pre>"));
        let (told, _) = told.unwrap_or_else(|| panic!("{dom}"));
        return Some(told.to_string());
    }
    eprintln!("there is no browser: pages are not stepped through");
    None
}

#[test]
fn a_page_shows_a_run_and_can_be_stepped() {
    let place = pump();
    let args = ["check", "pump.vch", "-q", "--html", "page.html", "--bind", "limit=13"];
    place.run(&args).ended(1);
    let page = place.read("page.html");
    // It needs nothing from elsewhere, and has it all.
    assert!(!page.contains("http://") || !page.contains("src="), "{page}");
    assert!(!page.contains("src=\"") && !page.contains("<link") && !page.contains("@import"));
    for part in ["properties", "machine", "steps", "source", "waves", "about"] {
        assert_eq!(page.matches(&format!("<section id=\"{part}\">")).count(), 1, "{part}");
    }
    assert_eq!(page.matches("<section").count(), page.matches("</section>").count());
    assert!(page.contains("--bind limit=13"), "how to reproduce it");
    assert!(page.contains("prefers-color-scheme: dark") && page.contains("@media print"));
    if let Some(text) = read_page(&place, &page) {
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(lines.len(), 9, "{text}");
        let last = lines[4].split(' ').nth(3).unwrap().to_string();
        assert!(lines[0].starts_with(&format!("0 0 of {last} Idle ")), "{text}");
        assert!(lines[1].starts_with(&format!("1 1 of {last} Running 6")), "{text}");
        assert_eq!((lines[3], lines[5], lines[7]), (lines[1], lines[4], lines[1]), "{text}");
        assert_eq!((lines[6], lines[8]), (lines[2], lines[2]), "{text}");
    }
    place.run(&["check", "pump.vch", "-q", "--trace", "t.trace"]).ended(1);
    place.run(&["replay", "pump.vch", "t.trace", "-q", "--html", "again.html"]).ended(1);
    assert!(place.read("again.html").contains("A run that breaks <code>short</code>"));
    // Safe: the invariant. Names that mean something to a browser are text.
    let odd = PUMP
        .replace("machine pump", "machine p")
        .replace("short: always timer <= 12", "short: always timer <= 14");
    place.write("odd.vch", odd.replace("{\n    param", "{ // </script><b>\n    param"));
    place.run(&["check", "odd.vch", "-q", "--html", "safe.html"]).ended(0);
    let page = place.read("safe.html");
    assert!(page.contains("<section id=\"invariant\">") && !page.contains("<b>"), "{page}");
    let said = place.run(&["check", "pump.vch", "-q", "--html", "no/where.html"]).ended(2).err;
    assert!(said.contains("cannot write no/where.html"), "{said}");
}
