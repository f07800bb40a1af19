//! Operations as text, close to the assembler's.

use super::op::{
    Address, Alu, Base, Hint, Index, Multiple, Offset, Op, Operand, Order, Size, System,
};
use super::{Condition, It, SP};
use crate::elf::isa::value::Shift;
use crate::elf::isa::{Reg, Special};
use std::fmt::{Display, Formatter, Result};

/// Writes an operation that is executed under a condition.
pub fn show(op: &Op, condition: Option<Condition>, f: &mut Formatter) -> Result {
    let c = condition.map_or(String::new(), |c| c.to_string());
    let s = |flags: bool| if flags { "s" } else { "" };
    match *op {
        Op::Data { alu, rd, rn, operand, flags } => {
            let name = match (alu, rd) {
                (Alu::And, None) => "tst",
                (Alu::Eor, None) => "teq",
                (Alu::Add, None) => "cmn",
                (Alu::Sub, None) => "cmp",
                _ => alu_name(alu),
            };
            write!(f, "{name}{}{c} ", s(flags && rd.is_some()))?;
            for reg in [rd, rn].into_iter().flatten() {
                write!(f, "{}, ", R(reg))?;
            }
            show_operand(operand, f)
        }
        Op::MoveTop { rd, value } => write!(f, "movt{c} {}, #{value}", R(rd)),
        Op::Multiply { rd, rn, rm, flags } => {
            write!(f, "mul{}{c} {}, {}, {}", s(flags), R(rd), R(rn), R(rm))
        }
        Op::MultiplyAdd { rd, rn, rm, ra, subtract } => {
            let name = if subtract { "mls" } else { "mla" };
            write!(f, "{name}{c} {}, {}, {}, {}", R(rd), R(rn), R(rm), R(ra))
        }
        Op::MultiplyLong { low, high, rn, rm, signed, accumulate } => {
            let name = if accumulate { "mlal" } else { "mull" };
            let sign = if signed { 's' } else { 'u' };
            write!(f, "{sign}{name}{c} {}, {}, {}, {}", R(low), R(high), R(rn), R(rm))
        }
        Op::Divide { rd, rn, rm, signed } => {
            let sign = if signed { 's' } else { 'u' };
            write!(f, "{sign}div{c} {}, {}, {}", R(rd), R(rn), R(rm))
        }
        Op::CountZeros { rd, rm } => write!(f, "clz{c} {}, {}", R(rd), R(rm)),
        Op::ExtractField { rd, rn, low, bits, signed } => {
            let sign = if signed { 's' } else { 'u' };
            write!(f, "{sign}bfx{c} {}, {}, #{low}, #{bits}", R(rd), R(rn))
        }
        Op::InsertField { rd, rn: Some(rn), low, bits } => {
            write!(f, "bfi{c} {}, {}, #{low}, #{bits}", R(rd), R(rn))
        }
        Op::InsertField { rd, rn: None, low, bits } => {
            write!(f, "bfc{c} {}, #{low}, #{bits}", R(rd))
        }
        Op::Saturate { rd, rn, shift, by, bits, signed } => {
            let sign = if signed { 's' } else { 'u' };
            write!(f, "{sign}sat{c} {}, #{bits}, ", R(rd))?;
            show_operand(Operand::Shifted { rm: rn, shift, by }, f)
        }
        Op::Extend { rd, rm, rotation, bits, signed } => {
            let (sign, size) = (if signed { 's' } else { 'u' }, if bits == 8 { 'b' } else { 'h' });
            write!(f, "{sign}xt{size}{c} {}, {}", R(rd), R(rm))?;
            if rotation != 0 { write!(f, ", ror #{rotation}") } else { Ok(()) }
        }
        Op::Reverse { rd, rm, order } => {
            let name = match order {
                Order::Word => "rev",
                Order::Halves => "rev16",
                Order::SignedHalf => "revsh",
                Order::Bits => "rbit",
            };
            write!(f, "{name}{c} {}, {}", R(rd), R(rm))
        }
        Op::Load { rt, address, size, signed } => {
            let sign = if signed { "s" } else { "" };
            write!(f, "ldr{sign}{}{c} {}, ", suffix(size), R(rt))?;
            show_address(address, f)
        }
        Op::Store { rt, address, size } => {
            write!(f, "str{}{c} {}, ", suffix(size), R(rt))?;
            show_address(address, f)
        }
        Op::LoadPc { address } => {
            write!(f, "ldr{c} pc, ")?;
            show_address(address, f)
        }
        Op::LoadDual { rt, rt2, address } => {
            write!(f, "ldrd{c} {}, {}, ", R(rt), R(rt2))?;
            show_address(address, f)
        }
        Op::StoreDual { rt, rt2, address } => {
            write!(f, "strd{c} {}, {}, ", R(rt), R(rt2))?;
            show_address(address, f)
        }
        Op::LoadExclusive { rt, rn, offset, size } => {
            write!(f, "ldrex{}{c} {}, [{}, #{offset}]", suffix(size), R(rt), R(rn))
        }
        Op::StoreExclusive { rd, rt, rn, offset, size } => {
            write!(f, "strex{}{c} {}, {}, [{}, #{offset}]", suffix(size), R(rd), R(rt), R(rn))
        }
        Op::ClearExclusive => write!(f, "clrex{c}"),
        Op::LoadMultiple { rn, list, order, writeback } => {
            let name = ("ldm", "pop", Multiple::IncrementAfter);
            show_multiple(name, (rn, list, order, writeback), &c, f)
        }
        Op::StoreMultiple { rn, list, order, writeback } => {
            let name = ("stm", "push", Multiple::DecrementBefore);
            show_multiple(name, (rn, list, order, writeback), &c, f)
        }
        Op::Branch { condition: Some(condition), target } => write!(f, "b{condition} {target:#x}"),
        Op::Branch { condition: None, target } => write!(f, "b{c} {target:#x}"),
        Op::CompareBranch { rn, nonzero, target } => {
            write!(f, "cb{}z {}, {target:#x}", if nonzero { "n" } else { "" }, R(rn))
        }
        Op::TableBranch { base, rm, size, .. } => {
            let base = match base {
                Base::Register(rn) => R(rn),
                Base::Fixed(_) => R(Reg(15)),
            };
            match size {
                Size::Byte => write!(f, "tbb{c} [{base}, {}]", R(rm)),
                _ => write!(f, "tbh{c} [{base}, {}, lsl #1]", R(rm)),
            }
        }
        Op::Call { target, .. } => write!(f, "bl{c} {target:#x}"),
        Op::Exchange { rm, link: None } => write!(f, "bx{c} {}", R(rm)),
        Op::Exchange { rm, link: Some(_) } => write!(f, "blx{c} {}", R(rm)),
        Op::BranchTo { base: 0, rm } => write!(f, "mov{c} pc, {}", R(rm)),
        Op::BranchTo { rm, .. } => write!(f, "add{c} pc, {}", R(rm)),
        Op::ReadSpecial { rd, special } => write!(f, "mrs{c} {}, {}", R(rd), system(special)),
        Op::WriteSpecial { special, rn } => write!(f, "msr{c} {}, {}", system(special), R(rn)),
        Op::Interrupts { disable } => write!(f, "cps{} i", if disable { "id" } else { "ie" }),
        Op::If(it) => show_it(it, f),
        Op::Hint(hint) => write!(f, "{}{c}", hint_name(hint)),
        Op::Supervisor(number) => write!(f, "svc{c} #{number}"),
        Op::Undefined(number) => write!(f, "udf{c} #{number}"),
        Op::Breakpoint(number) => write!(f, "bkpt #{number}"),
    }
}

