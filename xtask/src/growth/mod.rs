//! `cargo xtask bench-growth`: what it costs when a model grows, on the host and on a board, compared with the peers that are
//! installed.
//!
//! - [`models`]: the models, each family of which grows in one direction.
//! - [`plot`]: time and instructions over size.
//!
//! The record is `benches/record/growth.tsv`; picture and table of `docs/results.md` are computed from it (`--draw` does only that).

mod models;
mod plot;

use crate::race::limit::Limits;
use crate::race::peer::{self, Answer, Racer};
use crate::race::suite::Problem;
use crate::{boards, demo, figures, firmware, project, record, setup, shell};
use anyhow::{Context, Result, bail};
use models::{FAMILIES, Family};
use serde_json::Value;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Who is measured along with vouch, if it is installed.
const PEERS: [&str; 2] = ["abc", "ric3"];

/// What is asked.
struct Asked {
    /// CPU seconds for each host engine, and seconds of wall-clock time for the board.
    seconds: u64,
    /// Only families whose name holds this.
    filter: String,
    /// Where peers are that are not on the path.
    places: Vec<(String, PathBuf)>,
}

/// One model, and what it cost.
#[derive(Clone, PartialEq, Debug)]
struct Row {
    family: String,
    size: u32,
    state_bits: u64,
    locations: u64,
    image_bytes: u64,
    /// CPU seconds of vouch and of the peers; none if it was not decided.
    seconds: Vec<Option<f64>>,
    /// Instructions of the proof on the board; none if it does not prove it.
    instructions: Option<u64>,
    /// The most bytes that the proof had on the board.
    peak_bytes: Option<u64>,
}

/// Measures all families, and writes record, picture and page.
pub fn task(args: &[String]) -> Result<()> {
    if args == ["--draw"] {
        return draw();
    }
    let asked = parse(args)?;
    setup::run()?;
    shell::stage("host tool", demo::build_tool)?;
    let board = boards::default();
    firmware::build(std::slice::from_ref(board))?;
    let mut racers = vec![peer::auto()];
    for name in PEERS {
        let place = asked.places.iter().find(|p| p.0 == name).map(|p| p.1.as_path());
        match peer::find(name, place)? {
            Some(racer) => racers.push(racer),
            None => eprintln!("skipped: {name} is not installed (or say --peer {name}=PATH)"),
        }
    }
    let folder = project::target().join("growth");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("{} cannot be made", folder.display()))?;
    let mut rows = vec![];
    for family in FAMILIES.iter().filter(|f| f.name.contains(&asked.filter)) {
        // What took too long once takes longer when it is larger.
        let mut still = vec![true; racers.len() + 1];
        for size in family.sizes {
            let row = measure(family, *size, &racers, &board.name, &asked, &folder, &mut still)?;
            eprintln!("   {}", line(&row).replace('\t', "  "));
            rows.push(row);
        }
    }
    if !asked.filter.is_empty() {
        return Ok(());
    }
    let names: Vec<String> = racers.iter().map(|r| r.name.to_owned()).collect();
    let head = format!(
        "# cargo xtask bench-growth; {}; CPU seconds with everything from reading the file on, at most {} s each, one run;\n\
         # {}; instructions and peak_bytes: of the proof on {} in QEMU with -icount shift=0\n",
        record::build()?,
        asked.seconds,
        racers.iter().map(|r| format!("{} {}", r.name, r.version)).collect::<Vec<_>>().join(", "),
        board.name
    );
    let columns = format!(
        "family\tsize\tstate_bits\tlocations\timage_bytes\t{}\tinstructions\tpeak_bytes\n",
        names.join("\t")
    );
    let lines: String = rows.iter().map(|row| line(row) + "\n").collect();
    record::write("growth.tsv", &format!("{head}{columns}{lines}"))?;
    draw()
}

/// Writes picture and page from the record.
fn draw() -> Result<()> {
    let (names, rows) =
        read(&record::read("growth.tsv")).context("growth.tsv is not such a record")?;
    let picture = project::root().join("docs/pictures/growth.svg");
    std::fs::write(&picture, plot::plot(&names, &rows))
        .with_context(|| format!("{} cannot be written", picture.display()))?;
    let page = project::root().join("docs/results.md");
    let text = std::fs::read_to_string(&page)
        .with_context(|| format!("{} cannot be read", page.display()))?;
    let text = figures::between(&text, "growth", &factors(&names, &rows))?;
    std::fs::write(&page, text).with_context(|| format!("{} cannot be written", page.display()))
}

