//! Functions that stand for something: those that say that something failed, and those that are inputs.

/// What checks of arithmetic say.
pub const OVERFLOW: &str = "overflow";

/// How the names begin of functions that belong to Rust.
const LIBRARY: [&str; 8] = [
    "core::",
    "<core::",
    "alloc::",
    "<alloc::",
    "std::",
    "<std::",
    "__rustc",
    "compiler_builtins::",
];

/// Functions that are known by their names, and what a call of them says.
const NAMED: [(&str, &str); 9] = [
    ("vouch_fail", "assertion"),
    ("abort", "assertion"),
    ("__assert_func", "assertion"),
    ("__assert_fail", "assertion"),
    ("__assert", "assertion"),
    ("__aeabi_assert", "assertion"),
    ("vouch_panic", "panic"),
    ("rust_begin_unwind", "panic"),
    ("__rust_start_panic", "panic"),
];

/// What compilers append to the names of copies that they make of a function: for arguments that are always the same, or to keep the
/// functions of two files apart. Only the last two are pieces of one.
pub const COPIES: [&str; 7] =
    [".constprop.", ".isra.", ".lto_priv.", ".localalias", ".llvm.", ".part.", ".cold"];
const PIECES: usize = 2;

/// The name of the function that this one is a copy of.
pub fn original<'a>(name: &'a str, copies: &[&str]) -> &'a str {
    let starts = copies.iter().filter_map(|copy| name.find(copy));
    starts.min().map_or(name, |start| &name[..start])
}

/// A path without the types in it.
fn without_types(shown: &str) -> String {
    let (mut path, mut depth, mut before) = (String::new(), 0usize, ' ');
    for c in shown.chars() {
        match c {
            '<' => depth += 1,
            '>' if before == '-' => {}
            '>' => depth = depth.saturating_sub(1),
            _ if depth == 0 => path.push(c),
            _ => {}
        }
        before = c;
    }
    path
}

/// Whether a function means something by its name, and only where it is called.
pub fn is_meant(name: &str) -> bool {
    NAMED.iter().any(|(own, _)| *own == name) || input(name).is_some()
}

/// Whether a name is that of a copy of this function.
pub fn is_copy(name: &str, of: &str) -> bool {
    name != of && original(name, &COPIES) == of
}

/// What a call of this function says has failed.
pub fn failure(name: &str, shown: &str) -> Option<&'static str> {
    let (name, shown) = (original(name, &COPIES), original(shown, &COPIES));
    if let Some((_, what)) = NAMED.iter().find(|(own, _)| *own == name) {
        return Some(what);
    }
    // Names such as `panic_button` mean nothing elsewhere, nor where a function of the library is made for one of that name.
    let is_library = LIBRARY.iter().any(|part| shown.starts_with(part));
    let path = without_types(shown);
    let last = path.rsplit("::").find(|part| !part.is_empty()).unwrap_or(shown);
    if is_library && last.starts_with("panic_const_") && last.ends_with("_overflow") {
        return Some(OVERFLOW);
    }
    let is_panic = path.contains("core::panicking::")
        || path.contains("std::panicking::")
        || is_library
            && (last.contains("panic")
                || matches!(last, "unwrap_failed" | "expect_failed" | "rust_begin_unwind")
                || (last.starts_with("slice_") && last.contains("index"))
                || last.ends_with("_fail"))
        || name.starts_with("_ZN4core9panicking");
    is_panic.then_some("panic")
}

/// The width of the result, if a function is an input by its name: the name ends in the type, as in
/// `vouch_input_u8`; without a type all of the result is.
pub fn input(name: &str) -> Option<(u32, bool)> {
    let name = original(name, &COPIES[..COPIES.len() - PIECES]);
    let rest = name.strip_prefix("vouch_input_").filter(|rest| !rest.contains('.'))?;
    Some(match rest.rsplit('_').next().unwrap_or(rest) {
        "bool" => (1, false),
        "u8" => (8, false),
        "i8" => (8, true),
        "u16" => (16, false),
        "i16" => (16, true),
        _ => (32, false),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_fails() {
        let shown = "core::panicking::panic_bounds_check";
        assert_eq!(failure("_RNv", shown), Some("panic"));
        assert_eq!(failure("x", "core::option::unwrap_failed"), Some("panic"));
        assert_eq!(failure("x", "core::slice::index::slice_index_fail"), Some("panic"));
        assert_eq!(failure("x", "core::slice::index::slice_end_index_len_fail"), Some("panic"));
        let overflow = "core::panicking::panic_const::panic_const_add_overflow";
        assert_eq!(failure("x", overflow), Some("overflow"));
        let generic = "core::panicking::assert_failed::<u32, fn(u8) -> u32>";
        assert_eq!(failure("x", generic), Some("panic"));
        assert_eq!(failure("abort", "abort"), Some("assertion"));
        let copy = "__assert_func.constprop.0.isra.0";
        assert_eq!(failure(copy, copy), Some("assertion"));
        assert_eq!(failure("step", "door::step"), None);
        assert_eq!(failure("_RNv", "__rustc::rust_begin_unwind"), Some("panic"));
        // A button for panic, say.
        let map = "<core::option::Option<u8>>::map::<bool, pad::is_panic_button>";
        for name in ["panic_pressed", "is_panic", "door::clear_panic", "line::expect_failed", map] {
            assert_eq!(failure(name, name), None, "{name}");
        }
    }

    #[test]
    fn what_is_an_input() {
        assert_eq!(input("vouch_input_u8"), Some((8, false)));
        assert_eq!(input("vouch_input_adc_i16"), Some((16, true)));
        assert_eq!(input("vouch_input_key"), Some((32, false)));
        assert_eq!(input("read_key"), None);
        assert_eq!(input("vouch_input_u8.constprop.0"), Some((8, false)));
        assert_eq!(input("vouch_input_u8.part.0"), None);
    }
}
