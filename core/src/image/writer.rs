//! Building an image on the host. Equal specifications give equal bytes.

use super::check::operands_of;
use super::header::{Header, MAGIC, PREAMBLE_LEN, ParamRecord, PropertyRecord, Section};
use super::header::{ImageError, Table, VERSION, VERSION_UNBOUND, checksum};
use super::program::{Isa, Place, Program, Span};
use super::view::Image;
use crate::word::Word;
use alloc::{collections::BTreeMap, string::String, vec, vec::Vec};

/// A location to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LocationSpec {
    /// Global numbers of its live bits, strictly ascending.
    pub live: Vec<u32>,
}

/// An edge to be written. Literals are codes over the edge's own variables (see [`super`]).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EdgeSpec {
    /// The location that the edge leaves.
    pub from: u32,
    /// The location that the edge enters.
    pub to: u32,
    /// Number of input bits.
    pub inputs: u32,
    /// Operands `(s, t, e)` of each gate.
    pub gates: Vec<[u32; 3]>,
    /// The step is possible exactly when this literal is true.
    pub guard: u32,
    /// One literal for each live bit of the target.
    pub next: Vec<u32>,
}

impl EdgeSpec {
    /// An edge without inputs and gates.
    pub fn plain(from: u32, to: u32, guard: u32, next: &[u32]) -> EdgeSpec {
        EdgeSpec { from, to, guard, next: next.into(), ..EdgeSpec::default() }
    }
}

/// A property to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PropertySpec {
    /// Name in the source.
    pub name: String,
    /// The location that must not be reached.
    pub error: u32,
}

/// A parameter to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamSpec {
    /// Name in the source.
    pub name: String,
    /// Global number of its lowest bit.
    pub first_bit: u32,
    /// Number of bits.
    pub width: u8,
    /// Smallest value allowed, as raw bits.
    pub min: u64,
    /// Largest value allowed, as raw bits.
    pub max: u64,
    /// Whether `min`, `max` and the value are compared as signed numbers.
    pub signed: bool,
}

/// A program to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramSpec {
    /// Its instructions.
    pub isa: Isa,
    /// The version of what lifted it.
    pub lifter: u32,
    /// The address of the function that is a step.
    pub entry: u32,
    /// SHA-256 of the bytes of all spans.
    pub hash: [u8; 32],
    /// The bytes of flash, by address.
    pub spans: Vec<Span>,
    /// The model's locations between two steps.
    pub steps: Vec<u32>,
    /// Where state bits lie in RAM.
    pub places: Vec<Place>,
}

impl ProgramSpec {
    /// What a table says.
    pub fn of(program: &Program<'_>) -> ProgramSpec {
        ProgramSpec {
            isa: match program.isa() {
                1 => Isa::Armv6M,
                2 => Isa::Armv7M,
                _ => Isa::Rv32Imac,
            },
            lifter: program.lifter(),
            entry: program.entry(),
            hash: program.hash(),
            spans: program.spans().collect(),
            steps: program.steps().map(|location| location as u32).collect(),
            places: program.places().collect(),
        }
    }

    /// The table.
    pub fn words(&self) -> Vec<u32> {
        let counts = [self.spans.len(), self.steps.len(), self.places.len()];
        let mut words = Vec::from([self.isa as u32, self.lifter, self.entry]);
        words.extend(counts.map(|count| count as u32));
        let hash = self.hash.chunks_exact(4);
        words.extend(hash.map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]])));
        words.extend(self.spans.iter().flat_map(|span| [span.start, span.len]));
        words.extend(&self.steps);
        words.extend(self.places.iter().flat_map(|place| {
            let bits = u32::from(place.shift) | u32::from(place.bits) << 8;
            [place.address, place.first_bit, bits]
        }));
        words
    }
}

