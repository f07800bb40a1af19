//! What firmware has besides C: sections, fixed addresses, kernels, drivers and ways to disable interrupts.

use super::language::{cfa, refused};
use super::{compile, options, run};
use crate::{Compiled, Options, limits};
use std::collections::{BTreeSet, HashSet};
use vouch_ir::{Cfa, EdgeId, Expr, InputId, LocId, Word, eval};

/// What memory holds before anything is written.
const MEMORY: u128 = 0x5a5a_5a5a;

/// What `main` returns when all inputs are 7.
fn result(text: &str) -> u128 {
    let ended = run(&cfa(text, &options("main")), 7, 10_000);
    assert_eq!(ended.location, "end", "{text}");
    ended.values["main::result"]
}

fn warns(compiled: &Compiled, of: &str) -> bool {
    compiled.warnings.iter().any(|w| w.message.contains(of))
}

#[test]
fn sections_tell_what_variables_begin_with() {
    let kept = [
        ".noinit",
        ".noinit.log",
        ".uninit",
        ".bss.noinit",
        ".persist",
        ".retained.x",
        ".NOLOAD",
        ".bkpsram",
    ];
    for section in kept {
        let text = format!(
            "int x __attribute__((section(\"{section}\"))); int main(void) {{ return x; }}"
        );
        assert_eq!(result(&text), MEMORY, "{section}");
        assert!(!warns(&compile(&text, &options("main")).unwrap(), "start-up"));
    }
    let section = |name: &str| format!("__attribute__((section(\"{name}\")))");
    let (noinit, own) = (section(".noinit"), section(".ccmram"));
    for (declaration, expected) in [
        (format!("int x {noinit} = 3;"), MEMORY),
        (format!("{noinit} static int x;"), MEMORY),
        (format!("extern int x {noinit}; int x;"), MEMORY),
        ("__no_init int x;".into(), MEMORY),
        (format!("int *{noinit} p;\n#define x (int)(p != 0)\n"), 1),
        ("int x @ \".noinit\";".into(), MEMORY),
        ("__no_init volatile int x @ 0x20000100;".into(), MEMORY),
        (format!("int x {} = 3;", section(".data.$RAM2")), 3),
        (format!("int x {};", section(".bss.buffers")), 0),
        (format!("const int x {} = 3;", section(".version")), 3),
        // Nobody knows.
        (format!("int x {own} = 3;"), 7),
        (format!("struct {{ char c; int x; }} s {own};\n#define x s.x\n"), 7),
        ("int x __attribute__((at(0x20001000)));".into(), 7),
    ] {
        let text = format!("{declaration} int main(void) {{ return x; }}");
        assert_eq!(result(&text), expected, "{declaration}");
        let compiled = compile(&text, &options("main")).unwrap();
        assert_eq!(warns(&compiled, "start-up"), expected == 7, "{declaration}");
        assert_eq!(compiled.cfa.approximate.is_empty(), expected != 7, "{declaration}");
    }
    let text = format!("int main(void) {{ static int x {noinit}; return x; }}");
    assert_eq!(result(&text), MEMORY);
    // It is memory: what is written stays.
    let text = format!("volatile int x {noinit}; int main(void) {{ x = 3; return x; }}");
    assert_eq!(result(&text), 3);
}

#[test]
fn a_variable_at_the_address_of_a_device_is_a_register() {
    for declaration in [
        "volatile unsigned x __attribute__((at(0x40020010)));",
        "volatile unsigned x __attribute__((section(\".ARM.__at_0x40020010\")));",
        "__no_init volatile unsigned x @ 0x40020010;",
        "volatile unsigned char x @ 0x20;",
    ] {
        assert_eq!(result(&format!("{declaration} int main(void) {{ x = 3; return x; }}")), 7);
    }
    let memory = "unsigned x __attribute__((at(0x20001000)));";
    assert_eq!(result(&format!("{memory} int main(void) {{ x = 3; return x; }}")), 3);
    let table = "const unsigned x[2] __attribute__((at(0x08004000))) = {1, 2};";
    assert_eq!(result(&format!("{table} int main(void) {{ return x[1]; }}")), 2);
    let number = format!("{memory} int main(void) {{ *(unsigned *)0x20001000 = 1; return x; }}");
    refused(&number, "uses addresses as numbers", "x");
    let two = format!("{memory} char c @ 0x20001003; int main(void) {{ c = 1; return x; }}");
    refused(&two, "lie at the same address", "c");
}

