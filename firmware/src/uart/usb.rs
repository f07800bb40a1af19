//! The board's own USB as its port.

use super::Uart;
use crate::hw::usb;

/// The port. Power on the bus may come and stay away: it starts when there is some.
pub struct Usb;

impl Uart for Usb {
    fn start() {}

    fn read() -> Option<u8> {
        usb::with(|port| port.read()).flatten()
    }

    fn write(byte: u8) {
        usb::with(|port| port.write(byte));
    }

    fn flush() {
        usb::with(|port| port.flush());
    }
}
