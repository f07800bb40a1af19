//! A checked model to a control flow automaton.
//!
//! One location for each combination of the machines' states that can be reached along transitions
//! whose guards are not constantly false; one edge for each transition out of it (or combination of
//! transitions of several machines); edges to error locations for what may break.
//!
//! - [`engine`], [`eval`], [`exec`]: symbolic execution of actions and expressions.
//! - [`step`]: what machines do in one step, alone and together.
//! - [`constraint`]: which input values a step may see.
//! - [`observe`]: properties, and the variables that remember what they need.
//! - [`lint`]: questions in place of the properties.

mod constraint;
mod engine;
mod eval;
mod exec;
mod lint;
mod observe;
mod step;

use super::hir::{Claim, Model, VarKind};
use super::types::Ty;
use crate::lint::Lint;
use crate::machines::{self, Machines};
use crate::moves::{Move, Moves};
use crate::{Diagnostic, Options};
use constraint::Constraints;
pub use engine::constant;
use engine::{Engine, Failed, Failure, Lower, Stop};
use lint::Questions;
use observe::Observer;
use std::collections::{BTreeMap, HashMap};
use step::{Outcome, Path};
use vouch_ir::{
    BinOp, Cfa, Edge, ExprId, Input, LocId, Property, PropertyId, Span, Var, VarId,
    VarKind as Kind, Word,
};

/// The properties that exist without being stated, if anything can break them.
pub const BUILTIN: &[&str] = &["index_in_range", "no_division_by_zero", "no_overflow"];

/// Combinations of the machines' states.
const MAX_LOCATIONS: usize = 4096;
/// Edges, those to error locations included.
const MAX_EDGES: usize = 65536;

/// What must not happen: a property of the source, or a failure.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Goal {
    Property(usize),
    Failure(Failure),
    Question(usize),
}

struct Lowering<'m> {
    model: &'m Model,
    engine: Engine<'m>,
    /// The nodes that read the variables, scalar by scalar.
    reads: Vec<ExprId>,
    /// The variable of each scalar.
    vars: Vec<VarId>,
    locations: HashMap<Vec<usize>, LocId>,
    todo: Vec<Vec<usize>>,
    /// Edges to error locations, which come to exist last.
    violations: Vec<(LocId, Goal, ExprId, Span)>,
    /// Who moves on each of the other edges.
    moves: Moves,
    observers: Vec<Observer>,
    /// By machine, state, rule and number in the rule: could the guard hold, could it be taken?
    tried: BTreeMap<[usize; 4], (bool, bool)>,
    /// If there are to be questions in place of the properties.
    questions: Option<Questions>,
    /// Whether steps that change nothing are edges, too.
    keeps_idle: bool,
}

/// The automaton of a model, who moves on its edges, and warnings about parts of it that do nothing.
pub fn lower(
    model: &Model,
    text: &str,
    options: &Options,
) -> Result<(Cfa, Moves, Vec<Diagnostic>), Diagnostic> {
    let mut lowering = lowering(model, text, options, None);
    lowering.build()?;
    let warnings = lowering.warnings();
    let mut moves = std::mem::take(&mut lowering.moves);
    let cfa = checked(lowering.finish())?;
    // Nobody moves on an edge to an error.
    moves.resize(cfa.edges.len(), vec![]);
    Ok((cfa, moves, warnings))
}

/// The automaton with questions in place of the properties.
pub fn ask(model: &Model, text: &str, options: &Options) -> Result<Lint, Diagnostic> {
    let mut lowering = lowering(model, text, options, Some(Questions::default()));
    lowering.build()?;
    let questions = lowering.questions.as_ref().map_or_else(Vec::new, |q| q.list.clone());
    checked(lowering.finish()).map(|cfa| Lint { cfa, questions })
}

