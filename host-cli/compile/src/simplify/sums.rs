//! Words that matter only in sums.
//!
//! Where a program asks of two words only whether they differ by seven, what they are does not matter, only their
//! difference does. At each location, the sums of multiples of words that are read from there on, closed under what
//! edges assign, are a [lattice](super::lattice), of which a basis is enough. Where that has fewer members than there are
//! words, the members become variables ([terms](vouch_ir::Term) of certificates), and nobody reads the words any more. An
//! invariant then says which value a difference has, where it had to relate two words bit by bit; and inputs that
//! only say from where words are counted are gone.
//!
//! It is the observable part of a linear system (Kalman, 1960), modulo powers of two. Comparisons of order depend on
//! where zero is, so what they compare is read as it is.

use super::affine::{Cases, Form};
use super::back::Step;
use super::lattice::{LARGEST, Lattice, Vector};
use super::{derived, loops};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::collections::{BTreeMap, BTreeSet};
use vouch_ir::live::Live;
use vouch_ir::{
    BinOp, Cfa, Edge, Expr, ExprId, LocId, Operand, Pool, Term, UnOp, VarId, VarKind, Word,
    deadline, eval, mask,
};

/// Words that are less wide than this are left alone: their values are few.
const NARROWEST: u32 = 4;
const WIDEST: u32 = 64;
/// Conditions that a sum is split by.
const SPLITS: usize = 5;
/// Terms that are added.
const MOST: usize = 200;
/// Sums that are looked at, those of all cases.
const WORK: usize = 200_000;

/// Replaces words by sums where these are fewer.
pub fn run(cfa: &mut Cfa) -> Step {
    let step = Step::unchanged(cfa);
    let (vars, expressions, edges) = (cfa.vars.len(), cfa.pool.len(), cfa.edges.clone());
    match replace(cfa) {
        Some(terms) => Step { terms, ..step },
        None => {
            cfa.vars.truncate(vars);
            cfa.pool.truncate(expressions);
            cfa.edges = edges;
            step
        }
    }
}

/// Replaces words, and returns the terms that it has added; `None` if it is not worth it, or too much.
fn replace(cfa: &mut Cfa) -> Option<Vec<Term>> {
    let live = Live::of(cfa);
    let mut words = words(cfa, &live);
    if words.len() < 2 {
        return None;
    }
    let mut read = Read::of(cfa, &live, &words);
    read.close()?;
    let chosen = read.that_pay();
    let mut lattices = read.lattices;
    words.retain(|v, _| chosen.contains(v));
    lattices.iter_mut().for_each(|l| l.rows.retain(|var, _| chosen.contains(var)));
    if words.is_empty() {
        return None;
    }
    let sums = Sums::of(cfa, lattices)?;
    for term in &sums.terms {
        derived::add_var(cfa, term, term_width(cfa, term));
    }
    let mut work = WORK;
    for at in 0..cfa.edges.len() {
        let edge = cfa.edges[at].clone();
        let is_first = edge.from == cfa.init;
        let done = HashMap::default();
        let live = &live;
        let (sums, words, edge) = (&sums, &words, &edge);
        let rewriting = Rewriting { cfa, live, sums, words, edge, is_first, done, work };
        let (edge, left) = rewriting.edge()?;
        (cfa.edges[at], work) = (edge, left);
    }
    Some(sums.terms)
}

/// How wide a sum is: as its operands, of which one is a variable.
fn term_width(cfa: &Cfa, term: &Term) -> u32 {
    let vars = [term.left, term.right].into_iter().filter_map(|side| match side {
        Operand::Var(var) => Some(cfa.vars[var.index()].width),
        Operand::Const(_) => None,
    });
    vars.max().unwrap_or(1)
}

/// The words that are live somewhere, with the expressions that read them.
fn words(cfa: &mut Cfa, live: &Live) -> BTreeMap<VarId, ExprId> {
    let locations = || (0..cfa.locations.len() as u32).map(LocId).filter(|l| *l != cfa.init);
    let vars = (0..).map(VarId).zip(&cfa.vars);
    let words: Vec<VarId> = vars
        .filter(|(_, v)| v.kind == VarKind::State && (NARROWEST..=WIDEST).contains(&v.width))
        .map(|(id, _)| id)
        .filter(|id| locations().any(|l| live.has(l, *id)))
        .collect();
    words.into_iter().map(|v| (v, cfa.read(v))).collect()
}

