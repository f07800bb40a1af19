//! `vouch check` without a model: all that `vouch.toml` names.

use super::args::{CheckArgs, Cli};
use super::context::{self, Context};
use super::failure::{Failure, Kind, plain};
use super::settings;
use clap::builder::FalseyValueParser;
use clap::{Args, CommandFactory, FromArgMatches};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use vouch_host::frontend::{Diagnostic, Source};
use vouch_host::memory;
use vouch_host::project::file::{self, Setting};
use vouch_host::project::schedule::{longest_first, processors, run};
use vouch_host::project::work::{Done, Shop, Task};
use vouch_host::project::{self, Check, FILE, Project, keys};
use vouch_host::report::results::markdown::total;
use vouch_host::report::results::{Checked, Item, exit_code};
use vouch_host::report::text::{because, duration};
use vouch_host::verdict::Verdict;

/// Between two looks at the files.
const LOOK: Duration = Duration::from_millis(500);
/// What is about one model's result and cannot be said for all.
const FOR_ONE: [&str; 10] = [
    "property",
    "bind",
    "certificate",
    "trace",
    "harness",
    "witness",
    "explain",
    "no-validate",
    "html",
    "seed",
];

/// How a project is checked.
#[derive(Args, Debug, Clone)]
#[command(next_help_heading = "Project")]
pub struct ProjectArgs {
    /// Without a model: check N at once [default: the number of processors]
    #[arg(long, short, env = "VOUCH_JOBS", hide_env = true, value_name = "N")]
    #[arg(value_parser = clap::builder::RangedU64ValueParser::<usize>::new().range(1..=1024))]
    pub jobs: Option<usize>,
    /// Without a model: check all again, without the cache
    #[arg(long, env = "VOUCH_NO_CACHE", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub no_cache: bool,
    /// Without a model: check again whenever something changes
    #[arg(long, env = "VOUCH_WATCH", hide_env = true, conflicts_with = "json")]
    #[arg(value_parser = FalseyValueParser::new())]
    pub watch: bool,
    /// With a model: do not look for what vouch.toml says of it
    #[arg(long, env = "VOUCH_NO_PROJECT", hide_env = true)]
    #[arg(value_parser = FalseyValueParser::new())]
    pub no_project: bool,
}

impl ProjectArgs {
    /// Whether one model is named, rather than a project.
    pub fn is_one(&self, model: &Path) -> bool {
        self.no_project || !model.is_dir()
    }
}

/// Runs `vouch check` on the models of a project; returns the exit code.
pub fn command(args: &CheckArgs, context: &mut Context) -> Result<u8, Failure> {
    let given = Given::of_command_line("check")?;
    if let Some(flag) = FOR_ONE.into_iter().find(|flag| given.has(flag)) {
        let message =
            format!("`--{flag}` is about one model\nhelp: name it: `vouch check MODEL --{flag} …`");
        return Err(Failure::usage(message));
    }
    let reports = args.reports.absolute();
    let file = locate(&args.model.model)?;
    let prefix = prefix(&file);
    let mut how = args.project.clone();
    loop {
        let plan = read(&file).and_then(|project| Plan::new(project, &given, &how, context));
        let plan = match plan {
            // Somebody is writing it.
            Err(failure) if how.watch => {
                context.alarm(&failure.to_text(false));
                match changed(&file, None, context) {
                    true => continue,
                    false => return Err(failure),
                }
            }
            plan => plan?,
        };
        let results = plan.run(context);
        let code = tell(&plan, &results, context);
        let items: Vec<Item> =
            results.iter().map(|done| done.item.clone().below(&prefix)).collect();
        reports.write(&items, context)?;
        if !how.watch || !changed(&file, Some((&plan, &results)), context) {
            return Ok(code);
        }
        context.print("");
        how.no_cache = false;
    }
}

/// The project's file that a folder belongs to.
pub fn locate(folder: &Path) -> Result<PathBuf, Failure> {
    project::find(folder).ok_or_else(|| {
        Failure::usage(format!(
            "no model is named, and there is no {FILE} in {} or above\nhelp: name one (`vouch check MODEL`), or \
             write a {FILE} with `vouch init`",
            folder.display()
        ))
    })
}

/// Reads a project's file.
pub fn read(file: &Path) -> Result<Project, Failure> {
    let read = file::read(file);
    let read = read
        .map_err(|e| Failure::new(Kind::Input, format!("cannot read {}: {e}", file.display())))?;
    read.map_err(|(source, errors)| wrong(source, errors))
}

/// What reports put before the paths of a project: CI systems want them as seen from the repository, which is the folder that
/// the command is run in unless GitHub says otherwise.
fn prefix(file: &Path) -> PathBuf {
    let workspace = std::env::var_os("GITHUB_WORKSPACE").map(PathBuf::from);
    let folders = [workspace, std::env::current_dir().ok()].into_iter().flatten();
    let root = file.parent().unwrap_or(Path::new(""));
    let below = |folder: PathBuf| {
        let folder = std::fs::canonicalize(folder).ok()?;
        root.strip_prefix(folder).ok().map(Path::to_path_buf)
    };
    folders.filter_map(below).next().unwrap_or_default()
}

