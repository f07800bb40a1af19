//! Blocks of the heap.

use super::language::{cfa, holds, refused};
use super::random::Random;
use super::{compile, options};
use crate::Options;
use crate::c::Checks;
use std::fmt::Write;
use vouch_ir::{Word, eval};

const DECLARATIONS: &str = "void *malloc(unsigned long); void *calloc(unsigned long, unsigned long); \
     void *realloc(void *, unsigned long); void free(void *); \
     struct node { int value; struct node *next; };";

fn checked() -> Options {
    let mut options = options("main");
    options.c.checks = Checks { bounds: true, null: true, ..Checks::default() };
    options
}

/// Where the run of `main` ends in which all inputs are this.
fn ends(text: &str, input: Word, options: &Options) -> String {
    let cfa = cfa(text, options);
    let ended = eval::run(&cfa, 0, &[input], 100_000).unwrap();
    cfa.locations[ended.at.index()].name.clone()
}

fn ends_checked(body: &str) -> String {
    let text = format!("{DECLARATIONS} int main(void) {{ {body} }}");
    ends(&text, 0, &checked())
}

#[test]
fn blocks_hold_what_is_stored() {
    holds(DECLARATIONS, "int *p = malloc(sizeof *p); *p = 7;", "*p == 7");
    holds(
        DECLARATIONS,
        "int *p = malloc(4), *q = malloc(4); *p = 7; *q = 9;",
        "*p == 7 && *q == 9 && p != q && p && q",
    );
    let list = "struct node *head = 0; int sum = 0; \
        for (int i = 1; i <= 5; i++) { struct node *n = malloc(sizeof *n); n->value = i; n->next = head; head = n; } \
        for (struct node *n = head; n; n = n->next) sum = sum * 10 + n->value;";
    holds(DECLARATIONS, list, "sum == 54321");
    holds(
        DECLARATIONS,
        "char *p = malloc(16); for (int i = 0; i < 16; i++) p[i] = i; int x = *(int *)(p + 4);",
        "x == 0x07060504",
    );
}

#[test]
fn types_are_seen_through_casts_and_calls() {
    let wrapper = format!(
        "{DECLARATIONS} void *get(unsigned n) {{ void *p = malloc(n); return p; }} \
         struct other {{ long long a[3]; }};"
    );
    holds(
        &wrapper,
        "unsigned n = sizeof(struct node); void *t = get(n); struct node *p = (struct node *)t; \
         struct other *o = get(sizeof *o); p->value = 3; p->next = p; o->a[2] = 1ll << 40;",
        "p->next->next->value == 3 && o->a[2] >> 40 == 1",
    );
}

#[test]
fn calloc_gives_zeros_and_realloc_keeps_what_was_there() {
    holds(DECLARATIONS, "int *p = calloc(4, 4);", "p[0] == 0 && p[3] == 0");
    holds(DECLARATIONS, "void *p = calloc(0x10000u, 0x10000u);", "p == 0");
    // The first argument is what it was before the second one was evaluated.
    let changes = format!("{DECLARATIONS} int n = 3; int f(void) {{ n = 1; return 4; }}");
    holds(&changes, "int *p = calloc(n, f()); p[2] = 5;", "p[2] == 5");
    holds(
        DECLARATIONS,
        "char *p = malloc(4); for (int i = 0; i < 4; i++) p[i] = i + 1; p = realloc(p, 8); p[7] = 9;",
        "p[0] == 1 && p[3] == 4 && p[7] == 9",
    );
    holds(DECLARATIONS, "char *p = realloc(0, 4); p[3] = 1;", "p[3] == 1");
    holds(
        "char *strdup(const char *); char *strndup(const char *, unsigned long);",
        "char *p = strdup(\"abc\"), *q = strndup(\"abc\", 2);",
        "p[0] == 'a' && p[3] == 0 && q[1] == 'b' && q[2] == 0",
    );
}

