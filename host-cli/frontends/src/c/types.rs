//! Types, and how they lie in memory: sizes, alignments, cells. [`layout`](super::layout) places the
//! members of structs and unions.

use super::float::Format;
pub use super::model::DataModel;
use std::ops::Range;
use std::rc::Rc;

/// The most cells of one object; a single array with more has none.
pub const MAX_CELLS: u64 = 20_000;

/// The same for floating-point numbers: most of what they hold was rounded, which nobody knows anyway.
pub const MAX_FLOATS: u64 = 1_000;

/// A record of [`Types`].
pub type RecordId = usize;

/// A type without its qualifiers. Integers are told apart by width and sign alone, which is all that
/// arithmetic knows of them.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Type {
    /// `void`.
    Void,
    /// `_Bool`.
    Bool,
    /// An integer type, `char` included; enumerations and `_Bool` are apart.
    Int {
        /// Width in bits.
        bits: u32,
        /// Whether in two's complement.
        signed: bool,
    },
    /// An enumeration: an integer with names.
    Enum {
        /// Width in bits of the integer type that holds its values.
        bits: u32,
        /// Whether in two's complement.
        signed: bool,
        /// In [`Types::enums`].
        id: usize,
    },
    /// A floating-point type of this many bytes.
    Float(u32),
    /// A type of this many bytes that nothing can be done with: `complex`, `vector`.
    Exotic(&'static str, u32),
    /// A pointer; whether what it points to is const.
    Pointer(Rc<Type>, bool),
    /// An array; without a length it is incomplete.
    Array(Rc<Type>, Option<u64>),
    /// A struct or union.
    Record(RecordId),
    /// A function type; an expression of it decays to a pointer.
    Function(Rc<Signature>),
}

/// The type of a function.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// What it returns.
    pub result: Type,
    /// What it takes.
    pub params: Vec<Type>,
    /// Whether it takes more, or nobody knows.
    pub open: bool,
}

/// A member of a struct or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Field {
    /// Its name; unnamed ones are structs or unions whose members belong to the outer one.
    pub name: Option<Rc<str>>,
    /// Declared type; also that of a bit-field, whose width is in `bits`.
    pub ty: Type,
    /// Where it begins, in bits.
    pub offset: u64,
    /// Its width if it is a bit-field.
    pub bits: Option<u32>,
    /// Whether nobody may write it.
    pub constant: bool,
    /// Whether it may change by itself.
    pub volatile: bool,
    /// Whether it is `_Atomic`.
    pub atomic: bool,
}

/// A struct or union.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    /// The name after `struct` or `union`; `None` if it has none.
    pub tag: Option<Rc<str>>,
    /// Whether its members overlap.
    pub union: bool,
    /// Its members, once it is complete.
    pub fields: Option<Vec<Field>>,
    /// Size in bytes, padding included; 0 until it is complete.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// The type of which this one is a larger variable, with room for a flexible array member.
    pub flexible: Option<RecordId>,
}

/// A piece of an object that becomes one variable.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Cell {
    /// Where it begins, in bits.
    pub offset: u64,
    /// Its width in memory.
    pub width: u32,
    /// The scalar that it is, if it is not a piece of several.
    pub ty: Type,
    /// Its place in the object: `.head`, `[3]`.
    pub path: String,
}

/// All records and enumerations, and the sizes of the basic types.
#[derive(Clone, Debug)]
pub struct Types {
    /// The data model.
    pub model: DataModel,
    /// Structs and unions.
    pub records: Vec<Record>,
    /// Enumerations: their names with values.
    pub enums: Vec<Vec<(Rc<str>, i128)>>,
    /// Where the records and enumerations of each translation unit begin.
    units: Vec<(usize, usize)>,
}

/// The type `int`.
pub const INT: Type = Type::Int { bits: 32, signed: true };

/// An unsigned integer.
pub fn unsigned(bits: u32) -> Type {
    Type::Int { bits, signed: false }
}

/// A signed integer.
pub fn signed(bits: u32) -> Type {
    Type::Int { bits, signed: true }
}

/// A pointer to `to`, which is not const.
pub fn pointer(to: Type) -> Type {
    Type::Pointer(Rc::new(to), false)
}

