//! Compilation databases: `compile_commands.json`, as CMake, Meson, Bear and others write it.

use super::preprocess::{Macro, Search, marker};
use super::toolchain::{Predefined, Toolchain, program};
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
    /// Folders of included files.
    pub include: Vec<(Search, String)>,
    /// What is defined before all else.
    pub predefined: Predefined,
    /// Macros, in order.
    pub macros: Vec<Macro>,
    /// Files whose macros are defined before the first line.
    pub imacros: Vec<String>,
    /// Files that are included before the first line.
    pub forced: Vec<String>,
    /// Whether the language is C90, in which large decimal numbers have other types.
    pub c90: bool,
    /// A flag that lets the compiler compute with floating-point numbers as if they were others.
    pub relaxed: Option<String>,
    /// A flag that says what becomes of a signed result that does not fit.
    pub overflow: Option<String>,
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
const RELAXED: [&str; 14] = [
    "-ffast-math",
    "-Ofast",
    "-ffinite-math-only",
    "-funsafe-math-optimizations",
    "-fassociative-math",
    "-freciprocal-math",
    "-fno-signed-zeros",
    "-fno-honor-nans",
    "-fno-honor-infinities",
    "-fapprox-func",
    "-ffp-model=fast",
    "-ffp-model=aggressive",
    "-fdenormal-fp-math=preserve-sign",
    "-fdenormal-fp-math=positive-zero",
];

/// Flags that say what becomes of a signed result that does not fit; what others say is undone by the last.
const OVERFLOW: [&str; 5] =
    ["-fwrapv", "-fno-strict-overflow", "-ftrapv", "-fno-wrapv", "-fstrict-overflow"];

/// Flags whose values are words of their own, which could be taken for flags.
const WITH_VALUE: [&str; 15] = [
    "-include-pch",
    "-o",
    "-MF",
    "-MT",
    "-MQ",
    "-isysroot",
    "--sysroot",
    "--param",
    "-u",
    "-z",
    "-T",
    "-Xlinker",
    "-Xassembler",
    "-mllvm",
    "-arch",
];

/// How many files name each other in turn.
const DEPTH: u32 = 8;

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
        predefined: Predefined::default(),
        macros: vec![],
        imacros: vec![],
        forced: vec![],
        c90: false,
        relaxed: None,
        overflow: None,
        unread: None,
        model: Ok(DataModel::Lp64),
    };
    let launchers = words.iter().take_while(|word| LAUNCHERS.contains(&program(word))).count();
    let mut rest = words.iter().skip(launchers);
    let mut toolchain = Toolchain::of_compiler(rest.next().map_or("", String::as_str));
    // What is passed on to the preprocessor: `-Wp,-DX`, `-Xpreprocessor -DX`.
    let split = rest.flat_map(|word| match word.strip_prefix("-Wp,") {
        Some(passed) => passed.split(',').map(str::to_string).collect(),
        None => vec![word.clone()],
    });
    let mut rest = split.filter(|word| word != "-Xpreprocessor");
    while let Some(word) = rest.next() {
        // `-Ifolder`, `-I folder`, and the same with a longer name: `--include-directory=folder`.
        let mut value = |flag: &str, long: &str| match (word.strip_prefix(flag), &*word) {
            (Some(""), _) => rest.next(),
            (Some(value), _) => Some(value.to_string()),
            (None, word) if !long.is_empty() => match word.strip_prefix(long) {
                Some("") => rest.next(),
                Some(value) => value.strip_prefix('=').map(str::to_string),
                None => None,
            },
            _ => None,
        };
        if WITH_VALUE.contains(&&*word) {
            rest.next();
        } else if let Some(name) = value("-D", "--define-macro") {
            found.macros.push(Macro::Define(name));
        } else if let Some(name) = value("-U", "--undefine-macro") {
            found.macros.push(Macro::Undefine(name));
        } else if let Some(file) = value("-imacros", "--imacros") {
            found.imacros.push(file);
        } else if let Some(folder) = value("-I", "--include-directory") {
            found.include.push((Search::Plain, folder));
        } else if let Some(file) =
            value("-include", "--include").or_else(|| value("--preinclude=", ""))
        {
            found.forced.push(file);
        } else if let Some(file) = value("--preinclude", "") {
            found.forced.push(file);
        } else if let Some(folder) = value("-iquote", "") {
            found.include.push((Search::Quoted, folder));
        } else if let Some(folder) = value("-isystem", "") {
            found.include.push((Search::System, folder));
        } else if let Some(folder) = value("-idirafter", "--include-directory-after") {
            found.include.push((Search::After, folder));
        } else if let Some(name) = value("--target=", "").or_else(|| value("-target", "")) {
            toolchain.name(&name, &name);
        } else if let Some(language) = value("-x", "") {
            toolchain.language(&language);
        } else {
            relax(&word, &mut found.relaxed);
            if OVERFLOW.contains(&&*word) {
                found.overflow = Some(word.clone());
            }
            toolchain.refine(&word);
        }
    }
    found.c90 = toolchain.common.is_c90();
    found.model = toolchain.model();
    found.predefined = toolchain.predefined();
    found
}

