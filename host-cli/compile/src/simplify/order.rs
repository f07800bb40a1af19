//! Words that are only copied and compared.
//!
//! What such words are does not matter, only how they compare (data independence: Wolper, POPL'86; with an order: Lazić,
//! 1999): identifiers that a protocol passes on, priorities, addresses of nodes. Bit by bit an invariant about them takes a clause
//! for each pair of values. Here each two of them, and each of them with each constant, get variables that say
//! whether they are equal and whether the first is less; what was a comparison reads these, and where a word is copied, its
//! relations are. Then nobody reads the words any more but where they are chosen, and later passes drop them.
//!
//! Nothing is lost by it: a comparison whose words have no relations yet stays what it is. Certificates speak of
//! relations as [terms](vouch_ir::Term).

use super::back::Step;
use super::{derived, loops};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::live::Live;
use vouch_ir::{
    BinOp, Cfa, Edge, Expr, ExprId, LocId, Operand, Pool, Term, VarId, Word, eval, mask,
};

/// Words that are less wide than this are left alone: their values are few.
const NARROWEST: u32 = 4;
/// Words of a class: with fewer, little is compared.
const FEWEST: usize = 3;
/// Relations of all classes, and relations times edges.
const MOST: usize = 3000;
const WORK: usize = 2_000_000;
/// Parts of one choice.
const CHOICES: usize = 64;

/// Replaces comparisons of words that are only copied and compared.
pub fn run(cfa: &mut Cfa) -> Step {
    let step = Step::unchanged(cfa);
    let (edges, vars, before) = (cfa.edges.clone(), cfa.vars.len(), cfa.pool.len());
    narrow_choices(cfa);
    let live = Live::of(cfa);
    let mut classes = Classes::of(cfa).independent();
    let (whole, expressions) = (cfa.edges.clone(), cfa.pool.len());
    while !classes.is_empty() {
        let Some(terms) = replace(cfa, &live, &classes) else { break };
        let count = classes.len();
        let after = Live::of(cfa);
        classes.retain(|class| pays(cfa, &live, &after, class));
        if classes.len() == count {
            return Step { terms, ..step };
        }
        cfa.vars.truncate(vars);
        cfa.pool.truncate(expressions);
        cfa.edges = whole.clone();
    }
    cfa.pool.truncate(before);
    cfa.edges = edges;
    step
}

/// Gives these classes relations, which it returns; `None` if these were too many.
fn replace(cfa: &mut Cfa, live: &Live, classes: &[Class]) -> Option<Vec<Term>> {
    let mut relations = Relations::default();
    classes.iter().for_each(|class| relations.add(cfa, live, class));
    let count = relations.terms.len();
    if count > MOST || count * cfa.edges.len() > WORK {
        return None;
    }
    let first = cfa.vars.len() as u32;
    for term in &relations.terms {
        derived::add_var(cfa, term, 1);
    }
    for at in 0..cfa.edges.len() {
        let edge = cfa.edges[at].clone();
        cfa.edges[at] = Rewriting::new(cfa, live, &relations, first, edge).edge();
    }
    Some(relations.terms)
}

/// Whether there is a loop in which the words of a class were needed and are no more. Where words are chosen anew all the
/// time, they are.
fn pays(cfa: &Cfa, before: &Live, after: &Live, class: &Class) -> bool {
    let needed = |live: &Live, l| class.vars.iter().filter(|v| live.has(l, **v)).count();
    let is_free = |l: &LocId| needed(before, *l) >= FEWEST && needed(after, *l) == 0;
    let locations = (0..cfa.locations.len() as u32).map(LocId);
    loops::is_one(cfa, &locations.filter(is_free).collect())
}

/// A choice among words that are extended, of which only that much is used, becomes one among the words: C extends
/// whatever it chooses.
fn narrow_choices(cfa: &mut Cfa) {
    let roots: Vec<ExprId> = cfa.edges.iter().flat_map(Edge::roots).collect();
    let mut done: HashMap<ExprId, ExprId> = HashMap::default();
    for id in cfa.pool.cone(roots) {
        let width = cfa.pool.width(id);
        let expr = cfa.pool.get(id).map_operands(|x| done[&x]);
        let short = match expr {
            Expr::Slice { x, lo } => narrow_choice(&mut cfa.pool, x, (lo, width), &mut { CHOICES }),
            _ => None,
        };
        let new = short.unwrap_or_else(|| cfa.pool.make(expr, width));
        done.insert(id, new);
    }
    cfa.edges.iter_mut().for_each(|edge| edge.map_roots(|x| done[&x]));
}

