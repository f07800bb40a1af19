//! `cargo xtask table cav12|fmcad15|cegar FOLDER`: the papers' comparisons, with our engines on the programs that we have.
//!
//! The folder holds `verdicts.tsv`, as for `bench-c`; these are not always the programs of the papers. Each program
//! is checked by each engine in a process of its own, one after the other, under a limit of CPU time. What comes
//! of it: a table under `benches/record/`, a plot of two of the engines under `docs/pictures/`, and the sums
//! in `docs/results.md`, between the lines that name the table.

use crate::race::limit::{self, Limits};
use crate::{bench_c, demo, figures, project, record, shell};
use anyhow::{Context, Result, bail};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// A comparison: its name, the arguments of each competitor, and which two of them are plotted.
struct Comparison {
    name: &'static str,
    about: &'static str,
    competitors: &'static [&'static str],
    plotted: [usize; 2],
}

const COMPARISONS: [Comparison; 3] = [
    Comparison {
        name: "cav12",
        about: "Cimatti, Griggio: Software Model Checking via IC3",
        competitors: &["ic3", "tree-ic3", "tree-ic3-itp"],
        plotted: [1, 2],
    },
    Comparison {
        name: "fmcad15",
        about: "Lange, Neuhäußer, Noll: IC3 Software Model Checking on Control Flow Automata",
        competitors: &["ic3", "tree-ic3", "tree-ic3-itp", "ic3cfa"],
        plotted: [2, 3],
    },
    Comparison {
        name: "cegar",
        about: "Birgmeier: Software Verification with IC3 via Abstraction and Interpolation",
        competitors: &[
            "ic3-cegar --cegar noopt",
            "ic3-cegar --cegar c",
            "ic3-cegar --cegar cg",
            "ic3-cegar --cegar cr",
            "ic3-cegar --cegar cgr",
            "ic3-cegar --cegar crl",
            "ic3-cegar --cegar cgrl",
            "ic3-cegar --cegar crb",
            "ic3cfa",
        ],
        plotted: [8, 7],
    },
];

/// What is asked.
struct Asked {
    comparison: &'static Comparison,
    folder: PathBuf,
    filter: String,
    limits: Limits,
}

/// What became of a program with a competitor.
#[derive(Clone, PartialEq, Debug)]
struct Outcome {
    found: &'static str,
    seconds: f64,
}

impl Outcome {
    fn is_decided(&self) -> bool {
        bench_c::is_decided(self.found)
    }
}

/// A program, its verdict, and what became of it with each competitor.
struct Row {
    file: String,
    expected: String,
    outcomes: Vec<Outcome>,
}

/// Runs the engines of a paper's comparison on a folder, and writes table, plot and sums.
pub fn task(args: &[String]) -> Result<()> {
    let asked = parse(args)?;
    let list = asked.folder.join("verdicts.tsv");
    let Ok(list) = std::fs::read_to_string(&list) else {
        eprintln!("skipped: there is no {}", list.display());
        return Ok(());
    };
    shell::stage("host tool", demo::build_tool)?;
    let scratch = project::target().join(format!("table-{}.txt", asked.comparison.name));
    let rows = measure(&asked, &list, &project::tool(), &scratch)?;
    let name = asked.comparison.name;
    record::write(&format!("table-{name}.tsv"), &table(&asked, &rows))?;
    let picture = project::root().join(format!("docs/pictures/table-{name}.svg"));
    std::fs::write(&picture, plot(&asked, &rows))
        .with_context(|| format!("{} cannot be written", picture.display()))?;
    let page = project::root().join("docs/results.md");
    let text = std::fs::read_to_string(&page)
        .with_context(|| format!("{} cannot be read", page.display()))?;
    let commit = record::commit();
    let text = figures::between(
        &text,
        name,
        &format!("{}\nMeasured at {commit}.\n", sums(&asked, &rows)),
    )?;
    std::fs::write(&page, text)?;
    let wrong = rows.iter().flat_map(|r| r.outcomes.iter().filter(|o| is_wrong(r, o))).count();
    if wrong > 0 {
        bail!("{wrong} wrong verdicts");
    }
    Ok(())
}

