//! Random programs, run by what gcc makes of them and by the reference interpreter.

use super::generator::Program;
use super::{compile, options, run};
use crate::frontend::c::DataModel;
use std::fmt::Write;
use std::process::Command;

/// Every global of every program, as gcc's program prints it.
fn natively(text: &str, programs: &[(u64, Vec<String>)]) -> Option<Vec<i128>> {
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("p.c"), folder.path().join("p"));
    let mut whole = format!("#include <stdio.h>\n{text}\nint main(void) {{\n");
    for (id, globals) in programs {
        let _ = writeln!(whole, "run_{id}();");
        for global in globals {
            let _ = writeln!(whole, "printf(\"%lld\\n\", (long long)({global}));");
        }
    }
    whole += "return 0; }\n";
    std::fs::write(&source, whole).unwrap();
    let gcc = Command::new("gcc")
        .args(["-w", "-O1", "-fwrapv", "-fno-strict-aliasing", "-std=gnu11", "-o"])
        .args([&binary, &source])
        .output();
    let gcc = match gcc {
        Ok(gcc) => gcc,
        Err(_) => {
            eprintln!("skipped: there is no gcc");
            return None;
        }
    };
    assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
    let output = Command::new(&binary).output().unwrap();
    assert!(output.status.success());
    let lines = String::from_utf8(output.stdout).unwrap();
    Some(lines.lines().map(|l| l.parse().unwrap()).collect())
}

fn compare(seeds: std::ops::Range<u64>) {
    let mut text = String::new();
    let mut programs = vec![];
    let mut texts = vec![];
    for seed in seeds {
        let (program, globals) = Program::generate(seed);
        text += &program;
        texts.push(program);
        programs.push((seed, globals));
    }
    let Some(expected) = natively(&text, &programs) else { return };
    let mut expected = expected.into_iter();
    for ((id, globals), text) in programs.iter().zip(&texts) {
        // The values are read by a function of the program itself, through the front end.
        let mut reader = format!(
            "{text}\nlong long out[{}];\nvoid main_{id}(void) {{ run_{id}();\n",
            globals.len()
        );
        for (i, global) in globals.iter().enumerate() {
            let _ = writeln!(reader, "out[{i}] = (long long)({global});");
        }
        reader += "}\n";
        let mut options = options(&format!("main_{id}"));
        options.c.model = DataModel::Lp64;
        let compiled = match compile(&reader, &options) {
            Ok(compiled) => compiled,
            Err(errors) => panic!("program {id}: {errors:#?}\n{reader}"),
        };
        let ended = run(&compiled.cfa, 0, 100_000);
        assert_eq!(ended.location, "end", "program {id} does not end\n{reader}");
        for (i, global) in globals.iter().enumerate() {
            let value = ended.values[&format!("out[{i}]")] as i64 as i128;
            let wanted = expected.next().unwrap();
            assert_eq!(value, wanted, "program {id}: {global}\n{reader}");
        }
    }
}

#[test]
fn programs_compute_what_gcc_makes_them_compute() {
    compare(0..80);
}