/// `it` with a letter for each further instruction.
fn show_it(it: It, f: &mut Formatter) -> Result {
    f.write_str("it")?;
    let first = it.0 >> 4 & 1;
    let mut rest = it.advance();
    while rest.is_inside() {
        f.write_str(if rest.0 >> 4 & 1 == first { "t" } else { "e" })?;
        rest = rest.advance();
    }
    match it.condition() {
        Some(condition) => write!(f, " {condition}"),
        None => f.write_str(" al"),
    }
}

/// A register's name.
struct R(Reg);

impl Display for R {
    fn fmt(&self, f: &mut Formatter) -> Result {
        match self.0.0 {
            13 => f.write_str("sp"),
            14 => f.write_str("lr"),
            15 => f.write_str("pc"),
            n => write!(f, "r{n}"),
        }
    }
}

fn alu_name(alu: Alu) -> &'static str {
    match alu {
        Alu::And => "and",
        Alu::Bic => "bic",
        Alu::Orr => "orr",
        Alu::Orn => "orn",
        Alu::Eor => "eor",
        Alu::Add => "add",
        Alu::Adc => "adc",
        Alu::Sub => "sub",
        Alu::Sbc => "sbc",
        Alu::Rsb => "rsb",
        Alu::Mov => "mov",
        Alu::Mvn => "mvn",
    }
}

