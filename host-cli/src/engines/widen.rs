//! The same image with 32-bit words.
//!
//! Clauses and obligations are addressed with words of the image's width. An image that fits into
//! 16-bit words, as devices want it, therefore leaves most of a large arena unused.

use vouch_core::image::{
    BuildError, EdgeSpec, Image, ImageBuilder, LocationSpec, ParamSpec, PropertySpec,
};
use vouch_core::word::Word;

/// The bytes of `image` with wide words. All numbers in it stay the same.
pub fn widen<W: Word>(image: &Image<'_, W>) -> Result<Vec<u8>, BuildError> {
    let numbers = |words: &[W]| words.iter().map(|w| w.get() as u32).collect::<Vec<u32>>();
    let location = |l| LocationSpec { live: numbers(image.location(l).live) };
    let edge = |e| {
        let edge = image.edge(e);
        EdgeSpec {
            from: edge.from as u32,
            to: edge.to as u32,
            inputs: edge.inputs as u32,
            gates: numbers(edge.gates).chunks_exact(3).map(|g| [g[0], g[1], g[2]]).collect(),
            guard: edge.guard.code() as u32,
            next: numbers(edge.next),
        }
    };
    let property = |p: vouch_core::image::PropertyRecord<'_>| PropertySpec {
        name: p.name.to_string(),
        error: p.error,
    };
    let param = |p: vouch_core::image::ParamRecord<'_>| ParamSpec {
        name: p.name.to_string(),
        first_bit: p.first_bit,
        width: p.width,
        min: p.min,
        max: p.max,
        signed: p.signed,
    };
    let builder = ImageBuilder {
        name: image.header.name.to_string(),
        source_hash: image.header.source_hash,
        state_bits: image.header.state_bits,
        locations: (0..image.locations()).map(location).collect(),
        edges: (0..image.edges()).map(edge).collect(),
        properties: image.properties().map(property).collect(),
        params: image.params().map(param).collect(),
    };
    builder.build_as::<u32>()
}
