//! Assembly. What the processor does is not known here, but programs write assembly without any
//! instruction, to keep a compiler from knowing too much; that does nothing but move its operands. And they
//! disable and enable interrupts, for which there are functions here.

use super::Parser;
use crate::c::token::TokenKind;
use crate::c::tree::{Expr, ExprKind, Stmt, StmtKind};
use crate::c::types::{Type, pointer, unsigned};
use crate::c::{Fail, fail};

impl Parser {
    /// Skips assembly at file scope.
    pub(super) fn skip_asm(&mut self) -> Result<(), Fail> {
        self.asm_words();
        self.skip_parens()?;
        self.expect(";")
    }

    fn asm_words(&mut self) {
        self.advance();
        let words = ["volatile", "__volatile__", "__volatile", "goto", "inline"];
        while words.iter().any(|word| self.is(word)) {
            self.advance();
        }
    }

    /// `asm("" : "=r"(x) : "0"(y) : "memory");`
    pub(super) fn assembly(&mut self) -> Result<StmtKind, Fail> {
        self.asm_words();
        let start = self.at;
        let text: Option<String> = match self.peek_at(1) {
            TokenKind::Text(text) => {
                Some(text.units.iter().filter_map(|u| char::from_u32(*u)).collect())
            }
            _ => None,
        };
        let Some(instructions) = text.as_deref().and_then(instructions) else {
            self.skip_parens()?;
            self.expect(";")?;
            return Ok(StmtKind::Refused("inline assembly"));
        };
        let is_avr =
            |word: &str| word.eq_ignore_ascii_case("cli") || word.eq_ignore_ascii_case("sei");
        if let Some(text) = text.clone().filter(|_| !instructions.is_empty()) {
            self.unit.assembly.push((self.span(), text));
        }
        self.has_status |= text.iter().flat_map(|text| text.split_whitespace()).any(is_avr);
        self.expect("(")?;
        self.advance();
        let outputs = if self.eat(":") { self.operands()? } else { vec![] };
        let inputs = if self.eat(":") { self.operands()? } else { vec![] };
        self.at = start;
        self.skip_parens()?;
        self.expect(";")?;
        let done = match instructions.is_empty() {
            true => moves(outputs, inputs),
            false => self.instructions(instructions, outputs, inputs)?,
        };
        Ok(done.unwrap_or(StmtKind::Refused("inline assembly")))
    }

