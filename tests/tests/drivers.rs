//! The firmware's own drivers, compiled for this machine: flash controllers on registers that a model of
//! the part stands behind, and the USB serial port on a bus with a host.
//!
//! Nobody can run these in QEMU, which has no model of the LM3S6965's and the STM32F4's controllers and
//! of no board's USB.

use embedded_storage::nor_flash::{NorFlash, ReadNorFlash};
use std::cell::Cell;
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard};
use usb_device::bus::{PollResult, UsbBus, UsbBusAllocator};
use usb_device::endpoint::{EndpointAddress, EndpointType};
use usb_device::{UsbDirection, UsbError};
use vouch_core::image::{EdgeSpec, ImageBuilder, LocationSpec, PropertySpec};
use vouch_device::package::HEADER_LEN;
use vouch_device::{MappedFlash, Store, Trust};
use vouch_tests::maker;

#[path = "../../firmware/src/flash/fmc.rs"]
mod fmc;
#[path = "../../firmware/src/flash/models.rs"]
mod models;
#[path = "../../firmware/src/flash/nvmc.rs"]
mod nvmc;
#[path = "../../firmware/src/flash/stm32f4.rs"]
mod stm32f4;

#[path = "../../firmware/src/uart/cdc.rs"]
mod cdc;
#[path = "../../firmware/src/uart/patience.rs"]
mod patience;

use cdc::Cdc;
pub use models::{Controller, wait_while};
use models::{ModelFlash, PATIENCE};

/// What they call.
fn feed_watchdog() {
    FED.set(FED.get() + 1);
}

thread_local! {
    /// How often the watchdog was fed.
    static FED: Cell<u32> = const { Cell::new(0) };
}

/// What the drivers see of the hardware.
mod hw {
    use super::part;
    use std::marker::PhantomData;

    pub struct Register<const ADDRESS: usize, T = u32>(PhantomData<T>);

    impl<const ADDRESS: usize> Register<ADDRESS> {
        pub fn read() -> u32 {
            part::with(|part| part.read(ADDRESS))
        }
        pub fn write(value: u32) {
            part::with(|part| part.write(ADDRESS, value));
        }
    }

    pub mod memory {
        use super::part;

        pub fn models() -> std::ops::Range<usize> {
            part::with(|part| part::BASE..part::BASE + part.flash.len())
        }
        /// A copy each time: nobody holds one over a change.
        pub fn models_bytes() -> &'static [u8] {
            Vec::leak(part::with(|part| part.flash.clone()))
        }
    }

    pub mod program {
        use super::part;

        pub fn word(offset: u32, word: u32) {
            part::with(|part| part.store(offset as usize, word));
        }
        pub extern "C" fn vouch_flash_erase(address: usize, start: extern "C" fn(usize)) {
            start(address);
        }
    }
}

/// The parts: flash with the rules of their data sheets, and whatever was done against them.
mod part {
    use std::cell::RefCell;

    pub const BASE: usize = 0x2_0000;
    /// For so many reads.
    pub const BUSY_ERASING: u32 = 5;

    #[derive(Clone, Copy, PartialEq, Debug)]
    pub enum Kind {
        Fmc,
        Nvmc { page: usize },
        Stm32f4,
    }

    pub struct Part {
        pub kind: Kind,
        pub flash: Vec<u8>,
        /// What no data sheet allows.
        pub faults: Vec<String>,
        pub erased: usize,
        pub written: usize,
        /// Reads for which an operation still takes.
        busy: u32,
        address: u32,
        data: u32,
        control: u32,
        keys: Vec<u32>,
        locked: bool,
    }

    thread_local! {
        static PART: RefCell<Option<Part>> = const { RefCell::new(None) };
    }

    pub fn with<R>(work: impl FnOnce(&mut Part) -> R) -> R {
        PART.with(|part| work(part.borrow_mut().as_mut().expect("a part")))
    }

    pub fn plug_in(kind: Kind) {
        let part = Part {
            kind,
            flash: vec![0; if kind == Kind::Stm32f4 { 3 * (128 << 10) } else { 32 << 10 }],
            faults: vec![],
            erased: 0,
            written: 0,
            busy: 0,
            address: 0,
            data: 0,
            control: 0,
            keys: vec![],
            locked: true,
        };
        PART.with(|place| place.replace(Some(part)));
    }

    impl Part {
        fn fault(&mut self, what: impl Into<String>) {
            self.faults.push(what.into());
        }

        fn erase(&mut self, offset: usize, page: usize) {
            if !offset.is_multiple_of(page) || offset + page > self.flash.len() {
                return self.fault(format!("erases {offset:#x}"));
            }
            self.flash[offset..offset + page].fill(0xff);
            self.erased += 1;
            self.busy = BUSY_ERASING;
        }

