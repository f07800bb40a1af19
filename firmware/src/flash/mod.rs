//! The boards' flash, as much of it as is set aside for models: [`models`] over the board's controller.

#[cfg(feature = "lm3s6965evb")]
mod fmc;
mod models;
#[cfg(feature = "microbit")]
mod nvmc;

#[cfg(feature = "lm3s6965evb")]
pub use fmc::Fmc;
pub use models::{Controller, ModelFlash};
#[cfg(feature = "microbit")]
pub use nvmc::Nvmc;
