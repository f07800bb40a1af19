//! Restarts by Luby's sequence: cheap, and without floating point or averages to keep.

/// Conflicts of the sequence's unit.
const UNIT: u32 = 64;
/// How often a query may start over with nothing kept.
const FRESH_STARTS: u32 = 64;

/// When to restart next.
#[derive(Clone, Copy, Debug)]
pub(super) struct Schedule {
    /// Knuth's pair for Luby's sequence: `(u, v)` with `v` the current term.
    u: i32,
    v: i32,
    remaining: u32,
    /// How often the search may still start over with nothing kept.
    fresh_starts: u32,
}

impl Default for Schedule {
    fn default() -> Self {
        Schedule { u: 1, v: 1, remaining: UNIT, fresh_starts: FRESH_STARTS }
    }
}

impl Schedule {
    /// Counts a conflict.
    pub(super) fn tick(&mut self) {
        self.remaining = self.remaining.saturating_sub(1);
    }
    /// Whether the search may start over with nothing kept; counts it.
    pub(super) fn may_start_over(&mut self) -> bool {
        let may = self.fresh_starts > 0;
        self.fresh_starts = self.fresh_starts.saturating_sub(1);
        may
    }
    pub(super) fn is_due(&self) -> bool {
        self.remaining == 0
    }
    /// Goes to the next term.
    pub(super) fn advance(&mut self) {
        if self.u & self.u.wrapping_neg() == self.v {
            self.u += 1;
            self.v = 1;
        } else {
            self.v *= 2;
        }
        self.remaining = UNIT * self.v as u32;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_lubys() {
        let mut schedule = Schedule::default();
        for term in [1, 1, 2, 1, 1, 2, 4, 1, 1, 2, 1, 1, 2, 4, 8] {
            assert_eq!(schedule.remaining, term * UNIT);
            schedule.advance();
        }
    }
}
