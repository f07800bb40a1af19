//! Text with directives to text without, by the system's compiler; and back from there to where things
//! stand in the file.

use super::{COptions, DataModel, Fail, fail};
use std::io::{self, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use vouch_ir::Span;
use vouch_ir::{deadline, read};

/// Headers that come with this program.
const HEADERS: [(&str, &str); 2] =
    [("vouch.h", include_str!("include/vouch.h")), ("assert.h", include_str!("include/assert.h"))];

/// Programs that may preprocess.
const COMPILERS: [&str; 3] = ["gcc", "clang", "cc"];

/// Memory that a compiler may have, in KiB: a file of a hundred megabytes takes a quarter of it.
const MEMORY_KIB: &str = "2097152";
/// What a shell ends with if there is no such program.
const NOT_FOUND: i32 = 127;
/// Between two looks at the clock.
const LOOK: Duration = Duration::from_millis(20);

/// Whether a text is not yet what the compiler sees: it has directives, lines that go on in the next
/// one or macros of the compiler, or options say more.
pub fn is_needed(text: &str, options: &COptions) -> bool {
    let directive = |line: &str| {
        let line = line.trim_start();
        let Some(rest) = line.strip_prefix('#').or(line.strip_prefix("%:")) else { return false };
        let word: String = rest.trim_start().chars().take_while(|c| c.is_alphabetic()).collect();
        !matches!(word.as_str(), "" | "line" | "pragma" | "ident")
    };
    let goes_on = |line: &str| line.trim_end().ends_with('\\');
    !options.define.is_empty()
        || !options.include.is_empty()
        || text.lines().any(|line| directive(line) || goes_on(line))
        || text.split(|c: char| !c.is_alphanumeric() && c != '_').any(is_predefined)
}

/// Whether a word is a macro without anybody defining it: `__INT_MAX__`, `__LINE__`.
fn is_predefined(word: &str) -> bool {
    let inner = word.strip_prefix("__").and_then(|w| w.strip_suffix("__"));
    let upper = |c: char| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_';
    word == "_Pragma"
        || inner.is_some_and(|w| !w.is_empty() && w.chars().all(upper))
            && !matches!(word, "__FUNCTION__" | "__PRETTY_FUNCTION__")
}

/// A preprocessed text.
#[derive(Clone, Debug)]
pub struct Preprocessed {
    /// The text, with line markers.
    pub text: String,
    /// For each of its lines: where it begins, and what it is in the file.
    lines: Vec<(u32, Origin)>,
    /// Where the lines of the file begin, and its end.
    original: Vec<u32>,
}

/// Where a line comes from.
#[derive(Clone, Copy, Debug)]
struct Origin {
    /// The line in the file, from 0; of an included line, that of the include.
    line: u32,
    /// Whether it stands in the file itself.
    own: bool,
}

/// Preprocesses the file at `path`, whose text is given.
pub fn run(path: &Path, text: &str, options: &COptions) -> Result<Preprocessed, Fail> {
    let nowhere = Span::default();
    let failed = |what: String| fail(what, nowhere, "");
    let folder = tempfile::tempdir().map_err(|e| failed(format!("no temporary folder: {e}")))?;
    for (name, content) in HEADERS {
        let written = std::fs::write(folder.path().join(name), content);
        written.map_err(|e| failed(format!("cannot write {name}: {e}")))?;
    }
    let mut flags: Vec<String> =
        ["-E", "-x", "c", "-std=gnu11", "-ffreestanding", "-D__VOUCH__"].map(String::from).to_vec();
    flags.push(if options.model == DataModel::Lp64 { "-m64" } else { "-m32" }.into());
    if options.model == DataModel::Arm32 {
        flags.extend(["-funsigned-char".into(), "-fshort-enums".into()]);
    }
    for folder in &options.include {
        flags.extend(["-I".into(), folder.clone()]);
    }
    for define in &options.define {
        flags.push(format!("-D{define}"));
    }
    // Included files are looked for beside the file, wherever the text came from.
    if let Some(parent) = path.parent().filter(|p| !p.as_os_str().is_empty()) {
        flags.extend(["-I".into(), parent.display().to_string()]);
    }
    flags.extend(["-isystem".into(), folder.path().display().to_string(), "-".into()]);
    let mut missing = vec![];
    for compiler in COMPILERS {
        match feed(compiler, &flags, text) {
            Ok((true, out, _)) => return Ok(Preprocessed::new(out, text)),
            Ok((false, _, complaint)) => return Err(explain(&complaint, text, compiler)),
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(failed(format!("what {compiler} makes of it is too large: {error}")));
            }
            Err(error) => missing.push(format!("{compiler} ({error})")),
        }
    }
    Err(Box::new(
        failed(format!("no compiler to preprocess with: tried {}", missing.join(", "))).help(
            "install gcc or clang, or preprocess the file yourself and give it the ending `.i`",
        ),
    ))
}

