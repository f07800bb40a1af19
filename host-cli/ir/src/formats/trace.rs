//! Traces as text: `docs/formats/trace.md`.

use super::scan::{Line, Lines, ParseErrorKind, number};
use super::{Digest, Header, Names, ParseError, WriteError, assignment, spell_value};
use crate::{Cfa, Edge, EdgeId, InputId, LocId, PropertyId, Step, Trace, VarId, Word};

const FORMAT: &str = "vouch-trace";
const VERSION: u32 = 1;

/// A trace of this model as text.
pub fn write(cfa: &Cfa, trace: &Trace, source: Option<Digest>) -> Result<String, WriteError> {
    write_run(cfa, Some(trace.property), trace, source)
}

/// A run of this model as text, whether it breaks a property or not.
pub fn write_run(
    cfa: &Cfa,
    property: Option<PropertyId>,
    trace: &Trace,
    source: Option<Digest>,
) -> Result<String, WriteError> {
    let names = Names::new(cfa);
    let missing = |what, index| WriteError { what, index, model: cfa.name.clone() };
    let mut text = Header { model: cfa.name.clone(), source }.write(FORMAT, VERSION);
    if let Some(PropertyId(index)) = property {
        let property = names.properties.get(index).ok_or_else(|| missing("property", index))?;
        text.push_str(&format!("property {property}\n"));
    }
    for (id, value) in &trace.initial {
        let var = cfa.vars.get(id.index()).ok_or_else(|| missing("variable", id.0))?;
        let value = spell_value(&var.ty, var.width, *value);
        text.push_str(&format!("var {} = {value}\n", names.var(*id)));
    }
    let write_inputs = |text: &mut String, inputs: &[(InputId, Word)]| {
        for (id, value) in inputs {
            let input = cfa.inputs.get(id.index()).ok_or_else(|| missing("input", id.0))?;
            let value = spell_value(&input.ty, input.width, *value);
            text.push_str(&format!("  input {} = {value}\n", names.input(*id)));
        }
        Ok(())
    };
    if trace.forced.steps > 0 {
        text.push_str(&format!("forced {}\n", trace.forced.steps));
        write_inputs(&mut text, &trace.forced.inputs)?;
    }
    for step in &trace.steps {
        if step.edge.index() >= cfa.edges.len() {
            return Err(missing("edge", step.edge.0));
        }
        text.push_str(&format!("step {}\n", names.edge(cfa, step.edge)));
        write_inputs(&mut text, &step.inputs)?;
    }
    text.push_str("end\n");
    Ok(text)
}

/// Reads a trace of this model. That it belongs to the same source is for the caller to compare,
/// and that it is a run for `vouch-validate` to check.
pub fn parse(cfa: &Cfa, text: &str) -> Result<(Header, Trace), ParseError> {
    let mut lines = Lines::new(text);
    Header::parse_by_hand(&mut lines, FORMAT, VERSION)?;
    // Only what breaks something is a trace.
    lines.expect_line("`property NAME`")?.keyword("property", "`property NAME`")?;
    let (header, _, trace) = parse_run(cfa, text)?;
    Ok((header, trace))
}

