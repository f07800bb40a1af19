//! Names of properties that are limits: a run that reaches one leaves what is modelled.

/// An access outside of every object.
pub const MEMORY: &str = "memory_limit";
/// More or larger blocks of the heap than a call has.
pub const HEAP: &str = "heap_limit";
/// A call deeper than recursion is followed.
pub const RECURSION: &str = "recursion_limit";
/// An access that a handler of an interrupt may run in the middle of.
pub const INTERRUPT: &str = "interrupt_limit";
/// A property is broken if operands are evaluated in another order than the usual one.
pub const ORDER: &str = "order_limit";
/// A function that others may call, and nobody says when.
pub const CALLBACK: &str = "callback_limit";
/// A task lets others run before it has come to its end.
pub const TASK: &str = "task_limit";
/// A place that the source says is never reached.
pub const UNREACHABLE: &str = "unreachable_limit";
