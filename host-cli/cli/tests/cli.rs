//! The program as users and scripts see it: exit codes, what goes where, files, bad input.

use crate::place::{Place, ended};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};

/// A pump that may run only while there is water. With a `limit` above 12 it runs too long.
pub const PUMP: &str = "\
machine pump {
    param limit: u4 in 3..=14;
    input water: bool;
    var timer: u4 = 0;
    initial state Idle {
        on water -> Running { timer = 0; }
    }
    state Running {
        on !water -> Idle;
        on timer == limit -> Idle;
        else { timer += 1; }
    }
    property short: always timer <= 12;
    property bounded: always timer <= 14;
}
";

/// A folder with the pump in it, in which the program runs.
pub fn pump() -> Place {
    Place::new(&[("pump.vch", PUMP)])
}

#[test]
fn check_gives_verdicts_by_exit_code_and_shows_the_run() {
    let place = pump();
    let all = place.run(&["check", "pump.vch"]).ended(1);
    assert!(all.out.contains("pump: unsafe"), "{}", all.out);
    assert!(all.out.contains("A run that breaks short"), "{}", all.out);
    assert!(all.out.contains("bounded") && all.out.contains("invariant checked"), "{}", all.out);
    assert_eq!(all.err, "");
    let one = place.run(&["check", "pump.vch", "--property", "bounded"]).ended(0);
    assert!(one.out.contains("pump: safe") && !one.out.contains("short"), "{}", one.out);
    let bound = place.run(&["check", "pump.vch", "--bind", "limit=12"]).ended(0);
    assert!(bound.out.contains("With limit = 12"), "{}", bound.out);
    place.run(&["check", "pump.vch", "--bind", "limit=13"]).ended(1);
    let quiet = place.run(&["check", "pump.vch", "-q"]).ended(1);
    assert_eq!((quiet.out.as_str(), quiet.err.as_str()), ("pump: unsafe\n", ""));
    let loud = place.run(&["check", "pump.vch", "--verbose"]).ended(1);
    assert!(
        loud.err.contains("arena of") && loud.err.contains("validated: an invariant of"),
        "{}",
        loud.err
    );
}

#[test]
fn json_has_the_fields_that_are_promised() {
    let place = pump();
    for (args, code, verdict) in [
        (vec!["check", "pump.vch"], 1, "unsafe"),
        (vec!["check", "pump.vch", "--property", "bounded"], 0, "safe"),
        (vec!["check", "pump.vch", "--budget", "1"], 3, "unknown"),
        (vec!["run", "pump.vch", "--target", "sim"], 1, "unsafe"),
    ] {
        let output = place.run(&[&args[..], &["--json"]].concat()).ended(code);
        assert_eq!(output.err, "");
        let json = output.json();
        assert_eq!(json["verdict"], verdict);
        for field in [
            "verdict",
            "reason",
            "engine",
            "target",
            "property",
            "time_s",
            "frontier",
            "lemmas",
            "queries",
            "conflicts",
            "peak_bytes",
            "validated",
            "trace_len",
        ] {
            assert!(json.get(field).is_some(), "{field} is missing in {json}");
        }
        assert_eq!(json["validated"], verdict != "unknown");
        assert_eq!(json["engine"], "ic3cfa");
    }
    let json = place.run(&["check", "pump.vch", "--json"]).json();
    assert_eq!(json["property"], "short");
    let steps = json["trace_len"].as_u64().unwrap() as usize;
    let trace = json["trace"].as_array().unwrap();
    assert_eq!(trace.len(), steps + 1);
    assert!(trace[0]["values"]["limit"].as_u64().unwrap() > 12);
    assert_eq!(json["properties"][1]["verdict"], "safe");
    let json = place.run(&["run", "pump.vch", "--target", "sim", "--json"]).json();
    assert_eq!((&json["target"], &json["device"]["board"]), (&"sim".into(), &"sim".into()));
    assert!(json["device"]["arena_bytes"].as_u64().unwrap() > 1000);
}

