//! A run of the engine in a session, with its memory.

use super::{Platform, Width};
use crate::ic3::{Engine, Limit, Verdict};
use crate::image::Image;
use crate::link::message::Refusal;

/// A run of the engine.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) engine: Engine,
    pub(super) stage: Stage,
    /// Words of the arena that are the engine's; the rest is room for what is fetched.
    pub(super) words: usize,
    /// Where clauses may be fetched next.
    pub(super) next: Option<(u32, u32)>,
    /// Instructions spent in the engine, where the board can count them.
    pub(super) instructions: Option<u64>,
}

/// How far a run has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Parameters can be bound.
    Prepared,
    Running,
    /// This property is broken.
    Broken(usize),
    Finished,
}

/// Image and arena of a run.
pub(super) struct Workspace<'i, 'p> {
    pub(super) image: &'i Image<'p, Width>,
    /// The engine's part of the arena.
    pub(super) memory: &'p mut [u32],
    /// The rest: room for one clause, one state or one step's inputs.
    pub(super) scratch: &'p mut [u32],
}

impl Run {
    /// Starts from the certificate in the image, if there is one: what holds of it need not be found.
    #[inline(never)]
    pub(super) fn seed(&mut self, work: Workspace<'_, '_>) {
        let Workspace { image, memory, .. } = work;
        if let Some(table) = image.certificate() {
            self.engine.seed_table(image, memory, table);
        }
    }

    /// Whether a property is broken and its trace can be read.
    pub(super) fn is_broken(&self) -> Result<(), Refusal> {
        if matches!(self.stage, Stage::Broken(_)) { Ok(()) } else { Err(Refusal::NoTrace) }
    }

    /// Whether it has ended and proved something.
    pub(super) fn has_proved(&self, work: &Workspace<'_, '_>) -> Result<(), Refusal> {
        let mut properties = 0..work.image.header.properties as usize;
        let safe = |p| self.engine.verdict(work.memory, p) == Verdict::Safe;
        let proved = self.stage == Stage::Finished && properties.any(safe);
        if proved { Ok(()) } else { Err(Refusal::NoCertificate) }
    }

    /// Ends the run: what is open stays unknown.
    pub(super) fn abandon(&mut self, platform: &mut impl Platform) {
        let (_, arena) = platform.both();
        let words = self.words.min(arena.len());
        self.engine.abandon(&mut arena[..words], Limit::Cancelled);
    }
}

/// Calls `f` with the image in `words`, which was validated before.
#[inline(never)]
pub(super) fn with_image<'p, R>(
    words: &'p [u32],
    len: u32,
    f: impl FnOnce(&Image<'p, Width>) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let bytes = bytemuck::cast_slice::<u32, u8>(words);
    let bytes = bytes.get(..len as usize).ok_or(Refusal::NotLoaded)?;
    match &Image::new_trusted(bytes) {
        Ok(image) => f(image),
        Err(e) => Err(Refusal::Image(*e)),
    }
}

/// Calls `f` with image and arena, the latter divided after `words`.
pub(super) fn with_workspace<'p, P: Platform, R>(
    platform: &'p mut P,
    len: u32,
    words: usize,
    f: impl FnOnce(Workspace<'_, 'p>) -> Result<R, Refusal>,
) -> Result<R, Refusal> {
    let (image, arena) = platform.both();
    let (memory, scratch) = arena.split_at_mut_checked(words).ok_or(Refusal::NotPrepared)?;
    with_image(image, len, |image| f(Workspace { image, memory, scratch }))
}