#[test]
fn what_is_not_in_a_block_is_outside() {
    for (body, end) in [
        ("int *p = malloc(8); p[1] = 1;", "end"),
        ("int *p = malloc(8); p[2] = 1;", "error bounds"),
        ("int *p = malloc(7); p[1] = 1;", "error bounds"),
        ("int *p = malloc(8); p[-1] = 1;", "error bounds"),
        ("char *p = malloc(0); free(p);", "end"),
        ("char *p = malloc(0); *p = 1;", "error bounds"),
        ("int *p = malloc(4); free(p); free(0);", "end"),
        ("int *p = malloc(4); free(p); *p = 1;", "error bounds"),
        ("int *p = malloc(4); free(p); return *p;", "error bounds"),
        ("int *p = malloc(4); free(p); free(p);", "error bounds"),
        ("char *p = malloc(4); free(p + 1);", "error bounds"),
        ("int x; free(&x);", "error bounds"),
        ("int *p = malloc(4), *q = realloc(p, 8); q[1] = 1; *p = 1;", "error bounds"),
        ("for (int i = 0; i < 100; i++) { int *p = malloc(4); *p = i; free(p); }", "end"),
        ("for (int i = 0; i < 8; i++) malloc(4);", "end"),
        ("for (int i = 0; i < 9; i++) malloc(4);", "error heap_limit"),
        ("for (int i = 0; i < 2; i++) malloc(4 << 4 * i);", "end"),
        ("for (int i = 0; i < 2; i++) malloc(4 << 20 * i);", "error heap_limit"),
        // Too many fractions to be followed.
        ("double *p = malloc(16000); p[1999] = 1;", "end"),
        ("double *p = malloc(16000); p[2000] = 1;", "error bounds"),
        ("double *p = malloc(16000); p[-1] = 1;", "error bounds"),
        ("double *p = malloc(16000); free(p); p[3] = 1;", "error bounds"),
        ("int i = 7; double *p = malloc(16000); free(p); return p[i] > 0;", "error bounds"),
        ("struct s { int n; float f[2000]; } *p = malloc(sizeof *p); p->f[7] = 1;", "end"),
        ("struct s { int n; float f[2000]; } *p = malloc(800); p->f[198] = 1;", "end"),
        ("struct s { int n; float f[2000]; } *p = malloc(800); p->f[199] = 1;", "error bounds"),
        ("int i = 0; again: malloc(4); if (++i < 8) goto again;", "end"),
    ] {
        assert_eq!(ends_checked(body), end, "{body}");
    }
}

#[test]
fn there_may_be_no_memory_left() {
    let text = format!("{DECLARATIONS} int main(void) {{ int *p = malloc(4); *p = 1; }}");
    let mut options = checked();
    assert_eq!(ends(&text, 1, &options), "end");
    let is_said = |options: &Options| {
        let warnings = compile(&text, options).unwrap().warnings;
        warnings.iter().any(|w| w.message.contains("find memory"))
    };
    assert!(is_said(&options));
    options.c.checks.heap = true;
    assert_eq!(ends(&text, 0, &options), "end");
    assert_eq!(ends(&text, 1, &options), "error null");
    assert!(!is_said(&options));
}

#[test]
fn old_pointers_are_found_out_even_if_memory_is_given_out_again() {
    // In the run in which all inputs are 1, the first block that is freed is not given out again.
    let text = format!(
        "{DECLARATIONS} int main(void) {{ int *old = 0; \
         for (int i = 0; i < 3; i++) {{ int *p = malloc(4); *p = i; if (old) *old = 5; free(p); old = p; }} }}"
    );
    assert_eq!(ends(&text, 0, &checked()), "end");
    assert_eq!(ends(&text, 1, &checked()), "error bounds");
}

#[test]
fn blocks_of_the_stack_end_with_their_function() {
    let ends = |functions: &str, body: &str| {
        let declared =
            format!("{DECLARATIONS} void *alloca(unsigned long); void reach_error(void);");
        ends(&format!("{declared} {functions} int main(void) {{ {body} }}"), 0, &checked())
    };
    let sum = "int sum(int n) { int *p = alloca(n * sizeof *p), s = 0; for (int i = 0; i < n; i++) p[i] = i; \
               for (int i = 0; i < n; i++) s += p[i]; return s; }";
    let both = "int r = sum(4) + sum(3); for (int i = 0; i < 20; i++) r += sum(2); if (r != 29) reach_error();";
    assert_eq!(ends(sum, both), "end");
    assert_eq!(ends("void f(int n) { char *p = alloca(n); p[n] = 1; }", "f(3);"), "error bounds");
    let kept = "int *q; void f(void) { int *p = alloca(4); *p = 1; q = p; }";
    assert_eq!(ends(kept, "f(); *q = 2;"), "error bounds");
    assert_eq!(ends(kept, "f(); if (q) f(); return 0;"), "end");
    assert_eq!(ends("", "free(alloca(4));"), "error bounds");
    let looped = "for (int i = 0; i < 3; i++) { int *p = alloca(4); *p = i; } return 0;";
    assert_eq!(ends("", looped), "end");
    let early = "int f(int n) { char *p = alloca(2); if (n) return 1; p[1] = 0; return p[1]; }";
    assert_eq!(ends(early, "int r = f(1) + f(0); if (r != 1) reach_error();"), "end");
}

#[test]
fn blocks_of_the_stack_are_not_for_recursive_functions() {
    let text = "void *alloca(unsigned long); int f(int n) { int *p = alloca(4); *p = n; return n ? f(n - 1) : *p; } \
                int main(void) { return f(3); }";
    refused(text, "`alloca` in a recursive function", "alloca(4)");
}

