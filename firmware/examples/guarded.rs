//! An application that starts only after the self-check, and is guarded while it runs.
//!
//! The model is the one stored in flash, read where it lies. The application is the model itself, run
//! with inputs by chance: what a product's own state machine would do. Bits of its state are flipped
//! now and then, as radiation or a stray pointer would, and the guard is asked.
//!
//! The invariant that guards it is the one that was proved: the stored certificate, or what the device
//! found itself.
//!
//! It tells about all that in lines of text on the board's port, and restarts once, to show that the
//! verdict outlives a reset.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec;
use core::hint::black_box;
use vouch_core::guard::{At, Guard, bit, set_bit};
use vouch_core::image::Image;
use vouch_device::Trial;
use vouch_device::boot::{self, Outcome, Permit, SelfCheck};
use vouch_device::package::Product;
use vouch_device::record;
use vouch_firmware::board::{Board, Current};
use vouch_firmware::count::Counter;
use vouch_firmware::hw::{self, memory};
use vouch_firmware::models::Models;
use vouch_firmware::{heap, say};

/// What this device is, in flash, as its maker has set it: models for others are not taken. All zeros is nothing in particular.
static PRODUCT: Product = [0; 16];

#[vouch_firmware::entry]
fn main() -> ! {
    vouch_firmware::start();
    let counter = Counter::calibrated();
    say!("{} starts", Current::NAME);
    self_check(&counter);
    say!("done");
    loop {
        Current::feed_watchdog();
        core::hint::spin_loop();
    }
}

/// The boot self-check as a product would have it. The application runs only if it may.
fn self_check(counter: &Counter) {
    let mut models = Models::for_product(*black_box(&PRODUCT));
    let before = counter.instructions();
    let stored = match models.select_tried(passes) {
        Ok(stored) => stored,
        Err(why) => return say!("no model: {why}"),
    };
    say!("signature: {:?} instructions", since(counter, before));
    let before = counter.instructions();
    let bytes = bytemuck::cast_slice(models.image(&stored));
    let image = match Image::<u16>::new_hashed(&bytes[..stored.header.length as usize]) {
        Ok(image) => image,
        Err(why) => return say!("no model: {why}"),
    };
    say!("model: {}, {} bytes", image.header.name, stored.header.length);
    say!("validation: {:?} instructions", since(counter, before));

    let config = config();
    let subject = record::subject(&stored.header.hash, config.parameters);
    let record = memory::record();
    let remembered = record.recall(&subject);
    say!("remembered: {remembered:?}");
    let mut arena = vec![0; heap::available().saturating_sub(Runner::bytes(&image)) / 4];
    let before = counter.instructions();
    let outcome = boot::check(&image, &config, &mut arena, &mut feed());
    let spent = since(counter, before);
    record.remember(&subject, &outcome);
    say!("self-check: {:?} by {:?}", outcome.verdict, outcome.method);
    say!("decision: {:?}", outcome.decision);
    say!("cost: {spent:?} instructions, {} bytes", outcome.peak_bytes);
    let (stack, used) = memory::stack_used();
    say!("stack: {used} of {stack} bytes");
    // Once will do.
    let guarded = remembered.is_none();
    outcome.start(|permit| started(permit, &outcome, &image, &arena, counter, guarded));
    if guarded {
        say!("restarting");
        hw::reset();
    }
}

/// Whether an update may count: its self-check passes. What is decided here is checked again before anything starts.
fn passes(image: &[u8]) -> Trial {
    let Ok(image) = Image::<u16>::new_hashed(image) else { return Trial::FAILED };
    let mut arena = vec![0; heap::available() / 4];
    let outcome = boot::check(&image, &config(), &mut arena, &mut feed());
    say!("trial of {}: {:?}", image.header.name, outcome.verdict);
    outcome.trial()
}

/// What feeds the watchdog. Of one type, so that the self-check is there once.
fn feed() -> fn() {
    Current::feed_watchdog
}

/// What is checked. A product takes the parameters from its configuration.
fn config() -> SelfCheck<'static> {
    SelfCheck { parameters: &[], slice: Current::SLICE, ..SelfCheck::default() }
}

/// The application, which runs only if it may. Not inlined, and what comes first is to ask whether it is here
/// by right.
#[inline(never)]
fn started(
    permit: Permit<'_>,
    outcome: &Outcome,
    image: &Image<'_, u16>,
    arena: &[u32],
    counter: &Counter,
    guarded: bool,
) {
    permit.confirm();
    say!("application started: {}", image.header.name);
    if guarded && let Some(invariant) = outcome.invariant(image, arena) {
        say!("guarded by {} words of {:?}", invariant.len(), outcome.method);
        application(&Guard::new(image, invariant), image, counter);
    }
}

/// Instructions since `before`, where they can be counted.
fn since(counter: &Counter, before: Option<u64>) -> Option<u64> {
    Some(counter.instructions()? - before?)
}

/// Numbers by chance, the same in each run.
struct Dice(u32);

impl Dice {
    fn roll(&mut self) -> u32 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        self.0
    }
    fn below(&mut self, n: usize) -> usize {
        (self.roll() >> 8) as usize % n.max(1)
    }
    fn fill(&mut self, bytes: &mut [u8]) {
        bytes.iter_mut().for_each(|byte| *byte = self.roll() as u8);
    }
}

/// The application's state, and what it needs to make a step.
struct Runner<'a> {
    guard: &'a Guard<'a, u16>,
    image: &'a Image<'a, u16>,
    dice: Dice,
    location: usize,
    state: vec::Vec<u8>,
    next: vec::Vec<u8>,
    inputs: vec::Vec<u8>,
    scratch: vec::Vec<u8>,
}

