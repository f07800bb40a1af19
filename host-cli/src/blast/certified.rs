//! An image with a certificate in it, and without.
//!
//! The certificate in an image is a claim in the image's numbers, for a device that checks it
//! instead of searching for a proof. Who packs one has proved it before; who reads one checks it.

use super::{AlignedImage, BlastError};
use vouch_core::certificate::{Check, Checker, Flaw};
use vouch_core::image::{BuildError, Image, ImageBuilder, ImageError, Preamble};
use vouch_core::word::Word;

/// A clause in the image's numbers: its location, and literals `2 * state bit + sign`.
pub type ImageClause = (usize, Vec<u32>);

/// Literals that are propagated between two looks at the result.
const SLICE: u32 = 1 << 20;
/// Bytes of memory that are tried before a certificate is too hard for devices.
const MOST: usize = 1 << 20;

/// What checking a certificate takes with the code that devices have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Effort {
    /// Bytes of the certificate in the image.
    pub table_bytes: usize,
    /// Bytes of memory beside the image.
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
                checker.widen(image, table, effort.memory_bytes);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engines::{Engine, Setup};
    use crate::frontend::{Language, Source};
    use crate::pipeline;

    /// `x` counts to a bound that the parameter gives; 5 is never exceeded if it is 5.
    const SOURCE: &str = "
        machine counter {
            param bound: u3 in 3..=6;
            var x: u3 = 0;
            initial state Run { on x < bound -> Run { x += 1; } else -> Rest; }
            state Rest { on true -> Run { x = 0; } }
            property low: always x <= 5;
            property below_seven: always x != 7;
        }";

    fn image() -> AlignedImage {
        let source = Source { path: "x.vch".into(), text: SOURCE.into() };
        pipeline::compile(source, Language::Vch, &pipeline::Options::default()).unwrap().image
    }

    fn proof(image: &AlignedImage, bindings: &[(u32, u64)]) -> Vec<ImageClause> {
        let setup = Setup { bindings: bindings.to_vec(), ..Setup::default() };
        Engine::Ic3Cfa.run(image, &setup, &mut |_| true).unwrap().clauses
    }

    #[test]
    fn what_is_attached_is_read_checked_and_detached() {
        let bare = image();
        let bound = [(0, 5)];
        let mut claims = proof(&bare, &bound);
        let certified = attach(&bare, &claims).unwrap();
        assert_eq!(clauses(&bare), Ok(None));
        claims.iter_mut().for_each(|c| c.1.sort());
        claims.sort();
        assert_eq!(clauses(&certified), Ok(Some(claims)));
        assert_eq!(detach(&certified).unwrap(), bare);
        let (check_bound, effort) = check(&certified, &bound).unwrap();
        assert_eq!(check_bound, Check::Valid);
        assert!(effort.table_bytes > 0 && effort.memory_bytes > 0 && effort.propagations > 0);
        // For other values, or for all, it proves nothing.
        assert!(matches!(check(&certified, &[(0, 6)]).unwrap().0, Check::Invalid(Flaw::Edge(_))));
        assert!(matches!(check(&certified, &[]).unwrap().0, Check::Invalid(Flaw::Edge(_))));
        assert_eq!(check(&bare, &bound).unwrap().0, Check::Invalid(Flaw::Error(0)));
    }

    #[test]
    fn a_weakened_certificate_is_not_believed() {
        let bare = image();
        let claims = proof(&bare, &[(0, 5)]);
        let mut refused = 0;
        for left_out in 0..claims.len() {
            let mut fewer = claims.clone();
            fewer.remove(left_out);
            let (result, _) = check(&attach(&bare, &fewer).unwrap(), &[(0, 5)]).unwrap();
            assert!(matches!(result, Check::Valid | Check::Invalid(_)));
            refused += (result != Check::Valid) as usize;
        }
        assert!(refused >= 2, "each error location must be excluded at least");
    }

    #[test]
    fn nonsense_is_refused_without_a_panic() {
        let bare = image();
        for bad in [
            vec![(99, vec![])],
            vec![(0, vec![])],
            vec![(1, vec![0, 1])],
            vec![(1, vec![u16::MAX as u32 * 2])],
            vec![(1, (0..40).collect())],
        ] {
            let image = attach(&bare, &bad).unwrap();
            assert!(matches!(check(&image, &[]).unwrap().0, Check::Invalid(_)), "{bad:?}");
        }
    }
}
