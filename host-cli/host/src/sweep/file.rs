//! A sweep as JSON: what `--json` prints, `-o` writes and `vouch merge` reads.

use super::region::{Range, Region, joined};
use super::{Evidence, Sweep, region};
use crate::formats::Names;
use crate::ir::{PropertyId, VarId, Word, value};
use crate::pipeline::Loaded;
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// What the files are called.
pub const KIND: &str = "sweep";

/// The result of a sweep.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct File {
    /// [`KIND`].
    pub kind: String,
    /// The model's name.
    pub model: String,
    /// Hash of its source.
    pub source_sha256: String,
    /// Hash of what was made of it: the same source can mean something else with other options.
    pub image_sha256: String,
    /// What was swept.
    pub parameters: Vec<Parameter>,
    /// Other parameters that had one value.
    pub bindings: Vec<(String, String)>,
    /// Which of the parts it is, as `2/4`, if it is only one.
    pub shard: Option<String>,
    /// The values that were looked at.
    pub covered: Vec<Region>,
    /// What was found.
    pub properties: Vec<Property>,
    /// Proofs and runs that the ranges name.
    pub evidence: Vec<Kept>,
    /// Questions to the engine.
    pub checks: usize,
    /// How often an invariant that was found for other values was used again.
    pub reused: usize,
    /// Wall-clock seconds; after merging, the sum over all parts.
    pub time_s: f64,
}

/// A parameter that was swept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// The parameter's name in the model.
    pub name: String,
    /// All its values that were asked for, also those of other parts.
    pub range: Range,
    /// What they are called, if they are not numbers, from the first on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
}

/// The verdicts on one property, by parameter values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Property {
    /// The property's name in the model.
    pub name: String,
    /// All values that were looked at, each once.
    pub ranges: Vec<Part>,
}

/// Values for which the same is known.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Part {
    /// A range of each parameter.
    pub values: Region,
    /// What is known.
    pub verdict: Verdict,
    /// Why nothing is.
    pub reason: Option<String>,
    /// Names of the evidence.
    pub evidence: Vec<String>,
}

/// A proof or a run.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Kept {
    /// What [`Part::evidence`] refers to, as `proof 1` or `run 2`.
    pub name: String,
    /// Its file, next to this one.
    pub file: Option<String>,
}

/// More values with names than this are shown as numbers.
const MOST_NAMES: u128 = 1000;

impl Parameter {
    /// Of a model.
    pub fn of(model: &Loaded, id: VarId, range: Range) -> Option<Parameter> {
        let var = model.cfa.vars.get(id.index())?;
        let names = match &var.ty {
            crate::ir::Type::Bool | crate::ir::Type::Enum(_) if range.size() <= MOST_NAMES => {
                let name = |at| value::show(&var.ty, var.width, region::value(var, at));
                (range.first..=range.last).map(name).collect()
            }
            _ => vec![],
        };
        Some(Parameter { name: Names::new(&model.cfa).var(id), range, names })
    }

    /// A value for people.
    pub fn show(&self, place: i128) -> String {
        let offset = usize::try_from(place - self.range.first).ok();
        let name = offset.and_then(|at| self.names.get(at));
        name.cloned().unwrap_or_else(|| place.to_string())
    }

    /// A range for people: one value, or both ends.
    pub fn show_range(&self, range: Range) -> String {
        match range.first == range.last {
            true => self.show(range.first),
            false => format!("{}..={}", self.show(range.first), self.show(range.last)),
        }
    }
}

impl Property {
    /// How many values have this verdict.
    pub fn count(&self, verdict: Verdict) -> u128 {
        let of = self.ranges.iter().filter(|part| part.verdict == verdict);
        of.map(|part| part.values.size()).fold(0, u128::saturating_add)
    }
}

/// What a file says besides what was found.
pub struct About<'a> {
    /// The model that was swept.
    pub model: &'a Loaded,
    /// The parameters that were swept, and all their values that were asked for.
    pub params: &'a [VarId],
    /// All values that were asked for, of which this may be a part.
    pub all: &'a Region,
    /// Those of this part.
    pub covered: &'a Region,
    /// Which part it is.
    pub shard: Option<String>,
    /// Other parameters that had one value.
    pub bindings: &'a [(VarId, Word)],
    /// Wall-clock time of the sweep, in seconds.
    pub time_s: f64,
}

/// What a piece of evidence is called: `proof 1`, `run 2`.
pub fn evidence_name(number: usize, evidence: &Evidence) -> String {
    let kind = match evidence {
        Evidence::Proof(_) => "proof",
        Evidence::Run(_) => "run",
    };
    format!("{kind} {}", number + 1)
}

/// The file of a piece of evidence.
pub fn evidence_file(number: usize, evidence: &Evidence) -> String {
    match evidence {
        Evidence::Proof(_) => format!("proof-{}.cert", number + 1),
        Evidence::Run(_) => format!("run-{}.trace", number + 1),
    }
}