/// What a flag says of floating-point numbers. The last one counts of those that contradict each other.
fn relax(flag: &str, relaxed: &mut Option<String>) {
    let undone = |of: &str| {
        flag == "-fno-fast-math"
            || of == "-Ofast" && flag.starts_with("-O")
            || of.strip_prefix("-f").is_some_and(|name| flag.strip_prefix("-fno-") == Some(name))
            || of.strip_prefix("-fno-").is_some_and(|name| flag.strip_prefix("-f") == Some(name))
    };
    if relaxed.as_deref().is_some_and(undone) {
        *relaxed = None;
    }
    if RELAXED.contains(&flag) {
        *relaxed = Some(flag.to_string());
    }
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
        let folders = [(Search::Plain, "../inc"), (Search::System, "/s"), (Search::Quoted, "q")];
        assert_eq!(command.include, folders.map(|(search, name)| (search, name.to_string())));
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
        assert_eq!(found.include, [(Search::Plain, "a b".into())]);
        assert!(found.model.is_err() && found.unread.is_none());
        let lost = read("arm-none-eabi-gcc @none.rsp -c a.c").unread;
        assert_eq!(lost, Some(folder.path().join("none.rsp")));
    }

    #[test]
    fn fractions_may_be_computed_otherwise() {
        let relaxed = |flags: &str| read(&format!("gcc {flags}")).relaxed;
        assert_eq!(relaxed("-O2 -ffast-math").as_deref(), Some("-ffast-math"));
        assert!(relaxed("-Ofast").is_some() && relaxed("-O3").is_none());
        assert!(relaxed("-Ofast -fno-fast-math").is_none() && relaxed("-Ofast -O2").is_none());
        assert!(
            relaxed("-fno-signed-zeros").is_some() && relaxed("-fassociative-math -O2").is_some()
        );
        assert!(relaxed("-ffinite-math-only -fno-finite-math-only").is_none());
        assert!(uses_floats("# 1 \"a.c\"\nint x;\nstatic float y;\n"));
        assert!(!uses_floats("# 1 \"<math.h>\"\ndouble sin(double);\n# 1 \"a.c\"\nint floats;\n"));
    }

    #[test]
    fn the_data_model_follows() {
        let model = |compiler: &str| read(compiler).model;
        assert_eq!(model("arm-none-eabi-gcc"), Ok(DataModel::ARM32));
        // What clang takes an enumeration for is another type than with gcc.
        let named = |name: &str| Ok(name.parse::<DataModel>().unwrap());
        assert_eq!(model("clang --target=thumbv7em-none-eabi"), named("arm32-int-enums"));
        assert_eq!(model("clang -mcpu=cortex-m4"), named("arm32-int-enums"));
        assert_eq!(model("clang -mcpu=cortex-m4 -fshort-enums"), Ok(DataModel::ARM32));
        assert_eq!(model("arm-none-eabi-gcc -fno-short-enums"), named("arm32-int-enums"));
        assert_eq!(model("arm-none-eabi-gcc -mabi=aapcs-linux"), named("arm32-int-enums"));
        assert_eq!(model("arm-none-eabi-gcc -fsigned-char"), named("arm32-signed-char"));
        let riscv = "riscv64-unknown-elf-gcc -march=rv32imac_zicsr -mabi=ilp32";
        assert_eq!(model(riscv), Ok(DataModel::Riscv32));
        assert_eq!(model("riscv32-esp-elf-gcc"), Ok(DataModel::Riscv32));
        assert_eq!(model("arm-none-eabi-gcc -fsigned-char -funsigned-char"), Ok(DataModel::ARM32));
        assert_eq!(model("gcc"), Ok(DataModel::Lp64));
        assert_eq!(model("gcc-12 -m32"), Ok(DataModel::Ilp32));
        assert_eq!(model("i686-elf-gcc"), Ok(DataModel::Ilp32));
        assert_eq!(model("clang-18"), Ok(DataModel::Lp64));
        assert_eq!(model("/usr/bin/ccache arm-none-eabi-gcc"), Ok(DataModel::ARM32));
        assert_eq!(model("arm-none-eabi-gcc-12.2"), Ok(DataModel::ARM32));
        for other in [
            "avr-gcc",
            "ccache avr-gcc",
            "sdcc",
            "riscv64-unknown-elf-gcc",
            "riscv32-unknown-elf-gcc -march=rv32imacv",
            "riscv-none-elf-gcc -march=rv32imac -mabi=lp64",
            "x86_64-w64-mingw32-gcc",
            "clang --target=armeb-none-eabi",
            "arm-none-eabi-gcc -fpack-struct=1",
            "arm-none-eabi-gcc -mcpu=cortex-x9",
            "arm-none-eabi-gcc -x c++",
            "arm-none-eabi-g++",
            "arm-none-eabi-gcc -ftrivial-auto-var-init=zero",
            "gcc -funsigned-char",
            "iccarm",
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
    }

    #[test]
    fn what_is_passed_on_or_has_a_long_name_counts() {
        let define = |text: &str| Macro::Define(text.into());
        let command = read(
            "gcc -Wp,-DA=1,-MD,a.d -Xpreprocessor -DB --define-macro C=2 --define-macro=E -MF -DF \
             --include-directory=i -idirafter j -imacros m.h --preinclude n.h --preinclude=o.h",
        );
        let macros = ["A=1", "B", "C=2", "E", "X", "Y=\"a b\""].map(define);
        assert_eq!(command.macros[..6], macros);
        let folders = [(Search::Plain, "i"), (Search::After, "j")];
        assert_eq!(command.include[..2], folders.map(|(search, name)| (search, name.to_string())));
        assert_eq!(command.imacros, ["m.h"]);
        assert_eq!(command.forced, ["n.h", "o.h", "pre.h"]);
        let overflow = |flags: &str| read(&format!("gcc {flags}")).overflow;
        assert_eq!(overflow("-ftrapv -fwrapv").as_deref(), Some("-fwrapv"));
        assert_eq!(overflow("-O2"), None);
    }
}
