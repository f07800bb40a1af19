//! IC3 on control flow automata (Lange, Neuhäußer, Noll, FMCAD'15), in fixed memory.
//!
//! Frames are local to locations: `F(i, l)` over-approximates the data states in which location `l`
//! can be reached in at most `i` steps. A query concerns one edge `e` from `l` to `l'`:
//! `F(i, l) ∧ T_e ∧ s'` (Lemma 1 of the paper; on a self-loop also `∧ ¬s`). Only the initial location
//! is reachable in 0 steps, so initiation never has to be checked and the empty cube is a lemma like
//! any other: *this location is not reached within i steps*.
//!
//! - [`Engine`]: a run in resumable slices (`engine.rs`), in memory that [`Plan`] divides (`plan.rs`).
//! - `prove.rs`: the paper's PROVE (Alg. 1), and what a run consists of.
//! - `strengthen.rs`: STRENGTHEN and BACKWARDBLOCK over the obligations of `obligation.rs`.
//! - `block.rs`: edge-relative induction over all edges into a location, with the union of cores.
//! - `lift.rs`: predecessors, with the guard (Birgmeier 2013, §3.2).
//! - `generalize.rs`: literal dropping with counterexamples to generalisation (FMCAD'13).
//! - `frame.rs`, `lemma.rs`: delta-encoded frames, each lemma once, at its highest level.
//! - `push.rs`: pushing lemmas to higher levels, the paper's *propagate*.
//! - `trial.rs`: the infinity frame: what of the highest level, or of an old certificate, is inductive.
//! - `cube.rs`, `bits.rs`, `property.rs`: buffers for cubes, and tables by state bit and by property.
//! - `output.rs`: traces and invariants as they leave the engine.
//!
//! To check an image:
//!
//! ```
//! use vouch_core::ic3::{Config, Engine, Plan, Status, Verdict};
//! use vouch_core::image::Image;
//!
//! // An image is read in place, and has to be aligned to four bytes.
//! #[repr(align(4))]
//! struct Aligned<B: ?Sized>(B);
//! static MODEL: &Aligned<[u8]> =
//!     &Aligned(*include_bytes!(concat!(env!("CARGO_MANIFEST_DIR"), "/doc/valves.image")));
//!
//! let image = Image::<u16>::new_checked(&MODEL.0)?;
//! let mut memory = [0; 1024];
//! let plan = Plan::new(&image, size_of_val(&memory))?;
//! let mut engine = Engine::new(&image, plan, Config::default(), &mut memory);
//! loop {
//!     match engine.step(&image, &mut memory, 10_000) {
//!         Status::Running => {} // The time to feed a watchdog.
//!         Status::Broken { property } => panic!("property {property} is broken"),
//!         Status::Finished => break,
//!     }
//! }
//! assert_eq!(engine.verdict(&memory, 0), Verdict::Safe);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Tests against explicit search, the paper's examples and broken rules: `tests/tests/{engine,golden,rules}.rs`.
//!
//! Limits: levels and pool references are one word; a run that exceeds that, or the plan, ends in
//! `Unknown(Capacity)`.

mod api;
mod bits;
mod block;
mod cube;
mod engine;
mod frame;
mod generalize;
mod lemma;
mod lift;
mod obligation;
mod output;
mod plan;
mod property;
mod prove;
mod push;
mod strengthen;
mod trial;

pub use api::{BindError, Config, Invariant, Limit, Shortage, Stats, Status, Verdict};
pub use engine::Engine;
pub use plan::Plan;
