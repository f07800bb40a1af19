//! Random cases with fresh seeds until the time is over: `soak --minutes N [--seed S] [--jobs J]
//! [--kind K]`, or one again: `soak --replay KIND:SEED`. Prints what was done; ends with 1 on a
//! disagreement.
//!
//! C programs ([`c`]) need compilers, and are only made when they are asked for: `--kind c` or
//! `--kind csmith`, with `--minutes` or `--programs`. So are instructions ([`isa`]), `--kind isa`, whole
//! steps of programs ([`steps`]), `--kind steps`, and machines that are compiled ([`machines`]), `--kind machines`.

mod c;
#[cfg(unix)]
mod isa;
#[cfg(unix)]
mod machines;
#[cfg(unix)]
mod steps;

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use vouch_host::engines::Engine;
use vouch_tests::c_soak::Generator;
use vouch_tests::c_soak::compiler::Model;
use vouch_tests::random_c::Feature;
use vouch_tests::suite::{Found, Kind, Tally};

struct Args {
    minutes: f64,
    seed: u64,
    jobs: usize,
    kinds: Vec<Kind>,
    generator: Option<Generator>,
    isa: bool,
    steps: bool,
    machines: bool,
    replay: Option<(Which, u64)>,
    /// For C, and for each row of instructions.
    programs: Option<u64>,
    models: Vec<Model>,
    without: Vec<Feature>,
    file: Option<PathBuf>,
}

/// What a case is made by.
#[derive(Clone, Copy)]
enum Which {
    Kind(Kind),
    C(Generator),
    Isa,
    Steps,
    Machines,
}

const USAGE: &str = "\
soak --minutes N [--seed S] [--jobs J] [--kind image|automaton|sat|flash]
soak --kind c|csmith --minutes N | --programs N [--seed S] [--jobs J] [--model M] [--without FEATURE,…]
soak --kind isa [--programs N] [--seed S] [--jobs J]
soak --kind steps [--programs N] [--seed S]
soak --kind machines [--programs N] [--seed S]
soak --replay KIND:SEED [--model M] [--without FEATURE,…]
soak --file PROGRAM.c [--model M]";

fn which(name: &str) -> Option<Which> {
    let kind = Kind::ALL.into_iter().find(|k| k.name() == name).map(Which::Kind);
    let c = Generator::ALL.into_iter().find(|g| g.0 == name).map(|g| Which::C(g.1));
    let machine = [("isa", Which::Isa), ("steps", Which::Steps), ("machines", Which::Machines)];
    let machine = machine.into_iter().find(|(its, _)| *its == name).map(|(_, which)| which);
    kind.or(c).or(machine)
}

fn parse(mut args: impl Iterator<Item = String>) -> Option<Args> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let mut parsed = Args {
        minutes: 0.0,
        // A start that differs from day to day, with room for millions of cases after it.
        seed: now.as_millis() as u64 * 1_000_000,
        jobs: std::thread::available_parallelism().map_or(1, |n| n.get()),
        kinds: Kind::ALL.to_vec(),
        generator: None,
        isa: false,
        steps: false,
        machines: false,
        replay: None,
        programs: None,
        models: vec![],
        without: vec![],
        file: None,
    };
    while let Some(flag) = args.next() {
        let value = args.next()?;
        match flag.as_str() {
            "--minutes" => parsed.minutes = value.parse().ok().filter(|m| *m > 0.0)?,
            "--programs" => parsed.programs = Some(value.parse().ok().filter(|n| *n > 0)?),
            "--seed" => parsed.seed = value.parse().ok()?,
            "--jobs" => parsed.jobs = value.parse().ok().filter(|j| *j > 0)?,
            "--kind" => match which(&value)? {
                Which::Kind(kind) => parsed.kinds = vec![kind],
                Which::C(generator) => parsed.generator = Some(generator),
                Which::Isa => parsed.isa = true,
                Which::Steps => parsed.steps = true,
                Which::Machines => parsed.machines = true,
            },
            "--model" => parsed.models.push(Model::from_name(&value)?),
            "--without" => {
                for name in value.split(',') {
                    parsed.without.push(Feature::from_name(name)?);
                }
            }
            "--file" => parsed.file = Some(value.into()),
            "--replay" => {
                let (name, seed) = value.split_once(':')?;
                let (which, seed) = (which(name)?, seed.parse().ok()?);
                // All cases of a seed are made together.
                match which {
                    Which::Isa => (parsed.isa, parsed.seed) = (true, seed),
                    Which::Steps => (parsed.steps, parsed.seed) = (true, seed),
                    Which::Machines => {
                        (parsed.machines, parsed.seed, parsed.programs) = (true, seed, Some(1));
                    }
                    _ => parsed.replay = Some((which, seed)),
                }
            }
            _ => return None,
        }
    }
    let counted = parsed.programs.is_some() && parsed.generator.is_some();
    let known = counted
        || parsed.isa
        || parsed.steps
        || parsed.machines
        || parsed.replay.is_some()
        || parsed.file.is_some();
    (parsed.minutes > 0.0 || known).then_some(parsed)
}