/// The flags on the command line, and their values.
pub struct Given(BTreeMap<String, Vec<String>>);

impl Given {
    /// Those of this process.
    pub fn of_command_line(command: &'static str) -> Result<Given, Failure> {
        let args = super::c_args::as_flags(std::env::args_os());
        let matches = Cli::command().try_get_matches_from(args);
        let matches = matches.map_err(|e| Failure::usage(e.to_string()))?;
        let Some(own) = matches.subcommand_matches(command) else {
            return Ok(Given(BTreeMap::new()));
        };
        let value = |(flag, id): (String, String)| Some((flag, settings::own(own, &id)?));
        Ok(Given(settings::ids(command).into_iter().filter_map(value).collect()))
    }

    fn has(&self, flag: &str) -> bool {
        self.0.contains_key(flag)
    }

    /// A check's settings with what the command line says instead, and what is to be told of that.
    fn over(&self, check: &Check, file: &str, notes: &mut BTreeMap<String, Vec<String>>) -> Check {
        let mut check = check.clone();
        for key in keys::FLAGS.iter().filter(|key| key.name != "timeout") {
            let Some(values) = self.0.get(key.name).cloned() else { continue };
            if let Some(setting) = check.settings.iter().find(|s| s.key == key && key.means)
                && let Some(note) = settings::differs(setting, &values, file)
            {
                notes.entry(note).or_default().push(check.name.clone());
            }
            check.settings.retain(|setting| setting.key != key);
            let span = check.span;
            let values = if key.kind == keys::Kind::Switch { vec![] } else { values };
            check.settings.push(Setting { key, values, span });
        }
        check
    }
}

/// All that is to be done.
pub struct Plan {
    /// As the file says.
    pub project: Project,
    shop: Shop,
    tasks: Vec<Task>,
    jobs: usize,
}

impl Plan {
    /// For a project; moves into its folder.
    pub fn new(
        project: Project,
        given: &Given,
        args: &ProjectArgs,
        context: &Context,
    ) -> Result<Plan, Failure> {
        let enter = std::env::set_current_dir(&project.root);
        enter.map_err(|e| {
            Failure::new(Kind::Input, format!("cannot enter {}: {e}", project.root.display()))
        })?;
        let mut notes = BTreeMap::new();
        let (mut tasks, mut errors) = (vec![], vec![]);
        for check in &project.checks {
            let check = given.over(check, FILE, &mut notes);
            match task(check) {
                Ok(task) => tasks.push(task),
                Err(error) => errors.push(error),
            }
        }
        if !errors.is_empty() {
            return Err(wrong(project.source, errors));
        }
        for (note, names) in notes {
            context.note(&format!("{note} for {}", names.join(", ")));
        }
        let jobs = args.jobs.unwrap_or_else(processors);
        let tool = std::env::current_exe();
        let tool =
            tool.map_err(|e| Failure::new(Kind::Internal, format!("where is vouch? {e}")))?;
        let shop = Shop {
            tool,
            root: project.root.clone(),
            use_cache: !args.no_cache,
            need_proof: false,
            max_rss: memory::installed().map(|bytes| bytes / 2 / jobs as u64),
            deadline: context.deadline().clone(),
        };
        Ok(Plan { project, shop, tasks, jobs })
    }

    /// Verdicts count only with their proofs.
    pub fn with_proofs(mut self) -> Plan {
        self.shop.need_proof = true;
        self
    }

    /// Does it all; shows each result as soon as those before it are there.
    pub fn run(&self, context: &mut Context) -> Vec<Done> {
        self.run_and(context, !context.json && !context.quiet)
    }

    /// Does it all.
    pub fn run_silently(&self, context: &mut Context) -> Vec<Done> {
        self.run_and(context, false)
    }

    fn run_and(&self, context: &mut Context, speaks: bool) -> Vec<Done> {
        let times: Vec<Option<f64>> = self.tasks.iter().map(|t| self.shop.last_time(t)).collect();
        let order = longest_first(&times);
        let width = self.tasks.iter().map(|t| t.check.name.chars().count()).max().unwrap_or(0);
        context.stage("checking");
        let total = self.tasks.len();
        let (mut waiting, mut next, mut count) = (BTreeMap::new(), 0, 0);
        let shown = &*context;
        let results = run(
            self.jobs,
            &self.tasks,
            &order,
            |task| self.shop.work(task),
            |at, done| {
                count += 1;
                shown.advance(|| format!("{count} of {total}"));
                waiting.insert(at, done.clone());
                while let Some(done) = waiting.remove(&next) {
                    next += 1;
                    if speaks {
                        shown.print(&row(&done, width, shown));
                    }
                }
            },
        );
        context.finish();
        results
    }
}

/// What is wrong with the project's file.
fn wrong(source: Source, errors: Vec<Diagnostic>) -> Failure {
    let message = plain(&source, &errors);
    Failure { kind: Kind::Input, message, places: Some((source, errors)) }
}

