//! Types of the source: what bytes of a static are called, and how their values are shown.
//!
//! Wrappers that say nothing about a value (`Cell`, `Mutex`, `MaybeUninit`, …) leave no trace in a name.

use std::rc::Rc;
use vouch_ir::{Type, Word, mask};

/// A type as the debug information describes it.
#[derive(Debug)]
pub struct Kind {
    /// Size in bytes; 0 if nobody knows.
    pub size: u32,
    /// What is in them.
    pub shape: Shape,
}

/// What a type consists of.
#[derive(Debug)]
pub enum Shape {
    /// A scalar, and how it is shown.
    Value(Type),
    /// Parts one behind the other, and perhaps variants.
    Record(Vec<Part>, Option<Choice>),
    /// Parts of which one counts.
    Union(Vec<Part>),
    /// Equal parts one behind the other.
    Array(Rc<Kind>),
    /// What nobody knows.
    Unknown,
}

/// A part of a record.
#[derive(Debug)]
pub struct Part {
    /// Its name; nothing if it says nothing.
    pub name: Option<String>,
    /// Its first byte.
    pub at: u32,
    /// The part's own type, whose offsets count from `at`.
    pub kind: Rc<Kind>,
}

/// Variants of which one counts.
#[derive(Debug)]
pub struct Choice {
    /// The bytes that tell which: the first, and how many.
    pub tag: Option<(u32, u32)>,
    /// All of them.
    pub variants: Vec<Variant>,
}

/// One alternative of a [`Choice`]: a variant of an enum with its fields.
#[derive(Debug)]
pub struct Variant {
    /// Name in the source, without that of the enum.
    pub name: String,
    /// What tells that it counts; nothing: that none of the others does.
    pub values: Vec<Word>,
    /// Its first byte.
    pub at: u32,
    /// What is in it.
    pub kind: Rc<Kind>,
}

/// What bytes are called.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Found {
    /// Behind the name of the whole: `.level`, `[3]`.
    pub path: String,
    /// How the value is shown.
    pub ty: Type,
    /// Whether they are one value, all of it.
    pub is_exact: bool,
}

impl Found {
    fn inexact(path: String) -> Found {
        Found { path, ty: Type::Unsigned, is_exact: false }
    }
}

/// Types in types; damaged debug information may have more.
const DEPTH: u32 = 64;

impl Kind {
    /// A type that nobody knows.
    pub fn unknown() -> Rc<Kind> {
        Rc::new(Kind { size: 0, shape: Shape::Unknown })
    }

    /// What the bytes are called that begin at `at`; nothing if they are no part of it.
    pub fn find(&self, at: u32, bytes: u32) -> Option<Found> {
        self.find_in(at, bytes, DEPTH)
    }

    fn find_in(&self, at: u32, bytes: u32, depth: u32) -> Option<Found> {
        let depth = depth.checked_sub(1)?;
        match &self.shape {
            Shape::Unknown => None,
            Shape::Value(ty) if at == 0 && bytes == self.size => {
                Some(Found { path: String::new(), ty: ty.clone(), is_exact: true })
            }
            Shape::Value(_) if at >= self.size => None,
            Shape::Value(_) if bytes == 1 => Some(Found::inexact(format!(".byte{at}"))),
            Shape::Value(_) => {
                Some(Found::inexact(format!(".bytes{at}..{}", at.saturating_add(bytes - 1))))
            }
            Shape::Array(element) => {
                let first = at.checked_div(element.size)?;
                let last = at.checked_add(bytes)?.checked_sub(1)? / element.size;
                if first != last {
                    return Some(Found::inexact(format!("[{first}..{last}]")));
                }
                let inside = element.find_in(at % element.size, bytes, depth)?;
                Some(Found { path: format!("[{first}]{}", inside.path), ..inside })
            }
            Shape::Union(parts) => {
                let mut all = parts.iter().filter_map(|part| part.find_in(at, bytes, depth));
                let first = all.next()?;
                if first.is_exact {
                    return Some(first);
                }
                Some(all.find(|found| found.is_exact).unwrap_or(first))
            }
            Shape::Record(parts, choice) => {
                if let Some(choice) = choice
                    && let Some(found) = choice.find_in(at, bytes, depth)
                {
                    return Some(found);
                }
                let touched = parts.iter().filter(|part| part.touches(at, bytes));
                let touched: Vec<&Part> = touched.collect();
                match touched.as_slice() {
                    [] => None,
                    [one] => one.find_in(at, bytes, depth),
                    [first, .., last] => {
                        let name = |part: &Part| part.name.clone().unwrap_or("0".into());
                        Some(Found::inexact(format!(".{}..{}", name(first), name(last))))
                    }
                }
            }
        }
    }
}

