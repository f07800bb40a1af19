//! What a device's numbers are held against when they arrive: the image that it was given, and the memory
//! that it has. Nothing that does not fit either is fetched, so a device cannot keep or bloat the host.

use crate::answer::ImageTrace;
use vouch_core::image::{Image, ImageError, Preamble};
use vouch_core::link::message::take_varint;
use vouch_core::word::Word;

/// The most words that clauses may take on a device, whatever memory it says that it has. Words of 16 bits do not
/// address as many as 2^16, and the largest board that is supported has 2^21 for all that it does.
const MOST_CLAUSES: usize = 1 << 22;
/// Words that a clause takes on a device besides its literals, at least (there it is eight). On the host a clause of a
/// single literal takes many times the memory of one literal more.
const CLAUSE: usize = 2;
/// The most that traces may bring, whatever memory a device says that it has: bits, and steps at what they take.
const MOST_TRACES: usize = 1 << 25;
/// What a step takes of it, besides its bits: on the host a list for itself.
const STEP: usize = 8;

/// The numbers of an image.
#[derive(Clone, Debug, Default)]
pub(super) struct Shape {
    /// Bytes of the image.
    pub bytes: usize,
    /// Number of properties.
    pub properties: usize,
    /// Number of parameters.
    pub params: usize,
    /// Number of state bits.
    state_bits: usize,
    /// Live bits of each location.
    live: Vec<usize>,
    /// Ends and inputs of each edge.
    edges: Vec<(usize, usize, usize)>,
    /// Where each property is broken.
    errors: Vec<usize>,
}

impl Shape {
    /// Of an image, which is validated.
    pub fn of(image: &[u8]) -> Result<Shape, ImageError> {
        // Views need words at their places.
        let mut words = vec![0u32; image.len().div_ceil(4)];
        let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
        bytes[..image.len()].copy_from_slice(image);
        let bytes = &bytes[..image.len()];
        match Preamble::read(image)?.word {
            4 => Ok(Shape::measure(&Image::<u32>::new_checked(bytes)?)),
            _ => Ok(Shape::measure(&Image::<u16>::new_checked(bytes)?)),
        }
        .map(|shape| Shape { bytes: image.len(), ..shape })
    }

    fn measure<W: Word>(image: &Image<'_, W>) -> Shape {
        let edge = |e: usize| {
            let edge = image.edge(e);
            (edge.from, edge.to, edge.inputs)
        };
        Shape {
            bytes: 0,
            properties: image.header.properties as usize,
            params: image.header.params as usize,
            state_bits: image.header.state_bits as usize,
            live: (0..image.locations()).map(|l| image.location(l).live.len()).collect(),
            edges: (0..image.edges()).map(edge).collect(),
            errors: image.properties().map(|p| p.error as usize).collect(),
        }
    }

    /// Bits of the first state.
    pub fn initial(&self) -> usize {
        self.live.first().copied().unwrap_or(0)
    }

    /// Input bits of an edge, if there is such a one.
    pub fn inputs(&self, edge: u32) -> Option<usize> {
        self.edges.get(edge as usize).map(|edge| edge.2)
    }

    /// Whether the edges follow each other from the start to where the property is broken.
    pub fn is_path(&self, trace: &ImageTrace) -> bool {
        let mut at = 0;
        for (edge, _) in &trace.steps {
            match self.edges.get(*edge) {
                Some((from, to, _)) if *from == at => at = *to,
                _ => return false,
            }
        }
        self.errors.get(trace.property) == Some(&at)
    }
}

/// What may still be fetched of traces.
pub(super) struct Room {
    left: usize,
}

impl Room {
    pub fn new() -> Room {
        Room { left: MOST_TRACES }
    }

    /// Takes so many bits of it, if there are.
    pub fn take(&mut self, bits: usize) -> Option<()> {
        self.left = self.left.checked_sub(bits)?;
        Some(())
    }

    /// Takes what so many steps need without their bits, if there is.
    pub fn take_steps(&mut self, steps: usize) -> Option<()> {
        self.take(steps.checked_mul(STEP)?)
    }
}

/// Clauses as they arrive, in pieces.
pub(super) struct Clauses<'s> {
    shape: &'s Shape,
    clauses: Vec<(usize, Vec<u32>)>,
    /// Literals that the last clause still lacks.
    missing: usize,
    /// Words for which there still is room: each literal has one of the device's memory, and each clause some more.
    room: usize,
    /// Clauses without literals that there still can be: a location is never reached, or it is.
    empty: usize,
}

impl<'s> Clauses<'s> {
    /// None yet, from a device with so many bytes for a model and its proof.
    pub fn new(shape: &'s Shape, heap: u32) -> Clauses<'s> {
        let room = MOST_CLAUSES.min(heap as usize / 2);
        Clauses { shape, clauses: Vec::new(), missing: 0, room, empty: shape.live.len() }
    }

    /// Takes records, the first of which continues from literal `offset` of the last clause.
    pub fn append(&mut self, mut data: &[u8], offset: usize) -> Result<(), &'static str> {
        const CUT: &str = "clauses cannot be decoded";
        const MANY: &str = "more clauses than it has memory";
        let mut skipped = offset;
        while !data.is_empty() {
            let location = take_varint(&mut data).ok_or(CUT)? as usize;
            let total = take_varint(&mut data).ok_or(CUT)? as usize;
            let live = self.shape.live.get(location);
            if live.is_none_or(|live| total > *live) {
                return Err("a clause does not fit the model");
            }
            if skipped == 0 {
                if self.missing > 0 {
                    return Err("a clause is not complete");
                }
                // Clauses without literals are not in the device's memory.
                match total {
                    0 => self.empty = self.empty.checked_sub(1).ok_or("too many empty clauses")?,
                    _ => self.room = self.room.checked_sub(CLAUSE).ok_or(MANY)?,
                }
                self.clauses.push((location, Vec::new()));
                self.missing = total;
            }
            let (at, literals) = self.clauses.last_mut().ok_or(CUT)?;
            let had = literals.len();
            if (*at, had, had + self.missing) != (location, skipped, total) {
                return Err("pieces of a clause do not belong together");
            }
            while self.missing > 0 && !data.is_empty() {
                let literal = take_varint(&mut data).ok_or(CUT)?;
                if literal as usize / 2 >= self.shape.state_bits {
                    return Err("a clause does not fit the model");
                }
                self.room = self.room.checked_sub(1).ok_or(MANY)?;
                self.missing -= 1;
                literals.push(literal);
            }
            skipped = 0;
        }
        Ok(())
    }

    /// All of them, if they are whole.
    pub fn finish(self) -> Result<Vec<(usize, Vec<u32>)>, &'static str> {
        if self.missing > 0 { Err("a clause is not complete") } else { Ok(self.clauses) }
    }
}
