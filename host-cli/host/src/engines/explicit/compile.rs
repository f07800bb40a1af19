//! Edges in a flat form that is evaluated for 64 states and inputs at once.
//!
//! An edge's gates are a list already. Here they are put into another order, those that the guard needs first:
//! most edges of a location cannot be taken, and cost no more than to find that out. Values are words in
//! which each bit is one *lane*, a state with an input; both the value and its negation are kept, so that a
//! literal's code is its index.

use crate::engines::cone;
use vouch_core::image::Image;
use vouch_core::word::Word;

/// Lanes of a word.
pub const LANES: usize = 64;

/// How many input bits an edge reads, at most.
pub fn most_inputs<W: Word>(image: &Image<'_, W>) -> usize {
    let inputs = |e| {
        let edge = image.edge(e);
        let given = 1 + edge.live..edge.first_gate();
        cone::own(&edge)[given].iter().filter(|is_read| **is_read).count()
    };
    (0..image.edges()).map(inputs).max().unwrap_or(0)
}

/// An edge as straight-line code: evaluates its guard and next state for 64 lanes at once.
pub struct Program {
    /// Its number in the image.
    pub edge: usize,
    /// The location that it enters.
    pub to: usize,
    /// Bits of the source's state.
    pub live: usize,
    /// The input bits that the edge reads, of those that its network has.
    pub inputs: Vec<usize>,
    /// Operands of each gate, as indices of values.
    gates: Vec<[u32; 3]>,
    /// Gates that the guard needs, which come first.
    guarding: usize,
    guard: u32,
    next: Vec<u32>,
}

impl Program {
    /// Compiles an edge.
    pub fn new<W: Word>(image: &Image<'_, W>, number: usize) -> Program {
        let edge = image.edge(number);
        let first = edge.first_gate();
        let (guarding, own) = (cone::of(&edge, [edge.guard]), cone::own(&edge));
        let inputs: Vec<usize> = (0..edge.inputs).filter(|i| own[1 + edge.live + i]).collect();
        let gates = (first..edge.vars()).filter(|v| own[*v]);
        let order: Vec<usize> = (gates.clone().filter(|v| guarding[*v]))
            .chain(gates.filter(|v| !guarding[*v]))
            .collect();
        // The constant and the state's bits have their places; inputs and gates that others need have none.
        let mut place: Vec<u32> = (0..edge.vars() as u32).collect();
        let given = inputs.iter().map(|i| 1 + edge.live + i);
        for (at, var) in given.chain(order.iter().copied()).enumerate() {
            place[var] = (1 + edge.live + at) as u32;
        }
        let code = |code: usize| 2 * place[code / 2] + (code & 1) as u32;
        Program {
            edge: number,
            to: edge.to,
            live: edge.live,
            inputs,
            gates: order.iter().map(|var| edge.gate(*var).map(|lit| code(lit.code()))).collect(),
            guarding: order.iter().filter(|v| guarding[**v]).count(),
            guard: code(edge.guard.code()),
            next: edge.next.iter().map(|w| code(w.get())).collect(),
        }
    }

    /// How many values it has.
    pub fn values(&self) -> usize {
        2 * (1 + self.live + self.inputs.len() + self.gates.len())
    }

    /// Gates that were not spared when the guard was false.
    pub fn gates(&self) -> usize {
        self.gates.len()
    }

    /// The lanes in which the edge can be taken. `set` has the values of the state's bits, then of the inputs.
    pub fn guard(&self, values: &mut [u64], set: impl Iterator<Item = u64>) -> u64 {
        (values[0], values[1]) = (u64::MAX, 0);
        for (pair, value) in values[2..].chunks_exact_mut(2).zip(set) {
            (pair[0], pair[1]) = (value, !value);
        }
        self.evaluate(values, 0, self.guarding);
        values[self.guard as usize]
    }

    /// The values of the target's bits, after [`Program::guard`].
    pub fn next<'v>(&'v self, values: &'v mut [u64]) -> impl Iterator<Item = u64> + 'v {
        self.evaluate(values, self.guarding, self.gates.len());
        self.next.iter().map(|code| values[*code as usize])
    }

    fn evaluate(&self, values: &mut [u64], from: usize, to: usize) {
        let first = 2 * (1 + self.live + self.inputs.len());
        for (at, [s, t, e]) in self.gates[from..to].iter().enumerate() {
            let (t, e) = (values[*t as usize], values[*e as usize]);
            let value = e ^ (values[*s as usize] & (t ^ e));
            let own = first + 2 * (from + at);
            values[own] = value;
            values[own + 1] = !value;
        }
    }
}
