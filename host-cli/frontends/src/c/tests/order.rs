//! Operands in any order, against all orders that C allows, tried one by one.

use super::random::Random;
use super::{compile, options, run};
use crate::limits;
use std::collections::{BTreeSet, HashMap, HashSet};
use vouch_ir::{Cfa, InputId, LocId, Word, eval};

/// Three numbers, and an array of two.
type Memory = [u8; 5];

const DECLARATIONS: &str = "unsigned char g0 = 1, g1 = 2, g2 = 3, b[2] = {4, 5}, result;
    unsigned char f0(unsigned char x) { g0 = g0 * 3 + x; return g1 + x; }
    unsigned char f1(unsigned char x, unsigned char y) {
        g1 = g0 + x + y * 5; b[x & 1] += g2; return g1 ^ y; }";

/// An expression of type `unsigned char`.
#[derive(Clone, Debug)]
enum E {
    Read(usize),
    Element(Box<E>),
    Add(Box<E>, Box<E>),
    Call0(Box<E>),
    Call1(Box<E>, Box<E>),
    Assign(usize, Box<E>),
    AssignElement(Box<E>, Box<E>),
    Update(usize, Box<E>),
}

fn random(rng: &mut Random, depth: u32) -> E {
    let kind = if depth == 0 { 0 } else { rng.below(10) };
    let number = rng.below(3) as usize;
    let mut below = || Box::new(random(rng, depth - 1));
    match kind {
        1 => E::Element(below()),
        2..=4 => E::Add(below(), below()),
        5 => E::Call0(below()),
        6 => E::Call1(below(), below()),
        7 => E::Assign(number, below()),
        8 => E::AssignElement(below(), below()),
        9 => E::Update(number, below()),
        _ => E::Read(number),
    }
}

fn text(e: &E) -> String {
    match e {
        E::Read(n) => format!("g{n}"),
        E::Element(i) => format!("b[{} & 1]", text(i)),
        E::Add(a, b) => format!("(unsigned char)({} + {})", text(a), text(b)),
        E::Call0(x) => format!("f0({})", text(x)),
        E::Call1(x, y) => format!("f1({}, {})", text(x), text(y)),
        E::Assign(n, x) => format!("(g{n} = {})", text(x)),
        E::AssignElement(i, x) => format!("(b[{} & 1] = {})", text(i), text(x)),
        E::Update(n, x) => format!("(g{n} += {})", text(x)),
    }
}

/// What happens to memory, with the values of what is needed, and its own value.
type Happens = Box<dyn Fn(&mut Memory, &[u8]) -> u8>;
/// What happens at once, once what it needs has happened.
type Event = (Vec<usize>, Happens);

/// The events of an expression; the last one gives its value.
fn events(e: &E, all: &mut Vec<Event>) -> usize {
    let needs: Vec<usize> = match e {
        E::Read(_) => vec![],
        E::Element(x) | E::Call0(x) | E::Assign(_, x) => vec![events(x, all)],
        E::Add(x, y) | E::Call1(x, y) | E::AssignElement(x, y) => {
            vec![events(x, all), events(y, all)]
        }
        E::Update(n, x) => {
            let both = vec![events(&E::Read(*n), all), events(x, all)];
            vec![add(both, all)]
        }
    };
    let happens: Happens = match *e {
        E::Read(n) => Box::new(move |m, _| m[n]),
        E::Element(_) => Box::new(|m, x| m[3 + usize::from(x[0] & 1)]),
        E::Add(..) => return add(needs, all),
        E::Call0(_) => Box::new(|m, x| {
            m[0] = m[0].wrapping_mul(3).wrapping_add(x[0]);
            m[1].wrapping_add(x[0])
        }),
        E::Call1(..) => Box::new(|m, x| {
            m[1] = m[0].wrapping_add(x[0]).wrapping_add(x[1].wrapping_mul(5));
            let at = 3 + usize::from(x[0] & 1);
            m[at] = m[at].wrapping_add(m[2]);
            m[1] ^ x[1]
        }),
        E::Assign(n, _) | E::Update(n, _) => Box::new(move |m, x| {
            m[n] = x[0];
            x[0]
        }),
        E::AssignElement(..) => Box::new(|m, x| {
            m[3 + usize::from(x[0] & 1)] = x[1];
            x[1]
        }),
    };
    all.push((needs, happens));
    all.len() - 1
}

