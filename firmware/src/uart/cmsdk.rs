//! The APB UART of Arm's Cortex-M system design kit, as UART0 of the MPS2 board.

use super::Uart;
use crate::hw::Register;

type Data = Register<0x4000_4000>;
type State = Register<0x4000_4004>;
type Control = Register<0x4000_4008>;
type Divider = Register<0x4000_4010>;

const TRANSMIT_FULL: u32 = 1 << 0;
const RECEIVE_FULL: u32 = 1 << 1;

/// The port; its clock is 25 MHz.
pub struct Cmsdk;

impl Uart for Cmsdk {
    fn start() {
        // 25 MHz / 115200.
        Divider::write(217);
        // Both ways.
        Control::write(0b11);
    }

    fn read() -> Option<u8> {
        (State::read() & RECEIVE_FULL != 0).then(|| Data::read() as u8)
    }

    fn write(byte: u8) {
        while State::read() & TRANSMIT_FULL != 0 {}
        Data::write(byte.into());
    }
}
