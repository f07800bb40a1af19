//! Flags of compile commands: what they change in the meaning of a program.

use super::options;
use super::project::{database, result_by};
use crate::c;
use crate::{Options, Overflow};

/// What `main` returns in a program of one unit that is compiled with these flags.
fn result(flags: &str, main: &str, others: &[(&str, &str)]) -> Result<u8, String> {
    let folder = tempfile::tempdir().unwrap();
    let files = [&[("src/main.c", main)], others].concat();
    result_by(database(folder.path(), &files, &[("main", flags)]))
}

#[test]
fn macros_follow_the_processor_and_the_flags() {
    const NAMES: [&str; 8] = [
        "__ARM_FEATURE_DSP",
        "__SOFTFP__",
        "__OPTIMIZE_SIZE__",
        "__STRICT_ANSI__",
        "__ARM_ARCH_7EM__",
        "__thumb2__",
        "__clang__",
        "__CHAR_UNSIGNED__",
    ];
    let mut text = "int found;\nint main(void) {\n".to_string();
    for (bit, name) in NAMES.iter().enumerate() {
        text += &format!("#ifdef {name}\nfound |= 1 << {bit};\n#endif\n");
    }
    text += "return found; }\n";
    assert_eq!(result("", &text, &[]), Ok(0b1011_0011));
    let hard = "-mfloat-abi=hard -mfpu=fpv4-sp-d16 -Os -std=c99 -fsigned-char";
    assert_eq!(result(hard, &text, &[]), Ok(0b0011_1101));
    assert_eq!(result("-mcpu=cortex-m0", &text, &[]), Ok(0b1000_0010));
    assert_eq!(result("-mcpu=cortex-m33+nodsp", &text, &[]), Ok(0b1010_0010));
    assert!(result("-mcpu=cortex-x9", &text, &[]).unwrap_err().contains("`-mcpu=cortex-x9`"));
    assert!(result("-mfpu=fpv9", &text, &[]).is_err());
}

#[test]
fn types_follow_the_flags() {
    let text = "enum e { A }; int main(void) { return sizeof(enum e) * 2 + ((char)-1 < 0); }\n";
    assert_eq!(result("", text, &[]), Ok(2));
    assert_eq!(result("-fno-short-enums", text, &[]), Ok(8));
    assert_eq!(result("-fsigned-char", text, &[]), Ok(3));
    assert_eq!(result("-mabi=aapcs-linux -fsigned-char", text, &[]), Ok(9));
}

#[test]
fn folders_are_searched_in_the_order_of_the_compiler() {
    let others = [
        ("inc/which.h", "#define WHICH 1\n"),
        ("system/which.h", "#define WHICH 2\n"),
        ("system/stdbool.h", "#define true 4\n"),
        ("late/which.h", "#define WHICH 8\n"),
        ("late/stddef.h", "#error not this one\n"),
        ("late/late.h", "#define LATE 16\n"),
        ("src/errno.h", "#error not this one\n"),
        ("src/own.h", "#define OWN 32\n"),
    ];
    let text = "#include <which.h>\n#include <stdbool.h>\n#include <stddef.h>\n#include <errno.h>\n\
                #include <late.h>\n#include \"own.h\"\n\
                int main(void) { return WHICH + true + LATE + OWN; }\n";
    // `-I../inc` comes last in the command, and before folders of the system all the same.
    assert_eq!(result("-idirafter ../late -isystem ../system", text, &others), Ok(1 + 4 + 16 + 32));
}

#[test]
fn macros_of_a_file_are_all_that_is_taken_of_it() {
    let others = [
        ("build/only.h", "#define N 3\nint declared = 7;\n#define M N + declared\n"),
        ("build/all.h", "int declared = N + 1;\n"),
    ];
    let text = "int main(void) { return M + TWICE(2); }\n";
    let flags = "-include all.h -imacros only.h '-DTWICE(x)=2*(x)'";
    assert_eq!(result(flags, text, &others), Ok(3 + 4 + 4));
}

#[test]
fn overflow_is_what_the_compiler_makes_of_it() {
    let text = "int main(void) { return 1; }\n";
    assert_eq!(result("-fwrapv", text, &[]), Ok(1));
    let trapped = result("-ftrapv", text, &[]).unwrap_err();
    assert!(trapped.contains("end the program") && trapped.contains("--overflow error"));
    assert_eq!(result("-ftrapv -fwrapv", text, &[]), Ok(1));
    let gather = |flags: &str, overflow| {
        let folder = tempfile::tempdir().unwrap();
        let database = database(folder.path(), &[("src/main.c", text)], &[("main", flags)]);
        c::gather(database, &Options { overflow, ..options("main") }).is_ok()
    };
    assert!(gather("-ftrapv", Overflow::Error) && gather("-ftrapv", Overflow::Assume));
    assert!(gather("", Overflow::Assume) && !gather("-fwrapv", Overflow::Assume));
    assert!(!gather("-fno-strict-overflow", Overflow::Assume));
}

#[test]
fn three_characters_are_one_where_the_standard_says_so() {
    let text = "int main(void) { return sizeof(\"??=\"); }\n";
    assert_eq!(result("", text, &[]), Ok(4));
    assert_eq!(result("-std=gnu11", text, &[]), Ok(4));
    assert_eq!(result("-std=c99", text, &[]), Ok(2));
    assert_eq!(result("-trigraphs", text, &[]), Ok(2));
}

#[test]
fn nothing_is_defined_if_that_is_asked_for() {
    let text = "#if defined __arm__ || defined __GNUC__\n#error defined\n#endif\n\
                int main(void) { return 1; }\n";
    assert_eq!(result("-undef", text, &[]), Ok(1));
    assert!(result("", text, &[]).is_err());
}

#[test]
fn what_a_pragma_makes_weak_yields() {
    let files = [
        (
            "src/main.c",
            "#pragma weak hook\nint hook(void) { return 1; }\nint main(void) { return hook(); }\n",
        ),
        ("src/other.c", "int hook(void) { return 2; }\n"),
    ];
    for (names, wanted) in [(&["main", "other"][..], 2), (&["other", "main"], 2), (&["main"], 1)] {
        let folder = tempfile::tempdir().unwrap();
        let entries: Vec<(&str, &str)> = names.iter().map(|name| (*name, "")).collect();
        assert_eq!(result_by(database(folder.path(), &files, &entries)), Ok(wanted), "{names:?}");
    }
}
