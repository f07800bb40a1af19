//! Pointers that are kept in statics and change from step to step: to the function that is the next state, or to one of
//! several objects. Where a word is always one of a few addresses, these are known at a location, and it is seen where the pointer
//! leads.

use super::base::{Known, Shape, reset};
use super::execute::Executor;
use super::layout::{LOWEST, Layout};
use super::lift::byte;
use super::state::{Cell, State};
use super::value::Values;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use vouch_ir::{BinOp, Expr, ExprId, Pool, Word, deadline};

/// More addresses than this are not told apart.
const MOST: usize = 48;

/// Whether all are addresses, or one stands for none.
pub fn are_pointers(layout: &Layout, all: &BTreeSet<u32>) -> bool {
    let is_none = |at: &&u32| **at < LOWEST;
    let others = || all.iter().filter(|at| !is_none(at));
    let count = others().count();
    (1..=MOST).contains(&count)
        && all.len() <= count + 1
        && others().all(|at| layout.is_pointer(*at))
}

/// What a word of RAM can be at a location; nothing if that is not known.
pub fn pointers(executor: &Executor, shape: &Shape, word: u32) -> Option<BTreeSet<u32>> {
    if let Some(known) = shape.pointers.get(&word) {
        return Some(known.clone());
    }
    let byte = |i| {
        let cell = Cell::Ram(word + i);
        match shape.memory.get(&cell).copied().or(reset(executor.elf, cell)) {
            Some(Known::Constant(byte)) => Some(byte),
            _ => None,
        }
    };
    let value = (0..4).rev().try_fold(0, |value, i| Some(value << 8 | byte(i)?))?;
    Some(BTreeSet::from([value as u32]))
}

/// Makes what is known of pointers at a location true of one more state that arrives there. `shape` is what was known so far,
/// bytes as well.
pub fn join_pointers(
    shape: &mut Shape,
    is_first: bool,
    cells: &[Cell],
    state: &State,
    executor: &mut Executor,
) {
    let words = cells.iter().filter_map(|cell| match cell {
        Cell::Ram(at) => Some(at & !3),
        Cell::Stack(_) => None,
    });
    let words: BTreeSet<u32> = words.collect();
    for word in words {
        let mut all = BTreeSet::new();
        if !is_first {
            // What can be anything stays so.
            let Some(known) = pointers(executor, shape, word) else { continue };
            all = known;
        }
        let (known, new) = (all.len(), values(state, executor, word));
        all.extend(new.iter().flatten());
        if all.len() > known {
            complete(executor.layout, &mut all);
        }
        match new.is_some() && are_pointers(executor.layout, &all) {
            true if all.len() == 1 => {}
            true if all.len() == known => {}
            true => {
                shape.pointers.insert(word, all);
            }
            false => {
                shape.pointers.remove(&word);
            }
        }
    }
}

/// Where a pointer goes through an object element by element, those that it has not come to yet.
fn complete(layout: &Layout, all: &mut BTreeSet<u32>) {
    /// After so many it is taken to go on like that.
    const SEEN: usize = 6;
    let there: Vec<u32> = all.iter().copied().filter(|at| *at >= LOWEST).collect();
    let step = |pair: &[u32]| pair[1] - pair[0];
    let Some(by) = there.windows(2).map(step).next().filter(|_| there.len() >= SEEN) else {
        return;
    };
    let Some(object) = layout.thing(there[0]) else { return };
    if there.windows(2).any(|pair| step(pair) != by) || there[there.len() - 1] > object.end {
        return;
    }
    let first = object.start + (there[0] - object.start) % by;
    all.extend((first..object.end).step_by(by as usize).take(MOST + 1));
}

/// What a word of RAM can be in a state, as far as the choices in it tell. Where it was one of a few before, each of these is looked at
/// for itself: one that goes around in a buffer does not leave that.
fn values(state: &State, executor: &mut Executor, word: u32) -> Option<BTreeSet<u32>> {
    let bytes = [0, 1, 2, 3].map(|i| byte(executor, state, Cell::Ram(word + i)));
    let before = executor.base.shape.pointers.get(&word).cloned().unwrap_or_default();
    let parts = executor.base.parts(&mut executor.values, word);
    if before.is_empty() || parts.is_empty() {
        return together(&mut executor.values, bytes);
    }
    let mut all = BTreeSet::new();
    for one in before {
        let values = &mut executor.values;
        let part = |(var, lo, width): &(ExprId, u32, u32)| {
            (*var, values.pool.constant(Word::from(one >> lo), *width))
        };
        let mut known: HashMap<ExprId, ExprId> = parts.iter().map(part).collect();
        let bytes = bytes.map(|byte| {
            let byte = values.pool.replace(byte, &mut known);
            values.simplify(byte)
        });
        all.extend(together(values, bytes)?);
    }
    Some(all)
}

