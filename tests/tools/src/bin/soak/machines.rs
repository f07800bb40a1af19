//! Random machines, compiled in every way: `soak --kind machines [--programs N]`, so many of them.

use crate::Args;
use std::process::ExitCode;
use std::time::Instant;
use vouch_host::verdict::Verdict;
use vouch_tests::machine::random::{self, Machine};

/// Machines unless the command line says another number.
const MACHINES: u64 = 20;

/// Checks each build of all of them.
pub fn run(args: &Args) -> ExitCode {
    let count = args.programs.unwrap_or(MACHINES);
    println!("soak: machines that are compiled, from seed {}, {count} of them", args.seed);
    let folder = match tempfile::tempdir() {
        Ok(folder) => folder,
        Err(e) => {
            println!("there is no folder for programs: {e}");
            return ExitCode::FAILURE;
        }
    };
    let start = Instant::now();
    let (mut builds, mut safe, mut different) = (0u64, 0u64, 0u64);
    for seed in (args.seed..).take(count as usize) {
        let machine = Machine::new(seed);
        safe += u64::from(machine.truth() == Verdict::Safe);
        for build in random::builds() {
            builds += 1;
            if let Err(text) = random::check(seed, &machine, &build, folder.path()) {
                println!("DISAGREEMENT in machines {seed}: {text}");
                println!("again with: cargo xtask soak --replay machines:{seed}");
                different += 1;
            }
        }
        if different > 0 {
            break;
        }
    }
    println!("first_seed\tmachines\tsafe\tbuilds\tdifferent\tseconds");
    println!(
        "{}\t{count}\t{safe}\t{builds}\t{different}\t{:.0}",
        args.seed,
        start.elapsed().as_secs_f64()
    );
    if different == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
