//! The summary of a check for people.

use super::json::{Device, Outcome, PropertyOutcome};
use super::{Paint, Style, count};
use crate::escape;
use crate::verdict::Verdict;
use unicode_width::UnicodeWidthStr;

/// The summary of a check: the verdict, each property, and the cost.
pub fn summary(outcome: &Outcome, style: &Style) -> String {
    let mut text = String::new();
    let model = escape::text(outcome.model.as_deref().unwrap_or("the model"));
    let verdict = style.paint_verdict(outcome.verdict, &outcome.verdict.to_string());
    text.push_str(&format!("{}: {verdict}", style.paint(Paint::Heading, &model)));
    if let Some(reason) = &outcome.reason {
        text.push_str(&format!(" ({reason})"));
    }
    text.push('\n');
    let names: Vec<String> = outcome.properties.iter().map(|p| escape::text(&p.name)).collect();
    let widest = names.iter().map(|n| n.width()).max().unwrap_or(0);
    for (p, name) in outcome.properties.iter().zip(&names) {
        let blanks = " ".repeat(widest.min(48).saturating_sub(name.width()));
        let verdict = style.paint_verdict(p.verdict, &format!("{:7}", p.verdict));
        let why = because(p, outcome.validated);
        let ids = match &p.requirements[..] {
            [] => String::new(),
            ids => format!("  [{}]", escape::text(&ids.join(", "))),
        };
        let line = format!("  {name}{blanks}  {verdict}  {why}{ids}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    for (title, line) in numbers(outcome, style) {
        text.push_str(&format!("  {title:8}{line}\n"));
    }
    text
}

/// What a verdict on a property rests on, or why there is none.
pub fn because(p: &PropertyOutcome, validated: bool) -> String {
    if let (Verdict::Safe, Some(steps)) = (p.verdict, p.executed) {
        return format!("the only run ends after {}", count(steps as usize, "step"));
    }
    match (p.verdict, validated) {
        (Verdict::Safe, true) => "invariant checked".to_string(),
        (Verdict::Safe, false) => "invariant not checked".to_string(),
        (Verdict::Unsafe, validated) => {
            let run = p.trace_len.map_or("run".into(), |n| format!("run of {}", count(n, "step")));
            let run = match p.shortest {
                Some(true) => format!("{run} (no run is shorter)"),
                Some(false) => format!("{run} (a shorter one may exist)"),
                None => run,
            };
            match (&p.replayed, validated) {
                (Some(on), _) => format!("{run}, replayed on the program in QEMU ({on})"),
                (None, true) => format!("{run}, replayed"),
                (None, false) => format!("{run}, not replayed"),
            }
        }
        (Verdict::Unknown, _) => {
            let steps =
                p.safe_steps.map(|n| format!("no violation within {}", count(n as usize, "step")));
            let parts: Vec<String> =
                p.reason.iter().map(ToString::to_string).chain(steps).collect();
            parts.join(", ")
        }
    }
}

/// The cost, as far as it is known.
fn numbers(outcome: &Outcome, style: &Style) -> Vec<(&'static str, String)> {
    let mut lines = vec![];
    let mut engine = outcome.engine.clone().unwrap_or_default();
    if let Some(target) = &outcome.target {
        engine.push_str(&format!(" on {target}"));
    }
    if let Some(time) = outcome.time_s {
        engine.push_str(&format!(", {}", duration(time)));
    }
    let engine = engine.trim_start_matches([',', ' ']);
    if !engine.is_empty() {
        lines.push(("engine", engine.to_string()));
    }
    let work = [
        outcome.frontier.map(|n| format!("frontier {}", grouped(n))),
        outcome.lemmas.map(|n| format!("{} lemmas", grouped(n))),
        outcome.queries.map(|n| format!("{} queries", grouped(n))),
        outcome.conflicts.map(|n| format!("{} conflicts", grouped(n))),
    ];
    let work: Vec<String> = work.into_iter().flatten().collect();
    if !work.is_empty() && style.counters {
        lines.push(("work", work.join(", ")));
    }
    if let Some(bytes) = outcome.peak_bytes.filter(|_| style.counters || outcome.device.is_some()) {
        lines.push(("memory", format!("{} at most", size(bytes))));
    }
    // A device's work is not done by this process.
    if let Some(bytes) =
        outcome.process_bytes.filter(|_| outcome.device.is_none() && style.counters)
    {
        lines.push(("process", format!("{} at most", size(bytes))));
    }
    if let Some(Device { board, ram_bytes, flash_bytes, instructions, .. }) = &outcome.device {
        let parts = [
            board.clone(),
            ram_bytes.map(|n| format!("{} RAM", size(n))),
            flash_bytes.map(|n| format!("{} flash", size(n))),
            instructions.map(|n| format!("{} instructions", grouped(n))),
        ];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        if !parts.is_empty() {
            lines.push(("device", parts.join(", ")));
        }
    }
    let holds = outcome.device.as_ref().and_then(|d| d.certificate_holds);
    if let Some(holds) = holds {
        let line = match holds {
            true => "the stored certificate, checked again on the device",
            false => "searched for: the stored certificate does not answer this",
        };
        lines.push(("proof", line.into()));
    }
    lines
}

/// A number with its digits in groups of three.
pub fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// A size in bytes: `640 bytes`, `12.5 KiB`, `64 KiB`.
pub fn size(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..1024 => return format!("{bytes} bytes"),
        1024..0x10_0000 => (1024.0, "KiB"),
        _ => (1_048_576.0, "MiB"),
    };
    let number = format!("{:.1}", bytes as f64 / unit);
    format!("{} {name}", number.strip_suffix(".0").unwrap_or(&number))
}

