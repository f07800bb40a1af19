//! Loading a model and running the engine on it.
//!
//! States follow each other as `Empty → Loading → Loaded → Active`; a run is `Prepared → Running`,
//! back and forth between `Running` and `Broken`, and `Finished`. What a state has in memory:
//! nothing, the image's block, the same validated, and the arena beside it.

use super::{Platform, Width, fetch};
use crate::ic3::{Config, Engine, Limit, Plan, Stats, Status, Verdict};
use crate::image::{Image, ImageError, Table};
use crate::link::MAX_DATA;
use crate::link::frame::checksum;
use crate::link::message::{Part, Phase, Refusal, Reply, Report, Request};

/// What the session has and does.
#[derive(Debug)]
pub(super) struct Machine {
    state: State,
    /// Bytes of the image that is there or under way.
    image: u32,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // One of it exists, and there is no heap to put it.
enum State {
    Empty,
    Loading { received: u32, crc: u32 },
    Loaded,
    Active(Run),
}

/// A run of the engine.
#[derive(Debug)]
pub(super) struct Run {
    pub(super) engine: Engine,
    pub(super) stage: Stage,
    /// Words of the arena that are the engine's; the rest is room for what is fetched.
    pub(super) words: usize,
    /// Where clauses may be fetched next.
    pub(super) next: Option<(u32, u32)>,
    instructions: Option<u64>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    Prepared,
    Running,
    Broken(usize),
    Finished,
}

/// Image and arena of a run.
pub(super) struct Store<'p> {
    pub(super) image: Image<'p, Width>,
    /// The engine's part of the arena.
    pub(super) memory: &'p mut [u32],
    /// The rest, at least as large as [`room`] says.
    pub(super) scratch: &'p mut [u32],
}

impl Machine {
    pub(super) const fn new() -> Machine {
        Machine { state: State::Empty, image: 0 }
    }

    /// Forgets everything.
    pub(super) fn reset(&mut self, platform: &mut impl Platform) {
        platform.release();
        *self = Machine::new();
    }

    /// Counters of the run.
    pub(super) fn stats(&self) -> Stats {
        match &self.state {
            State::Active(run) => run.engine.stats(),
            _ => Stats::default(),
        }
    }

    /// Works for one slice if the engine is running, and says how it ended.
    pub(super) fn advance(&mut self, slice: u32, platform: &mut impl Platform) -> Option<Status> {
        let State::Active(run) = &mut self.state else {
            return None;
        };
        if run.stage != Stage::Running {
            return None;
        }
        let before = platform.instructions();
        let status = match store(platform, self.image, run.words) {
            Ok(Store { image, memory, .. }) => run.engine.step(&image, memory, slice),
            // An image that was valid no longer is: memory fails. Nothing may be claimed then.
            Err(_) => {
                abandon(run, platform);
                Status::Finished
            }
        };
        if let (Some(before), Some(after)) = (before, platform.instructions()) {
            let spent = after.wrapping_sub(before);
            run.instructions = Some(run.instructions.unwrap_or(0).wrapping_add(spent));
        }
        run.stage = match status {
            Status::Running => Stage::Running,
            Status::Broken { property } => Stage::Broken(property),
            Status::Finished => Stage::Finished,
        };
        Some(status)
    }

