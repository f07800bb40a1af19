//! Commands and flags. Every long flag has an environment variable: `--no-validate` is
//! `VOUCH_NO_VALIDATE`.

use super::c_args::CArgs;
use super::certify::CertifyArgs;
use super::compile::CompileArgs;
use super::conform::ConformArgs;
use super::device_args::{DeviceArgs, EmulatorArgs};
use super::export::ExportArgs;
use super::flash::{FlashArgs, ProvisionArgs};
use super::help;
use super::init::InitArgs;
use super::keys::{KeygenArgs, RekeyArgs, VerifyArgs};
use super::lint::LintArgs;
use super::manual::{CompletionsArgs, ManualArgs};
use super::matrix::MatrixArgs;
use super::merge::MergeArgs;
use super::page::PageArgs;
use super::project::ProjectArgs;
use super::reports::ReportArgs;
use super::rig::RigArgs;
use super::simulate::SimulateArgs;
use super::suite::TestsArgs;
use super::sweep::SweepArgs;
use clap::builder::{ArgPredicate, FalseyValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum, ValueHint};
use std::path::PathBuf;
use std::time::Duration;
use vouch_host::engines::cegar::Config;
use vouch_host::engines::{Engine, Tuning};
use vouch_host::frontend::elf::ElfOptions;
use vouch_host::frontend::{Language, Overflow};
use vouch_host::pipeline;
use vouch_host::simplify::Passes;

const ABOUT: &str = "Proves firmware state machines on the device that runs them";

const LONG_ABOUT: &str = "\
Proves firmware state machines on the device that runs them.

A model is a state machine with properties: things that must never happen. vouch proves that they
never do, on this machine (check) or on a microcontroller (run), or it shows a run in which one does.

A proof comes with an invariant and a refutation with a run. Both are checked again, by code that
shares nothing with the prover, before a verdict is printed.";

const AFTER_HELP: &str = "\
Examples:
  vouch check pump.vch                          prove or refute, here
  vouch check pump.vch --trace pump.vcd         and write the counterexample as waveforms
  vouch check pump.vch --bind limit=12          for one value of a parameter only
  vouch run pump.vch --target qemu:microbit     the same on an emulated board with 16 KiB of RAM
  vouch run pump.vch --target serial:/dev/ttyACM0
  vouch compile pump.vch -o pump.vimg           sizes, and whether it fits which board
  vouch list                                    boards, ports and engines that there are

Exit codes:
  0  safe, or done
  1  unsafe: a run breaks a property
  2  the command or a file given to it is wrong
  3  unknown: a limit was reached
  4  the device or the line to it failed
  5  something does not match: version, image, certificate or trace

Every long flag can also be set in the environment: `--timeout 60` is VOUCH_TIMEOUT=60, `--json` is
VOUCH_JSON=1. `vouch help COMMAND` lists the flags of a command.";

/// The program.
#[derive(Parser, Debug)]
#[command(name = "vouch", version, about = ABOUT, long_about = LONG_ABOUT, after_help = AFTER_HELP)]
#[command(arg_required_else_help = true, subcommand_required = true, max_term_width = 100)]
pub struct Cli {
    /// How to answer.
    #[command(flatten)]
    pub output: Output,
    /// What it may cost.
    #[command(flatten)]
    pub limits: Limits,
    /// What to do.
    #[command(subcommand)]
    pub command: Command,
}

/// What it may cost.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Stop after this many seconds, in any phase (verdict: unknown)
    #[arg(long, global = true, env = "VOUCH_TIMEOUT", hide_env = true, value_name = "SECONDS")]
    #[arg(value_parser = seconds, allow_negative_numbers = true)]
    pub timeout: Option<Duration>,
    /// Stop when the process has more memory than this, as in 512M or 2G (verdict: unknown) [default: half
    /// of the machine's; Linux only]
    #[arg(long, global = true, env = "VOUCH_MAX_RSS", hide_env = true, value_name = "BYTES")]
    #[arg(value_parser = bytes)]
    pub max_rss: Option<usize>,
}

