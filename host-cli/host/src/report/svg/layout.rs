//! A layered layout: Sugiyama, Tagawa, Toda, Methods for visual understanding of hierarchical system
//! structures, 1981, with labels as nodes of their own layers (as in Gansner et al., A technique for
//! drawing directed graphs, 1993).
//!
//! Edges that close a cycle are turned round for the layout. An edge spans at least two layers, and
//! one of those in between holds its label, so that labels never lie on one another. Everything is
//! deterministic: the same graph gives the same picture.

use std::collections::BTreeMap;

/// Rounds of reordering the layers.
const SWEEPS: usize = 24;
/// Rounds of straightening the lines.
const ROUNDS: usize = 40;
/// How much more a point of a line wants to stay where it is than a box.
const STIFF: f64 = 4.0;
/// Distance of boxes in a layer.
const GAP: f64 = 22.0;
/// Distance of layers.
const RISE: f64 = 26.0;

/// Something that takes room.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Size {
    /// To the right.
    pub width: f64,
    /// Extent downwards, in SVG user units.
    pub height: f64,
}

/// What is to be laid out.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Graph {
    /// The boxes; the first is on top if edges allow it.
    pub boxes: Vec<Size>,
    /// From, to, and the label's size; not from a box to itself.
    pub edges: Vec<(usize, usize, Size)>,
}

/// Where everything is. Places are centres.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Placed {
    /// The centre of each box, in the order of [`Graph::boxes`].
    pub boxes: Vec<(f64, f64)>,
    /// For each edge the points it passes, from its source to its target.
    pub edges: Vec<Vec<(f64, f64)>>,
    /// For each edge its label.
    pub labels: Vec<(f64, f64)>,
    /// The room that all takes.
    pub size: (f64, f64),
}

/// A box, or a point of an edge, in a layer.
struct Node {
    size: Size,
    layer: usize,
    x: f64,
}

struct Layers {
    nodes: Vec<Node>,
    /// The nodes of each layer, from left to right.
    order: Vec<Vec<usize>>,
    above: Vec<Vec<usize>>,
    below: Vec<Vec<usize>>,
}

/// Lays a graph out.
pub fn lay_out(graph: &Graph) -> Placed {
    let turned = turned(graph);
    let ranks = ranks(graph, &turned);
    let nodes = (graph.boxes.iter().zip(&ranks))
        .map(|(size, rank)| Node { size: *size, layer: *rank, x: 0.0 })
        .collect();
    let mut layers = Layers { nodes, order: vec![], above: vec![], below: vec![] };
    let chains: Vec<Vec<usize>> = (graph.edges.iter().zip(&turned))
        .map(|((from, to, label), turned)| {
            let (top, bottom) = if *turned { (*to, *from) } else { (*from, *to) };
            layers.chain(top, bottom, *label)
        })
        .collect();
    layers.connect(&chains);
    layers.arrange();
    layers.straighten();
    layers.place(graph, &chains, &turned)
}

/// Which edges close a cycle when the boxes are visited in depth first.
fn turned(graph: &Graph) -> Vec<bool> {
    let count = graph.boxes.len();
    let mut out: Vec<Vec<(usize, usize)>> = vec![vec![]; count];
    for (e, (from, to, _)) in graph.edges.iter().enumerate() {
        out[*from].push((e, *to));
    }
    let mut turned = vec![false; graph.edges.len()];
    let (mut entered, mut left) = (vec![false; count], vec![false; count]);
    for root in 0..count {
        if entered[root] {
            continue;
        }
        entered[root] = true;
        let mut stack = vec![(root, 0)];
        while let Some((node, next)) = stack.pop() {
            match out[node].get(next) {
                None => left[node] = true,
                Some((e, to)) => {
                    stack.push((node, next + 1));
                    turned[*e] = entered[*to] && !left[*to];
                    if !entered[*to] {
                        entered[*to] = true;
                        stack.push((*to, 0));
                    }
                }
            }
        }
    }
    turned
}

