//! The formatter: it changes white space only, and nothing the second time.

use super::super::{format, lexer, parser};
use super::robust::RICH;
use super::*;
use proptest::prelude::*;
use std::path::Path;

/// All example models.
fn examples() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let mut files: Vec<_> = std::fs::read_dir(folder).unwrap().map(|f| f.unwrap().path()).collect();
    files.retain(|f| f.extension().is_some_and(|e| e == "vch"));
    files.sort();
    assert!(files.len() > 30);
    let read = |f: &std::path::PathBuf| std::fs::read_to_string(f).unwrap();
    files.iter().map(|f| (f.display().to_string(), read(f))).collect()
}

/// The syntax tree without places.
fn tree(text: &str) -> String {
    let mut errors = vec![];
    let tokens = lexer::lex(text, &mut errors);
    let tree = format!("{:?}", parser::parse(text, &tokens, &mut errors));
    assert!(errors.is_empty(), "{}\n{text}", render(&source(text), &errors));
    let mut parts = tree.split("Span { start: ");
    let mut out = parts.next().unwrap().to_owned();
    for part in parts {
        out.push_str(part.split_once('}').unwrap().1);
    }
    out
}

#[track_caller]
fn formatted(text: &str) -> String {
    let once = format(text).unwrap_or_else(|e| panic!("{}", render(&source(text), &e)));
    assert_eq!(tree(text), tree(&once));
    let twice = format(&once).unwrap();
    assert_eq!(twice, once, "not the same the second time, from:\n{text}");
    assert!(!once.lines().any(|l| l.ends_with(' ')), "blanks at the end of a line:\n{once}");
    once
}

#[test]
fn the_examples_are_formatted() {
    for (path, text) in examples() {
        let formatted = formatted(&text);
        assert!(formatted == text, "run `vouch fmt` on {path}");
    }
}

#[test]
fn the_whole_language() {
    insta::assert_snapshot!(formatted(RICH));
}

#[test]
fn comments_blank_lines_and_odd_places() {
    let text = "\
/* head */


// second
const A=1 ;// a
const LONGER_NAME: u8=2;   // b
enum E{X,Y,
Z} ;
machine m{

  // first thing
  var x :u8=0;/* inside */ var y: [u8;2]=[ 1,2 ];


  property p:always(x<3)||!( y[0]>=1&&-1<0);   property q: when(x==1)then(x==2)within 3 steps;
  initial state S{ // trailing
    on x==1->T{x=x>2?1:0;  // why
    // own line
    } else{ if x==0{x+=1;}
    else if x==1{ x=2; } // behind
    else { let z=if x==1{2}else{3}; x=z; } }

  }
  state T;   // nothing happens
  fn f()->u8 { if x==1 { 3 } else { 4 } }
  state U { choose{ on true->S;on x==1{choose{x=1;}or{x=2;}} } else -> T ; }
  fn g(){ }  fn long() { let some_name = 1u8 + 2 + 3; let another_name = some_name * some_name; x = another_name; }
}
// the end";
    insta::assert_snapshot!(formatted(text));
}

#[test]
fn continued_lines_stay_continued() {
    let text = "const T: [u8; 4] = [\n1, 2,\n3, 4,\n];\nfn f(a: bool,\nb: bool) -> bool {\na &&\n(b\n|| a)\n}\n\
                property p: when f(true, false)\nthen true\nwithin 2 steps;\n";
    insta::assert_snapshot!(formatted(text));
}

#[test]
fn outputs_look_like_variables() {
    let text =
        "machine m{ var a:u8=0;output   led : bool=false ; initial state S{ else{ led=a>0; } } }";
    let lines: Vec<String> = formatted(text).lines().map(|l| l.trim().to_string()).collect();
    assert_eq!(lines[1..3], ["var a: u8 = 0;", "output led: bool = false;"]);
}

#[test]
fn requirements_stand_in_brackets_behind_the_name() {
    let text =
        "var x:u8=0; property p[ REQ-12,SYS.4.2#b ]:never x+-1>3; machine m{ initial state S; }";
    let text = formatted(text);
    assert!(text.contains("property p [REQ-12, SYS.4.2#b]: never x + -1 > 3;"), "{text}");
}

#[test]
fn what_cannot_be_read_is_refused() {
    let errors = format("machine m { state S { on x -> } var y u8; }").unwrap_err();
    assert!(errors.len() >= 2, "{errors:?}");
    assert_eq!(format("").unwrap(), "");
    assert_eq!(formatted("\u{feff}// a\r\nconst A = 1;\r\n"), "// a\nconst A = 1;\n");
}

/// The text with other white space, and comments, between its tokens.
fn mangled(text: &str, gaps: &[u8]) -> String {
    let mut errors = vec![];
    let mut out = String::new();
    let mut at = 0;
    for (i, token) in lexer::lex(text, &mut errors).iter().enumerate() {
        let (start, end) = (token.span.start as usize, token.span.end as usize);
        let gap = &text[at..start];
        match gaps[i % gaps.len()] {
            _ if gap.contains("//") || gap.contains("/*") => out.push_str(gap),
            0 => out.push(' '),
            1 => out.push('\n'),
            2 => out.push_str(" \n\n\n\t"),
            3 => out.push_str(" // c\n"),
            4 => out.push_str("\n // own line  \n"),
            5 => out.push_str(" /* c */ "),
            6 => out.push_str(" /* two\n lines */\n"),
            7 => out.push_str("\n\n/* a */ // b\n\n"),
            8..60 => out.push(' '),
            _ => out.push_str(if gap.is_empty() && i > 0 { "" } else { gap }),
        }
        out.push_str(&text[start..end]);
        at = end;
    }
    assert!(errors.is_empty());
    out
}

proptest! {
    #![proptest_config(fixed_seed())]

    #[test]
    fn mangled_texts_keep_their_meaning(gaps in prop::collection::vec(any::<u8>(), 1..400)) {
        formatted(&mangled(RICH, &gaps));
    }

    #[test]
    fn mangled_examples_keep_their_meaning(which in any::<usize>(), gaps in prop::collection::vec(any::<u8>(), 1..400)) {
        let all = examples();
        formatted(&mangled(&all[which % all.len()].1, &gaps));
    }

    /// Whatever can be read can be formatted.
    #[test]
    fn tokens_in_any_order(picks in prop::collection::vec((any::<usize>(), any::<usize>()), 0..4)) {
        let mut tokens = super::robust::tokens();
        for (a, b) in picks {
            let (a, b) = (a % tokens.len(), b % tokens.len());
            tokens.swap(a, b);
        }
        let text = tokens.join(" ");
        if let Ok(once) = format(&text) {
            prop_assert_eq!(format(&once), Ok(once.clone()));
        }
    }
}