fn parse(args: &[String]) -> Result<Asked> {
    let names = COMPARISONS.map(|c| c.name).join("|");
    let usage = || shell::Usage(format!("table {names} FOLDER [--timeout S] [--filter TEXT,…]"));
    let (mut positional, mut filter, mut seconds) = (vec![], String::new(), 60);
    let mut args = args.iter();
    while let Some(arg) = args.next() {
        let mut value = || args.next().ok_or_else(usage);
        match arg.as_str() {
            "--timeout" => seconds = value()?.parse().map_err(|_| usage())?,
            "--filter" => filter = value()?.clone(),
            word if !word.starts_with('-') => positional.push(word),
            _ => return Err(usage().into()),
        }
    }
    let [name, folder] = positional[..] else { return Err(usage().into()) };
    let comparison = COMPARISONS.iter().find(|c| c.name == name).ok_or_else(usage)?;
    let limits = Limits { seconds, bytes: 4 << 30 };
    Ok(Asked { comparison, folder: folder.into(), filter, limits })
}

/// Checks the programs of a list.
fn measure(asked: &Asked, list: &str, tool: &Path, scratch: &Path) -> Result<Vec<Row>> {
    let mut rows = vec![];
    let listed = list.lines().filter_map(|line| line.split_once('\t'));
    let is_wanted = |file: &str| asked.filter.split(',').any(|part| file.contains(part));
    for (file, expected) in listed.filter(|(file, _)| is_wanted(file)) {
        if !(file.ends_with(".c") || file.ends_with(".i")) {
            continue;
        }
        let mut outcomes = vec![];
        for competitor in asked.comparison.competitors {
            let mut words = vec![tool.display().to_string(), "check".into(), "--quiet".into()];
            words.push(asked.folder.join(file).display().to_string());
            words.push("--engine".into());
            words.extend(competitor.split(' ').map(str::to_string));
            let ended = limit::run(&words, &asked.limits, scratch)?;
            let found = bench_c::said(ended.code);
            eprintln!("{found:>8} {:7.1} s  {competitor}  {file}", ended.seconds);
            outcomes.push(Outcome { found, seconds: ended.seconds });
        }
        let (file, expected) = (file.to_string(), expected.trim().to_string());
        rows.push(Row { file, expected, outcomes });
    }
    Ok(rows)
}

fn is_wrong(row: &Row, outcome: &Outcome) -> bool {
    outcome.is_decided() && outcome.found != row.expected
}

/// All that was measured.
fn table(asked: &Asked, rows: &[Row]) -> String {
    let Comparison { name, about, competitors, .. } = asked.comparison;
    let mut text = format!(
        "# cargo xtask table {name}: {about}; {} s of CPU time each. The programs that we have, not the paper's list.\n\
         file\texpected",
        asked.limits.seconds
    );
    for competitor in *competitors {
        let _ = write!(text, "\t{competitor}\tseconds");
    }
    text.push('\n');
    for row in rows {
        text += &format!("{}\t{}", row.file, row.expected);
        for outcome in &row.outcomes {
            let _ = write!(text, "\t{}\t{:.1}", outcome.found, outcome.seconds);
        }
        text.push('\n');
    }
    text
}

/// How many each has decided, as a table of a page.
fn sums(asked: &Asked, rows: &[Row]) -> String {
    let mut text = String::from(
        "| engine | programs | safe | unsafe | undecided | refused | wrong | CPU seconds for decided |\n\
         |---|---|---|---|---|---|---|---|\n",
    );
    for (at, competitor) in asked.comparison.competitors.iter().enumerate() {
        let own = || rows.iter().map(|r| (r, &r.outcomes[at]));
        let count = |found: &str| own().filter(|(_, o)| o.found == found).count();
        let (safe, broken, refused) = (count("safe"), count("unsafe"), count("refused"));
        let wrong = own().filter(|(r, o)| is_wrong(r, o)).count();
        let decided = own().filter(|(_, o)| o.is_decided());
        let seconds = decided.fold(0.0, |all, (_, o)| all + o.seconds);
        let _ = writeln!(
            text,
            "| `{competitor}` | {} | {safe} | {broken} | {} | {refused} | {wrong} | {seconds:.0} |",
            rows.len(),
            rows.len() - safe - broken - refused,
        );
    }
    text
}

const SIZE: f64 = 420.0;
const MARGIN: f64 = 48.0;
/// Shorter times are not told apart.
const SHORTEST: f64 = 0.01;

