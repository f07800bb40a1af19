//! Values of both sorts: vectors, and arrays as the list of their elements.

use super::wide::{Wide, Words};
use vouch_ir::ExprId;

/// The sort of a node, as a `sort` line declares it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    /// A bit-vector of this width.
    Vector(u32),
    /// An array from vectors of one width to vectors of another.
    Array {
        /// Width of an index.
        index: u32,
        /// Width of an element.
        element: u32,
    },
}

/// What a node evaluates to, over the automaton's variables and inputs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Value {
    /// A bit-vector.
    Vector(Wide),
    /// The elements of an array.
    Array(Vec<Wide>),
}

impl Words<'_> {
    /// The sort of a value.
    pub fn sort(&self, value: &Value) -> Sort {
        match value {
            Value::Vector(x) => Sort::Vector(self.width(x)),
            Value::Array(elements) => Sort::Array {
                index: elements.len().trailing_zeros(),
                element: elements.first().map_or(1, |e| self.width(e)),
            },
        }
    }

    /// `if c then t else e`, for both sorts.
    pub fn choose(&mut self, c: ExprId, t: &Value, e: &Value) -> Value {
        match (t, e) {
            (Value::Vector(t), Value::Vector(e)) => Value::Vector(self.ite(c, t, e)),
            (Value::Array(t), Value::Array(e)) => {
                Value::Array(t.iter().zip(e).map(|(t, e)| self.ite(c, t, e)).collect())
            }
            // The sorts were compared before.
            _ => t.clone(),
        }
    }

    /// Equality, for both sorts.
    pub fn same(&mut self, a: &Value, b: &Value) -> ExprId {
        match (a, b) {
            (Value::Vector(a), Value::Vector(b)) => self.equal(a, b),
            (Value::Array(a), Value::Array(b)) => {
                let mut all = self.0.bool(true);
                for (a, b) in a.iter().zip(b) {
                    let same = self.equal(a, b);
                    all = self.0.and(all, same);
                }
                all
            }
            _ => self.0.bool(false),
        }
    }

    /// The element at an index: a tree of choices by its bits, the highest at the root.
    pub fn read(&mut self, elements: &[Wide], index: &Wide) -> Wide {
        let mut layer = elements.to_vec();
        for at in 0..self.width(index) {
            let bit = self.bit(index, at);
            layer = layer.chunks(2).map(|two| self.ite(bit, &two[1], &two[0])).collect();
        }
        layer.swap_remove(0)
    }

    /// The array with another element at an index.
    pub fn write(&mut self, elements: &[Wide], index: &Wide, value: &Wide) -> Vec<Wide> {
        let width = self.width(index);
        let mut written = vec![];
        for (at, old) in elements.iter().enumerate() {
            let here = self.small(at as u64, width);
            let here = self.equal(index, &here);
            written.push(self.ite(here, value, old));
        }
        written
    }
}
