//! The file's contents, checked: every literal is within the header's bounds and means one thing.

use super::super::Diagnostic;
use vouch_ir::Span;

/// A one-bit state element: holds `reset` first, then `next` of the step before.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Latch {
    /// Variable that its value is; half of the positive literal.
    pub variable: u32,
    /// Literal of its next value.
    pub next: u32,
    /// Its first value; `None` is any.
    pub reset: Option<bool>,
    /// From the symbol table.
    pub name: Option<String>,
}

/// An AND gate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct And {
    /// Variable that the gate defines; half of the positive literal.
    pub variable: u32,
    /// Literals of its operands.
    pub operands: [u32; 2],
    /// Where it is.
    pub span: Span,
}

/// A property: literal, place, name.
pub type Bad = (u32, Span, Option<String>);

/// A circuit. Literals are twice the variable, plus one if negated; variable 0 is false.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Aig {
    /// Number of variables, the constant included.
    pub variables: usize,
    /// Variables and names of the inputs.
    pub inputs: Vec<(u32, Option<String>)>,
    /// State elements, in the file's order.
    pub latches: Vec<Latch>,
    /// The gates, in the file's order.
    pub ands: Vec<And>,
    /// Output literals; they are the properties of a file without bad states.
    pub outputs: Vec<Bad>,
    /// The bad states.
    pub bads: Vec<Bad>,
    /// Literals that are assumed in every step.
    pub constraints: Vec<u32>,
    /// Where liveness is declared, if it is.
    pub liveness: Option<Span>,
}

type Result<T> = std::result::Result<T, Box<Diagnostic>>;

fn fail<T>(message: impl Into<String>, span: Span, label: impl Into<String>) -> Result<T> {
    Err(Box::new(Diagnostic::error(message, span, label)))
}

/// What defines a variable.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Definition {
    None,
    Leaf,
    And(u32),
}

impl Aig {
    /// What is to be proved: the bad states, or the outputs of a file that has none.
    pub fn properties(&self) -> &[Bad] {
        if self.bads.is_empty() { &self.outputs } else { &self.bads }
    }

    fn definitions(&self) -> Result<Vec<Definition>> {
        let mut defined = vec![Definition::None; self.variables];
        let leaves = self.inputs.iter().map(|i| i.0).chain(self.latches.iter().map(|l| l.variable));
        let leaves = [0].into_iter().chain(leaves).map(|v| (v, Definition::Leaf, Span::default()));
        let gates = self.ands.iter().enumerate();
        let gates = gates.map(|(i, and)| (and.variable, Definition::And(i as u32), and.span));
        for (variable, definition, span) in leaves.chain(gates) {
            let place = &mut defined[variable as usize];
            if *place != Definition::None {
                let lit = 2 * variable;
                return fail(format!("literal {lit} is defined twice"), span, "defined again");
            }
            *place = definition;
        }
        Ok(defined)
    }

    /// The gates in an order in which operands come first. Fails if a literal that is used anywhere is
    /// not defined, or a gate depends on itself.
    pub fn order(&self) -> Result<Vec<u32>> {
        let defined = self.definitions()?;
        let undefined = |lit: u32, span: Span| {
            let message = format!("literal {lit} is used but not defined");
            Box::new(Diagnostic::error(message, span, "neither input, latch nor gate"))
        };
        let used = (self.latches.iter().map(|l| (l.next, Span::default())))
            .chain(self.constraints.iter().map(|c| (*c, Span::default())))
            .chain(self.outputs.iter().chain(&self.bads).map(|b| (b.0, b.1)));
        for (lit, span) in used {
            if defined[lit as usize / 2] == Definition::None {
                return Err(undefined(lit, span));
            }
        }
        #[derive(Clone, Copy, PartialEq)]
        enum Mark {
            New,
            Open,
            Done,
        }
        let mut marks = vec![Mark::New; self.ands.len()];
        let mut order = Vec::with_capacity(self.ands.len());
        let mut stack = vec![];
        for start in 0..self.ands.len() as u32 {
            stack.push(start);
            while let Some(&at) = stack.last() {
                vouch_ir::deadline::tick();
                let and = &self.ands[at as usize];
                match marks[at as usize] {
                    Mark::Done => {
                        stack.pop();
                    }
                    Mark::Open => {
                        marks[at as usize] = Mark::Done;
                        order.push(at);
                        stack.pop();
                    }
                    Mark::New => {
                        marks[at as usize] = Mark::Open;
                        for lit in and.operands {
                            match defined[lit as usize / 2] {
                                Definition::None => return Err(undefined(lit, and.span)),
                                Definition::Leaf => {}
                                Definition::And(other) => match marks[other as usize] {
                                    Mark::New => stack.push(other),
                                    Mark::Done => {}
                                    Mark::Open => {
                                        let lit = 2 * and.variable;
                                        let message = format!("gate {lit} depends on itself");
                                        return fail(message, and.span, "part of a cycle");
                                    }
                                },
                            }
                        }
                    }
                }
            }
        }
        Ok(order)
    }
}

