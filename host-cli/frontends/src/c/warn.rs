//! Where a check of a program says less than it seems to.

use super::Program;
use super::points::Callees;
use super::reach::{self, Reach, Root};
use super::tree::{Expr, ExprKind, FunctionId, GlobalId, Linkage, Local};
use crate::{Diagnostic, Options, Overflow};
use std::collections::BTreeSet;
use vouch_ir::live::Live;
use vouch_ir::{self as ir, ExprId, PropertyId, Span};

/// Variables that a warning names.
const NAMED: usize = 3;

/// The warnings about a program.
pub fn warnings(program: &Program, options: &Options) -> Vec<Diagnostic> {
    let parsed = program.unit.warnings.iter().cloned().map(|mut warning| {
        warning.span = program.original(warning.span);
        warning
    });
    let looked_for = [
        pointed_nowhere(program, options).or_else(|| unclaimed(program, options)),
        called_once(program, options),
        declared_only(program),
        known_elsewhere(program),
        called_back(program),
        in_any_order(program, options),
        unhandled(program, options),
        too_large(program),
        enough_memory(program, options),
        seen_by_devices(program),
        unfilled(program),
        may_mask(program),
        waits(program),
    ];
    parsed.chain(looked_for.into_iter().flatten()).chain(useless(program)).collect()
}

/// A register is written that can only be read, or the other way round.
fn useless(program: &Program) -> impl Iterator<Item = Diagnostic> {
    program.notes.useless.iter().map(|((name, written), at)| {
        let (message, label) = match written {
            true => (format!("`{name}` is read-only: what is written is lost"), "written here"),
            false => (format!("`{name}` is write-only: a read may give any value"), "read here"),
        };
        let warning = Diagnostic::warning(message, program.original(*at), label);
        warning.help("so the description of the registers says, `--registers`")
    })
}

fn entry(program: &Program, options: &Options) -> Span {
    let entry = program.unit.defined(&options.c.entry);
    program.original(entry.map_or(Span::default(), |f| f.span))
}

/// A function that is called from outside with a pointer: nothing is there that it could point to.
fn pointed_nowhere(program: &Program, options: &Options) -> Option<Diagnostic> {
    let functions = options.c.called().filter_map(|name| program.unit.defined(name));
    let (function, pointer) = functions.filter(|f| *f.name != *"main").find_map(|f| {
        let pointer = f.locals[..f.params].iter().find(|p| p.ty.pointee().is_some())?;
        Some((f, pointer))
    })?;
    let name = &function.name;
    let message = format!("`{name}` is called with any pointer as `{}`", pointer.name);
    let place = program.original(pointer.span);
    let warning = Diagnostic::warning(message, place, "nobody says what it points to");
    let own = "call it from a function of your own, with an object, and check that";
    let to = pointer.ty.pointee().filter(|to| program.unit.types.size(to).is_some());
    let example = to.map(|to| {
        let shown = |p: &Local| if std::ptr::eq(p, pointer) { "&x" } else { "…" };
        let args: Vec<&str> = function.locals[..function.params].iter().map(shown).collect();
        let ty = program.unit.types.show(to);
        format!(": `void step(void) {{ static {ty} x; {name}({}); }}`", args.join(", "))
    });
    Some(warning.help(format!("{own}{}", example.unwrap_or_default())))
}

/// A program that claims nothing is safe whatever it does.
fn unclaimed(program: &Program, options: &Options) -> Option<Diagnostic> {
    let Program { cfa, notes, .. } = program;
    let checks = options.c.checks != super::Checks::default();
    let has_claim = cfa.properties.iter().enumerate().any(|(id, property)| {
        let is_limit = cfa.limits.contains(&PropertyId(id as u32));
        let is_empty = cfa.edges.iter().all(|e| e.to != property.error);
        !is_limit && !is_empty
    });
    if has_claim || checks || options.overflow == Overflow::Error || !notes.claims.is_empty() {
        return None;
    }
    let message =
        format!("nothing is claimed about `{}`, so a verdict says nothing", options.c.entry);
    let label = "gets to no assertion and no error, and no check is on";
    let warning = Diagnostic::warning(message, entry(program, options), label);
    Some(warning.help("add `--checks all`, or say what must hold with `VOUCH_ASSERT` of vouch.h"))
}

/// A function that is called once starts from the initial values, whatever state it keeps.
fn called_once(program: &Program, options: &Options) -> Option<Diagnostic> {
    if options.c.repeat || options.c.entry == "main" {
        return None;
    }
    let kept = kept(program);
    let first = *kept.first()?;
    let names: Vec<String> =
        kept.iter().take(NAMED).map(|id| format!("`{}`", program.unit.globals[*id].name)).collect();
    let more = if kept.len() > NAMED { " and more" } else { "" };
    let names = format!("{}{more}", names.join(", "));
    let entry_name = &options.c.entry;
    let message = format!(
        "only one call of `{entry_name}` is checked, but it keeps state between calls: {names}"
    );
    let warning = Diagnostic::warning(message, entry(program, options), "called once").help(
        "add `--loop` to check any number of calls one after the other, as firmware makes them",
    );
    let place = program.original(program.unit.globals[first].span);
    Some(warning.related(place, "starts with its initial value"))
}

