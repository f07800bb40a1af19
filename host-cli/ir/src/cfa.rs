//! The automaton: variables, inputs, locations, edges, properties.

use super::expr::{Expr, ExprId, Pool, Word};
use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident),*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// As an index.
            pub fn index(self) -> usize {
                self.0 as usize
            }
        }
    )*};
}
ids! {
    /// A state variable or parameter.
    VarId,
    /// An input: its position in [`Cfa::inputs`].
    InputId,
    /// A location: its position in [`Cfa::locations`].
    LocId,
    /// An edge: its position in [`Cfa::edges`].
    EdgeId,
    /// A property: its position in [`Cfa::properties`].
    PropertyId
}

/// A byte range of the source text.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize,
)]
pub struct Span {
    /// Offset of the first byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

/// How a value is shown; the width alone decides what it can be.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Type {
    /// `true` or `false`.
    Bool,
    /// An unsigned number.
    Unsigned,
    /// A number in two's complement.
    Signed,
    /// Values with names; others are numbers.
    Enum(Vec<(Word, String)>),
    /// A floating-point number of IEEE 754, of 32 or 64 bits.
    Float,
}

impl Type {
    /// Names for 0, 1, 2, …
    pub fn names(names: impl IntoIterator<Item = String>) -> Type {
        Type::Enum((0..).zip(names).collect())
    }
    /// The name of a value, if it has one.
    pub fn name(&self, value: Word) -> Option<&str> {
        let Type::Enum(all) = self else { return None };
        all.iter().find(|(v, _)| *v == value).map(|(_, name)| name.as_str())
    }
    /// The only value that has a name.
    pub fn named(&self, name: &str) -> Option<Word> {
        let Type::Enum(all) = self else { return None };
        let mut found = all.iter().filter(|(_, n)| n == name);
        match (found.next(), found.next()) {
            (Some((value, _)), None) => Some(*value),
            _ => None,
        }
    }
}

/// What a variable is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum VarKind {
    /// Assigned by edges; unconstrained in the initial location.
    State,
    /// Never assigned; within these bounds (raw bits, compared as the type says).
    Param {
        /// Smallest value, inclusive.
        min: Word,
        /// Largest value, inclusive.
        max: Word,
    },
}

/// A state variable or parameter.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Var {
    /// Name in the source, with dots for parts (`queue.head`, `buf[3]`).
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// How it is shown.
    pub ty: Type,
    /// State or parameter.
    pub kind: VarKind,
}

/// A value that the environment chooses anew in each step.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Input {
    /// Name in the source.
    pub name: String,
    /// Width in bits.
    pub width: u32,
    /// How it is shown.
    pub ty: Type,
}

/// A control location.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Location {
    /// Name in the source, or one made up.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
}

/// A guarded simultaneous assignment. Variables without an update keep their value.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Edge {
    /// The location that a run must be at to take the edge.
    pub from: LocId,
    /// The location that a run is at after taking it.
    pub to: LocId,
    /// Width 1; over the variables before the step and the step's inputs.
    pub guard: ExprId,
    /// New values, each variable at most once, over the same.
    pub updates: Vec<(VarId, ExprId)>,
    /// Where it comes from.
    pub span: Span,
}

impl Edge {
    /// All expressions of the edge: its new values, and its guard.
    pub fn roots(&self) -> impl Iterator<Item = ExprId> {
        self.updates.iter().map(|u| u.1).chain([self.guard])
    }

    /// Has other ones in place of these.
    pub fn map_roots(&mut self, get: impl Fn(ExprId) -> ExprId) {
        self.guard = get(self.guard);
        self.updates.iter_mut().for_each(|u| u.1 = get(u.1));
    }
}

/// No run may reach `error`.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Property {
    /// Name in the source.
    pub name: String,
    /// The location to be avoided.
    pub error: LocId,
    /// Where it is stated.
    pub span: Span,
}

/// A control flow automaton.
///
/// A run starts in `init` with every state variable arbitrary and every parameter within its
/// bounds; what the source initialises is assigned by the edges that leave `init`.
///
/// Its fields, and those of the types in it, are part of a file format (`docs/formats/image.md`): a change is a new
/// version of the debug chunk.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Cfa {
    /// The model's name.
    pub name: String,
    /// Variables and parameters.
    pub vars: Vec<Var>,
    /// Values that are chosen anew in each step, by [`InputId`].
    pub inputs: Vec<Input>,
    /// Control locations, by [`LocId`]; error locations are among them.
    pub locations: Vec<Location>,
    /// All steps between locations, by [`EdgeId`].
    pub edges: Vec<Edge>,
    /// Where every run starts; no edge enters it.
    pub init: LocId,
    /// What must hold.
    pub properties: Vec<Property>,
    /// Those of the properties that say where the model ends rather than what must hold: a run that
    /// reaches one leaves what is modelled, so that nothing else can be proved.
    pub limits: Vec<PropertyId>,
    /// Those whose violation ends the run (an index out of range, say): what is proved of the others
    /// does not say how such a run would continue.
    pub fatal: Vec<PropertyId>,
    /// Those of the inputs whose value is not the environment's choice: the program decides it, and the model does not
    /// know how. A run that breaks a property only with certain values of one need not be a run of the program.
    pub approximate: Vec<InputId>,
    /// The expressions that guards and updates refer to.
    pub pool: Pool,
}

