//! How functions call each other: which registers mean what.

use super::isa::{Isa, Reg};

/// The calling convention of a processor.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Abi {
    /// The stack pointer.
    pub stack: Reg,
    /// Where calls leave the address to return to.
    pub link: Reg,
    /// Arguments; the first is the result, too.
    pub arguments: &'static [u8],
    /// Registers that a call need not preserve, without the result.
    pub lost: &'static [u8],
    /// What points into the middle of the data, if there is such a register.
    pub global: Option<Reg>,
}

impl Abi {
    /// That of an instruction set.
    pub fn of(isa: Isa) -> Abi {
        match isa {
            Isa::V6m | Isa::V7m => Abi {
                stack: Reg(13),
                link: Reg(14),
                arguments: &[0, 1, 2, 3],
                lost: &[1, 2, 3, 12, 14],
                global: None,
            },
            Isa::Rv32 => Abi {
                stack: Reg(2),
                link: Reg(1),
                arguments: &[10, 11, 12, 13, 14, 15, 16, 17],
                lost: &[1, 5, 6, 7, 11, 12, 13, 14, 15, 16, 17, 28, 29, 30, 31],
                global: Some(Reg(3)),
            },
        }
    }

    /// The first argument, and the result.
    pub fn result(&self) -> Reg {
        Reg(self.arguments.first().copied().unwrap_or(0))
    }

    /// The name of a register.
    pub fn name(&self, register: u32) -> String {
        match register {
            _ if register == u32::from(self.stack.0) => "sp".into(),
            _ if register == u32::from(self.link.0) => "lr".into(),
            _ => format!("r{register}"),
        }
    }
}
