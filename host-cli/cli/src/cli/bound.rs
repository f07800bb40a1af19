//! What code an image is bound to.

use serde_json::{Value, json};
use vouch_core::image::ProgramSpec;
use vouch_host::blast::{AlignedImage, code, debug};
use vouch_host::pipeline::Loaded;
use vouch_host::{bind, escape};

/// What an image says of its program.
fn program(model: &Loaded) -> Option<ProgramSpec> {
    bind::program(&model.image).ok().flatten()
}

fn bytes(spec: &ProgramSpec) -> u32 {
    spec.spans.iter().map(|span| span.len).sum()
}

fn isa(spec: &ProgramSpec) -> &'static str {
    match spec.isa {
        vouch_core::image::Isa::Armv6M => "ARMv6-M",
        vouch_core::image::Isa::Armv7M => "ARMv7-M",
        vouch_core::image::Isa::Rv32Imac => "RV32IMAC",
    }
}

fn hex(hash: &[u8; 32]) -> String {
    hash.iter().map(|b| format!("{b:02x}")).collect()
}

/// In one line.
pub fn summary(model: &Loaded) -> Option<String> {
    let spec = program(model)?;
    let (bytes, pieces) = (bytes(&spec), model.code.len());
    Some(format!("bound to {bytes} bytes of code in {pieces} functions and constants"))
}

/// For people: nothing if it is not bound.
pub fn to_text(model: &Loaded) -> String {
    let Some(spec) = program(model) else { return String::new() };
    let mut text = format!(
        "\nbound to {} bytes of {} code, entry {:#010x}, SHA-256 {}\n",
        bytes(&spec),
        isa(&spec),
        spec.entry,
        hex(&spec.hash)
    );
    for piece in &model.code {
        let name = escape::text(&piece.name);
        text.push_str(&format!("  {:#010x}  {:>6} bytes  {name}\n", piece.start, piece.len));
    }
    if !spec.places.is_empty() {
        text.push_str("\nvariables that a guard reads\n");
        for place in &spec.places {
            let (at, bits, shift) = (place.address, place.bits, place.shift);
            text.push_str(&format!("  {at:#010x}  {bits:>2} bits from bit {shift}\n"));
        }
    }
    text
}

/// The same as JSON; nothing if the image is not bound to code.
pub fn to_json(model: &Loaded) -> Option<Value> {
    let spec = program(model)?;
    let spans = spec.spans.iter().map(|span| json!({ "start": span.start, "bytes": span.len }));
    let pieces = model.code.iter().map(|piece| {
        json!({ "name": piece.name, "start": piece.start, "bytes": piece.len, "sha256": hex(&piece.hash) })
    });
    let places = spec
        .places
        .iter()
        .map(|place| json!({ "address": place.address, "bit": place.shift, "bits": place.bits }));
    Some(json!({
        "isa": isa(&spec),
        "lifter": spec.lifter,
        "entry": spec.entry,
        "sha256": hex(&spec.hash),
        "spans": spans.collect::<Vec<Value>>(),
        "code": pieces.collect::<Vec<Value>>(),
        "variables": places.collect::<Vec<Value>>(),
    }))
}

/// Whether the image in a file is of this program: how many bytes of it were compared, or what is wrong.
pub fn verify(file: &[u8], elf: &[u8]) -> Result<u32, String> {
    let (image, _) = debug::split(file).map_err(|e| e.to_string())?;
    let code = code::read(file).map_err(|e| e.to_string())?;
    let spec = bind::program(&AlignedImage::new(image)).map_err(|e| e.to_string())?;
    bind::compare(spec.as_ref(), &code, elf).map_err(|e| e.to_string())?;
    Ok(spec.as_ref().map_or(0, bytes))
}
