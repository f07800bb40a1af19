//! A counterexample as waveforms (value change dump), for GTKWave, Surfer and the like.
//!
//! One time unit is one step; of a program, one place where it continues. At time *t* it has the state after step *t* and
//! the inputs that this step has read, as in the table; inputs that it did not read are `z`. Each machine has a scope
//! with its state, its variables and whether it has moved. The scope `properties` has a signal for each property: 0
//! where it is broken. Names of states and enumerations are there as strings along with the numbers, because not every
//! viewer shows strings, and not every one can be told the names of numbers.

use super::value;
use crate::ir::{Cfa, Input, InputId, LocId, Type, VarId, Word, eval};
use crate::validate::Run;
use crate::words::{Moment, Words};
use std::collections::BTreeMap;
use std::io;
use vcd::{IdCode, SimulationCommand, TimescaleUnit, Value, VarType};

/// Something with a waveform.
struct Signal {
    ty: Type,
    width: u32,
    id: IdCode,
    /// The signal that shows an enumeration's name.
    text: Option<IdCode>,
    last: Option<Option<Word>>,
}

/// What a signal shows.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    /// The location of the automaton, shown by name.
    Location,
    /// The number of the step.
    Step,
    /// The state of a machine.
    State(usize),
    /// Whether a machine has moved.
    Moved(usize),
    Var(VarId),
    Input(InputId),
    /// Whether a property is not broken.
    Holds(usize),
}

/// A signal that is to be declared.
struct Planned {
    name: String,
    ty: Type,
    width: u32,
    source: Source,
}

/// The signals of a run, by scope; those of the model itself are in the scope without a name.
struct Plan {
    scopes: BTreeMap<String, Vec<Planned>>,
}

impl Plan {
    fn new(cfa: &Cfa, words: &Words<'_>) -> Plan {
        let mut plan = Plan { scopes: BTreeMap::new() };
        let machines = words.machines();
        let number = Type::Unsigned;
        plan.add("", "step", number.clone(), 32, Source::Step);
        if machines.is_empty() {
            let names = cfa.locations.iter().map(|l| l.name.clone());
            let bits = bits(cfa.locations.len());
            plan.add("", "location", Type::names(names), bits, Source::Location);
        }
        for (m, machine) in machines.iter().enumerate() {
            let names = Type::names(machine.states.iter().cloned());
            let bits = bits(machine.states.len());
            plan.add(&machine.name, "state", names, bits, Source::State(m));
            if machines.len() > 1 {
                plan.add(&machine.name, "moved", Type::Bool, 1, Source::Moved(m));
            }
        }
        let is_machine = |name: &str| machines.iter().any(|m| m.name == name);
        for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
            let (scope, name) = split(&var.name, is_machine);
            plan.add(scope, name, var.ty.clone(), var.width, Source::Var(id));
        }
        for (id, Input { name, width, ty }) in (0..).map(InputId).zip(&cfa.inputs) {
            let (scope, name) = split(name, is_machine);
            plan.add(scope, name, ty.clone(), *width, Source::Input(id));
        }
        for (p, property) in cfa.properties.iter().enumerate() {
            plan.add("properties", &property.name, Type::Bool, 1, Source::Holds(p));
        }
        plan
    }

    fn add(&mut self, scope: &str, name: &str, ty: Type, width: u32, source: Source) {
        let scope = self.scopes.entry(scope.to_string()).or_default();
        // Viewers take no blanks; dots and brackets they would take for scopes and bits.
        let name = word(name);
        let mut unique = name.clone();
        let mut nth = 1;
        let taken = |n: &str| scope.iter().any(|p| p.name == n || format!("{}_name", p.name) == n);
        while taken(&unique) || taken(&format!("{unique}_name")) {
            nth += 1;
            unique = format!("{name}_{nth}");
        }
        scope.push(Planned { name: unique, ty, width, source });
    }
}

/// As many bits as so many numbers need.
fn bits(count: usize) -> u32 {
    (usize::BITS - count.saturating_sub(1).leading_zeros()).max(1)
}

