//! # vouch-core
//!
//! The part of vouch that runs on the device: it proves that no reachable state of a control flow
//! automaton breaks a property, or finds a run that does, in memory that the caller gives it.
//!
//! [`ic3`], [`certificate`], [`guard`] and [`link::frame`] have examples. A tour from the bottom up:
//!
//! - [`word`], [`lit`]: storage width and literals.
//! - [`image`]: the compiled model. Validated once, then borrowed and read in place.
//! - [`rules`]: what the soundness of a verdict rests on.
//! - `arena`: one block of bytes divided into typed regions by a plan.
//! - `sat`: a CDCL solver over an edge's gates (read from the image) and clauses (in the arena).
//! - [`ic3`]: IC3 on control flow automata over `sat`.
//! - [`certificate`]: re-checks an inductive invariant; needs `sat`, not [`ic3`].
//! - [`guard`]: the proven invariant, and the model's steps, checked on the live state.
//! - [`walk`]: steps from random states of a proven invariant, to see whether they leave it.
//! - [`link`]: framing and messages between host and device.
//! - [`session`]: the device's side of a dialogue, without I/O.
//!
//! Deliberately absent: allocation, `unsafe`, recursion of unbounded depth, and any knowledge of
//! source languages. A run that does not fit ends in `Unknown(Capacity)`, one that takes too long in
//! `Unknown(Budget)`.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "writer")]
extern crate alloc;

// Public for the tests of the workspace; not part of the interface.
#[doc(hidden)]
pub mod arena;
pub mod certificate;
pub mod guard;
#[cfg(feature = "ic3")]
pub mod ic3;
pub mod image;
pub mod link;
pub mod lit;
pub mod rules;
#[doc(hidden)]
pub mod sat;
#[cfg(feature = "ic3")]
pub mod session;
pub mod walk;
pub mod word;
