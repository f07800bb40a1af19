//! The struct that packs a state for the guard: what is compiled of it packs as the image has it.
#![cfg(unix)]

use std::fmt::Write;
use std::path::Path;
use std::process::Command;
use vouch_host::frontend::c::COptions;
use vouch_host::glue::{Language, glue};
use vouch_host::ir::{Type, Word};
use vouch_host::pipeline::{self, Loaded};
use vouch_host::simplify::Passes;
use vouch_tests::rng::Rng;

fn load(path: &Path) -> Loaded {
    let options = pipeline::Options { passes: Some(Passes::none()), ..Default::default() };
    pipeline::load(path, &options).unwrap_or_else(|e| panic!("{e}"))
}

/// Values of all variables, and the packed state that they are.
fn random(model: &Loaded, rng: &mut Rng) -> (Vec<Word>, Vec<u8>) {
    let value = |v: &vouch_host::ir::Var, rng: &mut Rng| match &v.ty {
        Type::Enum(values) if !values.is_empty() => values[rng.below(values.len())].0,
        _ => (0..v.width).fold(0, |x, bit| x | Word::from(rng.one_in(2)) << bit),
    };
    let state: Vec<Word> = model.cfa.vars.iter().map(|v| value(v, rng)).collect();
    let mut packed = vec![0u8; model.map.bits.len().div_ceil(8)];
    for (at, (var, bit)) in model.map.bits.iter().enumerate() {
        packed[at / 8] |= ((state[var.index()] >> bit & 1) as u8) << (at % 8);
    }
    (state, packed)
}

/// The fields of the generated struct with the names that they have in the model, as its comments tell.
fn fields(text: &str, language: Language) -> Vec<(String, String, String)> {
    let lines: Vec<&str> = text.lines().collect();
    match language {
        Language::Rust => {
            let start = lines.iter().position(|l| l.starts_with("pub struct State")).unwrap();
            let body = lines[start + 1..].iter().take_while(|l| **l != "}");
            let body: Vec<&&str> = body.collect();
            let one = |pair: &[&&str]| {
                let original = pair[0].trim().strip_prefix("/// `")?.strip_suffix("`.")?;
                let (name, ty) = pair[1].trim().strip_prefix("pub ")?.split_once(": ")?;
                Some((original.into(), name.into(), ty.trim_end_matches(',').into()))
            };
            body.chunks(2).filter_map(one).collect()
        }
        Language::C => {
            let one = |line: &&str| {
                let (field, original) = line.trim().split_once("; /* ")?;
                let (ty, name) = field.rsplit_once(' ')?;
                Some((original.strip_suffix(" */")?.into(), name.into(), ty.into()))
            };
            lines.iter().filter_map(one).collect()
        }
    }
}