/// A record: whose times it has, and its rows.
fn read(text: &str) -> Option<(Vec<String>, Vec<Row>)> {
    let mut lines =
        text.lines().filter(|l| !l.starts_with('#')).map(|l| l.split('\t').collect::<Vec<_>>());
    let columns = lines.next()?;
    let last = columns.len().checked_sub(2).filter(|last| *last > 5)?;
    let row = |cells: Vec<&str>| {
        if cells.len() != columns.len() {
            return None;
        }
        Some(Row {
            family: cells[0].into(),
            size: cells[1].parse().ok()?,
            state_bits: cells[2].parse().ok()?,
            locations: cells[3].parse().ok()?,
            image_bytes: cells[4].parse().ok()?,
            seconds: cells[5..last].iter().map(|c| c.parse().ok()).collect(),
            instructions: cells[last].parse().ok(),
            peak_bytes: cells[last + 1].parse().ok(),
        })
    };
    let names = columns[5..last].iter().map(|c| (*c).to_owned()).collect();
    Some((names, lines.map(row).collect::<Option<Vec<Row>>>()?))
}

fn parse(args: &[String]) -> Result<Asked> {
    let usage = || {
        shell::Usage("bench-growth [--timeout S] [--filter FAMILY] [--peer NAME=PATH], or bench-growth --draw".into())
    };
    let mut asked = Asked { seconds: 60, filter: String::new(), places: vec![] };
    let mut args = args.iter();
    while let Some(flag) = args.next() {
        let value = args.next().ok_or_else(usage)?;
        match flag.as_str() {
            "--timeout" => asked.seconds = value.parse().map_err(|_| usage())?,
            "--filter" => asked.filter = value.clone(),
            "--peer" => {
                let (name, path) = value.split_once('=').ok_or_else(usage)?;
                asked.places.push((name.into(), path.into()));
            }
            _ => return Err(usage().into()),
        }
    }
    Ok(asked)
}

/// Makes a model and has it decided by everybody who was not too slow for the size before.
fn measure(
    family: &Family,
    size: u32,
    racers: &[Racer],
    board: &str,
    asked: &Asked,
    folder: &Path,
    still: &mut [bool],
) -> Result<Row> {
    let name = format!("{}-{size}", family.name);
    let path = folder.join(format!("{name}.vch"));
    std::fs::write(&path, (family.model)(size))
        .with_context(|| format!("{} cannot be written", path.display()))?;
    let inspected =
        shell::output(Command::new(project::tool()).args(["inspect", "--json"]).arg(&path))?;
    let sizes = serde_json::from_str::<Value>(&inspected)?["sizes"].clone();
    let number =
        |name: &str| sizes[name].as_u64().with_context(|| format!("{name} of {}", path.display()));
    let problem = Problem::of(&name, &path, folder);
    let limits = Limits { seconds: asked.seconds, bytes: 4 << 30 };
    let mut seconds = vec![];
    for (racer, still) in racers.iter().zip(still.iter_mut()) {
        let mut taken = None;
        if *still {
            match racer.run(&problem, &limits)? {
                (Answer::Safe, time) => taken = Some(time),
                (Answer::Unknown, _) => *still = false,
                (Answer::Unsafe, _) => bail!("{} finds {name} unsafe", racer.name),
            }
        }
        seconds.push(taken);
    }
    let on_board = match still.last_mut() {
        Some(still) if *still => {
            let json = run_on(board, &path, asked.seconds)?;
            *still = json["verdict"] == "safe";
            still.then(|| (json["device"]["instructions"].as_u64(), json["peak_bytes"].as_u64()))
        }
        _ => None,
    };
    Ok(Row {
        family: family.name.into(),
        size,
        state_bits: number("state_bits")?,
        locations: number("locations")?,
        image_bytes: number("image_bytes")?,
        seconds,
        instructions: on_board.and_then(|b| b.0),
        peak_bytes: on_board.and_then(|b| b.1),
    })
}

