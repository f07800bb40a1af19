//! Cost over size, as SVG: a panel for each family, on logarithmic scales.

use super::models::FAMILIES;
use super::{Row, SHORTEST};
use std::fmt::Write as _;

const PANEL: f64 = 300.0;
const MARGIN: f64 = 44.0;
const HEAD: f64 = 28.0;
const COLOURS: [&str; 4] = ["#d62728", "#1f77b4", "#2ca02c", "#9467bd"];
const BOARD: &str = "#ff7f0e";
/// Top of the scale of seconds; that of instructions has as many decades above [`FEWEST`].
const LONGEST: f64 = 100.0;
/// Fewer instructions are not told apart.
const FEWEST: f64 = 1e6;

/// The share of the way up a logarithmic scale of four decades.
fn height(value: f64, least: f64) -> f64 {
    let decades = (LONGEST / SHORTEST).log10();
    ((value.max(least) / least).log10() / decades).min(1.0)
}

/// Seconds of everybody on the left scale, instructions of the board on the right one.
pub fn plot(names: &[String], rows: &[Row]) -> String {
    let (width, tall) = (2.0 * PANEL, 2.0 * PANEL + HEAD);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {tall}\" font-family=\"sans-serif\" \
         font-size=\"11\">\n<rect width=\"{width}\" height=\"{tall}\" fill=\"white\"/>\n"
    );
    let mut x = MARGIN;
    let board = "board (instructions, right)".to_string();
    for (name, colour) in names.iter().zip(COLOURS).chain([(&board, BOARD)]) {
        let _ = writeln!(text, "<text x=\"{x:.0}\" y=\"18\" fill=\"{colour}\">{name}</text>");
        x += 24.0 + 6.0 * name.len() as f64;
    }
    for (at, family) in FAMILIES.iter().enumerate() {
        let own: Vec<&Row> = rows.iter().filter(|r| r.family == family.name).collect();
        let (left, top) = ((at % 2) as f64 * PANEL, HEAD + (at / 2) as f64 * PANEL);
        let (least, most) =
            (f64::from(family.sizes[0]), f64::from(family.sizes[family.sizes.len() - 1]));
        let inner = PANEL - 2.0 * MARGIN;
        let across = |size: u32| {
            left + MARGIN + (f64::from(size) / least).ln() / (most / least).ln() * inner
        };
        let up = |part: f64| top + PANEL - MARGIN - part * inner;
        let _ = writeln!(
            text,
            "<rect x=\"{}\" y=\"{}\" width=\"{inner}\" height=\"{inner}\" fill=\"none\" stroke=\"#888\"/>\n\
             <text x=\"{}\" y=\"{}\" text-anchor=\"middle\">{}</text>",
            left + MARGIN,
            top + MARGIN,
            left + PANEL / 2.0,
            top + PANEL - 10.0,
            family.unit
        );
        for decade in 0..=4 {
            let y = up(f64::from(decade) / 4.0);
            let seconds = SHORTEST * 10f64.powi(decade);
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"end\">{seconds}</text>\n\
                 <text x=\"{:.1}\" y=\"{:.1}\">{:.0e}</text>",
                left + MARGIN - 4.0,
                y + 4.0,
                left + PANEL - MARGIN + 4.0,
                y + 4.0,
                FEWEST * 10f64.powi(decade)
            );
        }
        for size in family.sizes {
            let _ = writeln!(
                text,
                "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"middle\">{size}</text>",
                across(*size),
                top + PANEL - MARGIN + 14.0
            );
        }
        let mut line = |points: Vec<(u32, f64)>, colour: &str| {
            let points: Vec<String> = points
                .iter()
                .map(|(s, part)| format!("{:.1},{:.1}", across(*s), up(*part)))
                .collect();
            let _ = writeln!(
                text,
                "<polyline points=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"1.8\"/>",
                points.join(" ")
            );
        };
        for (at, colour) in (0..names.len()).zip(COLOURS) {
            let seconds =
                own.iter().filter_map(|r| Some((r.size, height(r.seconds[at]?, SHORTEST))));
            line(seconds.collect(), colour);
        }
        let board =
            own.iter().filter_map(|r| Some((r.size, height(r.instructions? as f64, FEWEST))));
        line(board.collect(), BOARD);
    }
    text + "</svg>\n"
}