        fn program(&mut self, offset: usize, word: u32) {
            if !offset.is_multiple_of(4) || offset + 4 > self.flash.len() {
                return self.fault(format!("writes to {offset:#x}"));
            }
            for (cell, byte) in self.flash[offset..offset + 4].iter_mut().zip(word.to_le_bytes()) {
                *cell &= byte;
            }
            self.written += 1;
            self.busy = 3;
        }

        /// A word is stored to where flash is mapped.
        pub fn store(&mut self, offset: usize, word: u32) {
            let ready = match self.kind {
                Kind::Fmc => false,
                Kind::Nvmc { .. } => self.control == 1,
                // Programming, words of 32 bits, unlocked.
                Kind::Stm32f4 => !self.locked && self.control & 0x303 == 0x201,
            };
            if !ready || self.busy > 0 {
                return self.fault("stores to flash that does not expect it");
            }
            self.program(offset, word);
        }

        pub fn read(&mut self, address: usize) -> u32 {
            let busy = self.busy > 0;
            self.busy = self.busy.saturating_sub(1);
            match (self.kind, address) {
                // The command bits stay set until it is done.
                (Kind::Fmc, 0x400F_D008) => {
                    if busy {
                        self.control & 0xffff
                    } else {
                        0
                    }
                }
                (Kind::Nvmc { .. }, 0x4001_E400) => !busy as u32,
                (Kind::Stm32f4, 0x4002_3C0C) => (busy as u32) << 16,
                (Kind::Stm32f4, 0x4002_3C10) => self.control | (self.locked as u32) << 31,
                _ => {
                    self.fault(format!("reads {address:#x}"));
                    0
                }
            }
        }

        pub fn write(&mut self, address: usize, value: u32) {
            if self.busy > 0 {
                self.fault(format!("writes {address:#x} while it is busy"));
            }
            let offset = |address: u32| (address as usize).wrapping_sub(BASE);
            match (self.kind, address) {
                (Kind::Fmc, 0x400F_D000) => self.address = value,
                (Kind::Fmc, 0x400F_D004) => self.data = value,
                (Kind::Fmc, 0x400F_D008) => {
                    self.control = value;
                    match value {
                        0xA442_0001 => self.program(offset(self.address), self.data),
                        0xA442_0002 => self.erase(offset(self.address), 1024),
                        _ => self.fault(format!("commands {value:#x}")),
                    }
                }
                (Kind::Nvmc { .. }, 0x4001_E504) => self.control = value,
                (Kind::Nvmc { page }, 0x4001_E508) if self.control == 2 => {
                    self.erase(offset(value), page);
                }
                (Kind::Stm32f4, 0x4002_3C04) => {
                    self.keys.push(value);
                    if self.keys.ends_with(&[0x4567_0123, 0xCDEF_89AB]) {
                        self.locked = false;
                    }
                }
                (Kind::Stm32f4, 0x4002_3C0C) => {}
                (Kind::Stm32f4, 0x4002_3C10) if value >> 31 == 1 => {
                    (self.locked, self.control) = (true, 0);
                }
                (Kind::Stm32f4, 0x4002_3C10) if self.locked => self.fault("it is locked"),
                (Kind::Stm32f4, 0x4002_3C10) => {
                    self.control = value;
                    if value >> 16 & 1 == 1 {
                        let sector = (value >> 3 & 0xf) as usize;
                        if value & 0b11 != 0b10 || !(5..8).contains(&sector) {
                            return self.fault(format!("starts {value:#x}"));
                        }
                        self.erase((sector - 5) * (128 << 10), 128 << 10);
                    }
                }
                _ => self.fault(format!("writes {value:#x} to {address:#x}")),
            }
        }
    }
}

use part::Kind;

/// Erases, writes and reads back; what the part refuses is an error; nothing against its data sheet.
fn exercise<C: Controller>(kind: Kind) {
    part::plug_in(kind);
    let mut flash = ModelFlash::<C>::of_board();
    let page = C::PAGE as u32;
    assert!(flash.write(0, &[1, 2, 3, 4]).is_err(), "it is not blank: {kind:?}");
    flash.erase(page, 3 * page).unwrap();
    let data: Vec<u8> = (0..96u32).map(|i| (i * 37 + 5) as u8).collect();
    flash.write(page + 8, &data).unwrap();
    let mut back = vec![0; 96];
    flash.read(page + 8, &mut back).unwrap();
    assert_eq!(back, data, "{kind:?}");
    assert_eq!(flash.mapped()[..page as usize], vec![0; page as usize]);
    assert!(flash.mapped()[page as usize + 104..3 * page as usize].iter().all(|b| *b == 0xff));
    // A bit that should be set again is not.
    assert!(flash.write(page + 8, &[0xff; 4]).is_err());
    assert!(flash.erase(1, page).is_err() && flash.write(2, &[0; 4]).is_err());
    part::with(|part| {
        assert_eq!(part.faults, Vec::<String>::new(), "{kind:?}");
        assert_eq!((part.erased, part.written), (2, 1 + 24 + 1), "{kind:?}");
    });
}

