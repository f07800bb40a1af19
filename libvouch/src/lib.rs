//! vouch for products in C: `include/vouch_device.h` says what there is.
//!
//! - `raw`: what C passes becomes what Rust knows. All unsafe code is there, each block with its reason.
//! - `boot`: the self-check at boot.
//! - `certificate`: the checker alone.
//! - `guard`: the live state, held against the proven invariant.
//! - `store`: models in flash.
#![no_std]
#![deny(unsafe_code)]

mod boot;
mod certificate;
mod guard;
mod raw;
mod store;

/// Nothing that C passes should lead here; what then happens is the product's choice.
#[panic_handler]
fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
    raw::panic()
}
