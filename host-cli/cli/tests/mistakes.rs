//! Mistakes that people make, and what they are told: the whole list is one snapshot, so that a change of any message is
//! seen by whoever changes it.

use crate::place::{self, Output, Place};
use std::fmt::Write;
use std::process::Command;

/// A model without mistakes.
const WASHER: &str = "\
enum Button { None, Start, Stop }

machine washer {
    param fill_level: u4 in 4..=9;
    input button: Button;
    input warm: bool;
    var level: u4 = 0;
    var timer: u5 = 0;
    var locked: bool = false;

    initial state Idle {
        entry { locked = false; }
        on button == Button::Start -> Fill;
    }
    state Fill {
        entry { locked = true; timer = 0; }
        on button == Button::Stop && !warm -> Drain;
        on level >= fill_level -> Spin;
        else { level += 1; }
    }
    state Spin {
        on timer == 20 -> Drain;
        else { timer += 1; }
    }
    state Drain {
        on level == 0 -> Idle;
        else { level -= 1; }
    }

    property dry_when_open: always level > 0 => locked;
}
";

/// A mistake in it: what was written instead of what.
const EDITS: [(&str, &str); 27] = [
    ("initial state", "inital state"),
    ("var level: u4 = 0;", "var level: u4 = 0"),
    ("-> Fill;", "-> Fill"),
    ("u4 = 0", "u4 = 16"),
    ("level >= fill_level", "level >= timer"),
    ("locked = true", "locked = 1"),
    ("on level == 0", "on level"),
    ("-> Spin", "-> Spinn"),
    ("initial state", "state"),
    ("state Spin", "initial state Spin"),
    ("on level >=", "on levle >="),
    ("Button::Stop", "Button::Stopp"),
    ("Button::Start ->", "Start ->"),
    ("on level == 0", "on level = 0"),
    ("level > 0 =>", "warm =>"),
    ("on timer == 20 -> Drain;", "else { timer += 1; } on timer == 20 -> Drain;"),
    ("else { level += 1; }\n    }", "else { level += 1; }\n"),
    ("always level > 0", "level > 0"),
    ("on level == 0", "on level == 0 and warm"),
    ("timer += 1", "timer++"),
    ("always level > 0 => locked", "G (level > 0 => locked)"),
    ("always level > 0 => locked", "eventually locked"),
    ("always level > 0 => locked", "always level <= 15"),
    ("level += 1", "warm = true"),
    ("var level: u4 = 0;", "uint8_t level = 0;"),
    ("var locked: bool = false;", "output locked bool;"),
    ("        on timer == 20", "        state Inner {\n        }\n        on timer == 20"),
];

/// A program without mistakes.
const CHARGER: &str = "\
#include <stdint.h>
#include \"vouch.h\"

static uint8_t level;
uint8_t read_level(void);

void all_off(void)
{
    level = 0;
}

void charger_step(void)
{
    level += read_level() & 1;
    if (level > 200)
        all_off();
    VOUCH_ASSERT(level <= 200);
}
";

/// What a user has typed so far.
struct Desk {
    place: Place,
    /// What was said, in the order of the list.
    told: String,
}

impl Desk {
    /// Does what is not a mistake.
    fn does(&self, line: &str) {
        let output = self.place.run(&words(line));
        assert!(output.code < 2, "{line}: {}", output.err);
    }

    /// Makes a mistake, and notes what is said.
    fn errs(&mut self, mistake: &str, line: &str) {
        self.errs_with(mistake, line, |_| {});
    }

    fn errs_with(&mut self, mistake: &str, line: &str, set: impl Fn(&mut Command)) {
        let mut command = self.place.command(&words(line));
        set(&mut command);
        let Output { code, err: said, .. } = place::ended(&mut command);
        // Which ports there are, and how keys turn out, differs.
        let said: Vec<&str> =
            said.lines().filter(|l| !l.contains("ports that are there")).collect();
        let said = without_keys(said.join("\n").trim());
        writeln!(self.told, "── {mistake}\n$ vouch {line}   exit code {code}\n{said}\n").unwrap();
    }
}

fn words(line: &str) -> Vec<&str> {
    line.split(' ').collect()
}

/// Fingerprints of keys are left out.
fn without_keys(text: &str) -> String {
    let is_key = |word: &str| {
        let word = word.trim_matches(|c: char| !c.is_ascii_alphanumeric());
        word.len() == 16 && word.chars().all(|c| c.is_ascii_hexdigit())
    };
    let words = text.split_inclusive([' ', '\n']);
    let shown = words.map(|word| match is_key(word) {
        true => format!("…{}", &word[word.trim_end().trim_end_matches(',').len()..]),
        false => word.to_owned(),
    });
    shown.collect()
}

#[test]
fn each_mistake_gets_its_answer() {
    let mut desk = Desk { place: Place::new(&[]), told: String::new() };
    for (right, wrong) in EDITS {
        assert!(WASHER.contains(right), "{right}");
        desk.place.write("washer.vch", WASHER.replacen(right, wrong, 1));
        desk.errs(&format!("{right}  becomes  {wrong}"), "check washer.vch");
    }
    files(&mut desk);
    commands(&mut desk);
    #[cfg(unix)]
    devices(&mut desk);
    stores(&mut desk);
    c(&mut desk);
    insta::assert_snapshot!(desk.told);
}