impl File {
    /// Of a sweep. `kept`: whether the evidence is written to files next to this one.
    pub fn new(about: &About<'_>, sweep: &Sweep, kept: bool) -> File {
        let About { model, params, all, covered, shard, bindings, time_s } = about;
        let cfa = &model.cfa;
        let names = Names::new(cfa);
        let parameters = params
            .iter()
            .zip(&all.sides)
            .filter_map(|(id, range)| Parameter::of(model, *id, *range));
        let binding = |(id, word): &(VarId, Word)| {
            let shown = cfa.vars.get(id.index()).map(|v| value::show(&v.ty, v.width, *word));
            (names.var(*id), shown.unwrap_or_default())
        };
        let evidence = |(number, evidence): (usize, &Evidence)| Kept {
            name: evidence_name(number, evidence),
            file: kept.then(|| evidence_file(number, evidence)),
        };
        File {
            kind: KIND.into(),
            model: cfa.name.clone(),
            source_sha256: hex(&model.digest),
            image_sha256: hex(&Sha256::digest(&model.image[..])),
            parameters: parameters.collect(),
            bindings: bindings.iter().map(binding).collect(),
            shard: shard.clone(),
            covered: vec![Region::clone(covered)],
            properties: (sweep.properties.iter())
                .map(|found| Property {
                    name: names.property(PropertyId(found.property.0)),
                    ranges: parts(found, &sweep.evidence),
                })
                .collect(),
            evidence: sweep.evidence.iter().enumerate().map(evidence).collect(),
            checks: sweep.checks,
            reused: sweep.reused,
            time_s: *time_s,
        }
    }

    /// Whether all values are known for all properties.
    pub fn is_complete(&self) -> bool {
        self.properties.iter().all(|p| p.count(Verdict::Unknown) == 0)
    }
}

/// The pieces of a property, joined where they say the same.
fn parts(found: &super::Found, evidence: &[Evidence]) -> Vec<Part> {
    let piece = |piece: &super::Piece| {
        let reason = piece.reason.as_ref().map(ToString::to_string);
        let named = piece.evidence.and_then(|n| Some(evidence_name(n, evidence.get(n)?)));
        (piece.region.clone(), (piece.verdict, reason), Vec::from_iter(named))
    };
    joined_parts(found.pieces.iter().map(piece).collect())
}

type Piece = (Region, (Verdict, Option<String>), Vec<String>);

fn joined_parts(pieces: Vec<Piece>) -> Vec<Part> {
    let part = |(values, (verdict, reason), mut evidence): Piece| {
        let mut seen = std::collections::HashSet::new();
        evidence.retain(|name| seen.insert(name.clone()));
        Part { values, verdict, reason, evidence }
    };
    joined(pieces).into_iter().map(part).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Why files are not parts of one sweep.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// They differ in this.
    #[error(
        "{first} and {other} are not parts of one sweep: they differ in {what}\n\
         help: sweep each part with the same model and options, and `--shard i/n`"
    )]
    Differs {
        /// The first file.
        first: String,
        /// The one that is different.
        other: String,
        /// The first thing in which they differ, in words.
        what: &'static str,
    },
    /// A value is in two of them.
    #[error("{first} and {other} have values in common\nhelp: name each part once")]
    Overlap {
        /// The file that comes first in the list.
        first: String,
        /// The file that has some of the same values.
        other: String,
    },
    /// There is none.
    #[error("there is nothing to merge")]
    Nothing,
}

