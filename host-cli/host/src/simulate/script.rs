//! The commands of a simulation, from a file: one in a line; `#` begins a comment.

use super::{Choice, Session};
use crate::ir::VarId;
use crate::report::walk as shown;

/// Steps that one command makes at most.
const STEPS: usize = 1_000_000;

/// The commands, for help.
pub const COMMANDS: &str = "\
step [N]             do N steps with the inputs that are set; the others take any values that allow a step
take TRANSITION      take this transition; give its name, the beginning of it, or its number in `possible`
random N             N steps at random
set NAME = VALUE     choose an input for all steps to come; at the start also a parameter
unset [NAME]         leave an input open again, or all
back [N], forward [N]  take steps back, and repeat them
reset                back to the start
seed N               other steps at random
show                 where it is, and all variables
possible             what can happen next
properties           what is broken here, or can be in the next step
watch NAME           show a variable after each step
unwatch NAME         do not
trace                all steps so far
expect NAME = VALUE  end with an error unless a variable (or `state`) has this value
load FILE, save FILE  a run, in the format of counterexamples";

/// What only whoever runs the script can do.
pub trait Files {
    /// Reads a run into a session.
    fn load(&mut self, session: &mut Session<'_>, path: &str) -> Result<(), String>;
    /// Writes the run of a session.
    fn save(&mut self, session: &Session<'_>, path: &str) -> Result<(), String>;
}

/// What is wrong with a line of a script.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScriptError {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what would be possible.
    pub message: String,
    /// Whether the command is well written, but the model does not do it.
    pub is_refused: bool,
}

/// Runs a script; `print` gets what it has to say, line by line.
pub fn run(
    session: &mut Session<'_>,
    text: &str,
    files: &mut dyn Files,
    print: &mut dyn FnMut(&str),
) -> Result<(), ScriptError> {
    for (line, text) in (1..).zip(text.lines()) {
        crate::deadline::look();
        let command = text.split('#').next().unwrap_or_default().trim();
        if command.is_empty() {
            continue;
        }
        print(&format!("> {command}"));
        one(session, command, files, print).map_err(|(message, is_refused)| ScriptError {
            line,
            message,
            is_refused,
        })?;
    }
    Ok(())
}

/// Why a command was not done, and whether it is the model that does not do it.
type Fault = (String, bool);

fn wrong(message: impl Into<String>) -> Fault {
    (message.into(), false)
}

/// Does one command.
pub fn one(
    session: &mut Session<'_>,
    command: &str,
    files: &mut dyn Files,
    print: &mut dyn FnMut(&str),
) -> Result<(), Fault> {
    let (word, rest) = command.split_once(char::is_whitespace).unwrap_or((command, ""));
    let rest = rest.trim();
    let number = |default: Option<usize>| match (rest, default) {
        ("", Some(default)) => Ok(default),
        _ => match rest.parse::<usize>() {
            Ok(n) if n <= STEPS => Ok(n),
            Ok(_) => Err(wrong(format!("that is more than {STEPS} steps"))),
            Err(_) => Err(wrong(format!("`{word}` takes a number, not `{rest}`"))),
        },
    };
    let (from, _) = session.position();
    match word {
        "step" => {
            for _ in 0..number(Some(1))? {
                session.step().map_err(|message| (message, true))?;
            }
        }
        "take" => take(session, rest)?,
        "random" => {
            for done in 0..number(Some(1))? {
                if !session.step_at_random() {
                    let (given, place) = (session.possible(), session.place());
                    let message =
                        format!("no step is possible in {place} after {done} steps\n{given}");
                    return Err((message, true));
                }
            }
        }
        "set" => {
            let (name, text) = assignment(word, rest)?;
            session.set(name, text).map_err(wrong)?;
        }
        "unset" => session.unset(Some(rest).filter(|r| !r.is_empty())).map_err(wrong)?,
        "back" => drop(session.back(number(Some(1))?)),
        "forward" => drop(session.forward(number(Some(1))?)),
        "reset" => drop(session.back(usize::MAX)),
        "seed" => session.seed(number(None)? as u64),
        "show" => show(session, print),
        "possible" => {
            for (number, choice) in (1..).zip(session.choices()) {
                print(&format!("  {number}: {}{}", choice.name, with(session, &choice)));
            }
        }
        "properties" => properties(session, print),
        "watch" | "unwatch" => {
            let id = session.var(rest).map_err(wrong)?;
            session.watches.retain(|w| *w != id);
            if word == "watch" {
                session.watches.push(id);
            }
        }
        "trace" => shown::steps(session.moves, &session.walk(), 0).iter().for_each(|l| print(l)),
        "expect" => expect(session, rest)?,
        "load" => files.load(session, rest).map_err(|message| (message, true))?,
        "save" => files.save(session, rest).map_err(wrong)?,
        _ => {
            let known = COMMANDS.split(['\n', ',']).filter_map(|l| l.split_whitespace().next());
            let near = crate::formats::names::closest(word, known);
            let near = near.map_or(String::new(), |n| format!("; did you mean `{n}`?"));
            return Err(wrong(format!("`{word}` is not a command{near}\n{COMMANDS}")));
        }
    }
    let (to, _) = session.position();
    if from != to {
        after(session, from, print);
    }
    Ok(())
}

fn assignment<'t>(word: &str, rest: &'t str) -> Result<(&'t str, &'t str), Fault> {
    let parts = rest.split_once('=').map(|(name, value)| (name.trim(), value.trim()));
    parts.ok_or_else(|| wrong(format!("write `{word} NAME = VALUE`")))
}

