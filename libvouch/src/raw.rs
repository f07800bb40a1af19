//! What C passes becomes what Rust knows. All unsafe code of the library is in this file.
#![allow(unsafe_code)]

use core::ffi::{CStr, c_char, c_void};
use vouch_device::code::Memory;

/// A pointer to elements and how many there are, as C passes them.
///
/// Whoever implements a function of the header relies on what the header demands: that the elements are
/// there, that nobody changes them meanwhile, and that pointers which are written through point to nothing else.
pub fn slice<'a, T>(first: *const T, count: usize) -> &'a [T] {
    if first.is_null() || count == 0 || !first.is_aligned() {
        return &[];
    }
    // SAFETY: it is neither null nor badly aligned, and the header demands that so many elements are there, which
    // nobody changes during the call.
    unsafe { core::slice::from_raw_parts(first, count) }
}

/// The same for elements that are written.
pub fn slice_mut<'a, T>(first: *mut T, count: usize) -> &'a mut [T] {
    if first.is_null() || count == 0 || !first.is_aligned() {
        return &mut [];
    }
    // SAFETY: as above, and the header demands that nothing else points to them during the call.
    unsafe { core::slice::from_raw_parts_mut(first, count) }
}

/// What a pointer points to, if it does.
pub fn read<'a, T>(at: *const T) -> Option<&'a T> {
    slice(at, 1).first()
}

/// The same for what is written.
pub fn write<'a, T>(at: *mut T) -> Option<&'a mut T> {
    slice_mut(at, 1).first_mut()
}

/// A name; an empty one, which nothing has, if it is not UTF-8 or missing.
pub fn text<'a>(name: *const c_char) -> &'a str {
    if name.is_null() {
        return "";
    }
    // SAFETY: it is not null, and the header demands a string that ends with a zero byte and that nobody changes
    // during the call.
    unsafe { CStr::from_ptr(name) }.to_str().unwrap_or_default()
}

/// A function of the product that is given its own argument.
pub type Callback = Option<unsafe extern "C" fn(*mut c_void)>;

/// Calls a function of the product.
pub fn call(function: Callback, argument: *mut c_void) {
    if let Some(function) = function {
        // SAFETY: the header demands a function that can be called with the argument that was given with it.
        unsafe { function(argument) }
    }
}

/// Flash, as the product describes it.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Flash {
    base: *const u8,
    size: u32,
    erase: Option<unsafe extern "C" fn(*mut c_void, u32, u32) -> i32>,
    write: Option<unsafe extern "C" fn(*mut c_void, u32, *const u8, u32) -> i32>,
    idle: Callback,
    context: *mut c_void,
}

impl Flash {
    /// All of it, as it is now.
    pub fn mapped(&self) -> &[u8] {
        slice(self.base, self.size as usize)
    }

    /// Feeds the watchdog.
    pub fn idle(&self) {
        call(self.idle, self.context);
    }

    /// Erases bytes; whether that went well.
    pub fn erase(&mut self, offset: u32, count: u32) -> bool {
        let Some(erase) = self.erase else { return false };
        // SAFETY: the header demands a function that can be called with the context given with it and with any
        // range of pages of this flash. No slice of the flash lives now: `self` is borrowed mutably.
        unsafe { erase(self.context, offset, count) == 0 }
    }

    /// Writes bytes; whether that went well.
    pub fn write(&mut self, offset: u32, bytes: &[u8]) -> bool {
        let (Some(write), Ok(count)) = (self.write, u32::try_from(bytes.len())) else {
            return false;
        };
        // SAFETY: as above; the bytes are there for as long as the call takes.
        unsafe { write(self.context, offset, bytes.as_ptr(), count) == 0 }
    }
}

/// Memory that the product lets be read, by address.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Region {
    start: usize,
    length: usize,
}

impl Region {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.length == 0
    }
}

impl Memory for Region {
    fn read(&self, address: u32, into: &mut [u8]) -> bool {
        let start = address as usize;
        let at = start.checked_sub(self.start);
        if at.and_then(|at| at.checked_add(into.len())).is_none_or(|end| end > self.length) {
            return false;
        }
        for (at, byte) in (start..).zip(into) {
            // SAFETY: the header demands memory that can be read. Volatile, because it may begin at address 0.
            *byte = unsafe { core::ptr::with_exposed_provenance::<u8>(at).read_volatile() };
        }
        true
    }
}

/// Puts a value into memory that the product keeps for it, whatever was there before.
pub fn place<T>(to: *mut Kept<T>, value: T) -> bool {
    if to.is_null() || !to.is_aligned() {
        return false;
    }
    // SAFETY: it is neither null nor badly aligned; the header demands memory of `sizeof(vouch_store)` bytes, and
    // `store` sees to it at compile time that a value fits.
    unsafe { to.write(Kept(value)) };
    true
}

/// A value in memory that the product keeps.
#[repr(C, align(8))]
pub struct Kept<T>(pub T);

unsafe extern "C" {
    /// What happens when nothing can continue; the product can define it.
    fn vouch_panic() -> !;
}

/// Nothing can continue.
pub fn panic() -> ! {
    // SAFETY: it takes nothing, and the header demands that it does not return.
    unsafe { vouch_panic() }
}

// The one that counts unless the product defines its own: it traps, and the product's fault handler takes over.
#[cfg(target_arch = "arm")]
core::arch::global_asm!(
    ".section .text.vouch_panic,\"ax\",%progbits",
    ".weak vouch_panic",
    ".type vouch_panic,%function",
    ".thumb_func",
    "vouch_panic:",
    "udf #0",
    "b vouch_panic",
    ".size vouch_panic, . - vouch_panic",
);
#[cfg(target_arch = "riscv32")]
core::arch::global_asm!(
    ".section .text.vouch_panic,\"ax\",%progbits",
    ".weak vouch_panic",
    ".type vouch_panic,%function",
    "vouch_panic:",
    "unimp",
    "j vouch_panic",
    ".size vouch_panic, . - vouch_panic",
);
