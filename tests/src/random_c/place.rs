//! Objects, and the places in them that can be read, written and pointed to.

use super::types::{BOOL, INTS, Ty};
use super::{Feature, Writer};

/// A variable of the generated program.
#[derive(Clone, Debug)]
pub struct Object {
    /// Its identifier; an inner one hides an outer one of the same name.
    pub name: String,
    /// Its declared type.
    pub ty: Ty,
    /// How deep in blocks it is declared; 0 are globals, and what lives as long.
    pub level: usize,
    /// Whether it can be written.
    pub writable: bool,
    /// Whether pointers may point to it.
    pub pointable: bool,
    /// Whether every byte of it has a known value: it lives forever, and nothing is assigned to it
    /// as a whole, which may or may not copy what is between its members.
    pub exact: bool,
    /// Whether a function without effects can read it.
    pub constant: bool,
}

impl Object {
    /// A variable that can be used in every way.
    pub fn new(name: &str, ty: Ty, level: usize) -> Object {
        Object {
            name: name.into(),
            ty,
            level,
            writable: true,
            pointable: true,
            exact: false,
            constant: level > 0,
        }
    }
}

/// What is asked of a place.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Want {
    /// Only its value: it may be constant.
    Read,
    /// That it can be written.
    Write,
    /// The same, and that nothing that runs before the write can change where it is.
    Steady,
}

impl Writer {
    /// Objects that can be named here.
    pub fn visible(&self) -> impl Iterator<Item = &Object> {
        self.objects.iter().enumerate().filter_map(|(i, object)| {
            let hidden = self.objects[i + 1..].iter().any(|o| o.name == object.name);
            (!hidden && (!self.pure || object.constant)).then_some(object)
        })
    }

    /// An index of an array: any number, or a known one.
    pub fn index(&mut self, n: usize, steady: bool, depth: u32) -> String {
        if steady || depth == 0 || self.rng.one_in(2) {
            return self.rng.below(n).to_string();
        }
        let e = self.expr(depth - 1);
        if n.is_power_of_two() {
            format!("({e}) & {}", n - 1)
        } else {
            format!("(unsigned)({e}) % {n}")
        }
    }

    /// A scalar that can be read or written.
    pub fn place(&mut self, want: Want, depth: u32) -> String {
        let steady = want == Want::Steady;
        let usable = |o: &&Object| {
            (want == Want::Read || o.writable) && !(steady && matches!(o.ty, Ty::Pointer(_)))
        };
        let mut found: Vec<Object> = self.visible().filter(usable).cloned().collect();
        // What is declared last is used most.
        let local = found.len().min(5);
        if local > 0 && self.rng.one_in(3) {
            found.drain(..found.len() - local);
        }
        if found.is_empty() {
            // A value that is nowhere, or a place that nobody asks for.
            let text = if want == Want::Read { "7" } else { "(int){ 3 }" };
            return text.into();
        }
        let object = found.swap_remove(self.rng.below(found.len()));
        if want != Want::Steady
            && self.rng.one_in(12)
            && let Some(place) = self.view(&object, want, depth)
        {
            return place;
        }
        self.descend(object.name, object.ty, steady, depth)
    }

    /// A scalar within something.
    pub fn descend(&mut self, mut text: String, mut ty: Ty, steady: bool, depth: u32) -> String {
        // A pointer forgets that it points into something packed, and that there is no alignment.
        let mut packed = false;
        loop {
            match ty {
                Ty::Int(_) | Ty::Enum(_) => return text,
                Ty::Array(of, n) => {
                    let index = self.index(n, steady, depth);
                    text = match self.rng.below(6) {
                        0 if !packed => format!("(*({text} + ({index})))"),
                        _ => format!("{text}[{index}]"),
                    };
                    ty = *of;
                }
                Ty::Pointer(to) => {
                    text = if self.rng.one_in(4) {
                        format!("{text}[0]")
                    } else {
                        format!("(*{text})")
                    };
                    ty = *to;
                }
                Ty::Record(r) => {
                    packed |= self.records[r].packed;
                    let fields: Vec<_> = self.records[r].values().cloned().collect();
                    let field = fields[self.rng.below(fields.len())].clone();
                    if let Some(name) = &field.name {
                        text = match text.strip_prefix("(*").and_then(|t| t.strip_suffix(')')) {
                            Some(pointer) if is_word(pointer) => format!("{pointer}->{name}"),
                            _ => format!("{text}.{name}"),
                        };
                    }
                    ty = field.ty;
                }
            }
        }
    }

    /// Bytes of an object, or a piece of an integer, through a pointer to something narrower.
    fn view(&mut self, object: &Object, want: Want, depth: u32) -> Option<String> {
        let write = want == Want::Write;
        let name = &object.name;
        if object.exact && !(write && self.has_bool(&object.ty)) && self.rng.one_in(2) {
            let at = self.rng.below(self.least_bytes(&object.ty).max(1));
            let byte = self.rng.pick(&[1, 2]);
            return Some(format!("(({} *)&{name})[{at}]", INTS[byte].name));
        }
        if !self.has(Feature::Narrow) || !object.pointable {
            return None;
        }
        let wide = (6..=10).map(Ty::Int);
        let wide: Vec<(String, Ty)> = wide
            .flat_map(|ty| self.find(&ty, object.level).into_iter().map(move |t| (t, ty.clone())))
            .collect();
        if wide.is_empty() {
            return None;
        }
        let (text, ty) = &wide[self.rng.below(wide.len())];
        let Ty::Int(outer) = ty else { return None };
        let narrow = self.rng.pick(&[1, 2, 3, 4, 5, 6]);
        let pieces = (INTS[*outer].bits / INTS[narrow].bits) as usize;
        let index = self.index(pieces, false, depth);
        Some(format!("(({} *)&{text})[{index}]", INTS[narrow].name))
    }