/// Has a compiler read the text; whether it succeeded, what it made of it, and what it complained about. It
/// ends when the work here does, and may take so much memory and write so much.
fn feed(compiler: &str, flags: &[String], text: &str) -> io::Result<(bool, String, String)> {
    let mut child = Running(
        limited(compiler)
            .args(flags)
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?,
    );
    let (input, output, complaints) =
        (child.0.stdin.take(), child.0.stdout.take(), child.0.stderr.take());
    let (sender, receiver) = mpsc::channel();
    let finished = std::thread::scope(|scope| {
        // It goes when this closure is left, in whatever way, and then the threads end.
        let mut child = child;
        scope.spawn(move || {
            if let Some(mut input) = input {
                // A compiler that gives up early tells why in another way.
                let _ = input.write_all(text.as_bytes());
            }
        });
        let complaints = scope.spawn(move || complaints.map_or(Ok(vec![]), read::all));
        scope.spawn(move || {
            // Fails only if nobody waits any more.
            let _ = sender.send(output.map_or(Ok(vec![]), read::all));
        });
        let output = loop {
            deadline::look();
            match receiver.recv_timeout(LOOK) {
                Ok(output) => break output?,
                Err(mpsc::RecvTimeoutError::Timeout) => {}
                Err(mpsc::RecvTimeoutError::Disconnected) => break vec![],
            }
        };
        let status = child.0.wait()?;
        let complaints = complaints.join().unwrap_or_else(|_| Ok(vec![]))?;
        Ok::<_, io::Error>((status, output, complaints))
    });
    let (status, output, complaints) = finished?;
    if status.code() == Some(NOT_FOUND) {
        return Err(io::ErrorKind::NotFound.into());
    }
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    Ok((status.success(), text(&output), text(&complaints)))
}

/// A program whose memory is limited where there is a shell that can do so, at the head of a group of
/// processes: compilers start others.
#[cfg(unix)]
fn limited(program: &str) -> Command {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new("sh");
    let script = "ulimit -v \"$1\" 2>/dev/null; shift; exec \"$@\"";
    command.args(["-c", script, "sh", MEMORY_KIB, program]).process_group(0);
    command
}

#[cfg(not(unix))]
fn limited(program: &str) -> Command {
    Command::new(program)
}