impl Cfa {
    /// An automaton with nothing in it but its initial location.
    pub fn new(name: impl Into<String>) -> Cfa {
        Cfa {
            name: name.into(),
            vars: vec![],
            inputs: vec![],
            locations: vec![Location { name: "init".into(), span: Span::default() }],
            edges: vec![],
            init: LocId(0),
            properties: vec![],
            limits: vec![],
            fatal: vec![],
            approximate: vec![],
            pool: Pool::default(),
        }
    }

    /// Adds a variable.
    pub fn add_var(&mut self, var: Var) -> VarId {
        self.vars.push(var);
        VarId(self.vars.len() as u32 - 1)
    }
    /// Adds an input.
    pub fn add_input(&mut self, input: Input) -> InputId {
        self.inputs.push(input);
        InputId(self.inputs.len() as u32 - 1)
    }
    /// Adds a location.
    pub fn add_location(&mut self, name: impl Into<String>, span: Span) -> LocId {
        self.locations.push(Location { name: name.into(), span });
        LocId(self.locations.len() as u32 - 1)
    }
    /// Adds an edge.
    pub fn add_edge(&mut self, edge: Edge) -> EdgeId {
        self.edges.push(edge);
        EdgeId(self.edges.len() as u32 - 1)
    }
    /// The expression that reads a variable.
    pub fn read(&mut self, var: VarId) -> ExprId {
        self.pool.var(var, self.vars[var.index()].width)
    }
    /// The expression that reads an input.
    pub fn sample(&mut self, input: InputId) -> ExprId {
        self.pool.input(input, self.inputs[input.index()].width)
    }
    /// The variables that are parameters, in the order of [`Cfa::vars`].
    pub fn params(&self) -> impl Iterator<Item = (VarId, &Var)> {
        let is_param = |v: &Var| matches!(v.kind, VarKind::Param { .. });
        self.vars
            .iter()
            .enumerate()
            .filter(move |(_, v)| is_param(v))
            .map(|(i, v)| (VarId(i as u32), v))
    }
    /// The edges that leave each location, ascending.
    pub fn leaving(&self) -> Vec<Vec<EdgeId>> {
        let mut leaving = vec![vec![]; self.locations.len()];
        for (id, edge) in (0..).map(EdgeId).zip(&self.edges) {
            leaving[edge.from.index()].push(id);
        }
        leaving
    }
    /// The inputs that an edge reads, ascending.
    pub fn edge_inputs(&self, edge: &Edge) -> Vec<InputId> {
        let roots = edge.roots();
        let mut inputs: Vec<InputId> = (self.pool.cone(roots).into_iter())
            .filter_map(|id| match self.pool.get(id) {
                Expr::Input(input) => Some(input),
                _ => None,
            })
            .collect();
        inputs.sort();
        inputs.dedup();
        inputs
    }

    /// What a front end must have got right; an error here is a bug, never bad input.
    pub fn check(&self) -> Result<(), String> {
        let fail = |what: String| Err(format!("ill-formed automaton {}: {what}", self.name));
        for (i, edge) in self.edges.iter().enumerate() {
            if edge.from.index() >= self.locations.len() || edge.to.index() >= self.locations.len()
            {
                return fail(format!("edge {i} has an end outside"));
            }
            if edge.to == self.init {
                return fail(format!("edge {i} enters the initial location"));
            }
            if self.pool.width(edge.guard) != 1 {
                return fail(format!("the guard of edge {i} is not boolean"));
            }
            let mut assigned = rustc_hash::FxHashSet::default();
            for (var, value) in &edge.updates {
                let Some(v) = self.vars.get(var.index()) else {
                    return fail(format!("edge {i} assigns an unknown variable"));
                };
                if !assigned.insert(*var) {
                    return fail(format!("edge {i} assigns {} twice", v.name));
                }
                if v.kind != VarKind::State {
                    return fail(format!("edge {i} assigns parameter {}", v.name));
                }
                if self.pool.width(*value) != v.width {
                    return fail(format!("edge {i} assigns {} a value of another width", v.name));
                }
            }
        }
        let mut left = vec![false; self.locations.len()];
        self.edges.iter().for_each(|e| left[e.from.index()] = true);
        for p in &self.properties {
            if left.get(p.error.index()) == Some(&true) || p.error == self.init {
                return fail(format!("the error location of {} is not a sink", p.name));
            }
        }
        if self.limits.iter().chain(&self.fatal).any(|p| p.index() >= self.properties.len()) {
            return fail("a limit or fatal property is unknown".into());
        }
        if self.approximate.iter().any(|i| i.index() >= self.inputs.len()) {
            return fail("an approximate input is unknown".into());
        }
        for id in 0..self.pool.len() as u32 {
            let width = self.pool.width(ExprId(id));
            let declared = match self.pool.get(ExprId(id)) {
                Expr::Var(v) => self.vars.get(v.index()).map(|v| v.width),
                Expr::Input(i) => self.inputs.get(i.index()).map(|i| i.width),
                _ => Some(width),
            };
            if declared != Some(width) {
                return fail(format!("expression {id} reads something of another width"));
            }
        }
        Ok(())
    }
}