/// One of several parts; each comes with the name of its file. Values that none of them has are unknown.
pub fn merge(files: Vec<(String, File)>) -> Result<File, MergeError> {
    let (first_name, first) = files.first().cloned().ok_or(MergeError::Nothing)?;
    for (number, (name, file)) in files.iter().enumerate() {
        let names =
            |file: &File| file.properties.iter().map(|p| p.name.clone()).collect::<Vec<_>>();
        let differences = [
            ("the model", file.model == first.model),
            ("the source of the model", file.source_sha256 == first.source_sha256),
            (
                "the options that the model was compiled with",
                file.image_sha256 == first.image_sha256,
            ),
            ("the parameters", file.parameters == first.parameters),
            ("the parameters that are bound", file.bindings == first.bindings),
            ("the properties", names(file) == names(&first)),
        ];
        if let Some((what, _)) = differences.into_iter().find(|d| !d.1) {
            return Err(MergeError::Differs { first: first_name, other: name.clone(), what });
        }
        for (other, before) in &files[..number] {
            let meets = |region: &Region| before.covered.iter().any(|b| b.meet(region).is_some());
            if file.covered.iter().any(meets) {
                return Err(MergeError::Overlap { first: other.clone(), other: name.clone() });
            }
        }
    }
    let all = Region { sides: first.parameters.iter().map(|p| p.range).collect() };
    let covered: Vec<Region> = files.iter().flat_map(|f| f.1.covered.clone()).collect();
    let missing = covered.iter().fold(vec![all], |rest, part| {
        rest.iter().flat_map(|r| r.without(part)).collect::<Vec<Region>>()
    });
    // Each file counts its evidence from 1.
    let is_one = files.len() == 1;
    let renamed = |name: &str, file: &str| match is_one {
        true => name.to_string(),
        false => format!("{name} of {file}"),
    };
    let property = |(at, property): (usize, &Property)| {
        let parts = files.iter().flat_map(|(name, file)| {
            let ranges = file.properties.get(at).map_or(&[][..], |p| &p.ranges[..]);
            ranges.iter().map(move |part| {
                let evidence = part.evidence.iter().map(|e| renamed(e, name)).collect();
                (part.values.clone(), (part.verdict, part.reason.clone()), evidence)
            })
        });
        let nobody = (Verdict::Unknown, Some("in none of the files".to_string()));
        let missing = missing.iter().map(|region| (region.clone(), nobody.clone(), vec![]));
        Property {
            name: property.name.clone(),
            ranges: joined_parts(parts.chain(missing).collect()),
        }
    };
    let evidence = files.iter().flat_map(|(name, file)| {
        file.evidence.iter().map(move |kept| {
            let beside = |file: &String| {
                let folder = std::path::Path::new(name).parent()?;
                Some(folder.join(file).display().to_string())
            };
            Kept { name: renamed(&kept.name, name), file: kept.file.as_ref().and_then(beside) }
        })
    });
    Ok(File {
        properties: first.properties.iter().enumerate().map(property).collect(),
        evidence: evidence.collect(),
        covered: joined(covered.iter().map(|c| (c.clone(), (), vec![()])).collect())
            .into_iter()
            .map(|c| c.0)
            .collect(),
        shard: None,
        checks: files.iter().map(|f| f.1.checks).sum(),
        reused: files.iter().map(|f| f.1.reused).sum(),
        time_s: files.iter().map(|f| f.1.time_s).sum(),
        ..first
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(first: i128, last: i128) -> Region {
        Region { sides: vec![Range { first, last }] }
    }

    fn file(first: i128, last: i128, parts: &[(i128, i128, Verdict)]) -> File {
        let part = |(first, last, verdict): &(i128, i128, Verdict)| Part {
            values: region(*first, *last),
            verdict: *verdict,
            reason: None,
            evidence: vec!["proof 1".into()],
        };
        File {
            kind: KIND.into(),
            model: "m".into(),
            source_sha256: "s".into(),
            image_sha256: "i".into(),
            parameters: vec![Parameter {
                name: "p".into(),
                range: Range { first: 0, last: 99 },
                names: vec![],
            }],
            bindings: vec![],
            shard: Some("1/2".into()),
            covered: vec![region(first, last)],
            properties: vec![Property {
                name: "never".into(),
                ranges: parts.iter().map(part).collect(),
            }],
            evidence: vec![Kept { name: "proof 1".into(), file: Some("proof-1.cert".into()) }],
            checks: 3,
            reused: 1,
            time_s: 0.5,
        }
    }

    #[test]
    fn parts_become_one() {
        use Verdict::{Safe, Unsafe};
        let a = file(0, 49, &[(0, 49, Safe)]);
        let b = file(50, 99, &[(50, 69, Safe), (70, 99, Unsafe)]);
        let merged = merge(vec![("x/a".into(), a.clone()), ("x/b".into(), b.clone())]).unwrap();
        let ranges = &merged.properties[0].ranges;
        assert_eq!(ranges[0].values, region(0, 69));
        assert_eq!(ranges[0].evidence, ["proof 1 of x/a", "proof 1 of x/b"]);
        assert_eq!((ranges.len(), merged.checks), (2, 6));
        assert!(merged.is_complete());
        assert_eq!(merged.covered, [region(0, 99)]);
        assert_eq!(merged.evidence[1].file.as_deref(), Some("x/proof-1.cert"));
        // What is missing is not known.
        let half = merge(vec![("b".into(), b.clone())]).unwrap();
        assert_eq!(half.properties[0].count(Verdict::Unknown), 50);
        assert!(!half.is_complete());
        // Others are refused.
        let twice = merge(vec![("a".into(), a.clone()), ("c".into(), a.clone())]);
        assert!(matches!(twice, Err(MergeError::Overlap { .. })));
        let other = File { image_sha256: "j".into(), ..b };
        let differs = merge(vec![("a".into(), a), ("b".into(), other)]);
        assert!(differs.unwrap_err().to_string().contains("options"));
        assert_eq!(merge(vec![]), Err(MergeError::Nothing));
    }

    #[test]
    fn json_keeps_all_numbers() {
        let mut large = file(0, 99, &[]);
        large.covered = vec![region(i64::MIN.into(), u64::MAX.into())];
        let text = serde_json::to_string(&large).unwrap();
        assert!(text.contains(r#"[["-9223372036854775808","18446744073709551615"]]"#), "{text}");
        assert_eq!(serde_json::from_str::<File>(&text).unwrap(), large);
        for bad in ["[3,2]", "[1.5,2]", "[1]", r#"["x",2]"#] {
            assert!(serde_json::from_str::<Range>(bad).is_err(), "{bad}");
        }
    }
}