/// The automaton with the transitions that its edges take.
pub fn machines(model: &Model, text: &str, options: &Options) -> Result<Machines, Diagnostic> {
    let mut lowering = lowering(model, text, options, None);
    lowering.keeps_idle = true;
    lowering.build()?;
    let mut at: Vec<Vec<usize>> = vec![vec![]; lowering.engine.cfa.locations.len()];
    for (config, location) in &lowering.locations {
        at[location.index()].clone_from(config);
    }
    let (mut transitions, mut numbers) = (vec![], HashMap::new());
    let machines = model.machines.iter().enumerate().map(|(m, machine)| {
        for (s, state) in machine.states.iter().enumerate() {
            for (r, rule) in state.rules.iter().enumerate() {
                for (t, transition) in rule.iter().enumerate() {
                    numbers.insert([m, s, r, t], transitions.len());
                    transitions.push(machines::Transition {
                        machine: m,
                        from: s,
                        to: transition.target.unwrap_or(s),
                        name: None,
                        guard: guard_text(transition, text),
                        span: transition.span,
                    });
                }
            }
        }
        let states = machine.states.iter().map(|s| (s.name.clone(), s.span)).collect();
        machines::Machine { name: machine.name.clone(), states }
    });
    let machines = machines.collect();
    let moves = std::mem::take(&mut lowering.moves);
    let number = |one: &Move| {
        let [s, r, t] = one.transition?;
        numbers.get(&[one.machine, s, r, t]).copied()
    };
    let taken = moves.iter().map(|moves| moves.iter().filter_map(number).collect()).collect();
    let cfa = checked(lowering.finish())?;
    Ok(Machines { cfa, machines, transitions, taken, at, plain: vec![], head: None }.complete())
}

/// The guard of a transition as it is written.
fn guard_text(transition: &super::hir::Transition, text: &str) -> String {
    let Span { start, end } = transition.guard.span;
    let words = text.get(start as usize..end as usize).unwrap_or_default();
    match transition.is_else {
        true => "else".into(),
        false => words.split_whitespace().collect::<Vec<&str>>().join(" "),
    }
}

fn checked(cfa: Cfa) -> Result<Cfa, Diagnostic> {
    match cfa.check() {
        Ok(()) => Ok(cfa),
        Err(why) => {
            let error = Diagnostic::error(format!("internal error: {why}"), Span::default(), "");
            Err(error.help("this is a bug of the compiler: please report it with this file"))
        }
    }
}

fn lowering<'m>(
    model: &'m Model,
    text: &'m str,
    options: &Options,
    questions: Option<Questions>,
) -> Lowering<'m> {
    let engine = Engine::new(&model.name, text, &model.functions, options.overflow);
    Lowering {
        model,
        engine,
        reads: vec![],
        vars: vec![],
        locations: HashMap::new(),
        todo: vec![],
        violations: vec![],
        moves: vec![],
        observers: vec![],
        tried: BTreeMap::new(),
        questions,
        keeps_idle: false,
    }
}

impl<'m> Lowering<'m> {
    /// All locations and edges but those of errors.
    fn build(&mut self) -> Result<(), Diagnostic> {
        self.declare();
        let result = self.initialise().and_then(|()| {
            while let Some(config) = self.todo.pop() {
                vouch_ir::deadline::look();
                self.location(&config)?;
            }
            Ok(())
        });
        result.map_err(|stop| {
            let label = if stop.span == Span::default() { "" } else { "here" };
            Diagnostic::error(stop.message, stop.span, label).help(stop.help)
        })
    }

    /// Variables, parameters, inputs and observers.
    fn declare(&mut self) {
        let model = self.model;
        for var in &model.vars {
            self.engine.var_offsets.push(self.vars.len());
            let kind = match var.kind {
                VarKind::State { .. } => Kind::State,
                VarKind::Param { min, max } => Kind::Param { min, max },
            };
            for name in var.ty.leaf_names(&var.name) {
                let (width, ty) = (var.ty.width(), var.ty.ir());
                let id = self.engine.cfa.add_var(Var { name, width, ty, kind });
                self.vars.push(id);
                self.reads.push(self.engine.cfa.read(id));
            }
        }
        for input in &model.inputs {
            let names = input.ty.leaf_names(&input.name);
            let leaves = names.into_iter().map(|name| self.new_input(name, &input.ty)).collect();
            self.engine.inputs.push(leaves);
        }
        self.engine.base = self.vars.len();
        self.observers = observe::declare(model, &mut self.engine.cfa);
    }

