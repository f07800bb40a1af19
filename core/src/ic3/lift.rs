//! Predecessors: from one model to a cube of states that all take the same step.
//!
//! With the step's inputs fixed, `state ∧ inputs ∧ ¬(guard ∧ target')` is unsatisfiable, and the
//! state literals in its core suffice. The guard belongs into the negation (`Rule::LiftWithGuard`): a state in which
//! the edge cannot be taken would make the query unsatisfiable for the wrong reason.
//!
//! Which literals are in the core depends on their order, since those that follow from earlier ones are not
//! needed. Bits that lemmas speak of come first; then the other way round, and so on while literals fall
//! away: these queries are the cheapest, and each literal less saves one where the cube is generalised.

use super::Limit;
use super::engine::Run;
use crate::lit::Lit;
use crate::rules::Rule;
use crate::sat::Answer;
use crate::sat::clause::template;
use crate::word::Word;

/// Rounds of lifting, at most.
const ROUNDS: usize = 8;

impl<W: Word> Run<'_, W> {
    /// Reads the model of the query over the loaded edge to `target` and writes the lifted
    /// predecessor to cube `out`; the inputs of the step stay in `self.inputs`.
    pub(super) fn predecessor(&mut self, target: usize, out: usize) -> Result<(), Limit> {
        let (live, inputs) = (self.solver.edge.live, self.solver.edge.inputs);
        self.input_len = inputs;
        let mut len = 0;
        for var in 1..=live {
            if let Some(value) = self.solver.value(var) {
                self.set_cube(out, len, Lit::new(var, value));
                len += 1;
            }
        }
        self.cube_len[out] = len;
        for i in 0..inputs {
            let value = self.solver.value(1 + live + i);
            self.inputs[i] = value.map_or(2, |v| v as u8);
        }
        self.most_active_first(self.solver.edge.from, out);
        for _ in 0..ROUNDS {
            let before = self.cube_len[out];
            if !self.lift(target, out)? || self.cube_len[out] == before {
                break;
            }
            self.reverse(out);
        }
        Ok(())
    }

    /// Drops literals of `cube` that the step to `target` does not depend on. `false`: without enough memory
    /// it stays as it is, which is always right.
    fn lift(&mut self, target: usize, cube: usize) -> Result<bool, Limit> {
        let first_input = 1 + self.solver.edge.live;
        self.solver.begin(template::<W>());
        self.fix_parameters();
        self.solver.open_temporary();
        if !self.breaks(Rule::LiftWithGuard) {
            self.solver.temporary(!self.solver.edge.guard);
        }
        for j in 0..self.cube_len[target] {
            let next = self.next_lit(target, j);
            self.solver.temporary(!next);
        }
        for i in 0..self.input_len {
            if self.inputs[i] != 2 && self.solver.is_in_domain(first_input + i) {
                self.solver.assume(Lit::new(first_input + i, self.inputs[i] == 1));
            }
        }
        for j in 0..self.cube_len[cube] {
            let lit = self.cube_lit(cube, j);
            if self.solver.is_in_domain(lit.var()) {
                self.solver.assume(lit);
            }
        }
        self.stats.queries = self.stats.queries.wrapping_add(1);
        match self.solver.solve() {
            Answer::Unsat => {
                for j in 0..self.cube_len[cube] {
                    let lit = self.cube_lit(cube, j);
                    self.needed[j] = self.solver.failed(lit) as u8;
                }
                self.shrink(cube);
                Ok(true)
            }
            // The cone alone determines guard and target, so there is no other answer than a limit.
            Answer::Sat | Answer::Capacity => Ok(false),
            Answer::Budget => Err(Limit::Budget),
            Answer::Cancelled => Err(Limit::Cancelled),
        }
    }
}
