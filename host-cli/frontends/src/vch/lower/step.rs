//! What machines do in one step, alone and together.

use super::super::hir::Schedule;
use super::Lowering;
use super::engine::{Engine, Env, Failed, Lower, Passed};
use crate::moves::Move;
use std::collections::HashMap;
use vouch_ir::{ExprId, Span};

/// The variables in the middle of a step.
#[derive(Clone, Debug)]
pub struct Path {
    pub values: Vec<ExprId>,
    pub passed: Passed,
}

impl Path {
    /// Before the step.
    pub fn start(reads: &[ExprId]) -> Path {
        Path { values: reads.to_vec(), passed: HashMap::new() }
    }
}

/// One way that a step can go.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// When it goes this way, nothing having failed.
    pub guard: ExprId,
    pub path: Path,
    pub config: Vec<usize>,
    pub span: Span,
    pub moves: Vec<Move>,
}

impl Lowering<'_> {
    /// Makes the engine continue from here, on all paths.
    pub(super) fn load(&mut self, path: &Path) {
        load(&mut self.engine, path);
    }

    /// All ways that a step of these machines can go. What can fail is added to `failed`.
    pub(super) fn run(
        &mut self,
        schedule: &Schedule,
        config: &[usize],
        path: &Path,
        failed: &mut Vec<Failed>,
    ) -> Lower<Vec<Outcome>> {
        match schedule {
            Schedule::Machine(m) => self.machine(*m, config, path, failed),
            Schedule::Interleave(parts) => {
                let mut all = vec![];
                for part in parts {
                    all.extend(self.run(part, config, path, failed)?);
                }
                Ok(all)
            }
            Schedule::Sequence(parts) => {
                let guard = self.engine.cfa.pool.bool(true);
                let path = path.clone();
                let start = Outcome {
                    guard,
                    path,
                    config: config.to_vec(),
                    span: Span::default(),
                    moves: vec![],
                };
                let mut all = vec![start];
                for part in parts {
                    let mut next = vec![];
                    for so_far in all {
                        let mut new = vec![];
                        let more = self.run(part, &so_far.config, &so_far.path, &mut new)?;
                        failed.extend(self.given(so_far.guard, new));
                        for outcome in more {
                            let guard = self.engine.cfa.pool.and(so_far.guard, outcome.guard);
                            let span = first_span(so_far.span, outcome.span);
                            let moves = [so_far.moves.clone(), outcome.moves.clone()].concat();
                            next.push(Outcome { guard, span, moves, ..outcome });
                        }
                        self.engine.work(64 * next.len(), so_far.span)?;
                    }
                    all = next;
                }
                Ok(all)
            }
            Schedule::Sync(parts) => {
                let guard = self.engine.cfa.pool.bool(true);
                let mut all = vec![Outcome {
                    guard,
                    path: path.clone(),
                    config: config.to_vec(),
                    span: Span::default(),
                    moves: vec![],
                }];
                // Machines that share a function must not share the choices made in it.
                let mut passed = path.passed.clone();
                for part in parts {
                    let from = Path { values: path.values.clone(), passed: passed.clone() };
                    let outcomes = self.run(part, config, &from, failed)?;
                    for outcome in &outcomes {
                        for (place, count) in &outcome.path.passed {
                            let known = passed.entry(*place).or_insert(0);
                            *known = (*known).max(*count);
                        }
                    }
                    let mut next = vec![];
                    for so_far in &all {
                        for outcome in &outcomes {
                            self.engine.work(path.values.len() + 64, outcome.span)?;
                            next.push(self.both(so_far, outcome, path, config));
                        }
                    }
                    all = next;
                }
                for outcome in &mut all {
                    outcome.path.passed.clone_from(&passed);
                }
                Ok(all)
            }
        }
    }

    /// Two machines' parts of one step; no variable is assigned by both.
    fn both(&mut self, a: &Outcome, b: &Outcome, before: &Path, config: &[usize]) -> Outcome {
        let values = a.path.values.iter().zip(&b.path.values).zip(&before.values);
        let values = values.map(|((a, b), old)| if a == old { *b } else { *a }).collect();
        let states = a.config.iter().zip(&b.config).zip(config);
        Outcome {
            guard: self.engine.cfa.pool.and(a.guard, b.guard),
            path: Path { values, passed: HashMap::new() },
            config: states.map(|((a, b), old)| if a == old { *b } else { *a }).collect(),
            span: first_span(a.span, b.span),
            moves: [a.moves.clone(), b.moves.clone()].concat(),
        }
    }

    /// The failures, under a condition.
    fn given(&mut self, condition: ExprId, failed: Vec<Failed>) -> Vec<Failed> {
        let pool = &mut self.engine.cfa.pool;
        let under = |f: Failed| Failed { condition: pool.and(condition, f.condition), ..f };
        failed.into_iter().map(under).collect()
    }

    /// One machine: the first transition whose guard holds, or none.
    fn machine(
        &mut self,
        m: usize,
        config: &[usize],
        path: &Path,
        failed: &mut Vec<Failed>,
    ) -> Lower<Vec<Outcome>> {
        let model = self.model;
        let s = config[m];
        let state = &model.machines[m].states[s];
        let mut outcomes = vec![];
        self.load(path);
        self.engine.config = config.to_vec();
        // That none of the transitions so far is enabled.
        let mut none = self.engine.cfa.pool.bool(true);
        for (r, rule) in state.rules.iter().enumerate() {
            let mut guards = vec![];
            for transition in rule {
                self.engine.path = none;
                guards.push(self.engine.scalar(&transition.guard)?);
            }
            failed.append(&mut self.engine.failed);
            let after_guards =
                Path { values: self.engine.env.values.clone(), passed: self.engine.passed.clone() };
            let live = self.engine.live;
            let mut none_here = none;
            for (t, (transition, guard)) in rule.iter().zip(guards).enumerate() {
                let pool = &mut self.engine.cfa.pool;
                let taken = pool.and(none, guard);
                let not = pool.not(guard);
                none_here = pool.and(none_here, not);
                let (may_hold, may_be_taken) = self.tried.entry([m, s, r, t]).or_default();
                *may_hold |= pool.as_const(guard) != Some(0);
                *may_be_taken |= pool.as_const(taken) != Some(0);
                if pool.as_const(taken) == Some(0) {
                    continue;
                }
                let given = pool.and(taken, live);
                self.ask_taken([m, s, r, t], given, failed);
                self.load(&after_guards);
                self.engine.config = config.to_vec();
                if transition.target.is_some() {
                    self.engine.block(&state.exit)?;
                }
                self.engine.block(&transition.action)?;
                if let Some(target) = transition.target {
                    self.engine.config[m] = target;
                    self.engine.block(&model.machines[m].states[target].entry)?;
                }
                self.engine.block(&model.machines[m].each)?;
                let new = std::mem::take(&mut self.engine.failed);
                failed.extend(self.given(given, new));
                let engine = &self.engine;
                outcomes.push(Outcome {
                    guard: given,
                    path: Path { values: engine.env.values.clone(), passed: engine.passed.clone() },
                    config: engine.config.clone(),
                    span: transition.span,
                    moves: vec![Move {
                        machine: m,
                        span: transition.span,
                        transition: Some([s, r, t]),
                    }],
                });
                let live_after = self.engine.live;
                let pool = &mut self.engine.cfa.pool;
                if let Some(last) = outcomes.last_mut() {
                    last.guard = pool.and(given, live_after);
                }
                self.engine.work(path.values.len() + 64, transition.span)?;
            }
            self.load(&after_guards);
            self.engine.config = config.to_vec();
            self.engine.live = live;
            none = none_here;
        }
        let live = self.engine.live;
        let guard = self.engine.cfa.pool.and(none, live);
        if self.engine.cfa.pool.as_const(guard) != Some(0) {
            let path = Path { values: path.values.clone(), passed: self.engine.passed.clone() };
            self.load(&path);
            self.engine.config = config.to_vec();
            self.engine.block(&model.machines[m].each)?;
            let new = std::mem::take(&mut self.engine.failed);
            failed.extend(self.given(guard, new));
            let live = self.engine.live;
            let guard = self.engine.cfa.pool.and(guard, live);
            let values = self.engine.env.values.clone();
            let path = Path { values, passed: self.engine.passed.clone() };
            let moves = vec![Move { machine: m, span: state.span, transition: None }];
            let config = config.to_vec();
            outcomes.push(Outcome { guard, path, config, span: state.span, moves });
        }
        Ok(outcomes)
    }
}

fn load(engine: &mut Engine, path: &Path) {
    let (yes, no) = (engine.cfa.pool.bool(true), engine.cfa.pool.bool(false));
    engine.env = Env { values: path.values.clone(), returned: no, result: vec![] };
    engine.passed.clone_from(&path.passed);
    engine.path = yes;
    engine.live = yes;
    engine.failed.clear();
}

/// The span of the first machine that did something.
fn first_span(a: Span, b: Span) -> Span {
    if a == Span::default() { b } else { a }
}
