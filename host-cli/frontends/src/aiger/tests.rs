//! Circuits in text, run in the reference interpreter next to a simulator of the text.

use super::*;
use crate::{Source, render};
use vouch_ir::{Cfa, EdgeId, Word, eval};

fn compile(text: &[u8]) -> Cfa {
    match super::compile(text, "test") {
        Ok(compiled) => {
            compiled.cfa.check().unwrap();
            compiled.cfa
        }
        Err(errors) => panic!("{}", message(text, &errors)),
    }
}

fn message(text: &[u8], errors: &[Diagnostic]) -> String {
    let text = String::from_utf8_lossy(text).into_owned();
    render(&Source { path: "test.aag".into(), text }, errors)
}

fn refused(text: &str, what: &str) {
    let errors = super::compile(text.as_bytes(), "test").unwrap_err();
    let message = message(text.as_bytes(), &errors);
    assert!(message.contains(what), "{message}\ndoes not say: {what}");
}

/// Random numbers that are the same everywhere.
struct Rng(u64);

impl Rng {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }
    fn below(&mut self, n: u32) -> u32 {
        (self.next() % n as u64) as u32
    }
}

/// A random circuit: latches with next literal and reset, gates, bad states, constraints.
struct Random {
    inputs: u32,
    latches: Vec<(u32, u32)>,
    ands: Vec<[u32; 2]>,
    bads: Vec<u32>,
    constraints: Vec<u32>,
}

impl Random {
    fn new(seed: u64) -> Random {
        let mut rng = Rng(seed * 0x9e37_79b9 + 1);
        let (inputs, latches, ands) = (rng.below(4), rng.below(5), rng.below(12));
        let total = inputs + latches + ands + 1;
        let gates = (0..ands).map(|i| {
            let own = 2 * (inputs + latches + 1 + i);
            let a = rng.below(own);
            [a, rng.below(a + 1)]
        });
        let gates = gates.collect();
        let latches = (0..latches).map(|i| {
            let own = 2 * (inputs + 1 + i);
            (rng.below(2 * total), [0, 1, own][rng.below(3) as usize])
        });
        let latches = latches.collect();
        let mut some = |most| (0..rng.below(most)).map(|_| rng.below(2 * total)).collect();
        Random { inputs, latches, ands: gates, bads: some(3), constraints: some(3) }
    }

    fn header(&self, kind: &str) -> String {
        let (i, l, a) = (self.inputs as usize, self.latches.len(), self.ands.len());
        let (b, c) = (self.bads.len(), self.constraints.len());
        format!("{kind} {} {i} {l} 0 {a} {b} {c}\n", i + l + a)
    }

    fn ascii(&self) -> Vec<u8> {
        let mut text = self.header("aag");
        let lines = |list: &[u32]| list.iter().map(|x| format!("{x}\n")).collect::<String>();
        text += &(0..self.inputs).map(|i| format!("{}\n", 2 * i + 2)).collect::<String>();
        for (i, (next, reset)) in (0..).zip(&self.latches) {
            text += &format!("{} {next} {reset}\n", 2 * (self.inputs + 1 + i));
        }
        text += &lines(&self.bads);
        text += &lines(&self.constraints);
        // The order of an ascii file's gates is free.
        let first = self.inputs + self.latches.len() as u32 + 1;
        for (i, [a, b]) in (0..).zip(&self.ands).collect::<Vec<_>>().into_iter().rev() {
            text += &format!("{} {b} {a}\n", 2 * (first + i));
        }
        text.into_bytes()
    }

    fn binary(&self) -> Vec<u8> {
        let mut text = self.header("aig");
        for (next, reset) in &self.latches {
            text += &if *reset == 0 { format!("{next}\n") } else { format!("{next} {reset}\n") };
        }
        for lit in self.bads.iter().chain(&self.constraints) {
            text += &format!("{lit}\n");
        }
        let mut bytes = text.into_bytes();
        let first = self.inputs + self.latches.len() as u32 + 1;
        for (i, [a, b]) in (0..).zip(&self.ands) {
            for mut delta in [2 * (first + i) - a, a - b] {
                while delta >= 0x80 {
                    bytes.push(delta as u8 | 0x80);
                    delta >>= 7;
                }
                bytes.push(delta as u8);
            }
        }
        bytes.extend(b"c\nmade up\n");
        bytes
    }

    /// The values of all literals.
    fn simulate(&self, inputs: &[Word], latches: &[Word]) -> Vec<bool> {
        let mut values = vec![false, true];
        for leaf in inputs.iter().chain(latches) {
            values.extend([*leaf != 0, *leaf == 0]);
        }
        for [a, b] in &self.ands {
            let and = values[*a as usize] && values[*b as usize];
            values.extend([and, !and]);
        }
        values
    }
}