/// What is printed by a program that packs states with what was generated; and what it should print.
fn program(models: &[Loaded], language: Language) -> (String, String) {
    let mut rng = Rng::new(21);
    let (mut types, mut main, mut expected) = (String::new(), String::new(), String::new());
    for (number, model) in models.iter().enumerate() {
        let text = glue(model, language).expect("it is not simplified");
        let known = fields(&text, language);
        let name = text.lines().find_map(|l| l.strip_prefix("struct ")?.strip_suffix(" {"));
        let name = name.unwrap_or_default().to_owned();
        for _ in 0..8 {
            let (state, packed) = random(model, &mut rng);
            let mut values = vec![];
            for (original, field, ty) in &known {
                let at = model.cfa.vars.iter().position(|v| v.name == *original).unwrap();
                let (value, width) = (state[at], model.cfa.vars[at].width);
                let value = match (&model.cfa.vars[at].ty, language) {
                    (Type::Bool, Language::Rust) => (value == 1).to_string(),
                    (Type::Enum(names), Language::Rust) if !names.is_empty() => {
                        format!(
                            "unsafe {{ core::mem::transmute::<u64, m{number}::{ty}>({value}) }}"
                        )
                    }
                    (Type::Signed, _) => {
                        format!("{}", value as i128 - ((value >> (width - 1)) << width) as i128)
                    }
                    (_, Language::C) => format!("{value}u"),
                    _ => value.to_string(),
                };
                values.push(match language {
                    Language::Rust => format!("{field}: {value}"),
                    Language::C => format!(".{field} = {value}"),
                });
            }
            let hex: String = packed.iter().map(|b| format!("{b:02x}")).collect();
            let _ = writeln!(expected, "{hex}");
            let values = values.join(", ");
            match language {
                Language::Rust => {
                    let _ = writeln!(
                        main,
                        "    let state = m{number}::State {{ location: unsafe {{ core::mem::transmute::<u64, \
                         m{number}::Location>(0) }}, {values} }};\n    show(&state.pack());"
                    );
                }
                Language::C => {
                    let _ = writeln!(
                        main,
                        "    {{ struct {name} s = {{ .location = 0, {values} }}; uint8_t b[sizeof(s) + 64]; \
                         {name}_pack(&s, b); show(b, {}_BYTES); }}",
                        name.to_uppercase()
                    );
                }
            }
        }
        match language {
            Language::Rust => {
                let text = text.replacen("//!", "//", 1);
                let _ = writeln!(types, "#[allow(dead_code)]\nmod m{number} {{\n{text}}}");
            }
            Language::C => types.push_str(&text),
        }
    }
    let text = match language {
        Language::Rust => format!(
            "{types}\nfn show(bits: &[u8]) {{\n    for b in bits {{ print!(\"{{b:02x}}\"); }}\n    println!();\n}}\n\
             fn main() {{\n{main}}}\n"
        ),
        Language::C => format!(
            "#include <stdio.h>\n{types}\nstatic void show(const uint8_t *b, int n) {{\n    \
             for (int i = 0; i < n; i++) printf(\"%02x\", b[i]);\n    puts(\"\");\n}}\nint main(void) {{\n{main}}}\n"
        ),
    };
    (text, expected)
}

fn run(command: &mut Command) -> String {
    let output = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn every_example_packs_as_its_image_has_it() {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = std::fs::read_dir(examples).unwrap().map(|entry| entry.unwrap().path());
    let mut files: Vec<_> = files.filter(|f| f.extension().is_some_and(|e| e == "vch")).collect();
    files.retain(|f| {
        !f.to_string_lossy().contains("broken") && !f.ends_with("modbus-server-24.vch")
    });
    files.sort();
    let models: Vec<Loaded> = files.iter().map(|file| load(file)).collect();
    assert!(models.len() >= 16);
    let folder = tempfile::tempdir().unwrap();
    for (language, file) in [(Language::Rust, "main.rs"), (Language::C, "main.c")] {
        let (text, expected) = program(&models, language);
        let (source, built) = (folder.path().join(file), folder.path().join("main"));
        std::fs::write(&source, text).unwrap();
        let mut compiler = match language {
            Language::Rust => {
                let mut rustc = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()));
                rustc.args(["--edition", "2024", "-D", "warnings"]);
                rustc
            }
            Language::C => {
                let mut gcc = Command::new("gcc");
                gcc.args(["-std=c11", "-Wall", "-Werror"]);
                gcc
            }
        };
        run(compiler.arg(&source).arg("-o").arg(&built));
        assert_eq!(run(&mut Command::new(&built)), expected, "{file}");
    }
}

#[test]
fn a_simplified_model_has_none() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/c/button-debounce.c");
    let c = COptions { entry: "tick".into(), repeat: true, ..COptions::default() };
    let options = pipeline::Options { passes: Some(Passes::all()), c, ..Default::default() };
    let model = pipeline::load(&file, &options).unwrap();
    assert_eq!(glue(&model, Language::Rust), None);
}
