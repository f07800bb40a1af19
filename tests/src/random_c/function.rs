//! Functions and calls.

use super::place::{Object, Want};
use super::types::{BOOL, INTS, Ty};
use super::{Feature, Writer};

/// A parameter of a generated function.
#[derive(Clone, PartialEq, Debug)]
pub enum Param {
    /// A number, or a record by value.
    Value(Ty),
    /// An array or a single thing, by address.
    Address(Ty),
}

/// A generated function that later ones may call.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its identifier, with the program's suffix.
    pub name: String,
    /// What it takes.
    pub params: Vec<Param>,
    /// What it returns.
    pub result: Ty,
    /// Whether it only computes.
    pub pure: bool,
    /// Whether its first parameter says how deep it may call itself.
    pub recursive: bool,
    /// Whether callers do not know its parameters.
    pub old: bool,
    /// A table of functions that has it.
    pub table: Option<String>,
    /// How many statements it executes, at most.
    pub work: usize,
}

/// How many statements a function may execute.
const WORK: usize = 60;
/// And the program.
const ALL_WORK: usize = 500;

impl Writer {
    /// Some functions. Later ones call earlier ones.
    pub fn functions(&mut self) {
        for i in 0..self.rng.between(2, 5) {
            let pure = i < 2 && self.rng.below(3) > 0;
            let twin =
                self.functions.last().filter(|f| f.pure && pure && !f.recursive && !f.old).cloned();
            let twin = twin.filter(|_| self.rng.one_in(2));
            self.function(pure, twin.as_ref());
            if let Some(twin) = twin {
                self.table(&twin.name);
            }
        }
    }

    /// A table of the last function and one that is like it.
    fn table(&mut self, twin: &str) {
        let Some(last) = self.functions.last().cloned() else { return };
        let name = self.fresh("tab");
        let list = self.param_list(&last.params, None);
        let declarator = format!("(*const {name}[2])({list})");
        let declaration = self.declare(&last.result, &declarator);
        self.head(&format!("static {declaration} = {{ {}, &{twin} }};", last.name));
        if let Some(last) = self.functions.last_mut() {
            last.table = Some(name);
        }
    }

    fn param(&self, param: &Param, name: &str, pure: bool) -> String {
        match param {
            Param::Value(ty) => self.declare(ty, name),
            Param::Address(ty) => {
                let qualifier = if pure { "const " } else { "" };
                let text = match ty {
                    Ty::Array(..) => self.declare(ty, name),
                    _ => self.declare(&Ty::Pointer(Box::new(ty.clone())), name),
                };
                format!("{qualifier}{text}")
            }
        }
    }

    /// Parameters of a prototype; the names, if they have some.
    fn param_list(&self, params: &[Param], names: Option<&[String]>) -> String {
        let texts = params.iter().enumerate().map(|(i, param)| {
            let name = names.map_or("", |names| &names[i]);
            self.param(param, name, true)
        });
        let texts: Vec<_> = texts.collect();
        if texts.is_empty() { "void".into() } else { texts.join(", ") }
    }

    fn signature(&mut self, pure: bool, recursive: bool, old: bool) -> (Vec<Param>, Ty) {
        let mut params = vec![];
        if recursive {
            params.push(Param::Value(Ty::Int(5)));
        }
        for _ in 0..self.rng.between(0, 3) {
            let ty = match self.rng.below(6) {
                0..=3 if old => self.int_ty(),
                0..=3 => self.scalar_ty(),
                _ => self.any_ty(6),
            };
            params.push(match ty {
                Ty::Array(..) => Param::Address(ty),
                ty if !pure && self.rng.one_in(4) => Param::Address(ty),
                ty => Param::Value(ty),
            });
        }
        let result = if self.rng.one_in(5) { self.any_ty(8) } else { self.scalar_ty() };
        let result = if let Ty::Array(..) = result { Ty::Int(10) } else { result };
        (params, result)
    }

