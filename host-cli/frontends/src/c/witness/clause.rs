//! Clauses over bits as expressions of C.

use crate::c::types::Type;
use std::collections::BTreeMap;
use vouch_ir::{Clause, VarId, Word, eval, mask};

/// What holds where no run gets.
pub const NEVER: &str = "0";

/// The name of a variable and its type, if it has one.
pub type Names<'a> = &'a dyn Fn(VarId) -> Option<(String, Type)>;

/// Bits of a variable that are known, and their values.
#[derive(Clone, Copy, Default)]
struct Bits {
    known: Word,
    ones: Word,
}

/// A value as a constant of C; `None` if it is not an integer, or none that has constants.
pub fn constant(value: Word, ty: &Type) -> Option<String> {
    let (width, signed) = ty.integer().filter(|i| i.0 <= 64)?;
    let value = value & mask(width);
    if !signed {
        return Some(match width {
            0..=31 => value.to_string(),
            32 => format!("{value}u"),
            _ => format!("{value}ull"),
        });
    }
    let value = eval::sign_extend(value, width) as i128;
    Some(match value {
        _ if value == i64::MIN as i128 => "(-9223372036854775807ll - 1)".into(),
        _ if value == i32::MIN as i128 => "(-2147483647 - 1)".into(),
        _ if i32::try_from(value).is_ok() => value.to_string(),
        _ => format!("{value}ll"),
    })
}

/// A value as a number of mathematics, as logic has them.
pub fn decimal(value: Word, ty: &Type) -> Option<String> {
    let (width, signed) = ty.integer().filter(|i| i.0 <= 64)?;
    let value = value & mask(width);
    Some(match signed {
        true => (eval::sign_extend(value, width) as i128).to_string(),
        false => value.to_string(),
    })
}

/// The clauses that can be written with these names; `None` if nothing is left.
pub fn conjunction(clauses: &[&Clause], names: Names<'_>) -> Option<String> {
    if clauses.iter().any(|c| c.lits.is_empty()) {
        return Some(NEVER.into());
    }
    let mut facts: BTreeMap<VarId, Bits> = BTreeMap::new();
    let mut parts = vec![];
    for clause in clauses {
        if let [lit] = clause.lits[..] {
            let bits = facts.entry(lit.var).or_default();
            bits.known |= 1 << lit.bit;
            bits.ones |= (lit.value as Word) << lit.bit;
        } else {
            parts.extend(disjunction(clause, names));
        }
    }
    let facts = facts.into_iter().filter_map(|(var, bits)| {
        let (name, ty) = names(var)?;
        equality(&name, &ty, bits, true)
    });
    let all: Vec<String> = facts.chain(parts).collect();
    (!all.is_empty()).then(|| all.join(" && "))
}

/// A clause is broken by one combination of values of some bits: one of the variables has others.
fn disjunction(clause: &Clause, names: Names<'_>) -> Option<String> {
    let mut broken: BTreeMap<VarId, Bits> = BTreeMap::new();
    for lit in &clause.lits {
        let bits = broken.entry(lit.var).or_default();
        let one = (!lit.value as Word) << lit.bit;
        // A bit or its negation: always true.
        if bits.known >> lit.bit & 1 == 1 && bits.ones >> lit.bit & 1 != one >> lit.bit {
            return None;
        }
        bits.known |= 1 << lit.bit;
        bits.ones |= one;
    }
    let parts = broken.into_iter().map(|(var, bits)| {
        let (name, ty) = names(var)?;
        equality(&name, &ty, bits, false)
    });
    let parts = parts.collect::<Option<Vec<String>>>()?;
    Some(format!("({})", parts.join(" || ")))
}

/// That bits of a variable have these values, or that they have not.
fn equality(name: &str, ty: &Type, bits: Bits, equal: bool) -> Option<String> {
    let (width, signed) = ty.integer().filter(|i| i.0 <= 64)?;
    let op = if equal { "==" } else { "!=" };
    if width == 1 && !signed {
        let is_one = (bits.ones == 1) == equal;
        return Some(format!("{name} {} 0", if is_one { "!=" } else { "==" }));
    }
    if bits.known == mask(width) {
        return Some(format!("{name} {op} {}", constant(bits.ones, ty)?));
    }
    if signed && bits.known == 1 << (width - 1) {
        let negative = (bits.ones != 0) == equal;
        return Some(format!("{name} {} 0", if negative { "<" } else { ">=" }));
    }
    // Whatever the type is, its lower bits survive the conversion.
    let Bits { known, ones } = bits;
    Some(format!("((unsigned long long){name} & {known:#x}ull) {op} {ones:#x}ull"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_ir::{BitLit, LocId};

    fn say(clauses: &[&[(u32, u32, bool)]]) -> Option<String> {
        let clauses: Vec<Clause> = (clauses.iter())
            .map(|lits| {
                let lit = |l: &(u32, u32, bool)| BitLit { var: VarId(l.0), bit: l.1, value: l.2 };
                Clause { location: LocId(0), lits: lits.iter().map(lit).collect() }
            })
            .collect();
        let names = |var: VarId| match var.0 {
            0 => Some(("i".to_string(), Type::Int { bits: 4, signed: true })),
            1 => Some(("q.head".to_string(), Type::Int { bits: 32, signed: false })),
            2 => Some(("b".to_string(), Type::Bool)),
            _ => None,
        };
        conjunction(&clauses.iter().collect::<Vec<_>>(), &names)
    }

    #[test]
    fn clauses_become_c() {
        assert_eq!(say(&[&[(2, 0, true)]]).unwrap(), "b != 0");
        assert_eq!(say(&[&[(0, 3, false)]]).unwrap(), "i >= 0");
        let all = [(0, 0, true), (0, 1, true), (0, 2, true), (0, 3, true)];
        let units: Vec<&[(u32, u32, bool)]> = all.iter().map(std::slice::from_ref).collect();
        assert_eq!(say(&units).unwrap(), "i == -1");
        assert_eq!(say(&[&all]).unwrap(), "(i != 0)");
        let two = [(1, 0, true), (1, 4, false), (2, 0, false)];
        let want = "(((unsigned long long)q.head & 0x11ull) != 0x10ull || b == 0)";
        assert_eq!(say(&[&two]).unwrap(), want);
        // What has no name takes its clause along, and nothing else.
        assert_eq!(say(&[&[(3, 0, true), (2, 0, true)], &[(2, 0, false)]]).unwrap(), "b == 0");
        assert_eq!(say(&[&[(3, 0, true)]]), None);
        assert_eq!(say(&[&[(2, 0, false)], &[]]).unwrap(), NEVER);
        assert_eq!(say(&[&[(2, 0, false), (2, 0, true)]]), None);
    }

    #[test]
    fn constants_have_their_type() {
        let int = |bits, signed| Type::Int { bits, signed };
        assert_eq!(constant(0x8000_0000, &int(32, true)).unwrap(), "(-2147483647 - 1)");
        assert_eq!(constant(0x8000_0000, &int(32, false)).unwrap(), "2147483648u");
        assert_eq!(constant(1 << 63, &int(64, true)).unwrap(), "(-9223372036854775807ll - 1)");
        assert_eq!(constant(0xff, &int(8, true)).unwrap(), "-1");
        assert_eq!(constant(1 << 40, &int(64, true)).unwrap(), "1099511627776ll");
        assert_eq!(constant(0, &int(128, false)), None);
        assert_eq!(decimal(0x8000_0000, &int(32, true)).unwrap(), "-2147483648");
        assert_eq!(decimal(0xff, &int(8, false)).unwrap(), "255");
    }
}
