//! Ring buffers in memory that a debug probe reads and writes (SEGGER's RTT) as the port.

use super::Uart;
use crate::hw::rtt;

/// The port.
pub struct Rtt;

impl Uart for Rtt {
    fn start() {
        rtt::start();
    }

    fn read() -> Option<u8> {
        rtt::read()
    }

    fn write(byte: u8) {
        rtt::write(byte);
    }

    fn flush() {
        rtt::flush();
    }
}