/// Reads a file.
pub fn parse(bytes: &[u8]) -> Result<Aig> {
    if u32::try_from(bytes.len()).is_err() {
        return fail("the file has more than 4 GiB", Span::default(), "");
    }
    Reader { bytes, at: 0, bound: 0 }.file()
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    /// One more than the largest literal.
    bound: u64,
}

/// What the header announces.
#[derive(Default)]
struct Header {
    binary: bool,
    counts: [u64; 9],
    span: Span,
}

impl Reader<'_> {
    fn span(&self, from: usize) -> Span {
        Span { start: from as u32, end: self.at.max(from + 1).min(self.bytes.len()) as u32 }
    }
    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }
    fn skip_blanks(&mut self) {
        while self.peek() == Some(b' ') {
            self.at += 1;
        }
    }

    /// An unsigned number.
    fn number(&mut self, what: &str) -> Result<u64> {
        self.skip_blanks();
        let from = self.at;
        let mut value: u64 = 0;
        while let Some(digit @ b'0'..=b'9') = self.peek() {
            self.at += 1;
            let more = value.checked_mul(10).and_then(|v| v.checked_add((digit - b'0').into()));
            let Some(more) = more else {
                return fail("the number is too large", self.span(from), what);
            };
            value = more;
        }
        if self.at == from {
            let found = match self.peek() {
                None => "the end of the file".to_string(),
                Some(b'\n' | b'\r') => "the end of the line".into(),
                Some(c) => format!("`{}`", (c as char).escape_default()),
            };
            return fail(format!("expected {what}, found {found}"), self.span(from), "here");
        }
        Ok(value)
    }

    /// The end of a line.
    fn newline(&mut self) -> Result<()> {
        self.skip_blanks();
        if self.peek() == Some(b'\r') {
            self.at += 1;
        }
        match self.peek() {
            Some(b'\n') => self.at += 1,
            None => {}
            Some(_) => {
                return fail(
                    "expected the end of the line",
                    self.span(self.at),
                    "this is too much",
                );
            }
        }
        Ok(())
    }

    fn at_line_end(&mut self) -> bool {
        self.skip_blanks();
        matches!(self.peek(), None | Some(b'\n' | b'\r'))
    }

    /// A literal within the header's bounds.
    fn literal(&mut self, what: &str) -> Result<u32> {
        self.skip_blanks();
        let from = self.at;
        let lit = self.number(what)?;
        if lit >= self.bound {
            let most = self.bound - 1;
            let message = format!("literal {lit} is larger than the header's {most}");
            return fail(message, self.span(from), what);
        }
        Ok(lit as u32)
    }

    /// A literal that names a variable of its own.
    fn variable(&mut self, what: &str) -> Result<u32> {
        self.skip_blanks();
        let from = self.at;
        let lit = self.literal(what)?;
        if lit < 2 || lit & 1 == 1 {
            let message = format!("literal {lit} cannot be defined");
            return fail(message, self.span(from), format!("{what}: an even number from 2"));
        }
        Ok(lit / 2)
    }

    fn header(&mut self) -> Result<Header> {
        let binary = self.bytes.starts_with(b"aig ");
        if !binary && !self.bytes.starts_with(b"aag ") {
            let span = Span { start: 0, end: self.bytes.len().min(3) as u32 };
            let error =
                Diagnostic::error("this is not an AIGER file", span, "expected `aag` or `aig`");
            return Err(Box::new(
                error.help("the first line reads `aag M I L O A` or `aig M I L O A`"),
            ));
        }
        self.at = 4;
        const NAMES: [&str; 9] = [
            "the largest variable",
            "the number of inputs",
            "the number of latches",
            "the number of outputs",
            "the number of gates",
            "the number of bad states",
            "the number of constraints",
            "the number of justice properties",
            "the number of fairness constraints",
        ];
        let mut header = Header { binary, ..Header::default() };
        for (i, name) in NAMES.iter().enumerate() {
            if i >= 5 && self.at_line_end() {
                break;
            }
            let from = self.at;
            header.counts[i] = self.number(name)?;
            // A variable takes bytes in an ascii file, and gates do in a binary one.
            if header.counts[i] > u32::MAX as u64 / 4 {
                return fail("the circuit is too large", self.span(from), *name);
            }
        }
        header.span = self.span(0);
        self.newline()?;
        let [most, inputs, latches, _, ands, ..] = header.counts;
        if most < inputs + latches + ands || binary && most != inputs + latches + ands {
            let sum = inputs + latches + ands;
            let message = format!("{inputs} inputs, {latches} latches and {ands} gates are {sum}");
            return fail(message, header.span, format!("but the largest variable is {most}"));
        }
        // All but the inputs of a binary file are spelled out, with two bytes at least.
        let implied = if binary { inputs } else { 0 };
        let spelled: u64 = header.counts[1..].iter().sum::<u64>() - implied;
        if spelled > self.bytes.len() as u64 {
            return fail("the file ends before what its header announces", header.span, "here");
        }
        self.bound = 2 * most + 2;
        Ok(header)
    }

    fn file(mut self) -> Result<Aig> {
        let header = self.header()?;
        let [most, inputs, latches, outputs, ands, bads, constraints, justice, fairness] =
            header.counts;
        // Unused variables cost memory only if there can be any.
        if !header.binary && most > 16 * self.bytes.len() as u64 {
            return fail("the largest variable is far larger than the file", header.span, "here");
        }
        if header.binary && inputs > 1 << 26 {
            return fail("the circuit has too many inputs", header.span, "here");
        }
        let mut aig = Aig { variables: most as usize + 1, ..Aig::default() };
        for i in 0..inputs {
            let variable = match header.binary {
                true => i as u32 + 1,
                false => {
                    let variable = self.variable("an input")?;
                    self.newline()?;
                    variable
                }
            };
            aig.inputs.push((variable, None));
        }
        for i in 0..latches {
            let latch = self.latch(header.binary.then_some((inputs + i + 1) as u32))?;
            aig.latches.push(latch);
        }
        aig.outputs = self.list(outputs, "an output")?;
        aig.bads = self.list(bads, "a bad state")?;
        aig.constraints =
            self.list(constraints, "a constraint")?.into_iter().map(|c| c.0).collect();
        self.liveness(justice, fairness, &mut aig)?;
        let first = inputs + latches + 1;
        for i in 0..ands {
            let and = match header.binary {
                true => self.binary_and((first + i) as u32)?,
                false => self.ascii_and()?,
            };
            aig.ands.push(and);
        }
        self.symbols(&mut aig)?;
        Ok(aig)
    }

    fn latch(&mut self, implied: Option<u32>) -> Result<Latch> {
        let variable = match implied {
            Some(variable) => variable,
            None => self.variable("a latch")?,
        };
        let next = self.literal("the latch's next value")?;
        let mut reset = Some(false);
        if !self.at_line_end() {
            let from = self.at;
            reset = match self.literal("the latch's reset")? {
                0 => Some(false),
                1 => Some(true),
                lit if lit == 2 * variable => None,
                lit => {
                    let label = format!("expected 0, 1, or {} for any value", 2 * variable);
                    let message = format!("a latch cannot be reset to literal {lit}");
                    return fail(message, self.span(from), label);
                }
            };
        }
        self.newline()?;
        Ok(Latch { variable, next, reset, name: None })
    }

    fn list(&mut self, count: u64, what: &str) -> Result<Vec<Bad>> {
        let mut list = vec![];
        for _ in 0..count {
            let from = self.at;
            let lit = self.literal(what)?;
            list.push((lit, self.span(from), None));
            self.newline()?;
        }
        Ok(list)
    }

    /// Reads over justice and fairness, so that what follows is understood.
    fn liveness(&mut self, justice: u64, fairness: u64, aig: &mut Aig) -> Result<()> {
        let from = self.at;
        let mut sizes = 0u64;
        for _ in 0..justice {
            sizes = sizes.saturating_add(self.number("the size of a justice property")?);
            self.newline()?;
        }
        for _ in 0..sizes.saturating_add(fairness) {
            self.literal("a fairness constraint")?;
            self.newline()?;
        }
        if justice + fairness > 0 {
            aig.liveness = Some(self.span(from));
        }
        Ok(())
    }

    fn ascii_and(&mut self) -> Result<And> {
        let from = self.at;
        let variable = self.variable("a gate")?;
        let operands = [self.literal("an operand")?, self.literal("an operand")?];
        let span = self.span(from);
        self.newline()?;
        Ok(And { variable, operands, span })
    }

    fn binary_and(&mut self, variable: u32) -> Result<And> {
        let from = self.at;
        let mut below = 2 * variable;
        let mut operands = [0; 2];
        for operand in &mut operands {
            let delta = self.delta()?;
            let lit = u32::try_from(delta).ok().and_then(|delta| below.checked_sub(delta));
            let Some(lit) = lit.filter(|lit| lit / 2 < variable) else {
                let message = format!("gate {} has an operand that is not before it", 2 * variable);
                return fail(message, self.span(from), "here");
            };
            *operand = lit;
            below = lit;
        }
        Ok(And { variable, operands, span: self.span(from) })
    }

    /// A difference: seven bits a byte, the lowest first.
    fn delta(&mut self) -> Result<u64> {
        let from = self.at;
        let mut value = 0;
        for shift in (0..35).step_by(7) {
            let Some(byte) = self.peek() else {
                return fail("the file ends within its gates", self.span(from), "here");
            };
            self.at += 1;
            value |= ((byte & 0x7f) as u64) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        fail("a gate's difference is too large", self.span(from), "here")
    }

    /// The symbol table, up to the comments.
    fn symbols(&mut self, aig: &mut Aig) -> Result<()> {
        while let Some(kind) = self.peek() {
            let from = self.at;
            self.at += 1;
            if kind == b'c' && matches!(self.peek(), None | Some(b'\n' | b'\r')) {
                return Ok(());
            }
            if matches!(kind, b'\n' | b'\r') {
                continue;
            }
            if !b"ilobcjf".contains(&kind) {
                return fail("expected a symbol or a comment", self.span(from), "here");
            }
            let index = self.number("the number of what is named")? as usize;
            self.skip_blanks();
            let rest = &self.bytes[self.at..];
            let length = rest.iter().position(|b| *b == b'\n').unwrap_or(rest.len());
            let name = String::from_utf8_lossy(&rest[..length]).trim_end().to_string();
            self.at += length;
            let span = self.span(from);
            self.newline()?;
            let name = (!name.is_empty()).then_some(name);
            let place = match kind {
                b'i' => aig.inputs.get_mut(index).map(|i| &mut i.1),
                b'l' => aig.latches.get_mut(index).map(|l| &mut l.name),
                b'o' => aig.outputs.get_mut(index).map(|o| &mut o.2),
                b'b' => aig.bads.get_mut(index).map(|b| &mut b.2),
                _ => continue,
            };
            match place {
                Some(place) => *place = name,
                None => {
                    let message = format!("there is no {}{index} to name", kind as char);
                    return fail(message, span, "this symbol");
                }
            }
        }
        Ok(())
    }
}