/// A process that ends, with all that it has started, when nobody waits for it any more.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        if matches!(self.0.try_wait(), Ok(Some(_))) {
            return;
        }
        #[cfg(unix)]
        if let Some(group) =
            i32::try_from(self.0.id()).ok().and_then(rustix::process::Pid::from_raw)
        {
            // Fails only if there is nobody left.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        }
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The first complaint of the form `<stdin>:3:10: fatal error: …`.
fn explain(complaint: &str, text: &str, compiler: &str) -> Fail {
    let first = complaint.lines().find(|l| l.contains("error")).unwrap_or(complaint.trim());
    let mut parts = first.splitn(4, ':');
    let place = (parts.next(), parts.next(), parts.next(), parts.next());
    if let (Some("<stdin>"), Some(line), Some(_), Some(what)) = place
        && let Ok(line) = line.parse::<usize>()
    {
        let starts = line_starts(text);
        let start = starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let end = starts.get(line).map_or(text.len() as u32, |s| s - 1);
        let what = what.trim().trim_start_matches("fatal ").trim_start_matches("error: ");
        return fail(what, Span { start, end }, format!("{compiler} says so"));
    }
    fail(format!("{compiler} could not preprocess it: {first}"), Span::default(), "")
}

/// Where lines begin.
pub fn line_starts(text: &str) -> Vec<u32> {
    let breaks = text.bytes().enumerate().filter(|b| b.1 == b'\n').map(|b| b.0 as u32 + 1);
    [0].into_iter().chain(breaks).collect()
}

impl Preprocessed {
    /// Reads the line markers of `text`, which was made of `original`.
    fn new(text: String, original: &str) -> Preprocessed {
        let mut lines = vec![];
        let mut origin = Origin { line: 0, own: true };
        let mut at = 0u32;
        for line in text.split_inclusive('\n') {
            lines.push((at, origin));
            at += line.len() as u32;
            match marker(line) {
                Some((number, "<stdin>")) => {
                    origin = Origin { line: number.saturating_sub(1), own: true };
                }
                // What an include brings stands where the include stands: the line before.
                Some(_) if origin.own => {
                    origin = Origin { line: origin.line.saturating_sub(1), own: false };
                }
                Some(_) => {}
                None if origin.own => origin.line += 1,
                None => {}
            }
        }
        let mut starts = line_starts(original);
        starts.push(original.len() as u32 + 1);
        Preprocessed { text, lines, original: starts }
    }

    /// The span in the file for one in the preprocessed text.
    pub fn original(&self, span: Span) -> Span {
        let start = self.position(span.start);
        let end = self.position(span.end.max(span.start));
        Span { start, end: end.max(start) }
    }

    /// The line in the file, from 1, of a place in the preprocessed text.
    pub fn line(&self, at: u32) -> usize {
        let line = self.lines.partition_point(|l| l.0 <= at).saturating_sub(1);
        self.lines.get(line).map_or(1, |l| l.1.line as usize + 1)
    }

    fn position(&self, at: u32) -> u32 {
        let line = self.lines.partition_point(|l| l.0 <= at).saturating_sub(1);
        let Some((start, origin)) = self.lines.get(line) else { return 0 };
        let first = self.original.get(origin.line as usize).copied().unwrap_or(0);
        let next = self.original.get(origin.line as usize + 1).copied().unwrap_or(first + 1);
        // Macros may have made the line longer.
        let column = if origin.own { at - start } else { 0 };
        (first + column).min(next.saturating_sub(1)).max(first)
    }
}

/// `# 12 "file" flags`: the number of the next line and the file.
fn marker(line: &str) -> Option<(u32, &str)> {
    let rest = line.strip_prefix('#')?.trim_start();
    let rest = rest.strip_prefix("line").unwrap_or(rest).trim_start();
    let (number, rest) = rest.split_once(' ')?;
    let file = rest.trim_start().strip_prefix('"')?;
    Some((number.parse().ok()?, &file[..file.find('"')?]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_found_again() {
        let original = "#include \"a.h\"\nint x;\n#define TWO 2\nint y = TWO + 1;\n";
        let text = "# 1 \"<stdin>\"\n# 1 \"a.h\" 1\nint a;\nint b;\n# 2 \"<stdin>\" 2\nint x;\n\nint y = 2 + 1;\n";
        let p = Preprocessed::new(text.into(), original);
        let find = |what: &str| {
            let start = text.find(what).unwrap() as u32;
            let span = p.original(Span { start, end: start + what.len() as u32 });
            &original[span.start as usize..span.end as usize]
        };
        assert_eq!(find("int x"), "int x");
        assert_eq!(find("int y"), "int y");
        assert_eq!(p.original(Span { start: text.find("int b").unwrap() as u32, end: 0 }).start, 0);
    }

    #[test]
    fn only_directives_need_it() {
        let plain = COptions::default();
        let needed = |text| is_needed(text, &plain);
        assert!(needed("int x;\n # include <a.h>\n"));
        assert!(needed("int x; // continues \\\nint y;\n"));
        assert!(needed("int x = __INT_MAX__;"));
        assert!(!needed("# 1 \"a.c\"\n#pragma once\nint x;\n"));
        assert!(!needed("char *f(void) { return __FUNCTION__; }"));
        let defines = COptions { define: vec!["x=y".into()], ..COptions::default() };
        assert!(is_needed("int x;", &defines));
    }
}
