//! Engines that run on the host.
//!
//! An engine gets an image and a [`Setup`] and gives an [`Answer`] in the image's numbers, as a device does.
//! Nothing of it is believed until [`crate::judge`] has looked at it.
//!
//! - [`ic3cfa`]: the core's engine, the same code as on a device, on a large arena.
//! - [`portfolio`]: several of them at once; the first whose verdict stands wins.
//! - [`ic3`]: the same on one transition relation with a program counter, as [`monolith`] makes it.
//! - `shares`: fair shares of the time for several properties.
//! - [`widen`]: an image with wider words, for arenas that narrow words cannot address.

pub mod ic3;
pub mod ic3cfa;
pub mod monolith;
pub mod portfolio;
mod shares;
pub mod widen;

pub use crate::answer::{Answer, Ended, ImageTrace};
use crate::blast::AlignedImage;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;
use vouch_core::ic3::{BindError, Stats};
use vouch_core::image::ImageError;

/// The engines.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Engine {
    /// IC3 on control flow automata.
    #[default]
    Ic3Cfa,
    /// The same with more work on each lemma.
    Eager,
    /// IC3 on one transition relation, with the location in state bits.
    Ic3,
}

impl Engine {
    /// All of them.
    pub const ALL: [Engine; 3] = [Engine::Ic3Cfa, Engine::Eager, Engine::Ic3];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Engine::Ic3Cfa => "ic3cfa",
            Engine::Eager => "ic3cfa-eager",
            Engine::Ic3 => "ic3",
        }
    }

    /// What it is.
    pub fn about(self) -> &'static str {
        match self {
            Engine::Ic3Cfa => "IC3 on control flow automata, the same code as on a device",
            Engine::Eager => "the same with more work on each lemma, of which it may need fewer",
            Engine::Ic3 => "IC3 on one transition relation, with the location in state bits",
        }
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
        found.ok_or_else(|| format!("unknown engine `{name}`; there is: {known}"))
    }
}

/// How much memory an engine may take.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Memory {
    /// This many bytes.
    Fixed(usize),
    /// These many bytes at first; four times as many whenever they do not suffice, up to a limit.
    Growing {
        /// At first.
        first: usize,
        /// At most.
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
    pub guesses: Vec<(usize, Vec<u32>)>,
    /// Work units after which to give up; 0: no limit.
    pub budget: u64,
    /// Give up after this time.
    pub timeout: Option<Duration>,
    /// How much memory there is.
    pub memory: Memory,
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
