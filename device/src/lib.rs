//! # vouch-device
//!
//! The part of vouch that a product embeds in its own firmware, around `vouch-core`:
//!
//! - [`package`]: a model image with a signed header, as it is sent to a device and stored there.
//! - [`store`]: two slots in flash. An update never touches the model in use; a power cut at any
//!   moment leaves the old model or the new one.
//! - [`keys`]: the page with the public keys and the counter that keeps old models out.
//! - [`signature`]: Ed25519, and [`harden`]: results that one skipped instruction does not forge.
//! - [`boot`]: the self-check of the stored model with the parameters that the device has.
//! - [`record`]: the last verdict, kept over a warm reset.
//! - [`ram`]: flash in memory, for boards and simulations without a flash controller.
//!
//! No allocation, no `unsafe`, no I/O but through `embedded-storage`.
#![no_std]
#![deny(unsafe_code)]

mod block;
pub mod boot;
mod control;
pub mod harden;
pub mod keys;
pub mod package;
pub mod ram;
pub mod record;
pub mod signature;
mod slot;
pub mod store;
mod update;

pub use package::{Header, Trust};
pub use store::{MappedFlash, Store, Stored};
