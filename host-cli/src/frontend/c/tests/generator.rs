//! Random C programs without undefined behaviour (given that signed arithmetic wraps) and without
//! expressions whose value depends on the order of evaluation.

use std::fmt::Write;

/// A small generator of random numbers.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Random {
        Random(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ 0x1234_5678_9abc_def1)
    }
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 11
    }
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
    pub fn pick<'a, T: ?Sized>(&mut self, list: &[&'a T]) -> &'a T {
        list[self.below(list.len() as u64) as usize]
    }
}

pub const TYPES: [&str; 9] = [
    "signed char",
    "unsigned char",
    "short",
    "unsigned short",
    "int",
    "unsigned",
    "long long",
    "unsigned long long",
    "_Bool",
];

/// A program under construction. All its names carry its number.
pub struct Program {
    r: Random,
    id: u64,
    /// Globals that are printed in the end.
    pub globals: Vec<String>,
    /// What can be read and written in the function at hand.
    scalars: Vec<String>,
    functions: usize,
    loops: usize,
    text: String,
}

impl Program {
    /// The program of a seed: its text, with an entry `run_ID`.
    pub fn generate(id: u64) -> (String, Vec<String>) {
        let mut p = Program {
            r: Random::new(id),
            id,
            globals: vec![],
            scalars: vec![],
            functions: 0,
            loops: 0,
            text: String::new(),
        };
        p.declarations();
        for _ in 0..2 {
            p.function();
        }
        p.entry();
        (p.text, p.globals)
    }

    fn declarations(&mut self) {
        let id = self.id;
        for i in 0..4 {
            let ty = self.r.pick(&TYPES);
            let value = self.constant();
            let _ = writeln!(self.text, "{ty} g{id}_{i} = ({ty})({value});");
            self.globals.push(format!("g{id}_{i}"));
        }
        let (ta, tb) = (self.r.pick(&TYPES), self.r.pick(&TYPES));
        let _ = writeln!(
            self.text,
            "{ta} a{id}[4] = {{ 1, 2 }};\n{tb} m{id}[2][4] = {{ {{ 1 }}, 3, 4, 5 }};"
        );
        let (tx, ty, tz) = (self.r.pick(&TYPES), self.r.pick(&TYPES), self.r.pick(&TYPES[..8]));
        let (wa, wb, wc) = (1 + self.r.below(20), 1 + self.r.below(31), 1 + self.r.below(8));
        let _ = writeln!(
            self.text,
            "struct s{id} {{ {tx} x; unsigned a : {wa}; int b : {wb}; signed char c : {wc}; \
             {ty} y[2]; struct {{ {tz} z; }}; }};\n\
             struct s{id} s{id} = {{ .y = {{ 1, 2 }}, .a = 1 }}, t{id}[2];\n\
             union {{ unsigned long long w; unsigned char b[8]; short h[4]; \
             struct {{ int lo, hi; }}; }} u{id};\n\
             int *p{id} = &u{id}.hi; struct s{id} *q{id} = &t{id}[1]; {ta} *e{id} = a{id} + 1;"
        );
        for i in 0..4 {
            self.globals.push(format!("a{id}[{i}]"));
            self.globals.push(format!("m{id}[1][{i}]"));
        }
        for part in ["x", "a", "b", "c", "y[0]", "y[1]", "z"] {
            self.globals.push(format!("s{id}.{part}"));
            self.globals.push(format!("t{id}[1].{part}"));
        }
        self.globals.push(format!("u{id}.w"));
    }

    fn constant(&mut self) -> String {
        let small = self.r.below(20) as i64 - 5;
        let large = self.r.next() as i64 as i32;
        match self.r.below(6) {
            0 => format!("{large}"),
            1 => format!("{}u", large as u32),
            2 => format!("{}LL", (self.r.next() << 8) as i64 >> 1),
            3 => format!("0x{:x}", self.r.below(70000)),
            _ => format!("{small}"),
        }
    }

