//! What lies where: objects in RAM, constants in flash, registers of peripherals.
//!
//! An address that is computed belongs to the object of its constant part, and may not leave it.

use super::build::Outside;
use super::isa::Isa;
use super::reader::Elf;

/// What kind of memory it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    /// Variables of the program, which it reads and writes.
    Ram,
    /// What never changes.
    Flash,
    /// What the outside decides about.
    Peripheral,
    /// What a program may read that is not in the file, and the outside decides about: information pages, values of calibration.
    Information,
    /// Variables that were declared to be inputs.
    Input,
}

/// An object, or a piece of memory without a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Thing {
    /// What kind of memory it is in.
    pub kind: Kind,
    /// Its first address.
    pub start: u32,
    /// One past the last.
    pub end: u32,
}

/// Constants without a name are looked up this far.
const FAR: u32 = 256;
/// Constants below this are offsets rather than addresses, whatever lies there.
pub const LOWEST: u32 = 0x400;
/// Constants from here on are negative offsets.
pub const HIGHEST: u32 = 0xffff_f000;
/// What is further away than this is not next to it.
const BLOCK: u32 = 1 << 24;
/// Registers of one peripheral.
const PAGE: u32 = 4096;

/// The map of a program's memory.
pub struct Layout<'a> {
    elf: &'a Elf,
    /// Objects that are inputs: first address and one past the last.
    inputs: Vec<(u32, u32)>,
    /// Objects that are parameters.
    params: Vec<(u32, u32)>,
}

impl Layout<'_> {
    /// The map of a program some of whose objects are inputs and parameters.
    pub fn new<'a>(elf: &'a Elf, outside: &Outside) -> Layout<'a> {
        Layout { elf, inputs: outside.statics.clone(), params: outside.params.clone() }
    }

    /// What is at an address.
    pub fn kind(&self, address: u32) -> Option<Kind> {
        match self.elf.section(address) {
            Some(_) if self.is_input(address) => Some(Kind::Input),
            // Wherever it lies.
            Some(_) if self.is_param(address) => Some(Kind::Ram),
            Some(section) if section.is_writable => Some(Kind::Ram),
            Some(_) => Some(Kind::Flash),
            None if self.is_peripheral(address) => Some(Kind::Peripheral),
            None => self.is_information(address).then_some(Kind::Information),
        }
    }

    /// Whether a parameter is at an address.
    pub fn is_param(&self, address: u32) -> bool {
        self.params.iter().any(|(start, end)| (*start..*end).contains(&address))
    }

    /// Whether an input is at an address.
    pub fn is_input(&self, address: u32) -> bool {
        self.inputs.iter().any(|(start, end)| (*start..*end).contains(&address))
    }

    /// The object that an address points into.
    pub fn thing(&self, address: u32) -> Option<Thing> {
        self.thing_of(address, FAR)
    }

    /// The same; memory without a name reaches at least so far, if nothing else begins there.
    pub fn thing_of(&self, address: u32, far: u32) -> Option<Thing> {
        let kind = self.kind(address)?;
        if matches!(kind, Kind::Peripheral | Kind::Information) {
            let start = address & !(PAGE - 1);
            return Some(Thing { kind, start, end: start.saturating_add(PAGE) });
        }
        let objects = self.elf.objects();
        // Of several the smallest: the others are names for more.
        let at = objects.iter().filter(|o| (o.start..o.end).contains(&address));
        if let Some(object) = at.min_by_key(|o| o.end - o.start) {
            return Some(Thing { kind, start: object.start, end: object.end });
        }
        let section = self.elf.section(address)?;
        if section.is_code {
            let (start, end) = self.elf.data_in_code(address)?;
            return Some(Thing { kind, start, end });
        }
        // Memory without a name, between those with one.
        let start = objects.iter().map(|o| o.end).filter(|end| *end <= address).max();
        let end = objects.iter().map(|o| o.start).filter(|start| *start > address).min();
        let start = start.unwrap_or(0).max(section.start).max(address.saturating_sub(FAR));
        let end = end.unwrap_or(u32::MAX).min(section.end());
        let end = end.min(address.saturating_add(far.max(FAR)));
        Some(Thing { kind, start, end })
    }

    /// Whether a number looks like an address in RAM or flash, or of what is next to it: code often keeps the
    /// address of the element before the first, or that behind the last.
    pub fn is_pointer(&self, address: u32) -> bool {
        let is_memory =
            |at: u32| matches!(self.kind(at), Some(Kind::Ram | Kind::Flash | Kind::Input));
        let near = [0, 16u32.wrapping_neg(), 16].map(|by| address.wrapping_add(by));
        (LOWEST..HIGHEST).contains(&address) && near.into_iter().any(is_memory)
    }

    /// Whether an address is certainly neither RAM nor flash: the architecture's map says so, and nothing of the
    /// program is near.
    fn is_peripheral(&self, address: u32) -> bool {
        let by_map = match address >> 28 {
            // RISC-V has no such map.
            _ if self.elf.isa == Isa::Rv32 => true,
            // Code, and RAM with the bits of it once more, each as a word.
            0..=3 => false,
            // Peripherals.
            4 | 5 => true,
            // External RAM.
            6..=9 => false,
            // External devices, and the system's own.
            _ => true,
        };
        // Among peripherals only in the same block, as backup RAM is.
        let block = match address >> 28 {
            4 | 5 if self.elf.isa != Isa::Rv32 => PAGE,
            _ => BLOCK,
        };
        by_map && !self.is_near(address, block)
    }

    /// Whether an address is where the architecture's map has code, RAM next to it, and what vendors have put there: nothing that a program
    /// can write to without being seen, but its RAM may be there once more.
    fn is_information(&self, address: u32) -> bool {
        self.elf.isa != Isa::Rv32 && address >> 28 == 1 && !self.is_near(address, BLOCK)
    }

    /// Whether something of the program is in the same block: what is next to memory may be memory as well.
    fn is_near(&self, address: u32, block: u32) -> bool {
        let near = |section: &super::reader::Section| {
            let last = section.end().saturating_sub(1);
            (section.start / block..=last / block).contains(&(address / block))
        };
        self.elf.sections().iter().any(near)
    }

    /// The name of a variable in RAM.
    pub fn name(&self, address: u32) -> String {
        let objects = self.elf.objects().iter();
        let at = objects.filter(|o| (o.start..o.end).contains(&address));
        match at.min_by_key(|o| o.end - o.start) {
            Some(object) => {
                let name = object.shown();
                let name = name.rsplit("::").next().unwrap_or(&name).to_owned();
                match address - object.start {
                    0 => name,
                    at => format!("{name}+{at}"),
                }
            }
            None => format!("{address:#010x}"),
        }
    }
}
