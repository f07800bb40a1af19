//! What the automaton has to do with the text, beyond what stands in it: for witnesses and harnesses,
//! which speak of calls, branches, loops and variables as the programmer wrote them.

use super::Lower;
use super::object::Cell;
use crate::c::registers::Registers;
use crate::c::tree::{Function, FunctionId, GlobalId, LocalId, Stmt, StmtKind};
use crate::c::types::Type;
use crate::origin::{self, Variable};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ops::Range;
use vouch_ir::requirements::Requirements;
use vouch_ir::{EdgeId, ExprId, InputId, LocId, Span, VarId};

/// Notes on an automaton. All spans are those of the preprocessed text.
#[derive(Default)]
pub struct Notes {
    /// Values that runs choose, in the order in which they are chosen within an edge.
    pub samples: Vec<Sample>,
    /// Where handlers of interrupts begin.
    pub begins: BTreeSet<LocId>,
    /// Heads of loops: where a condition is about to be evaluated, and of `do` where the body begins.
    pub heads: Vec<Place>,
    /// Locations at which a statement is about to be run.
    pub points: Vec<Place>,
    /// Statements, by where they begin, that some run enters in the middle of an edge.
    pub inside: BTreeSet<u32>,
    /// Edges that take a branch: the statement that asks, and its answer.
    pub branches: HashMap<EdgeId, (Span, Answer)>,
    /// Variables that C can name.
    pub names: HashMap<VarId, Named>,
    /// Variables that live as long as the program, or parts of them.
    pub globals: HashMap<VarId, GlobalId>,
    /// Assertions that a run may get to.
    pub claims: Vec<Claim>,
    /// What assertions cover.
    pub requirements: Requirements,
    /// Functions that are declared only and change what they are given, and where one is called.
    pub unknown: BTreeMap<String, Span>,
    /// Functions that are declared only, and where one is called.
    pub elsewhere: BTreeMap<String, Span>,
    /// Functions that by their names may disable or enable interrupts, and where one is called.
    pub masks: BTreeMap<String, Span>,
    /// Functions that let other tasks run before they return, and where one is called.
    pub waits: BTreeMap<String, Span>,
    /// Functions that one of them is given a pointer to: its name, that one's, and where.
    pub given: Vec<(String, String, Span)>,
    /// Calls of them, in the order in which they come within an edge.
    pub changes: Vec<Change>,
    /// A call that allocates.
    pub allocates: Option<Span>,
    /// Objects with an array that is too large to be followed, and where they are declared.
    pub open: Vec<(String, Span)>,
    /// Variables that begin with any value because of their section, and where they are declared.
    pub unfilled: Vec<(String, Span)>,
    /// Objects that a device is given the address of.
    pub seen: Vec<(String, Span)>,
    /// Operands of which it is not said which is evaluated first, though that may matter.
    pub orders: Vec<(Span, Span)>,
    /// Where devices are.
    pub devices: Vec<Range<u64>>,
    /// What is known of their registers.
    pub registers: Registers,
    /// Registers that are written though they can only be read (`true`), or the other way round, and where.
    pub useless: BTreeMap<(String, bool), Span>,
    /// Functions of which the automaton has the body.
    pub functions: Vec<String>,
    /// Variables that live as long as the program.
    pub variables: Vec<Variable>,
    /// Where the automaton is between two calls of the step.
    pub step: Option<LocId>,
}

/// An assertion as one of its copies in the automaton.
pub struct Claim {
    /// Name of the property that the assertion belongs to.
    pub property: String,
    /// Where it is in the text.
    pub span: Span,
    /// The location before it.
    pub at: LocId,
    /// When runs at that location get to it. `None` if they are those that have failed already.
    pub reached: Option<ExprId>,
}

/// A call of a function that is declared only.
pub struct Change {
    /// Its name.
    pub function: String,
    /// Location that the edges leave which make the call.
    pub at: LocId,
    /// When runs at that location get to it.
    pub reached: ExprId,
    /// Its arguments that are pointers: their number and value.
    pub pointers: Vec<(usize, ExprId)>,
    /// What it may have changed.
    pub objects: Vec<Changed>,
}

/// An object that a function which is declared only may have changed.
pub struct Changed {
    /// Where the automaton has it.
    pub address: u64,
    /// Its size in bytes.
    pub size: u64,
    /// When it is meant.
    pub when: ExprId,
    /// Its cells: the offset in bits, the variable, and what chooses its value.
    pub cells: Vec<(u64, VarId, InputId)>,
}

/// A value that a run chooses on the edges that leave a location.
pub struct Sample {
    /// Location that the choosing edges leave.
    pub at: LocId,
    /// Input of the automaton that holds the chosen value.
    pub input: InputId,
    /// The call that returns it, if one does.
    pub call: Option<Span>,
}

/// A place in the text as one of its copies in the automaton.
pub struct Place {
    /// Location of this copy in the automaton.
    pub at: LocId,
    /// Source range of the statement that is about to run there.
    pub span: Span,
    /// The function it stands in.
    pub function: FunctionId,
    /// How deep that is in its recursion.
    pub depth: u32,
}

/// What a branch has decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Answer {
    /// The condition of an `if` or of a loop.
    Holds(bool),
    /// The value of a `switch`.
    Case(i128),
    /// No case of a `switch` has the value.
    Default,
}

