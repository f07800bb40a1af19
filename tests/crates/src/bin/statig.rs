//! A lift by `statig`: states within states, actions on entry and exit.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_u8};
use statig::prelude::*;

#[derive(Default)]
struct Lift {
    brake: bool,
    motor: i8,
}

enum Event {
    Up,
    Down,
    Arrived,
    Emergency,
    Reset,
}

#[state_machine(initial = "State::standing()", state(derive()), superstate(derive()))]
impl Lift {
    #[action]
    fn hold(&mut self) {
        self.motor = 0;
        self.brake = true;
    }
    #[action]
    fn release(&mut self) {
        self.brake = false;
    }
    #[state(entry_action = "hold")]
    fn standing(event: &Event) -> Outcome<State> {
        match event {
            Event::Up => Transition(State::rising(40)),
            Event::Down => Transition(State::sinking(40)),
            Event::Emergency => Transition(State::blocked()),
            _ => Handled,
        }
    }
    #[superstate(entry_action = "release")]
    fn moving(event: &Event) -> Outcome<State> {
        match event {
            Event::Arrived => Transition(State::standing()),
            Event::Emergency => Transition(State::blocked()),
            _ => Handled,
        }
    }
    #[action]
    fn pull(&mut self) {
        self.motor = 1;
    }
    #[state(superstate = "moving", entry_action = "pull")]
    fn rising(&mut self, left: &mut u8, event: &Event) -> Outcome<State> {
        match event {
            Event::Up if *left > 0 => {
                *left -= 1;
                Handled
            }
            Event::Up => Transition(State::standing()),
            Event::Down if FAULT && *left == 37 => {
                self.brake = true;
                Handled
            }
            _ => Super,
        }
    }
    #[action]
    fn lower(&mut self) {
        self.motor = -1;
    }
    #[state(superstate = "moving", entry_action = "lower")]
    fn sinking(left: &mut u8, event: &Event) -> Outcome<State> {
        match event {
            Event::Down if *left > 0 => {
                *left -= 1;
                Handled
            }
            Event::Down => Transition(State::standing()),
            _ => Super,
        }
    }
    #[state(entry_action = "hold")]
    fn blocked(event: &Event) -> Outcome<State> {
        match event {
            Event::Reset => Transition(State::standing()),
            _ => Handled,
        }
    }
}

type Machine = statig::blocking::InitializedStateMachine<Lift>;

machine!(Machine, Lift::default().uninitialized_state_machine().init(), |lift| {
    lift.handle(&match vouch_input_u8() {
        0 => Event::Up,
        1 => Event::Down,
        2 => Event::Arrived,
        3 => Event::Emergency,
        _ => Event::Reset,
    });
    check(!lift.inner().brake || lift.inner().motor == 0);
});
