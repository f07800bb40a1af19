//! Functions that take any number of arguments: what exceeds their parameters lies in one object, in
//! words, one behind the other as on the stack, and a `va_list` is a pointer into it.

use super::memory::{Base, Place};
use super::object::{ObjectId, Owner};
use super::{Fail, Lower, Value, fail};
use crate::c::builtin::{self, Builtin};
use crate::c::tree::{Expr, ExprKind, FunctionId};
use crate::c::types::{DataModel, INT, Type, align_up, unsigned};
use std::rc::Rc;
use vouch_ir::{self as ir, BinOp, Span, Var, VarKind};

/// Whether a function asks for arguments beyond its parameters.
fn is_variadic(unit: &crate::c::tree::Unit, id: FunctionId) -> bool {
    let mut starts = false;
    if let Some(body) = &unit.functions[id].body {
        body.expressions(&mut |e| {
            e.walk(&mut |e| {
                if let ExprKind::Call(callee, _) = &e.kind {
                    starts |= builtin::of(&unit.functions[*callee]) == Some(Builtin::VaStart);
                }
            })
        });
    }
    starts
}

impl Lower<'_> {
    /// The objects for arguments of all functions that take any number of them.
    pub(super) fn declare_variadic(&mut self) -> Result<(), Fail> {
        let unit = self.unit;
        for id in 0..unit.functions.len() {
            if !self.reach.is_reached(id) || !is_variadic(unit, id) {
                continue;
            }
            let words = self.most_words(id);
            for depth in 0..=self.deepest(id) {
                let name = format!("{}::...", self.function_name(id, depth));
                let ty = Type::Array(Rc::new(unsigned(unit.types.word())), Some(words.max(1)));
                let object = self.object(name.clone(), &ty, true, unit.functions[id].span)?;
                self.objects[object].owner = Some(Owner { function: id, depth, local: None });
                // Other calls may have passed more.
                let var = Var {
                    name: format!("{name}.words"),
                    width: unit.types.word(),
                    ty: ir::Type::Unsigned,
                    kind: VarKind::State,
                };
                let passed = self.cfa.add_var(var);
                self.objects[object].length = Some((passed, unit.types.word() as u64 / 8));
                self.variadic.insert((id, depth), object);
            }
        }
        Ok(())
    }

    /// The most words that any call passes beyond the parameters.
    fn most_words(&self, id: FunctionId) -> u64 {
        let unit = self.unit;
        let params = unit.functions[id].params;
        let mut most = 0;
        for function in &unit.functions {
            let Some(body) = &function.body else { continue };
            body.expressions(&mut |e| {
                e.walk(&mut |e| {
                    let args = match &e.kind {
                        ExprKind::Call(callee, args) if *callee == id => args,
                        ExprKind::CallPointer(_, args) => args,
                        _ => return,
                    };
                    let extra = args.iter().skip(params).map(|a| self.passed(&a.ty));
                    most = most.max(extra.fold(0, |at, ty| self.slot(at, &ty).1));
                })
            });
        }
        most.div_ceil(unit.types.word() as u64 / 8)
    }

    /// The type that an argument without a parameter is passed with.
    fn passed(&self, ty: &Type) -> Type {
        match ty.integer() {
            Some((bits, _)) if bits < 32 => INT,
            _ if *ty == Type::Float(4) => Type::Float(8),
            _ => ty.clone(),
        }
    }

    /// Where an argument lies that is passed behind `at` bytes of others, and where it ends.
    fn slot(&self, at: u64, ty: &Type) -> (u64, u64) {
        let types = &self.unit.types;
        let word = types.word() as u64 / 8;
        let align = match types.model {
            DataModel::Ilp32 => word,
            _ => types.align(ty).clamp(word, 16),
        };
        let start = align_up(at, align);
        (start, align_up(start + types.size(ty).unwrap_or(word), word))
    }

    /// Stores what exceeds the parameters of a call.
    pub(super) fn pass_rest(
        &mut self,
        id: FunctionId,
        depth: u32,
        args: &[Expr],
        values: &[Value],
        span: Span,
    ) -> Result<(), Fail> {
        let Some(object) = self.variadic.get(&(id, depth)).copied() else { return Ok(()) };
        let params = self.unit.functions[id].params;
        if let Some((words, each)) = self.objects[object].length {
            let passed = args.iter().skip(params).map(|arg| self.passed(&arg.ty));
            let end = passed.fold(0, |at, ty| self.slot(at, &ty).1);
            let count = self.cfa.pool.constant((end / each) as u128, self.unit.types.word());
            self.write_var(words, count);
        }
        let mut at = 0;
        for (arg, value) in args.iter().zip(values).skip(params) {
            let ty = self.passed(&arg.ty);
            let value = match value {
                Value::Scalar(x) => Value::Scalar(self.converted(*x, &arg.ty, &ty, arg.span)?),
                other => other.clone(),
            };
            let (start, end) = self.slot(at, &ty);
            at = end;
            self.write(&Place::at(object, start * 8, ty, None), &value, span)?;
        }
        Ok(())
    }

    /// `va_start(list, last)`.
    pub(super) fn va_start(&mut self, args: &[Expr], span: Span) -> Result<(), Fail> {
        let object: Option<ObjectId> = self.variadic.get(&self.current()).copied();
        let (Some(list), Some(object)) = (args.first(), object) else {
            return Err(fail("there is no list of arguments here", span, "cannot begin"));
        };
        let word = self.unit.types.word();
        let address = self.cfa.pool.constant(self.objects[object].address as u128, word);
        let place = self.place(list)?;
        self.write(&place, &Value::Scalar(address), span)
    }

    /// `va_copy(to, from)`.
    pub(super) fn va_copy(&mut self, args: &[Expr], span: Span) -> Result<(), Fail> {
        let [to, from] = args else {
            return Err(fail("this takes two lists", span, "here"));
        };
        let value = self.value(from)?;
        let place = self.place(to)?;
        self.write(&place, &value, span)
    }

    /// `va_arg(list, type)`: the next argument.
    pub(super) fn va_arg(&mut self, list: &Expr, ty: &Type, span: Span) -> Result<Value, Fail> {
        let place = self.place(list)?;
        let Value::Scalar(mut at) = self.read(&place, span)? else {
            return self.refuse("this list of arguments", span);
        };
        let (_, size) = self.slot(0, ty);
        let word = self.unit.types.word();
        let bytes = word as u64 / 8;
        let align = self.slot(1, ty).0;
        if align > bytes {
            let up = self.cfa.pool.constant(align as u128 - 1, word);
            let mask = self.cfa.pool.constant(!(align as u128 - 1) & vouch_ir::mask(word), word);
            at = self.cfa.pool.binary(BinOp::Add, at, up);
            at = self.cfa.pool.binary(BinOp::And, at, mask);
        }
        let by = self.cfa.pool.constant(size as u128, word);
        let next = self.cfa.pool.binary(BinOp::Add, at, by);
        self.write(&place, &Value::Scalar(next), span)?;
        let mut from = self.at_address(at, ty.clone());
        if let Base::Address { align, .. } = &mut from.base {
            // Arguments lie in words, whatever their type would ask for.
            *align = bytes;
        }
        self.read(&from, span)
    }
}
