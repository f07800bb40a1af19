//! The outcome of a check for programs: what `--json` prints.
//!
//! The order of fields is fixed; what is not known is `null`. Names that occur several times have
//! `#n` after them, as in the text formats. Values are `true` and `false`, names of enumerations,
//! and numbers; a number beyond 2^53, which many readers of JSON would round, is a string.
//!
//! All of it can be read back, so that what was found out once can be reported again. `docs/formats/check.schema.json`
//! describes it.

use super::value;
use crate::explain::{Explanation, Paragraph};
use crate::formats::Names;
use crate::ir::{Cfa, Type, VarId, Word};
use crate::validate::Run;
use crate::verdict::{Reason, Verdict};
use crate::words::{Done, Moment, Why, Words};
use serde::de::{MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::collections::BTreeMap;
use std::fmt;

/// The outcome of a check.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Outcome {
    /// The verdict on all properties together.
    pub verdict: Verdict,
    /// Why it is not known.
    pub reason: Option<Reason>,
    /// Name of the engine whose answer it is; `certificate` if a proof was only checked again.
    pub engine: Option<String>,
    /// Where it ran.
    pub target: Option<String>,
    /// The property that was asked for, or the first that is broken.
    pub property: Option<String>,
    /// Wall-clock time in seconds.
    pub time_s: Option<f64>,
    /// The last frontier.
    pub frontier: Option<u64>,
    /// Lemmas held at the end.
    pub lemmas: Option<u64>,
    /// Questions to the solver.
    pub queries: Option<u64>,
    /// Conflicts in the solver.
    pub conflicts: Option<u64>,
    /// Most bytes of the arena in use at any time.
    pub peak_bytes: Option<u64>,
    /// Most bytes of memory that this process had at any time, where the system tells.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub process_bytes: Option<u64>,
    /// Of those of the arena, the most bytes of clauses.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_clauses: Option<u64>,
    /// Of these, the most bytes of proof obligations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_obligations: Option<u64>,
    /// Literals that the solver propagated: the unit of budgets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub propagations: Option<u64>,
    /// Whether the verdict was checked independently.
    pub validated: bool,
    /// Steps of the trace.
    pub trace_len: Option<usize>,
    /// Whether it is known that no trace has fewer steps; `None` if nobody has looked.
    pub shortest: Option<bool>,
    /// The board, if one was used.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device: Option<Device>,
    /// The model's name.
    pub model: Option<String>,
    /// The file that it was read from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Whether it was found out before, of the same content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cached: bool,
    /// One entry for each property that the check reports on.
    pub properties: Vec<PropertyOutcome>,
    /// The run that breaks `property`.
    pub trace: Option<Vec<StateOutcome>>,
    /// Why it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why: Option<WhyOutcome>,
    /// What holds in every run, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invariant: Option<InvariantOutcome>,
    /// More on why it is not known, and what to do about it, in sentences.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
    /// What looks odd about the model.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// The board that a check ran on.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Device {
    /// The board's name, as its firmware reports it.
    pub board: Option<String>,
    /// RAM of the board, in bytes.
    pub ram_bytes: Option<u64>,
    /// Flash of the board, in bytes.
    pub flash_bytes: Option<u64>,
    /// Instructions of the check, where the board can count them.
    pub instructions: Option<u64>,
    /// What its firmware calls itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub build: Option<String>,
    /// Flash that its firmware takes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub firmware_bytes: Option<u64>,
    /// RAM that the model took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image_bytes: Option<u64>,
    /// RAM that the check was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arena_bytes: Option<u64>,
    /// Of a stored model with a certificate: whether that, checked again, is the proof.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub certificate_holds: Option<bool>,
}

/// The outcome for one property.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct PropertyOutcome {
    /// The property's name in the model.
    pub name: String,
    /// The verdict on it.
    pub verdict: Verdict,
    /// Steps of its trace.
    pub trace_len: Option<usize>,
    /// Of a trace: whether it is known that none has fewer steps; `None` if nobody has looked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortest: Option<bool>,
    /// Why it is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// If it is broken and the model a program's: the machine of QEMU that the program does the same on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replayed: Option<String>,
    /// If it is safe because there is only one run, and that ends: after so many steps.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<u64>,
    /// If it is not known: no run of so many steps breaks it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub safe_steps: Option<u64>,
    /// The requirements that it covers.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub requirements: Vec<String>,
    /// Where it is stated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub place: Option<PlaceOutcome>,
}

