//! Reading an image in place.

use super::header::{Header, ImageError, ParamRecord, Preamble, PropertyRecord, Section, Table};
use super::header::{PREAMBLE_LEN, VERSION, VERSION_UNBOUND, checksum};
use super::program::Program;
use crate::{lit::Lit, word::Word};

/// Words of one record in the table of locations.
pub(super) const LOCATION_WORDS: usize = 4;
/// Words of one record in the table of edges.
pub(super) const EDGE_WORDS: usize = 8;

/// A validated image, borrowed.
#[derive(Clone, Debug)]
pub struct Image<'a, W> {
    /// Name, hash and sizes of the model.
    pub header: Header<'a>,
    pub(super) locations: &'a [u32],
    pub(super) edges: &'a [u32],
    pub(super) live: &'a [W],
    pub(super) in_edges: &'a [W],
    pub(super) gates: &'a [W],
    pub(super) next: &'a [W],
    pub(super) fan_out: &'a [W],
    pub(super) names: &'a [u8],
    certificate: &'a [W],
    program: &'a [u32],
    bytes: &'a [u8],
}

/// A location: its live state bits and the edges that enter it.
#[derive(Clone, Copy, Debug)]
pub struct Location<'a, W> {
    /// Global numbers of the live bits, ascending. A lemma's variable `1 + j` is bit `live[j]`.
    pub live: &'a [W],
    /// Edges whose target this is, ascending.
    pub in_edges: &'a [W],
}

/// An edge: a definition DAG over the source's live bits and the step's inputs.
#[derive(Clone, Copy, Debug)]
pub struct Edge<'a, W> {
    /// The location that the edge leaves.
    pub from: usize,
    /// The location that the edge enters.
    pub to: usize,
    /// Live bits of the source: variables `1..=live`.
    pub live: usize,
    /// Input bits: variables `live + 1 ..= live + inputs`.
    pub inputs: usize,
    /// Three literals for each gate; the gates are the variables from [`Edge::first_gate`] on.
    pub gates: &'a [[W; 3]],
    /// One literal for each live bit of the target.
    pub next: &'a [W],
    /// The step is possible exactly when this literal is true.
    pub guard: Lit,
    /// The variable of the first gate.
    first_gate: usize,
    /// `vars + 1` offsets into `fan_gates`.
    fan_index: &'a [W],
    /// Gate variables, grouped by the variable that they read.
    fan_gates: &'a [W],
}

impl<'a, W: Word> Edge<'a, W> {
    /// Means "no edge": without variables but the constant.
    pub fn none() -> Self {
        Edge {
            from: 0,
            to: 0,
            live: 0,
            inputs: 0,
            gates: &[],
            next: &[],
            guard: Lit::FALSE,
            first_gate: 1,
            fan_index: &[],
            fan_gates: &[],
        }
    }
    /// The variable of the first gate.
    #[inline(always)]
    pub fn first_gate(&self) -> usize {
        self.first_gate
    }
    /// Number of variables, the constant included.
    #[inline(always)]
    pub fn vars(&self) -> usize {
        self.first_gate() + self.gates.len()
    }
    /// The operands `(s, t, e)` of gate variable `var`.
    #[inline(always)]
    pub fn gate(&self, var: usize) -> [Lit; 3] {
        let g = self.gates[var - self.first_gate()];
        [Lit::from_code(g[0].get()), Lit::from_code(g[1].get()), Lit::from_code(g[2].get())]
    }
    /// The gates that read `var`.
    #[inline(always)]
    pub fn fan_out(&self, var: usize) -> &'a [W] {
        &self.fan_gates[self.fan_index[var].get()..self.fan_index[var + 1].get()]
    }
    /// The literal that the target's live bit `j` takes.
    #[inline(always)]
    pub fn next(&self, j: usize) -> Lit {
        Lit::from_code(self.next[j].get())
    }
    /// Whether the edge returns to its own source.
    #[inline(always)]
    pub fn is_loop(&self) -> bool {
        self.from == self.to
    }
}

impl<'a, W: Word> Image<'a, W> {
    /// Validates `bytes` as an image, completely.
    pub fn new_checked(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let preamble = Preamble::read(bytes)?;
        if preamble.total as usize != bytes.len() {
            return Err(ImageError::Length);
        }
        if preamble.crc != checksum(bytes) {
            return Err(ImageError::Checksum);
        }
        Self::new_hashed(bytes)
    }

