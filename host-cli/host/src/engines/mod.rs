//! Engines that run on the host.
//!
//! An engine gets an image and a [`Setup`] and gives an [`Answer`] in the image's numbers, as a device does.
//! Nothing of it is believed until [`crate::judge`] has looked at it.
//!
//! - [`ic3cfa`]: the core's engine, the same code as on a device, on a large arena.
//! - [`portfolio`]: several of them at once; the first whose verdict is confirmed wins.
//! - [`ic3`]: the same on one transition relation with a program counter, as [`monolith`] makes it.
//! - [`bmc`], [`kind`]: bounded model checking and k-induction, to compare and for shortest runs.
//! - [`explicit`]: all states, one after the other, for small and for deterministic models.
//! - [`execute`]: the run whose inputs never change, however long; without inputs it is the only one.
//! - [`tree`]: Tree-IC3, which unwinds the automaton into a tree of nodes with clauses; with interpolants or without.
//! - [`cegar`]: IC3-CEGAR, whose lemmas are clauses over predicates on words.
//! - [`pdr`]: lifted PDR, whose obligations are weakest preconditions.
//! - [`auto`]: the core's engine, and others for what it does not decide soon.
//! - [`clock`], [`sat`], [`unroll`], [`interpolate`]: what these are made of: limits, a solver, runs as gates,
//!   interpolants.
//! - `cone`: what an edge needs of a network that it shares with others.
//! - `job`, `shares`, `found`: what they begin with, fair shares of the time for several properties, and what was found together.
//! - [`widen`]: an image with wider words, for arenas that narrow words cannot address.

pub mod auto;
pub mod bmc;
pub mod cegar;
pub mod clock;
mod cone;
pub mod execute;
pub mod explicit;
mod found;
pub mod ic3;
pub mod ic3cfa;
pub mod interpolate;
mod job;
pub mod kind;
pub mod monolith;
pub mod pdr;
pub mod portfolio;
pub mod sat;
mod shares;
pub mod tree;
pub mod unroll;
pub mod widen;

/// Does something with the view of an image, whichever width its words have.
macro_rules! with_view {
    ($image:expr, $view:ident => $body:expr) => {{
        let error = $crate::engines::EngineError::Image;
        let preamble = vouch_core::image::Preamble::read($image).map_err(error)?;
        match preamble.word {
            2 => {
                let $view = $image.view::<u16>().map_err(error)?;
                $body
            }
            4 => {
                let $view = $image.view::<u32>().map_err(error)?;
                $body
            }
            other => Err(error(vouch_core::image::ImageError::WordWidth(other))),
        }
    }};
}
use with_view;

pub use crate::answer::{Answer, Ended, ImageTrace};
use crate::blast::AlignedImage;
use crate::ir::Cfa;
use crate::simplify::{Pass, Passes};
use auto::Decided;
use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;
use vouch_core::ic3::{BindError, Stats};
use vouch_core::image::{Image, ImageError};
use vouch_core::word::Word;

