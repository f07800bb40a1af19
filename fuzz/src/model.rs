//! Images and certificates.

use vouch_core::certificate::{Check, Checker};
use vouch_core::guard::{At, Guard};
use vouch_core::image::{EdgeSpec, Image, ImageBuilder, LocationSpec, ParamSpec, PropertySpec};
use vouch_device::boot::{self, SelfCheck, Verdict};

/// Bytes that start at a multiple of four.
pub struct Memory {
    words: Vec<u32>,
    len: usize,
}

impl Memory {
    /// A copy of these bytes, aligned as images are.
    pub fn new(bytes: &[u8]) -> Memory {
        let mut words = vec![0u32; bytes.len().div_ceil(4)];
        bytemuck::cast_slice_mut::<u32, u8>(&mut words)[..bytes.len()].copy_from_slice(bytes);
        Memory { words, len: bytes.len() }
    }
    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        &bytemuck::cast_slice(&self.words)[..self.len]
    }
}

/// A counter of three bits with a parameter; one property is broken unless the parameter is small, one
/// holds.
pub fn builder() -> ImageBuilder {
    let live = |bits: core::ops::Range<u32>| LocationSpec { live: bits.collect() };
    let edge = EdgeSpec::plain;
    ImageBuilder {
        name: "seed".into(),
        state_bits: 5,
        locations: vec![live(3..5), live(0..5), live(0..0), live(0..0)],
        edges: vec![
            edge(0, 1, 0, &[1, 1, 1, 2, 4]),
            EdgeSpec {
                inputs: 1,
                // bit 0 toggles with the input; bit 1 follows bit 0; bit 2 both and the parameter.
                gates: vec![[2, 13, 12], [2, 4, 1], [16, 8, 1]],
                ..edge(1, 1, 0, &[14, 2, 18, 8, 10])
            },
            EdgeSpec { gates: vec![[6, 4, 1]], ..edge(1, 2, 12, &[]) },
            edge(1, 3, 1, &[]),
        ],
        properties: vec![
            PropertySpec { name: "broken".into(), error: 2 },
            PropertySpec { name: "sound".into(), error: 3 },
        ],
        params: vec![ParamSpec {
            name: "p".into(),
            first_bit: 3,
            width: 2,
            min: 0,
            max: 3,
            signed: false,
        }],
        certificate: vec![(3, vec![])],
        ..ImageBuilder::default()
    }
}

pub fn valid() -> Vec<u8> {
    builder().build_as::<u16>().expect("a valid image")
}

/// CRC-32 of ISO-HDLC, by the definition.
fn crc(parts: [&[u8]; 2]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |c, _| c >> 1 ^ (0xedb8_8320 & (c & 1).wrapping_neg()))
    };
    !parts.into_iter().flatten().fold(u32::MAX, step)
}

/// The bytes with length and checksum made right, so that what comes after them is reached.
pub fn repaired(data: &[u8]) -> Vec<u8> {
    let mut bytes = data.to_vec();
    if bytes.len() >= 20 {
        let total = bytes.len() as u32;
        bytes[8..12].copy_from_slice(&total.to_le_bytes());
        let crc = crc([&bytes[..12], &bytes[16..]]);
        bytes[12..16].copy_from_slice(&crc.to_le_bytes());
    }
    bytes
}

/// Whatever passes the validation can be used in every way, in little memory, without a panic.
pub fn image(data: &[u8]) {
    let memory = Memory::new(&repaired(data));
    let wide = Image::<u32>::new_checked(memory.bytes());
    let Ok(image) = Image::<u16>::new_checked(memory.bytes()) else { return };
    assert!(wide.is_err());
    let mut arena = vec![0; 2000];
    let budget = 3000;
    for mode in [boot::Mode::Recheck, boot::Mode::Prove] {
        let what = SelfCheck { mode, budget, slice: 100, ..SelfCheck::default() };
        let outcome = boot::check(&image, &what, &mut arena, &mut || {});
        assert!(outcome.peak_bytes <= 4 * arena.len());
    }
    let bits = vec![0x5a; (image.header.state_bits as usize).div_ceil(8).min(1 << 16)];
    let guard = Guard::new(&image, image.certificate().unwrap_or_default());
    let mut scratch = vec![0; guard.scratch().min(1 << 16)];
    for edge in 0..image.edges().min(16) {
        let (from, to) = image.ends(edge);
        let at = |location| At { location, bits: &bits };
        let _ = guard.holds(at(to));
        let _ = guard.step(edge, at(from), &[0xa5; 8], at(to), &mut scratch);
    }
}

pub fn image_seeds() -> Vec<Vec<u8>> {
    let without = ImageBuilder { certificate: vec![], ..builder() };
    let mut seeds = vec![valid(), without.build_as::<u16>().expect("a valid image")];
    seeds.extend(super::host::examples());
    seeds
}

/// No table proves what is not true, and none makes the checker or the seeded engine stumble.
pub fn certificate(data: &[u8]) {
    let bytes = valid();
    let memory = Memory::new(&bytes);
    let Ok(image) = Image::<u16>::new_checked(memory.bytes()) else { unreachable!() };
    let table: Vec<u16> =
        data.chunks_exact(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    for property in [0, 1] {
        let Ok(mut checker) = Checker::new(&image, &table, [property].into_iter()) else {
            continue;
        };
        let mut arena = vec![0; Checker::bytes(&image, &table) / 4];
        let found = loop {
            match checker.step(&image, &table, &[], &mut arena, 100) {
                Check::Running => {}
                found => break found,
            }
        };
        assert!(property == 1 || found != Check::Valid, "a broken property was proved");
    }
    // The same as seeds.
    let mut arena = vec![0; 2000];
    let mut certificate = Vec::new();
    let mut rest = &table[..];
    while let [location, len, tail @ ..] = rest
        && let Some((lits, next)) = tail.split_at_checked(*len as usize)
    {
        certificate.push((u32::from(*location), lits.iter().map(|l| u32::from(*l)).collect()));
        rest = next;
    }
    let Ok(bytes) = (ImageBuilder { certificate, ..builder() }).build_as::<u16>() else { return };
    let memory = Memory::new(&bytes);
    let Ok(image) = Image::<u16>::new_checked(memory.bytes()) else { return };
    let what = SelfCheck { budget: 20_000, slice: 100, ..SelfCheck::default() };
    let outcome = boot::check(&image, &what, &mut arena, &mut || {});
    assert_ne!(outcome.verdict, Verdict::Safe, "a broken property was proved");
}

pub fn certificate_seeds() -> Vec<Vec<u8>> {
    let tables: [&[u16]; 4] = [&[], &[3, 0], &[2, 0, 3, 0], &[1, 2, 0, 3, 1, 1, 4, 3, 0, 2, 0]];
    tables.map(|t| t.iter().flat_map(|w| w.to_le_bytes()).collect()).to_vec()
}

#[test]
fn the_seed_is_what_it_says() {
    let memory = Memory::new(&valid());
    let image = Image::<u16>::new_checked(memory.bytes()).unwrap();
    let outcome = boot::check(&image, &SelfCheck::default(), &mut vec![0; 4000], &mut || {});
    assert_eq!(outcome.verdict, Verdict::Unsafe { property: 0 });
    assert_eq!(repaired(&valid()), valid());
}
