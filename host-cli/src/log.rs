//! Decoding a device's log.
//!
//! The firmware logs with defmt: its texts stay in the ELF file, and only numbers travel. A thread
//! decodes what arrives, because the decoder borrows the table of texts for as long as it lives.

use crate::device::LogSink;
use anyhow::{Context, Result, anyhow};
use defmt_decoder::{DecodeError, Table};
use std::path::Path;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

/// Decodes the log of firmware `elf`; `line` gets each line of it.
pub fn decoder(elf: &Path, line: impl FnMut(&str) + Send + 'static) -> Result<LogSink> {
    let bytes = std::fs::read(elf).with_context(|| format!("cannot read {}", elf.display()))?;
    let table = Table::parse(&bytes)
        .map_err(|e| e.context(format!("cannot read the log texts of {}", elf.display())))?
        .ok_or_else(|| anyhow!("{} has no log texts: it was built without defmt", elf.display()))?;
    let (sender, receiver) = channel::<Vec<u8>>();
    let thread = std::thread::spawn(move || decode(&table, receiver, line));
    let mut decoder = Decoder { sender: Some(sender), thread: Some(thread) };
    Ok(Box::new(move |bytes| decoder.feed(bytes)))
}

/// Writes each line to standard error.
pub fn to_stderr(line: &str) {
    eprintln!("{line}");
}

/// The thread that decodes. When it is dropped, everything that arrived has been decoded.
struct Decoder {
    sender: Option<Sender<Vec<u8>>>,
    thread: Option<JoinHandle<()>>,
}

impl Decoder {
    fn feed(&mut self, bytes: &[u8]) {
        if let Some(sender) = &self.sender {
            // The thread ends early only when the log cannot be decoded any further.
            let _ = sender.send(bytes.to_vec());
        }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn decode(table: &Table, incoming: std::sync::mpsc::Receiver<Vec<u8>>, mut line: impl FnMut(&str)) {
    let mut decoder = table.new_stream_decoder();
    for bytes in incoming {
        decoder.received(&bytes);
        loop {
            match decoder.decode() {
                Ok(frame) => line(&frame.display(false).to_string()),
                Err(DecodeError::UnexpectedEof) => break,
                Err(DecodeError::Malformed) => {
                    line("(a damaged line of the log)");
                    // Without frames in the encoding there is no place to go on from.
                    if !table.encoding().can_recover() {
                        return;
                    }
                }
            }
        }
    }
}
