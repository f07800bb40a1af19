//! A device at a serial port: the device's program in this process, at the other end of a pseudo-terminal.
#![cfg(unix)]

use crate::place::{PUMP, Place};
use serialport::{SerialPort, TTYPort};
use std::io::{Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use vouch_host::transport::{Settings, Target};

const MOMENT: Duration = Duration::from_millis(2);

/// A device that is connected for as long as this is there.
struct Device {
    path: String,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Device {
    fn new() -> Device {
        let (mut line, port) = TTYPort::pair().unwrap();
        line.set_timeout(MOMENT).unwrap();
        let path = port.name().unwrap();
        let ended = Arc::new(AtomicBool::new(false));
        let over = ended.clone();
        let thread = std::thread::spawn(move || {
            // The other end is only opened by whoever is tested.
            drop(port);
            let mut device = Target::Sim.open(&Settings::default()).unwrap();
            let mut buffer = [0; 64];
            while !over.load(Ordering::Relaxed) {
                // Nothing to be read, or nobody at the other end.
                match line.read(&mut buffer) {
                    Ok(count) => device.send(&buffer[..count]).unwrap(),
                    Err(_) => std::thread::sleep(MOMENT),
                }
                let count = device.recv(&mut buffer, MOMENT).unwrap();
                let _ = line.write_all(&buffer[..count]);
            }
        });
        Device { path, ended, thread: Some(thread) }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

#[test]
fn a_check_over_a_serial_port() {
    let device = Device::new();
    let place = Place::new(&[("pump.vch", PUMP)]);
    let target = format!("serial:{}", device.path);
    let run = |more: &[&str]| {
        place.run(&[&["run", "pump.vch", "--target", &target, "--json"], more].concat())
    };
    let broken = run(&[]).ended(1).json();
    assert_eq!(broken["verdict"], "unsafe");
    assert_eq!((&broken["validated"], &broken["target"]), (&true.into(), &(&*target).into()));
    assert_eq!(broken["device"]["board"], "sim");
    // The port is free again, and another model is another answer.
    let safe = run(&["--bind", "limit=12"]).ended(0).json();
    assert_eq!((&safe["verdict"], &safe["validated"]), (&"safe".into(), &true.into()));
}