impl Type {
    /// Width and sign of an integer, also of `_Bool` and enumerations.
    pub fn integer(&self) -> Option<(u32, bool)> {
        match self {
            Type::Bool => Some((1, false)),
            Type::Int { bits, signed } | Type::Enum { bits, signed, .. } => Some((*bits, *signed)),
            _ => None,
        }
    }
    /// Whether it is an integer.
    pub fn is_integer(&self) -> bool {
        self.integer().is_some()
    }
    /// The format of a floating-point type that has a meaning.
    pub fn format(&self) -> Option<Format> {
        match self {
            Type::Float(bytes) => Format::of(*bytes),
            _ => None,
        }
    }

    /// What a pointer points to.
    pub fn pointee(&self) -> Option<&Type> {
        match self {
            Type::Pointer(to, _) => Some(to),
            _ => None,
        }
    }
    /// Whether it has one value: numbers and pointers.
    pub fn is_scalar(&self) -> bool {
        self.is_integer() || matches!(self, Type::Float(_) | Type::Exotic(..) | Type::Pointer(..))
    }
}

/// The next multiple.
pub fn align_up(value: u64, align: u64) -> u64 {
    value.div_ceil(align.max(1)) * align.max(1)
}

/// A pointer in an object, as far as its type tells.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Where, in bits.
    pub at: u64,
    /// Whether who has it can change something through it, there or further on.
    pub leads: bool,
    /// Whether that is what it points to.
    pub writes: bool,
}

impl Types {
    /// No records and enumerations yet; sizes are those of the data model.
    pub fn new(model: DataModel) -> Types {
        Types { model, records: vec![], enums: vec![], units: vec![] }
    }

    /// What comes now is of the next translation unit.
    pub fn begin_unit(&mut self) {
        self.units.push((self.records.len(), self.enums.len()));
    }

    /// The number of the unit that a record is of.
    pub fn record_unit(&self, id: RecordId) -> usize {
        self.units.partition_point(|unit| unit.0 <= id)
    }

    /// The number of the unit that an enumeration is of.
    pub fn enum_unit(&self, id: usize) -> usize {
        self.units.partition_point(|unit| unit.1 <= id)
    }

    /// Bits of a pointer, `long` and `size_t`.
    pub fn word(&self) -> u32 {
        if self.model == DataModel::Lp64 { 64 } else { 32 }
    }

    /// The type of `char`.
    pub fn char(&self) -> Type {
        Type::Int { bits: 8, signed: self.model.signed_char() }
    }

    /// Bits of a scalar as a value.
    pub fn width(&self, ty: &Type) -> Option<u32> {
        match ty {
            Type::Pointer(..) => Some(self.word()),
            Type::Float(_) => ty.format().map(Format::width),
            _ => ty.integer().map(|i| i.0),
        }
    }

    /// Size in bytes; `None` if the type is incomplete or too large.
    pub fn size(&self, ty: &Type) -> Option<u64> {
        match ty {
            // GNU C counts in bytes here.
            Type::Void | Type::Function(_) => Some(1),
            Type::Bool => Some(1),
            // Values of wide bit-fields have widths of their own.
            Type::Int { bits, .. } | Type::Enum { bits, .. } => {
                Some(bits.div_ceil(8).next_power_of_two() as u64)
            }
            Type::Float(size) | Type::Exotic(_, size) => Some(*size as u64),
            Type::Pointer(..) => Some(self.word() as u64 / 8),
            Type::Array(of, len) => {
                self.size(of)?.checked_mul((*len)?).filter(|n| *n <= self.max_size())
            }
            Type::Record(id) => {
                let record = &self.records[*id];
                record.fields.as_ref().map(|_| record.size)
            }
        }
    }

    /// The most bytes that a type may have: distances within it have to fit `ptrdiff_t`. Bits are
    /// counted in 64 bits here, which is less than what 64-bit machines could address.
    pub fn max_size(&self) -> u64 {
        if self.model == DataModel::Lp64 { 1 << 59 } else { (1 << 31) - 1 }
    }

