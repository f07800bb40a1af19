//! Instructions of 16 bits.

use super::op::{Address, Alu, Base, Hint, Index, Multiple, Offset, Op, Operand, Order, Size};
use super::{
    Condition, It, LR, NOT_IN_IT, PC, Place, SP, UNDEFINED, UNPREDICTABLE, field, reg, signed,
};
use crate::elf::isa::Reg;
use crate::elf::isa::value::Shift;

type Result = std::result::Result<(Op, Option<It>), &'static str>;

/// The operation; an IT instruction also sets the state.
pub fn decode(word: u32, place: &Place) -> Result {
    let op = match field(word, 10, 6) {
        0b000000..=0b001111 => shift_add(word, place)?,
        0b010000 => data(word, place),
        0b010001 => high(word, place)?,
        0b010010 | 0b010011 => {
            let base = Base::Fixed(place.literals());
            let address = Address {
                base,
                offset: Offset::Value(4 * field(word, 0, 8) as i32),
                index: Index::Offset,
                aligned: place.aligned(),
            };
            Op::Load { rt: reg(word, 8, 3), address, size: Size::Word, signed: false }
        }
        0b010100..=0b010111 => by_register(word, place),
        0b011000..=0b100111 => by_offset(word, place),
        0b101000 | 0b101001 => {
            let value = place.literals().wrapping_add(4 * field(word, 0, 8));
            let (rd, operand) = (Some(reg(word, 8, 3)), Operand::value(value));
            Op::Data { alu: Alu::Mov, rd, rn: None, operand, flags: false }
        }
        0b101010 | 0b101011 => from_sp(reg(word, 8, 3), Alu::Add, 4 * field(word, 0, 8)),
        0b101100..=0b101111 => return miscellaneous(word, place),
        0b110000 | 0b110001 => {
            let (rn, list) = (reg(word, 8, 3), field(word, 0, 8) as u16);
            let lowest = list.trailing_zeros() == u32::from(rn.0);
            if list == 0 || (list >> rn.0 & 1 == 1 && !lowest) {
                return Err(UNPREDICTABLE);
            }
            Op::StoreMultiple { rn, list, order: Multiple::IncrementAfter, writeback: true }
        }
        0b110010 | 0b110011 => {
            let (rn, list) = (reg(word, 8, 3), field(word, 0, 8) as u16);
            let writeback = list >> rn.0 & 1 == 0;
            match list {
                0 => return Err(UNPREDICTABLE),
                _ => Op::LoadMultiple { rn, list, order: Multiple::IncrementAfter, writeback },
            }
        }
        0b110100..=0b110111 => conditional(word, place)?,
        0b111000 | 0b111001 => {
            place.last_in_it()?;
            let target = place.target(2 * signed(field(word, 0, 11), 11));
            Op::Branch { condition: None, target }
        }
        _ => return Err(UNDEFINED),
    };
    Ok((op, None))
}

fn from_sp(rd: Reg, alu: Alu, value: u32) -> Op {
    Op::Data { alu, rd: Some(rd), rn: Some(SP), operand: Operand::value(value), flags: false }
}

/// Shifts by a number, `add`, `sub`, `mov` and `cmp` with one.
fn shift_add(word: u32, place: &Place) -> std::result::Result<Op, &'static str> {
    let flags = place.sets_flags();
    let (rd, rn) = (Some(reg(word, 0, 3)), Some(reg(word, 3, 3)));
    let opcode = field(word, 11, 3);
    if let 0b000..=0b010 = opcode {
        let (rm, by) = (reg(word, 3, 3), field(word, 6, 5) as u8);
        let operand = match (opcode, by) {
            // `movs rd, rm`.
            (0b000, 0) if place.it.is_inside() => return Err(NOT_IN_IT),
            (0b000, by) => Operand::Shifted { rm, shift: Shift::Lsl, by },
            (0b001, 0) => Operand::Shifted { rm, shift: Shift::Lsr, by: 32 },
            (0b001, by) => Operand::Shifted { rm, shift: Shift::Lsr, by },
            (_, 0) => Operand::Shifted { rm, shift: Shift::Asr, by: 32 },
            (_, by) => Operand::Shifted { rm, shift: Shift::Asr, by },
        };
        return Ok(Op::Data { alu: Alu::Mov, rd, rn: None, operand, flags });
    }
    if opcode == 0b011 {
        let alu = if field(word, 9, 1) == 0 { Alu::Add } else { Alu::Sub };
        let operand = match field(word, 10, 1) {
            0 => Operand::register(reg(word, 6, 3)),
            _ => Operand::value(field(word, 6, 3)),
        };
        return Ok(Op::Data { alu, rd, rn, operand, flags });
    }
    let (rdn, operand) = (Some(reg(word, 8, 3)), Operand::value(field(word, 0, 8)));
    Ok(match opcode {
        0b100 => Op::Data { alu: Alu::Mov, rd: rdn, rn: None, operand, flags },
        0b101 => Op::Data { alu: Alu::Sub, rd: None, rn: rdn, operand, flags: true },
        0b110 => Op::Data { alu: Alu::Add, rd: rdn, rn: rdn, operand, flags },
        _ => Op::Data { alu: Alu::Sub, rd: rdn, rn: rdn, operand, flags },
    })
}