#[test]
fn who_disables_interrupts_learns_whether_they_were() {
    let step = "__enable_irq(); int a = __disable_irq(), b = __disable_irq(); return a * 2 + b;";
    assert_eq!(result(&format!("int main(void) {{ {step} }}")), 1);
    assert_eq!(result(&format!("int __disable_irq(void); int main(void) {{ {step} }}")), 1);
    let nothing =
        "void __disable_irq(void); int main(void) { __disable_irq(); return __get_PRIMASK(); }";
    assert_eq!(result(nothing), 1);
}

/// A program with handlers, or tasks.
fn with(handlers: &[&str], tasks: &[&str]) -> Options {
    let mut options = options("step");
    options.c.repeat = true;
    options.c.interrupts = handlers.iter().map(|name| (name.to_string(), 1)).collect();
    options.c.tasks = tasks.iter().map(ToString::to_string).collect();
    options
}

/// Whether a run breaks a property in which all inputs are 0 or 1, and what nobody knows here is `approximate`, if that is given.
fn breaks(cfa: &Cfa, property: &str, approximate: Option<Word>) -> bool {
    let Some(error) = cfa.properties.iter().find(|p| p.name == property).map(|p| p.error) else {
        return false;
    };
    let first: Vec<Word> = vec![0; cfa.vars.len()];
    let mut seen: HashSet<(LocId, Vec<Word>)> = HashSet::from([(cfa.init, first.clone())]);
    let mut todo = vec![(cfa.init, first)];
    while let Some((at, state)) = todo.pop() {
        for (number, edge) in cfa.edges.iter().enumerate().filter(|(_, e)| e.from == at) {
            let roots = edge.updates.iter().map(|u| u.1).chain([edge.guard]);
            let inputs: BTreeSet<InputId> = (cfa.pool.cone(roots).into_iter())
                .filter_map(|id| match cfa.pool.get(id) {
                    Expr::Input(input) => Some(input),
                    _ => None,
                })
                .collect();
            let free: Vec<InputId> = inputs
                .into_iter()
                .filter(|i| approximate.is_none() || !cfa.approximate.contains(i))
                .collect();
            assert!(free.len() < 12, "too many inputs at once");
            for choice in 0..1u32 << free.len() {
                let input = |id: InputId| match free.iter().position(|i| *i == id) {
                    Some(bit) => Word::from(choice >> bit & 1),
                    None => approximate.unwrap_or(0),
                };
                let Some(next) = eval::step(cfa, &state, EdgeId(number as u32), input) else {
                    continue;
                };
                if edge.to == error {
                    return true;
                }
                assert!(seen.len() < 200_000, "too many states");
                if seen.insert((edge.to, next.clone())) {
                    todo.push((edge.to, next));
                }
            }
        }
    }
    false
}

fn unsafe_with(text: &str, options: &Options) -> bool {
    breaks(&cfa(text, options), "reach_error", None)
}

const SHARED: &str = "void reach_error(void); static volatile unsigned char x, y; \
    static void both(void) { x = 1; if (y) reach_error(); x = 0; } void handler(void) { y = x; y = 0; } ";

/// A handler that sees the other one's half.
const PAIR: &str = "void reach_error(void); static volatile unsigned char a, b; \
    void handler(void) { if (a != b) reach_error(); } static void both(void) { a ^= 1; b ^= 1; } ";

