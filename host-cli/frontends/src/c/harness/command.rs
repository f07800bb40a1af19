//! How the program of a run is compiled, and what it shows.

use super::Hidden;
use super::machine::FAULTS;
use crate::Source;
use crate::c::commands;
use crate::c::{COMPILE_COMMANDS, COptions, DataModel, Fail, Macro};
use std::path::Path;

/// Properties that only a sanitizer sees broken.
const SILENT: [&str; 3] = ["bounds", "shift", "no_overflow"];

/// What is defined where the part is compiled that knows of interrupts.
pub const INTERRUPTS: &str = "VOUCH_INTERRUPTS";

/// The whole path of a file, since the program may lie elsewhere.
pub fn whole(path: &str) -> String {
    std::fs::canonicalize(path).map_or(path.to_string(), |path| path.display().to_string())
}

/// How the program is compiled as the check compiled the source.
pub struct Command<'a> {
    pub options: &'a COptions,
    pub source: &'a Source,
    pub property: &'a str,
    /// The unit that is part of the program.
    pub main: &'a str,
    /// The other units.
    pub others: &'a [String],
    /// The program's own path.
    pub name: &'a str,
    /// Functions of other units that are called from outside.
    pub hidden: &'a [Hidden],
    /// Whether instructions are written in assembly.
    pub has_assembly: bool,
}

impl Command<'_> {
    /// The commands, one after the other.
    pub fn text(&self, header: bool, machine: bool) -> Result<String, Fail> {
        let name = quoted(self.name);
        let database = self.database()?;
        let common = self.common(header);
        let include =
            if self.others.is_empty() { String::new() } else { format!(" -include {name}") };
        let mut steps = vec![];
        if header {
            steps.push(format!("mkdir -p {name}.include && : > {name}.include/vouch.h"));
        }
        let mut objects = vec![];
        let interrupted = self.is_interrupted();
        for (is_there, part) in [(machine, "VOUCH_MACHINE"), (interrupted, INTERRUPTS)] {
            if is_there {
                let object =
                    format!("{name}.{}.o", part.trim_start_matches("VOUCH_").to_lowercase());
                steps.push(format!("{} -D{part} -c {name} -o {object}", self.target()));
                objects.push(object);
            }
        }
        let flags = |unit: &str| match database.iter().find(|command| command.file == unit) {
            Some(command) => {
                let folders =
                    command.include.iter().map(|(search, folder)| (search.flag(), folder));
                let imacros = command.imacros.iter().map(|file| ("-imacros", file));
                flags(folders.chain(imacros), &command.macros, &command.forced)
            }
            None => {
                let COptions { include, macros, forced, .. } = self.options;
                flags(include.iter().map(|folder| ("-I", folder)), macros, forced)
            }
        };
        for (number, unit) in self.others.iter().enumerate() {
            let object = format!("{name}.{number}.o");
            let unit_name = quoted(&whole(unit));
            let hidden: Vec<&Hidden> = self.hidden.iter().filter(|h| h.unit == *unit).collect();
            let keep = if hidden.is_empty() { "" } else { " -fkeep-static-functions" };
            let flags = flags(unit);
            steps.push(format!("{common}{keep}{include}{flags} -c {unit_name} -o {object}"));
            steps.extend(hidden.iter().map(|function| {
                let (name, symbol) = (function.plain(), function.symbol());
                let renamed = format!("--redefine-sym {name}={symbol} --globalize-symbol={symbol}");
                format!("objcopy {renamed} {object}")
            }));
            objects.push(object);
        }
        let objects: String = objects.iter().map(|object| format!(" {object}")).collect();
        let main = flags(self.main);
        if interrupted {
            // What finds data races is not linked.
            let undefined = if self.is_silent() { " -fsanitize=undefined" } else { "" };
            steps.push(format!("{common}{main} -c {name} -o {name}.o"));
            steps.push(format!("{}{undefined} {name}.o{objects} -o {name}.out", self.target()));
        } else {
            steps.push(format!("{common}{main} {name}{objects} -o {name}.out"));
        }
        let run = if self.name.contains('/') { "" } else { "./" };
        steps.push(format!("{run}{name}.out"));
        Ok(steps.join(" && "))
    }

    /// The commands that the source was compiled with.
    fn database(&self) -> Result<Vec<commands::Command>, Fail> {
        let path = Path::new(&self.source.path);
        if path.file_name().is_some_and(|name| name == COMPILE_COMMANDS) {
            let text = self.source.files().next().map_or("", |file| file.text);
            return commands::parse(path, text);
        }
        let Some(path) = &self.options.compile_commands else { return Ok(vec![]) };
        let text = std::fs::read_to_string(path).unwrap_or_default();
        commands::parse(Path::new(path), &text)
    }

    fn is_silent(&self) -> bool {
        SILENT.contains(&self.property)
    }

    fn is_interrupted(&self) -> bool {
        !self.options.interrupts.is_empty()
    }

    fn target(&self) -> String {
        let wide = if self.options.model == DataModel::Lp64 { "" } else { " -m32" };
        // In 32 bits, assembly names the program's variables by their addresses.
        let fixed = if self.has_assembly && !wide.is_empty() { " -fno-pie -no-pie" } else { "" };
        format!("gcc -w{wide}{fixed}")
    }

    fn common(&self, header: bool) -> String {
        let mut words = vec![self.target(), "-fwrapv".to_string()];
        if !self.options.model.signed_char() {
            words.push("-funsigned-char".into());
        }
        if self.options.model.short_enums() {
            words.push("-fshort-enums".into());
        }
        let kinds: &[&str] = match (self.is_silent(), self.is_interrupted()) {
            (false, false) => &[],
            (true, false) => &["-fsanitize=address,undefined", "-fno-sanitize-recover=all"],
            (false, true) => &["-fsanitize=thread"],
            (true, true) => &["-fsanitize=thread,undefined", "-fno-sanitize-recover=all"],
        };
        words.extend(kinds.iter().map(|kind| kind.to_string()));
        if header {
            // It is empty: what it would define is there already.
            words.push(format!("-I {}.include", quoted(self.name)));
        }
        words.join(" ")
    }
}