    /// What instructions do. `None` if their operands are others than those that are known.
    fn instructions(
        &mut self,
        instructions: Vec<What>,
        outputs: Vec<Operand>,
        inputs: Vec<Operand>,
    ) -> Result<Option<StmtKind>, Fail> {
        let span = self.span();
        let mut steps = vec![];
        // Each operand is evaluated once, whether an instruction names it or not.
        if outputs.iter().chain(&inputs).any(|operand| operand.value.has_effect()) {
            return Ok(None);
        }
        // What is only written has a value when an instruction has given it one, or an input that lies in the same place.
        let mut written: Vec<bool> = outputs.iter().map(|o| o.constraint.contains('+')).collect();
        for input in &inputs {
            let Ok(number) = input.constraint.trim().parse::<usize>() else { continue };
            let Some(output) = outputs.get(number) else { return Ok(None) };
            steps.push(assign(output.value.clone(), input.value.clone()));
            written[number] = true;
        }
        let number = |word: &str| -> Option<usize> {
            let word = word.strip_prefix('%')?;
            let named = word.strip_prefix('[').and_then(|word| word.strip_suffix(']'));
            let all = || outputs.iter().chain(&inputs);
            match named {
                Some(name) => all().position(|o| o.name.as_deref() == Some(name)),
                None => word.parse().ok(),
            }
        };
        for What { to, function, from, at } in instructions {
            let operand = |word: &str, written: &[bool]| {
                let immediate = word.trim_start_matches('#').parse::<u32>().ok();
                let operand = number(word).and_then(|n| match n.checked_sub(outputs.len()) {
                    Some(input) => inputs.get(input).map(|o| &o.value),
                    None => outputs.get(n).filter(|_| written[n]).map(|o| &o.value),
                });
                let immediate = || {
                    let kind = ExprKind::Int(immediate?.into());
                    Some(Expr { kind, ty: unsigned(32), span })
                };
                operand.cloned().or_else(immediate)
            };
            let mut value = None;
            if let Some(word) = &from {
                value = operand(word, &written);
                if value.is_none() {
                    return Ok(None);
                }
            }
            if let Some((address, bits)) = &at {
                let inner = address.strip_prefix('[').and_then(|a| a.strip_suffix(']'));
                let address = match inner {
                    Some(word) => {
                        let Some(address) = operand(word, &written) else { return Ok(None) };
                        let address = self.rvalue(address);
                        self.convert(address, &pointer(unsigned(*bits)))
                    }
                    None => {
                        let all = || outputs.iter().chain(&inputs);
                        let found = number(address).and_then(|n| Some((n, all().nth(n)?)));
                        let Some((n, Operand { value: place, .. })) = found else {
                            return Ok(None);
                        };
                        let is_wide = self.unit.types.width(&place.ty) == Some(*bits);
                        if !place.is_place() || !place.ty.is_scalar() || !is_wide {
                            return Ok(None);
                        }
                        if let Some(written) = written.get_mut(n) {
                            *written = true;
                        }
                        let kind = ExprKind::Address(Box::new(place.clone()));
                        Expr { kind, ty: pointer(place.ty.clone()), span }
                    }
                };
                value = Some(match value {
                    None => {
                        let value = self.load_exclusive(address, span)?;
                        // Fewer bits than a register has are extended with zeros.
                        match value.ty.is_integer() {
                            true => cast(value, unsigned(*bits)),
                            false => value,
                        }
                    }
                    Some(value) => self.store_exclusive(address, value, span)?,
                });
            }
            if let Some(function) = function {
                let id = self.implicit_function(&function.into(), span)?;
                let ty = self.unit.functions[id].result.clone();
                let arguments = value.take().map(|value| cast(value, unsigned(32)));
                let call = ExprKind::Call(id, arguments.into_iter().collect());
                value = Some(Expr { kind: call, ty, span });
            }
            match (to, value) {
                (Some(to), Some(value)) => {
                    let Some(at) = number(&to).filter(|n| *n < outputs.len()) else {
                        return Ok(None);
                    };
                    let place = &outputs[at].value;
                    if !place.is_place() || !place.ty.is_scalar() {
                        return Ok(None);
                    }
                    steps.push(assign(place.clone(), value));
                    written[at] = true;
                }
                (None, Some(value)) => steps.push(value),
                (_, None) => {}
            }
        }
        let steps = steps.into_iter().map(|e| Stmt { span: e.span, kind: StmtKind::Expr(e) });
        let steps = steps.collect();
        Ok(written.into_iter().all(|is| is).then_some(StmtKind::Block(steps)))
    }

    /// Operands, each with its constraint.
    fn operands(&mut self) -> Result<Vec<Operand>, Fail> {
        let mut found = vec![];
        while !self.is(":") && !self.is(")") {
            let mut name = None;
            if self.eat("[") {
                name = Some(self.word()?.0.to_lowercase());
                self.expect("]")?;
            }
            let TokenKind::Text(text) = self.peek().clone() else {
                return Err(self.unexpected("a string"));
            };
            self.advance();
            let constraint = text.units.iter().filter_map(|u| char::from_u32(*u)).collect();
            self.expect("(")?;
            let value = self.expression()?;
            self.expect(")")?;
            found.push(Operand { name, constraint, value });
            if !self.eat(",") {
                break;
            }
        }
        if !self.is(":") && !self.is(")") {
            return Err(fail("an operand of assembly was expected", self.span(), "not this"));
        }
        Ok(found)
    }
}

/// An operand of assembly.
struct Operand {
    name: Option<String>,
    constraint: String,
    value: Expr,
}

/// What an instruction does.
struct What {
    /// The operand that it writes.
    to: Option<String>,
    /// The function that does the same.
    function: Option<&'static str>,
    /// The operand that it reads.
    from: Option<String>,
    /// Where in memory it has exclusive access, and to how many bits.
    at: Option<(String, u32)>,
}

/// The instructions of a text, if all of them are known.
fn instructions(text: &str) -> Option<Vec<What>> {
    let text = text.to_lowercase();
    let words = |line: &str| -> Option<What> {
        let words: Vec<&str> = line.split([' ', ',', '\t']).filter(|w| !w.is_empty()).collect();
        what(&words)
    };
    let lines = text.split(['\n', ';', '\r']).filter(|line| !line.trim().is_empty());
    lines.map(words).collect()
}