#[test]
fn the_search_sees_handlers() {
    let options = with(&["handler"], &[]);
    assert!(unsafe_with(&format!("{PAIR} void step(void) {{ both(); }}"), &options));
    let masked = "__disable_irq(); both(); __enable_irq();";
    assert!(!unsafe_with(&format!("{PAIR} void step(void) {{ {masked} }}"), &options));
    assert!(!unsafe_with(&format!("{SHARED} void step(void) {{ both(); }}"), &options));
}

#[test]
fn what_was_disabled_before_stays_so() {
    let options = with(&["handler"], &[]);
    let step = |restore: &str| {
        format!("{PAIR} void step(void) {{ int was = __disable_irq(); both(); {restore} both(); }}")
    };
    assert!(unsafe_with(&step("if (!was) __enable_irq();"), &options));
    assert!(!unsafe_with(&step(""), &options));
}

#[test]
fn the_status_register_of_avr_disables_interrupts() {
    let options = with(&["handler"], &[]);
    let head = format!(
        "{PAIR}\n#define SREG (*(volatile unsigned char *)(0x3f + 0x20))\n#define cli() __asm__ __volatile__(\"cli\" ::: \"memory\")\n"
    );
    for (step, expected) in [
        ("unsigned char s = SREG; cli(); both(); SREG = s;", false),
        ("unsigned char s = SREG; cli(); SREG = s; both();", true),
        ("cli(); SREG |= 0x80; both();", true),
        ("SREG &= 0x7f; both(); __builtin_avr_sei();", false),
        ("cli(); unsigned char s = SREG; SREG = 0x80; SREG = s; both();", false),
        ("cli(); both(); asm volatile(\"sei\" ::: \"memory\");", false),
    ] {
        let text = format!("{head} void step(void) {{ {step} }}");
        assert_eq!(unsafe_with(&text, &options), expected, "{step}");
    }
    let named = format!(
        "{PAIR} extern volatile unsigned char SREG; void step(void) {{ unsigned char s = SREG; __builtin_avr_cli(); SREG = s; both(); }}"
    );
    assert!(unsafe_with(&named, &options));
    // XMEGA has it elsewhere, where others have something else.
    let elsewhere = |value: &str| {
        let at = "*(volatile unsigned char *)0x3f";
        let step = format!("unsigned char s = {at}; __builtin_avr_cli(); {at} = {value}; both();");
        compile(&format!("{PAIR} void step(void) {{ {step} }}"), &options).map(|_| ())
    };
    let error = elsewhere("s").unwrap_err();
    assert!(error[0].message.contains("XMEGA"), "{error:?}");
    assert_eq!(elsewhere("4"), Ok(()));
}

#[test]
fn assembly_that_is_not_known_is_refused() {
    let unknown = "int main(void) { __asm__ volatile(\"svc 3\"); return 0; }";
    let error = compile(unknown, &options("main")).unwrap_err();
    assert!(error[0].message.contains("inline assembly"), "{error:?}");
    // What these give nobody knows here.
    for asm in ["(\"mrs %0, ipsr\" : \"=r\"(x))", "(\"ssat %0, #8, %1\" : \"=r\"(x) : \"r\"(300))"]
    {
        let text = format!("int main(void) {{ int x; __asm__ volatile{asm}; return x; }}");
        assert_eq!(result(&text), 7, "{asm}");
        assert!(!cfa(&text, &options("main")).approximate.is_empty(), "{asm}");
    }
    let special =
        "int main(void) { register unsigned mask __asm__(\"primask\"); mask = 1; return 0; }";
    let error = compile(special, &options("main")).unwrap_err();
    assert!(error[0].message.contains("disables interrupts"), "{error:?}");
    assert_eq!(result("int main(void) { register int x __asm__(\"r4\") = 3; return x; }"), 3);
}

