//! What the transitions of a machine read: variables, inputs and states, from the syntax alone.
//!
//! A transition reads what its guard mentions, and what is done with it: its action, leaving the state and entering the
//! next one, what is done in every step, and the functions that are called on the way.

use super::ast::{
    Block, Expr, ExprKind, File, Function, Item, Machine, Name, State, Statement, StatementKind,
    Transition,
};
use std::collections::BTreeSet;

/// What is read in a machine.
struct Reads<'a> {
    file: &'a File,
    machine: &'a Machine,
    /// Functions that were walked through.
    called: BTreeSet<&'a str>,
    /// What is declared where the walk is.
    local: Vec<&'a str>,
    found: BTreeSet<String>,
}

/// The names that a transition reads, those of machines with the machine's name before them.
pub fn of_transition<'a>(
    file: &'a File,
    machine: &'a Machine,
    from: &'a State,
    transition: &'a Transition,
) -> BTreeSet<String> {
    let (called, local, found) = (BTreeSet::new(), vec![], BTreeSet::new());
    let mut reads = Reads { file, machine, called, local, found };
    transition.guard.iter().for_each(|guard| reads.expr(guard));
    let target = transition.target.as_ref();
    let entered = |name: &Name| machine.states.iter().find(|s| s.name.text == name.text);
    let exit = from.exit.iter().filter(|_| target.is_some());
    let entry = target.and_then(entered).and_then(|state| state.entry.as_ref());
    let done = exit.chain([&transition.action]).chain(entry).chain(&machine.each);
    done.for_each(|block| reads.block(block));
    reads.found
}

impl<'a> Reads<'a> {
    fn block(&mut self, block: &'a Block) {
        let outside = self.local.len();
        block.statements.iter().for_each(|statement| self.statement(statement));
        block.value.iter().for_each(|value| self.expr(value));
        self.local.truncate(outside);
    }

    fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Let { name, value, .. } => {
                self.expr(value);
                self.local.push(&name.text);
            }
            StatementKind::Assign { place, op, value } => {
                match &place.kind {
                    // What is written is not read, but where it is.
                    ExprKind::Index(_, index) if op.is_none() => self.expr(index),
                    _ if op.is_none() => {}
                    _ => self.expr(place),
                }
                self.expr(value);
            }
            StatementKind::If { condition, then, otherwise } => {
                self.expr(condition);
                self.block(then);
                otherwise.iter().for_each(|block| self.block(block));
            }
            StatementKind::For { name, range, body, .. } => {
                self.expr(&range.from);
                self.expr(&range.to);
                self.local.push(&name.text);
                self.block(body);
                self.local.pop();
            }
            StatementKind::Choose(blocks) => blocks.iter().for_each(|block| self.block(block)),
            StatementKind::Assert { condition, .. } => self.expr(condition),
            StatementKind::Assume(expr) | StatementKind::Expr(expr) => self.expr(expr),
            StatementKind::Return(value) => value.iter().for_each(|value| self.expr(value)),
            StatementKind::Block(block) => self.block(block),
        }
    }

    fn expr(&mut self, expr: &'a Expr) {
        match &expr.kind {
            ExprKind::Name(name) if self.local.contains(&name.text.as_str()) => {}
            ExprKind::Name(name) => {
                let is_own = self.machine.items.iter().any(|i| declares(i, &name.text));
                self.found.insert(match is_own {
                    true => format!("{}.{}", self.machine.name.text, name.text),
                    false => name.text.clone(),
                });
            }
            ExprKind::Member(machine, name) => {
                self.found.insert(format!("{}.{}", machine.text, name.text));
            }
            ExprKind::In(states) => {
                for (machine, state) in states {
                    let machine = machine.as_ref().unwrap_or(&self.machine.name);
                    self.found.insert(format!("{}.{}", machine.text, state.text));
                }
            }
            ExprKind::Call(name, arguments) => {
                arguments.iter().for_each(|argument| self.expr(argument));
                self.call(name);
            }
            ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) | ExprKind::Repeat(a, b) => {
                self.expr(a);
                self.expr(b);
            }
            ExprKind::Unary(_, a) | ExprKind::Cast(a, _) => self.expr(a),
            ExprKind::If(parts) => parts.iter().for_each(|part| self.expr(part)),
            ExprKind::Array(elements) => elements.iter().for_each(|element| self.expr(element)),
            ExprKind::Number { .. }
            | ExprKind::Bool(_)
            | ExprKind::Variant(..)
            | ExprKind::Any(_) => {}
        }
    }

    /// Walks through a function, once.
    fn call(&mut self, name: &Name) {
        let items = self.machine.items.iter().chain(&self.file.items);
        let mut functions = items.filter_map(|item| match item {
            Item::Fn(function) => Some(function),
            _ => None,
        });
        let Some(Function { name, params, body, .. }) =
            functions.find(|f| f.name.text == name.text)
        else {
            return;
        };
        if self.called.insert(&name.text) {
            let here = std::mem::take(&mut self.local);
            self.local.extend(params.iter().map(|(name, _)| name.text.as_str()));
            self.block(body);
            self.local = here;
        }
    }
}

fn declares(item: &Item, wanted: &str) -> bool {
    match item {
        Item::Const { name, .. }
        | Item::Enum { name, .. }
        | Item::Param { name, .. }
        | Item::Input { name, .. }
        | Item::Var { name, .. }
        | Item::Property { name, .. } => name.text == wanted,
        Item::Fn(function) => function.name.text == wanted,
    }
}
