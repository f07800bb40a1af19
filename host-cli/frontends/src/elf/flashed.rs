//! What of flash an automaton depends on: whole functions with their literal pools, tables, constants, and the
//! load image of statics.
//!
//! A proof holds for these bytes. Who has them hashed where they lie knows that it is of this program.

use super::error;
use super::reader::{Elf, Symbol};
use crate::Diagnostic;
use std::collections::BTreeMap;
use std::ops::Range;

/// The version of what makes automata of programs: the same program may become another automaton in another one.
pub const LIFTER: u32 = 2;

/// What images have instead whose automaton was made of the source.
pub const NOT_LIFTED: u32 = 0;

/// Functions that only say what is wanted are in sections whose names begin like this, which need not be flashed.
const UNFLASHED: &str = ".vouch";

/// A piece of flash that has a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Part {
    /// The function, object or section.
    pub name: String,
    /// Where it is flashed to.
    pub start: u32,
    /// What is flashed.
    pub bytes: Vec<u8>,
}

impl Part {
    /// One past the last address.
    pub fn end(&self) -> u32 {
        self.start.saturating_add(self.bytes.len() as u32)
    }
}

/// The pieces of flash that an automaton depends on, by address: code and constants at `spans`, and what is copied to
/// `ram`. `more` names functions, objects and sections that are wanted, too; `all` is everything that is flashed.
pub fn parts(
    elf: &Elf,
    spans: &[Range<u32>],
    ram: &[Range<u32>],
    more: &[String],
) -> Result<Vec<Part>, Vec<Diagnostic>> {
    let mut ranges: BTreeMap<(u32, u32), String> = BTreeMap::new();
    let mut add = |name: String, range: Range<u32>| {
        ranges.entry((range.start, range.end)).or_insert(name);
    };
    for span in spans {
        let mut at = span.start;
        while at < span.end {
            let (name, range) = whole(elf, at, span.end);
            at = range.end.max(at.saturating_add(1));
            add(name, range);
        }
    }
    // What statics begin with was copied from flash.
    for section in elf.sections().iter().filter(|s| s.is_writable && s.bytes.is_some()) {
        let range = section.start..section.end();
        let is_used = ram.iter().any(|r| r.start < range.end && range.start < r.end);
        if is_used && elf.is_flashed(range.start) {
            add(section.name.clone(), range);
        }
    }
    for name in more {
        if name == "all" {
            for segment in elf.segments().iter().filter(|segment| !segment.bytes.is_empty()) {
                let end = segment.start.saturating_add(segment.bytes.len() as u32);
                add(format!("segment at {:#010x}", segment.load), segment.start..end);
            }
            continue;
        }
        let (name, range) = named(elf, name)?;
        add(name, range);
    }
    let mut parts = vec![];
    for ((start, end), name) in ranges {
        let is_spec = |at| elf.section(at).is_some_and(|s| s.name.starts_with(UNFLASHED));
        match elf.flashed(start..end) {
            Some((load, bytes)) => parts.push(Part { name, start: load, bytes: bytes.to_vec() }),
            None if is_spec(start) => {}
            None => {
                let message = format!("`{name}` at {} is not flashed", elf.place(start));
                let help = "it is in no segment of the program that is loaded: only what is in flash can be bound \
                            (`--unbound` makes an image that is not bound to the program)";
                return Err(error(message, help));
            }
        }
    }
    parts.sort_by_key(|part| (part.start, part.bytes.len()));
    Ok(parts)
}

/// All that belongs to the byte at an address: its function, its object, the data between instructions, or, without
/// a name, what was read of it.
fn whole(elf: &Elf, at: u32, end: u32) -> (String, Range<u32>) {
    if let Some(function) = elf.function(at) {
        return (function.shown(), function.start..function.end);
    }
    if let Some(object) = object(elf, at) {
        return (object.shown(), object.start..object.end);
    }
    if let Some((start, end)) = elf.data_in_code(at) {
        return (format!("data at {start:#010x}"), start..end);
    }
    let is_named = |at: &u32| elf.function(*at).is_some() || object(elf, *at).is_some();
    let end = (at..end).find(is_named).unwrap_or(end);
    (format!("constants at {at:#010x}"), at..end)
}

fn object(elf: &Elf, at: u32) -> Option<&Symbol> {
    let objects = elf.objects().iter().filter(|o| (o.start..o.end).contains(&at));
    objects.min_by_key(|o| o.end - o.start)
}

/// A function, an object or a section by its name.
fn named(elf: &Elf, name: &str) -> Result<(String, Range<u32>), Vec<Diagnostic>> {
    let object = || elf.objects().iter().find(|o| o.name == name || o.shown() == name);
    if let Some(symbol) = elf.function_named(name).or_else(object) {
        return Ok((symbol.shown(), symbol.start..symbol.end));
    }
    match elf.sections().iter().find(|section| section.name == name) {
        Some(section) => Ok((section.name.clone(), section.start..section.end())),
        None => {
            let message = format!("the program has no function, object or section `{name}`");
            Err(error(message, "`--cover` names what else to bind; `all` means everything"))
        }
    }
}

/// Pieces as ranges of addresses, none of which overlap or touch, and all bytes in them.
pub fn spans(parts: &[Part]) -> (Vec<Range<u32>>, Vec<u8>) {
    let (mut spans, mut bytes): (Vec<Range<u32>>, Vec<u8>) = (vec![], vec![]);
    for part in parts {
        let free = spans.last().map_or(part.start, |last| last.end.max(part.start));
        let Some(new) = part.bytes.get((free - part.start) as usize..) else { continue };
        bytes.extend(new);
        match spans.last_mut() {
            Some(last) if last.end >= part.start => last.end = last.end.max(part.end()),
            _ => spans.push(part.start..part.end()),
        }
    }
    (spans, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against bytes one by one.
    #[test]
    fn spans_have_every_byte_once() {
        let flash: Vec<u8> = (0..=255).collect();
        let mut seed = 1u32;
        let mut roll = |n: u32| {
            seed = seed.wrapping_mul(0x0019_660d).wrapping_add(0x3c6e_f35f);
            (seed >> 16) % n
        };
        for _ in 0..2000 {
            let mut parts = vec![];
            let mut covered = vec![false; 256];
            for _ in 0..roll(6) {
                let (start, len) = (roll(200), 1 + roll(50));
                let range = start as usize..(start + len) as usize;
                covered[range.clone()].fill(true);
                let bytes = flash[range].to_vec();
                parts.push(Part { name: String::new(), start, bytes });
            }
            parts.sort_by_key(|part| (part.start, part.bytes.len()));
            let (spans, bytes) = spans(&parts);
            let expected: Vec<u8> =
                flash.iter().zip(&covered).filter(|(_, c)| **c).map(|(b, _)| *b).collect();
            assert_eq!(bytes, expected);
            assert!(spans.windows(2).all(|pair| pair[0].end < pair[1].start), "{spans:?}");
            let all = spans.iter().flat_map(|span| span.clone().map(|at| at as u8));
            assert_eq!(all.collect::<Vec<u8>>(), expected);
        }
    }
}
