//! What the numbers of an image mean in the automaton that it was compiled from.

use serde::{Deserialize, Serialize};
use vouch_ir::{Cfa, EdgeId, InputId, LocId, VarId, VarKind};

/// From the numbers of an image back to the automaton.
///
/// Part of a file format: fields and variants keep their order, and a change is a new [version](crate::blast::debug::VERSION).
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Map {
    /// What each global state bit is.
    pub bits: Vec<(VarId, u32)>,
    /// Which location each of the image's is.
    pub locations: Vec<LocId>,
    /// The live bits of each of the image's locations, as global numbers, ascending.
    pub live: Vec<Vec<u32>>,
    /// Which edge each of the image's is.
    pub edges: Vec<EdgeId>,
    /// What each input bit of each of the image's edges is.
    pub edge_inputs: Vec<Vec<(InputId, u32)>>,
    /// Which variable each of the image's parameters is.
    pub params: Vec<VarId>,
    /// The locations that no path from the initial one enters. Of them the image has at most error
    /// locations, without edges.
    pub unreachable: Vec<LocId>,
}

impl Map {
    /// Whether every number in the map exists in `cfa`, so that it can be used without fear. A map
    /// that was read from a file may be anything.
    #[allow(clippy::result_unit_err)]
    pub fn check(&self, cfa: &Cfa) -> Result<(), ()> {
        let location = |l: &LocId| l.index() < cfa.locations.len();
        let bit =
            |(var, bit): &(VarId, u32)| cfa.vars.get(var.index()).is_some_and(|v| *bit < v.width);
        let input = |(input, bit): &(InputId, u32)| {
            cfa.inputs.get(input.index()).is_some_and(|i| *bit < i.width)
        };
        let param = |p: &VarId| {
            let kind = cfa.vars.get(p.index()).map(|v| v.kind);
            matches!(kind, Some(VarKind::Param { .. }))
        };
        let live = |bits: &Vec<u32>| {
            bits.is_sorted_by(|a, b| a < b)
                && bits.last().is_none_or(|b| (*b as usize) < self.bits.len())
        };
        let good = self.bits.iter().all(bit)
            && self.locations.first() == Some(&cfa.init)
            && self.locations.iter().all(location)
            && self.live.len() == self.locations.len()
            && self.live.iter().all(live)
            && self.edges.iter().all(|e| e.index() < cfa.edges.len())
            && self.edge_inputs.len() == self.edges.len()
            && self.edge_inputs.iter().flatten().all(input)
            && self.params.iter().all(param)
            && self.unreachable.iter().all(location);
        if good { Ok(()) } else { Err(()) }
    }
}
