//! The compiler against the reference interpreter, on random automata.

use std::collections::HashSet;
use vouch_core::image::Image;
use vouch_core::word::Word as _;
use vouch_host::blast::{AlignedImage, Model, Options, compile};
use vouch_host::ir::{Cfa, Expr, ExprId, LocId, VarKind, Word, eval};
use vouch_host::{decode, ir};
use vouch_tests::explicit::{self, Outcome, Program};
use vouch_tests::image_sim;
use vouch_tests::random_cfa::{Shape, generate};
use vouch_tests::rng::Rng;

fn compiled(cfa: &Cfa) -> (Model, AlignedImage) {
    cfa.check().unwrap();
    let model = compile(cfa, [7; 32], &Options::default()).unwrap();
    let image = AlignedImage::new(&model.image);
    (model, image)
}

fn view(image: &AlignedImage) -> Image<'_, u16> {
    image.view().unwrap()
}

/// Every edge of the image does on the live bits what the interpreter does on the state.
#[test]
fn steps_agree() {
    let (mut taken, mut shared) = (0, 0);
    for shape in Shape::ALL {
        for seed in 0..250 {
            let cfa = generate(seed, shape);
            let (model, image) = compiled(&cfa);
            let (map, image) = (&model.map, view(&image));
            let mut rng = Rng::new(seed);
            let mut networks = HashSet::new();
            for (e, id) in map.edges.iter().enumerate() {
                let gates = image.edge(e).gates;
                shared += (!gates.is_empty() && !networks.insert(gates.as_ptr())) as usize;
                for _ in 0..12 {
                    let state: Vec<Word> = cfa.vars.iter().map(|v| rng.word(v.width)).collect();
                    let inputs: Vec<Word> = cfa.inputs.iter().map(|i| rng.word(i.width)).collect();
                    let value = |v: &[Word], b: usize| {
                        let (var, bit) = map.bits[b];
                        v[var.index()] >> bit & 1 == 1
                    };
                    let live = |l: usize, state: &[Word]| -> Vec<bool> {
                        image.location(l).live.iter().map(|b| value(state, b.get())).collect()
                    };
                    let (from, to) = image.ends(e);
                    let input = |(i, bit): &(ir::InputId, u32)| inputs[i.index()] >> bit & 1 == 1;
                    let bits: Vec<bool> = map.edge_inputs[e].iter().map(input).collect();
                    let (guard, next) = image_sim::step(&image, e, &live(from, &state), &bits);
                    let want = eval::step(&cfa, &state, *id, |i| inputs[i.index()]);
                    assert_eq!(guard, want.is_some(), "guard of edge {e} of {}", cfa.name);
                    if let Some(after) = want {
                        assert_eq!(next, live(to, &after), "edge {e} of {}", cfa.name);
                        taken += 1;
                    }
                }
            }
        }
    }
    assert!(taken > 20_000, "only {taken} steps were possible");
    assert!(shared > 500, "only {shared} edges share the network of another");
}

/// The image has the same verdicts, at the same depth, as the automaton; its runs are runs.
#[test]
fn verdicts_agree_and_runs_replay() {
    for shape in Shape::ALL {
        let (mut safe, mut broken, mut deep) = (0, 0, 0);
        for seed in 0..60 {
            let cfa = generate(seed, shape);
            let (model, image) = compiled(&cfa);
            let truth = explicit::search(&cfa);
            let found = image_sim::search(&view(&image));
            for (property, (want, (got, run))) in truth.iter().zip(&found).enumerate() {
                assert_eq!(want, got, "property {property} of {}", cfa.name);
                match got {
                    // Safe for lack of any edge into the error location is not worth counting.
                    Outcome::Safe => safe += entered(&model, &image, &cfa, property) as usize,
                    Outcome::Unsafe { length } => {
                        broken += 1;
                        deep += (*length > 3) as usize;
                    }
                    Outcome::TooLarge => panic!("{} is too large", cfa.name),
                }
                let Some(run) = run else { continue };
                let trace =
                    decode::trace(&model.map, &cfa, property, &run.initial, &run.steps).unwrap();
                assert_eq!(replay(&cfa, &trace), cfa.properties[property].error, "{}", cfa.name);
            }
        }
        let enough = safe >= 25 && broken >= 25 && deep >= 4;
        assert!(enough, "{shape:?}: {safe} safe, {broken} broken, {deep} deep");
    }
}

