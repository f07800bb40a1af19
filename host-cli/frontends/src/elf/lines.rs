//! Addresses as lines of the source, from DWARF.

use addr2line::Context;
use gimli::{EndianRcSlice, LittleEndian};
use object::read::elf::ElfFile32;
use object::{Endianness, Object, ObjectSection};
use std::path::Path;
use std::rc::Rc;

type Reader = EndianRcSlice<LittleEndian>;

/// Lines of a program, as far as it has debug information.
pub struct Lines {
    context: Option<Context<Reader>>,
}

impl Lines {
    /// Reads the debug information of a file.
    pub fn new(file: &ElfFile32<Endianness>) -> Lines {
        let section = |id: gimli::SectionId| -> Result<Reader, gimli::Error> {
            let data = file.section_by_name(id.name()).and_then(|s| s.data().ok());
            Ok(Reader::new(Rc::from(data.unwrap_or_default()), LittleEndian))
        };
        let dwarf = gimli::Dwarf::load(section).ok();
        Lines { context: dwarf.and_then(|dwarf| Context::from_dwarf(dwarf).ok()) }
    }

    /// The line that an instruction belongs to, as `file:line`. Of code that was inlined from a library the line
    /// that it was inlined into counts, for that is the user's.
    pub fn line(&self, address: u32) -> Option<String> {
        let context = self.context.as_ref()?;
        let mut frames = context.find_frames(address.into()).skip_all_loads().ok()?;
        let mut found = None;
        while let Ok(Some(frame)) = frames.next() {
            let Some(location) = frame.location else { continue };
            let (Some(file), Some(line)) = (location.file, location.line) else { continue };
            let is_library = file.starts_with("/rustc/") || file.contains("/.cargo/registry/");
            let name = Path::new(file).file_name().map(|n| n.to_string_lossy().into_owned());
            let text = format!("{}:{line}", name.as_deref().unwrap_or(file));
            if found.is_none() || !is_library {
                found = Some(text);
            }
            if !is_library {
                break;
            }
        }
        found
    }
}
