//! Helpers shared by the whole-system tests.
#![allow(clippy::expect_used)]

pub mod engine;
pub mod image_oracle;
pub mod random_image;
pub mod rng;
