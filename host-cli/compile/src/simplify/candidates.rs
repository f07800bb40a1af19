//! Which bits may be constant, the same, or complements: what random runs do not refute.
//!
//! At first runs go from the initial location on, 64 at once. Then single steps go from states that are
//! random but for what is taken to be the same in them: what such a step splits is not inductive. Most
//! of what cannot be proved is gone then, long before anybody tries to prove it.
//!
//! Nothing here has to be right: a wrong candidate is not proved, a missing one is missed.

use super::classes::{Bits, Classes};
use crate::gates::aig::Lit;
use crate::gates::{Gates, Network};
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::{Cfa, Expr, ExprId, InputId, VarId, VarKind, Word, mask};

/// Times that all edges are tried in runs.
const RUNS: usize = 24;
/// Times that all edges are tried in single steps, and times without news after which that ends.
const STEPS: usize = 400;
const QUIET: usize = 3;
/// Gates that are evaluated in all for either purpose.
const WORK: usize = 5_000_000;
/// Constants that inputs are tried with, for each width.
const CONSTANTS: usize = 16;

/// For each location of the slice, if runs were there.
pub fn candidates(
    cfa: &Cfa,
    gates: &Gates,
    bits: &[Bits],
    networks: &[Network],
) -> Vec<Option<Classes>> {
    let mut search = Search {
        cfa,
        bits,
        constants: constants(cfa),
        random: 0x9e37_79b9_7f4a_7c15,
        classes: bits.iter().map(|_| None).collect(),
        inputs: vec![],
        values: vec![],
    };
    let mut leaving = vec![vec![]; bits.len()];
    networks.iter().for_each(|n| leaving[n.from].push(n));
    let all: usize = networks.iter().map(Network::len).sum::<usize>().max(1);
    search.runs(gates, &leaving, RUNS.min(WORK / all));
    search.steps(&leaving, STEPS.min(WORK / all));
    search.classes
}

struct Search<'a> {
    cfa: &'a Cfa,
    bits: &'a [Bits],
    constants: HashMap<u32, Vec<Word>>,
    random: u64,
    classes: Vec<Option<Classes>>,
    /// Of the step that was simulated last.
    inputs: Vec<u64>,
    values: Vec<u64>,
}

/// States of runs that are at a location.
#[derive(Clone, Default)]
struct Bag {
    /// Which of the 64 there are.
    there: u64,
    /// A word for each live bit of the location: its value in each of the 64 runs.
    values: Vec<u64>,
}