    /// Alignment in bytes that a variable gets, which `__alignof__` tells. Members may have less.
    pub fn preferred_align(&self, ty: &Type) -> u64 {
        match ty {
            Type::Array(of, _) => self.preferred_align(of),
            Type::Record(_) | Type::Float(12) => self.align(ty),
            _ => self.align(ty).max(self.size(ty).unwrap_or(1).min(8)),
        }
    }

    /// Alignment in bytes.
    pub fn align(&self, ty: &Type) -> u64 {
        match ty {
            Type::Array(of, _) => self.align(of),
            Type::Record(id) => self.records[*id].align,
            Type::Exotic("vector", size) => *size as u64,
            _ => {
                let most = match self.model {
                    DataModel::Ilp32 => 4,
                    DataModel::Lp64 | DataModel::Riscv32 => 16,
                    DataModel::Arm(_) => 8,
                };
                self.size(ty).unwrap_or(1).clamp(1, most)
            }
        }
    }

    /// A member by name, also one of an unnamed inner record, as it lies in the outermost one.
    pub fn member(&self, id: RecordId, name: &str) -> Option<Field> {
        let fields = self.records[id].fields.as_ref()?;
        fields.iter().find_map(|field| match (&field.name, &field.ty) {
            (Some(n), _) if &**n == name => Some(field.clone()),
            (None, Type::Record(inner)) => {
                let found = self.member(*inner, name)?;
                let offset = field.offset + found.offset;
                let (constant, volatile) =
                    (field.constant || found.constant, field.volatile || found.volatile);
                Some(Field { offset, constant, volatile, ..found })
            }
            _ => None,
        })
    }

    /// The array of numbers within a type that a bit is in: where that begins and ends.
    pub fn numbers_at(&self, ty: &Type, bit: u64) -> Option<Range<u64>> {
        let moved = |range: Range<u64>, by: u64| range.start + by..range.end + by;
        match ty {
            Type::Array(of, _) => {
                let size = self.size(ty)?.checked_mul(8).filter(|size| bit < *size)?;
                match **of {
                    Type::Array(..) | Type::Record(_) => {
                        let stride = self.size(of)?.checked_mul(8)?;
                        let start = bit / stride * stride;
                        Some(moved(self.numbers_at(of, bit - start)?, start))
                    }
                    _ => Some(0..size),
                }
            }
            Type::Record(id) => self.records[*id].fields.iter().flatten().find_map(|field| {
                let inner = bit.checked_sub(field.offset)?;
                Some(moved(self.numbers_at(&field.ty, inner)?, field.offset))
            }),
            _ => None,
        }
    }

    /// Whether a member is `_Atomic` that begins at a bit.
    pub fn has_atomic(&self, id: RecordId, offset: u64) -> bool {
        let fields = self.records[id].fields.iter().flatten();
        let mut here = fields.filter(|f| f.offset <= offset);
        here.any(|field| match field.ty {
            Type::Record(inner) if field.name.is_none() => {
                self.has_atomic(inner, offset - field.offset)
            }
            _ => field.atomic && field.offset == offset,
        })
    }

