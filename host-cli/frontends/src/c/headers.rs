//! Headers that come with vouch: those of the C library as far as firmware uses them, `vouch.h`, and the macros that
//! compilers define for a target.

use super::DataModel;
use std::fs;
use std::io;
use std::path::Path;

macro_rules! headers {
    ($($name:literal),* $(,)?) => {
        [$(($name, include_str!(concat!("include/", $name)))),*]
    };
}

const HEADERS: [(&str, &str); 37] = headers![
    "alloca.h",
    "arm_acle.h",
    "arm_compat.h",
    "assert.h",
    "ctype.h",
    "endian.h",
    "errno.h",
    "float.h",
    "inttypes.h",
    "iso646.h",
    "limits.h",
    "machine/endian.h",
    "malloc.h",
    "math.h",
    "memory.h",
    "setjmp.h",
    "signal.h",
    "stdalign.h",
    "stdarg.h",
    "stdatomic.h",
    "stdbool.h",
    "stdckdint.h",
    "stddef.h",
    "stdint.h",
    "stdio.h",
    "stdlib.h",
    "stdnoreturn.h",
    "string.h",
    "strings.h",
    "time.h",
    "unistd.h",
    "vouch.h",
    "wchar.h",
    "sys/cdefs.h",
    "sys/param.h",
    "sys/time.h",
    "sys/types.h",
];

/// Those that are used also beside the host's.
const OUR_OWN: [&str; 2] = ["vouch.h", "assert.h"];

/// Writes them into a folder; beside the host's only our own.
pub fn write(folder: &Path, host: bool) -> io::Result<()> {
    for (name, text) in HEADERS.iter().filter(|(name, _)| !host || OUR_OWN.contains(name)) {
        let path = folder.join(name);
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent)?;
        }
        fs::write(path, text)?;
    }
    Ok(())
}

/// The text of one.
pub fn text(name: &str) -> Option<&'static str> {
    HEADERS.iter().find(|header| header.0 == name).map(|header| header.1)
}

/// The names of all.
#[cfg(test)]
pub fn all() -> impl Iterator<Item = &'static str> {
    HEADERS.iter().map(|header| header.0)
}

/// Their names, for messages.
pub fn names() -> String {
    HEADERS.map(|header| header.0).join(", ")
}

/// What compilers define for a data model: gcc, or where code is made for firmware also Clang.
pub fn target(model: DataModel, clang: bool) -> &'static str {
    match model {
        DataModel::Ilp32 => include_str!("include/macros/ilp32.h"),
        DataModel::Lp64 => include_str!("include/macros/lp64.h"),
        DataModel::Arm(_) if clang => include_str!("include/macros/arm32-clang.h"),
        DataModel::Arm(_) => include_str!("include/macros/arm32.h"),
        DataModel::Riscv32 if clang => include_str!("include/macros/riscv32-clang.h"),
        DataModel::Riscv32 => include_str!("include/macros/riscv32.h"),
    }
}