    /// Something that can be read and written. Indices have no side effects.
    fn place(&mut self, depth: u32) -> String {
        let id = self.id;
        if !self.scalars.is_empty() && self.r.below(3) == 0 {
            let i = self.r.below(self.scalars.len() as u64) as usize;
            return self.scalars[i].clone();
        }
        let i = if depth == 0 { "1".into() } else { self.expr(depth - 1) };
        match self.r.below(16) {
            0..=4 => format!("g{id}_{}", self.r.below(4)),
            5 => format!("a{id}[({i}) & 3]"),
            6 => format!("m{id}[({i}) & 1][{}]", self.r.below(4)),
            7 => format!("s{id}.{}", self.r.pick(&["x", "a", "b", "c", "z"])),
            8 => format!("s{id}.y[({i}) & 1]"),
            9 => format!("t{id}[({i}) & 1].{}", self.r.pick(&["x", "a", "b", "c", "z"])),
            10 => format!("u{id}.b[({i}) & 7]"),
            11 => format!("u{id}.{}", self.r.pick(&["w", "lo", "hi", "h[2]", "h[1]"])),
            12 => format!("(*p{id})"),
            13 => format!("q{id}->{}", self.r.pick(&["x", "a", "b", "c", "z", "y[1]"])),
            14 => format!("e{id}[{}]", self.r.below(3) as i64 - 1),
            _ => format!("(*(a{id} + ((({i}) & 3))))"),
        }
    }

    /// A value; no side effects but behind sequence points.
    fn expr(&mut self, depth: u32) -> String {
        if depth == 0 {
            return match self.r.below(3) {
                0 => self.constant(),
                _ => self.place(0),
            };
        }
        let d = depth - 1;
        match self.r.below(22) {
            0..=2 => self.place(d),
            3 => format!("({})({})", self.r.pick(&TYPES), self.expr(d)),
            4 => format!("-({})", self.expr(d)),
            5 => format!("~({})", self.expr(d)),
            6 => format!("!({})", self.expr(d)),
            7 => format!("({} / (({}) | 1))", self.operand(d), self.expr(d)),
            8 => format!("({} % (({}) | 1))", self.operand(d), self.expr(d)),
            9 => format!("({} << (({}) & 7))", self.operand(d), self.expr(d)),
            10 => format!("({} >> (({}) & 15))", self.operand(d), self.expr(d)),
            11 => format!("({} ? {} : {})", self.operand(d), self.operand(d), self.operand(d)),
            12 => format!("({} && {})", self.operand(d), self.operand(d)),
            13 => format!("({} || {})", self.operand(d), self.operand(d)),
            14 => format!("sizeof(+{})", self.operand(d)),
            _ => {
                let op = self.r.pick(&[
                    "+", "-", "*", "&", "|", "^", "==", "!=", "<", "<=", ">", ">=", "+", "-",
                ]);
                format!("({} {op} {})", self.operand(d), self.operand(d))
            }
        }
    }

    fn operand(&mut self, depth: u32) -> String {
        format!("({})", self.expr(depth))
    }

