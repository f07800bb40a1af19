//! The result of a rig's run as JSON: what `--json` prints and `vouch merge` reads.

use super::{Change, Row, State};
use crate::verdict::Verdict;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

/// What the files are called.
pub const KIND: &str = "rig";

/// The result of a run of a rig, or of one part of it, as it is kept in a JSON file.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct File {
    /// [`KIND`].
    pub kind: String,
    /// The rig's name.
    pub rig: String,
    /// What tells its plan from others.
    pub plan: String,
    /// Which of the parts it is, as `2/4`, if it is only one.
    pub shard: Option<String>,
    /// The number of the run in its history.
    pub run: Option<i64>,
    /// How many results were there when it was resumed.
    pub resumed: usize,
    /// All jobs, also those of other parts.
    pub jobs: Vec<String>,
    /// One result for each job that has ended or was skipped.
    pub rows: Vec<Row>,
    /// What is different from the last run.
    pub changes: Vec<Change>,
    /// Wall-clock seconds; after merging, those of the slowest part.
    pub time_s: f64,
}

impl File {
    /// How many jobs ended so.
    pub fn count(&self, state: State) -> usize {
        self.rows.iter().filter(|row| row.state == state).count()
    }

    /// The exit code: a broken property decides, then a device that has failed, then what is unknown.
    pub fn exit_code(&self) -> u8 {
        let failed = |verdict: Verdict| {
            self.rows.iter().any(|r| r.state == State::Failed && r.verdict == Some(verdict))
        };
        if failed(Verdict::Unsafe) || failed(Verdict::Safe) {
            1
        } else if self.count(State::Error) + self.count(State::Skipped) > 0 {
            4
        } else if failed(Verdict::Unknown) {
            3
        } else {
            0
        }
    }

    /// The results of each device.
    pub fn devices(&self) -> BTreeMap<&str, Vec<&Row>> {
        let mut devices: BTreeMap<&str, Vec<&Row>> = BTreeMap::new();
        for row in &self.rows {
            devices.entry(&row.device).or_default().push(row);
        }
        devices
    }
}

/// Why files are not parts of one run.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum MergeError {
    /// They are of different plans.
    #[error(
        "{first} and {other} are not parts of one run: their plans differ\n\
         help: run each part with the same rig file and models, and `--shard i/n`"
    )]
    Differs {
        /// The first file.
        first: String,
        /// The one that is different.
        other: String,
    },
    /// A job is in two of them.
    #[error("{job} is in {first} and in {other}\nhelp: name each part once")]
    Twice {
        /// The job's name.
        job: String,
        /// The file that had it before.
        first: String,
        /// The file that has it again.
        other: String,
    },
    /// There is none.
    #[error("there is nothing to merge")]
    Nothing,
}

/// One of several parts; each comes with the name of its file. Jobs that none of them has count as not done.
pub fn merge(files: Vec<(String, File)>) -> Result<File, MergeError> {
    let (first_name, first) = files.first().cloned().ok_or(MergeError::Nothing)?;
    let mut seen: BTreeMap<&str, &str> = BTreeMap::new();
    for (name, file) in &files {
        if (&file.plan, &file.jobs) != (&first.plan, &first.jobs) {
            return Err(MergeError::Differs { first: first_name, other: name.clone() });
        }
        for row in &file.rows {
            if let Some(other) = seen.insert(&row.job, name) {
                let (job, first) = (row.job.clone(), other.to_string());
                return Err(MergeError::Twice { job, first, other: name.clone() });
            }
        }
    }
    let missing = |job: &&String| !seen.contains_key(job.as_str());
    let absent = |job: &String| {
        let device = job.split('/').next().unwrap_or_default();
        Row {
            job: job.clone(),
            device: device.into(),
            model: String::new(),
            parameters: String::new(),
            mode: String::new(),
            state: State::Skipped,
            verdict: None,
            reason: Some("in none of the files".into()),
            attempts: 0,
            time_s: 0.0,
            board: None,
            build: None,
        }
    };
    let absent: Vec<Row> = first.jobs.iter().filter(missing).map(absent).collect();
    let changes: BTreeSet<_> =
        files.iter().flat_map(|f| &f.1.changes).map(|c| c.job.clone()).collect();
    let change =
        |job: &String| files.iter().flat_map(|f| &f.1.changes).find(|c| c.job == *job).cloned();
    Ok(File {
        shard: None,
        run: None,
        resumed: files.iter().map(|f| f.1.resumed).sum(),
        rows: files.iter().flat_map(|f| f.1.rows.clone()).chain(absent).collect(),
        changes: changes.iter().filter_map(change).collect(),
        time_s: files.iter().map(|f| f.1.time_s).fold(0.0, f64::max),
        ..first
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(shard: &str, rows: &[(&str, State, Option<Verdict>)]) -> File {
        let row = |(job, state, verdict): &(&str, State, Option<Verdict>)| Row {
            job: job.to_string(),
            device: "d".into(),
            model: "m".into(),
            parameters: String::new(),
            mode: "prove".into(),
            state: *state,
            verdict: *verdict,
            reason: None,
            attempts: 1,
            time_s: 1.0,
            board: None,
            build: None,
        };
        File {
            kind: KIND.into(),
            rig: "rig".into(),
            plan: "p".into(),
            shard: Some(shard.into()),
            run: Some(1),
            resumed: 0,
            jobs: vec!["d/a".into(), "e/b".into()],
            rows: rows.iter().map(row).collect(),
            changes: vec![],
            time_s: 2.0,
        }
    }

    #[test]
    fn parts_become_one() {
        let a = file("1/2", &[("d/a", State::Passed, Some(Verdict::Safe))]);
        let b = file("2/2", &[("e/b", State::Failed, Some(Verdict::Unsafe))]);
        let merged = merge(vec![("x".into(), a.clone()), ("y".into(), b.clone())]).unwrap();
        assert_eq!((merged.rows.len(), merged.exit_code()), (2, 1));
        let half = merge(vec![("x".into(), a.clone())]).unwrap();
        assert_eq!((half.count(State::Skipped), half.exit_code()), (1, 4));
        let twice = merge(vec![("x".into(), a.clone()), ("z".into(), a.clone())]);
        assert!(matches!(twice, Err(MergeError::Twice { .. })));
        let other = merge(vec![("x".into(), a), ("y".into(), File { plan: "q".into(), ..b })]);
        assert!(matches!(other, Err(MergeError::Differs { .. })));
    }

    #[test]
    fn the_worst_decides() {
        use State::{Error, Failed, Passed};
        let code = |rows: &[(&str, State, Option<Verdict>)]| file("", rows).exit_code();
        let (safe, bad, unknown) =
            (Some(Verdict::Safe), Some(Verdict::Unsafe), Some(Verdict::Unknown));
        assert_eq!(code(&[("a", Passed, safe), ("b", Passed, bad)]), 0);
        assert_eq!(code(&[("a", Failed, unknown)]), 3);
        assert_eq!(code(&[("a", Failed, unknown), ("b", Error, None)]), 4);
        assert_eq!(code(&[("a", Failed, bad), ("b", Error, None)]), 1);
    }
}
