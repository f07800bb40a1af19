//! Random C programs: what a compiler makes of them against what the automaton of the front end does,
//! run by the reference interpreter. It is the front end that is on trial, so nothing is simplified,
//! blasted or proved.
//!
//! - [`compiler`]: many programs at once, natively or on an emulated processor.
//! - [`automaton`]: one program through the front end.
//! - [`csmith`]: programs of another generator than [`crate::random_c`].

pub mod automaton;
pub mod compiler;
pub mod csmith;

use crate::random_c::{self, Feature};
use automaton::Outcome;
use compiler::Model;
use std::collections::BTreeMap;
use std::fmt::Write;

/// A program to compare.
#[derive(Clone, Debug)]
pub struct Program {
    /// The seed that its generator makes it from.
    pub seed: u64,
    /// Its text; every name of file scope is its own.
    pub text: String,
    /// The function to run.
    pub entry: String,
    /// The global `unsigned long long` that has the result.
    pub sum: String,
}

/// Where programs come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Generator {
    /// [`crate::random_c`].
    Ours,
    /// [`csmith`].
    Csmith,
}

impl Generator {
    /// Every one, with the name of its kind of cases.
    pub const ALL: [(&'static str, Generator); 2] =
        [("c", Generator::Ours), ("csmith", Generator::Csmith)];

    /// The kind of cases that it makes.
    pub fn name(self) -> &'static str {
        Generator::ALL[self as usize].0
    }

    /// The program of a seed. `suffix` tells its names from those of others.
    pub fn program(self, seed: u64, suffix: &str, without: &[Feature]) -> Result<Program, String> {
        match self {
            Generator::Ours => {
                let program = random_c::generate(seed, suffix, without);
                let (text, entry, sum) = (program.text(), program.entry(), program.sum());
                Ok(Program { seed, text, entry, sum })
            }
            Generator::Csmith => csmith::generate(seed, suffix),
        }
    }

    /// What all its programs need before them.
    pub fn prelude(self) -> Result<String, String> {
        match self {
            Generator::Ours => Ok(random_c::PRELUDE.to_owned()),
            Generator::Csmith => csmith::prelude(),
        }
    }

    /// The data models that it is meant for.
    pub fn models(self) -> &'static [Model] {
        match self {
            Generator::Ours => &Model::ALL,
            Generator::Csmith => &[Model::Ilp32, Model::Lp64],
        }
    }
}

/// What came of programs in one data model.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    /// Programs that the front end takes and the compiler has a result for.
    pub accepted: u64,
    /// Reasons why the front end does not take programs.
    pub refused: BTreeMap<String, u64>,
    /// Programs with another result, or none where there is one.
    pub different: Vec<(u64, String)>,
    /// Programs that take too many steps, or that the compiler's result does not come of in time.
    pub slow: u64,
    /// Programs that compilers do not agree on, or do not take: the generator's fault.
    pub unsettled: Vec<(u64, String)>,
}

impl Counts {
    /// Adds the counts of other programs in the same data model.
    pub fn add(&mut self, other: Counts) {
        self.accepted += other.accepted;
        self.slow += other.slow;
        self.different.extend(other.different);
        self.unsettled.extend(other.unsettled);
        for (reason, count) in other.refused {
            *self.refused.entry(reason).or_default() += count;
        }
    }

    /// How many were refused.
    pub fn refusals(&self) -> u64 {
        self.refused.values().sum()
    }
}

/// Compares programs in one data model.
pub fn compare(
    generator: Generator,
    model: Model,
    seeds: impl Iterator<Item = u64>,
    without: &[Feature],
) -> Result<Counts, String> {
    let prelude = generator.prelude()?;
    let mut counts = Counts::default();
    let mut programs = vec![];
    for (i, seed) in seeds.enumerate() {
        programs.push(generator.program(seed, &format!("_{i}"), without)?);
    }
    let expected = compiler::run(model, &prelude, &programs, "-O0")?;
    for (program, expected) in programs.iter().zip(expected) {
        let expected = match expected {
            Ok(expected) => expected,
            Err(compiler::Failure::Slow) => {
                counts.slow += 1;
                continue;
            }
            Err(compiler::Failure::Broken(what)) => {
                counts.unsettled.push((program.seed, what));
                continue;
            }
        };
        let outcome = automaton::run(&format!("{prelude}{}", program.text), program, model);
        let what = match outcome {
            Outcome::Refused(reason) => {
                *counts.refused.entry(reason).or_default() += 1;
                continue;
            }
            Outcome::Slow => {
                counts.slow += 1;
                continue;
            }
            Outcome::Sum(sum) if sum == expected => {
                counts.accepted += 1;
                continue;
            }
            Outcome::Sum(sum) => format!("{sum:#x}, not {expected:#x}"),
            Outcome::Odd(what) => format!("{what}, not {expected:#x}"),
        };
        // A program that means one thing today and another one with optimisation proves nothing.
        let again = compiler::run(model, &prelude, std::slice::from_ref(program), "-O2")?;
        match again.into_iter().next() {
            Some(Ok(same)) if same == expected => counts.different.push((program.seed, what)),
            other => counts.unsettled.push((program.seed, format!("{expected:#x} or {other:x?}"))),
        }
    }
    Ok(counts)
}

/// Everything about one program: its text, and its results in every model; and whether they agree.
pub fn replay(
    generator: Generator,
    seed: u64,
    models: &[Model],
    without: &[Feature],
) -> Result<(String, bool), String> {
    let program = generator.program(seed, "", without)?;
    let mut text = program.text.clone();
    let mut agree = true;
    for model in models {
        let counts = compare(generator, *model, std::iter::once(seed), without)?;
        agree &= counts.different.is_empty();
        let _ = writeln!(text, "// {}: {counts:?}", model.name());
    }
    if generator == Generator::Ours && !agree {
        explain(seed, models, without, &mut text)?;
    }
    Ok((text, agree))
}

/// Adds which of the values that make up a program's result are not the same.
fn explain(
    seed: u64,
    models: &[Model],
    without: &[Feature],
    text: &mut String,
) -> Result<(), String> {
    for model in models {
        for value in 0.. {
            let whole = random_c::generate(seed, "", without);
            let Some((part, name)) = whole.only(value) else { break };
            let source = format!("{}{}", random_c::PRELUDE, part.text());
            let (expected, found, same) = one(&source, *model)?;
            if !same {
                let _ = writeln!(text, "// {}: {name}: {found}, not {expected}", model.name());
            }
        }
    }
    Ok(())
}

/// A text with a function `run` and a variable `sum`: what the compiler and the automaton make of it,
/// and whether that is the same.
pub fn one(text: &str, model: Model) -> Result<(String, String, bool), String> {
    let program = Program { seed: 0, text: text.into(), entry: "run".into(), sum: "sum".into() };
    let expected = compiler::run(model, "", std::slice::from_ref(&program), "-O0")?;
    let found = automaton::run(text, &program, model);
    let same = matches!((&expected[..], &found), ([Ok(a)], Outcome::Sum(b)) if a == b);
    Ok((format!("{expected:x?}"), format!("{found:x?}"), same))
}
