//! Frames of a LIN bus: `lin-bus` makes identifiers and checksums.
#![no_std]
#![no_main]

use lin_bus::{Frame, PID};
use machines::{FAULT, check, machine, vouch_input_u8};

struct Slave {
    data: [u8; 2],
    answers: u8,
}

machine!(Slave, Slave { data: [0; 2], answers: 0 }, |slave| {
    let id = vouch_input_u8() & 63;
    let pid = PID::from_id(id);
    check(pid.get_id() == id);
    if id == 5 {
        slave.data = [vouch_input_u8(), slave.answers];
        let frame = Frame::from_data(pid, &slave.data);
        check(frame.get_data() == slave.data && frame.get_data_with_checksum().len() == 3);
        slave.answers = (slave.answers + 1) % if FAULT { 12 } else { 10 };
    }
    check(slave.answers < 10);
});