#[test]
fn limits_end_in_unknown_with_a_reason_and_a_way_out() {
    let place = pump();
    for (flags, reason) in [
        (["--budget", "1"], "budget"),
        (["--timeout", "0.000001"], "timeout"),
        (["--memory", "600"], "capacity"),
    ] {
        for target in [&["check", "pump.vch"][..], &["run", "pump.vch", "--target", "sim"][..]] {
            let flags = match (flags, target[0]) {
                (["--memory", bytes], "run") => ["--sim-ram", bytes],
                (flags, _) => flags,
            };
            let text = place.run(&[target, &flags[..]].concat()).ended(3);
            let help = text.err.contains("help: ");
            assert!(
                text.out.contains(&format!("pump: unknown ({reason})")) && help,
                "{}",
                text.err
            );
            let json = place.run(&[target, &flags[..], &["--json"][..]].concat()).ended(3).json();
            assert_eq!(json["reason"], reason);
            assert_eq!(json["validated"], false);
            assert!(json["detail"].as_str().unwrap().contains("help: "), "{json}");
            // A microsecond does not suffice to find out which properties there are.
            if reason != "timeout" {
                assert_eq!(json["properties"][0]["verdict"], "unknown");
            }
        }
    }
    let small = place.run(&["run", "pump.vch", "--target", "sim", "--sim-ram", "600"]).ended(3);
    assert!(small.err.contains("bytes too few"), "{}", small.err);
    // Without a reason to give up, nothing is given up.
    place.run(&["check", "pump.vch", "--budget", "100000000", "--timeout", "100"]).ended(1);
    place.run(&["check", "pump.vch", "--memory", "64K"]).ended(1);
}

#[test]
fn certificates_are_written_and_checked_again() {
    let place = pump();
    let made = ["check", "pump.vch", "--property", "bounded", "--certificate", "p.cert"];
    let output = place.run(&made).ended(0);
    assert!(output.err.contains("certificate written to p.cert"), "{}", output.err);
    let good = ["certify", "pump.vch", "p.cert", "--property", "bounded"];
    assert!(place.run(&good).ended(0).out.contains("pump: safe"));
    let json = place.run(&[&good[..], &["--json"]].concat()).ended(0).json();
    assert_eq!((&json["verdict"], &json["validated"]), (&"safe".into(), &true.into()));
    // It does not claim the other property, nor is that true.
    let less = place.run(&["certify", "pump.vch", "p.cert"]).ended(3);
    assert!(less.err.contains("proves only bounded"), "{}", less.err);
    // The same through the image.
    place.run(&["compile", "pump.vch", "-o", "pump.vimg"]).ended(0);
    place.run(&["certify", "pump.vimg", "p.cert", "--property", "bounded"]).ended(0);
    // A device's certificate is as good.
    let args =
        ["run", "pump.vch", "--target", "sim", "--bind", "limit=5", "--certificate", "d.cert"];
    place.run(&args).ended(0);
    place.run(&["certify", "pump.vch", "d.cert", "--bind", "limit=5"]).ended(0);
    let other = place.run(&["certify", "pump.vch", "d.cert", "--bind", "limit=6"]).ended(3);
    assert!(other.err.contains("with limit = 5"), "{}", other.err);
    place.run(&["certify", "pump.vch", "d.cert"]).ended(3);
}

#[test]
fn bad_certificates_are_refused() {
    let place = pump();
    let made = ["check", "pump.vch", "--property", "bounded", "--certificate", "p.cert"];
    place.run(&made).ended(0);
    let good = String::from_utf8(place.bytes("p.cert")).unwrap();
    let certify = |text: &str| {
        place.write("bad.cert", text);
        place.run(&["certify", "pump.vch", "bad.cert", "--property", "bounded"])
    };
    // Cut off: a wrong file. Another version, or names of another model: a mismatch.
    assert!(certify(good.strip_suffix("end\n").unwrap()).ended(2).err.contains("bad.cert: line"));
    certify(&good.replace("vouch-certificate 2", "vouch-certificate 3")).ended(5);
    certify(&good.replace("timer", "tiner")).ended(5);
    // A claim that is not true of this model: the invariant is not one.
    let claim = good.replace("property bounded", "property short");
    let output = certify(&claim).ended(5);
    assert!(output.err.contains("does not prove what it claims"), "{}", output.err);
    // Clauses left out.
    let end = good.find("at ").unwrap();
    certify(&format!("{}end\n", &good[..end])).ended(5);
    // Another source: checked, with a warning.
    place.write("pump.vch", PUMP.replace("// ", "").replace("limit: u4", "limit:  u4"));
    let output = certify(&good).ended(0);
    assert!(output.err.contains("another version of the model's source"), "{}", output.err);
    place.run(&["certify", "pump.vch", "none.cert"]).ended(2);
}