/// What a check on the emulated board says.
fn run_on(board: &str, path: &Path, seconds: u64) -> Result<Value> {
    let mut command = Command::new(project::tool());
    command.current_dir(project::root()).arg("run").arg(path).arg("--json");
    command.args(["--target", &format!("qemu:{board}"), "--timeout", &seconds.to_string()]);
    let output = command.output().context("the tool cannot be started")?;
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_str(&text).with_context(|| {
        format!("{}: {}", shell::line(&command), String::from_utf8_lossy(&output.stderr))
    })
}

fn cell<T>(value: Option<T>, show: impl Fn(T) -> String) -> String {
    value.map_or_else(|| "-".into(), show)
}

/// A row of the record.
fn line(row: &Row) -> String {
    let mut text = format!(
        "{}\t{}\t{}\t{}\t{}",
        row.family, row.size, row.state_bits, row.locations, row.image_bytes
    );
    for seconds in &row.seconds {
        let _ = write!(text, "\t{}", cell(*seconds, |s| format!("{s:.2}")));
    }
    let _ = write!(
        text,
        "\t{}\t{}",
        cell(row.instructions, |n| n.to_string()),
        cell(row.peak_bytes, |n| n.to_string())
    );
    text
}

/// A hundredth of a second is what starting a process takes; less is not told apart.
const SHORTEST: f64 = 0.01;

/// For each family: the largest size that each decides, and the exponent with which its time grows up to there.
fn factors(names: &[String], rows: &[Row]) -> String {
    let mut text = format!(
        "| what grows | {} | board |\n|---|{}---|\n",
        names.join(" | "),
        "---|".repeat(names.len())
    );
    for family in &FAMILIES {
        let own: Vec<&Row> = rows.iter().filter(|r| r.family == family.name).collect();
        let mut cells = vec![];
        for at in 0..names.len() {
            let points = own.iter().filter_map(|r| Some((r.size, r.seconds[at]?.max(SHORTEST))));
            cells.push(growth(&points.collect::<Vec<_>>(), |s| format!("{s:.2} s")));
        }
        let points = own.iter().filter_map(|r| Some((r.size, r.instructions? as f64)));
        cells.push(growth(&points.collect::<Vec<_>>(), |n| format!("{:.1} M", n / 1e6)));
        let _ = writeln!(text, "| {} | {} |", family.unit, cells.join(" | "));
    }
    text
}

/// The largest size, its cost, and the exponent between the last two sizes that are a factor of two or more apart.
fn growth(points: &[(u32, f64)], show: impl Fn(f64) -> String) -> String {
    let Some((size, cost)) = points.last() else { return "—".into() };
    let before = points.iter().rev().find(|(s, _)| s * 2 <= *size);
    let exponent = before.map(|(s, c)| (cost / c).ln() / (f64::from(*size) / f64::from(*s)).ln());
    let grows = exponent.map_or_else(String::new, |e| format!(", grows as n^{:.1}", e.max(0.0)));
    format!("{size} in {}{grows}", show(*cost))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exponent_is_that_of_the_largest_sizes() {
        let show = |s: f64| format!("{s:.0} s");
        assert_eq!(
            growth(&[(1, 1.0), (10, 2.0), (100, 200.0)], show),
            "100 in 200 s, grows as n^2.0"
        );
        assert_eq!(growth(&[(10, 2.0)], show), "10 in 2 s");
        assert_eq!(growth(&[], show), "—");
    }

    /// The page says what the record says, and the picture shows it.
    #[test]
    fn page_and_picture_are_those_of_the_record() {
        let (names, rows) = read(&record::read("growth.tsv")).unwrap();
        assert!(rows.len() >= 20 && !names.is_empty());
        let root = project::root();
        let page = std::fs::read_to_string(root.join("docs/results.md")).unwrap();
        assert_eq!(figures::between(&page, "growth", &factors(&names, &rows)).unwrap(), page);
        let picture = std::fs::read_to_string(root.join("docs/pictures/growth.svg")).unwrap();
        assert_eq!(plot::plot(&names, &rows), picture);
    }
}
