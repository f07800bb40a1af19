//! Text with directives to text without, by the system's compiler: with the macros of the target instead of the host's,
//! and with our own headers instead of the host's.

use super::toolchain::Predefined;
use super::{COptions, DataModel, Fail, fail, headers};
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::Duration;
use vouch_ir::Span;
use vouch_ir::{deadline, read};

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
    !options.macros.is_empty()
        || !options.include.is_empty()
        || !options.forced.is_empty()
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

/// How one unit is preprocessed.
#[derive(Clone, Debug)]
pub struct Unit {
    /// Its file, as messages name it.
    pub path: String,
    /// Contents of the file before preprocessing.
    pub text: String,
    /// The folder that paths are relative to, if that is not the current one.
    pub folder: Option<PathBuf>,
    /// Folders of included files.
    pub include: Vec<(Search, String)>,
    /// What is defined before all else.
    pub predefined: Predefined,
    /// Macros, in order.
    pub macros: Vec<Macro>,
    /// Files whose macros are defined before the first line.
    pub imacros: Vec<String>,
    /// Files that are included before its first line.
    pub forced: Vec<String>,
    /// The data model.
    pub model: DataModel,
    /// Whether the host's own headers and macros are used.
    pub host: bool,
    /// Whether the language is C90.
    pub c90: bool,
    /// A flag that lets the compiler compute with floating-point numbers as if they were others.
    pub relaxed: Option<String>,
    /// A flag that says what becomes of a signed result that does not fit.
    pub overflow: Option<String>,
}

/// When a folder is searched.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Search {
    /// For `"…"` alone: `-iquote`.
    Quoted,
    /// `-I`.
    Plain,
    /// After those: `-isystem`.
    System,
    /// After all others: `-idirafter`.
    After,
}

impl Search {
    /// The flag that says so.
    pub fn flag(self) -> &'static str {
        match self {
            Search::Quoted => "-iquote",
            Search::Plain => "-I",
            Search::System => "-isystem",
            Search::After => "-idirafter",
        }
    }
}

/// A macro that is defined or not.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Macro {
    /// `NAME` or `NAME=VALUE`.
    Define(String),
    /// No macro any more.
    Undefine(String),
}

impl Unit {
    /// A unit with the options of the command line.
    pub fn new(path: String, text: String, options: &COptions) -> Unit {
        let folders = options.include.iter();
        let include = folders.map(|folder| (Search::Plain, folder.clone())).collect();
        Unit {
            path,
            text,
            folder: None,
            include,
            predefined: Predefined::default(),
            macros: options.macros.clone(),
            imacros: vec![],
            forced: options.forced.clone(),
            model: options.model,
            host: options.host_headers,
            c90: false,
            relaxed: None,
            overflow: None,
        }
    }

    /// Whether a folder is one of those that are searched: named once more, it would be searched later.
    fn searches(&self, parent: &Path) -> bool {
        let whole = |path: &Path| match &self.folder {
            Some(folder) => fs::canonicalize(folder.join(path)),
            None => fs::canonicalize(path),
        };
        let wanted = whole(parent).ok();
        wanted.is_some()
            && self.include.iter().any(|(_, folder)| whole(Path::new(folder)).ok() == wanted)
    }

    /// The file as the compiler gets it, which may run in another folder.
    fn argument(&self) -> String {
        let path = Path::new(&self.path);
        let absolute = self.folder.as_ref().and_then(|_| std::path::absolute(path).ok());
        absolute.unwrap_or(path.to_path_buf()).display().to_string()
    }
}

/// A unit without directives.
#[derive(Debug)]
pub struct Preprocessed {
    /// Its lines, with markers where they come from.
    pub text: String,
    /// The files that they come from, apart from the unit's own.
    pub files: Vec<(String, String)>,
}

/// What is wrong, and the file that it is wrong in, if that is not the unit's own.
pub type Broken = (Fail, Option<(String, String)>);