/// Reads a run of this model, and the property that it is said to break.
pub fn parse_run(cfa: &Cfa, text: &str) -> Result<(Header, Option<PropertyId>, Trace), ParseError> {
    let names = Names::new(cfa);
    let mut lines = Lines::new(text);
    let header = Header::parse_by_hand(&mut lines, FORMAT, VERSION)?;
    let mut broken = None;
    if let Some(mut line) = lines.next_if("property") {
        line.keyword("property", "`property NAME`")?;
        let name = line.name("a property's name")?;
        broken = Some(PropertyId(line.find(&names.properties, &name, "property")?));
        line.end()?;
    }
    let property = broken.unwrap_or(PropertyId(0));
    let mut trace = Trace::new(property, vec![], vec![]);
    loop {
        let what = match trace.steps.is_empty() {
            true if trace.forced.steps > 0 => "`input`, `step` or `end`",
            true => "`var`, `forced`, `step` or `end`",
            false => "`input`, `step` or `end`",
        };
        let mut line = lines.expect_line(what)?;
        let first = line.peek();
        let is_forced = trace.forced.steps > 0;
        match (first.text, trace.steps.last_mut()) {
            ("var", None) if !is_forced => {
                line.keyword("var", what)?;
                let name = line.name("a variable's name")?;
                let index = line.find(&names.vars, &name, "variable")?;
                let var = &cfa.vars[index as usize];
                let value = assignment(&mut line, &var.ty, var.width)?;
                trace.initial.push((VarId(index), value));
            }
            ("forced", None) if !is_forced => {
                line.keyword("forced", what)?;
                let steps = line.word("a number of steps")?;
                let number = number(steps.text).and_then(|n| u64::try_from(n).ok());
                trace.forced.steps = number
                    .filter(|n| *n > 0)
                    .ok_or_else(|| line.expected(&steps, "a number of steps"))?;
            }
            ("input", step) if step.is_some() || is_forced => {
                line.keyword("input", what)?;
                let name = line.name("an input's name")?;
                let index = line.find(&names.inputs, &name, "input")?;
                let input = &cfa.inputs[index as usize];
                let value = assignment(&mut line, &input.ty, input.width)?;
                let inputs = step.map_or(&mut trace.forced.inputs, |step| &mut step.inputs);
                inputs.push((InputId(index), value));
            }
            ("step", _) => {
                line.keyword("step", what)?;
                let edge = edge(cfa, &names, &mut line)?;
                trace.steps.push(Step { edge, inputs: vec![] });
            }
            ("end", _) => {
                line.keyword("end", what)?;
                line.end()?;
                return match lines.next_line() {
                    None => Ok((header, broken, trace)),
                    Some(line) => Err(line.expected(&line.peek(), "nothing after `end`")),
                };
            }
            _ => return Err(line.expected(&first, what)),
        }
        line.end()?;
    }
}

/// `Idle -> Run`, or `Idle -> Run #2` for the second of several.
fn edge(cfa: &Cfa, names: &Names, line: &mut Line<'_>) -> Result<EdgeId, ParseError> {
    let from_name = line.name("the location that the step leaves")?;
    let from = LocId(line.find(&names.locations, &from_name, "location")?);
    line.keyword("->", "`->`")?;
    let to_name = line.name("the location that the step enters")?;
    let to = LocId(line.find(&names.locations, &to_name, "location")?);
    let joins = |(_, e): &(usize, &Edge)| e.from == from && e.to == to;
    let all = cfa.edges.iter().enumerate().filter(joins).map(|(i, _)| EdgeId(i as u32));
    let all: Vec<EdgeId> = all.collect();
    let (from, to) = (names.location(from), names.location(to));
    let model = |at, message| Err(line.error(at, ParseErrorKind::Model, message));
    if all.is_empty() {
        return model(&to_name.word, format!("no edge of the model leads from {from} to {to}"));
    }
    let n = all.len();
    if line.is_at_end() {
        return match all.as_slice() {
            [edge] => Ok(*edge),
            _ => model(
                &to_name.word,
                format!("{n} edges lead from {from} to {to}; say which: #1 to #{n}"),
            ),
        };
    }
    let word = line.word("`#` and a number")?;
    let Some(nth) = word.text.strip_prefix('#').and_then(super::scan::number) else {
        return Err(line.expected(&word, "`#` and a number, or the end of the line"));
    };
    let index = usize::try_from(nth).ok().and_then(|nth| nth.checked_sub(1));
    match index.and_then(|i| all.get(i)) {
        Some(edge) => Ok(*edge),
        None => {
            let message = format!("edges from {from} to {to} are numbered #1 to #{n}");
            Err(line.error(&word, ParseErrorKind::Model, message))
        }
    }
}
