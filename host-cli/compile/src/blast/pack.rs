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
    let mut edges = vec![EdgeSpec::default(); live.edges.len()];
    let mut edge_inputs = vec![vec![]; live.edges.len()];
    let mut vars = vec![0; blaster.graph().len()];
    for share in shares(&live.edges) {
        let from = &live.locations[share.from as usize];
        let network = pack_network(blaster, from, &share.nodes, &mut vars)?;
        for number in share.edges {
            edges[number] = pack_edge(&live.edges[number], &network, &vars);
            edge_inputs[number].clone_from(&network.inputs);
        }
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

/// More gates than a device has room for: their edges do not share networks.
const MANY: usize = 1 << 16;

/// Edges from one location that share a network.
struct Share {
    from: u32,
    edges: Vec<usize>,
    /// All nodes that they depend on, ascending.
    nodes: Vec<u32>,
}

/// What edges compute.
struct Network {
    /// What each input bit is.
    inputs: Vec<(InputId, u32)>,
    /// Operands of each gate.
    gates: Vec<[u32; 3]>,
}

/// Which edges share a network. What leaves a location tests and changes the same variables, so that most of the
/// gates are the same, and an image that has them once is much smaller. But the solver's memory grows with the
/// largest network, and its time with the gates that an edge does not need: those that share are alike, and
/// hardly larger together than the largest edge.
fn shares(edges: &[Cone]) -> Vec<Share> {
    let sizes = || edges.iter().map(|cone| cone.nodes.len());
    let largest = sizes().max().unwrap_or(0);
    let most = largest + largest / 8;
    let is_small = sizes().sum::<usize>() <= MANY;
    let mut shares: Vec<Share> = vec![];
    for (number, cone) in edges.iter().enumerate() {
        let fits = |share: &mut Share| {
            if share.from != cone.from {
                return None;
            }
            let nodes = union(&share.nodes, &cone.nodes);
            let mut both = [share.nodes.len(), cone.nodes.len()];
            both.sort_unstable();
            // At least half of the smaller one is in the larger one.
            let alike = nodes.len() <= both[1] + both[0] / 2;
            (alike && nodes.len() <= most).then_some(nodes)
        };
        let mut others = shares.iter_mut().filter(|_| is_small);
        let found = others.find_map(|share| fits(share).map(|nodes| (share, nodes)));
        match found {
            Some((share, nodes)) => {
                share.edges.push(number);
                share.nodes = nodes;
            }
            None => shares.push(Share {
                from: cone.from,
                edges: vec![number],
                nodes: cone.nodes.clone(),
            }),
        }
    }
    shares
}

/// What is in one of two ascending lists, ascending.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all = [a, b].concat();
    all.sort_unstable();
    all.dedup();
    all
}

/// The network of some nodes. `vars` has room for the variable of each node of the graph, and gets those of these.
fn pack_network(
    blaster: &Blaster,
    source: &[u32],
    nodes: &[u32],
    vars: &mut [u32],
) -> Result<Network, BlastError> {
    let graph = blaster.graph();
    let mut inputs: Vec<(InputId, u32, u32)> = vec![];
    vars[0] = 0;
    for &node in nodes {
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
    for &node in nodes {
        let code = |l: Lit| code(vars, l);
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
    let inputs = inputs.into_iter().map(|(input, bit, _)| (input, bit)).collect();
    Ok(Network { inputs, gates })
}

/// An edge with its network.
fn pack_edge(cone: &Cone, network: &Network, vars: &[u32]) -> EdgeSpec {
    EdgeSpec {
        from: cone.from,
        to: cone.to,
        inputs: network.inputs.len() as u32,
        gates: network.gates.clone(),
        guard: code(vars, cone.guard),
        next: cone.next.iter().map(|l| code(vars, *l)).collect(),
    }
}

/// A literal of the graph as one of an edge.
fn code(vars: &[u32], l: Lit) -> u32 {
    vars[l.var()] * 2 + !l.is_positive() as u32
}