/// The inputs of a choice.
pub fn with(session: &Session<'_>, choice: &Choice) -> String {
    let inputs = &session.moves.cfa.inputs;
    let list: Vec<String> = (choice.inputs.iter())
        .map(|(id, word)| {
            let input = &inputs[id.index()];
            let value = crate::ir::value::show(&input.ty, input.width, *word);
            format!("{} = {value}", session.names.input(*id))
        })
        .collect();
    if list.is_empty() { String::new() } else { format!(" (with {})", list.join(", ")) }
}

fn take(session: &mut Session<'_>, wanted: &str) -> Result<(), Fault> {
    let choices = session.choices();
    let numbered = wanted.parse::<usize>().ok().and_then(|n| choices.get(n.checked_sub(1)?));
    let is_meant = |c: &&Choice| c.name == wanted || c.name.starts_with(wanted);
    let found: Vec<&Choice> = match numbered {
        Some(choice) => vec![choice],
        None if wanted.is_empty() => return Err(wrong("`take` which transition?")),
        None => {
            let exact: Vec<&Choice> = choices.iter().filter(|c| c.name == wanted).collect();
            if exact.is_empty() { choices.iter().filter(is_meant).collect() } else { exact }
        }
    };
    match found[..] {
        [choice] => {
            let choice = choice.clone();
            session.take(&choice);
            Ok(())
        }
        [] => Err((format!("`{wanted}` is not possible here\n{}", session.possible()), true)),
        _ => {
            let names: Vec<String> = found.iter().map(|c| format!("  {}", c.name)).collect();
            let message = format!("`{wanted}` means several transitions:\n{}", names.join("\n"));
            Err(wrong(message))
        }
    }
}

/// What steps have done.
fn after(session: &Session<'_>, from: usize, print: &mut dyn FnMut(&str)) {
    let walk = session.walk();
    if walk.steps.len() > from {
        shown::steps(session.moves, &walk, from).iter().for_each(|line| print(line));
    } else {
        print(&format!("{:>5}  {}", walk.steps.len(), session.place()));
    }
    for id in &session.watches {
        print(&format!("       {} = {}", session.names.var(*id), session.value(*id)));
    }
    for (property, is_now) in session.broken().into_iter().filter(|b| b.1) {
        debug_assert!(is_now);
        print(&format!("       {} is broken here", session.names.property(property)));
    }
}

fn show(session: &Session<'_>, print: &mut dyn FnMut(&str)) {
    let (at, more) = session.position();
    let more = if more > 0 { format!(", {more} taken back") } else { String::new() };
    print(&format!("  {} after {at} steps{more}", session.place()));
    for id in (0..session.moves.cfa.vars.len() as u32).map(VarId) {
        print(&format!("  {} = {}", session.names.var(id), session.value(id)));
    }
}

fn properties(session: &Session<'_>, print: &mut dyn FnMut(&str)) {
    let broken = session.broken();
    for (number, _) in session.moves.cfa.properties.iter().enumerate() {
        let id = crate::ir::PropertyId(number as u32);
        let what = match broken.iter().find(|b| b.0 == id) {
            None => "holds here",
            Some((_, true)) => "is broken here",
            Some((_, false)) => "can be broken in the next step",
        };
        print(&format!("  {} {what}", session.names.property(id)));
    }
}

fn expect(session: &Session<'_>, rest: &str) -> Result<(), Fault> {
    let (name, text) = assignment("expect", rest)?;
    let is = match session.var(name) {
        Ok(id) => session.value(id),
        Err(_) if name == "state" => session.place(),
        Err(message) => return Err(wrong(message)),
    };
    match is == text {
        true => Ok(()),
        false => Err((format!("{name} is {is}, not {text}"), true)),
    }
}