/// A scatter plot of two competitors as SVG: a point for each program, on logarithmic scales; what is not decided
/// takes all the time that there is.
fn plot(asked: &Asked, rows: &[Row]) -> String {
    let longest = (asked.limits.seconds as f64).max(1.0);
    let place = |seconds: f64| {
        let part = (seconds.max(SHORTEST) / SHORTEST).ln() / (longest / SHORTEST).ln();
        MARGIN + part.min(1.0) * (SIZE - 2.0 * MARGIN)
    };
    let [a, b] = asked.comparison.plotted;
    let names = [a, b].map(|at| asked.comparison.competitors[at]);
    let (low, high) = (MARGIN, SIZE - MARGIN);
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {SIZE} {SIZE}\" font-family=\"sans-serif\" \
         font-size=\"12\">\n<rect width=\"{SIZE}\" height=\"{SIZE}\" fill=\"white\"/>\n\
         <rect x=\"{low}\" y=\"{low}\" width=\"{0}\" height=\"{0}\" fill=\"none\" stroke=\"#888\"/>\n\
         <line x1=\"{low}\" y1=\"{high}\" x2=\"{high}\" y2=\"{low}\" stroke=\"#ccc\"/>\n\
         <text x=\"{1}\" y=\"{2}\" text-anchor=\"middle\">{3}, CPU seconds up to {longest}</text>\n\
         <text x=\"{1}\" y=\"20\" text-anchor=\"middle\">upwards: {4}</text>\n",
        SIZE - 2.0 * MARGIN,
        SIZE / 2.0,
        SIZE - 16.0,
        names[0],
        names[1],
    );
    for row in rows {
        let seconds = |at: usize| {
            let outcome = &row.outcomes[at];
            place(if outcome.is_decided() { outcome.seconds } else { longest })
        };
        let colour = if row.expected == "unsafe" { "#d62728" } else { "#1f77b4" };
        let _ = writeln!(
            text,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"3\" fill=\"{colour}\"><title>{}</title></circle>",
            seconds(a),
            SIZE - seconds(b),
            row.file
        );
    }
    text + "</svg>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt as _;

    /// A tool that knows the verdict by the file's name, and one engine that knows nothing.
    const TOOL: &str = "#!/bin/sh
case \"$*\" in
    *\"--engine ic3\") exit 3;;
    *good.c*) exit 0;;
    *bad.c*) exit 1;;
esac
exit 4
";

    #[test]
    fn a_small_folder() {
        let folder = tempfile::tempdir().unwrap();
        let tool = folder.path().join("tool");
        std::fs::write(&tool, TOOL).unwrap();
        std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
        let path = folder.path().display().to_string();
        let words = ["fmcad15", &path, "--timeout", "5", "--filter", "x/"].map(str::to_string);
        let asked = parse(&words).unwrap();
        let list =
            "file\tverdict\nx/good.c\tsafe\nx/bad.c\tsafe\nx/other.vch\tsafe\ny/good.c\tsafe\n";
        let rows = measure(&asked, list, &tool, &folder.path().join("out")).unwrap();
        assert_eq!(rows.iter().map(|r| &r.file[..]).collect::<Vec<_>>(), ["x/good.c", "x/bad.c"]);
        let found: Vec<&str> = rows[1].outcomes.iter().map(|o| o.found).collect();
        assert_eq!(found, ["unknown", "unsafe", "unsafe", "unsafe"]);
        let sums = sums(&asked, &rows);
        assert!(sums.contains("| `ic3` | 2 | 0 | 0 | 2 | 0 | 0 | 0 |"), "{sums}");
        assert!(sums.contains("| `ic3cfa` | 2 | 1 | 1 | 0 | 0 | 1 | 0 |"), "{sums}");
        assert_eq!(table(&asked, &rows).lines().count(), 4);
        assert_eq!(plot(&asked, &rows).matches("<circle").count(), 2);
        let page = "a\n<!-- table fmcad15 -->\nold\n<!-- end fmcad15 -->\nb\n";
        let new = "a\n<!-- table fmcad15 -->\nnew\n<!-- end fmcad15 -->\nb\n";
        assert_eq!(figures::between(page, "fmcad15", "new\n").unwrap(), new);
        assert!(figures::between(page, "cegar", "new\n").is_err());
        // All tables have their place.
        let page = std::fs::read_to_string(project::root().join("docs/results.md")).unwrap();
        assert!(COMPARISONS.iter().all(|c| figures::between(&page, c.name, "").is_ok()));
        assert!(parse(&["cav13".to_string(), path]).is_err());
    }
}
