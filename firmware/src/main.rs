//! test
#![no_std]
#![no_main]
#![deny(unsafe_code)]

extern crate alloc;

mod board;
mod count;
mod hw;
mod log;
mod uart;

use board::{Board, Current};
use uart::Uart;

fn num(mut x: u64) {
    let mut d = [0u8; 20]; let mut i = 0;
    loop { d[i] = b'0' + (x % 10) as u8; x /= 10; i += 1; if x == 0 { break } }
    for &c in d[..i].iter().rev() { <Current as Board>::Port::write(c) }
    <Current as Board>::Port::write(b'\n');
}
#[cortex_m_rt::entry]
fn main() -> ! {
    Current::start();
    hw::memory::start_heap();
    let c = count::Counter::calibrated();
    for n in [10u32, 1000, 100_000, 10_000_000, 1_000_000_000] {
        let a = Current::ticks();
        hw::spin(n / 2);
        let b = Current::ticks();
        num((b - a) * Current::NANOSECONDS_PER_TWO_TICKS / 2);
    }
    num(c.instructions().unwrap_or(0));
    num(hw::memory::free() as u64);
    num(hw::memory::flash_used() as u64);
    num(hw::memory::stack_used().0 as u64);
    num(hw::memory::stack_used().1 as u64);
    defmt::info!("hi");
    panic!()
}
