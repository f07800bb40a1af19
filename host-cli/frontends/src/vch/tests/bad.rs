//! Every mistake is shown with its place and a way out: a folder of bad sources, each with what the
//! compiler says about it next to it. `VOUCH_BLESS=1` writes that anew.

use super::*;
use crate::Diagnostic;
use std::path::{Path, PathBuf};

/// What is said about a text: its errors, or its warnings.
fn said(text: &str) -> Vec<Diagnostic> {
    match super::super::compile(text, &Options::default()) {
        Ok(compiled) => compiled.warnings,
        Err(errors) => errors,
    }
}

#[test]
fn bad_sources_get_the_expected_text() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/vch/tests/bad");
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|e| e == "vch"));
    files.sort();
    let mut count = 0;
    for file in &files {
        let text = std::fs::read_to_string(file).unwrap();
        let diagnostics = said(&text);
        assert!(!diagnostics.is_empty(), "{}: nothing is said", file.display());
        for d in &diagnostics {
            assert!(d.help.is_some(), "{}: no way out of: {}", file.display(), d.message);
            assert!(d.span.start <= d.span.end && d.span.end as usize <= text.len());
            count += 1;
        }
        let path = file.file_name().unwrap().to_string_lossy().into_owned();
        let found = render(&Source { path, text }, &diagnostics);
        let place = file.with_extension("txt");
        if std::env::var_os("VOUCH_BLESS").is_some() {
            std::fs::write(&place, &found).unwrap();
        }
        let expected = std::fs::read_to_string(&place).unwrap_or_default();
        assert_eq!(found, expected, "{}", file.display());
    }
    assert!(count > 60, "{count} mistakes");
}
