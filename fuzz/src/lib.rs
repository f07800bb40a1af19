//! Fuzz targets: everything that takes bytes from outside, each as a function that panics when it
//! finds something, and seeds from which a fuzzer gets deep quickly.
//!
//! `cargo xtask fuzz --minutes N` runs libFuzzer on all of them. What it finds goes to
//! `fuzz/regressions/TARGET/`, where the tests try it from then on.

mod client;
mod device;
mod host;
mod model;
mod program;
mod source;
mod text;

pub use model::Memory;

/// A target.
#[derive(Clone, Copy)]
pub struct Target {
    /// Its name.
    pub name: &'static str,
    /// Tries these bytes.
    pub run: fn(&[u8]),
    /// Bytes to start from.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// All targets.
pub const TARGETS: [Target; 17] = [
    Target { name: "link", run: device::link, seeds: device::link_seeds },
    Target { name: "session", run: device::session, seeds: device::session_seeds },
    Target { name: "client", run: client::client, seeds: client::client_seeds },
    Target { name: "store", run: device::store, seeds: device::store_seeds },
    Target { name: "image", run: model::image, seeds: model::image_seeds },
    Target { name: "certificate", run: model::certificate, seeds: model::certificate_seeds },
    Target { name: "file", run: host::file, seeds: host::file_seeds },
    Target { name: "trace", run: text::trace, seeds: text::trace_seeds },
    Target { name: "key", run: text::key, seeds: text::key_seeds },
    Target { name: "diagnostic", run: text::diagnostic, seeds: text::diagnostic_seeds },
    Target { name: "vch", run: source::vch, seeds: source::vch_seeds },
    Target { name: "c", run: source::c, seeds: source::c_seeds },
    Target { name: "aag", run: source::aag, seeds: source::aag_seeds },
    Target { name: "aig", run: source::aig, seeds: source::aig_seeds },
    Target { name: "btor2", run: source::btor2, seeds: source::btor2_seeds },
    Target { name: "elf", run: program::elf, seeds: program::elf_seeds },
    Target { name: "code", run: program::code, seeds: program::code_seeds },
];

impl Target {
    /// The target with this name.
    pub fn named(name: &str) -> Option<Target> {
        TARGETS.into_iter().find(|target| target.name == name)
    }
}