/// The words that bytes can be, the lowest first, whose choices depend on the same conditions.
fn together(values: &mut Values, bytes: [ExprId; 4]) -> Option<BTreeSet<u32>> {
    /// Combinations of conditions that are looked at.
    const WORK: usize = 2000;
    let mut all = BTreeSet::new();
    let mut todo = vec![(bytes, vec![])];
    for _ in 0..WORK {
        let Some((mut bytes, known)) = todo.pop() else { return Some(all) };
        for byte in &mut bytes {
            while let Expr::Ite(c, t, e) = values.pool.get(*byte)
                && let Some(holds) = decided(&values.pool, &known, c)
            {
                *byte = if holds { t } else { e };
            }
        }
        let condition = bytes.iter().find_map(|byte| match values.pool.get(*byte) {
            Expr::Ite(c, ..) => Some(c),
            _ => None,
        });
        match condition {
            Some(c) => todo.extend([true, false].map(|holds| {
                let known = known.iter().copied().chain([(c, holds)]);
                (bytes, known.collect())
            })),
            None => {
                let word = values.join(&bytes)?;
                all.extend(constants(values, word)?);
            }
        }
        if all.len() > MOST + 1 {
            return None;
        }
    }
    None
}

/// Whether a condition holds if these do, or do not: a value is not two constants.
fn decided(pool: &Pool, known: &[(ExprId, bool)], condition: ExprId) -> Option<bool> {
    if let Some((_, holds)) = known.iter().find(|(c, _)| *c == condition) {
        return Some(*holds);
    }
    let constant = |c: ExprId| match pool.get(c) {
        Expr::Binary(BinOp::Eq, a, b) if pool.as_const(b).is_some() => Some(a),
        Expr::Binary(BinOp::Eq, a, b) if pool.as_const(a).is_some() => Some(b),
        _ => None,
    };
    let value = constant(condition)?;
    known.iter().any(|(c, holds)| *holds && constant(*c) == Some(value)).then_some(false)
}

/// The constants that choices in an expression lead to, whatever they depend on; nothing if it can be something else.
fn constants(values: &mut Values, root: ExprId) -> Option<BTreeSet<u32>> {
    /// Larger expressions are not looked at.
    const LARGEST: usize = 20_000;
    let mut known: HashMap<ExprId, BTreeSet<Word>> = HashMap::default();
    let mut todo = vec![root];
    while let Some(&x) = todo.last() {
        deadline::tick();
        if known.contains_key(&x) {
            todo.pop();
            continue;
        }
        let operands: Vec<ExprId> = match values.pool.get(x) {
            Expr::Var(_) | Expr::Input(_) => return None,
            Expr::Ite(_, t, e) => vec![t, e],
            _ => values.pool.operands(x).collect(),
        };
        let before = todo.len();
        todo.extend(operands.iter().copied().filter(|o| !known.contains_key(o)));
        if todo.len() > before {
            if known.len() + todo.len() > LARGEST {
                return None;
            }
            continue;
        }
        let sets: Vec<&BTreeSet<Word>> = operands.iter().map(|o| &known[o]).collect();
        let all = match values.pool.get(x) {
            Expr::Const(value) => BTreeSet::from([value]),
            Expr::Ite(..) => sets.into_iter().flatten().copied().collect(),
            expr => combined(&mut values.pool, (expr, x), &operands, &sets)?,
        };
        if all.len() > MOST + 1 {
            return None;
        }
        known.insert(x, all);
    }
    Some(known[&root].iter().map(|value| *value as u32).collect())
}

/// What an operation makes of all combinations of its operands.
fn combined(
    pool: &mut Pool,
    (expr, x): (Expr, ExprId),
    operands: &[ExprId],
    sets: &[&BTreeSet<Word>],
) -> Option<BTreeSet<Word>> {
    let count: usize = sets.iter().map(|set| set.len()).product();
    if count > 4 * MOST {
        return None;
    }
    let mut all = BTreeSet::new();
    for mut number in 0..count {
        let mut chosen = HashMap::default();
        for (operand, set) in operands.iter().zip(sets) {
            let value = *set.iter().nth(number % set.len())?;
            number /= set.len();
            chosen.insert(*operand, pool.constant(value, pool.width(*operand)));
        }
        let result = pool.make(expr.map_operands(|o| chosen[&o]), pool.width(x));
        all.insert(pool.as_const(result)?);
    }
    Some(all)
}