/// The engines that run on the host; [`Engine::Ic3Cfa`] is also what devices run.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// IC3 on control flow automata.
    #[default]
    Ic3Cfa,
    /// The same with more work on each lemma.
    Eager,
    /// IC3 on one transition relation, with the location in state bits.
    Ic3,
    /// Bounded model checking.
    Bmc,
    /// k-induction.
    Kind,
    /// Explicit-state search.
    Explicit,
    /// The run whose inputs never change.
    Execute,
    /// IC3 on a tree of paths.
    Tree,
    /// The same with interpolants.
    TreeItp,
    /// IC3 over predicates.
    Cegar,
    /// Lifted PDR: frames for each location, obligations by weakest preconditions.
    Pdr,
    /// What suits the model.
    Auto,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 12] = [
        Engine::Ic3Cfa,
        Engine::Eager,
        Engine::Ic3,
        Engine::Bmc,
        Engine::Kind,
        Engine::Explicit,
        Engine::Execute,
        Engine::Tree,
        Engine::TreeItp,
        Engine::Cegar,
        Engine::Pdr,
        Engine::Auto,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Ic3Cfa => "ic3cfa",
            Engine::Eager => "ic3cfa-eager",
            Engine::Ic3 => "ic3",
            Engine::Bmc => "bmc",
            Engine::Kind => "kind",
            Engine::Explicit => "explicit",
            Engine::Execute => "execute",
            Engine::Tree => "tree-ic3",
            Engine::TreeItp => "tree-ic3-itp",
            Engine::Cegar => "ic3-cegar",
            Engine::Pdr => "pdr",
            Engine::Auto => "auto",
        }
    }

    /// What it is.
    pub fn about(self) -> &'static str {
        match self {
            Engine::Ic3Cfa => "IC3 on control flow automata, the same code as on a device",
            Engine::Eager => "the same with more work on each lemma, of which it may need fewer",
            Engine::Ic3 => "IC3 on one transition relation, with the location in state bits",
            Engine::Bmc => {
                "bounded model checking: shortest runs; proves only what has no endless run"
            }
            Engine::Kind => {
                "k-induction with simple paths: shortest runs; the invariant is ic3cfa's"
            }
            Engine::Explicit => {
                "all states, one after the other: shortest runs; for small or deterministic models"
            }
            Engine::Execute => {
                "the run whose inputs never change, executed to its end, however long it is"
            }
            Engine::Tree => "Tree-IC3: paths of the automaton, unwound into a tree",
            Engine::TreeItp => {
                "Tree-IC3+ITP: the same with interpolants of proofs while these are small"
            }
            Engine::Cegar => {
                "IC3-CEGAR: lemmas over predicates on words, which it finds on the way"
            }
            Engine::Pdr => {
                "lifted PDR: frames for each location, weakest preconditions as obligations"
            }
            Engine::Auto => {
                "ic3cfa; what it has not decided soon goes to execute, bmc, explicit and ic3-cegar"
            }
        }
    }

    /// Whether it can prove everything that is true, given the time and the memory.
    pub fn is_complete(self) -> bool {
        !matches!(self, Engine::Bmc | Engine::Execute)
    }

    /// The passes that suit it, if not those that suit the language: predicates on words want whole words.
    pub fn passes(self) -> Option<Passes> {
        let whole = || Passes::default().without(Pass::Equal).without(Pass::Narrow);
        (self == Engine::Cegar).then(whole)
    }

    /// Whether the runs that it finds are shortest ones.
    pub fn is_shortest(self) -> bool {
        matches!(self, Engine::Bmc | Engine::Kind | Engine::Explicit)
    }

    /// Runs it. `watch` gets the counters from time to time; the run is cancelled when it says
    /// `false`.
    pub fn run(
        self,
        image: &AlignedImage,
        setup: &Setup,
        watch: &mut dyn FnMut(&Stats) -> bool,
    ) -> Result<Answer, EngineError> {
        match self {
            Engine::Ic3Cfa => ic3cfa::run(image, setup, false, watch),
            Engine::Eager => ic3cfa::run(image, setup, true, watch),
            Engine::Ic3 => ic3::run(image, setup, watch),
            Engine::Bmc => bmc::run(image, setup, watch),
            Engine::Kind => kind::run(image, setup, watch),
            Engine::Explicit => explicit::run(image, setup, watch),
            Engine::Execute => execute::run(image, setup, watch),
            Engine::Tree => tree::run(image, setup, false, watch),
            Engine::TreeItp => tree::run(image, setup, true, watch),
            Engine::Cegar => cegar::run(image, setup, watch),
            Engine::Pdr => pdr::run(image, setup, watch),
            Engine::Auto => {
                match auto::run(image, setup, &auto::PROGRAMS, |_, _| None::<Answer>, watch)? {
                    Decided::Here(_, answer) => Ok(*answer),
                    Decided::Elsewhere(answer) => Ok(answer),
                }
            }
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Engine {
    type Err = String;
    fn from_str(name: &str) -> Result<Engine, String> {
        let known = Engine::ALL.map(Engine::name).join(", ");
        let found = Engine::ALL.into_iter().find(|e| e.name() == name);
        found.ok_or_else(|| format!("unknown engine `{name}`; there are: {known}"))
    }
}

/// How much memory an engine may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// This many bytes.
    Fixed(usize),
    /// These many bytes at first; four times as many whenever they do not suffice, up to a limit.
    Growing {
        /// Bytes of the first attempt.
        first: usize,
        /// Bytes that no attempt may exceed.
        most: usize,
    },
}

impl Default for Memory {
    fn default() -> Memory {
        // What is not used costs nothing: the system gives pages when they are written to.
        Memory::Growing { first: 256 << 20, most: 1 << 30 }
    }
}

/// What is asked of an engine, in the image's numbers.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Setup {
    /// Only this property.
    pub property: Option<u32>,
    /// Parameters and their values, as raw bits.
    pub bindings: Vec<(u32, u64)>,
    /// Clauses that may be invariants: locations and literals `2 * state bit + sign`.
    pub candidates: Vec<(usize, Vec<u32>)>,
    /// Work units after which to give up; 0: no limit.
    pub budget: u64,
    /// Give up after this time.
    pub timeout: Option<Duration>,
    /// How much memory there is.
    pub memory: Memory,
    /// What the image's bits mean, for [`Engine::Cegar`]: without it there are only bits.
    pub words: Option<Arc<cegar::Words>>,
    /// The automaton as written, for [`Engine::Execute`], which does nothing without it. Properties and parameters are those
    /// of the image.
    pub written: Option<Arc<Cfa>>,
    /// What only some engines know.
    pub tuning: Tuning,
}

/// How engines work, where one can choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Tuning {
    /// How many times as large as an interpolant its clauses may be, for [`Engine::TreeItp`].
    pub growth: u32,
    /// What is switched on, for [`Engine::Cegar`].
    pub cegar: cegar::Config,
    /// Steps that every run to an error has, for [`Engine::Bmc`], which does not look for shorter ones.
    pub least: u32,
}

impl Default for Tuning {
    fn default() -> Tuning {
        // As in the paper.
        Tuning { growth: 5, cegar: cegar::Config::default(), least: 0 }
    }
}

/// Why an engine could not run at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EngineError {
    /// The image cannot be used.
    #[error("the image cannot be used: {0}")]
    Image(ImageError),
    /// The memory does not suffice to begin.
    #[error("checking this model needs at least {needed} bytes of memory, but {given} are allowed")]
    Shortage {
        /// Bytes that suffice to begin.
        needed: u64,
        /// Bytes that there are.
        given: u64,
    },
    /// The system does not give the memory.
    #[error("the system does not give {0} bytes of memory")]
    Refused(usize),
    /// A parameter cannot be bound so.
    #[error("parameter number {0} cannot be bound: {1}")]
    Param(u32, BindError),
}

/// The state bits that have a value because a parameter is bound.
fn bindings<W: Word>(
    image: &Image<'_, W>,
    setup: &Setup,
) -> Result<BTreeMap<u32, bool>, EngineError> {
    let mut bits = BTreeMap::new();
    for &(param, value) in &setup.bindings {
        let record = image.params().nth(param as usize);
        let record = record.ok_or(EngineError::Param(param, BindError::NoSuchParam))?;
        if !record.allows(value) {
            return Err(EngineError::Param(param, BindError::OutOfRange));
        }
        bits.extend((0..record.width.into()).map(|i| (record.first_bit + i, value >> i & 1 == 1)));
    }
    Ok(bits)
}
