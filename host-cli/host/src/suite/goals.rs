//! What is to be covered, and which steps cover it.

use crate::frontend::machines::Machines;
use crate::ir::{BinOp, Cfa, EdgeId, Expr, ExprId, InputId, LocId, Span, UnOp, VarId, eval};
use crate::validate::{State, Taken};
use std::collections::{BTreeMap, BTreeSet};
use std::str::FromStr;

/// Conditions that are told apart in the guards of a location at most.
const ATOMS: usize = 200;

/// What a suite covers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Cover {
    /// Each state of each machine is entered.
    States,
    /// Each transition is taken.
    #[default]
    Transitions,
    /// Each transition is taken right after each of those that lead to its state.
    Pairs,
    /// Each comparison in a guard is true once and false once, when its guard decides.
    Conditions,
}

impl Cover {
    /// All of them.
    pub const ALL: [Cover; 4] =
        [Cover::States, Cover::Transitions, Cover::Pairs, Cover::Conditions];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Cover::States => "states",
            Cover::Transitions => "transitions",
            Cover::Pairs => "pairs",
            Cover::Conditions => "conditions",
        }
    }
}

impl FromStr for Cover {
    type Err = String;
    fn from_str(name: &str) -> Result<Cover, String> {
        let known = Cover::ALL.map(Cover::name).join(", ");
        let found = Cover::ALL.into_iter().find(|c| c.name() == name);
        found.ok_or_else(|| format!("`{name}` cannot be covered; what can: {known}"))
    }
}

/// Something to be covered.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Goal {
    /// What it is, in the words of the source.
    pub name: String,
    /// Where it is there.
    pub span: Span,
    /// What covers it.
    pub what: What,
}

/// What covers a goal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum What {
    /// To be at one of these locations.
    At(Vec<LocId>),
    /// To take this transition.
    Taken(usize),
    /// To take one transition, the machine's last one having been another.
    Pair(usize, usize),
    /// To leave a location by an edge whose guard has a condition, with this value of it.
    Condition {
        /// The location that is left.
        at: LocId,
        /// The condition in the guard, as an expression of the automaton.
        atom: ExprId,
        /// The value that the condition has to have.
        value: bool,
    },
}

/// A condition, with the goals for false and true.
type Condition = (ExprId, [usize; 2]);

/// All goals for a model, and what finds them.
pub struct Goals<'m> {
    /// What they are about.
    pub moves: &'m Machines,
    /// All goals; other parts of a suite refer to them by index.
    pub list: Vec<Goal>,
    at: BTreeMap<LocId, Vec<usize>>,
    taken: BTreeMap<usize, usize>,
    pairs: BTreeMap<(usize, usize), usize>,
    /// For each edge: conditions in its guard.
    conditions: BTreeMap<EdgeId, Vec<Condition>>,
}