    /// Whether each access to something of a type reads or writes memory, as its members say.
    pub fn is_volatile(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(of, _) => self.is_volatile(of),
            Type::Record(id) => match self.records[*id].fields.as_deref() {
                None | Some([]) => false,
                Some(all) => all.iter().all(|f| f.volatile || f.atomic || self.is_volatile(&f.ty)),
            },
            _ => false,
        }
    }

    /// The names of all members, also of those of unnamed inner records.
    pub fn member_names(&self, id: RecordId) -> Vec<Rc<str>> {
        let fields = self.records[id].fields.iter().flatten();
        let names = fields.flat_map(|field| match (&field.name, &field.ty) {
            (Some(name), _) => vec![name.clone()],
            (None, Type::Record(inner)) => self.member_names(*inner),
            _ => vec![],
        });
        names.collect()
    }

    /// How many cells an object has at most; `None` if that is not known or far too many.
    pub fn count_cells(&self, ty: &Type) -> Option<u64> {
        match ty {
            ty if self.is_open(ty) => Some(0),
            Type::Array(of, len) => self.count_cells(of)?.checked_mul((*len)?),
            Type::Record(id) => {
                let record = &self.records[*id];
                let fields = record.fields.as_ref()?;
                // What shares its place with something that has cells has to have some, too.
                if record.union && fields.iter().any(|f| !self.open(&f.ty).is_empty()) {
                    return None;
                }
                fields.iter().try_fold(0u64, |n, f| n.checked_add(self.count_cells(&f.ty)?))
            }
            Type::Exotic(_, size) => Some(*size as u64),
            _ => Some(1),
        }
    }

    /// Whether it is an array, or a union with one, that is too large to have cells: whatever is read there
    /// is any value. Pointers are never lost that way.
    fn is_open(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(of, len) => {
                let mut scalar = &**of;
                while let Type::Array(of, _) = scalar {
                    scalar = of;
                }
                let most = if matches!(scalar, Type::Float(_)) { MAX_FLOATS } else { MAX_CELLS };
                let is_large = |len: u64| match self.count_cells(of) {
                    Some(each) => each.checked_mul(len).is_none_or(|n| n > most),
                    None => false,
                };
                len.is_some_and(is_large) && !self.has_pointer(of)
            }
            Type::Record(id) if self.records[*id].union => {
                let mut fields = self.records[*id].fields.iter().flatten();
                fields.any(|f| !self.open(&f.ty).is_empty()) && !self.has_pointer(ty)
            }
            _ => false,
        }
    }

    /// Whether it may hold pointers.
    pub fn has_pointer(&self, ty: &Type) -> bool {
        match ty {
            Type::Pointer(..) => true,
            Type::Array(of, _) => self.has_pointer(of),
            Type::Record(id) => {
                self.records[*id].fields.iter().flatten().any(|f| self.has_pointer(&f.ty))
            }
            _ => false,
        }
    }

    /// The parts of an object that have no cells because they are too large, in bits.
    pub fn open(&self, ty: &Type) -> Vec<Range<u64>> {
        let mut open = vec![];
        self.collect_open(ty, 0, &mut open);
        open
    }

    fn collect_open(&self, ty: &Type, at: u64, out: &mut Vec<Range<u64>>) {
        match ty {
            ty if self.is_open(ty) => out.push(at..at + self.size(ty).unwrap_or(0) * 8),
            Type::Array(of, len) => {
                let stride = self.size(of).unwrap_or(0) * 8;
                let before = out.len();
                for i in 0..len.unwrap_or(0) {
                    self.collect_open(of, at + i * stride, out);
                    if out.len() == before {
                        break;
                    }
                }
            }
            Type::Record(id) => {
                for field in self.records[*id].fields.iter().flatten() {
                    self.collect_open(&field.ty, at + field.offset, out);
                }
            }
            _ => {}
        }
    }

    /// The cells of an object, in the order of their offsets. Padding belongs to none, and so do arrays that are too
    /// large. Where members of a union overlap, cells are cut at every border of every member.
    pub fn cells(&self, ty: &Type) -> Vec<Cell> {
        let mut cells = vec![];
        self.collect(ty, 0, String::new(), None, &mut cells);
        cells
    }

    fn collect(&self, ty: &Type, at: u64, path: String, bits: Option<u32>, out: &mut Vec<Cell>) {
        match ty {
            ty if self.is_open(ty) => {}
            Type::Array(of, len) => {
                let stride = self.size(of).unwrap_or(0) * 8;
                for i in 0..len.unwrap_or(0) {
                    self.collect(of, at + i * stride, format!("{path}[{i}]"), None, out);
                }
            }
            Type::Record(id) => {
                let record = &self.records[*id];
                let mut inner = vec![];
                for field in record.fields.iter().flatten() {
                    let path = match &field.name {
                        Some(name) => format!("{path}.{name}"),
                        None => path.clone(),
                    };
                    self.collect(&field.ty, at + field.offset, path, field.bits, &mut inner);
                }
                out.extend(if record.union { refine(inner) } else { inner });
            }
            // Nothing can be done with these, but they have their place.
            Type::Exotic(_, size) => {
                let bytes = Type::Array(Rc::new(unsigned(8)), Some(*size as u64));
                self.collect(&bytes, at, path, None, out);
            }
            _ => {
                let size = self.size(ty).unwrap_or(1) as u32 * 8;
                let width = bits.unwrap_or(size);
                let ty = match (bits, ty.integer()) {
                    (Some(bits), Some((_, signed))) => Type::Int { bits, signed },
                    _ => ty.clone(),
                };
                out.push(Cell { offset: at, width, ty, path });
            }
        }
    }

    /// Whether who gets a value of this type can reach something through it and change it.
    pub fn lets_change(&self, ty: &Type) -> bool {
        self.lets_change_in(ty, &mut vec![])
    }

    fn lets_change_in(&self, ty: &Type, seen: &mut Vec<RecordId>) -> bool {
        match ty {
            Type::Pointer(to, _) if matches!(**to, Type::Function(_)) => false,
            Type::Pointer(_, false) => true,
            Type::Pointer(to, true) => self.lets_change_in(to, seen),
            Type::Array(of, _) => self.lets_change_in(of, seen),
            Type::Record(id) if !seen.contains(id) => {
                seen.push(*id);
                // Of one that is declared only, another unit knows what is in it.
                let fields = self.records[*id].fields.as_ref();
                fields.is_none_or(|all| all.iter().any(|f| self.lets_change_in(&f.ty, seen)))
            }
            _ => false,
        }
    }

    /// Where it may hold pointers, members of unions among them.
    pub fn pointers(&self, ty: &Type) -> Vec<Held> {
        let mut all = vec![];
        self.collect_pointers(ty, 0, &mut all);
        all
    }

    fn collect_pointers(&self, ty: &Type, at: u64, out: &mut Vec<Held>) {
        match ty {
            ty if !self.has_pointer(ty) => {}
            Type::Pointer(_, constant) => {
                out.push(Held { at, leads: self.lets_change(ty), writes: !constant })
            }
            Type::Array(of, len) => {
                let stride = self.size(of).unwrap_or(0) * 8;
                for i in 0..len.unwrap_or(0) {
                    self.collect_pointers(of, at + i * stride, out);
                }
            }
            Type::Record(id) => {
                for field in self.records[*id].fields.iter().flatten() {
                    self.collect_pointers(&field.ty, at + field.offset, out);
                }
            }
            _ => {}
        }
    }

    /// Whether members of it may share their place.
    pub fn has_union(&self, ty: &Type) -> bool {
        match ty {
            Type::Array(of, _) => self.has_union(of),
            Type::Record(id) => {
                let record = &self.records[*id];
                record.union || record.fields.iter().flatten().any(|f| self.has_union(&f.ty))
            }
            _ => false,
        }
    }

    /// A type as C writes it, for messages.
    pub fn show(&self, ty: &Type) -> String {
        match ty {
            Type::Void => "void".into(),
            Type::Bool => "_Bool".into(),
            Type::Int { bits, signed } => {
                let name = match bits {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    64 => "long long",
                    128 => "__int128",
                    _ => "bit-field",
                };
                let name = match name {
                    "bit-field" => format!("{name} of {bits} bits"),
                    _ => name.into(),
                };
                if *signed { name } else { format!("unsigned {name}") }
            }
            Type::Enum { .. } => "enum".into(),
            Type::Float(4) => "float".into(),
            Type::Float(8) => "double".into(),
            Type::Float(_) => "long double".into(),
            Type::Exotic(what, _) => what.to_string(),
            Type::Pointer(to, _) => format!("{} *", self.show(to)),
            Type::Array(of, Some(len)) => format!("{}[{len}]", self.show(of)),
            Type::Array(of, None) => format!("{}[]", self.show(of)),
            Type::Record(id) => {
                let record = &self.records[*id];
                let kind = if record.union { "union" } else { "struct" };
                format!("{kind} {}", record.tag.as_deref().unwrap_or("{…}"))
            }
            Type::Function(_) => "function".into(),
        }
    }
}

