//! # vouch
//!
//! The host side. Data flows one way:
//! `frontend` → [`ir`] → `blast` → image → device or host engine → `decode` → `validate` → `report`.
//!
//! [`pipeline`] goes from a file to an image, [`judge`] from an engine's answer to a verdict that may
//! be shown; the commands of the `vouch` program are written with the two.
#![deny(unsafe_code)]

pub mod blast;
pub mod deadline;
pub mod decode;
pub mod device;
pub mod engines;
pub mod escape;
pub mod export;
pub mod formats;
pub mod frontend;
pub mod gates;
pub mod ir;
pub mod judge;
pub mod lint;
pub mod log;
pub mod memory;
pub mod pipeline;
pub mod read;
pub mod report;
pub mod signing;
pub mod simplify;
pub mod transport;
pub mod validate;
pub mod write;
