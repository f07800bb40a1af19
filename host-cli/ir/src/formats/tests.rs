//! Both formats: what is written is read again, what is wrong is pointed at, nothing panics.

use super::*;
use crate::sample::*;
use crate::*;

const SOURCE: Option<Digest> = Some([0xa5; 32]);

/// Names of every kind: repeated, empty, with blanks, quotes, dots, control characters, and some
/// that look like parts of the format.
const ODD: [&str; 14] = [
    "x",
    "x",
    "at",
    "end",
    "",
    "a b",
    "q.3",
    "x#1",
    "\"\\",
    "é\n\u{202e}",
    "step",
    "->",
    "!x",
    "never",
];

fn odd_model(r: &mut Random) -> Cfa {
    let mut cfa = random_cfa(r);
    let mut name = |name: &mut String| {
        if r.coin() {
            *name = ODD[r.below(ODD.len())].to_string();
        }
    };
    name(&mut cfa.name);
    cfa.vars.iter_mut().for_each(|v| name(&mut v.name));
    cfa.inputs.iter_mut().for_each(|i| name(&mut i.name));
    cfa.locations.iter_mut().for_each(|l| name(&mut l.name));
    cfa.properties.iter_mut().for_each(|p| name(&mut p.name));
    let mut ty = |width: u32, ty: &mut Type| match r.below(4) {
        0 if width == 1 => *ty = Type::Bool,
        1 => *ty = Type::names((0..r.below(9)).map(|_| ODD[r.below(14)].to_string())),
        _ => {}
    };
    cfa.vars.iter_mut().for_each(|v| ty(v.width, &mut v.ty));
    cfa.inputs.iter_mut().for_each(|i| ty(i.width, &mut i.ty));
    cfa
}

fn random_value(r: &mut Random, width: u32) -> Word {
    r.word(width)
}

fn random_certificate(cfa: &Cfa, r: &mut Random) -> Certificate {
    let mut certificate = Certificate::default();
    for _ in 0..r.below(4) {
        certificate.properties.push(PropertyId(r.below(cfa.properties.len()) as u32));
    }
    for (id, var) in cfa.params() {
        certificate.bindings.push((id, random_value(r, var.width)));
    }
    for _ in 0..r.below(3) {
        certificate.passed.push(LocId(r.below(cfa.locations.len()) as u32));
    }
    for _ in 0..r.below(12) {
        let lits = (0..r.below(4)).map(|_| {
            let var = r.below(cfa.vars.len());
            let bit = r.below(cfa.vars[var].width as usize) as u32;
            BitLit { var: VarId(var as u32), bit, value: r.coin() }
        });
        let lits = lits.collect();
        let location = LocId(r.below(cfa.locations.len()) as u32);
        certificate.clauses.push(Clause { location, lits });
    }
    certificate
}

fn random_trace(cfa: &Cfa, r: &mut Random) -> Trace {
    let mut trace = Trace::new(PropertyId(r.below(cfa.properties.len()) as u32), vec![], vec![]);
    for (i, var) in cfa.vars.iter().enumerate() {
        if r.coin() {
            trace.initial.push((VarId(i as u32), random_value(r, var.width)));
        }
    }
    if r.coin() {
        trace.forced.steps = 1 + r.below(1 << 20) as u64;
        for (i, input) in cfa.inputs.iter().enumerate().filter(|_| r.coin()).collect::<Vec<_>>() {
            trace.forced.inputs.push((InputId(i as u32), random_value(r, input.width)));
        }
    }
    for _ in 0..r.below(6) {
        let edge = EdgeId(r.below(cfa.edges.len()) as u32);
        let mut inputs = vec![];
        for (i, input) in cfa.inputs.iter().enumerate() {
            if r.coin() {
                inputs.push((InputId(i as u32), random_value(r, input.width)));
            }
        }
        trace.steps.push(Step { edge, inputs });
    }
    trace
}

