//! Figures in `docs/device.md` and `docs/elf.md`: computed from the records of `bench-device`, `bench-update` and
//! `bench-elf`.
//!
//! A task that measures puts its table between the lines of the page that name it; a test compares the page with
//! the records.

use crate::{project, record};
use anyhow::{Context, Result};
use std::path::PathBuf;

/// A page with another text between the lines `<!-- table NAME -->` and `<!-- end NAME -->`.
pub fn between(page: &str, name: &str, text: &str) -> Result<String> {
    let (begin, end) = (format!("<!-- table {name} -->\n"), format!("<!-- end {name} -->\n"));
    let parts = page.split_once(&begin).and_then(|(head, rest)| {
        let (_, tail) = rest.split_once(&end)?;
        Some(format!("{head}{begin}{text}{end}{tail}"))
    });
    parts.with_context(|| format!("the page has no lines `{}`", begin.trim_end()))
}

/// Puts the figures of a record into the page.
pub fn write(name: &str) -> Result<()> {
    let path = page_of(name);
    let page = std::fs::read_to_string(&path)
        .with_context(|| format!("{} cannot be read", path.display()))?;
    std::fs::write(&path, with_figures(&page, name)?)
        .with_context(|| format!("{} cannot be written", path.display()))
}

/// The page that the figures of a record are in.
fn page_of(name: &str) -> PathBuf {
    let page = if name == "elf.tsv" { "elf" } else { "device" };
    project::root().join(format!("docs/{page}.md"))
}

fn with_figures(page: &str, name: &str) -> Result<String> {
    let figures = match name {
        "device.tsv" => boot(&Table::new(&record::read(name))),
        "elf.tsv" => names(&Table::new(&record::read(name))),
        _ => update(&Table::new(&record::read(name))),
    };
    between(page, name, &figures)
}

/// A record: its columns, and the cells of each row.
struct Table {
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    fn new(text: &str) -> Table {
        let cells = |line: &str| line.split('\t').map(str::to_owned).collect::<Vec<String>>();
        let mut lines = text.lines().filter(|line| !line.starts_with('#')).map(cells);
        Table { columns: lines.next().unwrap_or_default(), rows: lines.collect() }
    }

    /// The numbers of a column in the rows where other columns have these values.
    fn numbers(&self, column: &str, of: &[(&str, &str)]) -> Vec<f64> {
        let cell = |row: &[String], name: &str| {
            let at = self.columns.iter().position(|c| c == name)?;
            row.get(at).cloned()
        };
        let is_one = |row: &&Vec<String>| {
            of.iter().all(|(name, value)| cell(row, name).as_deref() == Some(value))
        };
        let chosen = self.rows.iter().filter(is_one);
        chosen.filter_map(|row| cell(row, column)?.parse().ok()).collect()
    }
}

/// From the least to the greatest of some numbers.
fn range(numbers: &[f64], show: impl Fn(f64) -> String) -> String {
    let least = numbers.iter().copied().reduce(f64::min);
    let greatest = numbers.iter().copied().reduce(f64::max);
    match (least.map(&show), greatest.map(&show)) {
        (Some(least), Some(greatest)) if least == greatest => least,
        (Some(least), Some(greatest)) => format!("{least} to {greatest}"),
        _ => "—".into(),
    }
}

fn greatest(numbers: &[f64], show: impl Fn(f64) -> String) -> String {
    numbers.iter().copied().reduce(f64::max).map_or("—".into(), |n| format!("up to {}", show(n)))
}

fn millions(n: f64) -> String {
    match n / 1e6 {
        n if n >= 100.0 => format!("{n:.0} million"),
        n if n >= 10.0 => format!("{n:.1} million"),
        n => format!("{n:.2} million"),
    }
}

fn kib(bytes: f64) -> String {
    format!("{:.1} KiB", bytes / 1024.0)
}

fn grouped(n: f64) -> String {
    let digits = format!("{n:.0}");
    match digits.len() {
        0..=4 => digits,
        length => format!("{} {}", &digits[..length - 3], &digits[length - 3..]),
    }
}

const M3: (&str, &str) = ("board", "lm3s6965evb");
const M0: (&str, &str) = ("board", "microbit");
const SAFE: (&str, &str) = ("verdict", "Safe");

