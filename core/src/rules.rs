//! The rules that the soundness of a verdict rests on.
//!
//! Code that keeps a rule names it, either in a comment or by asking whether the rule is to be broken. It never is, but in
//! `tests/tests/rules.rs`, which shows for each rule that the tests notice when it is.
//!
//! `F(i, l)` is the frame of location `l` at level `i`, `T_e` the step over edge `e`.

/// A soundness rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rule {
    /// `F(i, l)` over-approximates what is reachable at `l` in *at most* `i` steps, and `F(i, l)` implies
    /// `F(i + 1, l)`. Only the initial location is reached in no step: `F(i, l)` is false while `i` is below the
    /// distance of `l` from it.
    Distance,
    /// Blocking a cube, dropping a literal, pushing a lemma and the infinity frame must hold over *all* edges into
    /// the location.
    EveryEdge,
    /// `¬c` may be assumed in the source frame only on a self-loop: nothing claims `¬c` of another location.
    OnlyOnSelfLoops,
    /// What is blocked is the union of the cores over all edges into the location. Anything smaller has to be
    /// checked again on all of them.
    UnionOfCores,
    /// The empty cube is a lemma away from the initial location, saying that it is not reached up to that
    /// level, and has to be kept like any other.
    EmptyCube,
    /// An obligation at the initial location is a counterexample, at any level.
    InitialState,
    /// Lifting negates the guard *and* the target, not just the target: with a false guard the query would be
    /// unsatisfiable for the wrong reason.
    LiftWithGuard,
    /// The proof is complete when at *one* level no location has a lemma of its own. Different levels at different
    /// locations prove nothing.
    OneLevel,
    /// A learnt clause depends on what it was derived from: on a temporary clause, an edge or a frame. It carries
    /// that dependency as its tag or is forgotten with it.
    Dependencies,
    /// Running out of work or memory is never read as unsatisfiable. In generalisation it keeps the literal, anywhere
    /// else it ends in *unknown*.
    LimitsAreUnknown,
    /// Lemmas are not evicted while their level matters. Learnt clauses and subsumed lemmas may be.
    KeepLemmas,
    /// A lemma is committed only after the queries over all edges have been answered, and a run yields only between
    /// two commits.
    CommitAfterAll,
}

impl Rule {
    /// All of them. One more is the compiler's: a bit that only guards or properties read is not dead
    /// (`vouch_ir::live`).
    pub const ALL: [Rule; 12] = [
        Rule::Distance,
        Rule::EveryEdge,
        Rule::OnlyOnSelfLoops,
        Rule::UnionOfCores,
        Rule::EmptyCube,
        Rule::InitialState,
        Rule::LiftWithGuard,
        Rule::OneLevel,
        Rule::Dependencies,
        Rule::LimitsAreUnknown,
        Rule::KeepLemmas,
        Rule::CommitAfterAll,
    ];
}