/// Preprocesses a unit.
pub fn run(unit: &Unit) -> Result<Preprocessed, Broken> {
    let failed = |what: String| (fail(what, Span::default(), ""), None);
    let folder = tempfile::tempdir().map_err(|e| failed(format!("no temporary folder: {e}")))?;
    let written = headers::write(folder.path(), unit.host);
    written.map_err(|e| failed(format!("cannot write headers: {e}")))?;
    let macros = folder.path().join(MACROS);
    fs::write(&macros, definitions(unit))
        .map_err(|e| failed(format!("cannot write macros: {e}")))?;
    let mut flags: Vec<String> =
        ["-E", "-x", "c", "-std=gnu11", "-ffreestanding"].map(String::from).to_vec();
    if unit.host {
        flags.push(if unit.model == DataModel::Lp64 { "-m64" } else { "-m32" }.into());
        if !unit.model.signed_char() {
            flags.push("-funsigned-char".into());
        }
        if unit.model.short_enums() {
            flags.push("-fshort-enums".into());
        }
    } else {
        flags.extend(["-undef".into(), "-nostdinc".into()]);
    }
    if unit.predefined.trigraphs {
        flags.push("-trigraphs".into());
    }
    for (search, folder) in &unit.include {
        flags.extend([search.flag().into(), folder.clone()]);
    }
    flags.extend(["-isystem".into(), folder.path().display().to_string()]);
    // Included files are looked for beside the file, wherever the text came from; but after the compiler's own, which
    // may have the same name.
    let argument = unit.argument();
    let parent = Path::new(&argument).parent().filter(|p| !p.as_os_str().is_empty());
    if let Some(parent) = parent.filter(|parent| !unit.searches(parent)) {
        flags.extend(["-idirafter".into(), parent.display().to_string()]);
    }
    flags.extend(["-imacros".into(), macros.display().to_string()]);
    for file in &unit.imacros {
        flags.extend(["-imacros".into(), file.clone()]);
    }
    for file in &unit.forced {
        flags.extend(["-include".into(), file.clone()]);
    }
    // A file finds what lies beside it only if the compiler opens it.
    let on_disk = fs::read(&unit.path).is_ok_and(|text| text == unit.text.as_bytes());
    flags.push(if on_disk { argument } else { "-".into() });
    let input = if on_disk { "" } else { &unit.text };
    let mut missing = vec![];
    for compiler in COMPILERS {
        match feed(compiler, &flags, unit.folder.as_deref(), input) {
            Ok((true, out, _)) => return Ok(unit.normal(&out, folder.path())),
            Ok((false, _, complaint)) => {
                return Err(unit.explain(&complaint, compiler, folder.path()));
            }
            Err(error) if error.kind() == io::ErrorKind::FileTooLarge => {
                return Err(failed(format!("what {compiler} makes of it is too large: {error}")));
            }
            Err(error) => missing.push(format!("{compiler} ({error})")),
        }
    }
    let what = format!("no compiler to preprocess with: tried {}", missing.join(", "));
    let help = "install gcc or clang, or preprocess the file yourself and give it the ending `.i`";
    Err((Box::new(fail(what, Span::default(), "").help(help)), None))
}

/// The file with the macros that are defined before the first line.
const MACROS: &str = "vouch-macros.h";

fn definitions(unit: &Unit) -> String {
    let predefined = if unit.host { String::new() } else { unit.predefined.text(unit.model) };
    let changes = if unit.host { &[] } else { &unit.predefined.changes[..] };
    let mut text = predefined;
    text.push_str("#define __VOUCH__ 1\n");
    for change in changes.iter().chain(&unit.macros) {
        let (name, value) = match change {
            Macro::Define(text) => text.split_once('=').unwrap_or((text, "1")),
            Macro::Undefine(name) => (name.as_str(), ""),
        };
        let plain = name.split('(').next().unwrap_or(name);
        let _ = writeln!(text, "#undef {plain}");
        if let Macro::Define(_) = change {
            let _ = writeln!(text, "#define {name} {}", value.replace('\n', " "));
        }
    }
    text
}

