//! Linear equations between variables as variables of their own.
//!
//! What holds in random runs ([`affine`]) is guessed to hold in all of them. `equal` proves most of it
//! on the spot, since edges that keep an equation are seen to do so; the rest is up to the engine.

use super::affine;
use super::back::Step;
use super::ghost::{self, Ghosts};
use crate::ir::Cfa;
use crate::ir::live::Live;

/// Words that there are: among more than these, equations are many and few of them matter.
pub const WORDS: usize = 8;
/// And one has nothing to be equal to.
const FEWEST: usize = 2;

/// Adds them.
pub fn run(cfa: &mut Cfa) -> Step {
    let live = Live::of(cfa);
    let words = ghost::words(cfa, &live);
    let mut ghosts = Ghosts::default();
    if (FEWEST..=WORDS).contains(&words.len()) {
        for equation in affine::equations(cfa, &words).into_iter().take(ghost::most(cfa)) {
            ghosts.equation(cfa, equation);
        }
    }
    ghosts.add(cfa, &live)
}

#[cfg(test)]
mod tests {
    use crate::engines::{Engine, Setup};
    use crate::frontend::{Language, Source};
    use crate::pipeline::{Options, compile};
    use crate::simplify::{Pass, Passes};
    use vouch_core::ic3::Verdict;

    /// An address, where it began, and the steps since then; the last constant is not the sum of the
    /// other two.
    const ADDRESS: &str = "
        1 sort bitvec 1
        2 sort bitvec 16
        3 input 1 load
        4 input 2 start
        5 zero 2
        6 one 2
        7 state 2 address
        8 state 2 base
        9 state 2 count
        10 init 2 7 5
        11 init 2 8 5
        12 init 2 9 5
        13 inc 2 7
        14 inc 2 9
        15 ite 2 3 4 13
        16 ite 2 3 4 8
        17 ite 2 3 5 14
        18 next 2 7 15
        19 next 2 8 16
        20 next 2 9 17
        21 constd 2 30212
        22 constd 2 25703
        23 constd 2 55916
        24 eq 1 8 21
        25 eq 1 9 22
        26 eq 1 7 23
        27 and 1 24 25
        28 and 1 26 27
        29 bad 28
    ";

    /// Clause by clause, the sum is out of reach; as one variable it takes a query or two.
    #[test]
    fn a_sum_of_words_is_one_lemma() {
        let verdict = |passes: Passes| {
            let text: String = ADDRESS.lines().map(|l| format!("{}\n", l.trim())).collect();
            let source = Source { path: "address.btor2".into(), text };
            let options = Options { passes: Some(passes), ..Options::default() };
            let model = compile(source, Language::Btor2, &options).unwrap();
            let setup = Setup { guesses: model.guesses(), budget: 200_000, ..Setup::default() };
            Engine::Ic3Cfa.run(&model.image, &setup, &mut |_| true).unwrap().verdicts[0]
        };
        assert_eq!(verdict(Passes::default()), Verdict::Safe);
        let without = verdict(Passes::default().without(Pass::Linear));
        assert!(matches!(without, Verdict::Unknown(_)), "{without:?}");
    }
}
