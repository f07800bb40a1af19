//! What the user allows is kept: time, memory, and a stop, in every phase; and what cannot be read or written
//! is said.

use serde_json::Value;
use std::fmt::Write;
use std::fs;
use std::net::TcpListener;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use vouch_host::deadline::{Deadline, Over};
use vouch_host::engines::{Engine, Setup};
use vouch_host::frontend::{Language, Source};
use vouch_host::ir::PropertyId;
use vouch_host::judge::{Finding, Question, Reason, judge_simplified};
use vouch_host::pipeline;
use vouch_host::verdict::Verdict;

/// What a busy machine may add to the time that is promised.
const SLACK: Duration = Duration::from_secs(3);

struct Ended {
    code: Option<i32>,
    out: String,
    err: String,
    time: Duration,
}

impl Ended {
    /// Ended with this code, at most so many seconds after the start.
    #[track_caller]
    fn with(self, code: i32, seconds: u64) -> Ended {
        let Ended { out, err, time, .. } = &self;
        assert_eq!(self.code, Some(code), "stdout:\n{out}\nstderr:\n{err}");
        assert!(*time < Duration::from_secs(seconds) + SLACK, "{time:?}\n{out}\n{err}");
        self
    }
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.out).unwrap()
    }
}

struct Place(tempfile::TempDir);

impl Place {
    fn with(files: &[(&str, &str)]) -> Place {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            fs::write(folder.path().join(name), text).unwrap();
        }
        Place(folder)
    }
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }
    fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_vouch"));
        command.args(args).current_dir(self.0.path());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("VOUCH_") {
                command.env_remove(name);
            }
        }
        command
    }
    fn run(&self, args: &[&str]) -> Ended {
        let start = Instant::now();
        let output = self.command(args).output().unwrap();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ended {
            code: output.status.code(),
            out: text(&output.stdout),
            err: text(&output.stderr),
            time: start.elapsed(),
        }
    }
}

/// A macro of 10^12 words.
fn macros() -> String {
    let mut text = "#define A0 1+1+1+1+1+1+1+1+1+1\n".to_string();
    for i in 1..12 {
        let parts = vec![format!("A{}", i - 1); 10].join("+");
        writeln!(text, "#define A{i} {parts}").unwrap();
    }
    text + "int main(void) { return A11; }\n"
}

/// Any element of a large array may become any other.
fn array(elements: usize) -> String {
    format!(
        "unsigned __VERIFIER_nondet_uint(void); void reach_error(void);
         int a[{elements}];
         int main(void) {{
             unsigned i = __VERIFIER_nondet_uint();
             while (1) {{
                 unsigned j = __VERIFIER_nondet_uint();
                 if (i < {elements} && j < {elements}) {{ a[i] = a[j] + 1; i = a[i]; }}
                 if (a[7] == 3) reach_error();
             }}
         }}"
    )
}

/// Structs of structs, twice as large each.
fn structs() -> String {
    let mut text = "typedef struct { char a, b; } t0;\n".to_string();
    for i in 1..30 {
        writeln!(text, "typedef struct {{ t{} a, b; }} t{i};", i - 1).unwrap();
    }
    text + "void reach_error(void); t29 x; int main(void) { t29 y = x; if (y.a.a.a.a.a.b.a.b.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a.a) reach_error(); return 0; }\n"
}

/// One product of very wide words.
fn product() -> String {
    "1 sort bitvec 4096\n2 sort bitvec 1\n3 input 1\n4 input 1\n5 state 1\n6 mul 1 3 4\n7 next 1 5 6\n\
     8 constd 1 7\n9 eq 2 5 8\n10 bad 9\n"
        .into()
}

/// Factors of a prime: the search does not come to an end.
const FACTORS: &str = "
    machine factors {
        input a: u24;
        input b: u24;
        var product: u48 = 0;
        initial state Run { else { product = (a as u48) * (b as u48); } }
        property prime: always product != 140737488355213;
    }
";

#[test]
fn the_preprocessor_ends_in_time() {
    let place =
        Place::with(&[("m.c", &macros()), ("zero.c", "#include \"/dev/zero\"\nint main(void) {}")]);
    let ended = place.run(&["check", "m.c", "--timeout", "1", "--json"]).with(3, 1);
    let json = ended.json();
    assert_eq!((&json["verdict"], &json["reason"]), (&"unknown".into(), &"timeout".into()));
    assert!(json["detail"].as_str().unwrap().contains("preprocessing"), "{json}");
    // It has an end of its own, or that of the memory that it may have.
    let ended = place.run(&["check", "zero.c", "--timeout", "1"]);
    assert!(matches!(ended.code, Some(2 | 3)), "{}", ended.err);
    assert!(ended.time < Duration::from_secs(1) + SLACK);
}