/// So many bits of a choice from `lo` on, if it has no more than `left` parts.
fn narrow_choice(
    pool: &mut Pool,
    x: ExprId,
    (lo, width): (u32, u32),
    left: &mut usize,
) -> Option<ExprId> {
    *left = left.checked_sub(1)?;
    match pool.get(x) {
        Expr::Ite(c, t, e) => {
            let t = narrow_choice(pool, t, (lo, width), left)?;
            let e = narrow_choice(pool, e, (lo, width), left)?;
            Some(pool.ite(c, t, e))
        }
        Expr::Extend { .. } | Expr::Const(_) => Some(pool.slice(x, lo, width)),
        _ => None,
    }
}

/// What copies and comparisons are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Leaf {
    Var(VarId),
    Const(Word),
    Input,
    Other(ExprId),
}

/// How wide a leaf is, and how it is extended to the width of what it is part of.
type Form = (u32, Option<bool>);

/// The values that a choice among several can have.
#[derive(Default)]
struct Leaves {
    all: Vec<(Leaf, Form)>,
    conditions: Vec<ExprId>,
}

impl Leaves {
    fn find(&mut self, pool: &Pool, root: ExprId) {
        let mut seen = HashSet::default();
        let mut stack = vec![(root, None)];
        while let Some((id, extended)) = stack.pop() {
            if !seen.insert((id, extended)) {
                continue;
            }
            if seen.len() > CHOICES {
                self.all.push((Leaf::Other(root), (pool.width(root), None)));
                return;
            }
            let leaf = match pool.get(id) {
                Expr::Ite(c, t, e) => {
                    self.conditions.push(c);
                    stack.extend([(t, extended), (e, extended)]);
                    continue;
                }
                Expr::Extend { x, signed } if extended.is_none() => {
                    stack.push((x, Some(signed)));
                    continue;
                }
                Expr::Var(var) => Leaf::Var(var),
                Expr::Const(value) => Leaf::Const(value),
                Expr::Input(_) => Leaf::Input,
                _ => Leaf::Other(id),
            };
            self.all.push((leaf, (pool.width(id), extended)));
        }
    }

    fn vars(&self) -> impl Iterator<Item = VarId> + '_ {
        self.all.iter().filter_map(|(leaf, _)| match leaf {
            Leaf::Var(var) => Some(*var),
            _ => None,
        })
    }

    /// The form that all of them have or can be given; `None` if there is no such form, or there are only constants.
    fn form(&self) -> Option<Form> {
        let is_const = |leaf: &Leaf| matches!(leaf, Leaf::Const(_));
        let form = self.all.iter().find(|(leaf, _)| !is_const(leaf))?.1;
        let has = |(leaf, own): &(Leaf, Form)| match leaf {
            Leaf::Other(_) => false,
            Leaf::Const(value) => *own == form || narrowed(*value, own.0, form).is_some(),
            Leaf::Var(_) | Leaf::Input => *own == form,
        };
        self.all.iter().all(has).then_some(form)
    }
}

/// The constant that is this one when it is extended from a form.
fn narrowed(value: Word, width: u32, (narrow, extended): Form) -> Option<Word> {
    let low = value & mask(narrow);
    let whole = match extended? {
        true => eval::sign_extend(low, narrow) & mask(width),
        false => low,
    };
    (whole == value).then_some(low)
}

/// Variables that are copied to each other or compared.
struct Classes<'a> {
    cfa: &'a Cfa,
    /// A variable of the same class that comes before, or itself.
    up: Vec<VarId>,
    /// Whose value matters, not only how it compares.
    is_read: Vec<bool>,
    constants: Vec<BTreeSet<Word>>,
    /// Which orders matter, signed ones or not.
    orders: Vec<BTreeSet<bool>>,
    is_compared: Vec<bool>,
    seen: HashSet<ExprId>,
}

/// Words of one width that have to do with each other.
struct Class {
    vars: Vec<VarId>,
    constants: BTreeSet<Word>,
    orders: BTreeSet<bool>,
}

