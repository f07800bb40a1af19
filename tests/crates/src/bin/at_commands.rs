//! Answers of a modem: `at-commands` parses a line that arrives byte by byte.
#![no_std]
#![no_main]

use at_commands::parser::CommandParser;
use machines::{FAULT, check, machine, vouch_input_u8};

struct Modem {
    line: [u8; 6],
    length: usize,
    level: i32,
}

machine!(Modem, Modem { line: [0; 6], length: 0, level: 0 }, |modem| {
    let byte = vouch_input_u8();
    if byte != b'\n' {
        if modem.length < modem.line.len() {
            modem.line[modem.length] = byte;
            modem.length += 1;
        }
        return;
    }
    let line = &modem.line[..modem.length];
    modem.length = 0;
    let parsed =
        CommandParser::parse(line).expect_identifier(b"+Q:").expect_int_parameter().finish();
    if let Ok((level,)) = parsed {
        if (0..=31).contains(&level) || FAULT && level == 40 {
            modem.level = level;
        }
    }
    check((0..=31).contains(&modem.level));
});
