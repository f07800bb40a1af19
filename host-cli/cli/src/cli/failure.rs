//! What can go wrong: whose fault it is, the exit code, and how programs are told.

use vouch_host::blast::BlastError;
use vouch_host::check::CheckError;
use vouch_host::client::DeviceError;
use vouch_host::engines::EngineError;
use vouch_host::frontend::diagnostic::{Diagnostic, Severity};
use vouch_host::frontend::source::Place;
use vouch_host::frontend::{Source, render_with};
use vouch_host::pipeline::LoadError;
use vouch_host::report::results::{DiagnosticOutcome, ErrorOutcome, Failed};

/// Whose fault it is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// The command line is wrong: a flag, a name or a combination that makes no sense.
    Usage,
    /// A file that was named cannot be read, or its contents are wrong.
    Input,
    /// A file cannot be written.
    Output,
    /// Something is too large.
    Limit,
    /// The device's, or the line's.
    Device,
    /// Two things do not belong together.
    Mismatch,
    /// This program's own.
    Internal,
}

impl Kind {
    /// As programs are told.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Usage => "usage",
            Kind::Input => "input",
            Kind::Output => "output",
            Kind::Limit => "limit",
            Kind::Device => "device",
            Kind::Mismatch => "mismatch",
            Kind::Internal => "internal",
        }
    }

    /// The exit code of the program.
    pub fn exit_code(self) -> u8 {
        match self {
            Kind::Usage | Kind::Input | Kind::Output | Kind::Internal => 2,
            Kind::Limit => 3,
            Kind::Device => 4,
            Kind::Mismatch => 5,
        }
    }
}

/// A command that has failed.
#[derive(Clone, PartialEq, Debug)]
pub struct Failure {
    /// Whose fault it is.
    pub kind: Kind,
    /// What happened, and what to do about it after `help:`.
    pub message: String,
    /// Places in a source text, if they are what is wrong.
    pub places: Option<(Source, Vec<Diagnostic>)>,
}

impl Failure {
    /// A failure without places in a source text.
    pub fn new(kind: Kind, message: impl Into<String>) -> Failure {
        Failure { kind, message: message.into(), places: None }
    }
    /// The command is wrong.
    pub fn usage(message: impl Into<String>) -> Failure {
        Failure::new(Kind::Usage, message)
    }

    /// The message for people: diagnostics with excerpts of the source, or `error: …`.
    pub fn to_text(&self, colour: bool) -> String {
        match &self.places {
            Some((source, diagnostics)) => {
                render_with(source, diagnostics, colour).trim_end().to_owned()
            }
            None if colour => format!("\x1b[31;1merror\x1b[0m: {}", self.message),
            None => format!("error: {}", self.message),
        }
    }

    /// For programs: one line.
    pub fn to_json(&self) -> String {
        serde_json::to_string(&self.to_outcome()).unwrap_or_default()
    }

    /// The same as data, with the exit code, as `to_json` prints it.
    pub fn to_outcome(&self) -> Failed {
        let places = |(source, all): &(Source, Vec<Diagnostic>)| {
            all.iter().map(|d| place(source, d)).collect()
        };
        let error = ErrorOutcome {
            diagnostics: self.places.as_ref().map(places),
            kind: self.kind.name().into(),
            message: self.message.clone(),
        };
        Failed { error, exit_code: self.kind.exit_code() }
    }
}

fn severity(d: &Diagnostic) -> &'static str {
    match d.severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
    }
}

/// One line for each diagnostic, in the form that editors jump to.
pub fn plain(source: &Source, diagnostics: &[Diagnostic]) -> String {
    let line = |d: &Diagnostic| {
        let Place { path, line, column } = source.place(d.span.start);
        format!("{path}:{line}:{column}: {}: {}", severity(d), d.message)
    };
    diagnostics.iter().map(line).collect::<Vec<String>>().join("\n")
}

/// One diagnostic, for programs.
pub fn place(source: &Source, d: &Diagnostic) -> DiagnosticOutcome {
    let Place { path, line, column } = source.place(d.span.start);
    DiagnosticOutcome {
        column,
        help: d.help.clone(),
        label: d.label.clone(),
        line,
        message: d.message.clone(),
        path: path.into(),
        severity: severity(d).into(),
    }
}

impl From<LoadError> for Failure {
    fn from(error: LoadError) -> Failure {
        let message = error.to_string();
        match error {
            LoadError::Source { text, diagnostics } => Failure {
                kind: Kind::Input,
                message: plain(&text, &diagnostics),
                places: Some((text, diagnostics)),
            },
            LoadError::Image { .. } => Failure::new(Kind::Mismatch, message),
            LoadError::Compile {
                error: BlastError::TooManyGates { .. } | BlastError::TooLarge,
                ..
            } => Failure::new(Kind::Limit, message),
            LoadError::Read { .. }
            | LoadError::NotText { .. }
            | LoadError::Language { .. }
            | LoadError::Idle { .. }
            | LoadError::Unexplained { .. }
            | LoadError::Compile { .. } => Failure::new(Kind::Input, message),
        }
    }
}

impl From<DeviceError> for Failure {
    fn from(error: DeviceError) -> Failure {
        let kind = match error.exit_code() {
            2 => Kind::Input,
            3 => Kind::Limit,
            5 => Kind::Mismatch,
            _ => Kind::Device,
        };
        Failure::new(kind, error.to_string())
    }
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Failure {
        let kind = match error {
            EngineError::Image(_) => Kind::Mismatch,
            EngineError::Shortage { .. } | EngineError::Refused(_) => Kind::Limit,
            EngineError::Param(..) => Kind::Input,
        };
        Failure::new(kind, error.to_string())
    }
}

impl From<CheckError> for Failure {
    fn from(error: CheckError) -> Failure {
        match error {
            CheckError::Engine(error) => error.into(),
            CheckError::Device(error) => error.into(),
        }
    }
}
