//! The image files that the host reads.

use crate::{model, source};
use vouch_host::blast::{self, debug};
use vouch_host::frontend::{Language, Source};
use vouch_host::{pipeline, signing};

/// The smaller examples: their images.
pub fn examples() -> Vec<Vec<u8>> {
    let compile = |text| {
        let source = Source { path: "x.vch".into(), text };
        pipeline::compile(source, Language::Vch, &pipeline::Options::default()).ok()
    };
    let texts = source::texts("", "vch", 4).into_iter();
    texts.filter_map(compile).map(|loaded| loaded.image.to_vec()).collect()
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