/// Whether an edge of the image enters the error location.
fn entered(model: &Model, image: &AlignedImage, cfa: &Cfa, property: usize) -> bool {
    let error = cfa.properties[property].error;
    let at = model.map.locations.iter().position(|l| *l == error).unwrap();
    !view(image).location(at).in_edges.is_empty()
}

/// Where a trace ends.
fn replay(cfa: &Cfa, trace: &ir::Trace) -> LocId {
    let mut state = vec![0; cfa.vars.len()];
    for (var, value) in &trace.initial {
        state[var.index()] = *value;
        assert!(explicit::within_bounds(cfa, *var, *value));
    }
    let mut location = cfa.init;
    for step in &trace.steps {
        let edge = &cfa.edges[step.edge.index()];
        assert_eq!(edge.from, location);
        // Not those that only other edges with the same network read.
        let read = cfa.edge_inputs(edge);
        assert!(step.inputs.iter().all(|i| read.contains(&i.0)), "{:?}", step.inputs);
        let input = |i| step.inputs.iter().find(|x| x.0 == i).map_or(0, |x| x.1);
        state = eval::step(cfa, &state, step.edge, input).expect("a guard is false");
        location = edge.to;
    }
    location
}

#[test]
fn equal_automata_give_equal_bytes() {
    for shape in Shape::ALL {
        for seed in 0..20 {
            let (one, other) = (generate(seed, shape), generate(seed, shape));
            assert_eq!(one, other);
            assert_eq!(compiled(&one).0, compiled(&other).0);
        }
    }
}

/// The reachable states of the automaton, seen through the image, satisfy what slicing claims.
#[test]
fn what_is_cut_off_cannot_matter() {
    let mut dropped = 0;
    for shape in [Shape::Unreachable, Shape::DeadEnds, Shape::Mixed] {
        for seed in 0..100 {
            let cfa = generate(seed, shape);
            let map = compiled(&cfa).0.map;
            // Walk the control graph without looking at guards but constant ones.
            let mut reached = HashSet::from([cfa.init]);
            let falsum = |e: &ir::Edge| cfa.pool.as_const(e.guard) == Some(0);
            for _ in 0..cfa.locations.len() {
                for e in cfa.edges.iter().filter(|e| !falsum(e)) {
                    if reached.contains(&e.from) {
                        reached.insert(e.to);
                    }
                }
            }
            let unreachable: HashSet<LocId> = map.unreachable.iter().copied().collect();
            for l in (0..cfa.locations.len() as u32).map(LocId) {
                let error = cfa.properties.iter().any(|p| p.error == l);
                if !reached.contains(&l) {
                    assert!(unreachable.contains(&l), "{l:?} of {}", cfa.name);
                }
                if error {
                    assert!(map.locations.contains(&l));
                }
                dropped += !map.locations.contains(&l) as usize;
            }
        }
    }
    assert!(dropped > 100);
}

