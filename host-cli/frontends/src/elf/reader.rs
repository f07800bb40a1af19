//! What a linked ELF file holds: memory at reset, symbols, and where code ends and data begins.
//!
//! Sections are read, not segments: they tell `.bss`, which start-up code clears, from memory that keeps what it
//! had. Reset contents of `.data` are its bytes in the file; that the start-up code copies them is assumed.

use super::failure;
use super::isa::Isa;
use super::lines::Lines;
use super::marker::{self, Marker};
use object::elf::{
    EF_RISCV_FLOAT_ABI, ELFCLASS64, EM_ARM, EM_RISCV, PT_LOAD, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS,
    SHF_WRITE, SHT_NOBITS,
};
use object::read::elf::{ElfFile32, FileHeader, ProgramHeader, SectionHeader};
use object::{Endianness, Object, ObjectSection, ObjectSymbol, SymbolKind};
use std::collections::BTreeMap;

/// A range of memory.
pub struct Section {
    /// Name in the section table, as `.text`.
    pub name: String,
    /// Its first address.
    pub start: u32,
    /// The bytes at reset; nothing if they are whatever the memory held.
    pub bytes: Option<Vec<u8>>,
    /// How many there are.
    pub size: u32,
    /// Whether it is in RAM.
    pub is_writable: bool,
    /// Whether it holds code.
    pub is_code: bool,
    /// Whether the file has contents for it.
    pub is_loaded: bool,
}

impl Section {
    /// The words that begin at these addresses, as far as it has contents.
    pub fn words(&self, at: std::ops::Range<u32>) -> impl Iterator<Item = (u32, u32)> {
        let bytes = self.bytes.as_deref().unwrap_or_default();
        let first = at.start.saturating_sub(self.start) as usize;
        let words = bytes.get(first..).unwrap_or_default().windows(4).zip(at);
        words.map(|(word, at)| (at, u32::from_le_bytes([word[0], word[1], word[2], word[3]])))
    }

    fn holds(&self, address: u32) -> bool {
        address.checked_sub(self.start).is_some_and(|at| at < self.size)
    }
    /// One past the last address.
    pub fn end(&self) -> u32 {
        self.start.saturating_add(self.size)
    }
}

/// Bytes that are flashed.
pub struct Segment {
    /// Where the program expects the first.
    pub start: u32,
    /// Where it is flashed to.
    pub load: u32,
    /// Contents, the byte for the lowest address first.
    pub bytes: Vec<u8>,
}

/// A function or an object.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name, as in the file.
    pub name: String,
    /// Its first address.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

impl Symbol {
    /// Its name as the source spells it.
    pub fn shown(&self) -> String {
        format!("{:#}", rustc_demangle::demangle(&self.name))
    }
}

/// What mapping symbols say.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    Code,
    Data,
}

/// A linked program.
pub struct Elf {
    /// Instruction set that the file is built for; decides how code is decoded.
    pub isa: Isa,
    /// Where the file says that it begins.
    pub entry: u32,
    sections: Vec<Section>,
    segments: Vec<Segment>,
    functions: BTreeMap<u32, Symbol>,
    /// Further names of them.
    aliases: Vec<Symbol>,
    objects: Vec<Symbol>,
    /// Code that is in no function.
    nameless: Vec<Symbol>,
    /// Functions in RAM.
    in_ram: Vec<Symbol>,
    marks: BTreeMap<u32, Mark>,
    /// What the start-up code puts into the register for that (RISC-V).
    pub global_pointer: Option<u32>,
    /// Where it comes from.
    pub lines: Lines,
    /// What it says of itself.
    pub markers: Vec<Marker>,
    /// Memory whose contents at reset say nothing: first addresses, and one past the last.
    unknown: Vec<(u32, u32)>,
}

