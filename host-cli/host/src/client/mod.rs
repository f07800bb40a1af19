//! The host's side of a dialogue with a device.
//!
//! [`Client`] greets, loads a model, has it checked and fetches what came out. What it returns is
//! what the device said. That it fits the model is seen to here, as it arrives; that it is true is not.
//!
//! Events only hasten the dialogue. Every fact is asked for, so a lost event costs time and nothing
//! else.

mod error;
mod line;
mod shape;

pub use crate::answer::{Answer, Ended, ImageTrace};
pub use error::DeviceError;
pub use line::{LogSink, Patience};

use crate::deadline::{Deadline, Over};
use crate::escape;
use crate::transport::{Settings, Target, Transport};
use line::Line;
use shape::{Clauses, Room, Shape};
use std::path::Path;
use std::time::{Duration, Instant};
use vouch_core::ic3::{Stats, Verdict};
use vouch_core::image::{ImageError, Preamble, VERSION_UNBOUND};
use vouch_core::link::frame::checksum;
use vouch_core::link::hello::{MAX_BOARD, MAX_BUILD};
use vouch_core::link::message::{Event, Phase, Refusal, Reply, Report, Request};
use vouch_core::link::store::StoreInfo;
use vouch_core::link::{MAX_DATA, MAX_PAYLOAD, PROTOCOL};
use vouch_device::package::Header;

/// How often a device at work is asked for its state when it says nothing.
const POLL: Duration = Duration::from_millis(500);

/// Who a device is, as it said itself.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceInfo {
    /// The board's name.
    pub board: String,
    /// Its firmware's version or commit.
    pub build: String,
    /// Bytes of a word in the images that it reads.
    pub word: u8,
    /// The image format that it reads.
    pub image_version: u16,
    /// RAM in bytes.
    pub ram: u32,
    /// Bytes of RAM for a model and its proof together.
    pub heap: u32,
    /// Flash in bytes.
    pub flash: u32,
    /// Bytes of flash that the firmware takes.
    pub firmware: u32,
    /// The longest payload that it receives.
    max_payload: u16,
}

/// What a device says of a model that it has accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Loaded {
    /// Number of properties.
    pub properties: u32,
    /// Number of parameters.
    pub params: u32,
    /// Bytes that a run needs at least.
    pub minimum: u32,
    /// Bytes that there are for one.
    pub available: u32,
}

/// What is to be checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckRequest {
    /// Only this property.
    pub property: Option<u32>,
    /// Work units after which to give up; 0: no limit.
    pub budget: u64,
    /// Parameters and their values, as raw bits.
    pub bindings: Vec<(u32, u64)>,
}

/// How good the line was.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LineQuality {
    /// Frames that came damaged.
    pub garbled: u64,
    /// Requests that had to be repeated.
    pub repeated: u64,
}

/// A dialogue with a device.
pub struct Client {
    line: Line,
    info: DeviceInfo,
    /// Of the model that is loaded; empty if there is none.
    shape: Shape,
}

impl Client {
    /// Opens the line to `target` and greets the device. Whatever an earlier host left half-way is
    /// ended.
    pub fn connect(
        target: &Target,
        settings: &Settings,
        patience: Patience,
    ) -> Result<Client, DeviceError> {
        Client::greet(target.open(settings)?, patience)
    }

    /// Greets the device at the other end of an open line.
    pub fn greet(transport: Box<dyn Transport>, patience: Patience) -> Result<Client, DeviceError> {
        let mut client = Client {
            line: Line::new(transport, patience),
            info: DeviceInfo::default(),
            shape: Shape::default(),
        };
        client.hello(true)?;
        Ok(client)
    }

    /// Greets the device again, and with `reset` has it forget what it was doing.
    pub fn hello(&mut self, reset: bool) -> Result<&DeviceInfo, DeviceError> {
        let identity = self.line.greet(reset)?;
        let protocol = identity.protocol;
        let is_long = identity.board.len() > MAX_BOARD || identity.build.len() > MAX_BUILD;
        let (board, build) = (escape::text(identity.board), escape::text(identity.build));
        self.info = DeviceInfo {
            board,
            build,
            word: identity.word,
            image_version: identity.image_version,
            ram: identity.ram,
            heap: identity.heap,
            flash: identity.flash,
            firmware: identity.firmware,
            max_payload: identity.max_payload,
        };
        if reset {
            self.shape = Shape::default();
        }
        if is_long {
            return Err(self.line.protocol_error("its name is too long"));
        }
        if protocol != PROTOCOL {
            let (board, build) = (self.info.board.clone(), self.info.build.clone());
            return Err(DeviceError::Version { board, build, protocol });
        }
        Ok(&self.info)
    }

