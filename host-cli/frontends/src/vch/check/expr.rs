//! Expressions: what they read, and their types.
//!
//! A number without a suffix has no type of its own; it takes that of the other operand or of the
//! place it goes to ([`Checker::retype`]). Numbers among themselves are computed exactly.

use super::super::ast::{self, Name};
use super::super::hir::{Expr, ExprKind, VarKind};
use super::super::types::{Ty, bits_for};
use super::{Checker, ConstantValue, Place, Symbol};
use crate::Diagnostic;
use std::rc::Rc;
use vouch_ir::Span;

pub(super) fn failed(span: Span) -> Expr {
    Expr { kind: ExprKind::Error, ty: Ty::Error, span }
}

impl Checker<'_> {
    /// The expression with the type it must have.
    pub(super) fn expect(&mut self, e: &ast::Expr, ty: &Ty) -> Expr {
        let span = e.span;
        match (&e.kind, ty) {
            (ast::ExprKind::If(parts), _) => {
                let condition = self.expect(&parts[0], &Ty::Bool);
                let (then, otherwise) = (self.expect(&parts[1], ty), self.expect(&parts[2], ty));
                let kind = ExprKind::If(Box::new([condition, then, otherwise]));
                Expr { kind, ty: ty.clone(), span }
            }
            (ast::ExprKind::Array(elements), Ty::Array(element, n)) => {
                if elements.len() != *n as usize {
                    let message = format!("expected {n} elements, found {}", elements.len());
                    let label = format!("must be {}", ty.shown());
                    let error = Diagnostic::error(message, span, label);
                    self.error(error.help("give as many, or repeat one: `[VALUE; LENGTH]`"));
                }
                let list = elements.iter().map(|e| self.expect(e, element)).collect();
                Expr { kind: ExprKind::Array(list), ty: ty.clone(), span }
            }
            (ast::ExprKind::Repeat(value, length), Ty::Array(element, n)) => {
                let value = self.expect(value, element);
                if self.exact(length).is_some_and(|found| found != *n as i128) {
                    let message = format!("expected {n} elements");
                    let error = Diagnostic::error(message, length.span, "another length");
                    self.error(error.help(format!("write {n}, or change the type")));
                }
                Expr { kind: ExprKind::Repeat(Box::new(value)), ty: ty.clone(), span }
            }
            _ => {
                let found = self.infer(e);
                self.coerce(found, ty)
            }
        }
    }

    /// The value as one of type `ty`: numbers adapt, everything else must be of that type.
    pub(super) fn coerce(&mut self, x: Expr, ty: &Ty) -> Expr {
        if x.ty.is_error() || ty.is_error() || x.ty == *ty {
            return x;
        }
        if x.ty == Ty::Literal && ty.is_int() {
            return self.retype(x, ty);
        }
        let message = format!("expected {}, found {}", ty.shown(), x.ty.shown());
        let error = Diagnostic::error(message, x.span, format!("this is {}", x.ty.shown()));
        let text = self.operand_text(x.span);
        let error = match (&x.ty, ty) {
            (Ty::Int { .. }, Ty::Int { width, .. }) if *width >= x.ty.width() => {
                error.help(format!("convert it: `{text} as {}`", ty.shown()))
            }
            (Ty::Int { .. }, Ty::Int { .. }) => error.help(format!(
                "convert it, if losing the upper bits is right: `{text} as {}`",
                ty.shown()
            )),
            (Ty::Literal, Ty::Bool) if text == "0" || text == "1" => {
                error.help(format!("write `{}`", text == "1"))
            }
            (Ty::Int { .. } | Ty::Literal, Ty::Bool) => {
                error.help(format!("compare it: `{text} != 0`"))
            }
            (Ty::Bool | Ty::Enum(..), Ty::Int { .. }) => {
                error.help(format!("convert it: `{text} as {}`", ty.shown()))
            }
            (_, Ty::Enum(_, def)) => match def.variants.first() {
                Some(value) => {
                    error.help(format!("write one of its values, as in `{}::{value}`", def.name))
                }
                None => error.help(format!("give the enum {} values first", def.name)),
            },
            _ => error.help(format!("write something of type {} here", ty.shown())),
        };
        self.error(error);
        failed(x.span)
    }

    /// Gives a value of type [`Ty::Literal`] the number type `ty`.
    fn retype(&mut self, x: Expr, ty: &Ty) -> Expr {
        let span = x.span;
        if x.ty != Ty::Literal {
            return x;
        }
        let kind = match x.kind {
            ExprKind::Literal(value) => {
                let (min, max) = ty.range();
                if value < min || value > max {
                    let message = format!("{value} does not fit {}", ty.shown());
                    let label = format!("{} has {min} to {max}", ty.shown());
                    let error = Diagnostic::error(message, span, label);
                    self.error(error.help("use a wider type"));
                    return failed(span);
                }
                ExprKind::Const(vec![ty.encode(value)])
            }
            ExprKind::If(parts) => {
                let [c, t, e] = *parts;
                ExprKind::If(Box::new([c, self.retype(t, ty), self.retype(e, ty)]))
            }
            // A shift's amount has a type of its own, which is never that of a literal.
            ExprKind::Binary(op, a, b) => {
                ExprKind::Binary(op, Box::new(self.retype(*a, ty)), Box::new(self.retype(*b, ty)))
            }
            other => other,
        };
        Expr { kind, ty: ty.clone(), span }
    }

    /// Reports a number whose type nothing decides.
    pub(super) fn untyped(&mut self, x: &Expr) -> Expr {
        let text = self.operand_text(x.span);
        let error = Diagnostic::error("the width of this number is not known", x.span, "which?");
        let help = match x.kind {
            ExprKind::Literal(_) if text.bytes().all(|b| b.is_ascii_digit()) => {
                format!("give it a type: `{text}u8`")
            }
            _ => "give one of its numbers a type, as in `1u8`".into(),
        };
        self.error(error.help(help));
        failed(x.span)
    }

    /// The expression with a type of its own, perhaps [`Ty::Literal`].
    pub(super) fn infer(&mut self, e: &ast::Expr) -> Expr {
        let span = e.span;
        match &e.kind {
            ast::ExprKind::Number { value, suffix: None } => {
                Expr { kind: ExprKind::Literal(*value), ty: Ty::Literal, span }
            }
            ast::ExprKind::Number { value, suffix: Some(suffix) } => {
                match Ty::builtin(&suffix.text) {
                    Some(Ok(ty)) => {
                        let x = Expr { kind: ExprKind::Literal(*value), ty: Ty::Literal, span };
                        self.retype(x, &ty)
                    }
                    _ => {
                        let message = format!("`{}` is not a type of a number", suffix.text);
                        let error = Diagnostic::error(message, span, "expected u1…u64, i1…i64");
                        self.error(error.help("write the type of a number after it, as in `20u8`"));
                        failed(span)
                    }
                }
            }
            ast::ExprKind::Bool(value) => {
                Expr { kind: ExprKind::Const(vec![*value as u128]), ty: Ty::Bool, span }
            }
            ast::ExprKind::Name(name) => self.read_name(name),
            ast::ExprKind::Member(machine, name) => match self.machine_named(machine) {
                Some(m) => match self.machines[m].names.get(&name.text).copied() {
                    Some((symbol, _)) => self.read_symbol(symbol, name, span),
                    None => {
                        let known = self.machines[m].names.keys().cloned().collect();
                        self.unknown("variable", name, known);
                        failed(span)
                    }
                },
                None => failed(span),
            },
            ast::ExprKind::Variant(name, variant) => self.variant(name, variant, span),
            ast::ExprKind::Index(base, index) => {
                let base = self.infer(base);
                self.index(base, index, span)
            }
            ast::ExprKind::Call(name, arguments) => match self.call(name, arguments, span) {
                Some((function, arguments)) => {
                    let ty = self.model.functions[function].result.clone();
                    if !self.function_effects[function].writes.is_empty() {
                        let message = format!("`{}` changes variables", name.text);
                        let error = Diagnostic::error(message, span, "called inside an expression");
                        let help = format!("call it as a statement: `{}(…);`", name.text);
                        self.error(error.help(help));
                        return failed(span);
                    } else if ty == Ty::Unit {
                        let message = format!("`{}` returns no value", name.text);
                        let error = Diagnostic::error(message, span, "used as a value");
                        self.error(
                            error.help("call it as a statement, or let it return something"),
                        );
                        return failed(span);
                    }
                    Expr { kind: ExprKind::Call(function, arguments), ty, span }
                }
                None => failed(span),
            },
            ast::ExprKind::Unary(op, x) => {
                let x = self.infer(x);
                self.unary(*op, x, span)
            }
            ast::ExprKind::Binary(op, a, b) => self.binary(*op, a, b, span),
            ast::ExprKind::If(parts) => {
                let condition = self.expect(&parts[0], &Ty::Bool);
                let (then, otherwise) = (self.infer(&parts[1]), self.infer(&parts[2]));
                let (t, e, ty) = self.unify(then, otherwise, "choose between");
                Expr { kind: ExprKind::If(Box::new([condition, t, e])), ty, span }
            }
            ast::ExprKind::Cast(x, ty) => {
                let (x, ty) = (self.infer(x), self.ty(ty));
                self.cast(x, ty, span)
            }
            ast::ExprKind::Any(ty) => {
                let ty = self.ty(ty);
                let ok = matches!(self.place, Place::Step | Place::Function | Place::Initial(_));
                if !ok {
                    self.not_here("`any(…)` makes a choice", span, "only actions and guards do");
                    return failed(span);
                }
                self.effects.choice = true;
                Expr { kind: ExprKind::Any, ty, span }
            }
            ast::ExprKind::In(states) => self.in_states(states, span),
            ast::ExprKind::Array(list) => {
                let list: Vec<Expr> = list.iter().map(|e| self.infer(e)).collect();
                let Some(first) = list.iter().find(|e| e.ty != Ty::Literal).or(list.first()) else {
                    let error = Diagnostic::error("an array has no elements", span, "empty");
                    self.error(error.help("give at least one, or repeat one: `[VALUE; LENGTH]`"));
                    return failed(span);
                };
                let ty = first.ty.clone();
                if ty == Ty::Literal {
                    let first = first.clone();
                    return self.untyped(&first);
                }
                let list: Vec<Expr> = list.into_iter().map(|e| self.coerce(e, &ty)).collect();
                let ty = Ty::Array(Rc::new(ty), list.len() as u32);
                Expr { kind: ExprKind::Array(list), ty, span }
            }
            ast::ExprKind::Repeat(value, length) => {
                let value = self.infer(value);
                if value.ty == Ty::Literal {
                    return self.untyped(&value);
                }
                let max = (super::MAX_LEAVES / value.ty.leaves().max(1)) as i128;
                match self.exact(length) {
                    Some(n) if (1..=max).contains(&n) && !value.ty.is_error() => {
                        let ty = Ty::Array(Rc::new(value.ty.clone()), n as u32);
                        Expr { kind: ExprKind::Repeat(Box::new(value)), ty, span }
                    }
                    Some(n) if !(1..=max).contains(&n) => {
                        let message = format!("an array can't have {n} elements");
                        let error = Diagnostic::error(message, length.span, "its length");
                        self.error(error.help(format!("write a length from 1 to {max}")));
                        failed(span)
                    }
                    _ => failed(span),
                }
            }
        }
    }

    fn machine_named(&mut self, name: &Name) -> Option<usize> {
        if let Some((Symbol::Machine(m), _)) = self.globals.names.get(&name.text) {
            return Some(*m);
        }
        let known = self.visible_as(|s| matches!(s, Symbol::Machine(_)));
        self.unknown("machine", name, known);
        None
    }

    fn read_name(&mut self, name: &Name) -> Expr {
        let span = name.span;
        if let Some(local) = self.locals.iter_mut().rev().find(|l| l.name.text == name.text) {
            local.used = true;
            let (kind, ty) = (ExprKind::Local(local.offset), local.ty.clone());
            if self.place == Place::Constant {
                let what = format!("`{}` is not a constant", name.text);
                self.not_here(&what, span, "only constants have a value before the model runs");
                return failed(span);
            }
            return Expr { kind, ty, span };
        }
        if let Some((symbol, _)) = self.lookup(&name.text) {
            return self.read_symbol(symbol, name, span);
        }
        if self.machine.is_some_and(|m| self.machines[m].states.contains_key(&name.text)) {
            let message = format!("`{}` is a state, not a value", name.text);
            let error = Diagnostic::error(message, span, "a state");
            self.error(error.help(format!("write `in {}`", name.text)));
            return failed(span);
        }
        let owner = (self.enums.iter()).find(|e| e.variants.contains(&name.text));
        if let Some(owner) = owner.cloned() {
            let message = format!("`{}` is a value of the enum {}", name.text, owner.name);
            let error = Diagnostic::error(message, span, "its enum is missing");
            self.error(error.help(format!("write `{}::{}`", owner.name, name.text)));
            return failed(span);
        }
        let visible = self.visible();
        self.unknown("variable", name, visible);
        failed(span)
    }

    fn read_symbol(&mut self, symbol: Symbol, name: &Name, span: Span) -> Expr {
        self.mark_used(symbol);
        let wrong = |what: &str, help: String| {
            let message = format!("`{}` is {what}, not a value", name.text);
            Diagnostic::error(message, span, what).help(help)
        };
        match symbol {
            Symbol::Const(c) => {
                let constant = &self.constants[c];
                let (kind, ty) = match &constant.value {
                    _ if constant.ty.is_error() => (ExprKind::Error, Ty::Error),
                    ConstantValue::Exact(value) => (ExprKind::Literal(*value), Ty::Literal),
                    ConstantValue::Bits(bits) => {
                        (ExprKind::Const(bits.clone()), constant.ty.clone())
                    }
                };
                Expr { kind, ty, span }
            }
            Symbol::Var(v) => {
                if !self.reads_var(v, span) {
                    return failed(span);
                }
                Expr { kind: ExprKind::Var(v), ty: self.model.vars[v].ty.clone(), span }
            }
            Symbol::Input(i) => {
                if !self.reads_input(&name.text, span) {
                    return failed(span);
                }
                Expr { kind: ExprKind::Input(i), ty: self.model.inputs[i].ty.clone(), span }
            }
            Symbol::LaterConst => {
                let message = format!("the constant `{}` is declared further down", name.text);
                let error = Diagnostic::error(message, span, "not known yet");
                self.error(error.help("move its declaration up"));
                failed(span)
            }
            Symbol::Enum(e) => {
                let first = self.enums[e].variants.first().cloned().unwrap_or_default();
                self.error(wrong("an enum", format!("name a value: `{}::{first}`", name.text)));
                failed(span)
            }
            Symbol::Function(_) | Symbol::LaterFunction => {
                self.error(wrong("a function", format!("call it: `{}(…)`", name.text)));
                failed(span)
            }
            Symbol::Machine(_) => {
                self.error(wrong("a machine", format!("name something in it: `{}.x`", name.text)));
                failed(span)
            }
        }
    }

    fn not_here(&mut self, what: &str, span: Span, help: &str) {
        let place = match self.place {
            Place::Constant => "in a constant",
            Place::Initial(_) => "in an initial value",
            Place::Constraint => "in a constraint on an input",
            Place::Step => "in an action",
            Place::Function => "in a function",
            Place::Property => "in a property",
        };
        let error =
            Diagnostic::error(format!("{what}; that is not possible {place}"), span, "here");
        self.error(error.help(help));
    }

    /// Whether the variable can be read here; if not, that is reported.
    fn reads_var(&mut self, v: usize, span: Span) -> bool {
        let var = &self.model.vars[v];
        let is_param = matches!(var.kind, VarKind::Param { .. });
        let name = var.name.clone();
        match self.place {
            Place::Constant => {
                let what = format!("`{name}` is not a constant");
                self.not_here(&what, span, "only constants have a value before the model runs");
            }
            Place::Initial(k) if !is_param && v >= k => {
                let what = format!("`{name}` has no value yet");
                self.not_here(&what, span, "variables get their values in the order of the file");
            }
            _ => {
                self.effects.state |= !is_param;
                return true;
            }
        }
        false
    }

    /// Whether the input can be read here; if not, that is reported.
    fn reads_input(&mut self, name: &str, span: Span) -> bool {
        match self.place {
            Place::Property => self.not_here(
                &format!("`{name}` is an input, and has a value only during a step"),
                span,
                &format!(
                    "keep it in a variable: `var last_{name}: …;`, in the actions `last_{name} = \
                     {name};`, and use `last_{name}` here; or `assert` it in an action"
                ),
            ),
            Place::Constant | Place::Initial(_) => self.not_here(
                &format!("`{name}` is an input"),
                span,
                "leave the variable without initial value: then it may start with any",
            ),
            _ => {
                self.effects.input.get_or_insert_with(|| name.to_owned());
                return true;
            }
        }
        false
    }

    fn variant(&mut self, name: &Name, variant: &Name, span: Span) -> Expr {
        let Some((Symbol::Enum(e), _)) = self.lookup(&name.text) else {
            let known = self.enums.iter().map(|e| e.name.clone()).collect();
            self.unknown("enum", name, known);
            return failed(span);
        };
        let def = self.enums[e].clone();
        match def.variants.iter().position(|v| *v == variant.text) {
            Some(value) => {
                Expr { kind: ExprKind::Const(vec![value as u128]), ty: Ty::Enum(e, def), span }
            }
            None => {
                let what = format!("value of {}", name.text);
                self.unknown(&what, variant, def.variants.clone());
                failed(span)
            }
        }
    }

    /// `base[index]`
    fn index(&mut self, base: Expr, index: &ast::Expr, span: Span) -> Expr {
        let index = self.index_value(index, &base.ty);
        match &base.ty {
            Ty::Array(element, _) => {
                let ty = (**element).clone();
                Expr { kind: ExprKind::Index(Box::new(base), Box::new(index)), ty, span }
            }
            Ty::Error => failed(span),
            other => {
                let message = format!("expected an array, found {}", other.shown());
                let error = Diagnostic::error(message, base.span, "has no elements");
                self.error(error.help("only arrays are indexed: remove the `[…]`"));
                failed(span)
            }
        }
    }

    /// An index into an array of type `array`: unsigned, and in range if it is constant.
    pub(super) fn index_value(&mut self, index: &ast::Expr, array: &Ty) -> Expr {
        let mut index = self.infer(index);
        let Ty::Array(_, n) = array else { return index };
        let span = index.span;
        match (&index.kind, &index.ty) {
            (ExprKind::Literal(value), _) => {
                let value = *value;
                if (0..*n as i128).contains(&value) {
                    let ty = Ty::unsigned(bits_for(value as u64));
                    index = self.retype(index, &ty);
                } else {
                    let message = format!("there is no element {value}");
                    let label = format!("the elements are 0 to {}", n - 1);
                    let error = Diagnostic::error(message, span, label);
                    self.error(error.help("count from 0, or make the array longer"));
                    index = failed(span);
                }
            }
            (_, Ty::Literal) => index = self.untyped(&index),
            (_, Ty::Int { signed: false, .. } | Ty::Error) => {}
            (_, ty) => {
                let message = format!("an index must be unsigned, this is {}", ty.shown());
                let mut error = Diagnostic::error(message, span, "not an unsigned number");
                if !matches!(ty, Ty::Array(..)) {
                    let text = self.operand_text(span);
                    error = error.help(format!("convert it: `{text} as u8`"));
                }
                self.error(error);
                index = failed(span);
            }
        }
        index
    }

    /// A call's function and arguments, if it is possible here.
    pub(super) fn call(
        &mut self,
        name: &Name,
        arguments: &[ast::Expr],
        span: Span,
    ) -> Option<(usize, Vec<Expr>)> {
        let function = match self.lookup(&name.text) {
            Some((Symbol::Function(f), _)) => f,
            Some((Symbol::LaterFunction, at)) => {
                let message = format!("`{}` is not known yet", name.text);
                let error = Diagnostic::error(message, name.span, "called before its declaration");
                let help = "functions are declared before they are called; none can call itself";
                self.error(error.related(at, "declared here").help(help));
                return None;
            }
            _ => {
                let known = self.visible_as(|s| matches!(s, Symbol::Function(_)));
                self.unknown("function", name, known);
                return None;
            }
        };
        self.mark_used(Symbol::Function(function));
        let effects = self.function_effects[function].clone();
        match (self.place, &effects) {
            (Place::Constant, _) => {
                self.not_here("this calls a function", span, "write the value out");
                return None;
            }
            (Place::Property | Place::Initial(_), e) if e.input.is_some() => {
                let input = e.input.clone().unwrap_or_default();
                let what = format!("`{}` reads the input `{input}`", name.text);
                self.not_here(&what, span, "pass what it needs as arguments");
            }
            (Place::Property | Place::Constraint, e) if e.choice => {
                let what = format!("`{}` makes a choice", name.text);
                self.not_here(&what, span, "only actions and guards do");
            }
            (Place::Initial(_), e) if e.state => {
                let what = format!("`{}` reads variables", name.text);
                self.not_here(&what, span, "pass what it needs as arguments");
            }
            _ => {}
        }
        self.effects.add(&effects);
        let params = self.model.functions[function].params.clone();
        if params.len() != arguments.len() {
            let message = format!(
                "`{}` takes {} argument{}, found {}",
                name.text,
                params.len(),
                if params.len() == 1 { "" } else { "s" },
                arguments.len()
            );
            let types: Vec<String> = params.iter().map(|ty| ty.shown()).collect();
            let error = Diagnostic::error(message, span, "wrong number of arguments");
            let help = format!("call it as `{}({})`", name.text, types.join(", "));
            self.error(error.help(help));
            return None;
        }
        let arguments = arguments.iter().zip(&params).map(|(a, ty)| self.expect(a, ty)).collect();
        Some((function, arguments))
    }

    fn in_states(&mut self, states: &[(Option<Name>, Name)], span: Span) -> Expr {
        if matches!(self.place, Place::Constant | Place::Initial(_)) {
            self.not_here("this asks for a state", span, "no machine has started yet");
            return failed(span);
        }
        self.effects.state = true;
        let mut found = vec![];
        for (machine, state) in states {
            let machines: Vec<usize> = match (machine, self.machine) {
                (Some(name), _) => self.machine_named(name).into_iter().collect(),
                (None, Some(m)) => vec![m],
                (None, None) => (0..self.machines.len()).collect(),
            };
            let hits: Vec<(usize, usize)> = (machines.iter())
                .filter_map(|m| self.machines[*m].states.get(&state.text).map(|s| (*m, s.0)))
                .collect();
            match hits[..] {
                [hit] => found.push(hit),
                [] if machines.is_empty() => return failed(span),
                [] => {
                    let known = machines.iter().flat_map(|m| self.machines[*m].states.keys());
                    let known = known.cloned().collect();
                    self.unknown("state", state, known);
                    return failed(span);
                }
                _ => {
                    let message = format!("several machines have a state `{}`", state.text);
                    let error = Diagnostic::error(message, state.span, "which one?");
                    self.error(error.help(format!("write `in MACHINE.{}`", state.text)));
                    return failed(span);
                }
            }
        }
        Expr { kind: ExprKind::In(found), ty: Ty::Bool, span }
    }
}