/// Why a file is not a program that can be read, and a way out.
pub struct Unreadable(pub String, pub &'static str);

fn unreadable<T>(what: impl Into<String>, help: &'static str) -> Result<T, Unreadable> {
    Err(Unreadable(what.into(), help))
}

/// What the names of sections have in them that start-up code leaves as they are.
const KEPT: [&str; 6] = ["noinit", "no_init", "uninit", "persist", "retain", "backup"];

const RELINK: &str =
    "name the linked program that is flashed, an ELF file for a 32-bit microcontroller";

impl Elf {
    /// Reads a file.
    pub fn read(bytes: &[u8]) -> Result<Elf, Unreadable> {
        if !bytes.starts_with(b"\x7fELF") {
            return unreadable("this is not an ELF file", RELINK);
        }
        if bytes.get(4) == Some(&ELFCLASS64) {
            return unreadable("the program is for a 64-bit processor", RELINK);
        }
        let file = ElfFile32::<Endianness>::parse(bytes)
            .or_else(|e| unreadable(format!("this ELF file cannot be read: {e}"), RELINK))?;
        if !file.is_little_endian() {
            return unreadable("the program is for a big-endian processor", RELINK);
        }
        if file.kind() != object::ObjectKind::Executable {
            let what = "the program is not linked: its addresses are not fixed yet";
            return unreadable(what, "link it, without `-shared`, `-r` and position independence");
        }
        let isa = isa(&file)?;
        let mut elf = Elf {
            isa,
            entry: file.entry() as u32 & !1,
            sections: sections(&file)?,
            segments: segments(&file, bytes)?,
            functions: BTreeMap::new(),
            aliases: vec![],
            objects: vec![],
            nameless: vec![],
            in_ram: vec![],
            marks: BTreeMap::new(),
            global_pointer: None,
            lines: Lines::new(&file),
            markers: markers(&file)?,
            unknown: vec![],
        };
        elf.read_symbols(&file);
        if isa == Isa::Rv32 {
            elf.mark_functions();
        }
        elf.nameless = elf.gaps(elf.labels(&file));
        elf.forget_what_is_not_copied();
        if elf.functions.is_empty() || elf.marks.is_empty() {
            let what = "the program has no symbols: code and data cannot be told apart";
            return unreadable(what, "link it without `-s`, and do not run `strip` on it");
        }
        Ok(elf)
    }

    fn read_symbols(&mut self, file: &ElfFile32<Endianness>) {
        for symbol in file.symbols() {
            let Ok(name) = symbol.name() else { continue };
            let start = symbol.address() as u32;
            let mark = match name.split('.').next().unwrap_or(name) {
                "$t" | "$x" => Some(Mark::Code),
                // Nothing on these processors runs ARM code; it is left to look like data.
                "$d" | "$a" => Some(Mark::Data),
                _ if name.starts_with("$x") => Some(Mark::Code),
                _ => None,
            };
            if name == "__global_pointer$" {
                self.global_pointer = Some(start);
            }
            if let Some(mark) = mark {
                self.marks.insert(start, mark);
                continue;
            }
            let end = start.saturating_add(symbol.size() as u32);
            match symbol.kind() {
                SymbolKind::Text if symbol.is_definition() || symbol.size() == 0 => {
                    let start = start & !1;
                    // Whatever it says, a function ends with its section.
                    let section = self.section(start).map_or(start, Section::end);
                    let end = (end & !1).min(section);
                    let function = Symbol { name: name.into(), start, end };
                    if self.code(start).is_some() {
                        self.note_function(function);
                    } else if self.section(start).is_some() {
                        self.in_ram.push(function);
                    }
                }
                SymbolKind::Data | SymbolKind::Unknown if symbol.size() > 0 => {
                    self.objects.push(Symbol { name: name.into(), start, end });
                }
                _ => {}
            }
        }
        self.objects.sort_by_key(|o| (o.start, o.end));
        self.objects.dedup();
        // Assembly often has no sizes: such a function ends where the next one begins, or its section.
        let starts: Vec<u32> = self.functions.keys().copied().collect();
        for (i, start) in starts.iter().enumerate() {
            let section = self.section(*start).map_or(*start, Section::end);
            let next = starts.get(i + 1).copied().unwrap_or(section).min(section);
            if let Some(function) = self.functions.get_mut(start)
                && function.end <= *start
            {
                function.end = next;
            }
        }
    }

    /// Compilers make one function of two that are alike. Of its names that counts which stands for a failure or an input, then that
    /// with the longest range, and then the first.
    fn note_function(&mut self, new: Symbol) {
        let meaning = |f: &Symbol| match failure::failure(&f.name, &f.shown()) {
            Some(_) => u32::MAX,
            None => failure::input(&f.name).map_or(0, |(width, _)| width),
        };
        let Some(known) = self.functions.get_mut(&new.start) else {
            self.functions.insert(new.start, new);
            return;
        };
        let end = known.end.max(new.end);
        let is_better = (meaning(&new), new.end) > (meaning(known), known.end);
        let other = if is_better { std::mem::replace(known, new) } else { new };
        known.end = end;
        self.aliases.push(other);
    }

    /// Not all compilers for RISC-V tell where code begins: there is no data in functions. Whatever is between functions is not
    /// known to be code then.
    fn mark_functions(&mut self) {
        let has_marks = !self.marks.is_empty();
        for Symbol { start, end, .. } in self.functions.values() {
            self.marks.entry(*start).or_insert(Mark::Code);
            if !has_marks && !self.functions.contains_key(end) {
                self.marks.insert(*end, Mark::Data);
            }
        }
    }

    /// Names of places in code that is in no function, as assembly has them.
    fn labels(&self, file: &ElfFile32<Endianness>) -> Vec<Symbol> {
        let label = |symbol: object::read::elf::ElfSymbol32<'_, '_, Endianness>| {
            let (name, start) = (symbol.name().ok()?, symbol.address() as u32 & !1);
            let is_label = symbol.kind() == SymbolKind::Unknown
                && symbol.size() == 0
                && symbol.section_index().is_some()
                && !name.starts_with('$')
                && !name.is_empty();
            let is_alone = self.code(start).is_some() && self.function(start).is_none();
            (is_label && is_alone).then(|| Symbol { name: name.into(), start, end: start })
        };
        file.symbols().filter_map(label).collect()
    }

    /// What may be instructions although they are not followed: what is not marked as data, or anything on RISC-V, which does not always mark
    /// it. Code in RAM is among it.
    pub fn nameless_code(&self, address: u32) -> Option<&[u8]> {
        let in_ram = || self.in_ram.iter().any(|f| (f.start..f.end).contains(&address));
        let section = self.section(address).filter(|s| s.is_code || in_ram())?;
        let mark = self.marks.range(..=address).next_back().map(|(_, mark)| *mark);
        let bytes = section.bytes.as_ref()?.get((address - section.start) as usize..)?;
        (self.isa == Isa::Rv32 || mark == Some(Mark::Code)).then_some(bytes)
    }

    /// The code between the functions, from label to label.
    fn gaps(&self, mut labels: Vec<Symbol>) -> Vec<Symbol> {
        let mut gaps = vec![];
        labels.sort_by_key(|label| label.start);
        labels.dedup_by_key(|label| label.start);
        for section in self.sections.iter().filter(|s| s.is_code && !s.is_writable) {
            let mut at = section.start;
            let functions = self.functions.range(section.start..section.end()).map(|f| f.1);
            let ends = functions.map(|f| (f.start, f.end)).chain([(section.end(), u32::MAX)]);
            for (start, end) in ends {
                while at < start {
                    let name = labels.iter().rev().find(|l| l.start == at).map(|l| l.name.clone());
                    let next = labels.iter().map(|l| l.start).find(|l| *l > at).unwrap_or(start);
                    let end = next.min(start);
                    gaps.push(Symbol { name: name.unwrap_or_default(), start: at, end });
                    at = end;
                }
                at = at.max(end);
            }
        }
        gaps
    }

    /// Start-up code fills `.data` and `.bss`. Sections that are to keep what they had have contents in the file all the same if a
    /// compiler takes them for others, as GCC does with `section(".noinit")`: zeros, which nobody copies.
    fn forget_what_is_not_copied(&mut self) {
        let is_copied = |name: &str| {
            let name = name.trim_start_matches('.').to_lowercase();
            ["data", "sdata", "tdata"].iter().any(|data| name.starts_with(data))
        };
        // Where variables are that have no contents in the file is RAM.
        let is_ram = |at: u32, all: &[Section]| {
            let near = |s: &&Section| s.start >> 24 == at >> 24;
            let has_vars = all.iter().filter(near).any(|s| s.is_writable && !s.is_loaded);
            has_vars && !all.iter().filter(near).any(|s| s.is_code && !s.is_writable)
        };
        let keeps = |s: &Section| {
            let loaded = self.flashed(s.start..s.end()).map(|(at, _)| at);
            let name = s.name.to_lowercase();
            let is_kept = KEPT.iter().any(|kept| name.contains(kept));
            let stays = loaded.is_none_or(|at| at == s.start) && !is_copied(&s.name);
            s.is_writable && s.is_loaded && (is_kept || stays && is_ram(s.start, &self.sections))
        };
        let kept: Vec<usize> =
            (0..self.sections.len()).filter(|i| keeps(&self.sections[*i])).collect();
        kept.into_iter().for_each(|i| self.sections[i].bytes = None);
    }

    /// The section that an address is in.
    pub fn section(&self, address: u32) -> Option<&Section> {
        self.sections.iter().find(|s| s.holds(address))
    }

    /// All sections that are in memory.
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// Forgets what memory holds at reset: something else is there before the first step.
    pub fn forget(&mut self, start: u32, end: u32) {
        self.unknown.push((start, end));
    }

    /// What is flashed.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Where the bytes are flashed to that the program expects at these addresses, and they.
    pub fn flashed(&self, range: std::ops::Range<u32>) -> Option<(u32, &[u8])> {
        self.segments.iter().find_map(|segment| {
            let at = range.start.checked_sub(segment.start)?;
            let bytes = segment.bytes.get(at as usize..)?;
            let bytes = bytes.get(..range.end.checked_sub(range.start)? as usize)?;
            Some((segment.load.checked_add(at)?, bytes)).filter(|_| !bytes.is_empty())
        })
    }

    /// Whether what the program expects at an address is flashed: properties are not.
    pub fn is_flashed(&self, address: u32) -> bool {
        let is_property = self.section(address).is_some_and(|s| s.name == marker::ALWAYS);
        let next = address.checked_add(1).filter(|_| !is_property);
        next.is_some_and(|next| self.flashed(address..next).is_some())
    }

    /// The bytes that are flashed to these addresses.
    pub fn in_flash(&self, start: u32, len: u32) -> Option<Vec<u8>> {
        let byte = |address: u32| {
            self.segments.iter().find_map(|segment| {
                segment.bytes.get(address.checked_sub(segment.load)? as usize).copied()
            })
        };
        (0..len).map(|at| byte(start.checked_add(at)?)).collect()
    }

    /// The words of data at reset, each with its address; what stands between the instructions of a function is not among them.
    pub fn words(&self) -> impl Iterator<Item = (u32, u32)> {
        self.sections.iter().flat_map(move |section| {
            let all = section.words(section.start..section.end());
            all.filter(move |(at, _)| at.is_multiple_of(4) && self.is_data(section, *at))
        })
    }

    /// Whether what is there is not between the instructions of a function.
    pub fn is_data(&self, section: &Section, at: u32) -> bool {
        let is_code = section.is_code && !section.is_writable;
        !is_code || self.function(at).is_none() && !self.is_code(at)
    }

    /// Where a processor begins whose table of vectors is there, on Arm.
    pub fn vector(&self, table: u32) -> Option<u32> {
        let byte = |at: u32| self.byte(table.checked_add(4 + at)?).map(u32::from);
        let word = (0..4).rev().try_fold(0, |word, at| Some(word << 8 | byte(at)?));
        word.map(|word| word & !1)
    }

    /// The byte at an address at reset.
    pub fn byte(&self, address: u32) -> Option<u8> {
        if self.unknown.iter().any(|(start, end)| (*start..*end).contains(&address)) {
            return None;
        }
        let section = self.section(address)?;
        let at = (address - section.start) as usize;
        section.bytes.as_ref()?.get(at).copied()
    }

    /// The code from an address up to where its section, or the code in it, ends.
    pub fn code(&self, address: u32) -> Option<&[u8]> {
        let section = self.section(address).filter(|s| s.is_code && !s.is_writable)?;
        section.bytes.as_ref()?.get((address - section.start) as usize..)
    }

    /// Whether instructions are at this address.
    pub fn is_code(&self, address: u32) -> bool {
        let mark = self.marks.range(..=address).next_back().map(|(_, mark)| *mark);
        mark == Some(Mark::Code) && self.code(address).is_some()
    }

    /// The data between instructions that an address is in.
    pub fn data_in_code(&self, address: u32) -> Option<(u32, u32)> {
        let section = self.section(address).filter(|s| s.is_code)?;
        if self.is_code(address) {
            return None;
        }
        let is_code = |(_, mark): &(&u32, &Mark)| **mark == Mark::Code;
        let start = self.marks.range(..=address).rev().take_while(|m| !is_code(m)).last();
        let end = self.marks.range(address + 1..).find(is_code);
        let start = start.map_or(section.start, |(at, _)| *at).max(section.start);
        Some((start, end.map_or(section.end(), |(at, _)| *at).min(section.end())))
    }

    /// The function that an address is in.
    pub fn function(&self, address: u32) -> Option<&Symbol> {
        let (_, function) = self.functions.range(..=address).next_back()?;
        (address < function.end).then_some(function)
    }

    /// All functions that have a symbol, by ascending address.
    pub fn functions(&self) -> impl Iterator<Item = &Symbol> {
        self.functions.values()
    }

    /// Code that is not followed: what is in no function, or after a label in assembly, and functions in RAM.
    pub fn unfollowed(&self) -> impl Iterator<Item = &Symbol> {
        self.nameless.iter().chain(&self.in_ram)
    }

    /// The function of this name: as in the file, or as the source spells it, or the last part of that.
    pub fn function_named(&self, name: &str) -> Option<&Symbol> {
        let all = || self.functions.values();
        let tail = |f: &&Symbol| f.shown().rsplit("::").next() == Some(name);
        let mut tails = all().filter(tail);
        let by_tail = match (tails.next(), tails.next()) {
            (one, None) => one,
            _ => None,
        };
        let alias = || self.aliases.iter().find(|f| f.name == name || f.shown() == name);
        let whole = all().find(|f| f.name == name).or_else(|| all().find(|f| f.shown() == name));
        whole.or_else(|| self.functions.get(&alias()?.start)).or(by_tail)
    }

    /// All functions by all of their names.
    pub fn function_names(&self) -> impl Iterator<Item = &Symbol> + Clone {
        self.functions.values().chain(&self.aliases)
    }

    /// The objects, by address.
    pub fn objects(&self) -> &[Symbol] {
        &self.objects
    }

    /// An address as people find it again: the symbol and the line of the source.
    pub fn place(&self, address: u32) -> String {
        let mut text = format!("{address:#010x}");
        if let Some(function) = self.function(address) {
            let name = function.shown();
            text += &match address - function.start {
                0 => format!(" <{name}>"),
                at => format!(" <{name}+{at:#x}>"),
            };
        }
        if let Some(line) = self.lines.line(address) {
            text += &format!(" at {line}");
        }
        text
    }
}

/// What a program says of itself.
fn markers(file: &ElfFile32<Endianness>) -> Result<Vec<Marker>, Unreadable> {
    let mut records = vec![];
    for name in marker::SECTIONS {
        let Some(section) = file.section_by_name(name) else { continue };
        let data = section.uncompressed_data();
        let data = data.or_else(|e| unreadable(format!("section `{name}`: {e}"), RELINK))?;
        records.extend_from_slice(&data);
    }
    marker::read(&records)
}

/// The sections that are in memory, and that of properties, which look at it as if they were.
fn sections(file: &ElfFile32<Endianness>) -> Result<Vec<Section>, Unreadable> {
    /// More than any microcontroller has.
    const MOST: u32 = 1 << 26;
    let mut sections = vec![];
    for section in file.sections() {
        let header = section.elf_section_header();
        let endian = file.endian();
        let flags = header.sh_flags(endian);
        let (start, size) = (header.sh_addr(endian), header.sh_size(endian));
        let name = section.name().unwrap_or("?").to_owned();
        let is_property = name == marker::ALWAYS;
        if flags & SHF_ALLOC == 0 && !is_property || size == 0 {
            continue;
        }
        let is_loaded = header.sh_type(endian) != SHT_NOBITS;
        // The beginning of what each thread has, as `.tbss`, takes no memory: something else is at its address.
        if flags & SHF_TLS != 0 && !is_loaded {
            continue;
        }
        if size > MOST || start.checked_add(size).is_none() {
            let what = format!("section `{name}` has {size} bytes at {start:#x}");
            return unreadable(what, RELINK);
        }
        let bytes = if is_loaded {
            let data = section.data();
            Some(data.or_else(|e| unreadable(format!("section `{name}`: {e}"), RELINK))?.to_vec())
        } else {
            let lower = name.trim_start_matches('.').to_lowercase();
            let is_kept = KEPT.iter().any(|kept| lower.contains(kept));
            let is_cleared = ["bss", "sbss", "common"]
                .iter()
                .any(|bss| lower == *bss || lower.starts_with(&format!("{bss}.")));
            let is_cleared = is_cleared && !is_kept;
            is_cleared.then(|| vec![0; size as usize])
        };
        let is_writable = flags & SHF_WRITE != 0;
        let is_code = flags & SHF_EXECINSTR != 0;
        sections.push(Section { name, start, bytes, size, is_writable, is_code, is_loaded });
    }
    overlays(&mut sections)?;
    Ok(sections)
}

/// Sections at the same addresses, of which nobody knows which is there when. What has contents cannot be told apart then; of
/// variables, their first values are not known.
fn overlays(sections: &mut [Section]) -> Result<(), Unreadable> {
    let in_memory = |i: &usize| sections[*i].name != marker::ALWAYS;
    let mut order: Vec<usize> = (0..sections.len()).filter(in_memory).collect();
    order.sort_by_key(|i| sections[*i].start);
    let mut last: Option<usize> = None;
    for i in order {
        let Some(before) = last.filter(|before| sections[*before].end() > sections[i].start) else {
            last = Some(i);
            continue;
        };
        let (a, b) = (&sections[before], &sections[i]);
        if a.is_loaded && b.is_loaded || a.is_code || b.is_code {
            let what =
                format!("sections `{}` and `{}` are both at {:#010x}", a.name, b.name, b.start);
            return unreadable(
                what,
                "overlays cannot be checked: link the program with one of them",
            );
        }
        if b.end() > a.end() {
            last = Some(i);
        }
        sections[before].bytes = None;
        sections[i].bytes = None;
    }
    Ok(())
}

/// The bytes that are flashed.
fn segments(file: &ElfFile32<Endianness>, bytes: &[u8]) -> Result<Vec<Segment>, Unreadable> {
    let endian = file.endian();
    let mut segments = vec![];
    for header in file.elf_program_headers().iter().filter(|h| h.p_type(endian) == PT_LOAD) {
        let data = header.data(endian, bytes);
        let data = data.or_else(|()| unreadable("a segment is outside the file", RELINK))?;
        segments.push(Segment {
            start: header.p_vaddr(endian),
            load: header.p_paddr(endian),
            bytes: data.to_vec(),
        });
    }
    Ok(segments)
}

/// Which instructions a program has.
fn isa(file: &ElfFile32<Endianness>) -> Result<Isa, Unreadable> {
    const KNOWN: &str = "programs for ARMv6-M and ARMv7-M (Cortex-M0, M0+, M1, M3) and for RV32IMAC can be \
                         checked";
    match file.elf_header().e_machine(file.endian()) {
        EM_ARM => {}
        EM_RISCV => {
            let flags = file.elf_header().e_flags(file.endian());
            return match flags & EF_RISCV_FLOAT_ABI {
                0 => Ok(Isa::Rv32),
                _ => unreadable("the program passes floating-point numbers in registers", KNOWN),
            };
        }
        other => {
            let names = [
                (3, "x86"),
                (8, "MIPS"),
                (20, "PowerPC"),
                (83, "AVR"),
                (94, "Xtensa"),
                (105, "MSP430"),
            ];
            let name = names.iter().find(|(number, _)| *number == other);
            let name = name.map_or_else(|| format!("machine {other} of ELF"), |n| n.1.into());
            return unreadable(format!("the program is for {name}"), KNOWN);
        }
    }
    let attributes = file.section_by_name(".ARM.attributes").and_then(|s| s.data().ok());
    let Some((arch, profile)) = attributes.and_then(arm_attributes) else {
        let what = "the program does not say which ARM processor it is for";
        return unreadable(what, "keep the section `.ARM.attributes` when linking");
    };
    match (arch, profile) {
        (11 | 12, _) => Ok(Isa::V6m),
        (10, Some(b'M')) => Ok(Isa::V7m),
        (13, _) => {
            let help = "build it for ARMv7-M, which this processor runs as well: `-mcpu=cortex-m3` without `-mfpu`, or \
                        `--target thumbv7m-none-eabi`";
            unreadable("the program is for ARMv7E-M, which has instructions for DSP", help)
        }
        (16 | 17 | 21, _) => {
            let help = "build it for an instruction set that this processor runs as well: ARMv7-M for Cortex-M33 and larger \
                        (`-mcpu=cortex-m3`, `--target thumbv7m-none-eabi`), ARMv6-M for Cortex-M23 (`-mcpu=cortex-m0`, \
                        `--target thumbv6m-none-eabi`)";
            unreadable("the program is for ARMv8-M", help)
        }
        (other, _) => unreadable(format!("the program is for ARM architecture {other}"), KNOWN),
    }
}

/// `Tag_CPU_arch` and `Tag_CPU_arch_profile` of the build attributes (Addenda to the ABI, IHI 0045).
fn arm_attributes(data: &[u8]) -> Option<(u64, Option<u8>)> {
    let rest = data.strip_prefix(b"A")?;
    let length = u32::from_le_bytes(*rest.first_chunk()?) as usize;
    let rest = rest.get(4..length)?.strip_prefix(b"aeabi\0")?;
    // The attributes of the whole file come first.
    let rest = rest.strip_prefix(&[1])?;
    let length = u32::from_le_bytes(*rest.first_chunk()?) as usize;
    let mut rest = rest.get(4..length.checked_sub(1)?)?;
    let (mut arch, mut profile) = (None, None);
    while !rest.is_empty() {
        let tag = uleb(&mut rest)?;
        match tag {
            4 | 5 | 67 => {
                let end = rest.iter().position(|b| *b == 0)?;
                rest = &rest[end + 1..];
            }
            32 => {
                uleb(&mut rest)?;
                let end = rest.iter().position(|b| *b == 0)?;
                rest = &rest[end + 1..];
            }
            _ => {
                let value = uleb(&mut rest)?;
                match tag {
                    6 => arch = Some(value),
                    7 => profile = u8::try_from(value).ok(),
                    _ => {}
                }
            }
        }
    }
    Some((arch?, profile))
}

fn uleb(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..63).step_by(7) {
        let (first, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(first & 0x7f) << shift;
        if first & 0x80 == 0 {
            return Some(value);
        }
    }
    None
}
