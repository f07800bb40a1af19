//! Stellaris LM3S6965 evaluation board: Cortex-M3, 256 KiB flash, 64 KiB RAM. The default board.

use super::Board;
use crate::flash::{Fmc, ModelFlash};
use crate::hw::{Register, guard, systick};
use crate::uart::{Pl011, Uart};

type ClockConfiguration = Register<0x400F_E060>;
type ClockUarts = Register<0x400F_E104>;
type ClockPorts = Register<0x400F_E108>;
type PortAAlternate = Register<0x4000_4420>;
type PortADigital = Register<0x4000_451C>;

/// The board.
pub struct Lm3s6965evb;

impl Board for Lm3s6965evb {
    const NAME: &'static str = "lm3s6965evb";
    type Port = Pl011;
    type Flash = ModelFlash<Fmc>;
    /// What QEMU makes of the clock configuration below: 80 ns a tick.
    const NANOSECONDS_PER_TWO_TICKS: u64 = 160;
    const SLICE: u32 = 1000;

    fn flash() -> ModelFlash<Fmc> {
        ModelFlash::of_board()
    }

    fn start() {
        guard::start();
        // The 8 MHz crystal, undivided, without PLL.
        ClockConfiguration::write(0x078E_3AC0);
        ClockUarts::write(1);
        ClockPorts::write(1);
        // A port may be used three clocks after it was switched on.
        cortex_m::asm::delay(8);
        PortAAlternate::write(0b11);
        PortADigital::write(0b11);
        Pl011::start();
        systick::start();
    }

    fn ticks() -> u64 {
        systick::ticks()
    }
}
