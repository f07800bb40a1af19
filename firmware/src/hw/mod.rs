//! The only module that may use `unsafe`: registers, linker symbols, the heap's region, the logger's
//! state and what depends on the processor ([`arm`], [`riscv`]). Everything it exports is safe to call.
#![allow(unsafe_code)]

#[cfg(target_arch = "arm")]
mod arm;
mod logger;
pub mod memory;
#[cfg(feature = "nrf52840")]
mod nrf_usb;
mod panic;
#[cfg(any(feature = "microbit", feature = "nrf52840", feature = "stm32f411"))]
pub mod program;
mod register;
#[cfg(target_arch = "riscv32")]
mod riscv;
#[cfg(feature = "rtt")]
pub mod rtt;
pub mod stack;
#[cfg(feature = "stm32f411")]
mod stm_usb;
#[cfg(feature = "usb")]
pub mod usb;

#[cfg(target_arch = "arm")]
pub use arm::{STACK_PAINT, guard, reset, spin, systick};
pub use register::Register;
#[cfg(target_arch = "riscv32")]
pub use riscv::{STACK_PAINT, counter, reset, spin, start};
