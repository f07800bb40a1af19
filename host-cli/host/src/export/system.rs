//! An automaton as one transition system.
//!
//! The location becomes a state, the *program counter*; an input chooses among the edges that leave a
//! location. A choice whose guard is false changes nothing. Where the automaton's only initial edge
//! assigns constants, those are the resets; else the initial location is one of the counter's values,
//! and the first step initialises. A parameter is a state that never changes, and leaving the initial
//! location requires that all are within their bounds.
//!
//! Nothing is assumed of the environment, so that every tool can read the result.

use crate::ir::{BinOp, Cfa, Edge, ExprId, Input, LocId, Type, Var, VarId, VarKind, Word};
use rustc_hash::FxHashMap as HashMap;

/// A transition system.
pub struct System {
    /// Its states are the variables, its inputs the inputs, its expressions the pool's. It has no
    /// edges.
    pub cfa: Cfa,
    /// First value of each variable; `None` is any.
    pub resets: Vec<Option<Word>>,
    /// Next value of each variable.
    pub nexts: Vec<ExprId>,
    /// What must never be.
    pub bads: Vec<(String, ExprId)>,
}

/// Bits that number so many things.
fn bits_for(count: usize) -> u32 {
    usize::BITS - count.saturating_sub(1).leading_zeros()
}

/// The only edge from the initial location, if it does nothing but assign constants.
fn simple_start(cfa: &Cfa) -> Option<&Edge> {
    let mut starts = cfa.edges.iter().filter(|e| e.from == cfa.init);
    let start = starts.next()?;
    let constant = |x: ExprId| cfa.pool.as_const(x).is_some();
    let is_simple = starts.next().is_none()
        && cfa.params().next().is_none()
        && cfa.properties.iter().all(|p| p.error != start.to)
        && cfa.pool.as_const(start.guard) == Some(1)
        && start.updates.iter().all(|u| constant(u.1));
    is_simple.then_some(start)
}

/// A name that nothing has yet.
fn fresh<'a>(name: &str, taken: impl Iterator<Item = &'a str> + Clone) -> String {
    let mut name = name.to_string();
    while taken.clone().any(|n| n == name) {
        name.insert(0, '_');
    }
    name
}

impl System {
    /// The system of an automaton that is well-formed.
    pub fn new(cfa: &Cfa) -> System {
        let start = simple_start(cfa);
        let is_error = |l: LocId| cfa.properties.iter().any(|p| p.error == l);
        let counted: Vec<LocId> = (0..cfa.locations.len() as u32)
            .map(LocId)
            .filter(|l| !is_error(*l) && (*l != cfa.init || start.is_none()))
            .collect();
        let codes: HashMap<LocId, Word> = counted.iter().copied().zip(0..).collect();
        let mut leaving: HashMap<LocId, Word> = HashMap::default();
        let mut order = vec![];
        for edge in &cfa.edges {
            let count = leaving.entry(edge.from).or_default();
            // An edge into an error needs no choice: that it can be taken is enough.
            order.push(*count);
            *count += !is_error(edge.to) as Word;
        }
        let most = counted.iter().filter_map(|l| leaving.get(l)).max().copied().unwrap_or(0);

        let mut system = System {
            resets: vec![None; cfa.vars.len()],
            nexts: vec![],
            bads: vec![],
            cfa: Cfa { edges: vec![], ..cfa.clone() },
        };
        let counter = system.add_counter(bits_for(counted.len()));
        let choice = system.add_choice(bits_for(most as usize));
        if let Some(start) = start {
            for (var, value) in &start.updates {
                system.resets[var.index()] = cfa.pool.as_const(*value);
            }
        }
        if let Some(counter) = counter {
            let first = start.map_or(cfa.init, |s| s.to);
            system.resets[counter.index()] = codes.get(&first).copied();
        }
        let own = &mut system.cfa;
        system.nexts = (0..own.vars.len() as u32).map(|v| own.read(VarId(v))).collect();
        let no = own.pool.bool(false);
        let mut errors: HashMap<LocId, ExprId> = HashMap::default();
        for (edge, nth) in cfa.edges.iter().zip(order) {
            let Some(&code) = codes.get(&edge.from) else { continue };
            let mut taken = edge.guard;
            if edge.from == cfa.init {
                let bounds = bounds(own);
                taken = own.pool.and(taken, bounds);
            }
            if let Some(counter) = counter {
                let here = own.read(counter);
                let code = own.pool.constant(code, own.pool.width(here));
                let here = own.pool.equal(here, code);
                taken = own.pool.and(here, taken);
            }
            let Some(&target) = codes.get(&edge.to) else {
                let error = errors.entry(edge.to).or_insert(no);
                *error = own.pool.or(*error, taken);
                continue;
            };
            if let Some(choice) = choice
                && leaving.get(&edge.from).is_some_and(|n| *n > 1)
            {
                let chosen = own.sample(choice);
                let nth = own.pool.constant(nth, own.pool.width(chosen));
                let chosen = own.pool.equal(chosen, nth);
                taken = own.pool.and(chosen, taken);
            }
            let target = counter.map(|c| (c, own.pool.constant(target, own.vars[c.index()].width)));
            for (var, value) in edge.updates.iter().copied().chain(target) {
                let next = &mut system.nexts[var.index()];
                *next = own.pool.ite(taken, value, *next);
            }
        }
        for property in &cfa.properties {
            let bad = errors.get(&property.error).copied().unwrap_or(no);
            system.bads.push((property.name.clone(), bad));
        }
        system
    }

    fn add_counter(&mut self, width: u32) -> Option<VarId> {
        if width == 0 {
            return None;
        }
        let name = fresh("pc", self.cfa.vars.iter().map(|v| v.name.as_str()));
        self.resets.push(None);
        Some(self.cfa.add_var(Var { name, width, ty: Type::Unsigned, kind: VarKind::State }))
    }

    fn add_choice(&mut self, width: u32) -> Option<crate::ir::InputId> {
        if width == 0 {
            return None;
        }
        let name = fresh("choice", self.cfa.inputs.iter().map(|i| i.name.as_str()));
        Some(self.cfa.add_input(Input { name, width, ty: Type::Unsigned }))
    }
}

/// That every parameter is within its bounds.
pub fn bounds(cfa: &mut Cfa) -> ExprId {
    let params: Vec<(VarId, Var)> = cfa.params().map(|(id, v)| (id, v.clone())).collect();
    let mut all = cfa.pool.bool(true);
    for (id, var) in params {
        let VarKind::Param { min, max } = var.kind else { continue };
        let less = if var.ty == Type::Signed { BinOp::Sle } else { BinOp::Ule };
        let value = cfa.read(id);
        for (bound, is_lower) in [(min, true), (max, false)] {
            let bound = cfa.pool.constant(bound, var.width);
            let (a, b) = if is_lower { (bound, value) } else { (value, bound) };
            let within = cfa.pool.binary(less, a, b);
            all = cfa.pool.and(all, within);
        }
    }
    all
}
