//! Predecessors: from one model to a cube of states that all take the same step.
//!
//! By a query, where others use ternary simulation: with the step's inputs fixed, `state ∧ inputs ∧ ¬(guard ∧ target')` is unsatisfiable, and the
//! state literals in its core suffice. The guard is part of the negation (`Rule::LiftWithGuard`): a state in which
//! the edge cannot be taken would make the query unsatisfiable for the wrong reason.
//!
//! Which literals are in the core depends on their order, since those that follow from earlier ones are not
//! needed. They are in activity order at first; then the other way round, and so on while literals are
//! dropped: these queries are the cheapest, and each literal less saves one where the cube is generalised.

use super::Limit;
use super::cube::Cube;
use super::prove::Run;
use crate::lit::Lit;
use crate::rules::Rule;
use crate::sat::Answer;
use crate::sat::clause::template;
use crate::word::Word;

/// Rounds of lifting, at most.
const ROUNDS: usize = 8;

impl<W: Word> Run<'_, W> {
    /// Reads the model of the query over the loaded edge to `target` and writes the lifted
    /// predecessor to cube `out`; the inputs of the step stay in [`Cubes::inputs`](super::cube::Cubes::inputs).
    pub(super) fn predecessor(&mut self, target: Cube, out: Cube) -> Result<(), Limit> {
        let (live, inputs) = (self.solver.edge.live, self.solver.edge.inputs);
        self.cubes.input_len = inputs;
        let mut len = 0;
        for var in 1..=live {
            if let Some(value) = self.solver.value(var) {
                self.cubes.set_lit(out, len, Lit::new(var, value));
                len += 1;
            }
        }
        self.cubes.set_len(out, len);
        for i in 0..inputs {
            let value = self.solver.value(1 + live + i);
            self.cubes.inputs[i] = value.map_or(2, |v| v as u8);
        }
        let live_bits = self.image.location(self.solver.edge.from).live;
        self.cubes.sort_by_activity(out, live_bits, &self.bits);
        for _ in 0..ROUNDS {
            let before = self.cubes.len(out);
            if !self.lift(target, out)? || self.cubes.len(out) == before {
                break;
            }
            self.cubes.reverse(out);
        }
        Ok(())
    }

    /// Drops literals of `cube` that the step to `target` does not depend on. `false`: without enough memory
    /// it stays as it is, which is always right.
    fn lift(&mut self, target: Cube, cube: Cube) -> Result<bool, Limit> {
        let first_input = 1 + self.solver.edge.live;
        self.solver.begin(template::<W>());
        self.fix_parameters();
        self.solver.open_temporary();
        if !self.breaks(Rule::LiftWithGuard) {
            self.solver.temporary(!self.solver.edge.guard);
        }
        for j in 0..self.cubes.len(target) {
            let next = self.next_lit(target, j);
            self.solver.temporary(!next);
        }
        for i in 0..self.cubes.input_len {
            if self.cubes.inputs[i] != 2 && self.solver.is_in_domain(first_input + i) {
                self.solver.assume(Lit::new(first_input + i, self.cubes.inputs[i] == 1));
            }
        }
        for j in 0..self.cubes.len(cube) {
            let lit = self.cubes.lit(cube, j);
            if self.solver.is_in_domain(lit.var()) {
                self.solver.assume(lit);
            }
        }
        self.progress.stats.queries = self.progress.stats.queries.wrapping_add(1);
        match self.solver.solve() {
            Answer::Unsat => {
                for j in 0..self.cubes.len(cube) {
                    let lit = self.cubes.lit(cube, j);
                    self.cubes.needed[j] = self.solver.failed(lit) as u8;
                }
                self.cubes.shrink(cube);
                Ok(true)
            }
            // The cone alone determines guard and target, so there is no other answer than a limit.
            Answer::Sat | Answer::Capacity => Ok(false),
            Answer::Budget => Err(Limit::Budget),
            Answer::Cancelled => Err(Limit::Cancelled),
        }
    }
}