/// A check with its flags understood; or which of its settings is not.
fn task(check: Check) -> Result<Task, Diagnostic> {
    let parse = |flags: &[String]| {
        let args = ["vouch", "check", "--no-project"].into_iter().map(String::from);
        let args = args.chain(flags.iter().cloned()).chain(["--".into(), check.path.clone()]);
        let matches = Cli::command().try_get_matches_from(args)?;
        Cli::from_arg_matches(&matches)
    };
    let complaint = |error: &clap::Error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        first.trim_start_matches("error: ").to_string()
    };
    let flags = check.flags();
    match parse(&flags).map(|cli| cli.command) {
        Ok(super::args::Command::Check(args)) => {
            Ok(Task { options: args.model.options(), flags, check })
        }
        Ok(_) => Err(Diagnostic::error("this is not a check", check.span, "")),
        Err(error) => {
            let culprit = |setting: &&Setting| parse(&setting.flags()).is_err();
            let culprit = check.settings.iter().find(culprit);
            let span = culprit.map_or(check.span, |setting| setting.span);
            let error = Diagnostic::error(complaint(&error), span, "not accepted");
            Err(match culprit {
                Some(s) => error.help(format!("`vouch help check` describes `--{}`", s.key.name)),
                None => error,
            })
        }
    }
}

/// One line on a check.
fn row(done: &Done, width: usize, context: &Context) -> String {
    let Item { name, checked, .. } = &done.item;
    let about = match checked {
        Checked::Failed(failed) => {
            failed.error.message.lines().next().unwrap_or_default().to_string()
        }
        Checked::Done(outcome) => {
            let worst = outcome.properties.iter().find(|p| p.verdict == outcome.verdict);
            let time = outcome.time_s.map(duration).unwrap_or_default();
            let count = match outcome.properties.len() {
                1 => "1 property".to_string(),
                n => format!("{n} properties"),
            };
            let about = match (outcome.verdict, worst) {
                (Verdict::Safe, _) => format!("{count}, {time}"),
                (_, Some(p)) => format!("{}: {}", p.name, because(p, outcome.validated)),
                (_, None) => outcome.reason.as_ref().map(ToString::to_string).unwrap_or_default(),
            };
            if outcome.cached { format!("{about}, cached") } else { about }
        }
    };
    let blanks = " ".repeat(width.saturating_sub(name.chars().count()));
    let word = format!("{:7}", checked.word());
    let word = context.style.paint_word(&word);
    format!("{name}{blanks}  {word}  {about}").trim_end().to_string()
}

/// Shows what is known of all; returns the exit code.
fn tell(plan: &Plan, results: &[Done], context: &Context) -> u8 {
    context.monitor.answer();
    let items: Vec<Item> = results.iter().map(|done| done.item.clone()).collect();
    let code = exit_code(&items);
    if context.json {
        let models: Vec<_> =
            results.iter().zip(&plan.tasks).map(|(done, task)| entry(done, task)).collect();
        context::print(&json!({ "models": models, "exit_code": code }).to_string());
        return code;
    }
    note_failures(&items, context);
    let cached = |done: &&Done| matches!(&done.item.checked, Checked::Done(o) if o.cached);
    let cached = results.iter().filter(cached).count();
    let cached = if cached > 0 { format!(" ({cached} cached)") } else { String::new() };
    context.print(&format!("{}{cached}", total(&items)));
    let broken =
        results.iter().zip(&plan.tasks).find(|(done, _)| done.item.checked.exit_code() == 1);
    if let Some((done, _)) = broken {
        context.note(&format!("help: `vouch check {}` shows the run", done.item.path));
    }
    code
}

/// Says why models could not be checked.
pub fn note_failures(items: &[Item], context: &Context) {
    for item in items {
        if let Checked::Failed(failed) = &item.checked {
            context.note(&format!("{}: {}", item.name, failed.error.message));
        }
    }
}

/// One check, for programs.
fn entry(done: &Done, task: &Task) -> serde_json::Value {
    let Item { name, path, checked } = &done.item;
    json!({
        "name": name,
        "path": path,
        "flags": task.flags,
        "certificate": done.proof,
        "result": checked,
    })
}

/// Waits until a file of the project has changed. It never does once the command is to end.
fn changed(file: &Path, done: Option<(&Plan, &[Done])>, context: &mut Context) -> bool {
    let text = || std::fs::read_to_string(file).ok();
    let before = match done {
        Some((plan, _)) => Some(plan.project.source.text.clone()),
        None => text(),
    };
    context.note("watching: Ctrl-C ends it");
    loop {
        let start = Instant::now();
        while start.elapsed() < LOOK {
            if context.deadline().over().is_some() {
                return false;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        let is_new = |(plan, results): (&Plan, &[Done])| {
            let mut pairs = plan.tasks.iter().zip(results);
            pairs.any(|(task, done)| plan.shop.content(task) != done.content)
        };
        if text() != before || done.is_some_and(is_new) {
            return true;
        }
    }
}
