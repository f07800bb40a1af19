//! A sweep as a picture: with one parameter a bar for each property, with two a plane.

use super::file::{File, Parameter, Part, Property};
use super::region::Range;
use crate::report::markup::escape;
use crate::verdict::Verdict;
use std::fmt::Write;

const MARGIN: f64 = 24.0;
const BAR: f64 = 720.0;
const THICK: f64 = 26.0;
const PLANE: f64 = 360.0;
/// Between two labels of ends.
const APART: f64 = 44.0;
/// Rectangles that are drawn at most for a property: more is not seen.
const MOST: usize = 20_000;

const STYLE: &str = "\
text{font-family:-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif;fill:#1f2933;font-size:11px}\
.title{font-size:18px;font-weight:600}.name{font-size:13px;font-weight:600}.end{text-anchor:middle;fill:#52606d}\
.left{text-anchor:end;fill:#52606d}.safe{fill:#4c9f70}.unsafe{fill:#c0392b}.unknown{fill:#bcccdc}\
.frame{fill:none;stroke:#829ab1}";

/// The picture; nothing if there are more than two parameters.
pub fn draw(file: &File) -> Option<String> {
    let mut y = MARGIN + 18.0;
    let mut body = String::new();
    let over = file.parameters.iter().map(|p| p.name.clone()).collect::<Vec<_>>().join(" and ");
    let title = escape(&format!("{} over {over}", file.model));
    let _ = writeln!(body, r#"<text class="title" x="{MARGIN}" y="{y}">{title}</text>"#);
    y += 14.0;
    body.push_str(&legend(&mut y));
    for property in &file.properties {
        y += 26.0;
        let name = escape(&property.name);
        let _ = writeln!(body, r#"<text class="name" x="{MARGIN}" y="{y}">{name}</text>"#);
        y += 8.0;
        match &file.parameters[..] {
            [p] => body.push_str(&bar(p, property, &mut y)),
            [p, q] => body.push_str(&plane(p, q, property, &mut y)),
            _ => return None,
        }
    }
    let (width, height) = (BAR + 2.0 * MARGIN, y + MARGIN);
    Some(format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\">\n<style>{STYLE}</style>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n{body}</svg>\n"
    ))
}

fn legend(y: &mut f64) -> String {
    let mut text = String::new();
    *y += 12.0;
    for (i, verdict) in [Verdict::Safe, Verdict::Unsafe, Verdict::Unknown].iter().enumerate() {
        let (x, top) = (MARGIN + 90.0 * i as f64, *y - 10.0);
        let _ = writeln!(
            text,
            r#"<rect class="{verdict}" x="{x}" y="{top}" width="12" height="12"/><text x="{}" y="{y}">{verdict}</text>"#,
            x + 17.0
        );
    }
    text
}

/// Where a range begins and how long it is, of `length` for all values.
fn along(parameter: &Parameter, range: Range, length: f64) -> (f64, f64) {
    let all = parameter.range.size() as f64;
    let start = range.first.abs_diff(parameter.range.first) as f64 / all * length;
    (start, (range.size() as f64 / all * length).max(0.5))
}

/// What a piece says when the pointer is on it.
fn hint(parameters: &[&Parameter], part: &Part) -> String {
    let sides = parameters.iter().zip(&part.values.sides);
    let values = sides.map(|(p, range)| format!("{} = {}", p.name, p.show_range(*range)));
    let why = part.reason.clone().unwrap_or_else(|| part.evidence.join(", "));
    escape(&format!("{}: {}, {why}", values.collect::<Vec<_>>().join(", "), part.verdict))
}

fn bar(parameter: &Parameter, property: &Property, y: &mut f64) -> String {
    let mut text = String::new();
    let ranges =
        || property.ranges.iter().take(MOST).filter_map(|p| Some((p, *p.values.sides.first()?)));
    for (part, range) in ranges() {
        let (start, length) = along(parameter, range, BAR);
        let _ = writeln!(
            text,
            r#"<rect class="{}" x="{:.2}" y="{y:.2}" width="{length:.2}" height="{THICK}"><title>{}</title></rect>"#,
            part.verdict,
            MARGIN + start,
            hint(&[parameter], part)
        );
    }
    let _ = writeln!(
        text,
        r#"<rect class="frame" x="{MARGIN}" y="{y:.2}" width="{BAR}" height="{THICK}"/>"#
    );
    *y += THICK + 14.0;
    // Both ends always, others where there is room.
    let ends = std::iter::once(parameter.range.first)
        .chain(std::iter::once(parameter.range.last))
        .chain(ranges().map(|(_, range)| range.first));
    let mut taken: Vec<f64> = vec![];
    for end in ends {
        let (start, length) = along(parameter, Range { first: end, last: end }, BAR);
        let x = MARGIN + start + length / 2.0;
        if taken.iter().all(|other| (other - x).abs() >= APART) {
            taken.push(x);
            let shown = escape(&parameter.show(end));
            let _ = writeln!(text, r#"<text class="end" x="{x:.2}" y="{y:.2}">{shown}</text>"#);
        }
    }
    text
}

fn plane(p: &Parameter, q: &Parameter, property: &Property, y: &mut f64) -> String {
    let mut text = String::new();
    let left = MARGIN + 60.0;
    for part in property.ranges.iter().take(MOST) {
        let [a, b] = part.values.sides[..] else { continue };
        let ((x, wide), (up, high)) = (along(p, a, PLANE), along(q, b, PLANE));
        let _ = writeln!(
            text,
            r#"<rect class="{}" x="{:.2}" y="{:.2}" width="{wide:.2}" height="{high:.2}"><title>{}</title></rect>"#,
            part.verdict,
            left + x,
            *y + PLANE - up - high,
            hint(&[p, q], part)
        );
    }
    let _ = writeln!(
        text,
        r#"<rect class="frame" x="{left}" y="{y:.2}" width="{PLANE}" height="{PLANE}"/>"#
    );
    let bottom = *y + PLANE;
    for (at, value) in [(bottom, q.range.first), (*y + 10.0, q.range.last)] {
        let shown = escape(&q.show(value));
        let _ =
            writeln!(text, r#"<text class="left" x="{}" y="{at:.2}">{shown}</text>"#, left - 6.0);
    }
    let _ = writeln!(
        text,
        r#"<text class="left" x="{}" y="{:.2}">{}</text>"#,
        left - 6.0,
        *y + PLANE / 2.0,
        escape(&q.name)
    );
    *y += PLANE + 14.0;
    for (x, shown) in [
        (left, p.show(p.range.first)),
        (left + PLANE / 2.0, p.name.clone()),
        (left + PLANE, p.show(p.range.last)),
    ] {
        let _ = writeln!(text, r#"<text class="end" x="{x}" y="{y:.2}">{}</text>"#, escape(&shown));
    }
    text
}