/// How to answer.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Output")]
pub struct Output {
    /// Print one JSON object and nothing else (docs/cli.md describes it)
    #[arg(long, global = true, env = "VOUCH_JSON", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub json: bool,
    /// Print the verdict alone: no progress, tables, notes or warnings
    #[arg(long, short, global = true, env = "VOUCH_QUIET", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub quiet: bool,
    /// Print more about what is done, on standard error
    #[arg(long, short, global = true, env = "VOUCH_VERBOSE", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new(), conflicts_with = "quiet")]
    pub verbose: bool,
    /// When to use colours
    #[arg(long, global = true, env = "VOUCH_COLOR", hide_env = true)]
    #[arg(value_name = "WHEN", default_value = "auto")]
    pub color: Color,
}

/// When to use colours.
#[derive(ValueEnum, Debug, Clone, Copy, PartialEq, Eq)]
pub enum Color {
    /// On a terminal, unless NO_COLOR is set
    Auto,
    /// Always
    Always,
    /// Never
    Never,
}

/// What to do.
#[derive(Subcommand, Debug)]
pub enum Command {
    /// Prove or refute a model's properties on this machine, or those of all models of a project
    #[command(after_help = "\
Examples:
  vouch check                            all that vouch.toml names, in parallel; what is known is not asked again
  vouch check --watch                    and again whenever something changes
  vouch check pump.vch
  vouch check pump.vch --property never_dry --timeout 60
  vouch check pump.vch --bind limit=12 --certificate pump.cert
  vouch check pump.vch --trace run.vcd --json
  vouch check pump.c valve.c --entry step --loop --checks all
  vouch check --compile-commands build/compile_commands.json --entry step --loop")]
    Check(CheckArgs),
    /// Compile a model into an image, and tell its sizes and which boards it fits
    #[command(after_help = "\
Examples:
  vouch compile pump.vch                 writes pump.vimg into the current folder
  vouch compile pump.vch -o out/p.vimg
  vouch compile pump.vch --json          sizes and memory plan for programs
  vouch compile pump.vch --with-certificate
                                         prove it here and pack the proof for the device to check
  vouch compile firmware.elf --entry step --with-certificate --sign release
                                         and bind it to the code that is flashed")]
    Compile(CompileArgs),
    /// Show what a model or image consists of
    #[command(after_help = "\
Examples:
  vouch inspect pump.vch
  vouch inspect pump.vimg --json
  vouch inspect pump.vch --svg -o pump.svg
  vouch inspect pump.vch --dot | dot -Tsvg > pump.svg")]
    Inspect(InspectArgs),
    /// Have a device prove or refute a model's properties, and validate its answer here
    #[command(after_help = help::run_help())]
    Run(RunArgs),
    /// Check a certificate, independently of the engine that made it
    #[command(after_help = super::certify::AFTER_HELP)]
    Certify(CertifyArgs),
    /// Run a trace in the reference interpreter, and show it
    #[command(after_help = "\
The exit code is 1 if the trace breaks its property, as it is for the check that found it, and 5 if
it is not a run of the model.

Examples:
  vouch check pump.vch --trace pump.trace; vouch replay pump.vch pump.trace
  vouch replay pump.vch pump.trace --trace pump.vcd    converts it into waveforms")]
    Replay(ReplayArgs),
    /// Report what a model's author should know: what never happens, and where the model gets stuck
    #[command(after_help = "\
Beyond what the compiler sees at once, an engine answers: properties that hold only because what they
wait for never happens; states that are never entered; transitions that are never taken; and
deadlocks, where no transition is possible for any input. What is not decided in time (10 s, unless
--timeout is given) is not reported. The exit code is 1 if there is a warning.

Examples:
  vouch lint pump.vch
  vouch lint pump.vch --trace stuck.vcd     and write the run into the first deadlock")]
    Lint(LintArgs),
    /// Give source texts their canonical layout
    #[command(after_help = "\
Only white space changes: tokens and comments stay, in their order. A file with a syntax error is not
touched. With --check nothing is written; the exit code is 1 if some file would change.

Examples:
  vouch fmt pump.vch valve.vch
  vouch fmt --check models/*.vch
  vouch fmt - < pump.vch")]
    Fmt(FmtArgs),
    /// Make a pair of keys for signing models
    #[command(after_help = "\
Examples:
  vouch keygen -o release          writes release (secret) and release.pub (public)
  vouch compile pump.vch --sign release
  vouch provision release.pub --target serial:/dev/ttyACM0")]
    Keygen(KeygenArgs),
    /// Check the signature of an image, and whether it is of a program
    #[command(after_help = "\
The exit code is 5 unless all of the file is what the key's owner signed, and the program's code is the
one that was proved.

Examples:
  vouch verify pump.vimg --key release.pub
  vouch verify pump.vimg --elf firmware.elf")]
    Verify(VerifyArgs),
    /// Make a package that has devices trust another key, or one no more
    #[command(after_help = "\
A device does what the package says if it trusts the key that signed it. First add the new key, then store
a model that is signed with it, then retire the old one. A key that was retired never comes back, and a
device has had four keys at most.

Examples:
  vouch rekey --add next.pub --sign release -o add.vkey
  vouch flash add.vkey --target serial:/dev/ttyACM0
  vouch rekey --retire release.pub --sign next -o retire.vkey")]
    Rekey(RekeyArgs),
    /// Store a model on a device, which tries it at its next start
    #[command(after_help = "\
The device checks the signature before it takes the model, and keeps the one before until the new one
has passed the self-check at the next start. The power may fail at any time.

The model is an image, or a source or a program, which is compiled first (without a certificate: the device
searches for a proof); a package about a key (.vkey) changes which keys the device trusts.

Examples:
  vouch flash firmware.elf --entry step --sign release --target serial:/dev/ttyACM0
  vouch compile pump.vch --sign release --counter 3
  vouch flash pump.vimg --target serial:/dev/ttyACM0
  vouch run pump.vimg --target serial:/dev/ttyACM0 --stored")]
    Flash(FlashArgs),
    /// Set the first key that a device checks signatures with
    Provision(ProvisionArgs),
    /// Write a model in the formats of other tools
    #[command(after_help = "\
Formats:
  aiger   a circuit of gates and latches: binary, or text if the file ends in .aag
  btor2   a circuit of words
  smt2    constrained Horn clauses, for Z3's Spacer and others: `sat` means safe
  dot     a graph for Graphviz

In a circuit the location is a state of its own, pc, and an input, choice, selects the edge
that is taken.

Examples:
  vouch export pump.vch -o pump.aig
  vouch export pump.vch --to smt2 --property never_dry | z3 -in")]
    Export(ExportArgs),
    /// Make tests from a model: runs that cover all that is reachable, and a proof for what is not
    #[command(after_help = super::suite::AFTER_HELP)]
    Tests(TestsArgs),
    /// Compare a recorded log with a model: is it a run, and if not, which line cannot be?
    #[command(after_help = super::conform::AFTER_HELP)]
    Conform(ConformArgs),
    /// Step through a model: choose what happens, back and forward
    #[command(after_help = super::simulate::after_help())]
    Simulate(SimulateArgs),
    /// Write a vouch.toml for what is in this folder
    #[command(after_help = super::init::AFTER_HELP)]
    Init(InitArgs),
    /// Show which property covers which requirement, with verdicts and proofs
    #[command(after_help = super::matrix::AFTER_HELP)]
    Matrix(MatrixArgs),
    /// Find the parameter values for which each property holds, with a proof or a run for each
    #[command(after_help = super::sweep::AFTER_HELP)]
    Sweep(SweepArgs),
    /// Check models on all devices of a rig, at the same time
    #[command(after_help = super::rig::AFTER_HELP)]
    Rig(RigArgs),
    /// Merge the parts of a sweep or of a rig's run into one result
    #[command(after_help = super::merge::AFTER_HELP)]
    Merge(MergeArgs),
    /// List boards, serial ports, probes and engines
    List(ListArgs),
    /// Print the script with which a shell completes commands and flags
    #[command(after_help = "\
Examples:
  vouch completions bash > ~/.local/share/bash-completion/completions/vouch
  vouch completions zsh > ~/.zfunc/_vouch
  vouch completions fish > ~/.config/fish/completions/vouch.fish")]
    Completions(CompletionsArgs),
    /// Write manual pages, one for each command
    #[command(after_help = "\
Examples:
  vouch manual ~/.local/share/man/man1 && man vouch-check")]
    Manual(ManualArgs),
}

impl Command {
    /// The model that it is about, and further files of it.
    pub fn model(&mut self) -> Option<(&mut ModelArgs, &[PathBuf])> {
        use Command::*;
        match self {
            Check(args) => Some((&mut args.model, &args.more)),
            Lint(args) => Some((&mut args.model, &args.more)),
            Compile(args) => Some((&mut args.model, &[])),
            Inspect(args) => Some((&mut args.model, &[])),
            Run(args) => Some((&mut args.model, &[])),
            Flash(args) => Some((&mut args.model, &[])),
            Certify(args) => Some((&mut args.model, &[])),
            Replay(args) => Some((&mut args.model, &[])),
            Export(args) => Some((&mut args.model, &[])),
            Tests(args) => Some((&mut args.model, &[])),
            Conform(args) => Some((&mut args.model, &[])),
            Simulate(args) => Some((&mut args.model, &[])),
            Sweep(args) => Some((&mut args.model, &[])),
            Fmt(_) | Keygen(_) | Verify(_) | Rekey(_) | Provision(_) | List(_) | Init(_)
            | Matrix(_) | Completions(_) | Manual(_) | Rig(_) | Merge(_) => None,
        }
    }

    /// Brings together what belongs together.
    pub fn settle(&mut self) {
        if let Some((model, more)) = self.model() {
            model.settle(more);
        }
    }

    /// The reports that are wanted of it, and of which file it is.
    pub fn reports(&self) -> Option<(ReportArgs, PathBuf)> {
        match self {
            // A project writes its own, for all of its models.
            Command::Check(args) if args.project.is_one(&args.model.model) => {
                Some((args.reports.clone(), args.model.model.clone()))
            }
            _ => None,
        }
    }

    /// Whether it answers with a verdict.
    pub fn is_verdict(&self) -> bool {
        use Command::*;
        matches!(self, Check(_) | Run(_) | Certify(_) | Replay(_))
    }
}

/// The model's path if only a compilation database is named.
const DATABASE: &str = "-";
/// The model's path if nothing is named: the project.
pub const PROJECT: &str = ".";

/// The model.
#[derive(Args, Debug, Clone)]
pub struct ModelArgs {
    #[arg(value_hint = ValueHint::FilePath, help = help::models())]
    #[arg(required = false, default_value = PROJECT, hide_default_value = true)]
    #[arg(default_value_if("compile_commands", ArgPredicate::IsPresent, DATABASE))]
    pub model: PathBuf,
    #[arg(long, env = "VOUCH_LANG", hide_env = true, value_name = "LANGUAGE", help = help::languages())]
    pub lang: Option<Language>,
    /// What arithmetic does when a result does not fit its type: wrap, error (break the property
    /// `no_overflow`), or assume (that it does not happen); an image has it compiled in
    #[arg(long, env = "VOUCH_OVERFLOW", hide_env = true, value_name = "MODE")]
    #[arg(default_value = "wrap")]
    pub overflow: Overflow,
    /// How the model is simplified: all, none, default, or names of passes with commas between them,
    /// `-NAME` to leave one out (listed in docs/passes.md); verdicts do not depend on it [default:
    /// all for C, default for others; -equal,-narrow for ic3-cegar]
    #[arg(long, env = "VOUCH_PASSES", hide_env = true, value_name = "LIST")]
    #[arg(allow_hyphen_values = true)]
    pub passes: Option<Passes>,
    /// Show what each pass has removed, on standard error
    #[arg(long, env = "VOUCH_STATS", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub stats: bool,
    #[command(flatten)]
    pub c: CArgs,
    #[command(flatten)]
    pub elf: ElfArgs,
}

impl ModelArgs {
    /// A compilation database without a file is the model.
    fn settle(&mut self, more: &[PathBuf]) {
        self.c.units.extend(more.iter().map(|path| path.display().to_string()));
        if let Some(database) = self.c.compile_commands.as_ref()
            && self.model.as_os_str() == DATABASE
        {
            self.model = database.into();
            self.lang = Some(Language::C);
        }
    }

    /// How the model is read.
    pub fn options(&self) -> pipeline::Options {
        pipeline::Options {
            language: self.lang,
            overflow: self.overflow,
            passes: self.passes.clone(),
            c: self.c.options(),
            elf: self.elf(),
        }
    }

    /// How machine code is lifted.
    pub fn elf(&self) -> ElfOptions {
        let ElfArgs { inputs, always } = self.elf.clone();
        let (init, interrupts) = (self.c.init.clone(), self.c.interrupts());
        ElfOptions { entry: self.c.entry.clone(), init, inputs, interrupts, always }
    }
}

/// What only machine code needs.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "ELF")]
pub struct ElfArgs {
    /// A static whose value, or a function whose result, can be anything whenever it is asked for; can be
    /// repeated
    #[arg(long = "input", env = "VOUCH_INPUT", hide_env = true, value_name = "SYMBOL")]
    #[arg(value_delimiter = ',')]
    pub inputs: Vec<String>,
    /// A function that must return true between any two steps; can be repeated
    #[arg(long, env = "VOUCH_ALWAYS", hide_env = true, value_name = "FUNCTION")]
    #[arg(value_delimiter = ',')]
    pub always: Vec<String>,
}

/// What is asked of the model.
#[derive(Args, Debug, Clone)]
pub struct AskArgs {
    /// Ask about this property only
    #[arg(long, env = "VOUCH_PROPERTY", hide_env = true, value_name = "NAME")]
    pub property: Option<String>,
    /// Fix a parameter; can be repeated [in the environment: separated by commas]
    #[arg(long, env = "VOUCH_BIND", hide_env = true, value_name = "PARAMETER=VALUE")]
    #[arg(value_delimiter = ',')]
    pub bind: Vec<String>,
}

/// What limits the search, and what is kept of its result.
#[derive(Args, Debug, Clone)]
pub struct ProofArgs {
    /// Give up after this much work, counted in propagated literals (verdict: unknown); unlike time
    /// it is the same on every machine
    #[arg(long, env = "VOUCH_BUDGET", hide_env = true, value_name = "UNITS")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..))]
    pub budget: Option<u64>,
    /// Write the invariant that proves the model, if it is safe
    #[arg(long, env = "VOUCH_CERTIFICATE", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub certificate: Option<PathBuf>,
    #[arg(long, env = "VOUCH_TRACE", hide_env = true, value_name = "FILE")]
    #[arg(help = help::run_file("Write the run that breaks the model, if it is unsafe"))]
    #[arg(value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
    /// Write the run that breaks the model, if it is unsafe, as a C program that includes the source
    /// and runs into the failure (C only)
    #[arg(long, env = "VOUCH_HARNESS", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub harness: Option<PathBuf>,
    /// Write what other tools check: the stimulus that breaks a circuit (AIGER or BTOR2), the witness
    /// circuit of a safe one (AIGER), or the verification witness (YAML 2.0) of a C program
    #[arg(long, env = "VOUCH_WITNESS", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub witness: Option<PathBuf>,
    /// Say what holds in every run, state by state, in the model's own names: the invariant that proves it
    #[arg(long, env = "VOUCH_EXPLAIN", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub explain: bool,
    /// Show the run that was found first; without it a shorter one is looked for, and one with simpler
    /// values, in as much time again at most
    #[arg(long, env = "VOUCH_FIRST_RUN", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub first_run: bool,
    /// Print the verdict as the engine gives it, without validation; for benchmarks
    #[arg(long, env = "VOUCH_NO_VALIDATE", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub no_validate: bool,
}

/// Arguments of `check`.
#[derive(Args, Debug, Clone)]
pub struct CheckArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Further files of a program in C
    #[arg(value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub more: Vec<PathBuf>,
    #[command(flatten)]
    pub ask: AskArgs,
    #[command(flatten)]
    pub proof: ProofArgs,
    #[arg(long, env = "VOUCH_ENGINE", hide_env = true, value_name = "NAME", help = help::engines())]
    #[arg(default_value_t = Engine::Auto)]
    pub engine: Engine,
    /// Run N engines at once, each in a thread of its own: the first whose verdict is validated wins (at
    /// most 3 are of use)
    #[arg(long, env = "VOUCH_THREADS", hide_env = true, value_name = "N")]
    #[arg(default_value_t = 1, conflicts_with = "engine")]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=64))]
    pub threads: usize,
    /// With tree-ic3-itp: take an interpolant if its clauses are at most N times as large
    #[arg(long, env = "VOUCH_INTERPOLANT_GROWTH", hide_env = true, value_name = "N")]
    #[arg(default_value_t = Tuning::default().growth)]
    pub interpolant_growth: u32,
    /// With ic3-cegar, what is switched on: noopt, c, cg, cr, cgr, crl, cgrl or crb, for counterexamples to
    /// generalisation, geometric generalisation, refinement state mining, lazy refinement, bounds before all else
    #[arg(long, env = "VOUCH_CEGAR", hide_env = true, value_name = "NAME")]
    #[arg(default_value_t = Tuning::default().cegar)]
    pub cegar: Config,
    #[command(flatten)]
    pub page: PageArgs,
    /// Try this certificate first: if it proves all that is asked, nothing is searched for; else the search begins with what
    /// still holds of it
    #[arg(long, env = "VOUCH_SEED", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub seed: Option<PathBuf>,
    /// Memory for the engine, as in 40K, 512M or 2G [default: as much as it needs, up to 1G]
    #[arg(long, env = "VOUCH_MEMORY", hide_env = true, value_name = "BYTES")]
    #[arg(value_parser = bytes)]
    pub memory: Option<usize>,
    #[command(flatten)]
    pub reports: ReportArgs,
    #[command(flatten)]
    pub project: ProjectArgs,
}

/// Arguments of `inspect`.
#[derive(Args, Debug)]
pub struct InspectArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// Print the automaton as a graph for Graphviz
    #[arg(long, env = "VOUCH_DOT", hide_env = true, conflicts_with = "json")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub dot: bool,
    /// Draw the machines: states, transitions with their guards, properties
    #[arg(long, env = "VOUCH_SVG", hide_env = true, conflicts_with_all = ["json", "dot"])]
    #[arg(value_parser = FalseyValueParser::new())]
    pub svg: bool,
    /// Show what `--passes` leave, instead of the model as it is written
    #[arg(long, env = "VOUCH_SIMPLIFIED", hide_env = true, conflicts_with = "svg")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub simplified: bool,
    /// The file that --dot or --svg is written to [default: standard output]
    #[arg(long, short, env = "VOUCH_OUTPUT", hide_env = true, value_name = "FILE")]
    #[arg(value_hint = ValueHint::FilePath)]
    pub output: Option<PathBuf>,
}

/// Arguments of `run`.
#[derive(Args, Debug)]
pub struct RunArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    #[command(flatten)]
    pub ask: AskArgs,
    #[command(flatten)]
    pub proof: ProofArgs,
    #[command(flatten)]
    pub device: DeviceArgs,
    /// Use the model that the device has stored, which must be this one, where it lies in flash
    #[arg(long, env = "VOUCH_STORED", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub stored: bool,
    /// Show the device's log on standard error
    #[arg(long, env = "VOUCH_LOG", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub log: bool,
}

/// Arguments of `replay`. With a compilation database the trace alone is named.
#[derive(Args, Debug)]
#[command(allow_missing_positional = true)]
pub struct ReplayArgs {
    #[command(flatten)]
    pub model: ModelArgs,
    /// The trace, as `--trace` writes it (not VCD or JSON)
    #[arg(value_name = "TRACE", value_hint = ValueHint::FilePath)]
    pub input: PathBuf,
    /// Require that a parameter has this value; can be repeated
    #[arg(long, env = "VOUCH_BIND", hide_env = true, value_name = "PARAMETER=VALUE")]
    #[arg(value_delimiter = ',')]
    pub bind: Vec<String>,
    #[arg(long, env = "VOUCH_TRACE", hide_env = true, value_name = "FILE")]
    #[arg(help = help::run_file("Write the run to a file"))]
    #[arg(value_hint = ValueHint::FilePath)]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub page: PageArgs,
}

/// Arguments of `fmt`.
#[derive(Args, Debug)]
pub struct FmtArgs {
    /// The files, which are rewritten; `-` represents standard input and output
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<PathBuf>,
    /// Write nothing; list the files that would change, and end with exit code 1 if there are any
    #[arg(long, env = "VOUCH_CHECK", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub check: bool,
    /// Print the result instead of rewriting the files
    #[arg(long, env = "VOUCH_STDOUT", hide_env = true, conflicts_with = "check")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub stdout: bool,
    /// The files' language, if it does not follow from their names [default: vch]
    #[arg(long, env = "VOUCH_LANG", hide_env = true, value_name = "LANGUAGE")]
    pub lang: Option<Language>,
}

/// Arguments of `list`.
#[derive(Args, Debug)]
pub struct ListArgs {
    #[command(flatten)]
    pub emulator: EmulatorArgs,
}

/// A time in seconds.
fn seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "give a positive number of seconds, as in 60 or 0.5".to_string();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    let time = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    if time.is_zero() { Err(wrong()) } else { Ok(time) }
}

/// A size in bytes, with K, M or G for powers of 1024.
pub fn bytes(text: &str) -> Result<usize, String> {
    let wrong = || "give a number of bytes, as in 65536, 40K, 512M or 2G".to_string();
    let text = text.strip_suffix('B').unwrap_or(text);
    let text = text.strip_suffix('i').unwrap_or(text);
    let units = [(['K', 'k'], 10), (['M', 'm'], 20), (['G', 'g'], 30)];
    let unit = units.iter().find_map(|(unit, shift)| Some((text.strip_suffix(*unit)?, *shift)));
    let (digits, shift) = unit.unwrap_or((text, 0));
    let number: usize = digits.parse().map_err(|_| wrong())?;
    number.checked_mul(1 << shift).filter(|n| *n > 0).ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definitions_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn every_long_flag_has_its_environment_variable() {
        let mut command = Cli::command();
        command.build();
        let mut seen = 0;
        for command in command.get_subcommands().chain([&command]) {
            for arg in command.get_arguments() {
                let Some(long) = arg.get_long().filter(|l| !["help", "version"].contains(l)) else {
                    continue;
                };
                let expected = format!("VOUCH_{}", long.to_uppercase().replace('-', "_"));
                assert_eq!(arg.get_env(), Some(expected.as_ref()), "--{long}");
                seen += 1;
            }
        }
        assert!(seen > 30);
    }

    #[test]
    fn sizes_and_times_are_read() {
        assert_eq!(bytes("65536"), Ok(65536));
        assert_eq!(
            ["40K", "40k", "40KiB", "40KB"].map(bytes),
            [Ok(40960), Ok(40960), Ok(40960), Ok(40960)]
        );
        assert_eq!(bytes("2G"), Ok(2 << 30));
        for text in ["", "K", "-1", "0", "1T", "B", "i", "12 K", "99999999999999999999", "é"] {
            assert!(bytes(text).is_err(), "{text}");
        }
        assert_eq!(seconds("0.5"), Ok(Duration::from_millis(500)));
        for text in ["", "0", "-1", "inf", "NaN", "1m", "1e300"] {
            assert!(seconds(text).is_err(), "{text}");
        }
    }
}
