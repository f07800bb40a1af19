//! A counterexample of a program in machine code, run on the program itself in QEMU.
//!
//! The automaton was lifted from the program, and a lifter can be wrong. So a run that breaks a property is called
//! *unsafe* only if the program does the same with the same inputs: it reaches that failure. Whatever the lifter did
//! wrong, such a run is one of the program.
//!
//! - [`plan`]: what has to be called, and what it reads on the way.
//! - [`machines`]: which machine of QEMU has memory where the program wants it.
//! - `board`: such a machine, through the stub for debuggers.
//! - `drive`: the program on it. `emulate`: instructions whose effect is not the program's own.
//! - [`script`]: the same run for people: for a debugger, in C and in Rust.

#[cfg(unix)]
pub mod board;
#[cfg(unix)]
mod drive;
#[cfg(unix)]
mod emulate;
pub mod machines;
pub mod plan;
pub mod script;

use crate::deadline;
use crate::frontend::elf::{self, Binary, Program};
use crate::ir::{Cfa, InputId};
use crate::judge::{Broken, Finding, Judgement};
use crate::pipeline::{Loaded, Origin};
use crate::validate::{self, Run};
pub use crate::verdict::Obstacle;
use crate::verdict::{Reason, Verdict};

/// What became of a run on the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Replayed {
    /// It reaches the failure, on this machine.
    Reached(&'static str),
    /// It does not: what happened instead.
    Missed(String),
    /// It could not be tried.
    Not(Obstacle),
}

/// Runs a run of the automaton on its program.
pub fn run(binary: &Binary, run: &Run) -> Replayed {
    deadline::phase("replaying on the program in QEMU");
    let plan = match plan::Plan::new(&binary.program, run) {
        Ok(plan) => plan,
        Err(obstacle) => return Replayed::Not(obstacle),
    };
    match attempt(binary, &plan) {
        // Where it depends on chance, that it does not fail now says nothing.
        Replayed::Missed(_) if plan.by_chance => Replayed::Not(Obstacle::Chance),
        // Which pass of a place it is that a handler runs at is not always known.
        Replayed::Missed(_) if plan.is_interrupted() => Replayed::Not(Obstacle::Interrupts),
        replayed => replayed,
    }
}

#[cfg(unix)]
fn attempt(binary: &Binary, plan: &plan::Plan) -> Replayed {
    drive::attempt(binary, plan)
}

#[cfg(not(unix))]
fn attempt(_: &Binary, _: &plan::Plan) -> Replayed {
    Replayed::Not(Obstacle::Failed("QEMU cannot be reached on this system".into()))
}

/// Takes back every *unsafe* that does not happen on the program that the model was lifted from. The runs are kept
/// along with the findings.
pub fn confirm(model: &Loaded, judgement: &mut Judgement) {
    if !model.origin.is_lifted() {
        return;
    }
    for (property, finding) in judgement.findings.iter_mut().chain(&mut judgement.besides) {
        let Finding::Unsafe(broken) = finding else { continue };
        if let Origin::Program(binary) = &model.origin {
            leave_out_leftovers(&model.cfa, &binary.program, broken);
        }
        let Some(reason) = refutes(model, broken) else { continue };
        // A run that replaces another is worth nothing if only the other can be done.
        if let Some(mut first) = broken.first.take()
            && refutes(model, &mut first).is_none()
        {
            **broken = Broken { shortest: Some(false), ..*first };
            continue;
        }
        if let Finding::Unsafe(broken) = std::mem::replace(finding, Finding::Unknown(reason)) {
            judgement.unconfirmed.push((*property, *broken));
        }
    }
    let is_any_known = judgement.all().any(|(_, f)| f.verdict() != Verdict::Unknown);
    judgement.validated &= is_any_known;
}

/// Leaves out of a run what words of the stack held before anybody wrote them, and registers that are not known to have a parameter,
/// where the run is one whatever that was: a result that is copied whole has such parts, which mean nothing to who reads the run.
fn leave_out_leftovers(cfa: &Cfa, program: &Program, broken: &mut Broken) {
    let Some(run) = &broken.run else { return };
    let name = |read: &elf::Read| cfa.inputs.get(read.input.index()).map(|input| &input.name);
    let is_leftover = |read: &&elf::Read| match read.source {
        elf::Source::Stack { at, .. } => name(read) == Some(&format!("stack{at:+}")),
        elf::Source::Argument { number, .. } => name(read) == Some(&format!("argument {number}")),
        _ => false,
    };
    let leftovers: Vec<InputId> = (program.reads.iter().filter(is_leftover))
        .map(|read| read.input)
        .filter(|id| run.steps.iter().any(|step| step.inputs.iter().any(|given| given.0 == *id)))
        .collect();
    let irrelevant = validate::irrelevant(cfa, run, &leftovers);
    let mut trace = broken.trace.clone();
    for step in &mut trace.steps {
        step.inputs.retain(|given| !irrelevant.contains(&given.0));
    }
    let Ok(mut run) = validate::replay(cfa, &trace) else { return };
    for step in &mut run.steps {
        step.inputs.retain(|given| !irrelevant.contains(&given.0));
    }
    (broken.trace, broken.run) = (trace, Some(run));
}

/// Why a run is not one of the program, as far as is known.
fn refutes(model: &Loaded, broken: &mut Broken) -> Option<Reason> {
    let (Origin::Program(binary), Some(trace)) = (&model.origin, &broken.run) else {
        return match &model.origin {
            Origin::Elsewhere => Some(Reason::NotReplayed(Obstacle::NoProgram)),
            // Without validation claims are believed.
            _ => None,
        };
    };
    match deadline::current().enter(|| run(binary, trace)) {
        Ok(Replayed::Reached(machine)) => {
            broken.replayed = Some(machine);
            None
        }
        Ok(Replayed::Missed(what)) => Some(Reason::NotReproduced(what)),
        Ok(Replayed::Not(obstacle)) => Some(Reason::NotReplayed(obstacle)),
        Err(over) => Some(Reason::Unchecked { claim: Verdict::Unsafe, over }),
    }
}