    fn statement(&mut self, depth: u32, out: &mut String, calls: bool) {
        let e = self.expr(2);
        let place = self.place(1);
        let id = self.id;
        match self.r.below(if depth == 0 { 9 } else { 17 }) {
            0..=2 => {
                let _ = writeln!(out, "{place} = {e};");
            }
            3 => {
                let op = self.r.pick(&["+=", "-=", "*=", "&=", "|=", "^="]);
                let _ = writeln!(out, "{place} {op} {e};");
            }
            4 => {
                let op = self.r.pick(&["++", "--"]);
                let other = format!("g{id}_{}", self.r.below(4));
                let _ = match self.r.below(3) {
                    0 => writeln!(out, "{place}{op};"),
                    1 => writeln!(out, "({e}) && {op}{place};"),
                    _ => writeln!(out, "({e}) ? ({place}{op}, 1) : ({other} = {e});"),
                };
            }
            5 => {
                let _ = writeln!(out, "{place} {} (({e}) & 7);", self.r.pick(&["<<=", ">>="]));
            }
            6 if calls && self.functions > 0 => {
                let f = self.r.below(self.functions as u64);
                let (x, y) = (self.expr(1), self.expr(1));
                let _ = match self.r.below(3) {
                    0 => writeln!(out, "g{id}_1 = f{id}_{f}({x}, {y});"),
                    1 => writeln!(out, "if (({e}) || f{id}_{f}({x}, {y}) > 3) {place} = {e};"),
                    _ => writeln!(out, "g{id}_2 = (({e}) & 1) ? f{id}_{f}({x}, {y}) : ({y});"),
                };
            }
            6 | 7 => {
                let _ = match self.r.below(4) {
                    0 => writeln!(out, "t{id}[({e}) & 1] = s{id};"),
                    1 => writeln!(out, "s{id} = *q{id};"),
                    2 => writeln!(out, "q{id} = &t{id}[({e}) & 1];"),
                    _ => writeln!(out, "p{id} = ({e}) ? &u{id}.lo : &u{id}.hi;"),
                };
            }
            8 => {
                let _ = writeln!(out, "e{id} = &a{id}[1 + (({e}) & 1)];");
            }
            9..=11 => {
                let _ = writeln!(out, "if ({e}) {{");
                self.statement(depth - 1, out, calls);
                let _ = writeln!(out, "}} else {{");
                self.statement(depth - 1, out, calls);
                let _ = writeln!(out, "}}");
            }
            12 => {
                let l = self.loops;
                self.loops += 1;
                let n = 1 + self.r.below(4);
                let _ = writeln!(out, "for (int i{l} = 0; i{l} < {n}; i{l}++) {{");
                self.scalars.push(format!("g{id}_3"));
                self.statement(depth - 1, out, calls);
                if self.r.below(2) == 0 {
                    let _ = writeln!(out, "if ({e}) {};", self.r.pick(&["continue", "break"]));
                }
                self.statement(depth - 1, out, calls);
                self.scalars.pop();
                let _ = writeln!(out, "}}");
            }
            13 => {
                let l = self.loops;
                self.loops += 1;
                let _ = writeln!(out, "{{ int n{l} = 0; do {{");
                self.statement(depth - 1, out, calls);
                let _ = writeln!(out, "}} while (n{l}++ < 2 && ({e})); }}");
            }
            14 | 15 => {
                let _ = writeln!(out, "switch (({e}) & 7) {{ case 0:");
                self.statement(depth - 1, out, calls);
                let _ = writeln!(out, "case 1: case 5 ... 6:");
                self.statement(depth - 1, out, calls);
                let _ = writeln!(out, "break; default:");
                self.statement(depth - 1, out, calls);
                let _ = writeln!(out, "}}");
            }
            _ => {
                let l = self.loops;
                self.loops += 1;
                let _ = writeln!(out, "if ({e}) goto l{l};");
                self.statement(depth - 1, out, calls);
                let _ = writeln!(out, "l{l}:;");
            }
        }
    }

    fn function(&mut self) {
        let (id, n) = (self.id, self.functions);
        let (result, a, b) = (self.r.pick(&TYPES), self.r.pick(&TYPES), self.r.pick(&TYPES));
        let local = self.r.pick(&TYPES);
        self.scalars = ["a", "b", "v"].map(String::from).to_vec();
        let mut body = String::new();
        let start = self.expr(1).replace('v', "a");
        for _ in 0..3 {
            self.statement(2, &mut body, n > 0);
        }
        let value = self.expr(2);
        let _ = writeln!(
            self.text,
            "{result} f{id}_{n}({a} a, {b} b) {{ static int calls; {local} v = {start};\n{body}\
             calls++; return {value} + calls; }}"
        );
        self.functions += 1;
        self.scalars.clear();
    }

    fn entry(&mut self) {
        let id = self.id;
        let mut body = String::new();
        for _ in 0..6 {
            self.statement(3, &mut body, true);
        }
        let _ = writeln!(self.text, "void run_{id}(void) {{\n{body}}}");
    }
}
