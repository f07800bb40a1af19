//! Running the engine on an image to the end, and collecting all that comes out.

use crate::image_oracle::Clause;
use vouch_core::certificate::{Check, Checker};
use vouch_core::ic3::{Config, Engine, Plan, Stats, Status, Verdict};
use vouch_core::image::Image;
use vouch_core::word::Word;

/// A run in terms of the image.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    /// The property it breaks.
    pub property: usize,
    /// The initial location's live bits.
    pub initial: u64,
    /// Edges and inputs.
    pub steps: Vec<(usize, u64)>,
}

/// All that comes out of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outcome {
    /// One for each property.
    pub verdicts: Vec<Verdict>,
    /// One for each property that is unsafe.
    pub traces: Vec<Trace>,
    /// The invariant, if something is safe.
    pub clauses: Vec<Clause>,
    /// The engine's counters at the end of the run.
    pub stats: Stats,
}

/// How to run.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Bytes of memory.
    pub memory: usize,
    /// Slices: the engine gets these budgets in turn.
    pub slices: Vec<u32>,
    /// Parameters to bind.
    pub bind: Vec<(usize, u64)>,
    /// Clauses to start from.
    pub seeds: Vec<Clause>,
    /// The engine's own choices.
    pub config: Config,
}

impl Default for Setup {
    fn default() -> Self {
        Setup {
            memory: 1 << 20,
            slices: vec![u32::MAX],
            bind: vec![],
            seeds: vec![],
            config: Config::default(),
        }
    }
}

/// Bytes in words, for alignment.
pub fn aligned(bytes: &[u8]) -> Vec<u32> {
    let chunks = bytes.chunks(4);
    chunks
        .map(|c| {
            let mut word = [0; 4];
            word[..c.len()].copy_from_slice(c);
            u32::from_le_bytes(word)
        })
        .collect()
}

/// The fewest bytes with which the engine begins.
pub fn least<W: Word>(bytes: &[u8]) -> usize {
    let words = aligned(bytes);
    let view: &[u8] = bytemuck::cast_slice(&words);
    let image = Image::<W>::new_checked(&view[..bytes.len()]).expect("a valid image");
    Plan::new(&image, 0).map_or_else(|shortage| shortage.needed as usize, |_| 0)
}

/// Runs the engine; `None` if the memory does not even hold its fixed part.
pub fn run<W: Word>(bytes: &[u8], setup: &Setup) -> Option<Outcome> {
    let words = aligned(bytes);
    let view: &[u8] = bytemuck::cast_slice(&words);
    let image = Image::<W>::new_checked(&view[..bytes.len()]).expect("a valid image");
    let plan = Plan::new(&image, setup.memory).ok()?;
    assert!(plan.bytes() <= setup.memory, "{} of {}", plan.bytes(), setup.memory);
    let mut memory = vec![0xdead_beef; plan.bytes() / 4];
    let memory = memory.as_mut_slice();
    let mut engine = Engine::new(&image, plan, setup.config, memory);
    for (param, value) in &setup.bind {
        engine.bind(&image, memory, *param, *value).expect("a value in range");
    }
    for (location, lits) in &setup.seeds {
        engine.seed(&image, memory, *location, lits);
    }
    let mut traces = Vec::new();
    for i in 0.. {
        match engine.step(&image, memory, setup.slices[i % setup.slices.len()]) {
            Status::Running => {}
            Status::Finished => break,
            Status::Broken { property } => {
                let mut out = [0; 8];
                engine.trace_initial(&image, memory, &mut out).expect("few bits");
                let initial = u64::from_le_bytes(out);
                let steps = (0..engine.trace_len()).map(|i| {
                    let mut out = [0; 8];
                    let edge = engine.trace_step(&image, memory, i, &mut out).expect("a step");
                    (edge, u64::from_le_bytes(out))
                });
                traces.push(Trace { property, initial, steps: steps.collect() });
            }
        }
    }
    let verdicts: Vec<Verdict> =
        (0..image.header.properties as usize).map(|p| engine.verdict(memory, p)).collect();
    let mut clauses = Vec::new();
    if verdicts.contains(&Verdict::Safe) {
        let mut out = vec![0; image.header.max_live as usize];
        let mut cursor = 0;
        while let Some(found) = engine.clause(&image, memory, cursor, &mut out) {
            clauses.push((found.location, out[..found.len].to_vec()));
            cursor = found.next;
        }
    }
    Some(Outcome { verdicts, traces, clauses, stats: engine.stats() })
}

/// The table that a device stores: clauses with sorted literals.
pub fn certificate_table<W: Word>(clauses: &[Clause]) -> Vec<W> {
    let record = |(location, lits): &Clause| {
        let mut lits = lits.clone();
        lits.sort();
        [*location, lits.len()]
            .into_iter()
            .chain(lits.into_iter().map(|l| l as usize))
            .map(W::of)
            .collect::<Vec<W>>()
    };
    clauses.iter().flat_map(record).collect()
}

/// What the core's certificate checker says, in slices of `budget`; and its work.
pub fn recheck<W: Word>(
    bytes: &[u8],
    clauses: &[Clause],
    properties: &[usize],
    bindings: &[(usize, u64)],
    budget: u32,
) -> (Check, u64) {
    let words = aligned(bytes);
    let view: &[u8] = bytemuck::cast_slice(&words);
    let image = Image::<W>::new_checked(&view[..bytes.len()]).expect("a valid image");
    let table = certificate_table::<W>(clauses);
    let mut checker = match Checker::new(&image, &table, properties.iter().copied()) {
        Ok(checker) => checker,
        Err(flaw) => return (Check::Invalid(flaw), 0),
    };
    let mut memory = vec![0; Checker::bytes(&image, &table) / 4];
    loop {
        match checker.step(&image, &table, bindings, &mut memory, budget) {
            Check::Running => {}
            result => return (result, checker.propagations()),
        }
    }
}