/// `doors.dwell` is `dwell` of the machine `doors`, and `step::flags` one of the function `step`.
fn split(name: &str, is_machine: impl Fn(&str) -> bool) -> (&str, &str) {
    match (name.split_once("::"), name.split_once('.')) {
        (Some((function, own)), _) => (function, own),
        (None, Some((machine, own))) if is_machine(machine) => (machine, own),
        _ => ("", name),
    }
}

/// Writes a run as VCD.
pub fn write(cfa: &Cfa, words: &Words<'_>, run: &Run, to: impl io::Write) -> io::Result<()> {
    let mut out = vcd::Writer::new(to);
    out.version(concat!("vouch ", env!("CARGO_PKG_VERSION")))?;
    out.comment("one time unit is one step; inputs are shown at the step that reads them")?;
    out.timescale(1, TimescaleUnit::US)?;
    out.add_module(&word(&cfa.name))?;
    let mut signals: Vec<(Source, Signal)> = vec![];
    for (scope, planned) in Plan::new(cfa, words).scopes {
        if !scope.is_empty() {
            out.add_module(&word(&scope))?;
        }
        for Planned { name, ty, width, source } in planned {
            let id = out.add_var(VarType::Wire, width, &name, None)?;
            let text = match ty {
                Type::Enum(_) => {
                    Some(out.add_var(VarType::String, 1, &format!("{name}_name"), None)?)
                }
                _ => None,
            };
            signals.push((source, Signal { ty, width, id, text, last: None }));
        }
        if !scope.is_empty() {
            out.upscope()?;
        }
    }
    out.upscope()?;
    out.enddefinitions()?;
    let moments = words.moments(run);
    for (time, moment) in moments.iter().enumerate() {
        out.timestamp(time as u64)?;
        if time == 0 {
            out.begin(SimulationCommand::Dumpvars)?;
        }
        for (source, signal) in &mut signals {
            signal.change(&mut out, shown(cfa, words, run, moment, source))?;
        }
        if time == 0 {
            out.end()?;
        }
    }
    // The last state lasts a unit as well, or viewers show nothing of it.
    out.timestamp(moments.len() as u64)?;
    out.flush()
}

/// The value of a signal after a moment.
fn shown(
    cfa: &Cfa,
    words: &Words<'_>,
    run: &Run,
    moment: &Moment,
    source: &Source,
) -> Option<Word> {
    let taken = run.steps.get(moment.edge)?;
    // A step that fails has no state of its own.
    let after = if moment.fails { moment.edge } else { moment.edge + 1 };
    let state = run.states.get(after)?;
    match source {
        Source::Location => Some(state.location.0.into()),
        Source::Step => Some(moment.step as Word),
        Source::State(m) => {
            let states = words.states(state.location)?;
            let machines = words.machines();
            let number = machines[*m].states.iter().position(|s| *s == states[*m].1)?;
            Some(number as Word)
        }
        Source::Moved(m) => {
            let name = &words.machines()[*m].name;
            Some(moment.done.iter().any(|d| d.who.as_ref() == Some(name)) as Word)
        }
        Source::Var(id) => state.values.get(id.index()).copied(),
        Source::Input(id) => taken.inputs.iter().find(|i| i.0 == *id).map(|i| i.1),
        Source::Holds(p) => {
            let is_this = run.property.index() == *p;
            if moment.fails && is_this {
                return Some(0);
            }
            Some(!is_broken(cfa, state.location, &state.values, *p) as Word)
        }
    }
}

/// Whether a property is broken in a state, whatever the inputs are.
fn is_broken(cfa: &Cfa, location: LocId, values: &[Word], property: usize) -> bool {
    let error = cfa.properties[property].error;
    let edges = cfa.edges.iter().filter(|e| e.from == location && e.to == error);
    let mut edges = edges.filter(|e| cfa.edge_inputs(e).is_empty());
    edges.any(|e| {
        let guard = eval::expressions(&cfa.pool, &[e.guard], |v| values[v.index()], |_| 0);
        guard.first() == Some(&1)
    })
}