impl<'m> Goals<'m> {
    /// The goals that a model has.
    pub fn new(moves: &'m Machines, cover: Cover) -> Goals<'m> {
        let mut goals = Goals {
            moves,
            list: vec![],
            at: BTreeMap::new(),
            taken: BTreeMap::new(),
            pairs: BTreeMap::new(),
            conditions: BTreeMap::new(),
        };
        match cover {
            Cover::States => goals.add_states(),
            Cover::Transitions => goals.add_transitions(),
            Cover::Pairs => goals.add_pairs(),
            Cover::Conditions => goals.add_conditions(),
        }
        goals
    }

    fn add(&mut self, name: String, span: Span, what: What) -> usize {
        self.list.push(Goal { name, span, what });
        self.list.len() - 1
    }

    fn add_states(&mut self) {
        let moves = self.moves;
        for (m, machine) in moves.machines.iter().enumerate() {
            for (s, (name, span)) in machine.states.iter().enumerate() {
                let here = (0..).map(LocId).zip(&moves.at);
                let here: Vec<LocId> =
                    here.filter(|(_, at)| at.get(m) == Some(&s)).map(|(id, _)| id).collect();
                let name = format!("{}{name}", prefix(moves, m));
                let number = self.add(name, *span, What::At(here.clone()));
                for location in here {
                    self.at.entry(location).or_default().push(number);
                }
            }
        }
    }

    fn add_transitions(&mut self) {
        for (number, transition) in self.moves.transitions.iter().enumerate() {
            let name = transition_name(self.moves, number);
            let goal = self.add(name, transition.span, What::Taken(number));
            self.taken.insert(number, goal);
        }
    }

    fn add_pairs(&mut self) {
        let all = &self.moves.transitions;
        for (a, first) in all.iter().enumerate() {
            for (b, second) in all.iter().enumerate() {
                if first.machine == second.machine && first.to == second.from {
                    let names = [a, b].map(|t| transition_name(self.moves, t));
                    let name = format!("{}, then {}", names[0], names[1]);
                    let goal = self.add(name, second.span, What::Pair(a, b));
                    self.pairs.insert((a, b), goal);
                }
            }
        }
    }

    fn add_conditions(&mut self) {
        let cfa = &self.moves.cfa;
        for at in (0..cfa.locations.len() as u32).map(LocId).filter(|at| *at != cfa.init) {
            let leaving = (0..).map(EdgeId).zip(&cfa.edges).filter(|(_, e)| e.from == at);
            // Where something breaks is another matter.
            let leaving = leaving.filter(|(_, e)| !self.moves.at[e.to.index()].is_empty());
            let guards: Vec<(EdgeId, ExprId)> = leaving.map(|(id, e)| (id, e.guard)).collect();
            let always = required(cfa, guards.iter().map(|g| g.1));
            let mut numbers: BTreeMap<ExprId, [usize; 2]> = BTreeMap::new();
            for (edge, guard) in &guards {
                let mut own = vec![];
                for atom in atoms(cfa, *guard) {
                    if always.contains(&atom) || numbers.len() >= ATOMS {
                        continue;
                    }
                    let known = numbers.get(&atom).copied();
                    let goals = known.unwrap_or_else(|| {
                        [false, true].map(|value| self.add_condition(*edge, at, atom, value))
                    });
                    numbers.insert(atom, goals);
                    own.push((atom, goals));
                }
                self.conditions.insert(*edge, own);
            }
        }
    }

    fn add_condition(&mut self, edge: EdgeId, at: LocId, atom: ExprId, value: bool) -> usize {
        let cfa = &self.moves.cfa;
        let place = &cfa.locations[at.index()].name;
        let text = crate::conditions::condition(cfa, atom).unwrap_or_else(|| "a condition".into());
        let name = format!("{place}: {text} is {value}");
        self.add(name, cfa.edges[edge.index()].span, What::Condition { at, atom, value })
    }

    /// What must be remembered between steps: the last transition of each machine.
    pub fn memory(&self) -> Vec<Option<usize>> {
        vec![None; self.moves.machines.len()]
    }

    /// Remembers a step.
    pub fn remember(&self, taken: &Taken, memory: &mut [Option<usize>]) {
        for transition in self.transitions(taken.edge) {
            memory[self.moves.transitions[*transition].machine] = Some(*transition);
        }
    }

    fn transitions(&self, edge: EdgeId) -> &[usize] {
        self.moves.taken.get(edge.index()).map_or(&[], |taken| taken)
    }

    /// The goals that it covers to be at a location.
    pub fn at(&self, location: LocId) -> &[usize] {
        self.at.get(&location).map_or(&[], |goals| goals)
    }

    /// The goals that a step covers.
    pub fn step(
        &self,
        from: &State,
        step: &Taken,
        to: &State,
        memory: &[Option<usize>],
    ) -> Vec<usize> {
        let mut covers = self.at(to.location).to_vec();
        for transition in self.transitions(step.edge) {
            covers.extend(self.taken.get(transition));
            let before = memory[self.moves.transitions[*transition].machine];
            covers.extend(before.and_then(|before| self.pairs.get(&(before, *transition))));
        }
        if let Some(own) = self.conditions.get(&step.edge) {
            let roots: Vec<ExprId> = own.iter().map(|(atom, _)| *atom).collect();
            let var = |id: VarId| from.values[id.index()];
            let input = |id: InputId| step.inputs.iter().find(|i| i.0 == id).map_or(0, |i| i.1);
            let values = eval::expressions(&self.moves.cfa.pool, &roots, var, input);
            covers.extend(own.iter().zip(values).map(|((_, goals), v)| goals[(v != 0) as usize]));
        }
        covers
    }
}

/// `drive: ` if there are several machines.
fn prefix(moves: &Machines, machine: usize) -> String {
    match &moves.machines[..] {
        [_] => String::new(),
        all => format!("{}: ", all[machine].name),
    }
}

/// A transition in the words of the source.
pub fn transition_name(moves: &Machines, number: usize) -> String {
    let t = &moves.transitions[number];
    let machine = &moves.machines[t.machine];
    let (from, to) = (&machine.states[t.from].0, &machine.states[t.to].0);
    let text = match &t.name {
        Some(name) => name.clone(),
        None if t.guard == "else" => format!("{from} -> {to} otherwise"),
        None => format!("{from} -> {to} on {}", t.guard),
    };
    format!("{}{text}", prefix(moves, t.machine))
}

/// The conditions that a guard is put together from.
pub fn atoms(cfa: &Cfa, guard: ExprId) -> BTreeSet<ExprId> {
    let pool = &cfa.pool;
    let mut atoms = BTreeSet::new();
    let mut seen = BTreeSet::new();
    let mut stack = vec![guard];
    while let Some(x) = stack.pop() {
        if !seen.insert(x) {
            continue;
        }
        match pool.get(x) {
            Expr::Const(_) => {}
            Expr::Unary(UnOp::Not, a) => stack.push(a),
            Expr::Binary(BinOp::And | BinOp::Or | BinOp::Xor, a, b) => stack.extend([a, b]),
            Expr::Binary(BinOp::Eq, a, b) if pool.width(a) == 1 => stack.extend([a, b]),
            Expr::Ite(c, t, e) => stack.extend([c, t, e]),
            _ => drop(atoms.insert(x)),
        }
    }
    atoms
}

/// Conditions that all guards require: what is assumed of the inputs.
fn required(cfa: &Cfa, guards: impl Iterator<Item = ExprId>) -> BTreeSet<ExprId> {
    let conjuncts = |guard: ExprId| {
        let mut all = BTreeSet::new();
        let mut stack = vec![guard];
        while let Some(x) = stack.pop() {
            match cfa.pool.get(x) {
                Expr::Binary(BinOp::And, a, b) => stack.extend([a, b]),
                _ => drop(all.insert(x)),
            }
        }
        all
    };
    guards.map(conjuncts).reduce(|a, b| &a & &b).unwrap_or_default()
}
