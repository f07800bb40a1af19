//! nRF52840 (its development kit, its dongle, and boards like them): Cortex-M4F, 1 MiB flash, 256 KiB
//! RAM, USB.

use super::Board;
use crate::flash::{ModelFlash, Nvmc};
use crate::hw::{Register, guard, systick};
use crate::uart::{Uart, Usb};

type StartCrystal = Register<0x4000_0000>;
type CrystalStarted = Register<0x4000_0100>;

/// The board.
pub struct Nrf52840;

impl Board for Nrf52840 {
    const NAME: &'static str = "nrf52840";
    type Port = Usb;
    type Flash = ModelFlash<Nvmc<4096>>;
    /// 64 MHz, rounded: on silicon a clock counts no instructions.
    const NANOSECONDS_PER_TWO_TICKS: u64 = 31;
    const SLICE: u32 = 4000;

    fn flash() -> Self::Flash {
        ModelFlash::of_board()
    }

    fn start() {
        guard::start();
        // The internal oscillator would be too inexact for USB.
        StartCrystal::write(1);
        while CrystalStarted::read() == 0 {}
        Usb::start();
        systick::start();
    }

    fn ticks() -> u64 {
        systick::ticks()
    }
}
