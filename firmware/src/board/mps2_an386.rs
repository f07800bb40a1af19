//! Arm MPS2 with the AN386 image: Cortex-M4F, 4 MiB for code, 4 MiB RAM. For larger models.

use super::Board;
use crate::flash::{self, MemoryFlash};
use crate::hw::{guard, systick};
use crate::uart::{Cmsdk, Uart};

/// The board.
pub struct Mps2An386;

impl Board for Mps2An386 {
    const NAME: &'static str = "mps2-an386";
    type Port = Cmsdk;
    type Flash = MemoryFlash;
    /// 25 MHz.
    const NANOSECONDS_PER_TWO_TICKS: u64 = 80;
    const SLICE: u32 = 1000;

    fn flash() -> Self::Flash {
        flash::in_memory()
    }

    fn start() {
        guard::start();
        Cmsdk::start();
        systick::start();
    }

    fn ticks() -> u64 {
        systick::ticks()
    }
}
