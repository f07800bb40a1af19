//! The cactus plot: how many problems each racer solves within which time.

use super::report::Results;
use std::fmt::Write as _;

const WIDTH: f64 = 720.0;
const HEIGHT: f64 = 420.0;
const MARGIN: f64 = 56.0;
const COLOURS: [&str; 6] = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd", "#ff7f0e", "#8c564b"];
/// Shorter times are not told apart.
const SHORTEST: f64 = 0.01;

/// The plot as SVG: solved problems to the right, seconds for each upwards, on a logarithmic scale.
pub fn cactus(results: &Results<'_>) -> String {
    let most = results.suite.problems.len().max(1) as f64;
    let longest = (results.limits.seconds as f64).max(1.0);
    let x = |solved: f64| MARGIN + solved / most * (WIDTH - 2.0 * MARGIN);
    let y = |seconds: f64| {
        let part = (seconds.max(SHORTEST) / SHORTEST).ln() / (longest / SHORTEST).ln();
        HEIGHT - MARGIN - part.min(1.0) * (HEIGHT - 2.0 * MARGIN)
    };
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" \
         font-family=\"sans-serif\" font-size=\"12\">\n\
         <rect width=\"{WIDTH}\" height=\"{HEIGHT}\" fill=\"white\"/>\n\
         <text x=\"{MARGIN}\" y=\"24\" font-size=\"14\">{}: problems solved, each within so many \
         seconds of CPU time</text>\n",
        results.suite.name
    );
    let mut line = |x1: f64, y1: f64, x2: f64, y2: f64| {
        let _ = writeln!(
            text,
            "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"#ccc\"/>"
        );
    };
    let marks: Vec<f64> = [0.01, 0.1, 1.0, 10.0, 100.0, 1000.0]
        .into_iter()
        .filter(|s| *s < longest)
        .chain([longest])
        .collect();
    for seconds in &marks {
        line(x(0.0), y(*seconds), x(most), y(*seconds));
    }
    line(x(0.0), y(SHORTEST), x(0.0), y(longest));
    let step = (most / 6.0).ceil().max(1.0) as usize;
    for seconds in &marks {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{seconds}</text>",
            x(0.0) - 6.0,
            y(*seconds) + 4.0
        );
    }
    for solved in (0..=most as usize).step_by(step) {
        let _ = writeln!(
            text,
            "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{solved}</text>",
            x(solved as f64),
            HEIGHT - MARGIN + 18.0
        );
    }
    for (r, racer) in results.racers.iter().enumerate() {
        let colour = COLOURS[r % COLOURS.len()];
        let times = results.times(r);
        let points =
            times.iter().enumerate().map(|(i, s)| format!("{:.1},{:.1}", x(i as f64 + 1.0), y(*s)));
        let points: Vec<String> = points.collect();
        let _ = writeln!(
            text,
            "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>\n\
             <text x=\"{:.1}\" y=\"{:.1}\" fill=\"{colour}\">{} ({})</text>",
            points.join(" "),
            x(0.0) + 12.0,
            MARGIN + 4.0 + 16.0 * r as f64,
            racer.name,
            times.len(),
        );
    }
    text + "</svg>\n"
}