/// The flags of the preprocessor; folders with the flag that names them.
fn flags<'a>(
    folders: impl Iterator<Item = (&'a str, &'a String)>,
    macros: &[Macro],
    forced: &[String],
) -> String {
    let folders = folders.map(|(flag, folder)| format!(" {flag} {}", quoted(folder)));
    let macros = macros.iter().map(|change| match change {
        Macro::Define(text) => format!(" -D {}", quoted(text)),
        Macro::Undefine(name) => format!(" -U {name}"),
    });
    let forced = forced.iter().map(|file| format!(" -include {}", quoted(file)));
    folders.chain(macros).chain(forced).collect()
}

/// As a shell takes it for one word.
fn quoted(text: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+,@:".contains(c);
    match !text.is_empty() && text.chars().all(is_plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}

/// What running the program shows.
pub fn promise(options: &COptions, property: &str, machine: bool) -> String {
    let mut text = String::new();
    if SILENT.contains(&property) {
        text += " * The sanitizer ends it with exit code 1 where the property is broken. Without it, nothing is seen.\n";
    } else if FAULTS.contains(&property) {
        text += " * The exit code is 1: the processor's fault ends it.\n";
    } else {
        text += " * The exit code is 1, or that of a failed assertion.\n";
    }
    if !options.interrupts.is_empty() {
        text += " * Interrupts come in the order of the run; of the moments at which they may come, each is tried in a process of its own.\n";
    }
    if machine {
        text += " * It sees what processors of PCs see under Linux.\n";
    }
    if options.model != DataModel::Lp64 {
        text += " * Where -m32 is not installed, leave it out: unless the sizes of long and pointers matter, nothing changes.\n";
    }
    text
}