/// The sum that an expression is, or whose being zero it asks for.
fn form(pool: &Pool, id: ExprId) -> Option<Form> {
    let is_word = |x| (NARROWEST..=WIDEST).contains(&pool.width(x));
    let is_constant = |x| pool.as_const(x).is_some();
    match pool.get(id) {
        Expr::Binary(BinOp::Eq, a, b) if is_word(a) => {
            Some(Form::sum(pool, pool.width(a), [(1, a), (-1, b)]))
        }
        Expr::Binary(BinOp::Mul, a, b) if !is_constant(a) && !is_constant(b) => None,
        Expr::Binary(BinOp::Add | BinOp::Sub | BinOp::Mul, ..) | Expr::Unary(UnOp::Neg, _)
            if is_word(id) =>
        {
            Some(Form::sum(pool, pool.width(id), [(1, id)]))
        }
        _ => None,
    }
}

/// A sum of words after an edge.
fn after(
    pool: &Pool,
    words: &BTreeMap<VarId, ExprId>,
    row: &Vector,
    new: &HashMap<VarId, ExprId>,
) -> Form {
    let value = |var: &VarId| new.get(var).copied().unwrap_or_else(|| words[var]);
    let parts: Vec<(i128, ExprId)> = row.iter().map(|(var, c)| (*c as i128, value(var))).collect();
    let width = parts.first().map_or(1, |part| pool.width(part.1));
    Form::sum(pool, width, parts)
}

/// What of a form is about words, and what else it sums up: all, if coefficients are large.
fn parts(
    pool: &Pool,
    words: &BTreeMap<VarId, ExprId>,
    form: &Form,
) -> (Vector, Vec<(ExprId, Word)>) {
    let (mut vector, mut rest) = (Vector::new(), vec![]);
    for (id, factor) in form.parts() {
        let small = eval::sign_extend(factor, form.width()) as i128;
        match pool.get(id) {
            Expr::Var(var) if words.contains_key(&var) && small.abs() <= LARGEST as i128 => {
                vector.insert(var, small as i64);
            }
            _ => rest.push((id, factor)),
        }
    }
    (vector, rest)
}

/// What is read from each location on.
struct Read<'a> {
    cfa: &'a Cfa,
    live: &'a Live,
    words: &'a BTreeMap<VarId, ExprId>,
    lattices: Vec<Lattice>,
    /// Vectors that the edges into a location have not seen.
    added: Vec<(LocId, Vector)>,
    /// What is still to be read, and what has been.
    todo: Vec<(LocId, ExprId)>,
    seen: HashSet<(LocId, ExprId)>,
    work: usize,
}

