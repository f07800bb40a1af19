//! What somebody may have meant who wrote something else.

/// The known word that is nearest to a misspelt one, if any is near.
pub fn nearest<'a>(word: &str, known: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    known
        .map(|k| (distance(word, k), k))
        .filter(|(d, k)| *d <= 1 + k.len().min(word.len()) / 3 && *d < word.len())
        .min()
        .map(|(_, nearest)| nearest)
}

/// The type that one of C is called here.
pub fn of_c(word: &str) -> Option<&'static str> {
    Some(match word {
        "uint8_t" | "char" | "byte" => "u8",
        "uint16_t" => "u16",
        "uint32_t" | "unsigned" | "size_t" => "u32",
        "uint64_t" => "u64",
        "int8_t" => "i8",
        "int16_t" | "short" => "i16",
        "int32_t" | "int" | "long" => "i32",
        "int64_t" => "i64",
        "_Bool" | "boolean" => "bool",
        _ => return None,
    })
}

/// The operator that a word is elsewhere.
pub fn operator(word: &str) -> Option<&'static str> {
    Some(match word {
        "and" => "&&",
        "or" => "||",
        "not" => "!",
        "xor" => "^",
        "mod" => "%",
        "implies" => "=>",
        _ => return None,
    })
}

/// Edit distance; names are short.
fn distance(a: &str, b: &str) -> usize {
    if a.len() > 64 || b.len() > 64 {
        return usize::MAX;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let cost = diagonal + !x.eq_ignore_ascii_case(&y) as usize;
            diagonal = row[j + 1];
            row[j + 1] = cost.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
