//! From lines to a circuit.

use super::line::{Line, Token};
use super::number::{self, NumberError};
use super::reset::Resets;
use super::value::{Sort, Value};
use super::wide::{Wide, Words, layout};
use super::{Result1, fail, operator};
use crate::Diagnostic;
use crate::circuit::Circuit;
use std::collections::{HashMap, HashSet};
use vouch_ir::{ExprId, Input, InputId, Span, Type, Var, VarId, VarKind};

/// The widest vector. Wider ones would not be multiplied or divided in reasonable time anyway.
pub const MAX_WIDTH: u32 = 1 << 16;
/// The most bits of an array: every element becomes a variable.
const MAX_ARRAY_BITS: u64 = 1 << 17;
/// The most operations on words for all products and quotients of vectors wider than a word. A few lines
/// could ask for any number of them.
const MAX_WIDE_WORK: u64 = 4 << 20;
/// The most elements of an array.
const MAX_INDEX: u32 = 13;

/// An input or state of the file, in the automaton's terms: for each element (one, if it is not an array)
/// the variables or inputs that make it up, the lowest first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Node {
    /// Its number in the file.
    pub id: u64,
    /// Its name, if it has one.
    pub symbol: Option<String>,
    /// Width of an index, if it is an array.
    pub index: Option<u32>,
    /// The variables of a state.
    pub vars: Vec<Vec<VarId>>,
    /// What the environment chooses: the inputs of an input, or of a state without `next`. If there
    /// are variables too, those have what was chosen in the step before.
    pub inputs: Vec<Vec<InputId>>,
}

/// The inputs and states of a file, each in the file's order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Nodes {
    /// Nodes of the `input` lines.
    pub inputs: Vec<Node>,
    /// Nodes of the `state` lines.
    pub states: Vec<Node>,
    /// The numbers of the bad states' lines.
    pub bads: Vec<u64>,
}

struct Builder<'a> {
    circuit: Circuit,
    nodes: Nodes,
    sorts: HashMap<u64, Sort>,
    values: HashMap<u64, Value>,
    /// Where in `nodes.states` the state of this line is.
    states: HashMap<u64, usize>,
    /// States with a `next`, and with an `init`.
    stepped: HashSet<&'a str>,
    initialised: HashSet<&'a str>,
    /// Whether some `init` may depend on other states.
    dependent: bool,
    resets: Resets,
    /// Operations of wide products and quotients so far.
    wide_work: u64,
}

/// Reads the lines.
pub fn build(lines: &[Line], model: &str) -> Result1<(Circuit, Nodes)> {
    let mut builder = Builder {
        circuit: Circuit::new(model),
        nodes: Nodes::default(),
        sorts: HashMap::new(),
        values: HashMap::new(),
        states: HashMap::new(),
        stepped: HashSet::new(),
        initialised: HashSet::new(),
        dependent: false,
        resets: Resets::default(),
        wide_work: 0,
    };
    builder.survey(lines);
    let mut before = 0;
    for line in lines {
        if line.id <= before {
            let message = "the numbers of the lines must ascend";
            return fail(message, line.span, format!("the line before has {before}"));
        }
        before = line.id;
        builder.line(line)?;
    }
    builder.finish()
}

fn is_constant(tag: &str) -> bool {
    matches!(tag, "const" | "constd" | "consth" | "zero" | "one" | "ones")
}

impl<'a> Builder<'a> {
    /// What must be known of a state when it is declared.
    fn survey(&mut self, lines: &[Line<'a>]) {
        let constants: HashSet<u64> =
            lines.iter().filter(|l| is_constant(l.tag.text)).map(|l| l.id).collect();
        for line in lines {
            let Some(state) = line.words.get(1) else { continue };
            match line.tag.text {
                "next" => {
                    self.stepped.insert(state.text);
                }
                "init" => {
                    self.initialised.insert(state.text);
                    let value = line.words.get(2).and_then(|w| w.text.parse().ok());
                    self.dependent |= value.is_none_or(|v: u64| !constants.contains(&v));
                }
                _ => {}
            }
        }
    }

    fn words(&mut self) -> Words<'_> {
        Words(&mut self.circuit.cfa.pool)
    }

    fn sort(&self, line: &Line, at: usize) -> Result1<Sort> {
        let id = line.number(at, "the number of a sort")?;
        let known = self.sorts.get(&id).copied();
        known.map_or_else(|| fail(format!("{id} is not a sort"), line.words[at].span, "here"), Ok)
    }