/// Operations on two low registers.
fn data(word: u32, place: &Place) -> Op {
    let flags = place.sets_flags();
    let (low, rm) = (reg(word, 0, 3), reg(word, 3, 3));
    let (rdn, operand) = (Some(low), Operand::register(rm));
    let shifted = |shift| {
        let operand = Operand::By { rm: low, shift, rs: rm };
        Op::Data { alu: Alu::Mov, rd: rdn, rn: None, operand, flags }
    };
    let both = |alu| Op::Data { alu, rd: rdn, rn: rdn, operand, flags };
    let compare = |alu| Op::Data { alu, rd: None, rn: rdn, operand, flags: true };
    match field(word, 6, 4) {
        0b0000 => both(Alu::And),
        0b0001 => both(Alu::Eor),
        0b0010 => shifted(Shift::Lsl),
        0b0011 => shifted(Shift::Lsr),
        0b0100 => shifted(Shift::Asr),
        0b0101 => both(Alu::Adc),
        0b0110 => both(Alu::Sbc),
        0b0111 => shifted(Shift::Ror),
        0b1000 => compare(Alu::And),
        0b1001 => {
            let operand = Operand::value(0);
            Op::Data { alu: Alu::Rsb, rd: rdn, rn: Some(rm), operand, flags }
        }
        0b1010 => compare(Alu::Sub),
        0b1011 => compare(Alu::Add),
        0b1100 => both(Alu::Orr),
        0b1101 => Op::Multiply { rd: low, rn: rm, rm: low, flags },
        0b1110 => both(Alu::Bic),
        _ => Op::Data { alu: Alu::Mvn, rd: rdn, rn: None, operand, flags },
    }
}

/// Operations on all registers, the PC included.
fn high(word: u32, place: &Place) -> std::result::Result<Op, &'static str> {
    let (d, m) = (field(word, 7, 1) << 3 | field(word, 0, 3), field(word, 3, 4));
    let (rd, rm) = (Reg(d as u8), Reg(m as u8));
    let jumps = d == PC && field(word, 8, 2) != 0b01;
    if jumps {
        place.last_in_it()?;
    }
    let operand = if m == PC { Operand::value(place.pc()) } else { Operand::register(rm) };
    match field(word, 8, 2) {
        0b00 if d == PC && m == PC => Err(UNPREDICTABLE),
        0b00 if d == PC => Ok(Op::BranchTo { base: place.pc(), rm }),
        0b00 => Ok(Op::Data { alu: Alu::Add, rd: Some(rd), rn: Some(rd), operand, flags: false }),
        // Of two low registers it is UNPREDICTABLE by the manual. LLVM makes it of `compare_exchange` without optimisation, and
        // every processor compares.
        0b01 if d == PC || m == PC => Err(UNPREDICTABLE),
        0b01 => Ok(Op::Data { alu: Alu::Sub, rd: None, rn: Some(rd), operand, flags: true }),
        0b10 if d == PC && m == PC => Ok(Op::Branch { condition: None, target: place.pc() }),
        0b10 if d == PC => Ok(Op::BranchTo { base: 0, rm }),
        0b10 => Ok(Op::Data { alu: Alu::Mov, rd: Some(rd), rn: None, operand, flags: false }),
        _ => {
            place.last_in_it()?;
            if m == PC || field(word, 0, 3) != 0 {
                return Err(UNPREDICTABLE);
            }
            let link = (field(word, 7, 1) == 1).then_some(place.address.wrapping_add(2) | 1);
            Ok(Op::Exchange { rm, link })
        }
    }
}

/// Loads and stores at a register plus a register.
fn by_register(word: u32, place: &Place) -> Op {
    let rt = reg(word, 0, 3);
    let address = Address {
        base: Base::Register(reg(word, 3, 3)),
        offset: Offset::Register(reg(word, 6, 3), 0),
        index: Index::Offset,
        aligned: place.aligned(),
    };
    match field(word, 9, 3) {
        0b000 => Op::Store { rt, address, size: Size::Word },
        0b001 => Op::Store { rt, address, size: Size::Half },
        0b010 => Op::Store { rt, address, size: Size::Byte },
        0b011 => Op::Load { rt, address, size: Size::Byte, signed: true },
        0b100 => Op::Load { rt, address, size: Size::Word, signed: false },
        0b101 => Op::Load { rt, address, size: Size::Half, signed: false },
        0b110 => Op::Load { rt, address, size: Size::Byte, signed: false },
        _ => Op::Load { rt, address, size: Size::Half, signed: true },
    }
}

