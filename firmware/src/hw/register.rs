//! Memory-mapped registers.

use core::marker::PhantomData;
use core::ptr::{with_exposed_provenance, with_exposed_provenance_mut};

/// The register at `ADDRESS`, which must be in a peripheral's address range.
pub struct Register<const ADDRESS: usize, T = u32>(PhantomData<T>);

/// Where peripherals are: in the Armv6-M and Armv7-M memory map.
#[cfg(target_arch = "arm")]
const PERIPHERALS: [[usize; 2]; 2] = [[0x4000_0000, 0x6000_0000], [0xE000_E000, 0xE000_F000]];
/// Where peripherals are: below the memory of QEMU's `virt` machine.
#[cfg(target_arch = "riscv32")]
const PERIPHERALS: [[usize; 2]; 2] = [[0x0010_0000, 0x1001_0000], [0, 0]];

/// Whether nothing of Rust's could live at `address`.
const fn is_peripheral(address: usize) -> bool {
    let [a, b] = PERIPHERALS;
    a[0] <= address && address < a[1] || b[0] <= address && address < b[1]
}

/// Registers of words, and of bytes.
pub trait Width: Copy {}
impl Width for u32 {}
impl Width for u8 {}

impl<const ADDRESS: usize, T: Width> Register<ADDRESS, T> {
    /// Fails to compile for an address where anything of Rust's could live.
    const IS_PERIPHERAL: () =
        assert!(is_peripheral(ADDRESS) && ADDRESS.is_multiple_of(size_of::<T>()));

    /// Reads the register.
    pub fn read() -> T {
        let () = Self::IS_PERIPHERAL;
        // SAFETY: the address is aligned and in a region of peripherals, where no Rust object lives and
        // volatile access is always defined. None of the firmware's peripherals accesses memory by
        // itself, but where their drivers see to it.
        unsafe { with_exposed_provenance::<T>(ADDRESS).read_volatile() }
    }

    /// Writes the register.
    pub fn write(value: T) {
        let () = Self::IS_PERIPHERAL;
        // SAFETY: as in `read`.
        unsafe { with_exposed_provenance_mut::<T>(ADDRESS).write_volatile(value) }
    }
}