#[test]
fn what_is_written_is_read_again() {
    for seed in 0..2000 {
        let mut r = Random::new(seed);
        let cfa = odd_model(&mut r);
        let source = SOURCE.filter(|_| r.coin());
        let header = Header { model: cfa.name.clone(), source };
        let written = random_certificate(&cfa, &mut r);
        let text = certificate::write(&cfa, &written, source).unwrap();
        let read = certificate::parse(&cfa, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read, (header.clone(), written), "{text}");
        let written = random_trace(&cfa, &mut r);
        let text = trace::write(&cfa, &written, source).unwrap();
        let read = trace::parse(&cfa, &text).unwrap_or_else(|e| panic!("{e}\n{text}"));
        assert_eq!(read, (header, written), "{text}");
    }
}

#[test]
fn damaged_files_are_refused_or_read_but_never_panic() {
    let mut refused = 0;
    for seed in 0..4000 {
        let mut r = Random::new(seed);
        let cfa = odd_model(&mut r);
        let text = match seed % 2 {
            0 => certificate::write(&cfa, &random_certificate(&cfa, &mut r), SOURCE).unwrap(),
            _ => trace::write(&cfa, &random_trace(&cfa, &mut r), SOURCE).unwrap(),
        };
        let mut chars: Vec<char> = text.chars().collect();
        for _ in 0..1 + r.below(3) {
            let at = r.below(chars.len());
            let strange: Vec<char> = "\0\t\r\n \"\\#!=.-{}u019azé漢\u{10ffff}".chars().collect();
            match r.below(5) {
                0 if chars.len() > 1 => drop(chars.remove(at)),
                0 => {}
                1 => chars[at] = strange[r.below(strange.len())],
                2 => chars.insert(at, strange[r.below(strange.len())]),
                3 => chars.truncate(at.max(1)),
                _ => {
                    let copy: Vec<char> = chars[at..(at + 9).min(chars.len())].to_vec();
                    let to = r.below(chars.len());
                    chars.splice(to..to, copy);
                }
            }
        }
        let damaged: String = chars.into_iter().collect();
        let errors = [certificate::parse(&cfa, &damaged).err(), trace::parse(&cfa, &damaged).err()];
        for error in errors.into_iter().flatten() {
            refused += 1;
            assert!(error.span.end <= damaged.len() && error.line >= 1 && error.column >= 1);
            assert!(damaged.get(error.span.clone()).is_some());
            assert!(error.to_string().starts_with("line "));
        }
    }
    assert!(refused > 6000);
}

#[test]
fn certificates_look_like_this() {
    let mut certificate = timer_certificate();
    certificate.clauses.drain(5..124);
    certificate.bindings.push((VarId(1), 3));
    let text = certificate::write(&timer(false), &certificate, SOURCE).unwrap();
    insta::assert_snapshot!(text);
}

#[test]
fn traces_look_like_this() {
    insta::assert_snapshot!(trace::write(&timer(true), &timer_trace(), None).unwrap());
}

#[test]
fn blanks_comments_and_line_ends_do_not_matter() {
    let cfa = timer(true);
    let text = trace::write(&cfa, &timer_trace(), SOURCE).unwrap();
    let loose = text.replace('\n', " \t\r\n\r\n  # a comment\r\n").replace(" = ", "\t =  ");
    assert_eq!(trace::parse(&cfa, &loose), trace::parse(&cfa, &text));
    assert!(trace::parse(&cfa, text.trim_end()).is_ok());
}

fn fault(result: Result<impl std::fmt::Debug, ParseError>) -> (usize, usize, String) {
    let error = result.unwrap_err();
    (error.line, error.column, error.message)
}

