//! `vouch rig` on emulated boards: all goes well, one fails, one loses its power, one is gone; killed and resumed; slow lines.
#![cfg(unix)]

use crate::bench::{self, Board, Trouble};
use crate::place::{self, Output, PUMP, Place};
use serde_json::Value;
use std::fs;
use std::process::{Command, Stdio};
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// A folder with the pump and a rig.
fn lab(rig: &str) -> Place {
    Place::new(&[("pump.vch", PUMP), ("rig.toml", rig)])
}

/// The program, which finds the boards' firmware.
fn command(place: &Place, args: &[&str]) -> Command {
    let mut command = place.command(args);
    if let Some(folder) = bench::firmware() {
        command.env("VOUCH_FIRMWARE_DIR", fs::canonicalize(folder).unwrap());
    }
    command
}

fn run(place: &Place, args: &[&str]) -> Output {
    place::ended(&mut command(place, args))
}

fn device(name: &str, target: &str, more: &str) -> String {
    format!("[[device]]\nname = \"{name}\"\ntarget = \"{target}\"\n{more}\n")
}

/// The state, verdict and number of attempts of each job.
fn rows(result: &Value) -> Vec<(String, String, String, u64)> {
    let text = |v: &Value| v.as_str().unwrap_or("-").to_string();
    let row = |r: &Value| {
        (text(&r["job"]), text(&r["state"]), text(&r["verdict"]), r["attempts"].as_u64().unwrap())
    };
    result["rows"].as_array().unwrap().iter().map(row).collect()
}

fn row(job: &str, state: &str, verdict: &str, attempts: u64) -> (String, String, String, u64) {
    (job.into(), state.into(), verdict.into(), attempts)
}