/// A time: `340 us`, `12 ms`, `1.25 s`, `3 min 20 s`.
pub fn duration(seconds: f64) -> String {
    match seconds {
        s if !s.is_finite() || s < 0.0 => "no time".to_string(),
        s if s < 0.001 => format!("{:.0} us", s * 1e6),
        s if s < 1.0 => format!("{:.0} ms", s * 1e3),
        s if s < 60.0 => format!("{s:.2} s"),
        s => format!("{:.0} min {:.0} s", (s / 60.0).floor(), s % 60.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn property(name: &str, verdict: Verdict, trace_len: Option<usize>) -> PropertyOutcome {
        PropertyOutcome { name: name.into(), verdict, trace_len, ..PropertyOutcome::default() }
    }

    #[test]
    fn a_summary() {
        let outcome = Outcome {
            verdict: Verdict::Unsafe,
            engine: Some("ic3".into()),
            target: Some("qemu:lm3s6965evb".into()),
            time_s: Some(0.0123),
            frontier: Some(4),
            lemmas: Some(12),
            queries: Some(1345),
            conflicts: Some(0),
            peak_bytes: Some(12_800),
            validated: true,
            device: Some(Device {
                board: Some("lm3s6965evb".into()),
                ram_bytes: Some(65536),
                flash_bytes: None,
                instructions: Some(12_345_678),
                ..Device::default()
            }),
            model: Some("precharge".into()),
            properties: vec![
                property("never_both", Verdict::Safe, None),
                PropertyOutcome {
                    requirements: vec!["REQ-1".into(), "REQ-2".into()],
                    ..property("in_time", Verdict::Unsafe, Some(1))
                },
                property("rest", Verdict::Unknown, None),
            ],
            ..Outcome::default()
        };
        let counters = Style { counters: true, ..Style::default() };
        let text = summary(&outcome, &counters);
        insta::assert_snapshot!(text);
        assert!(text.lines().all(|l| l.trim_end() == l));
        let coloured = summary(&outcome, &Style { colour: true, ..Style::default() });
        assert!(coloured.contains("\x1b[32msafe   \x1b[0m"));
    }

    #[test]
    fn what_is_not_known_is_not_told() {
        let outcome =
            Outcome { reason: Some(crate::verdict::Reason::Timeout), ..Outcome::default() };
        assert_eq!(summary(&outcome, &Style::default()), "the model: unknown (timeout)\n");
    }

    #[test]
    fn numbers_are_readable() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1 000", "1 234 567"]);
        assert_eq!([5, 1024, 1536, 0x20_0000].map(size), ["5 bytes", "1 KiB", "1.5 KiB", "2 MiB"]);
        let times = [0.00034, 0.012, 1.25, 200.0, f64::NAN].map(duration);
        assert_eq!(times, ["340 us", "12 ms", "1.25 s", "3 min 20 s", "no time"]);
    }
}