/// Whether interrupts are disabled then is for the program to know: both is looked at.
#[test]
fn names_that_mask_interrupts_are_no_proof() {
    let options = with(&["handler"], &[]);
    for (declarations, step) in [
        (
            "void vPortEnterCritical(void); void vPortExitCritical(void);",
            "vPortEnterCritical(); both(); vPortExitCritical();",
        ),
        (
            "void NVIC_DisableIRQ(int); void NVIC_EnableIRQ(int);",
            "NVIC_DisableIRQ(28); both(); NVIC_EnableIRQ(28);",
        ),
        (
            "static inline void __NVIC_DisableIRQ(int n) { *(volatile unsigned *)0xe000e180 = 1u << n; }",
            "__NVIC_DisableIRQ(28); both();",
        ),
        (
            "unsigned irq_lock(void); void irq_unlock(unsigned);",
            "unsigned key = irq_lock(); both(); irq_unlock(key);",
        ),
        ("void cli(void);", "cli(); both();"),
    ] {
        let text = format!("{declarations} {PAIR} void step(void) {{ {step} }}");
        let compiled = compile(&text, &options).unwrap();
        assert!(breaks(&compiled.cfa, "reach_error", Some(0)), "{step}");
        assert!(!breaks(&compiled.cfa, "reach_error", Some(1)), "{step}");
        assert!(warns(&compiled, "is not known here"), "{step}");
    }
    // Who is declared only may enable them.
    let text = format!(
        "void vPortExitCritical(void); {PAIR} void step(void) {{ __disable_irq(); vPortExitCritical(); both(); __enable_irq(); }}"
    );
    let found = cfa(&text, &options);
    assert!(breaks(&found, "reach_error", None));
    let other = format!(
        "void led(int); {PAIR} void step(void) {{ __disable_irq(); led(1); both(); __enable_irq(); }}"
    );
    assert!(
        !unsafe_with(&other, &options)
            && !warns(&compile(&other, &options).unwrap(), "is not known here")
    );
}

/// A handler may come while a function works that is declared only.
#[test]
fn a_handler_sees_what_is_done_to_what_was_given() {
    let options = with(&["handler"], &[]);
    let head =
        "void reach_error(void); void work(unsigned char *); static volatile unsigned char n, m;";
    for (text, expected) in [
        (
            "void handler(void) { if (n == 1) reach_error(); } void step(void) { work((unsigned char *)&n); n = 0; }",
            true,
        ),
        (
            "void handler(void) { if (m == 1) reach_error(); } void step(void) { work((unsigned char *)&n); }",
            false,
        ),
        // Between its accesses the handler has come twice.
        (
            "void handler(void) { if (n == 1) m++; n = 0; if (m == 2) reach_error(); } \
             void step(void) { m = 0; n = 0; work((unsigned char *)&n); n = 0; m = 0; }",
            true,
        ),
        // The handler calls it.
        (
            "void handler(void) { work((unsigned char *)&n); } void step(void) { n = 0; if (n) reach_error(); n = 0; }",
            true,
        ),
        // Disabled, it has done what it does.
        (
            "void handler(void) { if (n == 1) reach_error(); } \
             void step(void) { __disable_irq(); work((unsigned char *)&n); n = 0; __enable_irq(); }",
            false,
        ),
    ] {
        assert_eq!(unsafe_with(&format!("{head} {text}"), &options), expected, "{text}");
    }
    let known = "extern unsigned char n; unsigned char n; void reach_error(void); void other(void); \
                 void handler(void) { if (n == 1) reach_error(); } void step(void) { other(); n = 0; }";
    assert!(unsafe_with(known, &options));
}

