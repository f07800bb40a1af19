//! The outline of a text, from its syntax alone.

use super::ast::{Block, Claim, Expr, ExprKind, Item, Name};
use super::{lexer, parser, reads};
use crate::outline::{Always, Machine, Outline, Transition};
use vouch_ir::Span;

/// The outline of a text that compiles; of one that does not, what can be read of it.
pub fn outline(text: &str) -> Outline {
    let mut errors = vec![];
    let tokens = lexer::lex(text, &mut errors);
    let file = parser::parse(text, &tokens, &mut errors);
    let words = |span: Span| {
        let text = text.get(span.start as usize..span.end as usize).unwrap_or("");
        text.split_whitespace().collect::<Vec<&str>>().join(" ")
    };
    let done = |block: &Block| {
        let statements = block.statements.iter().map(|s| words(s.span));
        let statements = statements.map(|s| s.trim_end_matches(';').trim_end().to_string());
        statements.collect::<Vec<String>>().join("; ")
    };
    let machines: Vec<Machine> = (file.machines.iter())
        .map(|m| {
            let number = |name: &Name| m.states.iter().position(|s| s.name.text == name.text);
            let mut transitions = vec![];
            for (from, state) in m.states.iter().enumerate() {
                let numbered = state.rules.iter().enumerate().flat_map(|(rule, r)| {
                    r.transitions.iter().enumerate().map(move |(at, t)| ([rule, at], t))
                });
                for (rule, t) in numbered {
                    let guard = t.guard.as_ref().map_or("else".into(), |g| words(g.span));
                    let to = t.target.as_ref().and_then(number);
                    let reads = reads::of_transition(&file, m, state, t);
                    let action = done(&t.action);
                    transitions.push(Transition { from, to, guard, action, rule, reads });
                }
            }
            Machine {
                name: m.name.text.clone(),
                states: m.states.iter().map(|s| s.name.text.clone()).collect(),
                always: (m.states.iter())
                    .map(|s| Always {
                        entry: s.entry.as_ref().map_or(String::new(), done),
                        exit: s.exit.as_ref().map_or(String::new(), done),
                    })
                    .collect(),
                initial: m.states.iter().position(|s| s.initial).unwrap_or(0),
                transitions,
            }
        })
        .collect();
    let mut outline = Outline { machines, ..Outline::default() };
    outline.system = file.systems.first().map(|s| {
        let end = tokens.iter().find(|t| t.span.start > s.name.span.end && words(t.span) == ";");
        words(Span { start: s.name.span.start, end: end.map_or(s.name.span.end, |t| t.span.start) })
    });
    let own = file.machines.iter().enumerate();
    let items = file.items.iter().map(|i| (None, i));
    let items =
        items.chain(own.flat_map(|(m, machine)| machine.items.iter().map(move |i| (Some(m), i))));
    for (machine, item) in items {
        let Item::Property { name, claim, .. } = item else { continue };
        let mut behind = tokens.iter().filter(|t| t.span.start >= name.span.end);
        let colon = behind.find(|t| words(t.span) == ":");
        let start = colon.map_or(name.span.end, |t| t.span.end);
        let end = behind.find(|t| words(t.span) == ";");
        let end = end.map_or(start, |t| t.span.start);
        outline.properties.push((name.text.clone(), words(Span { start, end })));
        if let Claim::Never(Expr { kind: ExprKind::In(states), .. }) = claim {
            let found = states.iter().flat_map(|(of, state)| {
                let machines = outline.machines.iter().enumerate();
                machines.filter_map(move |(m, found)| {
                    let named = of.as_ref().is_none_or(|of| of.text == found.name);
                    let here = of.is_some() || machine.is_none_or(|own| own == m);
                    let s = found.states.iter().position(|s| *s == state.text)?;
                    (named && here).then_some((m, s))
                })
            });
            outline.forbidden.extend(found.collect::<Vec<_>>());
        }
    }
    outline
}
