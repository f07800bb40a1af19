//! Where output goes and how it looks; progress.
//!
//! Results go to standard output, everything else to standard error. That nobody reads them any
//! more (`vouch … | head`) is not a reason to complain, and does not change the exit code; that they
//! cannot be written, as on a full disk, is one.

use super::args::{Color, Output};
use super::failure::Failure;
use super::monitor::{self, Monitor};
use super::reports::ReportArgs;
use super::verdict;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::io::{self, IsTerminal, Write};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use vouch_core::ic3::Stats;
use vouch_host::check::Progress;
use vouch_host::deadline::Deadline;
use vouch_host::escape;
use vouch_host::frontend::{Diagnostic, Source, render_with};
use vouch_host::judge::Question;
use vouch_host::pipeline::Loaded;
use vouch_host::report::Style;
use vouch_host::report::json::Outcome;
use vouch_host::report::results::{Checked, Item};

/// Columns when there is no terminal to ask.
const WIDTH: usize = 100;

/// All that a command needs to answer.
pub struct Context {
    /// One JSON object.
    pub json: bool,
    /// The verdict alone.
    pub quiet: bool,
    /// How reports look.
    pub style: Style,
    verbose: bool,
    /// Colours on standard error.
    colour: bool,
    /// Shared with what brings lines from elsewhere.
    progress: Arc<Mutex<Option<ProgressBar>>>,
    /// Watches over the command.
    pub monitor: Arc<Monitor>,
    /// The reports that are wanted of a check, and of which file it is.
    pub reports: Option<(ReportArgs, PathBuf)>,
}

/// What hindered writing to standard output.
static UNWRITTEN: OnceLock<String> = OnceLock::new();

/// Why something could not be written to standard output.
pub fn unwritten() -> Option<&'static str> {
    UNWRITTEN.get().map(String::as_str)
}

/// Writes a JSON object to standard output, on a line of its own.
pub fn print(text: &str) {
    put(&escape::json(text));
}

/// Writes a line to standard output.
fn put(text: &str) {
    match text.ends_with('\n') {
        true => print_raw(text.as_bytes()),
        false => print_raw(format!("{text}\n").as_bytes()),
    }
}

/// Writes to standard output as it is.
pub fn print_raw(bytes: &[u8]) {
    let mut out = io::stdout().lock();
    written(out.write_all(bytes).and_then(|()| out.flush()));
}

/// Keeps in mind that something could not be written. That nobody listens is not an error.
pub fn written(result: io::Result<()>) {
    if let Err(error) = result
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        UNWRITTEN.get_or_init(|| error.to_string());
    }
}

/// Writes a line to standard error.
pub fn complain(text: &str) {
    complain_in(text, false);
}

/// The same, with colours. Nothing else that a device, a model or a file has a name for gets to a terminal.
fn complain_in(text: &str, colours: bool) {
    let mut out = io::stderr().lock();
    let _ = writeln!(out, "{}", escape::lines(text.trim_end(), colours));
}

