//! A board emulated by QEMU, started for this run and ended with it.
//!
//! Its UART is a Unix socket in a private folder; QEMU waits for us there before it lets the
//! firmware run. `-icount shift=0` ties its clock to the instructions executed, so that counts
//! repeat from run to run.

use super::{OpenError, Settings, find_file};
use std::path::PathBuf;

pub use super::boards::{BOARDS, Board, find as board, names};

/// The firmware's file for `board`.
pub fn find_firmware(board: &Board, settings: &Settings) -> Result<PathBuf, OpenError> {
    let name = board.elf();
    find_file(&name, settings).map_err(|place| {
        OpenError::new(format_args!("qemu:{}", board.name), format_args!("no {name} {place}")).hint(
            "say where it is with `--firmware-dir`; `cargo xtask firmware` builds it from vouch's sources",
        )
    })
}

#[cfg(unix)]
pub mod flash;
#[cfg(unix)]
pub use process::Qemu;

#[cfg(unix)]
mod process {
    use super::super::companion::{self, Companion};
    use super::super::flash_file::FlashFile;
    use super::super::{OpenError, Settings, Transport, read};
    use super::{Board, find_firmware, flash};
    use std::fs::File;
    use std::io::{self, Write};
    use std::os::unix::net::UnixStream;
    use std::path::{Path, PathBuf};
    use std::time::{Duration, Instant};
    use tempfile::TempDir;

    /// How long QEMU may take until it listens.
    const START_TIMEOUT: Duration = Duration::from_secs(10);

    /// A running QEMU.
    pub struct Qemu {
        board: &'static Board,
        elf: PathBuf,
        stream: UnixStream,
        /// Where its flash is kept, until it is.
        flash_file: Option<FlashFile>,
        // Ended before the folder goes that it has files in.
        _process: Companion,
        /// Holds the sockets and what QEMU complains about.
        folder: TempDir,
    }

    impl Qemu {
        /// Starts `board` with its firmware.
        pub fn start(board: &'static Board, settings: &Settings) -> Result<Qemu, OpenError> {
            let elf = find_firmware(board, settings)?;
            let error =
                |e: &dyn std::fmt::Display| OpenError::new(format_args!("qemu:{}", board.name), e);
            let qemu = settings.qemu.as_deref().unwrap_or(Path::new(&board.qemu.program));
            let qemu = companion::find(qemu).ok_or_else(|| {
                error(&format_args!("{} is not installed", qemu.display())).hint(
                    "run `cargo xtask setup`, or install QEMU for Arm and RISC-V \
                     (Debian, Ubuntu: `apt install qemu-system-arm qemu-system-misc`)",
                )
            })?;
            let folder = tempfile::Builder::new().prefix("vouch-").tempdir();
            let folder = folder.map_err(|e| error(&e))?;
            let socket = folder.path().join("uart");
            let flash_file = settings.flash_file.as_deref().map(FlashFile::open).transpose();
            let flash_file = flash_file.map_err(|e| error(&e))?;
            let kernel = match &flash_file {
                Some(file) => {
                    let kept = file.read(board.models.len(), &board.name).map_err(|e| error(&e))?;
                    flash::with_models(board, &elf, kept.as_deref(), folder.path())
                        .map_err(|e| error(&e))?
                }
                None => elf.clone(),
            };
            let complaints = File::create(folder.path().join("stderr")).map_err(|e| error(&e))?;
            // QEMU reads `,,` as a comma in a path.
            let place = socket.display().to_string().replace(',', ",,");
            let mut args = board.arguments(&kernel);
            args.extend(["-serial".into(), format!("unix:{place},server=on,wait=on").into()]);
            args.extend(["-qmp".into(), format!("unix:{place}.qmp,server=on,wait=off").into()]);
            let mut process =
                Companion::start(&qemu, args, complaints, folder.path()).map_err(|e| error(&e))?;
            let start = Instant::now();
            let stream = loop {
                if let Ok(stream) = UnixStream::connect(&socket) {
                    break stream;
                }
                if let Some(status) = process.ended() {
                    let said = said(folder.path());
                    return Err(error(&format_args!("QEMU ended at once ({status}){said}")));
                }
                if start.elapsed() > START_TIMEOUT {
                    return Err(error(&"QEMU does not open the board's UART"));
                }
                std::thread::sleep(Duration::from_millis(5));
            };
            stream.set_write_timeout(Some(START_TIMEOUT)).map_err(|e| error(&e))?;
            Ok(Qemu { board, elf, stream, flash_file, _process: process, folder })
        }
    }

    /// What QEMU wrote to its standard error, to be put after a message.
    fn said(folder: &Path) -> String {
        let text = std::fs::read_to_string(folder.join("stderr")).unwrap_or_default();
        if text.trim().is_empty() { String::new() } else { format!(": {}", text.trim()) }
    }

    impl Drop for Qemu {
        fn drop(&mut self) {
            // Whoever wants to know whether its flash is kept has asked for it.
            let _ = self.finish();
        }
    }

    impl Transport for Qemu {
        fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
            self.stream.write_all(bytes)
        }
        fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
            self.stream.set_read_timeout(Some(timeout.max(Duration::from_millis(1))))?;
            read(&mut self.stream, buffer).map_err(|e| {
                let said = said(self.folder.path());
                io::Error::new(e.kind(), format!("QEMU has ended{said}"))
            })
        }
        fn describe(&self) -> String {
            format!("the {} board in QEMU", self.board.name)
        }
        fn firmware(&self) -> Option<&Path> {
            Some(&self.elf)
        }
        fn finish(&mut self) -> io::Result<()> {
            let Some(file) = self.flash_file.take() else { return Ok(()) };
            file.write(&flash::models(self.board, &self.folder.path().join("uart.qmp"))?)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn firmware_that_is_missing_says_how_to_get_it() {
        let folder = tempfile::tempdir().unwrap();
        let mut settings =
            Settings { firmware_dir: Some(folder.path().into()), ..Settings::default() };
        let error = find_firmware(&BOARDS[0], &settings).unwrap_err().to_string();
        assert!(error.contains("vouch-lm3s6965evb.elf"), "{error}");
        assert!(error.contains("cargo xtask firmware"), "{error}");
        std::fs::write(folder.path().join(BOARDS[0].elf()), b"x").unwrap();
        assert!(find_firmware(&BOARDS[0], &settings).is_ok());
        // And a QEMU that is missing too.
        settings.qemu = Some("no-such-qemu".into());
        let error = super::super::Target::Qemu(&BOARDS[0]).open(&settings).err().unwrap();
        assert!(error.to_string().contains("cargo xtask setup"), "{error}");
    }

    #[cfg(unix)]
    #[test]
    fn what_qemu_complains_about_is_shown() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join(BOARDS[0].elf()), b"x").unwrap();
        let qemu = folder.path().join("qemu");
        std::fs::write(&qemu, "#!/bin/sh\necho no such machine >&2\nexit 1\n").unwrap();
        std::fs::set_permissions(&qemu, std::fs::Permissions::from_mode(0o755)).unwrap();
        let firmware_dir = Some(folder.path().into());
        let settings = Settings { firmware_dir, qemu: Some(qemu), ..Settings::default() };
        let error = Qemu::start(&BOARDS[0], &settings).err().unwrap().to_string();
        assert!(error.contains("no such machine"), "{error}");
    }
}