/// The layer of each box: two below the lowest box above it.
fn ranks(graph: &Graph, turned: &[bool]) -> Vec<usize> {
    let mut ranks = vec![0; graph.boxes.len()];
    // Without cycles the longest path has fewer edges than there are boxes.
    for _ in 0..graph.boxes.len() {
        for ((from, to, _), turned) in graph.edges.iter().zip(turned) {
            let (top, bottom) = if *turned { (*to, *from) } else { (*from, *to) };
            ranks[bottom] = ranks[bottom].max(ranks[top] + 2);
        }
    }
    ranks
}

impl Layers {
    /// The points of an edge between two boxes, with its label in the middle.
    fn chain(&mut self, top: usize, bottom: usize, label: Size) -> Vec<usize> {
        let (first, last) = (self.nodes[top].layer, self.nodes[bottom].layer);
        let middle = (first + last) / 2;
        let middle = middle + (middle + 1) % 2;
        let mut chain = vec![top];
        for layer in first + 1..last {
            let size = if layer == middle { label } else { Size { width: 6.0, height: 0.0 } };
            self.nodes.push(Node { size, layer, x: 0.0 });
            chain.push(self.nodes.len() - 1);
        }
        chain.push(bottom);
        chain
    }

    /// Neighbours and a first order: as the nodes came to be.
    fn connect(&mut self, chains: &[Vec<usize>]) {
        let count = self.nodes.iter().map(|n| n.layer + 1).max().unwrap_or(0);
        self.order = vec![vec![]; count];
        self.above = vec![vec![]; self.nodes.len()];
        self.below = vec![vec![]; self.nodes.len()];
        for chain in chains {
            for pair in chain.windows(2) {
                self.below[pair[0]].push(pair[1]);
                self.above[pair[1]].push(pair[0]);
            }
        }
        for (n, node) in self.nodes.iter().enumerate() {
            self.order[node.layer].push(n);
        }
    }

    /// The places of nodes within their layers.
    fn positions(&self) -> Vec<usize> {
        let mut at = vec![0; self.nodes.len()];
        for layer in &self.order {
            for (i, n) in layer.iter().enumerate() {
                at[*n] = i;
            }
        }
        at
    }

    fn crossings(&self) -> usize {
        let at = self.positions();
        let mut all = 0;
        for layer in &self.order {
            let mut ends: Vec<(usize, usize)> = vec![];
            for n in layer {
                ends.extend(self.below[*n].iter().map(|b| (at[*n], at[*b])));
            }
            for (i, a) in ends.iter().enumerate() {
                all += ends[i + 1..]
                    .iter()
                    .filter(|b| (a.0 < b.0) == (a.1 > b.1) && a.0 != b.0 && a.1 != b.1)
                    .count();
            }
        }
        all
    }

