//! # vouch-ir
//!
//! The control flow automaton that every front end produces and everything later works on.
//!
//! - [`expr`]: hash-consed bit-vector expressions with widths from 1 to 128.
//! - [`cfa`]: variables, inputs, locations, edges, properties, and the well-formedness check.
//! - [`eval`]: the reference interpreter. Everything that claims to run a model is compared to it.
//! - [`live`]: which variables matter at which location.
//! - [`value`]: values as people write them.
//! - [`term`]: values that invariants may speak of besides variables.
//! - [`run`]: concrete runs (counterexamples) and invariants (certificates), in terms of this IR.
//! - [`formats`]: both as text.
//! - [`deadline`]: the one deadline of a program, which everything that may take long looks at.
//! - [`read`]: files, as far as they are of a sensible size.
//! - [`escape`]: text from outside, made fit to be shown.
//! - [`requirements`]: which requirements properties cover.
#![deny(unsafe_code)]

pub mod cfa;
pub mod deadline;
pub mod escape;
pub mod eval;
pub mod expr;
pub mod formats;
pub mod interrupt;
pub mod live;
pub mod read;
pub mod requirements;
pub mod run;
#[cfg(any(test, feature = "__sample"))]
pub mod sample;
pub mod term;
pub mod value;

pub use cfa::{
    Cfa, Edge, EdgeId, Input, InputId, LocId, Location, Property, PropertyId, Span, Type, Var,
    VarId, VarKind,
};
pub use expr::{BinOp, Expr, ExprId, Marks, Pool, UnOp, Word, mask};
pub use run::{BitLit, Certificate, Clause, Forced, Step, Trace};
pub use term::{Operand, Term};
