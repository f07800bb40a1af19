//! `--stats`: what each pass has removed.

use vouch_host::pipeline::Loaded;
use vouch_host::simplify::{PassStats, Size};

/// A table with a row for each pass.
pub fn table(model: &Loaded) -> String {
    let stats = &model.simplified.stats;
    let Some(first) = stats.first() else {
        return "no pass was run: an image is simplified already, or all passes are off\n".into();
    };
    let names = first.before.columns().map(|c| c.0);
    let mut text = format!("{:<10}", "pass");
    names.iter().for_each(|n| text.push_str(&format!("  {n:>13}")));
    text.push_str("        time\n");
    text.push_str(&row("", &first.before, None, ""));
    for PassStats { pass, before, after, time } in stats {
        let time = format!("{:>9.1} ms", time.as_secs_f64() * 1e3);
        text.push_str(&row(pass.name(), after, Some(before), &time));
    }
    text
}

/// Numbers, with how they have changed.
fn row(name: &str, size: &Size, before: Option<&Size>, time: &str) -> String {
    let mut text = format!("{name:<10}");
    for (i, (_, now)) in size.columns().into_iter().enumerate() {
        let was = before.map_or(now, |b| b.columns()[i].1);
        let change = match now as i64 - was as i64 {
            0 => String::new(),
            change => format!("{change:+} "),
        };
        text.push_str(&format!("  {:>13}", format!("{change}{now}")));
    }
    format!("{} {time}", text).trim_end().to_string() + "\n"
}