/// A model is stored and found again.
fn stores_a_model<C: Controller>(kind: Kind) {
    part::plug_in(kind);
    part::with(|part| part.flash.fill(0xff));
    let mut store = Store::new(ModelFlash::<C>::of_board(), Trust::Signed);
    store.provision_key(&maker::public()).unwrap();
    let model = ImageBuilder {
        name: "stored".into(),
        locations: vec![LocationSpec::default(), LocationSpec::default()],
        edges: vec![EdgeSpec::plain(0, 1, 1, &[])],
        properties: vec![PropertySpec { name: "never".into(), error: 1 }],
        ..ImageBuilder::default()
    };
    let image = model.build_as::<u16>().unwrap();
    let package = maker::package(&image, 1);
    for round in 0..3 {
        store.begin_update(&package[..HEADER_LEN]).unwrap();
        store.write_update(HEADER_LEN as u32, &package[HEADER_LEN..]).unwrap();
        store.finish_update().unwrap();
        let stored = store.select().unwrap();
        assert_eq!(store.image(&stored), image, "{kind:?}, {round}");
    }
    part::with(|part| assert_eq!(part.faults, Vec::<String>::new(), "{kind:?}"));
}

#[test]
fn flash_controllers_are_driven_as_their_data_sheets_say() {
    exercise::<fmc::Fmc>(Kind::Fmc);
    exercise::<nvmc::Nvmc<1024>>(Kind::Nvmc { page: 1024 });
    exercise::<nvmc::Nvmc<4096>>(Kind::Nvmc { page: 4096 });
    exercise::<stm32f4::Stm32f4>(Kind::Stm32f4);
}

/// A sector of 128 KiB takes seconds to be erased.
#[test]
fn the_watchdog_is_fed_while_they_work_but_not_for_ever() {
    fn feeds<C: Controller>(kind: Kind) {
        part::plug_in(kind);
        let mut flash = ModelFlash::<C>::of_board();
        FED.set(0);
        flash.erase(0, C::PAGE as u32).unwrap();
        assert!(FED.get() >= part::BUSY_ERASING, "{kind:?}: {}", FED.get());
        FED.set(0);
        flash.write(0, &[1, 2, 3, 4]).unwrap();
        assert!(FED.get() > 0, "{kind:?}");
    }
    feeds::<fmc::Fmc>(Kind::Fmc);
    feeds::<nvmc::Nvmc<1024>>(Kind::Nvmc { page: 1024 });
    feeds::<stm32f4::Stm32f4>(Kind::Stm32f4);
    FED.set(0);
    let asked = Cell::new(0);
    wait_while(|| {
        asked.set(asked.get() + 1);
        asked.get() < 2 * u64::from(PATIENCE)
    });
    assert_eq!(FED.get(), PATIENCE);
}

#[test]
fn models_are_stored_through_them() {
    stores_a_model::<fmc::Fmc>(Kind::Fmc);
    stores_a_model::<nvmc::Nvmc<4096>>(Kind::Nvmc { page: 4096 });
    stores_a_model::<stm32f4::Stm32f4>(Kind::Stm32f4);
}

/// What the host at the other end of the bus does and gets.
#[derive(Default)]
struct Host {
    reset: bool,
    setups: VecDeque<[u8; 8]>,
    /// An answer on the control endpoint waits to be taken.
    answered: bool,
    /// Packets for the device, and from it.
    to_device: VecDeque<Vec<u8>>,
    from_device: Vec<Vec<u8>>,
    /// A packet of the device is on its way.
    in_flight: bool,
    /// Nobody takes packets.
    deaf: bool,
    polls: u64,
}

/// The bus: a control endpoint, and one for bytes each way.
#[derive(Default)]
struct Bus {
    host: Arc<Mutex<Host>>,
    used: Vec<(EndpointAddress, EndpointType)>,
}

impl Bus {
    fn host(&self) -> MutexGuard<'_, Host> {
        self.host.lock().unwrap()
    }
    fn bulk(&self, direction: UsbDirection) -> EndpointAddress {
        let is_it = |(a, t): &&(EndpointAddress, EndpointType)| {
            a.direction() == direction && *t == EndpointType::Bulk
        };
        self.used.iter().find(is_it).unwrap().0
    }
}

