//! The 16550, as UART0 of QEMU's `virt` machine: registers of one byte each.

use super::Uart;
use crate::hw::Register;

type Data = Register<0x1000_0000, u8>;
type Interrupts = Register<0x1000_0001, u8>;
type Fifo = Register<0x1000_0002, u8>;
type Line = Register<0x1000_0003, u8>;
type Status = Register<0x1000_0005, u8>;

const RECEIVED: u8 = 1 << 0;
const TRANSMIT_EMPTY: u8 = 1 << 5;

/// The port; its clock is 3.6864 MHz.
pub struct Ns16550;

impl Uart for Ns16550 {
    fn start() {
        Interrupts::write(0);
        // The divider is where data and interrupts are while this bit is set: 3.6864 MHz / (16 × 115200).
        Line::write(0x80);
        Data::write(2);
        Interrupts::write(0);
        // Eight bits; FIFOs on and empty.
        Line::write(0x03);
        Fifo::write(0x07);
    }

    fn read() -> Option<u8> {
        (Status::read() & RECEIVED != 0).then(Data::read)
    }

    fn write(byte: u8) {
        while Status::read() & TRANSMIT_EMPTY == 0 {}
        Data::write(byte);
    }
}
