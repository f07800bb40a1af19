//! Sums in a normal form.
//!
//! A vector that is a sum is known as such: a constant and multiples of vectors that are not sums themselves, modulo two
//! to the power of their width. Two sums with one normal form are one vector, so a solver need not find out, bit by bit,
//! that `(x + 1) - (y + 1)` is `x - y`.

use super::solver::Lit;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;
use vouch_ir::{Word, mask};

/// A vector, lowest bit first.
pub type Bits = Vec<Lit>;

/// Sums of more parts are not taken apart: whoever adds up so much is not counting.
const PARTS: usize = 6;

/// A constant and multiples of vectors.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Form {
    width: u32,
    constant: Word,
    /// No factor is 0.
    parts: BTreeMap<Bits, Word>,
}

impl Form {
    /// A constant.
    pub fn constant(value: Word, width: u32) -> Form {
        Form { width, constant: value & mask(width), parts: BTreeMap::new() }
    }

    /// A vector that is not taken apart.
    fn vector(bits: &[Lit]) -> Form {
        let parts = BTreeMap::from([(bits.to_vec(), 1)]);
        Form { width: bits.len() as u32, constant: 0, parts }
    }

    /// With so many times another, of the same width, added.
    pub fn plus(mut self, other: &Form, times: Word) -> Form {
        let mask = mask(self.width);
        let product = |factor: Word| factor.wrapping_mul(times);
        self.constant = self.constant.wrapping_add(product(other.constant)) & mask;
        for (bits, factor) in &other.parts {
            let own = self.parts.entry(bits.clone()).or_default();
            *own = own.wrapping_add(product(*factor)) & mask;
        }
        self.parts.retain(|_, factor| *factor != 0);
        self
    }

    /// The width of all vectors.
    pub fn width(&self) -> u32 {
        self.width
    }

    /// Whether it is worth the trouble.
    pub fn is_short(&self) -> bool {
        self.parts.len() <= PARTS
    }

    /// The constant, if it is one.
    pub fn as_constant(&self) -> Option<Word> {
        self.parts.is_empty().then_some(self.constant)
    }

    /// The same without what is added last, and that: the constant if it has one, else a multiple that is subtracted if there
    /// is one, else any.
    pub fn split(mut self) -> (Form, Added) {
        if self.constant != 0 {
            let constant = std::mem::take(&mut self.constant);
            return (self, Added::Constant(constant));
        }
        let mask = mask(self.width);
        let negative = |factor: Word| factor > mask / 2;
        let subtracted = self.parts.iter().rfind(|part| negative(*part.1));
        let last = subtracted.or(self.parts.last_key_value());
        let Some((bits, factor)) = last.map(|(bits, factor)| (bits.clone(), *factor)) else {
            return (self, Added::Constant(0));
        };
        self.parts.remove(&bits);
        match negative(factor) {
            true => (self, Added::Subtracted(bits, factor.wrapping_neg() & mask)),
            false => (self, Added::Multiple(bits, factor)),
        }
    }
}

/// What is added to a sum.
pub enum Added {
    /// A constant.
    Constant(Word),
    /// So many times a vector.
    Multiple(Bits, Word),
    /// So many times a vector, which is subtracted.
    Subtracted(Bits, Word),
}

/// The sums that have been made.
#[derive(Default)]
pub struct Sums {
    forms: HashMap<Bits, Form>,
    vectors: HashMap<Form, Bits>,
}

impl Sums {
    /// The normal form of a vector.
    pub fn form(&self, bits: &[Lit]) -> Form {
        self.forms.get(bits).cloned().unwrap_or_else(|| Form::vector(bits))
    }

    /// The vector of a form, if it has been made.
    pub fn vector(&self, form: &Form) -> Option<Bits> {
        self.vectors.get(form).cloned()
    }

    /// This vector is what the form says.
    pub fn insert(&mut self, form: Form, bits: &Bits) {
        self.forms.entry(bits.clone()).or_insert_with(|| form.clone());
        self.vectors.insert(form, bits.clone());
    }
}
