//! Makes a stack overflow a fault where the address range below RAM does not do that by itself.

use crate::hw::{Register, memory};

type Control = Register<0xE000_ED94>;
type Number = Register<0xE000_ED98>;
type Base = Register<0xE000_ED9C>;
type Attributes = Register<0xE000_EDA0>;
type Handlers = Register<0xE000_ED24>;

/// Larger than any frame, so that none reaches past it. Two to the twelfth bytes.
const SIZE: usize = 4096;
const SIZE_FIELD: u32 = (12 - 1) << 1;

/// Forbids all access to the addresses right below the stack. They are not RAM, so none is lost.
pub fn start() {
    // An overflow must have a handler of its own: while a hard fault is being entered, a second fault
    // would stop the processor.
    Handlers::write(Handlers::read() | 1 << 16);
    Number::write(0);
    Base::write((memory::stack_end() - SIZE) as u32);
    // No access, no execution; on.
    Attributes::write(1 << 28 | SIZE_FIELD | 1);
    // On, all else as it would be without it.
    Control::write(0b101);
    cortex_m::asm::dsb();
    cortex_m::asm::isb();
}