/// Everything an image is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ImageBuilder {
    /// The model's name.
    pub name: String,
    /// SHA-256 of the source.
    pub source_hash: [u8; 32],
    /// Number of state bits.
    pub state_bits: u32,
    /// Locations; the first is initial.
    pub locations: Vec<LocationSpec>,
    /// Edges, in the order of their numbers.
    pub edges: Vec<EdgeSpec>,
    /// Properties, in the order of the source.
    pub properties: Vec<PropertySpec>,
    /// Parameters, in the order of the source.
    pub params: Vec<ParamSpec>,
    /// Clauses of a certificate, each with its location and literals `2 * state bit + sign` by
    /// ascending bit; empty for an image without one.
    pub certificate: Vec<(u32, Vec<u32>)>,
    /// The program that it is of, if it was lifted from one.
    pub program: Option<ProgramSpec>,
}

/// Why an image could not be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BuildError {
    /// An edge, or the whole, is too large for words of this many bytes.
    TooLarge {
        /// Bytes of a word that was tried.
        word: u8,
    },
    /// The specification breaks an invariant of the format: a bug in the compiler.
    Invalid(super::ImageError),
}

impl core::fmt::Display for BuildError {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            BuildError::TooLarge { word } => write!(f, "too large for words of {word} bytes"),
            BuildError::Invalid(error) => write!(f, "the image is not valid: {error}"),
        }
    }
}

impl core::error::Error for BuildError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            BuildError::TooLarge { .. } => None,
            BuildError::Invalid(error) => Some(error),
        }
    }
}

