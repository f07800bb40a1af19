//! Variables and literals.
//!
//! A literal is `2 * variable + sign`, sign 1 meaning negated. Variable 0 of every edge is the
//! constant *true*, so literal 0 is true and literal 1 is false.

/// A literal in a register. Tables store its code in one [`Word`](crate::word::Word).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit(u32);

impl Lit {
    /// The constant true.
    pub const TRUE: Lit = Lit(0);
    /// The constant false.
    pub const FALSE: Lit = Lit(1);

    /// The literal of `var` that is true when the variable is `value`.
    #[inline(always)]
    pub const fn new(var: usize, value: bool) -> Lit {
        Lit((var as u32) << 1 | !value as u32)
    }
    /// The literal with this code.
    #[inline(always)]
    pub const fn from_code(code: usize) -> Lit {
        Lit(code as u32)
    }
    /// `2 * variable + sign`.
    #[inline(always)]
    pub const fn code(self) -> usize {
        self.0 as usize
    }
    /// The variable, negated or not.
    #[inline(always)]
    pub const fn var(self) -> usize {
        (self.0 >> 1) as usize
    }
    /// True for the literal that is satisfied by a true variable.
    #[inline(always)]
    pub const fn is_positive(self) -> bool {
        self.0 & 1 == 0
    }
    /// The literal negated if `yes`.
    #[inline(always)]
    pub const fn negated_if(self, yes: bool) -> Lit {
        Lit(self.0 ^ yes as u32)
    }
}

impl core::ops::Not for Lit {
    type Output = Lit;
    #[inline(always)]
    fn not(self) -> Lit {
        Lit(self.0 ^ 1)
    }
}