    /// Who the device is.
    pub fn info(&self) -> &DeviceInfo {
        &self.info
    }

    /// How good the line has been.
    pub fn quality(&self) -> LineQuality {
        LineQuality { garbled: self.line.garbled, repeated: self.line.repeated }
    }

    /// The firmware's ELF file, where it is known.
    pub fn firmware(&self) -> Option<&Path> {
        self.line.transport().firmware()
    }

    /// When the device is told to stop whatever it is doing.
    pub fn stop_at(&mut self, deadline: Deadline) {
        self.line.deadline = deadline;
    }

    /// Where the device's log goes.
    pub fn log_to(&mut self, sink: LogSink) {
        self.line.log = Some(sink);
    }

    /// Ends the dialogue. What the device keeps is saved, where that is the host's business.
    pub fn finish(self) -> Result<(), DeviceError> {
        let mut transport = self.line.into_transport();
        let device = transport.describe();
        transport.finish().map_err(|source| DeviceError::NotKept { device, source })
    }

    /// Ends the dialogue but keeps the line.
    pub fn into_transport(self) -> Box<dyn Transport> {
        self.line.into_transport()
    }

    /// Puts a model image on the device. `progress` gets the bytes sent so far and all of them.
    pub fn load(
        &mut self,
        image: &[u8],
        mut progress: impl FnMut(usize, usize),
    ) -> Result<Loaded, DeviceError> {
        self.shape = Shape::default();
        self.suits(image)?;
        let total = u32::try_from(image.len()).map_err(|_| self.image_error(ImageError::Length))?;
        self.done(Request::LoadBegin { total, crc: checksum(image) }, "loading the model")?;
        let chunk = self.chunk();
        for (i, data) in image.chunks(chunk).enumerate() {
            self.go_on()?;
            let offset = (i * chunk) as u32;
            self.done(Request::LoadChunk { offset, data }, "loading the model")?;
            progress(i * chunk + data.len(), image.len());
        }
        self.accepted(Request::LoadEnd, image)
    }

    /// Has the device use the model that it has stored, which must be `image`.
    pub fn load_stored(&mut self, image: &[u8]) -> Result<Loaded, DeviceError> {
        let wanted = vouch_device::package::sha256(image);
        match self.store_status()?.model {
            Some(model) if model.hash != wanted => {
                Err(DeviceError::OtherModel { board: self.info.board.clone() })
            }
            // If there is none, it says why.
            _ => self.accepted(Request::LoadStored, image),
        }
    }

    /// Asks for the last step of loading.
    fn accepted(&mut self, request: Request<'_>, image: &[u8]) -> Result<Loaded, DeviceError> {
        match self.ask(request, "validating the model")? {
            Reply::Loaded { properties, params, minimum, available } => {
                let shape = Shape::of(image).map_err(|e| self.image_error(e))?;
                if (properties as usize, params as usize) != (shape.properties, shape.params) {
                    return Err(self.line.protocol_error("what it has loaded is another model"));
                }
                self.shape = shape;
                Ok(Loaded { properties, params, minimum, available })
            }
            _ => Err(self.unexpected("validating the model")),
        }
    }

    /// Bytes of data in one request.
    fn chunk(&self) -> usize {
        let spare = MAX_PAYLOAD - MAX_DATA;
        (self.info.max_payload as usize).saturating_sub(spare).clamp(1, MAX_DATA)
    }

    /// What the device has stored.
    pub fn store_status(&mut self) -> Result<StoreInfo, DeviceError> {
        self.shape = Shape::default();
        self.stored(Request::StoreStatus)
    }

    /// Stores a package on the device. `progress` gets the bytes sent so far and all of them.
    pub fn store(
        &mut self,
        package: &[u8],
        mut progress: impl FnMut(usize, usize),
    ) -> Result<StoreInfo, DeviceError> {
        self.shape = Shape::default();
        if u32::try_from(package.len()).is_err() {
            return Err(self.image_error(ImageError::Length));
        }
        let head = Header::read(package).map_or(0, |header| header.len());
        let (header, image) = package.split_at_checked(head).unwrap_or((package, &[]));
        self.done(Request::StoreBegin { header }, "making room for the model")?;
        let mut sent = header.len();
        for data in image.chunks(self.chunk()) {
            self.go_on()?;
            let offset = sent as u32;
            self.done(Request::StoreChunk { offset, data }, "storing the model")?;
            sent += data.len();
            progress(sent, package.len());
        }
        self.stored(Request::StoreEnd)
    }

