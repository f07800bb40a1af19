//! Smaller automata with the same verdicts.
//!
//! A pass takes an automaton and makes it smaller; how a result for the smaller one is a result for
//! the one before is in its [`back::Step`]. Verdicts are validated on the automaton as the front
//! end made it, so nothing in here has to be trusted: a pass that is wrong ends in *unknown*.
//!
//! - [`passes`]: which passes there are, their order, and the choice among them.
//! - [`constants`], [`narrow`]: values that variables have at a location, by abstract interpretation
//!   ([`value`], [`flow`]), and expressions rewritten with them ([`rewrite`]).
//! - [`equal`]: bits that are constant, or always equal another one or its complement ([`classes`]), as
//!   [`candidates`], then proved.
//! - [`slice`]: what no error depends on.
//! - [`dead`]: assignments that nobody reads ([`live`]).
//! - [`blocks`]: large-block encoding: loop-free parts become single edges.
//! - [`merge`]: locations with the same future.
//! - [`unfold`]: variables with few values become locations; [`control`]: so do those that decide most of what a
//!   circuit does ([`splitting`]).
//! - [`relate`], [`linear`]: comparisons of variables, and linear equations that hold in random runs
//!   ([`affine`]), as variables of their own ([`derived`]), so that invariants can speak of them.
//! - [`order`]: words that are only copied and compared become how they compare; [`sums`]: words that matter only
//!   in sums become these, a basis of each location's [`lattice`].
//! - [`loops`]: whether runs can stay among some locations.
//! - [`states`]: the variable that says which state a machine is in.
//! - [`back`]: traces and certificates in terms of the automaton before; [`fact`]: what certificates then need.
//! - [`stats`]: what a pass has removed.
//!
//! # What passes keep to
//!
//! Variables, inputs and locations keep their numbers, and parameters stay what they are; a location
//! that is gone just has no edges. Inputs and locations may be added at the end, and so may variables
//! whose values others determine. A *fact* that a pass relies on is a clause over variables that are
//! live where it is, because a later pass may drop assignments to others. Equal automata give equal results: no order of a hash table enters.

pub mod affine;
pub mod back;
pub mod blocks;
pub mod candidates;
pub mod classes;
pub mod constants;
pub mod control;
pub mod dead;
pub mod derived;
pub mod equal;
pub mod fact;
pub mod flow;
pub mod lattice;
pub mod linear;
pub mod loops;
pub mod merge;
pub mod narrow;
pub mod order;
pub mod passes;
pub mod relate;
pub mod rewrite;
pub mod slice;
pub mod splitting;
pub mod states;
pub mod stats;
pub mod sums;
pub mod unfold;
pub mod value;

use back::Step;
pub use back::{Back, BackError};
pub use passes::{Pass, Passes};
pub use stats::{PassStats, Size};

use rustc_hash::FxHashMap as HashMap;
use std::time::Instant;
use vouch_ir::deadline;
use vouch_ir::{Cfa, Clause, Edge, ExprId, Input, Location, Pool, Var};

/// A smaller automaton, and what it has to do with the one before.
#[derive(Clone, PartialEq, Debug)]
pub struct Simplified {
    /// The automaton after the last pass.
    pub cfa: Cfa,
    /// From its traces and certificates to those of the one before.
    pub back: Back,
    /// Clauses that may be invariants and are worth a try.
    pub candidates: Vec<Clause>,
    /// What was done.
    pub stats: Vec<PassStats>,
    /// Whether a pass was left out because it had taken its share of the time: with more time the model may be a better one.
    pub hurried: bool,
}

impl Simplified {
    /// An automaton that passes have led to, or none.
    pub fn of(cfa: Cfa, back: Back) -> Simplified {
        Simplified { cfa, back, candidates: vec![], stats: vec![], hurried: false }
    }
}

/// Runs the passes. `cfa` is well-formed, as [`Cfa::check`] says it.
pub fn run(cfa: &Cfa, passes: &Passes) -> Simplified {
    let mut result = Simplified::of(cfa.clone(), Back::default());
    // At least half of the time is for the proof; and however long one pass takes, the next have a chance.
    let mine = deadline::current().share(2);
    // How often the automaton has changed, and at which change each pass has seen it last.
    let mut changes = 0;
    let mut seen = HashMap::default();
    for pass in passes.schedule() {
        if seen.insert(pass, changes) == Some(changes) {
            continue;
        }
        let (edges, vars) = (result.cfa.edges.clone(), result.cfa.vars.len());
        let before = Size::of(&result.cfa);
        deadline::phase(format!("simplifying ({})", pass.name()));
        let start = Instant::now();
        let kept = Kept::of(&result.cfa);
        let mine = mine.share(2);
        let step = mine
            .enter(|| pass.run(&mut result.cfa, cfa, &result.back, passes.kept()))
            .unwrap_or_else(|_| {
                deadline::look();
                // It has taken its share: the model does without it.
                kept.put_back(&mut result.cfa);
                result.hurried = true;
                Step::unchanged(&result.cfa)
            });
        let time = start.elapsed();
        debug_assert_eq!(result.cfa.check(), Ok(()), "after {}", pass.name());
        // What was found but changed nothing is not worth a step.
        if result.cfa.edges != edges || result.cfa.vars.len() != vars {
            changes += 1;
            seen.insert(pass, changes);
            result.back.push(step);
        }
        let after = Size::of(&result.cfa);
        result.stats.push(PassStats { pass, before, after, time });
    }
    result.candidates = derived::candidates(&result.cfa, cfa.vars.len());
    if changes > 0 {
        collect(&mut result.cfa);
    }
    result
}

/// What passes change in an automaton. Expressions they only add.
struct Kept {
    expressions: usize,
    vars: Vec<Var>,
    inputs: Vec<Input>,
    locations: Vec<Location>,
    edges: Vec<Edge>,
}

impl Kept {
    fn of(cfa: &Cfa) -> Kept {
        let Cfa { vars, inputs, locations, edges, .. } = cfa;
        Kept {
            expressions: cfa.pool.len(),
            vars: vars.clone(),
            inputs: inputs.clone(),
            locations: locations.clone(),
            edges: edges.clone(),
        }
    }

    fn put_back(self, cfa: &mut Cfa) {
        let Kept { expressions, vars, inputs, locations, edges } = self;
        cfa.pool.truncate(expressions);
        (cfa.vars, cfa.inputs, cfa.locations, cfa.edges) = (vars, inputs, locations, edges);
    }
}

/// Throws expressions away that no edge uses.
fn collect(cfa: &mut Cfa) {
    let mut pool = Pool::default();
    let mut moved: HashMap<ExprId, ExprId> = HashMap::default();
    for id in stats::used(cfa) {
        let expr = cfa.pool.get(id).map_operands(|x| moved[&x]);
        // Rebuilding what a constructor has built gives the same, so the automaton does not change.
        let new = pool.make(expr, cfa.pool.width(id));
        moved.insert(id, new);
    }
    cfa.edges.iter_mut().for_each(|edge| edge.map_roots(|x| moved[&x]));
    cfa.pool = pool;
}
