//! A product whose own code is what was proved: a tank with two valves, of which at most one may be open, and that never
//! overflows.
//!
//! The stored model is bound to this very program (`vouch compile bound.elf --guard --with-certificate`). At boot the device
//! hashes the code of [`step`] where it lies and checks the proof of it for the limit that it was configured with; only
//! then it calls it. While it runs, the guard reads the statics below by itself, where the linker has put them.
//!
//! It tells about that in lines of text on the board's port.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

use alloc::vec;
use core::hint::black_box;
use core::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, Ordering::Relaxed};
use vouch_core::image::Image;
use vouch_device::Trial;
use vouch_device::boot::{self, Mode, Outcome, Permit, SelfCheck};
use vouch_device::code::Code;
use vouch_device::live::Live;
use vouch_firmware::board::{Board, Current};
use vouch_firmware::count::Counter;
use vouch_firmware::hw::memory;
use vouch_firmware::models::Models;
use vouch_firmware::{heap, say};

/// States. They are far apart, so that the compiler compares them: a table of jumps whose index it knows to be in range, because nobody else
/// writes it, is not known to be so to the lifter.
const IDLE: u8 = 0x1d;
const FILLING: u8 = 0x4b;
const HOLDING: u8 = 0x8e;
const DRAINING: u8 = 0xe2;

/// What the tank holds.
const CAPACITY: u8 = 24;

/// The number of the next start. It comes first in RAM: where RAM begins the stack ends, and handlers of faults know that address. If it were
/// that of a variable of the step, it would be taken for shared.
static BOOT: AtomicU32 = AtomicU32::new(1);

/// How full the tank may be: what this device was configured with.
#[vouch::param(1..=20)]
static LIMIT: AtomicU8 = AtomicU8::new(20);
/// The device's configuration, in flash, as its maker or its owner has set it.
static CONFIG: u8 = 16;

/// The machine.
struct Tank {
    state: AtomicU8,
    level: AtomicU8,
    fill: AtomicBool,
    drain: AtomicBool,
}

/// Kept as one object: it is neither taken apart nor put together with the variables of other code.
#[used]
static TANK: Tank = Tank {
    state: AtomicU8::new(IDLE),
    level: AtomicU8::new(0),
    fill: AtomicBool::new(false),
    drain: AtomicBool::new(false),
};

/// One step of the machine.
#[vouch::step]
fn step(event: u8) {
    let Tank { state, level, fill, drain } = &TANK;
    let now = level.load(Relaxed);
    match (state.load(Relaxed), event) {
        (IDLE, 1) => {
            fill.store(true, Relaxed);
            state.store(FILLING, Relaxed);
        }
        (FILLING, 4) => {
            fill.store(false, Relaxed);
            state.store(HOLDING, Relaxed);
        }
        (FILLING, _) if now >= LIMIT.load(Relaxed) => {
            fill.store(false, Relaxed);
            state.store(HOLDING, Relaxed);
        }
        (FILLING, _) => level.store(now + 1, Relaxed),
        (HOLDING, 2) => {
            drain.store(true, Relaxed);
            state.store(DRAINING, Relaxed);
        }
        (DRAINING, 3) => {
            drain.store(false, Relaxed);
            state.store(IDLE, Relaxed);
        }
        // The mistake: the other valve is open.
        (DRAINING, 1) if cfg!(feature = "broken") => {
            fill.store(true, Relaxed);
            state.store(FILLING, Relaxed);
        }
        (DRAINING, _) => level.store(now.saturating_sub(2), Relaxed),
        _ => {}
    }
    assert!(!(fill.load(Relaxed) && drain.load(Relaxed)), "both valves are open");
    assert!(level.load(Relaxed) <= CAPACITY, "the tank overflows");
}

#[vouch_firmware::entry]
fn main() -> ! {
    vouch_firmware::start();
    say!("{} starts", Current::NAME);
    self_check(&Counter::calibrated());
    say!("done");
    loop {
        Current::feed_watchdog();
        core::hint::spin_loop();
    }
}

