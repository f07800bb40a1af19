//! # vouch-compile
//!
//! From an automaton to an image, and from an answer in the image's numbers back to the automaton:
//! [`simplify`] → [`blast`], which uses [`gates`], → image → engine → [`decode`] → [`simplify::back`].
#![deny(unsafe_code)]

pub mod blast;
pub mod decode;
pub mod gates;
pub mod simplify;
