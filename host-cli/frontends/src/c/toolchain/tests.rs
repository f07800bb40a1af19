//! What is defined is held against what compilers say of themselves.

use super::Toolchain;
use crate::c::preprocess::Macro;
use std::collections::BTreeMap;
use std::process::Command;

type Macros = BTreeMap<String, String>;

/// Flags of `arm-none-eabi-gcc`.
const GCC: [&str; 63] = [
    "",
    "-mthumb",
    "-mcpu=arm7tdmi -mthumb",
    "-mcpu=arm926ej-s",
    "-mcpu=arm926ej-s -mfloat-abi=hard",
    "-mcpu=arm1176jzf-s -mfloat-abi=softfp",
    "-mcpu=arm1136j-s",
    "-mcpu=cortex-a5 -mfloat-abi=hard",
    "-mcpu=cortex-a7 -mfloat-abi=hard -mfpu=neon-vfpv4",
    "-mcpu=cortex-a8 -mthumb",
    "-mcpu=cortex-a8 -mfloat-abi=softfp",
    "-mcpu=cortex-a9 -mfloat-abi=hard",
    "-mcpu=cortex-a9 -mfloat-abi=hard -mfpu=vfpv3-d16",
    "-mcpu=cortex-r4f -mfloat-abi=hard",
    "-mcpu=cortex-r4",
    "-mcpu=cortex-r5 -mfloat-abi=hard -mthumb",
    "-mcpu=cortex-m0",
    "-mcpu=cortex-m0 -mthumb -mfloat-abi=soft",
    "-mcpu=cortex-m0plus -mthumb -Os",
    "-mcpu=cortex-m1",
    "-mcpu=cortex-m3",
    "-mcpu=cortex-m3 -mthumb -O2",
    "-mcpu=cortex-m3 -mthumb -Og -fno-inline",
    "-mcpu=cortex-m4",
    "-mcpu=cortex-m4 -mthumb -mfloat-abi=hard -mfpu=fpv4-sp-d16",
    "-mcpu=cortex-m4 -mthumb -mfloat-abi=softfp -mfpu=fpv4-sp-d16",
    "-mcpu=cortex-m4 -mthumb -mfloat-abi=soft -mfpu=fpv4-sp-d16",
    "-mcpu=cortex-m4 -mfloat-abi=hard",
    "-mcpu=cortex-m4+nofp",
    "-mcpu=cortex-m4 -mno-unaligned-access",
    "-mcpu=cortex-m7",
    "-mcpu=cortex-m7 -mfloat-abi=hard",
    "-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-sp-d16",
    "-mcpu=cortex-m7 -mfloat-abi=hard -mfpu=fpv5-d16",
    "-mcpu=cortex-m7+nofp.dp -mfloat-abi=hard",
    "-mcpu=cortex-m23",
    "-mcpu=cortex-m23 -mcmse",
    "-mcpu=cortex-m33",
    "-mcpu=cortex-m33 -mcmse",
    "-mcpu=cortex-m33 -mfloat-abi=hard -mfpu=fpv5-sp-d16",
    "-mcpu=cortex-m33+nodsp",
    "-mcpu=cortex-m33+nodsp+nofp",
    "-mcpu=cortex-m35p -mfloat-abi=hard",
    "-mcpu=cortex-m55",
    "-mcpu=cortex-m55 -mfloat-abi=hard",
    "-mcpu=cortex-m55+nomve -mfloat-abi=hard",
    "-march=armv6-m -mthumb",
    "-march=armv7-m -mthumb",
    "-march=armv7e-m+fp -mfloat-abi=hard -mthumb",
    "-march=armv7e-m+fp.dp -mfloat-abi=hard",
    "-march=armv8-m.base -mthumb",
    "-march=armv8-m.main -mthumb",
    "-march=armv8-m.main+dsp+fp -mfloat-abi=hard",
    "-march=armv7-a -mthumb",
    "-mcpu=cortex-m3 -march=armv7e-m -mthumb",
    "-mcpu=cortex-m3 -std=c99 -ffreestanding",
    "-mcpu=cortex-m3 -std=gnu11 -fstack-protector-strong",
    "-mcpu=cortex-m3 -std=gnu89",
    "-mcpu=cortex-m3 -ansi -Oz",
    "-mcpu=cortex-m3 -fsigned-char -fno-short-enums",
    "-mcpu=cortex-m3 -mabi=aapcs-linux -fPIC",
    "-mcpu=cortex-m3 -mno-thumb-interwork -fpie -std=c2x",
    "-mcpu=cortex-m3 -fgnu89-inline -ffinite-math-only",
];

