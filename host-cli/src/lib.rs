//! # vouch
//!
//! The host side. Data flows one way:
//! `frontend` → [`ir`] → `blast` → image → device or host engine → `decode` → `validate` → `report`.
#![deny(unsafe_code)]

pub mod blast;
pub mod decode;
pub mod device;
pub mod formats;
pub mod frontend;
pub mod ir;
pub mod log;
pub mod report;
pub mod transport;
pub mod validate;
