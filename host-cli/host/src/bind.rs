//! A proof is of one program. Its image is bound to the bytes of that program that it depends on, so that a device
//! can tell whether it runs just these; here the same is told of an ELF file.

use crate::blast::code::Piece;
use crate::blast::{AlignedImage, BlastError};
use crate::frontend::Diagnostic;
use crate::frontend::elf::flashed::{self, LIFTER, NOT_LIFTED};
use crate::frontend::elf::isa::Isa;
use crate::frontend::elf::linked::{self, Located};
use crate::frontend::elf::reader::{Elf, Unreadable};
use crate::frontend::elf::{Binary, Cell, Slot};
use crate::frontend::origin::Parts;
use crate::ir::{self, LocId, VarId};
use crate::pipeline::{LoadError, Loaded, Origin};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use std::fmt;
use vouch_core::image::{self, BuildError, Image, ImageBuilder, ImageError, Place, Preamble};
use vouch_core::image::{ProgramSpec, Span};
use vouch_core::word::Word;

/// What is to be bound.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Wanted {
    /// Functions, objects and sections besides those that the automaton depends on.
    pub cover: Vec<String>,
    /// Whether the image tells where the variables lie in RAM.
    pub places: bool,
    /// The program that a model was compiled into which was made of its source text.
    pub program: Option<Vec<u8>>,
}

/// What of a program a model represents.
struct Code {
    elf: Elf,
    lifter: u32,
    entry: u32,
    parts: Vec<flashed::Part>,
    /// Where the model is between two steps, and where its variables lie in RAM then.
    steps: Vec<u32>,
    places: Vec<Place>,
}

/// Binds a model to the program that it was lifted from, or that its source text was compiled into. One that has no program stays as it is.
pub fn bind(model: &mut Loaded, wanted: &Wanted) -> Result<(), LoadError> {
    let wrong = |diagnostics| LoadError::Source { text: model.source.clone(), diagnostics };
    let code = match (&model.origin, &wanted.program) {
        (Origin::Program(binary), _) => lifted(model, binary, wanted).map_err(wrong)?,
        (Origin::Source(parts), Some(file)) => {
            compiled(model, parts, file, wanted).map_err(wrong)?
        }
        _ => return Ok(()),
    };
    let (spans, bytes) = flashed::spans(&code.parts);
    let span = |span: std::ops::Range<u32>| Span { start: span.start, len: span.end - span.start };
    let spec = ProgramSpec {
        isa: match code.elf.isa {
            Isa::V6m => image::Isa::Armv6M,
            Isa::V7m => image::Isa::Armv7M,
            Isa::Rv32 => image::Isa::Rv32Imac,
        },
        lifter: code.lifter,
        entry: code.entry,
        hash: Sha256::digest(&bytes).into(),
        spans: spans.into_iter().map(span).collect(),
        steps: code.steps,
        places: code.places,
    };
    let broken = |error| LoadError::Compile { path: model.source.path.clone(), error };
    let image = attach(&model.image, spec).map_err(broken)?;
    let piece = |part: &flashed::Part| Piece {
        name: part.name.clone(),
        start: part.start,
        len: part.bytes.len() as u32,
        hash: Sha256::digest(&part.bytes).into(),
    };
    model.code = code.parts.iter().map(piece).collect();
    model.image = image;
    Ok(())
}

/// What a model was lifted from.
fn lifted(model: &Loaded, binary: &Binary, wanted: &Wanted) -> Result<Code, Vec<Diagnostic>> {
    let Binary { file, program } = binary;
    let elf = read(file).map_err(diagnostics)?;
    let parts = flashed::parts(&elf, &program.spans, &program.ram, &wanted.cover)?;
    let in_ram = |var: VarId| Some((in_ram(binary, var)?, 0));
    let (steps, places) = match program.step {
        Some(step) if wanted.places => places(model, step, &in_ram),
        _ => (vec![], vec![]),
    };
    Ok(Code { elf, lifter: LIFTER, entry: program.entry, parts, steps, places })
}

