//! Steps that share a counter with handlers of interrupts: with the interrupts disabled, and without.
#![no_std]
#![no_main]

use core::cell::UnsafeCell;

/// A byte that others change, too.
struct Shared(UnsafeCell<u8>);

unsafe impl Sync for Shared {}

impl Shared {
    const fn new() -> Shared {
        Shared(UnsafeCell::new(0))
    }
    fn get(&self) -> u8 {
        unsafe { self.0.get().read_volatile() }
    }
    fn set(&self, value: u8) {
        unsafe { self.0.get().write_volatile(value) }
    }
    /// Counts to three, and then from zero.
    fn add(&self, by: u8) {
        self.set(self.get().wrapping_add(by) & 3);
    }
}

#[cfg(target_arch = "arm")]
fn disable() {
    unsafe { core::arch::asm!("cpsid i") }
}
#[cfg(target_arch = "arm")]
fn enable() {
    unsafe { core::arch::asm!("cpsie i") }
}
#[cfg(target_arch = "riscv32")]
fn disable() {
    unsafe { core::arch::asm!("csrci mstatus, 8") }
}
#[cfg(target_arch = "riscv32")]
fn enable() {
    unsafe { core::arch::asm!("csrsi mstatus, 8") }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_input_bool() -> bool {
    unsafe { (0x4000_0000 as *mut u32).read_volatile() & 1 == 1 }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_fail() -> ! {
    loop {}
}

/// What came in and what was taken out, apart from what is there.
static THERE: Shared = Shared::new();
static CAME: Shared = Shared::new();
static TAKEN: Shared = Shared::new();

#[unsafe(no_mangle)]
pub extern "C" fn mail_handler() {
    if THERE.get() < 3 {
        THERE.add(1);
        CAME.add(1);
    }
}

fn take() {
    if THERE.get() > 0 && vouch_input_bool() {
        THERE.add(255);
        TAKEN.add(1);
    }
}

/// Takes one while nothing can come in.
#[unsafe(no_mangle)]
pub extern "C" fn mail_step() {
    disable();
    take();
    enable();
}

/// Takes one while another may come in, which is then lost.
#[unsafe(no_mangle)]
pub extern "C" fn torn_step() {
    take();
}

#[unsafe(no_mangle)]
pub extern "C" fn mail_holds() -> bool {
    CAME.get().wrapping_sub(TAKEN.get()) & 3 == THERE.get()
}

/// Two handlers that count together.
static COUNT: Shared = Shared::new();
static LOW: Shared = Shared::new();
static HIGH: Shared = Shared::new();

#[unsafe(no_mangle)]
pub extern "C" fn low_handler() {
    COUNT.add(1);
    LOW.add(1);
}

#[unsafe(no_mangle)]
pub extern "C" fn high_handler() {
    COUNT.add(1);
    HIGH.add(1);
}

#[unsafe(no_mangle)]
pub extern "C" fn count_step() {
    disable();
    if LOW.get().wrapping_add(HIGH.get()) & 3 != COUNT.get() {
        vouch_fail()
    }
    enable();
}

/// Something that is wrong for a moment, with the interrupts disabled; then they are enabled too early.
static WRONG: Shared = Shared::new();

#[unsafe(no_mangle)]
pub extern "C" fn wrong_handler() {
    if WRONG.get() != 0 {
        vouch_fail()
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn moment_step() {
    disable();
    WRONG.set(1);
    WRONG.set(0);
    enable();
}

#[unsafe(no_mangle)]
pub extern "C" fn early_step() {
    disable();
    WRONG.set(1);
    enable();
    disable();
    WRONG.set(0);
    enable();
}

/// Waiting for a handler.
static READY: Shared = Shared::new();
static VALUE: Shared = Shared::new();

#[unsafe(no_mangle)]
pub extern "C" fn ready_handler() {
    VALUE.set(7);
    READY.set(1);
}

#[unsafe(no_mangle)]
pub extern "C" fn wait_step() {
    READY.set(0);
    while READY.get() == 0 {}
    if VALUE.get() != 7 {
        vouch_fail()
    }
    VALUE.set(0);
}

#[unsafe(no_mangle)]
pub extern "C" fn step() {}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