/// A place in a source text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PlaceOutcome {
    /// Path of the file, as it is shown to people.
    pub path: String,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
}

/// A state of a run, and how it was reached.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct StateOutcome {
    /// How many steps before it.
    pub step: usize,
    /// Name of the location that the run is at.
    pub location: String,
    /// What was done to get there.
    pub done: Vec<DoneOutcome>,
    /// The inputs of the step that led here, as far as it reads them.
    pub inputs: Named,
    /// All variables and parameters here.
    pub values: Named,
}

/// An invariant for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct InvariantOutcome {
    /// What holds where; nothing, if no run gets there.
    pub lines: Vec<LineOutcome>,
    /// Whether all of it together proves the properties by itself.
    pub inductive: bool,
}

/// What holds in a place.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct LineOutcome {
    /// The states or locations, in words.
    pub place: String,
    /// What holds there, the shortest first; empty if no run gets there.
    pub facts: Vec<String>,
}

impl From<&Explanation> for InvariantOutcome {
    fn from(explanation: &Explanation) -> InvariantOutcome {
        let line = |p: &Paragraph| LineOutcome { place: p.place.clone(), facts: p.facts.clone() };
        let lines = explanation.paragraphs.iter().map(line).collect();
        InvariantOutcome { lines, inductive: explanation.is_inductive }
    }
}

/// Something that was done.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct DoneOutcome {
    /// By which machine, function or handler.
    pub who: Option<String>,
    /// The line of the source.
    pub line: Option<usize>,
    /// What is written there.
    pub text: String,
}

/// Why a property is broken at the end of a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct WhyOutcome {
    /// Where it is stated: file and line.
    pub place: Option<String>,
    /// What it says.
    pub claim: Option<String>,
    /// The values that it does not hold with.
    pub values: BTreeMap<String, String>,
}

/// Values by name, in the model's order.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Named(pub Vec<(String, Shown)>);

impl Serialize for Named {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(self.0.len()))?;
        for (name, value) in &self.0 {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Named {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Named, D::Error> {
        from.deserialize_map(InOrder)
    }
}

/// Reads values in the order in which they are written.
struct InOrder;

impl<'de> Visitor<'de> for InOrder {
    type Value = Named;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("values by name")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Named, A::Error> {
        let mut all = vec![];
        while let Some(entry) = map.next_entry()? {
            all.push(entry);
        }
        Ok(Named(all))
    }
}

/// A value as it appears in JSON.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Shown {
    /// Of a boolean.
    Bool(bool),
    /// Of a number that every reader can represent.
    Number(i64),
    /// The name of an enumeration's value, or a number that is too large.
    Text(String),
}

impl Shown {
    /// A value of this type and width.
    pub fn new(ty: &Type, width: u32, word: Word) -> Shown {
        let text = value::show(ty, width, word);
        match (ty, word) {
            (Type::Bool, 0 | 1) => return Shown::Bool(word == 1),
            (Type::Enum(_), _) if ty.name(word).is_some() => return Shown::Text(text),
            _ => {}
        }
        match text.parse::<i64>() {
            Ok(number) if number.unsigned_abs() <= 1 << 53 => Shown::Number(number),
            _ => Shown::Text(text),
        }
    }
}

impl fmt::Display for Shown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Shown::Bool(value) => value.fmt(f),
            Shown::Number(value) => value.fmt(f),
            Shown::Text(text) => f.write_str(text),
        }
    }
}

