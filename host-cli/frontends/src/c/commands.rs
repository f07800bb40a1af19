//! Compilation databases: `compile_commands.json`, as CMake, Meson, Bear and others write it.

use super::preprocess::{Macro, marker};
use super::{DataModel, Fail, fail};
use serde_json::Value;
use std::path::{Path, PathBuf};
use vouch_ir::{Span, read};

/// How one file is compiled.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Command {
    /// The file, seen from here.
    pub file: String,
    /// Where the compiler runs.
    pub folder: PathBuf,
    /// Folders of included files; those for `"…"` alone are marked.
    pub include: Vec<(bool, String)>,
    /// Macros, in order.
    pub macros: Vec<Macro>,
    /// Files that are included before the first line.
    pub forced: Vec<String>,
    /// Whether the language is C90, in which large decimal numbers have other types.
    pub c90: bool,
    /// A flag that lets the compiler compute with floating-point numbers as if they were others.
    pub relaxed: Option<String>,
    /// A file with flags that cannot be read.
    pub unread: Option<PathBuf>,
    /// The data model, or why there is none.
    pub model: Result<DataModel, String>,
}

/// The commands for C files in a database at a path.
pub fn parse(path: &Path, text: &str) -> Result<Vec<Command>, Fail> {
    let wrong = |what: &str| {
        let what = format!("{} is not a compilation database: {what}", path.display());
        fail(what, Span::default(), "")
    };
    let json: Value = serde_json::from_str(text).map_err(|e| wrong(&e.to_string()))?;
    let entries = json.as_array().ok_or_else(|| wrong("it is not a list"))?;
    let base = path.parent().unwrap_or(Path::new(""));
    let mut commands = vec![];
    for entry in entries {
        let text = |key: &str| entry.get(key).and_then(Value::as_str);
        let file = text("file").ok_or_else(|| wrong("an entry has no `file`"))?;
        if Path::new(file).extension().is_none_or(|e| e != "c") {
            continue;
        }
        let words = match (entry.get("arguments").and_then(Value::as_array), text("command")) {
            (Some(words), _) => {
                words.iter().filter_map(|word| word.as_str().map(str::to_string)).collect()
            }
            (None, Some(command)) => split(command),
            (None, None) => return Err(wrong("an entry has neither `arguments` nor `command`")),
        };
        let folder = base.join(text("directory").unwrap_or(""));
        let file = folder.join(file).display().to_string();
        let (words, unread) = match with_files(words, &folder, 0) {
            Ok(words) => (words, None),
            Err(unread) => (vec![], Some(unread)),
        };
        commands.push(Command { unread, ..command(file, folder, &words) });
    }
    Ok(commands)
}

/// Programs that run the compiler that is named behind them.
const LAUNCHERS: [&str; 6] = ["ccache", "sccache", "distcc", "icecc", "env", "time"];

/// Flags that let the compiler take it that each floating-point number is finite, or that rounding does not matter.
const RELAXED: [&str; 7] = [
    "-ffast-math",
    "-Ofast",
    "-ffinite-math-only",
    "-funsafe-math-optimizations",
    "-fassociative-math",
    "-freciprocal-math",
    "-ffp-model=fast",
];

/// How many files name each other in turn.
const DEPTH: u32 = 8;

/// Flags that give types another layout or another meaning than a data model has, each with its values.
const ODD: [&str; 15] = [
    "-fpack-struct",
    "-fshort-wchar",
    "-fshort-double",
    "-funsigned-bitfields",
    "-fno-signed-bitfields",
    "-fsso-struct",
    "-fsingle-precision-constant",
    "-fexec-charset",
    "-fwide-exec-charset",
    "-mms-bitfields",
    "-malign-double",
    "-mstructure-size-boundary",
    "-mabi=apcs",
    "-mabi=atpcs",
    "-mbig-endian",
];

