//! QEMU's `virt` machine as a RISC-V microcontroller: RV32IMAC, 1 MiB for code and models, 256 KiB RAM.

use super::Board;
use crate::flash::{self, MemoryFlash};
use crate::hw::{self, Register, counter};
use crate::uart::{Ns16550, Uart};

/// Where the timer of hart 0 is set to go off.
type TimerLow = Register<0x0200_4000>;
type TimerHigh = Register<0x0200_4004>;

/// The board.
pub struct RiscvVirt;

impl Board for RiscvVirt {
    const NAME: &'static str = "riscv-virt";
    type Port = Ns16550;
    type Flash = MemoryFlash;
    /// The processor counts its instructions itself; taken for a nanosecond each.
    const NANOSECONDS_PER_TWO_TICKS: u64 = 2;
    const SLICE: u32 = 1000;

    fn flash() -> Self::Flash {
        flash::in_memory()
    }

    fn start() {
        hw::start();
        Ns16550::start();
        // Nobody waits for the timer: that it is set makes QEMU look at the port.
        TimerLow::write(1000);
        TimerHigh::write(0);
    }

    fn ticks() -> u64 {
        counter::instructions()
    }
}
