//! A key that `debouncr` debounces: edges alternate.
#![no_std]
#![no_main]

use debouncr::{DebouncerStateful, Edge, Repeat4, debounce_stateful_4};
use machines::{FAULT, check, machine, vouch_input_bool};

struct Key {
    debouncer: DebouncerStateful<u8, Repeat4>,
    down: bool,
    held: u8,
}

machine!(Key, Key { debouncer: debounce_stateful_4(false), down: false, held: 0 }, |key| {
    match key.debouncer.update(vouch_input_bool()) {
        Some(Edge::Rising) => {
            check(!key.down);
            key.down = true;
        }
        Some(Edge::Falling) => {
            check(key.down);
            key.down = FAULT && key.held == 9;
        }
        None => {}
    }
    key.held = if key.down { key.held.saturating_add(1) } else { 0 };
});
