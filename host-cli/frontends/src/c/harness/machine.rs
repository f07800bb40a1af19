//! What only the processor sees of a run: accesses to devices, and faults. A part of the program that is compiled on its own, so
//! that the headers that it needs do not meet the source.

use super::defined::list;
use crate::c::Program;
use crate::c::calls::plain;
use crate::c::registers::{Behaviour, Registers};
use std::collections::BTreeMap;
use std::fmt::Write;
use vouch_ir::{Trace, Word};

const TEXT: &str = include_str!("machine.c");
/// Properties whose violation is a fault.
pub const FAULTS: [&str; 2] = ["null", "division"];

/// Whether the program needs this part.
pub fn is_needed(program: &Program, property: &str) -> bool {
    let has_parameters = program.unit.globals.iter().any(|global| global.param.is_some());
    !program.notes.devices.is_empty() || has_parameters || FAULTS.contains(&property)
}

/// The part, with what the run saw of devices.
pub fn text(
    program: &Program,
    property: &str,
    values: &BTreeMap<String, Vec<Word>>,
    trace: &Trace,
) -> String {
    let registers = &program.notes.registers;
    let mut tables = format!("#define VOUCH_FAULTS {}\n", FAULTS.contains(&property) as u8);
    let mut rows = String::new();
    for (number, (name, values)) in values.iter().enumerate() {
        let Some(address) = address(name, registers) else { continue };
        let inputs = program.cfa.inputs.iter().filter(|input| plain(&input.name) == name);
        let bytes = inputs.map(|input| input.width / 8).max().unwrap_or(4).clamp(1, 8);
        let _ = writeln!(
            tables,
            "static const unsigned long long vouch_values_{number}[] = {{ {} }};",
            list(values)
        );
        let count = values.len();
        let _ = writeln!(
            rows,
            "    {{ {address:#x}, {bytes}, 0, 0, 0, vouch_values_{number}, {count}, 0 }},"
        );
    }
    for (address, register) in registers.iter() {
        let (clears, reset) = match register.behaviour {
            Behaviour::Any => continue,
            Behaviour::Keeps(reset) => (0, reset),
            Behaviour::Clears(reset) => (1, reset),
        };
        let var = program.cfa.vars.iter().position(|var| var.name == register.name);
        let chosen = trace.initial.iter().find(|(id, _)| Some(id.index()) == var);
        let first = reset.or(chosen.map(|(_, value)| *value as u64)).unwrap_or(0);
        let bytes = register.bits / 8;
        let _ =
            writeln!(rows, "    {{ {address:#x}, {bytes}, 1, {clears}, {first}ull, 0, 0, 0 }},");
    }
    let _ = writeln!(
        tables,
        "static struct vouch_register vouch_registers[] = {{\n{rows}    {{ 0 }}\n}};"
    );
    tables += "static const uintptr_t vouch_devices[] = {\n";
    for device in &program.notes.devices {
        let _ = writeln!(tables, "    {:#x}, {:#x},", device.start, device.end - device.start);
    }
    tables += "    0, 0\n};";
    TEXT.replace("/* TABLES */", &tables)
}

/// The address of the register that an input is the value of; of one that has no name of its own, 0.
fn address(name: &str, registers: &Registers) -> Option<u64> {
    if name == "reg" {
        return Some(0);
    }
    match name.strip_prefix("reg_0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => registers.iter().find(|(_, r)| r.name == name).map(|(address, _)| address),
    }
}
