//! Registers of which a description says what they do.

use super::{compile, options, run};
use crate::Options;
use crate::limits;
use std::io::Write;

const DESCRIPTION: &str = "PORT.OUT 0x40020014 32 keeps 5\nPORT.FLAGS 0x40020018 32 clears 9\n\
    PORT.IN 0x40020010 32 read-only\nPORT.WIDE 0x40020020 16 keeps\n";

const HEAD: &str = "struct port { volatile unsigned pad[4], in, out, flags; };\n\
    #define PORT ((struct port *)0x40020000)\n#define OUT (*(volatile unsigned *)0x40020014)\n\
    #define FLAGS (*(volatile unsigned *)0x40020018)\n#define WIDE (*(volatile unsigned short *)0x40020020)\n";

fn described(text: &str) -> (tempfile::NamedTempFile, Options) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    let mut options = options("main");
    options.c.registers = vec![file.path().to_str().unwrap().into()];
    (file, options)
}

#[test]
fn registers_do_what_is_said_of_them() {
    let programs = [
        ("int main(void) { return OUT; }", 5),
        ("int main(void) { OUT = 3; return OUT; }", 3),
        ("int main(void) { PORT->out = 3; return OUT + PORT->out; }", 6),
        ("int main(void) { PORT->out |= 8; return OUT; }", 13),
        // Through a pointer that is not a constant.
        (
            "void set(struct port *p, unsigned v) { p->out = v; } unsigned any(void);\n\
             int main(void) { struct port *p = any() == 7 ? PORT : 0; set(p, 3); return OUT; }",
            3,
        ),
        ("int main(void) { unsigned a = FLAGS, b = FLAGS; return a * 16 + b; }", 0x90),
        ("int main(void) { unsigned a = PORT->flags; FLAGS = 2; return a * 16 + FLAGS; }", 0x92),
        // A part of it, and others that give any value.
        ("int main(void) { ((volatile unsigned char *)0x40020014)[1] = 1; return OUT; }", 0x105),
        ("int main(void) { PORT->in = 3; return PORT->in; }", 7),
        ("int main(void) { WIDE = 0x1234; return *(volatile unsigned char *)0x40020021; }", 0x12),
    ];
    let (_file, options) = described(DESCRIPTION);
    for (text, expected) in programs {
        let compiled = compile(&format!("{HEAD}{text}"), &options).unwrap();
        let ended = run(&compiled.cfa, 7, 1000);
        assert_eq!(ended.location, "end", "{text}");
        assert_eq!(ended.values["main::result"], expected, "{text}");
    }
    // Half of a register together with its neighbour.
    let text = "int main(void) { return *(volatile unsigned *)0x40020020; }";
    let compiled = compile(&format!("{HEAD}{text}"), &options).unwrap();
    assert_eq!(run(&compiled.cfa, 7, 1000).location, format!("error {}", limits::MEMORY));
}

#[test]
fn registers_are_called_as_described() {
    let (_file, options) = described(DESCRIPTION);
    let text = format!("{HEAD}int main(void) {{ OUT = PORT->in; return PORT->pad[1]; }}");
    let cfa = compile(&text, &options).unwrap().cfa;
    assert!(cfa.inputs.iter().any(|i| i.name == "PORT.IN"), "{:?}", cfa.inputs);
    assert!(cfa.inputs.iter().any(|i| i.name == "reg_0x40020004"), "{:?}", cfa.inputs);
    assert!(cfa.vars.iter().any(|v| v.name == "PORT.OUT"));
}

#[test]
fn what_is_wrong_with_a_description_is_told() {
    let (file, options) = described("A 0x40020014 32 keeps\nB 0x40020018 32 forgets\n");
    let error = compile("int main(void) { return 0; }", &options).unwrap_err();
    let path = file.path().to_str().unwrap();
    assert!(error[0].message.starts_with(&format!("{path}:2: `forgets`")), "{}", error[0].message);
}

#[test]
fn accesses_of_no_use_are_warned_of() {
    let (_file, options) = described(&format!("{DESCRIPTION}PORT.SET 0x4002001c 32 write-only\n"));
    let warnings = |body: &str| -> Vec<String> {
        let text = format!(
            "{HEAD}#define SET (*(volatile unsigned *)0x4002001c)\nint main(void) {{ {body} }}"
        );
        let found = compile(&text, &options).unwrap().warnings.into_iter();
        found.map(|w| w.message).filter(|m| m.contains("-only")).collect()
    };
    assert_eq!(warnings("SET = 1; OUT |= 1; return PORT->in;"), [""; 0]);
    assert_eq!(
        warnings("PORT->in = 1; return 0;"),
        ["`PORT.IN` is read-only: what is written is lost"]
    );
    assert_eq!(
        warnings("SET |= 1; return 0;"),
        ["`PORT.SET` is write-only: a read may give any value"]
    );
}
