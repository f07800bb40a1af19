//! A model as a picture: its machines as the source has them, or the machine that a program is, or else its automaton.

use super::args::ModelArgs;
use super::dot::excerpt;
use super::guard;
use std::path::Path;
use vouch_host::formats::Names;
use vouch_host::frontend::outline::Outline;
use vouch_host::frontend::{self, Language};
use vouch_host::ir::{Cfa, value};
use vouch_host::pipeline::Loaded;
use vouch_host::report::svg::{self, Machine, Picture, State};
use vouch_host::simplify::states;

/// Characters of a guard.
const GUARD: usize = 80;

/// Draws a model as the text of an SVG file.
pub fn draw(model: &Loaded, args: &ModelArgs) -> String {
    let of_source = Language::from_path(Path::new(&model.source.path));
    let outline = args.lang.or(of_source).and_then(|lang| frontend::outline(&model.source, lang));
    let picture = match outline.filter(|o| !o.machines.is_empty()) {
        Some(outline) => of_outline(&model.cfa.name, &outline),
        // Without text there are no words of the source.
        None if model.source.text.is_empty() => {
            of_states(model).unwrap_or_else(|| of_automaton(model))
        }
        None => of_automaton(model),
    };
    svg::draw(&picture)
}

/// A guard and an action, as state charts have them.
fn label(guard: &str, action: &str) -> String {
    match action.is_empty() {
        true => guard.to_owned(),
        false => format!("{guard} / {action}"),
    }
}

fn of_outline(name: &str, outline: &Outline) -> Picture {
    let machine = |(m, machine): (usize, &frontend::outline::Machine)| {
        let state = |(s, name): (usize, &String)| {
            let own = machine.transitions.iter().filter(|t| t.from == s);
            let stays = own.filter_map(|t| match t.to {
                None => Some(label(&t.guard, &t.action)),
                Some(to) if to == s => Some(format!("↻ {}", label(&t.guard, &t.action))),
                Some(_) => None,
            });
            let always = machine.always.get(s).cloned().unwrap_or_default();
            let always = [("entry", always.entry), ("exit", always.exit)].into_iter();
            let always = always.filter(|(_, action)| !action.is_empty());
            State {
                name: name.clone(),
                inside: always.map(|(when, action)| label(when, &action)).chain(stays).collect(),
                forbidden: outline.forbidden.contains(&(m, s)),
            }
        };
        let leads = machine.transitions.iter();
        let leads = leads.filter_map(|t| Some((t.from, t.to?, label(&t.guard, &t.action))));
        Machine {
            name: machine.name.clone(),
            states: machine.states.iter().enumerate().map(state).collect(),
            initial: machine.initial,
            transitions: leads.collect(),
        }
    };
    Picture {
        title: name.to_owned(),
        subtitle: outline.system.clone(),
        machines: outline.machines.iter().enumerate().map(machine).collect(),
        properties: outline.properties.clone(),
    }
}

/// The machine that a program is: a state for each value of the variable that tells them apart.
fn of_states(model: &Loaded) -> Option<Picture> {
    let mut cfa = model.cfa.clone();
    let found = states::machine(&mut cfa)?;
    let names = Names::new(&cfa);
    let var = &cfa.vars[found.var.index()];
    let is_error = |id| cfa.properties.iter().any(|p| p.error == id);
    // What fails is not drawn: whether it is ever reached is what a check tells.
    let shown = found.states.iter().enumerate().filter(|(_, (at, _))| !is_error(*at));
    let shown: Vec<usize> = shown.map(|(i, _)| i).collect();
    let mut drawn: Vec<State> = (shown.iter())
        .map(|i| {
            let (at, value) = found.states[*i];
            let value = value.map(|value| value::show(&var.ty, var.width, value));
            let is_loop = cfa.locations[at.index()].name.starts_with("loop ");
            let name = match (value, is_loop) {
                (Some(value), false) => value,
                (Some(value), true) => format!("{value}: {}", cfa.locations[at.index()].name),
                (None, _) => cfa.locations[at.index()].name.clone(),
            };
            State { name, inside: vec![], forbidden: false }
        })
        .collect();
    let number = |state: usize| shown.iter().position(|i| *i == state);
    let mut transitions: Vec<(usize, usize, String)> = vec![];
    for (from, to, condition) in &found.transitions {
        let (Some(from), Some(to)) = (number(*from), number(*to)) else { continue };
        let text = guard::show(&cfa, *condition, found.var);
        if from == to {
            continue;
        }
        match transitions.iter_mut().find(|t| (t.0, t.1) == (from, to)) {
            Some((_, _, texts)) if texts.split(" or ").any(|t| t == text) => {}
            Some((_, _, texts)) => texts.push_str(&format!(" or {text}")),
            None => transitions.push((from, to, text)),
        }
    }
    let initial = found.states.iter().position(|(at, _)| *at == cfa.init).and_then(number)?;
    drawn[initial].name = "reset".into();
    let properties = (0..).zip(&cfa.properties).map(|(i, _)| (names.properties.show(i), "".into()));
    Some(Picture {
        title: cfa.name.clone(),
        subtitle: None,
        machines: vec![Machine { name: var.name.clone(), states: drawn, initial, transitions }],
        properties: properties.collect(),
    })
}

/// Without an outline: locations and edges.
fn of_automaton(model: &Loaded) -> Picture {
    let cfa: &Cfa = &model.simplified.cfa;
    let names = Names::new(cfa);
    let is_error = |id| cfa.properties.iter().any(|p| p.error == id);
    let number = |id| model.map.locations.iter().position(|l| *l == id);
    let mut states: Vec<State> = (model.map.locations.iter())
        .map(|id| State { name: names.location(*id), inside: vec![], forbidden: is_error(*id) })
        .collect();
    let mut transitions = vec![];
    for id in &model.map.edges {
        let edge = &cfa.edges[id.index()];
        let (Some(from), Some(to)) = (number(edge.from), number(edge.to)) else { continue };
        let guard = excerpt(model, edge.span, GUARD);
        match from == to {
            true => states[from].inside.push(guard),
            false => transitions.push((from, to, guard)),
        }
    }
    let initial = number(cfa.init).unwrap_or(0);
    let properties = (0..)
        .zip(&cfa.properties)
        .map(|(i, p)| (names.properties.show(i), excerpt(model, p.span, GUARD)));
    Picture {
        title: cfa.name.clone(),
        subtitle: None,
        machines: vec![Machine { name: cfa.name.clone(), states, initial, transitions }],
        properties: properties.collect(),
    }
}
