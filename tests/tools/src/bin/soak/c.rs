//! The kinds of cases that are C programs: many of them go through a compiler at once.

use crate::Args;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;
use vouch_tests::c_soak::compiler::Model;
use vouch_tests::c_soak::{self, Counts, Generator};

/// Programs that are compiled at once.
const BATCH: u64 = 50;

/// Models of a generator that were asked for and whose compiler is here.
fn models(generator: Generator, args: &Args) -> Vec<Model> {
    let asked = |m: &&Model| args.models.is_empty() || args.models.contains(m);
    let mut models = vec![];
    for model in generator.models().iter().filter(asked) {
        if model.is_available() {
            models.push(*model);
        } else {
            println!("skipped: {}: its compiler makes no program that runs here", model.name());
        }
    }
    models
}

/// Programs until there are enough or the time is over.
pub fn soak(generator: Generator, args: &Args) -> ExitCode {
    let models = models(generator, args);
    if models.is_empty() {
        return ExitCode::FAILURE;
    }
    let start = Instant::now();
    let next = AtomicU64::new(0);
    let all: Mutex<BTreeMap<&'static str, Counts>> = Mutex::default();
    let failed: Mutex<Option<String>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..args.jobs {
            scope.spawn(|| {
                loop {
                    let first = next.fetch_add(BATCH, Ordering::Relaxed);
                    let late = start.elapsed().as_secs_f64() >= args.minutes * 60.0;
                    let enough = args.programs.is_some_and(|n| first >= n);
                    if enough || (late && args.programs.is_none()) {
                        next.fetch_sub(BATCH, Ordering::Relaxed);
                        return;
                    }
                    for model in &models {
                        let seeds = (first..first + BATCH).map(|i| args.seed.wrapping_add(i));
                        match c_soak::compare(generator, *model, seeds, &args.without) {
                            Ok(counts) => tell(generator, *model, counts, &all),
                            Err(what) => {
                                if let Ok(mut failed) = failed.lock() {
                                    *failed = Some(what);
                                }
                                return;
                            }
                        }
                    }
                }
            });
        }
    });
    if let Ok(Some(what)) = failed.into_inner() {
        eprintln!("{what}");
        return ExitCode::FAILURE;
    }
    let all = all.into_inner().unwrap_or_default();
    report(generator, args, next.into_inner(), &all, start.elapsed().as_secs());
    let different = all.values().any(|counts| !counts.different.is_empty());
    if different { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Says what is worth a look, and keeps everything.
fn tell(
    generator: Generator,
    model: Model,
    counts: Counts,
    all: &Mutex<BTreeMap<&'static str, Counts>>,
) {
    let (kind, name) = (generator.name(), model.name());
    for (seed, what) in &counts.different {
        println!("DIFFERENT in {kind} {seed}, {name}: {what}");
        println!("again with: cargo xtask soak --replay {kind}:{seed} --model {name}");
    }
    for (seed, what) in &counts.unsettled {
        let what = what.lines().next().unwrap_or_default();
        println!("unsettled: {kind} {seed}, {name}: {what}");
    }
    if let Ok(mut all) = all.lock() {
        all.entry(name).or_default().add(counts);
    }
}

fn report(
    generator: Generator,
    args: &Args,
    programs: u64,
    all: &BTreeMap<&'static str, Counts>,
    seconds: u64,
) {
    let mut reasons: BTreeMap<&str, u64> = BTreeMap::new();
    for (reason, count) in all.values().flat_map(|counts| &counts.refused) {
        *reasons.entry(reason).or_default() += count;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    for (reason, count) in reasons {
        println!("refused {count:>6}: {reason}");
    }
    println!("{}", ROW_HEAD.join("\t"));
    for (model, counts) in all {
        let row = [
            generator.name().to_owned(),
            (*model).to_owned(),
            args.seed.to_string(),
            programs.to_string(),
            counts.accepted.to_string(),
            counts.refusals().to_string(),
            counts.different.len().to_string(),
            counts.slow.to_string(),
            counts.unsettled.len().to_string(),
            seconds.to_string(),
        ];
        println!("{}", row.join("\t"));
    }
}

/// Columns of what `cargo xtask soak` keeps in its record.
const ROW_HEAD: [&str; 10] = [
    "kind",
    "model",
    "first_seed",
    "programs",
    "accepted",
    "refused",
    "different",
    "slow",
    "unsettled",
    "seconds",
];

/// Shows one program and all that is known of it.
pub fn replay(generator: Generator, seed: u64, args: &Args) -> ExitCode {
    match c_soak::replay(generator, seed, &models(generator, args), &args.without) {
        Ok((text, agree)) => {
            print!("{text}");
            if agree { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(what) => {
            eprintln!("{what}");
            ExitCode::FAILURE
        }
    }
}

/// Compares a file that has a function `run` and a variable `sum`.
pub fn file(path: &Path, args: &Args) -> ExitCode {
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        Err(error) => {
            eprintln!("{}: {error}", path.display());
            return ExitCode::FAILURE;
        }
    };
    let mut same = true;
    for model in models(Generator::Ours, args) {
        match c_soak::one(&text, model) {
            Ok((expected, found, agree)) => {
                println!("{}: compiler {expected}, automaton {found}", model.name());
                same &= agree;
            }
            Err(what) => {
                eprintln!("{what}");
                return ExitCode::FAILURE;
            }
        }
    }
    if same { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
