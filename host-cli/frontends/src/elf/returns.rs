//! What the return of a function means to what runs next: which interrupts are enabled then, and whether what must always hold does.

use super::context::Context;
use super::execute::Executor;
use super::isa::{Isa, Special};
use super::lift::Task;
use super::outcome::{Bad, Consumed, Outcome, Source};
use vouch_ir::{ExprId, InputId};

/// The bit of `mstatus` that enables interrupts.
const MIE: u32 = 8;
/// Special registers while nothing is masked: on RISC-V interrupts are enabled by a bit that is set.
pub const OPEN: [u32; 3] = [0, 0, MIE];

/// What its return means to others.
pub fn returned(
    task: &Task,
    executor: &mut Executor,
    context: Context,
    mut outcome: Outcome,
) -> Outcome {
    let Some(state) = &mut outcome.returned else { return outcome };
    match context {
        // Who calls the step has enabled them by then.
        Context::Init => {
            for (special, open) in state.specials_mut().iter_mut().zip(OPEN) {
                *special = executor.values.word(open);
            }
        }
        Context::Step => open(executor, &mut outcome),
        Context::Handler(_) => {
            // It was enabled, or it would not have run (RISC-V).
            *state.special_mut(Special::Mstatus) = executor.values.word(MIE);
            // The end of an exception clears it. What RISC-V has reserved stays so.
            if executor.elf.isa != Isa::Rv32 {
                state.monitor = executor.values.pool.bool(false);
            }
        }
        Context::Always(number) => {
            let result = state.reg(executor.abi.result());
            let path = executor.values.all(&state.conditions);
            let fails = executor.values.is_equal(result, 0);
            let when = executor.values.pool.and(path, fails);
            if let Some(function) = task.always.get(number as usize) {
                outcome.bad.insert(Bad::Always(*function), when);
            }
        }
    }
    outcome
}

/// What a step leaves disabled, who calls it may enable, or leave so. Without handlers it does not matter.
fn open(executor: &mut Executor, outcome: &mut Outcome) {
    let Some(state) = &mut outcome.returned else { return };
    let is_open = |(special, open): (&ExprId, u32)| {
        executor.values.pool.as_const(*special) == Some(open.into())
    };
    if executor.interrupts.handlers.is_empty() || state.specials().iter().zip(OPEN).all(is_open) {
        return;
    }
    let name = "interrupts enabled between steps".to_string();
    let enabled = executor.base.input(&mut executor.values, name, 1);
    let input = InputId(executor.base.inputs.len() as u32 - 1);
    let when = executor.values.all(&state.conditions);
    outcome.consumed.push(Consumed { input, when, source: Source::Open });
    for (special, open) in state.specials_mut().iter_mut().zip(OPEN) {
        let open = executor.values.word(open);
        *special = executor.values.select(enabled, open, *special);
    }
}
