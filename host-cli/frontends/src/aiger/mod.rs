//! AIGER circuits, ascii (`.aag`) and binary (`.aig`), version 1.9: bad states, invariant constraints,
//! resets. Without a list of bad states the outputs are the bad states, as in version 1.0. Liveness
//! (justice, fairness) is refused.
//!
//! Text → [`parse`] → [`Aig`] → automaton. The reader is our own because positions of errors are
//! wanted, and because a header's numbers must not make it allocate what the file does not hold.

mod parse;
#[cfg(test)]
mod tests;

use super::circuit::Circuit;
use super::{Compiled, Diagnostic, Origin};
pub use parse::{Aig, Latch, parse};
use vouch_ir::requirements::Requirements;
use vouch_ir::{ExprId, Input, Span, Type, Var, VarKind};

/// A name from the symbol table, or one made up.
fn name(given: &Option<String>, kind: &str, index: usize) -> String {
    given.clone().unwrap_or_else(|| format!("{kind}{index}"))
}

/// Compiles a circuit. Variables are its latches and inputs its inputs, in the file's order.
pub fn compile(bytes: &[u8], model: &str) -> Result<Compiled, Vec<Diagnostic>> {
    let aig = parse(bytes).map_err(|e| vec![*e])?;
    if let Some(span) = aig.liveness {
        let error = Diagnostic::error(
            "liveness properties cannot be checked",
            span,
            "justice or fairness is declared here",
        );
        let help = "vouch decides what is never reached; turn liveness into safety first \
                    (aiger's `aigl2s` does)";
        return Err(vec![error.help(help)]);
    }
    let mut circuit = build(&aig, model).map_err(|e| vec![*e])?;
    // The text of a binary file is not kept: there is nothing to point at.
    if bytes.starts_with(b"aig ") {
        circuit.bads.iter_mut().for_each(|bad| bad.2 = Span::default());
    }
    let mut warnings = vec![];
    if circuit.bads.is_empty() {
        let what = "the circuit has neither bad states nor outputs: there is nothing to check";
        warnings.push(Diagnostic::warning(what, Span::default(), ""));
    }
    let cfa = circuit.finish();
    let requirements = Requirements::default();
    let compiled = Compiled { cfa, warnings, moves: vec![], origin: Origin::Model, requirements };
    Ok(compiled)
}

fn build(aig: &Aig, model: &str) -> Result<Circuit, Box<Diagnostic>> {
    let mut circuit = Circuit::new(model);
    let cfa = &mut circuit.cfa;
    let mut exprs = vec![None; aig.variables];
    if let Some(constant) = exprs.first_mut() {
        *constant = Some(cfa.pool.bool(false));
    }
    for (i, (variable, symbol)) in aig.inputs.iter().enumerate() {
        let name = name(symbol, "i", i);
        let input = cfa.add_input(Input { name, width: 1, ty: Type::Bool });
        exprs[*variable as usize] = Some(cfa.sample(input));
    }
    let mut states = vec![];
    for (i, latch) in aig.latches.iter().enumerate() {
        let name = name(&latch.name, "l", i);
        let var = cfa.add_var(Var { name, width: 1, ty: Type::Bool, kind: VarKind::State });
        exprs[latch.variable as usize] = Some(cfa.read(var));
        states.push(var);
    }
    for &at in &aig.order()? {
        let and = &aig.ands[at as usize];
        let mut get = |lit: u32| literal(&mut cfa.pool, &exprs, lit);
        let (a, b) = (get(and.operands[0]), get(and.operands[1]));
        exprs[and.variable as usize] = Some(cfa.pool.and(a, b));
    }
    for (latch, var) in aig.latches.iter().zip(states) {
        let next = literal(&mut cfa.pool, &exprs, latch.next);
        circuit.nexts.push((var, next));
        if let Some(reset) = latch.reset {
            circuit.resets.push((var, cfa.pool.bool(reset)));
        }
    }
    for lit in &aig.constraints {
        circuit.constraints.push(literal(&mut cfa.pool, &exprs, *lit));
    }
    for (i, (lit, span, symbol)) in aig.properties().iter().enumerate() {
        let kind = if aig.bads.is_empty() { "output" } else { "bad" };
        let bad = literal(&mut cfa.pool, &exprs, *lit);
        circuit.bads.push((name(symbol, kind, i), bad, *span));
    }
    Ok(circuit)
}

/// The expression of a literal. What it reads is defined: [`Aig::order`] has looked.
fn literal(pool: &mut vouch_ir::Pool, exprs: &[Option<ExprId>], lit: u32) -> ExprId {
    let known = exprs.get(lit as usize / 2).copied().flatten();
    let positive = known.unwrap_or_else(|| pool.bool(false));
    if lit & 1 == 0 { positive } else { pool.not(positive) }
}
