//! Types of random programs. Sizes and offsets are not known here: they depend on the data model, and
//! finding them out is the front end's task.

use super::{Feature, Writer};

/// A type without qualifiers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Ty {
    /// An integer: an index of [`INTS`].
    Int(usize),
    /// An enumeration: an index of the writer's enumerations.
    Enum(usize),
    /// A struct or union.
    Record(usize),
    /// An array: type and number of its elements.
    Array(Box<Ty>, usize),
    /// A pointer to this type.
    Pointer(Box<Ty>),
}

/// An integer type.
pub struct Int {
    /// How it is written.
    pub name: &'static str,
    /// Bits that it has in every data model.
    pub bits: u32,
    /// What it is passed as where there is no prototype.
    pub promoted: &'static str,
}

const fn int(name: &'static str, bits: u32, promoted: &'static str) -> Int {
    Int { name, bits, promoted }
}

/// The integer types.
pub const INTS: [Int; 12] = [
    int("char", 8, "int"),
    int("signed char", 8, "int"),
    int("unsigned char", 8, "int"),
    int("short", 16, "int"),
    int("unsigned short", 16, "int"),
    int("int", 32, "int"),
    int("unsigned", 32, "unsigned"),
    int("long", 32, "long"),
    int("unsigned long", 32, "unsigned long"),
    int("long long", 64, "long long"),
    int("unsigned long long", 64, "unsigned long long"),
    int("_Bool", 1, "int"),
];

/// The last of [`INTS`].
pub const BOOL: usize = 11;

/// A member of a struct or union.
#[derive(Clone, Debug)]
pub struct Field {
    /// Its name; none for an anonymous record, or a bit-field that only takes room.
    pub name: Option<String>,
    /// Its declared type, that of a bit-field included.
    pub ty: Ty,
    /// Its width if it is a bit-field.
    pub bits: Option<u32>,
}

/// A struct or union.
#[derive(Clone, Debug, Default)]
pub struct Record {
    /// How it is written.
    pub name: String,
    /// Whether its members overlap.
    pub union: bool,
    /// Whether members may lie at any address.
    pub packed: bool,
    /// Its members in the order of their declaration.
    pub fields: Vec<Field>,
}

/// An enumeration of the generated program.
#[derive(Clone, Debug)]
pub struct Enum {
    /// How it is written.
    pub name: String,
    /// Its enumerators, in the order of their declaration.
    pub names: Vec<String>,
}

impl Record {
    /// Members that an initialiser names in turn: all but bit-fields without a name.
    pub fn values(&self) -> impl Iterator<Item = &Field> {
        self.fields.iter().filter(|f| f.name.is_some() || matches!(f.ty, Ty::Record(_)))
    }
}

impl Writer {
    /// A declaration of `name`, or with an empty name the name of a type.
    pub fn declare(&self, ty: &Ty, name: &str) -> String {
        match ty {
            Ty::Int(i) => format!("{} {name}", INTS[*i].name).trim_end().to_owned(),
            Ty::Enum(e) => format!("{} {name}", self.enums[*e].name).trim_end().to_owned(),
            Ty::Record(r) => format!("{} {name}", self.records[*r].name).trim_end().to_owned(),
            Ty::Array(of, n) => self.declare(of, &format!("{name}[{n}]")),
            Ty::Pointer(to) if matches!(**to, Ty::Array(..)) => {
                self.declare(to, &format!("(*{name})"))
            }
            Ty::Pointer(to) => self.declare(to, &format!("*{name}")),
        }
    }

    /// A type's name.
    pub fn spell(&self, ty: &Ty) -> String {
        self.declare(ty, "")
    }

    /// How many scalars it has.
    pub fn leaves(&self, ty: &Ty) -> usize {
        match ty {
            Ty::Array(of, n) => n * self.leaves(of),
            Ty::Record(r) => self.records[*r].fields.iter().map(|f| self.leaves(&f.ty)).sum(),
            _ => 1,
        }
    }

