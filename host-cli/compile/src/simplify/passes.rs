//! The passes, their order, and the choice among them.

use super::back::{Back, Step};
use super::{
    blocks, constants, control, dead, equal, linear, merge, narrow, order, relate, slice, sums,
    unfold,
};
use std::fmt;
use std::str::FromStr;
use vouch_ir::{Cfa, LocId};

/// A transformation of the automaton that can be switched on and off by name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Pass {
    /// Constant folding and propagation.
    Constants,
    /// What no error depends on.
    Slice,
    /// Assignments that nobody reads.
    Dead,
    /// Large-block encoding.
    Blocks,
    /// Ranges of values.
    Narrow,
    /// Variables that equal another.
    Equal,
    /// Locations with the same future.
    Merge,
    /// Comparisons of variables as variables.
    Relate,
    /// Linear equations as variables.
    Linear,
    /// Variables with few values become locations.
    Unfold,
    /// The control of a circuit becomes locations.
    Control,
    /// Words that are only copied and compared become relations.
    Order,
    /// Words that matter only in sums become these.
    Sums,
}

impl Pass {
    /// All of them.
    pub const ALL: [Pass; 13] = [
        Pass::Constants,
        Pass::Slice,
        Pass::Dead,
        Pass::Blocks,
        Pass::Narrow,
        Pass::Equal,
        Pass::Merge,
        Pass::Relate,
        Pass::Linear,
        Pass::Unfold,
        Pass::Control,
        Pass::Order,
        Pass::Sums,
    ];

    /// What it is called.
    pub fn name(self) -> &'static str {
        match self {
            Pass::Constants => "constants",
            Pass::Slice => "slice",
            Pass::Dead => "dead",
            Pass::Blocks => "blocks",
            Pass::Narrow => "narrow",
            Pass::Equal => "equal",
            Pass::Merge => "merge",
            Pass::Relate => "relate",
            Pass::Linear => "linear",
            Pass::Unfold => "unfold",
            Pass::Control => "control",
            Pass::Order => "order",
            Pass::Sums => "sums",
        }
    }

    /// Runs it on what passes with the steps `back` have made of `first`. `kept` stays a location.
    pub fn run(self, cfa: &mut Cfa, first: &Cfa, back: &Back, kept: Option<LocId>) -> Step {
        match self {
            Pass::Constants => constants::run(cfa),
            Pass::Slice => slice::run(cfa),
            Pass::Dead => dead::run(cfa),
            Pass::Blocks => {
                let groups = back.groups(cfa.locations.len());
                blocks::run(cfa, || back.arcs(first), groups, kept)
            }
            Pass::Narrow => narrow::run(cfa),
            Pass::Equal => equal::run(cfa),
            Pass::Merge => merge::run(cfa),
            Pass::Relate => relate::run(cfa),
            Pass::Linear => linear::run(cfa),
            Pass::Unfold => unfold::run(cfa),
            Pass::Control => control::run(cfa),
            Pass::Order => order::run(cfa),
            Pass::Sums => sums::run(cfa),
        }
    }
}

/// The order. Ranges are found best while guards are still on edges of their own, before blocks; and
/// locations are merged after blocks, because merged ones may close cycles that hinder blocks. A pass
/// is here again where one before it makes new work for it: blocks bring expressions together that
/// fold, and what folds sets locations and variables free. One that would see the automaton unchanged
/// is not run. Words are looked at before ranges make parts of them.
const SCHEDULE: [Pass; 19] = [
    Pass::Constants,
    Pass::Slice,
    Pass::Dead,
    Pass::Order,
    Pass::Sums,
    Pass::Narrow,
    Pass::Unfold,
    Pass::Control,
    Pass::Slice,
    Pass::Dead,
    Pass::Blocks,
    Pass::Relate,
    Pass::Linear,
    Pass::Narrow,
    Pass::Equal,
    Pass::Slice,
    Pass::Dead,
    Pass::Merge,
    Pass::Blocks,
];

/// Those that are switched on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Passes {
    on: Vec<Pass>,
    /// Whether a guard reads the state between two steps.
    guarded: bool,
    /// A location that is not passed.
    kept: Option<LocId>,
}

