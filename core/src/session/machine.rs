//! Loading a model and running the engine on it.
//!
//! States follow each other as `Empty → Loading → Loaded → Active`; a run is `Prepared → Running`,
//! back and forth between `Running` and `Broken`, and `Finished`. What a state has in memory:
//! nothing, the image's block, the same validated, and the arena alongside.
//!
//! An image's view takes a few hundred bytes of stack, and so does an engine. What holds one is not
//! inlined, so that the stack never holds the views of several requests at once.

use super::run::{Run, Stage, Workspace, with_image, with_workspace};
use super::{Platform, Width, fetch};
use crate::ic3::{Config, Engine, Plan, Stats, Status};
use crate::image::Image;
use crate::link::MAX_DATA;
use crate::link::frame::checksum;
use crate::link::message::{Part, Phase, Refusal, Reply, Report, Request};
use crate::link::store::{ModelStore, StoreError};

/// The session's model and run.
#[derive(Debug)]
pub(super) struct Machine {
    state: State,
    /// Bytes of the image that is loaded or being transferred.
    image: u32,
    /// Instructions that the store has taken since an update began.
    update: Option<u64>,
}

#[derive(Debug)]
#[allow(clippy::large_enum_variant)] // There is only one, and no heap to put it on.
enum State {
    Empty,
    Loading { received: u32, crc: u32 },
    Loaded,
    Active(Run),
}

impl Machine {
    pub(super) const fn new() -> Machine {
        Machine { state: State::Empty, image: 0, update: None }
    }

    /// Drops model and run, and gives their memory back.
    #[inline(never)]
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

    /// Whether the engine is at work.
    pub(super) fn is_running(&self) -> bool {
        self.not_running().is_err()
    }

    /// Works for one slice, and says how it ended. As long as that takes, `watch` is called in every slice's
    /// time; once it returns false, the run ends.
    #[inline(never)]
    pub(super) fn advance(
        &mut self,
        slice: u32,
        platform: &mut impl Platform,
        watch: &mut dyn FnMut() -> bool,
    ) -> Status {
        let State::Active(run) = &mut self.state else {
            return Status::Finished;
        };
        let before = platform.instructions();
        let stepped = with_workspace(platform, self.image, run.words, |work| {
            Ok(run.engine.step_watched(work.image, work.memory, slice, watch))
        });
        let status = match stepped {
            Ok(status) => status,
            // An image that was valid no longer is: memory fails. Nothing may be claimed then.
            Err(_) => {
                run.abandon(platform);
                Status::Finished
            }
        };
        run.instructions = tally(run.instructions, before, platform.instructions());
        run.stage = match status {
            Status::Running => Stage::Running,
            Status::Broken { property } => Stage::Broken(property),
            Status::Finished => Stage::Finished,
        };
        status
    }

