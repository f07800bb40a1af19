//! Statics of many types, for their names.
#![no_std]
#![no_main]

use core::cell::{Cell, RefCell};
use core::mem::MaybeUninit;
use core::sync::atomic::{AtomicU8, Ordering};

#[derive(Clone, Copy, PartialEq)]
enum State {
    Idle,
    Fast { started: u16 },
    Slow { level: i8, retries: u8 },
}

#[derive(Clone, Copy)]
struct Millis(u32);

struct Mutex<T> {
    inner: core::cell::UnsafeCell<T>,
}
unsafe impl<T> Sync for Mutex<T> {}

struct Pump {
    state: State,
    now: Millis,
    door: Option<bool>,
    alarm: Option<u16>,
    log: [Cell<u8>; 3],
}

static PUMP: Mutex<RefCell<MaybeUninit<Pump>>> =
    Mutex { inner: core::cell::UnsafeCell::new(RefCell::new(MaybeUninit::zeroed())) };
static COUNT: AtomicU8 = AtomicU8::new(0);

const PORT: *mut u32 = 0x4000_0000 as *mut u32;

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_input_door_bool() -> bool {
    unsafe { PORT.read_volatile() & 1 == 1 }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_fail() -> ! {
    loop {
        unsafe { PORT.write_volatile(1) }
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn step(event: u8, level: i8) {
    let cell = unsafe { &*PUMP.inner.get() };
    let mut pump = cell.borrow_mut();
    let pump = unsafe { pump.assume_init_mut() };
    COUNT.store(COUNT.load(Ordering::Relaxed).wrapping_add(1), Ordering::Relaxed);
    pump.now = Millis(pump.now.0.wrapping_add(10));
    if event == 7 {
        pump.door = Some(vouch_input_door_bool());
    }
    pump.log[usize::from(event % 3)].set(event);
    pump.state = match pump.state {
        State::Idle if event == 1 => State::Fast { started: pump.now.0 as u16 },
        State::Fast { started } if event == 2 => {
            pump.alarm = Some(started);
            State::Slow { level, retries: 0 }
        }
        State::Slow { retries: 3, .. } => State::Idle,
        State::Slow { level, retries } => State::Slow { level, retries: retries + 1 },
        state => state,
    };
    if matches!(pump.state, State::Slow { retries, .. } if retries > 3) {
        vouch_fail();
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
