//! Independent validation of verdicts. Imports neither the engine nor its solver.
