//! Functions that stand for instructions, and headers as firmware includes them.

use super::language::{cfa, holds};
use super::{compile, options, run};
use std::fmt::Write as _;
use std::process::Command;

#[test]
fn functions_for_instructions_compute() {
    let one =
        |condition: &str| holds("unsigned v = 0x12345678; int big = 0x7fffffff;", "", condition);
    one("__CLZ(v) == 3 && __CLZ(v - v) == 32 && __RBIT(v) == 0x1e6a2c48");
    one(
        "__REV(v) == 0x78563412 && __REV16(v) == 0x34127856 && __REVSH((short)0x80ff) == (short)0xff80",
    );
    one("__ROR(v, 8) == 0x78123456 && __ROR(v, 0) == v && __ROR(v, 32) == v");
    one(
        "__SSAT(big, 8) == 127 && __SSAT(-big, 8) == -128 && __SSAT(5, 8) == 5 && __SSAT(big, 32) == big",
    );
    one("__USAT(-1, 8) == 0 && __USAT(300, 8) == 255 && __USAT(big, 31) == 0x7fffffff");
    one("__QADD(big, 1) == big && __QSUB(-big, big) == -big - 1 && __QADD(1, 2) == 3");
    one(
        "__builtin_rotateleft32(v, 8) == 0x34567812 && __builtin_rotateright8((unsigned char)1, 1) == 128",
    );
    one("__builtin_bitreverse8(1) == 128 && __builtin_bitreverse64(1) == 1ull << 63");
    one(
        "__UADD8(0xff01ff01, 0x01010101) == 0x00020002 && __UQADD8(0xff01ff01, 0x01010101) == 0xff02ff02",
    );
    one("__SMUAD(0xffff0002, 0x00030004) == 5 && __PKHBT(0x1111, 0x2222, 16) == 0x22221111");
    one("__builtin_object_size(&v, 0) == -1ul && __builtin_object_size(&v, 2) == 0");
}

#[test]
fn instructions_that_wait_do_nothing() {
    let text = "void __SEVL(void);";
    holds(
        text,
        "__SEVL(); __YIELD(); __builtin_arm_dmb(15); __builtin_arm_nop(); __schedule_barrier();",
        "1",
    );
}

/// What registers hold that nothing here knows is no reason to call a program unsafe.
#[test]
fn what_a_register_holds_is_the_programs_choice() {
    let text = "extern void reach_error(void);
        int main(void) { if ((__get_IPSR() & 3) == 3) reach_error(); return 0; }";
    let cfa = cfa(text, &options("main"));
    assert_eq!(run(&cfa, 3, 1000).location, "error reach_error");
    assert_eq!(run(&cfa, 4, 1000).location, "end");
}

/// Instructions with one operand, with two and with three; those that add to 64 bits.
const ONE: [&str; 6] = ["CLZ", "RBIT", "REV", "REV16", "UXTB16", "SXTB16"];
const TWO: [&str; 45] = [
    "QADD", "QSUB", "SADD8", "SADD16", "SSUB8", "SSUB16", "SASX", "SSAX", "QADD8", "QADD16",
    "QSUB8", "QSUB16", "QASX", "QSAX", "SHADD8", "SHADD16", "SHSUB8", "SHSUB16", "SHASX", "SHSAX",
    "UADD8", "UADD16", "USUB8", "USUB16", "UASX", "USAX", "UQADD8", "UQADD16", "UQSUB8", "UQSUB16",
    "UQASX", "UQSAX", "UHADD8", "UHADD16", "UHSUB8", "UHSUB16", "UHASX", "UHSAX", "USAD8",
    "UXTAB16", "SXTAB16", "SMUAD", "SMUSD", "SMUADX", "SMUSDX",
];
const THREE: [&str; 6] = ["SMLAD", "SMLADX", "SMLSD", "SMLSDX", "SMMLA", "USADA8"];
const LONG: [&str; 4] = ["SMLALD", "SMLALDX", "SMLSLD", "SMLSLDX"];

