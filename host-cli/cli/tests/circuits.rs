//! Circuits as models, and models as circuits.

use super::cli::pump;

/// A latch that toggles while `go` is given; a counter that is bad at 5.
const TOGGLE: &str = "aag 3 1 1 0 1 1\n2\n4 6\n4\n6 5 2\ni0 go\nl0 on\nb0 never_on\n";
const STAYS: &str = "aag 2 1 1 0 0 1\n2\n4 4\n4\nl0 on\nb0 never_on\n";
const COUNTER: &str = "1 sort bitvec 4\n2 zero 1\n3 state 1 count\n4 init 1 3 2\n5 one 1\n\
                       6 add 1 3 5\n7 next 1 3 6\n8 constd 1 5\n9 sort bitvec 1\n10 eq 9 3 8\n\
                       11 bad 10 five\n";

#[test]
fn circuits_are_checked_and_their_witnesses_written() {
    let place = pump();
    place.write("toggle.aag", TOGGLE);
    place.write("stuck.aag", STAYS);
    place.write("counter.btor2", COUNTER);
    let run = place.run(&["check", "toggle.aag", "--witness", "toggle.cex"]).ended(1);
    assert!(run.out.contains("never_on"), "{}", run.out);
    let lines = String::from_utf8(place.bytes("toggle.cex")).unwrap();
    assert!(lines.starts_with("1\nb0\n0\n1\n"), "{lines}");
    place.run(&["check", "stuck.aag", "--witness", "proof.aag"]).ended(0);
    // A proof is a circuit, and safe.
    place.run(&["check", "proof.aag"]).ended(0);
    let run = place.run(&["check", "counter.btor2", "--json", "--witness", "counter.wit"]).ended(1);
    assert_eq!(run.json()["property"], "five");
    let text = String::from_utf8(place.bytes("counter.wit")).unwrap();
    assert!(text.starts_with("sat\nb0\n#0\n@0\n") && text.ends_with("@5\n.\n"), "{text}");
    // The model's own language has no such formats.
    let run = place.run(&["check", "pump.vch", "--witness", "x"]).ended(2);
    assert!(run.err.contains("not a C program, AIGER or BTOR2 circuit"), "{}", run.err);
    place.write("bad.btor2", "1 sort bitvec 4\n2 frob 1\n");
    let run = place.run(&["check", "bad.btor2"]).ended(2);
    assert!(run.err.contains("bad.btor2:2:3") && run.err.contains("frob"), "{}", run.err);
}

#[test]
fn models_are_exported_and_read_again() {
    let place = pump();
    let broken = |file: &str| {
        let run = place.run(&["check", file, "--json"]).ended(1).json();
        let verdicts = run["properties"].as_array().unwrap().iter();
        verdicts.map(|p| p["verdict"].as_str().unwrap().to_string()).collect::<Vec<_>>()
    };
    for file in ["pump.aag", "pump.aig", "pump.btor2"] {
        place.run(&["export", "pump.vch", "-o", file]).ended(0);
        assert_eq!(broken(file), ["unsafe", "safe"], "{file}");
    }
    place.run(&["export", "pump.vch", "--property", "bounded", "-o", "one.aig"]).ended(0);
    place.run(&["check", "one.aig", "--engine", "ic3"]).ended(0);
    // An image of a binary circuit, whose source it does not carry.
    place.run(&["compile", "pump.aig", "-o", "pump.vimg"]).ended(0);
    assert_eq!(broken("pump.vimg"), ["unsafe", "safe"]);
    let clauses = place.run(&["export", "pump.vch", "--to", "smt2"]).ended(0).out;
    assert!(clauses.contains("(set-logic HORN)") && clauses.ends_with("(check-sat)\n"));
    assert!(place.run(&["export", "pump.vch", "--to", "dot"]).ended(0).out.starts_with("digraph"));
    let run = place.run(&["export", "pump.vch"]).ended(2);
    assert!(run.err.contains("--to"), "{}", run.err);
    let run = place.run(&["export", "pump.vch", "-o", "pump.vch", "--to", "btor2"]).ended(2);
    assert!(run.err.contains("is an input"), "{}", run.err);
}
