//! What a certificate implies: whether a clause holds wherever a run can be at its location, as far as the invariant
//! tells.
//!
//! For explanations. The certificate itself is believed here; whoever wants to rely on a clause checks the
//! certificate as well.

use super::certificate::{Checker, CertificateError, Options};
use super::encode::Encoder;
use super::solver::{Lit, Solver, Varisat};
use vouch_ir::{BitLit, Certificate, Cfa, Clause, ExprId, LocId, VarId, Word, term};

/// What a certificate says of one location, to be asked.
pub struct Here<'a> {
    checker: Checker<'a>,
    encoder: Encoder<'a, Varisat>,
}

/// The automaton with the expressions of a certificate's terms in it.
pub struct Extended {
    cfa: Cfa,
    terms: Vec<ExprId>,
}

impl Extended {
    /// For a certificate; the number of a term that makes no sense if there is one.
    pub fn new(cfa: &Cfa, certificate: &Certificate) -> Result<Extended, usize> {
        let mut cfa = cfa.clone();
        let terms = term::expressions(&mut cfa, &certificate.terms)?;
        Ok(Extended { cfa, terms })
    }

    /// What the certificate says of a location. It must have the terms that this was made with.
    pub fn at<'a>(
        &'a self,
        certificate: &'a Certificate,
        location: LocId,
    ) -> Result<Here<'a>, CertificateError> {
        let options = Options { self_check: false, ..Options::default() };
        let checker = Checker::new(&self.cfa, certificate, self.terms.clone(), options)?;
        let mut encoder = checker.encoder();
        checker.assert_parameters(&mut encoder);
        checker.assert_clauses(&mut encoder, location);
        Ok(Here { checker, encoder })
    }
}

impl Here<'_> {
    /// Whether a clause, over the same terms, follows; `None` if the solver gave up.
    pub fn implies(&mut self, clause: &Clause) -> Option<bool> {
        let negated: Vec<_> =
            clause.lits.iter().map(|l| !self.checker.lit(&mut self.encoder, l)).collect();
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
