//! Steps of an automaton that was lifted from a program.

use crate::rng::Rng;
use vouch_host::frontend::elf::{Cell, Program, Read, Slot, Source};
use vouch_host::ir::eval;
use vouch_host::ir::{EdgeId, InputId, LocId, Type, Word, mask};

/// Where a step came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrived {
    /// It returned with these values.
    Step(Vec<Word>),
    /// It broke a property.
    Failed(String),
    /// It left what is modelled.
    Limit(String),
}

/// One step of the lifted program: its inputs, and what came of it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Taken {
    /// What it read, in order.
    pub reads: Vec<(Source, u32)>,
    /// Where it came to.
    pub arrived: Arrived,
}

/// Walks along an automaton.
pub struct Walk<'a> {
    program: &'a Program,
    step: LocId,
}

/// Edges of a step, which has loops.
const MOST: usize = 3000;

impl Walk<'_> {
    /// Walks along the automaton of a program.
    pub fn new(program: &Program) -> Walk<'_> {
        Walk { program, step: program.step.unwrap() }
    }

    /// From reset to the first step.
    pub fn first(&mut self, rng: &mut Rng) -> Result<Taken, String> {
        let cfa = &self.program.cfa;
        let state = cfa.vars.iter().map(|v| rng.word(v.width)).collect();
        self.from(cfa.init, state, rng)
    }

    /// From one step to the next.
    pub fn step(&mut self, state: Vec<Word>, rng: &mut Rng) -> Result<Taken, String> {
        self.from(self.step, state, rng)
    }

    fn from(&self, at: LocId, mut state: Vec<Word>, rng: &mut Rng) -> Result<Taken, String> {
        let cfa = &self.program.cfa;
        let (mut at, mut reads) = (at, vec![]);
        for _ in 0..MOST {
            let mut inputs: Vec<Word> = cfa.inputs.iter().map(|i| value(rng, i.width)).collect();
            let here: Vec<_> = self.program.reads.iter().filter(|read| read.from == at).collect();
            for read in here.iter().filter(|r| matches!(r.source, Source::Argument { .. })) {
                if let Type::Enum(names) = &cfa.inputs[read.input.index()].ty {
                    // In Rust an argument has no others.
                    inputs[read.input.index()] = names[rng.below(names.len())].0;
                }
            }
            let input = |i: InputId| inputs[i.index()];
            let roots: Vec<_> = here.iter().map(|read| read.when).collect();
            let when = eval::expressions(&cfa.pool, &roots, |v| state[v.index()], input);
            let read = here.iter().zip(when).filter(|(_, when)| *when == 1);
            let word = |read: &Read| read.source.word(input(read.input) as u32);
            reads.extend(read.map(|(read, _)| (read.source, word(read))));
            let mut taken = None;
            for (i, edge) in cfa.edges.iter().enumerate().filter(|(_, e)| e.from == at) {
                let Some(next) = eval::step(cfa, &state, EdgeId(i as u32), input) else { continue };
                if taken.replace((edge.to, next)).is_some() {
                    return Err(format!(
                        "two edges can be taken from {}",
                        cfa.locations[at.index()].name
                    ));
                }
            }
            let Some((to, next)) = taken else {
                return Err(format!(
                    "no edge can be taken from {}",
                    cfa.locations[at.index()].name
                ));
            };
            (at, state) = (to, next);
            if at == self.step {
                return Ok(Taken { reads, arrived: Arrived::Step(state) });
            }
            if let Some(p) = cfa.properties.iter().position(|p| p.error == at) {
                let name = cfa.properties[p].name.clone();
                let is_limit = cfa.limits.iter().any(|limit| limit.index() == p);
                let arrived = if is_limit { Arrived::Limit(name) } else { Arrived::Failed(name) };
                return Ok(Taken { reads, arrived });
            }
        }
        Ok(Taken { reads, arrived: Arrived::Limit("too long".into()) })
    }

    /// A state with some other values.
    pub fn disturb(&self, state: &[Word], rng: &mut Rng) -> Vec<Word> {
        let Program { cfa, slots, varying, .. } = self.program;
        let vars = cfa.vars.iter().zip(slots).zip(state);
        vars.map(|((var, slot), old)| match varying.contains(slot) && rng.one_in(2) {
            true => value(rng, var.width),
            false => *old,
        })
        .collect()
    }
}

/// A value that is small more often than not.
fn value(rng: &mut Rng, width: u32) -> Word {
    match rng.below(4) {
        0 => rng.word(width),
        1 => rng.below(4) as Word & mask(width),
        2 => rng.below(16) as Word & mask(width),
        _ => (rng.below(3) as Word).wrapping_sub(1) & mask(width),
    }
}

/// The bytes that the variables of a state represent.
pub fn memory(program: &Program, state: &[Word]) -> Vec<(u32, Vec<u8>)> {
    let slots = program.slots.iter().zip(state);
    slots
        .filter_map(|(slot, value)| match slot {
            Slot::Memory(Cell::Ram(at), bytes) => {
                Some((*at, value.to_le_bytes()[..*bytes as usize].to_vec()))
            }
            _ => None,
        })
        .collect()
}
