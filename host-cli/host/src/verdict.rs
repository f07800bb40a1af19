//! What can be said of a property, and why nothing can.

use crate::deadline::Over;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;

/// The answer to a question about a model.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// No run breaks the property.
    Safe,
    /// Some run does.
    Unsafe,
    /// Not found out.
    #[default]
    Unknown,
}

impl Verdict {
    /// The exit code of the command.
    pub fn exit_code(self) -> u8 {
        match self {
            Verdict::Safe => 0,
            Verdict::Unsafe => 1,
            Verdict::Unknown => 3,
        }
    }

    /// The verdict on all of several properties: one that is broken decides, then one that is not
    /// known. Nothing is known of no property at all.
    pub fn all(verdicts: impl IntoIterator<Item = Verdict>) -> Verdict {
        let mut all = None;
        for verdict in verdicts {
            all = match (all, verdict) {
                (Some(Verdict::Unsafe), _) | (_, Verdict::Unsafe) => Some(Verdict::Unsafe),
                (Some(Verdict::Unknown), _) | (_, Verdict::Unknown) => Some(Verdict::Unknown),
                _ => Some(Verdict::Safe),
            };
        }
        all.unwrap_or_default()
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Verdict::Safe => "safe",
            Verdict::Unsafe => "unsafe",
            Verdict::Unknown => "unknown",
        })
    }
}

/// Why nothing is known of a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Reason {
    /// The work budget was used up.
    Budget,
    /// Memory did not suffice.
    Capacity,
    /// The time was over.
    Timeout,
    /// The user stopped it.
    Cancelled,
    /// The engine has said nothing on it.
    Unanswered,
    /// A run leaves what is modelled, at the limit of this name.
    Limit(String),
    /// No run breaks it as long as these properties hold, whose violation ends a run: they are broken,
    /// or not proved.
    Until(Vec<String>),
    /// What the engine said is not true, or could not be checked.
    Invalid(String),
    /// A certificate is sound, but not about what was asked.
    OtherQuestion,
    /// The automaton has a run that breaks it, but that was not tried on the program that it was lifted from.
    NotReplayed(Obstacle),
    /// The automaton has a run that breaks it, but the program does something else: this.
    NotReproduced(String),
    /// The automaton has a run that breaks it, but only with certain values of this input, which the program decides and
    /// the model leaves open.
    Approximate(String),
    /// There was no time to check what the engine said.
    Unchecked {
        /// What it said.
        claim: Verdict,
        /// What ended the check.
        over: Over,
    },
    /// What was said before, read back.
    Told(String),
}

impl Reason {
    /// How much people want to know of it if there are several, the most being 0: bugs, then runs that break something
    /// or seem to.
    pub fn rank(&self) -> u8 {
        match self {
            Reason::Invalid(_) | Reason::NotReproduced(_) => 0,
            Reason::NotReplayed(_) | Reason::Approximate(_) => 1,
            Reason::Unchecked { claim: Verdict::Unsafe, .. } => 1,
            _ => 2,
        }
    }

    /// Whether the engine was ended while it searched.
    pub fn is_end(&self) -> bool {
        matches!(self, Reason::Budget | Reason::Capacity | Reason::Timeout | Reason::Cancelled)
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Budget => f.write_str("budget"),
            Reason::Capacity => f.write_str("capacity"),
            Reason::Timeout => f.write_str("timeout"),
            Reason::Cancelled => f.write_str("cancelled"),
            Reason::Unanswered => f.write_str("unanswered"),
            Reason::Limit(name) => write!(f, "limit of the model: {name}"),
            Reason::Until(names) => write!(
                f,
                "safe as long as {} hold{}",
                names.join(" and "),
                if names.len() == 1 { "s" } else { "" }
            ),
            Reason::OtherQuestion => f.write_str("the certificate answers another question"),
            Reason::Invalid(why) => write!(f, "validation failed: {why}"),
            Reason::NotReplayed(obstacle) => write!(f, "not replayed: {obstacle}"),
            Reason::NotReproduced(what) => write!(f, "not reproduced on the program: {what}"),
            Reason::Approximate(input) => write!(
                f,
                "a run breaks it, but depends on `{input}`, which the program decides and the model leaves open"
            ),
            Reason::Unchecked { claim, over } => {
                let over = match over {
                    Over::Timeout => "ran out of time",
                    Over::Cancelled => "was cancelled",
                    Over::Memory => "ran out of memory",
                };
                write!(f, "validation {over}; the engine has found it {claim}")
            }
            Reason::Told(words) => f.write_str(words),
        }
    }
}

