//! `glitch FIRMWARE-FOLDER [--board B] [--kind K] [--function TEXT] [--sample N] [--jobs J]` skips each
//! instruction of boots that must refuse, one at a time, and prints how many did not refuse then.

use std::process::ExitCode;

fn main() -> ExitCode {
    #[cfg(unix)]
    return run::run(std::env::args().skip(1));
    #[cfg(not(unix))]
    {
        eprintln!("emulated boards need Unix sockets");
        ExitCode::from(2)
    }
}

#[cfg(unix)]
mod run {
    use std::path::PathBuf;
    use std::process::ExitCode;
    use std::time::Instant;
    use vouch_host::transport::qemu;
    use vouch_tests::glitch::{BOARDS, Campaign, Instruction, KINDS};

    struct Options {
        firmware: PathBuf,
        board: Option<String>,
        kind: Option<String>,
        function: Option<String>,
        sample: usize,
        jobs: usize,
    }

    fn options(mut args: impl Iterator<Item = String>) -> Option<Options> {
        let mut options = Options {
            firmware: args.next()?.into(),
            board: None,
            kind: None,
            function: None,
            sample: usize::MAX,
            jobs: std::thread::available_parallelism().map_or(1, |n| n.get()),
        };
        while let Some(option) = args.next() {
            let value = args.next()?;
            match option.as_str() {
                "--board" if BOARDS.contains(&value.as_str()) => options.board = Some(value),
                "--kind" if KINDS.iter().any(|k| k.name() == value) => options.kind = Some(value),
                "--function" => options.function = Some(value),
                "--sample" => options.sample = value.parse().ok().filter(|n| *n > 0)?,
                "--jobs" => options.jobs = value.parse().ok()?,
                _ => return None,
            }
        }
        Some(options)
    }

    pub fn run(args: impl Iterator<Item = String>) -> ExitCode {
        let Some(options) = options(args) else {
            let kinds = KINDS.map(|kind| kind.name()).join("|");
            eprintln!(
                "glitch FIRMWARE-FOLDER [--board {}] [--kind {kinds}] [--function TEXT] [--sample N] \
                 [--jobs J]",
                BOARDS.join("|")
            );
            return ExitCode::from(2);
        };
        println!("board\tkind\texecuted\ttried\tbypasses\tmisreports\thangs\tseconds");
        let is = |chosen: &Option<String>, name: &str| chosen.as_deref().is_none_or(|c| c == name);
        let mut bypasses = 0;
        for name in BOARDS.into_iter().filter(|name| is(&options.board, name)) {
            let board = qemu::board(name).expect("there is such a board");
            let kinds = KINDS.into_iter().filter(|kind| kind.is_for(board));
            for kind in kinds.filter(|kind| is(&options.kind, kind.name())) {
                let start = Instant::now();
                let campaign = Campaign::new(&options.firmware, board, kind);
                let function = options.function.as_deref().unwrap_or_default();
                let wanted = |i: &&Instruction| i.function.contains(function);
                let all: Vec<_> = campaign.instructions.iter().filter(wanted).collect();
                let each = all.len().div_ceil(options.sample).max(1);
                let chosen: Vec<_> = all.into_iter().step_by(each).collect();
                let tell = |bypass: &str| eprintln!("{name}, {}: {bypass}", kind.name());
                let result = campaign.run(&chosen, options.jobs, tell);
                bypasses += result.bypasses.len();
                println!(
                    "{name}\t{}\t{}\t{}\t{}\t{}\t{}\t{:.0}",
                    kind.name(),
                    campaign.instructions.len(),
                    result.tried,
                    result.bypasses.len(),
                    result.misreports,
                    result.hangs,
                    start.elapsed().as_secs_f64()
                );
            }
        }
        if bypasses == 0 { ExitCode::SUCCESS } else { ExitCode::FAILURE }
    }
}
