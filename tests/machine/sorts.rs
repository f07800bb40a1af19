//! A handler that is not part of the step sorts what the step uses; or something else.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;

struct Shared(UnsafeCell<[u16; 24]>);

/// Nothing here runs at the same time as something else.
unsafe impl Sync for Shared {}

static USED: Shared = Shared(UnsafeCell::new([1; 24]));
static OTHER: Shared = Shared(UnsafeCell::new([1; 24]));

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
    let used = unsafe { &mut *USED.0.get() };
    if used[0] > 3 {
        vouch_fail();
    }
    used[0] = if port() == 7 { 2 } else { 1 };
}

#[unsafe(no_mangle)]
extern "C" fn handler() {
    let what = if cfg!(way = "1") { &USED } else { &OTHER };
    if port() == 9 {
        unsafe { &mut *what.0.get() }.sort_unstable();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    vouch_fail()
}
