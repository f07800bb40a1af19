//! Runs instructions on symbolic values, from one location of the automaton to the next.
//!
//! The earliest point in the order of [`Point`]s is run first, and paths that meet there become one. Calls are
//! followed with the address they return to, so that every path knows who called whom. A loop is run round by
//! round while it ends by itself; one that does not becomes a location, where execution ends and begins anew.

use super::abi::Abi;
use super::base::{Base, Partition};
use super::context::{Context, Interrupts};
use super::failure;
use super::graph::{Graph, Graphs, instruction};
use super::guess::Guesses;
use super::isa::{Demand, Flag, It, Machine, Next, Reg, Special, Transfer};
use super::layout::Layout;
use super::outcome::{Bad, Consumed, Outcome, Restart, Source, Stop};
use super::reader::{Elf, Symbol};
use super::state::{Cell, Frame, Point, State};
use super::value::Values;
use rustc_hash::{FxHashMap as HashMap, FxHasher};
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use vouch_ir::{ExprId, InputId, Pool, deadline};

/// Where the entry returns to: no code is there.
pub const RETURN: u32 = 0xf1f1_f1f0;
/// Rounds of a loop that are run one after the other, if it is known in each whether there is another.
const ROUNDS: u32 = 300;
/// The same, if it is not known.
const OPEN_ROUNDS: usize = 40;
/// Instructions that are run from one location.
const MOST: u32 = 400_000;
/// Calls under way at a time.
const DEEPEST: usize = 48;
/// Runs instructions symbolically, from one location until all paths end or reach another.
pub struct Executor<'a> {
    /// The program whose code is executed.
    pub elf: &'a Elf,
    /// Which addresses are RAM, flash, peripherals and inputs.
    pub layout: &'a Layout<'a>,
    /// Its calling convention.
    pub abi: Abi,
    /// The order of its instructions.
    pub graphs: &'a mut Graphs,
    /// Functions whose result is an input, by address.
    pub functions: &'a BTreeMap<u32, (String, u32, bool)>,
    /// Loops that are locations.
    pub cuts: &'a mut BTreeSet<Point>,
    /// Handlers that may interrupt it.
    pub interrupts: &'a mut Interrupts,
    /// The expressions that registers and memory hold.
    pub values: Values,
    /// Where they come from.
    pub base: Base<'a>,
    /// Accesses to RAM.
    pub partition: Partition,
    /// The path that is run.
    pub now: State,
    /// How far down the stack was used.
    pub lowest: i32,
    /// Bytes of flash that were executed or read.
    pub code: BTreeSet<u32>,
    /// Bytes of RAM that were accessed.
    pub ram: BTreeSet<u32>,
    /// Those of them that were read.
    pub read: BTreeSet<u32>,
    /// Values that were written to RAM, by the address of the first byte.
    pub stored: BTreeMap<u32, BTreeSet<ExprId>>,
    /// Values that were given to devices, by the address of the instruction.
    pub given: BTreeMap<u32, BTreeSet<ExprId>>,
    /// Where pointers in statics may lead, and the words of RAM that values were read from.
    pub guesses: Guesses,
    pub loaded: HashMap<ExprId, u32>,
    /// Instructions whose effect is not the program's own.
    pub outside: BTreeSet<u32>,
    outcome: Outcome,
    queue: BTreeMap<Point, State>,
    /// Paths in an IT block.
    apart: Vec<State>,
    /// For instructions and who called them the addresses that they could access last, and before that.
    walked: HashMap<(u64, u32), [Vec<u32>; 2]>,
    /// For heads of loops: rounds, and how many conditions there were before the first.
    rounds: BTreeMap<Point, (u32, usize)>,
    count: u32,
    /// Why execution begins anew, if it does.
    pub restart: Option<Restart>,
    /// Whether there is a new pause, so that execution begins anew in the end.
    pub is_paused: bool,
    /// The accesses of the instruction so far, and which of them was to something that is shared.
    pub accesses: u32,
    pub shared: Option<u32>,
}