    /// Adds or retires a key, as this signed package says.
    pub fn change_keys(&mut self, package: &[u8]) -> Result<StoreInfo, DeviceError> {
        self.shape = Shape::default();
        self.stored(Request::ChangeKeys { package })
    }

    fn stored(&mut self, request: Request<'_>) -> Result<StoreInfo, DeviceError> {
        match self.ask(request, "looking at the stored model")? {
            Reply::Store(info) => Ok(info),
            _ => Err(self.unexpected("looking at the stored model")),
        }
    }

    /// Sets the key that the device checks signatures with, once and for all.
    pub fn provision(&mut self, key: &[u8; 32]) -> Result<(), DeviceError> {
        self.shape = Shape::default();
        self.done(Request::Provision { key }, "setting its key")
    }

    /// Has the loaded model checked, and fetches what comes out. `progress` gets the counters from
    /// time to time.
    ///
    /// When the user or the time ends it, the verdicts found so far are returned, the others being
    /// unknown, and the device can start again.
    pub fn check(
        &mut self,
        what: &CheckRequest,
        mut progress: impl FnMut(&Stats),
    ) -> Result<Answer, DeviceError> {
        let doing = "preparing the run";
        let (property, budget) = (what.property, what.budget);
        match self.ask(Request::Prepare { property, budget }, doing)? {
            Reply::Prepared { .. } => {}
            _ => return Err(self.unexpected(doing)),
        }
        for &(param, value) in &what.bindings {
            self.done(Request::Bind { param, value }, doing)?;
        }
        self.done(Request::Run, "starting the run")?;
        let mut traces: Vec<ImageTrace> = Vec::new();
        let mut room = Room::new();
        let mut ended = Ended::Itself;
        let report = loop {
            if ended == Ended::Itself {
                ended = match self.line.deadline.over() {
                    None => Ended::Itself,
                    Some(Over::Timeout) => Ended::Timeout,
                    Some(Over::Cancelled | Over::Memory) => Ended::Cancelled,
                };
                if ended != Ended::Itself {
                    self.done(Request::Cancel, "cancelling the run")?;
                }
            }
            if ended == Ended::Itself {
                let left = self.line.deadline.left().map_or(POLL, |left| left.min(POLL));
                self.follow(left, &mut progress)?;
            }
            let report = self.status()?;
            progress(&report.stats);
            if report.image as usize != self.shape.bytes {
                return Err(self.line.protocol_error("what it checks is another model"));
            }
            match report.phase {
                Phase::Finished => break report,
                // It said that it does not.
                Phase::Running | Phase::Broken { .. } if ended != Ended::Itself => {
                    return Err(self.line.protocol_error("it continues with a run after its end"));
                }
                Phase::Running => {}
                Phase::Broken { property, steps } => {
                    let wanted = what.property.is_none_or(|only| only == property);
                    // A property breaks once.
                    let again = traces.iter().any(|trace| trace.property == property as usize);
                    if property as usize >= self.shape.properties || !wanted || again {
                        let what = "it breaks a property that it was not asked for, or twice";
                        return Err(self.line.protocol_error(what));
                    }
                    traces.push(self.trace(property, steps, &mut room)?);
                    self.done(Request::Run, "continuing the run")?;
                }
                other => {
                    let what = format!("during a run it reports that {}", phase_words(other));
                    return Err(self.line.protocol_error(what));
                }
            }
        };
        let properties = 0..self.shape.properties as u32;
        let verdicts = properties.map(|p| self.verdict(p)).collect::<Result<Vec<_>, _>>()?;
        if verdicts.contains(&Verdict::Open) {
            return Err(self.line.protocol_error("a property is open after a run has ended"));
        }
        let clauses = if verdicts.contains(&Verdict::Safe) { self.clauses()? } else { Vec::new() };
        Ok(Answer {
            verdicts,
            traces,
            clauses,
            terms: vec![],
            executed: Default::default(),
            // What a device says of this cannot be checked.
            steps: Vec::new(),
            stats: report.stats,
            instructions: report.instructions,
            arena_bytes: report.arena.into(),
            ended,
        })
    }

    /// Bytes of the model that it has.
    pub fn image_bytes(&self) -> u64 {
        self.shape.bytes as u64
    }

