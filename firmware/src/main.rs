//! The reference firmware: reads requests from its UART, proves what it is told to, and answers.
//!
//! All of the dialogue is in `vouch_core::session`, the same code that the host runs as its `sim`
//! target; what makes it a device is in this package's library.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use vouch_core::session::{self, Activity, Session};
use vouch_firmware::board::{Board, Current};
use vouch_firmware::count::Counter;
use vouch_firmware::heap::{self, Heap};
use vouch_firmware::hw::memory;
use vouch_firmware::models::Models;
use vouch_firmware::uart::Uart;
use vouch_firmware::{Port, send};

#[vouch_firmware::entry]
fn main() -> ! {
    vouch_firmware::start();
    // Cuts off whatever rubbish the line held, and lets a host know that the port is up.
    send(&[0]);
    let identity = identity();
    let mut heap = Heap::new(Counter::calibrated(), Models::open());
    let mut session = Session::new(identity);
    defmt::info!(
        "{=str} with vouch {=str}, {=u32} bytes for models and proofs",
        identity.name,
        identity.build,
        identity.heap
    );
    loop {
        while let Some(byte) = Port::read() {
            session.receive(byte, &mut heap, &mut send);
        }
        let mut spoke = false;
        // Also in the middle of a slice that takes long.
        let mut read = || {
            Current::feed_watchdog();
            Port::read()
        };
        let activity = session.advance(&mut heap, &mut read, &mut |bytes| {
            spoke = true;
            send(bytes);
        });
        Current::feed_watchdog();
        // Its last word before it falls silent is that the run has stopped.
        if spoke && activity == Activity::Idle {
            let (stack, used) = memory::stack_used();
            defmt::info!("run stopped; {=usize} of {=usize} bytes of stack used", used, stack);
        }
    }
}

/// What the host is told about this board.
fn identity() -> session::Board {
    session::Board {
        name: Current::NAME,
        build: env!("VOUCH_BUILD"),
        ram: memory::ram() as u32,
        heap: heap::available() as u32,
        flash: memory::flash() as u32,
        firmware: memory::flash_used() as u32,
        slice: Current::SLICE,
    }
}