    fn new_input(&mut self, name: String, ty: &Ty) -> ExprId {
        let input = self.engine.cfa.add_input(Input { name, width: ty.width(), ty: ty.ir() });
        self.engine.cfa.sample(input)
    }

    /// The edge from `init`: ranges of parameters, initial values, entry actions.
    fn initialise(&mut self) -> Lower<()> {
        let model = self.model;
        self.engine.config = model.machines.iter().map(|m| m.initial).collect();
        self.load(&Path::start(&self.reads));
        let mut given = self.engine.cfa.pool.bool(true);
        for (v, var) in model.vars.iter().enumerate() {
            let offset = self.engine.var_offsets[v];
            match &var.kind {
                VarKind::Param { min, max } => {
                    for leaf in offset..offset + var.ty.leaves() {
                        let within = self.within(self.reads[leaf], &var.ty, *min, *max);
                        given = self.engine.cfa.pool.and(given, within);
                    }
                }
                VarKind::State { init, constraint } => {
                    let values = match init {
                        Some(init) => self.engine.leaves(init)?,
                        None => self.free(&var.name, &var.ty),
                    };
                    self.engine.env.values[offset..offset + values.len()].copy_from_slice(&values);
                    if let Some(constraint) = constraint {
                        let holds = self.engine.scalar(constraint)?;
                        if self.engine.cfa.pool.as_const(holds) == Some(0) {
                            let message = format!("no initial value of `{}` is possible", var.name);
                            return Err(Stop::impossible(message, constraint.span));
                        }
                        self.engine.assume(holds);
                    }
                }
            }
        }
        let constraints = Constraints::new(model, &mut self.engine)?;
        for (m, machine) in model.machines.iter().enumerate() {
            self.engine.block(&machine.states[self.engine.config[m]].entry)?;
        }
        let config = self.engine.config.clone();
        let from = self.engine.cfa.init;
        let to = self.location_of(&config)?;
        let live = self.engine.live;
        let guard = self.engine.cfa.pool.and(given, live);
        let mut updates = self.updates(&self.engine.env.values.clone());
        observe::reset(&self.observers, &mut self.engine.cfa, &mut updates);
        let span = model.machines.first().map_or(Span::default(), |m| m.states[m.initial].span);
        let guard = constraints.complete(&mut self.engine.cfa, guard, &updates);
        self.add_edge(Edge { from, to, guard, updates, span }, vec![])?;
        let failed = std::mem::take(&mut self.engine.failed);
        self.fail(from, failed, given, &constraints)
    }

    fn within(&mut self, value: ExprId, ty: &Ty, min: Word, max: Word) -> ExprId {
        let pool = &mut self.engine.cfa.pool;
        let (lowest, highest) = ty.leaf().range();
        let op = if ty.leaf().is_signed() { BinOp::Sle } else { BinOp::Ule };
        let mut holds = pool.bool(true);
        let unused_patterns = ty.enum_bound().is_some();
        if min != ty.encode(lowest) {
            let min = pool.constant(min, ty.width());
            holds = pool.binary(op, min, value);
        }
        if max != ty.encode(highest) || unused_patterns {
            let max = pool.constant(max, ty.width());
            let below = pool.binary(op, value, max);
            holds = pool.and(holds, below);
        }
        holds
    }

    /// Fresh inputs for a variable without initial value.
    fn free(&mut self, name: &str, ty: &Ty) -> Vec<ExprId> {
        let mut values = vec![];
        for name in ty.leaf_names(name) {
            let value = self.new_input(format!("{name}.init"), ty);
            if let Some(bound) = self.engine.within_enum(value, ty) {
                self.engine.assume(bound);
            }
            values.push(value);
        }
        values
    }

