//! What people and programs get to see of a verdict.

pub mod value;
