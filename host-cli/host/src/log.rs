//! Decoding a device's log.
//!
//! The firmware logs with defmt: its texts stay in the ELF file, and only numbers travel. A thread
//! decodes what arrives, because the decoder borrows the table of texts for as long as it lives.

use crate::client::LogSink;
use crate::escape;
use anyhow::{Context, Result, anyhow};
use defmt_decoder::{DecodeError, Table};
use std::path::Path;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

/// Pieces that wait to be decoded: a device that says more waits too.
const QUEUE: usize = 64;
/// Bytes without a whole line after which what came is dropped.
const LONGEST: usize = 64 << 10;
/// What is shown for it.
const DAMAGED: &str = "(a damaged line of the log)";

/// The texts of the log of firmware `elf`.
pub fn texts(elf: &Path) -> Result<Table> {
    let bytes = std::fs::read(elf).with_context(|| format!("cannot read {}", elf.display()))?;
    Table::parse(&bytes)
        .map_err(|e| e.context(format!("cannot read the log texts of {}", elf.display())))?
        .ok_or_else(|| anyhow!("{} has no log texts: it was built without defmt", elf.display()))
}

/// Decodes the log of firmware `elf`; `line` gets each line of it.
pub fn decoder(elf: &Path, line: impl FnMut(&str) + Send + 'static) -> Result<LogSink> {
    let table = texts(elf)?;
    let (sender, receiver) = sync_channel::<Vec<u8>>(QUEUE);
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
    sender: Option<SyncSender<Vec<u8>>>,
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

fn decode(table: &Table, incoming: Receiver<Vec<u8>>, mut line: impl FnMut(&str)) {
    let mut decoder = table.new_stream_decoder();
    let mut pending = 0;
    for bytes in incoming {
        pending += bytes.len();
        if pending > LONGEST {
            line(DAMAGED);
            (decoder, pending) = (table.new_stream_decoder(), bytes.len());
        }
        decoder.received(&bytes);
        loop {
            match decoder.decode() {
                Ok(frame) => {
                    pending = 0;
                    // Texts in it are the device's own.
                    line(&escape::text(&frame.display(false).to_string()));
                }
                Err(DecodeError::UnexpectedEof) => break,
                Err(DecodeError::Malformed) => {
                    pending = 0;
                    line(DAMAGED);
                    // Without frames in the encoding there is no place to continue from.
                    if !table.encoding().can_recover() {
                        return;
                    }
                }
            }
        }
    }
}
