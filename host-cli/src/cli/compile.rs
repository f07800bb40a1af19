//! `vouch compile`: source text to an image, with its sizes and how it fits the boards.

use super::args::CompileArgs;
use super::context::{self, Context};
use super::failure::{Failure, Kind};
use super::{files, keys, plan};
use serde_json::json;
use std::path::{Path, PathBuf};
use vouch::pipeline::IMAGE_EXTENSION;
use vouch::report::text::size;
use vouch::signing;
use vouch_device::package::key_id;

/// The command.
pub fn command(args: &CompileArgs, context: &mut Context) -> Result<u8, Failure> {
    let model = files::load(&args.model, context)?;
    let output = match &args.output {
        Some(output) => output.clone(),
        None => {
            let stem = args.model.model.file_stem().unwrap_or("model".as_ref());
            PathBuf::from(stem).with_extension(IMAGE_EXTENSION)
        }
    };
    let sizes = plan::sizes(&model.image)
        .map_err(|e| Failure::new(Kind::Mismatch, format!("the image cannot be used ({e:?})")))?;
    let fits = plan::fits(&sizes);
    let mut bytes = model.to_file();
    let mut inputs: Vec<&Path> = vec![&args.model.model];
    let mut signed = None;
    if let Some(path) = &args.sign {
        let key = keys::secret(path)?;
        bytes = signing::sign(&bytes, &key, args.counter)
            .map_err(|e| Failure::new(Kind::Mismatch, e.to_string()))?;
        signed = Some(signing::fingerprint(&key_id(&key.public())));
        inputs.push(path);
    }
    files::write(&output, &bytes, &inputs)?;
    if context.json {
        let hash: String = model.digest.iter().map(|b| format!("{b:02x}")).collect();
        let outcome = super::verdict::outcome_of(&model);
        let text = json!({
            "model": model.cfa.name,
            "source_sha256": hash,
            "output": output.display().to_string(),
            "file_bytes": bytes.len(),
            "sizes": sizes,
            "properties": model.cfa.properties.len(),
            "parameters": model.map.params.len(),
            "boards": fits,
            "signed": signed,
            "warnings": outcome.warnings,
        });
        context::print(&text.to_string());
        return Ok(0);
    }
    let file = size(bytes.len() as u64);
    context.print(&format!(
        "{}: {} ({file} with its explanation)",
        model.cfa.name,
        output.display()
    ));
    if let Some(key) = signed {
        context.print(&format!("signed with key {key}, security counter {}", args.counter));
    }
    if !context.quiet {
        context.print(&plan::show_sizes(&sizes));
        context.print(&plan::show_fits(&fits));
    }
    Ok(0)
}
