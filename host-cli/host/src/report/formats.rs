//! The file formats for runs: which there are, and which one a file gets.

use super::{json, sequence, suite, vcd};
use crate::formats::{self, Names};
use crate::ir::{Cfa, Trace};
use crate::replay::script::{self, Story};
use crate::validate::Run;
use crate::words::Words;
use std::path::Path;

/// What is written.
pub struct Written<'a> {
    /// The automaton that the run is of.
    pub cfa: &'a Cfa,
    /// The choices of the run.
    pub trace: &'a Trace,
    /// The same with all values.
    pub run: &'a Run,
    /// SHA-256 of the source.
    pub digest: [u8; 32],
    /// The model in the words of its source.
    pub words: &'a Words<'a>,
    /// The same for people, if it is one of a program; else why not.
    pub story: Result<Story, String>,
    /// Names of the machines that the model has in its source.
    pub machines: Vec<String>,
}

/// A file format for runs.
pub struct Format {
    /// The extension of its files; empty for the one that all others get.
    pub extension: &'static str,
    /// In two words.
    pub about: &'static str,
    write: fn(&Written<'_>) -> Result<Vec<u8>, String>,
}

/// All of them.
pub const FORMATS: [Format; 7] = [
    Format { extension: "vcd", about: "waveforms", write: waveforms },
    Format { extension: "json", about: "JSON", write: object },
    Format { extension: "svg", about: "of several machines: a sequence chart", write: chart },
    Format { extension: "gdb", about: "of a program: a script for gdb", write: gdb },
    Format { extension: "c", about: "a test in C", write: c },
    Format { extension: "rs", about: "a test in Rust", write: rust },
    Format { extension: "", about: "text", write: text },
];

/// The run as the file's name wants it.
pub fn write(path: &Path, written: &Written<'_>) -> Result<Vec<u8>, String> {
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("").to_lowercase();
    let format = FORMATS.iter().find(|f| f.extension == extension || f.extension.is_empty());
    format.map_or_else(|| text(written), |format| (format.write)(written))
}

/// The list for the help of an option.
pub fn listed() -> String {
    let one = |f: &Format| match f.extension {
        "" => format!("{} (anything else)", f.about),
        extension => format!("{} (.{extension})", f.about),
    };
    FORMATS.iter().map(one).collect::<Vec<String>>().join(", ")
}

fn waveforms(written: &Written<'_>) -> Result<Vec<u8>, String> {
    let mut bytes = vec![];
    vcd::write(written.cfa, written.words, written.run, &mut bytes).map_err(|e| e.to_string())?;
    Ok(bytes)
}

fn object(written: &Written<'_>) -> Result<Vec<u8>, String> {
    let Written { cfa, run, words, .. } = written;
    let property = Names::new(cfa).property(run.property);
    let trace = json::trace(cfa, words, run);
    let text = serde_json::json!({ "model": cfa.name, "property": property, "trace": trace });
    Ok(format!("{text}\n").into_bytes())
}

fn chart(written: &Written<'_>) -> Result<Vec<u8>, String> {
    let Written { cfa, run, words, .. } = written;
    let chart = sequence::of_run(cfa, words, run).ok_or(
        "a sequence chart is of several machines, and the model does not have them\n\
         help: take another format; `vouch inspect --svg` draws the machine",
    )?;
    Ok(sequence::draw(&cfa.name, &chart).into_bytes())
}

fn gdb(written: &Written<'_>) -> Result<Vec<u8>, String> {
    story(written).map(|story| script::gdb::write(story).into_bytes())
}

fn c(written: &Written<'_>) -> Result<Vec<u8>, String> {
    match machines(written)? {
        Some(script) => Ok(suite::c::write(&script).into_bytes()),
        None => story(written).map(|story| script::c::write(story).into_bytes()),
    }
}

fn rust(written: &Written<'_>) -> Result<Vec<u8>, String> {
    match machines(written)? {
        Some(script) => Ok(suite::rust::write(&script).into_bytes()),
        None => story(written).map(|story| script::rust::write(story).into_bytes()),
    }
}

/// A test for code that does what a model's machines do, if it has any.
fn machines(written: &Written<'_>) -> Result<Option<suite::Script>, String> {
    match &written.machines[..] {
        [] => Ok(None),
        machines => suite::Script::of_run(written.cfa, machines, written.run).map(Some),
    }
}

fn story<'a>(written: &'a Written<'_>) -> Result<&'a Story, String> {
    written.story.as_ref().map_err(String::clone)
}

fn text(written: &Written<'_>) -> Result<Vec<u8>, String> {
    let text = formats::trace::write(written.cfa, written.trace, Some(written.digest));
    Ok(text.map_err(|e| e.to_string())?.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_format_takes_every_file() {
        assert_eq!(
            listed(),
            "waveforms (.vcd), JSON (.json), of several machines: a sequence chart (.svg), of a program: a script for gdb (.gdb), \
             a test in C (.c), a test in Rust (.rs), text (anything else)"
        );
        assert!(FORMATS.iter().position(|f| f.extension.is_empty()) == Some(FORMATS.len() - 1));
    }
}
