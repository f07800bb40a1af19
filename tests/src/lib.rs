//! Helpers shared by the whole-system tests.

pub mod explicit;
pub mod image_sim;
pub mod random_cfa;