#[test]
fn traces_are_written_in_three_formats_and_replayed() {
    let place = pump();
    for name in ["t.trace", "t.vcd", "t.json"] {
        // Which of several shortest runs is shown depends on time; the first that is found does not.
        let output = place.run(&["check", "pump.vch", "--first-run", "--trace", name]).ended(1);
        assert!(output.err.contains(&format!("written to {name}")), "{}", output.err);
    }
    assert!(place.bytes("t.vcd").starts_with(b"$"));
    let json: Value = serde_json::from_slice(&place.bytes("t.json")).unwrap();
    assert_eq!(json["property"], "short");
    assert_eq!(json["trace"][0]["step"], 0);
    let replayed = place.run(&["replay", "pump.vch", "t.trace", "--trace", "r.vcd"]).ended(1);
    assert!(replayed.out.contains("A run that breaks short"), "{}", replayed.out);
    assert_eq!(place.bytes("r.vcd"), place.bytes("t.vcd"));
    let json = place.run(&["replay", "pump.vch", "t.trace", "--json"]).ended(1).json();
    assert_eq!((&json["verdict"], &json["property"]), (&"unsafe".into(), &"short".into()));
    place.run(&["replay", "pump.vch", "t.trace", "--bind", "limit=3"]).ended(5);
    // One step less is not a run to the error; no syntax is a wrong file.
    let text = String::from_utf8(place.bytes("t.trace")).unwrap();
    let last = text.rfind("step ").unwrap();
    place.write("cut.trace", format!("{}end\n", &text[..last]));
    assert!(place.run(&["replay", "pump.vch", "cut.trace"]).ended(5).err.contains("is not a run"));
    place.write("odd.trace", text.replace("step ", "leap "));
    assert!(place.run(&["replay", "pump.vch", "odd.trace"]).ended(2).err.contains("line"));
    // The runs of devices and of bound models replay too.
    let args = ["run", "pump.vch", "--target", "sim", "--bind", "limit=13", "--trace", "d.trace"];
    place.run(&args).ended(1);
    place.run(&["replay", "pump.vch", "d.trace", "--bind", "limit=13"]).ended(1);
    // Nothing is written when nothing is broken.
    place.run(&["check", "pump.vch", "--bind", "limit=3", "--trace", "no.vcd"]).ended(0);
    assert!(!place.path("no.vcd").exists());
}

#[test]
fn without_validation_the_engine_is_believed_and_that_is_said() {
    let place = pump();
    let json = place.run(&["check", "pump.vch", "--no-validate", "--json"]).ended(1).json();
    assert_eq!((&json["verdict"], &json["validated"]), (&"unsafe".into(), &false.into()));
    let args = ["check", "pump.vch", "--no-validate", "--trace", "t.vcd"];
    assert!(place.run(&args).ended(1).out.contains("not replayed"));
    assert!(place.path("t.vcd").exists());
}

#[test]
fn images_are_the_same_bytes_and_give_the_same_verdicts() {
    let place = pump();
    let output = place.run(&["compile", "pump.vch", "-o", "a.vimg"]).ended(0);
    for board in ["lm3s6965evb", "microbit", "mps2-an386"] {
        assert!(output.out.contains(board), "{}", output.out);
    }
    fs::create_dir(place.path("sub")).unwrap();
    fs::copy(place.path("pump.vch"), place.path("sub/pump.vch")).unwrap();
    place.run(&["compile", "sub/pump.vch"]).ended(0);
    assert_eq!(place.bytes("a.vimg"), place.bytes("pump.vimg"), "the folder does not matter");
    let json = place.run(&["compile", "pump.vch", "-o", "b.vimg", "--json"]).ended(0).json();
    assert_eq!(json["file_bytes"], place.bytes("b.vimg").len());
    assert_eq!(json["boards"].as_array().unwrap().len(), 4);
    assert_eq!(json["boards"][0]["fits"], true);
    assert!(json["sizes"]["image_bytes"].as_u64() < json["file_bytes"].as_u64());
    place.run(&["check", "a.vimg"]).ended(1);
    place.run(&["check", "a.vimg", "--bind", "limit=12"]).ended(0);
    place.run(&["run", "a.vimg", "--target", "sim", "--bind", "limit=12"]).ended(0);
    // The model is not overwritten, and a file is there whole or not at all.
    let output = place.run(&["compile", "pump.vch", "-o", "pump.vch"]).ended(2);
    assert!(output.err.contains("is an input"), "{}", output.err);
    assert_eq!(place.bytes("pump.vch"), PUMP.as_bytes());
    place.run(&["compile", "pump.vch", "-o", "no/such/x.vimg"]).ended(2);
}

#[test]
fn damaged_and_foreign_images_are_a_mismatch() {
    let place = pump();
    place.run(&["compile", "pump.vch"]).ended(0);
    let good = place.bytes("pump.vimg");
    for at in (0..good.len()).step_by(good.len() / 40) {
        let mut bytes = good.clone();
        bytes[at] ^= 1 << (at % 8);
        place.write("bad.vimg", bytes);
        let output = place.run(&["check", "bad.vimg", "--json"]).ended(5);
        assert_eq!(output.json()["error"]["kind"], "mismatch", "byte {at}");
    }
    let mut other = good.clone();
    other[4] = 99;
    place.write("bad.vimg", other);
    let output = place.run(&["run", "bad.vimg", "--target", "sim"]).ended(5);
    assert!(output.err.contains("99") && output.err.contains("compile"), "{}", output.err);
    for length in [0, 3, 30, good.len() / 2, good.len() - 1] {
        place.write("bad.vimg", &good[..length]);
        place.run(&["inspect", "bad.vimg"]).ended(5);
    }
}

