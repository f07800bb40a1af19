//! Arm MPS2 with the AN386 image: Cortex-M4F, 4 MiB for code, 4 MiB RAM. For larger models.

use super::Board;
use crate::hw::{guard, memory, systick};
use crate::uart::{Cmsdk, Uart};
use vouch_device::ram::RamFlash;

/// The board.
pub struct Mps2An386;

impl Board for Mps2An386 {
    const NAME: &'static str = "mps2-an386";
    type Port = Cmsdk;
    type Flash = RamFlash<&'static mut [u32]>;
    /// 25 MHz.
    const NANOSECONDS_PER_TWO_TICKS: u64 = 80;
    const SLICE: u32 = 1000;

    /// The board's code memory is RAM, so there is no controller. It holds zeros when the power comes
    /// on, as no flash that was ever erased does.
    fn flash() -> Self::Flash {
        let models = memory::models_memory();
        if models.iter().all(|word| *word == 0) {
            models.fill(u32::MAX);
        }
        RamFlash::new(models)
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
