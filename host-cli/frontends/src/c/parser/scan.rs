//! `scanf()` and its kin: where they store follows from the format, and what they store is any value. Of a text in memory nobody
//! knows here what it gives; what comes from outside is an input.

use super::Parser;
use super::typing::int;
use crate::c::Fail;
use crate::c::tree::{Expr, ExprKind, FunctionId, Local, Op, Stmt, Unit};
use crate::c::types::{INT, Type, pointer, unsigned};
use std::collections::BTreeSet;
use std::rc::Rc;
use vouch_ir::Span;

/// What is stored for a part of a format.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum What {
    /// A number of so many bits.
    Number(u32),
    /// A floating-point number of so many bytes.
    Fraction(u32),
    /// Characters, and an end; without a width as many as there are.
    Text(Option<u32>),
    /// So many characters.
    Characters(u32),
    /// How many characters were read, in so many bits.
    Count(u32),
}

/// What a format stores, in the order of the arguments; none if that is not known.
fn stored(format: &str, word: u32) -> Option<Vec<What>> {
    let (mut all, mut rest) = (vec![], format);
    while let Some(at) = rest.find('%') {
        rest = &rest[at + 1..];
        if let Some(after) = rest.strip_prefix('%') {
            rest = after;
            continue;
        }
        let is_stored = !rest.starts_with('*');
        rest = rest.strip_prefix('*').unwrap_or(rest);
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        let width = rest[..end].parse::<u32>().ok();
        rest = &rest[end..];
        let letters = rest.trim_start_matches(['h', 'l', 'q', 'j', 'z', 't', 'L']);
        let size = &rest[..rest.len() - letters.len()];
        let bits = match size {
            "" => 32,
            "hh" => 8,
            "h" => 16,
            "l" | "z" | "t" => word,
            _ => 64,
        };
        let letter = letters.chars().next()?;
        rest = &letters[letter.len_utf8()..];
        let what = match (letter, size) {
            ('d' | 'i' | 'u' | 'o' | 'x' | 'X', _) => What::Number(bits),
            ('p', "") => What::Number(word),
            ('n', _) => What::Count(bits),
            ('a' | 'A' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G', "") => What::Fraction(4),
            ('a' | 'A' | 'e' | 'E' | 'f' | 'F' | 'g' | 'G', "l") => What::Fraction(8),
            ('s', "") => What::Text(width),
            ('c', "") => What::Characters(width.unwrap_or(1)),
            ('[', "") => {
                let set = rest.strip_prefix('^').unwrap_or(rest);
                // A bracket that comes first is one of the characters.
                let first = set.chars().next()?.len_utf8();
                let end = set.get(first..)?.find(']')?;
                rest = &set[first + end + 1..];
                What::Text(width)
            }
            _ => return None,
        };
        if is_stored {
            all.push(what);
        }
    }
    Some(all)
}

/// Which argument of a function is its format, and whether it reads a text in memory.
fn scanner(name: &str) -> Option<(usize, bool)> {
    match name.trim_start_matches("__isoc99_").trim_start_matches("__builtin_") {
        "scanf" => Some((0, false)),
        "fscanf" => Some((1, false)),
        "sscanf" => Some((1, true)),
        _ => None,
    }
}

/// The functions that what is stored is made of.
struct Parts {
    count: FunctionId,
    word: FunctionId,
    characters: FunctionId,
    length: FunctionId,
    /// Any number, `float` and `double`: inputs, and what the program decides.
    any: [[FunctionId; 3]; 2],
}

impl Parser {
    /// Says what calls of these functions store, where the program defines none of them.
    pub(super) fn scans(&mut self) -> Result<(), Fail> {
        let functions = self.unit.functions.iter().enumerate();
        let scanners = functions.filter(|(_, f)| f.body.is_none() && scanner(&f.name).is_some());
        let scanners: BTreeSet<FunctionId> = scanners.map(|(id, _)| id).collect();
        let calls = |e: &Expr| matches!(&e.kind, ExprKind::Call(id, _) if scanners.contains(id));
        let call = |body: &Stmt| {
            let mut found = None;
            body.expressions(&mut |e| {
                e.walk(&mut |e| found = found.or(calls(e).then_some(e.span)))
            });
            found
        };
        let bodies = self.unit.functions.iter().map(|f| f.body.as_ref().and_then(call));
        let code: Vec<(FunctionId, Span)> =
            bodies.enumerate().filter_map(|(id, span)| Some((id, span?))).collect();
        // What goes wrong in the functions that do it is shown at the first call.
        let Some((_, span)) = code.first().copied() else { return Ok(()) };
        let mut function = |name: &str| self.implicit_function(&Rc::from(name), span);
        let parts = Parts {
            count: function("__vouch_scan_count")?,
            word: function("__vouch_scan_word")?,
            characters: function("__vouch_scan_characters")?,
            length: function("__builtin_strlen")?,
            any: [
                [
                    function("__vouch_input")?,
                    function("__vouch_input_float")?,
                    function("__vouch_input_double")?,
                ],
                [
                    function("__vouch_scanned")?,
                    function("__vouch_scanned_float")?,
                    function("__vouch_scanned_double")?,
                ],
            ],
        };
        for (id, _) in code {
            let Some(mut body) = self.unit.functions[id].body.take() else { continue };
            let mut locals = std::mem::take(&mut self.unit.functions[id].locals);
            body.expressions_mut(&mut |e| {
                e.change(&mut |e| {
                    if calls(e) {
                        scan(&self.unit, &parts, &mut locals, e);
                    }
                });
            });
            let function = &mut self.unit.functions[id];
            (function.body, function.locals) = (Some(body), locals);
        }
        Ok(())
    }
}

/// Replaces a call by what it stores.
fn scan(unit: &Unit, parts: &Parts, locals: &mut Vec<Local>, e: &mut Expr) {
    let (span, word) = (e.span, unit.types.word());
    let ExprKind::Call(id, args) = &e.kind else { return };
    let Some((at, is_text)) = scanner(&unit.functions[*id].name) else { return };
    let make = |kind, ty| Expr { kind, ty, span };
    let format = args.get(at).and_then(|format| unit.text(format));
    let stored = format.and_then(|format| stored(&format, word));
    let pointers = args.get(at + 1..).unwrap_or(&[]);
    let Some(stored) = stored.filter(|stored| stored.len() <= pointers.len()) else {
        e.kind = ExprKind::Refused("a format of `scanf` that is not known");
        return;
    };
    if pointers.iter().any(|pointer| pointer.ty.pointee().is_none()) {
        e.kind = ExprKind::Refused("a call of `scanf` with an argument that is not a pointer");
        return;
    }
    let mut steps = vec![];
    let mut keep = |value: Expr, steps: &mut Vec<Expr>| {
        let ty = value.ty.clone();
        locals.push(Local::new("(read)".into(), ty.clone(), span));
        let kept = make(ExprKind::Local(locals.len() - 1), ty.clone());
        steps.push(make(ExprKind::Assign(Box::new(kept.clone()), Box::new(value)), ty));
        kept
    };
    let mut kept: Vec<Expr> = args.iter().map(|arg| keep(arg.clone(), &mut steps)).collect();
    let chars = pointer(unit.types.char());
    let call =
        |id: FunctionId, args| make(ExprKind::Call(id, args), unit.functions[id].result.clone());
    let cast = |value: Expr, ty: Type| make(ExprKind::Cast(Box::new(value)), ty);
    let source = is_text.then(|| kept[0].clone());
    let known = int(is_text.into(), INT, span);
    let is_counted = |what: &&What| !matches!(what, What::Count(_));
    let most = stored.iter().filter(is_counted).count();
    let count = call(parts.count, vec![int(most as i128, INT, span), known.clone()]);
    let count = keep(count, &mut steps);
    let any = parts.any[usize::from(is_text)];
    let mut number = 0;
    for (what, to) in stored.iter().zip(kept.drain(at + 1..)) {
        let as_chars = || cast(to.clone(), chars.clone());
        let store = |ty: Type, value: Expr| {
            let is_same = to.ty.pointee().is_some_and(|own| match (own.integer(), ty.integer()) {
                (Some(own), Some(ty)) => own.0 == ty.0,
                _ => *own == ty,
            });
            let to = if is_same { to.clone() } else { cast(to.clone(), pointer(ty)) };
            let ty = to.ty.pointee().cloned().unwrap_or(INT);
            let place = make(ExprKind::Deref(Box::new(to)), ty.clone());
            let value = cast(value, ty.clone());
            let assign = make(ExprKind::Assign(Box::new(place), Box::new(value)), ty);
            cast(assign, Type::Void)
        };
        let done = match what {
            What::Number(bits) | What::Count(bits) => store(unsigned(*bits), call(any[0], vec![])),
            What::Fraction(bytes) => {
                let value = call(any[if *bytes == 4 { 1 } else { 2 }], vec![]);
                store(Type::Float(*bytes), value)
            }
            What::Characters(count) => {
                let count = int((*count).into(), unsigned(word), span);
                call(parts.characters, vec![as_chars(), count, known.clone()])
            }
            What::Text(width) => {
                let most = match (width, &source) {
                    (Some(width), _) => int((*width).into(), unsigned(word), span),
                    // It is not longer than what it is a part of.
                    (None, Some(source)) => {
                        let source = cast(source.clone(), chars.clone());
                        cast(call(parts.length, vec![source]), unsigned(word))
                    }
                    (None, None) => int(-1, unsigned(word), span),
                };
                call(parts.word, vec![as_chars(), most, known.clone()])
            }
        };
        let when = match what {
            What::Count(_) => {
                let any = cast(call(any[0], vec![]), INT);
                make(ExprKind::Binary(Op::And, Box::new(any), Box::new(int(1, INT, span))), INT)
            }
            _ => {
                let this = int(number, INT, span);
                number += 1;
                make(ExprKind::Binary(Op::Gt, Box::new(count.clone()), Box::new(this)), INT)
            }
        };
        let nothing = cast(int(0, INT, span), Type::Void);
        let kind = ExprKind::Choice(Box::new(when), Box::new(done), Box::new(nothing));
        steps.push(make(kind, Type::Void));
    }
    *e = super::atomic::in_order(steps, count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_tell_what_is_stored() {
        use What::{Characters, Count, Fraction, Number, Text};
        assert_eq!(stored("abc 100%%", 32), Some(vec![]));
        assert_eq!(
            stored("%d %hhu,%hx %li %lld%*d", 32),
            Some(vec![Number(32), Number(8), Number(16), Number(32), Number(64)])
        );
        assert_eq!(stored("%f%lf", 32), Some(vec![Fraction(4), Fraction(8)]));
        assert_eq!(
            stored("%8s%s%c%3c%[^]x]%7[a-z]%n", 32),
            Some(vec![
                Text(Some(8)),
                Text(None),
                Characters(1),
                Characters(3),
                Text(None),
                Text(Some(7)),
                Count(32)
            ])
        );
        assert_eq!((stored("%ms", 32), stored("%Lf", 32), stored("%[a", 32)), (None, None, None));
    }
}
