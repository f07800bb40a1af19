//! Statements.

use super::Writer;
use super::place::{Object, Want};
use super::types::{INTS, Ty};

/// What a jump can leave from here.
#[derive(Clone, Default)]
pub struct Jumps {
    /// Whether `break` leaves something.
    pub can_break: bool,
    /// Whether `continue` continues with something.
    pub can_continue: bool,
    /// Labels further down.
    pub labels: Vec<String>,
}

impl Writer {
    /// A statement, in a block of its own.
    fn block(&mut self, depth: u32) {
        let outer = self.objects.len();
        self.level += 1;
        if self.rng.one_in(5) {
            self.declare_local();
        }
        for _ in 0..self.rng.between(1, 2) {
            self.statement(depth);
        }
        self.level -= 1;
        self.objects.truncate(outer);
    }

    /// A body that runs several times.
    fn repeated(&mut self, times: usize, depth: u32, jumps: Jumps) {
        let before = (self.times, std::mem::replace(&mut self.jumps, jumps));
        self.times *= times;
        self.block(depth);
        (self.times, self.jumps) = before;
    }

    /// Writes a random statement; compound ones nest at most `depth` levels.
    pub fn statement(&mut self, depth: u32) {
        self.work += self.times;
        match self.rng.below(if depth == 0 { 24 } else { 44 }) {
            0..=4 => self.assignment(),
            5..=7 => self.compound_assignment(),
            8 | 9 => {
                let op = self.rng.pick(&["++", "--"]);
                let place = self.place(Want::Write, 1);
                let text = if self.rng.one_in(2) {
                    format!("{place}{op};")
                } else {
                    format!("{op}{place};")
                };
                self.line(&text);
            }
            10..=12 => {
                let text = self.effect(2);
                self.line(&format!("{text};"));
            }
            13 | 14 => {
                let place = self.place(Want::Steady, 0);
                match self.call(false, 2) {
                    Some(call) => self.line(&format!("{place} = {call};")),
                    None => self.assignment(),
                }
            }
            15 | 16 => self.record_assignment(),
            17 => self.move_pointer(),
            18 | 19 => self.template_statement(),
            20 | 21 => self.jump(),
            22 | 23 => self.walk(),
            24..=29 => {
                let condition = if self.rng.one_in(3) { self.effect(2) } else { self.expr(2) };
                self.line(&format!("if ({condition}) {{"));
                self.block(depth - 1);
                if self.rng.one_in(2) {
                    self.line("} else {");
                    self.block(depth - 1);
                }
                self.line("}");
            }
            30..=35 => self.looping(depth),
            36..=38 => self.switch(depth),
            39 => self.duff(depth),
            40 => {
                let label = self.local("l");
                let condition = self.expr(2);
                self.line(&format!("if ({condition}) goto {label};"));
                self.line("{");
                self.block(depth - 1);
                self.line("}");
                self.line(&format!("{label}:;"));
            }
            41 => {
                let (label, n) = (self.local("l"), self.local("n"));
                self.line(&format!("{{ int {n} = 0;"));
                self.line(&format!("{label}: {{"));
                let jumps = self.jumps.clone();
                self.repeated(3, depth - 1, jumps);
                self.line("}");
                let condition = self.expr(2);
                self.line(&format!("if (++{n} < 3 && ({condition})) goto {label}; }}"));
            }
            _ => {
                self.line("{");
                self.block(depth - 1);
                self.line("}");
            }
        }
    }

    fn assignment(&mut self) {
        let place = self.place(Want::Write, 2);
        let value = self.expr(3);
        self.line(&format!("{place} = {value};"));
    }

    fn compound_assignment(&mut self) {
        let place = self.place(Want::Write, 1);
        let text = match self.rng.below(8) {
            0 => format!("{place} <<= ({}) & 7;", self.expr(1)),
            1 => format!("{place} >>= ({}) & 15;", self.expr(1)),
            2 => format!("{place} /= (unsigned char)({}) | 1;", self.expr(1)),
            3 => format!("{place} %= (({}) & 15) + 1;", self.expr(1)),
            _ => {
                let op = self.rng.pick(&["+=", "-=", "*=", "&=", "|=", "^="]);
                format!("{place} {op} {};", self.expr(2))
            }
        };
        self.line(&text);
    }

