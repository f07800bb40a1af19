//! What variables, inputs and locations are called: as in the source, as far as debug information tells.

use super::abi::Abi;
use super::base::{FIXED_BANK, Slot};
use super::lift::{Pause, Place, Task, register, width};
use super::outcome::{Consumed, Source};
use super::reader::Symbol;
use super::state::Cell;
use super::types::Shape;
use vouch_ir::{Input, Type, Var, VarKind};

/// Names of a program.
pub struct Names<'a> {
    task: &'a Task<'a>,
    abi: Abi,
}

impl<'a> Names<'a> {
    /// Those that the debug information has.
    pub fn new(task: &'a Task<'a>) -> Names<'a> {
        Names { task, abi: Abi::of(task.elf.isa) }
    }

    /// The variable for a slot.
    pub fn var(&self, slot: Slot) -> Var {
        let unsigned = |name: String| (name, Type::Unsigned);
        let ((name, ty), width) = match slot {
            Slot::Fixed(index) => {
                let index = index % FIXED_BANK;
                (unsigned(register(&self.abi, index)), width(index as usize))
            }
            Slot::Memory(Cell::Ram(at), bytes) => {
                let known = self.task.debug.find(at, bytes);
                (known.unwrap_or_else(|| unsigned(self.task.layout.name(at))), 8 * bytes)
            }
            Slot::Memory(Cell::Stack(at), bytes) => (unsigned(format!("stack{at:+}")), 8 * bytes),
        };
        Var { name, width, ty, kind: VarKind::State }
    }

    /// Arguments get the names of parameters, and results of functions are shown as what they are. How wide an
    /// input is stays as it was.
    pub fn inputs(&self, consumed: &[(Place, Consumed)], inputs: &mut [Input]) {
        for (place, Consumed { input, source, .. }) in consumed {
            let Some(input) = inputs.get_mut(input.index()) else { continue };
            match (source, place) {
                (Source::Argument { number, .. }, Place::Init | Place::Step) => {
                    let task = self.task;
                    let entry = if *place == Place::Init { task.init } else { Some(task.entry) };
                    let function = entry.and_then(|entry| self.task.debug.function(entry));
                    if let Some((name, ty)) = function.and_then(|f| f.argument(*number)) {
                        (input.name, input.ty) = (name.to_owned(), ty);
                    }
                }
                (Source::Function(at), _) => {
                    if self.task.functions.get(at).is_some_and(|(_, _, signed)| *signed) {
                        input.ty = Type::Signed;
                    }
                    let result = self.task.debug.function(*at).and_then(|f| f.result.as_ref());
                    if let Some(Shape::Value(ty)) = result.map(|kind| &kind.shape) {
                        input.ty = ty.clone();
                    }
                }
                _ => {}
            }
        }
    }

    /// The name of a location.
    pub fn location(&self, pauses: &[Pause], place: &Place) -> String {
        let Task { elf, handlers, entry, .. } = self.task;
        let handler = |number: &u32| {
            handlers.get(*number as usize).map_or("handler".into(), |handler| handler.name.clone())
        };
        match place {
            Place::Init => "init".into(),
            Place::Step => {
                let name = elf.function(*entry).map_or("step".into(), Symbol::shown);
                let name = name.rsplit("::").next().unwrap_or(&name);
                match elf.lines.line(*entry) {
                    Some(line) => format!("{name} at {line}"),
                    None => name.to_owned(),
                }
            }
            Place::Handler(number) => handler(number),
            Place::Handled(number) => format!("{} returns", handler(number)),
            Place::Always(number) => format!("always {number}"),
            Place::Loop(point) => {
                let is_access = pauses.iter().any(|pause| pause.at == *place && pause.is_access);
                let what = if is_access { "access" } else { "loop" };
                match elf.lines.place(point.pc) {
                    Some(place) => format!("{what} in {place}"),
                    None => format!("{what} at {:#010x}", point.pc),
                }
            }
        }
    }
}
