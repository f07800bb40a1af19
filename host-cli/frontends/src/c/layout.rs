//! Where members of structs and unions lie, as gcc places them for the System V ABIs of x86 and for that
//! of Arm (AAPCS).

use super::types::{Field, RecordId, Type, Types, align_up};
use std::rc::Rc;

/// A member as it is declared.
pub struct Declared {
    /// `None` for unnamed bit-fields and for anonymous structs and unions.
    pub name: Option<Rc<str>>,
    /// Declared type; of a bit-field, the type that decides about its storage unit.
    pub ty: Type,
    /// Its width if it is a bit-field.
    pub bits: Option<u32>,
    /// An alignment asked for.
    pub align: Option<u64>,
    /// An alignment that the name of its type represents, more or less than that of the type itself.
    pub type_align: Option<u64>,
    /// Whether `packed` by itself.
    pub packed: bool,
    /// Whether the member is declared `const`.
    pub constant: bool,
    /// Whether it is declared `volatile`.
    pub volatile: bool,
    /// Whether it is declared `_Atomic`.
    pub atomic: bool,
}

/// What is asked of a whole record.
#[derive(Default)]
pub struct Asked {
    /// Whether `packed`.
    pub packed: bool,
    /// Least alignment of the record, in bytes: `aligned(n)`.
    pub align: Option<u64>,
    /// The most that members are aligned to: `#pragma pack`.
    pub most: Option<u64>,
}

impl Declared {
    /// An unnamed member.
    pub fn of(ty: Type) -> Declared {
        Declared {
            name: None,
            ty,
            bits: None,
            align: None,
            type_align: None,
            packed: false,
            constant: false,
            volatile: false,
            atomic: false,
        }
    }
}

impl Types {
    /// Lays the members of a record out. Returns whether it is of a size that can be.
    pub fn complete(&mut self, id: RecordId, declared: Vec<Declared>, asked: &Asked) -> bool {
        let union = self.records[id].union;
        // Positions and ends in bits, the alignment in bytes.
        let (mut at, mut end, mut strictest) = (0u64, 0u64, asked.align.unwrap_or(1).max(1));
        let most = asked.most.unwrap_or(u64::MAX >> 8);
        let mut fields = vec![];
        for field in declared {
            let packed = asked.packed || field.packed;
            let size = self.size(&field.ty).unwrap_or(0) * 8;
            let natural = field.type_align.unwrap_or(self.align(&field.ty));
            let own = field.align.unwrap_or(1);
            let start = if union { 0 } else { at };
            let offset = match field.bits {
                Some(bits) => {
                    // Bit-fields without a width, and on Arm those without a name, align as well;
                    // `packed` means only those that hold something.
                    if field.name.is_some() || self.model.is_arm() {
                        strictest = strictest.max(match (bits, packed) {
                            (0, _) => natural,
                            (_, true) if asked.most.is_none() => 1,
                            _ => natural.min(most),
                        });
                    }
                    if field.name.is_some() {
                        strictest = strictest.max(own.min(most));
                    }
                    let dense = packed || asked.most.is_some();
                    let own = field.align.map(|own| own.min(most) * 8);
                    bit_field(start, bits as u64, size, natural * 8, own, dense)
                }
                None => {
                    let align = if packed { own } else { natural.max(own) }.min(most);
                    strictest = strictest.max(align);
                    align_up(start, align * 8)
                }
            };
            at = offset + field.bits.map_or(size, |b| b as u64);
            end = end.max(at);
            if end / 8 > self.max_size() {
                return false;
            }
            if field.name.is_some() || field.bits.is_none() {
                let Declared { name, ty, bits, constant, volatile, atomic, .. } = field;
                fields.push(Field { name, ty, offset, bits, constant, volatile, atomic });
            }
        }
        let record = &mut self.records[id];
        record.align = strictest;
        record.size = align_up(end, strictest * 8) / 8;
        record.fields = Some(fields);
        record.size <= self.max_size()
    }
}

/// Where a bit-field goes; everything in bits.
fn bit_field(
    start: u64,
    width: u64,
    size: u64,
    natural: u64,
    own: Option<u64>,
    dense: bool,
) -> u64 {
    let start = align_up(start, own.unwrap_or(1));
    if width == 0 {
        return align_up(start, natural);
    }
    // It spans no more units of its type's alignment than the type itself does.
    let spans = (start % natural + width).div_ceil(natural);
    if !dense && spans > size / natural { align_up(start, natural) } else { start }
}