    /// Orders each layer by the middle of its neighbours, downwards and upwards, as long as it helps.
    fn arrange(&mut self) {
        let mut best = (self.crossings(), self.order.clone());
        for sweep in 0..SWEEPS {
            let down = sweep % 2 == 0;
            let layers: Vec<usize> = match down {
                true => (0..self.order.len()).collect(),
                false => (0..self.order.len()).rev().collect(),
            };
            for layer in layers {
                let at = self.positions();
                let middle = |n: &usize| {
                    let near = if down { &self.above[*n] } else { &self.below[*n] };
                    let mut near: Vec<usize> = near.iter().map(|m| at[*m]).collect();
                    near.sort_unstable();
                    match near.len() {
                        0 => at[*n] as f64,
                        n => (near[(n - 1) / 2] + near[n / 2]) as f64 / 2.0,
                    }
                };
                let mut keyed: Vec<(f64, usize)> =
                    self.order[layer].iter().map(|n| (middle(n), *n)).collect();
                keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
                self.order[layer] = keyed.into_iter().map(|k| k.1).collect();
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.order.clone());
            }
        }
        self.order = best.1;
    }

    /// Moves nodes towards their neighbours, without changing the order.
    fn straighten(&mut self) {
        for layer in self.order.clone() {
            let wanted: Vec<f64> = layer.iter().enumerate().map(|(i, _)| i as f64 * 60.0).collect();
            self.settle(&layer, &wanted);
        }
        for round in 0..ROUNDS {
            let down = round % 2 == 0;
            let mut layers: Vec<Vec<usize>> = self.order.clone();
            if !down {
                layers.reverse();
            }
            for layer in layers {
                let wanted: Vec<f64> = (layer.iter())
                    .map(|n| {
                        let near: Vec<usize> = match round >= ROUNDS / 2 {
                            true => [&self.above[*n][..], &self.below[*n]].concat(),
                            false if down => self.above[*n].clone(),
                            false => self.below[*n].clone(),
                        };
                        let sum: f64 = near.iter().map(|m| self.nodes[*m].x).sum();
                        if near.is_empty() { self.nodes[*n].x } else { sum / near.len() as f64 }
                    })
                    .collect();
                self.settle(&layer, &wanted);
            }
        }
    }

    /// The places nearest to those wanted (least squares) that keep order and distance.
    fn settle(&mut self, layer: &[usize], wanted: &[f64]) {
        let mut offset = 0.0;
        let mut offsets = vec![];
        for (i, n) in layer.iter().enumerate() {
            if i > 0 {
                let widths = self.nodes[layer[i - 1]].size.width + self.nodes[*n].size.width;
                offset += widths / 2.0 + GAP;
            }
            offsets.push(offset);
        }
        // Without the distances, the places must only ascend: neighbours that do not are pooled.
        let mut pools: Vec<(f64, f64, usize)> = vec![];
        for ((want, offset), n) in wanted.iter().zip(&offsets).zip(layer) {
            let is_line = self.above[*n].len() == 1 && self.below[*n].len() == 1;
            pools.push((want - offset, if is_line { STIFF } else { 1.0 }, 1));
            while let [.., a, b] = pools[..]
                && a.0 > b.0
            {
                let weight = a.1 + b.1;
                let mean = (a.0 * a.1 + b.0 * b.1) / weight;
                pools.truncate(pools.len() - 2);
                pools.push((mean, weight, a.2 + b.2));
            }
        }
        let places = pools.iter().flat_map(|pool| std::iter::repeat_n(pool.0, pool.2));
        for ((n, place), offset) in layer.iter().zip(places).zip(offsets) {
            self.nodes[*n].x = place + offset;
        }
    }

    fn place(&self, graph: &Graph, chains: &[Vec<usize>], turned: &[bool]) -> Placed {
        let left = self.nodes.iter().map(|n| n.x - n.size.width / 2.0).fold(f64::MAX, f64::min);
        let left = if left == f64::MAX { 0.0 } else { left };
        let mut y = 0.0;
        let mut middles = vec![];
        let mut heights = vec![];
        for layer in &self.order {
            let heights_here = layer.iter().map(|n| self.nodes[*n].size.height);
            let height = heights_here.fold(0.0, f64::max);
            middles.push(y + height / 2.0);
            heights.push(height);
            y += height + RISE;
        }
        let at = |n: usize| (self.nodes[n].x - left, middles[self.nodes[n].layer]);
        let ports = self.ports(chains);
        let boxes = (0..graph.boxes.len()).map(at).collect();
        let mut placed = Placed { boxes, ..Placed::default() };
        for ((chain, turned), ports) in chains.iter().zip(turned).zip(ports) {
            let (top, bottom) = (chain[0], chain[chain.len() - 1]);
            let half = |n: usize| self.nodes[n].size.height / 2.0;
            let mut points = vec![(at(top).0 + ports.0, at(top).1 + half(top))];
            for n in &chain[1..chain.len() - 1] {
                // Through the whole layer straight, so that lines do not cut the corners of boxes.
                let (x, y) = at(*n);
                let height = heights[self.nodes[*n].layer] / 2.0;
                points.extend([(x, y - height), (x, y + height)]);
            }
            points.push((at(bottom).0 + ports.1, at(bottom).1 - half(bottom)));
            let label = chain[1..chain.len() - 1].iter().max_by(|a, b| {
                let width = |n: usize| self.nodes[n].size.height;
                width(**a).total_cmp(&width(**b))
            });
            placed.labels.push(label.map_or(points[0], |n| at(*n)));
            if *turned {
                points.reverse();
            }
            placed.edges.push(points);
        }
        let right = self.nodes.iter().map(|n| n.x - left + n.size.width / 2.0).fold(0.0, f64::max);
        placed.size = (right, (y - RISE).max(0.0));
        placed
    }

    /// Where each edge leaves its upper box and enters its lower one, from the boxes' middles.
    fn ports(&self, chains: &[Vec<usize>]) -> Vec<(f64, f64)> {
        let mut sides: BTreeMap<(usize, bool), Vec<(f64, usize)>> = BTreeMap::new();
        for (e, chain) in chains.iter().enumerate() {
            let x = |n: usize| self.nodes[n].x;
            let (top, bottom) = (chain[0], chain[chain.len() - 1]);
            sides.entry((top, true)).or_default().push((x(chain[1]), e));
            sides.entry((bottom, false)).or_default().push((x(chain[chain.len() - 2]), e));
        }
        let mut ports = vec![(0.0, 0.0); chains.len()];
        for ((node, is_top), mut edges) in sides {
            edges.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
            let room = self.nodes[node].size.width - 24.0;
            let step = (room / edges.len() as f64).min(26.0);
            for (i, (_, e)) in edges.iter().enumerate() {
                let offset = (i as f64 - (edges.len() - 1) as f64 / 2.0) * step;
                if is_top { ports[*e].0 = offset } else { ports[*e].1 = offset }
            }
        }
        ports
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn graph(boxes: usize, edges: &[(usize, usize)]) -> Graph {
        let size = |i: usize| Size { width: 60.0 + 10.0 * (i % 5) as f64, height: 30.0 };
        let label = Size { width: 80.0, height: 15.0 };
        Graph {
            boxes: (0..boxes).map(size).collect(),
            edges: edges.iter().map(|(a, b)| (*a, *b, label)).collect(),
        }
    }

    /// Boxes and labels do not overlap, lines end at their boxes, and all is within the picture.
    fn is_readable(graph: &Graph) {
        let placed = lay_out(graph);
        let boxes = placed.boxes.iter().zip(&graph.boxes).map(|(at, size)| (*at, *size));
        let labels = placed.labels.iter().zip(&graph.edges).map(|(at, e)| (*at, e.2));
        let all: Vec<((f64, f64), Size)> = boxes.chain(labels).collect();
        for (i, ((x, y), a)) in all.iter().enumerate() {
            let left = x - a.width / 2.0;
            assert!(left > -0.01 && x + a.width / 2.0 < placed.size.0 + 0.01, "{placed:?}");
            assert!(*y >= 0.0 && *y <= placed.size.1 + 0.01);
            for ((u, v), b) in &all[i + 1..] {
                let apart = (x - u).abs() + 0.01 >= (a.width + b.width) / 2.0
                    || (y - v).abs() + 0.01 >= (a.height + b.height) / 2.0;
                assert!(apart, "{graph:?}\n{placed:?}");
            }
        }
        for (points, (from, to, _)) in placed.edges.iter().zip(&graph.edges) {
            for (point, end) in [(points[0], *from), (points[points.len() - 1], *to)] {
                let (x, y) = placed.boxes[end];
                let size = graph.boxes[end];
                assert!((point.0 - x).abs() <= size.width / 2.0, "{points:?}");
                assert!(((point.1 - y).abs() - size.height / 2.0).abs() < 0.01, "{points:?}");
            }
        }
        assert_eq!(lay_out(graph), placed, "the same again");
    }

    #[test]
    fn small_graphs() {
        is_readable(&graph(1, &[]));
        is_readable(&graph(2, &[(0, 1), (1, 0)]));
        is_readable(&graph(4, &[(0, 1), (0, 2), (1, 3), (2, 3), (3, 0)]));
        is_readable(&graph(3, &[(2, 1), (1, 0)]));
        assert_eq!(lay_out(&Graph::default()), Placed::default());
    }

    #[test]
    fn random_graphs() {
        let mut state = 1u64;
        let mut next = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 33) as usize % below
        };
        for _ in 0..60 {
            let boxes = 1 + next(12);
            let mut edges: Vec<(usize, usize)> =
                (0..next(25)).map(|_| (next(boxes), next(boxes))).filter(|(a, b)| a != b).collect();
            edges.sort_unstable();
            edges.dedup();
            is_readable(&graph(boxes, &edges));
        }
    }
}