    fn record_assignment(&mut self) {
        if self.tagged.is_empty() {
            return self.assignment();
        }
        let r = self.rng.pick(&self.tagged);
        let ty = Ty::Record(r);
        let found = self.find(&ty, usize::MAX);
        if found.is_empty() {
            return self.assignment();
        }
        let to = found[self.rng.below(found.len())].clone();
        let from = found[self.rng.below(found.len())].clone();
        let value = match self.rng.below(3) {
            0 => self.call_of(&ty),
            1 if !self.has_union(&ty) => {
                let init = self.init(&ty, false, 3);
                Some(if init.starts_with('{') {
                    format!("({}){init}", self.spell(&ty))
                } else {
                    init
                })
            }
            _ => None,
        };
        let value = value.unwrap_or(from);
        self.line(&format!("{to} = {value};"));
    }

    fn move_pointer(&mut self) {
        let pointers: Vec<Object> = self
            .visible()
            .filter(|o| o.writable && o.pointable && matches!(o.ty, Ty::Pointer(_)))
            .cloned()
            .collect();
        if pointers.is_empty() {
            return self.assignment();
        }
        let pointer = &pointers[self.rng.below(pointers.len())];
        let Ty::Pointer(to) = &pointer.ty else { return };
        let (Some(a), Some(b)) = (self.address(to, pointer.level), self.address(to, pointer.level))
        else {
            return;
        };
        let name = &pointer.name;
        let text = match self.rng.below(3) {
            0 => format!("{name} = {a};"),
            1 => format!("{name} = ({}) ? {a} : {b};", self.expr(1)),
            _ => format!("if ({}) {name} = {a};", self.expr(1)),
        };
        self.line(&text);
    }

    fn jump(&mut self) {
        let condition = self.expr(2);
        let mut ways = vec![];
        if self.jumps.can_break {
            ways.push("break;".to_owned());
        }
        if self.jumps.can_continue {
            ways.push("continue;".to_owned());
        }
        ways.extend(self.jumps.labels.iter().map(|l| format!("goto {l};")));
        if self.result.is_some() && self.rng.one_in(3) {
            ways.push(format!("return {};", self.expr(1)));
        }
        if ways.is_empty() {
            return self.assignment();
        }
        let way = &ways[self.rng.below(ways.len())];
        self.line(&format!("if ({condition}) {way}"));
    }

    /// A loop over an array, by index or by pointer.
    fn walk(&mut self) {
        let scalars = |o: &&Object| {
            o.writable
                && o.pointable
                && matches!(&o.ty, Ty::Array(of, _) if matches!(**of, Ty::Int(_)))
        };
        let arrays: Vec<Object> = self.visible().filter(scalars).cloned().collect();
        if arrays.is_empty() {
            return self.compound_assignment();
        }
        let array = &arrays[self.rng.below(arrays.len())];
        let Ty::Array(of, n) = &array.ty else { return };
        let (name, element) = (&array.name, self.spell(of));
        let value = self.expr(1);
        self.work += self.times * n;
        let q = self.local("w");
        let op = self.rng.pick(&["=", "+=", "^=", "-="]);
        let text = match self.rng.below(5) {
            0 => format!(
                "for ({element} *{q} = {name}; {q} < {name} + {n}; {q}++) *{q} {op} {value};"
            ),
            1 => format!(
                "{{ {element} *{q} = {name}; while ({q} != &{name}[{n}]) *{q}++ {op} {value}; }}"
            ),
            2 => format!(
                "{{ {element} *{q} = {name} + {n}; do *--{q} {op} {value}; while ({q} > {name}); }}"
            ),
            3 => format!(
                "for (unsigned {q} = 0; {q} < {n}; {q}++) {name}[{q}] {op} {q} + ({value});"
            ),
            _ => format!("for (signed char {q} = {n}; {q}--;) {q}[{name}] {op} {q} * ({value});"),
        };
        self.line(&text);
    }

