//! An image with a certificate in it, and without.
//!
//! The certificate in an image is a claim in the image's numbers, for a device that checks it
//! instead of searching for a proof. Who packs one has proved it before; who reads one checks it.

use super::fewer::fewer;
use super::{AlignedImage, BlastError};
use vouch_core::certificate::{Check, Checker, Flaw};
use vouch_core::image::{BuildError, Image, ImageBuilder, ImageError, Preamble};
use vouch_core::word::Word;

/// A clause in the image's numbers: its location, and literals `2 * state bit + sign`.
pub type ImageClause = (usize, Vec<u32>);

/// Literals that are propagated between two looks at the result.
const SLICE: u32 = 1 << 20;
/// Literals that are propagated to make a certificate smaller, at most: some seconds.
const SEARCH: u64 = 1 << 25;
/// Bytes of memory that are tried before a certificate is too hard for devices.
const MOST: usize = 1 << 20;

/// What checking a certificate takes with the code that devices have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Bytes of the certificate in the image.
    pub table_bytes: usize,
    /// Bytes of memory besides the image.
    pub memory_bytes: usize,
    /// Literals that were propagated.
    pub propagations: u64,
}

/// The image with these clauses as its certificate, in place of one that it may have.
pub fn attach(image: &AlignedImage, clauses: &[ImageClause]) -> Result<AlignedImage, BlastError> {
    let mut certificate: Vec<(u32, Vec<u32>)> = vec![];
    for (location, lits) in clauses {
        let mut lits = lits.clone();
        lits.sort_unstable();
        certificate.push((u32::try_from(*location).map_err(|_| BlastError::TooLarge)?, lits));
    }
    certificate.sort();
    certificate.dedup();
    rebuild(image, certificate)
}

/// The same with [`fewer`] clauses, which suffice for these values of the parameters: as a device gets it.
pub fn attach_fewer(
    image: &AlignedImage,
    clauses: &[ImageClause],
    bindings: &[(u32, u64)],
) -> Result<AlignedImage, BlastError> {
    let bindings: Vec<(usize, u64)> = bindings.iter().map(|(p, v)| (*p as usize, *v)).collect();
    let clauses = match word(image).map_err(BlastError::Internal)? {
        2 => {
            let view = image.view::<u16>().map_err(BlastError::Internal)?;
            fewer(&view, clauses, &bindings, SEARCH)
        }
        _ => {
            let view = image.view::<u32>().map_err(BlastError::Internal)?;
            fewer(&view, clauses, &bindings, SEARCH)
        }
    };
    attach(image, &clauses)
}

/// The image without a certificate: what a device gets that is to search for a proof itself.
pub fn detach(image: &AlignedImage) -> Result<AlignedImage, BlastError> {
    rebuild(image, vec![])
}

fn rebuild(
    image: &AlignedImage,
    certificate: Vec<(u32, Vec<u32>)>,
) -> Result<AlignedImage, BlastError> {
    fn builder<W: Word>(image: &AlignedImage) -> Result<ImageBuilder, ImageError> {
        image.view::<W>().map(|view| ImageBuilder::of(&view))
    }
    let base = match word(image).map_err(BlastError::Internal)? {
        2 => builder::<u16>(image),
        _ => builder::<u32>(image),
    };
    let base = base.map_err(BlastError::Internal)?;
    let bytes = ImageBuilder { certificate, ..base }.build().map_err(|e| match e {
        BuildError::TooLarge { .. } => BlastError::TooLarge,
        BuildError::Invalid(why) => BlastError::Internal(why),
    })?;
    Ok(AlignedImage::new(&bytes))
}

fn word(image: &AlignedImage) -> Result<u8, ImageError> {
    Ok(Preamble::read(image)?.word)
}

/// The clauses of the image's certificate; `None` if it carries none. What is cut off is left out:
/// whoever believes none of them misses nothing.
pub fn clauses(image: &AlignedImage) -> Result<Option<Vec<ImageClause>>, ImageError> {
    fn of<W: Word>(image: &AlignedImage) -> Result<Option<Vec<ImageClause>>, ImageError> {
        Ok(image.view::<W>()?.certificate().map(|table| {
            let mut rest = table;
            let mut clauses = vec![];
            while let [location, len, tail @ ..] = rest
                && let Some((lits, tail)) = tail.split_at_checked(len.get())
            {
                clauses.push((location.get(), lits.iter().map(|l| l.get() as u32).collect()));
                rest = tail;
            }
            clauses
        }))
    }
    match word(image)? {
        2 => of::<u16>(image),
        _ => of::<u32>(image),
    }
}

/// Has the core's checker, which is what a device runs, check the image's certificate for all
/// properties, the parameters having these values.
pub fn check(image: &AlignedImage, bindings: &[(u32, u64)]) -> Result<(Check, Effort), ImageError> {
    match word(image)? {
        2 => check_view(&image.view::<u16>()?, bindings),
        _ => check_view(&image.view::<u32>()?, bindings),
    }
}

fn check_view<W: Word>(
    image: &Image<'_, W>,
    bindings: &[(u32, u64)],
) -> Result<(Check, Effort), ImageError> {
    let table = image.certificate().unwrap_or_default();
    let mut effort = Effort { table_bytes: size_of_val(table), memory_bytes: 0, propagations: 0 };
    let properties = 0..image.header.properties as usize;
    let mut checker = match Checker::new(image, table, properties) {
        Ok(checker) => checker,
        Err(flaw) => return Ok((Check::Invalid(flaw), effort)),
    };
    effort.memory_bytes = Checker::bytes(image, table);
    let bindings: Vec<(usize, u64)> = bindings.iter().map(|(p, v)| (*p as usize, *v)).collect();
    let mut memory = vec![0; effort.memory_bytes.div_ceil(4)];
    let result = loop {
        match checker.step(image, table, &bindings, &mut memory, SLICE) {
            Check::Running => {}
            // A device whose memory has room to spare does so as well.
            Check::Capacity if effort.memory_bytes < MOST => {
                effort.memory_bytes *= 2;
                memory = vec![0; effort.memory_bytes.div_ceil(4)];
                checker.restart(image, table, effort.memory_bytes);
            }
            result => break result,
        }
    };
    effort.propagations = checker.propagations();
    Ok((result, effort))
}

/// What is wrong with a certificate, for people.
pub fn describe(flaw: Flaw) -> String {
    match flaw {
        Flaw::Malformed(at) => format!("its record at word {at} is malformed"),
        Flaw::Initial => "it restricts the initial location".into(),
        Flaw::Error(p) => format!("it does not exclude property number {p}"),
        Flaw::Edge(e) => format!("edge number {e} leads out of the invariant"),
    }
}