/// A program for a Cortex-M4 that holds the bodies against the instructions, and ends well if all agree.
fn program() -> String {
    let bodies = include_str!("../include/intrinsics.c").split_inclusive("\n}\n").filter(|body| {
        !["_chk(", "object_size(", "debugtrap(", "double", "float"]
            .iter()
            .any(|part| body.contains(part))
    });
    let mut text = "static char __vouch_text(void) { return 0; }\n".to_string();
    text.extend(bodies);
    text += "static int bad;\n#define SAME(x, y) do { if ((unsigned)(x) != (y)) bad = 1; } while (0)\n\
             static void check(unsigned a, unsigned b, unsigned c) {\nunsigned r;\n";
    let inputs = "\"r\"(a), \"r\"(b), \"r\"(c)";
    let mut same = |call: &str, instruction: &str| {
        let _ = writeln!(
            text,
            "__asm volatile(\"{instruction}\" : \"=r\"(r) : {inputs}); SAME({call}, r);"
        );
    };
    for name in ONE {
        same(&format!("__{name}(a)"), &format!("{name} %0, %1"));
    }
    same("__REVSH((short)a)", "REVSH %0, %1");
    same("__ROR(a, b & 255)", "UXTB %0, %2\\n ROR %0, %1, %0");
    for name in TWO {
        same(&format!("__{name}(a, b)"), &format!("{name} %0, %1, %2"));
    }
    for name in THREE {
        same(&format!("__{name}(a, b, c)"), &format!("{name} %0, %1, %2, %3"));
    }
    for bits in 0..=32 {
        if bits > 0 {
            same(&format!("__SSAT(a, {bits})"), &format!("SSAT %0, #{bits}, %1"));
        }
        if bits < 32 {
            same(&format!("__USAT(a, {bits})"), &format!("USAT %0, #{bits}, %1"));
            same(&format!("__PKHBT(a, b, {bits})"), &format!("PKHBT %0, %1, %2, LSL #{bits}"));
        }
        if (1..=16).contains(&bits) {
            same(&format!("__SSAT16(a, {bits})"), &format!("SSAT16 %0, #{bits}, %1"));
        }
        if bits < 16 {
            same(&format!("__USAT16(a, {bits})"), &format!("USAT16 %0, #{bits}, %1"));
        }
        if bits > 0 {
            same(&format!("__PKHTB(a, b, {bits})"), &format!("PKHTB %0, %1, %2, ASR #{bits}"));
        }
    }
    for name in LONG {
        let _ = writeln!(
            text,
            "{{ unsigned low = c, high = a ^ b; unsigned long long own = __{name}(a, b, (unsigned long long)high << 32 | low);
             __asm volatile(\"{name} %0, %1, %2, %3\" : \"+r\"(low), \"+r\"(high) : \"r\"(a), \"r\"(b));
             SAME(own, low); SAME(own >> 32, high); }}"
        );
    }
    text += "}
        static const unsigned odd[20] = { 0, 1, 2, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x10000, 0x7fffffff,
            0x80000000, 0xffffffff, 0x7f807f80, 0x80ff7f01, 0x80008000, 0x7fff7fff, 0xff00ff00, 0x12345678 };
        static unsigned state = 1;
        static unsigned next(void) { return state = state * 1664525u + 1013904223u; }
        void start(void) {
            for (int i = 0; i < 20; i++) for (int j = 0; j < 20; j++) check(odd[i], odd[j], odd[(i + j) % 20]);
            for (int i = 0; i < 1000; i++) { unsigned a = next(), b = next(); check(a, b, next()); }
            register unsigned operation __asm(\"r0\") = 0x18, why __asm(\"r1\") = bad ? 0x20023 : 0x20026;
            __asm volatile(\"bkpt 0xab\" :: \"r\"(operation), \"r\"(why) : \"memory\");
            for (;;);
        }
        __attribute__((section(\".vectors\"), used)) static const void *const vectors[] = { (void *)0x20010000, start };\n";
    text
}

#[test]
fn bodies_do_what_instructions_do() {
    let folder = tempfile::tempdir().unwrap();
    let (source, binary) = (folder.path().join("p.c"), folder.path().join("p.elf"));
    std::fs::write(&source, program()).unwrap();
    let places = [
        "-Wl,-e,start",
        "-Wl,--section-start=.vectors=0",
        "-Wl,-Ttext=0x400",
        "-Wl,-Tdata=0x20000000",
    ];
    let gcc = Command::new("arm-none-eabi-gcc")
        .args(["-w", "-O1", "-mcpu=cortex-m4", "-mthumb", "-nostdlib", "-ffreestanding"])
        .args(places)
        .args([&source])
        .args(["-lgcc", "-o"])
        .arg(&binary)
        .output();
    let Ok(gcc) = gcc else {
        eprintln!("skipped: there is no arm-none-eabi-gcc");
        return;
    };
    assert!(gcc.status.success(), "{}", String::from_utf8_lossy(&gcc.stderr));
    let run = Command::new("qemu-system-arm")
        .args(["-M", "mps2-an386", "-nographic", "-semihosting", "-kernel"])
        .arg(&binary)
        .output();
    let Ok(run) = run else {
        eprintln!("skipped: there is no qemu-system-arm");
        return;
    };
    assert!(run.status.success(), "a body differs from its instruction");
}

/// How wide types are, and what macros of headers are, must be what the compiler's own headers say.
#[test]
fn headers_say_what_those_of_the_compiler_say() {
    let text = "#include <stddef.h>\n#include <stdint.h>\n#include <limits.h>\n#include <float.h>\n\
        int sizes[] = { sizeof(max_align_t), _Alignof(max_align_t), sizeof(int_fast8_t), sizeof(int_fast16_t),\n\
        sizeof(int_fast32_t), sizeof(wchar_t), sizeof(INT8_C(1)), sizeof(UINT64_C(1)), sizeof(INTMAX_C(1)) };\n\
        long long values[] = { INT_FAST16_MAX, UINT_FAST8_MAX, WCHAR_MIN, WCHAR_MAX, SIG_ATOMIC_MIN, PTRDIFF_MIN,\n\
        CHAR_MIN, CHAR_MAX, LLONG_MIN, FLT_MAX_10_EXP, DBL_MIN_10_EXP, FLT_DECIMAL_DIG, UINT32_C(1) - 2 < 0 };\n\
        int k; int main(void) { sizes[k] += 0; values[k] += 0; return 0; }\n";
    for (model, compiler) in [
        ("ilp32", &["gcc", "-m32"][..]),
        ("lp64", &["gcc", "-m64"]),
        ("arm32", &["arm-none-eabi-gcc", "-mcpu=cortex-m3"]),
        ("arm32-signed-char", &["arm-none-eabi-gcc", "-mcpu=cortex-m3", "-fsigned-char"]),
    ] {
        let mut options = options("main");
        options.c.model = model.parse().unwrap();
        let compiled = compile(text, &options).unwrap();
        let ended = run(&compiled.cfa, 0, 1000);
        let folder = tempfile::tempdir().unwrap();
        let (source, made) = (folder.path().join("p.c"), folder.path().join("p.o"));
        std::fs::write(&source, text).unwrap();
        let output = Command::new(compiler[0])
            .args(&compiler[1..])
            .args(["-w", "-std=gnu11", "-ffreestanding", "-fno-pic", "-c", "-o"])
            .args([&made, &source])
            .output();
        let Ok(output) = output else {
            eprintln!("skipped: there is no {}", compiler[0]);
            continue;
        };
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let bytes = std::fs::read(&made).unwrap();
        use object::{Object as _, ObjectSection as _, ObjectSymbol as _};
        let file = object::File::parse(&*bytes).unwrap();
        for (name, width) in [("sizes", 4), ("values", 8)] {
            let symbol = file.symbol_by_name(name).unwrap();
            let section = file.section_by_index(symbol.section_index().unwrap()).unwrap();
            let start = symbol.address() as usize;
            let data = &section.data().unwrap()[start..start + symbol.size() as usize];
            for (index, bytes) in data.chunks(width).enumerate() {
                let mut whole = [0; 8];
                whole[..width].copy_from_slice(bytes);
                let own = ended.values[&format!("{name}[{index}]")];
                let wanted = u64::from_le_bytes(whole) as vouch_ir::Word;
                assert_eq!(own, wanted, "{model}: {name}[{index}]");
            }
        }
    }
}

#[test]
fn numbers_that_are_none_are_told_by_macros() {
    let head = "#include <math.h>\nfloat f = NAN, h = -1.0f; double d = -INFINITY, z = -0.0, e = 1e-310; int n;\n\
                double next(void) { n++; return 1.0; }\n";
    holds(head, "", "isnan(f) && !isnan(d) && isinf(d) && !isfinite(d) && isfinite(h)");
    holds(head, "", "signbit(h) && signbit(z) && !signbit(1.0f) && signbit(d)");
    holds(head, "", "fpclassify(z) == FP_ZERO && fpclassify(e) == FP_SUBNORMAL && isnormal(h)");
    holds(
        head,
        "",
        "__builtin_isnan(f) && __builtin_signbit(z) && !__builtin_isinf_sign(e) && __builtin_isinf_sign(d) == -1",
    );
    holds(head, "int a = isnan(next()), b = isfinite(next());", "n == 2 && !a && b");
}

#[test]
fn pragmas_change_what_they_say() {
    let packed = "#pragma pack(push, keep, 2)\nstruct a { char c; int i; };\n#pragma pack(push)\n#pragma pack(1)\n\
        struct b { char c; int i; };\n_Pragma(\"pack(pop, keep)\") struct c { char c; int i; };\n";
    holds(packed, "", "sizeof(struct a) == 6 && sizeof(struct b) == 5 && sizeof(struct c) == 8");
    for wrong in [
        "pack(3)",
        "pack(pop)",
        "pack(pop, 4)",
        "pack(pop, other)",
        "bitfields=reversed",
        "location=0x10",
    ] {
        let text = format!("#pragma {wrong}\nint main(void) {{ return 0; }}\n");
        assert!(compile(&text, &options("main")).is_err(), "{wrong}");
    }
    let advice = "#pragma GCC diagnostic push\n#pragma section=\"FLASH\"\n#pragma message(\"x\")\nint x = 1;\n";
    holds(advice, "", "x == 1");
}

#[test]
fn alignment_without_a_number_is_the_largest() {
    let text = "struct s { char c; int i __attribute__((aligned)); };";
    holds(text, "", "sizeof(struct s) == 32");
}
