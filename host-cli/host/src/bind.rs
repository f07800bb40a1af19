//! A proof is of one program. Its image is bound to the bytes of that program that it depends on, so that a device
//! can tell whether it runs just these; here the same is told of an ELF file.

use crate::blast::code::Piece;
use crate::blast::{AlignedImage, BlastError};
use crate::frontend::Diagnostic;
use crate::frontend::elf::flashed::{self, LIFTER};
use crate::frontend::elf::isa::Isa;
use crate::frontend::elf::reader::{Elf, Unreadable};
use crate::frontend::elf::{Binary, Cell, Slot};
use crate::ir::{self, VarId};
use crate::pipeline::{LoadError, Loaded, Origin};
use crate::simplify::Back;
use sha2::{Digest, Sha256};
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
}

/// Binds a model to the program that it was lifted from. One that was not lifted from a program stays as it is.
pub fn bind(model: &mut Loaded, wanted: &Wanted) -> Result<(), LoadError> {
    let Origin::Program(binary) = &model.origin else { return Ok(()) };
    let Binary { file, program } = &**binary;
    let source = &model.source;
    let wrong = |diagnostics| LoadError::Source { text: source.clone(), diagnostics };
    let elf = read(file).map_err(|(what, help)| {
        wrong(vec![Diagnostic::error(what, ir::Span::default(), "").help(help)])
    })?;
    let parts = flashed::parts(&elf, program, &wanted.cover).map_err(wrong)?;
    let (spans, bytes) = flashed::spans(&parts);
    let span = |span: std::ops::Range<u32>| Span { start: span.start, len: span.end - span.start };
    let (steps, places) = if wanted.places { places(model, binary) } else { (vec![], vec![]) };
    let spec = ProgramSpec {
        isa: match elf.isa {
            Isa::V6m => image::Isa::Armv6M,
            Isa::V7m => image::Isa::Armv7M,
            Isa::Rv32 => image::Isa::Rv32Imac,
        },
        lifter: LIFTER,
        entry: program.entry,
        hash: Sha256::digest(&bytes).into(),
        spans: spans.into_iter().map(span).collect(),
        steps,
        places,
    };
    let broken = |error| LoadError::Compile { path: source.path.clone(), error };
    let image = attach(&model.image, spec).map_err(broken)?;
    let piece = |part: &flashed::Part| Piece {
        name: part.name.clone(),
        start: part.start,
        len: part.bytes.len() as u32,
        hash: Sha256::digest(&part.bytes).into(),
    };
    model.code = parts.iter().map(piece).collect();
    model.image = image;
    Ok(())
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

/// Where a model is between two steps, and where its variables lie in RAM then. Nothing if it was simplified: then its
/// bits are not those of the program.
fn places(model: &Loaded, binary: &Binary) -> (Vec<u32>, Vec<Place>) {
    let at_step = binary.program.step.and_then(|step| {
        let at = model.map.locations.iter().position(|location| *location == step)?;
        Some((at as u32, model.map.live.get(at)?))
    });
    let Some((step, live)) = at_step.filter(|_| model.simplified.back == Back::default()) else {
        return (vec![], vec![]);
    };
    let mut places: Vec<Place> = vec![];
    for bit in live {
        let Some((var, of_var)) = model.map.bits.get(*bit as usize).copied() else { continue };
        let Some(start) = in_ram(binary, var) else { continue };
        let (address, shift) = (start + of_var / 8, (of_var % 8) as u8);
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
    /// Its name.
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
                 help: compile it from the linked program: `vouch compile FIRMWARE.elf --entry STEP`",
            ),
            Other::NotAProgram(what, help) => write!(f, "{what}\nhelp: {help}"),
            Other::Differs(pieces) => {
                f.write_str("the image is of another program: devices with this one refuse it (CodeDiffers)")?;
                for piece in pieces {
                    write!(f, "\n  {piece}")?;
                }
                f.write_str(
                    "\nhelp: compile the image anew from the program that is flashed, or flash the program that it \
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
