//! Memory-mapped registers.

use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// The register at `ADDRESS`, which must be a word in a peripheral's address range.
pub struct Register<const ADDRESS: usize>;

impl<const ADDRESS: usize> Register<ADDRESS> {
    /// Fails to compile for an address where anything of Rust's could live.
    const IS_PERIPHERAL: () = {
        let peripheral = ADDRESS >= 0x4000_0000 && ADDRESS < 0x6000_0000;
        let system = ADDRESS >= 0xE000_E000 && ADDRESS < 0xE000_F000;
        assert!((peripheral || system) && ADDRESS.is_multiple_of(4));
    };

    /// Reads the register.
    pub fn read() -> u32 {
        let () = Self::IS_PERIPHERAL;
        // SAFETY: the address is aligned and in the peripheral or system region of the Armv6-M and
        // Armv7-M memory map, where no Rust object lives and volatile access is always defined. None
        // of the firmware's peripherals is set up to access memory by itself.
        unsafe { with_exposed_provenance::<u32>(ADDRESS).read_volatile() }
    }

    /// Writes the register.
    pub fn write(value: u32) {
        let () = Self::IS_PERIPHERAL;
        // SAFETY: as in `read`.
        unsafe { with_exposed_provenance_mut::<u32>(ADDRESS).write_volatile(value) }
    }
}
