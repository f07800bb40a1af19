//! Objects: variables of C, each a list of cells, each cell a variable of the automaton.

use super::block::Hazard;
use super::{Fail, Lower, Value, fail};
use crate::c::start::Start;
use crate::c::targets::Thing;
use crate::c::tree::{FunctionId, GlobalId, Init, LocalId};
use crate::c::types::{self, Type, Types, align_up};
use std::ops::Range;
use std::rc::Rc;
use vouch_ir::{self as ir, ExprId, Span, Var, VarId, VarKind};

/// An object of [`Lower`].
pub type ObjectId = usize;

/// The most elements of an array whose length is not a constant.
const MAX_LENGTH: u64 = 128;

/// The most bytes of one object.
const MAX_SIZE: u64 = 1 << 28;

/// A piece of an object.
#[derive(Clone, Debug)]
pub struct Cell {
    /// Where it begins, in bits.
    pub offset: u64,
    /// Its width in memory; that of the variable may be less (`_Bool`).
    pub width: u32,
    /// What holds it.
    pub var: VarId,
    /// Whether it belongs to no member.
    pub padding: bool,
}

/// Storage: a variable, a compound literal, a function's result or a device register.
#[derive(Clone, Debug)]
pub struct Object {
    /// Name for messages and traces; that of a local says which function it belongs to.
    pub name: String,
    /// Declared type; `void` for a device register that keeps no value.
    pub ty: Type,
    /// Its cells, in the order of their offsets.
    pub cells: Vec<Cell>,
    /// Parts without cells, in bits: arrays that are too large, of which every read gives any value.
    pub open: Vec<Range<u64>>,
    /// Where pointers find it.
    pub address: u64,
    /// Size in bytes.
    pub size: u64,
    /// Whether a pointer may point into it.
    pub addressed: bool,
    /// Whether nobody may write it.
    pub constant: bool,
    /// Whether every read gives another value: a register that is defined elsewhere.
    pub register: bool,
    /// What it is in the text, if pointers are followed there.
    pub thing: Option<Thing>,
    /// Whose variable it is; globals live forever.
    pub owner: Option<Owner>,
    /// What holds how many elements it has, and how many bytes each is, if that is not a constant.
    pub length: Option<(VarId, u64)>,
    /// What holds whether it is there, if it is a block of the heap.
    pub live: Option<VarId>,
}

impl Object {
    /// Whether all of it is always there, and holds what was written.
    pub fn is_plain(&self) -> bool {
        self.length.is_none() && !self.register && self.open.is_empty()
    }
}

/// The call that an object lives and dies with.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Owner {
    /// The function that is called.
    pub function: FunctionId,
    /// How deep that is in its recursion.
    pub depth: u32,
    /// Which of its variables; `None` is one that lives as long as the call.
    pub local: Option<LocalId>,
}

/// How values of a type are shown.
pub fn shown(types: &Types, ty: &Type) -> ir::Type {
    match ty {
        Type::Bool => ir::Type::Bool,
        Type::Float(_) => ir::Type::Float,
        Type::Enum { bits, id, .. } if types.enums.get(*id).is_some_and(|e| !e.is_empty()) => {
            let name = |(name, value): &(Rc<str>, i128)| {
                (*value as ir::Word & ir::mask(*bits), name.to_string())
            };
            ir::Type::Enum(types.enums[*id].iter().map(name).collect())
        }
        _ => match ty.integer() {
            Some((_, true)) => ir::Type::Signed,
            _ => ir::Type::Unsigned,
        },
    }
}

/// Names that a pointer's values are shown by; of more nobody could tell them apart in a list.
const MAX_NAMES: usize = 64;

