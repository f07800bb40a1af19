//! What a model looks like from afar: machines, states and transitions, in the words of the source.

use std::collections::BTreeSet;

/// A model as it is drawn and listed; taken from the syntax, so names need not resolve.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// In source order; `forbidden` refers to them by index.
    pub machines: Vec<Machine>,
    /// How they run together, if there are several.
    pub system: Option<String>,
    /// Name and claim of each property.
    pub properties: Vec<(String, String)>,
    /// States (machine and number) that a property forbids.
    pub forbidden: Vec<(usize, usize)>,
}

/// One state machine; its states are referred to by their index in `states`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Machine {
    /// The identifier that declares it.
    pub name: String,
    /// Names of the states, in source order.
    pub states: Vec<String>,
    /// For each state: what is done whenever it is entered or left.
    pub always: Vec<Always>,
    /// Where it starts.
    pub initial: usize,
    /// All transitions, grouped by source state, in the order of the rules.
    pub transitions: Vec<Transition>,
}

/// A transition between two states of one machine, given by their indices.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// From which state.
    pub from: usize,
    /// To which state; `None` if it is not left.
    pub to: Option<usize>,
    /// The guard, or `else`.
    pub guard: String,
    /// What is done then, if anything.
    pub action: String,
    /// The rule of the state, and the number in the rule.
    pub rule: [usize; 2],
    /// The names of all that is read by guard and actions, those of machines with the machine's name before them.
    pub reads: BTreeSet<String>,
}

/// What is done whenever a state is entered or left.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Always {
    /// When it is entered.
    pub entry: String,
    /// When it is left.
    pub exit: String,
}
