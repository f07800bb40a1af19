//! What tools of the circuits' world expect of a verdict.
//!
//! A broken circuit has a *stimulus*: first values of latches or states, and the inputs of every step,
//! in the formats that `aigsim` and `btorsim` check. A safe AIGER circuit has a *witness circuit*: the
//! same circuit with the invariant in its property, so that the property is inductive by itself, in
//! the style of the hardware model checking competition (Yu, Froleyks, Biere: Certifaiger).

use super::aiger::Circuit;
use crate::frontend::aiger::Aig;
use crate::frontend::btor2::{Node, Nodes};
use crate::frontend::circuit::LOOP;
use crate::ir::{Certificate, Cfa, InputId, Trace, VarId, Word, eval};
use rustc_hash::FxHashMap as HashMap;
use std::fmt::Write as _;

/// What the environment chooses in a step.
type Frame = HashMap<InputId, Word>;

/// The values after the reset, and the inputs of every step after it. `None` if the trace is not a run of
/// a circuit.
fn frames(cfa: &Cfa, trace: &Trace) -> Option<(Vec<Word>, Vec<Frame>)> {
    let mut initial = vec![0; cfa.vars.len()];
    for (var, value) in &trace.initial {
        *initial.get_mut(var.index())? = *value;
    }
    let (reset, rest) = trace.steps.split_first()?;
    let first = eval::step(cfa, &initial, reset.edge, |_| 0)?;
    let frames = rest.iter().map(|step| step.inputs.iter().copied().collect());
    Some((first, frames.collect()))
}

/// The stimulus of an AIGER circuit, whose variables are its latches and inputs its inputs.
pub fn aiger(cfa: &Cfa, trace: &Trace) -> Option<String> {
    let (first, frames) = frames(cfa, trace)?;
    let bit = |value: Word| if value == 0 { '0' } else { '1' };
    let mut text = format!("1\nb{}\n", trace.property.0);
    text.extend(first.iter().map(|v| bit(*v)));
    text.push('\n');
    for frame in frames {
        let value = |i| frame.get(&InputId(i)).copied().unwrap_or(0);
        text.extend((0..cfa.inputs.len() as u32).map(|i| bit(value(i))));
        text.push('\n');
    }
    text.push_str(".\n");
    Some(text)
}

/// The witness of a BTOR2 circuit.
pub fn btor2(cfa: &Cfa, nodes: &Nodes, trace: &Trace) -> Option<String> {
    let (first, frames) = frames(cfa, trace)?;
    let mut text = format!("sat\nb{}\n", trace.property.0);
    let reset = &cfa.edges[trace.steps.first()?.edge.index()].updates;
    let is_reset = |vars: &[Vec<VarId>]| {
        vars.iter().flatten().all(|v| reset.iter().any(|u| u.0 == *v)) && !vars.is_empty()
    };
    let no_inputs = Frame::default();
    for (at, frame) in frames.iter().enumerate() {
        let before = at.checked_sub(1).and_then(|b| frames.get(b)).unwrap_or(&no_inputs);
        let mut states = String::new();
        for (index, node) in nodes.states.iter().enumerate() {
            // Whose value neither a reset nor a next value tells.
            let value = match (node.vars.is_empty(), at) {
                (true, _) => inputs_of(cfa, node, frame),
                (false, 0) if !is_reset(&node.vars) => (node.vars.iter())
                    .map(|limbs| limbs.iter().map(|v| var_bits(cfa, &first, *v)).rev().collect())
                    .collect(),
                (false, 1..) if !node.inputs.is_empty() => inputs_of(cfa, node, before),
                _ => continue,
            };
            write_node(&mut states, index, node, &value, '#', at);
        }
        if at == 0 || !states.is_empty() {
            let _ = write!(text, "#{at}\n{states}");
        }
        let _ = writeln!(text, "@{at}");
        for (index, node) in nodes.inputs.iter().enumerate() {
            write_node(&mut text, index, node, &inputs_of(cfa, node, frame), '@', at);
        }
    }
    text.push_str(".\n");
    Some(text)
}

fn bits(value: Word, width: u32) -> String {
    format!("{value:0width$b}", width = width as usize)
}

fn var_bits(cfa: &Cfa, values: &[Word], var: VarId) -> String {
    bits(values[var.index()], cfa.vars[var.index()].width)
}

fn inputs_of(cfa: &Cfa, node: &Node, frame: &Frame) -> Vec<String> {
    let value = |i: &InputId| bits(frame.get(i).copied().unwrap_or(0), cfa.inputs[i.index()].width);
    node.inputs.iter().map(|limbs| limbs.iter().rev().map(value).collect()).collect()
}

fn write_node(
    text: &mut String,
    index: usize,
    node: &Node,
    value: &[String],
    kind: char,
    at: usize,
) {
    let symbol = node.symbol.clone().unwrap_or_else(|| format!("{}", node.id));
    for (element, value) in value.iter().enumerate() {
        let place = node
            .index
            .map_or_else(String::new, |width| format!("[{}] ", bits(element as Word, width)));
        let _ = writeln!(text, "{index} {place}{value} {symbol}{kind}{at}");
    }
}

/// The witness circuit of a safe AIGER circuit: the file that was read, with each property turned into
/// itself or the invariant's violation. `None` if the certificate has no invariant of the loop.
pub fn certificate(aig: &Aig, cfa: &Cfa, certificate: &Certificate) -> Option<Circuit> {
    let mut circuit = Circuit::copy(aig)?;
    let place = cfa.locations.iter().position(|l| l.name == LOOP)?;
    // Where a proof looks through the loop, it has no invariant there.
    if certificate.passed.iter().any(|l| l.index() == place) {
        return None;
    }
    let mut holds = 1;
    for clause in certificate.clauses.iter().filter(|c| c.location.index() == place) {
        let mut any = 0;
        for lit in &clause.lits {
            let latch = circuit.latch(lit.var.index()) ^ !lit.value as u32;
            any = circuit.or(any, latch);
        }
        holds = circuit.and(holds, any);
    }
    let mut bads = vec![];
    for property in &certificate.properties {
        let (name, bad) = circuit.bads.get(property.index())?.clone();
        bads.push((name, circuit.or(bad, holds ^ 1)));
    }
    circuit.bads = bads;
    // Every latch and input is that of the model.
    for (i, (variable, _)) in aig.inputs.iter().enumerate() {
        circuit.inputs[i] = format!("= {}", 2 * variable);
    }
    for (i, latch) in aig.latches.iter().enumerate() {
        circuit.latches[i].name = format!("= {}", 2 * latch.variable);
    }
    circuit.comment = format!("witness circuit of {}, by vouch", cfa.name);
    Some(circuit)
}
