//! RV32IMAC with `mstatus`, after the RISC-V Instruction Set Manual, volume I.
//!
//! - [`op`]: the operations.
//! - `decode`, `compressed`: from encodings to operations. What is reserved is refused.
//! - `meaning`: what operations do.
//! - `show`: operations as text.

mod compressed;
mod decode;
mod meaning;
pub mod op;
mod show;

use super::{Decoded, It, Operation, Refused, Reg};
pub use meaning::execute;
pub use op::Op;
pub use show::show;

const SP: Reg = Reg(2);
const RA: Reg = Reg(1);
const ZERO: Reg = Reg(0);

const RESERVED: &str = "a reserved encoding";
const FLOAT: &str = "a floating-point instruction";

/// Bits `low..low + width`.
fn field(word: u32, low: u32, width: u32) -> u32 {
    (word >> low) & ((1 << width) - 1)
}

/// The register of a field of 5 bits.
fn reg(word: u32, low: u32) -> Reg {
    Reg(field(word, low, 5) as u8)
}

/// The lowest `bits` bits as a signed number, in 32 bits.
fn signed(value: u32, bits: u32) -> u32 {
    (((value << (32 - bits)) as i32) >> (32 - bits)) as u32
}

/// The instruction at an address.
pub fn decode(bytes: &[u8], address: u32) -> Result<Decoded, Refused> {
    let half = |at: usize| match bytes.get(at..at + 2) {
        Some(&[low, high]) => Ok(u32::from(low) | u32::from(high) << 8),
        _ => Err(Refused { encoding: 0, length: 0, reason: "the code ends here" }),
    };
    let first = half(0)?;
    let (encoding, length) = if first & 3 == 3 { (half(2)? << 16 | first, 4) } else { (first, 2) };
    let decode = if length == 2 { compressed::decode } else { decode::decode };
    let op = decode(encoding, address).map_err(|reason| Refused { encoding, length, reason })?;
    Ok(Decoded { length, condition: None, operation: Operation::Riscv(op), it: It::NONE })
}