impl Part {
    fn touches(&self, at: u32, bytes: u32) -> bool {
        let end = self.at.saturating_add(self.kind.size);
        self.at < at.saturating_add(bytes) && at < end
    }

    /// What bytes of the record are called, those of them that are in this part.
    fn find_in(&self, at: u32, bytes: u32, depth: u32) -> Option<Found> {
        if !self.touches(at, bytes) {
            return None;
        }
        let (start, end) = (at.max(self.at), at.saturating_add(bytes));
        let end = end.min(self.at.saturating_add(self.kind.size));
        let mut found = self.kind.find_in(start - self.at, end - start, depth)?;
        if (start, end - start) != (at, bytes) {
            // With bytes that mean nothing: what that is as a number says little.
            found = Found::inexact(found.path);
        }
        if let Some(name) = &self.name {
            found.path = format!(".{name}{}", found.path);
        }
        Some(found)
    }
}

impl Choice {
    fn find_in(&self, at: u32, bytes: u32, depth: u32) -> Option<Found> {
        let inside =
            |variant: &Variant| variant.kind.find_in(at.checked_sub(variant.at)?, bytes, depth);
        if self.tag == Some((at, bytes)) {
            return Some(self.tag(inside));
        }
        // A value of one of the variants, in part, or what is nothing but a tag.
        let is_own = self.variants.iter().all(|variant| !variant.values.is_empty());
        if let Some((tag, size)) = self.tag.filter(|_| is_own)
            && (tag..tag.saturating_add(size)).contains(&at)
        {
            return Some(match (at - tag, bytes) {
                // All that is ever there.
                (0, _) if bytes < size && self.fits(bytes) => self.tag(|_| None),
                (0, _) => Found::inexact(String::new()),
                (byte, _) => Found::inexact(format!(".tag.byte{byte}")),
            });
        }
        let all = self.variants.iter().filter_map(|v| Some((v, inside(v)?)));
        let all: Vec<(&Variant, Found)> = all.collect();
        let (first, found) = all.first()?;
        let is_same = |part: &dyn Fn(&Found) -> bool| all.iter().all(|(_, other)| part(other));
        let ty = if is_same(&|o| o.ty == found.ty) { found.ty.clone() } else { Type::Unsigned };
        let is_exact = is_same(&|o| o.is_exact) && is_same(&|o| o.ty == found.ty);
        let one = |(variant, found): &(&Variant, Found)| match variant.values.is_empty() {
            true => found.path.clone(),
            false => format!(".{}{}", variant.name, found.path),
        };
        let path = match all.as_slice() {
            [_] => one(&(first, found.clone())),
            _ if is_same(&|o| o.path == found.path) && !found.path.is_empty() => found.path.clone(),
            [a, b] => format!("{}/{}", one(a), one(b).trim_start_matches('.')),
            _ => format!("{}/+{}", one(&(first, found.clone())), all.len() - 1),
        };
        Some(Found { path, ty, is_exact })
    }

    /// Whether so many bytes tell the variants apart.
    fn fits(&self, bytes: u32) -> bool {
        let values = || self.variants.iter().map(|variant| &variant.values);
        values().all(|values| values.iter().all(|v| *v <= mask(8 * bytes)))
    }

