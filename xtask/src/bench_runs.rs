//! `cargo xtask bench-runs`: what it costs to look for a shortest run.
//!
//! Every broken example is checked with that search and without it (`--first-run`), in turn, and the quickest of some
//! runs counts: ratios within one run, on whatever machine. The record is `benches/record/runs.tsv`.

use crate::{demo, project, record, shell};
use anyhow::Result;
use serde_json::Value;
use std::fmt::Write as _;
use std::time::{Duration, Instant};

/// How often each is measured.
const TIMES: u32 = 7;

/// Records how long the runs are, whether they are known to be the shortest, and the times.
pub fn task(_: &[String]) -> Result<()> {
    shell::stage("host tool", demo::build_tool)?;
    let head = format!(
        "# cargo xtask bench-runs; {}; wall-clock milliseconds of the whole process, the least of {TIMES} runs each\n",
        record::build()?
    );
    let mut table = head + "model\tfirst_steps\tsteps\tis_shortest\tfirst_ms\tms\tratio\n";
    let (mut proved, mut twice) = (0, 0);
    let broken = project::examples()?.into_iter().filter(|model| model.contains("-broken"));
    let broken: Vec<String> = broken.collect();
    for model in &broken {
        let (mut first, mut shown) = (Timed::default(), Timed::default());
        for _ in 0..TIMES {
            first.measure(&["check", model, "--first-run"])?;
            shown.measure(&["check", model])?;
        }
        let ratio = shown.least.as_secs_f64() / first.least.as_secs_f64();
        let is_shortest = shown.report["shortest"].as_bool().unwrap_or(false);
        proved += is_shortest as usize;
        twice += (ratio <= 2.0) as usize;
        let row = format!(
            "{}\t{}\t{}\t{is_shortest}\t{}\t{}\t{ratio:.2}",
            record::name(model),
            first.report["trace_len"],
            shown.report["trace_len"],
            first.least.as_millis(),
            shown.least.as_millis()
        );
        eprintln!("   {row}");
        // Writing to a string cannot fail.
        let _ = writeln!(table, "{row}");
    }
    eprintln!("{proved} of {} proved, {twice} in twice the time", broken.len());
    record::write("runs.tsv", &table)
}

/// The quickest of some runs, and what the last one reported.
struct Timed {
    least: Duration,
    report: Value,
}

impl Default for Timed {
    fn default() -> Timed {
        Timed { least: Duration::MAX, report: Value::Null }
    }
}

impl Timed {
    fn measure(&mut self, args: &[&str]) -> Result<()> {
        let start = Instant::now();
        self.report = demo::ask(args)?;
        self.least = self.least.min(start.elapsed());
        Ok(())
    }
}