    /// The same without the checksum: for bytes that a cryptographic hash has shown to be those that were
    /// signed, where it would be the most expensive part and show nothing more.
    pub fn new_hashed(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let image = Self::new_trusted(bytes)?;
        image.check()?;
        Ok(image)
    }

    /// The image in bytes that [`Image::new_checked`] accepted before and that have not changed
    /// since. Only what is needed to slice is looked at; wrong tables may panic later.
    pub fn new_trusted(bytes: &'a [u8]) -> Result<Self, ImageError> {
        let preamble = Preamble::read(bytes)?;
        if preamble.version != VERSION && preamble.version != VERSION_UNBOUND {
            return Err(ImageError::Version(preamble.version));
        }
        if preamble.word as usize != size_of::<W>() {
            return Err(ImageError::WordWidth(preamble.word));
        }
        if preamble.total as usize != bytes.len() {
            return Err(ImageError::Length);
        }
        let header = (preamble.header as usize)
            .checked_add(PREAMBLE_LEN)
            .and_then(|end| bytes.get(PREAMBLE_LEN..end))
            .ok_or(ImageError::Header)?;
        let (header, mut rest): (Header<'a>, _) =
            postcard::take_from_bytes(header).map_err(|_| ImageError::Header)?;
        let program = match preamble.version {
            VERSION => take(&mut rest).ok_or(ImageError::Header)?,
            _ => Section::default(),
        };
        let [locations, edges, live, in_edges, gates, next, fan_out, names, certificate] =
            header.sections;
        let raw = |section: Section, table: Table| {
            let start = section.offset as usize;
            let end = start.checked_add(section.len as usize).ok_or(ImageError::Table(table))?;
            bytes.get(start..end).ok_or(ImageError::Table(table))
        };
        Ok(Image {
            locations: cast(raw(locations, Table::Locations)?, Table::Locations)?,
            edges: cast(raw(edges, Table::Edges)?, Table::Edges)?,
            live: cast(raw(live, Table::Live)?, Table::Live)?,
            in_edges: cast(raw(in_edges, Table::InEdges)?, Table::InEdges)?,
            gates: cast(raw(gates, Table::Gates)?, Table::Gates)?,
            next: cast(raw(next, Table::Next)?, Table::Next)?,
            fan_out: cast(raw(fan_out, Table::FanOut)?, Table::FanOut)?,
            names: raw(names, Table::Names)?,
            certificate: cast(raw(certificate, Table::Certificate)?, Table::Certificate)?,
            program: cast(raw(program, Table::Program)?, Table::Program)?,
            header,
            bytes,
        })
    }

    /// The bytes that it is a view of.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// A number for where its tables lie and how long they are: the same for any two views of the same
    /// bytes, as long as nothing happened to one of them.
    pub fn places(&self) -> u32 {
        let h = &self.header;
        let counts = [h.locations, h.edges, h.properties, h.params, h.state_bits];
        let words =
            [self.live, self.in_edges, self.gates, self.next, self.fan_out, self.certificate];
        let words = words.map(|w| (w.as_ptr().addr(), w.len()));
        let more = [self.locations, self.edges, self.program].map(|w| (w.as_ptr().addr(), w.len()));
        let names = [self.names, self.bytes].map(|w| (w.as_ptr().addr(), w.len()));
        let places = words.into_iter().chain(more).chain(names);
        let places = places.flat_map(|(at, len)| [at as u32, len as u32]);
        counts.into_iter().chain(places).fold(0x5bd1_e995, |sum: u32, n| {
            sum.rotate_left(5).wrapping_add(n).wrapping_mul(0x9e37_79b1)
        })
    }

    /// Number of locations.
    #[inline(always)]
    pub fn locations(&self) -> usize {
        self.header.locations as usize
    }
    /// Number of edges.
    #[inline(always)]
    pub fn edges(&self) -> usize {
        self.header.edges as usize
    }

    /// Location `index`.
    #[inline]
    pub fn location(&self, index: usize) -> Location<'a, W> {
        let r = &self.locations[index * LOCATION_WORDS..][..LOCATION_WORDS];
        Location {
            live: &self.live[r[0] as usize..][..r[1] as usize],
            in_edges: &self.in_edges[r[2] as usize..][..r[3] as usize],
        }
    }