impl<'a> Classes<'a> {
    fn of(cfa: &'a Cfa) -> Classes<'a> {
        let count = cfa.vars.len();
        let mut classes = Classes {
            cfa,
            up: (0..count as u32).map(VarId).collect(),
            is_read: vec![false; count],
            constants: vec![BTreeSet::new(); count],
            orders: vec![BTreeSet::new(); count],
            is_compared: vec![false; count],
            seen: HashSet::default(),
        };
        for edge in &cfa.edges {
            classes.read(edge.guard);
            edge.updates.iter().for_each(|(var, value)| classes.assign(*var, *value));
        }
        classes
    }

    fn root(&self, mut var: VarId) -> VarId {
        while self.up[var.index()] != var {
            var = self.up[var.index()];
        }
        var
    }

    /// Looks at what an edge needs the bits of.
    fn read(&mut self, root: ExprId) {
        let mut stack = vec![root];
        while let Some(id) = stack.pop() {
            if !self.seen.insert(id) {
                continue;
            }
            let pool = &self.cfa.pool;
            match pool.get(id) {
                Expr::Var(var) => self.is_read[var.index()] = true,
                Expr::Binary(op, a, b) if order(op).is_some() && pool.width(a) > 1 => {
                    let mut leaves = Leaves::default();
                    leaves.find(pool, a);
                    let left = leaves.vars().next().is_some();
                    let before = leaves.all.len();
                    leaves.find(pool, b);
                    let right = leaves.all[before..].iter().any(|l| matches!(l.0, Leaf::Var(_)));
                    let form = self.join(&leaves, None, &mut stack);
                    if let (Some((_, extended)), Some(var)) = (form, leaves.vars().next()) {
                        self.is_compared[var.index()] |= left && right;
                        if let Some(is_signed) = order(op).flatten() {
                            self.orders[var.index()].insert(is_signed && extended != Some(false));
                        }
                    }
                }
                _ => stack.extend(pool.operands(id)),
            }
        }
    }

    fn assign(&mut self, var: VarId, value: ExprId) {
        let pool = &self.cfa.pool;
        let mut stack = vec![];
        if pool.width(value) == 1 {
            stack.push(value);
        } else {
            let mut leaves = Leaves::default();
            leaves.find(pool, value);
            self.join(&leaves, Some(var), &mut stack);
        }
        stack.into_iter().for_each(|id| self.read(id));
    }

    /// Puts variables into one class. If that is not possible their values matter. What else is to be read is put on
    /// the stack.
    fn join(
        &mut self,
        leaves: &Leaves,
        to: Option<VarId>,
        stack: &mut Vec<ExprId>,
    ) -> Option<Form> {
        stack.extend(&leaves.conditions);
        stack.extend(leaves.all.iter().filter_map(|l| match l.0 {
            Leaf::Other(id) => Some(id),
            _ => None,
        }));
        let form = leaves.form().filter(|form| to.is_none() || form.1.is_none());
        let constants = leaves.all.iter().all(|l| matches!(l.0, Leaf::Const(_)));
        let mut vars = leaves.vars().chain(to);
        let Some(first) = vars.next() else { return form };
        if form.is_none() && !(constants && to.is_some()) {
            self.is_read[first.index()] = true;
            vars.for_each(|var| self.is_read[var.index()] = true);
            return None;
        }
        for var in vars {
            let (a, b) = (self.root(first), self.root(var));
            self.up[a.index().max(b.index())] = a.min(b);
        }
        for (leaf, own) in &leaves.all {
            if let Leaf::Const(value) = leaf {
                let low = form.and_then(|form| narrowed(*value, own.0, form)).unwrap_or(*value);
                self.constants[first.index()].insert(low);
            }
        }
        form
    }

    /// The classes that are worth it.
    fn independent(&self) -> Vec<Class> {
        let mut all: BTreeMap<VarId, Vec<VarId>> = BTreeMap::new();
        for var in (0..self.cfa.vars.len() as u32).map(VarId) {
            all.entry(self.root(var)).or_default().push(var);
        }
        let width = |v: &VarId| self.cfa.vars[v.index()].width;
        let is_one = |vars: &Vec<VarId>| {
            vars.len() >= FEWEST
                && width(&vars[0]) >= NARROWEST
                && vars.iter().all(|v| width(v) == width(&vars[0]) && !self.is_read[v.index()])
                && vars.iter().any(|v| self.is_compared[v.index()])
        };
        let class = |vars: Vec<VarId>| Class {
            constants: vars
                .iter()
                .flat_map(|v| self.constants[v.index()].iter().copied())
                .collect(),
            orders: vars.iter().flat_map(|v| self.orders[v.index()].iter().copied()).collect(),
            vars,
        };
        all.into_values().filter(is_one).map(class).collect()
    }
}

/// Of a comparison: whether it is one of order, and then whether of signed words.
fn order(op: BinOp) -> Option<Option<bool>> {
    match op {
        BinOp::Eq => Some(None),
        BinOp::Ult | BinOp::Ule => Some(Some(false)),
        BinOp::Slt | BinOp::Sle => Some(Some(true)),
        _ => None,
    }
}

/// The new variables.
#[derive(Default)]
struct Relations {
    terms: Vec<Term>,
    known: HashMap<(BinOp, VarId, Operand), usize>,
    members: HashSet<VarId>,
}

impl Relations {
    fn add(&mut self, cfa: &Cfa, live: &Live, class: &Class) {
        let locations = || (0..cfa.locations.len() as u32).map(LocId).filter(|l| *l != cfa.init);
        let ops: Vec<BinOp> =
            std::iter::once(BinOp::Eq).chain(class.orders.iter().map(|s| less(*s))).collect();
        for (at, var) in class.vars.iter().enumerate() {
            let meets =
                |other: &&VarId| locations().any(|l| live.has(l, *var) && live.has(l, **other));
            if !meets(&var) {
                continue;
            }
            self.members.insert(*var);
            let others = class.vars[at + 1..].iter().filter(meets).map(|v| Operand::Var(*v));
            for right in others.chain(class.constants.iter().map(|c| Operand::Const(*c))) {
                for op in &ops {
                    self.known.insert((*op, *var, right), self.terms.len());
                    self.terms.push(Term { op: *op, left: Operand::Var(*var), right });
                }
            }
        }
    }
}

fn less(is_signed: bool) -> BinOp {
    if is_signed { BinOp::Slt } else { BinOp::Ult }
}

/// An edge that gets new expressions.
struct Rewriting<'a> {
    cfa: &'a mut Cfa,
    live: &'a Live,
    relations: &'a Relations,
    /// The first of the new variables.
    first: u32,
    edge: Edge,
    done: HashMap<ExprId, ExprId>,
    compared: HashMap<(BinOp, ExprId, ExprId), ExprId>,
}

