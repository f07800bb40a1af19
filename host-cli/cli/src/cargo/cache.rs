//! What was found out before, by content: the program, the options and the tool that was asked.

use super::args::Args;
use std::path::Path;
use vouch_host::project::store::{Store, hash, hash_all};

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
    /// Where, and under which key; nothing if nothing is to be kept.
    kept: Option<(Store, String)>,
}

impl Cache {
    /// What is known of a program.
    pub fn new(folder: &Path, tool: &Path, program: &[u8], args: &Args) -> Result<Cache, String> {
        if args.no_cache
            || !is_known(&args.vouch)
            || FILES.iter().any(|f| std::env::var_os(f).is_some())
        {
            return Ok(Cache { kept: None });
        }
        let store = Store::new(folder);
        let tool = store.program(tool);
        let tool = tool.map_err(|e| format!("cannot read the program of vouch: {e}"))?;
        let mut variables: Vec<String> = std::env::vars_os()
            .filter(|(name, _)| name.to_string_lossy().starts_with("VOUCH_"))
            .map(|(name, value)| format!("{name:?}={value:?}"))
            .collect();
        variables.sort();
        let (flags, variables) = (format!("{:?}", args.vouch), format!("{variables:?}"));
        let key = hash_all(&[tool.as_bytes(), program, flags.as_bytes(), variables.as_bytes()]);
        Ok(Cache { kept: Some((store, key)) })
    }

    fn get(&self, kind: &str) -> Option<Vec<u8>> {
        let (store, key) = self.kept.as_ref()?;
        store.get(key, kind)
    }

    fn put(&self, kind: &str, content: &[u8]) {
        if let Some((store, key)) = &self.kept {
            store.put(key, kind, content);
        }
    }

    /// The verdict, if it is known: the code in the first line, then what was said.
    pub fn verdict(&self) -> Option<Kept> {
        let bytes = self.get("verdict")?;
        let mut parts = bytes.splitn(2, |byte| *byte == b'\n');
        let code = std::str::from_utf8(parts.next()?).ok()?.parse().ok()?;
        Some(Kept { code, output: parts.next()?.to_vec() })
    }

    /// Keeps a verdict; what is not known, or went wrong, may be otherwise next time.
    pub fn keep_verdict(&self, Kept { code, output }: &Kept) {
        if *code <= 1 {
            self.put("verdict", &[format!("{code}\n").as_bytes(), output].concat());
        }
    }

    /// Whether a file is the package that was made.
    pub fn has_package(&self, file: &Path) -> bool {
        let known = self.get("package");
        let there = std::fs::read(file).ok().map(|bytes| hash(&bytes).into_bytes());
        known.is_some() && known == there
    }

    /// Keeps which package was made.
    pub fn keep_package(&self, file: &Path) {
        if let Ok(bytes) = std::fs::read(file) {
            self.put("package", hash(&bytes).as_bytes());
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
    fn what_is_known_is_kept_and_what_is_not_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let cache = Cache { kept: Some((Store::new(folder.path()), "key".into())) };
        assert_eq!(cache.verdict(), None);
        let kept = Kept { code: 1, output: b"unsafe\nstep 1\n".to_vec() };
        cache.keep_verdict(&kept);
        assert_eq!(cache.verdict(), Some(kept.clone()));
        let other = Cache { kept: Some((Store::new(folder.path()), "other".into())) };
        other.keep_verdict(&Kept { code: 3, ..kept });
        assert_eq!(other.verdict(), None);
    }
}