    /// Whether some part of it is one that `test` is true for; bit-fields are not asked about.
    pub fn any_part(&self, ty: &Ty, test: &dyn Fn(&Writer, &Ty) -> bool) -> bool {
        test(self, ty)
            || match ty {
                Ty::Array(of, _) => self.any_part(of, test),
                Ty::Record(r) => {
                    let mut fields = self.records[*r].fields.iter();
                    fields.any(|f| f.bits.is_none() && self.any_part(&f.ty, test))
                }
                _ => false,
            }
    }

    /// Whether not every byte is a value of it.
    pub fn has_bool(&self, ty: &Ty) -> bool {
        self.any_part(ty, &|_, ty| *ty == Ty::Int(BOOL))
    }

    /// Whether parts of it overlap.
    pub fn has_union(&self, ty: &Ty) -> bool {
        self.any_part(ty, &|w, ty| matches!(ty, Ty::Record(r) if w.records[*r].union))
    }

    /// Bytes that it has at least, in every data model.
    pub fn least_bytes(&self, ty: &Ty) -> usize {
        match ty {
            Ty::Int(i) => INTS[*i].bits.div_ceil(8) as usize,
            Ty::Enum(_) => 1,
            Ty::Pointer(_) => 4,
            Ty::Array(of, n) => n * self.least_bytes(of),
            Ty::Record(r) => {
                let record = &self.records[*r];
                let whole = record.fields.iter().filter(|f| f.bits.is_none());
                let sizes = whole.map(|f| self.least_bytes(&f.ty));
                if record.union { sizes.max().unwrap_or(0) } else { sizes.sum() }
            }
        }
    }

    /// Some integer type.
    pub fn int_ty(&mut self) -> Ty {
        Ty::Int(self.rng.below(INTS.len()))
    }

    /// An integer or enumeration.
    pub fn scalar_ty(&mut self) -> Ty {
        match self.rng.below(8) {
            0 if !self.enums.is_empty() => Ty::Enum(self.rng.below(self.enums.len())),
            _ => self.int_ty(),
        }
    }

    /// Some type of at most this many scalars.
    pub fn any_ty(&mut self, most: usize) -> Ty {
        let ty = match self.rng.below(10) {
            0..=3 => self.scalar_ty(),
            4..=7 if !self.tagged.is_empty() => Ty::Record(self.rng.pick(&self.tagged)),
            8 => {
                let of = self.scalar_ty();
                let rows = Ty::Array(Box::new(of), self.rng.between(2, 4));
                Ty::Array(Box::new(rows), self.rng.between(1, 3))
            }
            _ => {
                let of = self.any_ty(most / 2);
                Ty::Array(Box::new(of), self.rng.between(1, 5))
            }
        };
        if self.leaves(&ty) <= most { ty } else { self.scalar_ty() }
    }

    /// Defines an enumeration.
    pub fn define_enum(&mut self) {
        let name = self.fresh("E");
        let mut text = format!("enum {name} {{ ");
        let mut names = vec![];
        let top: i64 = self.rng.pick(&[3, 100, 200, 300, 40_000, 70_000, 0x7fff_fff0]);
        for i in 0..self.rng.between(2, 5) {
            let constant = self.fresh("k");
            let value = match self.rng.below(4) {
                0 if i == 0 && self.rng.one_in(2) => {
                    format!(" = -{}", self.rng.below(top as usize))
                }
                0 | 1 => format!(" = {}", self.rng.below(top as usize)),
                _ => String::new(),
            };
            text += &format!("{constant}{value}, ");
            names.push(constant);
        }
        self.head(&format!("{text}}};"));
        self.enums.push(Enum { name: format!("enum {name}"), names });
    }

