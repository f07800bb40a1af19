//! A serial port over USB (CDC-ACM), polled: bytes in, bytes out, whatever the bus.

use super::patience::Patience;
use usb_device::bus::{UsbBus, UsbBusAllocator};
use usb_device::device::{StringDescriptors, UsbDevice, UsbDeviceBuilder, UsbVidPid};
use usbd_serial::{SerialPort, USB_CLASS_CDC};

/// Vendor and product that are free for serial ports of this kind.
const ID: UsbVidPid = UsbVidPid(0x16c0, 0x27dd);

/// The port. It has to be polled often: reading and writing do it.
pub struct Cdc<'a, B: UsbBus> {
    device: UsbDevice<'a, B>,
    port: SerialPort<'a, B>,
    patience: Patience,
}

impl<'a, B: UsbBus> Cdc<'a, B> {
    /// A port on a bus, named after the board. `None` if the bus has no room for its endpoints.
    pub fn new(bus: &'a UsbBusAllocator<B>, board: &'static str) -> Option<Cdc<'a, B>> {
        let port = SerialPort::new(bus);
        let names = StringDescriptors::default().manufacturer("vouch").product(board);
        let device = UsbDeviceBuilder::new(bus, ID).device_class(USB_CLASS_CDC);
        let device = device.strings(&[names]).ok()?.max_packet_size_0(64).ok()?.build();
        Some(Cdc { device, port, patience: Patience::new() })
    }

    /// The next byte received, if there is one.
    pub fn read(&mut self) -> Option<u8> {
        self.device.poll(&mut [&mut self.port]);
        let mut byte = [0];
        matches!(self.port.read(&mut byte), Ok(1)).then_some(byte[0])
    }

    /// Sends a byte. Waits for room while somebody takes what is sent.
    pub fn write(&mut self, byte: u8) {
        let Cdc { device, port, patience } = self;
        patience.insist(|| {
            device.poll(&mut [&mut *port]);
            matches!(port.write(&[byte]), Ok(1))
        });
    }

    /// Waits until all is sent, while somebody takes it.
    pub fn flush(&mut self) {
        let Cdc { device, port, patience } = self;
        patience.insist(|| {
            device.poll(&mut [&mut *port]);
            port.flush().is_ok()
        });
    }
}
