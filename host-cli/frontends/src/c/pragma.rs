//! Pragmas. Those that change what a program means are honoured or refused; the rest is advice to the compiler.

/// What one says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Pragma<'a> {
    /// `pack(…)`, with what is in the parentheses.
    Pack(&'a str),
    /// Another definition of this name counts more.
    Weak(&'a str),
    /// The program means something else, which is not modelled: what to do instead.
    Refused(&'static str),
    /// Nothing that a program could notice.
    Nothing,
}

/// Words of `#pragma GCC optimize` with which numbers are computed in another way.
const COMPUTES: [&str; 10] = [
    "fast-math",
    "Ofast",
    "finite-math",
    "unsafe-math",
    "associative-math",
    "reciprocal-math",
    "no-signed-zeros",
    "single-precision-constant",
    "trapv",
    "pack-struct",
];

/// Sections that start-up code fills, or that hold no variables.
const USUAL: [&str; 7] = [".text", ".data", ".bss", ".rodata", ".const", ".intvec", "flash"];

/// Whether a pragma names a section that start-up code may leave alone.
fn names_other_section(lower: &str) -> bool {
    let quoted = lower.split('"').skip(1).step_by(2);
    let plain = lower.split([' ', '=', '"']).filter(|word| word.starts_with('.'));
    let is_usual =
        |name: &str| !name.contains("noinit") && USUAL.iter().any(|usual| name.starts_with(usual));
    quoted.chain(plain).any(|name| !is_usual(name))
}

/// Reads what follows `#pragma`.
pub fn read(text: &str) -> Pragma<'_> {
    let text = text.split("/*").next().unwrap_or("").split("//").next().unwrap_or("").trim();
    let end = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let rest = rest.trim();
    let lower = rest.to_ascii_lowercase();
    let keeps = lower.contains("no_init") || names_other_section(&lower);
    let is_number = rest.trim_start_matches(['=', ' ']).starts_with(|c: char| c.is_ascii_digit());
    let not_cleared = "say where the variable is with `__attribute__((section(\".noinit\")))`";
    let layout = "say how members lie with `__attribute__((packed))`, `aligned` or `#pragma pack`";
    match word {
        "pack" => match rest.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')) {
            Some(inner) => Pragma::Pack(inner),
            None => Pragma::Nothing,
        },
        "weak" if rest.contains('=') => {
            Pragma::Refused("declare it with `__attribute__((weak, alias(\"…\")))`")
        }
        "weak" => Pragma::Weak(rest),
        "redefine_extname" => Pragma::Refused("declare it with `asm(\"…\")`"),
        "scalar_storage_order" if !matches!(&*lower, "default" | "little-endian") => {
            Pragma::Refused("swap the bytes where they are read and written")
        }
        "ms_struct" if lower == "on" => Pragma::Refused(layout),
        "options" if lower.starts_with("align") && !lower.ends_with("reset") => {
            Pragma::Refused(layout)
        }
        "bitfields" if !lower.ends_with("default") => Pragma::Refused(layout),
        "STRUCT_ALIGN" => Pragma::Refused(layout),
        "type_attribute" | "object_attribute" if lower.contains("packed") => {
            Pragma::Refused(layout)
        }
        "location" | "LOCATION" if is_number || word == "LOCATION" => Pragma::Refused(
            "access what lies at an address through a pointer that is made of the number",
        ),
        "location"
        | "object_attribute"
        | "type_attribute"
        | "variable_attribute"
        | "default_variable_attributes"
        | "dataseg"
        | "arm"
        | "clang"
        | "DATA_SECTION"
        | "SET_DATA_SECTION"
            if keeps =>
        {
            Pragma::Refused(not_cleared)
        }
        "NOINIT" | "PERSISTENT" => Pragma::Refused(not_cleared),
        "clang" if lower.starts_with("attribute") => {
            Pragma::Refused("write the attribute where it is meant")
        }
        "clang" if lower.starts_with("fp") && lower.contains("reassociate") => {
            Pragma::Refused("have floating-point numbers computed as C says")
        }
        "float_control" if lower.contains("off") => {
            Pragma::Refused("have floating-point numbers computed as C says")
        }
        "GCC" if lower.starts_with("optimize") && COMPUTES.iter().any(|c| rest.contains(c)) => {
            Pragma::Refused("leave out what lets numbers be computed in another way")
        }
        _ => Pragma::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_changes_the_meaning_is_told_from_advice() {
        assert_eq!(read("pack(push, 1)"), Pragma::Pack("push, 1"));
        assert_eq!(read("pack (2) /* bytes */"), Pragma::Pack("2"));
        assert_eq!(read("weak hook"), Pragma::Weak("hook"));
        for refused in [
            "weak a = b",
            "scalar_storage_order big-endian",
            "ms_struct on",
            "bitfields=reversed",
            "location=0x20000000",
            "location = \".noinit\"",
            "object_attribute=__no_init",
            "arm section zidata=\".noinit\"",
            "clang section bss=\".noinit.x\"",
            "clang section bss=.ccmram",
            "location=\"RETAINED\"",
            "clang attribute push(__attribute__((packed)), apply_to = record)",
            "NOINIT(x)",
            "GCC optimize (\"O3,fast-math\")",
            "redefine_extname a b",
        ] {
            assert!(matches!(read(refused), Pragma::Refused(_)), "{refused}");
        }
        for advice in [
            "GCC diagnostic ignored \"-Wunused\"",
            "GCC optimize (\"O0\")",
            "GCC push_options",
            "once",
            "message \"x\"",
            "section=\"FLASH\"",
            "location=\"FLASH\"",
            "clang section bss=\".bss.fast\"",
            "arm section",
            "clang diagnostic push",
            "diag_suppress=Pe177",
            "scalar_storage_order default",
            "unroll(4)",
            "STDC FP_CONTRACT ON",
            "optimize=none",
            "",
        ] {
            assert_eq!(read(advice), Pragma::Nothing, "{advice}");
        }
    }
}
