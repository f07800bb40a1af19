//! Instructions before which handlers may run: accesses to what they share, and those that disable interrupts.

use super::context::Context;
use super::execute::{Executor, Flow};
use super::graph::Graph;
use super::isa::{Isa, Special};
use super::outcome::Stop;
use super::state::{Point, State};

impl Executor<'_> {
    /// Where the path is.
    pub fn point(&self, graph: &Graph) -> Point {
        let mut path: Vec<u32> = self.now.frames.iter().skip(1).map(|f| f.order).collect();
        path.push(graph.position(self.now.pc));
        let State { frames, pc, it, context, .. } = &self.now;
        Point { path, frames: frames.clone(), pc: *pc, it: *it, context: *context }
    }

    /// Whether handlers may run here; then the path ends.
    pub fn is_pause(&mut self) -> bool {
        if self.interrupts.pauses.is_empty() {
            return false;
        }
        let graph = self.graph();
        let point = self.point(&graph);
        let is_pause = self.interrupts.pauses.contains(&point);
        if is_pause {
            self.arrive(point);
        }
        is_pause
    }

    /// Whether a handler may be enabled that interrupts the path.
    pub fn is_open(&mut self) -> bool {
        let numbers: Vec<u32> = self.interrupts.of(self.now.context).collect();
        numbers.into_iter().any(|number| {
            let handler = &self.interrupts.handlers[number as usize];
            let specials = self.now.specials();
            let bits = self.interrupts.bits;
            let enabled = handler.is_enabled(self.elf.isa, bits, specials, &mut self.values);
            self.values.pool.as_const(enabled) != Some(0)
        })
    }

    /// A handler on RISC-V runs with interrupts disabled. Which of the others come if it enables them is up to an interrupt controller,
    /// and it may come itself once more.
    pub fn require_not_nested(&mut self) -> Result<(), Stop> {
        let is_handler = matches!(self.now.context, Context::Handler(_));
        if !is_handler || self.elf.isa != Isa::Rv32 {
            return Ok(());
        }
        let status = self.now.special(Special::Mstatus);
        let enabled = self.values.pool.slice(status, 3, 1);
        let enabled = self.values.simplify(enabled);
        self.require_not(enabled, Stop::Nested)
    }

    /// The handler goes back to what it has interrupted (RISC-V).
    pub fn leave(&mut self) -> Result<Flow, Stop> {
        let refuse = |why: &str| Err(Stop::Instruction(format!("mret: {why}")));
        match self.now.context {
            Context::Handler(_) if self.now.frames.len() > 1 => {
                refuse("a function that the handler calls does not return to it")
            }
            Context::Handler(_) => {
                self.outside.insert(self.now.pc);
                self.finish()
            }
            _ => refuse("this is not a handler"),
        }
    }

    /// Handlers may run before the instruction that is being run.
    pub fn pause(&mut self) {
        let graph = self.graph();
        let point = self.point(&graph);
        if self.interrupts.pauses.insert(point.clone()) {
            self.cuts.insert(point);
            self.is_paused = true;
        }
    }

    /// Notes an access to RAM: before one to something that a handler shares, that may run.
    pub fn share(&mut self, start: u32, bytes: u32, is_write: bool) -> Result<(), Stop> {
        if self.interrupts.handlers.is_empty() {
            return Ok(());
        }
        let (context, range) = (self.now.context, start..start.saturating_add(bytes));
        self.interrupts.note(context, range.clone(), is_write);
        if !self.interrupts.is_shared(context, range, is_write) || !self.is_open() {
            return Ok(());
        }
        let is_second = self.shared.replace(self.accesses).is_some_and(|at| at != self.accesses);
        if is_second || !start.is_multiple_of(bytes) {
            return Err(Stop::Torn);
        }
        self.pause();
        Ok(())
    }
}
