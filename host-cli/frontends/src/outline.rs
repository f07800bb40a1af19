//! What a model looks like from afar: machines, states and transitions, in the words of the source.

/// A model.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Outline {
    /// Its machines.
    pub machines: Vec<Machine>,
    /// How they run together, if there are several.
    pub system: Option<String>,
    /// Name and claim of each property.
    pub properties: Vec<(String, String)>,
    /// States (machine and number) that a property forbids.
    pub forbidden: Vec<(usize, usize)>,
}

/// A machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Machine {
    /// Its name.
    pub name: String,
    /// Its states.
    pub states: Vec<String>,
    /// Where it starts.
    pub initial: usize,
    /// Its transitions.
    pub transitions: Vec<Transition>,
}

/// A transition.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Transition {
    /// From which state.
    pub from: usize,
    /// To which state; `None` if it is not left.
    pub to: Option<usize>,
    /// The guard, or `else`.
    pub guard: String,
}
