//! Several machines.

use super::*;

const PAIR: &str = "
    var shared: u4 = 0;
    machine left {
        var own: u4 = 0;
        initial state A { on shared < 15 { own = shared; } }
    }
    machine right {
        initial state X { on shared < 3 { shared = shared + 1; } else -> Y; }
        state Y { }
    }
    property p: never left.own == 3 && in right.X;
    property q: never left.own == 1 && shared == 1;
    property r: never in Y && left.own < 3;
    property s: never left.own == 3;
";

#[test]
fn machines_run_together_or_in_turns() {
    let with = |how: &str| explore(&compile(&format!("{PAIR} system both = {how};")).cfa, &[]);

    // Both see what was before: own lags one step behind.
    let sync = with("sync(left, right)");
    assert_eq!(sync["q"], None);
    assert_eq!(sync["s"], Some(6));
    assert_eq!(sync["p"], None);
    assert_eq!(sync["r"], None);

    // Right first: own is never behind.
    let sequence = with("sequence(right, left)");
    assert_eq!(sequence["q"], Some(3));
    assert_eq!(sequence["s"], Some(5));

    // In turns: left may be left behind.
    let interleave = with("interleave(left, right)");
    assert_eq!(interleave["q"], Some(4));
    assert_eq!(interleave["r"], Some(6));
}

#[test]
fn variables_are_named_after_their_machine() {
    let compiled = compile(&format!("{PAIR} system both = sync(left, right);"));
    let names: Vec<&str> = compiled.cfa.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["shared", "left.own"]);
    assert_eq!(compiled.cfa.name, "both");
    let locations: Vec<&str> = compiled.cfa.locations.iter().map(|l| l.name.as_str()).collect();
    assert_eq!(locations[..3], ["init", "A|X", "A|Y"]);
}

#[test]
fn machines_of_a_sync_do_not_share_choices() {
    let text = "
        fn toss() -> bool { any(bool) }
        machine a { var x: bool = false; initial state S { on true { x = toss(); } } }
        machine b { var x: bool = false; initial state S { on true { x = toss(); } } }
        system both = sync(a, b);
        property same: always a.x == b.x;
    ";
    assert_eq!(explore(&compile(text).cfa, &[])["same"], Some(3));
    let text = text.replace("sync", "sequence");
    assert_eq!(explore(&compile(&text).cfa, &[])["same"], Some(3));
}

#[test]
fn machines_see_each_others_states() {
    let text = "
        machine door {
            input open_it: bool;
            initial state Closed { on open_it && in lift.Stopped -> Open; }
            state Open { on !open_it -> Closed; }
        }
        machine lift {
            input go: bool;
            initial state Stopped { on go && in door.Closed -> Moving; }
            state Moving { on !go -> Stopped; }
        }
        system cabin = HOW;
        property shut: never in Moving && in Open;
    ";
    // Both decide on what they saw before the step: the classical race.
    let with = |how: &str| explore(&compile(&text.replace("HOW", how)).cfa, &[])["shut"];
    assert_eq!(with("sync(door, lift)"), Some(3));
    assert_eq!(with("sequence(door, lift)"), None);
    assert_eq!(with("interleave(door, lift)"), None);
}

#[test]
fn failures_of_one_machine_end_the_step_of_all() {
    let text = "
        machine a {
            var n: u2 = 0;
            var t: [bool; 2] = [false; 2];
            initial state S { on true { CHECK; n += 1; } }
        }
        machine b { var m: u2 = 0; initial state S { on true { m = a.n; } } }
        system both = HOW;
        property bounded: always m_of_b();
        fn m_of_b() -> bool { b.m < 3 }
    ";
    for how in ["sync(a, b)", "sequence(a, b)", "sequence(b, a)", "interleave(a, b)"] {
        let text = text.replace("HOW", how);
        let cfa = compile(&text.replace("CHECK", "t[n] = true")).cfa;
        let shortest = explore(&cfa, &[]);
        assert_eq!(shortest["index_in_range"], Some(4), "{how}");
        assert_eq!(shortest["bounded"], None, "{how}");
        let fatal: Vec<&str> =
            cfa.fatal.iter().map(|p| cfa.properties[p.index()].name.as_str()).collect();
        assert_eq!(fatal, ["index_in_range"], "{how}");
        // A claim that does not hold ends nothing.
        let shortest = explore(&compile(&text.replace("CHECK", "assert low: n < 2")).cfa, &[]);
        assert_eq!(shortest["low"], Some(4), "{how}");
        assert!(shortest["bounded"] > Some(4), "{how}");
    }
}
