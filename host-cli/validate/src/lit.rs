//! Variables of a formula, and their literals.

/// A variable of the solver.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SatVar(pub u32);

/// A variable or its negation.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Lit {
    /// The variable that the literal is about.
    pub var: SatVar,
    /// The value that makes the literal true.
    pub value: bool,
}

impl Lit {
    /// The literal itself if `yes`, else its negation.
    pub fn same_if(self, yes: bool) -> Lit {
        Lit { var: self.var, value: self.value == yes }
    }
}

impl std::ops::Not for Lit {
    type Output = Lit;
    fn not(self) -> Lit {
        Lit { var: self.var, value: !self.value }
    }
}