impl ImageBuilder {
    /// What `image` is made of, but for its certificate.
    pub fn of<W: Word>(image: &Image<'_, W>) -> ImageBuilder {
        let numbers = |words: &[W]| words.iter().map(|w| w.get() as u32).collect::<Vec<u32>>();
        let location = |l| LocationSpec { live: numbers(image.location(l).live) };
        let edge = |e| {
            let edge = image.edge(e);
            EdgeSpec {
                from: edge.from as u32,
                to: edge.to as u32,
                inputs: edge.inputs as u32,
                gates: edge.gates.iter().map(|g| g.map(|l| l.get() as u32)).collect(),
                guard: edge.guard.code() as u32,
                next: numbers(edge.next),
            }
        };
        let property = |p: PropertyRecord<'_>| PropertySpec { name: p.name.into(), error: p.error };
        let param = |p: ParamRecord<'_>| {
            let ParamRecord { name, first_bit, width, min, max, signed } = p;
            ParamSpec { name: name.into(), first_bit, width, min, max, signed }
        };
        ImageBuilder {
            name: image.header.name.into(),
            source_hash: image.header.source_hash,
            state_bits: image.header.state_bits,
            locations: (0..image.locations()).map(location).collect(),
            edges: (0..image.edges()).map(edge).collect(),
            properties: image.properties().map(property).collect(),
            params: image.params().map(param).collect(),
            certificate: Vec::new(),
            program: image.program().map(|program| ProgramSpec::of(&program)),
        }
    }

    /// Writes the image with the narrowest words that hold it.
    pub fn build(&self) -> Result<Vec<u8>, BuildError> {
        match self.build_as::<u16>() {
            Err(BuildError::TooLarge { .. }) => self.build_as::<u32>(),
            other => other,
        }
    }

    /// Writes the image with words of type `W`, and validates the result.
    pub fn build_as<W: Word>(&self) -> Result<Vec<u8>, BuildError> {
        let bytes = self.write::<W>()?;
        // A fresh `Vec<u8>` may be unaligned for the view; copy into words to check it.
        let mut aligned = vec![0u32; bytes.len().div_ceil(4)];
        let view: &mut [u8] = bytemuck::cast_slice_mut(&mut aligned);
        view[..bytes.len()].copy_from_slice(&bytes);
        let image = Image::<W>::new_checked(&view[..bytes.len()]).map_err(BuildError::Invalid)?;
        let suits = |p: Program<'_>| p.suits(self.locations.len(), self.state_bits);
        if !image.program().is_none_or(suits) {
            return Err(BuildError::Invalid(ImageError::Table(Table::Program)));
        }
        Ok(bytes)
    }

    fn write<W: Word>(&self) -> Result<Vec<u8>, BuildError> {
        let mut tables = Tables::<W>::default();
        let mut entering = vec![Vec::new(); self.locations.len()];
        for (e, edge) in self.edges.iter().enumerate() {
            // One that leads nowhere is found by the check of the result.
            if let Some(list) = entering.get_mut(edge.to as usize) {
                list.push(e);
            }
        }
        for (location, entering) in self.locations.iter().zip(entering) {
            tables.location(location, &entering)?;
        }
        let mut max_vars = 1;
        let mut networks = BTreeMap::new();
        for edge in &self.edges {
            let live = self.locations.get(edge.from as usize).map_or(0, |l| l.live.len());
            // Equal networks are written once.
            let first = 1 + live + edge.inputs as usize;
            let place = match networks.get(&(first, &edge.gates)) {
                Some(place) => *place,
                None => tables.network(first, &edge.gates)?,
            };
            networks.insert((first, &edge.gates), place);
            max_vars = max_vars.max(first + edge.gates.len());
            tables.edge(edge, place)?;
        }
        for (location, lits) in &self.certificate {
            let record = [*location, lits.len() as u32];
            let words = record.iter().chain(lits).map(|w| *w as usize);
            extend(&mut tables.certificate, words)?;
        }
        let mut names = Vec::new();
        for p in &self.properties {
            let record = PropertyRecord { name: &p.name, error: p.error };
            names.extend(encode(&record));
        }
        for p in &self.params {
            let ParamSpec { ref name, first_bit, width, min, max, signed } = *p;
            names.extend(encode(&ParamRecord { name, first_bit, width, min, max, signed }));
        }
        let mut header = Header {
            name: &self.name,
            source_hash: self.source_hash,
            state_bits: self.state_bits,
            locations: self.locations.len() as u32,
            edges: self.edges.len() as u32,
            properties: self.properties.len() as u32,
            params: self.params.len() as u32,
            max_vars: max_vars as u32,
            max_live: self.locations.iter().map(|l| l.live.len()).max().unwrap_or(0) as u32,
            max_inputs: self.edges.iter().map(|e| e.inputs).max().unwrap_or(0),
            sections: [Section::default(); 9],
        };
        let program = self.program.as_ref().map(ProgramSpec::words).unwrap_or_default();
        let parts: [&[u8]; 10] = [
            bytemuck::cast_slice(&tables.locations),
            bytemuck::cast_slice(&tables.edges),
            bytemuck::cast_slice(&tables.live),
            bytemuck::cast_slice(&tables.in_edges),
            bytemuck::cast_slice(&tables.gates),
            bytemuck::cast_slice(&tables.next),
            bytemuck::cast_slice(&tables.fan_out),
            &names,
            bytemuck::cast_slice(&tables.certificate),
            bytemuck::cast_slice(&program),
        ];
        // The header's length depends on the offsets in it (varints): iterate until it is stable.
        let mut header_len = 0;
        let header_bytes = loop {
            let mut at = (PREAMBLE_LEN + header_len).next_multiple_of(4);
            let mut last = Section::default();
            for (section, part) in header.sections.iter_mut().chain([&mut last]).zip(parts) {
                *section = Section { offset: at as u32, len: part.len() as u32 };
                at = (at + part.len()).next_multiple_of(4);
            }
            let mut bytes = encode(&header);
            if self.program.is_some() {
                bytes.extend(encode(&last));
            }
            if bytes.len() == header_len {
                break bytes;
            }
            header_len = bytes.len();
        };
        let mut out = Vec::new();
        out.extend(MAGIC);
        let version = if self.program.is_some() { VERSION } else { VERSION_UNBOUND };
        out.extend(version.to_le_bytes());
        out.extend([size_of::<W>() as u8, 0]);
        out.extend([0; 8]);
        out.extend((header_len as u32).to_le_bytes());
        out.extend(header_bytes);
        let last = usize::from(self.program.is_none());
        for part in &parts[..parts.len() - last] {
            out.resize(out.len().next_multiple_of(4), 0);
            out.extend(*part);
        }
        let total = out.len() as u32;
        out[8..12].copy_from_slice(&total.to_le_bytes());
        let crc = checksum(&out);
        out[12..16].copy_from_slice(&crc.to_le_bytes());
        Ok(out)
    }
}