impl Runner<'_> {
    /// Memory that it takes, generously: what the heap adds to each block included.
    fn bytes(image: &Image<'_, u16>) -> usize {
        let header = &image.header;
        let bits = 2 * header.state_bits + header.max_inputs + header.max_vars;
        bits.div_ceil(8) as usize + 256
    }

    /// Begins anew, with any values where the model leaves them open.
    fn begin(&mut self) {
        self.location = 0;
        self.dice.fill(&mut self.state);
    }

    fn at(&self) -> At<'_> {
        At { location: self.location, bits: &self.state }
    }

    /// Makes a step with inputs by chance, if it finds one that is possible; the edge it took.
    fn step(&mut self) -> Option<usize> {
        let edges = self.image.edges();
        for _ in 0..32 {
            self.dice.fill(&mut self.inputs);
            let first = self.dice.below(edges);
            for edge in (first..edges).chain(0..first) {
                if self.image.ends(edge).0 != self.location {
                    continue;
                }
                let before = At { location: self.location, bits: &self.state };
                self.next.copy_from_slice(&self.state);
                let taken =
                    self.guard.take(edge, before, &self.inputs, &mut self.next, &mut self.scratch);
                if let Ok(location) = taken {
                    self.location = location;
                    core::mem::swap(&mut self.state, &mut self.next);
                    return Some(edge);
                }
            }
        }
        None
    }

    /// Runs for some steps from the start, to a state that does occur.
    fn warm_up(&mut self) {
        self.begin();
        for _ in 0..4 + self.dice.below(60) {
            if self.step().is_none() {
                self.begin();
            }
        }
        if self.location == 0 {
            self.step();
        }
    }

    /// A live bit here, by chance.
    fn live_bit(&mut self) -> Option<usize> {
        let live = self.image.location(self.location).live;
        let chosen = self.dice.below(live.len());
        live.get(chosen).map(|bit| *bit as usize)
    }
}

/// Faults of each kind that are tried.
const TRIALS: u32 = 200;
/// Steps after a fault within which the guard may still notice it.
const LATER: u32 = 16;

fn application(guard: &Guard<'_, u16>, image: &Image<'_, u16>, counter: &Counter) {
    let bytes = image.header.state_bits.div_ceil(8) as usize;
    let mut runner = Runner {
        guard,
        image,
        dice: Dice(0x1234_5678),
        location: 0,
        state: vec![0; bytes],
        next: vec![0; bytes],
        inputs: vec![0; image.header.max_inputs.div_ceil(8) as usize],
        scratch: vec![0; guard.scratch()],
    };
    // Without faults there must be no alarm, at any step.
    let (mut steps, mut alarms, mut invariant, mut relation) = (0u32, 0u32, 0, 0);
    runner.begin();
    // A model may have come down to a single state, from which there is no step.
    for _ in 0..4 * TRIALS {
        if steps == TRIALS {
            break;
        }
        let from = runner.location;
        match runner.step() {
            None => runner.begin(),
            Some(edge) => {
                steps += 1;
                let before = At { location: from, bits: &runner.next };
                let after = At { location: runner.location, bits: &runner.state };
                let start = counter.instructions();
                let holds = guard.holds(after);
                invariant += since(counter, start).unwrap_or(0);
                let start = counter.instructions();
                let step = guard.step(edge, before, &runner.inputs, after, &mut runner.scratch);
                relation += since(counter, start).unwrap_or(0);
                alarms += (holds.is_err() || step.is_err()) as u32;
            }
        }
    }
    say!("guard: {steps} steps, {alarms} alarms");
    if steps == 0 {
        return;
    }
    let each = |sum: u64| sum / u64::from(steps);
    say!("guard cost: invariant {}, step {} instructions", each(invariant), each(relation));

    // A bit flips between two steps.
    let (mut flips, mut at_once, mut later) = (0, 0, 0);
    for _ in 0..TRIALS {
        runner.warm_up();
        let Some(flipped) = runner.live_bit() else { continue };
        flips += 1;
        let value = bit(&runner.state, flipped);
        set_bit(&mut runner.state, flipped, !value);
        if guard.holds(runner.at()).is_err() {
            at_once += 1;
            continue;
        }
        for _ in 0..LATER {
            if runner.step().is_some() && guard.holds(runner.at()).is_err() {
                later += 1;
                break;
            }
        }
    }
    let rest = flips - at_once - later;
    say!("flips: {flips}, at once {at_once}, within {LATER} steps {later}, not {rest}");

    // A bit flips while a step is made.
    let (mut flips, mut caught) = (0, 0);
    for _ in 0..TRIALS {
        runner.warm_up();
        let from = runner.location;
        let Some(edge) = runner.step() else { continue };
        let Some(flipped) = runner.live_bit() else { continue };
        flips += 1;
        let value = bit(&runner.state, flipped);
        set_bit(&mut runner.state, flipped, !value);
        let before = At { location: from, bits: &runner.next };
        let after = At { location: runner.location, bits: &runner.state };
        let step = guard.step(edge, before, &runner.inputs, after, &mut runner.scratch);
        caught += step.is_err() as u32;
    }
    say!("flips in a step: {flips}, caught {caught}");

    // The program goes where it should not.
    let (mut jumps, mut caught) = (0, 0);
    for _ in 0..TRIALS {
        runner.warm_up();
        let elsewhere = 1 + runner.dice.below(image.locations() - 1);
        if elsewhere != runner.location {
            jumps += 1;
            let at = At { location: elsewhere, bits: &runner.state };
            caught += guard.holds(at).is_err() as u32;
        }
    }
    say!("jumps: {jumps}, caught {caught}");
}
