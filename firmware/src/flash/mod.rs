//! The boards' flash, as much of it as is set aside for models: [`models`] over the board's controller.

#[cfg(feature = "lm3s6965evb")]
mod fmc;
#[cfg(not(feature = "mps2-an386"))]
mod models;
#[cfg(feature = "microbit")]
mod nvmc;

#[cfg(feature = "lm3s6965evb")]
pub use fmc::Fmc;
#[cfg(not(feature = "mps2-an386"))]
pub use models::{Controller, ModelFlash};
#[cfg(feature = "microbit")]
pub use nvmc::Nvmc;
