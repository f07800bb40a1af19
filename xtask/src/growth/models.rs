//! Models that grow in one direction at a time.
//!
//! In each family the proof has to say something of every part that is added, so that nobody gets away with cutting
//! parts off. What is added is as simple as it can be: what is measured is the cost of more, not of harder.

use std::fmt::Write as _;

/// Models of one kind in several sizes.
pub struct Family {
    /// What it is called in the record.
    pub name: &'static str,
    /// What a size counts.
    pub unit: &'static str,
    /// From small to a hundred times as large.
    pub sizes: &'static [u32],
    /// The model of a size, in our language.
    pub model: fn(u32) -> String,
}

/// What grows: control states, bits of the state, machines, properties.
pub const FAMILIES: [Family; 4] = [
    Family {
        name: "states",
        unit: "states",
        sizes: &[4, 10, 20, 40, 100, 200, 400],
        model: states,
    },
    Family {
        name: "bits",
        unit: "stages of 8 bits",
        sizes: &[1, 2, 5, 10, 20, 50, 100],
        model: bits,
    },
    Family {
        name: "machines",
        unit: "machines",
        sizes: &[2, 4, 10, 20, 40, 100, 200],
        model: machines,
    },
    Family {
        name: "properties",
        unit: "properties",
        sizes: &[1, 2, 5, 10, 20, 50, 100],
        model: properties,
    },
];

/// A ring of states, in each of which one number follows another.
fn states(count: u32) -> String {
    let mut text = String::from(
        "machine ring {\n    input go: bool;\n    var low: u4 = 0;\n    var high: u4 = 0;\n\n",
    );
    for at in 0..count {
        let initial = if at == 0 { "initial " } else { "" };
        // States that are alike would be made one.
        let (limit, next) = ((at * 11 + 3) % 14 + 1, (at + 1) % count);
        let _ = writeln!(
            text,
            "    {initial}state S{at} {{\n        on go && low < high {{ low += 1; }}\n        \
             on go && high < {limit} -> S{next} {{ high += 1; }}\n        on !go && low > 0 -> S{next} {{ low -= 1; }}\n    }}"
        );
    }
    text + "    property ordered: always low <= high;\n}\n"
}

/// A pipeline that hands two numbers on from stage to stage, the first not above the second.
fn bits(stages: u32) -> String {
    let last = stages - 1;
    let mut text = format!(
        "machine pipeline {{
    input low: u4;
    input high: u4 where low <= high;
    var lows: [u4; {stages}] = [0; {stages}];
    var highs: [u4; {stages}] = [0; {stages}];

    initial state Run {{
        on true {{
"
    );
    for at in (1..stages).rev() {
        let _ = writeln!(
            text,
            "            lows[{at}] = lows[{0}];\n            highs[{at}] = highs[{0}];",
            at - 1
        );
    }
    text + &format!(
        "            lows[0] = low;
            highs[0] = high;
        }}
    }}
    property ordered: always lows[{last}] <= highs[{last}];
}}
"
    )
}

/// Machines that hand a token on, each of which works only while it has it; neighbours never work at once.
fn machines(count: u32) -> String {
    let mut text = String::from("var token: u8 = 0;\n\n");
    for at in 0..count {
        let next = (at + 1) % count;
        let _ = writeln!(
            text,
            "machine m{at} {{\n    input go: bool;\n    var works: bool = false;\n    initial state Run {{\n        \
             on go && token == {at} && !works {{ works = true; }}\n        \
             on !go && token == {at} {{ works = false; token = {next}; }}\n    }}\n}}\n"
        );
    }
    let names: Vec<String> = (0..count).map(|at| format!("m{at}")).collect();
    let pairs: Vec<String> =
        (0..count).map(|at| format!("!(m{at}.works && m{}.works)", (at + 1) % count)).collect();
    let _ = writeln!(
        text,
        "system ring = interleave({});\n\nproperty one_at_a_time: always {};",
        names.join(", "),
        pairs.join("\n    && ")
    );
    text
}

/// Independent pairs of numbers, each with a property of its own.
fn properties(count: u32) -> String {
    let mut text = format!(
        "machine pairs {{
    input go: [bool; {count}];
    var low: [u3; {count}] = [0; {count}];
    var high: [u3; {count}] = [0; {count}];

    initial state Run {{
        on true {{
            for i: u8 in 0..{count} {{
                if go[i] && low[i] < high[i] {{ low[i] += 1; }}
                else if go[i] && high[i] < 7 {{ high[i] += 1; }}
                else if !go[i] && low[i] > 0 {{ low[i] -= 1; }}
            }}
        }}
    }}
"
    );
    for at in 0..count {
        let _ = writeln!(text, "    property ordered{at}: always low[{at}] <= high[{at}];");
    }
    text + "}\n"
}
