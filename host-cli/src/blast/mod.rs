//! Bit-blasting: each edge of the automaton becomes a network of gates in a model image.
