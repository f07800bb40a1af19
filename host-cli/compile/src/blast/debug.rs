//! What a `.vimg` file carries after the image (`docs/formats/image.md`).
//!
//! A device gets the image alone. The host keeps the automaton, the map and the source with it, so
//! that what comes back can be explained and validated without the model's file. All of it is checked
//! when it is read: later stages index with its numbers.

use super::{AlignedImage, Map, Model};
use crate::simplify::Back;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use vouch_core::image::{ImageError, Preamble};
use vouch_ir::{Cfa, Expr, ExprId, Span, expr::MAX_WIDTH, mask};

/// The version that is written and read.
pub const VERSION: u16 = 7;
/// Marks the chunk.
const MAGIC: [u8; 4] = *b"VDBG";
/// Magic, version, reserved, length, checksum.
const CHUNK_HEADER: usize = 16;
const CRC: crc::Crc<u32> = crc::Crc::<u32>::new(&crc::CRC_32_ISO_HDLC);

/// What explains an image.
///
/// Its fields and those of the types in it, in this order, are the format of the chunk.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Debug {
    /// The automaton as the front end made it.
    pub cfa: Cfa,
    /// The one that was compiled, if it was simplified before, and the way back from it.
    pub simplified: Option<(Cfa, Back)>,
    /// What the image's numbers mean in the one that was compiled.
    pub map: Map,
    /// Where the source was.
    pub source_path: String,
    /// The source text; spans of the automaton are byte ranges of it.
    pub source: String,
    /// Whether it was lifted from a program, on which runs have to be replayed.
    pub is_program: bool,
}

/// Why a file could not be read.
#[derive(Clone, PartialEq, Eq, std::fmt::Debug, thiserror::Error)]
pub enum DebugError {
    /// The image is not one.
    #[error("{0}")]
    Image(ImageError),
    /// What follows the image ends too early.
    #[error("the file is truncated after its image")]
    Truncated,
    /// What follows the image was changed.
    #[error("the checksum of what follows the image does not match: some bits changed on the way")]
    Checksum,
    /// Another version of the format.
    #[error("the debug part has version {0}, this program reads version {VERSION}")]
    Version(u16),
    /// It cannot be decoded, or is not consistent.
    #[error("the debug part is malformed: {0}")]
    Malformed(String),
    /// It describes another model.
    #[error("the debug part belongs to another image: {0} differ")]
    Mismatch(&'static str),
}

fn checksum(head: &[u8], payload: &[u8]) -> u32 {
    let mut digest = CRC.digest();
    digest.update(head);
    digest.update(payload);
    digest.finalize()
}

/// The bytes of a `.vimg` file: the image, then what explains it.
pub fn write(model: &Model, debug: &Debug) -> Vec<u8> {
    // Serialising plain data into a growing vector has no way to fail.
    let payload = postcard::to_stdvec(debug).unwrap_or_default();
    [&model.image, &chunk(MAGIC, VERSION, &payload)[..]].concat()
}

/// A chunk to be put after an image.
pub fn chunk(magic: [u8; 4], version: u16, payload: &[u8]) -> Vec<u8> {
    let mut head = magic.to_vec();
    head.extend(version.to_le_bytes());
    head.extend([0, 0]);
    head.extend((payload.len() as u32).to_le_bytes());
    let crc = checksum(&head, payload);
    [&head[..], &crc.to_le_bytes(), payload].concat()
}

/// The chunk with this magic number in a file that [`split`] has accepted: its version and payload.
pub fn find(file: &[u8], magic: [u8; 4]) -> Result<Option<(u16, &[u8])>, DebugError> {
    let total = Preamble::read(file).map_err(DebugError::Image)?.total as usize;
    let mut rest = file.get(total..).unwrap_or_default();
    while !rest.is_empty() {
        let (head, tail) = rest.split_at_checked(CHUNK_HEADER).ok_or(DebugError::Truncated)?;
        let len = u32::from_le_bytes([head[8], head[9], head[10], head[11]]) as usize;
        let (payload, tail) = tail.split_at_checked(len).ok_or(DebugError::Truncated)?;
        if head[..4] == magic {
            return Ok(Some((u16::from_le_bytes([head[4], head[5]]), payload)));
        }
        rest = tail;
    }
    Ok(None)
}

/// Parts of a `.vimg` file: the image, which is completely validated, and what explains it, if that
/// is there.
pub fn split(file: &[u8]) -> Result<(&[u8], Option<Debug>), DebugError> {
    let preamble = Preamble::read(file).map_err(DebugError::Image)?;
    let too_short = DebugError::Image(ImageError::Length);
    let (image, mut rest) = file.split_at_checked(preamble.total as usize).ok_or(too_short)?;
    let aligned = AlignedImage::new(image);
    let counts =
        if preamble.word == 2 { Counts::of::<u16>(&aligned) } else { Counts::of::<u32>(&aligned) };
    let counts = counts.map_err(DebugError::Image)?;
    let mut found = None;
    while !rest.is_empty() {
        let (head, tail) = rest.split_at_checked(CHUNK_HEADER).ok_or(DebugError::Truncated)?;
        let word =
            |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let (payload, tail) =
            tail.split_at_checked(word(8) as usize).ok_or(DebugError::Truncated)?;
        if word(12) != checksum(&head[..12], payload) {
            return Err(DebugError::Checksum);
        }
        // A chunk with another magic number is for someone else.
        if head[..4] == MAGIC {
            let version = u16::from_le_bytes([head[4], head[5]]);
            if version != VERSION {
                return Err(DebugError::Version(version));
            }
            let debug: Debug =
                postcard::from_bytes(payload).map_err(|e| DebugError::Malformed(e.to_string()))?;
            debug.check().map_err(DebugError::Malformed)?;
            counts.check(&debug)?;
            found = Some(debug);
        }
        rest = tail;
    }
    Ok((image, found))
}

/// What an image says about itself that must agree with its debug part.
struct Counts {
    source_hash: [u8; 32],
    state_bits: usize,
    live: Vec<Vec<u32>>,
    edges: Vec<(usize, usize, usize)>,
    properties: Vec<usize>,
    params: Vec<usize>,
}

impl Counts {
    fn of<W: vouch_core::word::Word>(image: &AlignedImage) -> Result<Counts, ImageError> {
        let view = image.view::<W>()?;
        let live = |l| view.location(l).live.iter().map(|b| b.get() as u32).collect();
        let edge = |e| (view.ends(e).0, view.ends(e).1, view.edge(e).inputs);
        Ok(Counts {
            source_hash: view.header.source_hash,
            state_bits: view.header.state_bits as usize,
            live: (0..view.locations()).map(live).collect(),
            edges: (0..view.edges()).map(edge).collect(),
            properties: view.properties().map(|p| p.error as usize).collect(),
            params: view.params().map(|p| p.first_bit as usize).collect(),
        })
    }

