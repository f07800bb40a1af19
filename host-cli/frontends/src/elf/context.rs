//! Which code runs, who may interrupt it, and what they share.

use super::isa::Isa;
use super::state::Point;
use super::value::Values;
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::{ExprId, interrupt};

/// Whose turn it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Context {
    /// Before the first step: nothing interrupts it.
    Init,
    /// A step; handlers may interrupt it.
    Step,
    /// A handler, by number.
    Handler(u32),
    /// A function that says whether all is well between two steps, by number.
    Always(u32),
}

impl Context {
    /// The number of the variables that keep its registers and stack while others run; handlers have their own.
    pub fn bank(self) -> u32 {
        match self {
            Context::Handler(number) => number.saturating_add(1),
            Context::Init | Context::Step | Context::Always(_) => 0,
        }
    }
}

/// A handler of an interrupt.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// As the option or the marker names it, for messages and traces.
    pub name: String,
    /// Address of its first instruction.
    pub entry: u32,
    /// As it stands in the interrupt controller: smaller numbers are more urgent.
    pub priority: u8,
}

impl Handler {
    /// Whether the special registers, in their order, let it run (1 bit). The interrupt controller has so many bits of a priority.
    pub fn is_enabled(
        &self,
        isa: Isa,
        bits: u32,
        specials: [ExprId; 3],
        values: &mut Values,
    ) -> ExprId {
        let [primask, basepri, mstatus] = specials;
        let pool = &mut values.pool;
        if isa == Isa::Rv32 {
            let enabled = pool.slice(mstatus, 3, 1);
            return values.simplify(enabled);
        }
        let masked = pool.slice(primask, 0, 1);
        let base = pool.slice(basepri, 0, 8);
        let passes = interrupt::passes_on(pool, self.priority, base, bits);
        let unmasked = pool.not(masked);
        let enabled = pool.and(unmasked, passes);
        values.simplify(enabled)
    }
}

/// The handlers, and what is known of what they do.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Interrupts {
    /// All handlers; [`Context::Handler`] has the index.
    pub handlers: Vec<Handler>,
    /// Bits of a priority.
    pub bits: u32,
    /// Where they may run, apart from the beginning of a step: right before an instruction.
    pub pauses: BTreeSet<Point>,
    reads: BTreeMap<Context, BTreeSet<u32>>,
    writes: BTreeMap<Context, BTreeSet<u32>>,
}

impl Interrupts {
    /// Handlers of which nothing is known yet.
    pub fn new(handlers: &[Handler]) -> Interrupts {
        let bits = interrupt::priority_bits(handlers.iter().map(|handler| handler.priority));
        Interrupts { handlers: handlers.to_vec(), bits, ..Interrupts::default() }
    }

    /// Whether a handler, by its number, interrupts what runs.
    pub fn interrupts(&self, number: u32, context: Context) -> bool {
        let priority = |number: u32| self.handlers.get(number as usize).map(|h| h.priority);
        match context {
            Context::Step => true,
            Context::Handler(other) => priority(number) < priority(other),
            Context::Init | Context::Always(_) => false,
        }
    }

    /// The numbers of the handlers that interrupt what runs.
    pub fn of(&self, context: Context) -> impl Iterator<Item = u32> {
        (0..self.handlers.len() as u32).filter(move |number| self.interrupts(*number, context))
    }

    /// Notes an access to RAM.
    pub fn note(&mut self, context: Context, bytes: std::ops::Range<u32>, is_write: bool) {
        let all = if is_write { &mut self.writes } else { &mut self.reads };
        all.entry(context).or_default().extend(bytes);
    }

    /// Whether an access is to something that a handler shares which interrupts it: whether it matters who comes
    /// first.
    pub fn is_shared(&self, context: Context, bytes: std::ops::Range<u32>, is_write: bool) -> bool {
        let meets = |all: &BTreeMap<Context, BTreeSet<u32>>, number: u32| {
            let found = all.get(&Context::Handler(number));
            found.is_some_and(|all| all.range(bytes.clone()).next().is_some())
        };
        let mut handlers = self.of(context);
        handlers.any(|number| meets(&self.writes, number) || is_write && meets(&self.reads, number))
    }
}