impl Outcome {
    /// One line of JSON.
    pub fn to_json(&self) -> String {
        // Fails only for maps whose keys are not strings, and there are none.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// A run for [`Outcome::trace`]: from the initial state on, to the one that breaks the property or the step that does.
pub fn trace(cfa: &Cfa, words: &Words<'_>, run: &Run) -> Vec<StateOutcome> {
    let names = Names::new(cfa);
    let moment = |moment: Moment| {
        let given = run.steps.get(moment.edge)?;
        let state = run.states.get(moment.edge + 1)?;
        let inputs = given.inputs.iter().filter_map(|(id, word)| {
            let input = cfa.inputs.get(id.index())?;
            Some((names.input(*id), Shown::new(&input.ty, input.width, *word)))
        });
        let vars = (0..).map(VarId).zip(&cfa.vars).zip(&state.values);
        let values =
            vars.map(|((id, var), word)| (names.var(id), Shown::new(&var.ty, var.width, *word)));
        let done = moment.done.into_iter();
        Some(StateOutcome {
            step: moment.step,
            location: names.location(state.location),
            done: done.map(|Done { who, line, text }| DoneOutcome { who, line, text }).collect(),
            inputs: Named(inputs.collect()),
            values: Named(values.collect()),
        })
    };
    words.moments(run).into_iter().filter_map(moment).collect()
}

/// Why a run breaks its property, for [`Outcome::why`].
pub fn why(words: &Words<'_>, run: &Run) -> WhyOutcome {
    let Why { place, claim, values } = words.why(run);
    WhyOutcome { place, claim, values: values.into_iter().collect() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::validate::replay;
    use vouch_ir::sample::*;

    #[test]
    fn nothing_known_is_null_and_in_order() {
        assert_eq!(
            Outcome::default().to_json(),
            r#"{"verdict":"unknown","reason":null,"engine":null,"target":null,"property":null,"#
                .to_string()
                + r#""time_s":null,"frontier":null,"lemmas":null,"queries":null,"conflicts":null,"#
                + r#""peak_bytes":null,"validated":false,"trace_len":null,"shortest":null,"model":null,"#
                + r#""properties":[],"trace":null}"#
        );
    }

    #[test]
    fn a_trace_has_names_and_typed_values() {
        let cfa = timer(true);
        let run = replay(&cfa, &timer_trace()).unwrap();
        let outcome = Outcome {
            verdict: Verdict::Unsafe,
            validated: true,
            device: Some(Device { board: Some("b".into()), ..Device::default() }),
            properties: vec![PropertyOutcome {
                name: "p".into(),
                verdict: Verdict::Unsafe,
                trace_len: Some(4),
                ..PropertyOutcome::default()
            }],
            trace: Some(trace(&cfa, &Words::new(&cfa, None, &[]), &run)),
            ..Outcome::default()
        };
        let json = outcome.to_json();
        assert!(!json.contains('\n'));
        assert!(json.contains(
            r#""device":{"board":"b","ram_bytes":null,"flash_bytes":null,"instructions":null}"#
        ));
        assert!(json.contains(
            r#""properties":[{"name":"p","verdict":"unsafe","trace_len":4}],"trace":[{"step":0,"#
        ));
        assert!(json.contains(
            r#"{"step":1,"location":"Charge","done":[{"who":null,"line":null,"text":""}],"inputs":{"start":true,"add":-1},"values":{"timer":0,"limit":2,"contactor.mode":"Pre charge"}}"#
        ));
        assert_eq!(serde_json::from_str::<Outcome>(&json).unwrap(), outcome, "it is read back");
    }

    #[test]
    fn a_reason_is_read_back_in_the_same_words() {
        for reason in [Reason::Timeout, Reason::Until(vec!["index_in_range".into()])] {
            let outcome = Outcome { reason: Some(reason), ..Outcome::default() };
            let json = outcome.to_json();
            let read: Outcome = serde_json::from_str(&json).unwrap();
            assert_eq!(read.to_json(), json);
        }
    }

    #[test]
    fn large_numbers_are_not_rounded() {
        let shown = |ty, width, word| serde_json::to_string(&Shown::new(&ty, width, word)).unwrap();
        assert_eq!(shown(Type::Unsigned, 64, 1 << 53), "9007199254740992");
        assert_eq!(shown(Type::Unsigned, 64, (1 << 53) + 1), r#""9007199254740993""#);
        assert_eq!(shown(Type::Signed, 64, u64::MAX as Word), "-1");
        assert_eq!(shown(Type::Unsigned, 128, Word::MAX), format!("\"{}\"", Word::MAX));
        assert_eq!(shown(Type::names(["7".to_owned()]), 2, 0), r#""7""#);
        assert_eq!(shown(Type::names(["7".to_owned()]), 2, 1), "1");
    }
}
