//! STM32F411 with a crystal of 25 MHz (the "Black Pill" and boards like it): Cortex-M4F, 512 KiB flash,
//! 128 KiB RAM, USB.

use super::Board;
use crate::flash::{ModelFlash, Stm32f4};
use crate::hw::{Register, guard, systick};
use crate::uart::{Uart, Usb};

type FlashAccess = Register<0x4002_3C00>;
type ClockControl = Register<0x4002_3800>;
type Pll = Register<0x4002_3804>;
type ClockConfiguration = Register<0x4002_3808>;
type ClockAhb1 = Register<0x4002_3830>;
type PortAMode = Register<0x4002_0000>;
type PortASpeed = Register<0x4002_0008>;
type PortAAlternateHigh = Register<0x4002_0024>;

const CRYSTAL_ON: u32 = 1 << 16;
const CRYSTAL_READY: u32 = 1 << 17;
const PLL_ON: u32 = 1 << 24;
const PLL_READY: u32 = 1 << 25;
/// 25 MHz / 25 × 336, of that a fourth (84 MHz) for the processor and a seventh (48 MHz) for USB.
const PLL_CONFIGURATION: u32 = 25 | 336 << 6 | 1 << 16 | 1 << 22 | 7 << 24;

/// The board.
pub struct Stm32f411;

impl Board for Stm32f411 {
    const NAME: &'static str = "stm32f411";
    type Port = Usb;
    type Flash = ModelFlash<Stm32f4>;
    /// 84 MHz, rounded: on silicon a clock counts no instructions.
    const NANOSECONDS_PER_TWO_TICKS: u64 = 24;
    const SLICE: u32 = 4000;

    fn flash() -> Self::Flash {
        ModelFlash::of_board()
    }

    fn start() {
        guard::start();
        start_clocks();
        // A11 and A12 are the bus: alternate function 10, fast.
        ClockAhb1::write(ClockAhb1::read() | 1);
        cortex_m::asm::delay(8);
        let replace = |value: u32, mask: u32, bits: u32| value & !mask | bits;
        let (both, shift) = (0b1111 << 22, 22);
        PortASpeed::write(replace(PortASpeed::read(), both, 0b1111 << shift));
        let alternate = PortAAlternateHigh::read();
        PortAAlternateHigh::write(replace(alternate, 0xff << 12, 0xaa << 12));
        PortAMode::write(replace(PortAMode::read(), both, 0b1010 << shift));
        Usb::start();
        systick::start();
    }

    fn ticks() -> u64 {
        systick::ticks()
    }
}

/// From the crystal to 84 MHz.
fn start_clocks() {
    ClockControl::write(ClockControl::read() | CRYSTAL_ON);
    while ClockControl::read() & CRYSTAL_READY == 0 {}
    Pll::write(PLL_CONFIGURATION);
    ClockControl::write(ClockControl::read() | PLL_ON);
    while ClockControl::read() & PLL_READY == 0 {}
    // Flash needs two wait states at that speed; with its caches and prefetching.
    FlashAccess::write(2 | 0b111 << 8);
    // The slow bus gets half; then the PLL takes over.
    ClockConfiguration::write(0b100 << 10 | 0b10);
    while ClockConfiguration::read() >> 2 & 0b11 != 0b10 {}
}
