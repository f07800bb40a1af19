//! What the host reads from files.

use crate::model;
use std::path::Path;
use vouch::blast::{self, debug};
use vouch::frontend::{Language, Overflow, Source};
use vouch::{pipeline, signing};

/// The smaller examples: their texts and images.
pub fn examples() -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples");
    let files = std::fs::read_dir(folder).into_iter().flatten().flatten().map(|f| f.path());
    let mut texts: Vec<String> = files
        .filter(|path| path.extension().is_some_and(|e| e == "vch"))
        .filter_map(|path| std::fs::read_to_string(path).ok())
        .collect();
    texts.sort_by_key(|text| (text.len(), text.clone()));
    texts.truncate(8);
    let compiled = texts.into_iter().filter_map(|text| {
        let source = Source { path: "x.vch".into(), text: text.clone() };
        let loaded =
            pipeline::compile(source, Language::Vch, &pipeline::Options::default()).ok()?;
        Some((text, loaded.image.to_vec()))
    });
    compiled.collect()
}

/// A `.vimg` file with its chunks: what passes can be compiled again, packed and verified.
pub fn file(data: &[u8]) {
    // The image in front is a valid one; what follows is anything.
    let image = model::valid();
    for bytes in [data.to_vec(), [&image[..], data].concat(), [&image[..], &chunked(data)].concat()]
    {
        let _ = signing::to_package(&bytes);
        let _ = signing::verify(&bytes, &[9; 32]);
        if let Ok((_, Some(debug))) = debug::split(&bytes) {
            let options = blast::Options { max_nodes: 1 << 16 };
            let _ = blast::compile(&debug.cfa, [0; 32], &options);
        }
    }
}

/// The bytes as chunks with right checksums: a magic, a version, then what is left.
fn chunked(data: &[u8]) -> Vec<u8> {
    match data {
        [kind, version, payload @ ..] => {
            let magic = if kind & 1 == 0 { *b"VDBG" } else { *b"VSIG" };
            debug::chunk(magic, u16::from(*version), payload)
        }
        _ => vec![],
    }
}

pub fn file_seeds() -> Vec<Vec<u8>> {
    let text = "machine m { var x: bool = false; initial state A { else { x = x; } } \
                property p: always !x; }";
    let source = Source { path: "m.vch".into(), text: text.into() };
    let Ok(loaded) = pipeline::compile(source, Language::Vch, &pipeline::Options::default()) else {
        return vec![];
    };
    let file = loaded.to_file();
    let payload = file.get(loaded.image.len() + 16..).unwrap_or_default().to_vec();
    vec![[&[0, 1], &payload[..]].concat(), [&[1, 1], &[0; 184][..]].concat(), file]
}

/// Any text: a model or messages about it, and what is a model can be compiled.
pub fn vch(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else { return };
    let source = Source { path: "fuzz.vch".into(), text: text.into() };
    let options = vouch::frontend::Options { overflow: Overflow::Error, ..Default::default() };
    match vouch::frontend::compile(&source, Language::Vch, &options) {
        Ok(compiled) => {
            let options = blast::Options { max_nodes: 1 << 14 };
            let _ = blast::compile(&compiled.cfa, [0; 32], &options);
        }
        Err(diagnostics) => {
            assert!(!diagnostics.is_empty(), "refused without a reason");
            let _ = vouch::frontend::render_with(&source, &diagnostics, false);
        }
    }
}

pub fn vch_seeds() -> Vec<Vec<u8>> {
    examples().into_iter().map(|(text, _)| text.into_bytes()).collect()
}