/// Loads and stores at a register plus a number.
fn by_offset(word: u32, place: &Place) -> Op {
    let from_sp = field(word, 12, 4) == 0b1001;
    let (rt, rn, offset) = if from_sp {
        (reg(word, 8, 3), SP, field(word, 0, 8))
    } else {
        (reg(word, 0, 3), reg(word, 3, 3), field(word, 6, 5))
    };
    let size = match field(word, 12, 4) {
        0b0111 => Size::Byte,
        0b1000 => Size::Half,
        _ => Size::Word,
    };
    let address = Address {
        base: Base::Register(rn),
        offset: Offset::Value((offset * size.bytes()) as i32),
        index: Index::Offset,
        aligned: place.aligned(),
    };
    match field(word, 11, 1) {
        0 => Op::Store { rt, address, size },
        _ => Op::Load { rt, address, size, signed: false },
    }
}

fn miscellaneous(word: u32, place: &Place) -> Result {
    let (rd, rm) = (reg(word, 0, 3), reg(word, 3, 3));
    let reverse = |order| Op::Reverse { rd, rm, order };
    let op = match field(word, 8, 4) {
        0b0000 => {
            let alu = if field(word, 7, 1) == 0 { Alu::Add } else { Alu::Sub };
            from_sp(SP, alu, 4 * field(word, 0, 7))
        }
        0b0010 => {
            let bits = if field(word, 6, 1) == 0 { 16 } else { 8 };
            Op::Extend { rd, rm, rotation: 0, bits, signed: field(word, 7, 1) == 0 }
        }
        0b0100 | 0b0101 => {
            let list = (field(word, 0, 8) | field(word, 8, 1) << LR.0) as u16;
            if list == 0 {
                return Err(UNPREDICTABLE);
            }
            Op::StoreMultiple { rn: SP, list, order: Multiple::DecrementBefore, writeback: true }
        }
        0b1100 | 0b1101 => {
            let list = (field(word, 0, 8) | field(word, 8, 1) << PC) as u16;
            if list == 0 {
                return Err(UNPREDICTABLE);
            }
            if list >> PC != 0 {
                place.last_in_it()?;
            }
            Op::LoadMultiple { rn: SP, list, order: Multiple::IncrementAfter, writeback: true }
        }
        0b0110 => {
            place.outside_it()?;
            match field(word, 0, 8) {
                0b0110_0010 => Op::Interrupts { disable: false },
                0b0111_0010 => Op::Interrupts { disable: true },
                0b0110_0001 | 0b0111_0001 | 0b0110_0011 | 0b0111_0011 => {
                    return Err("FAULTMASK is not modelled");
                }
                _ => return Err(UNDEFINED),
            }
        }
        0b1010 => match field(word, 6, 2) {
            0b00 => reverse(Order::Word),
            0b01 => reverse(Order::Halves),
            0b11 => reverse(Order::SignedHalf),
            _ => return Err(UNDEFINED),
        },
        0b1110 => {
            // It is executed whether or not the condition holds.
            place.outside_it()?;
            Op::Breakpoint(field(word, 0, 8) as u8)
        }
        0b0001 | 0b0011 | 0b1001 | 0b1011 => {
            place.v7m()?;
            place.outside_it()?;
            let offset = field(word, 9, 1) << 6 | field(word, 3, 5) << 1;
            let (rn, nonzero) = (reg(word, 0, 3), field(word, 11, 1) == 1);
            Op::CompareBranch { rn, nonzero, target: place.target(offset as i32) }
        }
        0b1111 if field(word, 0, 4) != 0 => {
            place.v7m()?;
            place.outside_it()?;
            let (first, mask) = (field(word, 4, 4), field(word, 0, 4));
            if first == 15 || (first == 14 && mask.count_ones() != 1) {
                return Err(UNPREDICTABLE);
            }
            let it = It(field(word, 0, 8) as u8);
            return Ok((Op::If(it), Some(it)));
        }
        0b1111 => Op::Hint(hint(field(word, 4, 4))?),
        _ => return Err(UNDEFINED),
    };
    Ok((op, None))
}

/// The hint of this number.
pub fn hint(number: u32) -> std::result::Result<Hint, &'static str> {
    match number {
        0 => Ok(Hint::Nop),
        1 => Ok(Hint::Yield),
        2 => Ok(Hint::Wfe),
        3 => Ok(Hint::Wfi),
        4 => Ok(Hint::Sev),
        _ => Err("a reserved hint"),
    }
}

/// Conditional branches, `udf` and `svc`.
fn conditional(word: u32, place: &Place) -> std::result::Result<Op, &'static str> {
    let (number, low) = (field(word, 8, 4), field(word, 0, 8));
    match Condition::new(number) {
        Some(condition) => {
            place.outside_it()?;
            let target = place.target(2 * signed(low, 8));
            Ok(Op::Branch { condition: Some(condition), target })
        }
        None if number == 14 => {
            // Whether it is executed if its condition does not hold is up to the implementation.
            place.outside_it()?;
            Ok(Op::Undefined(low as u16))
        }
        None => Ok(Op::Supervisor(low as u8)),
    }
}
