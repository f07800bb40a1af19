//! Allocating and freeing blocks of the heap, and of the stack (`alloca`).
//!
//! A block is an object that is there or not, and has so many bytes while it is. A call that allocates takes the first of its blocks
//! that is not there. Memory that was freed may be given out again at once or never, and who follows an old pointer must be found
//! out in either case: one block, which the run chooses when it is freed, is not given out again.

use super::block::Hazard;
use super::object::ObjectId;
use super::{Fail, Lower, Value, fail};
use crate::c::points::Context;
use crate::c::targets::Thing;
use crate::c::tree::Expr;
use crate::c::types::Type;
use std::collections::HashMap;
use vouch_ir::{self as ir, BinOp, ExprId, Span, Var, VarId, VarKind};

/// Bits of the number of a block.
const NUMBER: u32 = 16;

/// All blocks.
#[derive(Default)]
pub struct Heap {
    /// Those of each call, by their numbers.
    sites: HashMap<(Context, Span), Vec<usize>>,
    blocks: Vec<Block>,
    /// The number of the one that is not given out again; none is the number behind the last.
    retired: Option<VarId>,
}

/// A block: whether it is there, and how many bytes it has then.
#[derive(Clone, Copy)]
struct Block {
    object: ObjectId,
    live: VarId,
    bytes: VarId,
    /// The call of a function that it ends with, if it is not on the heap.
    until: Option<Context>,
}

