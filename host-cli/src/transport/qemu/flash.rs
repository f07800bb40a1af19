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

/// All of a board's flash: its firmware, and models behind it that have the right length.
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
    /// Opens it.
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

    fn ask(&mut self, command: &Value) -> io::Result<()> {
        self.reader.get_mut().write_all(format!("{command}\n").as_bytes())?;
        loop {
            let answer = self.line()?;
            if let Some(error) = answer.get("error") {
                return Err(invalid(error.to_string()));
            }
            if answer.get("return").is_some() {
                return Ok(());
            }
        }
    }

    /// Writes what is at these addresses to a file.
    pub fn save(&mut self, range: std::ops::Range<u32>, file: &Path) -> io::Result<()> {
        self.ask(&json!({
            "execute": "memsave",
            "arguments": { "val": range.start, "size": range.len(), "filename": file },
        }))
    }
}
