//! Just enough of ELF (32 bits, little-endian) to tell what firmware takes of its board.

use anyhow::{Context, Result, ensure};

/// What a firmware takes, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Flash for code, constants and initial values.
    pub flash: u32,
    /// RAM for statics.
    pub statics: u32,
    /// RAM for the stack.
    pub stack: u32,
    /// RAM that remains, for models and proofs.
    pub heap: u32,
}

impl Sizes {
    /// Reads them from firmware of ours, by the linker's symbols.
    pub fn of(elf: &[u8]) -> Result<Sizes> {
        let file = Elf::new(elf)?;
        let symbol = |name: &str| {
            file.symbol(name)?.with_context(|| format!("the firmware has no symbol `{name}`"))
        };
        let between = |from: &str, to: &str| -> Result<u32> {
            symbol(to)?
                .checked_sub(symbol(from)?)
                .with_context(|| format!("the symbols `{from}` and `{to}` are in the wrong order"))
        };
        Ok(Sizes {
            flash: between("__vector_table", "__sidata")? + between("__sdata", "__edata")?,
            statics: between("__sdata", "__sheap")?,
            stack: between("_stack_end", "_stack_start")?,
            heap: between("__sheap", "_ram_end")?,
        })
    }
}

/// A section header's fields that matter here.
#[derive(Clone, Copy)]
struct Section {
    kind: u32,
    offset: usize,
    size: usize,
    link: usize,
}

struct Elf<'a> {
    bytes: &'a [u8],
    sections: Vec<Section>,
}

const SYMBOL_TABLE: u32 = 2;
const SECTION_LEN: usize = 40;
const SYMBOL_LEN: usize = 16;

impl<'a> Elf<'a> {
    fn new(bytes: &'a [u8]) -> Result<Elf<'a>> {
        ensure!(bytes.starts_with(b"\x7fELF\x01\x01"), "not a 32-bit little-endian ELF file");
        let table = u32_at(bytes, 32)? as usize;
        let count = u32_at(bytes, 48)? as usize & 0xffff;
        let section = |index: usize| -> Result<Section> {
            let at = index.saturating_mul(SECTION_LEN).saturating_add(table);
            let field = |n: usize| u32_at(bytes, at.saturating_add(4 * n));
            Ok(Section {
                kind: field(1)?,
                offset: field(4)? as usize,
                size: field(5)? as usize,
                link: field(6)? as usize,
            })
        };
        Ok(Elf { bytes, sections: (0..count).map(section).collect::<Result<_>>()? })
    }

    /// The value of a symbol, if there is one of this name.
    fn symbol(&self, name: &str) -> Result<Option<u32>> {
        for table in self.sections.iter().filter(|section| section.kind == SYMBOL_TABLE) {
            let strings = self.sections.get(table.link).context("a symbol table without names")?;
            let names = self.content(*strings)?;
            for symbol in self.content(*table)?.chunks_exact(SYMBOL_LEN) {
                let tail = names.get(u32_at(symbol, 0)? as usize..).unwrap_or_default();
                if tail.strip_prefix(name.as_bytes()).is_some_and(|rest| rest.first() == Some(&0)) {
                    return Ok(Some(u32_at(symbol, 4)?));
                }
            }
        }
        Ok(None)
    }

    fn content(&self, section: Section) -> Result<&'a [u8]> {
        let end = section.offset.saturating_add(section.size);
        self.bytes.get(section.offset..end).context("the ELF file is cut short")
    }
}

/// The number at a position.
fn u32_at(bytes: &[u8], at: usize) -> Result<u32> {
    let tail = bytes.get(at..).and_then(<[u8]>::first_chunk);
    Ok(u32::from_le_bytes(*tail.context("the ELF file is cut short")?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A file with nothing but a symbol table.
    fn file(symbols: &[(&str, u32)]) -> Vec<u8> {
        let (mut names, mut table) = (vec![0u8], Vec::new());
        for (name, value) in symbols {
            for word in [names.len() as u32, *value, 0, 0] {
                table.extend(word.to_le_bytes());
            }
            names.extend(name.as_bytes());
            names.push(0);
        }
        let mut elf = b"\x7fELF\x01\x01".to_vec();
        elf.resize(52, 0);
        elf[32..36].copy_from_slice(&52u32.to_le_bytes());
        elf[48..50].copy_from_slice(&2u16.to_le_bytes());
        let names_at = 52 + 2 * SECTION_LEN as u32;
        let table_at = names_at + names.len() as u32;
        for section in [
            [0, 3, 0, 0, names_at, names.len() as u32, 0, 0, 0, 0],
            [0, SYMBOL_TABLE, 0, 0, table_at, table.len() as u32, 0, 0, 0, 0],
        ] {
            for word in section {
                elf.extend(word.to_le_bytes());
            }
        }
        elf.extend(names);
        elf.extend(table);
        elf
    }

    const SYMBOLS: [(&str, u32); 8] = [
        ("__vector_table", 0x100),
        ("__sidata", 0x1100),
        ("__sdata", 0x2000_1000),
        ("__edata", 0x2000_1010),
        ("__sheap", 0x2000_1800),
        ("_ram_end", 0x2000_4000),
        ("_stack_end", 0x2000_0000),
        ("_stack_start", 0x2000_1000),
    ];

    #[test]
    fn sizes_come_from_the_symbols() {
        let sizes = Sizes::of(&file(&SYMBOLS)).unwrap();
        let wanted = Sizes { flash: 0x1010, statics: 0x800, stack: 0x1000, heap: 0x2800 };
        assert_eq!(sizes, wanted);
    }

    #[test]
    fn a_missing_symbol_and_a_cut_file_are_errors() {
        let error = Sizes::of(&file(&SYMBOLS[1..])).unwrap_err();
        assert!(error.to_string().contains("__vector_table"), "{error}");
        let whole = file(&SYMBOLS);
        for len in 0..whole.len() {
            assert!(Sizes::of(&whole[..len]).is_err(), "{len}");
        }
    }
}
