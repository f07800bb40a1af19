//! The LM3S6965's flash: words of four bytes, pages of one KiB.
//!
//! After the data sheet, and only tried against a model of the registers: QEMU has none of this
//! controller, so there every write is reported as failed. What QEMU was started with can be read anyway.

use super::{Controller, wait_while};
use crate::hw::{Register, memory};

type Address = Register<0x400F_D000>;
type Data = Register<0x400F_D004>;
type Control = Register<0x400F_D008>;

const KEY: u32 = 0xA442 << 16;
const WRITE: u32 = 1 << 0;
const ERASE: u32 = 1 << 1;

/// The controller. There is one.
pub struct Fmc;

/// Has the controller do something with the word or page at `offset`, and waits for it.
fn command(offset: u32, what: u32) {
    Address::write(memory::models().start as u32 + offset);
    Control::write(KEY | what);
    wait_while(|| Control::read() & what != 0);
}

impl Controller for Fmc {
    const PAGE: usize = 1024;

    fn erase_page(offset: u32) {
        command(offset, ERASE);
    }

    fn write_word(offset: u32, word: u32) {
        Data::write(word);
        command(offset, WRITE);
    }
}
