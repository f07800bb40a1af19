//! `cargo xtask bench-runs`: what it costs to look for a shortest run.
//!
//! Every broken example is checked with that search and without it (`--first-run`), in turn, and the run in the middle
//! counts: ratios within one run, on whatever machine. How much is proved depends on the time that there is, so it is
//! counted in how many of the runs it was. The record is `benches/record/runs.tsv`.

use crate::{demo, project, record, shell};
use anyhow::Result;
use serde_json::Value;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// How often each is measured: one of them is in the middle.
const TIMES: usize = 7;

/// Records how long the runs are, whether they are known to be the shortest, and the times.
pub fn task(_: &[String]) -> Result<()> {
    shell::stage("host tool", demo::build_tool)?;
    let head = format!(
        "# cargo xtask bench-runs; {}; wall-clock milliseconds of the whole process, the median of {TIMES} runs each; proved: in how many of them the run was known to be the shortest\n",
        record::build()?
    );
    let mut table = head + "model\tfirst_steps\tsteps\tproved\tfirst_ms\tms\tratio\n";
    let (mut proved, mut twice) = (0, 0);
    let broken = project::examples()?.into_iter().filter(|model| model.contains("-broken"));
    let broken: Vec<String> = broken.collect();
    for model in &broken {
        let (mut first, mut shown) = (Timed::default(), Timed::default());
        for _ in 0..TIMES {
            first.measure(&["check", model, "--first-run"])?;
            shown.measure(&["check", model])?;
        }
        let (first_time, time) = (first.median(), shown.median());
        let ratio = time.as_secs_f64() / first_time.as_secs_f64();
        proved += (2 * shown.proved > TIMES) as usize;
        twice += (ratio <= 2.0) as usize;
        let row = format!(
            "{}\t{}\t{}\t{}\t{}\t{}\t{ratio:.2}",
            record::name(model),
            first.report["trace_len"],
            shown.report["trace_len"],
            shown.proved,
            first_time.as_millis(),
            time.as_millis()
        );
        eprintln!("   {row}");
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{row}");
    }
    eprintln!("{proved} of {} proved in most runs, {twice} in twice the time", broken.len());
    record::write("runs.tsv", &table)
}

/// Some runs, and what the last one reported.
#[derive(Default)]
struct Timed {
    times: Vec<Duration>,
    /// In how many the run was known to be the shortest.
    proved: usize,
    report: Value,
}

impl Timed {
    fn measure(&mut self, args: &[&str]) -> Result<()> {
        let start = Instant::now();
        self.report = demo::ask(args)?;
        self.times.push(start.elapsed());
        self.proved += (self.report["shortest"] == true) as usize;
        Ok(())
    }

    fn median(&mut self) -> Duration {
        self.times.sort();
        self.times.get(self.times.len() / 2).copied().unwrap_or_default()
    }
}
