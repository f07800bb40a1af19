//! A control for the checker: before its yes counts, it has to say no where no is right.
//!
//! A checker that is hurt by a glitch and finds nothing possible any more would call every certificate valid. So
//! it is given a small model and clauses about it, most of which some step breaks. How often it says which is
//! known, and goes into what the self-check adds up; there is no branch to skip.

use vouch_core::certificate::{Check, Checker};
use vouch_core::image::Image;

/// Words in memory need this alignment.
#[repr(align(4))]
struct Aligned<T: ?Sized>(T);

/// `control.vch` as an image.
static IMAGE: &Aligned<[u8]> = &Aligned(*include_bytes!("control.vimg"));

/// Clauses at its state, each of which some step breaks. With simpler ones, which the solver answers without
/// conflicts, instructions of conflict analysis and of watch lists could be left out unnoticed.
#[rustfmt::skip]
const SEARCHED: &[u16] = &[
    1, 2, 0, 7, // a[0] or not b[0]
    1, 2, 5, 10, // not a[2] or b[2]
];

/// The same, with facts among them: of these the solver draws conclusions before it decides anything. Of all
/// tables of two facts and a clause this is one of the few that notice it if a gate is looked at again with
/// another operand than its own, whichever it is.
#[rustfmt::skip]
const IMPLIED: &[u16] = &[
    1, 1, 0, // a[0]
    1, 1, 2, // a[1]
    1, 2, 5, 10, // not a[2] or b[2]
];

/// What it comes to if nothing is wrong with the checker.
pub const EXPECTED: u32 = 1035;

/// What it comes to here; if `memory` does not suffice, the bytes that it takes.
pub fn run(memory: &mut [u32]) -> Result<u32, usize> {
    // Parsed once for all: this is most of what the self-check of a small model takes.
    let Ok(image) = Image::new_trusted(&IMAGE.0) else { return Ok(0) };
    let bytes = Checker::bytes(&image, SEARCHED).max(Checker::bytes(&image, IMPLIED));
    if bytes > memory.len() * 4 {
        return Err(bytes);
    }
    let searched = shown(&image, SEARCHED, memory);
    Ok(searched.wrapping_add(shown(&image, IMPLIED, memory)))
}

/// The sum of the checker's answers about a table.
fn shown(image: &Image<'_, u16>, table: &[u16], memory: &mut [u32]) -> u32 {
    let checker = Checker::new(image, table, core::iter::empty());
    let Ok(mut checker) = checker else { return 0 };
    loop {
        match checker.step(image, table, &[], memory, u32::MAX) {
            // After a no it continues with the next question.
            Check::Running | Check::Invalid(_) => {}
            Check::Valid => return checker.shown(),
            Check::Capacity | Check::Interrupted => return 0,
        }
    }
}

/// The bytes of the model, for other tests.
#[cfg(test)]
pub fn image() -> &'static [u8] {
    &IMAGE.0
}

#[cfg(test)]
mod tests {
    extern crate std;
    use super::*;
    use std::vec::Vec;
    use vouch_core::sat::Answer;

    /// By looking at all states and inputs: for each edge into the state and each clause, whether the
    /// edge breaks the clause.
    fn by_enumeration(table: &[u16]) -> u32 {
        let holds =
            |clause: &[u16], state: u16| clause.iter().any(|lit| state >> (lit / 2) & 1 != lit & 1);
        let clauses: Vec<_> = {
            let mut rest = table;
            core::iter::from_fn(|| {
                let [_, len, more @ ..] = rest else { return None };
                let (clause, after) = more.split_at(*len as usize);
                rest = after;
                Some(clause)
            })
            .collect()
        };
        // What `control.vch` says: the state after a step.
        let step = |state: u16, x: u16| {
            let (a, b) = (state & 7, state >> 3);
            let (a, b) = match () {
                _ if a < b => (a + 3, b),
                _ if x == 1 => (a, b + 1),
                _ => (1, a),
            };
            a & 7 | (b & 7) << 3
        };
        let inside = (0..64).filter(|state| clauses.iter().all(|clause| holds(clause, *state)));
        let after = inside.flat_map(|state| (0..2).map(move |x| step(state, x)));
        let after: Vec<_> = after.collect();
        // One question more shows that the initial step is possible.
        let mut sum = Answer::Sat as u32;
        for states in [&[0], &after[..]] {
            for clause in &clauses {
                let broken = states.iter().any(|state| !holds(clause, *state));
                sum += if broken { Answer::Sat } else { Answer::Unsat } as u32;
            }
        }
        sum
    }

    #[test]
    fn a_sound_checker_passes() {
        let mut memory = [0; 1024];
        assert_eq!(run(&mut memory), Ok(EXPECTED));
        let needed = run(&mut []).expect_err("there is no memory");
        assert_eq!(run(&mut memory[..needed / 4]), Ok(EXPECTED));
        assert_eq!(run(&mut memory[..needed / 4 - 1]), Err(needed));
        assert_eq!(by_enumeration(SEARCHED) + by_enumeration(IMPLIED), EXPECTED);
    }
}
