//! `cargo xtask bench-auto FOLDER`: whether `--engine auto` decides as many as the best single engine.
//!
//! It has to with twice the time: a portfolio on one processor cannot be as quick as the engine that happens to be the
//! right one. The folder holds `verdicts.tsv`, as for `bench-c`; circuits count, too. What `auto` has decided cannot
//! speak against it, so single engines are asked about the others first. One that decides some of them is ahead unless
//! it leaves as many open of those that `auto` has decided: about these it is asked, the hardest first, until it has.
//! The record is `benches/record/auto.tsv`.

use crate::bench_c::{self, Asked, folder, is_decided};
use crate::{demo, project, record, shell};
use anyhow::{Result, bail};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

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
    /// How many of those that `auto` has decided an engine does not, as far as it was asked.
    open: BTreeMap<&'static str, usize>,
}

impl Sums {
    /// Engines that may have decided more than `auto`.
    fn ahead(&self) -> Vec<&'static str> {
        let more = |(engine, besides): (&&'static str, &usize)| {
            (*besides > self.open.get(engine).copied().unwrap_or_default()).then_some(*engine)
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
    ask: &(dyn Fn(&Question) -> (f64, &'static str) + Sync),
) -> (BTreeMap<String, Sums>, usize) {
    let wrong = AtomicUsize::new(0);
    // How long it takes to an answer, if there is one.
    let answer = |question: &Question| -> Option<f64> {
        let (time, found) = ask(question);
        wrong.fetch_add((is_decided(found) && found != question.expected) as usize, Relaxed);
        is_decided(found).then_some(time)
    };
    let question = |(file, expected): &(String, String), engine| Question {
        file: file.clone(),
        expected: expected.clone(),
        engine,
    };
    let answers = |questions: Vec<Question>| {
        shell::each(jobs, questions, |question| {
            let time = answer(&question);
            (question, time)
        })
    };
    let mut sums: BTreeMap<String, Sums> = BTreeMap::new();
    let (mut open, mut decided) = (vec![], vec![]);
    for (question, time) in answers(files.iter().map(|f| question(f, "auto")).collect()) {
        let sum = sums.entry(folder(&question.file)).or_default();
        sum.files += 1;
        sum.auto += time.is_some() as usize;
        let file = (question.file, question.expected);
        match time {
            Some(time) => decided.push((time, file)),
            None => open.push(file),
        }
    }
    let all = open.iter().flat_map(|file| ENGINES.map(|engine| question(file, engine)));
    for (question, time) in answers(all.collect()) {
        let sum = sums.entry(folder(&question.file)).or_default();
        *sum.besides.entry(question.engine).or_default() += time.is_some() as usize;
    }
    decided.sort_by(|a, b| b.0.total_cmp(&a.0));
    let may_be =
        sums.iter().flat_map(|(name, sum)| sum.ahead().into_iter().map(|e| (name.clone(), e)));
    let asked = shell::each(jobs, may_be.collect(), |(name, engine)| {
        let besides = sums[&name].besides[engine];
        let mut own =
            decided.iter().map(|(_, file)| file).filter(|(file, _)| folder(file) == *name);
        let mut open = 0;
        while open < besides
            && let Some(file) = own.next()
        {
            open += answer(&question(file, engine)).is_none() as usize;
        }
        (name, engine, open)
    });
    for (name, engine, open) in asked {
        sums.entry(name).or_default().open.insert(engine, open);
    }
    (sums, wrong.into_inner())
}

/// What an engine says of a file.
fn ask(asked: &Asked, question: &Question) -> (f64, &'static str) {
    let Question { file, engine, .. } = question;
    let seconds = match *engine {
        "auto" => 2 * asked.timeout,
        _ => asked.timeout,
    };
    let file = asked.folder.join(file);
    let (time, found) = bench_c::verdict(&mut shell::limited(
        seconds,
        &project::tool(),
        &[
            "check",
            "--quiet",
            "--timeout",
            &seconds.to_string(),
            "--engine",
            engine,
            &file.display().to_string(),
        ],
    ));
    eprintln!("{found:>8} {time:7.1} s  {engine:12} {}", question.file);
    (time, found)
}

/// The record's text: what was asked, and a row for each folder.
fn table(asked: &Asked, sums: &BTreeMap<String, Sums>) -> String {
    let Asked { timeout, jobs, .. } = asked;
    let mut text = format!(
        "# cargo xtask bench-auto; decided: by auto with {} s of processor time, by single engines with {timeout} s; {jobs} at a time\n\
         # besides: what single engines decide of the rest; open: what these leave open of the others, asked until it is as much\n\
         folder\tfiles\tauto\tbesides\topen\n",
        2 * timeout
    );
    let shown = |counts: &BTreeMap<&'static str, usize>| {
        let some = counts.iter().filter(|(_, count)| **count > 0);
        let some: Vec<String> = some.map(|(engine, count)| format!("{engine} {count}")).collect();
        if some.is_empty() { "-".to_string() } else { some.join(", ") }
    };
    for (name, sum) in sums {
        let (besides, open) = (shown(&sum.besides), shown(&sum.open));
        let _ = writeln!(text, "{name}\t{}\t{}\t{besides}\t{open}", sum.files, sum.auto);
    }
    let behind = sums.values().filter(|sum| !sum.ahead().is_empty()).count();
    let _ =
        writeln!(text, "# auto is behind a single engine in {behind} of {} folders", sums.len());
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All but `auto` itself.
    #[test]
    fn every_engine_is_asked() {
        let place = project::root().join("host-cli/host/src/engines/mod.rs");
        let text = std::fs::read_to_string(place).unwrap();
        let names = text.split("pub fn name(self)").nth(1).unwrap().split("pub fn").next().unwrap();
        let mut known: Vec<&str> = names.split('"').skip(1).step_by(2).collect();
        known.retain(|name| *name != "auto");
        known.sort();
        let mut asked = ENGINES;
        asked.sort();
        assert_eq!(asked[..], known[..]);
    }

    /// A folder in which one engine decides what `auto` does not, and leaves as much open; one in which `explicit`
    /// is ahead.
    #[test]
    fn an_engine_is_ahead_unless_it_leaves_as_many_open() {
        let asked = Asked { folder: "x".into(), timeout: 5, filter: String::new(), jobs: 2 };
        let files =
            [("a/1.c", "safe"), ("a/2.c", "safe"), ("a/3.c", "unsafe"), ("b/4.aig", "safe")];
        let files = files.map(|(file, verdict)| (file.to_string(), verdict.to_string()));
        let said = |question: &Question| match (question.engine, question.file.as_str()) {
            ("auto", "a/1.c") => (1.0, "safe"),
            ("auto", "a/2.c") => (2.0, "safe"),
            ("bmc", "a/3.c") => (1.0, "unsafe"),
            // The easier one is not asked about.
            ("bmc", "a/1.c") => (1.0, "unsafe"),
            ("explicit", "b/4.aig") => (1.0, "unsafe"),
            _ => (5.0, "timeout"),
        };
        let (sums, wrong) = measure(2, &files, &said);
        assert_eq!(wrong, 1);
        assert_eq!((sums["a"].files, sums["a"].auto, sums["a"].open["bmc"]), (3, 2, 1));
        assert!(sums["a"].ahead().is_empty());
        assert_eq!(sums["b"].ahead(), ["explicit"]);
        let table = table(&asked, &sums);
        assert!(table.contains("a\t3\t2\tbmc 1\tbmc 1\n"), "{table}");
        assert!(table.ends_with("behind a single engine in 1 of 2 folders\n"), "{table}");
    }
}