    /// Obeys a request or refuses it.
    #[inline(never)]
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
            Request::Run => self.run(platform),
            Request::Status => Ok(Reply::Status(self.report(garbled, platform))),
            Request::FetchVerdict { property } => self.verdict(property, platform),
            Request::FetchInitial { offset } => self.fetch_initial(offset, platform),
            Request::FetchStep { index, offset } => self.fetch_step(index, offset, platform),
            Request::FetchClauses { cursor, offset } => {
                self.fetch_clauses((cursor, offset), platform, buffer)
            }
            Request::Cancel => {
                self.cancel(platform);
                Ok(Reply::Done)
            }
            Request::Reset => {
                self.reset(platform);
                Ok(Reply::Done)
            }
            Request::StoreBegin { header } => self.store_begin(header, platform),
            Request::StoreChunk { offset, data } => self.store(platform, |store| {
                store.write(offset, data)?;
                Ok(Reply::Done)
            }),
            Request::StoreEnd => self.store(platform, |store| {
                store.finish()?;
                Ok(Reply::Store(store.info()))
            }),
            Request::StoreStatus => self.store(platform, |store| Ok(Reply::Store(store.info()))),
            Request::Provision { key } => self.store(platform, |store| {
                store.provision(
                    key.first_chunk().filter(|k| k.len() == key.len()).ok_or(StoreError::NoKey)?,
                )?;
                Ok(Reply::Done)
            }),
            Request::ChangeKeys { package } => self.store(platform, |store| {
                store.change_keys(package)?;
                Ok(Reply::Store(store.info()))
            }),
            Request::LoadStored => self.load_stored(platform),
        };
        reply.unwrap_or_else(Reply::Refused)
    }

    #[inline(never)]
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
        *self = Machine { state: State::Loading { received: 0, crc }, image: total, update: None };
        Ok(Reply::Done)
    }

    #[inline(never)]
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
    #[inline(never)]
    fn load_end<'p>(&mut self, platform: &mut impl Platform) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        let State::Loading { received, crc } = self.state else {
            return Err(Refusal::NotLoaded);
        };
        if received != self.image {
            return Err(Refusal::BadOffset { expected: received });
        }
        let needs = arrived(platform.both().0, self.image, crc)
            .and_then(|()| accept(platform.both().0, self.image));
        self.loaded(needs, platform)
    }

    /// Takes a model that was validated, or drops it.
    fn loaded<'p>(
        &mut self,
        needs: Result<Needs, Refusal>,
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        match needs {
            Ok(Needs { properties, params, minimum, .. }) => {
                self.state = State::Loaded;
                let available = narrow(platform.available());
                Ok(Reply::Loaded { properties, params, minimum: narrow(minimum), available })
            }
            Err(refusal) => {
                self.reset(platform);
                Err(refusal)
            }
        }
    }

    /// Has the store do something. What is loaded makes room for it.
    #[inline(never)]
    fn store<'p>(
        &mut self,
        platform: &mut impl Platform,
        work: impl FnOnce(&mut dyn ModelStore) -> Result<Reply<'p>, StoreError>,
    ) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        let update = self.update;
        self.reset(platform);
        let before = platform.instructions();
        let store = platform.store().ok_or(Refusal::Store(StoreError::NoStore))?;
        let done = work(store);
        self.update = tally(update, before, platform.instructions());
        done.map_err(Refusal::Store)
    }

    /// Begins an update, and with it to count what it takes.
    fn store_begin<'p>(
        &mut self,
        header: &[u8],
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        self.update = None;
        self.store(platform, |store| {
            store.begin(header)?;
            Ok(Reply::Done)
        })
    }

    /// The other way to a loaded model: the store's own checks, and the complete validation.
    #[inline(never)]
    fn load_stored<'p>(&mut self, platform: &mut impl Platform) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        self.reset(platform);
        self.image = platform.open_stored().map_err(Refusal::Store)?;
        let needs = accept(platform.both().0, self.image);
        self.loaded(needs, platform)
    }

    #[inline(never)]
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
        let needs = with_image(platform.both().0, self.image, |image| Ok(Needs::of(image)))?;
        if property.is_some_and(|p| p >= needs.properties) {
            return Err(Refusal::NoSuchProperty);
        }
        self.state = State::Loaded;
        platform.free_arena();
        let (plan, bytes) = self.allocate(&needs, platform)?;
        let config = Config::new(budget, property);
        self.start(plan, config, bytes / 4 - needs.room, platform)?;
        Ok(Reply::Prepared { arena: narrow(bytes) })
    }

    /// Divides as much memory as there is, and takes it.
    #[inline(never)]
    fn allocate(
        &self,
        needs: &Needs,
        platform: &mut impl Platform,
    ) -> Result<(Plan, usize), Refusal> {
        let available = platform.available() & !3;
        let too_large = |needed: usize| Refusal::TooLarge {
            part: Part::Arena,
            needed: narrow(needed),
            available: narrow(available),
        };
        if needs.minimum > available {
            return Err(too_large(needs.minimum));
        }
        let room = needs.room * 4;
        let mut refusal = too_large(needs.minimum);
        // An allocator may need some bytes for itself that it did not know of before.
        for spare in [0, 16, 64] {
            let bytes = available.saturating_sub(spare + room);
            let plan = with_image(platform.both().0, self.image, |image| {
                Plan::new(image, bytes).map_err(|s| too_large(s.needed as usize + room + spare))
            })?;
            let bytes = plan.bytes().next_multiple_of(4) + room;
            match platform.allocate_arena(bytes) {
                Ok(()) => return Ok((plan, bytes)),
                Err(_) => refusal = too_large(bytes),
            }
        }
        Err(refusal)
    }

    #[inline(never)]
    fn start(
        &mut self,
        plan: Plan,
        config: Config,
        words: usize,
        platform: &mut impl Platform,
    ) -> Result<(), Refusal> {
        with_workspace(platform, self.image, words, |work| {
            self.state = State::Active(Run {
                engine: Engine::new(work.image, plan, config, work.memory),
                stage: Stage::Prepared,
                words,
                next: None,
                instructions: None,
            });
            Ok(())
        })
    }

    #[inline(never)]
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
        with_workspace(platform, self.image, run.words, |work| {
            let bound = run.engine.bind(work.image, work.memory, param as usize, value);
            bound.map_err(Refusal::Param)
        })?;
        Ok(Reply::Done)
    }

    fn run<'p>(&mut self, platform: &mut impl Platform) -> Result<Reply<'p>, Refusal> {
        self.not_running()?;
        match &mut self.state {
            State::Active(run) if run.stage != Stage::Finished => {
                if run.stage == Stage::Prepared {
                    with_workspace(platform, self.image, run.words, |work| {
                        run.seed(work);
                        Ok(())
                    })?;
                }
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
            run.abandon(platform);
            run.stage = Stage::Finished;
        }
    }

    #[inline(never)]
    fn verdict<'p>(
        &mut self,
        property: u32,
        platform: &mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.with_run(platform, |run, work| {
            if property >= work.image.header.properties {
                return Err(Refusal::NoSuchProperty);
            }
            Ok(Reply::Verdict(run.engine.verdict(work.memory, property as usize)))
        })
    }

    #[inline(never)]
    fn fetch_initial<'p>(
        &mut self,
        offset: u32,
        platform: &'p mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.with_run(platform, |run, work| {
            run.is_broken()?;
            fetch::initial(run, work, offset as usize)
        })
    }

    #[inline(never)]
    fn fetch_step<'p>(
        &mut self,
        index: u32,
        offset: u32,
        platform: &'p mut impl Platform,
    ) -> Result<Reply<'p>, Refusal> {
        self.with_run(platform, |run, work| {
            run.is_broken()?;
            fetch::step(run, work, index as usize, offset as usize)
        })
    }

    #[inline(never)]
    fn fetch_clauses<'p>(
        &mut self,
        start: (u32, u32),
        platform: &mut impl Platform,
        buffer: &'p mut [u8; MAX_DATA],
    ) -> Result<Reply<'p>, Refusal> {
        self.with_run(platform, |run, work| {
            run.has_proved(&work)?;
            let Run { engine, next, .. } = run;
            let Workspace { image, memory, scratch } = work;
            let read = |at, out: &mut [u32]| engine.clause(image, memory, at, out);
            fetch::clauses(start, next, scratch, buffer, read)
        })
    }

    #[inline(never)]
    pub(super) fn report(&self, garbled: u32, platform: &mut impl Platform) -> Report {
        let (phase, instructions) = match &self.state {
            State::Empty => (Phase::Empty, self.update),
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

    /// Calls `f` with the run and what it has in memory, unless it is running.
    fn with_run<'p, P: Platform, R>(
        &mut self,
        platform: &'p mut P,
        f: impl FnOnce(&mut Run, Workspace<'_, 'p>) -> Result<R, Refusal>,
    ) -> Result<R, Refusal> {
        self.not_running()?;
        let State::Active(run) = &mut self.state else {
            return Err(Refusal::NotPrepared);
        };
        with_workspace(platform, self.image, run.words, |work| f(run, work))
    }
}

