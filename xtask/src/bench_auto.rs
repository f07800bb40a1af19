//! `cargo xtask bench-auto FOLDER`: whether `--engine auto` decides as many as the best single engine.
//!
//! It has to with twice the time: a portfolio on one processor cannot be as quick as the engine that happens to be the
//! right one. The folder holds `verdicts.tsv`, as for `bench-c`; circuits count, too. What `auto` has decided cannot
//! speak against it, so single engines are asked about the others first, and about a whole folder only if one of them
//! has decided more of these. The record is `benches/record/auto.tsv`.

use crate::bench_c::{self, Asked, folder, is_decided};
use crate::{demo, project, record, shell};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;

/// All that users can choose.
const ENGINES: [&str; 11] = [
    "ic3cfa",
    "ic3cfa-eager",
    "ic3",
    "tree-ic3",
    "tree-ic3-itp",
    "ic3-cegar",
    "pdr",
    "bmc",
    "kind",
    "explicit",
    "execute",
];

/// What was decided in a folder.
#[derive(Default)]
struct Sums {
    files: usize,
    auto: usize,
    /// Of those that `auto` has not decided: by each engine.
    besides: BTreeMap<&'static str, usize>,
    /// Of the whole folder, by engines that were asked about it.
    whole: BTreeMap<&'static str, usize>,
}

impl Sums {
    /// Engines that may have decided more than `auto`.
    fn ahead(&self) -> Vec<&'static str> {
        let more = |(engine, besides): (&&'static str, &usize)| {
            let all = self.whole.get(engine).map_or(self.auto + besides, |whole| *whole);
            (all > self.auto).then_some(*engine)
        };
        self.besides.iter().filter_map(more).collect()
    }
}

/// A file, its verdict, and who was asked.
struct Question {
    file: String,
    expected: String,
    engine: &'static str,
}

/// Records what `auto` and the single engines decide in each folder.
pub fn task(args: &[String]) -> Result<()> {
    let asked = Asked::parse("bench-auto", args)?;
    let Some(mut files) = asked.files() else { return Ok(()) };
    files.retain(|(_, verdict)| is_decided(verdict));
    shell::stage("host tool", demo::build_tool)?;
    let (sums, wrong) = measure(asked.jobs, &files, &|question| ask(&asked, question));
    let table = table(&asked, &sums);
    print!("{table}");
    if asked.filter.is_empty() {
        record::write("auto.tsv", &format!("# {}\n{table}", record::build()?))?;
    }
    if wrong > 0 {
        bail!("{wrong} wrong verdicts");
    }
    Ok(())
}

/// The sums of each folder, and how many verdicts were wrong.
fn measure(
    jobs: usize,
    files: &[(String, String)],
    ask: &(dyn Fn(&Question) -> &'static str + Sync),
) -> (BTreeMap<String, Sums>, usize) {
    let mut wrong = 0;
    // Which of some questions were answered.
    let mut decided = |questions: Vec<Question>| -> Vec<(Question, bool)> {
        let found = shell::each(jobs, questions, |question| {
            let found = ask(&question);
            (question, found)
        });
        let found = found.into_iter().map(|(question, found)| {
            wrong += (is_decided(found) && found != question.expected) as usize;
            (question, is_decided(found))
        });
        found.collect()
    };
    let question = |(file, expected): &(String, String), engine| Question {
        file: file.clone(),
        expected: expected.clone(),
        engine,
    };
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    let mut open = vec![];
    for (question, is_decided) in decided(files.iter().map(|f| question(f, "auto")).collect()) {
        let sum = sums.entry(folder(&question.file)).or_default();
        sum.files += 1;
        sum.auto += is_decided as usize;
        if !is_decided {
            open.push((question.file, question.expected));
        }
    }
    let all = open.iter().flat_map(|file| ENGINES.map(|engine| question(file, engine)));
    for (question, is_decided) in decided(all.collect()) {
        let sum = sums.entry(folder(&question.file)).or_default();
        *sum.besides.entry(question.engine).or_default() += is_decided as usize;
    }
    let mut all = vec![];
    for (name, sum) in &mut sums {
        for engine in sum.ahead() {
            sum.whole.insert(engine, 0);
            let own = files.iter().filter(|(file, _)| folder(file) == *name);
            all.extend(own.map(|file| question(file, engine)));
        }
    }
    for (question, is_decided) in decided(all) {
        let sum = sums.entry(folder(&question.file)).or_default();
        *sum.whole.entry(question.engine).or_default() += is_decided as usize;
    }
    (sums, wrong)
}

/// What an engine says of a file.
fn ask(asked: &Asked, question: &Question) -> &'static str {
    let Question { file, engine, .. } = question;
    let seconds = match *engine {
        "auto" => 2 * asked.timeout,
        _ => asked.timeout,
    };
    let file = asked.folder.join(file);
    let (time, found) = bench_c::verdict(&mut shell::limited(
        seconds,
        &project::tool(),
        &["check", "--quiet", "--engine", engine, &file.display().to_string()],
    ));
    eprintln!("{found:>8} {time:7.1} s  {engine:12} {}", question.file);
    found
}