/// What an instruction does that disables or enables interrupts, or nothing that a program could notice: barriers order what happens
/// in order here, and who waits for an interrupt may wait for one that has come before.
fn what(words: &[&str]) -> Option<What> {
    let exclusive = |to: &str, from: Option<&str>, at: &str, bits: u32| {
        let at = Some((at.to_string(), bits));
        let (to, from) = (Some(to.to_string()), from.map(ToString::to_string));
        Some(What { to, function: None, from, at })
    };
    let (to, function, from) = match words {
        ["ldrex", to, at] => return exclusive(to, None, at, 32),
        ["ldrexh", to, at] => return exclusive(to, None, at, 16),
        ["ldrexb", to, at] => return exclusive(to, None, at, 8),
        ["strex", to, from, at] => return exclusive(to, Some(from), at, 32),
        ["strexh", to, from, at] => return exclusive(to, Some(from), at, 16),
        ["strexb", to, from, at] => return exclusive(to, Some(from), at, 8),
        ["clrex"] => (None, Some("__vouch_clear_exclusive"), None),
        [
            "nop" | "wfi" | "wfe" | "sev" | "yield" | "dmb" | "dsb" | "isb" | "sleep" | "fence"
            | "fence.i",
        ]
        | ["dmb" | "dsb" | "isb", "sy" | "ish" | "0xf" | "15"]
        | [".syntax", "unified"]
        | [".align" | ".balign", _] => (None, None, None),
        ["cpsid", "i"] | ["cli"] | ["csrci", "mstatus", "8"] => {
            (None, Some("__vouch_disable_irq"), None)
        }
        ["cpsie", "i"] | ["sei"] | ["csrsi", "mstatus", "8"] => {
            (None, Some("__vouch_enable_irq"), None)
        }
        ["mov" | "movs", to, from] => (Some(to), None, Some(from)),
        ["mrs", to, "primask"] => (Some(to), Some("__vouch_get_PRIMASK"), None),
        ["mrs", to, "basepri"] => (Some(to), Some("__vouch_get_BASEPRI"), None),
        // What these give is not known here, and they change nothing else.
        ["mrs", to, "ipsr" | "xpsr" | "apsr" | "msp" | "psp" | "control"]
        | [
            "rbit" | "rev" | "rev16" | "revsh" | "clz" | "ssat" | "usat" | "qadd" | "qsub",
            to,
            _,
            ..,
        ] => (Some(to), Some("__vouch_scanned"), None),
        ["msr", "primask", from] => (None, Some("__vouch_set_PRIMASK"), Some(from)),
        ["msr", "basepri", from] => (None, Some("__vouch_set_BASEPRI"), Some(from)),
        ["msr", "basepri_max", from] => (None, Some("__vouch_set_BASEPRI_MAX"), Some(from)),
        _ => return None,
    };
    let text = |word: Option<&&str>| word.map(|word| word.to_string());
    Some(What { to: text(to), function, from: text(from), at: None })
}

fn cast(value: Expr, ty: Type) -> Expr {
    let span = value.span;
    Expr { kind: ExprKind::Cast(Box::new(value)), ty, span }
}

fn assign(place: Expr, value: Expr) -> Expr {
    let (ty, span) = (place.ty.clone(), place.span);
    let value = cast(value, ty.clone());
    Expr { kind: ExprKind::Assign(Box::new(place), Box::new(value)), ty, span }
}

/// Assembly without instructions: what is only read is evaluated, what is read and written stays as it
/// is, and what is only written gets the input that is to lie in the same place. `None` if there is no
/// such input.
fn moves(outputs: Vec<Operand>, inputs: Vec<Operand>) -> Option<StmtKind> {
    let mut steps = vec![];
    let mut step = |expr: Expr| {
        let span = expr.span;
        steps.push(Stmt { kind: StmtKind::Expr(expr), span });
    };
    for (number, Operand { constraint, value: place, .. }) in outputs.into_iter().enumerate() {
        if constraint.contains('+') {
            step(place);
            continue;
        }
        let number = number.to_string();
        let value = &inputs.iter().find(|input| input.constraint.trim() == number)?.value;
        if !place.is_place() || !place.ty.is_scalar() || !value.ty.is_scalar() {
            return None;
        }
        step(assign(place, value.clone()));
    }
    let matched = |constraint: &str| constraint.trim().parse::<usize>().is_ok();
    let rest = inputs.into_iter().filter(|input| !matched(&input.constraint));
    rest.map(|input| input.value).filter(|value| value.ty.is_scalar()).for_each(step);
    Some(StmtKind::Block(steps))
}