impl Lower<'_> {
    /// Has pointers to objects be shown by the names of these, or of their parts if these are not too many.
    pub(super) fn name_pointers(&mut self) {
        let all = || self.objects.iter().filter(|o| o.addressed);
        let whole = |o: &Object| (ir::Word::from(o.address), format!("&{}", o.name));
        let mut names = vec![(0, "NULL".to_string())];
        names.extend(self.nowhere().map(|at| (ir::Word::from(at), "(gone)".to_string())));
        names.extend(all().map(whole));
        if names.len() > MAX_NAMES {
            return;
        }
        let parts = all().flat_map(|o| self.parts(o));
        let parts: Vec<(ir::Word, String)> = parts.take(MAX_NAMES + 1).collect();
        if names.len() + parts.len() <= MAX_NAMES {
            names.extend(parts);
        }
        for object in &self.objects {
            for cell in self.unit.types.cells(&object.ty) {
                let own = object.cells.iter().find(|c| c.offset == cell.offset && !c.padding);
                if let (Type::Pointer(..), Some(own)) = (&cell.ty, own) {
                    self.cfa.vars[own.var.index()].ty = ir::Type::Enum(names.clone());
                }
            }
        }
    }

    /// Addresses of members and elements behind the first, and of the end of an array: what loops stop at.
    fn parts<'a>(&'a self, object: &'a Object) -> impl Iterator<Item = (ir::Word, String)> + 'a {
        let at = |bytes: u64| ir::Word::from(object.address + bytes);
        let is_part = |c: &&Cell| c.offset > 0 && c.offset.is_multiple_of(8) && !c.padding;
        let name = |c: &Cell| self.cfa.vars[c.var.index()].name.clone();
        let inner = object.cells.iter().filter(is_part);
        let inner = inner.map(move |c| (at(c.offset / 8), format!("&{}", name(c))));
        let end = match (&object.ty, object.is_plain()) {
            (Type::Array(_, Some(count)), true) => {
                Some((at(object.size), format!("&{}[{count}]", object.name)))
            }
            _ => None,
        };
        inner.chain(end)
    }

    pub(super) fn object(
        &mut self,
        name: String,
        ty: &Type,
        addressed: bool,
        span: Span,
    ) -> Result<ObjectId, Fail> {
        let types = &self.unit.types;
        let size = types.size(ty);
        let cells = types.count_cells(ty).filter(|n| *n <= types::MAX_CELLS);
        let cells = cells.filter(|_| size.is_some_and(|size| size < MAX_SIZE));
        let (Some(size), Some(_)) = (size, cells) else {
            let (message, help) = match size {
                None => ("the type of this is incomplete", "define it"),
                Some(_) => {
                    ("this array is too large", "each element becomes a variable; make it smaller")
                }
            };
            return Err(Box::new(fail(message, span, format!("`{name}`")).help(help)));
        };
        let align = types.align(ty).max(16);
        let mut cells = types.cells(ty);
        let open = types.open(ty);
        if !open.is_empty() {
            self.notes.open.push((name.clone(), span));
        }
        let gaps = types::gaps(&cells, &open, if addressed { size * 8 } else { 0 });
        let address = self.beside_devices(align_up(self.next_address, align), size + 1, align);
        // A gap keeps a pointer just past the end from pointing to a neighbour.
        self.next_address = address + align_up(size + 1, align) + 16;
        let members = cells.len();
        cells.extend(gaps.into_iter().map(|(offset, width)| types::Cell {
            offset,
            width,
            ty: types::unsigned(width),
            path: format!(".padding@{offset}"),
        }));
        let mut cells: Vec<Cell> = (cells.into_iter().enumerate())
            .map(|(i, cell)| {
                // Who can see the bytes can make them anything.
                let narrow = cell.ty == Type::Bool && !addressed;
                let var = Var {
                    name: format!("{name}{}", cell.path),
                    width: if narrow { 1 } else { cell.width },
                    ty: if cell.ty == Type::Bool && !narrow {
                        ir::Type::Unsigned
                    } else {
                        shown(types, &cell.ty)
                    },
                    kind: VarKind::State,
                };
                let var = self.cfa.add_var(var);
                Cell { offset: cell.offset, width: cell.width, var, padding: i >= members }
            })
            .collect();
        cells.sort_by_key(|c| c.offset);
        self.objects.push(Object {
            name,
            ty: ty.clone(),
            cells,
            open,
            address,
            size,
            addressed,
            constant: false,
            register: false,
            thing: None,
            owner: None,
            length: None,
            live: None,
        });
        Ok(self.objects.len() - 1)
    }

    /// Objects that pointers may point into have to be known before the first pointer is followed.
    pub(super) fn declare_addressed(&mut self) -> Result<(), Fail> {
        for id in self.reach.globals.clone() {
            self.global_object(id)?;
        }
        for (function, local) in self.reach.locals.clone() {
            for depth in 0..=self.deepest(function) {
                self.local_object(function, depth, local)?;
            }
        }
        Ok(())
    }

    /// How deep a function is followed.
    pub(super) fn deepest(&self, function: FunctionId) -> u32 {
        if self.reach.recursive(function) { self.options.c.recursion } else { 0 }
    }

    pub(super) fn global_object(&mut self, id: GlobalId) -> Result<ObjectId, Fail> {
        if let Some(object) = self.globals.get(&id) {
            return Ok(*object);
        }
        let global = &self.unit.globals[id];
        let addressed = self.reach.globals.contains(&id);
        let object = self.object(global.name.clone(), &global.ty, addressed, global.span)?;
        self.objects[object].constant = global.constant;
        self.objects[object].thing = Some(Thing::Global(id));
        self.open_to_devices(object, global.span);
        if let Some(range) = global.param {
            self.make_param(object, range, global.span)?;
        }
        self.objects[object].register = global.is_register();
        self.globals.insert(id, object);
        Ok(object)
    }

    /// Nobody writes a parameter, and nobody knows its value.
    fn make_param(
        &mut self,
        object: ObjectId,
        (low, high): (i128, i128),
        span: Span,
    ) -> Result<(), Fail> {
        let wrong = |what: &str| fail(what, span, "declared as a parameter");
        let (Some((bits, _)), [cell]) =
            (self.objects[object].ty.integer(), &self.objects[object].cells[..])
        else {
            return Err(wrong("a parameter must be an integer"));
        };
        let var = cell.var;
        if low > high || bits > 64 {
            return Err(wrong("a parameter needs a range with at least one value"));
        }
        let (min, max) = (low as u128 & ir::mask(bits), high as u128 & ir::mask(bits));
        let signed = self.objects[object].ty.integer().is_some_and(|i| i.1);
        let back = |v: u128| match signed {
            true => ir::eval::sign_extend(v, bits) as i128,
            false => v as i128,
        };
        if (back(min), back(max)) != (low, high) {
            return Err(wrong("the range of this parameter does not fit its type"));
        }
        self.cfa.vars[var.index()].kind = VarKind::Param { min, max };
        self.objects[object].constant = true;
        Ok(())
    }

    pub(super) fn local_object(
        &mut self,
        function: FunctionId,
        depth: u32,
        id: LocalId,
    ) -> Result<ObjectId, Fail> {
        let key = (function, depth, id);
        if let Some(object) = self.locals.get(&key) {
            return Ok(*object);
        }
        let local = &self.unit.functions[function].locals[id];
        let name = format!("{}::{}", self.function_name(function, depth), local.name);
        let addressed = self.reach.locals.contains(&(function, id));
        let constant = local.constant;
        let (ty, length) = match (&local.ty, local.length) {
            (Type::Array(of, None), Some(length)) => {
                (Type::Array(of.clone(), Some(MAX_LENGTH)), Some((of.clone(), length)))
            }
            (ty, _) => (ty.clone(), None),
        };
        let object = self.object(name, &ty, addressed, local.span)?;
        if let Some((of, length)) = length {
            let length = self.local_object(function, depth, length)?;
            let bytes = self.unit.types.size(&of).unwrap_or(1);
            self.objects[object].length = Some((self.objects[length].cells[0].var, bytes));
        }
        self.objects[object].owner = Some(Owner { function, depth, local: Some(id) });
        self.objects[object].thing = Some(Thing::Local(function, id));
        self.objects[object].constant = constant;
        self.open_to_devices(object, self.unit.functions[function].locals[id].span);
        self.locals.insert(key, object);
        Ok(object)
    }

    /// Where a function leaves its result.
    pub(super) fn result_object(
        &mut self,
        function: FunctionId,
        depth: u32,
    ) -> Result<ObjectId, Fail> {
        if let Some(object) = self.results.get(&(function, depth)) {
            return Ok(*object);
        }
        let name = format!("{}::result", self.function_name(function, depth));
        let of = &self.unit.functions[function];
        let object = self.object(name, &of.result, false, of.span)?;
        self.results.insert((function, depth), object);
        Ok(object)
    }

    /// An array whose length is not a constant comes into being: it is not longer than what is modelled.
    pub(super) fn check_length(&mut self, object: ObjectId, span: Span) {
        if let Some((length, _)) = self.objects[object].length {
            let length = self.read_var(length);
            let most = self.cfa.pool.constant(MAX_LENGTH as u128, self.unit.types.word());
            let fits = self.cfa.pool.binary(ir::BinOp::Ule, length, most);
            let not = self.cfa.pool.not(fits);
            self.hazard(Hazard::Length, not, span);
        }
    }

    /// Whether an object has that many bytes; `None` if it has them always, as far as it is modelled.
    pub(super) fn has_bytes(&mut self, object: ObjectId, bytes: u64) -> Option<ExprId> {
        let (length, each) = self.objects[object].length?;
        let length = self.read_var(length);
        let needed = bytes.div_ceil(each);
        let needed = self.cfa.pool.constant(needed as u128, self.unit.types.word());
        let has = self.cfa.pool.binary(ir::BinOp::Ule, needed, length);
        Some(self.if_live(object, has))
    }

    /// The same for a number of bytes that is not known, but not more than are modelled.
    pub(super) fn has_until(&mut self, object: ObjectId, bytes: ExprId) -> Option<ExprId> {
        let (length, each) = self.objects[object].length?;
        let length = self.read_var(length);
        let each = self.cfa.pool.constant(each as u128, self.unit.types.word());
        let all = self.cfa.pool.binary(ir::BinOp::Mul, length, each);
        let has = self.cfa.pool.binary(ir::BinOp::Ule, bytes, all);
        Some(self.if_live(object, has))
    }

    /// A condition on a block, which is never met by one that is not there.
    fn if_live(&mut self, object: ObjectId, condition: ExprId) -> ExprId {
        match self.objects[object].live.map(|live| self.read_var(live)) {
            Some(live) => self.cfa.pool.and(live, condition),
            None => condition,
        }
    }

    /// A variable comes into being without a value.
    pub(super) fn havoc(&mut self, object: ObjectId) {
        self.havoc_where(object, |_| true);
    }

    fn havoc_where(&mut self, object: ObjectId, which: impl Fn(&Cell) -> bool) {
        for cell in self.objects[object].cells.clone().into_iter().filter(|c| which(c)) {
            let value = self.any_in(&cell);
            self.write_var(cell.var, value);
        }
    }

    /// Any value of a cell, named as it is.
    pub(super) fn any_in(&mut self, cell: &Cell) -> ExprId {
        let var = &self.cfa.vars[cell.var.index()];
        let (name, width, ty) = (var.name.clone(), var.width, var.ty.clone());
        self.fresh(&name, width, ty)
    }

    pub(super) fn zero(&mut self, object: ObjectId) {
        for cell in self.objects[object].cells.clone() {
            let width = self.cfa.vars[cell.var.index()].width;
            let zero = self.cfa.pool.constant(0, width);
            self.write_var(cell.var, zero);
        }
    }

    /// Gives an object its initial values.
    pub(super) fn initialise(&mut self, object: ObjectId, init: &Init) -> Result<(), Fail> {
        let constant = std::mem::replace(&mut self.objects[object].constant, false);
        self.initialise_anew(object, init)?;
        self.objects[object].constant = constant;
        Ok(())
    }

    fn initialise_anew(&mut self, object: ObjectId, init: &Init) -> Result<(), Fail> {
        // The values are computed before the object changes: `int x = x + 1` is odd but legal, and a
        // call among them may cut the statement.
        if init.whole {
            for item in &init.items {
                let value = self.value(&item.value)?;
                self.store(object, item.offset, item.bits, &item.value.ty, &value)?;
            }
            return Ok(());
        }
        let mut held = vec![];
        for item in &init.items {
            let value = self.value(&item.value)?;
            let cut = init.items.iter().any(|i| self.may_cut(&i.value));
            held.push(match cut {
                true => Ok(self.hold(&value)),
                false => Err(value),
            });
        }
        self.zero(object);
        // What lives forever begins with zeros, padding and all.
        if self.objects[object].owner.is_some() {
            self.havoc_where(object, |cell| cell.padding);
        }
        for (item, held) in init.items.iter().zip(held) {
            let value = match held {
                Ok(held) => self.recall(&held),
                Err(value) => value,
            };
            self.store(object, item.offset, item.bits, &item.value.ty, &value)?;
        }
        Ok(())
    }

    fn store(
        &mut self,
        object: ObjectId,
        offset: u64,
        bits: Option<u32>,
        ty: &Type,
        value: &Value,
    ) -> Result<(), Fail> {
        let place = super::memory::Place::at(object, offset, ty.clone(), bits);
        self.write(&place, value, self.span)
    }

    /// The initial values of a global, as the edge that leaves the initial location assigns them.
    pub(super) fn initialise_global(&mut self, id: GlobalId) -> Result<(), Fail> {
        let object = self.global_object(id)?;
        let global = &self.unit.globals[id];
        self.span = global.span;
        if let Some((low, high)) = global.param {
            // Runs start only with values in the range.
            let var = self.objects[object].cells[0].var;
            let (bits, signed) = global.ty.integer().unwrap_or((1, false));
            let at_most = if signed { ir::BinOp::Sle } else { ir::BinOp::Ule };
            let value = self.cfa.read(var);
            let low = self.cfa.pool.constant(low as u128, bits);
            let high = self.cfa.pool.constant(high as u128, bits);
            let above = self.cfa.pool.binary(at_most, low, value);
            let below = self.cfa.pool.binary(at_most, value, high);
            self.assume(above);
            self.assume(below);
            return Ok(());
        }
        if global.is_register() {
            return Ok(());
        }
        match (&global.init, global.start()) {
            // Whatever another file made of it, or was in memory.
            (None, _) if global.foreign => Ok(()),
            (_, Start::Any) => Ok(()),
            (_, Start::Unknown) => {
                self.notes.unfilled.push((global.name.clone(), global.span));
                for cell in self.objects[object].cells.clone() {
                    let var = &self.cfa.vars[cell.var.index()];
                    let (name, width, ty) = (var.name.clone(), var.width, var.ty.clone());
                    let value = self.fresh_approximate(&name, width, ty);
                    self.write_var(cell.var, value);
                }
                Ok(())
            }
            (None, _) => {
                self.zero(object);
                Ok(())
            }
            (Some(init), _) => {
                if let Some(item) = init.items.iter().find(|i| self.may_cut(&i.value)) {
                    let label = "not known before the program runs";
                    return Err(fail(
                        "an initial value must be a constant",
                        item.value.span,
                        label,
                    ));
                }
                self.zero(object);
                self.initialise(object, init)
            }
        }
    }

    /// The bits of a cell of an object, as it lies in memory.
    pub(super) fn read_cell(&mut self, cell: &Cell) -> ExprId {
        let value = self.read_var(cell.var);
        self.cfa.pool.extend(value, cell.width, false)
    }

    pub(super) fn write_cell(&mut self, cell: &Cell, value: ExprId) {
        let width = self.cfa.vars[cell.var.index()].width;
        let value = self.cfa.pool.slice(value, 0, width);
        self.write_var(cell.var, value);
    }
}
