//! The only module that may use `unsafe`: registers, linker symbols, the heap's region, the logger's
//! state and the fault handlers. Everything it exports is safe to call.
#![allow(unsafe_code)]

mod fault;
#[cfg(not(feature = "microbit"))]
pub mod guard;
mod logger;
pub mod memory;
#[cfg(feature = "microbit")]
pub mod nvmc;
mod register;
mod spin;
pub mod stack;
#[cfg(not(feature = "microbit"))]
pub mod systick;

pub use register::Register;
pub use spin::spin;
