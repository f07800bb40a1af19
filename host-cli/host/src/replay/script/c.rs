//! As a C program.

use super::{Input, Story, list, shown};
use std::fmt::Write;

fn ty(width: u32, signed: bool) -> &'static str {
    match (width, signed) {
        (1, _) => "bool",
        (8, false) => "uint8_t",
        (8, true) => "int8_t",
        (16, false) => "uint16_t",
        (16, true) => "int16_t",
        _ => "uint32_t",
    }
}

/// A C program that repeats the run: calls with stubs for the inputs.
pub fn write(story: &Story) -> String {
    let mut text = format!(
        "// A run that breaks `{}`, found by vouch in the linked program. Compile it together with the program's\n\
         // sources, in place of what reads inputs there:\n//\n//     cc run.c pump.c && ./a.out\n//\n\
         // It aborts as long as the failure is there.\n",
        story.property
    );
    let others = story.others();
    if !others.is_empty() {
        text += "//\n// The run reads this, too, which is up to you here:\n";
        others.iter().for_each(|other| text += &format!("// - {other}\n"));
    }
    text +=
        "#include <stdbool.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n\n";
    for (name, arguments) in story.called() {
        let arguments = match arguments {
            0 => "void".to_string(),
            count => vec!["uint32_t"; count].join(", "),
        };
        text += &format!("void {name}({arguments});\n");
    }
    text.push('\n');
    for Input { name, width, signed, values, .. } in &story.inputs {
        let ty = ty(*width, *signed);
        let returned = match values.is_empty() {
            true => {
                "    fputs(\"the run reads nothing here\\n\", stderr);\n    exit(2);\n".to_string()
            }
            false => format!(
                "    static const {ty} values[] = {{\n        {},\n    }};\n    static unsigned at;\n    \
                 if (at == sizeof values / sizeof *values) {{\n        \
                 fputs(\"{name}: the run reads no more than this\\n\", stderr);\n        exit(2);\n    }}\n    \
                 return values[at++];\n",
                list(values.iter().map(|v| shown(*v, *width, *signed)), "        ")
            ),
        };
        // Writing to a string cannot fail.
        let _ = write!(text, "{ty} {name}(void) {{\n{returned}}}\n\n");
    }
    if story.has("vouch_fail") {
        text += "void vouch_fail(void) {\n    fputs(\"vouch_fail is called\\n\", stderr);\n    abort();\n}\n\n";
    }
    text += "int main(void) {\n";
    for (name, arguments, count) in story.calls() {
        let values: Vec<String> = arguments.iter().map(|v| format!("{v}u")).collect();
        let call = format!("{name}({});", values.join(", "));
        text += &match count {
            1 => format!("    {call}\n"),
            _ => format!("    for (int i = 0; i < {count}; i++) {call}\n"),
        };
    }
    text + "    fputs(\"no failure\\n\", stderr);\n    return 0;\n}\n"
}
