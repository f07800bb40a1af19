//! Which crate a function of Rust was made for, as the newer names of symbols tell: one that is generic is made for each crate
//! that needs it, and has the name of that crate at its end. What the compiler knows of the callers there, arguments that are always
//! the same, is a part of it then, and the callers do not have it any more.

/// The crate that a function was made for, if its name ends in a crate or in where that is in the name; empty if it cannot be read.
pub fn made_for(name: &str) -> Option<&str> {
    let whole = name.split('.').next().unwrap_or(name);
    let path = whole.strip_prefix("_R")?;
    let starts = path.char_indices().filter(|(_, c)| matches!(c, 'B' | 'C'));
    let mut ends =
        starts.map(|(at, _)| &path[at..]).filter_map(|tail| match tail.strip_prefix('B') {
            Some(back) => {
                let at = back_reference(back)?;
                Some(path.get(at..).and_then(krate).map_or("", |(name, _)| name))
            }
            None => krate(tail).filter(|(_, rest)| rest.is_empty()).map(|(name, _)| name),
        });
    ends.next_back()
}

/// A crate, and what is behind it: `C`, perhaps `s` with a number and `_`, how long the name is, perhaps `_`, the name.
fn krate(from: &str) -> Option<(&str, &str)> {
    let rest = from.strip_prefix('C')?;
    let rest = match rest.strip_prefix('s') {
        Some(number) => number.split_once('_')?.1,
        None => rest,
    };
    let digits = rest.find(|c: char| !c.is_ascii_digit())?;
    let length: usize = rest[..digits].parse().ok()?;
    let name = &rest[digits..];
    name.strip_prefix('_').unwrap_or(name).split_at_checked(length)
}

/// The number of a reference to a place in the name: in base 62 with a `_` at its end, one less than it is, and nothing for 0.
fn back_reference(from: &str) -> Option<usize> {
    let digit = |c: char| match c {
        '0'..='9' => Some(c as usize - '0' as usize),
        'a'..='z' => Some(c as usize - 'a' as usize + 10),
        'A'..='Z' => Some(c as usize - 'A' as usize + 36),
        _ => None,
    };
    let number = from.strip_suffix('_')?;
    let add = |n: usize, c: char| n.checked_mul(62)?.checked_add(digit(c)?);
    let value = number.chars().try_fold(0usize, add)?;
    if number.is_empty() { Some(0) } else { value.checked_add(1) }
}
