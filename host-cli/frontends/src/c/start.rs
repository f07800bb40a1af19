//! Variables that are more than C says of them: those that start-up code does not fill, and those that lie at addresses of their own.

use super::reach::Reach;
use super::tree::{Global, GlobalId, Unit};
use super::{Fail, fail};
use std::ops::Range;

/// What a variable holds when the program starts.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Start {
    /// Its initial value, or zero.
    #[default]
    Initial,
    /// That, or whatever is in memory: nobody knows what start-up code does with its section.
    Unknown,
    /// Whatever is in memory: start-up code leaves it alone.
    Any,
}

/// Where devices lie that a variable is put at: the special registers of small processors, and those of Arm's.
const DEVICES: [Range<u64>; 3] = [0..0x1000, 0x4000_0000..0x6000_0000, 0xa000_0000..0x1_0000_0000];

impl Global {
    /// Whether every read of it may give another value, and what is written is lost: it is defined elsewhere, or lies where
    /// devices do.
    pub fn is_register(&self) -> bool {
        let is_device = |at: u64| DEVICES.iter().any(|range| range.contains(&at));
        let is_table = self.constant && self.init.is_some();
        self.foreign && self.volatile || self.at.is_some_and(is_device) && !is_table
    }

    /// What it holds when the program starts.
    pub fn start(&self) -> Start {
        match self.start {
            // A table that lies somewhere of its own in flash.
            Start::Unknown if self.constant && !self.volatile && self.init.is_some() => {
                Start::Initial
            }
            start => start,
        }
    }
}

/// Refuses variables at addresses of their own that are the same memory as something else: other variables, or what the program
/// uses by its address as a number.
pub fn refuse_overlap(unit: &Unit, reach: &Reach, devices: &[Range<u64>]) -> Result<(), Fail> {
    let used: Vec<GlobalId> = reach.mentioned.union(&reach.globals).copied().collect();
    let mut placed: Vec<(Range<u64>, GlobalId)> = vec![];
    for id in used {
        let global = &unit.globals[id];
        let Some(at) = global.at.filter(|_| !global.is_register()) else { continue };
        let size = unit.types.size(&global.ty).unwrap_or(1).max(1);
        let range = at..at.saturating_add(size);
        let meets = |other: &Range<u64>| range.start < other.end && other.start < range.end;
        let name = &global.name;
        if let Some((_, other)) = placed.iter().find(|(other, _)| meets(other)) {
            let other = &unit.globals[*other];
            let message = format!("`{name}` and `{}` lie at the same address", other.name);
            let wrong = fail(message, global.span, "one is changed with the other");
            let wrong = wrong.related(other.span, "the other one");
            return Err(Box::new(wrong.help("make them members of one union")));
        }
        if devices.iter().any(meets) && !global.constant {
            let message = format!("`{name}` lies where the program uses addresses as numbers, too");
            let wrong = fail(message, global.span, "it may be changed through them");
            return Err(Box::new(
                wrong.help("use the variable instead of its address as a number"),
            ));
        }
        placed.push((range, id));
    }
    Ok(())
}
