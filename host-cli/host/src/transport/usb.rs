//! A serial port by the identity of the USB device that it belongs to: the same board whatever the port is called today.

use super::{OpenError, serial};
use crate::escape;
use serialport::{SerialPortInfo, SerialPortType};
use std::fmt;
use std::str::FromStr;

/// Which device: vendor, product, and the serial number if there can be several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    vendor: u16,
    product: u16,
    serial: Option<String>,
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:04x}:{:04x}", self.vendor, self.product)?;
        self.serial.iter().try_for_each(|serial| write!(f, ":{serial}"))
    }
}

impl FromStr for Identity {
    type Err = ();

    fn from_str(text: &str) -> Result<Identity, ()> {
        let mut parts = text.splitn(3, ':');
        let mut number =
            || u16::from_str_radix(parts.next().unwrap_or_default(), 16).map_err(|_| ());
        let (vendor, product) = (number()?, number()?);
        let serial = parts.next().filter(|s| !s.is_empty()).map(str::to_owned);
        Ok(Identity { vendor, product, serial })
    }
}

/// Opens the only port that a device with this identity has.
pub fn open(identity: &Identity, baud: u32) -> Result<serial::Serial, OpenError> {
    let ports = serialport::available_ports().unwrap_or_default();
    let name = format!("usb:{identity}");
    let path =
        port(identity, &ports).map_err(|why| OpenError::new(&name, why).hint(known(&ports)))?;
    serial::open(&path, baud).map_err(|e| OpenError { target: name, ..e })
}

/// The port of a device.
fn port(identity: &Identity, ports: &[SerialPortInfo]) -> Result<String, String> {
    let is_it = |p: &&SerialPortInfo| match &p.port_type {
        SerialPortType::UsbPort(usb) => {
            let wanted = identity.serial.as_ref();
            (usb.vid, usb.pid) == (identity.vendor, identity.product)
                && wanted.is_none_or(|serial| usb.serial_number.as_ref() == Some(serial))
        }
        _ => false,
    };
    let mut paths: Vec<&str> = ports.iter().filter(is_it).map(|p| p.port_name.as_str()).collect();
    // macOS has two names for each port.
    if paths.iter().any(|p| p.starts_with("/dev/cu.")) {
        paths.retain(|p| !p.starts_with("/dev/tty."));
    }
    match paths[..] {
        [path] => Ok(path.into()),
        [] => Err("no such device is connected".into()),
        _ => {
            let paths = escape::text(&paths.join(", "));
            Err(format!("several ports have this identity: {paths}"))
        }
    }
}

fn known(ports: &[SerialPortInfo]) -> String {
    let usb = ports.iter().filter_map(|p| match &p.port_type {
        SerialPortType::UsbPort(usb) => {
            let (vendor, product, serial) = (usb.vid, usb.pid, usb.serial_number.clone());
            let identity = Identity { vendor, product, serial };
            // Its serial number is what the device says.
            Some(escape::text(&format!("usb:{identity} ({})", p.port_name)))
        }
        _ => None,
    });
    let usb: Vec<String> = usb.collect();
    match usb.is_empty() {
        true => "no serial port on USB is connected".into(),
        false => format!("add the serial number; there are {}", usb.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serialport::UsbPortInfo;

    fn usb(name: &str, pid: u16, serial: &str) -> SerialPortInfo {
        let info = UsbPortInfo {
            vid: 0x0483,
            pid,
            serial_number: Some(serial.into()),
            manufacturer: None,
            product: None,
        };
        SerialPortInfo { port_name: name.into(), port_type: SerialPortType::UsbPort(info) }
    }

    #[test]
    fn one_device_of_many() {
        let other =
            SerialPortInfo { port_name: "/dev/ttyS0".into(), port_type: SerialPortType::Unknown };
        let ports = [other, usb("/dev/ttyACM0", 0x374b, "A1"), usb("/dev/ttyACM1", 0x374b, "B2")];
        let find = |text: &str| port(&text.parse().unwrap(), &ports);
        assert_eq!(find("0483:374b:B2"), Ok("/dev/ttyACM1".into()));
        assert!(find("0483:374b").unwrap_err().contains("/dev/ttyACM0, /dev/ttyACM1"));
        assert!(find("0483:374b:C3").unwrap_err().contains("no such device"));
        assert!(known(&ports).contains("usb:0483:374b:A1 (/dev/ttyACM0)"));
        let forged = known(&[usb("/dev/ttyACM0", 0x374b, "A1\x1b[2J\nerror: none")]);
        assert!(forged.contains("A1\\u{1b}[2J\\nerror: none (/dev/ttyACM0)"), "{forged}");
        for wrong in ["", "0483", "0483:", "0483:xyz", "10483:374b"] {
            assert!(wrong.parse::<Identity>().is_err(), "{wrong}");
        }
    }
}