#[test]
fn faults_are_pointed_at() {
    let cfa = timer(false);
    let head = "vouch-certificate 2\nmodel timer\nsource unknown\n";
    let at = |body: &str| fault(certificate::parse(&cfa, &format!("{head}{body}")));
    let is = |body: &str, line, column, message: &str| {
        assert_eq!(at(body), (line, column, message.to_string()), "{body}");
    };
    is("at Idel\nend\n", 4, 4, "the model has no location Idel; did you mean Idle?");
    is("at Idle\n timer.0 !tim.1\n", 5, 11, "the model has no variable tim");
    is("at Idle\n timer.0 !timer.4\n", 5, 16, "timer has only 4 bits, from 0");
    is(
        "at Idle\n timer\n",
        5,
        7,
        "expected `.` and the number of a bit, found the end of the line",
    );
    is("at Idle\n timer.x\n", 5, 7, "expected `.` and the number of a bit, found `.x`");
    is("at Idle\n ! timer.1\n", 5, 3, "expected a variable right after `!`, found ` `");
    is(
        "timer.1\n",
        4,
        1,
        "expected `property`, `bind`, `pass`, `term`, `at` or `end`, found `timer.1`",
    );
    is("property \"never late\n", 4, 10, "this quotation is not closed");
    is("property \"never late\"x\n", 4, 22, "expected a blank after the name, found `x`");
    is("property \"\\n\"\n", 4, 11, "expected `\\\"`, `\\\\` or `\\u{…}`, found `\\\\`");
    is(
        "property \"never late\"#2\n",
        4,
        10,
        "the model has 1 times property \"never late\", not more",
    );
    is("bind limit = x\n", 4, 14, "expected a number from 0 to 15, found `x`");
    is("bind limit 3\n", 4, 12, "expected `=`, found `3`");
    is("at Idle\n never timer.0\n", 5, 8, "expected the end of the line, found `timer.0`");
    is("end\nend\n", 5, 1, "expected nothing after `end`, found `end`");
    is(
        "at Idle\n  never",
        5,
        8,
        "the file ends here; expected `property`, `bind`, `pass`, `term`, `at`, `end`, or literals of a clause",
    );
    let first = |text: &str| fault(certificate::parse(&cfa, text)).2;
    let version = "version 3 of this format; this program reads 2";
    assert_eq!(first("vouch-certificate 3\nanything"), version);
    assert_eq!(first(""), "the file ends here; expected `vouch-certificate 2`");
    assert_eq!(first("vouch-trace 1"), "expected `vouch-certificate 2`, found `vouch-trace`");
    let error = certificate::parse(&cfa, "vouch-certificate 3").unwrap_err();
    assert_eq!(error.kind, ParseErrorKind::Version);

    let head = "vouch-trace 1\nmodel timer\nsource unknown\nproperty \"never late\"\n";
    let at = |body: &str| fault(trace::parse(&cfa, &format!("{head}{body}")));
    let edge = "no edge of the model leads from Idle to Idle";
    assert_eq!(at("step Idle -> Idle\n"), (5, 14, edge.to_string()));
    let edge = "edges from Idle to Charge are numbered #1 to #1";
    assert_eq!(at("step Idle -> Charge #2\n"), (5, 21, edge.to_string()));
    let late = "expected `input`, `step` or `end`, found `var`";
    assert_eq!(at("step Idle -> Charge\nvar timer = 1\n"), (6, 1, late.to_string()));
    let mode = "expected one of `Open`, `Pre charge`, `Closed`, found `Shut`";
    assert_eq!(at("var contactor.mode = Shut\n"), (5, 22, mode.to_string()));
    let shown = certificate::parse(&cfa, "vouch-certificate 2\nmodel timer\nsource sha1:é x\n");
    let expected = "line 3, column 8: expected `sha256:` and 64 hexadecimal digits, or `unknown`, \
                    found `sha1:é`\n 3 | source sha1:é x\n   |        ^^^^^^";
    assert_eq!(shown.unwrap_err().to_string(), expected);
}

#[test]
fn what_is_not_of_the_model_is_not_written() {
    let cfa = timer(false);
    let mut certificate = timer_certificate();
    certificate.clauses[0].lits[0].var = VarId(9);
    let error = certificate::write(&cfa, &certificate, None).unwrap_err();
    assert_eq!(error.to_string(), "variable 9 does not exist in the model timer");
    let mut trace = timer_trace();
    trace.steps[0].edge = EdgeId(9);
    assert!(trace::write(&cfa, &trace, None).is_err());
}
