//! Certificates as text: `docs/formats/certificate.md`.

use super::scan::{Line, Lines, ParseErrorKind};
use super::{Digest, Header, Names, ParseError, WriteError, assignment, spell_value};
use crate::ir::{BitLit, Certificate, Cfa, Clause, LocId, PropertyId, VarId};

const FORMAT: &str = "vouch-certificate";
const VERSION: u32 = 2;
const WHAT: &str = "`property`, `bind`, `pass`, `at`, `end`, or literals of a clause";

/// A certificate of this model as text. Order is kept; clauses at one location are together as far
/// as they are in the certificate.
pub fn write(
    cfa: &Cfa,
    certificate: &Certificate,
    source: Option<Digest>,
) -> Result<String, WriteError> {
    let names = Names::new(cfa);
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
    let mut at = None;
    for clause in &certificate.clauses {
        if let Some(lit) = clause.lits.iter().find(|l| l.var.index() >= cfa.vars.len()) {
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
/// compare, and that it proves something for [`crate::validate::certificate`] to check.
pub fn parse(cfa: &Cfa, text: &str) -> Result<(Header, Certificate), ParseError> {
    let names = Names::new(cfa);
    let mut lines = Lines::new(text);
    let header = Header::parse(&mut lines, FORMAT, VERSION)?;
    let mut certificate = Certificate::default();
    let mut at = None;
    loop {
        let mut line = lines.expect_line(WHAT)?;
        let first = line.peek();
        match first.text {
            "property" | "bind" | "pass" if at.is_some() => {
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
                    return Err(line.expected(&first, "`property`, `bind`, `pass`, `at` or `end`"));
                };
                let lits = clause(cfa, &names, &mut line)?;
                certificate.clauses.push(Clause { location, lits });
            }
        }
        line.end()?;
    }
}

fn clause(cfa: &Cfa, names: &Names, line: &mut Line<'_>) -> Result<Vec<BitLit>, ParseError> {
    if line.peek().text == "never" {
        line.keyword("never", WHAT)?;
        return Ok(vec![]);
    }
    let mut lits = vec![];
    while !line.is_at_end() {
        let (name, word, bit, value) = line.literal()?;
        let var = VarId(line.find(&names.vars, &name, "variable")?);
        let width = cfa.vars[var.index()].width;
        if bit >= width {
            let message = format!("{} has only {width} bits, from 0", names.var(var));
            return Err(line.error(&word, ParseErrorKind::Model, message));
        }
        lits.push(BitLit { var, bit, value });
    }
    Ok(lits)
}
