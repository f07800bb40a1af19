//! What the linker knows: where the heap is, how much flash is used, how deep the stack has been.

use core::mem::MaybeUninit;
use core::ptr::{addr_of, with_exposed_provenance};
use embedded_alloc::LlffHeap;
use vouch_device::code::Memory;
use vouch_device::record::Record;

#[global_allocator]
static HEAP: LlffHeap = LlffHeap::empty();

unsafe extern "C" {
    static __vector_table: u32;
    static __sidata: u32;
    static __sdata: u32;
    static __edata: u32;
    static __sheap: u32;
    static _ram_end: u32;
    static _flash_end: u32;
    static _stack_start: u32;
    static _stack_end: u32;
    static _models_start: u32;
    static _models_end: u32;
}

/// The address of a linker symbol.
macro_rules! address_of {
    ($symbol:ident) => {
        // Only the address is taken: a linker symbol has no value of its own.
        addr_of!($symbol).addr()
    };
}

/// Gives the heap all RAM that statics and stack leave. To be called once, before any allocation.
pub fn start_heap() {
    let start = address_of!(__sheap);
    let bytes = address_of!(_ram_end).saturating_sub(start);
    // SAFETY: called once, at the start of `main`. The region begins where the linker put the last
    // static and ends with RAM; the stack lies below the statics, so nothing else uses it.
    unsafe { HEAP.init(start, bytes) }
}

/// Bytes of RAM that the board has.
pub fn ram() -> usize {
    address_of!(_ram_end) - address_of!(_stack_end)
}

/// Bytes of flash that the board has.
pub fn flash() -> usize {
    address_of!(_flash_end) - address_of!(__vector_table)
}

/// Bytes of heap not in use.
pub fn free() -> usize {
    HEAP.free()
}

/// Bytes of flash taken by vectors, code, constants and the initial values of statics.
pub fn flash_used() -> usize {
    let image = address_of!(__sidata) - address_of!(__vector_table);
    image + (address_of!(__edata) - address_of!(__sdata))
}

/// The lowest address of the stack.
pub fn stack_end() -> usize {
    address_of!(_stack_end)
}

/// The word at an address, if that is in the stack.
pub fn stack_word(address: usize) -> Option<u32> {
    let stack = address_of!(_stack_end)..address_of!(_stack_start);
    let inside = stack.contains(&address) && address.is_multiple_of(4);
    // SAFETY: an aligned address in the stack, which is RAM.
    inside.then(|| unsafe { with_exposed_provenance::<u32>(address).read_volatile() })
}

/// Bytes of stack, and how many of them have ever been used. The start-up code has painted it.
pub fn stack_used() -> (usize, usize) {
    let bottom = addr_of!(_stack_end);
    let words = (address_of!(_stack_start) - address_of!(_stack_end)) / 4;
    let painted = (0..words).take_while(|&word| {
        // SAFETY: the word lies between the two ends of the stack, which is RAM. It may be in use by
        // a frame that the compiler knows of, hence volatile; nothing is concluded from its value
        // but that it has changed.
        unsafe { bottom.add(word).read_volatile() == super::STACK_PAINT }
    });
    (words * 4, (words - painted.count()) * 4)
}

/// Addresses of the flash for models.
pub fn models() -> core::ops::Range<usize> {
    address_of!(_models_start)..address_of!(_models_end)
}

/// The flash for models, to read. Whoever changes what it holds must own the only reference: the
/// drivers see to it by lending this no longer than themselves.
pub fn models_bytes() -> &'static [u8] {
    let range = models();
    // SAFETY: the linker script sets this range of flash aside for models; nothing else is there.
    // It is changed only by a driver's exclusive methods, while no slice that it lent is alive.
    unsafe { core::slice::from_raw_parts(with_exposed_provenance(range.start), range.len()) }
}

/// The same where it is memory that can be written. To be called once.
pub fn models_memory() -> &'static mut [u32] {
    let range = models();
    let start = core::ptr::with_exposed_provenance_mut::<u32>(range.start);
    // SAFETY: the linker script sets this range of memory aside for models; nothing else is there,
    // and nobody else calls this.
    unsafe { core::slice::from_raw_parts_mut(start, range.len() / 4) }
}

/// The flash that this program is in, by address.
#[derive(Clone, Copy, Debug)]
pub struct Flash;

impl Memory for Flash {
    fn read(&self, address: u32, into: &mut [u8]) -> bool {
        read(address_of!(__vector_table)..address_of!(_models_start), address, into)
    }
}

/// RAM, by address.
#[derive(Clone, Copy, Debug)]
pub struct Ram;

impl Memory for Ram {
    fn read(&self, address: u32, into: &mut [u8]) -> bool {
        read(address_of!(_stack_end)..address_of!(_ram_end), address, into)
    }
}

/// Copies bytes that lie in a range.
fn read(range: core::ops::Range<usize>, address: u32, into: &mut [u8]) -> bool {
    let start = address as usize;
    let end = start.checked_add(into.len());
    if start < range.start || end.is_none_or(|end| end > range.end) {
        return false;
    }
    for (at, byte) in (start..).zip(into) {
        // SAFETY: the linker script says that this is flash or RAM, which can be read. It may be a variable that the
        // compiler knows of, hence volatile; it is a byte whatever it holds. Flash may begin at address 0, where
        // volatile accesses are allowed.
        *byte = unsafe { with_exposed_provenance::<u8>(at).read_volatile() };
    }
    true
}

/// The last verdict, in memory that a warm reset leaves alone. To be called once.
pub fn record() -> &'static mut Record {
    #[unsafe(link_section = ".uninit.VOUCH_RECORD")]
    static mut RECORD: MaybeUninit<Record> = MaybeUninit::uninit();
    // SAFETY: a record is plain words, so whatever bits are there are one; it is this function's own
    // memory, and it is called once. Written as volatile, so that the compiler does not take it for undefined.
    unsafe {
        let place = (&raw mut RECORD).cast::<Record>();
        place.write_volatile(place.read_volatile());
        &mut *place
    }
}