    fn check(&self, debug: &Debug) -> Result<(), DebugError> {
        let Debug { map, source, .. } = debug;
        let cfa = debug.compiled();
        let same = |same: bool, what| if same { Ok(()) } else { Err(DebugError::Mismatch(what)) };
        // A binary source is not carried along, and its hash can't be told.
        let hash: [u8; 32] = Sha256::digest(source.as_bytes()).into();
        same(source.is_empty() || self.source_hash == hash, "the sources")?;
        same(self.state_bits == map.bits.len(), "the state bits")?;
        same(self.live == map.live, "the live bits")?;
        let edges = map.edges.iter().zip(&map.edge_inputs).map(|(e, inputs)| {
            let edge = &cfa.edges[e.index()];
            (edge.from, edge.to, inputs.len())
        });
        let own = self.edges.iter().map(|e| (map.locations[e.0], map.locations[e.1], e.2));
        same(own.eq(edges), "the edges")?;
        let own = self.properties.iter().map(|l| map.locations[*l]);
        same(own.eq(cfa.properties.iter().map(|p| p.error)), "the properties")?;
        let own = self.params.iter().map(|b| map.bits[*b]);
        same(own.eq(map.params.iter().map(|p| (*p, 0))), "the parameters")
    }
}

impl Debug {
    /// The automaton that was compiled.
    pub fn compiled(&self) -> &Cfa {
        self.simplified.as_ref().map_or(&self.cfa, |s| &s.0)
    }