/// What none of these cells covers of an object of `size` bits, nor what has none because it is too large: offset and
/// width of pieces of one word at most.
pub fn gaps(cells: &[Cell], open: &[Range<u64>], size: u64) -> Vec<(u64, u32)> {
    const PIECE: u64 = 32;
    let mut gaps = vec![];
    let mut at = 0;
    let ends = cells.iter().map(|c| (c.offset, c.offset + c.width as u64));
    let mut ends: Vec<(u64, u64)> = ends.chain(open.iter().map(|o| (o.start, o.end))).collect();
    ends.sort_unstable();
    for (from, to) in ends.into_iter().chain([(size, size)]) {
        while at < from.min(size) {
            // Pieces end where words do: what is written there is mostly a byte or a word.
            let stop = ((at / PIECE + 1) * PIECE).min(from).min(size);
            gaps.push((at, (stop - at) as u32));
            at = stop;
        }
        at = at.max(to);
    }
    gaps
}

/// Cuts overlapping cells at every border.
fn refine(mut cells: Vec<Cell>) -> Vec<Cell> {
    cells.sort_by_key(|c| (c.offset, c.width));
    let mut borders: Vec<u64> =
        cells.iter().flat_map(|c| [c.offset, c.offset + c.width as u64]).collect();
    borders.sort_unstable();
    borders.dedup();
    let mut out = vec![];
    for pair in borders.windows(2) {
        let (from, to) = (pair[0], pair[1]);
        let covers = |c: &&Cell| c.offset <= from && to <= c.offset + c.width as u64;
        let exact = |c: &&Cell| c.offset == from && c.offset + c.width as u64 == to;
        let Some(cell) = cells.iter().find(exact).or_else(|| cells.iter().find(covers)) else {
            continue;
        };
        // A piece can hold anything, whatever the whole is.
        let width = (to - from) as u32;
        let whole = exact(&cell) && cells.iter().filter(covers).all(|c| c.ty == cell.ty);
        let ty = if whole { cell.ty.clone() } else { unsigned(width) };
        out.push(Cell { offset: from, width, ty, path: cell.path.clone() });
    }
    out
}