impl<'a> Rewriting<'a> {
    fn new(
        cfa: &'a mut Cfa,
        live: &'a Live,
        relations: &'a Relations,
        first: u32,
        edge: Edge,
    ) -> Rewriting<'a> {
        let (done, compared) = (HashMap::default(), HashMap::default());
        Rewriting { cfa, live, relations, first, edge, done, compared }
    }

    fn edge(mut self) -> Edge {
        for id in self.cfa.pool.cone(self.edge.roots()) {
            let width = self.cfa.pool.width(id);
            let new = match self.cfa.pool.get(id) {
                Expr::Binary(op, a, b) if order(op).is_some() && self.is_ours(a, b) => {
                    self.compare(op, a, b)
                }
                expr => {
                    let expr = expr.map_operands(|x| self.done[&x]);
                    self.cfa.pool.make(expr, width)
                }
            };
            self.done.insert(id, new);
        }
        let given: HashMap<VarId, ExprId> = self.edge.updates.iter().copied().collect();
        let mut updates: Vec<(VarId, ExprId)> =
            self.edge.updates.iter().map(|(var, value)| (*var, self.done[value])).collect();
        for (at, Term { op, left, right }) in self.relations.terms.iter().enumerate() {
            let is_changed = [left, right].iter().any(|side| match side {
                Operand::Var(var) => given.contains_key(var),
                Operand::Const(_) => false,
            });
            if !self.is_known(at, self.edge.to) || !is_changed && self.is_known(at, self.edge.from)
            {
                continue;
            }
            let (a, b) = match (*left, *right) {
                (Operand::Var(a), Operand::Var(b)) => {
                    (self.after(&given, a), self.after(&given, b))
                }
                (Operand::Var(a), Operand::Const(value)) => {
                    let a = self.after(&given, a);
                    let width = self.cfa.pool.width(a);
                    (a, self.cfa.pool.constant(value, width))
                }
                _ => continue,
            };
            let value = self.compare(*op, a, b);
            updates.push((VarId(self.first + at as u32), value));
        }
        Edge { guard: self.done[&self.edge.guard], updates, ..self.edge }
    }

    /// What a variable is after the edge, in the old expressions.
    fn after(&mut self, given: &HashMap<VarId, ExprId>, var: VarId) -> ExprId {
        given.get(&var).copied().unwrap_or_else(|| self.cfa.read(var))
    }

    /// Whether words with relations are compared.
    fn is_ours(&self, a: ExprId, b: ExprId) -> bool {
        let mut leaves = Leaves::default();
        leaves.find(&self.cfa.pool, a);
        leaves.find(&self.cfa.pool, b);
        leaves.vars().any(|var| self.relations.members.contains(&var))
    }

    /// Whether a relation's variable has its value at a location.
    fn is_known(&self, at: usize, location: LocId) -> bool {
        let Term { left, right, .. } = self.relations.terms[at];
        let is_live = |side| match side {
            Operand::Var(var) => self.live.has(location, var),
            Operand::Const(_) => true,
        };
        location != self.cfa.init && is_live(left) && is_live(right)
    }

    /// The comparison of old expressions, in new ones.
    fn compare(&mut self, op: BinOp, a: ExprId, b: ExprId) -> ExprId {
        if let BinOp::Ule | BinOp::Sle = op {
            let more = self.compare(less(op == BinOp::Sle), b, a);
            return self.cfa.pool.not(more);
        }
        if let Some(known) = self.compared.get(&(op, a, b)) {
            return *known;
        }
        let pool = &self.cfa.pool;
        let new = match (pool.get(a), pool.get(b)) {
            (Expr::Ite(c, t, e), _) => {
                let (t, e) = (self.compare(op, t, b), self.compare(op, e, b));
                self.cfa.pool.ite(self.done[&c], t, e)
            }
            (_, Expr::Ite(c, t, e)) => {
                let (t, e) = (self.compare(op, a, t), self.compare(op, a, e));
                self.cfa.pool.ite(self.done[&c], t, e)
            }
            (Expr::Extend { x, signed }, Expr::Extend { x: y, .. }) => {
                self.compare(inner(op, signed), x, y)
            }
            (Expr::Extend { x, signed }, Expr::Const(value)) => {
                let y = self.narrow(value, b, x, signed);
                self.compare(inner(op, signed), x, y)
            }
            (Expr::Const(value), Expr::Extend { x, signed }) => {
                let y = self.narrow(value, a, x, signed);
                self.compare(inner(op, signed), y, x)
            }
            (left, right) => match self.relation(op, left, right) {
                Some(known) => known,
                None => self.cfa.pool.binary(op, a, b),
            },
        };
        self.compared.insert((op, a, b), new);
        new
    }

    /// A constant as wide as what it is compared with before that is extended.
    fn narrow(&mut self, value: Word, id: ExprId, x: ExprId, signed: bool) -> ExprId {
        let pool = &mut self.cfa.pool;
        let (wide, width) = (pool.width(id), pool.width(x));
        let low = narrowed(value, wide, (width, Some(signed)));
        pool.constant(low.unwrap_or(value), width)
    }

    /// The variables that say how two words compare, if they do at the edge's source.
    fn relation(&mut self, op: BinOp, left: Expr, right: Expr) -> Option<ExprId> {
        let (var, other, is_turned) = match (left, right) {
            (Expr::Var(a), Expr::Var(b)) if a < b => (a, Operand::Var(b), false),
            (Expr::Var(a), Expr::Var(b)) => (b, Operand::Var(a), true),
            (Expr::Var(a), Expr::Const(c)) => (a, Operand::Const(c), false),
            (Expr::Const(c), Expr::Var(b)) => (b, Operand::Const(c), true),
            _ => return None,
        };
        let mut read = |op| {
            let at = *self.relations.known.get(&(op, var, other))?;
            self.is_known(at, self.edge.from).then(|| self.cfa.read(VarId(self.first + at as u32)))
        };
        let own = read(op)?;
        if op == BinOp::Eq || !is_turned {
            return Some(own);
        }
        let equal = read(BinOp::Eq)?;
        let at_most = self.cfa.pool.or(own, equal);
        Some(self.cfa.pool.not(at_most))
    }
}

/// The comparison of words that is the same as this one of words that are extended.
fn inner(op: BinOp, signed: bool) -> BinOp {
    match (op, signed) {
        (BinOp::Slt, false) => BinOp::Ult,
        (op, _) => op,
    }
}
