//! Initialisers.

use super::types::{Field, INTS, Ty};
use super::{Feature, Writer};

/// From this depth on there are no compound literals.
const FLAT: u32 = 100;

impl Writer {
    /// An initialiser; with `constant` one that a static object can have.
    pub fn init(&mut self, ty: &Ty, constant: bool, depth: u32) -> String {
        match ty {
            Ty::Int(_) | Ty::Enum(_) => {
                let value = self.value(ty, constant, depth);
                if self.rng.one_in(12) { format!("{{ {value} }}") } else { value }
            }
            Ty::Pointer(_) => "0".into(),
            Ty::Array(of, n) => self.init_array(of, *n, constant, depth),
            Ty::Record(r) => {
                let allowed =
                    !constant || (depth > 0 && depth < FLAT && self.has(Feature::Literal));
                if allowed && !self.records[*r].name.is_empty() && self.rng.one_in(6) {
                    // A static one may have a literal in it, but no literal in that.
                    let list = self.init_record(*r, constant, if constant { FLAT } else { depth });
                    format!("({}){list}", self.spell(ty))
                } else {
                    self.init_record(*r, constant, depth)
                }
            }
        }
    }

    fn value(&mut self, ty: &Ty, constant: bool, level: u32) -> String {
        if !constant {
            return self.expr(1);
        }
        let depth = self.rng.pick(&[0, 0, 0, 1, 2]);
        match self.rng.below(10) {
            0 if self.has(Feature::Literal) && level < FLAT => {
                format!("({}){{ {} }}", self.spell(ty), self.constant_expr(depth))
            }
            _ => self.constant_expr(depth),
        }
    }

    fn init_array(&mut self, of: &Ty, n: usize, constant: bool, depth: u32) -> String {
        if let Ty::Int(i) = of
            && INTS[*i].bits == 8
            && self.rng.one_in(2)
        {
            let text: String = (0..self.rng.below(n + 1)).map(|_| self.letter()).collect();
            return if self.rng.one_in(4) {
                format!("{{ \"{text}\" }}")
            } else {
                format!("\"{text}\"")
            };
        }
        if let Ty::Array(inner, m) = of
            && matches!(**inner, Ty::Int(_))
            && self.rng.one_in(3)
        {
            // Inner braces can be left out.
            let count = 1 + self.rng.below(n * m);
            let items: Vec<_> = (0..count).map(|_| self.value(inner, constant, depth)).collect();
            return format!("{{ {} }}", items.join(", "));
        }
        let mut items = vec![];
        let mut next = 0;
        let mut set = vec![false; n];
        for _ in 0..self.rng.between(1, n + 1) {
            let designated = self.rng.one_in(3);
            let at = if designated { self.rng.below(n) } else { next };
            let free = self.has(Feature::Override) || set.get(at) == Some(&false);
            if at >= n || !free {
                break;
            }
            let mut last = at;
            let mut item = String::new();
            if designated {
                let far = at + self.rng.below(3);
                // One value for several aggregates has to be constant.
                let simple = constant || matches!(of, Ty::Int(_) | Ty::Enum(_));
                let range = self.rng.one_in(5) && simple && far < n && far > at;
                if range && (self.has(Feature::Override) || !set[at..=far].contains(&true)) {
                    last = far;
                    item = format!("[{at} ... {far}] = ");
                } else {
                    item = format!("[{at}] = ");
                    if let Some(part) = self.deeper(of, constant, depth) {
                        items.push(format!("[{at}]{part}"));
                        set[at] = true;
                        // What has no designator would continue inside.
                        next = n;
                        continue;
                    }
                }
            }
            set[at..=last].fill(true);
            item += &self.init(of, constant, depth + 1);
            items.push(item);
            next = last + 1;
        }
        format!("{{ {} }}", items.join(", "))
    }

    /// A designator that continues inside, and its value.
    fn deeper(&mut self, ty: &Ty, constant: bool, depth: u32) -> Option<String> {
        if !self.rng.one_in(3) {
            return None;
        }
        match ty {
            Ty::Array(of, n) => {
                let at = self.rng.below(*n);
                let value = self.init(of, constant, depth + 1);
                Some(format!("[{at}] = {value}"))
            }
            Ty::Record(r) => {
                let fields: Vec<Field> = self.records[*r].values().cloned().collect();
                let field = &fields[self.rng.below(fields.len())];
                let name = field.name.as_ref()?;
                let value = self.init(&field.ty, constant, depth + 1);
                Some(format!(".{name} = {value}"))
            }
            _ => None,
        }
    }

    fn init_record(&mut self, r: usize, constant: bool, depth: u32) -> String {
        let record = self.records[r].clone();
        let fields: Vec<Field> = record.values().cloned().collect();
        if self.rng.one_in(10) {
            return self.rng.pick(&["{ 0 }", "{ }"]).into();
        }
        let most = if record.union { 1 } else { fields.len() };
        let again = self.has(Feature::Override) && self.rng.one_in(4);
        let mut items = vec![];
        let mut next = 0;
        let mut set = vec![false; fields.len()];
        for _ in 0..self.rng.between(1, most) + again as usize {
            let designated = self.rng.one_in(3);
            let at = if designated { self.rng.below(fields.len()) } else { next };
            if at >= fields.len() || (set[at] && !again) || (!designated && record.union && at > 0)
            {
                break;
            }
            set[at] = true;
            let field = &fields[at];
            let value = self.init(&field.ty, constant, depth + 1);
            match (&field.name, designated) {
                (Some(name), true) => {
                    if let Some(part) = self.deeper(&field.ty, constant, depth) {
                        items.push(format!(".{name}{part}"));
                        next = fields.len();
                        continue;
                    }
                    items.push(format!(".{name} = {value}"));
                }
                // An anonymous record has no name to begin with, but its members have.
                (None, true) => {
                    let Ty::Record(inner) = field.ty else { break };
                    let inner: Vec<Field> = self.records[inner].values().cloned().collect();
                    let field = &inner[self.rng.below(inner.len())];
                    let Some(name) = &field.name else { break };
                    let value = self.init(&field.ty, constant, depth + 1);
                    items.push(format!(".{name} = {value}"));
                    next = fields.len();
                    continue;
                }
                _ => items.push(value),
            }
            next = at + 1;
        }
        format!("{{ {} }}", items.join(", "))
    }

    /// A character that needs no escape.
    fn letter(&mut self) -> char {
        (b'a' + self.rng.below(26) as u8) as char
    }
}