/// Has a compiler read the text; whether it succeeded, what it made of it, and what it complained about. It
/// ends when the work here does, and may take so much memory and write so much.
fn feed(
    compiler: &str,
    flags: &[String],
    folder: Option<&Path>,
    text: &str,
) -> io::Result<(bool, String, String)> {
    let mut command = limited(compiler);
    command.args(flags).env("LC_ALL", "C").stdin(Stdio::piped());
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    let mut child = Running(command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?);
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

impl Unit {
    /// How a file is called that the compiler names: our own headers lie in `folder`.
    fn name(&self, path: &str, folder: &Path) -> String {
        match (Path::new(path).strip_prefix(folder), &self.folder) {
            _ if path == "<stdin>" || path == self.argument() => self.path.clone(),
            (Ok(own), _) => format!("<{}>", own.display()),
            (_, Some(folder)) => folder.join(path).display().to_string(),
            (_, None) => path.to_string(),
        }
    }

    /// The text of a file of that name.
    fn read(&self, name: &str) -> String {
        match name.strip_prefix('<').and_then(|name| name.strip_suffix('>')) {
            _ if name == self.path => self.text.clone(),
            Some(own) => headers::text(own).unwrap_or("").to_string(),
            None => {
                let bytes = read::file(Path::new(name)).unwrap_or_default();
                String::from_utf8_lossy(&bytes).into_owned()
            }
        }
    }

    /// What the compiler wrote, without what differs from one compiler and machine to the next.
    fn normal(&self, out: &str, folder: &Path) -> Preprocessed {
        let mut text = String::new();
        let mut names = BTreeSet::new();
        let mut name = self.path.clone();
        let (mut line, mut expected) = (1u32, None);
        for content in out.lines() {
            deadline::tick();
            if let Some((number, file)) = marker(content) {
                line = number;
                name = self.name(file, folder);
                expected = None;
                continue;
            }
            if !content.trim().is_empty() {
                if expected != Some(line) {
                    let _ = writeln!(text, "# {line} \"{name}\"");
                    names.insert(name.clone());
                }
                text.push_str(content);
                text.push('\n');
                expected = line.checked_add(1);
            }
            line = line.saturating_add(1);
        }
        names.remove(&self.path);
        let files = names.into_iter().map(|name| (name.clone(), self.read(&name))).collect();
        Preprocessed { text, files }
    }

    /// The first complaint of the form `file:3:10: fatal error: …`.
    fn explain(&self, complaint: &str, compiler: &str, folder: &Path) -> Broken {
        let first = complaint.lines().find(|l| l.contains("error")).unwrap_or(complaint.trim());
        let mut parts = first.splitn(4, ':');
        let place = (parts.next(), parts.next(), parts.next(), parts.next());
        let (Some(file), Some(Ok(line)), Some(_), Some(what)) =
            (place.0, place.1.map(str::parse::<usize>), place.2, place.3)
        else {
            let what = format!("{compiler} could not preprocess {}: {first}", self.path);
            return (fail(what, Span::default(), ""), None);
        };
        let name = self.name(file, folder);
        let text = self.read(&name);
        let starts = line_starts(&text);
        let start = starts.get(line.saturating_sub(1)).copied().unwrap_or(0);
        let end = starts.get(line).map_or(text.len() as u32, |s| s - 1);
        let what = what.trim().trim_start_matches("fatal ").trim_start_matches("error: ");
        let wrong = *fail(what, Span { start, end }, format!("{compiler} says so"));
        let wrong = match what.strip_suffix(": No such file or directory") {
            Some(_) if !self.host => wrong.help(format!(
                "name its folder with `-I`, or have the host's headers read with `--host-headers`; vouch has {}",
                headers::names()
            )),
            Some(_) => wrong.help("name its folder with `-I`"),
            None => wrong,
        };
        (Box::new(wrong), (name != self.path).then_some((name, text)))
    }
}

/// Where lines begin.
pub fn line_starts(text: &str) -> Vec<u32> {
    let breaks = text.bytes().enumerate().filter(|b| b.1 == b'\n').map(|b| b.0 as u32 + 1);
    [0].into_iter().chain(breaks).collect()
}

/// `# 12 "file" flags`: the number of the next line and the file.
pub fn marker(line: &str) -> Option<(u32, &str)> {
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
    fn only_directives_need_it() {
        let plain = COptions::default();
        let needed = |text| is_needed(text, &plain);
        assert!(needed("int x;\n # include <a.h>\n"));
        assert!(needed("int x; // continues \\\nint y;\n"));
        assert!(needed("int x = __INT_MAX__;"));
        assert!(!needed("# 1 \"a.c\"\n#pragma once\nint x;\n"));
        assert!(!needed("char *f(void) { return __FUNCTION__; }"));
        let macros = vec![Macro::Define("x=y".into())];
        let defines = COptions { macros, ..COptions::default() };
        assert!(is_needed("int x;", &defines));
    }

    fn preprocessed(text: &str, options: &COptions) -> String {
        let unit = Unit::new("no-such-file.c".into(), text.into(), options);
        run(&unit).map_err(|e| e.0).unwrap().text
    }

    #[test]
    fn macros_are_those_of_the_target() {
        let text = "#if defined __linux__ || defined __unix__ || defined linux\n#error host\n#endif\n\
                    #ifdef __ARM_ARCH\nint arm;\n#endif\nint size = __SIZEOF_POINTER__;\n";
        let of = |model| preprocessed(text, &COptions { model, ..COptions::default() });
        assert!(of(DataModel::ARM32).contains("int arm;"));
        assert!(!of(DataModel::Ilp32).contains("int arm;"));
        assert!(of(DataModel::Ilp32).contains("int size = 4;"));
        assert!(of(DataModel::Lp64).contains("int size = 8;"));
    }

    #[test]
    fn macros_are_changed_in_order() {
        let change = |macros: Vec<Macro>| {
            let options = COptions { macros, ..COptions::default() };
            preprocessed("#ifdef A\nint a = A;\n#else\nint none;\n#endif\n", &options)
        };
        let define = |text: &str| Macro::Define(text.into());
        assert!(change(vec![define("A")]).contains("int a = 1;"));
        assert!(change(vec![define("A=2"), define("A=3")]).contains("int a = 3;"));
        let undefine = Macro::Undefine("A".into());
        assert!(change(vec![define("A=2"), undefine.clone()]).contains("int none;"));
        assert!(change(vec![undefine, define("A=2")]).contains("int a = 2;"));
    }

    #[test]
    fn our_headers_can_be_read() {
        for model in [DataModel::Ilp32, DataModel::Lp64, DataModel::ARM32] {
            let all: String = headers::all().map(|name| format!("#include <{name}>\n")).collect();
            let options = COptions { model, ..COptions::default() };
            let twice = format!("{all}{all}int x;\n");
            assert!(preprocessed(&twice, &options).contains("int x;"));
        }
    }
}