#[cfg(test)]
mod tests {
    use super::super::layout::{Asked, Declared};
    use super::*;

    fn field(name: &str, ty: Type, bits: Option<u32>) -> Declared {
        Declared { name: Some(name.into()), bits, ..Declared::of(ty) }
    }

    fn record(types: &mut Types, union: bool, fields: Vec<Declared>, packed: bool) -> Type {
        types.records.push(Record {
            tag: None,
            union,
            fields: None,
            size: 0,
            align: 1,
            flexible: None,
        });
        let id = types.records.len() - 1;
        let asked = Asked { packed, ..Asked::default() };
        assert!(types.complete(id, fields, &asked));
        Type::Record(id)
    }

    #[test]
    fn structs_are_laid_out_as_the_abi_says() {
        let mut t = Types::new(DataModel::Ilp32);
        let fields = || {
            vec![
                field("c", signed(8), None),
                field("l", signed(64), None),
                field("a", unsigned(32), Some(3)),
                field("b", unsigned(32), Some(30)),
                field("s", signed(16), None),
            ]
        };
        let s = record(&mut t, false, fields(), false);
        let offsets =
            |t: &Types, s: &Type| -> Vec<u64> { t.cells(s).iter().map(|c| c.offset).collect() };
        assert_eq!((offsets(&t, &s), t.size(&s)), (vec![0, 32, 96, 128, 160], Some(24)));
        let packed = record(&mut t, false, fields(), true);
        assert_eq!((offsets(&t, &packed), t.size(&packed)), (vec![0, 8, 72, 75, 112], Some(16)));
        t.model = DataModel::Lp64;
        let s = record(&mut t, false, fields(), false);
        assert_eq!((offsets(&t, &s), t.size(&s)), (vec![0, 64, 128, 160, 192], Some(32)));
    }

    #[test]
    fn unions_are_cut_at_every_border() {
        let mut t = Types::new(DataModel::Ilp32);
        let bytes = Type::Array(Rc::new(unsigned(8)), Some(3));
        let u = record(
            &mut t,
            true,
            vec![field("i", signed(32), None), field("b", bytes, None)],
            false,
        );
        let cells: Vec<_> = t.cells(&u).iter().map(|c| (c.offset, c.width)).collect();
        assert_eq!(cells, [(0, 8), (8, 8), (16, 8), (24, 8)]);
        let same = vec![field("i", signed(32), None), field("u", signed(32), None)];
        let same = record(&mut t, true, same, false);
        assert_eq!(t.cells(&same).len(), 1);
    }
}