    /// Places of exactly this type that pointers may point to, in writable objects that live at
    /// least as long as what is declared on this level.
    pub fn find(&mut self, ty: &Ty, level: usize) -> Vec<String> {
        let whole = self.any_part(ty, &|_, t| matches!(t, Ty::Record(_)));
        let outer =
            |o: &&Object| o.level <= level && o.pointable && o.writable && !(whole && o.exact);
        let objects: Vec<Object> = self.visible().filter(outer).cloned().collect();
        let mut found = vec![];
        for object in objects {
            self.find_in(&object.name, &object.ty, ty, &mut found);
        }
        found
    }

    fn find_in(&mut self, text: &str, whole: &Ty, ty: &Ty, found: &mut Vec<String>) {
        if whole == ty {
            found.push(text.to_owned());
        }
        match whole {
            Ty::Array(of, n) => {
                let i = self.rng.below(*n);
                self.find_in(&format!("{text}[{i}]"), of, ty, found);
            }
            Ty::Record(r) if !self.records[*r].packed => {
                let record = self.records[*r].clone();
                // Records that overlap must not be assigned to each other.
                if record.union && matches!(ty, Ty::Record(_)) {
                    return;
                }
                for field in record.values().filter(|f| f.bits.is_none()) {
                    let text = match &field.name {
                        Some(name) => format!("{text}.{name}"),
                        None => text.to_owned(),
                    };
                    self.find_in(&text, &field.ty, ty, found);
                }
            }
            _ => {}
        }
    }

    /// A pointer to something of this type, if there is something.
    pub fn address(&mut self, ty: &Ty, level: usize) -> Option<String> {
        let found = self.find(ty, level);
        (!found.is_empty()).then(|| format!("&{}", found[self.rng.below(found.len())]))
    }

    /// The scalars of an object, each as an expression; of a pointer, what it points to.
    pub fn parts(&self, text: &str, ty: &Ty, parts: &mut Vec<String>) {
        match ty {
            Ty::Int(_) | Ty::Enum(_) => parts.push(text.to_owned()),
            Ty::Array(of, n) => {
                for i in 0..*n {
                    self.parts(&format!("{text}[{i}]"), of, parts);
                }
            }
            Ty::Pointer(to) => self.parts(&format!("(*{text})"), to, parts),
            Ty::Record(r) => {
                for field in self.records[*r].values() {
                    match &field.name {
                        Some(name) => self.parts(&format!("{text}.{name}"), &field.ty, parts),
                        None => self.parts(text, &field.ty, parts),
                    }
                }
            }
        }
    }

    /// Declares the globals.
    pub fn globals(&mut self) {
        let bytes = format!(
            "static unsigned bytes{}(const unsigned char *p, size_t n) {{\n    unsigned s = 0;\n    \
             for (size_t i = 0; i < n; i++)\n        s = s * 31 + p[i];\n    return s;\n}}",
            self.suffix
        );
        self.head(&bytes);
        for _ in 0..self.rng.between(3, 7) {
            let ty = self.any_ty(24);
            let name = self.fresh("g");
            let mut object = Object::new(&name, ty.clone(), 0);
            object.exact = self.rng.one_in(3)
                && (self.has(Feature::Padding)
                    || !self.any_part(&ty, &|_, t| matches!(t, Ty::Record(_))));
            object.constant = self.rng.one_in(8);
            object.writable = !object.constant;
            let qualifier = match self.rng.below(8) {
                _ if object.constant => "const ",
                0 => {
                    object.pointable = false;
                    object.exact = false;
                    "volatile "
                }
                1..=3 => "static ",
                _ => "",
            };
            let declaration = self.declare(&ty, &name);
            if self.rng.one_in(8) && qualifier.is_empty() {
                self.head(&format!("extern {declaration};"));
            }
            let init = if self.rng.one_in(4) {
                String::new()
            } else {
                format!(" = {}", self.init(&ty, true, 0))
            };
            self.head(&format!("{qualifier}{declaration}{init};"));
            self.objects.push(object);
        }
        for _ in 0..self.rng.between(1, 3) {
            self.global_pointer();
        }
    }

    fn global_pointer(&mut self) {
        let objects: Vec<Object> =
            self.objects.iter().filter(|o| o.writable && o.pointable).cloned().collect();
        if objects.is_empty() {
            return;
        }
        // A type that something has: the whole of it, an element, or a scalar in it.
        let object = &objects[self.rng.below(objects.len())];
        let mut ty = object.ty.clone();
        while let Ty::Array(of, _) = &ty {
            if self.rng.one_in(3) {
                break;
            }
            ty = (**of).clone();
        }
        if let Ty::Record(_) = ty
            && self.rng.one_in(2)
        {
            ty = self.scalar_ty();
        }
        if ty == Ty::Int(BOOL) && object.exact {
            return;
        }
        let Some(address) = self.address(&ty, 0) else { return };
        let name = self.fresh("p");
        let ty = Ty::Pointer(Box::new(ty));
        let declaration = self.declare(&ty, &name);
        self.head(&format!("{declaration} = {address};"));
        self.objects.push(Object::new(&name, ty, 0));
    }
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}