impl Lower<'_> {
    /// Makes the blocks of all calls that allocate.
    pub(super) fn declare_heap(&mut self) -> Result<(), Fail> {
        let mut of_line: HashMap<String, usize> = HashMap::new();
        for (context, span, site, ty) in self.points.blocks() {
            let count = if site.again { self.options.c.blocks } else { 1 };
            for _ in 0..count {
                let line = self.line(span);
                let number = of_line.entry(line.clone()).and_modify(|n| *n += 1).or_insert(1);
                let name = format!("heap::{line}#{number}");
                let object = self.object(name.clone(), &ty, true, span)?;
                let live = self.heap_var(format!("{name}.live"), 1, ir::Type::Bool);
                let word = self.unit.types.word();
                let bytes = self.heap_var(format!("{name}.bytes"), word, ir::Type::Unsigned);
                self.objects[object].thing = Some(Thing::Block(context, span));
                self.open_to_devices(object, span);
                self.objects[object].length = Some((bytes, 1));
                self.objects[object].live = Some(live);
                self.heap.sites.entry((context, span)).or_default().push(self.heap.blocks.len());
                let until = site.on_stack.then_some(context);
                self.heap.blocks.push(Block { object, live, bytes, until });
            }
        }
        if self.heap.blocks.len() >= 1 << NUMBER {
            return Err(fail("too many calls allocate memory", self.span, "in this program"));
        }
        if !self.heap.blocks.is_empty() {
            let retired = self.heap_var("heap::retired".into(), NUMBER, ir::Type::Unsigned);
            self.heap.retired = Some(retired);
        }
        Ok(())
    }

    fn heap_var(&mut self, name: String, width: u32, ty: ir::Type) -> VarId {
        self.cfa.add_var(Var { name, width, ty, kind: VarKind::State })
    }

    /// No block is there at first.
    pub(super) fn reset_heap(&mut self) {
        for block in self.heap.blocks.clone() {
            let no = self.cfa.pool.bool(false);
            self.write_var(block.live, no);
        }
        if let Some(retired) = self.heap.retired {
            let none = self.block_number(self.heap.blocks.len());
            self.write_var(retired, none);
        }
    }

    fn block_number(&mut self, number: usize) -> ExprId {
        self.cfa.pool.constant(number as u128, NUMBER)
    }

    /// Whether a block is the one that is not given out again.
    fn is_retired(&mut self, number: usize) -> ExprId {
        let Some(retired) = self.heap.retired else { return self.cfa.pool.bool(false) };
        let retired = self.read_var(retired);
        let number = self.block_number(number);
        self.cfa.pool.equal(retired, number)
    }

    /// How many bytes a call asks for, and whether that is more than a number can tell.
    fn asked(&mut self, args: &[Expr], zeroed: bool, span: Span) -> Result<(ExprId, ExprId), Fail> {
        let word = self.unit.types.word();
        let size = Type::Int { bits: word, signed: false };
        let mut factors = vec![];
        for (arg, value) in args.iter().zip(self.arguments(args)?) {
            if let Value::Scalar(value) = value {
                factors.push(self.converted(value, &arg.ty, &size, span)?);
            }
        }
        match (&factors[..], zeroed) {
            ([bytes, ..], false) => Ok((*bytes, self.cfa.pool.bool(false))),
            (&[count, each, ..], true) => {
                let wide = |lower: &mut Self, x| lower.cfa.pool.extend(x, 2 * word, false);
                let (count, each) = (wide(self, count), wide(self, each));
                let product = self.cfa.pool.binary(BinOp::Mul, count, each);
                let above = self.cfa.pool.slice(product, word, word);
                let above = self.truth(above);
                Ok((self.cfa.pool.slice(product, 0, word), above))
            }
            _ => Err(fail("an argument is missing", span, "called with too few")),
        }
    }

    /// `malloc`, or `calloc` if the block is zeroed.
    pub(super) fn allocate(
        &mut self,
        args: &[Expr],
        zeroed: bool,
        span: Span,
    ) -> Result<Value, Fail> {
        self.notes.allocates.get_or_insert(span);
        let may_fail = self.options.c.checks.heap;
        self.allocate_in(args, zeroed, may_fail, span)
    }

    /// `alloca`: the same until the function returns, and there is room on the stack.
    pub(super) fn alloca(&mut self, args: &[Expr], span: Span) -> Result<Value, Fail> {
        if self.reach.recursive(self.current().0) {
            return self.refuse("`alloca` in a recursive function", span);
        }
        self.allocate_in(args, false, false, span)
    }

    /// A call has ended, and so have its blocks.
    pub(super) fn end_blocks(&mut self, context: Option<Context>) {
        for block in self.heap.blocks.clone() {
            if block.until.is_some() && block.until == context {
                let no = self.cfa.pool.bool(false);
                self.write_var(block.live, no);
            }
        }
    }

    /// Whether blocks end with a call.
    pub(super) fn has_blocks(&self, context: Option<Context>) -> bool {
        self.heap.blocks.iter().any(|block| block.until.is_some() && block.until == context)
    }

    fn allocate_in(
        &mut self,
        args: &[Expr],
        zeroed: bool,
        may_fail: bool,
        span: Span,
    ) -> Result<Value, Fail> {
        let context = self.frames.last().and_then(|frame| frame.context);
        let site = context.and_then(|context| self.heap.sites.get(&(context, span)).cloned());
        let Some(numbers) = site else {
            return self.refuse("a call that needs a heap, in a program of this size,", span);
        };
        let (bytes, too_many) = self.asked(args, zeroed, span)?;
        let mut fails = too_many;
        if may_fail {
            let none_left = self.fresh("no_memory", 1, ir::Type::Bool);
            fails = self.cfa.pool.or(fails, none_left);
        }
        // Of no bytes some libraries give a block, others null.
        let zero = self.cfa.pool.constant(0, self.unit.types.word());
        let is_empty = self.cfa.pool.equal(bytes, zero);
        if self.cfa.pool.as_const(is_empty) != Some(0) {
            let gives_null = self.fresh_approximate("malloc(0)", 1, ir::Type::Bool);
            let gives_null = self.cfa.pool.and(is_empty, gives_null);
            fails = self.cfa.pool.or(fails, gives_null);
        }
        // Which block: the first that can be had.
        let word = self.unit.types.word();
        let succeeds = self.cfa.pool.not(fails);
        let mut still = succeeds;
        let mut chosen = vec![];
        for number in numbers {
            let block = self.heap.blocks[number];
            let live = self.read_var(block.live);
            let retired = self.is_retired(number);
            let taken = self.cfa.pool.or(live, retired);
            let not_taken = self.cfa.pool.not(taken);
            let here = self.cfa.pool.and(still, not_taken);
            still = self.cfa.pool.and(still, taken);
            chosen.push((block, here));
        }
        self.hazard(Hazard::Heap, still, span);
        // All blocks of a call have the same size and the same cells.
        let size = chosen.first().map_or(0, |(block, _)| self.objects[block.object].size);
        let most = self.cfa.pool.constant(size as u128, word);
        let large = self.cfa.pool.binary(BinOp::Ult, most, bytes);
        let large = self.cfa.pool.and(succeeds, large);
        self.hazard(Hazard::Heap, large, span);
        let mut pointer = self.cfa.pool.constant(0, word);
        let mut contents: Vec<ExprId> = vec![];
        for (block, here) in chosen {
            let address = self.objects[block.object].address;
            let address = self.cfa.pool.constant(address as u128, word);
            pointer = self.cfa.pool.ite(here, address, pointer);
            let live = self.read_var(block.live);
            let now = self.cfa.pool.or(live, here);
            self.write_var(block.live, now);
            self.write_when(here, block.bytes, bytes);
            // Only one of them is meant.
            let cells = self.objects[block.object].cells.clone();
            if contents.is_empty() {
                contents = self.first_contents(block.object, zeroed);
            }
            for (cell, value) in cells.iter().zip(&contents) {
                self.write_when(here, cell.var, *value);
            }
        }
        Ok(Value::Scalar(pointer))
    }

    /// What is in the cells of a block when it comes into being.
    fn first_contents(&mut self, object: ObjectId, zeroed: bool) -> Vec<ExprId> {
        let mut contents = vec![];
        for cell in self.objects[object].cells.clone() {
            contents.push(match zeroed {
                true => self.cfa.pool.constant(0, self.cfa.vars[cell.var.index()].width),
                false => self.any_in(&cell),
            });
        }
        contents
    }

    fn write_when(&mut self, when: ExprId, var: VarId, value: ExprId) {
        let old = self.read_var(var);
        let new = self.cfa.pool.ite(when, value, old);
        self.write_var(var, new);
    }

    /// The blocks of the heap that are there, each with whether a pointer is to its beginning.
    fn blocks_at(&mut self, pointer: ExprId) -> Vec<(usize, ExprId)> {
        let word = self.unit.types.word();
        let mut all = vec![];
        for number in 0..self.heap.blocks.len() {
            let block = self.heap.blocks[number];
            if block.until.is_some() {
                continue;
            }
            let address = self.objects[block.object].address;
            let address = self.cfa.pool.constant(address as u128, word);
            let same = self.cfa.pool.equal(pointer, address);
            let live = self.read_var(block.live);
            let here = self.cfa.pool.and(same, live);
            if self.cfa.pool.as_const(here) != Some(0) {
                all.push((number, here));
            }
        }
        all
    }

    /// `free`.
    pub(super) fn free(&mut self, args: &[Expr], span: Span) -> Result<(), Fail> {
        let Some(arg) = args.first() else {
            return Err(fail("the argument is missing", span, "called without one"));
        };
        let pointer = self.scalar(arg)?;
        let zero = self.cfa.pool.constant(0, self.unit.types.word());
        let null = self.cfa.pool.equal(pointer, zero);
        let at = self.blocks_at(pointer);
        let mut allowed = null;
        for (_, here) in &at {
            allowed = self.cfa.pool.or(allowed, *here);
        }
        let wrong = self.cfa.pool.not(allowed);
        self.hazard(Hazard::Bounds, wrong, span);
        let Some(retired) = self.heap.retired else { return Ok(()) };
        let retires = self.fresh("not_given_out_again", 1, ir::Type::Bool);
        let none = self.is_retired(self.heap.blocks.len());
        let retires = self.cfa.pool.and(retires, none);
        for (number, here) in at {
            let no = self.cfa.pool.bool(false);
            self.write_when(here, self.heap.blocks[number].live, no);
            let retires = self.cfa.pool.and(here, retires);
            let number = self.block_number(number);
            self.write_when(retires, retired, number);
        }
        Ok(())
    }

    /// How many bytes the block has that begins where a pointer points, which has to be one.
    pub(super) fn block_bytes(&mut self, args: &[Expr], span: Span) -> Result<Value, Fail> {
        let Some(arg) = args.first() else {
            return Err(fail("the argument is missing", span, "called without one"));
        };
        let pointer = self.scalar(arg)?;
        let mut bytes = self.cfa.pool.constant(0, self.unit.types.word());
        let mut is_there = self.cfa.pool.bool(false);
        for (number, here) in self.blocks_at(pointer) {
            is_there = self.cfa.pool.or(is_there, here);
            let has = self.read_var(self.heap.blocks[number].bytes);
            bytes = self.cfa.pool.ite(here, has, bytes);
        }
        let wrong = self.cfa.pool.not(is_there);
        self.hazard(Hazard::Bounds, wrong, span);
        Ok(Value::Scalar(bytes))
    }
}