/// What a random program does with a few pointers, and what a heap that never gives memory out again does.
#[derive(Default)]
struct Model {
    /// Where each pointer points: a block, and how far into it.
    pointers: [Option<usize>; 4],
    /// Blocks: their bytes, and whether they are there.
    blocks: Vec<(Vec<u8>, bool)>,
    sum: u32,
}

impl Model {
    /// Does something at random; tells the statement, and the error if it is one.
    fn step(&mut self, r: &mut Random) -> (String, Option<&'static str>) {
        let p = r.below(4) as usize;
        let at = self.pointers[p];
        let live = |model: &Model| at.filter(|b| model.blocks[*b].1);
        match r.below(8) {
            0 | 1 => {
                let size = 1 + r.below(6) as usize;
                self.blocks.push((vec![0; size], true));
                self.pointers[p] = Some(self.blocks.len() - 1);
                (format!("p{p} = calloc({size}, 1);"), None)
            }
            2 => {
                let q = r.below(4) as usize;
                self.pointers[p] = self.pointers[q];
                (format!("p{p} = p{q};"), None)
            }
            3 if r.below(3) == 0 => {
                let error = match (at, live(self)) {
                    (None, _) => None,
                    (_, None) => Some("error bounds"),
                    (_, Some(block)) => {
                        self.blocks[block].1 = false;
                        None
                    }
                };
                (format!("free(p{p});"), error)
            }
            4 | 5 => {
                let (i, value) = (r.below(4) as usize, r.below(256) as u8);
                let text = format!("p{p}[{i}] = {value};");
                match (at, live(self)) {
                    (None, _) => (text, Some("error null")),
                    (_, Some(b)) if i < self.blocks[b].0.len() => {
                        self.blocks[b].0[i] = value;
                        (text, None)
                    }
                    _ => (text, Some("error bounds")),
                }
            }
            _ => {
                let i = r.below(3) as usize;
                let text = format!("sum = sum * 3 + p{p}[{i}];");
                match (at, live(self)) {
                    (None, _) => (text, Some("error null")),
                    (_, Some(b)) if i < self.blocks[b].0.len() => {
                        let byte = self.blocks[b].0[i] as u32;
                        self.sum = self.sum.wrapping_mul(3).wrapping_add(byte);
                        (text, None)
                    }
                    _ => (text, Some("error bounds")),
                }
            }
        }
    }
}

#[test]
fn random_programs_do_what_a_heap_does() {
    let mut seen = std::collections::BTreeMap::new();
    for seed in 0..400 {
        let mut r = Random::new(seed);
        let mut model = Model::default();
        let mut text = format!(
            "{DECLARATIONS} void reach_error(void); \
             int main(void) {{ unsigned sum = 0; unsigned char *p0 = 0, *p1 = 0, *p2 = 0, *p3 = 0;\n"
        );
        for p in 0..4 {
            let _ = writeln!(text, "p{p} = calloc(3, 1);");
            model.blocks.push((vec![0; 3], true));
            model.pointers[p] = Some(p);
        }
        let mut end = "end";
        for _ in 0..30 {
            let (statement, error) = model.step(&mut r);
            let _ = writeln!(text, "{statement}");
            if let Some(error) = error {
                end = error;
                break;
            }
        }
        let _ = writeln!(text, "if (sum != {}u) reach_error(); return 0; }}", model.sum);
        assert_eq!(ends(&text, 0, &checked()), end, "seed {seed}: {text}");
        *seen.entry(end).or_insert(0) += 1;
    }
    assert!(seen.len() >= 2 && seen.values().all(|n| *n > 20), "{seen:?}");
}

/// Libraries differ in what a block of no bytes is, and in whether a block stays where it is when it grows.
#[test]
fn what_libraries_differ_in_is_open() {
    let ends = |body: &str, input| {
        let text = format!("void reach_error(void); {DECLARATIONS} int main(void) {{ {body} }}");
        ends(&text, input, &checked())
    };
    let open = |body: &str| {
        assert_ne!(ends(body, 0), ends(body, 1), "{body}");
    };
    open("if (malloc(0)) reach_error();");
    open("if (calloc(0, 4)) reach_error();");
    open("char *p = malloc(1); if (realloc(p, 0)) reach_error();");
    open("char *p = malloc(1), *q = realloc(p, 2); if (p == q) reach_error();");
    open("char *p = malloc(1); free(p); char *q = malloc(1); if (p == q) reach_error();");
    open(
        "char *p[2]; for (int i = 0; i < 2; i++) p[i] = malloc(1); if (p[0] < p[1]) reach_error();",
    );
    let apart = "char *p[2]; for (int i = 0; i < 2; i++) p[i] = malloc(1); if (p[0] == p[1]) reach_error();";
    assert_eq!([ends(apart, 0), ends(apart, 1)], ["end", "end"]);
}
