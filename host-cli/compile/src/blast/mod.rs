//! Bit-blasting: each edge of the automaton becomes a network of gates ([`crate::gates`]) in a model image.
//!
//! - [`pack`]: the cones of each edge, renumbered, into an image.
//! - [`map`]: what the image's numbers mean.
//! - [`certified`]: an image with a certificate in it, and without.
//! - [`fewer`]: certificates made small.
//! - [`aligned`]: an image in memory as the view wants it.
//! - [`code`]: the names of the code that an image is bound to.
//! - [`requirements`]: what the properties of an image cover.
//! - [`debug`]: what a `.vimg` file carries after the image so that verdicts can be explained.
//!
//! Equal automata give equal bytes: nothing depends on the order of a hash table.

pub mod aligned;
pub mod certified;
pub mod code;
pub mod debug;
pub mod fewer;
pub mod map;
pub mod pack;
pub mod requirements;

pub use aligned::AlignedImage;
pub use map::Map;

use crate::gates::{Gates, TooManyNodes};
use vouch_ir::Cfa;

/// Choices of a compilation.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Options {
    /// Give up when the gates of all edges together are more than this.
    pub max_nodes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { max_nodes: 1 << 24 }
    }
}

/// A compiled automaton.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Model {
    /// What a device gets.
    pub image: Vec<u8>,
    /// What the image's numbers mean.
    pub map: Map,
}

/// Why an automaton could not be compiled.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BlastError {
    /// The front end made a mistake.
    #[error("{0}")]
    IllFormed(String),
    /// A parameter does not fit the format.
    #[error("parameter {name} has {width} bits, but at most 64 can be bound on a device")]
    ParamTooWide {
        /// The parameter's name in the source.
        name: String,
        /// The parameter's width in bits.
        width: u32,
    },
    /// The gates are too many to build.
    #[error(
        "the model needs more than {limit} gates; use narrower types, or fewer multiplications, \
         divisions and shifts by variable amounts"
    )]
    TooManyGates {
        /// How many are allowed.
        limit: usize,
    },
    /// The image is too large for its format.
    #[error("the model is too large for an image, whose tables are limited to 4 GiB")]
    TooLarge,
    /// The compiler made a mistake.
    #[error("the compiler built an image that its own check refuses ({0}): please report this")]
    Internal(vouch_core::image::ImageError),
}

/// Compiles `cfa` into an image. `source_hash` is the SHA-256 of the source text.
pub fn compile(cfa: &Cfa, source_hash: [u8; 32], options: &Options) -> Result<Model, BlastError> {
    cfa.check().map_err(BlastError::IllFormed)?;
    if let Some(p) = cfa.properties.iter().find(|p| p.error.index() >= cfa.locations.len()) {
        let why = format!("the error location of {} does not exist", p.name);
        return Err(BlastError::IllFormed(why));
    }
    let gates = Gates::of(cfa, options.max_nodes)
        .map_err(|_: TooManyNodes| BlastError::TooManyGates { limit: options.max_nodes })?;
    pack::pack(cfa, source_hash, &gates)
}
