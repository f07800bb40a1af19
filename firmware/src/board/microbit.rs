//! BBC micro:bit (nRF51822): Cortex-M0, 256 KiB flash, 16 KiB RAM. The smallest board.

use super::Board;
use crate::flash::{ModelFlash, Nvmc};
use crate::hw::Register;
use crate::uart::{Nrf51, Uart};
use core::sync::atomic::{AtomicU32, Ordering};

type StartCrystal = Register<0x4000_0000>;
type TimerStart = Register<0x4000_8000>;
type TimerClear = Register<0x4000_800C>;
type TimerCapture = Register<0x4000_8040>;
type TimerBits = Register<0x4000_8508>;
type TimerPrescaler = Register<0x4000_8510>;
type TimerCaptured = Register<0x4000_8540>;

/// What the timer showed when it was last read, and how often it had wrapped by then.
static LAST: AtomicU32 = AtomicU32::new(0);
static WRAPS: AtomicU32 = AtomicU32::new(0);

/// The board.
pub struct Microbit;

impl Board for Microbit {
    const NAME: &'static str = "microbit";
    type Port = Nrf51;
    type Flash = ModelFlash<Nvmc<1024>>;
    /// 16 MHz.
    const NANOSECONDS_PER_TWO_TICKS: u64 = 125;
    const SLICE: u32 = 1000;

    fn flash() -> ModelFlash<Nvmc<1024>> {
        ModelFlash::of_board()
    }

    fn start() {
        // The internal oscillator would be too inexact for a UART.
        StartCrystal::write(1);
        Nrf51::start();
        // The nRF51 has no SysTick: TIMER0, 32 bits wide.
        TimerBits::write(3);
        TimerPrescaler::write(0);
        TimerClear::write(1);
        TimerStart::write(1);
    }

    /// The timer wraps after 268 seconds; it is read far more often than that.
    fn ticks() -> u64 {
        TimerCapture::write(1);
        let now = TimerCaptured::read();
        if now < LAST.load(Ordering::Relaxed) {
            WRAPS.store(WRAPS.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        }
        LAST.store(now, Ordering::Relaxed);
        (u64::from(WRAPS.load(Ordering::Relaxed)) << 32) | u64::from(now)
    }
}