/// The fixed-width tables while they grow.
struct Tables<W> {
    locations: Vec<u32>,
    edges: Vec<u32>,
    live: Vec<W>,
    in_edges: Vec<W>,
    gates: Vec<W>,
    next: Vec<W>,
    fan_out: Vec<W>,
    certificate: Vec<W>,
}

impl<W> Default for Tables<W> {
    fn default() -> Self {
        Tables {
            locations: Vec::new(),
            edges: Vec::new(),
            live: Vec::new(),
            in_edges: Vec::new(),
            gates: Vec::new(),
            next: Vec::new(),
            fan_out: Vec::new(),
            certificate: Vec::new(),
        }
    }
}

impl<W: Word> Tables<W> {
    fn location(&mut self, location: &LocationSpec, entering: &[usize]) -> Result<(), BuildError> {
        self.locations.extend([
            self.live.len() as u32,
            location.live.len() as u32,
            self.in_edges.len() as u32,
            entering.len() as u32,
        ]);
        extend(&mut self.live, location.live.iter().map(|b| *b as usize))?;
        extend(&mut self.in_edges, entering.iter().copied())
    }

    /// Appends an edge whose network is at these places.
    fn edge(&mut self, edge: &EdgeSpec, [gates, fan_out]: [u32; 2]) -> Result<(), BuildError> {
        self.edges.extend([
            edge.from,
            edge.to,
            edge.inputs,
            edge.gates.len() as u32,
            gates,
            self.next.len() as u32,
            fan_out,
            edge.guard,
        ]);
        extend(&mut self.next, edge.next.iter().map(|l| *l as usize))
    }

    /// Appends gates whose first variable is `first`, and who reads what. Returns where they are.
    fn network(&mut self, first: usize, gates: &[[u32; 3]]) -> Result<[u32; 2], BuildError> {
        let vars = first + gates.len();
        if vars >= W::MAX_INDEX / 2 {
            return Err(too_large::<W>());
        }
        let place = [self.gates.len() as u32, self.fan_out.len() as u32];
        extend(&mut self.gates, gates.iter().flatten().map(|l| *l as usize))?;
        let mut readers = vec![Vec::new(); vars];
        for (g, lits) in gates.iter().enumerate() {
            for var in distinct_operands(lits) {
                readers.get_mut(var).ok_or_else(too_large::<W>)?.push(first + g);
            }
        }
        let mut offset = 0;
        let offsets = core::iter::once(0).chain(readers.iter().map(|r| {
            offset += r.len();
            offset
        }));
        extend(&mut self.fan_out, offsets)?;
        extend(&mut self.fan_out, readers.into_iter().flatten())?;
        Ok(place)
    }
}

fn too_large<W>() -> BuildError {
    BuildError::TooLarge { word: size_of::<W>() as u8 }
}

fn extend<W: Word>(
    table: &mut Vec<W>,
    items: impl IntoIterator<Item = usize>,
) -> Result<(), BuildError> {
    for item in items {
        if item > W::MAX_INDEX {
            return Err(too_large::<W>());
        }
        table.push(W::of(item));
    }
    Ok(())
}

/// Postcard bytes of `value`.
fn encode<T: serde::Serialize>(value: &T) -> Vec<u8> {
    // Serialising plain records into a growing vector has no way to fail.
    postcard::to_allocvec(value).unwrap_or_default()
}

