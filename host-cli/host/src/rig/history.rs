//! What came out of each run of a rig, in an SQLite database: each result as soon as it is there, so that a run that was killed is resumed, and
//! the next one can be compared with the last.

use super::{Change, Row, State};
use crate::verdict::Verdict;
use rusqlite::{Connection, OptionalExtension, params};
use std::collections::BTreeMap;
use std::fs::{File, TryLockError};
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// The tables. A new version has another number.
const VERSION: i64 = 1;
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS run (
    id INTEGER PRIMARY KEY,
    plan TEXT NOT NULL,
    shard TEXT NOT NULL,
    started REAL NOT NULL,
    ended REAL
);
CREATE TABLE IF NOT EXISTS result (
    run INTEGER NOT NULL REFERENCES run(id),
    job TEXT NOT NULL,
    device TEXT NOT NULL,
    model TEXT NOT NULL,
    parameters TEXT NOT NULL,
    mode TEXT NOT NULL,
    state TEXT NOT NULL,
    verdict TEXT,
    reason TEXT,
    attempts INTEGER NOT NULL,
    time_s REAL NOT NULL,
    board TEXT,
    build TEXT,
    at REAL NOT NULL,
    PRIMARY KEY (run, job)
);
PRAGMA user_version = 1;";

/// Why results cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum HistoryError {
    /// The database is damaged, full, or not one.
    #[error(
        "the history cannot be used: {0}\nhelp: name another file with `history`, or remove this one"
    )]
    Database(#[from] rusqlite::Error),
    /// Another version has made it.
    #[error(
        "the history has version {0}, this vouch knows {VERSION}\nhelp: name another file with `history`, or use a newer vouch"
    )]
    Version(i64),
    /// Somebody else is at work with it.
    #[error(
        "another `vouch rig` is at work with this history\nhelp: wait for it, or name another file with `history`"
    )]
    Busy,
    /// The file that says so cannot be made.
    #[error("the history cannot be locked: {0}")]
    Lock(std::io::Error),
}

/// The SQLite database of earlier runs, locked against other runs of the same part.
pub struct History {
    connection: Connection,
    /// Held for as long as this is in use.
    _lock: File,
}

/// A run that was begun or resumed.
pub struct Begun {
    /// Its row id in the database.
    pub id: i64,
    /// Results that it had before it was ended.
    pub rows: Vec<Row>,
}

impl History {
    /// Opens the database, or makes it, for one of several parts of the work: the others may be at work with it, too.
    pub fn open(path: &Path, shard: &str) -> Result<History, HistoryError> {
        let mut name = path.as_os_str().to_owned();
        if !shard.is_empty() {
            name.push(format!(".{}", shard.replace('/', "-of-")));
        }
        name.push(".lock");
        let lock = File::create(name).map_err(HistoryError::Lock)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(HistoryError::Busy),
            Err(TryLockError::Error(error)) => return Err(HistoryError::Lock(error)),
        }
        let connection = Connection::open(path)?;
        connection.busy_timeout(Duration::from_secs(30))?;
        let version: i64 = connection.query_row("PRAGMA user_version", [], |row| row.get(0))?;
        match version {
            VERSION => {}
            0 => connection.execute_batch(&format!("BEGIN IMMEDIATE;{TABLES}COMMIT;"))?,
            other => return Err(HistoryError::Version(other)),
        }
        Ok(History { connection, _lock: lock })
    }

    /// Begins a run, or resumes the last one if it had the same plan and did not come to its end, unless `afresh`.
    pub fn begin(&self, plan: &str, shard: &str, afresh: bool) -> Result<Begun, HistoryError> {
        let last: Option<(i64, String, bool)> = self
            .connection
            .query_row(
                "SELECT id, plan, ended IS NULL FROM run WHERE shard = ?1 ORDER BY id DESC LIMIT 1",
                [shard],
                |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)),
            )
            .optional()?;
        if let Some((id, before, true)) = last
            && before == plan
            && !afresh
        {
            return Ok(Begun { id, rows: self.rows(id)? });
        }
        self.connection.execute(
            "INSERT INTO run (plan, shard, started) VALUES (?1, ?2, ?3)",
            params![plan, shard, now()],
        )?;
        Ok(Begun { id: self.connection.last_insert_rowid(), rows: vec![] })
    }

    /// Keeps a result.
    pub fn keep(&self, run: i64, row: &Row) -> Result<(), HistoryError> {
        self.connection.execute(
            "INSERT OR REPLACE INTO result VALUES (?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14)",
            params![
                run,
                row.job,
                row.device,
                row.model,
                row.parameters,
                row.mode,
                row.state.name(),
                row.verdict.map(|v| v.to_string()),
                row.reason,
                row.attempts,
                row.time_s,
                row.board,
                row.build,
                now(),
            ],
        )?;
        Ok(())
    }

    /// Ends a run: it will not be resumed.
    pub fn end(&self, run: i64) -> Result<(), HistoryError> {
        self.connection.execute("UPDATE run SET ended = ?2 WHERE id = ?1", params![run, now()])?;
        Ok(())
    }

    /// The results of a run.
    fn rows(&self, run: i64) -> Result<Vec<Row>, HistoryError> {
        let mut statement = self.connection.prepare(
            "SELECT job, device, model, parameters, mode, state, verdict, reason, attempts, time_s, board, build \
             FROM result WHERE run = ?1 ORDER BY at",
        )?;
        let rows = statement.query_map([run], |row| {
            let state: String = row.get(5)?;
            let verdict: Option<String> = row.get(6)?;
            Ok(Row {
                job: row.get(0)?,
                device: row.get(1)?,
                model: row.get(2)?,
                parameters: row.get(3)?,
                mode: row.get(4)?,
                // What nobody knows does not count as passed.
                state: State::named(&state).unwrap_or(State::Error),
                verdict: verdict.and_then(|v| {
                    let all = [Verdict::Safe, Verdict::Unsafe, Verdict::Unknown];
                    all.into_iter().find(|known| known.to_string() == v)
                }),
                reason: row.get(7)?,
                attempts: row.get(8)?,
                time_s: row.get(9)?,
                board: row.get(10)?,
                build: row.get(11)?,
            })
        })?;
        Ok(rows.collect::<Result<Vec<Row>, rusqlite::Error>>()?)
    }

    /// What is different from the last run of the same part that came to its end. Nothing if there was none.
    pub fn changes(
        &self,
        run: i64,
        shard: &str,
        rows: &[Row],
    ) -> Result<Vec<Change>, HistoryError> {
        let last: Option<i64> = self
            .connection
            .query_row(
                "SELECT id FROM run WHERE id < ?1 AND shard = ?2 AND ended IS NOT NULL ORDER BY id DESC LIMIT 1",
                params![run, shard],
                |row| row.get(0),
            )
            .optional()?;
        let Some(last) = last else { return Ok(vec![]) };
        let states = |rows: &[Row]| -> BTreeMap<String, State> {
            rows.iter().map(|row| (row.job.clone(), row.state)).collect()
        };
        let (before, now) = (states(&self.rows(last)?), states(rows));
        let mut jobs: Vec<&String> = before.keys().chain(now.keys()).collect();
        jobs.sort();
        jobs.dedup();
        let change = |job: &String| {
            let (before, now) = (before.get(job).copied(), now.get(job).copied());
            (before != now).then(|| Change { job: job.clone(), before, now })
        };
        Ok(jobs.into_iter().filter_map(change).collect())
    }
}

