//! The timer's counterexample, and what is not one.

use super::*;
use vouch_ir::Step;
use vouch_ir::sample::*;

#[test]
fn a_run_is_filled_in() {
    let run = replay(&timer(true), &timer_trace()).unwrap();
    let timers: Vec<Word> = run.states.iter().map(|s| s.values[0]).collect();
    assert_eq!(timers, [9, 0, 0, 1, 2, 7, 7]);
    let places: Vec<u32> = run.states.iter().map(|s| s.location.0).collect();
    assert_eq!(places, [0, 1, 2, 2, 2, 1, 3]);
    assert_eq!(run.steps[1].inputs, [(InputId(0), 1), (InputId(1), 3)]);
    assert_eq!(run.steps[2].inputs, []);
    assert!(run.states.iter().all(|s| s.values[1] == 2));
}

fn refused(change: impl Fn(&mut Trace)) -> String {
    let mut trace = timer_trace();
    change(&mut trace);
    replay(&timer(true), &trace).unwrap_err().to_string()
}

#[test]
fn what_is_no_run_is_refused() {
    let no = |expected: &str, change: &dyn Fn(&mut Trace)| assert_eq!(refused(change), expected);
    let end =
        "the run ends at Idle after 5 steps, not at \"late timer\", where \"never late\" is broken";
    no(end, &|t| drop(t.steps.pop()));
    let start =
        "the run ends at init after 0 steps, not at \"late timer\", where \"never late\" is broken";
    no(start, &|t| t.steps.clear());
    no("step 2 takes Charge -> Charge, but the run is at Idle", &|t| drop(t.steps.remove(1)));
    no("step 2 takes Idle -> Charge, whose guard is false there", &|t| t.steps[1].inputs[0].1 = 0);
    no("step 4 takes Charge -> Charge, whose guard is false there", &|t| t.initial[0].1 = 1);
    no("step 6 takes Idle -> \"late timer\", whose guard is false there", &|t| {
        t.steps[4].inputs.clear();
    });
    no("limit cannot be 7: outside the parameter's bounds", &|t| t.initial[0].1 = 7);
    no("limit cannot be 0: outside the parameter's bounds", &|t| t.initial[0].1 = 0);
    no("timer cannot be 16: it has 4 bits", &|t| t.initial[1].1 = 16);
    no("the trace gives timer twice", &|t| t.initial.push((VarId(0), 9)));
    no("the trace gives start twice in step 5", &|t| t.steps[4].inputs.push((InputId(0), 1)));
    no("add cannot be 4 in step 2: it has 2 bits", &|t| t.steps[1].inputs[1].1 = 4);
    no("the trace names edge 6, which the model does not have", &|t| {
        t.steps.push(Step { edge: EdgeId(6), inputs: vec![] });
    });
    no("the trace names input 2, which the model does not have", &|t| {
        t.steps[0].inputs.push((InputId(2), 0));
    });
    no("the trace names variable 3, which the model does not have", &|t| t.initial[0].0.0 = 3);
    no("the trace names property 1, which the model does not have", &|t| t.property.0 = 1);
}

#[test]
fn bindings_must_be_kept() {
    assert!(replay_bound(&timer(true), &timer_trace(), &[(VarId(1), 2)]).is_ok());
    let error = replay_bound(&timer(true), &timer_trace(), &[(VarId(1), 3)]).unwrap_err();
    assert_eq!(error.to_string(), "limit cannot be 2: it is bound to 3");
    assert!(replay(&timer(false), &timer_trace()).is_err());
}
