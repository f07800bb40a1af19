//! What is one thing in several translation units, and what is not.

use super::specifier::Qualified;
use super::{Name, Parser, compatible, defined_twice};
use crate::c::tree::{Expr, ExprKind, FunctionId, GlobalId, Linkage};
use crate::c::types::{Type, pointer};
use crate::c::{Fail, fail};
use std::collections::{HashMap, HashSet};
use std::ops::Range;
use std::rc::Rc;
use vouch_ir::Span;

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
    /// Those of them whose body is the one that counts so far.
    pub here: HashSet<FunctionId>,
    /// Variables that this unit declares `weak`.
    pub weak_globals: HashSet<GlobalId>,
    /// Variables that some unit defines, and whether another definition counts more.
    given: HashMap<GlobalId, bool>,
    given_here: HashSet<GlobalId>,
    /// Names that this unit gives to something else, and those of all units so far.
    aliases: Vec<Alias>,
    joined: Vec<Joined>,
    /// Functions that were taken for another one until a later declaration: what others mean is the second.
    same: HashMap<FunctionId, FunctionId>,
    /// Functions that only this unit knows because all that it says of them is `inline`, and those of all units so far.
    pub inline: HashSet<FunctionId>,
    inlined: Vec<(Rc<str>, FunctionId)>,
    /// The tokens of bodies.
    pub bodies: HashMap<FunctionId, Range<usize>>,
    /// Names that pragmas make `weak`, by unit.
    pub yielding: Vec<HashSet<Rc<str>>>,
    /// Functions whose definition gives way to another one.
    pub replaceable: HashSet<FunctionId>,
}

/// A name that `alias("target")` gives to something of the same unit.
struct Alias {
    own: Name,
    target: Rc<str>,
    weak: bool,
    span: Span,
}

/// The same, with what it means, and the body that this had in its unit.
struct Joined {
    own: Name,
    target: Name,
    weak: bool,
    span: Span,
    body: Option<Span>,
}

/// What a definition of a variable is to those of other units.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Given {
    Nothing,
    /// It counts, as others may.
    Now,
    /// It counts instead of the others.
    Instead,
    /// Another one counts.
    InVain,
}

impl Linker {
    /// The current unit defines a variable.
    pub fn give(&mut self, id: GlobalId, weak: bool) -> Given {
        match (self.given.get(&id), weak) {
            // A unit may say more than once that it defines something, and only then that this is `weak`.
            (Some(_), true) if !self.given_here.contains(&id) => Given::InVain,
            (Some(true), false) => {
                self.given.insert(id, false);
                self.given_here.insert(id);
                Given::Instead
            }
            (Some(false), false) => Given::Now,
            (None, _) | (Some(_), true) => {
                self.given.insert(id, weak);
                self.given_here.insert(id);
                Given::Now
            }
        }
    }

    /// Whether the body of a function is that of this unit.
    pub fn is_here(&self, id: FunctionId) -> bool {
        self.here.contains(&id)
    }

    /// The current unit makes something another name of something.
    pub fn alias(&mut self, own: Name, target: Rc<str>, weak: bool, span: Span) {
        self.aliases.push(Alias { own, target, weak, span });
    }

    /// What a name stands for, for something that only this unit knows if it is `internal`.
    pub fn find(&self, symbol: &str, internal: bool) -> Option<&Name> {
        let own = self.own.get(symbol);
        own.or_else(|| self.external.get(symbol).filter(|_| !internal))
    }

    /// A name stands for something, in this unit alone if it is `internal` or was before.
    pub fn declare(&mut self, symbol: Rc<str>, name: Name, internal: bool) {
        let is_known = self.own.insert(symbol.clone(), name.clone()).is_some();
        if let Name::Function(id) = name
            && !internal
            && self.inline.remove(&id)
        {
            // `extern inline` makes an inline function one for others, too.
            self.internal_functions.remove(&id);
            if let Some(Name::Function(other)) = self.external.get(&symbol)
                && *other != id
            {
                self.same.insert(*other, id);
            }
        }
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
        self.linker.here.clear();
        self.linker.inline.clear();
        self.linker.weak_globals.clear();
        self.linker.given_here.clear();
        self.strings.clear();
        self.unit.types.begin_unit();
    }

