//! Programs of several files: those that are named, or those of a compilation database that the entry function needs.

use super::commands::{self, Command, large_decimal, uses_floats};
use super::definitions::{self, Defines, Outline, mentions, seems_to_define};
use super::parser::library;
use super::preprocess::{self, Broken, Preprocessed, Unit};
use super::{COMPILE_COMMANDS, COptions, DataModel, Fail, fail, places};
use crate::{Diagnostic, Options, Overflow, Source};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use vouch_ir::{Span, deadline, read};

/// Adds all that a source is made of: what the preprocessor makes of it and of other units, and the files that this
/// comes from. A text that is all there is stays as it is.
pub fn gather(source: Source, options: &Options) -> Result<Source, (Source, Vec<Diagnostic>)> {
    let mut gathered = Gathered { source, seen: BTreeSet::new() };
    match gathered.all(&options.c, options.overflow) {
        Ok(()) => Ok(gathered.source),
        Err(fail) => Err((gathered.source, vec![*fail])),
    }
}

struct Gathered {
    source: Source,
    /// The files that it has.
    seen: BTreeSet<String>,
}

impl Gathered {
    fn all(&mut self, options: &COptions, overflow: Overflow) -> Result<(), Fail> {
        if places::has_units(&self.source) {
            return Ok(());
        }
        let path = PathBuf::from(&self.source.path);
        let is_database = path.file_name().is_some_and(|name| name == COMPILE_COMMANDS)
            || options.compile_commands.as_ref() == Some(&self.source.path);
        let database = match (is_database, &options.compile_commands) {
            (true, _) => Some(commands::parse(&path, &self.source.text)?),
            (false, Some(path)) => {
                let path = Path::new(path);
                Some(commands::parse(path, &read_text(path)?)?)
            }
            (false, None) => None,
        };
        if database.is_none()
            && options.units.is_empty()
            && !preprocess::is_needed(&self.source.text, options)
        {
            return Ok(());
        }
        deadline::phase("preprocessing");
        let mut project = Project {
            options,
            overflow,
            gathered: self,
            done: vec![],
            model: None,
            commands: vec![],
        };
        project.commands = database.into_iter().flatten().collect();
        if !is_database {
            let Source { path, text } = project.gathered.source.clone();
            project.named(path, text)?;
        }
        for path in &options.units {
            project.named(path.clone(), read_text(Path::new(path))?)?;
        }
        if !project.commands.is_empty() {
            project.needed()?;
        }
        let Project { done, model, .. } = project;
        for unit in done {
            places::add_unit(&mut self.source, &unit.path, model.unwrap_or_default(), &unit.text);
        }
        Ok(())
    }

    fn add(&mut self, path: &str, text: &str) {
        if path != self.source.path && self.seen.insert(path.to_string()) {
            self.source.add(path, text);
        }
    }
}

fn read_text(path: &Path) -> Result<String, Fail> {
    let bytes = read::file(path)
        .map_err(|e| fail(format!("cannot read {}: {e}", path.display()), Span::default(), ""))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// A unit that belongs to the program.
struct Done {
    path: String,
    text: String,
}

struct Project<'a> {
    options: &'a COptions,
    overflow: Overflow,
    gathered: &'a mut Gathered,
    done: Vec<Done>,
    /// The data model of all.
    model: Option<DataModel>,
    commands: Vec<Command>,
}

