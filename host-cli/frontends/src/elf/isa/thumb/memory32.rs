//! Loads and stores in instructions of 32 bits.

use super::decode32::Result;
use super::op::{Address, Base, Index, Multiple, Offset, Op, Size};
use super::{PC, Place, SP, UNDEFINED, UNPREDICTABLE, field, general, not_pc, reg};

/// Load and store multiple.
pub fn multiple(word: u32, place: &Place) -> Result {
    let (rn, writeback) = (not_pc(word, 16)?, field(word, 21, 1) == 1);
    let (list, loads) = (field(word, 0, 16) as u16, field(word, 20, 1) == 1);
    let order = match field(word, 23, 2) {
        0b01 => Multiple::IncrementAfter,
        0b10 => Multiple::DecrementBefore,
        _ => return Err(UNDEFINED),
    };
    let has = |reg: u32| list >> reg & 1 == 1;
    let jumps = has(PC);
    if list.count_ones() < 2 || has(SP.0.into()) || (writeback && has(rn.0.into())) {
        return Err(UNPREDICTABLE);
    }
    if !loads {
        return match jumps {
            true => Err(UNPREDICTABLE),
            false => Ok(Op::StoreMultiple { rn, list, order, writeback }),
        };
    }
    if jumps {
        place.last_in_it()?;
        if has(14) {
            return Err(UNPREDICTABLE);
        }
    }
    Ok(Op::LoadMultiple { rn, list, order, writeback })
}

/// Load and store dual or exclusive, table branch.
pub fn dual(word: u32, place: &Place) -> Result {
    let (op1, op2, op3) = (field(word, 23, 2), field(word, 20, 2), field(word, 4, 4));
    let size = |half: u32| if half & 1 == 0 { Size::Byte } else { Size::Half };
    match (op1, op2) {
        (0b00, 0b00) => {
            let offset = 4 * field(word, 0, 8);
            store_exclusive(word, 8, offset, Size::Word)
        }
        (0b00, 0b01) => {
            if field(word, 8, 4) != 15 {
                return Err(UNPREDICTABLE);
            }
            let (rt, rn, offset) = (general(word, 12)?, not_pc(word, 16)?, 4 * field(word, 0, 8));
            Ok(Op::LoadExclusive { rt, rn, offset, size: Size::Word })
        }
        (0b01, 0b00) if op3 & 0b1110 == 0b0100 => {
            if field(word, 8, 4) != 15 {
                return Err(UNPREDICTABLE);
            }
            store_exclusive(word, 0, 0, size(op3))
        }
        (0b01, 0b01) if op3 & 0b1110 == 0b0100 => {
            if field(word, 8, 4) != 15 || field(word, 0, 4) != 15 {
                return Err(UNPREDICTABLE);
            }
            let (rt, rn) = (general(word, 12)?, not_pc(word, 16)?);
            Ok(Op::LoadExclusive { rt, rn, offset: 0, size: size(op3) })
        }
        (0b01, 0b01) if op3 & 0b1110 == 0b0000 => {
            if field(word, 8, 8) != 0xf0 || field(word, 16, 4) == 13 {
                return Err(UNPREDICTABLE);
            }
            place.last_in_it()?;
            let base = match field(word, 16, 4) {
                PC => Base::Fixed(place.pc()),
                _ => Base::Register(reg(word, 16, 4)),
            };
            Ok(Op::TableBranch { base, rm: general(word, 0)?, size: size(op3), pc: place.pc() })
        }
        (0b01, 0b00 | 0b01) => Err(UNDEFINED),
        _ => two_words(word, place),
    }
}

fn store_exclusive(word: u32, d: u32, offset: u32, size: Size) -> Result {
    let (rd, rt, rn) = (general(word, d)?, general(word, 12)?, not_pc(word, 16)?);
    if rd == rn || rd == rt {
        return Err(UNPREDICTABLE);
    }
    Ok(Op::StoreExclusive { rd, rt, rn, offset, size })
}

