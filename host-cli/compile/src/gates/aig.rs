//! A hash-consed graph of gates: AND, XOR and MUX, with complemented edges.
//!
//! An image's gate is an if-then-else, so XOR and MUX cost as little there as AND does and are nodes
//! of their own. Each request is rewritten before it becomes a node: constants fold, an operand that
//! decides another is put into it, and AND shapes that spell XOR or MUX become those.
//!
//! Invariants: operands have smaller numbers than their user; AND operands ascend; XOR operands
//! ascend and are positive; a MUX's selector and then-branch are positive; no operand is constant.
//! Every rewrite either ends or continues with operands of a smaller sum, so rewriting terminates.

use rustc_hash::FxHashMap as HashMap;
pub use vouch_core::lit::Lit;

/// A node. Literals in it point to earlier nodes.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Node {
    /// The constant; only node 0.
    True,
    /// A free variable, by the caller's number for it.
    Leaf(u32),
    /// Conjunction of two literals, in ascending order.
    And(Lit, Lit),
    /// Exclusive or of two positive literals, in ascending order.
    Xor(Lit, Lit),
    /// `if s then t else e`.
    Mux(Lit, Lit, Lit),
}

/// What became of a request for a node.
enum Rewrite {
    /// It is this literal.
    Done(Lit),
    /// It is this other request, negated or not.
    Again(Node, bool),
    /// It is a node of its own, in this normal form, negated or not.
    Keep(Node, bool),
}
use Rewrite::{Again, Done, Keep};

/// The nodes in topological order, each only once; node 0 is the constant.
#[derive(Clone, Debug)]
pub struct Graph {
    nodes: Vec<Node>,
    index: HashMap<Node, u32>,
}

impl Default for Graph {
    fn default() -> Graph {
        Graph { nodes: vec![Node::True], index: HashMap::default() }
    }
}

