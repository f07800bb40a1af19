//! The complete validation of an image's tables, done once when it is accepted.

use super::header::{ImageError, Table};
use super::view::{EDGE_WORDS, Image, LOCATION_WORDS};
use crate::word::Word;

/// `Err(table)` unless `holds`.
fn ensure(holds: bool, table: Table) -> Result<(), ImageError> {
    if holds { Ok(()) } else { Err(ImageError::Table(table)) }
}

/// Whether `len` items from `start` on lie in a table of `size`.
fn fits(start: u32, len: usize, size: usize) -> bool {
    (start as usize).checked_add(len).is_some_and(|end| end <= size)
}

impl<W: Word> Image<'_, W> {
    /// Every invariant that [`super`] lists.
    pub(super) fn check(&self) -> Result<(), ImageError> {
        self.check_locations()?;
        self.check_edges()?;
        self.check_in_edges()?;
        self.check_names()?;
        ensure(self.program().is_none_or(|program| program.is_valid()), Table::Program)
    }

    fn check_locations(&self) -> Result<(), ImageError> {
        let h = &self.header;
        let count = self.locations();
        ensure(count >= 1, Table::Locations)?;
        ensure(Some(self.locations.len()) == count.checked_mul(LOCATION_WORDS), Table::Locations)?;
        for r in self.locations.chunks_exact(LOCATION_WORDS) {
            ensure(fits(r[0], r[1] as usize, self.live.len()), Table::Live)?;
            ensure(fits(r[2], r[3] as usize, self.in_edges.len()), Table::InEdges)?;
            ensure(r[1] <= h.max_live, Table::Live)?;
            let live = &self.live[r[0] as usize..][..r[1] as usize];
            ensure(live.windows(2).all(|p| p[0] < p[1]), Table::Live)?;
            ensure(live.last().is_none_or(|b| b.get() < h.state_bits as usize), Table::Live)?;
        }
        Ok(())
    }

    fn check_edges(&self) -> Result<(), ImageError> {
        let h = &self.header;
        ensure(Some(self.edges.len()) == self.edges().checked_mul(EDGE_WORDS), Table::Edges)?;
        // A literal of the largest edge must fit into a word, and so must a count of its fan-outs.
        ensure((h.max_vars as usize) < W::MAX_INDEX / 2, Table::Edges)?;
        // Edges from one location may have one network, which is looked at once if they are near each other.
        let mut checked = [[0; 4]; 4];
        for (index, r) in self.edges.chunks_exact(EDGE_WORDS).enumerate() {
            let (from, to) = (r[0] as usize, r[1] as usize);
            ensure(from < self.locations() && to < self.locations() && to != 0, Table::Edges)?;
            let live = self.locations[from * LOCATION_WORDS + 1] as usize;
            let bits = self.locations[to * LOCATION_WORDS + 1] as usize;
            let (inputs, gates) = (r[2] as usize, r[3] as usize);
            ensure(inputs <= h.max_inputs as usize, Table::Edges)?;
            let vars = live.checked_add(inputs).and_then(|n| n.checked_add(gates));
            let vars =
                vars.and_then(|n| n.checked_add(1)).ok_or(ImageError::Table(Table::Edges))?;
            ensure(vars <= h.max_vars as usize, Table::Edges)?;
            ensure(fits(r[4], 3 * gates, self.gates.len()), Table::Gates)?;
            ensure(fits(r[5], bits, self.next.len()), Table::Next)?;
            ensure(fits(r[6], vars + 1, self.fan_out.len()), Table::FanOut)?;
            ensure((r[7] as usize) < 2 * vars, Table::Edges)?;
            let next = &self.next[r[5] as usize..][..bits];
            ensure(next.iter().all(|l| l.get() < 2 * vars), Table::Next)?;
            let network = [vars as u32, r[3], r[4], r[6]];
            if !checked.contains(&network) {
                let gate_words = &self.gates[r[4] as usize..][..3 * gates];
                let fan = &self.fan_out[r[6] as usize..];
                check_gates(gate_words, vars - gates, fan, vars)?;
                checked[index % checked.len()] = network;
            }
        }
        Ok(())
    }

    /// In-edge lists are the exact inverse of the targets: ascending, right, and as many as edges.
    fn check_in_edges(&self) -> Result<(), ImageError> {
        let mut total = 0;
        for (l, r) in self.locations.chunks_exact(LOCATION_WORDS).enumerate() {
            let list = &self.in_edges[r[2] as usize..][..r[3] as usize];
            ensure(list.windows(2).all(|p| p[0] < p[1]), Table::InEdges)?;
            for e in list {
                ensure(e.get() < self.edges() && self.ends(e.get()).1 == l, Table::InEdges)?;
            }
            total += list.len();
        }
        ensure(total == self.edges(), Table::InEdges)
    }

    fn check_names(&self) -> Result<(), ImageError> {
        let h = &self.header;
        ensure(self.properties().count() == h.properties as usize, Table::Names)?;
        ensure(self.params().count() == h.params as usize, Table::Names)?;
        for p in self.properties() {
            let error = p.error as usize;
            ensure(error != 0 && error < self.locations(), Table::Names)?;
            ensure(self.location(error).live.is_empty(), Table::Names)?;
            ensure((0..self.edges()).all(|e| self.ends(e).0 != error), Table::Names)?;
        }
        for p in self.params() {
            ensure(p.width >= 1 && p.width <= 64, Table::Names)?;
            let end = p.first_bit.checked_add(p.width as u32);
            ensure(end.is_some_and(|end| end <= h.state_bits), Table::Names)?;
            self.check_param_kept(p.first_bit as usize, p.width as usize)?;
        }
        Ok(())
    }

    /// No edge but an initial one changes a parameter: what is bound stays bound.
    fn check_param_kept(&self, first: usize, width: usize) -> Result<(), ImageError> {
        for index in 0..self.edges() {
            let edge = self.edge(index);
            let (source, target) = (self.location(edge.from).live, self.location(edge.to).live);
            for (j, bit) in target.iter().enumerate() {
                if (first..first + width).contains(&bit.get()) {
                    let at =
                        source.binary_search(bit).map_err(|_| ImageError::Table(Table::Names))?;
                    let same = crate::lit::Lit::new(1 + at, true);
                    ensure(edge.next(j) == same, Table::Names)?;
                }
            }
        }
        Ok(())
    }
}

