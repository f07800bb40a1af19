//! Types, and the scalars ("leaves") that arrays consist of.

use std::rc::Rc;
use vouch_ir::{self as ir, Word, mask};

/// A type. Two types are the same exactly if they are equal.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    Bool,
    Int {
        width: u32,
        signed: bool,
    },
    /// The enum's number and its values' names.
    Enum(usize, Rc<EnumDef>),
    Array(Rc<Ty>, u32),
    /// A number whose type the context decides.
    Literal,
    /// Of a function without result.
    Unit,
    /// Of something already reported: agrees with everything.
    Error,
}

/// The values of an enum.
#[derive(PartialEq, Eq, Debug)]
pub struct EnumDef {
    pub name: String,
    pub variants: Vec<String>,
}

impl EnumDef {
    pub fn width(&self) -> u32 {
        bits_for(self.variants.len().saturating_sub(1) as u64)
    }
}

/// How many bits the value needs; at least one.
pub fn bits_for(value: u64) -> u32 {
    (64 - value.leading_zeros()).max(1)
}

impl Ty {
    pub fn unsigned(width: u32) -> Ty {
        Ty::Int { width, signed: false }
    }
    pub fn is_int(&self) -> bool {
        matches!(self, Ty::Int { .. })
    }
    pub fn is_signed(&self) -> bool {
        matches!(self, Ty::Int { signed: true, .. })
    }
    pub fn is_error(&self) -> bool {
        *self == Ty::Error
    }

    /// How the type is written.
    pub fn shown(&self) -> String {
        match self {
            Ty::Bool => "bool".into(),
            Ty::Int { width, signed } => format!("{}{width}", if *signed { 'i' } else { 'u' }),
            Ty::Enum(_, def) => def.name.clone(),
            Ty::Array(element, n) => format!("[{}; {n}]", element.shown()),
            Ty::Literal => "a number".into(),
            Ty::Unit => "nothing".into(),
            Ty::Error => "?".into(),
        }
    }

    /// The type of that name, if it is a number's or `bool`.
    pub fn builtin(name: &str) -> Option<Result<Ty, String>> {
        if name == "bool" {
            return Some(Ok(Ty::Bool));
        }
        let (signed, digits) = match name.split_at_checked(1)? {
            ("u", digits) => (false, digits),
            ("i", digits) => (true, digits),
            _ => return None,
        };
        if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
            return None;
        }
        Some(match digits.parse() {
            Ok(width @ 1..=64) if !digits.starts_with('0') => Ok(Ty::Int { width, signed }),
            _ => Err(format!("numbers have 1 to 64 bits: {0}1 to {0}64", &name[..1])),
        })
    }

    /// Smallest and largest value of a number's type.
    pub fn range(&self) -> (i128, i128) {
        match *self {
            Ty::Int { width, signed: true } => (-(1 << (width - 1)), (1 << (width - 1)) - 1),
            Ty::Int { width, signed: false } => (0, (1 << width) - 1),
            Ty::Enum(_, ref def) => (0, def.variants.len() as i128 - 1),
            _ => (0, 1),
        }
    }

    /// How many scalars a value consists of.
    pub fn leaves(&self) -> usize {
        match self {
            Ty::Array(element, n) => element.leaves().saturating_mul(*n as usize),
            Ty::Unit => 0,
            _ => 1,
        }
    }
    /// The type of each scalar of a value.
    pub fn leaf(&self) -> &Ty {
        match self {
            Ty::Array(element, _) => element.leaf(),
            scalar => scalar,
        }
    }
    /// Width of each scalar of a value. What has no width counts as one bit.
    pub fn width(&self) -> u32 {
        match self.leaf() {
            Ty::Int { width, .. } => *width,
            Ty::Enum(_, def) => def.width(),
            _ => 1,
        }
    }
    /// The names of the scalars of a variable: `x`, or `x[0]`, `x[1]`, …
    pub fn leaf_names(&self, name: &str) -> Vec<String> {
        match self {
            Ty::Array(element, n) => {
                (0..*n).flat_map(|i| element.leaf_names(&format!("{name}[{i}]"))).collect()
            }
            _ => vec![name.to_owned()],
        }
    }
    /// How the scalars are shown.
    pub fn ir(&self) -> ir::Type {
        match self.leaf() {
            Ty::Bool => ir::Type::Bool,
            Ty::Int { signed: true, .. } => ir::Type::Signed,
            Ty::Enum(_, def) => ir::Type::names(def.variants.iter().cloned()),
            _ => ir::Type::Unsigned,
        }
    }
    /// The bits of a number that is in range.
    pub fn encode(&self, value: i128) -> Word {
        value as Word & mask(self.width())
    }
    /// The number that the bits encode.
    pub fn decode(&self, bits: Word) -> i128 {
        if self.leaf().is_signed() {
            ir::eval::sign_extend(bits, self.width()) as i128
        } else {
            bits as i128
        }
    }
    /// For an enum that leaves bit patterns unused, the number of its values.
    pub fn enum_bound(&self) -> Option<Word> {
        match self.leaf() {
            Ty::Enum(_, def) => {
                let n = def.variants.len() as Word;
                (n <= mask(def.width())).then_some(n)
            }
            _ => None,
        }
    }
}