/// What a compiler has made of the text that a model is of.
fn compiled(
    model: &Loaded,
    source: &Parts,
    file: &[u8],
    wanted: &Wanted,
) -> Result<Code, Vec<Diagnostic>> {
    let elf = read(file).map_err(diagnostics)?;
    let Located { entry, spans, ram } = linked::locate(&elf, source, &wanted.cover)?;
    let parts = flashed::parts(&elf, &spans, &ram, &wanted.cover)?;
    let (mut steps, mut pieces) = (vec![], vec![]);
    if wanted.places {
        let Some((step, live)) = source.step.and_then(|step| Some((step, live(model, step)?.1)))
        else {
            let what = "there are no steps between which a guard could look";
            return Err(diagnostics((
                what.into(),
                "the entry is called again and again with `--loop`",
            )));
        };
        let bit = |bit: &u32| model.map.bits.get(*bit as usize).map(|(var, _)| *var);
        let live: BTreeSet<VarId> = live.iter().filter_map(bit).collect();
        let addresses = linked::addresses(&elf, source, &|var| live.contains(&var))?;
        (steps, pieces) = places(model, step, &|var| addresses.get(&var).copied());
    }
    Ok(Code { elf, lifter: NOT_LIFTED, entry, parts, steps, places: pieces })
}

fn diagnostics((what, help): (String, &'static str)) -> Vec<Diagnostic> {
    vec![Diagnostic::error(what, ir::Span::default(), "").help(help)]
}

fn read(file: &[u8]) -> Result<Elf, (String, &'static str)> {
    Elf::read(file).map_err(|Unreadable(what, help)| (what, help))
}

/// The image with what it says of the program.
fn attach(image: &AlignedImage, spec: ProgramSpec) -> Result<AlignedImage, BlastError> {
    fn builder<W: Word>(image: &AlignedImage) -> Result<ImageBuilder, ImageError> {
        image.view::<W>().map(|view| ImageBuilder::of(&view))
    }
    let base = match Preamble::read(image).map_err(BlastError::Internal)?.word {
        2 => builder::<u16>(image),
        _ => builder::<u32>(image),
    };
    let base = base.map_err(BlastError::Internal)?;
    let bytes = ImageBuilder { program: Some(spec), ..base }.build().map_err(|e| match e {
        BuildError::TooLarge { .. } => BlastError::TooLarge,
        BuildError::Invalid(why) => BlastError::Internal(why),
    })?;
    Ok(AlignedImage::new(&bytes))
}

/// The number of a location in the image, and the bits that matter there.
fn live(model: &Loaded, location: LocId) -> Option<(u32, &Vec<u32>)> {
    let at = model.map.locations.iter().position(|l| *l == location)?;
    Some((at as u32, model.map.live.get(at)?))
}

/// The location between two steps in the image, and where its variables lie in RAM then, by the address of each and its first bit
/// there. Nothing if a pass has changed what its bits are.
fn places(
    model: &Loaded,
    step: LocId,
    address: &dyn Fn(VarId) -> Option<(u32, u32)>,
) -> (Vec<u32>, Vec<Place>) {
    let at_step = live(model, step).filter(|_| model.simplified.back.keeps_variables());
    let Some((step, live)) = at_step else { return (vec![], vec![]) };
    let mut places: Vec<Place> = vec![];
    for bit in live {
        let Some((var, of_var)) = model.map.bits.get(*bit as usize).copied() else { continue };
        let Some((start, first)) = address(var) else { continue };
        let at = first + of_var;
        let (address, shift) = (start.saturating_add(at / 8), (at % 8) as u8);
        match places.last_mut() {
            Some(last) if continues(last, address, shift, *bit) => last.bits += 1,
            _ => places.push(Place { address, shift, first_bit: *bit, bits: 1 }),
        }
    }
    (vec![step], places)
}

/// Where a variable lies, if it is in RAM.
fn in_ram(binary: &Binary, var: VarId) -> Option<u32> {
    match binary.program.slots.get(var.index())? {
        Slot::Memory(Cell::Ram(start), _) => Some(*start),
        _ => None,
    }
}

/// Whether a bit is the next one of a place.
fn continues(last: &Place, address: u32, shift: u8, bit: u32) -> bool {
    let end = u64::from(last.address) * 8 + u64::from(last.shift) + u64::from(last.bits);
    let is_next = end == u64::from(address) * 8 + u64::from(shift);
    last.bits < 64 && is_next && last.first_bit + u32::from(last.bits) == bit
}

/// What an image says of its program; nothing if it is not bound to one.
pub fn program(image: &AlignedImage) -> Result<Option<ProgramSpec>, ImageError> {
    fn of<W: Word>(view: &Image<'_, W>) -> Option<ProgramSpec> {
        view.program().map(|program| ProgramSpec::of(&program))
    }
    Ok(match Preamble::read(image)?.word {
        2 => of(&image.view::<u16>()?),
        _ => of(&image.view::<u32>()?),
    })
}

/// A piece of flash that is not what it was.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Name of the function or object, as in the symbol table of the program it was compiled from.
    pub name: String,
    /// Where it was.
    pub start: u32,
    /// How many bytes it had.
    pub len: u32,
    /// Where it is now, unchanged.
    pub moved: Option<u32>,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference { name, start, len, moved } = self;
        write!(f, "`{name}` ({len} bytes at {start:#010x})")?;
        match moved {
            Some(to) => write!(f, " was moved to {to:#010x}"),
            None => write!(f, " has other bytes"),
        }
    }
}