fn self_check(counter: &Counter) {
    let mut models = Models::open();
    let stored = match models.select_tried(passes) {
        Ok(stored) => stored,
        Err(why) => return say!("no model: {why}"),
    };
    let bytes = bytemuck::cast_slice(models.image(&stored));
    let image = match Image::<u16>::new_hashed(&bytes[..stored.header.length as usize]) {
        Ok(image) => image,
        Err(why) => return say!("no model: {why}"),
    };
    let mut arena = vec![0; heap::available().saturating_sub(1024) / 4];
    let parameters = [("LIMIT", limit().into())];
    let before = counter.instructions();
    let outcome = boot::check(&image, &config(&parameters), &mut arena, &mut feed());
    let spent = counter.instructions().zip(before).map(|(now, before)| now - before);
    say!("self-check: {:?}", outcome.verdict);
    say!("decision: {:?}", outcome.decision);
    let covered: u32 = image.program().map_or(0, |p| p.spans().map(|span| span.len).sum());
    say!("cost: {spent:?} instructions, {covered} bytes of code");
    outcome.start(|permit| {
        LIMIT.store(limit(), Relaxed);
        started(permit, &outcome, &image, &arena, counter);
    });
}

/// Whether an update may count: its self-check passes. What is decided here is checked again before anything starts.
fn passes(image: &[u8]) -> Trial {
    let Ok(image) = Image::<u16>::new_hashed(image) else { return Trial::FAILED };
    let mut arena = vec![0; heap::available() / 4];
    let parameters = [("LIMIT", limit().into())];
    let outcome = boot::check(&image, &config(&parameters), &mut arena, &mut feed());
    say!("trial of {}: {:?}", image.header.name, outcome.verdict);
    outcome.trial()
}

/// What this device was configured with.
fn limit() -> u8 {
    *black_box(&CONFIG)
}

/// What is checked. Another mode would be much code; a product whose proof does not hold is not to start here.
fn config<'a>(parameters: &'a [(&'a str, u64)]) -> SelfCheck<'a> {
    let (mode, code) = (Mode::RecheckOnly, Code::Required(&memory::Flash));
    SelfCheck { mode, parameters, code, slice: Current::SLICE, ..SelfCheck::default() }
}

/// What feeds the watchdog. Of one type, so that the self-check is there once.
fn feed() -> fn() {
    Current::feed_watchdog
}

/// Steps of the application.
const STEPS: u32 = 500;

/// The application, which runs only if it may.
#[inline(never)]
fn started(
    permit: Permit<'_>,
    outcome: &Outcome,
    image: &Image<'_, u16>,
    arena: &[u32],
    counter: &Counter,
) {
    permit.confirm();
    say!("application started");
    let number = BOOT.load(Relaxed);
    BOOT.store(number.wrapping_add(1), Relaxed);
    say!("start {number}");
    let live = outcome.invariant(image, arena).and_then(|table| Live::new(image, table));
    let mut scratch = vec![0; live.as_ref().map_or(0, Live::scratch)];
    let mut dice = 0x1234_5678u32;
    let before = counter.instructions();
    for _ in 0..STEPS {
        dice ^= dice << 13;
        dice ^= dice >> 17;
        dice ^= dice << 5;
        step(black_box((dice >> 8) as u8 & 7));
        if let Some(live) = &live
            && let Err(alarm) = live.check(&memory::Ram, &mut scratch)
        {
            // A product would bring itself into a safe state here.
            return say!("alarm: {alarm}");
        }
    }
    let spent =
        counter.instructions().zip(before).map(|(now, before)| (now - before) / STEPS as u64);
    say!("each step: {spent:?} instructions");
    let places = image.program().map_or(0, |program| program.places().count());
    say!("guard: {STEPS} steps, no alarm, {places} places in RAM");
}