/// The variables that a gate reads, each once, without the constant.
fn distinct_operands<W: Word>(lits: &[W]) -> impl Iterator<Item = usize> {
    let v = operands_of(lits);
    (0..3).filter(move |&i| v[i] != 0 && !v[..i].contains(&v[i])).map(move |i| v[i])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::image::Image;

    /// Worked out by hand from `docs/formats/image.md`: whoever changes this gives the format a new version.
    #[test]
    fn an_image_has_these_bytes() {
        let live = |bits: &[u32]| LocationSpec { live: bits.into() };
        // A step into the error location if bit 0 and an input are true.
        let fails =
            EdgeSpec { from: 1, to: 2, inputs: 1, gates: vec![[2, 6, 1]], guard: 8, next: vec![] };
        let param =
            ParamSpec { name: "k".into(), first_bit: 1, width: 1, min: 0, max: 1, signed: false };
        let builder = ImageBuilder {
            name: "m".into(),
            source_hash: core::array::from_fn(|i| i as u8),
            state_bits: 2,
            locations: vec![live(&[1]), live(&[0, 1]), live(&[])],
            edges: vec![EdgeSpec::plain(0, 1, 0, &[1, 2]), fails],
            properties: vec![PropertySpec { name: "p".into(), error: 2 }],
            params: vec![param],
            certificate: vec![(1, vec![1]), (2, vec![])],
            ..ImageBuilder::default()
        };
        let bytes = builder.build_as::<u16>().unwrap();
        let hash: Vec<u8> = (0..32).collect();
        let words = |words: &[u16]| words.iter().flat_map(|w| w.to_le_bytes()).collect::<Vec<u8>>();
        let numbers =
            |numbers: &[u32]| numbers.iter().flat_map(|n| n.to_le_bytes()).collect::<Vec<u8>>();
        #[rustfmt::skip]
        let expected: [&[u8]; 17] = [
            // Version 2, words of two bytes, 270 bytes, CRC-32, a header of 68 bytes.
            b"VIMG\x02\0\x02\0\x0e\x01\0\0CRC.\x44\0\0\0",
            b"\x01m", &hash, &[2, 3, 2, 1, 1, 5, 2, 1],
            // Where the tables are: the offsets from 136 on take two bytes.
            &[88, 48, 0x88, 1, 64, 0xc8, 1, 6, 0xd0, 1, 4, 0xd4, 1, 6, 0xdc, 1, 4, 0xe0, 1, 22, 0xf8, 1, 10, 0x84, 2, 10],
            &numbers(&[0, 1, 0, 0, 1, 2, 0, 1, 3, 0, 1, 1]),
            &numbers(&[0, 1, 0, 0, 0, 0, 0, 0, 1, 2, 1, 1, 0, 2, 3, 8]),
            &words(&[1, 0, 1]), &[0, 0],
            &words(&[0, 1]),
            &words(&[2, 6, 1]), &[0, 0],
            &words(&[1, 2]),
            // Offsets of the first edge's variables; of the second one's, and who reads them.
            &words(&[0, 0, 0, 0, 0, 1, 1, 2, 2, 4, 4]), &[0, 0],
            b"\x01p\x02\x01k\x01\x01\0\x01\0\0\0",
            &words(&[1, 1, 1, 2, 0]),
        ];
        let mut expected = expected.concat();
        let crc = crate::link::frame::checksum(&[&expected[..12], &expected[16..]].concat());
        expected[12..16].copy_from_slice(&crc.to_le_bytes());
        assert_eq!(bytes, expected);
        let aligned: Vec<u32> = (bytes.chunks(4))
            .map(|b| b.iter().rev().fold(0, |word, byte| (word << 8) | u32::from(*byte)))
            .collect();
        let aligned: &[u8] = bytemuck::cast_slice(&aligned);
        let image = Image::<u16>::new_checked(&aligned[..bytes.len()]).unwrap();
        // A certificate is a claim, and no part of the model.
        assert_eq!(ImageBuilder::of(&image), ImageBuilder { certificate: vec![], ..builder });
    }
}
