//! What the front ends read. A small text, however hostile, ends in a model or in messages, soon and in
//! little memory; what is a model can be simplified and compiled.

use std::path::Path;
use vouch_host::frontend::c::{COptions, Checks, preprocess};
use vouch_host::frontend::{self, Compiled, Diagnostic, Language, Options, Overflow, Source};
use vouch_host::simplify::{self, Passes};
use vouch_host::{blast, export, pipeline};

/// Gates of a model that is still compiled.
const MAX_GATES: usize = 1 << 14;
/// Edges of a model that is still simplified: this is about the front ends.
const MAX_EDGES: usize = 2000;

/// A model in the native language, in all ways of reading it.
pub fn vch(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source { path: "fuzz.vch".into(), text: text.into() };
    let options = Options { overflow: Overflow::Error, ..Options::default() };
    let result = frontend::compile(&source, Language::Vch, &options);
    if result.is_ok() {
        let _ = frontend::outline(&source, Language::Vch);
        let formatted = frontend::format(text, Language::Vch);
        assert!(formatted.is_ok(), "a model that cannot be formatted");
    }
    judge(&source, result);
}

/// A preprocessed C program with all checks. What a preprocessor does is not ours to fuzz.
pub fn c(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let checks = Checks::ALL;
    let c = COptions { checks, ..COptions::default() };
    if preprocess::is_needed(text, &c) {
        return;
    }
    let source = Source { path: "fuzz.c".into(), text: text.into() };
    let options = Options { overflow: Overflow::Error, c, ..Options::default() };
    judge(&source, frontend::compile(&source, Language::C, &options));
}

/// A circuit of gates as text.
pub fn aag(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source { path: "fuzz.aag".into(), text: text.into() };
    judge(&source, frontend::compile(&source, Language::Aiger, &Options::default()));
}

/// A binary circuit of gates, after its magic word.
pub fn aig(data: &[u8]) {
    let source = Source { path: "fuzz.aig".into(), text: String::new() };
    let bytes = [b"aig ", data].concat();
    judge(&source, frontend::aiger::compile(&bytes, "fuzz"));
}

/// A circuit of words.
pub fn btor2(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source { path: "fuzz.btor2".into(), text: text.into() };
    judge(&source, frontend::compile(&source, Language::Btor2, &Options::default()));
}

/// What came out can be shown, or used.
pub fn judge(source: &Source, result: Result<Compiled, Vec<Diagnostic>>) {
    match result {
        Ok(Compiled { cfa, warnings, .. }) => {
            let _ = frontend::render_with(source, &warnings, false);
            cfa.check().expect("the front end makes automata that are well formed");
            let options = blast::Options { max_nodes: MAX_GATES };
            let plain = blast::compile(&cfa, [0; 32], &options);
            if plain.is_ok() && cfa.edges.len() <= MAX_EDGES {
                let simple = simplify::run(&cfa, &Passes::default()).cfa;
                simple.check().expect("simplifying keeps automata well formed");
                let _ = blast::compile(&simple, [0; 32], &options);
            }
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "refused without a reason");
            let _ = frontend::render_with(source, &diagnostics, false);
        }
    }
}

/// The texts of the smallest files of a folder of examples.
pub fn texts(folder: &str, extension: &str, count: usize) -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples").join(folder);
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path());
    let mut texts: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|e| e == extension))
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    texts.sort_by_key(|text| (text.len(), text.clone()));
    texts.truncate(count);
    texts
}

pub fn vch_seeds() -> Vec<Vec<u8>> {
    texts("", "vch", 8).into_iter().map(String::into_bytes).collect()
}

