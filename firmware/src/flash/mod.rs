//! The boards' flash, as much of it as is set aside for models: [`models`] over the board's controller.

#[cfg(feature = "lm3s6965evb")]
mod fmc;
#[cfg(any(feature = "mps2-an386", feature = "riscv-virt"))]
mod memory;
mod models;
#[cfg(any(feature = "microbit", feature = "nrf52840"))]
mod nvmc;
#[cfg(feature = "stm32f411")]
mod stm32f4;

#[cfg(feature = "lm3s6965evb")]
pub use fmc::Fmc;
#[cfg(any(feature = "mps2-an386", feature = "riscv-virt"))]
pub use memory::{MemoryFlash, in_memory};
pub use models::{Controller, ModelFlash, wait_while};
#[cfg(any(feature = "microbit", feature = "nrf52840"))]
pub use nvmc::Nvmc;
#[cfg(feature = "stm32f411")]
pub use stm32f4::Stm32f4;
