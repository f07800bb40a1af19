//! # vouch
//!
//! The host side. Data flows one way:
//! `frontend` → [`ir`] → `blast` → image → device or host engine → `decode` → `validate` → `report`.
#![deny(unsafe_code)]

pub mod ir;
