//! `cargo xtask bench-threads FOLDER`: whether a second thread is worth its processor.
//!
//! What took long by the records of `bench-c` and `race`, and was decided, is checked with one thread and with two, one
//! after the other on a machine that does nothing else. The record is `benches/record/threads.tsv`.

use crate::bench_c::{is_decided, verdict};
use crate::{demo, project, record, shell};
use anyhow::Result;
use std::fmt::Write as _;
use std::path::Path;
use std::process::Command;

/// Seconds: less is not worth a thread.
const LONG: f64 = 5.0;
/// Seconds for each check.
const TIMEOUT: &str = "60";

/// Records the times.
pub fn task(args: &[String]) -> Result<()> {
    let [folder] = args else {
        return Err(shell::Usage("cargo xtask bench-threads FOLDER".into()).into());
    };
    shell::stage("host tool", demo::build_tool)?;
    let mut table = format!(
        "# cargo xtask bench-threads: vouch check FILE --timeout {TIMEOUT} --threads N; wall-clock seconds, one run each, one at a time\n# {}\n\
         problem\tthreads_1\tverdict_1\tthreads_2\tverdict_2\n",
        record::build()?
    );
    let mut ratios = vec![];
    for file in long(&record::read("c.tsv"), "").into_iter().chain(circuits()) {
        let path = Path::new(folder).join(&file);
        if !path.is_file() {
            continue;
        }
        let (one, verdict_one) = check(&path, "1");
        let (two, verdict_two) = check(&path, "2");
        let row = format!("{file}\t{one:.1}\t{verdict_one}\t{two:.1}\t{verdict_two}");
        eprintln!("   {row}");
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{row}");
        if one > LONG && is_decided(verdict_one) {
            ratios.push((one / two).ln());
        }
    }
    let mean = (ratios.iter().sum::<f64>() / ratios.len().max(1) as f64).exp();
    let _ = writeln!(
        table,
        "# {} problems took more than {LONG} s with one thread: with two {mean:.2} times as quick in the geometric mean",
        ratios.len()
    );
    record::write("threads.tsv", &table)
}

/// Circuits that took long.
fn circuits() -> Vec<String> {
    let suites = ["hwmcc19-aig", "hw-small", "hwmcc19-btor2_bv", "hwmcc19-btor2_array"];
    let of = |suite: &str| {
        let folder = suite.replacen("hwmcc19-", "hwmcc19/", 1) + "/";
        long(&record::read(&format!("race/{suite}.tsv")), &folder)
    };
    suites.into_iter().flat_map(of).collect()
}

/// The rows of a table with a file, what is true, what was found and seconds: those that took long.
fn long(table: &str, folder: &str) -> Vec<String> {
    let row = |line: &str| {
        let mut cells = line.split('\t');
        let (file, expected, found) = (cells.next()?, cells.next()?, cells.next()?);
        let seconds: f64 = cells.next()?.parse().ok()?;
        (expected == found && is_decided(found) && seconds > LONG)
            .then(|| format!("{folder}{file}"))
    };
    table.lines().filter_map(row).collect()
}

/// Seconds, and the verdict.
fn check(path: &Path, threads: &str) -> (f64, &'static str) {
    let mut tool = Command::new(project::tool());
    tool.args(["check", "--quiet", "--timeout", TIMEOUT, "--threads", threads]).arg(path);
    verdict(&mut tool)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_took_long_and_was_decided_is_measured() {
        let table = "# head\nfolder\tfiles\taccepted\tdecided\nctigar\t41\t41\t40\t0\t176\n\
                     a.c\tsafe\tsafe\t13.4\nb.c\tsafe\ttimeout\t80.0\nc.c\tunsafe\tunsafe\t0.1\n";
        assert_eq!(long(table, "x/"), ["x/a.c"]);
    }
}
