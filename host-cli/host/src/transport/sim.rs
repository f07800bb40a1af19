//! The device's session in this process.
//!
//! The simulated device works while the host waits for it, on the same thread: what happens depends
//! on nothing but the bytes exchanged, so a run repeats exactly.

use super::Transport;
use super::flash_file::FlashFile;
use crate::deadline;
use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::time::{Duration, Instant};
use vouch_core::session::{Activity, Board, ModelStore, Platform, Session, StoreError};
use vouch_device::ram::{PAGE, RamFlash};
use vouch_device::{Store, Stored, Trust};

/// What the firmware of the default board, lm3s6965evb, leaves for a model and its proof.
pub const DEFAULT_RAM: usize = 59_300;

/// Work units of a slice: about a millisecond.
const SLICE: u32 = 20_000;

/// Pages of flash for models: one for keys and two slots of 128 KiB.
const FLASH_PAGES: usize = 1 + 2 * 128;

/// A simulated device and the line to it.
pub struct Sim {
    session: Session,
    memory: Memory,
    /// Where its flash is kept, until it is.
    flash_file: Option<FlashFile>,
    /// Sent by the device, not yet received.
    line: VecDeque<u8>,
}

/// A heap of a fixed size.
struct Memory {
    size: usize,
    image: Vec<u32>,
    arena: Vec<u32>,
    models: Store<RamFlash<Vec<u32>>>,
    /// The stored model that is the image now.
    stored: Option<Stored>,
}

impl Sim {
    /// A device with `ram` bytes for a model and its proof, and blank flash.
    pub fn new(ram: usize) -> Sim {
        Sim::start(ram, vec![u32::MAX; FLASH_PAGES * PAGE / 4])
    }

    /// The same with flash that is read from a file, if it is there, and written to it at the end.
    pub fn with_flash(ram: usize, flash_file: Option<PathBuf>) -> io::Result<Sim> {
        let Some(file) = flash_file else { return Ok(Sim::new(ram)) };
        let file = FlashFile::open(&file)?;
        let mut flash = vec![u32::MAX; FLASH_PAGES * PAGE / 4];
        let bytes = bytemuck::cast_slice_mut::<u32, u8>(&mut flash);
        if let Some(kept) = file.read(bytes.len(), "this device")? {
            bytes.copy_from_slice(&kept);
        }
        let mut sim = Sim::start(ram, flash);
        sim.flash_file = Some(file);
        Ok(sim)
    }

    fn start(ram: usize, flash: Vec<u32>) -> Sim {
        let bytes = u32::try_from(ram).unwrap_or(u32::MAX);
        let board = Board {
            name: "sim",
            build: env!("CARGO_PKG_VERSION"),
            ram: bytes,
            heap: bytes,
            flash: 0,
            firmware: 0,
            slice: SLICE,
        };
        let memory = Memory {
            size: ram,
            image: Vec::new(),
            arena: Vec::new(),
            models: Store::new(RamFlash::new(flash), Trust::Signed),
            stored: None,
        };
        let session = Session::new(board);
        Sim { session, memory, flash_file: None, line: VecDeque::new() }
    }
}

impl Drop for Sim {
    fn drop(&mut self) {
        // Whoever wants to know whether it is kept has asked for it.
        let _ = self.finish();
    }
}

impl Transport for Sim {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            let out = &mut |sent: &[u8]| self.line.extend(sent);
            self.session.receive(*byte, &mut self.memory, out);
        }
        Ok(())
    }

    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        let start = Instant::now();
        while self.line.is_empty() {
            let out = &mut |sent: &[u8]| self.line.extend(sent);
            // Who could say something waits here, but not for longer than the work may take.
            let read = &mut || {
                deadline::look();
                None
            };
            let activity = self.session.advance(&mut self.memory, read, out);
            if self.line.is_empty() && (activity == Activity::Idle || start.elapsed() >= timeout) {
                return Ok(0);
            }
        }
        let count = buffer.len().min(self.line.len());
        for (slot, byte) in buffer.iter_mut().zip(self.line.drain(..count)) {
            *slot = byte;
        }
        Ok(count)
    }

    fn describe(&self) -> String {
        "the simulated device".into()
    }

    fn finish(&mut self) -> io::Result<()> {
        match self.flash_file.take() {
            Some(file) => file.write(self.memory.models.flash().bytes()),
            None => Ok(()),
        }
    }
}

impl Memory {
    fn allocate(&self, bytes: usize) -> Result<Vec<u32>, usize> {
        let words = bytes.div_ceil(4);
        if words > self.available() / 4 {
            return Err(self.available());
        }
        Ok(vec![0; words])
    }
}

impl Platform for Memory {
    fn allocate_image(&mut self, bytes: usize) -> Result<(), usize> {
        self.image = self.allocate(bytes)?;
        Ok(())
    }
    fn allocate_arena(&mut self, bytes: usize) -> Result<(), usize> {
        self.arena = self.allocate(bytes)?;
        Ok(())
    }
    fn free_arena(&mut self) {
        self.arena = Vec::new();
    }
    fn release(&mut self) {
        self.image = Vec::new();
        self.arena = Vec::new();
        self.stored = None;
    }
    fn image(&mut self) -> &mut [u32] {
        &mut self.image
    }
    fn both(&mut self) -> (&[u32], &mut [u32]) {
        match &self.stored {
            Some(stored) => (self.models.image_words(stored), &mut self.arena),
            None => (&self.image, &mut self.arena),
        }
    }
    fn store(&mut self) -> Option<&mut dyn ModelStore> {
        Some(&mut self.models)
    }
    fn open_stored(&mut self) -> Result<u32, StoreError> {
        let stored = self.models.find()?;
        self.stored = Some(stored);
        Ok(stored.header.length)
    }
    fn available(&self) -> usize {
        self.size.saturating_sub(4 * (self.image.len() + self.arena.len()))
    }
}