    /// What tells the variants apart. If one of them has a value of its own in these bytes, then other variants are values
    /// that this has not.
    fn tag(&self, inside: impl Fn(&Variant) -> Option<Found>) -> Found {
        let mut names: Vec<(Word, String)> = vec![];
        for variant in &self.variants {
            names.extend(variant.values.iter().map(|value| (*value, variant.name.clone())));
        }
        let other = self.variants.iter().find(|v| v.values.is_empty()).and_then(inside);
        let other = other.filter(|found| found.is_exact);
        match other.as_ref().map(|found| &found.ty) {
            Some(Type::Enum(more)) => names.extend(more.iter().cloned()),
            Some(Type::Bool) => names.extend([(0, "false".into()), (1, "true".into())]),
            _ => {}
        }
        names.sort();
        let path = other.map_or(String::new(), |found| found.path);
        Found { path, ty: Type::Enum(names), is_exact: true }
    }
}

/// Types of Rust that are about who may access a value, not about the value.
pub fn is_wrapper(name: &str) -> bool {
    const WRAPPERS: [&str; 16] = [
        "Cell",
        "UnsafeCell",
        "SyncUnsafeCell",
        "RefCell",
        "Mutex",
        "MaybeUninit",
        "MaybeDangling",
        "ManuallyDrop",
        "OnceCell",
        "LazyCell",
        "StaticCell",
        "ConstStaticCell",
        "Wrapping",
        "Pin",
        "VolatileCell",
        "BlockingMutex",
    ];
    let name = name.split('<').next().unwrap_or(name);
    WRAPPERS.contains(&name) || name.starts_with("Atomic") || name.starts_with("NonZero")
}