/// The generator is only as good as what it generates.
#[test]
fn generated_automata_have_every_operator_and_kind() {
    let mut seen = HashSet::new();
    let (mut params, mut self_loops, mut shared) = (0, 0, 0);
    for shape in Shape::ALL {
        for seed in 0..60 {
            let cfa = generate(seed, shape);
            for id in (0..cfa.pool.len() as u32).map(ExprId) {
                seen.insert(match cfa.pool.get(id) {
                    Expr::Binary(op, ..) => format!("{op:?}"),
                    Expr::Unary(op, _) => format!("{op:?}"),
                    Expr::Extend { signed, .. } => format!("extend {signed}"),
                    Expr::Ite(..) => "ite".into(),
                    Expr::Slice { .. } => "slice".into(),
                    Expr::Input(_) => "input".into(),
                    Expr::Const(_) | Expr::Var(_) => continue,
                });
            }
            params += cfa.vars.iter().filter(|v| v.kind != VarKind::State).count();
            self_loops += cfa.edges.iter().filter(|e| e.from == e.to).count();
            let errors: HashSet<_> = cfa.properties.iter().map(|p| p.error).collect();
            shared += (errors.len() < cfa.properties.len()) as usize;
        }
    }
    assert!(params > 50 && self_loops > 200 && shared > 5, "{params} {self_loops} {shared}");
    // 19 binary and 2 unary operators, two extensions, ite, slice, input.
    assert_eq!(seen.len(), 26, "{seen:?}");
}

/// The quick evaluator of the explicit search is the reference interpreter.
#[test]
fn programs_are_the_interpreter() {
    for shape in Shape::ALL {
        for seed in 0..30 {
            let cfa = generate(seed, shape);
            let mut rng = Rng::new(seed);
            for id in (0..cfa.edges.len() as u32).map(ir::EdgeId) {
                let program = Program::new(&cfa, id);
                for _ in 0..8 {
                    let state: Vec<Word> = cfa.vars.iter().map(|v| rng.word(v.width)).collect();
                    let inputs: Vec<Word> = cfa.inputs.iter().map(|i| rng.word(i.width)).collect();
                    let want = eval::step(&cfa, &state, id, |i| inputs[i.index()]);
                    assert_eq!(program.step(&state, &inputs), want);
                }
            }
        }
    }
}

/// `init -> a`, and `a -> error` when `x * y == 1`, all of this width; `y` is a parameter if asked.
fn product(width: u32, param: bool) -> Cfa {
    let mut cfa = Cfa::new("product");
    let span = ir::Span::default();
    let kind = VarKind::Param { min: 0, max: ir::mask(width) };
    let mut var = |name: &str, kind| {
        cfa.add_var(ir::Var { name: name.into(), width, ty: ir::Type::Unsigned, kind })
    };
    let x = var("x", VarKind::State);
    let y = var("y", if param { kind } else { VarKind::State });
    let (a, error) = (cfa.add_location("a", span), cfa.add_location("error", span));
    let (x, y) = (cfa.read(x), cfa.read(y));
    let (yes, one) = (cfa.pool.bool(true), cfa.pool.constant(1, width));
    let product = cfa.pool.binary(ir::BinOp::Mul, x, y);
    let guard = cfa.pool.equal(product, one);
    let init = cfa.init;
    cfa.add_edge(ir::Edge { from: init, to: a, guard: yes, updates: vec![], span });
    cfa.add_edge(ir::Edge { from: a, to: error, guard, updates: vec![], span });
    cfa.properties.push(ir::Property { name: "never".into(), error, span });
    cfa
}

#[test]
fn words_are_as_wide_as_needed() {
    let word = |width| {
        let (_, image) = compiled(&product(width, false));
        match image[6] {
            2 => {
                assert_eq!(image.view::<u16>().unwrap().location(0).live.len(), 2 * width as usize)
            }
            _ => {
                assert_eq!(image.view::<u32>().unwrap().location(0).live.len(), 2 * width as usize)
            }
        }
        image[6]
    };
    assert_eq!((word(8), word(128)), (2, 4));
}

#[test]
fn what_does_not_fit_is_said() {
    let error = |cfa, options: &Options| compile(&cfa, [0; 32], options).unwrap_err().to_string();
    let wide = error(product(65, true), &Options::default());
    assert!(wide.contains("parameter y has 65 bits"), "{wide}");
    let many = error(product(64, false), &Options { max_nodes: 1000 });
    assert!(many.contains("more than 1000 gates"), "{many}");
}
