//! Goals as properties of an automaton, for an engine: each is a location that must not be reached.

use super::goals::{Goals, What};
use crate::blast::{self, AlignedImage, BlastError};
use crate::engines::{Engine, EngineError, Setup};
use crate::frontend::machines::Machines;
use crate::ir::{
    Cfa, Edge, EdgeId, ExprId, LocId, Property, PropertyId, Span, Type, Var, VarId, VarKind, Word,
};
use crate::judge::{self, Finding};
use crate::simplify::{self, Passes};
use crate::walk::Walk;
use vouch_core::ic3::Stats;

/// Why nothing could be found out.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AskError {
    /// The automaton cannot become an image.
    #[error("{0}")]
    Compile(#[from] BlastError),
    /// The engine could not run.
    #[error("{0}")]
    Engine(#[from] EngineError),
}

/// What is known of a goal.
pub enum Answer {
    /// This run covers it.
    Reached(Walk),
    /// No run does.
    Never,
    /// Neither, and why.
    Unknown(String),
}

/// An automaton with goals as properties.
struct Asked {
    cfa: Cfa,
    /// What edges to goals represent, from this number on: an edge of the model, or nothing.
    first: usize,
    real: Vec<Option<EdgeId>>,
}

/// Asks about some of the goals.
pub fn ask(
    moves: &Machines,
    goals: &Goals<'_>,
    open: &[usize],
    bindings: &[(VarId, Word)],
    passes: &Passes,
    setup: &Setup,
    watch: &mut dyn FnMut(&Stats) -> bool,
) -> Result<Vec<(usize, Answer)>, AskError> {
    let asked = automaton(goals, open, bindings);
    let cfa = &asked.cfa;
    let simplified = simplify::run(cfa, passes);
    let model = blast::compile(&simplified.cfa, [0; 32], &blast::Options::default())?;
    let answer = Engine::default().run(&AlignedImage::new(&model.image), setup, watch)?;
    let properties = (0..cfa.properties.len() as u32).map(PropertyId).collect();
    let question = judge::Question { properties, ..Default::default() };
    let judgement = judge::judge_simplified(cfa, &simplified, &model.map, &question, &answer, true);
    let findings = judgement.findings.into_iter().take(open.len());
    let answers = open.iter().zip(findings).map(|(goal, (_, finding))| {
        let answer = match finding {
            Finding::Safe => Answer::Never,
            Finding::Unknown(why) => Answer::Unknown(why.to_string()),
            Finding::Unsafe(broken) => match asked.walk(moves, &broken.trace) {
                Some(walk) => Answer::Reached(walk),
                None => Answer::Unknown("the run that was found is not one of the model".into()),
            },
        };
        (*goal, answer)
    });
    Ok(answers.collect())
}

impl Asked {
    /// A run to a goal, as one of the model.
    fn walk(&self, moves: &Machines, trace: &crate::ir::Trace) -> Option<Walk> {
        let vars = moves.cfa.vars.len();
        let initial: Vec<_> =
            trace.initial.iter().filter(|(var, _)| var.index() < vars).copied().collect();
        let mut steps = trace.steps.clone();
        let last = steps.last_mut()?;
        match self.real.get(last.edge.index().checked_sub(self.first)?)? {
            Some(real) => last.edge = *real,
            None => drop(steps.pop()),
        }
        super::follow(moves, &initial, &steps)
    }
}

/// The automaton with the goals as properties, and the model's own limits after them.
fn automaton(goals: &Goals<'_>, open: &[usize], bindings: &[(VarId, Word)]) -> Asked {
    let moves = goals.moves;
    let mut cfa = moves.cfa.clone();
    let first = cfa.edges.len();
    let limits: Vec<Property> =
        cfa.limits.iter().map(|p| cfa.properties[p.index()].clone()).collect();
    cfa.properties.clear();
    cfa.limits.clear();
    cfa.fatal.clear();
    let needs_memory = open.iter().any(|g| matches!(goals.list[*g].what, What::Pair(..)));
    let memory = if needs_memory { remember(&mut cfa, moves) } else { vec![] };
    let mut real = vec![];
    for goal in open {
        let to = cfa.add_location(format!("goal {goal}"), Span::default());
        cfa.properties.push(Property {
            name: format!("goal {goal}"),
            error: to,
            span: Span::default(),
        });
        let mut lead = |cfa: &mut Cfa, from: LocId, guard: ExprId, edge: Option<EdgeId>| {
            cfa.add_edge(Edge { from, to, guard, updates: vec![], span: Span::default() });
            real.push(edge);
        };
        let takes = |transition: usize| {
            let edges = (0..).map(EdgeId).zip(&moves.taken);
            edges.filter(move |(_, taken)| taken.contains(&transition)).map(|(id, _)| id)
        };
        match &goals.list[*goal].what {
            What::At(places) => {
                for from in places {
                    let always = cfa.pool.bool(true);
                    lead(&mut cfa, *from, always, None);
                }
            }
            What::Taken(transition) => {
                for id in takes(*transition) {
                    let Edge { from, guard, .. } = moves.cfa.edges[id.index()];
                    lead(&mut cfa, from, guard, Some(id));
                }
            }
            What::Pair(before, transition) => {
                let machine = moves.transitions[*transition].machine;
                let was = cfa.read(memory[machine]);
                let number = cfa.pool.constant(*before as Word + 1, cfa.pool.width(was));
                let was = cfa.pool.equal(was, number);
                for id in takes(*transition) {
                    let Edge { from, guard, .. } = moves.cfa.edges[id.index()];
                    let guard = cfa.pool.and(guard, was);
                    lead(&mut cfa, from, guard, Some(id));
                }
            }
            What::Condition { at, atom, value } => {
                let holds = if *value { *atom } else { cfa.pool.not(*atom) };
                for (id, edge) in (0..).map(EdgeId).zip(&moves.cfa.edges) {
                    let is_inner = !moves.at[edge.to.index()].is_empty();
                    if edge.from == *at
                        && is_inner
                        && super::goals::atoms(&moves.cfa, edge.guard).contains(atom)
                    {
                        let guard = cfa.pool.and(edge.guard, holds);
                        lead(&mut cfa, *at, guard, Some(id));
                    }
                }
            }
        }
    }
    for limit in limits {
        cfa.limits.push(PropertyId(cfa.properties.len() as u32));
        cfa.properties.push(limit);
    }
    bind(&mut cfa, bindings);
    Asked { cfa, first, real }
}

/// A variable for each machine that tells its last transition; 0 if there was none.
fn remember(cfa: &mut Cfa, moves: &Machines) -> Vec<VarId> {
    let width = usize::BITS - (moves.transitions.len() + 1).leading_zeros();
    let variable = |name: &str| {
        let name = format!("last transition of {name}");
        Var { name, width, ty: Type::Unsigned, kind: VarKind::State }
    };
    let vars: Vec<VarId> = moves.machines.iter().map(|m| cfa.add_var(variable(&m.name))).collect();
    for id in 0..moves.cfa.edges.len() {
        let mut numbers: Vec<Option<Word>> = vec![None; vars.len()];
        if cfa.edges[id].from == cfa.init {
            numbers.fill(Some(0));
        }
        for transition in &moves.taken[id] {
            numbers[moves.transitions[*transition].machine] = Some(*transition as Word + 1);
        }
        for (var, number) in vars.iter().zip(numbers) {
            if let Some(number) = number {
                let value = cfa.pool.constant(number, width);
                cfa.edges[id].updates.push((*var, value));
            }
        }
    }
    vars
}

/// Lets parameters have no other value than the one that they are bound to.
fn bind(cfa: &mut Cfa, bindings: &[(VarId, Word)]) {
    for (var, word) in bindings {
        if let VarKind::Param { min, max } = &mut cfa.vars[var.index()].kind {
            (*min, *max) = (*word, *word);
        }
        let (read, width) = (cfa.read(*var), cfa.vars[var.index()].width);
        let value = cfa.pool.constant(*word, width);
        let is = cfa.pool.equal(read, value);
        for at in 0..cfa.edges.len() {
            if cfa.edges[at].from == cfa.init {
                let guard = cfa.pool.and(cfa.edges[at].guard, is);
                cfa.edges[at].guard = guard;
            }
        }
    }
}