    fn function(&mut self, pure: bool, twin: Option<&Function>) {
        let recursive = twin.is_none() && pure && self.rng.one_in(4);
        let old = twin.is_none() && self.has(Feature::Knr) && self.rng.one_in(6);
        let (params, result) = match twin {
            Some(twin) => (twin.params.clone(), twin.result.clone()),
            None => self.signature(pure, recursive, old),
        };
        let result = if recursive && matches!(result, Ty::Record(_)) { Ty::Int(9) } else { result };
        let name = self.fresh("f");
        let names: Vec<String> = params.iter().map(|_| self.local("a")).collect();
        let mut texts = vec![];
        for (param, name) in params.iter().zip(&names) {
            texts.push(self.param(param, name, pure));
        }
        let heading = if old {
            let list = self.declare(&result, &format!("{name}({})", names.join(", ")));
            texts.iter().fold(list, |list, text| format!("{list} {text};"))
        } else {
            let list = if texts.is_empty() { "void".into() } else { texts.join(", ") };
            let declared = self.declare(&result, &format!("{name}({list})"));
            let storage = self.rng.pick(&["static ", "", "static inline "]);
            if self.rng.one_in(4) {
                self.head(&format!("{storage}{declared};"));
            }
            format!("{storage}{declared}")
        };
        self.head(&format!("{heading} {{"));
        let outer = self.objects.len();
        (self.pure, self.times, self.work, self.level) = (pure, 1, 0, 0);
        for (i, (param, name)) in params.iter().zip(&names).enumerate() {
            let mut object = match param {
                Param::Value(ty) => Object::new(name, ty.clone(), 1),
                Param::Address(ty @ Ty::Array(..)) => Object::new(name, ty.clone(), 1),
                Param::Address(ty) => Object::new(name, Ty::Pointer(Box::new(ty.clone())), 1),
            };
            if let Param::Address(_) = param {
                // Where it points to need not live as long as the function's own things do not.
                (object.pointable, object.writable) = (false, !pure);
            }
            if recursive && i == 0 {
                (object.pointable, object.writable) = (false, false);
            }
            self.objects.push(object);
        }
        if !pure && self.rng.one_in(2) {
            self.static_local();
        }
        for _ in 0..self.rng.between(0, 2) {
            self.declare_local();
        }
        // Something to write to.
        if !self.visible().any(|o| o.writable && !matches!(o.ty, Ty::Pointer(_))) {
            let (name, ty) = (self.local("v"), self.int_ty());
            let (declaration, init) = (self.declare(&ty, &name), self.init(&ty, false, 1));
            self.line(&format!("{declaration} = {init};"));
            self.objects.push(Object::new(&name, ty, 1));
        }
        self.result = Some(result.clone()).filter(|r| !matches!(r, Ty::Record(_)));
        for _ in 0..self.rng.between(1, 4) {
            self.statement(if recursive { 1 } else { 2 });
        }
        let depth = names.first().cloned().unwrap_or_default();
        let value = self.result_value(&result);
        match recursive {
            true => {
                let again = self.arguments(&params[1..], old, 1);
                let again = again.map(|list| format!(", {list}")).filter(|l| l != ", ");
                let again = if params.len() == 1 { Some(String::new()) } else { again };
                match again {
                    Some(rest) => {
                        let call = format!("{name}({depth} - 1{rest})");
                        self.line(&format!("return {depth} > 0 ? {call} + ({value}) : ({value});"));
                    }
                    None => self.line(&format!("return {value};")),
                }
            }
            false => self.line(&format!("return {value};")),
        }
        self.head("}");
        self.objects.truncate(outer);
        let work = if recursive { 4 * self.work } else { self.work };
        let (pure_now, table) = (pure, None);
        self.pure = false;
        self.result = None;
        self.functions.push(Function {
            name,
            params,
            result,
            pure: pure_now,
            recursive,
            old,
            table,
            work,
        });
    }

    fn result_value(&mut self, result: &Ty) -> String {
        if !matches!(result, Ty::Record(_)) {
            return self.expr(2);
        }
        let found = self.find(result, usize::MAX);
        if !found.is_empty() && (self.has_union(result) || self.rng.one_in(2)) {
            return found[self.rng.below(found.len())].clone();
        }
        if self.has_union(result) {
            // A literal would leave bytes open.
            let name = self.local("z");
            let declaration = self.declare(result, &name);
            self.line(&format!("static {declaration};"));
            return name;
        }
        let init = self.init(result, false, 3);
        if init.starts_with('{') { format!("({}){init}", self.spell(result)) } else { init }
    }

    fn static_local(&mut self) {
        let ty = self.any_ty(6);
        let name = self.local("st");
        let init = self.init(&ty, true, 0);
        let declaration = self.declare(&ty, &name);
        self.line(&format!("static {declaration} = {init};"));
        let object = Object { constant: false, ..Object::new(&name, ty, 0) };
        self.objects.push(object);
    }

    /// Declares a local variable.
    pub fn declare_local(&mut self) {
        let ty = self.any_ty(8);
        let level = 1 + self.level;
        if self.rng.one_in(5) {
            let ty = self.scalar_ty();
            if let Some(address) = self.address(&ty, level) {
                let name = self.local("q");
                let ty = Ty::Pointer(Box::new(ty));
                let declaration = self.declare(&ty, &name);
                self.line(&format!("{declaration} = {address};"));
                self.objects.push(Object::new(&name, ty, level));
            }
            return;
        }
        if self.has_union(&ty) {
            let found = self.find(&ty, level);
            if !matches!(ty, Ty::Record(_)) || found.is_empty() {
                return;
            }
            let name = self.local("v");
            let from = &found[self.rng.below(found.len())];
            let declaration = self.declare(&ty, &name);
            self.line(&format!("{declaration} = {from};"));
            self.objects.push(Object::new(&name, ty, level));
            return;
        }
        let global = |o: &&Object| o.level == 0 && o.name.starts_with('g');
        let globals: Vec<String> = self.visible().filter(global).map(|o| o.name.clone()).collect();
        let shadow = !globals.is_empty() && self.rng.one_in(12);
        let name =
            if shadow { globals[self.rng.below(globals.len())].clone() } else { self.local("v") };
        // What it is initialised with must not name itself.
        let init = self.init(&ty, shadow, 1);
        let mut object = Object::new(&name, ty.clone(), level);
        let qualifier = match self.rng.below(10) {
            0 => {
                (object.writable, object.pointable) = (false, false);
                "const "
            }
            1 => {
                object.pointable = false;
                "volatile "
            }
            2 if matches!(ty, Ty::Int(_)) => {
                object.pointable = false;
                "register "
            }
            _ => "",
        };
        let declaration = self.declare(&ty, &name);
        self.line(&format!("{qualifier}{declaration} = {init};"));
        self.objects.push(object);
    }