/// The words of a command as a shell splits them, without variables.
fn split(command: &str) -> Vec<String> {
    let (mut words, mut word) = (vec![], None::<String>);
    let mut quote = None;
    let mut chars = command.chars();
    while let Some(c) = chars.next() {
        match (quote, c) {
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (None, '\'' | '"') => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (Some(q), c) if c == q => quote = None,
            (None | Some('"'), '\\') => word.get_or_insert_default().extend(chars.next()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// The words with those that are in files which are named as `@file`: commands that are too long for a system are
/// written that way.
fn with_files(words: Vec<String>, folder: &Path, depth: u32) -> Result<Vec<String>, PathBuf> {
    let mut all = vec![];
    for word in words {
        let Some(name) = word.strip_prefix('@') else {
            all.push(word);
            continue;
        };
        let path = folder.join(name);
        let bytes = read::file(&path).ok().filter(|_| depth < DEPTH).ok_or(path)?;
        all.extend(with_files(split(&String::from_utf8_lossy(&bytes)), folder, depth + 1)?);
    }
    Ok(all)
}

/// What the words of a command say.
fn command(file: String, folder: PathBuf, words: &[String]) -> Command {
    let mut found = Command {
        file,
        folder,
        include: vec![],
        macros: vec![],
        forced: vec![],
        c90: false,
        relaxed: None,
        unread: None,
        model: Ok(DataModel::Lp64),
    };
    let launchers = words.iter().take_while(|word| LAUNCHERS.contains(&program(word))).count();
    let mut rest = words.iter().skip(launchers);
    let mut target = Target::of_compiler(rest.next().map_or("", String::as_str));
    while let Some(word) = rest.next() {
        // `-Ifolder` and `-I folder`.
        let mut value = |flag: &str| match word.strip_prefix(flag) {
            Some("") => rest.next().cloned(),
            Some(value) => Some(value.to_string()),
            None => None,
        };
        if RELAXED.contains(&&**word) {
            found.relaxed = Some(word.clone());
        } else if word == "-fno-fast-math" {
            found.relaxed = None;
        } else if word == "-ansi" {
            found.c90 = true;
        } else if let Some(standard) = word.strip_prefix("-std=") {
            const C90: [&str; 6] =
                ["c89", "c90", "gnu89", "gnu90", "iso9899:1990", "iso9899:199409"];
            found.c90 = C90.contains(&standard);
        } else if let Some(name) = value("-D") {
            found.macros.push(Macro::Define(name));
        } else if let Some(name) = value("-U") {
            found.macros.push(Macro::Undefine(name));
        } else if let Some(file) = value("-include").or_else(|| value("-imacros")) {
            found.forced.push(file);
        } else if let Some(folder) = value("-iquote") {
            found.include.push((true, folder));
        } else if let Some(folder) =
            value("-I").or_else(|| value("-isystem")).or_else(|| value("-idirafter"))
        {
            found.include.push((false, folder));
        } else if let Some(name) = value("--target=").or_else(|| value("-target")) {
            target = Target::of_name(&name).unwrap_or(Target::Other(name));
        } else {
            target.refine(word, &mut found.macros);
        }
    }
    found.model = target.model();
    found
}

/// The name of a program.
fn program(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".exe").unwrap_or(name)
}

/// What code is made for.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Target {
    X86 {
        bits: u32,
    },
    Arm {
        odd: Option<String>,
    },
    /// A name that nothing is known of.
    Other(String),
}

impl Target {
    fn of_compiler(path: &str) -> Target {
        let name = program(path);
        let is_version = |rest: &str| rest.starts_with(|c: char| c.is_ascii_digit());
        match name.rsplit_once('-') {
            // `arm-none-eabi-gcc`, but not `gcc-12`.
            Some((target, last)) if !is_version(last) => {
                Target::of_name(target).unwrap_or(Target::Other(name.to_string()))
            }
            Some((compiler, _)) => Target::of_compiler(compiler),
            None if matches!(name, "armcc" | "armclang" | "iccarm" | "tiarmclang") => {
                Target::Arm { odd: None }
            }
            None if matches!(name, "gcc" | "cc" | "clang" | "c99" | "icx") => {
                Target::X86 { bits: 64 }
            }
            None => Target::Other(name.to_string()),
        }
    }

    fn of_name(name: &str) -> Option<Target> {
        let is_arm = ["arm", "thumb"].iter().any(|start| name.starts_with(start));
        let is_odd = ["armeb", "thumbeb"].iter().any(|start| name.starts_with(start));
        match name {
            // With other sizes or layouts.
            _ if is_odd
                || ["mingw", "windows", "cygwin", "x32"].iter().any(|n| name.contains(n)) =>
            {
                None
            }
            _ if name.starts_with("x86_64") => Some(Target::X86 { bits: 64 }),
            _ if name.starts_with('i') && name.contains("86") => Some(Target::X86 { bits: 32 }),
            // With an operating system enumerations are as large as `int`.
            _ if is_arm && !name.contains("linux") => Some(Target::Arm { odd: None }),
            _ => None,
        }
    }

    /// What a flag says besides.
    fn refine(&mut self, flag: &str, macros: &mut Vec<Macro>) {
        let core = flag.strip_prefix("-mcpu=cortex-m");
        match (flag, &mut *self) {
            ("-m32", Target::X86 { bits }) => *bits = 32,
            ("-m64", Target::X86 { bits }) => *bits = 64,
            ("-fno-short-enums" | "-fsigned-char" | "-mbig-endian", Target::Arm { odd }) => {
                *odd = Some(flag.to_string());
            }
            ("-funsigned-char" | "-fshort-enums" | "-mx32", Target::X86 { .. }) => {
                *self = Target::Other(flag.to_string());
            }
            (_, Target::X86 { .. } | Target::Arm { .. })
                if ODD.iter().any(|odd| flag.starts_with(odd)) =>
            {
                *self = Target::Other(flag.to_string());
            }
            (_, Target::X86 { .. }) if core.is_some() => *self = Target::Arm { odd: None },
            _ => {}
        }
        if let Some(core) = core {
            architecture(core, macros);
        }
    }

    fn model(self) -> Result<DataModel, String> {
        match self {
            Target::X86 { bits: 32 } => Ok(DataModel::Ilp32),
            Target::X86 { .. } => Ok(DataModel::Lp64),
            Target::Arm { odd: None } => Ok(DataModel::Arm32),
            Target::Arm { odd: Some(name) } | Target::Other(name) => {
                Err(format!("there is no data model for `{name}`"))
            }
        }
    }
}

/// The macros of a Cortex-M that is not an M3.
fn architecture(core: &str, macros: &mut Vec<Macro>) {
    let number: String = core.chars().take_while(char::is_ascii_digit).collect();
    let (arch, name) = match number.as_str() {
        "0" | "1" => (6, "__ARM_ARCH_6M__"),
        "4" | "7" => (7, "__ARM_ARCH_7EM__"),
        "23" => (8, "__ARM_ARCH_8M_BASE__"),
        "33" | "35" | "55" | "85" => (8, "__ARM_ARCH_8M_MAIN__"),
        _ => return,
    };
    macros.push(Macro::Undefine("__ARM_ARCH_7M__".into()));
    macros.push(Macro::Define(format!("__ARM_ARCH={arch}")));
    macros.push(Macro::Define(format!("{name}=1")));
}

/// Whether a preprocessed text declares anything as a floating-point number, apart from our own headers.
pub fn uses_floats(text: &str) -> bool {
    let mut is_own = false;
    text.lines().any(|line| {
        if let Some((_, file)) = marker(line) {
            is_own = file.starts_with('<');
            return false;
        }
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        !is_own && words.any(|word| matches!(word, "float" | "double"))
    })
}

/// A decimal number in a text that does not fit `long`: unsigned in C90, and wider since.
pub fn large_decimal(text: &str, model: DataModel) -> Option<&str> {
    let most = if model == DataModel::Lp64 { i64::MAX as u128 } else { i32::MAX as u128 };
    let mut words = text.split(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '.')));
    words.find(|word| {
        let digits = word.strip_suffix(['l', 'L']).unwrap_or(word);
        let is_decimal = !digits.starts_with('0') && digits.bytes().all(|b| b.is_ascii_digit());
        is_decimal && digits.parse::<u128>().is_ok_and(|value| value > most)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(compiler: &str) -> Command {
        let text = serde_json::json!([{
            "directory": "/p/build", "file": "../src/a.c",
            "command": format!("{compiler} -DX -D 'Y=\"a b\"' -UZ -I../inc -isystem /s -iquote q -include pre.h -c ../src/a.c -o a.o"),
        }]);
        parse(Path::new("build/compile_commands.json"), &text.to_string()).unwrap().remove(0)
    }

    #[test]
    fn a_command_is_taken_apart() {
        let command = read("/opt/bin/arm-none-eabi-gcc -mthumb");
        assert_eq!(command.file, "/p/build/../src/a.c");
        assert_eq!(command.folder, Path::new("/p/build"));
        let define = |text: &str| Macro::Define(text.into());
        assert_eq!(command.macros, [define("X"), define("Y=\"a b\""), Macro::Undefine("Z".into())]);
        let folders = [(false, "../inc"), (false, "/s"), (true, "q")];
        assert_eq!(command.include, folders.map(|(quoted, name)| (quoted, name.to_string())));
        assert_eq!(command.forced, ["pre.h"]);
    }

    #[test]
    fn flags_may_be_in_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("inner.rsp"), "-I'a b'\n-fpack-struct").unwrap();
        std::fs::write(folder.path().join("flags.rsp"), "-DX=1 @inner.rsp").unwrap();
        let read = |command: &str| {
            let text = serde_json::json!([{
                "directory": folder.path(), "file": "a.c", "command": command,
            }]);
            parse(Path::new(""), &text.to_string()).unwrap().remove(0)
        };
        let found = read("arm-none-eabi-gcc @flags.rsp -c a.c");
        assert_eq!(found.macros, [Macro::Define("X=1".into())]);
        assert_eq!(found.include, [(false, "a b".into())]);
        assert!(found.model.is_err() && found.unread.is_none());
        let lost = read("arm-none-eabi-gcc @none.rsp -c a.c").unread;
        assert_eq!(lost, Some(folder.path().join("none.rsp")));
    }

    #[test]
    fn fractions_may_be_computed_otherwise() {
        let relaxed = |flags: &str| read(&format!("gcc {flags}")).relaxed;
        assert_eq!(relaxed("-O2 -ffast-math").as_deref(), Some("-ffast-math"));
        assert!(relaxed("-Ofast").is_some() && relaxed("-O3").is_none());
        assert!(relaxed("-Ofast -fno-fast-math").is_none());
        assert!(uses_floats("# 1 \"a.c\"\nint x;\nstatic float y;\n"));
        assert!(!uses_floats("# 1 \"<math.h>\"\ndouble sin(double);\n# 1 \"a.c\"\nint floats;\n"));
    }

    #[test]
    fn the_data_model_follows() {
        let model = |compiler: &str| read(compiler).model;
        assert_eq!(model("arm-none-eabi-gcc"), Ok(DataModel::Arm32));
        assert_eq!(model("clang --target=thumbv7em-none-eabi"), Ok(DataModel::Arm32));
        assert_eq!(model("clang -mcpu=cortex-m4"), Ok(DataModel::Arm32));
        assert_eq!(model("gcc"), Ok(DataModel::Lp64));
        assert_eq!(model("gcc-12 -m32"), Ok(DataModel::Ilp32));
        assert_eq!(model("i686-elf-gcc"), Ok(DataModel::Ilp32));
        assert_eq!(model("clang-18"), Ok(DataModel::Lp64));
        assert_eq!(model("/usr/bin/ccache arm-none-eabi-gcc"), Ok(DataModel::Arm32));
        assert_eq!(model("arm-none-eabi-gcc-12.2"), Ok(DataModel::Arm32));
        for other in [
            "avr-gcc",
            "ccache avr-gcc",
            "sdcc",
            "riscv32-unknown-elf-gcc",
            "x86_64-w64-mingw32-gcc",
            "clang --target=armeb-none-eabi",
            "arm-none-eabi-gcc -fno-short-enums",
            "arm-none-eabi-gcc -fpack-struct=1",
            "gcc -fshort-wchar",
            "gcc -mcpu=cortex-m4 -funsigned-bitfields",
            "gcc -m32 -malign-double",
        ] {
            assert!(model(other).is_err(), "{other}");
        }
        let c90 = |compiler: &str| read(compiler).c90;
        assert!(c90("gcc -ansi") && c90("gcc -std=gnu89") && !c90("gcc -std=c90 -std=c99"));
        let large = |text| large_decimal(text, DataModel::Ilp32);
        assert_eq!(large("x = -2147483648 + 1;"), Some("2147483648"));
        assert_eq!(large("x = 4294967295L;"), Some("4294967295L"));
        assert_eq!(
            large("0xffffffff 2147483647 4294967295u 9999999999ll 9999999999.0 a9999999999"),
            None
        );
        assert_eq!(large_decimal("4294967295", DataModel::Lp64), None);
        let macros = read("arm-none-eabi-gcc -mcpu=cortex-m0plus").macros;
        assert!(macros.contains(&Macro::Define("__ARM_ARCH_6M__=1".into())));
    }
}