impl Project<'_> {
    /// A unit that was named. If the database knows how it is compiled, so it is.
    fn named(&mut self, path: String, text: String) -> Result<(), Fail> {
        let this = whole(&path);
        let own: Vec<&Command> = self.commands.iter().filter(|c| whole(&c.file) == this).collect();
        let (first, is_alone) = (own.first().copied().cloned(), own.len() < 2);
        match first {
            Some(command) => {
                let unit = self.unit(&command, text.clone())?;
                if !is_alone && let Ok(done) = preprocess::run(&unit) {
                    self.agree(&command, &text, &unit, &done)?;
                }
                self.take(&Unit { path, ..unit })
            }
            None => {
                let mut unit = Unit::new(path, text, self.options);
                // One that the database does not know is of the same program.
                let known = self.commands.iter().find(|command| command.model.is_ok());
                if let Some(Command { model: Ok(model), predefined, .. }) =
                    known.filter(|_| !self.options.model_is_given)
                {
                    (unit.model, unit.predefined) = (*model, predefined.clone());
                }
                self.take(&unit)
            }
        }
    }

    /// A unit of the database, with what the command line says besides.
    fn unit(&self, command: &Command, text: String) -> Result<Unit, Fail> {
        let absolute = |path: &String| {
            let whole = std::path::absolute(path).map(|path| path.display().to_string());
            whole.unwrap_or(path.clone())
        };
        if let Some(path) = &command.unread {
            let what = format!("{}: cannot read its flags in {}", command.file, path.display());
            let help = "build the program first: the file is made then";
            return Err(Box::new(fail(what, Span::default(), "").help(help)));
        }
        let mut unit = Unit::new(command.file.clone(), text, self.options);
        unit.folder = Some(command.folder.clone());
        unit.c90 = command.c90;
        unit.relaxed = command.relaxed.clone();
        unit.overflow = command.overflow.clone();
        unit.predefined = command.predefined.clone();
        unit.imacros = command.imacros.clone();
        unit.include.iter_mut().for_each(|(_, path)| *path = absolute(path));
        unit.forced.iter_mut().for_each(|path| *path = absolute(path));
        unit.include = [command.include.clone(), unit.include].concat();
        unit.macros = [command.macros.clone(), unit.macros].concat();
        unit.forced = [command.forced.clone(), unit.forced].concat();
        if !self.options.model_is_given {
            unit.model = command.model.clone().map_err(|why| {
                let help =
                    "say what comes near with `--data-model`, if that is how it is to be read";
                Box::new(fail(format!("{}: {why}", command.file), Span::default(), "").help(help))
            })?;
        }
        Ok(unit)
    }

    /// Makes a unit part of the program.
    fn take(&mut self, unit: &Unit) -> Result<(), Fail> {
        match preprocess::run(unit) {
            Ok(done) => self.take_done(unit, done),
            Err(broken) => Err(self.told(unit, broken)),
        }
    }

    /// What is wrong with a unit, as a place in the source.
    fn told(&mut self, unit: &Unit, (mut wrong, file): Broken) -> Fail {
        let (path, text) = file.unwrap_or((unit.path.clone(), unit.text.clone()));
        self.gathered.add(&path, &text);
        let mut files = self.gathered.source.files();
        if let Some(file) = files.find(|file| file.path == path) {
            wrong.span.start += file.start;
            wrong.span.end += file.start;
        }
        wrong
    }

    fn take_done(&mut self, unit: &Unit, done: Preprocessed) -> Result<(), Fail> {
        self.gathered.add(&unit.path, &unit.text);
        for (path, text) in &done.files {
            self.gathered.add(path, text);
        }
        if let Some(other) = self.model.replace(unit.model).filter(|other| *other != unit.model) {
            let (a, b) = (other.name(), unit.model.name());
            let what = format!("{} is compiled for {b}, but others are for {a}", unit.path);
            let help = "choose one with `--data-model`";
            return Err(Box::new(fail(what, Span::default(), "").help(help)));
        }
        if let Some(number) = large_decimal(&done.text, unit.model).filter(|_| unit.c90) {
            let what = format!("{}: in C90 `{number}` has another type", unit.path);
            let help = "say of which type it is, with a suffix";
            return Err(Box::new(fail(what, Span::default(), "").help(help)));
        }
        if let Some(flag) = unit.relaxed.as_ref().filter(|_| uses_floats(&done.text)) {
            let what =
                format!("{}: with `{flag}`, floating-point numbers are not those of C", unit.path);
            let help = "compile what uses floating-point numbers with `-fno-fast-math`";
            return Err(Box::new(fail(what, Span::default(), "").help(help)));
        }
        if let Some(flag) = &unit.overflow
            && let Some((says, help)) = contradicts(flag, self.overflow)
        {
            let what =
                format!("{}: with `{flag}`, signed results that do not fit {says}", unit.path);
            return Err(Box::new(fail(what, Span::default(), "").help(help)));
        }
        self.done.push(Done { path: unit.path.clone(), text: done.text });
        Ok(())
    }

    /// Takes the units that the entry function needs, one after the other.
    fn needed(&mut self) -> Result<(), Fail> {
        let taken: BTreeSet<PathBuf> = self.done.iter().map(|unit| whole(&unit.path)).collect();
        let mut open: Vec<Waiting> = vec![];
        for command in &self.commands {
            let path = whole(&command.file);
            if taken.contains(&path) || open.iter().any(|other| other.path == path) {
                continue;
            }
            // A file that is made during the build may not be there.
            if let Ok(text) = read_text(Path::new(&command.file)) {
                open.push(Waiting { command: command.clone(), path, text, done: None });
            }
        }
        let mut program = definitions::Program::default();
        for unit in &self.done {
            program.add(Outline::of(&unit.text)?);
        }
        let mut roots: Vec<String> = self.options.called().cloned().collect();
        roots.extend(self.options.interrupts.iter().map(|handler| handler.0.clone()));
        while let Some(name) = program.missing(&roots) {
            deadline::look();
            let found = match library::knows(&name) {
                true => None,
                false => self.definer(&name, &mut open, program.defines(&name))?,
            };
            match found.map(|number| open.remove(number)) {
                Some(Waiting {
                    command, text, done: Some(Some((unit, done, outline))), ..
                }) => {
                    self.agree(&command, &text, &unit, &done)?;
                    program.add(outline);
                    self.take_done(&unit, done)?;
                }
                _ => program.give_up(name),
            }
        }
        if self.done.is_empty() {
            let entry = &self.options.entry;
            let what = format!("no unit of the compilation database defines `{entry}`");
            let help = "name the function that is run with `--entry`";
            return Err(Box::new(fail(what, Span::default(), "").help(help)));
        }
        Ok(())
    }

    /// Which of the units that wait has the definition of a name that counts: one that yields to no other, or else
    /// any, if the program has none yet.
    fn definer(
        &mut self,
        name: &str,
        open: &mut [Waiting],
        known: Defines,
    ) -> Result<Option<usize>, Fail> {
        let mut found: Option<(usize, Defines)> = None;
        for (number, waiting) in open.iter_mut().enumerate() {
            let first = found.filter(|found| found.1 == Defines::Firmly);
            let is_asked = match first {
                None => mentions(&waiting.text, name),
                Some(_) => seems_to_define(&waiting.text, name),
            };
            if !is_asked {
                continue;
            }
            let defines = self.outline(waiting, name)?.map_or(Defines::No, |o| o.defines(name));
            match first {
                Some((first, _)) if defines == Defines::Firmly => {
                    let (a, b) = (open[first].command.file.clone(), &open[number].command.file);
                    let what = format!("`{name}` is defined in {a} and in {b}");
                    let help = "the compilation database has more than one program: name the file that belongs to \
                                yours, besides the database";
                    return Err(Box::new(fail(what, Span::default(), "").help(help)));
                }
                _ if found.map_or(known, |found| found.1) < defines => {
                    found = Some((number, defines));
                }
                _ => {}
            }
        }
        Ok(found.map(|(number, _)| number))
    }

    /// The outline of a unit that waits. One that cannot be preprocessed is not needed, one hopes, unless it seems to
    /// define the name.
    fn outline<'w>(
        &mut self,
        waiting: &'w mut Waiting,
        name: &str,
    ) -> Result<Option<&'w Outline>, Fail> {
        if waiting.done.is_none() {
            let unit = self.unit(&waiting.command, waiting.text.clone())?;
            waiting.done = Some(match preprocess::run(&unit) {
                Ok(done) => {
                    let outline = Outline::of(&done.text)?;
                    Some((unit, done, outline))
                }
                Err(broken) if seems_to_define(&waiting.text, name) => {
                    return Err(self.told(&unit, broken));
                }
                Err(_) => None,
            });
        }
        Ok(waiting.done.as_ref().and_then(Option::as_ref).map(|(_, _, outline)| outline))
    }

    /// Makes sure that all commands for a file make the same of it.
    fn agree(
        &mut self,
        command: &Command,
        text: &str,
        unit: &Unit,
        done: &Preprocessed,
    ) -> Result<(), Fail> {
        let path = whole(&command.file);
        let others = self.commands.iter().filter(|c| *c != command && whole(&c.file) == path);
        for other in others.cloned().collect::<Vec<_>>() {
            let other = self.unit(&other, text.to_owned())?;
            let known =
                |unit: &Unit| (unit.model, unit.c90, unit.relaxed.clone(), unit.overflow.clone());
            let same = preprocess::run(&other).is_ok_and(|other| other.text == done.text);
            if !same || known(unit) != known(&other) {
                let what = format!("{} is compiled in two ways that differ", command.file);
                let help = "leave the one that is meant in the compilation database";
                return Err(Box::new(fail(what, Span::default(), "").help(help)));
            }
        }
        Ok(())
    }
}

/// What a flag says of signed results that do not fit if that is not what is looked at, and what to do then.
fn contradicts(flag: &str, asked: Overflow) -> Option<(&'static str, &'static str)> {
    match (flag, asked) {
        ("-ftrapv", Overflow::Wrap) => {
            Some(("end the program", "have it checked that all of them fit: `--overflow error`"))
        }
        ("-fwrapv" | "-fno-strict-overflow", Overflow::Assume) => {
            Some(("wrap around", "such runs count: leave `--overflow assume` out"))
        }
        _ => None,
    }
}

/// A unit of the database that is not known to be needed.
struct Waiting {
    command: Command,
    /// Its file, however it is named.
    path: PathBuf,
    text: String,
    /// When it has been looked at; nothing if it cannot be preprocessed.
    done: Option<Option<(Unit, Preprocessed, Outline)>>,
}

/// A file, however it is named.
fn whole(path: &str) -> PathBuf {
    fs::canonicalize(path).unwrap_or(PathBuf::from(path))
}
