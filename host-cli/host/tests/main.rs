//! All tests of the library in one program, for the sake of the linker.
// Helper functions outside of `#[test]` are tests anyway.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod conform;
mod oracle;
mod recorded;
mod suite;
mod sweep;
