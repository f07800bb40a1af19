//! What was found out before, by content: the program, the options and the tool that was asked.

use super::args::Args;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};

/// What `vouch` has said.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Kept {
    /// Its exit code.
    pub code: u8,
    /// Its standard output.
    pub output: Vec<u8>,
}

/// Options that change nothing but the answer. With any other, something else may be read or written.
const KNOWN: [&str; 20] = [
    "--always",
    "--bind",
    "--budget",
    "--color",
    "--engine",
    "--entry",
    "--init",
    "--input",
    "--interrupt",
    "--json",
    "--max-rss",
    "--memory",
    "--no-validate",
    "--overflow",
    "--passes",
    "--property",
    "--quiet",
    "--threads",
    "--timeout",
    "-q",
];

/// Variables of the environment that name files.
const FILES: [&str; 6] = [
    "VOUCH_CERTIFICATE",
    "VOUCH_HARNESS",
    "VOUCH_OUTPUT",
    "VOUCH_SIGN",
    "VOUCH_TRACE",
    "VOUCH_WITNESS",
];

/// What is kept for a program.
pub struct Cache {
    /// What its files begin with; nothing if nothing is to be kept.
    key: Option<PathBuf>,
}

fn hash(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

impl Cache {
    /// What is known of a program.
    pub fn new(folder: &Path, tool: &Path, program: &[u8], args: &Args) -> Result<Cache, String> {
        if args.no_cache
            || !is_known(&args.vouch)
            || FILES.iter().any(|f| std::env::var_os(f).is_some())
        {
            return Ok(Cache { key: None });
        }
        let tool =
            std::fs::read(tool).map_err(|e| format!("cannot read {}: {e}", tool.display()))?;
        let mut variables: Vec<String> = std::env::vars_os()
            .filter(|(name, _)| name.to_string_lossy().starts_with("VOUCH_"))
            .map(|(name, value)| format!("{name:?}={value:?}"))
            .collect();
        variables.sort();
        let parts =
            [hash(&tool), hash(program), format!("{:?}", args.vouch), format!("{variables:?}")];
        let key = hash(parts.join("\n").as_bytes());
        Ok(Cache { key: Some(folder.join(key)) })
    }

    fn file(&self, kind: &str) -> Option<PathBuf> {
        Some(self.key.as_ref()?.with_extension(kind))
    }

    /// Writes a file whole or not at all. That nothing can be kept is no failure.
    fn keep(&self, kind: &str, content: &[u8]) {
        let Some(file) = self.file(kind) else { return };
        let new = file.with_extension(format!("{kind}.{}", std::process::id()));
        let folder = file.parent().map_or(Ok(()), std::fs::create_dir_all);
        let written = folder.and_then(|()| std::fs::write(&new, content));
        if written.and_then(|()| std::fs::rename(&new, &file)).is_err() {
            let _ = std::fs::remove_file(&new);
        }
    }

    /// The verdict, if it is known: the code, the hash of what was said, and that.
    pub fn verdict(&self) -> Option<Kept> {
        let bytes = std::fs::read(self.file("verdict")?).ok()?;
        let mut parts = bytes.splitn(3, |byte| *byte == b'\n');
        let code = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
        let (sum, output) = (parts.next()?, parts.next()?.to_vec());
        (hash(&output).as_bytes() == sum).then_some(Kept { code, output })
    }

    /// Keeps a verdict; what is not known, or went wrong, may be otherwise next time.
    pub fn keep_verdict(&self, Kept { code, output }: &Kept) {
        if *code <= 1 {
            let head = format!("{code}\n{}\n", hash(output));
            self.keep("verdict", &[head.as_bytes(), output].concat());
        }
    }

    /// Whether a file is the package that was made.
    pub fn has_package(&self, file: &Path) -> bool {
        let known = self.file("package").and_then(|known| std::fs::read_to_string(known).ok());
        let there = std::fs::read(file).ok().map(|bytes| hash(&bytes));
        known.is_some() && known == there
    }

    /// Keeps which package was made.
    pub fn keep_package(&self, file: &Path) {
        if let Ok(bytes) = std::fs::read(file) {
            self.keep("package", hash(&bytes).as_bytes());
        }
    }
}

/// Whether all options are known to change nothing but the answer.
fn is_known(options: &[String]) -> bool {
    let names = options.iter().filter(|option| option.starts_with('-'));
    let name = |option: &String| option.split('=').next().unwrap_or(option).to_owned();
    names.map(name).all(|name| KNOWN.contains(&name.as_str()) || name.parse::<f64>().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_that_touch_files_are_never_cached() {
        let known =
            |options: &[&str]| is_known(&options.iter().map(|o| o.to_string()).collect::<Vec<_>>());
        assert!(known(&["--timeout", "60", "--bind=LIMIT=4", "-q"]));
        assert!(known(&[]));
        for option in ["--trace", "--certificate=x", "--sign", "-o", "--witness", "--flash-file"] {
            assert!(!known(&[option, "x"]), "{option}");
        }
    }

    #[test]
    fn what_is_kept_is_found_and_what_is_damaged_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache { key: Some(folder.path().join("key")) };
        assert_eq!(cache.verdict(), None);
        let kept = Kept { code: 1, output: b"unsafe\nstep 1\n".to_vec() };
        cache.keep_verdict(&kept);
        assert_eq!(cache.verdict(), Some(kept.clone()));
        let file = folder.path().join("key.verdict");
        let mut bytes = std::fs::read(&file).unwrap();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        assert_eq!(cache.verdict(), None);
        std::fs::remove_file(&file).unwrap();
        cache.keep_verdict(&Kept { code: 3, ..kept });
        assert_eq!(cache.verdict(), None);
    }
}
