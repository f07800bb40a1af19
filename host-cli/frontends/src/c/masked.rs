//! Where interrupts are surely disabled, as far as the text of a function tells: handlers see nothing of what happens there.

use super::builtin::{self, Builtin};
use super::interrupt;
use super::named;
use super::tree::{Expr, ExprKind, FunctionId, Stmt, StmtKind, Unit};

/// What functions do to that.
pub struct Masked<'a> {
    unit: &'a Unit,
    /// Whether one may enable interrupts, and whether they are disabled whenever it returns.
    enables: Vec<bool>,
    disables: Vec<bool>,
}

/// A function as it is walked.
struct Walk {
    /// For each of its regions, whether interrupts are disabled in it.
    regions: Vec<bool>,
    /// Whether they are wherever it returns.
    returns: bool,
    /// Whether they are where the present `switch` begins, which jumps to its cases.
    switch: bool,
}

impl<'a> Masked<'a> {
    /// Looks at all functions.
    pub fn new(unit: &'a Unit) -> Masked<'a> {
        let count = unit.functions.len();
        let mut masked = Masked { unit, enables: vec![false; count], disables: vec![false; count] };
        loop {
            vouch_ir::deadline::tick();
            let enables: Vec<bool> = (0..count).map(|id| masked.may_enable(id)).collect();
            if enables == masked.enables {
                break;
            }
            masked.enables = enables;
        }
        loop {
            vouch_ir::deadline::tick();
            let disables: Vec<bool> = (0..count).map(|id| masked.surely_disables(id)).collect();
            if disables == masked.disables {
                return masked;
            }
            masked.disables = disables;
        }
    }

    /// For each of the regions of a body, in their order, whether interrupts are surely disabled in it.
    pub fn regions(&self, body: &Stmt) -> Vec<bool> {
        self.walked(body).0.regions
    }

    fn walked(&self, body: &Stmt) -> (Walk, bool) {
        let mut walk = Walk { regions: vec![], returns: true, switch: false };
        let end = self.statement(body, false, &mut walk);
        (walk, end)
    }

    fn may_enable(&self, id: FunctionId) -> bool {
        let function = &self.unit.functions[id];
        match builtin::of(function) {
            Some(Builtin::Mask(disables)) => return !disables,
            Some(Builtin::SetMask) => return true,
            Some(_) => return false,
            None if named::masks(&function.name).is_some() => return true,
            None => {}
        }
        let mut found = false;
        interrupt::each(self.unit, id, &mut |e| found |= self.enables_itself(e));
        found
    }

    fn enables_itself(&self, e: &Expr) -> bool {
        match e.kind {
            ExprKind::Call(id, _) => self.enables.get(id).is_none_or(|enables| *enables),
            ExprKind::CallPointer(..) => true,
            _ => false,
        }
    }

    fn surely_disables(&self, id: FunctionId) -> bool {
        let function = &self.unit.functions[id];
        match (builtin::of(function), &function.body) {
            (Some(builtin), _) => builtin == Builtin::Mask(true),
            (None, Some(body)) if !self.enables[id] => {
                let (walk, end) = self.walked(body);
                walk.returns && end
            }
            _ => false,
        }
    }

    fn enables(&self, e: &Expr) -> bool {
        let mut found = false;
        e.walk(&mut |e| found |= self.enables_itself(e));
        found
    }

    /// Whether a statement may enable interrupts.
    fn enables_in(&self, statement: &Stmt) -> bool {
        let mut found = false;
        statement.expressions(&mut |e| found |= self.enables(e));
        found
    }

    /// Whether they are disabled after an expression.
    fn disables(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Call(id, _) => self.disables.get(*id).is_some_and(|disables| *disables),
            ExprKind::Assign(_, value) | ExprKind::Cast(value) => self.disables(value),
            ExprKind::Comma(a, b) => self.disables(a) || self.disables(b),
            _ => false,
        }
    }

    /// Expressions that are evaluated together. What comes back is whether interrupts are disabled after them.
    fn region(&self, region: &[&Expr], masked: bool, walk: &mut Walk) -> bool {
        let enables = region.iter().any(|e| self.enables(e));
        walk.regions.push(masked && !enables);
        !enables && (masked || region.iter().any(|e| self.disables(e)))
    }

    /// The same for a statement, in the order of [`Stmt::regions_mut`].
    fn statement(&self, statement: &Stmt, masked: bool, walk: &mut Walk) -> bool {
        match &statement.kind {
            StmtKind::Expr(e) => self.region(&[e], masked, walk),
            StmtKind::Return(e) => {
                let end = e.iter().fold(masked, |masked, e| self.region(&[e], masked, walk));
                walk.returns &= end;
                end
            }
            StmtKind::Declare(_, init) => {
                let items = init.iter().flat_map(|init| &init.items).map(|item| &item.value);
                self.region(&items.collect::<Vec<_>>(), masked, walk)
            }
            StmtKind::Block(all) => {
                all.iter().fold(masked, |masked, s| self.statement(s, masked, walk))
            }
            StmtKind::If(c, a, b) => {
                let masked = self.region(&[c], masked, walk);
                let after = self.statement(a, masked, walk);
                let other = b.as_ref().map_or(masked, |b| self.statement(b, masked, walk));
                after && other
            }
            // What is entered again and again has what all of it leaves.
            StmtKind::While(c, body) => {
                let masked = masked && self.stays(statement);
                self.region(&[c], masked, walk);
                self.statement(body, masked, walk);
                masked
            }
            StmtKind::DoWhile(body, c) => {
                let masked = masked && self.stays(statement);
                self.statement(body, masked, walk);
                self.region(&[c], masked, walk);
                masked
            }
            StmtKind::For(c, next, body) => {
                let masked = masked && self.stays(statement);
                c.iter().for_each(|c| _ = self.region(&[c], masked, walk));
                self.statement(body, masked, walk);
                next.iter().for_each(|next| _ = self.region(&[next], masked, walk));
                masked
            }
            StmtKind::Switch(c, _, _, body) => {
                let masked = masked && !is_entered(body, true) && !self.enables_in(statement);
                self.region(&[c], masked, walk);
                let outer = std::mem::replace(&mut walk.switch, masked);
                self.statement(body, masked, walk);
                walk.switch = outer;
                masked
            }
            StmtKind::Case(_, s) => self.statement(s, masked && walk.switch, walk),
            StmtKind::Label(_, s) => self.statement(s, false, walk),
            StmtKind::Goto(_) | StmtKind::Break | StmtKind::Continue | StmtKind::Refused(_) => {
                masked
            }
        }
    }

    /// Whether a loop that begins with interrupts disabled has them so throughout.
    fn stays(&self, statement: &Stmt) -> bool {
        !is_entered(statement, false) && !self.enables_in(statement)
    }
}

/// Whether a statement has labels that are jumped to from outside of it.
fn is_entered(statement: &Stmt, in_switch: bool) -> bool {
    match &statement.kind {
        StmtKind::Label(..) => true,
        StmtKind::Case(_, s) => !in_switch || is_entered(s, in_switch),
        StmtKind::Block(all) => all.iter().any(|s| is_entered(s, in_switch)),
        StmtKind::If(_, a, b) => {
            is_entered(a, in_switch) || b.as_ref().is_some_and(|b| is_entered(b, in_switch))
        }
        StmtKind::While(_, s) | StmtKind::DoWhile(s, _) | StmtKind::For(_, _, s) => {
            is_entered(s, in_switch)
        }
        StmtKind::Switch(_, _, _, s) => is_entered(s, true),
        _ => false,
    }
}