    fn vector_sort(&self, line: &Line, at: usize) -> Result1<u32> {
        match self.sort(line, at)? {
            Sort::Vector(width) => Ok(width),
            Sort::Array { .. } => fail("a vector is expected", line.words[at].span, "an array"),
        }
    }

    /// The value of a node, which may be negated.
    fn value(&mut self, word: Token) -> Result1<Value> {
        let (negated, digits) = match word.text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, word.text),
        };
        let known = digits.parse().ok().and_then(|id: u64| self.values.get(&id).cloned());
        match known {
            Some(Value::Vector(x)) if negated => Ok(Value::Vector(self.words().not(&x))),
            Some(Value::Array(_)) if negated => fail("an array cannot be negated", word.span, ""),
            Some(value) => Ok(value),
            None => fail(
                format!("{} is not a value that was defined before", word.text),
                word.span,
                "here",
            ),
        }
    }

    /// A truth value.
    fn condition(&mut self, line: &Line) -> Result1<ExprId> {
        let word = line.word(0, "the number of a node")?;
        match self.value(word)? {
            Value::Vector(x) if self.words().width(&x) == 1 => Ok(x.0[0]),
            _ => fail("a value of one bit is expected", word.span, "this has more"),
        }
    }

    fn line(&mut self, line: &Line<'a>) -> Result1<()> {
        match line.tag.text {
            "sort" => self.declare_sort(line),
            "input" => self.input(line),
            "state" => self.state(line),
            "init" => self.init(line),
            "next" => self.next(line),
            "bad" => {
                let bad = self.condition(line)?;
                let index = self.circuit.bads.len();
                let name = line.symbol(1).unwrap_or_else(|| format!("bad{index}"));
                self.circuit.bads.push((name, bad, line.span));
                self.nodes.bads.push(line.id);
                Ok(())
            }
            "constraint" => {
                let constraint = self.condition(line)?;
                self.circuit.constraints.push(constraint);
                Ok(())
            }
            "output" => Ok(()),
            "fair" | "justice" => {
                let message = "liveness properties cannot be checked";
                let error = Diagnostic::error(message, line.span, "liveness is declared here");
                Err(Box::new(error.help("vouch decides what is never reached: state it as `bad`")))
            }
            tag if is_constant(tag) => self.constant(line),
            _ => self.operation(line),
        }
    }

    fn declare_sort(&mut self, line: &Line) -> Result1<()> {
        let kind = line.word(0, "`bitvec` or `array`")?;
        let sort = match kind.text {
            "bitvec" => match line.number(1, "the width")? {
                0 => return fail("a vector has at least one bit", line.span, "here"),
                width if width > MAX_WIDTH.into() => {
                    let message = format!("a vector of {width} bits is too wide");
                    return fail(message, line.span, format!("at most {MAX_WIDTH} are possible"));
                }
                width => Sort::Vector(width as u32),
            },
            "array" => {
                let (index, element) = (self.vector_sort(line, 1)?, self.vector_sort(line, 2)?);
                Sort::Array { index, element }
            }
            _ => return fail("expected `bitvec` or `array`", kind.span, "this is not a sort"),
        };
        self.sorts.insert(line.id, sort);
        Ok(())
    }

    /// The width of an element and their number, if so many are possible.
    fn shape(&self, sort: Sort, span: Span) -> Result1<(u32, usize)> {
        match sort {
            Sort::Vector(width) => Ok((width, 1)),
            Sort::Array { index, element } => {
                let bits = 1u64.checked_shl(index).map(|n| n.saturating_mul(element.into()));
                if index > MAX_INDEX || bits.is_none_or(|bits| bits > MAX_ARRAY_BITS) {
                    let message = format!("an array of 2^{index} × {element} bits is too large");
                    let error = Diagnostic::error(message, span, "declared here");
                    let help = format!(
                        "every element becomes a variable: at most 2^{MAX_INDEX} elements and \
                         {MAX_ARRAY_BITS} bits are possible; abstract the memory, or make it smaller"
                    );
                    return Err(Box::new(error.help(help)));
                }
                Ok((element, 1 << index))
            }
        }
    }

    /// Names for the parts of something.
    fn parts(name: &str, sort: Sort, width: u32, count: usize) -> Vec<Vec<(String, u32)>> {
        let limbs = layout(width);
        (0..count)
            .map(|at| {
                let name = match sort {
                    Sort::Vector(_) => name.to_string(),
                    Sort::Array { .. } => format!("{name}[{at}]"),
                };
                let mut low = 0;
                let part = |size: &u32| {
                    let part = match limbs.len() {
                        1 => name.clone(),
                        _ => format!("{name}[{}:{low}]", low + size - 1),
                    };
                    low += size;
                    (part, *size)
                };
                limbs.iter().map(part).collect()
            })
            .collect()
    }

    fn add_inputs(&mut self, parts: &[Vec<(String, u32)>]) -> Vec<Vec<InputId>> {
        let mut add = |(name, width): &(String, u32)| {
            let ty = if *width == 1 { Type::Bool } else { Type::Unsigned };
            self.circuit.cfa.add_input(Input { name: name.clone(), width: *width, ty })
        };
        parts.iter().map(|limbs| limbs.iter().map(&mut add).collect()).collect()
    }

    fn add_vars(&mut self, parts: &[Vec<(String, u32)>]) -> Vec<Vec<VarId>> {
        let mut add = |(name, width): &(String, u32)| {
            let ty = if *width == 1 { Type::Bool } else { Type::Unsigned };
            let var = Var { name: name.clone(), width: *width, ty, kind: VarKind::State };
            self.circuit.cfa.add_var(var)
        };
        parts.iter().map(|limbs| limbs.iter().map(&mut add).collect()).collect()
    }

    fn gather(sort: Sort, mut elements: Vec<Wide>) -> Value {
        match sort {
            Sort::Vector(_) => Value::Vector(elements.swap_remove(0)),
            Sort::Array { .. } => Value::Array(elements),
        }
    }

    fn sampled(&mut self, inputs: &[Vec<InputId>]) -> Vec<Wide> {
        let cfa = &mut self.circuit.cfa;
        inputs.iter().map(|limbs| Wide(limbs.iter().map(|i| cfa.sample(*i)).collect())).collect()
    }

    fn input(&mut self, line: &Line) -> Result1<()> {
        let sort = self.sort(line, 0)?;
        let (width, count) = self.shape(sort, line.span)?;
        let symbol = line.symbol(1);
        let name = symbol.clone().unwrap_or_else(|| format!("input{}", line.id));
        let inputs = self.add_inputs(&Self::parts(&name, sort, width, count));
        let value = Self::gather(sort, self.sampled(&inputs));
        self.values.insert(line.id, value);
        let index = index_width(sort);
        self.nodes.inputs.push(Node { id: line.id, symbol, index, vars: vec![], inputs });
        Ok(())
    }

    fn state(&mut self, line: &Line) -> Result1<()> {
        let sort = self.sort(line, 0)?;
        let (width, count) = self.shape(sort, line.span)?;
        let symbol = line.symbol(1);
        let name = symbol.clone().unwrap_or_else(|| format!("state{}", line.id));
        let parts = Self::parts(&name, sort, width, count);
        let id = line.id.to_string();
        let stepped = self.stepped.contains(id.as_str());
        // What is free in every step is an input, unless its first value matters elsewhere.
        let is_input = !stepped && !self.initialised.contains(id.as_str()) && !self.dependent;
        let vars = if is_input { vec![] } else { self.add_vars(&parts) };
        let inputs = if stepped { vec![] } else { self.add_inputs(&parts) };
        let elements = match is_input {
            true => self.sampled(&inputs),
            false => {
                let cfa = &mut self.circuit.cfa;
                let read = |limbs: &Vec<VarId>| limbs.iter().map(|v| cfa.read(*v)).collect();
                vars.iter().map(read).map(Wide).collect()
            }
        };
        if !is_input {
            let fresh = self.sampled(&inputs);
            for (vars, value) in vars.iter().zip(fresh) {
                self.circuit.nexts.extend(vars.iter().copied().zip(value.0));
            }
        }
        self.values.insert(line.id, Self::gather(sort, elements));
        self.states.insert(line.id, self.nodes.states.len());
        let index = index_width(sort);
        self.nodes.states.push(Node { id: line.id, symbol, index, vars, inputs });
        Ok(())
    }

    /// The state that `init` or `next` is about, and the value for it.
    fn assignment(&mut self, line: &Line) -> Result1<(usize, Value)> {
        let sort = self.sort(line, 0)?;
        let state = line.number(1, "the number of a state")?;
        let Some(&at) = self.states.get(&state) else {
            return fail(format!("{state} is not a state"), line.words[1].span, "here");
        };
        let value = self.value(line.word(2, "the number of a node")?)?;
        let declared = self.values.get(&state).map(|v| Words(&mut self.circuit.cfa.pool).sort(v));
        if declared != Some(sort) {
            return fail("the state has another sort", line.span, "ill-sorted");
        }
        let found = self.words().sort(&value);
        let spread = match (sort, found) {
            (Sort::Array { element, .. }, Sort::Vector(width)) => element == width,
            _ => false,
        };
        if found == sort {
            return Ok((at, value));
        }
        if line.tag.text == "init"
            && spread
            && let Value::Vector(x) = value
        {
            let count = self.nodes.states[at].vars.len();
            return Ok((at, Value::Array(vec![x; count])));
        }
        fail("the value has another sort than the state", line.span, "ill-sorted")
    }

    fn pairs(&self, at: usize, value: Value) -> Vec<(VarId, ExprId)> {
        let elements = match value {
            Value::Vector(x) => vec![x],
            Value::Array(elements) => elements,
        };
        let vars = self.nodes.states[at].vars.iter();
        vars.zip(elements).flat_map(|(v, x)| v.iter().copied().zip(x.0)).collect()
    }

    fn init(&mut self, line: &Line) -> Result1<()> {
        let (at, value) = self.assignment(line)?;
        for (var, value) in self.pairs(at, value) {
            if !self.resets.insert(var, value, line.span) {
                return fail("the state is initialised twice", line.span, "again here");
            }
        }
        Ok(())
    }

    fn next(&mut self, line: &Line) -> Result1<()> {
        let (at, value) = self.assignment(line)?;
        if !self.stepped.remove(line.words[1].text) {
            return fail("the state has two next values", line.span, "again here");
        }
        let pairs = self.pairs(at, value);
        self.circuit.nexts.extend(pairs);
        Ok(())
    }

    fn constant(&mut self, line: &Line) -> Result1<()> {
        let width = self.vector_sort(line, 0)?;
        let digits = |base: u32| {
            let word = line.word(1, "a number")?;
            number::bits(word.text, base, width as usize).map_err(|e| {
                let (message, label) = match e {
                    NumberError::Digit => ("expected a number", format!("in base {base}")),
                    NumberError::Width => {
                        ("the number does not fit its sort", format!("of {width} bits"))
                    }
                };
                Box::new(Diagnostic::error(message, word.span, label))
            })
        };
        let bits = match line.tag.text {
            "zero" => vec![false; width as usize],
            "ones" => vec![true; width as usize],
            "one" => (0..width).map(|i| i == 0).collect(),
            "const" => digits(2)?,
            "constd" => digits(10)?,
            _ => digits(16)?,
        };
        let value = self.words().constant(&bits);
        self.values.insert(line.id, Value::Vector(value));
        Ok(())
    }

    fn operation(&mut self, line: &Line) -> Result1<()> {
        let tag = line.tag.text;
        let Some(arity) = operator::arity(tag) else {
            return fail(format!("unknown keyword `{tag}`"), line.tag.span, "not of BTOR2");
        };
        let sort = self.sort(line, 0)?;
        let mut operands = Vec::with_capacity(arity);
        for at in 1..=arity {
            let word = line.word(at, "the number of a node")?;
            operands.push(self.value(word)?);
        }
        let mut words = Words(&mut self.circuit.cfa.pool);
        self.wide_work = self.wide_work.saturating_add(operator::wide_work(&words, tag, &operands));
        if self.wide_work > MAX_WIDE_WORK {
            let message = format!("`{tag}` of vectors this wide takes too many operations");
            let label = format!("more than {MAX_WIDE_WORK}, with those of the lines before");
            let error = Diagnostic::error(message, line.span, label);
            let help = "make the vectors narrower, or abstract the operation";
            return Err(Box::new(error.help(help)));
        }
        let value = operator::apply(&mut words, line, &operands)?;
        let found = words.sort(&value);
        if found != sort {
            let label = format!("the result is a {}", describe(found));
            return fail(format!("the line says {}", describe(sort)), line.span, label);
        }
        self.values.insert(line.id, value);
        Ok(())
    }

    fn finish(mut self) -> Result1<(Circuit, Nodes)> {
        self.circuit.resets = self.resets.resolve(&mut self.circuit.cfa.pool)?;
        Ok((self.circuit, self.nodes))
    }
}

fn index_width(sort: Sort) -> Option<u32> {
    match sort {
        Sort::Vector(_) => None,
        Sort::Array { index, .. } => Some(index),
    }
}

fn describe(sort: Sort) -> String {
    match sort {
        Sort::Vector(width) => format!("vector of {width} bits"),
        Sort::Array { index, element } => format!("array of 2^{index} vectors of {element} bits"),
    }
}
