//! What a certificate implies: whether a clause holds wherever a run can be at its location, as far as the invariant
//! tells.
//!
//! For explanations. The certificate itself is believed here; whoever wants to rely on a clause checks the
//! certificate as well.

use super::certificate::{CertificateError, Checker};
use super::encode::Encoder;
use super::solver::Lit;
use vouch_ir::{BitLit, Certificate, Cfa, ExprId, LocId, VarId, Word, term};

/// The automaton with the expressions of a certificate's terms in it.
pub struct Extended {
    cfa: Cfa,
    terms: Vec<ExprId>,
}

/// A certificate that can be asked.
pub struct Asked<'a> {
    checker: Checker<'a>,
}

/// What is known somewhere.
pub struct Here<'c, 'a> {
    checker: &'c Checker<'a>,
    encoder: Encoder<'a>,
}

impl Extended {
    /// For a certificate; the number of a term that makes no sense if there is one.
    pub fn new(cfa: &Cfa, certificate: &Certificate) -> Result<Extended, usize> {
        let mut cfa = cfa.clone();
        let terms = term::expressions(&mut cfa, &certificate.terms)?;
        Ok(Extended { cfa, terms })
    }

    /// Of a certificate with the terms that this was made with.
    pub fn of<'a>(&'a self, certificate: &'a Certificate) -> Result<Asked<'a>, CertificateError> {
        let checker = Checker::new(&self.cfa, certificate, self.terms.clone())?;
        Ok(Asked { checker })
    }
}

impl<'a> Asked<'a> {
    /// What the certificate says of a location.
    pub fn at(&self, location: LocId) -> Here<'_, 'a> {
        let mut encoder = self.checker.encoder();
        self.checker.assert_parameters(&mut encoder);
        self.checker.assert_clauses(&mut encoder, location);
        Here { checker: &self.checker, encoder }
    }

    /// What it says of parameters, and these clauses in place of its own.
    pub fn given<'b>(&self, clauses: impl Iterator<Item = &'b [BitLit]>) -> Here<'_, 'a> {
        let mut encoder = self.checker.encoder();
        self.checker.assert_parameters(&mut encoder);
        for clause in clauses {
            let lits: Vec<Lit> = clause.iter().map(|l| self.checker.lit(&mut encoder, l)).collect();
            encoder.solver.add_clause(&lits);
        }
        Here { checker: &self.checker, encoder }
    }
}

impl Here<'_, '_> {
    /// Whether a clause, over the same terms, follows; `None` if the solver gave up.
    pub fn implies(&mut self, clause: &[BitLit]) -> Option<bool> {
        let negated: Vec<Lit> =
            clause.iter().map(|l| !self.checker.lit(&mut self.encoder, l)).collect();
        self.encoder.solver.solve(&negated).map(|possible| !possible)
    }

    /// The largest value that a variable may have here, or the smallest, among numbers that are compared as signed or
    /// unsigned, while some bits are `given`; `None` if it has none, or the solver gave up.
    pub fn extreme(
        &mut self,
        var: VarId,
        width: u32,
        signed: bool,
        largest: bool,
        given: &[BitLit],
    ) -> Option<Word> {
        let bits = self.encoder.var(var, width);
        let mut chosen: Vec<Lit> =
            given.iter().map(|l| self.checker.lit(&mut self.encoder, l)).collect();
        let mut value = 0;
        for (i, bit) in bits.iter().enumerate().rev() {
            let is_sign = signed && i + 1 == bits.len();
            let wanted = largest != is_sign;
            chosen.push(bit.same_if(wanted));
            let possible = self.encoder.solver.solve(&chosen)?;
            if !possible {
                chosen.pop();
                chosen.push(bit.same_if(!wanted));
            }
            value |= ((wanted == possible) as Word) << i;
        }
        self.encoder.solver.solve(&chosen)?.then_some(value)
    }
}