#[test]
fn circuits_do_what_their_gates_say() {
    let mut constrained = 0;
    for seed in 0..300 {
        let random = Random::new(seed);
        let cfa = compile(&random.ascii());
        let binary = compile(&random.binary());
        assert_eq!(
            (cfa.vars.len(), cfa.inputs.len()),
            (random.latches.len(), random.inputs as usize)
        );
        assert_eq!(cfa.properties.len(), random.bads.len());
        let mut rng = Rng(seed + 7);
        for _ in 0..8 {
            let mut values = |n: usize| (0..n).map(|_| rng.below(2) as Word).collect::<Vec<_>>();
            let (state, inputs) = (values(cfa.vars.len()), values(cfa.inputs.len()));
            let input = |i: vouch_ir::InputId| inputs[i.index()];
            let expected = random.simulate(&inputs, &state);
            let truth = |lit: &u32| expected[*lit as usize];
            let allowed = random.constraints.iter().all(truth);
            constrained += !allowed as usize;
            for cfa in [&cfa, &binary] {
                let first = eval::step(cfa, &state, EdgeId(0), input).unwrap();
                let next = eval::step(cfa, &state, EdgeId(1), input);
                assert_eq!(next.is_some(), allowed);
                for (i, (lit, reset)) in random.latches.iter().enumerate() {
                    let start = if *reset < 2 { *reset as Word } else { state[i] };
                    assert_eq!(first[i], start);
                    if let Some(next) = &next {
                        assert_eq!(next[i], truth(lit) as Word);
                    }
                }
                for (i, bad) in random.bads.iter().enumerate() {
                    let broken = eval::step(cfa, &state, EdgeId(2 + i as u32), input).is_some();
                    assert_eq!(broken, allowed && truth(bad));
                }
            }
        }
    }
    assert!(constrained > 300);
}

#[test]
fn names_come_from_the_symbol_table() {
    let text = b"aag 2 1 1 2 0\n2\n4 2\n4\n5\ni0 go\nl0 on\no1 never off\nc\nhello\n";
    let cfa = compile(text);
    assert_eq!((cfa.vars[0].name.as_str(), cfa.inputs[0].name.as_str()), ("on", "go"));
    let names: Vec<&str> = cfa.properties.iter().map(|p| p.name.as_str()).collect();
    assert_eq!(names, ["output0", "never off"]);
    // Where there are bad states, outputs are none.
    let cfa = compile(b"aag 1 1 0 1 0 1\n2\n2\n3\nb0 high\n");
    assert_eq!(cfa.properties[0].name, "high");
    assert_eq!(cfa.properties.len(), 1);
}

#[test]
fn what_is_wrong_is_told_where_it_is() {
    refused("hello", "this is not an AIGER file");
    refused("aag 1 1", "expected the number of latches, found the end of the file");
    refused("aag 1 1 1 0 0\n", "the largest variable is 1");
    refused("aag 2 1 0 1 1\n2\n4\n4 2 6\n", "literal 6 is larger than the header's 5");
    refused("aag 2 1 0 1 1\n2\n4\n4 2 x\n", "expected an operand, found `x`");
    refused("aag 2 1 0 1 1\n2\n4\n4 4 2\n", "gate 4 depends on itself");
    refused("aag 3 1 0 1 1\n2\n4\n4 6 2\n", "literal 6 is used but not defined");
    refused("aag 2 1 0 1 1\n2\n4\n2 2 2\n", "literal 2 is defined twice");
    refused("aag 2 1 0 1 1\n3\n4\n4 2 2\n", "literal 3 cannot be defined");
    refused("aag 2 0 1 0 0\n2 2 4\n", "cannot be reset to literal 4");
    refused("aag 1 1 0 0 0 0 0 1\n2\n1\n2\n", "liveness properties cannot be checked");
    refused("aag 1 1 0 1 0\n2\n2\ni1 x\n", "there is no i1 to name");
    refused("aag 1 1 0 1 0\n2 5\n2\n", "expected the end of the line");
    refused("aag 0 0 0 99999999 0\n", "the file ends before");
    refused("aag 4000000000 0 0 0 0\n", "too large");
    refused("aag 900000000 0 0 1 0\n0\n", "far larger than the file");
    refused("aig 2 1 0 1 1\n4\n", "the file ends within its gates");
    refused("aig 2 1 0 1 1\n4\n\u{5}\u{0}", "an operand that is not before it");
}

#[test]
fn damaged_files_are_refused_without_a_panic() {
    let mut rng = Rng(99);
    let mut accepted = 0;
    for seed in 0..400 {
        let random = Random::new(seed);
        for mut bytes in [random.ascii(), random.binary()] {
            for _ in 0..1 + rng.below(3) {
                let at = rng.below(bytes.len() as u32) as usize;
                match rng.below(3) {
                    0 => bytes[at] = rng.next() as u8,
                    1 => drop(bytes.remove(at)),
                    _ => bytes.truncate(at + 1),
                }
            }
            match super::compile(&bytes, "damaged") {
                Ok(compiled) => {
                    compiled.cfa.check().unwrap();
                    accepted += 1;
                }
                Err(errors) => assert!(!message(&bytes, &errors).is_empty()),
            }
        }
    }
    assert!((10..790).contains(&accepted), "{accepted}");
}