    /// Obeys a request or refuses it.
    pub(super) fn execute<'p>(
        &mut self,
        request: Request<'_>,
        garbled: u32,
        platform: &'p mut impl Platform,
        buffer: &'p mut [u8; MAX_DATA],
    ) -> Reply<'p> {
        let reply = match request {
            Request::LoadBegin { total, crc } => self.load_begin(total, crc, platform),
            Request::LoadChunk { offset, data } => self.load_chunk(offset, data, platform),
            Request::LoadEnd => self.load_end(platform),
            Request::Prepare { property, budget } => self.prepare(property, budget, platform),
            Request::Bind { param, value } => self.bind(param, value, platform),
            Request::Run => self.run(),
            Request::Status => Ok(Reply::Status(self.report(garbled, platform))),
            Request::FetchVerdict { property } => self.verdict(property, platform),
            Request::FetchInitial { offset } => self
                .broken(platform)
                .and_then(|(run, store)| fetch::initial(run, store, offset as usize)),
            Request::FetchStep { index, offset } => self
                .broken(platform)
                .and_then(|(run, store)| fetch::step(run, store, index as usize, offset as usize)),
            Request::FetchClauses { cursor, offset } => {
                self.proved(platform).and_then(|(run, store)| {
                    let Run { engine, next, .. } = run;
                    let Store { image, memory, scratch } = store;
                    let read = |at, out: &mut [u32]| engine.clause(&image, memory, at, out);
                    fetch::clauses((cursor, offset), next, scratch, buffer, read)
                })
            }
            Request::Cancel => {
                self.cancel(platform);
                Ok(Reply::Done)
            }
            Request::Reset => {
                self.reset(platform);
                Ok(Reply::Done)
            }
        };
        reply.unwrap_or_else(Reply::Refused)
    }

    fn load_begin<'p>(
        &mut self,
        total: u32,
        crc: u32,
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        self.reset(platform);
        platform.allocate_image(total as usize).map_err(|available| Refusal::TooLarge {
            part: Part::Image,
            needed: total,
            available: narrow(available),
        })?;
        *self = Machine { state: State::Loading { received: 0, crc }, image: total };
        Ok(Reply::Done)
    }

    fn load_chunk<'p>(
        &mut self,
        offset: u32,
        data: &[u8],
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        let State::Loading { received, .. } = &mut self.state else {
            return Err(Refusal::NotLoaded);
        };
        let wrong = Refusal::BadOffset { expected: *received };
        if offset != *received {
            return Err(wrong);
        }
        let bytes = &mut bytemuck::cast_slice_mut::<u32, u8>(platform.image());
        let whole = bytes.get_mut(..self.image as usize).ok_or(Refusal::NotLoaded)?;
        let room = whole.get_mut(offset as usize..).ok_or(wrong)?;
        room.get_mut(..data.len()).ok_or(wrong)?.copy_from_slice(data);
        *received += data.len() as u32;
        Ok(Reply::Done)
    }

    /// The only way to a loaded model: all bytes, their checksum, and the complete validation.
    fn load_end<'p>(&mut self, platform: &mut impl Platform) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        let State::Loading { received, crc } = self.state else {
            return Err(Refusal::NotLoaded);
        };
        if received != self.image {
            return Err(Refusal::BadOffset { expected: received });
        }
        let summary = accept(platform.both().0, self.image, crc);
        match summary {
            Ok((properties, params, minimum)) => {
                self.state = State::Loaded;
                let available = narrow(platform.available());
                Ok(Reply::Loaded { properties, params, minimum, available })
            }
            Err(refusal) => {
                self.reset(platform);
                Err(refusal)
            }
        }
    }

    fn prepare<'p>(
        &mut self,
        property: Option<u32>,
        budget: u64,
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        if !matches!(self.state, State::Loaded | State::Active(_)) {
            return Err(Refusal::NotLoaded);
        }
        let image = view(platform.both().0, self.image)?;
        if property.is_some_and(|p| p >= image.header.properties) {
            return Err(Refusal::NoSuchProperty);
        }
        let room = room(&image);
        let minimum = Plan::minimum(&image).saturating_add(room.saturating_mul(4));
        self.state = State::Loaded;
        platform.free_arena();
        let available = platform.available() & !3;
        let too_large = |needed: usize, available: usize| Refusal::TooLarge {
            part: Part::Arena,
            needed: narrow(needed),
            available: narrow(available),
        };
        if minimum > available {
            return Err(too_large(minimum, available));
        }
        let image = view(platform.both().0, self.image)?;
        let plan = Plan::new(&image, available - room * 4).map_err(|shortage| {
            too_large((shortage.needed as usize).saturating_add(room * 4), available)
        })?;
        let words = plan.bytes().div_ceil(4);
        let bytes = (words + room) * 4;
        platform.allocate_arena(bytes).map_err(|available| too_large(bytes, available))?;
        let Store { image, memory, .. } = store(platform, self.image, words)?;
        let engine = Engine::new(&image, plan, Config::new(budget, property), memory);
        let stage = Stage::Prepared;
        self.state = State::Active(Run { engine, stage, words, next: None, instructions: None });
        Ok(Reply::Prepared { arena: narrow(bytes) })
    }

    fn bind<'p>(
        &mut self,
        param: u32,
        value: u64,
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        let State::Active(run @ Run { stage: Stage::Prepared, .. }) = &mut self.state else {
            return Err(Refusal::NotPrepared);
        };
        let Store { image, memory, .. } = store(platform, self.image, run.words)?;
        run.engine.bind(&image, memory, param as usize, value).map_err(Refusal::Param)?;
        Ok(Reply::Done)
    }

    fn run<'p>(&mut self) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        match &mut self.state {
            State::Active(run) if run.stage != Stage::Finished => {
                run.stage = Stage::Running;
                Ok(Reply::Done)
            }
            _ => Err(Refusal::NotPrepared),
        }
    }

    fn cancel(&mut self, platform: &mut impl Platform) {
        if let State::Active(run) = &mut self.state
            && run.stage != Stage::Finished
        {
            abandon(run, platform);
            run.stage = Stage::Finished;
        }
    }

    fn verdict<'p>(
        &mut self,
        property: u32,
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        let (run, store) = self.active(platform)?;
        if property >= store.image.header.properties {
            return Err(Refusal::NoSuchProperty);
        }
        Ok(Reply::Verdict(run.engine.verdict(store.memory, property as usize)))
    }

    fn report(&self, garbled: u32, platform: &mut impl Platform) -> Report {
        let (phase, instructions) = match &self.state {
            State::Empty => (Phase::Empty, None),
            State::Loading { .. } => (Phase::Loading, None),
            State::Loaded => (Phase::Loaded, None),
            State::Active(run) => {
                let steps = narrow(run.engine.trace_len());
                let phase = match run.stage {
                    Stage::Prepared => Phase::Prepared,
                    Stage::Running => Phase::Running,
                    Stage::Broken(property) => Phase::Broken { property: narrow(property), steps },
                    Stage::Finished => Phase::Finished,
                };
                (phase, run.instructions)
            }
        };
        let arena = narrow(platform.both().1.len().saturating_mul(4));
        Report { phase, stats: self.stats(), instructions, image: self.image, arena, garbled }
    }

    fn not_running(&self) -> Result<(), Refusal> {
        match &self.state {
            State::Active(Run { stage: Stage::Running, .. }) => Err(Refusal::Busy),
            _ => Ok(()),
        }
    }

    /// The run and what it has in memory, unless it is running.
    fn active<'a, 'p>(
        &'a mut self,
        platform: &'p mut impl Platform,
    ) -> Result<(&'a mut Run, Store<'p>), Refusal> {
        self.not_running()?;
        let State::Active(run) = &mut self.state else {
            return Err(Refusal::NotPrepared);
        };
        let store = store(platform, self.image, run.words)?;
        Ok((run, store))
    }

    /// The run, if it stands at a broken property.
    fn broken<'a, 'p>(
        &'a mut self,
        platform: &'p mut impl Platform,
    ) -> Result<(&'a mut Run, Store<'p>), Refusal> {
        let (run, store) = self.active(platform)?;
        if !matches!(run.stage, Stage::Broken(_)) {
            return Err(Refusal::NoTrace);
        }
        Ok((run, store))
    }

    /// The run, if it has ended and proved something.
    fn proved<'a, 'p>(
        &'a mut self,
        platform: &'p mut impl Platform,
    ) -> Result<(&'a mut Run, Store<'p>), Refusal> {
        let (run, store) = self.active(platform)?;
        let mut properties = 0..store.image.header.properties as usize;
        let safe = |p| run.engine.verdict(store.memory, p) == Verdict::Safe;
        if run.stage != Stage::Finished || !properties.any(safe) {
            return Err(Refusal::NoCertificate);
        }
        Ok((run, store))
    }
}