/// Simulated devices: models with parameters and expectations, reports, history.
#[test]
fn models_times_parameters_times_devices() {
    let rig = device("a", "sim", "")
        + &device("b", "sim", "sim-ram = 20000")
        + "\
[[model]]
file = \"pump.vch\"
parameters = [{ limit = 5 }, { limit = 14 }]
[[model]]
file = \"pump.vch\"
name = \"open\"
expect = \"unsafe\"
devices = [\"b\"]
";
    let place = lab(&rig);
    let reports = ["--junit", "rig.xml", "--html", "rig.html"];
    let first =
        run(&place, &[&["rig", "rig.toml", "--json"][..], &reports].concat()).ended(1).json();
    assert_eq!(
        rows(&first),
        [
            row("a/pump/limit=5/prove", "passed", "safe", 1),
            row("a/pump/limit=14/prove", "failed", "unsafe", 1),
            row("b/pump/limit=5/prove", "passed", "safe", 1),
            row("b/pump/limit=14/prove", "failed", "unsafe", 1),
            row("b/open/prove", "passed", "unsafe", 1),
        ]
    );
    let xml = place.read("rig.xml");
    assert!(xml.contains("tests=\"5\" failures=\"2\" errors=\"0\""), "{xml}");
    assert!(xml.contains("short is broken"), "{xml}");
    let page = place.read("rig.html");
    assert!(
        page.contains("<td class=\"failed\">failed</td><td>pump</td><td>limit=14</td>"),
        "{page}"
    );
    // The next run is compared with this one.
    assert_eq!(first["changes"].as_array().unwrap().len(), 0);
    place.write("pump.vch", PUMP.replace("timer <= 12", "timer <= 14"));
    let second = run(&place, &["rig", "rig.toml"]).ended(1);
    assert!(second.out.contains("a/pump/limit=14/prove: failed → passed"), "{}", second.out);
    assert!(second.out.contains("b/open/prove: passed → failed"), "{}", second.out);
    assert!(second.err.contains("passed   a/pump/limit=5/prove  safe"), "{}", second.err);
}

/// The model that a device has stored; one that has none, or another one, says so.
#[test]
fn a_stored_model_is_checked() {
    let rig = device("full", "sim", "flash-file = \"full.bin\"")
        + &device("empty", "sim", "flash-file = \"empty.bin\"")
        + "[[model]]\nfile = \"pump.vch\"\nparameters = [{ limit = 5 }]\nmodes = [\"stored\"]\n";
    let place = lab(&rig);
    let full = ["--target", "sim", "--flash-file", "full.bin"];
    run(&place, &["keygen", "-o", "key"]).ended(0);
    run(&place, &[&["provision", "key.pub"][..], &full].concat()).ended(0);
    run(&place, &["compile", "pump.vch", "--sign", "key", "-o", "pump.vimg"]).ended(0);
    run(&place, &[&["flash", "pump.vimg"][..], &full].concat()).ended(0);
    let result = run(&place, &["rig", "--json"]).ended(4).json();
    assert_eq!(
        rows(&result),
        [
            row("full/pump/limit=5/stored", "passed", "safe", 1),
            row("empty/pump/limit=5/stored", "error", "-", 2),
        ]
    );
    let reason = |result: &Value, at: usize| result["rows"][at]["reason"].to_string();
    assert!(reason(&result, 1).contains("no model is stored"), "{result}");
    place.write("pump.vch", PUMP.replace("timer <= 12", "timer <= 11"));
    let result = run(&place, &["rig", "--json", "--fresh"]).ended(4).json();
    assert_eq!(rows(&result)[0].1, "error", "{result}");
}

/// A part of the devices each, and all together.
#[test]
fn parts_are_merged() {
    let rig = device("a", "sim", "") + &device("b", "sim", "") + &device("c", "sim", "");
    let place = lab(&(rig + "[[model]]\nfile = \"pump.vch\"\nparameters = [{ limit = 5 }]\n"));
    // At the same time, with one history.
    std::thread::scope(|scope| {
        for (part, devices) in [("1/2", 2), ("2/2", 1)] {
            let place = &place;
            scope.spawn(move || {
                let output = run(place, &["rig", "--shard", part, "--json"]).ended(0);
                assert_eq!(output.json()["rows"].as_array().unwrap().len(), devices);
                place.write(&format!("{}.json", &part[..1]), &output.out);
            });
        }
    });
    let merged =
        run(&place, &["merge", "1.json", "2.json", "--json", "--junit", "all.xml"]).ended(0);
    assert_eq!(merged.json()["rows"].as_array().unwrap().len(), 3);
    assert!(place.read("all.xml").contains("tests=\"3\""));
    run(&place, &["merge", "1.json"]).ended(4);
    run(&place, &["merge", "1.json", "1.json"]).ended(5);
}

#[test]
fn a_wrong_file_is_shown_where_it_is_wrong() {
    let good =
        device("a", "sim", "") + "[[model]]\nfile = \"pump.vch\"\nparameters = [{ limit = 5 }]\n";
    for (from, to, expected) in [
        ("target", "traget", "did you mean `target`?"),
        ("limit = 5", "limitt = 5", "did you mean `limit`?"),
        ("limit = 5", "limit = 15", "it can be 3 to 14"),
        ("limit = 5", "limit = 1.5", "a parameter is a number"),
        ("pump.vch", "pomp.vch", "cannot read"),
        ("parameters", "property = \"sort\"\nparameters", "did you mean `short`?"),
    ] {
        let place = lab(&good.replacen(from, to, 1));
        let output = run(&place, &["rig"]).ended(2);
        assert!(output.err.contains(expected), "{}", output.err);
    }
    let place = lab(&good);
    run(&place, &["rig", "none.toml"]).ended(2);
    place.write("rig.sqlite", "something else, which nobody should overwrite or read as results");
    let output = run(&place, &["rig"]).ended(2);
    assert!(output.err.contains("rig.sqlite: the history cannot be used"), "{}", output.err);
}

/// Killed in the middle, the run is resumed: what is there is not done again.
#[test]
fn a_killed_run_is_resumed() {
    let Some(firmware) = bench::firmware() else { return };
    let slow = Trouble { baud: 9600, ..Trouble::default() };
    let board = Board::new("qemu:lm3s6965evb", &firmware, slow);
    let rig = device("slow", &format!("tcp:{}", board.address), "baud = 9600")
        + &device("quick", "sim", "")
        + "[[model]]\nfile = \"pump.vch\"\nparameters = [{ limit = 5 }, { limit = 6 }]\n";
    let place = lab(&rig);
    let mut child = place
        .command(&["rig", "--json"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    // The quick device is done long before the slow one.
    std::thread::sleep(Duration::from_secs(2));
    assert!(child.try_wait().unwrap().is_none(), "it was too quick to be killed");
    child.kill().unwrap();
    child.wait().unwrap();
    let result = run(&place, &["rig", "--json"]).ended(0).json();
    assert!(result["resumed"].as_u64().unwrap() >= 2, "{result}");
    assert_eq!(result["run"], 1);
    assert_eq!(rows(&result).iter().filter(|r| r.1 == "passed").count(), 4);
    // It has ended, so the next one is another.
    assert_eq!(run(&place, &["rig", "--json", "--timeout", "0.5"]).json()["run"], 2);
}

/// A device that is gone, one that talks nonsense, one whose power fails in the middle, and one that is well.
#[test]
fn each_device_fails_by_itself() {
    let Some(firmware) = bench::firmware() else { return };
    let cut = Trouble { power_fails_after: 600, ..Trouble::default() };
    let fails = Board::new("qemu:microbit", &firmware, cut);
    let noise = Board::new("sim", &firmware, Trouble { noise: true, ..Trouble::default() });
    let address = |board: &Board| format!("tcp:{}", board.address);
    let rig = "retries = 1\nquarantine = 2\n".to_string()
        + &device("well", "qemu:lm3s6965evb", "")
        + &device(
            "gone",
            "tcp:127.0.0.1:1",
            "power-cycle = \"echo $VOUCH_DEVICE >> cycled\"\nsettle = 0",
        )
        + &device("power", &address(&fails), "settle = 0")
        + &device("noise", &address(&noise), "")
        + "[[model]]\nfile = \"pump.vch\"\nparameters = [{ limit = 5 }, { limit = 6 }]\n";
    let place = lab(&rig);
    let result = run(&place, &["rig", "--json"]).ended(4).json();
    assert_eq!(
        rows(&result),
        [
            row("well/pump/limit=5/prove", "passed", "safe", 1),
            row("well/pump/limit=6/prove", "passed", "safe", 1),
            // Tried again after a power cycle, then put into quarantine.
            row("gone/pump/limit=5/prove", "error", "-", 2),
            row("gone/pump/limit=6/prove", "skipped", "-", 0),
            // Tried again, and well.
            row("power/pump/limit=5/prove", "passed", "safe", 2),
            row("power/pump/limit=6/prove", "passed", "safe", 1),
            row("noise/pump/limit=5/prove", "error", "-", 2),
            row("noise/pump/limit=6/prove", "skipped", "-", 0),
        ]
    );
    assert_eq!(place.read("cycled"), "gone\n");
    assert_eq!(fails.starts.load(Ordering::Relaxed), 2);
    let reason = |at: usize| result["rows"][at]["reason"].as_str().unwrap().to_string();
    assert!(reason(2).contains("refused"), "{}", reason(2));
    assert!(reason(3).contains("quarantine"), "{}", reason(3));
}

/// A device that proves something else than it was asked for: with `limit = 14` the model is broken, and the proof that comes
/// back is one for `limit = 5`. Nothing that it says counts, and the other device is not troubled by it.
#[test]
fn a_false_proof_is_no_verdict() {
    let firmware = bench::firmware().unwrap_or_default();
    let lies = Trouble { proves_for: Some(5), ..Trouble::default() };
    let liar = Board::new("sim", &firmware, lies);
    let rig = "retries = 1\nquarantine = 9\n".to_string()
        + &device("liar", &format!("tcp:{}", liar.address), "settle = 0")
        + &device("honest", "sim", "")
        + "[[model]]\nfile = \"pump.vch\"\nparameters = [{ limit = 14 }, { limit = 5 }]\n";
    let result = run(&lab(&rig), &["rig", "--json"]).ended(1).json();
    assert_eq!(
        rows(&result),
        [
            row("liar/pump/limit=14/prove", "error", "-", 2),
            // This once it is the truth.
            row("liar/pump/limit=5/prove", "passed", "safe", 1),
            row("honest/pump/limit=14/prove", "failed", "unsafe", 1),
            row("honest/pump/limit=5/prove", "passed", "safe", 1),
        ]
    );
    let reason = result["rows"][0]["reason"].as_str().unwrap();
    assert!(reason.contains("what it says is not true"), "{reason}");
}

/// C with what the project says of it, as for every other command.
#[test]
fn models_are_read_as_their_project_says() {
    let c = "\
#include \"vouch.h\"
static unsigned char level;
void step(void) {
    if (level < LIMIT) level++;
    else level = 0;
    VOUCH_ASSERT(level <= 3);
}
";
    let project = |limit: u32| {
        format!(
            "[[model]]\npath = \"tank.c\"\nentry = \"step\"\nloop = true\ndefine = [\"LIMIT={limit}\"]\n"
        )
    };
    let rig = device("a", "sim", "") + "[[model]]\nfile = \"tank.c\"\n";
    let place = Place::new(&[("tank.c", c), ("vouch.toml", &project(3)), ("rig.toml", &rig)]);
    let output = run(&place, &["rig"]).ended(0);
    assert!(output.err.contains("--define=LIMIT=3"), "{}", output.err);
    // Another project is another rig: nothing is resumed or compared in vain.
    place.write("vouch.toml", project(4));
    let result = run(&place, &["rig", "--json"]).ended(1).json();
    assert_eq!(rows(&result), [row("a/tank/prove", "failed", "unsafe", 1)]);
    // What is wrong with the model is shown there.
    place.write("tank.c", c.replace("level++", "level+"));
    let output = run(&place, &["rig"]).ended(2);
    assert!(output.err.contains("tank.c:4"), "{}", output.err);
}

/// The same eight jobs on one board and on four, behind lines of 9600 baud.
#[test]
fn four_slow_boards_are_as_quick_as_four() {
    let Some(firmware) = bench::firmware() else { return };
    let slow = Trouble { baud: 9600, ..Trouble::default() };
    let boards: Vec<Board> =
        (0..4).map(|_| Board::new("qemu:lm3s6965evb", &firmware, slow)).collect();
    let time = |count: usize| {
        let mut rig = String::new();
        for (i, board) in boards.iter().take(count).enumerate() {
            rig += &device(&format!("d{i}"), &format!("tcp:{}", board.address), "baud = 9600");
        }
        for job in 0..8 {
            let (limit, device) = (4 + job, job % count);
            rig += &format!(
                "[[model]]\nfile = \"pump.vch\"\nname = \"m{job}\"\ndevices = [\"d{device}\"]\n\
                 parameters = [{{ limit = {limit} }}]\n"
            );
        }
        let place = lab(&rig);
        let start = Instant::now();
        let result = run(&place, &["rig", "--json"]).ended(0).json();
        assert_eq!(rows(&result).len(), 8);
        start.elapsed()
    };
    // All are switched on before anything is measured.
    time(4);
    let mut best: f64 = 0.0;
    // A machine that has something else to do meanwhile says nothing.
    for _ in 0..3 {
        let (four, one) = (time(4), time(1));
        let factor = one.as_secs_f64() / four.as_secs_f64();
        println!("one board {one:.1?}, four boards {four:.1?}: {factor:.2} times as quick");
        best = best.max(factor);
        if best >= 3.5 {
            return;
        }
    }
    panic!("four boards are {best:.2} times as quick as one");
}
