//! Addresses as lines of the source, from DWARF.

use addr2line::Context;
use gimli::{Dwarf, EndianArcSlice, LittleEndian};
use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSection};
use std::path::Path;
use std::sync::Arc;

/// What debug information is read with.
pub type Reader = EndianArcSlice<LittleEndian>;

/// Lines of a program, as far as it has debug information.
pub struct Lines {
    dwarf: Option<Arc<Dwarf<Reader>>>,
    context: Option<Context<Reader>>,
}

/// A line, and the function that it is in.
struct Line {
    text: String,
    function: Option<String>,
}

impl Lines {
    /// Reads the debug information of a file.
    pub fn new(file: &ElfFile32<Endianness>) -> Lines {
        let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|s| s.data().ok());
            Ok(Reader::new(Arc::from(data.unwrap_or_default()), LittleEndian))
        };
        let dwarf = Dwarf::load(section).ok().map(Arc::new);
        let context = dwarf.clone().and_then(|dwarf| Context::from_arc_dwarf(dwarf).ok());
        Lines { dwarf, context }
    }

    /// The debug information itself.
    pub fn dwarf(&self) -> Option<&Dwarf<Reader>> {
        self.dwarf.as_deref()
    }

    /// The line that an instruction belongs to, as `file:line`. Of code that was inlined from a library the line
    /// that it was inlined into counts, for that is the user's.
    pub fn line(&self, address: u32) -> Option<String> {
        self.find(address).map(|line| line.text)
    }

    /// The same with the function that was written there, which may be inlined: `drain at pump.rs:41`.
    pub fn place(&self, address: u32) -> Option<String> {
        let Line { text, function } = self.find(address)?;
        Some(match function {
            Some(function) => format!("{function} at {text}"),
            None => text,
        })
    }

    fn find(&self, address: u32) -> Option<Line> {
        let context = self.context.as_ref()?;
        let mut frames = context.find_frames(address.into()).skip_all_loads().ok()?;
        let mut found = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { continue };
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            let is_library = file.starts_with("/rustc/") || file.contains("/.cargo/registry/");
            if found.is_none() || !is_library {
                let name = Path::new(file).file_name().map(|n| n.to_string_lossy().into_owned());
                let text = format!("{}:{line}", name.as_deref().unwrap_or(file));
                let function = frame.function.as_ref().and_then(|name| name.demangle().ok());
                let function = function.map(|name| short(&name));
                found = Some(Line { text, function });
            }
            if !is_library {
                break;
            }
        }
        found
    }
}

/// The last part of a function's name, without the types that it is for.
fn short(name: &str) -> String {
    let name = name.split("::<").next().unwrap_or(name);
    let name = without_hash(name);
    name.rsplit("::").next().unwrap_or(name).to_owned()
}

/// A name without the hash that older compilers put behind it.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((rest, hash)) if hash.len() == 16 && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            rest
        }
        _ => name,
    }
}
