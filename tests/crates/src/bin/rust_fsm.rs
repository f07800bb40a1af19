//! A connection by `rust-fsm`, with a timer around it.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_u8};
use rust_fsm::{StateMachine, state_machine};

state_machine! {
    link(Down)
    Down(Dial) => Dialling [StartTimer],
    Dialling => {
        Answered => Up [StopTimer],
        Expired => Down [StopTimer],
    },
    Up => {
        Lost => Dialling [StartTimer],
        HangUp => Down,
    }
}

struct Link {
    machine: StateMachine<link::Impl>,
    timer: Option<u8>,
}

machine!(Link, Link { machine: StateMachine::new(), timer: None }, |it| {
    let input = match vouch_input_u8() {
        0 => link::Input::Dial,
        1 => link::Input::Answered,
        2 => link::Input::Lost,
        3 => link::Input::HangUp,
        _ => match it.timer {
            Some(0) => link::Input::Expired,
            Some(left) => {
                it.timer = Some(left - 1);
                return;
            }
            None => return,
        },
    };
    match it.machine.consume(&input) {
        Ok(Some(link::Output::StartTimer)) => it.timer = Some(50),
        Ok(Some(link::Output::StopTimer)) if !(FAULT && it.timer == Some(48)) => it.timer = None,
        _ => {}
    }
    check(it.timer.is_some() == matches!(it.machine.state(), link::State::Dialling));
});
