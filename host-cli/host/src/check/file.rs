//! From a model's file to an answer: read with passes that suit the engine, an old certificate tried first, and recursion followed
//! deeper as long as nothing is known for that reason.
//!
//! An error is found soonest where the model is small, and only a program that goes deeper needs a larger one. So a depth before
//! the last gets little work, and what it leaves open is looked at once more with all of it if the program turns out to go no
//! deeper.

use super::{By, CheckError, Checked, Found, Progress, Request, search, search_in_turns};
use crate::answer::{Answer, Ended};
use crate::engines::{Engine, Memory};
use crate::frontend::limits;
use crate::ir::{Cfa, PropertyId};
use crate::judge::Judgement;
use crate::pipeline::{self, LoadError, Loaded, Options};
use crate::seed;
use std::path::Path;
use std::time::Instant;
use vouch_core::ic3::{Stats, Verdict as Claimed};

/// How deep recursion is followed if nobody says so.
pub const DEPTHS: [u32; 4] = [3, 8, 24, 64];
/// Propagated literals that a depth before the last may cost.
const BUDGET: u64 = 20_000_000;

/// A file that is to be checked, and how.
#[derive(Clone, Debug)]
pub struct Asked<'a> {
    /// The file.
    pub path: &'a Path,
    /// How it is read. If they name no passes, the engine has a say.
    pub options: Options,
    /// How deep recursion is followed, if not [as deep as need be](DEPTHS).
    pub recursion: Option<u32>,
    /// Who is asked.
    pub engine: Engine,
    /// How much memory it may take.
    pub memory: Memory,
    /// How many engines are at work at once, if they are several.
    pub threads: usize,
    /// The text of a certificate: if it proves all that is asked, nothing is searched for; else the search begins with what still
    /// holds of it.
    pub certificate: Option<&'a str>,
}