    /// What the device is doing.
    pub fn status(&mut self) -> Result<Report, DeviceError> {
        match self.ask(Request::Status, "asking for its state")? {
            Reply::Status(report) => Ok(report),
            _ => Err(self.unexpected("asking for its state")),
        }
    }

    /// Ends a run that may be in progress; the model stays.
    pub fn cancel(&mut self) -> Result<(), DeviceError> {
        self.done(Request::Cancel, "cancelling the run")
    }

    /// Has the device forget model and run.
    pub fn reset(&mut self) -> Result<(), DeviceError> {
        self.shape = Shape::default();
        self.done(Request::Reset, "resetting it")
    }

    /// Waits up to `pause` for the device to say that it has stopped.
    fn follow(
        &mut self,
        pause: Duration,
        progress: &mut impl FnMut(&Stats),
    ) -> Result<(), DeviceError> {
        let start = Instant::now();
        while let Some(event) = self.line.event(pause.saturating_sub(start.elapsed()))? {
            match event {
                Event::Progress(stats) => progress(&stats),
                Event::Broken { .. } | Event::Finished => break,
            }
        }
        Ok(())
    }

    fn verdict(&mut self, property: u32) -> Result<Verdict, DeviceError> {
        match self.ask(Request::FetchVerdict { property }, "fetching verdicts")? {
            Reply::Verdict(verdict) => Ok(verdict),
            _ => Err(self.unexpected("fetching verdicts")),
        }
    }

    fn trace(
        &mut self,
        property: u32,
        steps: u32,
        room: &mut Room,
    ) -> Result<ImageTrace, DeviceError> {
        // Each step has a place in its memory.
        if steps > self.info.heap || room.take_steps(steps as usize).is_none() {
            return Err(self.line.protocol_error("a trace has more steps than it has memory"));
        }
        let (None, initial) = self.packed(|offset| Request::FetchInitial { offset }, room)? else {
            return Err(self.unexpected("fetching a trace"));
        };
        let mut trace = ImageTrace { property: property as usize, initial, steps: Vec::new() };
        for index in 0..steps {
            self.go_on()?;
            match self.packed(|offset| Request::FetchStep { index, offset }, room)? {
                (Some(edge), inputs) => trace.steps.push((edge as usize, inputs)),
                (None, _) => return Err(self.unexpected("fetching a trace")),
            }
        }
        if !self.shape.is_path(&trace) {
            return Err(self.line.protocol_error("a trace is not a path through the model"));
        }
        Ok(trace)
    }

    /// Fetches bits, in as many pieces as it takes, and the edge if it is a step.
    fn packed(
        &mut self,
        request: impl Fn(u32) -> Request<'static>,
        room: &mut Room,
    ) -> Result<(Option<u32>, Vec<bool>), DeviceError> {
        let doing = "fetching a trace";
        let mut bytes = Vec::new();
        let mut before = None;
        loop {
            let offset = bytes.len() as u32;
            let (edge, bits) = match self.ask(request(offset), doing)? {
                Reply::Initial { bits, data } => {
                    bytes.extend_from_slice(data);
                    (None, bits as usize)
                }
                Reply::Step { edge, bits, data } => {
                    bytes.extend_from_slice(data);
                    (Some(edge), bits as usize)
                }
                _ => return Err(self.unexpected(doing)),
            };
            let expected = match edge {
                None => Some(self.shape.initial()),
                Some(edge) => self.shape.inputs(edge),
            };
            let is_same = before.is_none_or(|before| before == edge);
            if expected != Some(bits) || !is_same || bytes.len() > bits.div_ceil(8) {
                return Err(self.line.protocol_error("a trace does not fit the model"));
            }
            before = Some(edge);
            if bytes.len() == bits.div_ceil(8) {
                if room.take(bits).is_none() {
                    return Err(self.line.protocol_error("its traces are too long"));
                }
                let bit = |i: usize| bytes[i / 8] >> (i % 8) & 1 == 1;
                return Ok((edge, (0..bits).map(bit).collect()));
            }
            if bytes.len() as u32 == offset {
                return Err(self.line.protocol_error("a trace has a piece of no length"));
            }
        }
    }

