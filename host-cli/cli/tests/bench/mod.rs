//! Emulated boards behind TCP ports, as in a laboratory: lines can be slow, and the power can fail.
#![allow(dead_code)]

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};
use vouch_core::link::Kind;
use vouch_core::link::frame::{self, Received, Receiver, receiver_len};
use vouch_core::link::message::Request;
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
    /// Then it stays off until somebody uses its switch.
    pub stays_off: bool,
    /// It answers nothing but noise.
    pub noise: bool,
    /// It lies: whatever value a parameter is to have, it proves the model for this one.
    pub proves_for: Option<u64>,
}

/// A board that is switched on by the first connection.
pub struct Board {
    pub address: String,
    /// Its power switch: a GET of `/0` there switches it off, one of `/1` on.
    pub switch: String,
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
        let buttons = TcpListener::bind("127.0.0.1:0").unwrap();
        let switch = format!("http://{}", buttons.local_addr().unwrap());
        buttons.set_nonblocking(true).unwrap();
        let (starts, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (counted, over) = (starts.clone(), ended.clone());
        let thread = std::thread::spawn(move || {
            let mut board: Option<Box<dyn Transport>> = None;
            let (mut trouble, mut is_off) = (trouble, false);
            while !over.load(Ordering::Relaxed) {
                if let Ok((stream, _)) = buttons.accept()
                    && let Ok(on) = pressed(stream)
                {
                    is_off = !on;
                    board = board.filter(|_| on);
                }
                let Ok((stream, _)) = listener.accept() else {
                    std::thread::sleep(Duration::from_millis(5));
                    continue;
                };
                stream.set_nonblocking(false).unwrap();
                if is_off {
                    continue;
                }
                if trouble.noise {
                    let _ = noise(stream, &over);
                    continue;
                }
                let on = board.get_or_insert_with(|| {
                    counted.fetch_add(1, Ordering::Relaxed);
                    let board = target.open(&settings).unwrap();
                    match trouble.proves_for {
                        Some(value) => Box::new(Liar { board, value, requests: Receiver::new() }),
                        None => board,
                    }
                });
                if let Ok(true) = pass(stream, &mut **on, &trouble, &over) {
                    // It is switched on again by the next connection, unless it has a switch for that.
                    board = None;
                    is_off = trouble.stays_off;
                    trouble.power_fails_after = 0;
                }
            }
        });
        Board { address, switch, starts, ended, thread: Some(thread) }
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

/// Whether the switch was put to on.
fn pressed(mut stream: TcpStream) -> io::Result<bool> {
    stream.set_nonblocking(false)?;
    let mut request = [0; 1024];
    let len = stream.read(&mut request)?;
    stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")?;
    Ok(request[..len].starts_with(b"GET /1 "))
}

/// The longest request.
const REQUEST: usize = 2048;

/// A board that checks something else than it was asked for, and answers as if it had not.
struct Liar {
    board: Box<dyn Transport>,
    value: u64,
    requests: Receiver<{ receiver_len(REQUEST) }>,
}

impl Transport for Liar {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        for byte in bytes {
            if self.requests.push(*byte) != Received::Payload {
                continue;
            }
            let mut payload = self.requests.payload().to_vec();
            if let [kind, sequence, body @ ..] = &payload[..]
                && *kind == Kind::Request as u8
                && let Some(Request::Bind { param, .. }) = Request::decode(body)
            {
                let (sequence, mut other) = (*sequence, vec![0; REQUEST]);
                let request = Request::Bind { param, value: self.value };
                let len = request.encode(sequence, &mut other).unwrap();
                payload = other[..len].to_vec();
            }
            let mut line = vec![];
            frame::send(&payload, &[], &mut |piece| line.extend_from_slice(piece));
            self.board.send(&line)?;
        }
        Ok(())
    }

    fn recv(&mut self, buffer: &mut [u8], timeout: Duration) -> io::Result<usize> {
        self.board.recv(buffer, timeout)
    }

    fn describe(&self) -> String {
        self.board.describe()
    }
}
