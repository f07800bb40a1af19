//! Which variables of a function can be named at one of its statements.

use crate::c::lower::notes::Place;
use crate::c::tree::{ExprKind, Function, LocalId, Stmt, StmtKind, Unit};
use std::rc::Rc;

/// Names and what they mean, the innermost last.
pub struct Scope(Vec<(Rc<str>, LocalId)>);

impl Scope {
    /// What is visible where the statement of a place begins; `None` if no statement begins there.
    pub fn at(unit: &Unit, place: &Place) -> Option<Scope> {
        let function = &unit.functions[place.function];
        let params = function.locals[..function.params].iter().enumerate();
        let mut names = params.map(|(id, local)| (local.name.clone(), id)).collect();
        let body = function.body.as_ref()?;
        find(function, body, place.span.start, &mut names).then_some(Scope(names))
    }

    /// The local that a name means.
    pub fn local(&self, name: &str) -> Option<LocalId> {
        self.0.iter().rev().find(|n| *n.0 == *name).map(|n| n.1)
    }
}

/// Whether a statement below begins there; if so, `names` is left as it is there.
fn find(
    function: &Function,
    statement: &Stmt,
    start: u32,
    names: &mut Vec<(Rc<str>, LocalId)>,
) -> bool {
    let span = statement.span;
    if start < span.start || span.end < start {
        return false;
    }
    match &statement.kind {
        StmtKind::Block(list) => {
            let outer = names.len();
            // `for` with what stands before its first semicolon, which is not a statement.
            let is_for = list.last().is_some_and(|last| {
                matches!(last.kind, StmtKind::For(..)) && last.span.start == span.start
            });
            for (i, inner) in list.iter().enumerate() {
                if let StmtKind::Declare(local, _) = inner.kind {
                    names.push((function.locals[local].name.clone(), local));
                } else if (!is_for || i + 1 == list.len()) && find(function, inner, start, names) {
                    return true;
                }
            }
            names.truncate(outer);
            false
        }
        StmtKind::Label(_, inner) | StmtKind::Case(_, inner) => find(function, inner, start, names),
        StmtKind::Declare(..) | StmtKind::Refused(_) => false,
        _ if span.start == start => true,
        StmtKind::If(_, then, other) => {
            find(function, then, start, names)
                || other.as_ref().is_some_and(|other| find(function, other, start, names))
        }
        StmtKind::While(_, body)
        | StmtKind::DoWhile(body, _)
        | StmtKind::For(_, _, body)
        | StmtKind::Switch(_, _, _, body) => find(function, body, start, names),
        _ => false,
    }
}

/// Where the first call of such a function begins that stands directly behind the label at `start`.
pub fn behind_labels(unit: &Unit, start: u32, wanted: impl Fn(&Function) -> bool) -> Option<u32> {
    let bodies = unit.functions.iter().filter_map(|f| f.body.as_ref());
    let label = bodies.into_iter().find_map(|body| label_at(body, start))?;
    let mut inner = label;
    loop {
        inner = match &inner.kind {
            StmtKind::Label(_, next) => next,
            StmtKind::Block(list) => list.first()?,
            StmtKind::Expr(e) => {
                let calls = matches!(e.kind, ExprKind::Call(f, _) if wanted(&unit.functions[f]));
                return calls.then_some(inner.span.start);
            }
            _ => return None,
        };
    }
}

fn label_at(statement: &Stmt, start: u32) -> Option<&Stmt> {
    if start < statement.span.start || statement.span.end < start {
        return None;
    }
    match &statement.kind {
        StmtKind::Label(..) if statement.span.start == start => Some(statement),
        StmtKind::Block(list) => list.iter().find_map(|s| label_at(s, start)),
        StmtKind::If(_, then, other) => {
            label_at(then, start).or_else(|| label_at(other.as_ref()?, start))
        }
        StmtKind::While(_, inner)
        | StmtKind::DoWhile(inner, _)
        | StmtKind::For(_, _, inner)
        | StmtKind::Switch(_, _, _, inner)
        | StmtKind::Case(_, inner)
        | StmtKind::Label(_, inner) => label_at(inner, start),
        _ => None,
    }
}