#[test]
fn inspect_shows_the_parts() {
    let place = pump();
    let text = place.run(&["inspect", "pump.vch"]).ended(0).out;
    for part in ["Idle -> Running", "limit: 3 to 14", "short (line 13)", "microbit", "live bits"] {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    place.run(&["compile", "pump.vch"]).ended(0);
    let json = place.run(&["inspect", "pump.vimg", "--json"]).ended(0).json();
    assert_eq!(json, {
        let mut json = place.run(&["inspect", "pump.vch", "--json"]).json();
        json["source"] = "pump.vch".into();
        json
    });
    assert_eq!(json["parameters"][0]["max"], "14");
    assert_eq!(json["properties"].as_array().unwrap().len(), 2);
    let locations = json["locations"].as_array().unwrap();
    let idle = locations.iter().find(|l| l["name"] == "Idle").unwrap();
    assert_eq!(idle["live_bits"], idle["live"].as_array().unwrap().len());
    let dot = place.run(&["inspect", "pump.vch", "--dot"]).ended(0).out;
    assert!(dot.starts_with("digraph \"pump\" {") && dot.ends_with("}\n"), "{dot}");
    assert!(dot.contains("[label=\"on !water -> Idle\"]"), "{dot}");
    place.run(&["inspect", "pump.vch", "--dot", "--json"]).ended(2);
}

/// People see the model as they have written it, and what the passes leave of it only if they ask.
#[test]
fn what_is_shown_is_the_model_as_written() {
    let place = pump();
    let model = "machine m {
        output lamp: bool = false;
        var n: u2 = 0;
        initial state First { on true -> Second { n = 1; lamp = true; } }
        state Second { on n < 3 { n += 1; } }
        property p: always n < 3;
    }";
    place.write("m.vch", model);
    let locations = |more: &[&str]| {
        let json = place.run(&[&["inspect", "m.vch", "--json"], more].concat()).ended(0).json();
        assert!(json.get("warnings").is_none(), "{json}");
        let all = json["locations"].as_array().unwrap().iter();
        all.map(|l| l["name"].as_str().unwrap().to_string()).collect::<Vec<String>>()
    };
    assert_eq!(locations(&[]), ["init", "First", "Second", "\"error: p\""]);
    assert!(!locations(&["--simplified"]).contains(&"First".to_string()));
    let dot = place.run(&["inspect", "m.vch", "--dot"]).ended(0).out;
    assert!(dot.contains("\"First\"") && dot.contains("\"Second\""), "{dot}");
    for (more, name) in [(&[][..], "a.dot"), (&["--simplified"], "b.dot")] {
        place.run(&[&["export", "m.vch", "-o", name], more].concat()).ended(0);
        let exported = fs::read_to_string(place.path(name)).unwrap();
        let shown = place.run(&[&["inspect", "m.vch", "--dot"], more].concat()).ended(0).out;
        assert_eq!(exported.trim_end(), shown.trim_end());
        assert_eq!(exported.contains("n1 [label=\"First\""), name == "a.dot", "{exported}");
    }
}

#[test]
fn list_names_what_there_is() {
    let place = pump();
    let text = place.run(&["list", "--qemu", "no-such-qemu"]).ended(0).out;
    for part in ["qemu:lm3s6965evb", "qemu:microbit", "qemu:riscv-virt", "ic3cfa", "not installed"]
    {
        assert!(text.contains(part), "{part} is not in\n{text}");
    }
    place.write("vouch-microbit.elf", "");
    let json = place.run(&["list", "--json", "--firmware-dir", "."]).ended(0).json();
    assert_eq!(json["engines"][0]["name"], "ic3cfa");
    assert_eq!(json["boards"][0]["firmware"], Value::Null);
    assert!(json["boards"][1]["firmware"].as_str().unwrap().ends_with("vouch-microbit.elf"));
    assert!(json["ports"].is_array() && json["probes"].is_array());
}

#[test]
fn errors_point_at_the_source() {
    let place = pump();
    place.write("bad.vch", PUMP.replace("timer <= 12", "tiner <= 12"));
    let output = place.run(&["check", "bad.vch"]).ended(2);
    assert!(output.err.contains("bad.vch:13:28"), "{}", output.err);
    assert!(output.err.contains("tiner") && output.out.is_empty(), "{}", output.err);
    let output = place.run(&["check", "bad.vch", "--json"]).ended(2);
    assert_eq!(output.err, "");
    let json = output.json();
    assert_eq!(json["exit_code"], 2);
    let place_of = &json["error"]["diagnostics"][0];
    assert_eq!((&place_of["line"], &place_of["column"]), (&13.into(), &28.into()));
    assert_eq!(json["error"]["kind"], "input");
}