/// The name of a part, if it says something. `is_only` if no other part has bytes.
pub fn part_name(record: &str, part: &str, is_only: bool) -> Option<String> {
    let is_plain = matches!(
        part,
        "value" | "inner" | "v" | "data" | "val" | "pointer" | "__pointer" | "0" | "__0"
    );
    match part {
        _ if is_plain && is_wrapper(record) => None,
        "__0" if is_only => None,
        _ => Some(
            part.strip_prefix("__").filter(|n| n.parse::<u32>().is_ok()).unwrap_or(part).into(),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(size: u32, ty: Type) -> Rc<Kind> {
        Rc::new(Kind { size, shape: Shape::Value(ty) })
    }

    fn record(size: u32, parts: Vec<(&str, u32, Rc<Kind>)>, choice: Option<Choice>) -> Rc<Kind> {
        let part = |(name, at, kind): (&str, u32, Rc<Kind>)| {
            let name = part_name("Pump", name, false);
            Part { name, at, kind }
        };
        let parts = parts.into_iter().map(part).collect();
        Rc::new(Kind { size, shape: Shape::Record(parts, choice) })
    }

    fn shown(kind: &Kind, at: u32, bytes: u32) -> String {
        kind.find(at, bytes).map_or("-".into(), |found| found.path)
    }

    #[test]
    fn parts_of_records_and_arrays() {
        let byte = value(1, Type::Unsigned);
        let word = value(4, Type::Signed);
        let pair = record(8, vec![("a", 0, byte.clone()), ("b", 4, word.clone())], None);
        let array = Rc::new(Kind { size: 24, shape: Shape::Array(pair) });
        let pump = record(28, vec![("log", 0, array), ("__1", 24, byte)], None);
        let all =
            [(0, 1), (4, 4), (12, 4), (5, 1), (4, 2), (0, 8), (0, 4), (2, 1), (6, 4), (24, 4)];
        let names = all.map(|(at, bytes)| shown(&pump, at, bytes));
        assert_eq!(
            names,
            [
                ".log[0].a",
                ".log[0].b",
                ".log[1].b",
                ".log[0].b.byte1",
                ".log[0].b.bytes0..1",
                ".log[0].a..b",
                ".log[0].a",
                "-",
                ".log[0..1]",
                ".1",
            ]
        );
        assert_eq!(pump.find(12, 4).map(|f| f.ty), Some(Type::Signed));
        assert_eq!(pump.find(24, 4).map(|f| f.ty), Some(Type::Unsigned));
        assert_eq!(pump.find(28, 4), None);
    }

    fn variant(name: &str, values: &[Word], kind: Rc<Kind>) -> Variant {
        Variant { name: name.into(), values: values.to_vec(), at: 0, kind }
    }

    #[test]
    fn variants() {
        let byte = value(1, Type::Unsigned);
        let half = value(2, Type::Unsigned);
        let fast = record(4, vec![("started", 1, byte.clone())], None);
        let slow = record(4, vec![("left", 2, half.clone())], None);
        let idle = record(4, vec![], None);
        let variants = vec![
            variant("Idle", &[0], idle),
            variant("Fast", &[1], fast),
            variant("Slow", &[2], slow),
        ];
        let choice = Choice { tag: Some((0, 1)), variants };
        let state = record(4, vec![], Some(choice));
        let pump = record(8, vec![("state", 4, state)], None);
        let tag = pump.find(4, 1).unwrap();
        assert_eq!((tag.path.as_str(), tag.ty.name(1)), (".state", Some("Fast")));
        assert_eq!(shown(&pump, 5, 1), ".state.Fast.started");
        // A part of what tells them apart, as far as nothing is in the rest.
        let wide =
            Choice { tag: Some((0, 4)), variants: vec![variant("On", &[1], value(4, Type::Bool))] };
        let wide = record(4, vec![], Some(wide));
        assert_eq!(wide.find(0, 1).map(|f| f.ty), Some(Type::Enum(vec![(1, "On".into())])));
        assert_eq!(shown(&wide, 2, 1), ".tag.byte2");
        assert_eq!(shown(&pump, 6, 2), ".state.Slow.left");
        assert_eq!(shown(&pump, 5, 3), ".state.Fast.started/Slow.left");
    }

    /// `Option<State>` without a byte of its own: `None` is a value that no state has.
    #[test]
    fn a_variant_in_the_gaps_of_another() {
        let state = value(1, Type::names(["Idle", "Busy"].map(String::from)));
        let some = record(2, vec![("state", 0, state), ("left", 1, value(1, Type::Bool))], None);
        let none = record(2, vec![], None);
        let variants = vec![variant("None", &[2], none), variant("Some", &[], some)];
        let pump = record(2, vec![], Some(Choice { tag: Some((0, 1)), variants }));
        let tag = pump.find(0, 1).unwrap();
        assert_eq!(tag.path, ".state");
        assert_eq!(
            [0, 1, 2, 3].map(|v| tag.ty.name(v)),
            [Some("Idle"), Some("Busy"), Some("None"), None]
        );
        assert_eq!(shown(&pump, 1, 1), ".left");
    }

    #[test]
    fn wrappers_leave_no_trace() {
        assert_eq!(part_name("UnsafeCell<u8>", "value", true), None);
        assert_eq!(part_name("Mutex<RefCell<Pump>>", "inner", true), None);
        assert_eq!(part_name("RefCell<Pump>", "borrow", false), Some("borrow".into()));
        assert_eq!(part_name("Millis", "__0", true), None);
        assert_eq!(part_name("Pair", "__0", false), Some("0".into()));
        assert_eq!(part_name("Pump", "value", true), Some("value".into()));
    }

    /// Damaged debug information can nest types without end.
    #[test]
    fn nesting_has_an_end() {
        let mut kind = value(1, Type::Unsigned);
        for _ in 0..1000 {
            kind = record(1, vec![("x", 0, kind)], None);
        }
        assert_eq!(kind.find(0, 1), None);
        // Dropping it must not overflow the stack either.
    }
}
