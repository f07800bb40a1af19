//! The abstract reachability tree (§2): nodes, each with a location and clauses, and which of them are covered.
//!
//! - The root is at the initial location, with what parameters are bound to.
//! - A node's clauses hold wherever the edge from its parent leads, given the parent's clauses.
//! - A node that is *covered* by an older one, whose clauses follow from its own, need not be expanded, nor
//!   anything below it.
//! - A node with the empty clause is *dead*: no run comes there on that path.

use super::query::{Lits, is_subset};

/// A node's number, in the order of creation.
pub type Id = usize;

/// A node of the tree: a location, reached on the path from the root.
pub struct Node {
    /// Where it is.
    pub location: usize,
    /// The node above, and the edge from there.
    pub parent: Option<(Id, usize)>,
    /// Nodes below; `None` if it was not expanded.
    pub children: Option<Vec<Id>>,
    /// What holds there. Only ever grows.
    pub clauses: Vec<Lits>,
    /// The node that covers it.
    pub cover: Option<Id>,
    /// The nodes that it covers.
    pub covers: Vec<Id>,
    /// Clauses of the node above at the same location that were tried here.
    pub tried: usize,
}

impl Node {
    /// Whether it has the empty clause.
    pub fn is_dead(&self) -> bool {
        self.clauses.last().is_some_and(Vec::is_empty)
    }
}

/// The abstract reachability tree: nodes only ever get added, with more clauses over time.
#[derive(Default)]
pub struct Tree {
    /// All nodes, by number.
    pub nodes: Vec<Node>,
    /// The nodes of each location, ascending.
    pub at: Vec<Vec<Id>>,
    /// Literals of all clauses.
    pub lits: usize,
}

impl Tree {
    /// The tree of a root at location 0, among so many locations.
    pub fn new(locations: usize) -> Tree {
        let mut tree = Tree { at: vec![vec![]; locations], ..Tree::default() };
        tree.add(0, None);
        tree
    }

    /// Adds a node of which nothing is known.
    pub fn add(&mut self, location: usize, parent: Option<(Id, usize)>) -> Id {
        let id = self.nodes.len();
        self.nodes.push(Node {
            location,
            parent,
            children: None,
            clauses: vec![],
            cover: None,
            covers: vec![],
            tried: 0,
        });
        self.at[location].push(id);
        id
    }

    /// The node and all above, upwards.
    pub fn upwards(&self, id: Id) -> impl Iterator<Item = Id> + '_ {
        std::iter::successors(Some(id), |id| Some(self.nodes[*id].parent?.0))
    }

    /// The nodes from one down to another below it.
    pub fn path(&self, from: Id, to: Id) -> Vec<Id> {
        let mut path: Vec<Id> = self.upwards(to).take_while(|id| *id != from).collect();
        path.push(from);
        path.reverse();
        path
    }

    /// Whether it, or a node above it, is covered or dead: nothing is to be done there.
    pub fn is_closed(&self, id: Id) -> bool {
        self.upwards(id).any(|id| self.nodes[id].cover.is_some() || self.nodes[id].is_dead())
    }

    /// Adds a clause to a node. Returns whether it says something new.
    pub fn strengthen(&mut self, id: Id, clause: Lits) -> bool {
        let clauses = &mut self.nodes[id].clauses;
        if clauses.iter().any(|own| is_subset(own, &clause)) {
            return false;
        }
        self.lits += clause.len();
        clauses.push(clause);
        true
    }

    /// Marks a node as covered by another. What the node, or one below it, covers is no longer.
    pub fn cover(&mut self, id: Id, by: Id) {
        self.nodes[id].cover = Some(by);
        self.nodes[by].covers.push(id);
        self.release_below(id);
    }

    /// Uncovers all that a node or one below it covers.
    pub fn release_below(&mut self, id: Id) {
        let mut stack = vec![id];
        while let Some(id) = stack.pop() {
            for covered in std::mem::take(&mut self.nodes[id].covers) {
                self.uncover(covered, id);
            }
            stack.extend(self.nodes[id].children.iter().flatten());
        }
    }

    /// A node is no longer covered by another, if it was.
    pub fn uncover(&mut self, id: Id, by: Id) {
        self.nodes[id].cover = self.nodes[id].cover.filter(|cover| *cover != by);
    }
}
