//! Circuits of gates in the AIGER format, version 1.9.

use super::ExportError;
use super::system::System;
use crate::frontend::aiger::Aig;
use crate::gates::aig::{Lit, Node};
use crate::gates::expr::{Blaster, Leaf};
use crate::ir::{Cfa, ExprId};
use rustc_hash::FxHashSet as HashSet;
use std::fmt::Write as _;

/// A latch of an AIGER circuit: one bit of state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Latch {
    /// Symbol in the file; unique among inputs and latches of an exported automaton.
    pub name: String,
    /// Literal of its next value.
    pub next: u32,
    /// Its first value; `None` is any.
    pub reset: Option<bool>,
}

/// A circuit, numbered as binary files want it: variable 0 is false, then inputs, latches, gates. A
/// literal is twice its variable, plus one if negated.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Circuit {
    /// Names of the inputs.
    pub inputs: Vec<String>,
    /// The latches, in the order of their variables, which follow those of the inputs.
    pub latches: Vec<Latch>,
    /// The gates' operands, the larger first.
    pub ands: Vec<[u32; 2]>,
    /// The bad states.
    pub bads: Vec<(String, u32)>,
    /// What is assumed in every step.
    pub constraints: Vec<u32>,
    /// What follows the circuit.
    pub comment: String,
}

/// Most gates of a circuit.
const MAX_NODES: usize = 1 << 24;

impl Circuit {
    /// The circuit of an automaton.
    pub fn of(cfa: &Cfa) -> Result<Circuit, ExportError> {
        let system = System::new(cfa);
        let mut blaster = Blaster::new(&system.cfa, MAX_NODES)?;
        let mut circuit =
            Circuit { comment: format!("{}, by vouch", cfa.name), ..Circuit::default() };
        for input in &system.cfa.inputs {
            circuit
                .inputs
                .extend((0..input.width).map(|bit| bit_name(&input.name, input.width, bit)));
        }
        let mut nexts = vec![];
        for (v, var) in system.cfa.vars.iter().enumerate() {
            nexts.extend(blaster.word(system.nexts[v])?.to_vec());
            circuit.latches.extend((0..var.width).map(|bit| Latch {
                name: bit_name(&var.name, var.width, bit),
                next: 0,
                reset: system.resets[v].map(|value| value >> bit & 1 == 1),
            }));
        }
        let bad = |bad: &(String, ExprId)| blaster.word(bad.1).map(|word| word[0]);
        let bads: Vec<Lit> = system.bads.iter().map(bad).collect::<Result<_, _>>()?;

        let roots: Vec<Lit> = nexts.iter().chain(&bads).copied().collect();
        let literals = circuit.gates(&system.cfa, &blaster, &roots);
        for (latch, next) in circuit.latches.iter_mut().zip(&nexts) {
            latch.next = literal(&literals, *next);
        }
        let names = system.bads.into_iter().map(|b| b.0);
        circuit.bads = names.zip(bads.iter().map(|l| literal(&literals, *l))).collect();
        circuit.tell_apart();
        Ok(circuit)
    }

    /// The circuit that was read from a file, with its numbers made dense.
    pub fn copy(aig: &Aig) -> Option<Circuit> {
        let order = aig.order().ok()?;
        let mut circuit = Circuit::default();
        let mut literals = vec![0; aig.variables];
        for (i, (variable, name)) in aig.inputs.iter().enumerate() {
            literals[*variable as usize] = 2 * (i as u32 + 1);
            circuit.inputs.push(name.clone().unwrap_or_else(|| format!("i{i}")));
        }
        let first = aig.inputs.len() as u32 + 1;
        for (i, latch) in (0..).zip(&aig.latches) {
            literals[latch.variable as usize] = 2 * (first + i);
            let name = latch.name.clone().unwrap_or_else(|| format!("l{i}"));
            circuit.latches.push(Latch { name, next: 0, reset: latch.reset });
        }
        for at in order {
            let and = &aig.ands[at as usize];
            let [a, b] = and.operands.map(|l| literals[l as usize / 2] ^ (l & 1));
            literals[and.variable as usize] = circuit.and(a, b);
        }
        let get = |l: u32| literals[l as usize / 2] ^ (l & 1);
        for (copy, latch) in circuit.latches.iter_mut().zip(&aig.latches) {
            copy.next = get(latch.next);
        }
        circuit.constraints = aig.constraints.iter().map(|c| get(*c)).collect();
        let name =
            |i: usize, name: &Option<String>| name.clone().unwrap_or_else(|| format!("b{i}"));
        let bads = aig.properties().iter().enumerate();
        circuit.bads = bads.map(|(i, b)| (name(i, &b.2), get(b.0))).collect();
        Some(circuit)
    }

    /// Some tools refuse files in which an input and a latch have the same name.
    fn tell_apart(&mut self) {
        let mut taken = HashSet::default();
        let names = self.inputs.iter_mut().chain(self.latches.iter_mut().map(|l| &mut l.name));
        for name in names {
            let mut unique = name.clone();
            let mut nth = 2;
            while !taken.insert(unique.clone()) {
                unique = format!("{name}#{nth}");
                nth += 1;
            }
            *name = unique;
        }
    }

    /// The literal of a latch.
    pub fn latch(&self, index: usize) -> u32 {
        2 * (1 + self.inputs.len() + index) as u32
    }