    /// Defines a struct or union.
    pub fn define_record(&mut self) {
        let union = self.rng.one_in(4);
        let tag = self.fresh(if union { "U" } else { "S" });
        let word = if union { "union" } else { "struct" };
        let packed = self.rng.one_in(6);
        let mut record = Record { name: format!("{word} {tag}"), union, packed, fields: vec![] };
        let mut text = format!("{word} {tag} {{ ");
        for i in 0..self.rng.between(1, 6) {
            text += &self.field(&mut record, i);
        }
        if record.values().next().is_none() {
            let name = Some("z".to_owned());
            record.fields.push(Field { name, ty: Ty::Int(5), bits: None });
            text += "int z; ";
        }
        text += "}";
        if packed {
            text += " __attribute__((packed))";
        }
        if self.rng.one_in(10) {
            let align = self.rng.pick(&[2, 4, 8]);
            text += &format!(" __attribute__((aligned({align})))");
        }
        self.head(&format!("{text};"));
        self.records.push(record);
        self.tagged.push(self.records.len() - 1);
    }

    /// Adds a member to a record; the text that declares it.
    fn field(&mut self, record: &mut Record, i: usize) -> String {
        let letter = (b'a' + i as u8) as char;
        let name = format!("{letter}{}", self.tagged.len());
        match self.rng.below(20) {
            0..=6 if self.has(Feature::BitField) => self.bit_field(record, name),
            7 => {
                // An anonymous record: its members belong to the outer one.
                let union = self.rng.one_in(2);
                let mut inner = Record { union, ..Record::default() };
                let mut text = if union { "union { ".to_owned() } else { "struct { ".to_owned() };
                for k in 0..self.rng.between(1, 3) {
                    let name = format!("{name}_{k}");
                    if self.rng.one_in(3) && self.has(Feature::BitField) {
                        text += &self.bit_field(&mut inner, name);
                    } else {
                        let ty = self.member_ty(union || record.union, 4);
                        text += &format!("{}; ", self.declare(&ty, &name));
                        inner.fields.push(Field { name: Some(name), ty, bits: None });
                    }
                }
                if inner.values().next().is_none() {
                    let name = format!("{name}_z");
                    text += &format!("short {name}; ");
                    inner.fields.push(Field { name: Some(name), ty: Ty::Int(3), bits: None });
                }
                // A type of its own that nothing but this member has.
                self.records.push(inner);
                let ty = Ty::Record(self.records.len() - 1);
                record.fields.push(Field { name: None, ty, bits: None });
                text + "}; "
            }
            n => {
                let ty = if n < 15 { self.scalar_ty() } else { self.any_ty(6) };
                let ty = if record.union && self.has_bool(&ty) { Ty::Int(4) } else { ty };
                let mut text = self.declare(&ty, &name);
                if self.rng.one_in(12) {
                    let align = self.rng.pick(&[1, 2, 4, 8]);
                    text += &format!(" __attribute__((aligned({align})))");
                } else if self.rng.one_in(12) && self.has(Feature::PackedMember) {
                    text += " __attribute__((packed))";
                    record.packed = true;
                }
                record.fields.push(Field { name: Some(name), ty, bits: None });
                text + "; "
            }
        }
    }

    fn member_ty(&mut self, overlapping: bool, most: usize) -> Ty {
        let ty = if self.rng.one_in(4) { self.any_ty(most) } else { self.scalar_ty() };
        if overlapping && self.has_bool(&ty) { Ty::Int(6) } else { ty }
    }

    fn bit_field(&mut self, record: &mut Record, name: String) -> String {
        let ty = self.scalar_ty();
        let (word, bits) = match &ty {
            Ty::Int(i) => (INTS[*i].name.to_owned(), INTS[*i].bits),
            // As many as the smallest type has that an enumeration may be.
            _ => (self.spell(&ty), 8),
        };
        let bits = if self.has(Feature::Wide) { bits } else { bits.min(32) };
        let width = 1 + self.rng.below(bits as usize) as u32;
        let (name, width) = match self.rng.below(12) {
            0 => (None, 0),
            1 => (None, width),
            _ => (Some(name), width),
        };
        let text = format!("{word} {}: {width}; ", name.as_deref().unwrap_or(""));
        record.fields.push(Field { name, ty, bits: Some(width) });
        text
    }
}
