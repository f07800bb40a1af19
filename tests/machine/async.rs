//! A washing machine as an `async` function: what waits for something is what the compiler makes a state of.
#![no_std]
#![no_main]

use core::future::{Future, poll_fn};
use core::mem::MaybeUninit;
use core::pin::Pin;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use core::task::{Context, Poll, Waker};

static LOCKED: AtomicBool = AtomicBool::new(false);
static DRUM: AtomicU8 = AtomicU8::new(0);
static WATER: AtomicU8 = AtomicU8::new(0);

const PORT: *mut u32 = 0x4000_0000 as *mut u32;

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_input_door_bool() -> bool {
    unsafe { PORT.read_volatile() & 1 == 1 }
}
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_input_start_bool() -> bool {
    unsafe { PORT.read_volatile() & 2 == 2 }
}
#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_fail() -> ! {
    loop {
        unsafe { PORT.write_volatile(1) }
    }
}

/// Comes back in the next step.
async fn tick() {
    let mut waited = false;
    poll_fn(|_| {
        if core::mem::replace(&mut waited, true) {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await
}

async fn until(mut holds: impl FnMut() -> bool) {
    poll_fn(|_| {
        if holds() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await
}

async fn fill(to: u8) {
    while WATER.load(Relaxed) < to {
        WATER.store(WATER.load(Relaxed) + 1, Relaxed);
        tick().await;
    }
}

async fn wash() {
    loop {
        until(|| vouch_input_start_bool() && !vouch_input_door_bool()).await;
        LOCKED.store(true, Relaxed);
        fill(6).await;
        DRUM.store(2, Relaxed);
        for _ in 0..3 {
            tick().await;
        }
        WATER.store(0, Relaxed);
        if !cfg!(broken) {
            DRUM.store(0, Relaxed);
        }
        LOCKED.store(false, Relaxed);
        tick().await;
        DRUM.store(0, Relaxed);
    }
}

#[repr(align(8))]
struct Room {
    _bytes: MaybeUninit<[u8; 64]>,
}
static mut ROOM: Room = Room {
    _bytes: MaybeUninit::uninit(),
};

fn put<F: Future>(task: fn() -> F) {
    const { assert!(size_of::<F>() <= 64 && align_of::<F>() <= 8) };
    unsafe { (&raw mut ROOM).cast::<F>().write(task()) }
}

fn poll<F: Future>(_: fn() -> F) {
    let task = unsafe { Pin::new_unchecked(&mut *(&raw mut ROOM).cast::<F>()) };
    let _ = task.poll(&mut Context::from_waker(Waker::noop()));
}

#[unsafe(no_mangle)]
pub extern "C" fn init() {
    put(wash);
}

#[unsafe(no_mangle)]
pub extern "C" fn step() {
    poll(wash);
    if DRUM.load(Relaxed) > 0 && !LOCKED.load(Relaxed) {
        vouch_fail();
    }
    if WATER.load(Relaxed) > 6 {
        vouch_fail();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    vouch_fail()
}