/// What is not there, or not what it should be.
fn files(desk: &mut Desk) {
    desk.place.write("washer.vch", WASHER);
    desk.place.write("broken.vch", WASHER.replace("on level == 0", "on level <= 1"));
    desk.place.write("empty.vch", "");
    desk.place.write("loose.vch", "var x: bool = false;\n");
    desk.place.write("silent.vch", "machine m { initial state S; }\n");
    desk.errs("an empty file", "check empty.vch");
    desk.errs("no machine", "check loose.vch");
    desk.errs("no property", "check silent.vch");
    desk.errs("no such file", "check missing.vch");
    desk.errs("two models", "check washer.vch broken.vch");
    desk.does("check washer.vch --certificate washer.cert");
    desk.does("check broken.vch --trace broken.trace");
    desk.errs("the certificate of another model", "certify broken.vch washer.cert");
    desk.errs("the run of another model", "replay washer.vch broken.trace");
    desk.place.write("hand.trace", "Idle button=Start\n");
    desk.errs("a run that was written by hand", "replay washer.vch hand.trace");
    desk.does("compile washer.vch -o washer.vimg");
    let place = desk.place.path("washer.vimg");
    let mut bytes = std::fs::read(&place).unwrap();
    bytes[700] ^= 1;
    std::fs::write(desk.place.path("damaged.vimg"), bytes).unwrap();
    desk.errs("a damaged image", "inspect damaged.vimg");
}

/// What was mistyped.
fn commands(desk: &mut Desk) {
    desk.errs("a command", "chekc washer.vch");
    desk.errs("a flag", "check washer.vch --tiemout 3");
    desk.errs("a property", "check washer.vch --property nope");
    desk.errs("a number", "check washer.vch --timeout abc");
    desk.errs("an engine", "check washer.vch --engine magic");
    desk.errs("a pass", "check washer.vch --passes magic");
    desk.errs("a folder for the run", "check broken.vch --trace x/y/z.vcd");
    desk.errs("a parameter", "check washer.vch --bind nope=3");
    desk.errs("a parameter's value", "check washer.vch --bind fill_level=12");
    desk.errs("a parameter without a value", "check washer.vch --bind fill_level");
    desk.errs("a proof of what is not so", "compile broken.vch --with-certificate");
}

#[cfg(unix)]
fn devices(desk: &mut Desk) {
    desk.errs("no target", "run washer.vch");
    desk.errs("an unknown target", "run washer.vch --target qmu:microbit");
    desk.errs("an unknown board", "run washer.vch --target qemu:stm32f4");
    desk.errs("no firmware", "run washer.vch --target qemu:microbit --firmware-dir .");
    desk.place.write("vouch-microbit.elf", "");
    let emulated = "run washer.vch --target qemu:microbit --firmware-dir .";
    desk.errs_with("no QEMU", emulated, |c| _ = c.env("PATH", ""));
    desk.errs("not QEMU", &format!("{emulated} --qemu /bin/true"));
    desk.errs("no such port", "run washer.vch --target serial:/dev/ttyUSB97");
    desk.errs("no chip", "run washer.vch --target probe");
}

/// Signed models on a device.
fn stores(desk: &mut Desk) {
    let sim = "--target sim --flash-file flash.bin";
    desk.does("keygen -o ours");
    desk.does("keygen -o theirs");
    desk.does("compile washer.vch --sign ours --counter 1 -o ours.vimg");
    desk.does("compile washer.vch --sign theirs -o theirs.vimg");
    desk.errs("an option that is for sources", &format!("flash ours.vimg --init begin {sim}"));
    desk.errs("a device without a key", &format!("flash ours.vimg {sim}"));
    desk.errs("a public key that signs", "compile washer.vch --sign ours.pub -o x.vimg");
    desk.errs("a key that exists", "keygen -o ours");
    desk.errs("another signer", "verify theirs.vimg --key ours.pub");
    desk.does(&format!("provision ours.pub {sim}"));
    desk.errs("a second key", &format!("provision theirs.pub {sim}"));
    desk.errs("a key that the device does not trust", &format!("flash theirs.vimg {sim}"));
    desk.errs("no signature", &format!("flash washer.vimg {sim}"));
    desk.errs("nothing stored", &format!("run washer.vch --stored {sim}"));
    desk.does(&format!("flash ours.vimg {sim}"));
    desk.errs("another model than the stored one", &format!("run broken.vch --stored {sim}"));
}

/// Mistakes with C programs.
fn c(desk: &mut Desk) {
    let step = "check charger.c --entry charger_step";
    desk.place.write("charger.c", CHARGER);
    desk.errs("no main", "check charger.c");
    desk.errs("no such function", "check charger.c --entry charge");
    desk.errs("one call of many", step);
    desk.errs_with("no compiler", step, |c| _ = c.env("PATH", ""));
    desk.place.write("charger.c", format!("#include \"stm32f4xx.h\"\n{CHARGER}"));
    desk.errs("a header that is elsewhere", step);
    desk.place.write("charger.c", CHARGER.replace("level = 0;", "level = 0"));
    desk.errs("no semicolon", step);
    desk.place.write(
        "charger.c",
        "static int a[4];\nint get(void);\nvoid f(void) { a[get() & 7] = 1; }\n",
    );
    desk.errs("an index that may be too large", "check charger.c --entry f");
    desk.errs("nothing to claim", "lint charger.c --entry f");
}

#[test]
fn fingerprints_differ_from_day_to_day() {
    assert_eq!(
        without_keys("key 0123456789abcdef, and\nfedcba9876543210\nend"),
        "key …, and\n…\nend"
    );
    assert_eq!(without_keys("0123 abc"), "0123 abc");
}