impl<'a> Read<'a> {
    fn of(cfa: &'a Cfa, live: &'a Live, words: &'a BTreeMap<VarId, ExprId>) -> Read<'a> {
        let lattices = vec![Lattice::default(); cfa.locations.len()];
        let (added, todo, seen) = (vec![], vec![], HashSet::default());
        Read { cfa, live, words, lattices, added, todo, seen, work: WORK }
    }

    /// Adds what guards and other variables read, then what that depends on.
    fn close(&mut self) -> Option<()> {
        let mut entering = vec![vec![]; self.cfa.locations.len()];
        let mut updates: Vec<HashMap<VarId, ExprId>> = vec![];
        for (at, edge) in self.cfa.edges.iter().enumerate() {
            entering[edge.to.index()].push(at);
            updates.push(edge.updates.iter().copied().collect());
            self.todo.push((edge.from, edge.guard));
            let others = edge.updates.iter().filter(|u| !self.words.contains_key(&u.0));
            let values = others.filter(|u| self.live.has(edge.to, u.0));
            self.todo.extend(values.map(|u| (edge.from, u.1)));
        }
        self.read()?;
        while let Some((location, vector)) = self.added.pop() {
            for at in entering[location.index()].iter().copied() {
                let from = self.cfa.edges[at].from;
                if from != self.cfa.init {
                    let form = after(&self.cfa.pool, self.words, &vector, &updates[at]);
                    self.form(from, &form)?;
                }
            }
            self.read()?;
        }
        Some(())
    }

    fn add(&mut self, location: LocId, vector: Vector) {
        if self.lattices[location.index()].add(&vector) {
            self.added.push((location, vector));
        }
    }

    /// Reads the expressions that are still to be read.
    fn read(&mut self) -> Option<()> {
        while let Some((location, id)) = self.todo.pop() {
            deadline::tick();
            if location == self.cfa.init || !self.seen.insert((location, id)) {
                continue;
            }
            let pool = &self.cfa.pool;
            match (form(pool, id), pool.get(id)) {
                (Some(form), _) => self.form(location, &form)?,
                (None, Expr::Var(var)) if self.words.contains_key(&var) => {
                    self.add(location, Vector::from([(var, 1)]));
                }
                (None, _) => self.todo.extend(pool.operands(id).map(|x| (location, x))),
            }
        }
        Some(())
    }

    /// Reads a sum.
    fn form(&mut self, location: LocId, form: &Form) -> Option<()> {
        let mut stack = vec![form.cases(&self.cfa.pool, SPLITS)];
        while let Some(cases) = stack.pop() {
            deadline::tick();
            self.work = self.work.checked_sub(1)?;
            match cases {
                Cases::Either(condition, cases) => {
                    self.todo.push((location, condition));
                    stack.extend(*cases);
                }
                Cases::One(form) => {
                    let (vector, rest) = parts(&self.cfa.pool, self.words, &form);
                    self.add(location, vector);
                    self.todo.extend(rest.into_iter().map(|(id, _)| (location, id)));
                }
            }
        }
        Some(())
    }

    /// The words of those groups of which fewer sums than words are read in a loop.
    fn that_pay(&self) -> BTreeSet<VarId> {
        let mut groups: Vec<BTreeSet<VarId>> =
            self.words.keys().map(|v| BTreeSet::from([*v])).collect();
        let rows: BTreeSet<&Vector> = self.lattices.iter().flat_map(|l| l.rows.values()).collect();
        for row in rows.into_iter().filter(|row| row.len() > 1) {
            deadline::tick();
            let (with, without) =
                groups.into_iter().partition(|g| row.keys().any(|var| g.contains(var)));
            let with: Vec<BTreeSet<VarId>> = with;
            groups = without;
            groups.push(with.into_iter().flatten().collect());
        }
        let pays = |group: &BTreeSet<VarId>| {
            let is_less = |l: &LocId| {
                let live = group.iter().filter(|v| self.live.has(*l, **v)).count();
                let read = self.lattices[l.index()].rows.keys().filter(|v| group.contains(v));
                *l != self.cfa.init && read.count() < live
            };
            let locations = (0..self.cfa.locations.len() as u32).map(LocId);
            loops::is_one(self.cfa, &locations.filter(is_less).collect())
        };
        groups.into_iter().filter(pays).flatten().collect()
    }
}

/// The new variables.
struct Sums {
    terms: Vec<Term>,
    /// The variable for each sum: of a word alone, that word.
    vars: BTreeMap<Vector, VarId>,
    lattices: Vec<Lattice>,
}

impl Sums {
    fn of(cfa: &Cfa, lattices: Vec<Lattice>) -> Option<Sums> {
        let (mut terms, mut vars) = (vec![], BTreeMap::new());
        for row in lattices.iter().flat_map(|l| l.rows.values()) {
            if !vars.contains_key(row) {
                vars.insert(row.clone(), Sums::add(cfa, &mut terms, row)?);
            }
        }
        (terms.len() <= MOST).then_some(Sums { terms, vars, lattices })
    }

    /// Adds terms for a sum.
    fn add(cfa: &Cfa, terms: &mut Vec<Term>, row: &Vector) -> Option<VarId> {
        let width = cfa.vars[row.keys().next()?.index()].width;
        let mut term = |op, left, right| {
            terms.push(Term { op, left, right });
            VarId((cfa.vars.len() + terms.len() - 1) as u32)
        };
        let mut whole: Option<VarId> = None;
        for (var, c) in row {
            let times = Operand::Const(c.unsigned_abs() as Word & mask(width));
            let multiple = match c.abs() {
                1 => *var,
                _ => term(BinOp::Mul, Operand::Var(*var), times),
            };
            let op = if *c < 0 { BinOp::Sub } else { BinOp::Add };
            // The first coefficient is positive.
            whole = Some(match whole {
                None => multiple,
                Some(whole) => term(op, Operand::Var(whole), Operand::Var(multiple)),
            });
        }
        whole
    }
}

/// An edge that gets new expressions.
struct Rewriting<'a> {
    cfa: &'a mut Cfa,
    live: &'a Live,
    sums: &'a Sums,
    words: &'a BTreeMap<VarId, ExprId>,
    edge: &'a Edge,
    /// At the initial location words are what they are.
    is_first: bool,
    /// What can be said in sums.
    done: HashMap<ExprId, ExprId>,
    work: usize,
}

