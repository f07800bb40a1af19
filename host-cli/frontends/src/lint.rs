//! Questions about a model that nobody has asked, but whose answers its author should know.
//!
//! Each is a property of an automaton made for them: the place where something happens is an error
//! location. The engine answers, and the answer is validated like any other.

use super::Diagnostic;
use vouch_ir::{Cfa, Span};

/// What hangs, and what to do about it.
const HANG: &str = "what comes after a hang is never reached, and so breaks nothing: bound the loop, or declare \
     what it waits for as `extern volatile`";

/// A model with questions in place of its properties.
#[derive(Clone, PartialEq, Debug)]
pub struct Lint {
    /// The automaton; the property of a number is the question of that number.
    pub cfa: Cfa,
    /// What each property of `cfa` asks, in the same order.
    pub questions: Vec<Question>,
}

/// What is asked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ask {
    /// Whether what a property waits for ever happens.
    Trigger {
        /// Name of the property in the source that has this trigger.
        property: String,
        /// What happens if the trigger never does: "nothing else is checked".
        claim: &'static str,
    },
    /// Whether a state is ever entered.
    State(String),
    /// Whether a transition is ever taken.
    Transition,
    /// Whether the model can deadlock in these states.
    Standstill(String),
    /// Whether a run gets to the assertion of this property.
    Assertion(String),
    /// Whether a run gets to a loop.
    Loop,
    /// Whether a run leaves a loop.
    Exit,
    /// Whether a run goes round a loop in which nothing changes that it waits for.
    Hang,
}

/// A question, and where its answer matters.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Question {
    /// What is asked.
    pub ask: Ask,
    /// What it is about.
    pub span: Span,
    /// Of which state's question it makes sense only if that is answered with yes.
    pub within: Option<usize>,
}

impl Question {
    /// Whether it is worth a warning that it does happen, not that it does not.
    pub fn warns_if_reached(&self) -> bool {
        matches!(self.ask, Ask::Standstill(_) | Ask::Hang)
    }

    /// Whether the guards of its edges must hold for all values of the inputs, not for some.
    pub fn is_for_all_inputs(&self) -> bool {
        matches!(self.ask, Ask::Standstill(_))
    }

    /// What to tell if the answer is not the one that is hoped for.
    pub fn warning(&self) -> Diagnostic {
        match &self.ask {
            Ask::Trigger { property, claim } => {
                let message = format!("the property {property} holds vacuously");
                let warning = Diagnostic::warning(message, self.span, "this is never true");
                warning.help(format!("{claim}: check what it is about, or remove it"))
            }
            Ask::State(name) => {
                let message = format!("the state {name} is never entered");
                let label = "no run reaches this";
                let warning = Diagnostic::warning(message, self.span, label);
                warning.help("the guards that lead here are never true: check them")
            }
            Ask::Transition => {
                let message = "this transition is never taken";
                let label = "its guard is never true when it is tried";
                let warning = Diagnostic::warning(message, self.span, label);
                warning.help("no run satisfies its guard, or those before it always come first")
            }
            Ask::Standstill(states) => {
                let message = format!("the model can deadlock in {states}");
                let label = "no transition is possible here for any inputs";
                let warning = Diagnostic::warning(message, self.span, label);
                warning.help(
                    "add a transition; if it is meant to end here, go to a state without transitions",
                )
            }
            Ask::Assertion(property) => {
                let message = format!("the property {property} holds vacuously");
                let warning =
                    Diagnostic::warning(message, self.span, "no run gets to this assertion");
                warning.help("check the conditions and loops that come before it")
            }
            Ask::Loop => {
                let message = "no run gets to this loop";
                let warning = Diagnostic::warning(message, self.span, "never reached");
                warning.help("check the conditions and loops that come before it")
            }
            Ask::Exit => {
                let message = "this loop is never left";
                let label = "runs get here, and none gets out";
                let warning = Diagnostic::warning(message, self.span, label);
                warning.help(HANG)
            }
            Ask::Hang => {
                let message = "this loop can hang";
                let label = "a run goes round, and nothing changes that the loop waits for";
                let warning = Diagnostic::warning(message, self.span, label);
                warning.help(HANG)
            }
        }
    }
}
