//! Machine code of a linked ELF file: what is flashed becomes an automaton.

pub mod isa;