/// What a start costs.
fn boot(record: &Table) -> String {
    let mut text = String::from(
        "| | image | RAM | instructions, Cortex-M3 | Cortex-M0 |\n|---|---|---|---|---|\n",
    );
    let mut row = |what: &str, image: &str, ram: &str, cells: [String; 2]| {
        text += &format!("| {what} | {image} | {ram} | {} | {} |\n", cells[0], cells[1]);
    };
    let boards = [M3, M0];
    let packages = range(&record.numbers("package_bytes", &[]), kib);
    let signature = boards.map(|b| range(&record.numbers("signature", &[b]), millions));
    row(
        &format!("signature and hash of a package of {packages}"),
        "",
        "9 KiB of stack, borrowed",
        signature,
    );
    let validation = boards.map(|b| greatest(&record.numbers("validation", &[b]), millions));
    row("validation of its image", "", "", validation);
    for model in ["flight-failsafe", "infusion-pump"] {
        for (mode, what) in [
            ("certificate", format!("self-check of `{model}` by certificate")),
            ("proof", "the same by proof".into()),
        ] {
            let of = |board| [("model", model), ("mode", mode), SAFE, board];
            let image = range(&record.numbers("image_bytes", &of(M3)), kib);
            let ram = range(&record.numbers("check_bytes", &of(M3)), kib);
            let check = boards.map(|b| match &record.numbers("check", &of(b))[..] {
                [] => "not in its RAM".into(),
                numbers => range(numbers, millions),
            });
            row(&what, &image, &ram, check);
        }
    }
    let certified = |board| [("mode", "certificate"), ("method", "Certificate"), SAFE, board];
    let ram = greatest(&record.numbers("check_bytes", &certified(M3)), kib);
    let check = boards.map(|b| range(&record.numbers("check", &certified(b)), millions));
    row("all examples by certificate", "", &ram, check);
    for (column, what) in [
        ("guard_invariant", "guard: the invariant, each time"),
        ("guard_step", "guard: a step, each time"),
    ] {
        let cells = boards.map(|b| range(&record.numbers(column, &[b]), grouped));
        row(what, "", "a bit for each variable of an edge", cells);
    }
    let count = |board, mode, method| {
        record.numbers("check", &[board, ("mode", mode), ("method", method), SAFE]).len()
    };
    let found =
        boards.map(|b| (count(b, "proof", "Proof"), count(b, "certificate", "Certificate")));
    let [(m3, m3_certified), (m0, m0_certified)] = found;
    let all = record.numbers("image_bytes", &[M3, ("mode", "proof")]).len();
    text += &format!(
        "\nOf the {all} examples the board with 64 KiB of RAM proves {m3} by itself and re-checks {m3_certified} certificates;\n\
         the one with 16 KiB proves {m0} and re-checks {m0_certified}.\n"
    );
    text
}

/// What an update takes.
fn update(record: &Table) -> String {
    let models = ["precharge", "infusion-pump", "modbus-server-24"];
    let mut text =
        format!("| |{}\n|---|{}\n", models.map(|m| format!(" `{m}` |")).concat(), "--:|".repeat(3));
    let one = |model: &str, column: &str, board: &str| {
        record.numbers(column, &[("model", model), ("board", board)]).first().copied()
    };
    let shown = |n: Option<f64>| n.map_or("—".into(), grouped);
    let mut row = |what: &str, cell: &dyn Fn(&str) -> String| {
        text += &format!("| {what} |{}\n", models.map(|m| format!(" {} |", cell(m))).concat());
    };
    row("package, bytes", &|m| shown(one(m, "package_bytes", "microbit")));
    row("bytes to the device; back, with framing and answers", &|m| {
        format!(
            "{}; {}",
            shown(one(m, "to_device", "microbit")),
            shown(one(m, "to_host", "microbit"))
        )
    });
    row("so at 115200 baud at least (computed), seconds", &|m| {
        one(m, "line_seconds", "microbit").map_or("—".into(), |n| format!("{n:.2}"))
    });
    row("pages of 1 KiB erased; words programmed", &|m| {
        format!(
            "{}; {}",
            shown(one(m, "pages_erased", "microbit")),
            shown(one(m, "words_programmed", "microbit"))
        )
    });
    row("million instructions, Cortex-M0; M4; RISC-V", &|m| {
        let boards = ["microbit", "mps2-an386", "riscv-virt"];
        let million =
            |b| one(m, "instructions", b).map_or("—".into(), |n| format!("{:.1}", n / 1e6));
        boards.map(million).join("; ")
    });
    text
}

/// How many machines are lifted and decided, and what the steps of runs tell.
fn names(record: &Table) -> String {
    let sum = |column| record.numbers(column, &[]).iter().sum::<f64>();
    let share = |column| format!("{:.1} %", 100.0 * sum(column) / sum("steps").max(1.0));
    let all = record.rows.len();
    let decided = record.numbers("lifted", &[("verdict", "safe"), ("fault", "unsafe")]).len();
    let mut text = format!(
        "Of the {all} programs of the last record {} are lifted, and of {decided} both variants are decided.\n",
        record.numbers("lifted", &[]).len(),
    );
    if sum("steps") > 0.0 {
        let (lines, names) = (share("lines"), share("names"));
        text += &format!(
            "The runs that break an assertion have {:.0} steps: {lines} of them tell their source line, and in {names} all that is \
             read or changes has its name from the source.\n",
            sum("steps"),
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_have_the_figures_of_the_records() {
        for name in ["device.tsv", "update.tsv", "elf.tsv"] {
            let path = page_of(name);
            if std::env::var_os("VOUCH_BLESS").is_some() {
                write(name).unwrap();
            }
            let page = std::fs::read_to_string(&path).unwrap();
            assert_eq!(with_figures(&page, name).unwrap(), page, "{name}: measure again");
        }
    }

    #[test]
    fn figures_are_of_the_rows_that_are_asked_for() {
        let record = Table::new(
            "# head\nmodel\tboard\tcheck\na\tmicrobit\t1500000\nb\tmicrobit\t\na\triscv-virt\t7\n",
        );
        assert_eq!(record.numbers("check", &[M0]), [1_500_000.0]);
        assert_eq!(record.numbers("check", &[("model", "a")]), [1_500_000.0, 7.0]);
        assert!(record.numbers("none", &[]).is_empty());
        assert_eq!(range(&[2e6, 1.5e8], millions), "2.00 million to 150 million");
        assert_eq!(greatest(&[], kib), "—");
        assert_eq!([999.0, 12_345.0].map(grouped), ["999", "12 345"]);
    }

    #[test]
    fn only_what_is_between_the_lines_is_replaced() {
        let page = "a\n<!-- table t -->\nold\n<!-- end t -->\nb\n";
        let new = between(page, "t", "new\n").unwrap();
        assert_eq!(new, "a\n<!-- table t -->\nnew\n<!-- end t -->\nb\n");
        assert!(between(page, "u", "").is_err());
    }
}