/// Whether the path goes on at once.
pub enum Flow {
    /// It goes on with the next instruction.
    On,
    /// It has ended, or waits for others.
    Done,
}

impl<'a> Executor<'a> {
    /// An executor that has not run anything.
    pub fn new(
        elf: &'a Elf,
        layout: &'a Layout<'a>,
        graphs: &'a mut Graphs,
        functions: &'a BTreeMap<u32, (String, u32, bool)>,
        cuts: &'a mut BTreeSet<Point>,
        interrupts: &'a mut Interrupts,
        base: Base<'a>,
    ) -> Executor<'a> {
        let mut values = Values::new(InputId(0));
        let (word, bit) = (values.word(0), values.pool.bool(false));
        Executor {
            elf,
            layout,
            abi: Abi::of(elf.isa),
            graphs,
            functions,
            cuts,
            interrupts,
            values,
            base,
            partition: Partition::default(),
            now: State::new(word, bit, Context::Init),
            lowest: 0,
            code: BTreeSet::new(),
            ram: BTreeSet::new(),
            read: BTreeSet::new(),
            stored: BTreeMap::new(),
            given: BTreeMap::new(),
            guesses: Guesses::default(),
            loaded: HashMap::default(),
            outside: BTreeSet::new(),
            outcome: Outcome::default(),
            queue: BTreeMap::new(),
            apart: vec![],
            walked: HashMap::default(),
            rounds: BTreeMap::new(),
            count: 0,
            restart: None,
            is_paused: false,
            accesses: 0,
            shared: None,
        }
    }

    /// Runs from a state to all that it leads to.
    pub fn run(&mut self, start: State) -> Result<Outcome, Restart> {
        self.queue.clear();
        self.apart.clear();
        self.walked.clear();
        self.rounds.clear();
        self.count = 0;
        self.now = start;
        self.go();
        loop {
            let next = self.apart.pop().or_else(|| self.queue.pop_first().map(|(_, state)| state));
            let Some(state) = next.filter(|_| self.restart.is_none()) else { break };
            self.now = state;
            self.go();
        }
        let paused = std::mem::take(&mut self.is_paused).then_some(Restart::Cut);
        if let Some(restart) = self.restart.take().or(paused) {
            return Err(restart);
        }
        for (offset, input) in self.base.unwritten() {
            let when = self.values.pool.bool(true);
            let source = Source::Stack { at: offset, width: 32, signed: false };
            self.outcome.consumed.push(Consumed { input, when, source });
        }
        Ok(std::mem::take(&mut self.outcome))
    }

    /// The order of the innermost function.
    pub fn graph(&mut self) -> Rc<Graph> {
        let entry = self.now.frames.last().map_or(self.now.pc, |f| f.entry);
        self.graphs.get(self.elf, entry)
    }

    /// Runs the path until it ends or waits for others.
    fn go(&mut self) {
        let mut flow = Flow::On;
        while let Flow::On = flow {
            deadline::tick();
            self.count += 1;
            if self.count > MOST {
                self.stop(Stop::Size);
                return;
            }
            flow = match self.step() {
                Ok(flow) => flow,
                Err(stop) => {
                    self.stop(stop);
                    Flow::Done
                }
            };
        }
    }

    /// The path ends where what is modelled ends.
    pub fn stop(&mut self, stop: Stop) {
        if stop != Stop::NoWay {
            let when = self.values.all(&self.now.conditions);
            self.bad(Bad::Limit(stop, self.now.pc), when);
        }
    }

    fn bad(&mut self, bad: Bad, when: ExprId) {
        let no = self.values.pool.bool(false);
        let before = self.outcome.bad.get(&bad).copied().unwrap_or(no);
        let when = self.values.pool.or(before, when);
        self.outcome.bad.insert(bad, when);
    }

    /// Leaves the model if `bad`; goes on otherwise.
    pub fn require_not(&mut self, bad: ExprId, stop: Stop) -> Result<(), Stop> {
        let bad = self.values.off_stack(bad).ok_or(Stop::Stack)?;
        if self.is_impossible(bad) {
            return Ok(());
        }
        if self.values.pool.as_const(bad) == Some(1) {
            return Err(stop);
        }
        let path = self.values.all(&self.now.conditions);
        let when = self.values.pool.and(path, bad);
        self.bad(Bad::Limit(stop, self.now.pc), when);
        let holds = self.values.pool.not(bad);
        self.now.conditions.push(holds);
        Ok(())
    }

    /// Whether something certainly does not hold on this path.
    pub fn is_impossible(&mut self, x: ExprId) -> bool {
        let not = self.values.pool.not(x);
        self.values.pool.as_const(x) == Some(0) || self.now.conditions.contains(&not)
    }

    /// Whether an instruction in a loop steps from one object into the next, as it has stepped before. Where it is not known when the loop
    /// ends, rounds are run that no run of the program has: they must not reach what is not theirs.
    pub fn walks_off(&mut self, address: u32) -> bool {
        /// Elements are not larger.
        const STEP: u32 = 64;
        let Some([last, before]) = self.walked.get(&self.site()) else { return false };
        let mut is_next = false;
        for last in last {
            let Some(object) = self.layout.thing(*last) else { continue };
            let object = object.start..object.end;
            if object.contains(&address) {
                return false;
            }
            let by = address.wrapping_sub(*last);
            let is_step = object.contains(&last.wrapping_sub(by)) && last.abs_diff(address) <= STEP;
            is_next |= is_step && before.contains(&last.wrapping_sub(by));
        }
        is_next
    }

    /// Notes which addresses an instruction can access in this round.
    pub fn walked_to(&mut self, addresses: Vec<u32>) {
        let site = self.site();
        let [last, before] = self.walked.entry(site).or_default();
        *before = std::mem::replace(last, addresses);
    }

    /// An access of an instruction, which may make several, and who called it.
    fn site(&self) -> (u64, u32) {
        let mut hasher = FxHasher::default();
        (&self.now.frames, self.accesses).hash(&mut hasher);
        (hasher.finish(), self.now.pc)
    }

    /// A value that the outside decides about.
    pub fn fresh(&mut self, name: String, width: u32, source: Source) -> ExprId {
        let always = self.values.pool.bool(true);
        self.fresh_if(always, name, width, source)
    }

    /// A value that the outside decides about, and that this path reads only if `read`.
    pub fn fresh_if(&mut self, read: ExprId, name: String, width: u32, source: Source) -> ExprId {
        let value = self.base.input(&mut self.values, name, width);
        let input = InputId(self.base.inputs.len() as u32 - 1);
        let path = self.values.all(&self.now.conditions);
        let when = self.values.pool.and(path, read);
        self.outcome.consumed.push(Consumed { input, when, source });
        value
    }

    /// A value of which nothing is known.
    pub fn unknown(&mut self, name: &str, width: u32) -> ExprId {
        self.base.input(&mut self.values, name.into(), width)
    }

    /// Notes that flash was used.
    pub fn touched(&mut self, start: u32, bytes: u32) {
        self.code.extend(start..start.saturating_add(bytes));
    }

    /// A byte of memory.
    pub fn byte(&mut self, cell: Cell) -> ExprId {
        match self.now.memory.get(&cell) {
            Some(value) => *value,
            None => self.base.read(&mut self.values, cell),
        }
    }

    /// Whether a condition holds: decided by what is known, if that can be.
    fn decide(&mut self, condition: ExprId) -> Result<ExprId, Stop> {
        let condition = self.values.off_stack(condition).ok_or(Stop::Stack)?;
        let not = self.values.pool.not(condition);
        if self.now.conditions.contains(&condition) {
            return Ok(self.values.pool.bool(true));
        }
        if self.now.conditions.contains(&not) {
            return Ok(self.values.pool.bool(false));
        }
        Ok(condition)
    }

    /// Runs one instruction.
    fn step(&mut self) -> Result<Flow, Stop> {
        if !std::mem::take(&mut self.now.is_resumed) && self.is_pause() {
            return Ok(Flow::Done);
        }
        (self.accesses, self.shared) = (0, None);
        self.require_not_nested()?;
        let (pc, it) = (self.now.pc, self.now.it);
        let Some(decoded) = instruction(self.elf, pc, it) else {
            return Err(self.refused(pc, it));
        };
        self.touched(pc, decoded.length);
        if decoded.waits() {
            self.outside.insert(pc);
        }
        let fall = pc.wrapping_add(decoded.length);
        if let Some(condition) = decoded.condition {
            let holds = condition.holds(self);
            let holds = self.decide(holds)?;
            match self.values.pool.as_const(holds) {
                Some(0) => return Ok(self.at(fall, decoded.it)),
                Some(_) => {}
                None => {
                    let mut other = self.now.clone();
                    let not = self.values.pool.not(holds);
                    other.assume(not, self.abi.stack, &mut self.values);
                    self.now.assume(holds, self.abi.stack, &mut self.values);
                    self.fork(other, fall, decoded.it);
                }
            }
        }
        match decoded.execute(self)? {
            Next::Fall => Ok(self.at(fall, decoded.it)),
            Next::Go { taken, to, transfer } => {
                let taken = self.decide(taken)?;
                match self.values.pool.as_const(taken) {
                    Some(0) => return Ok(self.at(fall, decoded.it)),
                    Some(_) => {}
                    None => {
                        let mut other = self.now.clone();
                        let not = self.values.pool.not(taken);
                        other.assume(not, self.abi.stack, &mut self.values);
                        self.now.assume(taken, self.abi.stack, &mut self.values);
                        self.fork(other, fall, It::NONE);
                    }
                }
                self.transfer(to, fall, transfer)
            }
            Next::Trap => {
                let when = self.values.all(&self.now.conditions);
                self.bad(Bad::Failure("trap", pc), when);
                Ok(Flow::Done)
            }
            Next::Leave => self.leave(),
            Next::Supervisor => Err(Stop::Supervisor),
        }
    }

    fn refused(&self, pc: u32, it: It) -> Stop {
        if !self.elf.is_code(pc) {
            return Stop::Jump;
        }
        let bytes = self.elf.code(pc).unwrap_or_default();
        match super::isa::decode(self.elf.isa, &bytes[..bytes.len().min(4)], pc, it) {
            Err(refused) => Stop::Instruction(refused.to_string()),
            Ok(_) => Stop::Jump,
        }
    }

    /// Goes on at an address of the same function.
    pub fn at(&mut self, pc: u32, it: It) -> Flow {
        let graph = self.graph();
        let from = graph.position(self.now.pc);
        self.now.pc = pc;
        self.now.it = it;
        if graph.is_join(pc) || graph.is_head(pc) {
            self.wait(from, &graph);
            return Flow::Done;
        }
        Flow::On
    }

    /// Another path goes on at an address of the same function, later.
    fn fork(&mut self, other: State, pc: u32, it: It) {
        let mine = std::mem::replace(&mut self.now, other);
        let graph = self.graph();
        let from = graph.position(self.now.pc);
        self.now.pc = pc;
        self.now.it = it;
        // Within an IT block paths stay apart: what one has done tells what the other has not.
        match it.is_inside() {
            true => self.apart.push(self.now.clone()),
            false => self.wait(from, &graph),
        }
        self.now = mine;
    }

    /// Lets the path wait until all others have arrived that lead here.
    pub fn wait(&mut self, from: u32, graph: &Graph) {
        let (order, point) = (graph.position(self.now.pc), self.point(graph));
        if graph.is_head(self.now.pc) {
            let conditions = self.now.conditions.len();
            let (rounds, first) = self.rounds.entry(point.clone()).or_default();
            match from >= order {
                true => *rounds += 1,
                false => (*rounds, *first) = (0, conditions),
            }
            let is_open = conditions > *first + OPEN_ROUNDS;
            if (*rounds > ROUNDS || is_open && *rounds > 0) && self.cuts.insert(point.clone()) {
                self.restart = self.restart.or(Some(Restart::Cut));
                return;
            }
        }
        self.arrive(point);
    }

    /// Lets the path end at a location, or wait.
    pub fn arrive(&mut self, point: Point) {
        let state = self.now.clone();
        let place = match self.cuts.contains(&point) {
            true => &mut self.outcome.arrived,
            false => &mut self.queue,
        };
        match place.get_mut(&point) {
            Some(there) => {
                let base = &mut self.base;
                there.merge(state, &mut self.values, |v, cell| base.read(v, cell));
            }
            None => {
                place.insert(point, state);
            }
        }
    }

    /// Goes on in a caller.
    pub fn back(&mut self, to: u32) -> Flow {
        let graph = self.graph();
        // As if the call itself had led there.
        let site = to.wrapping_sub(2);
        let from = graph.position(site).min(graph.position(to.wrapping_sub(4)));
        self.now.pc = to;
        self.now.it = It::NONE;
        self.wait(from, &graph);
        Flow::Done
    }

    /// Calls a function; one without a way back returns for its caller.
    pub fn call(&mut self, to: u32, back: Option<u32>) -> Result<Flow, Stop> {
        let pc = self.now.pc;
        if let Some(function) = self.elf.function(to).filter(|f| f.start == to) {
            if let Some(what) = failure::failure(&function.name, &function.shown()) {
                let when = self.values.all(&self.now.conditions);
                self.bad(Bad::Failure(what, pc), when);
                return Ok(Flow::Done);
            }
            if let Some((name, width, signed)) = self.functions.get(&to).cloned() {
                return self.input(function, &name, width, signed, back);
            }
        }
        if !self.elf.is_code(to) {
            return Err(Stop::Jump);
        }
        let frames = &self.now.frames;
        if frames.len() >= DEEPEST || frames.iter().any(|f| f.entry == to) {
            let name = self.elf.function(to).map_or_else(|| format!("{to:#x}"), |f| f.shown());
            return Err(Stop::Recursion(name));
        }
        let order = self.graph().position(pc);
        self.now.frames.push(Frame { order, site: pc, entry: to, back });
        self.now.pc = to;
        self.now.it = It::NONE;
        let graph = self.graph();
        self.wait(0, &graph);
        Ok(Flow::Done)
    }

    /// A function whose result is an input. What a function may change, registers that calls do not preserve and the
    /// flags, it has changed as far as its own code does.
    fn input(
        &mut self,
        function: &Symbol,
        name: &str,
        width: u32,
        signed: bool,
        back: Option<u32>,
    ) -> Result<Flow, Stop> {
        let value = self.fresh(name.to_owned(), width, Source::Function(function.start));
        let value = self.values.pool.extend(value, 32, signed);
        let link = self.now.reg(self.abi.link);
        let written = self.graphs.written(self.elf, function);
        for reg in self.abi.lost.iter().map(|reg| Reg(*reg)).filter(|reg| written.has(*reg)) {
            *self.now.reg_mut(reg) = self.unknown("clobbered", 32);
        }
        let flags = [Flag::N, Flag::Z, Flag::C, Flag::V];
        for flag in flags.into_iter().filter(|flag| written.has_flag(*flag)) {
            *self.now.flag_mut(flag) = self.unknown("clobbered", 1);
        }
        *self.now.reg_mut(self.abi.result()) = value;
        match back {
            Some(back) => Ok(self.at(back, It::NONE)),
            // For its caller.
            None => {
                let bits = self.values.word(!1);
                let to = self.values.pool.and(link, bits);
                self.transfer(to, 0, Transfer::Return)
            }
        }
    }

    /// The entry returns.
    pub fn finish(&mut self) -> Result<Flow, Stop> {
        if self.values.stack_offset(self.now.reg(self.abi.stack)) != Some(0) {
            return Err(Stop::Stack);
        }
        let state = self.now.clone();
        match &mut self.outcome.returned {
            Some(there) => {
                let base = &mut self.base;
                there.merge(state, &mut self.values, |v, cell| base.read(v, cell));
            }
            none => *none = Some(state),
        }
        Ok(Flow::Done)
    }
}

