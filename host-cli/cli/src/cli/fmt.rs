//! `vouch fmt`: gives source texts their canonical layout.

use super::args::FmtArgs;
use super::context::{self, Context};
use super::failure::{Failure, Kind, plain};
use super::files;
use serde_json::json;
use std::io::Read;
use std::path::Path;
use vouch_host::frontend::{self, Language, Source};

/// The exit code if `--check` found a text that is not formatted.
const DIFFERS: u8 = 1;

/// The command. A text that cannot be read leaves the others untouched.
pub fn command(args: &FmtArgs, context: &mut Context) -> Result<u8, Failure> {
    let mut results = vec![];
    for path in &args.files {
        let text = read(path)?;
        let language = args.lang.or_else(|| Language::from_path(path));
        let language = language.unwrap_or(Language::Vch);
        let formatted = frontend::format(&text, language).map_err(|diagnostics| {
            let source = Source { path: path.display().to_string(), text: text.clone() };
            let message = plain(&source, &diagnostics);
            Failure { kind: Kind::Input, message, places: Some((source, diagnostics)) }
        })?;
        results.push((path, formatted != text, formatted));
    }
    let changed = results.iter().filter(|r| r.1).count();
    for (path, changes, formatted) in &results {
        if args.check {
            if *changes {
                context.note(&format!("{0} is not formatted; run `vouch fmt {0}`", path.display()));
            }
        } else if args.stdout || is_standard(path) {
            if !context.json {
                context::print_raw(formatted.as_bytes());
            }
        } else if *changes {
            files::write(path, formatted.as_bytes(), &[])?;
            context.tell(|| format!("{} formatted", path.display()));
        }
    }
    if context.json {
        let one = |(path, changed, _): &(&std::path::PathBuf, bool, String)| json!({ "path": path.display().to_string(), "changed": changed });
        let all: Vec<_> = results.iter().map(one).collect();
        context::print(&json!({ "files": all, "changed": changed }).to_string());
    }
    Ok(if args.check && changed > 0 { DIFFERS } else { 0 })
}

/// Whether the name represents standard input and output.
fn is_standard(path: &Path) -> bool {
    path.as_os_str() == "-"
}

fn read(path: &Path) -> Result<String, Failure> {
    if !is_standard(path) {
        return files::read_text(path);
    }
    let mut text = String::new();
    std::io::stdin()
        .read_to_string(&mut text)
        .map_err(|e| Failure::new(Kind::Input, format!("cannot read standard input: {e}")))?;
    Ok(text)
}
