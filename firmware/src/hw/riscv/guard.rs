//! Makes a stack overflow a fault: physical memory protection forbids what lies below the stack.

use crate::hw::memory;
use core::arch::asm;

/// Larger than any frame, so that none reaches past it. The linker script leaves it free.
const SIZE: usize = 4096;

/// A naturally aligned power of two; locked, so that it holds for machine mode too; no access.
const LOCKED_NAPOT: usize = 1 << 7 | 0b11 << 3;

/// Forbids all access to the addresses right below the stack.
pub fn start() {
    let base = memory::stack_end() - SIZE;
    let region = base >> 2 | (SIZE / 2 - 1) >> 2;
    // SAFETY: only takes away access to memory that the linker script leaves to nobody.
    unsafe {
        asm!(
            "csrw pmpaddr0, {region}",
            "csrs pmpcfg0, {config}",
            region = in(reg) region,
            config = in(reg) LOCKED_NAPOT,
            options(nostack),
        );
    }
}

/// Whether an address is one of those.
pub fn contains(address: usize) -> bool {
    let end = memory::stack_end();
    (end - SIZE..end).contains(&address)
}