impl Graph {
    /// Number of nodes, constant and leaves included.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.nodes.len()
    }
    /// The node with this number.
    pub fn node(&self, index: usize) -> Node {
        self.nodes[index]
    }
    /// The nodes that a node reads.
    pub fn operands(&self, index: usize) -> impl Iterator<Item = usize> + use<> {
        let (list, n) = match self.nodes[index] {
            Node::True | Node::Leaf(_) => ([Lit::TRUE; 3], 0),
            Node::And(a, b) | Node::Xor(a, b) => ([a, b, b], 2),
            Node::Mux(s, t, e) => ([s, t, e], 3),
        };
        list.into_iter().take(n).map(Lit::var)
    }

    /// The literal of a leaf.
    pub fn leaf(&mut self, number: u32) -> Lit {
        self.intern(Node::Leaf(number))
    }
    /// The literal of `a AND b`: rewritten, and shared with an equal node.
    pub fn and(&mut self, a: Lit, b: Lit) -> Lit {
        self.build(Node::And(a, b))
    }
    /// The literal of `a OR b`, as a complemented AND.
    pub fn or(&mut self, a: Lit, b: Lit) -> Lit {
        !self.and(!a, !b)
    }
    /// The literal of `a XOR b`: rewritten, and shared with an equal node.
    pub fn xor(&mut self, a: Lit, b: Lit) -> Lit {
        self.build(Node::Xor(a, b))
    }
    /// `if s then t else e`.
    pub fn mux(&mut self, s: Lit, t: Lit, e: Lit) -> Lit {
        self.build(Node::Mux(s, t, e))
    }

    /// Literals that hold if `lit` does, by their variables; all that a conjunction says at once.
    pub fn conjuncts(&self, lit: Lit) -> HashMap<usize, Lit> {
        let mut found = HashMap::default();
        let mut stack = vec![lit];
        while let Some(lit) = stack.pop() {
            if lit.var() != 0 && found.insert(lit.var(), lit).is_none() {
                self.as_and(lit).into_iter().for_each(|(a, b)| stack.extend([a, b]));
            }
        }
        found
    }

    /// What `root` is when the literals of `holding` hold, as [`Graph::conjuncts`] gives them. `done` has
    /// what other nodes are then, and is filled.
    pub fn under(
        &mut self,
        root: Lit,
        holding: &HashMap<usize, Lit>,
        done: &mut HashMap<usize, Lit>,
    ) -> Lit {
        let mut stack = vec![root.var()];
        while let Some(&node) = stack.last() {
            vouch_ir::deadline::tick();
            let before = stack.len();
            if !done.contains_key(&node) {
                if let Some(lit) = holding.get(&node) {
                    done.insert(node, Lit::FALSE.negated_if(lit.is_positive()));
                } else {
                    stack.extend(self.operands(node).filter(|o| !done.contains_key(o)));
                    if stack.len() == before {
                        let new = self.with_operands(node, done);
                        done.insert(node, new);
                    }
                }
            }
            if stack.len() == before {
                stack.pop();
            }
        }
        done[&root.var()].negated_if(!root.is_positive())
    }

    /// A node with other operands.
    fn with_operands(&mut self, node: usize, done: &HashMap<usize, Lit>) -> Lit {
        let same = Lit::new(node, true);
        if self.operands(node).all(|o| done[&o] == Lit::new(o, true)) {
            return same;
        }
        let get = |l: Lit| done[&l.var()].negated_if(!l.is_positive());
        match self.nodes[node] {
            Node::True | Node::Leaf(_) => same,
            Node::And(a, b) => self.and(get(a), get(b)),
            Node::Xor(a, b) => self.xor(get(a), get(b)),
            Node::Mux(s, t, e) => self.mux(get(s), get(t), get(e)),
        }
    }

    /// The value of every node, 64 valuations at once.
    pub fn simulate(&self, leaf: impl Fn(u32) -> u64) -> Vec<u64> {
        let mut values: Vec<u64> = Vec::with_capacity(self.nodes.len());
        for node in &self.nodes {
            let get = |l: Lit| values[l.var()] ^ if l.is_positive() { 0 } else { u64::MAX };
            let value = match *node {
                Node::True => u64::MAX,
                Node::Leaf(number) => leaf(number),
                Node::And(a, b) => get(a) & get(b),
                Node::Xor(a, b) => get(a) ^ get(b),
                Node::Mux(s, t, e) => (get(s) & get(t)) | (!get(s) & get(e)),
            };
            values.push(value);
        }
        values
    }

    fn intern(&mut self, node: Node) -> Lit {
        let nodes = &mut self.nodes;
        let index = *self.index.entry(node).or_insert_with(|| {
            nodes.push(node);
            nodes.len() as u32 - 1
        });
        Lit::new(index as usize, true)
    }

    fn build(&mut self, mut request: Node) -> Lit {
        let mut negated = false;
        loop {
            let rewrite = match request {
                Node::And(a, b) => self.rewrite_and(a, b),
                Node::Xor(a, b) => self.rewrite_xor(a, b),
                Node::Mux(s, t, e) => self.rewrite_mux(s, t, e),
                Node::True | Node::Leaf(_) => Keep(request, false),
            };
            match rewrite {
                Done(lit) => return lit.negated_if(negated),
                Again(node, flip) => {
                    request = node;
                    negated ^= flip;
                }
                Keep(node, flip) => return self.intern(node).negated_if(negated ^ flip),
            }
        }
    }

    /// The operands of a literal that is an AND and not negated.
    fn as_and(&self, lit: Lit) -> Option<(Lit, Lit)> {
        match self.nodes[lit.var()] {
            Node::And(a, b) if lit.is_positive() => Some((a, b)),
            _ => None,
        }
    }

    /// What `lit` is when `given` is true, if that is a literal that exists already.
    fn assume(&self, lit: Lit, given: Lit) -> Option<Lit> {
        if lit.var() == given.var() {
            return Some(if lit == given { Lit::TRUE } else { Lit::FALSE });
        }
        let under = match self.nodes[lit.var()] {
            Node::And(a, b) if a == given => Some(b),
            Node::And(a, b) if b == given => Some(a),
            Node::And(a, b) if a == !given || b == !given => Some(Lit::FALSE),
            Node::Xor(a, b) if a.var() == given.var() => Some(b.negated_if(given.is_positive())),
            Node::Xor(a, b) if b.var() == given.var() => Some(a.negated_if(given.is_positive())),
            Node::Mux(s, t, e) if s.var() == given.var() => {
                Some(if given.is_positive() { t } else { e })
            }
            _ => None,
        };
        under.map(|l| l.negated_if(!lit.is_positive()))
    }

    fn rewrite_and(&self, a: Lit, b: Lit) -> Rewrite {
        if a == Lit::TRUE || a == b {
            return Done(b);
        }
        if b == Lit::TRUE {
            return Done(a);
        }
        if a == Lit::FALSE || b == Lit::FALSE || a == !b {
            return Done(Lit::FALSE);
        }
        for (x, y) in [(a, b), (b, a)] {
            if self.as_and(y).is_some_and(|(p, q)| p == x || q == x) {
                return Done(y);
            }
            if let Some(under) = self.assume(y, x) {
                return Again(Node::And(x, under), false);
            }
            if let Some((p, q)) = self.as_and(x) {
                for given in [p, q] {
                    if let Some(under) = self.assume(y, given) {
                        return Again(Node::And(x, under), false);
                    }
                }
            }
        }
        // Neither of two products with a complementary factor: a choice by that factor.
        if let (Some(x), Some(y)) = (self.as_and(!a), self.as_and(!b))
            && let Some((s, t, e)) = complementary(x, y)
        {
            return Again(Node::Mux(s, !t, !e), false);
        }
        Keep(Node::And(a.min(b), a.max(b)), false)
    }

    fn rewrite_xor(&self, a: Lit, b: Lit) -> Rewrite {
        let flip = a.is_positive() != b.is_positive();
        let (a, b) = (Lit::new(a.var(), true), Lit::new(b.var(), true));
        if a == b {
            return Done(Lit::FALSE.negated_if(flip));
        }
        if a == Lit::TRUE {
            return Done(!b.negated_if(flip));
        }
        if b == Lit::TRUE {
            return Done(!a.negated_if(flip));
        }
        for (x, y) in [(a, b), (b, a)] {
            match self.nodes[y.var()] {
                Node::And(p, q) if p.var() == x.var() || q.var() == x.var() => {
                    let (same, other) = if p.var() == x.var() { (p, q) } else { (q, p) };
                    let to = Node::And(same, !other);
                    return Again(to, flip ^ !same.is_positive());
                }
                Node::Xor(p, q) if p == x => return Done(q.negated_if(flip)),
                Node::Xor(p, q) if q == x => return Done(p.negated_if(flip)),
                Node::Mux(s, t, e) if s == x => return Again(Node::Mux(s, !t, e), flip),
                _ => {}
            }
        }
        match (self.nodes[a.var()], self.nodes[b.var()]) {
            (Node::Xor(p, q), Node::Xor(r, s)) => {
                for (same, x) in [(p, q), (q, p)] {
                    for (other, y) in [(r, s), (s, r)] {
                        if same == other {
                            return Again(Node::Xor(x, y), flip);
                        }
                    }
                }
            }
            (Node::And(p, q), Node::And(r, s)) => {
                if let Some((s, t, e)) = complementary((p, q), (r, s)) {
                    return Again(Node::Mux(s, t, e), flip);
                }
            }
            _ => {}
        }
        Keep(Node::Xor(a.min(b), a.max(b)), flip)
    }

    fn rewrite_mux(&self, s: Lit, t: Lit, e: Lit) -> Rewrite {
        if s == Lit::TRUE || t == e {
            return Done(t);
        }
        if s == Lit::FALSE {
            return Done(e);
        }
        let (s, t, e) = if s.is_positive() { (s, t, e) } else { (!s, e, t) };
        if t == !e {
            return Again(Node::Xor(s, e), false);
        }
        match (t, e) {
            (Lit::TRUE, _) => return Again(Node::And(!s, !e), true),
            (Lit::FALSE, _) => return Again(Node::And(!s, e), false),
            (_, Lit::TRUE) => return Again(Node::And(s, !t), true),
            (_, Lit::FALSE) => return Again(Node::And(s, t), false),
            _ => {}
        }
        let (then, other) = (self.assume(t, s), self.assume(e, !s));
        if then.is_some() || other.is_some() {
            return Again(Node::Mux(s, then.unwrap_or(t), other.unwrap_or(e)), false);
        }
        // What decides whether two bits are equal tells one of them from the other: in either branch the
        // earlier one will do.
        if let Node::Xor(p, q) = self.nodes[s.var()] {
            let earlier = |l: Lit, differ: bool| match l.var() == q.var() {
                true => p.negated_if(differ == l.is_positive()),
                false => l,
            };
            let (then, other) = (earlier(t, true), earlier(e, false));
            if (then, other) != (t, e) {
                return Again(Node::Mux(s, then, other), false);
            }
        }
        let flip = !t.is_positive();
        Keep(Node::Mux(s, t.negated_if(flip), e.negated_if(flip)), flip)
    }
}

