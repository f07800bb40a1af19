//! defmt's global logger: messages leave in log frames on the port to the host.

use crate::log;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, Ordering};
use critical_section::RestoreState;
use defmt::Encoder;

#[defmt::global_logger]
struct Logger;

static STATE: State = State(UnsafeCell::new(Inner {
    encoder: Encoder::new(),
    pending: log::Pending::empty(),
    restore: RestoreState::invalid(),
}));

/// Whether a message is being written. It can be when `acquire` is called only if a fault broke into
/// one.
static BUSY: AtomicBool = AtomicBool::new(false);

struct State(UnsafeCell<Inner>);

struct Inner {
    encoder: Encoder,
    pending: log::Pending,
    restore: RestoreState,
}

// SAFETY: one core, and access only between `acquire` and `release`, that is with interrupts off. A
// fault handler is the one exception: it never returns to the message it broke into.
unsafe impl Sync for State {}

/// The logger's state.
///
/// SAFETY: to be called between `acquire` and `release` only, and what it returned before must no
/// longer be in use.
unsafe fn state() -> &'static mut Inner {
    // SAFETY: as the caller promises, there is no other reference.
    unsafe { &mut *STATE.0.get() }
}

// SAFETY: `acquire` turns interrupts off until `release`, so a message is never mixed with another.
unsafe impl defmt::Logger for Logger {
    fn acquire() {
        // SAFETY: handed back in `release`, by the same context.
        let restore = unsafe { critical_section::acquire() };
        // SAFETY: interrupts are off, and no reference outlives this function.
        let state = unsafe { state() };
        if BUSY.load(Ordering::Relaxed) {
            state.pending.clear();
        }
        BUSY.store(true, Ordering::Relaxed);
        state.restore = restore;
        state.encoder.start_frame(|bytes| state.pending.push(bytes));
    }

    unsafe fn flush() {
        // Nothing is held back between two messages.
    }

    unsafe fn release() {
        // SAFETY: defmt calls this after `acquire` only, and no reference outlives this function.
        let state = unsafe { state() };
        state.encoder.end_frame(|bytes| state.pending.push(bytes));
        state.pending.send();
        BUSY.store(false, Ordering::Relaxed);
        // SAFETY: what `acquire` of the same context has got.
        unsafe { critical_section::release(state.restore) }
    }

    unsafe fn write(bytes: &[u8]) {
        // SAFETY: defmt calls this between `acquire` and `release` only, and no reference outlives
        // this function.
        let state = unsafe { state() };
        state.encoder.write(bytes, |bytes| state.pending.push(bytes));
    }
}
