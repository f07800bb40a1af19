//! The verifier alone: a model in flash, a block of memory, a verdict.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use core::hint::black_box;
use vouch_alone::{model, rest};
use vouch_core::ic3::{Config, Engine, Plan, Status, Verdict};
use vouch_core::image::Image;

#[cortex_m_rt::entry]
fn main() -> ! {
    let mut memory = black_box([0u32; 256]);
    rest(prove(model(), &mut memory))
}

/// Everything that a device needs to prove a model with its own parameters, and to tell a run that
/// breaks it or the invariant that keeps it safe.
fn prove(bytes: &'static [u8], memory: &mut [u32]) -> Option<bool> {
    let image = Image::<u16>::new_checked(bytes).ok()?;
    let plan = Plan::new(&image, memory.len() * 4).ok()?;
    let mut engine = Engine::new(&image, plan, Config::new(black_box(0), None), memory);
    engine.bind(&image, memory, black_box(0), black_box(0)).ok()?;
    engine.seed(&image, memory, black_box(0), black_box(&[0]));
    loop {
        match engine.step(&image, memory, black_box(1000)) {
            Status::Running => {}
            Status::Finished => break,
            Status::Broken { property } => {
                black_box(property);
                let mut bits = [0u8; 64];
                engine.trace_initial(&image, memory, &mut bits)?;
                for step in 0..engine.trace_len() {
                    black_box(&bits);
                    engine.trace_step(&image, memory, step, &mut bits)?;
                }
            }
        }
    }
    let mut at = 0;
    let mut lits = [0u32; 64];
    while let Some(clause) = engine.clause(&image, memory, at, &mut lits) {
        black_box((clause, lits));
        at = clause.next;
    }
    Some(black_box(engine.verdict(memory, 0)) == Verdict::Safe)
}
