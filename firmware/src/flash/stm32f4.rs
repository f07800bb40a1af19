//! The STM32F4's flash: words of four bytes, and the sectors of 128 KiB, which begin with number 5.
//!
//! After the reference manual (RM0383, 3); only tried against a model of the registers.

use super::{Controller, wait_while};
use crate::hw::{Register, program};

type Key = Register<0x4002_3C04>;
type Status = Register<0x4002_3C0C>;
type Control = Register<0x4002_3C10>;

const BUSY: u32 = 1 << 16;
const PROGRAM: u32 = 1 << 0;
const ERASE_SECTOR: u32 = 1 << 1;
const WORDS: u32 = 0b10 << 8;
const START: u32 = 1 << 16;
const LOCK: u32 = 1 << 31;
/// The first sector of the models' flash.
const FIRST: u32 = 5;

/// The controller. There is one.
pub struct Stm32f4;

fn wait() {
    wait_while(|| Status::read() & BUSY != 0);
}

/// Unlocks the controller, has it do something, and locks it again.
fn unlocked(what: u32, work: impl FnOnce()) {
    wait();
    if Control::read() & LOCK != 0 {
        Key::write(0x4567_0123);
        Key::write(0xCDEF_89AB);
    }
    // Errors of earlier operations, which are cleared by ones: what was done is read back anyway.
    Status::write(Status::read());
    Control::write(what | WORDS);
    work();
    wait();
    Control::write(LOCK);
}

impl Controller for Stm32f4 {
    const PAGE: usize = 128 << 10;

    fn erase_page(offset: u32) {
        let what = ERASE_SECTOR | (FIRST + offset / Self::PAGE as u32) << 3;
        unlocked(what, || Control::write(what | WORDS | START));
    }

    fn write_word(offset: u32, word: u32) {
        unlocked(PROGRAM, || program::word(offset, word));
    }
}