    /// Whether everything in here can be used without looking twice.
    fn check(&self) -> Result<(), String> {
        check_cfa(&self.cfa, &self.source)?;
        if let Some((cfa, back)) = &self.simplified {
            check_cfa(cfa, &self.source)?;
            let params =
                |cfa: &Cfa| cfa.params().map(|(id, v)| (id, v.clone())).collect::<Vec<_>>();
            let names =
                |cfa: &Cfa| cfa.properties.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
            if params(cfa) != params(&self.cfa) || names(cfa) != names(&self.cfa) {
                return Err("the simplified model".into());
            }
            if !back.is_sound() {
                return Err("the way back from the simplified model".into());
            }
        }
        self.map.check(self.compiled()).map_err(|()| "the map".into())
    }
}

/// Whether an automaton is one, and speaks of this source.
fn check_cfa(cfa: &Cfa, source: &str) -> Result<(), String> {
    check_pool(cfa)?;
    let ensure = |good: bool, what: &str| if good { Ok(()) } else { Err(what.to_string()) };
    let width = |w: u32| (1..=MAX_WIDTH).contains(&w);
    ensure(cfa.vars.iter().all(|v| width(v.width)), "the width of a variable")?;
    ensure(cfa.inputs.iter().all(|i| width(i.width)), "the width of an input")?;
    let location = |l: vouch_ir::LocId| l.index() < cfa.locations.len();
    ensure(location(cfa.init), "the initial location")?;
    ensure(cfa.properties.iter().all(|p| location(p.error)), "an error location")?;
    let known = |e: ExprId| (e.0 as usize) < cfa.pool.len();
    let edge = |e: &vouch_ir::Edge| known(e.guard) && e.updates.iter().all(|u| known(u.1));
    ensure(cfa.edges.iter().all(edge), "an expression of an edge")?;
    cfa.check()?;
    let span = |s: Span| source.get(s.start as usize..s.end as usize).is_some();
    let spans = cfa.locations.iter().map(|l| l.span);
    let spans = spans.chain(cfa.edges.iter().map(|e| e.span));
    let mut spans = spans.chain(cfa.properties.iter().map(|p| p.span));
    ensure(spans.all(span), "a place in the source")
}

/// Whether expressions are well-typed and built from earlier ones.
fn check_pool(cfa: &Cfa) -> Result<(), String> {
    use vouch_ir::BinOp::*;
    let pool = &cfa.pool;
    for id in (0..pool.len() as u32).map(ExprId) {
        let width = pool.width(id);
        let earlier = pool.operands(id).all(|o| o < id);
        let well_typed = (1..=MAX_WIDTH).contains(&width)
            && earlier
            && match pool.get(id) {
                Expr::Const(value) => value <= mask(width),
                // Compared with what is declared by the automaton's own check.
                Expr::Var(_) | Expr::Input(_) => true,
                Expr::Unary(_, x) => pool.width(x) == width,
                Expr::Ite(c, t, e) => {
                    pool.width(c) == 1 && pool.width(t) == width && pool.width(e) == width
                }
                Expr::Slice { x, lo } => {
                    lo.checked_add(width).is_some_and(|end| end <= pool.width(x))
                }
                Expr::Extend { x, .. } => pool.width(x) <= width,
                Expr::Binary(Concat, a, b) => pool.width(a) + pool.width(b) == width,
                Expr::Binary(Eq | Ult | Ule | Slt | Sle, a, b) => {
                    pool.width(a) == pool.width(b) && width == 1
                }
                Expr::Binary(_, a, b) => pool.width(a) == width && pool.width(b) == width,
            };
        if !well_typed {
            return Err(format!("expression {} is ill-typed", id.0));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blast::{Options, compile};
    use crate::simplify::back::{self, Way};
    use crate::simplify::fact::Fact;
    use crate::simplify::splitting::Unfolded;
    use crate::simplify::value::Value;
    use vouch_ir::{
        BinOp, BitLit, Certificate, Clause, Edge, EdgeId, Input, InputId, LocId, Operand, Property,
        PropertyId, Step, Term, Trace, Type, Var, VarId, VarKind,
    };

    fn example() -> (Model, Debug) {
        let mut cfa = Cfa::new("example");
        let span = Span::default();
        let x = Var { name: "x".into(), width: 3, ty: Type::Unsigned, kind: VarKind::State };
        let x = cfa.add_var(x);
        let kind = VarKind::Param { min: 0, max: 7 };
        let p = cfa.add_var(Var { name: "p".into(), width: 3, ty: Type::Unsigned, kind });
        let a = cfa.add_location("a", Span { start: 0, end: 3 });
        let error = cfa.add_location("error", span);
        let (x_now, p_now) = (cfa.read(x), cfa.read(p));
        let yes = cfa.pool.bool(true);
        let zero = cfa.pool.constant(0, 3);
        let sum = cfa.pool.binary(BinOp::Add, x_now, p_now);
        let hit = cfa.pool.binary(BinOp::Ult, sum, x_now);
        let init = cfa.init;
        cfa.add_edge(Edge { from: init, to: a, guard: yes, updates: vec![(x, zero)], span });
        cfa.add_edge(Edge { from: a, to: a, guard: yes, updates: vec![(x, sum)], span });
        cfa.add_edge(Edge { from: a, to: error, guard: hit, updates: vec![], span });
        cfa.properties.push(Property { name: "never".into(), error, span });
        let source = "source".to_string();
        let hash = Sha256::digest(source.as_bytes()).into();
        let simple = crate::simplify::run(&cfa, &crate::simplify::Passes::all());
        let model = compile(&simple.cfa, hash, &Options::default()).unwrap();
        let map = model.map.clone();
        let simplified = Some((simple.cfa, simple.back));
        (
            model,
            Debug { cfa, simplified, map, source_path: "x.vch".into(), source, is_program: false },
        )
    }

    /// The types of the chunk are its format (`docs/formats/image.md`): whoever changes one of them sees it
    /// here, and gives the chunk a new version.
    #[test]
    fn an_automaton_has_these_bytes() {
        let mut cfa = Cfa::new("m");
        let ty = Type::names(["a".to_owned()]);
        let x = cfa.add_var(Var { name: "x".into(), width: 3, ty, kind: VarKind::State });
        let kind = VarKind::Param { min: 1, max: 300 };
        cfa.add_var(Var { name: "p".into(), width: 9, ty: Type::Signed, kind });
        let i = cfa.add_input(Input { name: "i".into(), width: 3, ty: Type::Unsigned });
        let error = cfa.add_location("e", Span { start: 4, end: 5 });
        let (read, input) = (cfa.read(x), cfa.sample(i));
        let guard = cfa.pool.binary(BinOp::Ult, read, input);
        let span = Span { start: 6, end: 200 };
        let init = cfa.init;
        cfa.add_edge(Edge { from: init, to: error, guard, updates: vec![(x, input)], span });
        cfa.properties.push(Property { name: "n".into(), error, span: Span::default() });
        cfa.limits.push(PropertyId(0));
        cfa.approximate.push(i);
        let expected: &[&[u8]] = &[
            b"\x01m",
            // Variables and inputs.
            b"\x02\x01x\x03\x03\x01\x00\x01a\x00",
            b"\x01p\x09\x02\x01\x01\xac\x02",
            b"\x01\x01i\x03\x01",
            // Locations, the edge, the initial location.
            b"\x02\x04init\x00\x00\x01e\x04\x05",
            b"\x01\x00\x01\x02\x01\x00\x01\x06\xc8\x01",
            b"\x00",
            // The property, limits, fatal ones, approximate inputs.
            b"\x01\x01n\x01\x00\x00\x01\x00\x00\x01\x00",
            // Expressions: a variable, an input, a comparison.
            b"\x03\x01\x00\x03\x02\x00\x03\x04\x0e\x00\x01\x01",
        ];
        assert_eq!(postcard::to_stdvec(&cfa).unwrap(), expected.concat());
    }

    /// The same for the way back: each variant and field once.
    #[test]
    fn a_pass_has_these_bytes() {
        let lits = vec![BitLit { var: VarId(1), bit: 2, value: true }];
        let clause = Clause { location: LocId(4), lits };
        let value = Value::any(2);
        let (left, right) = (Operand::Var(VarId(1)), Operand::Const(300));
        let step = back::Step {
            ways: vec![
                Way::Edge(EdgeId(5)),
                Way::Then { first: 0, second: 0, renamed: vec![(InputId(1), InputId(2))] },
                Way::Either { by: Some(InputId(3)), first: 0, second: 1 },
                Way::From { copy: LocId(7), edge: EdgeId(6) },
            ],
            edges: vec![3],
            facts: vec![
                Fact::Clause(clause),
                Fact::Value { location: LocId(4), var: VarId(1), value },
            ],
            passed: vec![LocId(8)],
            void: vec![LocId(9)],
            terms: vec![Term { op: BinOp::Add, left, right }],
            merged: vec![(LocId(10), LocId(11))],
            unfolded: vec![Unfolded {
                location: LocId(12),
                vars: vec![(VarId(13), 14)],
                copies: vec![(LocId(15), vec![16])],
            }],
        };
        let expected: &[&[u8]] = &[
            &[4, 0, 5, 1, 0, 0, 1, 1, 2, 2, 1, 3, 0, 1, 3, 7, 6],
            &[1, 3],
            // A clause; the numbers from 0 to 3, or from -2 to 1.
            &[2, 0, 4, 1, 1, 2, 1, 1, 4, 1, 2, 0, 0, 0, 3, 3, 2],
            &[1, 8, 1, 9],
            &[1, 3, 0, 1, 1, 0xac, 2],
            &[1, 10, 11],
            &[1, 12, 1, 13, 14, 1, 15, 1, 16],
        ];
        assert_eq!(postcard::to_stdvec(&step).unwrap(), expected.concat());
    }

    /// The same for the map: each field once.
    #[test]
    fn a_map_has_these_bytes() {
        let map = Map {
            bits: vec![(VarId(1), 2)],
            locations: vec![LocId(300)],
            live: vec![vec![3], vec![]],
            edges: vec![EdgeId(4)],
            edge_inputs: vec![vec![(InputId(5), 6)]],
            params: vec![VarId(7)],
            unreachable: vec![LocId(8), LocId(9)],
        };
        let expected: &[&[u8]] = &[
            &[1, 1, 2],
            &[1, 0xac, 2],
            &[2, 1, 3, 0],
            &[1, 4],
            &[1, 1, 5, 6],
            &[1, 7],
            &[2, 8, 9],
        ];
        assert_eq!(postcard::to_stdvec(&map).unwrap(), expected.concat());
    }

    #[test]
    fn what_is_written_comes_back() {
        let (model, debug) = example();
        let file = write(&model, &debug);
        assert_eq!(split(&file), Ok((&model.image[..], Some(debug))));
        assert_eq!(split(&model.image), Ok((&model.image[..], None)));
    }

    #[test]
    fn chunks_of_others_are_skipped() {
        let (model, debug) = example();
        let mut file = write(&model, &debug);
        let head = *b"XYZW\x09\0\0\0\x02\0\0\0";
        file.extend(head);
        file.extend(checksum(&head, b"ok").to_le_bytes());
        file.extend(b"ok");
        assert_eq!(split(&file).unwrap().1, Some(debug));
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_noticed() {
        let (model, debug) = example();
        let file = write(&model, &debug);
        for at in 0..file.len() {
            for bit in 0..8 {
                let mut bad = file.clone();
                bad[at] ^= 1 << bit;
                assert!(split(&bad).is_err(), "bit {bit} of byte {at}");
            }
            if at != model.image.len() {
                assert!(split(&file[..at]).is_err(), "cut at {at}");
            }
        }
    }

    /// A checksum can be right and the content wrong anyway: nothing of it may panic.
    #[test]
    fn hostile_content_is_refused_or_harmless() {
        let (model, debug) = example();
        let payload = postcard::to_stdvec(&debug).unwrap();
        let step = Step { edge: EdgeId(0), inputs: vec![] };
        let mut refused = 0;
        for at in 0..payload.len() {
            for value in [0, 1, 2, 0x7f, 0xff, payload[at] ^ 1, payload[at].wrapping_add(7)] {
                let mut bad = payload.clone();
                bad[at] = value;
                let mut head = MAGIC.to_vec();
                head.extend(VERSION.to_le_bytes());
                head.extend([0, 0]);
                head.extend((bad.len() as u32).to_le_bytes());
                let crc = checksum(&head, &bad);
                let file = [&model.image, &head[..], &crc.to_le_bytes(), &bad].concat();
                match split(&file) {
                    Ok((_, debug)) => {
                        let debug = debug.unwrap();
                        let _ = compile(debug.compiled(), [0; 32], &Options::default());
                        let (property, steps) = (PropertyId(0), vec![step.clone(); 3]);
                        let trace = Trace::new(property, vec![(VarId(0), 1)], steps);
                        if let Some((_, back)) = &debug.simplified {
                            let _ = back.trace(&debug.cfa, &trace);
                            let _ = back.certificate(Certificate::default());
                        }
                    }
                    Err(_) => refused += 1,
                }
            }
        }
        assert!(refused > payload.len());
    }

    #[test]
    fn the_debug_part_of_another_model_is_refused() {
        let (model, debug) = example();
        let with = |change: fn(&mut Debug)| {
            let mut other = debug.clone();
            change(&mut other);
            split(&write(&model, &other)).map(|_| ()).unwrap_err()
        };
        assert_eq!(with(|d| d.source.push(' ')), DebugError::Mismatch("the sources"));
        assert_eq!(with(|d| d.map.edges.swap(0, 1)), DebugError::Mismatch("the edges"));
        assert_eq!(with(|d| d.map.bits.truncate(0)), DebugError::Malformed("the map".into()));
        let unknown = with(|d| d.map.bits[0].0 = VarId(7));
        assert_eq!(unknown, DebugError::Malformed("the map".into()));
    }
}
