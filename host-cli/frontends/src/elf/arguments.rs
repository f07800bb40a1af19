//! The arguments that a function is called with from outside: any values of the types that debug information tells.

use super::debug::{Domain, Function};
use super::execute::Executor;
use super::isa::Reg;
use super::outcome::Source;
use super::state::{Cell, State};
use std::rc::Rc;
use vouch_ir::{BinOp, ExprId, Pool, Word};

/// Passes any arguments to a function.
pub fn pass(executor: &mut Executor, state: &mut State, function: Option<&Function>) {
    let registers = executor.abi.arguments;
    for (number, reg) in (0..).zip(registers) {
        let domain = function.map(|f| f.domain(registers, number));
        let Domain { width, signed, only } = domain.unwrap_or(Domain::ANY);
        let source = Source::Argument { number, width, signed };
        let value = executor.fresh(format!("argument {number}"), width, source);
        let pool = &mut executor.values.pool;
        *state.reg_mut(Reg(*reg)) = pool.extend(value, 32, signed);
        if let Some(only) = only {
            state.conditions.push(is_one_of(pool, value, only));
        }
    }
    // Those on the stack: each is one word, from the stack pointer on.
    let others = function.map_or(vec![], |f| f.on_stack(registers));
    for (number, (name, Domain { width, signed, only })) in (0..).zip(others) {
        let at = 4 * number;
        let value = executor.fresh(name, width, Source::Stack { at, width, signed });
        let pool = &mut executor.values.pool;
        let word = pool.extend(value, 32, signed);
        let bytes = [0, 1, 2, 3].map(|i| pool.slice(word, 8 * i, 8));
        if let Some(only) = only {
            state.conditions.push(is_one_of(pool, value, only));
        }
        // As what is written it stays in loops, too.
        let bytes = bytes.map(|byte| executor.values.simplify(byte));
        let cells = (at..).map(Cell::Stack).zip(bytes);
        Rc::make_mut(&mut state.memory).extend(cells);
    }
}

/// Whether a value is one of these (1 bit).
fn is_one_of(pool: &mut Pool, value: ExprId, mut these: Vec<Word>) -> ExprId {
    let width = pool.width(value);
    these.sort_unstable();
    these.dedup();
    if let Some(last) = these.last().filter(|last| **last == these.len() as Word - 1) {
        let last = pool.constant(*last, width);
        return pool.binary(BinOp::Ule, value, last);
    }
    let no = pool.bool(false);
    these.into_iter().fold(no, |any, one| {
        let one = pool.constant(one, width);
        let is = pool.equal(value, one);
        pool.or(any, is)
    })
}