/// How far it is.
pub enum Step<'a> {
    /// The file is being read.
    Compiling,
    /// It is read.
    Compiled(&'a Loaded),
    /// The certificate is tried.
    Trying,
    /// The engine begins.
    Proving,
    /// The engine's counters so far.
    Working(&'a Stats),
    /// Nothing is known, and recursion is followed deeper.
    Deeper,
}

/// Who asks: the question needs the model's names, so it comes when the model is read.
pub trait Asker {
    /// Why there is no question.
    type Failure: From<LoadError>;

    /// What is asked of the model. It is read anew for each depth, and asked the same.
    fn ask(&mut self, model: &Loaded) -> Result<Request, Self::Failure>;

    /// Hears how far it is.
    fn hear(&mut self, step: Step<'_>);
}

/// What was found out about a file.
#[derive(Debug)]
pub struct Searched {
    /// The model that it is about.
    pub model: Loaded,
    /// How deep recursion is followed in it.
    pub recursion: u32,
    /// What was asked of it.
    pub request: Request,
    /// The answer.
    pub found: Result<Held, CheckError>,
}

/// An answer, judged already or not.
#[derive(Debug)]
pub enum Held {
    /// The old certificate proves all.
    Certified(Box<Judgement>),
    /// An engine says so.
    Found(Box<Found>),
}

impl Held {
    /// Finds out what it is worth.
    pub fn judge(
        self,
        asked: &Asked<'_>,
        model: &Loaded,
        request: &Request,
        since: Instant,
        progress: &mut dyn FnMut(Progress<'_>),
    ) -> Checked {
        match self {
            Held::Found(found) => found.judge(model, request, progress),
            Held::Certified(judgement) => Checked {
                judgement: *judgement,
                answer: Answer::default(),
                engine: asked.engine,
                time: since.elapsed(),
            },
        }
    }
}

/// Has an engine look for an answer. It is still to be [judged](Held::judge).
pub fn search_file<A: Asker>(asked: &Asked<'_>, asker: &mut A) -> Result<Searched, A::Failure> {
    let [first, deeper @ ..] = &DEPTHS;
    let (mut depth, mut deeper) = match asked.recursion {
        Some(depth) => (depth, &[][..]),
        None => (*first, &deeper[..]),
    };
    loop {
        let options = options(asked, depth);
        let mut model = load(asked.path, &options, asker)?;
        let request = asker.ask(&model)?;
        if let Some(text) = asked.certificate {
            asker.hear(Step::Trying);
            if let Some(judgement) = seed::judge(&model, &request.question, text) {
                let found = Ok(Held::Certified(Box::new(judgement)));
                return Ok(Searched { model, recursion: depth, request, found });
            }
            seed::offer(&mut model, text);
        }
        let next = deeper.split_first().filter(|_| recursion_limit(&model.cfa).is_some());
        let budget = match request.budget {
            0 if next.is_some() => BUDGET,
            own if next.is_some() => own.min(BUDGET),
            own => own,
        };
        let little = Request { budget, ..request.clone() };
        let mut found = search_one(asked, &options, &model, &little, asker);
        if let (Some((next, rest)), Ok((answer, _))) = (next, &found) {
            match after(&model.cfa, &answer.answer) {
                After::Settled => {}
                After::Open if budget == request.budget => {}
                After::Open => found = search_one(asked, &options, &model, &request, asker),
                After::Deeper => {
                    asker.hear(Step::Deeper);
                    (depth, deeper) = (*next, rest);
                    continue;
                }
            }
        }
        let (model, found) = match found {
            Ok((found, other)) => (other.unwrap_or(model), Ok(Held::Found(Box::new(found)))),
            Err(error) => (model, Err(error)),
        };
        return Ok(Searched { model, recursion: depth, request, found });
    }
}

/// How the file is read, with recursion to some depth.
fn options(asked: &Asked<'_>, depth: u32) -> Options {
    let mut options = asked.options.clone();
    options.passes = options.passes.or_else(|| asked.engine.passes());
    options.c.recursion = depth;
    options
}

fn load<A: Asker>(path: &Path, options: &Options, asker: &mut A) -> Result<Loaded, A::Failure> {
    asker.hear(Step::Compiling);
    let model = pipeline::load(path, options)?;
    asker.hear(Step::Compiled(&model));
    Ok(model)
}

/// Has an engine, or several, look for an answer. Returns another model if the answer is about that one.
fn search_one(
    asked: &Asked<'_>,
    options: &Options,
    model: &Loaded,
    request: &Request,
    asker: &mut impl Asker,
) -> Result<(Found, Option<Loaded>), CheckError> {
    asker.hear(Step::Proving);
    let mut show = |progress: Progress<'_>| {
        if let Progress::Proving(stats) = progress {
            asker.hear(Step::Working(stats));
        }
    };
    let Asked { path, memory, threads, .. } = *asked;
    match asked.engine {
        Engine::Auto => {
            // Who names passes wants these.
            let again = |passes| match &asked.options.passes {
                Some(_) => None,
                None => {
                    let options = Options { passes: Some(passes), ..options.clone() };
                    pipeline::load(path, &options).ok()
                }
            };
            search_in_turns(model, request, memory, threads, again, &mut show)
        }
        engine => {
            let by = By::Host { engine, memory };
            search(model, request, by, &mut show).map(|found| (found, None))
        }
    }
}

/// What is known after a search with recursion to some depth that is not the last.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum After {
    /// As much as any depth would tell.
    Settled,
    /// The recursion goes no deeper, but not all is decided.
    Open,
    /// It may go deeper, and nothing is known for that reason.
    Deeper,
}

/// The limit that a model has because recursion is followed to some depth only.
fn recursion_limit(cfa: &Cfa) -> Option<PropertyId> {
    let is_deep = |p: &PropertyId| cfa.properties[p.index()].name == limits::RECURSION;
    cfa.limits.iter().copied().find(is_deep)
}

/// Whether a deeper model, or more work, would say more.
fn after(cfa: &Cfa, answer: &Answer) -> After {
    let Some(limit) = recursion_limit(cfa) else { return After::Settled };
    if answer.ended != Ended::Itself {
        return After::Settled;
    }
    let is_open = |v: &Claimed| matches!(v, Claimed::Unknown(_));
    let is_claim = |p: usize| !cfa.limits.contains(&PropertyId(p as u32));
    let mut verdicts = answer.verdicts.iter();
    match answer.verdicts.get(limit.index()) == Some(&Claimed::Safe) {
        true if verdicts.any(is_open) => After::Open,
        false if !verdicts.enumerate().any(|(p, v)| is_claim(p) && *v == Claimed::Unsafe) => {
            After::Deeper
        }
        _ => After::Settled,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::{Question, Verdict};

    /// Counts what is done.
    #[derive(Default)]
    struct Counts {
        budget: u64,
        compiled: usize,
        proving: usize,
        deeper: usize,
    }

    impl Asker for Counts {
        type Failure = LoadError;

        fn ask(&mut self, model: &Loaded) -> Result<Request, LoadError> {
            let question = Question::new(&model.cfa, None, vec![]);
            Ok(Request { budget: self.budget, ..Request::new(question) })
        }

        fn hear(&mut self, step: Step<'_>) {
            match step {
                Step::Compiled(_) => self.compiled += 1,
                Step::Proving => self.proving += 1,
                Step::Deeper => self.deeper += 1,
                Step::Compiling | Step::Trying | Step::Working(_) => {}
            }
        }
    }

    /// The verdict on a file, the certificate if there is one, and how often it was compiled, searched, and not deep enough.
    fn checked(
        name: &str,
        text: &str,
        recursion: Option<u32>,
        certificate: Option<&str>,
    ) -> (Verdict, Option<String>, [usize; 3]) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        let asked = Asked {
            path: &path,
            options: Options::default(),
            recursion,
            engine: Engine::Ic3Cfa,
            memory: Memory::default(),
            threads: 1,
            certificate,
        };
        let mut counts = Counts::default();
        let Searched { model, request, found, .. } = search_file(&asked, &mut counts).unwrap();
        let found = found.unwrap().judge(&asked, &model, &request, Instant::now(), &mut |_| {});
        let judgement = found.judgement;
        let certificate = judgement.certificate.as_ref().map(|certificate| {
            crate::formats::certificate::write(&model.cfa, certificate, None).unwrap()
        });
        let Counts { compiled, proving, deeper, .. } = counts;
        (judgement.verdict(), certificate, [compiled, proving, deeper])
    }

    /// Calls itself up to `most` times; the error is where `wrong` says.
    fn recursive(most: u32, wrong: &str) -> String {
        format!(
            "extern unsigned char __VERIFIER_nondet_uchar(void); extern void reach_error(void);\n\
             extern void __VERIFIER_assume(int);\n\
             int f(unsigned char n) {{ return n == 0 ? 0 : 1 + f(n - 1); }}\n\
             int main(void) {{ unsigned char n = __VERIFIER_nondet_uchar(); __VERIFIER_assume(n <= {most});\n\
             if (f(n) {wrong}) reach_error(); return 0; }}"
        )
    }

    #[test]
    fn recursion_is_followed_as_deep_as_need_be() {
        let check = |most, wrong, depth| {
            let (verdict, _, counts) = checked("f.c", &recursive(most, wrong), depth, None);
            (verdict, counts)
        };
        assert_eq!(check(2, "!= n", None), (Verdict::Safe, [1, 1, 0]));
        assert_eq!(check(12, "== 2", None), (Verdict::Unsafe, [1, 1, 0]), "found in the smallest");
        assert_eq!(check(6, "!= n", None), (Verdict::Safe, [2, 2, 1]));
        assert_eq!(check(12, "== 11", None), (Verdict::Unsafe, [3, 3, 2]));
        assert_eq!(check(6, "!= n", Some(3)), (Verdict::Unknown, [1, 1, 0]), "as deep as asked");
        assert_eq!(check(6, "!= n", Some(8)), (Verdict::Safe, [1, 1, 0]));
    }

    #[test]
    fn what_does_not_call_itself_is_compiled_once() {
        let model = |property: &str| {
            format!(
                "machine m {{ var n: u8 = 0; initial state S {{ on n < 9 {{ n = n + 1; }} else {{ n = 0; }} }} \
                 property low: always {property}; }}"
            )
        };
        let (verdict, certificate, counts) = checked("m.vch", &model("n <= 9"), None, None);
        assert_eq!((verdict, counts), (Verdict::Safe, [1, 1, 0]));
        // With the proof nothing is searched for, and with one of something else nothing is believed.
        let old = certificate.as_deref();
        let (verdict, again, counts) = checked("m.vch", &model("n <= 9"), None, old);
        assert_eq!((verdict, counts), (Verdict::Safe, [1, 0, 0]));
        assert_eq!(again, certificate);
        let (verdict, _, counts) = checked("m.vch", &model("n <= 8"), None, old);
        assert_eq!((verdict, counts), (Verdict::Unsafe, [1, 1, 0]));
    }

    /// What is open after a search in a model that is not the last.
    #[test]
    fn only_a_limit_that_may_be_reached_asks_for_more_depth() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("f.c");
        std::fs::write(&path, recursive(6, "!= n")).unwrap();
        let cfa = pipeline::load(&path, &Options::default()).unwrap().cfa;
        let limit = recursion_limit(&cfa).unwrap().index();
        let said = |of_limit: Claimed, of_others: Claimed, ended: Ended| {
            let mut verdicts = vec![of_others; cfa.properties.len()];
            for other in &cfa.limits {
                verdicts[other.index()] = Claimed::Safe;
            }
            verdicts[limit] = of_limit;
            after(&cfa, &Answer { verdicts, ended, ..Answer::default() })
        };
        let unknown = Claimed::Unknown(vouch_core::ic3::Limit::Budget);
        use Claimed::{Safe, Unsafe};
        let itself = Ended::Itself;
        assert_eq!(said(Safe, Safe, itself), After::Settled);
        assert_eq!(said(Safe, Unsafe, itself), After::Settled);
        assert_eq!(said(Safe, unknown, itself), After::Open);
        assert_eq!(said(Unsafe, Safe, itself), After::Deeper);
        assert_eq!(said(Unsafe, unknown, itself), After::Deeper);
        assert_eq!(said(unknown, unknown, itself), After::Deeper);
        assert_eq!(said(Unsafe, Unsafe, itself), After::Settled, "a run breaks it at this depth");
        assert_eq!(said(Unsafe, Safe, Ended::Timeout), After::Settled, "there is no more time");
    }
}
