//! Random model images: automata of gates, without any source.

use crate::rng::Rng;
use vouch_core::image::{EdgeSpec, ImageBuilder, LocationSpec, ParamSpec, PropertySpec};

/// Sizes to draw from.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// Most inner locations.
    pub locations: usize,
    /// Most state bits.
    pub bits: usize,
    /// Most inputs of an edge.
    pub inputs: usize,
    /// Most gates of an edge.
    pub gates: usize,
    /// Most properties of the image.
    pub properties: usize,
}

impl Shape {
    /// Shapes that differ in what they stress; `seed` chooses.
    pub fn choose(seed: u64) -> Shape {
        match seed % 8 {
            0 => Shape { locations: 1, bits: 6, inputs: 2, gates: 14, properties: 1 },
            1 => Shape { locations: 2, bits: 4, inputs: 1, gates: 8, properties: 2 },
            2 => Shape { locations: 6, bits: 3, inputs: 2, gates: 6, properties: 1 },
            3 => Shape { locations: 4, bits: 5, inputs: 3, gates: 20, properties: 3 },
            4 => Shape { locations: 8, bits: 2, inputs: 1, gates: 4, properties: 2 },
            5 => Shape { locations: 3, bits: 7, inputs: 2, gates: 24, properties: 1 },
            // Deep networks, in which the solver has to search and to learn.
            6 => Shape { locations: 1, bits: 8, inputs: 4, gates: 90, properties: 1 },
            _ => Shape { locations: 2, bits: 7, inputs: 5, gates: 60, properties: 2 },
        }
    }
}

/// A random image of the shape that the seed chooses.
pub fn generate(seed: u64) -> ImageBuilder {
    let shape = Shape::choose(seed);
    let mut rng = Rng::new(seed);
    let inner = 1 + rng.below(shape.locations);
    let properties = 1 + rng.below(shape.properties);
    let bits = 1 + rng.below(shape.bits);
    // One run in four has a parameter: its bits are the last ones and live wherever it may matter.
    let param_bits = if rng.one_in(4) { 1 + rng.below(2) } else { 0 };
    let total = bits + param_bits;
    let params: Vec<u32> = (bits..total).map(|b| b as u32).collect();
    let mut locations = vec![LocationSpec { live: params.clone() }];
    for _ in 0..inner {
        let mut live: Vec<u32> = (0..bits as u32).filter(|_| !rng.one_in(5)).collect();
        live.extend(&params);
        locations.push(LocationSpec { live });
    }
    for _ in 0..properties {
        locations.push(LocationSpec::default());
    }
    let mut edges = Vec::new();
    let inner_location = |rng: &mut Rng| 1 + rng.below(inner);
    // The initial location always has an edge, mostly to one location, with chosen values.
    for _ in 0..1 + rng.below(2) {
        let to = inner_location(&mut rng);
        edges.push(edge(&mut rng, &shape, &locations, 0, to, bits));
    }
    for _ in 0..inner + rng.below(2 * inner + 1) {
        let from = inner_location(&mut rng);
        let to = if rng.one_in(3) { from } else { inner_location(&mut rng) };
        edges.push(edge(&mut rng, &shape, &locations, from, to, bits));
    }
    for p in 0..properties {
        for _ in 0..1 + rng.below(2) {
            let from = if rng.one_in(20) { 0 } else { inner_location(&mut rng) };
            edges.push(edge(&mut rng, &shape, &locations, from, 1 + inner + p, bits));
        }
    }
    let property = |p: usize| PropertySpec { name: format!("p{p}"), error: (1 + inner + p) as u32 };
    let param = ParamSpec {
        name: "k".into(),
        first_bit: bits as u32,
        width: param_bits as u8,
        min: 0,
        max: (1u64 << param_bits) - 1,
        signed: false,
    };
    ImageBuilder {
        name: format!("random {seed}"),
        source_hash: [0; 32],
        state_bits: total as u32,
        locations,
        edges,
        properties: (0..properties).map(property).collect(),
        params: if param_bits > 0 { vec![param] } else { vec![] },
        certificate: vec![],
        program: None,
    }
}

fn edge(
    rng: &mut Rng,
    shape: &Shape,
    locations: &[LocationSpec],
    from: usize,
    to: usize,
    bits: usize,
) -> EdgeSpec {
    let live = &locations[from].live;
    let inputs = rng.below(shape.inputs + 1);
    let first = 1 + live.len() + inputs;
    let mut gates = Vec::new();
    for g in 0..rng.below(shape.gates + 1) {
        let any = |rng: &mut Rng| {
            // Prefer recent gates, so that the network is deep.
            let vars = first + g;
            let near = vars.saturating_sub(6);
            let var = if rng.one_in(2) { near + rng.below(vars - near) } else { rng.below(vars) };
            (2 * var + rng.below(2)) as u32
        };
        let (a, b) = (any(rng), any(rng));
        gates.push(match rng.below(3) {
            0 => [a, b, 1],
            1 => [a, b ^ 1, b],
            _ => [a, b, any(rng)],
        });
    }
    let vars = first + gates.len();
    let late = |rng: &mut Rng| {
        let from = if rng.one_in(3) { 0 } else { vars / 2 };
        (2 * (from + rng.below(vars - from)) + rng.below(2)) as u32
    };
    let keeps = from != 0 && rng.one_in(2);
    let next = locations[to].live.iter().map(|bit| {
        let same = live.iter().position(|b| b == bit).map(|j| 2 * (1 + j) as u32);
        match same {
            Some(lit) if *bit as usize >= bits => lit,
            Some(lit) if keeps && !rng.one_in(3) => lit,
            // Initial values are mostly constants, or everything would be reachable at once.
            _ if from == 0 && !rng.one_in(4) => rng.below(2) as u32,
            _ => late(rng),
        }
    });
    let next = next.collect();
    let guard = if rng.one_in(4) { 0 } else { late(rng) };
    EdgeSpec { from: from as u32, to: to as u32, inputs: inputs as u32, gates, guard, next }
}
