//! As a test in Rust.

use super::{Input, Story, list, shown};

fn ty(width: u32, signed: bool) -> &'static str {
    match (width, signed) {
        (1, _) => "bool",
        (8, false) => "u8",
        (8, true) => "i8",
        (16, false) => "u16",
        (16, true) => "i16",
        _ => "u32",
    }
}

/// A name for a test.
fn identifier(text: &str) -> String {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    let words: Vec<String> = words.map(str::to_ascii_lowercase).collect();
    format!("no_{}", words.join("_"))
}

/// A Rust test that repeats the run: calls with stubs for the inputs.
pub fn write(story: &Story) -> String {
    let mut text = format!(
        "// A run that breaks `{}`, found by vouch in the linked program. Put it into the crate of the program, in\n\
         // place of what reads inputs there. The test panics as long as the failure is there.\n",
        story.property
    );
    let others = story.others();
    if !others.is_empty() {
        text += "//\n// The run reads this, too, which is up to you here:\n";
        others.iter().for_each(|other| text += &format!("// - {other}\n"));
    }
    text += "\nmod run {\n    unsafe extern \"C-unwind\" {\n";
    for (name, arguments) in story.called() {
        let arguments: Vec<String> = (0..arguments).map(|n| format!("a{n}: u32")).collect();
        text += &format!("        pub fn {name}({});\n", arguments.join(", "));
    }
    text += "    }\n\n";
    for Input { name, width, signed, values, .. } in &story.inputs {
        let ty = ty(*width, *signed);
        let value = |v: &u32| match width {
            1 => (*v & 1 == 1).to_string(),
            _ => shown(*v, *width, *signed),
        };
        let values = match values.is_empty() {
            true => String::new(),
            false => format!(
                "\n            {},\n        ",
                list(values.iter().map(value), "            ")
            ),
        };
        text += &format!(
            "    #[unsafe(no_mangle)]\n    extern \"C-unwind\" fn {name}() -> {ty} {{\n        \
             static AT: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);\n        \
             const VALUES: &[{ty}] = &[{values}];\n        \
             let at = AT.fetch_add(1, std::sync::atomic::Ordering::Relaxed);\n        \
             *VALUES.get(at).expect(\"the run reads no more than this\")\n    }}\n\n"
        );
    }
    if story.has("vouch_fail") {
        text += "    #[unsafe(no_mangle)]\n    extern \"C-unwind\" fn vouch_fail() -> ! {\n        \
                 panic!(\"vouch_fail is called\")\n    }\n";
    }
    text += &format!("}}\n\n#[test]\nfn {}() {{\n", identifier(&story.property));
    for (name, arguments, count) in story.calls() {
        let values: Vec<String> = arguments.iter().map(u32::to_string).collect();
        let call = format!("unsafe {{ run::{name}({}) }}", values.join(", "));
        text += &match count {
            1 => format!("    {call};\n"),
            _ => format!("    for _ in 0..{count} {{\n        {call};\n    }}\n"),
        };
    }
    text + "}\n"
}