fn main() -> ExitCode {
    let Some(args) = parse(std::env::args().skip(1)) else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    if let Some(path) = &args.file {
        return c::file(path, &args);
    }
    match args.replay {
        Some((Which::C(generator), seed)) => return c::replay(generator, seed, &args),
        Some((Which::Kind(kind), seed)) => return replay(kind, seed),
        Some((Which::Isa | Which::Steps | Which::Machines, _)) | None => {}
    }
    #[cfg(unix)]
    if args.isa {
        return isa::run(&args);
    }
    #[cfg(unix)]
    if args.steps {
        return steps::run(&args);
    }
    #[cfg(unix)]
    if args.machines {
        return machines::run(&args);
    }
    if let Some(generator) = args.generator {
        println!("soak: {} from seed {}, {} jobs", generator.name(), args.seed, args.jobs);
        return c::soak(generator, &args);
    }
    println!("soak: seeds from {}, {} jobs, {} min", args.seed, args.jobs, args.minutes);
    let shared = Shared::default();
    std::thread::scope(|scope| {
        for job in 0..args.jobs {
            let (args, shared) = (&args, &shared);
            scope.spawn(move || work(args, job, shared));
        }
        let start = Instant::now();
        while !shared.over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_millis(200));
            let elapsed = start.elapsed().as_secs_f64();
            if elapsed >= args.minutes * 60.0 {
                shared.over.store(true, Ordering::Relaxed);
            }
        }
        shared.report(start.elapsed());
    });
    let failures = shared.failures.lock().map_or(1, |f| *f);
    println!("{failures} disagreements");
    match args.kinds[..] {
        [Kind::Flash] => shared.print_lives(args.seed, failures),
        [Kind::Automaton] => shared.print_engines(args.seed, failures),
        _ => {}
    }
    if failures == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn replay(kind: Kind, seed: u64) -> ExitCode {
    match kind.run(seed) {
        Ok(tally) => {
            println!("{} {seed}: {tally:?}", kind.name());
            ExitCode::SUCCESS
        }
        Err(what) => {
            println!("{} {seed}: {what}", kind.name());
            ExitCode::FAILURE
        }
    }
}

/// What the jobs have in common.
#[derive(Default)]
struct Shared {
    over: AtomicBool,
    failures: Mutex<u64>,
    /// Cases and their outcomes, and seconds, for each kind.
    done: Mutex<BTreeMap<&'static str, (u64, Tally, f64)>>,
}

impl Shared {
    fn report(&self, elapsed: Duration) {
        let Ok(done) = self.done.lock() else { return };
        for (name, (cases, t, seconds)) in done.iter() {
            let rate = *cases as f64 / seconds.max(1e-9);
            print!("{name:<10} {cases:>9} cases, {rate:.0}/s");
            if t.queries > 0 {
                let rate = t.queries as f64 / seconds.max(1e-9);
                println!(", {} queries, {rate:.0}/s", t.queries);
            } else if t.starts > 0 {
                println!(", {} starts, {} power cuts", t.starts, t.cuts);
            } else {
                println!(
                    ", {} safe, {} broken; {} runs, {} of them limited, {} without a verdict",
                    t.safe, t.broken, t.runs, t.limited, t.unknown
                );
            }
        }
        println!("{:.0} s", elapsed.as_secs_f64());
    }

    /// The row for the record of a run with nothing but lives of devices.
    fn print_lives(&self, seed: u64, faults: u64) {
        let Ok(done) = self.done.lock() else { return };
        let Some((lives, Tally { starts, cuts, .. }, seconds)) = done.get(Kind::Flash.name())
        else {
            return;
        };
        println!("first_seed\tlives\tstarts\tpower_cuts\tfaults\tseconds");
        println!("{seed}\t{lives}\t{starts}\t{cuts}\t{faults}\t{seconds:.0}");
    }

    /// The rows for the record of a run with nothing but automata.
    fn print_engines(&self, seed: u64, faults: u64) {
        let Ok(done) = self.done.lock() else { return };
        let Some((_, tally, _)) = done.get(Kind::Automaton.name()) else { return };
        println!("engine\tfirst_seed\tautomata\tsafe\tbroken\tunknown\twrong");
        for (engine, found) in Engine::ALL.into_iter().zip(tally.engines) {
            let Found { automata, safe, broken, unknown } = found;
            println!("{engine}\t{seed}\t{automata}\t{safe}\t{broken}\t{unknown}\t{faults}");
        }
    }
}

/// Runs cases of every kind in turn, each kind for about the same time.
fn work(args: &Args, job: usize, shared: &Shared) {
    let mut spent = vec![0f64; args.kinds.len()];
    let mut count = vec![0u64; args.kinds.len()];
    while !shared.over.load(Ordering::Relaxed) {
        let least = spent.iter().enumerate().min_by(|a, b| a.1.total_cmp(b.1));
        let at = least.map_or(0, |l| l.0);
        let kind = args.kinds[at];
        let seed = args.seed.wrapping_add(count[at] * args.jobs as u64 + job as u64);
        count[at] += 1;
        let start = Instant::now();
        // A panic is a finding too, and its seed is what one wants to know.
        let result = catch_unwind(AssertUnwindSafe(|| kind.run(seed)))
            .unwrap_or_else(|_| Err("panic".into()));
        let seconds = start.elapsed().as_secs_f64();
        spent[at] += seconds;
        if let Ok(mut done) = shared.done.lock() {
            let entry = done.entry(kind.name()).or_default();
            entry.0 += 1;
            entry.1.add(&result.as_ref().copied().unwrap_or_default());
            entry.2 += seconds;
        }
        if let Err(what) = result {
            let name = kind.name();
            println!("DISAGREEMENT in {name} {seed}: {what}");
            println!("again with: cargo xtask soak --replay {name}:{seed}");
            if let Ok(mut failures) = shared.failures.lock() {
                *failures += 1;
            }
            shared.over.store(true, Ordering::Relaxed);
        }
    }
}
