//! Where members of random structs and unions lie: as in what compilers for each data model make of
//! them. They are only asked to compile; what they make is read from the object file.

use super::random::Random;
use crate::c::types::{DataModel, Field, Type, Types};
use crate::c::{lexer, parser};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::HashMap;
use std::fmt::Write;
use std::process::Command;

const TYPES: [(&str, u64); 12] = [
    ("char", 8),
    ("signed char", 8),
    ("unsigned char", 8),
    ("short", 16),
    ("unsigned short", 16),
    ("int", 32),
    ("unsigned", 32),
    ("long", 32),
    ("long long", 64),
    ("unsigned long long", 64),
    ("_Bool", 1),
    ("enum e", 3),
];

/// Names of types whose alignment is not that of the type.
const ALIGNED: [&str; 3] = ["wide_int", "loose_int", "loose_long"];

const HEAD: &str = "enum e { A, B, C, D, E };
typedef int wide_int __attribute__((aligned(8)));
typedef int loose_int __attribute__((aligned(2)));
typedef long long loose_long __attribute__((aligned(1)));
";

/// A struct or union, and what sets each of its members to ones only.
struct Sample {
    text: String,
    setters: Vec<(String, String)>,
}

fn sample(id: usize, r: &mut Random) -> Sample {
    let kind = if r.below(6) == 0 { "union" } else { "struct" };
    let pack = (r.below(6) == 0).then(|| *r.pick(&[&1, &2, &4]));
    let (mut text, mut setters) = (String::new(), vec![]);
    if let Some(pack) = pack {
        let _ = writeln!(text, "#pragma pack({pack})");
    }
    let _ = writeln!(text, "{kind} s{id} {{");
    for i in 0..1 + r.below(6) {
        let name = format!("f{i}");
        let (ty, bits) = TYPES[r.below(TYPES.len() as u64) as usize];
        let attribute = match r.below(12) {
            0 => " __attribute__((packed))",
            1 => " __attribute__((aligned(2)))",
            2 => " __attribute__((aligned(8)))",
            _ => "",
        };
        match r.below(10) {
            0 => {
                let _ = writeln!(text, "{ty} : 0;");
            }
            1 => {
                let _ = writeln!(text, "{ty} : {};", 1 + r.below(bits));
            }
            2..=6 => {
                let _ = writeln!(text, "{ty} {name} : {}{attribute};", 1 + r.below(bits));
                setters.push((name, "-1".into()));
            }
            7 => {
                let _ = writeln!(text, "char {name}[3]{attribute};");
                setters.push((name, "{ -1, -1, -1 }".into()));
            }
            8 => {
                let ty = r.pick(&ALIGNED);
                let _ = writeln!(text, "{ty} {name};");
                setters.push((name, "-1".into()));
            }
            _ => {
                let _ = writeln!(text, "{ty} {name}{attribute};");
                setters.push((name, "-1".into()));
            }
        }
    }
    let attribute = match r.below(8) {
        0 => " __attribute__((packed))",
        1 => " __attribute__((aligned(8)))",
        2 => " __attribute__((packed, aligned(2)))",
        _ => "",
    };
    let _ = writeln!(text, "}}{attribute};");
    if pack.is_some() {
        text += "#pragma pack()\n";
    }
    Sample { text, setters }
}

/// What the compiler makes of variables, by name; `None` if there is no such compiler.
fn compiled(compiler: &[&str], text: &str) -> Option<HashMap<String, Vec<u8>>> {
    let folder = tempfile::tempdir().unwrap();
    let (source, made) = (folder.path().join("p.c"), folder.path().join("p.o"));
    std::fs::write(&source, text).unwrap();
    let output = Command::new(compiler[0])
        .args(&compiler[1..])
        .args(["-w", "-std=gnu11", "-fno-zero-initialized-in-bss", "-fno-pic", "-c", "-o"])
        .args([&made, &source])
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no {}", compiler[0]);
        return None;
    };
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let bytes = std::fs::read(&made).unwrap();
    let file = object::File::parse(&*bytes).unwrap();
    let found = file.symbols().filter_map(|symbol| {
        let section = file.section_by_index(symbol.section_index()?).ok()?;
        let from = symbol.address() as usize;
        let data = section.data().ok()?.get(from..from + symbol.size() as usize)?;
        Some((symbol.name().ok()?.to_string(), data.to_vec()))
    });
    Some(found.collect())
}

