//! An enum as an argument: the compiler knows that it is one of three values, and indexes without a check.
#![no_std]
#![no_main]

use core::sync::atomic::{AtomicU32, Ordering};

#[derive(Clone, Copy)]
#[repr(u8)]
pub enum Event {
    Open = 1,
    Close = 2,
    Lock = 4,
}

#[derive(Clone, Copy)]
#[repr(u32)]
pub enum Key {
    Up = 1,
    Down = 4,
}

static COST: [u8; 5] = [200, 3, 5, 200, 9];
static LAST: AtomicU32 = AtomicU32::new(0);
static CHANGE: AtomicU32 = AtomicU32::new(0);
static OPEN: AtomicU32 = AtomicU32::new(0);

const LIMIT: u32 = if cfg!(broken) { 8 } else { 9 };

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_fail() -> ! {
    loop {
        unsafe { (0x4000_0000 as *mut u32).write_volatile(1) }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn step(event: Event, change: i8, open: bool, key: Key) {
    let change_was = CHANGE.load(Ordering::Relaxed) as i32;
    if LAST.load(Ordering::Relaxed) > LIMIT
        || !(-128..128).contains(&change_was)
        || OPEN.load(Ordering::Relaxed) > 1
    {
        vouch_fail();
    }
    LAST.store(u32::from(COST[event as usize].max(COST[key as usize])), Ordering::Relaxed);
    CHANGE.store(change as u32, Ordering::Relaxed);
    OPEN.store(u32::from(open), Ordering::Relaxed);
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    vouch_fail()
}
