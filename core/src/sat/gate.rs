//! What a gate implies, tabulated at compile time.
//!
//! Every gate is `o = if s then t else e`. Its six prime implicates are the clauses below; unit
//! propagation on them is a table look-up on the four operands' values, so a gate needs neither
//! clauses nor watches in RAM.

/// The values of a literal.
pub(super) const UNDEFINED: u8 = 0;
pub(super) const TRUE: u8 = 1;
pub(super) const FALSE: u8 = 2;

/// Operands in the order `o, s, t, e`.
pub(super) const O: usize = 0;
pub(super) const S: usize = 1;
pub(super) const T: usize = 2;
pub(super) const E: usize = 3;

/// The implicates: three literals each, as (operand, positive).
pub(super) const CLAUSES: [[(usize, bool); 3]; 6] = [
    [(S, false), (T, false), (O, true)],
    [(S, false), (T, true), (O, false)],
    [(S, true), (E, false), (O, true)],
    [(S, true), (E, true), (O, false)],
    [(T, false), (E, false), (O, true)],
    [(T, true), (E, true), (O, false)],
];

/// Table entry: nothing follows.
pub(super) const NOTHING: u8 = 0xff;
/// Table entry: the clause `entry >> 2` is unit, its literal `entry & 3` follows; 3 if none is left.
pub(super) const CONFLICT: u8 = 3;

/// What follows from the operands' values, indexed by `o | s << 2 | t << 4 | e << 6`.
pub(super) static IMPLIED: [u8; 256] = implied();

const fn implied() -> [u8; 256] {
    let mut table = [NOTHING; 256];
    let mut index = 0;
    while index < 256 {
        let mut clause = 0;
        while clause < 6 {
            let (mut satisfied, mut open, mut last) = (false, 0, 0);
            let mut i = 0;
            while i < 3 {
                let (operand, positive) = CLAUSES[clause][i];
                let value = (index >> (2 * operand)) as u8 & 3;
                let wanted = if positive { TRUE } else { FALSE };
                if value != TRUE && value != FALSE {
                    open += 1;
                    last = i as u8;
                } else if value == wanted {
                    satisfied = true;
                }
                i += 1;
            }
            if !satisfied && open == 0 {
                table[index] = (clause as u8) << 2 | CONFLICT;
                break;
            }
            if !satisfied && open == 1 && table[index] == NOTHING {
                table[index] = (clause as u8) << 2 | last;
            }
            clause += 1;
        }
        index += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against the definition of a gate: an entry must follow from it, and a complete assignment
    /// must be refuted exactly when it is not one of the gate's.
    #[test]
    fn table_is_sound_and_decides_complete_assignments() {
        for (index, entry) in IMPLIED.into_iter().enumerate() {
            let value = |operand: usize| (index >> (2 * operand)) as u8 & 3;
            let fits = |bits: usize| {
                (0..4).all(|operand| match value(operand) {
                    TRUE => bits >> operand & 1 == 1,
                    FALSE => bits >> operand & 1 == 0,
                    _ => true,
                })
            };
            let holds = |bits: usize| {
                let bit = |operand: usize| bits >> operand & 1;
                bit(O) == if bit(S) == 1 { bit(T) } else { bit(E) }
            };
            let mut models = (0..16).filter(|b| fits(*b) && holds(*b)).peekable();
            let complete = (0..4).all(|o| matches!(value(o), TRUE | FALSE));
            if complete {
                let refuted = entry != NOTHING && entry & 3 == CONFLICT;
                assert_eq!(refuted, models.peek().is_none(), "{index:08b}");
            } else if entry != NOTHING && entry & 3 != CONFLICT {
                let (operand, positive) = CLAUSES[(entry >> 2) as usize][(entry & 3) as usize];
                assert!(models.all(|b| (b >> operand & 1 == 1) == positive), "{index:08b}");
            } else if entry != NOTHING {
                assert!(models.peek().is_none(), "{index:08b}");
            }
        }
    }
}