/// The record.
fn table(asked: &Asked, sums: &BTreeMap<String, Sums>) -> String {
    let Asked { timeout, jobs, .. } = asked;
    let mut text = format!(
        "# cargo xtask bench-auto; decided: by auto with {} s of processor time, by single engines with {timeout} s; {jobs} at a time\n\
         # besides: what single engines decide of the rest; best: the most that one of those decides in the whole folder, if any may be ahead\n\
         folder\tfiles\tauto\tbesides\tbest\n",
        2 * timeout
    );
    let shown = |counts: &BTreeMap<&'static str, usize>| {
        let some = counts.iter().filter(|(_, count)| **count > 0);
        let some: Vec<String> = some.map(|(engine, count)| format!("{engine} {count}")).collect();
        if some.is_empty() { "-".to_string() } else { some.join(", ") }
    };
    for (name, sum) in sums {
        let (besides, best) = (shown(&sum.besides), shown(&sum.whole));
        let _ = writeln!(text, "{name}\t{}\t{}\t{besides}\t{best}", sum.files, sum.auto);
    }
    let behind = sums.values().filter(|sum| !sum.ahead().is_empty()).count();
    let _ =
        writeln!(text, "# auto is behind a single engine in {behind} of {} folders", sums.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A folder in which one engine decides what `auto` does not, and less than it in all; one in which `explicit`
    /// is ahead.
    #[test]
    fn an_engine_is_ahead_only_with_its_whole_folder() {
        let asked = Asked { folder: "x".into(), timeout: 5, filter: String::new(), jobs: 2 };
        let files =
            [("a/1.c", "safe"), ("a/2.c", "safe"), ("a/3.c", "unsafe"), ("b/4.aig", "safe")];
        let files = files.map(|(file, verdict)| (file.to_string(), verdict.to_string()));
        let said = |question: &Question| match (question.engine, question.file.as_str()) {
            ("auto", "a/1.c" | "a/2.c") => "safe",
            ("bmc", "a/3.c") => "unsafe",
            ("explicit", "b/4.aig") => "unsafe",
            _ => "timeout",
        };
        let (sums, wrong) = measure(2, &files, &said);
        // Twice: among the rest, and in the whole folder.
        assert_eq!(wrong, 2);
        assert_eq!((sums["a"].files, sums["a"].auto, sums["a"].whole["bmc"]), (3, 2, 1));
        assert!(sums["a"].ahead().is_empty());
        assert_eq!(sums["b"].ahead(), ["explicit"]);
        let table = table(&asked, &sums);
        assert!(table.contains("a\t3\t2\tbmc 1\tbmc 1\n"), "{table}");
        assert!(table.ends_with("behind a single engine in 1 of 2 folders\n"), "{table}");
    }
}
