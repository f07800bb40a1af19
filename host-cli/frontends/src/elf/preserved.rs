//! What a function that is an input leaves as it is. A compiler that sees such a function when it compiles its callers lets them keep
//! values in registers that its code does not write (GCC from -O2 on: `-fipa-ra`), though calls need not preserve them.

use super::graph::{Opaque, instruction, ways};
use super::isa::{Flag, It, Next, Reg, Transfer};
use super::reader::{Elf, Symbol};
use std::collections::BTreeSet;
use vouch_ir::deadline;

/// Registers and flags that code writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Written {
    registers: u32,
    flags: u32,
}

impl Written {
    /// All that there is.
    const ALL: Written = Written { registers: u32::MAX, flags: u32::MAX };

    /// Notes a register.
    pub fn add(&mut self, reg: Reg) {
        self.registers |= 1u32.checked_shl(reg.0.into()).unwrap_or(0);
    }

    /// Notes a flag.
    pub fn add_flag(&mut self, flag: Flag) {
        self.flags |= 1 << flag as u32;
    }

    /// Whether a register is among them.
    pub fn has(self, reg: Reg) -> bool {
        self.registers.checked_shr(reg.0.into()).is_some_and(|all| all & 1 == 1)
    }

    /// Whether a flag is.
    pub fn has_flag(self, flag: Flag) -> bool {
        self.flags >> flag as u32 & 1 == 1
    }
}

/// What the code of a function writes; all if it leads elsewhere.
pub fn written(elf: &Elf, function: &Symbol) -> Written {
    of_all_instructions(elf, function).unwrap_or(Written::ALL)
}

/// Whether a function does nothing but return: it accesses nothing, and there is nothing in it to wait for.
pub fn does_nothing(elf: &Elf, function: &Symbol) -> bool {
    let (mut opaque, mut pc) = (Opaque::default(), function.start);
    while (function.start..function.end).contains(&pc) {
        deadline::tick();
        let Some(decoded) = instruction(elf, pc, It::NONE) else { return false };
        let is_plain = decoded.condition.is_none() && !decoded.waits();
        match decoded.execute(&mut opaque) {
            Ok(_) if opaque.accesses || !is_plain => return false,
            Ok(Next::Fall) => pc = pc.wrapping_add(decoded.length),
            Ok(Next::Go { taken, transfer: Transfer::Return, .. }) => {
                return opaque.is_known(taken);
            }
            _ => return false,
        }
    }
    false
}

fn of_all_instructions(elf: &Elf, function: &Symbol) -> Option<Written> {
    let mut opaque = Opaque::default();
    let (mut seen, mut todo) = (BTreeSet::new(), vec![(function.start, It::NONE)]);
    while let Some((pc, it)) = todo.pop() {
        deadline::tick();
        if !(function.start..function.end).contains(&pc) {
            return None;
        }
        if !seen.insert(pc) {
            continue;
        }
        let decoded = instruction(elf, pc, it)?;
        match decoded.execute(&mut opaque).ok()? {
            Next::Fall | Next::Trap | Next::Go { transfer: Transfer::Return, .. } => {}
            Next::Go { to, transfer: Transfer::Jump, .. } if opaque.is_known(to) => {}
            Next::Go { .. } | Next::Leave | Next::Supervisor => return None,
        }
        let (ways, after) = ways(&decoded, pc, &mut opaque);
        let fall = pc.wrapping_add(decoded.length);
        todo.extend(ways.into_iter().map(|to| (to, if to == fall { after } else { It::NONE })));
    }
    Some(opaque.written)
}