impl Context {
    /// As the user wants it.
    pub fn new(output: &Output, monitor: Arc<Monitor>) -> Context {
        let colour = |terminal: bool| match output.color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => {
                let plain = std::env::var_os("NO_COLOR").is_some_and(|v| !v.is_empty());
                terminal && !plain && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
            }
        };
        let style = Style {
            width: width(),
            unicode: unicode(),
            colour: colour(io::stdout().is_terminal()),
            counters: output.verbose,
            ..Style::default()
        };
        Context {
            json: output.json,
            quiet: output.quiet,
            style,
            verbose: output.verbose,
            colour: colour(io::stderr().is_terminal()),
            progress: Arc::default(),
            monitor,
            reports: None,
        }
    }

    /// Writes the reports that are wanted of a check.
    pub fn publish(&self, checked: Checked) -> Result<(), Failure> {
        let Some((reports, path)) = &self.reports else { return Ok(()) };
        let name = match &checked {
            Checked::Done(outcome) => outcome.model.clone(),
            Checked::Failed(_) => None,
        };
        let stem = || path.file_stem().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
        let path = path.display().to_string();
        reports.write(&[Item { name: name.unwrap_or_else(stem), path, checked }], self)
    }

    /// When the command must end.
    pub fn deadline(&self) -> &Deadline {
        &self.monitor.deadline
    }

    /// The same with the time to put in order what is there when it has ended.
    pub fn last_moments(&self) -> Deadline {
        self.monitor.deadline.with_grace(self.monitor.grace)
    }

    /// Shows a result for people.
    pub fn print(&self, text: &str) {
        self.pause(|| put(&escape::lines(text, self.style.colour)));
    }

    /// Shows something that did not hinder the command.
    pub fn note(&self, text: &str) {
        if !self.quiet && !self.json {
            self.complain(text);
        }
    }

    /// Whether all is to be told.
    pub fn is_verbose(&self) -> bool {
        self.verbose
    }

    /// Shows what only curious people want to know.
    pub fn tell(&self, text: impl FnOnce() -> String) {
        if self.verbose {
            self.complain(&text());
        }
    }

    /// Shows what must not be overlooked, however quiet it should be.
    pub fn alarm(&self, text: &str) {
        self.complain(text);
    }

    /// Some texts have the colours of standard output.
    fn complain(&self, text: &str) {
        self.pause(|| complain_in(text, self.colour || self.style.colour));
    }

    /// Shows why a command has failed.
    pub fn fail(&mut self, failure: &Failure) {
        self.finish();
        self.monitor.answer();
        if self.json {
            print(&failure.to_json());
        } else {
            self.complain(&failure.to_text(self.colour));
        }
        if let Err(other) = self.publish(Checked::Failed(failure.to_outcome())) {
            self.complain(&other.to_text(self.colour));
        }
    }

    /// Shows what looks odd about a model.
    pub fn warn(&self, source: &Source, warnings: &[Diagnostic]) {
        if !warnings.is_empty() {
            let text = render_with(source, warnings, self.colour);
            self.note(text.trim_end());
        }
    }

    /// Begins a stage of the work.
    pub fn stage(&mut self, what: &str) {
        self.finish();
        self.tell(|| what.to_string());
        self.deadline().set_phase(what);
        if self.quiet || self.json || !io::stderr().is_terminal() {
            return;
        }
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(10));
        let template = "{spinner} {prefix} {elapsed} {wide_msg}";
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.tick_chars(if self.style.unicode {
                "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏ "
            } else {
                "|/-\\ "
            }));
        }
        bar.set_prefix(escape::text(what));
        bar.enable_steady_tick(Duration::from_millis(100));
        *lock(&self.progress) = Some(bar);
    }

    /// How far a stage is.
    pub fn advance(&self, message: impl FnOnce() -> String) {
        if let Some(bar) = &*lock(&self.progress) {
            bar.set_message(escape::text(&message()));
        }
    }

    /// How far an engine is.
    pub fn advance_engine(&self, stats: &Stats) {
        self.monitor.set_stats(Some(*stats));
        self.advance(|| monitor::far(stats, self.verbose));
    }

    /// Shows how far a check is.
    pub fn follow(
        &mut self,
        model: &Loaded,
        question: &Question,
        outcome: &Outcome,
        progress: Progress<'_>,
    ) {
        match progress {
            Progress::Proving(stats) => self.advance_engine(stats),
            Progress::Validating(answer) => {
                self.stage("validating");
                let so_far = verdict::unchecked(model, question, answer, outcome);
                self.monitor.set_so_far(so_far);
            }
        }
    }

    /// Ends the stage.
    pub fn finish(&mut self) {
        self.monitor.set_stats(None);
        if let Some(bar) = lock(&self.progress).take() {
            bar.finish_and_clear();
        }
    }

    /// A place for lines that come while a stage is at work.
    pub fn lines(&self) -> impl FnMut(&str) + Send + use<> {
        let progress = self.progress.clone();
        move |line| suspend(&progress, || complain(line))
    }

    fn pause(&self, show: impl FnOnce()) {
        suspend(&self.progress, show);
    }
}

/// Nothing is ever left half-way in there, whoever panicked.
fn lock(progress: &Mutex<Option<ProgressBar>>) -> std::sync::MutexGuard<'_, Option<ProgressBar>> {
    progress.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Shows something next to the progress.
fn suspend(progress: &Mutex<Option<ProgressBar>>, show: impl FnOnce()) {
    match &*lock(progress) {
        Some(bar) => bar.suspend(show),
        None => show(),
    }
}

/// Columns of the terminal.
fn width() -> usize {
    let columns = terminal_size::terminal_size_of(io::stdout()).map(|(w, _)| w.0 as usize);
    columns.unwrap_or(WIDTH).max(40)
}

/// Whether the terminal shows more than ASCII, as far as the locale tells.
fn unicode() -> bool {
    let set = |name: &str| std::env::var(name).ok().filter(|v| !v.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
    locale.is_none_or(|locale| {
        let locale = locale.to_lowercase();
        locale.contains("utf-8") || locale.contains("utf8") || !is_plain(&locale)
    })
}

/// A locale that names another character set, or none at all.
fn is_plain(locale: &str) -> bool {
    locale == "c" || locale == "posix" || locale.contains('.')
}