/// One of nearly everything. The examples need a preprocessor.
const PROGRAM: &str = "
    typedef unsigned char u8; typedef struct { int a : 3; unsigned b; u8 c[4]; } pair;
    union both { int i; u8 bytes[4]; }; enum mode { OFF, ON = 5, AUTO };
    extern int __VERIFIER_nondet_int(void); extern void __VERIFIER_assume(int);
    void reach_error(void) {} static const int table[2][3] = {{1, 2, 3}, {[1] = 7}};
    int limit = 10, *where = &limit; pair all[2] = {{1, 2, \"abc\"}};
    static int twice(int x) { return x * 2; } int (*act)(int) = twice;
    int fact(int n) { return n <= 1 ? 1 : n * fact(n - 1); }
    int main(void) {
        int i, n = __VERIFIER_nondet_int(); enum mode m = AUTO; union both u; pair *p = all;
        __VERIFIER_assume(n > 0 && n < 4); u.i = sizeof(pair); long long wide = -1LL << 3;
        for (i = 0; i < n; i++) { if (i == 2) continue; p->c[i & 3] ^= (u8)u.bytes[1]; p[1].b += table[1][i % 3]; }
        do { n--; switch (m) { case OFF: break; case ON: n = act(n); default: m = OFF; } } while (n > 0);
        while (1) { if (wide++ > 5 || !where) goto out; *where -= 1, limit |= ~i; }
        out: if (fact(3) != 6 || limit / 2 == -7) { reach_error(); }
        return (unsigned)i >> 1;
    }";

pub fn c_seeds() -> Vec<Vec<u8>> {
    let small = [
        "int x; int main() { for (;;) { x++; if (x > 3) x = 0; if (x < 0) __VERIFIER_error(); } }",
        "int f(int n, char *p) { return n ? p[n] + f(n - 1, p) : 0; } int main() { char a[3] = {1}; return f(2, a); }",
        PROGRAM,
    ];
    small.map(|text| text.as_bytes().to_vec()).to_vec()
}

/// Small automata, to be written as circuits.
fn automata() -> Vec<vouch_host::ir::Cfa> {
    let mut texts = texts("", "vch", 2);
    texts.push(
        "machine m { input go: bool; var n: u3 = 0; initial state A { on go { n += 1; } } \
         property p: always n != 5; }"
            .into(),
    );
    let compile = |text: String| {
        let source = Source { path: "x.vch".into(), text };
        pipeline::compile(source, Language::Vch, &pipeline::Options::default()).ok()
    };
    texts.into_iter().filter_map(compile).map(|loaded| loaded.cfa).collect()
}

fn circuits() -> impl Iterator<Item = export::aiger::Circuit> {
    automata().into_iter().filter_map(|cfa| export::aiger::Circuit::of(&cfa).ok())
}

pub fn aag_seeds() -> Vec<Vec<u8>> {
    let by_hand = "aag 3 1 1 1 1 1 1 0 0\n2\n4 6 0\n4\n4\n2\n6 2 5\ni0 go\nl0 n\nb0 bad\nc\nhi\n";
    let exported = circuits().map(|circuit| circuit.ascii().into_bytes());
    std::iter::once(by_hand.as_bytes().to_vec()).chain(exported).collect()
}

pub fn aig_seeds() -> Vec<Vec<u8>> {
    circuits().map(|circuit| circuit.binary().split_off(4)).collect()
}

const WORDS: &str = "1 sort bitvec 8\n2 sort bitvec 4\n3 sort array 2 1\n4 state 3 mem\n5 zero 1\n6 init 3 4 5\n\
    7 input 2 at\n8 read 1 4 7\n9 constd 1 3\n10 add 1 8 9\n11 write 3 4 7 10\n12 next 3 4 11\n13 sort bitvec 1\n\
    14 eq 13 8 9\n15 sort bitvec 70\n16 state 15 wide\n17 uext 15 8 62\n18 mul 15 16 17\n19 next 15 16 18\n\
    20 slice 13 16 69 69\n21 and 13 14 -20\n22 bad 21 here\n23 constraint -14\n24 srem 1 8 10\n25 concat 15 16 16\n";

pub fn btor2_seeds() -> Vec<Vec<u8>> {
    let texts = automata().into_iter().map(|cfa| export::btor2::write(&cfa));
    texts.chain([WORDS.replace("25 concat 15 16 16\n", "")]).map(String::into_bytes).collect()
}

#[test]
fn seeds_are_what_they_should_be() {
    let options = Options::default();
    for (language, seeds) in [
        (Language::Vch, vch_seeds()),
        (Language::C, c_seeds()),
        (Language::Aiger, aag_seeds()),
        (Language::Btor2, btor2_seeds()),
    ] {
        assert!(seeds.len() >= 3, "{language:?}");
        for seed in seeds {
            let source = Source { path: "seed".into(), text: String::from_utf8(seed).unwrap() };
            if let Err(errors) = frontend::compile(&source, language, &options) {
                panic!("{}", frontend::render(&source, &errors));
            }
        }
    }
    assert!(aig_seeds().len() >= 3);
    for seed in aig_seeds() {
        assert!(frontend::aiger::compile(&[b"aig ", &seed[..]].concat(), "seed").is_ok());
    }
}