impl Passes {
    /// Only these passes.
    pub fn of(on: Vec<Pass>) -> Passes {
        Passes { on, guarded: false, kept: None }
    }
    /// Those that leave variables what they are, and the location between two steps.
    pub fn for_guard() -> Passes {
        Passes { guarded: true, ..Passes::only(Pass::Blocks) }
    }
    /// Says which location that is, if there is one.
    pub fn between(self, step: Option<LocId>) -> Passes {
        let kept = step.filter(|_| self.guarded);
        Passes { kept, ..self }
    }
    /// A location that is not passed.
    pub fn kept(&self) -> Option<LocId> {
        self.kept
    }
    /// Every pass switched on.
    pub fn all() -> Passes {
        Passes::of(Pass::ALL.to_vec())
    }
    /// No pass: the automaton as the front end made it.
    pub fn none() -> Passes {
        Passes::of(vec![])
    }
    /// One pass alone.
    pub fn only(pass: Pass) -> Passes {
        Passes::of(vec![pass])
    }
    /// Whether this one is on.
    pub fn has(&self, pass: Pass) -> bool {
        self.on.contains(&pass)
    }
    /// Switches one off.
    pub fn without(mut self, pass: Pass) -> Passes {
        self.on.retain(|p| *p != pass);
        self
    }
    /// What is run, in order.
    pub fn schedule(&self) -> Vec<Pass> {
        SCHEDULE.into_iter().filter(|p| self.has(*p)).collect()
    }
}

impl Default for Passes {
    /// All but [`Pass::Relate`] and [`Pass::Unfold`], which make automata larger. [`Pass::Linear`] and
    /// [`Pass::Control`] do so too, but only where there is an equation, or a circuit with control.
    fn default() -> Passes {
        Passes::all().without(Pass::Relate).without(Pass::Unfold)
    }
}

impl fmt::Display for Passes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> =
            Pass::ALL.iter().filter(|p| self.has(**p)).map(|p| p.name()).collect();
        if names.is_empty() { f.pad("none") } else { f.pad(&names.join(",")) }
    }
}

impl FromStr for Passes {
    type Err = String;
    /// `all`, `none`, `default`, names with commas between them, `-name` to leave one out. A list that
    /// begins with `-name` begins with the default.
    fn from_str(list: &str) -> Result<Passes, String> {
        let begins_with_minus = list.trim_start().starts_with('-');
        let mut on = if begins_with_minus { Passes::default().on } else { vec![] };
        for word in list.split(',').map(str::trim) {
            let (name, add) = match word.strip_prefix('-') {
                Some(name) => (name, false),
                None => (word, true),
            };
            let named = match name {
                "all" => Pass::ALL.to_vec(),
                "default" => Passes::default().on,
                "none" if add => {
                    on.clear();
                    continue;
                }
                _ => Pass::ALL.into_iter().filter(|p| p.name() == name).collect(),
            };
            if named.is_empty() {
                let known = Pass::ALL.map(Pass::name).join(", ");
                return Err(format!(
                    "unknown pass `{name}`; there are: {known}; or say all, default or none"
                ));
            }
            on.retain(|p| !named.contains(p));
            if add {
                on.extend(named);
            }
        }
        on.sort();
        Ok(Passes::of(on))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let read = |list: &str| list.parse::<Passes>().map(|p| p.to_string());
        let all = "constants,slice,dead,blocks,narrow,equal,merge,relate,linear,unfold,control,order,sums";
        assert_eq!(read("all"), Ok(all.into()));
        assert_eq!(read("none"), Ok("none".into()));
        assert_eq!(read("dead, blocks"), Ok("dead,blocks".into()));
        assert_eq!(
            read("all,-blocks,-merge"),
            Ok("constants,slice,dead,narrow,equal,relate,linear,unfold,control,order,sums".into())
        );
        assert_eq!(read("blocks,none,dead"), Ok("dead".into()));
        assert!(!Passes::default().has(Pass::Unfold));
        assert_eq!(read("-blocks").unwrap(), Passes::default().without(Pass::Blocks).to_string());
        assert!(read("lbe").unwrap_err().contains("constants, slice"));
        assert!(read("").is_err());
        for passes in [Passes::all(), Passes::none(), Passes::default()] {
            assert_eq!(passes.to_string().parse(), Ok(passes));
        }
    }
}
