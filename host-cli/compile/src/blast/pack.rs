//! Numbers bits, inputs and gates as an image wants them, and writes it.

use super::{BlastError, Map, Model};
use crate::gates::aig::{Lit, Node};
use crate::gates::{Blaster, Cone, Gates, Leaf, Liveness};
use vouch_core::image::{
    BuildError, EdgeSpec, ImageBuilder, LocationSpec, ParamSpec, PropertySpec,
};
use vouch_ir::{Cfa, InputId, Type, VarKind};

/// Writes the image.
pub fn pack(cfa: &Cfa, source_hash: [u8; 32], gates: &Gates) -> Result<Model, BlastError> {
    let Gates { blaster, slice, live } = gates;
    let numbers = Numbers::new(cfa, blaster, live);
    let live_bits: Vec<Vec<u32>> = (live.locations.iter())
        .map(|bits| bits.iter().map(|flat| numbers.global(*flat)).collect())
        .collect();
    let mut edges = vec![];
    let mut edge_inputs = vec![];
    let mut vars = vec![0; blaster.graph().len()];
    for cone in &live.edges {
        let (edge, inputs) = pack_edge(blaster, live, cone, &mut vars)?;
        edges.push(edge);
        edge_inputs.push(inputs);
    }
    let mut properties = vec![];
    for p in &cfa.properties {
        // A slice has every error location.
        let error = slice.position[p.error.index()].ok_or(BlastError::TooLarge)?;
        properties.push(PropertySpec { name: p.name.clone(), error });
    }
    let builder = ImageBuilder {
        name: cfa.name.clone(),
        source_hash,
        state_bits: numbers.flats.len() as u32,
        locations: live_bits.iter().map(|live| LocationSpec { live: live.clone() }).collect(),
        edges,
        properties,
        params: pack_params(cfa, blaster, &numbers)?,
        certificate: vec![],
        program: None,
    };
    let image = builder.build().map_err(|e| match e {
        BuildError::TooLarge { .. } => BlastError::TooLarge,
        BuildError::Invalid(why) => BlastError::Internal(why),
    })?;
    let map = Map {
        bits: numbers.flats.iter().map(|flat| blaster.state_bit(*flat)).collect(),
        locations: slice.locations.clone(),
        live: live_bits,
        edges: slice.edges.clone(),
        edge_inputs,
        params: cfa.params().map(|(id, _)| id).collect(),
        unreachable: slice.unreachable.clone(),
    };
    Ok(Model { image, map })
}

/// The global state bits: those that are live somewhere, and all those of parameters.
struct Numbers {
    /// The flat number of each, ascending.
    flats: Vec<u32>,
}

impl Numbers {
    fn new(cfa: &Cfa, blaster: &Blaster, live: &Liveness) -> Numbers {
        let mut flats: Vec<u32> = live.locations.iter().flatten().copied().collect();
        for (id, var) in cfa.params() {
            flats.extend((0..var.width).map(|bit| blaster.flat(id, bit)));
        }
        flats.sort_unstable();
        flats.dedup();
        Numbers { flats }
    }

    /// The global number of a flat bit.
    fn global(&self, flat: u32) -> u32 {
        self.flats.partition_point(|f| *f < flat) as u32
    }
}

fn pack_params(
    cfa: &Cfa,
    blaster: &Blaster,
    numbers: &Numbers,
) -> Result<Vec<ParamSpec>, BlastError> {
    let mut params = vec![];
    for (id, var) in cfa.params() {
        let too_wide = || BlastError::ParamTooWide { name: var.name.clone(), width: var.width };
        let VarKind::Param { min, max } = var.kind else { continue };
        let narrow = |value| u64::try_from(value).map_err(|_| too_wide());
        let width = u8::try_from(var.width).ok().filter(|w| *w <= 64).ok_or_else(too_wide)?;
        params.push(ParamSpec {
            name: var.name.clone(),
            first_bit: numbers.global(blaster.flat(id, 0)),
            width,
            min: narrow(min)?,
            max: narrow(max)?,
            signed: var.ty == Type::Signed,
        });
    }
    Ok(params)
}

/// An edge, and what its input bits are. `vars` has room for the variable of each node.
fn pack_edge(
    blaster: &Blaster,
    live: &Liveness,
    cone: &Cone,
    vars: &mut [u32],
) -> Result<(EdgeSpec, Vec<(InputId, u32)>), BlastError> {
    let graph = blaster.graph();
    let source = &live.locations[cone.from as usize];
    let mut inputs: Vec<(InputId, u32, u32)> = vec![];
    vars[0] = 0;
    for &node in &cone.nodes {
        match blaster.leaf(node as usize) {
            // What an edge reads is live at its source.
            Some(Leaf::State(flat)) => {
                let at = source.binary_search(&flat).unwrap_or_else(|at| at);
                vars[node as usize] = 1 + at as u32;
            }
            Some(Leaf::Input(input, bit)) => inputs.push((input, bit, node)),
            None => {}
        }
    }
    inputs.sort_unstable();
    let first_input = 1 + source.len() as u32;
    for (at, (_, _, node)) in inputs.iter().enumerate() {
        vars[*node as usize] = first_input + at as u32;
    }

    let mut free = u32::try_from(1 + source.len() + inputs.len()).ok();
    let mut gates = vec![];
    // Operands have smaller numbers than their users, so this order is topological.
    for &node in &cone.nodes {
        let code = |l: Lit| vars[l.var()] * 2 + !l.is_positive() as u32;
        gates.push(match graph.node(node as usize) {
            Node::True | Node::Leaf(_) => continue,
            Node::And(a, b) => [code(a), code(b), 1],
            Node::Xor(a, b) => [code(a), code(!b), code(b)],
            Node::Mux(s, t, e) => [code(s), code(t), code(e)],
        });
        let var = free.filter(|v| *v < u32::MAX / 4).ok_or(BlastError::TooLarge)?;
        vars[node as usize] = var;
        free = Some(var + 1);
    }
    let code = |l: Lit| vars[l.var()] * 2 + !l.is_positive() as u32;
    let edge = EdgeSpec {
        from: cone.from,
        to: cone.to,
        inputs: inputs.len() as u32,
        gates,
        guard: code(cone.guard),
        next: cone.next.iter().map(|l| code(*l)).collect(),
    };
    Ok((edge, inputs.into_iter().map(|(input, bit, _)| (input, bit)).collect()))
}
