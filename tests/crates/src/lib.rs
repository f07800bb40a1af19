//! What the machines have in common: inputs, failures, and the two functions that vouch calls.
#![no_std]

// How interrupts are disabled.
#[cfg(target_arch = "arm")]
use cortex_m as _;
#[cfg(target_arch = "riscv32")]
use riscv as _;

const PORT: *mut u32 = 0x4000_0000 as *mut u32;

#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn vouch_input_bool() -> bool {
    unsafe { PORT.read_volatile() & 1 != 0 }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn vouch_input_u8() -> u8 {
    unsafe { PORT.read_volatile() as u8 }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn vouch_input_u32() -> u32 {
    unsafe { PORT.read_volatile() }
}

#[unsafe(no_mangle)]
#[inline(never)]
pub extern "C" fn vouch_fail() -> ! {
    loop {
        unsafe { PORT.write_volatile(1) }
    }
}

/// What must hold.
#[inline(always)]
pub fn check(holds: bool) {
    if !holds {
        vouch_fail()
    }
}

/// Whether the machine is to be wrong.
pub const FAULT: bool = cfg!(feature = "fault");

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}

/// A machine: its type, what it is at first, and what a step does with it.
#[macro_export]
macro_rules! machine {
    ($type:ty, $first:expr, |$machine:ident| $step:block) => {
        static mut MACHINE: core::mem::MaybeUninit<$type> = core::mem::MaybeUninit::uninit();

        #[unsafe(no_mangle)]
        pub extern "C" fn init() {
            unsafe { (*(&raw mut MACHINE)).write($first) };
        }

        #[unsafe(no_mangle)]
        pub extern "C" fn step() {
            let $machine: &mut $type = unsafe { (*(&raw mut MACHINE)).assume_init_mut() };
            $step
        }
    };
}