    fn clauses(&mut self) -> Result<Vec<(usize, Vec<u32>)>, DeviceError> {
        let doing = "fetching the certificate";
        let shape = self.shape.clone();
        let mut clauses = Clauses::new(&shape, self.info.heap);
        let mut at = (0, 0);
        loop {
            self.go_on()?;
            let (cursor, offset) = at;
            let (data, next) = match self.ask(Request::FetchClauses { cursor, offset }, doing)? {
                Reply::Clauses { data, next } => (data.to_vec(), next),
                _ => return Err(self.unexpected(doing)),
            };
            let known = clauses.append(&data, offset as usize);
            known.map_err(|what| self.line.protocol_error(what))?;
            match next {
                None => return clauses.finish().map_err(|what| self.line.protocol_error(what)),
                // Without a record in each piece there would be no end to them.
                Some(next) if next == at || data.is_empty() => {
                    return Err(self.line.protocol_error("clauses do not come to an end"));
                }
                Some(next) => at = next,
            }
        }
    }

    /// Whether the image is one that this device can read, before it is sent in vain.
    fn suits(&self, image: &[u8]) -> Result<(), DeviceError> {
        let preamble = Preamble::read(image).map_err(|e| self.image_error(e))?;
        // Whoever reads images that say which program they are of reads others, too.
        let readable = VERSION_UNBOUND..=self.info.image_version;
        if !readable.contains(&preamble.version) {
            return Err(self.image_error(ImageError::Version(preamble.version)));
        }
        if preamble.word != self.info.word {
            return Err(self.image_error(ImageError::WordWidth(preamble.word)));
        }
        Ok(())
    }

    /// Continues unless it is over; then the device is left able to start again.
    fn go_on(&mut self) -> Result<(), DeviceError> {
        let Err(over) = self.line.deadline.check() else { return Ok(()) };
        self.reset()?;
        Err(DeviceError::Ended(over))
    }

    fn done(&mut self, request: Request<'_>, doing: &'static str) -> Result<(), DeviceError> {
        match self.ask(request, doing)? {
            Reply::Done => Ok(()),
            _ => Err(self.unexpected(doing)),
        }
    }

    /// Asks; a refusal is an error that says what to do.
    fn ask(&mut self, request: Request<'_>, doing: &'static str) -> Result<Reply<'_>, DeviceError> {
        let board = &self.info.board;
        let device = self.line.describe();
        let refusal = match self.line.ask(request, doing)? {
            Reply::Refused(refusal) => refusal,
            reply => return Ok(reply),
        };
        let board = board.clone();
        Err(match (refusal, request) {
            (Refusal::TooLarge { part, needed, available }, _) => {
                DeviceError::TooLarge { board, part, needed, available }
            }
            (Refusal::Image(error), _) => DeviceError::Image { board, error },
            (Refusal::Store(error), _) => DeviceError::Store { board, error },
            (Refusal::Param(error), Request::Bind { param, .. }) => {
                DeviceError::Param { param, error }
            }
            (Refusal::NoSuchProperty, Request::Prepare { property: Some(p), .. }) => {
                DeviceError::NoSuchProperty(p)
            }
            (refusal, _) => DeviceError::Refused { device, doing, refusal },
        })
    }

    fn image_error(&self, error: ImageError) -> DeviceError {
        DeviceError::Image { board: self.info.board.clone(), error }
    }

    fn unexpected(&self, doing: &str) -> DeviceError {
        self.line.protocol_error(format!("the wrong kind of reply while {doing}"))
    }
}

/// What a device reports about itself, for messages.
fn phase_words(phase: Phase) -> &'static str {
    match phase {
        Phase::Empty => "it has no model",
        Phase::Loading => "a model is being transferred",
        Phase::Loaded => "no run is prepared",
        Phase::Prepared => "the run has not started",
        Phase::Running => "a run is in progress",
        Phase::Broken { .. } => "a property is broken",
        Phase::Finished => "the run has finished",
    }
}

/// Whether a device has more to do for a request than to look something up.
fn needs_work(request: &Request<'_>) -> bool {
    match request {
        Request::LoadEnd
        | Request::LoadStored
        | Request::Prepare { .. }
        | Request::StoreStatus
        | Request::StoreBegin { .. }
        | Request::StoreChunk { .. }
        | Request::StoreEnd
        | Request::Provision { .. }
        | Request::ChangeKeys { .. } => true,
        Request::LoadBegin { .. }
        | Request::LoadChunk { .. }
        | Request::Bind { .. }
        | Request::Run
        | Request::Status
        | Request::FetchVerdict { .. }
        | Request::FetchInitial { .. }
        | Request::FetchStep { .. }
        | Request::FetchClauses { .. }
        | Request::Cancel
        | Request::Reset => false,
    }
}

#[cfg(test)]
mod endless;
#[cfg(test)]
mod tests;
