//! # vouch-device
//!
//! The part of vouch that a product embeds in its own firmware, around `vouch-core`:
//!
//! - [`package`]: a model image with a signed header, as it is sent to a device and stored there.
//! - [`store`]: two slots in flash. An update never touches the model in use; a power cut at any
//!   moment leaves the old model or the new one.
//! - [`trial`]: whether an update counts.
//! - [`keys`]: the page with the public keys and the counter that keeps old models out.
//! - [`signature`]: Ed25519, and [`harden`]: results that one skipped instruction does not forge.
//! - [`boot`]: the self-check of the stored model with the parameters that the device has.
//! - [`code`]: whether the code in flash is the one that the model was lifted from.
//! - [`live`]: the guard that reads the program's own variables.
//! - [`record`]: the last verdict, kept over a warm reset.
//! - [`ram`]: flash in memory, for boards and simulations without a flash controller.
//!
//! No allocation, no `unsafe`, no I/O but through `embedded-storage`.
//!
//! A model is stored, selected at boot, and checked before anything starts:
//!
//! ```
//! use vouch_core::image::Image;
//! use vouch_device::boot::{self, Decision, SelfCheck};
//! use vouch_device::ram::RamFlash;
//! use vouch_device::{Header, Store, Trust};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // A product has flash of its own, and takes only what is signed.
//! let mut store = Store::new(RamFlash::new(vec![u32::MAX; 4096]), Trust::AllowUnsigned);
//! # let model = include_bytes!("control.vimg");
//! let head = Header::unsigned(model, 1).to_bytes();
//! store.begin_update(&head)?;
//! store.write_update(head.len() as u32, model)?;
//! store.finish_update()?;
//!
//! // At the next boot: which model, and does it hold here?
//! let stored = store.select()?;
//! let image = Image::<u16>::new_hashed(store.image(&stored))?;
//! let mut memory = vec![0; 4096];
//! let outcome = boot::check(&image, &SelfCheck::default(), &mut memory, &mut || {});
//! // This one breaks its property: it is not started.
//! assert_eq!(outcome.decision, Decision::Refuse);
//! assert!(outcome.start(|permit| permit.confirm()).is_none());
//! # Ok(())
//! # }
//! ```
#![no_std]
#![deny(unsafe_code)]

mod block;
pub mod boot;
pub mod code;
mod control;
pub mod harden;
mod hash;
pub mod keys;
pub mod live;
pub mod package;
mod product;
pub mod ram;
pub mod record;
pub mod signature;
mod slot;
pub mod store;
pub mod trial;
mod update;

pub use package::{Header, Release, Trust};
pub use store::{MappedFlash, Store, Stored};
pub use trial::Trial;