/// A function that is declared only may do less than it is taken to do.
fn declared_only(program: &Program) -> Option<Diagnostic> {
    let unknown = &program.notes.unknown;
    let (_, first) = unknown.iter().min_by_key(|(_, at)| at.start)?;
    let names: Vec<String> = unknown.keys().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = if unknown.len() > NAMED { " and more" } else { "" };
    let message = format!(
        "declared only: {}{more} may change what they are given, and what is declared `extern`, in any way",
        names.join(", ")
    );
    let label = "here, all that the arguments lead to has any value afterwards, and so do variables of other units";
    let warning = Diagnostic::warning(message, program.original(*first), label);
    Some(warning.help("define them, or say `--declared-only nothing`"))
}

/// A variable that is not static, but is declared for no other unit either, could be changed in one all the same.
fn known_elsewhere(program: &Program) -> Option<Diagnostic> {
    let Program { unit, notes, cfa, .. } = program;
    let (who, at) = notes.elsewhere.iter().min_by_key(|(_, at)| at.start)?;
    let read = (0..cfa.pool.len() as u32).filter_map(|id| match cfa.pool.get(ExprId(id)) {
        ir::Expr::Var(var) => notes.globals.get(&var).copied(),
        _ => None,
    });
    let ids: BTreeSet<GlobalId> = read.collect();
    let mut globals = ids.iter().map(|id| &unit.globals[*id]).filter(|global| {
        global.linkage == Linkage::External && !global.constant && global.param.is_none()
    });
    let first = globals.next()?;
    let more = if globals.next().is_some() { " and others" } else { "" };
    let message =
        format!("`{who}` is defined elsewhere, and is taken not to change `{}`{more}", first.name);
    let warning = Diagnostic::warning(message, program.original(*at), "called here");
    let place = program.original(first.span);
    Some(
        warning.related(place, "not static: another unit could declare it, too").help(
            "make it `static` if nothing else changes it; declare it `extern` if something does",
        ),
    )
}

/// A function that is declared only is given a pointer to one that it might call.
fn called_back(program: &Program) -> Option<Diagnostic> {
    let given = &program.notes.given;
    let (name, who, at) = given.iter().min_by_key(|(_, _, at)| at.start)?;
    let more = if given.len() > 1 { " and others" } else { "" };
    let message = format!("`{who}` is given `{name}`{more} and may call it, which is not modelled");
    let label = format!("`{who}` is declared only, so nothing is safe that goes this way");
    let warning = Diagnostic::warning(message, program.original(*at), label);
    Some(warning.help(format!(
        "define `{who}`; or say who else calls `{name}`: `--interrupt {name}` for a handler, `--task {name}` for \
         what a scheduler calls; `--declared-only nothing` if nobody does"
    )))
}

/// Operands of which C does not say which is evaluated first.
fn in_any_order(program: &Program, options: &Options) -> Option<Diagnostic> {
    let orders = &program.notes.orders;
    let (first, second) = orders.iter().min_by_key(|(first, _)| first.start)?;
    let more = match orders.len() {
        1 => String::new(),
        n => format!(" (and {} more)", n - 1),
    };
    let why = match options.c.interrupts.is_empty() {
        true => "one may change what the other uses",
        false => "one may change what the other uses, or a handler what both use",
    };
    let message = format!("C does not say which of these operands comes first, and {why}{more}");
    let warning =
        Diagnostic::warning(message, program.original(*first), "from left to right, first this");
    let warning = warning.related(program.original(*second), "then this");
    Some(warning.help(
        "what is said is said of every order; a statement of its own for one of them settles it",
    ))
}

/// Whether there is memory left is not known here.
fn enough_memory(program: &Program, options: &Options) -> Option<Diagnostic> {
    let at = program.notes.allocates.filter(|_| !options.c.checks.heap)?;
    let message = "calls that allocate are taken to find memory";
    let warning = Diagnostic::warning(message, program.original(at), "never returns null");
    Some(warning.help("look at runs in which there is none left, too, with `--checks heap`"))
}

/// What a device is given the address of.
fn seen_by_devices(program: &Program) -> Option<Diagnostic> {
    let (name, at) = program.notes.seen.iter().min_by_key(|(_, at)| at.start)?;
    let message = format!("the address of `{name}` is given to a device, which may change it");
    let label = "each read of it gives any value, which nothing here knows";
    let warning = Diagnostic::warning(message, program.original(*at), label);
    Some(warning.help("if it only reads, say `const`, or leave that out with `#ifndef __VOUCH__`"))
}

/// A function by whose name interrupts may be disabled after it, and nobody knows which.
fn may_mask(program: &Program) -> Option<Diagnostic> {
    let masks = &program.notes.masks;
    let (_, at) = masks.iter().min_by_key(|(_, at)| at.start)?;
    let names: Vec<String> = masks.keys().take(NAMED).map(|name| format!("`{name}`")).collect();
    let more = if masks.len() > NAMED { " and more" } else { "" };
    let message = format!(
        "which handlers are disabled after {}{more} is not known here: both are looked at",
        names.join(", ")
    );
    let label = "a run that depends on it is unknown";
    let warning = Diagnostic::warning(message, program.original(*at), label);
    Some(warning.help(
        "in a file of your own, define what is declared only by `__disable_irq()`, `__set_BASEPRI(…)` and \
         `__enable_irq()`",
    ))
}

