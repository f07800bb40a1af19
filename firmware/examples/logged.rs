//! A device that logs its state machine with defmt, for `vouch conform` to compare with the model: the precharge of
//! `examples/precharge.vch`, as firmware would have it.
//!
//! After each step there is a message of nothing but `name=value`; other messages may come in between.
#![no_std]
#![no_main]
#![deny(unsafe_code)]

use vouch_firmware::board::{Board, Current};

/// Runs that are logged, and steps of each.
const RUNS: u32 = 3;
const STEPS: u32 = 100;

const TIMEOUT: u8 = 9;
const READY_LEVEL: u8 = 58;
const EMPTY: u8 = 12;
const SETTLE: u8 = 2;

#[derive(Clone, Copy, PartialEq, defmt::Format)]
enum Command {
    Idle,
    Close,
    Open,
}

#[derive(Clone, Copy, PartialEq, defmt::Format)]
enum State {
    Off,
    WeldCheck,
    Precharge,
    Run,
    Fault,
}

/// What is measured and wanted in a step.
struct Inputs {
    command: Command,
    link: u8,
    interlock: bool,
}

struct Machine {
    state: State,
    relay: bool,
    contactor: bool,
    timer: u8,
    settled: u8,
}

impl Machine {
    fn enter(&mut self, state: State) {
        (self.relay, self.contactor) = (state == State::Precharge, state == State::Run);
        if matches!(state, State::Off | State::Precharge) {
            self.timer = 0;
        }
        if state == State::Precharge {
            self.settled = 0;
        }
        self.state = state;
    }

    fn step(&mut self, inputs: &Inputs) {
        let open = inputs.command == Command::Open;
        match self.state {
            State::Off if !inputs.interlock => self.enter(State::Fault),
            State::Off if inputs.command == Command::Close => self.state = State::WeldCheck,
            State::WeldCheck if open => self.enter(State::Off),
            State::WeldCheck if inputs.link < EMPTY => self.enter(State::Precharge),
            State::Precharge | State::Run if !inputs.interlock => self.enter(State::Fault),
            State::Precharge | State::Run if open => self.enter(State::Off),
            State::Precharge if self.settled == SETTLE => self.enter(State::Run),
            State::WeldCheck | State::Precharge if self.timer >= TIMEOUT => {
                self.enter(State::Fault)
            }
            State::WeldCheck => self.timer += 1,
            State::Precharge => {
                self.timer += 1;
                self.settled = if inputs.link >= READY_LEVEL { self.settled + 1 } else { 0 };
            }
            State::Off | State::Run | State::Fault => {}
        }
    }

    fn log(&self, inputs: &Inputs) {
        defmt::info!(
            "state={} relay={} contactor={} timer={} settled={} timeout={} ready_level={} command={} link={} interlock={}",
            self.state,
            self.relay,
            self.contactor,
            self.timer,
            self.settled,
            TIMEOUT,
            READY_LEVEL,
            inputs.command,
            inputs.link,
            inputs.interlock
        );
    }
}

/// Numbers by chance, the same in each run.
struct Dice(u32);

impl Dice {
    fn below(&mut self, sides: u8) -> u8 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 17;
        self.0 ^= self.0 << 5;
        ((u64::from(self.0) * u64::from(sides)) >> 32) as u8
    }
}

/// A run from the start of the machine on.
fn run(dice: &mut Dice) {
    let mut machine =
        Machine { state: State::Off, relay: false, contactor: false, timer: 0, settled: 0 };
    machine.log(&Inputs { command: Command::Idle, link: 0, interlock: true });
    for step in 1..=STEPS {
        let inputs = Inputs {
            command: if dice.below(9) == 0 { Command::Open } else { Command::Close },
            link: if machine.state == State::WeldCheck {
                dice.below(24)
            } else {
                56 + dice.below(8)
            },
            interlock: dice.below(90) != 0,
        };
        machine.step(&inputs);
        machine.log(&inputs);
        if step % 40 == 0 {
            defmt::info!("{} steps", step);
        }
    }
}

#[vouch_firmware::entry]
fn main() -> ! {
    vouch_firmware::start();
    let mut dice = Dice(0x2545_f491);
    for number in 1..=RUNS {
        defmt::info!("{} starts run {}", Current::NAME, number);
        run(&mut dice);
        defmt::info!("done");
    }
    loop {
        Current::feed_watchdog();
        core::hint::spin_loop();
    }
}
