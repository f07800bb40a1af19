//! A suite for programs.

use super::variables;
use crate::frontend::machines::Machines;
use crate::frontend::source::{Place, Source};
use crate::ir::formats::Names;
use crate::ir::{InputId, VarId};
use crate::report::json::{Named, Shown};
use crate::suite::{Cover, Found, Suite, goals::transition_name};
use crate::validate::{State, Taken};
use serde_json::{Value, json};

/// The suite as a JSON object: goals with what was found, and the cases.
pub fn write(moves: &Machines, source: &Source, cover: Cover, suite: &Suite) -> Value {
    let cfa = &moves.cfa;
    let names = Names::new(cfa);
    let (parameters, vars) = variables(cfa);
    let values = |ids: &[VarId], state: &State| {
        let shown = ids.iter().map(|id| {
            let var = &cfa.vars[id.index()];
            (names.var(*id), Shown::new(&var.ty, var.width, state.values[id.index()]))
        });
        Named(shown.collect())
    };
    let inputs = |taken: &Taken| {
        let shown = taken.inputs.iter().map(|(id, word): &(InputId, _)| {
            let input = &cfa.inputs[id.index()];
            (names.input(*id), Shown::new(&input.ty, input.width, *word))
        });
        Named(shown.collect())
    };
    let states = |state: &State| {
        let at = &moves.at[state.location.index()];
        let all = moves.machines.iter().zip(at);
        let all = all.map(|(m, s)| (m.name.clone(), Shown::Text(m.states[*s].0.clone())));
        Named(all.collect())
    };
    let goals = suite.goals.iter().map(|(goal, found)| {
        let Place { line, column, .. } = source.place(goal.span.start);
        let mut shown = json!({ "goal": goal.name, "line": line, "column": column });
        match found {
            Found::Covered(case) => {
                shown["verdict"] = "covered".into();
                shown["case"] = (*case).into();
            }
            Found::Unreachable => shown["verdict"] = "unreachable".into(),
            Found::Unknown(why) => {
                shown["verdict"] = "unknown".into();
                shown["reason"] = why.as_str().into();
            }
        }
        shown
    });
    let cases = suite.cases.iter().map(|case| {
        let walk = &case.walk;
        let steps = walk.steps.iter().zip(&walk.states[1..]).map(|(taken, after)| {
            let transitions = moves.taken[taken.edge.index()].iter();
            let transitions: Vec<String> =
                transitions.map(|t| transition_name(moves, *t)).collect();
            json!({
                "inputs": inputs(taken),
                "transitions": transitions,
                "states": states(after),
                "values": values(&vars, after),
            })
        });
        let covers: Vec<&str> =
            case.covers.iter().map(|g| suite.goals[*g].0.name.as_str()).collect();
        json!({
            "covers": covers,
            "parameters": values(&parameters, &walk.states[0]),
            "steps": steps.collect::<Vec<Value>>(),
        })
    });
    json!({
        "model": cfa.name,
        "cover": cover.name(),
        "covered": suite.covered(),
        "goals": goals.collect::<Vec<Value>>(),
        "cases": cases.collect::<Vec<Value>>(),
    })
}
