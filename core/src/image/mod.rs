//! The model image: what the host compiles and the device checks (`docs/formats/image.md`).
//!
//! An image is a preamble, a postcard header and fixed-width little-endian tables that are read in
//! place. [`Image::new_checked`] validates all of it once: code that has an [`Image`] may index
//! without further checks, and may rely on the invariants below.
//!
//! - Location 0 is initial and has no incoming edge; an error location has no outgoing edge and no
//!   live bits.
//! - An edge's variables are, in this order: the constant true, one for each live bit of the source
//!   location, its inputs, its gates. A gate reads only variables before its own.
//! - A gate is `if s then t else e` over three literals. AND is `(a, b, false)`, XOR `(a, !b, b)`.
//! - The fan-out lists are exactly the inverse of the gates' operands; the in-edge lists are exactly
//!   the inverse of the edges' targets. The solver's completeness, and so soundness, rests on both.
//!
//! An image may carry a certificate. It is the one part that is not validated here: it is a claim,
//! which [`crate::certificate`] checks with all that it takes.

mod check;
mod header;
mod program;
mod view;
#[cfg(feature = "writer")]
mod writer;

pub use header::{
    Header, ImageError, PREAMBLE_LEN, ParamRecord, Preamble, PropertyRecord, Section, Table,
    VERSION, VERSION_UNBOUND,
};
pub use program::{Isa, Place, Program, Span};
pub use view::{Edge, Image, Location};
#[cfg(feature = "writer")]
pub use writer::{
    BuildError, EdgeSpec, ImageBuilder, LocationSpec, ParamSpec, ProgramSpec, PropertySpec,
};
