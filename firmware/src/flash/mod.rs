//! Drivers of the boards' flash, as much of it as is set aside for models.

#[cfg(feature = "lm3s6965evb")]
mod fmc;
#[cfg(feature = "microbit")]
mod nvmc;

#[cfg(feature = "lm3s6965evb")]
pub use fmc::Fmc;
#[cfg(feature = "microbit")]
pub use nvmc::Nvmc;
