//! Instructions: `soak --kind isa [--programs N]`, so many cases for each row of the encoding tables.

use crate::Args;
use std::process::ExitCode;
use std::time::Instant;
use vouch_tests::isa::{Tally, rows, soak, target};

/// Cases for each row unless the command line says another number.
const CASES: u64 = 10_000;

/// Runs all instruction sets.
pub fn run(args: &Args) -> ExitCode {
    let count = args.programs.unwrap_or(CASES);
    println!("soak: instructions from seed {}, {} jobs, {count} a row", args.seed, args.jobs);
    let mut table = vec![];
    let mut differ = false;
    for target in [&target::V6M, &target::V7M, &target::RV32] {
        let rows = rows::all(target.isa);
        let start = Instant::now();
        let result = soak(target, &rows, count, args.seed, args.jobs);
        let seconds = start.elapsed().as_secs_f64();
        let mut all = Tally::default();
        match &result {
            Ok(tallies) => {
                for (row, tally) in rows.iter().zip(tallies) {
                    all.add(*tally);
                    if tally.run < count {
                        println!("{}: only {} cases could be run", row.name, tally.run);
                    }
                }
            }
            Err(text) => println!("DISAGREEMENT {text}"),
        }
        differ |= result.is_err();
        table.push(format!(
            "{:?}\t{}\t{}\t{}\t{}\t{}\t{seconds:.0}",
            target.isa,
            args.seed,
            rows.len(),
            all.run,
            all.refused,
            u32::from(result.is_err()),
        ));
    }
    println!("isa\tseed\trows\tcases\trefused\tdifferent\tseconds");
    for line in table {
        println!("{line}");
    }
    if differ { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
