//! Certificates as text: `docs/formats/certificate.md`.

use super::scan::{Line, Lines, ParseErrorKind};
use super::{Digest, Header, Names, ParseError, WriteError, assignment, spell_value};
use crate::{BinOp, BitLit, Certificate, Cfa, Clause, LocId, Operand, PropertyId, Term, VarId};

const FORMAT: &str = "vouch-certificate";
const VERSION: u32 = 2;
/// The longest name of a term, in bytes.
const LONGEST: usize = 1 << 16;
const WHAT: &str = "`property`, `bind`, `pass`, `term`, `at`, `end`, or literals of a clause";

/// A certificate of this model as text. Order is kept; clauses at one location are together as far
/// as they are in the certificate.
pub fn write(
    cfa: &Cfa,
    certificate: &Certificate,
    source: Option<Digest>,
) -> Result<String, WriteError> {
    let names = Names::with_terms(cfa, &certificate.terms);
    let missing = |what, index| WriteError { what, index, model: cfa.name.clone() };
    let mut text = Header { model: cfa.name.clone(), source }.write(FORMAT, VERSION);
    for p in &certificate.properties {
        let name = names.properties.get(p.0).ok_or_else(|| missing("property", p.0))?;
        text.push_str(&format!("property {name}\n"));
    }
    for (id, value) in &certificate.bindings {
        let var = cfa.vars.get(id.index()).ok_or_else(|| missing("parameter", id.0))?;
        let value = spell_value(&var.ty, var.width, *value);
        text.push_str(&format!("bind {} = {value}\n", names.var(*id)));
    }
    for location in &certificate.passed {
        let index = location.0;
        let name = names.locations.get(index).ok_or_else(|| missing("location", index))?;
        text.push_str(&format!("pass {name}\n"));
    }
    let vars = cfa.vars.len() + certificate.terms.len();
    for term in &certificate.terms {
        let side = |operand| match operand {
            Operand::Const(word) => Ok(word.to_string()),
            Operand::Var(var) => {
                names.vars.get(var.0).map(str::to_string).ok_or_else(|| missing("variable", var.0))
            }
        };
        let (op, left, right) = (operator(term.op), side(term.left)?, side(term.right)?);
        text.push_str(&format!("term {op} {left} {right}\n"));
    }
    let mut at = None;
    for clause in &certificate.clauses {
        if let Some(lit) = clause.lits.iter().find(|l| l.var.index() >= vars) {
            return Err(missing("variable", lit.var.0));
        }
        if at != Some(clause.location) {
            let index = clause.location.0;
            let name = names.locations.get(index).ok_or_else(|| missing("location", index))?;
            text.push_str(&format!("at {name}\n"));
            at = Some(clause.location);
        }
        text.push_str(&format!("  {}\n", names.clause(clause)));
    }
    text.push_str("end\n");
    Ok(text)
}

/// Reads a certificate of this model. That it belongs to the same source is for the caller to
/// compare, and that it proves something for `vouch-validate` to check.
pub fn parse(cfa: &Cfa, text: &str) -> Result<(Header, Certificate), ParseError> {
    let mut names = Names::new(cfa);
    let mut widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    let mut lines = Lines::new(text);
    let header = Header::parse(&mut lines, FORMAT, VERSION)?;
    let mut certificate = Certificate::default();
    let mut at = None;
    loop {
        let mut line = lines.expect_line(WHAT)?;
        let first = line.peek();
        match first.text {
            "property" | "bind" | "pass" | "term" if at.is_some() => {
                return Err(line.expected(&first, "literals, `never`, `at` or `end`"));
            }
            "property" => {
                line.keyword("property", WHAT)?;
                let name = line.name("a property's name")?;
                let index = line.find(&names.properties, &name, "property")?;
                certificate.properties.push(PropertyId(index));
            }
            "bind" => {
                line.keyword("bind", WHAT)?;
                let name = line.name("a parameter's name")?;
                let index = line.find(&names.vars, &name, "parameter")?;
                let var = &cfa.vars[index as usize];
                let value = assignment(&mut line, &var.ty, var.width)?;
                certificate.bindings.push((VarId(index), value));
            }
            "pass" => {
                line.keyword("pass", WHAT)?;
                let name = line.name("a location's name")?;
                let index = line.find(&names.locations, &name, "location")?;
                certificate.passed.push(LocId(index));
            }
            "term" => {
                line.keyword("term", WHAT)?;
                let term = term(&names, &mut line)?;
                let wrong =
                    |message: &str| line.error(&first, ParseErrorKind::Model, message.into());
                let width = term.width(&widths);
                widths.push(width.ok_or_else(|| wrong("the operands of a term have one width"))?);
                names.push_term(&term);
                // One that is made of others twice doubles their names, again and again.
                if names.var(VarId(widths.len() as u32 - 1)).len() > LONGEST {
                    return Err(wrong("terms are nested too deeply"));
                }
                certificate.terms.push(term);
            }
            "at" => {
                line.keyword("at", WHAT)?;
                let name = line.name("a location's name")?;
                at = Some(LocId(line.find(&names.locations, &name, "location")?));
            }
            "end" => {
                line.keyword("end", WHAT)?;
                line.end()?;
                return match lines.next_line() {
                    None => Ok((header, certificate)),
                    Some(line) => Err(line.expected(&line.peek(), "nothing after `end`")),
                };
            }
            _ => {
                let Some(location) = at else {
                    return Err(
                        line.expected(&first, "`property`, `bind`, `pass`, `term`, `at` or `end`")
                    );
                };
                let lits = clause(&widths, &names, &mut line)?;
                certificate.clauses.push(Clause { location, lits });
            }
        }
        line.end()?;
    }
}

