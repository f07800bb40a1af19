//! Which files a pattern means: `*` is any part of a name, `**` any folders.

use std::path::Path;

/// Whether a pattern is one.
pub fn is_pattern(text: &str) -> bool {
    text.contains(['*', '?'])
}

/// The files below a folder that a pattern means, in order, as paths from that folder with `/` between names. What begins
/// with a dot is meant only by what begins with one.
pub fn matching(folder: &Path, pattern: &str) -> Vec<String> {
    let parts: Vec<&str> =
        pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut found = vec![];
    below(folder, "", &parts, &mut found);
    found.sort();
    found.dedup();
    found
}

fn below(folder: &Path, so_far: &str, parts: &[&str], found: &mut Vec<String>) {
    let Some((first, rest)) = parts.split_first() else { return };
    if *first == "**" {
        below(folder, so_far, rest, found);
    }
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        let Ok(name) = entry.file_name().into_string() else { continue };
        let is_folder = entry.path().is_dir();
        let path = format!("{so_far}{name}");
        if *first == "**" {
            if is_folder && !name.starts_with('.') {
                below(&entry.path(), &format!("{path}/"), parts, found);
            }
        } else if is_like(&name, first) {
            match rest.is_empty() {
                true if !is_folder => found.push(path),
                false if is_folder => below(&entry.path(), &format!("{path}/"), rest, found),
                _ => {}
            }
        }
    }
}

/// Whether a name is like a pattern.
fn is_like(name: &str, pattern: &str) -> bool {
    if name.starts_with('.') && !pattern.starts_with('.') {
        return false;
    }
    let (name, pattern): (Vec<char>, Vec<char>) =
        (name.chars().collect(), pattern.chars().collect());
    // Where to continue if what follows the last `*` does not fit.
    let (mut n, mut p, mut again) = (0, 0, None);
    while n < name.len() {
        match pattern.get(p) {
            Some('*') => {
                again = Some((n, p));
                p += 1;
            }
            Some(c) if *c == '?' || *c == name[n] => (n, p) = (n + 1, p + 1),
            _ => match again {
                Some((from, star)) => {
                    again = Some((from + 1, star));
                    (n, p) = (from + 1, star + 1);
                }
                None => return false,
            },
        }
    }
    pattern[p..].iter().all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stars_are_any_part_of_a_name() {
        for (name, pattern, expected) in [
            ("pump.vch", "*.vch", true),
            ("pump.c", "*.vch", false),
            ("pump.vch", "p?mp.*", true),
            ("aXbXc", "a*b*c", true),
            ("aXbX", "a*b*c", false),
            (".hidden.vch", "*.vch", false),
            ("x", "**", true),
        ] {
            assert_eq!(is_like(name, pattern), expected, "{name} {pattern}");
        }
    }

    #[test]
    fn files_are_found_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for path in ["b.vch", "a.vch", "x/c.vch", "x/y/d.vch", ".git/e.vch", "x/f.c"] {
            let path = folder.path().join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        assert_eq!(matching(folder.path(), "*.vch"), ["a.vch", "b.vch"]);
        assert_eq!(matching(folder.path(), "./x/*"), ["x/c.vch", "x/f.c"]);
        assert_eq!(matching(folder.path(), "**/*.vch"), ["a.vch", "b.vch", "x/c.vch", "x/y/d.vch"]);
        assert_eq!(matching(folder.path(), "no/*.vch"), [""; 0]);
    }
}