/// Why a run could not be tried on the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// QEMU is not installed: the name of the command.
    NoQemu(&'static str),
    /// No machine has memory where the program wants it.
    NoMachine,
    /// Only the image of the program is there.
    NoProgram,
    /// The run depends on what nobody can give: registers and words of the stack that were never written.
    Chance,
    /// A handler of an interrupt runs in the middle of something, and that moment was not found.
    Interrupts,
    /// QEMU could not be talked to.
    Failed(String),
}

impl Obstacle {
    /// What to do about it.
    pub fn help(&self) -> &'static str {
        match self {
            Obstacle::NoQemu(_) => {
                "install QEMU for Arm and RISC-V (Debian, Ubuntu: `apt install qemu-system-arm \
                 qemu-system-misc`)"
            }
            Obstacle::NoProgram => "check the ELF file itself: `vouch check FILE.elf --entry NAME`",
            Obstacle::Chance => "give every local variable a value before it is used",
            Obstacle::NoMachine | Obstacle::Interrupts | Obstacle::Failed(_) => {
                "try it on your board: `--trace FILE.gdb` writes the run as a script for a debugger"
            }
        }
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Obstacle::NoQemu(command) => write!(f, "{command} is not installed"),
            Obstacle::NoMachine => {
                f.write_str("no QEMU machine has memory where the program needs it")
            }
            Obstacle::NoProgram => f.write_str("the image does not hold the program"),
            Obstacle::Chance => {
                f.write_str("the run depends on registers or stack words that were never written")
            }
            Obstacle::Interrupts => {
                f.write_str("the interrupt could not be reproduced at the same moment")
            }
            Obstacle::Failed(why) => f.write_str(why),
        }
    }
}

impl From<Over> for Reason {
    fn from(over: Over) -> Reason {
        match over {
            Over::Timeout => Reason::Timeout,
            Over::Cancelled => Reason::Cancelled,
            Over::Memory => Reason::Capacity,
        }
    }
}

/// Programs get the words that people get.
impl Serialize for Reason {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The words are all that is left.
impl<'de> Deserialize<'de> for Reason {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Reason, D::Error> {
        String::deserialize(deserializer).map(Reason::Told)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What the engine has found broken is told before what it has found safe.
    #[test]
    fn an_unchecked_run_comes_before_an_unchecked_proof() {
        let unchecked = |claim| Reason::Unchecked { claim, over: Over::Timeout };
        let reasons = [unchecked(Verdict::Safe), Reason::Timeout, unchecked(Verdict::Unsafe)];
        let first = reasons.iter().min_by_key(|r| r.rank());
        assert_eq!(first, Some(&unchecked(Verdict::Unsafe)));
        let reasons = [unchecked(Verdict::Unsafe), Reason::Invalid("no".into())];
        assert_eq!(reasons.iter().min_by_key(|r| r.rank()), reasons.last());
    }

    #[test]
    fn one_bad_property_decides() {
        use Verdict::*;
        for (verdicts, expected) in [
            (vec![], Unknown),
            (vec![Safe], Safe),
            (vec![Safe, Safe], Safe),
            (vec![Safe, Unknown, Safe], Unknown),
            (vec![Unknown, Unsafe], Unsafe),
            (vec![Unsafe, Unknown, Safe], Unsafe),
        ] {
            assert_eq!(Verdict::all(verdicts.clone()), expected, "{verdicts:?}");
        }
        assert_eq!([Safe, Unsafe, Unknown].map(Verdict::exit_code), [0, 1, 3]);
    }
}
