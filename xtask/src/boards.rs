//! The boards that there is firmware for: `boards.toml`.

use crate::{project, shell::Usage};
use anyhow::{Context, Result};
use serde::Deserialize;
use std::sync::LazyLock;

/// A build of the firmware for a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    /// The board's name in `boards.toml`, with a suffix if it is a variant.
    pub name: String,
    /// Its features in the firmware.
    pub features: String,
    /// The Rust target of its processor.
    pub target: String,
    /// Whether QEMU emulates it, with the usual port.
    pub emulated: bool,
}

#[derive(Deserialize)]
struct Table {
    board: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    target: String,
    qemu: Option<toml::Value>,
    #[serde(default)]
    variants: Vec<Variant>,
}

#[derive(Deserialize)]
struct Variant {
    suffix: String,
    features: Vec<String>,
}

static ALL: LazyLock<Vec<Board>> = LazyLock::new(|| match read() {
    Ok(boards) => boards,
    Err(error) => {
        eprintln!("error: {error:#}");
        std::process::exit(1)
    }
});

fn read() -> Result<Vec<Board>> {
    let file = project::root().join("boards.toml");
    let text = std::fs::read_to_string(&file).with_context(|| file.display().to_string())?;
    let table: Table = toml::from_str(&text).with_context(|| file.display().to_string())?;
    let usual = table.board.iter().map(|row| Board {
        name: row.name.clone(),
        features: row.name.clone(),
        target: row.target.clone(),
        emulated: row.qemu.is_some(),
    });
    let variants = table.board.iter().flat_map(|row| {
        row.variants.iter().map(|variant| Board {
            name: format!("{}-{}", row.name, variant.suffix),
            features: format!("{},{}", row.name, variant.features.join(",")),
            target: row.target.clone(),
            emulated: false,
        })
    });
    Ok(usual.chain(variants).collect())
}

/// All builds: the emulated boards first, and the default one before all others.
pub fn all() -> &'static [Board] {
    &ALL
}

/// Those that QEMU emulates.
pub fn emulated() -> Vec<Board> {
    ALL.iter().filter(|board| board.emulated).cloned().collect()
}

/// The board of the demo.
pub fn default() -> &'static Board {
    &ALL[0]
}

/// The board with this name.
pub fn named(name: &str) -> Result<Board> {
    let names: Vec<&str> = ALL.iter().map(|board| board.name.as_str()).collect();
    let names = names.join(", ");
    let unknown = || Usage(format!("There is no board `{name}`. There are: {names}."));
    Ok(ALL.iter().find(|board| board.name == name).cloned().ok_or_else(unknown)?)
}