#[test]
fn wrong_input_gets_a_clear_error() {
    let place = pump();
    place.write("empty.vch", "");
    place.write("latin.vch", b"machine caf\xe9 {}");
    place.write("pump.txt", PUMP);
    let sim = ["--target", "sim"];
    for (args, code, says) in [
        (&["check", "none.vch"][..], 2, "none.vch"),
        (&["lint", "."][..], 2, "cannot read ."),
        (&["check", "."][..], 2, "there is no vouch.toml"),
        (&["check", "empty.vch"][..], 2, "empty.vch:1:1"),
        (&["check", "latin.vch"][..], 2, "byte 11"),
        (&["check", "pump.txt"][..], 2, "--lang"),
        (&["check", "pump.vch", "--lang", "cobol"][..], 2, "vch"),
        (&["check", "pump.vch", "--overflow", "ignore"][..], 2, "wrap, error, assume"),
        (&["check", "pump.vch", "--engine", "z4"][..], 2, "there are: ic3cfa"),
        (&["check", "pump.vch", "--threads", "0"][..], 2, "1..=64"),
        (&["check", "pump.vch", "--threads", "2", "--engine", "ic3"][..], 2, "cannot be used with"),
        (&["check", "pump.vch", "--property", "shrt"][..], 2, "short, bounded"),
        (&["check", "pump.vch", "--property", "shrt"][..], 2, "did you mean `short`"),
        (&["check", "pump.vch", "--bind", "limit"][..], 2, "PARAMETER=VALUE"),
        (&["check", "pump.vch", "--bind", "limit=2"][..], 2, "3 to 14"),
        (&["check", "pump.vch", "--bind", "limit=99"][..], 2, "3 to 14"),
        (&["check", "pump.vch", "--bind", "limit=many"][..], 2, "not a value of its type"),
        (&["check", "pump.vch", "--bind", "limits=3"][..], 2, "limit (3 to 14)"),
        (&["check", "pump.vch", "--bind", "timer=3"][..], 2, "not a parameter"),
        (&["check", "pump.vch", "--bind", "limit=3", "--bind", "limit=4"][..], 2, "another value"),
        (&["check", "pump.vch", "--timeout", "-1"][..], 2, "seconds"),
        (&["check", "pump.vch", "--memory", "lots"][..], 2, "512M"),
        (&["check", "pump.vch", "--trace", "no/such/t.vcd"][..], 2, "does not exist"),
        (&["check", "pump.vch", "--trace", "pump.vch"][..], 2, "is an input"),
        (&["check", "pump.vch", "--quiet", "--verbose"][..], 2, "cannot be used with"),
        (&["check"][..], 2, "MODEL"),
        (&["prove", "pump.vch"][..], 2, "prove"),
        (&["run", "pump.vch"][..], 2, "--target"),
        (&["run", "pump.vch", "--target", "pdp11"][..], 2, "qemu:BOARD"),
        (&["run", "pump.vch", "--target", "qemu:pdp11"][..], 2, "qemu:microbit"),
        (&["run", "pump.vch", "--target", "probe"][..], 4, "--chip nRF52840_xxAA"),
        (&["run", "pump.vch", "--target", "serial:/no/such/port"][..], 4, "/no/such/port"),
        (&["run", "pump.vch", "--target", "tcp:localhost:1"][..], 4, "localhost:1"),
        (&["replay", "pump.vch", "pump.vch"][..], 2, "vouch-trace"),
        (&["certify", "pump.vch", "pump.vch"][..], 2, "vouch-certificate"),
    ] {
        let output = place.run(args).ended(code);
        assert!(output.err.contains(says), "{args:?}: `{says}` is not in\n{}", output.err);
        let output = place.run(&[args, &["--json"]].concat()).ended(code);
        let json = output.json();
        assert_eq!(json["exit_code"], code, "{args:?}");
        let message = json["error"]["message"].as_str().unwrap();
        assert!(message.contains(says), "{args:?}: `{says}` is not in\n{message}");
        assert_eq!(output.err, "", "{args:?}");
    }
    let missing = ["run", "pump.vch", "--target", "qemu:microbit", "--firmware-dir", "."];
    let output = place.run(&missing).ended(4);
    assert!(output.err.contains("cargo xtask firmware"), "{}", output.err);
    place.run(&[&["run", "pump.txt", "--lang", "vch"][..], &sim].concat()).ended(1);
    assert_eq!(place.bytes("pump.vch"), PUMP.as_bytes());
}