#[test]
fn a_task_that_never_ends_is_refused() {
    let tasks = with(&[], &["b"]);
    let message = |text: &str, options: &Options| {
        compile(text, options).err().map(|errors| errors[0].message.clone())
    };
    let never = "never comes back";
    let program = |task: &str| {
        format!("void wait(void); int x, y; void step(void) {{ x = 1; }} void b(void) {{ {task} }}")
    };
    for task in ["for (;;) { x++; wait(); }", "while (1) if (x) y = 2;", "again: x++; goto again;"]
    {
        let found = message(&program(task), &tasks).unwrap_or_default();
        assert!(found.contains(never) && found.contains("`b`"), "{task}: {found}");
    }
    for task in ["while (x) y++;", "if (x) for (;;) ;", "exit(1);", "for (;;) if (x++ > 3) return;"]
    {
        assert_eq!(message(&program(task), &tasks), None, "{task}");
    }
    // What never comes back before the first step keeps everything from being run, too.
    let mut init = with(&[], &[]);
    init.c.init = Some("b".into());
    for repeat in [true, false] {
        init.c.repeat = repeat;
        let found = message(&program("for (;;) x++;"), &init).unwrap_or_default();
        assert!(found.contains(never), "{found}");
        assert_eq!(message(&program("x = 3;"), &init), None);
    }
    // A single function may run forever.
    assert_eq!(message("int x; void step(void) { for (;;) x++; }", &with(&[], &[])), None);
}

#[test]
fn a_task_that_lets_others_run_leaves_the_model() {
    let is_limit = |name: &str, options: &Options| {
        let text = format!(
            "void {name}(int); int x; void step(void) {{ {name}(3); x = 1; }} void b(void) {{ x = 2; }}"
        );
        let compiled = compile(&text, options).unwrap();
        let found = compiled.cfa.properties.iter().any(|p| p.name == limits::TASK);
        assert_eq!(found, warns(&compiled, "lets other tasks run"));
        found
    };
    let tasks = with(&[], &["b"]);
    assert!(
        is_limit("vTaskDelay", &tasks)
            && is_limit("osDelay", &tasks)
            && is_limit("k_msleep", &tasks)
    );
    assert!(!is_limit("HAL_Delay", &tasks) && !is_limit("vTaskDelay", &with(&[], &[])));
}

/// What hardware is given by a driver changes by itself.
#[test]
fn drivers_hand_buffers_on() {
    let head = "struct uart { int n; }; struct job { unsigned char *to; int n; }; void spi_start_dma(struct job *); \
        void HAL_UART_Receive_DMA(struct uart *, unsigned char *, unsigned short); \
        void HAL_UART_Transmit_DMA(struct uart *, unsigned char *, unsigned short); \
        void HAL_ADC_Start_DMA(struct uart *, unsigned *, unsigned); void HAL_DMA_Start_IT(struct uart *, unsigned, unsigned, unsigned); \
        void HAL_UART_Receive_IT(struct uart *, unsigned char *, unsigned short); struct uart u; \
        static unsigned char buf[4]; static unsigned words[2];\n";
    for (step, expected) in [
        ("HAL_UART_Receive_DMA(&u, buf, 4); buf[1] = 5; return buf[1];", 7),
        ("HAL_UART_Receive_IT(&u, buf + 1, 1); buf[1] = 5; return buf[1];", 7),
        ("HAL_ADC_Start_DMA(&u, words, 2); words[0] = 5; return words[0];", 7),
        ("HAL_DMA_Start_IT(&u, 0x40013804, (unsigned)buf, 4); buf[2] = 5; return buf[2];", 7),
        ("struct job j = { buf, 4 }; spi_start_dma(&j); buf[1] = 5; return buf[1];", 7),
        ("HAL_UART_Transmit_DMA(&u, buf, 4); buf[1] = 5; return buf[1];", 5),
        ("HAL_UART_Receive_IT(&u, 0, 0); u.n = 5; return u.n;", 5),
    ] {
        let text = format!("{head}int main(void) {{ {step} }}");
        assert_eq!(result(&text), expected, "{step}");
        let warned = warns(&compile(&text, &options("main")).unwrap(), "is given to a device");
        assert_eq!(warned, expected == 7, "{step}");
    }
    let mut nothing = options("main");
    nothing.c.declared_only = crate::c::DeclaredOnly::Nothing;
    let text = format!(
        "{head}int main(void) {{ buf[1] = 5; HAL_UART_Receive_DMA(&u, buf, 4); return buf[1]; }}"
    );
    assert_eq!(run(&cfa(&text, &nothing), 7, 1000).values["main::result"], 5);
}

