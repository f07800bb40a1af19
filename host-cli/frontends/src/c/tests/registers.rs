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

/// What a device is given the address of may be anything, and what is beside it is not.
#[test]
fn a_device_may_change_what_it_is_given_the_address_of() {
    let head = format!(
        "{HEAD}unsigned short buf[4]; struct {{ int n; unsigned char data[4]; int m; }} s; const int c[2] = {{ 1 }}; \
         extern void *volatile PTR; struct dma {{ volatile unsigned from, to; }}; \
         static void copy(struct dma *d, unsigned to) {{ d->to = to; }}\n\
         #include <stdlib.h>\n\
         struct list {{ struct list *next, *prev; }} queue = {{ &queue, &queue }}, one;\n\
         static void add(struct list *n, struct list *h) {{ n->prev = h->prev; n->next = h; h->prev->next = n; h->prev = n; }}\n"
    );
    // Where a pointer leads is not seen at first sight, and not to a device; that it leads nowhere is no device, either.
    let null = "long n = strtol((char *)buf, 0, 10); return n;";
    let list =
        "add(&one, &queue); return (queue.next == &one) * 4 + (queue.next->next == &queue) * 2;";
    for (step, expected) in [
        ("OUT = (unsigned)buf; return buf[1];", 7),
        ("PORT->out = (unsigned)&buf[0]; buf[2] = 3; return buf[2];", 7),
        ("PTR = buf; return buf[1];", 7),
        ("copy((struct dma *)0x40030000, (unsigned)buf + 2); return buf[1];", 7),
        ("OUT = (unsigned)s.data; s.n = 3; s.m = 4; return s.n * 100 + s.m * 10 + s.data[2];", 347),
        ("OUT = (unsigned)&s; s.m = 3; return s.m;", 7),
        ("int x[2] = { 1 }; OUT = (unsigned)x; return x[0];", 7),
        ("OUT = (unsigned)c; return c[0];", 1),
        ("struct dma d = { 0, (unsigned)buf }; OUT = (unsigned)&d; return buf[3];", 7),
        ("buf[1] = 5; OUT = buf[1]; OUT = (unsigned)buf & 3; s.m = 2; return s.m;", 2),
        ("struct dma d; copy(&d, (unsigned)buf); return buf[1];", 0),
        (list, 6),
        (null, 0),
    ] {
        let text = format!("{head}int main(void) {{ {step} }}");
        let compiled = compile(&text, &options("main")).unwrap();
        let ended = run(&compiled.cfa, 7, 1000);
        assert_eq!((&*ended.location, ended.values["main::result"]), ("end", expected), "{step}");
        let warned = compiled.warnings.iter().any(|w| w.message.contains("is given to a device"));
        assert!(warned || step.starts_with("OUT = (unsigned)c") || expected < 7, "{step}");
        assert!(!warned || ![list, null].contains(&step));
    }
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