#[test]
fn flags_can_come_from_the_environment() {
    let place = pump();
    let with =
        |args: &[&str], env: &[(&str, &str)]| ended(place.command(args).envs(env.iter().copied()));
    assert_eq!(
        with(&["check", "pump.vch"], &[("VOUCH_JSON", "1")]).ended(1).json()["verdict"],
        "unsafe"
    );
    assert!(with(&["check", "pump.vch"], &[("VOUCH_JSON", "0")]).out.contains("pump: unsafe"));
    with(&["check", "pump.vch"], &[("VOUCH_BIND", "limit=12")]).ended(0);
    with(&["check", "pump.vch"], &[("VOUCH_PROPERTY", "bounded")]).ended(0);
    with(&["check", "pump.vch"], &[("VOUCH_BUDGET", "1")]).ended(3);
    with(&["check", "pump.vch"], &[("VOUCH_ENGINE", "z4")]).ended(2);
    with(&["run", "pump.vch"], &[("VOUCH_TARGET", "sim"), ("VOUCH_QUIET", "yes")]).ended(1);
    // What is said aloud counts more.
    with(&["check", "pump.vch", "--bind", "limit=13"], &[("VOUCH_BIND", "limit=12")]).ended(1);
    let colour = with(&["check", "pump.vch"], &[("VOUCH_COLOR", "always")]);
    assert!(colour.out.contains("\x1b[31;1munsafe"), "{}", colour.out);
    assert!(!place.run(&["check", "pump.vch"]).out.contains('\x1b'));
    let ascii = with(&["check", "pump.vch"], &[("LC_ALL", "C")]);
    assert!(ascii.out.is_ascii(), "{}", ascii.out);
}

/// What files, lines and properties are called does not get to a terminal as it is; colours do.
#[test]
fn names_do_nothing_to_a_terminal() {
    let named = "#include \"vouch.h\"\nvoid step(unsigned char x) {\n\
        VOUCH_ASSERT_NAMED(\"a\\x1b[2J\\r\\xc2\\x9b\\x32J\", x != 3); }\n";
    let place = Place::new(&[("named.c", named), ("line.vch", "machine m { \x1b[2J\u{9b}2J }\n")]);
    let check = ["check", "named.c", "--entry", "step", "--loop"];
    let is_safe = |text: &str| !text.contains(['\x1b', '\r', '\u{9b}']);
    let broken = place.run(&check).ended(1);
    assert!(broken.out.contains("a\\u{1b}[2J\\u{d}\\u{9b}2J"), "{}", broken.out);
    assert!(is_safe(&broken.out) && is_safe(&broken.err), "{}{}", broken.out, broken.err);
    let json = place.run(&[&check[..], &["--json"]].concat()).ended(1);
    assert!(is_safe(&json.out), "{}", json.out);
    assert!(json.json()["property"].as_str().unwrap().contains("[2J"), "{}", json.out);
    for args in [&["check", "line.vch"][..], &["check", "no\x1b[2J\u{9b}.vch"]] {
        let wrong = place.run(args).ended(2);
        assert!(is_safe(&wrong.err) && wrong.err.contains("\\u{1b}[2J"), "{}", wrong.err);
        let coloured = place.run(&[args, &["--color", "always"]].concat()).ended(2).err;
        assert!(coloured.contains("\x1b[") && !coloured.contains("\x1b[2J"), "{coloured}");
    }
}

#[test]
fn help_teaches_the_tool() {
    let place = pump();
    let help = place.run(&["--help"]).ended(0).out;
    for part in ["Examples:", "Exit codes:", "VOUCH_TIMEOUT", "check", "inspect", "replay"] {
        assert!(help.contains(part), "{part}");
    }
    for command in ["check", "compile", "inspect", "run", "certify", "replay"] {
        let help = place.run(&["help", command]).ended(0).out;
        assert!(help.contains("Examples:") && help.contains("--json"), "{help}");
    }
    assert!(place.run(&["--version"]).ended(0).out.starts_with("vouch "));
    assert!(place.run(&[]).ended(2).err.contains("Usage"));
}

