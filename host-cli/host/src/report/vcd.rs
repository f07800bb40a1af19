//! A counterexample as waveforms (value change dump), for GTKWave, Surfer and the like.
//!
//! One time unit is one step. At time *t* stand the state before step *t + 1* and the inputs that
//! this step reads; inputs that it does not read are `x`. Names of locations and enumerations are
//! there as strings beside the numbers, because not every viewer shows strings, and not every one
//! can be told the names of numbers.

use super::value;
use crate::ir::{Cfa, Type, Word};
use crate::validate::Run;
use std::collections::HashSet;
use std::io;
use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, VarType};

/// Something with a waveform.
struct Signal<'a> {
    ty: &'a Type,
    width: u32,
    id: IdCode,
    /// The signal that shows an enumeration's name.
    text: Option<IdCode>,
    last: Option<Option<Word>>,
}

/// Writes a run as VCD.
pub fn write(cfa: &Cfa, run: &Run, to: impl io::Write) -> io::Result<()> {
    let mut out = vcd::Writer::new(to);
    let mut taken = HashSet::new();
    out.version(concat!("vouch ", env!("CARGO_PKG_VERSION")))?;
    for (i, location) in cfa.locations.iter().enumerate() {
        out.comment(&format!("location {i} = {}", word(&location.name)))?;
    }
    out.timescale(1, TimescaleUnit::US)?;
    out.add_module(&word(&cfa.name))?;
    let locations: Vec<String> = cfa.locations.iter().map(|l| l.name.clone()).collect();
    let locations = Type::names(locations);
    // At least as many bits as the largest number needs.
    let bits = (usize::BITS - cfa.locations.len().saturating_sub(1).leading_zeros()).max(1);
    let mut location = signal(&mut out, &mut taken, "location", &locations, bits)?;
    let mut vars = vec![];
    for var in &cfa.vars {
        vars.push(signal(&mut out, &mut taken, &var.name, &var.ty, var.width)?);
    }
    let mut inputs = vec![];
    for input in &cfa.inputs {
        inputs.push(signal(&mut out, &mut taken, &input.name, &input.ty, input.width)?);
    }
    out.upscope()?;
    out.enddefinitions()?;
    for (time, state) in run.states.iter().enumerate() {
        out.timestamp(time as u64)?;
        if time == 0 {
            out.begin(SimulationCommand::Dumpvars)?;
        }
        location.change(&mut out, Some(state.location.0.into()))?;
        for (signal, value) in vars.iter_mut().zip(&state.values) {
            signal.change(&mut out, Some(*value))?;
        }
        let mut chosen = vec![None; inputs.len()];
        for (id, value) in run.steps.get(time).map_or(&[][..], |s| s.inputs.as_slice()) {
            if let Some(slot) = chosen.get_mut(id.index()) {
                *slot = Some(*value);
            }
        }
        for (signal, value) in inputs.iter_mut().zip(chosen) {
            signal.change(&mut out, value)?;
        }
        if time == 0 {
            out.end()?;
        }
    }
    // The last state lasts a unit as well, or viewers show nothing of it.
    out.timestamp(run.states.len() as u64)?;
    out.flush()
}

fn signal<'a, W: io::Write>(
    out: &mut vcd::Writer<W>,
    taken: &mut HashSet<String>,
    name: &str,
    ty: &'a Type,
    width: u32,
) -> io::Result<Signal<'a>> {
    let mut unique = |name: String| {
        let mut unique = name.clone();
        let mut nth = 1;
        while !taken.insert(unique.clone()) {
            nth += 1;
            unique = format!("{name}_{nth}");
        }
        unique
    };
    let (name, text_name) = (unique(word(name)), unique(format!("{}_name", word(name))));
    let id = out.add_var(VarType::Wire, width, &name, None)?;
    let text = match ty {
        Type::Enum(_) => Some(out.add_var(VarType::String, 1, &text_name, None)?),
        _ => None,
    };
    Ok(Signal { ty, width, id, text, last: None })
}