    /// Source and target of edge `index`, without the rest.
    #[inline]
    pub fn ends(&self, index: usize) -> (usize, usize) {
        let at = index * EDGE_WORDS;
        (self.edges[at] as usize, self.edges[at + 1] as usize)
    }

    /// Whether two edges leave the same location and have the same gates: what follows from the gates of one of them
    /// follows from those of the other.
    pub fn is_akin(&self, one: usize, other: usize) -> bool {
        let key = |index: usize| {
            let r = &self.edges[index * EDGE_WORDS..][..EDGE_WORDS];
            [r[6], r[0], r[2], r[3], r[4]]
        };
        key(one) == key(other)
    }

    /// The literals that the target's live bits take over edge `index`, without the rest.
    #[inline]
    pub fn next(&self, index: usize) -> &'a [W] {
        let r = &self.edges[index * EDGE_WORDS..][..EDGE_WORDS];
        let bits = self.locations[r[1] as usize * LOCATION_WORDS + 1];
        &self.next[r[5] as usize..][..bits as usize]
    }

    /// Edge `index`.
    #[inline]
    pub fn edge(&self, index: usize) -> Edge<'a, W> {
        self.edge_apart(index)
    }

    /// The same, as machine code of its own wherever it is used: damage to what the solver reads edges with
    /// does not reach what looks at its results.
    #[inline(always)]
    pub fn edge_apart(&self, index: usize) -> Edge<'a, W> {
        let r = &self.edges[index * EDGE_WORDS..][..EDGE_WORDS];
        let (from, to) = (r[0] as usize, r[1] as usize);
        let live = self.locations[from * LOCATION_WORDS + 1] as usize;
        let bits = self.locations[to * LOCATION_WORDS + 1] as usize;
        let (inputs, gates) = (r[2] as usize, r[3] as usize);
        let fan = &self.fan_out[r[6] as usize..];
        let (fan_index, fan_gates) = fan.split_at(live + inputs + gates + 2);
        Edge {
            from,
            to,
            live,
            inputs,
            gates: bytemuck::cast_slice(&self.gates[r[4] as usize..][..3 * gates]),
            next: &self.next[r[5] as usize..][..bits],
            guard: Lit::from_code(r[7] as usize),
            first_gate: 1 + live + inputs,
            fan_index,
            fan_gates,
        }
    }

    /// The certificate, if the image carries one: a table as [`crate::certificate`] describes it.
    ///
    /// It is a claim that has not been checked, not even its form: `certificate::Checker` does that,
    /// with the bindings and for the properties that matter to the caller.
    pub fn certificate(&self) -> Option<&'a [W]> {
        Some(self.certificate).filter(|table| !table.is_empty())
    }

    /// The program that it is of, if it says so.
    pub fn program(&self) -> Option<Program<'a>> {
        Program::new(self.program)
    }

    /// The properties, in the order of the source.
    pub fn properties(&self) -> impl Iterator<Item = PropertyRecord<'a>> + use<'a, W> {
        let mut rest = self.names;
        (0..self.header.properties).map_while(move |_| take(&mut rest))
    }

    /// The parameters, in the order of the source.
    pub fn params(&self) -> impl Iterator<Item = ParamRecord<'a>> + use<'a, W> {
        let mut rest = self.names;
        for _ in 0..self.header.properties {
            let _: Option<PropertyRecord> = take(&mut rest);
        }
        (0..self.header.params).map_while(move |_| take(&mut rest))
    }
}

/// The next postcard record of `rest`.
fn take<'a, T: serde::Deserialize<'a>>(rest: &mut &'a [u8]) -> Option<T> {
    let (record, tail) = postcard::take_from_bytes(rest).ok()?;
    *rest = tail;
    Some(record)
}

/// Little-endian table of words in place. All targets are little-endian, so no bytes are swapped.
fn cast<T: bytemuck::Pod>(bytes: &[u8], table: Table) -> Result<&[T], ImageError> {
    bytemuck::try_cast_slice(bytes).map_err(|e| match e {
        bytemuck::PodCastError::TargetAlignmentGreaterAndInputNotAligned => ImageError::Alignment,
        _ => ImageError::Table(table),
    })
}

#[cfg(target_endian = "big")]
compile_error!("image tables are little-endian and read in place");
