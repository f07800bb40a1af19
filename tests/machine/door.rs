//! A door in Rust: an enum with data, an array, overflow checks. `broken` forgets to stop the motor.
#![no_std]
#![no_main]

#[derive(Clone, Copy, PartialEq)]
enum State {
    Closed,
    Opening { left: u8 },
    Open { left: u16 },
    Closing { left: u8, tries: u8 },
    Fault,
}

struct Door {
    state: State,
    motor: i8,
    history: [u8; 4],
    at: usize,
}

static mut DOOR: Door = Door { state: State::Closed, motor: 0, history: [0; 4], at: 0 };

const PORT: *mut u32 = 0x4000_0000 as *mut u32;

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_input_u8() -> u8 {
    unsafe { PORT.read_volatile() as u8 }
}

#[unsafe(no_mangle)]
#[inline(never)]
extern "C" fn vouch_fail() -> ! {
    loop {
        unsafe { PORT.write_volatile(1) }
    }
}

impl Door {
    fn step(&mut self, event: u8) {
        self.history[self.at] = event;
        self.at = (self.at + 1) % self.history.len();
        let (state, motor) = match (self.state, event) {
            (State::Closed | State::Closing { .. }, 1) => (State::Opening { left: 50 }, 1),
            (State::Opening { .. }, 4) => (State::Open { left: 200 }, 0),
            (State::Opening { left }, 0) if left > 0 => (State::Opening { left: left - 1 }, 1),
            (State::Opening { .. }, 0) => (State::Fault, if cfg!(broken) { self.motor } else { 0 }),
            (State::Open { left: 0 } | State::Open { .. }, 2) => (State::Closing { left: 50, tries: 0 }, -1),
            (State::Open { left }, 0) if left > 0 => (State::Open { left: left - 1 }, 0),
            (State::Closing { tries: 3, .. }, 3) => (State::Fault, 0),
            (State::Closing { tries, .. }, 3) => (State::Closing { left: 50, tries: tries + 1 }, -1),
            (State::Closing { left, tries }, 0) if left > 0 => {
                (State::Closing { left: left - 1, tries }, -1)
            }
            (State::Closing { .. }, 0 | 4) => (State::Closed, 0),
            (state, _) => (state, self.motor),
        };
        self.state = state;
        self.motor = motor;
    }

    fn is_right(&self) -> bool {
        let stands = matches!(self.state, State::Closed | State::Open { .. } | State::Fault);
        stands == (self.motor == 0)
    }
}

#[unsafe(no_mangle)]
pub extern "C" fn step() {
    let door = unsafe { &mut *(&raw mut DOOR) };
    door.step(vouch_input_u8());
    if !door.is_right() {
        vouch_fail()
    }
}

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    loop {}
}