    /// All of a unit is read: what its aliases name is known.
    pub(super) fn end_unit(&mut self) -> Result<(), Fail> {
        for (symbol, name) in &self.linker.own {
            if let Name::Function(id) = name
                && self.linker.inline.contains(id)
            {
                self.linker.inlined.push((symbol.clone(), *id));
            }
        }
        for Alias { own, target, weak, span } in std::mem::take(&mut self.linker.aliases) {
            let known = self.linker.own.get(&target).or_else(|| self.names[0].get(&target));
            let types = &self.unit.types;
            let is_same = match (&own, known) {
                (Name::Function(a), Some(Name::Function(b))) => {
                    let (a, b) = (self.prototypes.get(a), self.prototypes.get(b));
                    a.zip(b).is_none_or(|(a, b)| compatible::signatures(types, &a.0, &b.0))
                }
                (Name::Global(a), Some(Name::Global(b))) => {
                    let ty = |id: &GlobalId| &self.unit.globals[*id].ty;
                    compatible::types(types, ty(a), ty(b))
                }
                _ => false,
            };
            let Some(target) = known.cloned().filter(|_| is_same) else {
                let message =
                    format!("`{target}`, which this is another name of, is none of this type");
                return Err(fail(message, span, "its file has to define that"));
            };
            let body = match &target {
                // A definition that another file's replaces stays what the alias means.
                Name::Function(id)
                    if self.linker.defined.contains(id) && !self.linker.is_here(*id) =>
                {
                    return Err(replaced(span));
                }
                Name::Function(id) => self.unit.functions[*id].body.as_ref().map(|b| b.span),
                _ => None,
            };
            self.linker.joined.push(Joined { own, target, weak, span, body });
        }
        Ok(())
    }

    /// All units are read: other names of something mean that from now on.
    pub(super) fn join_names(&mut self) -> Result<(), Fail> {
        self.compare_inlined()?;
        let mut functions = std::mem::take(&mut self.linker.same);
        for (other, inline) in &functions {
            let (other, inline) = (&self.unit.functions[*other], &self.unit.functions[*inline]);
            if other.body.is_some() {
                return Err(defined_twice(&other.name, other.span, inline.span));
            }
        }
        let mut globals: HashMap<GlobalId, GlobalId> = HashMap::new();
        let mut firm = HashSet::new();
        let mut joined = std::mem::take(&mut self.linker.joined);
        joined.sort_by_key(|joined| joined.weak);
        for Joined { own, target, weak, span, body } in joined {
            match (own, target) {
                (Name::Function(own), Name::Function(target)) => {
                    let (known, means) = (&self.unit.functions[own], &self.unit.functions[target]);
                    if body != means.body.as_ref().map(|body| body.span) {
                        return Err(replaced(span));
                    }
                    if known.body.is_some() || firm.contains(&own) {
                        if !weak {
                            return Err(defined_twice(&known.name, span, known.span));
                        }
                        continue;
                    }
                    if !weak {
                        firm.insert(own);
                    }
                    self.unit.aliases.entry(known.name.clone()).or_insert(target);
                    functions.entry(own).or_insert(target);
                }
                (Name::Global(own), Name::Global(target)) => {
                    let known = &self.unit.globals[own];
                    if !known.foreign {
                        if !weak {
                            return Err(defined_twice(&known.name, span, known.span));
                        }
                        continue;
                    }
                    globals.entry(own).or_insert(target);
                    // Others know it by that name.
                    let target = &mut self.unit.globals[target];
                    if target.linkage == Linkage::External {
                        target.linkage = Linkage::Declared;
                    }
                }
                _ => {}
            }
        }
        if functions.is_empty() && globals.is_empty() {
            return Ok(());
        }
        let last = |map: &HashMap<usize, usize>, mut id: usize| {
            // No more steps than names: aliases of one another name nothing.
            for _ in 0..=map.len() {
                match map.get(&id) {
                    Some(next) => id = *next,
                    None => break,
                }
            }
            id
        };
        let mut change = |e: &mut Expr| match &mut e.kind {
            ExprKind::Call(id, _) | ExprKind::Function(id) => *id = last(&functions, *id),
            ExprKind::Global(id) => *id = last(&globals, *id),
            _ => {}
        };
        for body in self.unit.functions.iter_mut().filter_map(|f| f.body.as_mut()) {
            body.expressions_mut(&mut |e| e.change(&mut change));
        }
        let inits = self.unit.globals.iter_mut().filter_map(|global| global.init.as_mut());
        inits.flat_map(|init| &mut init.items).for_each(|item| item.value.change(&mut change));
        for target in self.unit.aliases.values_mut() {
            *target = last(&functions, *target);
        }
        Ok(())
    }

    /// Whether a call is one of the `inline` function or one of another unit's is up to the compiler, so they have to be
    /// the same.
    fn compare_inlined(&self) -> Result<(), Fail> {
        let kinds = |id: &FunctionId| {
            let range = self.linker.bodies.get(id)?.clone();
            Some(self.tokens.get(range)?.iter().map(|token| &token.kind))
        };
        for (symbol, id) in &self.linker.inlined {
            if let Some(Name::Function(other)) = self.linker.external.get(symbol)
                && let (Some(own), Some(other_kinds)) = (kinds(id), kinds(other))
                && !own.eq(other_kinds)
            {
                let message =
                    format!("`{symbol}` is `inline` here, and another function elsewhere");
                let (own, other) = (&self.unit.functions[*id], &self.unit.functions[*other]);
                let error = fail(message, own.span, "a compiler may call either");
                return Err(Box::new(
                    error.related(other.span, "elsewhere").help("make it `static inline`"),
                ));
            }
        }
        Ok(())
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

fn replaced(span: Span) -> Fail {
    let message =
        "another name of a function whose definition another file replaces is not supported";
    fail(message, span, "which of the two is meant is up to the compiler")
}
