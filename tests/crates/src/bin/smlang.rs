//! An oven by `smlang`: guards, actions, and data in a state.
#![no_std]
#![no_main]

use machines::{FAULT, check, machine, vouch_input_bool, vouch_input_u8};
use smlang::statemachine;

statemachine! {
    transitions: {
        *Off + Start [is_closed] / heat = Heating(u8),
        Heating(u8) + Tick [is_left] / count = Heating(u8),
        Heating(u8) + Tick [!is_left] / stop_heating = Off,
        Heating(u8) + Open / pause = Paused(u8),
        Paused(u8) + Start [may_resume] / resume = Heating(u8),
        Paused(u8) + Cancel / forget = Off,
        Heating(u8) + Cancel / stop_heating = Off,
    }
}

struct Oven {
    heater: bool,
    closed: bool,
}

impl StateMachineContext for Oven {
    fn is_closed(&self) -> Result<bool, ()> {
        Ok(self.closed)
    }
    fn heat(&mut self) -> Result<u8, ()> {
        self.heater = true;
        Ok(30)
    }
    fn is_left(&self, left: &u8) -> Result<bool, ()> {
        Ok(*left > 0)
    }
    fn count(&mut self, left: &u8) -> Result<u8, ()> {
        Ok(left - 1)
    }
    fn stop_heating(&mut self, _: &u8) -> Result<(), ()> {
        self.heater = false;
        Ok(())
    }
    fn pause(&mut self, left: &u8) -> Result<u8, ()> {
        self.heater = FAULT && *left == 3;
        Ok(*left)
    }
    fn may_resume(&self, _: &u8) -> Result<bool, ()> {
        Ok(self.closed)
    }
    fn resume(&mut self, left: &u8) -> Result<u8, ()> {
        self.heater = true;
        Ok(*left)
    }
    fn forget(&mut self, _: &u8) -> Result<(), ()> {
        Ok(())
    }
}

machine!(StateMachine<Oven>, StateMachine::new(Oven { heater: false, closed: true }), |oven| {
    oven.context_mut().closed = vouch_input_bool();
    let event = match vouch_input_u8() {
        0 => Events::Start,
        1 => Events::Tick,
        2 => Events::Open,
        _ => Events::Cancel,
    };
    let _ = oven.process_event(event);
    check(oven.context().heater == matches!(oven.state(), States::Heating(_)));
});