/// Ends a run: what is open stays unknown.
fn abandon(run: &mut Run, platform: &mut impl Platform) {
    let (_, arena) = platform.both();
    let words = run.words.min(arena.len());
    run.engine.abandon(&mut arena[..words], Limit::Cancelled);
}

/// Words beside the engine's that hold one clause, one state or one step's inputs of this model.
fn room(image: &Image<'_, Width>) -> usize {
    let inputs = image.header.max_inputs.div_ceil(32);
    image.header.max_live.max(inputs) as usize
}

/// The image in `words`, which was validated before.
fn view(words: &[u32], len: u32) -> Result<Image<'_, Width>, Refusal> {
    let bytes = bytemuck::cast_slice::<u32, u8>(words);
    let bytes = bytes.get(..len as usize).ok_or(Refusal::NotLoaded)?;
    Image::new_trusted(bytes).map_err(Refusal::Image)
}

/// Image and arena, the latter divided after `words`.
fn store<P: Platform>(platform: &mut P, len: u32, words: usize) -> Result<Store<'_>, Refusal> {
    let (image, arena) = platform.both();
    let image = view(image, len)?;
    let (memory, scratch) = arena.split_at_mut_checked(words).ok_or(Refusal::NotPrepared)?;
    Ok(Store { image, memory, scratch })
}

/// Validates what was received; returns the numbers of properties and parameters and the bytes
/// that a run needs.
fn accept(words: &[u32], len: u32, crc: u32) -> Result<(u32, u32, u32), Refusal> {
    let bytes = bytemuck::cast_slice::<u32, u8>(words);
    let bytes = bytes.get(..len as usize).ok_or(Refusal::NotLoaded)?;
    if checksum(bytes) != crc {
        return Err(Refusal::Transfer);
    }
    let image = Image::<Width>::new_checked(bytes).map_err(Refusal::Image)?;
    // The engine always has an edge at hand; without any there is nothing to check.
    if image.edges() == 0 {
        return Err(Refusal::Image(ImageError::Table(Table::Edges)));
    }
    let minimum = Plan::minimum(&image).saturating_add(room(&image).saturating_mul(4));
    Ok((image.header.properties, image.header.params, narrow(minimum)))
}

/// A number of bytes or items for a message.
fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
