//! Ways in which a handler that is not part of the step gets at what the step uses; without one it does not.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicPtr, AtomicU8, Ordering::Relaxed};

static FIRST: AtomicU8 = AtomicU8::new(0);
static SHARED: AtomicU8 = AtomicU8::new(0);
static OTHER: AtomicU8 = AtomicU8::new(0);
static BOX: [AtomicU8; 4] = [const { AtomicU8::new(0) }; 4];
static TICKS: AtomicU8 = AtomicU8::new(0);
/// For others.
static SHOWN: [AtomicU8; 2] = [const { AtomicU8::new(0) }; 2];
#[used]
static KEPT: AtomicPtr<AtomicU8> = AtomicPtr::new(core::ptr::null_mut());

// What leads to what the step uses.
static TABLE: [&AtomicU8; 2] = [&OTHER, &SHARED];
static GIVEN: AtomicPtr<AtomicU8> = AtomicPtr::new((&raw const SHARED).cast_mut());
static CALLS: [fn(); 2] = [set, reset];

#[inline(never)]
fn set() {
    SHARED.store(port() as u8, Relaxed);
}

#[inline(never)]
fn reset() {
    OTHER.store(0, Relaxed);
}

fn port() -> u32 {
    unsafe { (0x4000_0004 as *const u32).read_volatile() }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_fail() -> ! {
    loop {
        port();
    }
}

#[unsafe(no_mangle)]
extern "C" fn step() {
    if cfg!(way = "10") {
        KEPT.store((&raw const SHARED).cast_mut(), Relaxed);
    }
    if cfg!(way = "11") && TABLE[usize::from(TICKS.load(Relaxed) & 1)].load(Relaxed) != 0 {
        vouch_fail();
    }
    if cfg!(way = "12") {
        KEPT.store(GIVEN.load(Relaxed), Relaxed);
    }
    if cfg!(way = "13") && TICKS.load(Relaxed) == 200 {
        set();
    }
    if SHARED.load(Relaxed) | BOX[1].load(Relaxed) | BOX[3].load(Relaxed) != 0 {
        vouch_fail();
    }
    let ticks = TICKS.load(Relaxed).wrapping_add(1);
    TICKS.store(ticks, Relaxed);
    SHOWN[usize::from(ticks & 1)].store(ticks, Relaxed);
}

#[inline(never)]
fn put(at: &AtomicU8) {
    at.store(port() as u8, Relaxed);
}

#[inline(never)]
fn find(i: u32) -> Option<&'static AtomicU8> {
    (i != 7).then_some(if i > 3 { &OTHER } else { &SHARED })
}

#[unsafe(no_mangle)]
extern "C" fn handler() {
    FIRST.store(1, Relaxed);
    OTHER.store(port() as u8, Relaxed);
    put(&OTHER);
    FIRST.store(OTHER.load(Relaxed) | SHOWN[port() as usize & 1].load(Relaxed), Relaxed);
    put(&SHOWN[0]);
    if cfg!(way = "1") {
        SHARED.store(1, Relaxed);
    }
    if cfg!(way = "2") {
        put(&SHARED);
    }
    if cfg!(way = "3")
        && let Some(at) = find(port())
    {
        at.store(1, Relaxed);
    }
    if cfg!(way = "4") {
        while port() == 3 {
            OTHER.store(2, Relaxed);
            if port() == 4 {
                SHARED.store(2, Relaxed);
            }
        }
    }
    if cfg!(way = "5") {
        BOX[port() as usize & 3].store(1, Relaxed);
    }
    if cfg!(way = "6") {
        BOX.iter().for_each(|at| at.store(port() as u8, Relaxed));
    }
    if cfg!(way = "7") {
        match port() {
            0 => FIRST.store(4, Relaxed),
            1 => OTHER.store(port() as u8, Relaxed),
            2 => SHARED.store(port() as u8, Relaxed),
            3 => put(&FIRST),
            4 => FIRST.store(OTHER.load(Relaxed), Relaxed),
            5 => OTHER.store(9, Relaxed),
            6 => put(&OTHER),
            _ => {}
        }
    }
    if cfg!(way = "8") {
        KEPT.store((&raw const SHARED).cast_mut(), Relaxed);
    }
    if cfg!(way = "9") {
        let at = if port() == 0 { &FIRST } else { &SHARED };
        at.store(1, Relaxed);
    }
    if cfg!(any(way = "10", way = "12"))
        && let Some(at) = unsafe { KEPT.load(Relaxed).as_ref() }
    {
        at.store(1, Relaxed);
    }
    if cfg!(way = "11") {
        TABLE[port() as usize & 1].store(1, Relaxed);
    }
    if cfg!(way = "13") {
        CALLS[port() as usize & 1]();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
