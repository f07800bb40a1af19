//! IC3 on control flow automata (Lange, Neuhäußer, Noll, FMCAD'15), in fixed memory.

mod api;

pub use api::{
    BindError, Config, Engine, Invariant, Limit, Plan, Shortage, Stats, Status, Verdict,
};
