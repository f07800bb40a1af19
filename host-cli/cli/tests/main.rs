//! All tests of the tool in one program, for the sake of the linker; `cargo nextest run -p vouch -E 'test(rig::)'` runs those of one file.
// Helper functions outside of `#[test]` are tests anyway.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod bench;
mod c;
mod c_project;
mod c_promises;
mod c_witness;
mod cargo;
mod circuits;
mod cli;
mod deadline;
mod labgrid;
mod manual;
mod mistakes;
mod pages;
mod place;
mod program;
mod project;
mod rig;
mod runs;
mod schema;
mod serial;
mod shown;
mod stored;
mod sweep;