/// `vouch … | head`: nobody reads to the end.
#[cfg(unix)]
#[test]
fn a_closed_pipe_is_no_reason_to_complain() {
    let place = pump();
    for args in [&["inspect", "pump.vch"][..], &["check", "pump.vch"][..], &["--help"][..]] {
        let mut command = place.command(&[]);
        let mut child =
            command.args(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        let output = child.wait_with_output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{args:?}");
        assert!(output.status.code().is_some_and(|c| c < 2), "{args:?}: {}", output.status);
    }
}

/// Ctrl-C is an answer too: nothing is known.
#[cfg(unix)]
#[test]
fn an_interrupt_ends_cleanly() {
    use std::time::{Duration, Instant};
    let place = pump();
    // It takes four billion steps to break this.
    place.write(
        "hard.vch",
        "machine hard {\n var x: u32 = 0;\n initial state S { else { x += 1; } }\n \
         property early: always x != 4_000_000_000;\n}\n",
    );
    for target in [&["check", "hard.vch"][..], &["run", "hard.vch", "--target", "sim"][..]] {
        let flags = ["--json", "--timeout", "60"];
        let large: &[&str] = if target[0] == "run" { &["--sim-ram", "64M"] } else { &[] };
        let mut command = place.command(&[]);
        command.args(target).args(flags).args(large);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(Duration::from_millis(1500));
        let start = Instant::now();
        let id = child.id().to_string();
        assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{text}");
        let json: Value = serde_json::from_str(&text).unwrap();
        assert_eq!(json["reason"], "cancelled", "{json}");
        assert!(start.elapsed() < Duration::from_secs(20));
    }
}

#[test]
fn a_proof_can_be_packed_into_the_image() {
    let place = pump();
    // Not all is safe: nothing is written.
    let refused = place.run(&["compile", "pump.vch", "--with-certificate"]).ended(1);
    assert!(refused.err.contains("no image is written"), "{}", refused.err);
    assert!(!place.path("pump.vimg").exists());
    let bound = ["--with-certificate", "--bind", "limit=12"];
    let packed = place.run(&[&["compile", "pump.vch"][..], &bound].concat()).ended(0);
    assert!(packed.out.contains("certificate of"), "{}", packed.out);
    let json =
        place.run(&[&["compile", "pump.vch", "--json"][..], &bound].concat()).ended(0).json();
    assert!(json["certificate"]["bytes"].as_u64().unwrap() > 0, "{json}");
    // It holds for the value that it was made for, and not for all.
    let valid = place.run(&["certify", "pump.vimg", "--bind", "limit=12"]).ended(0);
    assert!(valid.out.contains("pump: safe"), "{}", valid.out);
    place.run(&["certify", "pump.vimg", "--bind", "limit=13"]).ended(5);
    place.run(&["certify", "pump.vimg"]).ended(5);
    // The rest of the image is what it was.
    place.run(&["check", "pump.vimg"]).ended(1);
    place.run(&["run", "pump.vimg", "--target", "sim", "--bind", "limit=12"]).ended(0);
    place.run(&["compile", "pump.vch", "-o", "bare.vimg"]).ended(0);
    let none = place.run(&["certify", "bare.vimg"]).ended(2);
    assert!(none.err.contains("--with-certificate"), "{}", none.err);
    place.run(&["compile", "pump.vch", "--bind", "limit=12"]).ended(2);
}

#[test]
fn texts_are_formatted() {
    let place = pump();
    let ugly = PUMP.replace("    ", "\t").replace(" = 0", "=0");
    place.write("ugly.vch", &ugly);
    let differs = place.run(&["fmt", "--check", "pump.vch", "ugly.vch"]).ended(1);
    assert!(
        differs.err.contains("ugly.vch") && !differs.err.contains("pump.vch"),
        "{}",
        differs.err
    );
    assert_eq!(place.bytes("ugly.vch"), ugly.as_bytes());
    assert_eq!(place.run(&["fmt", "--stdout", "ugly.vch"]).ended(0).out, PUMP);
    let json = place.run(&["fmt", "ugly.vch", "pump.vch", "--json"]).ended(0).json();
    assert_eq!((&json["changed"], &json["files"][0]["changed"]), (&1.into(), &true.into()));
    assert_eq!(place.bytes("ugly.vch"), PUMP.as_bytes());
    place.run(&["fmt", "--check", "ugly.vch"]).ended(0);
    // Nothing is written if one of the files cannot be read.
    place.write("ugly.vch", &ugly);
    place.write("wrong.vch", "machine m {");
    let wrong = place.run(&["fmt", "ugly.vch", "wrong.vch"]).ended(2);
    assert!(wrong.err.contains("wrong.vch:1:"), "{}", wrong.err);
    assert_eq!(place.bytes("ugly.vch"), ugly.as_bytes());
    assert_eq!(place.run(&["fmt", "-"]).ended(0).out, "");
}

#[test]
fn an_error_is_told_once() {
    let place = pump();
    place.write("wrong.vch", PUMP.replace("timer <= 12", "timr <= 12"));
    let wrong = place.run(&["check", "wrong.vch"]).ended(2);
    assert_eq!(wrong.err.matches("there is no variable `timr`").count(), 1, "{}", wrong.err);
    assert!(wrong.err.contains("wrong.vch:13:") && wrong.err.contains("did you mean `timer`?"));
}

/// In `Low` nothing is possible once `n` is 3, and `never_armed` waits for something that never is.
const STUCK: &str = "\
machine stuck {
    input go: bool;
    var n: u2 = 0;
    var armed: bool = false;
    initial state Low {
        on go && n < 3 { n += 1; armed = false; }
    }
    property never_armed: always armed => n < 3;
}
";