    /// The variables that have another value than before.
    fn updates(&self, values: &[ExprId]) -> Vec<(VarId, ExprId)> {
        let pairs = self.vars.iter().zip(&self.reads).zip(values);
        pairs.filter(|((_, read), new)| read != new).map(|((var, _), new)| (*var, *new)).collect()
    }

    /// The location of a combination of states; a new one is put on the list.
    fn location_of(&mut self, config: &[usize]) -> Lower<LocId> {
        if let Some(id) = self.locations.get(config) {
            return Ok(*id);
        }
        let states: Vec<_> =
            self.model.machines.iter().zip(config).map(|(m, s)| &m.states[*s]).collect();
        let span = states.first().map_or(Span::default(), |s| s.span);
        if self.locations.len() >= MAX_LOCATIONS {
            let message =
                format!("the machines together have more than {MAX_LOCATIONS} combined states");
            return Err(Stop::too_large(message, span));
        }
        let name = states.iter().map(|s| s.name.as_str()).collect::<Vec<_>>().join("|");
        let id = self.engine.cfa.add_location(name, span);
        self.locations.insert(config.to_vec(), id);
        self.todo.push(config.to_vec());
        Ok(id)
    }

    fn add_edge(&mut self, edge: Edge, moves: Vec<Move>) -> Lower<()> {
        let count = self.engine.cfa.edges.len() + self.violations.len();
        // An edge is looked at again by everything that follows.
        self.engine.work(256, edge.span)?;
        if count >= MAX_EDGES {
            let message = format!("the model has more than {MAX_EDGES} transitions");
            return Err(Stop::too_large(message, edge.span));
        }
        if self.engine.cfa.pool.as_const(edge.guard) != Some(0) {
            self.engine.cfa.add_edge(edge);
            self.moves.push(moves);
        }
        Ok(())
    }

    /// Records where a run ends in a failure.
    fn fail(
        &mut self,
        from: LocId,
        failed: Vec<Failed>,
        given: ExprId,
        constraints: &Constraints,
    ) -> Lower<()> {
        for Failed { failure, condition, span } in failed {
            self.engine.work(256, span)?;
            let cfa = &mut self.engine.cfa;
            let guard = cfa.pool.and(given, condition);
            let guard = constraints.complete(cfa, guard, &[]);
            if cfa.pool.as_const(guard) != Some(0) {
                let goal = match failure {
                    Failure::Question(number) => Goal::Question(number),
                    failure => Goal::Failure(failure),
                };
                self.violations.push((from, goal, guard, span));
            }
        }
        Ok(())
    }

    /// All edges that leave a combination of states.
    fn location(&mut self, config: &[usize]) -> Lower<()> {
        let from = self.location_of(config)?;
        let model = self.model;
        let Some(schedule) = &model.schedule else { return Ok(()) };
        let start = Path::start(&self.reads);

        self.load(&start);
        self.engine.config = config.to_vec();
        let observed = self.observe(from)?;
        self.ask_location(from, config)?;

        self.load(&start);
        let constraints = Constraints::new(model, &mut self.engine)?;
        let given = self.engine.live;
        let failed = std::mem::take(&mut self.engine.failed);
        let yes = self.engine.cfa.pool.bool(true);
        self.fail(from, failed, yes, &constraints)?;
        self.ask_deadlock(from, config, &constraints)?;
        let mut failed = vec![];
        let outcomes = self.run(schedule, config, &start, &mut failed)?;
        self.fail(from, failed, given, &constraints)?;
        for Outcome { guard, path, config: next, span, moves } in outcomes {
            let mut updates = self.updates(&path.values);
            updates.extend(&observed);
            if updates.is_empty() && next == config && !self.keeps_idle {
                // Nothing changes: a run with such a step is as good as one without.
                continue;
            }
            let cfa = &mut self.engine.cfa;
            let guard = cfa.pool.and(guard, given);
            if cfa.pool.as_const(guard) == Some(0) {
                continue;
            }
            let guard = constraints.complete(cfa, guard, &updates);
            let to = self.location_of(&next)?;
            self.add_edge(Edge { from, to, guard, updates, span }, moves)?;
        }
        Ok(())
    }

