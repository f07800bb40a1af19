//! What the firmware has of its processor.
#![allow(unsafe_code)]

use core::sync::atomic::AtomicU16;

const PORT: *mut u32 = 0x4000_0000 as *mut u32;

/// A port of the processor; nothing on the host.
pub fn read() -> u32 {
    #[cfg(target_os = "none")]
    return unsafe { PORT.read_volatile() };
    #[cfg(not(target_os = "none"))]
    0
}

/// Tells the hardware which function handles the interrupt, and where to write what it measures.
pub fn attach(handler: fn(), to: &AtomicU16) {
    unsafe {
        PORT.write_volatile(handler as usize as u32);
        PORT.write_volatile(core::ptr::from_ref(to) as usize as u32);
    }
}

/// Masks all interrupts; does nothing on the host.
pub fn disable() {
    #[cfg(target_arch = "arm")]
    unsafe {
        core::arch::asm!("cpsid i")
    }
    #[cfg(target_arch = "riscv32")]
    unsafe {
        core::arch::asm!("csrci mstatus, 8")
    }
}

/// Unmasks interrupts; does nothing on the host.
pub fn enable() {
    #[cfg(target_arch = "arm")]
    unsafe {
        core::arch::asm!("cpsie i")
    }
    #[cfg(target_arch = "riscv32")]
    unsafe {
        core::arch::asm!("csrsi mstatus, 8")
    }
}

// In a section that the linker script does not know, as start-up code often is.
#[cfg(target_os = "none")]
#[unsafe(no_mangle)]
#[unsafe(link_section = ".startup")]
extern "C" fn _start() -> ! {
    crate::run()
}