impl Signal<'_> {
    fn change<W: io::Write>(
        &mut self,
        out: &mut vcd::Writer<W>,
        now: Option<Word>,
    ) -> io::Result<()> {
        if self.last == Some(now) {
            return Ok(());
        }
        self.last = Some(now);
        let bit = |i: u32| match now {
            None => Value::X,
            Some(word) if word >> i & 1 == 1 => Value::V1,
            Some(_) => Value::V0,
        };
        match self.width {
            1 => out.change_scalar(self.id, bit(0))?,
            width => out.change_vector(self.id, (0..width).rev().map(bit))?,
        }
        if let Some(text) = self.text {
            let shown = now.map_or("x".into(), |n| word(&value::show(self.ty, self.width, n)));
            out.change_string(text, &shown)?;
        }
        Ok(())
    }
}

/// A name as viewers take it: no blanks; dots and brackets would be read as scopes and bit ranges.
fn word(name: &str) -> String {
    let trimmed = name.trim_end_matches([']', ')']);
    let plain = |c: char| if c.is_ascii_alphanumeric() || c == '_' { c } else { '_' };
    let mut word: String = trimmed.chars().map(plain).collect();
    if !word.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        word.insert(0, '_');
    }
    word
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::VarId;
    use crate::validate::replay;
    use vcd::Command;
    use vouch_ir::sample::*;

    /// Read back with the library's parser: every value at every time.
    #[test]
    fn waveforms_say_what_the_run_says() {
        let mut cfa = timer(true);
        // A name that a viewer would take for a bit of the timer's neighbour, and a twin.
        cfa.add_var(state_var("contactor[mode]", 128, Type::Signed));
        let mut trace = timer_trace();
        trace.initial.push((VarId(3), Word::MAX - 4));
        let run = replay(&cfa, &trace).unwrap();
        let mut file = vec![];
        write(&cfa, &run, &mut file).unwrap();
        let mut parser = vcd::Parser::new(file.as_slice());
        let header = parser.parse_header().unwrap();
        assert_eq!(header.timescale, Some((1, TimescaleUnit::US)));
        let id = |name: &str| header.find_var(&["timer", name]).unwrap().code;
        let codes = ["location", "timer", "limit", "contactor_mode", "contactor_mode_2"].map(id);
        let names = ["location_name", "contactor_mode_name", "start", "add"].map(id);
        let mut now = std::collections::HashMap::new();
        let mut snapshots = vec![];
        for command in parser {
            match command.unwrap() {
                Command::Timestamp(0) => {}
                Command::Timestamp(_) => snapshots.push(now.clone()),
                Command::ChangeScalar(id, v) => drop(now.insert(id, v.to_string())),
                Command::ChangeVector(id, v) => drop(now.insert(id, v.to_string())),
                Command::ChangeString(id, v) => drop(now.insert(id, v)),
                _ => {}
            }
        }
        assert_eq!(snapshots.len(), run.states.len());
        for (snapshot, state) in snapshots.iter().zip(&run.states) {
            let binary = |w: Word, width: usize| format!("{w:0width$b}");
            assert_eq!(snapshot[&codes[0]], binary(state.location.0.into(), 2));
            for (value, (code, width)) in
                state.values.iter().zip(codes[1..].iter().zip([4, 4, 2, 128]))
            {
                assert_eq!(snapshot[code], binary(*value, width));
            }
        }
        let track = |i: usize| snapshots.iter().map(|s| s[&names[i]].as_str()).collect::<Vec<_>>();
        assert_eq!(track(0), ["init", "Idle", "Charge", "Charge", "Charge", "Idle", "late_timer"]);
        assert_eq!(track(1)[1..3], ["Open", "Pre_charge"]);
        assert_eq!(track(2), ["x", "1", "x", "x", "1", "x", "x"]);
        assert_eq!(track(3), ["xx", "11", "xx", "xx", "xx", "xx", "xx"]);
    }
}