/// The memory that a model needs.
struct Needs {
    properties: u32,
    params: u32,
    /// Words besides the engine's that hold one clause, one state or one step's inputs.
    room: usize,
    /// Bytes with which a run can begin.
    minimum: usize,
}

impl Needs {
    #[inline(never)]
    fn of(image: &Image<'_, Width>) -> Needs {
        let header = &image.header;
        let room = header.max_live.max(header.max_inputs.div_ceil(32)) as usize;
        Needs {
            properties: header.properties,
            params: header.params,
            room,
            minimum: Plan::minimum(image).saturating_add(room.saturating_mul(4)),
        }
    }
}

/// Whether what was received is what was sent.
#[inline(never)]
fn arrived(words: &[u32], len: u32, crc: u32) -> Result<(), Refusal> {
    let bytes = bytemuck::cast_slice::<u32, u8>(words);
    let bytes = bytes.get(..len as usize).ok_or(Refusal::NotLoaded)?;
    if checksum(bytes) == crc { Ok(()) } else { Err(Refusal::Transfer) }
}

/// Validates an image.
#[inline(never)]
fn accept(words: &[u32], len: u32) -> Result<Needs, Refusal> {
    let bytes = bytemuck::cast_slice::<u32, u8>(words);
    let bytes = bytes.get(..len as usize).ok_or(Refusal::NotLoaded)?;
    match &Image::<Width>::new_checked(bytes) {
        Ok(image) => Ok(Needs::of(image)),
        Err(e) => Err(Refusal::Image(*e)),
    }
}

/// Adds the instructions from `before` to `after`, where the board can count them.
fn tally(sum: Option<u64>, before: Option<u64>, after: Option<u64>) -> Option<u64> {
    let (Some(before), Some(after)) = (before, after) else { return sum };
    Some(sum.unwrap_or(0).wrapping_add(after.wrapping_sub(before)))
}

/// A number of bytes or items for a message.
fn narrow(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