impl Search<'_> {
    /// splitmix64.
    fn next(&mut self) -> u64 {
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.random;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn runs(&mut self, gates: &Gates, leaving: &[Vec<&Network>], rounds: usize) {
        let mut bags = vec![Bag::default(); self.bits.len()];
        bags[0] = Bag { there: u64::MAX, values: self.initial(gates) };
        self.classes[0] = Some(Classes::apart(&self.bits[0]));
        for _ in 0..rounds {
            for (from, networks) in leaving.iter().enumerate() {
                for network in networks {
                    if bags[from].there == 0 {
                        break;
                    }
                    let bag = std::mem::take(&mut bags[from]);
                    let took = self.step(network, bag.there, &bag.values);
                    bags[from] = bag;
                    if took != 0 {
                        let get = self.next_values(network);
                        let bag = &mut bags[network.to];
                        let put = took & (!bag.there | self.next());
                        bag.values.resize(get.len(), 0);
                        let both = bag.values.iter_mut().zip(get);
                        both.for_each(|(old, new)| *old = *old & !put | new & put);
                        bag.there |= put;
                    }
                }
            }
        }
    }

    fn steps(&mut self, leaving: &[Vec<&Network>], rounds: usize) {
        let mut quiet = 0;
        for _ in 0..rounds {
            let mut changed = false;
            for (from, networks) in leaving.iter().enumerate() {
                for network in networks {
                    let Some(classes) = self.classes[from].clone() else { break };
                    let free: Vec<u64> = classes.0.iter().map(|_| self.next()).collect();
                    let value = |class: &Lit| {
                        let value = class.var().checked_sub(1).map_or(u64::MAX, |p| free[p]);
                        value ^ if class.is_positive() { 0 } else { u64::MAX }
                    };
                    let state: Vec<u64> = classes.0.iter().map(value).collect();
                    let before = self.classes[network.to].as_ref().map(Classes::replaced);
                    self.step(network, u64::MAX, &state);
                    changed |= before != self.classes[network.to].as_ref().map(Classes::replaced);
                }
            }
            quiet = if changed { 0 } else { quiet + 1 };
            if quiet >= QUIET {
                break;
            }
        }
    }

    /// Takes an edge from those states, and lets what comes out split classes; which took it.
    fn step(&mut self, network: &Network, there: u64, state: &[u64]) -> u64 {
        self.sample(network);
        let mut values = std::mem::take(&mut self.values);
        network.simulate(state, &self.inputs, &mut values);
        let get = |l: Lit| values[l.var()] ^ if l.is_positive() { 0 } else { u64::MAX };
        let took = get(network.guard) & there;
        if took != 0 {
            let some = took.trailing_zeros();
            let next = |p: usize| get(network.next[p]);
            let classes = self.classes[network.to].get_or_insert_with(|| {
                Classes::constant((0..network.next.len()).map(|p| next(p) >> some & 1 == 1))
            });
            let value = |p: usize, flip: bool| (next(p) ^ if flip { u64::MAX } else { 0 }) & took;
            classes.split(&self.bits[network.to], value, took);
        }
        self.values = values;
        took
    }

    fn next_values(&self, network: &Network) -> Vec<u64> {
        let get = |l: &Lit| self.values[l.var()] ^ if l.is_positive() { 0 } else { u64::MAX };
        network.next.iter().map(get).collect()
    }

    /// Values of the initial location's bits: parameters are within their bounds.
    fn initial(&mut self, gates: &Gates) -> Vec<u64> {
        let mut words: HashMap<VarId, Vec<Word>> = HashMap::default();
        for (id, var) in self.cfa.params() {
            if let VarKind::Param { min, max } = var.kind {
                let span = max.wrapping_sub(min) & mask(var.width);
                let word = |random: u64| match span.checked_add(1) {
                    Some(count) => min.wrapping_add(random as Word % count) & mask(var.width),
                    None => random as Word,
                };
                words.insert(id, (0..64).map(|_| word(self.next())).collect());
            }
        }
        let flats = &self.bits[0].flats;
        let mut values = Vec::with_capacity(flats.len());
        for flat in flats {
            let (var, bit) = gates.blaster.state_bit(*flat);
            values.push(match words.get(&var) {
                Some(words) => lanes(words, bit),
                None => self.next(),
            });
        }
        values
    }

    /// Chooses inputs: any value, a small one, or a constant of the model.
    fn sample(&mut self, network: &Network) {
        self.inputs.clear();
        let mut words: Option<(InputId, Vec<Word>)> = None;
        for &(input, bit) in &network.inputs {
            let width = self.cfa.inputs[input.index()].width;
            if width == 1 {
                let value = self.next();
                self.inputs.push(value);
                continue;
            }
            if words.as_ref().is_none_or(|w| w.0 != input) {
                let all = (0..64).map(|_| self.word(width)).collect();
                words = Some((input, all));
            }
            self.inputs.push(words.as_ref().map_or(0, |w| lanes(&w.1, bit)));
        }
    }

    fn word(&mut self, width: u32) -> Word {
        let (choice, random) = (self.next(), self.next());
        let constants = self.constants.get(&width).map_or(&[][..], |c| c);
        match choice % 4 {
            0 | 1 if !constants.is_empty() => constants[random as usize % constants.len()],
            2 => (random % 4) as Word & mask(width),
            _ => (random as Word | (choice as Word) << 64) & mask(width),
        }
    }
}

/// One bit of 64 words.
fn lanes(words: &[Word], bit: u32) -> u64 {
    words.iter().rev().fold(0, |all, word| all << 1 | (word >> bit & 1) as u64)
}

/// Some constants of the model, for each width.
fn constants(cfa: &Cfa) -> HashMap<u32, Vec<Word>> {
    let mut found: HashMap<u32, Vec<Word>> = HashMap::default();
    for id in (0..cfa.pool.len() as u32).map(ExprId) {
        if let Expr::Const(word) = cfa.pool.get(id) {
            let all = found.entry(cfa.pool.width(id)).or_default();
            if all.len() < CONSTANTS {
                all.push(word);
            }
        }
    }
    found
}