    /// Error locations, properties, and the edges to them.
    fn finish(mut self) -> Cfa {
        let cfa = &mut self.engine.cfa;
        let model = self.model;
        let mut goals: Vec<(Goal, String, Span)> = vec![];
        let asked = self.questions.is_some();
        for (i, q) in self.questions.iter().flat_map(|q| q.list.iter().enumerate()) {
            goals.push((Goal::Question(i), format!("question {i}"), q.span));
        }
        for (i, p) in model.properties.iter().enumerate() {
            goals.push((Goal::Property(i), p.name.clone(), p.span));
        }
        for (i, a) in model.asserts.iter().enumerate() {
            goals.push((Goal::Failure(Failure::Assert(i)), a.name.clone(), a.span));
        }
        for (failure, name) in
            [Failure::Index, Failure::Division, Failure::Overflow].into_iter().zip(BUILTIN)
        {
            // Stated by nobody, so that it is there only if something can break it.
            let first = self.violations.iter().find(|v| v.1 == Goal::Failure(failure));
            if let Some((_, _, _, span)) = first {
                goals.push((Goal::Failure(failure), (*name).to_owned(), *span));
            }
        }
        goals.retain(|g| matches!(g.0, Goal::Question(_)) == asked);
        let mut errors = BTreeMap::new();
        for (goal, name, span) in goals {
            let error = cfa.add_location(format!("error: {name}"), span);
            if matches!(goal, Goal::Failure(failure) if failure.is_fatal()) {
                cfa.fatal.push(PropertyId(cfa.properties.len() as u32));
            }
            cfa.properties.push(Property { name, error, span });
            errors.insert(goal, error);
        }
        for (from, goal, guard, span) in self.violations {
            if let Some(to) = errors.get(&goal) {
                cfa.add_edge(Edge { from, to: *to, guard, updates: vec![], span });
            }
        }
        self.engine.cfa
    }

    fn warnings(&self) -> Vec<Diagnostic> {
        let mut warnings = vec![];
        for (m, machine) in self.model.machines.iter().enumerate() {
            for (s, state) in machine.states.iter().enumerate() {
                if !self.locations.keys().any(|config| config[m] == s) {
                    let message = format!("the state {} can't be reached", state.name);
                    let label = "no transition leads here";
                    let warning = Diagnostic::warning(message, state.span, label);
                    let help = format!("write `-> {}` in a transition, or remove it", state.name);
                    warnings.push(warning.help(help));
                }
            }
        }
        for ([m, s, r, t], (may_hold, may_be_taken)) in &self.tried {
            let transition = &self.model.machines[*m].states[*s].rules[*r][*t];
            let warning = if !may_hold {
                let message = "this transition is never taken: its guard is always false";
                Diagnostic::warning(message, transition.guard.span, "always false")
                    .help("check the guard, or remove the transition")
            } else if !may_be_taken && !transition.is_else {
                let message = "this transition is never taken: an earlier one always is";
                Diagnostic::warning(message, transition.span, "never gets its turn")
                    .help("transitions are tried in order: move it up, or remove it")
            } else {
                continue;
            };
            warnings.push(warning);
        }
        for (p, property) in self.model.properties.iter().enumerate() {
            let may_break = self.violations.iter().any(|v| v.1 == Goal::Property(p));
            if let Claim::Always(e) = &property.claim
                && !may_break
                && !e.asks_for_states()
            {
                let message = format!("nothing can break the property {}", property.name);
                let label = "true for all values that its variables can have";
                let help = "compare with a smaller bound, or remove it";
                warnings.push(Diagnostic::warning(message, e.span, label).help(help));
            }
        }
        warnings
    }
}