/// Why an image is not of a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Other {
    /// The image is not bound to a program.
    Unbound,
    /// The file is not a program; a way out.
    NotAProgram(String, &'static str),
    /// These pieces of it differ, as far as they have names.
    Differs(Vec<Difference>),
}

impl fmt::Display for Other {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Other::Unbound => f.write_str(
                "the image is not bound to a program\n\
                 help: compile it from the linked program, `vouch compile FIRMWARE.elf --entry STEP`, or from its \
                 source with `--elf FIRMWARE.elf`",
            ),
            Other::NotAProgram(what, help) => write!(f, "{what}\nhelp: {help}"),
            Other::Differs(pieces) => {
                f.write_str("the image is of another program: devices with this one refuse it (CodeDiffers)")?;
                for piece in pieces {
                    write!(f, "\n  {piece}")?;
                }
                f.write_str(
                    "\nhelp: compile the image again from the program that is flashed, or flash the program that it \
                     was compiled from",
                )
            }
        }
    }
}

/// Whether the program in a file is the one that the image is bound to, byte for byte where it matters.
pub fn compare(spec: Option<&ProgramSpec>, code: &[Piece], file: &[u8]) -> Result<(), Other> {
    let spec = spec.ok_or(Other::Unbound)?;
    let elf = read(file).map_err(|(what, help)| Other::NotAProgram(what, help))?;
    let spans = spec.spans.iter().map(|span| elf.in_flash(span.start, span.len));
    let bytes: Option<Vec<Vec<u8>>> = spans.collect();
    let hash: Option<[u8; 32]> = bytes.map(|bytes| Sha256::digest(bytes.concat()).into());
    if hash == Some(spec.hash) {
        return Ok(());
    }
    let is_same = |piece: &Piece, start: u32| {
        elf.in_flash(start, piece.len).is_some_and(|b| Sha256::digest(b)[..] == piece.hash)
    };
    let differing = code.iter().filter(|piece| !is_same(piece, piece.start)).map(|piece| {
        let symbol = elf.functions().chain(elf.objects()).find(|s| s.shown() == piece.name);
        let moved = symbol.and_then(|s| Some(elf.flashed(s.start..s.end)?.0));
        let moved = moved.filter(|start| is_same(piece, *start));
        let Piece { name, start, len, .. } = piece.clone();
        Difference { name, start, len, moved }
    });
    Err(Other::Differs(differing.collect()))
}
