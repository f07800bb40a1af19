//! What can be asked of `cargo vouch`.

use clap::{Parser, ValueEnum};
use std::path::PathBuf;

/// Builds a crate, checks the program that comes out of it by its markers (`#[vouch::step]` and others), and packages it for a device
#[derive(Parser, Debug)]
#[command(name = "cargo vouch", bin_name = "cargo vouch", version, disable_help_subcommand = true)]
#[command(after_help = "\
Examples:
  cargo vouch --release --target thumbv7m-none-eabi
  cargo vouch check --bin pump -- --timeout 60 --bind LIMIT=4
  cargo vouch package --release -- --sign release --counter 3

The program to be flashed, and its package, are in target/vouch. Exit codes are those of `vouch`.")]
pub struct Args {
    /// Only one of the two; without it first one, then the other
    #[arg(value_enum)]
    pub what: Option<What>,
    /// The program, if the package has several
    #[arg(long, value_name = "NAME")]
    pub bin: Option<String>,
    /// The package, if the workspace has several
    #[arg(long, short, value_name = "PACKAGE")]
    pub package: Option<String>,
    /// What it is built for
    #[arg(long, value_name = "TRIPLE")]
    pub target: Option<String>,
    /// Build with the profile `release`
    #[arg(long, short)]
    pub release: bool,
    /// Build with this profile
    #[arg(long, value_name = "PROFILE", conflicts_with = "release")]
    pub profile: Option<String>,
    /// Features, with commas or blanks between them
    #[arg(long, short = 'F', value_name = "FEATURES")]
    pub features: Vec<String>,
    /// All features
    #[arg(long)]
    pub all_features: bool,
    /// Without the features that are on by default
    #[arg(long)]
    pub no_default_features: bool,
    /// The package's `Cargo.toml`
    #[arg(long, value_name = "FILE")]
    pub manifest_path: Option<PathBuf>,
    /// Where cargo puts what it builds
    #[arg(long, value_name = "FOLDER")]
    pub target_dir: Option<PathBuf>,
    /// Use `Cargo.lock` as it is
    #[arg(long)]
    pub locked: bool,
    /// Without the network
    #[arg(long)]
    pub offline: bool,
    /// Check again what has not changed
    #[arg(long)]
    pub no_cache: bool,
    /// Options of `vouch check` and `vouch compile`
    #[arg(last = true, value_name = "OPTIONS OF VOUCH")]
    pub vouch: Vec<String>,
}

/// What to do with the program.
#[derive(ValueEnum, Clone, Copy, PartialEq, Eq, Debug)]
pub enum What {
    /// Prove or refute
    Check,
    /// Prove, and make the package
    Package,
}

impl Args {
    /// What `cargo metadata` gets to know, too.
    pub fn place(&self) -> Vec<String> {
        let mut all = vec![];
        if let Some(path) = &self.manifest_path {
            all.extend(["--manifest-path".into(), path.display().to_string()]);
        }
        all.extend(self.locked.then(|| "--locked".into()));
        all.extend(self.offline.then(|| "--offline".into()));
        all
    }

    /// What `cargo rustc` gets to know besides.
    pub fn cargo(&self) -> Vec<String> {
        let mut all = self.place();
        let profile = self.release.then(|| "release".to_owned()).or(self.profile.clone());
        let folder = self.target_dir.as_ref().map(|folder| folder.display().to_string());
        let named =
            [("--target", &self.target), ("--profile", &profile), ("--target-dir", &folder)];
        for (name, value) in named {
            all.extend(value.iter().flat_map(|value| [name.to_owned(), value.clone()]));
        }
        all.extend(self.features.iter().flat_map(|f| ["--features".to_owned(), f.clone()]));
        all.extend(self.all_features.then(|| "--all-features".into()));
        all.extend(self.no_default_features.then(|| "--no-default-features".into()));
        all
    }

    /// Whether only the verdict is wanted.
    pub fn is_quiet(&self) -> bool {
        self.vouch.iter().any(|option| matches!(option.as_str(), "-q" | "--quiet"))
    }

    /// Whether the answer is for a program.
    pub fn is_json(&self) -> bool {
        self.vouch.iter().any(|option| option == "--json")
    }
}
