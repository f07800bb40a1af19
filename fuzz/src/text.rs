//! Texts that the host reads and shows: traces, certificates, keys, and places in a source.

use crate::source;
use std::sync::LazyLock;
use vouch_host::engines::{Engine, Setup};
use vouch_host::frontend::{self, Diagnostic, Language, Source};
use vouch_host::ir::{Cfa, PropertyId, Span};
use vouch_host::judge::{Finding, Question, judge_simplified};
use vouch_host::pipeline::{self, Loaded};
use vouch_host::signing::{self, SecretKey};
use vouch_host::validate::replay;
use vouch_host::words::Words;
use vouch_host::{formats, report};

const PUMP: &str = "\
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

/// The model that traces and certificates are of.
static MODEL: LazyLock<Loaded> = LazyLock::new(|| {
    let source = Source { path: "pump.vch".into(), text: PUMP.into() };
    let options = pipeline::Options::default();
    pipeline::compile(source, Language::Vch, &options).expect("the model is right")
});

/// A trace or a certificate. What is read is written to the same again, and a run can be shown.
pub fn trace(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let cfa: &Cfa = &MODEL.cfa;
    match formats::certificate::parse(cfa, text) {
        Ok(_) => {}
        Err(error) => drop(error.to_string()),
    }
    let trace = match formats::trace::parse(cfa, text) {
        Ok((_, trace)) => trace,
        Err(error) => return drop(error.to_string()),
    };
    if let Ok(text) = formats::trace::write(cfa, &trace, None) {
        let again = formats::trace::parse(cfa, &text).map(|(_, trace)| trace);
        assert_eq!(again.as_ref(), Ok(&trace), "{text}");
    }
    match replay(cfa, &trace) {
        Ok(run) => {
            let words = Words::new(cfa, Some(&MODEL.source), &MODEL.moves);
            let _ = report::json::trace(cfa, &words, &run);
            let _ = report::vcd::write(cfa, &words, &run, &mut Vec::new());
        }
        Err(error) => drop(error.to_string()),
    }
}

/// A file that should hold a key. What is read is written to the same again.
pub fn key(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    match SecretKey::read(text) {
        Ok(key) => {
            let again = SecretKey::read(&key.write());
            assert!(again.is_ok_and(|again| again.public() == key.public()));
        }
        Err(error) => drop(error.to_string()),
    }
    match signing::read_public(text) {
        Ok(key) => assert_eq!(signing::read_public(&signing::write_public(&key)), Ok(key)),
        Err(error) => drop(error.to_string()),
    }
}

pub fn key_seeds() -> Vec<Vec<u8>> {
    // Not one that anybody has: the seeds are the same each time.
    let texts = ["vouch-secret-key 1\n", "vouch-public-key 1\n"];
    let long = "00112233445566778899aabbccddeeff".repeat(2);
    let mut seeds: Vec<Vec<u8>> = texts.map(|t| format!("{t}{long}\n").into_bytes()).to_vec();
    seeds.push(signing::write_public(&[9; 32]).into_bytes());
    seeds
}

/// Any text, shown with any places marked in it. The first bytes are numbers: how many blanks come first, and
/// where the places are.
pub fn diagnostic(data: &[u8]) {
    let Some((numbers, text)) = data.split_at_checked(16) else { return };
    let numbers: Vec<u32> = numbers
        .chunks_exact(4)
        .filter_map(|bytes| Some(u32::from_le_bytes(bytes.try_into().ok()?)))
        .collect();
    let [blanks, start, length, other] = numbers[..] else { return };
    // Lines may be long, wherever the place is.
    let blanks = blanks as usize % 200_000;
    let text = format!("{}{}", " ".repeat(blanks), String::from_utf8_lossy(text));
    let source = Source { path: "fuzz.vch".into(), text };
    let near = |n: u32| n.wrapping_rem(source.text.len() as u32 + 20);
    for (start, end) in [
        (start, start.wrapping_add(length)),
        (near(start), near(start).saturating_add(length % 300)),
        (blanks as u32, blanks as u32 + length % 9),
    ] {
        let place = |start, end| Span { start, end };
        let diagnostic = Diagnostic::error("wrong", place(start, end), "here")
            .related(place(near(other), near(other).saturating_add(1)), "and\nthere")
            .help("mend it");
        for colours in [false, true] {
            let shown = frontend::render_with(&source, std::slice::from_ref(&diagnostic), colours);
            assert!(shown.contains("wrong"), "{shown}");
        }
    }
}

pub fn diagnostic_seeds() -> Vec<Vec<u8>> {
    let numbers = |all: [u32; 4]| all.into_iter().flat_map(u32::to_le_bytes).collect::<Vec<u8>>();
    let texts =
        ["machine m {\n\tvar x: u8 = ü;\r\n}\n", "", "\u{2028}\u{202e}x\u{0}\x1b[2J", "日本"];
    let places = [[0, 14, 3, 0], [70_000, 70_002, 5, 9], [3, u32::MAX, 1, u32::MAX], [0, 5, 0, 30]];
    let mut seeds = vec![];
    for text in texts {
        seeds.extend(places.map(|p| [numbers(p), text.as_bytes().to_vec()].concat()));
    }
    seeds.extend(
        source::texts("", "vch", 1)
            .iter()
            .map(|t| [numbers([0, 300, 40, 700]), t.clone().into_bytes()].concat()),
    );
    seeds
}

pub fn trace_seeds() -> Vec<Vec<u8>> {
    let Loaded { cfa, simplified, map, image, .. } = &*MODEL;
    let Ok(answer) = Engine::default().run(image, &Setup::default(), &mut |_| true) else {
        return vec![];
    };
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    let question = Question { properties, ..Question::default() };
    let judged = judge_simplified(cfa, simplified, map, &question, &answer, true);
    let mut texts: Vec<Option<String>> = judged
        .findings
        .iter()
        .map(|(_, finding)| match finding {
            Finding::Unsafe(broken) => formats::trace::write(cfa, &broken.trace, None).ok(),
            _ => None,
        })
        .collect();
    let proof = judged.certificate;
    texts.push(proof.and_then(|proof| formats::certificate::write(cfa, &proof, None).ok()));
    texts.into_iter().flatten().map(String::into_bytes).collect()
}