#[test]
fn what_should_be_known_of_a_model_is_told() {
    let place = pump();
    place.write("stuck.vch", STUCK);
    let check = place.run(&["check", "stuck.vch"]).ended(0);
    assert!(check.err.contains("never_armed holds vacuously"), "{}", check.err);
    assert!(place.run(&["check", "stuck.vch", "-q"]).ended(0).err.is_empty());
    let json = place.run(&["check", "stuck.vch", "--json"]).ended(0).json();
    assert!(json["warnings"][0].as_str().unwrap().contains("stuck.vch:8:34: warning"), "{json}");
    let lint = place.run(&["lint", "stuck.vch", "--trace", "stuck.trace"]).ended(1);
    assert!(lint.out.contains("deadlock in Low"), "{}", lint.out);
    assert!(lint.out.contains("2 warnings"), "{}", lint.out);
    assert!(place.path("stuck.trace").exists());
    let json = place.run(&["lint", "stuck.vch", "--json"]).ended(1).json();
    assert_eq!((json["warnings"].as_array().unwrap().len(), &json["open"]), (2, &0.into()));
    place.run(&["lint", "pump.vch"]).ended(0);
    place.run(&["compile", "stuck.vch"]).ended(0);
    place.run(&["lint", "stuck.vimg"]).ended(2);
}

#[test]
fn machines_are_drawn() {
    let place = pump();
    let drawn = place.run(&["inspect", "pump.vch", "--svg"]).ended(0).out;
    assert!(drawn.starts_with("<svg ") && drawn.ends_with("</svg>\n"), "{drawn}");
    for text in ["Idle", "Running", "!water", "timer == limit", "short", "always timer &lt;= 12"] {
        assert!(drawn.contains(text), "{text}: {drawn}");
    }
    // What is done, too.
    assert!(drawn.contains("/ timer = 0"), "{drawn}");
    // From an image the same, and into a file.
    place.run(&["compile", "pump.vch"]).ended(0);
    place.run(&["inspect", "pump.vimg", "--svg", "-o", "pump.svg"]).ended(0);
    assert_eq!(place.bytes("pump.svg"), drawn.as_bytes());
    place.run(&["inspect", "pump.vch", "-o", "pump.txt"]).ended(2);
    place.run(&["inspect", "pump.vch", "--svg", "--dot"]).ended(2);
}

#[test]
fn a_run_of_several_machines_is_a_sequence_chart() {
    let two = "machine left { var sent: bool = false; initial state Rest { on !sent -> Told { sent = true; } } state Told {} }
machine right { initial state Wait { on left.sent -> Heard; } state Heard {} }
system both = sync(left, right);
property deaf: never in right.Heard;
";
    let place = Place::new(&[("two.vch", two), ("pump.vch", PUMP)]);
    place.run(&["check", "two.vch", "-q", "--trace", "two.svg"]).ended(1);
    let chart = place.read("two.svg");
    assert!(chart.starts_with("<svg ") && chart.ends_with("</svg>\n"), "{chart}");
    for text in
        [">left<", ">right<", ">Told<", ">Heard<", ">left.sent = true<", "on left.sent -&gt; Heard"]
    {
        assert!(chart.contains(text), "{text}: {chart}");
    }
    assert_eq!(chart.matches("class=\"message\"").count(), 1, "{chart}");
    // What a function reads is received by who calls it.
    let called = two.replace(
        "machine right { initial state Wait { on left.sent ",
        "machine right { fn told() -> bool { left.sent } initial state Wait { on told() ",
    );
    std::fs::write(place.path("called.vch"), called).unwrap();
    place.run(&["check", "called.vch", "-q", "--trace", "called.svg"]).ended(1);
    let chart = place.read("called.svg");
    assert!(chart.contains(">left.sent = true<") && chart.contains("on told()"), "{chart}");
    place.run(&["check", "two.vch", "-q", "--html", "two.html"]).ended(1);
    assert!(place.read("two.html").contains("<h2>Who moved</h2>"));
    let said = place.run(&["check", "pump.vch", "-q", "--trace", "pump.svg"]).ended(2).err;
    assert!(said.contains("a sequence chart is of several machines"), "{said}");
}
