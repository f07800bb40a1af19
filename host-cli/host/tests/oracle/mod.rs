//! Which line of a log cannot be, found by trying all inputs in the reference interpreter: sets of states, no solver.

use std::collections::BTreeSet;
use vouch_host::conform::log::{Column, Log};
use vouch_host::frontend::machines::Machines;
use vouch_host::ir::live::Live;
use vouch_host::ir::{Cfa, EdgeId, InputId, LocId, VarId, VarKind, Word, eval, mask};

type States = BTreeSet<(LocId, Vec<Word>)>;

/// Bits of inputs that an edge reads and the log does not tell, at most.
const MOST: u32 = 14;

fn starts(cfa: &Cfa) -> States {
    let live = Live::of(cfa);
    let mut starts: Vec<Vec<Word>> = vec![vec![]];
    for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
        let range = match var.kind {
            VarKind::Param { min, max } => min..=max,
            VarKind::State => {
                assert!(!live.has(cfa.init, id), "{} can be anything at the start", var.name);
                0..=0
            }
        };
        let with = |start: &Vec<Word>| {
            let start = start.clone();
            range.clone().map(move |v| [start.clone(), vec![v]].concat())
        };
        starts = starts.iter().flat_map(with).collect();
    }
    starts.into_iter().map(|values| (cfa.init, values)).collect()
}

/// A model, and a log of it.
struct Oracle<'a> {
    moves: &'a Machines,
    log: &'a Log,
}

impl Oracle<'_> {
    /// All states after one more edge, with inputs as the row tells them.
    fn after_edge(&self, row: Option<usize>, from: &States) -> States {
        let cfa = &self.moves.cfa;
        let told: Vec<Option<Word>> = (0..cfa.inputs.len() as u32)
            .map(|id| {
                let is_it = |c: &Column| matches!(c, Column::Input(own, _) if own.0 == id);
                let column = self.log.columns.iter().position(is_it)?;
                self.log.rows[row?].values[column]
            })
            .collect();
        let mut found = States::new();
        for (at, values) in from {
            for (number, edge) in cfa.edges.iter().enumerate().filter(|(_, e)| e.from == *at) {
                if self.moves.at[edge.to.index()].is_empty() {
                    continue;
                }
                let mut open = cfa.edge_inputs(edge);
                open.retain(|id| told[id.index()].is_none());
                let bits: u32 = open.iter().map(|i| cfa.inputs[i.index()].width).sum();
                assert!(bits <= MOST, "too many inputs to try: {bits} bits");
                for choice in 0..1u64 << bits {
                    let input = |id: InputId| {
                        told[id.index()].unwrap_or_else(|| {
                            let before = open.iter().take_while(|i| **i != id);
                            let shift: u32 = before.map(|i| cfa.inputs[i.index()].width).sum();
                            (choice >> shift) as Word & mask(cfa.inputs[id.index()].width)
                        })
                    };
                    let next = eval::step(cfa, values, EdgeId(number as u32), input);
                    let Some(next) = next else { continue };
                    found.insert((edge.to, next));
                }
            }
        }
        found
    }

    /// A state without what functions had in their variables, which a call finds new. Those that stay are not in
    /// functions in these programs.
    fn between_calls(&self, (at, mut values): (LocId, Vec<Word>)) -> (LocId, Vec<Word>) {
        for (var, value) in self.moves.cfa.vars.iter().zip(&mut values) {
            if var.name.contains("::") {
                *value = 0;
            }
        }
        (at, values)
    }

    /// All states after one more step: an edge, or a call of a program.
    fn after(&self, row: Option<usize>, from: &States) -> States {
        let Some(head) = self.moves.head else { return self.after_edge(row, from) };
        let (mut arrived, mut seen, mut now) = (States::new(), States::new(), from.clone());
        while !now.is_empty() {
            let next = self.after_edge(row, &now);
            let (here, others): (States, States) = next.into_iter().partition(|s| s.0 == head);
            arrived.extend(here.into_iter().map(|state| self.between_calls(state)));
            now = others.difference(&seen).cloned().collect();
            seen.extend(others);
        }
        arrived
    }
}

fn fits(moves: &Machines, log: &Log, row: usize, state: &(LocId, Vec<Word>)) -> bool {
    log.columns.iter().zip(&log.rows[row].values).all(|(column, wanted)| match (column, wanted) {
        (Column::Var(id, _), Some(w)) => state.1[id.index()] == *w,
        (Column::State(m, _), Some(w)) => moves.at[state.0.index()][*m] as Word == *w,
        _ => true,
    })
}

/// The first row that cannot be.
pub fn first_impossible(moves: &Machines, log: &Log, gap: usize) -> Option<usize> {
    let oracle = Oracle { moves, log };
    let mut now = starts(&moves.cfa);
    for row in 0..log.rows.len() {
        let mut at_line = States::new();
        let mut before = now;
        for _ in 0..gap {
            let last = oracle.after(Some(row), &before);
            at_line.extend(last.into_iter().filter(|s| fits(moves, log, row, s)));
            if gap > 1 {
                before = oracle.after(None, &before);
            }
        }
        if at_line.is_empty() {
            return Some(row);
        }
        now = at_line;
    }
    None
}
