//! Whether two declarations may be of the same thing.

use crate::c::types::{Signature, Type};

/// Whether two types are the same as far as each is known. What pointers point to may differ in
/// `const`.
pub fn types(a: &Type, b: &Type) -> bool {
    match (a, b) {
        (Type::Pointer(a, _), Type::Pointer(b, _)) => types(a, b),
        (Type::Array(a, m), Type::Array(b, n)) => {
            types(a, b) && (m.is_none() || n.is_none() || m == n)
        }
        (Type::Function(a), Type::Function(b)) => signatures(a, b),
        // An enumeration is the same as its integer type.
        (Type::Enum { .. }, Type::Int { .. }) | (Type::Int { .. }, Type::Enum { .. }) => {
            a.integer() == b.integer()
        }
        _ => a == b,
    }
}

/// Whether two declarations of a function agree.
pub fn signatures(a: &Signature, b: &Signature) -> bool {
    let unknown = |s: &Signature| s.open && s.params.is_empty();
    types(&a.result, &b.result)
        && (unknown(a)
            || unknown(b)
            || a.open == b.open
                && a.params.len() == b.params.len()
                && a.params.iter().zip(&b.params).all(|(a, b)| types(a, b)))
}