/// For products `s & t` and `!s & e`: `(s, t, e)`.
fn complementary((p, q): (Lit, Lit), (r, s): (Lit, Lit)) -> Option<(Lit, Lit, Lit)> {
    [(p, q, r, s), (p, q, s, r), (q, p, r, s), (q, p, s, r)]
        .into_iter()
        .find(|(x, _, y, _)| *x == !*y)
        .map(|(x, t, _, e)| (x, t, e))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each operator on every pair or triple of a growing set of literals over three leaves: the
    /// node must have the right truth table, and the graph must stay in normal form.
    #[test]
    fn rewriting_keeps_truth_tables() {
        let table = [0xaa, 0xcc, 0xf0u64];
        let mut g = Graph::default();
        let mut lits = vec![Lit::TRUE];
        lits.extend((0..3).map(|i| g.leaf(i)));
        let sim = |g: &Graph| g.simulate(|i| table[i as usize]);
        let value = |values: &[u64], l: Lit| {
            (values[l.var()] ^ if l.is_positive() { 0 } else { u64::MAX }) & 0xff
        };
        for round in 0..3 {
            let signed: Vec<Lit> = lits.iter().flat_map(|l| [*l, !*l]).take(64).collect();
            let mut made = vec![];
            for &a in &signed {
                for &b in &signed {
                    made.push((g.and(a, b), [a, b, b], 0));
                    made.push((g.xor(a, b), [a, b, b], 1));
                    if round < 2 || a.var() < 8 {
                        for &c in &signed {
                            made.push((g.mux(a, b, c), [a, b, c], 2));
                        }
                    }
                }
            }
            let values = sim(&g);
            for (lit, args, op) in made {
                let [a, b, c] = args.map(|l| value(&values, l));
                let want = match op {
                    0 => a & b,
                    1 => a ^ b,
                    _ => (a & b) | (!a & 0xff & c),
                };
                assert_eq!(value(&values, lit), want, "op {op} of {args:?}");
            }
            lits = (0..g.len()).map(|i| Lit::new(i, true)).collect();
        }
        for i in 1..g.len() {
            assert!(g.operands(i).all(|o| o != 0 && o < i), "node {i}");
            match g.node(i) {
                Node::And(a, b) => assert!(a < b),
                Node::Xor(a, b) => assert!(a < b && a.is_positive() && b.is_positive()),
                Node::Mux(s, t, _) => assert!(s.is_positive() && t.is_positive()),
                Node::True | Node::Leaf(_) => {}
            }
        }
    }

    /// Under a condition, a gate has the value that it has wherever the condition holds.
    #[test]
    fn gates_under_a_condition() {
        let mut g = Graph::default();
        let (a, b, c, d) = (g.leaf(0), g.leaf(1), g.leaf(2), g.leaf(3));
        let ab = g.and(a, b);
        let guard = g.and(ab, !c);
        let table = [0xaaaa, 0xcccc, 0xf0f0, 0xff00u64];
        let (x, y) = (g.xor(c, d), g.mux(b, d, c));
        let roots = [x, !y, g.and(x, y), g.mux(x, a, y), g.xor(a, c), ab, !c, g.or(c, y)];
        let holding = g.conjuncts(guard);
        let mut done = HashMap::default();
        let under: Vec<Lit> = roots.iter().map(|r| g.under(*r, &holding, &mut done)).collect();
        assert_eq!(under[..3], [d, !d, d]);
        assert_eq!(under[5..7], [Lit::TRUE, Lit::TRUE]);
        let values = g.simulate(|i| table[i as usize]);
        let value = |l: Lit| values[l.var()] ^ if l.is_positive() { 0 } else { u64::MAX };
        for (before, after) in roots.into_iter().zip(under) {
            assert_eq!((value(before) ^ value(after)) & value(guard) & 0xffff, 0);
        }
    }

    #[test]
    fn identities_need_no_gate() {
        let mut g = Graph::default();
        let (a, b, c) = (g.leaf(0), g.leaf(1), g.leaf(2));
        let ab = g.and(a, b);
        let size = g.len();
        assert_eq!(g.and(a, ab), ab);
        assert_eq!(g.and(!a, ab), Lit::FALSE);
        assert_eq!(g.mux(a, b, Lit::FALSE), ab);
        assert_eq!(g.xor(!a, a), Lit::TRUE);
        assert_eq!(g.mux(c, ab, ab), ab);
        assert_eq!(g.mux(a, a, Lit::FALSE), a);
        let not_ab = g.and(a, !b);
        assert_eq!(g.or(ab, not_ab), a);
        assert_eq!(g.len(), size + 1);
    }

    #[test]
    fn products_become_choices() {
        let mut g = Graph::default();
        let (s, t, e) = (g.leaf(0), g.leaf(1), g.leaf(2));
        let (st, se) = (g.and(s, t), g.and(!s, e));
        let mux = g.mux(s, t, e);
        assert_eq!(g.or(st, se), mux);
        assert_eq!(g.xor(st, se), mux);
        let (x, y) = (g.and(s, !t), g.and(!s, t));
        let xor = g.xor(s, t);
        assert_eq!(g.or(x, y), xor);
        assert_eq!(g.xor(xor, t), s);
    }
}
