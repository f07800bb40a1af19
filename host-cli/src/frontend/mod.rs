//! Front ends: source text to a control flow automaton, or diagnostics.