/// Seconds since 1970.
fn now() -> f64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |since| since.as_secs_f64())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(job: &str, state: State) -> Row {
        Row {
            job: job.into(),
            device: "d".into(),
            model: "m".into(),
            parameters: "limit=3".into(),
            mode: "prove".into(),
            state,
            verdict: Some(Verdict::Safe),
            reason: None,
            attempts: 2,
            time_s: 1.5,
            board: Some("microbit".into()),
            build: None,
        }
    }

    #[test]
    fn a_run_is_resumed_until_it_has_ended() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.sqlite");
        let history = History::open(&path, "").unwrap();
        assert!(matches!(History::open(&path, ""), Err(HistoryError::Busy)));
        // Another part is somebody else's.
        assert!(History::open(&path, "1/2").is_ok());
        let first = history.begin("plan", "", false).unwrap();
        history.keep(first.id, &row("a", State::Passed)).unwrap();
        drop(history);
        // Killed here.
        let history = History::open(&path, "").unwrap();
        let again = history.begin("plan", "", false).unwrap();
        assert_eq!((again.id, &again.rows[..]), (first.id, &[row("a", State::Passed)][..]));
        // Another plan or another part is another run, and so is one that begins afresh.
        assert_ne!(history.begin("plan", "1/2", false).unwrap().id, first.id);
        let last = [row("a", State::Passed), row("b", State::Error)];
        last.iter().for_each(|r| history.keep(again.id, r).unwrap());
        history.end(again.id).unwrap();
        let next = history.begin("plan", "", false).unwrap();
        assert!(next.id != first.id && next.rows.is_empty());
        let rows = [row("a", State::Failed), row("c", State::Passed)];
        let changes = history.changes(next.id, "", &rows).unwrap();
        let seen: Vec<_> = changes.iter().map(|c| (&c.job[..], c.before, c.now)).collect();
        use State::{Error, Failed, Passed};
        assert_eq!(
            seen,
            [
                ("a", Some(Passed), Some(Failed)),
                ("b", Some(Error), None),
                ("c", None, Some(Passed))
            ]
        );
        assert_ne!(history.begin("plan", "", true).unwrap().id, next.id);
        assert_ne!(history.begin("other", "", false).unwrap().id, next.id);
    }

    #[test]
    fn what_is_not_a_history_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("h.sqlite");
        std::fs::write(&path, "this is not a database at all, but a text of some length").unwrap();
        assert!(matches!(History::open(&path, ""), Err(HistoryError::Database(_))));
        let other = folder.path().join("o.sqlite");
        Connection::open(&other).unwrap().execute_batch("PRAGMA user_version = 9").unwrap();
        assert!(matches!(History::open(&other, ""), Err(HistoryError::Version(9))));
        assert!(matches!(History::open(folder.path(), ""), Err(HistoryError::Database(_))));
        assert!(matches!(
            History::open(&folder.path().join("no/h"), ""),
            Err(HistoryError::Lock(_))
        ));
    }
}
