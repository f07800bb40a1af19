//! Machine code that the host lifts: a file that says it is a program, and any instructions in one that is whole.

use crate::source::judge;
use vouch_host::frontend::Source;
use vouch_host::frontend::elf::{self, ElfOptions};

/// Instructions of a program, in bytes: lifting is what is tried here, not how long a long one takes.
const LONGEST: usize = 256;
/// Where the code and the variables of the seeds are.
const FLASH: u32 = 0x100;
const RAM: u32 = 0x2000_0000;

/// An ELF file, whose function `step` is lifted.
pub fn elf(data: &[u8]) {
    let source = Source { path: "fuzz.elf".into(), text: String::new() };
    let options = ElfOptions { entry: Some("step".into()), ..ElfOptions::default() };
    judge(&source, elf::compile(data, "fuzz", &options));
}

/// The instructions of a step, for the processor that the first byte names.
pub fn code(data: &[u8]) {
    let Some((processor, code)) = data.split_first() else { return };
    elf(&file(processor % 3, &code[..code.len().min(LONGEST)]));
}

/// `step` with these instructions, `vouch_fail`, and a static of 16 bytes.
fn file(processor: u8, code: &[u8]) -> Vec<u8> {
    let (machine, flags, arch, back, mark): (u16, u32, _, &[u8], _) = match processor {
        0 => (40, 0x0500_0200, 12, &[0x70, 0x47], b"$t\0"),
        1 => (40, 0x0500_0200, 10, &[0x70, 0x47], b"$t\0"),
        _ => (243, 1, 0, &[0x82, 0x80], b"$x\0"),
    };
    let mut text = code.to_vec();
    text.resize(code.len().next_multiple_of(4), 0);
    let fail = FLASH + text.len() as u32;
    text.extend([back, back].concat());
    let thumb = u32::from(machine == 40);
    let attributes = [&b"A\x13\0\0\0aeabi\0\x01\x09\0\0\0\x06"[..], &[arch, 7, b'M']].concat();
    let names = [b"\0", &mark[..], b"step\0vouch_fail\0state\0"].concat();
    let symbol = |name: u32, value: u32, size: u32, kind: u8, section: u8| {
        [&words(&[name, value, size])[..], &[kind, 0, section, 0]].concat()
    };
    let symbols = [
        symbol(0, 0, 0, 0, 0),
        symbol(1, FLASH, 0, 0, 1),
        symbol(4, FLASH | thumb, code.len() as u32, 0x12, 1),
        symbol(9, fail | thumb, 4, 0x12, 1),
        symbol(20, RAM, 16, 0x11, 2),
    ]
    .concat();
    let titles = b"\0.text\0.bss\0.ARM.attributes\0.symtab\0.strtab\0.shstrtab\0";
    let parts: [&[u8]; 5] = [&text, &attributes, &symbols, &names, titles];
    // The header, one segment, then the parts, then the table of sections.
    let mut at = 52 + 32;
    let places = parts.map(|part| {
        let place = (at, part.len() as u32);
        at += (part.len() as u32).next_multiple_of(4);
        place
    });
    let [code_at, attributes_at, symbols_at, names_at, titles_at] = places;
    let section =
        |name: u32, kind: u32, flags: u32, address: u32, place: (u32, u32), more: [u32; 4]| {
            words(&[&[name, kind, flags, address, place.0, place.1], &more[..]].concat())
        };
    let sections = [
        section(0, 0, 0, 0, (0, 0), [0; 4]),
        section(1, 1, 6, FLASH, code_at, [0, 0, 4, 0]),
        section(7, 8, 3, RAM, (0, 16), [0, 0, 4, 0]),
        section(12, 0x7000_0003, 0, 0, attributes_at, [0, 0, 1, 0]),
        section(28, 2, 0, 0, symbols_at, [5, 1, 4, 16]),
        section(36, 3, 0, 0, names_at, [0, 0, 1, 0]),
        section(44, 3, 0, 0, titles_at, [0, 0, 1, 0]),
    ];
    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0".to_vec();
    file.extend(machine.to_le_bytes());
    file.extend(words(&[1, FLASH, 52, at, flags]));
    for half in [52u16, 32, 1, 40, sections.len() as u16, 6] {
        file.extend(half.to_le_bytes());
    }
    file.extend(words(&[1, code_at.0, FLASH, FLASH, code_at.1, code_at.1, 5, 4]));
    for part in parts {
        file.extend(part);
        file.resize(file.len().next_multiple_of(4), 0);
    }
    file.extend(sections.concat());
    file
}

fn words(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_le_bytes()).collect()
}

/// Steps that count in a static and call `vouch_fail` when it is 5: for each processor.
fn steps() -> [Vec<u8>; 3] {
    // push {lr}; movs r0, #1; lsls r0, r0, #29; ldr r1, [r0]; adds r1, #1; str r1, [r0]; cmp r1, #5; bne; bl; pop {pc}
    let thumb = [
        0xb500u16, 0x2001, 0x0740, 0x6801, 0x3101, 0x6001, 0x2905, 0xd101, 0xf000, 0xf802, 0xbd00,
        0xbf00,
    ];
    let thumb: Vec<u8> = thumb.iter().flat_map(|half| half.to_le_bytes()).collect();
    // lui a0, 0x20000; lw a1, 0(a0); addi a1, a1, 1; sw a1, 0(a0); li a2, 5; bne a1, a2, +8; j +8; ret
    let riscv = words(&[
        0x2000_0537,
        0x0005_2583,
        0x0015_8593,
        0x00b5_2023,
        0x0050_0613,
        0x00c5_9463,
        0x0080_006f,
        0x0000_8067,
    ]);
    [thumb.clone(), thumb, riscv]
}

pub fn code_seeds() -> Vec<Vec<u8>> {
    let steps = steps().into_iter().zip(0u8..);
    steps.map(|(code, processor)| [&[processor], &code[..]].concat()).collect()
}

pub fn elf_seeds() -> Vec<Vec<u8>> {
    let steps = steps().into_iter().zip(0..);
    steps.map(|(code, processor)| file(processor, &code)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Else a fuzzer would only try what is refused.
    #[test]
    fn the_seeds_are_programs() {
        let options = ElfOptions { entry: Some("step".into()), ..ElfOptions::default() };
        for seed in elf_seeds() {
            let compiled = elf::compile(&seed, "seed", &options);
            let cfa = compiled.unwrap_or_else(|why| panic!("{why:?}")).cfa;
            assert!(cfa.properties.iter().any(|p| cfa.edges.iter().any(|e| e.to == p.error)));
        }
    }
}
