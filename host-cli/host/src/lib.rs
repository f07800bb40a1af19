//! # vouch
//!
//! The host side. Data flows one way:
//! `frontend` → [`ir`] → `simplify` → `blast` → image → device or host engine → `decode` → `validate` → `report`.
//!
//! [`pipeline`] goes from a file to an image, [`judge`] from an engine's answer to a verdict that may
//! be shown. [`check`] is what programs call: it has an engine or a device check a model, and judges
//! the answer. The commands of the `vouch` program that prove something are written with it.
#![deny(unsafe_code)]

pub use vouch_compile::{blast, decode, gates, simplify};
pub use vouch_frontends as frontend;
pub use vouch_ir as ir;
pub use vouch_ir::{deadline, escape, formats, read};
pub use vouch_validate as validate;

pub mod answer;
pub mod bind;
pub mod check;
pub mod client;
pub mod conditions;
pub mod conform;
pub mod engines;
pub mod explain;
pub mod export;
pub mod glue;
pub mod judge;
mod keywords;
pub mod lint;
pub mod log;
pub mod memory;
pub mod pipeline;
pub mod project;
pub mod replay;
pub mod report;
pub mod rig;
pub mod seed;
pub mod shortest;
pub mod signing;
pub mod simulate;
pub mod suite;
pub mod sweep;
pub mod transport;
pub mod verdict;
pub mod walk;
pub mod words;
pub mod write;