/// Gates read only earlier variables, and the fan-out lists are their exact inverse: each entry is
/// right, no list repeats one, and there are as many entries as gates have distinct operands.
fn check_gates<W: Word>(
    gates: &[W],
    first: usize,
    fan: &[W],
    vars: usize,
) -> Result<(), ImageError> {
    let mut operands = 0;
    for (g, lits) in gates.chunks_exact(3).enumerate() {
        let [a, b, c] = operands_of(lits);
        ensure(a.max(b).max(c) < first + g, Table::Gates)?;
        // Each once, without the constant.
        operands += usize::from(a != 0);
        operands += usize::from(b != 0 && b != a);
        operands += usize::from(c != 0 && c != a && c != b);
    }
    let (index, entries) = fan.split_at(vars + 1);
    // The constant, variable 0, has no list.
    ensure(index[0].get() == 0 && index[1].get() == 0, Table::FanOut)?;
    ensure(index[vars].get() == operands && operands <= entries.len(), Table::FanOut)?;
    let mut start = 0;
    for (var, end) in index[1..].iter().enumerate() {
        let list = entries.get(start..end.get()).ok_or(ImageError::Table(Table::FanOut))?;
        start = end.get();
        let mut least = first;
        for gate in list {
            let gate = gate.get();
            ensure((least..vars).contains(&gate), Table::FanOut)?;
            least = gate + 1;
            let [a, b, c] = operands_of(&gates[(gate - first) * 3..][..3]);
            ensure(a == var || b == var || c == var, Table::FanOut)?;
        }
    }
    Ok(())
}

/// The variables that a gate reads.
#[inline(always)]
pub(super) fn operands_of<W: Word>(lits: &[W]) -> [usize; 3] {
    [lits[0].get() / 2, lits[1].get() / 2, lits[2].get() / 2]
}