#[test]
fn what_is_read_has_its_room() {
    let head = "#include <stdio.h>\n#include <unistd.h>\nchar line[9] = \"12 abc\", buf[4], word[8]; int x = 9, y = 9; \
        float f; struct { short a; signed char b; } s;\n";
    // With all inputs 1.
    for (step, expected) in [
        ("int n = scanf(\"%d\", &x); return n * 10 + x;", Some(11)),
        ("int n = sscanf(line, \"%d %d\", &x, &y); return n * 100 + x * 10 + y;", Some(119)),
        ("scanf(\"%hd\", &s.a); return s.a * 10 + s.b;", Some(10)),
        ("scanf(\"%3s\", buf); return buf[3] + buf[0] + buf[2];", Some(2)),
        ("scanf(\"%4s\", buf); return 0;", None),
        ("scanf(\"%s\", buf); return 0;", None),
        ("scanf(\"%3[a-z]\", buf + 1); return 0;", None),
        ("sscanf(line, \"%s\", word); return word[6];", Some(0)),
        ("sscanf(line, \"%s\", buf); return 0;", None),
        ("scanf(\"%4c\", buf); return buf[3];", Some(1)),
        ("scanf(\"%5c\", buf); return 0;", None),
        ("scanf(\"%*s%f\", &f); return f != 0;", Some(1)),
        ("scanf(\"%d\", (int *)(buf + 1)); return 0;", None),
        ("int n = fread(buf, 1, 4, stdin); return n * 10 + buf[0] + buf[1];", Some(11)),
        ("int n = read(0, buf, 4); return n * 10 + buf[0] + buf[1];", Some(11)),
    ] {
        let text = format!("{head}int main(void) {{ {step} }}");
        let ended = run(&cfa(&text, &options("main")), 1, 10_000);
        match expected {
            Some(expected) => assert_eq!(
                (&*ended.location, ended.values["main::result"]),
                ("end", expected),
                "{step}"
            ),
            None => assert_eq!(ended.location, format!("error {}", limits::MEMORY), "{step}"),
        }
    }
    // As many as are asked for may come.
    for step in
        ["fread(buf, 1, 5, stdin);", "fread(buf, 2, 3, stdin);", "read(0, buf, 5);", "gets(buf);"]
    {
        let text = format!("char *gets(char *);\n{head}int main(void) {{ {step} return 0; }}");
        let ended = run(&cfa(&text, &options("main")), 5, 10_000);
        assert_eq!(ended.location, format!("error {}", limits::MEMORY), "{step}");
    }
    let chosen = format!("{head}int main(void) {{ return scanf(x ? \"%d\" : line, &y); }}");
    let error = compile(&chosen, &options("main")).unwrap_err();
    assert!(error[0].message.contains("a format of `scanf`"), "{error:?}");
    // Others have such names, too.
    let own = "int read(int, unsigned short *, unsigned); int main(void) { unsigned short b[2] = {0}; read(1, b, 2); return b[1]; }";
    assert_eq!(result(own), 7);
}

#[test]
fn what_a_text_gives_is_not_known_here() {
    let is_certain = |call: &str| {
        let text = format!(
            "#include <stdio.h>\nvoid reach_error(void); void step(void) {{ int x = 0; {call} if (x == 1) reach_error(); }}"
        );
        let cfa = cfa(&text, &with(&[], &[]));
        assert!(breaks(&cfa, "reach_error", None), "{call}");
        breaks(&cfa, "reach_error", Some(0))
    };
    assert!(is_certain("scanf(\"%d\", &x);"));
    assert!(!is_certain("char t[4] = \"7\"; sscanf(t, \"%d\", &x);"));
}