/// Flags of `clang`.
const CLANG: [&str; 15] = [
    "--target=arm-none-eabi",
    "--target=arm-none-eabi -mcpu=cortex-m0",
    "--target=arm-none-eabi -mcpu=cortex-m3 -mthumb -O2",
    "--target=arm-none-eabi -mcpu=cortex-m4 -Os",
    "--target=arm-none-eabi -mcpu=cortex-m4 -mfloat-abi=hard -mfpu=fpv4-sp-d16",
    "--target=arm-none-eabi -mcpu=cortex-m7 -mfloat-abi=hard",
    "--target=arm-none-eabi -mcpu=cortex-m23",
    "--target=arm-none-eabi -mcpu=cortex-m33",
    "--target=thumbv6m-none-eabi -ffreestanding",
    "--target=thumbv7m-none-eabi -fshort-enums",
    "--target=thumbv7em-none-eabi",
    "--target=thumbv7em-none-eabihf -mfpu=fpv4-sp-d16",
    "--target=thumbv8m.main-none-eabi",
    "--target=armv7em-none-eabi -fsigned-char",
    "--target=thumbv7m-none-eabi -mcpu=cortex-m4 -std=c11",
];

/// The same for RISC-V.
const RISCV: [&str; 6] = [
    "--target=riscv32-unknown-elf -march=rv32imac -mabi=ilp32",
    "--target=riscv32-unknown-elf -march=rv32imc -mabi=ilp32 -Os",
    "--target=riscv32-unknown-elf -march=rv32imafc -mabi=ilp32f",
    "--target=riscv32-unknown-elf -march=rv32imafc -mabi=ilp32",
    "--target=riscv32-unknown-elf -march=rv32gc -mabi=ilp32d -mcmodel=medany",
    "--target=riscv32-unknown-elf -march=rv32i -mabi=ilp32 -O2 -ffreestanding",
];

/// Macros that are not ours to define: those of types that vouch does not know, and of the preprocessor itself.
fn is_left_out(name: &str) -> bool {
    const PARTS: [&str; 22] = [
        "STRUCTIVE_SIZE",
        "FBIT__",
        "IBIT__",
        "ACCUM",
        "FRACT",
        "__FLT16",
        "__FLT32",
        "__FLT64",
        "FAST_FMAF32",
        "FAST_FMAF64",
        "_CHARSET_NAME",
        "__VERSION__",
        "__REGISTER_PREFIX__",
        "__USER_LABEL_PREFIX__",
        "__GCC_HAVE_DWARF2",
        "__clang_version__",
        "literal_encoding__",
        "__OPENCL",
        "__OBJC",
        "__CLANG_ATOMIC",
        "_FMT",
        "__STDC__",
    ];
    PARTS.iter().any(|part| name.contains(part))
}

/// A value however it is written.
fn normal(value: &str) -> String {
    let inner = value.strip_prefix("((double)").and_then(|v| v.strip_suffix("L)"));
    let value = inner.unwrap_or(value);
    if let [b'\'', c, b'\''] = value.as_bytes() {
        return c.to_string();
    }
    let number = match value.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => value.parse().ok(),
    };
    number.map_or(value.to_string(), |number| number.to_string())
}