fn add(needs: Vec<usize>, all: &mut Vec<Event>) -> usize {
    all.push((needs, Box::new(|_, x| x[0].wrapping_add(x[1]))));
    all.len() - 1
}

/// Memory and value after the events in any order.
fn expected(e: &E) -> BTreeSet<(Memory, u8)> {
    let mut all = vec![];
    let last = events(e, &mut all);
    let mut found = BTreeSet::new();
    let mut seen = HashSet::new();
    let mut todo = vec![([1, 2, 3, 4, 5], vec![None::<u8>; all.len()])];
    while let Some((memory, values)) = todo.pop() {
        if !seen.insert((memory, values.clone())) {
            continue;
        }
        if let Some(value) = values[last] {
            found.insert((memory, value));
        }
        for (i, (needs, happens)) in all.iter().enumerate().filter(|(i, _)| values[*i].is_none()) {
            let needed: Option<Vec<u8>> = needs.iter().map(|n| values[*n]).collect();
            let Some(needed) = needed else { continue };
            let (mut memory, mut values) = (memory, values.clone());
            values[i] = Some(happens(&mut memory, &needed));
            todo.push((memory, values));
        }
    }
    found
}

/// All states at the end of an automaton whose inputs have one bit.
fn reached(cfa: &Cfa) -> Vec<Vec<Word>> {
    let mut seen: HashSet<(LocId, Vec<Word>)> = HashSet::new();
    let mut todo = vec![(cfa.init, vec![0; cfa.vars.len()])];
    let leaving = cfa.leaving();
    let mut ended = vec![];
    while let Some((at, state)) = todo.pop() {
        if !seen.insert((at, state.clone())) {
            continue;
        }
        if cfa.locations[at.index()].name == "end" {
            ended.push(state.clone());
        }
        for edge in &leaving[at.index()] {
            let inputs = cfa.edge_inputs(&cfa.edges[edge.index()]);
            assert!(inputs.iter().all(|i| cfa.inputs[i.index()].width == 1));
            for choice in 0..1u32 << inputs.len() {
                let chosen: HashMap<InputId, Word> =
                    inputs.iter().zip(0..).map(|(i, n)| (*i, (choice >> n & 1).into())).collect();
                if let Some(next) = eval::step(cfa, &state, *edge, |i| chosen[&i]) {
                    todo.push((cfa.edges[edge.index()].to, next));
                }
            }
        }
    }
    ended
}

#[test]
fn every_order_is_looked_at_and_no_other() {
    let mut several = 0;
    for seed in 0..100 {
        let e = random(&mut Random::new(seed), 2 + (seed % 2) as u32);
        let program =
            format!("{DECLARATIONS} int main(void) {{ result = {}; return 0; }}", text(&e));
        let cfa = compile(&program, &options("main")).unwrap().cfa;
        let var = |name: &str| cfa.vars.iter().position(|var| var.name == name).unwrap();
        let names = ["g0", "g1", "g2", "b[0]", "b[1]"].map(|name| {
            // What is never read may be left out.
            cfa.vars.iter().position(|var| var.name == name)
        });
        let found: BTreeSet<(Memory, u8)> = reached(&cfa)
            .into_iter()
            .map(|s| (names.map(|n| n.map_or(0, |n| s[n] as u8)), s[var("result")] as u8))
            .collect();
        let expected: BTreeSet<(Memory, u8)> = expected(&e)
            .into_iter()
            .map(|(m, v)| {
                let mut m = m;
                m.iter_mut().zip(&names).filter(|(_, n)| n.is_none()).for_each(|(m, _)| *m = 0);
                (m, v)
            })
            .collect();
        assert_eq!(found, expected, "seed {seed}: {}", text(&e));
        several += u32::from(expected.len() > 1);
    }
    assert!(several > 20, "{several}");
}

/// Whether a program depends on an order, and what a run in the usual one gives.
fn depends(declarations: &str, statements: &str) -> bool {
    let text = format!(
        "extern void reach_error(void); {declarations} int main(void) {{ {statements} return 0; }}"
    );
    let compiled = compile(&text, &options("main")).unwrap();
    compiled.cfa.properties.iter().any(|p| p.name == limits::ORDER)
}