/// The bytes of a record in which one member is set to ones only.
fn set(types: &Types, size: u64, field: &Field) -> Vec<u8> {
    let mut bytes = vec![0; size as usize];
    let width = match (&field.ty, field.bits) {
        (Type::Bool, _) => 1,
        (_, Some(bits)) => bits as u64,
        (ty, None) => types.size(ty).unwrap() * 8,
    };
    for bit in field.offset..field.offset + width {
        bytes[(bit / 8) as usize] |= 1 << (bit % 8);
    }
    bytes
}

fn compare(model: DataModel, compiler: &[&str], seed: u64, count: usize) {
    let mut r = Random::new(seed);
    // Where attributes say how members lie, clang places some bit-fields otherwise than gcc.
    let plain = |text: &str| !text.contains("pack") && !text.contains("aligned");
    let is_asked = |sample: &Sample| compiler[0] != "clang" || plain(&sample.text);
    let mut next = |id| loop {
        let sample = sample(id, &mut r);
        if is_asked(&sample) {
            return sample;
        }
    };
    let samples: Vec<Sample> = (0..count).map(&mut next).collect();
    let declared = HEAD.to_string() + &samples.iter().map(|s| &*s.text).collect::<String>();
    let mut text = declared.clone();
    for (id, sample) in samples.iter().enumerate() {
        let kind =
            &sample.text[sample.text.find("struct").or(sample.text.find("union")).unwrap()..];
        let kind = kind.split(' ').next().unwrap();
        let of = format!("{kind} s{id}");
        let _ = writeln!(text, "unsigned char z{id}[sizeof({of}) + 1] = {{ 1 }};");
        let _ = writeln!(text, "unsigned char a{id}[_Alignof({of})] = {{ 1 }};");
        for (name, value) in &sample.setters {
            let _ = writeln!(text, "{of} v{id}_{name} = {{ .{name} = {value} }};");
        }
    }
    let Some(made) = compiled(compiler, &text) else { return };
    let text = lexer::lex_whole(&declared).unwrap();
    let unit =
        parser::parse(vec![parser::Input { path: "t.c".into(), text }], Types::new(model)).unwrap();
    let types = &unit.types;
    for (id, sample) in samples.iter().enumerate() {
        let tag = format!("s{id}");
        let record = types.records.iter().position(|r| r.tag.as_deref() == Some(&tag)).unwrap();
        let found = (types.records[record].size, types.records[record].align);
        let wanted =
            (made[&format!("z{id}")].len() as u64 - 1, made[&format!("a{id}")].len() as u64);
        assert_eq!(found, wanted, "{model:?}: size and alignment of\n{}", sample.text);
        for (name, _) in &sample.setters {
            let field = types.member(record, name).unwrap();
            let bytes = set(types, found.0, &field);
            assert_eq!(
                bytes,
                made[&format!("v{id}_{name}")],
                "{model:?}: {name} of\n{}",
                sample.text
            );
        }
    }
}

#[test]
fn members_lie_where_gcc_places_them() {
    for seed in 0..4 {
        compare(DataModel::Ilp32, &["gcc", "-m32"], seed, 150);
        compare(DataModel::Lp64, &["gcc", "-m64"], 100 + seed, 150);
        let arm = ["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-mthumb"];
        compare(DataModel::ARM32, &arm, 200 + seed, 150);
        let wide = [&arm[..], &["-fno-short-enums", "-fsigned-char"]].concat();
        let model = "arm32-int-enums-signed-char".parse().unwrap();
        compare(model, &wide, 300 + seed, 150);
        let riscv = ["clang", "--target=riscv32-unknown-elf", "-march=rv32imac"];
        compare(DataModel::Riscv32, &riscv, 400 + seed, 150);
    }
}