/// A task that does not run to its end before another one begins.
fn waits(program: &Program) -> Option<Diagnostic> {
    let (name, at) = program.notes.waits.iter().min_by_key(|(_, at)| at.start)?;
    let message =
        format!("`{name}` lets other tasks run in the middle of this one, which is not modelled");
    let label = "nothing is safe that goes this way";
    let warning = Diagnostic::warning(message, program.original(*at), label);
    Some(warning.help(format!(
        "name what comes before and after it as tasks of their own; or define `{name}` as a function that does nothing, \
         if the others have no part in what this one does"
    )))
}

/// Nobody knows what start-up code does with a section.
fn unfilled(program: &Program) -> Option<Diagnostic> {
    let all = &program.notes.unfilled;
    let (name, at) = all.iter().min_by_key(|(_, at)| at.start)?;
    let more = if all.len() > 1 { " and others" } else { "" };
    let message =
        format!("whether start-up code gives `{name}`{more} an initial value is not known");
    let label =
        "has a section or an address of its own: begins with any value, which nothing here knows";
    let warning = Diagnostic::warning(message, program.original(*at), label);
    Some(warning.help(
        "if start-up code does, assign the value in the function of `--init`, or leave the attribute out with \
         `#ifndef __VOUCH__`",
    ))
}

/// An array that is too large to be followed.
fn too_large(program: &Program) -> Option<Diagnostic> {
    let (name, at) = program.notes.open.iter().min_by_key(|(_, at)| at.start)?;
    let message = format!("`{name}` is too large to be followed: each read of it gives any value");
    let (scalars, floats) = (super::types::MAX_CELLS, super::types::MAX_FLOATS);
    let label = format!("an array of more than {scalars} scalars, or {floats} that are fractions");
    let warning = Diagnostic::warning(message, program.original(*at), label);
    Some(warning.help("make it smaller for the check if what it holds matters"))
}

/// A volatile variable that the program uses and a function changes which nobody calls: a handler of an interrupt, perhaps.
fn unhandled(program: &Program, options: &Options) -> Option<Diagnostic> {
    let Program { unit, .. } = program;
    if !unit.globals.iter().any(|global| global.volatile) {
        return None;
    }
    let roots: Vec<&str> = options.c.entries().map(String::as_str).collect();
    let ids = (0..unit.functions.len()).filter(|f| unit.functions[*f].body.is_some());
    let (roots, others): (Vec<FunctionId>, Vec<FunctionId>) =
        ids.partition(|f| roots.contains(&&*unit.functions[*f].name));
    let reach = Reach::new(unit, &roots, Callees::new());
    let all = Reach::new(unit, &others, Callees::new());
    let is_called = |f: FunctionId| others.iter().any(|g| all.calls(*g, f));
    let calls_entry = |f: FunctionId| roots.iter().any(|root| all.calls(f, *root));
    let mut changed = None;
    for f in others.iter().copied() {
        if reach.is_reached(f) || is_called(f) || calls_entry(f) || unit.functions[f].library {
            continue;
        }
        let Some(body) = &unit.functions[f].body else { continue };
        let mut visit = |e: &Expr| {
            let (ExprKind::Assign(place, _) | ExprKind::Update { place, .. }) = &e.kind else {
                return;
            };
            let Some(Root::Global(id)) = reach::root(place) else { return };
            if unit.globals[id].volatile && reach.mentioned.contains(&id) {
                changed.get_or_insert((f, id, e.span));
            }
        };
        body.expressions(&mut |e| e.walk(&mut visit));
    }
    let (f, id, at) = changed?;
    let (name, variable) = (&unit.functions[f].name, &unit.globals[id].name);
    let message = format!("`{name}` changes `{variable}`, but nothing calls it");
    let warning =
        Diagnostic::warning(message, program.original(at), "never happens in what is checked");
    Some(warning.help(format!("if it handles an interrupt, add `--interrupt {name}`")))
}

/// The variables whose value from before a call matters, and that a call changes.
fn kept(program: &Program) -> BTreeSet<GlobalId> {
    let Program { cfa, notes, .. } = program;
    let live = Live::of(cfa);
    let starts = || cfa.edges.iter().filter(|e| e.from == cfa.init).map(|e| e.to);
    let calls = cfa.edges.iter().filter(|e| e.from != cfa.init);
    let is_kept = |(var, value): &_| cfa.pool.get(*value) == ir::Expr::Var(*var);
    let changed = calls.flat_map(|e| &e.updates).filter(|u| !is_kept(*u)).map(|u| u.0);
    let matters = changed.filter(|var| starts().any(|start| live.has(start, *var)));
    matters.filter_map(|var| notes.globals.get(&var).copied()).collect()
}