impl UsbBus for Bus {
    fn alloc_ep(
        &mut self,
        direction: UsbDirection,
        address: Option<EndpointAddress>,
        kind: EndpointType,
        _: u16,
        _: u8,
    ) -> usb_device::Result<EndpointAddress> {
        let free = EndpointAddress::from_parts(self.used.len(), direction);
        let address = address.unwrap_or(free);
        self.used.push((address, kind));
        Ok(address)
    }
    fn enable(&mut self) {}
    fn reset(&self) {}
    fn set_device_address(&self, _: u8) {}
    fn write(&self, address: EndpointAddress, bytes: &[u8]) -> usb_device::Result<usize> {
        let mut host = self.host();
        if address.index() == 0 {
            host.answered = true;
        } else if host.in_flight {
            return Err(UsbError::WouldBlock);
        } else {
            assert!(bytes.len() <= 64);
            host.in_flight = true;
            host.from_device.push(bytes.to_vec());
        }
        Ok(bytes.len())
    }
    fn read(&self, address: EndpointAddress, bytes: &mut [u8]) -> usb_device::Result<usize> {
        let mut host = self.host();
        let packet = match address.index() {
            0 => host.setups.pop_front().map(|setup| setup.to_vec()),
            _ => host.to_device.pop_front(),
        };
        let packet = packet.ok_or(UsbError::WouldBlock)?;
        bytes[..packet.len()].copy_from_slice(&packet);
        Ok(packet.len())
    }
    fn set_stalled(&self, _: EndpointAddress, _: bool) {}
    fn is_stalled(&self, _: EndpointAddress) -> bool {
        false
    }
    fn suspend(&self) {}
    fn resume(&self) {}
    fn poll(&self) -> PollResult {
        let (to, from) = (self.bulk(UsbDirection::Out), self.bulk(UsbDirection::In));
        let mut host = self.host();
        host.polls += 1;
        if std::mem::take(&mut host.reset) {
            return PollResult::Reset;
        }
        let setup = !host.setups.is_empty() && !host.answered;
        let mut done = std::mem::take(&mut host.answered) as u16;
        if host.in_flight && !host.deaf {
            host.in_flight = false;
            done |= 1 << from.index();
        }
        let out = if host.to_device.is_empty() { 0 } else { 1 << to.index() };
        if setup || done != 0 || out != 0 {
            return PollResult::Data { ep_out: out, ep_in_complete: done, ep_setup: setup as u16 };
        }
        PollResult::None
    }
}

/// A bus with a host that gives the device an address and chooses its only configuration.
fn bus() -> (UsbBusAllocator<Bus>, Arc<Mutex<Host>>) {
    let host = Host {
        reset: true,
        setups: [[0, 5, 7, 0, 0, 0, 0, 0], [0, 9, 1, 0, 0, 0, 0, 0]].into(),
        ..Host::default()
    };
    let host = Arc::new(Mutex::new(host));
    (UsbBusAllocator::new(Bus { host: host.clone(), used: vec![] }), host)
}

#[test]
fn bytes_pass_over_usb_both_ways() {
    let (bus, host) = bus();
    let mut port = Cdc::new(&bus, "board").unwrap();
    let mut taken: Vec<u8> = (0..20).filter_map(|_| port.read()).collect();
    assert!(taken.is_empty() && host.lock().unwrap().setups.is_empty(), "it is configured");
    let data: Vec<u8> = (0..=255).cycle().take(3000).collect();
    for (i, byte) in data.iter().enumerate() {
        if i.is_multiple_of(48) {
            let packet = data[i..data.len().min(i + 48)].to_vec();
            host.lock().unwrap().to_device.push_back(packet);
        }
        port.write(*byte);
        taken.extend(port.read());
    }
    port.flush();
    (0..200).for_each(|_| taken.extend(port.read()));
    assert_eq!(taken, data);
    assert_eq!(host.lock().unwrap().from_device.concat(), data);
}

#[test]
fn a_host_that_takes_nothing_is_waited_for_once() {
    let (bus, host) = bus();
    let mut port = Cdc::new(&bus, "board").unwrap();
    (0..20).for_each(|_| assert!(port.read().is_none()));
    host.lock().unwrap().deaf = true;
    let before = host.lock().unwrap().polls;
    (0..5000).for_each(|i| port.write(i as u8));
    let polls = host.lock().unwrap().polls - before;
    assert!(polls < 3 * u64::from(patience::ATTEMPTS), "{polls}");
    // When it is there again, it gets what was not lost, and all that follows.
    host.lock().unwrap().deaf = false;
    (0..10).for_each(|_| assert!(port.read().is_none()));
    host.lock().unwrap().from_device.clear();
    (0..200u8).for_each(|byte| port.write(byte));
    port.flush();
    let all = host.lock().unwrap().from_device.concat();
    assert!(all.ends_with(&(0..200).collect::<Vec<u8>>()), "{all:?}");
}
