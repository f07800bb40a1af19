//! A program without an operating system that is an assembler file.
#![no_std]
#![no_main]

use core::arch::global_asm;

#[cfg(v6m)]
global_asm!(".set V7M, 0");
#[cfg(v7m)]
global_asm!(".set V7M, 1");
#[cfg(any(v6m, v7m))]
global_asm!(include_str!("thumb.s"), options(raw));

#[cfg(rv32)]
global_asm!(include_str!("riscv.s"), options(raw));

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
