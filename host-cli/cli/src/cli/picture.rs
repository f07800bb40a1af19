//! A model as a picture: its machines as the source has them, or else its automaton.

use super::args::ModelArgs;
use super::dot::excerpt;
use std::path::Path;
use vouch_host::formats::Names;
use vouch_host::frontend::outline::Outline;
use vouch_host::frontend::{self, Language};
use vouch_host::ir::Cfa;
use vouch_host::pipeline::Loaded;
use vouch_host::report::svg::{self, Machine, Picture, State};

/// Characters of a guard.
const GUARD: usize = 80;

/// The picture.
pub fn draw(model: &Loaded, args: &ModelArgs) -> String {
    let of_source = Language::from_path(Path::new(&model.source.path));
    let outline = args.lang.or(of_source).and_then(|lang| frontend::outline(&model.source, lang));
    let picture = match outline.filter(|o| !o.machines.is_empty()) {
        Some(outline) => of_outline(&model.cfa.name, &outline),
        None => of_automaton(model),
    };
    svg::draw(&picture)
}

fn of_outline(name: &str, outline: &Outline) -> Picture {
    let machine = |(m, machine): (usize, &frontend::outline::Machine)| {
        let state = |(s, name): (usize, &String)| {
            let own = machine.transitions.iter().filter(|t| t.from == s);
            let inside = own.filter_map(|t| match t.to {
                None => Some(t.guard.clone()),
                Some(to) if to == s => Some(format!("↻ {}", t.guard)),
                Some(_) => None,
            });
            State {
                name: name.clone(),
                inside: inside.collect(),
                forbidden: outline.forbidden.contains(&(m, s)),
            }
        };
        let leads = machine.transitions.iter();
        let leads = leads.filter_map(|t| Some((t.from, t.to?, t.guard.clone())));
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