#[test]
fn passes_and_gates_end_in_time() {
    let place = Place::with(&[
        ("array.c", &array(20_000)),
        ("structs.c", &structs()),
        ("product.btor2", &product()),
    ]);
    for file in ["array.c", "structs.c", "product.btor2"] {
        let ended = place.run(&["check", file, "--timeout", "1"]).with(3, 1);
        assert!(ended.out.contains("unknown (timeout)"), "{file}: {}", ended.out);
    }
}

#[test]
fn all_commands_end_in_time() {
    let place = Place::with(&[("m.c", &macros()), ("x.cert", ""), ("x.trace", "")]);
    let commands: [&[&str]; 7] = [
        &["compile", "m.c"],
        &["inspect", "m.c"],
        &["export", "m.c", "--to", "smt2"],
        &["lint", "m.c"],
        &["certify", "m.c", "x.cert"],
        &["replay", "m.c", "x.trace"],
        &["run", "m.c", "--target", "sim"],
    ];
    for command in commands {
        let ended = place.run(&[command, &["--timeout", "0.5"]].concat()).with(3, 1);
        assert!((ended.out + &ended.err).contains("preprocessing"), "{command:?}");
    }
}

#[test]
fn the_engine_and_the_device_end_in_time() {
    let place = Place::with(&[("factors.vch", FACTORS)]);
    let ended = place.run(&["check", "factors.vch", "--timeout", "1"]).with(3, 1);
    // The first step is the hard one: nothing can be said of it.
    assert!(!ended.out.contains("no violation within"), "{}", ended.out);
    let easy = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/watchdog.vch");
    let ended = place.run(&["check", easy, "--budget", "5000"]).with(3, 10);
    assert!(ended.out.contains("budget, no violation within "), "{}", ended.out);
    let sim = ["run", "factors.vch", "--target", "sim", "--sim-ram", "8M", "--timeout", "1"];
    place.run(&sim).with(3, 1);
}

#[cfg(unix)]
#[test]
fn what_never_ends_is_not_read_for_ever() {
    let place = Place::with(&[]);
    assert!(Command::new("mkfifo").arg(place.path("f.vch")).status().unwrap().success());
    let ended = place.run(&["check", "f.vch", "--timeout", "1"]).with(3, 1);
    assert!(ended.err.contains("reading f.vch"), "{}", ended.err);
    let ended = place.run(&["check", "/dev/zero", "--lang", "vch"]).with(2, 10);
    assert!(ended.err.contains("256 MiB"), "{}", ended.err);
}

