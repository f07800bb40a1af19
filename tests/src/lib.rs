//! Helpers shared by the whole-system tests.

pub mod check;
pub mod engine;
pub mod explicit;
pub mod image_oracle;
pub mod image_sim;
pub mod nor;
pub mod random_cfa;
pub mod random_image;
pub mod rng;
pub mod sat_driver;
pub mod suite;