    fn looping(&mut self, depth: u32) {
        let n = self.rng.between(1, 4);
        let (i, label) = (self.local("i"), self.local("l"));
        let ty = self.rng.pick(&[1, 2, 3, 5, 5, 6, 7, 9, 10]);
        let int = INTS[ty].name;
        let mut jumps = self.jumps.clone();
        (jumps.can_break, jumps.can_continue) = (true, true);
        jumps.labels.push(label.clone());
        let counter = Object {
            writable: false,
            pointable: false,
            ..Object::new(&i, Ty::Int(ty), 1 + self.level)
        };
        let outer = self.objects.len();
        let kind = self.rng.below(6);
        let condition = self.expr(2);
        self.objects.push(counter);
        match kind {
            0 | 1 => self.line(&format!("for ({int} {i} = 0; {i} < {n}; {i}++) {{")),
            2 => self.line(&format!("for ({int} {i} = {n}; {i}-- > 0 && ({condition});) {{")),
            3 => self.line(&format!("{{ {int} {i} = 0; while ({i}++ < {n}) {{")),
            4 => {
                jumps.can_continue = false;
                self.line(&format!("{{ {int} {i} = 0; for (;;) {{ if ({i} >= {n}) break;"));
            }
            _ => self.line(&format!("{{ {int} {i} = 0; do {{")),
        }
        self.repeated(n, depth - 1, jumps);
        match kind {
            0..=2 => self.line("}"),
            3 => self.line("} }"),
            4 => self.line(&format!("{i}++; }} }}")),
            _ => self.line(&format!("}} while (++{i} < {n} && ({condition})); }}")),
        }
        self.objects.truncate(outer);
        self.line(&format!("{label}:;"));
    }

    fn switch(&mut self, depth: u32) {
        let mut values = vec![0i64, 1, 2, 3, 4, 5, 6, 7];
        let mut on = format!("({}) & 7", self.expr(2));
        if self.rng.one_in(3) {
            values = vec![0, 1, 2, -1, 255, 128, 65535, -2];
            let ty = self.scalar_ty();
            on = format!("({})({})", self.spell(&ty), self.expr(2));
        } else if self.rng.one_in(3) {
            on = format!("({}, {on})", self.effect(1));
        }
        self.line(&format!("switch ({on}) {{"));
        let jumps = Jumps { can_break: true, ..self.jumps.clone() };
        let before = std::mem::replace(&mut self.jumps, jumps);
        let arms = self.rng.between(1, 4);
        let default = self.rng.below(arms + 2);
        for arm in 0..arms {
            let at = self.rng.below(values.len());
            let value = values.remove(at);
            let next = values.iter().position(|v| *v == value + 1);
            let mut label = format!("case {value}:");
            if let Some(next) = next
                && self.rng.one_in(3)
            {
                values.remove(next);
                label = format!("case {value} ... {}:", value + 1);
            }
            if arm == default {
                label = if self.rng.one_in(2) {
                    format!("default: {label}")
                } else {
                    format!("{label} default:")
                };
            }
            self.line(&format!("{label} {{"));
            self.block(depth - 1);
            let end = if self.rng.below(3) > 0 { "} break;" } else { "}" };
            self.line(end);
        }
        self.line("}");
        self.jumps = before;
    }

    /// A loop that is entered in its middle.
    fn duff(&mut self, depth: u32) {
        let (n, on) = (self.local("n"), self.expr(2));
        let count = self.rng.between(1, 3);
        self.line(&format!("{{ int {n} = {count}; switch (({on}) & 3) {{ case 0: do {{"));
        let jumps = Jumps { can_break: true, can_continue: true, ..self.jumps.clone() };
        for label in ["", "case 3:", "case 1:", "default:"] {
            self.line(&format!("{label} {{"));
            self.repeated(count, depth.saturating_sub(2), jumps.clone());
            self.line("}");
        }
        self.line(&format!("}} while (--{n} > 0); }} }}"));
    }
}