#[test]
fn only_what_conflicts_is_reordered() {
    let f = "int a, c; int f(void) { return a++; } int g(void) { return c++; } int h(void) { return a; }";
    let check = |e: &str| depends(f, &format!("int x = 0, y = 0; if ({e}) reach_error();"));
    assert!(check("f() + f()"));
    assert!(check("a + f()"));
    assert!(check("f() - h()"));
    assert!(check("(a += f())"));
    assert!(check("x + (x = 1)"));
    assert!(!check("f() + g()"));
    assert!(!check("h() + h() + a"));
    assert!(!check("c + f()"));
    assert!(!check("f() && f()"));
    assert!(!check("f() ? f() : a"));
    assert!(!check("(f(), a)"));
    assert!(!check("x++ + y++"));
    assert!(!check("(x = f() + y)"));
    assert!(check("f() + (f() ? f() + f() : f())"));
    assert!(depends(f, "int v[2] = {f(), f()}; if (v[0]) reach_error();"));
    assert!(!depends(f, "int v[2] = {f(), g()}; if (v[0]) reach_error();"));
    assert!(!depends(f, "int v[3], *p = v; *p++ = f(); *p++ = g(); if (v[0]) reach_error();"));
    let warnings = |e: &str| {
        let text = format!("{f} int main(void) {{ return {e}; }}");
        let warnings = compile(&text, &options("main")).unwrap().warnings;
        let found = warnings.into_iter().find(|w| w.message.contains("comes first"))?;
        let shown = |span: vouch_ir::Span| text[span.start as usize..span.end as usize].to_owned();
        Some((shown(found.span), shown(found.related[0].0)))
    };
    assert_eq!(warnings("f() + 2 * h()"), Some(("f()".into(), "h()".into())));
    assert_eq!(warnings("a - f()"), Some(("a".into(), "f()".into())));
    assert_eq!(warnings("g() - f()"), None);
    // What is told before anybody else knows does not matter.
    let ends = "void exit(int); int e(void) { exit(0); } int r(void) { reach_error(); return 0; }";
    assert!(depends(ends, "e() + r();"));
}

#[test]
fn parts_of_an_object_do_not_conflict() {
    let s = "struct s { int n; unsigned f : 3, g : 5; int a[4]; struct { int x, y; } p[2]; int tail[1]; } v;";
    let check = |e: &str| {
        let text = format!(
            "struct s *p = &v, *q = &v, *r = &v; struct s **z = &r; if ({e}) reach_error();"
        );
        depends(s, &text)
    };
    for apart in [
        "p->n++ + p->f",
        "p->f++ + p->g",
        "v.n++ + v.f",
        "p->a[p->n++ & 3] + p->p[1].x",
        "(p->a[2] = p->n++) + p->f",
        "v.a[v.n++ & 3] = v.p[v.f].y",
    ] {
        assert!(!check(apart), "{apart}");
    }
    for conflict in [
        "p->n++ + q->n",
        "p->n++ + v.n",
        "(p->a[p->n & 3] = 1) + p->a[p->f & 3]",
        "(p->p[p->f & 1].x = 1) + p->p[0].y",
        "(p->tail[0] = 1) + p->tail[p->n & 3]",
        "r->n++ + r->f",
        "(*z)->n++ + r->n",
    ] {
        assert!(check(conflict), "{conflict}");
    }
}

#[test]
fn another_order_breaks_a_limit_and_the_usual_one_a_property() {
    let f = "extern void reach_error(void); int a; int f(void) { return a = 1; } int g(void) { return a = 2; }";
    let program = |e: &str| format!("{f} int main(void) {{ f() + g(); if ({e}) reach_error(); }}");
    let ends = |e: &str, input| {
        let cfa = compile(&program(e), &options("main")).unwrap().cfa;
        run(&cfa, input, 100).location
    };
    assert_eq!(ends("a == 2", 0), "error reach_error");
    assert_eq!(ends("a == 2", 1), "end");
    assert_eq!(ends("a == 1", 0), "end");
    assert_eq!(ends("a == 1", 1), format!("error {}", limits::ORDER));
}