#[cfg(unix)]
#[test]
fn a_signal_ends_every_phase() {
    let place =
        Place::with(&[("m.c", &macros()), ("array.c", &array(20_000)), ("factors.vch", FACTORS)]);
    for (file, signal) in [("m.c", "-TERM"), ("array.c", "-INT"), ("factors.vch", "-TERM")] {
        let child = place.command(&["check", file, "--json"]).spawn().unwrap();
        std::thread::sleep(Duration::from_secs(1));
        let start = Instant::now();
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(start.elapsed() < Duration::from_secs(1) + SLACK, "{file}");
        assert_eq!(output.status.code(), Some(3), "{file}");
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["reason"], "cancelled", "{file}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn memory_has_an_end() {
    let place = Place::with(&[("array.c", &array(20_000))]);
    let ended = place.run(&["check", "array.c", "--max-rss", "60M", "--json"]).with(3, 20);
    let json = ended.json();
    assert_eq!(json["reason"], "capacity", "{json}");
    assert!(json["detail"].as_str().unwrap().contains("--max-rss"), "{json}");
    assert!(json["process_bytes"].as_u64().unwrap() < 200 << 20, "{json}");
}

/// More time would not help.
#[test]
fn a_device_that_never_says_who_it_is_does_not_answer() {
    let text =
        "machine small { var n: u8 = 0; initial state Run { on n < 9 -> Run { n += 1; } else { } }
                property low: always n <= 9; }";
    let place = Place::with(&[("small.vch", text)]);
    place.run(&["keygen", "-o", "key"]).with(0, 10);
    // The system takes the connection, and nobody ever says anything.
    let nobody = TcpListener::bind("127.0.0.1:0").unwrap();
    let target = format!("tcp:{}", nobody.local_addr().unwrap());
    let commands: [&[&str]; 3] = [
        &["run", "small.vch"],
        &["provision", "key.pub"],
        &["flash", "small.vch", "--sign", "key"],
    ];
    for command in commands {
        let args = [command, &["--target", &target, "--timeout", "2"]].concat();
        let ended = place.run(&args).with(4, 2);
        assert!(ended.err.contains("does not answer"), "{command:?}: {}", ended.err);
        assert!(!ended.err.contains("--timeout"), "{command:?}: {}", ended.err);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_is_an_error() {
    let text =
        "machine small { var n: u8 = 0; initial state Run { on n < 9 -> Run { n += 1; } else { } }
                property low: always n <= 9; }";
    let place = Place::with(&[("small.vch", text)]);
    // Without the full disk all is well.
    place.run(&["check", "small.vch", "--certificate", "f.vcert"]).with(0, 30);
    place.run(&["certify", "small.vch", "f.vcert"]).with(0, 30);
    let commands: &[&[&str]] = &[
        &["check", "small.vch"],
        &["check", "small.vch", "--json"],
        &["check", "small.vch", "--quiet"],
        &["check", "nowhere.vch", "--json"],
        &["run", "small.vch", "--target", "sim"],
        &["run", "small.vch", "--target", "sim", "--json"],
        &["certify", "small.vch", "f.vcert"],
        &["certify", "small.vch", "f.vcert", "--json"],
        &["compile", "small.vch", "-o", "f.vimg"],
        &["compile", "small.vch", "-o", "f.vimg", "--json"],
        &["inspect", "small.vch"],
        &["inspect", "small.vch", "--json"],
        &["lint", "small.vch"],
        &["lint", "small.vch", "--json"],
        &["fmt", "--stdout", "small.vch"],
        &["fmt", "small.vch", "--json"],
        &["matrix", "small.vch"],
        &["matrix", "small.vch", "--json"],
        &["tests", "small.vch"],
        &["export", "small.vch", "--to", "dot"],
        &["completions", "bash"],
        &["init", "--force"],
        &["keygen", "-o", "one"],
        &["keygen", "-o", "two", "--json"],
        &["provision", "one.pub", "--target", "sim"],
        &["provision", "one.pub", "--target", "sim", "--json"],
        &["export", "small.vch", "--to", "smt2"],
        &["list"],
        &["list", "--json"],
        &["--help"],
        &["--version"],
        &["check", "--wrong", "--json"],
    ];
    for command in commands {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = place.command(command).stdout(full).output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command:?}: {said}");
        assert!(said.contains("cannot write to standard output"), "{command:?}: {said}");
    }
}

#[test]
fn errors_in_long_lines_are_shown() {
    let text = format!("machine m {{ {} wrong }}", " ".repeat(70_000));
    let place = Place::with(&[
        ("long.vch", &text),
        ("long.c", &format!("{} int x = ;", " ".repeat(70_000))),
    ]);
    for file in ["long.vch", "long.c"] {
        let ended = place.run(&["check", file]).with(2, 5);
        assert!(ended.err.contains(":1:700"), "{}", ended.err);
    }
}

/// One property is as hard as factoring, one is trivial, one is broken after a while.
#[test]
fn a_hard_property_does_not_spoil_the_others() {
    let text = "
        machine mixed {
            input a: u24;
            input b: u24;
            var product: u48 = 0;
            var n: u8 = 0;
            var odd: u32 = 0xFFFFFFFF;
            initial state Run {
                else {
                    product = (a as u48) * (b as u48);
                    odd = odd * 1664525 + 1013904223;
                    n += 1;
                }
            }
            property hard: always product != 140737488355213;
            property square: always odd * odd != 3;
            property soon: always n < 5;
        }
    ";
    let place = Place::with(&[("mixed.vch", text)]);
    let args = ["check", "mixed.vch", "--timeout", "10", "--json", "--certificate", "m.cert"];
    let json = place.run(&args).with(1, 10).json();
    let verdict = |at: usize| json["properties"][at]["verdict"].as_str().unwrap().to_string();
    assert_eq!([0, 1, 2].map(verdict), ["unknown", "safe", "unsafe"], "{json}");
    // Of several properties, time is left after the search: for this, too.
    assert_eq!(json["shortest"], true, "{json}");
    // What is proved alone is proved: by a certificate that is valid by itself.
    place.run(&["certify", "mixed.vch", "m.cert", "--property", "square"]).with(0, 10);
}