impl Machine for Executor<'_> {
    type Stop = Stop;

    fn pool(&mut self) -> &mut Pool {
        &mut self.values.pool
    }
    fn reg(&mut self, reg: Reg) -> ExprId {
        self.now.reg(reg)
    }
    fn set_reg(&mut self, reg: Reg, value: ExprId) {
        let value = self.values.simplify(value);
        *self.now.reg_mut(reg) = value;
        // What is below the stack pointer is lost: an interrupt may have been there.
        if reg == self.abi.stack
            && let Some(offset) = self.values.stack_offset(value)
        {
            self.lowest = self.lowest.min(offset);
            let below = Cell::Stack(i32::MIN)..Cell::Stack(offset);
            let lost = self.base.give_up(&mut self.values, offset, &self.now.memory);
            if !lost.is_empty() || self.now.memory.range(below.clone()).next().is_some() {
                let memory = Rc::make_mut(&mut self.now.memory);
                memory.retain(|cell, _| !below.contains(cell));
                memory.extend(lost);
            }
        }
    }
    fn flag(&mut self, flag: Flag) -> ExprId {
        self.now.flag(flag)
    }
    fn set_flag(&mut self, flag: Flag, value: ExprId) {
        // What cannot be freed of the stack's address stays, and stops who decides by it.
        let value = self.values.off_stack(value).unwrap_or(value);
        *self.now.flag_mut(flag) = value;
    }
    fn special(&mut self, special: Special) -> ExprId {
        self.outside.insert(self.now.pc);
        self.now.special(special)
    }
    fn set_special(&mut self, special: Special, value: ExprId) {
        self.outside.insert(self.now.pc);
        // Before interrupts are disabled, one may come.
        if self.is_open() {
            self.pause();
        }
        *self.now.special_mut(special) = self.values.simplify(value);
    }
    fn load(&mut self, address: ExprId, bytes: u32, aligned: bool) -> Result<ExprId, Stop> {
        self.accesses += 1;
        self.read(address, bytes, aligned)
    }
    fn store(&mut self, address: ExprId, value: ExprId, aligned: bool) -> Result<(), Stop> {
        self.accesses += 1;
        self.write(address, value, aligned)
    }
    fn update(
        &mut self,
        address: ExprId,
        bytes: u32,
        new: impl FnOnce(&mut Self, ExprId) -> ExprId,
    ) -> Result<ExprId, Stop> {
        self.accesses += 1;
        let old = self.read(address, bytes, true)?;
        let value = new(self, old);
        self.write(address, value, true)?;
        Ok(old)
    }
    fn monitor(&mut self) -> ExprId {
        self.outside.insert(self.now.pc);
        let held = self.now.monitor;
        if self.values.pool.as_const(held) == Some(0) {
            return held;
        }
        // It may be lost for reasons of the processor's own.
        let kept = self.fresh_if(held, "monitor".into(), 1, Source::Monitor(self.now.pc));
        self.values.pool.and(held, kept)
    }
    fn set_monitor(&mut self, held: bool) {
        self.outside.insert(self.now.pc);
        self.now.monitor = self.values.pool.bool(held);
    }
    fn demand(&mut self, holds: ExprId, demand: Demand) -> Result<(), Stop> {
        let bad = self.values.pool.not(holds);
        self.require_not(bad, Stop::Demand(demand))
    }
}