impl Rewriting<'_> {
    /// The edge, and how much work is left; `None` if something is read that was not expected, or it is too much.
    fn edge(mut self) -> Option<(Edge, usize)> {
        for id in self.cfa.pool.cone(self.edge.roots()) {
            if let Some(new) = self.expression(id) {
                self.done.insert(id, new);
            }
        }
        let new: HashMap<VarId, ExprId> = self.edge.updates.iter().copied().collect();
        let mut updates = vec![];
        for (var, value) in &self.edge.updates {
            if !self.words.contains_key(var) && self.live.has(self.edge.to, *var) {
                updates.push((*var, *self.done.get(value)?));
            }
        }
        let sums = self.sums;
        for row in sums.lattices[self.edge.to.index()].rows.values() {
            let form = after(&self.cfa.pool, self.words, row, &new);
            let value = self.cases(form.cases(&self.cfa.pool, SPLITS), false)?;
            let var = sums.vars[row];
            if !matches!(self.cfa.pool.get(value), Expr::Var(own) if own == var) {
                updates.push((var, value));
            }
        }
        let Edge { from, to, guard, span, .. } = *self.edge;
        let guard = *self.done.get(&guard)?;
        Some((Edge { from, to, guard, updates, span }, self.work))
    }

    /// An expression whose operands are done, as far as they can be.
    fn expression(&mut self, id: ExprId) -> Option<ExprId> {
        if self.is_first {
            return Some(id);
        }
        let pool = &self.cfa.pool;
        let expr = pool.get(id);
        let form = match (form(pool, id), expr) {
            (None, Expr::Var(var)) if self.words.contains_key(&var) => {
                Some(Form::sum(pool, pool.width(id), [(1, id)]))
            }
            (form, _) => form,
        };
        if let Some(form) = form.filter(|form| self.is_ours(form)) {
            let is_equation = matches!(expr, Expr::Binary(BinOp::Eq, ..));
            return self.cases(form.cases(&self.cfa.pool, SPLITS), is_equation);
        }
        let is_done = self.cfa.pool.operands(id).all(|x| self.done.contains_key(&x));
        let width = self.cfa.pool.width(id);
        is_done.then(|| self.cfa.pool.make(expr.map_operands(|x| self.done[&x]), width))
    }

    /// Whether words are among what a form sums up; of a choice, that may be inside.
    fn is_ours(&self, form: &Form) -> bool {
        let pool = &self.cfa.pool;
        form.parts().any(|(id, _)| match pool.get(id) {
            Expr::Var(var) => self.words.contains_key(&var),
            Expr::Ite(..) => true,
            _ => false,
        })
    }

    /// One case or the other of a sum, or of its being zero; these are nested no deeper than [`SPLITS`].
    fn cases(&mut self, cases: Cases, is_equation: bool) -> Option<ExprId> {
        self.work = self.work.checked_sub(1)?;
        match cases {
            Cases::Either(condition, cases) => {
                let [yes, no] = *cases;
                let (yes, no) = (self.cases(yes, is_equation)?, self.cases(no, is_equation)?);
                let condition = match self.is_first {
                    true => condition,
                    false => *self.done.get(&condition)?,
                };
                Some(self.cfa.pool.ite(condition, yes, no))
            }
            Cases::One(form) => self.form(&form, is_equation),
        }
    }

    /// A sum of new variables and of what else it is made of, or whether it is zero.
    fn form(&mut self, form: &Form, is_equation: bool) -> Option<ExprId> {
        let width = form.width();
        let mut new: Vec<(ExprId, Word)> = vec![];
        if self.is_first {
            new.extend(form.parts());
        } else {
            let (vector, rest) = parts(&self.cfa.pool, self.words, form);
            for (row, times) in self.sums.lattices[self.edge.from.index()].coordinates(vector)? {
                new.push((self.cfa.read(self.sums.vars[row]), times as Word & mask(width)));
            }
            for (id, factor) in rest {
                new.push((*self.done.get(&id)?, factor));
            }
        }
        let pool = &mut self.cfa.pool;
        // What is added, and what is subtracted.
        let mut sides = [pool.constant(0, width); 2];
        for (id, factor) in new {
            let is_negative = factor > mask(width) / 2;
            let factor = if is_negative { factor.wrapping_neg() } else { factor };
            let factor = pool.constant(factor, width);
            let product = pool.binary(BinOp::Mul, id, factor);
            let side = &mut sides[is_negative as usize];
            *side = pool.binary(BinOp::Add, *side, product);
        }
        let [plus, minus] = sides;
        Some(if is_equation {
            let constant = pool.constant(form.constant().wrapping_neg(), width);
            let other = pool.binary(BinOp::Add, minus, constant);
            pool.equal(plus, other)
        } else {
            let sum = pool.binary(BinOp::Sub, plus, minus);
            let constant = pool.constant(form.constant(), width);
            pool.binary(BinOp::Add, sum, constant)
        })
    }
}
