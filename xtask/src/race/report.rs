//! What came out, as a table and in a few numbers.

use super::Entry;
use super::limit::Limits;
use super::peer::{Answer, Racer};
use super::suite::{Problem, Suite};
use std::fmt::Write as _;

/// A race that is over.
pub struct Results<'a> {
    /// The problems that were raced.
    pub suite: &'a Suite,
    /// Who raced; we are the first.
    pub racers: &'a [Racer],
    /// What they did.
    pub entries: &'a [Entry],
    /// Under which limits.
    pub limits: &'a Limits,
}

/// An answer, held against the truth.
pub fn judge(answer: &Answer, problem: &Problem) -> &'static str {
    match answer {
        Answer::Unknown => "-",
        answer if *answer != problem.expected => "WRONG",
        Answer::Safe => "safe",
        Answer::Unsafe => "unsafe",
    }
}

impl Results<'_> {
    fn of(&self, racer: usize) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |e| e.racer == racer)
    }

    fn is_solved(&self, entry: &Entry) -> bool {
        entry.answer == self.suite.problems[entry.problem].expected
    }

    /// How many answers were wrong.
    pub fn wrong(&self) -> usize {
        (0..self.racers.len()).map(|r| self.wrong_of(r)).sum()
    }

    fn wrong_of(&self, racer: usize) -> usize {
        self.of(racer).filter(|e| e.answer != Answer::Unknown && !self.is_solved(e)).count()
    }

    /// Times of what a racer solved, ascending.
    pub fn times(&self, racer: usize) -> Vec<f64> {
        let mut times: Vec<f64> =
            self.of(racer).filter(|e| self.is_solved(e)).map(|e| e.seconds).collect();
        times.sort_by(f64::total_cmp);
        times
    }

    /// Seconds, or twice the limit for what was not solved.
    fn par2(&self, racer: usize) -> f64 {
        let penalty = 2.0 * self.limits.seconds as f64;
        self.of(racer).map(|e| if self.is_solved(e) { e.seconds } else { penalty }).sum()
    }

    /// Our time over a racer's where both have solved it: the median, and how many those are.
    fn ratio(&self, racer: usize) -> Option<(f64, usize)> {
        let mut ratios: Vec<f64> = (self.of(0).filter(|e| self.is_solved(e)))
            .filter_map(|own| {
                let other = self.of(racer).find(|e| e.problem == own.problem)?;
                // Below a hundredth of a second it is the process that is measured.
                self.is_solved(other).then(|| own.seconds.max(0.01) / other.seconds.max(0.01))
            })
            .collect();
        ratios.sort_by(f64::total_cmp);
        Some((*ratios.get(ratios.len() / 2)?, ratios.len()))
    }

    /// One row for each problem.
    pub fn table(&self) -> String {
        let mut text = String::from("problem\texpected");
        for racer in self.racers {
            let _ = write!(text, "\t{}\t{}_s", racer.name, racer.name);
        }
        text.push('\n');
        for (p, problem) in self.suite.problems.iter().enumerate() {
            let expected = if problem.expected == Answer::Safe { "safe" } else { "unsafe" };
            let _ = write!(text, "{}\t{expected}", problem.name);
            for racer in 0..self.racers.len() {
                if let Some(entry) = self.of(racer).find(|e| e.problem == p) {
                    let _ =
                        write!(text, "\t{}\t{:.2}", judge(&entry.answer, problem), entry.seconds);
                }
            }
            text.push('\n');
        }
        text
    }

    /// The race in a few numbers.
    pub fn summary(&self) -> String {
        let Limits { seconds, bytes } = self.limits;
        let count = self.suite.problems.len();
        let mut text = format!(
            "# {}: {count} problems, {seconds} s of CPU time and {} MiB each\n\n\
             | racer | reads | solved | safe | unsafe | wrong | CPU s of solved | PAR-2 | vouch's \
             time over its (median of commonly solved) |\n|---|---|--:|--:|--:|--:|--:|--:|--:|\n",
            self.suite.name,
            bytes >> 20,
        );
        for (r, racer) in self.racers.iter().enumerate() {
            let solved =
                |answer| self.of(r).filter(|e| self.is_solved(e) && e.answer == answer).count();
            let (safe, broken) = (solved(Answer::Safe), solved(Answer::Unsafe));
            let total: f64 = self.times(r).iter().sum();
            let ratio = match self.ratio(r) {
                Some((ratio, n)) if r > 0 => format!("{ratio:.2} ({n})"),
                _ => "-".into(),
            };
            let _ = writeln!(
                text,
                "| {} {} | {} | {} | {safe} | {broken} | {} | {total:.1} | {:.1} | {ratio} |",
                racer.name,
                racer.version,
                racer.reads,
                safe + broken,
                self.wrong_of(r),
                self.par2(r),
            );
        }
        text += "\nOne run each, one at a time. vouch's time includes the validation of its verdict. \
                 Peers that read AIGER get the\noriginal file where it is a binary one with one \
                 property, and `vouch export` of it otherwise.\n";
        text
    }
}
