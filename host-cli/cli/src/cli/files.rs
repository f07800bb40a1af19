//! Reading what the user names, and writing without losing anything.

use super::args::ModelArgs;
use super::context::Context;
use super::failure::{Failure, Kind};
use super::{passes, verdict};
use std::fs;
use std::io;
use std::path::Path;
use vouch_host::deadline;
use vouch_host::formats::{self, ParseError, ParseErrorKind};
use vouch_host::frontend::{self, Language};
use vouch_host::ir::Trace;
use vouch_host::pipeline::{self, Loaded};
use vouch_host::read;
use vouch_host::replay::script::Story;
use vouch_host::report::json::Outcome;
use vouch_host::report::{self, formats::Written, vcd};
use vouch_host::validate::Run;
use vouch_host::write;

/// Loads the model, and shows its warnings.
pub fn load(args: &ModelArgs, context: &mut Context) -> Result<Loaded, Failure> {
    let model = load_quietly(args, context)?;
    context.warn(&model.source, &model.warnings);
    Ok(model)
}

/// Loads the model.
pub fn load_quietly(args: &ModelArgs, context: &mut Context) -> Result<Loaded, Failure> {
    announce(args, context);
    let model = pipeline::load(&args.model, &args.options())?;
    summarize(args, &model, context);
    Ok(model)
}

/// Says that the model is being read.
pub fn announce(args: &ModelArgs, context: &mut Context) {
    context.stage("compiling");
    // What it is called, if it is not read in time.
    let stem = args.model.file_stem().map(|stem| stem.to_string_lossy().into_owned());
    context.monitor.set_so_far(Outcome { model: stem, ..Outcome::default() });
}

/// Says how large the model is.
pub fn summarize(args: &ModelArgs, model: &Loaded, context: &mut Context) {
    context.finish();
    if args.stats {
        context.alarm(&passes::table(model));
    }
    context.tell(|| {
        let header = format!("{} bytes", model.image.len());
        format!(
            "{}: {} locations, {} edges, an image of {header}",
            model.cfa.name,
            model.map.locations.len(),
            model.map.edges.len()
        )
    });
}

/// Reads a text file.
pub fn read_text(path: &Path) -> Result<String, Failure> {
    deadline::phase(format!("reading {}", path.display()));
    read::text(path).map_err(|e| unreadable(path, &e))
}

/// Reads a file of any contents.
pub fn read_bytes(path: &Path) -> Result<Vec<u8>, Failure> {
    deadline::phase(format!("reading {}", path.display()));
    read::file(path).map_err(|e| unreadable(path, &e))
}

fn unreadable(path: &Path, why: &io::Error) -> Failure {
    let path = path.display();
    let message = match why.kind() {
        io::ErrorKind::InvalidData => format!("{path} is not a text file"),
        io::ErrorKind::NotFound => format!("cannot read {path}: {why}\nhelp: check the path"),
        _ => format!("cannot read {path}: {why}"),
    };
    Failure::new(Kind::Input, message)
}

/// What is wrong with a certificate or trace.
pub fn parse_failure(path: &Path, error: &ParseError) -> Failure {
    let kind = match error.kind {
        ParseErrorKind::Syntax => Kind::Input,
        ParseErrorKind::Version | ParseErrorKind::Model => Kind::Mismatch,
    };
    Failure::new(kind, format!("{}: {error}", path.display()))
}

/// Warns of a certificate or trace that was made for another source.
pub fn compare_source(
    path: &Path,
    header: &formats::Header,
    model: &Loaded,
    context: &Context,
) -> Option<String> {
    if header.source.is_none_or(|digest| digest == model.digest) {
        return None;
    }
    let warning = format!(
        "{} was made for another version of the model's source; what it says is checked for this one",
        path.display()
    );
    context.note(&format!("warning: {warning}"));
    Some(warning)
}

/// Writes a file whole or not at all. `inputs` are not overwritten.
pub fn write(path: &Path, bytes: &[u8], inputs: &[&Path]) -> Result<(), Failure> {
    let fail = |why: &dyn std::fmt::Display| {
        Failure::new(Kind::Output, format!("cannot write {}: {why}", path.display()))
    };
    let place = fs::canonicalize(path);
    let is_input =
        |i: &&Path| place.as_ref().is_ok_and(|p| fs::canonicalize(i).is_ok_and(|i| i == *p));
    if inputs.iter().any(is_input) {
        return Err(fail(&"it is an input of this command\nhelp: name another file"));
    }
    write::whole(path, bytes).map_err(|e| fail(&e))
}

/// Writes a run in the format that the file's name asks for.
pub fn write_trace(
    path: &Path,
    model: &Loaded,
    trace: &Trace,
    run: &Run,
    inputs: &[&Path],
) -> Result<(), Failure> {
    let broken = |e: &dyn std::fmt::Display| {
        Failure::new(Kind::Output, format!("cannot write {}: {e}", path.display()))
    };
    let Loaded { cfa, digest, origin, .. } = model;
    let language = Language::from_path(Path::new(&model.source.path));
    let outline = language.and_then(|language| frontend::outline(&model.source, language));
    let machines = outline.map_or_else(Vec::new, |o| o.machines);
    let machines = machines.into_iter().map(|m| m.name).collect();
    let (words, story) = (&verdict::words(model), Story::of(origin, run));
    let written = Written { cfa, trace, run, digest: *digest, words, story, machines };
    let bytes = report::formats::write(path, &written).map_err(|e| broken(&e))?;
    write(path, &bytes, inputs)?;
    if !path.extension().is_some_and(|e| e.eq_ignore_ascii_case("vcd")) {
        return Ok(());
    }
    // Beside it, which signals GTKWave shows; but not over what somebody has arranged.
    let beside = path.with_extension("gtkw");
    let is_own = match fs::read_to_string(&beside) {
        Ok(text) => text.starts_with(vcd::MARK),
        Err(error) => error.kind() == io::ErrorKind::NotFound,
    };
    let name = path.file_name().map_or(path.display().to_string(), |n| n.display().to_string());
    match is_own {
        true => write(&beside, vcd::layout(cfa, words, &name).as_bytes(), inputs),
        false => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_replaced_whole_and_inputs_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        write(&path, b"one", &[]).unwrap();
        write(&path, b"two", &[]).unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let failure = write(&path, b"three", &[&path]).unwrap_err();
        assert!(failure.message.contains("is an input"), "{}", failure.message);
        assert_eq!(fs::read(&path).unwrap(), b"two");
        let failure = write(folder.path(), b"x", &[]).unwrap_err();
        assert!(failure.message.contains("is a folder"), "{}", failure.message);
        let failure = write(&folder.path().join("no/where"), b"x", &[]).unwrap_err();
        assert!(failure.message.contains("does not exist"), "{}", failure.message);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left behind");
    }

    #[cfg(unix)]
    #[test]
    fn links_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("b"));
        write(&path, b"one", &[]).unwrap();
        std::os::unix::fs::symlink(&path, &link).unwrap();
        write(&link, b"two", &[]).unwrap();
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert_eq!(fs::read(&path).unwrap(), b"two");
    }
}
