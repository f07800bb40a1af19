//! The UART of the nRF51, on the micro:bit's pins to its USB interface.

use super::Uart;
use crate::hw::Register;

type StartReceiver = Register<0x4000_2000>;
type StartTransmitter = Register<0x4000_2008>;
type Received = Register<0x4000_2108>;
type Transmitted = Register<0x4000_211C>;
type Enable = Register<0x4000_2500>;
type TransmitPin = Register<0x4000_250C>;
type ReceivePin = Register<0x4000_2514>;
type ReceiveData = Register<0x4000_2518>;
type TransmitData = Register<0x4000_251C>;
type Baud = Register<0x4000_2524>;
type PinSet = Register<0x5000_0508>;
type PinOutput = Register<0x5000_0518>;

const TX: u32 = 24;
const RX: u32 = 25;

/// The port.
pub struct Nrf51;

impl Uart for Nrf51 {
    fn start() {
        PinSet::write(1 << TX);
        PinOutput::write(1 << TX);
        TransmitPin::write(TX);
        ReceivePin::write(RX);
        // The data sheet's value for 115200.
        Baud::write(0x01D7_E000);
        Enable::write(4);
        StartReceiver::write(1);
        StartTransmitter::write(1);
    }

    fn read() -> Option<u8> {
        if Received::read() == 0 {
            return None;
        }
        // Before the data: the next byte may arrive as soon as that is read.
        Received::write(0);
        Some(ReceiveData::read() as u8)
    }

    fn write(byte: u8) {
        Transmitted::write(0);
        TransmitData::write(byte.into());
        while Transmitted::read() == 0 {}
    }
}
