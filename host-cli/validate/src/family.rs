//! For which values of parameters a trace breaks its property: the same edges, inputs and initial values, with the parameters
//! in question open.
//!
//! Along a trace everything is a function of the open parameters, so that "each guard is true" becomes one formula over them.
//! A solver looks for values with which it is false. That there are none in a region is what makes one trace an
//! answer for the whole region: [`breaks_all`].

use super::encode::{Bits, Encoder};
use super::replay::{ReplayError, replay};
use super::solver::Lit;
use rustc_hash::FxHashMap as HashMap;
use vouch_ir::{Cfa, InputId, Trace, Type, VarId, Word};

/// Values of a parameter, from the first to the second in the order of its type.
pub type Bounds = (VarId, Word, Word);

/// A trace as a formula over parameters.
pub struct Family<'a> {
    cfa: &'a Cfa,
    encoder: Encoder<'a>,
    /// Whether the trace is a run.
    runs: Lit,
    open: Vec<VarId>,
}

impl<'a> Family<'a> {
    /// Of a trace that breaks its property with the values that it has.
    pub fn new(cfa: &'a Cfa, trace: &Trace, open: &[VarId]) -> Result<Family<'a>, ReplayError> {
        // All that is checked there (edges that follow each other, the end, widths) does not depend on values.
        replay(cfa, trace)?;
        if trace.forced.steps > 0 {
            return Err(ReplayError::Forced("not all steps of the trace are listed".into()));
        }
        let mut encoder = Encoder::new(&cfa.pool);
        let initial: HashMap<VarId, Word> = trace.initial.iter().copied().collect();
        let mut values: HashMap<VarId, Bits> = HashMap::default();
        for (id, var) in (0..).map(VarId).zip(&cfa.vars) {
            let bits = match open.contains(&id) {
                true => encoder.own(id, var.width),
                false => encoder.word(initial.get(&id).copied().unwrap_or(0), var.width as usize),
            };
            values.insert(id, bits);
        }
        let mut runs = encoder.constant(true);
        for step in &trace.steps {
            vouch_ir::deadline::tick();
            let edge = &cfa.edges[step.edge.index()];
            let chosen: HashMap<InputId, Word> = step.inputs.iter().copied().collect();
            let input = |id: InputId| {
                let width = cfa.inputs[id.index()].width as usize;
                (id, encoder.word(chosen.get(&id).copied().unwrap_or(0), width))
            };
            let inputs = cfa.edge_inputs(edge).into_iter().map(input).collect();
            encoder.enter_with(values.clone(), inputs);
            let guard = encoder.expr(edge.guard)[0];
            runs = encoder.and(runs, guard);
            let after: Vec<(VarId, Bits)> =
                edge.updates.iter().map(|(var, value)| (*var, encoder.expr(*value))).collect();
            values.extend(after);
        }
        encoder.enter(HashMap::default());
        Ok(Family { cfa, encoder, runs, open: open.to_vec() })
    }

    /// Values within these bounds with which the trace is not a run that breaks its property, in the order of the open
    /// parameters; `None` if the solver gave up, nothing in it if there are none.
    pub fn exception(&mut self, bounds: &[Bounds]) -> Option<Option<Vec<Word>>> {
        let mut assumed: Vec<Lit> =
            bounds.iter().flat_map(|b| between(self.cfa, &mut self.encoder, b)).collect();
        assumed.push(!self.runs);
        let impossible = self.encoder.constant(false);
        if assumed.contains(&impossible) {
            return Some(None);
        }
        let found = self.encoder.solver.solve(&assumed)?;
        Some(found.then(|| self.open.iter().map(|v| self.encoder.var_value(*v)).collect()))
    }
}

/// Whether a trace, with these parameters at any of these values, breaks its property. Independent of what [`Family`] was
/// asked before: with a solver of its own, and without assumptions.
pub fn breaks_all(cfa: &Cfa, trace: &Trace, bounds: &[Bounds]) -> Result<bool, ReplayError> {
    let open: Vec<VarId> = bounds.iter().map(|b| b.0).collect();
    let mut family = Family::new(cfa, trace, &open)?;
    for bound in bounds {
        for lit in between(cfa, &mut family.encoder, bound) {
            family.encoder.solver.add_clause(&[lit]);
        }
    }
    let runs = family.runs;
    family.encoder.solver.add_clause(&[!runs]);
    Ok(family.encoder.solver.solve(&[]) == Some(false))
}

/// That a parameter is within bounds.
fn between(cfa: &Cfa, encoder: &mut Encoder<'_>, bounds: &Bounds) -> [Lit; 2] {
    let (id, min, max) = *bounds;
    let var = &cfa.vars[id.index()];
    let width = var.width as usize;
    let ordered = |mut bits: Bits| {
        if let (Type::Signed, Some(sign)) = (&var.ty, bits.last_mut()) {
            *sign = !*sign;
        }
        bits
    };
    let value = ordered(encoder.own(id, var.width));
    let (min, max) = (ordered(encoder.word(min, width)), ordered(encoder.word(max, width)));
    [!encoder.less(&value, &min), !encoder.less(&max, &value)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use vouch_ir::VarKind;
    use vouch_ir::sample::{Random, random_cfa, timer, timer_trace};

    /// The values with which a trace is a run, one by one.
    fn one_by_one(cfa: &Cfa, trace: &Trace, param: VarId) -> Vec<Word> {
        let with = |value: Word| {
            let mut trace = trace.clone();
            trace.initial.retain(|i| i.0 != param);
            trace.initial.push((param, value));
            trace
        };
        let width = cfa.vars[param.index()].width;
        (0..1 << width).filter(|v| replay(cfa, &with(*v)).is_ok()).collect()
    }

    /// Two steps up to the limit: with limit 2 only.
    #[test]
    fn a_run_of_one_value() {
        let (cfa, trace, limit) = (timer(true), timer_trace(), VarId(1));
        assert_eq!(one_by_one(&cfa, &trace, limit), [2]);
        assert_eq!(breaks_all(&cfa, &trace, &[(limit, 2, 2)]), Ok(true));
        assert_eq!(breaks_all(&cfa, &trace, &[(limit, 2, 3)]), Ok(false));
        let mut family = Family::new(&cfa, &trace, &[limit]).unwrap();
        assert_eq!(family.exception(&[(limit, 2, 2)]), Some(None));
        assert!(matches!(family.exception(&[(limit, 1, 2)]), Some(Some(v)) if v == [1]));
    }

    /// Traces of random automata against each value by itself.
    #[test]
    fn agrees_with_each_value() {
        let (mut ranges, mut partial) = (0, 0);
        for seed in 0..4000 {
            let mut r = Random::new(seed);
            let cfa = random_cfa(&mut r);
            let Some((param, var)) = cfa.params().next() else { continue };
            let VarKind::Param { min, max } = var.kind else { continue };
            // Any walk of the automaton, whether it breaks something or not: made to end in an error by
            // chance.
            let mut trace = Trace::new(vouch_ir::PropertyId(0), vec![(param, min)], vec![]);
            let mut at = cfa.init;
            for _ in 0..6 {
                let out: Vec<u32> = (0..cfa.edges.len() as u32)
                    .filter(|e| cfa.edges[*e as usize].from == at)
                    .collect();
                if out.is_empty() {
                    break;
                }
                let edge = vouch_ir::EdgeId(out[r.below(out.len())]);
                let value =
                    |id: InputId, r: &mut Random| (id, r.word(cfa.inputs[id.index()].width));
                let inputs = cfa.edge_inputs(&cfa.edges[edge.index()]);
                let inputs = inputs.into_iter().map(|id| value(id, &mut r)).collect();
                trace.steps.push(vouch_ir::Step { edge, inputs });
                at = cfa.edges[edge.index()].to;
            }
            let Some(broken) = cfa.properties.iter().position(|p| p.error == at) else { continue };
            trace.property = vouch_ir::PropertyId(broken as u32);
            let good = one_by_one(&cfa, &trace, param);
            let Some(first) = good.first() else { continue };
            trace.initial = vec![(param, *first)];
            let signed = |x: Word| match var.ty {
                Type::Signed => vouch_ir::eval::sign_extend(x, var.width) as i128,
                _ => x as i128,
            };
            let all = (0..1 << var.width)
                .filter(|v| (signed(min)..=signed(max)).contains(&signed(*v)))
                .all(|v| good.contains(&v));
            assert_eq!(breaks_all(&cfa, &trace, &[(param, min, max)]), Ok(all), "seed {seed}");
            ranges += 1;
            partial += !all as u32;
        }
        assert!(ranges > 100 && partial > 20, "{ranges} {partial}");
    }
}
