//! Arm PrimeCell PL011, as UART0 of the LM3S6965.

use super::Uart;
use crate::hw::Register;

type Data = Register<0x4000_C000>;
type Flags = Register<0x4000_C018>;
type BaudInteger = Register<0x4000_C024>;
type BaudFraction = Register<0x4000_C028>;
type Line = Register<0x4000_C02C>;
type Control = Register<0x4000_C030>;

const RECEIVE_EMPTY: u32 = 1 << 4;
const TRANSMIT_FULL: u32 = 1 << 5;

/// The port; its clock is taken to be 8 MHz.
pub struct Pl011;

impl Uart for Pl011 {
    fn start() {
        Control::write(0);
        // 8 MHz / (16 × 115200) = 4 + 22/64.
        BaudInteger::write(4);
        BaudFraction::write(22);
        // Eight bits, with FIFOs.
        Line::write(0x70);
        // On, both ways.
        Control::write(0x301);
    }

    fn read() -> Option<u8> {
        (Flags::read() & RECEIVE_EMPTY == 0).then(|| Data::read() as u8)
    }

    fn write(byte: u8) {
        while Flags::read() & TRANSMIT_FULL != 0 {}
        Data::write(byte.into());
    }
}