    /// Conjunction; constants need no gate.
    pub fn and(&mut self, a: u32, b: u32) -> u32 {
        match (a.max(b), a.min(b)) {
            (_, 0) => 0,
            (a, 1) => a,
            (a, b) if a == b => a,
            (a, b) if a == (b ^ 1) => 0,
            (a, b) => {
                self.ands.push([a, b]);
                2 * (self.inputs.len() + self.latches.len() + self.ands.len()) as u32
            }
        }
    }
    /// The literal of `a | b`; adds at most one gate.
    pub fn or(&mut self, a: u32, b: u32) -> u32 {
        self.and(a ^ 1, b ^ 1) ^ 1
    }

    /// Adds the gates below `roots`. Returns the positive literal of each node.
    fn gates(&mut self, cfa: &Cfa, blaster: &Blaster, roots: &[Lit]) -> Vec<u32> {
        let graph = blaster.graph();
        let mut used = vec![false; graph.len()];
        let mut stack: Vec<usize> = roots.iter().map(|l| l.var()).collect();
        while let Some(node) = stack.pop() {
            crate::deadline::tick();
            if !std::mem::replace(&mut used[node], true) {
                stack.extend(graph.operands(node));
            }
        }
        let mut sum = 0;
        let first_bit: Vec<u32> = (cfa.inputs.iter())
            .map(|i| {
                sum += i.width;
                sum - i.width
            })
            .collect();
        let mut literals = vec![0; graph.len()];
        // The constant of an AIGER file is false, that of a graph true.
        literals[0] = 1;
        for node in (1..graph.len()).filter(|n| used[*n]) {
            let get = |l: Lit| literal(&literals, l);
            literals[node] = match graph.node(node) {
                Node::True => 1,
                Node::Leaf(_) => match blaster.leaf(node) {
                    Some(Leaf::State(flat)) => self.latch(flat as usize),
                    Some(Leaf::Input(input, bit)) => 2 * (1 + first_bit[input.index()] + bit),
                    None => 0,
                },
                Node::And(a, b) => self.and(get(a), get(b)),
                Node::Xor(a, b) => {
                    let (a, b) = (get(a), get(b));
                    let (neither, both) = (self.and(a ^ 1, b ^ 1), self.and(a, b));
                    self.and(neither ^ 1, both ^ 1)
                }
                Node::Mux(s, t, e) => {
                    let (s, t, e) = (get(s), get(t), get(e));
                    let (then, other) = (self.and(s, t), self.and(s ^ 1, e));
                    self.or(then, other)
                }
            };
        }
        literals
    }

    fn header(&self, kind: &str) -> String {
        let (i, l, a) = (self.inputs.len(), self.latches.len(), self.ands.len());
        let mut text = format!("{kind} {} {i} {l} 0 {a} {}", i + l + a, self.bads.len());
        if !self.constraints.is_empty() {
            let _ = write!(text, " {}", self.constraints.len());
        }
        text + "\n"
    }

    fn roots(&self) -> String {
        let roots = self.bads.iter().map(|b| b.1).chain(self.constraints.iter().copied());
        roots.map(|lit| format!("{lit}\n")).collect()
    }

    fn reset(&self, index: usize) -> String {
        match self.latches[index].reset {
            Some(false) => String::new(),
            Some(true) => " 1".into(),
            None => format!(" {}", self.latch(index)),
        }
    }

    fn symbols(&self) -> String {
        let mut text = String::new();
        let names = (self.inputs.iter().enumerate().map(|(i, n)| ('i', i, n)))
            .chain(self.latches.iter().enumerate().map(|(i, l)| ('l', i, &l.name)))
            .chain(self.bads.iter().enumerate().map(|(i, b)| ('b', i, &b.0)));
        for (kind, index, name) in names {
            // A symbol ends with its line.
            let name = name.replace(['\n', '\r'], " ");
            let _ = writeln!(text, "{kind}{index} {name}");
        }
        let _ = write!(text, "c\n{}\n", self.comment);
        text
    }

    /// The circuit as text.
    pub fn ascii(&self) -> String {
        let mut text = self.header("aag");
        for i in 1..=self.inputs.len() {
            let _ = writeln!(text, "{}", 2 * i);
        }
        for (i, latch) in self.latches.iter().enumerate() {
            let _ = writeln!(text, "{} {}{}", self.latch(i), latch.next, self.reset(i));
        }
        text += &self.roots();
        let first = self.latch(self.latches.len());
        for (i, [a, b]) in (0..).zip(&self.ands) {
            let _ = writeln!(text, "{} {a} {b}", first + 2 * i);
        }
        text + &self.symbols()
    }

    /// The circuit as a binary file.
    pub fn binary(&self) -> Vec<u8> {
        let mut text = self.header("aig");
        for (i, latch) in self.latches.iter().enumerate() {
            let _ = writeln!(text, "{}{}", latch.next, self.reset(i));
        }
        text += &self.roots();
        let mut bytes = text.into_bytes();
        let first = self.latch(self.latches.len());
        for (i, [a, b]) in (0..).zip(&self.ands) {
            for mut delta in [first + 2 * i - a, a - b] {
                while delta >= 0x80 {
                    bytes.push(delta as u8 | 0x80);
                    delta >>= 7;
                }
                bytes.push(delta as u8);
            }
        }
        bytes.extend(self.symbols().into_bytes());
        bytes
    }
}

fn literal(literals: &[u32], lit: Lit) -> u32 {
    literals[lit.var()] ^ !lit.is_positive() as u32
}

fn bit_name(name: &str, width: u32, bit: u32) -> String {
    if width == 1 { name.to_string() } else { format!("{name}.{bit}") }
}