/// A variable of the automaton as a variable of C or a part of one.
pub struct Named {
    /// The C variable that it is part of.
    pub root: Root,
    /// Place in the variable, as `.head` or `[3]`; empty for a scalar variable.
    pub path: String,
    /// C type of this part, which decides how values are written.
    pub ty: Type,
}

/// A variable of C.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Root {
    /// Of the file.
    Global(GlobalId),
    /// Of a function at some depth of its recursion.
    Local(FunctionId, u32, LocalId),
}

/// A branch that is being lowered: where its answers lead.
pub(super) struct Branching {
    pub span: Span,
    pub answers: Vec<(LocId, Answer)>,
}

impl Lower<'_> {
    /// What holds of locations holds of their copies.
    pub(super) fn note_copies(&mut self, copied: &[(LocId, LocId)]) {
        for (copy, original) in copied {
            if self.interrupts.begins_at(*original) {
                self.notes.begins.insert(*copy);
            }
            let more = self.notes.samples.iter().filter(|sample| sample.at == *original);
            let more: Vec<Sample> = more
                .map(|sample| Sample { at: *copy, input: sample.input, call: sample.call })
                .collect();
            self.notes.samples.extend(more);
        }
    }

    fn noted(&self, at: LocId, span: Span) -> Place {
        let (function, depth) = self.current();
        Place { at, span, function, depth }
    }

    /// A loop has its head here.
    pub(super) fn note_head(&mut self, at: LocId, span: Span) {
        let place = self.noted(at, span);
        self.notes.heads.push(place);
    }

    /// A statement begins.
    pub(super) fn note_point(&mut self, statement: &Stmt) {
        let is_point = matches!(
            statement.kind,
            StmtKind::Expr(_)
                | StmtKind::If(..)
                | StmtKind::While(..)
                | StmtKind::DoWhile(..)
                | StmtKind::Switch(..)
                | StmtKind::Return(_)
                | StmtKind::Goto(_)
                | StmtKind::Break
                | StmtKind::Continue
        );
        if !is_point || self.block.dead {
            return;
        }
        if self.block.is_empty() {
            let place = self.noted(self.block.start(), statement.span);
            self.notes.points.push(place);
        } else {
            self.notes.inside.insert(statement.span.start);
        }
    }

    /// Lowers a branch: edges to these places are its answers.
    pub(super) fn branching<T>(
        &mut self,
        span: Span,
        answers: Vec<(LocId, Answer)>,
        f: impl FnOnce(&mut Self) -> T,
    ) -> T {
        let outer = self.branching.replace(Branching { span, answers });
        let result = f(self);
        self.branching = outer;
        result
    }

    /// An edge was added.
    pub(super) fn note_edge(&mut self, edge: EdgeId, to: LocId) {
        if let Some(branching) = &self.branching
            && let Some((_, answer)) = branching.answers.iter().find(|a| a.0 == to)
        {
            self.notes.branches.insert(edge, (branching.span, *answer));
        }
    }

    /// A run gets to an assertion; what follows depends on whether it holds, unless it has `failed`.
    pub(super) fn note_claim(&mut self, property: &str, span: Span, failed: bool) {
        if self.block.dead {
            return;
        }
        let reached = (!failed).then(|| self.reached());
        let (property, at) = (property.to_string(), self.block.start());
        self.notes.claims.push(Claim { property, span, at, reached });
    }

    /// All is lowered: which variables have names.
    pub(super) fn note_names(&mut self) {
        let globals = self.globals.iter().map(|(id, object)| (Root::Global(*id), *object));
        let locals = self
            .locals
            .iter()
            .map(|((f, depth, l), object)| (Root::Local(*f, *depth, *l), *object));
        let types = &self.unit.types;
        for (root, object) in globals.chain(locals) {
            let object = &self.objects[object];
            if let Root::Global(id) = root {
                let vars = object.cells.iter().map(|cell| (cell.var, id));
                self.notes.globals.extend(vars.filter(|_| !object.register));
            }
            // The pieces of a union are not its members.
            if types.has_union(&object.ty) || object.register {
                continue;
            }
            let members = object.cells.iter().filter(|c| !c.padding);
            for (cell, layout) in members.zip(types.cells(&object.ty)) {
                let named = Named { root, path: layout.path, ty: layout.ty };
                self.notes.names.insert(cell.var, named);
            }
        }
    }

    /// All is lowered and has names: what a linker knows of it.
    pub(super) fn note_parts(&mut self) {
        let functions = self.unit.functions.iter().enumerate();
        let has_body =
            |(id, f): &(FunctionId, &Function)| f.body.is_some() && self.reach.is_reached(*id);
        self.notes.functions =
            functions.filter(has_body).map(|(_, f)| f.name.to_string()).collect();
        let mut variables: Vec<Variable> = vec![];
        let globals = self.globals.values().map(|object| &self.objects[*object]);
        for object in globals.filter(|object| !object.register) {
            let cell = |cell: &Cell| origin::Cell {
                offset: cell.offset,
                width: cell.width,
                var: cell.var,
                path: self.notes.names.get(&cell.var).map(|named| named.path.clone()),
            };
            let (name, size) = (object.name.clone(), object.size);
            variables.push(Variable { name, size, cells: object.cells.iter().map(cell).collect() });
        }
        variables.sort_by(|a, b| a.name.cmp(&b.name));
        self.notes.variables = variables;
    }
}
