//! Emulated boards behind TCP ports, as in a laboratory: lines can be slow, and the power can fail.
#![allow(dead_code)]

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vouch_host::transport::{Settings, Target, Transport};

/// Where the boards' firmware is; tests without it are left out.
pub fn firmware() -> Option<PathBuf> {
    let folder = match std::env::var_os("VOUCH_FIRMWARE_DIR") {
        Some(folder) => PathBuf::from(folder),
        None => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../firmware/out"),
    };
    let there = folder.join("vouch-lm3s6965evb.elf").is_file();
    if !there {
        eprintln!("left out: no firmware; `cargo xtask firmware` builds it");
    }
    there.then_some(folder)
}

/// What is wrong with a board.
#[derive(Clone, Copy, Default)]
pub struct Trouble {
    /// Bits in a second that its line carries; 0: as many as come.
    pub baud: u32,
    /// Bytes from the host after which its power fails, once.
    pub power_fails_after: usize,
    /// It answers nothing but noise.
    pub noise: bool,
}

/// A board that is switched on by the first connection.
pub struct Board {
    pub address: String,
    /// How often it was switched on.
    pub starts: Arc<AtomicUsize>,
    ended: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Board {
    pub fn new(name: &str, firmware: &std::path::Path, trouble: Trouble) -> Board {
        let target: Target = name.parse().unwrap();
        let settings =
            Settings { firmware_dir: Some(firmware.to_path_buf()), ..Settings::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap().to_string();
        listener.set_nonblocking(true).unwrap();
        let (starts, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, over) = (starts.clone(), ended.clone());
        let thread = std::thread::spawn(move || {
            let mut board: Option<Box<dyn Transport>> = None;
            let mut trouble = trouble;
            while !over.load(Ordering::Relaxed) {
                let Ok((stream, _)) = listener.accept() else {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                };
                stream.set_nonblocking(false).unwrap();
                if trouble.noise {
                    let _ = noise(stream, &over);
                    continue;
                }
                let on = board.get_or_insert_with(|| {
                    counted.fetch_add(1, Ordering::Relaxed);
                    target.open(&settings).unwrap()
                });
                if let Ok(true) = pass(stream, &mut **on, &trouble, &over) {
                    // It is switched on again by the next connection.
                    board = None;
                    trouble.power_fails_after = 0;
                }
            }
        });
        Board { address, starts, ended, thread: Some(thread) }
    }
}

impl Drop for Board {
    fn drop(&mut self) {
        self.ended.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// When a line that carries so many bits is free again.
struct Line {
    baud: u32,
    free: Instant,
}

impl Line {
    fn is_free(&self) -> bool {
        self.baud == 0 || Instant::now() >= self.free
    }
    fn carry(&mut self, bytes: usize) {
        if self.baud > 0 {
            let time = Duration::from_micros(bytes as u64 * 10_000_000 / u64::from(self.baud));
            self.free = self.free.max(Instant::now()) + time;
        }
    }
}

/// Passes bytes until one side has gone; whether the power has failed.
fn pass(
    mut stream: TcpStream,
    board: &mut dyn Transport,
    trouble: &Trouble,
    over: &AtomicBool,
) -> io::Result<bool> {
    stream.set_read_timeout(Some(Duration::from_millis(2)))?;
    stream.set_nodelay(true)?;
    let line = || Line { baud: trouble.baud, free: Instant::now() };
    let (mut out, mut back) = (line(), line());
    let mut passed = 0;
    while !over.load(Ordering::Relaxed) {
        let mut buffer = [0; 16];
        if out.is_free() {
            match stream.read(&mut buffer) {
                Ok(0) => return Ok(false),
                Ok(n) => {
                    out.carry(n);
                    passed += n;
                    if trouble.power_fails_after > 0 && passed > trouble.power_fails_after {
                        return Ok(true);
                    }
                    board.send(&buffer[..n])?;
                }
                Err(e)
                    if matches!(e.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut) => {}
                Err(e) => return Err(e),
            }
        } else {
            std::thread::sleep(Duration::from_millis(2));
        }
        if back.is_free() {
            let n = board.recv(&mut buffer, Duration::from_millis(2))?;
            back.carry(n);
            stream.write_all(&buffer[..n])?;
        }
    }
    Ok(false)
}

fn noise(mut stream: TcpStream, over: &AtomicBool) -> io::Result<()> {
    let mut byte = 1u8;
    while !over.load(Ordering::Relaxed) {
        byte = byte.wrapping_mul(37).wrapping_add(11);
        stream.write_all(&[byte; 16])?;
        std::thread::sleep(Duration::from_millis(5));
    }
    Ok(())
}
