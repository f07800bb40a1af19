//! Expressions.

use super::place::Want;
use super::types::{INTS, Ty};
use super::{Feature, Writer};

impl Writer {
    /// A random integer or character constant, with various bases and suffixes.
    pub fn number(&mut self) -> String {
        let bits = self.rng.bits();
        match self.rng.below(14) {
            0 => format!("{}", bits as i32 as i64),
            1 => format!("{}u", bits as u32),
            2 => format!("{}LL", bits as i64 >> self.rng.pick(&[1, 8, 20, 30])),
            3 => format!("0x{:x}", bits & 0xffff),
            4 => format!("0x{:x}u", bits as u32),
            5 => format!("0x{bits:x}ULL"),
            6 => format!("0{:o}", bits & 0xfff),
            7 => format!("{}L", bits as i32 as i64 >> 1),
            8 => self.rng.pick(&["'a'", "'\\x80'", "'\\377'", "'\\n'", "'\\0'"]).into(),
            9 => {
                self.rng.pick(&["255", "128", "-128", "32768", "65535", "2147483647", "-1"]).into()
            }
            _ => format!("{}", (bits % 20) as i64 - 5),
        }
    }

    /// An expression that static objects may be initialised with.
    pub fn constant_expr(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.rng.below(8) {
                0 if !self.enums.is_empty() => self.enumerator(),
                1 => self.size(),
                _ => self.number(),
            };
        }
        let (a, b) = (self.constant_expr(depth - 1), self.constant_expr(depth - 1));
        match self.rng.below(6) {
            0 => format!("({})({a})", INTS[self.rng.below(INTS.len())].name),
            1 => format!("(({a}) ? ({b}) : ({a}))"),
            2 => format!("{}({a})", self.rng.pick(&["-", "~", "!", "+"])),
            3 => format!("(({a}) >> {})", self.rng.below(31)),
            _ => {
                let op = self.rng.pick(&["+", "-", "&", "|", "^", "<", "==", ">=", "&&", "||"]);
                format!("(({a}) {op} ({b}))")
            }
        }
    }

    fn enumerator(&mut self) -> String {
        let e = self.rng.below(self.enums.len());
        let names = &self.enums[e].names;
        names[self.rng.below(names.len())].clone()
    }

    /// Sizes, alignments and offsets of types.
    fn size(&mut self) -> String {
        let ty = self.any_ty(16);
        let name = self.spell(&ty);
        if let Ty::Record(r) = ty {
            let whole = |f: &&super::types::Field| f.bits.is_none() && f.name.is_some();
            let fields: Vec<_> = self.records[r].values().filter(whole).cloned().collect();
            if !fields.is_empty() && self.rng.one_in(2) {
                let field = &fields[self.rng.below(fields.len())];
                let member = field.name.as_deref().unwrap_or_default();
                return format!("__builtin_offsetof({name}, {member})");
            }
        }
        match self.rng.below(3) {
            0 => format!("_Alignof({name})"),
            1 => {
                let ty = Ty::Pointer(Box::new(ty));
                format!("sizeof({})", self.spell(&ty))
            }
            _ => format!("sizeof({name})"),
        }
    }

    fn operand(&mut self, depth: u32) -> String {
        format!("({})", self.expr(depth))
    }

    /// A divisor: not zero, and not -1, which the smallest number cannot be divided by.
    fn divisor(&mut self, depth: u32) -> String {
        let e = self.expr(depth);
        match self.rng.below(6) {
            0 => format!("((({e}) & 15) + 1)"),
            1 => format!("((unsigned)({e}) | 1)"),
            2 => format!("((unsigned long long)({e}) | 1)"),
            3 => format!("(-(({e}) & 7) - 2)"),
            4 => format!("((unsigned char)({e}) | 1)"),
            _ => self.rng.pick(&["3", "-7", "10u", "16", "1000LL", "-2"]).into(),
        }
    }

    /// A shift that is less than every width.
    fn shift(&mut self, depth: u32) -> String {
        match self.rng.below(3) {
            0 => self.rng.below(32).to_string(),
            _ => format!("(({}) & {})", self.expr(depth), self.rng.pick(&[7, 15, 31])),
        }
    }

    /// A value. Nothing changes while it is computed, so that the order does not matter.
    pub fn expr(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.rng.below(12) {
                0..=3 => self.number(),
                4 if !self.enums.is_empty() => self.enumerator(),
                _ => self.place(Want::Read, 0),
            };
        }
        let d = depth - 1;
        match self.rng.below(40) {
            0..=4 => self.place(Want::Read, d),
            5..=7 => {
                let ty = self.scalar_ty();
                format!("({})({})", self.spell(&ty), self.expr(d))
            }
            8 => format!("{}({})", self.rng.pick(&["-", "~", "!", "+"]), self.expr(d)),
            9 => format!("{}({})", self.rng.pick(&["-", "~", "!", "+"]), self.expr(d)),
            10 => format!("({} / {})", self.operand(d), self.divisor(d)),
            11 => format!("({} % {})", self.operand(d), self.divisor(d)),
            12 | 13 => format!("({} << {})", self.operand(d), self.shift(d)),
            14 | 15 => format!("({} >> {})", self.operand(d), self.shift(d)),
            16 | 17 => {
                format!("({} ? {} : {})", self.operand(d), self.operand(d), self.operand(d))
            }
            18 if self.has(Feature::Elvis) => {
                format!("({} ?: {})", self.operand(d), self.operand(d))
            }
            19 => format!("({} && {})", self.operand(d), self.operand(d)),
            20 => format!("({} || {})", self.operand(d), self.operand(d)),
            // A number before the comma makes gcc 12 stumble.
            21 => format!("({}, {})", self.place(Want::Read, d), self.expr(d)),
            22 => match self.rng.below(3) {
                0 => self.size(),
                1 => format!("sizeof(+({}))", self.expr(d)),
                _ => format!("sizeof(({})({}))", INTS[self.rng.below(12)].name, self.expr(d)),
            },
            23 => self.pointer_value(d),
            24 => self.literal(d),
            25 | 26 => self.call(true, d).unwrap_or_else(|| self.number()),
            27 => self.offer(d).unwrap_or_else(|| self.number()),
            28 if self.has(Feature::Builtin) => self.builtin(d),
            _ => {
                let op = self.rng.pick(&[
                    "+", "-", "*", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "+", "-",
                ]);
                format!("({} {op} {})", self.operand(d), self.operand(d))
            }
        }
    }

    /// Comparisons and differences of pointers into one array, and questions for null.
    fn pointer_value(&mut self, depth: u32) -> String {
        let arrays = self.visible().filter(|o| matches!(&o.ty, Ty::Array(..))).cloned();
        let arrays: Vec<_> = arrays.collect();
        let pointers = self.visible().filter(|o| matches!(&o.ty, Ty::Pointer(_))).cloned();
        let pointers: Vec<_> = pointers.collect();
        if !pointers.is_empty() && self.rng.one_in(3) {
            let pointer = &pointers[self.rng.below(pointers.len())];
            let Ty::Pointer(to) = &pointer.ty else { return "1".into() };
            let name = &pointer.name;
            return match self.address(to, pointer.level) {
                Some(address) if self.rng.one_in(2) => format!("({name} == {address})"),
                _ => self
                    .rng
                    .pick(&["(!PP)", "(PP != 0)", "(PP && 1)", "(PP ? 3 : 4)"])
                    .replace("PP", name),
            };
        }
        if arrays.is_empty() {
            return self.number();
        }
        let array = &arrays[self.rng.below(arrays.len())];
        let Ty::Array(_, n) = array.ty else { return "1".into() };
        let name = &array.name;
        // One past the end is a place to point to, too.
        let (i, j) = (self.index(n + 1, false, depth), self.index(n + 1, false, depth));
        match self.rng.below(5) {
            0 => format!("(&{name}[{i}] - &{name}[{j}])"),
            1 => format!("((char *)&{name}[{i}] - (char *){name})"),
            _ => {
                let op = self.rng.pick(&["==", "!=", "<", "<=", ">", ">="]);
                format!("(&{name}[{i}] {op} {name} + ({j}))")
            }
        }
    }

    /// A member or element of a compound literal, or a character of a string.
    fn literal(&mut self, depth: u32) -> String {
        let ty = self.any_ty(8);
        match &ty {
            Ty::Array(of, n) if !self.has_union(&ty) => {
                let values: Vec<_> = (0..*n).map(|_| self.init(of, false, 3)).collect();
                let text = format!("(({}){{ {} }})", self.spell(&ty), values.join(", "));
                self.descend(text, ty, false, depth)
            }
            Ty::Record(_) if !self.has_union(&ty) => {
                let init = self.init(&ty, false, 3);
                let init = init
                    .strip_prefix(&format!("({})", self.spell(&ty)))
                    .unwrap_or(&init)
                    .to_owned();
                let text = format!("({}){init}", self.spell(&ty));
                let text = match self.rng.below(3) {
                    0 => format!("(*&{text})"),
                    _ => format!("({text})"),
                };
                self.descend(text, ty, false, depth)
            }
            _ => {
                let text =
                    self.rng.pick(&["\"abc\"", "\"\\xff\\1z\"", "\"a\" \"bc\"", "\"x\\0y\""]);
                let index = self.index(4, false, depth);
                match self.rng.below(3) {
                    0 => format!("sizeof({text})"),
                    1 => format!("(*({text} + ({index})))"),
                    _ => format!("{text}[{index}]"),
                }
            }
        }
    }

    /// What the compiler computes by itself.
    fn builtin(&mut self, depth: u32) -> String {
        let e = self.expr(depth);
        match self.rng.below(16) {
            0 => format!("__builtin_popcount({e})"),
            1 => format!("__builtin_popcountll({e})"),
            2 => format!("__builtin_clz((unsigned)({e}) | 1)"),
            3 => format!("__builtin_clzll((unsigned long long)({e}) | 16)"),
            4 => format!("__builtin_ctz((unsigned)({e}) | 0x80000000u)"),
            5 => format!("__builtin_ctzll((unsigned long long)({e}) | 0x800000000ull)"),
            6 => format!("__builtin_ffs({e})"),
            7 => format!("__builtin_ffsll({e})"),
            8 => format!("__builtin_bswap16({e})"),
            9 => format!("__builtin_bswap32({e})"),
            10 => format!("__builtin_bswap64({e})"),
            11 => format!("__builtin_parity({e})"),
            12 => format!("__builtin_parityll({e})"),
            13 => format!("__builtin_popcountl({e})"),
            14 => format!("__builtin_abs((short)({e}))"),
            _ => format!("__builtin_expect({e}, 1)"),
        }
    }

    /// A value whose computation changes things, in an order that is known.
    pub fn effect(&mut self, depth: u32) -> String {
        if depth == 0 {
            let place = self.place(Want::Steady, 0);
            return match self.rng.below(6) {
                0 => format!("{place}++"),
                1 => format!("{place}--"),
                2 => format!("++{place}"),
                3 => format!("--{place}"),
                4 => format!("({place} = {})", self.expr(1)),
                _ => self.expr(1),
            };
        }
        let d = depth - 1;
        match self.rng.below(12) {
            0 => format!("({} && {})", self.effect(d), self.effect(d)),
            1 => format!("({} || {})", self.effect(d), self.effect(d)),
            2 => format!("({} ? {} : {})", self.effect(d), self.effect(d), self.effect(d)),
            3 | 4 => format!("({}, {})", self.effect(d), self.effect(d)),
            // What the right side changes is changed for good at its comma.
            5 | 6 => {
                let (place, first) = (self.place(Want::Steady, 0), self.effect(d));
                format!("({place} = ({first}, {}))", self.expr(1))
            }
            7 => {
                let op = self.rng.pick(&["+=", "-=", "*=", "&=", "|=", "^="]);
                format!("({} {op} {})", self.place(Want::Steady, 0), self.expr(d))
            }
            8 => self.call(false, d).unwrap_or_else(|| self.effect(d)),
            9 => format!(
                "{}({})",
                self.rng.pick(&["-", "~", "!", "(char)", "(unsigned)"]),
                self.effect(d)
            ),
            10 => {
                let op = self.rng.pick(&["+", "-", "<", ">", "^", "==", ">>"]);
                format!("({} {op} {})", self.effect(d), self.rng.below(30))
            }
            _ if self.has(Feature::Elvis) => format!("({} ?: {})", self.effect(d), self.effect(d)),
            _ => self.effect(d),
        }
    }
}