/// What becomes of the base, by the bits P and W.
fn index(p: u32, w: u32) -> Result<Index> {
    match (p, w) {
        (1, 0) => Ok(Index::Offset),
        (1, _) => Ok(Index::Pre),
        (_, 1) => Ok(Index::Post),
        _ => Err(UNDEFINED),
    }
}

/// An offset with its sign.
fn offset(up: u32, value: u32) -> Offset {
    Offset::Value(if up == 1 { value as i32 } else { -(value as i32) })
}

/// `ldrd`, `strd`.
fn two_words(word: u32, place: &Place) -> Result {
    let (loads, n) = (field(word, 20, 1) == 1, field(word, 16, 4));
    let (rt, rt2) = (general(word, 12)?, general(word, 8)?);
    let index = index(field(word, 24, 1), field(word, 21, 1))?;
    let offset = offset(field(word, 23, 1), 4 * field(word, 0, 8));
    if loads && rt == rt2 {
        return Err(UNPREDICTABLE);
    }
    let base = match n {
        PC if loads && index == Index::Offset => Base::Fixed(place.literals()),
        PC => return Err(UNPREDICTABLE),
        _ => Base::Register(reg(word, 16, 4)),
    };
    if index != Index::Offset && [rt, rt2].contains(&reg(word, 16, 4)) {
        return Err(UNPREDICTABLE);
    }
    let address = Address { base, offset, index, aligned: true };
    Ok(match loads {
        true => Op::LoadDual { rt, rt2, address },
        false => Op::StoreDual { rt, rt2, address },
    })
}

/// Load and store of one byte, halfword or word.
pub fn single(word: u32, place: &Place) -> Result {
    let (loads, signed) = (field(word, 20, 1) == 1, field(word, 24, 1) == 1);
    let (n, t) = (field(word, 16, 4), field(word, 12, 4));
    let size = match field(word, 21, 2) {
        0b00 => Size::Byte,
        0b01 => Size::Half,
        0b10 if !signed => Size::Word,
        _ => return Err(UNDEFINED),
    };
    if signed && !loads {
        return Err(UNDEFINED);
    }
    let address = address(word, place)?;
    if loads && t == PC && size == Size::Word {
        place.last_in_it()?;
        return Ok(Op::LoadPc { address });
    }
    if loads && t == PC {
        return Err("a memory hint");
    }
    let rt = if size == Size::Word { not_pc(word, 12)? } else { general(word, 12)? };
    if address.index != Index::Offset && n == t {
        return Err(UNPREDICTABLE);
    }
    Ok(match loads {
        true => Op::Load { rt, address, size, signed },
        false => Op::Store { rt, address, size },
    })
}

fn address(word: u32, place: &Place) -> Result<Address> {
    let (loads, n, up) = (field(word, 20, 1) == 1, field(word, 16, 4), field(word, 23, 1));
    let address =
        |base, offset, index| Ok(Address { base, offset, index, aligned: place.aligned() });
    if n == PC {
        let by = offset(up, field(word, 0, 12));
        return match loads {
            true => address(Base::Fixed(place.literals()), by, Index::Offset),
            false => Err(UNDEFINED),
        };
    }
    let base = Base::Register(reg(word, 16, 4));
    if up == 1 {
        return address(base, offset(1, field(word, 0, 12)), Index::Offset);
    }
    if field(word, 11, 1) == 1 {
        let (p, u, w) = (field(word, 10, 1), field(word, 9, 1), field(word, 8, 1));
        if (p, u, w) == (1, 1, 0) {
            return Err("an unprivileged access");
        }
        return address(base, offset(u, field(word, 0, 8)), index(p, w)?);
    }
    if field(word, 6, 5) != 0 {
        return Err(UNDEFINED);
    }
    let by = Offset::Register(general(word, 0)?, field(word, 4, 2) as u8);
    address(base, by, Index::Offset)
}
