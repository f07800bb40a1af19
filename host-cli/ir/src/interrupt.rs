//! Code that runs without being called: handlers of interrupts, between the steps of an automaton.
//!
//! A front end gives the automaton of its program together with those of the handlers, each from an entry to an exit,
//! and says at which locations which of them may run, and when. What comes out is one automaton: at each such location
//! a copy of the handler leads back there, so that it may run any number of times. A copy can be interrupted in turn by
//! handlers that are more urgent.
//!
//! It is enough that a handler may run right before each access to what it shares with the code that it
//! interrupts, before interrupts are disabled, and between two steps: everything else commutes with it. After the last
//! of these, too: where a run ends, and somewhere on each cycle ([`on_cycles`]), where a run may stay forever.

use super::{BinOp, Cfa, Edge, EdgeId, ExprId, LocId, Pool, Span, deadline};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;

/// A handler: a part of the automaton that nothing leads to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Handler {
    /// Its name; a copy of its entry location is called `NAME at LOCATION`.
    pub name: String,
    /// How urgent it is: those with smaller numbers interrupt it.
    pub priority: u32,
    /// Where it begins.
    pub entry: LocId,
    /// Where it returns.
    pub exit: LocId,
}

/// How many bits of a priority an interrupt controller has for certain, the upper ones: those that the handlers' priorities need, and
/// not fewer than ARMv7-M asks for. How many more it has is the vendor's choice.
pub fn priority_bits(priorities: impl IntoIterator<Item = u8>) -> u32 {
    const LEAST: u32 = 3;
    let needed = priorities.into_iter().map(|priority| 8 - priority.trailing_zeros().min(8));
    needed.max().unwrap_or(0).max(LEAST)
}

/// Whether a handler may run while BASEPRI was last set to `base`. Where the controller has none of the bits that are set in it, it
/// masks nothing.
pub fn passes(priority: u8, base: u8, bits: u32) -> bool {
    u32::from(base) >> (8 - bits.min(8)) == 0 || priority < base
}

/// The same as an expression; `base` has 8 bits.
pub fn passes_on(pool: &mut Pool, priority: u8, base: ExprId, bits: u32) -> ExprId {
    let bits = bits.min(8);
    let upper = pool.slice(base, 8 - bits, bits);
    let (zero, mine) = (pool.constant(0, bits), pool.constant(priority.into(), 8));
    let is_zero = pool.equal(upper, zero);
    let is_urgent = pool.binary(BinOp::Ult, mine, base);
    pool.or(is_zero, is_urgent)
}

/// A location at which handlers may run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Pause {
    /// The location that copies of the handlers start from and return to.
    pub at: LocId,
    /// The handlers, by number, and when each may run (1 bit, over the variables at this location).
    pub handlers: Vec<(usize, ExprId)>,
}

/// Lets the handlers run where they may. What they were copied from stays, and nothing leads there. Returns the locations that are copies: each with what it is a copy of.
pub fn interleave(cfa: &mut Cfa, handlers: &[Handler], pauses: &[Pause]) -> Vec<(LocId, LocId)> {
    let bodies: Vec<Body> = handlers.iter().map(|handler| Body::of(cfa, handler)).collect();
    let inside: BTreeSet<LocId> = bodies.iter().flat_map(|body| body.locations.clone()).collect();
    let mut all = Copies { cfa, handlers, bodies: &bodies, pauses, copied: vec![] };
    for pause in pauses.iter().filter(|pause| !inside.contains(&pause.at)) {
        for (handler, when) in &pause.handlers {
            all.copy(*handler, pause.at, *when, u32::MAX);
        }
    }
    all.copied
}

/// A location on each cycle that has none of `pauses`. Edges by which a run cannot go round forever are not followed.
pub fn on_cycles(
    cfa: &Cfa,
    pauses: &BTreeSet<LocId>,
    is_followed: impl Fn(EdgeId) -> bool,
) -> BTreeSet<LocId> {
    let mut next: Vec<Vec<LocId>> = vec![vec![]; cfa.locations.len()];
    for (number, edge) in cfa.edges.iter().enumerate() {
        let is_cut = pauses.contains(&edge.from) || pauses.contains(&edge.to);
        if !is_cut && is_followed(EdgeId(number as u32)) {
            next[edge.from.index()].push(edge.to);
        }
    }
    // Depth first: each cycle has an edge back to a location that is being visited.
    let (mut seen, mut visited) = (vec![false; next.len()], vec![false; next.len()]);
    let mut found = BTreeSet::new();
    for start in (0..next.len()).map(|start| LocId(start as u32)) {
        let mut path = vec![(start, 0)];
        while let Some((at, followed)) = path.last_mut() {
            deadline::tick();
            let at = *at;
            if *followed == 0 && std::mem::replace(&mut seen[at.index()], true) {
                path.pop();
                continue;
            }
            match next[at.index()].get(*followed) {
                Some(to) if seen[to.index()] && !visited[to.index()] => {
                    found.insert(*to);
                    *followed += 1;
                }
                Some(to) => {
                    *followed += 1;
                    path.push((*to, 0));
                }
                None => {
                    visited[at.index()] = true;
                    path.pop();
                }
            }
        }
    }
    found
}