fn shift_name(shift: Shift) -> &'static str {
    match shift {
        Shift::Lsl => "lsl",
        Shift::Lsr => "lsr",
        Shift::Asr => "asr",
        Shift::Ror => "ror",
    }
}

fn show_operand(operand: Operand, f: &mut Formatter) -> Result {
    match operand {
        Operand::Value { value, .. } => write!(f, "#{value}"),
        Operand::Shifted { rm, by: 0, .. } => write!(f, "{}", R(rm)),
        Operand::Shifted { rm, shift, by } => write!(f, "{}, {} #{by}", R(rm), shift_name(shift)),
        Operand::RotatedWithCarry { rm } => write!(f, "{}, rrx", R(rm)),
        Operand::By { rm, shift, rs } => write!(f, "{}, {} {}", R(rm), shift_name(shift), R(rs)),
    }
}

fn suffix(size: Size) -> &'static str {
    match size {
        Size::Byte => "b",
        Size::Half => "h",
        Size::Word => "",
    }
}

fn show_address(address: Address, f: &mut Formatter) -> Result {
    let rn = match (address.base, address.offset) {
        (Base::Fixed(base), Offset::Value(by)) => {
            return write!(f, "[{:#x}]", base.wrapping_add_signed(by));
        }
        (Base::Fixed(base), Offset::Register(rm, _)) => {
            return write!(f, "[{base:#x}, {}]", R(rm));
        }
        (Base::Register(rn), _) => R(rn),
    };
    match (address.offset, address.index) {
        (Offset::Value(0), Index::Offset) => write!(f, "[{rn}]"),
        (Offset::Value(by), Index::Offset) => write!(f, "[{rn}, #{by}]"),
        (Offset::Value(by), Index::Pre) => write!(f, "[{rn}, #{by}]!"),
        (Offset::Value(by), Index::Post) => write!(f, "[{rn}], #{by}"),
        (Offset::Register(rm, 0), _) => write!(f, "[{rn}, {}]", R(rm)),
        (Offset::Register(rm, by), _) => write!(f, "[{rn}, {}, lsl #{by}]", R(rm)),
    }
}

fn show_multiple(
    (plain, stack, stack_order): (&str, &str, Multiple),
    (rn, list, order, writeback): (Reg, u16, Multiple, bool),
    c: &str,
    f: &mut Formatter,
) -> Result {
    if rn == SP && writeback && order == stack_order {
        write!(f, "{stack}{c} {{")?;
    } else {
        let way = if order == Multiple::IncrementAfter { "" } else { "db" };
        write!(f, "{plain}{way}{c} {}{}, {{", R(rn), if writeback { "!" } else { "" })?;
    }
    for (i, reg) in (0..16).filter(|i| list >> i & 1 == 1).enumerate() {
        write!(f, "{}{}", if i == 0 { "" } else { ", " }, R(Reg(reg)))?;
    }
    f.write_str("}")
}

fn system(special: System) -> &'static str {
    match special {
        System::Apsr => "apsr",
        System::Mask(Special::Primask) => "primask",
        System::Mask(Special::Basepri) => "basepri",
        System::Mask(Special::Mstatus) => "mstatus",
        System::BasepriMax => "basepri_max",
    }
}

fn hint_name(hint: Hint) -> &'static str {
    match hint {
        Hint::Nop => "nop",
        Hint::Yield => "yield",
        Hint::Wfe => "wfe",
        Hint::Wfi => "wfi",
        Hint::Sev => "sev",
        Hint::Dsb => "dsb",
        Hint::Dmb => "dmb",
        Hint::Isb => "isb",
    }
}