/// A list of the signals for GTKWave, which opens a dump with all of them in view, machine by machine.
pub fn layout(cfa: &Cfa, words: &Words<'_>, dump: &str) -> String {
    let mut text = format!("{MARK}\n[dumpfile] \"{dump}\"\n[timestart] 0\n");
    let top = word(&cfa.name);
    for (scope, planned) in Plan::new(cfa, words).scopes {
        let (title, path) = match scope.as_str() {
            "" => (top.clone(), top.clone()),
            scope => (scope.to_string(), format!("{top}.{}", word(scope))),
        };
        text.push_str(&format!("@200\n-{title}\n"));
        for Planned { name, ty, width, .. } in planned {
            match (ty, width) {
                (Type::Enum(_), _) => text.push_str(&format!("@820\n{path}.{name}_name\n")),
                (_, 1) => text.push_str(&format!("@28\n{path}.{name}\n")),
                (Type::Signed, _) => {
                    text.push_str(&format!("@420\n{path}.{name}[{}:0]\n", width - 1))
                }
                _ => text.push_str(&format!("@24\n{path}.{name}[{}:0]\n", width - 1)),
            }
        }
    }
    text
}

/// How a layout begins that was not changed by anybody.
pub const MARK: &str = "[*] written by vouch: delete this line to keep your own changes";

impl Signal {
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
            None => Value::Z,
            Some(word) if word >> i & 1 == 1 => Value::V1,
            Some(_) => Value::V0,
        };
        match self.width {
            1 => out.change_scalar(self.id, bit(0))?,
            width => out.change_vector(self.id, (0..width).rev().map(bit))?,
        }
        if let Some(text) = self.text {
            let shown = now.map_or("z".into(), |n| word(&value::show(&self.ty, self.width, n)));
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
    use crate::validate::replay;
    use std::collections::HashMap;
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
        let words = Words::new(&cfa, None, &[]);
        let mut file = vec![];
        write(&cfa, &words, &run, &mut file).unwrap();
        let mut parser = vcd::Parser::new(file.as_slice());
        let header = parser.parse_header().unwrap();
        assert_eq!(header.timescale, Some((1, TimescaleUnit::US)));
        let id = |name: &str| header.find_var(&["timer", name]).unwrap().code;
        let codes = ["location", "timer", "limit", "contactor_mode", "contactor_mode_2"].map(id);
        let names = ["location_name", "contactor_mode_name", "start", "add"].map(id);
        let mut now = HashMap::new();
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
        // Neither the initial location nor the error is a state.
        let states = &run.states[1..run.states.len() - 1];
        assert_eq!(snapshots.len(), states.len());
        for (snapshot, state) in snapshots.iter().zip(states) {
            let binary = |w: Word, width: usize| format!("{w:0width$b}");
            assert_eq!(snapshot[&codes[0]], binary(state.location.0.into(), 2));
            for (value, (code, width)) in
                state.values.iter().zip(codes[1..].iter().zip([4, 4, 2, 128]))
            {
                assert_eq!(snapshot[code], binary(*value, width));
            }
        }
        let track = |i: usize| snapshots.iter().map(|s| s[&names[i]].as_str()).collect::<Vec<_>>();
        assert_eq!(track(0), ["Idle", "Charge", "Charge", "Charge", "Idle"]);
        assert_eq!(track(1)[..2], ["Open", "Pre_charge"]);
        assert_eq!(track(2), ["z", "1", "z", "z", "1"]);
        assert_eq!(track(3), ["zz", "11", "zz", "zz", "zz"]);
        let property = header.find_var(&["timer", "properties", &word(&cfa.properties[0].name)]);
        let property = property.unwrap().code;
        let holds: Vec<&str> = snapshots.iter().map(|s| s[&property].as_str()).collect();
        assert_eq!(holds, ["1", "1", "1", "1", "0"]);
        let layout = layout(&cfa, &words, "run.vcd");
        assert!(layout.contains("timer.location_name\n"), "{layout}");
    }
}