/// What a handler consists of.
struct Body {
    /// Its locations, without the exit and those where a property is broken.
    locations: BTreeSet<LocId>,
    /// The edges that leave them.
    edges: Vec<Edge>,
}

impl Body {
    fn of(cfa: &Cfa, handler: &Handler) -> Body {
        let ends = cfa.properties.iter().map(|property| property.error).chain([handler.exit]);
        let ends: BTreeSet<LocId> = ends.collect();
        let (mut locations, mut edges) = (BTreeSet::from([handler.entry]), vec![]);
        let mut todo = vec![handler.entry];
        while let Some(at) = todo.pop() {
            for edge in cfa.edges.iter().filter(|edge| edge.from == at) {
                edges.push(edge.clone());
                if !ends.contains(&edge.to) && locations.insert(edge.to) {
                    todo.push(edge.to);
                }
            }
        }
        Body { locations, edges }
    }
}

struct Copies<'a> {
    cfa: &'a mut Cfa,
    handlers: &'a [Handler],
    bodies: &'a [Body],
    pauses: &'a [Pause],
    copied: Vec<(LocId, LocId)>,
}

impl Copies<'_> {
    /// Lets a handler run at a location of code that is less urgent than `below`.
    fn copy(&mut self, number: usize, at: LocId, when: ExprId, below: u32) {
        let (handlers, bodies, pauses) = (self.handlers, self.bodies, self.pauses);
        let (Some(handler), Some(body)) = (handlers.get(number), bodies.get(number)) else {
            return;
        };
        if handler.priority >= below || self.cfa.pool.as_const(when) == Some(0) {
            return;
        }
        let mut copies = HashMap::from_iter([(handler.exit, at)]);
        let place = self.cfa.locations[at.index()].name.clone();
        for location in &body.locations {
            deadline::tick();
            let name = match *location == handler.entry {
                true => format!("{} at {place}", handler.name),
                false => format!("{}, {}", self.cfa.locations[location.index()].name, place),
            };
            let copy = self.cfa.add_location(name, self.cfa.locations[location.index()].span);
            copies.insert(*location, copy);
            self.copied.push((copy, *location));
        }
        let Some(&entry) = copies.get(&handler.entry) else { return };
        let span = Span::default();
        self.cfa.add_edge(Edge { from: at, to: entry, guard: when, updates: vec![], span });
        for edge in &body.edges {
            let from = copies.get(&edge.from).copied().unwrap_or(edge.from);
            let to = copies.get(&edge.to).copied().unwrap_or(edge.to);
            self.cfa.add_edge(Edge { from, to, ..edge.clone() });
        }
        for pause in pauses.iter().filter(|pause| body.locations.contains(&pause.at)) {
            let Some(&at) = copies.get(&pause.at) else { continue };
            for (other, when) in &pause.handlers {
                self.copy(*other, at, *when, handler.priority);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Type, Var, VarId, VarKind, eval};

    /// `x = x + 1` in two accesses, once, while a handler adds ten, and a more urgent one a hundred.
    fn program(second: u32) -> (Cfa, Vec<Handler>, Vec<Pause>) {
        let mut cfa = Cfa::new("lost");
        let mut var = |name: &str| {
            let (name, kind) = (name.into(), VarKind::State);
            cfa.add_var(Var { name, width: 8, ty: Type::Unsigned, kind })
        };
        let (x, t, u) = (var("x"), var("t"), var("u"));
        let span = Span::default();
        let names = ["load", "store", "end", "tick", "tick.store", "tock", "tick.end", "tock.end"];
        let [load, store, end, tick, tick_store, tock, tick_end, tock_end] =
            names.map(|name| cfa.add_location(name, span));
        let zero = cfa.pool.constant(0, 8);
        let yes = cfa.pool.bool(true);
        let edge = |from, to, updates: Vec<(VarId, ExprId)>, cfa: &mut Cfa| {
            cfa.add_edge(Edge { from, to, guard: yes, updates, span });
        };
        edge(cfa.init, load, vec![(x, zero), (t, zero), (u, zero)], &mut cfa);
        let plus = |var, by: u128, cfa: &mut Cfa| {
            let (old, by) = (cfa.read(var), cfa.pool.constant(by, 8));
            cfa.pool.binary(BinOp::Add, old, by)
        };
        let (read, more) = (cfa.read(x), plus(t, 1, &mut cfa));
        edge(load, store, vec![(t, read)], &mut cfa);
        edge(store, end, vec![(x, more)], &mut cfa);
        let more = plus(u, 10, &mut cfa);
        edge(tick, tick_store, vec![(u, read)], &mut cfa);
        edge(tick_store, tick_end, vec![(x, more)], &mut cfa);
        let more = plus(x, 100, &mut cfa);
        edge(tock, tock_end, vec![(x, more)], &mut cfa);
        let handler = |name: &str, priority, entry, exit| Handler {
            name: name.into(),
            priority,
            entry,
            exit,
        };
        let handlers =
            vec![handler("tick", 2, tick, tick_end), handler("tock", second, tock, tock_end)];
        let pause =
            |at, who: &[usize]| Pause { at, handlers: who.iter().map(|who| (*who, yes)).collect() };
        let pauses = vec![pause(store, &[0, 1]), pause(tick, &[0, 1]), pause(tick_store, &[0, 1])];
        (cfa, handlers, pauses)
    }

    /// The values of `x` at the end, with at most so many edges.
    fn values(cfa: &Cfa, most: usize) -> BTreeSet<u128> {
        let end = cfa.locations.iter().position(|l| l.name == "end").unwrap();
        let mut now = BTreeSet::from([(cfa.init, vec![0; cfa.vars.len()])]);
        let mut found = BTreeSet::new();
        for _ in 0..most {
            let mut next = BTreeSet::new();
            for (at, state) in &now {
                for (i, edge) in cfa.edges.iter().enumerate().filter(|(_, e)| e.from == *at) {
                    let after = eval::step(cfa, state, crate::EdgeId(i as u32), |_| 0);
                    next.extend(after.map(|after| (edge.to, after)));
                }
            }
            found.extend(next.iter().filter(|(at, _)| at.index() == end).map(|(_, s)| s[0]));
            now = next;
        }
        found
    }

    #[test]
    fn handlers_run_between_accesses_and_their_writes_are_lost() {
        let (mut cfa, handlers, pauses) = program(2);
        let copied = interleave(&mut cfa, &handlers, &pauses);
        cfa.check().unwrap();
        assert_eq!(copied.len(), 3);
        // Whatever they write is overwritten.
        assert_eq!(values(&cfa, 8), BTreeSet::from([1]));
        // Before the first access, and not: what they write is seen.
        let (mut cfa, handlers, mut pauses) = program(2);
        pauses[0].at = LocId(1);
        interleave(&mut cfa, &handlers, &pauses);
        assert_eq!(values(&cfa, 6), BTreeSet::from([1, 11, 101]));
        assert_eq!(values(&cfa, 8), BTreeSet::from([1, 11, 101, 111, 201]));
    }

    #[test]
    fn only_what_is_more_urgent_interrupts_a_handler() {
        // The write of the second is lost in the first: without it the sum is 111.
        for (priority, is_lost) in [(2, false), (3, false), (1, true)] {
            let (mut cfa, handlers, mut pauses) = program(priority);
            pauses[0] = Pause { at: LocId(1), handlers: vec![pauses[0].handlers[0]] };
            interleave(&mut cfa, &handlers, &pauses);
            cfa.check().unwrap();
            let names: Vec<&str> = cfa.locations.iter().map(|l| l.name.as_str()).collect();
            let nested = names.contains(&"tock at tick.store, load");
            assert_eq!(nested, is_lost, "{names:?}");
            assert!(values(&cfa, 8).contains(&11));
        }
    }

    #[test]
    fn missing_bits_of_a_level_mask_nothing() {
        assert_eq!(priority_bits([]), 3);
        assert_eq!(priority_bits([0x40, 0]), 3);
        assert_eq!(priority_bits([0x40, 0x50]), 4);
        assert_eq!(priority_bits([5]), 8);
        for (priority, base, bits, expected) in [
            (0x40, 0, 3, true),
            (0x40, 0x20, 3, false),
            (0x40, 0x40, 3, false),
            (0x20, 0x40, 3, true),
            // Whoever forgets to shift it masks nothing.
            (0x40, 5, 3, true),
            (0x40, 0x10, 3, true),
            (0x50, 0x10, 4, false),
            (5, 5, 8, false),
        ] {
            assert_eq!(passes(priority, base, bits), expected, "{priority} {base} {bits}");
            let mut pool = Pool::default();
            let level = pool.constant(base.into(), 8);
            let expression = passes_on(&mut pool, priority, level, bits);
            assert_eq!(pool.as_const(expression), Some(expected.into()));
        }
    }

    #[test]
    fn who_is_disabled_does_not_run() {
        let (mut cfa, handlers, mut pauses) = program(1);
        pauses[0].at = LocId(1);
        let never = cfa.pool.bool(false);
        pauses[0].handlers.iter_mut().for_each(|(_, when)| *when = never);
        assert_eq!(interleave(&mut cfa, &handlers, &pauses), []);
        assert_eq!(values(&cfa, 9), BTreeSet::from([1]));
    }
}