/// What a compiler of this version defines; nothing if there is none.
fn theirs(compiler: &str, flags: &str, version: (&str, &str)) -> Option<Macros> {
    let output = Command::new(compiler)
        .args(flags.split_whitespace())
        .args(["-dM", "-E", "-x", "c", "/dev/null"])
        .output();
    let Ok(output) = output else {
        eprintln!("skipped: there is no {compiler}");
        return None;
    };
    assert!(output.status.success(), "{flags}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let define = |line: &str| {
        let (name, value) = line.strip_prefix("#define ")?.split_once(' ')?;
        Some((name.to_string(), value.to_string()))
    };
    let all: Macros = text.lines().filter_map(define).collect();
    if all.get(version.0).is_none_or(|found| found != version.1) {
        eprintln!("skipped: another version of {compiler}");
        return None;
    }
    Some(all)
}

/// What vouch defines.
fn ours(compiler: &str, flags: &str) -> Macros {
    let mut toolchain = Toolchain::of_compiler(compiler);
    for flag in flags.split_whitespace() {
        match flag.strip_prefix("--target=") {
            Some(target) => toolchain.name(target, target),
            None => toolchain.refine(flag),
        }
    }
    let model = toolchain.model().unwrap_or_else(|why| panic!("{flags}: {why}"));
    let predefined = toolchain.predefined();
    let text = predefined.text(model);
    let mut all = Macros::new();
    for line in text.lines() {
        let Some(rest) = line.strip_prefix("#define ") else { continue };
        let (name, value) = rest.split_once(' ').unwrap_or((rest, ""));
        all.insert(name.to_string(), value.to_string());
    }
    for change in predefined.changes {
        match change {
            Macro::Define(text) => {
                let (name, value) = text.split_once('=').unwrap();
                all.insert(name.to_string(), value.to_string());
            }
            Macro::Undefine(name) => {
                all.remove(&name);
            }
        }
    }
    all
}

/// Compares both, for all sets of flags.
fn compare(compiler: &str, sets: &[&str], version: (&str, &str)) {
    let mut wrong = vec![];
    for flags in sets {
        let Some(theirs) = theirs(compiler, flags, version) else { return };
        let ours = ours(compiler, flags);
        for name in theirs.keys().chain(ours.keys()) {
            let value = |of: &Macros| of.get(name).map(|value| normal(value));
            let (own, other) = (value(&ours), value(&theirs));
            if own != other && !is_left_out(name) {
                wrong.push(format!("{compiler} {flags}: {name} is {own:?} here, {other:?} there"));
            }
        }
    }
    wrong.dedup();
    assert!(wrong.is_empty(), "{} differ:\n{}", wrong.len(), wrong.join("\n"));
}

/// A data model may be chosen for what none is for.
#[test]
fn others_are_no_pcs() {
    let of = |compiler: &str, flag: &str| {
        let mut toolchain = Toolchain::of_compiler(compiler);
        toolchain.refine(flag);
        assert!(toolchain.model().is_err());
        toolchain.predefined().changes
    };
    let define = |text: &str| Macro::Define(text.into());
    let avr = of("avr-gcc", "-mmcu=atmega328p");
    assert!(avr.contains(&define("__AVR__=1")) && avr.contains(&define("__AVR_ATmega328P__=1")));
    assert!(avr.contains(&Macro::Undefine("__i386__".into())));
    assert!(of("avr-gcc", "-mmcu=at90usb1286").contains(&define("__AVR_AT90USB1286__=1")));
    assert!(of("sdcc", "-O2").contains(&Macro::Undefine("__x86_64__".into())));
}

#[test]
fn macros_are_those_of_gcc_for_arm() {
    compare("arm-none-eabi-gcc", &GCC, ("__GNUC__", "12"));
}

#[test]
fn macros_are_those_of_clang_for_arm() {
    compare("clang", &CLANG, ("__clang_major__", "14"));
    compare("clang", &RISCV, ("__clang_major__", "14"));
}