    /// Arguments for parameters, if there is something for each of them.
    fn arguments(&mut self, params: &[Param], old: bool, depth: u32) -> Option<String> {
        let mut arguments = vec![];
        for param in params {
            let text = match param {
                // gcc takes other numbers than 0 and 1 as they are.
                Param::Value(Ty::Int(BOOL)) if old => format!("(_Bool)({})", self.expr(depth)),
                Param::Value(Ty::Int(i)) if old => {
                    format!("({})({})", INTS[*i].promoted, self.expr(depth))
                }
                Param::Value(ty @ Ty::Record(_)) => {
                    let found = self.find(ty, usize::MAX);
                    if !found.is_empty() && self.rng.below(3) > 0 {
                        found[self.rng.below(found.len())].clone()
                    } else if self.has_union(ty) {
                        return None;
                    } else {
                        let init = self.init(ty, false, 3);
                        if init.starts_with('{') {
                            format!("({}){init}", self.spell(ty))
                        } else {
                            init
                        }
                    }
                }
                Param::Value(Ty::Enum(_)) if old => return None,
                Param::Value(_) => self.expr(depth),
                Param::Address(ty) => {
                    let address = self.address(ty, usize::MAX)?;
                    match ty {
                        Ty::Array(..) => address[1..].to_owned(),
                        _ => address,
                    }
                }
            };
            arguments.push(text);
        }
        Some(arguments.join(", "))
    }

    fn usable(&self, pure: bool, function: &Function) -> bool {
        let limit = if self.main { ALL_WORK } else { WORK };
        (function.pure || !pure) && self.work + self.times * function.work <= limit
    }

    fn call_text(&mut self, function: &Function, depth: u32) -> Option<String> {
        let depth = depth.min(1);
        let arguments = if function.recursive {
            let rest = self.arguments(&function.params[1..], function.old, depth)?;
            let first = format!("(int)(({}) & 3)", self.expr(depth));
            let comma = if function.params.len() > 1 { ", " } else { "" };
            format!("{first}{comma}{rest}")
        } else {
            self.arguments(&function.params, function.old, depth)?
        };
        self.work += self.times * (1 + function.work);
        let index = self.expr(0);
        Some(match &function.table {
            Some(table) => match self.rng.below(3) {
                0 => format!("{table}[({index}) & 1]({arguments})"),
                1 => format!("(*{table}[({index}) & 1])({arguments})"),
                _ => format!("{}({arguments})", function.name),
            },
            None if self.rng.one_in(8) => format!("(&{})({arguments})", function.name),
            None => format!("{}({arguments})", function.name),
        })
    }

    /// A call of a function, as a number.
    pub fn call(&mut self, pure: bool, depth: u32) -> Option<String> {
        let pure = pure || self.pure;
        let usable: Vec<Function> =
            self.functions.iter().filter(|f| self.usable(pure, f)).cloned().collect();
        if usable.is_empty() {
            return None;
        }
        let function = &usable[self.rng.below(usable.len())];
        if matches!(function.result, Ty::Record(_)) && !self.has(Feature::Result) {
            return None;
        }
        let text = self.call_text(function, depth)?;
        // Where a call has effects, an index into its result must not depend on them.
        let index_depth = if function.pure { depth } else { 0 };
        Some(self.descend(text, function.result.clone(), !function.pure, index_depth))
    }

    /// A call of a function that returns this type.
    pub fn call_of(&mut self, ty: &Ty) -> Option<String> {
        let pure = self.pure;
        let fits = |f: &&Function| f.result == *ty && self.usable(pure, f);
        let usable: Vec<Function> = self.functions.iter().filter(fits).cloned().collect();
        if usable.is_empty() {
            return None;
        }
        let function = &usable[self.rng.below(usable.len())];
        self.call_text(function, 1)
    }

    /// The function that `run` calls.
    pub fn body(&mut self) {
        let heading = format!("static void body{}(void) {{", self.suffix);
        self.head(&heading);
        let outer = self.objects.len();
        (self.pure, self.times, self.work, self.level, self.main) = (false, 1, 0, 0, true);
        for _ in 0..self.rng.between(0, 3) {
            self.declare_local();
        }
        for _ in 0..self.rng.between(5, 10) {
            self.statement(3);
        }
        let last = self.place(Want::Steady, 0);
        self.line(&format!("{last} ^= 1;"));
        self.objects.truncate(outer);
        self.head("}");
    }
}
