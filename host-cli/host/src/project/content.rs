//! What a check depends on besides its options: the content of every file that it reads.

use super::store::hash_all;
use crate::frontend::{self, Language, Source};
use crate::pipeline::Options;
use crate::read;
use std::path::Path;

/// The hash of all that is read for a model: of C, what its preprocessor makes of all units, so that a header that comes to be
/// found instead of another counts, too. Nothing, if something cannot be read: then nothing is known of it either.
pub fn digest(path: &Path, options: &Options) -> Option<String> {
    let bytes = read::file(path).ok()?;
    let by_name = || Language::from_path(path);
    let language = options.language.or_else(|| Language::from_content(&bytes)).or_else(by_name);
    if language != Some(Language::C) {
        return Some(hash_all(&[&bytes]));
    }
    let text = String::from_utf8(bytes).ok()?;
    let source = Source { path: path.display().to_string(), text };
    let source = frontend::gather(source, Language::C, &options.front()).ok()?;
    let mut parts = vec![source.text.into_bytes()];
    for path in &options.c.registers {
        parts.push(read::file(Path::new(path)).ok()?);
    }
    Some(hash_all(&parts.iter().map(Vec::as_slice).collect::<Vec<&[u8]>>()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_file_includes_counts() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = folder.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let model = file("a.c", "#include \"limit.h\"\nint main(void) { return LIMIT; }\n");
        let options = Options::default();
        assert_eq!(digest(&model, &options), None, "the header is missing");
        file("limit.h", "#define LIMIT 1\n");
        let first = digest(&model, &options).unwrap();
        assert_eq!(digest(&model, &options), Some(first.clone()));
        file("limit.h", "#define LIMIT 2\n");
        assert_ne!(digest(&model, &options), Some(first));
    }
}
