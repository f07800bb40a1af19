//! What is one thing in several translation units, and what is not.

use super::specifier::Qualified;
use super::{Name, Parser};
use crate::c::tree::FunctionId;
use crate::c::types::{Type, pointer};
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

/// What the linker's names stand for.
#[derive(Default)]
pub(super) struct Linker {
    /// Files of the units.
    pub paths: Vec<String>,
    /// The unit that is being read.
    unit: usize,
    /// Names that all units share.
    external: HashMap<Rc<str>, Name>,
    /// Names of this unit, those that others share among them.
    own: HashMap<Rc<str>, Name>,
    /// Units of functions and variables that only those know.
    internal_functions: HashMap<FunctionId, usize>,
    internal_globals: HashMap<usize, usize>,
    /// Functions that this unit declares `weak`.
    pub weak: HashSet<FunctionId>,
    /// Functions that this unit defines.
    pub defined: HashSet<FunctionId>,
    /// Names that pragmas make `weak`, by unit.
    pub yielding: Vec<HashSet<Rc<str>>>,
    /// Functions whose definition gives way to another one.
    pub replaceable: HashSet<FunctionId>,
}

impl Linker {
    /// What a name stands for, for something that only this unit knows if it is `internal`.
    pub fn find(&self, symbol: &str, internal: bool) -> Option<&Name> {
        let own = self.own.get(symbol);
        own.or_else(|| self.external.get(symbol).filter(|_| !internal))
    }

    /// A name stands for something, in this unit alone if it is `internal` or was before.
    pub fn declare(&mut self, symbol: Rc<str>, name: Name, internal: bool) {
        let is_known = self.own.insert(symbol.clone(), name.clone()).is_some();
        match name {
            Name::Function(id) if internal && !is_known => {
                self.internal_functions.entry(id).or_insert(self.unit);
            }
            Name::Global(id) if internal && !is_known => {
                self.internal_globals.entry(id).or_insert(self.unit);
            }
            _ => {}
        }
        let is_internal = match name {
            Name::Function(id) => self.internal_functions.contains_key(&id),
            Name::Global(id) => self.internal_globals.contains_key(&id),
            _ => true,
        };
        if !is_internal {
            self.external.insert(symbol, name);
        }
    }

    /// Whether a pragma of the current unit makes a name `weak`.
    pub fn yields(&self, name: &str) -> bool {
        self.yielding.get(self.unit).is_some_and(|names| names.contains(name))
    }

    /// A variable without a name in the text belongs to the unit that is read.
    pub fn keep_inside(&mut self, id: usize) {
        self.internal_globals.insert(id, self.unit);
    }
}

impl Parser {
    /// Names of the unit before mean nothing any more, but for those that are shared.
    pub(super) fn begin_unit(&mut self, number: usize) {
        let va_list = Qualified {
            ty: pointer(Type::Void),
            volatile: false,
            constant: false,
            atomic: false,
            align: None,
        };
        self.names = vec![HashMap::new()];
        self.tags = vec![HashMap::new()];
        self.declare_name("__builtin_va_list".into(), Name::Typedef(va_list));
        self.linker.unit = number;
        self.linker.own.clear();
        self.linker.weak.clear();
        self.linker.defined.clear();
        self.strings.clear();
        self.unit.types.begin_unit();
    }

    /// All units are read: what only one of them knows gets a name of its own if there is another thing of its name.
    pub(super) fn rename_twins(&mut self) {
        let base = |unit: &usize| {
            let path = self.linker.paths.get(*unit).map_or("", String::as_str);
            path.rsplit(['/', '\\']).next().unwrap_or(path).to_string()
        };
        let mut named: HashMap<String, usize> = HashMap::new();
        for function in &self.unit.functions {
            *named.entry(function.name.to_string()).or_default() += 1;
        }
        for (id, unit) in &self.linker.internal_functions {
            let function = &mut self.unit.functions[*id];
            function.internal = true;
            if named.get(&*function.name).is_some_and(|n| *n > 1) {
                function.name = format!("{}@{}", function.name, base(unit)).into();
            }
        }
        let mut named: HashMap<String, usize> = HashMap::new();
        for global in &self.unit.globals {
            *named.entry(global.name.clone()).or_default() += 1;
        }
        for (id, unit) in &self.linker.internal_globals {
            let global = &mut self.unit.globals[*id];
            if named.get(&global.name).is_some_and(|n| *n > 1) {
                global.name = format!("{}@{}", global.name, base(unit));
            }
        }
    }
}
