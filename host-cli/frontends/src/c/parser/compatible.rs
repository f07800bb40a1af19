//! Whether two declarations may be of the same thing.

use crate::c::types::{Signature, Type, Types};

/// Whether two types are the same as far as each is known. What pointers point to may differ in
/// `const`.
pub fn types(all: &Types, a: &Type, b: &Type) -> bool {
    same(all, a, b, &mut vec![])
}

/// Types of records that are looked at already are taken to be the same.
fn same(all: &Types, a: &Type, b: &Type, seen: &mut Vec<(usize, usize)>) -> bool {
    match (a, b) {
        (Type::Pointer(a, _), Type::Pointer(b, _)) => same(all, a, b, seen),
        (Type::Array(a, m), Type::Array(b, n)) => {
            same(all, a, b, seen) && (m.is_none() || n.is_none() || m == n)
        }
        (Type::Function(a), Type::Function(b)) => same_signatures(all, a, b, seen),
        (Type::Record(a), Type::Record(b)) if a != b => same_records(all, *a, *b, seen),
        // An enumeration is the same as its integer type, and as one of another unit.
        (Type::Enum { .. }, Type::Int { .. }) | (Type::Int { .. }, Type::Enum { .. }) => {
            a.integer() == b.integer()
        }
        (Type::Enum { id: m, .. }, Type::Enum { id: n, .. }) if m != n => {
            all.enum_unit(*m) != all.enum_unit(*n) && a.integer() == b.integer()
        }
        _ => a == b,
    }
}

/// Records of different units are the same if they are called and laid out alike.
fn same_records(all: &Types, a: usize, b: usize, seen: &mut Vec<(usize, usize)>) -> bool {
    if all.record_unit(a) == all.record_unit(b) {
        return false;
    }
    if seen.contains(&(a, b)) {
        return true;
    }
    seen.push((a, b));
    let (x, y) = (&all.records[a], &all.records[b]);
    let alike = x.tag == y.tag && x.union == y.union;
    alike
        && match (&x.fields, &y.fields) {
            (Some(m), Some(n)) => {
                (x.size, x.align, m.len()) == (y.size, y.align, n.len())
                    && m.iter().zip(n).all(|(m, n)| {
                        (&m.name, m.offset, m.bits) == (&n.name, n.offset, n.bits)
                            && same(all, &m.ty, &n.ty, seen)
                    })
            }
            // One that is declared only.
            _ => x.tag.is_some(),
        }
}

/// Whether two declarations of a function agree.
pub fn signatures(all: &Types, a: &Signature, b: &Signature) -> bool {
    same_signatures(all, a, b, &mut vec![])
}

fn same_signatures(
    all: &Types,
    a: &Signature,
    b: &Signature,
    seen: &mut Vec<(usize, usize)>,
) -> bool {
    let unknown = |s: &Signature| s.open && s.params.is_empty();
    same(all, &a.result, &b.result, seen)
        && (unknown(a)
            || unknown(b)
            || a.open == b.open
                && a.params.len() == b.params.len()
                && a.params.iter().zip(&b.params).all(|(a, b)| same(all, a, b, seen)))
}
