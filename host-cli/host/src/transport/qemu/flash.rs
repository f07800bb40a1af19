//! The flash for models of an emulated board, kept in a file from one run to the next.
//!
//! QEMU has no file for these boards' flash. It is started from a dump of all of it, firmware and
//! models, and asked for its contents before it ends.

use super::Board;
use serde_json::{Value, json};
use std::fs;
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

const TIMEOUT: Duration = Duration::from_secs(10);

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// A file that QEMU can be started from: the firmware, and the models that were kept, if some were.
pub fn with_models(
    board: &Board,
    elf: &Path,
    kept: Option<&[u8]>,
    folder: &Path,
) -> io::Result<PathBuf> {
    let path = folder.join("flash.bin");
    fs::write(&path, contents(board, &fs::read(elf)?, kept)?)?;
    Ok(path)
}

/// All of a board's flash: its firmware, and models after it that have the right length.
pub fn contents(board: &Board, elf: &[u8], models: Option<&[u8]>) -> io::Result<Vec<u8>> {
    let base = board.base() as usize;
    let mut flash = vec![0xff; board.flash as usize];
    let (firmware, place) = flash.split_at_mut((board.models.start - board.base()) as usize);
    for (address, bytes) in segments(elf)? {
        let start = address.wrapping_sub(base);
        let place = firmware.get_mut(start..start.saturating_add(bytes.len()));
        place.ok_or_else(|| invalid("the firmware does not fit"))?.copy_from_slice(&bytes);
    }
    if let Some(models) = models.filter(|models| models.len() == place.len()) {
        place.copy_from_slice(models);
    }
    Ok(flash)
}

/// Address and contents of what firmware has in flash.
fn segments(elf: &[u8]) -> io::Result<Vec<(usize, Vec<u8>)>> {
    let bad = || invalid("the firmware is not an ELF file for a 32-bit processor");
    if !elf.starts_with(b"\x7fELF\x01\x01") {
        return Err(bad());
    }
    let word = |at: usize| {
        let bytes = elf.get(at..).and_then(<[u8]>::first_chunk).ok_or_else(bad)?;
        Ok::<usize, io::Error>(u32::from_le_bytes(*bytes) as usize)
    };
    let (table, sizes) = (word(28)?, word(42)?);
    let (size, count) = (sizes & 0xffff, sizes >> 16);
    let mut found = Vec::new();
    for i in 0..count {
        let at = table + i * size;
        let (kind, offset, address, length) =
            (word(at)?, word(at + 4)?, word(at + 12)?, word(at + 16)?);
        if kind == 1 && length > 0 {
            let bytes = elf.get(offset..).and_then(|b| b.get(..length)).ok_or_else(bad)?;
            found.push((address, bytes.to_vec()));
        }
    }
    Ok(found)
}

/// The models that a running QEMU has.
pub fn models(board: &Board, socket: &Path) -> io::Result<Vec<u8>> {
    let dump = socket.with_extension("dump");
    let mut monitor = Monitor::connect(socket)?;
    monitor.save(board.models.clone(), &dump)?;
    let bytes = fs::read(&dump)?;
    if bytes.len() != board.models.len() {
        return Err(invalid("QEMU has written only a part of the flash"));
    }
    Ok(bytes)
}

/// QEMU's own line for commands.
pub struct Monitor {
    reader: BufReader<UnixStream>,
}

impl Monitor {
    /// Connects to the QMP socket and negotiates its capabilities.
    pub fn connect(socket: &Path) -> io::Result<Monitor> {
        let stream = UnixStream::connect(socket)?;
        stream.set_read_timeout(Some(TIMEOUT))?;
        stream.set_write_timeout(Some(TIMEOUT))?;
        let mut monitor = Monitor { reader: BufReader::new(stream) };
        // Its greeting.
        monitor.line()?;
        monitor.ask(&json!({ "execute": "qmp_capabilities" }))?;
        Ok(monitor)
    }

    fn line(&mut self) -> io::Result<Value> {
        let mut line = String::new();
        if self.reader.read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        serde_json::from_str(&line).map_err(|e| invalid(e.to_string()))
    }

    fn send(&mut self, command: &Value) -> io::Result<()> {
        self.reader.get_mut().write_all(format!("{command}\n").as_bytes())
    }

    fn ask(&mut self, command: &Value) -> io::Result<Value> {
        self.send(command)?;
        loop {
            if let Some(value) = answer(self.line()?)? {
                return Ok(value);
            }
        }
    }

    /// Writes what is at these addresses to a file.
    pub fn save(&mut self, range: std::ops::Range<u32>, file: &Path) -> io::Result<()> {
        let arguments = json!({ "val": range.start, "size": range.len(), "filename": file });
        self.ask(&json!({ "execute": "memsave", "arguments": arguments })).map(drop)
    }

    /// Resets the board, and waits until that is done.
    pub fn reset(&mut self) -> io::Result<()> {
        self.send(&json!({ "execute": "system_reset" }))?;
        // The answer may come first or last, and the firmware may just have asked for a reset too.
        let (mut answered, mut done) = (false, false);
        while !(answered && done) {
            let line = self.line()?;
            done |= line["event"] == "RESET" && line["data"]["guest"] == false;
            answered |= answer(line)?.is_some();
        }
        Ok(())
    }

    /// The system's number for the thread that is the board's processor.
    pub fn thread(&mut self) -> io::Result<u64> {
        let answer = self.ask(&json!({ "execute": "query-cpus-fast" }))?;
        answer[0]["thread-id"].as_u64().ok_or_else(|| invalid("QEMU does not say its thread"))
    }
}

/// What a command is answered, if this is an answer: QEMU tells of events in between.
fn answer(mut line: Value) -> io::Result<Option<Value>> {
    match line.get("error") {
        Some(error) => Err(invalid(error.to_string())),
        None => Ok(line.get_mut("return").map(Value::take)),
    }
}
