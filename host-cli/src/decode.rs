//! From image terms back to the automaton: traces and certificates as a device sends them.