/// The clauses of a certificate of another version of this model, as far as it still has what they name. They
/// prove nothing: they are worth a try.
pub fn clauses(cfa: &Cfa, text: &str) -> Vec<Clause> {
    let names = Names::new(cfa);
    let widths: Vec<u32> = cfa.vars.iter().map(|v| v.width).collect();
    let mut lines = Lines::new(text);
    let (mut at, mut clauses) = (None, vec![]);
    while let Some(mut line) = lines.next_line() {
        if line.peek().text == "at" {
            let place = |line: &mut Line<'_>| {
                line.keyword("at", WHAT)?;
                let name = line.name("a location's name")?;
                line.find(&names.locations, &name, "location")
            };
            at = place(&mut line).ok().map(LocId);
        } else if let (Some(location), Ok(lits)) = (at, clause(&widths, &names, &mut line)) {
            clauses.push(Clause { location, lits });
        }
    }
    clauses
}

/// The operators of terms.
const OPERATORS: [(&str, BinOp); 13] = [
    ("and", BinOp::And),
    ("or", BinOp::Or),
    ("xor", BinOp::Xor),
    ("add", BinOp::Add),
    ("sub", BinOp::Sub),
    ("mul", BinOp::Mul),
    ("urem", BinOp::URem),
    ("srem", BinOp::SRem),
    ("eq", BinOp::Eq),
    ("ult", BinOp::Ult),
    ("ule", BinOp::Ule),
    ("slt", BinOp::Slt),
    ("sle", BinOp::Sle),
];

fn operator(op: BinOp) -> &'static str {
    OPERATORS.iter().find(|o| o.1 == op).map_or("?", |o| o.0)
}

fn term(names: &Names, line: &mut Line<'_>) -> Result<Term, ParseError> {
    let word = line.word("an operator")?;
    let Some((_, op)) = OPERATORS.iter().find(|o| o.0 == word.text) else {
        let known = OPERATORS.map(|o| o.0).join(", ");
        return Err(line.expected(&word, &format!("an operator: {known}")));
    };
    let side = |line: &mut Line<'_>| match line.peek().text.parse() {
        Ok(number) => {
            line.word("a number")?;
            Ok(Operand::Const(number))
        }
        Err(_) => {
            let name = line.name("a variable's name or a number")?;
            Ok(Operand::Var(VarId(line.find(&names.vars, &name, "variable")?)))
        }
    };
    Ok(Term { op: *op, left: side(line)?, right: side(line)? })
}

fn clause(widths: &[u32], names: &Names, line: &mut Line<'_>) -> Result<Vec<BitLit>, ParseError> {
    if line.peek().text == "never" {
        line.keyword("never", WHAT)?;
        return Ok(vec![]);
    }
    let mut lits = vec![];
    while !line.is_at_end() {
        let (name, word, bit, value) = line.literal()?;
        let var = VarId(line.find(&names.vars, &name, "variable")?);
        let width = widths[var.index()];
        if bit >= width {
            let message = format!("{} has only {width} bits, from 0", names.var(var));
            return Err(line.error(&word, ParseErrorKind::Model, message));
        }
        lits.push(BitLit { var, bit, value });
    }
    Ok(lits)
}
