//! What the user asks, in the model's numbers.

use super::args::AskArgs;
use super::failure::{Failure, Kind};
use vouch_host::formats::names::closest;
use vouch_host::formats::{Names, names};
use vouch_host::ir::{Cfa, PropertyId, Type, Var, VarId, VarKind, Word, value};
use vouch_host::judge::Question;
use vouch_host::pipeline::Loaded;
use vouch_host::validate::within;

/// Looks up the names.
pub fn ask(model: &Loaded, args: &AskArgs) -> Result<Question, Failure> {
    let cfa = &model.cfa;
    if cfa.properties.is_empty() {
        let message = format!(
            "{} states no property, so there is nothing to check\n\
             help: add one, as in `property never_both: always !(a && b);`",
            cfa.name
        );
        return Err(Failure::new(Kind::Input, message));
    }
    let only = args.property.as_deref().map(|name| property(cfa, name)).transpose()?;
    Ok(Question::new(cfa, only, bindings(cfa, &args.bind)?))
}

/// A list for messages.
fn listed(names: impl Iterator<Item = String>) -> String {
    let names: Vec<String> = names.collect();
    if names.is_empty() { "none".into() } else { names.join(", ") }
}

/// `name`, or `name#2` for the second of that name.
fn split_nth(name: &str) -> (&str, Option<usize>) {
    match name.rsplit_once('#') {
        Some((name, nth)) => match nth.parse() {
            Ok(nth) => (name, Some(nth)),
            Err(_) => (name, None),
        },
        None => (name, None),
    }
}

fn find(table: &names::Table, name: &str) -> Option<u32> {
    let (base, nth) = split_nth(name);
    table.find(name, None).or_else(|_| table.find(base, nth)).ok()
}

/// The property with this name.
pub fn property(cfa: &Cfa, name: &str) -> Result<PropertyId, Failure> {
    let names = Names::new(cfa);
    find(&names.properties, name).map(PropertyId).ok_or_else(|| {
        let all = || (0..cfa.properties.len() as u32).map(|i| names.properties.show(i));
        let known = listed(all());
        let near = closest(name, names.properties.names());
        let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
        Failure::usage(format!(
            "{} has no property `{name}`{near}\nhelp: its properties are {known}",
            cfa.name
        ))
    })
}

/// The smallest and the largest value of a parameter.
pub fn range(var: &Var) -> Option<(String, String)> {
    let VarKind::Param { min, max } = var.kind else { return None };
    let show = |v| value::show(&var.ty, var.width, v);
    Some((show(min), show(max)))
}

/// The values that a parameter may have.
pub fn describe_range(var: &Var) -> String {
    match (range(var), &var.ty) {
        (Some((min, max)), Type::Bool) if min != max => "true or false".into(),
        (Some((min, max)), _) if min == max => min,
        (Some((min, max)), _) => format!("{min} to {max}"),
        (None, _) => value::describe(&var.ty, var.width),
    }
}

/// The parameter with this name, to do something with it.
pub fn parameter<'a>(cfa: &'a Cfa, name: &str, to_do: &str) -> Result<(VarId, &'a Var), Failure> {
    let names = Names::new(cfa);
    let id = find(&names.vars, name).map(VarId);
    let var = id.and_then(|id| Some((id, cfa.vars.get(id.index())?)));
    var.filter(|(_, v)| v.kind != VarKind::State).ok_or_else(|| {
        let what = if var.is_some() { "is a variable, not a parameter" } else { "is unknown" };
        let params =
            cfa.params().map(|(id, v)| format!("{} ({})", names.var(id), describe_range(v)));
        let params = listed(params);
        Failure::usage(format!(
            "cannot {to_do} `{name}`: it {what}\nhelp: the parameters of {} are {params}",
            cfa.name
        ))
    })
}

/// Reads bindings `parameter=value`.
pub fn bindings(cfa: &Cfa, given: &[String]) -> Result<Vec<(VarId, Word)>, Failure> {
    let mut bindings: Vec<(VarId, Word)> = vec![];
    for text in given.iter().map(|t| t.trim()).filter(|t| !t.is_empty()) {
        let Some((name, text)) = text.split_once('=') else {
            return Err(Failure::usage(format!(
                "`--bind {text}` binds nothing\nhelp: write `--bind PARAMETER=VALUE`"
            )));
        };
        let (name, text) = (name.trim(), text.trim());
        let (id, var) = parameter(cfa, name, "bind")?;
        let allowed = describe_range(var);
        let wrong = |what: &str| {
            Failure::usage(format!(
                "cannot bind {name} to `{text}`: {what}\nhelp: {name} can be {allowed}"
            ))
        };
        let value = value::read(&var.ty, var.width, text);
        let value = value.ok_or_else(|| wrong("that is not a value of its type"))?;
        if !within(var, value) {
            return Err(wrong("that is outside its range"));
        }
        match bindings.iter().find(|b| b.0 == id) {
            Some(other) if other.1 != value => {
                return Err(wrong("it is bound to another value too"));
            }
            Some(_) => {}
            None => bindings.push((id, value)),
        }
    }
    Ok(bindings)
}

/// Bindings for people: `limit = 12, mode = Fast`.
pub fn show_bindings(cfa: &Cfa, bindings: &[(VarId, Word)]) -> String {
    let names = Names::new(cfa);
    let show = |(id, word): &(VarId, Word)| {
        let shown = cfa.vars.get(id.index()).map(|v| value::show(&v.ty, v.width, *word));
        format!("{} = {}", names.var(*id), shown.unwrap_or_else(|| word.to_string()))
    };
    listed(bindings.iter().map(show))
}
