//! Proves a model and re-checks the proof, both by the core: `recheck MODEL`. Prints what each took
//! in propagated literals; a profiler tells the instructions.

use std::path::Path;
use std::process::ExitCode;
use vouch_core::certificate::Check;
use vouch_core::ic3::Verdict;
use vouch_host::pipeline;
use vouch_tests::engine::{self, Setup};

fn main() -> ExitCode {
    let Some(model) = std::env::args().nth(1) else {
        eprintln!("recheck MODEL");
        return ExitCode::from(2);
    };
    let loaded = match pipeline::load(Path::new(&model), &pipeline::Options::default()) {
        Ok(loaded) => loaded,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    // As much as 16-bit words can address.
    let setup = Setup { memory: 1 << 20, ..Setup::default() };
    let Some(outcome) = engine::run::<u16>(&loaded.image, &setup) else {
        eprintln!("{model} does not fit into 16-bit words");
        return ExitCode::from(3);
    };
    let safe: Vec<usize> =
        (0..outcome.verdicts.len()).filter(|p| outcome.verdicts[*p] == Verdict::Safe).collect();
    if safe.is_empty() {
        eprintln!("nothing in {model} is proved");
        return ExitCode::from(3);
    }
    let (check, work) =
        engine::recheck::<u16>(&loaded.image, &outcome.clauses, &safe, &[], u32::MAX);
    println!("{}\t{}\t{work}", outcome.clauses.len(), outcome.stats.propagations);
    if check == Check::Valid { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