#[test]
fn thousands_of_terms_are_read_at_once() {
    let text = "machine m { var n: u8 = 0; initial state S { on n < 5 { n += 1; } }
                property p: always n <= 5; }";
    let place = Place::with(&[("m.vch", text)]);
    place.run(&["check", "m.vch", "--certificate", "m.cert"]).with(0, 5);
    let certificate = fs::read_to_string(place.path("m.cert")).unwrap();
    let at = certificate.find("\nat ").unwrap() + 1;
    let (head, tail) = certificate.split_at(at);
    let terms = "term eq n 3\n".repeat(5000);
    fs::write(place.path("many.cert"), format!("{head}{terms}{tail}")).unwrap();
    place.run(&["certify", "m.vch", "many.cert"]).with(0, 5);
    // Each term has the one before twice: the names would fill all memory.
    let mut nested = "term add n n\n".to_string();
    let mut name = "n + n".to_string();
    for _ in 0..40 {
        writeln!(nested, "term add \"{name}\" \"{name}\"").unwrap();
        name = format!("{name} + {name}");
        if name.len() > 1 << 18 {
            break;
        }
    }
    fs::write(place.path("deep.cert"), format!("{head}{nested}{tail}")).unwrap();
    let ended = place.run(&["certify", "m.vch", "deep.cert"]).with(5, 5);
    assert!(ended.err.contains("nested too deeply"), "{}", ended.err);
}

/// What the engine has found is told even if there is no time to check it, but not as a verdict.
#[test]
fn what_cannot_be_checked_in_time_is_unknown() {
    let text = "machine m { var n: u8 = 0; initial state S { on n < 5 { n += 1; } }
                property p: always n <= 5; property q: always n < 5; }";
    let source = Source { path: "m.vch".into(), text: text.into() };
    let model = pipeline::compile(source, Language::Vch, &pipeline::Options::default()).unwrap();
    let answer = Engine::default().run(&model.image, &Setup::default(), &mut |_| true).unwrap();
    let properties = vec![PropertyId(0), PropertyId(1)];
    let question = Question { properties, ..Question::default() };
    let judge = || {
        let pipeline::Loaded { cfa, simplified, map, .. } = &model;
        judge_simplified(cfa, simplified, map, &question, &answer, true)
    };
    let late = Deadline::after(Some(Duration::ZERO)).enter(judge).unwrap();
    let reason = Reason::Unchecked { claim: Verdict::Safe, over: Over::Timeout };
    assert_eq!(reason.to_string(), "validation ran out of time; the engine has found it safe");
    assert_eq!(late.findings[0].1, Finding::Unknown(reason));
    assert!(late.certificate.is_none());
    let in_time = judge();
    assert_eq!(in_time.findings[0].1, Finding::Safe);
    assert_eq!(in_time.findings[1].1.verdict(), Verdict::Unsafe);
}

/// For how many steps a property is said to hold counts the steps of the model, whatever passes make of them:
/// each run that breaks it is longer.
#[test]
fn steps_are_those_of_the_model() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut broken = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if !path.to_string_lossy().ends_with("-broken.vch") {
            continue;
        }
        for passes in ["all", "none"] {
            let passes = Some(passes.parse().unwrap());
            let options = pipeline::Options { passes, ..pipeline::Options::default() };
            let Ok(model) = pipeline::load(&path, &options) else { continue };
            let pipeline::Loaded { cfa, simplified, map, .. } = &model;
            for p in 0..cfa.properties.len() as u32 {
                let setup = Setup { property: Some(p), budget: 1_000_000, ..Setup::default() };
                let answer = Engine::default().run(&model.image, &setup, &mut |_| true).unwrap();
                if answer.traces.is_empty() {
                    continue;
                }
                let properties = vec![PropertyId(p)];
                let question = Question { properties, ..Question::default() };
                let judged = judge_simplified(cfa, simplified, map, &question, &answer, true);
                if let Finding::Unsafe(run) = &judged.findings[0].1 {
                    broken += 1;
                    let steps = run.trace.steps.len();
                    assert!((answer.steps[p as usize] as usize) < steps, "{path:?}: {steps}");
                }
            }
        }
    }
    assert!(broken > 10, "{broken}");
}
