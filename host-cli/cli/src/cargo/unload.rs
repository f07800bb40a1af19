//! Takes properties out of what is loaded: they stay in the file for vouch, with their addresses, and nobody
//! flashes them.

use vouch_host::frontend::elf::marker::ALWAYS;

/// Offsets in the header of an ELF file of 32 bits, and in headers of segments and sections.
const SEGMENTS_AT: usize = 28;
const SECTIONS_AT: usize = 32;
const SEGMENT_SIZE: usize = 42;
const SEGMENT_COUNT: usize = 44;
const SECTION_SIZE: usize = 46;
const SECTION_COUNT: usize = 48;
const NAMES_INDEX: usize = 50;

const LOAD: u32 = 1;
const ALLOC: u32 = 2;

/// A file that is changed.
struct File(Vec<u8>);

impl File {
    fn word(&self, at: usize) -> Option<u32> {
        Some(u32::from_le_bytes(*self.0.get(at..)?.first_chunk()?))
    }
    fn half(&self, at: usize) -> Option<usize> {
        Some(usize::from(u16::from_le_bytes(*self.0.get(at..)?.first_chunk()?)))
    }
    fn set(&mut self, at: usize, value: u32) -> Option<()> {
        self.0.get_mut(at..at.checked_add(4)?)?.copy_from_slice(&value.to_le_bytes());
        Some(())
    }
    /// Where the headers of segments, or of sections, are.
    fn headers(&self, at: usize, size: usize, count: usize) -> Option<Vec<usize>> {
        let first = self.word(at)? as usize;
        let (size, count) = (self.half(size)?, self.half(count)?);
        (0..count).map(|i| first.checked_add(i.checked_mul(size)?)).collect()
    }
    /// Whether a section has a name.
    fn is_called(&self, section: usize, names: usize, name: &str) -> Option<bool> {
        let at = (self.word(names + 16)? as usize).checked_add(self.word(section)? as usize)?;
        let rest = self.0.get(at..)?.strip_prefix(name.as_bytes());
        Some(rest.is_some_and(|rest| rest.first() == Some(&0)))
    }
    /// Does it; whether the properties are where nothing else is.
    fn unload(&mut self) -> Option<bool> {
        let sections = self.headers(SECTIONS_AT, SECTION_SIZE, SECTION_COUNT)?;
        let names = *sections.get(self.half(NAMES_INDEX)?)?;
        let mut properties = None;
        for section in &sections {
            if self.is_called(*section, names, ALWAYS)? {
                properties = Some(*section);
            }
        }
        let Some(section) = properties else { return Some(true) };
        let flags = self.word(section + 8)?;
        self.set(section + 8, flags & !ALLOC)?;
        let (start, size) = (self.word(section + 12)?, self.word(section + 20)?);
        let mut is_apart = true;
        for segment in self.headers(SEGMENTS_AT, SEGMENT_SIZE, SEGMENT_COUNT)? {
            let (at, count) = (self.word(segment + 8)?, self.word(segment + 20)?);
            let ends = (at.checked_add(count)?, start.checked_add(size)?);
            if self.word(segment)? != LOAD || ends.0 <= start || ends.1 <= at {
                continue;
            }
            is_apart &= (at, count) == (start, size);
            self.set(segment, 0)?;
        }
        Some(is_apart)
    }
}

/// Takes the properties out of what is loaded.
pub fn unload(bytes: Vec<u8>) -> Result<Vec<u8>, String> {
    if !bytes.starts_with(b"\x7fELF\x01\x01") {
        return Err("the program is not for a 32-bit microcontroller\n\
                    help: name what it is built for: `--target thumbv7m-none-eabi`"
            .into());
    }
    let mut file = File(bytes);
    match file.unload() {
        Some(true) => Ok(file.0),
        Some(false) => Err(format!(
            "section `{ALWAYS}` is not alone in what is loaded with it\n\
             help: keep 0x1e000000 free in the linker script"
        )),
        None => Err("the program's ELF file is damaged".into()),
    }
}
